/* Where the work of a stream goes while it is captured into a graph. The
 * functions are core/graph's; each layer calls them in place of the plugin
 * when tn_is_captured says so. */
#ifndef TN_CORE_EXEC_CAPTURE_H
#define TN_CORE_EXEC_CAPTURE_H

#include "core/exec/stream.h"
#include "tenon/backend.h"

struct tn_kernel;

static inline bool tn_is_captured(const tn_stream *stream)
{
  return __builtin_expect(atomic_load_explicit(&stream->lane,
                                               memory_order_acquire) != NULL,
                          0);
}

/* All record, or refuse with TN_CAPTURE_VIOLATION. Descriptions are copied. */
tn_status tn_capture_launch(tn_stream *stream, struct tn_kernel *kernel,
                            const tn_backend_launch_desc *desc,
                            const uint64_t *slots);
tn_status tn_capture_copy(tn_stream *stream, const tn_copy_desc *desc);
tn_status tn_capture_fill(tn_stream *stream, const tn_fill_desc *desc);
tn_status tn_capture_function(tn_stream *stream, void (*function)(void *),
                              void *argument);

/* A moment in the capture: complete when it is over. */
tn_status tn_capture_moment(tn_stream *stream, tn_moment **moment);

/* The waiter is captured, or the moment is of a capture, which the waiter
 * then joins. */
tn_status tn_capture_wait(tn_stream *waiter, tn_moment *moment);

/* Makes the capture invalid and says why: `call` is what was tried. */
tn_status tn_capture_refuse(tn_stream *stream, const char *call);
tn_status tn_capture_refuse_moment(const tn_moment *moment,
                                   const char *call);

/* Whether another thread's capture in global mode forbids the call; makes it
 * invalid and sets the error. */
tn_status tn_capture_check(const char *call);

/* Of a moment that ends; takes no lock but this one. */
void tn_capture_mark_release(struct tn_capture_mark *mark);
void tn_capture_marks_lock(void);
void tn_capture_marks_unlock(void);

#endif
