#include "backends/cpu/build.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "backends/cpu/compilation.h"
#include "backends/cpu/host.h"
#include "backends/cpu/language_text.h"

#define CACHE_KIND "cpu"

/* What the host's cache knows an entry by. */
typedef struct tn_cpu_key {
  char *start;
  size_t size;
} tn_cpu_key;

static tn_status key_make(const tn_cpu_compilation *unit, tn_cpu_key *key)
{
  *key = (tn_cpu_key){ NULL, 0 };
  FILE *out = open_memstream(&key->start, &key->size);
  if (out) {
    fprintf(out, "tenon-cpu %s language %s", TN_CPU_VERSION,
            tn_cpu_language_sum);
    tn_cpu_compilation_describe(unit, out);
  }
  bool failed = !out || ferror(out);
  if (out && fclose(out)) failed = true;
  if (!failed) return TN_OK;
  free(key->start);
  return tn_cpu_host->error(TN_OUT_OF_MEMORY,
                            "no memory for the key of module \"%s\"",
                            unit->desc->name);
}

/* Puts the library made into the cache. */
static tn_status store(const tn_cpu_compilation *unit, const tn_cpu_key *key,
                       char *path)
{
  size_t size = 0;
  void *library = tn_cpu_compilation_read(unit, &size);
  if (!library) return TN_COMPILE_FAILED;
  tn_status status =
    tn_cpu_host->cache_store(CACHE_KIND, key->start, key->size, library, size,
                             path, PATH_MAX);
  free(library);
  return status;
}

static tn_status compile_and_store(tn_cpu_compilation *unit,
                                   const tn_cpu_key *key, char *path)
{
  tn_status status = tn_cpu_compilation_run(unit);
  if (!status) status = store(unit, key, path);
  tn_cpu_compilation_clean(unit);
  return status;
}

/* A cached library that cannot be opened is compiled again. */
static tn_status load(tn_cpu_compilation *unit, const tn_cpu_key *key,
                      void **library)
{
  char path[PATH_MAX];
  uint64_t size;
  tn_status status = tn_cpu_host->cache_find(CACHE_KIND, key->start, key->size,
                                             path, sizeof path, &size);
  if (status && status != TN_NOT_READY) return status;
  if (!status && (*library = dlopen(path, RTLD_NOW | RTLD_LOCAL)))
    return TN_OK;
  status = compile_and_store(unit, key, path);
  if (status) return status;
  if ((*library = dlopen(path, RTLD_NOW | RTLD_LOCAL))) return TN_OK;
  return tn_cpu_host->error(TN_COMPILE_FAILED,
                            "module \"%s\" is compiled but cannot be loaded: "
                            "%s",
                            unit->desc->name, dlerror());
}

tn_status tn_cpu_build_load(const tn_module_desc *desc, void **library)
{
  tn_cpu_key key;
  tn_cpu_compilation *unit = malloc(sizeof *unit);
  if (!unit)
    return tn_cpu_host->error(TN_OUT_OF_MEMORY, "no memory to compile");
  unit->desc = desc;
  tn_status status = tn_cpu_compiler_find(&unit->compiler);
  if (!status) status = key_make(unit, &key);
  if (!status) {
    status = load(unit, &key, library);
    free(key.start);
  }
  free(unit);
  return status;
}
