/* A device in use: what the layers above the registry work with. */
#ifndef TN_CORE_DEVICE_DEVICE_STATE_H
#define TN_CORE_DEVICE_DEVICE_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/shutdown.h"
#include "tenon/backend.h"
#include "tenon/device.h"

/* A loaded backend. The tables are the core's own copies, whole: entries the
 * plugin lacks are NULL there (one call site each asks, and refuses with
 * tn_refuse_absent), except that a backend without streams has the core's
 * synchronous ones. Never freed. */
typedef struct tn_backend {
  char name[TN_BACKEND_NAME_SIZE];
  int16_t id; /* tn_device.backend; 1 and up */
  const tn_backend_api *api;
  tn_backend_device_table device;
  tn_backend_alloc_table alloc;
  tn_backend_copy_table copy;
  tn_backend_launch_table launch;
  tn_backend_stream_table stream;
  tn_backend_graph_table graph;
  tn_backend_math_table math;
  bool has_launch, has_stream, has_graph; /* the plugin's own */
} tn_backend;

/* What a device can do: without a launch table its kernels are the cpu's, with
 * what every cpu has. */
static inline uint32_t tn_capabilities_of(const tn_backend *backend,
                                          uint32_t own)
{
  const uint32_t cpu = TN_CAP_F64 | TN_CAP_DENORMALS | TN_CAP_EXACT_DIVIDE;
  return backend->has_launch ? own : own | cpu;
}

/* An open device. Never freed; the pointers of the upper layers are theirs to
 * fill once (compare-and-swap or under `lock`) and to clear at shutdown. */
typedef struct tn_device_state {
  tn_device device; /* with its ordinal */
  int physical;     /* the plugin's own ordinal, before masking */
  const tn_backend *backend;
  tn_backend_device *handle;
  tn_backend_device_info info;
  _Atomic uint64_t generation;
  atomic_bool lost;
  /* Peers whose memory kernels of this device may use: bit i of word i / 64
   * (core/device/peer.h). */
  _Atomic uint64_t peers[TN_BACKEND_DEVICES_MAX / 64];
  struct tn_device_state *next; /* of the backend's open devices */
  _Atomic(struct tn_stream *) default_stream; /* core/exec */
  _Atomic(struct tn_stream_pool *) streams;   /* core/exec */
  _Atomic(struct tn_allocator *) allocator;   /* core/memory */
  _Atomic(struct tn_launcher *) launcher;     /* core/launch */
} tn_device_state;

/* The open state of a device. Resolves "no ordinal" to this thread's current
 * one, refuses the invalid device, loads the backend and opens the device at
 * first use (exactly once among racing threads), refuses in a forked child
 * and after shutdown. Hot path: no lock, no look-up in a map. A device "not
 * given" ({0, 0}) is refused here; callers that have a default resolve it
 * first. */
tn_status tn_device_acquire(tn_device device, tn_device_state **out);

/* Calls `visit` for every device opened so far. */
void tn_device_visit(void (*visit)(tn_device_state *, void *), void *argument);

/* What a layer does before a lost device is reset: it takes out of the state
 * what it put there, and makes every object of the device that the program
 * still holds refuse its work (their handles are dead). A device of which a
 * layer without such a hook holds anything is not reset. `layer` is one of
 * the steps from TN_SHUTDOWN_GRAPH to TN_SHUTDOWN_EXEC, in whose order the
 * hooks are called. */
void tn_device_reset_hook(tn_shutdown_step layer,
                          void (*hook)(tn_device_state *state));

/* TN_UNSUPPORTED: `backend "remote" has no stream.wrap`. */
tn_status tn_refuse_absent(const tn_backend *backend, const char *entry);

/* Gives the error of a plugin call its context: keeps the plugin's text (or
 * the status's meaning, if the plugin gave none with that status) and
 * prefixes the device: `cuda:1: copy of 64 bytes: TEXT`. Marks the device
 * lost for TN_DEVICE_LOST. Returns `status`. */
tn_status tn_plugin_error(tn_device_state *state, tn_status status,
                          const char *what, ...) TN_PRINTF(3, 4);

/* Marks the device lost, for failures that come without a call. */
void tn_device_lose(tn_device_state *state);

/* The same for entries without a device: `cuda: counting devices: TEXT`. */
tn_status tn_plugin_error_of_backend(const tn_backend *backend,
                                     tn_status status, const char *what, ...)
    TN_PRINTF(3, 4);

#endif
