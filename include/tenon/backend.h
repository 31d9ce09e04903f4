/* Tenon: the plugin interface, for authors of device backends only.
 *
 * A backend is a shared object `tenon-NAME.so` that exports one function,
 * tn_backend_entry, and imports nothing from the library. The function takes
 * the host's services and gives back the backend's tables. Beside `device`,
 * which every backend has, there are five tables (alloc, copy, launch,
 * stream, graph) and an optional sixth (math); none knows what a tensor is.
 *
 *     device + alloc + copy                 level minimal: kernels run on the
 *                                           cpu, over copies of blocks
 *     ... + launch                          kernels run
 *     ... + stream                          work is asynchronous
 *     ... + graph                           recorded work is replayed natively
 *
 * Rules that hold for every entry:
 *
 *   Versions   TN_BACKEND_ABI_MAJOR must be equal on both sides, the
 *              backend's minor may be older. Tables and descriptors start
 *              with struct_size and grow at the end only; entries past a
 *              table's size count as absent. Major 0 is unstable: it may
 *              change in every release until the cuda backend has run.
 *   Absence    An entry marked [mandatory] must be there, or the backend is
 *              refused at load with every missing entry named. An entry
 *              marked [optional] may be NULL; its comment says what the core
 *              then does. A table pointer may be NULL: all of it is absent.
 *   Results    A status; outputs last, written only on success. On failure
 *              the backend first gives the text through host->error.
 *   Flags      Unknown bits in a descriptor's `flags` are refused with
 *              TN_INVALID_ARGUMENT.
 *   Threads    Any entry may be called from any thread, and different
 *              devices and streams at the same time. The core never makes
 *              two calls on one stream at once, unless the entry says "any
 *              time". A backend binds its own context in each call.
 *   Locks      A backend never calls the host (or a host function it was
 *              given) while it holds a lock that one of its entries takes.
 *   Addresses  tn_address is a number in the device's own space, unique in
 *              the process among all devices. The core does arithmetic on it
 *              and reads through it only where the device's info has
 *              TN_CAP_HOST_ACCESS. A backend whose API has handles maps
 *              addresses to (handle, offset) itself.
 *   Sizes      Bytes are uint64_t, times are nanoseconds.
 *   Handles    The structs named tn_backend_* without a body are the
 *              backend's own; the core only passes them back.
 *
 * docs/design/abi.md names the CUDA driver call and the OpenCL call behind
 * each entry. docs/writing-a-backend.md is the tutorial.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TENON_BACKEND_H
#define TENON_BACKEND_H

#include <stddef.h>
#include <stdint.h>

#include "tenon/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* 0 = unstable: see "Versions" above. */
#define TN_BACKEND_ABI_MAJOR 0
#define TN_BACKEND_ABI_MINOR 1

/* The name of the one exported function, as text for dlsym. */
#define TN_BACKEND_ENTRY_NAME "tn_backend_entry"

/* Longest backend name, ordinal count and error text, all with the final 0
 * where they are text. Names are lower-case letters and underscores. */
#define TN_BACKEND_NAME_SIZE 32
#define TN_BACKEND_DEVICES_MAX 512
#define TN_BACKEND_TEXT_SIZE 512

/* True if a table reaches as far as `entry` and has it. */
#define TN_HAS(table, entry) \
  ((table) != NULL && \
   (table)->struct_size >= \
       (size_t)((const char *)(&(table)->entry + 1) - \
                (const char *)(table)) && \
   (table)->entry != NULL)

typedef uint64_t tn_address;

typedef struct tn_backend_device tn_backend_device;
typedef struct tn_backend_stream tn_backend_stream;
typedef struct tn_backend_module tn_backend_module;
typedef struct tn_backend_kernel tn_backend_kernel;
typedef struct tn_backend_graph tn_backend_graph;

/* A moment in a stream's queue: "all that was queued before has run". The
 * words are the backend's; {0, 0} is never a valid point. A point lives until
 * point_release, also after its stream is destroyed. */
typedef struct tn_point {
  uint64_t word[2];
} tn_point;

/* Names a queued command; chosen by the core, kept by the backend beside the
 * command, and returned by take_error when that command fails. 0: none. */
typedef uint64_t tn_tag;

/* ------------------------------------------------------------------------
 * Services of the host, given to tn_backend_entry. Callable at any time from
 * any thread. The table outlives the backend.
 * --------------------------------------------------------------------- */

typedef enum tn_log_level {
  TN_LOG_ERROR,   /* something was lost */
  TN_LOG_WARNING, /* something is slower or otherwise not as asked */
  TN_LOG_INFO,    /* said once, such as "kernel cache is disabled: reason" */
  TN_LOG_DEBUG
} tn_log_level;

typedef struct tn_host_api {
  size_t struct_size;
  uint32_t abi_major, abi_minor; /* what the core speaks */

  /* Writes one line to the log (TENON_LOG sets the level). */
  void (*log)(tn_log_level level, const char *format, ...) TN_PRINTF(2, 3);

  /* Sets the calling thread's error text (one line, cut at
   * TN_BACKEND_TEXT_SIZE) and returns `status`, so that a backend writes
   * `return host->error(TN_OUT_OF_MEMORY, "...", ...);`. */
  tn_status (*error)(tn_status status, const char *format, ...)
      TN_PRINTF(2, 3);

  /* An environment variable, NULL if unset, or if the program is privileged
   * (set-user-id and the like): then the environment is not trusted. */
  const char *(*environment)(const char *name);

  /* The on-disk cache of compiled kernels. `kind` names the sort of entry
   * ("cpu", "opencl") and becomes its file name's ending; the key is any
   * bytes that determine the payload (source, options, compiler, device,
   * version) and is compared whole.
   *
   * find: TN_OK and in `path` a file whose first *payload_size bytes are the
   * payload (more may follow), TN_NOT_READY if there is none. A damaged or
   * foreign entry counts as none.
   * store: writes the entry for all processes, and gives its path as above.
   * When the cache folder cannot be trusted or written (said once in the
   * log), the file lies in a private temporary folder of this process. */
  tn_status (*cache_find)(const char *kind, const void *key, size_t key_size,
                          char *path, size_t path_size,
                          uint64_t *payload_size);
  tn_status (*cache_store)(const char *kind, const void *key,
                           size_t key_size, const void *payload,
                           uint64_t payload_size, char *path,
                           size_t path_size);

  /* True in a process that forked after the library was first used: threads
   * of the parent are gone. */
  int (*is_forked_child)(void);

  /* What TENON_LAYERS says to this layer after its name, such as
   * "file=trace.json"; "" if nothing. NULL to a backend of its own. */
  const char *layer_options;
} tn_host_api;

/* ------------------------------------------------------------------------
 * device
 * --------------------------------------------------------------------- */

/* What a device can do, where behaviour depends on it. Without a launch table
 * F64, DENORMALS and EXACT_DIVIDE hold, since the cpu runs the kernels. */
#define TN_CAP_HOST_ACCESS (1u << 0)  /* the host may read and write memory
                                       * of kind DEVICE at its address */
#define TN_CAP_F64 (1u << 1)          /* kernels may use double */
#define TN_CAP_FAST_FMA (1u << 2)     /* fma is a machine operation */
#define TN_CAP_DENORMALS (1u << 3)    /* f32 denormals are kept */
#define TN_CAP_EXACT_DIVIDE (1u << 4) /* f32 / and sqrt are correctly
                                       * rounded */
#define TN_CAP_UNIFIED (1u << 5)      /* device and host memory are one */
#define TN_CAP_ATOMIC64 (1u << 6)     /* 64-bit integer atomics */
#define TN_CAP_INLINE_DEFAULT (1u << 7) /* every command on the default
                                       * stream has run when its call
                                       * returns, and threads may call it at
                                       * the same time: the core takes no
                                       * lock for it */
#define TN_CAP_HOST_CORES (1u << 8)   /* it computes on the host's own cores
                                       * (OpenCL on a CPU): "auto" never
                                       * prefers it to cpu */

/* What is known of a device without opening it. Texts end with 0; unknown
 * numbers are 0, unknown ids -1, except as said. */
typedef struct tn_backend_device_info {
  size_t struct_size;
  uint32_t capabilities;  /* TN_CAP_* */
  int32_t numa_node;      /* -1: unknown */
  char name[128];         /* "AMD EPYC 9354 32-Core Processor" */
  char driver[128];       /* the backend's runtime and version, or "" */
  char unavailable[256];  /* why it cannot be opened; "" if it can */
  uint8_t uuid[16];       /* stable between runs; zeros: has none */
  char pci_id[16];        /* "0000:01:00.0" or "" */
  uint64_t memory_total;  /* bytes */
  uint32_t compute_units;
  uint32_t subgroup_sizes; /* bit i set: 2^i lanes are possible */
  uint32_t max_group_size; /* threads of a group */
  uint32_t alignment;      /* of every address from alloc; a power of two,
                            * at least 256 */
  uint64_t max_shared_bytes; /* of a group */
  char not_reproducible[128]; /* why results may differ in their bits from
                               * the other backends', "" if they do not */
} tn_backend_device_info;

typedef enum tn_native_kind {
  TN_NATIVE_DEVICE, /* CUdevice, cl_device_id */
  TN_NATIVE_CONTEXT,
  TN_NATIVE_STREAM, /* CUstream, cl_command_queue */
  TN_NATIVE_MODULE,
  TN_NATIVE_KERNEL,
  TN_NATIVE_MEMORY, /* object = the tn_address as a pointer: cl_mem */
  TN_NATIVE_GRAPH
} tn_native_kind;

typedef struct tn_backend_device_table {
  size_t struct_size;

  /* [mandatory] How many devices there are, before the core's own masking
   * by TENON_NAME_VISIBLE_DEVICES. Creates no context and must not poison a
   * later fork. 0 devices with a reason (no driver) is TN_DEVICE_UNAVAILABLE
   * and the reason as error text. `self` is the api's. */
  tn_status (*count)(void *self, int *count);

  /* [mandatory] Facts of device `ordinal`. Creates no context and, before the
   * first open, must not poison a later fork. The core sets
   * info->struct_size; the backend writes no byte past it. */
  tn_status (*info)(void *self, int ordinal, tn_backend_device_info *info);

  /* [mandatory] Makes a device usable. Called once per ordinal, and again
   * only after close or reset. The first entry that may create a context. */
  tn_status (*open)(void *self, int ordinal, tn_backend_device **device);

  /* [mandatory] Gives everything of the device back. All its streams,
   * memory, modules and graphs were destroyed before. */
  void (*close)(tn_backend_device *device);

  /* [optional] Ends the backend, once, after every close. Absent: nothing
   * is called. */
  void (*shutdown)(void *self);

  /* [optional] Brings a lost device back, losing all its memory, streams and
   * modules; *generation then differs from every earlier value. Absent:
   * TN_UNSUPPORTED, naming backend and entry; a lost device stays lost. */
  tn_status (*reset)(tn_backend_device *device, uint64_t *generation);

  /* [optional] The vendor's handle behind an object, borrowed. Absent, or
   * for a kind it does not know: TN_UNSUPPORTED, naming both. */
  tn_status (*native_handle)(tn_backend_device *device, tn_native_kind kind,
                             const void *object, void **native);

  /* [optional] Called in a forked child before anything else of the backend,
   * to drop threads of the parent. Absent: every use of the backend in such
   * a child is TN_FORKED. */
  tn_status (*after_fork)(void *self);
} tn_backend_device_table;

/* ------------------------------------------------------------------------
 * alloc: plain memory; caching is the core's.
 * --------------------------------------------------------------------- */

typedef enum tn_memory_kind {
  TN_MEMORY_DEVICE,       /* what kernels of the device work on */
  TN_MEMORY_PINNED,       /* host memory the device can copy from and to
                           * asynchronously; the host may use the address */
  TN_MEMORY_HOST_VISIBLE, /* device memory the host may use in place */
  TN_MEMORY_MANAGED       /* migrates by itself */
} tn_memory_kind;

typedef struct tn_alloc_desc {
  size_t struct_size;
  uint32_t flags;      /* none yet */
  int32_t kind;        /* tn_memory_kind */
  uint64_t bytes;      /* more than 0 */
  tn_backend_stream *stream; /* NULL: usable at once on every stream; else a
                              * backend may order the memory on it */
} tn_alloc_desc;

/* A handle for memory of another process or API. */
typedef enum tn_share_kind {
  TN_SHARE_FD,      /* opaque file descriptor */
  TN_SHARE_DMA_BUF, /* Linux dma-buf descriptor */
  TN_SHARE_IPC      /* 64 bytes to be sent to another process */
} tn_share_kind;

typedef struct tn_share_handle {
  size_t struct_size;
  int32_t kind;      /* tn_share_kind */
  int32_t fd;        /* FD, DMA_BUF: owned by the receiver */
  uint8_t bytes[64]; /* IPC */
} tn_share_handle;

typedef struct tn_backend_alloc_table {
  size_t struct_size;

  /* [mandatory] Memory of a kind. TN_OUT_OF_MEMORY when there is none (the
   * core then frees cached memory and tries again); a kind the device lacks
   * is TN_UNSUPPORTED, and then: PINNED is plain page-aligned host memory
   * from the core, the others are refused. Alignment: info.alignment. */
  tn_status (*alloc)(tn_backend_device *device, const tn_alloc_desc *desc,
                     tn_address *address);

  /* [mandatory] Gives memory back. All work on it is complete, unless
   * desc->stream is set as it was for alloc: then it is ordered there. */
  void (*free)(tn_backend_device *device, const tn_alloc_desc *desc,
               tn_address address);

  /* [optional] Free and total bytes now. Absent: total from info, free =
   * total less what the core has allocated. */
  tn_status (*mem_info)(tn_backend_device *device, uint64_t *free_bytes,
                        uint64_t *total_bytes);

  /* [optional] Page-locks memory the program owns, and undoes it. Absent:
   * TN_UNSUPPORTED, naming backend and entry. */
  tn_status (*host_register)(tn_backend_device *device, void *memory,
                             uint64_t bytes);
  tn_status (*host_unregister)(tn_backend_device *device, void *memory);

  /* [optional, all or none] Growable segments: address space first, memory
   * mapped into parts of it later, in multiples of `granularity`. Absent:
   * the allocator uses fixed segments. */
  tn_status (*granularity)(tn_backend_device *device, uint64_t *bytes);
  tn_status (*reserve)(tn_backend_device *device, uint64_t bytes,
                       tn_address *address);
  void (*release)(tn_backend_device *device, tn_address address,
                  uint64_t bytes);
  tn_status (*map)(tn_backend_device *device, tn_address address,
                   uint64_t bytes);
  tn_status (*unmap)(tn_backend_device *device, tn_address address,
                     uint64_t bytes);
  /* Lets `peer`, a device of the same backend, use mapped memory. */
  tn_status (*set_access)(tn_backend_device *device, tn_address address,
                          uint64_t bytes, tn_backend_device *peer);

  /* [optional] Shares memory with other processes or APIs, by the address
   * alloc gave. import: freed with `free`, kind DEVICE. Absent:
   * TN_UNSUPPORTED, naming backend and entry. */
  tn_status (*export_memory)(tn_backend_device *device, tn_address address,
                             int32_t kind, tn_share_handle *handle);
  tn_status (*import_memory)(tn_backend_device *device,
                             const tn_share_handle *handle, uint64_t bytes,
                             tn_address *address);
} tn_backend_alloc_table;

/* ------------------------------------------------------------------------
 * copy
 * --------------------------------------------------------------------- */

typedef enum tn_copy_kind {
  TN_COPY_HOST_TO_DEVICE,  /* src is a host address */
  TN_COPY_DEVICE_TO_HOST,  /* dst is a host address */
  TN_COPY_DEVICE_TO_DEVICE /* both on devices of this backend: dst on
                            * dst_device, src on src_device */
} tn_copy_kind;

#define TN_COPY_PINNED (1u << 0) /* the host side is memory of kind PINNED
                                  * (of any backend) or registered: it stays
                                  * as it is until the copy has run */

/* Copies `depth` planes of `rows` rows of `row_bytes` bytes; pitches are
 * distances between starts of rows and of planes. A plain copy has rows =
 * depth = 1. Source and destination do not overlap. */
typedef struct tn_copy_desc {
  size_t struct_size;
  uint32_t flags; /* TN_COPY_* */
  int32_t kind;   /* tn_copy_kind */
  tn_backend_device *dst_device, *src_device; /* NULL for the host side */
  tn_address dst, src;
  uint64_t row_bytes, rows, depth;
  uint64_t dst_row_pitch, dst_plane_pitch;
  uint64_t src_row_pitch, src_plane_pitch;
  tn_tag tag;
} tn_copy_desc;

typedef struct tn_fill_desc {
  size_t struct_size;
  uint32_t flags;         /* none yet */
  uint32_t pattern_bytes; /* 1, 2, 4 or 8 */
  tn_address dst;         /* aligned to pattern_bytes */
  uint64_t count;         /* patterns, not bytes */
  uint64_t pattern;       /* in the low bytes */
  tn_tag tag;
} tn_fill_desc;

typedef struct tn_backend_copy_table {
  size_t struct_size;

  /* [mandatory] Queues a copy on `stream` (NULL where the backend has no
   * stream table: then it is complete on return). Without TN_COPY_PINNED the
   * backend has finished with the host side on return. May refuse rows or
   * depth above 1 with TN_UNSUPPORTED: the core then loops. */
  tn_status (*copy)(tn_backend_stream *stream, tn_backend_device *device,
                    const tn_copy_desc *desc);

  /* [optional] Queues a fill. Absent: the core copies from a filled staging
   * buffer. */
  tn_status (*fill)(tn_backend_stream *stream, tn_backend_device *device,
                    const tn_fill_desc *desc);

  /* [optional] Whether `device` can use memory of `peer` directly, both of
   * this backend. Absent: no; copies between devices are staged through
   * pinned memory by the core, as they are for pairs that answer no. */
  tn_status (*peer_query)(tn_backend_device *device, tn_backend_device *peer,
                          int *possible);

  /* [optional, both or none] Lets kernels of `device` use memory of `peer`,
   * and no longer. Absent: TN_UNSUPPORTED, naming backend and entry. */
  tn_status (*peer_enable)(tn_backend_device *device,
                           tn_backend_device *peer);
  tn_status (*peer_disable)(tn_backend_device *device,
                            tn_backend_device *peer);
} tn_backend_copy_table;

/* ------------------------------------------------------------------------
 * launch: modules and kernels
 * --------------------------------------------------------------------- */

typedef enum tn_module_kind {
  TN_MODULE_BUILTIN,  /* one of Tenon's own families, by `name`. `data` is
                       * NULL at first: a backend that ships an image of its
                       * own uses that, another answers TN_UNSUPPORTED and is
                       * asked again with the portable source in `data` */
  TN_MODULE_PORTABLE, /* portable kernel source (tenon/kernel_lang.h), which
                       * is self-contained: no file is included */
  TN_MODULE_VENDOR,   /* source in the backend's own language */
  TN_MODULE_BINARY    /* the backend's own binary */
} tn_module_kind;

typedef struct tn_module_desc {
  size_t struct_size;
  uint32_t flags;         /* none yet */
  int32_t kind;           /* tn_module_kind */
  const char *name;       /* for messages, and the family of BUILTIN */
  const void *data;       /* text need not end with 0 */
  uint64_t size;          /* bytes of data */
  const char *const *defines; /* "NAME=VALUE", `define_count` of them */
  uint64_t define_count;
} tn_module_desc;

typedef struct tn_kernel_info {
  size_t struct_size;
  /* The parameters as text, in order: "(OUT, float, y), (IN, float, x),
   * (VAL, int64, n)". Kinds: IN and OUT are pointers the kernel reads, or
   * may write; VAL is a value. Types: float, double, int8 ... uint64. Lives
   * as long as the module. */
  const char *signature;
  uint64_t shared_bytes;   /* per group, static */
  uint64_t private_bytes;  /* per thread, 0 if unknown */
  uint32_t max_group_size;
  uint32_t preferred_group_size;
} tn_kernel_info;

typedef struct tn_backend_launch_desc {
  size_t struct_size;
  uint32_t flags; /* none yet */
  /* Flat launches: `items` > 0, groups and group_size are 0 and the
   * backend's to choose. Grouped: items is 0, groups[i] >= 1, and a
   * group_size of {0, 0, 0} is the backend's to choose. Portable kernels are
   * right for every choice; numbers only set the parallelism. */
  uint32_t group_size[3];
  uint32_t reserved;
  int64_t items;
  int64_t groups[3];
  uint64_t shared_bytes; /* dynamic, beside the kernel's own */
  tn_tag tag;
} tn_backend_launch_desc;

typedef struct tn_backend_launch_table {
  size_t struct_size;

  /* [mandatory] Makes kernels from a module. A source that does not compile
   * is TN_COMPILE_FAILED with the first message of the compiler as text, the
   * whole log at TN_LOG_ERROR. A kind it does not know: TN_UNSUPPORTED. */
  tn_status (*module_load)(tn_backend_device *device,
                           const tn_module_desc *desc,
                           tn_backend_module **module);

  /* [mandatory] No launch of the module's kernels is pending. */
  void (*module_unload)(tn_backend_module *module);

  /* [mandatory] A kernel by name; lives as long as its module. A name the
   * module lacks is TN_INVALID_ARGUMENT. */
  tn_status (*kernel_get)(tn_backend_module *module, const char *name,
                          tn_backend_kernel **kernel);

  /* [mandatory] The core sets info->struct_size. */
  tn_status (*kernel_info)(tn_backend_kernel *kernel, tn_kernel_info *info);

  /* [optional] How many groups of `group_size` threads with `shared_bytes`
   * run at once on one compute unit. Absent: the core answers 1. */
  tn_status (*occupancy)(tn_backend_kernel *kernel, uint32_t group_size,
                         uint64_t shared_bytes, uint32_t *groups);

  /* [mandatory] Queues a launch (stream as in copy). `slots` has one 8-byte
   * slot per parameter, in order: an address, or a value in the low bytes;
   * they are read before the call returns. The core checked them against
   * the signature. */
  tn_status (*launch)(tn_backend_stream *stream, tn_backend_kernel *kernel,
                      const tn_backend_launch_desc *desc,
                      const uint64_t *slots);
} tn_backend_launch_table;

/* ------------------------------------------------------------------------
 * stream: in-order queues. Absent table: everything is complete when its
 * call returns, and the core's streams of the device are all alike.
 * --------------------------------------------------------------------- */

#define TN_STREAM_DEFAULT (1u << 0) /* the device's one default stream */

typedef struct tn_stream_desc {
  size_t struct_size;
  uint32_t flags;   /* TN_STREAM_* */
  int32_t priority; /* lower is more urgent, 0 the least; a backend takes
                     * the nearest it has */
} tn_stream_desc;

#define TN_RECORD_TIMING (1u << 0) /* elapsed will be asked of the point */

typedef struct tn_error_info {
  size_t struct_size;
  tn_status status;
  tn_tag tag;                      /* of the command that failed, 0: unknown */
  char text[TN_BACKEND_TEXT_SIZE]; /* one line */
} tn_error_info;

typedef struct tn_backend_stream_table {
  size_t struct_size;

  /* [mandatory] A new queue. */
  tn_status (*create)(tn_backend_device *device, const tn_stream_desc *desc,
                      tn_backend_stream **stream);

  /* [mandatory] Ends a queue. Its work is complete. */
  void (*destroy)(tn_backend_stream *stream);

  /* [optional] A queue around a vendor's own, which is borrowed. Absent:
   * TN_UNSUPPORTED, naming backend and entry. */
  tn_status (*wrap)(tn_backend_device *device, void *native,
                    tn_backend_stream **stream);

  /* [optional] Sees to it that queued work starts without further calls.
   * Called before the core waits elsewhere for it. Absent: work starts by
   * itself. */
  tn_status (*flush)(tn_backend_stream *stream);

  /* [mandatory] Marks the present end of the queue. */
  tn_status (*record)(tn_backend_stream *stream, uint32_t flags,
                      tn_point *point);

  /* [mandatory] Work queued on `stream` from now on runs after the points,
   * which are of any stream and device of this backend. Points may be
   * released as soon as the call returned. */
  tn_status (*wait)(tn_backend_stream *stream, const tn_point *points,
                    size_t count);

  /* [mandatory, any time] TN_OK if complete, TN_NOT_READY if not. A point
   * behind failed work is complete. */
  tn_status (*query)(tn_backend_device *device, const tn_point *point);

  /* [mandatory, any time] Blocks the calling thread until the point is
   * complete, at most `timeout` nanoseconds (UINT64_MAX: no limit; then
   * TN_TIMEOUT). Flushes what the point needs. */
  tn_status (*host_wait)(tn_backend_device *device, const tn_point *point,
                         uint64_t timeout);

  /* [mandatory, any time] The core's last use of a point; each recorded
   * point is released once. */
  void (*point_release)(tn_backend_device *device, const tn_point *point);

  /* [optional] Milliseconds between two complete points recorded with
   * TN_RECORD_TIMING on one device. Absent: TN_UNSUPPORTED, naming backend
   * and entry. */
  tn_status (*elapsed)(tn_backend_device *device, const tn_point *start,
                       const tn_point *end, double *milliseconds);

  /* [optional] Queues a call of a host function, on some thread, in order.
   * It makes no call on this backend, but may block for long (on a point of
   * another backend): that must not hold up other streams. Absent: the core
   * waits for the queue and calls it on the spot. */
  tn_status (*host_function)(tn_backend_stream *stream,
                             void (*function)(void *), void *argument,
                             tn_tag tag);

  /* [mandatory] The first failure of queued work since the last call, which
   * is thereby forgotten; TN_OK with info->status = TN_OK if there was none.
   * Never blocks. Later work of the queue still ran, unless the device is
   * lost. */
  tn_status (*take_error)(tn_backend_stream *stream, tn_error_info *info);
} tn_backend_stream_table;

/* ------------------------------------------------------------------------
 * graph: recorded work that runs as a whole. Absent table, or no tables
 * launch and stream beside it: the core replays the calls one by one, with
 * the same rules.
 *
 * The core records what a program captures, checks it and gives it memory; a
 * backend only makes of the finished recording what runs at less cost. For
 * that the core creates a stream, and from one thread calls on it
 *
 *     capture_begin
 *     for each command, those that it depends on first:
 *         capture_after    the nodes of those
 *         copy.copy, copy.fill, launch.launch or stream.host_function
 *         capture_node     the command's own
 *     capture_end          the graph
 *
 * and destroys it. A replay is one `update` for each launch whose arguments
 * changed, and one `launch`. A command that the backend cannot have in a
 * graph it refuses with TN_UNSUPPORTED or TN_CAPTURE_VIOLATION; the core then
 * ends the capture and replays that graph's calls one by one, and says so when
 * asked. No memory is allocated or freed meanwhile by the thread that
 * captures.
 * --------------------------------------------------------------------- */

/* New arguments of a launch: all of what launch.launch was given for it, of
 * which only values in `slots` differ. */
typedef struct tn_node_update {
  size_t struct_size;
  uint64_t node; /* from capture_node */
  tn_backend_kernel *kernel;
  const tn_backend_launch_desc *launch;
  const uint64_t *slots;
} tn_node_update;

typedef struct tn_backend_graph_table {
  size_t struct_size;

  /* [mandatory] Commands queued on `stream` from now on are recorded and do
   * not run. They are checked and read as ever: slots, descriptors and
   * patterns are the program's again when the call returned; memory, also
   * pinned host memory, is read when the graph runs. Work on other streams
   * goes on, and other threads may do what they like. */
  tn_status (*capture_begin)(tn_backend_stream *stream);

  /* [optional] The next command runs after these nodes of the capture, and
   * is in no order with others; none: with the begin of the run. A command
   * without this call runs after the one that was queued before it, so
   * absent: all run in the order in which they were queued. */
  tn_status (*capture_after)(tn_backend_stream *stream, const uint64_t *nodes,
                             size_t count);

  /* [mandatory] The node that the last command became: a number of the
   * backend's that no other command of the capture has. Where it became
   * several, what runs after this one runs after all of them. */
  tn_status (*capture_node)(tn_backend_stream *stream, uint64_t *node);

  /* [mandatory] Ends the capture and makes the graph ready to run. Also on
   * failure the capture is over, and the stream may be destroyed. */
  tn_status (*capture_end)(tn_backend_stream *stream,
                           tn_backend_graph **graph);

  /* [mandatory] Queues one run, on any stream of the device, the default one
   * too. Its commands run after what was queued on `stream` before, and what
   * is queued there afterwards runs after all of them. Arguments are those of
   * now: later updates do not reach it. A run begins after earlier runs of
   * the same graph have ended, on whatever stream those were; the core never
   * makes two calls on one graph at once. A command that fails is a failure
   * of `stream`'s, with the command's tag where the device can tell. */
  tn_status (*launch)(tn_backend_graph *graph, tn_backend_stream *stream);

  /* [optional] Changes one launch, for runs that are queued later; every
   * other node, and all runs queued before, stay as they are. Absent, or
   * TN_UNSUPPORTED: the core captures the changed recording anew, and sees to
   * it that runs of the new graph begin after those of the former one. */
  tn_status (*update)(tn_backend_graph *graph, const tn_node_update *update);

  /* [mandatory] The core's last use. Runs that were queued still run to
   * their end: wait for them, or free what they need when they ended. The
   * modules of its kernels are unloaded later than that. */
  void (*destroy)(tn_backend_graph *graph);
} tn_backend_graph_table;

/* ------------------------------------------------------------------------
 * math: a vendor's routines. Absent table or routine: portable kernels.
 * Never used where reproducible results were asked for.
 * --------------------------------------------------------------------- */

typedef enum tn_element_type {
  TN_ELEMENT_F32 = 1,
  TN_ELEMENT_F64,
  TN_ELEMENT_F16,
  TN_ELEMENT_BF16,
  TN_ELEMENT_I8
} tn_element_type;

/* One call of a routine: its operands as addresses, sizes and strides by the
 * routine's own order (docs/design/abi.md, "Routines"). */
typedef struct tn_math_call {
  size_t struct_size;
  uint32_t flags; /* none yet */
  uint32_t operand_count, size_count, stride_count;
  const tn_address *operands;
  const int64_t *sizes;
  const int64_t *strides;
  double alpha, beta;
  tn_address workspace;
  uint64_t workspace_bytes;
  tn_tag tag;
} tn_math_call;

typedef tn_status (*tn_math_function)(tn_backend_stream *stream,
                                      const tn_math_call *call);

typedef struct tn_backend_math_table {
  size_t struct_size;

  /* [mandatory] The routine `name` ("matmul") for element types in the
   * order of its operands, or *function = NULL. */
  tn_status (*routine)(tn_backend_device *device, const char *name,
                       const int32_t *types, size_t type_count,
                       tn_math_function *function);
} tn_backend_math_table;

/* ------------------------------------------------------------------------
 * The backend
 * --------------------------------------------------------------------- */

typedef struct tn_backend_api {
  size_t struct_size;
  uint32_t abi_major, abi_minor; /* TN_BACKEND_ABI_* it was built with */
  const char *name;    /* as in the file name tenon-NAME.so */
  const char *version; /* the backend's own */
  int32_t rank;        /* for "auto": higher is preferred; cpu is 0, cuda 100;
                        * below 0: never chosen */
  uint32_t flags;      /* none yet */
  void *self;          /* first argument of entries without a device */
  const tn_backend_device_table *device; /* [mandatory] */
  const tn_backend_alloc_table *alloc;   /* [mandatory] */
  const tn_backend_copy_table *copy;     /* [mandatory] */
  const tn_backend_launch_table *launch; /* [optional] absent: the core runs
                                          * kernels on the cpu backend, over
                                          * mirrors of whole blocks, each
                                          * after all streams of the device
                                          * and complete on return; it says
                                          * so once, and in its listings */
  const tn_backend_stream_table *stream; /* [optional] */
  const tn_backend_graph_table *graph;   /* [optional] */
  const tn_backend_math_table *math;     /* [optional] */
} tn_backend_api;

/* The one exported function. `next` is the backend that a layer wraps, NULL
 * for a backend of its own; a layer (tenon-layer-NAME.so, chosen by
 * TENON_LAYERS) answers with tables under the name of `next`, and is called
 * once for each backend with a host table of its own. NULL after host->error:
 * the backend cannot be used, for that reason. Called once, from the thread
 * that first needs the backend; must not open devices. */
typedef const tn_backend_api *(*tn_backend_entry_function)(
    const tn_host_api *host, const tn_backend_api *next);

TN_API const tn_backend_api *tn_backend_entry(const tn_host_api *host,
                                              const tn_backend_api *next);

#ifdef __cplusplus
}
#endif
#endif
