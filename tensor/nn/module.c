#include "config.h"

#include "tensor/nn/module.h"

#include <stdlib.h>
#include <string.h>

#include "tensor/tensor/dtype.h"
#include "tensor/tensor/scope.h"

static void *host_memory(void *memory)
{
  if (!memory) tn_set_error(TN_OUT_OF_MEMORY, "no host memory for a module");
  return memory;
}

tn_nn_module *tn_nn_module_new(const tn_nn_class *of, void *data)
{
  tn_nn_module *module = NULL;
  if (!of || !of->forward || !of->name)
    tn_set_error(TN_INVALID_ARGUMENT, "a module's class needs a name and a "
                 "forward function");
  else
    module = host_memory(calloc(1, sizeof *module));
  if (!module) {
    if (of && of->destroy) of->destroy(data);
    return NULL;
  }
  tn_refs_init(&module->refs);
  module->of = of;
  module->data = data;
  module->is_training = true;
  return module;
}

void *tn_nn_data(const tn_nn_module *module)
{
  return module ? module->data : NULL;
}

const char *tn_nn_name(const tn_nn_module *module)
{
  return module ? module->of->name : NULL;
}

tn_nn_module *tn_nn_module_retain(tn_nn_module *module)
{
  if (module) tn_refs_retain(&module->refs);
  return module;
}

static void release_tensors(tn_nn_parts *list)
{
  for (int i = 0; i < list->count; i++) {
    tn_release(list->parts[i].object);
    free(list->parts[i].name);
  }
  free(list->parts);
}

void tn_nn_module_release(tn_nn_module *module)
{
  if (!module || !tn_refs_release(&module->refs)) return;
  if (module->of->destroy) module->of->destroy(module->data);
  release_tensors(&module->parameters);
  release_tensors(&module->buffers);
  for (int i = 0; i < module->children.count; i++) {
    tn_nn_module_release(tn_nn_child_at(module, i));
    free(module->children.parts[i].name);
  }
  free(module->children.parts);
  free(module->list);
  free(module);
}

/* ---- parts ---- */

void *tn_nn_part_of(const tn_nn_parts *list, const char *name, size_t length)
{
  for (int i = 0; i < list->count; i++)
    if (strncmp(list->parts[i].name, name, length) == 0 &&
        !list->parts[i].name[length])
      return list->parts[i].object;
  return NULL;
}

static tn_status check_name(const tn_nn_module *module, const char *name)
{
  if (!name || !*name || strchr(name, '.'))
    return tn_set_error(TN_INVALID_ARGUMENT, "%s: \"%s\" is no name for a "
                        "part: one has letters and no dot", module->of->name,
                        name ? name : "");
  size_t length = strlen(name);
  if (tn_nn_part_of(&module->parameters, name, length) ||
      tn_nn_part_of(&module->buffers, name, length) ||
      tn_nn_part_of(&module->children, name, length))
    return tn_set_error(TN_INVALID_ARGUMENT, "%s has a part \"%s\" already",
                        module->of->name, name);
  return TN_OK;
}

/* The object's reference is the caller's still. */
static tn_status append(tn_nn_parts *list, const char *name, void *object)
{
  if (list->count == list->capacity) {
    int wanted = list->capacity ? 2 * list->capacity : 2;
    tn_nn_part *larger = host_memory(
        realloc(list->parts, (size_t)wanted * sizeof *larger));
    if (!larger) return TN_OUT_OF_MEMORY;
    list->parts = larger;
    list->capacity = wanted;
  }
  char *copy = host_memory(strdup(name));
  if (!copy) return TN_OUT_OF_MEMORY;
  list->parts[list->count++] = (tn_nn_part){ copy, object };
  return TN_OK;
}

static tn_status register_tensor(tn_nn_module *module, tn_nn_parts *list,
                                 const char *name, tn_tensor *t)
{
  if (!module || !t)
    return tn_set_error(TN_INVALID_ARGUMENT, "registering \"%s\": the %s is "
                        "NULL", name ? name : "",
                        module ? "tensor" : "module");
  tn_status status = check_name(module, name);
  if (status == TN_OK) status = append(list, name, t);
  if (status == TN_OK) tn_retain(t);
  return status;
}

tn_status tn_nn_register_parameter(tn_nn_module *module, const char *name,
                                   tn_tensor *t)
{
  if (t && !tn_is_leaf(t))
    return tn_set_error(TN_INVALID_ARGUMENT, "parameter \"%s\" was made by "
                        "an operation: a leaf is needed", name ? name : "");
  if (t && !tn_dtype_is_float(tn_dtype_of(t)))
    return tn_set_error(TN_DTYPE_MISMATCH, "parameter \"%s\" is of dtype %s: "
                        "a float is needed", name ? name : "",
                        tn_dtype_name(tn_dtype_of(t)));
  bool is_fixed = t && module && !tn_requires_grad(t);
  if (is_fixed && !tn_requires_grad_(t, true)) return tn_last_status();
  tn_status status = register_tensor(
      module, module ? &module->parameters : NULL, name, t);
  if (status != TN_OK && is_fixed) tn_requires_grad_(t, false);
  return status;
}

tn_status tn_nn_register_buffer(tn_nn_module *module, const char *name,
                                tn_tensor *t)
{
  return register_tensor(module, module ? &module->buffers : NULL, name, t);
}

static bool contains(const tn_nn_module *module, const tn_nn_module *wanted)
{
  if (module == wanted) return true;
  for (int i = 0; i < module->children.count; i++)
    if (contains(tn_nn_child_at(module, i), wanted)) return true;
  return false;
}

tn_nn_module *tn_nn_add(tn_nn_module *module, const char *name,
                        tn_nn_module *child)
{
  tn_status status = module && child ? check_name(module, name)
                                     : TN_INVALID_ARGUMENT;
  if (status == TN_OK && contains(child, module))
    status = tn_set_error(TN_INVALID_ARGUMENT, "%s would be part of itself "
                          "by \"%s\"", module->of->name, name);
  if (status == TN_OK) status = append(&module->children, name, child);
  if (status == TN_OK) return child;
  tn_nn_module_release(child);
  return NULL;
}

tn_nn_module *tn_nn_child(const tn_nn_module *module, const char *name)
{
  if (!module || !name) return NULL;
  tn_nn_module *child = tn_nn_part_of(&module->children, name, strlen(name));
  if (!child)
    tn_set_error(TN_INVALID_ARGUMENT, "%s has no module \"%s\"",
                 module->of->name, name);
  return child;
}

/* ---- use ---- */

bool tn_nn_takes_one(const tn_nn_module *module, int n)
{
  if (n == 1) return true;
  tn_set_error(TN_INVALID_ARGUMENT, "%s: %d inputs: it takes one",
               module->of->name, n);
  return false;
}

tn_tensor *tn_nn_forward_with(tn_nn_module *module, tn_tensor *const *inputs,
                              int n)
{
  if (!module) return NULL;
  if (n < 0 || (n > 0 && !inputs)) {
    tn_set_error(TN_INVALID_ARGUMENT, "%s: %d inputs%s", module->of->name, n,
                 inputs ? "" : " in a list that is NULL");
    return NULL;
  }
  for (int i = 0; i < n; i++)
    if (!inputs[i]) return NULL;
  tn_scope_guard scope = tn_scope_push();
  if (!scope.active) return NULL;
  tn_tensor *result = tn_keep(module->of->forward(module, inputs, n));
  tn_scope_pop(&scope);
  return result;
}

tn_tensor *tn_nn_forward(tn_nn_module *module, tn_tensor *input)
{
  return tn_nn_forward_with(module, &input, 1);
}

void tn_nn_train(tn_nn_module *module, bool training)
{
  if (!module) return;
  module->is_training = training;
  for (int i = 0; i < module->children.count; i++)
    tn_nn_train(tn_nn_child_at(module, i), training);
}

void tn_nn_eval(tn_nn_module *module)
{
  tn_nn_train(module, false);
}

bool tn_nn_is_training(const tn_nn_module *module)
{
  return module && module->is_training;
}
