#include "config.h"

#include "core/device/plugin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/device/backend_name.h"
#include "core/device/host.h"
#include "core/device/layer_list.h"
#include "core/device/library_file.h"
#include "core/device/synchronous_stream.h"
#include "core/device/table_check.h"
#include "core/device/trust.h"

/* Only a bench defines it as 0, to see that layers cost nothing. */
#ifndef TN_WITH_LAYERS
#define TN_WITH_LAYERS 1
#endif

/* The loader's text begins with the file it is about: the plugin, or a
 * library that the plugin needs. */
static tn_status refuse_unloadable(const char *path, const char *text)
{
  static const char absent[] = ": cannot open shared object file";
  if (!text) text = "no reason given";
  const char *end = strstr(text, absent);
  size_t length = strlen(path);
  if (end && strncmp(text, path, length) != 0)
    return tn_error(TN_DEVICE_UNAVAILABLE, "needs the library %.*s, which is "
                    "not installed", (int)(end - text), text);
  if (strncmp(text, path, length) == 0 && text[length] == ':')
    text += length + 1 + (text[length + 1] == ' ');
  return tn_error(TN_BAD_PLUGIN, "cannot be loaded: %s", text);
}

static tn_status open_library(const char *path, void **library)
{
  tn_status status = tn_library_file_check(path);
  if (status != TN_OK) return status;
  dlerror();
  *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  return *library ? TN_OK : refuse_unloadable(path, dlerror());
}

static tn_status find_entry(void *library, tn_backend_entry_function *entry)
{
  *entry = NULL;
  void *symbol = dlsym(library, TN_BACKEND_ENTRY_NAME);
  if (!symbol)
    return tn_error(TN_BAD_PLUGIN, "exports no %s, so it is not a tenon "
                    "plugin", TN_BACKEND_ENTRY_NAME);
  memcpy(entry, &symbol, sizeof *entry);
  return TN_OK;
}

/* The plugin's own reason for having no tables. */
static tn_status refuse_as_told(void)
{
  tn_status status = tn_host_error_status();
  if (status == TN_OK)
    return tn_error(TN_BAD_PLUGIN, "its %s gave no tables and no reason",
                    TN_BACKEND_ENTRY_NAME);
  return tn_error(status, "%s", tn_host_error_text(status));
}

static tn_status check_version(const tn_backend_api *api)
{
  enum { SANE_MAX = 64 << 10 };
  size_t size = api->struct_size;
  if (size < offsetof(tn_backend_api, name) || size > SANE_MAX ||
      size % sizeof(void *) != 0)
    return tn_error(TN_BAD_PLUGIN, "its tn_backend_api has the impossible "
                    "struct_size %zu (this library's own is %zu)", size,
                    sizeof *api);
  if (api->abi_major == TN_BACKEND_ABI_MAJOR &&
      api->abi_minor <= TN_BACKEND_ABI_MINOR)
    return TN_OK;
  return tn_error(TN_ABI_MISMATCH, "speaks plugin interface %u.%u, and this "
                  "library %u.%u: the first number must be equal, the second "
                  "at most this library's", api->abi_major, api->abi_minor,
                  TN_BACKEND_ABI_MAJOR, TN_BACKEND_ABI_MINOR);
}

static tn_status check_name(const tn_backend_api *api, const char *wanted)
{
  const char *name = api->name;
  if (!name) return tn_error(TN_BAD_PLUGIN, "gives no name");
  size_t length = strnlen(name, TN_BACKEND_NAME_SIZE);
  if (!tn_backend_name_is_legal(name, length))
    return tn_error(TN_BAD_PLUGIN, "calls itself \"%.*s\": a name is "
                    TN_BACKEND_NAME_RULE, (int)length, name);
  if (strcmp(name, wanted) != 0)
    return tn_error(TN_BAD_PLUGIN, "calls itself \"%s\", and its file name "
                    "says \"%s\"", name, wanted);
  return TN_OK;
}

static tn_status take(const tn_backend_api *given, const char *name,
                      tn_backend_api *api, tn_backend *backend)
{
  enum { LEAST = offsetof(tn_backend_api, copy) + sizeof(void *) };
  if ((uintptr_t)given % sizeof(void *) != 0)
    return tn_error(TN_BAD_PLUGIN, "its tn_backend_api is not aligned");
  tn_status status = check_version(given);
  if (status != TN_OK) return status;
  size_t size = given->struct_size;
  if (size < LEAST)
    return tn_error(TN_BAD_PLUGIN, "its tn_backend_api ends before its "
                    "mandatory tables: struct_size is %zu, at least %d is "
                    "needed", size, (int)LEAST);
  memset(api, 0, sizeof *api);
  memcpy(api, given, size < sizeof *api ? size : sizeof *api);
  status = check_name(api, name);
  if (status == TN_OK) status = tn_tables_take(api, backend);
  if (status != TN_OK) return status;
  if (!api->version) api->version = "";
  backend->api = api;
  return TN_OK;
}

/* The entry of the file at `path`. From then on the library stays: it may
 * have begun threads, or told others about functions of its own. */
static tn_status open_entry(const char *path,
                            tn_backend_entry_function *entry)
{
  tn_verdict verdict;
  if (!tn_trust_file(path, &verdict))
    return tn_error(TN_BAD_PLUGIN, "%s", verdict.reason);
  void *library;
  tn_status status = open_library(path, &library);
  if (status != TN_OK) return status;
  status = find_entry(library, entry);
  if (status != TN_OK) dlclose(library);
  return status;
}

/* Calls an entry and takes what it gives, which `given` becomes. */
static tn_status enter(tn_backend_entry_function entry,
                       const tn_host_api *host, const char *name,
                       const tn_backend_api **given, tn_backend_api *api,
                       tn_backend *backend)
{
  tn_host_error_clear();
  *given = entry(host, *given);
  return *given ? take(*given, name, api, backend) : refuse_as_told();
}

static tn_status wrap(const tn_layer *layer, const char *name,
                      const tn_backend_api **given, tn_backend_api *api,
                      tn_backend *backend)
{
  tn_backend_entry_function entry;
  const tn_host_api *host = NULL;
  tn_status status = open_entry(layer->file.path, &entry);
  if (status == TN_OK) status = tn_host_for_layer(layer->options, &host);
  if (status == TN_OK)
    status = enter(entry, host, name, given, api, backend);
  if (status == TN_OK) return TN_OK;
  char reason[TN_BACKEND_TEXT_SIZE];
  snprintf(reason, sizeof reason, "%s", tn_error_message());
  return tn_error(status, "layer \"%s\" (%s): %s", layer->name,
                  layer->file.path, reason);
}

/* The last one named is the innermost. */
static tn_status wrap_all(const char *name, const tn_backend_api **given,
                          tn_backend_api *api, tn_backend *backend)
{
  const char *text = tn_environment("TENON_LAYERS");
  tn_layer *layers;
  int count;
  if (!text || !*text) return TN_OK;
  tn_status status = tn_layers_read(text, &layers, &count);
  while (status == TN_OK && count-- > 0)
    status = wrap(layers + count, name, given, api, backend);
  free(layers);
  return status;
}

tn_status tn_plugin_load(const char *path, const char *name,
                         tn_backend_api *api, tn_backend *backend)
{
  tn_backend_entry_function entry;
  const tn_backend_api *given = NULL;
  tn_status status = open_entry(path, &entry);
  if (status == TN_OK)
    status = enter(entry, &tn_host, name, &given, api, backend);
  if (status == TN_OK && TN_WITH_LAYERS)
    status = wrap_all(name, &given, api, backend);
  if (status != TN_OK) return status;
  if (!backend->has_stream) tn_synchronous_stream_fill(&backend->stream);
  return TN_OK;
}
