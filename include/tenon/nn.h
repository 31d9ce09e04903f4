/* Tenon: modules, and optimisers of their parameters.
 *
 *     tn_nn_module *model = tn_nn_sequential(TN_NN_MODULES(
 *       tn_nn_linear(784, 100, true), tn_nn_function("relu", tn_relu),
 *       tn_nn_linear(100, 10, true)));
 *     tn_nn_to(model, .device = device);
 *     tn_optim *optim = tn_optim_adamw(TN_NN_PARAMETERS(model), 1e-3);
 *     ...
 *     tn_with_scope {
 *       tn_tensor *scores = tn_nn_forward(model, x);
 *       tn_optim_zero_grad(optim);
 *       if (tn_backward(tn_cross_entropy(scores, y)) != TN_OK ||
 *           tn_optim_step(optim) != TN_OK)
 *         die(tn_error_message());
 *     }
 *
 * Modules and optimisers are counted references, which belong to no scope.
 * Functions that make one return NULL on failure, with the error set. Those
 * that put a module into another take over the caller's reference, also on
 * failure, so that calls can be nested; a NULL module is passed on as NULL.
 * Tensors are borrowed, and kept by references of their own.
 *
 * Names, defaults and formulas are PyTorch's. A module is used by one thread
 * at a time.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TENON_NN_H
#define TENON_NN_H

#include "tenon/autograd.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tn_nn_module tn_nn_module;

/* ---- modules that there are ---- */

typedef struct tn_nn_options {
  tn_device device; /* the default device if not given */
  tn_dtype dtype;   /* f32 if not given */
  char tn_end_;
} tn_nn_options;

/* x weight^T + bias. "weight" [out, in], "bias" [out] if `bias`, both uniform
 * within 1 / sqrt(in). */
TN_API tn_nn_module *tn_nn_linear_with(int64_t in_features,
                                       int64_t out_features, bool bias,
                                       tn_nn_options options);

/* Rows of "weight" [count, width] by index; normal at first. */
TN_API tn_nn_module *tn_nn_embedding_with(int64_t count, int64_t width,
                                          tn_nn_options options);

/* Over the last dimensions, of that shape. affine: with "weight", ones at
 * first, and "bias", zeros. PyTorch's eps is 1e-5. */
TN_API tn_nn_module *tn_nn_layer_norm_with(tn_shape shape, double eps,
                                           bool affine,
                                           tn_nn_options options);

/* Does nothing in evaluation. 0 <= p <= 1. */
TN_API tn_nn_module *tn_nn_dropout(double p);

/* A function of one tensor, such as tn_gelu; the name is for messages. */
TN_API tn_nn_module *tn_nn_function(const char *name,
                                    tn_tensor *(*function)(tn_tensor *));

/* One after the other; they are called "0", "1" and so on. */
TN_API tn_nn_module *tn_nn_sequential(tn_nn_module *const *modules, int n);

#ifndef __cplusplus
#define TN_NN_MODULES(...)                     \
  (tn_nn_module *const[]){ __VA_ARGS__ },      \
      (int)(sizeof((tn_nn_module *const[]){ __VA_ARGS__ }) \
            / sizeof(tn_nn_module *))
#define tn_nn_linear(...) \
  TN_OPTIONS_3_(tn_nn_linear_with, tn_nn_options, __VA_ARGS__, .tn_end_ = 0)
#define tn_nn_embedding(...) \
  TN_OPTIONS_2_(tn_nn_embedding_with, tn_nn_options, __VA_ARGS__, .tn_end_ = 0)
#define tn_nn_layer_norm(...)                                        \
  TN_OPTIONS_3_(tn_nn_layer_norm_with, tn_nn_options, __VA_ARGS__,   \
                .tn_end_ = 0)
#endif

/* ---- modules of your own ---- */

/* forward: like an operation, of n inputs: gives a new reference, or NULL with
 * the error set. It runs in a scope of its own. destroy: frees the data; may
 * be NULL. The struct must live as long as its modules. */
typedef struct tn_nn_class {
  const char *name; /* "Attention"; for messages */
  tn_tensor *(*forward)(tn_nn_module *self, tn_tensor *const *inputs, int n);
  void (*destroy)(void *data);
} tn_nn_class;

/* Data is the module's from now on; on failure it is destroyed. */
TN_API tn_nn_module *tn_nn_module_new(const tn_nn_class *of, void *data);
TN_API void *tn_nn_data(const tn_nn_module *module);
TN_API const char *tn_nn_name(const tn_nn_module *module); /* its class's */

/* Names are not empty, have no dot, and are used once in a module. A
 * parameter is a leaf of a float dtype, and is made to require a gradient; a
 * buffer moves with the module and is not trained. tn_nn_add returns the
 * module that was added, borrowed. */
TN_API tn_status tn_nn_register_parameter(tn_nn_module *module,
                                          const char *name, tn_tensor *t);
TN_API tn_status tn_nn_register_buffer(tn_nn_module *module,
                                       const char *name, tn_tensor *t);
TN_API tn_nn_module *tn_nn_add(tn_nn_module *module, const char *name,
                               tn_nn_module *child);

TN_API tn_nn_module *tn_nn_module_retain(tn_nn_module *module);
TN_API void tn_nn_module_release(tn_nn_module *module);

/* ---- using them ---- */

TN_API tn_tensor *tn_nn_forward(tn_nn_module *module, tn_tensor *input);
TN_API tn_tensor *tn_nn_forward_with(tn_nn_module *module,
                                     tn_tensor *const *inputs, int n);

/* For this module and all in it: what dropout goes by. New modules train. */
TN_API void tn_nn_train(tn_nn_module *module, bool training);
TN_API void tn_nn_eval(tn_nn_module *module);
TN_API bool tn_nn_is_training(const tn_nn_module *module);

/* Moves parameters, their gradients and buffers in place: the tensors stay
 * the same ones, so that optimisers keep working. dtype: of floats only. What
 * was computed of them before cannot be differentiated any more. On failure
 * some may have moved; a second call goes on. Returns module, or NULL. */
TN_API tn_nn_module *tn_nn_to_with(tn_nn_module *module,
                                   tn_to_options options);

/* Forgets the gradients (they become NULL). */
TN_API void tn_nn_zero_grad(tn_nn_module *module);
TN_API tn_status tn_nn_requires_grad_(tn_nn_module *module,
                                      bool requires_grad);

/* All parameters, each once, a module's own before those of the modules in
 * it: a list that belongs to the module, until the next such call or the end
 * of the module. n: how many; NULL for none wanted. */
TN_API tn_tensor *const *tn_nn_parameters(tn_nn_module *module, int *n);

#ifndef __cplusplus
#define tn_nn_to(...) \
  TN_OPTIONS_1_(tn_nn_to_with, tn_to_options, __VA_ARGS__, .tn_end_ = 0)
/* As the first two arguments of an optimiser. */
#define TN_NN_PARAMETERS(module) \
  tn_nn_parameters(module, NULL), tn_nn_parameter_count(module)
#endif

/* By number, in that order, or by name, such as "0.weight"; borrowed. NULL,
 * with the error set, if there is none. The name is written as by snprintf. */
TN_API int tn_nn_parameter_count(const tn_nn_module *module);
TN_API tn_tensor *tn_nn_parameter_at(const tn_nn_module *module, int number);
TN_API int tn_nn_parameter_name(const tn_nn_module *module, int number,
                                char *text, size_t size);
TN_API tn_tensor *tn_nn_parameter(const tn_nn_module *module,
                                  const char *name);
TN_API int tn_nn_buffer_count(const tn_nn_module *module);
TN_API tn_tensor *tn_nn_buffer_at(const tn_nn_module *module, int number);
TN_API int tn_nn_buffer_name(const tn_nn_module *module, int number,
                             char *text, size_t size);
TN_API tn_tensor *tn_nn_buffer(const tn_nn_module *module, const char *name);
TN_API tn_nn_module *tn_nn_child(const tn_nn_module *module,
                                 const char *name);

/* ---- first values, drawn from the default generator; no gradient is
 * remembered ---- */

/* Of a weight [out, in, ...]: uniform within sqrt(6 / ((1 + a^2) in)); within
 * gain sqrt(6 / (in + out)). */
TN_API tn_tensor *tn_nn_kaiming_uniform_(tn_tensor *t, double a);
TN_API tn_tensor *tn_nn_xavier_uniform_(tn_tensor *t, double gain);

/* ---- optimisers ---- */

typedef struct tn_optim tn_optim;

/* For an option that is to be 0 although 0 is not its default. */
#define TN_OPTIM_ZERO 1e-300

typedef struct tn_optim_sgd_options {
  double momentum, dampening, weight_decay;
  bool nesterov;
  bool maximize;
  char tn_end_;
} tn_optim_sgd_options;

typedef struct tn_optim_adam_options {
  double beta1, beta2;  /* 0.9, 0.999 */
  double eps;           /* 1e-8 */
  double weight_decay;  /* adam: 0; adamw: 0.01 */
  bool amsgrad;
  bool maximize;
  char tn_end_;
} tn_optim_adam_options;

/* Of leaves of float dtypes, on any devices; each once. lr: the learning
 * rate, 0 or more (PyTorch's default is 1e-3). */
TN_API tn_optim *tn_optim_sgd_with(tn_tensor *const *parameters, int n,
                                   double lr, tn_optim_sgd_options options);
TN_API tn_optim *tn_optim_adam_with(tn_tensor *const *parameters, int n,
                                    double lr,
                                    tn_optim_adam_options options);
TN_API tn_optim *tn_optim_adamw_with(tn_tensor *const *parameters, int n,
                                     double lr,
                                     tn_optim_adam_options options);

#ifndef __cplusplus
#define TN_OPTIM_MAKE_(name, ...) \
  TN_OPTIM_MAKE_1_(name, __VA_ARGS__, .tn_end_ = 0)
#define TN_OPTIM_MAKE_1_(name, parameters, n, lr, ...) \
  tn_optim_##name##_with(parameters, n, lr,            \
                         (TN_OPTIM_OPTIONS_##name){ __VA_ARGS__ })
#define TN_OPTIM_OPTIONS_sgd tn_optim_sgd_options
#define TN_OPTIM_OPTIONS_adam tn_optim_adam_options
#define TN_OPTIM_OPTIONS_adamw tn_optim_adam_options
#define tn_optim_sgd(...) TN_OPTIM_MAKE_(sgd, __VA_ARGS__)
#define tn_optim_adam(...) TN_OPTIM_MAKE_(adam, __VA_ARGS__)
#define tn_optim_adamw(...) TN_OPTIM_MAKE_(adamw, __VA_ARGS__)
#endif

/* Changes the parameters that have a gradient, in a few launches on the
 * current streams of their devices. What is kept for them follows those that
 * have moved. All or none: checks come first. */
TN_API tn_status tn_optim_step(tn_optim *optim);
TN_API void tn_optim_zero_grad(tn_optim *optim);
TN_API double tn_optim_lr(const tn_optim *optim);
TN_API tn_status tn_optim_set_lr(tn_optim *optim, double lr);

TN_API tn_optim *tn_optim_retain(tn_optim *optim);
TN_API void tn_optim_release(tn_optim *optim);

#ifdef __cplusplus
}
#endif
#endif
