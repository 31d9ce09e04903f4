/* docs/numbers.md in plain C, continued: optimisers. See numbers_reference.h.
 */
#ifndef TN_TESTS_NUMBERS_OPTIM_H
#define TN_TESTS_NUMBERS_OPTIM_H

#include <stdbool.h>

/* rate, size: as kernels take them, negative. */
typedef struct ref_sgd {
  double rate, decay, sign, momentum, take;
  bool nesterov, first;
} ref_sgd;

typedef struct ref_adam {
  double w, beta2, w2, size, root, eps, decay, keep, sign;
  bool amsgrad;
} ref_adam;

/* One element. Without momentum the buffer stays as it is. */
void ref_sgd_f32(const ref_sgd *of, float *p, float g, float *buffer);
void ref_sgd_f64(const ref_sgd *of, double *p, double g, double *buffer);
void ref_adam_f32(const ref_adam *of, float *p, float g, float *mean,
                  float *square, float *greatest);
void ref_adam_f64(const ref_adam *of, double *p, double g, double *mean,
                  double *square, double *greatest);

#endif
