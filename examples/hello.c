/* y += 2 x, computed on the device that the first argument names. */
#include <stdio.h>
#include <tenon/tenon.h>

static const char source[] =
  "TN_KERNEL(axpy, TN_OUT(float, y), TN_IN(float, x),"
  "          TN_VAL(float, a), TN_VAL(int64, n))"
  "{ TN_PARALLEL_FOR(i, n) y[i] += a * x[i]; }";

int main(int argc, char **argv)
{
  float x[] = { 1, 2, 3 }, y[] = { 10, 20, 30 };
  void *there_x = NULL, *there_y = NULL;
  tn_module *module = NULL;
  tn_kernel *axpy = NULL;
  tn_device host = { 0 }, device;
  int failed =
    tn_device_parse(argc > 1 ? argv[1] : "auto", &device) ||
    !(module = tn_module_load(device, source)) ||
    !(axpy = tn_kernel_get(module, "axpy")) ||
    !(there_x = tn_malloc(device, sizeof x)) ||
    !(there_y = tn_malloc(device, sizeof y)) ||
    tn_copy(there_x, device, x, host, sizeof x, false) ||
    tn_copy(there_y, device, y, host, sizeof y, false) ||
    tn_launch(axpy, 3, TN_ARGS(TN_ARG_PTR(there_y), TN_ARG_PTR(there_x),
                               TN_ARG_F32(2), TN_ARG_I64(3))) ||
    tn_copy(y, host, there_y, device, sizeof y, false);
  if (failed) fprintf(stderr, "hello: %s\n", tn_error_message());
  else printf("%g %g %g\n", y[0], y[1], y[2]);
  tn_free(there_x);
  tn_free(there_y);
  tn_kernel_release(axpy);
  tn_module_release(module);
  return failed;
}
