/* CoupleProbabilities (hone): class probabilities from those of all pairs, by LIBSVM's iteration.
 */
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *const x = in[0];
  OUT0_T *const y = out[0];
  const int64_t in_dims[] = IN0_DIMS;
  enum { CLASSES = ATTR_classes };
  (void)scratch;
  for (int64_t row = begin; row < end; row++) {
    const IN0_T *r = x + row * in_dims[1];
    double q[CLASSES][CLASSES], qp[CLASSES], p[CLASSES];
    for (int t = 0; t < CLASSES; t++) q[t][t] = 0, p[t] = 1.0 / CLASSES;
    for (int i = 0; i < CLASSES; i++)
      for (int j = i + 1; j < CLASSES; j++, r++) {
        const double a = *r, b = 1 - a;
        q[i][i] += b * b;
        q[j][j] += a * a;
        q[i][j] = q[j][i] = -b * a;
      }
    for (int turn = 0; turn < 100; turn++) {
      double sum = 0, worst = 0;
      for (int t = 0; t < CLASSES; t++) {
        qp[t] = 0;
        for (int j = 0; j < CLASSES; j++) qp[t] += q[t][j] * p[j];
        sum += p[t] * qp[t];
      }
      for (int t = 0; t < CLASSES; t++) {
        const double away = qp[t] < sum ? sum - qp[t] : qp[t] - sum;
        if (away > worst) worst = away;
      }
      if (worst < 0.005 / CLASSES) break;
      for (int t = 0; t < CLASSES; t++) {
        const double by = (sum - qp[t]) / q[t][t];
        p[t] += by;
        sum = (sum + by * (by * q[t][t] + 2 * qp[t])) / (1 + by) / (1 + by);
        for (int j = 0; j < CLASSES; j++) {
          qp[j] = (qp[j] + by * q[t][j]) / (1 + by);
          p[j] /= 1 + by;
        }
      }
    }
    for (int t = 0; t < CLASSES; t++) y[row * CLASSES + t] = (OUT0_T)p[t];
  }
  return 0;
}
#undef ATTR_classes
