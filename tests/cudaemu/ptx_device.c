#include "tests/cudaemu/ptx_device.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096, GAP = 4096 };

typedef struct allocation {
  uint64_t address, size;
  unsigned char *host;
} allocation;

struct ptx_device {
  allocation allocations[MOST];
  size_t count;
  uint64_t next;
  ptx_fault fault;
  ptx_memory memory;
};

static void *need(void *pointer)
{
  if (!pointer) {
    puts("Bail out! no memory");
    exit(99);
  }
  return pointer;
}

ptx_device *ptx_device_make(void)
{
  ptx_device *device = need(calloc(1, sizeof *device));
  device->next = UINT64_C(0x700000000000);
  return device;
}

void ptx_device_free(ptx_device *device)
{
  for (size_t i = 0; i < device->count; i++)
    free(device->allocations[i].host);
  free(device);
}

uint64_t ptx_device_take(ptx_device *device, size_t size, void **host)
{
  if (device->count == MOST)
    need(NULL);
  size_t rounded = (size + 255) / 256 * 256;
  allocation *a = &device->allocations[device->count++];
  a->address = device->next;
  a->size = size;
  a->host = need(aligned_alloc(256, rounded ? rounded : 256));
  memset(a->host, 0xcd, rounded);
  device->next += rounded + GAP;
  if (host)
    *host = a->host;
  return a->address;
}

void ptx_device_drop(ptx_device *device, uint64_t address)
{
  for (size_t i = 0; i < device->count; i++)
    if (device->allocations[i].address == address) {
      free(device->allocations[i].host);
      device->allocations[i] = device->allocations[--device->count];
      return;
    }
}

void *ptx_device_host(const ptx_device *device, uint64_t address)
{
  for (size_t i = 0; i < device->count; i++) {
    const allocation *a = &device->allocations[i];
    if (address >= a->address && address - a->address <= a->size)
      return a->host + (address - a->address);
  }
  return NULL;
}

static bool find(void *context, uint64_t address, uint64_t size,
                 ptx_access access, const ptx_place *place, ptx_span *span,
                 char *reason, size_t reason_size)
{
  const ptx_device *device = context;
  (void)access, (void)place;
  for (size_t i = 0; i < device->count; i++) {
    const allocation *a = &device->allocations[i];
    if (address < a->address || address - a->address >= a->size + GAP)
      continue;
    uint64_t at = address - a->address;
    if (at + size > a->size) {
      snprintf(reason, reason_size, "byte %" PRIu64 " of an allocation of %"
               PRIu64, at, a->size);
      return false;
    }
    *span = (ptx_span) { a->address, a->address + a->size, a->host };
    return true;
  }
  snprintf(reason, reason_size, "no allocation");
  return false;
}

const ptx_memory *ptx_device_memory(ptx_device *device)
{
  device->memory = (ptx_memory) { device, find };
  return &device->memory;
}

static void place_variables(ptx_device *device, ptx_module *module)
{
  size_t first = device->count;
  size_t count = ptx_module_variable_count(module);
  for (size_t i = 0; i < count; i++) {
    const ptx_variable *v = ptx_module_variable(module, i);
    ptx_module_place(module, i, ptx_device_take(device, v->size, NULL));
  }
  for (size_t i = 0; i < count; i++) {
    const ptx_variable *v = ptx_module_variable(module, i);
    unsigned char *host = device->allocations[first + i].host;
    memset(host, 0, v->size);
    if (v->image)
      memcpy(host, v->image, v->image_size);
  }
}

ptx_module *ptx_device_load(ptx_device *device, const char *text)
{
  char log[512];
  ptx_module *module;
  if (ptx_module_load(text, strlen(text), NULL, log, sizeof log, &module)) {
    printf("Bail out! module refused: %s\n", log);
    exit(99);
  }
  place_variables(device, module);
  return module;
}

ptx_module *ptx_device_load_file(ptx_device *device, const char *path)
{
  FILE *file = fopen(path, "r");
  if (!file) {
    printf("Bail out! cannot read %s\n", path);
    exit(99);
  }
  size_t size = 0, capacity = 1 << 16;
  char *text = need(malloc(capacity));
  for (size_t got = 1; got; size += got) {
    if (capacity - size < 2)
      text = need(realloc(text, capacity *= 2));
    got = fread(text + size, 1, capacity - size - 1, file);
  }
  fclose(file);
  text[size] = '\0';
  ptx_module *module = ptx_device_load(device, text);
  free(text);
  return module;
}

void *ptx_device_variable(ptx_device *device, const ptx_module *module,
                          const char *name)
{
  const ptx_variable *v = ptx_module_find_variable(module, name);
  for (size_t i = 0; v && i < device->count; i++)
    if (device->allocations[i].address == v->address)
      return device->allocations[i].host;
  return NULL;
}

bool ptx_device_run(ptx_device *device, const ptx_module *module,
                    ptx_device_launch *launch)
{
  const ptx_entry *entry = ptx_module_find(module, launch->entry);
  if (!entry) {
    printf("Bail out! no entry %s\n", launch->entry);
    exit(99);
  }
  _Alignas(16) unsigned char parameters[4096];
  for (unsigned i = 0; i < entry->parameter_count; i++) {
    const ptx_parameter *p = &entry->parameters[i];
    memcpy(parameters + p->offset, &launch->slots[i], p->size);
  }
  ptx_launch_config config = {
    .grid = { launch->grid, 1, 1 }, .block = { launch->block, 1, 1 },
    .dynamic_shared = launch->dynamic_shared, .parameters = parameters,
    .memory = ptx_device_memory(device), .step_limit = launch->step_limit,
  };
  return ptx_launch(module, entry, &config, &device->fault, &launch->counts);
}

const ptx_fault *ptx_device_fault(const ptx_device *device)
{
  return &device->fault;
}

uint64_t ptx_device_random(uint64_t *state)
{
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}
