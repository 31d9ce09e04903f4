/* Parts of tests on the manual backend (tests/plugins/manual.h), each in a
 * process of its own with its own options. */
#ifndef TN_TESTS_MANUAL_DEVICE_H
#define TN_TESTS_MANUAL_DEVICE_H

#include <tenon/tenon.h>

#include "tests/plugins/manual.h"
#include "tests/tap.h"

/* Of the plugin that the part's library uses. */
extern const manual_control *manual;

/* manual:0 and manual:1, and no device at all. */
extern tn_device manual_first, manual_second, manual_host;

/* Runs `part` in a child with TENON_MANUAL=options; its results become ours.
 * The library must not have been used before. */
void manual_part(const char *options, void (*part)(void));

/* A new pooled stream of manual:0 and its number in the plugin. */
tn_stream *manual_stream(int *number);

#endif
