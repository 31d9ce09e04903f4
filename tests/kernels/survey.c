/* All trials on one runner: see survey.h. */
#include "tests/kernels/survey.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/kernels/cases.h"
#include "tests/tap.h"

enum { GOLDEN_SEED = 1 };

uint64_t survey_seed(void)
{
  const char *given = getenv("TN_TEST_SEED");
  uint64_t seed = given ? strtoull(given, NULL, 0)
                        : (uint64_t)time(NULL) * 1000003 + (uint64_t)clock();
  tap_note("TN_TEST_SEED=%" PRIu64, seed);
  return seed;
}

/* Every trial of a case; false, having said why, after the first that fails.
 */
static bool try_case(const kernel_runner *runner, const kernel_case *of,
                     uint64_t seed)
{
  for (const int64_t *size = of->sizes; *size >= 0; size++)
    for (trial_flavour f = 0; f < of->flavours; f++) {
      kernel_trial trial;
      if (kernel_trial_run(&trial, runner, of, *size, f, seed)) continue;
      tap_note("%s of size %" PRId64 ", inputs %d: %s", of->name, *size,
               (int)f, trial.wrong);
      return false;
    }
  return true;
}

static bool is_skipped(const kernel_case *of, const char *skip)
{
  return skip && strstr(of->family, skip);
}

void survey_kernels(const kernel_runner *runner, const char *where,
                    const char *skip, uint64_t seed)
{
  for (const kernel_case *const *family = all_cases; *family; family++)
    for (const kernel_case *of = *family; of->name; of++)
      if (!is_skipped(of, skip))
        tap_ok(try_case(runner, of, seed),
               "N1 %s: %s gives the reference's bits", where, of->name);
}

typedef void visitor(const kernel_trial *trial, void *data);

static void visit_golden(const kernel_runner *runner, const char *skip,
                         visitor *visit, void *data)
{
  for (const kernel_case *const *family = all_cases; *family; family++)
    for (const kernel_case *of = *family; of->name; of++)
      for (const int64_t *size = of->sizes; *size >= 0; size++)
        for (trial_flavour f = 0; f < of->flavours; f++) {
          kernel_trial trial;
          if (is_skipped(of, skip)) continue;
          kernel_trial_run(&trial, runner, of, *size, f, GOLDEN_SEED);
          visit(&trial, data);
        }
}

/* A line of the file. */
static void line_of(const kernel_trial *trial, char text[100])
{
  snprintf(text, 100, "%s %" PRId64 " %d %016" PRIx64 "\n", trial->of->name,
           trial->size, (int)trial->flavour, trial->hash);
}

static void print(const kernel_trial *trial, void *data)
{
  char text[100];
  (void)data;
  line_of(trial, text);
  fputs(text, stdout);
}

void survey_print(const kernel_runner *runner)
{
  visit_golden(runner, NULL, print, NULL);
}

typedef struct golden {
  char *text; /* the whole file */
  int lines, differing;
} golden;

static void compare(const kernel_trial *trial, void *data)
{
  golden *all = data;
  char line[100];
  line_of(trial, line);
  all->lines++;
  if (strstr(all->text, line)) return;
  if (all->differing++ < 5)
    tap_note("not in numbers_golden.txt: %.*s", (int)strlen(line) - 1, line);
}

/* A file's text, to be freed; NULL if it cannot be read. */
static char *read_text(const char *path)
{
  FILE *file = fopen(path, "r");
  if (!file) return NULL;
  size_t size = 1 << 20;
  char *text = calloc(size, 1);
  if (text) text[fread(text, 1, size - 1, file)] = 0;
  fclose(file);
  return text;
}

void survey_golden(const kernel_runner *runner, const char *where,
                   const char *skip)
{
  const char *root = getenv("top_srcdir");
  char path[1000];
  snprintf(path, sizeof path, "%s/tests/numbers_golden.txt",
           root ? root : ".");
  golden all = { read_text(path), 0, 0 };
  if (!all.text) {
    tap_ok(false, "N1 %s: %s can be read", where, path);
    return;
  }
  visit_golden(runner, skip, compare, &all);
  tap_is_int(all.differing, 0, "N1 %s: all of %d hashes are as recorded",
             where, all.lines);
  free(all.text);
}
