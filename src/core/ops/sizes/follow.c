/* follow: which dimensions depend on the dynamic dimensions of the inputs.
 *
 * Instead of symbolic inference, the model is imported and transformed at several sizes and
 * compared node by node with the model at the bounds: a dimension is fixed, or linear in the
 * symbols, or the model cannot be compiled for more than one size. So every operator's inference,
 * every fold of Shape -> Gather -> Concat -> Reshape and every pass supports dynamic dimensions
 * unchanged. */
#include "core/ops/ops.h"

struct follower {
  struct ctx *ctx;
  struct graph *graph;
  const struct symbols *symbols;
  const struct graph *at_n;
  const int64_t *sizes;
  int64_t less[HONE_MAX_SYMBOLS]; /* bounds - sizes */
  int first;                      /* the symbol whose slopes this call determines; -1: none */
  const struct value **pair;      /* of at_n, by the index of graph's value */
};

static hone_status refuse(struct follower *f, const struct node *node, const char *what) {
  struct strbuf names = {0}, at = {0};
  for (size_t k = 0; k < f->symbols->count; k++)
    if (f->less[k]) strbuf_printf(&names, "%s%s", names.length ? ", " : "", f->symbols->at[k].name);
  symbols_print(&at, f->symbols, f->sizes);
  hone_status status =
      fail(f->ctx, HONE_E_UNSUP, node ? node_place(node) : place_none(),
           "%s%scannot carry %s: %s at %s", node ? node->op->name : "", node ? " " : "the model ",
           names.at ? names.at : "", what, at.at ? at.at : "");
  strbuf_deinit(&names);
  strbuf_deinit(&at);
  return status;
}

/* -- values */

/* Slopes for the only symbol that is below its bound. */
static hone_status set_slopes(struct follower *f, const struct node *node, struct value *value,
                              const struct value *other) {
  struct slope *slope;
  int64_t less = f->less[f->first];
  if (shape_equal(&value->shape, &other->shape)) return HONE_OK;
  TRY(NEW_ARRAY(f->ctx, f->graph->arena, slope, HONE_MAX_RANK));
  if (value->slope) memcpy(slope, value->slope, HONE_MAX_RANK * sizeof *slope);
  for (int d = 0; d < value->shape.rank; d++) {
    int64_t difference = value->shape.dims[d] - other->shape.dims[d];
    if (difference < 0 || difference % less)
      return refuse(f, node, "a dimension does not grow with it linearly");
    slope[d].of[f->first] = difference / less;
  }
  value->slope = slope;
  return HONE_OK;
}

static hone_status pair_values(struct follower *f, const struct node *node, struct value *value,
                               const struct value *other) {
  f->pair[value->index] = other;
  if (value->dtype != other->dtype || value->shape.rank != other->shape.rank)
    return refuse(f, node, "a value has another type or rank");
  if (f->first >= 0) TRY(set_slopes(f, node, value, other));
  for (int d = 0; d < value->shape.rank; d++)
    if (value->shape.dims[d] - (value->slope ? slope_loss(&value->slope[d], f->less) : 0) !=
        other->shape.dims[d])
      return refuse(f, node, "a dimension does not grow with it linearly");
  return HONE_OK;
}

/* -- constants */

/* Operands that give a shape; the output's shape holds the same information. */
static bool is_shape_operand(const struct node *node, size_t k) {
  static const struct {
    enum op_id op;
    size_t first, last;
  } rows[] = {{OP_Reshape, 1, 1}, {OP_Expand, 1, 1},          {OP_Tile, 1, 1},
              {OP_Slice, 2, 2},   {OP_ConstantOfShape, 0, 0}, {OP_Split, 1, 1}};
  for (size_t i = 0; i < COUNT(rows); i++)
    if (is_op(node, rows[i].op) && k >= rows[i].first && k <= rows[i].last) return true;
  return false;
}

/* True if `part`, smaller in some dimensions, equals the elements of `whole` from `start` on. */
static bool is_part(const struct tensor *whole, const struct tensor *part, const int64_t *start) {
  size_t size = dtype_bits(whole->dtype) / 8, count = tensor_count(part);
  int64_t stride[HONE_MAX_RANK], index[HONE_MAX_RANK] = {0};
  const char *from = whole->data, *to = part->data;
  if (!size || whole->dtype == HONE_STRING) return false;
  shape_strides(&whole->shape, stride);
  for (size_t i = 0; i < count; i++) {
    int64_t at = 0;
    for (int d = 0; d < part->shape.rank; d++) at += (start[d] + index[d]) * stride[d];
    if (memcmp(from + (size_t)at * size, to + i * size, size)) return false;
    for (int d = part->shape.rank; d-- > 0 && ++index[d] == part->shape.dims[d];) index[d] = 0;
  }
  return true;
}

/* Finds the part as a window of the constant at the bounds: the leading elements, or in a dimension
 * that this symbol shortens the trailing ones (positions counted from the end of a dynamic
 * dimension). */
static hone_status find_window(struct follower *f, struct value *value, const struct tensor *part,
                               bool *out_found) {
  const struct tensor *whole = value->constant;
  int64_t start[HONE_MAX_RANK] = {0};
  for (int d = 0; value->begin && d < whole->shape.rank; d++)
    start[d] = slope_loss(&value->begin[d], f->less);
  *out_found = is_part(whole, part, start);
  for (int d = 0; !*out_found && f->first >= 0 && d < whole->shape.rank; d++) {
    struct slope *begin;
    if (!value->slope[d].of[f->first]) continue;
    start[d] = whole->shape.dims[d] - part->shape.dims[d];
    *out_found = is_part(whole, part, start);
    start[d] = 0;
    if (!*out_found) continue;
    TRY(NEW_ARRAY(f->ctx, f->graph->arena, begin, HONE_MAX_RANK));
    if (value->begin) memcpy(begin, value->begin, HONE_MAX_RANK * sizeof *begin);
    begin[d].of[f->first] = value->slope[d].of[f->first];
    value->begin = begin;
  }
  return HONE_OK;
}

static hone_status follow_constant(struct follower *f, const struct node *node, size_t k,
                                   struct value *value, const struct value *other) {
  if (!other->constant) return refuse(f, node, "an operand is not a constant");
  if (f->pair[value->index] == other) return HONE_OK;
  if (is_shape_operand(node, k)) return HONE_OK;
  TRY(pair_values(f, node, value, other));
  bool fits = false;
  if (value->slope)
    TRY(find_window(f, value, other->constant, &fits));
  else
    fits = tensor_equal(value->constant, other->constant);
  if (fits) return HONE_OK;
  return refuse(f, node, "a constant has other elements");
}

/* -- nodes */

static hone_status follow_node(struct follower *f, const struct node *node,
                               const struct node *other) {
  if (node->op != other->op || node->input_count != other->input_count ||
      node->output_count != other->output_count || node->attribute_count != other->attribute_count)
    return refuse(f, node, "the passes transform it into a different node");
  for (size_t i = 0; i < node->attribute_count; i++)
    if (!attribute_equal(&node->attributes[i], &other->attributes[i])) {
      if (node->attributes[i].kind == ATTRIBUTE_GRAPH) return refuse(f, node, "it has subgraphs");
      return refuse(f, node, "an attribute has another value");
    }
  for (size_t k = 0; k < node->input_count; k++) {
    struct value *value = node->inputs[k];
    const struct value *at_n = other->inputs[k];
    if (!value != !at_n) return refuse(f, node, "an operand is missing");
    if (value && value->constant)
      TRY(follow_constant(f, node, k, value, at_n));
    else if (value && f->pair[value->index] != at_n)
      return refuse(f, node, "it reads another value");
  }
  for (size_t k = 0; k < node->output_count; k++) {
    if (!node->outputs[k] != !other->outputs[k]) return refuse(f, node, "an output is missing");
    if (node->outputs[k]) TRY(pair_values(f, node, node->outputs[k], other->outputs[k]));
  }
  return HONE_OK;
}

static hone_status follow(struct follower *f) {
  struct graph *graph = f->graph;
  const struct graph *at_n = f->at_n;
  if (graph->nodes.count != at_n->nodes.count)
    return refuse(f, NULL, "the passes give a different number of nodes");
  for (size_t i = 0; i < graph->inputs.count; i++)
    TRY(pair_values(f, NULL, graph->inputs.at[i], at_n->inputs.at[i]));
  for (size_t i = 0; i < graph->nodes.count; i++)
    TRY(follow_node(f, graph->nodes.at[i], at_n->nodes.at[i]));
  for (size_t i = 0; i < graph->outputs.count; i++) {
    struct value *value = graph->outputs.at[i];
    if (value->constant && !tensor_equal(value->constant, at_n->outputs.at[i]->constant))
      return refuse(f, NULL, "an output is another constant");
    if (!value->constant && f->pair[value->index] != at_n->outputs.at[i])
      return refuse(f, NULL, "an output is another value");
  }
  return HONE_OK;
}

hone_status symbol_follow(struct ctx *ctx, struct graph *graph, const struct symbols *symbols,
                          const struct graph *at_n, const int64_t *sizes) {
  struct follower f = {
      .ctx = ctx, .graph = graph, .symbols = symbols, .at_n = at_n, .sizes = sizes, .first = -1};
  struct arena *scratch;
  int below = 0;
  for (size_t k = 0; k < symbols->count; k++) {
    f.less[k] = symbols->at[k].bound - sizes[k];
    if (!f.less[k]) continue;
    below++;
    if (k >= graph->symbols.count) f.first = (int)k; /* symbols are processed in order */
  }
  if (!below || (f.first >= 0 && below > 1))
    return fail(ctx, HONE_E_INTERNAL, place_none(), "%d symbols below their bounds", below);
  TRY(arena_create(ctx, 0, &scratch));
  hone_status status = NEW_ARRAY(ctx, scratch, f.pair, graph->values.count + 1);
  if (!status) status = follow(&f);
  if (!status && f.first >= 0)
    graph->symbols = *symbols, graph->symbols.count = (size_t)f.first + 1;
  arena_destroy(scratch);
  return status;
}
