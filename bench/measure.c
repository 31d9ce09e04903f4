#include "config.h"

#include "bench/measure.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BLOCKS 15
#define BLOCK_NS 12e6

static FILE *json;
static int rows, missed;
static const char *filter, *rehearsal;

double bench_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

void bench_filter(const char *text) { filter = text; }

bool bench_wanted(const char *name)
{
  return !filter || strstr(name, filter);
}

void bench_rehearse(const char *label) { rehearsal = label; }

int bench_missed(void) { return missed; }

static double time_once(const bench_side *side, int64_t count)
{
  double start = bench_now();
  side->work(side->argument, count);
  return bench_now() - start;
}

/* How often to repeat for a block of about BLOCK_NS; warms up on the way. */
static int64_t find_count(const bench_side *side)
{
  int64_t count = 1;
  for (;;) {
    double ns = time_once(side, count);
    if (ns >= BLOCK_NS / 4) {
      int64_t fit = (int64_t)((double)count * BLOCK_NS / ns);
      return fit > 0 ? fit : 1;
    }
    count *= ns > 1e4 ? 1 + (int64_t)(BLOCK_NS / 2 / ns) : 16;
  }
}

static int by_value(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double quantile(double *values, int count, double q)
{
  qsort(values, (size_t)count, sizeof *values, by_value);
  return values[(int)(q * (count - 1) + 0.5)];
}

static void print_head(void)
{
  if (rows++) return;
  printf("%-40s %7s %15s %9s  %-4s %12s %12s\n", "case", "ratio",
         "quartiles", "goal", "", "subject", "limit");
}

static void format_speed(char *text, size_t size, const bench_case *one,
                         double ns)
{
  if (one->unit)
    snprintf(text, size, "%.1f %s", one->amount / ns, one->unit);
  else if (ns < 1e4)
    snprintf(text, size, "%.1f ns", ns);
  else
    snprintf(text, size, "%.1f us", ns / 1e3);
}

static void write_json(const bench_case *one, double low, double middle,
                       double high, bool met, double subject, double limit)
{
  if (!json) return;
  fprintf(json,
          "%s  {\"case\": \"%s\", \"subject\": \"%s\", \"limit\": \"%s\", "
          "\"ratio\": %.4f, \"q1\": %.4f, \"q3\": %.4f, \"goal\": %.4f, "
          "\"kind\": \"%s\", \"met\": %s, \"subject_ns\": %.2f, "
          "\"limit_ns\": %.2f}",
          rows > 1 ? ",\n" : "", one->name, one->subject.name,
          one->limit.name, middle, low, high, one->wanted,
          one->goal == BENCH_AT_MOST    ? "at most"
          : one->goal == BENCH_AT_LEAST ? "at least"
                                        : "reported",
          met ? "true" : "false", subject, limit);
}

bool bench_report(const bench_case *one, double *ratios, int count,
                  double subject_ns, double limit_ns)
{
  double low = quantile(ratios, count, 0.25);
  double middle = quantile(ratios, count, 0.5);
  double high = quantile(ratios, count, 0.75);
  bool met = one->goal == BENCH_REPORTED ||
             (one->goal == BENCH_AT_MOST ? middle <= one->wanted
                                         : middle >= one->wanted);
  char goal[16] = "-", subject[24], limit[24];
  if (one->goal != BENCH_REPORTED)
    snprintf(goal, sizeof goal, "%s %.2f",
             one->goal == BENCH_AT_MOST ? "<=" : ">=", one->wanted);
  format_speed(subject, sizeof subject, one, subject_ns);
  format_speed(limit, sizeof limit, one, limit_ns);
  print_head();
  printf("%-40s %7.2f %7.2f-%7.2f %9s  %-4s %12s %12s\n", one->name, middle,
         low, high, goal,
         one->goal == BENCH_REPORTED ? "" : met ? "ok" : "MISS", subject,
         limit);
  fflush(stdout);
  write_json(one, low, middle, high, met, subject_ns, limit_ns);
  missed += !met;
  return met;
}

static bool rehearse(const bench_case *one)
{
  one->subject.work(one->subject.argument, 2);
  one->limit.work(one->limit.argument, 2);
  printf("%s  %-40s ran: %s, %s\n", rehearsal, one->name, one->subject.name,
         one->limit.name);
  fflush(stdout);
  if (json)
    fprintf(json,
            "%s  {\"case\": \"%s\", \"subject\": \"%s\", "
            "\"limit\": \"%s\", \"label\": \"%s\", "
            "\"measured\": false}",
            rows++ ? ",\n" : "", one->name, one->subject.name,
            one->limit.name, rehearsal);
  return true;
}

bool bench_run(const bench_case *one)
{
  if (!bench_wanted(one->name)) return true;
  if (rehearsal) return rehearse(one);
  int64_t subject_count = find_count(&one->subject);
  int64_t limit_count = find_count(&one->limit);
  double scale = one->scale > 0 ? one->scale : 1;
  double ratios[BLOCKS], subjects[BLOCKS], limits[BLOCKS];
  for (int i = 0; i < BLOCKS; i++) {
    subjects[i] = time_once(&one->subject, subject_count) * scale /
                  (double)subject_count;
    limits[i] = time_once(&one->limit, limit_count) / (double)limit_count;
    ratios[i] = one->goal == BENCH_AT_MOST ? subjects[i] / limits[i]
                                           : limits[i] / subjects[i];
  }
  return bench_report(one, ratios, BLOCKS, quantile(subjects, BLOCKS, 0.5),
                      quantile(limits, BLOCKS, 0.5));
}

void bench_json_open(FILE *file)
{
  json = file;
  if (json) fputs("[\n", json);
}

void bench_json_close(void)
{
  if (json) fputs("\n]\n", json);
}
