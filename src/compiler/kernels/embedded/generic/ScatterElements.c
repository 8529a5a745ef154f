/* ScatterElements: data with updates at indices along the axis, in order of the updates. A work
 * item is one index of the outermost other dimension: everything written there has the same index.
 */
#ifndef ATTR_axis
#define ATTR_axis 0
#endif
#ifndef ATTR_within /* negative indices are ignored */
#define ATTR_within 0
#endif
#include "generic/scatter.h"
const int64_t dims[] = IN0_DIMS, index_dims[] = IN1_DIMS;
const int axis = (int)((ATTR_axis) < 0 ? (ATTR_axis) + IN0_RANK : (ATTR_axis));
enum { LAST = IN0_RANK - 1 };
const int split = axis == 0 && IN0_RANK > 1 ? 1 : 0; /* the dimension of the work items */
int64_t strides[17], index_strides[17], step = 1, index_step = 1;
(void)scratch;
for (int k = LAST; k >= 0; k--) {
  strides[k] = step, step *= dims[k];
  index_strides[k] = index_step, index_step *= index_dims[k];
}
int64_t low[17] = {0}, high[17]; /* this call's part of the index tensor */
for (int k = 0; k < IN0_RANK; k++) high[k] = index_dims[k];
const int in_place = to == in[0]; /* a state is updated in place */
if (IN0_RANK > 1) {
  const int64_t outer = split ? dims[0] : 1, run = (end - begin) * strides[split];
  for (int64_t o = 0; o < outer && !in_place; o++) {
    const int64_t at = o * strides[0] * split + begin * strides[split];
    memcpy(to + at, (const IN0_T *)in[0] + at, (size_t)run * sizeof *to);
  }
  low[split] = begin;
  high[split] = end < index_dims[split] ? end : index_dims[split];
} else if (!in_place) {
  memcpy(to, in[0], (size_t)IN0_COUNT * sizeof *to);
}
int64_t at[17];
for (int k = 0; k < IN0_RANK; k++) {
  at[k] = low[k];
  if (low[k] >= high[k]) return 0;
}
for (;;) { /* rows of the index tensor, in order */
  int64_t from = 0, offset = 0;
  int is_outside = 0;
  for (int k = 0; k < LAST; k++) {
    from += at[k] * index_strides[k];
    offset += k == axis ? 0 : at[k] * strides[k];
  }
  const int64_t along = axis == LAST ? 0 : 1, length = dims[axis];
  for (int64_t j = low[LAST]; j < high[LAST]; j++)
    is_outside |= (!(ATTR_within) && indices[from + j] < -length) || indices[from + j] >= length;
  if (is_outside) return 8;
  for (int64_t j = low[LAST]; j < high[LAST]; j++) {
    if ((ATTR_within) && indices[from + j] < 0) continue;
    const int64_t index = (int64_t)indices[from + j] + (indices[from + j] < 0 ? length : 0);
    APPLY(to[offset + index * strides[axis] + j * along], updates[from + j]);
  }
  int k = LAST - 1;
  for (; k >= 0 && ++at[k] == high[k]; k--) at[k] = low[k];
  if (k < 0) return 0;
}
}
#undef APPLY
#undef ACC
#undef ATTR_axis
#undef ATTR_within
