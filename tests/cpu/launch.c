/* Launches of the cpu backend: every item once, the same bits whatever the
 * number of threads, the level and the program's rounding. */
#include <fenv.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cpu/host.h"
#include "tests/tap.h"

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

#define COUNT 1500000

static const char source[] =
  "TN_KERNEL(count, TN_OUT(int32, hits), TN_VAL(int64, n))\n"
  "{ TN_PARALLEL_FOR(i, n) TN_ATOMIC_ADD(&hits[i], 1); }\n"
  "TN_KERNEL(third, TN_OUT(float, y), TN_VAL(float, x), TN_VAL(float, z))\n"
  "{ TN_TASKS(i, 1) { y[0] = x / 3.0f; y[1] = z * 0.5f; } }\n";

static tn_backend_device *device;
static tn_backend_stream *inline_stream, *stream;
static tn_backend_module *module;

static bool all_are(const int32_t *hits, int64_t n, int32_t wanted)
{
  for (int64_t i = 0; i < n; i++)
    if (hits[i] != wanted) return false;
  return true;
}

/* Every element below n once and none above, whatever was launched. */
static void test_cover(void)
{
  static const int64_t items[] = { 1, 2, 63, 1000, COUNT, 10 * (int64_t)COUNT,
                                   INT64_MAX };
  tn_backend_kernel *count = plugin_kernel(module, "count");
  int32_t *hits = plugin_alloc(device, (COUNT + 1) * sizeof *hits);
  for (size_t i = 0; i < sizeof items / sizeof *items; i++)
    for (int queued = 0; queued < 2; queued++) {
      uint64_t slots[] = { PLUGIN_POINTER(hits), COUNT };
      memset(hits, 0, (COUNT + 1) * sizeof *hits);
      tn_backend_stream *on = queued ? stream : inline_stream;
      tn_status status = TN_OK;
      for (int turn = 0; turn < 3 && !status; turn++)
        status = plugin_launch(on, count, items[i], slots);
      plugin_synchronize(device, on);
      tap_ok(!status && all_are(hits, COUNT, 3) && hits[COUNT] == 0,
             "S1: %lld items over %d elements, %s", (long long)items[i],
             COUNT, queued ? "queued" : "inline");
    }
  plugin_free(device, hits, (COUNT + 1) * sizeof *hits);
}

/* --- the same bits --- */

static float *random_floats(void)
{
  float *values = malloc(COUNT * sizeof *values);
  uint64_t seed = 42;
  for (int i = 0; i < COUNT; i++) {
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    uint32_t bits = (uint32_t)(seed >> 32);
    memcpy(&values[i], &bits, sizeof bits);
    if (values[i] != values[i]) values[i] = 1e-41f;
  }
  return values;
}

/* b / (a + b) in a fresh load of the plugin, as the environment says. */
static void quotients(const float *values, float *result)
{
  plugin_load();
  tn_backend_device *fresh = plugin_device();
  tn_backend_stream *on = plugin_stream(fresh, TN_STREAM_DEFAULT, 0);
  tn_backend_module *family = plugin_module(fresh, "elementwise", NULL);
  tn_backend_kernel *add = plugin_kernel(family, "add_f32");
  tn_backend_kernel *divide = plugin_kernel(family, "div_f32");
  const int64_t n = COUNT / 2;
  uint64_t sum[] = { PLUGIN_POINTER(result), PLUGIN_POINTER(values),
                     PLUGIN_POINTER(values + n), (uint64_t)n };
  uint64_t ratio[] = { PLUGIN_POINTER(result), PLUGIN_POINTER(values + n),
                       PLUGIN_POINTER(result), (uint64_t)n };
  tap_ok(add && divide && !plugin_launch(on, add, n, sum) &&
           !plugin_launch(on, divide, n, ratio),
         "built-in kernels run");
  plugin->launch->module_unload(family);
  plugin->stream->destroy(on);
  plugin->device->close(fresh);
  plugin_unload();
}

static void check_same(const char *name, const char *value,
                       const float *values, const float *wanted)
{
  float *result = malloc(COUNT / 2 * sizeof *result);
  setenv(name, value, 1);
  quotients(values, result);
  unsetenv(name);
  int differ = 0;
  for (int i = 0; i < COUNT / 2; i++)
    differ += memcmp(&result[i], &wanted[i], sizeof *result) != 0 &&
              !(result[i] != result[i] && wanted[i] != wanted[i]);
  tap_is_int(differ, 0, "N1: the same bits with %s=%s", name, value);
  free(result);
}

static bool level_exists(const char *level)
{
  setenv("TENON_CPU_ISA", level, 1);
  plugin_load();
  int devices = 0;
  tn_status status = plugin->device->count(plugin->self, &devices);
  plugin_unload();
  unsetenv("TENON_CPU_ISA");
  return !status;
}

static void test_bits(void)
{
  static const char *const levels[] = { "baseline", "v3", "v4" };
  static const char *const threads[] = { "1", "2", "3", "8" };
  float *values = random_floats();
  float *wanted = malloc(COUNT / 2 * sizeof *wanted);
  for (int i = 0; i < COUNT / 2; i++) {
    volatile float sum = values[i] + values[COUNT / 2 + i];
    wanted[i] = values[COUNT / 2 + i] / sum;
  }
  for (int i = 0; i < 3; i++)
    if (level_exists(levels[i]))
      check_same("TENON_CPU_ISA", levels[i], values, wanted);
    else
      tap_skip("this processor has no level %s", levels[i]);
  for (int i = 0; i < 4; i++)
    check_same("TENON_NUM_THREADS", threads[i], values, wanted);
  free(values);
  free(wanted);
}

/* --- the program's control word --- */

static void check_third(const char *mode)
{
  tn_backend_kernel *third = plugin_kernel(module, "third");
  const uint32_t third_bits = 0x3eaaaaab, half_bits = 0x00200000;
  const uint32_t minimum = 0x00400000;
  uint32_t result[2] = { 0, 0 };
  float one = 1.0f;
  uint64_t slots[3] = { PLUGIN_POINTER(result), 0, 0 };
  memcpy(&slots[1], &one, sizeof one);
  memcpy(&slots[2], &minimum, sizeof minimum);
  for (int items = 1; items <= 2; items++) {
    plugin_launch(inline_stream, third, items, slots);
    tap_ok(result[0] == third_bits && result[1] == half_bits,
           "N1: 1/3 is rounded to nearest and denormals are kept, %s", mode);
  }
}

static void test_control_word(void)
{
  static const int modes[] = { FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };
  static const char *const names[] = { "upward", "downward", "toward zero" };
  check_third("by default");
  for (int i = 0; i < 3; i++) {
    fesetround(modes[i]);
    check_third(names[i]);
    int mode = fegetround();
    fesetround(FE_TONEAREST);
    tap_is_int(mode, modes[i], "N1: the program's rounding is restored");
  }
#ifdef __SSE2__
  static const unsigned bits[] = { 0x8000, 0x0040, 0x8040 };
  for (int i = 0; i < 3; i++) {
    unsigned saved = _mm_getcsr();
    _mm_setcsr(saved | bits[i]);
    check_third(i == 0 ? "flushed" : i == 1 ? "taken for zero" : "both");
    unsigned word = _mm_getcsr();
    _mm_setcsr(saved);
    tap_is_int(word & 0x8040, bits[i], "N1: and so is that");
  }
#endif
}

/* --- several threads --- */

typedef struct launching_client {
  tn_backend_stream *stream;
  int32_t *hits;
  int failures;
} launching_client;

static void *client_run(void *argument)
{
  launching_client *client = argument;
  tn_backend_kernel *count = plugin_kernel(module, "count");
  uint64_t slots[] = { PLUGIN_POINTER(client->hits), 200000 };
  for (int i = 0; i < 50; i++) {
    int64_t items = i % 3 == 0 ? 1 : i % 3 == 1 ? 5000 : 200000;
    client->failures +=
      plugin_launch(client->stream, count, items, slots) != TN_OK;
  }
  plugin_synchronize(device, client->stream);
  return NULL;
}

static void test_clients(void)
{
  enum { CLIENTS = 6 };
  pthread_t threads[CLIENTS];
  launching_client clients[CLIENTS];
  for (int i = 0; i < CLIENTS; i++) {
    clients[i].stream =
      i < 2 ? inline_stream : plugin_stream(device, 0, i % 2 ? -1 : 0);
    clients[i].hits = calloc(200000, sizeof(int32_t));
    clients[i].failures = 0;
    pthread_create(&threads[i], NULL, client_run, &clients[i]);
  }
  for (int i = 0; i < CLIENTS; i++) {
    pthread_join(threads[i], NULL);
    tap_ok(!clients[i].failures && all_are(clients[i].hits, 200000, 50),
           "S1: thread %d on %s stream", i,
           i < 2 ? "the shared default" : "its own");
    free(clients[i].hits);
    if (i >= 2) plugin->stream->destroy(clients[i].stream);
  }
}

/* --- descriptors --- */

static void refused(tn_backend_launch_desc desc, tn_status wanted,
                    const char *part)
{
  tn_backend_kernel *count = plugin_kernel(module, "count");
  uint64_t slots[] = { 0, 0 };
  desc.struct_size = sizeof desc;
  plugin_forget();
  tap_is_int(plugin->launch->launch(stream, count, &desc, slots), wanted,
             "a launch is refused");
  tap_has(plugin_error(), part, "with the reason: %s", plugin_error());
}

static void test_descriptors(void)
{
  const int64_t big = INT64_MAX / 2;
  refused((tn_backend_launch_desc){ .items = 1, .flags = 2 },
          TN_INVALID_ARGUMENT, "unknown flags 0x2");
  refused((tn_backend_launch_desc){ .items = 1, .shared_bytes = 8 },
          TN_UNSUPPORTED, "dynamic shared memory");
  refused((tn_backend_launch_desc){ .groups = { 1, 0, 1 } },
          TN_INVALID_ARGUMENT, "0 groups");
  refused((tn_backend_launch_desc){ .groups = { 3, big, 1 } },
          TN_SIZE_OVERFLOW, "groups");
  refused((tn_backend_launch_desc){ .groups = { 1, 1, 1 },
                                    .group_size = { 64, 64, 1 } },
          TN_INVALID_ARGUMENT, "64 x 64 x 1 threads");

  int32_t hits[8] = { 0 };
  tn_backend_kernel *count = plugin_kernel(module, "count");
  uint64_t slots[] = { PLUGIN_POINTER(hits), 8 };
  tn_backend_launch_desc desc = { .struct_size = sizeof desc,
                                  .groups = { 2, 3, 4 },
                                  .group_size = { 8, 8, 1 } };
  tap_is_int(plugin->launch->launch(inline_stream, count, &desc, slots),
             TN_OK, "groups in three directions");
  tap_ok(all_are(hits, 8, 1), "are all run");
}

static void test_info(void)
{
  tn_kernel_info info = { .struct_size = sizeof info };
  plugin->launch->kernel_info(plugin_kernel(module, "third"), &info);
  tap_is_text(info.signature,
              "(OUT, float, y), (VAL, float, x), (VAL, float, z)",
              "a kernel has its signature");
  tap_is_int(info.max_group_size, 1024, "and a largest group");
  tn_backend_kernel *kernel = NULL;
  tap_is_int(plugin->launch->kernel_get(module, "nothing", &kernel),
             TN_INVALID_ARGUMENT, "a kernel that is not there");
  tap_has(plugin_error(), "\"nothing\"", "is refused by name");
  tap_ok(!plugin_module(device, "no_family", NULL),
         "a family that is not there");
  tap_has(plugin_error(), "\"no_family\"", "is refused by name");
}

int main(void)
{
  /* With -ffast-math a program starts with denormals flushed. */
  fesetenv(FE_DFL_ENV);
  unsetenv("TENON_CPU_ISA");
  unsetenv("TENON_NUM_THREADS");
  test_bits();
  setenv("TENON_NUM_THREADS", "3", 1);
  plugin_load();
  device = plugin_device();
  inline_stream = plugin_stream(device, TN_STREAM_DEFAULT, 0);
  stream = plugin_stream(device, 0, 0);
  module = plugin_module(device, "launch", source);
  if (tap_ok(module, "the test's kernels compile: %s", plugin_error())) {
    test_cover();
    test_control_word();
    test_clients();
    test_descriptors();
    test_info();
    plugin->launch->module_unload(module);
  }
  plugin->stream->destroy(stream);
  plugin->stream->destroy(inline_stream);
  plugin->device->close(device);
  plugin_unload();
  return tap_done();
}
