#include "tests/tap.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count, failures;

static bool report(bool condition, const char *format, va_list arguments)
{
  pthread_mutex_lock(&lock);
  count++;
  failures += !condition;
  printf("%sok %d - ", condition ? "" : "not ", count);
  vprintf(format, arguments);
  putchar('\n');
  fflush(stdout);
  pthread_mutex_unlock(&lock);
  return condition;
}

bool tap_ok(bool condition, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  report(condition, format, arguments);
  va_end(arguments);
  return condition;
}

bool tap_is_int(long long got, long long wanted, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  bool same = report(got == wanted, format, arguments);
  va_end(arguments);
  if (!same) tap_note("got %lld, wanted %lld", got, wanted);
  return same;
}

bool tap_is_text(const char *got, const char *wanted, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  bool same = report(got && strcmp(got, wanted) == 0, format, arguments);
  va_end(arguments);
  if (!same) tap_note("got \"%s\"", got ? got : "(null)");
  if (!same) tap_note("wanted \"%s\"", wanted);
  return same;
}

bool tap_has(const char *text, const char *part, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  bool has = report(text && strstr(text, part), format, arguments);
  va_end(arguments);
  if (!has) tap_note("\"%s\" lacks \"%s\"", text ? text : "(null)", part);
  return has;
}

void tap_skip(const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  pthread_mutex_lock(&lock);
  printf("ok %d # SKIP ", ++count);
  vprintf(format, arguments);
  putchar('\n');
  pthread_mutex_unlock(&lock);
  va_end(arguments);
}

void tap_note(const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  pthread_mutex_lock(&lock);
  fputs("# ", stdout);
  vprintf(format, arguments);
  putchar('\n');
  pthread_mutex_unlock(&lock);
  va_end(arguments);
}

void tap_forget(void) { count = failures = 0; }

int tap_done(void)
{
  printf("1..%d\n", count);
  return failures != 0;
}
