#include "config.h"

#include "core/device/trust.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void tn_verdict_clear(tn_verdict *verdict)
{
  verdict->reason[0] = verdict->remedy[0] = 0;
  verdict->is_shadowed = false;
}

void tn_verdict_reason(tn_verdict *verdict, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(verdict->reason, sizeof verdict->reason, format, arguments);
  va_end(arguments);
}

void tn_verdict_remedy(tn_verdict *verdict, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(verdict->remedy, sizeof verdict->remedy, format, arguments);
  va_end(arguments);
}

/* The rule for one file or folder. */
static bool is_ours(const char *path, const struct stat *facts,
                    tn_verdict *verdict)
{
  if (facts->st_uid != 0 && facts->st_uid != geteuid()) {
    tn_verdict_reason(verdict, "%s belongs to user %ld, who is neither root "
                      "nor the user of this program", path,
                      (long)facts->st_uid);
    tn_verdict_remedy(verdict, "chown %ld %s", (long)geteuid(), path);
    return false;
  }
  if (!(facts->st_mode & S_IWOTH)) return true;
  tn_verdict_reason(verdict, "%s is writable by everybody", path);
  /* Shared folders such as /tmp are right as they are. */
  if (facts->st_mode & S_ISVTX)
    tn_verdict_remedy(verdict, "move the plugin to a folder of its own");
  else tn_verdict_remedy(verdict, "chmod o-w %s", path);
  return false;
}

static bool is_folder_ours(const char *path, tn_verdict *verdict)
{
  char folder[PATH_MAX];
  const char *slash = strrchr(path, '/');
  size_t length = slash ? (size_t)(slash - path) : 0;
  if (slash == path) length = 1;
  snprintf(folder, sizeof folder, "%.*s", (int)length, path);
  struct stat facts;
  if (stat(length ? folder : ".", &facts) != 0) {
    tn_verdict_reason(verdict, "%s: %s", folder, strerror(errno));
    return false;
  }
  return is_ours(length ? folder : ".", &facts, verdict);
}

static bool is_target_folder_ours(const char *path, tn_verdict *verdict)
{
  char target[PATH_MAX];
  if (realpath(path, target)) return is_folder_ours(target, verdict);
  tn_verdict_reason(verdict, "%s", strerror(errno));
  return false;
}

bool tn_trust_file(const char *path, tn_verdict *verdict)
{
  tn_verdict_clear(verdict);
  struct stat link, facts;
  if (lstat(path, &link) != 0 || stat(path, &facts) != 0) {
    tn_verdict_reason(verdict, "%s", strerror(errno));
    return false;
  }
  if (!S_ISREG(facts.st_mode)) {
    tn_verdict_reason(verdict, "is not a regular file");
    return false;
  }
  return is_ours(path, &facts, verdict) && is_folder_ours(path, verdict) &&
         (!S_ISLNK(link.st_mode) || is_target_folder_ours(path, verdict));
}
