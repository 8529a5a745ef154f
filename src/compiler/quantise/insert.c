/* Builds the quantised graph: a copy of the float graph in which every wanted value passes through
 * QuantizeLinear and DequantizeLinear, and weights and biases of quantised nodes come from
 * DequantizeLinear. Engines fuse the pairs into their integer kernels; without fusion the graph
 * computes the same.
 */
#include "quantise_internal.h"

#include <math.h>

struct inserter {
  struct ctx *ctx;
  struct arena *arena;
  const struct sites *sites;
  const struct recipe *recipe;
  struct graph *graph;
  struct value **bytes; /* by value index: the replacement for int8 readers */
};

static hone_status constant(struct inserter *in, hone_dtype dtype, const struct shape *shape,
                            struct value **out) {
  return graph_new_constant(in->ctx, in->graph, dtype, shape, out);
}

static hone_status scalar(struct inserter *in, hone_dtype dtype, double x, struct value **out) {
  TRY(constant(in, dtype, &(struct shape){.rank = 0}, out));
  tensor_set_f64((*out)->constant, 0, x);
  return HONE_OK;
}

static hone_status add_node(struct inserter *in, enum op_id op, struct value *const inputs[3],
                            int axis, struct value **out) {
  struct node *node;
  TRY(graph_node(in->ctx, in->graph, &op_table[op], inputs, 3, 1, &node));
  if (axis >= 0) TRY(node_set_int(in->ctx, in->graph, node, "axis", axis));
  TRY(node_infer(in->ctx, in->graph, node));
  *out = node->outputs[0];
  return HONE_OK;
}

static hone_status add_pair(struct inserter *in, size_t index) {
  const struct scaled *v = &in->sites->values[index];
  struct value *from[3] = {in->graph->values.at[index]}, *q;
  TRY(scalar(in, HONE_F32, v->scale, &from[1]));
  TRY(scalar(in, HONE_U8, v->zero, &from[2]));
  TRY(add_node(in, OP_QuantizeLinear, from, -1, &q));
  from[0] = q;
  return add_node(in, OP_DequantizeLinear, from, -1, &in->bytes[index]);
}

/* -- weights and biases */

/* The elements of one output channel: `outer` runs of per_output elements, at a distance of all
   channels. */
struct channel {
  const struct tensor *w;
  size_t first, run, turn, runs;
};

static struct channel channel_of(const struct tensor *w, const struct weight_layout *l, size_t c) {
  const size_t turn = l->outputs * l->per_output;
  return (struct channel){w, c * l->per_output, l->per_output, turn, tensor_count(w) / turn};
}

static double squared_error(const struct channel *c, double scale) {
  double sum = 0;
  for (size_t r = 0; r < c->runs; r++)
    for (size_t i = 0; i < c->run; i++) {
      const double x = tensor_f64(c->w, c->first + r * c->turn + i);
      const double off = x - scale * fmin(127, fmax(-127, rint(x / scale)));
      sum += off * off;
    }
  return sum;
}

/* The largest weight becomes 127; with mse the scale with the smallest squared error, among
   those that clip to at least half of it. */
static double channel_scale(const struct channel *c, bool clips) {
  double largest = 0, best, least;
  for (size_t r = 0; r < c->runs; r++)
    for (size_t i = 0; i < c->run; i++)
      largest = fmax(largest, fabs(tensor_f64(c->w, c->first + r * c->turn + i)));
  if (largest < 1e-30) return 1;
  best = (double)(float)(largest / 127);
  least = clips ? squared_error(c, best) : 0;
  for (int cut = 1; clips && cut <= 12; cut++) {
    const double scale = (double)(float)(largest * (1 - cut / 24.0) / 127);
    const double error = squared_error(c, scale);
    if (error < least) least = error, best = scale;
  }
  return best;
}

struct product {
  const struct node *from; /* in the float graph */
  struct node *node;       /* its copy */
  struct weight_layout layout;
  const struct scaled *x;
  double *scales;  /* of the weights, by output channel */
  double *shifted; /* the bias correction for the rounding of weights */
};

static hone_status put_weights(struct inserter *in, struct product *p) {
  const struct tensor *w = p->from->inputs[1]->constant;
  struct value *inputs[3];
  const struct shape channels = {1, {(int64_t)p->layout.outputs}};
  TRY(constant(in, HONE_I8, &w->shape, &inputs[0]));
  TRY(constant(in, HONE_F32, &channels, &inputs[1]));
  TRY(constant(in, HONE_I8, &channels, &inputs[2])); /* zeros */
  for (size_t c = 0; c < p->layout.outputs; c++) {
    const struct channel channel = channel_of(w, &p->layout, c);
    p->scales[c] = channel_scale(&channel, in->recipe->range == RANGE_MSE);
    tensor_set_f64(inputs[1]->constant, c, p->scales[c]);
  }
  const bool has_means = p->x->mean_count && p->x->mean_axis == p->layout.channel_axis;
  for (size_t i = 0; i < tensor_count(w); i++) {
    const size_t c = weight_output(&p->layout, i);
    const double x = tensor_f64(w, i);
    const double q = fmin(127, fmax(-127, rint(x / p->scales[c])));
    tensor_set_i64(inputs[0]->constant, i, (int64_t)q);
    if (has_means)
      p->shifted[c] += (x - q * p->scales[c]) * p->x->means[weight_input(&p->layout, i)];
  }
  return add_node(in, OP_DequantizeLinear, inputs, p->layout.axis, &p->node->inputs[1]);
}

/* i32 in steps of x's scale times the weights'. With bias correction it includes the mean error
   of the rounded weights (M. Nagel et al., ICCV 2019, section 4.2, with the samples' means). */
static hone_status put_bias(struct inserter *in, struct product *p) {
  const struct value *bias = node_input(p->from, 2);
  const struct shape channels = {1, {(int64_t)p->layout.outputs}};
  struct value *inputs[3], *result;
  if (is_op(p->from, OP_MatMul) || (!bias && !in->recipe->corrects_bias)) return HONE_OK;
  TRY(constant(in, HONE_I32, &channels, &inputs[0]));
  TRY(constant(in, HONE_F32, &channels, &inputs[1]));
  TRY(constant(in, HONE_I32, &channels, &inputs[2]));
  for (size_t c = 0; c < p->layout.outputs; c++) {
    const double step = (double)(float)(p->x->scale * p->scales[c]);
    const double b = (bias ? tensor_f64(bias->constant, c) : 0) +
                     (in->recipe->corrects_bias ? p->shifted[c] : 0);
    tensor_set_f64(inputs[1]->constant, c, step);
    tensor_set_i64(inputs[0]->constant, c,
                   (int64_t)fmin(INT32_MAX, fmax(INT32_MIN, rint(b / step))));
  }
  TRY(add_node(in, OP_DequantizeLinear, inputs, 0, &result));
  if (p->node->input_count < 3) {
    struct value **longer;
    TRY(NEW_ARRAY(in->ctx, in->arena, longer, 3));
    memcpy(longer, p->node->inputs, 2 * sizeof *longer);
    p->node->inputs = longer;
    p->node->input_count = 3;
  }
  p->node->inputs[2] = result;
  return HONE_OK;
}

static hone_status quantise_product(struct inserter *in, size_t n) {
  struct product p = {.from = in->sites->graph->nodes.at[n], .node = in->graph->nodes.at[n]};
  weight_layout(p.from, &p.layout);
  p.x = &in->sites->values[p.from->inputs[0]->index];
  TRY(NEW_ARRAY(in->ctx, in->arena, p.scales, p.layout.outputs));
  TRY(NEW_ARRAY(in->ctx, in->arena, p.shifted, p.layout.outputs));
  TRY(put_weights(in, &p));
  return put_bias(in, &p);
}

/* -- the graph */

/* Redirects readers to the quantised value, except float readers of a value that exists in float
   anyway. */
static void redirect(struct inserter *in, size_t n) {
  struct node *node = in->graph->nodes.at[n];
  for (size_t i = 0; i < node->input_count; i++) {
    const struct value *value = node->inputs[i];
    if (!value || value->index >= in->sites->graph->values.count) continue;
    const struct scaled *v = &in->sites->values[value->index];
    if (!in->bytes[value->index]) continue;
    if (v->spares_float_readers && !in->sites->nodes[n].is_quantised) continue;
    node->inputs[i] = in->bytes[value->index];
  }
}

hone_status insert(struct ctx *ctx, struct arena *arena, const struct sites *sites,
                   const struct recipe *recipe, struct graph **out) {
  struct inserter in = {ctx, arena, sites, recipe, NULL, NULL};
  const size_t nodes = sites->graph->nodes.count, values = sites->graph->values.count;
  bool was_sorted;
  size_t removed;
  TRY(graph_copy(ctx, arena, sites->graph, &in.graph));
  TRY(NEW_ARRAY(ctx, arena, in.bytes, values));
  for (size_t v = 0; v < values; v++)
    if (sites->values[v].is_wanted) TRY(add_pair(&in, v));
  for (size_t n = 0; n < nodes; n++) {
    redirect(&in, n);
    if (sites->nodes[n].is_quantised && sites->nodes[n].role == ROLE_PRODUCT)
      TRY(quantise_product(&in, n));
  }
  TRY(graph_sort(ctx, in.graph, &was_sorted));
  TRY(graph_sweep(ctx, in.graph, &removed));
  *out = in.graph;
  return graph_verify(ctx, in.graph);
}
