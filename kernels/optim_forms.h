/* Steps of optimisers; a family defines fma_ and sqrt_ of its type.
 *
 * A launch takes six parameters p0, p1, ... of n0, n1, ... elements and their
 * gradients g0, g1, ...; what is kept for them lies one after the other in one
 * array a state. `which` has a bit for each that is to be changed; the others
 * only take their place in the states. */

#define SIX(form, T) \
  form(0, T), form(1, T), form(2, T), form(3, T), form(4, T), form(5, T)
#define PARAMETER(i, T) TN_OUT(T, p##i)
#define GRADIENT(i, T) TN_IN(T, g##i)
#define LENGTH(i, T) TN_VAL(T, n##i)
#define LENGTHS SIX(LENGTH, int64), TN_VAL(int32, which)

/* step(T, p, g, at, k) for every element k of each slot; `at` is where its
 * states begin. */
#define SLOT(step, T, i, at)                          \
  const int64 m##i = which >> i & 1 ? n##i : 0;       \
  TN_PARALLEL_FOR(k, m##i) { step(T, p##i, g##i, at, k) }
#define SLOTS(step, T)                                \
  const int64 at1 = n0, at2 = at1 + n1, at3 = at2 + n2; \
  const int64 at4 = at3 + n3, at5 = at4 + n4;         \
  SLOT(step, T, 0, 0)                                 \
  SLOT(step, T, 1, at1)                               \
  SLOT(step, T, 2, at2)                               \
  SLOT(step, T, 3, at3)                               \
  SLOT(step, T, 4, at4)                               \
  SLOT(step, T, 5, at5)                               \
  (void)at5;

/* sign is 1, or -1 to climb; decay: so many times the parameter is added. */
#define SLOPE(T)                                                          \
  TN_FUNCTION T slope_of(T g, T p, T sign, T decay)                       \
  {                                                                       \
    const T slope = sign * g;                                             \
    return decay == 0 ? slope : fma_(decay, p, slope);                    \
  }

/* rate is negative; take is 1 less the dampening. */
#define SGD(T, suffix)                                                    \
  TN_KERNEL(sgd_##suffix, SIX(PARAMETER, T), SIX(GRADIENT, T), LENGTHS,   \
            TN_VAL(T, rate), TN_VAL(T, decay), TN_VAL(T, sign))           \
  {                                                                       \
    SLOTS(SGD_STEP, T)                                                    \
  }                                                                       \
  TN_KERNEL(sgd_momentum_##suffix, SIX(PARAMETER, T), TN_OUT(T, buffer),  \
            SIX(GRADIENT, T), LENGTHS, TN_VAL(T, rate), TN_VAL(T, decay), \
            TN_VAL(T, sign), TN_VAL(T, momentum), TN_VAL(T, take),        \
            TN_VAL(int32, nesterov), TN_VAL(int32, first))                \
  {                                                                       \
    SLOTS(SGD_MOMENTUM_STEP, T)                                           \
  }
#define SGD_STEP(T, p, g, at, k) \
  p[k] = fma_(rate, slope_of(g[k], p[k], sign, decay), p[k]);
#define SGD_MOMENTUM_STEP(T, p, g, at, k)                                 \
  const T slope = slope_of(g[k], p[k], sign, decay);                      \
  const T kept =                                                          \
    first ? slope : fma_(take, slope, buffer[at + k] * momentum);         \
  const T way = nesterov ? fma_(momentum, kept, slope) : kept;            \
  buffer[at + k] = kept;                                                  \
  p[k] = fma_(rate, way, p[k]);

/* The mean goes the part w of its way to the slope, counted from the nearer
 * end. keep: what decoupled decay leaves of p. size is negative. */
#define ADAM(T, suffix)                                                    \
  TN_FUNCTION T adam_mean_of(T mean, T slope, T w)                         \
  {                                                                        \
    const T way = slope - mean;                                            \
    return w < (T)0.5 ? fma_(w, way, mean) : fma_(w - (T)1, way, slope);   \
  }                                                                        \
  TN_FUNCTION T adam_greater_of(T a, T b)                                  \
  {                                                                        \
    return a > b || a != a ? a : b;                                        \
  }                                                                        \
  TN_KERNEL(adam_##suffix, SIX(PARAMETER, T), TN_OUT(T, mean),             \
            TN_OUT(T, square), SIX(GRADIENT, T), LENGTHS, ADAM_NUMBERS(T)) \
  {                                                                        \
    SLOTS(ADAM_STEP, T)                                                    \
  }                                                                        \
  TN_KERNEL(adam_amsgrad_##suffix, SIX(PARAMETER, T), TN_OUT(T, mean),     \
            TN_OUT(T, square), TN_OUT(T, greatest), SIX(GRADIENT, T),      \
            LENGTHS, ADAM_NUMBERS(T))                                      \
  {                                                                        \
    SLOTS(ADAM_AMSGRAD_STEP, T)                                            \
  }
#define ADAM_NUMBERS(T)                                                    \
  TN_VAL(T, w), TN_VAL(T, beta2), TN_VAL(T, w2), TN_VAL(T, size),          \
      TN_VAL(T, root), TN_VAL(T, eps), TN_VAL(T, decay), TN_VAL(T, keep),  \
      TN_VAL(T, sign)
#define ADAM_MOMENTS(T, p, g, at, k)                                       \
  const T slope = slope_of(g[k], p[k], sign, decay);                       \
  const T middle = adam_mean_of(mean[at + k], slope, w);                   \
  const T power = fma_(w2 * slope, slope, square[at + k] * beta2);         \
  mean[at + k] = middle;                                                   \
  square[at + k] = power;
#define ADAM_STEP(T, p, g, at, k)                                          \
  ADAM_MOMENTS(T, p, g, at, k)                                             \
  p[k] = p[k] * keep + size * middle / (sqrt_(power) / root + eps);
#define ADAM_AMSGRAD_STEP(T, p, g, at, k)                                  \
  ADAM_MOMENTS(T, p, g, at, k)                                             \
  const T most = adam_greater_of(greatest[at + k], power);                 \
  greatest[at + k] = most;                                                 \
  p[k] = p[k] * keep + size * middle / (sqrt_(most) / root + eps);
