/* Memory of captures, as PyTorch's own tests have it (rule G4; rows A146, A207
 * to A209, A212, A214, A215, A218, A222, A223, A225). */
#include "config.h"

#include "tests/test_device.h"

#include <pthread.h>
#include <string.h>

#include "tests/tap.h"

#define COUNT 1000
#define SIZE (COUNT * sizeof(float))
#define MIB ((size_t)1 << 20)

static tn_device device;
static tn_stream *stream, *side;
static tn_kernel *add_one;

/* y = x + value */
static tn_status add(float *y, const float *x, float value)
{
  return tn_launch(add_one, COUNT, TN_ARGS(TN_ARG_PTR(y),
                                           TN_ARG_PTR((void *)(uintptr_t)x),
                                           TN_ARG_F32(value),
                                           TN_ARG_I64(COUNT)));
}

static void set(float *y, float value)
{
  float host[COUNT];
  for (int i = 0; i < COUNT; i++) host[i] = value;
  tn_synchronize(device);
  tn_copy(y, device, host, test_host, sizeof host, false);
}

/* All elements if they are equal, else -1. */
static float value_of(const float *y)
{
  float host[COUNT];
  tn_synchronize(device);
  if (tn_copy(host, test_host, y, device, sizeof host, false) != TN_OK)
    return -1;
  for (int i = 1; i < COUNT; i++)
    if (host[i] != host[0]) return -1;
  return host[0];
}

static float *get(void) { return tn_malloc(device, SIZE); }

/* The pool that a capture shares, or NULL for one of its own. */
static tn_mem_pool *shared(bool is_shared, tn_graph *with)
{
  return is_shared ? tn_graph_pool(with) : NULL;
}

/* The third takes over what the second freed: replayed before it, it is the
 * one that is wrong. */
static void test_three(bool is_shared)
{
  float *a = get(), *c, *d, *e, *f;
  tn_graph *g0 = tn_graph_new(), *g1 = tn_graph_new(), *g2 = tn_graph_new();
  set(a, 1);
  tn_graph_begin(g0, .stream = stream);
  c = get(), d = get();
  add(c, a, 1), add(d, a, 2);
  tn_graph_end(g0);
  tn_graph_begin(g1, .stream = stream, .pool = shared(is_shared, g0));
  e = get();
  add(e, c, 3);
  tn_free(c);
  tn_graph_end(g1);
  tn_graph_begin(g2, .stream = stream, .pool = shared(is_shared, g0));
  f = get();
  add(f, d, 4);
  tn_graph_end(g2);
  tn_graph_replay(g0), tn_graph_replay(g1), tn_graph_replay(g2);
  tap_ok(value_of(e) == 5 && value_of(f) == 7,
         "G4 A207 three graphs in their order, one pool: %d", is_shared);
  tn_graph_replay(g0), tn_graph_replay(g2), tn_graph_replay(g1);
  tap_ok(value_of(e) == (is_shared ? 10 : 5) && value_of(f) == 7,
         "G4 A207 out of order, one pool: %d", is_shared);
  tn_free(a), tn_free(d), tn_free(e), tn_free(f);
  tn_graph_release(g0), tn_graph_release(g1), tn_graph_release(g2);
}

/* y = x + 1 + ... + 1 through memory that is freed in between. */
static tn_graph *chain(tn_stream *on, float *y, const float *x, int length)
{
  tn_graph *graph = tn_graph_new();
  tn_graph_begin(graph, .stream = on);
  for (int i = 0; i < length; i++) {
    float *next = get();
    add(next, x, 1);
    if (i > 0) tn_free((void *)(uintptr_t)x);
    x = next;
  }
  add(y, x, 0);
  tn_free((void *)(uintptr_t)x);
  tap_is_int(tn_graph_end(graph), TN_OK, "G4 A208 a chain of %d", length);
  return graph;
}

static void test_concurrent(void)
{
  float *x = get(), *y = get(), *z = get();
  tn_stream *on[2] = { stream, side };
  set(x, 0);
  tn_graph *first = chain(stream, y, x, 94), *second = chain(side, z, x, 156);
  bool is_right = true;
  for (int i = 0; i < 10; i++) {
    set(y, -1), set(z, -1);
    tn_synchronize(device);
    tn_with_stream(on[i % 2]) tn_graph_replay(first);
    tn_with_stream(on[1 - i % 2]) tn_graph_replay(second);
    if (value_of(y) != 94 || value_of(z) != 156) is_right = false;
  }
  tap_ok(is_right, "G4 A208 replays side by side, each in its pool");
  tn_graph_release(first), tn_graph_release(second);
  tn_free(x), tn_free(y), tn_free(z);
}

/* PyTorch's `b = a.clone(); 5 times b = b.clone() + 1`. */
static void *allocate_as_pytorch(size_t bytes)
{
  void *b = tn_malloc(device, bytes);
  for (int i = 0; i < 5; i++) {
    void *clone = tn_malloc(device, bytes), *sum = tn_malloc(device, bytes);
    tn_free(clone);
    tn_free(b);
    b = sum;
  }
  return b;
}

static long long grown(uint64_t now, uint64_t before)
{
  return (long long)now - (long long)before;
}

static void test_segments(void)
{
  static const struct {
    size_t bytes, segments, reserved, after;
  } cases[] = {
    { 512, 1, 2 * MIB, 2 * MIB },
    { MIB, 2, 4 * MIB, 2 * MIB },
    { MIB + 512, 1, 20 * MIB, 20 * MIB },
    { 10 * MIB - 512, 2, 40 * MIB, 20 * MIB },
    { 10 * MIB + 512, 3, 36 * MIB, 12 * MIB },
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    tn_memory_stats before, during, after;
    tn_graph *graph = tn_graph_new();
    tn_empty_cache(device);
    tn_memory_get_stats(device, &before);
    tn_graph_begin(graph, .stream = stream);
    void *b = allocate_as_pytorch(cases[i].bytes);
    tap_is_int(tn_graph_end(graph), TN_OK, "G4 A209 captured");
    tn_memory_get_stats(device, &during);
    tap_ok(grown(during.segments.all.current, before.segments.all.current) ==
                   (long long)cases[i].segments &&
               grown(during.reserved.all.current,
                     before.reserved.all.current) ==
                   (long long)cases[i].reserved,
           "G4 A209 blocks of %zu: %zu segments, %zu bytes", cases[i].bytes,
           cases[i].segments, cases[i].reserved);
    tn_graph_release(graph);
    tn_empty_cache(device);
    tn_memory_get_stats(device, &after);
    tap_ok(grown(after.reserved.all.current, before.reserved.all.current) ==
                   (long long)cases[i].after &&
               grown(after.active_blocks.all.current,
                     before.active_blocks.all.current) == 1,
           "G4 A209 the result keeps %zu of them", cases[i].after);
    tn_free(b);
    tn_empty_cache(device);
  }
}

static void test_streams(void)
{
  tn_graph *graph = tn_graph_new();
  float *x = get(), *y = get();
  set(x, 1);
  tn_graph_begin(graph, .stream = stream);
  float *one = get(), *two = NULL;
  add(one, x, 1);
  tn_stream_wait_stream(side, stream);
  tn_with_stream(side) {
    two = get();
    add(two, one, 1);
    tap_is_int(tn_memory_record_stream(one, side), TN_OK,
               "G4 A212 record_stream in a capture");
    add(y, two, 1);
  }
  void *both[] = { one, two };
  tap_ok(tn_mem_pool_check_live(tn_graph_pool(graph), both, 2),
         "G4 A214 a stream that joined allocates from the same pool");
  tn_free(one);
  float *three = get();
  tap_ok(three != one, "G4 A212 what was recorded is not handed out");
  tn_stream_wait_stream(stream, side);
  tap_is_int(tn_graph_end(graph), TN_OK, "G4 A212 the capture: %s",
             tn_error_message());
  tn_free(two), tn_free(three);
  tn_graph_replay(graph);
  tap_ok(value_of(y) == 4, "G4 A212 A214 the replay is right");
  tn_graph_release(graph);
  tn_free(x), tn_free(y);
}

static void *allocate(void *argument)
{
  void **at = argument;
  *at = tn_malloc(device, SIZE);
  return NULL;
}

static void test_thread(void)
{
  tn_graph *graph = tn_graph_new();
  pthread_t thread;
  void *elsewhere = NULL;
  tn_graph_begin(graph, .stream = stream, .mode = TN_GRAPH_THREAD_LOCAL);
  void *own = get();
  pthread_create(&thread, NULL, allocate, &elsewhere);
  pthread_join(thread, NULL);
  tap_ok(elsewhere && tn_mem_pool_check_live(tn_graph_pool(graph), &own, 1),
         "G4 A215 another thread's memory is not of the capture's pool");
  tap_is_int(tn_graph_end(graph), TN_OK, "G4 A215 the capture");
  tn_graph_release(graph);
  tn_free(own), tn_free(elsewhere);
}

static void test_shortage(void)
{
  tn_graph *graph = tn_graph_new();
  float *y = get();
  set(y, 0);
  tn_empty_cache(device);
  size_t reserved = tn_memory_reserved(device);
  tn_graph_begin(graph, .stream = stream);
  add(y, y, 1);
  tap_ok(!tn_malloc(device, (size_t)1 << 46) &&
             tn_last_status() == TN_OUT_OF_MEMORY,
         "G4 A146 out of memory in a capture: %s", tn_error_message());
  tap_is_int(tn_graph_end(graph), TN_OK, "G4 A146 which ends well: %s",
             tn_error_message());
  tn_graph_replay(graph);
  tap_ok(value_of(y) == 1, "G4 A146 and is replayed");
  tn_graph_release(graph);
  tn_empty_cache(device);
  tap_ok(tn_memory_reserved(device) == reserved, "G4 A146 nothing is lost");
  tn_free(y);
}

static void test_repeated(void)
{
  float *y = get();
  set(y, 0);
  size_t reserved = 0;
  bool is_flat = true;
  for (int i = 0; i < 100; i++) {
    tn_graph *graph = tn_graph_new();
    tn_graph_begin(graph, .stream = stream);
    tn_free(tn_malloc(device, MIB));
    add(y, y, 1);
    tn_graph_end(graph);
    tn_graph_replay(graph);
    tn_graph_release(graph);
    if (i == 0) reserved = tn_memory_reserved(device);
    if (tn_memory_reserved(device) != reserved) is_flat = false;
  }
  tap_ok(is_flat && value_of(y) == 100,
         "G4 A222 a hundred captures: memory is flat");
  tn_free(y);
}

static void test_timing(void)
{
  float ms = -1, *y = get();
  tn_graph *graph = tn_graph_new();
  tn_event *start = tn_event_new(TN_EVENT_TIMING);
  tn_event *end = tn_event_new(TN_EVENT_TIMING);
  set(y, 0);
  tn_graph_begin(graph, .stream = stream);
  tn_event_record(start, stream);
  add(y, y, 1);
  tn_event_record(end, stream);
  tn_graph_end(graph);
  tap_is_int(tn_event_elapsed(start, end, &ms), TN_INVALID_ARGUMENT,
             "G2 A218 events of a capture have no time: %s",
             tn_error_message());
  tn_with_stream(stream) {
    tn_event_record(start, stream);
    tn_graph_replay(graph);
    tn_event_record(end, stream);
  }
  tn_event_synchronize(end);
  tn_status status = tn_event_elapsed(start, end, &ms);
  if (status == TN_UNSUPPORTED)
    tap_skip("A218 no elapsed times: %s", tn_error_message());
  else
    tap_ok(status == TN_OK && ms >= 0,
           "G1 A218 those around a replay do: %g ms", (double)ms);
  tn_event_release(start), tn_event_release(end);
  tn_graph_release(graph);
  tn_free(y);
}

/* What a captured copy reads at every replay is nobody else's. */
static void test_pinned(bool is_shared)
{
  tn_graph *first = tn_graph_new(), *second = tn_graph_new();
  float *y = get();
  tn_graph_begin(first, .stream = stream);
  void *unused = tn_malloc_pinned(SIZE);
  tn_free(unused);
  float *used = tn_malloc_pinned(SIZE);
  tap_ok(used == unused, "G4 A223 pinned memory that no copy used returns");
  for (int i = 0; i < COUNT; i++) used[i] = 6;
  tn_status status = tn_copy(y, device, used, test_host, SIZE, true);
  if (status != TN_OK) {
    tap_skip("A223 host memory is not captured here: %s",
             tn_error_message());
    tn_graph_end(first);
    goto done;
  }
  tn_free(used);
  float *fresh = tn_malloc_pinned(SIZE);
  tap_ok(fresh != used, "P2 A223 not while a captured copy uses it");
  tn_graph_end(first);
  tn_graph_begin(second, .stream = stream, .pool = shared(is_shared, first));
  float *other = tn_malloc_pinned(SIZE);
  tap_ok(other != used, "G4 A223 nor in another capture, one pool: %d",
         is_shared);
  tn_graph_end(second);
  float *later = tn_malloc_pinned(SIZE);
  tap_ok(later != used, "G4 A223 nor after it");
  memset(fresh, 0, SIZE), memset(other, 0, SIZE), memset(later, 0, SIZE);
  tn_graph_replay(first);
  tap_ok(value_of(y) == 6, "P2 A223 the replay finds what was put there");
  tn_free(fresh), tn_free(other), tn_free(later);
done:
  tn_graph_release(first), tn_graph_release(second);
  tn_free(y);
}

static void test_begin(void)
{
  tn_memory_stats host;
  tn_graph *graph = tn_graph_new();
  tn_free(tn_malloc(device, 30 * MIB));
  tn_free(tn_malloc_pinned(4 * MIB));
  size_t before = tn_memory_reserved(device);
  tn_graph_begin(graph, .stream = stream);
  tn_host_memory_get_stats(&host);
  tap_ok(tn_memory_reserved(device) + 30 * MIB <= before,
         "G4 A225 a capture begins with empty caches");
  tap_ok(host.reserved.all.current == host.active.all.current,
         "G4 A225 of pinned memory, too");
  tn_graph_end(graph);
  tn_graph_release(graph);
}

int main(void)
{
  device = test_device();
  tn_set_default_device(device);
  stream = tn_stream_new(device, 0);
  side = tn_stream_new(device, 0);
  tn_module *module = tn_module_builtin(device, "elementwise");
  add_one = module ? tn_kernel_get(module, "add_scalar_f32") : NULL;
  if (!tap_ok(stream && side && add_one, "G1 streams and a kernel: %s",
              tn_error_message()))
    return tap_done();
  test_three(true);
  test_three(false);
  test_concurrent();
  test_segments();
  test_streams();
  test_thread();
  test_shortage();
  test_repeated();
  test_timing();
  test_pinned(true);
  test_pinned(false);
  test_begin();
  tn_kernel_release(add_one);
  tn_module_release(module);
  tn_stream_release(stream);
  tn_stream_release(side);
  return tap_done();
}
