/* Modules of PTX and their functions. */
#ifndef TN_TESTS_CUDAEMU_MODULE_H
#define TN_TESTS_CUDAEMU_MODULE_H

#include "tests/cudaemu/address.h"
#include "tests/cudaemu/ptx/ptx.h"

struct CUfunc_st {
  emu_module *module;
  const ptx_entry *entry;
  int dynamic_shared; /* bytes that a launch may ask for */
};

/* Its record and those of its functions stay when it is unloaded. */
struct CUmod_st {
  emu_module *next;
  emu_context *context;
  ptx_module *ptx; /* NULL: unloaded */
  emu_allocation **variables; /* by index */
  size_t function_count;
  emu_function *functions; /* one for each entry */
};

/* With the lock held. */
emu_function *emu_function_find(CUfunction handle); /* NULL: none such */
void emu_modules_close(const emu_context *context);

#endif
