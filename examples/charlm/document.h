/* Files as bytes, and Tenon's own documentation. */
#ifndef CHARLM_DOCUMENT_H
#define CHARLM_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct bytes {
  char *data; /* freed by free */
  size_t size, capacity;
} bytes;

bool bytes_append(bytes *b, const char *from, size_t size);

/* Appends a file, or standard input for "-"; false after a complaint. */
bool bytes_read(bytes *b, const char *path);

/* Appends the pages of the folder, of the source tree or installed, that is
 * found first: CHARLM_DOCUMENTS (a path, set when this was compiled), the
 * folders above the program, and those above this source. False after a
 * complaint that lists them. */
bool document_read(bytes *b);

#endif
