#include "layers/forward_table.h"

#include <pthread.h>
#include <stdio.h>

/* A routine is a bare function, so each needs one of ours that knows it.
 * There are this many; a routine beyond them is not offered, and portable
 * kernels do its work. */
enum { ROUTINES = 32 };

typedef struct routine {
  tn_math_function next;
  forward_backend *backend;
  char name[32];
} routine;

static routine routines[ROUTINES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static tn_status call_routine(int i, tn_backend_stream *stream,
                              const tn_math_call *math)
{
  const routine *r = routines + i;
  forward_call call = {
    .entry = FORWARD_math_call, .backend = r->backend,
    .stream = STREAM(stream),
    .device = stream ? STREAM(stream)->device : NULL,
    .math = math, .name = r->name, .tag = math->tag
  };
  return CALL_ON(&call, r->next(next_stream(stream), math));
}

#define FOUR(X, n) X(n##0) X(n##1) X(n##2) X(n##3)
#define EACH(X) \
  FOUR(X, 0) FOUR(X, 1) FOUR(X, 2) FOUR(X, 3) \
  FOUR(X, 4) FOUR(X, 5) FOUR(X, 6) FOUR(X, 7)
/* Two octal digits, the second below 4. */
#define INDEX(n) (0##n / 8 * 4 + 0##n % 8)
#define FUNCTION(n) \
  static tn_status call_##n(tn_backend_stream *stream, \
                            const tn_math_call *math) \
  { \
    return call_routine(INDEX(n), stream, math); \
  }
EACH(FUNCTION)

#define ELEMENT(n) call_##n,
static const tn_math_function functions[ROUTINES] = { EACH(ELEMENT) };

static tn_math_function wrapped(forward_backend *backend, const char *name,
                                tn_math_function next)
{
  tn_math_function found = NULL;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < ROUTINES && !found; i++) {
    routine *r = routines + i;
    if (r->next && (r->next != next || r->backend != backend)) continue;
    if (!r->next) {
      r->backend = backend;
      snprintf(r->name, sizeof r->name, "%s", name);
      r->next = next;
    }
    found = functions[i];
  }
  pthread_mutex_unlock(&lock);
  if (!found)
    backend->host->log(TN_LOG_WARNING, "a layer can wrap %d math routines: "
                       "\"%s\" of backend \"%s\" is not used", ROUTINES,
                       name, backend->name);
  return found;
}

static tn_status math_routine(tn_backend_device *device, const char *name,
                              const int32_t *types, size_t type_count,
                              tn_math_function *function)
{
  forward_device *d = DEVICE(device);
  tn_math_function next = NULL;
  forward_call call = { .entry = FORWARD_math_routine,
                        .backend = d->backend, .device = d, .name = name };
  if (!begin_call(&call)) return call.status;
  tn_status status = d->backend->math.routine(d->next, name, types,
                                              type_count, &next);
  if (status == TN_OK)
    *function = next ? wrapped(d->backend, name, next) : NULL;
  return end_call(&call, status);
}

const tn_backend_math_table forward_math_table = {
  .struct_size = sizeof(tn_backend_math_table),
  .routine = math_routine,
};
