#include "config.h"

#include "core/device/mirror_gate.h"

pthread_rwlock_t tn_mirror_gate = PTHREAD_RWLOCK_INITIALIZER;

void tn_mirror_gate_shut(void) { pthread_rwlock_wrlock(&tn_mirror_gate); }
void tn_mirror_gate_open(void) { pthread_rwlock_unlock(&tn_mirror_gate); }

void tn_mirror_gate_renew(void)
{
  tn_mirror_gate = (pthread_rwlock_t)PTHREAD_RWLOCK_INITIALIZER;
}
