/* Reading and writing device strings (tenon/device.h). */
#include "config.h"

#include "tenon/device.h"

#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/shutdown.h"
#include "core/device/automatic_device.h"
#include "core/device/registry.h"

static const tn_device invalid = { -1, -1 };

enum { NO_ORDINAL = -1, TOO_LARGE = -2, MALFORMED = -3 };

/* Grammar --------------------------------------------------------------- */

static bool is_letter(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* What follows the name: nothing, or ':' and an ordinal. */
static int read_ordinal(const char *text)
{
  if (!*text) return NO_ORDINAL;
  if (*text++ != ':' || !is_digit(*text)) return MALFORMED;
  if (*text == '0') return text[1] ? MALFORMED : 0;
  int value = 0;
  for (; is_digit(*text); text++) {
    if (value < TN_BACKEND_DEVICES_MAX) value = value * 10 + (*text - '0');
  }
  if (*text) return MALFORMED;
  return value < TN_BACKEND_DEVICES_MAX ? value : TOO_LARGE;
}

/* The id of a known backend that the text names, 0 if it is none; no lock, no
 * call. A whole name followed by its end or ':' needs no check of its own. */
static int match_known(const char *text, const char **rest)
{
  int count = atomic_load_explicit(&tn_registry.count, memory_order_acquire);
  for (int id = 1; id <= count; id++) {
    const char *name = tn_registry.names[id];
    size_t i = 0;
    while (name[i] && name[i] == text[i]) i++;
    if (name[i] || (text[i] && text[i] != ':')) continue;
    *rest = text + i;
    return id;
  }
  return 0;
}

/* Errors ---------------------------------------------------------------- */

static const char *complaint(const char *text, const char *name_end)
{
  if (*text == ':') return "the name is missing";
  if (*name_end != ':') {
    return is_digit(*name_end)
        ? "a name has no digits"
        : "a name is letters and underscores";
  }
  const char *ordinal = name_end + 1;
  if (!*ordinal) return "the ordinal after ':' is missing";
  if (ordinal[0] == '0' && is_digit(ordinal[1]))
    return "the ordinal has a leading zero";
  return "an ordinal is digits only";
}

static tn_status refuse_format(const char *text, const char *why)
{
  return tn_error(TN_INVALID_DEVICE_STRING, "device \"%.60s\": %s (a device "
                  "is NAME or NAME:ORDINAL, such as cpu or cuda:1)", text,
                  why);
}

static tn_status refuse_size(const char *text)
{
  return tn_error(TN_NO_SUCH_DEVICE, "device \"%.60s\": no such device: "
                  "ordinals go up to %d", text, TN_BACKEND_DEVICES_MAX - 1);
}

/* Everything but a backend that is known already. */
static tn_status parse_slowly(const char *text, tn_device *out)
{
  if (tn_is_shut_down()) return tn_refuse_shut_down();
  if (!*text)
    return tn_error(TN_INVALID_DEVICE_STRING, "the device string is empty (a "
                    "device is NAME or NAME:ORDINAL, such as cpu or cuda:1)");
  const char *end = text;
  while (is_letter(*end)) end++;
  size_t length = (size_t)(end - text);
  int ordinal = read_ordinal(end);
  if (!length || ordinal == MALFORMED)
    return refuse_format(text, complaint(text, end));
  if (length == 4 && memcmp(text, "auto", 4) == 0) {
    if (ordinal != NO_ORDINAL)
      return refuse_format(text, "auto takes no ordinal");
    return tn_automatic_device(out);
  }
  tn_backend_slot *slot;
  tn_status status = tn_registry_require(text, length, text, &slot);
  if (status != TN_OK) return status;
  if (ordinal == TOO_LARGE) return refuse_size(text);
  *out = (tn_device){ slot->backend.id, (int16_t)ordinal };
  return TN_OK;
}

/* Public ---------------------------------------------------------------- */

tn_status tn_device_parse(const char *text, tn_device *out)
{
  if (!out)
    return tn_error(TN_INVALID_ARGUMENT, "tn_device_parse: out is NULL");
  *out = invalid;
  if (!text)
    return tn_error(TN_INVALID_DEVICE_STRING, "the device string is NULL");
  const char *rest;
  int id = match_known(text, &rest);
  if (id) {
    int ordinal = read_ordinal(rest);
    if (ordinal >= NO_ORDINAL) {
      *out = (tn_device){ (int16_t)id, (int16_t)ordinal };
      return TN_OK;
    }
  }
  return parse_slowly(text, out);
}

tn_device tn_device_of(const char *text)
{
  tn_device device;
  tn_status status = tn_device_parse(text, &device);
  return status == TN_OK ? device : invalid;
}

int tn_device_format(tn_device device, char *text, size_t size)
{
  const tn_backend_slot *slot = tn_registry_at(device.backend);
  if (!text) size = 0;
  if (device.backend == 0 && device.index == 0)
    return snprintf(text, size, "none");
  if (!slot || device.index < -1 || device.index >= TN_BACKEND_DEVICES_MAX)
    return snprintf(text, size, "invalid");
  if (device.index == -1)
    return snprintf(text, size, "%s", slot->backend.name);
  return snprintf(text, size, "%s:%d", slot->backend.name, device.index);
}

bool tn_device_equal(tn_device a, tn_device b)
{
  return a.backend == b.backend && a.index == b.index;
}
