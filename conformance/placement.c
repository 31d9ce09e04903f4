/* Rules T1 to T5: where tensors are made, where operations run and what may be
 * mixed. */
#include "config.h"

#include <string.h>

#include "conformance/values.h"

enum { N = 1000 };

/* ---- T1, T5 ---- */

/* One of each factory; `device` may be none, or one without an ordinal. */
static void make_all(tn_device device, tn_device wanted, const char *how)
{
  const float data[2] = { 3, 4 };
  const struct { const char *name; tn_tensor *t; double sum; } made[] = {
    { "empty", tn_zero_(tn_empty(TN_SHAPE(2), .device = device)), 0 },
    { "zeros", tn_zeros(TN_SHAPE(2), .device = device), 0 },
    { "ones", tn_ones(TN_SHAPE(2), .device = device), 2 },
    { "full", tn_full(TN_SHAPE(2), 5, .device = device), 10 },
    { "arange", tn_arange(0, 3, 1, .device = device), 3 },
    { "eye", tn_eye(3, .device = device), 3 },
    { "from_data", tn_from_data(data, TN_SHAPE(2), .device = device), 7 },
    { "rand", tn_floor(tn_rand(TN_SHAPE(2), .device = device)), 0 },
    { "randn", tn_mul_scalar(tn_randn(TN_SHAPE(2), .device = device), 0), 0 },
  };
  for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
    conform_is_on(made[i].t, wanted, "%s %s", made[i].name, how);
    double sum = tn_item(tn_sum(made[i].t));
    conform_check(sum == made[i].sum, "%s %s: the sum of its elements is %g "
                  "in place of %g", made[i].name, how, sum, made[i].sum);
  }
}

static void run_default(void)
{
  tn_device current = tn_device_of(conform_backend), none = { 0, 0 };
  make_all(none, conform_device, "without a device");
  make_all(conform_device, conform_device, "on the device");
  tn_with_device(conform_device)
    make_all(current, conform_device, "on the current device");
}

static void run_current(void)
{
  tn_device second = conform_second(), none = { 0, 0 };
  tn_device current = tn_device_of(conform_backend);
  tn_with_device(second) {
    make_all(current, second, "on the other, current device");
    make_all(none, conform_device, "on the default device");
    make_all(conform_device, conform_device, "on the device that is named");
  }
}

static void check_like(tn_tensor *x)
{
  tn_device own = tn_device_of_tensor(x);
  tn_tensor *made[] = {
    tn_new_empty(x, TN_SHAPE(2)), tn_new_zeros(x, TN_SHAPE(2)),
    tn_new_ones(x, TN_SHAPE(2)), tn_new_full(x, TN_SHAPE(2), 3),
    tn_empty_like(x), tn_zeros_like(x), tn_ones_like(x),
    tn_full_like(x, 3), tn_rand_like(x, .dtype = TN_F32),
  };
  for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
    conform_is_on(made[i], own, "what is made like a tensor, %zu", i);
    conform_check(tn_dtype_of(made[i]) ==
                      (i == 8 ? TN_F32 : tn_dtype_of(x)),
                  "the dtype of what is made like a tensor, %zu", i);
    conform_check(tn_size(made[i], 0) == (i < 4 ? 2 : tn_size(x, 0)),
                  "its size, %zu", i);
  }
  conform_is_all(made[3], 3, "new_full");
  conform_is_all(made[7], 3, "full_like");
  conform_is_all(made[6], 1, "ones_like");
}

static void run_like(void)
{
  static const tn_dtype dtypes[] = { TN_F32, TN_I64, TN_I32, TN_U8 };
  for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
    check_like(tn_ones(TN_SHAPE(5), .dtype = dtypes[i],
                       .device = conform_device));
}

static void run_like_other(void)
{
  tn_tensor *x = tn_ones(TN_SHAPE(5), .dtype = TN_I32,
                         .device = conform_second());
  check_like(x);
  tn_with_device(conform_device) check_like(x);
}

/* ---- T2 ---- */

static void run_operands(void)
{
  tn_tensor *x = tn_ones(TN_SHAPE(2, 2), .device = conform_device);
  conform_ok(tn_set_default_device(conform_cpu()), "another default device");
  tn_tensor *y = tn_matmul(tn_add(x, x), tn_exp(tn_zeros_like(x)));
  conform_is_on(y, conform_device, "a product");
  conform_is_all(y, 4, "a product");
  conform_is_on(tn_clone(x), conform_device, "a clone");
  conform_is_on(tn_to(x, .dtype = TN_I64), conform_device, "a cast");
  conform_is_on(tn_cumsum(x, 0), conform_device, "a running sum");
  conform_is_on(tn_argmax(x), conform_device, "an index");
}

/* Turn and turn about: each device has memory, kernels and streams of its
 * own, whatever was used last in this thread. */
static void run_turns(void)
{
  tn_device second = conform_second();
  tn_tensor *x = conform_filled(N, 1);
  tn_tensor *y = tn_full(TN_SHAPE(N), 100, .device = second);
  for (int i = 0; i < 6; i++) {
    tn_with_device(i % 2 ? conform_device : second) {
      tn_add_scalar_(x, 1);
      tn_mul_(y, tn_full(TN_SHAPE(N), 2, .device = second));
    }
    tn_tensor *sum = tn_sum(tn_softmax(x, 0)), *other = tn_sum(y);
    conform_is_on(sum, conform_device, "a sum on the device");
    conform_is_on(other, second, "a sum on the other device");
  }
  conform_is_all(x, 7, "six additions on the device");
  conform_is_all(y, 6400, "six doublings on the other device");
}

/* ---- T3 ---- */

static void run_scalars(void)
{
  tn_tensor *x = conform_filled(N, 1), *grad = NULL;
  tn_tensor *half = tn_full(TN_SCALAR, 0.5, .device = conform_cpu());
  tn_tensor *y = tn_add(x, half), *z = tn_mul(half, x);
  conform_is_on(y, conform_device, "a tensor plus one of cpu without "
                "dimensions");
  conform_is_all(y, 1.5, "that sum");
  conform_is_on(z, conform_device, "the other way round");
  conform_is_all(z, 0.5, "that product");
  tn_requires_grad_(half, true);
  tn_tensor *loss = tn_sum(tn_mul(x, half));
  conform_ok(tn_grad_of(&loss, 1, &half, 1, &grad), "a backward pass");
  conform_is_on(grad, conform_cpu(), "its gradient");
  conform_is_all(grad, N, "its gradient");
}

static void run_strangers(void)
{
  tn_device other = conform_other();
  tn_tensor *x = tn_ones(TN_SHAPE(2, 2), .device = conform_device);
  tn_tensor *y = tn_ones(TN_SHAPE(2, 2), .device = other);
  char name[TN_DEVICE_TEXT_SIZE];
  tn_device_format(other, name, sizeof name);
  tn_clear_error();
  conform_refused(tn_add(x, y), TN_DEVICE_MISMATCH, "a sum of tensors of two "
                  "devices");
  conform_error_has(conform_text, "the error names the device");
  conform_error_has(name, "the error names the other device");
  conform_refused(tn_matmul(y, x), TN_DEVICE_MISMATCH, "a product");
  conform_refused(tn_where(tn_eq(x, x), x, y), TN_DEVICE_MISMATCH,
                  "a choice");
  conform_refused(tn_cat((tn_tensor *[]){ x, y }, 2, 0), TN_DEVICE_MISMATCH,
                  "a concatenation");
  conform_refused(tn_add_(x, y), TN_DEVICE_MISMATCH, "a sum in place");
  conform_is_all(x, 1, "what was refused changes nothing");
  conform_is_all(tn_copy_(y, tn_mul_scalar(x, 4)), 4, "copies are made");
  conform_is_all(tn_copy_(x, y), 4, "in both directions");
}

/* Each device's queue has work that the other must wait for. Kernels that run
 * in the backend's place reach one device. */
static void run_peers(void)
{
  tn_device second = conform_second();
  if (conform_kernels_wait()) conform_absent("launch");
  tn_tensor *x = conform_filled(N, 1);
  tn_tensor *y = tn_full(TN_SHAPE(N), 1, .device = second);
  if (!tn_can_access_peer(conform_device, second))
    conform_absent("copy.peer_query that says yes");
  conform_ok(tn_enable_peer_access(conform_device, second), "peer access");
  conform_ok(tn_synchronize(conform_device), "synchronising");
  conform_ok(tn_synchronize(second), "synchronising");
  tn_stream *own = conform_stream_new(conform_device, 0);
  tn_stream *others = conform_stream_new(second, 0);
  tn_with_stream(own) tn_with_stream(others) {
    tn_record_stream(x, own);
    tn_record_stream(y, others);
    tn_add(x, y);
    conform_ok(tn_synchronize(conform_device), "synchronising");
    conform_delay delay = conform_delay_begin(others);
    for (int i = 0; i < 5; i++) tn_add_scalar_(y, 1);
    tn_tensor *sum = tn_add(x, y);
    tn_zero_(y);
    conform_delay_end(&delay);
    conform_is_on(sum, conform_device, "a sum of peers");
    conform_is_all(sum, 7, "a sum of peers");
    conform_is_all(y, 0, "what was zeroed behind it");
  }
  tn_clear_error();
  conform_refused(tn_add(y, x), TN_DEVICE_MISMATCH, "the other way round");
  tn_synchronize(conform_device);
  tn_disable_peer_access(conform_device, second);
}

/* ---- T4 ---- */

static void run_same(void)
{
  tn_tensor *x = conform_ramp(TN_SHAPE(4, 5));
  tn_tensor *same = tn_to(x, .device = conform_device, .dtype = TN_F32);
  tn_tensor *forced = tn_to(x, .device = conform_device, .copy = true);
  conform_check(same == x, "`to` without a change gives the tensor itself");
  conform_check(forced && tn_data_ptr(forced) != tn_data_ptr(x),
                "a copy that is asked for is one");
  conform_alike(forced, x, "a copy that is asked for");
  tn_tensor *whole = tn_to(x, .dtype = TN_I32);
  conform_check(whole && tn_dtype_of(whole) == TN_I32, "a cast");
  conform_alike(tn_to(whole, .dtype = TN_F32), x, "a cast and back");
}

/* Whatever the strides are, what arrives is what was sent. */
static void run_moved(void)
{
  tn_device other = conform_other();
  for (int i = 0; i < 6; i++) {
    int64_t rows = 1 + conform_random(40), columns = 2 + conform_random(40);
    tn_tensor *x = conform_ramp(TN_SHAPE(rows, columns));
    tn_tensor *views[] = {
      x, tn_transpose(x, 0, 1), tn_slice(x, 1, 1, TN_END, 2),
      tn_expand(tn_select(x, 0, rows - 1), TN_SHAPE(3, columns)),
    };
    for (int k = 0; k < 4; k++) {
      tn_tensor *there = tn_to(views[k], .device = other);
      conform_is_on(there, other, "a tensor that was moved");
      tn_tensor *back = tn_to(there, .device = conform_device);
      conform_alike(back, tn_contiguous(views[k]), "view %d of %lld x %lld, "
                    "there and back", k, (long long)rows,
                    (long long)columns);
    }
  }
}

/* A move comes after all that its stream was given before. */
static void run_moved_busy(void)
{
  enum { MANY = 50000 };
  tn_device other = conform_other();
  tn_stream *stream = conform_stream_new(conform_device, 0);
  tn_with_stream(stream) {
    tn_tensor *x = conform_filled(MANY, 0);
    for (int i = 0; i < 30; i++) tn_add_scalar_(x, 1);
    tn_tensor *there = tn_to(x, .device = other, .non_blocking = true);
    tn_fill_(x, -1);
    conform_ok(tn_synchronize(conform_device), "synchronising");
    conform_ok(tn_synchronize(other), "synchronising");
    conform_is_all(tn_slice(there, 0, 0, 5000, 1), 30,
                   "a tensor that was moved from a busy stream");
    conform_is_all(tn_slice(x, 0, 0, 5000, 1), -1, "it was filled behind");
  }
}

#define V CONFORM_TENSOR_BIT
#define TWO CONFORM_TWO_BIT
static const conform_test tests[] = {
  { "T1", "default", CONFORM_FULL, V, false,
    "factories make tensors on the default or current device", run_default },
  { "T1", "current", CONFORM_FULL, V | TWO, false,
    "whichever is the current one", run_current },
  { "T2", "operands", CONFORM_FULL, V, false,
    "operations run where their operands are", run_operands },
  { "T2", "turns", CONFORM_FULL, V | TWO, false,
    "on two devices in turn", run_turns },
  { "T3", "scalars", CONFORM_FULL, V, false,
    "tensors of cpu without dimensions combine with any device",
    run_scalars },
  { "T3", "strangers", CONFORM_FULL, V | CONFORM_COPY_BIT, false,
    "other tensors of two devices are refused, except for copies",
    run_strangers },
  { "T3", "peers", CONFORM_FULL, V | TWO, false,
    "except those of peers, which wait for each other", run_peers },
  { "T4", "same", CONFORM_FULL, V, false,
    "`to` copies only what changes, or when asked", run_same },
  { "T4", "moved", CONFORM_FULL, V | CONFORM_COPY_BIT, false,
    "tensors of any strides arrive", run_moved },
  { "T4", "moved_busy", CONFORM_FULL, V | CONFORM_COPY_BIT, false,
    "after what was queued before", run_moved_busy },
  { "T5", "like", CONFORM_FULL, V, false,
    "what is made like a tensor is of its device and dtype", run_like },
  { "T5", "like_other", CONFORM_FULL, V | TWO, false,
    "whatever the current device is", run_like_other },
};
CONFORM_SECTION(conform_placement, tests);
