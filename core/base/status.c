#include "core/base/error.h"

#include <stdio.h>
#include <string.h>

static _Thread_local tn_error_state last;

static const char *const names[] = {
#define NAME(name, meaning) "TN_" #name,
    TN_STATUS_MAP(NAME)
#undef NAME
};

static const char *const meanings[] = {
#define MEANING(name, meaning) meaning,
    TN_STATUS_MAP(MEANING)
#undef MEANING
};

static int is_known(tn_status status)
{
  return (unsigned)status < sizeof names / sizeof names[0];
}

const char *tn_status_name(tn_status status)
{
  return is_known(status) ? names[status] : "TN_UNKNOWN_STATUS";
}

const char *tn_status_meaning(tn_status status)
{
  return is_known(status) ? meanings[status] : "not a status of this version";
}

tn_status tn_last_status(void) { return last.status; }

const char *tn_error_message(void) { return last.text; }

void tn_clear_error(void)
{
  last.status = TN_OK;
  last.text[0] = 0;
}

/* Copies only the text there is, as most texts are short. */
static void copy(tn_error_state *to, const tn_error_state *from)
{
  to->status = from->status;
  memcpy(to->text, from->text, strlen(from->text) + 1);
}

void tn_error_save(tn_error_state *state) { copy(state, &last); }

void tn_error_restore(const tn_error_state *state) { copy(&last, state); }

tn_status tn_error_v(tn_status status, const char *format, va_list arguments)
{
  /* The old text may be an argument of the new one. */
  char text[sizeof last.text];
  vsnprintf(text, sizeof text, format, arguments);
  size_t i = 0;
  for (; text[i]; i++) last.text[i] = text[i] == '\n' ? ' ' : text[i];
  last.text[i] = 0;
  last.status = status;
  return status;
}

tn_status tn_error(tn_status status, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  tn_error_v(status, format, arguments);
  va_end(arguments);
  return status;
}
