/* Two devices: alike ones share memory and points, unlike ones only wait. */
#include "config.h"

#include <string.h>

#include "tests/opencl/rig.h"
#include "tests/tap.h"

#define SIZE 4000

static tn_backend_device *other;
static tn_backend_stream *others;

static tn_address alloc_other(void)
{
  tn_alloc_desc desc = { sizeof desc, 0, TN_MEMORY_DEVICE, SIZE, NULL };
  tn_address address = 0;
  api->alloc->alloc(other, &desc, &address);
  return address;
}

static void free_other(tn_address address)
{
  tn_alloc_desc desc = { sizeof desc, 0, TN_MEMORY_DEVICE, SIZE, NULL };
  api->alloc->free(other, &desc, address);
}

static void fill(tn_backend_stream *on, tn_backend_device *of,
                 tn_address address, int value)
{
  tn_fill_desc desc = { sizeof desc, 0, 1, address, SIZE, (uint64_t)value,
                        0 };
  api->copy->fill(on, of, &desc);
}

static bool is_filled(tn_backend_stream *on, tn_backend_device *of,
                      tn_address address, int value)
{
  char back[SIZE];
  tn_copy_desc desc = rig_copy_desc(NULL, (uintptr_t)back, of, address, SIZE);
  if (api->copy->copy(on, of, &desc)) return false;
  for (int i = 0; i < SIZE; i++)
    if (back[i] != value) return false;
  return true;
}

/* Each turn: fill here, wait there, copy there, wait here. */
static void test_alike(tn_address here, tn_address there)
{
  bool is_good = true;
  for (int turn = 1; turn < 40; turn++) {
    fill(stream, device, here, turn);
    tn_point filled = rig_record(stream, 0);
    is_good &= api->stream->wait(others, &filled, 1) == TN_OK;
    tn_copy_desc desc = rig_copy_desc(other, there, device, here, SIZE);
    is_good &= api->copy->copy(others, other, &desc) == TN_OK;
    tn_point copied = rig_record(others, 0);
    is_good &= api->stream->wait(stream, &copied, 1) == TN_OK;
    api->stream->point_release(device, &filled);
    api->stream->point_release(other, &copied);
    fill(stream, device, here, 0);
    is_good &= is_filled(others, other, there, turn);
  }
  tap_ok(is_good, "S3 copies between devices, ordered by points");
  tap_is_int(api->copy->peer_enable(device, other), TN_OK,
             "T3 peer access can be had");
  tn_backend_module *module = rig_module(
      TN_MODULE_PORTABLE, "peer",
      "TN_KERNEL(peer, TN_OUT(uint8, y), TN_IN(uint8, x), TN_VAL(int64, n))"
      "{ TN_PARALLEL_FOR(i, n) y[i] = x[i]; }");
  fill(others, other, there, 77);
  tn_point filled = rig_record(others, 0);
  api->stream->wait(stream, &filled, 1);
  api->stream->point_release(other, &filled);
  uint64_t slots[] = { here, there, SIZE };
  rig_launch(rig_kernel(module, "peer"), SIZE, slots);
  tap_ok(is_filled(stream, device, here, 77),
         "T3 a kernel of one device reads the other's memory");
  tap_is_int(api->copy->peer_disable(device, other), TN_OK,
             "T3 peer access can be given up");
  api->launch->module_unload(module);
}

static void test_unlike(tn_address here, tn_address there)
{
  tn_copy_desc desc = rig_copy_desc(other, there, device, here, SIZE);
  tap_is_int(api->copy->copy(others, other, &desc), TN_UNSUPPORTED,
             "S3 unlike devices do not copy directly");
  tap_has(last_error, "share", "S3 and the error says why");
  tap_is_int(api->copy->peer_enable(device, other), TN_UNSUPPORTED,
             "X3 nor do they get peer access");
  bool is_good = true;
  for (int turn = 1; turn < 40; turn++) {
    char bytes[SIZE];
    fill(stream, device, here, turn);
    desc = rig_copy_desc(NULL, (uintptr_t)bytes, device, here, SIZE);
    is_good &= api->copy->copy(stream, device, &desc) == TN_OK;
    tn_point point = rig_record(stream, 0);
    is_good &= api->stream->wait(others, &point, 1) == TN_OK;
    api->stream->point_release(device, &point);
    fill(others, other, there, 0);
    desc = rig_copy_desc(other, there, NULL, (uintptr_t)bytes, SIZE);
    is_good &= api->copy->copy(others, other, &desc) == TN_OK;
    is_good &= is_filled(others, other, there, turn);
  }
  tap_ok(is_good, "S3 points order the work of unlike devices");
}

void test_pairs(void)
{
  if (device_count < 2) {
    tap_skip("one device (POCL_DEVICES=\"basic basic\" makes two)");
    return;
  }
  if (!tap_is_int(api->device->open(api->self, 1, &other), TN_OK,
                  "device 1 opens"))
    return;
  others = rig_stream(other);
  tn_address here = rig_alloc(TN_MEMORY_DEVICE, SIZE), there = alloc_other();
  int possible = -1;
  tap_is_int(api->copy->peer_query(device, other, &possible), TN_OK,
             "T3 whether two devices are peers can be asked");
  tap_note("device 1 %s", possible ? "is alike" : "is unlike");
  if (possible) test_alike(here, there);
  else test_unlike(here, there);
  rig_free(TN_MEMORY_DEVICE, here);
  free_other(there);
  api->stream->destroy(others);
  api->device->close(other);
}
