/* Snapshots as files, with PyTorch's keys. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "core/base/error.h"
#include "core/memory/emit.h"
#include "core/memory/snapshot.h"

static const char *const state_names[] = {
  [TN_BLOCK_FREE] = "inactive",
  [TN_BLOCK_DEFERRED] = "inactive",
  [TN_BLOCK_LIVE] = "active_allocated",
  [TN_BLOCK_PENDING] = "active_pending_free",
};

/* The code that asked, as the one frame of a stack: the file and the place in
 * it, and the tag as the function's name. */
static void write_frames(tn_emitter *e, tn_holder holder)
{
  tn_emit_list(e, "frames");
  if (holder.caller) {
    char place[TN_HOLDER_TEXT_SIZE];
    tn_caller_format(holder.caller, place, sizeof place);
    tn_emit_map(e, NULL);
    tn_emit_text(e, "filename", place);
    tn_emit_number(e, "line", 0);
    tn_emit_text(e, "name", holder.tag ? holder.tag : "");
    tn_emit_map_end(e);
  }
  tn_emit_list_end(e);
}

static void write_block(tn_emitter *e, const tn_seen_block *block)
{
  bool is_active = block->state == TN_BLOCK_LIVE ||
                   block->state == TN_BLOCK_PENDING;
  tn_emit_map(e, NULL);
  tn_emit_number(e, "address", block->address);
  tn_emit_number(e, "size", block->size);
  tn_emit_number(e, "requested_size", block->requested);
  tn_emit_text(e, "state", state_names[block->state]);
  write_frames(e, is_active ? block->holder : (tn_holder){ NULL, NULL });
  tn_emit_map_end(e);
}

static void write_segment(tn_emitter *e, const tn_snapshot *snapshot,
                          const tn_seen_segment *segment)
{
  tn_emit_map(e, NULL);
  tn_emit_signed(e, "device", snapshot->device.index);
  tn_emit_number(e, "address", segment->address);
  tn_emit_number(e, "total_size", segment->size);
  tn_emit_number(e, "allocated_size", segment->allocated);
  tn_emit_number(e, "active_size", segment->active);
  tn_emit_number(e, "requested_size", segment->requested);
  tn_emit_number(e, "stream", segment->stream);
  tn_emit_text(e, "segment_type", segment->is_small ? "small" : "large");
  tn_emit_pair(e, "segment_pool_id", segment->pool);
  tn_emit_bool(e, "is_expandable", false);
  tn_emit_list(e, "frames");
  tn_emit_list_end(e);
  tn_emit_list(e, "blocks");
  for (size_t i = 0; i < segment->count; i++)
    write_block(e, &snapshot->blocks[segment->first + i]);
  tn_emit_list_end(e);
  tn_emit_map_end(e);
}

static void write_event(tn_emitter *e, const tn_trace_event *event)
{
  bool is_oom = event->action == TN_TRACE_OOM;
  tn_emit_map(e, NULL);
  tn_emit_text(e, "action", tn_trace_action_names[event->action]);
  tn_emit_number(e, is_oom ? "device_free" : "addr", event->address);
  tn_emit_number(e, "size", event->size);
  tn_emit_number(e, "stream", event->stream);
  tn_emit_number(e, "time_us", event->time);
  tn_emit_pair(e, "pool_id", event->pool);
  if (event->note)
    tn_emit_text(e, "user_metadata", tn_trace_note_text(event->note));
  write_frames(e, event->holder);
  tn_emit_map_end(e);
}

/* A list for each ordinal, of which one has something. */
static void write_traces(tn_emitter *e, const tn_snapshot *snapshot)
{
  tn_emit_list(e, "device_traces");
  for (int ordinal = 0; ordinal <= snapshot->device.index; ordinal++) {
    tn_emit_list(e, NULL);
    bool is_ours = ordinal == snapshot->device.index;
    for (size_t i = 0; is_ours && i < snapshot->event_count; i++)
      write_event(e, &snapshot->events[i]);
    tn_emit_list_end(e);
  }
  tn_emit_list_end(e);
}

/* "1", "2", ... "32768" and the divisions of such sizes in MiB. */
static void write_divisions(tn_emitter *e, const tn_conf *conf)
{
  tn_emit_map(e, "roundup_power2_divisions");
  for (int i = 0; i < TN_CONF_INTERVALS; i++) {
    char size[16];
    snprintf(size, sizeof size, "%u", 1u << i);
    tn_emit_number(e, size, conf->divisions[i]);
  }
  tn_emit_map_end(e);
}

static void write_settings(tn_emitter *e, const tn_snapshot *snapshot)
{
  const tn_conf *conf = &snapshot->conf;
  bool has_most = conf->max_split_size != UINT64_MAX;
  tn_emit_map(e, "allocator_settings");
  tn_emit_text(e, "TENON_ALLOC_CONF", conf->text);
  tn_emit_signed(e, "max_split_size",
                 has_most ? (int64_t)conf->max_split_size : -1);
  tn_emit_real(e, "garbage_collection_threshold",
               conf->garbage_collection_threshold);
  tn_emit_real(e, "per_process_memory_fraction", snapshot->fraction);
  tn_emit_bool(e, "expandable_segments", false);
  tn_emit_number(e, "pinned_num_register_threads",
                 conf->pinned_register_threads);
  tn_emit_bool(e, "pinned_use_cuda_host_register",
               conf->pinned_is_registered);
  tn_emit_bool(e, "release_lock_on_cudamalloc", true);
  write_divisions(e, conf);
  tn_emit_map_end(e);
}

static void write_all(const tn_snapshot *snapshot, FILE *file, bool is_pickle)
{
  char device[TN_DEVICE_TEXT_SIZE];
  tn_device_format(snapshot->device, device, sizeof device);
  tn_emitter e;
  tn_emit_begin(&e, file, is_pickle);
  tn_emit_map(&e, NULL);
  tn_emit_text(&e, "device_name", device);
  tn_emit_list(&e, "segments");
  for (size_t i = 0; i < snapshot->segment_count; i++)
    write_segment(&e, snapshot, &snapshot->segments[i]);
  tn_emit_list_end(&e);
  write_traces(&e, snapshot);
  write_settings(&e, snapshot);
  tn_emit_list(&e, "external_annotations");
  tn_emit_list_end(&e);
  tn_emit_map_end(&e);
  tn_emit_end(&e);
}

static tn_status take_and_write(tn_device device, FILE *file, bool is_pickle)
{
  if (!file) return tn_error(TN_INVALID_ARGUMENT, "the file is NULL");
  tn_allocator *allocator = tn_allocator_acquire(device);
  if (!allocator) return tn_last_status();
  tn_snapshot snapshot;
  tn_status status = tn_snapshot_take(allocator, &snapshot);
  if (status != TN_OK) return status;
  errno = 0;
  write_all(&snapshot, file, is_pickle);
  tn_snapshot_free(&snapshot);
  if (fflush(file) == 0 && !ferror(file)) return TN_OK;
  return tn_error(TN_INVALID_ARGUMENT, "cannot write the snapshot: %s",
                  errno ? strerror(errno) : "the file has failed before");
}

tn_status tn_memory_snapshot(tn_device device, FILE *json)
{
  return take_and_write(device, json, false);
}

tn_status tn_memory_snapshot_pickle(tn_device device, FILE *pickle)
{
  return take_and_write(device, pickle, true);
}
