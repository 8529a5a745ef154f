/* InstanceNormalization: each channel of each image by its own mean and variance, in double. */
#ifndef ATTR_epsilon
#define ATTR_epsilon 1e-5f
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  const IN1_T *scale = in[1];
  const IN2_T *bias = in[2];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
  int64_t plane = 1;
  (void)scratch;
  for (int k = 2; k < IN0_RANK; k++) plane *= dims[k];
  for (int64_t p = begin; p < end; p++) {
    const IN0_T *restrict from = x + p * plane;
    OUT0_T *restrict to = y + p * plane;
    double mean = 0, variance = 0;
#pragma omp simd reduction(+ : mean)
    for (int64_t i = 0; i < plane; i++) mean += (double)from[i];
    mean /= (double)plane;
#pragma omp simd reduction(+ : variance)
    for (int64_t i = 0; i < plane; i++)
      variance += ((double)from[i] - mean) * ((double)from[i] - mean);
    const double by = (double)scale[p % dims[1]] / sqrt(variance / (double)plane + (double)ATTR_epsilon);
    const double more = (double)bias[p % dims[1]];
    for (int64_t i = 0; i < plane; i++) to[i] = (OUT0_T)(((double)from[i] - mean) * by + more);
  }
  return 0;
}
#undef ATTR_epsilon
