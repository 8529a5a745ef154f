/* signal: ATen's short-time Fourier transforms, their windows, and overlap-add. */
#include "pt2.h"

#include <math.h>

/* -- windows */

/* hann_window, hamming_window, blackman_window: a - b cos(2 pi k / n) + c cos(4 pi k / n). */
hone_status build_window(struct pt_op *op) {
  static const struct {
    const char *name;
    double a, b, c;
  } windows[] = {{"hann", 0.5, 0.5, 0}, {"hamming", 0.54, 0.46, 0}, {"blackman", 0.42, 0.5, 0.08}};
  enum { MOST = 1 << 24 };
  double *numbers, alpha, beta;
  int64_t length, periodic, dtype;
  size_t row = 0;
  while (row + 1 < COUNT(windows) && !strstr(op->target, windows[row].name)) row++;
  TRY(pt_int(op, "window_length", 0, &length));
  TRY(pt_int(op, "periodic", 1, &periodic));
  TRY(pt_float(op, "alpha", windows[row].a, &alpha));
  TRY(pt_float(op, "beta", windows[row].b, &beta));
  TRY(pt_int(op, "dtype", -1, &dtype));
  const hone_dtype type = dtype >= 0 ? pt_dtype(dtype) : HONE_F32;
  if (!dtype_is_float(type) || length < 0 || length > MOST)
    return pt_refuse(op, "of this length or type");
  const double turn = 2 * acos(-1.0) / fmax(1, (double)(periodic ? length : length - 1));
  TRY(NEW_ARRAY(op->ctx, op->pt->arena, numbers, (size_t)length + 1));
  for (int64_t k = 0; k < length; k++)
    numbers[k] = length == 1 ? 1
                             : alpha - beta * cos(turn * (double)k) +
                                   windows[row].c * cos(2 * turn * (double)k);
  return pt_result(op, 0, x_numbers(op->b, type, &(struct shape){1, {length}}, numbers));
}

static struct value *padded(struct pt_op *op, struct value *x, int64_t axis, int64_t before,
                            int64_t behind, const char *mode) {
  int64_t pads[2 * HONE_MAX_RANK] = {0};
  const size_t rank = (size_t)x->shape.rank;
  if (!before && !behind) return x;
  pads[axis] = before, pads[rank + (size_t)axis] = behind;
  return x_args(op->b, OP_Pad,
                VALUES(x, x_list(op->b, pads, 2 * rank), x_scalar(op->b, x->dtype, 0)),
                ARGS(STRING_ARG("mode", mode)));
}

struct frames {
  int64_t length, step, centred, normalised;
  struct value *window; /* [length] */
};

/* The window padded with zeros on both sides to the frame length; none: ones. */
static hone_status read_frames(struct pt_op *op, struct frames *f) {
  int64_t own;
  TRY(pt_int(op, "n_fft", 0, &f->length));
  TRY(pt_int(op, "hop_length", f->length / 4, &f->step));
  TRY(pt_int(op, "win_length", f->length, &own));
  TRY(pt_int(op, "normalized", 0, &f->normalised));
  TRY(pt_tensor(op, "window", &f->window));
  if (f->length < 1 || f->step < 1 || own < 1 || own > f->length)
    return pt_refuse(op, "with frames of %lld every %lld", (long long)f->length,
                     (long long)f->step);
  if (!f->window)
    BUILD(op->b,
          f->window = x_2(op->b, OP_Expand, x_scalar(op->b, HONE_F32, 1), x_list(op->b, &own, 1)));
  if (f->window->shape.rank != 1 || f->window->shape.dims[0] != own)
    return pt_refuse(op, "with a window of another length");
  const int64_t before = (f->length - own) / 2;
  return x_give(op->b, &f->window,
                padded(op, f->window, 0, before, f->length - own - before, "constant"));
}

/* -- forward */

/* stft: signals [batch, time] or [time] to [.., bins, frames]. Parameter: the default of
 * `center`. */
hone_status build_stft(struct pt_op *op) {
  static const int64_t turn[] = {0, 2, 1, 3};
  struct frames f;
  struct value *x;
  int64_t both, is_complex;
  const char *mode;
  TRY(pt_need(op, "self", &x));
  TRY(read_frames(op, &f));
  TRY(pt_int(op, "center", op->parameter, &f.centred));
  TRY(pt_text(op, "pad_mode", "reflect", &mode));
  TRY(pt_int(op, "onesided", 1, &both));
  TRY(pt_int(op, "return_complex", 0, &is_complex));
  const bool is_single = x->shape.rank == 1;
  if (is_single) BUILD(op->b, x = x_reshape(op->b, x, (const int64_t[]){1, -1}, 2));
  if (x->shape.rank != 2) return pt_refuse(op, "of rank %d", x->shape.rank);
  if (strcmp(mode, "reflect") && strcmp(mode, "constant"))
    return pt_refuse(op, "with mode %s", mode);
  if (f.centred) x = padded(op, x, 1, f.length / 2, f.length / 2, mode);
  struct value *step = x_scalar(op->b, HONE_I64, (double)f.step);
  struct value *y =
      x_args(op->b, OP_STFT, VALUES(x, step, f.window, x_scalar(op->b, HONE_I64, (double)f.length)),
             ARGS(INT_ARG("onesided", both)));
  BUILD(op->b, y = x_transpose(op->b, y, turn));
  if (f.normalised) BUILD(op->b, y = x_by(op->b, OP_Mul, y, 1 / sqrt((double)f.length)));
  if (is_single) BUILD(op->b, y = x_reshape(op->b, y, y->shape.dims + 1, 3));
  return is_complex ? pt_complex_result(op, 0, y) : pt_result(op, 0, y);
}

/* -- inverse */

/* Overlap-add of x [batch, frames, length] with hop `step`: [batch, (frames - 1) step + length].
 * Frames are cut into parts of `step`; part j of all frames is one signal, delayed by j parts. */
static hone_status laid_over(struct pt_op *op, struct value *x, int64_t step, struct value **out) {
  const int64_t batch = x->shape.dims[0], frames = x->shape.dims[1], length = x->shape.dims[2];
  const int64_t parts = (length - 1) / step + 1;
  struct value *sum = NULL, *part;
  int64_t all = 0, time = 0;
  if (parts > op->ctx->limits[LIMIT_unroll] || !checked_add(frames, parts - 1, &all) ||
      !checked_mul(all, step, &time))
    return pt_refuse(op, "with frames of %lld every %lld", (long long)length, (long long)step);
  BUILD(op->b, x = padded(op, x, 2, 0, parts * step - length, "constant"));
  for (int64_t j = 0; j < parts; j++) {
    BUILD(op->b, part = pt_slice(op, x, 2, j * step, (j + 1) * step, 1));
    part = padded(op, part, 1, j, parts - 1 - j, "constant");
    if (sum)
      sum = x_2(op->b, OP_Add, sum, part);
    else
      sum = part;
  }
  BUILD(op->b, sum = x_reshape(op->b, sum, (const int64_t[]){batch, time}, 2));
  return x_give(op->b, out, pt_slice(op, sum, 1, 0, (frames - 1) * step + length, 1));
}

/* The frames' signals [batch, frames, length] from their half spectra [batch, bins, frames, 2]. */
static struct value *back_to_frames(struct pt_op *op, const struct frames *f, struct value *x) {
  static const int64_t turn[] = {0, 2, 1, 3};
  x = x_transpose(op->b, x, turn);
  struct value *axis = x_scalar(op->b, HONE_I64, 2);
  x = x_args(op->b, OP_DFT, VALUES(x, x_scalar(op->b, HONE_I64, (double)f->length), axis),
             ARGS(INT_ARG("inverse", 1), INT_ARG("onesided", 1)));
  struct value *out = pt_part(op, x, 0);
  if (f->normalised) out = x_by(op->b, OP_Mul, out, sqrt((double)f->length));
  return out;
}

/* istft: overlap-add of windowed frames, divided by the sum of the squared windows (Griffin and Lim
 * 1984). */
hone_status build_istft(struct pt_op *op) {
  struct frames f;
  struct value *x, *squares, *y;
  int64_t half, length, as_complex;
  bool is_complex;
  TRY(pt_need_complex(op, "self", &x, &is_complex));
  TRY(read_frames(op, &f));
  TRY(pt_int(op, "center", 1, &f.centred));
  TRY(pt_int(op, "onesided", 1, &half));
  TRY(pt_int(op, "return_complex", 0, &as_complex));
  TRY(pt_int(op, "length", -1, &length));
  const bool is_single = x->shape.rank == 3;
  if (is_single) {
    const int64_t *d = x->shape.dims;
    BUILD(op->b, x = x_reshape(op->b, x, (const int64_t[]){1, d[0], d[1], d[2]}, 4));
  }
  if (!is_complex || !half || as_complex || x->shape.rank != 4 ||
      x->shape.dims[1] != f.length / 2 + 1 || x->shape.dims[2] < 1)
    return pt_refuse(op, "of other than half spectra");
  BUILD(op->b, x = x_2(op->b, OP_Mul, back_to_frames(op, &f, x), f.window));
  BUILD(op->b, squares = x_2(op->b, OP_Expand, x_2(op->b, OP_Mul, f.window, f.window),
                             x_list(op->b, (const int64_t[]){1, x->shape.dims[1], f.length}, 3)));
  TRY(laid_over(op, x, f.step, &y));
  TRY(laid_over(op, squares, f.step, &squares));
  const int64_t first = f.centred ? f.length / 2 : 0, all = y->shape.dims[1];
  int64_t last = all - first;
  if (length >= 0 && !checked_add(first, length, &last)) return pt_refuse(op, "of this length");
  BUILD(op->b, y = x_2(op->b, OP_Div, y, squares));
  BUILD(op->b, y = pt_slice(op, y, 1, first, last < all ? last : all, 1));
  if (last > all) BUILD(op->b, y = padded(op, y, 1, 0, last - all, "constant"));
  if (is_single) y = x_reshape(op->b, y, y->shape.dims + 1, 1);
  return pt_result(op, 0, y);
}
