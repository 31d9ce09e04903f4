/* Commands' accesses to memory: whether they are ordered. */
#ifndef TN_TESTS_CUDAEMU_ACCESS_H
#define TN_TESTS_CUDAEMU_ACCESS_H

#include "tests/cudaemu/address.h"
#include "tests/cudaemu/ptx/ptx.h"
#include "tests/cudaemu/stream.h"

/* Notes an access to bytes of a live allocation by a command that runs, and
 * reports one that is unordered with another stream's. `place` is
 * where a kernel does it, NULL for a copy or fill. Any thread, without the
 * lock. */
void emu_access(emu_command *command, emu_allocation *allocation,
                order_kind kind, uint64_t address, uint64_t bytes,
                const ptx_place *place);

#endif
