/* Shared by RNN, GRU and LSTM: iterates over sequences, from the function's head to the time step,
 * which this file leaves open and sequences_end.h closes. The including source defines ACTIVATIONS
 * (functions of a direction), USUAL(k, x) (the default of function k), STATE (the parts of the
 * scratch, h first) and CELL if it has one; its step computes the next h from `input` and h.
 */
#ifndef ATTR_layout
#define ATTR_layout 0
#endif
#ifdef ATTR_clip
#define CLIP(x) ((x) > ATTR_clip ? ATTR_clip : (x) < -ATTR_clip ? -ATTR_clip : (x))
#else
#define CLIP(x) (x)
#endif
#if IN0_TYPE == 11 /* f64 */
#define REAL double
#define EXP_ exp
#define EXPM1_ expm1
#define LOG1P_ log1p
#define TANH_ tanh
#else
#define REAL float
#define EXP_ expf
#define EXPM1_ expm1f
#define LOG1P_ log1pf
#define TANH_ tanhf
#endif
#define SIGMOID(x) (1 / (1 + EXP_(-(x))))
#ifdef ATTR_functions /* of direction d, in the order of the attribute */
#define ACTIVATE(k, x)                                                        \
  PASTE_(NAME, activate)(functions[d * ACTIVATIONS + (k)],                    \
                         alphas[d * ACTIVATIONS + (k)],                       \
                         betas[d * ACTIVATIONS + (k)], x)
/* Activations other than the defaults, by their number in src/core/ops/operators/recurrent.c.
   Not inlined: a step calls it five times, and in an unrolled loop gcc would spend seconds on
   the copies of the switch. */
static NOIPA REAL PASTE_(NAME, activate)(int64_t which, REAL a, REAL b, REAL x) {
  switch (which) {
    case 0: /* Affine */
      return a * x + b;
    case 1: /* Elu */
      return x >= 0 ? x : a * EXPM1_(x);
    case 2: /* HardSigmoid */
      return a * x + b < 0 ? 0 : a * x + b > 1 ? 1 : a * x + b;
    case 3: /* LeakyRelu */
      return x >= 0 ? x : a * x;
    case 4: /* Relu */
      return x > 0 ? x : 0;
    case 5: /* ScaledTanh */
      return a * TANH_(b * x);
    case 6: /* Sigmoid */
      return SIGMOID(x);
    case 7: /* Softplus */
      return (x > 0 ? x : 0) + LOG1P_(EXP_(x > 0 ? -x : x));
    case 8: /* Softsign */
      return x / (1 + (x < 0 ? -x : x));
    case 9: /* Tanh */
      return TANH_(x);
    default: /* ThresholdedRelu */
      return x >= a ? x : 0;
  }
}
#else
#define ACTIVATE(k, x) USUAL(k, x)
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const REAL *x = in[0], *w = in[1], *r = in[2];
  const int64_t x_dims[] = IN0_DIMS, r_dims[] = IN2_DIMS;
  const int64_t steps = x_dims[ATTR_layout], batches = x_dims[1 - ATTR_layout], width = x_dims[2];
  const int64_t directions = r_dims[0], hidden = r_dims[2];
  REAL *h = scratch, STATE;
  (void)directions;
#ifdef ATTR_functions
  const int64_t functions[] = ATTR_functions;
  const REAL alphas[] = ATTR_function_alphas, betas[] = ATTR_function_betas;
#endif
  for (int64_t u = begin; u < end; u++) { /* one sequence of one direction */
    const int64_t d = u / batches, b = u % batches;
#ifdef ATTR_direction_IS_reverse
    const int backward = 1;
#else
    const int backward = d == 1;
#endif
    const int64_t state = (ATTR_layout ? b * directions + d : d * batches + b) * hidden;
    int64_t length = steps;
    (void)state;
#if IN_COUNT > 4 && IN4_PRESENT
    length = (int64_t)((const IN4_T *)in[4])[b];
    if (length < 0 || length > steps) return 8;
#endif
    for (int64_t j = 0; j < hidden; j++) h[j] = 0;
#if IN_COUNT > 5 && IN5_PRESENT
    memcpy(h, (const REAL *)in[5] + state, (size_t)hidden * sizeof *h);
#endif
#ifdef CELL
    for (int64_t j = 0; j < hidden; j++) CELL[j] = 0;
#if IN_COUNT > 6 && IN6_PRESENT
    memcpy(CELL, (const REAL *)in[6] + state, (size_t)hidden * sizeof *CELL);
#endif
#endif
    for (int64_t s = 0; s < steps; s++) {
      const int64_t t = s >= length ? s : backward ? length - 1 - s : s;
      const REAL *input = x + (ATTR_layout ? b * steps + t : t * batches + b) * width;
      if (s < length) {
