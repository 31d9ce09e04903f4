/* The built-in kernels as nvcc compiled them, kernels/ptx, give the bits of
 * the reference when the interpreter runs them.  EMULATED: no GPU is used. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cudaemu/ptx_device.h"
#include "tests/kernels/survey.h"
#include "tests/tap.h"

enum { FAMILIES = 64 };

typedef struct emulated {
  ptx_device *device;
  ptx_module *modules[FAMILIES];
  const char *names[FAMILIES];
  int module_count;
  uint64_t random, lane_steps;
} emulated;

static void *make(void *data, size_t bytes)
{
  emulated *state = data;
  return (void *)(uintptr_t)ptx_device_take(state->device, bytes, NULL);
}

static void drop(void *data, void *memory)
{
  emulated *state = data;
  ptx_device_drop(state->device, (uint64_t)(uintptr_t)memory);
}

static bool write_to(void *data, void *to, const void *from, size_t bytes)
{
  emulated *state = data;
  void *host = ptx_device_host(state->device, (uint64_t)(uintptr_t)to);
  if (host)
    memcpy(host, from, bytes);
  return host != NULL;
}

static bool read_from(void *data, void *to, const void *from, size_t bytes)
{
  emulated *state = data;
  void *host = ptx_device_host(state->device, (uint64_t)(uintptr_t)from);
  if (host)
    memcpy(to, host, bytes);
  return host != NULL;
}

static ptx_module *module_of(emulated *state, const char *family)
{
  for (int i = 0; i < state->module_count; i++)
    if (strcmp(state->names[i], family) == 0)
      return state->modules[i];
  if (state->module_count == FAMILIES)
    return NULL;
  const char *folder = getenv("top_srcdir");
  char path[1024];
  snprintf(path, sizeof path, "%s/kernels/ptx/%s.ptx", folder ? folder : ".",
           family);
  int i = state->module_count++;
  state->names[i] = family;
  return state->modules[i] = ptx_device_load_file(state->device, path);
}

static void pack(const tn_arg *args, size_t count, uint64_t *slots)
{
  for (size_t i = 0; i < count; i++) {
    slots[i] = 0;
    memcpy(&slots[i], &args[i].as, 8);
  }
}

/* Any number of threads must do: the size of blocks and of the grid vary. */
static bool launch(void *data, const char *family, const char *name,
                   bool groups, int64_t count, const tn_arg *args,
                   size_t arg_count)
{
  static const uint32_t block_sizes[] = { 32, 64, 96, 128, 200, 256 };
  emulated *state = data;
  ptx_module *module = module_of(state, family);
  const ptx_entry *entry = module ? ptx_module_find(module, name) : NULL;
  uint64_t slots[TN_ARGS_MAX];
  if (!entry || entry->parameter_count != arg_count) {
    tap_note("%s: not in the module, or takes other than %d arguments", name,
             (int)arg_count);
    return false;
  }
  pack(args, arg_count, slots);
  uint64_t random = ptx_device_random(&state->random);
  uint32_t block = block_sizes[random % 6], most = entry->max_threads[0];
  if (most && block > most) block = most;
  int64_t grid = groups ? count : (count + block - 1) / block;
  if (random >> 32 & 1 || grid > 65535)
    grid = grid / 3 > 1000 ? 1000 : grid / 3;
  ptx_device_launch how = {
    .entry = name, .grid = grid > 0 ? (uint32_t)grid : 1, .block = block,
    .slots = slots
  };
  bool ran = ptx_device_run(state->device, module, &how);
  state->lane_steps += how.counts.lane_steps;
  if (!ran)
    tap_note("%s", ptx_device_fault(state->device)->text);
  return ran;
}

int main(void)
{
  uint64_t seed = survey_seed();
  emulated state = { .device = ptx_device_make(), .random = seed };
  kernel_runner runner = { &state, make, drop, write_to, read_from, launch };
  survey_kernels(&runner, "EMULATED", NULL, seed);
  survey_golden(&runner, "EMULATED", NULL);
  tap_note("%llu million instructions of lanes",
           (unsigned long long)state.lane_steps / 1000000);
  for (int i = 0; i < state.module_count; i++)
    ptx_module_free(state.modules[i]);
  ptx_device_free(state.device);
  return tap_done();
}
