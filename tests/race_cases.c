/* Small programs for the race layer: `race_cases CASE right|wrong`, on the
 * device of TN_TEST_DEVICE. The forms differ by one call. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tenon/tenon.h"

enum { BYTES = 1 << 16 };

typedef struct room {
  tn_device device, host;
  tn_stream *one, *two;
  char *x, *y, *pinned;
  bool is_right;
} room;

static bool fill(room *r, tn_stream *stream, char *at, size_t bytes)
{
  tn_status status = TN_INVALID_ARGUMENT;
  tn_with_stream(stream) status = tn_fill_bytes(at, r->device, 1, bytes);
  return status == TN_OK;
}

static bool copy(room *r, tn_stream *stream, char *to, const char *from)
{
  tn_status status = TN_INVALID_ARGUMENT;
  tn_device to_device = tn_memory_is_pinned(to) ? r->host : r->device;
  tn_device from_device = tn_memory_is_pinned(from) ? r->host : r->device;
  tn_with_stream(stream)
    status = tn_copy(to, to_device, from, from_device, BYTES, true);
  return status == TN_OK;
}

static bool join(const room *r)
{
  return !r->is_right || tn_stream_wait_stream(r->two, r->one) == TN_OK;
}

/* Read after write, write after write, write after read. */
static bool fill_copy(room *r)
{
  return fill(r, r->one, r->x, BYTES) && join(r) &&
         copy(r, r->two, r->y, r->x);
}

static bool copy_copy(room *r)
{
  return copy(r, r->one, r->y, r->x) && join(r) &&
         copy(r, r->two, r->y, r->x);
}

static bool copy_fill(room *r)
{
  return copy(r, r->one, r->y, r->x) && join(r) &&
         fill(r, r->two, r->x, BYTES);
}

/* Parts of one block: next to each other, or one byte over each other. */
static bool halves(room *r)
{
  return fill(r, r->one, r->x, BYTES / 2) &&
         fill(r, r->two, r->x + BYTES / 2 - !r->is_right, BYTES / 2);
}

/* Pinned memory that one copy brings and another takes. */
static bool relay(room *r)
{
  return copy(r, r->one, r->pinned, r->x) && join(r) &&
         copy(r, r->two, r->y, r->pinned);
}

/* A stream that was waited for by the host needs no other wait. */
static bool host_waits(room *r)
{
  return fill(r, r->one, r->x, BYTES) &&
         (!r->is_right || tn_stream_synchronize(r->one) == TN_OK) &&
         fill(r, r->two, r->x, BYTES);
}

/* Another stream in between carries the order on. */
static bool chain(room *r)
{
  tn_stream *between = tn_stream_new(r->device, 0);
  bool ok = between && fill(r, r->one, r->x, BYTES) &&
            tn_stream_wait_stream(between, r->one) == TN_OK &&
            (!r->is_right ||
             tn_stream_wait_stream(r->two, between) == TN_OK) &&
            fill(r, r->two, r->x, BYTES);
  ok = ok && tn_stream_synchronize(between) == TN_OK;
  tn_stream_release(between);
  return ok;
}

/* Memory that was given back to the device, by its address: refused. */
static bool freed(room *r)
{
  char *big = NULL;
  tn_with_stream(r->one) big = tn_malloc(r->device, (size_t)64 << 20);
  bool ok = big && fill(r, r->one, big, BYTES) &&
            tn_stream_synchronize(r->one) == TN_OK;
  if (!ok || r->is_right) return ok && fill(r, r->one, big, BYTES);
  tn_free(big);
  tn_empty_cache(r->device);
  return !fill(r, r->one, big, BYTES);
}

static const struct {
  const char *name;
  bool (*run)(room *r);
} cases[] = {
  { "fill_copy", fill_copy }, { "copy_copy", copy_copy },
  { "copy_fill", copy_fill }, { "halves", halves },
  { "relay", relay },         { "host_waits", host_waits },
  { "chain", chain },         { "freed", freed },
};

static bool open_room(room *r)
{
  const char *text = getenv("TN_TEST_DEVICE");
  tn_device given;
  if (tn_device_parse(text ? text : "cpu", &given) != TN_OK) return false;
  r->one = tn_stream_new(given, 0);
  r->two = tn_stream_new(given, 0);
  r->device = tn_stream_device(r->one);
  r->x = tn_malloc(r->device, BYTES);
  r->y = tn_malloc(r->device, BYTES);
  r->pinned = tn_malloc_pinned(BYTES);
  return r->one && r->two && r->x && r->y && r->pinned;
}

int main(int argc, char **argv)
{
  room r = { .is_right = argc == 3 && strcmp(argv[2], "right") == 0 };
  bool ok = argc == 3 && open_room(&r), is_found = false;
  for (size_t i = 0; ok && i < sizeof cases / sizeof cases[0]; i++)
    if (strcmp(cases[i].name, argv[1]) == 0) {
      is_found = true;
      ok = cases[i].run(&r);
    }
  ok = ok && is_found && tn_stream_synchronize(r.one) == TN_OK &&
       tn_stream_synchronize(r.two) == TN_OK;
  if (!ok) fprintf(stderr, "race_cases: %s\n", tn_error_message());
  return ok ? 0 : 1;
}
