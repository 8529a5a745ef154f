/* Element types: width, names, conversions of the small floating-point types: IEEE 754-2019 half,
 * bfloat16, the 8-bit types of OCP OFP8 and their fnuz forms (Noune et al., arXiv 2206.02915), 4-bit
 * e2m1 and the exponent-only e8m0 of OCP MX 1.0. */
#include "base.h"

#include <math.h>

static const struct dtype_facts dtypes[] = {
#define DTYPE(id, name, bits, kind, c_type, numpy, onnx, stablehlo, tflite) \
  [HONE_##id] = {name, bits, DTYPE_##kind, c_type, numpy, onnx, stablehlo, tflite},
#include "dtypes.def"
#undef DTYPE
};

const struct dtype_facts *dtype_facts(hone_dtype dtype) {
  static const struct dtype_facts unknown = {"?", 0, DTYPE_NONE, NULL, NULL, NULL, NULL, -1};
  return (size_t)dtype < COUNT(dtypes) && dtypes[dtype].name ? &dtypes[dtype] : &unknown;
}

unsigned dtype_bits(hone_dtype dtype) { return dtype_facts(dtype)->bits; }
const char *dtype_name(hone_dtype dtype) { return dtype_facts(dtype)->name; }

hone_dtype dtype_parse(const char *name) {
  for (size_t i = 0; i < COUNT(dtypes); i++)
    if (dtypes[i].name && !strcmp(dtypes[i].name, name)) return (hone_dtype)i;
  return HONE_UNDEFINED;
}

hone_dtype dtype_of_number(int64_t number) {
  const bool is_known = number > 0 && number < DTYPE_COUNT && dtypes[number].name;
  return is_known ? (hone_dtype)number : HONE_UNDEFINED;
}

hone_dtype dtype_widened(hone_dtype dtype) {
  if (dtype_is_float(dtype) && dtype_bits(dtype) < 32) return HONE_F32;
  if (!dtype_is_integer(dtype) || dtype_bits(dtype) >= 8) return dtype;
  return dtype_is_signed(dtype) ? HONE_I8 : HONE_U8;
}

bool dtype_is_signed(hone_dtype dtype) { return dtype_facts(dtype)->kind == DTYPE_SIGNED; }
bool dtype_is_unsigned(hone_dtype dtype) { return dtype_facts(dtype)->kind == DTYPE_UNSIGNED; }

int64_t integer_edge(hone_dtype dtype, bool largest) {
  const unsigned bits = dtype_bits(dtype);
  if (dtype == HONE_BOOL) return largest;
  const int64_t most = bits == 64 ? INT64_MAX : ((int64_t)1 << (bits - 1)) - 1;
  if (dtype_is_unsigned(dtype)) return !largest ? 0 : bits == 64 ? -1 : 2 * most + 1;
  return largest ? most : -most - 1;
}

/* -- floats of at most 8 bits */

enum specials {
  IEEE,     /* infinities and NaNs use the last exponent */
  ONE_NAN,  /* all ones except the sign is NaN; no infinity */
  UNSIGNED, /* the code of minus zero is the only NaN; no infinity */
  FINITE    /* no infinity, no NaN */
};

static const struct tiny_float {
  hone_dtype dtype;
  int mantissa_bits, exponent_bits, bias;
  enum specials specials;
  double max;
} tiny_floats[] = {
    {HONE_F8E4M3FN, 3, 4, 7, ONE_NAN, 448}, {HONE_F8E4M3FNUZ, 3, 4, 8, UNSIGNED, 240},
    {HONE_F8E5M2, 2, 5, 15, IEEE, 57344},   {HONE_F8E5M2FNUZ, 2, 5, 16, UNSIGNED, 57344},
    {HONE_F4E2M1, 1, 2, 1, FINITE, 6},
};

static const struct tiny_float *find_tiny(hone_dtype dtype) {
  for (size_t i = 0; i < COUNT(tiny_floats); i++)
    if (tiny_floats[i].dtype == dtype) return &tiny_floats[i];
  return NULL;
}

bool dtype_is_tiny_float(hone_dtype dtype) { return dtype_facts(dtype)->kind == DTYPE_TINY; }

double tiny_to_f64(hone_dtype dtype, unsigned bits) {
  const struct tiny_float *t = find_tiny(dtype);
  if (!t) return bits == 255 ? (double)NAN : ldexp(1, (int)bits - 127); /* e8m0 */
  int m = t->mantissa_bits, mantissa = (int)(bits & ((1u << m) - 1));
  int last = (1 << t->exponent_bits) - 1, exponent = (int)(bits >> m) & last;
  double sign = bits >> (m + t->exponent_bits) & 1 ? -1 : 1;
  bool is_last = exponent == last;
  if (t->specials == IEEE && is_last) return mantissa ? (double)NAN : sign * (double)INFINITY;
  if (t->specials == ONE_NAN && is_last && mantissa == (1 << m) - 1) return (double)NAN;
  if (t->specials == UNSIGNED && bits == 0x80) return (double)NAN;
  if (!exponent) return sign * ldexp(mantissa, 1 - t->bias - m);
  return sign * ldexp(mantissa + (1 << m), exponent - t->bias - m);
}

static double half_to_even(double x) {
  double down = floor(x), rest = x - down;
  return rest > 0.5 || (rest == 0.5 && fmod(down, 2) != 0) ? down + 1 : down;
}

static unsigned e8m0_of(double x, enum tiny_rounding rounding, bool saturate) {
  if (isnan(x) || x < 0 || (isinf(x) && !saturate)) return 255;
  if (isinf(x)) return 254;
  if (x == 0) return 0;
  int exponent;
  double fraction = frexp(x, &exponent) * 2; /* x = fraction * 2^(exponent - 1), in [1, 2) */
  bool up = rounding == TINY_UP ? fraction > 1 : rounding == TINY_NEAREST && fraction >= 1.5;
  exponent += 126 + up;
  if (exponent > 254) return saturate ? 254 : 255;
  return exponent < 0 ? 0 : (unsigned)exponent;
}

static unsigned nan_of(const struct tiny_float *t, unsigned sign) {
  switch (t->specials) {
    case IEEE:
    case ONE_NAN:
      return sign | 0x7f;
    case UNSIGNED:
      return 0x80;
    default:
      return 0x8; /* the type has no NaN: minus zero, as in ONNX's reference */
  }
}

/* Code of a magnitude that the type can represent exactly. */
static unsigned tiny_code(double x, int mantissa_bits, int bias) {
  int exponent;
  (void)frexp(x, &exponent);
  exponent = x < ldexp(1, 1 - bias) ? 1 - bias : exponent - 1;
  unsigned mantissa = (unsigned)ldexp(x, mantissa_bits - exponent);
  bool is_normal = mantissa >> mantissa_bits;
  return is_normal ? ((unsigned)(exponent + bias - 1) << mantissa_bits) + mantissa : mantissa;
}

unsigned f64_to_tiny(hone_dtype dtype, double x, enum tiny_rounding rounding, bool saturate) {
  const struct tiny_float *t = find_tiny(dtype);
  if (!t) return e8m0_of(x, rounding, saturate);
  int m = t->mantissa_bits, exponent = 0;
  unsigned sign = signbit(x) ? 1u << (m + t->exponent_bits) : 0;
  double magnitude = fabs(x);
  if (isnan(x)) return nan_of(t, sign);
  double rounded = magnitude;
  if (!isinf(x)) {
    (void)frexp(magnitude, &exponent);
    exponent = exponent - 1 < 1 - t->bias ? 1 - t->bias : exponent - 1;
    rounded = ldexp(half_to_even(ldexp(magnitude, m - exponent)), exponent - m);
  }
  if (rounded > t->max) { /* infinity as well */
    unsigned largest = tiny_code(t->max, m, t->bias);
    if (saturate || t->specials == FINITE) return sign | largest;
    return t->specials == IEEE ? sign | (largest + 1) : nan_of(t, sign);
  }
  unsigned bits = tiny_code(rounded, m, t->bias);
  return t->specials == UNSIGNED && !bits ? 0 : sign | bits;
}

bool dtype_is_wide_float(hone_dtype dtype) { return dtype_facts(dtype)->kind == DTYPE_FLOAT; }

bool dtype_is_float(hone_dtype dtype) {
  return dtype_is_wide_float(dtype) || dtype_is_tiny_float(dtype);
}

bool dtype_is_integer(hone_dtype dtype) {
  return dtype_is_signed(dtype) || dtype_is_unsigned(dtype);
}

bool dtype_is_half(hone_dtype dtype) { return dtype == HONE_F16 || dtype == HONE_BF16; }
bool dtype_is_byte(hone_dtype dtype) { return dtype == HONE_U8 || dtype == HONE_I8; }

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
  if (exponent == 31) /* a NaN becomes quiet, as in hardware conversions */
    return float_of(sign | 0x7f800000u | mantissa << 13 | (mantissa ? 0x400000u : 0));
  if (exponent) return float_of(sign | (exponent + 112) << 23 | mantissa << 13);
  float x = (float)mantissa * 0x1p-24f; /* denormal: exact */
  return sign ? -x : x;
}

uint16_t f32_to_f16(float x) {
  uint32_t bits = bits_of(x), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) /* a NaN keeps the bits that fit */
    return (uint16_t)(sign | 0x7e00 | (magnitude >> 13 & 0x3ff));
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

double element_number(const void *data, hone_dtype dtype, size_t i) {
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
    case HONE_I16:
      return ((const int16_t *)data)[i];
    case HONE_I32:
      return ((const int32_t *)data)[i];
    case HONE_I64:
      return (double)((const int64_t *)data)[i];
    case HONE_U16:
      return ((const uint16_t *)data)[i];
    case HONE_U32:
      return ((const uint32_t *)data)[i];
    case HONE_U64:
      return (double)((const uint64_t *)data)[i];
    case HONE_BOOL:
      return ((const uint8_t *)data)[i] != 0;
    case HONE_STRING:
      return NAN;
    default:
      return ((const uint8_t *)data)[i];
  }
}

size_t tensor_elements(const hone_tensor *tensor) {
  size_t count = 1;
  for (int32_t i = 0; i < tensor->rank; i++) count *= (size_t)tensor->shape[i];
  return count;
}
