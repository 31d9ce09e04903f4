/* Small programs for the race layer: `race_cases CASE right|wrong`, on the
 * device of TN_TEST_DEVICE. The forms differ by one call. */
#include "config.h"

#include <errno.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tenon/tenon.h"

enum { BYTES = 1 << 16 };

typedef struct room {
  tn_device device, host;
  tn_stream *one, *two;
  char *x, *y, *pinned;
  bool is_right;
} room;

static bool fill(room *r, tn_stream *stream, char *at, size_t bytes)
{
  tn_status status = TN_INVALID_ARGUMENT;
  tn_with_stream(stream) status = tn_fill_bytes(at, r->device, 1, bytes);
  return status == TN_OK;
}

static bool copy(room *r, tn_stream *stream, char *to, const char *from)
{
  tn_status status = TN_INVALID_ARGUMENT;
  tn_device to_device = tn_memory_is_pinned(to) ? r->host : r->device;
  tn_device from_device = tn_memory_is_pinned(from) ? r->host : r->device;
  tn_with_stream(stream)
    status = tn_copy(to, to_device, from, from_device, BYTES, true);
  return status == TN_OK;
}

static bool join(const room *r)
{
  return !r->is_right || tn_stream_wait_stream(r->two, r->one) == TN_OK;
}

/* Read after write, write after write, write after read. */
static bool fill_copy(room *r)
{
  return fill(r, r->one, r->x, BYTES) && join(r) &&
         copy(r, r->two, r->y, r->x);
}

static bool copy_copy(room *r)
{
  return copy(r, r->one, r->y, r->x) && join(r) &&
         copy(r, r->two, r->y, r->x);
}

static bool copy_fill(room *r)
{
  return copy(r, r->one, r->y, r->x) && join(r) &&
         fill(r, r->two, r->x, BYTES);
}

/* Parts of one block: next to each other, or one byte over each other. */
static bool halves(room *r)
{
  return fill(r, r->one, r->x, BYTES / 2) &&
         fill(r, r->two, r->x + BYTES / 2 - !r->is_right, BYTES / 2);
}

static bool launch(tn_stream *stream, tn_kernel *kernel, int64_t items,
                   const tn_arg *arguments, size_t count)
{
  tn_status status = TN_INVALID_ARGUMENT;
  tn_with_stream(stream)
    status = tn_launch(kernel, items, arguments, count);
  return status == TN_OK;
}

static bool kernel_fill(tn_stream *stream, tn_kernel *kernel, float *at,
                        int64_t n)
{
  return launch(stream, kernel, n,
                TN_ARGS(TN_ARG_PTR(at), TN_ARG_F32(1), TN_ARG_I64(n)));
}

/* Half of a block each; wrong, one element of the other half, too. */
static bool kernel_halves(room *r, tn_kernel *kernel)
{
  enum { HALF = BYTES / 8 };
  float *x = (float *)(void *)r->x;
  bool ok = kernel && kernel_fill(r->one, kernel, x, HALF) &&
            kernel_fill(r->two, kernel, x + HALF - !r->is_right, HALF);
  tn_kernel_release(kernel);
  return ok;
}

static tn_kernel *own_kernel(const room *r, const char *name)
{
  tn_module *module = tn_module_builtin(r->device, "elementwise");
  tn_kernel *kernel = tn_kernel_get(module, name);
  tn_module_release(module);
  return kernel;
}

static bool own_halves(room *r)
{
  return kernel_halves(r, own_kernel(r, "fill_f32"));
}

/* Columns 0, 2, 4 ... of a table, and the others, or one of the first ones. */
static bool columns_fill(tn_stream *stream, tn_kernel *kernel, float *table,
                         int64_t first, int64_t step)
{
  enum { ROWS = 64, COLUMNS = 64 };
  return launch(stream, kernel, ROWS * COLUMNS / 2,
                TN_ARGS(TN_ARG_PTR(table + first), TN_ARG_F32(1),
                        TN_ARG_I64(1), TN_ARG_I64(1), TN_ARG_I64(ROWS),
                        TN_ARG_I64(COLUMNS / step), TN_ARG_I64(0),
                        TN_ARG_I64(0), TN_ARG_I64(COLUMNS),
                        TN_ARG_I64(step)));
}

static bool columns(room *r)
{
  tn_kernel *kernel = own_kernel(r, "fill_strided_f32");
  float *x = (float *)(void *)r->x;
  bool ok = kernel && columns_fill(r->one, kernel, x, 0, 2) &&
            columns_fill(r->two, kernel, x, r->is_right ? 1 : 3,
                         r->is_right ? 2 : 1);
  tn_kernel_release(kernel);
  return ok;
}

/* A kernel of the program's: what it reaches is only known if it was said, as
 * in "mine/mark *=n" in the file of extents. */
static const char mark_source[] =
    "#include <tenon/kernel_lang.h>\n"
    "TN_KERNEL(mark, TN_OUT(float, y), TN_VAL(float, v), TN_VAL(int64, n))\n"
    "{ TN_PARALLEL_FOR(i, n) y[i] = v; }\n";

static bool mine(room *r)
{
  tn_module *module = tn_module_load(r->device, mark_source, .name = "mine");
  tn_kernel *kernel = tn_kernel_get(module, "mark");
  tn_module_release(module);
  return kernel_halves(r, kernel);
}

/* A function of the host on the stream of a copy comes after it. */
static void read_pinned(void *pinned)
{
  static volatile char kept;
  kept = *(const volatile char *)pinned;
  (void)kept;
}

static void increase_byte(void *byte) { ++*(char *)byte; }

static bool host_function(room *r)
{
  return copy(r, r->one, r->pinned, r->x) &&
         tn_stream_call(r->one, read_pinned, r->pinned) == TN_OK;
}

static sem_t has_read, may_write;

static void read_and_tell(void *pinned)
{
  read_pinned(pinned);
  sem_post(&has_read);
}

/* It comes after what its stream waited for, and after nothing else. */
static bool function_reads(room *r)
{
  bool ok = !sem_init(&has_read, 0, 0) && copy(r, r->one, r->pinned, r->x) &&
            join(r) &&
            tn_stream_call(r->two, read_and_tell, r->pinned) == TN_OK;
  while (ok && sem_wait(&has_read) && errno == EINTR) continue;
  return ok;
}

/* For ever would be too long where to queue a copy waits for this. */
static void write_late(void *pinned)
{
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec++;
  while (sem_timedwait(&may_write, &until) && errno == EINTR) continue;
  memset(pinned, 1, BYTES);
}

/* It writes once all is queued: what the copy behind it reads, and what the
 * other stream's copy read, for which it has to wait. */
static bool function_writes(room *r)
{
  bool ok = !sem_init(&may_write, 0, 0) && copy(r, r->two, r->y, r->pinned) &&
            (!r->is_right ||
             tn_stream_wait_stream(r->one, r->two) == TN_OK) &&
            tn_stream_call(r->one, write_late, r->pinned) == TN_OK &&
            copy(r, r->one, r->x, r->pinned);
  sem_post(&may_write);
  return ok;
}

/* Host memory that is not in whole pages: of it only sums are known. */
static bool function_bytes(room *r)
{
  enum { FEW = 64 };
  tn_status status = TN_INVALID_ARGUMENT;
  tn_with_stream(r->one)
    status = tn_copy(r->x, r->device, r->pinned + 1, r->host, FEW, true);
  if (!r->is_right) r->pinned[1] ^= 1;
  return status == TN_OK &&
         tn_stream_call(r->one, increase_byte, r->pinned + 1) == TN_OK;
}

/* The host reads what it waited for, and then what it did not. */
static bool host_reads(room *r)
{
  bool ok = copy(r, r->one, r->pinned, r->x) &&
            tn_stream_synchronize(r->one) == TN_OK;
  read_pinned(r->pinned);
  ok = ok && copy(r, r->two, r->pinned, r->y) &&
       (!r->is_right || tn_stream_synchronize(r->two) == TN_OK);
  read_pinned(r->pinned);
  return ok;
}

/* It may read what a copy is to read, but not write there. */
static bool host_writes(room *r)
{
  bool ok = copy(r, r->one, r->x, r->pinned);
  read_pinned(r->pinned + BYTES / 2);
  if (!r->is_right) memset(r->pinned + BYTES / 2, 1, 1);
  return ok;
}

/* The other half of what is copied is the host's. */
static bool host_half(room *r)
{
  tn_status status = TN_INVALID_ARGUMENT;
  tn_with_stream(r->one)
    status = tn_copy(r->pinned, r->host, r->x, r->device, BYTES / 2, true);
  memset(r->pinned + BYTES / 2 - (r->is_right ? 0 : BYTES / 4), 1, 1);
  return status == TN_OK;
}

/* Pinned memory that one copy brings and another takes. */
static bool relay(room *r)
{
  return copy(r, r->one, r->pinned, r->x) && join(r) &&
         copy(r, r->two, r->y, r->pinned);
}

/* A stream that was waited for by the host needs no other wait. */
static bool host_waits(room *r)
{
  return fill(r, r->one, r->x, BYTES) &&
         (!r->is_right || tn_stream_synchronize(r->one) == TN_OK) &&
         fill(r, r->two, r->x, BYTES);
}

/* Another stream in between carries the order on. */
static bool chain(room *r)
{
  tn_stream *between = tn_stream_new(r->device, 0);
  bool ok = between && fill(r, r->one, r->x, BYTES) &&
            tn_stream_wait_stream(between, r->one) == TN_OK &&
            (!r->is_right ||
             tn_stream_wait_stream(r->two, between) == TN_OK) &&
            fill(r, r->two, r->x, BYTES);
  ok = ok && tn_stream_synchronize(between) == TN_OK;
  tn_stream_release(between);
  return ok;
}

/* Memory that was given back to the device, by its address: refused. */
static bool freed(room *r)
{
  char *big = NULL;
  tn_with_stream(r->one) big = tn_malloc(r->device, (size_t)64 << 20);
  bool ok = big && fill(r, r->one, big, BYTES) &&
            tn_stream_synchronize(r->one) == TN_OK;
  if (!ok || r->is_right) return ok && fill(r, r->one, big, BYTES);
  tn_free(big);
  tn_empty_cache(r->device);
  return !fill(r, r->one, big, BYTES);
}

/* A graph that copies from `from` to y, made on the first stream. */
static tn_graph *copy_graph(room *r, const char *from)
{
  tn_graph *graph = tn_graph_new();
  tn_status status = TN_INVALID_ARGUMENT;
  tn_with_graph(graph, .stream = r->one)
    status = tn_copy(r->y, r->device, from, r->device, BYTES, true);
  return status == TN_OK ? graph : NULL;
}

static bool replay(tn_stream *stream, tn_graph *graph)
{
  tn_status status = TN_INVALID_ARGUMENT;
  tn_with_stream(stream) status = tn_graph_replay(graph);
  return status == TN_OK;
}

/* A replay and what another stream writes; its own run before is in order. */
static bool replay_fill(room *r)
{
  tn_graph *graph = copy_graph(r, r->x);
  bool ok = graph && replay(r->one, graph) && replay(r->one, graph) &&
            join(r) && fill(r, r->two, r->x, BYTES);
  tn_graph_release(graph);
  return ok;
}

/* Runs of one graph are in order on any streams, and with nothing else. */
static bool replay_two(room *r)
{
  tn_graph *graph = copy_graph(r, r->x);
  bool ok = graph && replay(r->one, graph) && replay(r->two, graph) &&
            fill(r, r->is_right ? r->two : r->one, r->y, BYTES);
  tn_graph_release(graph);
  return ok;
}

/* R51: a graph's input that was given back to the device before a replay. */
static bool replay_freed(room *r)
{
  char *big = NULL;
  tn_with_stream(r->one) big = tn_malloc(r->device, (size_t)64 << 20);
  tn_graph *graph = big ? copy_graph(r, big) : NULL;
  bool ok = graph && replay(r->one, graph) &&
            tn_stream_synchronize(r->one) == TN_OK;
  if (!r->is_right) {
    tn_free(big);
    tn_empty_cache(r->device);
  }
  ok = ok && replay(r->one, graph) == r->is_right;
  tn_graph_release(graph);
  return ok;
}

static const struct {
  const char *name;
  bool (*run)(room *r);
} cases[] = {
  { "fill_copy", fill_copy }, { "copy_copy", copy_copy },
  { "copy_fill", copy_fill }, { "halves", halves },
  { "relay", relay },         { "host_waits", host_waits },
  { "chain", chain },         { "freed", freed },
  { "own_halves", own_halves },
  { "columns", columns },     { "mine", mine },
  { "host_function", host_function },
  { "function_reads", function_reads },
  { "function_writes", function_writes },
  { "function_bytes", function_bytes },
  { "host_reads", host_reads },
  { "host_writes", host_writes },
  { "host_half", host_half },
  { "replay_fill", replay_fill },
  { "replay_two", replay_two },
  { "replay_freed", replay_freed },
};

static bool open_room(room *r)
{
  const char *text = getenv("TN_TEST_DEVICE");
  tn_device given;
  if (tn_device_parse(text ? text : "cpu", &given) != TN_OK) return false;
  r->one = tn_stream_new(given, 0);
  r->two = tn_stream_new(given, 0);
  r->device = tn_stream_device(r->one);
  r->x = tn_malloc(r->device, BYTES);
  r->y = tn_malloc(r->device, BYTES);
  r->pinned = tn_malloc_pinned(BYTES);
  return r->one && r->two && r->x && r->y && r->pinned;
}

int main(int argc, char **argv)
{
  room r = { .is_right = argc == 3 && strcmp(argv[2], "right") == 0 };
  bool ok = argc == 3 && open_room(&r), is_found = false;
  for (size_t i = 0; ok && i < sizeof cases / sizeof cases[0]; i++)
    if (strcmp(cases[i].name, argv[1]) == 0) {
      is_found = true;
      ok = cases[i].run(&r);
    }
  ok = ok && is_found && tn_stream_synchronize(r.one) == TN_OK &&
       tn_stream_synchronize(r.two) == TN_OK;
  if (!ok) fprintf(stderr, "race_cases: %s\n", tn_error_message());
  return ok ? 0 : 1;
}
