/* Watching the core, and failing on purpose. */
#include "tests/plugins/remote/remote.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char fail_list[256];
static unsigned seed, latency_max;

/* A number from the environment, or `otherwise`. */
static unsigned setting(const char *name, unsigned otherwise)
{
  const char *text = remote_host->environment(name);
  return text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

void remote_rules_init(void)
{
  const char *list = remote_host->environment("TENON_REMOTE_FAIL");
  snprintf(fail_list, sizeof fail_list, "%s", list ? list : "");
  seed = setting("TENON_REMOTE_SEED", 1);
  latency_max = setting("TENON_REMOTE_LATENCY", 100);
  remote_host->log(TN_LOG_DEBUG, "remote: TENON_REMOTE_SEED=%u", seed);
}

void remote_broken(const char *format, ...)
{
  char text[TN_BACKEND_TEXT_SIZE];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  fprintf(stderr, "remote: broken rule: %s\n", text);
  abort();
}

tn_status remote_desc_check(const char *what, size_t size, size_t wanted,
                            uint32_t flags, uint32_t known)
{
  if (size < wanted)
    return remote_host->error(TN_INVALID_ARGUMENT,
                              "%s has %zu bytes, remote needs %zu", what,
                              size, wanted);
  if (flags & ~known)
    return remote_host->error(TN_INVALID_ARGUMENT,
                              "%s has unknown flags 0x%x", what,
                              (unsigned)(flags & ~known));
  return TN_OK;
}

/* Whether `list` ("copy:3,launch:1") has NAME:NUMBER. */
static bool listed(const char *list, const char *name, unsigned number)
{
  char entry[64];
  int length = snprintf(entry, sizeof entry, "%s:%u", name, number);
  for (const char *at = list; at; at = strchr(at, ',')) {
    at += *at == ',';
    if (!strncmp(at, entry, (size_t)length) &&
        (at[length] == 0 || at[length] == ','))
      return true;
  }
  return false;
}

remote_fault remote_fault_next(bool is_launch)
{
  static atomic_uint copies, launches;
  unsigned number =
      atomic_fetch_add(is_launch ? &launches : &copies, 1) + 1;
  if (listed(fail_list, is_launch ? "lost_launch" : "lost_copy", number))
    return FAULT_LOST;
  if (listed(fail_list, is_launch ? "launch" : "copy", number))
    return FAULT_WORK;
  return FAULT_NONE;
}

unsigned remote_chance(unsigned bound)
{
  static atomic_uint drawn;
  if (bound == 0) return 0;
  uint64_t x = ((uint64_t)seed << 32) + atomic_fetch_add(&drawn, 1);
  x = (x ^ x >> 31) * UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
  return (unsigned)((x ^ x >> 32) % bound);
}

/* Mostly at once or soon, sometimes as late as it may be. */
unsigned remote_latency(void)
{
  switch (remote_chance(4)) {
  case 0: return latency_max;
  case 1: return 0;
  default: return remote_chance(latency_max / 8 + 1);
  }
}
