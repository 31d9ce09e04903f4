/* What layers cost: nothing where there are none, against a library built
 * without them, in one process; with TENON_LAYERS=trace, what an event does.
 *
 *     layers LIBTENON PLAIN BACKEND [OUT.json [FILTER]]
 *
 * PLAIN is the library built without layers, BACKEND the plugin for cpu. Each
 * library loads a copy of it, so that the two sides share nothing. */
#include "config.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/measure.h"
#include "tenon/tenon.h"

#define FUNCTIONS(X) \
  X(tn_device_of) X(tn_error_message) X(tn_block_new) X(tn_block_release) \
  X(tn_malloc) X(tn_copy) X(tn_module_builtin) X(tn_kernel_get) X(tn_launch)

typedef struct library {
#define POINTER(name) __typeof__(name) *name;
  FUNCTIONS(POINTER)
#undef POINTER
  tn_device cpu;
  tn_kernel *kernel;
  char *x, *y;
} library;

static void die(const char *what, const char *why)
{
  fprintf(stderr, "bench: %s: %s\n", what, why);
  exit(1);
}

static void *find(void *handle, const char *name)
{
  void *symbol = dlsym(handle, name);
  if (!symbol) die(name, dlerror());
  return symbol;
}

/* A folder with a copy of the backend. */
static void copy_backend(const char *path, char *folder)
{
  char command[4200];
  if (!mkdtemp(folder)) die(folder, "cannot be made");
  snprintf(command, sizeof command, "cp '%s' '%s'", path, folder);
  if (system(command)) die(path, "cannot be copied");
}

static void remove_copy(const char *folder)
{
  char command[128];
  snprintf(command, sizeof command, "rm -r '%s'", folder);
  if (system(command)) die(folder, "cannot be removed");
}

/* A library looks for backends when it is first used. */
static void open_library(library *l, const char *path, const char *backend)
{
  char folder[] = "/tmp/tenon-bench-XXXXXX";
  copy_backend(backend, folder);
  const char *layers = getenv("BENCH_LAYERS");
  char places[4200];
  snprintf(places, sizeof places, "%s:%s", folder, layers ? layers : "");
  setenv("TENON_BACKEND_PATH", places, 1);
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle) die(path, dlerror());
#define FIND(name) *(void **)&l->name = find(handle, #name);
  FUNCTIONS(FIND)
#undef FIND
  l->cpu = l->tn_device_of("cpu");
  l->kernel = l->tn_kernel_get(l->tn_module_builtin(l->cpu, "elementwise"),
                               "axpy_f32");
  l->x = l->tn_malloc(l->cpu, 4096);
  l->y = l->tn_malloc(l->cpu, 4096);
  if (!l->kernel || !l->x || !l->y) die("cpu", l->tn_error_message());
  remove_copy(folder);
}

static void launch(void *argument, int64_t count)
{
  const library *l = argument;
  for (int64_t i = 0; i < count; i++)
    if (l->tn_launch(l->kernel, 1,
                     TN_ARGS(TN_ARG_PTR(l->y), TN_ARG_PTR(l->x),
                             TN_ARG_F32(0.5f), TN_ARG_I64(1))))
      die("launch", l->tn_error_message());
}

static void block_pair(void *argument, int64_t count)
{
  const library *l = argument;
  for (int64_t i = 0; i < count; i++) {
    tn_block *block = l->tn_block_new(l->cpu, 4096);
    if (!block) die("block", l->tn_error_message());
    bench_keep(block);
    l->tn_block_release(block);
  }
}

static void copy(void *argument, int64_t count)
{
  const library *l = argument;
  for (int64_t i = 0; i < count; i++)
    if (l->tn_copy(l->y, l->cpu, l->x, l->cpu, 64, true))
      die("copy", l->tn_error_message());
}

static void run_absent(library *layered, library *plain)
{
  static const struct {
    const char *name;
    bench_work work;
  } paths[] = {
    { "no layer: launch, 4 arguments, 1 item", launch },
    { "no layer: block new+release, 4 KiB", block_pair },
    { "no layer: copy, 64 bytes", copy },
  };
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
    bench_run(&(bench_case){
        .name = paths[i].name,
        .subject = { "tenon", paths[i].work, layered },
        .limit = { "built without layers", paths[i].work, plain },
        .goal = BENCH_AT_MOST, .wanted = 1.02 });
}

/* A launch is two events, its call and its run, and a flow between them. */
static void run_trace(library *traced, library *plain)
{
  enum { BLOCKS = 15, LAUNCHES = 5000 };
  static const bench_case one = {
    .name = "trace: an event, against 500 ns",
    .subject = { "trace", NULL, NULL }, .limit = { "500 ns", NULL, NULL },
    .goal = BENCH_AT_MOST, .wanted = 1
  };
  double ratios[BLOCKS], total = 0;
  if (!bench_wanted(one.name)) return;
  for (int i = 0; i < BLOCKS; i++) {
    double start = bench_now();
    launch(plain, LAUNCHES);
    double middle = bench_now();
    launch(traced, LAUNCHES);
    double event = (bench_now() - middle - (middle - start)) / LAUNCHES / 2;
    ratios[i] = event / 500;
    total += event;
  }
  bench_report(&one, ratios, BLOCKS, total / BLOCKS, 500);
}

int main(int argc, char **argv)
{
  library layered, plain;
  if (argc < 4) die("layers", "LIBTENON, PLAIN and BACKEND are needed");
  FILE *json = argc > 4 ? fopen(argv[4], "w") : NULL;
  bench_json_open(json);
  bench_filter(argc > 5 ? argv[5] : NULL);
  open_library(&layered, argv[1], argv[3]);
  open_library(&plain, argv[2], argv[3]);
  if (getenv("TENON_LAYERS")) run_trace(&layered, &plain);
  else run_absent(&layered, &plain);
  bench_json_close();
  if (json) fclose(json);
  return bench_missed() ? 1 : 0;
}
