/* What is done and said when there is no memory (rule M3): linked with the
 * library's objects, so that its calls of malloc can be counted and made to
 * fail. On the manual backend, whose memory is 64 MiB. */
#include "config.h"

#include "tests/manual_device.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)

/* The linker's --wrap. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);

static long calls, fail_at, fail_from;

/* Whether this call fails: the one number fail_at, or all from fail_from. */
static bool fails(void)
{
  calls++;
  return calls == fail_at || (fail_from && calls >= fail_from);
}

void *__wrap_malloc(size_t size)
{
  return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
  return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
  return fails() ? NULL : __real_realloc(memory, size);
}

static void nothing(void *unused) { (void)unused; }

static tn_memory_stats stats(void)
{
  tn_memory_stats now;
  if (tn_memory_get_stats(manual_first, &now) != TN_OK) abort();
  return now;
}

static tn_block *get(size_t bytes) { return tn_block_new(manual_first, bytes); }

static void test_text(void)
{
  tn_block *blocks[5] = { 0 };
  tn_with_memory_tag("weights") {
    blocks[0] = get(20 * MIB);
    tn_with_memory_tag("cache of keys") blocks[1] = get(5 * MIB);
    blocks[2] = get(1000);
  }
  blocks[3] = get(5 * MIB);
  tn_mem_pool *pool = tn_mem_pool_new(manual_first);
  tn_with_pool(pool) blocks[4] = get(512);
  long before = calls;
  tap_ok(!get(40 * MIB), "A140 too much");
  tap_is_int(calls - before, 0, "M3 saying so allocates nothing");
  const char *text = tn_error_message();
  tap_note("%s", text);
  tap_is_int(tn_last_status(), TN_OUT_OF_MEMORY, "A145 a status of its own");
  tap_has(text, "manual:0: no memory for 41943040 bytes", "M3 device, size");
  tap_has(text, "capacity 67108864", "M3 capacity");
  tap_has(text, "reserved 46137344", "M3 reserved");
  tap_has(text, "allocated 31458816", "M3 allocated");
  tap_has(text, "in memory pools 2097152", "M3 what pools have of it");
  tap_has(text, "14678528 cached in 3 pieces, the largest 10485760",
          "M3 how it is fragmented");
  tap_has(text, "largest holders: 20972544 in 2 blocks by \"weights\"",
          "M3 who holds most, without anything switched on");
  tap_has(text, "5242880 in 1 block by \"cache of keys\"", "M3 and next");
  tap_has(text, "5242880 in 1 block by out_of_memory+0x",
          "M3 without a name, the code that asked");
  char *memory = tn_block_address(blocks[0]);
  memory[20 * MIB - 1] = 7;
  tap_is_int(memory[20 * MIB - 1], 7, "A142 what is there can be used");
  for (int i = 0; i < 5; i++) tn_block_release(blocks[i]);
  tn_mem_pool_release(pool);
  blocks[0] = get(40 * MIB);
  tap_ok(blocks[0] != NULL, "A143 freed, it can be had");
  tn_block_release(blocks[0]);
  tn_empty_cache(manual_first);
}

static void test_tags(void)
{
  char large[80];
  memset(large, 'x', sizeof large);
  large[sizeof large - 1] = 0;
  tn_memory_tag_guard guard = tn_memory_tag_push(large);
  tap_ok(!guard.active && tn_last_status() == TN_INVALID_ARGUMENT,
         "M3 a tag of 79 bytes is refused");
  tn_memory_tag_pop(&guard);
  for (int i = 0; i < 10; i++)
    tn_with_memory_tag(i % 2 ? "odd" : "even") tn_block_release(get(512));
  long before = calls;
  tn_with_memory_tag("even") tn_block_release(get(512));
  tap_is_int(calls - before, 0, "M3 a known tag costs no memory");
  tn_empty_cache(manual_first);
}

static struct {
  int count;
  tn_device device;
  size_t requested, total, unused;
} seen;

static void observe(tn_device device, size_t requested, size_t total,
                    size_t unused, void *argument)
{
  seen.count += *(int *)argument;
  seen.device = device;
  seen.requested = requested;
  seen.total = total;
  seen.unused = unused;
  /* It may use the library. */
  if (tn_memory_allocated(device) != MIB) abort();
}

static void test_observers(void)
{
  int one = 1, ten = 10;
  tn_block *block = get(MIB);
  tap_is_int(tn_memory_observe_oom(observe, &one), TN_OK, "A117 an observer");
  tap_is_int(tn_memory_observe_oom(observe, &ten), TN_OK, "A117 and another");
  tn_clear_error();
  tap_ok(!get(100 * MIB), "A117 too much");
  tap_is_int(seen.count, 11, "A117 both were called");
  tap_ok(tn_device_equal(seen.device, manual_first) &&
             seen.requested == 100 * MIB && seen.total == 64 * MIB &&
             seen.unused == 62 * MIB, "A117 with what there is to say");
  tap_is_int(tn_last_status(), TN_OUT_OF_MEMORY, "A117 before the error");
  tap_is_int(tn_memory_ignore_oom(observe, &one), TN_OK, "A117 one less");
  get(100 * MIB);
  tap_is_int(seen.count, 21, "A117 is not called any more");
  tap_is_int(tn_memory_ignore_oom(observe, &one), TN_INVALID_ARGUMENT,
             "A117 nor to be removed again");
  tap_is_int(tn_memory_ignore_oom(observe, &ten), TN_OK, "A117 none left");
  for (int i = 0; i < 16; i++) tn_memory_observe_oom(observe, &one);
  tap_is_int(tn_memory_observe_oom(observe, &one), TN_UNSUPPORTED,
             "A117 sixteen at most");
  while (tn_memory_ignore_oom(observe, &one) == TN_OK) continue;
  tap_is_int(tn_memory_observe_oom(NULL, NULL), TN_INVALID_ARGUMENT,
             "A117 NULL is none");
  tn_block_release(block);
  tn_empty_cache(manual_first);
}

/* Ten blocks of 16 MiB, each freed while another stream uses it: 64 MiB is
 * enough for all, one after the other. */
static void test_recorded(void)
{
  int number;
  bool are_there = true;
  tn_stream *stream = manual_stream(&number);
  for (int i = 0; i < 10; i++) {
    tn_block *block = get(16 * MIB);
    are_there &= block != NULL;
    tn_stream_call(stream, nothing, NULL);
    tn_block_record_stream(block, stream);
    tn_block_release(block);
  }
  tap_ok(are_there, "A144 recorded blocks are waited for");
  tap_ok(stats().active.all.peak <= 64 * MIB &&
             stats().active.all.peak >= 48 * MIB, "M4 they count as active");
  tap_ok(stats().allocated.all.peak < stats().active.all.peak,
         "M4 not as allocated");
  tn_synchronize(manual_first);
  tap_is_int((long)stats().active.all.current, 0, "M4 and in the end as free");
  long before = calls;
  tn_block *all = get(64 * MIB);
  tap_ok(all && calls - before <= 2, "A115 all of it: a segment's struct, "
         "at most");
  tn_block_release(all);
  tn_empty_cache(manual_first);
}

/* A program in small, each of whose steps may fail, and can be repeated. */
static bool run_steps(void)
{
  int number;
  bool is_right = true;
  tn_stream *stream = manual_stream(&number);
  tn_block *one = get(3 * MIB), *two = get(1000);
  void *pinned = tn_malloc_pinned(5000);
  tn_mem_pool *pool = tn_mem_pool_new(manual_first);
  tn_block *three = NULL;
  if (pool) tn_with_pool(pool) three = get(MIB);
  is_right &= one && two && three && pinned;
  if (two && stream)
    is_right &= tn_block_record_stream(two, stream) == TN_OK;
  is_right &= tn_memory_record_history(manual_first, 10) == TN_OK;
  FILE *null = fopen("/dev/null", "w");
  is_right &= tn_memory_snapshot(manual_first, null) == TN_OK;
  fclose(null);
  tn_memory_record_history(manual_first, 0);
  tn_block_release(one);
  tn_block_release(two);
  tn_block_release(three);
  tn_free(pinned);
  tn_mem_pool_release(pool);
  return is_right;
}

static void test_failing(void)
{
  bool are_told = true, are_whole = true, go_on = true;
  long count = 0;
  run_steps();
  for (long at = 1; at < 200; at++) {
    tn_empty_cache(manual_first);
    tn_empty_host_cache();
    tn_clear_error();
    calls = 0;
    fail_at = at;
    bool is_right = run_steps();
    fail_at = 0;
    if (calls < at) break;
    count++;
    are_told &= is_right || tn_last_status() == TN_OUT_OF_MEMORY;
    are_whole &= stats().allocated.all.current == 0;
    go_on &= run_steps();
  }
  tap_ok(count > 5, "M3 %ld calls of malloc were made to fail", count);
  tap_ok(are_told, "M3 each is an error that says so, or does no harm");
  tap_ok(are_whole, "M3 nothing is lost");
  tap_ok(go_on, "M3 and the same works afterwards");
  calls = 0;
  fail_from = 1;
  bool is_right = run_steps();
  fail_from = 0;
  tap_ok(is_right || tn_last_status() == TN_OUT_OF_MEMORY,
         "M3 with none at all it is an error too");
  tap_ok(run_steps(), "M3 after which it works");
  tn_empty_cache(manual_first);
  tn_empty_host_cache();
  tap_is_int((long)manual->used(0), 0, "M3 and nothing is lost");
}

static void test_all(void)
{
  test_text();
  test_tags();
  test_observers();
  test_recorded();
  test_failing();
}

int main(void)
{
  manual_part("", test_all);
  return tap_done();
}
