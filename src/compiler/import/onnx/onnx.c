/* onnx: ONNX bytes to a graph, in the order versions, build, infer, upgrade, compare the
 * outputs. */
#include "onnx.h"

/* Compares the file's declared outputs with the inferred ones. Real files contain stale shapes, so
 * a wrong shape is a warning (--strict: an error); a wrong type is an error. */
static hone_status check_output(struct builder *builder, const struct raw_value *said,
                                const struct value *made) {
  struct ctx *ctx = builder->reader.ctx;
  if (said->dtype && said->dtype != made->dtype)
    return fail(ctx, HONE_E_TYPE, place_name(said->name),
                "the output is declared as %s but has type %s", dtype_name(said->dtype),
                dtype_name(made->dtype));
  if (!said->has_shape) return HONE_OK;
  bool same = said->rank == made->shape.rank;
  for (int d = 0; same && d < said->rank; d++)
    same = said->dims[d].value < 0 || said->dims[d].value == made->shape.dims[d];
  if (same) return HONE_OK;
  struct strbuf shape = {0};
  shape_print(&shape, &made->shape);
  hone_status status = strbuf_finish(ctx, &shape);
  if (!status && builder->options->strict)
    status = fail(ctx, HONE_E_SHAPE, place_name(said->name),
                  "the output's declared shape differs from the inferred one: %s", shape.at);
  else if (!status)
    warn(ctx, "output \"%s\": the declared shape differs from the inferred one: %s", said->name,
         shape.at);
  strbuf_deinit(&shape);
  return status;
}

static hone_status check_outputs(struct builder *builder, const struct graph *graph) {
  for (size_t i = 0; i < builder->main.outputs.count;
       i++) /* lists have become several outputs, or none */
    for (size_t k = 0; k < graph->outputs.count; k++)
      if (!strcmp(builder->main.outputs.at[i].name, graph->outputs.at[k]->name))
        TRY(check_output(builder, &builder->main.outputs.at[i], graph->outputs.at[k]));
  return HONE_OK;
}

hone_status read_onnx(struct ctx *ctx, struct arena *arena, const struct source *source,
                      struct graph **out_graph) {
  struct builder builder = {.options = source->options};
  const uint8_t *bytes = source->bytes;
  builder.reader = (struct reader){.ctx = ctx, .arena = arena, .sides = source->sides};
  TRY(build_model(&builder, (struct wire){bytes, bytes + source->size, bytes}, out_graph));
  TRY(graph_infer(ctx, *out_graph));
  TRY(upgrade_finish(&builder, *out_graph));
  return check_outputs(&builder, *out_graph);
}
