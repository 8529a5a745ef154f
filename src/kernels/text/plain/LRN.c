/* LRN: x / (bias + alpha / size * sum of squares over size neighbouring channels) ^ beta. */
#ifndef ATTR_alpha
#define ATTR_alpha 1e-4f
#endif
#ifndef ATTR_beta
#define ATTR_beta 0.75f
#endif
#ifndef ATTR_bias
#define ATTR_bias 1.0f
#endif
static int NAME(const void *const *in, void *const *out, void *scratch) {
  const IN0_T *x = in[0];
  OUT0_T *y = out[0];
  const int64_t dims[] = IN0_DIMS, channels = dims[1];
  int64_t plane = 1;
  (void)scratch;
  for (int k = 2; k < IN0_RANK; k++) plane *= dims[k];
  for (int64_t n = 0; n < dims[0]; n++)
    for (int64_t c = 0; c < channels; c++)
      for (int64_t i = 0; i < plane; i++) {
        int64_t begin = c - (ATTR_size - 1) / 2, end = c + ATTR_size / 2 + 1;
        double sum = 0;
        if (begin < 0) begin = 0;
        if (end > channels) end = channels;
        for (int64_t k = begin; k < end; k++) {
          const double value = (double)x[(n * channels + k) * plane + i];
          sum += value * value;
        }
        const int64_t at = (n * channels + c) * plane + i;
        y[at] = (OUT0_T)((double)x[at] / pow((double)ATTR_bias + (double)ATTR_alpha / ATTR_size * sum,
                                             (double)ATTR_beta));
      }
  return 0;
}
#undef ATTR_alpha
#undef ATTR_beta
#undef ATTR_bias
