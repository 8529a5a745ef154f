/* Attention operators of com.microsoft: packed projections, padding masks, caches, grouped heads.
 * Every form ends in attend(): two matmuls with a Softmax between them. Source:
 * docs/ContribOperators.md of ONNX Runtime. */
#include <math.h>

#include "expand.h"

struct scores {
  /* [batch, heads, rows, size]; k and v may have fewer heads, which are shared */
  struct value *q, *k, *v;
  struct value *bias;    /* added to [batch, heads, rows, keys], or NULL */
  struct value *hidden;  /* true: that key is hidden; or NULL */
  struct value *sink;    /* [heads] or scalar: logit of a key without a value, or NULL */
  double scale, softcap; /* 0: 1 / sqrt(size); none */
};

static struct value *times(struct graph_builder *e, struct value *x, double by) {
  return by == 1 ? x : x_by(e, OP_Mul, x, by);
}

static struct value *sum_of(struct graph_builder *e, struct value *a, struct value *b) {
  return a && b ? x_2(e, OP_Add, a, b) : a ? a : b;
}

/* The sink is an additional column of the Softmax, removed afterwards. */
static struct value *weights_of(struct graph_builder *e, struct value *x, struct value *sink) {
  const int64_t *d = x->shape.dims, keys = d[3];
  if (sink && !e->status) {
    struct shape column = {4, {d[0], d[1], d[2], 1}};
    sink = x_cast(e, sink, x->dtype);
    if (sink->shape.rank) sink = x_reshape(e, sink, (int64_t[]){1, sink->shape.dims[0], 1, 1}, 4);
    x = x_concat(e, 3, (struct value *[]){x, x_expand(e, sink, &column)}, 2);
  }
  x_with_int(e, "axis", -1);
  x = x_1(e, OP_Softmax, x);
  return sink ? x_slice(e, x, 3, 0, keys) : x;
}

/* [batch, rows, heads * width], of q's type */
static struct value *attend(struct graph_builder *e, struct scores s) {
  hone_dtype dtype = s.q->dtype;
  if (e->status) return s.q;
  const int64_t heads = s.q->shape.dims[1], size = s.q->shape.dims[3];
  int64_t shared_by = s.k->shape.dims[1], keys = s.k->shape.dims[2];
  if (s.k->shape.rank != 4 || s.v->shape.rank != 4 || shared_by < 1 || heads % shared_by ||
      s.k->shape.dims[3] != size || s.v->shape.dims[2] != keys) {
    x_fail(e, HONE_E_SHAPE, "query, key and value do not fit together");
    return s.q;
  }
  double scale = s.scale != 0 ? s.scale : size ? 1 / sqrt((double)size) : 1;
  struct value *q = x_widened(e, s.q), *k = x_widened(e, s.k), *v = x_widened(e, s.v);
  struct value *x = times(e, x_of_heads(e, q, x_swap(e, k, 2, 3)), scale);
  if (s.softcap > 0) x = times(e, x_1(e, OP_Tanh, times(e, x, 1 / s.softcap)), s.softcap);
  if (s.bias) x = x_2(e, OP_Add, x, x_cast(e, s.bias, x->dtype));
  if (s.hidden) x = x_3(e, OP_Where, s.hidden, x_scalar(e, x->dtype, -INFINITY), x);
  x = weights_of(e, x, s.sink);
  return x_cast(e, x_join_heads(e, x_of_heads(e, x, v)), dtype);
}

/* True where the key is after the query's position: [rows, past + rows]. Counted from the first
 * query, so that a shorter past needs a part of this constant. */
static struct value *future(struct graph_builder *e, int64_t rows, int64_t past, int64_t keys) {
  struct value *i = x_unsqueeze(e, x_range(e, HONE_I64, rows, 0, 1), 1);
  return x_2(e, OP_Greater, x_range(e, HONE_I64, keys, -(double)past, 1), i);
}

/* The bias that a mask adds to the scores. Forms of the mask: 1 for visible keys, [batch, keys] or
 * [batch, rows, keys]; [batch], the number of visible keys; [2 batch], ends and then beginnings. */
static struct value *padding(struct graph_builder *e, struct value *mask, int64_t batch,
                             int64_t keys, double filter) {
  const int64_t *d = mask->shape.dims;
  struct value *seen = NULL;
  if (mask->shape.rank == 1 && (d[0] == batch || d[0] == 2 * batch)) {
    struct value *j = x_range(e, mask->dtype, keys, 0, 1);
    struct value *end = x_reshape(e, x_slice(e, mask, 0, 0, batch), (int64_t[]){batch, 1, 1, 1}, 4);
    seen = x_2(e, OP_Less, j, end);
    if (d[0] == 2 * batch) {
      struct value *start = x_slice(e, mask, 0, batch, 2 * batch);
      start = x_reshape(e, start, (int64_t[]){batch, 1, 1, 1}, 4);
      seen = x_2(e, OP_And, seen, x_2(e, OP_GreaterOrEqual, j, start));
    }
  } else if (mask->shape.rank == 2 && d[0] == batch && d[1] == keys) {
    seen = x_reshape(e, mask, (int64_t[]){batch, 1, 1, keys}, 4);
  } else if (mask->shape.rank == 3 && d[0] == batch && d[2] == keys) {
    seen = x_unsqueeze(e, mask, 1);
  } else {
    x_fail(e, HONE_E_UNSUP, "a mask of rank %d of this form", mask->shape.rank);
    return mask;
  }
  if (seen->dtype != HONE_BOOL && !e->status) seen = x_by(e, OP_Greater, seen, 0);
  return x_3(e, OP_Where, seen, x_scalar(e, HONE_F32, 0), x_scalar(e, HONE_F32, filter));
}

/* -- Attention: one matmul for query, key and value */

/* Rejects an attribute unless it has its default, 0 or NONE. */
static void refuse_unread(struct graph_builder *e, const char *name) {
  if (x_int(e, name, 0) || !x_is(e, name, "NONE", "NONE"))
    x_fail(e, HONE_E_UNSUP, "%s with %s is not supported", e->node->op->name, name);
}

struct packed {
  struct value *qkv; /* [batch, rows, columns], bias added */
  struct value *mask, *past, *bias;
};

/* Half `which` of [2, batch, heads, rows, size]. */
static struct value *cached(struct graph_builder *e, struct value *past, int64_t which) {
  return x_squeeze(e, x_slice(e, past, 0, which, which + 1), 0);
}

static void attend_packed(struct graph_builder *e, struct packed p) {
  size_t given = 0;
  const int64_t *sizes = node_ints(e->node, "qkv_hidden_sizes", &given);
  int64_t heads = x_int(e, "num_heads", 0), past = 0, from = 0;
  refuse_unread(e, "do_rotary");
  refuse_unread(e, "past_present_share_buffer");
  if (!e->status && (p.qkv->shape.rank != 3 || heads < 1 || (sizes && given != 3) ||
                     (p.past && (p.past->shape.rank != 5 || p.past->shape.dims[0] != 2))))
    x_fail(e, HONE_E_SHAPE, "%s: the operands do not fit together", e->node->op->name);
  if (e->status) return;
  const int64_t *d = p.qkv->shape.dims, batch = d[0], rows = d[1], third = d[2] / 3;
  struct value *part[3];
  for (int k = 0; k < 3; k++) {
    int64_t width = sizes ? sizes[k] : third;
    if (width < 1 || from + width > d[2]) x_fail(e, HONE_E_SHAPE, "qkv_hidden_sizes do not fit");
    part[k] = e->status ? p.qkv : x_split_heads(e, x_slice(e, p.qkv, 2, from, from + width), heads);
    from += width;
  }
  if (p.past) {
    past = p.past->shape.dims[3];
    for (int k = 1; k < 3; k++)
      part[k] = x_concat(e, 2, (struct value *[]){cached(e, p.past, k - 1), part[k]}, 2);
  }
  if (e->status) return;
  if (e->node->output_count > 1 && e->node->outputs[1])
    x_out(e, 1,
          x_concat(e, 0, (struct value *[]){x_unsqueeze(e, part[1], 0), x_unsqueeze(e, part[2], 0)},
                   2));
  struct scores s = {part[0], part[1], part[2], p.bias, NULL, NULL, x_float(e, "scale", 0), 0};
  double filter = x_float(e, "mask_filter_value", -10000);
  if (p.mask) s.bias = sum_of(e, padding(e, p.mask, batch, past + rows, filter), s.bias);
  if (x_int(e, "unidirectional", 0)) s.hidden = future(e, rows, past, past + rows);
  x_out(e, 0, attend(e, s));
}

/* input, weights, bias, mask, past, attention bias */
void expand_ms_attention(struct graph_builder *e) {
  struct value *qkv = x_2(e, OP_MatMul, x_in(e, 0), x_in(e, 1));
  attend_packed(e, (struct packed){sum_of(e, qkv, x_in(e, 2)), x_in(e, 3), x_in(e, 4), x_in(e, 5)});
}

/* input, weights, bias, input scale, weight scale, mask, input zero, weight zero, past */
void expand_qattention(struct graph_builder *e) {
  struct value *const in[] = {x_in(e, 0), x_in(e, 1), x_in(e, 3), x_in(e, 4),
                              x_in(e, 6), x_in(e, 7), x_in(e, 2)};
  struct value *qkv = x_op(e, OP_MatMulIntegerToFloat, in, COUNT(in));
  attend_packed(e, (struct packed){qkv, x_in(e, 5), x_in(e, 8), NULL});
}

/* -- MultiHeadAttention */

/* Operand `which` of [batch, rows, heads, count, size], as [batch, heads, rows, size]. */
static struct value *unpacked(struct graph_builder *e, struct value *x, int which) {
  return x_swap(e, x_squeeze(e, x_slice(e, x, 3, which, which + 1), 3), 1, 2);
}

/* Query, key and value as [batch, heads, rows, size], from any of their forms, with their bias. */
static void read_heads(struct graph_builder *e, int64_t heads, struct value *part[3]) {
  struct value *bias = x_in(e, 3);
  int64_t from = 0;
  int packed = part[0]->shape.rank == 5 ? 3 : part[1] && part[1]->shape.rank == 5 ? 2 : 0;
  struct value *source = packed == 3 ? part[0] : part[1];
  if (heads < 1 ||
      (packed && (source->shape.dims[3] != packed || source->shape.dims[2] != heads)) ||
      (!packed && (!part[1] || !part[2])))
    x_fail(e, HONE_E_SHAPE, "the operands do not fit %lld heads", (long long)heads);
  for (int k = 3 - packed; k < 3 && packed && !e->status; k++)
    part[k] = unpacked(e, source, k - (3 - packed));
  for (int k = 0; k < 3 && !e->status; k++) {
    part[k] = x_split_heads(e, part[k], heads);
    const int64_t *d = part[k]->shape.dims;
    bool is_given = !packed && x_in(e, (size_t)k)->shape.rank == 4; /* the bias is already added */
    if (bias && !is_given && !e->status) {
      struct value *own = x_slice(e, bias, 0, from, from + d[1] * d[3]);
      part[k] = x_2(e, OP_Add, part[k], x_reshape(e, own, (int64_t[]){d[1], 1, d[3]}, 3));
    }
    from += d[1] * d[3];
  }
}

/* query, key, value, bias, padding mask, attention bias, past key, past value */
void expand_multi_head_attention(struct graph_builder *e) {
  enum { PADDING = 4, BIAS, PAST_KEY, PAST_VALUE, SHARED };
  struct value *part[3] = {x_in(e, 0), x_in(e, 1), x_in(e, 2)};
  int64_t past = 0;
  if (x_in(e, SHARED)) x_fail(e, HONE_E_UNSUP, "MultiHeadAttention with a shared cache buffer");
  read_heads(e, x_int(e, "num_heads", 0), part);
  if (!x_in(e, PAST_KEY) != !x_in(e, PAST_VALUE))
    x_fail(e, HONE_E_SHAPE, "past_key and past_value come together");
  for (size_t k = 0; k < 2 && x_in(e, PAST_KEY) && !e->status; k++) {
    struct value *cache = x_in(e, PAST_KEY + k);
    past = cache->shape.rank == 4 ? cache->shape.dims[2] : 0;
    part[k + 1] = x_concat(e, 2, (struct value *[]){cache, part[k + 1]}, 2);
  }
  if (e->status) return;
  x_out(e, 1, part[1]);
  x_out(e, 2, part[2]);
  int64_t batch = part[0]->shape.dims[0], rows = part[0]->shape.dims[2];
  int64_t keys = part[1]->shape.dims[2];
  struct scores s = {part[0], part[1], part[2], x_in(e, BIAS), NULL, NULL, x_float(e, "scale", 0),
                     0};
  double filter = x_float(e, "mask_filter_value", -10000);
  if (x_in(e, PADDING))
    s.bias = sum_of(e, padding(e, x_in(e, PADDING), batch, keys, filter), s.bias);
  if (x_int(e, "unidirectional", 0)) s.hidden = future(e, rows, past, keys);
  x_out(e, 0, attend(e, s));
}

/* -- GroupQueryAttention */

enum { GQA_LAST = 5, GQA_TOTAL, GQA_COS, GQA_SIN, GQA_PLACES, GQA_BIAS, GQA_SINK };

struct grouped {
  struct value *q, *k, *v;    /* [batch, heads, rows, size] */
  int64_t batch, rows, total; /* total: keys after this call; -1: known only at run time */
  int64_t room, keys;         /* rows of the cache: of the operand, of the result */
  /* the result is as long as the larger of `room` and the number known at run time */
  bool is_open;
  struct value *before; /* [batch]: keys before this call's, i64 */
  /* [batch, rows]: positions of the tokens; NULL: consecutive, starting at `before` */
  struct value *own;
  int64_t known_before; /* the same; -1: known only at run time */
};

/* Number of cache rows after the call: the larger of `room` and the number of keys. If that number
 * is known only at run time, the output's declared shape determines whether the cache grows; a
 * dynamic dimension there is computed at run time. */
static void read_keys(struct graph_builder *e, struct grouped *g) {
  const struct value *present = e->node->output_count > 1 ? e->node->outputs[1] : NULL;
  const bool is_told = g->total < 0 && present && !present->has_shape && present->shape.rank == 4;
  const struct graph *main = e->graph;
  while (main->parent) main = main->parent;
  g->keys = g->total > g->room ? g->total : g->room;
  if (is_told && present->shape.dims[2] > g->room) g->keys = present->shape.dims[2];
  g->is_open = is_told && present->shape.dims[2] < 0 && !main->is_open;
  if (g->is_open) g->keys = g->room + g->rows;
}

/* The result of a cache with a dynamic length. */
static struct value *present(struct graph_builder *e, const struct grouped *g,
                             struct value *cache) {
  if (!g->is_open || e->status) return cache;
  const struct shape scalar = {0};
  struct value *total = x_cast(e, x_reshape(e, x_in(e, GQA_TOTAL), scalar.dims, 0), HONE_I64);
  total = x_2(e, OP_Max, total, x_scalar(e, HONE_I64, (double)g->room));
  return x_first(e, cache, 2, total);
}

/* The first cache row that this call's keys are written to, for each batch row. */
static void read_places(struct graph_builder *e, struct grouped *g) {
  const struct value *total = x_in(e, GQA_TOTAL), *past = x_in(e, 3);
  struct value *last = x_in(e, GQA_LAST);
  int64_t count = 0;
  g->room = past && past->shape.rank == 4 ? past->shape.dims[2] : 0;
  g->total = -1;
  if (total->constant && tensor_count(total->constant) == 1)
    g->total = tensor_i64(total->constant, 0);
  /* no keys can precede this call */
  else if (!g->room)
    g->total = g->rows;
  g->known_before = g->total == g->rows                                         ? 0
                    : g->total >= 0 && g->batch == 1 && g->total - g->rows >= 0 ? g->total - g->rows
                                                                                : -1;
  if (!shape_count(&last->shape, &count) || count != g->batch) {
    x_fail(e, HONE_E_SHAPE, "seqlens_k is not one number a batch row");
    return;
  }
  struct shape each = {1, {g->batch}};
  if (g->known_before == 0) {
    g->before = x_expand(e, x_scalar(e, HONE_I64, 0), &each);
    return;
  }
  /* computed from the operand even if shapes imply it, and counted from the last token: then tokens
   * and cache may both be dynamic in one artifact */
  last = x_cast(e, x_reshape(e, last, (int64_t[]){g->batch, 1}, 2), HONE_I64);
  struct value *after = x_range(e, HONE_I64, g->rows, (double)(g->rows - 1), -1);
  g->own = x_2(e, OP_Sub, last, after);
  g->before = x_reshape(e, x_slice(e, g->own, 1, 0, 1), each.dims, 1);
  if (g->total >= 0) return;
  /* the first call of a sequence fills the cache from its start, including sequences shorter than
   * the longest */
  g->before = x_2(e, OP_Max, g->before, x_scalar(e, HONE_I64, 0));
  g->own = NULL;
}

/* Rows of zeros, as many as x has: computed from x, so that their number may be dynamic. */
static struct value *cleared(struct graph_builder *e, const struct grouped *g,
                             const struct value *x) {
  struct value *never = x_2(e, OP_Less, g->before, x_scalar(e, HONE_I64, -0x1p62));
  never = x_reshape(e, x_cast(e, never, x->dtype), (int64_t[]){g->batch, 1, 1, 1}, 4);
  return x_expand(e, never, &x->shape);
}

/* The cache with this call's keys: appended, or written into it. */
static struct value *with_cache(struct graph_builder *e, const struct grouped *g,
                                struct value *past, struct value *x) {
  const int64_t keys = g->keys;
  if (e->status || (g->known_before == 0 && keys == g->rows)) return x;
  if (!past) {
    x_fail(e, HONE_E_SHAPE, "total_sequence_length is %lld without a cache", (long long)g->total);
    return x;
  }
  if (g->known_before == g->room && keys == g->room + g->rows)
    return x_concat(e, 2, (struct value *[]){past, x}, 2);
  if (keys == g->room + g->rows)
    past = x_concat(e, 2, (struct value *[]){past, cleared(e, g, x)}, 2);
  else
    past = x_pad(e, past, 2, 0, keys - g->room);
  x_with_int(e, "axis", 2);
  return x_3(e, OP_TensorScatter, past, x, g->before);
}

/* [batch, rows]: the position of each token of this call */
static struct value *places(struct graph_builder *e, const struct grouped *g) {
  if (g->own) return g->own;
  struct value *i = x_range(e, HONE_I64, g->rows, 0, 1);
  return x_2(e, OP_Add, x_reshape(e, g->before, (int64_t[]){g->batch, 1}, 2), i);
}

static struct value *rotated(struct graph_builder *e, struct value *x, struct value *at) {
  struct value *cosine = x_in(e, GQA_COS), *sine = x_in(e, GQA_SIN);
  if (!cosine || !sine || cosine->shape.rank != 2) {
    x_fail(e, HONE_E_SHAPE, "do_rotary without its two tables");
    return x;
  }
  x_with_int(e, "interleaved", x_int(e, "rotary_interleaved", 0));
  x_with_int(e, "rotary_embedding_dim", 2 * cosine->shape.dims[1]);
  return x_op(e, OP_RotaryEmbedding, (struct value *[]){x, cosine, sine, at}, 4);
}

/* Query, key and value, packed in one operand or as three. */
static void read_grouped(struct graph_builder *e, struct grouped *g) {
  int64_t heads = x_int(e, "num_heads", 0), few = x_int(e, "kv_num_heads", 0), size, at = 0;
  struct value *q = x_in(e, 0);
  if (!x_in(e, GQA_LAST) || !x_in(e, GQA_TOTAL) || heads < 1 || few < 1 || q->shape.rank != 3 ||
      !x_in(e, 1) != !x_in(e, 2) ||
      (x_in(e, 1) && (x_in(e, 1)->shape.rank != 3 || x_in(e, 2)->shape.rank != 3))) {
    x_fail(e, HONE_E_SHAPE, "query, key and value do not fit together");
    return;
  }
  struct value **const parts[] = {&g->q, &g->k, &g->v};
  for (int k = 0; k < 3; k++) {
    struct value *x = x_in(e, (size_t)k);
    if (!x_in(e, 1)) {
      size = q->shape.dims[2] / (heads + 2 * few);
      int64_t end = at + size * (k ? few : heads);
      x = x_slice(e, q, 2, at, end);
      at = end;
    }
    *parts[k] = x_split_heads(e, x, k ? few : heads);
  }
  g->batch = q->shape.dims[0], g->rows = q->shape.dims[1];
}

/* True where a key is after the query's position, or too far before it; NULL: a single query after
 * all keys. */
static struct value *hidden_keys(struct graph_builder *e, const struct grouped *g,
                                 struct value *own, int64_t keys) {
  int64_t window = x_int(e, "local_window_size", -1);
  if (g->rows == 1 && g->known_before == keys - 1 && window < 0) return NULL;
  struct value *j = x_range(e, HONE_I64, keys, 0, 1);
  struct value *i = x_reshape(e, own, (int64_t[]){g->batch, 1, g->rows, 1}, 4);
  struct value *hidden = x_2(e, OP_Greater, j, i);
  if (window < 0) return hidden;
  struct value *from = x_2(e, OP_Sub, i, x_scalar(e, HONE_I64, (double)window));
  return x_2(e, OP_Or, hidden, x_2(e, OP_LessOrEqual, j, from));
}

/* query, key, value, past key, past value, last position of each row, total number of keys, cos,
 * sin, positions, bias, sink */
void expand_group_query_attention(struct graph_builder *e) {
  struct grouped g = {0};
  for (size_t k = GQA_SINK + 1; k < e->node->input_count; k++)
    if (x_in(e, k))
      x_fail(e, HONE_E_UNSUP, "GroupQueryAttention with input %zu is not supported", k);
  refuse_unread(e, "k_quant_type");
  refuse_unread(e, "v_quant_type");
  refuse_unread(e, "kv_cache_bit_width");
  refuse_unread(e, "qk_output");
  read_grouped(e, &g);
  if (!e->status) read_places(e, &g);
  if (e->status) return;
  read_keys(e, &g);
  struct value *own = places(e, &g);
  struct value *at = x_in(e, GQA_PLACES) ? x_cast(e, x_in(e, GQA_PLACES), HONE_I64) : own;
  if (x_int(e, "do_rotary", 0)) g.q = rotated(e, g.q, at), g.k = rotated(e, g.k, at);
  g.k = with_cache(e, &g, x_in(e, 3), g.k);
  g.v = with_cache(e, &g, x_in(e, 4), g.v);
  x_out(e, 1, present(e, &g, g.k));
  x_out(e, 2, present(e, &g, g.v));
  if (e->status) return;
  struct value *hidden = hidden_keys(e, &g, own, g.k->shape.dims[2]);
  struct scores s = {g.q,
                     g.k,
                     g.v,
                     x_in(e, GQA_BIAS),
                     hidden,
                     x_in(e, GQA_SINK),
                     x_float(e, "scale", 0),
                     x_float(e, "softcap", 0)};
  if (!s.sink && x_int(e, "smooth_softmax", 0) > 0) s.sink = x_scalar(e, HONE_F32, 0);
  x_out(e, 0, attend(e, s));
}
