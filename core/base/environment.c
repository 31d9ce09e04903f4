#include "config.h"

#include "core/base/environment.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"

const char *tn_environment(const char *name) { return secure_getenv(name); }

bool tn_environment_is_on(const char *name)
{
  const char *value = tn_environment(name);
  if (!value || !*value || strcmp(value, "0") == 0) return false;
  if (strcmp(value, "1") == 0) return true;
  tn_log(TN_LOG_WARNING, "%s=%s is not understood: it is 1 or 0", name, value);
  return false;
}
