/* Rows of kernels.def for other types than f32, for each instruction set that this machine runs:
 * int8 against exact sums in int64, bf16 against double. Operands end at guard pages, so that reads
 * past the end of k are detected. Any split of the work items gives the same bits, and elements
 * outside the output do not change. */

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>

#include "compiler/kernels/reference.h"
#include "guarded.h"
#include "kernel_snippet.h"
#include "scratch.h"
#include "core/machine/machine.h"

#define GEMM(types, m, n, k, a_row, c_row)                                          \
  "gemm " types " m" #m " n" #n " k" #k " batch01 batch11 a_row" #a_row " b_row" #n \
  " b_column1"                                                                      \
  " b_batches1 c_row" #c_row
#define GEMM_TURNED(types, m, n, k)                                                       \
  "gemm " types " m" #m " n" #n " k" #k " batch01 batch11 a_row" #k " b_row1 b_column" #k \
  " b_batches1 c_row" #n
#define IMAGE(types, i, ic, o, oc, k, s)                                                           \
  types " images2 ih" #i " iw" #i " ic" #ic " oh" #o " ow" #o " oc" #oc " kh" #k " kw" #k " sh" #s \
        " sw" #s " dh1 dw1"

static const char *const lines[] = {
    GEMM("u8*i8:i32:i32", 1, 1, 1, 1, 1),
    GEMM("u8*i8:i32:i32", 5, 33, 3, 3, 33),
    GEMM("u8*i8:i32:i32", 17, 70, 130, 131, 75),
    GEMM("i8*i8:i32:i32", 8, 16, 64, 64, 16),
    GEMM("i8*i8:i32:f32", 13, 19, 66, 67, 19),
    GEMM("u8*i8:i32:u8", 30, 100, 255, 255, 100),
    GEMM("i8*i8:i32:i8", 3, 47, 257, 257, 48),
    GEMM("u8*i8:i32:f32", 200, 64, 512, 512, 64),
    "gemm u8*i8:i32:f32 m3 n20 k10 batch02 batch13 a_row10 a_batch090 a_batch130 b_row1 b_column10 "
    "b_batches1 c_row20 c_batch0180 c_batch160",
    "conv " IMAGE("u8*i8:i32:i32", 9, 3, 7, 17, 3,
                  1) " groups1 i_image243 i_row27 i_pixel3 o_image833 o_row119 o_pixel17",
    "conv " IMAGE("i8*i8:i32:u8", 10, 32, 4, 40, 3,
                  2) " groups1 i_image3200 i_row320 i_pixel32 o_image640 o_row160 o_pixel40",
    "conv " IMAGE("u8*i8:i32:f32", 6, 10, 6, 14, 1,
                  1) " groups2 i_image396 i_row66 i_pixel11 o_image504 o_row84 o_pixel14",
    "depthwise " IMAGE(
        "u8*i8:f32:u8", 8, 19, 8, 19, 3,
        1) " pt1 pl1 a_zero7 i_image1216 i_row152 i_pixel19 o_image1216 o_row152 o_pixel19",
    "depthwise " IMAGE(
        "i8*i8:f32:i32", 9, 33, 5, 33, 5,
        2) " pt2 pl2 a_zero-9 i_image2673 i_row297 i_pixel33 o_image825 o_row165 o_pixel33",
    "depthwise " IMAGE("i8*i8:f32:i8", 7, 16, 7, 16, 3,
                       1) " pt1 pl1 i_image784 i_row112 i_pixel16 o_image784 o_row112 o_pixel16",
    "depthwise " IMAGE("u8*u8:f32:i32", 9, 21, 9, 21, 3, 1) " pt1 pl1 a_zero128 b_zero114 i_image1701 "
                                                             "i_row189 i_pixel21 o_image1701 "
                                                             "o_row189 o_pixel21",
    "depthwise " IMAGE(
        "u8*i8:i32:u8", 8, 19, 8, 19, 3,
        1) " pt1 pl1 a_zero7 i_image1216 i_row152 i_pixel19 o_image1216 o_row152 o_pixel19",
    "depthwise " IMAGE(
        "i8*i8:i32:i32", 9, 33, 5, 33, 5,
        2) " pt2 pl2 a_zero-9 i_image2673 i_row297 i_pixel33 o_image825 o_row165 o_pixel33",
    "depthwise " IMAGE("i8*i8:i32:i8", 30, 16, 30, 16, 3, 1) " pt1 pl1 i_image14400 i_row480 i_pixel16 "
                                                             "o_image14400 o_row480 o_pixel16",
    "depthwise u8*i8:i32:f32 images1 ih9 iw20 ic40 oh5 ow15 oc40 kh4 kw3 sh1 sw1 dh2 dw2 pt1 pl0 "
    "a_zero200 i_image7200 i_row800 i_pixel40 o_image3000 o_row600 o_pixel40",
    "depthwise i8*i8:i32:i8 images1 ih11 iw31 ic24 oh4 ow11 oc24 kh7 kw2 sh3 sw3 dh1 dw1 pt3 pl1 "
    "a_zero-128 i_image8184 i_row744 i_pixel24 o_image1056 o_row264 o_pixel24",
    "pool u8 images2 ih9 iw9 ic83 oh5 ow5 kh3 kw3 sh2 sw2 dh1 dw1 pt1 pl1 i_image6723 i_row747 "
    "i_pixel83 o_image2075 o_row415 o_pixel83",
    "pool i8 images1 ih7 iw8 ic131 oh6 ow7 kh2 kw2 sh1 sw1 dh1 dw1 i_image7336 i_row1048 i_pixel131 "
    "o_image5502 o_row917 o_pixel131",
    GEMM("f32*i4:f32:f32", 1, 200, 96, 96, 200) " block32",
    GEMM("f32*u4:f32:f32", 5, 33, 75, 80, 35) " block16 b_zeros1",
    GEMM("f32*i8:f32:f32", 3, 70, 65, 65, 70) " block65",
    GEMM("f32*u8:f32:f32", 16, 47, 64, 64, 47) " block16 b_zeros1",
    GEMM("f32*i8:f32:f32", 2, 70, 600, 601, 70) " block600",
    GEMM("f32*u4:f32:f32", 1, 130, 1024, 1024, 130) " block512 b_zeros1",
    GEMM("f32*i4:f32:f32", 7, 40, 301, 304, 41) " block301",
    GEMM("f32*i8:f32:f32", 4, 20, 774, 774, 20) " block387",
    GEMM("f32*i4:f32:f32", 33, 70, 96, 97, 70) " block32 b_halves1 a_digits2",
    GEMM("f32*u8:f32:f32", 1, 130, 600, 600, 130) " block600 b_zeros1 b_halves1 a_digits2",
    GEMM("f32*i8:f32:f32", 18, 40, 100, 100, 40) " block16 b_zeros2 a_digits2",
    GEMM("f32*u4:f32:f32", 17, 40, 96, 97, 40) " block32 b_zeros2 b_halves1 a_digits2",
    GEMM("f32*i4:f32:f32", 33, 40, 75, 80, 40) " block32 b_halves1 a_digits2 a_split1",
    GEMM("f32*i8:f32:f32", 18, 40, 100, 100, 40) " block16 b_zeros2 a_digits2 a_split1",
    GEMM("f32*u4:f32:f32", 35, 70, 192, 192, 70) " block64 b_zeros2 b_halves1 a_digits2 a_split1",
    GEMM("f32*u4:f32:f32", 3, 40, 96, 97, 40) " block32 b_zeros1 a_split1",
    GEMM("f32*u4:f32:f32", 1, 130, 600, 600, 130) " block300 b_zeros2",
    GEMM("f32*u4:f32:f32", 2, 40, 301, 304, 41) " block301 b_zeros1 a_digits2",
    GEMM("f32*i8:f32:f32", 1, 130, 96, 96, 130) " block32 b_halves1 b_used_bits5 a_digits2",
    GEMM("f32*i8:f32:f32", 35, 70, 75, 80, 70) " block16 b_halves1 b_used_bits6 a_digits2 a_split1",
    GEMM("f32*u8:f32:f32", 18, 40, 160, 160, 40) " block40 b_zeros2 b_used_bits5 a_digits2 a_split1",
    GEMM("f32*u8:f32:f32", 33, 40, 301, 304, 41) " block301 b_zeros1 b_used_bits6",
    GEMM("f32*i8:f32:f32", 5, 200, 600, 600, 200) " block300 b_zeros2 b_used_bits5",
    GEMM("f32*i8:f32:f32", 17, 40, 192, 192, 40) " block64 b_used_bits6 a_digits2",
    GEMM("f32*u4:f32:f32", 1, 130, 512, 512, 130) " block32 b_zeros2 b_halves2 b_run8 a_digits2",
    GEMM("f32*i8:f32:f32", 35, 40, 256, 256, 40) " block16 b_halves2 b_run16 b_used_bits6 a_digits2",
    GEMM("f32*u8:f32:f32", 18, 40, 256, 256, 40) " block32 b_zeros2 b_halves2 b_run4 b_used_bits5 a_digits2 a_split1",
    GEMM("f32*i8:f32:f32", 3, 70, 192, 192, 70) " block16 b_halves2 b_run3",
    GEMM_TURNED("f32*i4:f32:f32", 1, 130, 96) " block32 b_halves1 a_digits2",
    GEMM_TURNED("f32*u4:f32:f32", 18, 40, 75) " block16 b_zeros1",
    GEMM_TURNED("f32*u4:f32:f32", 5, 40, 512) " block32 b_zeros2 b_halves2 b_run8 a_digits2 a_split1",
    GEMM_TURNED("f32*i8:f32:f32", 35, 70, 100) " block20 b_used_bits5 a_digits2 a_split1",
    GEMM("f32*f16:f32:f32", 1, 70, 33, 33, 70),
    GEMM("f32*f16:f32:f32", 1, 1, 1, 1, 1),
    GEMM("f32*bf16:f32:f32", 1, 130, 257, 257, 130),
    GEMM("f32*f16:f32:f32", 5, 33, 75, 80, 35),
    GEMM("f32*bf16:f32:f32", 17, 70, 131, 132, 75),
    GEMM("f32*f16:f32:f32", 65, 96, 1031, 1031, 99),
    "gemm f32*f16:f32:f32 m20 n23 k33 batch01 batch13 a_row33 a_batch1660 b_row1 b_column33 "
    "b_batch1759 b_batches3 c_row23 c_batch1460",
    "conv " IMAGE("f32*f16:f32:f32", 18, 16, 16, 33, 3,
                  1) " groups1 i_image5184 i_row288 i_pixel16 o_image8448 o_row528 o_pixel33",
    "conv " IMAGE("f32*bf16:f32:f32", 7, 12, 7, 34, 1,
                  1) " groups2 i_image588 i_row84 i_pixel12 o_image1666 o_row238 o_pixel34",
    GEMM("f32*f32:f32:f16", 1, 70, 33, 33, 70),
    GEMM("f32*f32:f32:bf16", 5, 33, 75, 80, 35),
    GEMM("f32*f32:f32:f16", 33, 47, 300, 300, 48),
    GEMM("f32*f16:f32:f16", 1, 131, 64, 64, 131),
    GEMM("f32*bf16:f32:f16", 17, 70, 131, 132, 75),
    GEMM("f32*f32:f32:f16", 40, 33, 9000, 9000, 33), /* an f32 c would hold parts of such sums */
    "conv " IMAGE("f32*f32:f32:f16", 7, 12, 7, 34, 1,
                  1) " groups2 i_image588 i_row84 i_pixel12 o_image1666 o_row238 o_pixel34",
    GEMM("bf16*bf16:f32:f16", 33, 17, 64, 64, 17),
    GEMM("bf16*bf16:f32:f32", 5, 33, 3, 3, 33),
    GEMM("bf16*bf16:f32:f32", 17, 70, 131, 132, 75),
    GEMM("bf16*bf16:f32:bf16", 64, 64, 256, 256, 64),
    GEMM("bf16*bf16:f32:f32", 1, 16, 32, 32, 16),
    GEMM("bf16*bf16:f32:bf16", 33, 17, 64, 64, 17),
    GEMM("bf16*bf16:f32:f32", 49, 48, 97, 100, 48),
    GEMM("bf16*bf16:f32:bf16", 65, 96, 31, 31, 99),
    "gemm bf16*bf16:f32:f32 m20 n23 k33 batch01 batch13 a_row33 a_batch1660 b_row1 b_column33 "
    "b_batch1759 b_batches3 c_row23 c_batch1460",
    "gemm bf16*bf16:f32:bf16 m9 n40 k19 batch02 batch12 a_row19 a_batch0342 a_batch1171 b_row40 "
    "b_column1 b_batch01520 b_batch1760 b_batches4 c_row40 c_batch0720 c_batch1360",
    "conv " IMAGE("bf16*bf16:f32:bf16", 18, 16, 16, 33, 3,
                  1) " groups1 i_image5184 i_row288 i_pixel16 o_image8448 o_row528 o_pixel33",
    "conv " IMAGE("bf16*bf16:f32:bf16", 18, 24, 16, 1, 3,
                  1) " groups1 i_image7776 i_row432 i_pixel24 o_image256 o_row16 o_pixel1",
    "conv " IMAGE("bf16*bf16:f32:f32", 15, 21, 13, 2, 3,
                  1) " groups1 i_image4725 i_row315 i_pixel21 o_image390 o_row30 o_pixel2",
    "conv " IMAGE("bf16*bf16:f32:f32", 15, 24, 13, 40, 3,
                  1) " groups1 i_image5400 i_row360 i_pixel24 o_image6760 o_row520 o_pixel40",
    "conv " IMAGE("bf16*bf16:f32:f32", 16, 130, 14, 80, 3,
                  1) " groups1 i_image33280 i_row2080 i_pixel130 o_image15680 o_row1120 o_pixel80",
    "conv " IMAGE("bf16*bf16:f32:bf16", 15, 256, 13, 70, 3,
                  1) " groups1 i_image57600 i_row3840 i_pixel256 o_image11830 o_row910 o_pixel70",
    "conv " IMAGE("bf16*bf16:f32:f32", 7, 12, 7, 34, 1,
                  1) " groups2 i_image588 i_row84 i_pixel12 o_image1666 o_row238 o_pixel34",
    "conv " IMAGE("bf16*bf16:f32:f32", 9, 3, 7, 17, 3,
                  1) " groups1 i_image243 i_row27 i_pixel3 o_image833 o_row119 o_pixel17",
    "conv " IMAGE("bf16*bf16:f32:bf16", 10, 32, 4, 40, 3,
                  2) " groups1 i_image3200 i_row320 i_pixel32 o_image640 o_row160 o_pixel40",
};
enum { LINES = sizeof lines / sizeof lines[0] };

#define fail_with(...) (print_error(__VA_ARGS__), print_error("\n"), _fail(__FILE__, __LINE__))

static double weight(const struct problem *p, const char *b, int64_t i) {
  return p->block ? scaled_weight(p, b, i) : element_at(b, p->types.b, i) - (double)p->b_zero;
}

/* Bytes of all values, the ends more often; bf16 and floats between -1 and 1. */
static void fill(char *at, uint8_t type, int64_t count, uint32_t x) {
  for (int64_t i = 0; i < count; i++) {
    x = x * 1664525u + 1013904223u;
    float real = (float)(int32_t)x * 0x1p-31f;
    uint16_t half = type == TYPE_F16 ? f32_to_f16(real) : f32_to_bf16(real);
    if (element_bytes(type) == 2)
      memcpy(at + 2 * i, &half, 2);
    else if (type == TYPE_F32)
      memcpy(at + 4 * i, &real, 4);
    else
      at[i] = (char)(x >> 24 < 24 ? (x & 256 ? 0x7f : 0x80) : x >> 16);
  }
}

/* The sum that output element o is, and the sum of magnitudes; false where there is none. */
struct sums {
  double *value, *size;
  bool *there;
  bool *read; /* elements of a that any sum takes */
};
struct operands {
  const struct problem *p;
  const char *a, *b;
  double added, outside; /* to an element of a; in place of one outside the image */
};

static void add_product(struct sums *s, const struct operands *x, int64_t o, double a, int64_t b) {
  double t = a * weight(x->p, x->b, b);
  s->value[o] += t;
  s->size[o] += fabs(t);
}

static void add_sum(struct sums *s, const struct operands *x, int64_t o, int64_t a, int64_t b) {
  s->read[a] = true;
  add_product(s, x, o, element_at(x->a, x->p->types.a, a) + x->added, b);
}

static void sum_gemm(const struct operands *x, struct sums *s) {
  const struct problem *p = x->p;
  for (int64_t i0 = 0; i0 < one(p->batch0); i0++)
    for (int64_t i1 = 0; i1 < one(p->batch1); i1++)
      for (int64_t m = 0; m < p->m; m++)
        for (int64_t n = 0; n < p->n; n++) {
          int64_t o = i0 * p->c_batch0 + i1 * p->c_batch1 + m * p->c_row + n;
          int64_t a = i0 * p->a_batch0 + i1 * p->a_batch1 + m * p->a_row;
          int64_t b = i0 * p->b_batch0 + i1 * p->b_batch1 + n * p->b_column;
          s->there[o] = true;
          for (int64_t k = 0; k < p->k; k++) add_sum(s, x, o, a + k, b + k * p->b_row);
        }
}

static void sum_pixel(const struct operands *x, int64_t image, int64_t y, int64_t column, int64_t n,
                      struct sums *s) {
  const struct problem *p = x->p;
  int64_t groups = p->kind == PROBLEM_depthwise ? p->ic : one(p->groups);
  int64_t ic = p->ic / groups, oc = p->oc / groups;
  int64_t o = image * p->o_image + y * p->o_row + column * p->o_pixel + n;
  s->there[o] = true;
  for (int64_t ky = 0; ky < p->kh; ky++)
    for (int64_t kx = 0; kx < p->kw; kx++) {
      int64_t iy = y * p->sh + ky * p->dh - p->pt, ix = column * p->sw + kx * p->dw - p->pl;
      bool is_outside = iy < 0 || iy >= p->ih || ix < 0 || ix >= p->iw;
      for (int64_t i = 0; i < ic; i++) {
        int64_t b = ((n * ic + i) * p->kh + ky) * p->kw + kx;
        if (is_outside)
          add_product(s, x, o, x->outside, b);
        else
          add_sum(s, x, o, image * p->i_image + iy * p->i_row + ix * p->i_pixel + n / oc * ic + i,
                  b);
      }
    }
}

/* The largest of a window, by the same numbers. */
static void most_of_all(const struct operands *x, struct sums *s) {
  const struct problem *p = x->p;
  for (int64_t i = 0; i < one(p->images) * p->oh * p->ow * p->ic; i++) {
    int64_t n = i % p->ic, column = i / p->ic % p->ow, y = i / p->ic / p->ow % p->oh;
    int64_t image = i / p->ic / p->ow / p->oh;
    int64_t o = image * p->o_image + y * p->o_row + column * p->o_pixel + n;
    s->there[o] = true;
    s->value[o] = -INFINITY;
    for (int64_t k = 0; k < p->kh * p->kw; k++) {
      int64_t iy = y * p->sh + k / p->kw * p->dh - p->pt;
      int64_t ix = column * p->sw + k % p->kw * p->dw - p->pl;
      if (iy < 0 || iy >= p->ih || ix < 0 || ix >= p->iw) continue;
      int64_t at = image * p->i_image + iy * p->i_row + ix * p->i_pixel + n;
      s->read[at] = true;
      s->value[o] = fmax(s->value[o], element_at(x->a, p->types.a, at));
    }
  }
}

static void sum_all(const struct operands *x, struct sums *s) {
  if (x->p->kind == PROBLEM_gemm) {
    sum_gemm(x, s);
    return;
  }
  if (x->p->kind == PROBLEM_pool) {
    most_of_all(x, s);
    return;
  }
  for (int64_t image = 0; image < one(x->p->images); image++)
    for (int64_t y = 0; y < x->p->oh; y++)
      for (int64_t column = 0; column < x->p->ow; column++)
        for (int64_t n = 0; n < x->p->oc; n++) sum_pixel(x, image, y, column, n, s);
}

/* To bytes: 2^-12 of the sum, rounded, inside the type. Other results are stored as they come. */
static const char *epilogue_of(const struct problem *p) {
  bool is_byte = p->types.c == TYPE_U8 || p->types.c == TYPE_I8;
  if (p->kind == PROBLEM_pool || !is_byte) return NULL;
  return p->types.acc == TYPE_I32 ? "nearest_(floats_(x) * splat_(0x1p-12f))"
                                  : "nearest_((x) * splat_(0x1p-12f))";
}

/* The stored value for a sum; the kernel sums a signed `a` as a + 128. */
static double stored(const struct problem *p, double sum) {
  double low = p->types.c == TYPE_U8 ? 0 : -128;
  if (p->kind == PROBLEM_pool || (p->types.c != TYPE_U8 && p->types.c != TYPE_I8)) return sum;
  return fmin(fmax(rint(sum * 0x1p-12), low), low + 255);
}

static void compare(const struct isa *isa, const char *line, const struct problem *p,
                    const struct sums *s, const char *c, int64_t count) {
  static const unsigned char untouched[4] = {0xa5, 0xa5, 0xa5, 0xa5};
  size_t size = element_bytes(p->types.c);
  for (int64_t o = 0; o < count; o++) {
    if (!s->there[o]) {
      if (memcmp(c + (size_t)o * size, untouched, size))
        fail_with("%s: %s: wrote outside at %lld", isa->name, line, (long long)o);
      continue;
    }
    double got = element_at(c, p->types.c, o), want = stored(p, s->value[o]), bound = 0;
    /* a_digits: a is in 16 bits, of the largest element in a block */
    if (p->types.a == TYPE_F32) bound = s->size[o] * (p->a_digits ? 0x1p-15 : 0x1p-20) + 1e-30;
    if (p->types.a == TYPE_BF16) bound = s->size[o] * 0x1p-18 + 1e-30;
    if (p->types.c == TYPE_BF16) bound += fabs(want) * 0x1p-8;
    if (p->types.c == TYPE_F16) bound += fabs(want) * 0x1p-10 + 0x1p-24;
    if (!(fabs(got - want) <= bound))
      fail_with("%s: %s: element %lld is %.9g, expected %.9g", isa->name, line, (long long)o, got,
                want);
  }
}

struct job {
  struct problem p;
  struct choice choice;
};

/* All units in uneven pieces, then in one: the same bytes. */
static void run_splits(kernel_function *run, int64_t units, const char *a, const char *b, char *c,
                       size_t bytes, void *scratch) {
  char *first = malloc(bytes);
  assert_non_null(first);
  memset(c, 0xa5, bytes);
  for (int64_t begin = 0, step = 1; begin < units; begin += step++)
    run(a, b, c, NULL, scratch, begin, begin + step < units ? begin + step : units);
  memcpy(first, c, bytes);
  memset(c, 0xa5, bytes);
  run(a, b, c, NULL, scratch, 0, units);
  assert_memory_equal(first, c, bytes);
  free(first);
}

/* Elements that no sum uses, between rows and around images, become NaN, or other int8 values. A
   kernel that reads them gives NaN, even if it multiplies them by the zero padding of packed
   weights. An int8 kernel may multiply them by zero. */
static void spoil(uint8_t type, char *a, const bool *read, int64_t count) {
  const uint16_t half = 0x7fc0;
  const float real = NAN;
  for (int64_t i = 0; i < count; i++) {
    if (read[i]) continue;
    if (type == TYPE_BF16)
      memcpy(a + 2 * i, &half, 2);
    else if (type == TYPE_F32)
      memcpy(a + 4 * i, &real, 4);
    else
      a[i] = (char)~a[i];
  }
}

/* Winograd's error is that of its tile: everywhere that of the largest sum, multiplied by `times`
   where the operands are rounded. */
static void spread_sizes(struct sums *s, int64_t count, double times) {
  double most = 0;
  for (int64_t o = 0; o < count; o++) most = fmax(most, s->size[o]);
  for (int64_t o = 0; o < count; o++) s->size[o] = most * times;
}

/* Small weights: a times 2^100 gives the sums times 2^100, and what is not finite in a row counts in all sums of that row
   and in no other. */
static void check_extremes(const struct isa *isa, const char *line, const struct problem *p,
                           kernel_function *run, int64_t units, char *a, const char *b,
                           const char *c, size_t bytes, void *scratch) {
  char *again = malloc(bytes);
  assert_non_null(again);
  for (int64_t i = 0; i < p->m * p->a_row - (p->a_row - p->k); i++) {
    const float x = (float)(element_at(a, TYPE_F32, i) * 0x1p100);
    memcpy(a + 4 * i, &x, 4);
  }
  for (int turn = 0; turn < 2; turn++) {
    const float odd = INFINITY;
    if (turn) memcpy(a + 4 * (p->k / 2), &odd, 4);
    run(a, b, again, NULL, scratch, 0, units);
    for (int64_t m = 0; m < p->m; m++)
      for (int64_t n = 0; n < p->n; n++) {
        const double got = element_at(again, TYPE_F32, m * p->c_row + n);
        const bool is_lost = turn && !m;
        if (is_lost ? isfinite(got) : got != element_at(c, TYPE_F32, m * p->c_row + n) * 0x1p100)
          fail_with("%s: %s: extremes %d: element %lld,%lld is %.9g", isa->name, line, turn,
                    (long long)m, (long long)n, got);
      }
  }
  free(again);
}

static void run_job(const struct isa *isa, void *library, int index, const struct job *job) {
  const struct problem *p = &job->p;
  const struct kernel *kernel = job->choice.kernel;
  struct operand_counts n = problem_counts(p);
  char name[32];
  snprintf(name, sizeof name, "run_%d", index);
  kernel_function *run = (kernel_function *)dlsym(library, name);
  assert_non_null(run);
  size_t packed_bytes =
      kernel->packed_bytes ? kernel->packed_bytes(p, &isa->target, &job->choice) : 0;
  struct guarded a = guarded_create((size_t)n.a * element_bytes(p->types.a));
  struct guarded b = guarded_create(weights_bytes(p, n.b));
  struct guarded c = guarded_create((size_t)n.c * element_bytes(p->types.c));
  struct guarded packed = guarded_create(packed_bytes);
  struct guarded scratch = guarded_create(
      kernel->scratch_bytes ? kernel->scratch_bytes(p, &isa->target, &job->choice) : 0);
  fill(a.at, p->types.a, n.a, 1);
  if (p->block)
    fill(b.at, TYPE_U8, (int64_t)weights_bytes(p, n.b), 2), fill_scales(p, b.at);
  else
    fill(b.at, p->types.b, n.b, 2);
  if (kernel->pack) kernel->pack(p, &isa->target, &job->choice, b.at, packed.at);
  if (kernel->pack_source &&
      !(kernel->traits & SPLITS_A)) { /* the packing at run time gives the same bytes */
    struct guarded again = guarded_create(packed_bytes);
    snprintf(name, sizeof name, "pack_%d", index);
    pack_function *pack = (pack_function *)dlsym(library, name);
    assert_non_null(pack);
    memset(again.at, 0xa5, packed_bytes);
    pack(b.at, again.at, 0, kernel->pack_units(p, &isa->target, &job->choice));
    assert_memory_equal(again.at, packed.at, packed_bytes);
    guarded_destroy(&again);
  }
  struct sums s = {calloc((size_t)n.c, sizeof(double)), calloc((size_t)n.c, sizeof(double)),
                   calloc((size_t)n.c, sizeof(bool)), calloc((size_t)n.a, sizeof(bool))};
  assert_true(s.value && s.size && s.there && s.read);
  struct operands operands = {p, a.at, b.at, -(double)p->a_zero, 0};
  if (p->types.acc == TYPE_I32) { /* its zero point is taken off later */
    operands.added = p->types.a == TYPE_I8 ? kernel_signed_shift(kernel) : 0;
    operands.outside = (double)p->a_zero + operands.added;
  }
  sum_all(&operands, &s);
  spoil(p->types.a, a.at, s.read, n.a);
  struct guarded split =
      guarded_create(p->a_split ? kernel_split_bytes(p, &isa->target, &job->choice) : 0);
  if (p->a_split) {
    snprintf(name, sizeof name, "pack_%d", index);
    pack_function *pack = (pack_function *)dlsym(library, name);
    assert_non_null(pack);
    pack(a.at, split.at, 0, kernel->pack_units(p, &isa->target, &job->choice));
  }
  run_splits(run, kernel->units(p, &isa->target, &job->choice), p->a_split ? split.at : a.at,
             packed.at, c.at, (size_t)n.c * element_bytes(p->types.c), scratch.at);
  if (strstr(kernel->name, "winograd"))
    spread_sizes(&s, n.c, choice_value(&job->choice, "halves", 0) ? 0x1p8 : 1);
  compare(isa, lines[index], p, &s, c.at, n.c);
  if (p->block && !p->a_split)
    check_extremes(isa, lines[index], p, run, kernel->units(p, &isa->target, &job->choice), a.at,
                   packed.at, c.at, (size_t)n.c * 4, scratch.at);
  free(s.value), free(s.size), free(s.there), free(s.read);
  struct guarded *all[] = {&a, &b, &c, &packed, &scratch, &split};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) guarded_destroy(all[i]);
}

/* The cheapest row's choice; of AMX rows only, where `amx`. False: none serves. */
static bool choose(const struct isa *isa, const struct problem *p, bool amx, struct choice *out) {
  if (!amx) return kernel_choose(p, &isa->target, out);
  for (size_t i = 0; i < kernel_count; i++)
    if (kernel_table[i].features & CPU_AMX_TILE && kernel_serves(&kernel_table[i], p, &isa->target))
      return kernel_choose_in(&kernel_table[i], p, &isa->target, out);
  return false;
}

/* Other processors sum them in floats. */
static bool needs_vbmi(const struct problem *p) {
  return p->kind == PROBLEM_depthwise && p->types.acc == TYPE_I32;
}

/* Few lines a library: a change of one kernel is compiled again with few others. */
enum { LINES_AT_ONCE = 16 };

/* Lines first to end - 1. before: C in front of the texts. Returns how many lines were run. */
static int check_some(const struct isa *isa, bool amx, const char *before, int first, int end) {
  struct ctx ctx;
  struct strbuf text = {0};
  static struct job jobs[LINES];
  int count = 0;
  ctx_init(&ctx);
  strbuf_puts(&text, before);
  snippet_begin(&text, isa);
  for (int i = first; i < end; i++) {
    if (!problem_parse(lines[i], &jobs[i].p)) fail_with("not a problem line: %s", lines[i]);
    if (!choose(isa, &jobs[i].p, amx, &jobs[i].choice)) {
      if (!amx && !needs_vbmi(&jobs[i].p)) fail_with("no kernel accepts: %s", lines[i]);
      jobs[i].choice.kernel = NULL;
      continue;
    }
    if (!(jobs[i].choice.kernel->traits & SPLITS_A)) jobs[i].p.a_split = 0;
    snippet_add(&text, isa, &jobs[i].p, &jobs[i].choice, i, epilogue_of(&jobs[i].p));
    count++;
  }
  char name[64], path[4300];
  snprintf(name, sizeof name, "%s-%d", isa->name, first);
  if (count && snippet_compile(&ctx, isa, folder, name, &text)) fail_with("%s", ctx.message);
  strbuf_deinit(&text);
  if (!count) return 0;
  snprintf(path, sizeof path, "%s/%s.so", folder, name);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) fail_with("%s", dlerror());
  for (int i = first; i < end; i++)
    if (jobs[i].choice.kernel) run_job(isa, library, i, &jobs[i]);
  dlclose(library);
  return count;
}

/* The libraries `from`, `from + by`, .. */
static int check_lines(const struct isa *isa, bool amx, const char *before, int from, int by) {
  int count = 0;
  for (int first = from * LINES_AT_ONCE; first < LINES; first += by * LINES_AT_ONCE)
    count += check_some(isa, amx, before, first,
                        first + LINES_AT_ONCE < LINES ? first + LINES_AT_ONCE : LINES);
  return count;
}

static bool is_full(void) { return getenv("HONE_TEST_FULL") != NULL; }

/* All lines at the widest instruction set; at narrower ones `make test` runs every third library. */
static void check_isa(int i) {
  const bool all = is_full() || i == widest_isa();
  if (!isa_runs_here(&isas[i])) skip();
  check_lines(&isas[i], false, "", all ? 0 : i % 3, all ? 1 : 3);
}

/* An instruction set and AMX. */
static struct isa with_amx(const struct isa *base, const char *name) {
  struct isa isa = *base;
  isa.name = name;
  isa.target.features |= CPU_AMX_TILE | CPU_AMX_INT8 | CPU_AMX_BF16;
  isa.target.bf16_macs = 512, isa.target.i8_macs = 1024;
  return isa;
}

/* The texts for AMX over tiles in C, at every vector width (`make test`: the widest): all that a processor without
   them can tell. */
static void test_amx_emulated(void **state) {
  char path[4096], before[4200];
  (void)state;
  assert_non_null(realpath("tests/unit/amx_emulation.h", path));
  snprintf(before, sizeof before, "#include \"%s\"\n", path);
  const int widest = widest_isa();
  for (int i = is_full() ? 0 : widest; i <= widest; i++) {
    if (!isa_runs_here(&isas[i])) continue;
    char name[64];
    snprintf(name, sizeof name, "amx-emulated-%s", isas[i].name);
    struct isa isa = with_amx(&isas[i], name);
    assert_true(check_lines(&isa, true, before, 0, 1) >= 20);
  }
}

static void test_amx(void **state) {
  (void)state;
  if (!(cpu_features() & CPU_AMX_BF16)) skip();
  struct isa isa = with_amx(&isas[3], "amx");
  int n = 0;
  while (isa.flags[n]) n++;
  isa.flags[n] = "-mamx-tile", isa.flags[n + 1] = "-mamx-bf16", isa.flags[n + 2] = "-mamx-int8";
  check_lines(&isa, true, "", 0, 1);
}

static void test_avxvnni(void **state) {
  struct isa isa = isas[1];
  int n = 0;
  (void)state;
  if (!(cpu_features() & CPU_AVX_VNNI)) skip();
  while (isa.flags[n]) n++;
  isa.name = "avxvnni", isa.flags[n] = "-mavxvnni";
  isa.target.features |= CPU_AVX_VNNI;
  check_lines(&isa, false, "", 0, 1);
}

/* Winograd multiplies bf16 where the processor does, deep enough, and floats elsewhere. */
static void test_winograd_halves(void **state) {
  (void)state;
  for (int k = 0; k < ISA_COUNT; k++) {
    int count = 0;
    for (int i = 0; i < LINES; i++) {
      struct problem p;
      struct choice choice;
      assert_true(problem_parse(lines[i], &p));
      if (p.types.a != TYPE_BF16 || !kernel_choose(&p, &isas[k].target, &choice)) continue;
      count += choice_value(&choice, "halves", 0) == 1;
    }
    assert_int_equal(count, isas[k].target.features & CPU_AVX512_BF16 ? 2 : 0);
  }
}

static void test_sse2(void **state) { (void)state, check_isa(0); }
static void test_avx2(void **state) { (void)state, check_isa(1); }
static void test_avx512(void **state) { (void)state, check_isa(2); }
static void test_avx512bf16(void **state) { (void)state, check_isa(3); }

/* Each row over other types has a line here, and lines print as they parse. Arm's rows are run by
   tests/compile/weight-bits.hg. */
static void test_rows_are_covered(void **state) {
  (void)state;
  for (size_t row = 0; row < kernel_count; row++) {
    int covered = kernel_table[row].types.b == 1 << TYPE_F32 ||
                  kernel_table[row].kind == PROBLEM_attention; /* tests/compile/cache-halves.hg */
    for (int i = 0; i < LINES; i++) {
      struct problem p, again;
      char out[512];
      assert_true(problem_parse(lines[i], &p));
      problem_print(out, sizeof out, &p);
      assert_true(problem_parse(out, &again));
      assert_memory_equal(&p, &again, sizeof p);
      for (int k = 0; k < ISA_COUNT; k++) {
        struct isa isa = with_amx(&isas[k], "");
        isa.target.features |= CPU_AVX_VNNI | CPU_DOTPROD | CPU_I8MM;
        covered += kernel_serves(&kernel_table[row], &p, &isa.target);
      }
    }
    if (!covered) fail_with("no problem for %s", kernel_table[row].name);
  }
}

/* Scales of a run of blocks as an f16 and integers; numbers that are none. */
static void test_factors(void **state) {
  static const struct {
    float x[4];
    bool is_product;
  } cases[] = {
      {{63 * 0.5f, -32 * 0.5f, 0, 7 * 0.5f}, true},
      {{-128 * 0x1p-24f, 127 * 0x1p-24f, 0x1p-24f, 0}, true},
      {{2047, 2047 * 3, 2047 * 5, -2047 * 100}, true},
      {{0, 0, 0, -0.0f}, true},
      {{NAN, 0, 0, 0}, false},
      {{1, NAN, 0, 0}, false},
      {{INFINITY, 1, 0, 0}, false},
      {{4097, 1, 0, 0}, false},
      {{0x1p-30f, 0, 0, 0}, false},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    int8_t bytes[4];
    float half;
    assert_int_equal(gemm_wq_factors(cases[i].x, 4, 1, &half, bytes), cases[i].is_product);
    for (int k = 0; cases[i].is_product && k < 4; k++)
      assert_true((float)bytes[k] * half == cases[i].x[k]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_winograd_halves),
                                     cmocka_unit_test(test_rows_are_covered),
                                     cmocka_unit_test(test_factors),
                                     cmocka_unit_test(test_sse2),
                                     cmocka_unit_test(test_avx2),
                                     cmocka_unit_test(test_avxvnni),
                                     cmocka_unit_test(test_avx512),
                                     cmocka_unit_test(test_avx512bf16),
                                     cmocka_unit_test(test_amx_emulated),
                                     cmocka_unit_test(test_amx)};
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
