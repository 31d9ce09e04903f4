/* What went wrong, in one line. */
#ifndef CHARLM_COMPLAIN_H
#define CHARLM_COMPLAIN_H

#include <stdbool.h>

/* On stderr; returns false for the callers to pass on. */
__attribute__((format(printf, 1, 2))) bool complain(const char *format, ...);

/* The library's last error. */
bool complain_of_library(void);

#endif
