/* index: operators that select or place elements by data: WHERE, NON_MAX_SUPPRESSION, UNIQUE,
 * segments, sparse lists, look-ups by key, diagonals, and DYNAMIC_UPDATE_SLICE. */
#include "tflite.h"

#include <math.h>

static struct value *scalar_of(struct tf_op *op, struct value *x) {
  return x->shape.rank ? x_reshape(op->b, x, NULL, 0) : x;
}

/* A tensor of this shape with every element `number`. */
static struct value *filled(struct tf_op *op, hone_dtype dtype, const struct shape *shape,
                            double number) {
  return x_2(op->b, OP_Expand, x_scalar(op->b, dtype, number),
             x_list(op->b, shape->dims, (size_t)shape->rank));
}

/* x [from, to) along an axis. */
static struct value *part(struct tf_op *op, struct value *x, int64_t axis, int64_t from,
                          int64_t to) {
  return x_op(op->b, OP_Slice,
              VALUES(x, x_list(op->b, &from, 1), x_list(op->b, &to, 1), x_list(op->b, &axis, 1)));
}

/* WHERE: the indices of nonzero elements, [count, rank] of int64. */
hone_status tf_where(struct tf_op *op) {
  static const int64_t turn[] = {1, 0};
  struct value *x;
  TRY(tf_arity(op, 1, 1, 1));
  TRY(tf_value(op, tf_in(op, 0), &x));
  return tf_write(op, 0, false, x_transpose(op->b, x_1(op->b, OP_NonZero, x), turn));
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
  limits[0] = x_scalar(op->b, HONE_F32, (double)overlap);
  limits[1] = x_scalar(op->b, HONE_F32, (double)score);
  limits[2] = x_scalar(op->b, HONE_F32, (double)sigma);
  BUILD(op->b,
        x_nodes(op->b, OP_SuppressBoxes, VALUES(boxes, scores, limits[0], limits[1], limits[2]),
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
  BUILD(op->b, x_nodes(op->b, OP_Unique, VALUES(x), ARGS(INT_ARG("sorted", 0)), 4, outs));
  BUILD(op->b, outs[2] = x_cast(op->b, outs[2], tf_out(op, 1)->dtype));
  TRY(tf_write(op, 0, false, outs[0]));
  return tf_write(op, 1, false, outs[2]);
}

/* SPARSE_TO_DENSE: indices (a number, a list of numbers or of rows), shape, values (one or a list),
 * default value. */
hone_status tf_sparse_to_dense(struct tf_op *op) {
  struct value *indices, *shape, *values, *otherwise;
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
  BUILD(op->b, indices = x_reshape(op->b, indices, dims, 2));
  BUILD(op->b, otherwise = scalar_of(op, otherwise));
  struct value *y = x_2(op->b, OP_Expand, otherwise, shape);
  if (!values->shape.rank)
    BUILD(op->b, values = x_2(op->b, OP_Expand, values, x_list(op->b, dims, 1)));
  y = x_3(op->b, OP_ScatterND, y, indices, values);
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
  struct value *data, *ids, *below, *y;
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
  BUILD(op->b, data = x_reshape(op->b, data, shape.dims, shape.rank));
  BUILD(op->b, ids = x_reshape(op->b, ids, (const int64_t[]){elements, 1}, 2));
  below = x_scalar(op->b, HONE_I64, 0);
  struct value *beyond = x_scalar(op->b, HONE_I64, (double)count);
  below = x_2(op->b, OP_Less, ids, below);
  BUILD(op->b, ids = x_3(op->b, OP_Where, below, beyond, ids));
  shape.dims[0] = count + 1;
  struct value *first = filled(op, data->dtype, &shape,
                               kind == TF_ADD   ? 0
                               : kind == TF_MUL ? 1
                                                : extreme(data->dtype, kind == TF_MAX));
  BUILD(op->b, y = x_args(op->b, OP_ScatterND, VALUES(first, ids, data),
                          ARGS(STRING_ARG("reduction", names[kind]))));
  y = part(op, y, 0, 0, count);
  return tf_write(op, 0, false, y);
}

/* -- look-ups by key */

/* x [n] as [n, 1, ..] with the rank of `like`. */
static struct value *as_rows(struct tf_op *op, struct value *x, const struct value *like) {
  int64_t dims[HONE_MAX_RANK];
  for (int d = 0; d < like->shape.rank; d++) dims[d] = d ? 1 : x->shape.dims[0];
  return x_reshape(op->b, x, dims, like->shape.rank);
}

/* HASHTABLE_LOOKUP: queries [n], sorted keys [rows], rows [rows, ..]. The rows, zeros for missing
 * keys, and whether each key was found. */
hone_status tf_hashtable_lookup(struct tf_op *op) {
  struct value *asked, *keys, *table;
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
  BUILD(op->b, asked = x_reshape(op->b, asked, (const int64_t[]){asked->shape.dims[0], 1}, 2));
  struct value *same = x_cast(op->b, x_2(op->b, OP_Equal, asked, keys), HONE_I32);
  struct value *at =
      x_args(op->b, OP_ArgMax, VALUES(same), ARGS(INT_ARG("axis", 1), INT_ARG("keepdims", 0)));
  struct value *zero = x_list(op->b, (const int64_t[]){1}, 1);
  struct value *found =
      x_args(op->b, OP_ReduceMax, VALUES(same, zero), ARGS(INT_ARG("keepdims", 0)));
  struct value *y = x_2(op->b, OP_Gather, table, at);
  BUILD(op->b, same = x_cast(op->b, found, HONE_BOOL));
  same = as_rows(op, same, y);
  zero = x_scalar(op->b, y->dtype, 0);
  BUILD(op->b, y = x_3(op->b, OP_Where, same, y, zero));
  found = x_cast(op->b, found, HONE_U8);
  TRY(tf_write(op, 0, false, y));
  return tf_write(op, 1, false, found);
}

/* Sums of the values at equal indices, of `shape`. */
static struct value *added_up(struct tf_op *op, const struct shape *shape, struct value *places,
                              struct value *x) {
  struct value *out = filled(op, x->dtype, shape, 0);
  return x_args(op->b, OP_ScatterND, VALUES(out, places, x), ARGS(STRING_ARG("reduction", "add")));
}

/* The divisor of the sums: the sum of weights, or the root of the sum of their squares (combiner
 * 2); 1 for empty lists. */
static hone_status divisor(struct tf_op *op, const struct shape *shape, struct value *places,
                           struct value *weights, int64_t combiner, struct value **out) {
  struct value *ones;
  if (combiner == 2) BUILD(op->b, weights = x_2(op->b, OP_Mul, weights, weights));
  *out = added_up(op, shape, places, weights);
  if (combiner == 2) *out = x_1(op->b, OP_Sqrt, *out);
  BUILD(op->b, ones = filled(op, HONE_F32, &weights->shape, 1));
  ones = added_up(op, shape, places, ones);
  struct value *zero = x_scalar(op->b, HONE_F32, 0);
  struct value *one = x_scalar(op->b, HONE_F32, 1);
  return x_give(op->b, out, x_3(op->b, OP_Where, x_2(op->b, OP_Equal, ones, zero), one, *out));
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
  struct value *ids, *places, *weights, *table, *y;
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
  BUILD(op->b, places = part(op, places, 1, 0, lead));
  BUILD(op->b, y = x_2(op->b, OP_Gather, table, ids));
  struct value *by = as_rows(op, weights, y);
  BUILD(op->b, y = x_2(op->b, OP_Mul, y, by));
  BUILD(op->b, y = added_up(op, &shape, places, y));
  if (combiner) {
    TRY(divisor(op, &lists, places, weights, combiner, &by));
    for (int d = lead; d < rank; d++) lists.dims[lists.rank++] = 1;
    BUILD(op->b, by = x_reshape(op->b, by, lists.dims, rank));
    BUILD(op->b, y = x_2(op->b, OP_Div, y, by));
  }
  return tf_write(op, 0, false, y);
}

/* BUCKETIZE: the number of boundaries in a sorted list (option 0) that are <= x. */
hone_status tf_bucketize(struct tf_op *op) {
  struct flat_vector list;
  struct value *x;
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
  struct value *bounds = x_numbers(op->b, HONE_F32, &shape, numbers);
  BUILD(op->b, x = x_cast(op->b, x, HONE_F32));
  shape = x->shape;
  shape.dims[shape.rank++] = 1;
  BUILD(op->b, x = x_reshape(op->b, x, shape.dims, shape.rank));
  struct value *y =
      x_reduce(op->b, OP_ReduceSum,
               x_cast(op->b, x_1(op->b, OP_Not, x_2(op->b, OP_Less, x, bounds)), HONE_I32),
               (const int64_t[]){-1}, 1, 0);
  return tf_write(op, 0, false, y);
}

/* The shape that two shapes broadcast to. */
hone_status tf_broadcast_args(struct tf_op *op) {
  struct value *in[2];
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
  struct value *ones = filled(op, in[shorter]->dtype, &shape, 1);
  BUILD(op->b, in[shorter] = x_concat(op->b, 0, VALUES(ones, in[shorter])));
  ones = x_scalar(op->b, in[0]->dtype, 1);
  return tf_write(op, 0, false,
                  x_3(op->b, OP_Where, x_2(op->b, OP_Equal, in[0], ones), in[1], in[0]));
}

/* -- diagonals */

/* bool [rows, columns], true on the diagonal. */
static struct value *is_diagonal(struct tf_op *op, int64_t row_count, int64_t columns) {
  struct value *zero = x_scalar(op->b, HONE_I64, 0);
  struct value *one = x_scalar(op->b, HONE_I64, 1);
  struct value *down =
      x_3(op->b, OP_Range, zero, x_scalar(op->b, HONE_I64, (double)row_count), one);
  struct value *across =
      x_3(op->b, OP_Range, zero, x_scalar(op->b, HONE_I64, (double)columns), one);
  return x_2(op->b, OP_Equal, x_reshape(op->b, down, (const int64_t[]){row_count, 1}, 2), across);
}

/* MATRIX_DIAG [.., n]: [.., n, n] with it as the diagonal; MATRIX_SET_DIAG (parameter 1): matrices
 * [.., m, n] with [.., min(m, n)] as their diagonal. */
hone_status tf_matrix_diag(struct tf_op *op) {
  struct value *x, *diagonal;
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
    x = x_scalar(op->b, diagonal->dtype, 0);
  }
  if (m < n) { /* one element per row, or per column */
    shape.dims[shape.rank++] = 1;
    diagonal = x_reshape(op->b, diagonal, shape.dims, shape.rank);
  } else {
    shape.dims[shape.rank] = shape.dims[rank - 1];
    shape.dims[rank - 1] = 1;
    shape.rank++;
    diagonal = x_reshape(op->b, diagonal, shape.dims, shape.rank);
  }
  struct value *where = is_diagonal(op, m, n);
  return tf_write(op, 0, false, x_3(op->b, OP_Where, where, diagonal, x));
}

/* -- DYNAMIC_UPDATE_SLICE */

/* Positions [count of the first `axes` axes of `block`, axes], starting at 0. */
static hone_status grid(struct tf_op *op, const struct shape *block, int axes, struct value **out) {
  struct shape shape = {2, {1, axes}};
  /* the count was checked when the value was made */
  for (int d = 0; d < axes; d++) shape.dims[0] *= block->dims[d];
  TRY(graph_new_constant(op->ctx, op->b->graph, HONE_I64, &shape, out));
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
  struct value *x, *block, *start, *places;
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
  BUILD(op->b, start = part(op, start, 0, 0, axes));
  struct value *zero = x_scalar(op->b, HONE_I64, 0);
  struct value *room = x_list(op->b, left, (size_t)axes);
  BUILD(op->b, start = x_2(op->b, OP_Min, x_2(op->b, OP_Max, start, zero), room));
  dims[1] = axes;
  BUILD(op->b, start = x_reshape(op->b, start, dims, 2));
  BUILD(op->b, places = x_2(op->b, OP_Add, places, start));
  size_t out = 0;
  whole[out++] = places->shape.dims[0];
  for (int d = axes; d < rank; d++) whole[out++] = block->shape.dims[d];
  BUILD(op->b, block = x_reshape(op->b, block, whole, (int)out));
  return tf_write(op, 0, false, x_3(op->b, OP_ScatterND, x, places, block));
}
