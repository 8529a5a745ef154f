/* LRN: x / (bias + alpha / size * sum of squares over `size` adjacent channels) ^ beta. */
#ifndef ATTR_alpha
#define ATTR_alpha 1e-4f
#endif
#ifndef ATTR_beta
#define ATTR_beta 0.75f
#endif
#ifndef ATTR_bias
#define ATTR_bias 1.0f
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS, channels = dims[1];
  const double share = (double)ATTR_alpha / ATTR_size;
  int64_t plane = 1;
  (void)scratch;
  for (int k = 2; k < IN0_RANK; k++) plane *= dims[k];
  for (int64_t u = begin; u < end; u++) { /* one channel of one image */
    const int64_t c = u % channels;
    const int64_t before = c < (ATTR_size - 1) / 2 ? c : (ATTR_size - 1) / 2;
    const int64_t behind = channels - 1 - c < ATTR_size / 2 ? channels - 1 - c : ATTR_size / 2;
    const IN0_T *restrict from = x + u * plane;
    OUT0_T *restrict to = y + u * plane;
    for (int64_t block = 0; block < plane; block += 64) {
      const int64_t width = plane - block < 64 ? plane - block : 64;
      double sum[64] = {0};
      for (int64_t k = -before; k <= behind; k++)
        for (int64_t i = 0; i < width; i++) {
          const double value = (double)from[k * plane + block + i];
          sum[i] += value * value;
        }
      if (ATTR_beta == 0.75f) /* the default, and AlexNet's */
        for (int64_t i = 0; i < width; i++) {
          const double root = sqrt((double)ATTR_bias + share * sum[i]);
          to[block + i] = (OUT0_T)((double)from[block + i] / (root * sqrt(root)));
        }
      else
        for (int64_t i = 0; i < width; i++)
          to[block + i] = (OUT0_T)((double)from[block + i] /
                                   pow((double)ATTR_bias + share * sum[i], (double)ATTR_beta));
    }
  }
  return 0;
}
#undef ATTR_alpha
#undef ATTR_beta
#undef ATTR_bias
