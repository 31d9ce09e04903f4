#include "config.h"

#include "tensor/tensor/place.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Ordinals go up to 511; backends are few. */
#define BACKENDS 64
#define ORDINALS 512

typedef _Atomic(tn_place *) place_row[ORDINALS];

static _Atomic(place_row *) rows[BACKENDS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned kernel_count; /* numbers given so far; under the lock */

static tn_place *out_of_memory(void)
{
  tn_set_error(TN_OUT_OF_MEMORY, "no host memory for the table of a device's "
               "kernels");
  return NULL;
}

/* The row stays for ever: places are reached through it without a lock. */
static place_row *row_of(int backend)
{
  place_row *row = atomic_load_explicit(&rows[backend],
                                        memory_order_acquire);
  if (row) return row;
  pthread_mutex_lock(&lock);
  row = atomic_load(&rows[backend]);
  if (!row) {
    row = calloc(1, sizeof *row);
    atomic_store_explicit(&rows[backend], row, memory_order_release);
  }
  pthread_mutex_unlock(&lock);
  return row;
}

static tn_place *make(tn_device device)
{
  tn_device_info info;
  if (tn_device_get_info(device, &info) != TN_OK) return NULL;
  tn_place *place = calloc(1, sizeof *place);
  if (!place) return out_of_memory();
  place->device = device;
  tn_device_format(device, place->name, sizeof place->name);
  place->is_cpu = strcmp(info.backend, "cpu") == 0;
  place->has_f64 = info.f64;
  return place;
}

static tn_place *add(_Atomic(tn_place *) *at, tn_device device)
{
  tn_place *place = make(device), *before = NULL;
  if (!place) return NULL;
  if (atomic_compare_exchange_strong(at, &before, place)) return place;
  free(place);
  return before;
}

static tn_device with_ordinal(tn_device device)
{
  if (device.backend == 0 && device.index == 0) device = tn_default_device();
  if (device.backend <= 0 || device.index >= 0) return device;
  char backend[TN_DEVICE_TEXT_SIZE]; /* no ordinal: the name alone */
  tn_device_format(device, backend, sizeof backend);
  return tn_current_device(backend);
}

tn_place *tn_place_of(tn_device device)
{
  device = with_ordinal(device);
  if (device.backend <= 0) { /* the error is of the invalid device, or set */
    tn_device_info info;
    tn_device_get_info(device, &info);
    return NULL;
  }
  if (device.backend >= BACKENDS || device.index >= ORDINALS) {
    tn_device_info info;
    if (tn_device_get_info(device, &info) == TN_OK)
      tn_set_error(TN_UNSUPPORTED, "backend number %d: tensors know %d "
                   "backends", device.backend, BACKENDS - 1);
    return NULL;
  }
  place_row *row = row_of(device.backend);
  if (!row) return out_of_memory();
  tn_place *place = atomic_load_explicit(&(*row)[device.index],
                                         memory_order_acquire);
  return place ? place : add(&(*row)[device.index], device);
}

/* 0 is nobody's number, so that an entry without one finds no kernel. */
static unsigned number_of(tn_kernel_entry *entry)
{
  pthread_mutex_lock(&lock);
  unsigned number = atomic_load(&entry->number);
  if (number == 0 && kernel_count + 1 < TN_KERNELS_MAX) {
    number = ++kernel_count;
    atomic_store(&entry->number, number);
  }
  pthread_mutex_unlock(&lock);
  if (number == 0)
    tn_set_error(TN_UNSUPPORTED, "more than %d built-in kernels",
                 TN_KERNELS_MAX - 1);
  return number;
}

tn_kernel *tn_place_load(tn_place *place, tn_kernel_entry *entry)
{
  unsigned number = number_of(entry);
  if (number == 0) return NULL;
  tn_module *module = tn_module_builtin(place->device, entry->family);
  tn_kernel *kernel = module ? tn_kernel_get(module, entry->name) : NULL;
  tn_module_release(module);
  if (!kernel) return NULL;
  tn_kernel *before = NULL;
  if (atomic_compare_exchange_strong(&place->kernels[number], &before,
                                     kernel))
    return kernel;
  tn_kernel_release(kernel);
  return before;
}
