#include "backends/cpu/bulk.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "backends/cpu/workers.h"

#define BLOCK 65536u           /* bytes of one item of shared work */
#define SHARE_BYTES (1u << 20) /* from here on other threads are of use */
#define PATTERN_BYTES 2048u    /* of a pattern that is copied again and again */
#define BYTE_TIME 0.05         /* ns, roughly */

/* From here on stores go past the caches: a copy of half the last one loses
 * nothing there. memcpy does so much later, and never for the pieces that a
 * thread gets. */
static uint64_t stream_bytes = 16u << 20;

void tn_cpu_bulk_setup(uint64_t cache_bytes)
{
  if (cache_bytes) stream_bytes = cache_bytes / 2;
}

/* --- past the caches --- */

#ifdef __SSE2__
#define LINE 64u

static void line_copy(char *to, const char *from)
{
  const __m128i *source = (const __m128i *)(const void *)from;
  __m128i *target = (__m128i *)(void *)to;
  __m128i a = _mm_loadu_si128(source), b = _mm_loadu_si128(source + 1);
  __m128i c = _mm_loadu_si128(source + 2), d = _mm_loadu_si128(source + 3);
  _mm_stream_si128(target, a);
  _mm_stream_si128(target + 1, b);
  _mm_stream_si128(target + 2, c);
  _mm_stream_si128(target + 3, d);
}

static void stream_copy(char *to, const char *from, uint64_t bytes)
{
  uint64_t head = -(uintptr_t)to % LINE;
  if (head > bytes) head = bytes;
  memcpy(to, from, head);
  uint64_t at = head;
  for (; at + LINE <= bytes; at += LINE) line_copy(to + at, from + at);
  memcpy(to + at, from + at, bytes - at);
  _mm_sfence();
}

/* `to` is aligned to 16. */
static void stream_fill(char *to, uint64_t pattern, uint64_t bytes)
{
  const __m128i two = _mm_set1_epi64x((long long)pattern);
  uint64_t at = 0;
  for (; at + 16 <= bytes; at += 16)
    _mm_stream_si128((__m128i *)(void *)(to + at), two);
  memcpy(to + at, &two, bytes - at);
  _mm_sfence();
}
#endif

/* --- copying --- */

static void block_copy(char *to, const char *from, uint64_t bytes,
                       bool is_streamed)
{
#ifdef __SSE2__
  if (is_streamed) {
    stream_copy(to, from, bytes);
    return;
  }
#endif
  (void)is_streamed;
  memcpy(to, from, bytes);
}

/* Items are blocks of one long row. Slots: dst, src, bytes. */
static void blocks_run(tn_range range, const uint64_t *slots)
{
  uint64_t from = (uint64_t)range.begin * BLOCK, to = slots[2];
  if (range.end < INT64_MAX) to = (uint64_t)range.end * BLOCK;
  block_copy((char *)(uintptr_t)slots[0] + from,
             (const char *)(uintptr_t)slots[1] + from, to - from,
             slots[2] >= stream_bytes);
}

/* Items are rows. Slots: the tn_cpu_copy. */
static void rows_run(tn_range range, const uint64_t *slots)
{
  const tn_cpu_copy *copy = (const tn_cpu_copy *)(uintptr_t)slots[0];
  uint64_t end = copy->rows * copy->depth;
  if (range.end < INT64_MAX) end = (uint64_t)range.end;
  for (uint64_t i = (uint64_t)range.begin; i < end; i++) {
    uint64_t plane = i / copy->rows, row = i % copy->rows;
    memcpy(copy->dst + plane * copy->dst_plane_pitch +
             row * copy->dst_row_pitch,
           copy->src + plane * copy->src_plane_pitch +
             row * copy->src_row_pitch,
           copy->row_bytes);
  }
}

static void row_copy(char *dst, const char *src, uint64_t bytes,
                     bool is_urgent)
{
  if (bytes < SHARE_BYTES) {
    memcpy(dst, src, bytes);
    return;
  }
  uint64_t slots[] = { (uintptr_t)dst, (uintptr_t)src, bytes };
  tn_cpu_work work = { blocks_run, slots, 0,
                       (int64_t)((bytes + BLOCK - 1) / BLOCK),
                       BLOCK * BYTE_TIME, is_urgent };
  tn_cpu_workers_run(&work);
}

static void rows_copy(const tn_cpu_copy *copy, bool is_urgent)
{
  uint64_t slots[] = { (uintptr_t)copy };
  uint64_t count = copy->rows * copy->depth;
  if (count * copy->row_bytes < SHARE_BYTES) {
    rows_run((tn_range){ 0, INT64_MAX }, slots);
    return;
  }
  tn_cpu_work work = { rows_run, slots, 0, (int64_t)count,
                       5 + (double)copy->row_bytes * BYTE_TIME, is_urgent };
  tn_cpu_workers_run(&work);
}

/* Rows, and then planes, that lie without gaps are one long row. */
static void copy_join(tn_cpu_copy *copy)
{
  if (copy->rows > 1 && copy->dst_row_pitch == copy->row_bytes &&
      copy->src_row_pitch == copy->row_bytes) {
    copy->row_bytes *= copy->rows;
    copy->rows = 1;
  }
  if (copy->rows == 1 && copy->depth > 1) {
    copy->rows = copy->depth;
    copy->depth = 1;
    copy->dst_row_pitch = copy->dst_plane_pitch;
    copy->src_row_pitch = copy->src_plane_pitch;
    copy_join(copy);
  }
}

void tn_cpu_copy_run(const tn_cpu_copy *copy, bool is_urgent)
{
  tn_cpu_copy joined = *copy;
  copy_join(&joined);
  if (joined.rows == 1 && joined.depth == 1)
    row_copy(joined.dst, joined.src, joined.row_bytes, is_urgent);
  else
    rows_copy(&joined, is_urgent);
}

/* --- filling --- */

static bool is_one_byte(uint64_t pattern)
{
  return pattern == (pattern & 0xff) * UINT64_C(0x0101010101010101);
}

/* The start is copied again and again: memcpy stores with the widest
 * instructions there are. */
static void pattern_store(char *to, uint64_t pattern, uint64_t bytes)
{
  uint64_t start[8], done = bytes < sizeof start ? bytes : sizeof start;
  for (int i = 0; i < 8; i++) start[i] = pattern;
  memcpy(to, start, done);
  while (done < bytes) {
    uint64_t next = done < PATTERN_BYTES ? done : PATTERN_BYTES;
    if (next > bytes - done) next = bytes - done;
    memcpy(to + done, to, next);
    done += next;
  }
}

static void block_fill(char *to, uint64_t pattern, uint64_t bytes,
                       bool is_streamed)
{
  if (is_one_byte(pattern)) {
    memset(to, (int)(pattern & 0xff), bytes);
    return;
  }
#ifdef __SSE2__
  if (is_streamed && (uintptr_t)to % 16 == 0) {
    stream_fill(to, pattern, bytes);
    return;
  }
#endif
  (void)is_streamed;
  pattern_store(to, pattern, bytes);
}

/* Items are blocks. Slots: dst, pattern, bytes. */
static void fill_run(tn_range range, const uint64_t *slots)
{
  uint64_t from = (uint64_t)range.begin * BLOCK, to = slots[2];
  if (range.end < INT64_MAX) to = (uint64_t)range.end * BLOCK;
  block_fill((char *)(uintptr_t)slots[0] + from, slots[1], to - from,
             slots[2] >= stream_bytes);
}

void tn_cpu_fill_run(void *dst, uint64_t pattern, uint64_t bytes,
                     bool is_urgent)
{
  uint64_t slots[] = { (uintptr_t)dst, pattern, bytes };
  if (bytes < SHARE_BYTES) {
    fill_run((tn_range){ 0, INT64_MAX }, slots);
    return;
  }
  tn_cpu_work work = { fill_run, slots, 0,
                       (int64_t)((bytes + BLOCK - 1) / BLOCK),
                       BLOCK * BYTE_TIME, is_urgent };
  tn_cpu_workers_run(&work);
}
