#include "config.h"

#include "tensor/tensor/scope.h"

#include <pthread.h>
#include <stdlib.h>

/* A thread's scopes lie on one stack of tensors: those of a scope are the
 * ones from its mark up to the next scope's. */
typedef struct scope_stack {
  tn_tensor **tensors;
  size_t count, capacity;
  size_t *marks;
  size_t depth, depth_capacity;
} scope_stack;

static __thread scope_stack stack;
static pthread_key_t key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;

/* At the end of a thread, which may have left scopes open. */
static void forget_stack(void *argument)
{
  scope_stack *of_thread = argument;
  while (of_thread->count > 0)
    tn_release(of_thread->tensors[--of_thread->count]);
  free(of_thread->tensors);
  free(of_thread->marks);
  *of_thread = (scope_stack){ 0 };
}

static void make_key(void)
{
  pthread_key_create(&key, forget_stack);
}

static bool grow(void **memory, size_t item, size_t *capacity)
{
  size_t wanted = *capacity ? 2 * *capacity : 64;
  void *larger = realloc(*memory, wanted * item);
  if (!larger) {
    tn_set_error(TN_OUT_OF_MEMORY, "no host memory for a scope of %zu "
                 "tensors", wanted);
    return false;
  }
  *memory = larger;
  *capacity = wanted;
  pthread_once(&key_once, make_key);
  pthread_setspecific(key, &stack);
  return true;
}

tn_scope_guard tn_scope_push(void)
{
  if (stack.depth == stack.depth_capacity &&
      !grow((void **)&stack.marks, sizeof *stack.marks,
            &stack.depth_capacity))
    return (tn_scope_guard){ 0, 0 };
  stack.marks[stack.depth++] = stack.count;
  return (tn_scope_guard){ stack.depth, 1 };
}

/* Releasing may run code that makes tensors, so that each is taken off the
 * stack first. */
void tn_scope_pop(tn_scope_guard *guard)
{
  if (!guard || !guard->active) return;
  guard->active = 0;
  while (stack.depth >= guard->depth && stack.depth > 0) {
    size_t mark = stack.marks[stack.depth - 1];
    while (stack.count > mark) tn_release(stack.tensors[--stack.count]);
    stack.depth--;
  }
}

tn_tensor *tn_scope_give(tn_tensor *t)
{
  if (!t || stack.depth == 0) return t;
  if (__builtin_expect(stack.count == stack.capacity, 0) &&
      !grow((void **)&stack.tensors, sizeof *stack.tensors,
            &stack.capacity)) {
    tn_release(t);
    return NULL;
  }
  stack.tensors[stack.count++] = t;
  return t;
}

/* The tensor changes places with the first one of its scope, whose mark then
 * moves up by one. */
tn_tensor *tn_keep(tn_tensor *t)
{
  if (!t || stack.depth == 0) return t;
  size_t *mark = &stack.marks[stack.depth - 1], at = stack.count;
  while (at > *mark && stack.tensors[at - 1] != t) at--;
  if (at == *mark) return t;
  tn_tensor **first = &stack.tensors[*mark];
  stack.tensors[at - 1] = *first;
  if (stack.depth > 1) {
    *first = t;
    (*mark)++;
  } else {
    *first = stack.tensors[--stack.count];
  }
  return t;
}
