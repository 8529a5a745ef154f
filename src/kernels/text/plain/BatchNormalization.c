/* BatchNormalization of inference: (x - mean) / sqrt(variance + epsilon) * scale + bias. */
#ifndef ATTR_epsilon
#define ATTR_epsilon 1e-5f
#endif
static int NAME(const void *const *in, void *const *out, void *scratch) {
  const IN0_T *x = in[0];
  const IN1_T *scale = in[1];
  const IN2_T *bias = in[2];
  const IN3_T *mean = in[3];
  const IN4_T *variance = in[4];
  OUT0_T *y = out[0];
  const int64_t dims[] = IN0_DIMS, channels = IN1_COUNT;
  int64_t plane = 1;
  (void)scratch;
  for (int k = 2; k < IN0_RANK; k++) plane *= dims[k];
  for (int64_t i = 0; i < IN0_COUNT; i++) {
    const int64_t c = i / plane % channels;
    y[i] = (OUT0_T)(((double)x[i] - (double)mean[c]) /
                        sqrt((double)variance[c] + (double)ATTR_epsilon) * (double)scale[c] +
                    (double)bias[c]);
  }
  return 0;
}
#undef ATTR_epsilon
