/* Compiles, loads and runs a graph: hone's own compiler is fast enough for calibration. */
#include "quantise_internal.h"

static hone_status load(struct executor *e, const struct graph *graph,
                        const struct compile_options *options) {
  struct compile_options own = *options;
  struct graph *copy;
  own.no_cache = true; /* every graph is compiled once */
  own.keep = own.prefix = own.dump_after = own.stop_after = NULL;
  TRY(graph_copy(e->ctx, e->arena, graph, &copy));
  const struct model model = {.arena = e->arena, .graph = copy};
  return compile_loaded(e->ctx, &model, &own, &e->loaded, &e->team);
}

static hone_status make_places(struct executor *e, const struct graph *graph) {
  TRY(NEW_ARRAY(e->ctx, e->arena, e->outputs, graph->outputs.count));
  for (size_t i = 0; i < graph->outputs.count; i++) {
    const struct value *value = graph->outputs.at[i];
    int64_t elements;
    size_t bytes;
    TRY(extent(e->ctx, place_name(value->name), value->dtype, &value->shape, &elements, &bytes));
    TRY(arena_alloc(e->ctx, e->arena, bytes, 1, &e->outputs[i]));
  }
  return HONE_OK;
}

hone_status executor_open(struct ctx *ctx, const struct graph *graph,
                          const struct compile_options *options, struct executor *out) {
  *out = (struct executor){
      .ctx = ctx, .input_count = graph->inputs.count, .output_count = graph->outputs.count};
  TRY(arena_create(ctx, (size_t)64 << 30, &out->arena));
  TRY(make_places(out, graph));
  return load(out, graph, options);
}

hone_status executor_run(struct executor *e, const hone_tensor *inputs) {
  const void **in;
  struct arena *arena;
  TRY(arena_create(e->ctx, 0, &arena));
  hone_status status = NEW_ARRAY(e->ctx, arena, in, e->input_count);
  for (size_t i = 0; !status && i < e->input_count; i++) in[i] = inputs[i].data;
  const struct hone_io io = {in, e->outputs, NULL, NULL};
  if (!status &&
      e->loaded.info->run(e->loaded.weights, e->loaded.arena, &io, team_interface(e->team)))
    status = fail(e->ctx, HONE_E_SHAPE, place_none(), "an index in the samples is out of range");
  arena_destroy(arena);
  return status;
}

void executor_close(struct executor *e) {
  team_destroy(e->team);
  if (e->loaded.library) artifact_unload(&e->loaded);
  arena_destroy(e->arena);
}
