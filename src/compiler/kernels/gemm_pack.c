/* Packs the constant operand b of tiled matmuls into panels, as their sources read it. */
#include "gemm.h"

#include <string.h>

size_t gemm_packed_bytes(const struct problem *problem, const struct kernel_target *target,
                         const struct choice *choice) {
  struct layout t = gemm_layout(problem, target, choice);
  const int64_t groups = t.outer * t.panels * t.k_all * t.panel_width;
  return (size_t)ceil_div(groups * t.group_bytes, 4) * 4;
}

int64_t gemm_pack_units(const struct problem *problem, const struct kernel_target *target,
                        const struct choice *choice) {
  struct layout t = gemm_layout(problem, target, choice);
  return t.outer * t.panels;
}

/* Position of element (k, column) of one outer part of b before packing. */
typedef int64_t source_fn(const struct problem *problem, const struct layout *t, int64_t outer,
                          int64_t k, int64_t n);

static int64_t gemm_source(const struct problem *p, const struct layout *t, int64_t outer,
                           int64_t k, int64_t n) {
  (void)t;
  int64_t batch1 = at_least_1(p->batch1);
  return outer / batch1 * p->b_batch0 + outer % batch1 * p->b_batch1 + k * p->b_row +
         n * p->b_column;
}

/* ONNX order [oc, ic / groups, kh, kw]; k iterates over kh, kw, ic / groups. */
static int64_t conv_source(const struct problem *p, const struct layout *t, int64_t outer,
                           int64_t k, int64_t n) {
  int64_t ic = p->ic / t->outer;
  return ((outer * t->columns + n) * ic + k % ic) * p->kh * p->kw + k / ic;
}

/* Padding of k in the last group of a tap: zeros before the elements, because gemm_dot.c reads
   the end of a row as one whole group. On AMX, for bf16 and for shorter rows, the zeros come
   last. */
static int64_t leading_zeros(const struct layout *t) {
  bool reads_back = t->group == 4 && !t->amx && t->elements > t->group;
  return reads_back ? t->depth * t->group - t->elements : 0;
}

/* [outer][panel][tap][group of k][column][element of the group], zeros as padding. */
static inline __attribute__((always_inline)) void pack_groups(const struct problem *problem,
                                                              const struct layout *t,
                                                              source_fn *source, const void *b,
                                                              void *packed) {
  size_t size = (size_t)(t->group_bytes / t->group);
  char *to = packed;
  memset(packed, 0, (size_t)(t->outer * t->panels * t->k_all * t->panel_width * t->group_bytes));
  for (int64_t outer = 0; outer < t->outer; outer++)
    for (int64_t panel = 0; panel < t->panels; panel++)
      for (int64_t tap = 0; tap < t->taps * t->taps_x; tap++)
        for (int64_t k = 0; k < t->depth * t->group; k += t->group) {
          const int64_t zeros = k + t->group > t->elements ? leading_zeros(t) : 0;
          for (int64_t j = 0; j < t->panel_width; j++)
            for (int64_t i = 0; i < t->group; i++, to += size) {
              int64_t n = panel * t->panel_width + j, from = k + i - zeros;
              if (n >= t->columns || i < zeros || from >= t->elements) continue;
              int64_t at = source(problem, t, outer, tap * t->elements + from, n);
              memcpy(to, (const char *)b + (size_t)at * size, size);
            }
        }
}

/* One float panel from k = `first` on: to[k][j] = from[k * k_stride + j * n_stride], in squares
   that fit in L1 in both directions. */
static void pack_floats(const float *from, int64_t k_stride, int64_t n_stride, int64_t k_count,
                        int64_t columns, int64_t width, float *to) {
  enum { SQUARE = 16 };
  if (n_stride == 1) {
    for (int64_t k = 0; k < k_count; k++)
      memcpy(to + k * width, from + k * k_stride, (size_t)columns * sizeof *to);
  } else {
    for (int64_t first = 0; first < k_count; first += SQUARE) {
      int64_t end = min_i64(first + SQUARE, k_count);
      for (int64_t j = 0; j < columns; j++)
        for (int64_t k = first; k < end; k++) to[k * width + j] = from[k * k_stride + j * n_stride];
    }
  }
  for (int64_t k = 0; k < k_count && columns < width; k++)
    memset(to + k * width + columns, 0, (size_t)(width - columns) * sizeof *to);
}

/* As pack_groups, for floats. Elements of a tap are `k_stride` apart, taps and outer parts as
   given. */
struct float_source {
  int64_t k_stride, n_stride, tap_stride;
};
static void pack_panels(const struct layout *t, const struct float_source *s, const float *from,
                        float *to) {
  for (int64_t panel = 0; panel < t->panels; panel++)
    for (int64_t tap = 0; tap < t->k_all / t->depth; tap++, to += t->depth * t->panel_width) {
      int64_t n = panel * t->panel_width;
      pack_floats(from + n * s->n_stride + tap * s->tap_stride, s->k_stride, s->n_stride, t->depth,
                  min_i64(t->panel_width, t->columns - n), t->panel_width, to);
    }
}

static void pack_float_gemm(const struct problem *p, const struct layout *t, const float *from,
                            float *to) {
  struct float_source source = {.k_stride = p->b_row, .n_stride = p->b_column};
  for (int64_t outer = 0; outer < t->outer; outer++)
    pack_panels(t, &source, from + gemm_source(p, t, outer, 0, 0),
                to + outer * t->panels * t->k_all * t->panel_width);
}

/* k iterates over the channels of one window position, then over the positions. */
static void pack_float_conv(const struct problem *p, const struct layout *t, const float *from,
                            float *to) {
  struct layout places = *t;
  int64_t ic = p->ic / t->outer, window = p->kh * p->kw;
  struct float_source source = {.k_stride = window, .n_stride = ic * window, .tap_stride = 1};
  places.depth = ic;
  for (int64_t outer = 0; outer < t->outer; outer++)
    pack_panels(&places, &source, from + outer * t->columns * ic * window,
                to + outer * t->panels * t->k_all * t->panel_width);
}

void gemm_pack(const struct problem *problem, const struct kernel_target *target,
               const struct choice *choice, const void *b, void *packed) {
  struct layout t = gemm_layout(problem, target, choice);
  if (t.group == 1 && t.group_bytes == 4)
    pack_float_gemm(problem, &t, b, packed);
  else
    pack_groups(problem, &t, gemm_source, b, packed);
}

int64_t kernel_panel_columns(const struct problem *problem, const struct kernel_target *target,
                             const struct choice *choice) {
  if (choice->kernel->pack != gemm_pack || problem->kind != PROBLEM_gemm) return 0;
  struct layout t = gemm_layout(problem, target, choice);
  return t.group == 1 && t.group_bytes == 4 && t.outer == 1 ? t.panel_width : 0;
}

size_t conv_packed_bytes(const struct problem *problem, const struct kernel_target *target,
                         const struct choice *choice) {
  return gemm_packed_bytes(problem, target, choice);
}

void conv_pack(const struct problem *problem, const struct kernel_target *target,
               const struct choice *choice, const void *b, void *packed) {
  struct layout t = gemm_layout(problem, target, choice);
  if (t.group == 1 && t.group_bytes == 4)
    pack_float_conv(problem, &t, b, packed);
  else
    pack_groups(problem, &t, conv_source, b, packed);
}
