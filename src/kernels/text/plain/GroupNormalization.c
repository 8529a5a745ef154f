/* GroupNormalization: mean and variance of each group of channels, in double; scale and bias are one
 * a channel. */
#ifndef ATTR_epsilon
#define ATTR_epsilon 1e-5f
#endif
static int NAME(const void *const *in, void *const *out, void *scratch) {
  const IN0_T *x = in[0];
  const IN1_T *scale = in[1];
  const IN2_T *bias = in[2];
  OUT0_T *y = out[0];
  const int64_t dims[] = IN0_DIMS, channels = dims[1];
  int64_t plane = 1;
  (void)scratch;
  for (int k = 2; k < IN0_RANK; k++) plane *= dims[k];
  const int64_t length = channels / ATTR_num_groups * plane;
  for (int64_t g = 0; g < dims[0] * ATTR_num_groups; g++, x += length, y += length) {
    double mean = 0, variance = 0;
    for (int64_t i = 0; i < length; i++) mean += (double)x[i];
    mean /= (double)length;
    for (int64_t i = 0; i < length; i++) variance += ((double)x[i] - mean) * ((double)x[i] - mean);
    const double inverse = 1 / sqrt(variance / (double)length + (double)ATTR_epsilon);
    for (int64_t i = 0; i < length; i++) {
      const int64_t c = g % ATTR_num_groups * (channels / ATTR_num_groups) + i / plane;
      y[i] = (OUT0_T)(((double)x[i] - mean) * inverse * (double)scale[c] + (double)bias[c]);
    }
  }
  return 0;
}
#undef ATTR_epsilon
