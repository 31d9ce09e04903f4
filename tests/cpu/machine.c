/* What the cpu backend makes of the files a system describes itself in. */
#include "backends/cpu/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/tap.h"

#define MIB (UINT64_C(1) << 20)

static char root[] = "/tmp/tenon-test-XXXXXX";

/* Makes a file under the root, and the folders above it. */
static void put(const char *path, const char *content)
{
  char name[4096];
  snprintf(name, sizeof name, "%s%s", root, path);
  for (char *slash = strchr(name + strlen(root) + 1, '/'); slash;
       slash = strchr(slash + 1, '/')) {
    *slash = 0;
    mkdir(name, 0700);
    *slash = '/';
  }
  FILE *file = fopen(name, "w");
  if (!file) {
    printf("Bail out! cannot write %s\n", name);
    exit(1);
  }
  fputs(content, file);
  fclose(file);
}

static void check_limit(uint64_t mib, const char *what)
{
  tap_is_int((long long)tn_cpu_machine_limit(root), (long long)(mib * MIB),
             "memory is limited by %s", what);
}

static void check_unlimited(const char *what)
{
  tap_ok(tn_cpu_machine_limit(root) >= UINT64_MAX / 4,
         "memory is not limited %s", what);
}

static void test_limits(void)
{
  put("/proc/meminfo", "MemTotal:       1048576 kB\nMemFree: 5 kB\n"
                       "MemAvailable:    524288 kB\n");
  check_unlimited("without control groups");
  tap_is_int((long long)tn_cpu_machine_available(root),
             (long long)(512 * MIB), "available memory is read");

  put("/proc/self/cgroup", "0::/user/app\n");
  check_unlimited("where no limit file exists");
  put("/sys/fs/cgroup/user/app/memory.max", "max\n");
  check_unlimited("where the limit is \"max\"");
  put("/sys/fs/cgroup/user/app/memory.max", "268435456\n");
  check_limit(256, "the version 2 limit");
  put("/sys/fs/cgroup/user/memory.max", "134217728\n");
  check_limit(128, "the least limit of the groups above");
  put("/sys/fs/cgroup/user/memory.max", "9999999999999\n");
  check_limit(256, "the group's own limit if those above are higher");

  put("/proc/self/cgroup", "5:devices:/\n4:cpu,memory:/app\n0::/\n");
  put("/sys/fs/cgroup/memory/app/memory.limit_in_bytes", "67108864\n");
  check_limit(64, "the version 1 limit");
  put("/sys/fs/cgroup/memory/app/memory.limit_in_bytes",
      "9223372036854771712\n");
  check_unlimited("where version 1 has no limit");
  put("/proc/self/cgroup", "4:memory:/not/mounted/here\n");
  put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "33554432\n");
  check_limit(32, "the mount's own limit where the path is not there");
}

static void test_facts(void)
{
  char name[128] = "";
  uint8_t first[16], again[16], second[16];
  tap_ok(tn_cpu_machine_processors() >= 1, "there is a processor");
  tn_cpu_machine_name(name, sizeof name);
  tap_ok(*name, "it has a name: %s", name);
  tn_cpu_machine_uuid(name, 0, first);
  tn_cpu_machine_uuid(name, 0, again);
  tn_cpu_machine_uuid(name, 1, second);
  tap_ok(memcmp(first, again, 16) == 0, "a uuid stays the same");
  tap_ok(memcmp(first, second, 4) != 0, "uuids differ from the start");
  tap_ok(tn_cpu_machine_memory() > MIB, "this machine has memory");
  uint64_t available = tn_cpu_machine_available("");
  tap_ok(available > 0 && available <= tn_cpu_machine_memory(),
         "of which a part is available");
  tap_ok(tn_cpu_machine_numa_node() >= -1, "NUMA node or -1");
}

int main(void)
{
  if (!mkdtemp(root)) return 1;
  test_limits();
  test_facts();
  char command[64];
  snprintf(command, sizeof command, "rm -r %s", root);
  tap_ok(system(command) == 0, "the scratch folder is removed");
  return tap_done();
}
