/* tenon doctor */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "tenon/version.h"
#include "tools/candidate.h"
#include "tools/command.h"
#include "tools/facility.h"
#include "tools/json.h"

/* The number in the JSON's "schema_version"; tenon-doctor.1 describes it. */
#define SCHEMA_VERSION 1

typedef struct findings {
  tn_candidates candidates;
  tn_facility facilities[TN_FACILITY_COUNT];
  int problems;
} findings;

static void ignore_layer(const tn_layer_info *layer, void *argument)
{
  (void)layer, (void)argument;
}

static int count_problems(const findings *all)
{
  int problems = all->candidates.problem[0] != 0;
  problems += tn_layer_visit(ignore_layer, NULL) != TN_OK;
  for (int i = 0; i < all->candidates.count; i++)
    problems += all->candidates.rows[i].verdict == TN_VERDICT_REFUSED;
  for (int i = 0; i < TN_FACILITY_COUNT; i++)
    problems += !all->facilities[i].works;
  return problems;
}

static void print_devices(const tn_survey *devices)
{
  for (int i = 0; i < devices->count; i++) {
    const tn_survey_row *row = &devices->rows[i];
    if (tn_survey_is_usable(row)) printf("    device %s\n", row->text);
    else printf("    %s unavailable: %s\n", row->text, row->info.unavailable);
  }
}

static void print_candidate(const tn_candidate *row)
{
  if (row->verdict == TN_VERDICT_PLACE) {
    printf("%s%s%s\n", row->folder, row->reason[0] ? ": " : "", row->reason);
    return;
  }
  const char *slash = strrchr(row->path, '/');
  printf("  %s: %s%s%s\n", slash ? slash + 1 : row->path,
         tn_verdict_name(row->verdict), row->reason[0] ? ": " : "",
         row->reason);
  if (row->remedy[0]) printf("    what to do: %s\n", row->remedy);
  print_devices(&row->devices);
}

static void print_layer(const tn_layer_info *layer, void *argument)
{
  int *count = argument;
  if (!(*count)++) puts("\nLayers around every backend, outermost first:");
  printf("  %s%s%s: %s\n", layer->name, layer->options[0] ? ":" : "",
         layer->options, layer->path);
}

static void print_layers(void)
{
  int count = 0;
  if (tn_layer_visit(print_layer, &count) != TN_OK)
    printf("\nLayers: BROKEN: %s\n  what to do: correct TENON_LAYERS, or "
           "unset it\n", tn_error_message());
}

static void write_layer(const tn_layer_info *layer, void *argument)
{
  tn_json *json = argument;
  tn_json_open(json, NULL, '{');
  tn_json_text(json, "name", layer->name);
  tn_json_text(json, "options", layer->options);
  tn_json_text(json, "path", layer->path);
  tn_json_close(json, '}');
}

static void print_findings(const findings *all)
{
  puts("Places searched for backends, in order:");
  for (int i = 0; i < all->candidates.count; i++)
    print_candidate(&all->candidates.rows[i]);
  if (all->candidates.problem[0]) puts(all->candidates.problem);
  print_layers();
  putchar('\n');
  for (int i = 0; i < TN_FACILITY_COUNT; i++) {
    const tn_facility *facility = &all->facilities[i];
    printf("%s: %s%s\n", facility->name, facility->works ? "" : "BROKEN: ",
           facility->text);
    if (facility->remedy[0]) printf("  what to do: %s\n", facility->remedy);
  }
  if (all->problems)
    printf("\n%d problem%s found.\n", all->problems,
           all->problems == 1 ? "" : "s");
  else puts("\nNo problems found.");
}

static const char *text_or_null(const char *text)
{
  return text[0] ? text : NULL;
}

static void write_devices(tn_json *json, const tn_survey *devices)
{
  tn_json_open(json, "devices", '[');
  for (int i = 0; i < devices->count; i++) {
    const tn_survey_row *row = &devices->rows[i];
    tn_json_open(json, NULL, '{');
    tn_json_text(json, "device", row->text);
    tn_json_bool(json, "available", tn_survey_is_usable(row));
    tn_json_text(json, "unavailable", text_or_null(row->info.unavailable));
    tn_json_close(json, '}');
  }
  tn_json_close(json, ']');
}

static void write_candidate(tn_json *json, const tn_candidate *row)
{
  tn_json_open(json, NULL, '{');
  tn_json_text(json, "folder", row->folder);
  tn_json_text(json, "path", text_or_null(row->path));
  tn_json_text(json, "backend", text_or_null(row->name));
  tn_json_text(json, "verdict", tn_verdict_name(row->verdict));
  tn_json_text(json, "reason", text_or_null(row->reason));
  tn_json_text(json, "remedy", text_or_null(row->remedy));
  write_devices(json, &row->devices);
  tn_json_close(json, '}');
}

static void write_facility(tn_json *json, const tn_facility *facility)
{
  tn_json_open(json, NULL, '{');
  tn_json_text(json, "name", facility->name);
  tn_json_bool(json, "works", facility->works);
  tn_json_text(json, "text", facility->text);
  tn_json_text(json, "remedy", text_or_null(facility->remedy));
  tn_json_close(json, '}');
}

static void write_json(const findings *all)
{
  tn_json json = { .file = stdout };
  tn_json_open(&json, NULL, '{');
  tn_json_text(&json, "schema", "tenon-doctor");
  tn_json_integer(&json, "schema_version", SCHEMA_VERSION);
  tn_json_text(&json, "tenon_version", tn_version());
  tn_json_integer(&json, "problems", all->problems);
  tn_json_open(&json, "candidates", '[');
  for (int i = 0; i < all->candidates.count; i++)
    write_candidate(&json, &all->candidates.rows[i]);
  tn_json_close(&json, ']');
  tn_json_open(&json, "layers", '[');
  tn_layer_visit(write_layer, &json);
  tn_json_close(&json, ']');
  tn_json_open(&json, "facilities", '[');
  for (int i = 0; i < TN_FACILITY_COUNT; i++)
    write_facility(&json, &all->facilities[i]);
  tn_json_close(&json, ']');
  tn_json_close(&json, '}');
}

static tn_exit run(const char *const *values)
{
  double seconds = tn_time_limit("doctor: --timeout", values[1]);
  if (seconds == 0) return TN_EXIT_USAGE;
  findings all;
  tn_candidates_collect(seconds, &all.candidates);
  tn_facilities_try(seconds, all.facilities);
  all.problems = count_problems(&all);
  if (values[0]) write_json(&all);
  else print_findings(&all);
  tn_candidates_release(&all.candidates);
  return all.problems ? TN_EXIT_FOUND : TN_EXIT_OK;
}

const tn_command tn_doctor_command = {
  .name = "doctor",
  .summary = "find out why a backend or device is missing",
  .text = "Shows every place searched for backends, every plugin file found\n"
          "there, accepted or refused with the reason and what to do about\n"
          "it, and whether the default device, the compiler for kernels and\n"
          "the folder that keeps them work. Each plugin is tried in a\n"
          "process of its own, so one that crashes or hangs is reported.",
  .options = {
    { "--json", NULL, "print JSON; its schema is in tenon-doctor(1)" },
    TN_TIME_LIMIT_OPTION,
  },
  .run = run,
};
