/* lists: sequences and optionals at compile time. A sequence is a list of values, an optional holds
 * one or none. Operators on them only pass values on, and are removed during inference: passes,
 * plan and artifacts see tensors only. So lengths and positions must be known at compile time. */
#include "control.h"

static const struct value_list *list_of(const struct node *node, size_t k) {
  const struct value *value = node_input(node, k);
  return value ? value->list : NULL;
}

bool is_list_node(const struct node *node) {
  switch (node->op->id) {
    case OP_ConcatFromSequence:
    case OP_Optional:
    case OP_OptionalGetElement:
    case OP_OptionalHasElement:
    case OP_SequenceAt:
    case OP_SequenceConstruct:
    case OP_SequenceEmpty:
    case OP_SequenceErase:
    case OP_SequenceInsert:
    case OP_SequenceLength:
    case OP_SequenceMap:
    case OP_SplitToSequence:
      return true;
    default:
      return is_op(node, OP_Identity) && list_of(node, 0);
  }
}

hone_status list_refuse(struct ctx *ctx, const struct node *node) {
  for (size_t k = 0; k < node->input_count; k++)
    if (list_of(node, k))
      return fail(ctx, HONE_E_TYPE, node_place(node), "input %zu of %s is %s", k, node->op->name,
                  list_of(node, k)->is_optional ? "an optional" : "a sequence");
  return HONE_OK;
}

static hone_status new_list(struct ctx *ctx, struct graph *graph, size_t count, bool is_optional,
                            struct value *of, struct value_list **out) {
  TRY(NEW(ctx, graph->arena, *out));
  (*out)->is_optional = is_optional;
  (*out)->count = count;
  if (of) of->list = *out;
  return NEW_ARRAY(ctx, graph->arena, (*out)->at, count + 1);
}

/* Fails unless the input is a sequence. */
static hone_status need_list(struct ctx *ctx, const struct node *node, size_t k,
                             const struct value_list **out) {
  *out = list_of(node, k);
  if (*out && !(*out)->is_optional) return HONE_OK;
  return fail(ctx, HONE_E_TYPE, node_place(node), "input %zu is not a sequence", k);
}

/* A position in [0, count), or up to count for an insertion; negative ones count from the end. */
static hone_status position(struct ctx *ctx, const struct node *node, size_t k, size_t count,
                            bool inserts, size_t *out) {
  int64_t at[1] = {0}, length = (int64_t)count;
  size_t given = 1;
  TRY(want_ints(ctx, node, k, "the position in a sequence", 1, at, &given));
  if (given != 1 || at[0] < -length || at[0] >= length + inserts)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "position %lld in a sequence of %zu",
                (long long)at[0], count);
  *out = (size_t)(at[0] < 0 ? at[0] + length : at[0]);
  return HONE_OK;
}

/* -- sequences */

static hone_status construct(struct ctx *ctx, struct graph *graph, const struct node *node) {
  struct value_list *list;
  TRY(list_refuse(ctx, node));
  TRY(new_list(ctx, graph, node->input_count, false, node->outputs[0], &list));
  for (size_t k = 0; k < node->input_count; k++) {
    list->at[k] = node->inputs[k];
    if (!node->inputs[k] || node->inputs[k]->dtype != node->inputs[0]->dtype)
      return fail(ctx, HONE_E_TYPE, node_place(node), "elements of different types");
  }
  return HONE_OK;
}

static hone_status insert(struct ctx *ctx, struct graph *graph, const struct node *node) {
  const struct value_list *from;
  struct value_list *to;
  TRY(need_list(ctx, node, 0, &from));
  size_t at = from->count;
  if (has_input(node, 2)) TRY(position(ctx, node, 2, from->count, true, &at));
  TRY(new_list(ctx, graph, from->count + 1, false, node->outputs[0], &to));
  for (size_t k = 0; k < to->count; k++)
    to->at[k] = k == at ? node->inputs[1] : from->at[k - (k > at)];
  return HONE_OK;
}

static hone_status erase(struct ctx *ctx, struct graph *graph, const struct node *node) {
  const struct value_list *from;
  struct value_list *to;
  TRY(need_list(ctx, node, 0, &from));
  if (!from->count) return fail(ctx, HONE_E_SHAPE, node_place(node), "an empty sequence");
  size_t at = from->count - 1;
  if (has_input(node, 1)) TRY(position(ctx, node, 1, from->count, false, &at));
  TRY(new_list(ctx, graph, from->count - 1, false, node->outputs[0], &to));
  for (size_t k = 0; k < to->count; k++) to->at[k] = from->at[k + (k >= at)];
  return HONE_OK;
}

static hone_status element(struct ctx *ctx, struct graph *graph, const struct node *node,
                           struct node_list *out) {
  const struct value_list *from;
  size_t at;
  TRY(need_list(ctx, node, 0, &from));
  TRY(position(ctx, node, 1, from->count, false, &at));
  return control_alias(ctx, graph, node, from->at[at], node->outputs[0], out);
}

static hone_status number(struct ctx *ctx, struct graph *graph, const struct node *node,
                          hone_dtype dtype, int64_t n, struct node_list *out) {
  struct value *constant;
  TRY(control_constant(ctx, graph, dtype, 0, n, &constant));
  return control_alias(ctx, graph, node, constant, node->outputs[0], out);
}

/* Unsqueeze or Squeeze of one axis; result NULL: a new value. */
static hone_status one_axis(struct ctx *ctx, struct graph *graph, enum op_id op,
                            const struct node *node, struct value *x, int64_t axis,
                            struct value *result, struct node_list *list, struct value **out) {
  struct value *axes;
  struct node *made;
  TRY(control_constant(ctx, graph, HONE_I64, 1, axis, &axes));
  TRY(control_node(ctx, graph, op, node, (struct value *[]){x, axes}, 2, result, list, &made));
  *out = made->outputs[0];
  return HONE_OK;
}

static hone_status concat_all(struct ctx *ctx, struct graph *graph, const struct node *node,
                              struct node_list *out) {
  const struct value_list *from;
  struct value **parts;
  struct node *made;
  int64_t axis = node_int(node, "axis", 0);
  TRY(need_list(ctx, node, 0, &from));
  if (!from->count) return fail(ctx, HONE_E_SHAPE, node_place(node), "an empty sequence");
  TRY(NEW_ARRAY(ctx, graph->arena, parts, from->count));
  for (size_t k = 0; k < from->count; k++) {
    parts[k] = from->at[k];
    if (node_int(node, "new_axis", 0))
      TRY(one_axis(ctx, graph, OP_Unsqueeze, node, from->at[k], axis, NULL, out, &parts[k]));
  }
  TRY(control_node(ctx, graph, OP_Concat, node, parts, from->count, node->outputs[0], out, &made));
  return node_set_int(ctx, graph, made, "axis", axis);
}

/* The sizes of the parts along the axis: ones, equal ones with a smaller last, or a list. */
static hone_status part_sizes(struct ctx *ctx, struct graph *graph, const struct node *node,
                              int64_t length, int64_t **out, size_t *out_count) {
  const struct value *split = node_input(node, 1);
  int64_t size = 1;
  if (split && !split->constant)
    return fail(ctx, HONE_E_UNSUP, node_place(node),
                "split (input 1) must be a constant: it is known only at run time");
  if (split && split->shape.rank == 1) {
    *out_count = tensor_count(split->constant);
    TRY(NEW_ARRAY(ctx, graph->arena, *out, *out_count + 1));
    for (size_t i = 0; i < *out_count; i++) (*out)[i] = tensor_i64(split->constant, i);
    return HONE_OK;
  }
  if (split && tensor_count(split->constant) == 1) size = tensor_i64(split->constant, 0);
  if (size < 1) return fail(ctx, HONE_E_SHAPE, node_place(node), "parts of %lld", (long long)size);
  int64_t count = length / size + (length % size != 0);
  if (count > ctx->limits[LIMIT_unroll])
    return fail(ctx, HONE_E_LIMIT, node_place(node), "more parts than limit unroll, %lld",
                (long long)ctx->limits[LIMIT_unroll]);
  *out_count = (size_t)count;
  TRY(NEW_ARRAY(ctx, graph->arena, *out, *out_count + 1));
  for (int64_t i = 0; i < count; i++)
    (*out)[i] = length - i * size < size ? length - i * size : size;
  return HONE_OK;
}

static hone_status make_split(struct ctx *ctx, struct graph *graph, const struct node *node,
                              int64_t axis, const int64_t *sizes, const struct value_list *list,
                              struct node_list *out) {
  struct value *split;
  struct node *made;
  TRY(graph_ints(ctx, graph, sizes, list->count, &split));
  TRY(control_node(ctx, graph, OP_Split, node, (struct value *[]){node->inputs[0], split}, 2,
                   list->at[0], out, &made));
  TRY(node_set_int(ctx, graph, made, "axis", axis));
  made->outputs = list->at;
  made->output_count = list->count;
  for (size_t k = 0; k < list->count; k++) list->at[k]->producer = made;
  return HONE_OK;
}

static hone_status split_all(struct ctx *ctx, struct graph *graph, const struct node *node,
                             struct node_list *out) {
  const struct value *x = node->inputs[0];
  struct value_list *list, *parts;
  int64_t *sizes = NULL;
  size_t count = 0;
  int axis;
  TRY(list_refuse(ctx, node));
  TRY(axis_attribute(ctx, node, "axis", 0, x->shape.rank, &axis));
  TRY(part_sizes(ctx, graph, node, x->shape.dims[axis], &sizes, &count));
  TRY(new_list(ctx, graph, count, false, node->outputs[0], &list));
  TRY(new_list(ctx, graph, count, false, NULL, &parts));
  if (!count) return HONE_OK;
  bool squeezes = !has_input(node, 1) && !node_int(node, "keepdims", 1);
  for (size_t k = 0; k < count; k++) TRY(graph_value(ctx, graph, NULL, &parts->at[k]));
  TRY(make_split(ctx, graph, node, axis, sizes, parts, out));
  for (size_t k = 0; k < count; k++) {
    list->at[k] = parts->at[k];
    if (squeezes)
      TRY(one_axis(ctx, graph, OP_Squeeze, node, parts->at[k], axis, NULL, out, &list->at[k]));
  }
  return HONE_OK;
}

/* Copies the body for each element of the first sequence. */
static hone_status map(struct ctx *ctx, struct graph *graph, const struct node *node,
                       struct node_list *out) {
  const struct attribute *body = node_attribute(node, "body");
  const struct value_list *first;
  struct value **in, **made;
  TRY(need_list(ctx, node, 0, &first));
  if (!body || body->graph->inputs.count != node->input_count ||
      body->graph->outputs.count != node->output_count)
    return fail(ctx, HONE_E_FORMAT, node_place(node),
                "the body has a different number of inputs or outputs");
  if ((int64_t)first->count > ctx->limits[LIMIT_unroll])
    return fail(ctx, HONE_E_LIMIT, node_place(node), "more elements than limit unroll, %lld",
                (long long)ctx->limits[LIMIT_unroll]);
  TRY(NEW_ARRAY(ctx, graph->arena, in, node->input_count + 1));
  TRY(NEW_ARRAY(ctx, graph->arena, made, node->output_count + 1));
  struct value_list *unused;
  for (size_t k = 0; k < node->output_count; k++)
    if (node->outputs[k]) TRY(new_list(ctx, graph, first->count, false, node->outputs[k], &unused));
  for (size_t i = 0; i < first->count; i++) {
    for (size_t k = 0; k < node->input_count; k++) {
      const struct value_list *list = list_of(node, k);
      if (list && list->count != first->count)
        return fail(ctx, HONE_E_SHAPE, node_place(node), "sequences of %zu and %zu elements",
                    first->count, list->count);
      in[k] = list ? list->at[i] : node->inputs[k];
    }
    TRY(graph_inline(ctx, graph, body->graph, in, out, made));
    for (size_t k = 0; k < node->output_count; k++)
      if (node->outputs[k]) node->outputs[k]->list->at[i] = made[k];
  }
  return HONE_OK;
}

/* -- optionals */

static hone_status wrap(struct ctx *ctx, struct graph *graph, const struct node *node) {
  struct value_list *list;
  bool has = node->input_count && node->inputs[0];
  TRY(new_list(ctx, graph, has, true, node->outputs[0], &list));
  if (has) list->at[0] = node->inputs[0];
  return HONE_OK;
}

/* A tensor or a sequence is returned unchanged. */
static hone_status unwrap(struct ctx *ctx, struct graph *graph, const struct node *node,
                          struct node_list *out) {
  struct value *x = node->inputs[0];
  if (x->list && x->list->is_optional && !x->list->count)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "the optional is empty");
  if (x->list && x->list->is_optional) x = x->list->at[0];
  if (!x->list) return control_alias(ctx, graph, node, x, node->outputs[0], out);
  node->outputs[0]->list = x->list;
  return HONE_OK;
}

static hone_status has_element(struct ctx *ctx, struct graph *graph, const struct node *node,
                               struct node_list *out) {
  const struct value_list *list = list_of(node, 0);
  bool has = has_input(node, 0) && !(list && list->is_optional && !list->count);
  return number(ctx, graph, node, HONE_BOOL, has, out);
}

hone_status list_resolve(struct ctx *ctx, struct graph *graph, const struct node *node,
                         struct node_list *out) {
  const struct value_list *from;
  struct value_list *empty;
  if (!node->output_count || !node->outputs[0]) return HONE_OK;
  switch (node->op->id) {
    case OP_SequenceConstruct:
      return construct(ctx, graph, node);
    case OP_SequenceEmpty:
      return new_list(ctx, graph, 0, false, node->outputs[0], &empty);
    case OP_SequenceInsert:
      return insert(ctx, graph, node);
    case OP_SequenceErase:
      return erase(ctx, graph, node);
    case OP_SequenceAt:
      return element(ctx, graph, node, out);
    case OP_SequenceLength:
      TRY(need_list(ctx, node, 0, &from));
      return number(ctx, graph, node, HONE_I64, (int64_t)from->count, out);
    case OP_SequenceMap:
      return map(ctx, graph, node, out);
    case OP_ConcatFromSequence:
      return concat_all(ctx, graph, node, out);
    case OP_SplitToSequence:
      return split_all(ctx, graph, node, out);
    case OP_Optional:
      return wrap(ctx, graph, node);
    case OP_OptionalGetElement:
      return unwrap(ctx, graph, node, out);
    case OP_OptionalHasElement:
      return has_element(ctx, graph, node, out);
    default: /* Identity */
      node->outputs[0]->list = node->inputs[0]->list;
      return HONE_OK;
  }
}

hone_status infer_list(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  return fail(ctx, HONE_E_INTERNAL, node_place(node), "%s stays after inference", node->op->name);
}

/* -- outputs of the model */

static hone_status push_output(struct ctx *ctx, struct graph *graph, struct value *from,
                               const char *name, struct node_list *nodes) {
  struct value *to;
  static const struct node origin = {.name = "", .index = -1};
  TRY(graph_value(ctx, graph, name, &to));
  TRY(control_alias(ctx, graph, &origin, from, to, nodes));
  return graph_output(ctx, graph, to);
}

static hone_status push_list(struct ctx *ctx, struct graph *graph, struct value *value,
                             struct node_list *nodes) {
  const struct value_list *list = value->list;
  const char *name;
  value->is_output = false;
  if (list->is_optional) {
    if (!list->count) return HONE_OK;
    if (!list->at[0]->list) { /* it takes over the name of the value */
      name = value->name;
      TRY(arena_printf(ctx, graph->arena, &value->name, "%s.optional", name));
      return push_output(ctx, graph, list->at[0], name, nodes);
    }
    list = list->at[0]->list;
  }
  for (size_t k = 0; k < list->count; k++) {
    TRY(arena_printf(ctx, graph->arena, &name, "%s.%zu", value->name, k));
    TRY(push_output(ctx, graph, list->at[k], name, nodes));
  }
  return HONE_OK;
}

hone_status list_outputs(struct ctx *ctx, struct graph *graph, struct node_list *out) {
  bool any = false;
  size_t count = graph->outputs.count;
  struct value **old;
  for (size_t i = 0; i < count; i++) any |= graph->outputs.at[i]->list != NULL;
  if (!any) return HONE_OK;
  TRY(NEW_ARRAY(ctx, graph->arena, old, count));
  memcpy(old, graph->outputs.at, count * sizeof *old);
  graph->outputs.count = 0;
  for (size_t i = 0; i < count; i++)
    if (old[i]->list)
      TRY(push_list(ctx, graph, old[i], out));
    else
      VEC_PUSH(ctx, graph->arena, &graph->outputs, old[i]);
  return HONE_OK;
}
