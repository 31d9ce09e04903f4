#include "config.h"

#include "tests/host_memory_scenarios.h"

#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

static void observe(tn_device device, size_t requested, size_t total,
                    size_t unused, void *count)
{
  (void)device, (void)requested, (void)total, (void)unused;
  add_one(count);
}

static void ask_for_too_much(void)
{
  int observed = 0;
  bool is_observed = did(tn_memory_observe_oom(observe, &observed));
  if (tn_malloc(here, (size_t)1 << 50)) wrong("a petabyte is had");
  note(tn_last_status() == TN_OUT_OF_MEMORY);
  bool is_of_device = strstr(tn_error_message(), "1125899906842624");
  if (is_observed && is_of_device && !observed)
    wrong("an observer was not called");
  if (is_observed) did(tn_memory_ignore_oom(observe, &observed));
}

void use_memory(void)
{
  static const size_t sizes[] = { 1, 5000, 700000, 3 << 20, 11 << 20 };
  void *memory[5] = { 0 };
  tn_memory_stats stats;
  tn_with_memory_tag("host_memory") tn_with_stream(stream)
    for (int i = 0; i < 5; i++) memory[i] = memory_of(here, sizes[i]);
  for (int i = 0; i < 5; i++) {
    if (!memory[i]) continue;
    did(tn_fill_bytes(memory[i], here, i, sizes[i]));
    did(tn_memory_record_stream(memory[i], urgent));
    if (i % 2) did(tn_memory_record_stream((char *)memory[i], stream));
  }
  for (int i = 0; i < 5; i++) give_back(memory[i]);
  tn_block *block = tn_block_new(here, BYTES);
  if (note(block != NULL)) did(tn_block_record_stream(block, urgent));
  tn_block_release(block);
  ask_for_too_much();
  did(tn_memory_get_stats(here, &stats));
  did(tn_set_memory_fraction(here, 0.9));
  did(tn_set_memory_fraction(here, 1));
  did(tn_empty_cache(here));
}

void use_pool(void)
{
  void *inside = NULL, *outside;
  tn_mem_pool *pool = tn_mem_pool_new(here);
  if (!note(pool != NULL)) return;
  tn_with_pool(pool) tn_with_stream(stream) inside = memory_of(here, 30000);
  outside = memory_of(here, 30000);
  if (inside) did(tn_memory_record_stream(inside, urgent));
  give_back(inside);
  tn_mem_pool_release(pool);
  give_back(outside);
}

/* ---- a pool of the program's own memory ---- */

typedef struct source {
  int pieces, ends;
} source;

static void *get(size_t bytes, tn_device device, tn_stream *of, void *context)
{
  (void)device, (void)of;
  void *memory = NULL;
  if (posix_memalign(&memory, 512, bytes)) return NULL;
  ((source *)context)->pieces++;
  return memory;
}

static void put(void *memory, size_t bytes, tn_device device, tn_stream *of,
                void *context)
{
  (void)bytes, (void)device, (void)of;
  free(memory);
  ((source *)context)->pieces--;
}

static void end(void *context) { ((source *)context)->ends++; }

void use_own_pool(void)
{
  uint64_t id[2];
  source from = { 0, 0 };
  void *inside = NULL;
  tn_mem_pool *pool = tn_mem_pool_new(here, .alloc = get, .free = put,
                                      .destroy = end, .context = &from);
  if (!note(pool != NULL)) return;
  tn_mem_pool *same = tn_mem_pool_retain(pool);
  tn_mem_pool_id(pool, id);
  if (tn_mem_pool_use_count(same) != 2 || !id[1] ||
      !tn_device_equal(tn_mem_pool_device(pool), here))
    wrong("a pool is another");
  tn_mem_pool_release(same);
  tn_mem_pool_guard guard = tn_mem_pool_push(pool);
  note(guard.active);
  tn_with_stream(stream) inside = memory_of(here, 30000);
  tn_mem_pool_pop(&guard);
  if (guard.saved) wrong("a pool was entered before");
  if (inside && from.pieces &&
      !tn_mem_pool_check_live(pool, &inside, 1))
    wrong("a pool has lost a block");
  give_back(inside);
  tn_mem_pool_release(pool);
  calm_down();
  tn_empty_cache(here);
  if (from.pieces || from.ends != 1) wrong("a pool has kept memory");
}

void use_pinned(void)
{
  static unsigned char own[BYTES];
  unsigned char *pinned = tn_malloc_pinned(BYTES);
  note(pinned != NULL);
  void *memory = memory_of(here, BYTES);
  bool is_own = may(tn_host_register(own, sizeof own));
  tn_with_stream(stream) {
    if (pinned && memory) {
      memset(pinned, 3, BYTES);
      did(tn_copy(memory, here, pinned, nowhere, BYTES, true));
      did(tn_copy(pinned, nowhere, memory, here, BYTES, true));
    }
    if (is_own && memory) did(tn_copy(own, nowhere, memory, here, BYTES, true));
  }
  give_back(pinned);
  calm_down();
  if (is_own) did(tn_host_unregister(own));
  give_back(memory);
  did(tn_empty_host_cache());
}

/* ---- figures ---- */

static void look_at_block(void)
{
  tn_block *block = tn_block_new(here, BYTES);
  if (!note(block != NULL)) return;
  tn_block *same = tn_block_retain(block);
  if (!tn_block_address(same) || tn_block_size(same) != BYTES ||
      !tn_device_equal(tn_block_device(same), here))
    wrong("a block is another");
  if (tn_memory_allocated(here) < BYTES || tn_memory_reserved(here) < BYTES)
    wrong("a block is not counted");
  tn_block_release(same);
  tn_block_release(block);
}

void use_figures(void)
{
  size_t free_bytes, total;
  tn_memory_stats stats;
  tn_memory_tag_guard guard = tn_memory_tag_push("figures");
  look_at_block();
  tn_memory_tag_pop(&guard);
  note(tn_max_memory_allocated(here) >= tn_memory_allocated(here));
  note(tn_max_memory_reserved(here) >= tn_memory_reserved(here));
  did(tn_mem_get_info(here, &free_bytes, &total));
  note(tn_memory_fraction(here) == 1);
  did(tn_reset_peak_memory_stats(here));
  did(tn_reset_accumulated_memory_stats(here));
  did(tn_host_memory_get_stats(&stats));
  did(tn_reset_peak_host_memory_stats());
  did(tn_reset_accumulated_host_memory_stats());
  void *pinned = tn_malloc_pinned(BYTES);
  if (note(pinned != NULL) && !tn_memory_is_pinned(pinned))
    wrong("pinned memory is not");
  give_back(pinned);
}

/* ---- copies ---- */

void use_copies(void)
{
  static unsigned char in[BYTES], out[BYTES];
  char path[200];
  void *one = memory_of(here, 2 * BYTES), *two = memory_of(there, BYTES);
  memset(in, 7, BYTES);
  memset(out, 0, BYTES);
  bool is_good = false; /* a block that cannot be entered is left out */
  tn_with_stream(stream) tn_with_stream(far) if (one && two) {
    is_good = did(tn_copy(one, here, in, nowhere, BYTES, true));
    is_good &= did(tn_copy((char *)one + 100, here, one, here, BYTES, true));
    is_good &= did(tn_copy(two, there, (char *)one + 100, here, BYTES, true));
    is_good &= did(tn_copy(one, here, two, there, BYTES, true));
    is_good &= did(tn_copy(out, nowhere, one, here, BYTES, false));
  }
  note(tn_copy_path(here, there, path, sizeof path) > 0);
  if (tn_can_access_peer(here, there) &&
      may(tn_enable_peer_access(here, there)))
    did(tn_disable_peer_access(here, there));
  calm_down();
  if (is_good && memcmp(in, out, BYTES) != 0) wrong("bytes were lost");
  give_back(one);
  give_back(two);
}

