#include "tests/cudaemu/visible.h"

#include <stdlib.h>
#include <string.h>

/* The only board whose "GPU-..." begins so, or -1. */
static int find_uuid(const char *text, size_t length)
{
  int found = -1;
  for (int i = 0; i < emu.settings.devices; i++) {
    char name[41];
    emu_board_uuid_text(i, name);
    if (strncmp(name, text, length) != 0) continue;
    if (found >= 0) return -1;
    found = i;
  }
  return found;
}

/* The board with a number: places, or, by default, the fastest first. */
static int board_of(int number)
{
  const char *order = getenv("CUDA_DEVICE_ORDER");
  int count = emu.settings.devices;
  bool by_place = order && strcmp(order, "PCI_BUS_ID") == 0 &&
                  !emu.settings.order_ignored;
  if (by_place || !emu.settings.mixed) return number;
  return number == count - 1 ? 0 : number + 1;
}

/* An entry's board, or -1. */
static int find_entry(const char *text, size_t length, bool by_uuid)
{
  char *end;
  if (by_uuid)
    return strncmp(text, "GPU-", 4) == 0 ? find_uuid(text, length) : -1;
  long number = strtol(text, &end, 10);
  if (end == text || number < 0 || number >= emu.settings.devices) return -1;
  return board_of((int)number);
}

int emu_visible_find(int *visible)
{
  int count = emu.settings.devices;
  const char *text = getenv("CUDA_VISIBLE_DEVICES");
  int found = 0;
  bool is_taken[EMU_DEVICES_MAX] = { false };
  if (!text)
    for (; found < count; found++) visible[found] = board_of(found);
  text = text ? text : "";
  text += strspn(text, " ");
  bool by_uuid = strncmp(text, "GPU-", 4) == 0;
  while (*text) {
    text += strspn(text, " ");
    size_t length = strcspn(text, ", ");
    int device = find_entry(text, length, by_uuid);
    if (device < 0) break; /* the first bad entry ends the list */
    if (is_taken[device]) return 0;
    is_taken[device] = true;
    visible[found++] = device;
    text += strcspn(text, ",");
    text += *text == ',';
  }
  return found;
}
