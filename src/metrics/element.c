/* Elements of outputs as numbers: what every metric reads. */
#include "metrics_internal.h"

#include <math.h>

double score_element(const void *data, hone_dtype dtype, size_t i) {
  switch (dtype) {
    case HONE_F32:
      return ((const float *)data)[i];
    case HONE_F64:
      return ((const double *)data)[i];
    case HONE_F16:
      return f16_to_f32(((const uint16_t *)data)[i]);
    case HONE_BF16:
      return bf16_to_f32(((const uint16_t *)data)[i]);
    case HONE_I8:
      return ((const int8_t *)data)[i];
    case HONE_U8:
    case HONE_BOOL:
      return ((const uint8_t *)data)[i];
    case HONE_I16:
      return ((const int16_t *)data)[i];
    case HONE_U16:
      return ((const uint16_t *)data)[i];
    case HONE_I32:
      return ((const int32_t *)data)[i];
    case HONE_I64:
      return (double)((const int64_t *)data)[i];
    default:
      return NAN;
  }
}

size_t largest_element(const void *data, hone_dtype dtype, size_t count) {
  size_t best = 0;
  for (size_t i = 1; i < count; i++)
    if (score_element(data, dtype, i) > score_element(data, dtype, best)) best = i;
  return best;
}

size_t tensor_elements(const hone_tensor *tensor) {
  size_t count = 1;
  for (int32_t d = 0; d < tensor->rank; d++) count *= (size_t)tensor->shape[d];
  return count;
}
