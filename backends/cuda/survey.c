/* The driver is initialised once, at the first use, and does not survive a
 * fork; until then the devices are listed without it. */
#include "config.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/cuda/describe.h"
#include "backends/cuda/listing.h"
#include "backends/cuda/survey.h"

static struct {
  pthread_mutex_t lock;
  pid_t process; /* that initialised the driver, 0: none yet; atomic */
  tn_backend_device *devices;
  int count;
  tn_listing *asked; /* by a child, with these variables */
  char *asked_list, *asked_order;
  tn_listing *told; /* what tn_cuda_info last said; NULL: nothing */
} survey = { .lock = PTHREAD_MUTEX_INITIALIZER };

static tn_status refuse_fork(void)
{
  return tn_host->error(TN_FORKED, "cuda: the driver was initialised before "
                        "fork, and does not work in a forked child");
}

static bool is_forked(void)
{
  pid_t process = __atomic_load_n(&survey.process, __ATOMIC_ACQUIRE);
  return process && process != getpid();
}

static const char *no_device(char *reason, size_t size)
{
  const char *list = tn_host->environment("CUDA_VISIBLE_DEVICES");
  if (list)
    snprintf(reason, size, "the driver shows no device "
             "(CUDA_VISIBLE_DEVICES is \"%.100s\")", list);
  else
    snprintf(reason, size, "the driver has no device");
  return reason;
}

static const char *refuse_init(CUresult code, char *reason, size_t size)
{
  char text[TN_CUDA_CODE_TEXT_SIZE];
  if (code == TN_CUDA_ERROR_NO_DEVICE) return no_device(reason, size);
  if (code == TN_CUDA_ERROR_STUB_LIBRARY) return TN_CUDA_STUB_REASON;
  snprintf(reason, size, "cuInit answered %s", tn_cuda_code_text(code, text));
  return reason;
}

/* With the lock held. NULL, or the reason. */
static const char *init_driver(char *reason, size_t size)
{
  if (survey.process) return NULL;
  const char *failure = tn_cuda_load(reason, size);
  if (failure) return failure;
  CUresult code = cu_.Init(0);
  if (code) return refuse_init(code, reason, size);
  __atomic_store_n(&survey.process, getpid(), __ATOMIC_RELEASE);
  return NULL;
}

static const char *fill_devices(int count, char *reason, size_t size)
{
  tn_backend_device *devices = calloc((size_t)count, sizeof *devices);
  if (!devices) return "no host memory to list devices";
  CUresult code = TN_CUDA_SUCCESS;
  for (int i = 0; i < count && !code; i++) {
    pthread_mutex_init(&devices[i].lock, NULL);
    code = cu_.DeviceGet(&devices[i].id, i);
    if (!code) code = tn_cuda_describe(devices + i);
  }
  if (code) {
    char text[TN_CUDA_CODE_TEXT_SIZE];
    free(devices);
    snprintf(reason, size, "asking for the devices was answered by %s",
             tn_cuda_code_text(code, text));
    return reason;
  }
  survey.devices = devices;
  survey.count = count;
  return NULL;
}

/* With the lock held. NULL, or the reason. */
static const char *fill_survey(char *reason, size_t size)
{
  int count = 0;
  if (survey.devices) return NULL;
  const char *failure = init_driver(reason, size);
  if (failure) return failure;
  CUresult code = cu_.DeviceGetCount(&count);
  if (code) return refuse_init(code, reason, size);
  if (count > TN_BACKEND_DEVICES_MAX) count = TN_BACKEND_DEVICES_MAX;
  return count ? fill_devices(count, reason, size) : no_device(reason, size);
}

tn_status tn_cuda_survey(tn_backend_device **devices, int *count)
{
  if (is_forked()) return refuse_fork();
  char reason[TN_BACKEND_TEXT_SIZE];
  pthread_mutex_lock(&survey.lock);
  const char *failure = fill_survey(reason, sizeof reason);
  *devices = survey.devices;
  *count = survey.count;
  pthread_mutex_unlock(&survey.lock);
  if (failure) return tn_host->error(TN_DEVICE_UNAVAILABLE, "%s", failure);
  return TN_OK;
}

/* In the child. */
static tn_listing *list_by_driver(char *reason, size_t size)
{
  const char *failure = fill_survey(reason, size);
  tn_listing *listing =
      failure ? NULL : tn_listing_make(survey.count);
  for (int i = 0; listing && i < survey.count; i++)
    listing->devices[i] = survey.devices[i].info;
  if (!listing && failure != reason)
    snprintf(reason, size, "%s",
             failure ? failure : "no host memory to list devices");
  return listing;
}

static bool is_same(const char *kept, const char *now)
{
  return kept && now ? strcmp(kept, now) == 0 : !kept && !now;
}

static void forget_asked(void)
{
  free(survey.asked);
  free(survey.asked_list);
  free(survey.asked_order);
  survey.asked = NULL;
  survey.asked_list = survey.asked_order = NULL;
}

/* What a child said, once for each setting of the variables. NULL, or the
 * reason why survey.asked is NULL; both NULL: the driver was initialised here
 * instead. */
static const char *ask_child(char *reason, size_t size)
{
  bool is_answered;
  const char *list = tn_host->environment("CUDA_VISIBLE_DEVICES");
  const char *order = tn_host->environment("CUDA_DEVICE_ORDER");
  if (survey.asked && is_same(survey.asked_list, list) &&
      is_same(survey.asked_order, order))
    return NULL;
  forget_asked();
  survey.asked =
      tn_listing_by_child(list_by_driver, reason, size, &is_answered);
  if (!is_answered) return fill_survey(reason, size);
  if (!survey.asked) return reason;
  survey.asked_list = list ? strdup(list) : NULL;
  survey.asked_order = order ? strdup(order) : NULL;
  return NULL;
}

/* With the lock held. NULL, or the reason. */
static const char *count_devices(int *count, char *reason, size_t size)
{
  const char *failure = tn_cuda_load(reason, size);
  if (failure) return failure;
  *count = survey.devices ? survey.count : tn_cuda_listing_count();
  if (*count > 0) return NULL;
  if (*count == 0) return no_device(reason, size);
  failure = ask_child(reason, size);
  if (!failure) *count = survey.asked ? survey.asked->count : survey.count;
  return failure;
}

tn_status tn_cuda_count(int *count)
{
  if (is_forked()) return refuse_fork();
  char reason[TN_BACKEND_TEXT_SIZE];
  int found = 0;
  pthread_mutex_lock(&survey.lock);
  const char *failure = count_devices(&found, reason, sizeof reason);
  pthread_mutex_unlock(&survey.lock);
  if (failure) return tn_host->error(TN_DEVICE_UNAVAILABLE, "%s", failure);
  *count = found;
  return TN_OK;
}

static void keep_told(tn_listing *listing)
{
  free(survey.told);
  survey.told = listing;
}

static tn_listing *copy_listing(const tn_listing *from)
{
  tn_listing *copy = tn_listing_make(from->count);
  if (copy)
    memcpy(copy->devices, from->devices,
           (size_t)from->count * sizeof *from->devices);
  return copy;
}

/* With the lock held: lists the devices in survey.told, unless the driver is
 * initialised. NULL, or the reason. */
static const char *list_devices(char *reason, size_t size)
{
  if (survey.devices) return NULL;
  const char *failure = tn_cuda_load(reason, size);
  if (failure) return failure;
  tn_listing *listing = tn_cuda_listing_by_nvml();
  if (!listing) {
    failure = ask_child(reason, size);
    if (failure || !survey.asked) return failure;
    listing = copy_listing(survey.asked);
  }
  if (!listing) return "no host memory to list devices";
  keep_told(listing);
  return listing->count ? NULL : no_device(reason, size);
}

static tn_status refuse_ordinal(int ordinal, int count)
{
  return tn_host->error(TN_NO_SUCH_DEVICE,
                        "cuda has %d device%s, counted from 0, and no "
                        "device %d", count, count == 1 ? "" : "s", ordinal);
}

tn_status tn_cuda_info(int ordinal, tn_backend_device_info *info)
{
  if (is_forked()) return refuse_fork();
  char reason[TN_BACKEND_TEXT_SIZE];
  pthread_mutex_lock(&survey.lock);
  const char *failure = list_devices(reason, sizeof reason);
  bool is_told = !failure && !survey.devices;
  int count = failure ? 0 : is_told ? survey.told->count : survey.count;
  bool is_there = ordinal >= 0 && ordinal < count;
  if (is_there)
    *info = is_told ? survey.told->devices[ordinal]
                    : survey.devices[ordinal].info;
  pthread_mutex_unlock(&survey.lock);
  if (failure) return tn_host->error(TN_DEVICE_UNAVAILABLE, "%s", failure);
  return is_there ? TN_OK : refuse_ordinal(ordinal, count);
}

static void write_uuid(const uint8_t uuid[16], char text[33])
{
  for (int i = 0; i < 16; i++) snprintf(text + 2 * i, 3, "%02x", uuid[i]);
}

tn_status tn_cuda_check_told(int ordinal, const tn_backend_device *device)
{
  char told[33] = "", now[33];
  pthread_mutex_lock(&survey.lock);
  bool is_same_one = !survey.told || ordinal >= survey.told->count ||
                     memcmp(survey.told->devices[ordinal].uuid,
                            device->info.uuid, sizeof device->info.uuid) == 0;
  if (!is_same_one) write_uuid(survey.told->devices[ordinal].uuid, told);
  pthread_mutex_unlock(&survey.lock);
  if (is_same_one) return TN_OK;
  write_uuid(device->info.uuid, now);
  return tn_host->error(TN_DEVICE_UNAVAILABLE,
                        "device %d was listed as the one with uuid %s, but "
                        "the driver has %s there: CUDA_DEVICE_ORDER="
                        "PCI_BUS_ID makes them agree", ordinal, told, now);
}

void tn_cuda_survey_end(void)
{
  pthread_mutex_lock(&survey.lock);
  for (int i = 0; i < survey.count; i++)
    pthread_mutex_destroy(&survey.devices[i].lock);
  free(survey.devices);
  survey.devices = NULL;
  survey.count = 0;
  forget_asked();
  keep_told(NULL);
  tn_cuda_listing_end();
  pthread_mutex_unlock(&survey.lock);
}
