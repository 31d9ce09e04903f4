#include "config.h"

#include "core/launch/finish.h"

#include <pthread.h>

#include "core/base/shutdown.h"
#include "core/exec/finish.h"

static void arm(void)
{
  pthread_atfork(tn_launcher_before_fork, tn_launcher_after_fork,
                 tn_launcher_in_child);
  tn_shutdown_hook(TN_SHUTDOWN_LAUNCH, tn_launcher_unload_all);
}

void tn_launch_arm(void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  tn_exec_arm(); /* first: its locks may be taken while ours are held */
  pthread_once(&once, arm);
}
