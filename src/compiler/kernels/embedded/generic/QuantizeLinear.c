/* QuantizeLinear: saturate(round(x / scale) + zero point); one scale for all, one along the axis,
 * or one per block of block_size along it; QUANTIZE_HALF_AWAY: halves round away from zero. The quotient
 * is rounded to the input's type first.
 */
#if IN_COUNT > 2 && IN2_PRESENT
#define ZERO(s) ((REAL)((const IN2_T *)in[2])[s])
#else
#define ZERO(s) ((REAL)0)
#endif
#if IN0_TYPE == 1 /* f32 */
#define REAL float
#else
#define REAL double
#endif
#define ELEMENT(s)                                                                            \
  do {                                                                                        \
    const REAL low = (OUT0_T)-1 > 0 ? 0 : sizeof(OUT0_T) == 1 ? -128 : -32768;                \
    const REAL high =                                                                         \
        (sizeof(OUT0_T) == 1 ? 127 : 32767) * ((OUT0_T)-1 > 0 ? 2 : 1) + ((OUT0_T)-1 > 0);    \
    const REAL quotient = (REAL)x[i + j] / (REAL)scale[s];                                    \
    const REAL whole =                                                                        \
        rint_(sizeof(IN0_T) <= 4 ? (REAL)(float)quotient : quotient) + ZERO(s);               \
    const REAL value = whole != whole ? ZERO(s) : whole;                                      \
    y[i + j] = (OUT0_T)(int32_t)(value < low ? low : value > high ? high : value);            \
  } while (0)
#if QUANTIZE_HALF_AWAY
#define rint_(value) _Generic((value), float: roundf, default: round)(value)
#else
#define rint_(value) _Generic((value), float: rintf, default: rint)(value)
#endif
#include "generic/scales.h"
#undef REAL
#undef rint_
