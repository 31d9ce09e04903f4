/* The end: of the process, and of threads in a forked child. */
#ifndef TN_CORE_EXEC_FINISH_H
#define TN_CORE_EXEC_FINISH_H

/* Registers this layer's steps; called when the first stream is made. */
void tn_exec_arm(void);

/* core/exec/stream_pool.c */
void tn_stream_pool_before_fork(void);
void tn_stream_pool_after_fork(void);
void tn_stream_pool_in_child(void);

#endif
