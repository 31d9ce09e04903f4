/* What all optimisers have in common. */
#ifndef TN_TENSOR_NN_OPTIM_H
#define TN_TENSOR_NN_OPTIM_H

#include "tenon/nn.h"
#include "tensor/tensor/place.h"
#include "tensor/tensor/refcount.h"

#define TN_OPTIM_SLOTS 6 /* parameters that a kernel takes */
#define TN_OPTIM_STATES 3

typedef struct tn_optim_member {
  tn_tensor *parameter; /* referenced */
  int64_t steps;        /* in which it had a gradient */
  int pack, slot;       /* where its states are; pack -1: nowhere yet */
} tn_optim_member;

/* Parameters of one place and dtype, changed by one launch. */
typedef struct tn_optim_pack {
  tn_place *place;
  tn_dtype dtype;
  int members[TN_OPTIM_SLOTS], count;
  int64_t begins[TN_OPTIM_SLOTS + 1]; /* in the states; the last: their end */
  tn_tensor *states[TN_OPTIM_STATES]; /* referenced */
} tn_optim_pack;

typedef struct tn_optim_kind {
  const char *name;
  /* Kernels are f32, f64. */
  tn_kernel_entry *(*kernels)(const tn_optim *optim);
  int (*state_count)(const tn_optim *optim);
  /* The numbers of step `step` (1: the first), as the kernel takes them after
   * `which`; how many. */
  int (*numbers)(const tn_optim *optim, int64_t step, tn_dtype dtype,
                 tn_arg *args);
} tn_optim_kind;

struct tn_optim {
  tn_refs refs;
  const tn_optim_kind *kind;
  double lr;
  tn_optim_sgd_options sgd;
  tn_optim_adam_options adam;
  bool is_decoupled; /* weight decay: adamw */
  tn_optim_member *members;
  int count;
  tn_optim_pack *packs;
  int pack_count;
};

/* Of parameters that were checked. */
tn_optim *tn_optim_new(const tn_optim_kind *kind,
                       tn_tensor *const *parameters, int n, double lr);

/* An error that names what is out of bounds, unless value is at least 0 and
 * (where it matters) below `end`. */
tn_status tn_optim_check(const char *optimiser, const char *option,
                         double value, double end);

/* An option's value, or its default. */
double tn_optim_option(double given, double standard);

tn_arg tn_optim_number(tn_dtype dtype, double value);

#endif
