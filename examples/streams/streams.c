/* The patterns of docs/streams.md, each in its right and its wrong form.
 *
 *     streams                                what there is
 *     streams PATTERN --right --device cuda
 *     streams PATTERN --wrong
 *
 * Exit status 0: every value was right; 1: some were not, as the wrong form may
 * show, and does with TENON_CPU_CHAOS=SEED for some seed; 2: anything else. */
#include <stdio.h>
#include <string.h>

#include "patterns.h"

enum { ROUNDS = 16 };

typedef struct options {
  const pattern *pattern;
  const char *device;
  int forms; /* how often --right or --wrong was said */
  bool is_right;
} options;

static int list(void)
{
  for (int i = 0; i < pattern_count; i++)
    printf("%-9s--right  %s\n%-9s--wrong  %s\n", patterns[i].name,
           patterns[i].right, "", patterns[i].wrong);
  return 0;
}

static int complain(const char *text, const char *what)
{
  fprintf(stderr, "streams: %s%s\n", text, what);
  return 2;
}

static const pattern *pattern_find(const char *name)
{
  for (int i = 0; i < pattern_count; i++)
    if (strcmp(patterns[i].name, name) == 0) return &patterns[i];
  return NULL;
}

/* 0, or the exit status after a complaint. */
static int options_read(int argc, char **argv, options *o)
{
  for (int i = 1; i < argc; i++) {
    bool is_right = strcmp(argv[i], "--right") == 0;
    if (is_right || strcmp(argv[i], "--wrong") == 0) {
      o->is_right = is_right;
      o->forms++;
    } else if (strcmp(argv[i], "--device") == 0) {
      if (++i == argc) return complain("--device needs a device", "");
      o->device = argv[i];
    } else if (argv[i][0] == '-' || o->pattern) {
      return complain("not understood: ", argv[i]);
    } else if (!(o->pattern = pattern_find(argv[i]))) {
      return complain("there is no pattern ", argv[i]);
    }
  }
  if (!o->pattern) return complain("a pattern is needed", "");
  return o->forms == 1 ? 0 : complain("either --right or --wrong is needed",
                                      "");
}

/* The number of rounds with wrong values; -1 if a call failed. */
static int rounds_run(lab *l, const options *o)
{
  int wrong = 0;
  for (int i = 1; i <= ROUNDS; i++) {
    l->is_wrong = false;
    l->value = (float)i;
    if (!o->pattern->run(l)) return -1;
    if (!l->is_wrong) continue;
    if (!wrong++)
      printf("round %d: %g, not %g\n", i, (double)l->got, (double)l->wanted);
  }
  return wrong;
}

int main(int argc, char **argv)
{
  options o = { .device = "auto" };
  tn_device device;
  lab l;
  if (argc == 1) return list();
  int status = options_read(argc, argv, &o);
  if (status) return status;
  if (tn_device_parse(o.device, &device) != TN_OK || !lab_open(&l, device))
    return complain("", tn_error_message());
  l.is_right = o.is_right;
  int wrong = rounds_run(&l, &o);
  if (wrong < 0) return complain("", tn_error_message());
  printf("%s, %s form: %d of %d rounds with wrong values\n", o.pattern->name,
         o.is_right ? "right" : "wrong", wrong, ROUNDS);
  lab_close(&l);
  return wrong > 0;
}
