/* What the host knows to be done: one agent for all of its threads.
 *
 * A clock for each thread would find more: work that one thread queues because
 * another one, unknown to it, has waited. But threads of a program tell each
 * other by means that a driver cannot see, mutexes, semaphores, joins, atomic
 * words, and without those edges a clock for each would report what is in
 * order. So the calls of all threads are taken to be in the order in which they
 * reach the driver, and what one has waited for, all know from then on. That
 * misses conflicts of host threads, and makes none up. Who can see those means,
 * as ThreadSanitizer or a layer above that is told of them, may keep clocks of
 * its own in the same engine (order.h).
 *
 * Edges come from calls that tell that work is done (waits, and queries that
 * say so) to all that is queued later, and, through words that a stream waits
 * for (cuStreamWaitValue32), to what was queued before. */
#ifndef TN_TESTS_CUDAEMU_HOST_H
#define TN_TESTS_CUDAEMU_HOST_H

#include "layers/order.h"

/* Callers exclude each other. */

/* A call told that what the clock knows is done. */
void emu_host_learn(const order_clock *clock);
/* What is queued now comes after that. False without memory. */
bool emu_host_teach(order_clock *clock);

#endif
