/* The liar: a plugin that passes every call on to an honest one and breaks
 * exactly one promise of tenon/backend.h, or none. For tests of the
 * conformance suite.
 *
 *   TN_LIAR_BASE=FILE   the honest plugin (tenon-cpu.so, tenon-remote.so)
 *   TN_LIAR_WITHOUT=launch  has no such table: that is no lie
 *   TN_LIE=NAME         the promise that is broken; unset: none
 *   TENON_LIAR_FAIL=launch:N  the N-th launch fails when it runs
 *
 * It hides that cpu's memory is the host's, so that the core asks the plugin
 * for everything. `tests/liars.sh` has the list of lies. */
#ifndef TN_TESTS_PLUGINS_LIAR_H
#define TN_TESTS_PLUGINS_LIAR_H

#include <stdbool.h>

#include "tenon/backend.h"

/* The honest plugin, with copies of its tables to be changed. */
typedef struct liar_tables {
  tn_backend_device_table device;
  tn_backend_alloc_table alloc;
  tn_backend_copy_table copy;
  tn_backend_launch_table launch;
  tn_backend_stream_table stream;
} liar_tables;

extern const tn_host_api *liar_host;
extern liar_tables liar_base, liar_own;

/* One promise broken: `apply` changes the entries of liar_own. */
typedef struct liar_lie {
  const char *name;
  void (*apply)(void);
} liar_lie;

/* By file; ended by one without a name. */
extern const liar_lie liar_device_lies[], liar_memory_lies[],
    liar_copy_lies[], liar_launch_lies[], liar_stream_lies[],
    liar_point_lies[];

/* Makes TENON_LIAR_FAIL work. */
void liar_fail_init(void);

#endif
