#include "config.h"

#include "core/device/host.h"

#include <stdatomic.h>
#include <stdio.h>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/base/fork.h"
#include "core/base/log.h"

/* Apart from the thread's last error, since the core may go on after a
 * failure of a plugin, and then its call has not failed. */
static _Thread_local struct {
  tn_status status;
  char text[TN_BACKEND_TEXT_SIZE];
} last;

static tn_status host_error(tn_status status, const char *format, ...)
{
  char text[sizeof last.text];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  size_t i = 0;
  for (; text[i]; i++) last.text[i] = text[i] == '\n' ? ' ' : text[i];
  last.text[i] = 0;
  last.status = status;
  return status;
}

const char *tn_host_error_text(tn_status status)
{
  if (last.status == status && last.text[0]) return last.text;
  return tn_status_meaning(status);
}

tn_status tn_host_error_status(void) { return last.status; }

void tn_host_error_clear(void)
{
  last.status = TN_OK;
  last.text[0] = 0;
}

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
