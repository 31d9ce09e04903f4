#include "backends/cpu/machine.h"

#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* The first line of a file without its newline; false if there is none. */
static bool line_read(const char *path, char *line, size_t size)
{
  FILE *file = fopen(path, "re");
  if (!file) return false;
  bool got = fgets(line, (int)size, file) != NULL;
  fclose(file);
  if (got) line[strcspn(line, "\n")] = 0;
  return got;
}

/* The rest of the first line that starts with `key`, blanks and the colon
 * after it removed. */
static bool field_read(const char *path, const char *key, char *value,
                       size_t size)
{
  char line[512];
  bool found = false;
  FILE *file = fopen(path, "re");
  if (!file) return false;
  while (!found && fgets(line, sizeof line, file))
    found = strncmp(line, key, strlen(key)) == 0;
  fclose(file);
  if (!found) return false;
  char *at = line + strlen(key);
  at += strspn(at, " \t:");
  at[strcspn(at, "\n")] = 0;
  snprintf(value, size, "%s", at);
  return true;
}

int tn_cpu_machine_processors(void)
{
  size_t most = 1024;
  int count = 0;
  /* The mask must be as long as the kernel's. */
  while (count == 0 && most <= 1024 * 1024) {
    cpu_set_t *set = CPU_ALLOC(most);
    if (!set) break;
    if (sched_getaffinity(0, CPU_ALLOC_SIZE(most), set) == 0)
      count = CPU_COUNT_S(CPU_ALLOC_SIZE(most), set);
    CPU_FREE(set);
    most *= 2;
  }
  return count > 0 ? count : 1;
}

uint64_t tn_cpu_machine_cache(void)
{
  long bytes = -1;
#ifdef _SC_LEVEL3_CACHE_SIZE
  bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
  if (bytes <= 0) bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
#endif
  return bytes > 0 ? (uint64_t)bytes : 0;
}

void tn_cpu_machine_name(char *name, size_t size)
{
  static const char *const keys[] = { "model name", "Model", "cpu\t",
                                      "uarch" };
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (field_read("/proc/cpuinfo", keys[i], name, size) && *name) return;
  struct utsname system;
  snprintf(name, size, "%s processor",
           uname(&system) == 0 ? system.machine : "unknown");
}

int tn_cpu_machine_numa_node(void)
{
  char online[64];
  if (!line_read("/sys/devices/system/node/online", online, sizeof online))
    return -1;
  char *end;
  long node = strtol(online, &end, 10);
  return end != online && !*end ? (int)node : -1;
}

/* FNV-1a */
static uint64_t text_mix(uint64_t hash, const char *text)
{
  for (; *text; text++)
    hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
  return hash;
}

void tn_cpu_machine_uuid(int ordinal, uint8_t uuid[16])
{
  char machine[128], processor[128], facts[384];
  struct utsname system;
  if (!line_read("/etc/machine-id", machine, sizeof machine))
    snprintf(machine, sizeof machine, "%s",
             uname(&system) == 0 ? system.nodename : "");
  tn_cpu_machine_name(processor, sizeof processor);
  snprintf(facts, sizeof facts, "tenon-cpu %s %s %d", machine, processor,
           ordinal);
  /* The machine's id is not to be shown, so it is only mixed in. */
  uint64_t high = text_mix(UINT64_C(0xcbf29ce484222325), facts);
  uint64_t low = text_mix(high ^ UINT64_C(0x9e3779b97f4a7c15), facts);
  memcpy(uuid, &high, 8);
  memcpy(uuid + 8, &low, 8);
  uuid[6] = (uint8_t)((uuid[6] & 0x0f) | 0x80); /* version 8: our own */
  uuid[8] = (uint8_t)((uuid[8] & 0x3f) | 0x80);
}

/* A field of /proc/meminfo in bytes, 0 if it is not there. */
static uint64_t meminfo_read(const char *root, const char *key)
{
  char path[4096], value[64];
  snprintf(path, sizeof path, "%s/proc/meminfo", root);
  if (!field_read(path, key, value, sizeof value)) return 0;
  return strtoull(value, NULL, 10) * 1024;
}

/* The least limit in `folder` and the folders of the group's path above it.
 * In a container the path often does not exist; the mount's own top does. */
static uint64_t group_limit(const char *folder, const char *group,
                            const char *file, uint64_t limit)
{
  char path[4096], value[64], at[2048];
  snprintf(at, sizeof at, "%s", strcmp(group, "/") == 0 ? "" : group);
  for (;;) {
    snprintf(path, sizeof path, "%.1500s%s/%s", folder, at, file);
    if (line_read(path, value, sizeof value) && *value >= '0' &&
        *value <= '9') {
      uint64_t bytes = strtoull(value, NULL, 10);
      if (bytes < limit) limit = bytes;
    }
    char *slash = strrchr(at, '/');
    if (!slash) return limit;
    *slash = 0;
  }
}

/* Whether the comma-separated controllers of a version 1 line have memory. */
static bool has_memory(const char *controllers, size_t length)
{
  for (const char *at = controllers; at < controllers + length;) {
    size_t word = strcspn(at, ",:");
    if (word == 6 && strncmp(at, "memory", 6) == 0) return true;
    at += word + 1;
  }
  return false;
}

/* A line is ID:CONTROLLERS:PATH; version 2 has id 0 and no controllers. */
static uint64_t line_limit(const char *root, char *line, uint64_t limit)
{
  char folder[2048];
  line[strcspn(line, "\n")] = 0;
  char *controllers = strchr(line, ':');
  char *group = controllers ? strchr(controllers + 1, ':') : NULL;
  if (!group) return limit;
  controllers++;
  if (controllers == group) {
    snprintf(folder, sizeof folder, "%s/sys/fs/cgroup", root);
    return group_limit(folder, group + 1, "memory.max", limit);
  }
  if (!has_memory(controllers, (size_t)(group - controllers))) return limit;
  snprintf(folder, sizeof folder, "%s/sys/fs/cgroup/memory", root);
  return group_limit(folder, group + 1, "memory.limit_in_bytes", limit);
}

uint64_t tn_cpu_machine_memory(const char *root)
{
  char path[4096], line[2048];
  uint64_t limit = meminfo_read(root, "MemTotal");
  if (!limit) limit = UINT64_MAX;
  snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
  FILE *file = fopen(path, "re");
  if (!file) return limit;
  while (fgets(line, sizeof line, file)) limit = line_limit(root, line, limit);
  fclose(file);
  return limit;
}

uint64_t tn_cpu_machine_available(const char *root)
{
  return meminfo_read(root, "MemAvailable");
}
