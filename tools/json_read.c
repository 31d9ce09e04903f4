#include "config.h"

#include "tools/json_read.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64 };

typedef struct reader {
  const char *at, *start, *end;
  int depth;
  const char *problem; /* NULL: none so far */
} reader;

static bool fail(reader *r, const char *problem)
{
  if (!r->problem) r->problem = problem;
  return false;
}

static void skip_space(reader *r)
{
  while (r->at < r->end && strchr(" \t\r\n", *r->at)) r->at++;
}

static bool take(reader *r, char wanted)
{
  skip_space(r);
  if (r->at == r->end || *r->at != wanted) return false;
  r->at++;
  return true;
}

static bool take_word(reader *r, const char *word)
{
  size_t length = strlen(word);
  if ((size_t)(r->end - r->at) < length ||
      memcmp(r->at, word, length) != 0)
    return false;
  r->at += length;
  return true;
}

static int hex(reader *r)
{
  int value = 0;
  for (int i = 0; i < 4; i++, r->at++) {
    if (r->at == r->end || !isxdigit((unsigned char)*r->at)) {
      fail(r, "a bad \\u in a text");
      return '?';
    }
    int digit = isdigit((unsigned char)*r->at)
        ? *r->at - '0' : tolower((unsigned char)*r->at) - 'a' + 10;
    value = 16 * value + digit;
  }
  return value;
}

static char *put_character(char *out, unsigned code)
{
  if (code < 0x80) {
    *out++ = (char)code;
  } else if (code < 0x800) {
    *out++ = (char)(0xc0 | code >> 6);
    *out++ = (char)(0x80 | (code & 0x3f));
  } else {
    *out++ = (char)(0xe0 | code >> 12);
    *out++ = (char)(0x80 | (code >> 6 & 0x3f));
    *out++ = (char)(0x80 | (code & 0x3f));
  }
  return out;
}

static char *put_escape(reader *r, char *out)
{
  static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
  char kind = *r->at++;
  if (kind == 'u') return put_character(out, (unsigned)hex(r));
  const char *place = kind ? strchr(from, kind) : NULL;
  if (!place) fail(r, "a bad escape in a text");
  else *out++ = to[place - from];
  return out;
}

static char *read_text(reader *r)
{
  if (!take(r, '"')) {
    fail(r, "a text is missing");
    return NULL;
  }
  const char *close = r->at;
  while (close < r->end && *close != '"') close += *close == '\\' ? 2 : 1;
  char *text = close < r->end ? malloc((size_t)(close - r->at) + 1) : NULL;
  if (!text) {
    fail(r, close < r->end ? "no memory" : "a text without an end");
    return NULL;
  }
  char *out = text;
  while (r->at < close && !r->problem)
    if (*r->at != '\\') *out++ = *r->at++;
    else {
      r->at++;
      out = put_escape(r, out);
    }
  *out = 0;
  r->at = close + 1;
  return text;
}

static bool read_number(reader *r, tn_value *value)
{
  char digits[40];
  size_t length = 0;
  while (r->at < r->end && length + 1 < sizeof digits &&
         (isdigit((unsigned char)*r->at) || strchr("+-.eE", *r->at)))
    digits[length++] = *r->at++;
  digits[length] = 0;
  if (!length) return fail(r, "no value where one is due");
  value->kind = TN_VALUE_NUMBER;
  if (strspn(digits, "0123456789") == length)
    value->number = strtoull(digits, NULL, 10);
  return true;
}

static bool read_value(reader *r, tn_value *value);

static tn_value *add_item(reader *r, tn_value *value)
{
  size_t count = value->count;
  if ((count & (count - 1)) == 0) { /* full: 0, 1, 2, 4, ... */
    size_t room = count ? 2 * count : 1;
    tn_value *larger = realloc(value->items, room * sizeof *larger);
    if (!larger) {
      fail(r, "no memory");
      return NULL;
    }
    value->items = larger;
  }
  tn_value *item = &value->items[value->count++];
  *item = (tn_value){ .kind = TN_VALUE_NULL };
  return item;
}

static bool read_item(reader *r, tn_value *value)
{
  tn_value *item = add_item(r, value);
  if (!item) return false;
  if (value->kind == TN_VALUE_MAP) {
    item->key = read_text(r);
    if (!item->key) return false;
    if (!take(r, ':')) return fail(r, "a ':' is missing");
  }
  return read_value(r, item);
}

static bool read_items(reader *r, tn_value *value, char close)
{
  if (take(r, close)) return true;
  do
    if (!read_item(r, value)) return false;
  while (take(r, ','));
  return take(r, close) || fail(r, "a ',' or a bracket is missing");
}

static bool read_nested(reader *r, tn_value *value, char close)
{
  value->kind = close == '}' ? TN_VALUE_MAP : TN_VALUE_LIST;
  if (r->depth == DEPTH_MAX) return fail(r, "too deep");
  r->depth++;
  bool is_good = read_items(r, value, close);
  r->depth--;
  return is_good;
}

static bool read_value(reader *r, tn_value *value)
{
  skip_space(r);
  if (r->at == r->end) return fail(r, "it ends too early");
  if (*r->at == '"') {
    value->kind = TN_VALUE_TEXT;
    value->text = read_text(r);
    return value->text != NULL && !r->problem;
  }
  if (take(r, '{')) return read_nested(r, value, '}');
  if (take(r, '[')) return read_nested(r, value, ']');
  if (take_word(r, "null") || take_word(r, "false")) return true;
  if (take_word(r, "true")) {
    value->number = 1;
    return true;
  }
  return read_number(r, value);
}

static void clear(tn_value *value)
{
  for (size_t i = 0; i < value->count; i++) clear(&value->items[i]);
  free(value->items);
  free(value->text);
  free(value->key);
}

void tn_value_free(tn_value *value)
{
  if (!value) return;
  clear(value);
  free(value);
}

tn_value *tn_value_read(const char *text, size_t size, char *problem,
                        size_t problem_size)
{
  reader r = { .at = text, .start = text, .end = text + size };
  tn_value *value = calloc(1, sizeof *value);
  if (!value) fail(&r, "no memory");
  else if (read_value(&r, value)) {
    skip_space(&r);
    if (r.at == r.end) return value;
    fail(&r, "something follows its end");
  }
  int line = 1;
  for (const char *c = r.start; c < r.at && c < r.end; c++)
    line += *c == '\n';
  snprintf(problem, problem_size, "line %d: %s", line, r.problem);
  tn_value_free(value);
  return NULL;
}

const tn_value *tn_value_get(const tn_value *map, const char *key)
{
  static const tn_value none;
  for (size_t i = 0; map->kind == TN_VALUE_MAP && i < map->count; i++)
    if (strcmp(map->items[i].key, key) == 0) return &map->items[i];
  return &none;
}

uint64_t tn_value_number(const tn_value *map, const char *key)
{
  return tn_value_get(map, key)->number;
}

const char *tn_value_text(const tn_value *map, const char *key)
{
  const tn_value *value = tn_value_get(map, key);
  return value->text ? value->text : "";
}
