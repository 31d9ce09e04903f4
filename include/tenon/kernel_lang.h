/* The portable kernel language.
 *
 * A kernel is C with the macros below.  One text is compiled by a C compiler
 * for cpu devices, by nvcc or NVRTC for cuda, and by clBuildProgram for
 * opencl, and gives the same bits on all of them.
 *
 *     #include <tenon/kernel_lang.h>
 *
 *     TN_KERNEL(add_f32, TN_OUT(float, y), TN_IN(float, a), TN_IN(float, b),
 *               TN_VAL(int64, n))
 *     {
 *       TN_PARALLEL_FOR(i, n)
 *         y[i] = a[i] + b[i];
 *     }
 *
 * Parameters (1 to 32):
 *   TN_OUT(T, name)  pointer to T in device memory, written (and perhaps read)
 *   TN_IN(T, name)   pointer to T in device memory, read only
 *   TN_VAL(T, name)  a number
 * T is one word: float double int8 uint8 int16 uint16 int32 uint32 int64
 * uint64.  Outputs may be the same memory as inputs (in place): element i
 * may read what element i overwrites, and nothing else that is written.
 *
 * Flat kernels:
 *   TN_PARALLEL_FOR(i, n) statement
 *     runs the statement once for each i in [0, n), in any order, in
 *     parallel.  How many items the launch asked for is only a hint; n
 *     decides.  A kernel may hold several loops one after another, but none
 *     may read what another one wrote.  Vectorised on cpu.
 *   TN_TASKS(i, n) statement
 *     the same for long bodies with loops of their own (no attempt is made
 *     to vectorise across i).
 *   TN_ROWS(r, rows, columns) { ... TN_ROW(c) statement }
 *     runs over rows x columns elements; what stands before TN_ROW depends
 *     on r alone and is computed once a row on cpu.  TN_ROW may appear in
 *     several branches, each row taking one.
 *   TN_STREAM_FOR(i, n, T, y) statement
 *     like TN_PARALLEL_FOR, but the output element is written as
 *     TN_STREAMED(T, y, i) = ...; outputs too large for the caches then go
 *     to memory without being read first.  Nothing else may be written to y.
 * Code outside the loops runs any number of times: it must have no side
 * effects.
 *
 * Grouped kernels (items of a group share memory and wait for each other):
 *   TN_SHARED(T, name, count);
 *     an array of the group, undefined at start.  First thing in the kernel.
 *     Keep the sum of all arrays within 32 KiB.
 *   TN_GROUPS(g, n) { ... }
 *     runs the block once for each group g in [0, n).  In it:
 *   TN_ITEMS(t, count) statement
 *     runs the statement for t in [0, count), then waits for all of them.
 *     Variables declared outside and set inside do not survive it.
 *   TN_LANES(l, lanes, i, n, statement)
 *     for each lane l, runs the statement for i = l, l + lanes, l + 2 lanes,
 *     ... below n in order; then waits.  lanes is a constant.  On cpu the
 *     lanes are innermost, so an array over l vectorises.
 *   TN_TREE(part, count, op)
 *     part[t] = part[t] op part[t + half] for half = count/2, count/4, ... 1.
 *     count is a constant power of two, at most 1024.  Result in part[0].
 *   TN_TREE_PAIRS(t, u, count, statement)
 *     the same walk with a statement of your own for each pair, u = t + half.
 * All items of a group must reach the same TN_ITEMS, TN_LANES and TN_TREE.
 * Any number of items per group may have been launched; results do not
 * depend on it.
 *
 * Adding:
 *   TN_GROUP_ATOMIC_ADD(pointer, value)  atomic among the items of one group
 *   TN_ATOMIC_ADD(pointer, value)        atomic among all items
 * for 32-bit integers, in shared or device memory.  There is none for floats:
 * their sums would depend on chance.
 *
 * Functions and tables:
 *   TN_FUNCTION float half_of(float x) { return 0.5f * x; }
 *   TN_TABLE(uint32, primes, 3) = { 2, 3, 5 };
 *   TN_SEPARATE_FUNCTION is not inlined on cpu, so that its local arrays can
 *   stay in registers.  TN_UNROLL before a short loop of constant length asks
 *   for it to be written out; compilers that do so unasked are not bothered.
 *   TN_GLOBAL and TN_LOCAL qualify pointers to device and shared memory in
 *   the parameters of such functions.
 * tn_fma, tn_sqrt, tn_abs, tn_bits, tn_from_bits, tn_mul_high, tn_quotient
 * are below, most with a form for double, NAME_f64; exp, log and others are in
 * <tenon/kernel_math.h> and, in f64, <tenon/kernel_math_f64.h>.
 *
 * Numbers: nothing is contracted, reassociated or flushed.  a * b + c rounds
 * twice; write tn_fma for one rounding.  Division and tn_sqrt are correctly
 * rounded.  Do not call the functions of <math.h>: they differ from device to
 * device.
 *
 * Which device: TN_ON_CPU, TN_ON_CUDA or TN_ON_OPENCL is defined as 1.
 * TN_ON_CPU is 1 in any host C or C++ compiler, so that programs may include
 * this header to share functions and types with their kernels.
 */
#ifndef TENON_KERNEL_LANG_H
#define TENON_KERNEL_LANG_H

/* Tokens, counting and mapping over parameters */

#define TN_JOIN_(a, b) a##b
#define TN_JOIN(a, b) TN_JOIN_(a, b)
#define TN_TEXT_(...) #__VA_ARGS__
#define TN_TEXT(...) TN_TEXT_(__VA_ARGS__)

#define TN_COUNT_(p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, \
                  p14, p15, p16, p17, p18, p19, p20, p21, p22, p23, p24,  \
                  p25, p26, p27, p28, p29, p30, p31, p32, count, ...)     \
  count
#define TN_COUNT(...)                                                     \
  TN_COUNT_(__VA_ARGS__, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21,  \
            20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, \
            3, 2, 1, 0)

/* m(i, p) for each parameter p, i being its number as an expression. */
#define TN_MAP(m, ...) \
  TN_JOIN(TN_MAP_, TN_COUNT(__VA_ARGS__))(m, 0, __VA_ARGS__)
#define TN_MAP_1(m, i, p) m(i, p)
#define TN_MAP_2(m, i, p, ...) m(i, p), TN_MAP_1(m, i + 1, __VA_ARGS__)
#define TN_MAP_3(m, i, p, ...) m(i, p), TN_MAP_2(m, i + 1, __VA_ARGS__)
#define TN_MAP_4(m, i, p, ...) m(i, p), TN_MAP_3(m, i + 1, __VA_ARGS__)
#define TN_MAP_5(m, i, p, ...) m(i, p), TN_MAP_4(m, i + 1, __VA_ARGS__)
#define TN_MAP_6(m, i, p, ...) m(i, p), TN_MAP_5(m, i + 1, __VA_ARGS__)
#define TN_MAP_7(m, i, p, ...) m(i, p), TN_MAP_6(m, i + 1, __VA_ARGS__)
#define TN_MAP_8(m, i, p, ...) m(i, p), TN_MAP_7(m, i + 1, __VA_ARGS__)
#define TN_MAP_9(m, i, p, ...) m(i, p), TN_MAP_8(m, i + 1, __VA_ARGS__)
#define TN_MAP_10(m, i, p, ...) m(i, p), TN_MAP_9(m, i + 1, __VA_ARGS__)
#define TN_MAP_11(m, i, p, ...) m(i, p), TN_MAP_10(m, i + 1, __VA_ARGS__)
#define TN_MAP_12(m, i, p, ...) m(i, p), TN_MAP_11(m, i + 1, __VA_ARGS__)
#define TN_MAP_13(m, i, p, ...) m(i, p), TN_MAP_12(m, i + 1, __VA_ARGS__)
#define TN_MAP_14(m, i, p, ...) m(i, p), TN_MAP_13(m, i + 1, __VA_ARGS__)
#define TN_MAP_15(m, i, p, ...) m(i, p), TN_MAP_14(m, i + 1, __VA_ARGS__)
#define TN_MAP_16(m, i, p, ...) m(i, p), TN_MAP_15(m, i + 1, __VA_ARGS__)
#define TN_MAP_17(m, i, p, ...) m(i, p), TN_MAP_16(m, i + 1, __VA_ARGS__)
#define TN_MAP_18(m, i, p, ...) m(i, p), TN_MAP_17(m, i + 1, __VA_ARGS__)
#define TN_MAP_19(m, i, p, ...) m(i, p), TN_MAP_18(m, i + 1, __VA_ARGS__)
#define TN_MAP_20(m, i, p, ...) m(i, p), TN_MAP_19(m, i + 1, __VA_ARGS__)
#define TN_MAP_21(m, i, p, ...) m(i, p), TN_MAP_20(m, i + 1, __VA_ARGS__)
#define TN_MAP_22(m, i, p, ...) m(i, p), TN_MAP_21(m, i + 1, __VA_ARGS__)
#define TN_MAP_23(m, i, p, ...) m(i, p), TN_MAP_22(m, i + 1, __VA_ARGS__)
#define TN_MAP_24(m, i, p, ...) m(i, p), TN_MAP_23(m, i + 1, __VA_ARGS__)
#define TN_MAP_25(m, i, p, ...) m(i, p), TN_MAP_24(m, i + 1, __VA_ARGS__)
#define TN_MAP_26(m, i, p, ...) m(i, p), TN_MAP_25(m, i + 1, __VA_ARGS__)
#define TN_MAP_27(m, i, p, ...) m(i, p), TN_MAP_26(m, i + 1, __VA_ARGS__)
#define TN_MAP_28(m, i, p, ...) m(i, p), TN_MAP_27(m, i + 1, __VA_ARGS__)
#define TN_MAP_29(m, i, p, ...) m(i, p), TN_MAP_28(m, i + 1, __VA_ARGS__)
#define TN_MAP_30(m, i, p, ...) m(i, p), TN_MAP_29(m, i + 1, __VA_ARGS__)
#define TN_MAP_31(m, i, p, ...) m(i, p), TN_MAP_30(m, i + 1, __VA_ARGS__)
#define TN_MAP_32(m, i, p, ...) m(i, p), TN_MAP_31(m, i + 1, __VA_ARGS__)

/* A parameter is the tuple (kind, type, name), so that one list yields both
 * the function's parameters and the signature's text:
 * "(OUT, float, y), (IN, float, a), (VAL, int64, n)". */
#define TN_OUT(T, name) (OUT, T, name)
#define TN_IN(T, name) (IN, T, name)
#define TN_VAL(T, name) (VAL, T, name)
#define TN_PARAMETER_(i, p) TN_PARAMETER_OF_ p
#define TN_PARAMETER_OF_(kind, T, name) TN_JOIN(TN_PARAMETER_, kind)(T, name)
#define TN_PARAMETER_OUT(T, name) TN_GLOBAL T *name
#define TN_PARAMETER_IN(T, name) TN_GLOBAL const T *name
#define TN_PARAMETER_VAL(T, name) T name

#if defined(__OPENCL_VERSION__) /* ------------------------------- opencl */

#define TN_ON_OPENCL 1
#pragma OPENCL FP_CONTRACT OFF
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

/* OpenCL C has vectors of these names; clGetKernelArgInfo says char, uchar,
 * short, ushort for them, and the other names as they are. */
#define int8 char
#define uint8 uchar
#define int16 short
#define uint16 ushort
typedef int int32;
typedef uint uint32;
typedef long int64;
typedef ulong uint64;

#define TN_GLOBAL __global
#define TN_LOCAL __local
#define TN_FUNCTION static inline
#define TN_SEPARATE_FUNCTION static
#define TN_UNROLL
#define TN_TABLE(T, name, count) __constant T name[count]
#define TN_SHARED(T, name, count) __local T name[count]
#define TN_KERNEL(name, ...) \
  __kernel void name(TN_MAP(TN_PARAMETER_, __VA_ARGS__))

#define TN_GPU_BEGIN_ ((int64)get_global_id(0))
#define TN_GPU_STEP_ ((int64)get_global_size(0))
#define TN_GPU_GROUP_ ((int64)get_group_id(0))
#define TN_GPU_GROUPS_ ((int64)get_num_groups(0))
#define TN_GPU_ITEM_ ((int32)get_local_id(0))
#define TN_GPU_ITEMS_ ((int32)get_local_size(0))
#define TN_GPU_BARRIER_() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

#define TN_ATOMIC_ADD(pointer, value) atomic_add((pointer), (value))
#define TN_GROUP_ATOMIC_ADD(pointer, value) atomic_add((pointer), (value))

#define tn_fma(a, b, c) fma((float)(a), (float)(b), (float)(c))
#define tn_sqrt(x) sqrt((float)(x))
#define tn_abs(x) fabs((float)(x))
#define tn_bits(x) as_uint((float)(x))
#define tn_from_bits(b) as_float((uint)(b))
#define tn_mul_high(a, b) mul_hi((uint)(a), (uint)(b))
#define tn_mul_high_u64(a, b) mul_hi((ulong)(a), (ulong)(b))
#ifdef cl_khr_fp64
#define tn_sqrt_f64(x) sqrt((double)(x))
#define tn_fma_f64(a, b, c) fma((double)(a), (double)(b), (double)(c))
#define tn_abs_f64(x) fabs((double)(x))
#define tn_bits_f64(x) as_ulong((double)(x))
#define tn_from_bits_f64(b) as_double((ulong)(b))
#endif

#elif defined(__CUDACC__) || defined(__CUDACC_RTC__) /* ------------- cuda */

#define TN_ON_CUDA 1

typedef signed char int8;
typedef unsigned char uint8;
typedef short int16;
typedef unsigned short uint16;
typedef int int32;
typedef unsigned int uint32;
typedef long long int64;
typedef unsigned long long uint64;

#define TN_GLOBAL
#define TN_LOCAL
#define TN_FUNCTION static __device__ __forceinline__
#define TN_SEPARATE_FUNCTION static __device__
#define TN_UNROLL
#define TN_TABLE(T, name, count) static __device__ const T name[count]
#define TN_SHARED(T, name, count) __shared__ T name[count]
/* The signature is the module's global tn_signature_NAME. */
#define TN_KERNEL(name, ...)                                          \
  extern "C" {                                                        \
  __device__ char tn_signature_##name[] = TN_TEXT(__VA_ARGS__);       \
  }                                                                   \
  extern "C" __global__ void name(TN_MAP(TN_PARAMETER_, __VA_ARGS__))

#define TN_GPU_BEGIN_ (blockIdx.x * (int64)blockDim.x + threadIdx.x)
#define TN_GPU_STEP_ ((int64)gridDim.x * blockDim.x)
#define TN_GPU_GROUP_ ((int64)blockIdx.x)
#define TN_GPU_GROUPS_ ((int64)gridDim.x)
#define TN_GPU_ITEM_ ((int32)threadIdx.x)
#define TN_GPU_ITEMS_ ((int32)blockDim.x)
#define TN_GPU_BARRIER_() __syncthreads()

#define TN_ATOMIC_ADD(pointer, value) atomicAdd((pointer), (value))
#define TN_GROUP_ATOMIC_ADD(pointer, value) atomicAdd((pointer), (value))

#define tn_fma(a, b, c) __fmaf_rn((a), (b), (c))
#define tn_sqrt(x) __fsqrt_rn(x)
#define tn_abs(x) __uint_as_float(__float_as_uint(x) & 0x7fffffffu)
#define tn_bits(x) __float_as_uint(x)
#define tn_from_bits(b) __uint_as_float(b)
#define tn_mul_high(a, b) __umulhi((a), (b))
#define tn_mul_high_u64(a, b) __umul64hi((a), (b))
#define tn_sqrt_f64(x) __dsqrt_rn(x)
#define tn_fma_f64(a, b, c) __fma_rn((a), (b), (c))
#define tn_abs_f64(x) fabs((double)(x))
#define tn_bits_f64(x) ((uint64)__double_as_longlong(x))
#define tn_from_bits_f64(b) __longlong_as_double((int64)(b))

#else /* ------------------------------------------------------------- cpu */

#define TN_ON_CPU 1
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <immintrin.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef int8_t int8;
typedef uint8_t uint8;
typedef int16_t int16;
typedef uint16_t uint16;
typedef int32_t int32;
typedef uint32_t uint32;
typedef int64_t int64;
typedef uint64_t uint64;

/* What a call of a cpu kernel runs: items or groups begin, ..., end - 1.  A
 * launcher cuts [0, items) into ranges and lets the last one end at
 * INT64_MAX, since the kernel's own bound decides. */
typedef struct tn_range {
  int64_t begin, end;
} tn_range;

/* A compiled cpu kernel.  slots: one per parameter, in order, holding an
 * address or, in its low bytes, a number. */
typedef struct tn_cpu_kernel {
  const char *name, *signature;
  void (*run)(tn_range range, const uint64_t *slots);
  const char *family; /* TN_CPU_FAMILY (a word) when it was compiled, or "" */
} tn_cpu_kernel;

/* The kernels of one compilation: *begin, ..., end[-1]. */
typedef struct tn_cpu_image {
  size_t struct_size;
  const tn_cpu_kernel *const *begin;
  const tn_cpu_kernel *const *end;
} tn_cpu_image;

#define TN_GLOBAL
#define TN_LOCAL
#define TN_FUNCTION static inline __attribute__((unused, always_inline))
#define TN_SEPARATE_FUNCTION static __attribute__((unused, noinline))
#define TN_TABLE(T, name, count) \
  static const T name[count] __attribute__((unused))
#define TN_SHARED(T, name, count) T name[count] __attribute__((aligned(64)))

/* Kernels register through a linker section, so nothing of a kernel is
 * visible outside its object.  Several images can be linked together when
 * TN_CPU_LEVEL (a word) tells their sections apart. */
#ifdef TN_CPU_LEVEL
#define TN_IMAGE_SECTION TN_JOIN(tn_kernels_, TN_CPU_LEVEL)
#else
#define TN_IMAGE_SECTION tn_kernels
#endif

#ifdef TN_CPU_FAMILY
#define TN_FAMILY_ TN_TEXT(TN_CPU_FAMILY)
#else
#define TN_FAMILY_ ""
#endif

/* Declares the kernels registered in a section and defines, as a static
 * tn_cpu_image called name, the image they make. */
#define TN_CPU_IMAGE(name, section)                                         \
  extern const tn_cpu_kernel *const TN_JOIN(__start_, section)[]            \
    __attribute__((weak, visibility("hidden")));                            \
  extern const tn_cpu_kernel *const TN_JOIN(__stop_, section)[]             \
    __attribute__((weak, visibility("hidden")));                            \
  static const tn_cpu_image name = {                                        \
    sizeof(tn_cpu_image), TN_JOIN(__start_, section),                       \
    TN_JOIN(__stop_, section)                                               \
  }

/* Put at the end of a module that becomes a library of its own: exports its
 * image as the object tn_cpu_image_of_module, a const tn_cpu_image *. */
#define TN_IMAGE                                                  \
  TN_CPU_IMAGE(tn_image_of_this_module_, TN_IMAGE_SECTION);       \
  extern const tn_cpu_image *const tn_cpu_image_of_module         \
    __attribute__((visibility("default")));                       \
  const tn_cpu_image *const tn_cpu_image_of_module =              \
    &tn_image_of_this_module_;

#define TN_KERNEL(name, ...)                                                \
  static inline __attribute__((always_inline)) void name##_tn_body_(        \
    tn_range tn_range_, TN_MAP(TN_PARAMETER_, __VA_ARGS__));                \
  static void name##_tn_run_(tn_range tn_range_, const uint64_t *tn_slots_) \
  {                                                                         \
    name##_tn_body_(tn_range_, TN_MAP(TN_ARGUMENT_, __VA_ARGS__));          \
  }                                                                         \
  static const tn_cpu_kernel name##_tn_kernel_ = { #name,                   \
    TN_TEXT(__VA_ARGS__), name##_tn_run_, TN_FAMILY_ };                     \
  static const tn_cpu_kernel *const name##_tn_entry_                        \
    __attribute__((section(TN_TEXT(TN_IMAGE_SECTION)), used)) =             \
      &name##_tn_kernel_;                                                   \
  static inline void name##_tn_body_(tn_range tn_range_                     \
    __attribute__((unused)), TN_MAP(TN_PARAMETER_, __VA_ARGS__))

#define TN_ARGUMENT_(i, p) TN_ARGUMENT_AT_((i), TN_TUPLE_ p)
#define TN_TUPLE_(...) __VA_ARGS__
#define TN_ARGUMENT_AT_(...) TN_ARGUMENT_OF_(__VA_ARGS__)
#define TN_ARGUMENT_OF_(i, kind, T, name) TN_JOIN(TN_ARGUMENT_, kind)(i, T)
#define TN_ARGUMENT_OUT(i, T) (T *)(uintptr_t)tn_slots_[i]
#define TN_ARGUMENT_IN(i, T) (const T *)(uintptr_t)tn_slots_[i]
#define TN_ARGUMENT_VAL(i, T)                                            \
  __extension__({                                                        \
    T tn_value_;                                                         \
    memcpy(&tn_value_, tn_slot_low_(tn_slots_ + (i), sizeof(T)),         \
           sizeof(T));                                                   \
    tn_value_;                                                           \
  })

/* Where the low bytes of a slot begin. */
TN_FUNCTION const void *tn_slot_low_(const uint64_t *slot, size_t size)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  return (const char *)slot + sizeof *slot - size;
#else
  (void)size;
  return slot;
#endif
}

/* "The iterations of this loop do not depend on each other." */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"
#define TN_IVDEP _Pragma("clang loop vectorize(assume_safety)")
#define TN_UNROLL
#elif defined(__GNUC__) && !defined(__cplusplus)
#define TN_IVDEP _Pragma("GCC ivdep")
#define TN_UNROLL _Pragma("GCC unroll 16")
#else
#define TN_IVDEP
#define TN_UNROLL
#endif

TN_FUNCTION int64_t tn_least_(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

#define TN_TASKS(i, n)                                                    \
  for (int64 i = tn_range_.begin, tn_end_ = tn_least_(tn_range_.end, n);  \
       i < tn_end_; i++)
#define TN_PARALLEL_FOR(i, n) TN_IVDEP TN_TASKS(i, n)
#define TN_GROUPS(g, n) TN_TASKS(g, n)

/* The rows that [begin, end) of rows x columns elements touches. */
typedef struct tn_row_walk {
  int64_t columns, at, end;  /* row length, element, and where to stop */
  int64_t row, first, last;  /* the columns [first, last) of this row */
} tn_row_walk;

TN_FUNCTION void tn_row_cut_(tn_row_walk *walk)
{
  walk->last = tn_least_(walk->columns, walk->first + walk->end - walk->at);
}

TN_FUNCTION tn_row_walk tn_row_begin_(tn_range range, int64_t rows,
                                      int64_t columns)
{
  tn_row_walk walk = { columns, range.begin, 0, 0, 0, 0 };
  walk.end = tn_least_(range.end, rows * columns);
  if (walk.at >= walk.end)
    return walk;
  walk.row = walk.at / columns;
  walk.first = walk.at - walk.row * columns;
  tn_row_cut_(&walk);
  return walk;
}

TN_FUNCTION void tn_row_next_(tn_row_walk *walk)
{
  walk->at += walk->last - walk->first;
  walk->row++;
  walk->first = 0;
  tn_row_cut_(walk);
}

#define TN_ROWS(r, rows, columns)                                           \
  for (tn_row_walk tn_walk_ = tn_row_begin_(tn_range_, (rows), (columns));  \
       tn_walk_.at < tn_walk_.end; tn_row_next_(&tn_walk_))                 \
    for (int64 r = tn_walk_.row, tn_once_ = 1; tn_once_; tn_once_ = 0)
#define TN_ROW(c)                                                         \
  TN_IVDEP for (int64 c = tn_walk_.first, tn_last_ = tn_walk_.last;       \
                c < tn_last_; c++)

/* Streamed outputs are computed a block at a time into a small buffer that
 * stays in the first-level cache, and copied out by non-temporal stores. */
#define TN_STREAM_BLOCK 512       /* bytes; larger ones were slower */
#define TN_STREAM_MINIMUM 4194304 /* bytes of output from which it pays */

typedef struct tn_stream_walk {
  int64_t at, stop, end; /* this block, and where the range ends */
  void *target;          /* where element at is written */
} tn_stream_walk;

TN_FUNCTION void tn_stream_cut_(tn_stream_walk *walk, char *out, void *block,
                                int64_t size)
{
  if (!block) {
    walk->target = out + walk->at * size;
    walk->stop = walk->end;
    return;
  }
  /* The first block is shortened so that the others begin on a line. */
  int64_t over = (int64_t)((uintptr_t)(out + walk->at * size) % 64);
  walk->stop = tn_least_(walk->at + (TN_STREAM_BLOCK - over) / size,
                         walk->end);
  walk->target = block;
}

TN_FUNCTION tn_stream_walk tn_stream_begin_(tn_range range, int64_t n,
                                            char *out, void *block,
                                            int64_t size)
{
  tn_stream_walk walk = { range.begin, 0, tn_least_(range.end, n), 0 };
  if (walk.at < walk.end)
    tn_stream_cut_(&walk, out, block, size);
  return walk;
}

/* Copies a block out past the caches; whole lines where it can. */
TN_FUNCTION void tn_stream_copy_(char *to, const char *from, int64_t bytes)
{
  int64_t at = (int64_t)(-(uintptr_t)to % 64);
  if (at > bytes)
    at = bytes;
  if (at)
    memcpy(to, from, (size_t)at);
#if defined(__AVX512F__)
  for (; at + 64 <= bytes; at += 64)
    _mm512_stream_si512((__m512i *)(void *)(to + at),
                        _mm512_loadu_si512(from + at));
#elif defined(__AVX__)
  for (; at + 32 <= bytes; at += 32)
    _mm256_stream_si256(
      (__m256i *)(void *)(to + at),
      _mm256_loadu_si256((const __m256i *)(const void *)(from + at)));
#elif defined(__SSE2__)
  for (; at + 16 <= bytes; at += 16)
    _mm_stream_si128(
      (__m128i *)(void *)(to + at),
      _mm_loadu_si128((const __m128i *)(const void *)(from + at)));
#endif
  if (at < bytes)
    memcpy(to + at, from + at, (size_t)(bytes - at));
}

TN_FUNCTION void tn_stream_next_(tn_stream_walk *walk, char *out, void *block,
                                 int64_t size)
{
  if (block)
    tn_stream_copy_(out + walk->at * size, (const char *)block,
                    (walk->stop - walk->at) * size);
  walk->at = walk->stop;
  if (walk->at < walk->end) {
    tn_stream_cut_(walk, out, block, size);
    return;
  }
#ifdef __SSE2__
  if (block)
    _mm_sfence();
#endif
}

#define TN_STREAM_FOR(i, n, T, y)                                            \
  for (T tn_buffer_[TN_STREAM_BLOCK / sizeof(T)]                             \
         __attribute__((aligned(64))),                                       \
       *tn_block_ = (n) >= TN_STREAM_MINIMUM / (int64)sizeof(T)              \
                      ? tn_buffer_ : (T *)0,                                 \
       *tn_once_ = tn_buffer_; tn_once_; tn_once_ = (T *)0)                  \
    for (tn_stream_walk tn_stream_ = tn_stream_begin_(                       \
           tn_range_, (n), (char *)(y), tn_block_, (int64)sizeof(T));        \
         tn_stream_.at < tn_stream_.end;                                     \
         tn_stream_next_(&tn_stream_, (char *)(y), tn_block_,                \
                         (int64)sizeof(T)))                                  \
      for (T *tn_target_ = (T *)tn_stream_.target,                           \
             *tn_turn_ = tn_target_; tn_turn_; tn_turn_ = (T *)0)            \
        TN_IVDEP for (int64 i = tn_stream_.at, tn_stop_ = tn_stream_.stop;   \
                      i < tn_stop_; i++)
#define TN_STREAMED(T, y, i) tn_target_[(i) - tn_stream_.at]

#define TN_ITEMS(t, count) for (int32 t = 0; t < (int32)(count); t++)
#define TN_LANES(l, lanes, i, n, ...)                                     \
  do {                                                                    \
    const int64 tn_n_ = (n);                                              \
    int64 tn_i_ = 0;                                                      \
    for (; tn_i_ + (lanes) <= tn_n_; tn_i_ += (lanes)) {                  \
      TN_IVDEP for (int32 l = 0; l < (lanes); l++) {                      \
        const int64 i = tn_i_ + l;                                        \
        __VA_ARGS__;                                                      \
      }                                                                   \
    }                                                                     \
    for (int32 l = 0; l < (int32)(tn_n_ - tn_i_); l++) {                  \
      const int64 i = tn_i_ + l;                                          \
      __VA_ARGS__;                                                        \
    }                                                                     \
  } while (0)
#define TN_TREE_STEP_(t, u, count, half, ...)                             \
  if ((count) > (half))                                                   \
    for (int32 t = 0; t < (half); t++) {                                  \
      const int32 u = t + (half);                                         \
      __VA_ARGS__;                                                        \
    }
/* Written out, so that every step has a constant length. */
#define TN_TREE_PAIRS(t, u, count, ...)                                   \
  do {                                                                    \
    TN_TREE_STEP_(t, u, count, 512, __VA_ARGS__)                          \
    TN_TREE_STEP_(t, u, count, 256, __VA_ARGS__)                          \
    TN_TREE_STEP_(t, u, count, 128, __VA_ARGS__)                          \
    TN_TREE_STEP_(t, u, count, 64, __VA_ARGS__)                           \
    TN_TREE_STEP_(t, u, count, 32, __VA_ARGS__)                           \
    TN_TREE_STEP_(t, u, count, 16, __VA_ARGS__)                           \
    TN_TREE_STEP_(t, u, count, 8, __VA_ARGS__)                            \
    TN_TREE_STEP_(t, u, count, 4, __VA_ARGS__)                            \
    TN_TREE_STEP_(t, u, count, 2, __VA_ARGS__)                            \
    TN_TREE_STEP_(t, u, count, 1, __VA_ARGS__)                            \
  } while (0)

#define TN_ATOMIC_ADD(pointer, value) \
  ((void)__atomic_fetch_add((pointer), (value), __ATOMIC_RELAXED))
/* A group runs on one thread.  The empty asm keeps the loop around it from
 * being vectorised, for equal addresses would then meet. */
#define TN_GROUP_ATOMIC_ADD(pointer, value) \
  do {                                      \
    *(pointer) += (value);                  \
    __asm__ volatile("");                   \
  } while (0)

TN_FUNCTION float tn_fma(float a, float b, float c)
{
  return __builtin_fmaf(a, b, c);
}

TN_FUNCTION float tn_sqrt(float x)
{
  return __builtin_sqrtf(x);
}

TN_FUNCTION uint32_t tn_bits(float x)
{
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

TN_FUNCTION float tn_from_bits(uint32_t bits)
{
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

TN_FUNCTION float tn_abs(float x)
{
  return __builtin_fabsf(x);
}

/* The upper half of the 64-bit product. */
TN_FUNCTION uint32_t tn_mul_high(uint32_t a, uint32_t b)
{
  return (uint32_t)(((uint64_t)a * b) >> 32);
}

TN_FUNCTION uint64_t tn_mul_high_u64(uint64_t a, uint64_t b)
{
  uint64_t low = (a & 0xffffffffu) * (b & 0xffffffffu);
  uint64_t first = (a >> 32) * (b & 0xffffffffu) + (low >> 32);
  uint64_t second = (a & 0xffffffffu) * (b >> 32) + (first & 0xffffffffu);
  return (a >> 32) * (b >> 32) + (first >> 32) + (second >> 32);
}

TN_FUNCTION uint64_t tn_bits_f64(double x)
{
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

TN_FUNCTION double tn_from_bits_f64(uint64_t bits)
{
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

TN_FUNCTION double tn_sqrt_f64(double x)
{
  return __builtin_sqrt(x);
}

TN_FUNCTION double tn_fma_f64(double a, double b, double c)
{
  return __builtin_fma(a, b, c);
}

TN_FUNCTION double tn_abs_f64(double x)
{
  return __builtin_fabs(x);
}

#ifdef __cplusplus
}
#endif

#endif /* -------------------------------------------------- which compiler */

/* a / b for a >= 0, b > 0.  Division of 64-bit numbers is slow on a GPU and
 * seldom needed. */
TN_FUNCTION int64 tn_quotient(int64 a, int64 b)
{
#ifndef TN_ON_CPU
  if (a <= 0x7fffffff && b <= 0x7fffffff)
    return (int64)((uint32)a / (uint32)b);
#endif
  return a / b;
}

#ifndef TN_ON_CPU /* the loops of cuda and opencl */

#define TN_TASKS(i, n) \
  for (int64 i = TN_GPU_BEGIN_; i < (n); i += TN_GPU_STEP_)
#define TN_PARALLEL_FOR(i, n) TN_TASKS(i, n)
#define TN_STREAM_FOR(i, n, T, y) TN_TASKS(i, n)
#define TN_STREAMED(T, y, i) (y)[i]
#define TN_GROUPS(g, n) \
  for (int64 g = TN_GPU_GROUP_; g < (n); g += TN_GPU_GROUPS_)

#define TN_ROWS(r, rows, columns)                                         \
  for (int64 tn_at_ = TN_GPU_BEGIN_, tn_columns_ = (columns),             \
             tn_end_ = (rows)*tn_columns_;                                \
       tn_at_ < tn_end_; tn_at_ += TN_GPU_STEP_)                          \
    for (int64 r = tn_quotient(tn_at_, tn_columns_),                     \
               tn_column_ = tn_at_ - r * tn_columns_, tn_once_ = 1;       \
         tn_once_; tn_once_ = 0)
#define TN_ROW(c) \
  for (int64 c = tn_column_, tn_turn_ = 1; tn_turn_; tn_turn_ = 0)

#define TN_ITEMS(t, count)                                                \
  for (int32 tn_block_ = 1; tn_block_; tn_block_ = 0, TN_GPU_BARRIER_())  \
    for (int32 t = TN_GPU_ITEM_; t < (int32)(count); t += TN_GPU_ITEMS_)
#define TN_LANES(l, lanes, i, n, ...)                                     \
  do {                                                                    \
    const int64 tn_n_ = (n);                                              \
    for (int32 l = TN_GPU_ITEM_; l < (lanes); l += TN_GPU_ITEMS_)         \
      for (int64 i = l; i < tn_n_; i += (lanes)) {                        \
        __VA_ARGS__;                                                      \
      }                                                                   \
    TN_GPU_BARRIER_();                                                    \
  } while (0)
#define TN_TREE_PAIRS(t, u, count, ...)                                   \
  do {                                                                    \
    for (int32 tn_half_ = (count) / 2; tn_half_; tn_half_ /= 2)           \
      TN_ITEMS(t, tn_half_) {                                             \
        const int32 u = t + tn_half_;                                     \
        __VA_ARGS__;                                                      \
      }                                                                   \
  } while (0)

#endif

#define TN_TREE(part, count, op)     \
  TN_TREE_PAIRS(tn_t_, tn_u_, count, \
                (part)[tn_t_] = (part)[tn_t_] op (part)[tn_u_])

#endif
