/* libffi, opened when a C function is first made a kernel: opening it costs
 * more than the start of a program that does not need it. */
#ifndef TN_CORE_LAUNCH_FFI_LIBRARY_H
#define TN_CORE_LAUNCH_FFI_LIBRARY_H

#include <ffi.h>

#include "tenon/status.h"

typedef struct tn_ffi_library {
  ffi_status (*prep_cif)(ffi_cif *, ffi_abi, unsigned, ffi_type *,
                         ffi_type **);
  void (*call)(ffi_cif *, void (*)(void), void *, void **);
  ffi_type *type_void, *type_pointer, *type_sint32, *type_sint64,
      *type_float, *type_double;
} tn_ffi_library;

/* The library for the whole process, or NULL: TN_DEVICE_UNAVAILABLE says what
 * the loader said. */
const tn_ffi_library *tn_ffi_open(void);

#endif
