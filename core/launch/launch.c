/* Launching: arguments checked, packed, and given to the plugin. */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/error.h"
#include "core/exec/capture.h"
#include "core/launch/mirror.h"
#include "core/launch/module.h"

/* The 8 bytes of an argument, in two loads: a float was stored in 4 bytes just
 * now, and one load of both halves would wait until that store, and all before
 * it, have left for the cache. */
static inline uint64_t slot_of(const tn_arg *arg)
{
  typedef uint32_t __attribute__((may_alias)) any_half;
  const volatile any_half *half = (const volatile void *)&arg->as;
  uint32_t first = half[0], second = half[1];
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  return (uint64_t)first << 32 | second;
#else
  return (uint64_t)second << 32 | first;
#endif
}

/* One slot of 8 bytes each; what lies beside a narrower value is not read. */
static inline tn_status pack(const tn_kernel *kernel, const tn_arg *args,
                             size_t count, uint64_t *slots)
{
  const tn_signature *signature = &kernel->signature;
  bool fits = count == signature->count && (args || !count) &&
              !signature->has_narrow;
  for (size_t i = 0; fits && i < count; i++) {
    fits = args[i].kind == (tn_arg_kind)signature->kinds[i];
    slots[i] = slot_of(&args[i]);
  }
  if (__builtin_expect(fits, 1)) return TN_OK;
  tn_status status = tn_signature_refuse(signature, kernel->name, args,
                                         count);
  if (status != TN_OK) return status;
  for (size_t i = 0; i < count; i++)
    memcpy(&slots[i], &args[i].as, sizeof slots[i]);
  return TN_OK;
}

static tn_status refuse_null(void)
{
  return tn_error(TN_INVALID_ARGUMENT, "kernel is NULL");
}

static tn_status refuse_launch(tn_kernel *kernel, tn_status status)
{
  return tn_plugin_error(kernel->state, status, "launch of kernel \"%s\"",
                         kernel->name);
}

tn_status tn_kernel_run(tn_kernel *kernel, tn_stream *stream,
                        const tn_backend_launch_desc *desc,
                        const uint64_t *slots)
{
  return kernel->native ? tn_native_launch(kernel, stream, slots)
                        : tn_mirror_launch(kernel, stream, desc, slots);
}

/* The caller is inside tn_enter. */
static inline tn_status queue(tn_kernel *kernel, tn_stream *stream,
                              const tn_backend_launch_desc *desc,
                              const uint64_t *slots)
{
  if (tn_is_captured(stream))
    return tn_capture_launch(stream, kernel, desc, slots);
  if (__builtin_expect(!kernel->launch, 0))
    return tn_kernel_run(kernel, stream, desc, slots);
  tn_stream_lock(stream);
  tn_status status = kernel->launch(stream->queue, kernel->handle, desc,
                                    slots);
  tn_stream_unlock(stream);
  if (__builtin_expect(status != TN_OK, 0))
    return refuse_launch(kernel, status);
  return stream->is_eager ? TN_OK : tn_stream_settle(stream, TN_OK);
}

static inline tn_status submit(tn_kernel *kernel,
                               const tn_backend_launch_desc *desc,
                               const uint64_t *slots)
{
  tn_status status = tn_enter(kernel->state);
  if (__builtin_expect(status != TN_OK, 0)) return status;
  tn_stream *stream = tn_stream_current_of(kernel->state);
  status = stream ? queue(kernel, stream, desc, slots) : tn_last_status();
  tn_leave();
  return status;
}

static tn_status refuse_number(const tn_kernel *kernel, int64_t number,
                               const char *what)
{
  return tn_error(TN_INVALID_ARGUMENT, "kernel \"%s\": %" PRId64 " %s: 0 and "
                  "more are", kernel->name, number, what);
}

tn_status tn_launch(tn_kernel *kernel, int64_t items, const tn_arg *args,
                    size_t arg_count)
{
  uint64_t slots[TN_ARGS_MAX];
  if (!kernel) return refuse_null();
  tn_status status = pack(kernel, args, arg_count, slots);
  if (__builtin_expect(status != TN_OK, 0)) return status;
  if (__builtin_expect(items <= 0, 0))
    return items ? refuse_number(kernel, items, "items") : TN_OK;
  const tn_backend_launch_desc desc = {
    .struct_size = sizeof desc, .items = items, .tag = kernel->tag,
  };
  return submit(kernel, &desc, slots);
}

static tn_status launch_groups(tn_kernel *kernel, tn_backend_launch_desc *desc,
                               const tn_arg *args, size_t count)
{
  uint64_t slots[TN_ARGS_MAX];
  tn_status status = pack(kernel, args, count, slots);
  if (status != TN_OK) return status;
  for (int i = 0; i < 3; i++)
    if (desc->groups[i] < 0)
      return refuse_number(kernel, desc->groups[i], "groups");
  if (desc->groups[0] == 0) return TN_OK;
  desc->tag = kernel->tag;
  return submit(kernel, desc, slots);
}

tn_status tn_launch_groups(tn_kernel *kernel, int64_t groups,
                           const tn_arg *args, size_t arg_count)
{
  if (!kernel) return refuse_null();
  tn_backend_launch_desc desc = {
    .struct_size = sizeof desc, .groups = { groups, 1, 1 },
  };
  return launch_groups(kernel, &desc, args, arg_count);
}

static tn_status refuse_desc(const tn_kernel *kernel,
                             const tn_launch_desc *desc)
{
  if (!desc)
    return tn_error(TN_INVALID_ARGUMENT, "kernel \"%s\": the launch "
                    "description is NULL", kernel->name);
  if (desc->struct_size != sizeof *desc)
    return tn_error(TN_INVALID_ARGUMENT, "kernel \"%s\": struct_size of the "
                    "launch description is %zu, not %zu", kernel->name,
                    desc->struct_size, sizeof *desc);
  return tn_error(TN_INVALID_ARGUMENT, "kernel \"%s\": launch flags 0x%x: "
                  "none are known", kernel->name, desc->flags);
}

/* Sizes given in part have 1 in the rest; {0, 0, 0} is the backend's to
 * choose. */
static void set_group_size(const tn_launch_desc *from,
                           tn_backend_launch_desc *to)
{
  bool is_given = from->group_size[0] || from->group_size[1] ||
                  from->group_size[2];
  for (int i = 0; i < 3; i++) {
    uint32_t size = from->group_size[i];
    to->group_size[i] = is_given && size == 0 ? 1 : size;
  }
}

tn_status tn_launch_with(tn_kernel *kernel, const tn_launch_desc *desc,
                         const tn_arg *args, size_t arg_count)
{
  if (!kernel) return refuse_null();
  if (!desc || desc->struct_size != sizeof *desc || desc->flags)
    return refuse_desc(kernel, desc);
  tn_backend_launch_desc whole = {
    .struct_size = sizeof whole, .shared_bytes = desc->shared_bytes,
  };
  set_group_size(desc, &whole);
  for (int i = 0; i < 3; i++)
    whole.groups[i] = i > 0 && desc->groups[i] == 0 ? 1 : desc->groups[i];
  return launch_groups(kernel, &whole, args, arg_count);
}
