#include "backends/cpu/launch.h"

#include <string.h>

#include "backends/cpu/control_word.h"
#include "backends/cpu/module.h"
#include "backends/cpu/park.h"
#include "backends/cpu/stream.h"
#include "backends/cpu/workers.h"

/* A launch is shared out when it takes longer than INLINE_TIME. How long an
 * item takes is not known beforehand, so launches are timed: all that might be
 * long, and one in 64 of those that seem short, because the arguments may
 * have changed. Nothing but speed depends on these times. */
#define INLINE_TIME 5000.0 /* ns */
#define TRUST_TIME 1000.0  /* ns, below which only "it is short" is believed */
#define FIRST_TIME 2000    /* ns of probing an unknown kernel */

static _Thread_local uint32_t chance __attribute__((tls_model("initial-exec")));

/* True once in 64 calls, in no regular order. */
static inline bool chance_comes(void)
{
  chance = chance * 1664525u + 1013904223u;
  return chance >> 26 == 0;
}

static void time_set(tn_backend_kernel *kernel, double item_time)
{
  double fits = INLINE_TIME / item_time;
  int64_t limit = fits < 1 ? 1 : fits > 1e15 ? (int64_t)1e15 : (int64_t)fits;
  atomic_store_explicit(&kernel->inline_items, limit, memory_order_relaxed);
}

static void time_note(tn_backend_kernel *kernel, int64_t items, double time)
{
  int64_t known =
    atomic_load_explicit(&kernel->inline_items, memory_order_relaxed);
  if (time > TRUST_TIME)
    time_set(kernel, time / (double)items);
  else if (items > known)
    atomic_store_explicit(&kernel->inline_items, items, memory_order_relaxed);
}

static void run_timed(tn_backend_kernel *kernel, tn_range range,
                      int64_t items, const uint64_t *slots)
{
  uint64_t start = tn_cpu_clock();
  kernel->run(range, slots);
  time_note(kernel, items, (double)(tn_cpu_clock() - start));
}

/* Runs growing parts of a kernel that was never timed, until it is known how
 * long it takes. The first item's time says nothing: code and memory may be
 * touched for the first time. Returns where it stopped. */
static int64_t run_first(tn_backend_kernel *kernel, int64_t items,
                         const uint64_t *slots)
{
  kernel->run((tn_range){ 0, 1 }, slots);
  int64_t at = 1, size = 1;
  uint64_t start = tn_cpu_clock();
  do {
    int64_t end = items - at > size ? at + size : items;
    run_timed(kernel, (tn_range){ at, end < items ? end : INT64_MAX },
              end - at, slots);
    at = end;
    size *= 8;
  } while (at < items && tn_cpu_clock() - start < FIRST_TIME);
  return at;
}

static void run_shared(tn_backend_kernel *kernel, int64_t items,
                       const uint64_t *slots, bool is_urgent)
{
  int64_t at = 0;
  if (!atomic_load_explicit(&kernel->inline_items, memory_order_relaxed))
    at = run_first(kernel, items, slots);
  if (at >= items) return;
  int64_t inline_items =
    atomic_load_explicit(&kernel->inline_items, memory_order_relaxed);
  if (items - at <= inline_items) {
    run_timed(kernel, (tn_range){ at, INT64_MAX }, items - at, slots);
    return;
  }
  tn_cpu_work work = { kernel->run, slots, at, items,
                       INLINE_TIME / (double)inline_items, is_urgent };
  time_set(kernel, tn_cpu_workers_run(&work));
}

/* Whether a launch is run at once, without looking at the time. */
static inline bool is_short(tn_backend_kernel *kernel, int64_t items)
{
  return items == 1 ||
         (items <= atomic_load_explicit(&kernel->inline_items,
                                        memory_order_relaxed) &&
          !chance_comes());
}

static void kernel_run(tn_backend_kernel *kernel, int64_t items,
                       const uint64_t *slots, bool is_urgent)
{
  bool differs = !tn_cpu_control_is_standard();
  uint64_t word = differs ? tn_cpu_control_get() : 0;
  if (differs) tn_cpu_control_set(TN_CPU_CONTROL_STANDARD);
  if (is_short(kernel, items))
    kernel->run((tn_range){ 0, INT64_MAX }, slots);
  else
    run_shared(kernel, items, slots, is_urgent);
  if (differs) tn_cpu_control_set(word);
}

typedef struct launch_command {
  tn_cpu_command base;
  tn_backend_kernel *kernel;
  int64_t items;
  uint64_t slots[];
} launch_command;

static void launch_command_run(tn_cpu_command *command)
{
  launch_command *launch = (launch_command *)command;
  kernel_run(launch->kernel, launch->items, launch->slots,
             launch->base.is_urgent);
}

void tn_cpu_launch_make_node(tn_cpu_node *node)
{
  if (node->command->run != launch_command_run) return;
  launch_command *launch = (launch_command *)node->command;
  node->run = launch->kernel->run;
  node->slots = launch->slots;
  node->slot_count = launch->kernel->slot_count;
  node->items = launch->items;
}

static tn_status launch_queue(tn_backend_stream *stream,
                              tn_backend_kernel *kernel, int64_t items,
                              const uint64_t *slots)
{
  size_t bytes = kernel->slot_count * sizeof *slots;
  tn_cpu_command *base;
  tn_status status = tn_cpu_stream_reserve(
    stream, launch_command_run, sizeof(launch_command) + bytes, &base);
  if (status) return status;
  launch_command *command = (launch_command *)base;
  command->kernel = kernel;
  command->items = items;
  command->base.is_urgent = stream->is_urgent;
  for (size_t i = 0; i < kernel->slot_count; i++) {
    __asm__ volatile("" ::: "memory"); /* no call of memcpy for a few words */
    command->slots[i] = slots[i];
  }
  tn_cpu_stream_submit(stream);
  return TN_OK;
}

static tn_status group_size_check(const tn_backend_kernel *kernel,
                                  const uint32_t size[3])
{
  uint64_t threads = 1;
  for (int i = 0; i < 3; i++) {
    if (size[i] > TN_CPU_GROUP_MAX) threads = UINT64_MAX;
    if (size[i] && threads <= TN_CPU_GROUP_MAX) threads *= size[i];
  }
  if (threads <= TN_CPU_GROUP_MAX) return TN_OK;
  return tn_cpu_host->error(TN_INVALID_ARGUMENT,
                            "kernel \"%s\": groups of %u x %u x %u threads: "
                            "cpu has at most %d in a group",
                            kernel->name, size[0], size[1], size[2],
                            TN_CPU_GROUP_MAX);
}

/* Checks whatever is not a plain flat launch, and counts its groups. */
static tn_status desc_check(const tn_backend_kernel *kernel,
                            const tn_backend_launch_desc *desc,
                            int64_t *items)
{
  tn_status status = tn_cpu_flags_check("launch", desc->flags, 0);
  if (!status) status = group_size_check(kernel, desc->group_size);
  if (status) return status;
  if (desc->shared_bytes)
    return tn_cpu_host->error(TN_UNSUPPORTED,
                              "kernel \"%s\": %llu bytes of dynamic shared "
                              "memory: cpu kernels have only TN_SHARED arrays",
                              kernel->name,
                              (unsigned long long)desc->shared_bytes);
  if (desc->items > 0) return TN_OK;
  int64_t count = 1;
  for (int i = 0; i < 3; i++) {
    if (desc->groups[i] < 1)
      return tn_cpu_host->error(TN_INVALID_ARGUMENT,
                                "kernel \"%s\": %lld groups: at least 1 in "
                                "each direction, or items",
                                kernel->name, (long long)desc->groups[i]);
    if (__builtin_mul_overflow(count, desc->groups[i], &count))
      return tn_cpu_host->error(TN_SIZE_OVERFLOW,
                                "kernel \"%s\": %lld x %lld x %lld groups",
                                kernel->name, (long long)desc->groups[0],
                                (long long)desc->groups[1],
                                (long long)desc->groups[2]);
  }
  *items = count;
  return TN_OK;
}

static inline bool is_plain(const tn_backend_launch_desc *desc)
{
  return desc->items > 0 && !desc->shared_bytes &&
         !(desc->flags | desc->group_size[0] | desc->group_size[1] |
           desc->group_size[2]);
}

static __attribute__((noinline)) tn_status launch_any(
  tn_backend_stream *stream, tn_backend_kernel *kernel,
  const tn_backend_launch_desc *desc, const uint64_t *slots)
{
  int64_t items = desc->items;
  tn_status status =
    is_plain(desc) ? TN_OK : desc_check(kernel, desc, &items);
  if (status) return status;
  if (!stream->is_inline) return launch_queue(stream, kernel, items, slots);
  kernel_run(kernel, items, slots, stream->is_urgent);
  return TN_OK;
}

tn_status tn_cpu_launch(tn_backend_stream *stream, tn_backend_kernel *kernel,
                        const tn_backend_launch_desc *desc,
                        const uint64_t *slots)
{
  /* The common case first: it is to cost no more than a few ns. */
  if (stream->is_inline && is_plain(desc) &&
      tn_cpu_control_is_standard() &&
      is_short(kernel, desc->items)) {
    kernel->run((tn_range){ 0, INT64_MAX }, slots);
    return TN_OK;
  }
  if (!stream->is_inline && is_plain(desc))
    return launch_queue(stream, kernel, desc->items, slots);
  return launch_any(stream, kernel, desc, slots);
}
