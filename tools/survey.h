/* What devices there are, each backend asked in a child process. */
#ifndef TN_TOOLS_SURVEY_H
#define TN_TOOLS_SURVEY_H

#include <stdbool.h>

#include "tenon/device.h"

/* A device, or a backend that gave none: then `info` has only `backend` and
 * `unavailable`. */
typedef struct tn_survey_row {
  char text[TN_DEVICE_TEXT_SIZE]; /* "cuda:1", or "cuda" without devices */
  int ordinal;                    /* -1: a backend without devices */
  bool is_broken; /* the backend crashed, hung or left */
  tn_device_info info;
} tn_survey_row;

typedef struct tn_survey {
  tn_survey_row *rows; /* by backend name, then ordinal */
  int count;
  char default_device[TN_DEVICE_TEXT_SIZE]; /* "" with a problem */
  char problem[1024]; /* why there is no default device, or no list */
} tn_survey;

/* Each backend has `seconds` to answer. */
void tn_survey_take(double seconds, tn_survey *survey);

/* Adds the rows of one backend; false if memory is exhausted. */
bool tn_survey_ask(tn_survey *survey, const char *backend, double seconds);

/* Finds the default device, or the problem with it. */
void tn_survey_find_default(tn_survey *survey, double seconds);
void tn_survey_release(tn_survey *survey);

/* Whether the row is a device that can be used. */
bool tn_survey_is_usable(const tn_survey_row *row);

#endif
