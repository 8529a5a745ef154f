/* infer: dtype and shape of every value of a graph, in node order, and the folding that this needs. */
#include "core/ops/control/control.h"
#include "core/ops/composites/expand.h"

/* Results of at most this many elements are folded during inference: shapes, axes, scales. */
#define FOLD_ELEMENTS 1024

static bool is_small(const struct node *node) {
  /* quantised weights stay int8 until a pass handles them */
  if (is_op(node, OP_DequantizeLinear)) return false;
  for (size_t k = 0; k < node->output_count; k++) {
    int64_t elements = 0;
    const struct value *value = node->outputs[k];
    if (value && (!shape_count(&value->shape, &elements) || elements > FOLD_ELEMENTS)) return false;
  }
  return true;
}

/* -- the whole graph */

/* The expansion's nodes replace the composite; each output keeps its value and name. */
static hone_status expand_in_place(struct ctx *ctx, struct graph *graph, struct node *node,
                                   size_t *out_bytes) {
  struct graph_builder e;
  TRY(expand_node(ctx, graph, node, expand_find(node), &e));
  *out_bytes = e.bytes;
  for (size_t k = 0; k < node->output_count; k++) {
    struct value *to = node->outputs[k];
    struct node *identity;
    if (!to) continue;
    TRY(graph_node(ctx, graph, &op_table[OP_Identity], &e.results[k], 1, 0, &identity));
    node_stand_for(identity, node);
    identity->outputs = &node->outputs[k];
    identity->output_count = 1;
    to->producer = identity;
    TRY(node_infer(ctx, graph, identity));
  }
  return HONE_OK;
}

/* A node to infer; control operators are queued again until their stages are done. */
enum { BOTH_INFERRED = 2 }; /* the branches of an If */
struct task {
  struct node *node;
  int stage;
  struct unroll *unroll;
};
/* A graph in progress: pending nodes, the next one last; finished nodes are in its node list. */
struct frame {
  struct graph *graph;
  VEC(struct task) waiting;
};
struct inference {
  struct ctx *ctx;
  struct arena *scratch;
  VEC(struct frame) frames; /* nested bodies, without recursion */
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

static hone_status count_bytes(struct inference *f, const struct node *node, size_t bytes) {
  const size_t budget = (size_t)f->ctx->limits[LIMIT_total_value_bytes];
  if (!checked_add(f->bytes, bytes, &f->bytes) || f->bytes > budget)
    return fail(f->ctx, HONE_E_LIMIT, node_place(node),
                "values up to this node take more than %zu bytes (limit total_value_bytes)",
                budget);
  return HONE_OK;
}

static hone_status infer_plain(struct inference *f, struct frame *frame, struct node *node) {
  size_t bytes = 0;
  bool folded = false;
  TRY(list_refuse(f->ctx, node));
  if (expand_find(node)) {
    TRY(node_form(f->ctx, node));
    TRY(expand_in_place(f->ctx, frame->graph, node, &bytes));
  } else {
    TRY(node_infer_bytes(f->ctx, frame->graph, node, &bytes));
    if (is_small(node)) TRY(node_fold(f->ctx, frame->graph, node, &folded));
    if (!folded) VEC_PUSH(f->ctx, frame->graph->arena, &frame->graph->nodes, node);
  }
  return count_bytes(f, node, bytes);
}

/* Of the next If that stays, for control_sized. */
static hone_status unlike_sizes(struct inference *f, uint64_t **out) {
  struct graph *model = f->frames.at[0].graph;
  const struct graph *first = model->at_bounds;
  const size_t i = model->unlike.count;
  VEC_PUSH(f->ctx, model->arena, &model->unlike,
           first && i < first->unlike.count ? first->unlike.at[i] : 0);
  *out = &model->unlike.at[model->unlike.count - 1];
  return HONE_OK;
}

/* Known condition: the branch replaces the node. Else both branches are inferred, then the node. A condition that may depend on
   sizes is known only if the branches cannot both stay. */
static hone_status infer_branches(struct inference *f, struct frame *frame, struct task task) {
  struct graph *model = f->frames.at[0].graph, *branch;
  bool known = false, taken = false;
  if (!task.stage) TRY(node_form(f->ctx, task.node));
  TRY(control_condition(f->ctx, task.node, &known, &taken));
  if (known && is_from_shape(task.node->inputs[0])) {
    model->has_resolved = true;
    bool stays = model->keeps_control;
    if (stays && task.stage == BOTH_INFERRED) TRY(control_can_stay(f->ctx, task.node, &stays));
    known = !stays;
    if (!task.stage) model->decisions = 31 * model->decisions + 1 + taken;
  }
  if (known) {
    struct node_list nodes = {0};
    TRY(control_inline_if(f->ctx, frame->graph, task.node, taken, &nodes));
    return wait_for(f, frame, &nodes);
  }
  if (task.stage == BOTH_INFERRED) {
    struct node_list nodes = {0};
    size_t bytes = 0;
    TRY(control_or_nothing(f->ctx, frame->graph, task.node, &nodes, &known));
    if (known) return wait_for(f, frame, &nodes);
    uint64_t *unlike;
    TRY(unlike_sizes(f, &unlike));
    TRY(control_sized(f->ctx, frame->graph, task.node, unlike, &bytes, &known));
    return known ? count_bytes(f, task.node, bytes) : infer_plain(f, frame, task.node);
  }
  TRY(control_branch(f->ctx, task.node, !task.stage, &branch));
  task.stage++;
  VEC_PUSH(f->ctx, f->scratch, &frame->waiting, task);
  return enter(f, branch);
}

/* A loop that stays: the body is inferred first, then the node. */
static hone_status infer_open_loop(struct inference *f, struct frame *frame, struct task task) {
  struct node_list nodes = {0};
  struct graph *body;
  bool grows = false;
  if (is_op(task.node, OP_Scan)) {
    TRY(loop_of_scan(f->ctx, frame->graph, task.node, &nodes));
    return wait_for(f, frame, &nodes);
  }
  if (task.stage) return infer_plain(f, frame, task.node);
  TRY(loop_of_appending(f->ctx, frame->graph, task.node, &nodes, &grows));
  if (grows) return wait_for(f, frame, &nodes);
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
    TRY(node_form(f->ctx, task.node));
    if (is_batched_scan(task.node)) {
      TRY(control_rows(f->ctx, frame->graph, task.node, &nodes));
      return wait_for(f, frame, &nodes);
    }
    struct graph *model = f->frames.at[0].graph;
    if (loop_stays(f->ctx, task.node, model->keeps_control)) return infer_open_loop(f, frame, task);
    model->has_resolved = true;
    TRY(unroll_begin(f->ctx, frame->graph, task.node, &task.unroll));
    if (unroll_never_runs(task.unroll)) {
      TRY(control_make_empty_loop(f->ctx, frame->graph, task.node));
      return infer_open_loop(f, frame, task);
    }
  }
  /* nodes created so far are swept */
  if (unroll_condition_is_unknown(task.unroll)) return infer_open_loop(f, frame, task);
  f->nodes += unroll_nodes(task.unroll); /* counted even if the copies never run */
  TRY(unroll_next(f->ctx, frame->graph, task.unroll, &nodes, &done));
  if (!done) VEC_PUSH(f->ctx, f->scratch, &frame->waiting, task);
  return wait_for(f, frame, &nodes);
}

static hone_status infer_list_node(struct inference *f, struct frame *frame,
                                   const struct node *node) {
  struct node_list nodes = {0};
  TRY(node_form(f->ctx, node));
  TRY(list_resolve(f->ctx, frame->graph, node, &nodes));
  return wait_for(f, frame, &nodes);
}

static hone_status infer_next(struct inference *f, struct frame *frame) {
  struct task task = frame->waiting.at[--frame->waiting.count];
  const int64_t most = f->ctx->limits[LIMIT_nodes];
  if (++f->nodes > (size_t)most) /* unrolled nodes count */
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

/* A branch whose shapes do not match is assumed never taken, otherwise the run fails there: a model
 * may have one branch for each sample rate. */
static bool give_up_branch(struct inference *f) {
  if (f->frames.count < 2) return false;
  struct graph *branch = f->frames.at[--f->frames.count].graph;
  warn(f->ctx, "a branch of an If can only fail with these shapes: %s", f->ctx->message);
  ctx_clear(f->ctx); /* reported as a warning */
  branch->impossible = true;
  branch->nodes.count = 0;
  return true;
}

/* The model's own outputs may be lists; the If checks those of a branch. */
static hone_status end_frame(struct inference *f) {
  struct frame *frame = &f->frames.at[f->frames.count - 1];
  struct node_list nodes = {0};
  if (f->frames.count == 1 && !frame->graph->parent)
    TRY(list_outputs(f->ctx, frame->graph, &nodes));
  if (nodes.count) return wait_for(f, frame, &nodes);
  f->frames.count--;
  return HONE_OK;
}

static hone_status infer_frames(struct inference *f) {
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

static hone_status infer_all(struct inference *f, struct graph *graph) {
  TRY(enter(f, graph));
  return infer_frames(f);
}

static hone_status infer_last(struct inference *f, struct graph *graph) {
  const struct task task = {.node = graph->nodes.at[--graph->nodes.count], .stage = BOTH_INFERRED};
  VEC_PUSH(f->ctx, f->scratch, &f->frames, (struct frame){.graph = graph});
  VEC_PUSH(f->ctx, f->scratch, &f->frames.at[0].waiting, task);
  return infer_frames(f);
}

static hone_status infer_by(struct ctx *ctx, struct graph *graph,
                            hone_status (*how)(struct inference *f, struct graph *graph)) {
  struct inference f = {.ctx = ctx};
  TRY(arena_create(ctx, 0, &f.scratch));
  hone_status status = how(&f, graph);
  arena_destroy(f.scratch);
  return status;
}

hone_status graph_infer(struct ctx *ctx, struct graph *graph) {
  return infer_by(ctx, graph, infer_all);
}

hone_status graph_infer_last_if(struct ctx *ctx, struct graph *graph) {
  return infer_by(ctx, graph, infer_last);
}
