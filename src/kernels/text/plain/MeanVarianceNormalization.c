/* MeanVarianceNormalization over `axes`: (x - mean) / (sqrt(variance) + 1e-9). The scratch holds mean
 * and variance of each group. */
static int NAME(const void *const *in, void *const *out, void *scratch) {
  const IN0_T *x = in[0];
  OUT0_T *y = out[0];
  const int64_t dims[] = IN0_DIMS;
#ifdef ATTR_axes
  const int64_t axes[] = ATTR_axes;
  const int axis_count = ATTR_axes_COUNT;
#else
  const int64_t axes[] = {0, 2, 3};
  const int axis_count = 3;
#endif
  int64_t step[17] = {0}, at[17], groups = 1;
  for (int k = 0; k < IN0_RANK; k++) step[k] = 1;
  for (int k = 0; k < axis_count; k++) step[axes[k] < 0 ? axes[k] + IN0_RANK : axes[k]] = 0;
  for (int k = IN0_RANK - 1; k >= 0; k--) {
    if (!step[k]) continue;
    step[k] = groups;
    groups *= dims[k];
  }
  double *mean = scratch, *variance = mean + groups;
  const double share = (double)groups / (double)IN0_COUNT;
  for (int64_t g = 0; g < groups; g++) mean[g] = variance[g] = 0;
  for (int pass = 0; pass < 3; pass++) {
    int64_t g = 0;
    for (int k = 0; k < IN0_RANK; k++) at[k] = 0;
    for (int64_t i = 0; i < IN0_COUNT; i++) {
      const double value = (double)x[i] - (pass ? mean[g] : 0);
      if (pass == 0) mean[g] += value * share;
      if (pass == 1) variance[g] += value * value * share;
      if (pass == 2) y[i] = (OUT0_T)(value / (sqrt(variance[g]) + 1e-9));
      for (int k = IN0_RANK - 1; k >= 0; k--) {
        g += step[k];
        if (++at[k] < dims[k]) break;
        g -= step[k] * dims[k];
        at[k] = 0;
      }
    }
  }
  return 0;
}
