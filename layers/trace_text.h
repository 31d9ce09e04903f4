/* Writing JSON into a buffer that has room: each gives the place behind what
 * it wrote. printf would cost more than the calls that are traced. */
#ifndef TN_LAYERS_TRACE_TEXT_H
#define TN_LAYERS_TRACE_TEXT_H

#include <stdint.h>
#include <string.h>

static inline char *put(char *at, const char *text)
{
  size_t size = strlen(text);
  memcpy(at, text, size);
  return at + size;
}

static inline char *put_number(char *at, uint64_t number)
{
  char digits[20];
  int count = 0;
  do digits[count++] = (char)('0' + number % 10);
  while ((number /= 10) != 0);
  while (count) *at++ = digits[--count];
  return at;
}

/* Nanoseconds as microseconds with all their digits. */
static inline char *put_time(char *at, uint64_t nanoseconds)
{
  unsigned rest = (unsigned)(nanoseconds % 1000);
  at = put_number(at, nanoseconds / 1000);
  at[0] = '.';
  at[1] = (char)('0' + rest / 100);
  at[2] = (char)('0' + rest / 10 % 10);
  at[3] = (char)('0' + rest % 10);
  return at + 4;
}

/* A text for between quotes, at most 255 bytes of it; what JSON would need
 * escaped, and bytes beyond ASCII, become '?'. */
static inline char *put_name(char *at, const char *text)
{
  for (int i = 0; text[i] && i < 255; i++) {
    unsigned char c = (unsigned char)text[i];
    *at++ = c < 32 || c > 126 || c == '"' || c == '\\' ? '?' : (char)c;
  }
  return at;
}

#endif
