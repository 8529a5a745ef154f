/* linear: ATen's inverses, determinants and solutions of small systems. */
#include "pt2.h"

/* Factors, pivots and error codes are not computed: they are names without a value, which only a
 * check may read. */
static hone_status only_first(struct pt_op *op) {
  for (size_t k = 1; k < pt_result_count(op); k++)
    if (pt_is_read(op, k)) TRY(pt_result(op, k, NULL));
  return HONE_OK;
}

static hone_status read_matrix(struct pt_op *op, struct value **out) {
  return pt_need(op, pt_given(op, "A") ? "A" : pt_given(op, "input") ? "input" : "self", out);
}

/* inverse, det and similar ones: parameter OP_Inverse or OP_Det. */
hone_status build_of_matrix(struct pt_op *op) {
  struct value *a;
  TRY(read_matrix(op, &a));
  TRY(only_first(op));
  return pt_result(op, 0, x_1(op->b, (enum op_id)op->parameter, a));
}

/* X of A X = B; B may be vectors, one for each A. */
hone_status build_solve(struct pt_op *op) {
  struct value *a, *b, *y;
  int64_t left;
  TRY(read_matrix(op, &a));
  TRY(pt_need(op, "B", &b));
  TRY(pt_int(op, "left", 1, &left));
  TRY(only_first(op));
  if (!left) return pt_refuse(op, "from the right");
  bool is_vector = b->shape.rank == 1 || b->shape.rank == a->shape.rank - 1;
  for (int d = 0; is_vector && b->shape.rank > 1 && d < b->shape.rank; d++)
    is_vector = b->shape.dims[d] == a->shape.dims[d];
  struct shape shape = b->shape;
  if (is_vector && shape.rank < HONE_MAX_RANK) shape.dims[shape.rank++] = 1;
  BUILD(op->b, b = x_reshape(op->b, b, shape.dims, shape.rank));
  BUILD(op->b, y = x_2(op->b, OP_SolveLinear, a, b));
  if (is_vector) y = x_reshape(op->b, y, y->shape.dims, y->shape.rank - 1);
  return pt_result(op, 0, y);
}
