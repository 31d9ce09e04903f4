#include "config.h"

#include "core/launch/builtin.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/launch/module.h"

/* No kernel source is longer. */
#define LONGEST ((size_t)16 << 20)

tn_status tn_builtin_check(const char *family)
{
  if (!family) return tn_error(TN_INVALID_ARGUMENT, "kernel family is NULL");
  size_t length = strspn(family, "abcdefghijklmnopqrstuvwxyz0123456789_");
  if (length > 0 && length < 64 && !family[length]) return TN_OK;
  return tn_error(TN_INVALID_ARGUMENT, "kernel family \"%.80s\": lower-case "
                  "letters, digits and underscores are a name", family);
}

/* Where sources were looked for, for the message. */
typedef struct source_search {
  const char *family;
  char places[600];
  char *text; /* found */
} source_search;

static char *read_whole(FILE *file)
{
  size_t size = 0, capacity = 1 << 16;
  char *text = malloc(capacity);
  while (text) {
    size += fread(text + size, 1, capacity - size - 1, file);
    if (size < capacity - 1) break;
    char *larger = capacity < LONGEST ? realloc(text, 2 * capacity) : NULL;
    if (!larger) free(text);
    text = larger;
    capacity *= 2;
  }
  if (text && ferror(file)) {
    free(text);
    text = NULL;
  }
  if (text) text[size] = 0;
  return text;
}

static bool look_in(source_search *search, const char *folder, size_t length)
{
  char path[PATH_MAX];
  if (length == 0 || search->text) return search->text != NULL;
  int size = snprintf(path, sizeof path, "%.*s/%s.kernel", (int)length, folder,
                      search->family);
  FILE *file = size < (int)sizeof path ? fopen(path, "re") : NULL;
  if (file) {
    search->text = read_whole(file);
    fclose(file);
  }
  size_t used = strlen(search->places);
  snprintf(search->places + used, sizeof search->places - used, "%s%.*s",
           used ? ", " : "", (int)length, folder);
  return search->text != NULL;
}

static void look_in_path(source_search *search, const char *path)
{
  while (path && *path) {
    size_t length = strcspn(path, ":");
    if (look_in(search, path, length)) return;
    path += length;
    path += *path == ':';
  }
}

/* A tree that was moved: LIBDIR/libtenon.so beside DATADIR. */
static void look_beside_library(source_search *search)
{
  Dl_info info;
  char folder[PATH_MAX];
  if (!dladdr((void *)(uintptr_t)&tn_builtin_check, &info)) return;
  const char *slash = strrchr(info.dli_fname, '/');
  if (!slash) return;
  int size = snprintf(folder, sizeof folder, "%.*s/../share/%s/kernels",
                      (int)(slash - info.dli_fname), info.dli_fname, PACKAGE);
  if (size < (int)sizeof folder) look_in(search, folder, (size_t)size);
}

static char *find_source(const char *family)
{
  source_search search = { .family = family };
  static const char installed[] = TN_DATA_DIR "/kernels";
  look_in_path(&search, tn_environment("TENON_KERNEL_PATH"));
  if (!search.text) look_beside_library(&search);
  if (!search.text) look_in(&search, installed, sizeof installed - 1);
  if (!search.text)
    tn_error(TN_INVALID_ARGUMENT, "kernel family \"%s\": no %s.kernel in %s",
             family, family, search.places);
  return search.text;
}

static tn_module *load_source(tn_device_state *state, tn_module_desc *desc)
{
  tn_status status;
  char *source = find_source(desc->name);
  if (!source) return NULL;
  desc->data = source;
  desc->size = strlen(source);
  tn_module *module = tn_module_make(state, desc, &status);
  free(source);
  return module;
}

/* No lock is held while a compiler runs: threads that ask at the same time
 * may have a module each. */
tn_module *tn_builtin_load(tn_device_state *state, const char *family)
{
  tn_module_desc desc = {
    .struct_size = sizeof desc,
    .kind = TN_MODULE_BUILTIN,
    .name = family,
  };
  tn_status status;
  tn_error_state before;
  tn_error_save(&before);
  tn_module *module = tn_module_make(state, &desc, &status);
  if (!module && status == TN_UNSUPPORTED)
    module = load_source(state, &desc);
  if (!module) return NULL;
  tn_error_restore(&before);
  /* The library's own reference: a family is loaded once. */
  return tn_module_retain(module);
}
