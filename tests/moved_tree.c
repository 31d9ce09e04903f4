/* A library that was moved finds the plugins beside it: R06. It is opened by
 * the program, as other languages do, and used from a new thread. */
#include "config.h"

#include "tests/plugin_folder.h"
#include "tests/tap.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tenon/device.h"

static void *library;

static void *find(const char *name)
{
  void *symbol = dlsym(library, name);
  if (symbol) return symbol;
  printf("Bail out! %s\n", dlerror());
  exit(99);
}

/* The moved library's functions, not those this program is linked with. */
static int count(const char *backend)
{
  int (*function)(const char *);
  void *symbol = find("tn_device_count");
  memcpy(&function, &symbol, sizeof function);
  return function(backend);
}

static const char *message(void)
{
  const char *(*function)(void);
  void *symbol = find("tn_error_message");
  memcpy(&function, &symbol, sizeof function);
  return function();
}

static void *count_in_thread(void *argument)
{
  return (void *)(intptr_t)count(argument);
}

/* The size of the moved library's thread-local variables. */
static int find_size(struct dl_phdr_info *info, size_t size, void *argument)
{
  (void)size;
  if (!strstr(info->dlpi_name, "tenon-core.so")) return 0;
  for (int i = 0; i < info->dlpi_phnum; i++)
    if (info->dlpi_phdr[i].p_type == PT_TLS)
      *(size_t *)argument = info->dlpi_phdr[i].p_memsz;
  return 1;
}

static void check_size(void)
{
  size_t size = 0;
  dl_iterate_phdr(find_size, &size);
  tap_ok(size > 0 && size <= 320, "its %zu thread-local bytes leave room for "
         "other libraries", size);
}

static void make_folder(const char *root, const char *name, char *path)
{
  snprintf(path, PATH_MAX, "%s/%s", root, name);
  if (mkdir(path, 0755) != 0) tap_note("cannot make %s", path);
}

int main(void)
{
  const char *root = plugin_folder_make();
  char lib[PATH_MAX], folder[PATH_MAX], path[PATH_MAX];
  char name[] = "fake", stranger[] = "stranger";
  make_folder(root, "lib", lib);
  make_folder(lib, "tenon", folder);
  make_folder(lib, "tenon/backends", folder);
  plugin_folder_add(folder, PLUGIN_FAKE, "fake");
  /* Whatever the library's name there: it is found by its address. */
  snprintf(path, sizeof path, "%s",
           plugin_folder_add(lib, LT_OBJDIR "libtenon.so", "core"));
  unsetenv("TENON_BACKEND_PATH");
  library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  tap_ok(library != NULL, "the library opens where it is");
  if (!library) tap_note("%s", dlerror());
  check_size();
  if (chdir("/") != 0) tap_note("cannot go to /");
  pthread_t thread;
  void *result = NULL;
  pthread_create(&thread, NULL, count_in_thread, name);
  pthread_join(thread, &result);
  tap_is_int((intptr_t)result, 2, "R06 plugins beside it are found");
  tap_is_int(count(stranger), 0, "others are not");
  tap_has(message(), folder, "R06 D4 and the place is named");
  return tap_done();
}
