/* Finding the devices. Their order: graphics processors, then other
 * accelerators, then host processors; among those by platform name, then as
 * the platform lists them. So "opencl:0" is the likely choice, and the order
 * does not depend on how the ICD loader reads its folder. */
#include "config.h"

#include "backends/opencl/device.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/listing/child.h"
#include "backends/opencl/error.h"

#define PLATFORMS_MAX 64

static struct {
  pthread_mutex_t lock;
  pid_t process; /* that asked the drivers, 0: none yet; atomic */
  tn_backend_device *devices;
  int count;
  tn_listing *listing; /* what a child said */
  uint64_t environment; /* in which it was asked */
} survey = { .lock = PTHREAD_MUTEX_INITIALIZER };

typedef struct found_device {
  cl_platform_id platform;
  cl_device_id id;
  char platform_name[128];
  int type_order, index;
} found_device;

static int type_order_of(cl_device_id id)
{
  cl_device_type type = 0;
  cl_.GetDeviceInfo(id, CL_DEVICE_TYPE, sizeof type, &type, NULL);
  if (type & CL_DEVICE_TYPE_GPU) return 0;
  return type & CL_DEVICE_TYPE_CPU ? 2 : 1;
}

static int compare_devices(const void *left, const void *right)
{
  const found_device *a = left, *b = right;
  if (a->type_order != b->type_order) return a->type_order - b->type_order;
  int names = strcmp(a->platform_name, b->platform_name);
  return names ? names : a->index - b->index;
}

/* Appends a platform's devices; custom ones, which run no kernels, stay out.
 * The cl code of a platform that has none is kept for the reason. */
static cl_int find_devices(cl_platform_id platform, found_device *found,
                           int *count)
{
  cl_device_id ids[TN_BACKEND_DEVICES_MAX];
  cl_uint id_count = 0;
  cl_int code = cl_.GetDeviceIDs(
      platform,
      CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR | CL_DEVICE_TYPE_CPU,
      TN_BACKEND_DEVICES_MAX, ids, &id_count);
  if (code) return code;
  char name[sizeof found->platform_name] = "";
  cl_.GetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name, name, NULL);
  for (cl_uint i = 0; i < id_count; i++) {
    if (i >= TN_BACKEND_DEVICES_MAX || *count >= TN_BACKEND_DEVICES_MAX)
      break;
    found_device *device = found + *count;
    *device = (found_device){ .platform = platform, .id = ids[i],
                              .type_order = type_order_of(ids[i]),
                              .index = *count };
    memcpy(device->platform_name, name, sizeof name);
    ++*count;
  }
  return CL_SUCCESS;
}

static const char *find_all(found_device *found, int *count, char *reason,
                            size_t size)
{
  cl_platform_id platforms[PLATFORMS_MAX];
  cl_uint platform_count = 0;
  cl_int code = cl_.GetPlatformIDs(PLATFORMS_MAX, platforms,
                                   &platform_count);
  if (code || !platform_count) {
    snprintf(reason, size,
             "no OpenCL driver is installed (clGetPlatformIDs answered %s): "
             "none is named in /etc/OpenCL/vendors",
             tn_opencl_code_name(code));
    return reason;
  }
  /* From here on the drivers may have threads, which a fork loses. */
  __atomic_store_n(&survey.process, getpid(), __ATOMIC_RELEASE);
  *count = 0;
  for (cl_uint i = 0; i < platform_count && i < PLATFORMS_MAX; i++) {
    cl_int answer = find_devices(platforms[i], found, count);
    if (answer) code = answer;
  }
  if (*count) return NULL;
  snprintf(reason, size,
           "%u OpenCL platform%s, but no device (clGetDeviceIDs answered "
           "%s; PoCL needs a folder it can write: set POCL_CACHE_DIR)",
           platform_count, platform_count == 1 ? "" : "s",
           tn_opencl_code_name(code ? code : CL_DEVICE_NOT_FOUND));
  return reason;
}

static bool are_alike(const tn_backend_device *a, const tn_backend_device *b)
{
  return a->platform == b->platform && a->type == b->type &&
         a->has_svm == b->has_svm && !strcmp(a->info.name, b->info.name) &&
         !strcmp(a->info.driver, b->info.driver);
}

static void share_contexts(tn_backend_device *devices, int count)
{
  for (int i = 0; i < count; i++) {
    int first = 0;
    while (!are_alike(devices + first, devices + i)) first++;
    devices[i].context = &devices[first].own_context;
  }
}

/* With the lock held. NULL, or the reason. */
static const char *fill_survey(bool with_svm, char *reason, size_t size)
{
  if (tn_opencl_load(reason, size)) return reason;
  found_device *found = calloc(TN_BACKEND_DEVICES_MAX, sizeof *found);
  if (!found) return "no host memory to list devices";
  int count = 0;
  const char *failure = find_all(found, &count, reason, size);
  if (!failure) {
    qsort(found, (size_t)count, sizeof *found, compare_devices);
    tn_backend_device *devices = calloc((size_t)count, sizeof *devices);
    if (!devices) failure = "no host memory to list devices";
    for (int i = 0; devices && i < count; i++) {
      devices[i].platform = found[i].platform;
      devices[i].id = found[i].id;
      tn_opencl_describe(devices + i);
      devices[i].has_svm &= with_svm;
    }
    if (devices) {
      share_contexts(devices, count);
      survey.devices = devices;
      survey.count = count;
    }
  }
  free(found);
  return failure;
}

static bool is_forked(void)
{
  pid_t process = __atomic_load_n(&survey.process, __ATOMIC_ACQUIRE);
  return process && process != getpid();
}

static tn_status refuse_fork(void)
{
  return tn_host->error(TN_FORKED, "opencl: its drivers were in use before "
                        "fork, and do not work in a forked child");
}

/* With the lock held. NULL, or the reason. */
static const char *fill_once(char *reason, size_t size)
{
  const char *svm = tn_host->environment("TENON_OPENCL_SVM");
  if (survey.devices) return NULL;
  return fill_survey(!svm || strcmp(svm, "0") != 0, reason, size);
}

tn_status tn_opencl_survey(tn_backend_device **devices, int *count)
{
  if (is_forked()) return refuse_fork();
  char reason[TN_BACKEND_TEXT_SIZE];
  pthread_mutex_lock(&survey.lock);
  const char *failure = fill_once(reason, sizeof reason);
  *devices = survey.devices;
  *count = survey.count;
  pthread_mutex_unlock(&survey.lock);
  if (failure) return tn_host->error(TN_DEVICE_UNAVAILABLE, "%s", failure);
  return TN_OK;
}

/* ---- before one is opened: the drivers are asked in a child ---- */

/* Any variable may be one that a driver heeds. */
static uint64_t hash_environment(void)
{
  uint64_t hash = 14695981039346656037u;
  for (char **entry = environ; entry && *entry; entry++)
    for (const char *c = *entry;; c++) {
      hash = (hash ^ (unsigned char)*c) * 1099511628211u;
      if (!*c) break;
    }
  return hash;
}

/* In the child. */
static tn_listing *list_by_drivers(char *reason, size_t size)
{
  const char *failure = fill_once(reason, size);
  tn_listing *listing = failure ? NULL : tn_listing_make(survey.count);
  for (int i = 0; listing && i < survey.count; i++)
    listing->devices[i] = survey.devices[i].info;
  if (!listing && failure != reason)
    snprintf(reason, size, "%s",
             failure ? failure : "no host memory to list devices");
  return listing;
}

/* With the lock held: survey.devices or survey.listing is there afterwards.
 * NULL, or the reason. */
static const char *list_devices(char *reason, size_t size)
{
  if (survey.devices) return NULL;
  uint64_t environment = hash_environment();
  if (survey.listing && survey.environment == environment) return NULL;
  bool is_answered;
  tn_listing *listing =
      tn_listing_by_child(list_by_drivers, reason, size, &is_answered);
  if (!is_answered) return fill_once(reason, size);
  if (!listing) return reason;
  free(survey.listing);
  survey.listing = listing;
  survey.environment = environment;
  return NULL;
}

tn_status tn_opencl_count(int *count)
{
  if (is_forked()) return refuse_fork();
  char reason[TN_BACKEND_TEXT_SIZE];
  pthread_mutex_lock(&survey.lock);
  const char *failure = list_devices(reason, sizeof reason);
  int found = survey.devices || failure ? survey.count
                                        : survey.listing->count;
  pthread_mutex_unlock(&survey.lock);
  if (failure) return tn_host->error(TN_DEVICE_UNAVAILABLE, "%s", failure);
  *count = found;
  return TN_OK;
}

tn_status tn_opencl_refuse_ordinal(int ordinal, int count)
{
  return tn_host->error(TN_NO_SUCH_DEVICE,
                        "opencl has %d device%s, counted from 0, and no "
                        "device %d", count, count == 1 ? "" : "s", ordinal);
}

tn_status tn_opencl_info(int ordinal, tn_backend_device_info *info)
{
  if (is_forked()) return refuse_fork();
  char reason[TN_BACKEND_TEXT_SIZE];
  pthread_mutex_lock(&survey.lock);
  const char *failure = list_devices(reason, sizeof reason);
  int count = failure          ? 0
              : survey.devices ? survey.count
                               : survey.listing->count;
  bool is_there = ordinal >= 0 && ordinal < count;
  if (is_there)
    *info = survey.devices ? survey.devices[ordinal].info
                           : survey.listing->devices[ordinal];
  pthread_mutex_unlock(&survey.lock);
  if (failure) return tn_host->error(TN_DEVICE_UNAVAILABLE, "%s", failure);
  return is_there ? TN_OK : tn_opencl_refuse_ordinal(ordinal, count);
}

/* Drivers may see in the child what they do not see here. */
tn_status tn_opencl_check_listed(int ordinal)
{
  char listed[128] = "";
  pthread_mutex_lock(&survey.lock);
  const tn_backend_device_info *now = &survey.devices[ordinal].info;
  const tn_listing *listing = survey.listing;
  bool is_same = !listing ||
                 (ordinal < listing->count &&
                  !strcmp(listing->devices[ordinal].name, now->name) &&
                  !memcmp(listing->devices[ordinal].uuid, now->uuid,
                          sizeof now->uuid));
  if (!is_same && ordinal < listing->count)
    memcpy(listed, listing->devices[ordinal].name, sizeof listed);
  pthread_mutex_unlock(&survey.lock);
  if (is_same) return TN_OK;
  return tn_host->error(TN_DEVICE_UNAVAILABLE,
                        "device %d was listed as \"%s\", but the drivers "
                        "have \"%s\" there", ordinal, listed, now->name);
}

void tn_opencl_survey_end(void)
{
  pthread_mutex_lock(&survey.lock);
  free(survey.devices);
  free(survey.listing);
  survey.devices = NULL;
  survey.listing = NULL;
  survey.count = 0;
  pthread_mutex_unlock(&survey.lock);
}
