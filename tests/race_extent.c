/* What kernels reach, as the race layer's declarations tell. */
#include "layers/race_extent.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/tap.h"

static forward_module module = { .is_builtin = true };

enum { TEXT = 512 };

static void note(void *context, tn_address at, uint64_t bytes)
{
  char *text = context;
  size_t used = strlen(text);
  snprintf(text + used, TEXT - used, "%s%lld+%lld", used ? " " : "",
           (long long)at - 4096, (long long)bytes);
}

/* "0+4 64+4": what is reached of pointer i, from address 4096. */
static const char *reached(const char *name, const char *signature, int i,
                           uint64_t *slots)
{
  static char text[TEXT];
  char copy[64];
  snprintf(copy, sizeof copy, "%s", name);
  char *slash = strchr(copy, '/');
  *slash = 0;
  module.name = copy;
  forward_kernel kernel = { .module = &module, .name = slash + 1 };
  race_kernel *made = race_kernel_make(&kernel, signature);
  text[0] = 0;
  if (made && i < made->count) {
    slots[i] = 4096;
    race_reach(made, i, slots, note, text);
  }
  free(made);
  return text;
}

static const char flat[] = "(OUT, float, y), (IN, double, a), (VAL, int64, n)";
static const char strided[] =
    "(OUT, float, y), (VAL, float, value), (VAL, int64, n3), (VAL, int64, n2),"
    " (VAL, int64, n1), (VAL, int64, n0), (VAL, int64, y3), (VAL, int64, y2),"
    " (VAL, int64, y1), (VAL, int64, y0)";

static void test_flat(void)
{
  uint64_t slots[3] = { 0, 0, 10 };
  tap_is_text(reached("elementwise/exp_f32", flat, 0, slots), "0+40",
          "n floats are reached");
  tap_is_text(reached("elementwise/exp_f32", flat, 1, slots), "0+80",
          "and n doubles");
  tap_is_text(reached("nosuch/exp_f32", flat, 0, slots), "0+4",
          "without a declaration one element");
  tap_is_text(reached("random/exp_f32", "(OUT, float, y), (VAL, int64, m)", 0,
                  slots), "0+4",
          "so it is if the kernel has no such value");
  slots[2] = 0;
  tap_is_text(reached("elementwise/exp_f32", flat, 0, slots), "",
          "nothing of no elements");
  slots[2] = (uint64_t)-1;
  tap_is_text(reached("elementwise/exp_f32", flat, 0, slots), "",
          "nor of less than none");
  slots[2] = UINT64_C(1) << 62;
  tap_is_text(reached("elementwise/exp_f32", flat, 0, slots), "",
          "nor of more than there can be");
}

static void test_strided(void)
{
  /* n3 n2 n1 n0, y3 y2 y1 y0 */
  uint64_t whole[] = { 0, 0, 1, 1, 4, 8, 0, 0, 8, 1 };
  uint64_t columns[] = { 0, 0, 1, 1, 2, 3, 0, 0, 16, 2 };
  uint64_t repeated[] = { 0, 0, 5, 1, 2, 2, 0, 0, 16, 1 };
  const char name[] = "elementwise_i32/fill_strided_i32";
  tap_is_text(reached(name, strided, 0, whole), "0+128",
          "rows that follow each other are one run");
  tap_is_text(reached(name, strided, 0, columns), "0+4 8+4 16+4 64+4 72+4 80+4",
          "every second column is every second column");
  tap_is_text(reached(name, strided, 0, repeated), "0+8 64+8",
          "what is repeated is reached once");
}

static void test_first_line(void)
{
  uint64_t slots[] = { 0, 0, 2, 3, 8 };
  const char text[] = "(OUT, float, y), (IN, float, x), (VAL, int32, rows),"
                      " (VAL, int64, n), (VAL, int64, stride)";
  tap_is_text(reached("reduce/sum_short_f32", text, 1, slots), "0+12 32+12",
          "rows apart, from a declaration of its own");
  tap_is_text(reached("reduce/sum_short_f32", text, 0, slots), "0+8",
          "the first line that fits counts");
  slots[2] = UINT64_C(0xffffffff);
  tap_is_text(reached("reduce/sum_short_f32", text, 1, slots), "",
          "an int32 is extended by its sign");
}

/* ---- the program's own ---- */

static char refusal[TEXT];

static tn_status refuse(tn_status status, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(refusal, sizeof refusal, format, arguments);
  va_end(arguments);
  return status;
}

static const tn_host_api host = { .error = refuse };
static char path[] = "race-extents-XXXXXX";

/* Into a file, filled up with line ends to `size` bytes. */
static void write_file(const char *name, const char *text, size_t size)
{
  FILE *file = fopen(name, "w");
  if (!file) return;
  size_t length = strlen(text);
  fputs(text, file);
  for (; length < size; length++) fputc('\n', file);
  fclose(file);
}

/* Twice, as for two backends: what was wrong is so again. */
static void test_refused(const char *what, const char *part)
{
  bool is_refused = true;
  for (int i = 0; i < 2; i++)
    is_refused &= race_extents_read(&host, what) == TN_INVALID_ARGUMENT &&
                  strstr(refusal, part);
  tap_ok(is_refused, "refused every time: %s", refusal);
}

static void test_file(void)
{
  uint64_t slots[3] = { 0, 0, 10 };
  close(mkstemp(path));
  test_refused(".", "cannot be read");
  write_file(path, "mine/one\nmine y=n\n", 0);
  test_refused(path, "line 2");
  write_file(path, "mine/one y=n\n", 1 << 20);
  test_refused(path, "less than");
  write_file(path, "mine/one y=n\nmine/two y=4294967296*4294967296\n", 0);
  tap_is_int(race_extents_read(&host, path), TN_OK, "a file is read");
  tap_is_int(race_extents_read(&host, path), TN_OK, "and known");
  module.is_builtin = false;
  tap_is_text(reached("mine/one", flat, 0, slots), "0+40", "what it declares");
  tap_is_text(reached("mine/two", flat, 0, slots), "0+4",
              "a product that is too large declares nothing");
  tap_is_text(reached("mine/one", "(OUT, float", 0, slots), "",
              "a signature that is cut short has no parameters");
  unlink(path);
}

int main(void)
{
  test_flat();
  test_strided();
  test_first_line();
  test_file();
  return tap_done();
}
