/* N1: the built-in kernels give the reference's bits through the library, on
 * the device that TN_TEST_DEVICE names (cpu by default). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tenon/tenon.h"
#include "tests/kernels/survey.h"
#include "tests/tap.h"

enum { FAMILIES = 64 };

typedef struct device_state {
  tn_device device;
  tn_module *modules[FAMILIES];
  const char *names[FAMILIES];
  int module_count;
} device_state;

static bool worked(tn_status status, const char *what)
{
  if (status != TN_OK) tap_note("%s: %s", what, tn_error_message());
  return status == TN_OK;
}

static void *make(void *data, size_t bytes)
{
  device_state *state = data;
  void *memory = tn_malloc(state->device, bytes);
  if (!memory) tap_note("tn_malloc: %s", tn_error_message());
  return memory;
}

static void drop(void *state, void *memory)
{
  (void)state;
  tn_free(memory);
}

static bool write_to(void *data, void *to, const void *from, size_t bytes)
{
  device_state *state = data;
  return worked(tn_copy(to, state->device, from, tn_device_of("cpu"), bytes,
                        false), "copy to the device");
}

static bool read_from(void *data, void *to, const void *from, size_t bytes)
{
  device_state *state = data;
  return worked(tn_copy(to, tn_device_of("cpu"), from, state->device, bytes,
                        false), "copy from the device");
}

/* A family's module, loaded once. */
static tn_module *module_of(device_state *state, const char *family)
{
  for (int i = 0; i < state->module_count; i++)
    if (strcmp(state->names[i], family) == 0) return state->modules[i];
  tn_module *module = tn_module_builtin(state->device, family);
  if (!module || state->module_count == FAMILIES) return NULL;
  state->names[state->module_count] = family;
  return state->modules[state->module_count++] = module;
}

static bool launch(void *data, const char *family, const char *name,
                   bool groups, int64_t count, const tn_arg *args,
                   size_t arg_count)
{
  tn_module *module = module_of(data, family);
  tn_kernel *kernel = module ? tn_kernel_get(module, name) : NULL;
  if (!kernel) {
    tap_note("%s: %s", name, tn_error_message());
    return false;
  }
  tn_status status = groups ? tn_launch_groups(kernel, count, args, arg_count)
                            : tn_launch(kernel, count, args, arg_count);
  tn_kernel_release(kernel);
  return worked(status, name);
}

int main(void)
{
  const char *text = getenv("TN_TEST_DEVICE");
  if (!text) text = "cpu";
  device_state state = { .device = tn_device_of(text) };
  tn_device_info info;
  if (tn_device_get_info(state.device, &info) != TN_OK ||
      info.unavailable[0]) {
    tap_ok(false, "N1 %s can be used", text);
    tap_note("%s", info.unavailable[0] ? info.unavailable
                                       : tn_error_message());
    return tap_done();
  }
  if (info.not_reproducible[0]) {
    tap_skip("N1 %s: %s", text, info.not_reproducible);
    return tap_done();
  }
  kernel_runner runner = { &state, make, drop, write_to, read_from, launch };
  const char *skip = info.f64 ? NULL : "_f64";
  if (skip) tap_note("%s has no f64", text);
  survey_kernels(&runner, text, skip, survey_seed());
  survey_golden(&runner, text, skip);
  for (int i = 0; i < state.module_count; i++)
    tn_module_release(state.modules[i]);
  return tap_done();
}
