/* What the race layer says of an access: who made it, and from where. */
#ifndef TN_LAYERS_RACE_SITE_H
#define TN_LAYERS_RACE_SITE_H

#include <stddef.h>

#include "layers/forward.h"

/* Notes the call with the callers of the library; gives its tag. The latest
 * 65536 are kept. `who` is a kernel, a copy ... */
uint32_t race_site_note(const forward_call *call, const char *who);

/* The host itself, at those places. */
uint32_t race_site_note_host(const char *who, void *const *frames, int count);

/* "kernel elementwise/add_f32 on stream 2 of cpu:0, queued at prog(main+0x1f)
 * ...", and where `argument` is not NULL, which one of it. */
void race_site_describe(uint32_t tag, char *text, size_t size);

/* The place of the first caller, for telling reports apart; 0: unknown. */
uintptr_t race_site_place(uint32_t tag);

#endif
