/* ScatterND: data with blocks of updates at index tuples, in order of the updates. A work item is
 * an element of the result: every thread reads all index tuples and writes those in its own part.
 */
#ifndef ATTR_within /* tuples with negative indices are skipped */
#define ATTR_within 0
#endif
#include "generic/scatter.h"
  const int64_t dims[] = IN0_DIMS, index_dims[] = IN1_DIMS;
  const int length = (int)index_dims[IN1_RANK - 1];
  int64_t strides[17], step = 1, rows = 1, run = 1;
  (void)scratch;
  if (to != in[0]) /* a state is updated in place */
    memcpy(to + begin, (const IN0_T *)in[0] + begin, (size_t)(end - begin) * sizeof *to);
  for (int k = IN0_RANK - 1; k >= 0; k--) strides[k] = step, step *= dims[k];
  for (int k = 0; k < IN1_RANK - 1; k++) rows *= index_dims[k];
  for (int k = length; k < IN0_RANK; k++) run *= dims[k];
  for (int64_t r = 0; r < rows; r++, indices += length, updates += run) {
    int64_t offset = 0;
    int is_skipped = 0;
    for (int k = 0; k < length; k++) {
      int64_t at = (int64_t)indices[k];
      is_skipped |= (ATTR_within) && at < 0;
      if ((!(ATTR_within) && at < -dims[k]) || at >= dims[k]) return 8;
      offset += (at < 0 ? at + dims[k] : at) * strides[k];
    }
    if (is_skipped) continue;
    const int64_t first = offset < begin ? begin - offset : 0;
    const int64_t last = offset + run > end ? end - offset : run;
    for (int64_t i = first; i < last; i++) APPLY(to[offset + i], updates[i]);
  }
  return 0;
}
#undef APPLY
#undef ACC
#undef ATTR_within
