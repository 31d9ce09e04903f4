/* The liar: a plugin that passes every call on to an honest one and breaks
 * exactly one promise of tenon/backend.h, or none. For tests of the
 * conformance suite.
 *
 *   TN_LIAR_BASE=FILE   the honest plugin (tenon-cpu.so, tenon-remote.so)
 *   TN_LIAR_WITHOUT=WHAT  no table launch or graph, no capture_after or
 *                       update in that; captured_fills: refused. No lies
 *   TN_LIE=NAME         the promise that is broken; unset: none
 *   TENON_LIAR_FAIL=launch:N  the N-th launch fails when it runs: remote's by
 *                       itself; around others there are no graphs then
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
  tn_backend_graph_table graph;
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
    liar_point_lies[], liar_capture_lies[], liar_graph_lies[],
    liar_update_lies[];

/* A stream of the lie's own, on the device that this thread made the last
 * stream on; once liar_note_devices was called. */
tn_backend_stream *liar_aside(void);
void liar_note_devices(void);

/* Captured fills are TN_UNSUPPORTED, as they may be. */
void liar_refuse_captured_fills(void);

/* Makes TENON_LIAR_FAIL work; whether it is set. */
bool liar_fail_init(void);

#endif
