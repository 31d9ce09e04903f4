/* Tenon: queues of work and moments in them.
 *
 * Work on one stream runs in order; streams are unordered among each other
 * unless made to wait. A device's default stream belongs to the library. The
 * default stream of cpu runs each call before it returns, and a wait on
 * another stream blocks the calling thread there; all others are
 * asynchronous.
 *
 * Thread-safe, except that two threads which queue work on one stream at the
 * same time get it in an order of the library's choosing.
 *
 * A failure of queued work is reported once, by the first synchronising call
 * on its stream or device, and names the kernel or copy that failed.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TENON_STREAM_H
#define TENON_STREAM_H

#include "tenon/device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tn_stream tn_stream;
typedef struct tn_event tn_event;

/* A stream from the device's pool (32 for each priority, given in turn, so
 * the 33rd is the first again). Priority 0 is the least, -1 more urgent;
 * others are clamped to what the device has. Release it with
 * tn_stream_release. NULL on failure. */
TN_API tn_stream *tn_stream_new(tn_device device, int priority);

/* A stream around a vendor's own queue (CUstream, cl_command_queue), which
 * stays the caller's and must outlive it. TN_UNSUPPORTED where the backend
 * cannot. */
TN_API tn_stream *tn_stream_wrap(tn_device device, void *native);

/* The device's default stream; borrowed. */
TN_API tn_stream *tn_default_stream(tn_device device);

/* The device's current stream in this thread (the default one in a new
 * thread); borrowed. */
TN_API tn_stream *tn_current_stream(tn_device device);

/* Makes a stream its device's current one in this thread. The current device
 * stays. */
TN_API tn_status tn_set_stream(tn_stream *stream);

/* The invalid device for NULL. */
TN_API tn_device tn_stream_device(const tn_stream *stream);

/* Waits until the stream's work is complete; _for: at most `ms` milliseconds,
 * then TN_TIMEOUT. */
TN_API tn_status tn_stream_synchronize(tn_stream *stream);
TN_API tn_status tn_stream_synchronize_for(tn_stream *stream, double ms);

/* TN_OK if all work is complete, TN_NOT_READY if not (this sets no error), or
 * what failed. */
TN_API tn_status tn_stream_query(tn_stream *stream);

/* Work queued on `waiter` from now on runs after all that is queued on
 * `other` now; any two devices. */
TN_API tn_status tn_stream_wait_stream(tn_stream *waiter, tn_stream *other);

/* The same after an event's last record; an event never recorded is
 * complete. */
TN_API tn_status tn_stream_wait_event(tn_stream *stream, tn_event *event);

/* Calls a host function in the stream's order, on a thread of the library's
 * choosing. It must not call the library. */
TN_API tn_status tn_stream_call(tn_stream *stream, void (*function)(void *),
                                void *argument);

TN_API tn_stream *tn_stream_retain(tn_stream *stream);
TN_API void tn_stream_release(tn_stream *stream);

#define TN_EVENT_TIMING 1u /* elapsed time can be asked */

/* A new event, complete until recorded. NULL for unknown flags. */
TN_API tn_event *tn_event_new(unsigned flags);

/* The event now means: all queued on the stream so far. May be called again;
 * waits already queued keep the old meaning. */
TN_API tn_status tn_event_record(tn_event *event, tn_stream *stream);

/* TN_OK if complete or never recorded, else TN_NOT_READY (no error set). */
TN_API tn_status tn_event_query(tn_event *event);
TN_API tn_status tn_event_synchronize(tn_event *event);
TN_API tn_status tn_event_synchronize_for(tn_event *event, double ms);

/* The device of the last record; the invalid device if there was none. */
TN_API tn_device tn_event_device(const tn_event *event);

/* Milliseconds from start to end, two recorded events with TN_EVENT_TIMING on
 * one device. Without timing: TN_INVALID_ARGUMENT, looked at first; never
 * recorded: the same; not complete: TN_NOT_READY. */
TN_API tn_status tn_event_elapsed(tn_event *start, tn_event *end, float *ms);

TN_API tn_event *tn_event_retain(tn_event *event);
TN_API void tn_event_release(tn_event *event);

/* Makes the stream's device current and the stream its device's current one
 * until the pop, which restores both. As with tn_device_push. */
typedef struct tn_stream_guard {
  tn_stream *saved; /* of the stream's device */
  tn_device_guard device;
  int active;
} tn_stream_guard;

TN_API tn_stream_guard tn_stream_push(tn_stream *stream);
TN_API void tn_stream_pop(tn_stream_guard *guard);

#define tn_with_stream(stream) \
  TN_BLOCK_(tn_stream_guard, TN_GLUE_(tn_guard_, __COUNTER__), \
            tn_stream_push(stream), tn_stream_pop)

#ifdef __cplusplus
}
#endif
#endif
