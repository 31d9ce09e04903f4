/* The sub-commands of `tenon`, one file each. */
#ifndef TN_TOOLS_COMMAND_H
#define TN_TOOLS_COMMAND_H

#include <stddef.h>

/* Exit statuses, as in tenon.1. */
typedef enum tn_exit {
  TN_EXIT_OK,
  TN_EXIT_FOUND, /* something asked about is missing, refused or broken */
  TN_EXIT_USAGE
} tn_exit;

typedef struct tn_option {
  const char *name;     /* "--json" */
  const char *argument; /* what follows it, as "SECONDS"; NULL: nothing */
  const char *text;     /* one line of help; NULL: it is not shown */
} tn_option;

#define TN_OPTIONS_MAX 12
#define TN_VALUES_MAX (TN_OPTIONS_MAX + 2)

typedef struct tn_command {
  const char *name;
  const char *summary; /* one line of `tenon --help` */
  const char *text;    /* paragraphs of `tenon NAME --help` */
  tn_option options[TN_OPTIONS_MAX]; /* up to one without a name */
  const char *operand; /* what it works on, as "FILE"; NULL: nothing */
  int is_operand_optional;
  const char *second; /* a second one, which may be left out; NULL: none */
  /* values[i] belongs to options[i]: NULL if it was not given, its argument,
   * or its name if it takes none. values[TN_OPTIONS_MAX] is the operand,
   * the next one the second. */
  tn_exit (*run)(const char *const *values);
} tn_command;

extern const tn_command tn_conform_command;
extern const tn_command tn_devices_command;
extern const tn_command tn_doctor_command;
extern const tn_command tn_memory_command;
extern const tn_command tn_new_backend_command;
extern const tn_command tn_version_command;

/* One line on stderr, `tenon: TEXT`, whatever the arguments hold. */
void tn_complain(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* The time limit for a child process in seconds: the default for NULL, 0 with
 * a complaint about `option` if the text is no number from 0.1 to 3600. */
double tn_time_limit(const char *option, const char *text);
#define TN_TIME_LIMIT_OPTION \
  { "--timeout", "SECONDS", "how long a backend may take to start (20)" }

#endif
