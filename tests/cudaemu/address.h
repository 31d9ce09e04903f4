/* Device memory. The addresses of a device are a window that nobody may touch,
 * so that a host program that follows one dies at once; the bytes are at an
 * alias elsewhere, which only the double knows. */
#ifndef TN_TESTS_CUDAEMU_ADDRESS_H
#define TN_TESTS_CUDAEMU_ADDRESS_H

#include "tests/cudaemu/emulator.h"

/* An allocation; its record stays when it is freed. */
typedef struct emu_allocation {
  uint64_t address, bytes;
  unsigned char *host;   /* the alias */
  int device;            /* -1: pinned memory of the host */
  bool is_live;          /* atomic */
  bool is_registered;    /* pinned memory that the program allocated */
  unsigned uses;         /* by queued copies and waits; emu.lock */
  unsigned number;       /* counted from 1 */
  pthread_mutex_t lock;  /* of the shadow */
  order_shadow *shadow;  /* made at the first access */
  struct emu_allocation *forgotten;
} emu_allocation;

bool emu_window_open(int device, uint64_t bytes);
/* New memory, each byte 0xa5; a code if there is none. */
CUresult emu_memory_take(int device, uint64_t bytes,
                         emu_allocation **allocation);
void emu_memory_drop(emu_allocation *allocation);
uint64_t emu_memory_used(int device);
void emu_memory_drop_all(int device);

/* Pinned memory of the host, in the same table. NULL without memory. */
emu_allocation *emu_pinned_add(void *memory, uint64_t bytes,
                               bool is_registered);

/* The allocation that covers an address, or did last; NULL. */
emu_allocation *emu_memory_at(uint64_t address);
/* Any live one that overlaps. */
emu_allocation *emu_memory_overlap(uint64_t address, uint64_t bytes);
bool emu_is_in_window(uint64_t address);

/* Why [address, address + bytes) is no live memory, in a line; false if it
 * is. */
bool emu_memory_problem(uint64_t address, uint64_t bytes, char *text,
                        size_t size);

static inline bool emu_is_live(const emu_allocation *a)
{
  return __atomic_load_n(&a->is_live, __ATOMIC_ACQUIRE);
}

#endif
