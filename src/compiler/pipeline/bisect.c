/* Finds the faulty pass: the reference evaluates the graph after each pass until its outputs are
 * wrong.
 */
#include "pipeline_internal.h"

struct search {
  const struct bisect_options *options;
  struct arena *arena;
  hone_tensor *outputs;
  struct pass_bisection *out;
};

static hone_status make_room(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                             hone_tensor **out) {
  hone_tensor *outputs;
  TRY(NEW_ARRAY(ctx, arena, outputs, graph->outputs.count));
  for (size_t i = 0; i < graph->outputs.count; i++)
    TRY(value_memory(ctx, arena, graph->outputs.at[i], &outputs[i]));
  *out = outputs;
  return HONE_OK;
}

/* A pass may also leave a graph that cannot be evaluated: that counts as its fault. */
static hone_status evaluate(struct search *search, struct ctx *ctx, const struct graph *graph) {
  TRY(graph_verify(ctx, graph));
  for (size_t i = 0; i < graph->outputs.count; i++)
    memcpy(search->outputs[i].shape, graph->outputs.at[i]->shape.dims,
           sizeof search->outputs[i].shape);
  return reference_run(ctx, graph, search->options->inputs, search->outputs);
}

static hone_status after_pass(void *user, struct ctx *ctx, const struct pass *pass,
                              struct graph *graph, size_t changes) {
  struct search *search = user;
  const struct bisect_options *options = search->options;
  if (search->out->pass) return HONE_OK;
  if (options->plant) TRY(options->plant(options->user, ctx, pass, graph));
  if (!changes && !options->plant) return HONE_OK;
  struct ctx quiet = *ctx;
  hone_status status = evaluate(search, &quiet, graph);
  if (status == HONE_E_OOM || status == HONE_E_INTERRUPTED) {
    *ctx = quiet;
    return status;
  }
  search->out->evaluated++;
  if (!status && options->is_right(options->user, search->outputs)) return HONE_OK;
  search->out->pass = pass->name;
  search->out->reason = pass->reason;
  if (status) safe_copy(search->out->words, sizeof search->out->words, quiet.message);
  return HONE_OK;
}

hone_status compile_bisect(struct ctx *ctx, const struct model *model,
                           const struct bisect_options *options, struct pass_bisection *out) {
  struct search search = {.options = options, .out = out};
  struct pipeline_options pipeline = {.after = after_pass, .user = &search};
  struct graph *graph;
  *out = (struct pass_bisection){0};
  TRY(arena_create(ctx, 0, &search.arena));
  hone_status status = graph_copy(ctx, search.arena, model->graph, &graph);
  if (!status) status = make_room(ctx, search.arena, graph, &search.outputs);
  if (!status) status = passes_run(ctx, graph, &pipeline);
  if (status && out->pass) status = HONE_OK; /* a later pass failed on what this one left */
  arena_destroy(search.arena);
  return status;
}
