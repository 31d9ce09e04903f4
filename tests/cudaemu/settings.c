#include "tests/cudaemu/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void let_access(emu_settings *s, int device, int peer)
{
  if (device != peer) s->peers[device] |= 1u << peer;
}

/* "0-1,2>1": 0 and 1 access each other's memory, and 2 that of 1. */
static void read_peers(emu_settings *s)
{
  const char *name = "TENON_CUDAEMU_PEERS";
  const char *list = getenv(name), *at = list;
  if (!list || !*list || strcmp(list, "all") == 0) {
    memset(s->peers, 0xff, sizeof s->peers);
    return;
  }
  if (strcmp(list, "none") == 0) return;
  while (*at) {
    int device = at[0] - '0', peer = at[0] && at[1] ? at[2] - '0' : -1;
    if (device < 0 || device >= EMU_DEVICES_MAX || peer < 0 ||
        peer >= EMU_DEVICES_MAX || (at[1] != '-' && at[1] != '>') ||
        (at[3] && (at[3] != ',' || !at[4])))
      refuse(name, list, "all, none, or pairs: 0-1 both ways, 0>1 one way, "
                         "separated by commas");
    let_access(s, device, peer);
    if (at[1] == '-') let_access(s, peer, device);
    at += at[3] ? 4 : 3;
  }
}

static bool is_on(const char *name)
{
  const char *text = getenv(name);
  return text && *text && strcmp(text, "0") != 0;
}

static void read_nvml(emu_settings *s)
{
  static const char *const names[] = {
    [EMU_NVML_WORKS] = "", [EMU_NVML_MISMATCH] = "mismatch",
    [EMU_NVML_LOST] = "lost", [EMU_NVML_FEWER] = "fewer",
    [EMU_NVML_DIVIDED] = "mig", [EMU_NVML_OLD] = "old",
  };
  const char *text = getenv("TENON_CUDAEMU_NVML");
  size_t i = 0, count = sizeof names / sizeof *names;
  while (i < count && strcmp(names[i], text ? text : "") != 0) i++;
  if (i == count)
    refuse("TENON_CUDAEMU_NVML", text, "mismatch, lost, fewer, mig or old");
  s->nvml = (emu_nvml)i;
}

void emu_settings_read(emu_settings *s)
{
  const char *races = getenv("TENON_CUDAEMU_RACES");
  s->driver = read_version("TENON_CUDAEMU_DRIVER", 120, 110, 130) * 100;
  s->driver = s->driver / 1000 * 1000 + s->driver % 1000 / 100 * 10;
  s->capability = read_version("TENON_CUDAEMU_CAPABILITY", 75, 50, 120);
  s->devices = (int)read_number("TENON_CUDAEMU_DEVICES", 2, EMU_DEVICES_MAX);
  s->memory = read_number("TENON_CUDAEMU_MEMORY", UINT64_C(2) << 30,
                          UINT64_C(32) << 30);
  s->seed = read_number("TENON_CUDAEMU_SEED", 1, UINT64_MAX);
  s->faults = getenv("TENON_CUDAEMU_FAIL");
  s->without = getenv("TENON_CUDAEMU_WITHOUT");
  s->trace = is_on("TENON_CUDAEMU_TRACE");
  s->mixed = is_on("TENON_CUDAEMU_MIXED");
  s->order_ignored = is_on("TENON_CUDAEMU_ORDER_IGNORED");
  s->no_races = races && strcmp(races, "0") == 0;
  read_peers(s);
  read_nvml(s);
}
