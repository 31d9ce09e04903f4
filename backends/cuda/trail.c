#include "config.h"

#include "backends/cuda/trail.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/device.h"

void tn_cuda_trail_reach(tn_cuda_trail *trail, uint64_t count)
{
  uint64_t known = __atomic_load_n(&trail->complete, __ATOMIC_RELAXED);
  while (known < count &&
         !__atomic_compare_exchange_n(&trail->complete, &known, count, 1,
                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    continue;
}

tn_cuda_trail *tn_cuda_trail_take(tn_backend_device *device)
{
  pthread_mutex_lock(&device->lock);
  tn_cuda_trail *trail = device->trails;
  while (trail && trail->in_use) trail = trail->next;
  if (!trail && (trail = calloc(1, sizeof *trail)) != NULL) {
    trail->next = device->trails;
    device->trails = trail;
  }
  if (trail) trail->in_use = 1;
  pthread_mutex_unlock(&device->lock);
  return trail;
}

/* A stream ends with its work complete. Its numbers go on with the next one,
 * so that points of this one stay behind them. */
void tn_cuda_trail_give(tn_backend_device *device, tn_cuda_trail *trail)
{
  if (!tn_cuda_is_lost(device))
    tn_cuda_trail_reach(trail, __atomic_load_n(&trail->queued,
                                               __ATOMIC_RELAXED));
  pthread_mutex_lock(&device->lock);
  trail->in_use = 0;
  pthread_mutex_unlock(&device->lock);
}

void tn_cuda_trails_free(tn_backend_device *device)
{
  for (tn_cuda_trail *trail = device->trails, *next; trail; trail = next) {
    next = trail->next;
    free(trail);
  }
  device->trails = NULL;
}

typedef struct kept_name {
  struct kept_name *next;
  char text[];
} kept_name;

const char *tn_cuda_name_keep(const char *name)
{
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static kept_name *names;
  pthread_mutex_lock(&lock);
  kept_name *kept = names;
  while (kept && strcmp(kept->text, name) != 0) kept = kept->next;
  size_t size = strlen(name) + 1;
  if (!kept && (kept = malloc(sizeof *kept + size)) != NULL) {
    memcpy(kept->text, name, size);
    kept->next = names;
    names = kept;
  }
  pthread_mutex_unlock(&lock);
  return kept ? kept->text : "?";
}

static bool is_equal(const tn_cuda_step *one, const tn_cuda_step *other)
{
  return one->kind == other->kind && one->name == other->name &&
         one->tag == other->tag;
}

void tn_cuda_contents_note(tn_cuda_contents_list *list, tn_cuda_trail *trail)
{
  uint64_t queued = trail->queued;
  const tn_cuda_step *latest =
      trail->steps + ((queued - 1) & (TN_CUDA_TRAIL_SIZE - 1));
  tn_cuda_trail_reach(trail, queued);
  for (unsigned i = 0; i < list->count; i++)
    if (is_equal(list->steps + i, latest)) return;
  if (list->count < TN_CUDA_CONTENTS_MAX)
    list->steps[list->count++] = *latest;
  else
    list->is_cut = true;
}

static bool has_contents(const tn_cuda_contents *kept,
                         const tn_cuda_contents_list *list)
{
  if (kept->list.count != list->count || kept->list.is_cut != list->is_cut)
    return false;
  for (unsigned i = 0; i < list->count; i++)
    if (!is_equal(kept->list.steps + i, list->steps + i)) return false;
  return true;
}

const tn_cuda_contents *tn_cuda_contents_keep(
    const tn_cuda_contents_list *list)
{
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static tn_cuda_contents *all;
  pthread_mutex_lock(&lock);
  tn_cuda_contents *kept = all;
  while (kept && !has_contents(kept, list)) kept = kept->next;
  if (!kept && (kept = malloc(sizeof *kept)) != NULL) {
    *kept = (tn_cuda_contents){ all, *list };
    all = kept;
  }
  pthread_mutex_unlock(&lock);
  return kept;
}

enum { NAMED = 3 };

/* What may have failed: the oldest of the candidates, and whether all of them
 * are the same. */
typedef struct suspicion {
  tn_cuda_step first;
  unsigned others; /* candidates that are not the same as the first */
  tn_cuda_step named[NAMED]; /* kinds of them */
  unsigned named_count;
  bool is_found, is_cut; /* cut: a ring had lost older ones */
} suspicion;

static bool is_alike(const tn_cuda_step *one, const tn_cuda_step *other)
{
  return one->kind == other->kind && one->name == other->name;
}

static void add_other(suspicion *found, const tn_cuda_step *step)
{
  unsigned i = 0;
  found->others++;
  if (is_alike(&found->first, step)) return;
  while (i < found->named_count && !is_alike(found->named + i, step)) i++;
  if (i == found->named_count && i < NAMED)
    found->named[found->named_count++] = *step;
}

static void consider(suspicion *found, const tn_cuda_step *step,
                     bool only_kernels)
{
  if (only_kernels && step->kind != TN_CUDA_KERNEL) return;
  if (!found->is_found) found->first = *step;
  else if (step->tag != found->first.tag || step->name != found->first.name)
    add_other(found, step);
  found->is_found = true;
}

/* Any command of a graph may have been it: of each sort, once. */
static void consider_graph(suspicion *found, const tn_cuda_contents *contents,
                           bool only_kernels)
{
  for (unsigned i = 0; contents && i < contents->list.count; i++)
    consider(found, contents->list.steps + i, only_kernels);
  if (!contents || contents->list.is_cut) found->is_cut = true;
}

static void suspect(suspicion *found, const tn_cuda_trail *trail,
                    bool only_kernels)
{
  uint64_t end = __atomic_load_n(&trail->queued, __ATOMIC_ACQUIRE);
  uint64_t at = __atomic_load_n(&trail->complete, __ATOMIC_RELAXED);
  if (end > at && end - at > TN_CUDA_TRAIL_SIZE) {
    at = end - TN_CUDA_TRAIL_SIZE;
    found->is_cut = true;
  }
  for (; at < end; at++) {
    const tn_cuda_step *s = trail->steps + (at & (TN_CUDA_TRAIL_SIZE - 1));
    tn_cuda_step step = {
      .tag = __atomic_load_n(&s->tag, __ATOMIC_RELAXED),
      .name = __atomic_load_n(&s->name, __ATOMIC_RELAXED),
      .kind = __atomic_load_n(&s->kind, __ATOMIC_RELAXED),
    };
    if (step.kind == TN_CUDA_GRAPH)
      consider_graph(found,
                     (const tn_cuda_contents *)(uintptr_t)step.tag,
                     only_kernels);
    else
      consider(found, &step, only_kernels);
  }
}

static const char *kind_text(int kind)
{
  static const char *const texts[] = { "a kernel", "a copy", "a fill",
                                       "a host function" };
  return (unsigned)kind < sizeof texts / sizeof *texts ? texts[kind] : "?";
}

static void write_step(const tn_cuda_step *step, char *text, size_t size)
{
  if (step->kind == TN_CUDA_KERNEL)
    snprintf(text, size, "kernel \"%.100s\"", step->name);
  else
    snprintf(text, size, "%s", kind_text(step->kind));
}

/* "; other commands ... 2: kernel "fill_f32", a copy (...)" */
static void write_doubt(const suspicion *found, char *text, size_t size)
{
  size_t at = (size_t)snprintf(
      text, size, "; other commands queued by then, which may be it instead: "
      "%u%s", found->others, found->is_cut ? " or more" : "");
  for (unsigned i = 0; i < found->named_count && at < size; i++) {
    char name[128];
    write_step(found->named + i, name, sizeof name);
    at += (size_t)snprintf(text + at, size - at, "%s%s", i ? ", " : ": ",
                           name);
  }
  if (at < size)
    snprintf(text + at, size - at, " (TENON_LAUNCH_BLOCKING=1 tells which)");
}

static void write_failure(tn_cuda_failure *failure, const suspicion *found,
                          CUresult code, const char *device)
{
  char text[TN_CUDA_CODE_TEXT_SIZE], doubt[320] = "";
  snprintf(failure->who, sizeof failure->who, "queued work");
  if (found->is_found)
    write_step(&found->first, failure->who, sizeof failure->who);
  if (found->others || found->is_cut)
    write_doubt(found, doubt, sizeof doubt);
  failure->tag = found->is_found ? found->first.tag : 0;
  snprintf(failure->text, sizeof failure->text, "%s on %.64s%s",
           tn_cuda_code_text(code, text), device, doubt);
}

void tn_cuda_fail(tn_backend_device *device, CUresult code)
{
  tn_cuda_failure failure = { 0 };
  suspicion found = { 0 };
  if (tn_cuda_is_lost(device)) return;
  pthread_mutex_lock(&device->lock);
  for (tn_cuda_trail *trail = device->trails; trail; trail = trail->next)
    suspect(&found, trail, tn_cuda_is_of_kernel(code));
  pthread_mutex_unlock(&device->lock);
  /* Texts come from the driver, which must not be called with the lock. */
  write_failure(&failure, &found, code, device->info.name);
  pthread_mutex_lock(&device->lock);
  if (!device->failure.code) {
    device->failure = failure;
    __atomic_store_n(&device->failure.code, (int)code, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&device->lock);
}
