/* fold-constants: nodes whose inputs are all constants are evaluated by the reference. What would
 * only blow a small constant up (Expand, Tile, ConstantOfShape) stays: computing it is as cheap as
 * reading it. But where it meets a constant that is as large as the result (scales of blocks and the weights
 * they belong to), it is evaluated with its reader. */
#include "rewrite.h"

enum { ALWAYS_FOLDED_BYTES = 64 << 10, LARGEST_GROWTH = 4, MOST_SPREADING = 4 };

static size_t bytes_of(const struct value *value) {
  int64_t elements;
  if (!value || !value->has_shape || !shape_count(&value->shape, &elements)) return 0;
  return (size_t)elements * dtype_bits(value->dtype) / 8;
}

static bool is_worth_it(const struct node *node) {
  size_t in = 0, out = 0;
  for (size_t i = 0; i < node->input_count; i++) in += bytes_of(node->inputs[i]);
  for (size_t o = 0; o < node->output_count; o++) out += bytes_of(node->outputs[o]);
  return out <= ALWAYS_FOLDED_BYTES || out / LARGEST_GROWTH <= in;
}

/* The nodes that make the value of constants alone and for one reader each, the last one first; 0: there are none, or
   more than a few. */
static size_t spreading_nodes(const struct rewrite *r, struct value *value,
                              struct node *out[MOST_SPREADING]) {
  size_t count = 0;
  while (value) {
    struct node *node = value->producer;
    if (!node || count == MOST_SPREADING || !is_pure(node) || !rewrite_single_use(r, value))
      return 0;
    out[count++] = node;
    value = NULL;
    for (size_t i = 0; i < node->input_count; i++) {
      struct value *input = node->inputs[i];
      if (!input || input->constant) continue;
      if (value) return 0;
      value = input;
    }
  }
  return count;
}

/* Its only input that is no constant becomes one, where the other inputs are as large as the result. */
static hone_status fold_spread(struct rewrite *r, struct node *node) {
  struct node *chain[MOST_SPREADING];
  struct value *spread = NULL;
  size_t constant_bytes = 0, result_bytes = bytes_of(node->outputs[0]);
  for (size_t i = 0; i < node->input_count; i++) {
    struct value *input = node->inputs[i];
    if (!input) continue;
    if (input->constant)
      constant_bytes += bytes_of(input);
    else if (spread)
      return HONE_OK;
    else
      spread = input;
  }
  if (!spread || !result_bytes || bytes_of(spread) > result_bytes || constant_bytes < result_bytes)
    return HONE_OK;
  bool folded = true;
  for (size_t count = spreading_nodes(r, spread, chain); folded && count-- > 0;)
    TRY(node_fold(r->ctx, r->graph, chain[count], &folded));
  return HONE_OK;
}

static hone_status visit(struct rewrite *r, struct node *node) {
  bool folded = false;
  if (node->output_count && is_pure(node)) TRY(fold_spread(r, node));
  if (is_pure(node) && is_worth_it(node)) TRY(node_fold(r->ctx, r->graph, node, &folded));
  r->changes += folded;
  return HONE_OK;
}

/* needs: shapes. keeps: order, shapes. breaks: uses. */
hone_status pass_fold_constants(struct ctx *ctx, struct graph *graph, size_t *out_changes) {
  return rewrite_nodes(ctx, graph, visit, out_changes);
}
