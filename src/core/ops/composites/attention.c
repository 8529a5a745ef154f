/* Attention and related operators of language models. Attention keeps its own evaluation
 * (operators/attention.c) and is lowered by a pass; the others are expanded during shape
 * inference. */
#include <math.h>

#include "expand.h"

struct value *x_split_heads(struct graph_builder *e, struct value *x, int64_t heads) {
  if (e->status || x->shape.rank == 4) return x;
  const int64_t *d = x->shape.dims, size = heads > 0 ? d[2] / heads : 0;
  if (heads < 1 || x->shape.rank != 3 || d[2] % heads)
    x_fail(e, HONE_E_SHAPE, "%lld heads do not divide the operand", (long long)heads);
  return x_swap(e, x_reshape(e, x, (int64_t[]){d[0], d[1], heads, size}, 4), 1, 2);
}

struct value *x_join_heads(struct graph_builder *e, struct value *x) {
  const int64_t *d = x->shape.dims;
  return x_reshape(e, x_swap(e, x, 1, 2), (int64_t[]){d[0], d[2], d[1] * d[3]}, 3);
}

struct value *x_widened(struct graph_builder *e, struct value *x) {
  bool is_small = x && dtype_is_float(x->dtype) && dtype_bits(x->dtype) < 32;
  return is_small ? x_cast(e, x, HONE_F32) : x;
}

/* Query heads that share a key head are adjacent: they become further rows. If their number is
 * dynamic they are not merged, and the matmul broadcasts the key heads instead. */
struct value *x_of_heads(struct graph_builder *e, struct value *x, struct value *y) {
  const int64_t *d = x->shape.dims, batch = d[0], heads = d[1], rows = d[2], size = d[3];
  if (e->status) return x;
  const int64_t groups = y->shape.dims[1], columns = y->shape.dims[3];
  if (groups < 1 || heads % groups) {
    x_fail(e, HONE_E_SHAPE, "%lld heads share %lld", (long long)heads, (long long)groups);
    return x;
  }
  if (graph_is_open(e->graph) && rows > 1 && heads > groups) {
    x = x_reshape(e, x, (int64_t[]){batch, groups, heads / groups, rows, size}, 5);
    y = x_unsqueeze(e, y, 2);
  } else {
    x = x_reshape(e, x, (int64_t[]){batch, groups, heads / groups * rows, size}, 4);
  }
  return x_reshape(e, x_2(e, OP_MatMul, x, y), (int64_t[]){batch, heads, rows, columns}, 4);
}

/* -- Attention */

/* a OR b, where either may be absent. */
static struct value *either(struct graph_builder *e, struct value *a, struct value *b) {
  return a && b ? x_2(e, OP_Or, a, b) : a ? a : b;
}

/* True where query i must not attend to key j because of its position: [rows, keys] or [batch, 1,
 * rows, keys]. */
static struct value *hidden_places(struct graph_builder *e, int64_t rows, int64_t keys,
                                   int64_t past, struct value *lengths) {
  int64_t left = x_int(e, "left_window_size", -1), right = x_int(e, "right_window_size", -1);
  bool is_causal = x_int(e, "is_causal", 0) != 0;
  /* counted from the first query or to the last, so that a smaller dynamic size needs a part of
   * this constant */
  struct value *hidden = NULL, *i, *j = x_range(e, HONE_I64, keys, lengths ? 0 : -(double)past, 1);
  if (!is_causal && left < 0 && right < 0 && !lengths) return NULL;
  i = x_unsqueeze(e, x_range(e, HONE_I64, rows, lengths ? (double)-rows : 0, 1), 1);
  if (lengths) {
    struct value *n =
        x_reshape(e, x_cast(e, lengths, HONE_I64), (int64_t[]){lengths->shape.dims[0], 1, 1, 1}, 4);
    hidden = x_2(e, OP_GreaterOrEqual, j, n);
    i = x_2(e, OP_Add, i, n);
  }
  struct value *ahead = x_2(e, OP_Sub, j, i); /* distance of the key after the query */
  if (is_causal) hidden = either(e, hidden, x_2(e, OP_Greater, ahead, x_scalar(e, HONE_I64, 0)));
  if (left >= 0)
    hidden = either(e, hidden, x_2(e, OP_Less, ahead, x_scalar(e, HONE_I64, (double)-left)));
  if (right >= 0)
    hidden = either(e, hidden, x_2(e, OP_Greater, ahead, x_scalar(e, HONE_I64, (double)right)));
  return hidden;
}

/* The bias added to the scores: the mask, -Inf for hidden keys; NULL: none. */
static struct value *bias_of(struct graph_builder *e, struct value *mask, struct value *hidden,
                             hone_dtype dtype, int64_t keys) {
  struct value *never = x_scalar(e, dtype, -INFINITY), *zero = x_scalar(e, dtype, 0);
  if (mask && !e->status) {
    int last = mask->shape.rank - 1;
    mask = mask->dtype == HONE_BOOL ? x_3(e, OP_Where, mask, zero, never) : x_cast(e, mask, dtype);
    if (last >= 0 && mask->shape.dims[last] < keys) {
      struct shape more = mask->shape;
      more.dims[last] = keys - more.dims[last];
      mask = x_concat(e, last, (struct value *[]){mask, x_expand(e, never, &more)}, 2);
    }
  }
  if (!hidden) return mask;
  return x_3(e, OP_Where, hidden, never, mask ? mask : zero);
}

/* Softmax over keys; zeros if every key is hidden. */
static struct value *weights_of(struct graph_builder *e, struct value *scores, struct value *bias) {
  const int64_t last = -1;
  x_with_int(e, "axis", -1);
  struct value *weights = x_1(e, OP_Softmax, scores);
  if (!bias || e->status) return weights;
  struct value *best = bias->shape.rank ? x_reduce(e, OP_ReduceMax, bias, &last, 1, true) : bias;
  struct value *none = x_2(e, OP_Equal, best, x_scalar(e, bias->dtype, -INFINITY));
  return x_3(e, OP_Where, none, x_scalar(e, weights->dtype, 0), weights);
}

/* False if a mask of these leading dimensions could not broadcast over grouped heads. */
static bool broadcasts_over_heads(const struct value *mask, bool is_one_row) {
  for (int d = 0; mask && d < mask->shape.rank - 2; d++)
    if (mask->shape.dims[d] != 1 && (d || !is_one_row)) return false;
  return true;
}

/* Query heads that share a key head become rows, or if a head has several rows already a batch over
 * which the key heads broadcast. All nodes between the two matmuls then have one shape, and the
 * plan makes one step of them. */
static void group_heads(struct graph_builder *e, bool is_one_row, struct value **q,
                        struct value **k, struct value **v) {
  const int64_t *d = (*q)->shape.dims, *keys = (*k)->shape.dims, *values = (*v)->shape.dims;
  const int64_t groups = keys[1], count = d[0] * groups;
  if (is_one_row) {
    *q = x_reshape(e, *q, (int64_t[]){d[0], groups, d[1] / groups, d[3]}, 4);
    return;
  }
  *q = x_reshape(e, *q, (int64_t[]){count, d[1] / groups, d[2], d[3]}, 4);
  *k = x_reshape(e, *k, (int64_t[]){count, 1, keys[2], keys[3]}, 4);
  *v = x_reshape(e, *v, (int64_t[]){count, 1, values[2], values[3]}, 4);
}

void expand_attention(struct graph_builder *e) {
  enum { Q, K, V, MASK, PAST_KEY, PAST_VALUE, LENGTHS };
  struct value *q = x_in(e, Q), *k = x_in(e, K), *v = x_in(e, V);
  bool is_flat = q->shape.rank == 3;
  hone_dtype q_type = q->dtype, v_type = v->dtype;
  q = x_split_heads(e, q, x_int(e, "q_num_heads", 0));
  k = x_split_heads(e, k, x_int(e, "kv_num_heads", 0));
  v = x_split_heads(e, v, x_int(e, "kv_num_heads", 0));
  int64_t past = x_in(e, PAST_KEY) ? x_in(e, PAST_KEY)->shape.dims[2] : 0;
  if (x_in(e, PAST_KEY)) k = x_concat(e, 2, (struct value *[]){x_in(e, PAST_KEY), k}, 2);
  if (x_in(e, PAST_VALUE)) v = x_concat(e, 2, (struct value *[]){x_in(e, PAST_VALUE), v}, 2);
  x_out(e, 1, k);
  x_out(e, 2, v);
  q = x_widened(e, q), k = x_widened(e, k), v = x_cast(e, x_widened(e, v), q->dtype);
  if (e->status) return;
  const int64_t batch = q->shape.dims[0], heads = q->shape.dims[1], few = k->shape.dims[1];
  const int64_t rows = q->shape.dims[2], size = q->shape.dims[3], keys = k->shape.dims[2];
  const int64_t columns = v->shape.dims[3];
  /* the graph has one structure at all sizes */
  const bool is_one_row = rows == 1 && !e->graph->is_open;
  const bool has_batch = batch > 1 || (e->graph->is_open && !e->graph->is_open_inside);
  const bool is_grouped = few > 0 && heads > few && heads % few == 0 && v->shape.dims[1] == few &&
                          !(x_in(e, LENGTHS) && has_batch) &&
                          broadcasts_over_heads(x_in(e, MASK), is_one_row);
  if (is_grouped) group_heads(e, is_one_row, &q, &k, &v);
  double scale = x_float(e, "scale", size ? 1 / sqrt((double)size) : 1);
  double softcap = x_float(e, "softcap", 0);
  int64_t mode = x_int(e, "qk_matmul_output_mode", 0);
  k = x_swap(e, k, 2, 3);
  struct value *scores = is_grouped ? x_2(e, OP_MatMul, q, k) : x_of_heads(e, q, k);
  struct value *shown = scores = x_by(e, OP_Mul, scores, scale);
  if (softcap > 0)
    scores = x_by(e, OP_Mul, x_1(e, OP_Tanh, x_by(e, OP_Mul, scores, 1 / softcap)), softcap);
  if (mode == 1) shown = scores;
  struct value *hidden = hidden_places(e, rows, keys, past, x_in(e, LENGTHS));
  struct value *bias = bias_of(e, x_in(e, MASK), hidden, scores->dtype, keys);
  if (bias) scores = x_2(e, OP_Add, scores, bias);
  if (mode == 2) shown = scores;
  /* "within" is hone's own attribute: every query sees a key */
  bool may_be_blind = x_in(e, MASK) || (x_in(e, LENGTHS) && !x_int(e, "within", 0));
  struct value *weights = weights_of(e, scores, may_be_blind ? bias : NULL);
  if (mode == 3) shown = weights;
  shown = x_reshape(e, shown, (int64_t[]){batch, heads, rows, keys}, 4);
  x_out(e, 3, x_cast(e, shown, q_type));
  struct value *y = is_grouped ? x_2(e, OP_MatMul, weights, v) : x_of_heads(e, weights, v);
  y = x_reshape(e, y, (int64_t[]){batch, heads, rows, columns}, 4);
  x_out(e, 0, x_cast(e, is_flat ? x_join_heads(e, y) : y, q_type));
  (void)v_type;
}

/* -- FlexAttention: subgraphs that modify the scores and the weights */

static struct value *modified(struct graph_builder *e, const char *name, struct value *x) {
  const struct attribute *a = node_attribute(e->node, name);
  if (!a || e->status) return x;
  struct value *y = x_inline(e, a->graph, x);
  if (!e->status && (y->dtype != x->dtype || !shape_equal(&y->shape, &x->shape)))
    x_fail(e, HONE_E_SHAPE, "subgraph %s changes the type or shape", name);
  return y;
}

void expand_flex_attention(struct graph_builder *e) {
  struct value *q = x_in(e, 0), *k = x_in(e, 1), *v = x_in(e, 2);
  hone_dtype type = q->dtype;
  int64_t precision = x_int(e, "softmax_precision", type == HONE_F64 ? HONE_F64 : HONE_F32);
  if (q->shape.rank != 4 || k->shape.rank != 4 || v->shape.rank != 4 || !k->shape.dims[1] ||
      q->shape.dims[1] % k->shape.dims[1] || !dtype_is_float(dtype_of_number(precision))) {
    x_fail(e, HONE_E_SHAPE, "Q, K and V do not fit together");
    return;
  }
  q = x_widened(e, q), k = x_widened(e, k), v = x_widened(e, v);
  if (e->status) return; /* after a failure values have no heads */
  const int64_t size = q->shape.dims[3];
  double scale = x_float(e, "scale", size ? 1 / sqrt((double)size) : 1);
  struct value *scores = x_by(e, OP_Mul, x_of_heads(e, q, x_swap(e, k, 2, 3)), scale);
  scores = modified(e, "score_mod", x_cast(e, scores, (hone_dtype)precision));
  x_with_int(e, "axis", -1);
  struct value *weights = modified(e, "prob_mod", x_1(e, OP_Softmax, scores));
  struct value *y = x_of_heads(e, x_cast(e, weights, v->dtype), v);
  x_out(e, 0, x_cast(e, y, type));
}

/* -- RotaryEmbedding */

/* cos or sin for each token, shared by the heads: [batch, rows, 1, half] */
static struct value *angles(struct graph_builder *e, struct value *table, int64_t half) {
  if (x_in(e, 3)) table = x_gather(e, table, x_in(e, 3), 0);
  if (!e->status && (table->shape.rank != 3 || table->shape.dims[2] != half))
    x_fail(e, HONE_E_SHAPE, "the caches do not fit %lld rotated columns", (long long)(2 * half));
  return x_unsqueeze(e, table, 2);
}

void expand_rotary(struct graph_builder *e) {
  struct value *x = x_in(e, 0), *part[2], *table[2];
  bool is_flat = x->shape.rank == 3, interleaved = x_int(e, "interleaved", 0) != 0;
  int64_t heads = x_int(e, "num_heads", 0);
  struct shape given = x->shape;
  if (is_flat) {
    if (heads < 1 || given.dims[2] % heads) {
      x_fail(e, HONE_E_SHAPE, "num_heads is %lld for %lld columns", (long long)heads,
             (long long)given.dims[2]);
      return;
    }
    x = x_reshape(e, x, (int64_t[]){given.dims[0], given.dims[1], heads, given.dims[2] / heads}, 4);
  } else {
    x = x_swap(e, x, 1, 2);
  }
  if (e->status) return;
  const int64_t *d = x->shape.dims;
  int64_t size = d[3], turn = x_int(e, "rotary_embedding_dim", 0);
  if (!turn) turn = size;
  if (turn < 2 || turn > size || turn % 2 || x->shape.rank != 4) {
    x_fail(e, HONE_E_SHAPE, "%lld of %lld columns cannot be rotated", (long long)turn,
           (long long)size);
    return;
  }
  int64_t half = turn / 2;
  const int64_t rows =
      d[0] && d[2] ? -1 : d[1]; /* the number of tokens is not a constant: for exports */
  struct value *front = x_slice(e, x, 3, 0, turn);
  struct value *pairs = interleaved
                            ? x_reshape(e, front, (int64_t[]){d[0], rows, d[2], half, 2}, 5)
                            : x_reshape(e, front, (int64_t[]){d[0], rows, d[2], 2, half}, 5);
  int axis = interleaved ? 4 : 3;
  for (int i = 0; i < 2; i++) part[i] = x_slice(e, pairs, axis, i, i + 1);
  part[1] = x_1(e, OP_Neg, part[1]);
  struct value *turned = x_concat(e, axis, (struct value *[]){part[1], part[0]}, 2);
  for (int i = 0; i < 2; i++)
    table[i] = x_unsqueeze(e, angles(e, x_in(e, 1 + (size_t)i), half), axis);
  turned = x_2(e, OP_Add, x_2(e, OP_Mul, pairs, table[0]), x_2(e, OP_Mul, turned, table[1]));
  struct value *y = x_reshape(e, turned, (int64_t[]){d[0], rows, d[2], turn}, 4);
  if (turn < size) y = x_concat(e, 3, (struct value *[]){y, x_slice(e, x, 3, turn, size)}, 2);
  y = is_flat ? x_reshape(e, y, given.dims, 3) : x_swap(e, y, 1, 2);
  x_out(e, 0, y);
}

/* -- LinearAttention: one step per token */

enum { LONGEST_SEQUENCE = 1024 };

struct recurrence {
  int64_t batch, kv_heads, shared, key_size, value_size;
  bool is_delta, is_gated;
  double scale;
};

/* Token t of [batch, tokens, columns] in the given shape. */
static struct value *token(struct graph_builder *e, struct value *x, int64_t t, int64_t a,
                           int64_t b, int64_t c) {
  return x_reshape(e, x_slice(e, x, 1, t, t + 1), (int64_t[]){x->shape.dims[0], a, b, c}, 4);
}

static struct value *step(struct graph_builder *e, const struct recurrence *r, int64_t t,
                          struct value *const in[6], struct value **state) {
  struct value *q = in[0], *k = in[1], *v = in[2], *decay = in[4], *beta = in[5];
  struct value *key = token(e, k, t, r->kv_heads, r->key_size, 1);
  struct value *value = token(e, v, t, r->kv_heads, 1, r->value_size);
  if (r->is_gated) {
    int64_t each = decay->shape.dims[2] / r->kv_heads;
    struct value *g = token(e, decay, t, r->kv_heads, each, 1);
    *state = x_2(e, OP_Mul, x_1(e, OP_Exp, g), *state);
  }
  if (r->is_delta) {
    struct value *found = x_2(e, OP_MatMul, x_swap(e, key, 2, 3), *state);
    struct value *rate = token(e, beta, t, beta->shape.dims[2], 1, 1);
    value = x_2(e, OP_Mul, rate, x_2(e, OP_Sub, value, found));
  }
  *state = x_2(e, OP_Add, *state, x_2(e, OP_Mul, key, value));
  struct value *y = x_2(e, OP_MatMul, token(e, q, t, r->kv_heads, r->shared, r->key_size), *state);
  y = x_by(e, OP_Mul, y, r->scale);
  return x_reshape(e, y, (int64_t[]){r->batch, 1, r->kv_heads * r->shared * r->value_size}, 3);
}

void expand_linear_attention(struct graph_builder *e) {
  enum { Q, K, V, PAST, DECAY, BETA };
  struct value *in[6] = {NULL}, *tokens[LONGEST_SEQUENCE], *state;
  int64_t heads = x_int(e, "q_num_heads", 0);
  struct recurrence r = {.kv_heads = x_int(e, "kv_num_heads", 0)};
  const char *rule = node_string(e->node, "update_rule", "gated_delta");
  r.is_gated = !strcmp(rule, "gated") || !strcmp(rule, "gated_delta");
  r.is_delta = !strcmp(rule, "delta") || !strcmp(rule, "gated_delta");
  for (size_t k = 0; k < 6; k++)
    if (x_in(e, k)) in[k] = x_widened(e, x_in(e, k));
  bool fits = in[Q]->shape.rank == 3 && in[K]->shape.rank == 3 && in[V]->shape.rank == 3 &&
              r.kv_heads > 0 && heads > 0 && heads % r.kv_heads == 0 &&
              in[Q]->shape.dims[2] % heads == 0 && in[K]->shape.dims[2] % r.kv_heads == 0 &&
              in[V]->shape.dims[2] % r.kv_heads == 0 && (!r.is_gated || in[DECAY]) &&
              (!r.is_delta || in[BETA]) && (!in[DECAY] || in[DECAY]->shape.rank == 3) &&
              (!in[BETA] || in[BETA]->shape.rank == 3);
  if (!fits) x_fail(e, HONE_E_SHAPE, "the operands do not fit together");
  if (e->status) return;
  int64_t count = in[Q]->shape.dims[1];
  if (count < 1 || count > LONGEST_SEQUENCE) {
    x_fail(e, HONE_E_UNSUP, "LinearAttention over %lld tokens (1 to %d)", (long long)count,
           LONGEST_SEQUENCE);
    return;
  }
  r.batch = in[Q]->shape.dims[0];
  r.shared = heads / r.kv_heads;
  r.key_size = in[Q]->shape.dims[2] / heads;
  r.value_size = in[V]->shape.dims[2] / r.kv_heads;
  r.scale = x_float(e, "scale", 0);
  if (r.scale == 0) r.scale = 1 / sqrt((double)r.key_size);
  struct shape shape = {4, {r.batch, r.kv_heads, r.key_size, r.value_size}};
  state = in[PAST] ? in[PAST] : x_expand(e, x_scalar(e, in[Q]->dtype, 0), &shape);
  for (int64_t t = 0; t < count; t++) tokens[t] = step(e, &r, t, in, &state);
  hone_dtype type = x_in(e, Q)->dtype;
  x_out(e, 0, x_cast(e, x_concat(e, 1, tokens, (size_t)count), type));
  x_out(e, 1, x_cast(e, state, in[PAST] ? x_in(e, PAST)->dtype : type));
}

/* -- CausalConvWithState, SwiGLU, TensorScatter */

void expand_causal_conv(struct graph_builder *e) {
  struct value *x = x_in(e, 0), *weight = x_in(e, 1), *past = x_in(e, 3);
  hone_dtype type = x->dtype;
  if (x->shape.rank != 3 || weight->shape.rank != 3 || weight->shape.dims[2] < 1) {
    x_fail(e, HONE_E_SHAPE, "input or weight is not of rank 3");
    return;
  }
  int64_t kept = weight->shape.dims[2] - 1, length = x->shape.dims[2];
  struct value *all = x;
  if (past)
    all = x_concat(e, 2, (struct value *[]){past, x}, 2);
  else
    all = x_pad(e, x, 2, kept, 0);
  x_out(e, 1, x_slice(e, all, 2, length, length + kept));
  struct value *bias = x_in(e, 2) ? x_widened(e, x_in(e, 2)) : NULL;
  struct value *wide = x_widened(e, all), *kernel = x_widened(e, weight);
  x_with_int(e, "group", x->shape.dims[1]);
  struct value *y = x_op(e, OP_Conv, (struct value *[]){wide, kernel, bias}, bias ? 3 : 2);
  if (!x_is(e, "activation", "none", "none")) y = x_1(e, OP_Swish, y);
  x_out(e, 0, x_cast(e, y, type));
}

void expand_swiglu(struct graph_builder *e) {
  x_with_float(e, "alpha", x_float(e, "alpha", 1));
  struct value *gate = x_1(e, OP_Swish, x_in(e, 0));
  x_out(e, 0, x_2(e, OP_Mul, gate, x_in(e, 1)));
}

/* Each tuple of a dense tensor of them, [..., rank - 1], counts its own place. */
static void fill_places(const struct shape *shape, int64_t *to) {
  const int length = shape->rank - 1;
  int64_t at[HONE_MAX_RANK] = {0}, count = 1;
  for (int k = 0; k < length; k++) count *= shape->dims[k];
  for (int64_t i = 0; i < count; i++, to += length) {
    memcpy(to, at, (size_t)length * sizeof *at);
    for (int k = length - 1; k >= 0 && ++at[k] == shape->dims[k]; k--) at[k] = 0;
  }
}

void expand_tensor_scatter(struct graph_builder *e) {
  struct value *cache = x_in(e, 0), *update = x_in(e, 1), *first = x_in(e, 2);
  int axis = 0, rank = update->shape.rank;
  hone_status status = axis_attribute(e->ctx, e->node, "axis", -2, rank, &axis);
  if (status || axis == 0 || cache->shape.rank != rank) {
    if (status)
      e->status = status;
    else
      x_fail(e, HONE_E_SHAPE, "axis %d of ranks %d and %d", axis, cache->shape.rank, rank);
    return;
  }
  /* the index tuple of each run of the update: its own place, `first` further along the axis */
  const struct tensor *places;
  struct shape shape = {.rank = axis + 2};
  int64_t along[HONE_MAX_RANK] = {0}, batch[HONE_MAX_RANK] = {update->shape.dims[0]};
  if (axis + 2 > HONE_MAX_RANK) {
    x_fail(e, HONE_E_LIMIT, "the update has too many dimensions");
    return;
  }
  for (int i = 0; i <= axis; i++) shape.dims[i] = update->shape.dims[i];
  for (int i = 1; i <= axis + 1; i++) batch[i] = 1;
  shape.dims[axis + 1] = axis + 1;
  along[axis] = 1;
  struct value *index = x_constant(e, HONE_I64, &shape, &places);
  if (e->status) return;
  fill_places(&shape, (int64_t *)(uintptr_t)places->data);
  if (first) {
    first = x_reshape(e, x_cast(e, first, HONE_I64), batch, axis + 2);
    first = x_2(e, OP_Mul, first, x_list(e, along, (size_t)axis + 1));
    index = x_2(e, OP_Add, index, first);
  }
  if (x_is(e, "mode", "linear", "circular"))
    index = x_2(e, OP_Mod, index, x_list(e, cache->shape.dims, (size_t)axis + 1));
  x_with_int(e, "within", 1); /* tokens and a cache of dynamic length: compiler/plan/dynamic.c */
  x_out(e, 0, x_3(e, OP_ScatterND, cache, index, update));
}
