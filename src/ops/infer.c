/* infer: dtype and shape of every value, in node order, and the folding that this needs. Extents
 * are checked against the limits as soon as they are known, before anything of that size is
 * allocated.
 */
#include "control.h"
#include "expand.h"

/* Results of at most this many elements are folded during inference: shapes, axes, scales. */
#define FOLD_ELEMENTS 1024

/* Their result depends on the input's shape alone. */
static const char *const shape_only[] = {"Shape", "Size"};

static bool is_named(const struct node *node, const char *const *names, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(node->op->name, names[i]) == 0) return true;
  return false;
}

/* -- one node ------------------------------------------------------------------------------------
 */

static hone_status check_arity(struct ctx *ctx, const struct node *node, size_t inputs) {
  const struct op *op = node->op;
  if (inputs < (size_t)op->min_inputs || (op->max_inputs >= 0 && inputs > (size_t)op->max_inputs))
    return fail(ctx, HONE_E_FORMAT, node_place(node), "%s has %zu inputs, expected %d to %d",
                op->name, inputs, op->min_inputs, op->max_inputs);
  if (op->max_outputs >= 0 && node->output_count > (size_t)op->max_outputs)
    return fail(ctx, HONE_E_FORMAT, node_place(node), "%s has %zu outputs, expected at most %d",
                op->name, node->output_count, op->max_outputs);
  for (size_t k = 0; k < node->input_count; k++) {
    const struct value *value = node->inputs[k];
    if (!value && k < (size_t)op->min_inputs)
      return fail(ctx, HONE_E_FORMAT, node_place(node), "%s lacks input %zu", op->name, k);
    if (value && !value->list && (!value->has_shape || value->dtype == HONE_UNDEFINED))
      return fail(ctx, HONE_E_SHAPE, node_place(node),
                  "type or shape of input %zu \"%s\" is not known", k, value->name);
  }
  return HONE_OK;
}

static hone_status output_bytes(struct ctx *ctx, const struct node *node, size_t *out_bytes) {
  *out_bytes = 0;
  for (size_t k = 0; k < node->output_count; k++) {
    const struct value *value = node->outputs[k];
    if (!value) continue;
    if (!value->has_shape || value->dtype == HONE_UNDEFINED)
      return fail(ctx, HONE_E_INTERNAL, node_place(node), "%s left output %zu without a shape",
                  node->op->name, k);
    /* a string takes two words, whatever it holds */
    hone_dtype dtype = value->dtype == HONE_STRING ? HONE_U64 : value->dtype;
    int64_t elements = 0;
    size_t bytes = 0;
    TRY(extent(ctx, node_place(node), dtype, &value->shape, &elements, &bytes));
    if (!checked_add(*out_bytes, bytes, out_bytes)) *out_bytes = SIZE_MAX;
  }
  return HONE_OK;
}

static hone_status infer_own(struct ctx *ctx, struct graph *graph, struct node *node,
                             size_t *out_bytes) {
  TRY(check_arity(ctx, node, node->input_count));
  TRY(node->op->infer(ctx, graph, node));
  TRY(infer_extents(ctx, graph, node));
  return output_bytes(ctx, node, out_bytes);
}

hone_status node_infer(struct ctx *ctx, struct graph *graph, struct node *node) {
  size_t bytes = 0;
  return infer_own(ctx, graph, node, &bytes);
}

/* -- folding
 * --------------------------------------------------------------------------------------- */

static bool has_graph_attribute(const struct node *node) {
  for (size_t i = 0; i < node->attribute_count; i++)
    if (node->attributes[i].kind == ATTRIBUTE_GRAPH) return true;
  return false;
}

static bool is_foldable(struct ctx *ctx, const struct node *node) {
  if (has_graph_attribute(node)) return false;
  bool by_shape = is_named(node, shape_only, COUNT(shape_only));
  for (size_t k = 0; k < node->input_count; k++) {
    const struct value *value = node->inputs[k];
    if (value && !value->constant && !(by_shape && value->has_shape && !value_is_open(value)))
      return false;
  }
  size_t bytes = 0;
  for (size_t k = 0; k < node->output_count; k++) {
    const struct value *value = node->outputs[k];
    if (!value) continue;
    int64_t elements = 0;
    /* graph outputs stay computed: a run has to write them somewhere anyway */
    if (!value->has_shape || value->is_output || value->dtype == HONE_STRING) return false;
    if (!shape_count(&value->shape, &elements)) return false;
    size_t size = 0;
    if (!checked_mul((size_t)elements, (size_t)dtype_bits(value->dtype), &size)) return false;
    if (!checked_add(bytes, size / 8, &bytes)) return false;
  }
  return bytes <= (uint64_t)ctx->limits[LIMIT_fold_bytes];
}

static hone_status fold_into(struct ctx *ctx, struct arena *scratch, struct graph *graph,
                             struct node *node) {
  const struct tensor **in;
  struct tensor **out;
  TRY(NEW_ARRAY(ctx, scratch, in, node->input_count + 1));
  TRY(NEW_ARRAY(ctx, scratch, out, node->output_count + 1));
  for (size_t k = 0; k < node->input_count; k++) {
    struct value *value = node->inputs[k];
    if (!value) continue;
    struct tensor *shape;
    TRY(NEW(ctx, scratch, shape));
    *shape = (struct tensor){.dtype = value->dtype, .shape = value->shape};
    in[k] = value->constant ? value->constant : shape;
  }
  for (size_t k = 0; k < node->output_count; k++) {
    struct value *value = node->outputs[k];
    if (value) TRY(tensor_create(ctx, graph->arena, value->dtype, &value->shape, &out[k]));
  }
  TRY(node_evaluate(ctx, scratch, node, in, out));
  for (size_t k = 0; k < node->output_count; k++) {
    if (!node->outputs[k]) continue;
    node->outputs[k]->constant = out[k];
    node->outputs[k]->producer = NULL;
    node->outputs[k] = NULL;
  }
  return HONE_OK;
}

hone_status node_fold(struct ctx *ctx, struct graph *graph, struct node *node, bool *out_folded) {
  *out_folded = false;
  if (!is_foldable(ctx, node)) return HONE_OK;
  struct arena *scratch;
  TRY(arena_create(ctx, 0, &scratch));
  hone_status status = fold_into(ctx, scratch, graph, node);
  arena_destroy(scratch);
  *out_folded = status == HONE_OK;
  return status;
}

static bool is_small(const struct node *node) {
  /* quantised weights are for a pass that keeps them bytes */
  if (is_op(node, OP_DequantizeLinear)) return false;
  for (size_t k = 0; k < node->output_count; k++) {
    int64_t elements = 0;
    const struct value *value = node->outputs[k];
    if (value && (!shape_count(&value->shape, &elements) || elements > FOLD_ELEMENTS)) return false;
  }
  return true;
}

/* -- the whole graph
 * --------------------------------------------------------------------------------- */

/* The nodes of an expansion stand where the composite stood; each output keeps its value and name. */
static hone_status expand_in_place(struct ctx *ctx, struct graph *graph, struct node *node,
                                   size_t *out_bytes) {
  struct expansion e;
  TRY(expand_node(ctx, graph, node, expand_find(node), &e));
  *out_bytes = e.bytes;
  for (size_t k = 0; k < node->output_count; k++) {
    struct value *to = node->outputs[k];
    struct node *identity;
    if (!to) continue;
    TRY(graph_node(ctx, graph, &op_table[OP_Identity], &e.results[k], 1, 0, &identity));
    identity->name = node->name;
    identity->index = node->index;
    identity->outputs = &node->outputs[k];
    identity->output_count = 1;
    to->producer = identity;
    TRY(node_infer(ctx, graph, identity));
  }
  return HONE_OK;
}

/* A node that waits; control operators come back until their stages are done. */
struct task {
  struct node *node;
  int stage;
  struct unroll *unroll;
};
/* A graph under way: what waits, the next one last; what stays is in its node list. */
struct frame {
  struct graph *graph;
  VEC(struct task) waiting;
};
struct inference {
  struct ctx *ctx;
  struct arena *scratch;
  VEC(struct frame) frames; /* bodies inside bodies; no recursion */
  size_t bytes, nodes;
};

static hone_status wait_for(struct inference *f, struct frame *frame,
                            const struct node_list *nodes) {
  for (size_t i = nodes->count; i-- > 0;)
    if (nodes->at[i])
      VEC_PUSH(f->ctx, f->scratch, &frame->waiting, (struct task){.node = nodes->at[i]});
  return HONE_OK;
}

static hone_status enter(struct inference *f, struct graph *graph) {
  struct node_list nodes = {graph->nodes.at, graph->nodes.count, graph->nodes.count};
  memset(&graph->nodes, 0, sizeof graph->nodes);
  VEC_PUSH(f->ctx, f->scratch, &f->frames, (struct frame){.graph = graph});
  return wait_for(f, &f->frames.at[f->frames.count - 1], &nodes);
}

static hone_status infer_plain(struct inference *f, struct frame *frame, struct node *node) {
  size_t bytes = 0, budget = (size_t)f->ctx->limits[LIMIT_total_value_bytes];
  bool folded = false;
  TRY(list_refuse(f->ctx, node));
  if (expand_find(node)) {
    TRY(check_arity(f->ctx, node, node->input_count));
    TRY(expand_in_place(f->ctx, frame->graph, node, &bytes));
  } else {
    TRY(infer_own(f->ctx, frame->graph, node, &bytes));
    if (is_small(node)) TRY(node_fold(f->ctx, frame->graph, node, &folded));
    if (!folded) VEC_PUSH(f->ctx, frame->graph->arena, &frame->graph->nodes, node);
  }
  if (!checked_add(f->bytes, bytes, &f->bytes) || f->bytes > budget)
    return fail(f->ctx, HONE_E_LIMIT, node_place(node),
                "values up to here take more than %zu bytes (limit total_value_bytes)", budget);
  return HONE_OK;
}

/* Known condition: the branch takes the node's place. Else both branches, then the node itself. */
static hone_status infer_branches(struct inference *f, struct frame *frame, struct task task) {
  bool known = false, taken = false;
  struct graph *branch;
  if (!task.stage) TRY(check_arity(f->ctx, task.node, task.node->input_count));
  if (!task.stage) TRY(control_condition(f->ctx, task.node, &known, &taken));
  if (known) {
    struct node_list nodes = {0};
    TRY(control_inline_if(f->ctx, frame->graph, task.node, taken, &nodes));
    return wait_for(f, frame, &nodes);
  }
  if (task.stage == 2) return infer_plain(f, frame, task.node);
  TRY(control_branch(f->ctx, task.node, !task.stage, &branch));
  task.stage++;
  VEC_PUSH(f->ctx, f->scratch, &frame->waiting, task);
  return enter(f, branch);
}

/* At run time: the body first, then the node itself. */
static hone_status infer_open_loop(struct inference *f, struct frame *frame, struct task task) {
  struct node_list nodes = {0};
  struct graph *body;
  if (is_op(task.node, OP_Scan)) {
    TRY(loop_of_scan(f->ctx, frame->graph, task.node, &nodes));
    return wait_for(f, frame, &nodes);
  }
  if (task.stage) return infer_plain(f, frame, task.node);
  TRY(loop_enter(f->ctx, task.node, &body));
  task.stage = 1;
  VEC_PUSH(f->ctx, f->scratch, &frame->waiting, task);
  return enter(f, body);
}

static hone_status infer_iteration(struct inference *f, struct frame *frame, struct task task) {
  struct node_list nodes = {0};
  bool done;
  if (task.stage) return infer_open_loop(f, frame, task);
  if (!task.unroll) {
    TRY(check_arity(f->ctx, task.node, task.node->input_count));
    if (is_batched_scan(task.node)) {
      TRY(control_rows(f->ctx, frame->graph, task.node, &nodes));
      return wait_for(f, frame, &nodes);
    }
    if (loop_stays(f->ctx, task.node)) return infer_open_loop(f, frame, task);
    TRY(unroll_begin(f->ctx, frame->graph, task.node, &task.unroll));
  }
  if (unroll_is_blind(task.unroll))
    return infer_open_loop(f, frame, task); /* what was made is swept */
  f->nodes += unroll_nodes(task.unroll);    /* copied, whether or not they ever run */
  TRY(unroll_next(f->ctx, frame->graph, task.unroll, &nodes, &done));
  if (!done) VEC_PUSH(f->ctx, f->scratch, &frame->waiting, task);
  return wait_for(f, frame, &nodes);
}

static hone_status infer_list_node(struct inference *f, struct frame *frame,
                                   const struct node *node) {
  struct node_list nodes = {0};
  TRY(check_arity(f->ctx, node, node->input_count));
  TRY(list_resolve(f->ctx, frame->graph, node, &nodes));
  return wait_for(f, frame, &nodes);
}

static hone_status infer_next(struct inference *f, struct frame *frame) {
  struct task task = frame->waiting.at[--frame->waiting.count];
  const int64_t most = f->ctx->limits[LIMIT_nodes];
  if (++f->nodes > (size_t)most) /* unrolled ones count */
    return fail(f->ctx, HONE_E_LIMIT, node_place(task.node), "more than %lld nodes (limit nodes)",
                (long long)most);
  switch (task.node->op->id) {
    case OP_If:
      return infer_branches(f, frame, task);
    case OP_Loop:
    case OP_Scan:
      return infer_iteration(f, frame, task);
    default:
      return is_list_node(task.node) ? infer_list_node(f, frame, task.node)
                                     : infer_plain(f, frame, task.node);
  }
}

/* A branch that these shapes do not fit is one that is never taken, or the run fails there: a model
   with a branch for each sample rate is right for either. */
static bool give_up_branch(struct inference *f) {
  if (f->frames.count < 2) return false;
  struct graph *branch = f->frames.at[--f->frames.count].graph;
  warn(f->ctx, "a branch of an If can only fail with these shapes: %s", f->ctx->message);
  ctx_clear(f->ctx); /* told, and done with */
  branch->impossible = true;
  branch->nodes.count = 0;
  return true;
}

/* The model's own outputs may be lists; a branch's are looked at by its If. */
static hone_status end_frame(struct inference *f) {
  struct frame *frame = &f->frames.at[f->frames.count - 1];
  struct node_list nodes = {0};
  if (f->frames.count == 1 && !frame->graph->parent)
    TRY(list_outputs(f->ctx, frame->graph, &nodes));
  if (nodes.count) return wait_for(f, frame, &nodes);
  f->frames.count--;
  return HONE_OK;
}

static hone_status infer_all(struct inference *f, struct graph *graph) {
  TRY(enter(f, graph));
  while (f->frames.count) {
    struct frame *frame = &f->frames.at[f->frames.count - 1];
    if (!frame->waiting.count) {
      TRY(end_frame(f));
      continue;
    }
    hone_status status = infer_next(f, frame);
    if (status && !(status == HONE_E_SHAPE && give_up_branch(f))) return status;
  }
  return HONE_OK;
}

hone_status graph_infer(struct ctx *ctx, struct graph *graph) {
  struct inference f = {.ctx = ctx};
  TRY(arena_create(ctx, 0, &f.scratch));
  hone_status status = infer_all(&f, graph);
  arena_destroy(f.scratch);
  return status;
}
