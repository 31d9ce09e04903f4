/* The Test Anything Protocol for our C tests. */
#ifndef TN_TESTS_TAP_H
#define TN_TESTS_TAP_H

#include <stdbool.h>

#include "tenon/status.h"

/* Prints "ok N - text" or "not ok N - text"; returns `condition`. Texts begin
 * with the number of the rule they prove. Thread-safe. */
bool tap_ok(bool condition, const char *format, ...) TN_PRINTF(2, 3);

/* A failing comparison prints both sides. */
bool tap_is_int(long long got, long long wanted, const char *format, ...)
    TN_PRINTF(3, 4);
bool tap_is_text(const char *got, const char *wanted, const char *format, ...)
    TN_PRINTF(3, 4);

/* `text` contains `part`. */
bool tap_has(const char *text, const char *part, const char *format, ...)
    TN_PRINTF(3, 4);

/* "ok N # SKIP reason" */
void tap_skip(const char *format, ...) TN_PRINTF(1, 2);

/* A line of explanation. */
void tap_note(const char *format, ...) TN_PRINTF(1, 2);

/* In a forked child whose lines are numbered on their own. */
void tap_forget(void);

/* Prints the plan; returns the exit status of main. */
int tap_done(void);

#endif
