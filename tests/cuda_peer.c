/* Peer access that differs from pair to pair (rules S3, T3). Run by
 * cuda_peers.sh:
 *   cuda_peer all PAIRS      every pair of three devices; those of PAIRS, such
 *                            as "01,12", can: the first the second's memory
 *   cuda_peer wrong FROM TO  a kernel on FROM uses memory of TO without access;
 *                            the error is the output */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tenon/tenon.h>

#include "tests/tap.h"

enum { DEVICES = 3, COUNT = 1000 };

static const tn_device host = { 0, 0 };
static tn_device devices[DEVICES];

static bool can(const char *pairs, int from, int to)
{
  const char pair[] = { (char)('0' + from), (char)('0' + to), '\0' };
  return strstr(pairs, pair) != NULL;
}

static float *take(int at, float first)
{
  float values[COUNT], *memory = tn_malloc(devices[at], sizeof values);
  for (int i = 0; i < COUNT; i++) values[i] = first + (float)i;
  tn_copy(memory, devices[at], values, host, sizeof values, false);
  return memory;
}

static bool has(int at, const float *memory, float first, float step)
{
  float got[COUNT];
  bool is_right = true;
  if (tn_copy(got, host, memory, devices[at], sizeof got, false)) return false;
  for (int i = 0; i < COUNT; i++)
    is_right &= got[i] == first + step * (float)i;
  return is_right;
}

static void check_copy(int from, int to, bool is_direct)
{
  char path[256] = "";
  float *sent = take(from, 5), *got = take(to, 0);
  tap_is_int(tn_copy(got, devices[to], sent, devices[from],
                     COUNT * sizeof *got, true), TN_OK,
             "S3 a copy from %d to %d", from, to);
  tap_ok(has(to, got, 5, 1), "S3 arrives whole");
  tn_copy_path(devices[to], devices[from], path, sizeof path);
  tap_has(path, is_direct ? "peer: direct" : "staged through pinned",
          "S3 its way is told");
  tn_free(sent);
  tn_free(got);
}

/* y += 2 x on a device, with x on another. */
static tn_status add(int at, float *y, const float *x)
{
  tn_module *module = tn_module_builtin(devices[at], "elementwise");
  tn_kernel *kernel = tn_kernel_get(module, "axpy_f32");
  tn_status status =
      tn_launch(kernel, COUNT, TN_ARGS(TN_ARG_PTR(y), TN_ARG_PTR(x),
                                       TN_ARG_F32(2), TN_ARG_I64(COUNT)));
  if (status == TN_OK) status = tn_synchronize(devices[at]);
  tn_kernel_release(kernel);
  tn_module_release(module);
  return status;
}

static void check_access(int from, int to)
{
  float *y = take(from, 1), *x = take(to, 3);
  tap_is_int(tn_enable_peer_access(devices[from], devices[to]), TN_OK,
             "T3 access from %d to %d is enabled", from, to);
  tap_is_int(tn_enable_peer_access(devices[from], devices[to]), TN_OK,
             "T3 again is no error");
  tap_is_int(add(from, y, x), TN_OK, "T3 a kernel may then read there");
  tap_ok(has(from, y, 7, 3), "T3 and is right");
  tap_is_int(tn_disable_peer_access(devices[from], devices[to]), TN_OK,
             "T3 disabled");
  tap_is_int(tn_disable_peer_access(devices[from], devices[to]),
             TN_INVALID_ARGUMENT, "T3 once only");
  tap_is_int(tn_enable_peer_access(devices[from], devices[to]), TN_OK,
             "T3 and enabled anew");
  tn_free(x);
  tn_free(y);
}

static void check_refusal(int from, int to)
{
  char part[64];
  tap_is_int(tn_enable_peer_access(devices[from], devices[to]),
             TN_UNSUPPORTED, "T3 access from %d to %d is refused", from, to);
  snprintf(part, sizeof part, "from cuda:%d to cuda:%d", from, to);
  tap_has(tn_error_message(), part, "T3 naming both");
}

static void check_all(const char *pairs)
{
  for (int from = 0; from < DEVICES; from++)
    for (int to = 0; to < DEVICES; to++) {
      if (from == to) continue;
      bool possible = can(pairs, from, to);
      tap_ok(tn_can_access_peer(devices[from], devices[to]) == possible,
             "T3 %d can%s access %d", from, possible ? "" : "not", to);
      check_copy(from, to, possible);
      if (possible) check_access(from, to);
      else check_refusal(from, to);
      check_copy(from, to, possible);
    }
}

int main(int argc, char **argv)
{
  if (argc < 3) return 2;
  for (int i = 0; i < DEVICES; i++) {
    char name[16];
    snprintf(name, sizeof name, "cuda:%d", i);
    devices[i] = tn_device_of(name);
  }
  if (strcmp(argv[1], "wrong") == 0 && argc == 4) {
    int from = atoi(argv[2]), to = atoi(argv[3]);
    /* The way back may be enabled: that is another thing. */
    tn_enable_peer_access(devices[to], devices[from]);
    tn_status status = add(from, take(from, 1), take(to, 3));
    printf("%d: %s\n", (int)status, tn_error_message());
    return status != TN_DEVICE_LOST;
  }
  check_all(argv[2]);
  return tap_done();
}
