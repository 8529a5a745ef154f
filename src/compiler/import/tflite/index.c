/* index: operators that select or place elements by data: WHERE, NON_MAX_SUPPRESSION, UNIQUE,
 * segments, sparse lists, look-ups by key, diagonals, and DYNAMIC_UPDATE_SLICE. */
#include "tflite.h"

#include <math.h>

static hone_status scalar_of(struct tf_op *op, struct value *x, struct value **out) {
  *out = x;
  return x->shape.rank ? make_reshape(op->make, x, NULL, 0, out) : HONE_OK;
}

/* A tensor of this shape with every element `number`. */
static hone_status filled(struct tf_op *op, hone_dtype dtype, const struct shape *shape,
                          double number, struct value **out) {
  struct value *dims, *scalar;
  TRY(make_ints(op->make, shape->dims, (size_t)shape->rank, &dims));
  TRY(make_scalar(op->make, dtype, number, &scalar));
  return make_node(op->make, OP_Expand, VALUES(scalar, dims), NULL, out);
}

/* x [from, to) along an axis. */
static hone_status part(struct tf_op *op, struct value *x, int64_t axis, int64_t from, int64_t to,
                        struct value **out) {
  struct value *starts, *ends, *axes;
  TRY(make_ints(op->make, &from, 1, &starts));
  TRY(make_ints(op->make, &to, 1, &ends));
  TRY(make_ints(op->make, &axis, 1, &axes));
  return make_node(op->make, OP_Slice, VALUES(x, starts, ends, axes), NULL, out);
}

/* WHERE: the indices of nonzero elements, [count, rank] of int64. */
hone_status tf_where(struct tf_op *op) {
  static const int64_t turn[] = {1, 0};
  struct value *x, *y;
  TRY(tf_arity(op, 1, 1, 1));
  TRY(tf_value(op, tf_in(op, 0), &x));
  TRY(make_node(op->make, OP_NonZero, VALUES(x), NULL, &y));
  TRY(make_transpose(op->make, y, turn, &y));
  return tf_write(op, 0, false, y);
}

/* -- NON_MAX_SUPPRESSION_V4 and V5 */

enum { NMS_BOXES, NMS_SCORES, NMS_MOST, NMS_OVERLAP, NMS_SCORE, NMS_SIGMA };

static hone_status constant_float(struct tf_op *op, size_t k, float *out) {
  struct value *x;
  TRY(tf_value(op, tf_in(op, k), &x));
  if (!x->constant || x->dtype != HONE_F32)
    return tf_refuse(op, "with input %zu that is not known at import", k);
  if (make_elements(x) != 1)
    return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "%s: input %zu is not one number",
                op->kind->name, k);
  *out = (float)tensor_f64(x->constant, 0);
  return HONE_OK;
}

/* boxes [n, 4], scores [n], most, overlap, lowest score; V5 (parameter 1): sigma of a soft
 * suppression. Results: box indices [most], for V5 their scores, and their number; padded with
 * zeros. */
hone_status tf_non_max_suppression(struct tf_op *op) {
  int64_t most;
  size_t count;
  float overlap, score, sigma = 0;
  const bool has_scores = op->kind->parameter != 0;
  struct value *boxes, *scores, *limits[3], *outs[3];
  TRY(tf_arity(op, has_scores ? 6 : 5, has_scores ? 6 : 5, has_scores ? 3 : 2));
  TRY(constant_float(op, NMS_OVERLAP, &overlap));
  TRY(constant_float(op, NMS_SCORE, &score));
  if (has_scores) TRY(constant_float(op, NMS_SIGMA, &sigma));
  TRY(tf_ints(op, NMS_MOST, 1, &most, &count));
  TRY(tf_value(op, tf_in(op, NMS_BOXES), &boxes));
  TRY(tf_value(op, tf_in(op, NMS_SCORES), &scores));
  if (!(overlap >= 0) || !(overlap <= 1) || !(sigma >= 0))
    return fail(op->ctx, HONE_E_NUM, tf_place(op), "%s: an overlap of %g, a sigma of %g",
                op->kind->name, (double)overlap, (double)sigma);
  if (count != 1 || most < 0)
    return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "%s of at most %lld boxes", op->kind->name,
                (long long)most);
  TRY(make_scalar(op->make, HONE_F32, (double)overlap, &limits[0]));
  TRY(make_scalar(op->make, HONE_F32, (double)score, &limits[1]));
  TRY(make_scalar(op->make, HONE_F32, (double)sigma, &limits[2]));
  TRY(make_nodes(op->make, OP_SuppressBoxes, VALUES(boxes, scores, limits[0], limits[1], limits[2]),
                 ARGS(INT_ARG("limit", most)), 3, outs));
  TRY(tf_write(op, 0, false, outs[0]));
  if (has_scores) TRY(tf_write(op, 1, false, outs[1]));
  return tf_write(op, has_scores ? 2 : 1, false, outs[2]);
}

/* -- lists */

/* Distinct elements in order of first occurrence, and the index of each element among them. */
hone_status tf_unique(struct tf_op *op) {
  struct value *x, *outs[4];
  TRY(tf_arity(op, 1, 1, 2));
  TRY(tf_value(op, tf_in(op, 0), &x));
  TRY(make_nodes(op->make, OP_Unique, VALUES(x), ARGS(INT_ARG("sorted", 0)), 4, outs));
  TRY(make_cast(op->make, outs[2], tf_out(op, 1)->dtype, &outs[2]));
  TRY(tf_write(op, 0, false, outs[0]));
  return tf_write(op, 1, false, outs[2]);
}

/* SPARSE_TO_DENSE: indices (a number, a list of numbers or of rows), shape, values (one or a list),
 * default value. */
hone_status tf_sparse_to_dense(struct tf_op *op) {
  struct value *indices, *shape, *values, *otherwise, *y;
  int64_t dims[2] = {1, 1};
  TRY(tf_arity(op, 4, 4, 1));
  TRY(tf_read_i64(op, 0, &indices));
  TRY(tf_read_i64(op, 1, &shape));
  TRY(tf_value(op, tf_in(op, 2), &values));
  TRY(tf_value(op, tf_in(op, 3), &otherwise));
  int rank = indices->shape.rank;
  if (rank > 2 || values->shape.rank > 1)
    return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "SPARSE_TO_DENSE with indices of rank %d",
                rank);
  for (int d = 0; d < rank; d++) dims[d] = indices->shape.dims[d];
  TRY(make_reshape(op->make, indices, dims, 2, &indices));
  TRY(scalar_of(op, otherwise, &otherwise));
  TRY(make_node(op->make, OP_Expand, VALUES(otherwise, shape), NULL, &y));
  if (!values->shape.rank) {
    TRY(make_expand(op->make, values, dims, 1, &values));
  }
  TRY(make_node(op->make, OP_ScatterND, VALUES(y, indices, values), NULL, &y));
  return tf_write(op, 0, false, y);
}

static double extreme(hone_dtype dtype, bool least) {
  double most = dtype == HONE_F32   ? 3.4028234663852886e38
                : dtype == HONE_I32 ? INT32_MAX
                                    : 9223372036854774784.0;
  return least ? (dtype == HONE_F32 ? -most : -most - (dtype == HONE_I32)) : most;
}

/* SEGMENT_SUM, UNSORTED_SEGMENT_*: parameter is the reduction. Rows of data with the same segment
 * id are reduced to one; negative ids go to an additional row that is cropped. */
hone_status tf_segment(struct tf_op *op) {
  static const char *const names[] = {"add", "mul", "max", "min"};
  const enum tf_reduction kind = (enum tf_reduction)op->kind->parameter;
  struct value *data, *ids, *first, *below, *beyond, *y;
  bool sorted = op->kind->code == 125;
  struct shape shape = {0};
  int64_t count = 0;
  size_t one = 1;
  TRY(tf_arity(op, sorted ? 2 : 3, sorted ? 2 : 3, 1));
  TRY(tf_value(op, tf_in(op, 0), &data));
  TRY(tf_read_i64(op, 1, &ids));
  if (sorted && !ids->constant)
    return tf_refuse(op, "with segment ids that are not known before the run");
  int lead = ids->shape.rank;
  bool fits = lead > 0 && lead <= data->shape.rank;
  const int64_t elements = make_elements(ids);
  for (int d = 0; fits && d < lead; d++) fits = ids->shape.dims[d] == data->shape.dims[d];
  if (!sorted) TRY(tf_ints(op, 2, 1, &count, &one));
  if (sorted && elements) count = tensor_i64(ids->constant, (size_t)elements - 1);
  if (sorted && elements) count += count < INT64_MAX; /* too large a count is rejected below */
  if (!fits || count < 0 || one != 1 || count > INT32_MAX)
    return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "%s: the segment ids do not match the data",
                op->kind->name);
  shape.dims[shape.rank++] = elements;
  for (int d = lead; d < data->shape.rank; d++) shape.dims[shape.rank++] = data->shape.dims[d];
  TRY(make_reshape(op->make, data, shape.dims, (size_t)shape.rank, &data));
  TRY(make_reshape(op->make, ids, (const int64_t[]){elements, 1}, 2, &ids));
  TRY(make_scalar(op->make, HONE_I64, 0, &below));
  TRY(make_scalar(op->make, HONE_I64, (double)count, &beyond));
  TRY(make_node(op->make, OP_Less, VALUES(ids, below), NULL, &below));
  TRY(make_node(op->make, OP_Where, VALUES(below, beyond, ids), NULL, &ids));
  shape.dims[0] = count + 1;
  TRY(filled(op, data->dtype, &shape,
             kind == TF_ADD   ? 0
             : kind == TF_MUL ? 1
                              : extreme(data->dtype, kind == TF_MAX),
             &first));
  TRY(make_node(op->make, OP_ScatterND, VALUES(first, ids, data),
                ARGS(STRING_ARG("reduction", names[kind])), &y));
  TRY(part(op, y, 0, 0, count, &y));
  return tf_write(op, 0, false, y);
}

/* -- look-ups by key */

/* x [n] as [n, 1, ..] with the rank of `like`. */
static hone_status as_rows(struct tf_op *op, struct value *x, const struct value *like,
                           struct value **out) {
  int64_t dims[HONE_MAX_RANK];
  for (int d = 0; d < like->shape.rank; d++) dims[d] = d ? 1 : x->shape.dims[0];
  return make_reshape(op->make, x, dims, (size_t)like->shape.rank, out);
}

/* HASHTABLE_LOOKUP: queries [n], sorted keys [rows], rows [rows, ..]. The rows, zeros for missing
 * keys, and whether each key was found. */
hone_status tf_hashtable_lookup(struct tf_op *op) {
  struct value *asked, *keys, *table, *same, *at, *found, *zero, *y;
  TRY(tf_arity(op, 3, 3, 2));
  TRY(tf_read_i64(op, 0, &asked));
  TRY(tf_read_i64(op, 1, &keys));
  TRY(tf_value(op, tf_in(op, 2), &table));
  if (asked->shape.rank != 1 || keys->shape.rank != 1 || table->shape.rank < 1 ||
      !keys->shape.dims[0] || table->shape.dims[0] != keys->shape.dims[0])
    return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "%s: the keys do not match the rows",
                op->kind->name);
  for (size_t i = 1; keys->constant && i < (size_t)keys->shape.dims[0]; i++)
    if (tensor_i64(keys->constant, i) <= tensor_i64(keys->constant, i - 1))
      return tf_refuse(op, "by keys that do not rise: LiteRT searches them as if they were sorted");
  TRY(make_reshape(op->make, asked, (const int64_t[]){asked->shape.dims[0], 1}, 2, &asked));
  TRY(make_node(op->make, OP_Equal, VALUES(asked, keys), NULL, &same));
  TRY(make_cast(op->make, same, HONE_I32, &same));
  TRY(make_node(op->make, OP_ArgMax, VALUES(same), ARGS(INT_ARG("axis", 1), INT_ARG("keepdims", 0)),
                &at));
  TRY(make_ints(op->make, (const int64_t[]){1}, 1, &zero));
  TRY(make_node(op->make, OP_ReduceMax, VALUES(same, zero), ARGS(INT_ARG("keepdims", 0)), &found));
  TRY(make_node(op->make, OP_Gather, VALUES(table, at), NULL, &y));
  TRY(make_cast(op->make, found, HONE_BOOL, &same));
  TRY(as_rows(op, same, y, &same));
  TRY(make_scalar(op->make, y->dtype, 0, &zero));
  TRY(make_node(op->make, OP_Where, VALUES(same, y, zero), NULL, &y));
  TRY(make_cast(op->make, found, HONE_U8, &found));
  TRY(tf_write(op, 0, false, y));
  return tf_write(op, 1, false, found);
}

/* Sums of the values at equal indices, of `shape`. */
static hone_status added_up(struct tf_op *op, const struct shape *shape, struct value *places,
                            struct value *x, struct value **out) {
  TRY(filled(op, x->dtype, shape, 0, out));
  return make_node(op->make, OP_ScatterND, VALUES(*out, places, x),
                   ARGS(STRING_ARG("reduction", "add")), out);
}

/* The divisor of the sums: the sum of weights, or the root of the sum of their squares (combiner
 * 2); 1 for empty lists. */
static hone_status divisor(struct tf_op *op, const struct shape *shape, struct value *places,
                           struct value *weights, int64_t combiner, struct value **out) {
  struct value *one, *ones, *empty, *zero;
  if (combiner == 2) TRY(make_node(op->make, OP_Mul, VALUES(weights, weights), NULL, &weights));
  TRY(added_up(op, shape, places, weights, out));
  if (combiner == 2) TRY(make_node(op->make, OP_Sqrt, VALUES(*out), NULL, out));
  TRY(filled(op, HONE_F32, &weights->shape, 1, &ones));
  TRY(added_up(op, shape, places, ones, &ones));
  TRY(make_scalar(op->make, HONE_F32, 0, &zero));
  TRY(make_scalar(op->make, HONE_F32, 1, &one));
  TRY(make_node(op->make, OP_Equal, VALUES(ones, zero), NULL, &empty));
  return make_node(op->make, OP_Where, VALUES(empty, one, *out), NULL, out);
}

static bool are_sizes(const int64_t *sizes, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (sizes[i] < 0) return false;
  return true;
}

/* EMBEDDING_LOOKUP_SPARSE: row indices [k], their positions [k, r] in a list of lists with these
 * sizes [r], weights [k], rows [rows, ..]. The weighted sum of each list's rows; option 0: or their
 * mean. */
hone_status tf_embedding_lookup_sparse(struct tf_op *op) {
  struct value *ids, *places, *weights, *table, *y, *by;
  int64_t sizes[HONE_MAX_RANK], combiner;
  size_t count;
  TRY(tf_arity(op, 5, 5, 1));
  TRY(tf_option(op, 0, FLAT_I8, 0, &combiner));
  TRY(tf_read_i64(op, 0, &ids));
  TRY(tf_read_i64(op, 1, &places));
  TRY(tf_ints(op, 2, HONE_MAX_RANK, sizes, &count));
  TRY(tf_value(op, tf_in(op, 3), &weights));
  TRY(tf_value(op, tf_in(op, 4), &table));
  const int lead = (int)count - 1, rank = lead + table->shape.rank - 1;
  if (combiner < 0 || combiner > 2) return tf_refuse(op, "with combiner %lld", (long long)combiner);
  if (ids->shape.rank != 1 || places->shape.rank != 2 ||
      !shape_equal(&weights->shape, &ids->shape) || places->shape.dims[0] != ids->shape.dims[0] ||
      places->shape.dims[1] != (int64_t)count || lead < 1 || table->shape.rank < 2 ||
      rank > HONE_MAX_RANK || !are_sizes(sizes, count))
    return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "%s: the positions do not match the rows",
                op->kind->name);
  struct shape shape = {.rank = rank}, lists = {.rank = lead};
  for (int d = 0; d < rank; d++)
    shape.dims[d] = d < lead ? sizes[d] : table->shape.dims[d - lead + 1];
  memcpy(lists.dims, sizes, (size_t)lead * sizeof *sizes);
  TRY(part(op, places, 1, 0, lead, &places));
  TRY(make_node(op->make, OP_Gather, VALUES(table, ids), NULL, &y));
  TRY(as_rows(op, weights, y, &by));
  TRY(make_node(op->make, OP_Mul, VALUES(y, by), NULL, &y));
  TRY(added_up(op, &shape, places, y, &y));
  if (combiner) {
    TRY(divisor(op, &lists, places, weights, combiner, &by));
    for (int d = lead; d < rank; d++) lists.dims[lists.rank++] = 1;
    TRY(make_reshape(op->make, by, lists.dims, (size_t)rank, &by));
    TRY(make_node(op->make, OP_Div, VALUES(y, by), NULL, &y));
  }
  return tf_write(op, 0, false, y);
}

/* BUCKETIZE: the number of boundaries in a sorted list (option 0) that are <= x. */
hone_status tf_bucketize(struct tf_op *op) {
  struct flat_vector list;
  struct value *x, *bounds, *axis, *y;
  struct shape shape;
  double *numbers;
  TRY(tf_arity(op, 1, 1, 1));
  TRY(flat_list(&op->options, 0, 4, &list));
  TRY(tf_value(op, tf_in(op, 0), &x));
  if (x->shape.rank >= HONE_MAX_RANK)
    return fail(op->ctx, HONE_E_LIMIT, tf_place(op), "BUCKETIZE of rank %d", x->shape.rank);
  TRY(NEW_ARRAY(op->ctx, op->tf->arena, numbers, list.count + 1));
  for (size_t i = 0; i < list.count; i++) {
    numbers[i] = (double)flat_f32_at(&list, i);
    if (i && !(numbers[i] >= numbers[i - 1]))
      return fail(op->ctx, HONE_E_NUM, tf_place(op), "BUCKETIZE by boundaries that do not rise");
  }
  shape = (struct shape){1, {(int64_t)list.count}};
  TRY(make_numbers(op->make, HONE_F32, &shape, numbers, &bounds));
  TRY(make_cast(op->make, x, HONE_F32, &x));
  shape = x->shape;
  shape.dims[shape.rank++] = 1;
  TRY(make_reshape(op->make, x, shape.dims, (size_t)shape.rank, &x));
  TRY(make_node(op->make, OP_Less, VALUES(x, bounds), NULL, &y));
  TRY(make_node(op->make, OP_Not, VALUES(y), NULL, &y));
  TRY(make_cast(op->make, y, HONE_I32, &y));
  TRY(make_ints(op->make, (const int64_t[]){-1}, 1, &axis));
  TRY(make_node(op->make, OP_ReduceSum, VALUES(y, axis), ARGS(INT_ARG("keepdims", 0)), &y));
  return tf_write(op, 0, false, y);
}

/* The shape that two shapes broadcast to. */
hone_status tf_broadcast_args(struct tf_op *op) {
  struct value *in[2], *ones, *same, *y;
  int64_t length[2];
  TRY(tf_arity(op, 2, 2, 1));
  for (size_t k = 0; k < 2; k++) {
    TRY(tf_value(op, tf_in(op, k), &in[k]));
    if (in[k]->shape.rank != 1)
      return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "BROADCAST_ARGS of rank %d",
                  in[k]->shape.rank);
    length[k] = in[k]->shape.dims[0];
  }
  int shorter = length[0] > length[1];
  struct shape shape = {1, {length[!shorter] - length[shorter]}};
  if (shape.dims[0] > HONE_MAX_RANK)
    return fail(op->ctx, HONE_E_LIMIT, tf_place(op), "BROADCAST_ARGS of %lld dimensions",
                (long long)length[!shorter]);
  TRY(filled(op, in[shorter]->dtype, &shape, 1, &ones));
  TRY(make_node(op->make, OP_Concat, VALUES(ones, in[shorter]), ARGS(INT_ARG("axis", 0)),
                &in[shorter]));
  TRY(make_scalar(op->make, in[0]->dtype, 1, &ones));
  TRY(make_node(op->make, OP_Equal, VALUES(in[0], ones), NULL, &same));
  TRY(make_node(op->make, OP_Where, VALUES(same, in[1], in[0]), NULL, &y));
  return tf_write(op, 0, false, y);
}

/* -- diagonals */

/* bool [rows, columns], true on the diagonal. */
static hone_status is_diagonal(struct tf_op *op, int64_t row_count, int64_t columns,
                               struct value **out) {
  struct value *down, *across, *zero, *one, *limit;
  TRY(make_scalar(op->make, HONE_I64, 0, &zero));
  TRY(make_scalar(op->make, HONE_I64, 1, &one));
  TRY(make_scalar(op->make, HONE_I64, (double)row_count, &limit));
  TRY(make_node(op->make, OP_Range, VALUES(zero, limit, one), NULL, &down));
  TRY(make_scalar(op->make, HONE_I64, (double)columns, &limit));
  TRY(make_node(op->make, OP_Range, VALUES(zero, limit, one), NULL, &across));
  TRY(make_reshape(op->make, down, (const int64_t[]){row_count, 1}, 2, &down));
  return make_node(op->make, OP_Equal, VALUES(down, across), NULL, out);
}

/* MATRIX_DIAG [.., n]: [.., n, n] with it as the diagonal; MATRIX_SET_DIAG (parameter 1): matrices
 * [.., m, n] with [.., min(m, n)] as their diagonal. */
hone_status tf_matrix_diag(struct tf_op *op) {
  struct value *x, *diagonal, *where, *y;
  bool sets = op->kind->parameter != 0;
  struct shape shape;
  TRY(tf_arity(op, sets ? 2 : 1, sets ? 2 : 1, 1));
  TRY(tf_value(op, tf_in(op, sets ? 1 : 0), &diagonal));
  shape = diagonal->shape;
  const int rank = shape.rank;
  if (rank < 1 || rank >= HONE_MAX_RANK)
    return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "%s of rank %d", op->kind->name, rank);
  int64_t n = shape.dims[rank - 1], m = n;
  if (sets) {
    TRY(tf_value(op, tf_in(op, 0), &x));
    if (x->shape.rank != rank + 1)
      return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "a diagonal of rank %d for rank %d", rank,
                  x->shape.rank);
    m = x->shape.dims[rank - 1], n = x->shape.dims[rank];
    if (shape.dims[rank - 1] != (m < n ? m : n))
      return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "a diagonal of %lld for %lld by %lld",
                  (long long)shape.dims[rank - 1], (long long)m, (long long)n);
  } else {
    TRY(make_scalar(op->make, diagonal->dtype, 0, &x));
  }
  if (m < n) { /* one element per row, or per column */
    shape.dims[shape.rank++] = 1;
    TRY(make_reshape(op->make, diagonal, shape.dims, (size_t)shape.rank, &diagonal));
  } else {
    shape.dims[shape.rank] = shape.dims[rank - 1];
    shape.dims[rank - 1] = 1;
    shape.rank++;
    TRY(make_reshape(op->make, diagonal, shape.dims, (size_t)shape.rank, &diagonal));
  }
  TRY(is_diagonal(op, m, n, &where));
  TRY(make_node(op->make, OP_Where, VALUES(where, diagonal, x), NULL, &y));
  return tf_write(op, 0, false, y);
}

/* -- DYNAMIC_UPDATE_SLICE */

/* Positions [count of the first `axes` axes of `block`, axes], starting at 0. */
static hone_status grid(struct tf_op *op, const struct shape *block, int axes, struct value **out) {
  struct shape shape = {2, {1, axes}};
  /* the count was checked when the value was made */
  for (int d = 0; d < axes; d++) shape.dims[0] *= block->dims[d];
  TRY(graph_new_constant(op->ctx, op->make->graph, HONE_I64, &shape, out));
  for (int64_t i = 0; i < shape.dims[0]; i++) {
    int64_t rest = i;
    for (int d = axes - 1; d >= 0; d--) {
      tensor_set_i64((*out)->constant, (size_t)(i * axes + d), rest % block->dims[d]);
      rest /= block->dims[d];
    }
  }
  return HONE_OK;
}

/* x with a block written at `start`, clamped so that the block fits. Axes after the last one where
 * the block is smaller need no index: they start at 0. */
hone_status tf_dynamic_update_slice(struct tf_op *op) {
  struct value *x, *block, *start, *places, *zero, *room, *y;
  int64_t dims[2] = {1, 0}, left[HONE_MAX_RANK], whole[HONE_MAX_RANK + 1];
  int axes = 0;
  TRY(tf_arity(op, 3, 3, 1));
  TRY(tf_value(op, tf_in(op, 0), &x));
  TRY(tf_value(op, tf_in(op, 1), &block));
  TRY(tf_read_i64(op, 2, &start));
  const int rank = x->shape.rank;
  bool fits = block->shape.rank == rank && start->shape.rank == 1 && start->shape.dims[0] == rank;
  for (int d = 0; fits && d < rank; d++) {
    left[d] = x->shape.dims[d] - block->shape.dims[d];
    fits = left[d] >= 0;
    if (left[d]) axes = d + 1;
  }
  if (!fits)
    return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "%s: the block's shape does not match",
                op->kind->name);
  if (!axes) return tf_write(op, 0, false, block);
  TRY(grid(op, &block->shape, axes, &places));
  TRY(part(op, start, 0, 0, axes, &start));
  TRY(make_scalar(op->make, HONE_I64, 0, &zero));
  TRY(make_ints(op->make, left, (size_t)axes, &room));
  TRY(make_node(op->make, OP_Max, VALUES(start, zero), NULL, &start));
  TRY(make_node(op->make, OP_Min, VALUES(start, room), NULL, &start));
  dims[1] = axes;
  TRY(make_reshape(op->make, start, dims, 2, &start));
  TRY(make_node(op->make, OP_Add, VALUES(places, start), NULL, &places));
  size_t out = 0;
  whole[out++] = places->shape.dims[0];
  for (int d = axes; d < rank; d++) whole[out++] = block->shape.dims[d];
  TRY(make_reshape(op->make, block, whole, out, &block));
  TRY(make_node(op->make, OP_ScatterND, VALUES(x, places, block), NULL, &y));
  return tf_write(op, 0, false, y);
}
