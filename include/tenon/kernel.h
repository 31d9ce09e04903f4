/* Tenon: kernels, compiled from one portable source for any device.
 *
 * The language is C with a few macros: see tenon/kernel_lang.h.
 *
 *     static const char source[] =
 *       "TN_KERNEL(axpy, TN_OUT(float, y), TN_IN(float, x),"
 *       "          TN_VAL(float, a), TN_VAL(int64, n))"
 *       "{ TN_PARALLEL_FOR(i, n) y[i] += a * x[i]; }";
 *     tn_module *module = tn_module_load(device, source);
 *     tn_kernel *axpy = tn_kernel_get(module, "axpy");
 *     tn_launch(axpy, n, TN_ARGS(TN_ARG_PTR(y), TN_ARG_PTR(x),
 *                                TN_ARG_F32(a), TN_ARG_I64(n)));
 *
 * Thread-safe. Modules and kernels are counted references; a kernel keeps its
 * module.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TENON_KERNEL_H
#define TENON_KERNEL_H

#include "tenon/copy.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tn_module tn_module;
typedef struct tn_kernel tn_kernel;

typedef struct tn_module_options {
  const char *name;     /* for messages; "kernel" if NULL */
  const char *defines;  /* "N=4;FAST" */
  const char *language; /* NULL or "portable"; "native": the backend's own */
  const void *binary;   /* instead of source: the backend's own binary */
  size_t binary_size;
  char tn_end_;
} tn_module_options;

/* Compiles source for a device (on disk cache: TENON_CACHE_DIR, or
 * $XDG_CACHE_HOME/tenon). NULL on failure: TN_COMPILE_FAILED has the first
 * message of the compiler; the whole text goes to the log. */
TN_API tn_module *tn_module_load_with(tn_device device, const char *source,
                                      tn_module_options options);

/* Writes the folder in which compiled kernels are kept, with its final 0, and
 * makes it if it is missing. Fails with the reason (in the error text) if it
 * cannot be trusted or written: then kernels are compiled once a process. */
TN_API tn_status tn_kernel_cache_folder(char *path, size_t size);

/* A family of the library's own kernels ("elementwise", "reduce", ...). */
TN_API tn_module *tn_module_builtin(tn_device device, const char *family);

TN_API tn_module *tn_module_retain(tn_module *module);
TN_API void tn_module_release(tn_module *module);

/* A kernel of the module; release it with tn_kernel_release. NULL if the
 * module has none of that name. */
TN_API tn_kernel *tn_kernel_get(tn_module *module, const char *name);

/* Any C function with a signature such as "v(pplfd)": result v, then p
 * pointer, i int32, l int64, f float, d double. It is called on the host in
 * the order of the stream it is launched on, with the arguments of the
 * launch, once, whatever `items`. cpu only: elsewhere TN_UNSUPPORTED. */
TN_API tn_kernel *tn_kernel_native(tn_device device, void (*function)(void),
                                   const char *signature);

TN_API tn_kernel *tn_kernel_retain(tn_kernel *kernel);
TN_API void tn_kernel_release(tn_kernel *kernel);
TN_API const char *tn_kernel_name(const tn_kernel *kernel);
TN_API tn_device tn_kernel_device(const tn_kernel *kernel);

/* "(OUT, float, y), (IN, float, x), (VAL, int64, n)" */
TN_API const char *tn_kernel_signature(const tn_kernel *kernel);

typedef enum tn_arg_kind {
  TN_ARG_KIND_PTR = 1,
  TN_ARG_KIND_I32,
  TN_ARG_KIND_I64,
  TN_ARG_KIND_F32,
  TN_ARG_KIND_F64
} tn_arg_kind;

typedef struct tn_arg {
  tn_arg_kind kind;
  union {
    const void *ptr;
    int32_t i32;
    int64_t i64;
    float f32;
    double f64;
  } as;
} tn_arg;

#define TN_ARGS_MAX 32

#ifndef __cplusplus
#define TN_ARG_PTR(x) { TN_ARG_KIND_PTR, { .ptr = (x) } }
#define TN_ARG_I32(x) { TN_ARG_KIND_I32, { .i32 = (x) } }
#define TN_ARG_I64(x) { TN_ARG_KIND_I64, { .i64 = (x) } }
#define TN_ARG_F32(x) { TN_ARG_KIND_F32, { .f32 = (x) } }
#define TN_ARG_F64(x) { TN_ARG_KIND_F64, { .f64 = (x) } }
#define TN_ARGS(...) \
  (const tn_arg[]){ __VA_ARGS__ }, \
      sizeof((const tn_arg[]){ __VA_ARGS__ }) / sizeof(tn_arg)
#define TN_MODULE_LOAD_(device, source, ...) \
  tn_module_load_with(device, source, (tn_module_options){ __VA_ARGS__ })
#define tn_module_load(device, ...) \
  TN_MODULE_LOAD_1_(device, __VA_ARGS__, .tn_end_ = 0)
#define TN_MODULE_LOAD_1_(device, source, ...) \
  TN_MODULE_LOAD_(device, source, __VA_ARGS__)
#endif

/* Queues a kernel on the current stream of its device. `items` and `groups`
 * set the parallelism; what is computed is decided by the bounds in the
 * kernel. 0 items launch nothing. The arguments are checked against the
 * signature: a wrong number or kind is TN_INVALID_ARGUMENT, naming kernel,
 * argument and both kinds. Device memory must belong to the kernel's device
 * (or a peer with access). */
TN_API tn_status tn_launch(tn_kernel *kernel, int64_t items,
                           const tn_arg *args, size_t arg_count);
TN_API tn_status tn_launch_groups(tn_kernel *kernel, int64_t groups,
                                  const tn_arg *args, size_t arg_count);

/* Grouped, with all choices; zeros are the library's to choose. */
typedef struct tn_launch_desc {
  size_t struct_size; /* sizeof(tn_launch_desc) */
  uint32_t flags;     /* none yet: others are refused */
  uint32_t group_size[3];
  int64_t groups[3];
  size_t shared_bytes;
} tn_launch_desc;

TN_API tn_status tn_launch_with(tn_kernel *kernel,
                                const tn_launch_desc *desc,
                                const tn_arg *args, size_t arg_count);

/* Whether results have the same bits on every device (rule N2): then only the
 * library's own kernels compute. Otherwise a backend may use a vendor's
 * routines, as that of cuda will for products of matrices; none does so yet.
 * At first: if TENON_REPRODUCIBLE is 1. For all threads. */
TN_API void tn_set_reproducible(bool reproducible);
TN_API bool tn_is_reproducible(void);

#ifdef __cplusplus
}
#endif
#endif
