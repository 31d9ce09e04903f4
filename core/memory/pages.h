/* Pages of memory, brought in. */
#ifndef TN_CORE_MEMORY_PAGES_H
#define TN_CORE_MEMORY_PAGES_H

#include <stdint.h>

/* Writes to each page once, with up to `threads` threads at once (a power of
 * two); fewer if there are no more to be had. */
void tn_pages_touch(void *memory, uint64_t bytes, uint64_t page,
                    unsigned threads);

#endif
