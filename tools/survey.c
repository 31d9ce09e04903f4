#include "config.h"

#include "tools/survey.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/child.h"

#define BACKENDS_MAX 64

/* What the first child says: no plugin is loaded for the names, but the
 * default device may be "auto". */
typedef struct roll {
  int count;
  char names[BACKENDS_MAX][sizeof((tn_device_info *)0)->backend];
} roll;

typedef struct choice {
  char device[TN_DEVICE_TEXT_SIZE];
  char problem[1024];
} choice;

static void call_roll(FILE *out, void *argument)
{
  (void)argument;
  roll all = { 0 };
  const char *names[BACKENDS_MAX];
  int count = tn_backend_list(names, BACKENDS_MAX);
  all.count = count < BACKENDS_MAX ? count : BACKENDS_MAX;
  for (int i = 0; i < all.count; i++)
    snprintf(all.names[i], sizeof all.names[i], "%s", names[i]);
  fwrite(&all, sizeof all, 1, out);
}

static void name_default(FILE *out, void *argument)
{
  (void)argument;
  choice chosen = { 0 };
  tn_device device = tn_default_device();
  if (tn_device_equal(device, (tn_device){ -1, -1 }))
    snprintf(chosen.problem, sizeof chosen.problem, "%s",
             tn_error_message());
  else
    tn_device_format(device, chosen.device, sizeof chosen.device);
  fwrite(&chosen, sizeof chosen, 1, out);
}

static void write_row(FILE *out, const char *backend, int ordinal,
                      const tn_device_info *info)
{
  tn_survey_row row = { .ordinal = ordinal, .info = *info };
  if (ordinal < 0) snprintf(row.text, sizeof row.text, "%s", backend);
  else snprintf(row.text, sizeof row.text, "%s:%d", backend, ordinal);
  snprintf(row.info.backend, sizeof row.info.backend, "%s", backend);
  fwrite(&row, sizeof row, 1, out);
  fflush(out); /* what comes next may crash */
}

static void write_reason(FILE *out, const char *backend, int ordinal)
{
  tn_device_info info = { .numa_node = -1 };
  snprintf(info.unavailable, sizeof info.unavailable, "%s",
           *tn_error_message() ? tn_error_message() : "has no devices");
  write_row(out, backend, ordinal, &info);
}

static void list_devices(FILE *out, void *argument)
{
  const char *backend = *(const char *const *)argument;
  int count = tn_device_count(backend);
  if (count == 0) write_reason(out, backend, -1);
  for (int i = 0; i < count; i++) {
    char text[TN_DEVICE_TEXT_SIZE];
    snprintf(text, sizeof text, "%s:%d", backend, i);
    tn_device device;
    tn_device_info info;
    if (tn_device_parse(text, &device) == TN_OK &&
        tn_device_get_info(device, &info) == TN_OK)
      write_row(out, backend, i, &info);
    else
      write_reason(out, backend, i);
  }
}

static bool append(tn_survey *survey, const tn_survey_row *rows, size_t count)
{
  size_t size = ((size_t)survey->count + count) * sizeof *rows;
  tn_survey_row *grown = realloc(survey->rows, size);
  if (!grown) return false;
  survey->rows = grown;
  memcpy(grown + survey->count, rows, count * sizeof *rows);
  survey->count += (int)count;
  return true;
}

/* A backend that crashed or hung has the rows it wrote, and one that says
 * so. */
bool tn_survey_ask(tn_survey *survey, const char *backend, double seconds)
{
  tn_child child;
  tn_child_run(list_devices, &backend, seconds, &child);
  size_t count = child.size / sizeof(tn_survey_row);
  bool done = count == 0 ||
              append(survey, (const tn_survey_row *)(void *)child.data, count);
  if (done && (child.problem[0] || count == 0)) {
    tn_survey_row row = {
      .ordinal = -1, .is_broken = true, .info.numa_node = -1
    };
    snprintf(row.text, sizeof row.text, "%s", backend);
    snprintf(row.info.backend, sizeof row.info.backend, "%s", backend);
    snprintf(row.info.unavailable, sizeof row.info.unavailable, "%s",
             child.problem[0] ? child.problem
                              : "ended the process without an answer");
    done = append(survey, &row, 1);
  }
  tn_child_release(&child);
  return done;
}

static int compare_names(const void *a, const void *b)
{
  return strcmp(a, b);
}

void tn_survey_find_default(tn_survey *survey, double seconds)
{
  tn_child child;
  tn_child_run(name_default, NULL, seconds, &child);
  if (child.size == sizeof(choice)) {
    const choice *chosen = (const choice *)(void *)child.data;
    snprintf(survey->default_device, sizeof survey->default_device, "%s",
             chosen->device);
    snprintf(survey->problem, sizeof survey->problem, "%s", chosen->problem);
  } else {
    snprintf(survey->problem, sizeof survey->problem,
             "the search for the default device %s", child.problem);
  }
  tn_child_release(&child);
}

void tn_survey_take(double seconds, tn_survey *survey)
{
  *survey = (tn_survey){ 0 };
  tn_child child;
  tn_child_run(call_roll, NULL, seconds, &child);
  if (child.size != sizeof(roll)) {
    snprintf(survey->problem, sizeof survey->problem,
             "the search for backends %s", child.problem);
    tn_child_release(&child);
    return;
  }
  roll *all = (roll *)(void *)child.data;
  qsort(all->names, (size_t)all->count, sizeof all->names[0], compare_names);
  bool done = true;
  for (int i = 0; done && i < all->count; i++)
    done = tn_survey_ask(survey, all->names[i], seconds);
  tn_child_release(&child);
  tn_survey_find_default(survey, seconds);
  if (!done)
    snprintf(survey->problem, sizeof survey->problem, "memory is exhausted");
}

void tn_survey_release(tn_survey *survey)
{
  free(survey->rows);
  *survey = (tn_survey){ 0 };
}

bool tn_survey_is_usable(const tn_survey_row *row)
{
  return row->ordinal >= 0 && !row->info.unavailable[0];
}
