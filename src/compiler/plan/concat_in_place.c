/* Decides which images are written directly into the result of a Concat along channels, so that the
 * Concat copies nothing. Decided for the whole graph before lowering.
 *
 * The result is stored channels last, so an operand is a range of each pixel, and its maker stores
 * with the pixel stride of the whole. The maker must therefore support any strides: convolutions
 * and pools on kernels, resizes by a copy. Adjacent parts of one Split are written as one. Other
 * operands are copied, and so is a value of several Concats except in the last one. The result is
 * placed when the first part is made (make_output).
 */
#include "builder.h"

struct finder {
  struct builder *b;
  const struct fusion_group **makers; /* by value index: the group that makes it */
};

static bool stores_strides(const struct finder *f, const struct value *value) {
  const struct fusion_group *g = f->makers[value->index];
  int64_t repeats[HONE_MAX_RANK];
  if (!g) return false;
  if (is_op(g->node, OP_Resize)) return !g->count && resize_repeats(f->b->ctx, g->node, repeats);
  return all_f32(g) && takes_strides(g);
}

/* An image of several pixels and channels, so that channels last is a distinct order. */
static bool is_part(const struct finder *f, const struct value *value, const struct value *whole) {
  const struct shape *s = &value->shape;
  return graph_owns(f->b->graph, value) && !value->constant && !value->is_output &&
         !value_is_open(value) && value->dtype == whole->dtype && s->rank == 4 && s->dims[1] > 1 &&
         s->dims[2] * s->dims[3] > 1 && stores_strides(f, value);
}

/* Operands [i, i + *out_count) as one value: the input of the channel Split whose outputs they
   all are; else the one operand. */
static const struct value *adjacent_operands(const struct node *concat, size_t i,
                                             size_t *out_count) {
  const struct value *value = concat->inputs[i];
  const struct node *split = value->producer;
  *out_count = 1;
  if (!split || !is_op(split, OP_Split) || split->output_count > concat->input_count - i)
    return value;
  const int64_t axis = node_int(split, "axis", 0);
  if (axis != 1 && axis + value->shape.rank != 1) return value;
  for (size_t k = 0; k < split->output_count; k++)
    if (split->outputs[k] != concat->inputs[i + k]) return value;
  *out_count = split->output_count;
  return split->inputs[0];
}

static void join(const struct finder *f, const struct node *concat) {
  const struct value *whole = concat->outputs[0];
  const int64_t axis = node_int(concat, "axis", 0);
  int64_t channel = 0;
  if (whole->shape.rank != 4 || (axis != 1 && axis != -3) || whole->is_output ||
      value_is_open(whole))
    return;
  for (size_t i = 0, count; i < concat->input_count; i += count) {
    const struct value *value = adjacent_operands(concat, i, &count);
    if (is_part(f, value, whole))
      f->b->parts[value->index] = (struct part){.whole = whole, .channel = channel};
    channel += value->shape.dims[1];
  }
}

hone_status find_concat_parts(struct builder *b) {
  struct finder f = {.b = b};
  if (b->options->generic_only) return HONE_OK;
  TRY(NEW_ARRAY(b->ctx, b->arena, f.makers, b->graph->values.count));
  TRY(NEW_ARRAY(b->ctx, b->arena, b->parts, b->graph->values.count));
  for (size_t i = 0; i < b->groups.count; i++) {
    const struct fusion_group *g = b->groups.at[i];
    if (g->result && graph_owns(b->graph, g->result)) f.makers[g->result->index] = g;
  }
  for (size_t i = 0; i < b->groups.count; i++)
    if (is_op(b->groups.at[i]->node, OP_Concat)) join(&f, b->groups.at[i]->node);
  return HONE_OK;
}
