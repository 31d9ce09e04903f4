/* The plugin interface as numbers: the size of every structure of backend.h,
 * offset, size and declaration of every field, value of every constant,
 * compared with tests/abi_layout.txt. `make abi` writes that file anew, which
 * is right for a change that was meant: see "Versions" in backend.h.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tenon/backend.h"
#include "tests/tap.h"

#define LINES_MAX 2000
#define LINE_SIZE 400

/* "field tn_point.word = 0 16 uint64_t word[2]": a name, " = ", its facts. */
typedef struct layout {
  char lines[LINES_MAX][LINE_SIZE];
  int count;
} layout;

static void TN_PRINTF(2, 3) add(layout *into, const char *format, ...)
{
  va_list arguments;
  if (into->count == LINES_MAX) {
    printf("Bail out! more than %d lines\n", LINES_MAX);
    exit(1);
  }
  va_start(arguments, format);
  vsnprintf(into->lines[into->count++], LINE_SIZE, format, arguments);
  va_end(arguments);
}

static void describe(layout *into)
{
#define STRUCT(type) add(into, "struct " #type " = %zu", sizeof(type));
#define FIELD(type, field, text) \
  add(into, "field " #type "." #field " = %zu %zu %s", \
      offsetof(type, field), sizeof(((type *)0)->field), text);
#define VALUE(name) add(into, "value " #name " = %lld", (long long)(name));
#include "tests/abi_fields.h"
#define STATUS(name, meaning) VALUE(TN_##name)
  TN_STATUS_MAP(STATUS)
}

static bool read_file(layout *into, const char *path)
{
  FILE *file = fopen(path, "r");
  char line[LINE_SIZE];
  if (!file) return false;
  while (fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = 0;
    if (line[0] && line[0] != '#') add(into, "%s", line);
  }
  fclose(file);
  return true;
}

/* The line of the same name, NULL if there is none. */
static const char *find(const layout *in, const char *line)
{
  size_t length = (size_t)(strstr(line, " = ") + 3 - line);
  for (int i = 0; i < in->count; i++)
    if (!strncmp(in->lines[i], line, length)) return in->lines[i];
  return NULL;
}

/* Prints what a change did to one name; true if anything. */
static bool differs(const layout *was, const char *line)
{
  const char *before = find(was, line);
  if (before && !strcmp(before, line)) return false;
  if (before)
    tap_note("changed: %s, was%s", line, strstr(before, " = ") + 2);
  else
    tap_note("new: %s", line);
  return true;
}

static void compare(const layout *was, const layout *is)
{
  int differences = 0;
  for (int i = 0; i < is->count; i++)
    differences += differs(was, is->lines[i]);
  for (int i = 0; i < was->count; i++) {
    if (find(is, was->lines[i])) continue;
    tap_note("gone: %s", was->lines[i]);
    differences++;
  }
  tap_is_int(differences, 0,
             "X2 backend.h is as recorded (a change that was meant: make "
             "abi)");
}

/* All but points grow, so all but points say how long they are. */
static void check_sizes_first(const layout *is)
{
  for (int i = 0; i < is->count; i++) {
    char name[LINE_SIZE], first[2 * LINE_SIZE];
    if (sscanf(is->lines[i], "struct %399s", name) != 1) continue;
    if (!strcmp(name, "tn_point")) continue;
    snprintf(first, sizeof first, "field %s.struct_size = 0 ", name);
    const char *next = i + 1 < is->count ? is->lines[i + 1] : "";
    tap_ok(!strncmp(next, first, strlen(first)),
           "X2 %s begins with struct_size", name);
  }
}

/* A layout that differs in each way is told from the one there is. */
static void check_the_check(const layout *is)
{
  static layout changed;
  tap_note("planted, to be noticed:");
  changed = *is;
  strcat(changed.lines[0], "9");
  tap_ok(differs(&changed, is->lines[0]), "X2 a changed line is noticed");
  changed.count = 0;
  tap_ok(differs(&changed, is->lines[0]), "X2 a new line is noticed");
  tap_ok(!differs(is, is->lines[0]), "X2 the same line is not");
}

static int print(const layout *is)
{
  puts("# The plugin interface on a 64-bit machine; written by `make abi`.\n"
       "# struct NAME = SIZE / field NAME = OFFSET SIZE DECLARATION / value\n"
       "# NAME = NUMBER");
  for (int i = 0; i < is->count; i++) puts(is->lines[i]);
  return 0;
}

int main(int argc, char **argv)
{
  static layout was, is;
  char path[4096];
  const char *folder = getenv("top_srcdir");
  describe(&is);
  if (argc > 1 && !strcmp(argv[1], "--print")) return print(&is);
  snprintf(path, sizeof path, "%s/tests/abi_layout.txt",
           folder ? folder : ".");
  check_sizes_first(&is);
  check_the_check(&is);
  if (sizeof(void *) != 8)
    tap_skip("the recorded layout is that of 64-bit machines");
  else if (read_file(&was, path))
    compare(&was, &is);
  else
    tap_ok(false, "%s can be read", path);
  return tap_done();
}
