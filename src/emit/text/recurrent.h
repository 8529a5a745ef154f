/* Activations of recurrent operators other than the usual ones, by their number in src/ops/recurrent.c. */
static inline float activation_(int64_t which, float a, float b, float x) {
  switch (which) {
    case 0: /* Affine */
      return a * x + b;
    case 1: /* Elu */
      return x >= 0 ? x : a * (expf(x) - 1);
    case 2: /* HardSigmoid */
      return a * x + b < 0 ? 0 : a * x + b > 1 ? 1 : a * x + b;
    case 3: /* LeakyRelu */
      return x >= 0 ? x : a * x;
    case 4: /* Relu */
      return x > 0 ? x : 0;
    case 5: /* ScaledTanh */
      return a * tanhf(b * x);
    case 6: /* Sigmoid */
      return 1 / (1 + expf(-x));
    case 7: /* Softplus */
      return log1pf(expf(x));
    case 8: /* Softsign */
      return x / (1 + fabsf(x));
    case 9: /* Tanh */
      return tanhf(x);
    default: /* ThresholdedRelu */
      return x >= a ? x : 0;
  }
}
