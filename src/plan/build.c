/* A graph to a plan, on one screen. Source of the view idea: strided tensors as in NumPy; physical
 * order follows the producer. */
#include "builder.h"

hone_status plan_build(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                       const struct plan_options *options, struct plan **out) {
  struct plan *plan;
  TRY(NEW(ctx, arena, plan));
  plan->name = graph->name;
  plan->symbol = graph->symbol;
  plan->target = *options->target;
  kernel_target_init(&plan->kernel_target, options->target, options->threads);
  struct builder b = {.ctx = ctx, .arena = arena, .graph = graph, .plan = plan, .options = options};
  TRY(find_only_readers(&b));
  if (!graph->symbol.bound) TRY(find_borders(&b));
  TRY(bind_inputs(&b));
  for (size_t i = 0; i < graph->nodes.count; i++) TRY(lower_node(&b, graph->nodes.at[i]));
  b.is_open = b.fills = false;
  TRY(bind_outputs(&b));
  /* room for more threads than planned for, but not for every machine's */
  plan->scratch_threads = options->threads > 4 ? options->threads : 4;
  set_lifetimes(plan);
  set_chunks(plan);
  TRY(plan_memory(ctx, arena, plan));
  *out = plan;
  return HONE_OK;
}
