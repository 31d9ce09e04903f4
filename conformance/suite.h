/* The conformance suite: small tests of the rules of docs/semantics.md on any
 * device, which they see by its string and through the public headers only.
 * `tenon conform` runs each in a process of its own. */
#ifndef TN_CONFORMANCE_SUITE_H
#define TN_CONFORMANCE_SUITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The parts of a backend, in order. A level is reached when the backend has
 * the parts up to it and no test of them fails. Graphs are the backend's or
 * the core's. FULL: all rules, also those of tensors on top of it. */
typedef enum conform_level {
  CONFORM_NONE,
  CONFORM_MINIMAL, /* device, alloc, copy */
  CONFORM_LAUNCH,
  CONFORM_STREAMS,
  CONFORM_GRAPHS,
  CONFORM_FULL
} conform_level;

const char *conform_level_name(conform_level level);

/* What rules are about: the columns of the table. */
#define CONFORM_FEATURES(X) \
  X(DEVICE, "device") \
  X(MEMORY, "memory") \
  X(PINNED, "pinned") \
  X(COPY, "copy") \
  X(LAUNCH, "launch") \
  X(STREAM, "stream") \
  X(EVENT, "event") \
  X(GRAPH, "graph") \
  X(TENSOR, "tensor") \
  X(TWO, "two") \
  X(PROCESS, "process")

enum {
#define CONFORM_ORDINAL_(name, text) CONFORM_ORDINAL_##name,
  CONFORM_FEATURES(CONFORM_ORDINAL_)
#undef CONFORM_ORDINAL_
  CONFORM_FEATURE_COUNT
};

typedef enum conform_feature {
#define CONFORM_BIT_(name, text) \
  CONFORM_##name##_BIT = 1 << CONFORM_ORDINAL_##name,
  CONFORM_FEATURES(CONFORM_BIT_)
#undef CONFORM_BIT_
  CONFORM_NO_FEATURE = 0
} conform_feature;

extern const char *const conform_feature_names[CONFORM_FEATURE_COUNT];

typedef struct conform_test {
  const char *rule, *name;  /* "S1" and "order": its id is S1-order */
  conform_level level;
  unsigned features;        /* what it tries, as bits */
  bool is_raw;              /* begins before the library is used */
  const char *text;
  void (*run)(void);
} conform_test;

/* One file of tests. */
typedef struct conform_section {
  const conform_test *tests;
  size_t count;
} conform_section;

extern const conform_section conform_arithmetic, conform_backward,
    conform_backward_streams, conform_callables, conform_captures,
    conform_copies, conform_devices, conform_events, conform_exits,
    conform_failures, conform_graph_memory, conform_graph_random,
    conform_graphs, conform_launches, conform_memory, conform_numbers,
    conform_overlaps, conform_pinned, conform_placement, conform_replays,
    conform_streams, conform_tensors;

/* All tests, by number; NULL behind the last. */
const conform_test *conform_test_at(size_t number);

/* "S1-order" */
void conform_id(const conform_test *test, char *id, size_t size);

/* NULL if there is none of that id. */
const conform_test *conform_find(const char *id);

/* A rule that devices can keep or break. Of each feature that it concerns
 * there is a test, or a reason why there is none. */
typedef struct conform_rule {
  const char *name;
  unsigned concerns; /* features, as bits */
  unsigned untested; /* those of them without a test */
  const char *reason; /* why; NULL with none */
} conform_rule;

/* By number; NULL behind the last. */
const conform_rule *conform_rule_at(size_t number);

/* Runs one test and writes to the file descriptor `report` one line: "pass",
 * "absent NAME", or "fail TEXT"; returns the exit status. The id "facts" gives
 * a line "facts NAME=VALUE ..." about the device. */
int conform_run(const char *device, const char *id, uint32_t seed,
                int report);

#endif
