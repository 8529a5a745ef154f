/* BatchNormalization of inference: (x - mean) / sqrt(variance + epsilon) * scale + bias. */
#ifndef ATTR_epsilon
#define ATTR_epsilon 1e-5f
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  const IN1_T *scale = in[1];
  const IN2_T *bias = in[2];
  const IN3_T *mean = in[3];
  const IN4_T *variance = in[4];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS, channels = IN1_COUNT;
  int64_t plane = 1;
  (void)scratch;
  for (int k = 2; k < IN0_RANK; k++) plane *= dims[k];
  for (int64_t p = begin; p < end; p++) {
    const int64_t c = p % channels;
    const double middle = (double)mean[c], by = (double)scale[c], more = (double)bias[c];
    const double width = sqrt((double)variance[c] + (double)ATTR_epsilon);
    for (int64_t i = p * plane; i < (p + 1) * plane; i++)
      y[i] = (OUT0_T)(((double)x[i] - middle) / width * by + more);
  }
  return 0;
}
#undef ATTR_epsilon
