/* tenon devices */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tenon/version.h"
#include "tools/command.h"
#include "tools/json.h"
#include "tools/survey.h"

/* The number in the JSON's "schema_version"; tenon-devices.1 describes it. */
#define SCHEMA_VERSION 1

static int max_int(int a, int b) { return a > b ? a : b; }

static void print_memory(const tn_device_info *info)
{
  double gib = (double)info->memory_total / (1024.0 * 1024 * 1024);
  if (info->memory_total == 0) printf("%10s", "-");
  else if (gib < 0.95) printf("%6.0f MiB", gib * 1024);
  else printf("%6.1f GiB", gib);
}

/* "cpu 0.1.0", with the runtime below it where there is one. */
static void print_backend(const tn_device_info *info)
{
  printf("%s", info->backend);
  if (info->backend_version[0]) printf(" %s", info->backend_version);
  if (info->driver[0]) printf(" (%s)", info->driver);
}

static void print_notes(const tn_device_info *info, int indent)
{
  if (info->uuid[0]) printf("%*suuid %s\n", indent, "", info->uuid);
  if (!info->has_stream)
    printf("%*sthe core supplies synchronous streams\n", indent, "");
  if (!info->has_launch)
    printf("%*sthe core supplies launch: kernels run on the cpu, over "
           "mirrored blocks\n", indent, "");
  if (info->not_reproducible[0])
    printf("%*sbits may differ from other devices: %s\n", indent, "",
           info->not_reproducible);
}

static void print_row(const tn_survey_row *row, int text_width,
                      int name_width)
{
  printf("%-*s  ", text_width, row->text);
  if (!tn_survey_is_usable(row)) {
    printf("unavailable: %s\n", row->info.unavailable);
    return;
  }
  printf("%-*s  ", name_width, row->info.name[0] ? row->info.name : "-");
  print_memory(&row->info);
  fputs("  ", stdout);
  print_backend(&row->info);
  putchar('\n');
  print_notes(&row->info, text_width + 2);
}

/* The variable that hides devices of a backend, if it is set. */
static const char *find_mask(const char *backend, char *name, size_t size)
{
  snprintf(name, size, "TENON_%s_VISIBLE_DEVICES", backend);
  for (char *c = name; *c; c++)
    if (*c >= 'a' && *c <= 'z') *c = (char)(*c - 'a' + 'A');
  return getenv(name);
}

static void print_masks(const tn_survey *survey)
{
  const char *last = "";
  for (int i = 0; i < survey->count; i++) {
    const char *backend = survey->rows[i].info.backend;
    char name[64];
    const char *value = find_mask(backend, name, sizeof name);
    if (value && strcmp(backend, last) != 0)
      printf("%s=\"%s\" chooses the devices of %s\n", name, value, backend);
    last = backend;
  }
}

static void print_table(const tn_survey *survey)
{
  int text_width = (int)strlen("DEVICE"), name_width = (int)strlen("NAME");
  for (int i = 0; i < survey->count; i++) {
    const tn_survey_row *row = &survey->rows[i];
    text_width = max_int(text_width, (int)strlen(row->text));
    if (tn_survey_is_usable(row))
      name_width = max_int(name_width, (int)strlen(row->info.name));
  }
  printf("%-*s  %-*s  %10s  %s\n", text_width, "DEVICE", name_width, "NAME",
         "MEMORY", "BACKEND");
  for (int i = 0; i < survey->count; i++)
    print_row(&survey->rows[i], text_width, name_width);
  print_masks(survey);
  if (!survey->problem[0])
    printf("The default device is %s.\n", survey->default_device);
}

static const char *text_or_null(const char *text)
{
  return text[0] ? text : NULL;
}

static void write_properties(tn_json *json, const tn_device_info *info)
{
  tn_json_unsigned(json, "memory_bytes", info->memory_total);
  tn_json_unsigned(json, "compute_units", info->compute_units);
  tn_json_unsigned(json, "max_group_size", info->max_group_size);
  tn_json_unsigned(json, "max_shared_bytes", info->max_shared_bytes);
  tn_json_open(json, "subgroup_sizes", '[');
  for (int bit = 0; bit < 32; bit++)
    if (info->subgroup_sizes >> bit & 1)
      tn_json_unsigned(json, NULL, (uint64_t)1 << bit);
  tn_json_close(json, ']');
  if (info->numa_node < 0) tn_json_null(json, "numa_node");
  else tn_json_integer(json, "numa_node", info->numa_node);
  tn_json_open(json, "capabilities", '{');
  tn_json_bool(json, "host_access", info->host_access);
  tn_json_bool(json, "f64", info->f64);
  tn_json_bool(json, "fast_fma", info->fast_fma);
  tn_json_bool(json, "denormals", info->denormals);
  tn_json_bool(json, "exact_divide", info->exact_divide);
  tn_json_bool(json, "unified", info->unified);
  tn_json_bool(json, "atomic64", info->atomic64);
  tn_json_bool(json, "kernels", info->has_launch);
  tn_json_close(json, '}');
  tn_json_open(json, "supplied_by_core", '[');
  if (!info->has_launch) tn_json_text(json, NULL, "launch");
  if (!info->has_stream) tn_json_text(json, NULL, "stream");
  tn_json_close(json, ']');
  tn_json_text(json, "not_reproducible",
               text_or_null(info->not_reproducible));
}

static void write_row(tn_json *json, const tn_survey_row *row)
{
  const tn_device_info *info = &row->info;
  char mask[64];
  tn_json_open(json, NULL, '{');
  tn_json_text(json, "device", row->text);
  tn_json_text(json, "backend", info->backend);
  if (row->ordinal < 0) tn_json_null(json, "ordinal");
  else tn_json_integer(json, "ordinal", row->ordinal);
  tn_json_bool(json, "available", tn_survey_is_usable(row));
  tn_json_text(json, "unavailable", text_or_null(info->unavailable));
  tn_json_text(json, "visible_devices",
               find_mask(info->backend, mask, sizeof mask));
  tn_json_text(json, "backend_version", text_or_null(info->backend_version));
  tn_json_text(json, "driver", text_or_null(info->driver));
  tn_json_text(json, "name", text_or_null(info->name));
  tn_json_text(json, "uuid", text_or_null(info->uuid));
  tn_json_text(json, "pci_id", text_or_null(info->pci_id));
  if (tn_survey_is_usable(row)) write_properties(json, info);
  tn_json_close(json, '}');
}

static void write_json(const tn_survey *survey)
{
  tn_json json = { .file = stdout };
  tn_json_open(&json, NULL, '{');
  tn_json_text(&json, "schema", "tenon-devices");
  tn_json_integer(&json, "schema_version", SCHEMA_VERSION);
  tn_json_text(&json, "tenon_version", tn_version());
  tn_json_text(&json, "default_device",
               text_or_null(survey->default_device));
  tn_json_text(&json, "problem", text_or_null(survey->problem));
  tn_json_open(&json, "devices", '[');
  for (int i = 0; i < survey->count; i++)
    write_row(&json, &survey->rows[i]);
  tn_json_close(&json, ']');
  tn_json_close(&json, '}');
}

static tn_exit run(const char *const *values)
{
  double seconds = tn_time_limit("devices: --timeout", values[1]);
  if (seconds == 0) return TN_EXIT_USAGE;
  tn_survey survey;
  tn_survey_take(seconds, &survey);
  if (values[0]) write_json(&survey);
  else print_table(&survey);
  if (survey.problem[0]) tn_complain("devices: %s", survey.problem);
  int usable = 0;
  for (int i = 0; i < survey.count; i++)
    usable += tn_survey_is_usable(&survey.rows[i]);
  bool fine = usable > 0 && !survey.problem[0];
  tn_survey_release(&survey);
  return fine ? TN_EXIT_OK : TN_EXIT_FOUND;
}

const tn_command tn_devices_command = {
  .name = "devices",
  .summary = "list the devices that can be named",
  .text = "Lists every device: the string that names it, its name, its\n"
          "memory, its backend with version and runtime; or why it cannot\n"
          "be used. Each backend is asked in a process of its own, so one\n"
          "that crashes is listed as unavailable.",
  .options = {
    { "--json", NULL, "print JSON; its schema is in tenon-devices(1)" },
    TN_TIME_LIMIT_OPTION,
  },
  .run = run,
};
