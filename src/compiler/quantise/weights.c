/* Weights in fewer bits, everything else in f32: memory-bound models run faster with smaller
 * weights. 16 bits: the constant followed by a Cast. 4 bits: com.microsoft MatMulNBits, which ONNX
 * Runtime defined: [n, k] in blocks along k, with a scale and a zero point each.
 */
#include "quantise_internal.h"

#include <math.h>

enum { LEAST_ELEMENTS = 1024, STEPS_4 = 15, CLIPS = 8 };

/* -- 16 bits */

static hone_status narrowed(struct ctx *ctx, struct graph *graph, struct value *value,
                            hone_dtype to, struct value **out) {
  const struct tensor *wide = value->constant;
  struct tensor *narrow;
  struct value *constant;
  struct node *cast;
  TRY(tensor_create(ctx, graph->arena, to, &wide->shape, &narrow));
  for (size_t i = 0; i < tensor_count(wide); i++) {
    tensor_set_f64(narrow, i, tensor_f64(wide, i));
    if (isfinite(tensor_f64(wide, i)) && !isfinite(tensor_f64(narrow, i)))
      return advise(ctx,
                    fail(ctx, HONE_E_NUM, place_name(value->name), "a weight of %g is too large",
                         tensor_f64(wide, i)),
                    "--to bf16 has the range of f32");
  }
  TRY(graph_constant(ctx, graph, NULL, narrow, &constant));
  TRY(graph_node(ctx, graph, &op_table[OP_Cast], &constant, 1, 1, &cast));
  TRY(node_set_int(ctx, graph, cast, "to", HONE_F32));
  TRY(node_infer(ctx, graph, cast));
  *out = cast->outputs[0];
  return HONE_OK;
}

hone_status quantise_weights_16(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                                hone_dtype to, struct graph **out, size_t *out_count) {
  struct value **instead;
  bool was_sorted;
  size_t removed;
  TRY(prepare(ctx, arena, graph, out));
  const size_t nodes = (*out)->nodes.count, values = (*out)->values.count;
  *out_count = 0;
  TRY(NEW_ARRAY(ctx, arena, instead, values));
  for (size_t n = 0; n < nodes; n++) {
    struct node *node = (*out)->nodes.at[n];
    for (size_t i = 0; i < node->input_count; i++) {
      struct value *value = node->inputs[i];
      if (!value || !graph_owns(*out, value) || value->index >= values || !value->constant ||
          value->dtype != HONE_F32 || tensor_count(value->constant) < LEAST_ELEMENTS)
        continue;
      if (!instead[value->index]) {
        TRY(narrowed(ctx, *out, value, to, &instead[value->index]));
        (*out_count)++;
      }
      node->inputs[i] = instead[value->index];
    }
  }
  TRY(graph_sort(ctx, *out, &was_sorted));
  TRY(graph_sweep(ctx, *out, &removed));
  return graph_verify(ctx, *out);
}

/* -- 4 bits */

struct block {
  double scale;
  int zero;
};

static int nibble(const struct block *b, double x) {
  return (int)fmin(STEPS_4, fmax(0, rint(x / b->scale) + b->zero));
}

static double block_error(const struct block *b, const double *x, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; i++) {
    const double off = x[i] - b->scale * (nibble(b, x[i]) - b->zero);
    sum += off * off;
  }
  return sum;
}

/* The range with the smallest squared error, among ranges around 0 that clip both ends slightly. */
static struct block choose_block(const double *x, size_t count) {
  double low = 0, high = 0, least = INFINITY;
  struct block best = {1, 0};
  for (size_t i = 0; i < count; i++) low = fmin(low, x[i]), high = fmax(high, x[i]);
  if (high - low < 1e-30) return best;
  for (int clip = 0; clip < CLIPS; clip++) {
    const double share = 1 - clip / 32.0;
    struct block b = {(double)(float)((high - low) * share / STEPS_4), 0};
    b.zero = (int)fmin(STEPS_4, fmax(0, rint(-low * share / b.scale)));
    const double error = block_error(&b, x, count);
    if (error < least) least = error, best = b;
  }
  return best;
}

struct packed {
  struct tensor *q, *scales, *zeros;
};

/* Column n of the weights, element k at w[n * along_n + k * along_k]. */
static hone_status pack(struct ctx *ctx, struct arena *arena, const struct tensor *w, size_t n,
                        size_t k, size_t along_n, size_t along_k, size_t block,
                        struct packed *out) {
  const size_t blocks = (k + block - 1) / block, zero_bytes = (blocks + 1) / 2;
  double *x;
  TRY(NEW_ARRAY(ctx, arena, x, block));
  TRY(tensor_create(ctx, arena, HONE_U8,
                    &(struct shape){3, {(int64_t)n, (int64_t)blocks, (int64_t)block / 2}},
                    &out->q));
  TRY(tensor_create(ctx, arena, HONE_F32, &(struct shape){1, {(int64_t)(n * blocks)}},
                    &out->scales));
  TRY(tensor_create(ctx, arena, HONE_U8, &(struct shape){1, {(int64_t)(n * zero_bytes)}},
                    &out->zeros));
  uint8_t *q = (uint8_t *)(uintptr_t)out->q->data, *zeros = (uint8_t *)(uintptr_t)out->zeros->data;
  for (size_t c = 0; c < n; c++)
    for (size_t b = 0; b < blocks; b++) {
      const size_t count = k - b * block < block ? k - b * block : block;
      for (size_t i = 0; i < block; i++)
        x[i] = i < count ? tensor_f64(w, c * along_n + (b * block + i) * along_k) : 0;
      const struct block chosen = choose_block(x, block);
      tensor_set_f64(out->scales, c * blocks + b, chosen.scale);
      zeros[c * zero_bytes + b / 2] |= (uint8_t)(chosen.zero << (b % 2 * 4));
      for (size_t i = 0; i < block; i++)
        q[(c * blocks + b) * (block / 2) + i / 2] |=
            (uint8_t)(nibble(&chosen, x[i]) << (i % 2 * 4));
    }
  return HONE_OK;
}

static hone_status replace_product(struct ctx *ctx, struct graph *graph, struct node *node,
                                   size_t block) {
  const struct tensor *w = node->inputs[1]->constant;
  struct weight_layout l;
  struct packed packed;
  struct value *in[4] = {node->inputs[0]}, *bias = node_input(node, 2), *result;
  struct node *made;
  weight_layout(node, &l);
  const bool by_rows = l.per_output != 1; /* [n, k] */
  TRY(pack(ctx, graph->arena, w, l.outputs, l.inputs, by_rows ? l.inputs : 1,
           by_rows ? 1 : l.outputs, block, &packed));
  TRY(graph_constant(ctx, graph, NULL, packed.q, &in[1]));
  TRY(graph_constant(ctx, graph, NULL, packed.scales, &in[2]));
  TRY(graph_constant(ctx, graph, NULL, packed.zeros, &in[3]));
  TRY(graph_node(ctx, graph, &op_table[OP_MatMulNBits], in, 4, 1, &made));
  made->name = node->name;
  TRY(node_set_int(ctx, graph, made, "K", (int64_t)l.inputs));
  TRY(node_set_int(ctx, graph, made, "N", (int64_t)l.outputs));
  TRY(node_set_int(ctx, graph, made, "bits", 4));
  TRY(node_set_int(ctx, graph, made, "block_size", (int64_t)block));
  result = made->outputs[0]; /* shape inference would expand the node */
  result->dtype = HONE_F32;
  result->has_shape = true;
  result->shape = node->outputs[0]->shape;
  if (bias) {
    TRY(graph_node(ctx, graph, &op_table[OP_Add], (struct value *[]){result, bias}, 2, 1, &made));
    TRY(node_infer(ctx, graph, made));
    result = made->outputs[0];
  }
  return graph_replace(ctx, graph, node->outputs[0], result, &op_table[OP_Identity]);
}

hone_status quantise_weights_4(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                               int64_t block, struct graph **out, size_t *out_count) {
  struct sites sites;
  bool was_sorted;
  size_t removed;
  TRY(prepare(ctx, arena, graph, out));
  TRY(sites_find(ctx, arena, *out, &sites));
  *out_count = 0;
  const size_t nodes = (*out)->nodes.count;
  for (size_t n = 0; n < nodes; n++) {
    struct node *node = (*out)->nodes.at[n];
    if (sites.nodes[n].role != ROLE_PRODUCT || is_op(node, OP_Conv)) continue;
    if (tensor_count(node->inputs[1]->constant) < LEAST_ELEMENTS) continue;
    TRY(replace_product(ctx, *out, node, (size_t)block));
    (*out_count)++;
  }
  TRY(graph_sort(ctx, *out, &was_sorted));
  TRY(graph_sweep(ctx, *out, &removed));
  return graph_verify(ctx, *out);
}
