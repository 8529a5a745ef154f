/* GroupNormalization: mean and variance of each group of channels, in double; scale and bias are one
 * a channel. */
#ifndef ATTR_epsilon
#define ATTR_epsilon 1e-5f
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  const IN1_T *scale = in[1];
  const IN2_T *bias = in[2];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS, channels = dims[1] / ATTR_num_groups; /* of one group */
  int64_t plane = 1;
  (void)scratch;
  for (int k = 2; k < IN0_RANK; k++) plane *= dims[k];
  const int64_t length = channels * plane;
  for (int64_t g = begin; g < end; g++) {
    const IN0_T *restrict from = x + g * length;
    double mean = 0, variance = 0;
#pragma omp simd reduction(+ : mean)
    for (int64_t i = 0; i < length; i++) mean += (double)from[i];
    mean /= (double)length;
#pragma omp simd reduction(+ : variance)
    for (int64_t i = 0; i < length; i++)
      variance += ((double)from[i] - mean) * ((double)from[i] - mean);
    const double inverse = 1 / sqrt(variance / (double)length + (double)ATTR_epsilon);
    for (int64_t c = 0; c < channels; c++) {
      const int64_t channel = g % ATTR_num_groups * channels + c;
      const double by = inverse * (double)scale[channel], more = (double)bias[channel];
      OUT0_T *restrict to = y + g * length + c * plane;
      for (int64_t i = 0; i < plane; i++)
        to[i] = (OUT0_T)(((double)from[c * plane + i] - mean) * by + more);
    }
  }
  return 0;
}
#undef ATTR_epsilon
