/* The tensors of a module and of all modules in it. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "tensor/nn/module.h"
#include "tensor/nn/walk.h"

#define PATH_SIZE 1024

/* What a walk looks for, and where it is. */
typedef struct walk {
  bool of_buffers;
  int wanted;              /* the number to stop at; -1: none */
  tn_tensor **seen;        /* each once */
  int count, capacity;
  char path[PATH_SIZE];    /* of the module, with a dot at its end */
  bool failed;
} walk;

static bool fail(walk *w, tn_status status, const char *text)
{
  tn_set_error(status, "%s", text);
  w->failed = true;
  return false;
}

static bool was_seen(const walk *w, const tn_tensor *t)
{
  for (int i = 0; i < w->count; i++)
    if (w->seen[i] == t) return true;
  return false;
}

static bool see(walk *w, tn_tensor *t)
{
  if (w->count == w->capacity) {
    int wanted = w->capacity ? 2 * w->capacity : 32;
    tn_tensor **larger = realloc(w->seen, (size_t)wanted * sizeof *larger);
    if (!larger)
      return fail(w, TN_OUT_OF_MEMORY, "no host memory for a list of "
                  "parameters");
    w->seen = larger;
    w->capacity = wanted;
  }
  w->seen[w->count++] = t;
  return true;
}

static bool extend(walk *w, size_t length, const char *name, bool dot)
{
  int size = snprintf(w->path + length, PATH_SIZE - length, "%s%s", name,
                      dot ? "." : "");
  if ((size_t)size < PATH_SIZE - length) return true;
  return fail(w, TN_UNSUPPORTED, "the names of nested modules come to more "
              "than 1023 characters");
}

/* False to stop: the path is that of the wanted one, or it failed. */
static bool go(walk *w, const tn_nn_module *module)
{
  size_t length = strlen(w->path);
  const tn_nn_parts *own = w->of_buffers ? &module->buffers
                                         : &module->parameters;
  for (int i = 0; i < own->count; i++) {
    tn_tensor *t = own->parts[i].object;
    if (was_seen(w, t)) continue;
    if (!extend(w, length, own->parts[i].name, false) || !see(w, t) ||
        w->count - 1 == w->wanted)
      return false;
  }
  for (int i = 0; i < module->children.count; i++)
    if (!extend(w, length, module->children.parts[i].name, true) ||
        !go(w, tn_nn_child_at(module, i)))
      return false;
  return true;
}

static walk walk_of(const tn_nn_module *module, bool of_buffers, int wanted)
{
  walk w = { .of_buffers = of_buffers, .wanted = wanted };
  if (module) go(&w, module);
  return w;
}

static int count_of(const tn_nn_module *module, bool of_buffers)
{
  walk w = walk_of(module, of_buffers, -1);
  free(w.seen);
  return w.count;
}

/* Finds a tensor by number and leaves its path in w. */
static tn_tensor *at(const tn_nn_module *module, bool of_buffers, int number,
                     walk *w)
{
  *w = walk_of(module, of_buffers, number);
  tn_tensor *found = NULL;
  if (!w->failed && number >= 0 && number < w->count) found = w->seen[number];
  if (!found && !w->failed && module)
    tn_set_error(TN_INVALID_ARGUMENT, "%s: no %s %d: it has %d",
                 tn_nn_name(module), of_buffers ? "buffer" : "parameter",
                 number, w->count);
  free(w->seen);
  return found;
}

static int write_name(const tn_nn_module *module, bool of_buffers, int number,
                      char *text, size_t size)
{
  walk w;
  if (!at(module, of_buffers, number, &w)) return -1;
  return snprintf(text, size, "%s", w.path);
}

/* Down the dots. */
static tn_tensor *named(const tn_nn_module *module, bool of_buffers,
                        const char *name)
{
  if (!module || !name) return NULL;
  const tn_nn_module *inner = module;
  const char *rest = name;
  for (size_t length; rest[length = strcspn(rest, ".")]; rest += length + 1) {
    inner = tn_nn_part_of(&inner->children, rest, length);
    if (!inner) break;
  }
  tn_tensor *found = NULL;
  if (inner)
    found = tn_nn_part_of(of_buffers ? &inner->buffers : &inner->parameters,
                          rest, strlen(rest));
  if (!found)
    tn_set_error(TN_INVALID_ARGUMENT, "%s has no %s \"%s\"",
                 tn_nn_name(module), of_buffers ? "buffer" : "parameter",
                 name);
  return found;
}

tn_tensor **tn_nn_tensors(const tn_nn_module *module, bool of_buffers, int *n)
{
  walk w = walk_of(module, of_buffers, -1);
  *n = w.failed ? 0 : w.count;
  if (w.failed) {
    free(w.seen);
    return NULL;
  }
  if (!w.seen && !(w.seen = malloc(sizeof *w.seen)))
    fail(&w, TN_OUT_OF_MEMORY, "no host memory for a list of parameters");
  return w.seen;
}

tn_tensor *const *tn_nn_parameters(tn_nn_module *module, int *n)
{
  int count;
  if (n) *n = 0;
  if (!module) return NULL;
  tn_tensor **list = tn_nn_tensors(module, false, &count);
  if (!list) return NULL;
  free(module->list);
  module->list = list;
  if (n) *n = count;
  return list;
}

int tn_nn_parameter_count(const tn_nn_module *module)
{
  return count_of(module, false);
}

int tn_nn_buffer_count(const tn_nn_module *module)
{
  return count_of(module, true);
}

tn_tensor *tn_nn_parameter_at(const tn_nn_module *module, int number)
{
  walk w;
  return at(module, false, number, &w);
}

tn_tensor *tn_nn_buffer_at(const tn_nn_module *module, int number)
{
  walk w;
  return at(module, true, number, &w);
}

int tn_nn_parameter_name(const tn_nn_module *module, int number, char *text,
                         size_t size)
{
  return write_name(module, false, number, text, size);
}

int tn_nn_buffer_name(const tn_nn_module *module, int number, char *text,
                      size_t size)
{
  return write_name(module, true, number, text, size);
}

tn_tensor *tn_nn_parameter(const tn_nn_module *module, const char *name)
{
  return named(module, false, name);
}

tn_tensor *tn_nn_buffer(const tn_nn_module *module, const char *name)
{
  return named(module, true, name);
}

void tn_nn_zero_grad(tn_nn_module *module)
{
  int n;
  tn_tensor **tensors = module ? tn_nn_tensors(module, false, &n) : NULL;
  for (int i = 0; tensors && i < n; i++)
    if (tn_grad(tensors[i])) tn_set_grad(tensors[i], NULL);
  free(tensors);
}

tn_status tn_nn_requires_grad_(tn_nn_module *module, bool requires_grad)
{
  int n;
  if (!module) return tn_set_error(TN_INVALID_ARGUMENT, "the module is NULL");
  tn_tensor **tensors = tn_nn_tensors(module, false, &n);
  if (!tensors) return tn_last_status();
  tn_status status = TN_OK;
  for (int i = 0; i < n && status == TN_OK; i++)
    if (!tn_requires_grad_(tensors[i], requires_grad))
      status = tn_last_status();
  free(tensors);
  return status;
}
