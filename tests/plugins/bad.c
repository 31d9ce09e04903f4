/* Plugins that break the plugin interface, each in one way. The way is the
 * file's name: the same library, copied as tenon-missing_entries.so, lacks
 * entries. As tenon-good.so it is sound. */
#include "config.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tenon/backend.h"

static char name[TN_BACKEND_NAME_SIZE];

static int is_called(const char *wanted)
{
  return strcmp(name, wanted) == 0;
}

static tn_status count(void *self, int *result)
{
  (void)self;
  *result = is_called("too_many") ? TN_BACKEND_DEVICES_MAX + 1 : 1;
  return TN_OK;
}

static tn_status info(void *self, int ordinal, tn_backend_device_info *facts)
{
  (void)self, (void)ordinal;
  facts->alignment = is_called("odd_alignment") ? 384 : 256;
  return TN_OK;
}

static tn_status open_device(void *self, int ordinal,
                             tn_backend_device **device)
{
  (void)self, (void)ordinal;
  *device = (tn_backend_device *)(void *)name;
  return is_called("open_fails") ? TN_OUT_OF_MEMORY : TN_OK;
}

static void close_device(tn_backend_device *device) { (void)device; }

static tn_status allocate(tn_backend_device *device,
                          const tn_alloc_desc *desc, tn_address *address)
{
  (void)device, (void)desc, (void)address;
  return TN_OUT_OF_MEMORY;
}

static void release(tn_backend_device *device, const tn_alloc_desc *desc,
                    tn_address address)
{
  (void)device, (void)desc, (void)address;
}

static tn_status copy(tn_backend_stream *stream, tn_backend_device *device,
                      const tn_copy_desc *desc)
{
  (void)stream, (void)device, (void)desc;
  return TN_UNSUPPORTED;
}

static tn_status peer(tn_backend_device *device, tn_backend_device *other)
{
  (void)device, (void)other;
  return TN_OK;
}

static tn_backend_device_table device_table = {
  .struct_size = sizeof device_table,
  .count = count,
  .info = info,
  .open = open_device,
  .close = close_device,
};

static tn_backend_alloc_table alloc_table = {
  .struct_size = sizeof alloc_table,
  .alloc = allocate,
  .free = release,
};

static tn_backend_copy_table copy_table = {
  .struct_size = sizeof copy_table,
  .copy = copy,
};

static tn_backend_api api = {
  .struct_size = sizeof api,
  .abi_major = TN_BACKEND_ABI_MAJOR,
  .abi_minor = TN_BACKEND_ABI_MINOR,
  .name = name,
  .version = "1",
  .rank = -1,
  .device = &device_table,
  .alloc = &alloc_table,
  .copy = &copy_table,
};

static void find_name(void)
{
  Dl_info facts;
  if (!dladdr(&api, &facts)) abort();
  const char *start = strstr(strrchr(facts.dli_fname, '/'), "tenon-");
  if (!start) abort();
  snprintf(name, sizeof name, "%.*s", (int)strcspn(start + 6, "."),
           start + 6);
}

static void lose_entries(void)
{
  device_table.open = NULL;
  alloc_table.free = NULL;
  copy_table.peer_enable = peer;
  api.alloc = &alloc_table;
  api.device = &device_table;
}

static void break_versions(void)
{
  if (is_called("other_major")) api.abi_major = TN_BACKEND_ABI_MAJOR + 7;
  if (is_called("newer_minor")) api.abi_minor = TN_BACKEND_ABI_MINOR + 1;
  if (is_called("older_minor")) api.abi_minor = 0;
}

static void break_names(void)
{
  if (is_called("no_name")) api.name = NULL;
  if (is_called("illegal_name")) api.name = "Bad-Name9";
  if (is_called("other_name")) api.name = "somebody_else";
}

static void break_sizes(void)
{
  if (is_called("zero_size")) api.struct_size = 0;
  if (is_called("huge_size")) api.struct_size = (size_t)-8;
  if (is_called("odd_size")) device_table.struct_size = 13;
  if (is_called("huge_table")) copy_table.struct_size = (size_t)1 << 40;
  if (is_called("no_tables"))
    api.struct_size = offsetof(tn_backend_api, alloc);
  if (is_called("short_api"))
    api.struct_size = offsetof(tn_backend_api, launch);
  /* What comes after is as an older version left it: anything. */
  if (is_called("short_table")) {
    device_table.struct_size = offsetof(tn_backend_device_table, shutdown);
    memset((char *)&device_table + device_table.struct_size, 0x5a,
           sizeof device_table - device_table.struct_size);
  }
}

static void break_entries(void)
{
  if (is_called("missing_entries")) lose_entries();
  if (is_called("missing_table")) api.copy = NULL;
  if (is_called("half_group")) copy_table.peer_enable = peer;
}

/* As backends do that open their vendor's library themselves. */
static const tn_backend_api *refuse(const tn_host_api *host)
{
  if (is_called("vendor_missing")) {
    if (dlopen("libtn_no_such_vendor.so.1", RTLD_NOW)) abort();
    host->error(TN_DEVICE_UNAVAILABLE,
                "libtn_no_such_vendor.so.1 is not installed");
  }
  if (is_called("init_fails"))
    host->error(TN_DEVICE_LOST, "the device\nis on fire");
  return NULL;
}

const tn_backend_api *tn_backend_entry(const tn_host_api *host,
                                       const tn_backend_api *next)
{
  (void)next;
  find_name();
  break_versions();
  break_names();
  break_sizes();
  break_entries();
  if (is_called("misaligned"))
    return (const tn_backend_api *)(const void *)((const char *)&api + 1);
  if (is_called("init_fails") || is_called("init_silent") ||
      is_called("vendor_missing"))
    return refuse(host);
  return &api;
}
