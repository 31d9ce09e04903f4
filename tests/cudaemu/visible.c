#include "tests/cudaemu/visible.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void emu_uuid(int number, CUuuid *uuid)
{
  memcpy(uuid->bytes, "EMULATED-GPU-00", 16);
  uuid->bytes[15] = (char)number;
}

/* The only device whose "GPU-..." begins so, or -1. */
static int find_uuid(const char *text, size_t length, int count)
{
  int found = -1;
  for (int i = 0; i < count; i++) {
    char name[48] = "GPU-";
    CUuuid uuid;
    emu_uuid(i, &uuid);
    for (size_t b = 0, at = 4; b < sizeof uuid.bytes; b++) {
      if (b == 4 || b == 6 || b == 8 || b == 10) name[at++] = '-';
      at += (size_t)snprintf(name + at, sizeof name - at, "%02x",
                             (unsigned char)uuid.bytes[b]);
    }
    if (strncmp(name, text, length) != 0) continue;
    if (found >= 0) return -1;
    found = i;
  }
  return found;
}

/* An entry's device, or -1. */
static int find_entry(const char *text, size_t length, int count, bool by_uuid)
{
  char *end;
  if (by_uuid)
    return strncmp(text, "GPU-", 4) == 0 ? find_uuid(text, length, count) : -1;
  long number = strtol(text, &end, 10);
  return end == text || number < 0 || number >= count ? -1 : (int)number;
}

int emu_visible_find(int count, int *visible)
{
  const char *text = getenv("CUDA_VISIBLE_DEVICES");
  int found = 0;
  bool is_taken[EMU_DEVICES_MAX] = { false };
  if (!text)
    for (; found < count; found++) visible[found] = found;
  text = text ? text : "";
  text += strspn(text, " ");
  bool by_uuid = strncmp(text, "GPU-", 4) == 0;
  while (*text) {
    text += strspn(text, " ");
    size_t length = strcspn(text, ", ");
    int device = find_entry(text, length, count, by_uuid);
    if (device < 0) break; /* the first bad entry ends the list */
    if (is_taken[device]) return 0;
    is_taken[device] = true;
    visible[found++] = device;
    text += strcspn(text, ",");
    text += *text == ',';
  }
  return found;
}
