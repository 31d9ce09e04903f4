#define _GNU_SOURCE
#include "config.h"

#include "tests/failing_malloc.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tenon/status.h"

/* The linker's --wrap. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
int __real_posix_memalign(void **memory, size_t alignment, size_t size);
TN_API void *__wrap_malloc(size_t size);
TN_API void *__wrap_calloc(size_t count, size_t size);
TN_API void *__wrap_realloc(void *memory, size_t size);
TN_API int __wrap_posix_memalign(void **memory, size_t alignment,
                                 size_t size);
TN_API char *__wrap_strdup(const char *text);
TN_API void __wrap_free(void *memory);

atomic_long host_calls, host_live, host_fail_at, host_fail_from;

static bool fails(void)
{
  long call = ++host_calls;
  return call == host_fail_at || (host_fail_from && call >= host_fail_from);
}

static void *count(void *memory)
{
  if (memory) host_live++;
  return memory;
}

void *__wrap_malloc(size_t size)
{
  return fails() ? NULL : count(__real_malloc(size));
}

void *__wrap_calloc(size_t number, size_t size)
{
  return fails() ? NULL : count(__real_calloc(number, size));
}

void *__wrap_realloc(void *memory, size_t size)
{
  if (fails()) return NULL;
  void *moved = __real_realloc(memory, size);
  return memory ? moved : count(moved);
}

int __wrap_posix_memalign(void **memory, size_t alignment, size_t size)
{
  if (fails()) return ENOMEM;
  int error = __real_posix_memalign(memory, alignment, size);
  if (error == 0) host_live++;
  return error;
}

char *__wrap_strdup(const char *text)
{
  size_t size = strlen(text) + 1;
  char *copy = __wrap_malloc(size);
  return copy ? memcpy(copy, text, size) : NULL;
}

void __wrap_free(void *memory)
{
  if (memory) host_live--;
  __real_free(memory);
}
