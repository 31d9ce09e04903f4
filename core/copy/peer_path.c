#include "config.h"

#include "core/copy/peer_path.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/copy/peer_pattern.h"
#include "core/device/peer.h"

typedef enum verdict { UNKNOWN, CHECKING, DIRECT, STAGED } verdict;

typedef struct path {
  const tn_device_state *dst, *src;
  _Atomic(verdict) verdict;
  char reason[256]; /* constant once the verdict is DIRECT or STAGED */
  struct path *next;
} path;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(path *) paths; /* only grows */

static path *look(const tn_device_state *dst, const tn_device_state *src)
{
  path *p = atomic_load_explicit(&paths, memory_order_acquire);
  while (p && (p->dst != dst || p->src != src)) p = p->next;
  return p;
}

/* NULL without memory. */
static path *find(const tn_device_state *dst, const tn_device_state *src)
{
  path *p = look(dst, src);
  if (p) return p;
  pthread_mutex_lock(&lock);
  p = look(dst, src);
  if (!p && (p = calloc(1, sizeof *p)) != NULL) {
    p->dst = dst;
    p->src = src;
    p->next = atomic_load(&paths);
    atomic_store_explicit(&paths, p, memory_order_release);
  }
  pthread_mutex_unlock(&lock);
  return p;
}

static bool stage(path *p, const char *why)
{
  snprintf(p->reason, sizeof p->reason,
           "staged through pinned host memory: %s", why);
  return false;
}

/* Sets the reason. */
static bool check(path *p, tn_device_state *dst, tn_device_state *src)
{
  char why[200];
  bool possible = false;
  if (!src->backend->copy.peer_query) {
    snprintf(why, sizeof why, "backend \"%s\" has no copy.peer_query",
             src->backend->name);
    return stage(p, why);
  }
  if (tn_peer_query(src, dst, &possible) != TN_OK)
    return stage(p, tn_error_message());
  if (!possible) {
    snprintf(why, sizeof why, "%s:%d cannot reach %s:%d, its backend says",
             src->backend->name, src->device.index, dst->backend->name,
             dst->device.index);
    return stage(p, why);
  }
  switch (tn_peer_pattern_send(dst, src)) {
  case TN_PATTERN_WHOLE:
    snprintf(p->reason, sizeof p->reason, "peer: direct, a pattern arrived "
             "whole");
    return true;
  case TN_PATTERN_DAMAGED:
    tn_log(TN_LOG_WARNING, "copies from %s:%d to %s:%d arrive damaged: they "
           "are staged", src->backend->name, src->device.index,
           dst->backend->name, dst->device.index);
    return stage(p, "the backend offers peer access, but a pattern arrived "
                    "damaged");
  default:
    return stage(p, tn_error_message());
  }
}

static void decide(path *p, tn_device_state *dst, tn_device_state *src)
{
  tn_error_state before;
  tn_error_save(&before);
  bool is_direct = check(p, dst, src);
  tn_error_restore(&before);
  tn_log(TN_LOG_DEBUG, "copies from %s:%d to %s:%d: %s", src->backend->name,
         src->device.index, dst->backend->name, dst->device.index, p->reason);
  atomic_store_explicit(&p->verdict, is_direct ? DIRECT : STAGED,
                        memory_order_release);
}

static verdict verdict_of(path *p, tn_device_state *dst, tn_device_state *src)
{
  verdict now = atomic_load_explicit(&p->verdict, memory_order_acquire);
  if (now != UNKNOWN) return now;
  if (atomic_compare_exchange_strong(&p->verdict, &now, CHECKING))
    decide(p, dst, src);
  return atomic_load_explicit(&p->verdict, memory_order_acquire);
}

bool tn_peer_path_is_direct(tn_device_state *dst, tn_device_state *src)
{
  path *p = find(dst, src);
  return p && verdict_of(p, dst, src) == DIRECT;
}

const char *tn_peer_path_reason(tn_device_state *dst, tn_device_state *src)
{
  path *p = find(dst, src);
  if (!p) return "staged through pinned host memory: no memory to find out "
                 "more";
  verdict now = verdict_of(p, dst, src);
  return now == CHECKING ? "staged through pinned host memory: another "
                           "thread is just finding out more" : p->reason;
}
