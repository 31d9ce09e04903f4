#include "config.h"

#include "core/device/search.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/environment.h"
#include "core/device/backend_name.h"

bool tn_identity_equal(tn_identity a, tn_identity b)
{
  return a.device == b.device && a.inode == b.inode;
}

static tn_identity identity_of(const struct stat *facts)
{
  return (tn_identity){ facts->st_dev, facts->st_ino };
}

/* Places ---------------------------------------------------------------- */

/* Returns true to end the walk. */
typedef bool place_visitor(const char *place, void *argument);

/* Absolute, so that a later chdir changes nothing. Too long: no place. */
static bool make_absolute(char *path, const char *text, size_t length)
{
  char folder[PATH_MAX] = "";
  if (text[0] != '/' && !getcwd(folder, sizeof folder)) return false;
  int size = snprintf(path, PATH_MAX, "%s%s%.*s", folder,
                      text[0] == '/' ? "" : "/", (int)length, text);
  return size > 0 && size < PATH_MAX;
}

static bool visit_entries(const char *list, place_visitor *visit,
                          void *argument)
{
  while (list && *list) {
    size_t length = strcspn(list, ":");
    char place[PATH_MAX];
    if (length && make_absolute(place, list, length) &&
        visit(place, argument))
      return true;
    list += length;
    if (*list == ':') list++;
  }
  return false;
}

/* Found through the library's own address, so that a moved tree works. */
static bool folder_beside_library(char place[PATH_MAX])
{
  static const char within = 0;
  Dl_info info;
  if (!dladdr(&within, &info) || !info.dli_fname) return false;
  const char *slash = strrchr(info.dli_fname, '/');
  char folder[PATH_MAX];
  if (!slash || !make_absolute(folder, info.dli_fname,
                               (size_t)(slash - info.dli_fname)))
    return false;
  int size = snprintf(place, PATH_MAX, "%s/tenon/backends", folder);
  return size > 0 && size < PATH_MAX;
}

static bool visit_places(place_visitor *visit, void *argument)
{
  if (visit_entries(tn_environment("TENON_BACKEND_PATH"), visit, argument))
    return true;
  char beside[PATH_MAX] = "";
  if (folder_beside_library(beside) && visit(beside, argument)) return true;
  return strcmp(beside, TN_BACKEND_DIR) != 0 &&
         visit(TN_BACKEND_DIR, argument);
}

/* Finding one ----------------------------------------------------------- */

typedef struct finding {
  const char *name;
  size_t length;
  tn_plugin_file *file;
} finding;

static bool is_named(const char *path, const finding *wanted)
{
  size_t length;
  const char *name = tn_backend_name_in(path, &length);
  return name && length == wanted->length &&
         memcmp(name, wanted->name, length) == 0;
}

static bool find_in_place(const char *place, void *argument)
{
  const finding *wanted = argument;
  char *path = wanted->file->path;
  int size = is_named(place, wanted)
      ? snprintf(path, PATH_MAX, "%s", place)
      : snprintf(path, PATH_MAX, "%s/tenon-%.*s.so", place,
                 (int)wanted->length, wanted->name);
  struct stat facts;
  if (size <= 0 || size >= PATH_MAX || stat(path, &facts) != 0) return false;
  wanted->file->identity = identity_of(&facts);
  return true;
}

bool tn_search_find(const char *name, size_t length, tn_plugin_file *file)
{
  finding wanted = { name, length, file };
  return visit_places(find_in_place, &wanted);
}

/* Finding all ----------------------------------------------------------- */

enum { FOLDERS_REMEMBERED = 64 };

typedef struct folder_walk {
  void (*visit)(const tn_search_row *row, void *argument);
  void *argument;
  tn_identity folders[FOLDERS_REMEMBERED]; /* looked into */
  int folder_count;
} folder_walk;

static int is_plugin(const struct dirent *entry)
{
  size_t length;
  return tn_backend_name_in(entry->d_name, &length) != NULL;
}

static void report_file(const folder_walk *walk, const char *place,
                        const char *path)
{
  tn_plugin_file file;
  struct stat facts = { .st_ino = 0 };
  /* A link to nothing has no identity, and is still a candidate. */
  if (stat(path, &facts) != 0) memset(&facts, 0, sizeof facts);
  snprintf(file.path, sizeof file.path, "%s", path);
  file.identity = identity_of(&facts);
  walk->visit(&(tn_search_row){ place, &file, "" }, walk->argument);
}

static void report_place(const folder_walk *walk, const char *place,
                         const char *problem)
{
  walk->visit(&(tn_search_row){ place, NULL, problem }, walk->argument);
}

static void look_into(const folder_walk *walk, const char *place)
{
  struct dirent **entries;
  int count = scandir(place, &entries, is_plugin, alphasort);
  report_place(walk, place, count < 0 ? strerror(errno) : "");
  for (int i = 0; i < count; i++) {
    char path[PATH_MAX];
    int size = snprintf(path, sizeof path, "%s/%s", place,
                        entries[i]->d_name);
    if (size > 0 && size < (int)sizeof path) report_file(walk, place, path);
    free(entries[i]);
  }
  if (count >= 0) free(entries);
}

/* True once for each folder, however it is reached. */
static bool is_new(folder_walk *walk, tn_identity folder)
{
  for (int i = 0; i < walk->folder_count; i++)
    if (tn_identity_equal(walk->folders[i], folder)) return false;
  if (walk->folder_count < FOLDERS_REMEMBERED)
    walk->folders[walk->folder_count++] = folder;
  return true;
}

static bool walk_place(const char *place, void *argument)
{
  folder_walk *walk = argument;
  struct stat facts;
  if (stat(place, &facts) != 0)
    report_place(walk, place, strerror(errno));
  else if (!S_ISDIR(facts.st_mode)) {
    report_place(walk, place, "");
    report_file(walk, place, place);
  } else if (!is_new(walk, identity_of(&facts)))
    report_place(walk, place, "is the same folder as one before");
  else look_into(walk, place);
  return false;
}

void tn_search_visit(void (*visit)(const tn_search_row *row, void *argument),
                     void *argument)
{
  folder_walk walk = { .visit = visit, .argument = argument };
  visit_places(walk_place, &walk);
}

typedef struct description {
  char *text;
  size_t size, length;
} description;

static bool describe_place(const char *place, void *argument)
{
  description *into = argument;
  int size = snprintf(into->text + into->length, into->size - into->length,
                      "%s%s", into->length ? ", " : "", place);
  if (size > 0) into->length += (size_t)size;
  if (into->length >= into->size) into->length = into->size - 1;
  return into->length == into->size - 1;
}

void tn_search_describe(char *text, size_t size)
{
  text[0] = 0;
  description into = { text, size, 0 };
  visit_places(describe_place, &into);
}
