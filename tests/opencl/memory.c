#include "config.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tests/opencl/rig.h"
#include "tests/tap.h"

#define COUNT 40

static void test_addresses(void)
{
  tn_address blocks[COUNT];
  bool is_aligned = true, is_apart = true;
  for (int i = 0; i < COUNT; i++) {
    blocks[i] = rig_alloc(TN_MEMORY_DEVICE, (uint64_t)i * 777 + 1);
    is_aligned &= blocks[i] && blocks[i] % info.alignment == 0;
    for (int j = 0; j < i; j++)
      is_apart &= blocks[j] + (uint64_t)j * 777 + 1 <= blocks[i] ||
                  blocks[i] + (uint64_t)i * 777 + 1 <= blocks[j];
  }
  tap_ok(is_aligned, "addresses are aligned");
  tap_ok(is_apart, "and lie apart");
  for (int i = 0; i < COUNT; i++)
    rig_free(TN_MEMORY_DEVICE, blocks[(i * 7) % COUNT]);
}

/* Whether the host can read there: asked of the kernel, which does not crash.
 */
static bool is_readable(tn_address address)
{
  int ends[2];
  if (pipe(ends)) return true;
  bool readable = write(ends[1], (const void *)(uintptr_t)address, 1) == 1;
  readable |= errno != EFAULT;
  close(ends[0]);
  close(ends[1]);
  return readable;
}

static void test_touch(void)
{
  tn_address address = rig_alloc(TN_MEMORY_DEVICE, 10000);
  errno = 0;
  if (has_svm)
    tap_skip("shared virtual memory may be readable");
  else
    tap_ok(!is_readable(address) && !is_readable(address + 9999),
           "an address that stands for a handle cannot be touched");
  rig_free(TN_MEMORY_DEVICE, address);
}

static tn_status try_alloc(uint32_t flags, int32_t kind, uint64_t bytes,
                           tn_address *address)
{
  tn_alloc_desc desc = { sizeof desc, flags, kind, bytes, NULL };
  return api->alloc->alloc(device, &desc, address);
}

static void test_refusals(void)
{
  tn_address address = 1;
  tap_is_int(try_alloc(4, TN_MEMORY_DEVICE, 16, &address),
             TN_INVALID_ARGUMENT, "unknown flags are refused");
  tap_is_int(try_alloc(0, TN_MEMORY_MANAGED, 16, &address), TN_UNSUPPORTED,
             "X3 managed memory is refused");
  tap_has(last_error, "managed", "X3 by name");
  tap_is_int(try_alloc(0, TN_MEMORY_DEVICE, UINT64_MAX / 4, &address),
             TN_OUT_OF_MEMORY, "M3 more than one piece can be is refused");
  tap_has(last_error, "at most", "M3 saying what would do");
  tap_is_int((long long)address, 1, "and the output is left alone");
  int lines = error_lines;
  rig_free(TN_MEMORY_DEVICE, 0x1234500);
  tap_is_int(error_lines, lines + 1, "freeing what is not there is logged");
}

/* Without writing to any of it. */
static void test_exhaustion(void)
{
  tn_address blocks[256], more = 0;
  uint64_t piece = info.memory_total / 8;
  int count = 0;
  tn_status status = TN_OK;
  while (count < 256 && status == TN_OK) {
    status = try_alloc(0, TN_MEMORY_DEVICE, piece, blocks + count);
    count += status == TN_OK;
  }
  tap_is_int(status, TN_OUT_OF_MEMORY, "M3 memory ends with an error");
  tap_is_int(count, 8, "M7 when all the device has is allocated");
  tap_has(last_error, "are allocated", "M3 and the error has the figures");
  for (int i = 0; i < count; i++) rig_free(TN_MEMORY_DEVICE, blocks[i]);
  tap_is_int(try_alloc(0, TN_MEMORY_DEVICE, piece, &more), TN_OK,
             "M3 freed memory can be had again");
  rig_free(TN_MEMORY_DEVICE, more);
}

static void test_host_memory(void)
{
  tn_address pinned = rig_alloc(TN_MEMORY_PINNED, 5000);
  tap_ok(pinned && pinned % info.alignment == 0, "P1 pinned memory");
  memset((void *)(uintptr_t)pinned, 7, 5000);
  tn_address block = rig_alloc(TN_MEMORY_DEVICE, 5000);
  tn_copy_desc desc = rig_copy_desc(device, block, NULL, pinned, 5000);
  desc.flags = TN_COPY_PINNED;
  tap_is_int(rig_copy(&desc), TN_OK, "P2 is copied from asynchronously");
  rig_wait(stream);
  memset((void *)(uintptr_t)pinned, 0, 5000);
  desc = rig_copy_desc(NULL, pinned, device, block, 5000);
  desc.flags = TN_COPY_PINNED;
  tap_is_int(rig_copy(&desc), TN_OK, "P2 and to");
  rig_wait(stream);
  const char *bytes = (const char *)(uintptr_t)pinned;
  tap_ok(bytes[0] == 7 && bytes[4999] == 7, "P2 with all its bytes");
  rig_free(TN_MEMORY_PINNED, pinned);
  tn_address visible = 0;
  tn_status status = try_alloc(0, TN_MEMORY_HOST_VISIBLE, 100, &visible);
  if (!has_svm) {
    tap_is_int(status, TN_UNSUPPORTED,
               "X3 no host-visible memory without shared virtual memory");
  } else if (status == TN_OK) {
    memset((void *)(uintptr_t)visible, 3, 100);
    desc = rig_copy_desc(device, block, device, visible, 100);
    rig_copy(&desc);
    char back[100];
    rig_read(back, block, 100);
    tap_ok(back[0] == 3 && back[99] == 3,
           "the device sees what the host wrote in host-visible memory");
    rig_free(TN_MEMORY_HOST_VISIBLE, visible);
  } else {
    tap_skip("%s", last_error);
  }
  rig_free(TN_MEMORY_DEVICE, block);
}

void test_memory(void)
{
  test_addresses();
  test_touch();
  test_refusals();
  test_exhaustion();
  test_host_memory();
}
