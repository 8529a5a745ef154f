/* RMSNormalization over the axes from `axis` on: x / sqrt(mean of squares + epsilon) * scale; the scale
 * broadcasts to the input. */
#ifndef ATTR_axis
#define ATTR_axis -1
#endif
#ifndef ATTR_epsilon
#define ATTR_epsilon 1e-5f
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  const IN1_T *restrict scale = in[1];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS, scale_dims[] = IN1_DIMS;
  const int axis = (int)((ATTR_axis) < 0 ? (ATTR_axis) + IN0_RANK : (ATTR_axis));
  int64_t columns = 1, strides[17] = {0}, at[17] = {0}, step = 1;
  (void)scratch;
  for (int k = axis; k < IN0_RANK; k++) columns *= dims[k];
  for (int k = IN1_RANK - 1; k >= 0; k--) {
    strides[k + IN0_RANK - IN1_RANK] = scale_dims[k] == 1 ? 0 : step;
    step *= scale_dims[k];
  }
  for (int64_t r = begin; r < end; r++) {
    const IN0_T *restrict from = x + r * columns;
    OUT0_T *restrict to = y + r * columns;
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < columns; i++) sum += (double)from[i] * (double)from[i];
    const double inverse = 1 / sqrt(sum / (double)columns + (double)ATTR_epsilon);
    if (IN1_COUNT == columns) { /* the scale lies as a row does */
      for (int64_t i = 0; i < columns; i++)
        to[i] = (OUT0_T)((double)from[i] * inverse * (double)scale[i]);
      continue;
    }
    int64_t rest = r;
    for (int k = IN0_RANK - 1; k >= 0; k--) at[k] = k < axis ? rest % dims[k] : 0, rest /= k < axis ? dims[k] : 1;
    for (int64_t i = 0; i < columns; i++) {
      int64_t s = 0;
      for (int k = 0; k < IN0_RANK; k++) s += at[k] * strides[k];
      to[i] = (OUT0_T)((double)from[i] * inverse * (double)scale[s]);
      for (int k = IN0_RANK - 1; k >= 0 && ++at[k] == dims[k]; k--) at[k] = 0;
    }
  }
  return 0;
}
#undef ATTR_axis
#undef ATTR_epsilon
