/* The building functions of expand.h. */
#include "expand.h"

#include <stdarg.h>

static bool is_true(const struct value *value) {
  return value && value->constant && tensor_count(value->constant) == 1 &&
         tensor_i64(value->constant, 0) != 0;
}

/* Shrink of integers: computed in floats, truncated toward zero. */
static void expand_integer_shrink(struct expansion *e) {
  struct value *x = x_in(e, 0);
  const hone_dtype dtype = x->dtype;
  x = x_cast(e, x, dtype_bits(dtype) <= 16 ? HONE_F32 : HONE_F64);
  x_with_float(e, "lambd", x_float(e, "lambd", 0.5));
  x_with_float(e, "bias", x_float(e, "bias", 0));
  x_out(e, 0, x_cast(e, x_1(e, OP_Shrink, x), dtype));
}

expand_fn *expand_by_row(const struct expand_row *rows, size_t count, const struct node *node) {
  for (size_t i = 0; i < count; i++)
    if (is_op(node, rows[i].op) && rows[i].is(node)) return rows[i].expand;
  return NULL;
}

expand_fn *expand_find(const struct node *node) {
  if (is_op(node, OP_Dropout) &&
      (is_true(node_input(node, 2)) || (node->output_count > 1 && node->outputs[1])))
    return expand_dropout;
  if (is_op(node, OP_Equal) && node->input_count && node->inputs[0] &&
      node->inputs[0]->dtype == HONE_STRING)
    return expand_string_equal;
  if (is_op(node, OP_Cast) && node->input_count && node->inputs[0] &&
      dtype_is_integer(node->inputs[0]->dtype) && node_int(node, "to", 0) == HONE_STRING)
    return expand_cast_text;
  if (is_op(node, OP_Shrink) && node->input_count && node->inputs[0] &&
      dtype_is_integer(node->inputs[0]->dtype))
    return expand_integer_shrink;
  expand_fn *open = expand_open_find(node);
  if (open) return open;
  if (is_op(node, OP_BatchNormalization) && node_int(node, "training_mode", 0))
    return expand_batch_norm;
  switch (node->op->id) {
#define COMPOSITE(name, expand) \
  case OP_##name:               \
    return expand;
#include "composites.def"
#undef COMPOSITE
    default:
      return NULL;
  }
}

static struct value *broken(struct expansion *e, hone_status status) {
  if (!e->status) e->status = status;
  e->dummy = (struct value){.name = "", .dtype = HONE_F32, .has_shape = true};
  return &e->dummy;
}

void x_fail(struct expansion *e, hone_status id, const char *format, ...) {
  char text[256];
  va_list args;
  if (e->status) return;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  (void)broken(e, fail(e->ctx, id, node_place(e->node), "%s", text));
}

bool x_is(const struct expansion *e, const char *attribute, const char *otherwise,
          const char *word) {
  return !strcmp(node_string(e->node, attribute, otherwise), word);
}

void x_out(struct expansion *e, size_t k, struct value *value) {
  if (k < e->node->output_count && k < COUNT(e->results)) e->results[k] = value;
}

size_t x_ints(struct expansion *e, size_t k, const char *what, size_t max, int64_t *out) {
  size_t count = 0;
  if (e->status) return 0;
  hone_status status = want_ints(e->ctx, e->node, k, what, max, out, &count);
  if (status) (void)broken(e, status);
  return status ? 0 : count;
}

/* -- nodes */

static void with(struct expansion *e, struct attribute attribute) {
  if (e->attribute_count < COUNT(e->attributes))
    e->attributes[e->attribute_count++] = attribute;
  else
    (void)broken(e, fail(e->ctx, HONE_E_INTERNAL, node_place(e->node), "too many attributes"));
}
void x_with_int(struct expansion *e, const char *name, int64_t i) {
  with(e, (struct attribute){.name = name, .kind = ATTRIBUTE_INT, .i = i});
}
void x_with_float(struct expansion *e, const char *name, double f) {
  with(e, (struct attribute){.name = name, .kind = ATTRIBUTE_FLOAT, .f = f});
}
void x_with_string(struct expansion *e, const char *name, const char *text) {
  with(e, (struct attribute){.name = name, .kind = ATTRIBUTE_STRING, .s = {text, strlen(text)}});
}
void x_with_ints(struct expansion *e, const char *name, const int64_t *ints, size_t count) {
  int64_t *copy;
  hone_status status = NEW_ARRAY(e->ctx, e->graph->arena, copy, count + 1);
  if (status) {
    (void)broken(e, status);
    return;
  }
  memcpy(copy, ints, count * sizeof *ints);
  with(e, (struct attribute){.name = name, .kind = ATTRIBUTE_INTS, .ints = copy, .count = count});
}

/* -- dimensions with slopes: only in expansions after all passes (sizes.c) */

struct slope x_slope(const struct value *x, int d) {
  return x->slope ? x->slope[d] : (struct slope){0};
}

static hone_status set_slope(struct expansion *e, struct value *x, int d,
                             const struct slope *slope) {
  struct slope *slopes;
  if (slope_is_zero(slope)) return HONE_OK;
  TRY(NEW_ARRAY(e->ctx, e->graph->arena, slopes, HONE_MAX_RANK));
  if (x->slope) memcpy(slopes, x->slope, HONE_MAX_RANK * sizeof *slopes);
  slopes[d] = *slope;
  x->slope = slopes;
  return HONE_OK;
}

void x_set_slope(struct expansion *e, struct value *x, int d, struct slope slope) {
  hone_status status = e->status ? e->status : set_slope(e, x, d, &slope);
  if (status) (void)broken(e, status);
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
static hone_status carry_slopes(struct expansion *e, const struct node *node) {
  for (size_t k = 0; k < node->input_count; k++) {
    const struct value *x = node->inputs[k];
    for (int d = 0; x && x->slope && d < x->shape.rank; d++) {
      const int to = carried_to(node, k, d);
      if (to >= 0) TRY(set_slope(e, node->outputs[0], to, &x->slope[d]));
    }
  }
  return HONE_OK;
}

static hone_status finish(struct expansion *e, struct node *node, struct value **out) {
  bool folded = false;
  size_t bytes = 0, budget = (size_t)e->ctx->limits[LIMIT_total_value_bytes];
  int64_t elements = 0;
  *out = node->outputs[0];
  node_stand_for(node, e->node);
  for (size_t a = 0; a < e->attribute_count; a++)
    TRY(node_set(e->ctx, e->graph, node, &e->attributes[a]));
  e->attribute_count = 0;
  expand_fn *expand = expand_find(node);
  if (expand && expand == expand_find(e->node)) /* an expansion must not contain its own operator */
    return fail(e->ctx, HONE_E_UNSUP, node_place(node),
                "%s of a value with a dynamic dimension is not supported", node->op->name);
  if (expand) { /* a composite that contains composites */
    struct expansion inner;
    TRY(expand_node(e->ctx, e->graph, node, expand, &inner));
    *out = inner.results[0];
    for (size_t i = e->graph->nodes.count; i-- > 0;)
      if (e->graph->nodes.at[i] == node) {
        memmove(&e->graph->nodes.at[i], &e->graph->nodes.at[i + 1],
                (--e->graph->nodes.count - i) * sizeof *e->graph->nodes.at);
        break;
      }
    return HONE_OK;
  }
  TRY(node_infer(e->ctx, e->graph, node));
  TRY(carry_slopes(e, node));
  const struct value *value = node->outputs[0];
  TRY(extent(e->ctx, node_place(node), value->dtype, &value->shape, &elements, &bytes));
  if (!checked_add(e->bytes, bytes, &e->bytes) || e->bytes > budget)
    return fail(e->ctx, HONE_E_LIMIT, node_place(node),
                "%s takes more than %zu bytes (limit total_value_bytes)", e->node->op->name,
                budget);
  if (bytes <= 1 << 16) TRY(node_fold(e->ctx, e->graph, node, &folded));
  if (folded) e->graph->nodes.count--; /* it was added last */
  return HONE_OK;
}

static hone_status make_node(struct expansion *e, enum op_id op, struct value *const *inputs,
                             size_t count, size_t outputs, struct value **out) {
  struct node *node;
  TRY(graph_node(e->ctx, e->graph, &op_table[op], inputs, count, outputs, &node));
  for (size_t k = 0; k < outputs; k++) out[k] = node->outputs[k]; /* constants of a folded node */
  return finish(e, node, &out[0]);
}

void x_node(struct expansion *e, enum op_id op, struct value *const *inputs, size_t count,
            size_t outputs, struct value **out) {
  hone_status status = e->status;
  if (!status) status = make_node(e, op, inputs, count, outputs, out);
  for (size_t k = 0; status && k < outputs; k++) out[k] = broken(e, status);
}
struct value *x_op(struct expansion *e, enum op_id op, struct value *const *inputs, size_t count) {
  struct value *out = NULL;
  x_node(e, op, inputs, count, 1, &out);
  return out;
}
struct value *x_again(struct expansion *e, struct value *const *inputs, size_t count) {
  struct attribute own[COUNT(e->attributes)];
  const size_t own_count = e->attribute_count;
  memcpy(own, e->attributes, sizeof own);
  e->attribute_count = 0;
  for (size_t a = 0; a < e->node->attribute_count && !e->status; a++)
    with(e, e->node->attributes[a]);
  for (size_t a = 0; a < own_count && !e->status; a++) with(e, own[a]); /* the last one holds */
  return x_op(e, e->node->op->id, inputs, count);
}
struct value *x_1(struct expansion *e, enum op_id op, struct value *a) {
  return x_op(e, op, &a, 1);
}
struct value *x_2(struct expansion *e, enum op_id op, struct value *a, struct value *b) {
  return x_op(e, op, (struct value *[]){a, b}, 2);
}
struct value *x_3(struct expansion *e, enum op_id op, struct value *a, struct value *b,
                  struct value *c) {
  return x_op(e, op, (struct value *[]){a, b, c}, 3);
}

/* Maps a value of the body to the outer graph; captured ones are there already. */
static struct value *mapped(const struct graph *body, struct value *const *map,
                            struct value *value) {
  return graph_owns(body, value) ? map[value->index] : value;
}

static hone_status inline_node(struct expansion *e, const struct graph *body, struct value **map,
                               const struct node *from) {
  struct value **inputs, *out;
  struct node *node;
  if (from->output_count != 1 || from->op->class == OP_CONTROL)
    return fail(e->ctx, HONE_E_UNSUP, node_place(e->node), "%s inside a graph of %s",
                from->op->name, e->node->op->name);
  TRY(NEW_ARRAY(e->ctx, e->graph->arena, inputs, from->input_count + 1));
  for (size_t k = 0; k < from->input_count; k++)
    if (from->inputs[k]) inputs[k] = mapped(body, map, from->inputs[k]);
  TRY(graph_node(e->ctx, e->graph, from->op, inputs, from->input_count, 1, &node));
  for (size_t a = 0; a < from->attribute_count; a++)
    TRY(node_set(e->ctx, e->graph, node, &from->attributes[a]));
  TRY(finish(e, node, &out));
  map[from->outputs[0]->index] = out;
  return HONE_OK;
}

static hone_status inline_body(struct expansion *e, const struct graph *body, struct value *input,
                               struct value **out) {
  struct value **map;
  if (body->inputs.count != 1 || body->outputs.count != 1)
    return fail(e->ctx, HONE_E_FORMAT, node_place(e->node),
                "a subgraph with %zu inputs, %zu outputs", body->inputs.count, body->outputs.count);
  TRY(NEW_ARRAY(e->ctx, e->graph->arena, map, body->values.count));
  for (size_t i = 0; i < body->values.count; i++) {
    const struct value *value = body->values.at[i];
    if (value->constant)
      TRY(graph_constant(e->ctx, e->graph, NULL, value->constant, &map[value->index]));
  }
  map[body->inputs.at[0]->index] = input;
  for (size_t i = 0; i < body->nodes.count; i++) TRY(inline_node(e, body, map, body->nodes.at[i]));
  *out = mapped(body, map, body->outputs.at[0]);
  return HONE_OK;
}

struct value *x_inline(struct expansion *e, const struct graph *body, struct value *input) {
  struct value *out = NULL;
  if (e->status) return broken(e, e->status);
  hone_status status = inline_body(e, body, input, &out);
  return status ? broken(e, status) : out;
}

/* -- constants */

static const struct tensor no_tensor = {.dtype = HONE_UNDEFINED, .shape = {.rank = 1, .dims = {0}}};

struct value *x_constant(struct expansion *e, hone_dtype dtype, const struct shape *shape,
                         const struct tensor **out) {
  struct value *value;
  int64_t elements;
  size_t bytes;
  *out = &no_tensor;
  if (e->status) return broken(e, e->status);
  hone_status status = extent(e->ctx, node_place(e->node), dtype, shape, &elements, &bytes);
  if (!status) status = graph_new_constant(e->ctx, e->graph, dtype, shape, &value);
  if (status) return broken(e, status);
  *out = value->constant;
  return value;
}

struct value *x_scalar(struct expansion *e, hone_dtype dtype, double x) {
  const struct tensor *tensor;
  struct value *value = x_constant(e, dtype, &(struct shape){0}, &tensor);
  if (!e->status) tensor_set_f64(tensor, 0, x);
  return value;
}

struct value *x_list(struct expansion *e, const int64_t *values, size_t count) {
  const struct tensor *tensor;
  struct value *value = x_constant(e, HONE_I64, &(struct shape){1, {(int64_t)count}}, &tensor);
  for (size_t i = 0; !e->status && i < count; i++) tensor_set_i64(tensor, i, values[i]);
  return value;
}

struct value *x_range(struct expansion *e, hone_dtype dtype, int64_t count, double start,
                      double step) {
  const struct tensor *tensor;
  struct value *value = x_constant(e, dtype, &(struct shape){1, {count}}, &tensor);
  for (int64_t i = 0; !e->status && i < count; i++)
    tensor_set_f64(tensor, (size_t)i, start + step * (double)i);
  return value;
}

struct value *x_sized(struct expansion *e, hone_dtype dtype, int64_t bound, struct slope slope) {
  struct value *out = NULL;
  if (slope_is_zero(&slope)) return x_scalar(e, dtype, (double)bound);
  hone_status status = e->status;
  if (!status)
    status = graph_sized(e->ctx, e->graph, dtype, &(struct shape){0}, bound, &slope, &out);
  return status ? broken(e, status) : out;
}

/* -- frequent operations */

struct value *x_cast(struct expansion *e, struct value *x, hone_dtype to) {
  if (e->status || x->dtype == to) return x;
  x_with_int(e, "to", to);
  return x_1(e, OP_Cast, x);
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

struct value *x_reshape(struct expansion *e, struct value *x, const int64_t *dims, int rank) {
  int64_t to[HONE_MAX_RANK];
  struct shape shape = {.rank = rank};
  memcpy(to, dims, (size_t)rank * sizeof *to);
  memcpy(shape.dims, dims, (size_t)rank * sizeof *dims);
  if (!e->status && value_is_open(x)) keep_open_dimension(x, &shape, to);
  x_with_int(e, "allowzero", 1);
  return x_2(e, OP_Reshape, x, x_list(e, to, (size_t)rank));
}
struct value *x_expand(struct expansion *e, struct value *x, const struct shape *shape) {
  if (shape_equal(&x->shape, shape)) return x;
  return x_2(e, OP_Expand, x, x_list(e, shape->dims, (size_t)shape->rank));
}
struct value *x_unsqueeze(struct expansion *e, struct value *x, int64_t axis) {
  return x_2(e, OP_Unsqueeze, x, x_list(e, &axis, 1));
}
struct value *x_squeeze(struct expansion *e, struct value *x, int64_t axis) {
  return x_2(e, OP_Squeeze, x, x_list(e, &axis, 1));
}
struct value *x_transpose(struct expansion *e, struct value *x, const int64_t *perm) {
  x_with_ints(e, "perm", perm, (size_t)x->shape.rank);
  return x_1(e, OP_Transpose, x);
}
struct value *x_swap(struct expansion *e, struct value *x, int a, int b) {
  int64_t perm[HONE_MAX_RANK];
  if (a == b || e->status) return x;
  for (int i = 0; i < x->shape.rank; i++) perm[i] = i == a ? b : i == b ? a : i;
  return x_transpose(e, x, perm);
}
struct value *x_slice(struct expansion *e, struct value *x, int axis, int64_t start, int64_t end) {
  if (e->status || (start == 0 && end == x->shape.dims[axis])) return x;
  struct value *const inputs[] = {x, x_list(e, &start, 1), x_list(e, &end, 1),
                                  x_list(e, (int64_t[]){axis}, 1)};
  return x_op(e, OP_Slice, inputs, 4);
}
struct value *x_concat(struct expansion *e, int64_t axis, struct value *const *parts,
                       size_t count) {
  if (count == 1) return parts[0];
  x_with_int(e, "axis", axis);
  return x_op(e, OP_Concat, parts, count);
}
struct value *x_gather(struct expansion *e, struct value *x, struct value *index, int64_t axis) {
  x_with_int(e, "axis", axis);
  return x_2(e, OP_Gather, x, index);
}
struct value *x_reduce(struct expansion *e, enum op_id op, struct value *x, const int64_t *axes,
                       size_t count, bool keep) {
  /* create the list before the attribute is pending */
  struct value *list = axes ? x_list(e, axes, count) : NULL;
  x_with_int(e, "keepdims", keep);
  return list ? x_2(e, op, x, list) : x_1(e, op, x);
}
struct value *x_pad(struct expansion *e, struct value *x, int axis, int64_t before, int64_t after) {
  int64_t pads[2 * HONE_MAX_RANK] = {0};
  if (e->status) return x;
  if (before < 0 || after < 0) {
    int64_t start = before < 0 ? -before : 0;
    x = x_slice(e, x, axis, start, x->shape.dims[axis] + (after < 0 ? after : 0));
  }
  if (before <= 0 && after <= 0) return x;
  pads[axis] = before > 0 ? before : 0;
  pads[x->shape.rank + axis] = after > 0 ? after : 0;
  return x_2(e, OP_Pad, x, x_list(e, pads, 2 * (size_t)x->shape.rank));
}

/* -- one composite */

hone_status expand_node(struct ctx *ctx, struct graph *graph, const struct node *node,
                        expand_fn *expand, struct expansion *e) {
  *e = (struct expansion){.ctx = ctx, .graph = graph, .node = node};
  if (node->output_count > COUNT(e->results))
    return fail(ctx, HONE_E_LIMIT, node_place(node), "%s has %zu outputs, at most %zu are read",
                node->op->name, node->output_count, COUNT(e->results));
  expand(e);
  TRY(e->status);
  for (size_t k = 0; k < node->output_count; k++)
    if (node->outputs[k] && !e->results[k])
      return fail(ctx, HONE_E_UNSUP, node_place(node), "output %zu of %s is not supported", k,
                  node->op->name);
  return HONE_OK;
}

hone_status infer_composite(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  return fail(ctx, HONE_E_INTERNAL, node_place(node), "%s was not expanded", node->op->name);
}

hone_status eval_composite(struct ctx *ctx, struct arena *scratch, const struct node *node,
                           const struct tensor *const *in, struct tensor *const *out) {
  (void)scratch, (void)in, (void)out;
  return fail(ctx, HONE_E_INTERNAL, node_place(node), "%s was not expanded", node->op->name);
}
