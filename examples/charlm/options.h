/* The command line. */
#ifndef CHARLM_OPTIONS_H
#define CHARLM_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct options {
  const char *device, *text, *plot; /* NULL: not given */
  int64_t steps, seed, sample;
  int64_t batch, context, width, layers, heads;
  double lr;
  bool graph, callable; /* how a step is taken; not both */
  bool stream;          /* work on one of its own */
  bool help;
} options;

/* False after a complaint. */
bool options_read(char **arguments, options *o);

void options_explain(void);

#endif
