/* Modules and kernels. */
#ifndef TN_CORE_LAUNCH_MODULE_H
#define TN_CORE_LAUNCH_MODULE_H

#include "core/base/refcount.h"
#include "core/exec/stream.h"
#include "core/launch/signature.h"
#include "core/memory/uses.h"
#include "tenon/kernel.h"

struct tn_module {
  tn_refcount refs;
  tn_device_state *state;
  tn_device_state *runner;   /* whose launch table it is of: see runner.c */
  tn_backend_module *handle; /* the runner's */
  char *name;
  char *family; /* of built-in ones, else NULL */
  /* After the last reference: the launches that may still run. */
  tn_uses uses;
  bool is_unsure; /* not all of them could be noted: it stays till they are */
  tn_module *next, *before; /* of the launcher; under its lock */
};

typedef struct tn_native tn_native;

struct tn_kernel {
  tn_device_state *state;
  /* The plugin's own; NULL: tn_kernel_run. */
  tn_status (*launch)(tn_backend_stream *, tn_backend_kernel *,
                      const tn_backend_launch_desc *, const uint64_t *);
  tn_backend_kernel *handle;
  tn_native *native; /* a C function; then launch and handle are NULL */
  tn_tag tag;
  tn_refcount refs;
  tn_module *module;  /* referenced; NULL for native ones */
  const char *name, *text; /* of the signature; both in one piece of memory */
  tn_signature signature;
};

/* A device's modules. */
typedef struct tn_launcher {
  pthread_mutex_t lock;
  tn_module *modules; /* held by the program */
  tn_module *leaving; /* no more, but launches may still run */
} tn_launcher;

/* Made at first use; NULL without memory. */
tn_launcher *tn_launcher_of(tn_device_state *state);

/* Unloads the modules that left and whose launches are past. */
void tn_launcher_poll(tn_launcher *launcher);

/* A module from a description; the caller is inside tn_enter. `family`: of
 * built-in ones, else NULL. On failure NULL with the error set, and the
 * plugin's status, before its text, in *status. */
tn_module *tn_module_make(tn_device_state *state, const tn_module_desc *desc,
                          tn_status *status);

/* The module of a family that the program has already, referenced. */
tn_module *tn_module_find_family(tn_device_state *state, const char *family);

/* A kernel with its texts, without anything of a backend. */
tn_kernel *tn_kernel_make(tn_device_state *state, const char *name,
                          const char *text);

/* Runs a kernel that no launch table of its device's runs: a C function, or
 * one over mirrors. */
tn_status tn_kernel_run(tn_kernel *kernel, tn_stream *stream,
                        const tn_backend_launch_desc *desc,
                        const uint64_t *slots);

/* ---- runner.c ---- */

/* The device that runs a device's kernels: itself, or the cpu in its place. */
tn_status tn_runner_of(tn_device_state *state, tn_device_state **runner);

/* ---- native.c ---- */

/* Calls the function now, or queues the call. */
tn_status tn_native_launch(tn_kernel *kernel, tn_stream *stream,
                           const uint64_t *slots);
void tn_native_release(tn_native *native);

#endif
