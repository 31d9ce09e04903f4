/* The manual backend: asynchronous, and nothing of it runs before a test lets
 * it, or waits for it on the host. For tests of the core that must not depend
 * on time.
 *
 * Two devices. Memory is the host's, though the backend does not say so. A
 * wait without limit runs what it waits for, in the waiting thread; a wait
 * with one runs nothing. Every stream has a number, in order of creation.
 * Misuse ends the program with a line "manual: ...".
 *
 * TENON_MANUAL is a comma list of: peer (copies between its devices are
 * offered), damage (and go wrong), nofill, norows, nohost (no host functions),
 * unpinned (no pinned memory), notable (no stream table; then all runs at
 * once). TENON_MANUAL_BYTES is the memory of each device (64 MiB).
 *
 * Its modules take a kernel signature for their source, and have kernels of
 * every name but "missing" with it. */
#ifndef TN_TESTS_PLUGINS_MANUAL_H
#define TN_TESTS_PLUGINS_MANUAL_H

#include "tenon/backend.h"

/* A queue of the "vendor", to be wrapped. */
typedef struct manual_native {
  int is_destroyed; /* set by the test; any later use ends the program */
} manual_native;

typedef struct manual_control {
  int (*stream_count)(void); /* made so far */
  /* Runs up to `count` commands; gives how many ran. */
  int (*run)(int stream, int count);
  int (*waiting)(int stream); /* commands that have not run */
  int (*alloc_count)(void);   /* calls of alloc, of kind DEVICE */
  int (*pinned_count)(void);  /* and of kind PINNED */
  int (*copy_count)(void);    /* calls of copy */
  uint64_t (*used)(int ordinal); /* bytes of kind DEVICE */
  void (*fail_next)(void); /* the next command that runs fails */
  /* Of the last launch that ran. */
  const uint64_t *(*slots)(void);
  const tn_backend_launch_desc *(*launch)(void);
  int (*module_count)(void); /* loaded now */
  int (*stream_destroyed)(int stream);
  int (*is_open)(int ordinal);
} manual_control;

/* What the plugin exports beside its entry. */
#define MANUAL_CONTROL_NAME "manual_control_get"
typedef const manual_control *(*manual_control_function)(void);

#endif
