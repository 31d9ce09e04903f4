/* From the first call to the first result on cpu, each time in a fresh
 * process, against dlopen, dlsym and a call of a tiny plugin. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/limit.h"
#include "bench/measure.h"
#include "tenon/tenon.h"

#define PROCESSES 25

static void first_result(void)
{
  tn_device cpu = tn_device_of("cpu");
  tn_module *module = tn_module_builtin(cpu, "elementwise");
  tn_kernel *add = tn_kernel_get(module, "add_f32");
  float in[16], out[16] = { 0 };
  for (int i = 0; i < 16; i++) in[i] = (float)i;
  void *x = tn_malloc(cpu, sizeof in), *y = tn_malloc(cpu, sizeof out);
  if (tn_copy(x, cpu, in, cpu, sizeof in, false) ||
      tn_launch(add, 16, TN_ARGS(TN_ARG_PTR(y), TN_ARG_PTR(x), TN_ARG_PTR(x),
                                 TN_ARG_I64(16))) ||
      tn_copy(out, cpu, y, cpu, sizeof out, false) || out[15] != 30) {
    fprintf(stderr, "bench: start: %s\n", tn_error_message());
    exit(1);
  }
}

/* In the child: prints both times. */
static int child(const char *tiny)
{
  double limit = limit_dlopen(tiny);
  double start = bench_now();
  first_result();
  double ns = bench_now() - start;
  if (limit < 0) return 1;
  printf("%.1f %.1f\n", ns, limit);
  return 0;
}

static int ask(const char *self, const char *tiny, double *subject,
               double *limit)
{
  char command[4096];
  snprintf(command, sizeof command, "exec '%s' --child '%s'", self, tiny);
  FILE *pipe = popen(command, "r");
  if (!pipe) return 1;
  int got = fscanf(pipe, "%lf %lf", subject, limit);
  return pclose(pipe) || got != 2;
}

static int by_value(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
  if (argc == 3 && !strcmp(argv[1], "--child")) return child(argv[2]);
  if (argc < 2) return 2;
  FILE *json = argc > 2 ? fopen(argv[2], "w") : NULL;
  bench_json_open(json);
  bench_filter(argc > 3 ? argv[3] : NULL);
  bench_case one = { .name = "first call to first result, cpu",
                     .subject = { .name = "tenon" },
                     .limit = { .name = "dlopen+dlsym" },
                     .goal = BENCH_AT_MOST, .wanted = 5 };
  double ratios[PROCESSES], subjects[PROCESSES], limits[PROCESSES];
  for (int i = -2; i < PROCESSES && bench_wanted(one.name); i++) {
    double subject, limit;
    if (ask(argv[0], argv[1], &subject, &limit)) return 1;
    if (i < 0) continue; /* files not in the page cache yet */
    subjects[i] = subject;
    limits[i] = limit;
    ratios[i] = subject / limit;
  }
  if (bench_wanted(one.name)) {
    qsort(subjects, PROCESSES, sizeof *subjects, by_value);
    qsort(limits, PROCESSES, sizeof *limits, by_value);
    bench_report(&one, ratios, PROCESSES, subjects[PROCESSES / 2],
                 limits[PROCESSES / 2]);
  }
  bench_json_close();
  if (json) fclose(json);
  return bench_missed() ? 1 : 0;
}
