/* Lies about devices. */
#include "config.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/plugins/liar/liar.h"

static tn_status count_more(void *self, int *count)
{
  tn_status status = liar_base.device.count(self, count);
  if (status == TN_OK) ++*count;
  return status;
}

/* Masked by the plugin, and again by the core. */
static tn_status count_masked(void *self, int *count)
{
  tn_status status = liar_base.device.count(self, count);
  const char *mask = getenv("TENON_LIAR_VISIBLE_DEVICES");
  if (status != TN_OK || !mask) return status;
  int listed = 1;
  for (const char *c = mask; *c; c++) listed += *c == ',';
  if (listed < *count) *count = listed;
  return TN_OK;
}

static pid_t counted;

static tn_status count_spoils(void *self, int *count)
{
  if (!counted) counted = getpid();
  return liar_base.device.count(self, count);
}

static tn_status open_unless_spoilt(void *self, int ordinal,
                                    tn_backend_device **device)
{
  if (counted && counted != getpid())
    return liar_host->error(TN_DEVICE_UNAVAILABLE, "opened elsewhere");
  return liar_base.device.open(self, ordinal, device);
}

static tn_status (*honest_info)(void *, int, tn_backend_device_info *);

static tn_status info_other_uuid(void *self, int ordinal,
                                 tn_backend_device_info *info)
{
  static atomic_uchar calls;
  tn_status status = honest_info(self, ordinal, info);
  if (status == TN_OK) info->uuid[15] = ++calls;
  return status;
}

static tn_status info_one_uuid(void *self, int ordinal,
                               tn_backend_device_info *info)
{
  tn_status status = honest_info(self, ordinal, info);
  if (status == TN_OK) memset(info->uuid, 7, sizeof info->uuid);
  return status;
}

static tn_status info_two_lines(void *self, int ordinal,
                                tn_backend_device_info *info)
{
  tn_status status = honest_info(self, ordinal, info);
  if (status == TN_OK) memcpy(info->name, "A\nB", 4);
  return status;
}

static tn_status info_memory(void *self, int ordinal,
                             tn_backend_device_info *info)
{
  tn_status status = honest_info(self, ordinal, info);
  if (status == TN_OK) info->memory_total /= 2;
  return status;
}

static tn_status info_host_access(void *self, int ordinal,
                                  tn_backend_device_info *info)
{
  tn_status status = honest_info(self, ordinal, info);
  if (status == TN_OK) info->capabilities |= TN_CAP_HOST_ACCESS;
  return status;
}

static tn_status info_inline(void *self, int ordinal,
                             tn_backend_device_info *info)
{
  tn_status status = honest_info(self, ordinal, info);
  if (status == TN_OK) info->capabilities |= TN_CAP_INLINE_DEFAULT;
  return status;
}

static tn_status info_double(void *self, int ordinal,
                             tn_backend_device_info *info)
{
  tn_status status = honest_info(self, ordinal, info);
  if (status == TN_OK) info->capabilities |= TN_CAP_F64;
  return status;
}

static tn_status fork_survived(void *self)
{
  (void)self;
  return TN_OK;
}

static void shutdown_dies(void *self)
{
  (void)self;
  abort();
}

static void shutdown_hangs(void *self)
{
  (void)self;
  for (;;) pause();
}

/* The device belongs to the thread that opened it. */
static _Thread_local bool is_opener;

static tn_status open_bound(void *self, int ordinal,
                            tn_backend_device **device)
{
  is_opener = true;
  return liar_base.device.open(self, ordinal, device);
}

static tn_status copy_bound(tn_backend_stream *stream,
                            tn_backend_device *device,
                            const tn_copy_desc *desc)
{
  if (!is_opener)
    return liar_host->error(TN_DEVICE_UNAVAILABLE, "no context is bound");
  return liar_base.copy.copy(stream, device, desc);
}

static void lie_count_more(void) { liar_own.device.count = count_more; }
static void lie_count_masked(void) { liar_own.device.count = count_masked; }

static void lie_count_spoils(void)
{
  liar_own.device.count = count_spoils;
  liar_own.device.open = open_unless_spoilt;
}

static void lie_info(tn_status (*entry)(void *, int,
                                        tn_backend_device_info *))
{
  honest_info = liar_own.device.info;
  liar_own.device.info = entry;
}

static void lie_uuid_changes(void) { lie_info(info_other_uuid); }
static void lie_uuid_shared(void) { lie_info(info_one_uuid); }
static void lie_name_two_lines(void) { lie_info(info_two_lines); }
static void lie_memory_total(void) { lie_info(info_memory); }
static void lie_host_access(void) { lie_info(info_host_access); }
static void lie_inline(void) { lie_info(info_inline); }
static void lie_double(void) { lie_info(info_double); }
static void lie_fork(void) { liar_own.device.after_fork = fork_survived; }

static void lie_shutdown_dies(void)
{
  liar_own.device.shutdown = shutdown_dies;
}

static void lie_shutdown_hangs(void)
{
  liar_own.device.shutdown = shutdown_hangs;
}

static void lie_bound(void)
{
  liar_own.device.open = open_bound;
  liar_own.copy.copy = copy_bound;
}

const liar_lie liar_device_lies[] = {
  { "count_more", lie_count_more },
  { "count_masked", lie_count_masked },
  { "count_spoils_fork", lie_count_spoils },
  { "uuid_changes", lie_uuid_changes },
  { "uuid_shared", lie_uuid_shared },
  { "name_two_lines", lie_name_two_lines },
  { "memory_total", lie_memory_total },
  { "host_access", lie_host_access },
  { "inline_default", lie_inline },
  { "double", lie_double },
  { "fork_survived", lie_fork },
  { "shutdown_dies", lie_shutdown_dies },
  { "shutdown_hangs", lie_shutdown_hangs },
  { "thread_bound", lie_bound },
  { NULL, NULL },
};
