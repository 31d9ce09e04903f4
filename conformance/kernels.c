/* Kernels of the suite's own, from portable source. */
#include "config.h"

#include <stdio.h>

#include "conformance/check.h"

static const char source[] =
    "TN_KERNEL(set, TN_OUT(int32, y), TN_VAL(int32, value), TN_VAL(int64, n))"
    "{ TN_PARALLEL_FOR(i, n) y[i] = value; }\n"
    "TN_KERNEL(count_up, TN_OUT(int32, y), TN_VAL(int64, n))"
    "{ TN_PARALLEL_FOR(i, n) y[i] += 1; }\n"
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

tn_kernel *conform_kernel(const char *name)
{
  static tn_module *module;
  if (!module) module = tn_module_load(conform_device, source,
                                       .name = "conformance");
  if (!module && tn_last_status() == TN_UNSUPPORTED)
    conform_absent("portable kernels");
  conform_check(module != NULL, "the suite's kernels");
  tn_kernel *kernel = tn_kernel_get(module, name);
  conform_check(kernel != NULL, "kernel \"%s\"", name);
  return kernel;
}
