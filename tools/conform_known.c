#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/command.h"
#include "tools/conform.h"

static bool add(const char *id, const char *reason, tn_known **list)
{
  tn_known *known = calloc(1, sizeof *known);
  if (!known) return false;
  known->id = strdup(id);
  known->reason = strdup(reason);
  while (*list) list = &(*list)->next;
  *list = known;
  return known->id && known->reason;
}

/* "S1-order: the reason" or without the colon. */
static bool read_line(char *line, const char *path, int number,
                      tn_known **list)
{
  line[strcspn(line, "\n")] = 0;
  char *id = line + strspn(line, " \t");
  if (!*id || *id == '#') return true;
  char *end = id + strcspn(id, " \t:");
  char *reason = end + strspn(end, " \t:");
  *end = 0;
  if (*reason) return add(id, reason, list);
  tn_complain("conform: %s:%d: %s has no reason", path, number, id);
  return false;
}

bool tn_known_read(const char *path, bool is_needed, tn_known **list)
{
  char line[1024];
  int number = 0;
  bool is_good = true;
  FILE *file = fopen(path, "r");
  if (!file && !is_needed && errno == ENOENT) return true;
  if (!file) {
    tn_complain("conform: %s: %s", path, strerror(errno));
    return false;
  }
  while (is_good && fgets(line, sizeof line, file))
    is_good = read_line(line, path, ++number, list);
  fclose(file);
  return is_good;
}

const tn_known *tn_known_find(const tn_known *list, const char *id)
{
  while (list && strcmp(list->id, id) != 0) list = list->next;
  return list;
}
