#include "config.h"

#include "core/memory/emit.h"

#include <inttypes.h>
#include <string.h>

/* The opcodes of pickles that are needed (python's pickletools). */
enum {
  PROTO = 0x80, STOP = '.', MARK = '(', EMPTY_DICT = '}', SETITEMS = 'u',
  EMPTY_LIST = ']', APPENDS = 'e', BINUNICODE = 'X', BININT = 'J',
  BININT1 = 'K', BININT2 = 'M', LONG1 = 0x8a, BINFLOAT = 'G', TUPLE2 = 0x86,
  NEWTRUE = 0x88, NEWFALSE = 0x89
};

static void put(const tn_emitter *e, int byte) { putc(byte, e->file); }

/* Little endian. */
static void put_bytes(const tn_emitter *e, uint64_t value, int count)
{
  for (int i = 0; i < count; i++) put(e, (int)(value >> 8 * i & 0xff));
}

/* The length of a character in UTF-8; 0: it is none. */
static size_t character(const char *text)
{
  const unsigned char *c = (const unsigned char *)text;
  size_t length = c[0] < 0x80 ? 1 : c[0] >= 0xc2 && c[0] < 0xe0 ? 2
                : c[0] >= 0xe0 && c[0] < 0xf0 ? 3
                : c[0] >= 0xf0 && c[0] < 0xf5 ? 4 : 0;
  for (size_t i = 1; i < length; i++)
    if ((c[i] & 0xc0) != 0x80) return 0;
  if (length == 3 && c[0] == 0xe0 && c[1] < 0xa0) return 0;
  if (length == 3 && c[0] == 0xed && c[1] > 0x9f) return 0;
  if (length == 4 && c[0] == 0xf0 && c[1] < 0x90) return 0;
  if (length == 4 && c[0] == 0xf4 && c[1] > 0x8f) return 0;
  return length;
}

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

static void pickle_text(const tn_emitter *e, const char *text)
{
  uint64_t size = 0;
  for (const char *c = text; *c; ) {
    size_t length = character(c);
    size += length ? length : strlen(replacement);
    c += length ? length : 1;
  }
  put(e, BINUNICODE);
  put_bytes(e, size, 4);
  for (const char *c = text; *c; ) {
    size_t length = character(c);
    if (length) fwrite(c, 1, length, e->file);
    else fputs(replacement, e->file);
    c += length ? length : 1;
  }
}

static void json_text(const tn_emitter *e, const char *text)
{
  put(e, '"');
  for (const char *c = text; *c; ) {
    size_t length = character(c);
    if (!length) fputs(replacement, e->file);
    else if (*c == '"' || *c == '\\') fprintf(e->file, "\\%c", *c);
    else if ((unsigned char)*c < ' ') fprintf(e->file, "\\u%04x", *c);
    else fwrite(c, 1, length, e->file);
    c += length ? length : 1;
  }
  put(e, '"');
}

static void key(tn_emitter *e, const char *name)
{
  if (e->is_pickle) {
    if (name) pickle_text(e, name);
    return;
  }
  if (e->has_items) fputs(name ? ",\n" : ", ", e->file);
  e->has_items = true;
  if (!name) return;
  json_text(e, name);
  fputs(": ", e->file);
}

static void open_(tn_emitter *e, const char *name, int empty, int bracket)
{
  key(e, name);
  put(e, e->is_pickle ? empty : bracket);
  if (e->is_pickle) put(e, MARK);
  e->has_items = false;
}

static void close_(tn_emitter *e, int filled, int bracket)
{
  put(e, e->is_pickle ? filled : bracket);
  e->has_items = true;
}

void tn_emit_begin(tn_emitter *e, FILE *file, bool is_pickle)
{
  *e = (tn_emitter){ .file = file, .is_pickle = is_pickle };
  if (!is_pickle) return;
  put(e, PROTO);
  put(e, 2);
}

void tn_emit_end(tn_emitter *e) { put(e, e->is_pickle ? STOP : '\n'); }

void tn_emit_map(tn_emitter *e, const char *name)
{
  open_(e, name, EMPTY_DICT, '{');
}

void tn_emit_map_end(tn_emitter *e) { close_(e, SETITEMS, '}'); }

void tn_emit_list(tn_emitter *e, const char *name)
{
  open_(e, name, EMPTY_LIST, '[');
}

void tn_emit_list_end(tn_emitter *e) { close_(e, APPENDS, ']'); }

void tn_emit_text(tn_emitter *e, const char *name, const char *text)
{
  key(e, name);
  if (e->is_pickle) pickle_text(e, text);
  else json_text(e, text);
}

/* In the fewest bytes; a sign bit has to be left. */
static void pickle_number(const tn_emitter *e, uint64_t number)
{
  int bytes = 1;
  if (number <= 0xff) {
    put(e, BININT1);
    put_bytes(e, number, 1);
  } else if (number <= 0xffff) {
    put(e, BININT2);
    put_bytes(e, number, 2);
  } else if (number <= INT32_MAX) {
    put(e, BININT);
    put_bytes(e, number, 4);
  } else {
    while (bytes < 8 && number >> (8 * bytes - 1)) bytes++;
    bool needs_sign = bytes == 8 && number >> 63;
    put(e, LONG1);
    put(e, bytes + needs_sign);
    put_bytes(e, number, bytes);
    if (needs_sign) put(e, 0);
  }
}

void tn_emit_number(tn_emitter *e, const char *name, uint64_t number)
{
  key(e, name);
  if (e->is_pickle) pickle_number(e, number);
  else fprintf(e->file, "%" PRIu64, number);
}

void tn_emit_signed(tn_emitter *e, const char *name, int64_t number)
{
  if (number >= 0) {
    tn_emit_number(e, name, (uint64_t)number);
    return;
  }
  key(e, name);
  if (!e->is_pickle) {
    fprintf(e->file, "%" PRId64, number);
    return;
  }
  put(e, LONG1);
  put(e, 8);
  put_bytes(e, (uint64_t)number, 8);
}

/* Doubles are big endian in pickles. */
void tn_emit_real(tn_emitter *e, const char *name, double number)
{
  key(e, name);
  if (!e->is_pickle) {
    fprintf(e->file, "%.17g", number);
    return;
  }
  uint64_t bits;
  memcpy(&bits, &number, sizeof bits);
  put(e, BINFLOAT);
  for (int i = 7; i >= 0; i--) put(e, (int)(bits >> 8 * i & 0xff));
}

void tn_emit_bool(tn_emitter *e, const char *name, bool value)
{
  key(e, name);
  if (e->is_pickle) put(e, value ? NEWTRUE : NEWFALSE);
  else fputs(value ? "true" : "false", e->file);
}

void tn_emit_pair(tn_emitter *e, const char *name, const uint64_t pair[2])
{
  key(e, name);
  if (e->is_pickle) {
    pickle_number(e, pair[0]);
    pickle_number(e, pair[1]);
    put(e, TUPLE2);
  } else {
    fprintf(e->file, "[%" PRIu64 ", %" PRIu64 "]", pair[0], pair[1]);
  }
}
