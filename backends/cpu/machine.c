#include "backends/cpu/machine.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

/* The start of a file as text; false if there is none. Program start waits for
 * this, so it is done in as few system calls as it takes. */
static bool text_read(const char *path, char *text, size_t size)
{
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  ssize_t got = read(file, text, size - 1);
  close(file);
  if (got < 0) return false;
  text[got] = 0;
  return true;
}

static bool line_read(const char *path, char *line, size_t size)
{
  if (!text_read(path, line, size)) return false;
  line[strcspn(line, "\n")] = 0;
  return *line;
}

/* The rest of the first line that starts with `key`, blanks and the colon
 * after it removed, within the first `most` (up to 4096) bytes. */
static bool field_read(const char *path, size_t most, const char *key,
                       char *value, size_t size)
{
  char text[4096];
  if (!text_read(path, text, most)) return false;
  const char *at = text;
  while (*at && strncmp(at, key, strlen(key)) != 0) {
    at += strcspn(at, "\n");
    at += *at == '\n';
  }
  if (!*at) return false;
  at += strlen(key);
  at += strspn(at, " \t:");
  snprintf(value, size, "%.*s", (int)strcspn(at, "\n"), at);
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
  /* Near the start, where the system has written of one processor only. */
  if (field_read("/proc/cpuinfo", 512, keys[0], name, size) && *name) return;
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (field_read("/proc/cpuinfo", 4096, keys[i], name, size) && *name)
      return;
  struct utsname system;
  snprintf(name, size, "%s processor",
           uname(&system) == 0 ? system.machine : "unknown");
}

/* From the nodes this process may have memory of: one call, but forbidden in
 * some containers. -2: not known. */
static int node_of_policy(void)
{
#ifdef SYS_get_mempolicy
  unsigned long nodes[1024 / (8 * sizeof(long))] = { 0 };
  const unsigned long allowed = 4; /* MPOL_F_MEMS_ALLOWED */
  if (syscall(SYS_get_mempolicy, NULL, nodes, 1024ul, NULL, allowed) != 0)
    return -2;
  int node = -2;
  for (int i = 0; i < 1024; i++) {
    if (!(nodes[i / (8 * (int)sizeof(long))] >> i % (8 * sizeof(long)) & 1))
      continue;
    if (node >= 0) return -1;
    node = i;
  }
  return node;
#else
  return -2;
#endif
}

int tn_cpu_machine_numa_node(void)
{
  char online[64], *end;
  int known = node_of_policy();
  if (known != -2) return known;
  if (!line_read("/sys/devices/system/node/online", online, sizeof online))
    return -1;
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

void tn_cpu_machine_uuid(const char *name, int ordinal, uint8_t uuid[16])
{
  char machine[128], facts[384];
  struct utsname system;
  if (!line_read("/etc/machine-id", machine, sizeof machine))
    snprintf(machine, sizeof machine, "%s",
             uname(&system) == 0 ? system.nodename : "");
  snprintf(facts, sizeof facts, "tenon-cpu %s %.128s %d", machine, name,
           ordinal);
  /* The machine's id is not to be shown, so it is only mixed in. */
  uint64_t high = text_mix(UINT64_C(0xcbf29ce484222325), facts);
  uint64_t low = text_mix(high ^ UINT64_C(0x9e3779b97f4a7c15), facts);
  memcpy(uuid, &high, 8);
  memcpy(uuid + 8, &low, 8);
  uuid[6] = (uint8_t)((uuid[6] & 0x0f) | 0x80); /* version 8: our own */
  uuid[8] = (uint8_t)((uuid[8] & 0x3f) | 0x80);
}

/* The least limit in `folder` and the folders of the group's path above it.
 * In a container the path often does not exist; the mount's own top does. */
static uint64_t group_limit(const char *root, const char *folder,
                            const char *group, const char *file)
{
  char path[1024], value[32];
  uint64_t limit = UINT64_MAX;
  size_t length = strcmp(group, "/") == 0 ? 0 : strlen(group);
  for (;;) {
    int wanted = snprintf(path, sizeof path, "%s%s%.*s/%s", root, folder,
                          (int)length, group, file);
    if (wanted < (int)sizeof path && line_read(path, value, sizeof value) &&
        *value >= '0' && *value <= '9') {
      uint64_t bytes = strtoull(value, NULL, 10);
      if (bytes < limit) limit = bytes;
    }
    if (!length) return limit;
    while (group[--length] != '/') {
    }
  }
}

/* Whether the comma-separated controllers of a version 1 line have memory. */
static bool has_memory(const char *controllers)
{
  for (const char *at = controllers; *at != ':';) {
    size_t word = strcspn(at, ",:");
    if (word == 6 && strncmp(at, "memory", 6) == 0) return true;
    at += word + (at[word] == ',');
  }
  return false;
}

/* Lines are ID:CONTROLLERS:PATH, of version 1 but for one without controllers,
 * which is of version 2. Memory is in one of them. */
uint64_t tn_cpu_machine_limit(const char *root)
{
  char path[1024], groups[4096], *rest = NULL;
  const char *unified = NULL;
  snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
  if (!text_read(path, groups, sizeof groups)) return UINT64_MAX;
  for (char *line = strtok_r(groups, "\n", &rest); line;
       line = strtok_r(NULL, "\n", &rest)) {
    const char *controllers = strchr(line, ':');
    const char *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group || group[1] != '/') continue;
    if (group == controllers + 1)
      unified = group + 1;
    else if (has_memory(controllers + 1))
      return group_limit(root, "/sys/fs/cgroup/memory", group + 1,
                         "memory.limit_in_bytes");
  }
  if (!unified) return UINT64_MAX;
  return group_limit(root, "/sys/fs/cgroup", unified, "memory.max");
}

uint64_t tn_cpu_machine_memory(void)
{
  struct sysinfo facts;
  if (sysinfo(&facts) != 0) return UINT64_MAX;
  return (uint64_t)facts.totalram * facts.mem_unit;
}

uint64_t tn_cpu_machine_available(const char *root)
{
  char path[1024], value[64];
  snprintf(path, sizeof path, "%s/proc/meminfo", root);
  if (!field_read(path, 4096, "MemAvailable", value, sizeof value)) return 0;
  return strtoull(value, NULL, 10) * 1024;
}
