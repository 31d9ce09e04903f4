#include "layers/race_extent.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Declarations of the program's kernels. */
static char *given;

/* A word of a line: up to one of `ends`. */
typedef struct word {
  const char *at;
  size_t length;
} word;

static bool is_word(word w, const char *text)
{
  return strlen(text) == w.length && memcmp(w.at, text, w.length) == 0;
}

static word next_word(const char **at, const char *ends)
{
  word w = { *at, strcspn(*at, ends) };
  *at += w.length;
  return w;
}

static const char *skip(const char *at) { return at + strspn(at, " \t"); }

/* Signatures ------------------------------------------------------------ */

typedef struct parameter {
  word kind, type, name;
} parameter;

/* (KIND, TYPE, NAME); false at the end. */
static bool next_parameter(const char **at, parameter *out)
{
  word *words[] = { &out->kind, &out->type, &out->name };
  *at = strchr(*at, '(');
  if (!*at) return false;
  for (int i = 0; i < 3; i++) {
    if (!**at) return false;
    *at = skip(*at + 1);
    *words[i] = next_word(at, ",)");
  }
  return true;
}

static int read_signature(const char *text, parameter *out)
{
  int count = 0;
  while (count < RACE_PARAMETERS && next_parameter(&text, out + count)) count++;
  return count;
}

static uint8_t bytes_of(word type)
{
  char text[16];
  snprintf(text, sizeof text, "%.*s", (int)type.length, type.at);
  if (strstr(text, "64") || strncmp(text, "double", 6) == 0) return 8;
  if (strstr(text, "16")) return 2;
  return strstr(text, "int8") ? 1 : 4;
}

/* Declarations ---------------------------------------------------------- */

/* What is being read: parameter `own` of `count`. */
typedef struct reading {
  const parameter *parameters;
  int count, own;
} reading;

/* The value parameter that the word names; -1: none. */
static int find_value(const reading *r, word w)
{
  char name[64];
  const parameter *own = r->parameters + r->own;
  if (*w.at == '@')
    snprintf(name, sizeof name, "%.*s%.*s", (int)own->name.length,
             own->name.at, (int)w.length - 1, w.at + 1);
  else snprintf(name, sizeof name, "%.*s", (int)w.length, w.at);
  for (int i = 0; i < r->count; i++)
    if (is_word(r->parameters[i].name, name) &&
        is_word(r->parameters[i].kind, "VAL"))
      return i;
  return -1;
}

static bool read_product(const reading *r, const char **at, race_product *out)
{
  *out = (race_product){ .number = 1 };
  for (;; ++*at) {
    word w = next_word(at, "*:, \t\n#");
    if (w.length && *w.at >= '0' && *w.at <= '9') {
      if (__builtin_mul_overflow(out->number, strtoll(w.at, NULL, 10),
                                 &out->number))
        return false;
    } else {
      int value = w.length ? find_value(r, w) : -1;
      if (value < 0 || out->factor_count == RACE_FACTORS) return false;
      out->factors[out->factor_count++] = (uint8_t)value;
    }
    if (**at != '*') return true;
  }
}

static bool read_dimensions(const reading *r, const char **at,
                            race_parameter *out)
{
  uint8_t count = 0;
  for (;; ++*at) {
    if (count == RACE_DIMENSIONS) return false;
    out->strides[count] = (race_product){ .number = 1 };
    if (!read_product(r, at, out->counts + count)) return false;
    if (**at == ':') {
      ++*at;
      if (!read_product(r, at, out->strides + count)) return false;
    }
    count++;
    if (**at != ',') break;
  }
  out->dimension_count = count;
  return true;
}

/* What a line says of one pointer, after the kernel's name. A name that the
 * kernel has no value for leaves the pointer undeclared. */
static void read_line(const reading *r, const char *at, race_parameter *out)
{
  word own = r->parameters[r->own].name;
  for (at = skip(at); *at && *at != '\n' && *at != '#'; at = skip(at)) {
    word name = next_word(&at, "= \t\n#");
    if (*at != '=') return;
    at++;
    bool is_own = name.length == own.length &&
                  memcmp(name.at, own.at, own.length) == 0;
    if (is_own || (name.length == 1 && *name.at == '*')) {
      if (!read_dimensions(r, &at, out)) out->dimension_count = 0;
      return;
    }
    at += strcspn(at, " \t\n#");
  }
}

/* The rest of the line that declares the kernel; NULL: none. */
static const char *find_line(const char *text, const char *kernel)
{
  for (; text && *text; text = strchr(text, '\n'), text += text != NULL) {
    char pattern[256];
    const char *at = skip(text);
    word w = next_word(&at, " \t\n#");
    if (!w.length || w.length >= sizeof pattern) continue;
    memcpy(pattern, w.at, w.length);
    pattern[w.length] = 0;
    if (fnmatch(pattern, kernel, 0) == 0) return at;
  }
  return NULL;
}

race_kernel *race_kernel_make(const forward_kernel *kernel,
                              const char *signature)
{
  char name[512];
  parameter parameters[RACE_PARAMETERS];
  int count = read_signature(signature ? signature : "", parameters);
  race_kernel *made = calloc(1, sizeof *made +
                                    (size_t)count * sizeof(race_parameter));
  if (!made) return NULL;
  snprintf(name, sizeof name, "%s/%s", kernel->module->name, kernel->name);
  const char *line = find_line(kernel->module->is_builtin ? race_own_extents
                                                          : given, name);
  made->count = count;
  for (int i = 0; i < count; i++) {
    race_parameter *p = made->parameters + i;
    const parameter *from = parameters + i;
    p->bytes = bytes_of(from->type);
    p->is_narrow = is_word(from->type, "int32");
    p->is_written = is_word(from->kind, "OUT");
    p->is_pointer = p->is_written || is_word(from->kind, "IN");
    if (p->is_pointer && line)
      read_line(&(reading){ parameters, count, i }, line, p);
  }
  return made;
}

/* Reading a file -------------------------------------------------------- */

static bool is_declaration(const char *line)
{
  line = skip(line);
  if (!*line || *line == '\n' || *line == '#') return true;
  word kernel = next_word(&line, " \t\n#");
  if (!memchr(kernel.at, '/', kernel.length)) return false;
  for (line = skip(line); *line && *line != '\n' && *line != '#';
       line = skip(line)) {
    word one = next_word(&line, " \t\n#");
    const char *equals = memchr(one.at, '=', one.length);
    if (!equals || equals == one.at || equals + 1 == one.at + one.length)
      return false;
  }
  return true;
}

static tn_status check(const tn_host_api *host, const char *path,
                       const char *text)
{
  int number = 1;
  for (const char *line = text; *line; number++) {
    if (!is_declaration(line))
      return host->error(TN_INVALID_ARGUMENT, "extents=%s: line %d: accepted "
                         "is MODULE/KERNEL NAME=COUNT:STRIDE,...", path,
                         number);
    line += strcspn(line, "\n");
    line += *line == '\n';
  }
  return TN_OK;
}

tn_status race_extents_read(const tn_host_api *host, const char *path)
{
  enum { LARGEST = 1 << 20 };
  if (given) return TN_OK;
  FILE *file = fopen(path, "r");
  if (!file)
    return host->error(TN_INVALID_ARGUMENT, "extents=%s: cannot be read: %s",
                       path, strerror(errno));
  char *text = calloc(1, LARGEST);
  size_t size = text ? fread(text, 1, LARGEST, file) : 0;
  int failure = text && ferror(file) ? errno : 0;
  fclose(file);
  tn_status status = TN_OK;
  if (!text) status = host->error(TN_OUT_OF_MEMORY, "no memory for extents");
  else if (failure)
    status = host->error(TN_INVALID_ARGUMENT, "extents=%s: cannot be read: %s",
                         path, strerror(failure));
  else if (size == LARGEST)
    status = host->error(TN_INVALID_ARGUMENT, "extents=%s: less than %d bytes "
                         "are accepted", path, LARGEST);
  else if (strlen(text) < size)
    status = host->error(TN_INVALID_ARGUMENT, "extents=%s: byte %zu is 0: it "
                         "is no text", path, strlen(text));
  else status = check(host, path, text);
  if (status == TN_OK) given = text;
  else free(text);
  return status;
}

/* Launches -------------------------------------------------------------- */

static bool value_of(const race_kernel *k, const race_product *product,
                     const uint64_t *slots, int64_t *out)
{
  int64_t value = product->number;
  for (int i = 0; i < product->factor_count; i++) {
    int at = product->factors[i];
    int64_t factor = k->parameters[at].is_narrow ? (int32_t)slots[at]
                                                 : (int64_t)slots[at];
    if (__builtin_mul_overflow(value, factor, &value)) return false;
  }
  *out = value;
  return true;
}

typedef struct extent {
  int count;
  int64_t counts[RACE_DIMENSIONS], strides[RACE_DIMENSIONS];
} extent;

/* Without dimensions of one element or that repeat the same ones, and joined
 * where they follow each other. False: nothing, or numbers beyond all sense. */
static bool measure(const race_kernel *k, const race_parameter *p,
                    const uint64_t *slots, extent *out)
{
  out->count = 0;
  for (int i = 0; i < p->dimension_count; i++) {
    int64_t count, stride;
    if (!value_of(k, p->counts + i, slots, &count) || count <= 0 ||
        !value_of(k, p->strides + i, slots, &stride))
      return false;
    if (count == 1 || stride == 0) continue;
    int last = out->count - 1;
    int64_t inner;
    if (last >= 0 && !__builtin_mul_overflow(count, stride, &inner) &&
        out->strides[last] == inner) {
      out->strides[last] = stride;
      if (__builtin_mul_overflow(out->counts[last], count,
                                 &out->counts[last]))
        return false;
      continue;
    }
    out->counts[out->count] = count;
    out->strides[out->count++] = stride;
  }
  return true;
}

void race_reach(const race_kernel *kernel, int i, const uint64_t *slots,
                void (*touch)(void *context, tn_address at, uint64_t bytes),
                void *context)
{
  const race_parameter *p = kernel->parameters + i;
  extent e = { 0 };
  int64_t at[RACE_DIMENSIONS] = { 0 }, run = 1;
  if (p->dimension_count && !measure(kernel, p, slots, &e)) return;
  if (e.count && e.strides[e.count - 1] == 1) run = e.counts[--e.count];
  if (run > INT64_MAX / 8) return;
  for (int runs = 0; runs < RACE_RUNS; runs++) {
    uint64_t offset = 0;
    for (int d = 0; d < e.count; d++)
      offset += (uint64_t)at[d] * (uint64_t)e.strides[d];
    touch(context, slots[i] + offset * p->bytes, (uint64_t)run * p->bytes);
    int d = e.count - 1;
    while (d >= 0 && ++at[d] == e.counts[d]) at[d--] = 0;
    if (d < 0) return;
  }
}
