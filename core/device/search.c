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

/* Paths ----------------------------------------------------------------- */

/* Appends to a path of `used` bytes; false if there is no room. */
static bool append(char path[PATH_MAX], size_t *used, const char *text,
                   size_t length)
{
  if (length >= PATH_MAX - *used) return false;
  memcpy(path + *used, text, length);
  path[*used += length] = 0;
  return true;
}

/* Absolute, so that a later chdir changes nothing. */
static bool make_absolute(char path[PATH_MAX], size_t *used,
                          const char *text, size_t length)
{
  *used = 0;
  if (text[0] != '/') {
    if (!getcwd(path, PATH_MAX)) return false;
    *used = strlen(path);
    if (!append(path, used, "/", 1)) return false;
  }
  return append(path, used, text, length);
}

/* Places ---------------------------------------------------------------- */

/* `place` has `length` bytes, and may be relative. Returns true to end the
 * walk. */
typedef bool place_visitor(const char *place, size_t length, void *argument);

static bool visit_entries(const char *list, place_visitor *visit,
                          void *argument)
{
  while (list && *list) {
    size_t length = strcspn(list, ":");
    if (length && visit(list, length, argument)) return true;
    list += length;
    if (*list == ':') list++;
  }
  return false;
}

/* Found through the library's own address, so that a moved tree works. */
static bool find_beside_library(const char *folder, char place[PATH_MAX])
{
  static const char within = 0;
  Dl_info info;
  size_t used;
  if (!dladdr(&within, &info) || !info.dli_fname) return false;
  const char *slash = strrchr(info.dli_fname, '/');
  return slash && make_absolute(place, &used, info.dli_fname,
                                (size_t)(slash - info.dli_fname)) &&
         append(place, &used, folder, strlen(folder));
}

/* What is looked for, and where it is installed. */
typedef struct sort {
  const char *prefix; /* of a name, after "tenon-" */
  const char *beside, *configured;
} sort;

static const sort backends = { "", "/tenon/backends", TN_BACKEND_DIR };
static const sort layers = { TN_LAYER_PREFIX, "/tenon/layers",
                             TN_LAYER_DIR };

/* Apart, because its path takes a page of stack that a program whose plugins
 * were found before never touches. */
__attribute__((noinline)) static bool visit_installed(const sort *of,
                                                      place_visitor *visit,
                                                      void *argument)
{
  char beside[PATH_MAX];
  if (!find_beside_library(of->beside, beside)) beside[0] = 0;
  if (beside[0] && visit(beside, strlen(beside), argument)) return true;
  return strcmp(beside, of->configured) != 0 &&
         visit(of->configured, strlen(of->configured), argument);
}

static bool visit_places(const sort *of, place_visitor *visit, void *argument)
{
  return visit_entries(tn_environment("TENON_BACKEND_PATH"), visit,
                       argument) ||
         visit_installed(of, visit, argument);
}

/* Finding one ----------------------------------------------------------- */

typedef struct finding {
  const sort *of;
  const char *name;
  size_t length;
  tn_plugin_file *file;
} finding;

static bool is_named(const char *path, const finding *wanted)
{
  size_t length;
  const char *name = tn_backend_name_in(path, &length);
  size_t prefix = strlen(wanted->of->prefix);
  return name && length == prefix + wanted->length &&
         memcmp(name, wanted->of->prefix, prefix) == 0 &&
         memcmp(name + prefix, wanted->name, wanted->length) == 0;
}

/* The place itself, if that is a file of the name, or else a file in it. */
static bool find_in_place(const char *place, size_t length, void *argument)
{
  const finding *wanted = argument;
  char *path = wanted->file->path;
  size_t used;
  struct stat facts;
  if (!make_absolute(path, &used, place, length)) return false;
  if (!is_named(path, wanted) &&
      !(append(path, &used, "/tenon-", 7) &&
        append(path, &used, wanted->of->prefix,
               strlen(wanted->of->prefix)) &&
        append(path, &used, wanted->name, wanted->length) &&
        append(path, &used, ".so", 3)))
    return false;
  if (stat(path, &facts) != 0) return false;
  wanted->file->identity = identity_of(&facts);
  return true;
}

bool tn_search_find(const char *name, size_t length, tn_plugin_file *file)
{
  finding wanted = { &backends, name, length, file };
  return visit_places(&backends, find_in_place, &wanted);
}

bool tn_search_find_layer(const char *name, size_t length,
                          tn_plugin_file *file)
{
  finding wanted = { &layers, name, length, file };
  return visit_places(&layers, find_in_place, &wanted);
}

/* Finding all ----------------------------------------------------------- */

enum { FOLDERS_REMEMBERED = 64 };

typedef struct folder_walk {
  const sort *of;
  void (*visit)(const tn_search_row *row, void *argument);
  void *argument;
  tn_identity folders[FOLDERS_REMEMBERED]; /* looked into */
  int folder_count;
} folder_walk;

static bool is_layer(const char *path)
{
  size_t length;
  const char *name = tn_backend_name_in(path, &length);
  return name && length > sizeof TN_LAYER_PREFIX - 1 &&
         strncmp(name, TN_LAYER_PREFIX, sizeof TN_LAYER_PREFIX - 1) == 0;
}

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
    if (size > 0 && size < (int)sizeof path &&
        is_layer(path) == (walk->of == &layers))
      report_file(walk, place, path);
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

static bool walk_place(const char *text, size_t length, void *argument)
{
  folder_walk *walk = argument;
  struct stat facts;
  char place[PATH_MAX];
  size_t used;
  if (!make_absolute(place, &used, text, length)) {
    snprintf(place, sizeof place, "%.*s", (int)length, text);
    report_place(walk, place, "cannot be made an absolute path");
  } else if (stat(place, &facts) != 0)
    report_place(walk, place, strerror(errno));
  else if (!S_ISDIR(facts.st_mode)) {
    report_place(walk, place, "");
    if (is_layer(place) == (walk->of == &layers))
      report_file(walk, place, place);
  } else if (!is_new(walk, identity_of(&facts)))
    report_place(walk, place, "is the same folder as one before");
  else look_into(walk, place);
  return false;
}

void tn_search_visit(void (*visit)(const tn_search_row *row, void *argument),
                     void *argument)
{
  folder_walk walk = { &backends, .visit = visit, .argument = argument };
  visit_places(&backends, walk_place, &walk);
}

void tn_search_visit_layers(
    void (*visit)(const tn_search_row *row, void *argument), void *argument)
{
  folder_walk walk = { &layers, .visit = visit, .argument = argument };
  visit_places(&layers, walk_place, &walk);
}

typedef struct description {
  char *text;
  size_t size, length;
} description;

static bool describe_place(const char *place, size_t length, void *argument)
{
  description *into = argument;
  int size = snprintf(into->text + into->length, into->size - into->length,
                      "%s%.*s", into->length ? ", " : "", (int)length,
                      place);
  if (size > 0) into->length += (size_t)size;
  if (into->length >= into->size) into->length = into->size - 1;
  return into->length == into->size - 1;
}

void tn_search_describe(char *text, size_t size)
{
  text[0] = 0;
  description into = { text, size, 0 };
  visit_places(&backends, describe_place, &into);
}

void tn_search_describe_layers(char *text, size_t size)
{
  text[0] = 0;
  description into = { text, size, 0 };
  visit_places(&layers, describe_place, &into);
}
