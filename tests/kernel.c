/* Kernels on any device: portable source, built-in families, grouped and flat
 * launches. */
#include "config.h"

#include "tests/test_device.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

static tn_device device;

static const char source[] =
    "TN_KERNEL(axpy, TN_OUT(float, y), TN_IN(float, x), TN_VAL(float, a),\n"
    "          TN_VAL(int64, n))\n"
    "{ TN_PARALLEL_FOR(i, n) y[i] += a * x[i]; }\n"
    "TN_KERNEL(mark, TN_OUT(int32, y), TN_VAL(int64, n))\n"
    "{ TN_GROUPS(g, n) { TN_ITEMS(t, 1) y[g] = MARK + (int32)g; } }\n";

enum { COUNT = 1000 };

static void test_portable(tn_module *module)
{
  float x[COUNT], y[COUNT], got[COUNT];
  bool is_right = true;
  for (int i = 0; i < COUNT; i++) x[i] = (float)i, y[i] = 1;
  float *dx = tn_malloc(device, sizeof x), *dy = tn_malloc(device, sizeof y);
  tn_copy(dx, device, x, test_host, sizeof x, false);
  tn_copy(dy, device, y, test_host, sizeof y, false);
  tn_kernel *axpy = tn_kernel_get(module, "axpy");
  tap_is_text(tn_kernel_name(axpy), "axpy", "a kernel knows its name");
  tap_ok(tn_device_equal(tn_kernel_device(axpy), device), "and its device");
  tap_is_text(tn_kernel_signature(axpy),
              "(OUT, float, y), (IN, float, x), (VAL, float, a), "
              "(VAL, int64, n)", "and its parameters");
  tap_is_int(tn_launch(axpy, COUNT,
                       TN_ARGS(TN_ARG_PTR(dy), TN_ARG_PTR(dx),
                               TN_ARG_F32(2), TN_ARG_I64(COUNT))),
             TN_OK, "a launch");
  tap_is_int(tn_launch(axpy, 0,
                       TN_ARGS(TN_ARG_PTR(dy), TN_ARG_PTR(dx),
                               TN_ARG_F32(2), TN_ARG_I64(COUNT))),
             TN_OK, "R21 0 items launch nothing");
  tap_is_int(tn_launch(axpy, -1,
                       TN_ARGS(TN_ARG_PTR(dy), TN_ARG_PTR(dx),
                               TN_ARG_F32(2), TN_ARG_I64(COUNT))),
             TN_INVALID_ARGUMENT, "a number below 0 is refused");
  tn_copy(got, test_host, dy, device, sizeof got, false);
  for (int i = 0; i < COUNT; i++) is_right &= got[i] == 1 + 2 * x[i];
  tap_ok(is_right, "computes what it says");
  tap_is_int(tn_launch(axpy, COUNT,
                       TN_ARGS(TN_ARG_PTR(dy), TN_ARG_PTR(dx),
                               TN_ARG_I64(2), TN_ARG_I64(COUNT))),
             TN_INVALID_ARGUMENT, "a wrong argument is refused");
  tap_has(tn_error_message(), "axpy", "naming the kernel");
  tap_has(tn_error_message(), "\"a\"", "and the argument");
  tn_kernel_retain(axpy);
  tn_kernel_release(axpy);
  tn_kernel_release(axpy);
  tn_free(dx);
  tn_free(dy);
}

static bool has_marks(const int32_t *memory, int count)
{
  int32_t got[8] = { 0 };
  bool is_right = true;
  tn_copy(got, test_host, memory, device, sizeof got, false);
  for (int i = 0; i < 8; i++) is_right &= got[i] == (i < count ? 40 + i : -1);
  return is_right;
}

static void clear_marks(int32_t *memory)
{
  tn_fill_bytes(memory, device, 255, 8 * sizeof *memory);
}

static void test_grouped(tn_module *module)
{
  int32_t *memory = tn_malloc(device, 8 * sizeof *memory);
  tn_kernel *mark = tn_kernel_get(module, "mark");
  clear_marks(memory);
  tap_is_int(tn_launch_groups(mark, 5, TN_ARGS(TN_ARG_PTR(memory),
                                               TN_ARG_I64(5))),
             TN_OK, "a grouped launch, with a definition of the options");
  tap_ok(has_marks(memory, 5), "runs each group");
  clear_marks(memory);
  tn_launch_desc desc = { .struct_size = sizeof desc,
                          .groups = { 2, 0, 0 }, .group_size = { 1, 0, 0 } };
  tap_is_int(tn_launch_with(mark, &desc, TN_ARGS(TN_ARG_PTR(memory),
                                                 TN_ARG_I64(7))),
             TN_OK, "with all choices");
  tap_ok(has_marks(memory, 7), "the bound in the kernel decides");
  desc.groups[0] = 0;
  tap_is_int(tn_launch_with(mark, &desc, TN_ARGS(TN_ARG_PTR(memory),
                                                 TN_ARG_I64(7))),
             TN_OK, "R21 0 groups launch nothing");
  desc.flags = 1;
  tap_is_int(tn_launch_with(mark, &desc, TN_ARGS(TN_ARG_PTR(memory),
                                                 TN_ARG_I64(7))),
             TN_INVALID_ARGUMENT, "unknown flags are refused");
  tap_is_int(tn_launch_with(mark, NULL, TN_ARGS(TN_ARG_PTR(memory),
                                                TN_ARG_I64(7))),
             TN_INVALID_ARGUMENT, "and no description");
  tn_kernel_release(mark);
  tn_free(memory);
}

/* The kernel keeps its module, and work that was queued is done. */
static void test_lifetime(void)
{
  int32_t *memory = tn_malloc(device, 8 * sizeof *memory);
  tn_stream *stream = tn_stream_new(device, 0);
  tn_module *module = tn_module_load(device, source, .defines = "MARK=40");
  tn_kernel *mark = tn_kernel_get(module, "mark");
  tn_module_release(module);
  clear_marks(memory);
  tn_synchronize(device);
  tn_with_stream(stream)
    tap_is_int(tn_launch_groups(mark, 8, TN_ARGS(TN_ARG_PTR(memory),
                                                 TN_ARG_I64(8))),
               TN_OK, "a kernel outlives its module's release");
  tn_kernel_release(mark);
  tap_is_int(tn_stream_synchronize(stream), TN_OK,
             "its launch outlives its own");
  tap_ok(has_marks(memory, 8), "and is done");
  tn_free(memory);
}

static void test_builtin(void)
{
  float x[COUNT], got[COUNT];
  bool is_right = true;
  for (int i = 0; i < COUNT; i++) x[i] = (float)i;
  float *memory = tn_malloc(device, sizeof x);
  tn_copy(memory, device, x, test_host, sizeof x, false);
  tn_module *module = tn_module_builtin(device, "elementwise");
  if (!tap_ok(module != NULL, "a built-in family")) {
    tap_note("%s", tn_error_message());
    return;
  }
  tn_module *again = tn_module_builtin(device, "elementwise");
  tap_ok(again == module, "is loaded once");
  tn_kernel *add = tn_kernel_get(module, "add_f32");
  tap_is_int(tn_launch(add, COUNT,
                       TN_ARGS(TN_ARG_PTR(memory), TN_ARG_PTR(memory),
                               TN_ARG_PTR(memory), TN_ARG_I64(COUNT))),
             TN_OK, "one of its kernels");
  tn_copy(got, test_host, memory, device, sizeof got, false);
  for (int i = 0; i < COUNT; i++) is_right &= got[i] == 2 * x[i];
  tap_ok(is_right, "computes");
  tap_ok(!tn_kernel_get(module, "no_such_kernel") &&
             tn_last_status() == TN_INVALID_ARGUMENT,
         "a kernel it lacks is refused");
  tap_has(tn_error_message(), "no_such_kernel", "by name");
  tap_ok(!tn_module_builtin(device, "no_such_family"),
         "a family that is not there");
  tap_has(tn_error_message(), "no_such_family", "is refused by name");
  tap_ok(!tn_module_builtin(device, "../elementwise") &&
             tn_last_status() == TN_INVALID_ARGUMENT,
         "what is no name is refused");
  tn_kernel_release(add);
  tn_module_release(again);
  tn_module_release(module);
  tn_free(memory);
}

static void refused(tn_module *module, tn_status status, const char *text,
                    const char *what)
{
  tap_is_int(module ? TN_OK : tn_last_status(), status, "%s", what);
  tap_has(tn_error_message(), text, "and says so");
}

static void test_refusals(void)
{
  tn_module_options both = { .binary = source, .binary_size = 1 };
  refused(tn_module_load_with(device, source, both), TN_INVALID_ARGUMENT,
          "not both", "source and binary");
  refused(tn_module_load(device, NULL), TN_INVALID_ARGUMENT, "has neither",
          "neither source nor binary");
  refused(tn_module_load(device, source, .language = "fortran"),
          TN_INVALID_ARGUMENT, "fortran", "an unknown language");
  refused(tn_module_load(device, source, .defines = "A=1;9=2"),
          TN_INVALID_ARGUMENT, "9=2", "a definition of no name");
  refused(tn_module_load(device, "TN_KERNEL(broken, this is no kernel"),
          TN_COMPILE_FAILED, "", "source that does not compile");
  tap_is_int(tn_launch(NULL, 1, NULL, 0), TN_INVALID_ARGUMENT, "no kernel");
  tap_ok(!tn_kernel_get(NULL, "axpy"), "no module");
  tn_module_release(NULL);
  tn_kernel_release(NULL);
}

int main(void)
{
  device = test_device();
  test_builtin();
  tn_module *module = tn_module_load(device, source, .defines = "MARK=40");
  if (module) {
    test_portable(module);
    test_grouped(module);
    test_lifetime();
    test_refusals();
    tn_module_release(module);
  } else if (tn_last_status() == TN_UNSUPPORTED) {
    tap_skip("%s", tn_error_message());
  } else {
    tap_ok(false, "portable source: %s", tn_error_message());
  }
  return tap_done();
}
