#include "config.h"

#include "core/launch/mirror.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/device/mirror_gate.h"
#include "core/exec/capture.h"
#include "core/exec/tag.h"
#include "core/memory/extent.h"

/* Mirrors begin as blocks do within this many bytes, so that a kernel finds
 * its pointers aligned as they are on the device. */
#define ALIGNMENT ((uint64_t)4096)
/* More is not kept from one launch to the next. */
#define KEPT ((uint64_t)64 << 20)

typedef struct mirror {
  tn_extent block;
  uint64_t offset; /* of its bytes in the store */
  bool is_written;
} mirror;

/* One launch. */
typedef struct mirror_run {
  tn_kernel *kernel;
  tn_stream *stream;
  unsigned count;
  mirror mirrors[TN_ARGS_MAX];
  uint8_t of[TN_ARGS_MAX]; /* the mirror of each pointer argument */
  uint64_t bytes; /* of the store that is needed */
} mirror_run;

/* Memory for mirrors; whoever has the gate alone has it. */
static struct {
  char *memory;
  uint64_t bytes;
} store;

static tn_status refuse_argument(const mirror_run *run, unsigned i,
                                 tn_address address, const char *why)
{
  const tn_kernel *kernel = run->kernel;
  char device[TN_DEVICE_TEXT_SIZE];
  tn_device_format(kernel->state->device, device, sizeof device);
  return tn_error(TN_INVALID_ARGUMENT, "kernel \"%s\": argument \"%s\" is "
                  "0x%" PRIx64 ", which is %s: it must be memory of %s",
                  kernel->name, kernel->signature.parameters[i].name, address,
                  why, device);
}

static bool reaches(const tn_extent *block, tn_address address)
{
  return address >= block->address && address - block->address < block->bytes;
}

/* A view of no elements may begin at the end of its block. */
static tn_status find_block(const mirror_run *run, unsigned i,
                            tn_address address, tn_extent *block)
{
  if (!tn_extent_of(address, block) && !tn_extent_of(address - 1, block))
    return refuse_argument(run, i, address, "no memory of any device");
  if (block->state == run->kernel->state) return TN_OK;
  char other[TN_DEVICE_TEXT_SIZE], text[TN_DEVICE_TEXT_SIZE + 16];
  tn_device_format(block->state->device, other, sizeof other);
  snprintf(text, sizeof text, "memory of %s", other);
  return refuse_argument(run, i, address, text);
}

static tn_status add_mirror(mirror_run *run, const tn_extent *block)
{
  uint64_t start = run->bytes + block->address % ALIGNMENT, end;
  if (__builtin_add_overflow(start, block->bytes + ALIGNMENT - 1, &end) ||
      end > SIZE_MAX / 2)
    return tn_error(TN_SIZE_OVERFLOW, "kernel \"%s\": the blocks of its "
                    "arguments are too large to be mirrored",
                    run->kernel->name);
  run->mirrors[run->count++] = (mirror){ .block = *block, .offset = start };
  run->bytes = end & ~(ALIGNMENT - 1);
  return TN_OK;
}

/* The mirror of one pointer argument; arguments in one block share one. */
static tn_status add_argument(mirror_run *run, unsigned i, tn_address address)
{
  tn_extent block;
  unsigned at = 0;
  while (at < run->count && !reaches(&run->mirrors[at].block, address)) at++;
  if (at == run->count) {
    tn_status status = find_block(run, i, address, &block);
    if (status != TN_OK) return status;
    /* Found by its end: it may be there already. */
    at = 0;
    while (at < run->count &&
           run->mirrors[at].block.address != block.address)
      at++;
    if (at == run->count) status = add_mirror(run, &block);
    if (status != TN_OK) return status;
  }
  run->of[i] = (uint8_t)at;
  if (run->kernel->signature.parameters[i].is_output)
    run->mirrors[at].is_written = true;
  return TN_OK;
}

static bool is_mirrored(const mirror_run *run, unsigned i,
                        const uint64_t *slots)
{
  return run->kernel->signature.parameters[i].is_pointer && slots[i] != 0;
}

static tn_status add_arguments(mirror_run *run, const uint64_t *slots)
{
  tn_status status = TN_OK;
  for (unsigned i = 0; i < run->kernel->signature.count; i++)
    if (status == TN_OK && is_mirrored(run, i, slots))
      status = add_argument(run, i, slots[i]);
  return status;
}

static void drop_store(void)
{
  free(store.memory);
  store.memory = NULL;
  store.bytes = 0;
}

static tn_status make_store(const mirror_run *run)
{
  if (run->bytes <= store.bytes) return TN_OK;
  drop_store();
  store.memory = aligned_alloc(ALIGNMENT, (size_t)run->bytes);
  if (!store.memory)
    return tn_error(TN_OUT_OF_MEMORY, "kernel \"%s\": no host memory for "
                    "mirrors of %" PRIu64 " bytes", run->kernel->name,
                    run->bytes);
  store.bytes = run->bytes;
  return TN_OK;
}

static tn_status move(const mirror_run *run, const mirror *m, bool to_device)
{
  tn_device_state *state = run->kernel->state;
  tn_stream *stream = run->stream;
  tn_address host = (tn_address)(uintptr_t)(store.memory + m->offset);
  const tn_copy_desc desc = {
    .struct_size = sizeof desc,
    .kind = to_device ? TN_COPY_HOST_TO_DEVICE : TN_COPY_DEVICE_TO_HOST,
    .dst_device = to_device ? state->handle : NULL,
    .src_device = to_device ? NULL : state->handle,
    .dst = to_device ? m->block.address : host,
    .src = to_device ? host : m->block.address,
    .row_bytes = m->block.bytes,
    .rows = 1,
    .depth = 1,
    .tag = run->kernel->tag,
  };
  tn_stream_lock(stream);
  tn_status status = state->backend->copy.copy(stream->queue, state->handle,
                                               &desc);
  tn_stream_unlock(stream);
  if (status != TN_OK)
    tn_plugin_error(state, status, "launch of kernel \"%s\": copy of %" PRIu64
                    " bytes %s the mirror of a block", run->kernel->name,
                    m->block.bytes, to_device ? "from" : "to");
  return status;
}

static tn_status move_all(const mirror_run *run, bool to_device)
{
  tn_status status = TN_OK;
  for (unsigned i = 0; i < run->count && status == TN_OK; i++)
    if (!to_device || run->mirrors[i].is_written)
      status = move(run, &run->mirrors[i], to_device);
  return status;
}

/* On the default stream, which completes each call before it returns, unless
 * it is made slow for a test. */
static tn_status run_on_cpu(tn_kernel *kernel,
                            const tn_backend_launch_desc *desc,
                            const uint64_t *slots)
{
  tn_device_state *cpu = kernel->module->runner;
  tn_stream *stream = tn_stream_default_of(cpu);
  if (!stream) return tn_last_status();
  tn_stream_lock(stream);
  tn_status status = cpu->backend->launch.launch(
      stream->queue, kernel->handle, desc, slots);
  tn_stream_unlock(stream);
  if (status != TN_OK)
    return tn_plugin_error(kernel->state, status, "launch of kernel \"%s\" on "
                           "the cpu", kernel->name);
  if (!stream->is_eager) status = tn_stream_wait_idle(stream, TN_NO_LIMIT);
  return status == TN_OK && !stream->is_eager
             ? tn_stream_take_failure(stream) : status;
}

static tn_status run_over_mirrors(const mirror_run *run,
                                  const tn_backend_launch_desc *desc,
                                  const uint64_t *slots)
{
  uint64_t rebased[TN_ARGS_MAX];
  memcpy(rebased, slots, run->kernel->signature.count * sizeof *slots);
  for (unsigned i = 0; i < run->kernel->signature.count; i++) {
    if (!is_mirrored(run, i, slots)) continue;
    const mirror *m = &run->mirrors[run->of[i]];
    rebased[i] = (uint64_t)(uintptr_t)(store.memory + m->offset) +
                 (slots[i] - m->block.address);
  }
  tn_status status = move_all(run, false);
  if (status == TN_OK) status = run_on_cpu(run->kernel, desc, rebased);
  return status == TN_OK ? move_all(run, true) : status;
}

static tn_status wait_one(tn_stream *stream, void *argument)
{
  (void)argument;
  return tn_is_captured(stream) ? TN_OK
                                : tn_stream_wait_idle(stream, TN_NO_LIMIT);
}

/* A backend may have streams without having kernels: what they still do to
 * the blocks is waited for. */
static tn_status wait_for_streams(const tn_kernel *kernel)
{
  return kernel->state->backend->has_stream
             ? tn_stream_visit(kernel->state, wait_one, NULL) : TN_OK;
}

tn_status tn_mirror_launch(tn_kernel *kernel, tn_stream *stream,
                           const tn_backend_launch_desc *desc,
                           const uint64_t *slots)
{
  mirror_run run = { .kernel = kernel, .stream = stream };
  bool is_in_place = kernel->state->info.capabilities & TN_CAP_HOST_ACCESS;
  tn_status status = is_in_place ? TN_OK : add_arguments(&run, slots);
  if (status != TN_OK) return status;
  tn_mirror_gate_shut();
  status = wait_for_streams(kernel);
  if (status == TN_OK && is_in_place)
    status = run_on_cpu(kernel, desc, slots);
  else if (status == TN_OK && (status = make_store(&run)) == TN_OK)
    status = run_over_mirrors(&run, desc, slots);
  if (store.bytes > KEPT) drop_store();
  tn_mirror_gate_open();
  return status;
}

void tn_mirror_end(void)
{
  tn_mirror_gate_shut();
  drop_store();
  tn_mirror_gate_open();
}
