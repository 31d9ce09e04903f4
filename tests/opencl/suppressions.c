/* What a sanitizer says of PoCL, which is not built with it. */
#include "tenon/status.h"

/* clSetUserEventStatus takes an event's lock and then its queue's when it
 * fails, and enqueueing takes them the other way about. */
TN_API const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
  return "deadlock:libpocl.so\n";
}
