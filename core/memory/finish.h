/* The end, and forks. */
#ifndef TN_CORE_MEMORY_FINISH_H
#define TN_CORE_MEMORY_FINISH_H

/* Registers this layer's step; called when memory is asked for first. */
void tn_memory_arm(void);

#endif
