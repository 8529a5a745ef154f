/* Element types: width, names, half-precision conversions (IEEE 754-2019, bfloat16). */
#include "base.h"

static const struct {
  hone_dtype dtype;
  const char *name;
  unsigned bits;
} dtypes[] = {
    {HONE_F32, "f32", 32}, {HONE_U8, "u8", 8},         {HONE_I8, "i8", 8},
    {HONE_U16, "u16", 16}, {HONE_I16, "i16", 16},      {HONE_I32, "i32", 32},
    {HONE_I64, "i64", 64}, {HONE_STRING, "string", 0}, {HONE_BOOL, "bool", 8},
    {HONE_F16, "f16", 16}, {HONE_F64, "f64", 64},      {HONE_U32, "u32", 32},
    {HONE_U64, "u64", 64}, {HONE_BF16, "bf16", 16},    {HONE_U4, "u4", 4},
    {HONE_I4, "i4", 4},
};

unsigned dtype_bits(hone_dtype dtype) {
  for (size_t i = 0; i < COUNT(dtypes); i++)
    if (dtypes[i].dtype == dtype) return dtypes[i].bits;
  return 0;
}

const char *dtype_name(hone_dtype dtype) {
  for (size_t i = 0; i < COUNT(dtypes); i++)
    if (dtypes[i].dtype == dtype) return dtypes[i].name;
  return "?";
}

hone_dtype dtype_parse(const char *name) {
  for (size_t i = 0; i < COUNT(dtypes); i++)
    if (!strcmp(dtypes[i].name, name)) return dtypes[i].dtype;
  return HONE_UNDEFINED;
}

bool dtype_is_float(hone_dtype dtype) {
  return dtype == HONE_F32 || dtype == HONE_F64 || dtype == HONE_F16 || dtype == HONE_BF16;
}

bool dtype_is_integer(hone_dtype dtype) {
  return dtype_bits(dtype) && !dtype_is_float(dtype) && dtype != HONE_BOOL;
}

static uint32_t bits_of(float x) {
  uint32_t bits;
  memcpy(&bits, &x, 4);
  return bits;
}
static float float_of(uint32_t bits) {
  float x;
  memcpy(&x, &bits, 4);
  return x;
}

float f16_to_f32(uint16_t half) {
  uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half >> 10 & 31,
           mantissa = half & 1023;
  if (exponent == 31) return float_of(sign | 0x7f800000u | mantissa << 13);
  if (exponent) return float_of(sign | (exponent + 112) << 23 | mantissa << 13);
  float x = (float)mantissa * 0x1p-24f; /* denormal: exact */
  return sign ? -x : x;
}

uint16_t f32_to_f16(float x) {
  uint32_t bits = bits_of(x), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return (uint16_t)(sign | 0x7e00); /* NaN */
  if (magnitude >= 0x477ff000) return (uint16_t)(sign | 0x7c00);
  if (magnitude < 0x38800000) { /* denormal half: let the FPU round to nearest even */
    float y = float_of(magnitude) + 0.5f;
    return (uint16_t)(sign | (bits_of(y) - 0x3f000000));
  }
  uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1) - (112u << 23);
  return (uint16_t)(sign | rounded >> 13);
}

float bf16_to_f32(uint16_t x) { return float_of((uint32_t)x << 16); }

uint16_t f32_to_bf16(float x) {
  uint32_t bits = bits_of(x);
  if ((bits & 0x7fffffff) > 0x7f800000) return (uint16_t)(bits >> 16 | 0x40);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
