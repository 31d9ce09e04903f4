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
    liar_stream_lies, liar_point_lies,
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

static const tn_backend_api *load(const tn_host_api *host)
{
  const char *path = getenv("TN_LIAR_BASE");
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
  /* No lie: what is absent is absent. */
  const char *without = getenv("TN_LIAR_WITHOUT");
  if (without && strcmp(without, "launch") == 0) api.launch = NULL;
}

const tn_backend_api *tn_backend_entry(const tn_host_api *host,
                                       const tn_backend_api *next)
{
  (void)next;
  liar_host = host;
  const tn_backend_api *base = load(host);
  if (!base) return NULL;
  wrap(base);
  liar_fail_init();
  const char *name = getenv("TN_LIE");
  const liar_lie *lie = name && *name ? find(name) : NULL;
  if (lie) lie->apply();
  if (lie || !name || !*name) return &api;
  host->error(TN_INVALID_ARGUMENT, "TN_LIE=%s is no lie", name);
  return NULL;
}
