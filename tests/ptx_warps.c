/* Lanes, warps and blocks of the PTX interpreter, and its memory: the kernels
 * of tests/cudaemu/warps.ptx. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cudaemu/ptx_device.h"
#include "tests/tap.h"

typedef struct rig {
  ptx_device *device;
  ptx_module *module;
  uint64_t address;
  uint32_t *out; /* 64 KiB */
} rig;

static bool run(rig *r, const char *entry, uint32_t grid, uint32_t block,
                uint32_t shared)
{
  ptx_device_launch launch = {
    .entry = entry, .grid = grid, .block = block, .dynamic_shared = shared,
    .slots = &r->address, .step_limit = 10000000
  };
  bool ran = ptx_device_run(r->device, r->module, &launch);
  if (!ran)
    tap_note("%s", ptx_device_fault(r->device)->text);
  return ran;
}

static void check_calls(rig *r)
{
  bool ran = run(r, "calls", 1, 50, 0), right = true;
  for (uint32_t i = 0; i < 50; i++)
    right &= r->out[i] == (i % 2 ? 2 * (i * i + i) : i * i + 7);
  tap_ok(ran && right, "functions called by some lanes, and from functions");
}

static void check_diverge(rig *r)
{
  bool ran = run(r, "diverge", 1, 32, 0), right = true;
  for (uint32_t i = 0; i < 32; i++) {
    uint32_t sum = 0;
    for (uint32_t k = 0; k < i; k++)
      sum += k % 2 ? 10 * k : k;
    right &= r->out[i] == sum + 3200000;
  }
  tap_ok(ran && right, "lanes go round a loop each its own times and join");
}

static void check_switches(rig *r)
{
  static const uint32_t wanted[] = { 1, 2, 1, 3 };
  bool ran = run(r, "switches", 1, 64, 0), right = true;
  for (uint32_t i = 0; i < 64; i++)
    right &= r->out[i] == wanted[i % 4];
  tap_ok(ran && right, "branches by a table");
}

static void check_exchange(rig *r)
{
  bool ran = run(r, "exchange", 1, 32, 0);
  bool down = true, up = true, other = true, vote = true, match = true;
  bool redux = true, halves = true;
  for (uint32_t i = 0; i < 32; i++) {
    const uint32_t *o = r->out + 16 * i;
    down &= o[0] == 3 * (i + 4 < 32 ? i + 4 : i) && o[1] == (i + 4 < 32);
    up &= o[2] == 3 * (i >= 4 ? i - 4 : i) && o[3] == (i >= 4);
    /* segments of 8: lane 2 of each */
    other &= o[4] == 3 * (i ^ 5) && o[5] == 3 * ((i & 24) + 2);
    vote &= o[6] == 0x3ff && o[7] == 1;
    match &= o[8] == UINT32_C(0x11111111) << i % 4 && o[9] == UINT32_MAX;
    redux &= o[10] == 496 && o[11] == 93;
    halves &= o[12] == (i < 16 ? 0 : 48) &&
              o[13] == (UINT32_C(1) << i) - 1;
  }
  tap_ok(ran && down, "shfl.down");
  tap_ok(ran && up, "shfl.up");
  tap_ok(ran && other, "shfl.bfly, shfl.idx in segments");
  tap_ok(ran && vote, "vote: ballot, any, all, uni");
  tap_ok(ran && match, "match.any, match.all");
  tap_ok(ran && redux, "redux over a warp");
  tap_ok(ran && halves, "redux over halves that have diverged; %%lanemask_lt");
}

static void check_blocks(rig *r)
{
  static const uint32_t sizes[] = { 32, 64, 256 };
  bool ran = true, right = true;
  for (int s = 0; s < 3; s++) {
    uint32_t size = sizes[s];
    ran &= run(r, "blocks", 3, size, 4 * size);
    for (uint32_t i = 0; i < 3 * size; i++) {
      uint32_t b = i / size;
      uint32_t sum = size * (size - 1) / 2 + b * size * size;
      const uint32_t *o = r->out + 4 * i;
      right &= o[0] == sum && o[1] == 5 && o[2] == 0 && o[3] == 1;
    }
  }
  tap_ok(ran && right, "a tree in dynamic shared memory; bar.red");
  ran = run(r, "hand_over", 1, 64, 0);
  right = true;
  for (uint32_t i = 0; i < 32; i++)
    right &= r->out[i] == 5 * i + 10;
  tap_ok(ran && right, "bar.arrive and bar.sync of named barriers");
}

static void check_atomics(rig *r)
{
  memset(r->out, 0, 128);
  r->out[1] = 5, r->out[7] = 0xff;
  bool ran = run(r, "atomics", 2, 100, 0);
  const uint32_t *o = r->out;
  float sum;
  double wide;
  memcpy(&sum, o + 10, 4);
  memcpy(&wide, o + 12, 8);
  tap_ok(ran && o[0] == 400 && o[1] == 0 && o[2] == 99, "add, min, max");
  tap_ok(o[3] == 0 && o[4] == 0, "inc and dec go round");
  tap_ok(o[5] == UINT32_MAX && o[6] == 0 && o[7] == 0xfe, "or, xor, and");
  tap_ok(o[8] == 77 && o[9] == 1, "exch, cas");
  tap_ok(sum == 9900 && wide == 9900 && o[14] == 9900, "add of f32, f64, u64");
  tap_ok(o[16] == 4950, "add in shared memory");
}

static void check_locks(rig *r)
{
  memset(r->out, 0, 8);
  bool ran = run(r, "locks", 2, 96, 0);
  tap_ok(ran && r->out[1] == 192,
         "lanes that spin do not keep the holder of a lock from running");
}

static void check_memory(rig *r)
{
  static const char hello[] = "hello";
  const ptx_entry *entry = ptx_module_find(r->module, "memory");
  tap_ok(entry && entry->parameter_count == 2 &&
         entry->parameters[1].offset == 8 && entry->parameters[1].size == 24 &&
         entry->parameter_bytes == 32, "parameters have their places");
  uint64_t block[4] = { r->address, UINT64_C(0xfedcba9800000000), 0,
                        UINT64_C(0x1122334455667788) };
  uint32_t *four = ptx_device_variable(r->device, r->module, "four");
  four[4] = 40, four[7] = 2;
  ptx_launch_config config = {
    .grid = { 1, 1, 1 }, .block = { 8, 1, 1 }, .parameters = block,
    .memory = ptx_device_memory(r->device)
  };
  ptx_fault fault;
  bool ran = entry && ptx_launch(r->module, entry, &config, &fault, NULL);
  if (!ran)
    tap_note("%s", fault.text);
  bool params = ran, bytes = ran, local = ran, shared = ran, names = ran;
  for (uint32_t i = 0; ran && i < 8; i++) {
    const uint32_t *o = r->out + 16 * i;
    float f;
    memcpy(&f, o + 8, 4);
    params &= o[0] == 0xfedcba98 && o[2] == 0x55667788 && o[3] == 0x11223344;
    bytes &= o[4] == 0xffffffba && o[5] == 0xba && o[6] == 0x01baba98;
    local &= o[7] == i + 100;
    shared &= f == 1.5f;
    names &= o[10] == 10 && o[11] == (uint32_t)hello[0] && o[12] == 42;
  }
  tap_ok(params, "a structure as a parameter, by name and by address");
  tap_ok(bytes, "bytes and halves, filled up with the sign or zero");
  tap_ok(local, "local memory, also by generic addresses; isspacep");
  tap_ok(shared, "shared memory by generic addresses; .const");
  tap_ok(names, "variables by name and by addresses in variables");
}

static void check_leave(rig *r)
{
  bool ran = run(r, "leave", 1, 32, 0), right = true;
  for (uint32_t i = 0; i < 20; i++)
    right &= r->out[i] == 0xfffff;
  tap_ok(ran && right, "a vote does not wait for lanes that have exited");
}

int main(void)
{
  const char *folder = getenv("top_srcdir");
  char path[1024];
  void *out;
  snprintf(path, sizeof path, "%s/tests/cudaemu/warps.ptx",
           folder ? folder : ".");
  rig r = { .device = ptx_device_make() };
  r.module = ptx_device_load_file(r.device, path);
  r.address = ptx_device_take(r.device, 65536, &out);
  r.out = out;
  check_calls(&r);
  check_diverge(&r);
  check_switches(&r);
  check_exchange(&r);
  check_blocks(&r);
  check_atomics(&r);
  check_locks(&r);
  check_memory(&r);
  check_leave(&r);
  ptx_module_free(r.module);
  ptx_device_free(r.device);
  return tap_done();
}
