/* Rules D1 to D8 and D10: naming, finding and choosing. */
#include "config.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/check.h"

static void refuse(const char *text, tn_status wanted)
{
  tn_device out = { 7, 7 };
  conform_is(tn_device_parse(text, &out), wanted, "parsing \"%s\"", text);
  conform_check(out.backend == -1 && out.index == -1,
                "\"%s\": a refused text leaves the invalid device", text);
}

static void run_grammar(void)
{
  static const char *const ends[] = {
    ":", ":00", ":01", ":x", ":-1", ":+1", ":0:", ":0:0", ": 0", ":0 ", ":0.",
    ":?0", ":0+1", "0", " ", ":0x1",
  };
  char text[80];
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    snprintf(text, sizeof text, "%s%s", conform_backend, ends[i]);
    refuse(text, TN_INVALID_DEVICE_STRING);
  }
  snprintf(text, sizeof text, " %s:0", conform_backend);
  refuse(text, TN_INVALID_DEVICE_STRING);
  refuse("", TN_INVALID_DEVICE_STRING);
  refuse(":", TN_INVALID_DEVICE_STRING);
  snprintf(text, sizeof text, "%s:512", conform_backend);
  refuse(text, TN_NO_SUCH_DEVICE);
  snprintf(text, sizeof text, "%s:65536", conform_backend);
  refuse(text, TN_NO_SUCH_DEVICE);
  snprintf(text, sizeof text, "%s:99999999999999999999", conform_backend);
  refuse(text, TN_NO_SUCH_DEVICE);
  snprintf(text, sizeof text, "%s", conform_backend);
  text[0] = (char)(text[0] - 'a' + 'A');
  refuse(text, TN_UNKNOWN_BACKEND);
}

static void run_format(void)
{
  const char *names[] = { conform_backend, conform_text };
  char text[TN_DEVICE_TEXT_SIZE];
  for (int i = 0; i < 2; i++) {
    tn_device device = tn_device_of(names[i]);
    int length = tn_device_format(device, text, sizeof text);
    conform_check(length == (int)strlen(names[i]) &&
                      strcmp(text, names[i]) == 0,
                  "\"%s\" is formatted as \"%s\"", names[i], text);
  }
}

/* Texts that a person reads: one line each. */
static bool is_line(const char *text, size_t size)
{
  if (!memchr(text, 0, size)) return false;
  for (; *text; text++)
    if ((unsigned char)*text < ' ' || *text == 127) return false;
  return true;
}

static void check_facts(int ordinal)
{
  tn_device_info info;
  tn_device device = { conform_device.backend, (int16_t)ordinal };
  conform_ok(tn_device_get_info(device, &info), "facts of the counted %s:%d",
             conform_backend, ordinal);
  conform_check(strcmp(info.backend, conform_backend) == 0,
                "the facts are those of backend \"%s\"", info.backend);
  conform_check(is_line(info.name, sizeof info.name) && info.name[0] &&
                    is_line(info.driver, sizeof info.driver) &&
                    is_line(info.unavailable, sizeof info.unavailable) &&
                    is_line(info.backend_version, sizeof info.backend_version),
                "texts of %s:%d are lines, and it has a name",
                conform_backend, ordinal);
  if (info.unavailable[0]) return;
  conform_check(!info.has_launch || info.max_group_size > 0,
                "%s:%d has groups of at least 1 thread", conform_backend,
                ordinal);
}

static void run_existence(void)
{
  char text[80], number[16];
  int count = tn_device_count(conform_backend);
  conform_check(count > conform_device.index,
                "%s is among %d counted devices", conform_text, count);
  for (int i = 0; i < count; i++) check_facts(i);
  snprintf(text, sizeof text, "%s:511", conform_backend);
  tn_device far;
  conform_ok(tn_device_parse(text, &far), "\"%s\" can be written", text);
  conform_check(!tn_malloc(far, 1), "%s gives no memory", text);
  conform_is(tn_last_status(), TN_NO_SUCH_DEVICE, "using %s", text);
  conform_error_has(text, "using %s", text);
  snprintf(number, sizeof number, "%d", count);
  conform_error_has(number, "using %s tells how many there are", text);
}

/* All that are counted can be used. */
static void run_each(void)
{
  int count = tn_device_count(conform_backend);
  for (int i = 0; i < count; i++) {
    tn_device device = { conform_device.backend, (int16_t)i };
    tn_device_info info;
    conform_ok(tn_device_get_info(device, &info), "facts of %s:%d",
               conform_backend, i);
    if (info.unavailable[0]) continue;
    conform_check(conform_works(device), "%s:%d holds data", conform_backend,
                  i);
  }
}

static void run_ordinal(void)
{
  tn_device any = tn_device_of(conform_backend), one = conform_device;
  conform_check(!tn_device_equal(any, one), "\"%s\" and \"%s\" differ",
                conform_backend, conform_text);
  conform_ok(tn_set_device(one), "making %s current", conform_text);
  conform_check(tn_device_equal(tn_current_device(conform_backend), one),
                "%s is current", conform_text);
  tn_block *block = tn_block_new(any, 100);
  conform_check(block && tn_device_equal(tn_block_device(block), one),
                "memory of \"%s\" is of the current device", conform_backend);
  tn_block_release(block);
}

static void run_unknown(void)
{
  tn_device out;
  conform_is(tn_device_parse("no_such_backend:0", &out), TN_UNKNOWN_BACKEND,
             "an unknown backend");
  conform_error_has("no_such_backend", "it is named");
  conform_error_has(conform_backend, "those there are are listed");
}

static void run_default(void)
{
  unsetenv("TENON_DEVICE");
  setenv("TENON_DEVICE", conform_text, 1);
  tn_device device = tn_default_device();
  conform_check(tn_device_equal(device, tn_device_of(conform_text)),
                "TENON_DEVICE=%s is the default device", conform_text);
  tn_device best = tn_device_of("auto");
  conform_check(best.backend > 0, "auto is a device");
  tn_device_info info;
  conform_ok(tn_device_get_info(best, &info), "auto is there");
  conform_check(!info.unavailable[0], "auto can be used");
}

typedef struct visit {
  bool starts_right, works;
} visit;

static void *visit_thread(void *argument)
{
  visit *v = argument;
  tn_device first = tn_current_device(conform_backend);
  tn_device device = conform_device;
  v->starts_right =
      first.index == 0 &&
      tn_current_stream(device) == tn_default_stream(device);
  tn_set_stream(tn_stream_new(device, 0));
  v->works = conform_works(device);
  return NULL;
}

static void run_thread(void)
{
  pthread_t thread;
  visit v = { 0 };
  tn_stream *stream = conform_stream_new(conform_device, 0);
  conform_ok(tn_set_stream(stream), "setting a stream");
  conform_check(conform_works(conform_device), "the first thread works");
  if (pthread_create(&thread, NULL, visit_thread, &v) != 0) abort();
  pthread_join(thread, NULL);
  conform_check(v.starts_right,
                "a new thread starts at ordinal 0 and the default stream");
  conform_check(v.works, "a new thread can use the device");
  conform_check(tn_current_stream(conform_device) == stream,
                "what it set is its own affair");
}

static void run_guards(void)
{
  tn_device second = conform_second(), first = conform_device;
  tn_set_device(first);
  tn_with_device(second) {
    conform_check(tn_device_equal(tn_current_device(conform_backend), second),
                  "a block has its device");
    tn_with_device(first)
      conform_check(tn_device_equal(tn_current_device(conform_backend), first),
                    "and so has one in it");
    tn_set_device(first);
  }
  conform_check(tn_device_equal(tn_current_device(conform_backend), first),
                "what was current is restored");
  tn_with_device(second) { tn_set_device(second); }
  conform_check(tn_device_equal(tn_current_device(conform_backend), first),
                "whatever the block did");
  tn_device far = { first.backend, 500 };
  conform_is(tn_set_device(far), TN_NO_SUCH_DEVICE, "a device not there");
  conform_check(tn_device_equal(tn_current_device(conform_backend), first),
                "a refused device changes nothing");
}

/* What a listing says, for a process of its own. */
typedef struct listing {
  int count;
  char uuid[2][37];
} listing;

static int list_devices(void *answer)
{
  listing *l = answer;
  l->count = tn_device_count(conform_backend);
  for (int16_t i = 0; i < 2 && i < l->count; i++) {
    tn_device_info info;
    tn_device device = tn_device_of(conform_backend);
    device.index = i;
    if (tn_device_get_info(device, &info) != TN_OK) return 1;
    memcpy(l->uuid[i], info.uuid, sizeof info.uuid);
  }
  return 0;
}

static listing list_with(const char *mask)
{
  char variable[80];
  listing l = { 0 };
  snprintf(variable, sizeof variable, "TENON_%s_VISIBLE_DEVICES",
           conform_backend);
  for (char *c = variable; *c; c++)
    if (*c >= 'a' && *c <= 'z') *c = (char)(*c - 'a' + 'A');
  if (!mask && getenv(variable))
    conform_absent("devices that %s does not mask", variable);
  if (mask) setenv(variable, mask, 1);
  int status = conform_fork(list_devices, &l, sizeof l);
  conform_check(status == 0, "%s=\"%s\": listing ended with status %d",
                variable, mask ? mask : "", status);
  return l;
}

static void run_mask(void)
{
  listing all = list_with(NULL);
  if (all.count < 2) conform_absent("a second device of %s", conform_backend);
  listing l = list_with("1");
  conform_check(l.count == 1, "the mask \"1\" leaves %d devices", l.count);
  conform_check(strcmp(l.uuid[0], all.uuid[1]) == 0,
                "the mask \"1\" leaves the second device");
  l = list_with("1,0");
  conform_check(l.count == 2, "the mask \"1,0\" leaves %d devices", l.count);
  conform_check(strcmp(l.uuid[0], all.uuid[1]) == 0 &&
                    strcmp(l.uuid[1], all.uuid[0]) == 0,
                "the mask \"1,0\" swaps them");
  l = list_with("0,500,1");
  conform_check(l.count == 1, "the mask \"0,500,1\" ends at 500");
  l = list_with("-1");
  conform_check(l.count == 0, "the mask \"-1\" leaves %d devices", l.count);
  if (!all.uuid[1][0]) return;
  l = list_with(all.uuid[1]);
  conform_check(l.count == 1 && strcmp(l.uuid[0], all.uuid[1]) == 0,
                "the uuid of the second device leaves that");
}

static void run_uuid(void)
{
  enum { MOST = 16 };
  char uuids[MOST][37];
  int count = tn_device_count(conform_backend);
  if (!conform_info().uuid[0]) conform_absent("uuids");
  for (int i = 0; i < count && i < MOST; i++) {
    tn_device_info info, again;
    tn_device device = { conform_device.backend, (int16_t)i };
    conform_ok(tn_device_get_info(device, &info), "facts");
    conform_ok(tn_device_get_info(device, &again), "facts");
    conform_check(strcmp(info.uuid, again.uuid) == 0,
                  "the uuid of %s:%d stays", conform_backend, i);
    memcpy(uuids[i], info.uuid, sizeof info.uuid);
    for (int j = 0; j < i && info.uuid[0]; j++)
      conform_check(strcmp(uuids[i], uuids[j]) != 0,
                    "%s:%d and %s:%d have uuids of their own", conform_backend,
                    i, conform_backend, j);
  }
}

/* The same in every process. */
static void run_uuid_again(void)
{
  listing one = { 0 }, two = { 0 };
  conform_check(conform_fork(list_devices, &one, sizeof one) == 0, "listing");
  conform_check(conform_fork(list_devices, &two, sizeof two) == 0, "listing");
  if (!one.uuid[0][0]) conform_absent("uuids");
  conform_check(strcmp(one.uuid[0], two.uuid[0]) == 0,
                "the uuid of %s:0 is the same in two processes",
                conform_backend);
}

static int use_in_child(void *unused)
{
  (void)unused;
  if (conform_works(tn_device_of(conform_text))) return 0;
  return tn_last_status() == TN_FORKED ? 3 : 1;
}

static void run_listing(void)
{
  listing l;
  conform_check(list_devices(&l) == 0, "devices are listed");
  tn_is_available(conform_backend);
  int status = conform_fork(use_in_child, NULL, 0);
  conform_check(status == 0, "after listing, a forked child cannot use the "
                "device: %s", status == 3 ? "it answers TN_FORKED"
                                          : "and is not told why");
  conform_check(conform_works(tn_device_of(conform_text)),
                "the parent uses it");
}

static pthread_barrier_t barrier;

static void *use_first(void *works)
{
  pthread_barrier_wait(&barrier);
  *(bool *)works = conform_works(tn_device_of(conform_text));
  return NULL;
}

static void run_race(void)
{
  enum { THREADS = 8 };
  pthread_t threads[THREADS];
  bool works[THREADS] = { false };
  pthread_barrier_init(&barrier, NULL, THREADS);
  for (int i = 0; i < THREADS; i++)
    if (pthread_create(&threads[i], NULL, use_first, &works[i]) != 0) abort();
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < THREADS; i++)
    conform_check(works[i], "thread %d of %d that use it first at once", i,
                  THREADS);
}

#define D CONFORM_DEVICE_BIT
static const conform_test tests[] = {
  { "D1", "grammar", CONFORM_MINIMAL, D, true,
    "device strings, and three errors for others", run_grammar },
  { "D1", "format", CONFORM_MINIMAL, D, true,
    "a formatted device reads as it was written", run_format },
  { "D2", "existence", CONFORM_MINIMAL, D, false,
    "parsing looks at nothing, use names what there is", run_existence },
  { "D2", "each", CONFORM_MINIMAL, D | CONFORM_TWO_BIT, false,
    "every device that is counted can be used", run_each },
  { "D3", "ordinal", CONFORM_MINIMAL, D | CONFORM_MEMORY_BIT, false,
    "without an ordinal it is the current device", run_ordinal },
  { "D4", "unknown", CONFORM_MINIMAL, D, true,
    "an unknown backend's error lists those there are", run_unknown },
  { "D5", "default", CONFORM_MINIMAL, D, true,
    "TENON_DEVICE names the default, auto finds a device", run_default },
  { "D6", "thread", CONFORM_MINIMAL, D | CONFORM_STREAM_BIT, false,
    "current device and streams are a thread's own", run_thread },
  { "D6", "guard", CONFORM_MINIMAL, D | CONFORM_TWO_BIT, false,
    "blocks restore what was current", run_guards },
  { "D7", "mask", CONFORM_MINIMAL, D | CONFORM_TWO_BIT, true,
    "a mask hides and reorders devices", run_mask },
  { "D7", "uuid", CONFORM_MINIMAL, D, false,
    "uuids tell devices apart and stay", run_uuid },
  { "D7", "uuid_again", CONFORM_MINIMAL, D | CONFORM_PROCESS_BIT, true,
    "uuids are the same in every process", run_uuid_again },
  { "D8", "listing", CONFORM_FULL, D | CONFORM_PROCESS_BIT, true,
    "listing opens nothing: a forked child can use the device", run_listing },
  { "D10", "race", CONFORM_MINIMAL, D, true,
    "many threads may be the first to use it", run_race },
};
CONFORM_SECTION(conform_devices, tests);
