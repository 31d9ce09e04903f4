/* What kernels do wrong is found: the kind of fault, the line, the thread.
 * And kernels that do the like rightly are left in peace. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cudaemu/ptx_device.h"
#include "tests/tap.h"

/* A kernel body: out is %rd1 (1024 bytes), the thread's number %r1, four
 * times that %r2, a place in shared memory of its own %r3. */
typedef struct sinner {
  const char *what, *body;
  uint32_t block;
  ptx_fault_kind kind;
  const char *message; /* part of the text; NULL for those that are right */
} sinner;

#define HEAD                                                              \
  ".version 7.0\n.target sm_80\n.address_size 64\n"                       \
  ".visible .entry f(.param .u64 out)\n{ .reg .b32 %r<12>; "              \
  ".reg .b64 %rd<8>; .reg .pred %p<8>; .reg .b16 %h<4>;\n"                \
  ".shared .align 4 .b8 s[1024]; .local .align 8 .b8 stack[16]; "         \
  "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; "  \
  "mov.u32 %r3, s; add.u32 %r3, %r3, %r2; cvt.u64.u32 %rd2, %r2; "        \
  "add.u64 %rd3, %rd1, %rd2; setp.eq.u32 %p1, %r1, 0; "                   \
  "setp.lt.u32 %p2, %r1, 32;\n"

static const sinner sinners[] = {
  /* Memory */
  { "a store one past the end", "st.global.u32 [%rd3+1020], %r1;", 2,
    PTX_OUT_OF_BOUNDS, "line 7 (st.global.u32), block (0,0,0) thread (1,0,0): "
    "store of 4 bytes at" },
  { "the last element", "st.global.u32 [%rd3+1020], %r1;", 1, PTX_NO_FAULT,
    NULL },
  { "a whole warp that ends one past the end", "st.global.u32 [%rd3+900], "
    "%r1;", 32, PTX_OUT_OF_BOUNDS, "thread (31,0,0): store of 4 bytes" },
  { "a load before the begin", "ld.global.u32 %r4, [%rd3+-4];", 1,
    PTX_OUT_OF_BOUNDS, "no allocation" },
  { "a vector over the end", "ld.global.v4.u32 {%r4, %r5, %r6, %r7}, "
    "[%rd1+1024];", 1, PTX_OUT_OF_BOUNDS, "load of 16 bytes" },
  { "a null pointer", "mov.u64 %rd4, 0; ld.global.u32 %r4, [%rd4];", 1,
    PTX_OUT_OF_BOUNDS, "load of 4 bytes at 0x0: no allocation" },
  { "a load that is switched off", "mov.u64 %rd4, 0; setp.ne.u32 %p3, %r1, "
    "%r1; @%p3 ld.global.u32 %r4, [%rd4];", 32, PTX_NO_FAULT, NULL },
  { "a misaligned word", "ld.global.u32 %r4, [%rd1+2];", 1, PTX_MISALIGNED,
    "misaligned" },
  { "a misaligned vector", "ld.global.v2.u32 {%r4, %r5}, [%rd1+4];", 1,
    PTX_MISALIGNED, "load of 8 bytes" },
  { "a misaligned atomic", "atom.global.add.u64 %rd4, [%rd1+4], 1;", 1,
    PTX_MISALIGNED, "atomic access of 8 bytes" },
  { "an atomic out of bounds", "atom.global.add.u32 %r4, [%rd1+1024], 1;", 1,
    PTX_OUT_OF_BOUNDS, "byte 1024 of an allocation of 1024" },
  { "shared memory out of bounds", "st.shared.u32 [%r3+1024], %r1;", 1,
    PTX_OUT_OF_BOUNDS, "outside the block's shared memory" },
  { "shared memory before its begin", "st.shared.u32 [%r3+-4], %r1;", 1,
    PTX_OUT_OF_BOUNDS, "outside the block's shared memory" },
  { "local memory out of bounds", "mov.u64 %rd4, stack; "
    "st.local.u32 [%rd4+64], %r1;", 1, PTX_OUT_OF_BOUNDS,
    "outside the thread's local memory" },
  { "a store to a parameter", "st.param.u64 [out], %rd1;", 1,
    PTX_OUT_OF_BOUNDS, "read only" },
  { "parameters out of bounds", "ld.param.u64 %rd4, [out+8];", 1,
    PTX_OUT_OF_BOUNDS, "outside the kernel's parameters" },
  /* Barriers */
  { "a barrier for half a block", "@!%p2 bra L; bar.sync 0; L: ret;", 64,
    PTX_BAD_BARRIER, "barrier 0 was reached by 32 of 64 threads: thread "
    "(32,0,0) has exited" },
  { "a barrier for half a warp", "setp.lt.u32 %p3, %r1, 16; @%p3 bar.sync 0;",
    32, PTX_BAD_BARRIER, "16 of 32 threads: thread (16,0,0) has exited" },
  { "threads that exit before a barrier", "setp.eq.u32 %p3, %r1, 40; "
    "@%p3 exit; bar.sync 0;", 64, PTX_BAD_BARRIER,
    "63 of 64 threads: thread (40,0,0) has exited" },
  { "two barriers", "@%p2 bra L; bar.sync 1; bra E; L: bar.sync 2; E: ret;",
    64, PTX_BAD_BARRIER, "waits at barrier" },
  { "one barrier at two places by warps", "@%p2 bra L; bar.sync 0; bra E; "
    "L: bar.sync 0; E: ret;", 64, PTX_NO_FAULT, NULL },
  { "one barrier at two places in a warp", "@%p1 bra L; bar.sync 0; bra E;\n"
    "L: bar.sync 0; E: ret;", 32, PTX_BAD_BARRIER,
    "barrier 0: other threads of this warp are at line" },
  { "the same with barrier.sync", "@%p1 bra L; barrier.sync 0; bra E;\n"
    "L: barrier.sync 0; E: ret;", 32, PTX_NO_FAULT, NULL },
  { "barrier 16", "bar.sync 16;", 32, PTX_BAD_BARRIER, "there are 0 to 15" },
  { "a barrier for 33 threads", "bar.sync 1, 33;", 64, PTX_BAD_BARRIER,
    "a multiple of 32" },
  { "a barrier of a block that is no whole warps", "bar.sync 0; bar.sync 1, "
    "64;", 40, PTX_NO_FAULT, NULL },
  /* Lanes */
  { "shfl from a lane that is not there", "setp.lt.u32 %p3, %r1, 8; @!%p3 bra "
    "L; shfl.sync.idx.b32 %r4, %r1, 9, 31, 0xff; L: ret;", 32,
    PTX_INACTIVE_LANE, "reads lane 9, which does not take part" },
  { "shfl from a lane that has exited", "setp.eq.u32 %p3, %r1, 5; @%p3 exit; "
    "shfl.sync.bfly.b32 %r4, %r1, 1, 31, -1;", 32, PTX_INACTIVE_LANE,
    "thread (4,0,0): reads lane 5" },
  { "a lane that is not its own member", "vote.sync.ballot.b32 %r4, %p1, 0xff;",
    32, PTX_INACTIVE_LANE, "thread (8,0,0): is not among its own members" },
  { "lanes that wait for one at a barrier", "@%p1 bra L; "
    "vote.sync.ballot.b32 %r4, %p1, -1; bra E; L: bar.sync 0; E: ret;", 32,
    PTX_INACTIVE_LANE, "waits for all lanes of 0xffffffff, but thread "
    "(0,0,0) waits at barrier 0" },
  { "lanes that come later", "@%p1 bra L; mov.u32 %r4, 1; L: "
    "vote.sync.ballot.b32 %r4, %p1, -1;", 32, PTX_NO_FAULT, NULL },
  /* Other */
  { "trap", "@%p1 trap;", 32, PTX_TRAPPED, "thread (0,0,0): trap" },
  { "an endless loop", "L: bra L;", 32, PTX_TOO_MANY_STEPS,
    "stopped after 100000 steps" },
  { "a table's end", "t: .branchtargets A, B; brx.idx %r1, t; A: B: ret;", 3,
    PTX_TRAPPED, "index 2 of a table of 2 labels" },
  /* Races in shared memory */
  { "a write read by another thread", "st.shared.u32 [%r3], %r1;\n"
    "xor.b32 %r4, %r3, 128; ld.shared.u32 %r5, [%r4];", 64, PTX_RACE,
    "line 7 (st.shared.u32), block (0,0,0) thread (32,0,0): race: writes byte "
    "128 of shared memory, which thread (0,0,0) read in line 8 "
    "(ld.shared.u32) with no barrier between" },
  { "the same with a barrier", "st.shared.u32 [%r3], %r1; bar.sync 0;\n"
    "xor.b32 %r4, %r3, 128; ld.shared.u32 %r5, [%r4];", 64, PTX_NO_FAULT,
    NULL },
  { "a read, then a write by another", "ld.shared.u32 %r5, [%r3];\n"
    "xor.b32 %r4, %r3, 128; st.shared.u32 [%r4], %r1;", 64, PTX_RACE,
    "race: reads byte 128 of shared memory, which thread (0,0,0) wrote" },
  { "a read by several, then a write", "ld.shared.u32 %r5, [s]; "
    "@%p2 bra E; st.shared.u32 [s], %r1; E: ret;", 64, PTX_RACE,
    "several threads read" },
  { "two writes of one word", "st.shared.u32 [s], %r1;", 64, PTX_RACE,
    "race: writes byte 0" },
  { "two writes that agree", "st.shared.u32 [s], 7;", 64, PTX_NO_FAULT, NULL },
  { "bytes of one word", "mov.u32 %r4, s; add.u32 %r4, %r4, %r1; "
    "st.shared.u8 [%r4], %r1;", 64, PTX_NO_FAULT, NULL },
  { "one byte of another's word", "st.shared.u32 [%r3], %r1; "
    "ld.shared.u8 %r4, [%r3+5];", 2, PTX_RACE,
    "reads byte 5 of shared memory, which thread (1,0,0) wrote" },
  { "lanes of one warp", "st.shared.u32 [%r3], %r1; xor.b32 %r4, %r3, 4; "
    "ld.shared.u32 %r5, [%r4];", 32, PTX_RACE, "with no barrier" },
  { "lanes of one warp with bar.warp.sync", "st.shared.u32 [%r3], %r1; "
    "bar.warp.sync -1; xor.b32 %r4, %r3, 4; ld.shared.u32 %r5, [%r4];", 32,
    PTX_NO_FAULT, NULL },
  { "warps with only bar.warp.sync", "st.shared.u32 [%r3], %r1; "
    "bar.warp.sync -1; xor.b32 %r4, %r3, 128; ld.shared.u32 %r5, [%r4];", 64,
    PTX_RACE, "with no barrier" },
  { "atomics of one word", "atom.shared.add.u32 %r4, [s], 1;", 64,
    PTX_NO_FAULT, NULL },
  { "an atomic and a plain read", "atom.shared.add.u32 %r4, [s], 1; "
    "ld.shared.u32 %r5, [s];", 64, PTX_RACE, "wrote in line 7 (atom.shared" },
  { "an atomic and a volatile read", "atom.shared.add.u32 %r4, [s], 1; "
    "ld.volatile.shared.u32 %r5, [s];", 64, PTX_NO_FAULT, NULL },
  { "a race by generic addresses", "mov.u64 %rd4, s; cvta.shared.u64 %rd4, "
    "%rd4; st.u32 [%rd4], %r1;", 64, PTX_RACE, "race: writes byte 0" },
};

static void check(const sinner *s)
{
  char text[2048];
  snprintf(text, sizeof text, "%s%s\nret;\n}\n", HEAD, s->body);
  ptx_device *device = ptx_device_make();
  ptx_module *module = ptx_device_load(device, text);
  uint64_t slot = ptx_device_take(device, 1024, NULL);
  ptx_device_launch launch = {
    .entry = "f", .grid = 1, .block = s->block, .slots = &slot,
    .step_limit = 100000
  };
  bool ran = ptx_device_run(device, module, &launch);
  const ptx_fault *fault = ptx_device_fault(device);
  bool right = ran == (s->message == NULL) && fault->kind == s->kind &&
               (!s->message || strstr(fault->text, s->message));
  tap_ok(right, "%s%s", s->what, s->message ? "" : " is right");
  if (!right)
    tap_note("kind %d: %s", (int)fault->kind, fault->text);
  ptx_module_free(module);
  ptx_device_free(device);
}

/* Launches that cannot be. */
static void check_launches(void)
{
  static const char text[] = PTX_HEAD
    ".visible .entry f() .maxntid 64, 1, 1 .minnctapersm 2 { ret; }\n"
    ".visible .entry g() .reqntid 96 { ret; }";
  ptx_device *device = ptx_device_make();
  ptx_module *module = ptx_device_load(device, text);
  ptx_device_launch launch = { .entry = "f", .grid = 1, .block = 65 };
  tap_ok(!ptx_device_run(device, module, &launch) &&
         ptx_device_fault(device)->kind == PTX_BAD_LAUNCH,
         "more threads than .maxntid");
  launch.block = 64;
  tap_ok(ptx_device_run(device, module, &launch), "as many as .maxntid");
  launch.entry = "g";
  tap_ok(!ptx_device_run(device, module, &launch), "not .reqntid");
  launch.block = 96;
  tap_ok(ptx_device_run(device, module, &launch), ".reqntid");
  launch.grid = 0;
  tap_ok(!ptx_device_run(device, module, &launch), "an empty grid");
  ptx_module_free(module);
  ptx_device_free(device);
}

int main(void)
{
  for (size_t i = 0; i < sizeof sinners / sizeof *sinners; i++)
    check(&sinners[i]);
  check_launches();
  return tap_done();
}
