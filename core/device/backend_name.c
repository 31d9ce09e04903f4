#include "config.h"

#include "core/device/backend_name.h"

#include <string.h>

#include "tenon/backend.h"

static bool is_reserved(const char *name, size_t length)
{
  static const char *const reserved[] = { "auto", "none", "invalid" };
  for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
    if (strlen(reserved[i]) == length && !memcmp(name, reserved[i], length))
      return true;
  return false;
}

bool tn_backend_name_is_legal(const char *name, size_t length)
{
  if (length == 0 || length >= TN_BACKEND_NAME_SIZE) return false;
  for (size_t i = 0; i < length; i++)
    if (name[i] != '_' && (name[i] < 'a' || name[i] > 'z')) return false;
  return !is_reserved(name, length);
}

const char *tn_backend_name_in(const char *path, size_t *length)
{
  static const char prefix[] = "tenon-", suffix[] = ".so";
  enum { PREFIX = sizeof prefix - 1, SUFFIX = sizeof suffix - 1 };
  const char *slash = strrchr(path, '/');
  const char *file = slash ? slash + 1 : path;
  size_t size = strlen(file);
  *length = 0;
  if (size < PREFIX + SUFFIX || strncmp(file, prefix, PREFIX) != 0 ||
      strcmp(file + size - SUFFIX, suffix) != 0)
    return NULL;
  *length = size - PREFIX - SUFFIX;
  return file + PREFIX;
}
