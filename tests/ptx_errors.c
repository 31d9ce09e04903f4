/* What the PTX parser refuses, and how it says so. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cudaemu/ptx/form.h"
#include "tests/cudaemu/ptx/lanes.h"
#include "tests/cudaemu/ptx_device.h"
#include "tests/tap.h"

/* A text and the first words of its message. */
typedef struct bad_text {
  const char *text, *message;
} bad_text;

/* The body of a kernel; its statements begin in line 6. */
#define BODY(statements)                                                  \
  PTX_HEAD ".visible .entry f(.param .u64 f_0)\n{ .reg .b64 %rd<4>; "     \
  ".reg .b32 %r<4>; .reg .f32 %f<4>; .reg .pred %p<4>; "                  \
  ".reg .b16 %h<4>; .reg .f64 %d<4>;\n" statements "\nret;\n}\n"

static const bad_text bad_texts[] = {
  { "", "line 1: the text ends where \".version\" should be" },
  { ".target sm_75", "line 1: \".target\" where \".version\" should be" },
  { ".version seven", "line 1: \"seven\" where a version such as 7.5" },
  { ".version 6.3\n.target sm_75\n.address_size 32",
    "line 3: \"32\" where 64 should be" },
  { ".version 6.3\n.target gfx90\n", "line 2: \"gfx90\" is no target" },
  { ".version 6.3\n.target sm_75, texmode_independent\n",
    "line 2: option \"texmode_independent\" of .target" },
  { PTX_HEAD ".texref t;", "line 4: unknown directive \".texref\"" },
  { PTX_HEAD "add.u32;", "line 4: \"add.u32\" where a directive" },
  { PTX_HEAD "/* never", "line 4: a comment does not end" },
  { PTX_HEAD ".file 1 \"a\n", "line 4: a string does not end" },
  { PTX_HEAD "\x01", "line 4: a character that PTX does not know" },
  { PTX_HEAD ".global .u33 x;", "line 4: \".u33\" where a type should be" },
  { PTX_HEAD ".global .u32 x[2] = {1, 2, 3};",
    "line 4: \"x\" has more initial values than elements" },
  { PTX_HEAD ".global .u8 x = 256;", "line 4: 256 does not fit .u8" },
  { PTX_HEAD ".global .u32 x = y;", "line 4: \"y\" is not declared" },
  { PTX_HEAD ".global .u32 x[];", "line 4: \"x\" has no size" },
  { PTX_HEAD ".global .u32 x, y;", "line 4: several variables" },
  { PTX_HEAD ".global .u32 x;\n.global .u32 x;",
    "line 5: \"x\" is declared twice" },
  { PTX_HEAD ".global .align 3 .u32 x;", "line 4: .align 3 is not a power" },
  { PTX_HEAD ".shared .b8 x[300000];", "line 4: \"x\": more than 262144" },
  { PTX_HEAD ".visible .entry f(.reg .u32 a)", "line 4: \".reg\" where "
    "\".param\" should be" },
  { PTX_HEAD ".entry f()\n{\nret;\n", "line 7: the text ends where \"}\"" },
  { PTX_HEAD ".entry f(){ret;}\n.entry f(){ret;}",
    "line 5: \"f\" is declared twice" },
  { BODY("frob.u32 %r1, %r2;"), "line 6: unknown opcode \"frob\"" },
  { BODY("add.u33 %r1, %r2, %r3;"),
    "line 6: unknown modifier \".u33\" in \"add.u33\"" },
  { BODY("add.sat.u32 %r1, %r2, %r3;"),
    "line 6: \"add.sat.u32\": no such form of add is emulated" },
  { BODY("add.f32.rn %f1, %f2, %f3;"),
    "line 6: \"add.f32.rn\": no such form of add" },
  { BODY("fma.f32 %f1, %f2, %f3, %f0;"),
    "line 6: \"fma.f32\": no such form of fma" },
  { BODY("shfl.down.b32 %r1, %r2, 1, 31;"),
    "line 6: \"shfl.down.b32\": no such form of shfl" },
  { BODY("mma.sync.aligned.m16n8k8 %r1;"), "line 6: \"mma.sync.aligned."
    "m16n8k8\": tensor-core instructions are not emulated" },
  { BODY("cp.async.ca.shared.global [%r1], [%rd1], 4;"),
    "line 6: \"cp.async.ca.shared.global\": asynchronous copies" },
  { BODY("redux.sync.add.u32 %r1, %r2, -1;"),
    "line 6: \"redux.sync.add.u32\" needs .version 7.0, the module has 6.3" },
  { ".version 7.0\n.target sm_75\n.address_size 64\n.entry f()\n{\n"
    ".reg .b32 %r<3>; redux.sync.add.u32 %r1, %r2, -1; }",
    "line 6: \"redux.sync.add.u32\" needs .target sm_80, the module has "
    "sm_75" },
  { BODY("add.u32 %r1, %r2;"), "line 6: \";\" where \",\" should be" },
  { BODY("add.u32 %r1, %r2, %r3, %r0;"), "line 6: \",\" where \";\"" },
  { BODY("add.u32 %r1, %r2, %r9;"), "line 6: there is no register \"%r9\"" },
  { BODY("add.u32 %r1, %r2, %r01;"), "line 6: there is no register \"%r01\"" },
  { BODY("add.u32 %r1, %r2, %rd1;"),
    "line 6: \"%rd1\" is of type .b64 where .u32 is wanted" },
  { BODY("add.f32 %f1, %f2, 1;"),
    "line 6: \"1\" is not a number of type .f32" },
  { BODY("add.f32 %f1, %f2, 0f3f8;"), "line 6: \"0f3f8\" is not a number" },
  { BODY("add.u32 %f1, %r2, %r3;"),
    "line 6: \"%f1\" is of type .f32 where .u32 is wanted" },
  { BODY("add.u32 %r1, %r2, 4294967296;"),
    "line 6: 4294967296 does not fit .u32" },
  { BODY("add.u32 %r1, %r2, -2147483649;"),
    "line 6: -2147483649 does not fit .u32" },
  { BODY("add.u64 %rd1, %rd2, 99999999999999999999;"),
    "line 6: 99999999999999999999 does not fit 64 bits" },
  { BODY("add.u32 1, %r2, %r3;"), "line 6: \"1\" where a register" },
  { BODY("@%r1 bra L;"), "line 6: \"%r1\" is of type .b32 where .pred" },
  { BODY("bra L;"), "line 6: there is no label \"L\"" },
  { BODY("L: bra L;\nL: ret;"), "line 7: label \"L\" stands twice" },
  { BODY("{ M: ret; }\nbra M;"), "line 7: there is no label \"M\"" },
  { BODY("ld.global.f32 %f1, [%r1];"),
    "line 6: \"%r1\" is of type .b32 where .u64 is wanted" },
  { BODY("ld.global.f32 %f1, [f_0];"),
    "line 6: \"f_0\" lies in another state space" },
  { BODY("ld.global.v2.f32 %f1, [%rd1];"), "line 6: \"%f1\" where \"{\"" },
  { BODY("ld.global.v2.f32 {%f1, %f2, %f3}, [%rd1];"),
    "line 6: \",\" where \"}\" should be" },
  { BODY("ld.global.v3.f32 {%f1, %f2, %f3}, [%rd1];"),
    "line 6: unknown modifier \".v3\"" },
  { BODY("ld.global.f16 %h1, [%rd1];"), "line 6: \"ld.global.f16\": no such" },
  { BODY("ld.global.u64 %r1, [%rd1];"),
    "line 6: \"%r1\" is of type .b32 where .u64 is wanted" },
  { BODY("st.const.f32 [%rd1], %f1;"), "line 6: \"st.const.f32\": no such" },
  { BODY("st.param.u64 [f_0], %rd1;"), NULL },
  { BODY("mov.u32 %r1, %tid.w;"), "line 6: there is no register \"%tid.w\"" },
  { BODY("mov.u64 %rd1, nothing;"), "line 6: \"nothing\" is not declared" },
  { BODY("mov.b32 %r1, {%h1, %h2, %h3};"), "line 6: a vector has 2 or 4" },
  { BODY("mov.b32 {%r1, %r2}, %r3;"),
    "line 6: \"%r1\" is of type .b32 where .b16 is wanted" },
  { BODY("call g, (f_0);"), "line 6: \"g\" is not declared" },
  { BODY("call f;"), "line 6: \"f\" is not a device function" },
  { BODY("call %rd1, (x);"), "line 6: indirect calls are not emulated" },
  { BODY(".reg .b8 %b;"), "line 6: registers of type .b8" },
  { BODY(".reg .b64 %x<1000000>;"), "line 6: registers take more than" },
  { BODY(".reg .b64 %x<9999999>;"), "line 6: 9999999 is too large" },
  { BODY(".local .b8 x[600000];"), "line 6: \"x\": more than 524288" },
  { BODY(".callprototype;"),
    "line 6: unknown directive \".callprototype\" in" },
  { PTX_HEAD ".extern .func g();\n.entry f()\n{ call g; }",
    "line 6: call of \"g\", which the module does not define" },
  { PTX_HEAD ".func g()\n{ call g; }\n.entry f()\n{ call g; }",
    "line 5: recursive call of \"g\"" },
  { PTX_HEAD ".func g(.param .b32 a)\n{ ret; }\n.entry f()\n{ call g; }",
    "line 7: \"g\" has 1 arguments, the call has 0" },
  { PTX_HEAD ".func g(.param .b32 a)\n{ ret; }\n.entry f()\n"
    "{ .param .b64 x; call g, (x); }",
    "line 7: \"g\": \"a\" takes 4 bytes, the call has 8" },
  { PTX_HEAD ".func g(.param .b32 a);\n.func g(.param .b64 a)\n{ ret; }",
    "line 5: \"g\" was declared with other parameters in line 4" },
};

static ptx_status load(const char *text, size_t length,
                       const ptx_limits *limits, char *log, size_t log_size)
{
  ptx_module *module;
  ptx_status status = ptx_module_load(text, length, limits, log, log_size,
                                      &module);
  ptx_module_free(module);
  return status;
}

static void check_bad_texts(void)
{
  for (size_t i = 0; i < sizeof bad_texts / sizeof *bad_texts; i++) {
    const bad_text *bad = &bad_texts[i];
    char log[512];
    ptx_status status = load(bad->text, strlen(bad->text), NULL, log,
                             sizeof log);
    if (!bad->message) {
      tap_ok(status == PTX_OK, "a store that only running shows to be wrong");
      continue;
    }
    bool said = status == PTX_INVALID &&
                strncmp(log, bad->message, strlen(bad->message)) == 0;
    tap_ok(said, "%s", bad->message);
    if (!said)
      tap_note("got \"%s\"", log);
  }
}

static void check_limits(void)
{
  static const char text[] = ".version 8.2\n.target sm_80\n.address_size 64\n";
  static const char exact[] =
    ".version 8.2\n.target sm_90a\n.address_size 64\n";
  char log[256];
  ptx_limits limits = { 80, 0 };
  tap_is_int(load(text, sizeof text, &limits, log, sizeof log),
             PTX_VERSION_TOO_NEW, "a driver refuses a later .version");
  tap_is_text(log, "line 1: .version 8.2 is newer than this driver knows "
              "(8.0)", "and says so");
  limits = (ptx_limits) { 82, 75 };
  tap_is_int(load(text, sizeof text, &limits, log, sizeof log),
             PTX_TARGET_TOO_NEW, "a device refuses a later .target");
  tap_is_text(log, "line 2: .target sm_80 does not run on sm_75",
              "and says so");
  limits = (ptx_limits) { 82, 90 };
  tap_is_int(load(text, sizeof text, &limits, log, sizeof log), PTX_OK,
             "an earlier .target is taken");
  tap_is_int(load(exact, sizeof exact, &limits, log, sizeof log), PTX_OK,
             "sm_90a is taken by sm_90");
  limits.target = 100;
  tap_is_int(load(exact, sizeof exact, &limits, log, sizeof log),
             PTX_TARGET_TOO_NEW, "and by no other");
  tap_is_int(load(text, 20, NULL, log, 8), PTX_INVALID,
             "a short log is not overrun");
}

/* A pattern's alternatives one after another: every name it stands for. */
typedef struct expansion {
  const ptx_form *form;
  size_t names, missing;
  char first_missing[128];
} expansion;

static void try_name(expansion *e, const char *name)
{
  ptx_mnemonic found;
  char reason[256];
  bool known = ptx_mnemonic_find(name, 99, 999, &found, reason,
                                 sizeof reason);
  ptx_action action = known ? found.form->action : PTX_DO_NOTHING;
  bool lanes = action == PTX_DO_LANES || action == PTX_DO_FLOAT;
  e->names++;
  if (!known || (lanes && !ptx_lanes_find(&found))) {
    e->missing++;
    if (!e->first_missing[0])
      snprintf(e->first_missing, sizeof e->first_missing, "%s", name);
  }
}

/* Tries all names; at is what of the pattern is left.  Recursion is as deep
 * as a pattern has words. */
static void expand(expansion *e, char *name, size_t length, const char *at)
{
  if (!*at) {
    name[length] = '\0';
    try_name(e, name);
    return;
  }
  bool optional = *at == '[';
  at += optional + 1;
  bool group = *at == '{';
  at += group;
  size_t size = strcspn(at, group ? "}" : ".[]");
  const char *rest = at + size + group + optional;
  if (optional)
    expand(e, name, length, rest);
  for (const char *end = at + size; at < end;) {
    size_t word = strcspn(at, ",}.[]");
    name[length] = '.';
    memcpy(name + length + 1, at, word);
    expand(e, name, length + 1 + word, rest);
    at += word + 1;
  }
}

static void check_forms(void)
{
  size_t names = 0;
  for (size_t i = 0; i < ptx_form_count; i++) {
    expansion e = { .form = &ptx_forms[i] };
    char name[256];
    size_t length = (size_t)snprintf(name, sizeof name, "%s",
                                     ptx_op_name(e.form->op));
    /* Cache hints multiply and mean nothing. */
    char pattern[1024];
    snprintf(pattern, sizeof pattern, "%s", e.form->pattern);
    char *hint = strstr(pattern, "[.{L1::");
    if (hint)
      memmove(hint, strstr(hint + 1, "[.{v2") ? strstr(hint + 1, "[.{v2")
                                              : hint + strlen(hint),
              strlen(strstr(hint + 1, "[.{v2") ? strstr(hint + 1, "[.{v2")
                                               : "") + 1);
    expand(&e, name, length, pattern);
    names += e.names;
    if (e.missing)
      tap_ok(false, "%s%s: %s is not implemented", ptx_op_name(e.form->op),
             e.form->pattern, e.first_missing);
  }
  tap_ok(names > 1000, "each of the %zu names of the %zu forms is found and "
         "implemented", names, ptx_form_count);
}

/* Damaged texts: whatever comes, it is an answer and not a crash. */
static void check_damage(const char *path, uint64_t seed)
{
  FILE *file = fopen(path, "r");
  static char text[1 << 16], damaged[sizeof text];
  if (!tap_ok(file != NULL, "%s can be read", path))
    return;
  size_t size = fread(text, 1, sizeof text, file), refused = 0;
  fclose(file);
  enum { ROUNDS = 600 };
  for (int round = 0; round < ROUNDS; round++) {
    memcpy(damaged, text, size);
    size_t length = size;
    for (uint64_t n = ptx_device_random(&seed) % 4 + 1; n; n--) {
      size_t at = ptx_device_random(&seed) % size;
      size_t from = ptx_device_random(&seed) % size;
      size_t run = ptx_device_random(&seed) % 12;
      if (at + run < size && from + run < size)
        memcpy(damaged + at, text + from, run);
      damaged[at] = (char)ptx_device_random(&seed);
    }
    if (ptx_device_random(&seed) % 4 == 0)
      length = ptx_device_random(&seed) % size;
    char log[256];
    refused += load(damaged, length, NULL, log, sizeof log) != PTX_OK;
  }
  tap_ok(refused > ROUNDS / 2, "%s damaged %d times: %zu refused, no crash",
         path, ROUNDS, refused);
}

static void check_depth(void)
{
  enum { DEPTH = 100000 };
  char *text = malloc(DEPTH + 256), log[256];
  if (!text)
    return;
  int at = snprintf(text, 256, "%s.entry f()\n", PTX_HEAD);
  memset(text + at, '{', DEPTH);
  text[at + DEPTH] = '\0';
  load(text, strlen(text), NULL, log, sizeof log);
  tap_is_text(log, "line 5: blocks nest more than 64 deep",
              "blocks in blocks in blocks");
  free(text);
}

int main(void)
{
  const char *folder = getenv("top_srcdir"), *given = getenv("TN_TEST_SEED");
  uint64_t seed = given ? strtoull(given, NULL, 0) : 1;
  char path[1024];
  tap_note("TN_TEST_SEED=%" PRIu64, seed);
  check_bad_texts();
  check_limits();
  check_forms();
  check_depth();
  snprintf(path, sizeof path, "%s/kernels/ptx/histogram.ptx",
           folder ? folder : ".");
  check_damage(path, seed);
  snprintf(path, sizeof path, "%s/tests/cudaemu/warps.ptx",
           folder ? folder : ".");
  check_damage(path, seed);
  return tap_done();
}
