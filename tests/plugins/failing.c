/* See failing.h. */
#include "config.h"

#include "tests/plugins/failing.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const tn_host_api *host;
static failing_control control;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
  tn_backend_device_table device;
  tn_backend_alloc_table alloc;
  tn_backend_copy_table copy;
  tn_backend_launch_table launch;
  tn_backend_stream_table stream;
} base, own;

static bool fails(const char *entry)
{
  pthread_mutex_lock(&lock);
  bool is_meant = control.entry && strcmp(control.entry, entry) == 0;
  bool does = is_meant && (control.most < 0 || control.failed < control.most);
  control.calls += is_meant;
  control.failed += does;
  pthread_mutex_unlock(&lock);
  return does;
}

static tn_status fail(void)
{
  return host->error((tn_status)control.status, "made to fail");
}

#define FAILING_WRAP_(table, entry, parameters, arguments) \
  static tn_status failing_##table##_##entry parameters \
  { \
    if (fails(#table "." #entry)) return fail(); \
    return base.table.entry arguments; \
  }
FAILING_ENTRIES(FAILING_WRAP_)

static tn_status info_hidden(void *self, int ordinal,
                             tn_backend_device_info *info)
{
  tn_status status = failing_device_info(self, ordinal, info);
  if (status == TN_OK)
    info->capabilities &= ~(TN_CAP_HOST_ACCESS | TN_CAP_INLINE_DEFAULT);
  return status;
}

/* For plugins that have none. */
static tn_status flush_nothing(tn_backend_stream *stream)
{
  (void)stream;
  return TN_OK;
}

TN_API failing_control *failing_control_get(void);
failing_control *failing_control_get(void) { return &control; }

static void copy_table(void *to, size_t size, const void *from)
{
  size_t has = *(const size_t *)from;
  memcpy(to, from, has < size ? has : size);
  *(size_t *)to = size;
}

static void wrap(const tn_backend_api *api)
{
  copy_table(&base.device, sizeof base.device, api->device);
  copy_table(&base.alloc, sizeof base.alloc, api->alloc);
  copy_table(&base.copy, sizeof base.copy, api->copy);
  copy_table(&base.launch, sizeof base.launch, api->launch);
  copy_table(&base.stream, sizeof base.stream, api->stream);
  if (!base.stream.flush) base.stream.flush = flush_nothing;
  own = base;
#define FAILING_SET_(table, entry, parameters, arguments) \
  if (base.table.entry) own.table.entry = failing_##table##_##entry;
  FAILING_ENTRIES(FAILING_SET_)
#undef FAILING_SET_
  own.device.info = info_hidden;
}

const tn_backend_api *tn_backend_entry(const tn_host_api *host_api,
                                       const tn_backend_api *next)
{
  static tn_backend_api api;
  (void)next;
  host = host_api;
  const char *path = getenv("TN_FAILING_BASE");
  void *plugin = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
  tn_backend_entry_function entry = NULL;
  if (plugin) *(void **)&entry = dlsym(plugin, TN_BACKEND_ENTRY_NAME);
  if (!entry) {
    host->error(TN_DEVICE_UNAVAILABLE, "TN_FAILING_BASE: %s", dlerror());
    return NULL;
  }
  const tn_backend_api *honest = entry(host, NULL);
  if (!honest) return NULL;
  wrap(honest);
  api = *honest;
  api.name = "failing";
  api.rank = -1;
  api.device = &own.device;
  api.alloc = &own.alloc;
  api.copy = &own.copy;
  api.launch = &own.launch;
  api.stream = &own.stream;
  return &api;
}
