/* fuse-elementwise: elementwise operators behind a node become its fused program, so that their
 * operands never go through memory. A group begins with one node and takes readers in graph order;
 * it may be closed wherever only its last value is read outside. That covers chains, forms that
 * read a value twice (GELU), and sums with another tensor (residuals). What is closed later cannot
 * depend on what comes from the group, so no cycle can arise.
 *
 * A contraction also takes what makes an operand of its program for it alone.
 *
 * Contractions go first, the last one first: of two that meet in a sum the later takes it, because
 * only then the other operand is there. Elementwise groups follow in graph order. */
#include "rewrite.h"

enum { MOST_STEPS = 40, MOST_CHAIN = 8 };

struct fuser {
  struct ctx *ctx;
  struct graph *graph;
  const struct pass_env *env;
  struct arena *scratch;
  struct graph_readers readers;
  uint32_t *uses;
  uint32_t *made_at; /* by value index: position of the producer */
  size_t value_count;
  size_t changes;
};

struct group {
  struct node *root;
  uint32_t position; /* of the root */
  size_t count;      /* values of the group: the root's and one a step */
  struct value *values[MOST_STEPS + 1];
  int args[MOST_STEPS + 1];           /* how a step names the value */
  uint32_t left[MOST_STEPS + 1];      /* reads outside the group */
  uint32_t positions[MOST_STEPS + 1]; /* of the nodes taken */
  VEC(struct value *) inputs;         /* the root's, growing */
  VEC(struct fused_step) steps;
  size_t fused_inputs;
};

static hone_status find_producers(struct fuser *f) {
  TRY(NEW_ARRAY(f->ctx, f->scratch, f->made_at, f->value_count + 1));
  for (size_t n = 0; n < f->graph->nodes.count; n++) {
    const struct node *node = f->graph->nodes.at[n];
    for (size_t o = 0; o < node->output_count; o++)
      if (node->outputs[o]) f->made_at[node->outputs[o]->index] = (uint32_t)n;
  }
  return HONE_OK;
}

/* -- groups ----------------------------------------------------------------------------------- */

static int index_in_group(const struct group *g, const struct value *value) {
  for (size_t i = 0; i < g->count; i++)
    if (g->values[i] == value) return (int)i;
  return -1;
}

static hone_status add_value(struct fuser *f, struct group *g, struct value *value, int arg,
                             uint32_t position) {
  g->values[g->count] = value;
  g->args[g->count] = arg;
  g->positions[g->count] = position;
  g->left[g->count] = f->uses[value->index];
  g->count++;
  return HONE_OK;
}

static hone_status begin(struct fuser *f, struct group *g, struct node *root, uint32_t position) {
  *g = (struct group){.root = root, .position = position, .fused_inputs = root->fused_input_count};
  for (size_t i = 0; i < root->input_count; i++)
    VEC_PUSH(f->ctx, f->graph->arena, &g->inputs, root->inputs[i]);
  for (size_t s = 0; s < root->fused_count; s++)
    VEC_PUSH(f->ctx, f->graph->arena, &g->steps, root->fused[s]);
  int arg = root->fused_count ? (int)root->fused_count - 1 : FUSED_SELF;
  return add_value(f, g, root->outputs[0], arg, position);
}

/* The node as it would look now, for the question to the target. */
static struct node present(const struct group *g) {
  struct node node = *g->root;
  node.inputs = g->inputs.at;
  node.input_count = g->inputs.count;
  node.fused_input_count = g->fused_inputs;
  node.fused = g->steps.at;
  node.fused_count = g->steps.count;
  return node;
}

static bool is_accepted(const struct fuser *f, const struct group *g, const struct node *step) {
  struct node now = present(g);
  size_t extras = 0;
  for (size_t i = 0; i < elementwise_operands(step); i++) {
    const struct value *extra = step->inputs[i];
    if (index_in_group(g, extra) >= 0) continue;
    extras++;
    if (!f->env->accepts_fused(f->env->user, &now, step, extra)) return false;
  }
  return extras || f->env->accepts_fused(f->env->user, &now, step, NULL);
}

static bool is_step(const struct fuser *f, const struct group *g, const struct node *node) {
  double alpha, beta;
  bool has_form = node->op->expression || node->op->integer || is_op(node, OP_Cast);
  if (node->op->class != OP_ELEMENTWISE || !has_form || node->fused_count ||
      node->output_count != 1 || !node->outputs[0])
    return false;
  size_t least = is_variadic(node->op) ? 2 : 1;
  if (elementwise_operands(node) < least || elementwise_operands(node) > COUNT(node->fused[0].args))
    return false;
  for (size_t i = 0; i < elementwise_operands(node); i++)
    if (!graph_owns(f->graph, node->inputs[i])) return false;
  return shape_equal(&node->outputs[0]->shape, &g->values[0]->shape) &&
         (is_op(node, OP_Cast) || elementwise_parameters(node, &alpha, &beta)) &&
         is_accepted(f, g, node);
}

static hone_status operand(struct fuser *f, struct group *g, struct value *value, int *out) {
  int k = index_in_group(g, value);
  if (k >= 0) {
    g->left[k]--;
    *out = g->args[k];
    return HONE_OK;
  }
  for (size_t i = g->inputs.count - g->fused_inputs; i < g->inputs.count; i++)
    if (g->inputs.at[i] == value) {
      *out = FUSED_INPUT((int)i);
      return HONE_OK;
    }
  VEC_PUSH(f->ctx, f->graph->arena, &g->inputs, value);
  g->fused_inputs++;
  *out = FUSED_INPUT((int)g->inputs.count - 1);
  return HONE_OK;
}

/* One step; of Max, Min and Sum over more than two operands one for each further operand. */
static hone_status take(struct fuser *f, struct group *g, const struct node *node,
                        uint32_t position) {
  struct fused_step step = {.op = node->op, .dtype = node->outputs[0]->dtype};
  int count = (int)elementwise_operands(node), args[COUNT(step.args)];
  step.arg_count = is_variadic(node->op) ? 2 : count;
  if (!is_op(node, OP_Cast) && !elementwise_parameters(node, &step.alpha, &step.beta))
    return fail(f->ctx, HONE_E_INTERNAL, node_place(node), "parameters are not known");
  for (int a = 0; a < count; a++) TRY(operand(f, g, node->inputs[a], &args[a]));
  memcpy(step.args, args, sizeof args);
  VEC_PUSH(f->ctx, f->graph->arena, &g->steps, step);
  for (int a = step.arg_count; a < count; a++) {
    step.args[0] = (int)g->steps.count - 1;
    step.args[1] = args[a];
    VEC_PUSH(f->ctx, f->graph->arena, &g->steps, step);
  }
  return add_value(f, g, node->outputs[0], (int)g->steps.count - 1, position);
}

/* The first reader of an open value in graph order that is not in the group yet. UINT32_MAX: none.
 */
static uint32_t next_reader(const struct fuser *f, const struct group *g) {
  uint32_t best = UINT32_MAX, last = g->positions[g->count - 1];
  for (size_t i = 0; i < g->count; i++) {
    uint32_t v = g->values[i]->index;
    if (!g->left[i]) continue;
    for (uint32_t k = f->readers.first[v]; k < f->readers.first[v + 1]; k++) {
      uint32_t position = f->readers.at[k];
      /* taken in order: whatever is open lies behind the last one taken */
      if (position > last && position < best) best = position;
    }
  }
  return best;
}

/* The elementwise node that makes the value for the group alone; NULL if there is none. */
static struct node *maker_of(const struct fuser *f, const struct group *g,
                             const struct value *value) {
  if (!graph_owns(f->graph, value) || index_in_group(g, value) >= 0 || value->is_output ||
      f->uses[value->index] != 1 || !value->producer ||
      value->producer->op->class != OP_ELEMENTWISE)
    return NULL;
  return f->graph->nodes.at[f->made_at[value->index]];
}

/* What an operand of a product's program is made by (a residual that is brought to another scale) joins
   the program, so that it does not go through memory either. */
static hone_status take_makers(struct fuser *f, struct group *g, const struct node *node) {
  struct node *chain[MOST_CHAIN];
  size_t count = 0;
  const struct node *reader = node;
  while (count < MOST_CHAIN) {
    struct node *maker = NULL;
    for (size_t i = 0; i < elementwise_operands(reader) && !maker; i++) {
      maker = maker_of(f, g, reader->inputs[i]);
      if (maker && !is_step(f, g, maker)) maker = NULL;
    }
    if (!maker) break;
    chain[count++] = maker;
    reader = maker;
  }
  while (count-- > 0) {
    if (g->count >= MOST_STEPS || !is_step(f, g, chain[count])) break;
    TRY(take(f, g, chain[count], f->made_at[chain[count]->outputs[0]->index]));
  }
  return HONE_OK;
}

/* Only the last value is read outside. */
static bool is_closed(const struct group *g) {
  for (size_t i = 0; i + 1 < g->count; i++)
    if (g->left[i] || g->values[i]->is_output) return false;
  return true;
}

struct closed {
  size_t count, inputs, fused_inputs, steps;
};

static hone_status grow(struct fuser *f, struct group *g, struct closed *closed) {
  *closed = (struct closed){1, g->inputs.count, g->fused_inputs, g->steps.count};
  while (g->count <= MOST_STEPS) {
    uint32_t position = next_reader(f, g);
    if (position == UINT32_MAX) break;
    const struct node *node = f->graph->nodes.at[position];
    if (!node || !is_step(f, g, node)) break; /* its operand stays open for ever */
    if (g->root->op->class != OP_ELEMENTWISE) TRY(take_makers(f, g, node));
    if (g->count > MOST_STEPS || !is_step(f, g, node)) break;
    TRY(take(f, g, node, position));
    if (is_closed(g))
      *closed = (struct closed){g->count, g->inputs.count, g->fused_inputs, g->steps.count};
  }
  return HONE_OK;
}

/* The root takes the steps, the last value and the last place; the nodes taken are gone. */
static void commit(struct fuser *f, struct group *g, const struct closed *closed) {
  struct node *root = g->root;
  for (size_t i = 1; i < closed->count; i++) f->graph->nodes.at[g->positions[i]] = NULL;
  for (size_t i = 0; i < closed->count; i++) g->values[i]->producer = NULL;
  f->graph->nodes.at[g->position] = NULL;
  f->graph->nodes.at[g->positions[closed->count - 1]] = root;
  root->outputs[0] = g->values[closed->count - 1];
  root->outputs[0]->producer = root;
  root->inputs = g->inputs.at;
  root->input_count = closed->inputs;
  root->fused_input_count = closed->fused_inputs;
  root->fused = g->steps.at;
  root->fused_count = closed->steps;
  f->changes += closed->count - 1;
}

static hone_status fuse_at(struct fuser *f, uint32_t position, bool elementwise) {
  struct node *root = f->graph->nodes.at[position];
  struct group group;
  struct closed closed;
  if (!root || !root->output_count || !graph_owns(f->graph, root->outputs[0]) ||
      root->outputs[0]->is_output || (root->op->class == OP_ELEMENTWISE) != elementwise)
    return HONE_OK;
  TRY(begin(f, &group, root, position));
  TRY(grow(f, &group, &closed));
  if (closed.count > 1) commit(f, &group, &closed);
  return HONE_OK;
}

static hone_status fuse_all(struct fuser *f) {
  size_t count = f->graph->nodes.count;
  TRY(graph_uses(f->ctx, f->scratch, f->graph, &f->uses));
  TRY(graph_find_readers(f->ctx, f->scratch, f->graph, &f->readers));
  TRY(find_producers(f));
  for (size_t n = count; n-- > 0;) TRY(fuse_at(f, (uint32_t)n, false));
  for (size_t n = 0; n < count; n++) TRY(fuse_at(f, (uint32_t)n, true));
  return HONE_OK;
}

/* needs: shapes, order. keeps: order, shapes. breaks: uses, value indices. */
hone_status pass_fuse_elementwise(struct ctx *ctx, struct graph *graph, const struct pass_env *env,
                                  size_t *out_changes) {
  struct fuser f = {.ctx = ctx, .graph = graph, .env = env, .value_count = graph->values.count};
  size_t removed;
  *out_changes = 0;
  if (!env->accepts_fused) return HONE_OK;
  TRY(arena_create(ctx, 0, &f.scratch));
  hone_status status = fuse_all(&f);
  arena_destroy(f.scratch);
  TRY(status);
  *out_changes = f.changes;
  return f.changes ? graph_sweep(ctx, graph, &removed) : HONE_OK;
}
