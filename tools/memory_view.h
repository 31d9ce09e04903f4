/* A picture of a device's memory. */
#ifndef TN_TOOLS_MEMORY_VIEW_H
#define TN_TOOLS_MEMORY_VIEW_H

#include <stdio.h>

#include "tools/memory_file.h"

/* An SVG file that needs no other: what is reserved and used over time, each
 * use of memory at its address over time, the segments at the end, and who
 * holds most. Texts show when the pointer rests on a thing. */
void tn_memory_view_write(const tn_memory_file *file, FILE *svg);

#endif
