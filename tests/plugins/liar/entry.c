#include "config.h"

#include "tests/plugins/liar/liar.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

const tn_host_api *liar_host;
liar_tables liar_base, liar_own;

static tn_backend_api api;

/* Everything goes by the plugin's own entries. */
static tn_status plain_info(void *self, int ordinal,
                            tn_backend_device_info *info)
{
  tn_status status = liar_base.device.info(self, ordinal, info);
  if (status == TN_OK)
    info->capabilities &= ~(TN_CAP_HOST_ACCESS | TN_CAP_INLINE_DEFAULT);
  return status;
}

static const liar_lie *find(const char *name)
{
  static const liar_lie *const files[] = {
    liar_device_lies, liar_memory_lies, liar_copy_lies, liar_launch_lies,
    liar_stream_lies, liar_point_lies, liar_capture_lies, liar_graph_lies,
    liar_update_lies,
  };
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    for (const liar_lie *lie = files[i]; lie->name; lie++)
      if (strcmp(lie->name, name) == 0) return lie;
  return NULL;
}

static void copy_table(void *to, size_t size, const void *from)
{
  size_t has = from ? *(const size_t *)from : 0;
  memcpy(to, from, has < size ? has : size);
  *(size_t *)to = size;
}

/* remote fails by itself, in its graphs too. */
static void pass_failures_on(const char *path)
{
  const char *list = getenv("TENON_LIAR_FAIL");
  if (list && path && strstr(path, "tenon-remote"))
    setenv("TENON_REMOTE_FAIL", list, 1);
}

static const tn_backend_api *load(const tn_host_api *host)
{
  const char *path = getenv("TN_LIAR_BASE");
  pass_failures_on(path);
  void *plugin = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
  tn_backend_entry_function entry = NULL;
  if (plugin) *(void **)&entry = dlsym(plugin, TN_BACKEND_ENTRY_NAME);
  if (entry) return entry(host, NULL);
  host->error(TN_DEVICE_UNAVAILABLE, "TN_LIAR_BASE: %s", dlerror());
  return NULL;
}

static void wrap(const tn_backend_api *base)
{
  copy_table(&liar_base.device, sizeof liar_base.device, base->device);
  copy_table(&liar_base.alloc, sizeof liar_base.alloc, base->alloc);
  copy_table(&liar_base.copy, sizeof liar_base.copy, base->copy);
  copy_table(&liar_base.launch, sizeof liar_base.launch, base->launch);
  copy_table(&liar_base.stream, sizeof liar_base.stream, base->stream);
  copy_table(&liar_base.graph, sizeof liar_base.graph, base->graph);
  liar_own = liar_base;
  liar_own.device.info = plain_info;
  api = *base;
  api.name = "liar";
  api.rank = -1;
  api.device = &liar_own.device;
  api.alloc = &liar_own.alloc;
  api.copy = &liar_own.copy;
  api.launch = &liar_own.launch;
  api.stream = &liar_own.stream;
  api.graph = base->graph ? &liar_own.graph : NULL;
}

/* No lie: what is absent is absent. */
static void leave_out(const char *what)
{
  if (strcmp(what, "launch") == 0) api.launch = NULL;
  else if (strcmp(what, "graph") == 0) api.graph = NULL;
  else if (strcmp(what, "capture_after") == 0)
    liar_own.graph.capture_after = NULL;
  else if (strcmp(what, "update") == 0) liar_own.graph.update = NULL;
  else if (strcmp(what, "captured_fills") == 0) liar_refuse_captured_fills();
}

const tn_backend_api *tn_backend_entry(const tn_host_api *host,
                                       const tn_backend_api *next)
{
  (void)next;
  liar_host = host;
  const tn_backend_api *base = load(host);
  if (!base) return NULL;
  wrap(base);
  if (!getenv("TENON_REMOTE_FAIL") && liar_fail_init()) api.graph = NULL;
  const char *without = getenv("TN_LIAR_WITHOUT");
  if (without) leave_out(without);
  const char *name = getenv("TN_LIE");
  const liar_lie *lie = name && *name ? find(name) : NULL;
  if (lie) lie->apply();
  if (lie || !name || !*name) return &api;
  host->error(TN_INVALID_ARGUMENT, "TN_LIE=%s is no lie", name);
  return NULL;
}
