#include "tests/cudaemu/emulator.h"
#include "tests/cudaemu/stream.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

emu_state emu = {
  .lock = PTHREAD_MUTEX_INITIALIZER,
  .progress = PTHREAD_COND_INITIALIZER,
};

static unsigned reports;

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
