/* Finding the devices. Counting them first tries NVML; everything else needs
 * the driver, which is initialised once and does not survive a fork. */
#include "config.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "backends/cuda/device.h"
#include "backends/cuda/nvml.h"

static struct {
  pthread_mutex_t lock;
  pid_t process; /* that initialised the driver, 0: none yet; atomic */
  tn_backend_device *devices;
  int count;
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

/* With the lock held: without the driver, -1 where that cannot be told. */
static int count_boards(void)
{
  if (survey.process) return -1;
  tn_cuda_boards *boards = tn_cuda_boards_find();
  if (!boards) return -1;
  const char *list = tn_host->environment("CUDA_VISIBLE_DEVICES");
  int count = tn_cuda_boards_visible(boards, list);
  free(boards);
  return count;
}

tn_status tn_cuda_count(int *count)
{
  if (is_forked()) return refuse_fork();
  char reason[TN_BACKEND_TEXT_SIZE];
  pthread_mutex_lock(&survey.lock);
  const char *failure = tn_cuda_load(reason, sizeof reason);
  int found = failure ? 0 : count_boards();
  if (!failure && found == 0) failure = no_device(reason, sizeof reason);
  if (!failure && found < 0) {
    failure = fill_survey(reason, sizeof reason);
    found = survey.count;
  }
  pthread_mutex_unlock(&survey.lock);
  if (failure) return tn_host->error(TN_DEVICE_UNAVAILABLE, "%s", failure);
  *count = found;
  return TN_OK;
}

void tn_cuda_survey_end(void)
{
  pthread_mutex_lock(&survey.lock);
  for (int i = 0; i < survey.count; i++)
    pthread_mutex_destroy(&survey.devices[i].lock);
  free(survey.devices);
  survey.devices = NULL;
  survey.count = 0;
  pthread_mutex_unlock(&survey.lock);
}
