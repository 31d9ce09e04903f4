#include "config.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "tests/opencl/rig.h"
#include "tests/tap.h"

static uint64_t slot_of(const void *value, size_t size)
{
  uint64_t slot = 0x5555555555555555u; /* what lies above is not looked at */
  memcpy(&slot, value, size);
  return slot;
}

#define SLOT(type, value) slot_of(&(type){ value }, sizeof(type))

static void test_values(void)
{
  tn_backend_module *module = rig_module(
      TN_MODULE_PORTABLE, "values",
      "TN_KERNEL(values, TN_OUT(int64, y), TN_VAL(int8, a), TN_VAL(uint8, b),"
      "  TN_VAL(int16, c), TN_VAL(uint16, d), TN_VAL(int32, e),"
      "  TN_VAL(uint32, f), TN_VAL(int64, g), TN_VAL(uint64, h),"
      "  TN_VAL(float, s)) { TN_TASKS(i, 1) {"
      "  y[0] = a; y[1] = b; y[2] = c; y[3] = d; y[4] = e; y[5] = f;"
      "  y[6] = g; y[7] = (int64)h; y[8] = (int64)(s * 4); } }");
  tn_address memory = rig_alloc(TN_MEMORY_DEVICE, 72);
  uint64_t slots[] = {
    memory, SLOT(int8_t, -100), SLOT(uint8_t, 200), SLOT(int16_t, -30000),
    SLOT(uint16_t, 60000), SLOT(int32_t, -2000000000),
    SLOT(uint32_t, 4000000000u), SLOT(int64_t, -9000000000000000000),
    SLOT(uint64_t, 9000000000000000000u), SLOT(float, -2.75f),
  };
  const int64_t wanted[9] = { -100, 200, -30000, 60000, -2000000000,
                              4000000000, -9000000000000000000,
                              9000000000000000000, -11 };
  int64_t got[9] = { 0 };
  rig_launch(rig_kernel(module, "values"), 1, slots);
  rig_read(got, memory, sizeof got);
  for (int i = 0; i < 9; i++)
    tap_is_int(got[i], wanted[i], "value parameter %d arrives", i + 1);
  rig_free(TN_MEMORY_DEVICE, memory);
  api->launch->module_unload(module);
}

/* The bound in the kernel decides, not the number asked for. */
static void test_items(tn_backend_kernel *count_up, tn_address memory)
{
  static const int64_t items[] = { 1, 63, 64, 65, 1000, 100000 };
  bool is_good = true;
  for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
    uint32_t back[1200];
    tn_fill_desc fill = { sizeof fill, 0, 4, memory, 1200, 0, 0 };
    api->copy->fill(stream, device, &fill);
    uint64_t slots[] = { memory, 1000 };
    is_good &= rig_launch(count_up, items[i], slots) == TN_OK;
    rig_read(back, memory, sizeof back);
    for (int j = 0; j < 1200; j++) is_good &= back[j] == (j < 1000);
  }
  tap_ok(is_good, "any number of items runs each element once");
}

static tn_status launch_groups(tn_backend_kernel *kernel, int64_t groups,
                               uint32_t size, const uint64_t *slots)
{
  tn_backend_launch_desc desc = {
    .struct_size = sizeof desc, .groups = { groups, 1, 1 },
    .group_size = { size, size ? 1 : 0, size ? 1 : 0 }, .tag = 7,
  };
  return api->launch->launch(stream, kernel, &desc, slots);
}

static void test_groups(void)
{
  tn_backend_module *module = rig_module(
      TN_MODULE_PORTABLE, "rows",
      "TN_KERNEL(rows, TN_OUT(float, y), TN_IN(float, x), TN_VAL(int64, m),"
      "          TN_VAL(int64, n)) {"
      "  TN_SHARED(float, part, 64);"
      "  TN_GROUPS(g, m) {"
      "    TN_ITEMS(t, 64) part[t] = 0;"
      "    TN_LANES(l, 64, i, n, part[l] += x[g * n + i]);"
      "    TN_TREE(part, 64, +);"
      "    TN_ITEMS(t, 1) y[g] = part[0]; } }");
  tn_backend_kernel *rows = rig_kernel(module, "rows");
  enum { M = 7, N = 300 };
  float x[M * N], y[M];
  for (int i = 0; i < M * N; i++) x[i] = (float)(i % 50);
  tn_address in = rig_alloc(TN_MEMORY_DEVICE, sizeof x);
  tn_address out = rig_alloc(TN_MEMORY_DEVICE, sizeof y);
  rig_write(in, x, sizeof x);
  uint64_t slots[] = { out, in, M, N };
  static const struct {
    int64_t groups;
    uint32_t size;
  } shapes[] = { { M, 0 }, { 1, 0 }, { 100, 0 }, { M, 1 }, { 3, 48 },
                 { M, 128 } };
  for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
    bool is_good = launch_groups(rows, shapes[k].groups, shapes[k].size,
                                 slots) == TN_OK;
    rig_read(y, out, sizeof y);
    for (int g = 0; g < M; g++) {
      float sum = 0; /* of small whole numbers: exact in any order */
      for (int i = 0; i < N; i++) sum += x[g * N + i];
      is_good &= y[g] == sum;
    }
    tap_ok(is_good, "row sums by %d groups of %u threads",
           (int)shapes[k].groups, shapes[k].size);
  }
  tap_is_int(launch_groups(rows, M, info.max_group_size * 2, slots),
             TN_INVALID_ARGUMENT, "a group that is too large is refused");
  tap_has(last_error, "threads on", "naming what the device has");
  rig_free(TN_MEMORY_DEVICE, in);
  rig_free(TN_MEMORY_DEVICE, out);
  api->launch->module_unload(module);
}

static void test_refusals(tn_backend_kernel *count_up, tn_address memory)
{
  uint64_t slots[] = { memory, 10 };
  tn_backend_launch_desc desc = { .struct_size = sizeof desc, .items = 10,
                                  .flags = 2 };
  tap_is_int(api->launch->launch(stream, count_up, &desc, slots),
             TN_INVALID_ARGUMENT, "unknown launch flags are refused");
  desc.flags = 0;
  desc.shared_bytes = 64;
  tap_is_int(api->launch->launch(stream, count_up, &desc, slots),
             TN_UNSUPPORTED, "X3 shared memory sized at launch is refused");
  tap_has(last_error, "count_up", "X3 naming the kernel");
  if (has_svm) return;
  slots[0] = 0x1000;
  tap_is_int(rig_launch(count_up, 10, slots), TN_INVALID_ARGUMENT,
             "an address that is no memory of the device is refused");
  tap_has(last_error, "argument 1", "naming the argument");
  slots[0] = memory + 4;
  tap_is_int(rig_launch(count_up, 10, slots), TN_UNSUPPORTED,
             "an address within memory where no sub-buffer can begin is, too");
  tap_has(last_error, "multiples of", "naming what is accepted");
  slots[0] = memory;
  tap_is_int(rig_launch(count_up, 10, slots), TN_OK,
             "and the kernel works as before");
}

/* Addresses inside of memory, and memory that got a freed one's address. */
static void test_addresses(tn_backend_kernel *count_up)
{
  bool is_good = true;
  for (int turn = 0; turn < 30; turn++) {
    uint32_t back[512];
    tn_address memory = rig_alloc(TN_MEMORY_DEVICE, sizeof back);
    tn_fill_desc fill = { sizeof fill, 0, 4, memory, 512, 0, 0 };
    api->copy->fill(stream, device, &fill);
    uint64_t step = has_svm ? 4 : 256;
    uint64_t slots[] = { memory + step * (uint64_t)(turn % 3), 100 };
    is_good &= rig_launch(count_up, 100, slots) == TN_OK;
    is_good &= rig_read(back, memory, sizeof back) == TN_OK;
    int first = (int)(step / 4) * (turn % 3);
    for (int i = 0; i < 512; i++)
      is_good &= back[i] == (i >= first && i < first + 100);
    rig_free(TN_MEMORY_DEVICE, memory);
  }
  tap_ok(is_good, "kernels work at addresses inside of memory");
  uint64_t none[] = { 0, 0 };
  tap_is_int(rig_launch(count_up, 1, none), TN_OK,
             "address 0 may be passed to a kernel that does not use it");
  rig_wait(stream);
}

typedef struct worker {
  pthread_t thread;
  tn_backend_kernel *kernel;
  bool is_good;
} worker;

/* Launches on a stream and memory of its own. */
static void *run_worker(void *argument)
{
  worker *self = argument;
  uint32_t back[100];
  tn_backend_stream *own = rig_stream(device);
  tn_address memory = rig_alloc(TN_MEMORY_DEVICE, sizeof back);
  tn_fill_desc fill = { sizeof fill, 0, 4, memory, 100, 0, 0 };
  self->is_good = api->copy->fill(own, device, &fill) == TN_OK;
  uint64_t slots[] = { memory, 100 };
  tn_backend_launch_desc desc = { .struct_size = sizeof desc, .items = 100 };
  for (int i = 0; i < 200; i++)
    self->is_good &=
        api->launch->launch(own, self->kernel, &desc, slots) == TN_OK;
  tn_copy_desc read = rig_copy_desc(NULL, (uintptr_t)back, device, memory,
                                    sizeof back);
  self->is_good &= api->copy->copy(own, device, &read) == TN_OK;
  for (int i = 0; i < 100; i++) self->is_good &= back[i] == 200;
  rig_free(TN_MEMORY_DEVICE, memory);
  api->stream->destroy(own);
  return NULL;
}

static void test_threads(tn_backend_kernel *count_up)
{
  worker workers[4];
  bool is_good = true;
  for (int i = 0; i < 4; i++) {
    workers[i].kernel = count_up;
    pthread_create(&workers[i].thread, NULL, run_worker, workers + i);
  }
  for (int i = 0; i < 4; i++) {
    pthread_join(workers[i].thread, NULL);
    is_good &= workers[i].is_good;
  }
  tap_ok(is_good, "four threads launch one kernel, each its own arguments");
}

/* Products and sums that one rounding would change, a quotient that a
 * reciprocal would, and a denormal. */
static void test_numbers(void)
{
  tn_backend_module *module = rig_module(
      TN_MODULE_PORTABLE, "numbers",
      "TN_KERNEL(numbers, TN_OUT(float, y), TN_IN(float, x))"
      "{ TN_TASKS(i, 1) { y[0] = x[0] * x[1] + x[2]; y[1] = x[3] / x[4];"
      "  y[2] = tn_fma(x[0], x[1], x[2]); y[3] = x[5] * x[6]; } }");
  float one = 1 + 0x1p-12f, product = one * one;
  const float x[7] = { one, one, -product, 5, 49, 0x1p-100f, 0x1p-45f };
  float y[4] = { 9, 9, 9, 9 };
  tn_address in = rig_alloc(TN_MEMORY_DEVICE, sizeof x);
  tn_address out = rig_alloc(TN_MEMORY_DEVICE, sizeof y);
  rig_write(in, x, sizeof x);
  uint64_t slots[] = { out, in };
  rig_launch(rig_kernel(module, "numbers"), 1, slots);
  rig_read(y, out, sizeof y);
  tap_ok(y[0] == 0, "N1 a * b + c rounds twice");
  tap_ok(y[1] == 5.0f / 49.0f, "N1 division is correctly rounded");
  tap_ok(y[2] == 0x1p-24f, "N1 tn_fma rounds once");
  tap_ok(y[3] == 0x1p-145f, "N1 denormals are kept");
  rig_free(TN_MEMORY_DEVICE, in);
  rig_free(TN_MEMORY_DEVICE, out);
  api->launch->module_unload(module);
}

void test_launches(void)
{
  tn_backend_module *module = rig_module(
      TN_MODULE_PORTABLE, "count",
      "TN_KERNEL(count_up, TN_OUT(uint32, y), TN_VAL(int64, n))"
      "{ TN_PARALLEL_FOR(i, n) y[i] += 1; }");
  tn_backend_kernel *count_up = rig_kernel(module, "count_up");
  tn_address memory = rig_alloc(TN_MEMORY_DEVICE, 4800);
  if (!tap_ok(count_up && memory, "a kernel and memory for it")) return;
  test_values();
  test_items(count_up, memory);
  test_groups();
  test_refusals(count_up, memory);
  test_addresses(count_up);
  test_threads(count_up);
  if (!info.not_reproducible[0]) test_numbers();
  rig_free(TN_MEMORY_DEVICE, memory);
  api->launch->module_unload(module);
}
