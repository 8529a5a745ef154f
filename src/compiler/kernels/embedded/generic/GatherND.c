/* GatherND: the last dimension of the indices is an index tuple into data after batch_dims. */
#ifndef ATTR_batch_dims
#define ATTR_batch_dims 0
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict data = in[0];
  OUT0_T *restrict to = out[0];
  const int64_t dims[] = IN0_DIMS, index_dims[] = IN1_DIMS;
  const int length = (int)index_dims[IN1_RANK - 1];
  int64_t strides[17], step = 1, batches = 1, rows = 1, run = 1;
#ifdef IN1_OPEN
  const int64_t numbers[] = IN1_EXTENTS;
#endif
  (void)scratch;
  for (int k = IN0_RANK - 1; k >= 0; k--) strides[k] = step, step *= dims[k];
  for (int k = 0; k < ATTR_batch_dims; k++) batches *= dims[k];
  for (int k = ATTR_batch_dims; k < IN1_RANK - 1; k++) rows *= index_dims[k];
  for (int k = (int)ATTR_batch_dims + length; k < IN0_RANK; k++) run *= dims[k];
  const int64_t block = batches ? step / batches : 0;
  for (int64_t u = begin; u < end; u++) { /* one index tuple */
    const IN1_T *indices = (const IN1_T *)in[1] + u * length;
    int64_t offset = u / rows * block;
    for (int k = 0; k < length; k++) {
      const int64_t dim = dims[ATTR_batch_dims + k];
      int64_t at = (int64_t)indices[k];
      if (at < -dim || at >= dim) {
#ifdef IN1_OPEN
        if (!inside_(u * length, IN1_RANK, index_dims, numbers, out[OUT_COUNT])) break;
#endif
        return 8;
      }
      offset += (at < 0 ? at + dim : at) * strides[ATTR_batch_dims + k];
    }
    memcpy(to + u * run, data + offset, (size_t)run * sizeof *to);
  }
  return 0;
}
#undef ATTR_batch_dims
