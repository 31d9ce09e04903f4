/* The parts of `tenon conform`. */
#ifndef TN_TOOLS_CONFORM_H
#define TN_TOOLS_CONFORM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "conformance/suite.h"

typedef enum tn_outcome {
  TN_OUTCOME_PASS,
  TN_OUTCOME_FAIL,
  TN_OUTCOME_ABSENT, /* the device has no such feature */
  TN_OUTCOME_KNOWN,  /* fails, as a list of known failures says */
  TN_OUTCOME_STALE   /* passes, though the list says that it fails */
} tn_outcome;

/* "pass" */
const char *tn_outcome_name(tn_outcome outcome);

typedef struct tn_conform_result {
  const conform_test *test;
  char id[64];
  tn_outcome outcome;
  char text[1024]; /* why it failed, what is absent */
  const char *reason; /* of a known failure, borrowed; or NULL */
  char *output;    /* what a failed test printed; or NULL */
  double seconds;
} tn_conform_result;

typedef struct tn_conform_device {
  char text[40]; /* "cpu:0" */
  bool has_launch, has_stream, has_graph;
  int device_count; /* of its backend */
  tn_conform_result *results;
  size_t count;
  conform_level level;
} tn_conform_device;

typedef struct tn_conform {
  tn_conform_device *devices;
  size_t device_count;
  const char *filter; /* NULL: all tests */
  uint32_t seed;
  double seconds; /* for each test */
  size_t printed; /* lines of TAP */
  bool has_failed;
} tn_conform;

/* ---- conform_process.c: one test in a process of its own ---- */

/* Runs a test of a device; fills all but the id and what a list knows. */
void tn_conform_try(const tn_conform *run, const char *device,
                    tn_conform_result *result);

/* Asks what the device has; false with the reason in `text`. */
bool tn_conform_ask(const tn_conform *run, tn_conform_device *device,
                    char *text, size_t size);

/* ---- conform_known.c: lists of known failures ---- */

typedef struct tn_known {
  char *id, *reason;
  bool is_used;
  struct tn_known *next;
} tn_known;

/* A line is an id and a reason; # begins a comment. False after a complaint;
 * a file that is not there is an empty list unless it is needed. */
bool tn_known_read(const char *path, bool is_needed, tn_known **list);

/* NULL if the id is not listed. */
const tn_known *tn_known_find(const tn_known *list, const char *id);

/* ---- conform_report.c ---- */

void tn_conform_print(tn_conform *run, const tn_conform_device *device,
                      const tn_conform_result *result);

/* An entry of the list that names no test. */
void tn_conform_print_unknown(tn_conform *run, const tn_known *known);

/* What the tests lacked, and of how many. */
void tn_conform_print_absent(const tn_conform *run);
void tn_conform_print_table(const tn_conform_device *device);
void tn_conform_print_level(const tn_conform *run);
void tn_conform_write_json(const tn_conform *run, FILE *file);

#endif
