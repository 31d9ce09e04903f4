/* Tenon: status codes and this thread's last error.
 *
 * Every failing call of the library sets the calling thread's last error,
 * whether it returns a status, a pointer or a count. A call that succeeds
 * leaves it alone.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TENON_STATUS_H
#define TENON_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Marks what the libraries export. */
#define TN_API __attribute__((visibility("default")))

/* Asks the compiler to complain when a status is thrown away. */
#define TN_MUST_CHECK __attribute__((warn_unused_result))

/* Checks the arguments of printf-like functions. */
#define TN_PRINTF(text, first) __attribute__((format(printf, text, first)))

/* The one list of codes: X(name, meaning). New codes go to the end: numbers
 * are part of the plugin interface. */
#define TN_STATUS_MAP(X) \
  X(OK, "success") \
  X(INVALID_ARGUMENT, "an argument is outside what the call accepts") \
  X(INVALID_DEVICE_STRING, "text is not a device string") \
  X(UNKNOWN_BACKEND, "no backend of that name is installed") \
  X(NO_SUCH_DEVICE, "the backend has no device of that ordinal") \
  X(DEVICE_UNAVAILABLE, "the backend or device cannot be used here") \
  X(DEVICE_MISMATCH, "operands live on devices that do not combine") \
  X(SHAPE_MISMATCH, "shapes do not fit together") \
  X(DTYPE_MISMATCH, "data types do not fit together") \
  X(SIZE_OVERFLOW, "a size exceeds what can be represented") \
  X(OUT_OF_MEMORY, "memory is exhausted") \
  X(OVERLAP, "memory regions overlap where they must not") \
  X(UNSUPPORTED, "the backend does not offer this") \
  X(CAPTURE_VIOLATION, "not allowed while a graph is being captured") \
  X(MODIFIED_IN_PLACE, "a saved value was changed afterwards") \
  X(NOT_READY, "queued work is not complete yet") \
  X(TIMEOUT, "a time limit passed") \
  X(BAD_PLUGIN, "a plugin breaks the plugin interface") \
  X(ABI_MISMATCH, "a plugin speaks another plugin interface") \
  X(COMPILE_FAILED, "kernel source does not compile") \
  X(LAUNCH_FAILED, "queued work failed") \
  X(DEVICE_LOST, "a device stopped working") \
  X(FORKED, "the backend was in use before fork") \
  X(SHUT_DOWN, "the library has shut down")

typedef enum tn_status {
#define TN_STATUS_ENUM_(name, meaning) TN_##name,
  TN_STATUS_MAP(TN_STATUS_ENUM_)
#undef TN_STATUS_ENUM_
} tn_status;

/* The code's name, such as "TN_OUT_OF_MEMORY"; never NULL (a code
 * outside the list is "TN_UNKNOWN_STATUS"). Static text, any thread. */
TN_API const char *tn_status_name(tn_status status);

/* One line in general words, such as "memory is exhausted"; never NULL.
 * Static text, any thread. */
TN_API const char *tn_status_meaning(tn_status status);

/* The code of this thread's last failed call, TN_OK if there was none or
 * tn_clear_error came since. */
TN_API tn_status tn_last_status(void);

/* The text of this thread's last failed call: one line, without a full stop
 * or newline, naming the values involved and what would be accepted; "" if
 * there was none. Never NULL. Valid until the thread's next failing call. */
TN_API const char *tn_error_message(void);

/* Sets this thread's last error, for libraries on top of this one and for
 * functions that it calls; returns `status`, so that callers can write
 * `return tn_set_error(...)`. Newlines become spaces, long texts are cut. */
TN_API tn_status tn_set_error(tn_status status, const char *format, ...)
    TN_PRINTF(2, 3);

/* Forgets this thread's last error. */
TN_API void tn_clear_error(void);

#ifdef __cplusplus
}
#endif
#endif
