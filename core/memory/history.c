/* Recording events of a device's memory. */
#include "config.h"

#include <string.h>

#include "core/base/error.h"
#include "core/memory/snapshot.h"

static tn_status refuse_action(const char *name, size_t length)
{
  char names[160];
  size_t used = 0;
  for (int i = 0; i < TN_TRACE_ACTIONS; i++)
    used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
                             i ? ", " : "", tn_trace_action_names[i]);
  return tn_error(TN_INVALID_ARGUMENT, "history of memory: unknown action "
                  "\"%.*s\": actions are %s", (int)length, name, names);
}

static tn_status read_skip(const char *text, uint32_t *skip)
{
  *skip = 0;
  while (text && *text) {
    size_t length = strcspn(text, ",");
    int i = 0;
    while (i < TN_TRACE_ACTIONS &&
           (strlen(tn_trace_action_names[i]) != length ||
            strncmp(tn_trace_action_names[i], text, length) != 0))
      i++;
    if (i == TN_TRACE_ACTIONS) return refuse_action(text, length);
    *skip |= 1u << i;
    text += length + (text[length] == ',');
  }
  return TN_OK;
}

tn_status tn_memory_record_history_with(tn_device device, size_t entries,
                                        tn_memory_history_options options)
{
  uint32_t skip;
  tn_status status = read_skip(options.skip, &skip);
  if (status != TN_OK) return status;
  tn_allocator *allocator = tn_allocator_acquire(device);
  if (!allocator) return tn_last_status();
  tn_trace *trace = entries ? tn_trace_new(entries, skip) : NULL;
  if (entries && !trace) return tn_last_status();
  tn_brief_lock_take(&allocator->lock);
  tn_trace *before = allocator->trace;
  allocator->trace = trace;
  tn_allocator_set_watched(allocator);
  tn_brief_lock_give(&allocator->lock);
  tn_trace_free(before);
  return TN_OK;
}

tn_status tn_memory_record_history(tn_device device, size_t entries)
{
  return tn_memory_record_history_with(device, entries,
                                       (tn_memory_history_options){ 0 });
}
