/* N1: every built-in kernel's images give the reference's bits, at every
 * instruction-set level, in whatever pieces and order their items run.
 *   on_cpu [LEVEL...]       these levels
 *   on_cpu --print          the lines of tests/numbers_golden.txt */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/kernels/images.h"
#include "tests/kernels/survey.h"
#include "tests/tap.h"

typedef struct cpu_state {
  const tn_cpu_image *image;
  uint64_t random;
} cpu_state;

static void *make(void *state, size_t bytes)
{
  (void)state;
  return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

static void drop(void *state, void *memory)
{
  (void)state;
  free(memory);
}

static bool copy(void *state, void *to, const void *from, size_t bytes)
{
  (void)state;
  memcpy(to, from, bytes);
  return true;
}

static const tn_cpu_kernel *find(const tn_cpu_image *image, const char *name)
{
  for (const tn_cpu_kernel *const *k = image->begin; k < image->end; k++)
    if (strcmp((*k)->name, name) == 0) return *k;
  return NULL;
}

/* A parameter list "(KIND, type, name), ..." has as many parentheses. */
static size_t count_parameters(const char *signature)
{
  size_t count = 0;
  for (; *signature; signature++) count += *signature == '(';
  return count;
}

static void pack(const tn_arg *args, size_t count, uint64_t *slots)
{
  for (size_t i = 0; i < count; i++) {
    slots[i] = 0;
    switch (args[i].kind) {
    case TN_ARG_KIND_PTR: slots[i] = (uint64_t)(uintptr_t)args[i].as.ptr; break;
    case TN_ARG_KIND_I32: memcpy(&slots[i], &args[i].as.i32, 4); break;
    case TN_ARG_KIND_I64: memcpy(&slots[i], &args[i].as.i64, 8); break;
    case TN_ARG_KIND_F32: memcpy(&slots[i], &args[i].as.f32, 4); break;
    case TN_ARG_KIND_F64: memcpy(&slots[i], &args[i].as.f64, 8); break;
    }
  }
}

/* In up to four ranges, the last one first. */
static bool launch(void *data, const char *family, const char *name,
                   bool groups, int64_t count, const tn_arg *args,
                   size_t arg_count)
{
  cpu_state *state = data;
  const tn_cpu_kernel *kernel = find(state->image, name);
  uint64_t slots[TN_ARGS_MAX];
  (void)family;
  (void)groups;
  if (!kernel || count_parameters(kernel->signature) != arg_count) {
    tap_note("%s: not in the image, or takes other than %d arguments", name,
             (int)arg_count);
    return false;
  }
  pack(args, arg_count, slots);
  int64_t end = INT64_MAX;
  for (int piece = 0; piece < 3; piece++) {
    state->random = state->random * 6364136223846793005 + 1442695040888963407;
    int64_t most = count < end ? count : end;
    int64_t begin = (int64_t)(state->random >> 33) % (most + 1);
    kernel->run((tn_range){ begin, end }, slots);
    end = begin;
  }
  kernel->run((tn_range){ 0, end }, slots);
  return true;
}

static void survey(const char *level, uint64_t seed)
{
  cpu_state state = { kernel_image(level), seed };
  kernel_runner runner = { &state, make, drop, copy, copy, launch };
  if (!state.image) {
    tap_skip("N1 %s: not built, or not for this machine", level);
    return;
  }
  survey_kernels(&runner, level, NULL, seed);
  survey_golden(&runner, level, NULL);
}

int main(int argc, char **argv)
{
  if (argc > 1 && strcmp(argv[1], "--print") == 0) {
    cpu_state state = { kernel_image("baseline"), 0 };
    kernel_runner runner = { &state, make, drop, copy, copy, launch };
    survey_print(&runner);
    return 0;
  }
  uint64_t seed = survey_seed();
  for (int i = 1; i < argc; i++) survey(argv[i], seed);
  if (argc > 1) return tap_done();
  survey("baseline", seed);
  survey("v3", seed);
  survey("v4", seed);
  return tap_done();
}
