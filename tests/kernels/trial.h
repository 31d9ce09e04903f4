/* One kernel tried on one size: inputs, launches, and the comparison with the
 * reference, bit for bit, on whatever runs kernels. */
#ifndef TN_TESTS_KERNELS_TRIAL_H
#define TN_TESTS_KERNELS_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "tenon/kernel.h"

/* What runs kernels: an image, or a device. Memory is the runner's; make
 * returns NULL, and the others false, having said why on standard output. */
typedef struct kernel_runner {
  void *state;
  void *(*make)(void *state, size_t bytes);
  void (*drop)(void *state, void *memory);
  bool (*write)(void *state, void *to, const void *from, size_t bytes);
  bool (*read)(void *state, void *to, const void *from, size_t bytes);
  bool (*launch)(void *state, const char *family, const char *kernel,
                 bool groups, int64_t count, const tn_arg *args,
                 size_t arg_count);
} kernel_runner;

/* What the inputs hold. */
typedef enum trial_flavour {
  TRIAL_PLAIN,   /* numbers of ordinary size */
  TRIAL_WIDE,    /* all finite numbers, many of them denormal */
  TRIAL_SPECIAL, /* infinities and NaNs among them */
  TRIAL_FLAVOURS
} trial_flavour;

typedef struct trial_array {
  void *host;   /* what the device holds, or held before the launch */
  void *device; /* the same on the device */
  size_t bytes;
} trial_array;

typedef struct kernel_trial {
  const kernel_runner *runner;
  const struct kernel_case *of;
  int64_t size;
  trial_flavour flavour;
  uint64_t random; /* state of the generator */
  uint64_t hash;   /* of all outputs so far */
  bool failed;     /* `wrong` says why */
  char wrong[200];
  trial_array arrays[12];
  int array_count;
} kernel_trial;

typedef struct kernel_case {
  const char *name;   /* of the kernel that it is about */
  const char *family; /* the module it is in */
  void (*run)(kernel_trial *);
  const void *detail;      /* the case's own */
  const int64_t *sizes;    /* ended by -1 */
  trial_flavour flavours; /* those below it make sense */
} kernel_case;

/* Tries a case; all memory is given back. False if it failed: see wrong. */
bool kernel_trial_run(kernel_trial *trial, const kernel_runner *runner,
                      const kernel_case *of, int64_t size,
                      trial_flavour flavour, uint64_t seed);

/* For the cases. A trial that has failed does nothing more. */
uint64_t trial_random(kernel_trial *trial);
int64_t trial_below(kernel_trial *trial, int64_t n); /* 0, ..., n - 1 */
float trial_float(kernel_trial *trial);
double trial_double(kernel_trial *trial);

/* Arrays filled by the flavour, with random bytes, zeros, or a pattern that
 * no result has. They live as long as the trial. */
trial_array *trial_floats(kernel_trial *trial, int64_t n);
trial_array *trial_doubles(kernel_trial *trial, int64_t n);
trial_array *trial_bytes(kernel_trial *trial, int64_t n);
trial_array *trial_zeros(kernel_trial *trial, int64_t n, size_t size);
trial_array *trial_output(kernel_trial *trial, int64_t n, size_t size);

/* Changes what the device holds to what host holds. */
void trial_upload(kernel_trial *trial, trial_array *array);

void trial_launch(kernel_trial *trial, const char *kernel, int64_t items,
                  const tn_arg *args, size_t arg_count);
void trial_launch_groups(kernel_trial *trial, const char *kernel,
                         int64_t groups, const tn_arg *args,
                         size_t arg_count);

/* Compares array, as the device has it, with what is wanted; NaNs are equal
 * to each other. */
void trial_expect_f32(kernel_trial *trial, trial_array *array,
                      const float *wanted, int64_t n);
void trial_expect_f64(kernel_trial *trial, trial_array *array,
                      const double *wanted, int64_t n);
void trial_expect_u8(kernel_trial *trial, trial_array *array,
                     const uint8_t *wanted, int64_t n);
void trial_expect_u32(kernel_trial *trial, trial_array *array,
                      const uint32_t *wanted, int64_t n);
void trial_expect_u64(kernel_trial *trial, trial_array *array,
                      const uint64_t *wanted, int64_t n);

/* The same in two steps, for results that the host completes. */
void trial_fetch(kernel_trial *trial, trial_array *array);
void trial_compare_f32(kernel_trial *trial, const float *got,
                       const float *wanted, int64_t n);

/* Memory for what is wanted; aborts if there is none. Free it with free. */
void *trial_memory(int64_t n, size_t size);

#define TRIAL_AT(array, type, offset) \
  TN_ARG_PTR((type *)(array)->device + (offset))
#define TRIAL_PTR(array) TN_ARG_PTR((array)->device)

#endif
