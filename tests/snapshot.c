/* Snapshots against the statistics, over random programs by seed (rule M4):
 * linked with the library's objects, to look at a snapshot before it is
 * written. On the manual backend. `--write FOLDER` runs one program and writes
 * files there for tests/snapshot_file.sh. */
#include "config.h"

#include "core/memory/snapshot.h"
#include "tests/manual_device.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)
enum { HELD = 64, STEPS = 400, SEEDS = 30, STREAMS = 3, POOLS = 2 };

typedef struct program {
  uint64_t random;
  tn_block *blocks[HELD];
  tn_stream *streams[STREAMS];
  tn_mem_pool *pools[POOLS];
} program;

static void nothing(void *unused) { (void)unused; }

/* xorshift64* */
static uint64_t draw(program *p, uint64_t below)
{
  p->random ^= p->random >> 12;
  p->random ^= p->random << 25;
  p->random ^= p->random >> 27;
  return (p->random * 2685821657736338717u >> 16) % below;
}

static tn_block *allocate(program *p)
{
  static const char *const tags[] = { NULL, "weights", "work" };
  size_t size = 1 + draw(p, (uint64_t)1 << (4 + draw(p, 20)));
  tn_block *block = NULL;
  uint64_t pool = draw(p, POOLS + 3);
  tn_with_memory_tag(tags[draw(p, 3)])
    tn_with_stream(p->streams[draw(p, STREAMS)]) {
      if (pool < POOLS) tn_with_pool(p->pools[pool])
        block = tn_block_new(manual_first, size);
      else block = tn_block_new(manual_first, size);
    }
  return block;
}

static void step(program *p)
{
  tn_block **place = &p->blocks[draw(p, HELD)];
  tn_stream *stream = p->streams[draw(p, STREAMS)];
  uint64_t what = draw(p, 100);
  if (!*place) *place = allocate(p);
  else if (what < 20) {
    tn_stream_call(stream, nothing, NULL);
    tn_block_record_stream(*place, stream);
  } else {
    tn_block_release(*place);
    *place = NULL;
  }
  if (what == 99) tn_empty_cache(manual_first);
  if (what == 98) tn_stream_synchronize(stream);
}

static void begin(program *p, uint64_t seed)
{
  *p = (program){ .random = seed * 2654435761u + 1 };
  p->streams[0] = tn_stream_retain(tn_default_stream(manual_first));
  for (int i = 1; i < STREAMS; i++)
    p->streams[i] = tn_stream_new(manual_first, 0);
  for (int i = 0; i < POOLS; i++) p->pools[i] = tn_mem_pool_new(manual_first);
}

static void end(program *p)
{
  for (int i = 0; i < HELD; i++) tn_block_release(p->blocks[i]);
  for (int i = 0; i < STREAMS; i++) tn_stream_release(p->streams[i]);
  for (int i = 0; i < POOLS; i++) tn_mem_pool_release(p->pools[i]);
  tn_synchronize(manual_first);
  tn_empty_cache(manual_first);
}

/* What a snapshot adds up to; [1] is small. */
typedef struct sums {
  uint64_t segments[2], reserved[2], allocated[2], active[2], requested[2];
  uint64_t allocations[2], active_blocks[2], splits[2], split[2];
} sums;

/* Whether a segment's blocks tile it, and make its figures. */
static bool add_segment(sums *all, const tn_snapshot *shot,
                        const tn_seen_segment *segment)
{
  uint64_t at = segment->address, requested = 0, active = 0, allocated = 0;
  bool is_small = segment->is_small;
  for (size_t i = 0; i < segment->count; i++) {
    const tn_seen_block *b = &shot->blocks[segment->first + i];
    if (b->address != at || b->size % 512 || b->size == 0) return false;
    if (b->requested > b->size) return false;
    at += b->size;
    requested += b->requested;
    if (b->state == TN_BLOCK_LIVE) {
      allocated += b->size;
      all->allocations[is_small]++;
    }
    if (b->state >= TN_BLOCK_LIVE) {
      active += b->size;
      all->active_blocks[is_small]++;
    } else if (segment->count > 1) {
      all->splits[is_small]++;
      all->split[is_small] += b->size;
    }
  }
  all->segments[is_small]++;
  all->reserved[is_small] += segment->size;
  all->allocated[is_small] += segment->allocated;
  all->active[is_small] += segment->active;
  all->requested[is_small] += segment->requested;
  return at == segment->address + segment->size &&
         requested == segment->requested && active == segment->active &&
         allocated == segment->allocated;
}

static bool is_sum(const tn_memory_stat_pools *pools, const uint64_t sum[2])
{
  return pools->small.current == sum[1] && pools->large.current == sum[0] &&
         pools->all.current == sum[0] + sum[1] &&
         pools->all.peak >= pools->all.current &&
         pools->small.peak >= sum[1] && pools->large.peak >= sum[0] &&
         pools->all.total_allocated - pools->all.total_freed ==
             sum[0] + sum[1];
}

static bool agrees(const tn_snapshot *shot)
{
  sums all = { 0 };
  const tn_memory_stats *s = &shot->stats;
  for (size_t i = 0; i < shot->segment_count; i++)
    if (!add_segment(&all, shot, &shot->segments[i])) return false;
  return is_sum(&s->segments, all.segments) &&
         is_sum(&s->reserved, all.reserved) &&
         is_sum(&s->allocated, all.allocated) &&
         is_sum(&s->active, all.active) &&
         is_sum(&s->requested, all.requested) &&
         is_sum(&s->allocations, all.allocations) &&
         is_sum(&s->active_blocks, all.active_blocks) &&
         is_sum(&s->inactive_splits, all.splits) &&
         is_sum(&s->inactive_split, all.split);
}

static bool check(void)
{
  tn_snapshot shot;
  if (tn_snapshot_take(tn_allocator_acquire(manual_first), &shot) != TN_OK)
    return false;
  bool is_right = agrees(&shot);
  tn_snapshot_free(&shot);
  return is_right;
}

static void run_seed(uint64_t seed)
{
  program p;
  int wrong = 0;
  begin(&p, seed);
  for (int i = 0; i < STEPS; i++) {
    step(&p);
    if (i % 8 == 0) wrong += !check();
    if (i == STEPS / 2) tn_reset_accumulated_memory_stats(manual_first);
    if (i == STEPS / 3) tn_reset_peak_memory_stats(manual_first);
  }
  end(&p);
  tap_ok(wrong == 0 && check(),
         "A094 A095 seed %" PRIu64 ": a snapshot's sums are the statistics",
         seed);
  tap_is_int((long)tn_memory_reserved(manual_first), 0,
             "A130 seed %" PRIu64 ": and all goes back", seed);
}

static void test_seeds(void)
{
  for (uint64_t seed = 1; seed <= SEEDS; seed++) run_seed(seed);
  tn_set_alloc_conf("max_split_size_mb:21,roundup_power2_divisions:4,"
                    "garbage_collection_threshold:0.3");
  for (uint64_t seed = 1; seed <= SEEDS; seed++) run_seed(100 + seed);
}

/* A102 */
static void test_tiles(void)
{
  tn_block *blocks[4096];
  for (int i = 0; i < 4096; i++)
    blocks[i] = tn_block_new(manual_first, 128 * sizeof(float));
  tn_snapshot shot;
  tn_snapshot_take(tn_allocator_acquire(manual_first), &shot);
  tap_is_int((long)shot.segment_count, 1, "A102 4096 of 128 floats take one");
  tap_is_int((long)shot.block_count, 4096, "A102 segment, exactly");
  tap_is_int((long)shot.blocks[7].size, 512, "A102 of 512 bytes each");
  tn_snapshot_free(&shot);
  for (int i = 0; i < 4096; i++) tn_block_release(blocks[i]);
  tn_empty_cache(manual_first);
}

static void test_all(void)
{
  test_seeds();
  test_tiles();
}

static const char *folder;

static FILE *open_in(const char *name)
{
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  if (!file) abort();
  return file;
}

static void write_files(void)
{
  program p;
  tn_memory_stats stats;
  begin(&p, 7);
  tn_memory_record_history(manual_first, 300);
  tn_memory_set_metadata("caf\xc3\xa9 \xff");
  for (int i = 0; i < STEPS; i++) step(&p);
  tn_block_release(tn_block_new(manual_first, 100 * MIB));
  tn_block *used = tn_block_new(manual_first, MIB);
  tn_stream_call(p.streams[1], nothing, NULL);
  tn_block_record_stream(used, p.streams[1]);
  tn_block_release(used);
  FILE *json = open_in("json"), *pickle = open_in("pickle");
  FILE *figures = open_in("figures"), *summary = open_in("summary");
  tap_is_int(tn_memory_snapshot(manual_first, json), TN_OK, "M4 JSON");
  tap_is_int(tn_memory_snapshot_pickle(manual_first, pickle), TN_OK,
             "M4 a pickle");
  tn_memory_get_stats(manual_first, &stats);
  fprintf(figures, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
          stats.reserved.all.current, stats.allocated.all.current,
          stats.active.all.current, stats.requested.all.current);
  tn_memory_summary(manual_first, summary);
  fclose(json);
  fclose(pickle);
  fclose(figures);
  fclose(summary);
  end(&p);
}

int main(int argc, char **argv)
{
  if (argc == 3 && strcmp(argv[1], "--write") == 0) {
    folder = argv[2];
    manual_part("", write_files);
    return tap_done();
  }
  manual_part("", test_all);
  return tap_done();
}
