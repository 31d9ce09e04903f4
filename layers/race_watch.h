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

/* What a thread is about. */
typedef struct race_watch_thread {
  bool is_program;
  int inside;                 /* calls of the layer */
  const order_step *function; /* the host function that it runs */
} race_watch_thread;

/* A host function, on whatever thread: what it does is done at that step of
 * its stream. */
race_watch_thread race_watch_begin_function(const order_step *at);
void race_watch_end_function(const race_watch_thread *before);

/* Before the call whose step `by` is: its work will write the bytes, or only
 * read them. `by->tag` names the watch; by->clock and what the host knows are
 * before it. */
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
  bool is_write, is_function;
  tn_address address;
  int frame_count;
  void *frames[16];
} race_trespass;

/* The next one that was not told yet; false: none. */
bool race_watch_next(race_trespass *out);

#endif
