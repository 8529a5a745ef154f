/* Elementwise ops of two broadcast operands whose types or attributes an expression cannot say;
 * PAIR_OP: 0 Pow over mixed types, 1 BitShift, 2 Mod of floats
 * by the sign of the divisor. Integer results of a float power saturate. */
static int NAME(const void *const *in, void *const *out, void *scratch) {
  const IN0_T *x = in[0];
  const IN1_T *y = in[1];
  OUT0_T *to = out[0];
  const int64_t dims[] = OUT0_DIMS, x_dims[] = IN0_DIMS, y_dims[] = IN1_DIMS;
  int64_t x_step[17] = {0}, y_step[17] = {0}, at[17] = {0}, xi = 0, yi = 0, step = 1;
  (void)scratch;
  for (int k = IN0_RANK - 1; k >= 0; k--) {
    x_step[k + OUT0_RANK - IN0_RANK] = x_dims[k] == 1 ? 0 : step;
    step *= x_dims[k];
  }
  step = 1;
  for (int k = IN1_RANK - 1; k >= 0; k--) {
    y_step[k + OUT0_RANK - IN1_RANK] = y_dims[k] == 1 ? 0 : step;
    step *= y_dims[k];
  }
  for (int64_t o = 0; o < OUT0_COUNT; o++) {
#if PAIR_OP == 0
    double value = pow((double)x[xi], (double)y[yi]);
    if ((OUT0_T)0.5 == 0) {
      const double high = ldexp(1, (int)sizeof(OUT0_T) * 8 - !((OUT0_T)-1 > 0));
      const double low = (OUT0_T)-1 > 0 ? 0 : -high;
      if (value != value) value = 0;
      if (value >= high)
        to[o] = (OUT0_T)((OUT0_T)-1 > 0 ? (uint64_t)-1 : UINT64_MAX >> (65 - 8 * sizeof(OUT0_T)));
      else
        to[o] = (OUT0_T)(value < low ? low : value);
    } else {
      to[o] = (OUT0_T)value;
    }
#elif PAIR_OP == 2
    double value = fmod((double)x[xi], (double)y[yi]);
    if (value != 0 && (value < 0) != (y[yi] < 0)) value += (double)y[yi];
    to[o] = (OUT0_T)value;
#else
    const uint64_t by = (uint64_t)y[yi];
    const uint64_t width = 8 * sizeof(OUT0_T);
#ifdef ATTR_direction_IS_LEFT
    to[o] = by < width ? (OUT0_T)((uint64_t)x[xi] << by) : 0;
#else
    to[o] = (OUT0_T)(x[xi] >> (by < width - 1 ? by : width - 1));
    if (by >= width && x[xi] > 0) to[o] = 0;
#endif
#endif
    for (int k = OUT0_RANK - 1; k >= 0; k--) {
      xi += x_step[k];
      yi += y_step[k];
      if (++at[k] < dims[k]) break;
      xi -= x_step[k] * dims[k];
      yi -= y_step[k] * dims[k];
      at[k] = 0;
    }
  }
  return 0;
}
