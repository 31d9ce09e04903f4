/* Trials of kernels: see trial.h. */
#include "tests/kernels/trial.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNTOUCHED = 0xa5 };

static void fail(kernel_trial *trial, const char *what, int64_t at,
                 uint64_t got, uint64_t wanted)
{
  if (trial->failed) return;
  trial->failed = true;
  snprintf(trial->wrong, sizeof trial->wrong,
           "%s: element %" PRId64 " is %" PRIx64 ", wanted %" PRIx64, what,
           at, got, wanted);
}

static void give_up(kernel_trial *trial, const char *what)
{
  if (trial->failed) return;
  trial->failed = true;
  snprintf(trial->wrong, sizeof trial->wrong, "%s", what);
}

bool kernel_trial_run(kernel_trial *trial, const kernel_runner *runner,
                      const kernel_case *of, int64_t size,
                      trial_flavour flavour, uint64_t seed)
{
  memset(trial, 0, sizeof *trial);
  trial->runner = runner;
  trial->of = of;
  trial->size = size;
  trial->flavour = flavour;
  trial->random = seed ^ (uint64_t)size << 32 ^ (uint64_t)flavour << 60;
  for (const char *c = of->name; *c; c++)
    trial->random = (trial->random ^ (uint64_t)*c) * 0x100000001b3;
  of->run(trial);
  for (int i = 0; i < trial->array_count; i++) {
    free(trial->arrays[i].host);
    runner->drop(runner->state, trial->arrays[i].device);
  }
  return !trial->failed;
}

void *trial_memory(int64_t n, size_t size)
{
  void *memory = calloc((size_t)n + 1, size);
  if (!memory) abort();
  return memory;
}

/* splitmix64 */
uint64_t trial_random(kernel_trial *trial)
{
  uint64_t z = trial->random += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

int64_t trial_below(kernel_trial *trial, int64_t n)
{
  return (int64_t)(trial_random(trial) % (uint64_t)n);
}

float trial_float(kernel_trial *trial)
{
  static const float special[] = { INFINITY,       -INFINITY, NAN, 0.0f,
                                   -0.0f,          1.0f,      -1.0f,
                                   3.4028235e+38f, 1e-45f,    -1.1754944e-38f };
  uint64_t r = trial_random(trial);
  float plain = ldexpf((float)(int32_t)(r >> 32), -29);
  if (trial->flavour == TRIAL_PLAIN) return plain;
  if (trial->flavour == TRIAL_SPECIAL && r % 16 == 0)
    return special[r / 16 % (sizeof special / sizeof *special)];
  if (r % 4 == 1) return plain;
  uint32_t bits = (uint32_t)(r >> 32);
  if (r % 4 == 2) bits &= 0x80ffffff; /* denormal or hardly more */
  if ((bits & 0x7f800000) == 0x7f800000) bits &= 0xbfffffff;
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

double trial_double(kernel_trial *trial)
{
  uint64_t r = trial_random(trial);
  if (trial->flavour == TRIAL_PLAIN || r % 4 == 0)
    return ldexp((double)(int64_t)(r >> 2), -60) + trial_float(trial);
  if (trial->flavour == TRIAL_SPECIAL && r % 8 == 1)
    return (double)trial_float(trial);
  r = trial_random(trial);
  if (r % 4 == 2) r &= 0x801fffffffffffff;
  if ((r & 0x7ff0000000000000) == 0x7ff0000000000000)
    r &= 0xbfffffffffffffff;
  double x;
  memcpy(&x, &r, sizeof x);
  return x;
}

static trial_array *new_array(kernel_trial *trial, int64_t n, size_t size)
{
  trial_array *array = &trial->arrays[trial->array_count++];
  array->bytes = (size_t)n * size;
  array->host = trial_memory(n, size);
  array->device = trial->runner->make(trial->runner->state,
                                      array->bytes ? array->bytes : size);
  if (!array->device) give_up(trial, "no memory on the device");
  return array;
}

void trial_upload(kernel_trial *trial, trial_array *array)
{
  if (!trial->failed && array->bytes &&
      !trial->runner->write(trial->runner->state, array->device, array->host,
                            array->bytes))
    give_up(trial, "cannot copy to the device");
}

trial_array *trial_floats(kernel_trial *trial, int64_t n)
{
  trial_array *array = new_array(trial, n, sizeof(float));
  for (int64_t i = 0; i < n; i++)
    ((float *)array->host)[i] = trial_float(trial);
  trial_upload(trial, array);
  return array;
}

trial_array *trial_doubles(kernel_trial *trial, int64_t n)
{
  trial_array *array = new_array(trial, n, sizeof(double));
  for (int64_t i = 0; i < n; i++)
    ((double *)array->host)[i] = trial_double(trial);
  trial_upload(trial, array);
  return array;
}

/* Like a text: some bytes are much more frequent than others. */
trial_array *trial_bytes(kernel_trial *trial, int64_t n)
{
  trial_array *array = new_array(trial, n, 1);
  for (int64_t i = 0; i < n; i++) {
    uint64_t r = trial_random(trial);
    ((uint8_t *)array->host)[i] =
        (uint8_t)(r % 4 == 0 ? r >> 8 : 'a' + (r >> 8) % 8);
  }
  trial_upload(trial, array);
  return array;
}

trial_array *trial_zeros(kernel_trial *trial, int64_t n, size_t size)
{
  trial_array *array = new_array(trial, n, size);
  trial_upload(trial, array);
  return array;
}

trial_array *trial_output(kernel_trial *trial, int64_t n, size_t size)
{
  trial_array *array = new_array(trial, n, size);
  memset(array->host, UNTOUCHED, array->bytes);
  trial_upload(trial, array);
  return array;
}

static void launch(kernel_trial *trial, const char *kernel, bool groups,
                   int64_t count, const tn_arg *args, size_t arg_count)
{
  if (trial->failed || count == 0) return;
  if (!trial->runner->launch(trial->runner->state, trial->of->family, kernel,
                             groups, count, args, arg_count))
    give_up(trial, "cannot launch");
}

void trial_launch(kernel_trial *trial, const char *kernel, int64_t items,
                  const tn_arg *args, size_t arg_count)
{
  launch(trial, kernel, false, items, args, arg_count);
}

void trial_launch_groups(kernel_trial *trial, const char *kernel,
                         int64_t groups, const tn_arg *args,
                         size_t arg_count)
{
  launch(trial, kernel, true, groups, args, arg_count);
}

/* Brings the device's copy to host; false if there is nothing to compare. */
static bool fetch(kernel_trial *trial, trial_array *array)
{
  if (trial->failed || array->bytes == 0) return false;
  if (trial->runner->read(trial->runner->state, array->host, array->device,
                          array->bytes))
    return true;
  give_up(trial, "cannot copy from the device");
  return false;
}

static void add_to_hash(kernel_trial *trial, uint64_t bits)
{
  trial->hash = (trial->hash ^ bits) * 0x9e3779b97f4a7c15;
  trial->hash ^= trial->hash >> 32;
}

static uint32_t canonical_f32(float x)
{
  uint32_t bits = 0x7fc00000;
  if (!isnan(x)) memcpy(&bits, &x, sizeof bits);
  return bits;
}

static uint64_t canonical_f64(double x)
{
  uint64_t bits = 0x7ff8000000000000;
  if (!isnan(x)) memcpy(&bits, &x, sizeof bits);
  return bits;
}

void trial_fetch(kernel_trial *trial, trial_array *array)
{
  fetch(trial, array);
}

/* Defines trial_compare_SUFFIX and trial_expect_SUFFIX for a type. */
#define EXPECT(suffix, type, bits_of, scope)                               \
  scope void trial_compare_##suffix(kernel_trial *trial, const type *got,  \
                                    const type *wanted, int64_t n)         \
  {                                                                        \
    for (int64_t i = 0; i < n && !trial->failed; i++) {                    \
      uint64_t bits = bits_of(got[i]), want = bits_of(wanted[i]);          \
      if (bits != want) fail(trial, trial->of->name, i, bits, want);       \
      add_to_hash(trial, bits);                                            \
    }                                                                      \
  }                                                                        \
  void trial_expect_##suffix(kernel_trial *trial, trial_array *array,      \
                             const type *wanted, int64_t n)                \
  {                                                                        \
    if (fetch(trial, array))                                               \
      trial_compare_##suffix(trial, array->host, wanted, n);               \
  }
EXPECT(f32, float, canonical_f32, )
EXPECT(f64, double, canonical_f64, static)
EXPECT(u8, uint8_t, (uint64_t), static)
EXPECT(u32, uint32_t, (uint64_t), static)
EXPECT(u64, uint64_t, (uint64_t), static)
