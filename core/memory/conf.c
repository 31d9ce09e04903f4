/* The options in force, for all devices. */
#include "config.h"

#include "core/memory/conf.h"

#include <pthread.h>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/base/shutdown.h"
#include "core/memory/allocator.h"
#include "core/memory/pinned.h"

#define MIB ((uint64_t)1 << 20)

/* Held while options are set everywhere: two calls at once leave all devices
 * with the options of one of them. */
static pthread_mutex_t set_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the rest */
static bool is_known;
static tn_conf current;

void tn_conf_lock(void)
{
  pthread_mutex_lock(&set_lock);
  pthread_mutex_lock(&lock);
}

void tn_conf_unlock(void)
{
  pthread_mutex_unlock(&lock);
  pthread_mutex_unlock(&set_lock);
}

static tn_status read_environment(void)
{
  const char *text = tn_environment("TENON_ALLOC_CONF");
  tn_status status = tn_conf_parse("TENON_ALLOC_CONF", text ? text : "",
                                   &current);
  is_known = status == TN_OK;
  return status;
}

tn_status tn_conf_current(tn_conf *out)
{
  pthread_mutex_lock(&lock);
  tn_status status = is_known ? TN_OK : read_environment();
  if (status == TN_OK) *out = current;
  pthread_mutex_unlock(&lock);
  return status;
}

tn_status tn_set_alloc_conf(const char *text)
{
  if (!text) return tn_error(TN_INVALID_ARGUMENT, "the options are NULL");
  if (tn_is_shut_down()) return tn_refuse_shut_down();
  tn_conf conf;
  tn_status status = tn_conf_parse("allocator options", text, &conf);
  if (status != TN_OK) return status;
  pthread_mutex_lock(&set_lock);
  pthread_mutex_lock(&lock);
  current = conf;
  is_known = true;
  pthread_mutex_unlock(&lock);
  for (tn_allocator *a = tn_allocator_first(); a; a = a->next)
    tn_allocator_configure(a, &conf);
  tn_pinned_configure(&conf);
  pthread_mutex_unlock(&set_lock);
  return TN_OK;
}

static uint64_t whole_units(uint64_t bytes)
{
  return (bytes + (TN_BLOCK_UNIT - 1)) & ~(uint64_t)(TN_BLOCK_UNIT - 1);
}

static uint32_t divisions_of(const tn_conf *conf, uint64_t bytes)
{
  if (bytes < 2 * MIB) return conf->divisions[0];
  int index = 63 - __builtin_clzll(bytes / MIB);
  return conf->divisions[index < TN_CONF_INTERVALS ? index
                                                   : TN_CONF_INTERVALS - 1];
}

uint64_t tn_conf_round(const tn_conf *conf, uint64_t bytes)
{
  uint64_t divisions = divisions_of(conf, bytes);
  if (divisions <= 1 || bytes <= TN_BLOCK_UNIT * divisions)
    return whole_units(bytes);
  uint64_t power = (uint64_t)1 << (63 - __builtin_clzll(bytes));
  uint64_t step = power / divisions; /* at least a unit */
  return (bytes + step - 1) / step * step;
}
