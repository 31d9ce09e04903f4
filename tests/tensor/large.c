/* Tensors with more elements than 32 bits count, signed and unsigned
 * (A147-A149).  Gigabytes: where TN_TEST_FULL is set and memory allows. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tenon/tenon.h"
#include "tests/tap.h"

#define GIB ((int64_t)1 << 30)

/* Of the machine, in bytes; 0: unknown. */
static int64_t available_memory(void)
{
  char line[128];
  long long kib = 0;
  FILE *file = fopen("/proc/meminfo", "r");
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "MemAvailable: %lld kB", &kib) == 1) break;
  if (file) fclose(file);
  return (int64_t)kib * 1024;
}

static int64_t at(tn_tensor *t, int64_t i)
{
  return tn_item_i64(tn_select(t, 0, i));
}

/* Marks around the places where 32 bits end. */
static void test_size(int64_t size, const char *what)
{
  const int64_t marks[] = { 0, 2 * GIB - 1, 2 * GIB, size - 1 };
  int64_t found[4] = { 0 };
  tn_tensor *t = tn_full(TN_SHAPE(size), 1, .dtype = TN_U8,
                         .device = tn_device_of("cpu"));
  tap_ok(t && tn_numel(t) == size, "A147 %s: %" PRId64 " elements", what,
         size);
  if (!t) return;
  tap_is_int(tn_item_i64(tn_sum(t)), size, "A147 each of them is filled");
  for (int i = 0; i < 4; i++) tn_fill_(tn_select(t, 0, marks[i]), 10 + i);
  tap_is_int(tn_item_i64(tn_sum(t)), size + 42, "A147 four are changed");
  tn_tensor *index = tn_from_data(marks, TN_SHAPE(4), .dtype = TN_I64,
                                  .device = tn_device_of("cpu"));
  tn_tensor *chosen = tn_to(tn_index_select(t, 0, index), .dtype = TN_I64);
  tn_read(chosen, found, sizeof found);
  for (int i = 0; i < 4; i++)
    tap_is_int(found[i], 10 + i, "A148 index_select takes element %" PRId64,
               marks[i]);
  tn_tensor *copy = tn_clone(t);
  tn_zero_(t);
  tap_is_int(tn_item_i64(tn_sum(copy)), size + 42, "A149 a copy has them all");
  for (int i = 0; i < 4; i++)
    tap_is_int(at(copy, marks[i]), 10 + i, "A149 element %" PRId64 " too",
               marks[i]);
  tap_is_int(at(copy, marks[2] + 1), 1, "A149 and nothing beside it");
}

int main(void)
{
  const int64_t sizes[] = { 2 * GIB + 9, 4 * GIB + 9 };
  const char *what[] = { "beyond 31 bits", "beyond 32 bits" };
  for (int i = 0; i < 2; i++) {
    int64_t needed = 2 * sizes[i] + 2 * GIB;
    if (!getenv("TN_TEST_FULL"))
      tap_skip("A147 %s: only where TN_TEST_FULL is set", what[i]);
    else if (available_memory() < needed)
      tap_skip("A147 %s: %" PRId64 " GiB of memory are needed", what[i],
               needed / GIB);
    else
      tn_with_scope test_size(sizes[i], what[i]);
    tn_empty_cache(tn_device_of("cpu"));
  }
  return tap_done();
}
