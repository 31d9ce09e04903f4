#include "tests/numbers_optim.h"

#include <math.h>

#define SLOPE(T, suffix, FMA)                                               \
  static T slope_##suffix(double sign, double decay, T p, T g)              \
  {                                                                         \
    T s = sign < 0 ? -g : g;                                                \
    return decay != 0 ? FMA((T)decay, p, s) : s;                            \
  }
SLOPE(float, f32, fmaf)
SLOPE(double, f64, fma)

#define SGD(T, suffix, FMA)                                                 \
  void ref_sgd_##suffix(const ref_sgd *of, T *p, T g, T *buffer)            \
  {                                                                         \
    T s = slope_##suffix(of->sign, of->decay, *p, g), way = s;              \
    if (of->momentum != 0) {                                                \
      T old = *buffer * (T)of->momentum;                                    \
      *buffer = of->first ? s : FMA((T)of->take, s, old);                   \
      way = *buffer;                                                        \
      if (of->nesterov) way = FMA((T)of->momentum, *buffer, s);             \
    }                                                                       \
    *p = FMA((T)of->rate, way, *p);                                         \
  }
SGD(float, f32, fmaf)
SGD(double, f64, fma)

#define ADAM(T, suffix, FMA, SQRT)                                          \
  void ref_adam_##suffix(const ref_adam *of, T *p, T g, T *mean, T *square, \
                         T *greatest)                                       \
  {                                                                         \
    T s = slope_##suffix(of->sign, of->decay, *p, g), w = (T)of->w;         \
    T way = s - *mean, w2s = (T)of->w2 * s;                                 \
    *mean = w < (T)0.5 ? FMA(w, way, *mean) : FMA(w - 1, way, s);           \
    T old = *square * (T)of->beta2;                                         \
    *square = FMA(w2s, s, old);                                             \
    T under = *square;                                                      \
    if (of->amsgrad) {                                                      \
      bool stays = *greatest > under || isnan(*greatest);                   \
      if (!stays) *greatest = under;                                        \
      under = *greatest;                                                    \
    }                                                                       \
    T root = SQRT(under), ratio = root / (T)of->root;                       \
    T denominator = ratio + (T)of->eps, numerator = (T)of->size * *mean;    \
    T kept = *p * (T)of->keep, step = numerator / denominator;              \
    *p = kept + step;                                                       \
  }
ADAM(float, f32, fmaf, sqrtf)
ADAM(double, f64, fma, sqrt)
