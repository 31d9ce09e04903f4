#include "config.h"

#include "backends/cuda/nvml.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "tenon/backend.h"

#define LIBRARY "libnvidia-ml.so.1"

typedef struct nvml_device *nvml_handle;

typedef struct nvml_memory {
  unsigned long long total, unused, used;
} nvml_memory;

/* nvmlPciInfo_t of nvmlDeviceGetPciInfo_v3 */
typedef struct nvml_pci {
  char old_text[16];
  unsigned domain, bus, device, pci_device, pci_subsystem;
  char text[32];
} nvml_pci;

_Static_assert(sizeof(nvml_memory) == 24 && sizeof(nvml_pci) == 68,
               "sizes of nvml.h");

/* X(member, name, required, (parameters)) */
#define CALLS(X) \
  X(init, "nvmlInit_v2", true, (void)) \
  X(shutdown, "nvmlShutdown", true, (void)) \
  X(get_count, "nvmlDeviceGetCount_v2", true, (unsigned *count)) \
  X(get_handle, "nvmlDeviceGetHandleByIndex_v2", true, \
    (unsigned index, nvml_handle *handle)) \
  X(get_uuid, "nvmlDeviceGetUUID", true, \
    (nvml_handle handle, char *uuid, unsigned size)) \
  X(get_name, "nvmlDeviceGetName", true, \
    (nvml_handle handle, char *name, unsigned size)) \
  X(get_memory, "nvmlDeviceGetMemoryInfo", true, \
    (nvml_handle handle, nvml_memory *memory)) \
  X(get_pci, "nvmlDeviceGetPciInfo_v3", true, \
    (nvml_handle handle, nvml_pci *pci)) \
  X(get_capability, "nvmlDeviceGetCudaComputeCapability", true, \
    (nvml_handle handle, int *major, int *minor)) \
  X(get_compute_mode, "nvmlDeviceGetComputeMode", true, \
    (nvml_handle handle, unsigned *mode)) \
  X(get_cores, "nvmlDeviceGetNumGpuCores", false, \
    (nvml_handle handle, unsigned *cores)) \
  X(get_mig_mode, "nvmlDeviceGetMigMode", false, \
    (nvml_handle handle, unsigned *now, unsigned *later))

typedef struct nvml_calls {
#define MEMBER(member, name, required, parameters) int(*member) parameters;
  CALLS(MEMBER)
#undef MEMBER
} nvml_calls;

static bool find_calls(void *library, nvml_calls *calls)
{
  const struct {
    const char *name;
    void *slot;
    bool required;
  } entries[] = {
#define ENTRY(member, name, required, parameters) \
  { name, &calls->member, required },
    CALLS(ENTRY)
#undef ENTRY
  };
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
    void *symbol = dlsym(library, entries[i].name);
    if (!symbol && entries[i].required) return false;
    *(void **)entries[i].slot = symbol;
  }
  return true;
}

/* Older libraries, and some boards, do not know. */
static void read_optional(const nvml_calls *calls, nvml_handle handle,
                          tn_cuda_board *board, bool *is_divided)
{
  unsigned now = 0, later = 0;
  *is_divided = calls->get_mig_mode &&
                calls->get_mig_mode(handle, &now, &later) == 0 && now;
  if (calls->get_cores && calls->get_cores(handle, &board->cores) != 0)
    board->cores = 0;
}

static bool read_board(const nvml_calls *calls, unsigned index,
                       tn_cuda_board *board)
{
  nvml_handle handle = NULL;
  nvml_memory memory = { 0, 0, 0 };
  nvml_pci pci = { .domain = 0 };
  int major = 0, minor = 0;
  bool is_divided = false;
  if (calls->get_handle(index, &handle) ||
      calls->get_uuid(handle, board->uuid, sizeof board->uuid) ||
      calls->get_name(handle, board->name, sizeof board->name) ||
      calls->get_memory(handle, &memory) || calls->get_pci(handle, &pci) ||
      calls->get_capability(handle, &major, &minor) ||
      calls->get_compute_mode(handle, &board->compute_mode))
    return false;
  board->name[sizeof board->name - 1] = '\0';
  board->uuid[sizeof board->uuid - 1] = '\0';
  board->memory = memory.total;
  board->domain = pci.domain;
  board->bus = pci.bus;
  board->slot = pci.device;
  board->capability = (uint32_t)(major * 10 + minor);
  read_optional(calls, handle, board, &is_divided);
  return !is_divided;
}

static int compare_places(const void *a, const void *b)
{
  const tn_cuda_board *one = a, *other = b;
  if (one->domain != other->domain)
    return one->domain < other->domain ? -1 : 1;
  if (one->bus != other->bus) return one->bus < other->bus ? -1 : 1;
  return one->slot < other->slot ? -1 : one->slot > other->slot;
}

static tn_cuda_boards *read_boards(const nvml_calls *calls)
{
  unsigned count = 0;
  if (calls->get_count(&count) || count > TN_BACKEND_DEVICES_MAX) return NULL;
  tn_cuda_boards *boards =
      calloc(1, sizeof *boards + count * sizeof *boards->list);
  if (!boards) return NULL;
  boards->count = (int)count;
  for (unsigned i = 0; i < count; i++)
    if (!read_board(calls, i, boards->list + i)) {
      free(boards);
      return NULL;
    }
  qsort(boards->list, count, sizeof *boards->list, compare_places);
  return boards;
}

tn_cuda_boards *tn_cuda_boards_find(void)
{
  void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (!library) return NULL;
  nvml_calls calls = { 0 };
  tn_cuda_boards *boards = NULL;
  if (find_calls(library, &calls) && calls.init() == 0) {
    boards = read_boards(&calls);
    calls.shutdown();
  }
  dlclose(library);
  return boards;
}
