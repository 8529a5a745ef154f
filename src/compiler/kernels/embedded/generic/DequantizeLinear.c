/* DequantizeLinear: (x - zero point) * scale, granularity as in QuantizeLinear. */
#if IN_COUNT > 2 && IN2_PRESENT
#define ZERO(s) ((double)((const IN2_T *)in[2])[s])
#else
#define ZERO(s) 0.0
#endif
#define ELEMENT(s) y[i + j] = (OUT0_T)(((double)x[i + j] - ZERO(s)) * (double)scale[s])
#include "generic/scales.h"
