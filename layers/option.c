#include "layers/option.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tn_status refuse(const tn_host_api *host, const char *piece,
                        size_t length, const layer_option *options, int count)
{
  char text[256] = "none";
  size_t used = 0;
  for (int i = 0; i < count && used < sizeof text; i++)
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%s=%s",
                             i ? ", " : "", options[i].name,
                             options[i].meaning);
  return host->error(TN_INVALID_ARGUMENT, "option \"%.*s\": accepted %s %s",
                     (int)(length < 80 ? length : 80), piece,
                     count == 1 ? "is" : "are", text);
}

static const layer_option *find(const char *piece, size_t name,
                                const layer_option *options, int count)
{
  for (int i = 0; i < count; i++)
    if (strlen(options[i].name) == name &&
        memcmp(options[i].name, piece, name) == 0)
      return options + i;
  return NULL;
}

tn_status layer_options_read(const tn_host_api *host,
                             const layer_option *options, int count)
{
  const char *text = TN_HAS(host, layer_options) ? host->layer_options : "";
  while (*text) {
    size_t length = strcspn(text, ","), name = strcspn(text, "=,");
    const layer_option *option = find(text, name, options, count);
    if (!option || name >= length || length - name - 1 >= option->size)
      return refuse(host, text, length, options, count);
    memcpy(option->value, text + name + 1, length - name - 1);
    option->value[length - name - 1] = 0;
    text += length + (text[length] == ',');
  }
  return TN_OK;
}

bool layer_number(const char *text, uint64_t *out)
{
  char *end;
  if (*text < '0' || *text > '9') return false;
  errno = 0;
  unsigned long long number = strtoull(text, &end, 10);
  if (errno || *end) return false;
  *out = number;
  return true;
}
