#include "config.h"

#include "tensor/nn/optim_pack.h"

#include <stdlib.h>

#include "tensor/tensor/scope.h"
#include "tensor/tensor/tensor.h"

void tn_optim_packs_release(tn_optim_pack *packs, int count)
{
  for (int i = 0; i < count; i++)
    for (int k = 0; k < TN_OPTIM_STATES; k++) tn_release(packs[i].states[k]);
  free(packs);
}

/* ---- who goes with whom ---- */

static bool is_of(const tn_optim_pack *pack, const tn_tensor *t)
{
  return pack->place == tn_tensor_place(t) &&
         pack->dtype == (tn_dtype)t->dtype;
}

static bool are_current(const tn_optim *optim)
{
  if (!optim->packs) return false;
  for (int i = 0; i < optim->count; i++)
    if (!is_of(&optim->packs[optim->members[i].pack],
               optim->members[i].parameter))
      return false;
  return true;
}

static void put(tn_optim_pack *pack, int number, const tn_tensor *t)
{
  int slot = pack->count++;
  pack->members[slot] = number;
  pack->begins[slot + 1] = pack->begins[slot] + t->numel;
}

/* packs has room for one each; how many there are. */
static int arrange(const tn_optim *optim, tn_optim_pack *packs)
{
  int count = 0;
  for (int i = 0; i < optim->count; i++) {
    const tn_tensor *t = optim->members[i].parameter;
    int at = count - 1;
    while (at >= 0 && !is_of(&packs[at], t)) at--;
    if (at < 0 || packs[at].count == TN_OPTIM_SLOTS) {
      at = count++;
      packs[at].place = tn_tensor_place(t);
      packs[at].dtype = (tn_dtype)t->dtype;
    }
    put(&packs[at], i, t);
  }
  return count;
}

/* ---- what is kept ---- */

static tn_tensor *part_of(const tn_optim_pack *pack, int state, int slot)
{
  int64_t length = pack->begins[slot + 1] - pack->begins[slot], one = 1;
  return tn_scope_give(tn_tensor_view(pack->states[state],
                                      (tn_shape){ &length, 1 }, &one,
                                      pack->begins[slot]));
}

static tn_status carry_over(const tn_optim *optim, const tn_optim_pack *pack,
                            int state)
{
  for (int slot = 0; slot < pack->count; slot++) {
    const tn_optim_member *member = &optim->members[pack->members[slot]];
    if (member->pack < 0 || member->steps == 0 ||
        member->parameter->numel == 0)
      continue;
    const tn_optim_pack *before = &optim->packs[member->pack];
    if (!tn_copy_(part_of(pack, state, slot),
                  part_of(before, state, member->slot)))
      return tn_last_status();
  }
  return TN_OK;
}

static tn_status fill(const tn_optim *optim, tn_optim_pack *pack)
{
  int states = optim->kind->state_count(optim);
  int64_t total = pack->begins[pack->count];
  for (int k = 0; k < states; k++) {
    tn_tensor *state = tn_zeros_with(
        (tn_shape){ &total, 1 },
        (tn_tensor_options){ .device = pack->place->device,
                             .dtype = pack->dtype });
    if (!state) return tn_last_status();
    pack->states[k] = tn_retain(state);
    tn_status status = carry_over(optim, pack, k);
    if (status != TN_OK) return status;
  }
  return TN_OK;
}

static void use(tn_optim *optim, tn_optim_pack *packs, int count)
{
  tn_optim_packs_release(optim->packs, optim->pack_count);
  optim->packs = packs;
  optim->pack_count = count;
  for (int i = 0; i < count; i++)
    for (int slot = 0; slot < packs[i].count; slot++) {
      tn_optim_member *member = &optim->members[packs[i].members[slot]];
      member->pack = i;
      member->slot = slot;
    }
}

tn_status tn_optim_pack_all(tn_optim *optim)
{
  if (are_current(optim)) return TN_OK;
  tn_optim_pack *packs = calloc((size_t)optim->count, sizeof *packs);
  if (!packs)
    return tn_set_error(TN_OUT_OF_MEMORY, "no host memory for the states of "
                        "%d parameters", optim->count);
  int count = arrange(optim, packs);
  tn_status status = TN_OK;
  for (int i = 0; i < count && status == TN_OK; i++)
    status = fill(optim, &packs[i]);
  if (status == TN_OK) use(optim, packs, count);
  else tn_optim_packs_release(packs, count);
  return status;
}
