/* Memory pools (rule M6). On the manual backend, whose memory is 64 MiB. */
#include "config.h"

#include "tests/manual_device.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#define MIB ((size_t)1 << 20)

static void nothing(void *unused) { (void)unused; }

static tn_memory_stats stats(void)
{
  tn_memory_stats now;
  if (tn_memory_get_stats(manual_first, &now) != TN_OK) abort();
  return now;
}

static tn_block *get(size_t bytes) { return tn_block_new(manual_first, bytes); }

static uint64_t number_of(const tn_mem_pool *pool)
{
  uint64_t id[2];
  tn_mem_pool_id(pool, id);
  return id[0] == 0 ? id[1] : 0;
}

enum { THREADS = 4, POOLS = 50 };
static uint64_t numbers[THREADS][POOLS];

static void *make_pools(void *argument)
{
  uint64_t *mine = argument;
  for (int i = 0; i < POOLS; i++) {
    tn_mem_pool *pool = tn_mem_pool_new(manual_first);
    mine[i] = number_of(pool);
    tn_mem_pool_release(pool);
  }
  return NULL;
}

static void test_ids(void)
{
  pthread_t threads[THREADS];
  bool grow = true, are_unique = true;
  for (int i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, make_pools, numbers[i]);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < THREADS; i++)
    for (int k = 0; k < POOLS; k++) {
      grow &= numbers[i][k] > (k ? numbers[i][k - 1] : 0);
      for (int j = 0; j < i; j++)
        for (int l = 0; l < POOLS; l++)
          are_unique &= numbers[i][k] != numbers[j][l];
    }
  tap_ok(grow, "A119 a thread's pools have growing numbers");
  tap_ok(are_unique, "A119 %d threads' are all different", THREADS);
  tap_is_int((long)number_of(NULL), 0, "A119 no pool has 0");
}

/* What the program's own functions were called with. */
typedef struct own {
  int allocs, frees, destroyed;
  size_t bytes; /* now */
  tn_stream *stream;
  int fail; /* the next so many calls */
} own;

static void *own_alloc(size_t bytes, tn_device device, tn_stream *stream,
                       void *context)
{
  own *mine = context;
  if (!tn_device_equal(device, manual_first)) abort();
  if (mine->fail && mine->fail--) return NULL;
  mine->allocs++;
  mine->bytes += bytes;
  mine->stream = stream;
  return aligned_alloc(512, bytes);
}

static void own_free(void *address, size_t bytes, tn_device device,
                     tn_stream *stream, void *context)
{
  own *mine = context;
  if (!tn_device_equal(device, manual_first)) abort();
  if (stream != mine->stream) abort();
  mine->frees++;
  mine->bytes -= bytes;
  free(address);
}

static void own_destroy(void *context) { ((own *)context)->destroyed++; }

static tn_mem_pool *own_pool(own *mine)
{
  return tn_mem_pool_new(manual_first, .alloc = own_alloc, .free = own_free,
                         .destroy = own_destroy, .context = mine);
}

static void test_own_functions(void)
{
  own mine = { 0 };
  tn_mem_pool *pool = own_pool(&mine);
  tn_block *blocks[3] = { NULL };
  static const long segments[] = { 1, 1, 2 };
  int calls = manual->alloc_count();
  tap_is_int((long)tn_mem_pool_use_count(pool), 1, "A120 one user");
  tn_with_pool(pool) {
    tap_is_int((long)tn_mem_pool_use_count(pool), 2, "A120 two inside");
    for (int i = 0; i < 3; i++) {
      blocks[i] = get(MIB);
      tap_is_int((long)stats().segments.all.current, segments[i],
                 "A120 segments with %d blocks", i + 1);
    }
  }
  tap_is_int((long)tn_mem_pool_use_count(pool), 1, "A120 one afterwards");
  tap_is_int(mine.allocs, 2, "A120 the program's own function was called");
  tap_is_int(manual->alloc_count(), calls, "A120 and the device was not");
  tap_ok(mine.stream == tn_default_stream(manual_first),
         "M6 with the stream it is for");
  tn_block_release(blocks[0]);
  tn_block_release(blocks[1]);
  tn_empty_cache(manual_first);
  tap_is_int(mine.frees, 0, "M6 a pool in use keeps what it has");
  tn_mem_pool_release(pool);
  tap_is_int(mine.frees, 1, "A120 releasing it calls the free function");
  tap_is_int(mine.destroyed, 0, "A121 a block outlives its pool");
  *(char *)tn_block_address(blocks[2]) = 1;
  tn_block_release(blocks[2]);
  tap_is_int(mine.destroyed, 0, "A121 freed, it is cached");
  tn_empty_cache(manual_first);
  tap_is_int(mine.frees, 2, "A121 and goes back when the cache is emptied");
  tap_is_int(mine.destroyed, 1, "A121 then the pool's context is let go");
  tap_is_int((long)mine.bytes, 0, "A121 all of it went back");
}

static void test_own_failure(void)
{
  own mine = { .fail = 1 };
  tn_mem_pool *pool = own_pool(&mine);
  tn_block_release(get(MIB));
  tn_with_pool(pool) {
    tn_block *block = get(MIB);
    tap_ok(block != NULL, "R57 a pool's request is tried again");
    tap_is_int((long)manual->used(0), 0, "R57 after the cache was emptied");
    tn_block_release(block);
    mine.fail = 100;
    tap_ok(!get(5 * MIB), "M6 NULL means that there is no memory");
    tap_is_int(tn_last_status(), TN_OUT_OF_MEMORY, "M6 which is the error");
    tap_is_int((long)stats().reserved.all.current, 0,
               "R57 the pool's own cache was tried too");
    mine.fail = 0;
  }
  tn_mem_pool_release(pool);
  tap_is_int(mine.destroyed, 1, "M6 an empty pool ends at once");
}

static void test_options(void)
{
  tap_ok(!tn_mem_pool_new(manual_first, .use_on_oom = true) &&
             tn_last_status() == TN_UNSUPPORTED, "M6 use_on_oom: later");
  tap_has(tn_error_message(), "use_on_oom", "M6 which is named");
  tap_ok(!tn_mem_pool_new(manual_first, .no_split = true) &&
             tn_last_status() == TN_UNSUPPORTED, "M6 no_split: later");
  tap_has(tn_error_message(), "no_split", "M6 which is named");
  tap_ok(!tn_mem_pool_new(manual_first, .alloc = own_alloc) &&
             tn_last_status() == TN_INVALID_ARGUMENT, "M6 half an allocator");
  tap_ok(!tn_mem_pool_new(tn_device_of("no:0")), "M6 no device");
  tn_mem_pool_guard guard = tn_mem_pool_push(NULL);
  tap_ok(!guard.active && tn_last_status() == TN_INVALID_ARGUMENT,
         "M6 no pool cannot be entered");
  tn_mem_pool_pop(&guard);
  tn_mem_pool_release(NULL);
}

static void *allocate_outside(void *unused)
{
  (void)unused;
  return get(MIB);
}

/* Another thread is not in it. */
static void test_threads(void)
{
  tn_mem_pool *pool = tn_mem_pool_new(manual_first);
  pthread_t thread;
  void *outside;
  tn_with_pool(pool) {
    tn_block *inside = get(MIB);
    pthread_create(&thread, NULL, allocate_outside, NULL);
    pthread_join(thread, &outside);
    tap_is_int((long)stats().active.all.current, 2097152,
               "A126 one block each");
    tap_is_int((long)stats().segments.all.current, 2,
               "A126 in segments of their own");
    void *one[] = { tn_block_address(inside) };
    tap_ok(tn_mem_pool_check_live(pool, one, 1),
           "A129 the pool has just the one");
    tap_ok(!tn_mem_pool_check_live(pool, one, 0), "A129 not fewer");
    void *two[] = { one[0], tn_block_address(outside) };
    tap_ok(!tn_mem_pool_check_live(pool, two, 2), "A129 and not more");
    uint64_t syncs = stats().num_sync_all_streams;
    tn_block_release(inside);
    tn_empty_cache(manual_first);
    tap_is_int((long)stats().segments.all.current, 2,
               "A127 emptying the cache inside frees nothing");
    tap_is_int((long)(stats().num_sync_all_streams - syncs), 0,
               "A127 and waits for nothing");
  }
  tn_block_release(outside);
  tn_mem_pool_release(pool);
  tap_is_int((long)stats().segments.all.current, 1,
             "M6 a released pool gives back, nothing else does");
  tn_empty_cache(manual_first);
}

static void test_nesting(void)
{
  tn_mem_pool *outer = tn_mem_pool_new(manual_first);
  tn_mem_pool *inner = tn_mem_pool_new(manual_first);
  tn_mem_pool *other = tn_mem_pool_new(manual_second);
  tn_block *blocks[4] = { NULL };
  tn_with_pool(outer) {
    blocks[0] = get(512);
    tn_with_pool(other)
      tn_with_pool(inner) {
        blocks[1] = get(512);
        blocks[3] = tn_block_new(manual_second, 512);
      }
    blocks[2] = get(512);
  }
  void *two[] = { tn_block_address(blocks[0]), tn_block_address(blocks[2]) };
  void *one[] = { tn_block_address(blocks[1]) };
  void *third[] = { tn_block_address(blocks[3]) };
  tap_ok(tn_mem_pool_check_live(outer, two, 2), "M6 scopes nest");
  tap_ok(tn_mem_pool_check_live(inner, one, 1), "M6 the innermost holds");
  tap_ok(tn_mem_pool_check_live(other, third, 1), "M6 one for each device");
  tap_ok(tn_device_equal(tn_mem_pool_device(other), manual_second),
         "M6 whose it is can be asked");
  tn_block *outside = get(512);
  tap_ok(tn_mem_pool_check_live(outer, two, 2), "M6 outside none holds");
  tn_block_release(outside);
  for (int i = 0; i < 4; i++) tn_block_release(blocks[i]);
  tap_is_int((long)tn_mem_pool_use_count(outer) +
                 (long)tn_mem_pool_use_count(inner) +
                 (long)tn_mem_pool_use_count(other), 3,
             "M6 and no reference is left");
  tn_mem_pool_release(outer);
  tn_mem_pool_release(inner);
  tn_mem_pool_release(other);
  tn_empty_cache(manual_first);
  tap_is_int((long)manual->used(0) + (long)manual->used(1), 0,
             "M6 nothing is lost");
}

/* Blocks come back to the pool, from wherever they are freed, and are not for
 * others; the pool has a cache for each stream. */
static void test_reuse(void)
{
  int number;
  tn_stream *stream = manual_stream(&number);
  tn_mem_pool *pool = tn_mem_pool_new(manual_first);
  tn_block *one = NULL, *two = NULL;
  tn_with_pool(pool) {
    one = get(1000);
    tn_with_stream(stream) two = get(1000);
  }
  void *first = tn_block_address(one);
  tn_block_release(one);
  tn_block *outside = get(1000);
  tap_ok(tn_block_address(outside) != first, "M6 a pool's memory is its own");
  tn_with_pool(pool) {
    one = get(1000);
    tap_ok(tn_block_address(one) == first, "M6 and is reused for it");
  }
  tap_is_int((long)stats().segments.all.current, 3,
             "M6 each stream has its cache in the pool");
  tap_is_int(tn_block_record_stream(one, stream), TN_OK,
             "M6 a pool's blocks know their stream");
  tn_stream_call(stream, nothing, NULL);
  tn_block_record_stream(one, stream);
  tn_block_release(two);
  tn_block_release(one);
  tn_block_release(outside);
  tn_mem_pool_release(pool);
  tap_is_int(manual->waiting(number), 0,
             "M6 releasing it waits for the stream of what it gives back");
  tn_empty_cache(manual_first);
  tap_is_int((long)manual->used(0), 0, "M6 all goes back in the end");
}

static void *leave_inside(void *pool)
{
  tn_mem_pool_push(pool);
  return get(512);
}

/* A thread that ends inside a scope leaves no reference. */
static void test_end_inside(void)
{
  tn_mem_pool *pool = tn_mem_pool_new(manual_first);
  pthread_t thread;
  void *block;
  pthread_create(&thread, NULL, leave_inside, pool);
  pthread_join(thread, &block);
  tap_is_int((long)tn_mem_pool_use_count(pool), 1,
             "M6 a thread's end leaves its scopes");
  tn_mem_pool_release(pool);
  tn_block_release(block);
  tn_empty_cache(manual_first);
  tap_is_int((long)manual->used(0), 0, "M6 and the memory goes back");
}

static void test_many(void)
{
  for (int i = 0; i < 2000; i++) {
    tn_mem_pool *pool = tn_mem_pool_new(manual_first);
    tn_with_pool(pool) tn_block_release(get(512 + (size_t)(i % 3) * MIB));
    tn_mem_pool_release(pool);
  }
  tap_is_int((long)manual->used(0), 0, "A130 2000 pools leave nothing");
}

static void test_all(void)
{
  test_ids();
  test_own_functions();
  test_own_failure();
  test_options();
  test_threads();
  test_nesting();
  test_reuse();
  test_end_inside();
  test_many();
}

static void test_left(void)
{
  static own mine;
  tn_mem_pool *pool = own_pool(&mine);
  tn_mem_pool_push(pool);
  get(512);
  tn_shutdown();
  tap_is_int(mine.frees, 0,
             "M6 the end calls no function of the program for what is left");
  tn_mem_pool_release(pool);
}

int main(void)
{
  manual_part("", test_all);
  manual_part("", test_left);
  return tap_done();
}
