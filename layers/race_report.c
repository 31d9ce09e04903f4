#include "layers/race_report.h"

#include <stdio.h>
#include <stdlib.h>

#include "layers/race_pinned.h"
#include "layers/race_site.h"
#include "layers/race_watch.h"

enum { REPORTS_MAX = 100 };

static const tn_host_api *the_host;
static uint64_t exit_status;
static unsigned report_count;

typedef struct places {
  uintptr_t one, other;
} places;

static places told[REPORTS_MAX];

void race_reports_begin(const tn_host_api *host, uint64_t status)
{
  the_host = host;
  exit_status = status;
}

/* Of each two places in the program the first one only. */
static bool is_new(uint32_t tag, uint32_t other)
{
  places now = { race_site_place(tag), race_site_place(other) };
  for (unsigned i = 0; i < report_count && i < REPORTS_MAX; i++)
    if (told[i].one == now.one && told[i].other == now.other) return false;
  if (report_count < REPORTS_MAX) told[report_count] = now;
  return true;
}

void race_report(const char *what, uint32_t tag, const char *and,
                 uint32_t other)
{
  char one[400], two[400];
  if (!is_new(tag, other)) return;
  report_count++;
  if (report_count > REPORTS_MAX) return;
  race_site_describe(tag, one, sizeof one);
  race_site_describe(other, two, sizeof two);
  the_host->log(TN_LOG_ERROR, "race: %s: %s; %s %s", what, one, and, two);
}

static const char *verb(order_kind kind)
{
  return kind == ORDER_WRITE ? "write" : "read";
}

void race_report_conflict(const order_step *by, order_kind kind,
                          const race_allocation *memory,
                          const order_conflict *with)
{
  char what[700], made[400];
  race_site_describe(memory->made, made, sizeof made);
  snprintf(what, sizeof what, "a %s and a %s of the byte at 0x%llx are in no "
           "order (byte %llu of the %llu at 0x%llx, %s)", verb(kind),
           verb(with->kind),
           (unsigned long long)(memory->address + with->offset),
           (unsigned long long)with->offset,
           (unsigned long long)memory->bytes,
           (unsigned long long)memory->address, made);
  race_report(what, by->tag, "and", with->tag);
}

void race_report_source(uint32_t tag, tn_address address)
{
  char what[160];
  snprintf(what, sizeof what, "the host wrote to pinned memory at 0x%llx "
           "before it waited for the copy that reads it",
           (unsigned long long)address);
  race_report(what, tag, "the host knew of its end only after", tag);
}

void race_report_trespasses(void)
{
  race_trespass t;
  while (race_watch_next(&t)) {
    char what[160];
    const char *who = t.is_function ? "a host function" : "the host";
    snprintf(what, sizeof what, "%s %s pinned memory at 0x%llx %s the work "
             "that uses it", who, t.is_write ? "wrote to" : "read",
             (unsigned long long)t.address,
             t.is_function ? "in no order with" : "before it waited for");
    race_report(what, race_site_note_host(who, t.frames, t.frame_count),
                "and", t.tag);
    race_pinned_drop(t.tag);
  }
}

__attribute__((destructor)) static void end_with_reports(void)
{
  if (!the_host || the_host->is_forked_child()) return;
  race_report_trespasses();
  if (!report_count) return;
  the_host->log(TN_LOG_ERROR, "race: %u places were found%s", report_count,
                report_count > REPORTS_MAX ? ", the first 100 told" : "");
  if (!exit_status) return;
  fflush(NULL);
  _Exit((int)exit_status);
}
