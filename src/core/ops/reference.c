/* reference: straightforward evaluation of a node and of a whole graph. Used as the tests' oracle,
 * by constant folding and by `hone verify`. No global state: any number of runs may proceed in
 * parallel. */
#include "core/os/os.h"
#include "ops_internal.h"

/* -- elements smaller than a byte are processed as one byte each */

static bool is_packed(const struct tensor *tensor) {
  unsigned bits = tensor ? dtype_bits(tensor->dtype) : 0;
  return bits && bits < 8;
}

/* Converts element by element between `bits`-bit codes and bytes. */
static void recode(const struct tensor *from, unsigned from_bits, const struct tensor *to,
                   unsigned to_bits) {
  unsigned from_each = 8 / from_bits, to_each = 8 / to_bits;
  uint8_t *target = tensor_data(to);
  for (size_t i = 0; i < tensor_count(from); i++) {
    unsigned code =
        (unsigned)((const uint8_t *)from->data)[i / from_each] >> i % from_each * from_bits;
    code &= (1u << from_bits) - 1;
    size_t shift = i % to_each * to_bits;
    target[i / to_each] = (uint8_t)((shift ? target[i / to_each] : 0) | code << shift);
  }
}

static hone_status evaluate_unpacked(struct ctx *ctx, struct arena *scratch,
                                     const struct node *node, const struct tensor *const *in,
                                     struct tensor *const *out) {
  const struct tensor **wide_in;
  struct tensor **wide_out, *wide;
  TRY(NEW_ARRAY(ctx, scratch, wide_in, node->input_count));
  TRY(NEW_ARRAY(ctx, scratch, wide_out, node->output_count));
  for (size_t k = 0; k < node->input_count; k++) {
    wide_in[k] = in[k];
    if (!is_packed(in[k])) continue;
    TRY(tensor_create(ctx, scratch, HONE_U8, &in[k]->shape, &wide));
    recode(in[k], dtype_bits(in[k]->dtype), wide, 8);
    wide_in[k] = wide;
  }
  for (size_t k = 0; k < node->output_count; k++) {
    wide_out[k] = out[k];
    if (is_packed(out[k])) TRY(tensor_create(ctx, scratch, HONE_U8, &out[k]->shape, &wide_out[k]));
  }
  TRY(node->op->eval(ctx, scratch, node, wide_in, wide_out));
  for (size_t k = 0; k < node->output_count; k++)
    if (is_packed(out[k])) recode(wide_out[k], 8, out[k], dtype_bits(out[k]->dtype));
  return HONE_OK;
}

hone_status node_evaluate(struct ctx *ctx, struct arena *scratch, const struct node *node,
                          const struct tensor *const *in, struct tensor *const *out) {
  bool moves = node->op->class == OP_MOVEMENT || node->op->class == OP_INDEXED, is_asked = false;
  for (size_t k = 0; k < node->output_count; k++) is_asked = is_asked || out[k] != NULL;
  if (!is_asked) return HONE_OK; /* a file may omit every output */
  for (size_t k = 0; moves && k < node->input_count; k++)
    if (is_packed(in[k])) return evaluate_unpacked(ctx, scratch, node, in, out);
  return node->op->eval(ctx, scratch, node, in, out);
}

/* -- a whole graph */

/* A value during a run: memory of its own, freed after its last reader. */
struct live {
  struct arena *arena; /* NULL for inputs, constants and dead values */
  const struct tensor *tensor;
  uint32_t reads_left;
};

struct run {
  const struct run *outer; /* for a body: the enclosing run */
  const struct graph *graph;
  struct arena *arena;
  struct live *live; /* by value index */
};

static void release(struct live *live) {
  arena_destroy(live->arena);
  live->arena = NULL;
  live->tensor = NULL;
}

static hone_status bind_input(struct ctx *ctx, struct run *run, const struct value *value,
                              const hone_tensor *given) {
  struct tensor *tensor;
  TRY(NEW(ctx, run->arena, tensor));
  tensor->dtype = given->dtype;
  tensor->data = given->data;
  tensor->shape =
      shape_of(given->rank < 0 || given->rank > HONE_MAX_RANK ? 0 : given->rank, given->shape);
  if (given->dtype != value->dtype || given->rank != value->shape.rank ||
      !shape_equal(&tensor->shape, &value->shape))
    return fail(ctx, given->dtype != value->dtype ? HONE_E_TYPE : HONE_E_SHAPE,
                place_name(value->name), "the tensor does not have the input's type and shape");
  int64_t elements = 0;
  TRY(extent(ctx, place_name(value->name), value->dtype, &value->shape, &elements, &tensor->bytes));
  run->live[value->index].tensor = tensor;
  return HONE_OK;
}

static const struct tensor *tensor_of(const struct run *run, const struct value *value) {
  if (!value) return NULL;
  if (value->constant) return value->constant;
  while (run && !graph_owns(run->graph, value)) run = run->outer;
  return run ? run->live[value->index].tensor : NULL;
}

static hone_status make_output(struct ctx *ctx, struct run *run, const struct value *value,
                               const struct shape *shape, struct tensor **out) {
  struct live *live = &run->live[value->index];
  TRY(arena_create(ctx, (size_t)ctx->limits[LIMIT_value_bytes] + 4096, &live->arena));
  TRY(tensor_create(ctx, live->arena, value->dtype, shape, out));
  live->tensor = *out;
  return HONE_OK;
}

static void read_done(struct run *run, const struct value *value) {
  /* a value captured by a body lives until the enclosing run ends */
  if (!value || value->constant || !graph_owns(run->graph, value)) return;
  struct live *live = &run->live[value->index];
  if (live->reads_left > 0 && --live->reads_left == 0) release(live);
}

static hone_status run_if(struct ctx *ctx, const struct run *run, const struct node *node,
                          const struct tensor *condition, struct tensor *const *out);
static hone_status run_loop(struct ctx *ctx, const struct run *run, const struct node *node,
                            const struct tensor *const *in, struct tensor *const *out);

static bool is_open_node(const struct node *node) {
  for (size_t k = 0; k < node->input_count; k++)
    if (node->inputs[k] && value_is_open(node->inputs[k])) return true;
  for (size_t k = 0; k < node->output_count; k++)
    if (node->outputs[k] && value_is_open(node->outputs[k])) return true;
  return false;
}

static hone_status copy_values(struct ctx *ctx, struct arena *arena, struct value *const *from,
                               size_t count, struct value ***out) {
  TRY(NEW_ARRAY(ctx, arena, *out, count));
  for (size_t k = 0; k < count; k++) {
    if (!from[k]) continue;
    TRY(NEW(ctx, arena, (*out)[k]));
    *(*out)[k] = *from[k];
    memset((*out)[k]->extents, 0, sizeof from[k]->extents);
  }
  return HONE_OK;
}

/* The node in this run: all operands are known, so no size is a bound any more. */
static hone_status actual_node(struct ctx *ctx, struct arena *scratch, const struct node *node,
                               const struct tensor *const *in, struct node *out) {
  struct graph graph = {.arena = scratch};
  *out = *node;
  TRY(copy_values(ctx, scratch, node->inputs, node->input_count, &out->inputs));
  TRY(copy_values(ctx, scratch, node->outputs, node->output_count, &out->outputs));
  for (size_t k = 0; k < node->input_count; k++) {
    if (!out->inputs[k]) continue;
    out->inputs[k]->shape = in[k]->shape;
    out->inputs[k]->constant = in[k];
  }
  return node_infer(ctx, &graph, out);
}

static hone_status run_node(struct ctx *ctx, struct run *run, struct arena *scratch,
                            const struct node *node) {
  struct node actual = *node;
  const struct tensor **in;
  struct tensor **out;
  TRY(NEW_ARRAY(ctx, scratch, in, node->input_count));
  TRY(NEW_ARRAY(ctx, scratch, out, node->output_count));
  for (size_t k = 0; k < node->input_count; k++) {
    in[k] = tensor_of(run, node->inputs[k]);
    if (node->inputs[k] && !in[k])
      return fail(ctx, HONE_E_INTERNAL, node_place(node), "input %zu was not computed", k);
  }
  if (is_open_node(node) && !is_op(node, OP_Loop))
    TRY(actual_node(ctx, scratch, node, in, &actual));
  for (size_t k = 0; k < node->output_count; k++)
    if (node->outputs[k])
      TRY(make_output(ctx, run, node->outputs[k], &actual.outputs[k]->shape, &out[k]));
  if (is_op(node, OP_If))
    TRY(run_if(ctx, run, node, in[0], out));
  else if (is_op(node, OP_Loop))
    TRY(run_loop(ctx, run, node, in, out));
  else
    TRY(node_evaluate(ctx, scratch, &actual, in, out));
  for (size_t k = 0; k < node->input_count; k++) read_done(run, node->inputs[k]);
  for (size_t k = 0; k < node->output_count; k++)
    if (node->outputs[k] && run->live[node->outputs[k]->index].reads_left == 0)
      release(&run->live[node->outputs[k]->index]);
  return HONE_OK;
}

static hone_status copy_output(struct ctx *ctx, const struct run *run, const struct value *value,
                               hone_tensor *wanted) {
  const struct tensor *tensor = tensor_of(run, value);
  if (!tensor)
    return fail(ctx, HONE_E_INTERNAL, place_name(value->name), "the output was not computed");
  if (wanted->dtype != tensor->dtype)
    return fail(ctx, HONE_E_TYPE, place_name(value->name),
                "the output has shape %s, the buffer has room for %s", dtype_name(tensor->dtype),
                dtype_name(wanted->dtype));
  if (wanted->rank != tensor->shape.rank)
    return fail(ctx, HONE_E_SHAPE, place_name(value->name),
                "the output has rank %d, its buffer rank %d", tensor->shape.rank,
                (int)wanted->rank);
  struct shape room = shape_of(wanted->rank, wanted->shape);
  if (!shape_equal(&room, &value->shape))
    return fail(ctx, HONE_E_SHAPE, place_name(value->name), "the output buffer has another shape");
  memcpy(wanted->shape, tensor->shape.dims, sizeof wanted->shape);
  if (tensor->bytes > 0) memcpy(wanted->data, tensor->data, tensor->bytes);
  for (size_t i = 0; tensor->dtype == HONE_STRING && i < tensor_count(tensor); i++) {
    hone_string *text = (hone_string *)wanted->data + i;
    if (text->length)
      TRY(arena_string(ctx, run->graph->arena, text->bytes, text->length, &text->bytes));
  }
  return HONE_OK;
}

static hone_status prepare(struct ctx *ctx, struct run *run) {
  const struct graph *graph = run->graph;
  uint32_t *uses;
  TRY(graph_uses(ctx, run->arena, graph, &uses));
  TRY(NEW_ARRAY(ctx, run->arena, run->live, graph->values.count));
  for (size_t i = 0; i < graph->values.count; i++) run->live[i].reads_left = uses[i];
  return HONE_OK;
}

static bool makes_text(const struct node *node) {
  for (size_t k = 0; k < node->output_count; k++)
    if (node->outputs[k] && node->outputs[k]->dtype == HONE_STRING) return true;
  return false;
}

static hone_status run_nodes(struct ctx *ctx, struct run *run) {
  const struct graph *graph = run->graph;
  for (size_t i = 0; i < graph->nodes.count; i++) {
    struct arena *scratch;
    if (makes_text(graph->nodes.at[i])) { /* strings have to outlive the node */
      TRY(run_node(ctx, run, run->arena, graph->nodes.at[i]));
      continue;
    }
    TRY(arena_create(ctx, (size_t)ctx->limits[LIMIT_value_bytes], &scratch));
    hone_status status = run_node(ctx, run, scratch, graph->nodes.at[i]);
    arena_destroy(scratch);
    TRY(status);
  }
  return HONE_OK;
}

static void end_run(struct run *run) {
  for (size_t i = 0; run->live && i < run->graph->values.count; i++) release(&run->live[i]);
  arena_destroy(run->arena);
}

static hone_status run_branch(struct ctx *ctx, struct run *run, const struct node *node,
                              struct tensor *const *out) {
  TRY(prepare(ctx, run));
  TRY(run_nodes(ctx, run));
  for (size_t k = 0; k < node->output_count; k++) {
    const struct tensor *made = tensor_of(run, run->graph->outputs.at[k]);
    if (!out[k]) continue;
    if (!made || made->bytes != out[k]->bytes)
      return fail(ctx, HONE_E_INTERNAL, node_place(node), "output %zu of a branch", k);
    if (made->bytes) memcpy(tensor_data(out[k]), made->data, made->bytes);
  }
  return HONE_OK;
}

/* Bodies nest at most limit depth deep. */
static hone_status run_if(struct ctx *ctx, const struct run *run, const struct node *node,
                          const struct tensor *condition, struct tensor *const *out) {
  const char *name = tensor_i64(condition, 0) ? "then_branch" : "else_branch";
  const struct attribute *branch = node_attribute(node, name);
  if (branch->graph->impossible)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "%s does not fit the shapes given", name);
  struct run inner = {.outer = run, .graph = branch->graph};
  TRY(arena_create(ctx, 0, &inner.arena));
  hone_status status = run_branch(ctx, &inner, node, out);
  end_run(&inner);
  return status;
}

/* A Loop with a trip count known only at run time: its loop-carried values between two
 * iterations. */
struct loop {
  const struct node *node;
  const struct graph *body;
  struct tensor *iteration, *goes;
  size_t states;
  struct tensor **state;
  struct tensor *const *out;
  int64_t trip, done;
};

static hone_status begin_loop(struct ctx *ctx, struct arena *arena, const struct tensor *const *in,
                              struct loop *l) {
  struct value *const *inputs = l->body->inputs.at;
  l->states = l->node->input_count > 2 ? l->node->input_count - 2 : 0;
  l->trip = in[0] ? tensor_i64(in[0], 0) : INT64_MAX;
  if (l->node->input_count > 1 && in[1] && !tensor_i64(in[1], 0)) l->trip = 0;
  TRY(tensor_create(ctx, arena, HONE_I64, &inputs[0]->shape, &l->iteration));
  TRY(tensor_create(ctx, arena, HONE_BOOL, &inputs[1]->shape, &l->goes));
  tensor_set_i64(l->goes, 0, 1);
  TRY(NEW_ARRAY(ctx, arena, l->state, l->states + 1));
  for (size_t k = 0; k < l->states; k++) {
    TRY(tensor_create(ctx, arena, in[2 + k]->dtype, &in[2 + k]->shape, &l->state[k]));
    if (l->state[k]->bytes) memcpy(tensor_data(l->state[k]), in[2 + k]->data, l->state[k]->bytes);
  }
  return HONE_OK;
}

/* Stores the outputs of an iteration: scan outputs and loop-carried values. All are read before any
 * is written, because a body may swap two of its inputs. */
static hone_status end_iteration(struct ctx *ctx, struct run *run, struct loop *l) {
  const struct tensor **made;
  char **copies;
  size_t count = l->node->output_count;
  TRY(NEW_ARRAY(ctx, run->arena, made, count + 1));
  TRY(NEW_ARRAY(ctx, run->arena, copies, count + 1));
  for (size_t k = 0; k < count; k++) {
    made[k] = tensor_of(run, run->graph->outputs.at[1 + k]);
    if (!made[k]) return fail(ctx, HONE_E_INTERNAL, node_place(l->node), "output %zu of a body", k);
    TRY(NEW_ARRAY(ctx, run->arena, copies[k], made[k]->bytes + 1));
    if (made[k]->bytes) memcpy(copies[k], made[k]->data, made[k]->bytes);
  }
  for (size_t k = 0; k < count; k++) {
    struct tensor *to = k < l->states ? l->state[k] : l->out[k];
    size_t at = k < l->states ? 0 : (size_t)l->done * made[k]->bytes;
    if (!to) continue;
    if (at + made[k]->bytes > to->bytes)
      return fail(ctx, HONE_E_LIMIT, node_place(l->node),
                  "more iterations than the %lld that output %zu has room for",
                  (long long)to->shape.dims[0], k);
    if (made[k]->bytes) memcpy((char *)tensor_data(to) + at, copies[k], made[k]->bytes);
  }
  const struct tensor *goes = tensor_of(run, run->graph->outputs.at[0]);
  if (!goes || !tensor_i64(goes, 0)) l->trip = 0; /* ends here */
  l->done++;
  return HONE_OK;
}

static hone_status iterate(struct ctx *ctx, struct run *run, struct loop *l) {
  TRY(prepare(ctx, run));
  tensor_set_i64(l->iteration, 0, l->done);
  run->live[run->graph->inputs.at[0]->index].tensor = l->iteration;
  run->live[run->graph->inputs.at[1]->index].tensor = l->goes;
  for (size_t k = 0; k < l->states; k++)
    run->live[run->graph->inputs.at[2 + k]->index].tensor = l->state[k];
  TRY(run_nodes(ctx, run));
  return end_iteration(ctx, run, l);
}

static hone_status run_iterations(struct ctx *ctx, const struct run *run, struct arena *arena,
                                  const struct tensor *const *in, struct loop *l) {
  TRY(begin_loop(ctx, arena, in, l));
  while (l->done < l->trip) {
    struct run inner = {.outer = run, .graph = l->body};
    TRY(arena_create(ctx, 0, &inner.arena));
    hone_status status = iterate(ctx, &inner, l);
    end_run(&inner);
    TRY(status);
  }
  for (size_t k = 0; k < l->node->output_count; k++) {
    struct tensor *to = l->out[k];
    if (!to) continue;
    if (k < l->states) {
      if (to->bytes) memcpy(tensor_data(to), l->state[k]->data, to->bytes);
    } else { /* as long as the number of iterations */
      int64_t rows = to->shape.dims[0];
      to->bytes = rows ? to->bytes / (size_t)rows * (size_t)l->done : 0;
      to->shape.dims[0] = l->done;
    }
  }
  return HONE_OK;
}

static hone_status run_loop(struct ctx *ctx, const struct run *run, const struct node *node,
                            const struct tensor *const *in, struct tensor *const *out) {
  struct loop l = {.node = node, .body = node_attribute(node, "body")->graph, .out = out};
  struct arena *arena;
  TRY(arena_create(ctx, 0, &arena));
  hone_status status = run_iterations(ctx, run, arena, in, &l);
  arena_destroy(arena);
  return status;
}

static hone_status run_all(struct ctx *ctx, struct run *run, const hone_tensor *inputs,
                           hone_tensor *outputs) {
  const struct graph *graph = run->graph;
  TRY(prepare(ctx, run));
  for (size_t i = 0; i < graph->inputs.count; i++)
    TRY(bind_input(ctx, run, graph->inputs.at[i], &inputs[i]));
  TRY(run_nodes(ctx, run));
  for (size_t i = 0; i < graph->outputs.count; i++)
    TRY(copy_output(ctx, run, graph->outputs.at[i], &outputs[i]));
  return HONE_OK;
}

hone_status reference_run(struct ctx *ctx, const struct graph *graph, const hone_tensor *inputs,
                          hone_tensor *outputs) {
  struct run run = {.graph = graph};
  journal_doing("the reference evaluation of the model");
  TRY(arena_create(ctx, 0, &run.arena));
  hone_status status = run_all(ctx, &run, inputs, outputs);
  end_run(&run);
  return status;
}
