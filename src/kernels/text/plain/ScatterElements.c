/* ScatterElements: data with updates at indices along the axis, in order of the updates. */
#ifndef ATTR_axis
#define ATTR_axis 0
#endif
#if defined ATTR_reduction_IS_add
#define APPLY(a, b) ((a) = (OUT0_T)((ACC)(a) + (ACC)(b)))
#elif defined ATTR_reduction_IS_mul
#define APPLY(a, b) ((a) = (OUT0_T)((ACC)(a) * (ACC)(b)))
#elif defined ATTR_reduction_IS_max
#define APPLY(a, b) ((a) = (a) > (b) || (a) != (a) ? (a) : (b))
#elif defined ATTR_reduction_IS_min
#define APPLY(a, b) ((a) = (a) < (b) || (a) != (a) ? (a) : (b))
#else
#define APPLY(a, b) ((a) = (b))
#endif
#define ACC __typeof__(_Generic((OUT0_T)0, float: 0.0f, double: 0.0, default: (uint64_t)0))
static int NAME(const void *const *in, void *const *out, void *scratch) {
  const IN1_T *indices = in[1];
  const IN2_T *updates = in[2];
  OUT0_T *to = out[0];
  const int64_t dims[] = IN0_DIMS, index_dims[] = IN1_DIMS;
  const int axis = (int)((ATTR_axis) < 0 ? (ATTR_axis) + IN0_RANK : (ATTR_axis));
  int64_t strides[17], at[17] = {0}, step = 1;
  (void)scratch;
  memcpy(to, in[0], (size_t)IN0_COUNT * sizeof *to);
  for (int k = IN0_RANK - 1; k >= 0; k--) strides[k] = step, step *= dims[k];
  for (int64_t i = 0; i < IN1_COUNT; i++) {
    int64_t index = (int64_t)indices[i], offset = 0;
    if (index < -dims[axis] || index >= dims[axis]) return 8;
    if (index < 0) index += dims[axis];
    for (int k = 0; k < IN0_RANK; k++) offset += (k == axis ? index : at[k]) * strides[k];
    APPLY(to[offset], updates[i]);
    for (int k = IN0_RANK - 1; k >= 0 && ++at[k] == index_dims[k]; k--) at[k] = 0;
  }
  return 0;
}
#undef APPLY
#undef ACC
#undef ATTR_axis
