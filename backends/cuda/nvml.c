#include "config.h"

#include "backends/cuda/nvml.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "tenon/backend.h"

#define LIBRARY "libnvidia-ml.so.1"

typedef struct nvml_device *nvml_handle;

typedef struct nvml_calls {
  int (*init)(void);
  int (*shutdown)(void);
  int (*get_count)(unsigned *count);
  int (*get_handle)(unsigned index, nvml_handle *handle);
  int (*get_uuid)(nvml_handle handle, char *uuid, unsigned size);
  int (*get_mig_mode)(nvml_handle handle, unsigned *now, unsigned *later);
} nvml_calls;

static bool find_calls(void *library, nvml_calls *calls)
{
  const struct {
    const char *name;
    void *slot;
    bool required;
  } entries[] = {
    { "nvmlInit_v2", &calls->init, true },
    { "nvmlShutdown", &calls->shutdown, true },
    { "nvmlDeviceGetCount_v2", &calls->get_count, true },
    { "nvmlDeviceGetHandleByIndex_v2", &calls->get_handle, true },
    { "nvmlDeviceGetUUID", &calls->get_uuid, true },
    { "nvmlDeviceGetMigMode", &calls->get_mig_mode, false },
  };
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
    void *symbol = dlsym(library, entries[i].name);
    if (!symbol && entries[i].required) return false;
    *(void **)entries[i].slot = symbol;
  }
  return true;
}

static bool read_board(const nvml_calls *calls, unsigned index,
                       char uuid[TN_NVML_UUID_SIZE])
{
  nvml_handle handle = NULL;
  unsigned now = 0, later = 0;
  if (calls->get_handle(index, &handle) ||
      calls->get_uuid(handle, uuid, TN_NVML_UUID_SIZE))
    return false;
  /* Boards that cannot be divided answer an error. */
  bool is_divided = calls->get_mig_mode &&
                    calls->get_mig_mode(handle, &now, &later) == 0 && now;
  return !is_divided;
}

static tn_cuda_boards *read_boards(const nvml_calls *calls)
{
  unsigned count = 0;
  if (calls->get_count(&count) || count > TN_BACKEND_DEVICES_MAX) return NULL;
  tn_cuda_boards *boards =
      calloc(1, sizeof *boards + count * sizeof *boards->uuids);
  if (!boards) return NULL;
  boards->count = (int)count;
  for (unsigned i = 0; i < count; i++)
    if (!read_board(calls, i, boards->uuids[i])) {
      free(boards);
      return NULL;
    }
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
