/* control: If, Loop and Scan at compile time. If the condition or the trip count is known, copies
 * of the body's nodes replace the node, one per iteration; an If with a data-dependent condition
 * keeps its branches, and such a Loop its body (loop.c). Semantics: ONNX If-11, Loop-11, Scan-9 and
 * later. */
#include "control.h"

struct unroll {
  const struct node *node;
  const struct graph *body;
  bool is_scan;
  int64_t trip, done; /* iterations; trip INT64_MAX: until the condition is false */
  size_t states, scans_in, scans_out;
  struct value **state;     /* loop-carried values */
  struct value **in, **out; /* of the body, this iteration */
  struct value **collected; /* [scan output][iteration], grown by doubling */
  size_t room;
  size_t nodes; /* of the body and of graphs inside it */
};

static const struct graph *body_of(const struct node *node, const char *name) {
  const struct attribute *a = node_attribute(node, name);
  return a ? a->graph : NULL;
}

hone_status control_body(struct ctx *ctx, const struct node *node, const char *name, size_t inputs,
                         size_t outputs, const struct graph **out) {
  *out = body_of(node, name);
  if (!*out)
    return fail(ctx, HONE_E_FORMAT, node_place(node), "%s has no %s", node->op->name, name);
  if ((*out)->inputs.count != inputs || (*out)->outputs.count != outputs)
    return fail(ctx, HONE_E_FORMAT, node_place(node),
                "%s has %zu inputs and %zu outputs, expected %zu and %zu", name,
                (*out)->inputs.count, (*out)->outputs.count, inputs, outputs);
  return HONE_OK;
}

/* -- nodes and constants */

hone_status control_node(struct ctx *ctx, struct graph *graph, enum op_id op,
                         const struct node *origin, struct value *const *inputs, size_t count,
                         struct value *result, struct node_list *list, struct node **out) {
  struct node *node;
  TRY(NEW(ctx, graph->arena, node));
  *node = (struct node){.op = &op_table[op],
                        .name = origin->name,
                        .index = origin->index,
                        .written_as = origin->written_as,
                        .input_count = count,
                        .output_count = 1};
  TRY(NEW_ARRAY(ctx, graph->arena, node->inputs, count));
  TRY(NEW_ARRAY(ctx, graph->arena, node->outputs, 1));
  if (count) memcpy(node->inputs, inputs, count * sizeof *inputs);
  if (!result) TRY(graph_value(ctx, graph, NULL, &result));
  node->outputs[0] = result;
  result->producer = node;
  VEC_PUSH(ctx, graph->arena, list, node);
  *out = node;
  return HONE_OK;
}

hone_status control_alias(struct ctx *ctx, struct graph *graph, const struct node *origin,
                          struct value *from, struct value *to, struct node_list *list) {
  struct node *node;
  return control_node(ctx, graph, OP_Identity, origin, &from, 1, to, list, &node);
}

hone_status control_constant(struct ctx *ctx, struct graph *graph, hone_dtype dtype, int rank,
                             int64_t number, struct value **out) {
  TRY(graph_new_constant(ctx, graph, dtype, &(struct shape){rank, {1}}, out));
  tensor_set_i64((*out)->constant, 0, number);
  return HONE_OK;
}

/* -- If */

hone_status control_branch(struct ctx *ctx, const struct node *node, bool taken,
                           struct graph **out) {
  const struct graph *graph;
  TRY(control_body(ctx, node, taken ? "then_branch" : "else_branch", 0, node->output_count,
                   &graph));
  *out = (struct graph *)(uintptr_t)graph;
  return HONE_OK;
}

hone_status control_condition(struct ctx *ctx, const struct node *node, bool *out_known,
                              bool *out_value) {
  const struct value *value = node->inputs[0];
  int64_t count;
  if (value->dtype != HONE_BOOL || !value->has_shape || !shape_count(&value->shape, &count) ||
      count != 1)
    return fail(ctx, HONE_E_TYPE, node_place(node), "the condition is not one bool");
  *out_known = value->constant != NULL;
  *out_value = *out_known && tensor_i64(value->constant, 0) != 0;
  return HONE_OK;
}

hone_status control_inline_if(struct ctx *ctx, struct graph *graph, const struct node *node,
                              bool taken, struct node_list *out) {
  struct graph *body;
  struct value **outputs;
  TRY(control_branch(ctx, node, taken, &body));
  TRY(NEW_ARRAY(ctx, graph->arena, outputs, node->output_count));
  TRY(graph_inline(ctx, graph, body, NULL, out, outputs));
  for (size_t k = 0; k < node->output_count; k++)
    if (node->outputs[k]) TRY(control_alias(ctx, graph, node, outputs[k], node->outputs[k], out));
  return HONE_OK;
}

/* The axis along which `none` is empty and `some` may not be, all else being equal; -1: they differ
 * otherwise. */
static int empty_axis(const struct value *none, const struct value *some) {
  int axis = -1;
  if (!none->has_shape || !some->has_shape || none->list || some->list ||
      none->dtype != some->dtype || none->shape.rank != some->shape.rank || value_is_open(none))
    return -1;
  for (int d = 0; d < none->shape.rank; d++) {
    if (none->shape.dims[d] == some->shape.dims[d]) continue;
    if (axis >= 0 || none->shape.dims[d]) return -1;
    axis = d;
  }
  return axis;
}

/* The value of `some`, cut to zero elements where `is` is false. */
static hone_status some_or_none(struct ctx *ctx, struct graph *graph, const struct node *node,
                                const struct graph *none, const struct graph *some,
                                struct value *is, struct node_list *out) {
  struct value **outputs;
  TRY(NEW_ARRAY(ctx, graph->arena, outputs, node->output_count));
  TRY(graph_inline(ctx, graph, some, NULL, out, outputs));
  for (size_t k = 0; k < node->output_count; k++) {
    const int axis = empty_axis(none->outputs.at[k], some->outputs.at[k]);
    struct value *room;
    struct node *mask, *chosen;
    if (!node->outputs[k]) continue;
    TRY(control_constant(ctx, graph, HONE_I64, 1, some->outputs.at[k]->shape.dims[axis], &room));
    TRY(control_node(ctx, graph, OP_Expand, node, (struct value *[]){is, room}, 2, NULL, out,
                     &mask));
    TRY(control_node(ctx, graph, OP_Compress, node,
                     (struct value *[]){outputs[k], mask->outputs[0]}, 2, node->outputs[k], out,
                     &chosen));
    TRY(node_set_int(ctx, graph, chosen, "axis", axis));
  }
  return HONE_OK;
}

/* One number of any rank as a list of one element, so that a mask can be made of it. */
static hone_status as_list(struct ctx *ctx, struct graph *graph, const struct node *node,
                           struct value **x, struct node_list *out) {
  struct value *one;
  struct node *made;
  if ((*x)->shape.rank <= 1) return HONE_OK;
  TRY(control_constant(ctx, graph, HONE_I64, 1, 1, &one));
  TRY(control_node(ctx, graph, OP_Reshape, node, (struct value *[]){*x, one}, 2, NULL, out, &made));
  *x = made->outputs[0];
  return HONE_OK;
}

hone_status control_or_nothing(struct ctx *ctx, struct graph *graph, const struct node *node,
                               struct node_list *out, bool *out_done) {
  struct value *condition = node->inputs[0];
  struct graph *branch[2];
  struct node * not ;
  *out_done = false;
  for (int i = 0; i < 2; i++) TRY(control_branch(ctx, node, i, &branch[i]));
  for (int i = 0; i < 2 && !*out_done; i++) {
    bool fits = !branch[0]->impossible && !branch[1]->impossible && node->output_count;
    for (size_t k = 0; k < node->output_count && fits; k++)
      fits = empty_axis(branch[i]->outputs.at[k], branch[!i]->outputs.at[k]) >= 0;
    if (!fits) continue;
    *out_done = true;
    TRY(as_list(ctx, graph, node, &condition, out));
    if (i) TRY(control_node(ctx, graph, OP_Not, node, &condition, 1, NULL, out, &not ));
    TRY(some_or_none(ctx, graph, node, branch[i], branch[!i], i ? not ->outputs[0] : condition,
                     out));
  }
  return HONE_OK;
}

/* An unsupported operator in a body: an error if the body runs, not if it is only present. */
hone_status infer_unsupported(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  return fail(ctx, HONE_E_UNSUP, node_place(node), "%s is not supported",
              node_string(node, "operator", "an operator"));
}

/* An If that stays: both branches are inferred and give the same sizes (if_sizes.c). */
hone_status infer_if(struct ctx *ctx, struct graph *graph, struct node *node) {
  struct graph *branch[2];
  (void)graph;
  for (int i = 0; i < 2; i++) TRY(control_branch(ctx, node, i, &branch[i]));
  if (branch[0]->impossible && branch[1]->impossible)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "the shapes match neither branch");
  for (size_t k = 0; k < node->output_count; k++) {
    const struct value *a = branch[!branch[1]->impossible]->outputs.at[k],
                       *b = branch[branch[0]->impossible]->outputs.at[k];
    if (!a->has_shape || !b->has_shape || a->dtype != b->dtype || a->shape.rank != b->shape.rank)
      return fail(
          ctx, HONE_E_UNSUP, node_place(node),
          "output %zu has a different type or rank in each branch, and the condition is known "
          "only at run time",
          k);
    if (value_is_open(a) || value_is_open(b))
      return fail(ctx, HONE_E_UNSUP, node_place(node),
                  "output %zu has a size known only at run time, and one branch can only fail", k);
    if (!shape_equal(&a->shape, &b->shape))
      return fail(
          ctx, HONE_E_UNSUP, node_place(node),
          "output %zu has a different size in each branch, and the condition is known only at "
          "run time",
          k);
    TRY(set_output(ctx, node, k, a->dtype, &a->shape));
  }
  return HONE_OK;
}

hone_status control_can_stay(struct ctx *ctx, const struct node *node, bool *out) {
  struct graph *branch[2];
  for (int i = 0; i < 2; i++) TRY(control_branch(ctx, node, i, &branch[i]));
  *out = !branch[0]->impossible && !branch[1]->impossible;
  for (size_t k = 0; *out && k < node->output_count; k++) {
    const struct value *a = branch[0]->outputs.at[k], *b = branch[1]->outputs.at[k];
    *out = a->has_shape && b->has_shape && a->dtype == b->dtype && a->shape.rank == b->shape.rank;
  }
  return HONE_OK;
}

/* -- Loop and Scan */

static hone_status constant_int(struct ctx *ctx, const struct node *node, size_t input,
                                const char *what, int64_t otherwise, int64_t *out) {
  const struct value *value = node_input(node, input);
  int64_t count;
  *out = otherwise;
  if (!value) return HONE_OK;
  if (!value->constant)
    return fail(ctx, HONE_E_UNSUP, node_place(node), "%s of a Loop is known only at run time",
                what);
  if ((!dtype_is_integer(value->dtype) && value->dtype != HONE_BOOL) ||
      !shape_count(&value->shape, &count) || count != 1)
    return fail(ctx, HONE_E_TYPE, node_place(node), "%s is not one number", what);
  *out = tensor_i64(value->constant, 0);
  return HONE_OK;
}

static hone_status begin_loop(struct ctx *ctx, struct unroll *u) {
  const struct node *node = u->node;
  int64_t condition;
  TRY(constant_int(ctx, node, 0, "the trip count", INT64_MAX, &u->trip));
  TRY(constant_int(ctx, node, 1, "the condition", 1, &condition));
  if (!condition || u->trip < 0) u->trip = 0;
  u->states = node->input_count > 2 ? node->input_count - 2 : 0;
  if (node->output_count < u->states)
    return fail(ctx, HONE_E_FORMAT, node_place(node), "%zu outputs for %zu loop-carried values",
                node->output_count, u->states);
  u->scans_out = node->output_count - u->states;
  return control_body(ctx, node, "body", 2 + u->states, 1 + node->output_count, &u->body);
}

static int64_t listed(const struct node *node, const char *name, size_t k) {
  size_t count;
  const int64_t *list = node_ints(node, name, &count);
  return list && k < count ? list[k] : 0;
}

static hone_status begin_scan(struct ctx *ctx, struct unroll *u) {
  const struct node *node = u->node;
  int64_t scans = node_int(node, "num_scan_inputs", -1);
  if (scans < 1 || (uint64_t)scans > node->input_count)
    return fail(ctx, HONE_E_FORMAT, node_place(node), "num_scan_inputs is %lld", (long long)scans);
  u->scans_in = (size_t)scans;
  u->states = node->input_count - u->scans_in;
  if (node->output_count < u->states)
    return fail(ctx, HONE_E_FORMAT, node_place(node), "%zu outputs for %zu state variables",
                node->output_count, u->states);
  u->scans_out = node->output_count - u->states;
  for (size_t k = 0; k < u->scans_in; k++) {
    int axis;
    const struct value *x = node->inputs[u->states + k];
    if (!x) return fail(ctx, HONE_E_FORMAT, node_place(node), "a scan input is missing");
    TRY(axis_normalise(ctx, node, "scan_input_axes", listed(node, "scan_input_axes", k),
                       x->shape.rank, &axis));
    if (k && u->trip != x->shape.dims[axis])
      return fail(ctx, HONE_E_SHAPE, node_place(node), "scan inputs of %lld and %lld iterations",
                  (long long)u->trip, (long long)x->shape.dims[axis]);
    u->trip = x->shape.dims[axis];
  }
  return control_body(ctx, node, "body", node->input_count, node->output_count, &u->body);
}

hone_status unroll_begin(struct ctx *ctx, struct graph *graph, const struct node *node,
                         struct unroll **out) {
  struct unroll *u;
  TRY(NEW(ctx, graph->arena, u));
  *u = (struct unroll){.node = node, .is_scan = is_op(node, OP_Scan)};
  TRY(u->is_scan ? begin_scan(ctx, u) : begin_loop(ctx, u));
  if (u->trip == INT64_MAX ? !u->states : u->trip > ctx->limits[LIMIT_unroll])
    return fail(ctx, HONE_E_LIMIT, node_place(node), "more iterations than limit unroll, %lld",
                (long long)ctx->limits[LIMIT_unroll]);
  size_t first = u->is_scan ? 0 : 2;
  TRY(NEW_ARRAY(ctx, graph->arena, u->state, u->states));
  for (size_t k = 0; k < u->states; k++) {
    u->state[k] = node->inputs[first + k];
    if (!u->state[k])
      return fail(ctx, HONE_E_FORMAT, node_place(node), "loop-carried value %zu is missing", k);
  }
  TRY(NEW_ARRAY(ctx, graph->arena, u->in, u->body->inputs.count));
  TRY(NEW_ARRAY(ctx, graph->arena, u->out, u->body->outputs.count));
  struct graph_list bodies;
  TRY(graph_nested(ctx, graph->arena, u->body, &bodies));
  for (size_t i = 0; i < bodies.count; i++) u->nodes += bodies.at[i]->nodes.count;
  *out = u;
  return HONE_OK;
}

size_t unroll_nodes(const struct unroll *u) { return u->nodes; }

bool unroll_never_runs(const struct unroll *u) { return !u->trip && u->scans_out; }

bool unroll_condition_is_unknown(const struct unroll *u) {
  return u->done && !u->is_scan && !u->out[0]->constant;
}

/* Iteration i of scan input k: a Gather of one index along the scan axis. */
static hone_status scan_input(struct ctx *ctx, struct graph *graph, const struct unroll *u,
                              size_t k, struct node_list *list, struct value **out) {
  struct value *x = u->node->inputs[u->states + k], *index;
  struct node *gather;
  int64_t axis = listed(u->node, "scan_input_axes", k);
  bool backward = listed(u->node, "scan_input_directions", k) != 0;
  TRY(control_constant(ctx, graph, HONE_I64, 0, backward ? u->trip - 1 - u->done : u->done,
                       &index));
  TRY(control_node(ctx, graph, OP_Gather, u->node, (struct value *[]){x, index}, 2, NULL, list,
                   &gather));
  *out = gather->outputs[0];
  return node_set_int(ctx, graph, gather, "axis", axis < 0 ? axis + x->shape.rank : axis);
}

struct shape declared_number(const struct value *input) {
  return (struct shape){.rank = input->shape.rank > 0, .dims = {1}};
}

static hone_status iterate(struct ctx *ctx, struct graph *graph, struct unroll *u,
                           struct node_list *out) {
  size_t first = u->is_scan ? 0 : 2;
  if (!u->is_scan) {
    struct value *const *inputs = u->body->inputs.at;
    TRY(control_constant(ctx, graph, HONE_I64, declared_number(inputs[0]).rank, u->done,
                         &u->in[0]));
    TRY(control_constant(ctx, graph, HONE_BOOL, declared_number(inputs[1]).rank, 1, &u->in[1]));
  }
  for (size_t k = 0; k < u->states; k++) u->in[first + k] = u->state[k];
  for (size_t k = 0; k < u->scans_in; k++)
    TRY(scan_input(ctx, graph, u, k, out, &u->in[u->states + k]));
  TRY(graph_inline(ctx, graph, u->body, u->in, out, u->out));
  u->done++;
  return HONE_OK;
}

/* Collects the outputs of the last iteration; *out_goes_on: its condition. */
static hone_status collect(struct ctx *ctx, struct graph *graph, struct unroll *u,
                           bool *out_goes_on) {
  size_t first = u->is_scan ? 0 : 1;
  if (!u->is_scan) {
    const struct value *condition = u->out[0];
    if (!condition->constant || tensor_count(condition->constant) != 1)
      return fail(ctx, HONE_E_INTERNAL, node_place(u->node),
                  "the loop condition is known only at run time");
    *out_goes_on = tensor_i64(condition->constant, 0) != 0;
  }
  for (size_t k = 0; k < u->states; k++) u->state[k] = u->out[first + k];
  if ((size_t)u->done > u->room) {
    struct value **old = u->collected;
    size_t room = u->room ? 2 * u->room : 16;
    TRY(NEW_ARRAY(ctx, graph->arena, u->collected, u->scans_out * room));
    for (size_t k = 0; k < u->scans_out && u->room; k++)
      memcpy(u->collected + k * room, old + k * u->room, u->room * sizeof *old);
    u->room = room;
  }
  for (size_t k = 0; k < u->scans_out; k++)
    u->collected[k * u->room + (size_t)u->done - 1] = u->out[first + u->states + k];
  return HONE_OK;
}

hone_status control_make_empty_loop(struct ctx *ctx, struct graph *graph, struct node *node) {
  if (is_op(node, OP_Scan)) return HONE_OK;
  if (node->input_count > 1) node->inputs[1] = NULL;
  return control_constant(ctx, graph, HONE_I64, 0, 0, &node->inputs[0]);
}

/* Concatenates all iterations of one scan output along a new axis. */
static hone_status join(struct ctx *ctx, struct graph *graph, const struct unroll *u, size_t k,
                        struct node_list *out) {
  struct value *result = u->node->outputs[u->states + k], **parts, *axes;
  int64_t axis = u->is_scan ? listed(u->node, "scan_output_axes", k) : 0;
  bool backward = u->is_scan && listed(u->node, "scan_output_directions", k);
  size_t count = (size_t)u->done;
  struct node *node;
  if (!result) return HONE_OK;
  if (!count)
    return fail(ctx, HONE_E_INTERNAL, node_place(u->node), "a scan output of no iterations");
  TRY(control_constant(ctx, graph, HONE_I64, 1, axis, &axes));
  TRY(NEW_ARRAY(ctx, graph->arena, parts, count));
  for (size_t i = 0; i < count; i++) {
    struct value *part = u->collected[k * u->room + (backward ? count - 1 - i : i)];
    TRY(control_node(ctx, graph, OP_Unsqueeze, u->node, (struct value *[]){part, axes}, 2, NULL,
                     out, &node));
    parts[i] = node->outputs[0];
  }
  TRY(control_node(ctx, graph, OP_Concat, u->node, parts, count, result, out, &node));
  return node_set_int(ctx, graph, node, "axis", axis);
}

static hone_status finish(struct ctx *ctx, struct graph *graph, struct unroll *u,
                          struct node_list *out) {
  for (size_t k = 0; k < u->states; k++)
    if (u->node->outputs[k])
      TRY(control_alias(ctx, graph, u->node, u->state[k], u->node->outputs[k], out));
  for (size_t k = 0; k < u->scans_out; k++) TRY(join(ctx, graph, u, k, out));
  return HONE_OK;
}

hone_status unroll_next(struct ctx *ctx, struct graph *graph, struct unroll *u,
                        struct node_list *out, bool *out_done) {
  bool goes_on = true;
  if (u->done) TRY(collect(ctx, graph, u, &goes_on));
  *out_done = !goes_on || u->done >= u->trip;
  if (*out_done) return finish(ctx, graph, u, out);
  if (u->done >= ctx->limits[LIMIT_unroll])
    return fail(ctx, HONE_E_LIMIT, node_place(u->node), "more iterations than limit unroll, %lld",
                (long long)ctx->limits[LIMIT_unroll]);
  return iterate(ctx, graph, u, out);
}

bool is_batched_scan(const struct node *node) {
  return is_op(node, OP_Scan) && node_int(node, "batched", 0);
}

/* The node over row `row` of every input, as a current-opset Scan. */
static hone_status scan_row(struct ctx *ctx, struct graph *graph, const struct node *node,
                            int64_t row, struct node_list *list, struct node **out) {
  struct value **inputs, *index;
  struct node *made;
  TRY(NEW_ARRAY(ctx, graph->arena, inputs, node->input_count + 1));
  TRY(control_constant(ctx, graph, HONE_I64, 0, row, &index));
  for (size_t k = 0; k < node->input_count; k++) {
    TRY(control_node(ctx, graph, OP_Gather, node, (struct value *[]){node->inputs[k], index}, 2,
                     NULL, list, &made));
    inputs[k] = made->outputs[0];
  }
  TRY(control_node(ctx, graph, OP_Scan, node, inputs, node->input_count, NULL, list, out));
  TRY(NEW_ARRAY(ctx, graph->arena, (*out)->outputs, node->output_count));
  (*out)->output_count = node->output_count;
  for (size_t k = 0; k < node->output_count; k++) {
    TRY(graph_value(ctx, graph, NULL, &(*out)->outputs[k]));
    (*out)->outputs[k]->producer = *out;
  }
  for (size_t a = 0; a < node->attribute_count; a++)
    TRY(node_set(ctx, graph, *out, &node->attributes[a]));
  return node_set_int(ctx, graph, *out, "batched", 0);
}

hone_status control_rows(struct ctx *ctx, struct graph *graph, const struct node *node,
                         struct node_list *out) {
  struct value **parts, *axes;
  struct node *made;
  const struct value *x = node->input_count ? node->inputs[node->input_count - 1] : NULL;
  int64_t rows = x && x->shape.rank ? x->shape.dims[0] : 0;
  if (rows < 1 || rows > ctx->limits[LIMIT_unroll])
    return fail(ctx, HONE_E_LIMIT, node_place(node), "a batch of %lld rows", (long long)rows);
  for (size_t k = 0; k < node->input_count; k++)
    if (!node->inputs[k] || !node->inputs[k]->shape.rank || node->inputs[k]->shape.dims[0] != rows)
      return fail(ctx, HONE_E_SHAPE, node_place(node), "input %zu is not of %lld rows", k,
                  (long long)rows);
  TRY(NEW_ARRAY(ctx, graph->arena, parts, node->output_count * (size_t)rows + 1));
  TRY(control_constant(ctx, graph, HONE_I64, 1, 0, &axes));
  for (int64_t r = 0; r < rows; r++) {
    struct node *scan;
    TRY(scan_row(ctx, graph, node, r, out, &scan));
    for (size_t k = 0; k < node->output_count; k++) {
      TRY(control_node(ctx, graph, OP_Unsqueeze, node, (struct value *[]){scan->outputs[k], axes},
                       2, NULL, out, &made));
      parts[k * (size_t)rows + (size_t)r] = made->outputs[0];
    }
  }
  for (size_t k = 0; k < node->output_count; k++) {
    if (!node->outputs[k]) continue;
    TRY(control_node(ctx, graph, OP_Concat, node, parts + k * (size_t)rows, (size_t)rows,
                     node->outputs[k], out, &made));
    TRY(node_set_int(ctx, graph, made, "axis", 0));
  }
  return HONE_OK;
}

hone_status eval_control(struct ctx *ctx, struct arena *scratch, const struct node *node,
                         const struct tensor *const *in, struct tensor *const *out) {
  (void)scratch, (void)in, (void)out;
  return fail(ctx, HONE_E_INTERNAL, node_place(node), "%s evaluated without its graph",
              node->op->name);
}
