/* Chooses the recipe, and the nodes that stay in float. Every candidate is compiled with hone's own
 * integer kernels, and its error is measured at its outputs on the samples. If int8 exceeds a
 * bound, nodes return to float, those first that alone have the largest error; a binary search
 * finds how many.
 */
#include "quantise_internal.h"

#include <math.h>
#include <stdlib.h>

struct search {
  struct ctx *ctx;
  struct arena *arena;
  const struct quantise_options *options;
  struct quantise_report *report;
  struct form {
    struct graph *graph;
    struct sites sites;
    struct observed observed;
    bool is_there;
  } forms[2]; /* unchanged, and equalised */
};

static hone_status make_form(struct search *s, const struct graph *graph, bool equalises) {
  struct form *form = &s->forms[equalises];
  size_t pairs = 0;
  if (form->is_there) return HONE_OK;
  TRY(prepare(s->ctx, s->arena, graph, &form->graph));
  if (equalises) TRY(equalise(s->ctx, form->graph, &pairs));
  if (equalises && !pairs) return HONE_OK; /* nothing to try */
  TRY(sites_find(s->ctx, s->arena, form->graph, &form->sites));
  TRY(observe(s->ctx, s->arena, &form->sites, s->options, &form->observed));
  form->is_there = true;
  return HONE_OK;
}

/* Errors are relative to the outputs of the unchanged float graph. out_graph NULL: the graph is
   discarded. */
static hone_status try_recipe(struct search *s, const struct recipe *recipe,
                              struct graph **out_graph, struct quantise_error *out) {
  struct form *form = &s->forms[recipe->equalises];
  struct arena *arena = s->arena, *own = NULL;
  struct graph *graph = NULL;
  ranges_choose(&form->sites, recipe->range);
  if (!out_graph) TRY(arena_create(s->ctx, (size_t)64 << 30, &own));
  hone_status status = insert(s->ctx, own ? own : arena, &form->sites, recipe, &graph);
  if (!status) status = measure(s->ctx, graph, s->options, &s->forms[0].observed, false, out);
  if (out_graph) *out_graph = graph;
  arena_destroy(own);
  return status;
}

static bool holds(const struct quantise_options *o, const struct quantise_error *e) {
  return (o->max_error <= 0 || e->relative_l2 <= o->max_error) &&
         (o->min_agreement <= 0 || isnan(e->agreement) || e->agreement >= o->min_agreement);
}

static bool has_bound(const struct quantise_options *o) {
  return o->max_error > 0 || o->min_agreement > 0;
}

static hone_status find_recipe(struct search *s, const struct graph *graph) {
  double least = INFINITY;
  const size_t total = RANGE_METHOD_COUNT * 4;
  for (size_t i = 0; i < total; i++) {
    const struct recipe recipe = {.range = (enum range_method)(i % RANGE_METHOD_COUNT),
                                  .corrects_bias = i / RANGE_METHOD_COUNT % 2 != 0,
                                  .equalises = i / RANGE_METHOD_COUNT / 2 != 0};
    struct quantise_error error;
    if (s->options->progress) s->options->progress(s->options->user, "recipe", i + 1, total);
    TRY(make_form(s, graph, recipe.equalises));
    if (!s->forms[recipe.equalises].is_there) break;
    TRY(try_recipe(s, &recipe, NULL, &error));
    s->report->recipes_tried++;
    if (error.relative_l2 < least) {
      least = error.relative_l2;
      s->report->recipe = recipe;
    }
  }
  return HONE_OK;
}

/* -- nodes that stay in float */

struct ranked {
  size_t node;
  double error;
};

static int by_harm(const void *a, const void *b) {
  const struct ranked *x = a, *y = b;
  if (x->error != y->error) return x->error < y->error ? 1 : -1;
  return x->node < y->node ? -1 : x->node > y->node;
}

static hone_status rank_products(struct search *s, struct ranked **out, size_t *out_count) {
  struct sites *sites = &s->forms[s->report->recipe.equalises].sites;
  const size_t nodes = sites->graph->nodes.count;
  size_t count = 0;
  TRY(NEW_ARRAY(s->ctx, s->arena, *out, s->report->products));
  for (size_t n = 0; n < nodes; n++) {
    struct quantise_error error;
    if (sites->nodes[n].role != ROLE_PRODUCT) continue;
    if (s->options->progress)
      s->options->progress(s->options->user, "sensitivity", count + 1, s->report->products);
    for (size_t k = 0; k < nodes; k++) sites->nodes[k].is_kept_float = k != n;
    sites_decide(sites);
    TRY(try_recipe(s, &s->report->recipe, NULL, &error));
    (*out)[count++] = (struct ranked){n, error.relative_l2};
  }
  qsort(*out, count, sizeof **out, by_harm);
  *out_count = count;
  return HONE_OK;
}

static hone_status with_kept(struct search *s, const struct ranked *ranked, size_t kept,
                             struct graph **out, struct quantise_error *out_error) {
  struct sites *sites = &s->forms[s->report->recipe.equalises].sites;
  for (size_t k = 0; k < sites->graph->nodes.count; k++) sites->nodes[k].is_kept_float = false;
  for (size_t i = 0; i < kept; i++) sites->nodes[ranked[i].node].is_kept_float = true;
  sites_decide(sites);
  return try_recipe(s, &s->report->recipe, out, out_error);
}

static hone_status keep_some(struct search *s, struct graph **out) {
  struct ranked *ranked;
  size_t count, low = 1, high;
  TRY(rank_products(s, &ranked, &count));
  high = count; /* all of them: float */
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    struct quantise_error error;
    if (s->options->progress)
      s->options->progress(s->options->user, "kept in float", middle, count);
    TRY(with_kept(s, ranked, middle, NULL, &error));
    if (holds(s->options, &error))
      high = middle;
    else
      low = middle + 1;
  }
  if (high == count)
    return advise(
        s->ctx,
        fail(s->ctx, HONE_E_ACCURACY, place_none(),
             "no matmul or convolution can be int8 within the bound; the least harmful one alone "
             "gives relative L2 %.3g",
             count ? ranked[count - 1].error : 0.0),
        "allow a larger --max-error or a smaller --min-agreement");
  const struct graph *graph = s->forms[s->report->recipe.equalises].graph;
  for (size_t i = 0; i < high; i++)
    VEC_PUSH(s->ctx, s->arena, &s->report->kept,
             (struct kept_float){graph->nodes.at[ranked[i].node]->name, ranked[i].error});
  return with_kept(s, ranked, high, out, &s->report->calibration);
}

static void count_products(struct search *s) {
  const struct sites *sites = &s->forms[0].sites;
  for (size_t n = 0; n < sites->graph->nodes.count; n++)
    s->report->products += sites->nodes[n].role == ROLE_PRODUCT;
}

/* Quantising a quantised model would only add a second rounding. */
static hone_status check_float(struct ctx *ctx, const struct graph *graph) {
  static const enum op_id quantised[] = {OP_QuantizeLinear, OP_QLinearConv, OP_QLinearMatMul,
                                         OP_ConvInteger, OP_MatMulInteger};
  for (size_t n = 0; n < graph->nodes.count; n++)
    for (size_t i = 0; i < COUNT(quantised); i++)
      if (is_op(graph->nodes.at[n], quantised[i]))
        return advise(ctx,
                      fail(ctx, HONE_E_UNSUP, node_place(graph->nodes.at[n]),
                           "the model is already quantised"),
                      "give the original float model");
  return HONE_OK;
}

hone_status quantise_int8(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                          const struct quantise_options *options, struct graph **out,
                          struct quantise_report *report) {
  struct search s = {.ctx = ctx, .arena = arena, .options = options, .report = report};
  *report = (struct quantise_report){0};
  if (!options->samples->count)
    return fail(ctx, HONE_E_USAGE, place_none(),
                "ranges are computed from samples, but none are given");
  TRY(check_float(ctx, graph));
  TRY(make_form(&s, graph, false));
  count_products(&s);
  if (!report->products)
    return fail(ctx, HONE_E_UNSUP, place_none(),
                "the model has no Conv, Gemm or MatMul of f32 with constant weights");
  if (options->recipe) {
    report->recipe = *options->recipe;
    TRY(make_form(&s, graph, report->recipe.equalises));
    if (!s.forms[report->recipe.equalises].is_there) report->recipe.equalises = false;
  } else {
    TRY(find_recipe(&s, graph));
  }
  TRY(try_recipe(&s, &report->recipe, out, &report->calibration));
  if (has_bound(options) && !holds(options, &report->calibration)) TRY(keep_some(&s, out));
  report->quantised_products = report->products - report->kept.count;
  if (!is_held_out(options, 4)) return HONE_OK;
  return measure(ctx, *out, options, &s.forms[0].observed, true, &report->held_out);
}
