/* Changes in place: version counters shared by views, history that follows,
 * what is refused (rules B4, T7, R24, R54). */
#include "config.h"

#include "tests/test_device.h"

#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

static tn_device device;

static tn_tensor *leaf3(float a, float b, float c)
{
  float values[] = { a, b, c };
  return tn_requires_grad_(tn_from_data(values, TN_SHAPE(3),
                                        .device = device), true);
}

static const char *text_of(tn_tensor *t)
{
  static char line[200];
  float values[16];
  size_t used = 0;
  line[0] = '\0';
  if (!t) return "NULL";
  if (tn_numel(t) > 16 ||
      tn_read(t, values, (size_t)tn_numel(t) * sizeof *values) != TN_OK)
    return "unreadable";
  for (int64_t i = 0; i < tn_numel(t); i++)
    used += (size_t)snprintf(line + used, sizeof line - used, "%s%g",
                             i ? " " : "", (double)values[i]);
  return line;
}

/* ---- counters ---- */

static void test_counters(void)
{
  tn_tensor *t = tn_zeros(TN_SHAPE(2, 3), .device = device);
  tn_tensor *view = tn_select(t, 0, 1), *other = tn_view(t, TN_SHAPE(6));
  tn_tensor *detached = tn_detach(t), *copy = tn_clone(t);
  uint64_t before = tn_tensor_version(t);
  tn_add_scalar_(view, 1);
  tap_is_int((long long)(tn_tensor_version(t) - before), 1,
             "R54 a change of a view counts for its base");
  tn_fill_(t, 2);
  tap_is_int((long long)(tn_tensor_version(view) - before), 2,
             "R54 and a change of the base for its views");
  tn_mul_scalar_(detached, 2);
  tap_is_int((long long)(tn_tensor_version(other) - before), 3,
             "R54 detach shares the counter");
  tap_is_int((long long)tn_tensor_version(copy), 0, "R54 a copy does not");
  tn_no_grad tn_zero_(other);
  tap_is_int((long long)(tn_tensor_version(t) - before), 4,
             "R54 changes under no_grad count");
  tn_add(t, t);
  tap_is_int((long long)(tn_tensor_version(t) - before), 4,
             "R54 reading does not");
}

/* ---- saved values ---- */

static void spoil_self(tn_tensor *saved) { tn_add_scalar_(saved, 1); }
static void spoil_view(tn_tensor *saved)
{
  tn_zero_(tn_slice(saved, 0, 0, 1, 1));
}
static void spoil_detached(tn_tensor *saved) { tn_zero_(tn_detach(saved)); }
static void spoil_quietly(tn_tensor *saved) { tn_no_grad tn_zero_(saved); }
static void spoil_copy(tn_tensor *saved)
{
  tn_copy_(saved, tn_ones(TN_SHAPE(3), .device = device));
}

static void spoiled(void (*spoil)(tn_tensor *), const char *text)
{
  tn_with_scope {
    tn_tensor *x = leaf3(1, 2, 3), *saved = tn_mul_scalar(x, 2);
    tn_tensor *loss = tn_sum(tn_mul(saved, saved));
    spoil(saved);
    tn_clear_error();
    tn_status status = tn_backward(loss);
    tap_ok(status == TN_MODIFIED_IN_PLACE &&
           strstr(tn_error_message(), "backward of mul: a tensor of shape [3] "
                  "that it saved was changed in place"),
           "B4 %s: %s", text, tn_error_message());
    tap_ok(!tn_grad(x), "B4 and no wrong gradient is given");
  }
}

static void test_saved(void)
{
  spoiled(spoil_self, "a saved value is changed");
  spoiled(spoil_view, "through a view");
  spoiled(spoil_detached, "through detach");
  spoiled(spoil_quietly, "under no_grad");
  spoiled(spoil_copy, "by copy_");
}

/* What nobody saved may change. */
static void test_not_saved(void)
{
  tn_tensor *x = leaf3(1, 2, 3), *y = tn_mul_scalar(x, 2);
  tn_tensor *z = tn_add(y, x);
  tn_mul_scalar_(y, 3);
  tap_ok(tn_backward(tn_sum(tn_add(z, y))) == TN_OK,
         "B4 a value that nobody saved may change");
  tap_is_text(text_of(tn_grad(x)), "9 9 9", "B4 and the gradient is right");
}

/* exp saves its result: the counter is that after the operation. */
static void test_saved_result(void)
{
  tn_tensor *x = leaf3(0, 0, 0), *y = tn_exp_(tn_mul_scalar(x, 1));
  tap_ok(tn_backward_with(tn_sum(y), NULL, .retain_graph = true) == TN_OK,
         "B4 an operation in place may save its result");
  tap_is_text(text_of(tn_grad(x)), "1 1 1", "B4 and is right");
  tn_add_scalar_(y, 1);
  tap_ok(tn_backward(tn_sum(y)) == TN_MODIFIED_IN_PLACE &&
         strstr(tn_error_message(), "backward of exp"),
         "B4 which then must not change: %s", tn_error_message());
  tn_clear_error();
}

/* ---- history ---- */

static void test_history(void)
{
  tn_tensor *x = leaf3(1, 2, 3);
  tn_tensor *base = tn_zeros(TN_SHAPE(2, 3), .device = device);
  tn_tensor *row = tn_select(base, 0, 0), *other = tn_select(base, 0, 1);
  tap_ok(!tn_requires_grad(base) && !tn_requires_grad(row),
         "B4 a constant and its view");
  tn_add_(row, x);
  tap_ok(tn_requires_grad(base) && !tn_is_leaf(base),
         "B4 a view is changed: the base requires a gradient");
  tap_is_text(tn_grad_fn_name(base), "copy_slices", "B4 and knows why");
  tap_ok(tn_requires_grad(row) && tn_requires_grad(other),
         "B4 and so do all views");
  tap_is_text(tn_grad_fn_name(other), "as_strided", "B4 by their place");
  tn_backward_with(tn_sum(tn_mul_scalar(other, 5)), NULL,
                   .retain_graph = true);
  tap_is_text(text_of(tn_grad(x)), "0 0 0",
              "B4 what is beside the change has gradient 0");
  tn_set_grad(x, NULL);
  tn_backward(tn_sum(tn_mul_scalar(row, 5)));
  tap_is_text(text_of(tn_grad(x)), "5 5 5", "B4 and what is in it has some");
}

static void test_overwritten(void)
{
  tn_tensor *x = leaf3(1, 2, 3), *y = tn_mul_scalar(x, 2);
  tn_zero_(y);
  tn_tensor *z = tn_add(y, x);
  tn_backward(tn_sum(z));
  tap_is_text(text_of(tn_grad(x)), "1 1 1",
              "B4 what was overwritten has no influence");
  y = tn_mul_scalar(x, 2);
  tn_uniform_(y, 0, 1, NULL);
  tn_set_grad(x, NULL);
  tn_backward(tn_sum(tn_add(y, x)));
  tap_is_text(text_of(tn_grad(x)), "1 1 1",
              "B4 by random numbers neither");
}

/* Under no_grad the history stays. */
static void test_quiet_change(void)
{
  tn_tensor *x = leaf3(1, 2, 3), *part = tn_slice(x, 0, 0, 2, 1);
  tn_no_grad tn_mul_scalar_(x, 10);
  tap_ok(tn_is_leaf(x) && tn_requires_grad(x), "B4 a leaf stays a leaf");
  tn_backward(tn_sum(part));
  tap_is_text(text_of(tn_grad(x)), "1 1 0",
              "B4 and a view made before is still its view");
  tn_no_grad part = tn_slice(x, 0, 0, 2, 1);
  tap_ok(!tn_requires_grad(part), "B4 a view made under no_grad needs none");
  tn_no_grad tn_fill_(part, 4);
  tap_is_text(text_of(x), "4 4 30", "B4 but is the same memory");
}

/* No cycles: everything goes when the last reference does. */
static void test_cycles(void)
{
  size_t before = tn_memory_allocated(device);
  tn_with_scope {
    tn_tensor *w = leaf3(1, 2, 3);
    tn_tensor *y = tn_zeros(TN_SHAPE(3), .device = device);
    for (int i = 0; i < 5; i++) tn_add_(y, tn_mul(y, w));
    tn_tensor *base = tn_zeros(TN_SHAPE(2, 3), .device = device);
    tn_tensor *row = tn_select(base, 0, 1);
    for (int i = 0; i < 5; i++) {
      tn_add_(row, tn_mul(row, w));
      tn_add_(base, tn_exp(row));
    }
  }
  tap_ok(tn_memory_allocated(device) == before,
         "B4 values saved and changed by their own results are freed");
}

/* ---- refusals ---- */

static void refused(tn_tensor *result, tn_status status, const char *part,
                    const char *text)
{
  tap_ok(!result && tn_last_status() == status &&
         strstr(tn_error_message(), part), "%s: %s", text,
         tn_error_message());
  tn_clear_error();
}

static void test_refusals(void)
{
  tn_tensor *x = leaf3(1, 2, 3);
  refused(tn_add_scalar_(x, 1), TN_INVALID_ARGUMENT, "a leaf that requires",
          "B4 a leaf");
  refused(tn_zero_(tn_slice(x, 0, 0, 1, 1)), TN_INVALID_ARGUMENT,
          "a view of a leaf", "B4 a view of a leaf");
  tap_is_text(text_of(x), "1 2 3", "B4 and nothing changed");
  tn_tensor *wide = tn_expand(tn_full(TN_SHAPE(1), 0.7854, .device = device),
                              TN_SHAPE(3));
  refused(tn_cos_(wide), TN_OVERLAP, "shape [3] share memory",
          "R24 expanded memory");
  refused(tn_add_(wide, x), TN_OVERLAP, "share memory", "R24 by add_");
  refused(tn_copy_(wide, x), TN_OVERLAP, "share memory", "R67 by copy_");
  tap_is_text(text_of(tn_select(wide, 0, 0)), "0.7854",
              "R24 and nothing changed");
  refused(tn_add_(tn_mul_scalar(tn_detach(x), 1),
                  tn_ones(TN_SHAPE(2, 3), .device = device)),
          TN_SHAPE_MISMATCH, "[2, 3]", "T7 a shape that does not fit into it");
}

int main(void)
{
  device = test_device();
  tn_with_scope test_counters();
  test_saved();
  tn_with_scope test_not_saved();
  tn_with_scope test_saved_result();
  tn_with_scope test_history();
  tn_with_scope test_overwritten();
  tn_with_scope test_quiet_change();
  test_cycles();
  tn_with_scope test_refusals();
  return tap_done();
}
