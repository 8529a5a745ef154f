/* Dynamic sizes of an artifact, from the dimensions of its inputs. Shared by artifacts and their
 * hosts; include it after artifact.h.
 */
#ifndef HONE_LESS_H
#define HONE_LESS_H

/* less[k]: how far dynamic size k is below its bound. dims[i]: the actual dimensions of input i;
   NULL, and dims NULL: the bounds. 0 if they are inconsistent or out of range. */
static inline int hone_find_less(const struct hone_io_info *inputs, int32_t input_count,
                                 const int64_t *bounds, const int64_t *least,
                                 int32_t symbol_count, const struct hone_derived_size *derived,
                                 int32_t derived_count, const int64_t *const *dims,
                                 long less[HONE_ARTIFACT_SIZES]) {
  int is_known[HONE_ARTIFACT_SYMBOLS] = {0};
  for (int32_t k = 0; k < HONE_ARTIFACT_SIZES; k++) less[k] = 0;
  /* each turn finds at least one size, if only from a sum whose other terms are known; the last
     turn compares */
  for (int32_t turn = 0; turn <= symbol_count; turn++)
    for (int32_t i = 0; i < input_count; i++)
      for (int32_t d = 0; dims && dims[i] && d < inputs[i].rank; d++) {
        const int64_t *slope = inputs[i].slopes ? inputs[i].slopes + d : 0;
        int64_t missing = inputs[i].dims[d] - dims[i][d], step = 0;
        int32_t unknown = -1, count = 0;
        for (int32_t k = 0; slope && k < symbol_count; k++, slope += inputs[i].rank) {
          if (!*slope) continue;
          missing -= *slope * less[k];
          if (is_known[k] || turn == symbol_count) continue;
          unknown = k;
          step = *slope;
          count++;
        }
        if (count > 1) continue;
        if (!count && missing) return 0;
        if (!count) continue;
        if (missing < 0 || missing % step || missing / step > bounds[unknown] - least[unknown])
          return 0;
        less[unknown] = (long)(missing / step);
        is_known[unknown] = 1;
      }
  for (int32_t j = 0; j < derived_count; j++) {
    int64_t a = derived[j].a, b = derived[j].b;
    for (int32_t k = 0; k < HONE_ARTIFACT_SIZES; k++) {
      a -= derived[j].a_slopes[k] * less[k];
      b -= derived[j].b_slopes[k] * less[k];
    }
    if (a < 0 || b < 0) return 0;
    less[HONE_ARTIFACT_SYMBOLS + j] = (long)(derived[j].bound - a * b / derived[j].divisor);
  }
  return 1;
}

/* Dimension d of an input or output. */
static inline int64_t hone_open_dim(const struct hone_io_info *io, int32_t d,
                                    const long less[HONE_ARTIFACT_SIZES]) {
  int64_t size = io->dims[d];
  for (int32_t k = 0; io->slopes && k < HONE_ARTIFACT_SIZES; k++)
    size -= io->slopes[k * io->rank + d] * less[k];
  return size;
}
#endif
