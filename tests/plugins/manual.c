/* See manual.h. */
#include "config.h"

#include "tests/plugins/manual.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES = 2, STREAMS = 256, SLOTS = 32 };

typedef enum command_kind { COPY, FILL, HOST, WAIT, LAUNCH } command_kind;

typedef struct command {
  command_kind kind;
  struct command *next;
  tn_tag tag;
  tn_copy_desc copy;
  void *captured; /* bytes of a pageable source */
  tn_fill_desc fill;
  void (*function)(void *);
  void *argument;
  tn_point points[4];
  size_t point_count;
  struct tn_backend_kernel *kernel;
  tn_backend_launch_desc launch;
  uint64_t slots[SLOTS];
} command;

struct tn_backend_device {
  int ordinal, is_open;
  uint64_t used;
};

/* Never freed, since points outlive their stream. */
struct tn_backend_stream {
  int number;
  struct tn_backend_device *device;
  manual_native *native;
  command *first, *last;
  uint64_t queued, done;
  tn_error_info failure;
  bool is_destroyed;
  atomic_bool is_busy;
};

struct tn_backend_module {
  char *signature;
  int pending;
};

struct tn_backend_kernel {
  struct tn_backend_module *module;
  struct tn_backend_kernel *next;
};

static const tn_host_api *host;
/* Recursive: waits for points run other streams. */
static pthread_mutex_t lock;
static struct tn_backend_device devices[DEVICES];
static struct tn_backend_stream *streams[STREAMS];
static int stream_total, allocs, pinned_allocs, copies, modules;
static bool fails_next;
static uint64_t last_slots[SLOTS];
static tn_backend_launch_desc last_launch;
static struct tn_backend_kernel *kernels;

static void misuse(const char *what)
{
  fprintf(stderr, "manual: %s\n", what);
  abort();
}

static bool has_option(const char *name)
{
  const char *list = host->environment("TENON_MANUAL");
  size_t length = strlen(name);
  while (list && *list) {
    size_t part = strcspn(list, ",");
    if (part == length && strncmp(list, name, length) == 0) return true;
    list += part;
    list += *list == ',';
  }
  return false;
}

/* device ---------------------------------------------------------------- */

static uint64_t capacity(void)
{
  const char *text = host->environment("TENON_MANUAL_BYTES");
  return text ? strtoull(text, NULL, 10) : (uint64_t)64 << 20;
}

static tn_status count(void *self, int *result)
{
  (void)self;
  *result = DEVICES;
  return TN_OK;
}

static tn_status info(void *self, int ordinal, tn_backend_device_info *out)
{
  (void)self;
  snprintf(out->name, sizeof out->name, "manual device %d", ordinal);
  out->memory_total = capacity();
  out->alignment = 512;
  out->compute_units = 1;
  return TN_OK;
}

static tn_status open_device(void *self, int ordinal,
                             struct tn_backend_device **device)
{
  (void)self;
  devices[ordinal].ordinal = ordinal;
  devices[ordinal].is_open = 1;
  *device = &devices[ordinal];
  return TN_OK;
}

static void close_device(struct tn_backend_device *device)
{
  if (device->used) misuse("a device is closed with memory");
}

static const tn_backend_device_table device_table = {
  .struct_size = sizeof device_table,
  .count = count,
  .info = info,
  .open = open_device,
  .close = close_device,
};

/* alloc ----------------------------------------------------------------- */

static tn_status alloc(struct tn_backend_device *device,
                       const tn_alloc_desc *desc, tn_address *address)
{
  bool is_device = desc->kind == TN_MEMORY_DEVICE;
  if (desc->kind == TN_MEMORY_PINNED && has_option("unpinned"))
    return host->error(TN_UNSUPPORTED, "no pinned memory");
  if (!is_device && desc->kind != TN_MEMORY_PINNED)
    return host->error(TN_UNSUPPORTED, "no memory of kind %d", desc->kind);
  pthread_mutex_lock(&lock);
  void *memory = NULL;
  if (is_device) allocs++;
  else pinned_allocs++;
  if (!is_device || desc->bytes <= capacity() - device->used)
    memory = aligned_alloc(512, (desc->bytes + 511) / 512 * 512);
  if (memory && is_device) device->used += desc->bytes;
  pthread_mutex_unlock(&lock);
  if (!memory) return host->error(TN_OUT_OF_MEMORY, "manual is full");
  *address = (tn_address)(uintptr_t)memory;
  return TN_OK;
}

static void free_memory(struct tn_backend_device *device,
                        const tn_alloc_desc *desc, tn_address address)
{
  pthread_mutex_lock(&lock);
  if (desc->kind == TN_MEMORY_DEVICE) device->used -= desc->bytes;
  pthread_mutex_unlock(&lock);
  free((void *)(uintptr_t)address);
}

static const tn_backend_alloc_table alloc_table = {
  .struct_size = sizeof alloc_table,
  .alloc = alloc,
  .free = free_memory,
};

/* Running --------------------------------------------------------------- */

static void run_until(struct tn_backend_stream *stream, uint64_t done);

static void *pointer(tn_address address) { return (void *)(uintptr_t)address; }

static void run_copy(const command *c)
{
  const tn_copy_desc *d = &c->copy;
  const char *src = c->captured ? c->captured : pointer(d->src);
  char *dst = pointer(d->dst);
  for (uint64_t plane = 0; plane < d->depth; plane++)
    for (uint64_t row = 0; row < d->rows; row++) {
      uint64_t to = plane * d->dst_plane_pitch + row * d->dst_row_pitch;
      uint64_t from = plane * d->src_plane_pitch + row * d->src_row_pitch;
      if (dst + to < src + from + d->row_bytes &&
          src + from < dst + to + d->row_bytes)
        misuse("a copy onto itself");
      memcpy(dst + to, src + from, d->row_bytes);
    }
  if (d->kind == TN_COPY_DEVICE_TO_DEVICE && d->dst_device != d->src_device &&
      has_option("damage"))
    dst[d->row_bytes / 2] ^= 1;
}

static void run_fill(const tn_fill_desc *fill)
{
  char *to = pointer(fill->dst);
  for (uint64_t i = 0; i < fill->count; i++)
    memcpy(to + i * fill->pattern_bytes, &fill->pattern, fill->pattern_bytes);
}

static void run_launch(const command *c)
{
  memcpy(last_slots, c->slots, sizeof last_slots);
  last_launch = c->launch;
  c->kernel->module->pending--;
}

/* The lock is held, once. */
static void run_host(const command *c)
{
  pthread_mutex_unlock(&lock);
  c->function(c->argument);
  pthread_mutex_lock(&lock);
}

static void run_wait(const command *c)
{
  for (size_t i = 0; i < c->point_count; i++)
    run_until(streams[c->points[i].word[0] - 1], c->points[i].word[1]);
}

static void fail(struct tn_backend_stream *stream, const command *c)
{
  fails_next = false;
  if (stream->failure.status != TN_OK) return;
  stream->failure.status = TN_LAUNCH_FAILED;
  stream->failure.tag = c->tag;
  strcpy(stream->failure.text, "failed as asked");
}

static void run_one(struct tn_backend_stream *stream)
{
  command *c = stream->first;
  if (stream->native && stream->native->is_destroyed)
    misuse("a destroyed queue runs");
  if (c->kind == WAIT) run_wait(c);
  else if (fails_next) fail(stream, c);
  else if (c->kind == COPY) run_copy(c);
  else if (c->kind == FILL) run_fill(&c->fill);
  else if (c->kind == HOST) run_host(c);
  if (c->kind == LAUNCH) run_launch(c);
  stream->first = c->next;
  if (!stream->first) stream->last = NULL;
  stream->done++;
  free(c->captured);
  free(c);
}

static void run_until(struct tn_backend_stream *stream, uint64_t done)
{
  while (stream->done < done) run_one(stream);
}

/* Streams --------------------------------------------------------------- */

/* A call that may not meet another on the same stream. */
static void enter(struct tn_backend_stream *stream)
{
  if (stream->is_destroyed) misuse("a destroyed stream is used");
  if (stream->native && stream->native->is_destroyed)
    misuse("a destroyed queue is used");
  if (atomic_exchange(&stream->is_busy, true))
    misuse("two calls on one stream at once");
  pthread_mutex_lock(&lock);
}

static void leave(struct tn_backend_stream *stream)
{
  pthread_mutex_unlock(&lock);
  atomic_store(&stream->is_busy, false);
}

static command *new_command(command_kind kind, tn_tag tag)
{
  command *c = calloc(1, sizeof *c);
  if (!c) misuse("no memory");
  c->kind = kind;
  c->tag = tag;
  return c;
}

static void queue(struct tn_backend_stream *stream, command *c)
{
  enter(stream);
  if (stream->last) stream->last->next = c;
  else stream->first = c;
  stream->last = c;
  stream->queued++;
  leave(stream);
}

static tn_status make_stream(struct tn_backend_device *device,
                             manual_native *native,
                             struct tn_backend_stream **out)
{
  struct tn_backend_stream *stream = calloc(1, sizeof *stream);
  if (!stream) return host->error(TN_OUT_OF_MEMORY, "no memory");
  pthread_mutex_lock(&lock);
  if (stream_total == STREAMS) misuse("too many streams");
  stream->number = stream_total;
  stream->device = device;
  stream->native = native;
  streams[stream_total++] = stream;
  pthread_mutex_unlock(&lock);
  *out = stream;
  return TN_OK;
}

static tn_status create(struct tn_backend_device *device,
                        const tn_stream_desc *desc,
                        struct tn_backend_stream **stream)
{
  (void)desc;
  return make_stream(device, NULL, stream);
}

static tn_status wrap(struct tn_backend_device *device, void *native,
                      struct tn_backend_stream **stream)
{
  return make_stream(device, native, stream);
}

static void destroy(struct tn_backend_stream *stream)
{
  enter(stream);
  if (stream->first) misuse("a stream is destroyed with work");
  stream->is_destroyed = true;
  leave(stream);
}

static tn_status record(struct tn_backend_stream *stream, uint32_t flags,
                        tn_point *point)
{
  (void)flags;
  enter(stream);
  point->word[0] = (uint64_t)stream->number + 1;
  point->word[1] = stream->queued;
  leave(stream);
  return TN_OK;
}

static tn_status wait_points(struct tn_backend_stream *stream,
                             const tn_point *points, size_t point_count)
{
  command *c = new_command(WAIT, 0);
  if (point_count > 4) misuse("too many points");
  memcpy(c->points, points, point_count * sizeof *points);
  c->point_count = point_count;
  queue(stream, c);
  return TN_OK;
}

static tn_status query(struct tn_backend_device *device,
                       const tn_point *point)
{
  (void)device;
  pthread_mutex_lock(&lock);
  bool done = streams[point->word[0] - 1]->done >= point->word[1];
  pthread_mutex_unlock(&lock);
  return done ? TN_OK : TN_NOT_READY;
}

static tn_status host_wait(struct tn_backend_device *device,
                           const tn_point *point, uint64_t timeout)
{
  if (query(device, point) == TN_OK) return TN_OK;
  if (timeout != UINT64_MAX) return host->error(TN_TIMEOUT, "not yet");
  pthread_mutex_lock(&lock);
  run_until(streams[point->word[0] - 1], point->word[1]);
  pthread_mutex_unlock(&lock);
  return TN_OK;
}

static void point_release(struct tn_backend_device *device,
                          const tn_point *point)
{
  (void)device;
  if (!point->word[0]) misuse("no point is released");
}

/* A command takes a millisecond. */
static tn_status elapsed(struct tn_backend_device *device,
                         const tn_point *start, const tn_point *end,
                         double *milliseconds)
{
  (void)device;
  *milliseconds = (double)(int64_t)(end->word[1] - start->word[1]);
  return TN_OK;
}

static tn_status host_function(struct tn_backend_stream *stream,
                               void (*function)(void *), void *argument,
                               tn_tag tag)
{
  command *c = new_command(HOST, tag);
  c->function = function;
  c->argument = argument;
  queue(stream, c);
  return TN_OK;
}

static tn_status take_error(struct tn_backend_stream *stream,
                            tn_error_info *out)
{
  enter(stream);
  stream->failure.struct_size = sizeof *out;
  *out = stream->failure;
  memset(&stream->failure, 0, sizeof stream->failure);
  leave(stream);
  return TN_OK;
}

static tn_backend_stream_table stream_table = {
  .struct_size = sizeof stream_table,
  .create = create,
  .destroy = destroy,
  .wrap = wrap,
  .record = record,
  .wait = wait_points,
  .query = query,
  .host_wait = host_wait,
  .point_release = point_release,
  .elapsed = elapsed,
  .host_function = host_function,
  .take_error = take_error,
};

/* copy ------------------------------------------------------------------ */

/* Without streams all runs at once. */
static tn_status submit(struct tn_backend_stream *stream, command *c)
{
  if (stream) {
    queue(stream, c);
    return TN_OK;
  }
  struct tn_backend_stream now = { .first = c, .last = c, .queued = 1 };
  pthread_mutex_lock(&lock);
  run_until(&now, 1);
  pthread_mutex_unlock(&lock);
  if (now.failure.status == TN_OK) return TN_OK;
  return host->error(now.failure.status, "%s", now.failure.text);
}

static void capture(command *c)
{
  const tn_copy_desc *d = &c->copy;
  uint64_t size = (d->depth - 1) * d->src_plane_pitch +
                  (d->rows - 1) * d->src_row_pitch + d->row_bytes;
  c->captured = malloc(size);
  if (!c->captured) misuse("no memory");
  memcpy(c->captured, pointer(d->src), size);
}

static tn_status copy(struct tn_backend_stream *stream,
                      struct tn_backend_device *device,
                      const tn_copy_desc *desc)
{
  copies++;
  if (stream && stream->device != device) misuse("a stream of another device");
  if (has_option("norows") && (desc->rows > 1 || desc->depth > 1))
    return host->error(TN_UNSUPPORTED, "no rows");
  if (desc->kind == TN_COPY_DEVICE_TO_DEVICE &&
      desc->dst_device != desc->src_device && !has_option("peer"))
    return host->error(TN_UNSUPPORTED, "no copies between devices");
  command *c = new_command(COPY, desc->tag);
  c->copy = *desc;
  bool is_pinned = desc->flags & TN_COPY_PINNED;
  if (desc->kind == TN_COPY_HOST_TO_DEVICE && !is_pinned) capture(c);
  tn_status status = submit(stream, c);
  if (stream && desc->kind == TN_COPY_DEVICE_TO_HOST && !is_pinned) {
    enter(stream);
    run_until(stream, stream->queued);
    leave(stream);
  }
  return status;
}

static tn_status fill(struct tn_backend_stream *stream,
                      struct tn_backend_device *device,
                      const tn_fill_desc *desc)
{
  (void)device;
  command *c = new_command(FILL, desc->tag);
  c->fill = *desc;
  return submit(stream, c);
}

static tn_status peer_query(struct tn_backend_device *device,
                            struct tn_backend_device *peer, int *possible)
{
  (void)device, (void)peer;
  *possible = has_option("peer");
  return TN_OK;
}

static tn_backend_copy_table copy_table = {
  .struct_size = sizeof copy_table,
  .copy = copy,
  .fill = fill,
  .peer_query = peer_query,
};

/* launch ---------------------------------------------------------------- */

static tn_status module_load(struct tn_backend_device *device,
                             const tn_module_desc *desc,
                             struct tn_backend_module **out)
{
  (void)device;
  if (!desc->data) return host->error(TN_UNSUPPORTED, "no image");
  struct tn_backend_module *module = calloc(1, sizeof *module);
  module->signature = strndup(desc->data, desc->size);
  modules++;
  *out = module;
  return TN_OK;
}

static void module_unload(struct tn_backend_module *module)
{
  if (module->pending) misuse("a module is unloaded with launches");
  for (struct tn_backend_kernel **k = &kernels; *k; ) {
    struct tn_backend_kernel *kernel = *k;
    if (kernel->module != module) {
      k = &kernel->next;
      continue;
    }
    *k = kernel->next;
    free(kernel);
  }
  free(module->signature);
  free(module);
  modules--;
}

static tn_status kernel_get(struct tn_backend_module *module,
                            const char *name, struct tn_backend_kernel **out)
{
  if (strcmp(name, "missing") == 0)
    return host->error(TN_INVALID_ARGUMENT, "no such kernel");
  struct tn_backend_kernel *kernel = calloc(1, sizeof *kernel);
  kernel->module = module;
  kernel->next = kernels;
  kernels = kernel;
  *out = kernel;
  return TN_OK;
}

static tn_status kernel_info(struct tn_backend_kernel *kernel,
                             tn_kernel_info *out)
{
  out->signature = kernel->module->signature;
  return TN_OK;
}

static tn_status launch(struct tn_backend_stream *stream,
                        struct tn_backend_kernel *kernel,
                        const tn_backend_launch_desc *desc,
                        const uint64_t *slots)
{
  command *c = new_command(LAUNCH, desc->tag);
  c->kernel = kernel;
  c->launch = *desc;
  size_t parameters = 0;
  for (const char *p = kernel->module->signature; *p; p++)
    parameters += *p == '(';
  memcpy(c->slots, slots, parameters * sizeof *slots);
  kernel->module->pending++;
  return submit(stream, c);
}

static const tn_backend_launch_table launch_table = {
  .struct_size = sizeof launch_table,
  .module_load = module_load,
  .module_unload = module_unload,
  .kernel_get = kernel_get,
  .kernel_info = kernel_info,
  .launch = launch,
};

/* Control --------------------------------------------------------------- */

static int control_stream_count(void) { return stream_total; }

static int control_run(int number, int most)
{
  int ran = 0;
  pthread_mutex_lock(&lock);
  for (; ran < most && streams[number]->first; ran++)
    run_one(streams[number]);
  pthread_mutex_unlock(&lock);
  return ran;
}

static int control_waiting(int number)
{
  pthread_mutex_lock(&lock);
  int waiting = (int)(streams[number]->queued - streams[number]->done);
  pthread_mutex_unlock(&lock);
  return waiting;
}

static int control_is_open(int ordinal) { return devices[ordinal].is_open; }
static int control_alloc_count(void) { return allocs; }
static int control_pinned_count(void) { return pinned_allocs; }
static int control_copy_count(void) { return copies; }
static uint64_t control_used(int ordinal) { return devices[ordinal].used; }
static void control_fail_next(void) { fails_next = true; }
static const uint64_t *control_slots(void) { return last_slots; }

static const tn_backend_launch_desc *control_launch(void)
{
  return &last_launch;
}

static int control_module_count(void) { return modules; }

static int control_stream_destroyed(int number)
{
  return streams[number]->is_destroyed;
}

TN_API const manual_control *manual_control_get(void);

const manual_control *manual_control_get(void)
{
  static const manual_control control = {
    control_stream_count, control_run, control_waiting, control_alloc_count,
    control_pinned_count,
    control_copy_count, control_used, control_fail_next, control_slots,
    control_launch, control_module_count, control_stream_destroyed,
    control_is_open,
  };
  return &control;
}

static tn_backend_api api = {
  .struct_size = sizeof api,
  .abi_major = TN_BACKEND_ABI_MAJOR,
  .abi_minor = TN_BACKEND_ABI_MINOR,
  .name = "manual",
  .version = "1",
  .rank = -1,
  .device = &device_table,
  .alloc = &alloc_table,
  .copy = &copy_table,
  .launch = &launch_table,
  .stream = &stream_table,
};

const tn_backend_api *tn_backend_entry(const tn_host_api *host_api,
                                       const tn_backend_api *next)
{
  (void)next;
  host = host_api;
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&lock, &attributes);
  if (has_option("nofill")) copy_table.fill = NULL;
  if (has_option("nohost")) stream_table.host_function = NULL;
  if (has_option("notable")) api.stream = NULL;
  return &api;
}
