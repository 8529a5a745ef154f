/* control: IF, WHILE and CALL_ONCE, which call other graphs of the file, and variables.
 *
 * A called graph is a frame: its operators are added to the caller's graph if they certainly run,
 * else to a subgraph. The calling operator gets the results when the frame ends. A WHILE whose
 * condition follows from constants is unrolled, up to a limit. */
#include "core/ops/control/control.h"
#include "tflite.h"

enum { UNROLLED = 64 };
enum stage { TAKEN, THEN, ELSE, FIRST_CONDITION, ROUND, CONDITION, BODY, LAST_CONDITION, INITIAL };

struct tf_call {
  struct tf_op op;
  enum stage stage;
  int64_t graphs[2]; /* then and else, or condition and body */
  struct graph *made[2];
  size_t count;             /* of values */
  struct tf_tensor *values; /* arguments; for a WHILE the current loop-carried values */
  struct tf_tensor *given;  /* for a WHILE the values before the first iteration */
  struct value *condition;  /* of the first iteration */
  size_t rounds, nodes;     /* nodes of the caller's graph before the first iteration */
  VEC(struct value *)
  before, then; /* content of each variable before an IF, and after its first branch */
};

/* -- calls */

static hone_status push(struct tf *tf, struct tf_call *call, int64_t index, struct graph *into,
                        const struct tf_tensor *arguments, size_t count) {
  struct tf_frame frame = {tf->graph, tf->b.graph, call};
  const struct tf_op *op = &call->op;
  if (index < 0 || (uint64_t)index >= tf->subgraphs.count)
    return fail(tf->ctx, HONE_E_FORMAT, tf_place(op), "%s calls graph %lld of %zu", op->kind->name,
                (long long)index, tf->subgraphs.count);
  if ((int64_t)tf->frames.count >= tf->ctx->limits[LIMIT_depth])
    return fail(tf->ctx, HONE_E_LIMIT, tf_place(op),
                "graphs call each other more than %lld deep (limit depth)",
                (long long)tf->ctx->limits[LIMIT_depth]);
  TRY(tf_graph_open(tf, (size_t)index, &tf->graph));
  struct tf_graph *graph = &tf->graph;
  tf->entered += (int64_t)(graph->operators.count + graph->tensor_count) + 1;
  if (tf->entered > tf->ctx->limits[LIMIT_called_nodes])
    return fail(tf->ctx, HONE_E_LIMIT, tf_place(op),
                "graphs that call each other have more than %lld operators and tensors once they "
                "are inlined (limit called_nodes)",
                (long long)tf->ctx->limits[LIMIT_called_nodes]);
  tf->flat.tables_left += OPENED_PER_OPERATOR * graph->operators.count; /* they are opened again */
  if (graph->inputs.count != count)
    return fail(tf->ctx, HONE_E_FORMAT, tf_place(op),
                "%s passes %zu values to a graph with %zu inputs", op->kind->name, count,
                graph->inputs.count);
  for (size_t i = 0; i < count; i++) {
    struct tf_tensor *to = &graph->tensors[flat_i32_at(&graph->inputs, i)];
    if (to->type != arguments[i].type || to->constant)
      return fail(tf->ctx, HONE_E_TYPE, tf_place(op), "input %zu of the called graph does not fit",
                  i);
    to->value = arguments[i].value;
    to->image = NULL;
    to->resource = arguments[i].resource;
  }
  VEC_PUSH(tf->ctx, tf->arena, &tf->frames, frame);
  tf->b.graph = into;
  return HONE_OK;
}

/* Operands from `first` on, in file order. */
static hone_status read_arguments(struct tf_call *call, size_t first) {
  struct tf_op *op = &call->op;
  call->count = op->inputs.count - first;
  TRY(NEW_ARRAY(op->ctx, op->tf->arena, call->values, call->count + 1));
  for (size_t i = 0; i < call->count; i++) {
    struct tf_tensor *in = tf_in(op, first + i);
    struct value *ignored;
    if (!in)
      return fail(op->ctx, HONE_E_FORMAT, tf_place(op), "operand %zu is left out", first + i);
    if (in->is_variable && !in->value && !in->image) return tf_refuse(op, "of a stateful tensor");
    if (!in->resource) TRY(tf_value(op, in, &ignored));
    call->values[i] = *in;
  }
  return HONE_OK;
}

static hone_status new_call(struct tf_op *op, struct tf_call **out) {
  TRY(NEW(op->ctx, op->tf->arena, *out));
  (*out)->op = *op;
  for (unsigned i = 0; i < 2; i++) TRY(tf_option(op, i, FLAT_I32, 0, &(*out)->graphs[i]));
  return HONE_OK;
}

static hone_status write_results(struct tf_call *call, const struct tf_tensor *results,
                                 size_t count) {
  struct tf_op *op = &call->op;
  if (count != op->outputs.count)
    return fail(op->ctx, HONE_E_FORMAT, tf_place(op), "%s has %zu outputs, the called graph %zu",
                op->kind->name, op->outputs.count, count);
  for (size_t i = 0; i < count; i++) {
    struct tf_tensor *out = tf_out(op, i);
    out->resource = results[i].resource;
    if (!out->resource) TRY(tf_write(op, i, false, results[i].value));
  }
  return HONE_OK;
}

static hone_status read_condition(struct tf_op *op, const struct value *value, bool *out_known,
                                  bool *out) {
  if (value->dtype != HONE_BOOL || make_elements(value) != 1)
    return fail(op->ctx, HONE_E_TYPE, tf_place(op), "%s: the condition is not one bool",
                op->kind->name);
  *out_known = value->constant != NULL;
  *out = *out_known && tensor_i64(value->constant, 0) != 0;
  return HONE_OK;
}

/* -- IF: options are the graphs for true and false; input 0 is the condition */

/* Content of variable i at an earlier time; NULL: not read yet. */
static struct value *held(const struct tf *tf, struct value *const *values, size_t count,
                          size_t i) {
  return i < count && values[i] ? values[i] : tf->variables.at[i]->input;
}

static hone_status enter_branch(struct tf *tf, struct tf_call *call, enum stage stage) {
  size_t k = stage == ELSE;
  call->stage = stage;
  for (size_t i = 0; i < tf->variables.count; i++) {
    struct tf_variable *variable = tf->variables.at[i];
    if (stage == THEN) VEC_PUSH(tf->ctx, tf->arena, &call->before, variable->now);
    if (stage == THEN) continue;
    VEC_PUSH(tf->ctx, tf->arena, &call->then, variable->now);
    if (variable->is_assigned) variable->now = held(tf, call->before.at, call->before.count, i);
  }
  TRY(make_subgraph(&tf->b, &call->made[k]));
  return push(tf, call, call->graphs[k], call->made[k], call->values, call->count);
}

hone_status tf_if(struct tf_op *op) {
  struct tf_call *call;
  struct value *condition;
  bool known, taken;
  if (!tf_in(op, 0)) return fail(op->ctx, HONE_E_FORMAT, tf_place(op), "IF without a condition");
  TRY(new_call(op, &call));
  TRY(tf_value(op, tf_in(op, 0), &condition));
  TRY(read_condition(op, condition, &known, &taken));
  TRY(read_arguments(call, 1));
  call->condition = condition;
  if (!known) return enter_branch(op->tf, call, THEN);
  call->stage = TAKEN;
  return push(op->tf, call, call->graphs[!taken], op->b->graph, call->values, call->count);
}

static hone_status state_input(struct tf_op *op, struct tf_variable *variable, hone_dtype dtype,
                               const struct shape *shape);

/* The content of a variable after the branches is a result of the IF. A variable that only one
 * branch assigns is an input, if it was not read yet. */
static hone_status end_variables(struct tf *tf, struct tf_call *call, bool *is_joined) {
  for (size_t i = 0; i < tf->variables.count; i++) {
    struct tf_variable *variable = tf->variables.at[i];
    struct value *was = held(tf, call->before.at, call->before.count, i);
    struct value *then = i < call->then.count && call->then.at[i] ? call->then.at[i] : was;
    struct value *other = variable->now ? variable->now : was, *some = then ? then : other;
    is_joined[i] = variable->is_assigned && (then != was || other != was);
    if (!is_joined[i]) continue;
    if (!then || !other) TRY(state_input(&call->op, variable, some->dtype, &some->shape));
    if (!then) then = variable->input;
    if (!other) other = variable->input;
    if (then->dtype != other->dtype || !shape_equal(&then->shape, &other->shape) ||
        (variable->initial && !shape_equal(&variable->initial->shape, &then->shape)))
      return tf_refuse(&call->op,
                       "with branches that leave different types or shapes in a variable");
    TRY(make_subgraph_output(&tf->b, call->made[0], then));
    TRY(make_subgraph_output(&tf->b, call->made[1], other));
  }
  return HONE_OK;
}

static hone_status join_branches(struct tf *tf, struct tf_call *call, struct tf_tensor *results,
                                 size_t count) {
  static const char *const names[] = {"then_branch", "else_branch"};
  struct node *node;
  struct value **shaped;
  bool *is_joined;
  size_t k = 0;
  if (call->made[0]->outputs.count != call->made[1]->outputs.count)
    return fail(tf->ctx, HONE_E_FORMAT, tf_place(&call->op),
                "the branches of IF have %zu and %zu results", call->made[0]->outputs.count,
                call->made[1]->outputs.count);
  TRY(NEW_ARRAY(tf->ctx, tf->arena, is_joined, tf->variables.count));
  TRY(end_variables(tf, call, is_joined));
  TRY(make_holder(&tf->b, OP_If, &call->condition, 1, names, call->made, 2,
                  call->made[0]->outputs.count, &node));
  shaped = node->outputs;
  for (size_t i = 0; i < count; i++)
    if (!results[i].resource) results[i].value = shaped[k++];
  for (size_t i = 0; i < tf->variables.count; i++)
    if (is_joined[i]) tf->variables.at[i]->now = shaped[k++];
  return write_results(call, results, count);
}

static hone_status end_branch(struct tf *tf, struct tf_call *call, struct tf_tensor *results,
                              size_t count) {
  struct graph *made = call->made[call->stage == ELSE];
  for (size_t i = 0; i < count; i++)
    if (!results[i].resource) TRY(make_subgraph_output(&tf->b, made, results[i].value));
  return call->stage == THEN ? enter_branch(tf, call, ELSE)
                             : join_branches(tf, call, results, count);
}

/* -- WHILE: options are the graphs of the condition and of the body */

hone_status tf_while(struct tf_op *op) {
  struct tf_call *call;
  TRY(new_call(op, &call));
  TRY(read_arguments(call, 0));
  call->given = call->values;
  call->stage = FIRST_CONDITION;
  return push(op->tf, call, call->graphs[0], op->b->graph, call->values, call->count);
}

/* The number of iterations is data-dependent, or large: a Loop. Nodes unrolled so far are
 * removed. */
static hone_status enter_loop(struct tf *tf, struct tf_call *call) {
  static const struct shape scalar = {0};
  struct graph *body;
  struct value *ignored;
  if (call->rounds) tf->b.graph->nodes.count = call->nodes;
  TRY(make_subgraph(&tf->b, &call->made[0]));
  body = call->made[0];
  TRY(graph_input(tf->ctx, body, NULL, HONE_I64, &scalar, &ignored));
  TRY(graph_input(tf->ctx, body, NULL, HONE_BOOL, &scalar, &ignored));
  TRY(NEW_ARRAY(tf->ctx, tf->arena, call->values, call->count + 1));
  for (size_t i = 0; i < call->count; i++) {
    call->values[i] = call->given[i];
    struct value *x = call->given[i].value;
    if (!call->given[i].resource)
      TRY(graph_input(tf->ctx, body, NULL, x->dtype, &x->shape, &call->values[i].value));
  }
  call->stage = BODY;
  return push(tf, call, call->graphs[1], body, call->values, call->count);
}

static hone_status end_loop(struct tf *tf, struct tf_call *call, struct value *goes) {
  static const char *const names[] = {"body"};
  static const struct shape scalar = {0};
  struct value **inputs;
  struct node *node;
  size_t carried = 2, k = 0;
  bool is_fixed, is_known, is_true;
  TRY(NEW_ARRAY(tf->ctx, tf->arena, inputs, call->count + 2));
  inputs[0] = NULL;
  inputs[1] = call->condition;
  if (goes->shape.rank) { /* a Loop needs a scalar */
    struct graph *outer = tf->b.graph;
    tf->b.graph = call->made[0];
    BUILD(&tf->b, goes = x_reshape(&tf->b, goes, scalar.dims, 0));
    tf->b.graph = outer;
  }
  TRY(make_subgraph_output(&tf->b, call->made[0], goes));
  for (size_t i = 0; i < call->count; i++) {
    if (call->values[i].resource) continue;
    inputs[carried++] = call->given[i].value;
    TRY(make_subgraph_output(&tf->b, call->made[0], call->values[i].value));
  }
  TRY(loop_condition_is_fixed(tf->ctx, tf->arena, call->made[0], &is_fixed));
  TRY(read_condition(&call->op, call->condition, &is_known, &is_true));
  if (is_fixed && is_known && is_true)
    return tf_refuse(&call->op, "as an endless loop (its condition stays true)");
  TRY(make_holder(&tf->b, OP_Loop, inputs, carried, names, call->made, 1, carried - 2, &node));
  for (size_t i = 0; i < call->count; i++)
    if (!call->values[i].resource) call->values[i].value = node->outputs[k++];
  return write_results(call, call->values, call->count);
}

static hone_status one_result(struct tf_call *call, size_t count) {
  if (count == 1) return HONE_OK;
  return fail(call->op.ctx, HONE_E_FORMAT, tf_place(&call->op), "a condition of %zu results",
              count);
}

static hone_status end_condition(struct tf *tf, struct tf_call *call, struct tf_tensor *results,
                                 size_t count) {
  bool known, goes;
  TRY(one_result(call, count));
  if (results[0].resource) return tf_refuse(&call->op, "with a condition that is a resource");
  TRY(read_condition(&call->op, results[0].value, &known, &goes));
  if (call->stage == LAST_CONDITION) return end_loop(tf, call, results[0].value);
  if (call->stage == FIRST_CONDITION) {
    call->condition = results[0].value;
    call->nodes = tf->b.graph->nodes.count;
  }
  if (!known || call->rounds == UNROLLED) return enter_loop(tf, call);
  if (!goes) return write_results(call, call->values, call->count);
  call->stage = ROUND;
  call->rounds++;
  return push(tf, call, call->graphs[1], tf->b.graph, call->values, call->count);
}

static hone_status end_body(struct tf *tf, struct tf_call *call, struct tf_tensor *results,
                            size_t count) {
  struct graph *into = call->stage == BODY ? call->made[0] : tf->b.graph;
  if (count != call->count)
    return fail(tf->ctx, HONE_E_FORMAT, tf_place(&call->op),
                "WHILE carries %zu values, its body gives %zu", call->count, count);
  for (size_t i = 0; i < count; i++)
    if (!results[i].resource != !call->values[i].resource ||
        (results[i].resource && strcmp(results[i].resource, call->values[i].resource) != 0))
      return tf_refuse(&call->op, "with a body that exchanges variables");
  call->values = results;
  call->stage = call->stage == BODY ? LAST_CONDITION : CONDITION;
  return push(tf, call, call->graphs[0], into, call->values, call->count);
}

/* -- calls */

hone_status tf_call_once(struct tf_op *op) {
  struct tf_call *call;
  TRY(tf_arity(op, 0, 0, 0));
  TRY(new_call(op, &call));
  call->stage = INITIAL;
  return push(op->tf, call, call->graphs[0], op->b->graph, NULL, 0);
}

/* STABLEHLO_COMPOSITE: options name, graph. The graph with its implementation is inlined. */
hone_status tf_composite(struct tf_op *op) {
  struct tf_call *call;
  TRY(NEW(op->ctx, op->tf->arena, call));
  call->op = *op;
  TRY(tf_option(op, 1, FLAT_I32, 0, &call->graphs[0]));
  TRY(read_arguments(call, 0));
  call->stage = TAKEN;
  return push(op->tf, call, call->graphs[0], op->b->graph, call->values, call->count);
}

hone_status tf_leave(struct tf *tf) {
  struct tf_frame frame = tf->frames.at[tf->frames.count - 1];
  struct tf_call *call = frame.call;
  struct tf_op inside = call->op;
  struct tf_tensor *results;
  size_t count = tf->graph.outputs.count;
  TRY(NEW_ARRAY(tf->ctx, tf->arena, results, count + 1));
  for (size_t i = 0; i < count; i++) {
    struct tf_tensor *out = &tf->graph.tensors[flat_i32_at(&tf->graph.outputs, i)];
    struct value *ignored;
    if (out->is_complex) return tf_refuse(&inside, "with a complex result");
    if (!out->resource && !out->value && !out->image)
      return fail(tf->ctx, HONE_E_FORMAT, place_name(out->name), "a result that nothing defines");
    if (!out->resource) TRY(tf_value(&inside, out, &ignored));
    results[i] = *out;
  }
  tf->frames.count--;
  tf->graph = frame.caller;
  tf->b.graph = frame.caller_into;
  switch (call->stage) {
    case TAKEN:
      return write_results(call, results, count);
    case THEN:
    case ELSE:
      return end_branch(tf, call, results, count);
    case FIRST_CONDITION:
    case CONDITION:
    case LAST_CONDITION:
      return end_condition(tf, call, results, count);
    case ROUND:
    case BODY:
      return end_body(tf, call, results, count);
    default: /* INITIAL */
      return HONE_OK;
  }
}

/* -- variables */

bool tf_is_initialising(const struct tf *tf) {
  for (size_t i = 0; i < tf->frames.count; i++)
    if (tf->frames.at[i].call->stage == INITIAL) return true;
  return false;
}

hone_status tf_variable_find(struct tf *tf, const char *name, struct tf_variable **out) {
  for (size_t i = 0; i < tf->variables.count; i++) {
    *out = tf->variables.at[i];
    if (!strcmp((*out)->name, name)) return HONE_OK;
  }
  TRY(NEW(tf->ctx, tf->arena, *out));
  (*out)->name = name;
  VEC_PUSH(tf->ctx, tf->arena, &tf->variables, *out);
  return HONE_OK;
}

/* VAR_HANDLE: options container, shared_name. */
hone_status tf_var_handle(struct tf_op *op) {
  const char *container, *name;
  TRY(tf_arity(op, 0, 0, 1));
  TRY(flat_text(&op->options, 0, op->tf->arena, "a container's name", &container));
  TRY(flat_text(&op->options, 1, op->tf->arena, "a variable's name", &name));
  return arena_printf(op->ctx, op->tf->arena, &tf_out(op, 0)->resource, "%s%s%s", container,
                      *container ? "/" : "", name);
}

static hone_status handle_of(struct tf_op *op, struct tf_variable **out) {
  const struct tf_tensor *handle = tf_in(op, 0);
  if (!handle || !handle->resource)
    return fail(op->ctx, HONE_E_FORMAT, tf_place(op), "%s of an operand that is not a variable",
                op->kind->name);
  return tf_variable_find(op->tf, handle->resource, out);
}

static hone_status state_input(struct tf_op *op, struct tf_variable *variable, hone_dtype dtype,
                               const struct shape *shape) {
  int64_t elements;
  size_t bytes;
  for (int d = 0; d < shape->rank; d++)
    if (shape->dims[d] < 0) return tf_refuse(op, "of a variable whose shape is not known");
  TRY(shape_check(op->ctx, place_name(variable->name), dtype, shape, &elements, &bytes));
  TRY(graph_input(op->ctx, op->tf->root, variable->name, dtype, shape, &variable->input));
  variable->now = variable->input;
  variable->input->is_kept = true;
  return HONE_OK;
}

hone_status tf_read_variable(struct tf_op *op) {
  struct tf_variable *variable;
  TRY(tf_arity(op, 1, 1, 1));
  TRY(handle_of(op, &variable));
  const struct tf_tensor *out = tf_out(op, 0);
  const struct tensor *initial = variable->initial;
  if (!variable->now && variable->is_assigned)
    TRY(state_input(op, variable, initial ? initial->dtype : out->dtype,
                    initial ? &initial->shape : &out->shape));
  if (!variable->now && !initial) return tf_refuse(op, "of a variable that is never assigned");
  if (!variable->now) TRY(graph_constant(op->ctx, op->tf->root, NULL, initial, &variable->now));
  return tf_write(op, 0, false, variable->now);
}

hone_status tf_assign_variable(struct tf_op *op) {
  struct tf_variable *variable;
  struct value *x;
  TRY(tf_arity(op, 2, 2, 0));
  TRY(handle_of(op, &variable));
  TRY(tf_value(op, tf_in(op, 1), &x));
  if (tf_is_initialising(op->tf)) {
    if (!x->constant) return tf_refuse(op, "of a value that is not known before the first run");
    variable->initial = x->constant;
    return HONE_OK;
  }
  for (size_t i = 0; i < op->tf->frames.count; i++) {
    const enum stage stage = op->tf->frames.at[i].call->stage;
    if (stage != TAKEN && stage != THEN && stage != ELSE) return tf_refuse(op, "within WHILE");
  }
  if (!variable->is_assigned) return tf_refuse(op, "in a graph that another operator calls");
  if (variable->input &&
      (variable->input->dtype != x->dtype || !shape_equal(&variable->input->shape, &x->shape)))
    return tf_refuse(op, "of another type or shape than the variable had");
  variable->now = x;
  return HONE_OK;
}

/* Stateful tensors of the graph: variables with the tensors' names. */
static hone_status variable_of(struct tf_op *op, const struct tf_tensor *tensor,
                               struct tf_variable **out) {
  if (op->tf->frames.count) return tf_refuse(op, "with a stateful tensor, in a called graph");
  return tf_variable_find(op->tf, tensor->name, out);
}

/* int8 states start at the zero point; NULL: at zero. */
static hone_status first_state(struct tf_op *op, const struct tf_tensor *tensor,
                               const struct shape *shape, const struct tensor **out) {
  struct tensor *made;
  const int64_t zero = tensor->quantisation.count ? tensor->quantisation.zero_points[0] : 0;
  if (tensor->dtype != HONE_I8 || !zero) return HONE_OK;
  TRY(tensor_create(op->ctx, op->tf->root->arena, HONE_I8, shape, &made));
  for (size_t i = 0; i < tensor_count(made); i++) tensor_set_i64(made, i, zero);
  *out = made;
  return HONE_OK;
}

hone_status tf_state(struct tf_op *op, struct tf_tensor *tensor, const struct shape *shape,
                     struct value **out) {
  struct tf_variable *variable;
  if (!tensor->is_variable) {
    TRY(tf_value(op, tensor, out));
  } else {
    TRY(variable_of(op, tensor, &variable));
    if (!variable->now && !variable->initial)
      TRY(first_state(op, tensor, shape, &variable->initial));
    if (!variable->now) TRY(state_input(op, variable, tensor->dtype, shape));
    *out = variable->now;
  }
  if (shape_equal(&(*out)->shape, shape)) return HONE_OK;
  return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "%s: state \"%s\" does not fit", op->kind->name,
              tensor->name);
}

hone_status tf_keep(struct tf_op *op, struct tf_tensor *tensor, struct value *value) {
  struct tf_variable *variable;
  if (!tensor->is_variable) return HONE_OK;
  TRY(variable_of(op, tensor, &variable));
  variable->now = value;
  return HONE_OK;
}
