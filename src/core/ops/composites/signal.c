/* Signal processing: windows, discrete Fourier transforms as matmuls with constant matrices, mel
 * filter banks. Sizes are constants. */
#include <math.h>

#include "expand.h"

static const double pi = 3.14159265358979323846;
enum { LONGEST = 1 << 20 };

/* The dtype given by attribute output_datatype; float by default. */
static hone_dtype output_type(struct graph_builder *e) {
  int64_t number = x_int(e, "output_datatype", HONE_F32);
  if (!dtype_bits(dtype_of_number(number)))
    x_fail(e, HONE_E_TYPE, "output_datatype is %lld", (long long)number);
  return e->status ? HONE_F32 : (hone_dtype)number;
}

/* a0 - a1 cos(2 pi k / n) + a2 cos(4 pi k / n); periodic: n = size, else size - 1. */
void expand_window(struct graph_builder *e) {
  static const struct {
    enum op_id op;
    double a0, a1, a2;
  } windows[] = {{OP_HannWindow, 0.5, 0.5, 0},
                 {OP_HammingWindow, 25.0 / 46, 21.0 / 46, 0},
                 {OP_BlackmanWindow, 0.42, 0.5, 0.08}};
  const struct tensor *tensor;
  int64_t size = 0;
  size_t row = 0;
  while (windows[row].op != e->node->op->id) row++;
  x_ints(e, 0, "the window's size", 1, &size);
  struct value *window = x_constant(e, output_type(e), &(struct shape){1, {size}}, &tensor);
  double n = (double)(x_int(e, "periodic", 1) ? size : size - 1);
  for (int64_t k = 0; !e->status && k < size; k++) {
    double angle = 2 * pi * (double)k / n;
    tensor_set_f64(
        tensor, (size_t)k,
        windows[row].a0 - windows[row].a1 * cos(angle) + windows[row].a2 * cos(2 * angle));
  }
  x_out(e, 0, window);
}

/* -- Fourier */

/* [rows, columns] of cos or sin of 2 pi i j / n times factor; full turns are removed in
 * integers. */
static struct value *turn_table(struct graph_builder *e, hone_dtype dtype, int64_t rows,
                                int64_t columns, int64_t n, bool is_sine, const double *weight) {
  const struct tensor *tensor;
  struct value *table = x_constant(e, dtype, &(struct shape){2, {rows, columns}}, &tensor);
  for (int64_t i = 0; !e->status && i < rows; i++)
    for (int64_t j = 0; j < columns; j++) {
      double angle = 2 * pi * (double)(i * j % n) / (double)n;
      double x = is_sine ? sin(angle) : cos(angle);
      tensor_set_f64(tensor, (size_t)(i * columns + j), weight ? x * weight[i] : x);
    }
  return table;
}

struct transform {
  int axis;
  int64_t n;
  bool is_inverse, is_onesided;
};

/* x [..., n along axis, ..., 1 or 2] */
static struct value *transform(struct graph_builder *e, struct value *x,
                               const struct transform *t) {
  if (e->status) return x;
  int last = x->shape.rank - 1, axis = t->axis;
  int64_t n = t->n, parts = x->shape.dims[last];
  bool to_real = t->is_inverse && t->is_onesided;
  int64_t rows = to_real ? n / 2 + 1 : n, columns = t->is_onesided && !to_real ? n / 2 + 1 : n;
  if (n < 1 || n > LONGEST || (parts != 1 && parts != 2) || axis == last) {
    x_fail(e, HONE_E_SHAPE, "a transform of length %lld along axis %d with %lld parts",
           (long long)n, axis, (long long)parts);
    return x;
  }
  if (t->is_onesided && !t->is_inverse && parts != 1) {
    x_fail(e, HONE_E_SHAPE, "a one-sided transform of complex numbers");
    return x;
  }
  x = x_pad(e, x, axis, 0, rows - x->shape.dims[axis]);
  double *weight;
  hone_status status = NEW_ARRAY(e->ctx, e->graph->arena, weight, (size_t)rows);
  if (status) {
    e->status = status;
    return x;
  }
  for (int64_t i = 0; i < rows; i++) {
    bool is_twice = to_real && i && 2 * i != n; /* also represents its conjugate */
    weight[i] = (is_twice ? 2.0 : 1.0) / (t->is_inverse ? (double)n : 1.0);
  }
  struct value *cosine = turn_table(e, x->dtype, rows, columns, n, false, weight);
  struct value *sine = turn_table(e, x->dtype, rows, columns, n, true, weight);
  struct value *part[2] = {NULL, NULL}, *cos_of[2], *sin_of[2], *re, *im;
  for (int64_t p = 0; p < parts; p++) {
    part[p] = x_squeeze(e, x_slice(e, x, last, p, p + 1), last);
    part[p] = x_swap(e, part[p], axis, last - 1);
    cos_of[p] = x_2(e, OP_MatMul, part[p], cosine);
    sin_of[p] = x_2(e, OP_MatMul, part[p], sine);
  }
  enum op_id for_re = t->is_inverse ? OP_Sub : OP_Add, for_im = t->is_inverse ? OP_Add : OP_Sub;
  re = part[1] ? x_2(e, for_re, cos_of[0], sin_of[1]) : cos_of[0];
  if (part[1])
    im = x_2(e, for_im, cos_of[1], sin_of[0]);
  else
    im = t->is_inverse ? sin_of[0] : x_1(e, OP_Neg, sin_of[0]);
  re = x_unsqueeze(e, x_swap(e, re, axis, last - 1), last);
  if (to_real) return re;
  im = x_unsqueeze(e, x_swap(e, im, axis, last - 1), last);
  return x_concat(e, last, (struct value *[]){re, im}, 2);
}

void expand_dft(struct graph_builder *e) {
  struct value *x = x_in(e, 0);
  int64_t axis = -2, n = 0;
  if (x_in(e, 2)) x_ints(e, 2, "the axis", 1, &axis);
  if (axis < 0) axis += x->shape.rank;
  if (axis < 0 || axis >= x->shape.rank - 1) {
    x_fail(e, HONE_E_SHAPE, "the axis is %lld, the rank %d", (long long)axis, x->shape.rank);
    return;
  }
  struct transform t = {.axis = (int)axis,
                        .is_inverse = x_int(e, "inverse", 0) != 0,
                        .is_onesided = x_int(e, "onesided", 0) != 0};
  n = x->shape.dims[axis];
  if (t.is_inverse && t.is_onesided && n <= LONGEST) n = 2 * (n - 1);
  if (x_in(e, 1)) x_ints(e, 1, "dft_length", 1, &n);
  t.n = n;
  x_out(e, 0, transform(e, x, &t));
}

/* signal [batch, length, 1 or 2] cut into frames, each multiplied by the window and transformed. */
void expand_stft(struct graph_builder *e) {
  struct value *x = x_in(e, 0), *window = x_in(e, 2);
  int64_t step = 1, length = 0;
  x_ints(e, 1, "frame_step", 1, &step);
  if (x_in(e, 3))
    x_ints(e, 3, "frame_length", 1, &length);
  else if (window)
    length = window->shape.dims[0];
  if (x->shape.rank == 2) x = x_unsqueeze(e, x, 2);
  if (e->status) return;
  if (x->shape.rank != 3 || step < 1 || length < 1 || length > x->shape.dims[1]) {
    x_fail(e, HONE_E_SHAPE, "frames of %lld every %lld do not fit the signal", (long long)length,
           (long long)step);
    return;
  }
  int64_t frames = (x->shape.dims[1] - length) / step + 1;
  const struct tensor *index;
  struct value *at = x_constant(e, HONE_I64, &(struct shape){2, {frames, length}}, &index);
  for (int64_t i = 0; !e->status && i < frames * length; i++)
    tensor_set_i64(index, (size_t)i, i / length * step + i % length);
  x_with_int(e, "within", 1);
  x_with_int(e, "frame_step", step); /* hone's own, for signals of dynamic length (explain.c) */
  x_with_int(e, "frame_length", length);
  x = x_gather(e, x, at, 1); /* [batch, frames, length, parts] */
  if (window) x = x_2(e, OP_Mul, x, x_reshape(e, window, (int64_t[]){length, 1}, 2));
  struct transform t = {
      .axis = 2, .n = length, .is_onesided = x_int(e, "onesided", 1) && x->shape.dims[3] == 1};
  x_out(e, 0, transform(e, x, &t));
}

/* -- mel */

/* The triangles' corners in spectrogram bins, evenly spaced in mel: [bands + 2]. */
static struct value *corners(struct graph_builder *e, int64_t bands, struct value *length,
                             struct value *rate) {
  hone_dtype dtype = HONE_F64;
  struct value *edge[2], *mel, *hertz;
  for (size_t k = 0; k < 2; k++) {
    struct value *x = x_2(e, OP_Div, x_cast(e, x_in(e, 3 + k), dtype), x_scalar(e, dtype, 700));
    x = x_1(e, OP_Log, x_2(e, OP_Add, x, x_scalar(e, dtype, 1)));
    edge[k] = x_2(e, OP_Mul, x, x_scalar(e, dtype, 2595 / log(10)));
  }
  struct value *step =
      x_2(e, OP_Div, x_2(e, OP_Sub, edge[1], edge[0]), x_scalar(e, dtype, (double)(bands + 2)));
  mel = x_2(e, OP_Add, x_2(e, OP_Mul, x_range(e, dtype, bands + 2, 0, 1), step), edge[0]);
  mel = x_2(e, OP_Mul, mel, x_scalar(e, dtype, log(10) / 2595));
  hertz = x_2(e, OP_Mul, x_2(e, OP_Sub, x_1(e, OP_Exp, mel), x_scalar(e, dtype, 1)),
              x_scalar(e, dtype, 700));
  struct value *bins = x_2(e, OP_Mul, hertz, x_2(e, OP_Add, length, x_scalar(e, dtype, 1)));
  return x_1(e, OP_Floor, x_2(e, OP_Div, bins, rate));
}

/* Rising from the left corner to the middle one, falling to the right one; [bins, bands]. */
void expand_mel_weights(struct graph_builder *e) {
  int64_t bands = 0, length = 0;
  hone_dtype dtype = HONE_F64;
  x_ints(e, 0, "num_mel_bins", 1, &bands);
  x_ints(e, 1, "dft_length", 1, &length);
  if (!e->status && (bands < 1 || length < 1))
    x_fail(e, HONE_E_SHAPE, "%lld bands of a transform of %lld", (long long)bands,
           (long long)length);
  if (e->status) return;
  struct value *at =
      corners(e, bands, x_scalar(e, dtype, (double)length), x_cast(e, x_in(e, 2), dtype));
  struct value *left = x_slice(e, at, 0, 0, bands), *middle = x_slice(e, at, 0, 1, bands + 1);
  struct value *right = x_slice(e, at, 0, 2, bands + 2), *zero = x_scalar(e, dtype, 0);
  struct value *bin = x_unsqueeze(e, x_range(e, dtype, length / 2 + 1, 0, 1), 1);
  struct value *width = x_2(e, OP_Sub, middle, left), *rest = x_2(e, OP_Sub, right, middle);
  struct value *rising = x_2(e, OP_Div, x_2(e, OP_Sub, bin, left), width);
  struct value *falling = x_2(e, OP_Div, x_2(e, OP_Sub, right, bin), rest);
  struct value *is_rising =
      x_2(e, OP_And, x_2(e, OP_LessOrEqual, left, bin), x_2(e, OP_LessOrEqual, bin, middle));
  struct value *is_falling =
      x_2(e, OP_And, x_2(e, OP_LessOrEqual, middle, bin), x_2(e, OP_Less, bin, right));
  struct value *is_peak =
      x_2(e, OP_And, x_2(e, OP_Equal, width, zero), x_2(e, OP_Equal, bin, middle));
  struct value *y = x_3(e, OP_Where, is_rising, rising, zero);
  y = x_3(e, OP_Where, is_peak, x_scalar(e, dtype, 1), y);
  y = x_3(e, OP_Where, is_falling, falling, y);
  x_out(e, 0, x_cast(e, y, output_type(e)));
}
