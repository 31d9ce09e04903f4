/* The host's memory, of which calls fail on demand: for programs that are
 * linked with a library's objects and -Wl,--wrap (failing_malloc_ldflags). What
 * plugins and the C library allocate is not counted. */
#ifndef TN_TESTS_FAILING_MALLOC_H
#define TN_TESTS_FAILING_MALLOC_H

#include <stdatomic.h>
#include <stddef.h>

/* Calls so far, set to 0 by whoever likes; pieces that are not freed. */
extern atomic_long host_calls, host_live;

/* The calls that fail: that number, and all from that number on; 0: none. */
extern atomic_long host_fail_at, host_fail_from;

/* Of memory that the C library made. */
void __real_free(void *memory);

#endif
