/* lower-byte-tables: a function of one 8-bit value becomes a table of 256 entries.
 * y = Quantise(f(Dequantise(x))), f a sigmoid, an erf, a GELU with roundings between  ->  y =
 * table[x]
 * Gather(table of 256 bytes, Cast(x))  ->  y = table[x]
 * The reference computes the entries for the 256 values, so the result is identical bit for bit.
 * Chains of only sums, products and bounds stay: vectorised they are as fast as a table.
 */
#include "rewrite.h"

enum { MOST_NODES = 48, MOST_OPEN = 8 };

/* The nodes between y and the open values; a function of one int8 if that is the only open
   value. */
struct cone {
  const struct value *y;
  const struct node *nodes[MOST_NODES]; /* from y on */
  struct value *open[MOST_OPEN];
  size_t count, open_count;
};

/* -- the nodes that make y */

static bool is_cheap(const struct node *node) {
  static const enum op_id cheap[] = {
      OP_Abs,       OP_Add,         OP_Cast,       OP_CastLike, OP_Clip,       OP_Identity,
      OP_LeakyRelu, OP_Max,         OP_Min,        OP_Mul,      OP_Neg,        OP_Relu,
      OP_Rescale,   OP_RescaleOnce, OP_RescaleUp,  OP_Round,    OP_RoundSteps, OP_Sub,
      OP_Sum,       OP_HardSigmoid, OP_ShiftRight, OP_Where,    OP_Requantize, OP_PRelu,
      OP_Not,       OP_HardSwish};
  for (size_t i = 0; i < COUNT(cheap); i++)
    if (is_op(node, cheap[i])) return true;
  return false;
}

/* Elementwise, of values as large as y and scalar constants. */
static bool is_function(const struct value *y, const struct node *node) {
  if (node->op->class != OP_ELEMENTWISE || node->output_count != 1 || !is_pure(node)) return false;
  for (size_t i = 0; i < node->input_count; i++) {
    const struct value *x = node->inputs[i];
    if (!x) continue;
    const bool fits = x->constant ? tensor_count(x->constant) == 1 && x->shape.rank <= y->shape.rank
                                  : shape_equal(&x->shape, &y->shape);
    if (!fits || x->dtype == HONE_STRING) return false;
  }
  return node->outputs[0]->dtype != HONE_STRING && shape_equal(&node->outputs[0]->shape, &y->shape);
}

static bool has_node(const struct cone *c, const struct node *node) {
  for (size_t i = 0; i < c->count; i++)
    if (c->nodes[i] == node) return true;
  return false;
}

/* Moves the node of the open value k to the nodes, and its inputs to the open values. */
static bool expand(struct cone *c, size_t k) {
  const struct value *value = c->open[k];
  const struct node *node = value->producer;
  if (!node || c->count == MOST_NODES || !is_function(c->y, node)) return false;
  c->open[k] = c->open[--c->open_count];
  if (has_node(c, node)) return true;
  c->nodes[c->count++] = node;
  for (size_t i = 0; i < node->input_count; i++) {
    struct value *x = node->inputs[i];
    bool is_new = x && !x->constant;
    for (size_t j = 0; is_new && j < c->open_count; j++) is_new = c->open[j] != x;
    if (!is_new) continue;
    if (c->open_count == MOST_OPEN) return false;
    c->open[c->open_count++] = x;
  }
  return true;
}

/* Int8 values are expanded last, because one may be the argument of all others; results of
   tables after others. */
static int patience(const struct value *x) {
  return !dtype_is_byte(x->dtype) ? 0 : producer_of(x, OP_ByteTable) ? 1 : 2;
}

static size_t next_open(const struct cone *c) {
  size_t best = 0;
  for (size_t k = 1; k < c->open_count; k++)
    if (patience(c->open[k]) < patience(c->open[best])) best = k;
  return best;
}

/* The largest part of y's nodes that is a function of one int8; *out_nodes: the number of its
   nodes. */
static struct value *find_argument(struct cone *c, size_t *out_nodes) {
  struct value *best = NULL;
  while (c->open_count && expand(c, next_open(c)))
    if (c->open_count == 1 && dtype_is_byte(c->open[0]->dtype)) {
      best = c->open[0];
      *out_nodes = c->count;
    }
  return best;
}

/* -- the table */

struct evaluation {
  struct rewrite *r;
  struct arena *scratch;
  const struct cone *c;
  const struct value *x;
  struct tensor *all;              /* the 256 values, in the order of their bits */
  struct tensor *done[MOST_NODES]; /* by node */
};

static const struct tensor *known(const struct evaluation *e, size_t nodes, const struct value *x) {
  if (x == e->x) return e->all;
  if (x->constant) return x->constant;
  for (size_t i = 0; i < nodes; i++)
    if (e->c->nodes[i]->outputs[0] == x) return e->done[i];
  return NULL;
}

static hone_status evaluate_node(struct evaluation *e, size_t nodes, size_t at) {
  const struct node *node = e->c->nodes[at];
  const struct tensor **in;
  struct tensor *out;
  TRY(NEW_ARRAY(e->r->ctx, e->scratch, in, node->input_count + 1));
  for (size_t i = 0; i < node->input_count; i++) {
    in[i] = node->inputs[i] ? known(e, nodes, node->inputs[i]) : NULL;
    if (node->inputs[i] && !in[i]) return HONE_OK;
  }
  TRY(tensor_create(e->r->ctx, e->scratch, node->outputs[0]->dtype, &e->all->shape, &out));
  TRY(node_evaluate(e->r->ctx, e->scratch, node, in, &out));
  e->done[at] = out;
  return HONE_OK;
}

/* Nodes are unordered: each round evaluates at least one. */
static hone_status evaluate(struct evaluation *e, size_t nodes) {
  struct shape shape = {.rank = e->c->y->shape.rank};
  for (int d = 0; d < shape.rank; d++) shape.dims[d] = d + 1 < shape.rank ? 1 : BYTE_TABLE_ENTRIES;
  TRY(tensor_create(e->r->ctx, e->scratch, e->x->dtype, &shape, &e->all));
  for (int i = 0; i < BYTE_TABLE_ENTRIES; i++)
    tensor_set_i64(e->all, (size_t)i, e->x->dtype == HONE_I8 && i > 127 ? i - 256 : i);
  for (size_t round = 0; round < nodes && !e->done[0]; round++)
    for (size_t at = nodes; at-- > 0;)
      if (!e->done[at]) TRY(evaluate_node(e, nodes, at));
  if (!e->done[0])
    return fail(e->r->ctx, HONE_E_INTERNAL, node_place(e->c->nodes[0]),
                "the function's nodes form a cycle");
  return HONE_OK;
}

static hone_status replace(struct rewrite *r, const struct node *node, struct value *x,
                           const struct tensor *results) {
  int64_t table[BYTE_TABLE_ENTRIES];
  for (size_t i = 0; i < BYTE_TABLE_ENTRIES; i++) table[i] = tensor_i64(results, i);
  return rewrite_replace(
      r, node->outputs[0],
      x_args(r->b, OP_ByteTable, VALUES(x),
             ARGS(INTS_ARG("table", table, BYTE_TABLE_ENTRIES), INT_ARG("to", results->dtype))));
}

static hone_status visit_function(struct rewrite *r, struct node *node) {
  struct cone c = {.y = node->outputs[0], .open = {node->outputs[0]}, .open_count = 1};
  size_t nodes = 0;
  bool is_worth_it = false;
  struct value *x = find_argument(&c, &nodes);
  if (!x || x->constant || (nodes == 1 && is_op(node, OP_ByteTable))) return HONE_OK;
  for (size_t i = 0; i < nodes; i++) is_worth_it |= !is_cheap(c.nodes[i]);
  if (!is_worth_it) return HONE_OK;
  struct evaluation e = {.r = r, .c = &c, .x = x};
  TRY(arena_create(r->ctx, 0, &e.scratch));
  hone_status status = evaluate(&e, nodes);
  if (!status) status = replace(r, node, x, e.done[0]);
  arena_destroy(e.scratch);
  return status;
}

/* The form in which importers write a table. */
static hone_status visit_gather(struct rewrite *r, struct node *node) {
  const struct tensor *table = node->inputs[0]->constant;
  struct node *cast = producer_of(node->inputs[1], OP_Cast);
  if (!table || !dtype_is_byte(table->dtype) || table->shape.rank != 1 ||
      tensor_count(table) != BYTE_TABLE_ENTRIES || !cast || cast->inputs[0]->constant ||
      !dtype_is_byte(cast->inputs[0]->dtype) || !dtype_is_integer(node->inputs[1]->dtype) ||
      dtype_bits(node->inputs[1]->dtype) < 32)
    return HONE_OK;
  return replace(r, node, cast->inputs[0], table); /* a negative index counts from the end */
}

static hone_status visit(struct rewrite *r, struct node *node) {
  const struct value *y = node->output_count == 1 ? node->outputs[0] : NULL;
  if (!y || !dtype_is_byte(y->dtype) || !y->shape.rank) return HONE_OK;
  if (is_op(node, OP_Gather)) return visit_gather(r, node);
  return is_function(y, node) ? visit_function(r, node) : HONE_OK;
}

/* needs: shapes. keeps: order, shapes. breaks: uses. */
hone_status pass_lower_byte_tables(struct ctx *ctx, struct graph *graph, size_t *out_changes) {
  return rewrite_nodes(ctx, graph, visit, out_changes);
}
