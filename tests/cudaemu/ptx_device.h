/* For tests of the PTX interpreter: modules from texts, a little device
 * memory that checks bounds, launches with arguments in slots. */
#ifndef TN_TESTS_CUDAEMU_PTX_DEVICE_H
#define TN_TESTS_CUDAEMU_PTX_DEVICE_H

#include "tests/cudaemu/ptx/ptx.h"

/* What a module begins with. */
#define PTX_HEAD ".version 6.3\n.target sm_75\n.address_size 64\n"

typedef struct ptx_device ptx_device;

/* These end the test program when there is no memory. */
ptx_device *ptx_device_make(void);
void ptx_device_free(ptx_device *device);

/* Device memory of size bytes, each 0xcd; its host side in *host. */
uint64_t ptx_device_take(ptx_device *device, size_t size, void **host);

void ptx_device_drop(ptx_device *device, uint64_t address);
/* The host side of an address, or NULL. */
void *ptx_device_host(const ptx_device *device, uint64_t address);

/* Loads a text and places its variables; prints the log and ends the test
 * program when it is refused. */
ptx_module *ptx_device_load(ptx_device *device, const char *text);
ptx_module *ptx_device_load_file(ptx_device *device, const char *path);
/* The host side of a variable. */
void *ptx_device_variable(ptx_device *device, const ptx_module *module,
                          const char *name);

/* As launches see it. */
const ptx_memory *ptx_device_memory(ptx_device *device);

typedef struct ptx_device_launch {
  const char *entry;
  uint32_t grid, block, dynamic_shared;
  uint64_t step_limit;
  const uint64_t *slots; /* one for each parameter, in its low bytes */
  ptx_counts counts;     /* of the launch */
} ptx_device_launch;

/* Runs a kernel; the fault stays readable until the next launch. */
bool ptx_device_run(ptx_device *device, const ptx_module *module,
                    ptx_device_launch *launch);
const ptx_fault *ptx_device_fault(const ptx_device *device);

/* Numbers that look random; the same from the same seed. */
uint64_t ptx_device_random(uint64_t *state);

#endif
