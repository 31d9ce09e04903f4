#include "config.h"

#include "conformance/check.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

tn_device conform_device, conform_nowhere;
char conform_text[TN_DEVICE_TEXT_SIZE], conform_backend[32];

static int report_fd = -1;
static uint32_t state = 1;

/* Everything made by tests, so that nothing counts as lost. */
static void *kept[4096];
static size_t kept_count;

static void *keep(void *object)
{
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&lock);
  if (kept_count < sizeof kept / sizeof *kept) kept[kept_count++] = object;
  pthread_mutex_unlock(&lock);
  return object;
}

/* One line, whatever is in the text. */
static void report(const char *what, const char *text)
{
  char line[1024];
  int length = snprintf(line, sizeof line - 1, "%s%s%s", what,
                        *text ? " " : "", text);
  if (length > (int)sizeof line - 2) length = (int)sizeof line - 2;
  for (int i = 0; i < length; i++)
    if ((unsigned char)line[i] < ' ') line[i] = ' ';
  line[length] = '\n';
  if (write(report_fd, line, (size_t)length + 1) < 0) _exit(2);
}

/* No exit handlers: what is wrong may hang there, too. */
static void end_failed(const char *text)
{
  report("fail", text);
  _exit(1);
}

static void add_error(char *text, size_t size)
{
  size_t used = strlen(text);
  if (tn_last_status() != TN_OK)
    snprintf(text + used, size - used, ": %s: %s",
             tn_status_name(tn_last_status()), tn_error_message());
}

void conform_fail(const char *format, ...)
{
  char text[900];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  add_error(text, sizeof text);
  end_failed(text);
  abort();
}

#define TEXT_OF(text, format) \
  char text[600]; \
  va_list arguments; \
  va_start(arguments, format); \
  vsnprintf(text, sizeof text, format, arguments); \
  va_end(arguments)

void conform_check(bool condition, const char *format, ...)
{
  if (condition) return;
  TEXT_OF(text, format);
  conform_fail("%s", text);
}

void conform_ok(tn_status status, const char *format, ...)
{
  if (status == TN_OK) return;
  TEXT_OF(text, format);
  conform_fail("%s: answered %s", text, tn_status_name(status));
}

void conform_is(tn_status got, tn_status wanted, const char *format, ...)
{
  if (got == wanted) return;
  TEXT_OF(text, format);
  conform_fail("%s: answered %s in place of %s", text, tn_status_name(got),
               tn_status_name(wanted));
}

void conform_error_has(const char *part, const char *format, ...)
{
  if (strstr(tn_error_message(), part)) return;
  TEXT_OF(text, format);
  conform_fail("%s: the message lacks \"%s\"", text, part);
}

void conform_absent(const char *format, ...)
{
  TEXT_OF(text, format);
  report("absent", text);
  _exit(0);
}

double conform_now(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void pause_for(double ms)
{
  struct timespec time = { .tv_nsec = (long)(ms * 1e6) };
  nanosleep(&time, NULL);
}

void conform_linger(void)
{
  pause_for(3 + conform_random(4) * 7);
}

tn_status conform_poll(tn_stream *stream, double ms)
{
  double end = conform_now() + ms;
  tn_status status;
  while ((status = tn_stream_query(stream)) == TN_NOT_READY &&
         conform_now() < end)
    pause_for(0.2);
  return status;
}

uint32_t conform_random(uint32_t bound)
{
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state % bound;
}

void conform_draw(unsigned char *bytes, size_t size, uint32_t salt)
{
  uint32_t x = salt * 2654435761u + 97;
  for (size_t i = 0; i < size; i++) {
    x = x * 1103515245u + 12345u;
    bytes[i] = (unsigned char)(x >> 16);
  }
}

void conform_open(void)
{
  conform_device = tn_device_of(conform_text);
  conform_check(conform_device.backend > 0, "%s is no device", conform_text);
  if (conform_device.index == -1) conform_device.index = 0;
  conform_ok(tn_set_default_device(conform_device), "%s as the default device",
             conform_text);
  conform_check(tn_default_stream(conform_device) != NULL,
                "%s cannot be used", conform_text);
}

tn_device_info conform_info(void)
{
  tn_device_info info;
  conform_ok(tn_device_get_info(conform_device, &info), "facts of %s",
             conform_text);
  return info;
}

tn_device conform_second(void)
{
  tn_device second = conform_device;
  second.index = conform_device.index == 0 ? 1 : 0;
  if (tn_device_count(conform_backend) < 2)
    conform_absent("a second device of %s", conform_backend);
  conform_check(tn_default_stream(second) != NULL,
                "%s:%d is counted and cannot be used", conform_backend,
                second.index);
  return second;
}

unsigned char *conform_memory_new(tn_device device, size_t bytes)
{
  void *memory = tn_malloc(device, bytes);
  conform_check(memory != NULL, "%zu bytes of memory", bytes);
  return keep(memory);
}

unsigned char *conform_pinned_new(size_t bytes)
{
  void *memory = tn_malloc_pinned(bytes);
  conform_check(memory != NULL, "%zu bytes of pinned memory", bytes);
  return keep(memory);
}

unsigned char *conform_host_new(size_t bytes)
{
  void *memory = calloc(1, bytes ? bytes : 1);
  conform_check(memory != NULL, "%zu bytes of the host's memory", bytes);
  return keep(memory);
}

tn_stream *conform_stream_new(tn_device device, int priority)
{
  tn_stream *stream = tn_stream_new(device, priority);
  conform_check(stream != NULL, "a stream of priority %d", priority);
  return keep(stream);
}

tn_event *conform_event_new(unsigned flags)
{
  tn_event *event = tn_event_new(flags);
  conform_check(event != NULL, "an event with flags %u", flags);
  return keep(event);
}

void conform_send(tn_device device, void *to, const void *from, size_t size)
{
  conform_ok(tn_copy(to, device, from, conform_nowhere, size, false),
             "a copy of %zu bytes to the device", size);
}

void conform_fetch(tn_device device, void *to, const void *from, size_t size)
{
  conform_ok(tn_copy(to, conform_nowhere, from, device, size, false),
             "a copy of %zu bytes to the host", size);
}

void conform_same(const unsigned char *got, const unsigned char *wanted,
                  size_t size, const char *format, ...)
{
  if (memcmp(got, wanted, size) == 0) return;
  size_t at = 0, bad = 0;
  while (got[at] == wanted[at]) at++;
  for (size_t i = 0; i < size; i++) bad += got[i] != wanted[i];
  TEXT_OF(text, format);
  conform_fail("%s: byte %zu of %zu is %d in place of %d, %zu bytes are wrong",
               text, at, size, got[at], wanted[at], bad);
}

void conform_all(tn_device device, const void *memory, unsigned char value,
                 size_t size, const char *format, ...)
{
  unsigned char *got = malloc(size), *wanted = malloc(size);
  conform_check(got && wanted, "memory of the host");
  memset(wanted, value, size);
  conform_fetch(device, got, memory, size);
  TEXT_OF(text, format);
  conform_same(got, wanted, size, "%s", text);
  free(got);
  free(wanted);
}

bool conform_works(tn_device device)
{
  unsigned char sent[64], got[64] = { 0 };
  conform_draw(sent, sizeof sent, 5);
  void *memory = tn_malloc(device, sizeof sent);
  bool does =
      memory &&
      tn_copy(memory, device, sent, conform_nowhere, sizeof sent, false) ==
          TN_OK &&
      tn_copy(got, conform_nowhere, memory, device, sizeof got, false) ==
          TN_OK &&
      memcmp(sent, got, sizeof got) == 0;
  if (memory) tn_free(memory);
  return does;
}

int conform_fork(int (*part)(void *answer), void *answer, size_t size)
{
  int status = -1;
  void *shared = mmap(NULL, size ? size : 1, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  conform_check(shared != MAP_FAILED, "memory of the host");
  pid_t child = fork();
  if (child == 0) exit(part(shared));
  if (child < 0 || waitpid(child, &status, 0) != child)
    conform_fail("no process");
  if (size) memcpy(answer, shared, size);
  munmap(shared, size ? size : 1);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/* Texts of the suite are not translated, and a seed gives each test numbers
 * of its own. */
static void begin(const char *device, const char *id, uint32_t seed)
{
  snprintf(conform_text, sizeof conform_text, "%s", device);
  snprintf(conform_backend, sizeof conform_backend, "%s", device);
  conform_backend[strcspn(conform_backend, ":")] = 0;
  state = seed * 2654435761u + 1;
  for (; *id; id++) state = state * 31 + (unsigned char)*id;
  if (state == 0) state = 1;
}

static int report_facts(void)
{
  char text[128];
  conform_open();
  tn_device_info info = conform_info();
  snprintf(text, sizeof text, "devices=%d launch=%d stream=%d graph=%d",
           tn_device_count(conform_backend), info.has_launch,
           info.has_stream, info.has_graph);
  report("facts", text);
  _exit(0); /* how programs end is for other tests */
}

static bool kernels_wait;

bool conform_kernels_wait(void) { return kernels_wait; }

/* Kernels that the core runs in the backend's place are tried like its own:
 * over mirrors, they try its copies. But they do not go on by themselves. */
static void check_parts(const conform_test *test)
{
  tn_device_info info = conform_info();
  kernels_wait = !info.has_launch && test->level > CONFORM_STREAMS;
  if (test->features & CONFORM_LAUNCH_BIT && !info.has_launch &&
      (test->level == CONFORM_STREAMS || !tn_is_available("cpu")))
    conform_absent("launch");
  if (test->level == CONFORM_STREAMS && !info.has_stream)
    conform_absent("stream");
}

int conform_run(const char *device, const char *id, uint32_t seed, int fd)
{
  report_fd = fd;
  begin(device, id, seed);
  if (strcmp(id, "facts") == 0) return report_facts();
  const conform_test *test = conform_find(id);
  if (!test) return 2;
  if (!test->is_raw) {
    conform_open();
    check_parts(test);
  }
  if (test->features & CONFORM_TENSOR_BIT) tn_with_scope test->run();
  else test->run();
  report("pass", "");
  return 0;
}
