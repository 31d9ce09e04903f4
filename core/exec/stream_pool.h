/* A device's streams. */
#ifndef TN_CORE_EXEC_STREAM_POOL_H
#define TN_CORE_EXEC_STREAM_POOL_H

#include "core/exec/stream.h"

/* Streams for each priority, made when their turn comes first. */
#define TN_POOL_STREAMS 32
/* 0 and -1. */
#define TN_POOL_PRIORITIES 2

typedef struct tn_stream_pool {
  tn_stream *pooled[TN_POOL_PRIORITIES][TN_POOL_STREAMS];
  unsigned next[TN_POOL_PRIORITIES]; /* turn */
  tn_stream *all; /* linked by tn_stream.next */
  tn_moment_list moments;
} tn_stream_pool;

/* The next pooled stream of a priority, clamped. */
tn_stream *tn_stream_pool_next(tn_device_state *state, int priority);

/* Makes a stream around a plugin's, in the device's list. On failure the
 * plugin's is destroyed. */
tn_stream *tn_stream_pool_add(tn_device_state *state,
                              tn_backend_stream *handle,
                              tn_stream_origin origin);

/* Takes a wrapped stream whose last reference is gone out of the list. */
void tn_stream_pool_remove(tn_stream *stream);

/* For the end: destroys the plugin's streams of a device; the structs stay,
 * since programs may hold them. */
void tn_stream_pool_destroy(tn_device_state *state);

#endif
