/* The nodes of a graph, and rules of If and Loop: regions that read values from outside, with the
 * semantics of src/core/ops/reference.c. Loop-carried values keep type and shape; scan outputs need
 * a known number of iterations. */
#include "stablehlo.h"

/* -- the nodes of a graph */

hone_status hlo_check(struct hlo *h, const struct value *value) {
  if (!hlo_type(value->dtype))
    return fail(h->ctx, HONE_E_UNSUP, place_name(value->name), "StableHLO has no type for %s",
                dtype_name(value->dtype));
  if (value_is_open(value))
    return fail(h->ctx, HONE_E_UNSUP, place_name(value->name),
                "dynamic dimensions are not written");
  return HONE_OK;
}

static hone_status put_node(struct hlo *h, const struct node *node) {
  for (size_t k = 0; k < node->output_count; k++)
    if (node->outputs[k]) TRY(hlo_check(h, node->outputs[k]));
  return h->rule(h, node);
}

/* Records a node without a rule and continues with placeholder results, so that one message lists
 * all of them. */
static void note_missing(struct hlo *h, const struct node *node) {
  static const char prefix[] = "StableHLO: ";
  struct hlo_missing *missing = &h->missing[node->op->id];
  const char *words = strstr(h->ctx->message, ": ");
  words = words ? words + 2 : h->ctx->message;
  if (!strncmp(words, prefix, sizeof prefix - 1)) words += sizeof prefix - 1;
  if (!missing->count++) {
    missing->first = node;
    safe_copy(missing->why, sizeof missing->why, words);
  }
  for (size_t k = 0; k < node->output_count; k++) {
    const struct value *value = node->outputs[k];
    if (value && value->has_shape)
      hlo_bind(h, node, k, (struct term){++h->fresh, value->dtype, value->shape});
  }
  ctx_clear(h->ctx);
}

hone_status hlo_enter(struct hlo *h, const struct graph *graph) {
  struct hlo_scope *scope;
  TRY(NEW(h->ctx, h->arena, scope));
  *scope = (struct hlo_scope){.outer = h->scope, .graph = graph};
  TRY(NEW_ARRAY(h->ctx, h->arena, scope->terms, graph->values.count + 1));
  h->scope = scope;
  return HONE_OK;
}

hone_status hlo_nodes(struct hlo *h) {
  const struct graph *graph = h->scope->graph;
  for (size_t n = 0; n < graph->nodes.count; n++) {
    const struct node *node = graph->nodes.at[n];
    const hone_status status = node ? put_node(h, node) : HONE_OK;
    if (status == HONE_E_UNSUP)
      note_missing(h, node);
    else
      TRY(status);
  }
  return HONE_OK;
}

/* -- loops */

static void put_block(struct hlo *h, const struct hlo_while *w) {
  hlo_rename(h, w->terms, w->count);
  strbuf_puts(h->out, "\n    ^bb0(");
  hlo_put_terms(h->out, w->terms, w->count, true, true);
  strbuf_puts(h->out, "):\n");
}

void hlo_return(struct hlo *h, const struct term *terms, size_t count) {
  strbuf_puts(h->out, "    \"stablehlo.return\"(");
  hlo_put_terms(h->out, terms, count, true, false);
  strbuf_puts(h->out, ") : (");
  hlo_put_terms(h->out, terms, count, false, true);
  strbuf_puts(h->out, ") -> ()\n");
}

void hlo_while_condition(struct hlo *h, struct hlo_while *w) {
  w->results = h->fresh;
  strbuf_puts(h->out, "    ");
  for (size_t i = 0; i < w->count; i++) strbuf_printf(h->out, "%s%%t%u", i ? ", " : "", ++h->fresh);
  strbuf_puts(h->out, " = \"stablehlo.while\"(");
  hlo_put_terms(h->out, w->terms, w->count, true, false);
  strbuf_puts(h->out, ") ({");
  put_block(h, w);
}

void hlo_while_body(struct hlo *h, struct hlo_while *w, struct term goes_on) {
  hlo_return(h, &goes_on, 1);
  strbuf_puts(h->out, "    }, {");
  put_block(h, w);
}

void hlo_while_end(struct hlo *h, struct hlo_while *w) {
  hlo_return(h, w->terms, w->count);
  for (size_t i = 0; i < w->count; i++) w->terms[i].number = w->results + 1 + (uint32_t)i;
  strbuf_puts(h->out, "    }) : (");
  hlo_put_terms(h->out, w->terms, w->count, false, true);
  strbuf_puts(h->out, ") -> (");
  hlo_put_terms(h->out, w->terms, w->count, false, true);
  strbuf_puts(h->out, ")\n");
}

struct term hlo_collect(struct hlo *h, struct term y, struct term x, struct term at) {
  struct term operands[2 + HONE_MAX_RANK] = {y};
  struct shape row = y.shape;
  row.dims[0] = 1;
  operands[1] = hlo_reshape(h, x, &row);
  operands[2] = at;
  const struct term zero = hlo_splat(h, 0, at.dtype, &(struct shape){0});
  for (int d = 1; d < y.shape.rank; d++) operands[2 + d] = zero;
  return hlo_op(h, "stablehlo.dynamic_update_slice", operands, 2 + (size_t)y.shape.rank, NULL, NULL,
                y.dtype, &y.shape);
}

/* -- bodies */

/* Values written in a region are not visible after it. */
static hone_status put_constant_outside(struct hlo *h, const struct value *value) {
  struct term term;
  const bool is_written = value && value->constant && hlo_type(value->dtype) && hlo_term(h, value);
  return is_written ? hlo_value(h, value, &term) : HONE_OK;
}

/* Constants that a body captures are written before it. */
static hone_status put_captured(struct hlo *h, const struct graph *body) {
  struct graph_list graphs;
  TRY(graph_nested(h->ctx, h->arena, body, &graphs));
  for (size_t g = 0; g < graphs.count; g++) {
    const struct graph *graph = graphs.at[g];
    for (size_t n = 0; n < graph->nodes.count; n++) {
      const struct node *node = graph->nodes.at[n];
      for (size_t k = 0; node && k < node->input_count; k++)
        TRY(put_constant_outside(h, node->inputs[k]));
    }
    for (size_t i = 0; i < graph->outputs.count; i++)
      TRY(put_constant_outside(h, graph->outputs.at[i]));
  }
  return HONE_OK;
}

/* Writes the nodes of the innermost graph, a body, and leaves it; its outputs become these
 * terms. */
static hone_status put_body(struct hlo *h, struct term *outputs) {
  const struct graph *body = h->scope->graph;
  TRY(hlo_nodes(h));
  for (size_t i = 0; i < body->outputs.count; i++)
    TRY(hlo_value(h, body->outputs.at[i], &outputs[i]));
  h->scope = h->scope->outer;
  return HONE_OK;
}

static struct term as_scalar(struct hlo *h, struct term x) {
  return hlo_reshape(h, x, &(struct shape){0});
}

/* -- If */

static hone_status put_branch(struct hlo *h, const struct graph *branch, struct term *outputs) {
  TRY(hlo_enter(h, branch));
  return put_body(h, outputs);
}

/* A branch whose shapes do not match can only fail: the other one is written for both. */
static hone_status put_if(struct hlo *h, const struct node *node) {
  const struct graph *branches[] = {node_attribute(node, "then_branch")->graph,
                                    node_attribute(node, "else_branch")->graph};
  const size_t count = node->output_count;
  struct term condition, *results;
  TRY(NEW_ARRAY(h->ctx, h->arena, results, count + 1));
  for (int i = 0; i < 2; i++)
    if (branches[i]->impossible) {
      TRY(put_captured(h, branches[!i]));
      TRY(put_branch(h, branches[!i], results));
      for (size_t k = 0; k < count; k++) hlo_bind(h, node, k, results[k]);
      return HONE_OK;
    }
  TRY(hlo_input(h, node, 0, &condition));
  condition = as_scalar(h, condition);
  for (int i = 0; i < 2; i++) TRY(put_captured(h, branches[i]));
  const uint32_t first = h->fresh + 1;
  strbuf_puts(h->out, "    ");
  for (size_t k = 0; k < count; k++) strbuf_printf(h->out, "%s%%t%u", k ? ", " : "", ++h->fresh);
  strbuf_printf(h->out, "%s\"stablehlo.if\"(%%t%u) ({\n", count ? " = " : "", condition.number);
  for (int i = 0; i < 2; i++) {
    if (i) strbuf_puts(h->out, "    }, {\n");
    TRY(put_branch(h, branches[i], results));
    hlo_return(h, results, count);
  }
  strbuf_puts(h->out, "    }) : (tensor<i1>) -> (");
  hlo_put_terms(h->out, results, count, false, true);
  strbuf_puts(h->out, ")\n");
  for (size_t k = 0; k < count; k++) {
    results[k].number = first + (uint32_t)k;
    hlo_bind(h, node, k, results[k]);
  }
  return HONE_OK;
}

/* -- Loop */

enum { TRIP, GOES, CARRIED };

/* Iterations done, the condition, loop-carried values, scan outputs. */
static hone_status begin_loop(struct hlo *h, const struct node *node, size_t states,
                              struct term *terms) {
  const struct shape scalar = {0};
  terms[TRIP] = hlo_splat(h, 0, HONE_I64, &scalar);
  terms[GOES] = hlo_splat(h, 1, HONE_BOOL, &scalar);
  if (node_input(node, GOES)) {
    TRY(hlo_input(h, node, GOES, &terms[GOES]));
    terms[GOES] = as_scalar(h, terms[GOES]);
  }
  for (size_t k = 0; k < states; k++) TRY(hlo_input(h, node, CARRIED + k, &terms[CARRIED + k]));
  for (size_t k = states; k < node->output_count; k++) {
    const struct value *y = node->outputs[k];
    if (!y || y->shape.dims[0] < 1)
      return fail(h->ctx, HONE_E_UNSUP, node_place(node),
                  "StableHLO: Loop with an unused scan output");
    terms[CARRIED + k] = hlo_splat(h, 0, y->dtype, &y->shape);
  }
  return HONE_OK;
}

static hone_status put_turn(struct hlo *h, const struct graph *body, size_t states,
                            struct term *terms) {
  struct term *made, at = terms[TRIP];
  const size_t count = body->outputs.count;
  TRY(NEW_ARRAY(h->ctx, h->arena, made, count + 1));
  TRY(hlo_enter(h, body));
  for (size_t k = 0; k < CARRIED + states; k++)
    h->scope->terms[body->inputs.at[k]->index] = terms[k];
  TRY(put_body(h, made));
  terms[TRIP] = hlo_binary(h, "stablehlo.add", at, hlo_splat(h, 1, HONE_I64, &at.shape));
  terms[GOES] = as_scalar(h, made[0]);
  for (size_t k = 1; k < count; k++)
    terms[GOES + k] = k <= states ? made[k] : hlo_collect(h, terms[GOES + k], made[k], at);
  return HONE_OK;
}

static hone_status put_loop(struct hlo *h, const struct node *node) {
  const struct graph *body = node_attribute(node, "body")->graph;
  const size_t states = node->input_count > CARRIED ? node->input_count - CARRIED : 0;
  struct hlo_while loop = {.count = CARRIED + node->output_count};
  struct term trip = {0};
  TRY(NEW_ARRAY(h->ctx, h->arena, loop.terms, loop.count));
  TRY(begin_loop(h, node, states, loop.terms));
  if (node_input(node, TRIP)) TRY(hlo_input(h, node, TRIP, &trip));
  if (trip.number) trip = as_scalar(h, trip);
  TRY(put_captured(h, body));
  hlo_while_condition(h, &loop);
  struct term goes_on = loop.terms[GOES];
  if (trip.number)
    goes_on = hlo_binary(h, "stablehlo.and", goes_on, hlo_compare(h, "LT", loop.terms[TRIP], trip));
  hlo_while_body(h, &loop, goes_on);
  TRY(put_turn(h, body, states, loop.terms));
  hlo_while_end(h, &loop);
  for (size_t k = 0; k < node->output_count; k++) hlo_bind(h, node, k, loop.terms[CARRIED + k]);
  return HONE_OK;
}

/* -- the table */

const struct hlo_row hlo_control_rules[] = {
    {OP_If, put_if},
    {OP_Loop, put_loop},
    {.rule = NULL},
};
