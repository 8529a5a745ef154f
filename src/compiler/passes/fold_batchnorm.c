/* fold-batchnorm: y = x * s + t with s = scale / sqrt(var + epsilon), t = bias - mean * s. After a
 * Conv, ConvTranspose, Gemm or MatMul with constant weights that have no other reader, s goes into
 * the weights and t into the bias; elsewhere it becomes Mul and Add. Computed in double.
 */
#include "rewrite.h"

#include <math.h>

struct affine {
  int64_t channels;
  double *scale, *shift;
};

static bool is_inference(const struct node *node) {
  for (size_t o = 1; o < node->output_count; o++)
    if (node->outputs[o]) return false;
  for (size_t i = 1; i < 5; i++)
    if (!node_input(node, i) || !node->inputs[i]->constant) return false;
  return !node_int(node, "training_mode", 0);
}

static hone_status read_affine(struct rewrite *r, const struct node *node, struct affine *out) {
  const struct tensor *t[5];
  for (size_t i = 1; i < 5; i++) t[i] = node->inputs[i]->constant;
  out->channels = (int64_t)tensor_count(t[1]);
  TRY(NEW_ARRAY(r->ctx, r->graph->arena, out->scale, (size_t)out->channels));
  TRY(NEW_ARRAY(r->ctx, r->graph->arena, out->shift, (size_t)out->channels));
  double epsilon = node_float(node, "epsilon", (double)1e-5f);
  for (size_t c = 0; c < (size_t)out->channels; c++) {
    out->scale[c] = tensor_f64(t[1], c) / sqrt(tensor_f64(t[4], c) + epsilon);
    out->shift[c] = tensor_f64(t[2], c) - tensor_f64(t[3], c) * out->scale[c];
  }
  return HONE_OK;
}

/* The output channel of a weight: element i belongs to channel (i / inner) % extent + group *
   extent, with group = i / per_group. */
struct channel_layout {
  size_t inner, extent, per_group;
};

static bool find_layout(const struct node *node, const struct affine *a, struct channel_layout *l) {
  const struct shape *w = &node->inputs[1]->shape;
  size_t count = tensor_count(node->inputs[1]->constant);
  size_t outputs = (size_t)a->channels;
  if (!outputs || !count || count % outputs) return false;
  if (is_op(node, OP_Conv)) { /* [out, in / groups, kernel...] */
    *l = (struct channel_layout){count / outputs, outputs, count};
  } else if (is_op(node, OP_ConvTranspose)) { /* [in, out / groups, kernel...] */
    size_t groups = (size_t)node_int(node, "group", 1), inner = 1;
    for (int i = 2; i < w->rank; i++) inner *= (size_t)w->dims[i];
    *l = (struct channel_layout){inner, (size_t)w->dims[1], count / groups};
  } else if (is_op(node, OP_Gemm) && node_int(node, "transB", 0)) { /* [out, in] */
    *l = (struct channel_layout){count / outputs, outputs, count};
  } else { /* [in, out] */
    *l = (struct channel_layout){1, outputs, count};
  }
  return true;
}

/* Elements [i, i + n) times scale. */
static void scale_run(const struct tensor *out, const struct tensor *in, size_t i, size_t n,
                      double scale) {
  if (in->dtype == HONE_F32) { /* the most common type of weights */
    const float *from = (const float *)in->data + i;
    float *to = (float *)(uintptr_t)out->data + i;
    for (size_t k = 0; k < n; k++) to[k] = (float)(from[k] * scale);
    return;
  }
  for (size_t k = i; k < i + n; k++) tensor_set_f64(out, k, tensor_f64(in, k) * scale);
}

static hone_status scaled_weights(struct rewrite *r, const struct node *node,
                                  const struct affine *a, const struct channel_layout *l,
                                  struct value **out) {
  const struct value *w = node->inputs[1];
  size_t count = tensor_count(w->constant);
  TRY(rewrite_constant(r, w->dtype, &w->shape, out));
  for (size_t i = 0; i < count; i += l->inner) {
    double scale = a->scale[i / l->inner % l->extent + i / l->per_group * l->extent];
    scale_run((*out)->constant, w->constant, i, l->inner, scale);
  }
  return HONE_OK;
}

static hone_status shifted_bias(struct rewrite *r, const struct node *node, const struct affine *a,
                                struct value **out) {
  const struct value *bias = node_input(node, 2);
  TRY(rewrite_constant(r, node->inputs[1]->dtype, &(struct shape){1, {a->channels}}, out));
  for (size_t c = 0; c < (size_t)a->channels; c++) {
    double before = bias ? tensor_f64(bias->constant, c) : 0;
    tensor_set_f64((*out)->constant, c, before * a->scale[c] + a->shift[c]);
  }
  return HONE_OK;
}

/* The preceding contraction, if it can take the factors. */
static struct node *find_target(const struct rewrite *r, const struct node *norm) {
  static const enum op_id ops[] = {OP_Conv, OP_ConvTranspose, OP_Gemm, OP_MatMul};
  const struct value *x = norm->inputs[0];
  struct node *node = NULL;
  for (size_t i = 0; i < COUNT(ops) && !node; i++) node = producer_of(x, ops[i]);
  if (!node || !rewrite_single_use(r, x) || !node->inputs[1]->constant || !dtype_is_float(x->dtype))
    return NULL;
  const struct value *bias = node_input(node, 2);
  if (is_op(node, OP_MatMul))
    return x->shape.rank == 2 && node->inputs[1]->shape.rank == 2 ? node : NULL;
  if (bias && (!bias->constant || (int64_t)tensor_count(bias->constant) != x->shape.dims[1]))
    return NULL;
  if (is_op(node, OP_Gemm) &&
      (node_float(node, "alpha", 1) != 1 || node_float(node, "beta", 1) != 1))
    return NULL;
  return node;
}

/* MatMul has no bias: with one it becomes a Gemm. */
static hone_status fold_into(struct rewrite *r, struct node *norm, struct node *target,
                             const struct affine *a, const struct channel_layout *layout) {
  struct value *in[3] = {target->inputs[0]};
  TRY(scaled_weights(r, target, a, layout, &in[1]));
  TRY(shifted_bias(r, target, a, &in[2]));
  enum op_id op = is_op(target, OP_MatMul) ? OP_Gemm : target->op->id;
  return rewrite_replace(r, norm->outputs[0], x_like(r->b, target, op, in, 3));
}

static hone_status per_channel(struct rewrite *r, const struct value *x, const double *from,
                               int64_t channels, struct value **out) {
  struct shape shape = {.rank = x->shape.rank > 1 ? x->shape.rank - 1 : 1};
  shape.dims[0] = channels;
  for (int i = 1; i < shape.rank; i++) shape.dims[i] = 1;
  TRY(rewrite_constant(r, x->dtype, &shape, out));
  for (size_t c = 0; c < (size_t)channels; c++) tensor_set_f64((*out)->constant, c, from[c]);
  return HONE_OK;
}

static hone_status to_affine(struct rewrite *r, struct node *norm, const struct affine *a) {
  struct value *x = norm->inputs[0], *scale, *shift;
  TRY(per_channel(r, x, a->scale, a->channels, &scale));
  TRY(per_channel(r, x, a->shift, a->channels, &shift));
  return rewrite_replace(r, norm->outputs[0],
                         x_2(r->b, OP_Add, x_2(r->b, OP_Mul, x, scale), shift));
}

static hone_status visit(struct rewrite *r, struct node *node) {
  struct affine affine;
  struct channel_layout layout;
  if (!is_op(node, OP_BatchNormalization) || !is_inference(node)) return HONE_OK;
  const struct shape *x = &node->inputs[0]->shape;
  if (x->rank < 2 || x->dims[1] != (int64_t)tensor_count(node->inputs[1]->constant)) return HONE_OK;
  TRY(read_affine(r, node, &affine));
  struct node *target = find_target(r, node);
  if (target && find_layout(target, &affine, &layout))
    return fold_into(r, node, target, &affine, &layout);
  return to_affine(r, node, &affine);
}

/* needs: shapes. keeps: order, shapes. breaks: uses. */
hone_status pass_fold_batchnorm(struct ctx *ctx, struct graph *graph, size_t *out_changes) {
  return rewrite_nodes(ctx, graph, visit, out_changes);
}
