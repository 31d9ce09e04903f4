#include "layers/race_pinned.h"

#include <stdlib.h>
#include <string.h>

typedef struct source {
  struct source *next;
  uint32_t agent, step, tag;
  tn_address address;
  uint64_t bytes, sum;
} source;

static source *sources; /* none while there are functions */
static unsigned functions;

static uint64_t sum_of(tn_address address, uint64_t bytes)
{
  const unsigned char *at = (const unsigned char *)(uintptr_t)address;
  uint64_t sum = bytes;
  for (; bytes >= 8; bytes -= 8, at += 8) {
    uint64_t word;
    memcpy(&word, at, 8);
    sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    sum ^= sum >> 29;
  }
  for (; bytes; bytes--) sum = (sum ^ *at++) * UINT64_C(0xd1342543de82ef95);
  return sum;
}

void race_pinned_read(const order_step *by, tn_address address,
                      uint64_t bytes)
{
  source *s = functions ? NULL : malloc(sizeof *s);
  if (!s) return;
  *s = (source){ sources, by->agent, by->step, by->tag, address, bytes,
                 sum_of(address, bytes) };
  sources = s;
}

static void remove_if(bool (*is_wanted)(const source *, const void *),
                      const void *argument)
{
  for (source **at = &sources; *at;) {
    source *s = *at;
    if (is_wanted(s, argument)) {
      *at = s->next;
      free(s);
    } else at = &s->next;
  }
}

typedef struct range {
  tn_address begin, end;
} range;

static bool overlaps(const source *s, const void *argument)
{
  const range *r = argument;
  return s->address < r->end && r->begin < s->address + s->bytes;
}

void race_pinned_written(tn_address address, uint64_t bytes)
{
  remove_if(overlaps, &(range){ address, address + bytes });
}

void race_pinned_forget(tn_address address, uint64_t bytes)
{
  race_pinned_written(address, bytes);
}

static bool has_tag(const source *s, const void *tag)
{
  return s->tag == *(const uint32_t *)tag;
}

void race_pinned_drop(uint32_t tag) { remove_if(has_tag, &tag); }

static bool is_known(const source *s, const void *argument)
{
  return order_known(argument, s->agent) >= s->step;
}

static void check(bool (*is_wanted)(const source *, const void *),
                  const void *argument, race_pinned_report *report)
{
  for (const source *s = sources; s; s = s->next)
    if (is_wanted(s, argument) && sum_of(s->address, s->bytes) != s->sum)
      report(s->tag, s->address);
  remove_if(is_wanted, argument);
}

void race_pinned_check(const order_clock *host, race_pinned_report *report)
{
  check(is_known, host, report);
}

static bool is_any(const source *s, const void *argument)
{
  (void)s;
  (void)argument;
  return true;
}

void race_pinned_function_queued(race_pinned_report *report)
{
  check(is_any, NULL, report);
  functions++;
}

void race_pinned_function_ended(void) { functions--; }
