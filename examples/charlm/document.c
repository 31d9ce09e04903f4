#define _POSIX_C_SOURCE 200809L
#include "document.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "complain.h"

#ifndef CHARLM_DOCUMENTS
#define CHARLM_DOCUMENTS ""
#endif

enum { LEVELS = 5 };

/* A page that every folder of documentation has, in the source tree and where
 * it is installed, and where the other pages are. */
static const char *const marks[] = { "docs/semantics.md", "semantics.md" };

typedef struct search {
  char folder[PATH_MAX];
  bool is_found;
  char places[2048]; /* for the message */
} search;

static bool exists(const char *folder, const char *page)
{
  char path[PATH_MAX];
  int size = snprintf(path, sizeof path, "%s/%s", folder, page);
  return size < (int)sizeof path && access(path, R_OK) == 0;
}

static void look_in(search *s, const char *folder)
{
  if (s->is_found || !*folder) return;
  for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
    if (exists(folder, marks[i])) s->is_found = true;
  if (s->is_found) snprintf(s->folder, sizeof s->folder, "%s", folder);
  size_t used = strlen(s->places);
  snprintf(s->places + used, sizeof s->places - used, "%s%s",
           used ? ", " : "", folder);
}

static void look_in_path(search *s, const char *path)
{
  while (*path) {
    char folder[PATH_MAX];
    size_t length = strcspn(path, ":");
    snprintf(folder, sizeof folder, "%.*s", (int)length, path);
    look_in(s, folder);
    path += length;
    path += *path == ':';
  }
}

static void look_above(search *s, const char *file)
{
  char folder[PATH_MAX];
  snprintf(folder, sizeof folder, "%s", file);
  for (int i = 0; i < LEVELS; i++) {
    char *slash = strrchr(folder, '/');
    if (!slash || slash == folder) return;
    *slash = 0;
    look_in(s, folder);
  }
}

/* ---- the pages ---- */

static int is_page(const struct dirent *entry)
{
  size_t length = strlen(entry->d_name);
  return length > 3 && strcmp(entry->d_name + length - 3, ".md") == 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
  return strcmp((*a)->d_name, (*b)->d_name);
}

/* The pages of one folder; a folder that is not there has none. */
static bool read_pages(bytes *b, const char *folder)
{
  struct dirent **entries;
  int count = scandir(folder, &entries, is_page, by_name);
  bool is_read = true;
  for (int i = 0; i < count; i++) {
    char path[PATH_MAX];
    int size = snprintf(path, sizeof path, "%s/%s", folder,
                        entries[i]->d_name);
    if (is_read && size < (int)sizeof path) is_read = bytes_read(b, path);
    free(entries[i]);
  }
  if (count >= 0) free(entries);
  return is_read;
}

bool document_read(bytes *b)
{
  static search s;
  char program[PATH_MAX], path[PATH_MAX + 8];
  look_in_path(&s, CHARLM_DOCUMENTS);
  ssize_t size = readlink("/proc/self/exe", program, sizeof program - 1);
  if (size > 0) {
    program[size] = 0;
    look_above(&s, program);
  }
  look_above(&s, __FILE__);
  if (!s.is_found)
    return complain("no documentation of Tenon to learn from in %s: --text "
                    "names another text", s.places);
  snprintf(path, sizeof path, "%s/docs", s.folder);
  return read_pages(b, s.folder) && read_pages(b, path);
}
