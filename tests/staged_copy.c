/* Ways of copies that depend on what a backend offers, by hand: between
 * devices direct or staged, damaged, without fill (rules S3, X3). */
#include "config.h"

#include "tests/manual_device.h"

#include <stdlib.h>
#include <string.h>

enum { SIZE = (9 << 20) + 123 };

static void draw(unsigned char *bytes, unsigned seed)
{
  for (int i = 0; i < SIZE; i++) {
    seed = seed * 1103515245u + 12345u;
    bytes[i] = (unsigned char)(seed >> 16);
  }
}

static char path[256];

/* A copy between two devices, after work of both and before more. */
static bool send(void)
{
  unsigned char *sent = malloc(SIZE), *got = malloc(SIZE);
  char *one = tn_malloc(manual_first, SIZE);
  char *two = tn_malloc(manual_second, SIZE);
  draw(sent, 1);
  tn_fill_bytes(two, manual_second, 1, SIZE);
  tn_copy(one, manual_first, sent, manual_host, SIZE, true);
  tap_is_int(tn_copy(two, manual_second, one, manual_first, SIZE, true), TN_OK,
             "S3 a copy between devices");
  tn_fill_bytes(one, manual_first, 2, SIZE);
  tn_copy(got, manual_host, two, manual_second, SIZE, false);
  bool is_same = memcmp(sent, got, SIZE) == 0;
  tap_ok(is_same, "A183 ordered with the streams of both");
  tap_is_int(tn_synchronize(manual_first), TN_OK, "S3 the source's stream");
  tn_free(one);
  tn_free(two);
  free(sent);
  free(got);
  int length = tn_copy_path(manual_second, manual_first, path, sizeof path);
  tap_is_int(length, (long)strlen(path), "S3 the way can be asked: %s", path);
  return is_same;
}

static void test_staged(void)
{
  send();
  tap_has(path, "staged", "S3 staged without peers");
  tap_has(path, "manual:0 cannot reach manual:1", "S3 with the reason");
  tn_memory_stats host;
  tn_host_memory_get_stats(&host);
  tap_ok(host.reserved.all.current > 0, "S3 through pinned memory");
  tap_is_int((long)host.allocated.all.current, 0, "S3 which is given back");
  tap_ok(host.reserved.all.current <= 16u << 20,
         "S3 and not as much of it as there is to copy");
  tn_copy_path(manual_first, manual_first, path, sizeof path);
  tap_is_text(path, "direct: one device", "S3 a device and itself");
  tap_is_int(tn_copy_path(manual_first, manual_second, path, 4),
             (long)strlen("staged through pinned host memory: manual:1 cannot "
                          "reach manual:0, its backend says"),
             "S3 the text is cut like snprintf's");
  tap_is_int(tn_copy_path(manual_first, manual_second, NULL, 4), -1,
             "S3 NULL with room is refused");
}

static void test_direct(void)
{
  send();
  tap_has(path, "peer", "S3 direct between peers");
  int before = manual->copy_count();
  char *one = tn_malloc(manual_first, 16), *two = tn_malloc(manual_second, 16);
  tn_copy(two, manual_second, one, manual_first, 16, true);
  tap_is_int(manual->copy_count() - before, 1, "S3 with one copy");
  tn_synchronize(manual_first);
  tn_synchronize(manual_second);
  tn_free(one);
  tn_free(two);
}

static void test_damage(void)
{
  tap_ok(send(), "S3 peers whose copies arrive damaged are not used");
  tap_has(path, "staged", "S3 but staged");
  tap_has(path, "damaged", "S3 with the reason");
}

static void test_no_fill(void)
{
  int number;
  tn_stream *stream = manual_stream(&number);
  char *memory = tn_malloc(manual_first, SIZE);
  bool is_right = true;
  tn_with_stream(stream) {
    tap_is_int(tn_fill_bytes(memory, manual_first, 3, SIZE), TN_OK,
               "X3 a fill where the backend has none");
    tap_is_int(tn_fill_bytes(memory, manual_first, 4, 100), TN_OK,
               "X3 and another");
  }
  tap_ok(manual->waiting(number) > 1, "X3 is copies in the stream");
  tn_stream_synchronize(stream);
  for (int i = 0; i < SIZE; i++) is_right &= memory[i] == (i < 100 ? 4 : 3);
  tap_ok(is_right, "X3 and fills");
  tn_free(memory);
}

static void test_unpinned(void)
{
  char *memory = tn_malloc_pinned(100);
  tap_ok(memory != NULL, "X3 pinned memory where the backend has none");
  tap_ok(tn_memory_is_pinned(memory), "X3 is the core's");
  tap_is_int((long)((uintptr_t)memory % 4096), 0, "X3 in whole pages");
  memory[99] = 1;
  tn_free(memory);
  send();
}

/* A pageable destination is waited for outside the stream's lock. */
static void test_failure(void)
{
  char *memory = tn_malloc(manual_first, 64), bytes[64] = { 0 };
  tn_synchronize(manual_first);
  manual->fail_next();
  tap_is_int(tn_copy(memory, manual_first, bytes, manual_host, 64, false),
             TN_LAUNCH_FAILED, "S6 a blocking copy reports its failure");
  tap_is_text(tn_error_message(),
              "manual:0: copy host to device: failed as asked",
              "S6 by name");
  tn_copy(memory, manual_first, bytes, manual_host, 64, true);
  manual->fail_next();
  tap_is_int(tn_copy(bytes, manual_host, memory, manual_first, 64, false),
             TN_LAUNCH_FAILED, "S6 or that of work before it");
  tap_has(tn_error_message(), "copy host to device", "S6 by name");
  tn_free(memory);
}

static void test_no_table(void)
{
  char *memory = tn_malloc(manual_first, 64), bytes[64] = { 0 };
  send();
  manual->fail_next();
  tap_is_int(tn_copy(memory, manual_first, bytes, manual_host, 64, false),
             TN_LAUNCH_FAILED, "S6 without streams a copy fails on the spot");
  tap_is_text(tn_error_message(),
              "manual:0: copy host to device, 64 bytes: failed as asked",
              "S6 by name");
  tn_free(memory);
}

int main(void)
{
  manual_part("", test_staged);
  manual_part("peer", test_direct);
  manual_part("peer,damage", test_damage);
  manual_part("nofill", test_no_fill);
  manual_part("unpinned", test_unpinned);
  manual_part("", test_failure);
  manual_part("notable", test_no_table);
  return tap_done();
}
