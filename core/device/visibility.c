#include "config.h"

#include "core/device/visibility.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/device/host.h"

/* The list's syntax ----------------------------------------------------- */

/* One element, without the blanks around it. */
typedef struct element {
  const char *text;
  size_t length;
} element;

static bool next_element(const char **list, element *out)
{
  if (!*list) return false;
  const char *end = strchr(*list, ',');
  const char *stop = end ? end : *list + strlen(*list);
  const char *start = *list;
  while (start < stop && isspace((unsigned char)*start)) start++;
  while (stop > start && isspace((unsigned char)stop[-1])) stop--;
  *out = (element){ start, (size_t)(stop - start) };
  *list = end ? end + 1 : NULL;
  return true;
}

/* As strtoul reads it: digits after an optional sign, junk after them is
 * ignored. -1 for what is negative or no number. */
static int read_ordinal(element text)
{
  size_t i = text.length && (text.text[0] == '+' || text.text[0] == '-');
  bool is_negative = i && text.text[0] == '-';
  size_t first = i;
  int value = 0;
  for (; i < text.length && isdigit((unsigned char)text.text[i]); i++)
    if (value < TN_BACKEND_DEVICES_MAX)
      value = value * 10 + (text.text[i] - '0');
  if (i == first || (is_negative && value > 0)) return -1;
  return value;
}

static bool begins_with(element text, const char *prefix)
{
  size_t length = strlen(prefix);
  return text.length >= length && memcmp(text.text, prefix, length) == 0;
}

/* A device's uuid, or the beginning of one: after "GPU-" as the vendor writes
 * it, or bare as `tenon devices` does (then at least its first group, to tell
 * it from an ordinal). "MIG-" names parts of devices, which we do not have. */
static bool is_uuid(element text)
{
  if (begins_with(text, "GPU-") || begins_with(text, "MIG-")) return true;
  if (text.length < 9 || text.text[8] != '-') return false;
  for (int i = 0; i < 8; i++)
    if (!isxdigit((unsigned char)text.text[i])) return false;
  return true;
}

/* Resolving ------------------------------------------------------------- */

static bool holds(const tn_visibility *list, int ordinal)
{
  for (int i = 0; i < list->count; i++)
    if (list->ordinals[i] == ordinal) return true;
  return false;
}

/* An ordinal twice empties the list; what is no ordinal ends it, and so, once
 * the whole list is known to be without repetition, does one too large. */
static void select_ordinals(const char *list, tn_visibility *out)
{
  element text;
  while (next_element(&list, &text)) {
    int ordinal = read_ordinal(text);
    if (ordinal < 0 || out->count == TN_BACKEND_DEVICES_MAX) break;
    if (holds(out, ordinal)) {
      out->count = 0;
      return;
    }
    out->ordinals[out->count++] = (int16_t)ordinal;
  }
  for (int i = 0; i < out->count; i++)
    if (out->ordinals[i] >= out->physical) out->count = i;
}

static void read_uuid(const tn_backend *backend, int ordinal,
                      char text[2 * 16 + 1])
{
  tn_backend_device_info info = { .struct_size = sizeof info };
  text[0] = 0;
  if (backend->device.info(backend->api->self, ordinal, &info) != TN_OK)
    return;
  for (int i = 0; i < 16; i++)
    snprintf(text + 2 * i, 3, "%02x", info.uuid[i]);
}

/* Compares hexadecimal digits only: dashes are where the writer put them. */
static bool is_prefix(element wanted, const char *uuid)
{
  for (size_t i = begins_with(wanted, "GPU-") ? 4 : 0; i < wanted.length;
       i++) {
    if (wanted.text[i] == '-') continue;
    if (*uuid != tolower((unsigned char)wanted.text[i])) return false;
    uuid++;
  }
  return true;
}

typedef struct uuid_list {
  char text[TN_BACKEND_DEVICES_MAX][2 * 16 + 1];
} uuid_list;

/* The one device it can mean, -1 if there is none or more than one. */
static int find_uuid(element wanted, const uuid_list *uuids, int count)
{
  int found = -1;
  for (int i = 0; i < count; i++) {
    if (!is_prefix(wanted, uuids->text[i])) continue;
    if (found >= 0) return -1;
    found = i;
  }
  return found;
}

/* What names no device, or not one alone, ends the list; a device twice
 * empties it. */
static void select_uuids(const tn_backend *backend, const char *list,
                         tn_visibility *out)
{
  uuid_list uuids;
  for (int i = 0; i < out->physical; i++)
    read_uuid(backend, i, uuids.text[i]);
  element text;
  while (next_element(&list, &text) && is_uuid(text)) {
    int ordinal = find_uuid(text, &uuids, out->physical);
    if (ordinal < 0) return;
    if (holds(out, ordinal)) {
      out->count = 0;
      return;
    }
    out->ordinals[out->count++] = (int16_t)ordinal;
  }
}

static void select_all(tn_visibility *out)
{
  out->count = out->physical;
  for (int i = 0; i < out->count; i++) out->ordinals[i] = (int16_t)i;
}

void tn_visibility_variable(const char *backend,
                            char text[TN_VISIBILITY_NAME_SIZE])
{
  snprintf(text, TN_VISIBILITY_NAME_SIZE, "TENON_%s_VISIBLE_DEVICES",
           backend);
  for (char *c = text; *c; c++) *c = (char)toupper((unsigned char)*c);
}

tn_status tn_visibility_read(const tn_backend *backend, tn_visibility *out)
{
  int count = 0;
  out->count = out->physical = 0;
  tn_host_error_clear();
  tn_status status = backend->device.count(backend->api->self, &count);
  if (status != TN_OK)
    return tn_plugin_error_of_backend(backend, status, "counting devices");
  if (count < 0 || count > TN_BACKEND_DEVICES_MAX)
    return tn_error(TN_BAD_PLUGIN, "%s: its plugin counts %d devices: 0 to "
                    "%d are possible", backend->name, count,
                    TN_BACKEND_DEVICES_MAX);
  out->physical = count;
  char variable[TN_VISIBILITY_NAME_SIZE];
  tn_visibility_variable(backend->name, variable);
  const char *list = tn_environment(variable), *rest = list;
  element first;
  if (!list) select_all(out);
  else if (next_element(&rest, &first) && is_uuid(first))
    select_uuids(backend, list, out);
  else select_ordinals(list, out);
  return TN_OK;
}
