/* ReverseSequence: the first sequence_lens[b] time steps of batch b in reverse, the rest unchanged.
 */
#ifndef ATTR_batch_axis
#define ATTR_batch_axis 1
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  const IN1_T *lengths = in[1];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS, batches = dims[ATTR_batch_axis], steps = dims[1 - ATTR_batch_axis];
  int64_t inner = 1;
  (void)scratch;
  for (int k = 2; k < IN0_RANK; k++) inner *= dims[k];
  const int64_t batch_step = ATTR_batch_axis ? inner : steps * inner;
  const int64_t time_step = ATTR_batch_axis ? batches * inner : inner;
  for (int64_t u = begin; u < end; u++) { /* one time step of one batch, in memory order */
    const int64_t b = ATTR_batch_axis ? u % batches : u / steps;
    const int64_t t = ATTR_batch_axis ? u / batches : u % steps;
    const int64_t length = (int64_t)lengths[b];
    if (length < 0 || length > steps) return 8;
    const int64_t from = t < length ? length - 1 - t : t;
    memcpy(y + b * batch_step + t * time_step, x + b * batch_step + from * time_step,
           (size_t)inner * sizeof *y);
  }
  return 0;
}
#undef ATTR_batch_axis
