#include "config.h"

#include "tools/candidate.h"

#include <stdlib.h>
#include <string.h>

static void write_text(FILE *out, const char *text)
{
  if (!text) text = "";
  fwrite(text, 1, strlen(text) + 1, out);
}

#define FIELD_COUNT 6

static void write_candidate(const tn_backend_candidate *candidate,
                            void *argument)
{
  FILE *out = argument;
  write_text(out, candidate->folder);
  write_text(out, candidate->path);
  write_text(out, candidate->name);
  write_text(out, candidate->reason);
  write_text(out, candidate->remedy);
  write_text(out, candidate->is_shadowed ? "shadowed" : "");
}

static void list_candidates(FILE *out, void *argument)
{
  (void)argument;
  tn_backend_visit(write_candidate, out);
}

/* The next of the texts that end with 0 each; NULL after the last. */
static const char *next_text(const tn_child *child, size_t *at)
{
  if (*at >= child->size) return NULL;
  const char *text = child->data + *at;
  *at += strlen(text) + 1;
  return *at <= child->size ? text : NULL;
}

/* What visiting said; a file without a reason is still to be tried. */
static void fill_row(tn_candidate *row, const char *const *fields)
{
  row->folder = fields[0];
  row->path = fields[1];
  row->name = fields[2];
  snprintf(row->reason, sizeof row->reason, "%s", fields[3]);
  snprintf(row->remedy, sizeof row->remedy, "%s", fields[4]);
  row->verdict = !row->path[0]     ? TN_VERDICT_PLACE
                 : !row->reason[0] ? TN_VERDICT_ACCEPTED
                 : *fields[5]      ? TN_VERDICT_SHADOWED
                                   : TN_VERDICT_REFUSED;
}

static bool read_rows(tn_candidates *all)
{
  const char *fields[FIELD_COUNT];
  for (size_t at = 0;;) {
    for (int i = 0; i < FIELD_COUNT; i++)
      if (!(fields[i] = next_text(&all->list, &at))) return true;
    tn_candidate *rows =
        realloc(all->rows, ((size_t)all->count + 1) * sizeof *rows);
    if (!rows) return false;
    all->rows = rows;
    rows[all->count] = (tn_candidate){ 0 };
    fill_row(&rows[all->count++], fields);
  }
}

static void probe(FILE *out, void *argument)
{
  tn_status status = tn_backend_probe(*(const char *const *)argument);
  fwrite(&status, sizeof status, 1, out);
  if (status != TN_OK) write_text(out, tn_error_message());
}

static const char *remedy_of(tn_status status)
{
  switch (status) {
    case TN_ABI_MISMATCH:
      return "install the backend that belongs to this version of the "
             "library, or rebuild it with the installed tenon/backend.h";
    case TN_BAD_PLUGIN:
      return "replace the file; its author can test it with tenon doctor";
    case TN_DEVICE_UNAVAILABLE:
      return "install what is missing, or remove the file";
    default:
      return "remove the file, or report it to its author";
  }
}

static void refuse(tn_candidate *row, const char *reason, const char *remedy)
{
  row->verdict = TN_VERDICT_REFUSED;
  snprintf(row->reason, sizeof row->reason, "%s", reason);
  snprintf(row->remedy, sizeof row->remedy, "%s", remedy);
}

static const char remedy_of_crash[] =
    "remove the file, or report it to its author: every program that names "
    "this backend suffers the same";

/* The message without the path that it begins with: that is said already. */
static const char *reason_in(const char *message, const char *path)
{
  size_t length = strlen(path);
  bool named = strncmp(message, path, length) == 0 &&
               strncmp(message + length, ": ", 2) == 0;
  return named ? message + length + 2 : message;
}

static void try_plugin(tn_candidate *row, double seconds)
{
  tn_child child;
  tn_child_run(probe, &row->path, seconds, &child);
  tn_status status;
  if (child.problem[0]) {
    refuse(row, child.problem, remedy_of_crash);
  } else if (child.size < sizeof status) {
    refuse(row, "ended the process without an answer", remedy_of_crash);
  } else {
    memcpy(&status, child.data, sizeof status);
    if (status != TN_OK)
      refuse(row, reason_in(child.data + sizeof status, row->path),
             remedy_of(status));
  }
  tn_child_release(&child);
}

/* A plugin that loads may still crash when it is asked. */
static bool ask_for_devices(tn_candidate *row, double seconds)
{
  if (!tn_survey_ask(&row->devices, row->name, seconds)) return false;
  const tn_survey_row *last = &row->devices.rows[row->devices.count - 1];
  if (!last->is_broken) return true;
  char reason[sizeof row->reason];
  snprintf(reason, sizeof reason, "asked for its devices, it %s",
           last->info.unavailable);
  refuse(row, reason, remedy_of_crash);
  return true;
}

void tn_candidates_collect(double seconds, tn_candidates *all)
{
  *all = (tn_candidates){ 0 };
  tn_child_run(list_candidates, NULL, seconds, &all->list);
  if (all->list.problem[0])
    snprintf(all->problem, sizeof all->problem, "the search for backends %s",
             all->list.problem);
  bool done = read_rows(all);
  for (int i = 0; done && i < all->count; i++) {
    tn_candidate *row = &all->rows[i];
    if (row->verdict == TN_VERDICT_ACCEPTED) try_plugin(row, seconds);
    if (row->verdict == TN_VERDICT_ACCEPTED)
      done = ask_for_devices(row, seconds);
  }
  if (!done)
    snprintf(all->problem, sizeof all->problem, "memory is exhausted");
}

void tn_candidates_release(tn_candidates *all)
{
  for (int i = 0; i < all->count; i++)
    tn_survey_release(&all->rows[i].devices);
  free(all->rows);
  tn_child_release(&all->list);
  *all = (tn_candidates){ 0 };
}

const char *tn_verdict_name(tn_verdict verdict)
{
  switch (verdict) {
    case TN_VERDICT_PLACE: return "place";
    case TN_VERDICT_ACCEPTED: return "accepted";
    case TN_VERDICT_SHADOWED: return "shadowed";
    case TN_VERDICT_REFUSED: return "refused";
  }
  return "unknown";
}
