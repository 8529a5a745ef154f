/* Elementwise operators of two broadcast operands whose types or attributes an expression cannot
 * represent; PAIR_OP: 0 Pow of mixed types, 1 BitShift, 2 Mod of floats with the sign of the
 * divisor. Integer results of a float power saturate.
 */
#if PAIR_OP == 0
#define PAIR(to, a, b)                                                                             \
  do {                                                                                             \
    double value = pow((double)(a), (double)(b));                                                  \
    const double high = ldexp(1, (int)sizeof(OUT0_T) * 8 - !((OUT0_T)-1 > 0));                     \
    const double low = (OUT0_T)-1 > 0 ? 0 : -high;                                                 \
    const int is_whole = (OUT0_T)0.5 == 0;                                                         \
    if (is_whole && value != value) value = 0;                                                     \
    if (is_whole && value >= high)                                                                 \
      (to) = (OUT0_T)((OUT0_T)-1 > 0 ? (uint64_t)-1 : UINT64_MAX >> (65 - 8 * sizeof(OUT0_T)));    \
    else                                                                                           \
      (to) = (OUT0_T)(is_whole && value < low ? low : value);                                      \
  } while (0)
#elif PAIR_OP == 2
#define PAIR(to, a, b)                                                             \
  do {                                                                             \
    double value = fmod((double)(a), (double)(b));                                 \
    if (value != 0 && (value < 0) != ((b) < 0)) value += (double)(b);              \
    (to) = (OUT0_T)value;                                                          \
  } while (0)
#elif defined ATTR_direction_IS_LEFT
#define PAIR(to, a, b) \
  (to) = (uint64_t)(b) < 8 * sizeof(OUT0_T) ? (OUT0_T)((uint64_t)(a) << ((uint64_t)(b)&63)) : 0
#else
#define PAIR(to, a, b)                                                                     \
  do {                                                                                     \
    const uint64_t by = (uint64_t)(b), width = 8 * sizeof(OUT0_T);                         \
    const OUT0_T shifted = (OUT0_T)((a) >> (by < width - 1 ? by : width - 1));             \
    (to) = by >= width && (a) > 0 ? 0 : shifted;                                           \
  } while (0)
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  const IN1_T *restrict y = in[1];
  OUT0_T *restrict to = out[0];
  const int64_t dims[] = OUT0_DIMS, x_dims[] = IN0_DIMS, y_dims[] = IN1_DIMS;
  int64_t x_step[17] = {0}, y_step[17] = {0}, step = 1;
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
  enum { LAST = OUT0_RANK > 0 ? OUT0_RANK - 1 : 0 };
  const int64_t columns = OUT0_RANK ? dims[LAST] : 1, x_by = x_step[LAST], y_by = y_step[LAST];
  for (int64_t r = begin; r < end; r++) {
    int64_t xi = 0, yi = 0, rest = r;
    for (int k = LAST - 1; k >= 0; rest /= dims[k], k--) {
      xi += rest % dims[k] * x_step[k];
      yi += rest % dims[k] * y_step[k];
    }
    const IN0_T *restrict a = x + xi;
    const IN1_T *restrict b = y + yi;
    OUT0_T *restrict c = to + r * columns;
    if (x_by && y_by)
      for (int64_t j = 0; j < columns; j++) PAIR(c[j], a[j], b[j]);
    else
      for (int64_t j = 0; j < columns; j++) PAIR(c[j], a[j * x_by], b[j * y_by]);
  }
  return 0;
}
#undef PAIR
