/* A launch on opencl against the same launch by the OpenCL calls alone, both
 * with their four arguments set anew. POCL_DEVICES=basic runs kernels in the
 * calling thread, so what is left is the cost of asking. */
#include "config.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "bench/limit.h"
#include "bench/measure.h"
#include "tenon/tenon.h"

#define BATCH 64 /* launches between waits */

static const char raw_source[] =
    "__kernel void axpy(__global float *y, __global const float *x,"
    "                   float a, long n)"
    "{ for (long i = get_global_id(0); i < n; i += get_global_size(0))"
    "    y[i] = fma(a, x[i], y[i]); }";

/* The entry points, in the loader opened at run time like the backend's. */
#define ENTRIES(X) \
  X(clGetPlatformIDs) X(clGetDeviceIDs) X(clCreateContext) \
  X(clCreateCommandQueue) X(clCreateProgramWithSource) X(clBuildProgram) \
  X(clCreateKernel) X(clCreateBuffer) X(clSetKernelArg) \
  X(clEnqueueNDRangeKernel) X(clFinish)

static struct {
#define MEMBER(name) __typeof__(&name) name;
  ENTRIES(MEMBER)
#undef MEMBER
  cl_command_queue queue;
  cl_kernel kernel;
  cl_mem x, y;
} raw;

static int raw_load(void)
{
  void *library = dlopen("libOpenCL.so.1", RTLD_NOW);
  if (!library) return 1;
#define LOAD(name) \
  *(void **)&raw.name = dlsym(library, #name); \
  if (!raw.name) return 1;
  ENTRIES(LOAD)
#undef LOAD
  return 0;
}

static int raw_open(void)
{
  cl_platform_id platform;
  cl_device_id device;
  const char *text = raw_source;
  if (raw_load() || raw.clGetPlatformIDs(1, &platform, NULL) ||
      raw.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))
    return 1;
  cl_context context = raw.clCreateContext(NULL, 1, &device, NULL, NULL,
                                           NULL);
  raw.queue = raw.clCreateCommandQueue(context, device, 0, NULL);
  cl_program program = raw.clCreateProgramWithSource(context, 1, &text, NULL,
                                                     NULL);
  if (raw.clBuildProgram(program, 1, &device, "", NULL, NULL)) return 1;
  raw.kernel = raw.clCreateKernel(program, "axpy", NULL);
  raw.x = raw.clCreateBuffer(context, CL_MEM_READ_WRITE, 4096, NULL, NULL);
  raw.y = raw.clCreateBuffer(context, CL_MEM_READ_WRITE, 4096, NULL, NULL);
  return !raw.kernel || !raw.x || !raw.y;
}

static void raw_run(void *argument, int64_t count)
{
  (void)argument;
  float a = 0.5f;
  cl_long n = 1;
  size_t global = 64, local = 64;
  for (int64_t i = 0; i < count; i++) {
    raw.clSetKernelArg(raw.kernel, 0, sizeof raw.y, &raw.y);
    raw.clSetKernelArg(raw.kernel, 1, sizeof raw.x, &raw.x);
    raw.clSetKernelArg(raw.kernel, 2, sizeof a, &a);
    raw.clSetKernelArg(raw.kernel, 3, sizeof n, &n);
    raw.clEnqueueNDRangeKernel(raw.queue, raw.kernel, 1, NULL, &global,
                               &local, 0, NULL, NULL);
    if (i % BATCH == BATCH - 1) raw.clFinish(raw.queue);
  }
  raw.clFinish(raw.queue);
}

typedef struct launch {
  tn_device device;
  tn_kernel *kernel;
  void *y, *x;
} launch;

static void die(const char *what)
{
  fprintf(stderr, "bench: %s: %s\n", what, tn_error_message());
  exit(1);
}

static void launch_run(void *argument, int64_t count)
{
  const launch *l = argument;
  for (int64_t i = 0; i < count; i++) {
    if (tn_launch(l->kernel, 1,
                  TN_ARGS(TN_ARG_PTR(l->y), TN_ARG_PTR(l->x),
                          TN_ARG_F32(0.5f), TN_ARG_I64(1))))
      die("launch");
    if (i % BATCH == BATCH - 1 && tn_synchronize(l->device)) die("wait");
  }
  if (tn_synchronize(l->device)) die("wait");
}

int main(int argc, char **argv)
{
  FILE *json = argc > 1 ? fopen(argv[1], "w") : NULL;
  bench_json_open(json);
  bench_filter(argc > 2 ? argv[2] : NULL);
  if (raw_open()) {
    printf("opencl: no platform here, nothing measured\n");
  } else {
    launch l = { .device = tn_device_of("opencl:0") };
    tn_module *module = tn_module_builtin(l.device, "elementwise");
    l.kernel = tn_kernel_get(module, "axpy_f32");
    l.y = tn_malloc(l.device, 4096);
    l.x = tn_malloc(l.device, 4096);
    if (!l.kernel || !l.y || !l.x) die("opencl:0");
    bench_run(&(bench_case){ .name = "launch on opencl, 4 arguments",
                             .subject = { "tn_launch", launch_run, &l },
                             .limit = { "raw OpenCL", raw_run, NULL },
                             .goal = BENCH_AT_MOST, .wanted = 1.15 });
  }
  bench_json_close();
  if (json) fclose(json);
  return bench_missed() ? 1 : 0;
}
