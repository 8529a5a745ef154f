/* Decides which images are written with a border of zeros, so that the convolutions that read them
 * need no padded copy. Decided for the whole graph before lowering.
 *
 * A value gets a border if all of its readers accept any strides. Values that are added after a
 * contraction must have the same strides, so all of them get the same border or none.
 */
#include "builder.h"

struct image {
  uint32_t group;  /* the value's representative: union-find */
  uint32_t reads;  /* reads that accept any strides */
  int64_t border;  /* requested by its readers */
  bool is_written; /* its maker writes any strides */
};

static uint32_t find(struct image *images, uint32_t i) {
  while (images[i].group != i) i = images[i].group = images[images[i].group].group;
  return i;
}

bool takes_strides(const struct fusion_group *g) {
  const struct node *node = g->node;
  if (!node->inputs[0] || node->inputs[0]->shape.rank != 4) return false;
  if (is_op(node, OP_ConvInteger)) return is_integer_contraction(node) && is_vector_program(g);
  if (is_op(node, OP_MaxPool) && is_kernel_pool(node)) return true;
  if (!all_f32(g)) return false;
  if (is_op(node, OP_Conv)) return node->inputs[1]->constant != NULL;
  return is_op(node, OP_AveragePool) && is_kernel_pool(node);
}

/* A Concat of channels copies operands that are not made in place, into any strides. */
static bool joins_channels(const struct node *node) {
  const int64_t axis = node_int(node, "axis", 0);
  return is_op(node, OP_Concat) && node->outputs[0]->shape.rank == 4 && (axis == 1 || axis == -3) &&
         node->outputs[0]->dtype == HONE_F32;
}

static hone_status look_at(struct builder *b, struct image *images, const struct fusion_group *g) {
  if (joins_channels(g->node)) images[g->result->index].is_written = true;
  if (!takes_strides(g)) return HONE_OK;
  const struct node *node = g->node;
  const struct value *x = node->inputs[0], *y = g->result;
  int64_t border = 0;
  images[y->index].is_written = true;
  const bool is_conv = is_op(node, OP_Conv) || is_op(node, OP_ConvInteger);
  const bool in_bf16 = computes_in_bf16(b, g);
  /* a value stored in another type than the convolution computes in is converted, and that copy
     adds the zeros */
  if (is_conv && in_bf16 == (storage_of(b, x) == HONE_BF16)) TRY(conv_border(b, g, &border));
  if (graph_owns(b->graph, x)) {
    images[x->index].reads++;
    if (border > images[x->index].border) images[x->index].border = border;
  }
  for (size_t i = 0; i < g->operand_count; i++) {
    const struct value *other = g->operands[i];
    if (!graph_owns(b->graph, other) || !shape_equal(&other->shape, &y->shape)) continue;
    images[other->index].reads++;
    images[find(images, other->index)].group = find(images, y->index);
  }
  return HONE_OK;
}

hone_status find_borders(struct builder *b) {
  const struct graph *graph = b->graph;
  uint32_t count = (uint32_t)graph->values.count;
  struct image *images;
  TRY(NEW_ARRAY(b->ctx, b->arena, images, count));
  TRY(NEW_ARRAY(b->ctx, b->arena, b->borders, count + SPARE_VALUES * graph->nodes.count));
  if (b->options->generic_only) return HONE_OK;
  for (uint32_t i = 0; i < count; i++) images[i].group = i;
  for (size_t n = 0; n < b->groups.count; n++) TRY(look_at(b, images, b->groups.at[n]));
  for (uint32_t i = 0; i < count; i++) { /* the border of a group is its representative's */
    struct image *group = &images[find(images, i)];
    if (images[i].border > group->border) group->border = images[i].border;
  }
  for (uint32_t i = 0; i < count; i++) {
    const struct value *value = graph->values.at[i];
    bool fits = images[i].is_written && images[i].reads == b->uses[i] && !value->is_output;
    bool alone = images[i].group == i && !images[i].reads && !images[i].is_written;
    if (!fits && !alone) images[find(images, i)].border = 0;
  }
  for (uint32_t i = 0; i < count; i++)
    if (images[i].is_written) b->borders[i] = images[find(images, i)].border;
  return HONE_OK;
}
