/* Every place searched for plugins and every file found there, each tried in
 * a child process. */
#ifndef TN_TOOLS_CANDIDATE_H
#define TN_TOOLS_CANDIDATE_H

#include "tools/child.h"
#include "tools/survey.h"

typedef enum tn_verdict {
  TN_VERDICT_PLACE,    /* the row is about a folder that was searched */
  TN_VERDICT_ACCEPTED,
  TN_VERDICT_SHADOWED, /* another file under that name was found first */
  TN_VERDICT_REFUSED
} tn_verdict;

typedef struct tn_candidate {
  tn_verdict verdict;
  const char *folder;
  const char *path; /* "" for a place */
  const char *name; /* "" for a place */
  char reason[1024]; /* "" for an accepted one, and a place that was read */
  char remedy[512];  /* what to do about the reason; "" for nothing */
  tn_survey devices; /* of an accepted one */
} tn_candidate;

typedef struct tn_candidates {
  tn_candidate *rows; /* in order of search */
  int count;
  char problem[256]; /* why there is no list, or only the head of it */
  tn_child list;     /* owns the texts */
} tn_candidates;

/* Each plugin has `seconds` to start, and again to tell its devices. */
void tn_candidates_collect(double seconds, tn_candidates *candidates);
void tn_candidates_release(tn_candidates *candidates);

/* "accepted" */
const char *tn_verdict_name(tn_verdict verdict);

#endif
