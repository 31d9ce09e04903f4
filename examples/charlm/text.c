#include "text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "complain.h"
#include "document.h"

/* ---- the bytes ---- */

static bool read_stream(bytes *b, FILE *file, const char *name)
{
  char piece[65536];
  size_t size;
  while ((size = fread(piece, 1, sizeof piece, file)) > 0)
    if (!bytes_append(b, piece, size))
      return complain("%s: does not fit into memory", name);
  return !ferror(file) || complain("%s: %s", name, strerror(errno));
}

bool bytes_append(bytes *b, const char *from, size_t size)
{
  if (size > b->capacity - b->size) {
    size_t wanted = b->capacity ? b->capacity : 65536;
    while (wanted - b->size < size) {
      if (wanted > SIZE_MAX / 2) return false;
      wanted *= 2;
    }
    char *larger = realloc(b->data, wanted);
    if (!larger) return false;
    b->data = larger;
    b->capacity = wanted;
  }
  memcpy(b->data + b->size, from, size);
  b->size += size;
  return true;
}

bool bytes_read(bytes *b, const char *path)
{
  if (strcmp(path, "-") == 0)
    return read_stream(b, stdin, "standard input");
  FILE *file = fopen(path, "rb");
  if (!file) return complain("%s: %s", path, strerror(errno));
  bool is_read = read_stream(b, file, path);
  fclose(file);
  return is_read;
}

/* ---- characters ---- */

/* How many bytes a character has by its first one; 0: none begins so. */
static int length_of(unsigned char first)
{
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return 2;
  if (first >= 0xe0 && first < 0xf0) return 3;
  return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

/* Decodes one; 0 bytes if it is none. */
static int decode(const unsigned char *at, size_t left, uint32_t *character)
{
  static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
  static const unsigned char masks[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
  int length = length_of(*at);
  if (length == 0 || (size_t)length > left) return 0;
  uint32_t value = *at & masks[length];
  for (int i = 1; i < length; i++) {
    if ((at[i] & 0xc0) != 0x80) return 0;
    value = value << 6 | (at[i] & 0x3f);
  }
  bool is_one = value >= least[length] && value <= 0x10ffff &&
                !(value >= 0xd800 && value < 0xe000);
  *character = value;
  return is_one ? length : 0;
}

static int64_t decode_all(const bytes *b, uint32_t *characters)
{
  const unsigned char *data = (const unsigned char *)b->data;
  int64_t count = 0;
  for (size_t at = 0; at < b->size; count++) {
    int length = decode(data + at, b->size - at, &characters[count]);
    if (length == 0) return -1;
    at += (size_t)length;
  }
  return count;
}

static int64_t take_bytes(const bytes *b, uint32_t *characters)
{
  for (size_t i = 0; i < b->size; i++)
    characters[i] = (unsigned char)b->data[i];
  return (int64_t)b->size;
}

/* ---- their numbers ---- */

enum { CHARACTERS = 0x110000 };

/* The characters that occur get numbers in rising order. */
static bool number(text *t, const uint32_t *found)
{
  int32_t *numbers = calloc(CHARACTERS, sizeof *numbers);
  t->tokens = calloc((size_t)t->count, sizeof *t->tokens);
  if (!numbers || !t->tokens) {
    free(numbers);
    return false;
  }
  for (int64_t i = 0; i < t->count; i++)
    if (!numbers[found[i]]) numbers[found[i]] = ++t->kinds;
  t->characters = calloc((size_t)t->kinds, sizeof *t->characters);
  int32_t next = 0;
  for (uint32_t c = 0; t->characters && c < CHARACTERS; c++)
    if (numbers[c]) {
      t->characters[next] = c;
      numbers[c] = next++;
    }
  for (int64_t i = 0; i < t->count; i++) t->tokens[i] = numbers[found[i]];
  free(numbers);
  return t->characters != NULL;
}

bool text_open(text *t, const char *path)
{
  bytes b = { 0 };
  *t = (text){ 0 };
  bool is_read = path ? bytes_read(&b, path) : document_read(&b);
  if (is_read && b.size == 0)
    is_read = complain("%s: is empty", path ? path : "the documentation");
  uint32_t *found = is_read ? calloc(b.size, sizeof *found) : NULL;
  if (found) {
    t->count = decode_all(&b, found);
    t->is_utf8 = t->count >= 0;
    if (!t->is_utf8) t->count = take_bytes(&b, found);
  }
  if (is_read && (!found || !number(t, found)))
    is_read = complain("a text of %zu bytes does not fit into memory",
                       b.size);
  free(found);
  free(b.data);
  return is_read;
}

void text_close(text *t)
{
  free(t->tokens);
  free(t->characters);
  *t = (text){ 0 };
}

int32_t text_token(const text *t, uint32_t character)
{
  for (int32_t i = 0; i < t->kinds; i++)
    if (t->characters[i] == character) return i;
  return 0;
}

static void write_utf8(uint32_t c)
{
  if (c < 0x80) putchar((int)c);
  else if (c < 0x800) {
    putchar((int)(0xc0 | c >> 6));
  } else if (c < 0x10000) {
    putchar((int)(0xe0 | c >> 12));
    putchar((int)(0x80 | (c >> 6 & 0x3f)));
  } else {
    putchar((int)(0xf0 | c >> 18));
    putchar((int)(0x80 | (c >> 12 & 0x3f)));
    putchar((int)(0x80 | (c >> 6 & 0x3f)));
  }
  if (c >= 0x80) putchar((int)(0x80 | (c & 0x3f)));
}

void text_write(const text *t, int32_t token)
{
  uint32_t c = t->characters[token];
  bool is_control = (c < 0x20 && c != '\n' && c != '\t') ||
                    (c >= 0x7f && c < (t->is_utf8 ? 0xa0u : 0x100u));
  if (is_control) putchar('?');
  else write_utf8(c);
}
