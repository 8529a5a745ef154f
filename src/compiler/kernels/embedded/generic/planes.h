/* Shared by normalisations of channels, from the function's head on: a plane is one channel of one
 * image.
 */
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
