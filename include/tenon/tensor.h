/* Tenon: tensors, on any device.
 *
 *     tn_with_scope {
 *       tn_tensor *x = tn_rand(TN_SHAPE(8, 42), .device = device);
 *       tn_tensor *y = tn_sum(tn_relu(x));
 *       if (!y) puts(tn_error_message());
 *     }
 *
 * Link with -ltenon-tensor -ltenon (pkg-config tenon-tensor).
 *
 * Ownership: functions that return a tensor return a new reference, which
 * belongs to the innermost scope of the calling thread, or else to the
 * caller, who gives it back with tn_release. NULL means failure, with the
 * error set; a NULL operand gives NULL and leaves the error as it is, so that
 * an expression is checked once, at its end. Functions whose names end in `_`
 * change their first operand and return it, without a new reference.
 *
 * Sizes, strides and offsets count elements. Negative dimensions count from
 * the end. A tensor has at most TN_DIMS_MAX dimensions.
 *
 * Thread-safe, except that a tensor which one thread changes is used by no
 * other at the same time.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TENON_TENSOR_H
#define TENON_TENSOR_H

#include <stdio.h>

#include "tenon/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tn_tensor tn_tensor;

#define TN_DIMS_MAX 8

/* TN_DTYPE_DEFAULT in options: not given. 16-bit floats and i8, i16 are named
 * and not supported yet. */
typedef enum tn_dtype {
  TN_DTYPE_DEFAULT,
  TN_F32,
  TN_F64,
  TN_F16,
  TN_BF16,
  TN_I8,
  TN_I16,
  TN_I32,
  TN_I64,
  TN_U8,
  TN_BOOL
} tn_dtype;

/* "f32"; "invalid" for what is no dtype. */
TN_API const char *tn_dtype_name(tn_dtype dtype);
TN_API size_t tn_dtype_size(tn_dtype dtype); /* bytes; 0 if not supported */

/* The dtype of the result of an operation on two dtypes, as in PyTorch. */
TN_API tn_dtype tn_promote_types(tn_dtype a, tn_dtype b);

/* Sizes, outermost first, or a list of dimensions; borrowed. */
typedef struct tn_shape {
  const int64_t *sizes;
  int ndim;
} tn_shape;

#ifndef __cplusplus
#define TN_SHAPE(...)                                         \
  ((tn_shape){ (const int64_t[]){ __VA_ARGS__ },              \
               (int)(sizeof((const int64_t[]){ __VA_ARGS__ }) \
                     / sizeof(int64_t)) })
#define TN_SCALAR ((tn_shape){ 0, 0 })
#endif

/* What a factory makes: on the default device, of dtype f32, unless said
 * otherwise. */
typedef struct tn_tensor_options {
  tn_device device;
  tn_dtype dtype;
  bool requires_grad;
  bool pin_memory; /* in page-locked host memory; device: cpu */
  char tn_end_;
} tn_tensor_options;

/* ---- making tensors ---- */

TN_API tn_tensor *tn_empty_with(tn_shape shape, tn_tensor_options options);
TN_API tn_tensor *tn_zeros_with(tn_shape shape, tn_tensor_options options);
TN_API tn_tensor *tn_ones_with(tn_shape shape, tn_tensor_options options);
/* A value that an integer dtype has not is TN_INVALID_ARGUMENT, as it is for
 * tn_fill_ and tn_masked_fill. */
TN_API tn_tensor *tn_full_with(tn_shape shape, double value,
                               tn_tensor_options options);

/* Uniform in [0, 1); normal with mean 0 and deviation 1. Floats only. */
TN_API tn_tensor *tn_rand_with(tn_shape shape, tn_tensor_options options);
TN_API tn_tensor *tn_randn_with(tn_shape shape, tn_tensor_options options);

/* ceil((end - start) / step) values from start on. The macro makes i64 of
 * three whole-number arguments, f32 otherwise. */
TN_API tn_tensor *tn_arange_with(double start, double end, double step,
                                 tn_tensor_options options);

/* n x n, ones on the diagonal. */
TN_API tn_tensor *tn_eye_with(int64_t n, tn_tensor_options options);

/* Copies numbers of the tensor's dtype from host memory, row by row. */
TN_API tn_tensor *tn_from_data_with(const void *data, tn_shape shape,
                                    tn_tensor_options options);

/* On the device and of the dtype of another tensor, unless options say
 * otherwise; _like takes its shape too. */
TN_API tn_tensor *tn_new_empty_with(const tn_tensor *like, tn_shape shape,
                                    tn_tensor_options options);
TN_API tn_tensor *tn_new_zeros_with(const tn_tensor *like, tn_shape shape,
                                    tn_tensor_options options);
TN_API tn_tensor *tn_new_ones_with(const tn_tensor *like, tn_shape shape,
                                   tn_tensor_options options);
TN_API tn_tensor *tn_new_full_with(const tn_tensor *like, tn_shape shape,
                                   double value, tn_tensor_options options);
TN_API tn_tensor *tn_empty_like_with(const tn_tensor *like,
                                     tn_tensor_options options);
TN_API tn_tensor *tn_zeros_like_with(const tn_tensor *like,
                                     tn_tensor_options options);
TN_API tn_tensor *tn_ones_like_with(const tn_tensor *like,
                                    tn_tensor_options options);
TN_API tn_tensor *tn_full_like_with(const tn_tensor *like, double value,
                                    tn_tensor_options options);
TN_API tn_tensor *tn_rand_like_with(const tn_tensor *like,
                                    tn_tensor_options options);
TN_API tn_tensor *tn_randn_like_with(const tn_tensor *like,
                                     tn_tensor_options options);

/* ---- copying and moving ---- */

typedef struct tn_to_options {
  tn_device device;
  tn_dtype dtype;
  bool non_blocking; /* as in tn_copy; what comes to cpu is pinned then, and
                      * there when the stream got that far */
  bool copy;         /* a new tensor even if nothing changes */
  char tn_end_;
} tn_to_options;

/* The tensor itself (one more reference) if it is of that device and dtype
 * already and no copy is asked for. */
TN_API tn_tensor *tn_to_with(tn_tensor *t, tn_to_options options);

/* To the current device of backend cuda; to cpu. */
TN_API tn_tensor *tn_cuda(tn_tensor *t);
TN_API tn_tensor *tn_cpu(tn_tensor *t);

typedef struct tn_copy_options {
  bool non_blocking;
  char tn_end_;
} tn_copy_options;

/* dst = src, which is broadcast, cast and moved between devices as needed. */
TN_API tn_tensor *tn_copy_with_(tn_tensor *dst, tn_tensor *src,
                                tn_copy_options options);

TN_API tn_tensor *tn_clone(tn_tensor *t);
TN_API tn_tensor *tn_detach(tn_tensor *t); /* same memory, no gradient */
TN_API tn_tensor *tn_contiguous(tn_tensor *t);
TN_API tn_tensor *tn_pin_memory(tn_tensor *t);
TN_API bool tn_is_pinned(const tn_tensor *t);

/* The one element, converted; waits for it. NaN, 0 on failure. */
TN_API double tn_item(tn_tensor *t);
TN_API int64_t tn_item_i64(tn_tensor *t);

/* All elements, row by row, into `bytes` bytes of host memory, exactly as
 * many as there are; waits for them. */
TN_API tn_status tn_read(tn_tensor *t, void *host, size_t bytes);

/* As PyTorch prints, long ones with their middle left out; waits. */
TN_API tn_status tn_print(tn_tensor *t, FILE *file);

/* ---- asking ---- */

TN_API int tn_ndim(const tn_tensor *t);                   /* -1 for NULL */
TN_API int64_t tn_size(const tn_tensor *t, int dim);      /* -1 on failure */
TN_API int64_t tn_stride(const tn_tensor *t, int dim);    /* -1 on failure */
TN_API int64_t tn_storage_offset(const tn_tensor *t);     /* -1 for NULL */
TN_API int64_t tn_numel(const tn_tensor *t);              /* -1 for NULL */
TN_API tn_shape tn_shape_of(const tn_tensor *t);          /* borrowed from t */
TN_API bool tn_is_contiguous(const tn_tensor *t);
TN_API tn_dtype tn_dtype_of(const tn_tensor *t);
TN_API tn_device tn_device_of_tensor(const tn_tensor *t);

/* The address of the first element, on the tensor's device. */
TN_API void *tn_data_ptr(const tn_tensor *t);

/* The tensor's memory is also used by what is queued on `stream` until now;
 * of views too. */
TN_API tn_status tn_record_stream(tn_tensor *t, tn_stream *stream);

/* ---- views: the same memory ---- */

/* One size may be -1. view: TN_SHAPE_MISMATCH where the strides do not allow
 * it; reshape then copies. */
TN_API tn_tensor *tn_view(tn_tensor *t, tn_shape shape);
TN_API tn_tensor *tn_reshape(tn_tensor *t, tn_shape shape);
TN_API tn_tensor *tn_transpose(tn_tensor *t, int dim0, int dim1);
TN_API tn_tensor *tn_permute(tn_tensor *t, tn_shape dims);

#define TN_END INT64_MAX /* of a slice: to the end */

/* Bounds as in Python: negative ones count from the end, others are clamped;
 * step is 1 or more. */
TN_API tn_tensor *tn_slice(tn_tensor *t, int dim, int64_t start, int64_t end,
                           int64_t step);
TN_API tn_tensor *tn_select(tn_tensor *t, int dim, int64_t index);
TN_API tn_tensor *tn_narrow(tn_tensor *t, int dim, int64_t start,
                            int64_t length);
TN_API tn_tensor *tn_expand(tn_tensor *t, tn_shape shape); /* -1: as it is */
TN_API tn_tensor *tn_squeeze(tn_tensor *t);                /* all of size 1 */
TN_API tn_tensor *tn_squeeze_dim(tn_tensor *t, int dim);
TN_API tn_tensor *tn_unsqueeze(tn_tensor *t, int dim);
TN_API tn_tensor *tn_flatten(tn_tensor *t, int start_dim, int end_dim);
TN_API tn_tensor *tn_as_strided(tn_tensor *t, tn_shape shape,
                                tn_shape strides, int64_t offset);

/* ---- lifetime ---- */

TN_API tn_tensor *tn_retain(tn_tensor *t);
TN_API void tn_release(tn_tensor *t);

/* tn_with_scope { ... }: tensors made in the block by this thread are
 * released on every way out of it, except those given to tn_keep, which
 * belong to the scope around it, or to the caller if there is none. `break`
 * and `continue` leave the block. */
typedef struct tn_scope_guard {
  size_t depth;
  int active;
} tn_scope_guard;

TN_API tn_scope_guard tn_scope_push(void);
TN_API void tn_scope_pop(tn_scope_guard *guard);
TN_API tn_tensor *tn_keep(tn_tensor *t); /* returns t */

#define tn_with_scope \
  TN_BLOCK_(tn_scope_guard, TN_GLUE_(tn_guard_, __COUNTER__), \
            tn_scope_push(), tn_scope_pop)

/* ---- the same with named options, in C ---- */

#ifndef __cplusplus
#define TN_OPTIONS_1_(function, type, a, ...) \
  function(a, (type){ __VA_ARGS__ })
#define TN_OPTIONS_2_(function, type, a, b, ...) \
  function(a, b, (type){ __VA_ARGS__ })
#define TN_OPTIONS_3_(function, type, a, b, c, ...) \
  function(a, b, c, (type){ __VA_ARGS__ })
#define TN_MAKE_1_(function, ...) \
  TN_OPTIONS_1_(function, tn_tensor_options, __VA_ARGS__, .tn_end_ = 0)
#define TN_MAKE_2_(function, ...) \
  TN_OPTIONS_2_(function, tn_tensor_options, __VA_ARGS__, .tn_end_ = 0)

#define tn_empty(...) TN_MAKE_1_(tn_empty_with, __VA_ARGS__)
#define tn_zeros(...) TN_MAKE_1_(tn_zeros_with, __VA_ARGS__)
#define tn_ones(...) TN_MAKE_1_(tn_ones_with, __VA_ARGS__)
#define tn_full(...) TN_MAKE_2_(tn_full_with, __VA_ARGS__)
#define tn_rand(...) TN_MAKE_1_(tn_rand_with, __VA_ARGS__)
#define tn_randn(...) TN_MAKE_1_(tn_randn_with, __VA_ARGS__)
#define tn_eye(...) TN_MAKE_1_(tn_eye_with, __VA_ARGS__)
#define tn_from_data(...) TN_MAKE_2_(tn_from_data_with, __VA_ARGS__)
#define tn_new_empty(...) TN_MAKE_2_(tn_new_empty_with, __VA_ARGS__)
#define tn_new_zeros(...) TN_MAKE_2_(tn_new_zeros_with, __VA_ARGS__)
#define tn_new_ones(...) TN_MAKE_2_(tn_new_ones_with, __VA_ARGS__)
#define tn_new_full(...)                                              \
  TN_OPTIONS_3_(tn_new_full_with, tn_tensor_options, __VA_ARGS__,     \
                .tn_end_ = 0)
#define tn_empty_like(...) TN_MAKE_1_(tn_empty_like_with, __VA_ARGS__)
#define tn_zeros_like(...) TN_MAKE_1_(tn_zeros_like_with, __VA_ARGS__)
#define tn_ones_like(...) TN_MAKE_1_(tn_ones_like_with, __VA_ARGS__)
#define tn_full_like(...) TN_MAKE_2_(tn_full_like_with, __VA_ARGS__)
#define tn_rand_like(...) TN_MAKE_1_(tn_rand_like_with, __VA_ARGS__)
#define tn_randn_like(...) TN_MAKE_1_(tn_randn_like_with, __VA_ARGS__)
#define tn_to(...) \
  TN_OPTIONS_1_(tn_to_with, tn_to_options, __VA_ARGS__, .tn_end_ = 0)
#define tn_copy_(...) \
  TN_OPTIONS_2_(tn_copy_with_, tn_copy_options, __VA_ARGS__, .tn_end_ = 0)

/* A later .dtype overrides the first. */
#define tn_arange(...) TN_ARANGE_(__VA_ARGS__, .tn_end_ = 0)
#define TN_ARANGE_(start, end, step, ...)                                   \
  tn_arange_with(start, end, step,                                          \
                 tn_arange_options_(                                        \
                   _Generic((start) + (end) + (step), float: TN_F32,        \
                            double: TN_F32, default: TN_I64),               \
                   (tn_tensor_options){ __VA_ARGS__ }))
static inline tn_tensor_options tn_arange_options_(tn_dtype dtype,
                                                   tn_tensor_options options)
{
  if (options.dtype == TN_DTYPE_DEFAULT) options.dtype = dtype;
  return options;
}
#endif

#ifdef __cplusplus
}
#endif
#endif
