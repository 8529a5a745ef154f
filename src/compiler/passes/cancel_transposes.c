/* cancel-transposes: two Transposes in a row become one or none. A pair of inverse Transposes also
 * cancels through elementwise operators between them, whose constants are transposed instead. Two
 * with the same order that meet in an elementwise operator become one after it. Models converted
 * from channels-last formats are full of these.
 */
#include "rewrite.h"

enum { LONGEST_CHAIN = 16 };

static void read_perm(const struct node *node, int perm[HONE_MAX_RANK]) {
  size_t count;
  const int64_t *ints = node_ints(node, "perm", &count);
  int rank = node->inputs[0]->shape.rank;
  for (int i = 0; i < rank; i++) perm[i] = ints && (int)count == rank ? (int)ints[i] : rank - 1 - i;
}

static bool are_inverse(const int *first, const int *second, int rank) {
  for (int i = 0; i < rank; i++)
    if (first[second[i]] != i) return false;
  return true;
}

static struct value *transpose(struct rewrite *r, struct value *x, const int *perm) {
  int64_t ints[HONE_MAX_RANK];
  for (int i = 0; i < x->shape.rank; i++) ints[i] = perm[i];
  return x_transpose(r->b, x, ints);
}

/* -- Transpose(Transpose(x)) */

static hone_status compose(struct rewrite *r, const struct node *first, const struct node *second) {
  int p[HONE_MAX_RANK], q[HONE_MAX_RANK], both[HONE_MAX_RANK], rank = first->inputs[0]->shape.rank;
  struct value *y = first->inputs[0];
  read_perm(first, p);
  read_perm(second, q);
  for (int i = 0; i < rank; i++) both[i] = p[q[i]];
  if (!are_inverse(p, q, rank)) y = transpose(r, y, both);
  return rewrite_replace(r, second->outputs[0], y);
}

/* -- elementwise in between */

/* True if a constant can be transposed by a reshape: at most one dimension is above 1. */
static bool turns_freely(const struct value *constant) {
  int large = 0;
  if (!constant->constant) return false;
  for (int i = 0; i < constant->shape.rank; i++) large += constant->shape.dims[i] != 1;
  return large <= 1;
}

static bool is_link(const struct node *node) {
  return node->op->class == OP_ELEMENTWISE && node->op->expression && node->input_count >= 1 &&
         node->output_count == 1;
}

static bool find_chain_input(const struct node *node, size_t *out) {
  size_t found = SIZE_MAX;
  for (size_t i = 0; i < elementwise_operands(node); i++) {
    const struct value *in = node->inputs[i];
    if (!in) return false;
    if (turns_freely(in) && in->shape.rank <= node->outputs[0]->shape.rank) continue;
    if (found != SIZE_MAX) return false;
    found = i;
  }
  if (found == SIZE_MAX || !shape_equal(&node->inputs[found]->shape, &node->outputs[0]->shape))
    return false;
  *out = found;
  return true;
}

/* The constant as needed before the Transpose: dimension perm[i] gets dimension i. */
static hone_status turn_back(struct rewrite *r, const struct value *from, const int *perm, int rank,
                             struct value **out) {
  struct shape shape = {.rank = rank};
  int shift = rank - from->shape.rank;
  for (int i = 0; i < rank; i++) shape.dims[perm[i]] = i < shift ? 1 : from->shape.dims[i - shift];
  struct tensor *tensor;
  TRY(NEW(r->ctx, r->graph->arena, tensor));
  *tensor = *from->constant; /* one long dimension: the same bytes */
  tensor->shape = shape;
  return graph_constant(r->ctx, r->graph, NULL, tensor, out);
}

static hone_status rebuild_link(struct rewrite *r, const struct node *old, size_t chain_input,
                                struct value *x, const int *perm, struct value **out) {
  struct value *in[8];
  int rank = old->outputs[0]->shape.rank;
  for (size_t i = 0; i < old->input_count; i++) {
    in[i] = old->inputs[i];
    if (i == chain_input)
      in[i] = x;
    else if (i < elementwise_operands(old) && tensor_count(in[i]->constant) != 1)
      TRY(turn_back(r, in[i], perm, rank, &in[i]));
  }
  return x_give(r->b, out, x_like(r->b, old, old->op->id, in, old->input_count));
}

struct chain {
  size_t count;
  struct node *links[LONGEST_CHAIN]; /* from the last to the first */
  size_t inputs[LONGEST_CHAIN];
  struct node *first; /* the Transpose before the chain */
};

static bool find_chain(const struct rewrite *r, const struct node *second, struct chain *chain) {
  const struct value *value = second->inputs[0];
  for (chain->count = 0;; chain->count++) {
    struct node *node = value->producer;
    if (!node || !rewrite_single_use(r, value)) return false;
    chain->first = producer_of(value, OP_Transpose);
    if (chain->first) return chain->count > 0;
    size_t *input = &chain->inputs[chain->count];
    if (chain->count == LONGEST_CHAIN || !is_link(node) || node->input_count > 8 ||
        !find_chain_input(node, input))
      return false;
    chain->links[chain->count] = node;
    value = node->inputs[*input];
  }
}

static hone_status cancel_through(struct rewrite *r, const struct node *second) {
  struct chain chain;
  int p[HONE_MAX_RANK], q[HONE_MAX_RANK];
  if (!find_chain(r, second, &chain)) return HONE_OK;
  read_perm(chain.first, p);
  read_perm(second, q);
  if (!are_inverse(p, q, second->inputs[0]->shape.rank)) return HONE_OK;
  struct value *x = chain.first->inputs[0];
  for (size_t i = chain.count; i-- > 0;)
    TRY(rebuild_link(r, chain.links[i], chain.inputs[i], x, p, &x));
  return rewrite_replace(r, second->outputs[0], x);
}

/* -- two Transposes that meet */

static hone_status join(struct rewrite *r, struct node *node) {
  int p[HONE_MAX_RANK], q[HONE_MAX_RANK];
  if (!is_link(node) || node->input_count != 2) return HONE_OK;
  struct node *a = producer_of(node->inputs[0], OP_Transpose),
              *b = producer_of(node->inputs[1], OP_Transpose);
  if (!a || !b || a == b || !rewrite_single_use(r, node->inputs[0]) ||
      !rewrite_single_use(r, node->inputs[1]) ||
      !shape_equal(&node->inputs[0]->shape, &node->inputs[1]->shape))
    return HONE_OK;
  read_perm(a, p);
  read_perm(b, q);
  if (memcmp(p, q, sizeof(int) * (size_t)a->inputs[0]->shape.rank) != 0) return HONE_OK;
  return rewrite_replace(
      r, node->outputs[0],
      transpose(r, x_like(r->b, node, node->op->id, VALUES(a->inputs[0], b->inputs[0])), p));
}

static hone_status visit(struct rewrite *r, struct node *node) {
  if (!is_op(node, OP_Transpose)) return join(r, node);
  struct node *first = producer_of(node->inputs[0], OP_Transpose);
  return first ? compose(r, first, node) : cancel_through(r, node);
}

/* Each round may bring two more together. needs: shapes. keeps: order, shapes. breaks: uses. */
hone_status pass_cancel_transposes(struct ctx *ctx, struct graph *graph, size_t *out_changes) {
  *out_changes = 0;
  for (int64_t round = 0; round < ctx->limits[LIMIT_pass_rounds]; round++) {
    size_t changes;
    TRY(rewrite_nodes(ctx, graph, visit, &changes));
    *out_changes += changes;
    if (!changes) break;
  }
  return HONE_OK;
}
