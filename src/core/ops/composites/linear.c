/* Determinants, inverses and solutions of linear systems by Gauss-Jordan elimination with partial
 * pivoting. Small ones are unrolled column by column into operators that every export format has;
 * larger ones are one node. */
#include "expand.h"

enum { WRITTEN_OUT = 32, MOST_ROWS = 2048 };

struct linear {
  struct value *rows;        /* [.., n, width]: a matrix and its right-hand side */
  struct value *determinant; /* [.., 1, 1], of the columns done; NULL: not needed */
  struct value *numbers;     /* 0, 1, .. as [n, 1] */
  int64_t n, width;
  int down, across; /* axes */
};

static struct value *zero_or(struct graph_builder *e, struct value *condition, struct value *x) {
  return x_3(e, OP_Where, condition, x, x_scalar(e, x->dtype, 0));
}

/* The row of column k's pivot, [.., 1, 1], among the rows from k on. */
static struct value *pivot_of(struct graph_builder *e, const struct linear *s, struct value *k_row,
                              int64_t k) {
  struct value *column = x_1(e, OP_Abs, x_slice(e, s->rows, s->across, k, k + 1));
  struct value *is_done = x_2(e, OP_Less, s->numbers, k_row);
  column = x_3(e, OP_Where, is_done, x_scalar(e, column->dtype, -1), column);
  x_with_int(e, "axis", s->down);
  x_with_int(e, "keepdims", 1);
  return x_1(e, OP_ArgMax, column);
}

/* Multiplied by the pivot, and by -1 for a row exchange; a zero pivot makes it 0 and is not divided
 * by. */
static struct value *determinant(struct graph_builder *e, struct linear *s, struct value *is_own,
                                 struct value *pivot) {
  struct value *one = x_scalar(e, pivot->dtype, 1);
  struct value *sign = x_3(e, OP_Where, is_own, one, x_scalar(e, pivot->dtype, -1));
  s->determinant = x_2(e, OP_Mul, s->determinant, x_2(e, OP_Mul, pivot, sign));
  struct value *is_zero = x_by(e, OP_Equal, pivot, 0);
  return x_3(e, OP_Where, is_zero, one, pivot);
}

/* Column k becomes a unit vector: row k is exchanged with the pivot's row, the others are
 * eliminated. */
static void eliminate(struct graph_builder *e, struct linear *s, int64_t k) {
  struct value *k_row = x_scalar(e, HONE_I64, (double)k), *p_row = pivot_of(e, s, k_row, k);
  struct value *is_k = x_2(e, OP_Equal, s->numbers, k_row);
  struct value *is_p = x_2(e, OP_Equal, s->numbers, p_row);
  struct value *row_k = x_slice(e, s->rows, s->down, k, k + 1);
  struct value *row_p =
      x_reduce(e, OP_ReduceSum, zero_or(e, is_p, s->rows), (int64_t[]){s->down}, 1, true);
  struct value *rows = x_3(e, OP_Where, is_p, row_k, s->rows);
  struct value *pivot = x_slice(e, row_p, s->across, k, k + 1);
  if (s->determinant) pivot = determinant(e, s, x_2(e, OP_Equal, p_row, k_row), pivot);
  row_p = x_2(e, OP_Div, row_p, pivot);
  struct value *column = x_slice(e, rows, s->across, k, k + 1);
  rows = x_2(e, OP_Sub, rows, x_2(e, OP_Mul, column, row_p));
  s->rows = x_3(e, OP_Where, is_k, row_p, rows);
}

/* right: NULL, or [.., n, k] with the same leading dimensions. */
static struct linear solve(struct graph_builder *e, struct value *x, struct value *right,
                           bool wants_determinant) {
  const int rank = x->shape.rank;
  struct linear s = {.down = rank - 2, .across = rank - 1};
  s.n = rank < 2 ? 0 : x->shape.dims[rank - 1];
  if (s.n < 1 || x->shape.dims[rank - 2] != s.n)
    x_fail(e, HONE_E_SHAPE, "%s of a matrix that is not square", e->node->op->name);
  else if (s.n > MOST_ROWS)
    x_fail(e, HONE_E_UNSUP, "%s of a matrix of more than %d rows", e->node->op->name, MOST_ROWS);
  if (e->status) return s;
  s.rows = right ? x_concat(e, rank - 1, (struct value *[]){x, right}, 2) : x;
  s.width = s.n + (right ? right->shape.dims[rank - 1] : 0);
  if (s.n > WRITTEN_OUT) {
    x_with_int(e, "determinant", wants_determinant);
    s.rows = s.determinant = x_1(e, OP_Eliminate, s.rows);
    return s;
  }
  if (wants_determinant) s.determinant = x_scalar(e, x->dtype, 1);
  s.numbers = x_reshape(e, x_range(e, HONE_I64, s.n, 0, 1), (int64_t[]){s.n, 1}, 2);
  for (int64_t k = 0; k < s.n && !e->status; k++) eliminate(e, &s, k);
  return s;
}

void expand_det(struct graph_builder *e) {
  struct value *x = x_in(e, 0);
  struct linear s = solve(e, x, NULL, true);
  if (!e->status) x_out(e, 0, x_reshape(e, s.determinant, x->shape.dims, x->shape.rank - 2));
}

void expand_inverse(struct graph_builder *e) {
  struct value *x = x_in(e, 0), *ones;
  const int rank = x->shape.rank;
  const int64_t n = rank < 2 ? 0 : x->shape.dims[rank - 1];
  if (n < 1 || n > MOST_ROWS || x->shape.dims[rank - 2] != n) {
    (void)solve(e, x, NULL, false); /* reports the error */
    return;
  }
  struct value *i = x_range(e, HONE_I64, n, 0, 1);
  ones = x_cast(e, x_2(e, OP_Equal, x_reshape(e, i, (int64_t[]){n, 1}, 2), i), x->dtype);
  if (rank > 2) ones = x_expand(e, ones, &x->shape);
  struct linear s = solve(e, x, ones, false);
  if (!e->status) x_out(e, 0, x_slice(e, s.rows, s.across, s.n, s.width));
}

/* SolveLinear, which skl2onnx writes as Solve of com.microsoft: X of A X = B, matrices [.., n, n]
 * and [.., n, k] whose leading dimensions broadcast. */
void expand_solve_linear(struct graph_builder *e) {
  struct value *a = x_in(e, 0), *b = x_in(e, 1);
  const int rank = a->shape.rank;
  if (rank > 1 && x_int(e, "transposed", 0)) a = x_swap(e, a, rank - 2, rank - 1);
  struct shape front[2] = {a->shape, b->shape}, all;
  for (int k = 0; k < 2; k++)
    if (front[k].rank > 1) front[k].dims[front[k].rank - 1] = 1;
  if (rank < 2 || b->shape.rank < 2 ||
      b->shape.dims[b->shape.rank - 2] != a->shape.dims[rank - 2] ||
      !shape_broadcast(&front[0], &front[1], &all)) {
    x_fail(e, HONE_E_SHAPE, "the shapes of A and B do not match");
    return;
  }
  all.dims[all.rank - 1] = b->shape.dims[b->shape.rank - 1];
  b = x_expand(e, b, &all);
  all.dims[all.rank - 1] = a->shape.dims[rank - 1];
  struct linear s = solve(e, x_expand(e, a, &all), b, false);
  if (!e->status) x_out(e, 0, x_slice(e, s.rows, s.across, s.n, s.width));
}
