#include "config.h"

#include "tensor/autograd/node.h"

static __thread bool is_off; /* threads start with gradients on */

bool tn_is_grad_enabled(void)
{
  return !is_off;
}

tn_grad_mode_guard tn_grad_mode_push(bool enabled)
{
  tn_grad_mode_guard guard = { !is_off, 1 };
  is_off = !enabled;
  return guard;
}

void tn_grad_mode_pop(tn_grad_mode_guard *guard)
{
  if (!guard || !guard->active) return;
  guard->active = 0;
  is_off = !guard->saved;
}
