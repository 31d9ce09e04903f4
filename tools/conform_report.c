/* TAP, the table of rules and features, JSON. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include <tenon/tenon.h>

#include "tools/conform.h"
#include "tools/json.h"

#define SCHEMA_VERSION 1

const char *tn_outcome_name(tn_outcome outcome)
{
  static const char *const names[] = { "pass", "fail", "absent", "known",
                                       "stale" };
  return names[outcome];
}

static bool is_bad(tn_outcome outcome)
{
  return outcome == TN_OUTCOME_FAIL || outcome == TN_OUTCOME_STALE;
}

/* Lines of a failed test, as comments. */
static void print_output(const char *output)
{
  int lines = 0;
  for (const char *at = output; at && *at && lines < 20; lines++) {
    int length = (int)strcspn(at, "\n");
    printf("#   %.*s\n", length, at);
    at += length + (at[length] == '\n');
  }
}

void tn_conform_print(tn_conform *run, const tn_conform_device *device,
                      const tn_conform_result *r)
{
  bool is_ok = r->outcome == TN_OUTCOME_PASS ||
               r->outcome == TN_OUTCOME_ABSENT;
  printf("%s %zu - %s ", is_ok ? "ok" : "not ok", ++run->printed, r->id);
  if (run->device_count > 1) printf("%s: ", device->text);
  printf("%s", r->test->text);
  if (r->outcome == TN_OUTCOME_ABSENT) printf(" # SKIP absent: %s", r->text);
  if (r->outcome == TN_OUTCOME_KNOWN) printf(" # TO" "DO %s", r->reason);
  putchar('\n');
  if (r->outcome == TN_OUTCOME_STALE)
    printf("# it passes, and is listed as known to fail: %s\n", r->reason);
  if (r->outcome == TN_OUTCOME_FAIL || r->outcome == TN_OUTCOME_KNOWN)
    printf("# %s\n", r->text);
  if (r->outcome == TN_OUTCOME_FAIL) print_output(r->output);
  run->has_failed |= is_bad(r->outcome);
  fflush(stdout);
}

void tn_conform_print_unknown(tn_conform *run, const tn_known *known)
{
  printf("not ok %zu - %s is listed as known to fail, and is no test: %s\n",
         ++run->printed, known->id, known->reason);
  run->has_failed = true;
}

/* ---- what is absent ---- */

/* Whether an earlier test lacks the same. */
static bool is_repeated(const tn_conform_device *d, size_t i)
{
  for (size_t k = 0; k < i; k++)
    if (d->results[k].outcome == TN_OUTCOME_ABSENT &&
        strcmp(d->results[k].text, d->results[i].text) == 0)
      return true;
  return false;
}

/* How many tests lack what this one is the first to lack; 0: it is not. */
static int count_absent(const tn_conform_device *d, size_t i)
{
  int count = 0;
  if (d->results[i].outcome != TN_OUTCOME_ABSENT || is_repeated(d, i))
    return 0;
  for (size_t k = i; k < d->count; k++)
    count += d->results[k].outcome == TN_OUTCOME_ABSENT &&
             strcmp(d->results[k].text, d->results[i].text) == 0;
  return count;
}

void tn_conform_print_absent(const tn_conform *run)
{
  for (size_t k = 0; k < run->device_count; k++) {
    const tn_conform_device *d = &run->devices[k];
    for (size_t i = 0; i < d->count; i++) {
      int count = count_absent(d, i);
      if (count)
        printf("# %s: absent: %s (%d test%s)\n", d->text, d->results[i].text,
               count, count == 1 ? "" : "s");
    }
  }
}

void tn_conform_print_level(const tn_conform *run)
{
  conform_level lowest = CONFORM_FULL;
  for (size_t i = 0; i < run->device_count; i++) {
    const tn_conform_device *d = &run->devices[i];
    if (run->device_count > 1 && !run->filter)
      printf("# %s: level %s\n", d->text, conform_level_name(d->level));
    if (d->level < lowest) lowest = d->level;
  }
  if (run->filter) printf("level: not judged with --filter\n");
  else printf("level: %s\n", conform_level_name(lowest));
}

/* ---- the table ---- */

typedef struct cell {
  int passed, failed, absent, known;
} cell;

static cell count_cell(const tn_conform_device *device, const char *rule,
                       unsigned feature)
{
  cell c = { 0 };
  for (size_t i = 0; i < device->count; i++) {
    const tn_conform_result *r = &device->results[i];
    if (strcmp(r->test->rule, rule) != 0 || !(r->test->features & feature))
      continue;
    c.passed += r->outcome == TN_OUTCOME_PASS;
    c.failed += is_bad(r->outcome);
    c.absent += r->outcome == TN_OUTCOME_ABSENT;
    c.known += r->outcome == TN_OUTCOME_KNOWN;
  }
  return c;
}

/* What stands in a cell; with a reason the number of its note. */
static void print_cell(const tn_conform_device *device,
                       const conform_rule *rule, unsigned feature, int note)
{
  char text[24];
  cell c = count_cell(device, rule->name, feature);
  if (c.failed) snprintf(text, sizeof text, "FAIL %d", c.failed);
  else if (c.known) snprintf(text, sizeof text, "known %d", c.known);
  else if (c.passed) snprintf(text, sizeof text, "%d", c.passed);
  else if (c.absent) snprintf(text, sizeof text, "absent");
  else if (rule->untested & feature) snprintf(text, sizeof text, "[%d]", note);
  else if (rule->concerns & feature) snprintf(text, sizeof text, "left out");
  else snprintf(text, sizeof text, ".");
  printf(" %8s", text);
}

static void print_row(const tn_conform_device *device,
                      const conform_rule *rule, int note)
{
  printf("# %-5s", rule->name);
  for (int i = 0; i < CONFORM_FEATURE_COUNT; i++)
    print_cell(device, rule, 1u << i, note);
  putchar('\n');
}

void tn_conform_print_table(const tn_conform_device *device)
{
  const conform_rule *rule;
  int note = 0;
  printf("# %s: tests that pass, by rule and by what they try\n# %-5s",
         device->text, "rule");
  for (int i = 0; i < CONFORM_FEATURE_COUNT; i++)
    printf(" %8s", conform_feature_names[i]);
  putchar('\n');
  for (size_t i = 0; (rule = conform_rule_at(i)); i++) {
    note += rule->untested != 0;
    print_row(device, rule, note);
  }
  puts("# .         the rule says nothing about it\n"
       "# absent    the device has not what the tests need\n"
       "# left out  by --filter");
  note = 0;
  for (size_t i = 0; (rule = conform_rule_at(i)); i++) {
    if (!rule->untested) continue;
    note++;
    printf("# [%d]%*s %s: %s\n", note, note < 10 ? 6 : 5, "", rule->name,
           rule->reason);
  }
}

/* ---- JSON ---- */

static void write_result(tn_json *json, const tn_conform_result *r)
{
  tn_json_open(json, NULL, '{');
  tn_json_text(json, "id", r->id);
  tn_json_text(json, "rule", r->test->rule);
  tn_json_text(json, "level", conform_level_name(r->test->level));
  tn_json_open(json, "features", '[');
  for (int i = 0; i < CONFORM_FEATURE_COUNT; i++)
    if (r->test->features & 1u << i)
      tn_json_text(json, NULL, conform_feature_names[i]);
  tn_json_close(json, ']');
  tn_json_text(json, "text", r->test->text);
  tn_json_text(json, "outcome", tn_outcome_name(r->outcome));
  tn_json_text(json, "detail", r->text[0] ? r->text : NULL);
  tn_json_text(json, "reason", r->reason);
  tn_json_integer(json, "microseconds", (int64_t)(r->seconds * 1e6));
  tn_json_close(json, '}');
}

static void write_counts(tn_json *json, const tn_conform_device *d)
{
  for (tn_outcome o = TN_OUTCOME_PASS; o <= TN_OUTCOME_STALE; o++) {
    int64_t count = 0;
    for (size_t i = 0; i < d->count; i++) count += d->results[i].outcome == o;
    tn_json_integer(json, tn_outcome_name(o), count);
  }
}

static void write_absent(tn_json *json, const tn_conform_device *d)
{
  tn_json_open(json, "absent", '[');
  for (size_t i = 0; i < d->count; i++) {
    int count = count_absent(d, i);
    if (!count) continue;
    tn_json_open(json, NULL, '{');
    tn_json_text(json, "name", d->results[i].text);
    tn_json_integer(json, "tests", count);
    tn_json_close(json, '}');
  }
  tn_json_close(json, ']');
}

static void write_device(tn_json *json, const tn_conform *run,
                         const tn_conform_device *d)
{
  tn_json_open(json, NULL, '{');
  tn_json_text(json, "device", d->text);
  tn_json_text(json, "level",
               run->filter ? NULL : conform_level_name(d->level));
  tn_json_open(json, "parts", '[');
  if (d->has_launch) tn_json_text(json, NULL, "launch");
  if (d->has_stream) tn_json_text(json, NULL, "stream");
  if (d->has_graph) tn_json_text(json, NULL, "graph");
  tn_json_close(json, ']');
  tn_json_open(json, "counts", '{');
  write_counts(json, d);
  tn_json_close(json, '}');
  write_absent(json, d);
  tn_json_open(json, "tests", '[');
  for (size_t i = 0; i < d->count; i++) write_result(json, &d->results[i]);
  tn_json_close(json, ']');
  tn_json_close(json, '}');
}

void tn_conform_write_json(const tn_conform *run, FILE *file)
{
  tn_json json = { .file = file };
  tn_json_open(&json, NULL, '{');
  tn_json_text(&json, "schema", "tenon-conform");
  tn_json_integer(&json, "schema_version", SCHEMA_VERSION);
  tn_json_text(&json, "tenon_version", tn_version());
  tn_json_integer(&json, "seed", run->seed);
  tn_json_text(&json, "filter", run->filter);
  tn_json_bool(&json, "passed", !run->has_failed);
  tn_json_open(&json, "devices", '[');
  for (size_t i = 0; i < run->device_count; i++)
    write_device(&json, run, &run->devices[i]);
  tn_json_close(&json, ']');
  tn_json_close(&json, '}');
}
