/* Captures: from cuStreamBeginCapture to cuStreamEndCapture, what is put into
 * a stream becomes nodes of a graph. All with the lock held. */
#ifndef TN_TESTS_CUDAEMU_CAPTURE_H
#define TN_TESTS_CUDAEMU_CAPTURE_H

#include "tests/cudaemu/graph.h"

/* Its record stays when it has ended: events may name it. */
struct emu_capture {
  emu_capture *next;
  uint64_t id;
  CUstreamCaptureMode mode;
  unsigned thread;    /* that began it */
  emu_stream *origin; /* in which it was begun */
  emu_graph *graph;
  bool is_invalid, has_ended;
};

/* What an event keeps that was recorded while its stream captured. */
typedef struct emu_mark {
  emu_capture *capture; /* NULL: it was not */
  emu_nodes nodes;
} emu_mark;

/* The thread makes an unsafe call: 0, or why it may not. */
CUresult emu_capture_forbid(void);
/* Something is to be put into the stream: 0, or why it may not. What is put
 * in becomes a node where stream->capture is set. */
CUresult emu_capture_admit(emu_stream *stream);
/* The host is to know of, or wait for, a stream or a context. */
CUresult emu_capture_watch(emu_stream *stream);
CUresult emu_capture_watch_context(const emu_context *context);

/* Puts work into a stream that captures; takes it over. */
CUresult emu_capture_add(emu_stream *stream, emu_work *work);
/* An event is recorded in a stream that captures. */
CUresult emu_capture_mark(const emu_stream *stream, emu_mark *mark);
/* A stream is to come after an event; `mark` is what the event has. Both are
 * of a capture, or one of them. */
CUresult emu_capture_join(emu_stream *stream, const emu_mark *mark);
/* The host is to know of a marked event: why it may not. */
CUresult emu_capture_watch_mark(const emu_mark *mark);

/* The stream is destroyed. */
void emu_capture_abandon(emu_stream *stream);

#endif
