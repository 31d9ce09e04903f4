/* The text that is learned, as numbers of its characters. */
#ifndef CHARLM_TEXT_H
#define CHARLM_TEXT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct text {
  int32_t *tokens;      /* each the number of a character */
  int64_t count;
  uint32_t *characters; /* by number, in rising order */
  int32_t kinds;        /* how many there are */
  bool is_utf8;         /* else the characters are bytes */
} text;

/* path: NULL for the documentation. False after a complaint; close it in any
 * case. */
bool text_open(text *t, const char *path);
void text_close(text *t);

/* The number of a character, or 0 if the text has none. */
int32_t text_token(const text *t, uint32_t character);

/* Writes a character to standard output; '?' for one that would do something
 * to a terminal. */
void text_write(const text *t, int32_t token);

#endif
