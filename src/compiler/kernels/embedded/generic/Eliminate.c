/* Eliminate (hone): Gauss-Jordan elimination of the first n columns of [n, width] with partial
 * pivoting; or (ATTR_determinant) their determinant. One matrix at a time in the scratch, in
 * double.
 */
#ifndef ATTR_determinant
#define ATTR_determinant 0
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const int64_t dims[] = IN0_DIMS, n = dims[IN0_RANK - 2], width = dims[IN0_RANK - 1];
  double *const a = scratch;
  for (long m = begin; m < end; m++) {
    const IN0_T *const x = (const IN0_T *)in[0] + m * n * width;
    double determinant = 1;
    (void)determinant;
    for (int64_t i = 0; i < n * width; i++) a[i] = (double)x[i];
    for (int64_t k = 0; k < n; k++) {
      double *restrict const row = a + k * width;
      int64_t p = k;
      for (int64_t r = k + 1; r < n; r++)
        if (fabs(a[r * width + k]) > fabs(a[p * width + k])) p = r;
      for (int64_t j = 0; p != k && j < width; j++) {
        const double other = row[j];
        row[j] = a[p * width + j];
        a[p * width + j] = other;
      }
      const double pivot = row[k];
      determinant *= p == k ? pivot : -pivot;
      if (ATTR_determinant && pivot == 0) break;
      for (int64_t j = k; j < width; j++) row[j] /= pivot;
      for (int64_t r = ATTR_determinant ? k + 1 : 0; r < n; r++) {
        double *restrict const other = a + r * width;
        const double by = other[k];
        for (int64_t j = k; r != k && j < width; j++) other[j] -= by * row[j];
      }
    }
#if ATTR_determinant
    ((OUT0_T *)out[0])[m] = (OUT0_T)determinant;
#else
    (void)determinant;
    for (int64_t i = 0; i < n * width; i++)
      ((OUT0_T *)out[0])[m * n * width + i] = (OUT0_T)a[i];
#endif
  }
  return 0;
}
#undef ATTR_determinant
