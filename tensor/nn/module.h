/* The module object. */
#ifndef TN_TENSOR_NN_MODULE_H
#define TN_TENSOR_NN_MODULE_H

#include "tenon/nn.h"
#include "tensor/tensor/refcount.h"

/* Named parts of one kind, in the order in which they came. */
typedef struct tn_nn_part {
  char *name;
  void *object; /* tn_tensor or tn_nn_module, referenced */
} tn_nn_part;

typedef struct tn_nn_parts {
  tn_nn_part *parts;
  int count, capacity;
} tn_nn_parts;

struct tn_nn_module {
  tn_refs refs;
  const tn_nn_class *of;
  void *data;
  bool is_training;
  tn_nn_parts parameters, buffers, children;
  tn_tensor **list; /* that tn_nn_parameters gave last */
};

/* The module's own parameter of that number. */
static inline tn_tensor *tn_nn_own(const tn_nn_module *module, int number)
{
  return module->parameters.parts[number].object;
}

static inline tn_nn_module *tn_nn_child_at(const tn_nn_module *module,
                                           int number)
{
  return module->children.parts[number].object;
}

void *tn_nn_part_of(const tn_nn_parts *parts, const char *name,
                    size_t length);

/* An error that names the class unless n is 1. */
bool tn_nn_takes_one(const tn_nn_module *module, int n);

#endif
