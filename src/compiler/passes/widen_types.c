/* widen-types: floats below 32 bits and integers below 8 are storage types. An operator that would
 * compute in one gets Casts to f32, i8 or u8 before it and back after it: one rounding per node,
 * like the reference. Elementwise expressions load and store small floats themselves, and operators
 * that only move elements keep them.
 *
 * A 16-bit result of a node that computes in f32 is read unrounded, which is closer to the exact
 * result than the reference: a whole model computes in f32 with conversions at its ends. Values
 * that a model rounds itself, outputs, reads as bits or uses for decisions (a comparison, an index)
 * are rounded.
 *
 * y = MatMul(a, b)        f16        y = Cast(MatMul(Cast(a), Cast(b)), to=f16)
 * z = Relu(y)                        z = Cast(Relu(MatMul(..)), to=f16)
 * y = QuantizeLinear(..)  i4         clipped to the range in i8
 * y = QuantizeLinear(..)  f8         y = Cast(x / scale), the scale expanded to x
 */
#include "rewrite.h"

static bool is_small_float(hone_dtype dtype) {
  return dtype_is_float(dtype) && dtype_bits(dtype) < 32;
}

static bool is_packed(hone_dtype dtype) { return dtype != HONE_STRING && dtype_bits(dtype) < 8; }

/* Their kernels support small floats: as bytes, or by loading and storing them. */
static bool takes_small_floats(const struct node *node) {
  switch (node->op->id) {
    case OP_Mean:
    case OP_Shape:
    case OP_Size:
      return true;
    case OP_Mod:
      return node_int(node, "fmod", 0) != 0;
    case OP_Pow:
      return node->inputs[0]->dtype == node->inputs[1]->dtype;
    default:
      return moves_elements(node) || (node->op->class == OP_ELEMENTWISE && node->op->expression);
  }
}

/* The value that this pass rounded to 16 bits, before rounding; NULL: not such a value. */
static struct value *unrounded(const struct rewrite *r, const struct value *value) {
  const struct node *cast = graph_owns(r->graph, value) ? producer_of(value, OP_Cast) : NULL;
  const bool is_own = cast && value->index >= r->own_values && cast->inputs[0]->dtype == HONE_F32;
  return is_own && dtype_is_half(value->dtype) ? cast->inputs[0] : NULL;
}

/* All results have 16 bits: none is a decision. */
static bool makes_halves(const struct node *node) {
  for (size_t k = 0; k < node->output_count; k++)
    if (node->outputs[k] && !dtype_is_half(node->outputs[k]->dtype)) return false;
  return true;
}

/* True if it supports small floats but reads some of them unrounded: any operand it computes
   with, all of what it moves. */
static bool stays_wide(const struct rewrite *r, const struct node *node) {
  size_t wide = 0, narrow = 0;
  for (size_t k = 0; k < node->input_count; k++) {
    const struct value *value = node->inputs[k];
    if (!value || !dtype_is_half(value->dtype)) continue;
    wide += unrounded(r, value) != NULL;
    narrow += !unrounded(r, value) && !value->constant;
  }
  return wide && makes_halves(node) && (!narrow || node->op->class == OP_ELEMENTWISE);
}

static bool must_widen(const struct rewrite *r, const struct node *node,
                       const struct value *value) {
  if (!value || is_op(node, OP_MatMulWeights)) return false;
  return is_packed(value->dtype) ||
         (is_small_float(value->dtype) && (!takes_small_floats(node) || stays_wide(r, node)));
}

static hone_status cast(struct rewrite *r, struct value *from, hone_dtype to, bool saturate,
                        struct value **out) {
  *out = from;
  if (from->dtype == to) return HONE_OK;
  if (!saturate) x_with_int(r->b, "saturate", 0);
  BUILD(r->b, *out = x_cast(r->b, from, to));
  if (from->constant && tensor_count(from->constant) == 1) { /* inference may need it */
    bool folded;
    TRY(node_fold(r->ctx, r->graph, (*out)->producer, &folded));
    if (folded) r->graph->nodes.count--; /* it came last */
  }
  return HONE_OK;
}

/* -- any operator */

static hone_status copy_attributes(struct rewrite *r, const struct node *from, struct node *to) {
  for (size_t a = 0; a < from->attribute_count; a++) {
    struct attribute attribute = from->attributes[a];
    bool is_type = !strcmp(attribute.name, "dtype") || !strcmp(attribute.name, "output_dtype") ||
                   !strcmp(attribute.name, "stash_type") || !strcmp(attribute.name, "precision");
    if (is_type) attribute.i = dtype_widened((hone_dtype)attribute.i);
    TRY(node_set(r->ctx, r->graph, to, &attribute));
  }
  return HONE_OK;
}

static hone_status widen(struct rewrite *r, const struct node *node, struct node **out) {
  struct value **inputs;
  TRY(NEW_ARRAY(r->ctx, r->graph->arena, inputs, node->input_count));
  for (size_t k = 0; k < node->input_count; k++) {
    inputs[k] = node->inputs[k];
    if (!must_widen(r, node, inputs[k])) continue;
    struct value *wide = makes_halves(node) ? unrounded(r, inputs[k]) : NULL;
    if (wide)
      inputs[k] = wide;
    else
      TRY(cast(r, inputs[k], dtype_widened(inputs[k]->dtype), true, &inputs[k]));
  }
  TRY(graph_node(r->ctx, r->graph, node->op, inputs, node->input_count, node->output_count, out));
  node_stand_for(*out, node);
  for (size_t k = 0; k < node->output_count; k++)
    if (!node->outputs[k]) (*out)->outputs[k] = NULL;
  TRY(copy_attributes(r, node, *out));
  return node_infer(r->ctx, r->graph, *out);
}

static hone_status widen_any(struct rewrite *r, const struct node *node) {
  struct node *wide;
  struct value *narrow;
  TRY(widen(r, node, &wide));
  for (size_t k = 0; k < node->output_count; k++) {
    if (!node->outputs[k]) continue;
    TRY(cast(r, wide->outputs[k], node->outputs[k]->dtype, true, &narrow));
    TRY(rewrite_replace(r, node->outputs[k], narrow));
  }
  return HONE_OK;
}

/* -- QuantizeLinear, DequantizeLinear */

/* One scale per block along the axis, repeated to one per element. */
static struct value *repeat_blocks(struct rewrite *r, struct value *scale, const struct shape *x,
                                   int axis, int64_t block) {
  int64_t dims[HONE_MAX_RANK + 1], one = 1;
  int rank = x->rank;
  for (int i = 0; i <= rank; i++)
    dims[i] = i <= axis ? scale->shape.dims[i] : i == axis + 1 ? one : scale->shape.dims[i - 1];
  struct value *y = x_reshape(r->b, scale, dims, rank + 1);
  dims[axis + 1] = block;
  y = x_2(r->b, OP_Expand, y, x_list(r->b, dims, (size_t)rank + 1));
  memcpy(dims, scale->shape.dims, sizeof scale->shape.dims);
  dims[axis] *= block;
  return x_slice(r->b, x_reshape(r->b, y, dims, rank), axis, 0, x->dims[axis]);
}

/* The scale in f32, of a shape that broadcasts over x. */
static hone_status spread_scale(struct rewrite *r, const struct node *node, struct value **out) {
  const struct shape *x = &node->inputs[0]->shape;
  struct value *scale = node->inputs[1];
  int64_t dims[HONE_MAX_RANK], block = node_int(node, "block_size", 0);
  int64_t axis = node_int(node, "axis", 1);
  if (axis < 0) axis += x->rank;
  TRY(cast(r, scale, HONE_F32, true, out));
  if (block > 0) return x_give(r->b, out, repeat_blocks(r, *out, x, (int)axis, block));
  if (scale->shape.rank != 1 || scale->shape.dims[0] == 1) return HONE_OK;
  for (int i = 0; i < x->rank; i++) dims[i] = i == axis ? scale->shape.dims[0] : 1;
  return x_give(r->b, out, x_reshape(r->b, *out, dims, x->rank));
}

static hone_status to_tiny_float(struct rewrite *r, const struct node *node) {
  struct value *x, *scale, *y;
  TRY(cast(r, node->inputs[0], HONE_F32, true, &x));
  TRY(spread_scale(r, node, &scale));
  BUILD(r->b, y = x_2(r->b, OP_Div, x, scale));
  bool saturate = node_int(node, "saturate", 1) != 0;
  TRY(cast(r, y, node->outputs[0]->dtype, saturate, &y));
  return rewrite_replace(r, node->outputs[0], y);
}

static hone_status from_tiny_float(struct rewrite *r, const struct node *node) {
  struct value *x, *scale, *y;
  TRY(cast(r, node->inputs[0], HONE_F32, true, &x));
  TRY(spread_scale(r, node, &scale));
  BUILD(r->b, y = x_2(r->b, OP_Mul, x, scale));
  TRY(cast(r, y, node->outputs[0]->dtype, true, &y));
  return rewrite_replace(r, node->outputs[0], y);
}

/* As int8, which saturates at its bounds, then clipped to the narrow type's bounds. */
static hone_status to_packed(struct rewrite *r, const struct node *node) {
  hone_dtype narrow = node->outputs[0]->dtype, wide = dtype_widened(narrow);
  int bits = (int)dtype_bits(narrow);
  int64_t high = wide == HONE_I8 ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
  struct node *quantize;
  TRY(widen(r, node, &quantize));
  struct value *y = quantize->outputs[0];
  BUILD(r->b, y = x_by(r->b, OP_Max, x_by(r->b, OP_Min, y, (double)high),
                       wide == HONE_I8 ? (double)(-high - 1) : 0));
  TRY(cast(r, y, narrow, true, &y));
  return rewrite_replace(r, node->outputs[0], y);
}

/* Gathered rows of a constant table that is cast as a whole: casts the rows instead, so that the
   table stays small. */
static hone_status cast_behind(struct rewrite *r, struct node *node) {
  const struct node *own = producer_of(node->inputs[0], OP_Cast);
  struct value *y;
  BUILD(r->b, y = x_gather(r->b, own->inputs[0], node->inputs[1], node_int(node, "axis", 0)));
  TRY(cast(r, y, HONE_F32, true, &y));
  return rewrite_replace(r, node->outputs[0], y);
}

static bool reads_cast_table(const struct node *node) {
  const struct node *own = is_op(node, OP_Gather) ? producer_of(node->inputs[0], OP_Cast) : NULL;
  int64_t table, rows;
  return own && own->inputs[0]->constant && dtype_is_half(own->inputs[0]->dtype) &&
         node->inputs[0]->dtype == HONE_F32 && shape_count(&node->inputs[0]->shape, &table) &&
         shape_count(&node->outputs[0]->shape, &rows) && rows < table;
}

static hone_status visit(struct rewrite *r, struct node *node) {
  bool needed = false;
  if (reads_cast_table(node)) return cast_behind(r, node);
  if (is_op(node, OP_Cast) && node->outputs[0]->dtype == HONE_F32 && unrounded(r, node->inputs[0]))
    return rewrite_replace(r, node->outputs[0], unrounded(r, node->inputs[0]));
  if (is_op(node, OP_Cast) || is_op(node, OP_CastLike) || is_op(node, OP_BitCast) ||
      node->op->class == OP_CONTROL)
    return HONE_OK;
  for (size_t k = 0; k < node->input_count; k++) needed |= must_widen(r, node, node->inputs[k]);
  for (size_t k = 0; k < node->output_count; k++) needed |= must_widen(r, node, node->outputs[k]);
  if (!needed) return HONE_OK;
  if (is_op(node, OP_QuantizeLinear)) {
    hone_dtype to = node->outputs[0]->dtype;
    if (dtype_is_tiny_float(to)) return to_tiny_float(r, node);
    if (is_packed(to)) return to_packed(r, node);
  }
  if (is_op(node, OP_DequantizeLinear) && dtype_is_tiny_float(node->inputs[0]->dtype))
    return from_tiny_float(r, node);
  return widen_any(r, node);
}

/* needs: shapes. keeps: order, shapes. breaks: uses. */
hone_status pass_widen_types(struct ctx *ctx, struct graph *graph, size_t *out_changes) {
  return rewrite_nodes(ctx, graph, visit, out_changes);
}
