/* attention: scaled dot-product attention with grouped heads, masks, windows and a key/value cache,
 * by the ONNX specification, in double. A query row with all keys hidden gives zeros. */
#include <math.h>

#include "core/ops/ops_internal.h"

enum { Q, K, V, MASK, PAST_KEY, PAST_VALUE, LENGTHS, INPUTS };
enum { Y, PRESENT_KEY, PRESENT_VALUE, SCORES, OUTPUTS };

/* Memory layout of [batch, heads, rows, size]; in 3-D operands the heads are concatenated along the
 * last axis. */
struct heads {
  int64_t batch, heads, rows, size;
  bool is_flat; /* [batch, rows, heads * size] */
};

struct attention {
  struct heads q, k, v;
  int64_t past, total; /* keys in the cache, and in total */
};

static hone_status read_heads(struct ctx *ctx, const struct node *node, const struct shape *shape,
                              const char *attribute, struct heads *out) {
  *out = (struct heads){.batch = shape->dims[0], .is_flat = shape->rank == 3};
  if (shape->rank == 4) {
    out->heads = shape->dims[1], out->rows = shape->dims[2], out->size = shape->dims[3];
    return HONE_OK;
  }
  if (shape->rank != 3)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "an operand has rank %d, expected 3 or 4",
                shape->rank);
  out->heads = node_int(node, attribute, 0), out->rows = shape->dims[1];
  if (out->heads < 1 || shape->dims[2] % out->heads != 0)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "%s is %lld for %lld columns", attribute,
                (long long)out->heads, (long long)shape->dims[2]);
  out->size = shape->dims[2] / out->heads;
  return HONE_OK;
}

static hone_status check_past(struct ctx *ctx, const struct node *node, const struct shape *past,
                              const struct heads *of, int64_t rows) {
  struct shape wanted = shape_of(4, (int64_t[]){of->batch, of->heads, rows, of->size});
  if (past->rank == 4 && shape_equal(past, &wanted)) return HONE_OK;
  return fail(ctx, HONE_E_SHAPE, node_place(node),
              "the cache does not have the shape of its operand's heads");
}

/* shapes[k] is NULL for an omitted operand. */
static hone_status attention_plan(struct ctx *ctx, const struct node *node,
                                  const struct shape *const shapes[INPUTS], struct attention *a) {
  *a = (struct attention){0};
  TRY(read_heads(ctx, node, shapes[Q], "q_num_heads", &a->q));
  TRY(read_heads(ctx, node, shapes[K], "kv_num_heads", &a->k));
  TRY(read_heads(ctx, node, shapes[V], "kv_num_heads", &a->v));
  bool fits = a->q.batch == a->k.batch && a->k.batch == a->v.batch && a->k.heads == a->v.heads &&
              a->k.rows == a->v.rows && a->q.size == a->k.size;
  if (!fits || a->k.heads < 1 || a->q.heads % a->k.heads != 0)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "Q, K and V do not fit together");
  if (!shapes[PAST_KEY] != !shapes[PAST_VALUE])
    return fail(ctx, HONE_E_SHAPE, node_place(node),
                "past_key and past_value must be given together");
  if (shapes[PAST_KEY]) {
    a->past = shapes[PAST_KEY]->rank == 4 ? shapes[PAST_KEY]->dims[2] : 0;
    TRY(check_past(ctx, node, shapes[PAST_KEY], &a->k, a->past));
    TRY(check_past(ctx, node, shapes[PAST_VALUE], &a->v, a->past));
  }
  a->total = a->past + a->k.rows;
  const struct shape *mask = shapes[MASK], *lengths = shapes[LENGTHS];
  if (lengths && (shapes[PAST_KEY] || lengths->rank != 1 || lengths->dims[0] != a->q.batch))
    return fail(ctx, HONE_E_SHAPE, node_place(node),
                "nonpad_kv_seqlen is not one length a batch row, without a cache");
  const int64_t dims[] = {a->q.batch, a->q.heads, a->q.rows, a->total};
  for (int i = 0; mask && i < mask->rank; i++) {
    int64_t wanted = mask->rank <= 4 ? dims[4 - mask->rank + i] : -1;
    bool is_last = i == mask->rank - 1;
    if (mask->dims[i] != wanted && (is_last ? mask->dims[i] > wanted : mask->dims[i] != 1))
      return fail(ctx, HONE_E_SHAPE, node_place(node),
                  "attn_mask does not broadcast to the scores");
  }
  return HONE_OK;
}

hone_status infer_attention(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  const struct shape *shapes[INPUTS] = {NULL};
  struct attention a;
  for (size_t k = 0; k < INPUTS; k++)
    if (has_input(node, k)) shapes[k] = &node->inputs[k]->shape;
  for (size_t k = 0; k < 3; k++) TRY(want_float(ctx, node, k));
  TRY(attention_plan(ctx, node, shapes, &a));
  hone_dtype q = node->inputs[Q]->dtype, v = node->inputs[V]->dtype;
  struct shape y = a.q.is_flat ? shape_of(3, (int64_t[]){a.q.batch, a.q.rows, a.q.heads * a.v.size})
                               : shape_of(4, (int64_t[]){a.q.batch, a.q.heads, a.q.rows, a.v.size});
  struct shape key = shape_of(4, (int64_t[]){a.q.batch, a.k.heads, a.total, a.k.size});
  struct shape value = shape_of(4, (int64_t[]){a.q.batch, a.k.heads, a.total, a.v.size});
  struct shape scores = shape_of(4, (int64_t[]){a.q.batch, a.q.heads, a.q.rows, a.total});
  TRY(set_output(ctx, node, Y, q, &y));
  TRY(set_output(ctx, node, PRESENT_KEY, node->inputs[K]->dtype, &key));
  TRY(set_output(ctx, node, PRESENT_VALUE, v, &value));
  return set_output(ctx, node, SCORES, q, &scores);
}

/* -- evaluation */

struct attention_run {
  struct attention a;
  const struct tensor *mask, *lengths;
  double scale, softcap;
  bool is_causal;
  int64_t left, right, mode;
  double *q, *k, *v; /* [batch][heads][rows][size]; k and v start with the cache */
  int64_t mask_strides[4], mask_keys;
  double *scores, *bias, *row; /* [total], [total], [v.size] */
};

static int64_t at(const struct heads *h, int64_t b, int64_t head, int64_t row) {
  return h->is_flat ? ((b * h->rows + row) * h->heads + head) * h->size
                    : ((b * h->heads + head) * h->rows + row) * h->size;
}

/* Dense [batch][heads][past + rows][size] of a cache and the new rows. */
static hone_status gather_heads(struct ctx *ctx, struct arena *scratch, const struct heads *h,
                                const struct tensor *past, int64_t past_rows,
                                const struct tensor *x, double **out) {
  int64_t total = past_rows + h->rows, count = h->batch * h->heads * total * h->size;
  TRY(NEW_ARRAY(ctx, scratch, *out, (size_t)count));
  for (int64_t b = 0; b < h->batch; b++)
    for (int64_t head = 0; head < h->heads; head++) {
      int64_t block = b * h->heads + head;
      double *to = *out + block * total * h->size;
      if (past) read_f64(past, block * past_rows * h->size, 1, (size_t)(past_rows * h->size), to);
      for (int64_t row = 0; row < h->rows; row++)
        read_f64(x, at(h, b, head, row), 1, (size_t)h->size, to + (past_rows + row) * h->size);
    }
  return HONE_OK;
}

static double mask_bias(const struct attention_run *r, int64_t b, int64_t head, int64_t i,
                        int64_t j) {
  if (!r->mask) return 0;
  if (j >= r->mask_keys) return -INFINITY;
  const int64_t *s = r->mask_strides;
  size_t offset = (size_t)(b * s[0] + head * s[1] + i * s[2] + j * s[3]);
  if (r->mask->dtype == HONE_BOOL) return tensor_i64(r->mask, offset) ? 0 : -INFINITY;
  return tensor_f64(r->mask, offset);
}

/* 0, the mask's value, or -Inf for a hidden key. */
static double bias_of(const struct attention_run *r, int64_t b, int64_t head, int64_t i,
                      int64_t j) {
  int64_t length = r->lengths ? tensor_i64(r->lengths, (size_t)b) : r->a.total;
  int64_t offset = r->lengths ? length - r->a.q.rows : r->a.past, position = i + offset;
  if (j >= length || (r->is_causal && j > position)) return -INFINITY;
  if (r->left >= 0 && position - j > r->left) return -INFINITY;
  if (r->right >= 0 && j - position > r->right) return -INFINITY;
  return mask_bias(r, b, head, i, j);
}

/* exp(x - max) / sum; all zero if every key is hidden. */
static void soften(double *x, const double *bias, int64_t count) {
  double max = -INFINITY, sum = 0, most = -INFINITY;
  for (int64_t j = 0; j < count; j++) {
    max = x[j] > max ? x[j] : max;
    most = bias[j] > most ? bias[j] : most;
  }
  for (int64_t j = 0; j < count; j++) sum += x[j] = most == -INFINITY ? 0 : exp(x[j] - max);
  for (int64_t j = 0; j < count && sum != 0; j++) x[j] /= sum;
}

static void show(const struct attention_run *r, const struct tensor *out, int64_t mode,
                 int64_t row) {
  if (out && r->mode == mode) write_f64(out, row * r->a.total, (size_t)r->a.total, r->scores);
}

static void run_row(const struct attention_run *r, int64_t b, int64_t head, int64_t i,
                    struct tensor *const out[OUTPUTS]) {
  const struct attention *a = &r->a;
  int64_t total = a->total, row = (b * a->q.heads + head) * a->q.rows + i;
  int64_t kv = b * a->k.heads + head / (a->q.heads / a->k.heads);
  const double *q = r->q + row * a->q.size;
  const double *k = r->k + kv * total * a->k.size, *v = r->v + kv * total * a->v.size;
  for (int64_t j = 0; j < total; j++) {
    double sum = 0;
    for (int64_t c = 0; c < a->q.size; c++) sum += q[c] * k[j * a->k.size + c];
    r->scores[j] = sum * r->scale;
    r->bias[j] = bias_of(r, b, head, i, j);
  }
  show(r, out[SCORES], 0, row);
  for (int64_t j = 0; j < total && r->softcap > 0; j++)
    r->scores[j] = r->softcap * tanh(r->scores[j] / r->softcap);
  show(r, out[SCORES], 1, row);
  for (int64_t j = 0; j < total; j++) r->scores[j] += r->bias[j];
  show(r, out[SCORES], 2, row);
  soften(r->scores, r->bias, total);
  show(r, out[SCORES], 3, row);
  memset(r->row, 0, (size_t)a->v.size * sizeof *r->row);
  for (int64_t j = 0; j < total; j++)
    for (int64_t c = 0; c < a->v.size && r->scores[j] != 0; c++)
      r->row[c] += r->scores[j] * v[j * a->v.size + c];
  struct heads y = {a->q.batch, a->q.heads, a->q.rows, a->v.size, a->q.is_flat};
  if (out[Y]) write_f64(out[Y], at(&y, b, head, i), (size_t)a->v.size, r->row);
}

static hone_status read_options(struct ctx *ctx, const struct node *node, struct attention_run *r) {
  double usual = r->a.q.size > 0 ? 1 / sqrt((double)r->a.q.size) : 1;
  r->scale = node_float(node, "scale", usual);
  r->softcap = node_float(node, "softcap", 0);
  r->is_causal = node_int(node, "is_causal", 0) != 0;
  r->left = node_int(node, "left_window_size", -1);
  r->right = node_int(node, "right_window_size", -1);
  r->mode = node_int(node, "qk_matmul_output_mode", 0);
  if (r->mode < 0 || r->mode > 3 || r->left < -1 || r->right < -1)
    return fail(ctx, HONE_E_SHAPE, node_place(node),
                "qk_matmul_output_mode or a window size is out of range");
  return HONE_OK;
}

static void read_mask(struct attention_run *r) {
  const struct shape *shape = r->mask ? &r->mask->shape : NULL;
  int64_t dense[HONE_MAX_RANK] = {0};
  r->mask_keys = r->a.total;
  if (!shape) return;
  shape_strides(shape, dense);
  for (int i = 0; i < shape->rank; i++)
    r->mask_strides[4 - shape->rank + i] =
        shape->dims[i] == 1 && i < shape->rank - 1 ? 0 : dense[i];
  if (shape->rank > 0) r->mask_keys = shape->dims[shape->rank - 1];
}

hone_status eval_attention(struct ctx *ctx, struct arena *scratch, const struct node *node,
                           const struct tensor *const *in, struct tensor *const *out) {
  const struct shape *shapes[INPUTS] = {NULL};
  const struct tensor *given[INPUTS] = {NULL};
  struct tensor *asked[OUTPUTS] = {NULL};
  struct attention_run r = {0};
  for (size_t k = 0; k < node->input_count && k < INPUTS; k++)
    if ((given[k] = in[k])) shapes[k] = &in[k]->shape;
  for (size_t k = 0; k < node->output_count && k < OUTPUTS; k++) asked[k] = out[k];
  struct attention *a = &r.a;
  TRY(attention_plan(ctx, node, shapes, a));
  TRY(read_options(ctx, node, &r));
  r.mask = given[MASK], r.lengths = given[LENGTHS];
  read_mask(&r);
  TRY(gather_heads(ctx, scratch, &a->q, NULL, 0, given[Q], &r.q));
  TRY(gather_heads(ctx, scratch, &a->k, given[PAST_KEY], a->past, given[K], &r.k));
  TRY(gather_heads(ctx, scratch, &a->v, given[PAST_VALUE], a->past, given[V], &r.v));
  TRY(NEW_ARRAY(ctx, scratch, r.scores, (size_t)a->total));
  TRY(NEW_ARRAY(ctx, scratch, r.bias, (size_t)a->total));
  TRY(NEW_ARRAY(ctx, scratch, r.row, (size_t)a->v.size));
  if (asked[PRESENT_KEY]) write_f64(asked[PRESENT_KEY], 0, tensor_count(asked[PRESENT_KEY]), r.k);
  if (asked[PRESENT_VALUE])
    write_f64(asked[PRESENT_VALUE], 0, tensor_count(asked[PRESENT_VALUE]), r.v);
  for (int64_t b = 0; b < a->q.batch; b++)
    for (int64_t head = 0; head < a->q.heads; head++)
      for (int64_t i = 0; i < a->q.rows; i++) run_row(&r, b, head, i, asked);
  return HONE_OK;
}
