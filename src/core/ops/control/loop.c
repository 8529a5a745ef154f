/* loop: a Loop with a trip count known only at run time, or above limit `unroll`, keeps its body;
 * such a Scan becomes such a Loop. Loop-carried values keep type and shape; the length of scan
 * outputs is the number of iterations: a constant if known, else a dynamic dimension bounded by the
 * trip count or limit `unroll`. Semantics: ONNX Loop-11, Scan-9 and later. */
#include <math.h>

#include "control.h"

enum { TRIP, GOES, CARRIED };

static size_t carried_count(const struct node *node) {
  return node->input_count > CARRIED ? node->input_count - CARRIED : 0;
}

static bool is_run_time(const struct value *value) { return value && !value->constant; }

bool loop_is_open(const struct node *node) {
  if (is_op(node, OP_Loop))
    return is_run_time(node_input(node, TRIP)) || is_run_time(node_input(node, GOES));
  for (size_t k = 0; k < node->input_count; k++)
    if (node->inputs[k] && value_is_open(node->inputs[k])) return true;
  return false;
}

/* A known trip count above `most`. */
static bool is_long(const struct node *node, int64_t most) {
  if (is_op(node, OP_Loop)) {
    const struct value *trip = node_input(node, TRIP);
    if (!trip || !trip->constant || tensor_count(trip->constant) != 1) return false;
    const int64_t count = tensor_i64(trip->constant, 0);
    return count > most && count != INT64_MAX; /* which means no trip count */
  }
  size_t axes = 0;
  const int64_t *axis = node_ints(node, "scan_input_axes", &axes);
  const int64_t scans = node_int(node, "num_scan_inputs", 0);
  if (scans < 1 || (uint64_t)scans > node->input_count) return false;
  const struct value *x = node->inputs[node->input_count - (size_t)scans];
  int64_t at = axes ? axis[0] : 0;
  if (!x || !x->has_shape || at < -x->shape.rank || at >= x->shape.rank) return false;
  return x->shape.dims[at < 0 ? at + x->shape.rank : at] > most;
}

bool loop_stays(const struct ctx *ctx, const struct node *node, bool keeps) {
  return loop_is_open(node) || is_long(node, keeps ? -1 : ctx->limits[LIMIT_unroll]);
}

static bool is_true(const struct value *value) {
  return value->constant && tensor_count(value->constant) == 1 && tensor_i64(value->constant, 0);
}

static struct value *behind_identities(struct value *value) {
  while (value->producer && is_op(value->producer, OP_Identity)) value = value->producer->inputs[0];
  return value;
}

hone_status loop_condition_is_fixed(struct ctx *ctx, struct arena *arena, const struct graph *body,
                                    bool *out) {
  bool *changes;
  TRY(NEW_ARRAY(ctx, arena, changes, body->values.count));
  for (size_t k = 0; k < body->inputs.count; k++)
    changes[body->inputs.at[k]->index] =
        k < CARRIED || body->outputs.count < k ||
        behind_identities(body->outputs.at[k - 1]) != body->inputs.at[k];
  for (size_t n = 0; n < body->nodes.count; n++) {
    const struct node *node = body->nodes.at[n];
    bool reads = false;
    for (size_t k = 0; k < node->attribute_count; k++)
      reads |= node->attributes[k].kind == ATTRIBUTE_GRAPH;
    for (size_t k = 0; k < node->input_count; k++) {
      const struct value *x = node->inputs[k];
      if (!x || x->constant || x->index >= body->values.count) continue;
      reads |= body->values.at[x->index] == x && changes[x->index];
    }
    for (size_t k = 0; k < node->output_count; k++)
      if (node->outputs[k]) changes[node->outputs[k]->index] = reads;
  }
  const struct value *goes = body->outputs.at[0];
  *out = goes->constant || goes->index >= body->values.count ||
         body->values.at[goes->index] != goes || !changes[goes->index];
  return HONE_OK;
}

/* No trip count, and a condition that is true in every iteration. */
static bool is_endless(const struct node *node, const struct graph *body) {
  const struct value *trip = node_input(node, TRIP), *goes = node_input(node, GOES);
  const bool is_counted = trip && (!trip->constant || (tensor_count(trip->constant) == 1 &&
                                                       tensor_i64(trip->constant, 0) != INT64_MAX));
  if (is_counted || (goes && goes->constant && !is_true(goes))) return false;
  const struct value *on = behind_identities(body->outputs.at[0]);
  return is_true(on) || on == body->inputs.at[GOES];
}

bool loop_is_counted(const struct node *node) {
  const struct attribute *a = node_attribute(node, "body");
  const struct value *trip = node_input(node, TRIP), *goes = node_input(node, GOES);
  if (!a || a->graph->outputs.count < 1) return false;
  if (!trip || !trip->constant || (goes && !is_true(goes))) return false;
  if (!tensor_i64(trip->constant, 0)) return true;
  const struct value *on = behind_identities(a->graph->outputs.at[0]);
  return is_true(on) || on == a->graph->inputs.at[GOES];
}

static hone_status set_type(struct ctx *ctx, const struct node *node, size_t k, struct value *to,
                            hone_dtype dtype, const struct shape *shape) {
  if (to->constant || to->producer)
    return fail(ctx, HONE_E_FORMAT, node_place(node), "input %zu of the body is computed in it", k);
  to->dtype = dtype;
  to->shape = *shape;
  to->has_shape = true;
  return HONE_OK;
}

static hone_status want_one(struct ctx *ctx, const struct node *node, size_t k, bool is_number) {
  const struct value *value = node_input(node, k);
  int64_t count = 0;
  if (!value) return HONE_OK;
  if (value->dtype != (is_number ? HONE_I64 : HONE_BOOL) || !value->has_shape ||
      !shape_count(&value->shape, &count) || count != 1)
    return fail(ctx, HONE_E_TYPE, node_place(node), "input %zu of a Loop is not one %s", k,
                is_number ? "i64" : "bool");
  return HONE_OK;
}

hone_status loop_enter(struct ctx *ctx, const struct node *node, struct graph **out_body) {
  const struct graph *body;
  size_t states = carried_count(node);
  TRY(want_one(ctx, node, TRIP, true));
  TRY(want_one(ctx, node, GOES, false));
  if (node->output_count < states)
    return fail(ctx, HONE_E_FORMAT, node_place(node), "%zu outputs for %zu loop-carried values",
                node->output_count, states);
  TRY(control_body(ctx, node, "body", CARRIED + states, 1 + node->output_count, &body));
  for (size_t k = TRIP; k <= GOES; k++) {
    const struct shape shape = declared_number(body->inputs.at[k]);
    TRY(set_type(ctx, node, k, body->inputs.at[k], k == TRIP ? HONE_I64 : HONE_BOOL, &shape));
  }
  for (size_t k = 0; k < states; k++) {
    const struct value *x = node->inputs[CARRIED + k];
    if (!x)
      return fail(ctx, HONE_E_FORMAT, node_place(node), "loop-carried value %zu is missing", k);
    if (x->list || x->dtype == HONE_STRING || value_is_open(x))
      return fail(ctx, HONE_E_UNSUP, node_place(node),
                  "loop-carried value %zu is a list, strings or has a dynamic dimension", k);
    TRY(set_type(ctx, node, CARRIED + k, body->inputs.at[CARRIED + k], x->dtype, &x->shape));
  }
  *out_body = (struct graph *)(uintptr_t)body;
  return HONE_OK;
}

/* The most iterations: the bound of the trip count, else limit `unroll`. */
static int64_t loop_bound(struct ctx *ctx, const struct node *node) {
  const struct value *trip = node_input(node, TRIP);
  if (trip && trip->constant) {
    const int64_t most = tensor_i64(trip->constant, 0);
    return most < 0 ? 0 : most;
  }
  const double high = trip ? value_range(trip).high : INFINITY;
  if (high > INT32_MAX) return ctx->limits[LIMIT_unroll];
  return high < 0 ? 0 : (int64_t)high;
}

static hone_status infer_collected(struct ctx *ctx, struct node *node, size_t k,
                                   const struct value *one) {
  struct shape shape = {one->shape.rank + 1, {loop_bound(ctx, node)}};
  if (one->shape.rank >= HONE_MAX_RANK || one->dtype == HONE_STRING)
    return fail(ctx, HONE_E_UNSUP, node_place(node), "output %zu of this type or rank", k);
  memcpy(&shape.dims[1], one->shape.dims, (size_t)one->shape.rank * sizeof *shape.dims);
  return set_output(ctx, node, k, one->dtype, &shape);
}

/* The body is inferred. */
hone_status infer_loop(struct ctx *ctx, struct graph *graph, struct node *node) {
  const struct graph *body;
  int64_t count = 0;
  size_t states = carried_count(node);
  (void)graph;
  if (is_op(node, OP_Scan))
    return fail(ctx, HONE_E_INTERNAL, node_place(node), "Scan stays after inference");
  TRY(control_body(ctx, node, "body", CARRIED + states, 1 + node->output_count, &body));
  const struct value *goes = body->outputs.at[0];
  if (goes->dtype != HONE_BOOL || !shape_count(&goes->shape, &count) || count != 1)
    return fail(ctx, HONE_E_TYPE, node_place(node), "the body's condition is not one bool");
  if (is_endless(node, body))
    return fail(ctx, HONE_E_UNSUP, node_place(node),
                "the loop never ends: it has no trip count, and its condition stays true");
  for (size_t k = 0; k < node->output_count; k++) {
    const struct value *made = body->outputs.at[1 + k];
    if (made->list || value_is_open(made))
      return fail(ctx, HONE_E_UNSUP, node_place(node),
                  "output %zu of the body is a list or has a dynamic dimension", k);
    if (k >= states) {
      TRY(infer_collected(ctx, node, k, made));
      continue;
    }
    const struct value *x = node->inputs[CARRIED + k];
    if (made->dtype != x->dtype || !shape_equal(&made->shape, &x->shape))
      return fail(
          ctx, HONE_E_UNSUP, node_place(node),
          "loop-carried value %zu changes its type or shape, and the number of iterations is "
          "known only at run time or above limit unroll",
          k);
    TRY(set_output(ctx, node, k, x->dtype, &x->shape));
  }
  return HONE_OK;
}

/* -- Scan */

/* Gather of one index of scan input k, placed before the body's nodes, replacing the body's
 * input. */
static hone_status take_scanned(struct ctx *ctx, struct graph *body, const struct node *node,
                                struct value *x, int64_t axis, struct value *iteration,
                                struct value *result, struct node_list *list) {
  struct node *gather;
  TRY(control_node(ctx, body, OP_Gather, node, (struct value *[]){x, iteration}, 2, result, list,
                   &gather));
  result->dtype = HONE_UNDEFINED;
  result->has_shape = result->is_input = false;
  TRY(node_set_int(ctx, body, gather, "within", 1)); /* of the actual size: extents.c */
  return node_set_int(ctx, body, gather, "axis", axis);
}

/* Inputs: iteration, true, the loop-carried values; outputs: true first. */
static hone_status loop_body(struct ctx *ctx, const struct node *node, struct graph *body,
                             size_t states) {
  struct node_list list = {0};
  struct value *iteration, *goes, *still;
  size_t count = body->inputs.count, axes = 0;
  const int64_t *axis = node_ints(node, "scan_input_axes", &axes);
  TRY(graph_value(ctx, body, NULL, &iteration));
  TRY(graph_value(ctx, body, NULL, &goes));
  TRY(control_constant(ctx, body, HONE_BOOL, 0, 1, &still));
  for (size_t k = states; k < count; k++) {
    struct value *x = node->inputs[k];
    int64_t at = axis && k - states < axes ? axis[k - states] : 0;
    TRY(take_scanned(ctx, body, node, x, at < 0 ? at + x->shape.rank : at, iteration,
                     body->inputs.at[k], &list));
  }
  for (size_t i = 0; i < body->nodes.count; i++)
    VEC_PUSH(ctx, body->arena, &list, body->nodes.at[i]);
  body->nodes.count = 0;
  for (size_t i = 0; i < list.count; i++) VEC_PUSH(ctx, body->arena, &body->nodes, list.at[i]);
  struct value **old;
  iteration->is_input = goes->is_input = still->is_output = true;
  TRY(NEW_ARRAY(ctx, body->arena, old, count + body->outputs.count + 1));
  memcpy(old, body->inputs.at, states * sizeof *old);
  body->inputs.count = 0;
  VEC_PUSH(ctx, body->arena, &body->inputs, iteration);
  VEC_PUSH(ctx, body->arena, &body->inputs, goes);
  for (size_t k = 0; k < states; k++) VEC_PUSH(ctx, body->arena, &body->inputs, old[k]);
  size_t outputs = body->outputs.count;
  memcpy(old, body->outputs.at, outputs * sizeof *old);
  body->outputs.count = 0;
  VEC_PUSH(ctx, body->arena, &body->outputs, still);
  for (size_t k = 0; k < outputs; k++) VEC_PUSH(ctx, body->arena, &body->outputs, old[k]);
  return HONE_OK;
}

static hone_status check_scan(struct ctx *ctx, const struct node *node, int64_t scans) {
  static const char *const lists[] = {"scan_input_directions", "scan_output_directions",
                                      "scan_output_axes"};
  if (scans < 1 || (uint64_t)scans > node->input_count)
    return fail(ctx, HONE_E_FORMAT, node_place(node), "num_scan_inputs is %lld", (long long)scans);
  for (size_t i = 0; i < COUNT(lists); i++) {
    size_t count = 0;
    const int64_t *list = node_ints(node, lists[i], &count);
    for (size_t k = 0; k < count; k++)
      if (list[k])
        return fail(ctx, HONE_E_UNSUP, node_place(node),
                    "%s of a Scan whose length is known only at run time or above limit unroll",
                    lists[i]);
  }
  for (size_t k = 0; k < node->input_count; k++)
    if (!node->inputs[k])
      return fail(ctx, HONE_E_FORMAT, node_place(node), "input %zu is missing", k);
  return HONE_OK;
}

/* The axis along which the first scan input is scanned; the other inputs use their own axes. */
static hone_status scanned_axis(struct ctx *ctx, const struct node *node, size_t states,
                                int *out_axis) {
  size_t axes = 0;
  const int64_t *given = node_ints(node, "scan_input_axes", &axes);
  const struct value *first = node->inputs[states];
  for (size_t k = states; k < node->input_count; k++) {
    const struct value *x = node->inputs[k];
    int axis;
    TRY(axis_normalise(ctx, node, "scan_input_axes",
                       given && k - states < axes ? given[k - states] : 0, x->shape.rank, &axis));
    if (k == states) *out_axis = axis;
    if (!x->extents[axis] && !first->extents[*out_axis] &&
        x->shape.dims[axis] != first->shape.dims[*out_axis])
      return fail(ctx, HONE_E_SHAPE, node_place(node), "scan inputs of %lld and %lld iterations",
                  (long long)first->shape.dims[*out_axis], (long long)x->shape.dims[axis]);
  }
  return HONE_OK;
}

hone_status loop_of_scan(struct ctx *ctx, struct graph *graph, const struct node *node,
                         struct node_list *out) {
  int64_t scans = node_int(node, "num_scan_inputs", -1);
  const struct graph *body;
  struct value *index, **inputs;
  struct node *shape, *trip, *loop;
  int axis = 0;
  TRY(check_scan(ctx, node, scans));
  TRY(control_body(ctx, node, "body", node->input_count, node->output_count, &body));
  size_t states = node->input_count - (size_t)scans;
  struct value *first = node->inputs[states];
  TRY(scanned_axis(ctx, node, states, &axis));
  TRY(control_constant(ctx, graph, HONE_I64, 0, axis, &index));
  TRY(control_node(ctx, graph, OP_Shape, node, &first, 1, NULL, out, &shape));
  TRY(control_node(ctx, graph, OP_Gather, node, (struct value *[]){shape->outputs[0], index}, 2,
                   NULL, out, &trip));
  TRY(NEW_ARRAY(ctx, graph->arena, inputs, CARRIED + states));
  inputs[TRIP] = trip->outputs[0];
  memcpy(inputs + CARRIED, node->inputs, states * sizeof *inputs);
  TRY(loop_body(ctx, node, (struct graph *)(uintptr_t)body, states));
  TRY(control_node(ctx, graph, OP_Loop, node, inputs, CARRIED + states, NULL, out, &loop));
  loop->outputs = node->outputs;
  loop->output_count = node->output_count;
  for (size_t k = 0; k < node->output_count; k++)
    if (node->outputs[k]) node->outputs[k]->producer = loop;
  return node_set(ctx, graph, loop, node_attribute(node, "body"));
}
