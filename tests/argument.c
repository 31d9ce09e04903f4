/* Arguments against signatures, and what a backend is given, by hand. */
#include "config.h"

#include "tests/manual_device.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A module's source is the signature of its kernels. */
static tn_kernel *kernel_of(const char *signature)
{
  tn_module *module = tn_module_load(manual_first, signature);
  tn_kernel *kernel = tn_kernel_get(module, "thing");
  tn_module_release(module);
  return kernel;
}

static void refused(tn_status status, const char *text, const char *what)
{
  tap_is_int(status, TN_INVALID_ARGUMENT, "%s is refused", what);
  tap_is_text(tn_error_message(), text, "in these words");
}

static void test_kinds(void)
{
  int x;
  tn_kernel *kernel = kernel_of("(OUT, float, y), (IN, uint8, x), "
                                "(VAL, float, a), (VAL, int64, n)");
  refused(tn_launch(kernel, 1, TN_ARGS(TN_ARG_PTR(&x), TN_ARG_PTR(&x),
                                       TN_ARG_F32(1))),
          "kernel \"thing\" takes 4 arguments, not 3: \"n\" is missing",
          "one too few");
  refused(tn_launch(kernel, 1, NULL, 0),
          "kernel \"thing\" takes 4 arguments, not 0: \"y\" is missing",
          "none");
  refused(tn_launch(kernel, 1, TN_ARGS(TN_ARG_PTR(&x), TN_ARG_PTR(&x),
                                       TN_ARG_F32(1), TN_ARG_I64(1),
                                       TN_ARG_I32(1))),
          "kernel \"thing\" takes 4 arguments, not 5", "one too many");
  refused(tn_launch(kernel, 1, TN_ARGS(TN_ARG_PTR(&x), TN_ARG_I64(1),
                                       TN_ARG_F32(1), TN_ARG_I64(1))),
          "kernel \"thing\": argument 2 (\"x\") is uint8*: it takes "
          "TN_ARG_PTR, not TN_ARG_I64", "a number for a pointer");
  refused(tn_launch(kernel, 1, TN_ARGS(TN_ARG_PTR(&x), TN_ARG_PTR(&x),
                                       TN_ARG_F64(1), TN_ARG_I64(1))),
          "kernel \"thing\": argument 3 (\"a\") is float: it takes "
          "TN_ARG_F32, not TN_ARG_F64", "a double for a float");
  refused(tn_launch(kernel, 1, TN_ARGS(TN_ARG_PTR(&x), TN_ARG_PTR(&x),
                                       TN_ARG_F32(1), TN_ARG_I32(1))),
          "kernel \"thing\": argument 4 (\"n\") is int64: it takes "
          "TN_ARG_I64, not TN_ARG_I32", "an int for a long");
  refused(tn_launch(kernel, 1, (const tn_arg[4]){ { 0 } }, 4),
          "kernel \"thing\": argument 1 (\"y\") is float*: it takes "
          "TN_ARG_PTR, not no kind", "an argument of no kind");
  refused(tn_launch(kernel, 1, NULL, 4),
          "kernel \"thing\": the arguments are NULL", "NULL");
  tn_kernel_release(kernel);
}

static void test_slots(void)
{
  int x;
  tn_kernel *kernel = kernel_of("(OUT, int32, y), (VAL, float, f), "
                                "(VAL, double, d), (VAL, int32, i), "
                                "(VAL, uint64, u), (VAL, int8, b)");
  tap_is_int(tn_launch(kernel, 77,
                       TN_ARGS(TN_ARG_PTR(&x), TN_ARG_F32(1.5f),
                               TN_ARG_F64(2.5), TN_ARG_I32(-3),
                               TN_ARG_I64(INT64_MIN), TN_ARG_I32(-128))),
             TN_OK, "one of each kind");
  tap_is_int(tn_synchronize(manual_first), TN_OK, "runs");
  const uint64_t *slots = manual->slots();
  float f;
  double d;
  int32_t i;
  int8_t b;
  memcpy(&f, &slots[1], sizeof f);
  memcpy(&d, &slots[2], sizeof d);
  memcpy(&i, &slots[3], sizeof i);
  memcpy(&b, &slots[5], sizeof b);
  tap_ok(slots[0] == (uint64_t)(uintptr_t)&x && f == 1.5f && d == 2.5 &&
             i == -3 && slots[4] == (uint64_t)INT64_MIN && b == -128,
         "the slots have them, narrow ones in the low bytes");
  tap_is_int((long)manual->launch()->items, 77, "the items too");
  tap_ok(manual->launch()->groups[0] == 0, "and no groups");
  refused(tn_launch(kernel, 1,
                    TN_ARGS(TN_ARG_PTR(&x), TN_ARG_F32(0), TN_ARG_F64(0),
                            TN_ARG_I32(0), TN_ARG_I64(0), TN_ARG_I32(128))),
          "kernel \"thing\": argument 6 (\"b\") is int8, which does not hold "
          "128", "a number that does not fit");
  tn_kernel_release(kernel);
  kernel = kernel_of("(VAL, uint16, w)");
  tap_is_int(tn_launch(kernel, 1, TN_ARGS(TN_ARG_I32(65535))), TN_OK,
             "65535 is a uint16");
  tap_is_int(tn_launch(kernel, 1, TN_ARGS(TN_ARG_I32(65536))),
             TN_INVALID_ARGUMENT, "65536 is not");
  tap_is_int(tn_launch(kernel, 1, TN_ARGS(TN_ARG_I32(-1))),
             TN_INVALID_ARGUMENT, "-1 is not");
  tn_kernel_release(kernel);
}

static void test_groups(void)
{
  tn_kernel *kernel = kernel_of("");
  tap_is_int(tn_launch_groups(kernel, 6, NULL, 0), TN_OK, "no arguments");
  tn_synchronize(manual_first);
  const tn_backend_launch_desc *seen = manual->launch();
  tap_ok(seen->groups[0] == 6 && seen->groups[1] == 1 &&
             seen->groups[2] == 1 && seen->items == 0,
         "groups have three dimensions, and no items");
  tap_is_int((long)seen->group_size[0], 0, "their size is not chosen");
  tn_launch_desc desc = { .struct_size = sizeof desc, .groups = { 2, 3, 0 },
                          .group_size = { 64, 0, 0 }, .shared_bytes = 128 };
  tap_is_int(tn_launch_with(kernel, &desc, NULL, 0), TN_OK, "all choices");
  tn_synchronize(manual_first);
  tap_ok(seen->groups[0] == 2 && seen->groups[1] == 3 &&
             seen->groups[2] == 1 && seen->group_size[0] == 64 &&
             seen->group_size[1] == 1 && seen->group_size[2] == 1 &&
             seen->shared_bytes == 128, "are passed on, the rest 1");
  desc.struct_size = 8;
  refused(tn_launch_with(kernel, &desc, NULL, 0),
          "kernel \"thing\": struct_size of the launch description is 8, not "
          "56", "another size of the description");
  desc = (tn_launch_desc){ .struct_size = sizeof desc, .groups = { 2, -1, 1 } };
  refused(tn_launch_with(kernel, &desc, NULL, 0),
          "kernel \"thing\": -1 groups: 0 and more are", "a number below 0");
  tn_kernel_release(kernel);
}

static void bad(const char *signature)
{
  tn_clear_error();
  tn_kernel *kernel = kernel_of(signature);
  tap_ok(!kernel, "signature \"%.30s\" is refused", signature);
  tap_is_int(tn_last_status(), TN_BAD_PLUGIN, "as the plugin's mistake");
}

static void test_signatures(void)
{
  bad("(OUT, float)");
  bad("(OUT, float, y");
  bad("(OUT, float, y),");
  bad("(INOUT, float, y)");
  bad("(VAL, half, y)");
  bad("OUT, float, y");
  bad("(OUT, float, y) (IN, float, x)");
  char many[33 * 16 + 1] = "(VAL, int32, v)";
  for (int i = 1; i < 33; i++) strcat(many, ",(VAL, int32, v)");
  tap_ok(!kernel_of(many), "33 parameters are refused");
  tap_has(tn_error_message(), "more than 32", "because of their number");
  tn_kernel *kernel = kernel_of(" (OUT,float,y) ,( IN , float , x ) ");
  tap_ok(kernel != NULL, "spaces do not matter");
  tn_kernel_release(kernel);
}

/* A module is unloaded when its last launch is past. */
static void test_unload(void)
{
  int number;
  tn_stream *stream = manual_stream(&number);
  int before = manual->module_count();
  tn_kernel *kernel = kernel_of("");
  tn_with_stream(stream) tn_launch(kernel, 1, NULL, 0);
  tn_kernel_release(kernel);
  tap_is_int(manual->waiting(number), 1, "a launch is not waited for");
  tap_is_int(manual->module_count(), before + 1, "its module stays loaded");
  tn_stream_synchronize(stream);
  tn_kernel_release(kernel_of(""));
  tap_is_int(manual->module_count(), before, "until it is past");
}

static void test_failure(void)
{
  tn_kernel *kernel = kernel_of("");
  tap_is_int(tn_launch(kernel, 1, NULL, 0), TN_OK, "S6 a launch");
  manual->fail_next();
  tap_is_int(tn_synchronize(manual_first), TN_LAUNCH_FAILED, "S6 fails");
  tap_is_text(tn_error_message(),
              "manual:0: kernel \"thing\": failed as asked", "S6 by name");
  tn_kernel_release(kernel);
}

/* Families come as source where the backend has no image. */
static void test_builtin(void)
{
  tn_module *module = tn_module_builtin(manual_first, "bytes");
  tap_ok(module != NULL, "a built-in family as source: %s",
         module ? "found" : tn_error_message());
  tn_module_release(module);
  setenv("TENON_KERNEL_PATH", "/nowhere:/also", 1);
  tap_ok(!tn_module_builtin(manual_first, "histogram"), "not found");
  tap_has(tn_error_message(), "no histogram.kernel in /nowhere, /also, ",
          "it says where it looked");
}

static void test_options(void)
{
  tn_module *module = tn_module_load(manual_first, "");
  tap_ok(!tn_kernel_get(module, "missing"), "a kernel it has not");
  tap_is_text(tn_error_message(), "manual:0: kernel \"missing\" of module "
              "\"kernel\": no such kernel", "by name");
  tn_module_release(module);
}

static void test_native(void)
{
  tap_ok(!tn_kernel_native(manual_first, (void (*)(void))abort, "v()") &&
             tn_last_status() == TN_UNSUPPORTED,
         "a C function on a device that is not the host");
  tap_has(tn_error_message(), "backend \"manual\"", "is refused by name");
}

static void test_all(void)
{
  test_kinds();
  test_slots();
  test_groups();
  test_signatures();
  test_unload();
  test_failure();
  test_builtin();
  test_options();
  test_native();
}

int main(void)
{
  manual_part("", test_all);
  manual_part("notable", test_slots);
  return tap_done();
}
