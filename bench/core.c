/* The core's calls against the C library's and libffi's: device strings,
 * cached memory, launches. */
#include "config.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "bench/limit.h"
#include "bench/measure.h"
#include "bench/streams.h"
#include "tenon/tenon.h"

static tn_device cpu;

static void die(const char *what)
{
  fprintf(stderr, "bench: %s: %s\n", what, tn_error_message());
  exit(1);
}

static void parse(void *argument, int64_t count)
{
  for (int64_t i = 0; i < count; i++) {
    tn_device device;
    if (tn_device_parse(argument, &device)) die("parse");
    bench_keep(&device);
  }
}

static void block_pair(void *argument, int64_t count)
{
  size_t bytes = *(size_t *)argument;
  for (int64_t i = 0; i < count; i++) {
    tn_block *block = tn_block_new(cpu, bytes);
    if (!block) die("block");
    bench_keep(block);
    tn_block_release(block);
  }
}

static void malloc_pair(void *argument, int64_t count)
{
  size_t bytes = *(size_t *)argument;
  for (int64_t i = 0; i < count; i++) {
    void *memory = tn_malloc(cpu, bytes);
    if (!memory) die("malloc");
    bench_keep(memory);
    tn_free(memory);
  }
}

typedef struct launch {
  tn_kernel *kernel;
  void *y, *x;
} launch;

static void launch_one(void *argument, int64_t count)
{
  const launch *l = argument;
  for (int64_t i = 0; i < count; i++)
    if (tn_launch(l->kernel, 1,
                  TN_ARGS(TN_ARG_PTR(l->y), TN_ARG_PTR(l->x),
                          TN_ARG_F32(0.5f), TN_ARG_I64(1))))
      die("launch");
}

static void run_memory(const char *name, bench_work work, size_t bytes)
{
  bench_run(&(bench_case){
      .name = name, .subject = { "tenon", work, &bytes },
      .limit = { "glibc", limit_malloc_run, &bytes },
      .goal = BENCH_AT_MOST, .wanted = 2 });
}

/* Against the time of a mutex, and with many other blocks alive. */
static void run_mutex(const char *name, size_t bytes)
{
  bench_run(&(bench_case){
      .name = name, .subject = { "tenon", block_pair, &bytes },
      .limit = { "mutex", limit_mutex_run, NULL },
      .goal = BENCH_AT_MOST, .wanted = 5 });
}

/* What glibc asks the system for each time. */
static void run_largest(void)
{
  size_t bytes = (size_t)64 << 20;
  bench_run(&(bench_case){
      .name = "block new+release, 64 MiB, glibc's time",
      .subject = { "tenon", block_pair, &bytes },
      .limit = { "glibc", limit_malloc_run, &bytes },
      .goal = BENCH_AT_LEAST, .wanted = 100 });
}

/* Blocks of one device while another has many. */
typedef struct place {
  tn_device device;
  size_t bytes;
} place;

static void pair_there(void *argument, int64_t count)
{
  const place *p = argument;
  for (int64_t i = 0; i < count; i++) {
    tn_block *block = tn_block_new(p->device, p->bytes);
    if (!block) die("block");
    bench_keep(block);
    tn_block_release(block);
  }
}

static void run_among(const char *name, size_t bytes)
{
  place many = { cpu, bytes }, few = { tn_device_of("cpu:1"), bytes };
  bench_run(&(bench_case){
      .name = name, .subject = { "among 100000", pair_there, &many },
      .limit = { "alone", pair_there, &few },
      .goal = BENCH_AT_MOST, .wanted = 1.5 });
}

enum { CROWD = 150000 };

/* Every third block's place is free. */
static void run_crowd(void)
{
  static tn_block *crowd[CROWD];
  for (int i = 0; i < CROWD; i++)
    crowd[i] = tn_block_new(cpu, 512 * (size_t)(1 + i % 7));
  for (int i = 0; i < CROWD; i += 3) {
    tn_block_release(crowd[i]);
    crowd[i] = NULL;
  }
  run_mutex("with 100000 blocks: new+release, 4 KiB", 4096);
  run_mutex("with 100000 blocks: new+release, 8 MiB", (size_t)8 << 20);
  run_among("4 KiB among 100000 blocks", 4096);
  run_among("1 MiB among 100000 blocks", 1 << 20);
  run_among("8 MiB among 100000 blocks", (size_t)8 << 20);
  for (int i = 0; i < CROWD; i++) tn_block_release(crowd[i]);
}

static void *wait_for_end(void *end)
{
  pthread_mutex_lock(end);
  pthread_mutex_unlock(end);
  return NULL;
}

static void run_launch(void)
{
  tn_module *module = tn_module_builtin(cpu, "elementwise");
  launch l = { tn_kernel_get(module, "axpy_f32"), tn_malloc(cpu, 4096),
               tn_malloc(cpu, 4096) };
  limit_ffi *ffi = limit_ffi_new();
  if (!l.kernel || !l.y || !l.x || !ffi) die("kernel axpy_f32");
  bench_run(&(bench_case){
      .name = "launch, 4 arguments, 1 item",
      .subject = { "tn_launch", launch_one, &l },
      .limit = { "ffi_call", limit_ffi_run, ffi },
      .goal = BENCH_AT_MOST, .wanted = 0.5 });
  tn_free(l.y);
  tn_free(l.x);
  tn_kernel_release(l.kernel);
  tn_module_release(module);
  free(ffi);
}

/* On the stream that runs inline. */
static void replay(void *graph, int64_t count)
{
  for (int64_t i = 0; i < count; i++)
    if (tn_graph_replay(graph) != TN_OK) die("replay");
}

/* Of one-element launches; a node against a call. */
static void run_graph(const char *name, int64_t nodes)
{
  tn_graph *graph = tn_graph_new();
  tn_module *module = tn_module_builtin(cpu, "elementwise");
  launch l = { tn_kernel_get(module, "axpy_f32"), tn_malloc(cpu, 4096),
               tn_malloc(cpu, 4096) };
  tn_stream *stream = tn_stream_new(cpu, 0);
  if (!graph || !l.kernel || !l.y || !l.x || !stream) die("graph");
  tn_with_graph(graph, .stream = stream) { launch_one(&l, nodes); }
  bench_run(&(bench_case){
      .name = name, .subject = { "replay", replay, graph },
      .limit = { "call", limit_call_run, NULL },
      .goal = BENCH_AT_MOST, .wanted = 8, .scale = 1 / (double)nodes });
  tn_graph_release(graph);
  tn_stream_release(stream);
  tn_free(l.y);
  tn_free(l.x);
  tn_kernel_release(l.kernel);
  tn_module_release(module);
}

int main(int argc, char **argv)
{
  FILE *json = argc > 1 ? fopen(argv[1], "w") : NULL;
  bench_json_open(json);
  bench_filter(argc > 2 ? argv[2] : NULL);
  setenv("TENON_CPU_DEVICES", "2", 1);
  cpu = tn_device_of("cpu");
  if (!tn_malloc(cpu, 64)) die("cpu");

  /* One more thread keeps locks from taking the single-threaded path. */
  pthread_t thread;
  pthread_mutex_t end = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&end);
  pthread_create(&thread, NULL, wait_for_end, &end);

  char cpu0[] = "cpu:0", cpu1[] = "cpu";
  bench_case strings = { .name = "device string cpu",
                         .subject = { "parse", parse, cpu1 },
                         .limit = { "call", limit_call_run, NULL },
                         .goal = BENCH_AT_MOST, .wanted = 8 };
  bench_run(&strings);
  strings.name = "device string cpu:0";
  strings.subject.argument = cpu0;
  bench_run(&strings);
  run_memory("block new+release, 4 KiB", block_pair, 4096);
  run_memory("block new+release, 1 MiB", block_pair, 1 << 20);
  run_mutex("block new+release, 4 KiB, in mutexes", 4096);
  run_mutex("block new+release, 1 MiB, in mutexes", 1 << 20);
  run_mutex("block new+release, 8 MiB, in mutexes", (size_t)8 << 20);
  run_mutex("block new+release, 11 MiB, in mutexes", (size_t)11 << 20);
  run_mutex("block new+release, 64 MiB, in mutexes", (size_t)64 << 20);
  run_largest();
  run_crowd();
  run_memory("malloc+free by address, 4 KiB", malloc_pair, 4096);
  run_memory("malloc+free by address, 1 MiB", malloc_pair, 1 << 20);
  run_launch();
  run_graph("graph replay, a node of 100", 100);
  run_graph("graph replay, a node of 10000", 10000);
  run_graph("graph replay, a node of 100000", 100000);
  bench_streams(cpu);

  pthread_mutex_unlock(&end);
  pthread_join(thread, NULL);
  bench_json_close();
  if (json) fclose(json);
  return bench_missed() ? 1 : 0;
}
