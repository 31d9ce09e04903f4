/* The host's services, and what every file of the cpu backend refuses alike.
 *
 * This backend runs kernels on the processor the program itself runs on. Its
 * default stream does everything before a call returns; other streams are
 * queues, each with a thread. Large launches and copies are shared out among
 * helper threads.
 *
 *     entry     the tables, and the one exported function
 *     settings  what the environment asks for
 *     machine   facts read from the system
 *     level     which instruction set the kernels are taken for
 *     device alloc copy stream event launch module graph  a table each, or part
 *     recording graph_run   a graph's commands, and a run of them
 *     queue     commands between a stream's callers and its thread
 *     chaos quarantine   late and reordered streams, poisoned memory, when
 *                        asked for
 *     bulk      copying and filling large memory
 *     workers   the helper threads
 *     park      sleeping until another thread changes a word
 *     image     the kernels built into this plugin; fma: what they lack
 *     build compilation compiler   modules from source: cached, made, and by
 *                                  what
 */
#ifndef TN_BACKENDS_CPU_HOST_H
#define TN_BACKENDS_CPU_HOST_H

#include "tenon/backend.h"

/* Set by tn_backend_entry before anything else runs. */
extern const tn_host_api *tn_cpu_host;

/* Refuses bits of a descriptor's flags that this backend does not know. */
static inline tn_status tn_cpu_flags_check(const char *what, uint32_t flags,
                                           uint32_t known)
{
  if (!(flags & ~known)) return TN_OK;
  return tn_cpu_host->error(TN_INVALID_ARGUMENT,
                            "%s: unknown flags 0x%x: cpu knows 0x%x", what,
                            flags & ~known, known);
}

#endif
