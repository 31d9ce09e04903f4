/* The events of a device's memory, in its snapshots (rule M4). On the manual
 * backend. */
#include "config.h"

#include "tests/manual_device.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)

static tn_block *get(size_t bytes) { return tn_block_new(manual_first, bytes); }

static void nothing(void *unused) { (void)unused; }

/* The snapshot as text; freed by the next call. */
static const char *snapshot(void)
{
  static char *text;
  size_t size;
  free(text);
  text = NULL;
  FILE *file = open_memstream(&text, &size);
  tap_is_int(tn_memory_snapshot(manual_first, file), TN_OK, "M4 a snapshot");
  fclose(file);
  return text;
}

/* The actions of all events, as "alloc free_requested ...". */
static const char *actions(void)
{
  static char list[4096];
  list[0] = 0;
  static const char key[] = "\"action\": \"";
  for (const char *at = strstr(snapshot(), key); at; at = strstr(at, key)) {
    at += strlen(key);
    size_t length = strcspn(at, "\"");
    strncat(list, at, length < 64 ? length : 0);
    strcat(list, " ");
  }
  return list;
}

static void test_actions(void)
{
  tap_is_text(actions(), "", "M4 without a history there is none");
  tap_is_int(tn_memory_record_history(manual_first, 100), TN_OK,
             "M4 a history of 100 events");
  tn_block *block = get(1000);
  tap_is_text(actions(), "segment_alloc alloc ", "A106 ends with the alloc");
  tap_has(snapshot(), "\"size\": 1000", "A106 with the size asked for");
  tn_block_release(block);
  tn_empty_cache(manual_first);
  tap_is_text(actions(), "segment_alloc alloc snapshot snapshot "
              "free_requested free_completed segment_free ",
              "A103 freed and emptied, it ends with segment_free");
  tn_memory_record_history(manual_first, 100);
  get(100 * MIB);
  tap_is_text(actions(), "oom ", "A104 what fails is there");
  tap_has(snapshot(), "\"device_free\": 67108864", "M4 with what was free");
  tap_has(snapshot(), "\"size\": 104857600", "M4 and what was wanted");
}

static void test_pending(void)
{
  int number;
  tn_stream *stream = manual_stream(&number);
  tn_block *block = get(1000);
  tn_stream_call(stream, nothing, NULL);
  tn_block_record_stream(block, stream);
  tn_memory_record_history(manual_first, 100);
  tn_block_release(block);
  tap_is_text(actions(), "free_requested ",
              "M4 a block that others use is not free yet");
  tap_has(snapshot(), "\"active_pending_free\"", "M4 as its state says");
  tn_stream_synchronize(stream);
  tap_is_text(actions(),
              "free_requested snapshot snapshot free_completed ",
              "M4 later it is");
  tn_empty_cache(manual_first);
}

static void test_skip(void)
{
  tn_memory_history_options options = { .skip = "alloc,snapshot,segment_free" };
  tap_is_int(tn_memory_record_history_with(manual_first, 100, options), TN_OK,
             "A104 some actions are left out");
  tn_block_release(get(1000));
  tn_empty_cache(manual_first);
  tap_is_text(actions(), "segment_alloc free_requested free_completed ",
              "A104 the others are kept");
  options.skip = "alloc,allocs";
  tap_is_int(tn_memory_record_history_with(manual_first, 100, options),
             TN_INVALID_ARGUMENT, "A104 an unknown action is refused");
  tap_has(tn_error_message(), "\"allocs\"", "A104 and named");
  tap_is_text(actions(), "segment_alloc free_requested free_completed ",
              "A104 which changes nothing");
}

static void test_ring(void)
{
  tn_memory_record_history(manual_first, 3);
  for (size_t i = 1; i <= 10; i++) tn_block_release(get(1000 * i));
  const char *all = actions();
  tap_is_text(all, "alloc free_requested free_completed ",
              "M4 only the last events are kept");
  tap_has(snapshot(), "\"size\": 10000", "M4 namely those");
  tap_ok(!strstr(snapshot(), "\"size\": 9000"), "M4 and no others");
  tn_memory_record_history(manual_first, 0);
  tn_block_release(get(1000));
  tap_is_text(actions(), "", "M4 0 entries: no history");
  tap_is_int(tn_memory_record_history(manual_first, SIZE_MAX / 2),
             TN_OUT_OF_MEMORY, "M4 more than there is room for");
}

static void test_metadata(void)
{
  tn_memory_record_history(manual_first, 100);
  tn_block *before = get(512);
  tn_memory_set_metadata("epoch 1 \"warm\\up\"");
  tn_block *block = get(1024);
  const char *text = snapshot();
  const char *first = strstr(text, "user_metadata");
  tap_has(text, "\"user_metadata\": \"epoch 1 \\\"warm\\\\up\\\"\"",
          "A105 a text goes with each event");
  tap_ok(first && !strstr(first + 1, "user_metadata"),
         "A105 from then on");
  tn_memory_set_metadata("epoch 2");
  tn_block_release(block);
  tn_memory_set_metadata(NULL);
  tn_block_release(before);
  text = snapshot();
  int count = 0;
  for (const char *at = text; (at = strstr(at, "\"epoch 2\"")); at++) count++;
  tap_is_int(count, 2, "A105 as long as it holds");
  tn_with_memory_tag("layer\n3") block = get(4096);
  tap_has(snapshot(), "\"name\": \"layer\\u000a3\"", "M4 tags are there");
  tap_has(snapshot(), "\"filename\": \"history+0x", "M4 and who asked");
  tn_block_release(block);
}

static void test_summary(void)
{
  char *text;
  size_t size;
  tn_block *block = NULL;
  tn_with_memory_tag("weights") block = get(3 * MIB);
  FILE *file = open_memstream(&text, &size);
  tap_is_int(tn_memory_summary(manual_first, file), TN_OK, "M4 a summary");
  fclose(file);
  tap_has(text, "Memory of manual:0", "M4 names the device");
  tap_has(text, "| allocated                |     3.00 MiB |",
          "M4 has a table");
  tap_has(text, "3.00 MiB in 1 block by \"weights\"", "M4 and holders");
  free(text);
  tn_block_release(block);
  tap_is_int(tn_memory_summary(manual_first, NULL), TN_INVALID_ARGUMENT,
             "M4 NULL is no file");
  tap_is_int(tn_memory_snapshot(manual_first, NULL), TN_INVALID_ARGUMENT,
             "M4 nor for snapshots");
  file = fopen("/dev/full", "w");
  if (!file) return;
  tap_is_int(tn_memory_snapshot(manual_first, file), TN_INVALID_ARGUMENT,
             "M4 a full disk is an error");
  tap_has(tn_error_message(), "No space left", "M4 which says so");
  fclose(file);
}

static void test_syncs(void)
{
  tn_memory_stats before, after;
  tn_block_release(get(1000));
  tn_memory_get_stats(manual_first, &before);
  tn_empty_cache(manual_first);
  tn_memory_get_stats(manual_first, &after);
  tap_is_int((long)(after.num_sync_all_streams - before.num_sync_all_streams),
             1, "A097 emptying the cache is one synchronisation");
  tap_ok(after.reserved.all.current < before.reserved.all.current,
         "A097 reserved memory falls");
  tap_ok(after.reserved.all.peak == before.reserved.all.peak,
         "A097 its peak does not");
  tn_reset_accumulated_memory_stats(manual_first);
  tn_memory_get_stats(manual_first, &after);
  tap_is_int((long)(after.num_sync_all_streams + after.num_device_alloc +
                    after.num_ooms + after.allocated.all.total_allocated +
                    after.active.all.total_freed), 0,
             "M4 totals and counts can be reset");
}

static void test_all(void)
{
  test_actions();
  test_pending();
  test_skip();
  test_ring();
  test_metadata();
  test_summary();
  test_syncs();
}

int main(void)
{
  manual_part("", test_all);
  return tap_done();
}
