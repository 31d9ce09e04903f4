/* Kernels of the suite's own, from portable source. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/check.h"

static const char source[] =
    "TN_KERNEL(step_on, TN_OUT(int32, y), TN_VAL(int32, k), TN_VAL(int64, n))"
    "{ TN_PARALLEL_FOR(i, n) y[i] = (y[i] * 3 + k) % 1000003; }\n"
    "TN_KERNEL(take, TN_OUT(int64, y), TN_IN(int64, x), TN_VAL(int32, a),"
    "          TN_VAL(int64, b), TN_VAL(float, c), TN_VAL(int64, n))"
    "{ TN_PARALLEL_FOR(i, n) {"
    "    y[4 * i] = x[i]; y[4 * i + 1] = a; y[4 * i + 2] = b;"
    "    y[4 * i + 3] = (int64)(c * 16.0f); } }\n"
    "TN_KERNEL(sum, TN_OUT(float, y), TN_IN(float, a), TN_IN(float, b),"
    "          TN_VAL(int64, n))"
    "{ TN_PARALLEL_FOR(i, n) y[i] = a[i] / b[i] + 0.1f * a[i]; }\n"
    "TN_KERNEL(groups, TN_OUT(int32, y), TN_VAL(int64, n))"
    "{ TN_SHARED(int32, part, 64);"
    "  TN_GROUPS(g, n) {"
    "    TN_ITEMS(t, 64) part[t] = (int)g + t;"
    "    TN_TREE(part, 64, +);"
    "    TN_ITEMS(t, 1) y[g] = part[0]; } }\n";

/* Kept to the end, as the module is. */
static tn_kernel *kernel_of(tn_module *module, const char *name)
{
  enum { KERNELS = 8 };
  static tn_kernel *kept[KERNELS];
  int i = 0;
  while (i < KERNELS && kept[i] && strcmp(tn_kernel_name(kept[i]), name) != 0)
    i++;
  conform_check(i < KERNELS, "no test takes over %d kernels", KERNELS);
  if (!kept[i]) kept[i] = tn_kernel_get(module, name);
  return kept[i];
}

tn_kernel *conform_kernel(const char *name)
{
  static tn_module *module;
  if (!module) module = tn_module_load(conform_device, source,
                                       .name = "conformance");
  if (!module && tn_last_status() == TN_UNSUPPORTED)
    conform_absent("portable kernels");
  conform_check(module != NULL, "the suite's kernels");
  tn_kernel *kernel = kernel_of(module, name);
  conform_check(kernel != NULL, "kernel \"%s\"", name);
  return kernel;
}

static tn_kernel *builtin(const char *name)
{
  tn_module *module = tn_module_builtin(conform_device, "elementwise");
  conform_check(module != NULL, "the built-in family \"elementwise\"");
  tn_kernel *kernel = tn_kernel_get(module, name);
  conform_check(kernel != NULL, "its kernel \"%s\"", name);
  tn_module_release(module);
  return kernel;
}

tn_status conform_set(float *y, float value, int64_t count)
{
  static tn_kernel *fill;
  if (!fill) fill = builtin("fill_f32");
  return tn_launch(fill, count, TN_ARGS(TN_ARG_PTR(y), TN_ARG_F32(value),
                                        TN_ARG_I64(count)));
}

/* The ones are as many as any test has elements. */
tn_status conform_add_one(float *y, int64_t count)
{
  enum { MOST = 1 << 20 };
  static tn_kernel *add;
  static float *ones;
  if (!add) {
    add = builtin("add_f32");
    ones = (float *)(void *)conform_memory_new(conform_device, MOST * 4);
    conform_ok(conform_set(ones, 1, MOST), "a launch");
    conform_ok(tn_synchronize(conform_device), "synchronising");
  }
  conform_check(count <= MOST, "%lld elements", (long long)count);
  return tn_launch(add, count, TN_ARGS(TN_ARG_PTR(y), TN_ARG_PTR(y),
                                       TN_ARG_PTR(ones), TN_ARG_I64(count)));
}

void conform_floats(const float *y, float wanted, int64_t count,
                    const char *format, ...)
{
  char text[200];
  size_t size = (size_t)count * sizeof(float);
  float *got = malloc(size);
  conform_check(got != NULL, "memory of the host");
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  conform_fetch(conform_device, got, y, size);
  for (int64_t i = 0; i < count; i++)
    conform_check(got[i] == wanted, "%s: element %lld is %g in place of %g",
                  text, (long long)i, (double)got[i], (double)wanted);
  free(got);
}
