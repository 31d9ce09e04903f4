#include "config.h"

#include "tensor/ops/placement.h"

static bool is_free_to_move(const tn_tensor *t)
{
  return t->ndim == 0 && tn_tensor_place(t)->is_cpu;
}

static tn_place *choose(tn_tensor *const *operands, int count)
{
  tn_place *place = NULL;
  for (int i = 0; i < count; i++) {
    if (!operands[i]) continue;
    if (!is_free_to_move(operands[i])) return tn_tensor_place(operands[i]);
    if (!place) place = tn_tensor_place(operands[i]);
  }
  return place;
}

/* The host's memory is read before the call returns. */
static tn_tensor *move(tn_place *place, const tn_tensor *t,
                       const char *operation)
{
  tn_tensor *moved = tn_tensor_new(place, (tn_dtype)t->dtype,
                                   (tn_shape){ NULL, 0 }, operation);
  if (!moved) return NULL;
  if (tn_copy(tn_tensor_address(moved), place->device, tn_tensor_address(t),
              tn_tensor_place(t)->device, tn_dtype_size((tn_dtype)t->dtype),
              true) == TN_OK)
    return moved;
  tn_release(moved);
  return NULL;
}

static tn_status wait_for(tn_device waiter, tn_device other)
{
  tn_stream *first = tn_current_stream(waiter);
  tn_stream *second = tn_current_stream(other);
  return first && second ? tn_stream_wait_stream(first, second)
                         : tn_last_status();
}

static tn_status place_operand(tn_placement *placement, int i,
                               const char *operation)
{
  tn_tensor *t = placement->operands[i];
  tn_place *place = placement->place, *own = tn_tensor_place(t);
  if (own == place) return TN_OK;
  if (is_free_to_move(t)) {
    tn_tensor *moved = move(place, t, operation);
    if (!moved) return tn_last_status();
    placement->operands[i] = moved;
    placement->made |= 1u << i;
    return TN_OK;
  }
  if (own->device.backend == place->device.backend &&
      tn_peer_access_enabled(place->device, own->device)) {
    placement->across |= 1u << i;
    return wait_for(place->device, own->device);
  }
  return tn_set_error(TN_DEVICE_MISMATCH, "%s: tensors on %s and %s: they "
                      "must be on one device (move one with tn_to), or be a "
                      "0-dimensional cpu tensor", operation, place->name,
                      own->name);
}

tn_status tn_placement_begin(tn_placement *placement,
                             tn_tensor *const *operands, int count,
                             const char *operation)
{
  tn_status status = TN_OK;
  placement->place = choose(operands, count);
  placement->made = placement->across = 0;
  placement->count = count;
  for (int i = 0; i < count; i++) placement->operands[i] = operands[i];
  for (int i = 0; i < count && status == TN_OK; i++)
    if (operands[i]) status = place_operand(placement, i, operation);
  if (status != TN_OK) tn_placement_end(placement);
  return status;
}

/* A wait that cannot be queued is a lost device, which other calls report. */
void tn_placement_end(tn_placement *placement)
{
  for (int i = 0; i < placement->count; i++) {
    tn_tensor *t = placement->operands[i];
    if (placement->made >> i & 1) tn_release(t);
    if (placement->across >> i & 1)
      wait_for(tn_tensor_place(t)->device, placement->place->device);
  }
  placement->made = placement->across = 0;
}
