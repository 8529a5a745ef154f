/* InstanceNormalization: each channel of each image by its own mean and variance, in double. */
#ifndef ATTR_epsilon
#define ATTR_epsilon 1e-5f
#endif
static int NAME(const void *const *in, void *const *out, void *scratch) {
  const IN0_T *x = in[0];
  const IN1_T *scale = in[1];
  const IN2_T *bias = in[2];
  OUT0_T *y = out[0];
  const int64_t dims[] = IN0_DIMS;
  int64_t plane = 1;
  (void)scratch;
  for (int k = 2; k < IN0_RANK; k++) plane *= dims[k];
  for (int64_t p = 0; p < dims[0] * dims[1]; p++, x += plane, y += plane) {
    double mean = 0, variance = 0;
    for (int64_t i = 0; i < plane; i++) mean += (double)x[i];
    mean /= (double)plane;
    for (int64_t i = 0; i < plane; i++) variance += ((double)x[i] - mean) * ((double)x[i] - mean);
    const double factor = (double)scale[p % dims[1]] / sqrt(variance / (double)plane + (double)ATTR_epsilon);
    for (int64_t i = 0; i < plane; i++)
      y[i] = (OUT0_T)(((double)x[i] - mean) * factor + (double)bias[p % dims[1]]);
  }
  return 0;
}
#undef ATTR_epsilon
