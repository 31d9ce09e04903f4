#include "config.h"

#include "tools/facility.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tenon/kernel.h"
#include "tools/child.h"
#include "tools/survey.h"

/* A child's answer: '+' or '-', the text, and what to do. */
static void answer(FILE *out, const char *trouble, const char *text,
                   const char *remedy)
{
  fprintf(out, "%c%s%c%s", trouble ? '-' : '+', trouble ? trouble : text, 0,
          trouble ? remedy : "");
}

static void ask(void (*work)(FILE *, void *), void *argument, double seconds,
                tn_facility *facility)
{
  tn_child child;
  tn_child_run(work, argument, seconds, &child);
  bool answered = !child.problem[0] && child.size > 1;
  const char *text = answered           ? child.data + 1
                     : child.problem[0] ? child.problem
                                        : "gave no answer";
  snprintf(facility->text, sizeof facility->text, "%s", text);
  facility->works = answered && child.data[0] == '+';
  if (answered)
    snprintf(facility->remedy, sizeof facility->remedy, "%s",
             text + strlen(text) + 1);
  tn_child_release(&child);
}

static double now_ms(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static const char probe_source[] =
    "TN_KERNEL(probe, TN_OUT(int32, y), TN_VAL(int64, n))\n"
    "{ TN_PARALLEL_FOR(i, n) y[i] = 1; }\n";

static const char *compile_remedy(tn_status status)
{
  if (status == TN_UNKNOWN_BACKEND) return "install the cpu backend";
  return "install a C compiler (Debian: gcc), or name one in TENON_CC; only "
         "programs with kernels of their own on cpu need it";
}

/* Compiles where no kernel is kept, so that the compiler has to work. */
static void compile(FILE *out, void *folder)
{
  setenv("TENON_CACHE_DIR", folder, 1);
  double start = now_ms();
  tn_module *module = tn_module_load(tn_device_of("cpu"), probe_source,
                                     .name = "probe");
  tn_kernel *kernel = module ? tn_kernel_get(module, "probe") : NULL;
  char text[128];
  snprintf(text, sizeof text, "compiled a kernel for cpu in %.0f ms",
           now_ms() - start);
  answer(out, kernel ? NULL : tn_error_message(), text,
         compile_remedy(tn_last_status()));
}

static int remove_entry(const char *path, const struct stat *facts, int flag,
                        struct FTW *place)
{
  (void)facts, (void)flag, (void)place;
  return remove(path);
}

static void try_compiler(double seconds, tn_facility *facility)
{
  facility->name = "compiler";
  char folder[] = "/tmp/tenon-doctor-XXXXXX";
  if (!mkdtemp(folder)) {
    snprintf(facility->text, sizeof facility->text,
             "not tried: no folder can be made in /tmp");
    snprintf(facility->remedy, sizeof facility->remedy,
             "make /tmp writable");
    return;
  }
  ask(compile, folder, seconds, facility);
  nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void find_cache(FILE *out, void *argument)
{
  (void)argument;
  char path[4096];
  bool works = tn_kernel_cache_folder(path, sizeof path) == TN_OK;
  answer(out, works ? NULL : tn_error_message(), path,
         "point TENON_CACHE_DIR at a folder that only you can write; until "
         "then kernels are compiled anew in every process");
}

static void try_default(double seconds, tn_facility *facility)
{
  facility->name = "default device";
  tn_survey survey = { 0 };
  tn_survey_find_default(&survey, seconds);
  facility->works = !survey.problem[0];
  snprintf(facility->text, sizeof facility->text, "%s",
           facility->works ? survey.default_device : survey.problem);
  if (!facility->works)
    snprintf(facility->remedy, sizeof facility->remedy,
             "set TENON_DEVICE to a device of tenon devices, or unset it");
  tn_survey_release(&survey);
}

void tn_facilities_try(double seconds, tn_facility *facilities)
{
  memset(facilities, 0, TN_FACILITY_COUNT * sizeof *facilities);
  try_default(seconds, &facilities[0]);
  try_compiler(seconds, &facilities[1]);
  facilities[2].name = "kernel cache";
  ask(find_cache, NULL, seconds, &facilities[2]);
}
