#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "tests/opencl/rig.h"
#include "tests/tap.h"

static tn_status load(tn_module_desc desc, tn_backend_module **module)
{
  desc.struct_size = sizeof desc;
  if (desc.data && !desc.size) desc.size = strlen(desc.data);
  return api->launch->module_load(device, &desc, module);
}

static const char *signature_of(tn_backend_kernel *kernel)
{
  tn_kernel_info facts = { .struct_size = sizeof facts };
  api->launch->kernel_info(kernel, &facts);
  return facts.signature;
}

static const char every_type[] =
    "#include <tenon/kernel_lang.h>\n"
    "TN_KERNEL(every, TN_OUT(float, a), TN_IN(float, b), TN_OUT(int8, c),"
    " TN_IN(uint8, d), TN_IN(int16, e), TN_OUT(uint16, f), TN_IN(int32, g),"
    " TN_IN(uint32, h), TN_OUT(int64, i), TN_IN(uint64, j), TN_VAL(int8, k),"
    " TN_VAL(uint8, l), TN_VAL(int16, m), TN_VAL(uint16, n), TN_VAL(int32, o),"
    " TN_VAL(uint32, p), TN_VAL(int64, q), TN_VAL(uint64, r),"
    " TN_VAL(float, s)) { TN_TASKS(t, 1) a[0] = b[0]; }";

static const char every_signature[] =
    "(OUT, float, a), (IN, float, b), (OUT, int8, c), (IN, uint8, d), "
    "(IN, int16, e), (OUT, uint16, f), (IN, int32, g), (IN, uint32, h), "
    "(OUT, int64, i), (IN, uint64, j), (VAL, int8, k), (VAL, uint8, l), "
    "(VAL, int16, m), (VAL, uint16, n), (VAL, int32, o), (VAL, uint32, p), "
    "(VAL, int64, q), (VAL, uint64, r), (VAL, float, s)";

static void test_cache(void)
{
  tn_backend_module *module = NULL;
  int hits = cache_hits, stores = cache_stores;
  for (int i = 0; i < 4; i++) {
    static const char *const names[] = { "built", "found", "damaged",
                                         "found again" };
    cache_is_damaged = i == 2;
    module = rig_module(TN_MODULE_PORTABLE, "every", every_type);
    cache_is_damaged = false;
    tn_backend_kernel *kernel = module ? rig_kernel(module, "every") : NULL;
    if (tap_ok(kernel != NULL, "a module is loaded: %s", names[i]))
      tap_is_text(signature_of(kernel), every_signature,
                  "and its kernel's parameters are known");
    if (module) api->launch->module_unload(module);
  }
  tap_is_int(cache_hits - hits, 3, "the binary was looked up and found");
  tap_is_int(cache_stores - stores, 2,
             "and stored once, and again after the damaged one");
}

static void test_compile_errors(void)
{
  tn_backend_module *module = NULL;
  int lines = error_lines;
  tn_module_desc desc = { .kind = TN_MODULE_PORTABLE, .name = "mine",
                          .data = "\n\nTN_KERNEL(k, TN_OUT(float, y))"
                                  " { y[0] = nothing; }\n" };
  tap_is_int(load(desc, &module), TN_COMPILE_FAILED,
             "source that does not compile is refused");
  tap_has(last_error, "mine:3", "naming the module and the line");
  tap_has(last_error, "nothing", "with the compiler's message");
  tap_is_int(error_lines, lines + 1, "and the whole log goes to the log");
}

static void test_refusals(void)
{
  tn_backend_module *module = NULL;
  tap_is_int(load((tn_module_desc){ .kind = TN_MODULE_BUILTIN,
                                    .name = "no_family" }, &module),
             TN_UNSUPPORTED, "a family it does not ship is refused");
  tap_has(last_error, "no_family", "by name");
  tap_is_int(load((tn_module_desc){ .kind = 77, .name = "x", .data = "y" },
                  &module),
             TN_UNSUPPORTED, "a kind of module it does not know is refused");
  tap_is_int(load((tn_module_desc){ .flags = 1, .kind = TN_MODULE_PORTABLE,
                                    .name = "x", .data = "y" }, &module),
             TN_INVALID_ARGUMENT, "unknown module flags are refused");
  tap_is_int(load((tn_module_desc){ .kind = TN_MODULE_BINARY, .name = "x",
                                    .data = "no binary" }, &module),
             TN_COMPILE_FAILED, "what is no binary is refused");
  static const char *const defines[] = { "BAD NAME=1" };
  tap_is_int(load((tn_module_desc){ .kind = TN_MODULE_PORTABLE, .name = "x",
                                    .data = "y", .defines = defines,
                                    .define_count = 1 }, &module),
             TN_INVALID_ARGUMENT, "a bad definition is refused");
  tap_has(last_error, "BAD NAME=1", "by its text");
}

static void test_vendor(void)
{
  tn_backend_module *module = rig_module(
      TN_MODULE_VENDOR, "vendor",
      "kernel void plain(global int *y, constant float *t, uchar u, long n)"
      "{ y[0] = (int)t[0] + u + (int)n; }"
      "kernel void shares(global int *y, local int *s) { y[0] = s[0]; }"
      "kernel void vectors(global int *y, int8 v) { y[0] = v.s0; }");
  if (!tap_ok(module != NULL, "OpenCL C is taken as it is")) return;
  tn_backend_kernel *kernel = rig_kernel(module, "plain");
  tap_is_text(signature_of(kernel),
              "(OUT, int32, y), (IN, float, t), (VAL, uint8, u), "
              "(VAL, int64, n)", "with types by our names");
  tap_ok(!rig_kernel(module, "shares"),
         "a kernel with local memory as a parameter is refused");
  tap_has(last_error, "parameter 2 \"s\"", "naming the parameter");
  tap_ok(!rig_kernel(module, "vectors"), "so is one with a vector");
  tap_has(last_error, "int8", "naming its type");
  tn_backend_kernel *none = NULL;
  tap_is_int(api->launch->kernel_get(module, "absent", &none),
             TN_INVALID_ARGUMENT, "a kernel that is not there is refused");
  tap_has(last_error, "absent", "by name");
  api->launch->module_unload(module);
}

/* A binary as a program would have got it from OpenCL. */
static void test_binary(void)
{
  tn_backend_module *module = rig_module(
      TN_MODULE_VENDOR, "binary", "kernel void b(global int *y) { *y = 5; }");
  cl_program program = rig_native(TN_NATIVE_MODULE, module);
  size_t sizes[16] = { 0 }, bytes = 0;
  unsigned char *places[16] = { 0 };
  raw.get_program_info(program, CL_PROGRAM_BINARY_SIZES, sizeof sizes, sizes,
                       &bytes);
  size_t mine = 0;
  while (mine < bytes / sizeof *sizes && !sizes[mine]) mine++;
  places[mine] = malloc(sizes[mine] + 1);
  raw.get_program_info(program, CL_PROGRAM_BINARIES,
                       bytes / sizeof *sizes * sizeof *places, places, NULL);
  tn_backend_module *taken = NULL;
  tn_module_desc desc = { .kind = TN_MODULE_BINARY, .name = "binary",
                          .data = places[mine], .size = sizes[mine] };
  tap_is_int(load(desc, &taken), TN_OK, "a binary is taken");
  tn_backend_kernel *kernel = taken ? rig_kernel(taken, "b") : NULL;
  if (tap_ok(kernel != NULL, "and has its kernel"))
    tap_is_text(signature_of(kernel), "(OUT, int32, y)",
                "with its parameters");
  if (taken) api->launch->module_unload(taken);
  api->launch->module_unload(module);
  free(places[mine]);
}

static void test_defines(void)
{
  static const char *const defines[] = { "TEXT=3 + 4", "FLAG" };
  tn_module_desc desc = {
    .kind = TN_MODULE_PORTABLE, .name = "defined",
    .data = "#if FLAG\nTN_KERNEL(d, TN_OUT(int32, y))"
            "{ TN_TASKS(i, 1) y[0] = 2 * (TEXT); }\n#endif\n",
    .defines = defines, .define_count = 2,
  };
  tn_backend_module *module = NULL;
  tap_is_int(load(desc, &module), TN_OK, "definitions with spaces");
  if (!module) return;
  tn_address memory = rig_alloc(TN_MEMORY_DEVICE, 4);
  rig_launch(rig_kernel(module, "d"), 1, &memory);
  int32_t value = 0;
  rig_read(&value, memory, 4);
  tap_is_int(value, 14, "reach the kernel");
  rig_free(TN_MEMORY_DEVICE, memory);
  api->launch->module_unload(module);
}

static void test_builtin(void)
{
  static const struct {
    const char *family, *kernel;
  } kernels[] = {
    { "bytes", "bytes_count" },   { "elementwise", "add_f32" },
    { "histogram", "histogram_u8" }, { "matmul", "matmul_f32" },
    { "random", NULL },           { "reduce", "sum_f32" },
    { "elementwise_f64", "add_f64" },
  };
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
    tn_backend_module *module = rig_module(TN_MODULE_BUILTIN,
                                           kernels[i].family, NULL);
    tap_ok(module != NULL, "N1 the family %s builds", kernels[i].family);
    if (!module) continue;
    if (kernels[i].kernel)
      tap_ok(rig_kernel(module, kernels[i].kernel) != NULL, "N1 it has %s",
             kernels[i].kernel);
    api->launch->module_unload(module);
  }
}

void test_modules(void)
{
  test_cache();
  test_compile_errors();
  test_refusals();
  test_vendor();
  test_binary();
  test_defines();
  test_builtin();
}
