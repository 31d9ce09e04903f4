#include "config.h"

#include "tests/plugin_folder.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folders[8][PATH_MAX];
static int folder_count;
static pid_t maker;

static void give_up(const char *what, const char *path)
{
  printf("Bail out! %s %s: %s\n", what, path, strerror(errno));
  exit(99);
}

static int remove_entry(const char *path, const struct stat *facts, int kind,
                        struct FTW *place)
{
  (void)facts, (void)kind, (void)place;
  return remove(path);
}

static void remove_folders(void)
{
  if (getpid() != maker) return;
  for (int i = 0; i < folder_count; i++)
    nftw(folders[i], remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static const char *build_tree(void)
{
  const char *tree = getenv("top_builddir");
  return tree ? tree : ".";
}

const char *plugin_folder_make(void)
{
  if (!folder_count) {
    maker = getpid();
    atexit(remove_folders);
  }
  char path[PATH_MAX], tree[PATH_MAX];
  if (!realpath(build_tree(), tree)) give_up("cannot find", build_tree());
  snprintf(path, sizeof path, "%.4000s/tests/folder-XXXXXX", tree);
  if (!mkdtemp(path)) give_up("cannot make", path);
  strcpy(folders[folder_count], path);
  return folders[folder_count++];
}

static void copy_into(const char *library, FILE *to)
{
  char path[PATH_MAX], bytes[4096];
  snprintf(path, sizeof path, "%s/%s", build_tree(), library);
  FILE *from = fopen(path, "rb");
  if (!from) give_up("cannot read", path);
  size_t size;
  while ((size = fread(bytes, 1, sizeof bytes, from)) > 0)
    if (fwrite(bytes, 1, size, to) != size) give_up("cannot copy", path);
  fclose(from);
}

const char *plugin_folder_add(const char *folder, const char *library,
                              const char *name)
{
  static char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/tenon-%s.so", folder, name);
  FILE *to = fopen(path, "wb");
  if (!to) give_up("cannot write", path);
  if (library) copy_into(library, to);
  if (fclose(to) != 0) give_up("cannot write", path);
  if (chmod(path, 0644) != 0) give_up("cannot chmod", path);
  return path;
}

void plugin_path_set(const char *first, const char *second)
{
  char path[2 * PATH_MAX];
  snprintf(path, sizeof path, "%s:%s", first, second);
  setenv("TENON_BACKEND_PATH", path, 1);
}
