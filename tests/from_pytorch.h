/* What the program made of docs/from-pytorch.md needs: shows the result of
 * each row as "N DTYPE [SHAPE] NUMBERS", "N true", or "N failed: WHY". */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <tenon/tenon.h>

static void show_numbers(tn_tensor *t)
{
  double numbers[256];
  tn_tensor *wide = tn_to(t, .dtype = TN_F64);
  if (tn_read(wide, numbers, (size_t)tn_numel(wide) * sizeof *numbers))
    printf(" failed: %s", tn_error_message());
  else
    for (int64_t i = 0; i < tn_numel(wide); i++) printf(" %.17g", numbers[i]);
}

static void show_tensor(int number, tn_tensor *t)
{
  if (!t) {
    printf("%d failed: %s\n", number, tn_error_message());
    return;
  }
  printf("%d %s [", number, tn_dtype_name(tn_dtype_of(t)));
  for (int i = 0; i < tn_ndim(t); i++)
    printf("%s%" PRId64, i ? "," : "", tn_size(t, i));
  printf("]");
  show_numbers(t);
  printf("\n");
}

static void show_truth(int number, int is_true)
{
  if (is_true) printf("%d true\n", number);
  else printf("%d failed: not so; %s\n", number, tn_error_message());
}

#define SHOW(number, ...)                                                  \
  _Generic((__VA_ARGS__), tn_tensor *: show_tensor, int: show_truth,       \
           bool: show_truth)(number, __VA_ARGS__)
#define RUN(row)                                                           \
  do {                                                                     \
    tn_clear_error();                                                      \
    tn_with_scope { row(); }                                               \
    fflush(stdout);                                                        \
  } while (0)
