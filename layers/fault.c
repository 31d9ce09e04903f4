/* The layer `fault`: the n-th call of an entry answers a status of choice,
 * and the backend is not asked; or it queues work that fails with that status
 * later. docs/layers.md. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/fault_late.h"
#include "layers/forward.h"
#include "layers/option.h"

typedef struct fault {
  forward_entry entry;
  tn_status status;
  uint64_t first; /* counted from 1 */
  bool is_lasting; /* all later calls too */
  bool is_late;
  uint64_t calls;
} fault;

static const struct {
  const char *name;
  tn_status status;
} statuses[] = {
#define X(name, meaning) { #name, TN_##name },
  TN_STATUS_MAP(X)
#undef X
};

/* Entries that return nothing cannot fail. */
static const forward_entry silent[] = {
  FORWARD_device_close,         FORWARD_device_shutdown,
  FORWARD_alloc_free,           FORWARD_alloc_release,
  FORWARD_launch_module_unload, FORWARD_stream_destroy,
  FORWARD_stream_point_release, FORWARD_graph_destroy,
};

static bool can_fail(forward_entry entry)
{
  for (size_t i = 0; i < sizeof silent / sizeof silent[0]; i++)
    if (silent[i] == entry) return false;
  return true;
}

/* The entries of the table that `text` begins with, or all tables. */
static tn_status refuse_entry(const tn_host_api *host, const char *text)
{
  char names[400] = "";
  size_t used = 0, table = strcspn(text, ".");
  for (int i = 0; i < FORWARD_ENTRY_COUNT && used < sizeof names; i++)
    if (can_fail((forward_entry)i) &&
        strncmp(forward_entry_names[i], text, table + 1) == 0)
      used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
                               used ? ", " : "", forward_entry_names[i]);
  return host->error(TN_INVALID_ARGUMENT, "entry=%.40s: accepted are %s",
                     text, used ? names
                                : "TABLE.ENTRY of the tables device, alloc, "
                                  "copy, launch, stream, graph, math");
}

static tn_status read_entry(const tn_host_api *host, const char *text,
                            fault *out)
{
  for (int i = 0; i < FORWARD_ENTRY_COUNT; i++)
    if (strcmp(forward_entry_names[i], text) == 0 &&
        can_fail((forward_entry)i)) {
      out->entry = (forward_entry)i;
      return TN_OK;
    }
  return refuse_entry(host, text);
}

static tn_status refuse_status(const tn_host_api *host, const char *text)
{
  char names[400] = "";
  size_t used = 0;
  for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
    if (statuses[i].status != TN_OK && used < sizeof names)
      used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
                               used ? ", " : "", statuses[i].name);
  return host->error(TN_INVALID_ARGUMENT, "status=%.40s: accepted are %s",
                     text, names);
}

static tn_status read_status(const tn_host_api *host, const char *text,
                             fault *out)
{
  for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
    if (strcmp(statuses[i].name, text) == 0 && statuses[i].status != TN_OK) {
      out->status = statuses[i].status;
      return TN_OK;
    }
  return refuse_status(host, text);
}

static tn_status read_number(const tn_host_api *host, const char *text,
                             fault *out)
{
  char digits[24];
  size_t length = strlen(text);
  out->is_lasting = length && text[length - 1] == '+';
  if (out->is_lasting) length--;
  snprintf(digits, sizeof digits, "%.*s", (int)length, text);
  if (layer_number(digits, &out->first) && out->first) return TN_OK;
  return host->error(TN_INVALID_ARGUMENT, "n=%s: the number of a call from 1 "
                     "up is accepted, with a + for all from there on", text);
}

static tn_status read_late(const tn_host_api *host, const char *text,
                           fault *out)
{
  out->is_late = strcmp(text, "yes") == 0;
  if (!out->is_late && strcmp(text, "no") != 0)
    return host->error(TN_INVALID_ARGUMENT, "late=%s: accepted are yes, no",
                       text);
  if (!out->is_late || fault_can_be_late(out->entry)) return TN_OK;
  return host->error(TN_INVALID_ARGUMENT, "late=yes: %s queues nothing that "
                     "could fail later: accepted are launch.launch, "
                     "copy.copy, copy.fill, graph.launch, math.call",
                     forward_entry_names[out->entry]);
}

static tn_status read_options(const tn_host_api *host, fault *out)
{
  char entry[64] = "", n[24] = "1", status[64] = "", late[8] = "no";
  const layer_option options[] = {
    { "entry", entry, sizeof entry, "TABLE.ENTRY" },
    { "n", n, sizeof n, "NUMBER or NUMBER+" },
    { "status", status, sizeof status, "STATUS" },
    { "late", late, sizeof late, "yes or no" },
  };
  tn_status answer = layer_options_read(host, options, 4);
  if (answer == TN_OK) answer = read_entry(host, entry, out);
  if (answer == TN_OK) answer = read_number(host, n, out);
  if (answer == TN_OK) answer = read_status(host, status, out);
  if (answer == TN_OK) answer = read_late(host, late, out);
  return answer;
}

static tn_status fail(forward_call *call, const fault *f, uint64_t number)
{
  char text[120];
  snprintf(text, sizeof text, "the fault layer fails call %llu of %s",
           (unsigned long long)number, forward_entry_names[f->entry]);
  if (f->is_late && fault_queue(call, f->status, text)) {
    call->is_done = true;
    return TN_OK;
  }
  return call->backend->host->error(f->status, "%s", text);
}

static tn_status before(forward_call *call)
{
  fault *f = call->backend->data;
  if (call->entry == FORWARD_stream_destroy) fault_forget(call->stream);
  if (call->entry != f->entry) return TN_OK;
  uint64_t number = __atomic_add_fetch(&f->calls, 1, __ATOMIC_RELAXED);
  if (number != f->first && !(f->is_lasting && number > f->first))
    return TN_OK;
  return fail(call, f, number);
}

static void after(forward_call *call)
{
  if (call->entry == FORWARD_stream_take_error && call->status == TN_OK)
    fault_tell(call->stream, call->failure);
}

const tn_backend_api *tn_backend_entry(const tn_host_api *host,
                                       const tn_backend_api *next)
{
  static const forward_hooks hooks = { .before = before, .after = after };
  fault read = { .calls = 0 };
  if (next && read_options(host, &read) != TN_OK) return NULL;
  forward_backend *backend = forward_make(host, next, &hooks);
  if (!backend) return NULL;
  fault *kept = malloc(sizeof *kept);
  if (!kept) {
    host->error(TN_OUT_OF_MEMORY, "no memory for the fault layer");
    return NULL;
  }
  *kept = read;
  backend->data = kept;
  return &backend->api;
}
