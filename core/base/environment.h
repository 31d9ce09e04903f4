/* The only reader of environment variables. */
#ifndef TN_CORE_BASE_ENVIRONMENT_H
#define TN_CORE_BASE_ENVIRONMENT_H

#include <stdbool.h>

/* The variable's value; NULL if it is unset, or if the program is privileged
 * (set-user-id and the like): whoever started it set its environment. */
const char *tn_environment(const char *name);

/* Whether a switch is on: "1". Off: unset, "" and "0"; anything else is off
 * too, with a warning in the log. */
bool tn_environment_is_on(const char *name);

#endif
