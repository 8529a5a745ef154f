/* Dot products of the elements in four bytes: int8 with int32 sums, bf16 with float sums. One
 * instruction where the processor has it.
 */
/* The instruction is named, because gcc otherwise flips the sign of a group in a general
   register and needs three instructions to move it here. */
#if defined __AVX2__ && HONE_VECTOR_BYTES > 16
typedef struct __attribute__((may_alias)) {
  unsigned char x[4];
} group_;
#endif
#if HONE_VECTOR_BYTES == 64 && defined __AVX512F__
INLINE_ veci load_group_(const void *p) {
  veci x;
  __asm__("vpbroadcastd %1, %0" : "=v"(x) : "m"(*(const group_ *)p));
  return x;
}
#elif HONE_VECTOR_BYTES == 32 && defined __AVX2__
INLINE_ veci load_group_(const void *p) {
  veci x;
  __asm__("vpbroadcastd %1, %0" : "=x"(x) : "m"(*(const group_ *)p));
  return x;
}
#else
INLINE_ veci load_group_(const void *p) {
  int32_t x;
  memcpy(&x, p, 4);
  return (veci){0} + x;
}
#endif
/* The first n bytes, then zeros: nothing past the end of a row is read. */
INLINE_ veci load_part_(const void *p, const int n) {
  uint32_t x = 0;
  UNROLL for (int i = 0; i < n; i++) x |= (uint32_t)((const unsigned char *)p)[i] << 8 * i;
  return (veci){0} + (int32_t)x;
}

#if LANES == 1
INLINE_ veci load_panel_(const int32_t *p) { return *p; }
#else
INLINE_ veci load_panel_(const int32_t *p) { return *(const vecui32_ *)p; }
#endif
INLINE_ veci flip_(veci x) { return x ^ ((veci){0} + (int32_t)0x80808080u); }

/* acc + sums of four products of unsigned int8 of a and signed int8 of b. Without an instruction
   for it the elements are widened to 16 bits, whose products cannot overflow as those of
   vpmaddubsw can. */
#if LANES == 1 && defined __ARM_FEATURE_SIMD32 && defined __GNUC__ && !defined HONE_PORTABLE
/* Two 16-bit products per instruction; the 16-bit halves of a and b are shared by several sums. */
INLINE_ veci dot_bytes_(veci acc, veci a, veci b) {
  veci a0, a1, b0, b1;
  __asm__("uxtb16 %0, %1" : "=r"(a0) : "r"(a));
  __asm__("uxtb16 %0, %1, ror #8" : "=r"(a1) : "r"(a));
  __asm__("sxtb16 %0, %1" : "=r"(b0) : "r"(b));
  __asm__("sxtb16 %0, %1, ror #8" : "=r"(b1) : "r"(b));
  __asm__("smlad %0, %1, %2, %3" : "=r"(acc) : "r"(a0), "r"(b0), "r"(acc));
  __asm__("smlad %0, %1, %2, %3" : "=r"(acc) : "r"(a1), "r"(b1), "r"(acc));
  return acc;
}
#elif LANES == 1
INLINE_ veci dot_bytes_(veci acc, veci a, veci b) {
  const uint32_t x = (uint32_t)a, y = (uint32_t)b;
  acc += (veci)(x & 255) * (int8_t)(uint8_t)(y & 255);
  acc += (veci)(x >> 8 & 255) * (int8_t)(uint8_t)(y >> 8 & 255);
  acc += (veci)(x >> 16 & 255) * (int8_t)(uint8_t)(y >> 16 & 255);
  return acc + (veci)(x >> 24) * (int8_t)(uint8_t)(y >> 24);
}
#elif HONE_VECTOR_BYTES == 64 && defined __AVX512VNNI__
#define HAS_BYTE_DOT_ 1
INLINE_ veci dot_bytes_(veci acc, veci a, veci b) {
  __asm__("vpdpbusd %2, %1, %0" : "+v"(acc) : "v"(a), "v"(b));
  return acc;
}
#elif HONE_VECTOR_BYTES == 32 && defined __AVXVNNI__
#define HAS_BYTE_DOT_ 1
INLINE_ veci dot_bytes_(veci acc, veci a, veci b) {
  __asm__("%{vex%} vpdpbusd %2, %1, %0" : "+x"(acc) : "x"(a), "x"(b));
  return acc;
}
#elif HONE_VECTOR_BYTES == 16 && defined __ARM_FEATURE_MATMUL_INT8
#define HAS_BYTE_DOT_ 1
INLINE_ veci dot_bytes_(veci acc, veci a, veci b) {
  __asm__("usdot %0.4s, %1.16b, %2.16b" : "+w"(acc) : "w"(a), "w"(b));
  return acc;
}
#elif HONE_VECTOR_BYTES == 16 && defined __ARM_FEATURE_DOTPROD
/* There is no instruction for unsigned times signed int8: a = (a & 127) + 128 * (a >> 7). */
INLINE_ veci dot_bytes_(veci acc, veci a, veci b) {
  const veci low = a & ((veci){0} + 0x7f7f7f7f), high = (a >> 7) & ((veci){0} + 0x01010101);
  veci top = {0};
  __asm__("sdot %0.4s, %1.16b, %2.16b" : "+w"(top) : "w"(high), "w"(b));
  __asm__("sdot %0.4s, %1.16b, %2.16b" : "+w"(acc) : "w"(low), "w"(b));
  return acc + (top << 7);
}
#else
#if HONE_VECTOR_BYTES == 64 && defined __AVX512BW__
INLINE_ veci dot_words_(veci a, veci b) {
  veci x;
  __asm__("vpmaddwd %2, %1, %0" : "=v"(x) : "v"(a), "v"(b));
  return x;
}
#elif HONE_VECTOR_BYTES == 32 && defined __AVX2__
INLINE_ veci dot_words_(veci a, veci b) {
  veci x;
  __asm__("vpmaddwd %2, %1, %0" : "=x"(x) : "x"(a), "x"(b));
  return x;
}
#elif HONE_VECTOR_BYTES == 16 && defined __SSE2__
INLINE_ veci dot_words_(veci a, veci b) {
  __asm__("pmaddwd %1, %0" : "+x"(a) : "x"(b));
  return a;
}
#else
INLINE_ veci dot_words_(veci a, veci b) {
  return (a << 16 >> 16) * (b << 16 >> 16) + (a >> 16) * (b >> 16);
}
#endif
typedef int16_t vec16_ __attribute__((vector_size(HONE_VECTOR_BYTES)));
typedef uint16_t vecu16_ __attribute__((vector_size(HONE_VECTOR_BYTES)));
INLINE_ veci dot_bytes_(veci acc, veci a, veci b) {
  const veci low = (veci){0} + 0x00ff00ff;
  const vec16_ words = (vec16_)b;
  acc += dot_words_(a & low, (veci)(words << 8 >> 8));
  return acc + dot_words_((veci)((veci)(a >> 8) & low), (veci)(words >> 8));
}
#endif

#if HONE_VECTOR_BYTES == 64 && defined __AVX512VNNI__
/* dot_bytes_ with the four int8 at p in every lane, which the instruction reads itself. */
INLINE_ veci dot_bytes_at_(veci acc, veci a, const int8_t *p) {
  __asm__("vpdpbusd %2%{1to16%}, %1, %0" : "+v"(acc) : "v"(a), "m"(*(const group_ *)p));
  return acc;
}
#endif

/* Sums of four products as those of dot_bytes_, of elements of a below 64: where dot_bytes_ has no
   instruction, the products of SUMMED_IN_WORDS_ words of a below 16 fit in 16 bits, of half as many
   below 32 and of a quarter below 64, and are joined at the end. */
#if (HONE_VECTOR_BYTES == 32 && defined __AVX2__ && !defined __AVXVNNI__) || \
    (HONE_VECTOR_BYTES == 64 && defined __AVX512BW__ && !defined __AVX512VNNI__)
#define SUMMED_IN_WORDS_ 8
/* The second and the third of each four numbers swapped. */
INLINE_ veci middle_swapped_(veci x) {
  veci y;
#if HONE_VECTOR_BYTES == 64
  __asm__("vpshufd $0xd8, %1, %0" : "=v"(y) : "v"(x));
#else
  __asm__("vpshufd $0xd8, %1, %0" : "=x"(y) : "x"(x));
#endif
  return y;
}
typedef vec16_ nibble_sums_;
INLINE_ nibble_sums_ dot_nibbles_(nibble_sums_ acc, veci a, veci b) {
  vec16_ sums;
#if HONE_VECTOR_BYTES == 64
  __asm__("vpmaddubsw %2, %1, %0" : "=v"(sums) : "v"(a), "v"(b));
#else
  __asm__("vpmaddubsw %2, %1, %0" : "=x"(sums) : "x"(a), "x"(b));
#endif
  acc += sums;
  IN_REGISTER_(acc); /* in this order: sums that are added later would be spilled */
  return acc;
}
INLINE_ veci join_nibbles_(nibble_sums_ sums) {
  return dot_words_((veci)sums, splati_(0x00010001));
}
#else
typedef veci nibble_sums_;
INLINE_ nibble_sums_ dot_nibbles_(nibble_sums_ acc, veci a, veci b) {
  return dot_bytes_(acc, a, b);
}
INLINE_ veci join_nibbles_(nibble_sums_ sums) { return sums; }
#endif

/* acc + sums of two bf16 products. */
#if LANES == 1
INLINE_ vec dot_halves_(vec acc, veci a, veci b) {
  const uint32_t x = (uint32_t)a, y = (uint32_t)b;
  acc += lane_float_((veci)(x << 16)) * lane_float_((veci)(y << 16));
  return acc + lane_float_((veci)(x & 0xffff0000u)) * lane_float_((veci)(y & 0xffff0000u));
}
#elif HONE_VECTOR_BYTES == 64 && defined __AVX512BF16__
INLINE_ vec dot_halves_(vec acc, veci a, veci b) {
  __asm__("vdpbf16ps %2, %1, %0" : "+v"(acc) : "v"(a), "v"(b));
  return acc;
}
#elif HONE_VECTOR_BYTES == 16 && defined __ARM_FEATURE_BF16_VECTOR_ARITHMETIC
INLINE_ vec dot_halves_(vec acc, veci a, veci b) {
  __asm__("bfdot %0.4s, %1.8h, %2.8h" : "+w"(acc) : "w"(a), "w"(b));
  return acc;
}
#else
INLINE_ vec dot_halves_(vec acc, veci a, veci b) {
  const veci high = (veci){0} + (int32_t)0xffff0000u;
  acc += (vec)(a << 16) * (vec)(b << 16);
  return acc + (vec)(a & high) * (vec)(b & high);
}
#endif
