/* Nodes, constants and frequent operations: see builder.h. */
#include "builder.h"

#include <stdarg.h>

#include "core/ops/composites/expand.h"

enum { FOLD_ELEMENTS = 4096 };

static struct value *broken(struct graph_builder *b, hone_status status) {
  if (!b->status) b->status = status;
  b->dummy = (struct value){.name = "", .dtype = HONE_F32, .has_shape = true};
  return &b->dummy;
}

hone_status x_give(struct graph_builder *b, struct value **out, struct value *value) {
  *out = value;
  return b->status;
}

struct place x_place(const struct graph_builder *b) {
  return b->node        ? node_place(b->node)
         : b->index < 0 ? place_name(b->name)
                        : place_of_node(b->index, b->name, b->written_as);
}

void x_sign(const struct graph_builder *b, struct node *node) {
  if (b->node) {
    node_stand_for(node, b->node);
    return;
  }
  node->index = b->index;
  node->name = b->name;
  node->written_as = b->index < 0 ? NULL : b->written_as;
}

void x_fail(struct graph_builder *b, hone_status id, const char *format, ...) {
  char text[256];
  va_list args;
  if (b->status) return;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  (void)broken(b, fail(b->ctx, id, x_place(b), "%s", text));
}

/* -- nodes */

static void with(struct graph_builder *b, struct attribute attribute) {
  if (b->attribute_count < COUNT(b->attributes))
    b->attributes[b->attribute_count++] = attribute;
  else
    (void)broken(b, fail(b->ctx, HONE_E_INTERNAL, x_place(b), "too many attributes"));
}
void x_with_int(struct graph_builder *b, const char *name, int64_t i) {
  with(b, (struct attribute){.name = name, .kind = ATTRIBUTE_INT, .i = i});
}
void x_with_float(struct graph_builder *b, const char *name, double f) {
  with(b, (struct attribute){.name = name, .kind = ATTRIBUTE_FLOAT, .f = f});
}
void x_with_string(struct graph_builder *b, const char *name, const char *text) {
  with(b, (struct attribute){.name = name, .kind = ATTRIBUTE_STRING, .s = {text, strlen(text)}});
}
void x_with_ints(struct graph_builder *b, const char *name, const int64_t *ints, size_t count) {
  int64_t *copy;
  hone_status status = NEW_ARRAY(b->ctx, b->graph->arena, copy, count + 1);
  if (status) {
    (void)broken(b, status);
    return;
  }
  if (count) memcpy(copy, ints, count * sizeof *ints);
  with(b, (struct attribute){.name = name, .kind = ATTRIBUTE_INTS, .ints = copy, .count = count});
}

/* -- dimensions with slopes: only in expansions after all passes (sizes.c) */

struct slope x_slope(const struct value *x, int d) {
  return x->slope ? x->slope[d] : (struct slope){0};
}

static hone_status set_slope(struct graph_builder *b, struct value *x, int d,
                             const struct slope *slope) {
  struct slope *slopes;
  if (slope_is_zero(slope)) return HONE_OK;
  TRY(NEW_ARRAY(b->ctx, b->graph->arena, slopes, HONE_MAX_RANK));
  if (x->slope) memcpy(slopes, x->slope, HONE_MAX_RANK * sizeof *slopes);
  slopes[d] = *slope;
  x->slope = slopes;
  return HONE_OK;
}

void x_set_slope(struct graph_builder *b, struct value *x, int d, struct slope slope) {
  hone_status status = b->status ? b->status : set_slope(b, x, d, &slope);
  if (status) (void)broken(b, status);
}

/* The dimension of the result that dimension d of operand k becomes; -1: none. */
static int carried_to(const struct node *node, size_t k, int d) {
  const struct value *x = node->inputs[k], *y = node->outputs[0];
  if (is_op(node, OP_Gather)) {
    int axis = (int)node_int(node, "axis", 0);
    if (axis < 0) axis += node->inputs[0]->shape.rank;
    return k ? axis + d : d == axis ? -1 : d < axis ? d : d + node->inputs[1]->shape.rank - 1;
  }
  if (is_op(node, OP_Reshape)) { /* of a list, to a list along another axis */
    for (int i = 0; i < y->shape.rank; i++)
      if (y->shape.dims[i] == x->shape.dims[d]) return i;
    return -1;
  }
  if (is_op(node, OP_Pad)) return k ? -1 : d;
  return node->op->class == OP_ELEMENTWISE ? d + y->shape.rank - x->shape.rank : -1;
}

/* Enough for lists of positions and what is read at them; others set the slopes of their result. */
static hone_status carry_slopes(struct graph_builder *b, const struct node *node) {
  for (size_t k = 0; k < node->input_count; k++) {
    const struct value *x = node->inputs[k];
    for (int d = 0; x && x->slope && d < x->shape.rank; d++) {
      const int to = carried_to(node, k, d);
      if (to >= 0) TRY(set_slope(b, node->outputs[0], to, &x->slope[d]));
    }
  }
  return HONE_OK;
}

/* Expands a composite, which is the last node, and removes it. */
static hone_status finish_composite(struct graph_builder *b, const struct node *node,
                                    expand_fn *expand, struct value **out) {
  struct graph_builder inner;
  const size_t at = b->graph->nodes.count - 1;
  /* an expansion must not contain its own operator */
  if (b->node && expand == expand_find(b->node))
    return fail(b->ctx, HONE_E_UNSUP, node_place(node),
                "%s of a value with a dynamic dimension is not supported", node->op->name);
  TRY(expand_node(b->ctx, b->graph, node, expand, &inner));
  for (size_t k = 0; k < node->output_count; k++) out[k] = inner.results[k];
  memmove(&b->graph->nodes.at[at], &b->graph->nodes.at[at + 1],
          (--b->graph->nodes.count - at) * sizeof *b->graph->nodes.at);
  return HONE_OK;
}

/* All values that a composite makes are within a limit, since one small node may make them. */
static hone_status count_bytes(struct graph_builder *b, const struct node *node) {
  const size_t budget = (size_t)b->ctx->limits[LIMIT_total_value_bytes];
  const struct value *value = node->outputs[0];
  int64_t elements;
  size_t bytes;
  if (!b->node || b->only_infers) return HONE_OK;
  TRY(extent(b->ctx, node_place(node), value->dtype, &value->shape, &elements, &bytes));
  if (!checked_add(b->bytes, bytes, &b->bytes) || b->bytes > budget)
    return fail(b->ctx, HONE_E_LIMIT, node_place(node),
                "%s takes more than %zu bytes (limit total_value_bytes)", b->node->op->name,
                budget);
  return HONE_OK;
}

static bool is_small(const struct node *node) {
  int64_t count;
  for (size_t k = 0; k < node->output_count; k++)
    if (!shape_count(&node->outputs[k]->shape, &count) || count > FOLD_ELEMENTS) return false;
  return true;
}

/* The last node, whose inputs are set. */
static hone_status finish(struct graph_builder *b, struct node *node, struct value **out) {
  bool folded = false;
  x_sign(b, node);
  if ((int64_t)b->graph->nodes.count > b->ctx->limits[LIMIT_nodes])
    return fail(b->ctx, HONE_E_LIMIT, node_place(node), "more than %lld nodes (limit nodes)",
                (long long)b->ctx->limits[LIMIT_nodes]);
  for (size_t a = 0; b->like && a < b->like->attribute_count; a++)
    TRY(node_set(b->ctx, b->graph, node, &b->like->attributes[a]));
  for (size_t a = 0; a < b->attribute_count; a++) /* of one name the last one holds */
    TRY(node_set(b->ctx, b->graph, node, &b->attributes[a]));
  b->attribute_count = 0;
  expand_fn *expand = b->only_infers ? NULL : expand_find(node);
  if (expand) return finish_composite(b, node, expand, out);
  TRY(node_infer(b->ctx, b->graph, node));
  TRY(carry_slopes(b, node));
  TRY(count_bytes(b, node));
  for (size_t k = 0; k < node->output_count; k++) out[k] = node->outputs[k];
  if (!b->only_infers && is_small(node)) TRY(node_fold(b->ctx, b->graph, node, &folded));
  if (folded) b->graph->nodes.count--; /* it was added last */
  return HONE_OK;
}

static hone_status make_node(struct graph_builder *b, enum op_id op, struct value *const *inputs,
                             size_t count, size_t outputs, struct value **out) {
  struct node *node;
  while (count && !inputs[count - 1]) count--;
  TRY(graph_node(b->ctx, b->graph, &op_table[op], inputs, count, outputs, &node));
  return finish(b, node, out);
}

void x_node(struct graph_builder *b, enum op_id op, struct value *const *inputs, size_t count,
            size_t outputs, struct value **out) {
  hone_status status = b->status;
  if (!status) status = make_node(b, op, inputs, count, outputs, out);
  for (size_t k = 0; status && k < outputs; k++) out[k] = broken(b, status);
}
struct value *x_op(struct graph_builder *b, enum op_id op, struct value *const *inputs,
                   size_t count) {
  struct value *out = NULL;
  x_node(b, op, inputs, count, 1, &out);
  return out;
}
struct value *x_like(struct graph_builder *b, const struct node *like, enum op_id op,
                     struct value *const *inputs, size_t count) {
  const struct node *stands_for = b->node;
  b->node = b->like = like;
  struct value *y = x_op(b, op, inputs, count);
  b->node = stands_for;
  b->like = NULL;
  return y;
}
struct value *x_again(struct graph_builder *b, struct value *const *inputs, size_t count) {
  return x_like(b, b->node, b->node->op->id, inputs, count);
}
struct value *x_1(struct graph_builder *b, enum op_id op, struct value *x) {
  return x_op(b, op, &x, 1);
}
struct value *x_2(struct graph_builder *b, enum op_id op, struct value *x, struct value *y) {
  return x_op(b, op, (struct value *[]){x, y}, 2);
}
struct value *x_3(struct graph_builder *b, enum op_id op, struct value *x, struct value *y,
                  struct value *z) {
  return x_op(b, op, (struct value *[]){x, y, z}, 3);
}
void x_nodes(struct graph_builder *b, enum op_id op, struct value *const *inputs, size_t count,
             const struct attribute *args, size_t outputs, struct value **out) {
  for (; args && args->name; args++) {
    struct attribute own = *args;
    const hone_status status =
        own.kind == ATTRIBUTE_STRING
            ? arena_string(b->ctx, b->graph->arena, own.s.bytes, own.s.length, &own.s.bytes)
            : HONE_OK;
    if (status) (void)broken(b, status);
    if (own.kind == ATTRIBUTE_INTS)
      x_with_ints(b, own.name, own.ints, own.count);
    else
      with(b, own);
  }
  x_node(b, op, inputs, count, outputs, out);
}
struct value *x_args(struct graph_builder *b, enum op_id op, struct value *const *inputs,
                     size_t count, const struct attribute *args) {
  struct value *out = NULL;
  x_nodes(b, op, inputs, count, args, 1, &out);
  return out;
}

/* Maps a value of the body to the outer graph; captured ones are there already. */
static struct value *mapped(const struct graph *body, struct value *const *map,
                            struct value *value) {
  return graph_owns(body, value) ? map[value->index] : value;
}

static hone_status inline_node(struct graph_builder *b, const struct graph *body,
                               struct value **map, const struct node *from) {
  struct value **inputs, *out;
  struct node *node;
  if (from->output_count != 1 || from->op->class == OP_CONTROL)
    return fail(b->ctx, HONE_E_UNSUP, node_place(b->node), "%s inside a graph of %s",
                from->op->name, b->node->op->name);
  TRY(NEW_ARRAY(b->ctx, b->graph->arena, inputs, from->input_count + 1));
  for (size_t k = 0; k < from->input_count; k++)
    if (from->inputs[k]) inputs[k] = mapped(body, map, from->inputs[k]);
  TRY(graph_node(b->ctx, b->graph, from->op, inputs, from->input_count, 1, &node));
  for (size_t a = 0; a < from->attribute_count; a++)
    TRY(node_set(b->ctx, b->graph, node, &from->attributes[a]));
  TRY(finish(b, node, &out));
  map[from->outputs[0]->index] = out;
  return HONE_OK;
}

static hone_status inline_body(struct graph_builder *b, const struct graph *body,
                               struct value *input, struct value **out) {
  struct value **map;
  if (body->inputs.count != 1 || body->outputs.count != 1)
    return fail(b->ctx, HONE_E_FORMAT, node_place(b->node),
                "a subgraph with %zu inputs, %zu outputs", body->inputs.count, body->outputs.count);
  TRY(NEW_ARRAY(b->ctx, b->graph->arena, map, body->values.count));
  for (size_t i = 0; i < body->values.count; i++) {
    const struct value *value = body->values.at[i];
    if (value->constant)
      TRY(graph_constant(b->ctx, b->graph, NULL, value->constant, &map[value->index]));
  }
  map[body->inputs.at[0]->index] = input;
  for (size_t i = 0; i < body->nodes.count; i++) TRY(inline_node(b, body, map, body->nodes.at[i]));
  *out = mapped(body, map, body->outputs.at[0]);
  return HONE_OK;
}

struct value *x_inline(struct graph_builder *b, const struct graph *body, struct value *input) {
  struct value *out = NULL;
  if (b->status) return broken(b, b->status);
  hone_status status = inline_body(b, body, input, &out);
  return status ? broken(b, status) : out;
}

/* -- constants */

static const struct tensor no_tensor = {.dtype = HONE_UNDEFINED, .shape = {.rank = 1, .dims = {0}}};

struct value *x_constant(struct graph_builder *b, hone_dtype dtype, const struct shape *shape,
                         const struct tensor **out) {
  struct value *value;
  int64_t elements;
  size_t bytes;
  *out = &no_tensor;
  if (b->status) return broken(b, b->status);
  hone_status status = extent(b->ctx, x_place(b), dtype, shape, &elements, &bytes);
  if (!status) status = graph_new_constant(b->ctx, b->graph, dtype, shape, &value);
  if (status) return broken(b, status);
  *out = value->constant;
  return value;
}

struct value *x_numbers(struct graph_builder *b, hone_dtype dtype, const struct shape *shape,
                        const double *numbers) {
  const struct tensor *tensor;
  struct value *value = x_constant(b, dtype, shape, &tensor);
  for (size_t i = 0, n = b->status ? 0 : tensor_count(tensor); i < n; i++)
    if (b->node || !dtype_is_integer(dtype) || (numbers[i] >= -0x1p63 && numbers[i] < 0x1p63))
      tensor_set_f64(tensor, i, numbers[i]);
    else
      x_fail(b, HONE_E_NUM, "%g as an integer", numbers[i]);
  return value;
}

struct value *x_scalar(struct graph_builder *b, hone_dtype dtype, double x) {
  return x_numbers(b, dtype, &(struct shape){0}, &x);
}

struct value *x_list(struct graph_builder *b, const int64_t *values, size_t count) {
  const struct tensor *tensor;
  struct value *value = x_constant(b, HONE_I64, &(struct shape){1, {(int64_t)count}}, &tensor);
  for (size_t i = 0; !b->status && i < count; i++) tensor_set_i64(tensor, i, values[i]);
  return value;
}

struct value *x_range(struct graph_builder *b, hone_dtype dtype, int64_t count, double start,
                      double step) {
  const struct tensor *tensor;
  struct value *value = x_constant(b, dtype, &(struct shape){1, {count}}, &tensor);
  for (int64_t i = 0; !b->status && i < count; i++)
    tensor_set_f64(tensor, (size_t)i, start + step * (double)i);
  return value;
}

struct value *x_sized(struct graph_builder *b, hone_dtype dtype, int64_t bound,
                      struct slope slope) {
  struct value *out = NULL;
  if (slope_is_zero(&slope)) return x_scalar(b, dtype, (double)bound);
  hone_status status = b->status;
  if (!status)
    status = graph_sized(b->ctx, b->graph, dtype, &(struct shape){0}, bound, &slope, &out);
  return status ? broken(b, status) : out;
}

/* -- frequent operations */

struct value *x_cast(struct graph_builder *b, struct value *x, hone_dtype to) {
  if (b->status || x->dtype == to) return x;
  x_with_int(b, "to", to);
  return x_1(b, OP_Cast, x);
}
/* Where the only data-dependent dimension of x stays as it is, its bound becomes -1. */
static void keep_open_dimension(const struct value *x, const struct shape *shape, int64_t *to) {
  int open = -1, count = 0;
  for (int d = 0; d < x->shape.rank; d++)
    if (x->extents[d]) open = d, count++;
  for (int i = 0; i < shape->rank; i++)
    if (to[i] == -1) return;
  for (int i = 0; i < shape->rank && count == 1; i++)
    if (to[i] == x->shape.dims[open] &&
        dims_product(shape, 0, i) == dims_product(&x->shape, 0, open) &&
        dims_product(shape, i + 1, shape->rank) ==
            dims_product(&x->shape, open + 1, x->shape.rank)) {
      to[i] = -1;
      return;
    }
}

struct value *x_reshape(struct graph_builder *b, struct value *x, const int64_t *dims, int rank) {
  int64_t to[HONE_MAX_RANK];
  struct shape shape = {.rank = rank};
  if (rank > HONE_MAX_RANK) {
    x_fail(b, HONE_E_SHAPE, "a shape of %d dimensions, more than %d", rank, HONE_MAX_RANK);
    return x;
  }
  for (int i = 0; i < rank; i++) to[i] = shape.dims[i] = dims[i];
  /* a file says which dimension is dynamic */
  if (!b->status && b->node && value_is_open(x)) keep_open_dimension(x, &shape, to);
  x_with_int(b, "allowzero", 1);
  return x_2(b, OP_Reshape, x, x_list(b, to, (size_t)rank));
}
struct value *x_expand(struct graph_builder *b, struct value *x, const struct shape *shape) {
  if (shape_equal(&x->shape, shape)) return x;
  return x_2(b, OP_Expand, x, x_list(b, shape->dims, (size_t)shape->rank));
}
struct value *x_unsqueeze(struct graph_builder *b, struct value *x, int64_t axis) {
  return x_2(b, OP_Unsqueeze, x, x_list(b, &axis, 1));
}
struct value *x_squeeze(struct graph_builder *b, struct value *x, int64_t axis) {
  return x_2(b, OP_Squeeze, x, x_list(b, &axis, 1));
}
struct value *x_transpose(struct graph_builder *b, struct value *x, const int64_t *perm) {
  x_with_ints(b, "perm", perm, (size_t)x->shape.rank);
  return x_1(b, OP_Transpose, x);
}
struct value *x_swap(struct graph_builder *b, struct value *x, int d, int other) {
  int64_t perm[HONE_MAX_RANK];
  if (d == other || b->status) return x;
  for (int i = 0; i < x->shape.rank; i++) perm[i] = i == d ? other : i == other ? d : i;
  return x_transpose(b, x, perm);
}
struct value *x_slice(struct graph_builder *b, struct value *x, int axis, int64_t start,
                      int64_t end) {
  if (b->status || (start == 0 && end == x->shape.dims[axis])) return x;
  struct value *const inputs[] = {x, x_list(b, &start, 1), x_list(b, &end, 1),
                                  x_list(b, (int64_t[]){axis}, 1)};
  return x_op(b, OP_Slice, inputs, 4);
}
struct value *x_concat(struct graph_builder *b, int64_t axis, struct value *const *parts,
                       size_t count) {
  if (count == 1) return parts[0];
  x_with_int(b, "axis", axis);
  return x_op(b, OP_Concat, parts, count);
}
struct value *x_gather(struct graph_builder *b, struct value *x, struct value *index,
                       int64_t axis) {
  x_with_int(b, "axis", axis);
  return x_2(b, OP_Gather, x, index);
}
struct value *x_reduce(struct graph_builder *b, enum op_id op, struct value *x, const int64_t *axes,
                       size_t count, bool keep) {
  /* create the list before the attribute is pending */
  struct value *list = axes ? x_list(b, axes, count) : NULL;
  x_with_int(b, "keepdims", keep);
  return list ? x_2(b, op, x, list) : x_1(b, op, x);
}
struct value *x_pad(struct graph_builder *b, struct value *x, int axis, int64_t before,
                    int64_t after) {
  int64_t pads[2 * HONE_MAX_RANK] = {0};
  if (b->status) return x;
  if (before < 0 || after < 0) {
    int64_t start = before < 0 ? -before : 0;
    x = x_slice(b, x, axis, start, x->shape.dims[axis] + (after < 0 ? after : 0));
  }
  if (before <= 0 && after <= 0) return x;
  pads[axis] = before > 0 ? before : 0;
  pads[x->shape.rank + axis] = after > 0 ? after : 0;
  return x_2(b, OP_Pad, x, x_list(b, pads, 2 * (size_t)x->shape.rank));
}
struct value *x_by(struct graph_builder *b, enum op_id op, struct value *x, double y) {
  return x_2(b, op, x, x_scalar(b, x->dtype, y));
}
