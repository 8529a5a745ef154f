/* Shared by LayerNormalization and RMSNormalization, from the function's head to the rows over the
 * axes from `axis` on: the scale broadcasts to the input. is_flat: it is one row, the same for all
 * rows.
 */
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
  int64_t columns = 1, scale_strides[17] = {0}, at[17] = {0}, step = 1;
  (void)scratch;
  for (int k = axis; k < IN0_RANK; k++) columns *= dims[k];
  for (int k = IN1_RANK - 1; k >= 0; k--) {
    scale_strides[k + IN0_RANK - IN1_RANK] = scale_dims[k] == 1 ? 0 : step;
    step *= scale_dims[k];
  }
  int is_flat = step == columns;
  for (int k = 0; k < axis; k++) is_flat &= !scale_strides[k];
