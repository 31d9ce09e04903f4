/* The helper threads of the cpu backend: they help, and do not crowd. */
#include <dirent.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cpu/host.h"
#include "tests/tap.h"

#define STREAMS 3

/* `meet` waits until all streams are in it; `crowd` notes how many threads
 * were in it at once; `together` goes on, after half of its items, only when
 * a second thread is in it, and counts itself late if none comes. */
static const char source[] =
  "TN_KERNEL(long_tasks, TN_OUT(float, y), TN_VAL(int64, turns),\n"
  "          TN_VAL(int64, n))\n"
  "{ TN_TASKS(i, n) {\n"
  "    float x = (float)i;\n"
  "    for (int64 k = 0; k < turns; k++) x = x * 0.5f + 1.0f;\n"
  "    y[i] = x; } }\n"
  "TN_KERNEL(meet, TN_OUT(int32, here), TN_VAL(int64, all))\n"
  "{ TN_TASKS(i, 1) {\n"
  "    TN_ATOMIC_ADD(here, 1);\n"
  "    while (__atomic_load_n(here, __ATOMIC_SEQ_CST) < all) ; } }\n"
  "TN_KERNEL(together, TN_OUT(int32, here), TN_OUT(int32, late),\n"
  "          TN_OUT(float, y), TN_VAL(int64, n))\n"
  "{ TN_TASKS(i, n) {\n"
  "    float x = (float)i;\n"
  "    for (int k = 0; k < 100000; k++) x = x * 0.5f + 1.0f;\n"
  "    y[i] = x;\n"
  "    if (i < n / 2) continue;\n"
  "    TN_ATOMIC_ADD(here, 1);\n"
  "    int64 turns = 0;\n"
  "    while (__atomic_load_n(here, __ATOMIC_SEQ_CST) < 2 &&\n"
  "           !__atomic_load_n(late, __ATOMIC_SEQ_CST))\n"
  "      if (++turns > 4000000000) TN_ATOMIC_ADD(late, 1); } }\n"
  "TN_KERNEL(crowd, TN_OUT(int32, here), TN_OUT(int32, most),\n"
  "          TN_OUT(float, y), TN_VAL(int64, n))\n"
  "{ TN_TASKS(i, n) {\n"
  "    int32 now = __atomic_add_fetch(here, 1, __ATOMIC_SEQ_CST);\n"
  "    int32 seen = __atomic_load_n(most, __ATOMIC_SEQ_CST);\n"
  "    while (now > seen && !__atomic_compare_exchange_n(most, &seen, now,\n"
  "             0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) ;\n"
  "    float x = (float)i;\n"
  "    for (int k = 0; k < 100000; k++) x = x * 0.5f + 1.0f;\n"
  "    y[i] = x;\n"
  "    __atomic_sub_fetch(here, 1, __ATOMIC_SEQ_CST); } }\n";

static tn_backend_device *device;
static tn_backend_stream *inline_stream;
static tn_backend_module *module;
static sem_t gate;

static int workers_running(void)
{
  int found = 0;
  DIR *tasks = opendir("/proc/self/task");
  for (struct dirent *task; tasks && (task = readdir(tasks));) {
    char path[300], name[32] = "";
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
    FILE *file = fopen(path, "r");
    if (file && fgets(name, sizeof name, file))
      found += strcmp(name, "tenon-worker\n") == 0;
    if (file) fclose(file);
  }
  if (tasks) closedir(tasks);
  return found;
}

/* Few items, each long: known only after the first. */
static void test_long_tasks(void)
{
  tn_backend_kernel *tasks = plugin_kernel(module, "long_tasks");
  float *y = plugin_alloc(device, 64 * sizeof *y);
  memset(y, 0, 64 * sizeof *y);
  uint64_t slots[] = { PLUGIN_POINTER(y), 2000000, 20 };
  tap_is_int(plugin_launch(inline_stream, tasks, 20, slots), TN_OK,
             "S1: 20 long items");
  bool right = true;
  for (int i = 0; i < 20; i++) right &= y[i] == 2.0f;
  tap_ok(right && y[20] == 0, "S1: are all done");
  tap_is_int(workers_running(), 2, "S1: by 2 helper threads of 3");
  plugin_free(device, y, 64 * sizeof *y);
}

/* Items are a hint: here all the work lies in a sixteenth of them. */
static void test_hint(void)
{
  int32_t here = 0, late = 0;
  float *y = plugin_alloc(device, 64 * sizeof *y);
  uint64_t slots[] = { PLUGIN_POINTER(&here), PLUGIN_POINTER(&late),
                       PLUGIN_POINTER(y), 64 };
  tap_is_int(plugin_launch(inline_stream, plugin_kernel(module, "together"),
                           16 * 64, slots), TN_OK, "S1: 64 tasks as 1024");
  bool right = true;
  for (int i = 0; i < 64; i++) right &= y[i] == 2.0f;
  tap_ok(right && here == 32, "S1: are all done, once");
  tap_is_int(late, 0, "S1: on more than one thread");
  plugin_free(device, y, 64 * sizeof *y);
}

static void gate_pass(void *argument)
{
  (void)argument;
  sem_wait(&gate);
}

/* Three streams at work and three threads allowed: no helper joins them. */
static void test_crowd(void)
{
  tn_backend_stream *streams[STREAMS];
  int32_t meeting = 0, here = 0, most = 0;
  float *y = plugin_alloc(device, STREAMS * 64 * sizeof *y);
  uint64_t meet[] = { PLUGIN_POINTER(&meeting), STREAMS };
  tn_status status = TN_OK;
  for (int i = 0; i < STREAMS; i++) {
    uint64_t crowd[] = { PLUGIN_POINTER(&here), PLUGIN_POINTER(&most),
                         PLUGIN_POINTER(y + i * 64), 64 };
    streams[i] = plugin_stream(device, 0, -i);
    plugin->stream->host_function(streams[i], gate_pass, NULL, 0);
    status |= plugin_launch(streams[i], plugin_kernel(module, "meet"), 1,
                            meet);
    status |= plugin_launch(streams[i], plugin_kernel(module, "crowd"), 64,
                            crowd);
  }
  for (int i = 0; i < STREAMS; i++) sem_post(&gate);
  for (int i = 0; i < STREAMS; i++) {
    plugin_synchronize(device, streams[i]);
    plugin->stream->destroy(streams[i]);
  }
  bool right = true;
  for (int i = 0; i < STREAMS * 64; i++) right &= y[i] == 2.0f;
  tap_ok(!status && right, "S1: three streams at once");
  tap_ok(most >= 1 && most <= 3, "S1: %d threads were at work, at most 3",
         (int)most);
  plugin_free(device, y, STREAMS * 64 * sizeof *y);
}

/* Urgent and other work at the same time, from several threads' streams. */
static void test_urgent(void)
{
  tn_backend_stream *streams[STREAMS];
  tn_backend_kernel *tasks = plugin_kernel(module, "long_tasks");
  float *y = plugin_alloc(device, STREAMS * 256 * sizeof *y);
  tn_status status = TN_OK;
  for (int i = 0; i < STREAMS; i++) {
    streams[i] = plugin_stream(device, 0, i == 0 ? -1 : 0);
    for (int turn = 0; turn < 20; turn++) {
      uint64_t slots[] = { PLUGIN_POINTER(y + i * 256), 2000, 256 };
      status |= plugin_launch(streams[i], tasks, 256, slots);
    }
  }
  for (int i = 0; i < STREAMS; i++) {
    plugin_synchronize(device, streams[i]);
    plugin->stream->destroy(streams[i]);
  }
  bool right = true;
  for (int i = 0; i < STREAMS * 256; i++) right &= y[i] == 2.0f;
  tap_ok(!status && right, "S7: streams of both priorities");
  plugin_free(device, y, STREAMS * 256 * sizeof *y);
}

int main(void)
{
  sem_init(&gate, 0, 0);
  setenv("TENON_NUM_THREADS", "3", 1);
  plugin_load();
  device = plugin_device();
  inline_stream = plugin_stream(device, TN_STREAM_DEFAULT, 0);
  module = plugin_module(device, "workers", source);
  if (tap_ok(module, "the test's kernels compile")) {
    test_long_tasks();
    test_hint();
    test_crowd();
    test_urgent();
    plugin->launch->module_unload(module);
  } else {
    tap_note("%s", plugin_error());
  }
  plugin->stream->destroy(inline_stream);
  plugin->device->close(device);
  plugin_unload();
  return tap_done();
}
