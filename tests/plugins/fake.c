/* A backend without hardware, for tests of the core: devices as many as
 * TENON_FAKE_DEVICES says (2), minimal tables, no streams and no kernels. It
 * is called as its file is, so that copies of it are different backends.
 *
 *   TENON_FAKE_UUIDS=aa,ab1   beginnings of the devices' uuids
 *   TENON_FAKE_UNAVAILABLE=1  ordinal of a device that cannot be used
 *   TENON_FAKE_HOST_CORES=1   devices compute on the host's cores
 *   TENON_FAKE_RANK=NAME:5    its rank for "auto", if it is called NAME (1)
 *   TENON_FAKE_COUNT=text     counting fails with this text
 *   TENON_FAKE_LOST=1         asking for peers fails with TN_DEVICE_LOST
 *   TENON_FAKE_SAYS=text      logs the text, at level debug, in its entry
 *   TENON_FAKE_LOG=file       appends a line for each call that matters
 *   TENON_FAKE_CALLERS=1      and for allocations and copies the file that
 *                             called
 */
#include "config.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tenon/backend.h"

struct tn_backend_device {
  int ordinal;
  uint64_t generation;
};

static const tn_host_api *host;
static char name[TN_BACKEND_NAME_SIZE];

static const char *setting(const char *what)
{
  char variable[64];
  snprintf(variable, sizeof variable, "TENON_FAKE_%s", what);
  return host->environment(variable);
}

static void record(const char *call, int ordinal)
{
  const char *path = setting("LOG");
  if (!path) return;
  char line[96];
  int size = ordinal < 0
      ? snprintf(line, sizeof line, "%s %s\n", name, call)
      : snprintf(line, sizeof line, "%s %s %d\n", name, call, ordinal);
  int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0 || write(fd, line, (size_t)size) != size) abort();
  close(fd);
}

static void record_caller(const char *entry, void *place)
{
  Dl_info caller;
  char call[64];
  if (!setting("CALLERS") || !dladdr(place, &caller)) return;
  const char *slash = strrchr(caller.dli_fname, '/');
  snprintf(call, sizeof call, "%s by %s", entry,
           slash ? slash + 1 : caller.dli_fname);
  record(call, -1);
}

/* device ---------------------------------------------------------------- */

static tn_status count(void *self, int *result)
{
  (void)self;
  const char *failure = setting("COUNT"), *text = setting("DEVICES");
  if (failure) return host->error(TN_DEVICE_UNAVAILABLE, "%s", failure);
  *result = text ? atoi(text) : 2;
  return TN_OK;
}

/* The ordinal's part of TENON_FAKE_UUIDS, two digits a byte; without it the
 * ordinal + 1 in the last byte. */
static void write_uuid(int ordinal, uint8_t uuid[16])
{
  const char *list = setting("UUIDS");
  memset(uuid, 0, 16);
  uuid[15] = (uint8_t)(ordinal + 1);
  for (int i = 0; list && i < ordinal; i++) {
    list = strchr(list, ',');
    if (list) list++;
  }
  for (int i = 0; list && i < 30 && *list && *list != ','; i++, list++) {
    const char digit[2] = { *list, 0 };
    uuid[i / 2] |= (uint8_t)(strtoul(digit, NULL, 16) << (i % 2 ? 0 : 4));
  }
}

static tn_status info(void *self, int ordinal, tn_backend_device_info *facts)
{
  (void)self;
  const char *broken = setting("UNAVAILABLE");
  facts->capabilities = TN_CAP_HOST_ACCESS | TN_CAP_F64;
  if (setting("HOST_CORES")) facts->capabilities |= TN_CAP_HOST_CORES;
  facts->numa_node = -1;
  snprintf(facts->name, sizeof facts->name, "fake device %d", ordinal);
  snprintf(facts->driver, sizeof facts->driver, "no driver");
  if (broken && atoi(broken) == ordinal)
    snprintf(facts->unavailable, sizeof facts->unavailable,
             "device %d is out for repair", ordinal);
  facts->memory_total = UINT64_C(1) << 30;
  facts->compute_units = 1;
  facts->max_group_size = 1;
  facts->alignment = 256;
  write_uuid(ordinal, facts->uuid);
  return TN_OK;
}

static tn_status open_device(void *self, int ordinal,
                             tn_backend_device **device)
{
  (void)self;
  record("open", ordinal);
  *device = malloc(sizeof **device);
  if (!*device) return host->error(TN_OUT_OF_MEMORY, "no memory");
  **device = (tn_backend_device){ ordinal, 1 };
  return TN_OK;
}

static void close_device(tn_backend_device *device)
{
  record("close", device->ordinal);
  free(device);
}

static void end(void *self)
{
  (void)self;
  record("shutdown", -1);
}

static tn_status reset(tn_backend_device *device, uint64_t *generation)
{
  record("reset", device->ordinal);
  *generation = ++device->generation;
  return TN_OK;
}

static tn_status native_handle(tn_backend_device *device, tn_native_kind kind,
                               const void *object, void **native)
{
  (void)object;
  if (kind != TN_NATIVE_DEVICE)
    return host->error(TN_UNSUPPORTED, "no handle of kind %d", (int)kind);
  *native = device;
  return TN_OK;
}

static const tn_backend_device_table device_table = {
  .struct_size = sizeof device_table,
  .count = count,
  .info = info,
  .open = open_device,
  .close = close_device,
  .shutdown = end,
  .reset = reset,
  .native_handle = native_handle,
};

/* alloc, copy ----------------------------------------------------------- */

static tn_status allocate(tn_backend_device *device,
                          const tn_alloc_desc *desc, tn_address *address)
{
  (void)device;
  record_caller("alloc", __builtin_return_address(0));
  if (desc->kind != TN_MEMORY_DEVICE)
    return host->error(TN_UNSUPPORTED, "no memory of kind %d", desc->kind);
  void *memory = NULL;
  if (desc->bytes > (UINT64_C(1) << 30) ||
      posix_memalign(&memory, 256, desc->bytes) != 0)
    return host->error(TN_OUT_OF_MEMORY, "no memory");
  *address = (uintptr_t)memory;
  return TN_OK;
}

static void release(tn_backend_device *device, const tn_alloc_desc *desc,
                    tn_address address)
{
  (void)device, (void)desc;
  free((void *)(uintptr_t)address);
}

static const tn_backend_alloc_table alloc_table = {
  .struct_size = sizeof alloc_table,
  .alloc = allocate,
  .free = release,
};

static tn_status copy(tn_backend_stream *stream, tn_backend_device *device,
                      const tn_copy_desc *desc)
{
  (void)stream, (void)device;
  record_caller("copy", __builtin_return_address(0));
  if (desc->rows != 1 || desc->depth != 1)
    return host->error(TN_UNSUPPORTED, "plain copies only");
  memcpy((void *)(uintptr_t)desc->dst, (const void *)(uintptr_t)desc->src,
         desc->row_bytes);
  return TN_OK;
}

/* Neighbours reach each other. */
static tn_status peer_query(tn_backend_device *device,
                            tn_backend_device *peer, int *possible)
{
  if (setting("LOST"))
    return host->error(TN_DEVICE_LOST, "device %d fell out",
                       device->ordinal);
  *possible = abs(device->ordinal - peer->ordinal) == 1;
  return TN_OK;
}

static tn_status peer_enable(tn_backend_device *device,
                             tn_backend_device *peer)
{
  (void)peer;
  record("peer_enable", device->ordinal);
  return TN_OK;
}

static tn_status peer_disable(tn_backend_device *device,
                              tn_backend_device *peer)
{
  (void)peer;
  record("peer_disable", device->ordinal);
  return TN_OK;
}

static const tn_backend_copy_table copy_table = {
  .struct_size = sizeof copy_table,
  .copy = copy,
  .peer_query = peer_query,
  .peer_enable = peer_enable,
  .peer_disable = peer_disable,
};

/* entry ----------------------------------------------------------------- */

static tn_backend_api api = {
  .struct_size = sizeof api,
  .abi_major = TN_BACKEND_ABI_MAJOR,
  .abi_minor = TN_BACKEND_ABI_MINOR,
  .name = name,
  .version = "1.2.3",
  .rank = 1,
  .device = &device_table,
  .alloc = &alloc_table,
  .copy = &copy_table,
};

/* NAME of the file tenon-NAME.so that this code lies in. */
static void find_name(void)
{
  Dl_info facts;
  if (!dladdr(&api, &facts)) abort();
  const char *start = strstr(strrchr(facts.dli_fname, '/'), "tenon-");
  if (!start) abort();
  snprintf(name, sizeof name, "%.*s", (int)strcspn(start + 6, "."),
           start + 6);
}

static void read_rank(void)
{
  const char *text = setting("RANK");
  size_t length = strlen(name);
  if (text && strncmp(text, name, length) == 0 && text[length] == ':')
    api.rank = atoi(text + length + 1);
}

const tn_backend_api *tn_backend_entry(const tn_host_api *services,
                                       const tn_backend_api *next)
{
  (void)next;
  host = services;
  find_name();
  read_rank();
  record("entry", -1);
  if (setting("SAYS")) host->log(TN_LOG_DEBUG, "%s", setting("SAYS"));
  return &api;
}
