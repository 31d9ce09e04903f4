/* Lies about modules, kernels and launches; launches that fail on demand. */
#include "config.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/plugins/liar/liar.h"

enum { SLOTS = 32 };

static tn_status launch_truncated(tn_backend_stream *stream,
                                  tn_backend_kernel *kernel,
                                  const tn_backend_launch_desc *desc,
                                  const uint64_t *slots)
{
  tn_kernel_info info = { .struct_size = sizeof info };
  uint64_t own[SLOTS];
  size_t count = 0;
  if (liar_base.launch.kernel_info(kernel, &info) != TN_OK) return TN_OK;
  for (const char *p = info.signature; (p = strchr(p, '(')); p++) {
    own[count] = slots[count];
    if (strncmp(p, "(VAL, int64", 11) == 0)
      own[count] = (uint64_t)(int64_t)(int32_t)slots[count];
    count++;
  }
  return liar_base.launch.launch(stream, kernel, desc, own);
}

static tn_status launch_dropped(tn_backend_stream *stream,
                                tn_backend_kernel *kernel,
                                const tn_backend_launch_desc *desc,
                                const uint64_t *slots)
{
  static atomic_uint calls;
  if (++calls % 4 == 0) return TN_OK;
  return liar_base.launch.launch(stream, kernel, desc, slots);
}

static tn_status launch_twice(tn_backend_stream *stream,
                              tn_backend_kernel *kernel,
                              const tn_backend_launch_desc *desc,
                              const uint64_t *slots)
{
  static atomic_uint calls;
  tn_status status = liar_base.launch.launch(stream, kernel, desc, slots);
  if (status != TN_OK || ++calls % 4) return status;
  return liar_base.launch.launch(stream, kernel, desc, slots);
}

/* The arguments of the launch before, as if they were read later. */
static tn_status launch_stale(tn_backend_stream *stream,
                              tn_backend_kernel *kernel,
                              const tn_backend_launch_desc *desc,
                              const uint64_t *slots)
{
  static uint64_t before[SLOTS];
  static tn_backend_kernel *same;
  tn_kernel_info info = { .struct_size = sizeof info };
  uint64_t own[SLOTS];
  size_t count = 0;
  if (liar_base.launch.kernel_info(kernel, &info) != TN_OK) return TN_OK;
  for (const char *p = info.signature; (p = strchr(p, '(')); p++) count++;
  memcpy(own, same == kernel ? before : slots, count * sizeof *own);
  memcpy(before, slots, count * sizeof *own);
  same = kernel;
  return liar_base.launch.launch(stream, kernel, desc, own);
}

/* As many items as were asked for, whatever the kernel's bound. */
static tn_status launch_by_hint(tn_backend_stream *stream,
                                tn_backend_kernel *kernel,
                                const tn_backend_launch_desc *desc,
                                const uint64_t *slots)
{
  uint64_t own[SLOTS];
  tn_kernel_info info = { .struct_size = sizeof info };
  size_t count = 0;
  if (liar_base.launch.kernel_info(kernel, &info) != TN_OK) return TN_OK;
  for (const char *p = info.signature; (p = strchr(p, '(')); p++) count++;
  memcpy(own, slots, count * sizeof *own);
  if (desc->items > 0 && (int64_t)own[count - 1] > desc->items)
    own[count - 1] = (uint64_t)desc->items;
  return liar_base.launch.launch(stream, kernel, desc, own);
}

static tn_status load_quiet(tn_backend_device *device,
                            const tn_module_desc *desc,
                            tn_backend_module **module)
{
  tn_status status = liar_base.launch.module_load(device, desc, module);
  if (status != TN_COMPILE_FAILED) return status;
  return liar_host->error(TN_UNSUPPORTED, "no such source");
}

static tn_backend_kernel *some_kernel;

static tn_status get_any(tn_backend_module *module, const char *name,
                         tn_backend_kernel **kernel)
{
  tn_status status = liar_base.launch.kernel_get(module, name, kernel);
  if (status == TN_OK) some_kernel = *kernel;
  if (status == TN_OK || !some_kernel) return status;
  *kernel = some_kernel;
  return TN_OK;
}

static tn_status info_renamed(tn_backend_kernel *kernel, tn_kernel_info *info)
{
  static char text[512];
  tn_status status = liar_base.launch.kernel_info(kernel, info);
  if (status != TN_OK) return status;
  snprintf(text, sizeof text, "%s", info->signature);
  char *last = strstr(text, "(VAL, float");
  if (last) memcpy(last, "(VAL, int32", 11);
  info->signature = text;
  return TN_OK;
}

static void lie_truncated(void) { liar_own.launch.launch = launch_truncated; }
static void lie_dropped(void) { liar_own.launch.launch = launch_dropped; }
static void lie_twice(void) { liar_own.launch.launch = launch_twice; }
static void lie_stale(void) { liar_own.launch.launch = launch_stale; }
static void lie_by_hint(void) { liar_own.launch.launch = launch_by_hint; }
static void lie_compile(void) { liar_own.launch.module_load = load_quiet; }
static void lie_kernel(void) { liar_own.launch.kernel_get = get_any; }
static void lie_signature(void) { liar_own.launch.kernel_info = info_renamed; }

const liar_lie liar_launch_lies[] = {
  { "argument_truncated", lie_truncated },
  { "arguments_stale", lie_stale },
  { "launch_dropped", lie_dropped },
  { "launch_twice", lie_twice },
  { "launch_by_hint", lie_by_hint },
  { "compile_status", lie_compile },
  { "kernel_any", lie_kernel },
  { "signature", lie_signature },
  { NULL, NULL },
};

/* ---- TENON_LIAR_FAIL: one failure, as an honest backend tells it ---- */

static unsigned failing;
static tn_backend_stream *failed_stream;
static tn_tag failed_tag;
static pthread_mutex_t fail_lock = PTHREAD_MUTEX_INITIALIZER;

static tn_status launch_failing(tn_backend_stream *stream,
                                tn_backend_kernel *kernel,
                                const tn_backend_launch_desc *desc,
                                const uint64_t *slots)
{
  static atomic_uint calls;
  if (++calls != failing)
    return liar_base.launch.launch(stream, kernel, desc, slots);
  pthread_mutex_lock(&fail_lock);
  failed_stream = stream;
  failed_tag = desc->tag;
  pthread_mutex_unlock(&fail_lock);
  return TN_OK;
}

static tn_status take_failing(tn_backend_stream *stream, tn_error_info *info)
{
  tn_status status = liar_base.stream.take_error(stream, info);
  pthread_mutex_lock(&fail_lock);
  if (failed_stream == stream && status == TN_OK && info->status == TN_OK) {
    info->status = TN_LAUNCH_FAILED;
    info->tag = failed_tag;
    snprintf(info->text, sizeof info->text, "made to fail");
    failed_stream = NULL;
  }
  pthread_mutex_unlock(&fail_lock);
  return status;
}

bool liar_fail_init(void)
{
  const char *text = getenv("TENON_LIAR_FAIL");
  if (!text || strncmp(text, "launch:", 7) != 0) return false;
  failing = (unsigned)strtoul(text + 7, NULL, 10);
  liar_own.launch.launch = launch_failing;
  liar_own.stream.take_error = take_failing;
  return true;
}
