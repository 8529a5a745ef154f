/* Graph to StableHLO: one function @main over the graph's inputs and outputs, weights as constants inside.
 *
 * Shapes are fixed. What has no rule is E_UNSUP with the operator's name. The same graph gives the same
 * bytes.
 */
#include "stablehlo.h"

static hone_status check_value(struct hlo *h, const struct value *value) {
  if (!hlo_type(value->dtype))
    return fail(h->ctx, HONE_E_UNSUP, place_name(value->name), "StableHLO has no type for %s",
                dtype_name(value->dtype));
  if (value_is_open(value))
    return fail(h->ctx, HONE_E_UNSUP, place_name(value->name),
                "a size that is known at run time only is not written");
  return HONE_OK;
}

static hone_status put_inputs(struct hlo *h, const struct graph *graph) {
  text_puts(h->out, "module {\n  func.func @main(");
  for (size_t i = 0; i < graph->inputs.count; i++) {
    const struct value *value = graph->inputs.at[i];
    TRY(check_value(h, value));
    h->terms[value->index] = (struct term){++h->fresh, value->dtype, value->shape};
    text_printf(h->out, "%s%%t%u: ", i ? ", " : "", h->fresh);
    hlo_put_type(h->out, value->dtype, &value->shape);
  }
  text_puts(h->out, ") -> (");
  for (size_t i = 0; i < graph->outputs.count; i++) {
    TRY(check_value(h, graph->outputs.at[i]));
    if (i) text_puts(h->out, ", ");
    hlo_put_type(h->out, graph->outputs.at[i]->dtype, &graph->outputs.at[i]->shape);
  }
  text_puts(h->out, ") {\n");
  return HONE_OK;
}

static hone_status put_outputs(struct hlo *h, const struct graph *graph) {
  for (size_t i = 0; i < graph->outputs.count; i++) {
    const struct value *value = graph->outputs.at[i];
    struct term *term = &h->terms[value->index];
    if (!term->number && value->constant) TRY(hlo_constant(h, value->constant, term));
    if (!term->number)
      return fail(h->ctx, HONE_E_INTERNAL, place_name(value->name), "was not written");
  }
  text_puts(h->out, "    \"func.return\"(");
  for (size_t i = 0; i < graph->outputs.count; i++)
    text_printf(h->out, "%s%%t%u", i ? ", " : "", h->terms[graph->outputs.at[i]->index].number);
  text_puts(h->out, ") : (");
  for (size_t i = 0; i < graph->outputs.count; i++) {
    if (i) text_puts(h->out, ", ");
    hlo_put_type(h->out, graph->outputs.at[i]->dtype, &graph->outputs.at[i]->shape);
  }
  text_puts(h->out, ") -> ()\n  }\n}\n");
  return HONE_OK;
}

static hone_status put_node(struct hlo *h, const struct node *node) {
  for (size_t k = 0; k < node->output_count; k++)
    if (node->outputs[k]) TRY(check_value(h, node->outputs[k]));
  return hlo_node(h, node);
}

/* A node without a rule: noted, and its results are stood in for, so that all that is missing is told at once. */
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
      h->terms[value->index] = (struct term){++h->fresh, value->dtype, value->shape};
  }
  ctx_clear(h->ctx);
}

/* "Resize (2): why; NonZero (1): why" */
static hone_status tell_missing(struct hlo *h) {
  const struct node *first = NULL;
  struct text words = {0};
  for (size_t op = 0; op < OP_COUNT; op++) {
    const struct hlo_missing *missing = &h->missing[op];
    if (!missing->count) continue;
    text_printf(&words, "%s%s (%zu): %s", first ? "; " : "", op_table[op].name, missing->count,
                missing->why);
    if (!first) first = missing->first;
  }
  if (!first) return HONE_OK;
  const hone_status status =
      fail(h->ctx, HONE_E_UNSUP, node_place(first), "without a rule: %s", words.at ? words.at : "");
  text_deinit(&words);
  return status;
}

static hone_status put_graph(struct hlo *h, const struct graph *graph) {
  TRY(NEW_ARRAY(h->ctx, h->arena, h->terms, graph->values.count + 1));
  TRY(NEW_ARRAY(h->ctx, h->arena, h->missing, OP_COUNT));
  TRY(put_inputs(h, graph));
  for (size_t n = 0; n < graph->nodes.count; n++) {
    const struct node *node = graph->nodes.at[n];
    const hone_status status = node ? put_node(h, node) : HONE_OK;
    if (status == HONE_E_UNSUP)
      note_missing(h, node);
    else
      TRY(status);
  }
  TRY(tell_missing(h));
  TRY(put_outputs(h, graph));
  return text_finish(h->ctx, h->out);
}

hone_status export_stablehlo(struct ctx *ctx, const struct graph *graph, struct text *out) {
  struct hlo h = {.ctx = ctx, .out = out};
  TRY(arena_create(ctx, 0, &h.arena));
  const hone_status status = put_graph(&h, graph);
  arena_destroy(h.arena);
  return status;
}
