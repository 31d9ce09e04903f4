/* Where an operation runs (rules T2, T3). */
#ifndef TN_TENSOR_OPS_PLACEMENT_H
#define TN_TENSOR_OPS_PLACEMENT_H

#include "tensor/tensor/tensor.h"

#define TN_PLACED_MAX 8

/* The operands as they can be used on one place. */
typedef struct tn_placement {
  tn_place *place; /* of the result */
  tn_tensor *operands[TN_PLACED_MAX];
  unsigned made;   /* bit i: operand i is a copy of ours */
  unsigned across; /* bit i: operand i stays on a peer device */
  int count;
} tn_placement;

/* The place is that of the first operand which is not a 0-dimensional cpu
 * tensor. Those are copied to it; operands on another device whose memory it
 * has access to are taken as they are, after that device's current stream;
 * all others are TN_DEVICE_MISMATCH, naming both. NULL operands are skipped
 * and stay NULL. */
tn_status tn_placement_begin(tn_placement *placement,
                             tn_tensor *const *operands, int count,
                             const char *operation);

/* After the operation is queued: drops the copies, and makes peers wait until
 * their memory is no longer read. */
void tn_placement_end(tn_placement *placement);

/* The usual case in one look: all on one place. */
static inline bool tn_are_together(const tn_tensor *a, const tn_tensor *b)
{
  return tn_tensor_place(a) == tn_tensor_place(b);
}

#endif
