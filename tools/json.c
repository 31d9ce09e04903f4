#include "config.h"

#include "tools/json.h"

#include <inttypes.h>

static void put_quoted(FILE *file, const char *text);

static void start_value(tn_json *json, const char *key)
{
  if (json->has_items) fputc(',', json->file);
  if (json->depth) fprintf(json->file, "\n%*s", 2 * json->depth, "");
  json->has_items = true;
  if (!key) return;
  put_quoted(json->file, key);
  fputs(": ", json->file);
}

void tn_json_open(tn_json *json, const char *key, char bracket)
{
  start_value(json, key);
  fputc(bracket, json->file);
  json->depth++;
  json->has_items = false;
}

void tn_json_close(tn_json *json, char bracket)
{
  json->depth--;
  if (json->has_items) fprintf(json->file, "\n%*s", 2 * json->depth, "");
  fputc(bracket, json->file);
  json->has_items = true;
  if (!json->depth) fputc('\n', json->file);
}

/* The number of bytes of the UTF-8 sequence at `text`, 0 if it is none:
 * shortest forms only, no surrogates, nothing above U+10FFFF. */
static int sequence_length(const unsigned char *text)
{
  unsigned char first = text[0];
  int length = first < 0x80   ? 1
               : first < 0xc2 ? 0
               : first < 0xe0 ? 2
               : first < 0xf0 ? 3
               : first < 0xf5 ? 4
                              : 0;
  for (int i = 1; i < length; i++)
    if ((text[i] & 0xc0) != 0x80) return 0;
  if (length == 3 && first == 0xe0 && text[1] < 0xa0) return 0;
  if (length == 3 && first == 0xed && text[1] >= 0xa0) return 0;
  if (length == 4 && first == 0xf0 && text[1] < 0x90) return 0;
  if (length == 4 && first == 0xf4 && text[1] >= 0x90) return 0;
  return length;
}

static void put_quoted(FILE *file, const char *text)
{
  const unsigned char *at = (const unsigned char *)text;
  fputc('"', file);
  while (*at) {
    int length = sequence_length(at);
    if (length == 0) fputs("\\ufffd", file);
    else if (*at == '"' || *at == '\\') fprintf(file, "\\%c", *at);
    else if (*at < 0x20 || *at == 0x7f) fprintf(file, "\\u%04x", *at);
    else fwrite(at, 1, (size_t)length, file);
    at += length ? length : 1;
  }
  fputc('"', file);
}

void tn_json_text(tn_json *json, const char *key, const char *text)
{
  start_value(json, key);
  if (text) put_quoted(json->file, text);
  else fputs("null", json->file);
}

void tn_json_integer(tn_json *json, const char *key, int64_t value)
{
  start_value(json, key);
  fprintf(json->file, "%" PRId64, value);
}

void tn_json_unsigned(tn_json *json, const char *key, uint64_t value)
{
  start_value(json, key);
  fprintf(json->file, "%" PRIu64, value);
}

void tn_json_bool(tn_json *json, const char *key, bool value)
{
  start_value(json, key);
  fputs(value ? "true" : "false", json->file);
}

void tn_json_null(tn_json *json, const char *key)
{
  start_value(json, key);
  fputs("null", json->file);
}
