/* lower-channel-norms: InstanceNormalization and GroupNormalization as means and variances of
 * channels plus elementwise arithmetic, which the plan computes in any memory order and fuses with
 * what follows. Exporters write a group normalisation as an InstanceNormalization between Reshapes:
 * the pass sees through the first Reshape. The variance of a group is the mean of its channels'
 * variances plus the mean of the squared distances of their means from the group's mean.
 */
#include "rewrite.h"

struct norm {
  struct value *x;            /* [n, c, ...] */
  struct value *scale, *bias; /* [c], or [groups] */
  int64_t groups;
  double epsilon;
};

static bool is_closed(const struct value *x, int first) {
  for (int d = first; d < x->shape.rank; d++)
    if (x->extents[d] || !x->shape.dims[d]) return false;
  return true;
}

/* The [n, c, ...] value of which `x`, [n, groups, ...], is a Reshape; NULL: none. */
static struct value *channels_of(const struct value *x) {
  const struct node *reshape = producer_of(x, OP_Reshape);
  struct value *from = reshape ? reshape->inputs[0] : NULL;
  if (!from || x->shape.rank != 3 || from->shape.rank < 3 || !is_closed(from, 0) ||
      from->shape.dims[0] != x->shape.dims[0] || from->shape.dims[1] % x->shape.dims[1])
    return NULL;
  return from;
}

static bool read_norm(const struct node *node, struct norm *out) {
  const bool has_groups = is_op(node, OP_GroupNormalization);
  if (!has_groups && !is_op(node, OP_InstanceNormalization)) return false;
  struct value *x = node->inputs[0], *channels = has_groups ? NULL : channels_of(x);
  *out = (struct norm){.x = channels ? channels : x,
                       .scale = node->inputs[1],
                       .bias = node->inputs[2],
                       .groups = has_groups ? node_int(node, "num_groups", 1) : x->shape.dims[1],
                       .epsilon = node_float(node, "epsilon", 1e-5)};
  const bool is_grouped = out->groups != out->x->shape.dims[1];
  return x->dtype == HONE_F32 && out->scale->dtype == HONE_F32 && out->bias->dtype == HONE_F32 &&
         x->shape.rank > 2 && is_closed(x, !is_grouped);
}

/* True if every element of the constant is `wanted`. */
static bool is_all(const struct value *value, double wanted) {
  if (!value->constant) return false;
  for (size_t i = 0; i < tensor_count(value->constant); i++)
    if (tensor_f64(value->constant, i) != wanted) return false;
  return true;
}

/* Over the dimensions from `first` on, which become 1. */
static struct value *add_reduction(struct rewrite *r, enum op_id op, struct value *x, int first) {
  int64_t axes[HONE_MAX_RANK];
  for (int d = first; d < x->shape.rank; d++) axes[d - first] = d;
  return x_2(r->b, op, x, x_list(r->b, axes, (size_t)(x->shape.rank - first)));
}

static hone_status add_scalar(struct rewrite *r, double x, struct value **out) {
  TRY(rewrite_constant(r, HONE_F32, &(struct shape){.rank = 0}, out));
  tensor_set_f64((*out)->constant, 0, x);
  return HONE_OK;
}

/* 1 / sqrt(variance + epsilon) */
static hone_status add_inverse_root(struct rewrite *r, const struct norm *norm,
                                    struct value *variance, struct value **out) {
  struct value *epsilon, *one;
  TRY(add_scalar(r, norm->epsilon, &epsilon));
  TRY(add_scalar(r, 1, &one));
  return x_give(r->b, out,
                x_2(r->b, OP_Div, one, x_1(r->b, OP_Sqrt, x_2(r->b, OP_Add, variance, epsilon))));
}

/* `x`, broadcast to [..., groups, channels of a group], as [..., c, 1, ...], to be combined with
   an image. */
static struct value *add_channels(struct rewrite *r, const struct norm *norm, struct value *x) {
  const struct shape *image = &norm->x->shape;
  struct shape wide = x->shape, shape = {.rank = image->rank};
  const int last = x->shape.rank - 1;
  wide.dims[last] = image->dims[1] / norm->groups;
  if (!shape_equal(&wide, &x->shape)) {
    x = x_2(r->b, OP_Expand, x, x_list(r->b, wide.dims, (size_t)wide.rank));
  }
  for (int d = 0; d < shape.rank; d++) shape.dims[d] = 1;
  shape.dims[0] = last > 1 ? image->dims[0] : 1;
  shape.dims[1] = image->dims[1];
  return x_reshape(r->b, x, shape.dims, shape.rank);
}

/* A vector over all channels or all groups as [groups, channels of a group], or [groups, 1]. */
static struct value *add_vector(struct rewrite *r, const struct norm *norm, struct value *x) {
  const struct shape shape = {2, {norm->groups, x->shape.dims[0] / norm->groups}};
  return x_reshape(r->b, x, shape.dims, shape.rank);
}

/* Mean of each group and the factor of each channel, both as [n or 1, c, 1, ...]. */
static hone_status add_moments(struct rewrite *r, const struct norm *norm, struct value **out_mean,
                               struct value **out_factor) {
  const struct shape *image = &norm->x->shape;
  const int64_t of_group = image->dims[1] / norm->groups;
  struct value *factor, *scale;
  struct value *mean = add_reduction(r, OP_ReduceMean, norm->x, 2);
  struct value *variance = add_reduction(r, OP_ReduceVariance, norm->x, 2);
  BUILD(r->b, scale = add_vector(r, norm, norm->scale));
  if (of_group == 1) {
    TRY(add_inverse_root(r, norm, variance, &factor));
    if (!is_all(norm->scale, 1)) {
      scale = add_channels(r, norm, scale);
      factor = x_2(r->b, OP_Mul, factor, scale);
    }
    *out_mean = mean;
    *out_factor = factor;
    return r->b->status;
  }
  const struct shape grouped = {3, {image->dims[0], norm->groups, of_group}};
  mean = x_reshape(r->b, mean, grouped.dims, grouped.rank);
  variance = x_reshape(r->b, variance, grouped.dims, grouped.rank);
  struct value *all = add_reduction(r, OP_ReduceMean, mean, 2);
  struct value *away = x_2(r->b, OP_Sub, mean, all);
  BUILD(r->b, variance = x_2(r->b, OP_Add, variance, x_2(r->b, OP_Mul, away, away)));
  BUILD(r->b, variance = add_reduction(r, OP_ReduceMean, variance, 2));
  TRY(add_inverse_root(r, norm, variance, &factor));
  if (!is_all(norm->scale, 1)) factor = x_2(r->b, OP_Mul, factor, scale);
  *out_mean = add_channels(r, norm, all);
  return x_give(r->b, out_factor, add_channels(r, norm, factor));
}

static hone_status visit(struct rewrite *r, struct node *node) {
  struct norm norm;
  struct value *mean, *factor, *y;
  if (!read_norm(node, &norm)) return HONE_OK;
  TRY(add_moments(r, &norm, &mean, &factor));
  BUILD(r->b, y = x_2(r->b, OP_Mul, x_2(r->b, OP_Sub, norm.x, mean), factor));
  if (!is_all(norm.bias, 0)) {
    BUILD(r->b, y = x_2(r->b, OP_Add, y, add_channels(r, &norm, add_vector(r, &norm, norm.bias))));
  }
  if (!shape_equal(&y->shape, &node->outputs[0]->shape))
    y = x_reshape(r->b, y, node->outputs[0]->shape.dims, node->outputs[0]->shape.rank);
  return rewrite_replace(r, node->outputs[0], y);
}

/* needs: shapes. keeps: order, shapes. breaks: uses. */
hone_status pass_lower_channel_norms(struct ctx *ctx, struct graph *graph, size_t *out_changes) {
  return rewrite_nodes(ctx, graph, visit, out_changes);
}
