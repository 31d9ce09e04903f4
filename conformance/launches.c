/* Rules N1, S1 and X3: kernels get what they were launched with, all of it,
 * in order. */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/check.h"

static void run_arguments(void)
{
  enum { COUNT = 9 };
  static const struct { int32_t a; int64_t b; float c; } values[] = {
    { 1, 2, 3 },
    { -1, -2, -3 },
    { INT32_MAX, INT64_MAX, 1048576 },
    { INT32_MIN, INT64_MIN, -0.0625f },
    { 0x12345678, 0x123456789abcdef0, 0.5f },
  };
  tn_kernel *take = conform_kernel("take");
  int64_t in[COUNT], out[4 * COUNT];
  for (int i = 0; i < COUNT; i++) in[i] = (int64_t)i * 0x100000001 - 5;
  void *x = conform_memory_new(conform_device, sizeof in);
  void *y = conform_memory_new(conform_device, sizeof out);
  conform_send(conform_device, x, in, sizeof in);
  for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
    conform_ok(tn_launch(take, COUNT,
                         TN_ARGS(TN_ARG_PTR(y), TN_ARG_PTR(x),
                                 TN_ARG_I32(values[k].a),
                                 TN_ARG_I64(values[k].b),
                                 TN_ARG_F32(values[k].c),
                                 TN_ARG_I64(COUNT))), "a launch");
    conform_fetch(conform_device, out, y, sizeof out);
    for (int i = 0; i < COUNT; i++) {
      conform_check(out[4 * i] == in[i], "a kernel reads its pointer");
      conform_check(out[4 * i + 1] == values[k].a,
                    "the int32 %d arrives as %lld", values[k].a,
                    (long long)out[4 * i + 1]);
      conform_check(out[4 * i + 2] == values[k].b,
                    "the int64 %lld arrives as %lld",
                    (long long)values[k].b, (long long)out[4 * i + 2]);
      conform_check(out[4 * i + 3] == (int64_t)(values[k].c * 16.0f),
                    "the float %g arrives as %g", (double)values[k].c,
                    (double)out[4 * i + 3] / 16);
    }
  }
}

/* Every item once, and none beyond. */
static void run_items(void)
{
  static const int64_t counts[] = { 1, 2, 63, 64, 65, 1000, 65537, 1000003 };
  enum { EXTRA = 16 };
  for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
    size_t whole = (size_t)(counts[k] + EXTRA) * sizeof(float);
    float *y = (float *)(void *)conform_memory_new(conform_device, whole);
    tn_fill_bytes(y, conform_device, 0, whole);
    for (int i = 0; i < 5; i++)
      conform_ok(conform_add_one(y, counts[k]), "a launch of %lld items",
                 (long long)counts[k]);
    conform_floats(y, 5, counts[k], "5 launches of %lld items that add 1",
                   (long long)counts[k]);
    conform_floats(y + counts[k], 0, EXTRA, "what is behind %lld items",
                   (long long)counts[k]);
    tn_free(y);
  }
}

/* How many items are asked for decides nothing. */
static void run_hint(void)
{
  enum { COUNT = 3000 };
  static const int64_t hints[] = { 1, 7, 3000, 100000, 0 };
  tn_module *module = tn_module_builtin(conform_device, "elementwise");
  tn_kernel *fill = module ? tn_kernel_get(module, "fill_f32") : NULL;
  conform_check(fill != NULL, "the built-in kernel fill_f32");
  float *y = (float *)(void *)conform_memory_new(conform_device, COUNT * 4);
  for (int i = 0; i < 5; i++) {
    tn_fill_bytes(y, conform_device, 0, COUNT * 4);
    conform_ok(tn_launch(fill, hints[i], TN_ARGS(TN_ARG_PTR(y),
                                                 TN_ARG_F32(3),
                                                 TN_ARG_I64(COUNT))),
               "a launch of %lld items", (long long)hints[i]);
    conform_floats(y, hints[i] ? 3 : 0, COUNT, "a launch of %lld items, the "
                   "bound in the kernel being 3000", (long long)hints[i]);
  }
  tn_kernel_release(fill);
  tn_module_release(module);
}

static void run_groups(void)
{
  enum { COUNT = 300 };
  tn_kernel *groups = conform_kernel("groups");
  int32_t got[COUNT];
  void *y = conform_memory_new(conform_device, sizeof got);
  tn_launch_desc desc = { .struct_size = sizeof desc, .groups = { 7, 0, 0 } };
  for (int k = 0; k < 3; k++) {
    tn_fill_bytes(y, conform_device, 0, sizeof got);
    tn_status status =
        k < 2 ? tn_launch_groups(groups, k ? 1 : COUNT,
                                 TN_ARGS(TN_ARG_PTR(y), TN_ARG_I64(COUNT)))
              : tn_launch_with(groups, &desc, TN_ARGS(TN_ARG_PTR(y),
                                                      TN_ARG_I64(COUNT)));
    conform_ok(status, "a launch of groups");
    conform_fetch(conform_device, got, y, sizeof got);
    for (int i = 0; i < COUNT; i++)
      conform_check(got[i] == 64 * i + 2016, "group %d gives %d in place of "
                    "%d", i, got[i], 64 * i + 2016);
  }
}

/* Each launch reads what the one before it wrote, with its own argument. */
static void run_order(void)
{
  enum { COUNT = 2000, STEPS = 200 };
  tn_kernel *step = conform_kernel("step_on");
  int32_t got[COUNT], wanted = 0;
  void *y = conform_memory_new(conform_device, sizeof got);
  tn_stream *stream = conform_stream_new(conform_device, 0);
  tn_fill_bytes(y, conform_device, 0, sizeof got);
  tn_synchronize(conform_device);
  tn_with_stream(stream)
    for (int i = 1; i <= STEPS; i++) {
      conform_ok(tn_launch(step, COUNT, TN_ARGS(TN_ARG_PTR(y), TN_ARG_I32(i),
                                                TN_ARG_I64(COUNT))),
                 "a launch");
      wanted = (wanted * 3 + i) % 1000003;
    }
  conform_ok(tn_stream_synchronize(stream), "synchronising");
  conform_fetch(conform_device, got, y, sizeof got);
  for (int i = 0; i < COUNT; i++)
    conform_check(got[i] == wanted, "after %d launches in order, element %d "
                  "is %d in place of %d", STEPS, i, got[i], wanted);
}

/* What the host computes, without contraction. */
static void run_bits(void)
{
  enum { COUNT = 5000 };
  tn_kernel *sum = conform_kernel("sum");
  static float a[COUNT], b[COUNT], got[COUNT];
  for (int i = 0; i < COUNT; i++) {
    a[i] = (float)(int)(conform_random(2000001) - 1000000) / 777.0f;
    b[i] = (float)(1 + conform_random(1000000)) / 333.0f;
  }
  void *x = conform_memory_new(conform_device, sizeof a);
  void *y = conform_memory_new(conform_device, sizeof b);
  void *z = conform_memory_new(conform_device, sizeof got);
  conform_send(conform_device, x, a, sizeof a);
  conform_send(conform_device, y, b, sizeof b);
  conform_ok(tn_launch(sum, COUNT, TN_ARGS(TN_ARG_PTR(z), TN_ARG_PTR(x),
                                           TN_ARG_PTR(y),
                                           TN_ARG_I64(COUNT))), "a launch");
  conform_fetch(conform_device, got, z, sizeof got);
  tn_device_info info = conform_info();
  if (info.not_reproducible[0])
    conform_absent("the same bits: %s", info.not_reproducible);
  for (int i = 0; i < COUNT; i++) {
    volatile float quotient = a[i] / b[i], tenth = 0.1f * a[i];
    float wanted = quotient + tenth;
    conform_check(memcmp(&got[i], &wanted, sizeof wanted) == 0,
                  "%a / %a + 0.1 * %a is %a in place of %a", (double)a[i],
                  (double)b[i], (double)a[i], (double)got[i],
                  (double)wanted);
  }
}

static void run_builtin(void)
{
  enum { COUNT = 3000 };
  static float x[COUNT], got[COUNT];
  tn_module *module = tn_module_builtin(conform_device, "elementwise");
  conform_check(module != NULL, "the built-in family \"elementwise\"");
  tn_kernel *add = tn_kernel_get(module, "add_f32");
  conform_check(add != NULL, "its kernel add_f32");
  for (int i = 0; i < COUNT; i++) x[i] = (float)i;
  void *memory = conform_memory_new(conform_device, sizeof x);
  conform_send(conform_device, memory, x, sizeof x);
  conform_ok(tn_launch(add, COUNT, TN_ARGS(TN_ARG_PTR(memory),
                                           TN_ARG_PTR(memory),
                                           TN_ARG_PTR(memory),
                                           TN_ARG_I64(COUNT))), "a launch");
  conform_fetch(conform_device, got, memory, sizeof got);
  for (int i = 0; i < COUNT; i++)
    conform_check(got[i] == 2 * x[i], "%g + %g is %g", (double)x[i],
                  (double)x[i], (double)got[i]);
  tn_kernel_release(add);
  tn_module_release(module);
}

static void run_double(void)
{
  static const char source[] =
      "TN_KERNEL(third, TN_OUT(double, y), TN_VAL(double, x),"
      "          TN_VAL(int64, n))"
      "{ TN_PARALLEL_FOR(i, n) y[i] = x / 3.0; }";
  double got[8];
  if (!conform_info().f64) conform_absent("double");
  tn_module *module = tn_module_load(conform_device, source);
  if (!module && tn_last_status() == TN_UNSUPPORTED)
    conform_absent("portable kernels");
  conform_check(module != NULL, "a kernel with double");
  tn_kernel *third = tn_kernel_get(module, "third");
  void *y = conform_memory_new(conform_device, sizeof got);
  conform_ok(tn_launch(third, 8, TN_ARGS(TN_ARG_PTR(y), TN_ARG_F64(1e300),
                                         TN_ARG_I64(8))), "a launch");
  conform_fetch(conform_device, got, y, sizeof got);
  for (int i = 0; i < 8; i++)
    conform_check(got[i] == 1e300 / 3.0, "1e300 / 3 is %a", got[i]);
  tn_kernel_release(third);
  tn_module_release(module);
}

static void run_refusals(void)
{
  tn_kernel *step = conform_kernel("step_on");
  void *y = conform_memory_new(conform_device, 64);
  tn_module *broken = tn_module_load(conform_device,
                                     "TN_KERNEL(broken, this is no kernel");
  conform_check(!broken, "broken source compiles");
  conform_is(tn_last_status(), TN_COMPILE_FAILED, "broken source");
  conform_check(tn_error_message()[0] != 0, "the compiler's message is told");
  tn_module *module = tn_module_load(
      conform_device, "TN_KERNEL(only, TN_OUT(int32, y), TN_VAL(int64, n))"
                      "{ TN_PARALLEL_FOR(i, n) y[i] = 1; }");
  conform_check(module != NULL, "a module of one kernel");
  conform_check(!tn_kernel_get(module, "another"),
                "a kernel that the module lacks is there");
  conform_is(tn_last_status(), TN_INVALID_ARGUMENT, "a kernel it lacks");
  conform_error_has("another", "it is named");
  tn_module_release(module);
  conform_is(tn_launch(step, 4, TN_ARGS(TN_ARG_PTR(y), TN_ARG_F32(1),
                                       TN_ARG_I64(4))),
             TN_INVALID_ARGUMENT, "an argument of another kind");
  conform_is(tn_launch(step, 4, TN_ARGS(TN_ARG_PTR(y), TN_ARG_I32(1))),
             TN_INVALID_ARGUMENT, "too few arguments");
}

static void run_signature(void)
{
  const char *got = tn_kernel_signature(conform_kernel("take"));
  static const char wanted[] =
      "(OUT, int64, y), (IN, int64, x), (VAL, int32, a), (VAL, int64, b), "
      "(VAL, float, c), (VAL, int64, n)";
  conform_check(got && strcmp(got, wanted) == 0,
                "the signature reads \"%s\"", got ? got : "(null)");
}

/* By name, with the backend's: what optional entries are for. */
static void run_absences(void)
{
  char nothing;
  void *native = &nothing; /* a handle may be 0 */
  tn_clear_error();
  struct { const char *entry; tn_status status; } asked[] = {
    { "native_handle", tn_device_native(conform_device, &native) },
  };
  for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
    if (asked[i].status == TN_OK) {
      conform_check(native != &nothing, "%s gives nothing", asked[i].entry);
      continue;
    }
    conform_is(asked[i].status, TN_UNSUPPORTED, "%s", asked[i].entry);
    conform_check(strstr(tn_error_message(), conform_backend) != NULL,
                  "%s is refused without the backend's name",
                  asked[i].entry);
  }
  conform_is(tn_device_reset(conform_device), TN_INVALID_ARGUMENT,
             "a reset of a device that is not lost");
}

#define L CONFORM_LAUNCH_BIT
static const conform_test tests[] = {
  { "N1", "arguments", CONFORM_LAUNCH, L, false,
    "arguments arrive whole", run_arguments },
  { "N1", "items", CONFORM_LAUNCH, L, false,
    "each item runs once", run_items },
  { "N1", "hint", CONFORM_LAUNCH, L, false,
    "the kernel's bound decides, not the launch's size", run_hint },
  { "N1", "groups", CONFORM_LAUNCH, L, false,
    "groups share memory and wait for each other", run_groups },
  { "N1", "bits", CONFORM_LAUNCH, L, false,
    "floats have the bits of the host's arithmetic", run_bits },
  { "N1", "builtin", CONFORM_LAUNCH, L, false,
    "built-in families are there", run_builtin },
  { "N1", "double", CONFORM_LAUNCH, L, false,
    "devices that say they have double have it", run_double },
  { "N1", "signature", CONFORM_LAUNCH, L, false,
    "kernels tell their parameters", run_signature },
  { "S1", "launches", CONFORM_LAUNCH, L | CONFORM_STREAM_BIT, false,
    "launches on one stream run in order", run_order },
  { "X3", "kernels", CONFORM_LAUNCH, L, false,
    "what does not compile or is not there is refused", run_refusals },
  { "X3", "absences", CONFORM_MINIMAL, CONFORM_DEVICE_BIT, false,
    "what the backend lacks is refused by name", run_absences },
};
CONFORM_SECTION(conform_launches, tests);
