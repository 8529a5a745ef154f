/* Selects the nodes that compute in int8: matmuls and convolutions with constant weights, and,
 * where supported, the operators between them, so that no value returns to float on the way.
 */
#include "quantise_internal.h"

/* Operators that work on int8, in addition to matmuls and convolutions. */
static const struct {
  enum op_id op;
  enum role role;
} between[] = {
    {OP_Add, ROLE_OWN},         {OP_AveragePool, ROLE_OWN}, {OP_Clip, ROLE_OWN},
    {OP_Concat, ROLE_OWN},      {OP_Flatten, ROLE_SAME},    {OP_GlobalAveragePool, ROLE_OWN},
    {OP_HardSigmoid, ROLE_OWN}, {OP_HardSwish, ROLE_OWN},   {OP_LeakyRelu, ROLE_OWN},
    {OP_MaxPool, ROLE_SAME},    {OP_Mul, ROLE_OWN},         {OP_Relu, ROLE_OWN},
    {OP_Reshape, ROLE_SAME},    {OP_Sigmoid, ROLE_OWN},     {OP_Squeeze, ROLE_SAME},
    {OP_Transpose, ROLE_SAME},  {OP_Unsqueeze, ROLE_SAME}};

static bool is_f32(const struct value *value) { return value && value->dtype == HONE_F32; }

static bool is_product(const struct node *node) {
  bool conv = is_op(node, OP_Conv), gemm = is_op(node, OP_Gemm);
  if (!conv && !gemm && !is_op(node, OP_MatMul)) return false;
  const struct value *x = node->inputs[0], *w = node->inputs[1], *bias = node_input(node, 2);
  if (!is_f32(x) || x->constant || !is_f32(w) || !w->constant) return false;
  if (conv ? x->shape.rank != 3 && x->shape.rank != 4 : w->shape.rank != 2) return false;
  if (conv || !gemm) return !bias || bias->constant;
  return !node_int(node, "transA", 0) && node_float(node, "alpha", 1) == 1 &&
         (!bias || (bias->constant && bias->shape.rank == 1 && node_float(node, "beta", 1) == 1 &&
                    bias->shape.dims[0] == node->outputs[0]->shape.dims[1]));
}

static enum role role_of(const struct node *node) {
  if (!node->output_count || !is_f32(node->outputs[0])) return ROLE_NONE;
  if (is_product(node)) return ROLE_PRODUCT;
  for (size_t o = 1; o < node->output_count; o++)
    if (node->outputs[o]) return ROLE_NONE;
  for (size_t i = 0; i < COUNT(between); i++)
    if (between[i].op == node->op->id) return between[i].role;
  return ROLE_NONE;
}

/* The inputs that would be int8: not bounds, axes or shapes. */
static size_t data_inputs(const struct node *node) {
  bool all = is_op(node, OP_Add) || is_op(node, OP_Mul) || is_op(node, OP_Concat);
  return all ? node->input_count : 1;
}

hone_status sites_find(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                       struct sites *out) {
  const size_t values = graph->values.count;
  uint32_t *uses;
  out->graph = graph;
  TRY(NEW_ARRAY(ctx, arena, out->nodes, graph->nodes.count));
  TRY(NEW_ARRAY(ctx, arena, out->values, values));
  TRY(NEW_ARRAY(ctx, arena, out->single, values));
  TRY(NEW_ARRAY(ctx, arena, out->useful, values));
  TRY(NEW_ARRAY(ctx, arena, out->bytes, values));
  TRY(graph_uses(ctx, arena, graph, &uses));
  for (size_t v = 0; v < values; v++)
    out->single[v] = uses[v] == 1 && !graph->values.at[v]->is_output;
  for (size_t n = 0; n < graph->nodes.count; n++) {
    const struct node *node = graph->nodes.at[n];
    struct site *site = &out->nodes[n];
    site->role = role_of(node);
    for (size_t i = 0; site->role > ROLE_PRODUCT && i < data_inputs(node); i++)
      if (!is_f32(node->inputs[i]) || node->inputs[i]->constant) site->role = ROLE_NONE;
    for (size_t i = 0; site->role && i < (site->role == ROLE_PRODUCT ? 1 : data_inputs(node)); i++)
      out->values[node->inputs[i]->index].is_observed = true;
  }
  sites_decide(out);
  return HONE_OK;
}

/* Int8 is useful if a matmul or convolution reads the value, directly or through operators that
   work on int8. */
static void find_useful(struct sites *s, bool is_first) {
  memset(s->useful, 0, s->graph->values.count);
  for (size_t n = s->graph->nodes.count; n-- > 0;) {
    const struct node *node = s->graph->nodes.at[n];
    const struct site *site = &s->nodes[n];
    if (site->role == ROLE_PRODUCT && !site->is_kept_float)
      s->useful[node->inputs[0]->index] = true;
    if (site->role <= ROLE_PRODUCT || !s->useful[node->outputs[0]->index]) continue;
    for (size_t i = 0; i < data_inputs(node) && (is_first || site->is_quantised); i++)
      s->useful[node->inputs[i]->index] = true;
  }
}

/* A value can be int8 if a matmul or convolution makes it, or an operator on int8 values. */
static bool quantise_nodes(struct sites *s) {
  bool changed = false;
  memset(s->bytes, 0, s->graph->values.count);
  for (size_t n = 0; n < s->graph->nodes.count; n++) {
    const struct node *node = s->graph->nodes.at[n];
    struct site *site = &s->nodes[n];
    bool now = site->role == ROLE_PRODUCT && !site->is_kept_float;
    if (site->role > ROLE_PRODUCT) {
      now = s->useful[node->outputs[0]->index];
      for (size_t i = 0; i < data_inputs(node); i++) now &= s->bytes[node->inputs[i]->index];
    }
    changed |= now != site->is_quantised;
    site->is_quantised = now;
    if (now) s->bytes[node->outputs[0]->index] = true;
  }
  return changed;
}

/* Relu and Clip directly after a matmul, convolution or sum are its epilogue in every engine:
   nothing is rounded between them. */
static bool is_epilogue(const struct sites *s, const struct node *node) {
  const struct node *from = node->inputs[0]->producer;
  return (is_op(node, OP_Relu) || is_op(node, OP_Clip)) && from &&
         s->single[node->inputs[0]->index] && (is_product(from) || is_op(from, OP_Add));
}

static void want_values(struct sites *s) {
  for (size_t n = 0; n < s->graph->nodes.count; n++) {
    const struct node *node = s->graph->nodes.at[n];
    const struct site *site = &s->nodes[n];
    if (!site->is_quantised || is_epilogue(s, node)) continue;
    size_t count = site->role == ROLE_PRODUCT ? 1 : data_inputs(node);
    for (size_t i = 0; i < count; i++) {
      struct scaled *value = &s->values[node->inputs[i]->index];
      value->is_wanted = true;
      value->spares_float_readers = !s->bytes[node->inputs[i]->index];
    }
    if (site->role == ROLE_SAME)
      s->values[node->outputs[0]->index].root = s->values[node->inputs[0]->index].root;
  }
}

void sites_decide(struct sites *s) {
  const size_t count = s->graph->values.count;
  bool is_first = true;
  for (size_t v = 0; v < count; v++) {
    s->values[v].is_wanted = s->values[v].spares_float_readers = false;
    s->values[v].root = v;
  }
  do find_useful(s, is_first), is_first = false; /* the set of quantised nodes only shrinks */
  while (quantise_nodes(s));
  want_values(s);
}

void weight_layout(const struct node *product, struct weight_layout *out) {
  const struct shape *w = &product->inputs[1]->shape;
  const int rank = product->inputs[0]->shape.rank;
  size_t first = (size_t)w->dims[0], second = (size_t)w->dims[1], inner = 1;
  for (int i = 2; i < w->rank; i++) inner *= (size_t)w->dims[i];
  if (is_op(product, OP_Conv)) /* [out, in / groups, kernel...] */
    *out = (struct weight_layout){
        first, second * inner, second, inner, (size_t)node_int(product, "group", 1), 0, 1};
  else if (is_op(product, OP_Gemm) && node_int(product, "transB", 0)) /* [out, in] */
    *out = (struct weight_layout){first, second, second, 1, 1, 0, rank - 1};
  else /* [in, out] */
    *out = (struct weight_layout){second, 1, first, second, 1, 1, rank - 1};
}
