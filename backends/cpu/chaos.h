/* Chaos (TENON_CPU_CHAOS=seed): asynchronous streams lag behind the program
 * and overtake each other, as far as what they were told to wait for allows,
 * so that a wait that is missing shows on any machine.
 *
 * Time is counted in ticks: calls that the program makes of the plugin. Each
 * command is given a tick before which it is not run; the seed, the stream's
 * number and the command's decide on it, so the same seed gives the same
 * schedule again (other threads' calls and what follows aside). It runs
 * earlier when somebody waits for it, and when nothing happens for long: a
 * program may wait for a command in ways of its own. */
#ifndef TN_BACKENDS_CPU_CHAOS_H
#define TN_BACKENDS_CPU_CHAOS_H

#include <stdbool.h>
#include <stdint.h>

#include "tenon/backend.h"

/* How often a thread lets others run before a command that is not due is run
 * all the same. */
#define TN_CPU_CHAOS_PATIENCE 16384

/* 0: there is no chaos. Set once, at load. */
extern int tn_cpu_chaos_seed;

/* Sets the seed and says so in the log. */
void tn_cpu_chaos_setup(int seed);

/* The same entries, each a tick, with memory that is poisoned when it is had
 * and when it is given back. */
const tn_backend_api *tn_cpu_chaos_wrap(const tn_backend_api *api);

void tn_cpu_chaos_tick(void);

/* The tick before which a command is not run; commands are numbered from 0 on
 * each stream. Ticks wrap. */
uint32_t tn_cpu_chaos_due(uint32_t stream, uint64_t command);
bool tn_cpu_chaos_is_due(uint32_t due);

/* A stream's thread begins to hold a command back, and ceases to. */
void tn_cpu_chaos_hold_begin(void);
void tn_cpu_chaos_hold_end(void);

/* In a forked child: no thread holds anything. */
void tn_cpu_chaos_after_fork(void);

#endif
