/* Listing the cuda devices, before and after the first use, and what a fork
 * does to both (rules D7, D8, D9). Run by cuda_listing.sh:
 *   cuda_list list BOARDS   boards by the last byte of their uuid, in order
 *   cuda_list use ORDINAL   uses a device; the error is the output
 * and by gpu_check.sh:
 *   cuda_list facts all     what was listed against what the driver says */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tenon/tenon.h>

#include "tests/tap.h"

#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
#define NO_FORK "gcc's ThreadSanitizer cannot run a threaded child"
#endif

enum { MOST = 8, BYTES = 1 << 16 };

static int device_total;
static tn_device_info facts[MOST];

static tn_device device_at(int ordinal)
{
  char name[32];
  snprintf(name, sizeof name, "cuda:%d", ordinal);
  return tn_device_of(name);
}

/* 0, or the status of what failed. */
static int use(int ordinal)
{
  const tn_device host = { 0, 0 }, device = device_at(ordinal);
  unsigned char sent[64], got[64] = { 0 };
  for (int i = 0; i < 64; i++) sent[i] = (unsigned char)(i * 7 + ordinal);
  void *memory = tn_malloc(device, BYTES);
  if (!memory) return (int)tn_last_status();
  tn_status status = tn_copy(memory, device, sent, host, 64, false);
  if (!status) status = tn_copy(got, host, memory, device, 64, false);
  tn_free(memory);
  if (!status && memcmp(sent, got, 64) != 0) return -1;
  return (int)status;
}

static int in_child(int (*body)(void))
{
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) exit(body());
  int status = -1;
  if (child < 0 || waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
}

static int use_all(void)
{
  for (int i = 0; i < device_total; i++)
    if (use(i)) return 10 + i;
  return 0;
}

/* 0 if all is refused as it is to be. */
static int be_refused(void)
{
  tn_device_info info;
  if (use(0) != (int)TN_FORKED) return 1;
  if (tn_device_get_info(device_at(0), &info) != TN_FORKED) return 2;
  tn_clear_error();
  if (tn_device_count("cuda") || tn_last_status() != TN_FORKED) return 3;
  return tn_is_available("cuda") ? 4 : 0;
}

static void list(const char *boards)
{
  device_total = tn_device_count("cuda");
  tap_is_int(device_total, (long long)strlen(boards), "D8 counted");
  if (device_total > MOST) device_total = MOST;
  for (int i = 0; i < device_total; i++) {
    tap_is_int(tn_device_get_info(device_at(i), facts + i), TN_OK,
               "D8 cuda:%d is described", i);
    size_t length = strlen(facts[i].uuid);
    tap_ok(length == 36 && facts[i].uuid[35] == boards[i],
           "D7 cuda:%d is board %c: %s", i, boards[i], facts[i].uuid);
    tap_note("%s, %s, %s, %u units, groups of %u", facts[i].name,
             facts[i].driver, facts[i].pci_id, facts[i].compute_units,
             facts[i].max_group_size);
  }
  tap_ok(device_total == 0 || tn_is_available("cuda"), "A287 available");
}

/* What was said before the first use still holds, all but the generation. */
static void check_facts(void)
{
  for (int i = 0; i < device_total; i++) {
    tn_device_info now;
    tap_is_int(tn_device_get_info(device_at(i), &now), TN_OK,
               "D8 cuda:%d is described again", i);
    now.generation = facts[i].generation;
    tap_ok(memcmp(&now, facts + i, sizeof now) == 0,
           "D8 cuda:%d: the same in every byte", i);
  }
}

static void match(bool is_same, int ordinal, const char *what)
{
  tap_ok(is_same, "%s: [assumed] listed before the first use, cuda:%d has the "
         "driver's %s", is_same ? "MATCH" : "DIFFER", ordinal, what);
}

/* Each rule by which a listing is made without the driver. The memory of a
 * board is a little more than what its driver gives out. */
static void compare_facts(int i)
{
  tn_device_info now;
  const tn_device_info *was = facts + i;
  if (!tap_ok(!tn_device_get_info(device_at(i), &now),
              "D8 cuda:%d is described", i))
    return;
  match(strcmp(now.uuid, was->uuid) == 0, i, "uuid");
  match(strcmp(now.name, was->name) == 0, i, "name");
  match(strcmp(now.pci_id, was->pci_id) == 0, i, "place");
  match(strcmp(now.driver, was->driver) == 0, i, "compute capability");
  match(now.compute_units == was->compute_units, i, "compute units");
  match(now.max_group_size == was->max_group_size, i, "threads of a group");
  match(now.subgroup_sizes == was->subgroup_sizes, i, "lanes");
  match(now.max_shared_bytes == was->max_shared_bytes, i, "shared memory");
  match(now.unified == was->unified, i, "kind of memory");
  match(now.memory_total <= was->memory_total &&
            now.memory_total >= was->memory_total / 16 * 15, i, "memory");
}

static void compare_all(void)
{
  device_total = tn_device_count("cuda");
  if (device_total > MOST) device_total = MOST;
  tap_ok(device_total > 0, "D8 %d devices counted", device_total);
  for (int i = 0; i < device_total; i++)
    tap_is_int(tn_device_get_info(device_at(i), facts + i), TN_OK,
               "D8 cuda:%d is listed", i);
  tap_is_int(in_child(use_all), 0, "D8 a child may use them");
  tap_is_int(use_all(), 0, "D8 and so may the parent");
  for (int i = 0; i < device_total; i++) compare_facts(i);
  tap_is_int(in_child(be_refused), 0, "D9 after that, a child is refused");
}

static void check(const char *boards)
{
  list(boards);
  tap_is_int(in_child(use_all), 0, "D8 a child may use them");
  list(boards);
  tap_is_int(use_all(), 0, "D8 and so may the parent");
  check_facts();
  tap_is_int(in_child(be_refused), 0,
             "D9 after that, a child is refused with TN_FORKED");
  tap_is_int(use_all(), 0, "D9 and the parent is unharmed");
}

int main(int argc, char **argv)
{
  if (argc != 3) return 2;
  if (strcmp(argv[1], "use") == 0) {
    int status = use(atoi(argv[2]));
    if (status) printf("%d: %s\n", status, tn_error_message());
    return status != 0;
  }
#ifdef NO_FORK
  (void)check;
  (void)compare_all;
  tap_skip("%s", NO_FORK);
#else
  if (strcmp(argv[1], "facts") == 0) compare_all();
  else check(argv[2]);
#endif
  return tap_done();
}
