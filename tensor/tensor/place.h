/* What the tensor library knows about a device in use: facts, and its
 * built-in kernels by number, so that an operation looks nothing up. */
#ifndef TN_TENSOR_TENSOR_PLACE_H
#define TN_TENSOR_TENSOR_PLACE_H

#include <stdatomic.h>

#include "tenon/kernel.h"

/* Of the kernels of all families that operations use. */
#define TN_KERNELS_MAX 2048

typedef struct tn_place {
  tn_device device; /* with its ordinal */
  char name[TN_DEVICE_TEXT_SIZE];
  bool is_cpu;      /* the backend is cpu: memory is the host's */
  bool has_f64;
  _Atomic(tn_kernel *) kernels[TN_KERNELS_MAX];
} tn_place;

/* A kernel as operations name it: static, with a number given at first use.
 *     static tn_kernel_entry add = TN_KERNEL_ENTRY("elementwise", "add_f32");
 */
typedef struct tn_kernel_entry {
  const char *family, *name;
  atomic_uint number;
} tn_kernel_entry;
#define TN_KERNEL_ENTRY(family, name) { family, name, 0 }

/* The place of a device: the default device if not given, the backend's
 * current one without an ordinal. It exists from first use to the end of the
 * process. NULL with the error set. */
tn_place *tn_place_of(tn_device device);

/* Loads the kernel; NULL with the error set. */
tn_kernel *tn_place_load(tn_place *place, tn_kernel_entry *entry);

static inline tn_kernel *tn_place_kernel(tn_place *place,
                                         tn_kernel_entry *entry)
{
  unsigned number = atomic_load_explicit(&entry->number,
                                         memory_order_relaxed);
  tn_kernel *kernel = atomic_load_explicit(&place->kernels[number],
                                           memory_order_acquire);
  return kernel ? kernel : tn_place_load(place, entry);
}

#endif
