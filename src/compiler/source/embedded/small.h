/* Floats of 16, 8 and 4 bits and integers below a byte: loaded as float or int64, stored with one
 * rounding, half to even. Floats below 16 bits are described by bits of the mantissa (m) and of the
 * exponent (e), the bias, the encoding of special values (0 IEEE, 1 one NaN, 2 the code of minus
 * zero is NaN, 3 none) and the largest value.
 */
HONE_SCALAR_FUNCTION uint32_t bits_of_(float x) { uint32_t u; memcpy(&u, &x, 4); return u; }
HONE_SCALAR_FUNCTION float of_bits_(uint32_t u) { float x; memcpy(&x, &u, 4); return x; }
/* double to float, odd if inexact: a second rounding then gives the same result as a single one. */
HONE_SCALAR_FUNCTION float odd_(double x) {
  float y = (float)x;
  if ((double)y == x || x != x || y - y != 0) return y;
  uint32_t u = bits_of_(y);
  if (fabs((double)y) > fabs(x)) u -= 1;
  return of_bits_(u | 1);
}
HONE_SCALAR_FUNCTION float f16_load_(uint16_t h) {
  uint32_t sign = (uint32_t)(h & 0x8000) << 16, e = h >> 10 & 31, m = h & 1023;
  float small = (float)m * 0x1p-24f;
  if (e == 31) return of_bits_(sign | 0x7f800000u | m << 13 | (m ? 0x400000u : 0));
  return e ? of_bits_(sign | (e + 112) << 23 | m << 13) : sign ? -small : small;
}
HONE_SCALAR_FUNCTION uint16_t f16_store_(float x) {
  uint32_t u = bits_of_(x), sign = u >> 16 & 0x8000, a = u & 0x7fffffff;
  if (a > 0x7f800000) return (uint16_t)(sign | 0x7e00 | (a >> 13 & 0x3ff));
  if (a >= 0x477ff000) return (uint16_t)(sign | 0x7c00);
  if (a < 0x38800000) return (uint16_t)(sign | (bits_of_(of_bits_(a) + 0.5f) - 0x3f000000));
  return (uint16_t)(sign | (a + 0xfff + (a >> 13 & 1) - (112u << 23)) >> 13);
}
HONE_SCALAR_FUNCTION float bf16_load_(uint16_t x) { return of_bits_((uint32_t)x << 16); }
HONE_SCALAR_FUNCTION uint16_t bf16_store_(float x) {
  uint32_t u = bits_of_(x);
  if ((u & 0x7fffffff) > 0x7f800000) return (uint16_t)(u >> 16 | 0x40);
  return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}
HONE_SCALAR_FUNCTION float tiny_load_(unsigned x, int m, int e, int bias, int special) {
  int mantissa = (int)(x & ((1u << m) - 1)), last = (1 << e) - 1, exponent = (int)(x >> m) & last;
  float sign = x >> (m + e) & 1 ? -1.0f : 1.0f;
  if (special == 0 && exponent == last) return mantissa ? NAN : sign * INFINITY;
  if (special == 1 && exponent == last && mantissa == (1 << m) - 1) return NAN;
  if (special == 2 && x == 0x80) return NAN;
  if (!exponent) return sign * ldexpf((float)mantissa, 1 - bias - m);
  return sign * ldexpf((float)(mantissa + (1 << m)), exponent - bias - m);
}
HONE_SCALAR_FUNCTION unsigned tiny_store_(float x, int m, int e, int bias, int special, float max,
                                          int saturate) {
  unsigned sign = bits_of_(x) >> 31 << (m + e), nan = special == 2 ? 0x80u : special == 3 ? 0x8u : sign | 0x7f;
  float a = fabsf(x), rounded = a;
  int exponent;
  if (x != x) return nan;
  if (a - a == 0) { /* finite */
    (void)frexpf(a, &exponent);
    exponent = exponent - 1 < 1 - bias ? 1 - bias : exponent - 1;
    rounded = ldexpf(f32_round_(ldexpf(a, m - exponent)), exponent - m);
  }
  if (rounded > max && !saturate && special != 3) return special == 0 ? sign | ((1u << e) - 1) << m : nan;
  if (rounded > max) rounded = max;
  (void)frexpf(rounded, &exponent);
  exponent = rounded < ldexpf(1, 1 - bias) ? 1 - bias : exponent - 1;
  unsigned mantissa = (unsigned)ldexpf(rounded, m - exponent);
  unsigned code = mantissa >> m ? ((unsigned)(exponent + bias - 1) << m) + mantissa : mantissa;
  return special == 2 && !code ? 0 : sign | code;
}
#define f8e4m3fn_load_(x) tiny_load_(x, 3, 4, 7, 1)
#define f8e4m3fnuz_load_(x) tiny_load_(x, 3, 4, 8, 2)
#define f8e5m2_load_(x) tiny_load_(x, 2, 5, 15, 0)
#define f8e5m2fnuz_load_(x) tiny_load_(x, 2, 5, 16, 2)
#define f4e2m1_load_(x) tiny_load_(x, 1, 2, 1, 3)
#define f8e4m3fn_store_(x, saturate, mode) (uint8_t)tiny_store_(x, 3, 4, 7, 1, 448, saturate)
#define f8e4m3fnuz_store_(x, saturate, mode) (uint8_t)tiny_store_(x, 3, 4, 8, 2, 240, saturate)
#define f8e5m2_store_(x, saturate, mode) (uint8_t)tiny_store_(x, 2, 5, 15, 0, 57344, saturate)
#define f8e5m2fnuz_store_(x, saturate, mode) (uint8_t)tiny_store_(x, 2, 5, 16, 2, 57344, saturate)
#define f4e2m1_store_(x, saturate, mode) (uint8_t)tiny_store_(x, 1, 2, 1, 3, 6, saturate)
/* Powers of two only; mode 0 up, 1 down, 2 to the nearest. */
HONE_SCALAR_FUNCTION float f8e8m0_load_(uint8_t x) { return x == 255 ? NAN : ldexpf(1, x - 127); }
HONE_SCALAR_FUNCTION uint8_t f8e8m0_store_(float x, int saturate, int mode) {
  int exponent;
  if (x != x || x < 0 || (x - x != 0 && !saturate)) return 255;
  if (x - x != 0) return 254;
  if (x == 0) return 0;
  float fraction = 2 * frexpf(x, &exponent);
  exponent += 126 + (mode == 0 ? fraction > 1 : mode == 2 ? fraction >= 1.5f : 0);
  return exponent > 254 ? (saturate ? 254 : 255) : exponent < 0 ? 0 : (uint8_t)exponent;
}
/* Elements of 4 and 2 bits, low bits first; stored in ascending order. */
HONE_SCALAR_FUNCTION unsigned packed_load_(const uint8_t *p, long i, int bits) {
  int each = 8 / bits;
  return (unsigned)p[i / each] >> (i % each * bits) & ((1u << bits) - 1);
}
HONE_SCALAR_FUNCTION void packed_store_(uint8_t *p, long i, int bits, unsigned x) {
  int each = 8 / bits, shift = (int)(i % each) * bits;
  p[i / each] = (uint8_t)((shift ? p[i / each] : 0) | (x & ((1u << bits) - 1)) << shift);
}
#define signed_(x, bits) ((int8_t)((x) >> ((bits) - 1) ? (int)(x) - (1 << (bits)) : (int)(x)))
