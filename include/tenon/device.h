/* Tenon: naming, finding and choosing devices.
 *
 * A device string is `NAME` or `NAME:ORDINAL` ("cpu", "cuda:1"). NAME is a
 * backend: a plugin called tenon-NAME.so. Without an ordinal it means "the
 * backend's current device in this thread", at the time of use. "auto" names
 * the best accelerator present, or else cpu.
 *
 * All functions are thread-safe.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TENON_DEVICE_H
#define TENON_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tenon/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A device, by value. {0, 0} means "not given". index -1 means "no ordinal":
 * the current device of the backend. {-1, -1} is the invalid device, which
 * every call refuses. Compare with tn_device_equal. */
typedef struct tn_device {
  int16_t backend, index;
} tn_device;

/* The longest device string with its final 0. */
#define TN_DEVICE_TEXT_SIZE 40

/* Reads a device string; exactly: letters and underscores, then optionally
 * ':' and "0" or digits without a leading zero. Looks at no hardware, except
 * for "auto". Errors: TN_INVALID_DEVICE_STRING (format), TN_UNKNOWN_BACKEND
 * (no such plugin; the message lists those there are and where they were
 * looked for), TN_NO_SUCH_DEVICE (ordinal above 511). On failure *out is the
 * invalid device. */
TN_API tn_status tn_device_parse(const char *text, tn_device *out);

/* The same for use in expressions: the invalid device on failure. */
TN_API tn_device tn_device_of(const char *text);

/* Writes the device string into `text`, cut at `size` bytes with the final 0;
 * returns the whole length without it, like snprintf; NULL has no room. The
 * invalid device reads "invalid", a device not given "none". Does not fail. */
TN_API int tn_device_format(tn_device device, char *text, size_t size);

/* "cuda" and "cuda:0" differ. */
TN_API bool tn_device_equal(tn_device a, tn_device b);

/* The number of visible devices of a backend (TENON_NAME_VISIBLE_DEVICES
 * masks and reorders). 0 with this thread's error set if the backend is
 * unknown or cannot be used. Creates no context. */
TN_API int tn_device_count(const char *backend);

/* Whether the backend has a device that can be used. Sets no error. */
TN_API bool tn_is_available(const char *backend);

/* The names of all backends found, in no order: writes up to `capacity`
 * pointers (valid for the whole process) and returns how many there are. */
TN_API int tn_backend_list(const char **names, int capacity);

/* Facts of a device. Texts are "" and numbers 0 where unknown. Asking opens
 * nothing; before the first use of a cuda device it may start a child process
 * for a moment, and the memory is then that of the board. */
typedef struct tn_device_info {
  char backend[32], backend_version[32];
  char name[128];
  char driver[128];       /* the backend's runtime and its version */
  char unavailable[512];  /* why the device cannot be used; "" if it can */
  char uuid[37];          /* 8-4-4-4-12 hexadecimal digits */
  char pci_id[16];
  uint64_t memory_total;  /* bytes */
  uint32_t compute_units, max_group_size;
  uint32_t subgroup_sizes; /* bit i set: 2^i lanes */
  int32_t numa_node;       /* -1: unknown */
  uint64_t max_shared_bytes;
  uint64_t generation;     /* changes when a lost device was reset */
  bool host_access;        /* the host may use device memory in place */
  bool f64, fast_fma, denormals, exact_divide, unified, atomic64;
  bool has_launch, has_stream, has_graph; /* the backend's own; else the
                                           * core's */
  char not_reproducible[128]; /* why bits may differ from other devices */
} tn_device_info;

/* Fails with TN_NO_SUCH_DEVICE for an ordinal that is not there; a device
 * that is there and cannot be used is described, with `unavailable`. A device
 * without an ordinal is the current one. */
TN_API tn_status tn_device_get_info(tn_device device, tn_device_info *out);

/* Makes a device the current one of its backend in this thread. Fails and
 * changes nothing if it does not exist; does not open it. */
TN_API tn_status tn_set_device(tn_device device);

/* The current device of a backend in this thread (ordinal 0 in a new thread);
 * the invalid device, with the error set, for an unknown backend. */
TN_API tn_device tn_current_device(const char *backend);

/* The device of factories that are given none, for the whole process. Starts
 * as TENON_DEVICE, or else cpu. A bad TENON_DEVICE is reported by
 * tn_default_device, which then gives the invalid device. */
TN_API tn_status tn_set_default_device(tn_device device);
TN_API tn_device tn_default_device(void);

/* Waits until all work queued on the device is complete, and reports the
 * first failure among it. Does not change the current device. */
TN_API tn_status tn_synchronize(tn_device device);

/* Brings a lost device back (TN_DEVICE_LOST is what all calls for it answer
 * until then). Its memory, streams, events, modules and kernels stay lost.
 * TN_INVALID_ARGUMENT: it is not lost. TN_UNSUPPORTED: the backend cannot. */
TN_API tn_status tn_device_reset(tn_device device);

/* Peer access: kernels of `from` using memory of `to`, two devices of one
 * backend. Enabling twice is enabling once; disabling what is not enabled is
 * TN_INVALID_ARGUMENT. A device reaches itself, without being enabled. */
TN_API bool tn_can_access_peer(tn_device from, tn_device to);
TN_API bool tn_peer_access_enabled(tn_device from, tn_device to);
TN_API tn_status tn_enable_peer_access(tn_device from, tn_device to);
TN_API tn_status tn_disable_peer_access(tn_device from, tn_device to);

/* The vendor's own handle of a device (CUdevice, cl_device_id) and of the
 * context it is used in (CUcontext, cl_context), borrowed. TN_UNSUPPORTED
 * where the backend has none. */
TN_API tn_status tn_device_native(tn_device device, void **native);
TN_API tn_status tn_device_native_context(tn_device device, void **native);

/* Makes `device` the backend's current one until the matching pop, which
 * restores what was current at the push whatever happened between. Pushes
 * nest; pops are in reverse order of pushes, in the same thread. A device that
 * is not given changes nothing. */
typedef struct tn_device_guard {
  tn_device saved;
  int active; /* 0 after a failed push, and after the pop */
} tn_device_guard;

TN_API tn_device_guard tn_device_push(tn_device device);
TN_API void tn_device_pop(tn_device_guard *guard);

/* Ends the library: waits for queued work, gives everything back, in order.
 * Runs by itself at exit. Every later call answers TN_SHUT_DOWN; releasing
 * objects stays legal and does nothing. */
TN_API void tn_shutdown(void);

/* Every place searched for plugins, and every candidate found. */
typedef struct tn_backend_candidate {
  const char *folder; /* where it was found */
  const char *path;   /* NULL: a row about the folder itself */
  const char *name;   /* "cuda", NULL with path */
  const char *reason; /* why it is not used; "" if it is */
  const char *remedy; /* what to do about the reason, one line such as
                       * "chmod o-w /opt/x"; "" if nothing need be done */
  bool is_shadowed;   /* not refused: a file of that name was found before */
} tn_backend_candidate;

/* Calls `visit` for each, in order of search, without loading anything. Texts
 * live during the call. */
TN_API tn_status tn_backend_visit(
    void (*visit)(const tn_backend_candidate *candidate, void *argument),
    void *argument);

/* A layer that TENON_LAYERS wraps around every backend (docs/layers.md). */
typedef struct tn_layer_info {
  const char *name;    /* "trace" */
  const char *options; /* "file=trace.json", "" if none */
  const char *path;    /* of its file */
} tn_layer_info;

/* Calls `visit` for each, outermost first, without loading anything; nothing
 * to visit is TN_OK. TN_INVALID_ARGUMENT for a list that no device could be
 * used with, naming what is wrong. Texts live during the call. */
TN_API tn_status tn_layer_visit(void (*visit)(const tn_layer_info *layer,
                                              void *argument),
                                void *argument);

/* Loads a plugin file and checks it, as a first use would, without taking it
 * into service; for `tenon doctor`, which does it in a child process. */
TN_API tn_status tn_backend_probe(const char *path);

/* tn_with_device(device or "cpu:1") { ... }: the body runs with the device
 * current, and what was current is restored on every way out. `break` and
 * `continue` leave the block. If the device is refused the body is skipped
 * and the error set. */
#ifndef __cplusplus
static inline tn_device tn_device_self_(tn_device device) { return device; }
#define TN_DEVICE_OF_(device) \
  _Generic((device), tn_device: tn_device_self_, \
           char *: tn_device_of, const char *: tn_device_of)(device)
#else
extern "C++" {
static inline tn_device TN_DEVICE_OF_(tn_device device) { return device; }
static inline tn_device TN_DEVICE_OF_(const char *text)
{
  return tn_device_of(text);
}
}
#endif
#define TN_GLUE2_(a, b) a##b
#define TN_GLUE_(a, b) TN_GLUE2_(a, b)
#define TN_BLOCK_(type, name, enter, leave) \
  for (type name __attribute__((cleanup(leave))) = enter; name.active; \
       leave(&name))
#define tn_with_device(device) \
  TN_BLOCK_(tn_device_guard, TN_GLUE_(tn_guard_, __COUNTER__), \
            tn_device_push(TN_DEVICE_OF_(device)), tn_device_pop)

#ifdef __cplusplus
}
#endif
#endif
