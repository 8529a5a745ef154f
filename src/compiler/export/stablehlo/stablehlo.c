/* Graph to StableHLO: one function @main with the graph's inputs and outputs, and weights as
 * constants.
 *
 * Shapes are fixed. An operator without a rule is E_UNSUP with its name. The same graph gives the
 * same bytes. */
#include "stablehlo.h"

static hone_status put_inputs(struct hlo *h, const struct graph *graph) {
  strbuf_puts(h->out, "module {\n  func.func @main(");
  for (size_t i = 0; i < graph->inputs.count; i++) {
    const struct value *value = graph->inputs.at[i];
    TRY(hlo_check(h, value));
    struct term *term = hlo_term(h, value);
    *term = (struct term){++h->fresh, value->dtype, value->shape};
    if (i) strbuf_puts(h->out, ", ");
    hlo_put_terms(h->out, term, 1, true, true);
  }
  strbuf_puts(h->out, ") -> (");
  for (size_t i = 0; i < graph->outputs.count; i++) {
    TRY(hlo_check(h, graph->outputs.at[i]));
    if (i) strbuf_puts(h->out, ", ");
    hlo_put_type(h->out, graph->outputs.at[i]->dtype, &graph->outputs.at[i]->shape);
  }
  strbuf_puts(h->out, ") {\n");
  return HONE_OK;
}

static hone_status put_outputs(struct hlo *h, const struct graph *graph) {
  struct term *terms;
  TRY(NEW_ARRAY(h->ctx, h->arena, terms, graph->outputs.count + 1));
  for (size_t i = 0; i < graph->outputs.count; i++)
    TRY(hlo_value(h, graph->outputs.at[i], &terms[i]));
  strbuf_puts(h->out, "    \"func.return\"(");
  hlo_put_terms(h->out, terms, graph->outputs.count, true, false);
  strbuf_puts(h->out, ") : (");
  hlo_put_terms(h->out, terms, graph->outputs.count, false, true);
  strbuf_puts(h->out, ") -> ()\n  }\n}\n");
  return HONE_OK;
}

/* "Resize (2): why; NonZero (1): why" */
static hone_status report_missing(struct hlo *h) {
  const struct node *first = NULL;
  struct strbuf words = {0};
  for (size_t op = 0; op < OP_COUNT; op++) {
    const struct hlo_missing *missing = &h->missing[op];
    if (!missing->count) continue;
    strbuf_printf(&words, "%s%s (%zu): %s", first ? "; " : "", op_table[op].name, missing->count,
                  missing->why);
    if (!first) first = missing->first;
  }
  if (!first) return HONE_OK;
  const hone_status status =
      fail(h->ctx, HONE_E_UNSUP, node_place(first), "without a rule: %s", words.at ? words.at : "");
  strbuf_deinit(&words);
  return status;
}

static hone_status put_graph(struct hlo *h, const struct graph *graph) {
  TRY(NEW_ARRAY(h->ctx, h->arena, h->missing, OP_COUNT));
  TRY(hlo_enter(h, graph));
  TRY(put_inputs(h, graph));
  TRY(hlo_nodes(h));
  TRY(report_missing(h));
  TRY(put_outputs(h, graph));
  return strbuf_finish(h->ctx, h->out);
}

hone_status export_stablehlo(struct ctx *ctx, const struct graph *graph, struct strbuf *out) {
  struct hlo h = {.ctx = ctx, .out = out, .rule = hlo_node};
  TRY(arena_create(ctx, 0, &h.arena));
  const hone_status status = put_graph(&h, graph);
  arena_destroy(h.arena);
  return status;
}
