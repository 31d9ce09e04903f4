/* Host memory that queued work is still to use, watched by the protection of
 * its pages: what the host does there before it waited is found at once, and
 * where. Pages that lie only partly in the memory are not watched. Threads
 * that never called the library count as the backend's. */
#ifndef TN_LAYERS_RACE_WATCH_H
#define TN_LAYERS_RACE_WATCH_H

#include "layers/forward.h"
#include "layers/order.h"

/* This thread enters and leaves a call of the layer; one that `may_wait` lets
 * work go on that is held up for the sake of watching. */
void race_watch_enter(bool may_wait);
void race_watch_leave(bool may_wait);

/* The program's own function, on whatever thread: true while it runs. */
bool race_watch_set_program(bool is_program);

/* Before the call whose step `by` is: its work will write the bytes, or only
 * read them. `by->tag` names the watch. */
void race_watch_begin(const tn_host_api *host, const order_step *by,
                      bool is_written, tn_address address, uint64_t bytes);

/* The call failed: there is no such work. */
void race_watch_cancel(uint32_t tag);

/* Ends the watches of work that the clock knows to be done. */
void race_watch_settle(const order_clock *host);

/* The memory goes away. */
void race_watch_forget(tn_address address, uint64_t bytes);

/* What the host did, from newest to oldest frame. */
typedef struct race_trespass {
  uint32_t tag; /* of the watch */
  bool is_write;
  tn_address address;
  int frame_count;
  void *frames[16];
} race_trespass;

/* The next one that was not told yet; false: none. */
bool race_watch_next(race_trespass *out);

#endif
