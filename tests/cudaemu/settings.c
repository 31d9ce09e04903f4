#include "tests/cudaemu/emulator.h"
#include "tests/cudaemu/stream.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

emu_state emu = {
  .lock = PTHREAD_MUTEX_INITIALIZER,
  .progress = PTHREAD_COND_INITIALIZER,
};

static unsigned reports;

static _Noreturn void refuse(const char *name, const char *text,
                             const char *accepted)
{
  fprintf(stderr, "EMULATED: %s is \"%s\": %s\n", name, text, accepted);
  _Exit(99);
}

static uint64_t read_number(const char *name, uint64_t otherwise,
                            uint64_t most)
{
  const char *text = getenv(name);
  char *end;
  if (!text || !*text) return otherwise;
  unsigned long long value = strtoull(text, &end, 0);
  if (*end || value > most || *text == '-') {
    char accepted[64];
    snprintf(accepted, sizeof accepted, "a number up to %llu",
             (unsigned long long)most);
    refuse(name, text, accepted);
  }
  return value;
}

/* "12.4" as 10 * 12 + 4, or so. */
static int read_version(const char *name, int otherwise, int least, int most)
{
  const char *text = getenv(name);
  int major = 0, minor = 0;
  char rest;
  if (!text || !*text) return otherwise;
  if (sscanf(text, "%d.%d%c", &major, &minor, &rest) != 2 || minor < 0 ||
      minor > 9 || major < 0 || major > 99 ||
      major * 10 + minor < least || major * 10 + minor > most)
    refuse(name, text, "a version such as 12.0");
  return major * 10 + minor;
}

void emu_settings_read(void)
{
  emu_settings *s = &emu.settings;
  const char *peers = getenv("TENON_CUDAEMU_PEERS");
  const char *trace = getenv("TENON_CUDAEMU_TRACE");
  const char *races = getenv("TENON_CUDAEMU_RACES");
  s->driver = read_version("TENON_CUDAEMU_DRIVER", 120, 110, 130) * 100;
  s->driver = s->driver / 1000 * 1000 + s->driver % 1000 / 100 * 10;
  s->capability = read_version("TENON_CUDAEMU_CAPABILITY", 75, 50, 120);
  s->devices = (int)read_number("TENON_CUDAEMU_DEVICES", 2, EMU_DEVICES_MAX);
  s->memory = read_number("TENON_CUDAEMU_MEMORY", UINT64_C(2) << 30,
                          UINT64_C(32) << 30);
  s->seed = read_number("TENON_CUDAEMU_SEED", 1, UINT64_MAX);
  s->faults = getenv("TENON_CUDAEMU_FAIL");
  if (peers && strcmp(peers, "all") != 0 && strcmp(peers, "none") != 0)
    refuse("TENON_CUDAEMU_PEERS", peers, "all or none");
  s->no_peers = peers && strcmp(peers, "none") == 0;
  s->trace = trace && *trace;
  s->no_races = races && strcmp(races, "0") == 0;
}

uint64_t emu_random(uint64_t a, uint64_t b)
{
  uint64_t z = emu.settings.seed * UINT64_C(0x9e3779b97f4a7c15) +
               a * UINT64_C(0xd1342543de82ef95) + b;
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

static void print(const char *format, va_list arguments)
{
  char line[1024];
  vsnprintf(line, sizeof line, format, arguments);
  fprintf(stderr, "EMULATED: %s\n", line);
}

void emu_print(const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  print(format, arguments);
  va_end(arguments);
}

void emu_report(const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  print(format, arguments);
  va_end(arguments);
  __atomic_add_fetch(&reports, 1, __ATOMIC_RELAXED);
}

unsigned cudaemu_take_reports(void)
{
  return __atomic_exchange_n(&reports, 0, __ATOMIC_RELAXED);
}

__attribute__((destructor)) static void end_with_reports(void)
{
  if (emu.forked || !emu.initialised) return;
  emu_streams_end();
  unsigned count = cudaemu_take_reports();
  if (!count) return;
  fprintf(stderr, "EMULATED: %u of the lines above say what a GPU would not: "
          "exit status 86 (seed %llu)\n", count,
          (unsigned long long)emu.settings.seed);
  fflush(NULL);
  _Exit(86);
}
