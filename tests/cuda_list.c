/* Listing the cuda devices, before and after the first use, and what a fork
 * does to both (rules D7, D8, D9). Run by cuda_listing.sh:
 *   cuda_list list BOARDS   boards by the last byte of their uuid, in order
 *   cuda_list use ORDINAL   uses a device; the error is the output */
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
  tap_skip("%s", NO_FORK);
#else
  check(argv[2]);
#endif
  return tap_done();
}
