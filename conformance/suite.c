/* The list of tests, and the rules that they are about. */
#include "config.h"

#include "conformance/suite.h"

#include <stdio.h>
#include <string.h>

static const conform_section *const sections[] = {
  &conform_devices, &conform_memory, &conform_pinned, &conform_copies,
  &conform_overlaps, &conform_launches, &conform_streams, &conform_events,
  &conform_failures, &conform_exits, &conform_graphs, &conform_replays,
  &conform_captures, &conform_graph_memory, &conform_graph_random,
  &conform_placement, &conform_tensors, &conform_backward_streams,
  &conform_backward, &conform_callables, &conform_arithmetic,
  &conform_numbers,
};

const char *conform_level_name(conform_level level)
{
  static const char *const names[] = { "none", "minimal", "launch", "streams",
                                       "graphs", "full" };
  return names[level];
}

const char *const conform_feature_names[CONFORM_FEATURE_COUNT] = {
#define CONFORM_TEXT_(name, text) text,
  CONFORM_FEATURES(CONFORM_TEXT_)
#undef CONFORM_TEXT_
};

const conform_test *conform_test_at(size_t number)
{
  for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
    if (number < sections[i]->count) return &sections[i]->tests[number];
    number -= sections[i]->count;
  }
  return NULL;
}

void conform_id(const conform_test *test, char *id, size_t size)
{
  snprintf(id, size, "%s-%s", test->rule, test->name);
}

const conform_test *conform_find(const char *id)
{
  const conform_test *test;
  char own[64];
  for (size_t i = 0; (test = conform_test_at(i)); i++) {
    conform_id(test, own, sizeof own);
    if (strcmp(own, id) == 0) return test;
  }
  return NULL;
}

#define D CONFORM_DEVICE_BIT
#define M CONFORM_MEMORY_BIT
#define I CONFORM_PINNED_BIT
#define C CONFORM_COPY_BIT
#define L CONFORM_LAUNCH_BIT
#define S CONFORM_STREAM_BIT
#define E CONFORM_EVENT_BIT
#define G CONFORM_GRAPH_BIT
#define V CONFORM_TENSOR_BIT
#define T CONFORM_TWO_BIT
#define P CONFORM_PROCESS_BIT
static const char core_only[] = "decided by the core alone, and tested there";

static const conform_rule rules[] = {
  { "D1", D, 0, NULL },
  { "D2", D | T, 0, NULL },
  { "D3", D | M, 0, NULL },
  { "D4", D, 0, NULL },
  { "D5", D, 0, NULL },
  { "D6", D | S | T, 0, NULL },
  { "D7", D | T | P, 0, NULL },
  { "D8", D | P, 0, NULL },
  { "D9", D | P, 0, NULL },
  { "D10", D | T, T, "threads race for one device; for two, device_race of "
    "the core's tests" },
  { "T1", T | V, 0, NULL },
  { "T2", T | V, 0, NULL },
  { "T3", C | T | V, 0, NULL },
  { "T4", C | V, 0, NULL },
  { "T5", T | V, 0, NULL },
  { "T6", M | C | L | V, L, "launches of 0 items are in N1-hint" },
  { "T7", C | S | V, 0, NULL },
  { "T8", V, 0, NULL },
  { "S1", C | L | S | E, 0, NULL },
  { "S2", C | I | S, 0, NULL },
  { "S3", C | S | T, 0, NULL },
  { "S4", C | S | E, 0, NULL },
  { "S5", C | S | E | T, 0, NULL },
  { "S6", C | L | S | E | G, 0, NULL },
  { "S7", S, 0, NULL },
  { "S8", S | T, T, "queueing on a second device uses locks of its own" },
  { "M1", M | T, 0, NULL },
  { "M2", M | S, 0, NULL },
  { "M3", M | S | T, S | T, core_only },
  { "M4", M, 0, NULL },
  { "M5", M, 0, NULL },
  { "M6", M, 0, NULL },
  { "M7", M, 0, NULL },
  { "M8", M, 0, NULL },
  { "P1", I | C | P, 0, NULL },
  { "P2", I | C | S | T, T, "which device a copy was on is the core's book" },
  { "P3", I, 0, NULL },
  { "B1", S | T | V, 0, NULL },
  { "B2", M | S | V, 0, NULL },
  { "B3", S | V, 0, NULL },
  { "B4", V, 0, NULL },
  { "B5", V, 0, NULL },
  { "G1", M | I | C | L | S | G, 0, NULL },
  { "G2", L | S | E | G, 0, NULL },
  { "G3", L | S | E | G | T, 0, NULL },
  { "G4", M | L | S | G, 0, NULL },
  { "G5", S | G | V, 0, NULL },
  { "G6", L | S | G, 0, NULL },
  { "G7", L | S | G, 0, NULL },
  { "C1", G | V, 0, NULL },
  { "C2", M | S | G | V, 0, NULL },
  { "C3", G | V, 0, NULL },
  { "X1", V, V, "DLPack is not there yet" },
  { "X2", D, D, core_only },
  { "X3", D | L, 0, NULL },
  { "X4", M | S | P, 0, NULL },
  { "N1", L | V, 0, NULL },
  { "N2", L | V, 0, NULL },
  { "N3", L | V, 0, NULL },
  { "N4", L | V, 0, NULL },
};

const conform_rule *conform_rule_at(size_t number)
{
  return number < sizeof rules / sizeof *rules ? &rules[number] : NULL;
}
