/* Operand sizes of problems, and the results that kernels must compute: simple loops in double.
 * Each output element has a value and an error bound; elements with a negative bound must not be
 * written.
 */
#ifndef HONE_KERNELS_REFERENCE_H
#define HONE_KERNELS_REFERENCE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "kernels.h"

struct operand_counts {
  int64_t a, b, c, columns; /* in elements; columns: of epilogue operands along the channels */
  int64_t v;                /* of attention */
};

/* Of an operand's element; 4-bit elements are packed and have none. */
static inline size_t element_bytes(uint8_t type) {
  switch (type) {
    case TYPE_U8:
    case TYPE_I8:
      return 1;
    case TYPE_F16:
    case TYPE_BF16:
      return 2;
    default:
      return 4;
  }
}

static inline double f16_value(uint16_t half) {
  const int exponent = half >> 10 & 31, mantissa = half & 1023;
  const double size = exponent == 31 ? (mantissa ? NAN : INFINITY)
                      : exponent     ? ldexp(1024 + mantissa, exponent - 25)
                                     : ldexp(mantissa, -24);
  return half & 0x8000 ? -size : size;
}

static inline double element_at(const void *operand, uint8_t type, int64_t i) {
  const char *at = (const char *)operand + (size_t)i * element_bytes(type);
  float real;
  int32_t word;
  uint32_t bits;
  uint16_t half;
  switch (type) {
    case TYPE_U8:
      return (double)*(const uint8_t *)at;
    case TYPE_I8:
      return (double)*(const int8_t *)at;
    case TYPE_BF16:
      memcpy(&half, at, 2);
      bits = (uint32_t)half << 16;
      memcpy(&real, &bits, 4);
      return (double)real;
    case TYPE_F16:
      memcpy(&half, at, 2);
      return f16_value(half);
    case TYPE_I32:
      memcpy(&word, at, 4);
      return (double)word;
    default:
      memcpy(&real, at, 4);
      return (double)real;
  }
}

static inline int64_t one(int64_t n) { return n > 1 ? n : 1; }

static inline struct operand_counts problem_counts(const struct problem *p) {
  struct operand_counts n = {0, 0, 0, 0, 0};
  switch (p->kind) {
    case PROBLEM_gemm:
    case PROBLEM_attention:
      n.a = (one(p->batch0) - 1) * p->a_batch0 + (one(p->batch1) - 1) * p->a_batch1 +
            (p->m - 1) * p->a_row + p->k;
      n.b = (one(p->batch0) - 1) * p->b_batch0 + (one(p->batch1) - 1) * p->b_batch1 +
            (p->k - 1) * p->b_row + (p->n - 1) * p->b_column + 1;
      n.c = (one(p->batch0) - 1) * p->c_batch0 + (one(p->batch1) - 1) * p->c_batch1 +
            (p->m - 1) * p->c_row;
      n.columns = p->kind == PROBLEM_gemm ? p->n : p->columns;
      n.c += n.columns;
      if (p->kind == PROBLEM_attention)
        n.v = (one(p->batch0) - 1) * p->v_batch0 + (one(p->batch1) - 1) * p->v_batch1 +
              (p->n - 1) * p->v_row + p->columns;
      return n;
    case PROBLEM_conv:
    case PROBLEM_depthwise:
    case PROBLEM_pool:
      n.columns = p->kind == PROBLEM_pool ? p->ic : p->oc;
      n.a = (one(p->images) - 1) * p->i_image + (p->ih - 1) * p->i_row + (p->iw - 1) * p->i_pixel +
            p->ic;
      n.c = (one(p->images) - 1) * p->o_image + (p->oh - 1) * p->o_row + (p->ow - 1) * p->o_pixel +
            n.columns;
      n.b = p->kind == PROBLEM_pool        ? 0
            : p->kind == PROBLEM_depthwise ? p->oc * p->kh * p->kw
                                           : p->oc * (p->ic / one(p->groups)) * p->kh * p->kw;
      return n;
    case PROBLEM_reduce:
      n.a = (p->rows - 1) * p->i_stride + (p->k - 1) * p->r_stride + p->columns;
      break;
    default:
      n.a = (p->rows - 1) * p->i_stride + p->columns;
      break;
  }
  n.b = p->has_scale ? p->columns : 0;
  n.c = (p->rows - 1) * p->o_stride + p->columns;
  n.columns = p->columns;
  return n;
}

/* -- b with one scale per block (p->block): the elements, then the scales, then the zero points */
static inline size_t bytes_of(uint8_t type, int64_t count) {
  return type == TYPE_U4 || type == TYPE_I4 ? (size_t)(count + 1) / 2
                                            : (size_t)count * element_bytes(type);
}

static inline int64_t scale_count(const struct problem *p) {
  return (p->k + p->block - 1) / p->block * p->n;
}

/* Of any b with this number of elements. */
static inline size_t weights_bytes(const struct problem *p, int64_t count) {
  if (!p->block) return bytes_of(p->types.b, count);
  return bytes_of(p->types.b, p->k * p->n) + 4 * (size_t)scale_count(p) +
         (p->b_zeros ? bytes_of(p->b_zeros == 2 ? TYPE_F32 : p->types.b, scale_count(p)) : 0);
}

static inline double code_at(const char *at, uint8_t type, int64_t i) {
  if (type != TYPE_U4 && type != TYPE_I4) return element_at(at, type, i);
  int x = ((const uint8_t *)at)[i / 2] >> (i % 2 * 4) & 15;
  return type == TYPE_I4 && x > 7 ? x - 16 : x;
}

static inline double scaled_weight(const struct problem *p, const char *b, int64_t i) {
  const char *scales = b + bytes_of(p->types.b, p->k * p->n), *zeros = scales + 4 * scale_count(p);
  const int64_t row = p->b_column == 1 ? i / p->n : i % p->k;
  const int64_t column = p->b_column == 1 ? i % p->n : i / p->k;
  const int64_t at = gemm_wq_scale(p, row / p->block, column);
  const double zero = p->b_zeros == 1 ? code_at(zeros, p->types.b, at) : 0;
  const double minimum = p->b_zeros == 2 ? element_at(zeros, TYPE_F32, at) : 0;
  return (code_at(b, p->types.b, i) - zero) * element_at(scales, TYPE_F32, at) + minimum;
}

/* Scales and minima for random elements, which are cut to b_used_bits. */
static inline void fill_scales(const struct problem *p, char *b) {
  char *scales = b + bytes_of(p->types.b, p->k * p->n);
  const int spare = p->b_used_bits ? 8 - (int)p->b_used_bits : 0;
  for (int64_t i = 0; spare && i < p->k * p->n; i++)
    b[i] = p->types.b == TYPE_U8 ? (char)((uint8_t)b[i] >> spare) : (char)((int8_t)b[i] >> spare);
  for (int64_t i = 0; i < scale_count(p); i++) {
    /* also numbers of f16, or of products of them and integers of 8 bits that reach the ends */
    const int64_t blocks = scale_count(p) / p->n;
    const int64_t row = p->b_column == 1 ? i / p->n : i % blocks;
    const int64_t column = p->b_column == 1 ? i % p->n : i / blocks;
    const float half = 0x1p-24f * (float)(1 + column % 1023), times = (float)(row * 37 % 256 - 128);
    const float scale = p->b_halves == 2 ? half * times : 0x1p-7f * (1 + 0.25f * (float)(i % 7));
    const float minimum = p->b_halves == 2 ? -half * (float)(row * 11 % 64) : -3 * scale;
    memcpy(scales + 4 * i, &scale, 4);
    if (p->b_zeros == 2) memcpy(scales + 4 * (scale_count(p) + i), &minimum, 4);
  }
}

/* Multiply-adds, for benchmarks. */
static inline double problem_macs(const struct problem *p) {
  if (p->kind == PROBLEM_gemm || p->kind == PROBLEM_attention)
    return (double)one(p->batch0) * (double)one(p->batch1) * (double)p->m * (double)p->n *
           (double)(p->k + (p->kind == PROBLEM_attention ? p->columns : 0));
  if (p->kind == PROBLEM_conv || p->kind == PROBLEM_depthwise)
    return (double)one(p->images) * (double)p->oh * (double)p->ow * (double)p->oc * (double)p->kh *
           (double)p->kw * (p->kind == PROBLEM_conv ? (double)(p->ic / one(p->groups)) : 1.0);
  return 0;
}

struct wanted {
  double *value, *bound; /* counts.c each */
};

#define UNIT_ROUNDOFF 0x1p-24

static inline void want(struct wanted *w, int64_t o, double value, double bound) {
  w->value[o] = value;
  w->bound[o] = bound;
}
/* A sum of n products whose magnitudes sum to `size`. */
static inline void want_sum(struct wanted *w, int64_t o, double value, double size, double n) {
  want(w, o, value, 2 * n * UNIT_ROUNDOFF * size + 1e-37);
}

static inline void reference_gemm(const struct problem *p, const float *a, const float *b,
                                  struct wanted *w) {
  for (int64_t i0 = 0; i0 < one(p->batch0); i0++)
    for (int64_t i1 = 0; i1 < one(p->batch1); i1++)
      for (int64_t m = 0; m < p->m; m++)
        for (int64_t n = 0; n < p->n; n++) {
          const float *x = a + i0 * p->a_batch0 + i1 * p->a_batch1 + m * p->a_row;
          const float *y = b + i0 * p->b_batch0 + i1 * p->b_batch1 + n * p->b_column;
          double sum = 0, size = 0;
          for (int64_t k = 0; k < p->k; k++) {
            double t = (double)x[k] * (double)y[k * p->b_row];
            sum += t;
            size += fabs(t);
          }
          want_sum(w, i0 * p->c_batch0 + i1 * p->c_batch1 + m * p->c_row + n, sum, size,
                   (double)p->k);
        }
}

/* Channel n of the pixel (y, x): conv reads a padded input, depthwise clips. */
static inline void reference_conv_at(const struct problem *p, const float *a, const float *b,
                                     int64_t image, int64_t y, int64_t x, int64_t n,
                                     struct wanted *w) {
  bool depthwise = p->kind == PROBLEM_depthwise;
  int64_t groups = depthwise ? p->ic : one(p->groups), ic = p->ic / groups, oc = p->oc / groups;
  double sum = 0, size = 0;
  for (int64_t ky = 0; ky < p->kh; ky++)
    for (int64_t kx = 0; kx < p->kw; kx++) {
      int64_t iy = y * p->sh + ky * p->dh - p->pt, ix = x * p->sw + kx * p->dw - p->pl;
      if (iy < 0 || iy >= p->ih || ix < 0 || ix >= p->iw) continue;
      for (int64_t i = 0; i < ic; i++) {
        double t =
            (double)a[image * p->i_image + iy * p->i_row + ix * p->i_pixel + n / oc * ic + i] *
            (double)b[((n * ic + i) * p->kh + ky) * p->kw + kx];
        sum += t;
        size += fabs(t);
      }
    }
  want_sum(w, image * p->o_image + y * p->o_row + x * p->o_pixel + n, sum, size,
           (double)(ic * p->kh * p->kw));
}

static inline void reference_pool_at(const struct problem *p, const float *a, int64_t image,
                                     int64_t y, int64_t x, int64_t n, struct wanted *w) {
  double sum = 0, size = 0, most = -INFINITY, count = 0;
  for (int64_t ky = 0; ky < p->kh; ky++)
    for (int64_t kx = 0; kx < p->kw; kx++) {
      int64_t iy = y * p->sh + ky * p->dh - p->pt, ix = x * p->sw + kx * p->dw - p->pl;
      if (iy < 0 || iy >= p->ih || ix < 0 || ix >= p->iw) continue;
      double t = (double)a[image * p->i_image + iy * p->i_row + ix * p->i_pixel + n];
      sum += t;
      size += fabs(t);
      count++;
      most = t > most ? t : most;
    }
  int64_t o = image * p->o_image + y * p->o_row + x * p->o_pixel + n;
  if (p->mode == 2) count = (double)(p->kh * p->kw);
  if (p->mode == 0)
    want(w, o, most, 0);
  else
    want_sum(w, o, count > 0 ? sum / count : 0, count > 0 ? size / count : 0, count + 2);
}

static inline void reference_images(const struct problem *p, const float *a, const float *b,
                                    struct wanted *w) {
  int64_t channels = p->kind == PROBLEM_pool ? p->ic : p->oc;
  for (int64_t image = 0; image < one(p->images); image++)
    for (int64_t y = 0; y < p->oh; y++)
      for (int64_t x = 0; x < p->ow; x++)
        for (int64_t n = 0; n < channels; n++) {
          if (p->kind == PROBLEM_pool)
            reference_pool_at(p, a, image, y, x, n, w);
          else
            reference_conv_at(p, a, b, image, y, x, n, w);
        }
}

static inline void reference_softmax(const struct problem *p, const float *x, int64_t o,
                                     struct wanted *w) {
  double most = -INFINITY, sum = 0;
  for (int64_t j = 0; j < p->columns; j++) most = fmax(most, (double)x[j]);
  for (int64_t j = 0; j < p->columns; j++) sum += exp((double)x[j] - most);
  for (int64_t j = 0; j < p->columns; j++) {
    double y = exp((double)x[j] - most) / sum;
    want(w, o + j, y,
         y * (fabs((double)x[j] - most) + 16 + (double)p->columns / 8) * 2 * UNIT_ROUNDOFF + 1e-37);
  }
}

static inline void reference_layernorm(const struct problem *p, const float *x, const float *scale,
                                       const float *bias, int64_t o, struct wanted *w) {
  uint32_t bits = (uint32_t)p->epsilon_bits;
  float epsilon;
  memcpy(&epsilon, &bits, sizeof epsilon);
  double mean = 0, variance = 0, n = (double)p->columns;
  for (int64_t j = 0; j < p->columns && !p->is_rms; j++) mean += (double)x[j] / n;
  for (int64_t j = 0; j < p->columns; j++)
    variance += ((double)x[j] - mean) * ((double)x[j] - mean) / n;
  for (int64_t j = 0; j < p->columns; j++) {
    double s = p->has_scale ? (double)scale[j] : 1, z = p->has_bias ? (double)bias[j] : 0;
    double y = ((double)x[j] - mean) / sqrt(variance + (double)epsilon);
    want(w, o + j, y * s + z, (fabs(y * s) + fabs(z) + 1) * (n / 8 + 16) * 2 * UNIT_ROUNDOFF);
  }
}

static inline void reference_reduce(const struct problem *p, const float *x, int64_t o,
                                    struct wanted *w) {
  double sum = 0, size = 0, most = -INFINITY, least = INFINITY, product = 1, n = (double)p->k;
  for (int64_t k = 0; k < p->k; k++) {
    double t = (double)x[k * p->r_stride];
    sum += t;
    size += fabs(t);
    product *= t;
    most = fmax(most, t);
    least = fmin(least, t);
  }
  if (p->mode == 0) want_sum(w, o, sum, size, n);
  if (p->mode == 1) want_sum(w, o, sum / n, size / n, n + 1);
  if (p->mode == 2) want(w, o, most, 0);
  if (p->mode == 3) want(w, o, least, 0);
  if (p->mode == 4) want_sum(w, o, product, fabs(product), n);
  if (p->mode == 5) {
    double squares = 0;
    for (int64_t k = 0; k < p->k; k++) {
      const double away = (double)x[k * p->r_stride] - sum / n;
      squares += away * away;
    }
    want_sum(w, o, squares / n, squares / n + 2 * sqrt(squares / n) * size / n, n + 4);
  }
}

/* A row of scores, softmax and the product with v, without an epilogue. */
static inline void reference_attention(const struct problem *p, const float *a, const float *b,
                                       const float *v, struct wanted *w) {
  const int64_t batch1 = one(p->batch1);
  for (int64_t row = 0; row < one(p->batch0) * batch1 * p->m; row++) {
    const int64_t i = row / p->m / batch1, j = row / p->m % batch1, y = row % p->m;
    const float *x = a + i * p->a_batch0 + j * p->a_batch1 + y * p->a_row;
    const int64_t o = i * p->c_batch0 + j * p->c_batch1 + y * p->c_row;
    double top = -INFINITY, whole = 0;
    for (int pass = 0; pass < 2; pass++)
      for (int64_t n = 0; n < p->n; n++) {
        const float *key = b + i * p->b_batch0 + j * p->b_batch1 + n * p->b_column;
        const float *value = v + i * p->v_batch0 + j * p->v_batch1 + n * p->v_row;
        double score = 0;
        for (int64_t k = 0; k < p->k; k++) score += (double)x[k] * (double)key[k * p->b_row];
        if (!pass) {
          top = fmax(top, score);
          continue;
        }
        const double weight = exp(score - top);
        whole += weight;
        for (int64_t d = 0; d < p->columns; d++)
          w->value[o + d] = (n ? w->value[o + d] : 0) + weight * (double)value[d];
      }
    for (int64_t d = 0; d < p->columns; d++) w->value[o + d] /= whole;
  }
}

/* bias: of a norm; of attention v. */
static inline void reference_problem(const struct problem *p, const float *a, const float *b,
                                     const float *bias, struct wanted *w) {
  if (p->kind == PROBLEM_gemm) reference_gemm(p, a, b, w);
  if (p->kind == PROBLEM_attention) reference_attention(p, a, b, bias, w);
  if (p->kind == PROBLEM_conv || p->kind == PROBLEM_depthwise || p->kind == PROBLEM_pool)
    reference_images(p, a, b, w);
  for (int64_t r = 0; r < p->rows; r++) {
    const float *x = a + r * p->i_stride;
    int64_t o = r * p->o_stride;
    if (p->kind == PROBLEM_softmax) reference_softmax(p, x, o, w);
    if (p->kind == PROBLEM_layernorm) reference_layernorm(p, x, b, bias, o, w);
    if (p->kind == PROBLEM_reduce)
      for (int64_t j = 0; j < p->columns; j++) reference_reduce(p, x + j, o + j, w);
  }
}

/* Column (channel) of element o of c. */
static inline int64_t problem_column(const struct problem *p, int64_t o) {
  switch (p->kind) {
    case PROBLEM_gemm: {
      int64_t batch0 = one(p->batch0), batch1 = one(p->batch1);
      for (int64_t i = 0; i < batch0 * batch1; i++) {
        int64_t at = o - i / batch1 * p->c_batch0 - i % batch1 * p->c_batch1;
        if (at >= 0 && at / p->c_row < p->m && at % p->c_row < p->n) return at % p->c_row;
      }
      return 0;
    }
    case PROBLEM_conv:
    case PROBLEM_depthwise:
    case PROBLEM_pool:
      if (p->o_image) o %= p->o_image;
      return o % p->o_row % p->o_pixel;
    default:
      return p->o_stride ? o % p->o_stride : o;
  }
}

#endif
