/* Pools as captures will use them (rule M6): linked with the library's
 * objects, since the calls are the core's own. On the manual backend, whose
 * memory is 64 MiB. */
#include "config.h"

#include "core/memory/pool.h"
#include "tests/manual_device.h"

#include <stdlib.h>

#define MIB ((size_t)1 << 20)

static tn_block *get(size_t bytes) { return tn_block_new(manual_first, bytes); }

static void *allocate(void *stream)
{
  tn_block *block = NULL;
  tn_with_stream(stream) block = get(MIB);
  return block;
}

static bool has(const tn_mem_pool *pool, const tn_block *one,
                const tn_block *two)
{
  void *both[] = { tn_block_address(one), tn_block_address(two) };
  return tn_mem_pool_check_live(pool, both, two ? 2 : 1);
}

static void test_all(void)
{
  tn_device_state *state;
  pthread_t thread;
  void *elsewhere;
  tn_stream *stream = tn_stream_new(manual_first, 0);
  tn_device_acquire(manual_first, &state);
  tn_mem_pool *pool = tn_pool_new_for_graph(state);
  uint64_t id[2];
  tn_mem_pool_id(pool, id);
  tap_ok(id[0] > 0 && id[1] == 0, "A119 a graph's pool has another number");
  tap_is_int(tn_pool_route(stream, pool), TN_OK, "M6 a stream is routed");
  tn_block *one = allocate(stream), *other = get(MIB);
  pthread_create(&thread, NULL, allocate, stream);
  pthread_join(thread, &elsewhere);
  tap_ok(has(pool, one, elsewhere), "M6 what is for it comes from the pool, "
         "in every thread");
  tap_is_int(tn_pool_route(stream, NULL), TN_OK, "M6 and back");
  tn_block *after = allocate(stream);
  tap_ok(has(pool, one, elsewhere), "M6 as before");
  tn_block_release(one);
  tn_block_release(elsewhere);
  tn_block_release(after);
  tn_block_release(other);
  tn_pool_hold(pool);
  tn_empty_cache(manual_first);
  tap_is_int((long)manual->used(0), 2 * MIB, "M6 a graph keeps its memory");
  tn_with_pool(pool) tap_ok(!get(63 * MIB), "M6 wherever memory is short");
  tap_ok(!get(63 * MIB), "M6 inside and outside");
  tap_is_int((long)manual->used(0), 2 * MIB, "M6 it is there");
  tn_pool_let_go(pool);
  tn_with_pool(pool) {
    one = get(63 * MIB);
    tap_ok(one != NULL, "M6 let go, its own requests may have it");
  }
  tn_mem_pool_release(pool);
  tn_block_release(one);
  tn_empty_cache(manual_first);
  tap_is_int((long)manual->used(0), 0, "M6 nothing is lost");
  tn_stream_release(stream);
}

int main(void)
{
  manual_part("", test_all);
  return tap_done();
}
