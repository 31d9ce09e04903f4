#include "config.h"

#include "core/base/log.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/environment.h"

static const char *const names[] = { "error", "warning", "info", "debug" };
enum { NAME_COUNT = sizeof names / sizeof names[0] };

#define UNREAD (-1)
static atomic_int limit = UNREAD;

/* A line goes out in one write, so that lines of threads and processes do
 * not mix. */
static void write_line(tn_log_level level, const char *text, int length)
{
  char line[1200];
  int size = snprintf(line, sizeof line, "tenon: %s: %.*s\n", names[level],
                      length, text);
  if (size >= (int)sizeof line) {
    size = sizeof line - 1;
    line[size - 1] = '\n';
  }
  /* Nowhere to report a failure of the log itself. */
  ssize_t written = write(STDERR_FILENO, line, (size_t)size);
  (void)written;
}

static void write_lines(tn_log_level level, const char *text)
{
  for (;;) {
    size_t length = strcspn(text, "\n");
    write_line(level, text, (int)length);
    text += length;
    if (!*text || !*++text) return;
  }
}

static int read_limit(void)
{
  static const char complaint[] =
      "TENON_LOG is not understood: it is error, warning, info or debug";
  const char *value = tn_environment("TENON_LOG");
  if (!value || !*value) return TN_LOG_WARNING;
  for (int i = 0; i < NAME_COUNT; i++)
    if (strcmp(value, names[i]) == 0) return i;
  write_line(TN_LOG_WARNING, complaint, sizeof complaint - 1);
  return TN_LOG_WARNING;
}

bool tn_log_is_on(tn_log_level level)
{
  int now = atomic_load_explicit(&limit, memory_order_relaxed);
  if (now == UNREAD) {
    now = read_limit();
    atomic_store_explicit(&limit, now, memory_order_relaxed);
  }
  return (unsigned)level < NAME_COUNT && (int)level <= now;
}

void tn_log_v(tn_log_level level, const char *format, va_list arguments)
{
  if (!tn_log_is_on(level)) return;
  char text[1024], *whole = text;
  va_list again;
  va_copy(again, arguments);
  int length = vsnprintf(text, sizeof text, format, arguments);
  if (length >= (int)sizeof text) {
    /* Compilers say much. Without memory the text is cut. */
    char *larger = malloc((size_t)length + 1);
    if (larger) {
      vsnprintf(larger, (size_t)length + 1, format, again);
      whole = larger;
    }
  }
  va_end(again);
  if (length >= 0) write_lines(level, whole);
  if (whole != text) free(whole);
}

void tn_log(tn_log_level level, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  tn_log_v(level, format, arguments);
  va_end(arguments);
}
