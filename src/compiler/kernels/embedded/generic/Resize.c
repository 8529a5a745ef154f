/* Resize by nearest, linear or cubic interpolation, separable over the axes. The taps (source
 * index, weight) of a block of columns are computed once; then every row sums the combinations of
 * the taps of its other coordinates, one source row at a time. Each source row is interpolated
 * along the columns once and kept for the next rows, which usually read it too. Integers: WHOLE, as
 * in core/ops.
 */
#ifndef ATTR_antialias
#define ATTR_antialias 0
#endif
#ifndef ATTR_exclude_outside
#define ATTR_exclude_outside 0
#endif
#ifndef ATTR_cubic_coeff_a
#define ATTR_cubic_coeff_a -0.75f
#endif
#ifndef ATTR_extrapolation_value
#define ATTR_extrapolation_value 0
#endif
#if defined ATTR_mode_IS_linear
#define REACH 1
#elif defined ATTR_mode_IS_cubic
#define REACH 2
#else
#define REACH 0
#endif
#if ATTR_antialias
#define TAPS 64
#define BLOCK 16
#else
#define TAPS 4
#define BLOCK 256
#endif
/* source rows; odd, because the sizes of axes are rarely multiples of 7 */
#define KEPT (2 * TAPS - 1)
#if IN0_TYPE == 1
#define SUM_T float
#else
#define SUM_T double
#endif
#if IN0_TYPE == 1 || IN0_TYPE == 11
#define WHOLE(x) (OUT0_T)(x)
#else
#define WHOLE(x) PASTE_(NAME, whole)(x)
/* Truncated (with antialias rounded to nearest, halves up) to the type's bounds; a sum just
   below a whole number counts as that number. */
static inline OUT0_T PASTE_(NAME, whole)(double x) {
  const int bits = 8 * (int)sizeof(OUT0_T) - ((OUT0_T)-1 < 1);
  const double close = fmin(0x1p-20 + fabs(x) * 0x1p-44, 0.25), far = ldexp(1, bits);
  const double y = ATTR_antialias ? floor(x + 0.5 + close) : trunc(x < 0 ? x - close : x + close);
  const OUT0_T most = (OUT0_T)(UINT64_MAX >> (64 - bits));
  if (y >= far) return most;
  if (y < -far) return (OUT0_T)(-1 - (int64_t)most);
  return (OUT0_T)-1 < 1 || y > 0 ? (OUT0_T)y : 0;
}
#endif
#define AXES (IN0_RANK > 0 ? IN0_RANK : 1)
/* result = the sums so far, if any, plus the pending terms; usually there are two terms and no
   sums */
#define ADD_TERMS(result, STORED)                                                                 \
  {                                                                                               \
    const SUM_T w0 = term_weight[0], w1 = term_weight[1], *restrict a = term[0], *restrict b = term[1]; \
    if (!is_begun && terms == 2)                                                                  \
      for (int j = 0; j < width; j++) (result)[j] = STORED(w0 * a[j] + w1 * b[j]);                \
    else                                                                                          \
      for (int j = 0; j < width; j++) {                                                           \
        SUM_T sum = is_begun ? sums[j] : 0;                                                       \
        if (terms > 0) sum += w0 * a[j];                                                          \
        if (terms > 1) sum += w1 * b[j];                                                          \
        (result)[j] = STORED(sum);                                                                \
      }                                                                                           \
  }
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict from = in[0];
  OUT0_T *restrict to = out[0];
  const int64_t dims[] = IN0_DIMS, to_dims[] = OUT0_DIMS;
  double scale[AXES], origin[AXES], stop[AXES], weight[AXES][TAPS];
  SUM_T column_weight[TAPS][BLOCK], kept[KEPT][BLOCK];
  int64_t index[AXES][TAPS] = {{0}}, at[AXES], step[AXES], kept_offset[KEPT];
  int32_t column_index[TAPS][BLOCK];
  int count[AXES], axis_of[AXES], axes = IN0_RANK;
#ifdef ATTR_coordinate_transformation_mode_IS_tf_crop_and_resize
  int is_outside[AXES], column_outside[BLOCK];
#endif
  enum { LAST = AXES - 1 };
  if (IN0_RANK == 0) {
    (void)begin, (void)end;
    to[0] = (OUT0_T)from[0];
    return 0;
  }
  (void)scratch, (void)origin, (void)stop;
  int64_t stride = 1;
  for (int k = IN0_RANK - 1; k >= 0; k--) {
    scale[k] = 1, origin[k] = 0, stop[k] = 1, at[k] = 0, count[k] = 0;
    step[k] = stride;
    stride *= dims[k];
    axis_of[k] = k;
  }
#ifdef ATTR_axes
  const int64_t given[] = ATTR_axes;
  axes = ATTR_axes_COUNT;
  for (int k = 0; k < axes; k++) axis_of[k] = (int)(given[k] < 0 ? given[k] + IN0_RANK : given[k]);
#endif
#if IN_COUNT > 2 && IN2_PRESENT
  for (int k = 0; k < axes && IN2_COUNT == axes; k++)
    scale[axis_of[k]] = (double)((const IN2_T *)in[2])[k];
#endif
#if IN_COUNT > 3 && IN3_PRESENT
  if (IN3_COUNT == axes) {
    const IN3_T *sizes = in[3];
    double common = 0;
    for (int k = 0; k < axes; k++) {
      const double own = (double)sizes[k] / (double)dims[axis_of[k]];
      scale[axis_of[k]] = own;
#ifdef ATTR_keep_aspect_ratio_policy_IS_not_larger
      if (k == 0 || own < common) common = own;
#else
      if (k == 0 || own > common) common = own;
#endif
    }
#if defined ATTR_keep_aspect_ratio_policy_IS_not_larger || \
    defined ATTR_keep_aspect_ratio_policy_IS_not_smaller
    for (int k = 0; k < axes; k++) scale[axis_of[k]] = common;
#endif
  }
#endif
#if defined ATTR_coordinate_transformation_mode_IS_tf_crop_and_resize && IN_COUNT > 1 && IN1_PRESENT
  for (int k = 0; k < axes && IN1_COUNT == 2 * axes; k++) {
    origin[axis_of[k]] = (double)((const IN1_T *)in[1])[k];
    stop[axis_of[k]] = (double)((const IN1_T *)in[1])[k + axes];
  }
#endif
  const int64_t columns = to_dims[LAST];
  for (int64_t block = 0; block < columns; block += BLOCK) {
    const int width = (int)(columns - block < BLOCK ? columns - block : BLOCK);
    /* indices before `begin` fill the columns' taps, the others are rows */
    int64_t rest = begin;
    for (int k = LAST - 1; k >= 0; rest /= to_dims[k], k--) at[k] = rest % to_dims[k];
    int changed = 0;
    for (int i = 0; i < KEPT; i++) kept_offset[i] = -1;
    for (int64_t position = begin - width; position < end; position++) {
      const int is_column = position < begin;
      if (is_column) at[LAST] = block + width + position - begin;
      for (int k = is_column ? LAST : changed; k < (is_column ? AXES : LAST); k++) {
        const double length = (double)dims[k], to_length = (double)to_dims[k], p = (double)at[k];
        const double s = scale[k], whole = s * length; /* before it was rounded to elements */
#if defined ATTR_coordinate_transformation_mode_IS_half_pixel_symmetric
        const double x = length / 2 * (1 - to_length / whole) + (p + 0.5) / s - 0.5;
#elif defined ATTR_coordinate_transformation_mode_IS_pytorch_half_pixel
        const double x = to_length > 1 ? (p + 0.5) / s - 0.5 : 0;
#elif defined ATTR_coordinate_transformation_mode_IS_align_corners
        const double x = to_length > 1 ? p * (length - 1) / (whole - 1) : 0;
#elif defined ATTR_coordinate_transformation_mode_IS_asymmetric
        const double x = p / s;
#elif defined ATTR_coordinate_transformation_mode_IS_tf_half_pixel_for_nn
        const double x = s == 1 && length == to_length && REACH ? p : (p + 0.5) / s;
#elif defined ATTR_coordinate_transformation_mode_IS_tf_crop_and_resize
        const double x =
            to_length > 1
                ? origin[k] * (length - 1) + p * (stop[k] - origin[k]) * (length - 1) / (whole - 1)
                : 0.5 * (origin[k] + stop[k]) * (length - 1);
        is_outside[k] = !(x >= 0 && x <= length - 1);
#else
        const double x = (p + 0.5) / s - 0.5;
#endif
        (void)length, (void)to_length, (void)whole;
        if (REACH == 0) {
#if defined ATTR_nearest_mode_IS_round_prefer_ceil
          const double n = floor(x + 0.5);
#elif defined ATTR_nearest_mode_IS_floor
          const double n = floor(x);
#elif defined ATTR_nearest_mode_IS_ceil
          const double n = ceil(x);
#else
          const double n = ceil(x - 0.5);
#endif
          count[k] = 1;
          weight[k][0] = 1;
          index[k][0] = !(n > 0) ? 0 : n >= length ? dims[k] - 1 : (int64_t)n;
          continue;
        }
        const double shrink = ATTR_antialias && s < 1 ? s : 1, reach = ceil(REACH / shrink);
        if (!(reach <= TAPS / 2)) return 9;
        count[k] = 2 * (int)reach;
        const double first = floor(x) - (reach - 1);
        double sum = 0;
        for (int t = 0; t < count[k]; t++) {
          const double i = first + t, d = fabs((i - x) * shrink), a = (double)ATTR_cubic_coeff_a;
          double w = d < 1 ? 1 - d : 0;
          if (REACH == 2)
            w = d <= 1  ? ((a + 2) * d - (a + 3)) * d * d + 1
                : d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
                        : 0;
          if (ATTR_exclude_outside && (i < 0 || i > length - 1)) w = 0;
          index[k][t] = !(i > 0) ? 0 : i >= length ? dims[k] - 1 : (int64_t)i;
          weight[k][t] = w;
          sum += w;
        }
        int used = 0; /* of a row; an axis that keeps its length has one tap */
        for (int t = 0; t < count[k]; t++) {
          if (sum != 0) weight[k][t] /= sum;
          if (is_column || weight[k][t] == 0) continue;
          index[k][used] = index[k][t];
          weight[k][used++] = weight[k][t];
        }
        if (used) count[k] = used;
      }
      if (is_column) {
        const int j = (int)(width + position - begin);
        for (int t = 0; t < count[LAST]; t++) {
          column_index[t][j] = (int32_t)index[LAST][t];
          column_weight[t][j] = (SUM_T)weight[LAST][t];
        }
#ifdef ATTR_coordinate_transformation_mode_IS_tf_crop_and_resize
        column_outside[j] = is_outside[LAST];
#endif
        continue;
      }
      OUT0_T *restrict row = to + position * columns + block;
      SUM_T sums[BLOCK], term_weight[2] = {0};
      const SUM_T *term[2] = {0};
      int tap[AXES] = {0}, terms = 0, is_begun = 0;
      for (int done = 0; !done;) {
        double w = 1;
        int64_t offset = 0;
        for (int k = 0; k < LAST; k++) w *= weight[k][tap[k]], offset += index[k][tap[k]] * step[k];
        const IN0_T *restrict source = from + offset;
        if (REACH == 0) {
          for (int j = 0; j < width; j++) row[j] = (OUT0_T)source[column_index[0][j]];
        } else {
          SUM_T *restrict line = kept[offset / dims[LAST] % KEPT];
          if (terms == 2 || (terms && term[0] == line)) {
            ADD_TERMS(sums, (SUM_T))
            is_begun = 1, terms = 0;
          }
          if (kept_offset[offset / dims[LAST] % KEPT] != offset) {
            kept_offset[offset / dims[LAST] % KEPT] = offset;
            for (int j = 0; j < width; j++)
              line[j] = column_weight[0][j] * (SUM_T)source[column_index[0][j]];
            for (int t = 1; t < count[LAST]; t++)
              for (int j = 0; j < width; j++)
                line[j] += column_weight[t][j] * (SUM_T)source[column_index[t][j]];
            for (int j = 0; j < width && ATTR_antialias && IN0_TYPE != 1 && IN0_TYPE != 11; j++)
              line[j] = (SUM_T)WHOLE(line[j]);
          }
          term[terms] = line;
          term_weight[terms++] = (SUM_T)w;
        }
        done = 1;
        for (int k = LAST - 1; k >= 0; k--) {
          if (++tap[k] < count[k]) {
            done = 0;
            break;
          }
          tap[k] = 0;
        }
      }
      if (REACH > 0) ADD_TERMS(row, WHOLE)
#ifdef ATTR_coordinate_transformation_mode_IS_tf_crop_and_resize
      int outside = 0;
      for (int k = 0; k < LAST; k++) outside |= is_outside[k];
      for (int j = 0; j < width; j++)
        if (outside || column_outside[j]) row[j] = WHOLE(ATTR_extrapolation_value);
#endif
      for (changed = LAST - 1; changed >= 0; changed--) {
        if (++at[changed] < to_dims[changed]) break;
        at[changed] = 0;
      }
    }
  }
  return 0;
}
#undef ATTR_antialias
#undef ATTR_exclude_outside
#undef ATTR_cubic_coeff_a
#undef ATTR_extrapolation_value
#undef REACH
#undef TAPS
#undef KEPT
#undef SUM_T
#undef ADD_TERMS
#undef WHOLE
#undef BLOCK
#undef AXES
