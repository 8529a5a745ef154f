/* block: elements of any numeric type read and written by the block, and positions within shapes.
 * The reference computes in double (floats) or int64 (integers) and rounds once when it stores. */
#include "ops_internal.h"

size_t element_bytes(hone_dtype dtype) {
  return dtype == HONE_STRING ? sizeof(struct string) : dtype_bits(dtype) / 8;
}

/* The types of quantised weights. */
static bool read_small(const struct tensor *tensor, size_t start, size_t count, double *out) {
  const uint8_t *at = (const uint8_t *)tensor->data;
  if (tensor->dtype == HONE_U8)
    for (size_t i = 0; i < count; i++) out[i] = at[start + i];
  else if (tensor->dtype == HONE_I8)
    for (size_t i = 0; i < count; i++) out[i] = (int8_t)at[start + i];
  else if (tensor->dtype == HONE_U4)
    for (size_t i = start; i < start + count; i++) out[i - start] = at[i / 2] >> i % 2 * 4 & 15;
  else if (tensor->dtype == HONE_I4)
    for (size_t i = start; i < start + count; i++)
      out[i - start] = ((at[i / 2] >> i % 2 * 4 & 15) ^ 8) - 8;
  else
    return false;
  return true;
}

void read_f64(const struct tensor *tensor, int64_t start, int64_t stride, size_t count,
              double *out) {
  if (tensor->dtype == HONE_F32) {
    const float *data = (const float *)tensor->data + start;
    for (size_t i = 0; i < count; i++) out[i] = (double)data[(int64_t)i * stride];
    return;
  }
  if (stride == 1 && read_small(tensor, (size_t)start, count, out)) return;
  for (size_t i = 0; i < count; i++)
    out[i] = tensor_f64(tensor, (size_t)(start + (int64_t)i * stride));
}

void read_i64(const struct tensor *tensor, int64_t start, int64_t stride, size_t count,
              int64_t *out) {
  for (size_t i = 0; i < count; i++)
    out[i] = tensor_i64(tensor, (size_t)(start + (int64_t)i * stride));
}

void write_f64(const struct tensor *tensor, int64_t start, size_t count, const double *in) {
  if (tensor->dtype == HONE_F32) {
    float *data = (float *)tensor_data(tensor) + start;
    for (size_t i = 0; i < count; i++) data[i] = (float)in[i];
    return;
  }
  for (size_t i = 0; i < count; i++) tensor_set_f64(tensor, (size_t)start + i, in[i]);
}

void write_i64(const struct tensor *tensor, int64_t start, size_t count, const int64_t *in) {
  for (size_t i = 0; i < count; i++) tensor_set_i64(tensor, (size_t)start + i, in[i]);
}

void broadcast_strides(const struct shape *in, const struct shape *out,
                       int64_t strides[HONE_MAX_RANK]) {
  int64_t dense[HONE_MAX_RANK] = {0};
  shape_strides(in, dense);
  int skipped = out->rank - in->rank;
  for (int i = 0; i < out->rank; i++) {
    bool repeated = i < skipped || (in->dims[i - skipped] == 1 && out->dims[i] != 1);
    strides[i] = repeated ? 0 : dense[i - skipped];
  }
}

bool index_next(int rank, const int64_t *dims, int64_t *index) {
  for (int i = rank - 1; i >= 0; i--) {
    if (++index[i] < dims[i]) return true;
    index[i] = 0;
  }
  return false;
}

int64_t index_offset(int rank, const int64_t *index, const int64_t *strides) {
  int64_t offset = 0;
  for (int i = 0; i < rank; i++) offset += index[i] * strides[i];
  return offset;
}

hone_status to_f64(struct ctx *ctx, struct arena *scratch, const struct tensor *tensor,
                   double **out) {
  *out = NULL;
  if (!tensor) return HONE_OK;
  size_t count = tensor_count(tensor);
  TRY(NEW_ARRAY(ctx, scratch, *out, count));
  read_f64(tensor, 0, 1, count, *out);
  return HONE_OK;
}
