/* The statistics as a table for people. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "core/base/error.h"
#include "core/memory/snapshot.h"

enum { HOLDERS_SHOWN = 10 };

/* "1.50 MiB"; numbers below 1 KiB as they are. */
static void format_bytes(uint64_t bytes, char *text, size_t size)
{
  static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
  double value = (double)bytes;
  int unit = 0;
  while (value >= 1024 && unit < 4) {
    value /= 1024;
    unit++;
  }
  snprintf(text, size, unit ? "%.2f %s" : "%.0f %s", value, units[unit]);
}

static void print_row(FILE *file, const char *name,
                      const tn_memory_stat *stat, bool is_bytes)
{
  const uint64_t figures[] = { stat->current, stat->peak,
                               stat->total_allocated, stat->total_freed };
  fprintf(file, "| %-24s |", name);
  for (int i = 0; i < 4; i++) {
    char text[32];
    if (is_bytes) format_bytes(figures[i], text, sizeof text);
    else snprintf(text, sizeof text, "%" PRIu64, figures[i]);
    fprintf(file, " %12s |", text);
  }
  fputc('\n', file);
}

static void print_pools(FILE *file, const char *name,
                        const tn_memory_stat_pools *pools, bool is_bytes)
{
  print_row(file, name, &pools->all, is_bytes);
  print_row(file, "  of large blocks", &pools->large, is_bytes);
  print_row(file, "  of small blocks", &pools->small, is_bytes);
}

static void print_line(FILE *file)
{
  fputs("|--------------------------|--------------|--------------|"
        "--------------|--------------|\n", file);
}

static void print_table(FILE *file, const tn_memory_stats *stats)
{
  fprintf(file, "| %-24s | %12s | %12s | %12s | %12s |\n", "memory",
          "now", "peak", "in all", "freed");
  print_line(file);
  print_pools(file, "allocated", &stats->allocated, true);
  print_pools(file, "active", &stats->active, true);
  print_pools(file, "requested", &stats->requested, true);
  print_pools(file, "reserved", &stats->reserved, true);
  print_pools(file, "free in split segments", &stats->inactive_split, true);
  print_line(file);
  print_pools(file, "allocations", &stats->allocations, false);
  print_pools(file, "active blocks", &stats->active_blocks, false);
  print_pools(file, "segments", &stats->segments, false);
  print_pools(file, "free pieces of segments", &stats->inactive_splits, false);
  print_row(file, "oversize allocations", &stats->oversize_allocations,
            false);
  print_row(file, "oversize segments", &stats->oversize_segments, false);
  print_line(file);
}

static void print_holders(FILE *file, const tn_snapshot *snapshot)
{
  tn_holdings holdings = { 0 };
  for (size_t i = 0; i < snapshot->block_count; i++)
    if (snapshot->blocks[i].state == TN_BLOCK_LIVE)
      tn_holdings_add(&holdings, snapshot->blocks[i].holder,
                      snapshot->blocks[i].size);
  tn_holdings_sort(&holdings);
  if (holdings.count) fputs("largest holders:\n", file);
  for (int i = 0; i < holdings.count && i < HOLDERS_SHOWN; i++) {
    const tn_holding *one = &holdings.items[i];
    char name[TN_HOLDER_TEXT_SIZE], bytes[32];
    tn_holder_format(one->holder, name, sizeof name);
    format_bytes(one->bytes, bytes, sizeof bytes);
    fprintf(file, "  %12s in %" PRIu64 " block%s by %s\n", bytes, one->blocks,
            one->blocks == 1 ? "" : "s", name);
  }
}

static void print(FILE *file, const tn_snapshot *snapshot)
{
  const tn_memory_stats *stats = &snapshot->stats;
  char device[TN_DEVICE_TEXT_SIZE];
  tn_device_format(snapshot->device, device, sizeof device);
  fprintf(file, "Memory of %s: out of memory %" PRIu64 " times, %" PRIu64
          " retries, %" PRIu64 " segments taken, %" PRIu64 " given back\n",
          device, stats->num_ooms, stats->num_alloc_retries,
          stats->num_device_alloc, stats->num_device_free);
  print_table(file, stats);
  print_holders(file, snapshot);
}

tn_status tn_memory_summary(tn_device device, FILE *text)
{
  if (!text) return tn_error(TN_INVALID_ARGUMENT, "the file is NULL");
  tn_allocator *allocator = tn_allocator_acquire(device);
  if (!allocator) return tn_last_status();
  tn_snapshot snapshot;
  tn_status status = tn_snapshot_take(allocator, &snapshot);
  if (status != TN_OK) return status;
  errno = 0;
  print(text, &snapshot);
  tn_snapshot_free(&snapshot);
  if (fflush(text) == 0 && !ferror(text)) return TN_OK;
  return tn_error(TN_INVALID_ARGUMENT, "cannot write the summary: %s",
                  errno ? strerror(errno) : "the file has failed before");
}
