/* The modules that there are. */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tensor/nn/init.h"
#include "tensor/nn/module.h"
#include "tensor/tensor/scope.h"
#include "tensor/tensor/tensor.h"

static tn_tensor_options tensor_options(tn_nn_options options)
{
  return (tn_tensor_options){ .device = options.device,
                              .dtype = options.dtype };
}

/* Registers t, or passes on that it could not be made. */
static bool put(tn_nn_module *module, const char *name, tn_tensor *t)
{
  return t && tn_nn_register_parameter(module, name, t) == TN_OK;
}

/* A module without data of its own, and its first values from `fill`, which
 * runs in a scope. */
static tn_nn_module *finish(tn_nn_module *module, bool is_filled,
                            tn_scope_guard *scope)
{
  tn_scope_pop(scope);
  if (is_filled) return module;
  tn_nn_module_release(module);
  return NULL;
}

static tn_status check_size(const char *name, const char *what, int64_t size)
{
  if (size >= 0) return TN_OK;
  return tn_set_error(TN_INVALID_ARGUMENT, "%s: %s %" PRId64 ": 0 or more "
                      "are possible", name, what, size);
}

/* ---- linear ---- */

static tn_tensor *linear_forward(tn_nn_module *self, tn_tensor *const *inputs,
                                 int n)
{
  if (!tn_nn_takes_one(self, n)) return NULL;
  tn_tensor *bias = self->parameters.count > 1 ? tn_nn_own(self, 1) : NULL;
  return tn_linear(inputs[0], tn_nn_own(self, 0), bias);
}

static const tn_nn_class linear_class = { "Linear", linear_forward, NULL };

tn_nn_module *tn_nn_linear_with(int64_t in_features, int64_t out_features,
                                bool bias, tn_nn_options options)
{
  if (check_size("Linear", "in_features", in_features) != TN_OK ||
      check_size("Linear", "out_features", out_features) != TN_OK)
    return NULL;
  tn_nn_module *module = tn_nn_module_new(&linear_class, NULL);
  if (!module) return NULL;
  tn_scope_guard scope = tn_scope_push();
  tn_tensor_options of = tensor_options(options);
  double bound = in_features ? 1 / sqrt((double)in_features) : 0;
  tn_tensor *weight =
      tn_empty_with(TN_SHAPE(out_features, in_features), of);
  bool is_filled = scope.active &&
                   put(module, "weight",
                       tn_nn_kaiming_uniform_(weight, sqrt(5)));
  if (is_filled && bias)
    is_filled = put(module, "bias",
                    tn_nn_uniform_within_(
                        tn_empty_with(TN_SHAPE(out_features), of), bound));
  return finish(module, is_filled, &scope);
}

/* ---- embedding ---- */

static tn_tensor *embedding_forward(tn_nn_module *self,
                                    tn_tensor *const *inputs, int n)
{
  if (!tn_nn_takes_one(self, n)) return NULL;
  return tn_embedding(tn_nn_own(self, 0), inputs[0]);
}

static const tn_nn_class embedding_class = { "Embedding", embedding_forward,
                                             NULL };

tn_nn_module *tn_nn_embedding_with(int64_t count, int64_t width,
                                   tn_nn_options options)
{
  if (check_size("Embedding", "count", count) != TN_OK ||
      check_size("Embedding", "width", width) != TN_OK)
    return NULL;
  tn_nn_module *module = tn_nn_module_new(&embedding_class, NULL);
  if (!module) return NULL;
  tn_scope_guard scope = tn_scope_push();
  tn_tensor *weight = tn_empty_with(TN_SHAPE(count, width),
                                    tensor_options(options));
  bool is_filled = scope.active &&
                   put(module, "weight", tn_normal_(weight, 0, 1, NULL));
  return finish(module, is_filled, &scope);
}

/* ---- layer norm ---- */

typedef struct norm {
  int64_t sizes[TN_DIMS_MAX];
  int ndim;
  double eps;
} norm;

static tn_tensor *norm_forward(tn_nn_module *self, tn_tensor *const *inputs,
                               int n)
{
  if (!tn_nn_takes_one(self, n)) return NULL;
  const norm *of = self->data;
  bool affine = self->parameters.count > 0;
  return tn_layer_norm(inputs[0], (tn_shape){ of->sizes, of->ndim },
                       affine ? tn_nn_own(self, 0) : NULL,
                       affine ? tn_nn_own(self, 1) : NULL, of->eps);
}

static const tn_nn_class norm_class = { "LayerNorm", norm_forward, free };

static tn_nn_module *norm_new(tn_shape shape, double eps)
{
  int64_t numel;
  if (tn_shape_check(shape, sizeof(double), "LayerNorm", &numel) != TN_OK)
    return NULL;
  if (shape.ndim == 0 || !(eps >= 0)) {
    tn_set_error(TN_INVALID_ARGUMENT, "LayerNorm: shape %s, eps %g: at least "
                 "one dimension and an eps of 0 or more are needed",
                 tn_shape_text(shape), eps);
    return NULL;
  }
  norm *of = calloc(1, sizeof *of);
  if (!of) {
    tn_set_error(TN_OUT_OF_MEMORY, "no host memory for a module");
    return NULL;
  }
  memcpy(of->sizes, shape.sizes, (size_t)shape.ndim * sizeof *of->sizes);
  of->ndim = shape.ndim;
  of->eps = eps;
  return tn_nn_module_new(&norm_class, of);
}

tn_nn_module *tn_nn_layer_norm_with(tn_shape shape, double eps, bool affine,
                                    tn_nn_options options)
{
  tn_nn_module *module = norm_new(shape, eps);
  if (!module || !affine) return module;
  tn_scope_guard scope = tn_scope_push();
  tn_tensor_options of = tensor_options(options);
  bool is_filled = scope.active &&
                   put(module, "weight", tn_ones_with(shape, of)) &&
                   put(module, "bias", tn_zeros_with(shape, of));
  return finish(module, is_filled, &scope);
}

/* ---- dropout ---- */

static tn_tensor *dropout_forward(tn_nn_module *self,
                                  tn_tensor *const *inputs, int n)
{
  if (!tn_nn_takes_one(self, n)) return NULL;
  return tn_dropout(inputs[0], *(double *)self->data, self->is_training);
}

static const tn_nn_class dropout_class = { "Dropout", dropout_forward, free };

tn_nn_module *tn_nn_dropout(double p)
{
  if (!(p >= 0 && p <= 1)) {
    tn_set_error(TN_INVALID_ARGUMENT, "Dropout: probability %g: 0 to 1 are "
                 "possible", p);
    return NULL;
  }
  double *data = malloc(sizeof *data);
  if (!data) {
    tn_set_error(TN_OUT_OF_MEMORY, "no host memory for a module");
    return NULL;
  }
  *data = p;
  return tn_nn_module_new(&dropout_class, data);
}

/* ---- functions ---- */

/* A class of its own for each, since the name is the class's. */
typedef struct function_module {
  tn_nn_class of;
  tn_tensor *(*function)(tn_tensor *);
  char name[];
} function_module;

static tn_tensor *function_forward(tn_nn_module *self,
                                   tn_tensor *const *inputs, int n)
{
  if (!tn_nn_takes_one(self, n)) return NULL;
  return ((function_module *)self->data)->function(inputs[0]);
}

tn_nn_module *tn_nn_function(const char *name,
                             tn_tensor *(*function)(tn_tensor *))
{
  if (!name || !function) {
    tn_set_error(TN_INVALID_ARGUMENT, "tn_nn_function: a name and a function "
                 "are needed");
    return NULL;
  }
  size_t size = strlen(name) + 1;
  function_module *of = malloc(sizeof *of + size);
  if (!of) {
    tn_set_error(TN_OUT_OF_MEMORY, "no host memory for a module");
    return NULL;
  }
  memcpy(of->name, name, size);
  of->function = function;
  of->of = (tn_nn_class){ of->name, function_forward, free };
  return tn_nn_module_new(&of->of, of);
}

/* ---- sequential ---- */

static tn_tensor *sequential_forward(tn_nn_module *self,
                                     tn_tensor *const *inputs, int n)
{
  if (!tn_nn_takes_one(self, n)) return NULL;
  tn_tensor *t = tn_scope_give(tn_retain(inputs[0]));
  for (int i = 0; i < self->children.count; i++)
    t = tn_nn_forward(tn_nn_child_at(self, i), t);
  return t;
}

static const tn_nn_class sequential_class = { "Sequential",
                                              sequential_forward, NULL };

tn_nn_module *tn_nn_sequential(tn_nn_module *const *modules, int n)
{
  bool is_whole = n >= 0 && (modules || n == 0);
  if (!is_whole) {
    tn_set_error(TN_INVALID_ARGUMENT, "Sequential: %d modules%s", n,
                 modules ? "" : " in a list that is NULL");
    return NULL;
  }
  for (int i = 0; i < n; i++) is_whole &= modules[i] != NULL;
  tn_nn_module *sequence =
      is_whole ? tn_nn_module_new(&sequential_class, NULL) : NULL;
  for (int i = 0; i < n; i++) {
    char name[16];
    snprintf(name, sizeof name, "%d", i);
    if (!sequence) tn_nn_module_release(modules[i]);
    else if (!tn_nn_add(sequence, name, modules[i])) {
      tn_nn_module_release(sequence);
      sequence = NULL;
    }
  }
  return sequence;
}
