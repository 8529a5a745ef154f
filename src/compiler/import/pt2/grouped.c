/* grouped: operators on groups of rows: grouped matmul, embedding bags. */
#include "pt2.h"

/* grouped_mm_fallback of transformers, _grouped_mm (parameter 1): rows of x from offs[g - 1] up to
 * offs[g] times matrix g; rows after the last one are zero. */
hone_status build_grouped_product(struct pt_op *op) {
  struct value *x, *w, *ends;
  TRY(pt_need(op, op->parameter ? "self" : "input", &x));
  TRY(pt_need(op, op->parameter ? "mat2" : "weight", &w));
  TRY(pt_need(op, "offs", &ends));
  if (op->parameter && pt_given(op, "bias")) return pt_refuse(op, "with a bias");
  if (x->shape.rank != 2 || w->shape.rank != 3 || ends->shape.rank != 1)
    return pt_refuse(op, "of these ranks");
  const hone_dtype dtype = x->dtype;
  x = x_cast(op->b, x, HONE_F32);
  return pt_result(
      op, 0,
      x_cast(op->b, x_3(op->b, OP_GroupedMatMul, x, x_cast(op->b, w, HONE_F32), ends), dtype));
}

/* embedding_bag with bags of equal length: sum, mean (mode 1) or maximum (2) of a table's rows. Its
 * other results are for gradients and stay undefined. */
hone_status build_embedding_bag(struct pt_op *op) {
  static const enum op_id modes[] = {OP_ReduceSum, OP_ReduceMean, OP_ReduceMax};
  struct value *table, *indices, *offsets, *weights;
  int64_t mode, whole, padding;
  TRY(pt_need(op, "weight", &table));
  TRY(pt_need(op, "indices", &indices));
  TRY(pt_need(op, "offsets", &offsets));
  TRY(pt_tensor(op, "per_sample_weights", &weights));
  TRY(pt_int(op, "mode", 0, &mode));
  TRY(pt_int(op, "include_last_offset", 0, &whole));
  TRY(pt_int(op, "padding_idx", -1, &padding));
  if (mode < 0 || mode > 2 || padding >= 0)
    return pt_refuse(op, "with mode %lld, or with padding", (long long)mode);
  if (!offsets->constant || table->shape.rank != 2 || indices->shape.rank != 1)
    return pt_refuse(op, "with bags that are known only at run time");
  const int64_t all = indices->shape.dims[0];
  const int64_t bags = (int64_t)tensor_count(offsets->constant) - (whole != 0);
  const int64_t each = bags > 0 ? all / bags : 0;
  for (int64_t i = 0; i < bags + (whole != 0); i++)
    if (each * bags != all || tensor_i64(offsets->constant, (size_t)i) != i * each)
      return pt_refuse(op, "with bags of unequal length");
  if (each < 1) return pt_refuse(op, "with empty bags");
  struct value *y = x_gather(op->b, table, indices, 0);
  if (weights) {
    BUILD(op->b, weights = x_reshape(op->b, weights, (const int64_t[]){all, 1}, 2));
    y = x_2(op->b, OP_Mul, y, weights);
  }
  BUILD(op->b, y = x_reshape(op->b, y, (const int64_t[]){bags, each, table->shape.dims[1]}, 3));
  y = pt_reduce_axis(op, modes[mode], y, 1);
  return pt_result(op, 0, y);
}
