/* Numbers: 12  -3  0x1f  017  0b101  7U  0f3f800000  0d3ff0...  1.5e-3 */
#include "tests/cudaemu/ptx/parse.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct number {
  enum { WHOLE, BITS32, BITS64, DECIMAL } kind;
  uint64_t bits; /* a DECIMAL's are those of a double */
} number;

static noreturn void fail_number(ptx_parser *p)
{
  ptx_parse_fail(p, p->token.line, "\"%.*s\" is not a number",
                 (int)p->token.length, p->token.text);
}

static int digit_of(char c)
{
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

static uint64_t read_digits(ptx_parser *p, const char *text, unsigned base)
{
  uint64_t value = 0;
  if (!*text)
    fail_number(p);
  for (; *text; text++) {
    unsigned digit = (unsigned)digit_of(*text);
    if (digit >= base)
      fail_number(p);
    if (value > (UINT64_MAX - digit) / base)
      ptx_parse_fail(p, p->token.line, "%.*s does not fit 64 bits",
                     (int)p->token.length, p->token.text);
    value = value * base + digit;
  }
  return value;
}

static number read_whole(ptx_parser *p, char *text)
{
  size_t length = strlen(text);
  if (text[length - 1] == 'U')
    text[length - 1] = '\0';
  unsigned base = 10;
  if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
    base = 16;
  else if (text[0] == '0' && (text[1] == 'b' || text[1] == 'B'))
    base = 2;
  else if (text[0] == '0' && text[1])
    base = 8;
  const char *digits = base == 16 || base == 2 ? text + 2 : text;
  return (number) { WHOLE, read_digits(p, digits, base) };
}

static number read_decimal(ptx_parser *p, const char *text)
{
  char *end;
  double value = strtod(text, &end);
  if (*end || !isfinite(value))
    fail_number(p);
  number result = { DECIMAL, 0 };
  memcpy(&result.bits, &value, sizeof value);
  return result;
}

static number read_number(ptx_parser *p)
{
  char text[64];
  if (p->token.kind != PTX_TOKEN_NUMBER)
    ptx_parse_unexpected(p, "a number");
  if (p->token.length >= sizeof text)
    fail_number(p);
  memcpy(text, p->token.text, p->token.length);
  text[p->token.length] = '\0';
  number result;
  char second = text[1];
  if (text[0] == '0' && (second == 'f' || second == 'F')) {
    if (strlen(text) != 10)
      fail_number(p);
    result = (number) { BITS32, read_digits(p, text + 2, 16) };
  } else if (text[0] == '0' && (second == 'd' || second == 'D')) {
    if (strlen(text) != 18)
      fail_number(p);
    result = (number) { BITS64, read_digits(p, text + 2, 16) };
  } else if (second != 'x' && second != 'X' && strpbrk(text, ".eE"))
    result = read_decimal(p, text);
  else
    result = read_whole(p, text);
  return result;
}

uint64_t ptx_parse_count(ptx_parser *p, uint64_t limit, const char *what)
{
  if (p->token.kind != PTX_TOKEN_NUMBER)
    ptx_parse_unexpected(p, what);
  number read = read_number(p);
  if (read.kind != WHOLE)
    ptx_parse_unexpected(p, what);
  if (read.bits > limit)
    ptx_parse_fail(p, p->token.line, "%llu is too large for %s (%llu)",
                   (unsigned long long)read.bits, what,
                   (unsigned long long)limit);
  ptx_parse_next(p);
  return read.bits;
}

static double value_of(number read)
{
  double value;
  float narrow;
  uint32_t low = (uint32_t)read.bits;
  memcpy(&narrow, &low, sizeof narrow);
  memcpy(&value, &read.bits, sizeof value);
  return read.kind == BITS32 ? (double)narrow : value;
}

static uint64_t float_bits(number read, ptx_type type, bool negative)
{
  double value = negative ? -value_of(read) : value_of(read);
  float narrow = (float)value;
  uint32_t low;
  uint64_t bits;
  memcpy(&low, &narrow, sizeof low);
  memcpy(&bits, &value, sizeof bits);
  if (type == PTX_f32)
    return read.kind == BITS32 ? read.bits : low;
  return read.kind == BITS64 ? read.bits : bits;
}

/* A whole number must fit the type, read as signed or as unsigned. */
static uint64_t whole_bits(ptx_parser *p, number read, ptx_type type,
                           bool negative)
{
  unsigned bits = 8 * ptx_type_bytes(type);
  uint64_t half = UINT64_C(1) << (bits - 1);
  uint64_t mask = half | (half - 1);
  if (negative ? read.bits > half : read.bits > mask)
    ptx_parse_fail(p, p->token.line, "%s%llu does not fit .%s",
                   negative ? "-" : "", (unsigned long long)read.bits,
                   ptx_type_name(type));
  return (negative ? 0 - read.bits : read.bits) & mask;
}

uint64_t ptx_parse_bits(ptx_parser *p, ptx_type type)
{
  bool negative = ptx_parse_take(p, "-");
  number read = read_number(p);
  ptx_class class = ptx_type_class(type);
  uint64_t bits = 0;
  bool exact = read.kind == BITS32 || read.kind == BITS64;
  if (exact && negative)
    fail_number(p);
  if (type == PTX_pred && read.kind == WHOLE)
    bits = read.bits != 0;
  else if ((type == PTX_f32 || type == PTX_f64) && read.kind != WHOLE)
    bits = float_bits(read, type, negative);
  else if (class == PTX_CLASS_BITS &&
           ((read.kind == BITS32 && type == PTX_b32) ||
            (read.kind == BITS64 && type == PTX_b64)))
    bits = read.bits;
  else if (read.kind == WHOLE && class != PTX_CLASS_FLOAT && type != PTX_pred)
    bits = whole_bits(p, read, type, negative);
  else
    ptx_parse_fail(p, p->token.line, "\"%.*s\" is not a number of type .%s",
                   (int)p->token.length, p->token.text, ptx_type_name(type));
  ptx_parse_next(p);
  return bits;
}
