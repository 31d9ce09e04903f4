/* CUDA_VISIBLE_DEVICES, read as the driver reads it: entries by number or by
 * the beginning of a uuid, all of one sort; the first that names no board, or
 * not one alone, ends the list, and one that comes twice empties it. */
#include "config.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "backends/cuda/nvml.h"
#include "tenon/backend.h"

typedef struct entry {
  const char *text;
  size_t length;
} entry;

static bool next_entry(const char **list, entry *out)
{
  if (!*list) return false;
  const char *start = *list, *end = strchrnul(start, ',');
  *list = *end ? end + 1 : NULL;
  while (start < end && isspace((unsigned char)*start)) start++;
  while (end > start && isspace((unsigned char)end[-1])) end--;
  *out = (entry){ start, (size_t)(end - start) };
  return true;
}

static bool begins_with(entry text, const char *prefix)
{
  size_t length = strlen(prefix);
  return text.length >= length && !strncmp(text.text, prefix, length);
}

/* As strtol reads it; what follows the digits is ignored. */
static int board_of_number(entry text, int count)
{
  char *end;
  long value = strtol(text.text, &end, 10);
  if (!text.length || end == text.text || value < 0 || value >= count)
    return -1;
  return (int)value;
}

static int board_of_uuid(entry text, const tn_cuda_boards *boards)
{
  int found = -1;
  for (int i = 0; i < boards->count; i++) {
    if (strncasecmp(boards->list[i].uuid, text.text, text.length)) continue;
    if (found >= 0) return -1;
    found = i;
  }
  return found;
}

int tn_cuda_boards_visible(const tn_cuda_boards *boards, const char *list,
                           int *which)
{
  bool seen[TN_BACKEND_DEVICES_MAX] = { false };
  entry text;
  int visible = 0;
  for (int i = 0; which && !list && i < boards->count; i++) which[i] = i;
  if (!list) return boards->count;
  bool by_uuid = begins_with((entry){ list, strlen(list) }, "GPU-");
  if (begins_with((entry){ list, strlen(list) }, "MIG-")) return -1;
  while (next_entry(&list, &text)) {
    if (by_uuid != begins_with(text, "GPU-")) break;
    int board = by_uuid ? board_of_uuid(text, boards)
                        : board_of_number(text, boards->count);
    if (board < 0) break;
    if (seen[board]) return 0;
    seen[board] = true;
    if (which) which[visible] = board;
    visible++;
  }
  return visible;
}

static bool are_alike(const tn_cuda_board *one, const tn_cuda_board *other)
{
  return strcmp(one->name, other->name) == 0 &&
         one->capability == other->capability &&
         one->memory == other->memory && one->cores == other->cores;
}

bool tn_cuda_boards_in_order(const tn_cuda_boards *boards, const char *list,
                             const char *order)
{
  if (list && strncmp(list, "GPU-", 4) == 0) return true;
  if (order && strcmp(order, "PCI_BUS_ID") == 0) return true;
  for (int i = 1; i < boards->count; i++)
    if (!are_alike(boards->list, boards->list + i)) return false;
  return true;
}
