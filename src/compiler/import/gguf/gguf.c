/* gguf: the graph of a language model whose weights are in a GGUF file. The file names the architecture; the graph is known.
 *
 * Inputs: input_ids i64 [1, sequence], position_ids i64 [1, sequence], and for each block past.N.key and past.N.value
 * f32 [1, key heads, past, depth]. Outputs: logits f32 [1, sequence, vocabulary], and the caches with the new tokens appended,
 * present.N.key and present.N.value. Matrices stay integers with scales (DequantizeLinear), so that matmuls of few rows
 * read them as they are.
 *
 * With import_options.cache, caches are states of a fixed size that are updated in place: inputs past.N.key f16 [1, key heads, cache, depth],
 * past_length i64 [1], the number of tokens in them, in place of position_ids, and last i64 [1], the token whose logits [1, 1, vocabulary]
 * are the output (zeros if it is negative: only the end of a prompt needs them).
 */
#include "gguf.h"

#include <math.h>

#include "compiler/import/common/builder.h"

/* Where a kind of model differs from the block that all share (RMS norms, rotary positions, grouped heads, a gated feed-forward part)
   and the file does not say so. Biases, norms of heads and of results, joined matrices, scales and soft caps are there if the file
   has them. */
struct architecture {
  const char *name;
  const char *needs[2];  /* tensors that each block must have */
  bool rotates_pairs;    /* neighbours are rotated together; else element i and i + half */
  bool is_gelu;          /* GELU (tanh) in place of SiLU */
  bool scales_embedding; /* by sqrt(width) */
  int global_every;    /* one block of so many sees all keys, the others a window; 0: all see all */
  int unrotated_every; /* one block of so many has no positions; 0: none */
  int64_t wide_blocks; /* with so many blocks scores are divided by sqrt(width / heads) */
  double local_base;   /* of the positions of blocks with a window; 0: that of all */
};
static const struct architecture architectures[] = {
    {"llama", .rotates_pairs = true},
    {"qwen2", .needs = {"attn_q.bias"}},
    {"qwen3", .needs = {"attn_q_norm.weight"}},
    {"qwen2vl", .needs = {"attn_q.bias"}}, /* of text all positions of a token are equal */
    {"qwen3vl", .needs = {"attn_q_norm.weight"}},
    {"gemma", .is_gelu = true, .scales_embedding = true},
    {"gemma2", .needs = {"post_attention_norm.weight"}, .is_gelu = true, .scales_embedding = true,
     .global_every = 2, .wide_blocks = 46},
    {"gemma3", .needs = {"post_attention_norm.weight", "attn_q_norm.weight"}, .is_gelu = true,
     .scales_embedding = true, .global_every = 6, .wide_blocks = 62, .local_base = 10000},
    {"phi3", .rotates_pairs = false},
    {"internlm2", .rotates_pairs = true},
    {"ernie4_5", .rotates_pairs = true},
    {"granite", .rotates_pairs = true},
    {"smollm3", .rotates_pairs = true, .unrotated_every = 4},
    {"olmo2", .needs = {"post_attention_norm.weight", "attn_q_norm.weight"}, .global_every = 4},
};

enum { MAX_POSITIONS = 1 << 17, MAX_HEADS = 1024, MAX_DEPTH = 4096 };

/* A matrix [n, k] of integers with a scale, and perhaps a minimum, for each `block` of a row. */
struct matrix {
  struct value *integers, *scales, *minima; /* minima NULL: none */
  int64_t n, k, block;
};

struct model {
  struct ctx *ctx;
  struct arena *arena;
  struct gguf file;
  struct graph_builder b;
  /* by tensor: constants, so that a tied embedding is one; NULL: not made yet */
  struct made {
    struct value *floats;
    struct matrix matrix;
    bool is_used;
  } * made;
  const struct architecture *kind;
  int64_t blocks, width, inner, heads, key_heads, depth, turned, trained, positions, window,
      vocabulary;
  double epsilon;
  double embedding_scale, residual_scale, logit_scale; /* 1: none */
  double score_scale, score_cap, logit_cap;            /* 0: 1 / sqrt(depth); none */
  bool *is_local, has_windows;                         /* of each block: sees a window; of any */
  const struct graph *before;          /* of the same file, read before; NULL: none */
  size_t before_at;                    /* the value after the constant that was taken last */
  struct value *ids, *places;          /* the inputs */
  struct value **caches;               /* [2 * blocks] */
  struct value *past, *lengths, *last; /* with states: tokens before these, with these; of logits */
  int64_t rows, cache;                 /* cache 0: caches grow */
  hone_dtype cache_type;
  struct value *cosine[2], *sine[2]; /* of blocks that see all keys; of those that see a window */
};

/* -- facts */

/* From 1, or from 0 if that is what an absent key means. otherwise -1: the key must be there. */
static hone_status read_int(struct model *m, const char *name, int64_t high, int64_t otherwise,
                            int64_t *out) {
  char key[128];
  snprintf(key, sizeof key, "%s.%s", m->kind->name, name);
  if (otherwise < 0 && !gguf_find(&m->file, key))
    return fail(m->ctx, HONE_E_FORMAT, place_name(key), "is missing in the GGUF file");
  return gguf_int(m->ctx, &m->file, key, otherwise != 0, high, otherwise, out);
}

static hone_status read_float(struct model *m, const char *name, double otherwise, double *out) {
  char key[128];
  snprintf(key, sizeof key, "%s.%s", m->kind->name, name);
  return gguf_float(m->ctx, &m->file, key, otherwise, out);
}

static hone_status find_architecture(struct model *m) {
  const char *name;
  TRY(gguf_string(m->ctx, m->arena, &m->file, "general.architecture", &name));
  if (!name)
    return fail(m->ctx, HONE_E_FORMAT, place_name("general.architecture"),
                "is missing in the GGUF file");
  for (size_t i = 0; i < COUNT(architectures); i++)
    if (!strcmp(architectures[i].name, name)) m->kind = &architectures[i];
  if (m->kind) return HONE_OK;
  return advise(m->ctx,
                fail(m->ctx, HONE_E_UNSUP, place_name("general.architecture"),
                     "\"%.60s\" is not supported", name),
                "hone reads GGUF files of llama, qwen2, qwen2vl, qwen3, qwen3vl, gemma, gemma2, "
                "gemma3, phi3, "
                "internlm2, ernie4_5, granite, smollm3 and olmo2");
}

/* Which blocks see a window: attention.sliding_window_pattern is a period, or a truth value for each block. */
static hone_status read_windows(struct model *m) {
  char key[128];
  int64_t every = m->kind->global_every;
  snprintf(key, sizeof key, "%s.attention.sliding_window_pattern", m->kind->name);
  const struct gguf_value *pattern = gguf_find(&m->file, key);
  const bool is_list = pattern && pattern->kind == GGUF_ARRAY;
  TRY(NEW_ARRAY(m->ctx, m->arena, m->is_local, (size_t)m->blocks));
  TRY(read_int(m, "attention.sliding_window", INT32_MAX, 0, &m->window));
  if (!every || !m->window) return HONE_OK;
  if (is_list && (pattern->element != GGUF_BOOL || pattern->count != (uint64_t)m->blocks))
    return fail(m->ctx, HONE_E_FORMAT, place_name(key),
                "is not a truth value for each of %lld blocks", (long long)m->blocks);
  if (!is_list) TRY(gguf_int(m->ctx, &m->file, key, 0, INT32_MAX, every, &every));
  for (int64_t i = 0; i < m->blocks; i++)
    if (is_list ? pattern->at[i] : !every || (i + 1) % every)
      m->is_local[i] = m->has_windows = true;
  return HONE_OK;
}

static hone_status read_scales(struct model *m) {
  const double embedding = m->kind->scales_embedding ? (double)sqrtf((float)m->width) : 1;
  const double wide = 1 / sqrt((double)(m->width / m->heads));
  TRY(read_float(m, "attention.layer_norm_rms_epsilon", 1e-6, &m->epsilon));
  TRY(read_float(m, "embedding_scale", embedding, &m->embedding_scale));
  TRY(read_float(m, "residual_scale", 1, &m->residual_scale));
  TRY(read_float(m, "logit_scale", 1, &m->logit_scale));
  TRY(read_float(m, "attention.scale", m->blocks == m->kind->wide_blocks ? wide : 0,
                 &m->score_scale));
  TRY(read_float(m, "attn_logit_softcapping", 0, &m->score_cap));
  return read_float(m, "final_logit_softcapping", 0, &m->logit_cap);
}

static hone_status read_facts(struct model *m) {
  const struct gguf_tensor *embedding = gguf_tensor(&m->file, "token_embd.weight");
  int64_t experts;
  TRY(find_architecture(m));
  TRY(read_int(m, "expert_count", INT32_MAX, 0, &experts));
  if (experts)
    return fail(m->ctx, HONE_E_UNSUP, place_name(m->kind->name),
                "a mixture of %lld experts is not supported", (long long)experts);
  TRY(read_int(m, "block_count", 1024, -1, &m->blocks));
  TRY(read_int(m, "embedding_length", 1 << 20, -1, &m->width));
  TRY(read_int(m, "feed_forward_length", 1 << 24, -1, &m->inner));
  TRY(read_int(m, "attention.head_count", MAX_HEADS, -1, &m->heads));
  TRY(read_int(m, "attention.head_count_kv", MAX_HEADS, m->heads, &m->key_heads));
  TRY(read_int(m, "attention.key_length", MAX_DEPTH, m->width / m->heads, &m->depth));
  TRY(read_int(m, "rope.dimension_count", m->depth, m->depth, &m->turned));
  TRY(read_int(m, "context_length", INT32_MAX, 4096, &m->positions));
  TRY(read_windows(m));
  TRY(read_scales(m));
  m->trained = m->positions;
  if (m->positions > MAX_POSITIONS) m->positions = MAX_POSITIONS;
  if (m->cache) m->positions = m->cache;
  if (m->depth < 2 || m->depth % 2 || m->turned % 2 || m->heads % m->key_heads)
    return fail(m->ctx, HONE_E_FORMAT, place_name(m->kind->name),
                "%lld heads of %lld elements, %lld of them rotated, over %lld key heads",
                (long long)m->heads, (long long)m->depth, (long long)m->turned,
                (long long)m->key_heads);
  if (!embedding || embedding->rank != 2)
    return fail(m->ctx, HONE_E_FORMAT, place_name("token_embd.weight"),
                "is missing, or not a matrix");
  m->vocabulary = embedding->dims[0];
  return HONE_OK;
}

/* -- tensors of the file */

/* What was made of the tensor so far. */
static struct made *made_of(struct model *m, const struct gguf_tensor *t) {
  return &m->made[t - m->file.tensors];
}

/* NULL: the file has none. */
static const struct gguf_tensor *look_up(struct model *m, const char *block, const char *name) {
  char full[128];
  snprintf(full, sizeof full, "%s%s", block, name);
  return gguf_tensor(&m->file, full);
}

/* The tensor with these dimensions; columns 0: a vector. */
static hone_status find(struct model *m, const char *name, int64_t rows, int64_t columns,
                        const struct gguf_tensor **out) {
  const struct gguf_tensor *t = gguf_tensor(&m->file, name);
  if (!t) return fail(m->ctx, HONE_E_FORMAT, place_name(name), "is missing in the GGUF file");
  if (t->rank != (columns ? 2 : 1) || t->dims[0] != rows || (columns && t->dims[1] != columns))
    return columns
               ? fail(m->ctx, HONE_E_SHAPE, place_name(name),
                      "does not have the shape [%lld, %lld]", (long long)rows, (long long)columns)
               : fail(m->ctx, HONE_E_SHAPE, place_name(name), "does not have the shape [%lld]",
                      (long long)rows);
  made_of(m, t)->is_used = true;
  *out = t;
  return HONE_OK;
}

/* A constant for what NAME + part of the file holds: *out_made, which is to be filled, or NULL if the constant was read
   before. Both times they are read in the same order. */
static hone_status constant(struct model *m, const char *name, const char *part, hone_dtype dtype,
                            const struct shape *shape, struct tensor **out_made,
                            struct value **out) {
  char full[256];
  const size_t count = m->before ? m->before->values.count : 0;
  snprintf(full, sizeof full, "%s%s", name, part);
  *out_made = NULL;
  for (size_t i = 0; i < count; i++) {
    const size_t at = (m->before_at + i) % count;
    const struct value *value = m->before->values.at[at];
    if (!value->constant || value->dtype != dtype || strcmp(value->name, full) != 0 ||
        !shape_equal(&value->shape, shape))
      continue;
    m->before_at = at + 1;
    return graph_constant(m->ctx, m->b.graph, full, value->constant, out);
  }
  TRY(tensor_create(m->ctx, m->arena, dtype, shape, out_made));
  return graph_constant(m->ctx, m->b.graph, full, *out_made, out);
}

static hone_status as_floats(struct model *m, const struct gguf_tensor *t, struct value **out) {
  struct shape shape = {.rank = t->rank};
  struct tensor *made;
  *out = made_of(m, t)->floats;
  if (*out) return HONE_OK;
  for (int d = 0; d < t->rank; d++) shape.dims[d] = t->dims[d];
  TRY(constant(m, t->name, "", HONE_F32, &shape, &made, out));
  if (made) blocks_decode(t->type, t->data, tensor_count(made), (float *)(uintptr_t)made->data);
  made_of(m, t)->floats = *out;
  return HONE_OK;
}

static hone_status vector(struct model *m, const char *name, int64_t size, struct value **out) {
  const struct gguf_tensor *t;
  TRY(find(m, name, size, 0, &t));
  return as_floats(m, t, out);
}

/* A block from element `first` on; both are even. */
static void put_integers(struct tensor *to, size_t first, const int8_t *q, size_t count) {
  uint8_t *bytes = (uint8_t *)(uintptr_t)to->data;
  if (dtype_bits(to->dtype) == 8)
    memcpy(bytes + first, q, count);
  else
    for (size_t i = 0; i < count; i += 2)
      bytes[(first + i) / 2] = (uint8_t)((q[i] & 15) | (q[i + 1] & 15) << 4);
}

/* type: what holds the integers; I8 in place of a 4-bit type where rows are gathered. */
static hone_status read_matrix(struct model *m, const struct gguf_tensor *t, hone_dtype type,
                               struct matrix *out) {
  const struct block_type *b = t->type;
  const size_t count = (size_t)(t->dims[0] * t->dims[1]), subs = b->elements / b->sub_elements;
  char scales_of[16], minima_of[16];
  const char *part = type == b->integer ? "" : ".bytes";
  struct tensor *q, *scales, *minima = NULL;
  *out = made_of(m, t)->matrix;
  if (out->integers && out->integers->dtype == type) return HONE_OK;
  *out = (struct matrix){.n = t->dims[0], .k = t->dims[1], .block = b->sub_elements};
  const struct shape by_block = {2, {out->n, out->k / out->block}};
  TRY(constant(m, t->name, part, type, &(struct shape){2, {out->n, out->k}}, &q, &out->integers));
  snprintf(scales_of, sizeof scales_of, "%s.scales", part);
  snprintf(minima_of, sizeof minima_of, "%s.minima", part);
  TRY(constant(m, t->name, scales_of, HONE_F32, &by_block, &scales, &out->scales));
  if (b->has_minimum)
    TRY(constant(m, t->name, minima_of, HONE_F32, &by_block, &minima, &out->minima));
  made_of(m, t)->matrix = *out;
  if (!q && !scales && !minima) return HONE_OK;
  float *scale = scales ? (float *)(uintptr_t)scales->data : NULL;
  float *minimum = minima ? (float *)(uintptr_t)minima->data : NULL;
  for (size_t i = 0; i < count / b->elements; i++) {
    int8_t integers[BLOCK_MAX];
    float unused[2][SUB_BLOCK_MAX]; /* of a part that was read before */
    b->split(t->data + i * b->bytes, integers, scale ? scale + i * subs : unused[0],
             minimum ? minimum + i * subs : unused[1]);
    if (q) put_integers(q, i * b->elements, integers, b->elements);
  }
  return HONE_OK;
}

/* -- parts of the graph */

static struct value *transposed_gemm(struct model *m, struct value *x, struct value *w) {
  return x_args(&m->b, OP_Gemm, VALUES(x, w), ARGS(INT_ARG("transB", 1)));
}

/* x [rows, k] times the transposed matrix [n, k]: scale * integer by DequantizeLinear, and the minimum of each block times the sum of
   x over it. */
static hone_status multiply(struct model *m, struct value *x, const struct gguf_tensor *t,
                            struct value **out) {
  struct matrix w;
  struct value *weights, *sums;
  if (!t->type->split) {
    TRY(as_floats(m, t, &weights));
    return x_give(&m->b, out, transposed_gemm(m, x, weights));
  }
  TRY(read_matrix(m, t, t->type->integer, &w));
  BUILD(&m->b, weights = x_args(&m->b, OP_DequantizeLinear, VALUES(w.integers, w.scales),
                                ARGS(INT_ARG("axis", 1), INT_ARG("block_size", w.block),
                                     INT_ARG("a_digits", 2))));
  *out = transposed_gemm(m, x, weights);
  if (!w.minima) return HONE_OK;
  BUILD(&m->b, sums = x_reduce(&m->b, OP_ReduceSum,
                               x_reshape(&m->b, x, (int64_t[]){-1, w.k / w.block, w.block}, 3),
                               (int64_t[]){2}, 1, 0));
  return x_give(&m->b, out, x_2(&m->b, OP_Add, *out, transposed_gemm(m, sums, w.minima)));
}

/* NAME.weight, and NAME.bias if the file has one. */
static hone_status dense(struct model *m, const char *block, const char *name, struct value *x,
                         int64_t k, int64_t n, struct value **out) {
  char full[128];
  const struct gguf_tensor *t;
  struct value *bias;
  snprintf(full, sizeof full, "%s%s.weight", block, name);
  TRY(find(m, full, n, k, &t));
  TRY(multiply(m, x, t, out));
  snprintf(full, sizeof full, "%s%s.bias", block, name);
  if (!gguf_tensor(&m->file, full)) return HONE_OK;
  TRY(vector(m, full, n, &bias));
  return x_give(&m->b, out, x_2(&m->b, OP_Add, *out, bias));
}

/* Of *x over the last dimension, which has `size` elements; nothing if an optional one is not there. */
static hone_status norm(struct model *m, const char *block, const char *name, bool is_optional,
                        int64_t size, struct value **x) {
  char full[128];
  struct value *gain;
  snprintf(full, sizeof full, "%s%s.weight", block, name);
  if (is_optional && !gguf_tensor(&m->file, full)) return HONE_OK;
  TRY(vector(m, full, size, &gain));
  return x_give(&m->b, x,
                x_args(&m->b, OP_RMSNormalization, VALUES(*x, gain),
                       ARGS(INT_ARG("axis", -1), FLOAT_ARG("epsilon", m->epsilon))));
}

static struct value *scaled(struct model *m, struct value *x, double by) {
  return by == 1 ? x : x_by(&m->b, OP_Mul, x, by);
}

/* The rows of the embedding that the ids name: [rows, width]. */
static hone_status embed(struct model *m, struct value **out) {
  const struct gguf_tensor *t = gguf_tensor(&m->file, "token_embd.weight");
  const int64_t flat[] = {-1, m->width};
  struct value *ids, *x;
  struct matrix w;
  TRY(find(m, "token_embd.weight", m->vocabulary, m->width, &t));
  BUILD(&m->b, ids = x_reshape(&m->b, m->ids, (int64_t[]){-1}, 1));
  if (!t->type->split) {
    TRY(as_floats(m, t, &x));
    x = x_2(&m->b, OP_Gather, x, ids);
  } else {
    TRY(read_matrix(m, t, HONE_I8, &w));
    const int64_t blocks[] = {-1, w.k / w.block, w.block}, one[] = {-1, w.k / w.block, 1};
    x = x_2(&m->b, OP_Gather, w.integers, ids);
    x = x_reshape(&m->b, x_cast(&m->b, x, HONE_F32), blocks, 3);
    x = x_2(&m->b, OP_Mul, x, x_reshape(&m->b, x_2(&m->b, OP_Gather, w.scales, ids), one, 3));
    if (w.minima)
      x = x_2(&m->b, OP_Add, x, x_reshape(&m->b, x_2(&m->b, OP_Gather, w.minima, ids), one, 3));
    x = x_reshape(&m->b, x, flat, 2);
  }
  return x_give(&m->b, out, scaled(m, x, m->embedding_scale));
}

static hone_status rotation(struct model *m, bool is_local, struct value **cosine,
                            struct value **sine) {
  const struct gguf_positions positions = {m->kind->name, m->turned,           m->positions,
                                           m->trained,    m->kind->local_base, is_local};
  const struct shape shape = {2, {m->positions, m->turned / 2}};
  TRY(graph_new_constant(m->ctx, m->b.graph, HONE_F32, &shape, cosine));
  TRY(graph_new_constant(m->ctx, m->b.graph, HONE_F32, &shape, sine));
  return gguf_rotation(m->ctx, m->arena, &m->file, &positions,
                       (float *)(uintptr_t)(*cosine)->constant->data,
                       (float *)(uintptr_t)(*sine)->constant->data);
}

/* x [rows, heads * depth] as [1, heads, rows, depth]. */
static struct value *heads_of(struct model *m, struct value *x, int64_t heads) {
  return x_transpose(&m->b, x_reshape(&m->b, x, (int64_t[]){1, -1, heads, m->depth}, 4),
                     (int64_t[]){0, 2, 1, 3});
}

static struct value *rotate(struct model *m, struct value *x, int64_t at) {
  const int is_local = m->is_local[at], every = m->kind->unrotated_every;
  const int64_t turned = m->turned < m->depth ? m->turned : 0;
  if (every && (at + 1) % every == 0) return x;
  return x_args(&m->b, OP_RotaryEmbedding,
                VALUES(x, m->cosine[is_local], m->sine[is_local], m->places),
                ARGS(INT_ARG("interleaved", m->kind->rotates_pairs),
                     INT_ARG("rotary_embedding_dim", turned)));
}

/* The cache with the new keys or values: x [1, key heads, rows, depth] after the past ones. */
static struct value *update_cache(struct model *m, size_t at, struct value *x) {
  if (m->cache_type == HONE_F16) x = x_cast(&m->b, x, HONE_F16);
  return x_3(&m->b, OP_TensorScatter, m->caches[at], x, m->past);
}

static hone_status attention(struct model *m, int64_t at, struct value *q, struct value *k,
                             struct value *v, struct value *outs[3]) {
  struct attribute args[6] = {INT_ARG("is_causal", 1)};
  struct value **cache = &m->caches[2 * at];
  int n = 1;
  if (m->is_local[at]) args[n++] = (struct attribute)INT_ARG("left_window_size", m->window - 1);
  if (m->score_scale > 0) args[n++] = (struct attribute)FLOAT_ARG("scale", m->score_scale);
  if (m->score_cap > 0) args[n++] = (struct attribute)FLOAT_ARG("softcap", m->score_cap);
  if (!m->cache) {
    x_nodes(&m->b, OP_Attention, VALUES(q, k, v, NULL, cache[0], cache[1]), args, 3, outs);
    return m->b.status;
  }
  args[n++] = (struct attribute)INT_ARG("within", 1);
  outs[1] = update_cache(m, (size_t)(2 * at), k);
  outs[2] = update_cache(m, (size_t)(2 * at + 1), v);
  k = x_cast(&m->b, outs[1], HONE_F32);
  v = x_cast(&m->b, outs[2], HONE_F32);
  x_nodes(&m->b, OP_Attention, VALUES(q, k, v, NULL, NULL, NULL, m->lengths), args, 1, outs);
  return m->b.status;
}

/* Query, key and value, [rows, heads * depth]: by three matrices, or by one with the rows of all. */
static hone_status project(struct model *m, const char *block, struct value *x,
                           struct value *qkv[3]) {
  static const char *const names[] = {"attn_q", "attn_k", "attn_v"};
  const int64_t sizes[] = {m->heads * m->depth, m->key_heads * m->depth, m->key_heads * m->depth};
  struct value *joined;
  int64_t from = 0;
  if (!look_up(m, block, "attn_qkv.weight")) {
    for (int i = 0; i < 3; i++) TRY(dense(m, block, names[i], x, m->width, sizes[i], &qkv[i]));
    return HONE_OK;
  }
  TRY(dense(m, block, "attn_qkv", x, m->width, sizes[0] + 2 * sizes[1], &joined));
  for (int i = 0; i < 3; from += sizes[i++])
    qkv[i] = x_slice(&m->b, joined, 1, from, from + sizes[i]);
  return m->b.status;
}

/* *x [rows, heads * depth] as heads, with an RMS norm of the row or of each head if the file has one. */
static hone_status normed_heads(struct model *m, const char *block, const char *name, int64_t heads,
                                struct value **x) {
  char full[128];
  const int64_t row = heads * m->depth;
  snprintf(full, sizeof full, "%s.weight", name);
  const struct gguf_tensor *gain = look_up(m, block, full);
  const bool is_of_row = gain && gain->dims[0] == row;
  if (is_of_row) TRY(norm(m, block, name, false, row, x));
  BUILD(&m->b, *x = heads_of(m, *x, heads));
  return is_of_row ? HONE_OK : norm(m, block, name, true, m->depth, x);
}

static hone_status attend(struct model *m, int64_t at, const char *block, struct value *x,
                          struct value **out) {
  struct value *qkv[3], *outs[3];
  const char *name;
  TRY(project(m, block, x, qkv));
  TRY(normed_heads(m, block, "attn_q_norm", m->heads, &qkv[0]));
  TRY(normed_heads(m, block, "attn_k_norm", m->key_heads, &qkv[1]));
  for (int i = 0; i < 2; i++) qkv[i] = rotate(m, qkv[i], at);
  BUILD(&m->b, qkv[2] = heads_of(m, qkv[2], m->key_heads));
  TRY(attention(m, at, qkv[0], qkv[1], qkv[2], outs));
  for (int i = 0; i < 2; i++) {
    TRY(arena_printf(m->ctx, m->arena, &name, "present.%lld.%s", (long long)at,
                     i ? "value" : "key"));
    TRY(make_graph_output(&m->b, outs[1 + i], name));
  }
  BUILD(&m->b, x = x_reshape(&m->b, x_transpose(&m->b, outs[0], (int64_t[]){0, 2, 1, 3}),
                             (int64_t[]){-1, m->heads * m->depth}, 2));
  return dense(m, block, "attn_output", x, m->heads * m->depth, m->width, out);
}

/* The gate and what it multiplies are two matrices, or the halves of one. */
static hone_status feed_forward(struct model *m, const char *block, struct value *x,
                                struct value **out) {
  struct value *gate, *up;
  if (look_up(m, block, "ffn_gate.weight")) {
    TRY(dense(m, block, "ffn_gate", x, m->width, m->inner, &gate));
    TRY(dense(m, block, "ffn_up", x, m->width, m->inner, &up));
  } else {
    TRY(dense(m, block, "ffn_up", x, m->width, 2 * m->inner, &up));
    BUILD(&m->b, gate = x_slice(&m->b, up, 1, 0, m->inner));
    BUILD(&m->b, up = x_slice(&m->b, up, 1, m->inner, 2 * m->inner));
  }
  if (m->kind->is_gelu) {
    gate = x_args(&m->b, OP_Gelu, VALUES(gate), ARGS(STRING_ARG("approximate", "tanh")));
  } else {
    gate = x_2(&m->b, OP_Mul, gate, x_1(&m->b, OP_Sigmoid, gate));
  }
  BUILD(&m->b, up = x_2(&m->b, OP_Mul, gate, up));
  return dense(m, block, "ffn_down", up, m->inner, m->width, out);
}

/* What a part of a block gives is added to *x. A part without a norm after it has one before it. */
static hone_status add_block(struct model *m, int64_t at, struct value **x) {
  static const char *const before[] = {"attn_norm", "ffn_norm"};
  static const char *const after[] = {"post_attention_norm", "post_ffw_norm"};
  char block[32];
  snprintf(block, sizeof block, "blk.%lld.", (long long)at);
  for (size_t i = 0; i < COUNT(m->kind->needs) && m->kind->needs[i]; i++)
    if (!look_up(m, block, m->kind->needs[i]))
      return fail(m->ctx, HONE_E_FORMAT, place_name(block), "%s is missing in the GGUF file",
                  m->kind->needs[i]);
  for (int i = 0; i < 2; i++) {
    struct value *y = *x;
    char full[64];
    snprintf(full, sizeof full, "%s.weight", after[i]);
    TRY(norm(m, block, before[i], look_up(m, block, full), m->width, &y));
    TRY(i ? feed_forward(m, block, y, &y) : attend(m, at, block, y, &y));
    TRY(norm(m, block, after[i], true, m->width, &y));
    BUILD(&m->b, *x = x_2(&m->b, OP_Add, *x, scaled(m, y, m->residual_scale)));
  }
  return HONE_OK;
}

/* By the output matrix, or the embedding in its place. */
static hone_status add_logits(struct model *m, struct value *x, struct value **out) {
  const bool is_tied = !gguf_tensor(&m->file, "output.weight");
  TRY(norm(m, "", "output_norm", false, m->width, &x));
  TRY(dense(m, "", is_tied ? "token_embd" : "output", x, m->width, m->vocabulary, &x));
  x = scaled(m, x, 1 / m->logit_scale);
  if (m->logit_cap > 0)
    x = scaled(m, x_1(&m->b, OP_Tanh, scaled(m, x, 1 / m->logit_cap)), m->logit_cap);
  return x_give(&m->b, out, x_reshape(&m->b, x, (int64_t[]){1, -1, m->vocabulary}, 3));
}

/* Those of one of the tokens, if `last` is not negative: only the end of a prompt needs them. */
static hone_status add_last_logits(struct model *m, struct value *x, struct value **out) {
  static const char *const names[] = {"then_branch", "else_branch"};
  const struct shape scalar = {0}, sizes = {1, {3}};
  struct graph *outer = m->b.graph, *made[2];
  struct value *y;
  struct node *node;
  struct value *is_wanted = x_by(&m->b, OP_GreaterOrEqual, m->last, 0);
  BUILD(&m->b, x = x_args(&m->b, OP_Gather, VALUES(x, m->last), ARGS(INT_ARG("within", 1))));
  for (int i = 0; i < 2; i++) TRY(make_subgraph(&m->b, &made[i]));
  m->b.graph = made[0];
  TRY(add_logits(m, x, &y));
  TRY(make_graph_output(&m->b, y, NULL));
  m->b.graph = made[1];
  struct value *zero = x_numbers(&m->b, HONE_F32, &scalar, (double[]){0});
  struct value *shape = x_numbers(&m->b, HONE_I64, &sizes, (double[]){1, 1, (double)m->vocabulary});
  BUILD(&m->b, y = x_2(&m->b, OP_Expand, zero, shape));
  TRY(make_graph_output(&m->b, y, NULL));
  m->b.graph = outer;
  TRY(make_holder(&m->b, OP_If, VALUES(is_wanted), names, made, 2, 1, &node));
  *out = node->outputs[0];
  return HONE_OK;
}

/* -- inputs */

enum { EXAMPLE_ROWS = 1, EXAMPLE_PAST = 127, MAX_ROWS = 1024 };

static hone_status describe_input(struct model *m, struct raw_value *raw, const char *name,
                                  hone_dtype dtype, int rank) {
  *raw = (struct raw_value){.name = name, .dtype = dtype, .has_shape = true, .rank = rank};
  TRY(NEW_ARRAY(m->ctx, m->arena, raw->dims, (size_t)rank));
  for (int d = 0; d < rank; d++) raw->dims[d] = (struct raw_dim){.value = 1, .param = ""};
  return HONE_OK;
}

static hone_status describe_cache(struct model *m, struct raw_value *raw, size_t i) {
  const struct raw_dim past = {-1, "past", EXAMPLE_PAST};
  const char *name;
  TRY(arena_printf(m->ctx, m->arena, &name, "past.%zu.%s", i / 2, i % 2 ? "value" : "key"));
  TRY(describe_input(m, raw, name, m->cache_type, 4));
  raw->dims[1].value = m->key_heads;
  raw->dims[2] = m->cache ? (struct raw_dim){.value = m->cache, .param = ""} : past;
  raw->dims[3].value = m->depth;
  return HONE_OK;
}

/* Declares input i of the graph with the sizes asked for. */
static hone_status add_input(struct model *m, const struct raw_value *raw,
                             const struct shape *shape, struct value **out) {
  int64_t elements;
  size_t bytes;
  TRY(shape_check(m->ctx, place_name(raw->name), raw->dtype, shape, &elements, &bytes));
  return graph_input(m->ctx, m->b.graph, raw->name, raw->dtype, shape, out);
}

/* input_ids; position_ids, or past_length; the caches. */
static hone_status add_inputs(struct model *m, const struct source *source) {
  const size_t count = (size_t)(2 + 2 * m->blocks);
  const struct raw_dim sequence = {-1, "sequence", EXAMPLE_ROWS};
  struct raw_value *raw;
  struct shape *shapes;
  bool *is_real;
  TRY(NEW_ARRAY(m->ctx, m->arena, raw, count));
  TRY(NEW_ARRAY(m->ctx, m->arena, shapes, count));
  TRY(NEW_ARRAY(m->ctx, m->arena, is_real, count));
  TRY(NEW_ARRAY(m->ctx, m->arena, m->caches, count));
  TRY(describe_input(m, &raw[0], "input_ids", HONE_I64, 2));
  TRY(describe_input(m, &raw[1], m->cache ? "past_length" : "position_ids", HONE_I64,
                     m->cache ? 1 : 2));
  raw[0].dims[1] = sequence;
  if (!m->cache) raw[1].dims[1] = sequence;
  for (size_t i = 2; i < count; i++) TRY(describe_cache(m, &raw[i], i - 2));
  for (size_t i = 0; i < count; i++) is_real[i] = true;
  TRY(bind_shapes(m->ctx, m->arena, source->options, raw, is_real, count, shapes, m->b.graph));
  TRY(add_input(m, &raw[0], &shapes[0], &m->ids));
  TRY(add_input(m, &raw[1], &shapes[1], m->cache ? &m->past : &m->places));
  for (size_t i = 2; i < count; i++) TRY(add_input(m, &raw[i], &shapes[i], &m->caches[i - 2]));
  m->rows = shapes[0].dims[1];
  return HONE_OK;
}

/* With states: the positions of the tokens, and how many the caches hold with them. */
static hone_status add_positions(struct model *m) {
  const struct shape one = {1, {1}}, row = {2, {1, m->rows}};
  double numbers[MAX_ROWS];
  if (m->rows > MAX_ROWS || m->rows > m->cache)
    return fail(m->ctx, HONE_E_SHAPE, place_name("input_ids"),
                "%lld tokens, with a cache of %lld and at most %d at once", (long long)m->rows,
                (long long)m->cache, MAX_ROWS);
  for (int64_t i = 0; i < m->rows; i++) numbers[i] = (double)i;
  BUILD(&m->b, m->places = x_2(&m->b, OP_Add, x_numbers(&m->b, HONE_I64, &row, numbers), m->past));
  BUILD(&m->b, m->lengths = x_by(&m->b, OP_Add, m->past, (double)m->rows));
  return graph_input(m->ctx, m->b.graph, "last", HONE_I64, &one, &m->last);
}

static hone_status declare_states(struct model *m) {
  const struct graph *graph = m->b.graph;
  for (int64_t i = 0; i < 2 * m->blocks; i++)
    TRY(graph_alias(m->ctx, m->b.graph, m->caches[i]->name, graph->outputs.at[i]->name));
  return HONE_OK;
}

/* A tensor that no part of the graph reads changes what the model computes. */
static hone_status refuse_unused(struct model *m) {
  for (size_t i = 0; i < m->file.tensor_count; i++)
    if (!m->made[i].is_used && strncmp(m->file.tensors[i].name, "rope_", 5) != 0)
      return fail(m->ctx, HONE_E_UNSUP, place_name(m->file.tensors[i].name),
                  "the architecture %s has no such tensor", m->kind->name);
  return HONE_OK;
}

/* The tensors of further files, in the folder of the first. */
static hone_status read_parts(struct model *m, const struct source *source) {
  const char *slash = strrchr(source->path, '/'), *name = slash ? slash + 1 : source->path;
  char part[4096];
  int64_t count;
  TRY(gguf_part_count(m->ctx, &m->file, &count));
  for (int64_t k = 2; k <= count; k++) {
    struct mapping mapping;
    TRY(gguf_part_path(m->ctx, name, k, count, part));
    TRY(side_files_map(m->ctx, source->sides, part, strlen(part), &mapping));
    TRY(gguf_add_part(m->ctx, m->arena, mapping.data, mapping.size, &m->file));
  }
  return HONE_OK;
}

hone_status read_gguf(struct ctx *ctx, struct arena *arena, const struct source *source,
                      struct graph **out_graph) {
  struct model *m;
  struct value *x;
  TRY(NEW(ctx, arena, m));
  *m = (struct model){.ctx = ctx,
                      .arena = arena,
                      .before = source->options->before,
                      .cache = source->options->cache,
                      .cache_type = source->options->cache && !source->options->cache_is_float
                                        ? HONE_F16
                                        : HONE_F32};
  m->b = (struct graph_builder){.ctx = ctx, .index = -1, .name = ""};
  TRY(gguf_read(ctx, arena, source->bytes, source->size, &m->file));
  TRY(read_parts(m, source));
  TRY(NEW_ARRAY(ctx, arena, m->made, m->file.tensor_count));
  TRY(read_facts(m));
  TRY(graph_create(ctx, arena, &m->b.graph));
  TRY(add_inputs(m, source));
  if (m->cache) TRY(add_positions(m));
  for (int i = 0; i <= m->has_windows; i++) TRY(rotation(m, i, &m->cosine[i], &m->sine[i]));
  TRY(embed(m, &x));
  for (int64_t i = 0; i < m->blocks; i++) TRY(add_block(m, i, &x));
  TRY(m->last ? add_last_logits(m, x, &x) : add_logits(m, x, &x));
  TRY(make_graph_output(&m->b, x, "logits"));
  if (m->cache) TRY(declare_states(m));
  TRY(refuse_unused(m));
  *out_graph = m->b.graph;
  return HONE_OK;
}
