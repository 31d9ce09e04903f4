/* What a libcuda.so.1 answers before it is initialised: one line for its
 * version, one for each way in, one for each NAME:VERSION asked for. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int ask_new(const char *, void **, int, uint64_t, int *);
typedef int ask_old(const char *, void **, int, uint64_t);

static void ask(ask_new *with_status, ask_old *without, const char *text)
{
  char name[64];
  int unset = 0, status = -1, code;
  void *function = &unset;
  const char *colon = strchr(text, ':');
  if (!colon) exit(2);
  snprintf(name, sizeof name, "%.*s", (int)(colon - text), text);
  code = with_status
             ? with_status(name, &function, atoi(colon + 1), 1, &status)
             : without(name, &function, atoi(colon + 1), 1);
  const char *what = function == (void *)&unset ? "not written"
                     : function                ? "there"
                                               : "NULL";
  printf("%s: code %d, status %d, %s\n", text, code, status, what);
}

int main(int argc, char **argv)
{
  ask_new *with_status;
  ask_old *without;
  int (*get_version)(int *), version = 0;
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) return 1;
  *(void **)&with_status = dlsym(library, "cuGetProcAddress_v2");
  *(void **)&without = dlsym(library, "cuGetProcAddress");
  *(void **)&get_version = dlsym(library, "cuDriverGetVersion");
  if ((!with_status && !without) || !get_version || get_version(&version))
    return 1;
  printf("version %d\n", version);
  printf("cuGetProcAddress_v2: %s\n", with_status ? "there" : "absent");
  for (int i = 1; i < argc; i++) ask(with_status, without, argv[i]);
  return 0;
}
