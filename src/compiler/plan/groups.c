/* Fusion groups: elementwise nodes that follow a node join its program, so that their operands
 * never go through memory. A group begins with one node and takes readers in graph order. It may be
 * closed wherever only its last value is read outside. That covers chains, expressions that read a
 * value twice (GELU), and sums with another tensor (residuals). A node taken later cannot depend on
 * a result of the group, so no cycle can arise.
 *
 * A contraction also takes a producer of an operand of its program, if that has no other reader; a
 * loop does if all of it is arithmetic.
 *
 * Contractions go first, the last one first: if two meet in a sum, the later one takes it, because
 * only then the other operand exists already. Elementwise groups follow in graph order.
 */
#include "builder.h"

enum { MOST_STEPS = 40, MOST_CHAIN = 16 };

struct finder {
  struct builder *b;
  const struct graph *graph;
  struct arena *scratch;
  struct graph_readers readers;
  uint32_t *uses;           /* by value index, of the graph */
  uint32_t *made_at;        /* by value index: position of the producer */
  bool *is_taken;           /* by node position: in a group of several nodes */
  struct fusion_group **at; /* by node position: the group whose last node is there */
};

/* A group while it grows. */
struct growth {
  struct fusion_group group;
  size_t count; /* values of the group: of the first node and of each node taken */
  const struct value *values[MOST_STEPS + 1];
  int args[MOST_STEPS + 1];           /* the argument by which an operation names the value */
  uint32_t left[MOST_STEPS + 1];      /* reads outside the group */
  uint32_t positions[MOST_STEPS + 1]; /* positions of the nodes */
  VEC(const struct value *) operands;
  VEC(struct operation) program;
};

static hone_status find_producers(struct finder *f) {
  TRY(NEW_ARRAY(f->b->ctx, f->scratch, f->made_at, f->graph->values.count + 1));
  for (size_t n = 0; n < f->graph->nodes.count; n++) {
    const struct node *node = f->graph->nodes.at[n];
    for (size_t o = 0; o < node->output_count; o++)
      if (node->outputs[o]) f->made_at[node->outputs[o]->index] = (uint32_t)n;
  }
  return HONE_OK;
}

/* -- growing a group */

static int index_in_group(const struct growth *g, const struct value *value) {
  for (size_t i = 0; i < g->count; i++)
    if (g->values[i] == value) return (int)i;
  return -1;
}

static void add_value(const struct finder *f, struct growth *g, const struct value *value, int arg,
                      uint32_t position) {
  g->values[g->count] = value;
  g->args[g->count] = arg;
  g->positions[g->count] = position;
  g->left[g->count] = f->uses[value->index];
  g->count++;
}

/* The node that makes the value, unless another group of several nodes has it. */
static const struct node *free_maker(const struct finder *f, const struct value *value) {
  return graph_owns(f->graph, value) && value->producer && !f->is_taken[f->made_at[value->index]]
             ? value->producer
             : NULL;
}

static bool is_accepted(const struct finder *f, const struct growth *g, const struct node *node) {
  const struct node *maker = free_maker(f, node->inputs[0]);
  size_t others = 0;
  for (size_t i = 0; i < elementwise_operands(node); i++) {
    if (index_in_group(g, node->inputs[i]) >= 0) continue;
    others++;
    if (!may_take(&g->group, node, node->inputs[i], maker)) return false;
  }
  return others || may_take(&g->group, node, NULL, maker);
}

/* True if the two dimensions are equal, also when symbols are below their bounds. */
static bool same_size(const struct value *a, const struct value *b) {
  static const struct slope fixed;
  if (!shape_equal(&a->shape, &b->shape)) return false;
  for (int d = 0; d < a->shape.rank; d++)
    if (!slope_equal(a->slope ? &a->slope[d] : &fixed, b->slope ? &b->slope[d] : &fixed))
      return false;
  return true;
}

static bool is_next(const struct finder *f, const struct growth *g, const struct node *node) {
  double alpha, beta;
  const struct operation *operation = NULL;
  bool has_form = node->op->expression || node->op->integer || is_op(node, OP_Cast) ||
                  is_op(node, OP_ByteTable);
  if (node->op->class != OP_ELEMENTWISE || !has_form || node->output_count != 1 ||
      !node->outputs[0])
    return false;
  size_t least = is_variadic(node->op) ? 2 : 1, count = elementwise_operands(node);
  if (count < least || count > COUNT(operation->args)) return false;
  for (size_t i = 0; i < count; i++)
    if (!graph_owns(f->graph, node->inputs[i])) return false;
  return same_size(node->outputs[0], g->values[0]) &&
         (is_op(node, OP_Cast) || elementwise_parameters(node, &alpha, &beta)) &&
         is_accepted(f, g, node);
}

static hone_status argument(struct finder *f, struct growth *g, const struct value *value,
                            int *out) {
  int k = index_in_group(g, value);
  if (k >= 0) {
    g->left[k]--;
    *out = g->args[k];
    return HONE_OK;
  }
  for (size_t i = 0; i < g->operands.count; i++)
    if (g->operands.at[i] == value) {
      *out = PROGRAM_INPUT((int)i);
      return HONE_OK;
    }
  VEC_PUSH(f->b->ctx, f->scratch, &g->operands, value);
  *out = PROGRAM_INPUT((int)g->operands.count - 1);
  return HONE_OK;
}

/* Adds one operation; for Max, Min and Sum, one per further operand. */
static hone_status take(struct finder *f, struct growth *g, const struct node *node,
                        uint32_t position) {
  struct operation o = {
      .op = node->op, .dtype = node->outputs[0]->dtype, .table = byte_table_of(node)};
  int count = (int)elementwise_operands(node), args[COUNT(o.args)] = {0};
  o.arg_count = is_variadic(node->op) ? 2 : count;
  if (!is_op(node, OP_Cast) && !elementwise_parameters(node, &o.alpha, &o.beta))
    return fail(f->b->ctx, HONE_E_INTERNAL, node_place(node), "parameters are not known");
  for (int a = 0; a < count; a++) TRY(argument(f, g, node->inputs[a], &args[a]));
  memcpy(o.args, args, sizeof args);
  VEC_PUSH(f->b->ctx, f->scratch, &g->program, o);
  for (int a = o.arg_count; a < count; a++) {
    o.args[0] = (int)g->program.count - 1;
    o.args[1] = args[a];
    VEC_PUSH(f->b->ctx, f->scratch, &g->program, o);
  }
  g->group.operand_count = g->operands.count;
  g->group.operands = g->operands.at;
  g->group.count = g->program.count;
  g->group.program = g->program.at;
  add_value(f, g, node->outputs[0], (int)g->program.count - 1, position);
  return HONE_OK;
}

/* The first reader in graph order of a value that is still read outside. UINT32_MAX: none. */
static uint32_t next_reader(const struct finder *f, const struct growth *g) {
  uint32_t best = UINT32_MAX, last = g->positions[g->count - 1];
  for (size_t i = 0; i < g->count; i++) {
    uint32_t v = g->values[i]->index;
    if (!g->left[i]) continue;
    for (uint32_t k = f->readers.first[v]; k < f->readers.first[v + 1]; k++) {
      uint32_t position = f->readers.at[k];
      /* nodes are taken in order: every candidate comes after the last one taken */
      if (position > last && position < best) best = position;
    }
  }
  return best;
}

/* The elementwise node that makes the value for this group alone; NULL: none. */
static const struct node *maker_of(const struct finder *f, const struct growth *g,
                                   const struct value *value) {
  const struct node *maker = free_maker(f, value);
  bool is_own = maker && maker->op->class == OP_ELEMENTWISE && index_in_group(g, value) < 0;
  return is_own && !value->is_output && f->uses[value->index] == 1 ? maker : NULL;
}

/* Loops take only arithmetic from producers: an operand that is not contiguous would make functions in the same
   loop run element by element. */
static bool is_arithmetic(const struct op *op) {
  enum { MOST_FLOPS = 8 }; /* a division */
  return op->class == OP_ELEMENTWISE && op_flops(op) <= MOST_FLOPS;
}

static bool may_take_makers(const struct growth *g, const struct node *node) {
  const struct op *first = g->group.node->op;
  if (first->class != OP_ELEMENTWISE) return true;
  bool is_cheap = is_arithmetic(first) && is_arithmetic(node->op);
  for (size_t i = 0; is_cheap && i < g->program.count; i++)
    is_cheap = is_arithmetic(g->program.at[i].op);
  return is_cheap;
}

/* How many of the producers are better fused here than left to a contraction before them that
   could fuse them too: minimises the bytes that go through memory. Without such a contraction:
   all. */
static size_t makers_worth_taking(const struct finder *f, const struct growth *g,
                                  const struct node *const *chain, size_t count) {
  const struct node *last = chain[count - 1], *matmul = NULL;
  for (size_t i = 0; i < elementwise_operands(last) && !matmul; i++) {
    const struct value *x = last->inputs[i];
    const struct node *maker = index_in_group(g, x) < 0 ? free_maker(f, x) : NULL;
    if (maker && maker->op->class != OP_ELEMENTWISE && f->uses[x->index] == 1 && !x->is_output &&
        may_take(&(struct fusion_group){.node = maker, .result = x}, last, NULL, maker))
      matmul = maker;
  }
  if (!matmul) return count;
  size_t best = 0;
  unsigned least = dtype_bits(chain[0]->outputs[0]->dtype);
  for (size_t k = 1; k <= count; k++) {
    const struct node *left = k < count ? chain[k] : matmul;
    const unsigned bits = dtype_bits(left->outputs[0]->dtype);
    if (bits < least) least = bits, best = k;
  }
  return best;
}

/* Fuses the producer of an operand of the program (a rescaled residual, the other product of a rotation), so that
   it does not go through memory either. */
static hone_status take_makers(struct finder *f, struct growth *g, const struct node *node) {
  const struct node *chain[MOST_CHAIN], *reader = node;
  size_t count = 0;
  while (count < MOST_CHAIN) {
    const struct node *maker = NULL;
    for (size_t i = 0; i < elementwise_operands(reader) && !maker; i++) {
      maker = maker_of(f, g, reader->inputs[i]);
      if (maker && (!is_next(f, g, maker) || !may_take_makers(g, maker))) maker = NULL;
    }
    if (!maker) break;
    chain[count++] = maker;
    reader = maker;
  }
  if (count) count = makers_worth_taking(f, g, chain, count);
  while (count-- > 0) {
    if (g->count >= MOST_STEPS || !is_next(f, g, chain[count])) break;
    TRY(take(f, g, chain[count], f->made_at[chain[count]->outputs[0]->index]));
  }
  return HONE_OK;
}

/* Only the last value is read outside. */
static bool is_closed(const struct growth *g) {
  for (size_t i = 0; i + 1 < g->count; i++)
    if (g->left[i] || g->values[i]->is_output) return false;
  return true;
}

struct closed {
  size_t count, operands, operations;
};

static hone_status grow(struct finder *f, struct growth *g, struct closed *closed) {
  *closed = (struct closed){.count = 1};
  while (g->count <= MOST_STEPS) {
    uint32_t position = next_reader(f, g);
    if (position == UINT32_MAX || f->is_taken[position]) break;
    const struct node *node = f->graph->nodes.at[position];
    if (!is_next(f, g, node)) break; /* its operand would be read outside forever */
    if (may_take_makers(g, node)) TRY(take_makers(f, g, node));
    if (g->count > MOST_STEPS || !is_next(f, g, node)) break;
    TRY(take(f, g, node, position));
    if (is_closed(g)) *closed = (struct closed){g->count, g->operands.count, g->program.count};
  }
  return HONE_OK;
}

/* -- making the groups */

static hone_status new_group(struct builder *b, const struct node *node,
                             struct fusion_group **out) {
  TRY(NEW(b->ctx, b->arena, *out));
  **out =
      (struct fusion_group){.node = node, .result = node->output_count ? node->outputs[0] : NULL};
  return HONE_OK;
}

/* The group takes the position of its last node, where all of its operands exist. */
static hone_status commit(struct finder *f, const struct growth *g, const struct closed *closed) {
  struct builder *b = f->b;
  struct fusion_group *group;
  const size_t last = closed->count - 1;
  TRY(new_group(b, g->group.node, &group));
  group->result = g->values[last];
  group->operand_count = closed->operands;
  group->count = closed->operations;
  TRY(NEW_ARRAY(b->ctx, b->arena, group->operands, closed->operands));
  TRY(NEW_ARRAY(b->ctx, b->arena, group->program, closed->operations));
  for (size_t i = 0; i < closed->operands; i++) group->operands[i] = g->operands.at[i];
  for (size_t i = 0; i < closed->operations; i++) group->program[i] = g->program.at[i];
  for (size_t i = 0; i < closed->count; i++) f->is_taken[g->positions[i]] = true;
  f->at[g->positions[last]] = group;
  return HONE_OK;
}

static hone_status fuse_at(struct finder *f, uint32_t position, bool elementwise,
                           struct growth *g) {
  const struct node *node = f->graph->nodes.at[position];
  struct closed closed;
  if (f->is_taken[position] || !node->output_count || !graph_owns(f->graph, node->outputs[0]) ||
      node->outputs[0]->is_output || (node->op->class == OP_ELEMENTWISE) != elementwise)
    return HONE_OK;
  g->group = (struct fusion_group){.node = node, .result = node->outputs[0]};
  g->count = g->operands.count = g->program.count = 0;
  add_value(f, g, node->outputs[0], PROGRAM_RAW, position);
  TRY(grow(f, g, &closed));
  return closed.count > 1 ? commit(f, g, &closed) : HONE_OK;
}

static hone_status fuse_all(struct finder *f) {
  const size_t count = f->graph->nodes.count;
  struct growth *g;
  TRY(NEW(f->b->ctx, f->scratch, g));
  TRY(graph_find_readers(f->b->ctx, f->scratch, f->graph, &f->readers));
  TRY(find_producers(f));
  for (size_t n = count; n-- > 0;) TRY(fuse_at(f, (uint32_t)n, false, g));
  for (size_t n = 0; n < count; n++) TRY(fuse_at(f, (uint32_t)n, true, g));
  return HONE_OK;
}

/* Counts the readers of each value: one per group and input or operand. */
static void count_reads(struct builder *b, const struct finder *f) {
  const struct graph *graph = f->graph;
  for (size_t n = 0; n < graph->nodes.count; n++) {
    const struct node *node = graph->nodes.at[n];
    for (size_t k = 0; k < node->input_count; k++)
      if (graph_owns(graph, node->inputs[k])) b->uses[node->inputs[k]->index]--;
  }
  for (size_t n = 0; n < b->groups.count; n++)
    for (size_t k = 0; k < group_input_count(b->groups.at[n]); k++) {
      const struct value *value = group_input(b->groups.at[n], k);
      if (!graph_owns(graph, value)) continue;
      b->uses[value->index]++;
      b->reader[value->index] = b->last_reader[value->index] = b->groups.at[n];
    }
  for (size_t v = 0; v < graph->values.count; v++)
    if (b->uses[v] != 1) b->reader[v] = NULL;
}

static hone_status find(struct finder *f, bool fuses) {
  struct builder *b = f->b;
  const size_t count = f->graph->nodes.count;
  TRY(NEW_ARRAY(b->ctx, f->scratch, f->is_taken, count + 1));
  TRY(NEW_ARRAY(b->ctx, f->scratch, f->at, count + 1));
  TRY(graph_uses(b->ctx, b->arena, f->graph, &b->uses));
  f->uses = b->uses;
  if (fuses) TRY(fuse_all(f));
  for (size_t n = 0; n < count; n++) {
    if (!f->at[n] && f->is_taken[n]) continue;
    if (!f->at[n]) TRY(new_group(b, f->graph->nodes.at[n], &f->at[n]));
    VEC_PUSH(b->ctx, b->arena, &b->groups, f->at[n]);
  }
  count_reads(b, f);
  return HONE_OK;
}

hone_status find_groups(struct builder *b, bool fuses) {
  struct finder f = {.b = b, .graph = b->graph};
  const size_t room = b->graph->values.count + SPARE_VALUES * b->graph->nodes.count;
  TRY(NEW_ARRAY(b->ctx, b->arena, b->values, room));
  TRY(NEW_ARRAY(b->ctx, b->arena, b->reader, room));
  TRY(NEW_ARRAY(b->ctx, b->arena, b->last_reader, room));
  b->value_count = (uint32_t)b->graph->values.count;
  TRY(arena_create(b->ctx, 0, &f.scratch));
  hone_status status = find(&f, fuses);
  arena_destroy(f.scratch);
  return status;
}
