#include "config.h"

#include "core/device/host.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/base/fork.h"
#include "core/base/log.h"
#include "core/base/thread.h"
#include "core/base/thread_text.h"

/* Apart from the thread's last error, since the core may go on after a
 * failure of a plugin, and then its call has not failed. The text is in
 * tn_thread_text. */
static TN_HOT_THREAD_LOCAL tn_status last;

static tn_status host_error(tn_status status, const char *format, ...)
{
  tn_thread_text *texts = tn_thread_text_take();
  last = status;
  if (!texts) return status;
  char text[sizeof texts->plugin];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  memcpy(texts->plugin, text, strlen(text) + 1);
  return status;
}

const char *tn_host_error_text(tn_status status)
{
  const tn_thread_text *texts = tn_thread_text_get();
  if (texts && last == status && texts->plugin[0]) return texts->plugin;
  return tn_status_meaning(status);
}

tn_status tn_host_error_status(void) { return last; }

void tn_host_error_clear(void) { last = TN_OK; }

static _Atomic(const tn_host_cache *) cache;

void tn_host_cache_set(const tn_host_cache *functions)
{
  atomic_store_explicit(&cache, functions, memory_order_release);
}

/* The cache is the core's and speaks in tn_error; the caller is a plugin,
 * whose text comes from host->error. */
static tn_status pass_on(tn_status status, const tn_error_state *before)
{
  if (status != TN_OK && status != TN_NOT_READY)
    host_error(status, "%s", tn_error_message());
  tn_error_restore(before);
  return status;
}

static tn_status cache_find(const char *kind, const void *key,
                            size_t key_size, char *path, size_t path_size,
                            uint64_t *payload_size)
{
  const tn_host_cache *functions =
      atomic_load_explicit(&cache, memory_order_acquire);
  if (!functions) return TN_NOT_READY;
  tn_error_state before;
  tn_error_save(&before);
  return pass_on(functions->find(kind, key, key_size, path, path_size,
                                 payload_size), &before);
}

static tn_status cache_store(const char *kind, const void *key,
                             size_t key_size, const void *payload,
                             uint64_t payload_size, char *path,
                             size_t path_size)
{
  const tn_host_cache *functions =
      atomic_load_explicit(&cache, memory_order_acquire);
  if (!functions)
    return host_error(TN_UNSUPPORTED, "the library has no kernel cache");
  tn_error_state before;
  tn_error_save(&before);
  return pass_on(functions->store(kind, key, key_size, payload, payload_size,
                                  path, path_size), &before);
}

static int is_forked_child(void) { return tn_is_forked_child(); }

const tn_host_api tn_host = {
  .struct_size = sizeof(tn_host_api),
  .abi_major = TN_BACKEND_ABI_MAJOR,
  .abi_minor = TN_BACKEND_ABI_MINOR,
  .log = tn_log,
  .error = host_error,
  .environment = tn_environment,
  .cache_find = cache_find,
  .cache_store = cache_store,
  .is_forked_child = is_forked_child,
};

tn_status tn_host_for_layer(const char *options, const tn_host_api **out)
{
  size_t size = strlen(options) + 1;
  tn_host_api *host = malloc(sizeof *host + size);
  if (!host)
    return tn_error(TN_OUT_OF_MEMORY, "no memory for a layer's host table");
  *host = tn_host;
  host->layer_options = memcpy(host + 1, options, size);
  *out = host;
  return TN_OK;
}
