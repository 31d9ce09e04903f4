/* The double of NVIDIA's management library, as far as the cuda backend asks
 * it: a libnvidia-ml.so.1 that shows the boards of the driver double, by place
 * and whatever CUDA_VISIBLE_DEVICES says. */
#include "tests/cudaemu/settings.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define EMU_PUBLIC __attribute__((visibility("default")))

enum {
  SUCCESS = 0,
  UNINITIALIZED = 1,
  INVALID_ARGUMENT = 2,
  NOT_SUPPORTED = 3,
  INSUFFICIENT_SIZE = 7,
  GPU_IS_LOST = 15,
  LIB_RM_VERSION_MISMATCH = 18
};

typedef struct nvmlDevice_st {
  int number;
} board;

typedef struct board_memory {
  unsigned long long total, unused, used;
} board_memory;

typedef struct board_place {
  char old_text[16];
  unsigned domain, bus, device, pci_device, pci_subsystem;
  char text[32];
} board_place;

static emu_settings settings;
static unsigned initialised; /* counted; atomic */
static board boards[EMU_DEVICES_MAX];

/* X(name, parameters) */
#define CALLS(X) \
  X(nvmlInit_v2, (void)) \
  X(nvmlShutdown, (void)) \
  X(nvmlDeviceGetCount_v2, (unsigned *count)) \
  X(nvmlDeviceGetHandleByIndex_v2, (unsigned index, board **handle)) \
  X(nvmlDeviceGetUUID, (const board *handle, char *text, unsigned size)) \
  X(nvmlDeviceGetName, (const board *handle, char *text, unsigned size)) \
  X(nvmlDeviceGetMemoryInfo, (const board *handle, board_memory *memory)) \
  X(nvmlDeviceGetPciInfo_v3, (const board *handle, board_place *place)) \
  X(nvmlDeviceGetCudaComputeCapability, \
    (const board *handle, int *major, int *minor)) \
  X(nvmlDeviceGetComputeMode, (const board *handle, unsigned *mode)) \
  X(nvmlDeviceGetNumGpuCores, (const board *handle, unsigned *cores)) \
  X(nvmlDeviceGetMigMode, \
    (const board *handle, unsigned *now, unsigned *later))
#define DECLARE(name, parameters) EMU_PUBLIC int name parameters;
CALLS(DECLARE)
#undef DECLARE

static void begin(void)
{
  emu_settings_read(&settings);
  for (int i = 0; i < EMU_DEVICES_MAX; i++) boards[i].number = i;
}

static int leave(const char *name, int code)
{
  if (settings.trace) fprintf(stderr, "EMULATED: %s: %d\n", name, code);
  return code;
}
#define LEAVE(code) leave(__func__, code)

static int shown(void)
{
  int count = settings.devices;
  return settings.nvml == EMU_NVML_FEWER && count ? count - 1 : count;
}

static int check(const board *handle)
{
  if (!__atomic_load_n(&initialised, __ATOMIC_ACQUIRE)) return UNINITIALIZED;
  ptrdiff_t at = handle - boards;
  if (!handle || at < 0 || at >= shown()) return INVALID_ARGUMENT;
  return settings.nvml == EMU_NVML_LOST && at == shown() - 1 ? GPU_IS_LOST
                                                             : SUCCESS;
}

int nvmlInit_v2(void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, begin);
  if (settings.nvml == EMU_NVML_MISMATCH)
    return LEAVE(LIB_RM_VERSION_MISMATCH);
  __atomic_add_fetch(&initialised, 1, __ATOMIC_ACQ_REL);
  return LEAVE(SUCCESS);
}

int nvmlShutdown(void)
{
  if (!__atomic_load_n(&initialised, __ATOMIC_ACQUIRE))
    return LEAVE(UNINITIALIZED);
  __atomic_sub_fetch(&initialised, 1, __ATOMIC_ACQ_REL);
  return LEAVE(SUCCESS);
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
  if (!__atomic_load_n(&initialised, __ATOMIC_ACQUIRE))
    return LEAVE(UNINITIALIZED);
  if (!count) return LEAVE(INVALID_ARGUMENT);
  *count = (unsigned)shown();
  return LEAVE(SUCCESS);
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, board **handle)
{
  if (!__atomic_load_n(&initialised, __ATOMIC_ACQUIRE))
    return LEAVE(UNINITIALIZED);
  if (!handle || index >= (unsigned)shown()) return LEAVE(INVALID_ARGUMENT);
  int code = check(boards + index);
  if (!code) *handle = boards + index;
  return LEAVE(code);
}

static int give_text(const char *from, char *to, unsigned size)
{
  if (!to) return INVALID_ARGUMENT;
  if (strlen(from) >= size) return INSUFFICIENT_SIZE;
  memcpy(to, from, strlen(from) + 1);
  return SUCCESS;
}

int nvmlDeviceGetUUID(const board *handle, char *text, unsigned size)
{
  char uuid[41];
  int code = check(handle);
  if (code) return LEAVE(code);
  emu_board_uuid_text(handle->number, uuid);
  return LEAVE(give_text(uuid, text, size));
}

int nvmlDeviceGetName(const board *handle, char *text, unsigned size)
{
  char name[64];
  int code = check(handle);
  if (code) return LEAVE(code);
  emu_board_name(&settings, handle->number, name, sizeof name);
  return LEAVE(give_text(name, text, size));
}

int nvmlDeviceGetMemoryInfo(const board *handle, board_memory *memory)
{
  int code = check(handle);
  if (code || !memory) return LEAVE(code ? code : INVALID_ARGUMENT);
  *memory = (board_memory){ .total = settings.memory,
                            .unused = settings.memory };
  return LEAVE(SUCCESS);
}

int nvmlDeviceGetPciInfo_v3(const board *handle, board_place *place)
{
  int code = check(handle);
  if (code || !place) return LEAVE(code ? code : INVALID_ARGUMENT);
  *place = (board_place){ .domain = EMU_BOARD_DOMAIN,
                          .bus = (unsigned)emu_board_bus(handle->number) };
  snprintf(place->text, sizeof place->text, "%08X:%02X:00.0",
           EMU_BOARD_DOMAIN, place->bus);
  return LEAVE(SUCCESS);
}

int nvmlDeviceGetCudaComputeCapability(const board *handle, int *major,
                                       int *minor)
{
  int code = check(handle);
  if (code || !major || !minor) return LEAVE(code ? code : INVALID_ARGUMENT);
  *major = settings.capability / 10;
  *minor = settings.capability % 10;
  return LEAVE(SUCCESS);
}

int nvmlDeviceGetComputeMode(const board *handle, unsigned *mode)
{
  int code = check(handle);
  if (code || !mode) return LEAVE(code ? code : INVALID_ARGUMENT);
  *mode = 0;
  return LEAVE(SUCCESS);
}

int nvmlDeviceGetNumGpuCores(const board *handle, unsigned *cores)
{
  int code = check(handle);
  if (code || !cores) return LEAVE(code ? code : INVALID_ARGUMENT);
  if (settings.nvml == EMU_NVML_OLD) return LEAVE(NOT_SUPPORTED);
  bool is_narrow = settings.capability <= 80;
  *cores = (unsigned)emu_board_units() * (is_narrow ? 64 : 128);
  return LEAVE(SUCCESS);
}

int nvmlDeviceGetMigMode(const board *handle, unsigned *now, unsigned *later)
{
  int code = check(handle);
  if (code || !now || !later) return LEAVE(code ? code : INVALID_ARGUMENT);
  if (settings.nvml != EMU_NVML_DIVIDED) return LEAVE(NOT_SUPPORTED);
  *now = *later = handle->number == 0;
  return LEAVE(SUCCESS);
}
