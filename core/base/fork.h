/* Whether this process is a child of one that used a device. */
#ifndef TN_CORE_BASE_FORK_H
#define TN_CORE_BASE_FORK_H

#include <stdbool.h>

/* From now on children count as forked. Called before a device is opened,
 * and by nothing that a fork does not harm. Cheap when repeated. */
void tn_fork_mark(void);

/* True in a child forked after tn_fork_mark: threads of the parent are gone,
 * and so is what they held. */
bool tn_is_forked_child(void);

/* How many such forks lie between this process and the one that was first
 * marked. What was made in another generation is not ours to use. */
unsigned tn_fork_generation(void);

#endif
