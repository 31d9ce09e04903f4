#include "core/base/error.h"

#include <stdio.h>
#include <string.h>

#include "core/base/thread.h"
#include "core/base/thread_text.h"

/* The text is in tn_thread_text. */
static TN_HOT_THREAD_LOCAL tn_status last;

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

tn_status tn_last_status(void) { return last; }

const char *tn_error_message(void)
{
  const tn_thread_text *texts = tn_thread_text_get();
  if (texts) return texts->last;
  return last == TN_OK ? "" : tn_status_meaning(last);
}

static void set_last(tn_status status, const char *text)
{
  tn_thread_text *texts = tn_thread_text_take();
  last = status;
  if (!texts) return;
  size_t i = 0;
  for (; text[i]; i++) texts->last[i] = text[i] == '\n' ? ' ' : text[i];
  texts->last[i] = 0;
}

void tn_clear_error(void)
{
  if (last != TN_OK) set_last(TN_OK, "");
}

/* Copies only the text there is, as most texts are short. */
void tn_error_save(tn_error_state *state)
{
  const char *text = tn_error_message();
  state->status = last;
  memcpy(state->text, text, strlen(text) + 1);
}

void tn_error_restore(const tn_error_state *state)
{
  if (last != TN_OK || state->status != TN_OK)
    set_last(state->status, state->text);
}

tn_status tn_error_v(tn_status status, const char *format, va_list arguments)
{
  /* The old text may be an argument of the new one. */
  char text[TN_ERROR_TEXT_SIZE];
  vsnprintf(text, sizeof text, format, arguments);
  set_last(status, text);
  return status;
}

tn_status tn_set_error(tn_status status, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  tn_error_v(status, format, arguments);
  va_end(arguments);
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
