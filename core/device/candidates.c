/* What was found where, and why it is not used (tenon/device.h). */
#include "config.h"

#include "tenon/device.h"

#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/shutdown.h"
#include "core/device/backend_name.h"
#include "core/device/plugin.h"
#include "core/device/registry.h"
#include "core/device/trust.h"

typedef struct reader {
  void (*visit)(const tn_backend_candidate *candidate, void *argument);
  void *argument;
} reader;

static void judge_place(const tn_search_row *row, tn_verdict *verdict)
{
  if (row->problem[0]) tn_verdict_reason(verdict, "%s", row->problem);
}

/* What to do about a plugin that was refused when it was loaded. */
static void judge_refused(const tn_backend_slot *slot, tn_verdict *verdict)
{
  tn_verdict_reason(verdict, "%s", slot->reason);
  switch (slot->refusal) {
  case TN_DEVICE_UNAVAILABLE:
    tn_verdict_remedy(verdict, "install what it needs, or remove it");
    break;
  case TN_ABI_MISMATCH:
    tn_verdict_remedy(verdict, "install the version made for this library, "
                      "or build it anew");
    break;
  default:
    tn_verdict_remedy(verdict, "report it to its makers, or remove it");
  }
}

static void judge_other(const tn_search_row *row, const tn_backend_slot *slot,
                        tn_verdict *verdict)
{
  verdict->is_shadowed = true;
  if (tn_identity_equal(row->file->identity, slot->identity))
    tn_verdict_reason(verdict, "is the same file as %s", slot->path);
  else {
    tn_verdict_reason(verdict, "%s was found before it", slot->path);
    tn_verdict_remedy(verdict, "to use it, put its folder first in "
                      "TENON_BACKEND_PATH");
  }
}

static void judge_named(const tn_search_row *row, const char *name,
                        size_t length, tn_verdict *verdict)
{
  tn_backend_slot *slot;
  const char *path = row->file->path;
  if (!row->file->identity.inode) {
    tn_verdict_reason(verdict, "is a link to a file that is missing");
    tn_verdict_remedy(verdict, "remove %s", path);
  } else if (tn_registry_locate(name, length, &slot) != TN_OK)
    tn_verdict_reason(verdict, "%s", tn_error_message());
  else if (strcmp(slot->path, path) != 0)
    judge_other(row, slot, verdict);
  else if (atomic_load(&slot->stage) == TN_STAGE_REFUSED)
    judge_refused(slot, verdict);
  else tn_trust_file(path, verdict);
}

static void judge_file(const tn_search_row *row, const char *name,
                       size_t length, tn_verdict *verdict)
{
  if (!name) {
    tn_verdict_reason(verdict, "a plugin file is called tenon-NAME.so");
    tn_verdict_remedy(verdict, "rename it, or remove it from "
                      "TENON_BACKEND_PATH");
  } else if (!tn_backend_name_is_legal(name, length)) {
    tn_verdict_reason(verdict, "\"%.*s\" cannot name a backend: a name is "
                      TN_BACKEND_NAME_RULE ", and not auto, none or invalid",
                      (int)length, name);
    tn_verdict_remedy(verdict, "remove %s", row->file->path);
  } else judge_named(row, name, length, verdict);
}

static void report_row(const tn_search_row *row, void *argument)
{
  const reader *to = argument;
  tn_verdict verdict;
  tn_verdict_clear(&verdict);
  char text[256] = "";
  tn_backend_candidate candidate = {
    .folder = row->place, .reason = verdict.reason, .remedy = verdict.remedy
  };
  if (row->file) {
    size_t length;
    const char *name = tn_backend_name_in(row->file->path, &length);
    judge_file(row, name, length, &verdict);
    if (name) snprintf(text, sizeof text, "%.*s", (int)length, name);
    candidate.path = row->file->path;
    candidate.name = text;
  } else judge_place(row, &verdict);
  candidate.is_shadowed = verdict.is_shadowed;
  to->visit(&candidate, to->argument);
}

tn_status tn_backend_visit(
    void (*visit)(const tn_backend_candidate *candidate, void *argument),
    void *argument)
{
  if (tn_is_shut_down()) return tn_refuse_shut_down();
  if (!visit)
    return tn_error(TN_INVALID_ARGUMENT, "tn_backend_visit: visit is NULL");
  tn_registry_locate_all();
  reader to = { visit, argument };
  tn_search_visit(report_row, &to);
  return TN_OK;
}

/* A file that is in service was probed by its own first use. */
static bool is_loaded(const char *path)
{
  int count = atomic_load_explicit(&tn_registry.filled, memory_order_acquire);
  for (int id = 1; id <= count; id++) {
    const tn_backend_slot *slot = tn_registry_at(id);
    if (strcmp(slot->path, path) == 0 &&
        atomic_load(&slot->stage) == TN_STAGE_LOADED)
      return true;
  }
  return false;
}

static tn_status probe(const char *path, const char *name)
{
  tn_backend_api api;
  tn_backend backend;
  memset(&backend, 0, sizeof backend);
  tn_status status = tn_plugin_load(path, name, &api, &backend);
  if (status == TN_OK) return TN_OK;
  char reason[TN_ERROR_TEXT_SIZE];
  snprintf(reason, sizeof reason, "%s", tn_error_message());
  return tn_error(status, "%s: %s", path, reason);
}

tn_status tn_backend_probe(const char *path)
{
  if (tn_is_shut_down()) return tn_refuse_shut_down();
  if (!path || !strchr(path, '/'))
    return tn_error(TN_INVALID_ARGUMENT, "tn_backend_probe: %s is no path "
                    "with a folder", path ? path : "NULL");
  size_t length;
  const char *name = tn_backend_name_in(path, &length);
  if (!name || !tn_backend_name_is_legal(name, length))
    return tn_error(TN_BAD_PLUGIN, "%s: a plugin file is called tenon-NAME.so, "
                    "where NAME is " TN_BACKEND_NAME_RULE, path);
  if (is_loaded(path)) return TN_OK;
  char text[TN_BACKEND_NAME_SIZE];
  snprintf(text, sizeof text, "%.*s", (int)length, name);
  return probe(path, text);
}
