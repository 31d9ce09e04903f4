/* The end, and forks. */
#ifndef TN_CORE_LAUNCH_FINISH_H
#define TN_CORE_LAUNCH_FINISH_H

/* Registers this layer's step; called when the first module is loaded. */
void tn_launch_arm(void);

/* core/launch/launcher.c */
void tn_launcher_unload_all(void);
void tn_launcher_before_fork(void);
void tn_launcher_after_fork(void);
void tn_launcher_in_child(void);

#endif
