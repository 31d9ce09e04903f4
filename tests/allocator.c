/* The caching allocator by figures: sizes, reuse, what is done when memory is
 * short (rules M1, M3, M4, M8). On the manual backend, whose memory is 64 MiB
 * and which counts calls. */
#include "config.h"

#include "tests/manual_device.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

static void nothing(void *unused) { (void)unused; }

static tn_memory_stats stats(void)
{
  tn_memory_stats now;
  if (tn_memory_get_stats(manual_first, &now) != TN_OK) abort();
  return now;
}

static tn_block *get(size_t bytes) { return tn_block_new(manual_first, bytes); }

static long reserved_for(size_t bytes)
{
  tn_empty_cache(manual_first);
  size_t before = tn_memory_reserved(manual_first);
  tn_block *block = get(bytes);
  long reserved = (long)(tn_memory_reserved(manual_first) - before);
  tn_block_release(block);
  tn_empty_cache(manual_first);
  return block ? reserved : -1;
}

static void test_sizes(void)
{
  tap_is_int(reserved_for(1), 2 * MIB, "A099 1 byte takes 2 MiB");
  tap_is_int(reserved_for(MIB), 2 * MIB, "A099 1 MiB takes 2 MiB");
  tap_is_int(reserved_for(MIB + 1), 20 * MIB,
             "A100 1 byte more takes 20 MiB");
  tap_is_int(reserved_for(10 * MIB - 512), 20 * MIB,
             "A100 a little below 10 MiB too");
  tap_is_int(reserved_for(10 * MIB), 10 * MIB, "A101 10 MiB has its own");
  tap_is_int(reserved_for(10 * MIB + 512), 12582912,
             "A101 in steps of 2 MiB");
  tn_block *one = get(MIB), *two = get(MIB);
  tap_is_int((long)stats().segments.all.current, 1,
             "A099 two of 1 MiB share a segment");
  tap_is_int((long)stats().segments.small.current, 1, "A099 a small one");
  tn_block *three = get(512);
  tap_is_int((long)stats().segments.all.current, 2,
             "A099 a third one does not fit");
  tn_block_release(one);
  tn_block_release(two);
  tn_block_release(three);
  tn_empty_cache(manual_first);
  tap_is_int((long)stats().segments.all.current, 0,
             "M1 all free segments go back");
  tap_is_int((long)manual->used(0), 0, "M1 to the device");
}

static void test_reuse(void)
{
  tn_block *small = get(1000), *large = get(3000);
  void *first = tn_block_address(small), *second = tn_block_address(large);
  tap_is_int((char *)second - (char *)first, 1024, "M1 blocks are cut off");
  tap_is_int((long)tn_block_size(small), 1000, "M1 a size is as asked for");
  tap_is_int((long)tn_memory_allocated(manual_first), 1024 + 3072,
             "A090 in units of 512 bytes");
  tap_is_int((long)stats().requested.all.current, 4000,
             "M4 what was asked for is known");
  tap_is_int((long)stats().inactive_split.all.current,
             (long)(2 * MIB - 4096), "A095 the rest of the segment is split");
  tn_block_release(small);
  tn_block *fit = get(600);
  tap_ok(tn_block_address(fit) != first || tn_block_size(fit) == 600,
         "M1 a block of another size");
  tn_block *best = get(1024);
  int calls = manual->alloc_count();
  tap_ok(tn_block_address(best) != NULL, "M1 and one of the size");
  tn_block_release(fit);
  tn_block_release(best);
  tn_block_release(large);
  tap_is_int((long)stats().inactive_split.all.current, 0,
             "A095 a segment in one piece is not split");
  tap_is_int(manual->alloc_count(), calls, "M1 the device was not asked");
  small = get(2 * MIB - 1024);
  tap_is_int((long)stats().segments.large.current, 1,
             "M1 small and large requests have segments of their own");
  tn_block_release(small);
  tn_empty_cache(manual_first);
}

/* The smallest that is large enough. */
static void test_best_fit(void)
{
  tn_block *blocks[7];
  static const size_t sizes[] = { 64, 1, 16, 1, 32, 1, 128 };
  for (int i = 0; i < 7; i++) blocks[i] = get(sizes[i] * KIB);
  void *wanted = tn_block_address(blocks[4]);
  for (int i = 0; i < 7; i += 2) tn_block_release(blocks[i]);
  tn_block *block = get(20 * KIB);
  tap_ok(tn_block_address(block) == wanted, "M1 the best fit is taken");
  tn_block_release(block);
  for (int i = 1; i < 7; i += 2) tn_block_release(blocks[i]);
  tap_is_int((long)stats().inactive_split.all.current, 0,
             "M1 all is joined again");
  tn_block_release(get(11 * MIB));
  block = get(11 * MIB);
  tap_is_int((long)stats().allocated.all.current, 12 * MIB,
             "M1 a large block is not cut for 1 MiB or less");
  tn_block_release(block);
  tn_empty_cache(manual_first);
}

static void test_references(void)
{
  tn_block *block = get(512);
  tn_block_retain(block);
  tn_block_release(block);
  tap_is_int((long)tn_memory_allocated(manual_first), 512,
             "M1 a block lives as long as there are references");
  tn_block_release(block);
  tap_is_int((long)tn_memory_allocated(manual_first), 0, "M1 and no longer");
  tn_block_release(NULL);
  tap_ok(tn_block_address(NULL) == NULL, "M1 NULL is no block");
}

static void test_peaks(void)
{
  tn_empty_cache(manual_first);
  tn_reset_peak_memory_stats(manual_first);
  uint64_t freed = stats().allocated.all.total_freed;
  tn_block *block = get(4 * MIB);
  tn_block_release(get(4 * MIB));
  tap_is_int((long)tn_max_memory_allocated(manual_first), 8 * MIB,
             "M4 the peak");
  tn_reset_peak_memory_stats(manual_first);
  tap_is_int((long)tn_max_memory_allocated(manual_first), 4194304,
             "R19 reset: it is what is allocated now");
  tap_is_int((long)stats().allocations.all.current, 1,
             "R19 which goes on");
  tn_block_release(block);
  tap_is_int((long)stats().allocated.all.current, 0, "R19 down to 0");
  tap_is_int((long)(stats().allocated.all.total_freed - freed), 8 * MIB,
             "R19 and totals go on too");
  tap_is_int((long)stats().reserved.all.peak,
             (long)stats().reserved.all.current,
             "A092 the same for reserved memory");
}

static void test_empty(void)
{
  tn_empty_cache(manual_first);
  tn_memory_stats before = stats();
  int calls = manual->alloc_count();
  tn_block *block = get(0);
  tap_ok(block && !tn_block_address(block), "R21 a block of 0 bytes");
  tn_memory_stats after = stats();
  tap_is_int(memcmp(&before, &after, sizeof after), 0,
             "A096 changes no figure");
  tap_is_int(manual->alloc_count(), calls, "R21 and does not ask the device");
  tap_is_int(tn_block_record_stream(block, tn_default_stream(manual_first)),
             TN_OK, "R21 its streams can be recorded");
  tn_block_release(block);
  tn_clear_error();
  tap_ok(!tn_malloc(manual_first, 0) && tn_last_status() == TN_OK,
         "R21 tn_malloc of 0 bytes is NULL and no failure");
  tn_free(NULL);
  tn_free(&before);
  tap_is_int(tn_last_status(), TN_INVALID_ARGUMENT,
             "R63 tn_free refuses what it does not know");
}

static void test_too_much(void)
{
  tn_block *live = get(512);
  memset(tn_block_address(live), 42, 512);
  tap_ok(!get((size_t)800000000 << 30), "A140 too much");
  tap_is_int(tn_last_status(), TN_OUT_OF_MEMORY, "A145 has its own status");
  tap_has(tn_error_message(), "858993459200000000 bytes", "A140 size");
  tap_has(tn_error_message(), "manual:0", "A140 device");
  tap_has(tn_error_message(), "capacity 67108864", "A140 capacity");
  tap_has(tn_error_message(), "reserved ", "M3 what is reserved");
  tap_has(tn_error_message(), "allocated ", "M3 and allocated");
  tap_is_int((long)stats().num_ooms, 1, "M4 it is counted");
  tap_ok(!get((size_t)8000000000 << 30), "A141 more than 1 EiB");
  tap_is_int(tn_last_status(), TN_SIZE_OVERFLOW, "A141 is another error");
  tap_ok(!get(SIZE_MAX), "R20 as much as there are addresses");
  tap_is_int(tn_last_status(), TN_SIZE_OVERFLOW, "R20 is no small block");
  tap_is_int(((char *)tn_block_address(live))[511], 42,
             "A142 what is there stays");
  tn_block_release(live);
  live = get(512);
  tap_ok(live != NULL, "A142 and memory can be had");
  tn_block_release(live);
}

/* 64 MiB in all. */
static void test_making_room(void)
{
  tn_empty_cache(manual_first);
  tn_block *three[3];
  for (int i = 0; i < 3; i++) three[i] = get(20 * MIB);
  tn_clear_error();
  tap_ok(!get(20 * MIB), "A143 a fourth one is refused");
  for (int i = 0; i < 3; i++) tn_block_release(three[i]);
  uint64_t retries = stats().num_alloc_retries;
  tn_clear_error();
  tn_block *all = get(60 * MIB);
  tap_ok(all != NULL, "A115 cached memory makes room for one of all");
  tap_is_int(tn_last_status(), TN_OK, "A115 without leaving an error");
  tap_is_int((long)(stats().num_alloc_retries - retries), 1,
             "A115 which is counted");
  tap_is_int((long)tn_memory_reserved(manual_first), 60 * MIB,
             "A115 the others went back");
  tn_block *rest = get(3 * MIB);
  tap_ok(rest != NULL,
         "M3 where no segment of 20 MiB fits, one of the size does");
  tn_block_release(rest);
  tn_block_release(all);
  tn_empty_cache(manual_first);
}

/* A free block may be in use by work of its own stream. */
static void test_trim_waits(void)
{
  int number;
  tn_stream *stream = manual_stream(&number);
  tn_with_stream(stream) {
    tn_block *block = get(512);
    tn_stream_call(stream, nothing, NULL);
    tn_block_release(block);
  }
  tap_is_int(manual->waiting(number), 1, "M3 work on cached memory");
  tn_empty_cache(manual_first);
  tap_is_int(manual->waiting(number), 0,
             "M3 is waited for before the memory goes back");
  tap_is_int((long)manual->used(0), 0, "M3 which it does");
}

/* Each device has its own. */
static void test_two_devices(void)
{
  tn_block *one = get(512), *two = tn_block_new(manual_second, 1024);
  tap_is_int((long)tn_memory_allocated(manual_first), 512,
             "A098 one device's figures");
  tap_is_int((long)tn_memory_allocated(manual_second), 1024,
             "A098 are not the other's");
  tap_ok(tn_block_address(one) != tn_block_address(two),
         "A131 addresses differ");
  tap_ok(tn_device_equal(tn_block_device(two), manual_second),
         "A131 a block knows its device");
  tn_block_release(one);
  tn_block_release(two);
  size_t unused, total;
  tap_is_int(tn_mem_get_info(manual_first, &unused, &total), TN_OK,
             "A118 the device's figures, from the core where the backend "
             "has none");
  tap_is_int((long)total, 64 * MIB, "A118 its memory");
  tap_is_int((long)unused, (long)(64 * MIB - 2 * MIB), "A118 and the rest");
}

/* 10000 random steps; every block keeps its contents. */
static void test_random(void)
{
  enum { BLOCKS = 50, STEPS = 10000 };
  static struct { tn_block *block; unsigned char value; } live[BLOCKS];
  unsigned seed = 1;
  bool are_intact = true;
  tap_note("seed %u", seed);
  for (int i = 0; i < STEPS; i++) {
    seed = seed * 1103515245u + 12345u;
    unsigned which = (seed >> 16) % BLOCKS;
    size_t bytes = (seed >> 8) % 3 ? (seed >> 12) % 5000 + 1
                                   : (seed >> 9) % (2 * MIB) + 1;
    if (i % 1000 == 999) tn_empty_cache(manual_first);
    if (live[which].block) {
      const unsigned char *bytes_of = tn_block_address(live[which].block);
      size_t size = tn_block_size(live[which].block);
      for (size_t j = 0; j < size; j += 97)
        are_intact &= bytes_of[j] == live[which].value;
      are_intact &= bytes_of[size - 1] == live[which].value;
      tn_block_release(live[which].block);
      live[which].block = NULL;
      continue;
    }
    live[which].block = get(bytes);
    live[which].value = (unsigned char)(seed >> 24);
    if (live[which].block)
      memset(tn_block_address(live[which].block), live[which].value, bytes);
  }
  tap_ok(are_intact, "A116 10000 random steps leave every block intact");
  for (int i = 0; i < BLOCKS; i++) tn_block_release(live[i].block);
  tn_empty_cache(manual_first);
  tn_memory_stats now = stats();
  tap_is_int((long)(now.allocated.all.current + now.reserved.all.current +
                    now.active.all.current + now.requested.all.current +
                    now.inactive_split.all.current +
                    now.allocations.all.current + now.segments.all.current),
             0, "A116 and every figure at 0 in the end");
  tap_is_int((long)now.allocated.all.total_allocated,
             (long)now.allocated.all.total_freed, "A116 also the totals");
  tap_is_int((long)manual->used(0), 0, "A130 nothing is lost");
}

static void test_caching(void)
{
  test_sizes();
  test_reuse();
  test_best_fit();
  test_references();
  test_peaks();
  test_empty();
  test_too_much();
  test_making_room();
  test_trim_waits();
  test_two_devices();
  test_random();
}

static void test_no_caching(void)
{
  int number;
  tn_stream *stream = manual_stream(&number);
  int calls = manual->alloc_count();
  tn_block *block = NULL;
  tn_with_stream(stream) block = get(1000);
  tap_is_int((long)manual->used(0), 1000,
             "M8 A114 without caching the device is asked for just that");
  tn_stream_call(stream, nothing, NULL);
  tn_stream *other = tn_default_stream(manual_first);
  tn_stream_call(other, nothing, NULL);
  tn_block_record_stream(block, other);
  tn_block_release(block);
  tap_is_int(manual->waiting(number), 0, "M8 all users are waited for");
  tap_is_int((long)manual->used(0), 0, "M8 and it goes back at once");
  tn_block_release(get(1000));
  tap_is_int(manual->alloc_count() - calls, 2, "M8 each time");
  tap_is_int((long)stats().reserved.all.current, 0, "M8 figures are kept");
  tap_is_int((long)stats().allocated.all.total_freed, 2000, "M8 exactly");
}

int main(void)
{
  manual_part("", test_caching);
  setenv("TENON_NO_MEMORY_CACHING", "1", 1);
  manual_part("", test_no_caching);
  return tap_done();
}
