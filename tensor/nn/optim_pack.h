/* Which parameters one launch changes, and what is kept for them. */
#ifndef TN_TENSOR_NN_OPTIM_PACK_H
#define TN_TENSOR_NN_OPTIM_PACK_H

#include "tensor/nn/optim.h"

/* Makes packs of all members, or makes them anew if one has moved; what was
 * kept moves with its parameter. On failure everything stays. Runs in a scope,
 * without gradients. */
tn_status tn_optim_pack_all(tn_optim *optim);

void tn_optim_packs_release(tn_optim_pack *packs, int count);

#endif
