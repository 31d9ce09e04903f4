/* The cpu backend under chaos: what the seed decides, how commands run then,
 * and what becomes of memory. */
#include "backends/cpu/chaos.h"

#include <semaphore.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpu/host.h"
#include "tests/cpu/host.h"
#include "tests/tap.h"

/* --- the schedule, without the plugin --- */

static char said[200];

static TN_PRINTF(2, 3) void say(tn_log_level level, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(said, sizeof said, format, arguments);
  va_end(arguments);
  (void)level;
}

static const tn_host_api listener = { .log = say };
const tn_host_api *tn_cpu_host = &listener;

enum { SEEDS = 20, COMMANDS = 400 };

/* Which commands are due at once: "." those, "x" the others. */
static void schedule(int seed, uint32_t stream, char *text)
{
  tn_cpu_chaos_setup(seed);
  for (uint64_t i = 0; i < COMMANDS; i++)
    text[i] = tn_cpu_chaos_is_due(tn_cpu_chaos_due(stream, i)) ? '.' : 'x';
  text[COMMANDS] = 0;
}

static void test_schedule(void)
{
  char first[COMMANDS + 1], again[COMMANDS + 1], other[COMMANDS + 1];
  schedule(7, 3, first);
  tap_has(said, "TENON_CPU_CHAOS=7", "S1: the log has the seed");
  schedule(7, 3, again);
  tap_is_text(again, first, "S1: a seed gives its schedule again");
  schedule(8, 3, other);
  tap_ok(strcmp(other, first) != 0, "S1: another seed another one");
  schedule(7, 4, other);
  tap_ok(strcmp(other, first) != 0, "S1: another stream another one");
  tap_ok(strchr(first, '.') && strchr(first, 'x'),
         "S1: some commands are due at once, and some are not");
}

/* Of those that are not, some are due after a while. */
static void test_ticks(void)
{
  tn_cpu_chaos_setup(1);
  int late = 0, never = 0;
  for (uint64_t i = 0; i < COMMANDS; i++) {
    uint32_t due = tn_cpu_chaos_due(0, i);
    if (tn_cpu_chaos_is_due(due)) continue;
    for (int ticks = 0; ticks < 256; ticks++) tn_cpu_chaos_tick();
    late += tn_cpu_chaos_is_due(due);
    never += !tn_cpu_chaos_is_due(due);
  }
  tap_ok(late > COMMANDS / 4, "S1: %d commands are due after 256 ticks", late);
  tap_ok(never > COMMANDS / 8, "S1: %d are not, unless waited for", never);
}

/* --- the plugin --- */

static tn_backend_device *device;

static void begin(int seed)
{
  char text[16];
  snprintf(text, sizeof text, "%d", seed);
  setenv("TENON_CPU_CHAOS", text, 1);
  plugin_load();
  device = plugin_device();
}

static void end(void)
{
  plugin->device->close(device);
  plugin_unload();
}

static void flag_set(void *flag)
{
  atomic_store((atomic_int *)flag, 1);
}

static void semaphore_post(void *semaphore)
{
  sem_post(semaphore);
}

static tn_status call(tn_backend_stream *stream, void (*function)(void *),
                      void *argument)
{
  return plugin->stream->host_function(stream, function, argument, 1);
}

/* Whether a queued function was called when queueing it returned. */
static int ran_at_once(int seed)
{
  begin(seed);
  tn_backend_stream *stream = plugin_stream(device, 0, 0);
  atomic_int flag = 0;
  call(stream, flag_set, &flag);
  int at_once = atomic_load(&flag);
  plugin_synchronize(device, stream);
  if (!atomic_load(&flag)) tap_ok(false, "S1: it ran, seed %d", seed);
  plugin->stream->destroy(stream);
  end();
  return at_once;
}

static void test_lag(void)
{
  int at_once = 0;
  for (int seed = 1; seed <= SEEDS; seed++) at_once += ran_at_once(seed);
  tap_ok(at_once > 0 && at_once < SEEDS,
         "S1: with %d of %d seeds a command runs at once", at_once, SEEDS);
}

/* Nothing is held back for ever: the program may wait in its own ways. */
static void test_progress(void)
{
  sem_t done;
  sem_init(&done, 0, 0);
  for (int seed = 1; seed <= SEEDS; seed++) {
    begin(seed);
    tn_backend_stream *stream = plugin_stream(device, 0, 0);
    for (int i = 0; i < 100; i++) call(stream, semaphore_post, &done);
    for (int i = 0; i < 100;) i += sem_wait(&done) == 0;
    plugin->stream->destroy(stream);
    end();
  }
  tap_ok(true, "S1: 100 commands run that nobody waits for");
}

static void test_inline(void)
{
  begin(1);
  tn_backend_stream *stream = plugin_stream(device, TN_STREAM_DEFAULT, 0);
  atomic_int flag = 0;
  for (int i = 0; i < 100; i++) {
    atomic_store(&flag, 0);
    call(stream, flag_set, &flag);
    if (!atomic_load(&flag)) break;
  }
  tap_is_int(atomic_load(&flag), 1, "S1: the default stream is never late");
  plugin->stream->destroy(stream);
  end();
}

static int count_poisoned(const unsigned char *memory, size_t bytes)
{
  size_t count = 0;
  while (count < bytes && memory[count] == 0xff) count++;
  return (int)count;
}

static void test_poison(uint64_t bytes)
{
  begin(1);
  unsigned char *memory = plugin_alloc(device, bytes);
  tap_is_int(count_poisoned(memory, bytes), (int)bytes,
             "M8: new memory of %d bytes is poisoned", (int)bytes);
  memset(memory, 1, bytes);
  plugin_free(device, memory, bytes);
  tap_is_int(count_poisoned(memory, bytes), (int)bytes,
             "M8: so is what was given back");
  unsigned char *other = plugin_alloc(device, bytes);
  tap_ok(other && other != memory, "M8: its address is not given out soon");
  plugin_free(device, other, bytes);
  size_t before = strlen(plugin_log());
  memory[bytes / 2] = 5;
  end();
  char text[64];
  snprintf(text, sizeof text, "byte %d of %d of memory", (int)(bytes / 2),
           (int)bytes);
  tap_has(plugin_log() + before, text, "M8: who writes to it is told on");
}

/* More than is kept, in pieces of all sizes. */
static void test_traffic(void)
{
  begin(1);
  size_t before = strlen(plugin_log());
  int failures = 0;
  for (int i = 0; i < 1000; i++) {
    uint64_t bytes = UINT64_C(1) << i % 25;
    unsigned char *memory = plugin_alloc(device, bytes);
    failures += !memory;
    if (memory) memory[0] = memory[bytes - 1] = 1;
    plugin_free(device, memory, bytes);
  }
  end();
  tap_is_int(failures, 0, "M8: memory comes and goes");
  tap_is_text(plugin_log() + before, "", "M8: and nobody is told on");
}

int main(void)
{
  unsetenv("TENON_CPU_DEVICES");
  test_schedule();
  test_ticks();
  test_lag();
  test_progress();
  test_inline();
  test_poison(1000);
  test_poison(3 << 20);
  test_traffic();
  return tap_done();
}
