/* The patterns, each in its right form and in one that lacks a wait. */
#ifndef STREAMS_PATTERNS_H
#define STREAMS_PATTERNS_H

#include "lab.h"

typedef struct pattern {
  const char *name;
  const char *right, *wrong; /* what each form does */
  bool (*run)(lab *l); /* one round; false if a call failed */
} pattern;

extern const pattern patterns[];
extern const int pattern_count;

#endif
