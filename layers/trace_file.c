#include "layers/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "layers/trace_text.h"

enum {
  BUFFER = 64 << 10,
  EVENT_MAX = 2048,             /* the longest one, with its flow */
  TAIL_MAX = 8,
  FLUSH_INTERVAL = 200 * 1000000 /* nanoseconds */
};

/* Events of one thread as text, each with a comma before it. */
typedef struct buffer {
  pthread_mutex_t lock;
  struct buffer *next;
  bool is_taken;
  int64_t thread;
  int index;
  uint64_t flushed;
  size_t used;
  char text[BUFFER + TAIL_MAX];
} buffer;

static struct {
  pthread_mutex_t lock; /* of the list and the texts */
  buffer *buffers;
  int count;
  pthread_key_t key;
  const tn_host_api *host;
  char path[PATH_MAX];
  int64_t process;
  struct timespec start;
  pthread_mutex_t file_lock;
  int file; /* 0: none yet */
  off_t end;
  bool is_broken;
} trace = { .lock = PTHREAD_MUTEX_INITIALIZER,
            .file_lock = PTHREAD_MUTEX_INITIALIZER };

static __thread buffer *mine __attribute__((tls_model("initial-exec")));

uint64_t trace_now(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)((now.tv_sec - trace.start.tv_sec) * 1000000000 +
                    (now.tv_nsec - trace.start.tv_nsec));
}

/* The file ------------------------------------------------------------- */

static const char tail[] = "\n]}\n";

/* In one write, so that a process that is killed leaves a whole file, unless
 * that was within the write. `text`
 * has room for the tail. */
static void write_events(char *text, size_t size)
{
  memcpy(text + size, tail, sizeof tail - 1);
  pthread_mutex_lock(&trace.file_lock);
  ssize_t wrote = trace.is_broken ? -1 : pwrite(trace.file, text,
                                                size + sizeof tail - 1,
                                                trace.end);
  if (wrote == (ssize_t)(size + sizeof tail - 1)) trace.end += (off_t)size;
  else if (!trace.is_broken) {
    trace.is_broken = true;
    trace.host->log(TN_LOG_ERROR, "trace: %s: writing: %s; the trace ends "
                    "here", trace.path, wrote < 0 ? strerror(errno)
                                                  : "the disk is full");
  }
  pthread_mutex_unlock(&trace.file_lock);
}

static void flush(buffer *b)
{
  if (b->used && trace.file && !trace.host->is_forked_child())
    write_events(b->text, b->used);
  b->used = 0;
}

void trace_file_flush(void)
{
  pthread_mutex_lock(&trace.lock);
  for (buffer *b = trace.buffers; b; b = b->next) {
    pthread_mutex_lock(&b->lock);
    flush(b);
    pthread_mutex_unlock(&b->lock);
  }
  pthread_mutex_unlock(&trace.lock);
}

/* The path with %p as the number of the process. */
static void expand(const char *path, char *out, size_t size)
{
  const char *at = strstr(path, "%p");
  if (!at) snprintf(out, size, "%s", path);
  else
    snprintf(out, size, "%.*s%ld%s", (int)(at - path), path, (long)getpid(),
             at + 2);
}

tn_status trace_file_name(const tn_host_api *host, const char *path)
{
  char text[PATH_MAX];
  expand(*path ? path : "tenon-trace-%p.json", text, sizeof text);
  pthread_mutex_lock(&trace.lock);
  tn_status status = TN_OK;
  if (!trace.host) {
    trace.host = host;
    memcpy(trace.path, text, strlen(text) + 1);
    clock_gettime(CLOCK_MONOTONIC, &trace.start);
    trace.process = getpid();
  } else if (strcmp(trace.path, text) != 0)
    status = host->error(TN_INVALID_ARGUMENT, "file=%s: a process has one "
                         "trace, and it is written to %s", text, trace.path);
  pthread_mutex_unlock(&trace.lock);
  return status;
}

/* A process that has the old file open, as after a fork, keeps it to itself. */
static void replace_file(void)
{
  struct stat facts;
  if (lstat(trace.path, &facts) == 0 && S_ISREG(facts.st_mode))
    unlink(trace.path);
}

static tn_status create(const tn_host_api *host)
{
  replace_file();
  int file = open(trace.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0)
    return host->error(TN_INVALID_ARGUMENT, "file=%s: cannot be written: %s",
                       trace.path, strerror(errno));
  struct timespec wall;
  char head[512];
  clock_gettime(CLOCK_REALTIME, &wall);
  uint64_t base = (uint64_t)wall.tv_sec * 1000000000 +
                  (uint64_t)wall.tv_nsec - trace_now();
  int size = snprintf(
      head, sizeof head, "{\"schemaVersion\":1,\"deviceProperties\":[],"
      "\"displayTimeUnit\":\"ms\",\"baseTimeNanoseconds\":%llu,"
      "\"traceName\":\"tenon\",\"traceEvents\":[\n"
      "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%lld,\"tid\":0,"
      "\"args\":{\"name\":\"calls\"}}", (unsigned long long)base,
      (long long)trace.process);
  trace.file = file;
  write_events(head, (size_t)size);
  return TN_OK;
}

tn_status trace_file_open(const tn_host_api *host)
{
  pthread_mutex_lock(&trace.lock);
  tn_status status = trace.file ? TN_OK : create(host);
  pthread_mutex_unlock(&trace.lock);
  return status;
}

/* Buffers --------------------------------------------------------------- */

/* When a thread ends, the next one takes its buffer. */
static void leave(void *argument)
{
  buffer *b = argument;
  pthread_mutex_lock(&b->lock);
  flush(b);
  pthread_mutex_unlock(&b->lock);
  __atomic_store_n(&b->is_taken, false, __ATOMIC_RELEASE);
}

static buffer *free_buffer(void)
{
  for (buffer *b = trace.buffers; b; b = b->next)
    if (!__atomic_load_n(&b->is_taken, __ATOMIC_ACQUIRE)) return b;
  buffer *b = calloc(1, sizeof *b);
  if (!b) return NULL;
  if (!trace.buffers) pthread_key_create(&trace.key, leave);
  pthread_mutex_init(&b->lock, NULL);
  b->index = trace.count++;
  b->next = trace.buffers;
  trace.buffers = b;
  return b;
}

static buffer *begin(void);
static void end(buffer *b, char *at);

static void name_thread(void)
{
  char name[64] = "";
  pthread_getname_np(pthread_self(), name, sizeof name);
  trace_name_row(trace.process, mine->thread, name);
}

static buffer *take(void)
{
  pthread_mutex_lock(&trace.lock);
  buffer *b = free_buffer();
  if (b) b->is_taken = true;
  pthread_mutex_unlock(&trace.lock);
  if (!b) return NULL;
  b->thread = (int64_t)syscall(SYS_gettid);
  mine = b;
  pthread_setspecific(trace.key, b);
  name_thread();
  return b;
}

/* Locked, with room for an event. NULL without memory: the event is lost. */
static buffer *begin(void)
{
  buffer *b = mine ? mine : take();
  if (!b) return NULL;
  pthread_mutex_lock(&b->lock);
  if (b->used + EVENT_MAX > BUFFER) flush(b);
  return b;
}

static void end(buffer *b, char *at)
{
  b->used = (size_t)(at - b->text);
  pthread_mutex_unlock(&b->lock);
}

static void flush_if_due(buffer *b, uint64_t now)
{
  if (now - b->flushed < FLUSH_INTERVAL) return;
  b->flushed = now;
  flush(b);
}

int64_t trace_thread(void) { return mine || take() ? mine->thread : 0; }

int trace_thread_index(void) { return mine || take() ? mine->index : 0; }

/* Events ---------------------------------------------------------------- */

/* ,{"ph":"X","cat":"..","name":"..","pid":..,"tid":.. */
static char *put_head(char *at, const char *phase_and_category,
                      const char *name, int64_t process, int64_t row)
{
  at = put(at, ",\n{\"ph\":\"");
  at = put(at, phase_and_category);
  at = put(at, "\",\"name\":\"");
  at = put(at, name);
  at = put(at, "\",\"pid\":");
  at = put_number(at, (uint64_t)process);
  at = put(at, ",\"tid\":");
  return put_number(at, (uint64_t)row);
}

static char *put_span(char *at, uint64_t begin_time, uint64_t end_time)
{
  at = put(at, ",\"ts\":");
  at = put_time(at, begin_time);
  at = put(at, ",\"dur\":");
  at = put_time(at, end_time > begin_time ? end_time - begin_time : 0);
  return put(at, ",\"args\":{");
}

static char *put_argument(char *at, const char *name, uint64_t value)
{
  at = put(at, name);
  return put_number(at, value);
}

void trace_add_call(const trace_call *call)
{
  buffer *b = begin();
  if (!b) return;
  char *at = put_head(b->text + b->used, "X\",\"cat\":\"cuda_runtime",
                      call->name, trace.process, b->thread);
  at = put_span(at, call->begin, call->end);
  at = put_argument(at, "\"correlation\":", call->correlation);
  if (call->bytes) at = put_argument(at, ",\"bytes\":", call->bytes);
  if (call->detail) {
    at = put(at, ",\"of\":\"");
    at = put(put(at, call->detail), "\"");
  }
  if (call->status) {
    at = put(at, ",\"status\":\"");
    at = put(put(at, call->status), "\"");
  }
  at = put(at, "}}");
  b->used = (size_t)(at - b->text);
  flush_if_due(b, call->end);
  pthread_mutex_unlock(&b->lock);
}

static char *put_flow(char *at, const char *phase, int64_t process,
                      int64_t row, uint64_t time, uint64_t id)
{
  at = put_head(at, phase, "ac2g", process, row);
  at = put(at, ",\"ts\":");
  at = put_time(at, time);
  return put_argument(at, ",\"id\":", id);
}

static const char *with_category(const char *category, char text[64])
{
  put(put(text, "X\",\"cat\":\""), category)[0] = 0;
  return text;
}

void trace_add_run(const trace_run *run)
{
  char head[64];
  buffer *b = begin();
  if (!b) return;
  char *at = put_head(b->text + b->used, with_category(run->category, head),
                      run->name, run->process, run->row);
  at = put_span(at, run->begin, run->end);
  at = put_argument(at, "\"correlation\":", run->correlation);
  at = put_argument(at, ",\"stream\":", run->stream);
  if (run->bytes) at = put_argument(at, ",\"bytes\":", run->bytes);
  at = put(at, "}}");
  at = put_flow(at, "s\",\"cat\":\"ac2g", trace.process, run->thread,
                run->call_begin, run->correlation);
  at = put(at, "}");
  at = put_flow(at, "f\",\"cat\":\"ac2g", run->process, run->row, run->begin,
                run->correlation);
  end(b, put(at, ",\"bp\":\"e\"}"));
}

void trace_add_memory(int64_t process, const char *name, uint64_t bytes)
{
  buffer *b = begin();
  if (!b) return;
  char *at = put_head(b->text + b->used, "C", name, process, 0);
  at = put(at, ",\"ts\":");
  at = put_time(at, trace_now());
  at = put_argument(at, ",\"args\":{\"allocated\":", bytes);
  end(b, put(at, "}}"));
}

static void add_name(const char *kind, int64_t process, int64_t row,
                     const char *name)
{
  buffer *b = begin();
  if (!b) return;
  char *at = put_head(b->text + b->used, "M", kind, process, row);
  at = put(at, ",\"args\":{\"name\":\"");
  end(b, put(put_name(at, name), "\"}}"));
}

void trace_name_process(int64_t process, const char *name)
{
  add_name("process_name", process, 0, name);
}

void trace_name_row(int64_t process, int64_t row, const char *name)
{
  add_name("thread_name", process, row, name);
}

/* Texts ----------------------------------------------------------------- */

typedef struct kept_text {
  struct kept_text *next;
  char text[];
} kept_text;

static kept_text *texts;

const char *trace_text(const char *name)
{
  char text[256];
  put_name(text, name)[0] = 0;
  pthread_mutex_lock(&trace.lock);
  kept_text *kept = texts;
  while (kept && strcmp(kept->text, text) != 0) kept = kept->next;
  if (!kept && (kept = malloc(sizeof *kept + strlen(text) + 1))) {
    memcpy(kept->text, text, strlen(text) + 1);
    kept->next = texts;
    texts = kept;
  }
  pthread_mutex_unlock(&trace.lock);
  return kept ? kept->text : NULL;
}
