/* Lies about memory. */
#include "config.h"

#include <stdatomic.h>
#include <stddef.h>

#include "tests/plugins/liar/liar.h"

static bool is_device(const tn_alloc_desc *desc)
{
  return desc->kind == TN_MEMORY_DEVICE;
}

/* Aligned to 64 bytes less than it says. */
static tn_status alloc_askew(tn_backend_device *device,
                             const tn_alloc_desc *desc, tn_address *address)
{
  tn_alloc_desc more = *desc;
  more.bytes += 512;
  tn_status status = liar_base.alloc.alloc(device, &more, address);
  if (status == TN_OK && is_device(desc)) *address += 64;
  return status;
}

static void free_askew(tn_backend_device *device, const tn_alloc_desc *desc,
                       tn_address address)
{
  tn_alloc_desc more = *desc;
  more.bytes += 512;
  liar_base.alloc.free(device, &more, is_device(desc) ? address - 64
                                                      : address);
}

/* Handed out at once again, to somebody else: the last piece of each size. */
static tn_address last;
static uint64_t last_bytes;

static tn_status alloc_again(tn_backend_device *device,
                             const tn_alloc_desc *desc, tn_address *address)
{
  if (is_device(desc) && last && desc->bytes == last_bytes) {
    *address = last;
    return TN_OK;
  }
  tn_status status = liar_base.alloc.alloc(device, desc, address);
  if (status == TN_OK && is_device(desc)) {
    last = *address;
    last_bytes = desc->bytes;
  }
  return status;
}

/* Never given back, as it has several owners. */
static void free_nothing(tn_backend_device *device, const tn_alloc_desc *desc,
                         tn_address address)
{
  if (!is_device(desc)) liar_base.alloc.free(device, desc, address);
}

/* Begins in the middle of what was handed out before. */
static tn_status alloc_overlapping(tn_backend_device *device,
                                   const tn_alloc_desc *desc,
                                   tn_address *address)
{
  static tn_address before;
  static uint64_t room;
  if (!is_device(desc)) return liar_base.alloc.alloc(device, desc, address);
  if (before && room >= desc->bytes + (1 << 20)) {
    *address = before + (1 << 20);
    before = 0;
    return TN_OK;
  }
  tn_alloc_desc more = *desc;
  more.bytes += 4 << 20;
  tn_status status = liar_base.alloc.alloc(device, &more, address);
  before = status == TN_OK ? *address : 0;
  room = more.bytes;
  return status;
}

static tn_status alloc_short(tn_backend_device *device,
                             const tn_alloc_desc *desc, tn_address *address)
{
  tn_alloc_desc less = *desc;
  if (is_device(desc)) less.bytes = (desc->bytes + 1) / 2;
  return liar_base.alloc.alloc(device, &less, address);
}

static void free_short(tn_backend_device *device, const tn_alloc_desc *desc,
                       tn_address address)
{
  tn_alloc_desc less = *desc;
  if (is_device(desc)) less.bytes = (desc->bytes + 1) / 2;
  liar_base.alloc.free(device, &less, address);
}

/* The same pinned memory for everyone. */
static tn_status alloc_pinned_shared(tn_backend_device *device,
                                     const tn_alloc_desc *desc,
                                     tn_address *address)
{
  static tn_address all;
  if (desc->kind != TN_MEMORY_PINNED)
    return liar_base.alloc.alloc(device, desc, address);
  tn_alloc_desc large = *desc;
  large.bytes = 64 << 20;
  tn_status status = all ? TN_OK
                         : liar_base.alloc.alloc(device, &large, &all);
  *address = all;
  return status;
}

static void free_device_only(tn_backend_device *device,
                             const tn_alloc_desc *desc, tn_address address)
{
  if (is_device(desc)) liar_base.alloc.free(device, desc, address);
}

/* An address that the host cannot use. */
static tn_status alloc_pinned_elsewhere(tn_backend_device *device,
                                        const tn_alloc_desc *desc,
                                        tn_address *address)
{
  if (desc->kind != TN_MEMORY_PINNED)
    return liar_base.alloc.alloc(device, desc, address);
  *address = 0x1000;
  return TN_OK;
}

/* Other than that there are no more bytes, or that the kind is not known. */
static tn_status alloc_pinned_never(tn_backend_device *device,
                                    const tn_alloc_desc *desc,
                                    tn_address *address)
{
  return desc->kind == TN_MEMORY_PINNED
      ? liar_host->error(TN_INVALID_ARGUMENT, "kind %d", desc->kind)
      : liar_base.alloc.alloc(device, desc, address);
}

static tn_status alloc_other_status(tn_backend_device *device,
                                    const tn_alloc_desc *desc,
                                    tn_address *address)
{
  tn_status status = liar_base.alloc.alloc(device, desc, address);
  return status == TN_OUT_OF_MEMORY
      ? liar_host->error(TN_INVALID_ARGUMENT, "too many bytes") : status;
}

static tn_status mem_info_more(tn_backend_device *device,
                               uint64_t *free_bytes, uint64_t *total_bytes)
{
  tn_status status =
      liar_base.alloc.mem_info(device, free_bytes, total_bytes);
  if (status == TN_OK) *free_bytes = *total_bytes + 1;
  return status;
}

static tn_status mem_info_still(tn_backend_device *device,
                                uint64_t *free_bytes, uint64_t *total_bytes)
{
  tn_status status =
      liar_base.alloc.mem_info(device, free_bytes, total_bytes);
  if (status == TN_OK) *free_bytes = *total_bytes;
  return status;
}

static tn_status mem_info_grows(tn_backend_device *device,
                                uint64_t *free_bytes, uint64_t *total_bytes)
{
  static _Atomic uint64_t calls;
  tn_status status =
      liar_base.alloc.mem_info(device, free_bytes, total_bytes);
  if (status == TN_OK) *total_bytes += ++calls;
  return status;
}

static void lie_align(void)
{
  liar_own.alloc.alloc = alloc_askew;
  liar_own.alloc.free = free_askew;
}

static void lie_again(void)
{
  liar_own.alloc.alloc = alloc_again;
  liar_own.alloc.free = free_nothing;
}

static void lie_overlap(void)
{
  liar_own.alloc.alloc = alloc_overlapping;
  liar_own.alloc.free = free_nothing;
}

static void lie_short(void)
{
  liar_own.alloc.alloc = alloc_short;
  liar_own.alloc.free = free_short;
}

static void lie_pinned_shared(void)
{
  liar_own.alloc.alloc = alloc_pinned_shared;
  liar_own.alloc.free = free_device_only;
}

static void lie_pinned_elsewhere(void)
{
  liar_own.alloc.alloc = alloc_pinned_elsewhere;
  liar_own.alloc.free = free_device_only;
}

static void lie_pinned_never(void)
{
  liar_own.alloc.alloc = alloc_pinned_never;
}

static void lie_free(void) { liar_own.alloc.free = free_nothing; }
static void lie_oom(void) { liar_own.alloc.alloc = alloc_other_status; }
static void lie_info_more(void) { liar_own.alloc.mem_info = mem_info_more; }
static void lie_info_still(void) { liar_own.alloc.mem_info = mem_info_still; }
static void lie_info_grows(void) { liar_own.alloc.mem_info = mem_info_grows; }

const liar_lie liar_memory_lies[] = {
  { "alignment", lie_align },
  { "alloc_again", lie_again },
  { "alloc_overlaps", lie_overlap },
  { "alloc_short", lie_short },
  { "pinned_shared", lie_pinned_shared },
  { "pinned_elsewhere", lie_pinned_elsewhere },
  { "pinned_status", lie_pinned_never },
  { "free_nothing", lie_free },
  { "out_of_memory_status", lie_oom },
  { "mem_info_more", lie_info_more },
  { "mem_info_still", lie_info_still },
  { "mem_info_grows", lie_info_grows },
  { NULL, NULL },
};
