/* The allocator's options and budgets (rules M5, M7). On the manual backend,
 * whose memory is set here. */
#include "config.h"

#include "tests/manual_device.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)

static tn_memory_stats stats(void)
{
  tn_memory_stats now;
  if (tn_memory_get_stats(manual_first, &now) != TN_OK) abort();
  return now;
}

static tn_block *get(size_t bytes) { return tn_block_new(manual_first, bytes); }

/* What a request of so many bytes adds to the active bytes. */
static long active_for(const char *conf, size_t bytes)
{
  if (tn_set_alloc_conf(conf) != TN_OK) return -1;
  tn_empty_cache(manual_first);
  uint64_t before = stats().active.all.current;
  tn_block *block = get(bytes);
  long active = (long)(stats().active.all.current - before);
  if (tn_block_size(block) != bytes) active = -1;
  if (stats().requested.all.current != bytes) active = -2;
  tn_block_release(block);
  return active;
}

static void test_rounding(void)
{
  const char *list =
      "roundup_power2_divisions:[64:8,128:2,256:2,512:2,1024:1,>:1]";
  tap_is_int(active_for("", 84 * MIB), 88080384, "A107 84 MiB as it is");
  tap_is_int(active_for("roundup_power2_divisions:4", 84 * MIB), 100663296,
             "A108 four divisions: 96 MiB");
  tap_is_int(active_for(list, 84 * MIB), 92274688, "A109 eight: 88 MiB");
  tap_is_int(active_for(list, 400 * MIB), 536870912, "A109 two: 512 MiB");
  tap_is_int(active_for(list, 64 * MIB), 64 * MIB, "A109 a power stays");
  tap_is_int(active_for(list, 5 * MIB), 5 * MIB,
             "M5 the first division holds for all smaller sizes");
  tap_is_int(active_for(list, 1000), 1024, "M5 down to units of 512 bytes");
  tap_is_int(active_for("garbage_collection_threshold:0.5", 84 * MIB),
             88080384, "A110 what is not named is reset");
  tap_is_int(active_for("roundup_power2_divisions:[2:1,4:2,>:4]", 5 * MIB),
             6 * MIB, "M5 two divisions from 4 MiB on");
  tap_is_int(active_for("roundup_power2_divisions:[2:1,4:2,>:4]", 9 * MIB),
             10 * MIB, "M5 and four for all that are larger");
  tap_is_int(active_for("roundup_power2_divisions: [ 4 : 2 ] , "
                        "max_split_size_mb : 32", 5 * MIB), 6 * MIB,
             "M5 spaces are skipped");
}

static void refused(const char *conf, const char *key, const char *value,
                    const char *text)
{
  tn_clear_error();
  tap_is_int(tn_set_alloc_conf(conf), TN_INVALID_ARGUMENT, "%s: %s", text,
             conf);
  tap_has(tn_error_message(), key, "%s: the key is named", text);
  tap_has(tn_error_message(), value, "%s: and the value", text);
}

static void later(const char *conf, const char *key)
{
  tap_is_int(tn_set_alloc_conf(conf), TN_UNSUPPORTED, "M5 later: %s", conf);
  tap_has(tn_error_message(), key, "M5 which is named");
  tap_has(tn_error_message(), "not there yet", "M5 with the reason");
}

static void test_errors(void)
{
  tn_set_alloc_conf("roundup_power2_divisions:4");
  refused("foo_bar:1", "\"foo_bar\"", "\"1\"", "A111 unknown key");
  refused("garbage_collection_threshold:1.2", "garbage_collection_threshold",
          "\"1.2\"", "A111 threshold");
  refused("garbage_collection_threshold:0", "garbage_collection_threshold",
          "\"0\"", "A111 threshold");
  refused("max_split_size_mb:2", "max_split_size_mb", "\"2\"",
          "A111 must exceed 20");
  refused("max_split_size_mb:20", "max_split_size_mb", "\"20\"",
          "A111 must exceed 20");
  refused("max_non_split_rounding_mb:20", "max_non_split_rounding_mb",
          "\"20\"", "A111 must exceed 20");
  refused("max_split_size_mb:-40", "max_split_size_mb", "\"-40\"",
          "A111 no number");
  refused("max_split_size_mb:99999999999999999999", "max_split_size_mb",
          "\"99999999999999999999\"", "A111 no size");
  refused("release_lock_on_cudamalloc:foo", "release_lock_on_cudamalloc",
          "\"foo\"", "A111 no bool");
  refused("pinned_use_cuda_host_register:none",
          "pinned_use_cuda_host_register", "\"none\"", "A111 no bool");
  refused("pinned_num_register_threads:none", "pinned_num_register_threads",
          "\"none\"", "A111 no number of threads");
  refused("pinned_num_register_threads:1024", "pinned_num_register_threads",
          "\"1024\"", "A111 too many threads");
  refused("pinned_num_register_threads:3", "pinned_num_register_threads",
          "\"3\"", "A111 no power of two");
  refused("roundup_power2_divisions:3", "roundup_power2_divisions", "\"3\"",
          "M5 no power of two");
  refused("roundup_power2_divisions:[64:8", "roundup_power2_divisions",
          "[64:8", "M5 no end of the list");
  refused("roundup_power2_divisions:[65:8]", "roundup_power2_divisions",
          "[65:8]", "M5 no power of two in the list");
  refused("backend:cuda", "backend", "\"cuda\"", "M5 no such backend");
  refused("per_process_memory_fraction:1.1", "per_process_memory_fraction",
          "\"1.1\"", "A112 too much");
  refused("per_process_memory_fraction:-0.1", "per_process_memory_fraction",
          "\"-0.1\"", "A112 too little");
  refused("max_split_size_mb", "max_split_size_mb", "no value",
          "M5 no value");
  tap_is_int(tn_set_alloc_conf(NULL), TN_INVALID_ARGUMENT, "M5 NULL");
  later("expandable_segments:True", "expandable_segments");
  later("backend:cudaMallocAsync", "backend");
  later("pinned_use_background_threads:True", "pinned_use_background");
  later("pinned_reserve_segment_size_mb:64", "pinned_reserve_segment");
  later("graph_capture_record_stream_reuse:True", "graph_capture");
  tn_block *block = get(84 * MIB);
  tap_is_int((long)stats().allocated.all.current, 96 * MIB,
             "M5 a refused text changes nothing");
  tn_block_release(block);
  tap_is_int(tn_set_alloc_conf("expandable_segments:False,backend:native,"
                               "pinned_use_background_threads:False,"
                               "release_lock_on_cudamalloc:True,"), TN_OK,
             "M5 what is off or always so is accepted");
}

static void test_fraction(void)
{
  size_t total;
  tn_empty_cache(manual_first);
  tn_mem_get_info(manual_first, NULL, &total);
  tap_ok(tn_memory_fraction(manual_first) == 1, "A113 1 at first");
  tap_is_int(tn_set_memory_fraction(manual_first, -0.1), TN_INVALID_ARGUMENT,
             "A113 not below 0");
  tap_is_int(tn_set_memory_fraction(manual_first, 2.0), TN_INVALID_ARGUMENT,
             "A113 nor above 1");
  tap_has(tn_error_message(), "2", "A113 which is named");
  tap_is_int(tn_set_memory_fraction(manual_first, 0.5), TN_OK, "A113 a half");
  tap_ok(tn_memory_fraction(manual_first) == 0.5, "A113 comes back exact");
  tap_ok(tn_memory_fraction(manual_second) == 1, "M7 of one device");
  tn_block *small = get(1024);
  tn_block *block = get((size_t)(0.499 * (double)total) - 2 * MIB);
  tap_ok(block != NULL, "A113 0.499 of it can be had");
  tn_block_release(block);
  tap_ok(!get(total / 2), "A113 a half, with what there is, cannot");
  tap_is_int(tn_last_status(), TN_OUT_OF_MEMORY, "A113 but is out of memory");
  tap_has(tn_error_message(), "fraction 0.5", "M7 which names the budget");
  tap_is_int((long)tn_memory_reserved(manual_first), 2 * MIB,
             "R57 after what was cached went back");
  tn_block_release(small);
  tn_empty_cache(manual_first);
  block = get(total / 2);
  tap_ok(block != NULL, "M7 the budget can be used up");
  tn_block_release(block);
}

static void test_fraction_by_conf(void)
{
  static const double values[] = { 0.0, 0.5, 1.0 };
  for (int i = 0; i < 3; i++) {
    char conf[64];
    snprintf(conf, sizeof conf, "per_process_memory_fraction:%.1f", values[i]);
    tn_set_alloc_conf(conf);
    tap_ok(tn_memory_fraction(manual_first) == values[i],
           "A112 %s comes back exact", conf);
  }
  tn_set_alloc_conf("per_process_memory_fraction:0.0");
  tn_empty_cache(manual_first);
  tap_ok(!get(1), "A112 with 0.0 there is nothing");
  tn_set_alloc_conf("");
  tap_ok(tn_memory_fraction(manual_first) == 0.0,
         "A112 it stays where it is not named");
  tn_set_memory_fraction(manual_first, 1);
}

static void test_all(void)
{
  test_rounding();
  test_errors();
  test_fraction();
  test_fraction_by_conf();
}

/* 120 MiB in all. */
static tn_block *fill_up(tn_block **kept)
{
  tn_block *first = get(100 * MIB);
  void *address = tn_block_address(first);
  tn_block_release(first);
  for (int i = 0; i < 10; i++) kept[i] = get(MIB + MIB / 2);
  tn_block *again = get(100 * MIB);
  tap_ok(!again || tn_block_address(again) == address,
         "R17 at the same address, if at all");
  return again;
}

static void drop(tn_block **blocks, int count)
{
  for (int i = 0; i < count; i++) tn_block_release(blocks[i]);
  tn_empty_cache(manual_first);
}

static void test_splitting(void)
{
  tn_block *kept[10], *again;
  again = fill_up(kept);
  tap_ok(!again && tn_last_status() == TN_OUT_OF_MEMORY,
         "R17 a large cached block is split for small ones");
  drop(kept, 10);
  tn_set_alloc_conf("max_split_size_mb:40");
  again = fill_up(kept);
  tap_ok(again != NULL, "R17 with max_split_size_mb it stays whole");
  tap_is_int((long)tn_memory_reserved(manual_first), 120 * MIB,
             "R17 beside one segment for the others");
  tap_is_int((long)stats().oversize_segments.current, 1, "M4 one is oversize");
  tap_is_int((long)stats().oversize_allocations.current, 1,
             "M4 and so is its block");
  tn_block_release(again);
  tap_is_int((long)stats().oversize_allocations.current, 0, "M4 for a while");
  again = get(60 * MIB);
  tap_is_int((long)stats().oversize_segments.total_allocated, 2,
             "M5 a block that is 40 MiB too large serves no request");
  tap_is_int((long)stats().num_alloc_retries, 1,
             "M5 just enough uncut blocks go back, and no others");
  tn_block_release(again);
  drop(kept, 10);
  tn_set_alloc_conf("max_split_size_mb:40,max_non_split_rounding_mb:60");
  tn_block_release(get(100 * MIB));
  again = get(60 * MIB);
  tap_is_int((long)stats().allocated.all.current, 100 * MIB,
             "M5 unless max_non_split_rounding_mb allows it");
  tn_block_release(again);
  tn_empty_cache(manual_first);
}

/* A fourth of 40 MiB, with a budget of 120 MiB out of 200. */
static void test_cap(void)
{
  static const size_t sizes[] = { 40, 40, 40 };
  tn_block *blocks[3];
  size_t total;
  tn_mem_get_info(manual_first, NULL, &total);
  tn_set_memory_fraction(manual_first, (double)(120 * MIB) / (double)total);
  for (int i = 0; i < 3; i++) blocks[i] = get(sizes[i] * MIB);
  tap_ok(blocks[2] && !get(40 * MIB), "A115 a fourth is refused");
  for (int i = 0; i < 3; i++) tn_block_release(blocks[i]);
  blocks[0] = get(120 * MIB);
  tap_ok(blocks[0] != NULL, "A115 one of all three succeeds");
  tn_block_release(blocks[0]);
  tn_empty_cache(manual_first);
}

/* 200 MiB in all: above 100 the longest unused go back. */
static void test_collecting(void)
{
  tn_set_memory_fraction(manual_first, 1);
  tn_set_alloc_conf("garbage_collection_threshold:0.5");
  tn_block_release(get(30 * MIB));
  tn_block_release(get(40 * MIB));
  tn_block_release(get(50 * MIB));
  for (int i = 0; i < 5; i++) {
    tn_block *one = get(40 * MIB), *two = get(50 * MIB);
    tn_block_release(one);
    tn_block_release(two);
  }
  uint64_t frees = stats().num_device_free;
  uint64_t retries = stats().num_alloc_retries;
  tap_is_int((long)tn_memory_reserved(manual_first), 120 * MIB,
             "M5 120 MiB are cached");
  tn_block *block = get(60 * MIB);
  tap_is_int((long)(stats().num_device_free - frees), 1,
             "M5 a new segment above the threshold: one goes back");
  tap_is_int((long)tn_memory_reserved(manual_first), 150 * MIB,
             "M5 the one that was not used for longest");
  tap_is_int((long)(stats().num_alloc_retries - retries), 0,
             "M5 before memory is short");
  tn_block_release(block);
  tn_empty_cache(manual_first);
}

static void test_small(void)
{
  test_splitting();
}

static void test_large(void)
{
  test_cap();
  test_collecting();
}

static void test_environment(void)
{
  tap_ok(!get(1), "M5 a wrong TENON_ALLOC_CONF fails the first use");
  tap_is_int(tn_last_status(), TN_INVALID_ARGUMENT, "M5 as such");
  tap_has(tn_error_message(), "TENON_ALLOC_CONF: max_split_size_mb: \"5\"",
          "M5 and names key and value");
  tap_ok(!tn_malloc_pinned(1) && tn_last_status() == TN_INVALID_ARGUMENT,
         "M5 pinned memory too");
  tap_is_int(tn_set_alloc_conf("max_split_size_mb:50"), TN_OK,
             "M5 until right options are set");
  tn_block *block = get(1);
  tap_ok(block != NULL, "M5 then memory can be had");
  tn_block_release(block);
}

static void test_right_environment(void)
{
  tn_block *block = get(84 * MIB);
  tap_is_int((long)stats().allocated.all.current, 96 * MIB,
             "M5 TENON_ALLOC_CONF holds from the start");
  tn_block_release(block);
  tap_ok(tn_memory_fraction(manual_second) == 0.75,
         "A112 for every device that comes");
}

int main(void)
{
  setenv("TENON_MANUAL_BYTES", "1073741824", 1);
  manual_part("", test_all);
  setenv("TENON_MANUAL_BYTES", "125829120", 1);
  manual_part("", test_small);
  setenv("TENON_MANUAL_BYTES", "209715200", 1);
  manual_part("", test_large);
  setenv("TENON_ALLOC_CONF", "roundup_power2_divisions:4,"
         "per_process_memory_fraction:0.75", 1);
  manual_part("", test_right_environment);
  setenv("TENON_ALLOC_CONF", "max_split_size_mb:5", 1);
  manual_part("", test_environment);
  return tap_done();
}
