/* Memory in use by other streams than its own (rules M2, M3, P2), by hand. */
#include "config.h"

#include "tests/manual_device.h"

#include <string.h>

static const size_t size = 4096;

static void nothing(void *unused) { (void)unused; }

/* A block made while `stream` is current. */
static tn_block *block_on(tn_stream *stream, size_t bytes)
{
  tn_block *block = NULL;
  tn_with_stream(stream) block = tn_block_new(manual_first, bytes);
  return block;
}

static void *address_on(tn_stream *stream, size_t bytes)
{
  tn_block *block = block_on(stream, bytes);
  void *address = tn_block_address(block);
  tn_block_release(block);
  return address;
}

static tn_memory_stats stats(void)
{
  tn_memory_stats now;
  tn_memory_get_stats(manual_first, &now);
  return now;
}

static void test_own_stream(void)
{
  int number;
  tn_stream *stream = manual_stream(&number);
  tn_block *block = block_on(stream, size);
  void *address = tn_block_address(block);
  tn_stream_call(stream, nothing, NULL);
  tn_block_release(block);
  tap_ok(address_on(stream, size) == address,
         "M2 a block is reused at once on its own stream, which is busy");
  tn_block *other = block_on(tn_default_stream(manual_first), size);
  tap_ok(tn_block_address(other) != address, "M2 and not on another");
  tn_block_release(other);
  block = block_on(stream, size);
  tap_is_int(tn_block_record_stream(block, stream), TN_OK,
             "M2 recording its own stream");
  tn_block_release(block);
  tap_ok(address_on(stream, size) == address, "M2 changes nothing");
  tn_stream_synchronize(stream);
}

static void test_other_stream(void)
{
  int number;
  tn_stream *side = manual_stream(&number);
  tn_stream *busy = tn_default_stream(manual_first);
  tn_block *block = block_on(side, size);
  void *address = tn_block_address(block);
  tn_stream_call(busy, nothing, NULL);
  tap_is_int(tn_block_record_stream(block, busy), TN_OK,
             "A080 a block is recorded for another stream");
  tn_memory_stats before = stats();
  tn_block_release(block);
  tn_memory_stats after = stats();
  tap_is_int((long)(before.allocated.all.current -
                    after.allocated.all.current), (long)size,
             "A080 given back it is not allocated any more");
  tap_is_int((long)after.active.all.current, (long)before.active.all.current,
             "A080 but active");
  tn_block *second = block_on(side, size);
  tap_ok(tn_block_address(second) != address,
         "A080 it is not reused while that stream is busy");
  tn_stream_call(busy, nothing, NULL);
  manual->run(0, 1);
  tn_block_release(second);
  second = block_on(side, size);
  tn_block *third = block_on(side, size);
  tap_ok(tn_block_address(second) == address ||
             tn_block_address(third) == address,
         "A080 it is as soon as the recorded use is over, not later work");
  tn_block_release(second);
  tn_block_release(third);
  tn_stream_synchronize(busy);
  tap_is_int((long)stats().active.all.current,
             (long)stats().allocated.all.current,
             "A080 then it is not active any more");
}

static void test_by_address(void)
{
  int number;
  tn_stream *busy = manual_stream(&number);
  char *memory = tn_malloc(manual_first, size);
  tn_stream_call(busy, nothing, NULL);
  tap_is_int(tn_memory_record_stream(memory + 100, busy), TN_OK,
             "A081 R15 recorded by an address within");
  tn_free(memory);
  char *next = tn_malloc(manual_first, size);
  tap_ok(next != memory, "A081 it is not reused while the stream is busy");
  tn_free(next);
  tn_stream_synchronize(busy);
  next = tn_malloc(manual_first, size);
  tap_ok(next == memory, "R15 and is when that is done");
  tn_free(next);
  tap_is_int(tn_memory_record_stream(memory, busy), TN_INVALID_ARGUMENT,
             "R15 memory that was given back is refused");
  tap_is_int(tn_memory_record_stream(&number, busy), TN_INVALID_ARGUMENT,
             "R15 and the program's own");
}

/* One stream is stuck, with a block used by it; blocks used by another come
 * back all the same. */
static void test_queues(void)
{
  int one, two;
  tn_stream *stuck = manual_stream(&one), *quick = manual_stream(&two);
  char *first = tn_malloc(manual_first, size);
  char *second = tn_malloc(manual_first, size);
  char *both = tn_malloc(manual_first, size);
  tn_stream_call(stuck, nothing, NULL);
  tn_stream_call(quick, nothing, NULL);
  tn_memory_record_stream(first, stuck);
  tn_memory_record_stream(second, quick);
  tn_memory_record_stream(both, quick);
  tn_memory_record_stream(both, stuck);
  tn_free(first);
  tn_free(both);
  tn_free(second);
  tn_stream_synchronize(quick);
  char *next = tn_malloc(manual_first, size);
  tap_ok(next == second, "R55 a stuck stream holds up only its own blocks");
  tn_free(next);
  tn_stream_synchronize(stuck);
  tn_memory_stats now = stats();
  tap_is_int((long)now.active.all.current, (long)now.allocated.all.current,
             "R55 a block of both is free after both");
}

static void test_ended_stream(void)
{
  manual_native native = { 0 }, second = { 0 };
  tn_stream *stream = tn_stream_wrap(manual_first, &native);
  tn_block *used = tn_block_new(manual_first, size);
  tn_block *own = block_on(stream, size), *cached = block_on(stream, size);
  void *address = tn_block_address(own);
  tn_stream_call(stream, nothing, NULL);
  tap_is_int(tn_block_record_stream(used, stream), TN_OK,
             "R14 a wrapped queue is recorded");
  tn_block_release(cached);
  tn_stream_release(stream);
  native.is_destroyed = 1;
  tn_block_release(used);
  tn_block_release(own);
  tap_is_int(tn_empty_cache(manual_first), TN_OK,
             "R14 blocks outlive the queue, which is not used again");
  tn_memory_stats now = stats();
  tap_is_int((long)now.active.all.current, (long)now.allocated.all.current,
             "R14 they are free");
  stream = tn_stream_wrap(manual_first, &second);
  tap_ok(address_on(stream, size) != NULL, "R14 and memory goes on");
  tn_stream_release(stream);
  tap_note("former address %p", address);
}

/* 64 MiB: 3 blocks of 20 MiB fit. All are used by a busy stream. */
static void test_pending_at_end_of_memory(void)
{
  int number;
  tn_stream *busy = manual_stream(&number);
  const size_t large = (size_t)20 << 20;
  tn_empty_cache(manual_first);
  for (int i = 0; i < 20; i++) {
    tn_block *block = tn_block_new(manual_first, large);
    if (!block) {
      tap_ok(false, "A144 block %d: %s", i, tn_error_message());
      return;
    }
    tn_stream_call(busy, nothing, NULL);
    tn_block_record_stream(block, busy);
    tn_block_release(block);
  }
  tap_ok(true, "A144 memory in use by another stream is waited for");
  tap_is_int((long)stats().num_ooms, 0, "A144 rather than refused");
  tap_ok(stats().num_alloc_retries > 0, "A144 which is counted");
}

static void test_pinned(void)
{
  int number;
  tn_stream *stream = manual_stream(&number);
  char *device = tn_malloc(manual_first, size);
  char *pinned = tn_malloc_pinned(size), *other;
  tap_is_int(manual->pinned_count(), 1, "P1 the accelerator in use pins it, "
             "though cpu is the default device");
  memset(pinned, 1, size);
  tn_with_stream(stream) {
    tap_is_int(tn_copy(device, manual_first, pinned, manual_host, size, true),
               TN_OK, "P2 a copy from pinned memory is queued");
  }
  tap_is_int(manual->waiting(number), 1, "P2 and waits");
  tn_free(pinned);
  other = tn_malloc_pinned(size);
  tap_ok(other != pinned, "A161 the memory is not reused meanwhile");
  memset(other, 2, size);
  tn_stream_synchronize(stream);
  tap_is_int(device[size - 1], 1, "P2 the copy brought what was there");
  tn_free(other);
  tap_ok(tn_malloc_pinned(size) != NULL, "P2 another piece");
  other = tn_malloc_pinned(size);
  tap_ok(other == pinned || tn_memory_is_pinned(pinned),
         "A161 it is reused when the copy is done");
  tn_with_stream(stream)
    tn_copy(other, manual_host, device, manual_first, size, true);
  tn_free(other);
  char *third = tn_malloc_pinned(size);
  tap_ok(third != other, "P2 a destination is not reused either");
  tn_stream_synchronize(stream);
  char *fourth = tn_malloc_pinned(size);
  tap_ok(fourth == other, "P2 before the copy is done");
  tn_stream_call(stream, nothing, NULL);
  tap_is_int(tn_memory_record_stream(fourth, stream), TN_OK,
             "P2 pinned memory can be recorded by hand");
  tn_free(fourth);
  fourth = tn_malloc_pinned(size);
  tap_ok(fourth != other, "P2 and then waits too");
  tn_stream_synchronize(stream);
}

static void test_pinning_opens_none(void)
{
  tn_block *block = tn_block_new(manual_second, 512);
  tap_ok(manual->is_open(1) && !manual->is_open(0), "A169 one is in use");
  void *memory = tn_malloc_pinned(100);
  tap_ok(memory != NULL, "A169 memory is pinned for it");
  tap_ok(!manual->is_open(0), "A169 without opening the other");
  tn_free(memory);
  tn_block_release(block);
}

static void test_all(void)
{
  tn_default_stream(manual_first); /* number 0 */
  test_own_stream();
  test_other_stream();
  test_by_address();
  test_queues();
  test_ended_stream();
  test_pending_at_end_of_memory();
  test_pinned();
}

int main(void)
{
  manual_part("", test_all);
  manual_part("", test_pinning_opens_none);
  return tap_done();
}
