/* Whether this process is a child of one that used a device. */
#ifndef TN_CORE_BASE_FORK_H
#define TN_CORE_BASE_FORK_H

#include <stdatomic.h>
#include <stdbool.h>

/* From now on children count as forked. Called before a device is opened,
 * and by nothing that a fork does not harm. Cheap when repeated. */
void tn_fork_mark(void);

extern atomic_uint tn_forks; /* written by the handler in the child only */

/* How many such forks lie between this process and the one that was first
 * marked. What was made in another generation is not ours to use. */
static inline unsigned tn_fork_generation(void)
{
  return atomic_load_explicit(&tn_forks, memory_order_relaxed);
}

/* True in a child forked after tn_fork_mark: threads of the parent are gone,
 * and so is what they held. */
static inline bool tn_is_forked_child(void)
{
  return tn_fork_generation() != 0;
}

#endif
