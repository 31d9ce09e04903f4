/* The remote backend: a rehearsal of the plugin interface, for tests only.
 *
 * A device that is as unlike the cpu as the interface allows:
 *
 *   - Its memory is elsewhere. An address is a number in a range that nobody
 *     may touch; the bytes behind it lie in a store of the "other side".
 *   - Its work is done by the other side: two hardware queues a device, a
 *     thread each, onto which all streams are mapped, so that unrelated
 *     streams get in each other's way, as they do on real hardware.
 *   - Work that was not flushed never starts. Work that was starts late, by
 *     a number of steps (turns given to other threads, not time) drawn from
 *     TENON_REMOTE_SEED, at most TENON_REMOTE_LATENCY.
 *   - Points are marks in a table of their own, completed out of band.
 *   - Asynchronous copies need pinned memory of this backend; any other
 *     source is captured, any other destination waited for.
 *   - It has no f64.
 *
 * What is left out, so that the core's own supply or refusal is used:
 * device: shutdown, reset, native_handle, after_fork; alloc: mem_info,
 * host_register, growable segments, sharing, kinds HOST_VISIBLE and MANAGED;
 * copy: rows and planes, fill, peers (copies between devices are refused);
 * launch: occupancy, kinds VENDOR and BINARY; stream: wrap, elapsed,
 * host_function; graph and math: all.
 *
 * With TENON_REMOTE_GRAPHS=1 it has a graph table, and copy.fill. A graph's
 * commands then run in an order drawn anew for each run, of those that what
 * they depend on allows; graphs read their arguments when they are launched.
 *
 * What it watches: a core that breaks a rule of tenon/backend.h ends the
 * program with a line that begins "remote: broken rule".
 *
 * TENON_REMOTE_FAIL makes chosen work fail when it runs: a comma list of
 * copy:N and launch:N (the N-th queued in the process, from 1), lost_copy:N
 * and lost_launch:N (the N-th takes its device with it).
 */
#ifndef TN_TESTS_PLUGINS_REMOTE_H
#define TN_TESTS_PLUGINS_REMOTE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "tenon/backend.h"

#define REMOTE_DEVICES 2
#define REMOTE_QUEUES 2
#define REMOTE_ALIGNMENT 512
#define REMOTE_MEMORY_BYTES (UINT64_C(1) << 30)

extern const tn_host_api *remote_host;

/* One lock for all bookkeeping of the backend; never held while the host is
 * called or work runs. `changed` is signalled whenever something completes or
 * is submitted. */
extern pthread_mutex_t remote_lock;
extern pthread_cond_t remote_changed;

/* ---- rules.c: watching the core, and failing on purpose ---- */

/* Reads the environment; once, before all else. */
void remote_rules_init(void);

/* Ends the program: the core broke a rule of the interface. */
void remote_broken(const char *format, ...) TN_PRINTF(1, 2)
    __attribute__((noreturn));

/* TN_INVALID_ARGUMENT for a descriptor that is too short or has flags other
 * than `known`. */
tn_status remote_desc_check(const char *what, size_t size, size_t wanted,
                            uint32_t flags, uint32_t known);

typedef enum remote_fault { FAULT_NONE, FAULT_WORK, FAULT_LOST } remote_fault;

/* Counts one more piece of work, and tells whether it is to fail. */
remote_fault remote_fault_next(bool is_launch);

/* A number below `bound`, 0 for 0; any thread. */
unsigned remote_chance(unsigned bound);

/* The number of steps the next command is late. */
unsigned remote_latency(void);

/* ---- memory.c ---- */

typedef struct remote_extent {
  uint64_t offset, bytes; /* bytes as asked for */
} remote_extent;

typedef struct remote_memory {
  tn_address window; /* where addresses come from; inaccessible */
  char *store;       /* where the bytes are */
  remote_extent *extents;
  size_t count, capacity;
  uint64_t used;
} remote_memory;

tn_status remote_memory_open(remote_memory *memory);
void remote_memory_close(remote_memory *memory);

/* The bytes behind [address, address + bytes), NULL unless the range lies in
 * one allocation. Takes the lock. */
void *remote_memory_bytes(tn_backend_device *device, tn_address address,
                          uint64_t bytes);

/* As above for a kernel's argument: the address of any byte of an allocation,
 * or just past it. */
void *remote_memory_pointer(tn_backend_device *device, tn_address address);

/* Whether a host range lies in pinned memory of this backend. */
bool remote_is_pinned(tn_address address, uint64_t bytes);

extern const tn_backend_alloc_table remote_alloc_table;

/* ---- queue.c: commands, hardware queues, points ---- */

typedef struct remote_point remote_point;

typedef enum remote_kind {
  REMOTE_COPY,
  REMOTE_LAUNCH,
  REMOTE_FILL,
  REMOTE_GRAPH,
  REMOTE_WAIT,
  REMOTE_MARK
} remote_kind;

typedef struct remote_copy {
  tn_address dst, src;
  uint64_t bytes;
  int32_t kind;   /* tn_copy_kind */
  void *captured; /* the source's bytes, owned; or NULL */
} remote_copy;

typedef struct remote_launch {
  tn_backend_kernel *kernel;
  int64_t items;
  unsigned chunks, first; /* how the work is cut, and where it begins */
  uint64_t *slots;        /* owned */
} remote_launch;

typedef struct remote_fill {
  tn_address dst;
  uint64_t pattern, count;
  uint32_t pattern_bytes;
} remote_fill;

typedef struct remote_run remote_run;

typedef struct remote_command {
  struct remote_command *next;
  tn_backend_stream *stream;
  remote_kind kind;
  remote_fault fault;
  unsigned latency;
  tn_tag tag;
  union {
    remote_copy copy;
    remote_launch launch;
    remote_fill fill;
    remote_run *run; /* owned */
    struct {
      remote_point **points; /* owned */
      size_t count;
    } wait;
    remote_point *mark;
  } as;
} remote_command;

typedef struct remote_list {
  remote_command *head, **tail;
} remote_list;

typedef struct remote_queue {
  pthread_t thread;
  remote_list commands;
  bool stopping;
} remote_queue;

struct tn_backend_device {
  int ordinal;
  bool lost;
  remote_memory memory;
  remote_queue queues[REMOTE_QUEUES];
  unsigned next_queue, streams;
  atomic_uint modules, graphs;
};

struct tn_backend_stream {
  tn_backend_device *device;
  remote_queue *queue;
  remote_list pending; /* queued and not flushed */
  uint64_t in_flight;  /* flushed and not complete */
  atomic_flag busy;    /* inside an entry that is one at a time */
  struct remote_capture *capture; /* NULL: what is queued runs */
  tn_error_info error;
};

void remote_list_init(remote_list *list);

tn_status remote_queues_start(tn_backend_device *device);
void remote_queues_stop(tn_backend_device *device);

/* A command of a stream, zeroed; NULL after host->error. */
remote_command *remote_command_new(tn_backend_stream *stream,
                                   remote_kind kind, tn_tag tag);
void remote_command_free(remote_command *command);

/* Puts a command at the end of its stream, not yet started, or into the
 * stream's capture. */
void remote_command_queue(remote_command *command);

/* Does a copy, fill or launch and keeps its failure. Lock held, and given up
 * meanwhile. */
void remote_command_run(const remote_command *command);

/* Hands what is pending over to the hardware queue. Lock held. */
void remote_stream_submit(tn_backend_stream *stream);

/* Submits, and waits until the stream is empty. */
void remote_stream_drain(tn_backend_stream *stream);

/* TN_DEVICE_LOST, with its text, for a lost device. */
tn_status remote_device_check(tn_backend_device *device);

extern const tn_backend_stream_table remote_stream_table;

/* Enters and leaves an entry that the core makes one at a time. */
void remote_stream_enter(tn_backend_stream *stream, const char *entry);
void remote_stream_leave(tn_backend_stream *stream);

/* ---- point.c ---- */

/* A new point with a reference for the core and one for its mark. */
remote_point *remote_point_new(tn_backend_stream *stream, tn_point *out);

/* The point of two words; lock held. A point that was released, or never
 * was, is a broken rule. */
remote_point *remote_point_find(const tn_point *point, const char *entry);

void remote_point_retain(remote_point *point);  /* lock held */
void remote_point_release(remote_point *point); /* lock held */

/* Which stream has yet to submit it; NULL when none. Lock held. */
tn_backend_stream *remote_point_stream(const remote_point *point);
void remote_point_submitted(remote_point *point);

void remote_point_complete(remote_point *point); /* lock held */
bool remote_point_is_complete(const remote_point *point);

tn_status remote_record(tn_backend_stream *stream, uint32_t flags,
                        tn_point *out);
tn_status remote_wait(tn_backend_stream *stream, const tn_point *points,
                      size_t count);
tn_status remote_query(tn_backend_device *device, const tn_point *point);
tn_status remote_host_wait(tn_backend_device *device, const tn_point *point,
                           uint64_t timeout);
void remote_point_drop(tn_backend_device *device, const tn_point *point);

/* ---- copy.c, launch.c, graph.c ---- */

extern const tn_backend_copy_table remote_copy_table;
extern const tn_backend_copy_table remote_copy_fill_table;
extern const tn_backend_launch_table remote_launch_table;
extern const tn_backend_graph_table remote_graph_table;

/* Run by the other side; on failure the text is left in `text`. */
tn_status remote_copy_run(const remote_command *command, char *text);
tn_status remote_fill_run(const remote_command *command, char *text);
tn_status remote_launch_run(const remote_command *command, char *text);

/* A launch is in the queue; it has left it; lock held. */
void remote_launch_begin(tn_backend_kernel *kernel);
void remote_launch_end(tn_backend_kernel *kernel);

/* A graph has the kernel, or no longer; lock held. */
void remote_kernel_keep(tn_backend_kernel *kernel, bool is_kept);
/* Its number of parameters. */
unsigned remote_kernel_slots(const tn_backend_kernel *kernel);

/* Makes a node of a command, which it owns. */
void remote_capture_add(struct remote_capture *capture,
                        remote_command *command);

/* The core promised to make no such call during a capture. */
void remote_capture_check(const tn_backend_stream *stream,
                          const char *entry);

/* Runs a graph; lock held, and given up while its commands run. */
void remote_run_finish(const remote_command *command);
void remote_run_free(remote_run *run);

#endif
