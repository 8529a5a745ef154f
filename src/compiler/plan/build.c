/* Builds a plan from a graph; all stages on one screen. Views follow NumPy's strided arrays: the
 * physical order of a value is the order in which its producer writes it.
 */
#include "builder.h"

/* Strings are stored after all buffers, as the last part of the arena. */
static hone_status place_strings(struct ctx *ctx, struct plan *plan) {
  bool has_strings = false;
  for (size_t i = 0; i < plan->steps.count && !has_strings; i++)
    for (size_t k = 0; k < plan->steps.at[i]->output_count; k++)
      has_strings |= plan->steps.at[i]->outputs[k].dtype == HONE_STRING;
  if (!has_strings) return HONE_OK;
  plan->string_offset = plan->arena_bytes;
  plan->string_bytes = (size_t)ctx->limits[LIMIT_text_bytes];
  if (!checked_add(plan->arena_bytes, plan->string_bytes, &plan->arena_bytes) ||
      !checked_align(plan->arena_bytes, 64, &plan->arena_bytes))
    return fail(ctx, HONE_E_LIMIT, place_none(), "the arena is too large");
  return HONE_OK;
}

/* Uses in-place writes only if they do not increase the arena. */
static hone_status place_buffers(struct ctx *ctx, struct arena *arena, struct plan *plan) {
  TRY(plan_memory(ctx, arena, plan));
  size_t apart = plan->arena_bytes;
  if (!write_in_place(plan)) return HONE_OK;
  TRY(plan_memory(ctx, arena, plan));
  if (plan->arena_bytes <= apart) return HONE_OK;
  undo_in_place(plan);
  return plan_memory(ctx, arena, plan);
}

hone_status plan_build(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                       const struct plan_options *options, struct plan **out) {
  struct plan *plan;
  TRY(NEW(ctx, arena, plan));
  plan->name = graph->name;
  plan->symbols = graph->symbols;
  plan->extent_count = graph->extents.count;
  schedule_init(&plan->schedule, options->target, options->threads, options->prefers_size,
                options->choices);
  struct builder b = {.ctx = ctx, .arena = arena, .graph = graph, .plan = plan, .options = options};
  TRY(prepare_graph(&b));
  TRY(bind_inputs(&b));
  TRY(make_strings(&b));
  TRY(lower_graph(&b));
  b.is_open = b.fills = false;
  TRY(bind_outputs(&b));
  TRY(check_least_sizes(&b));
  /* room for more threads than planned for, but not for every machine's core count */
  plan->scratch_threads = options->threads > 4 ? options->threads : 4;
  join_steps(plan);
  set_lifetimes(plan);
  set_chunks(plan);
  TRY(dedup_weights(ctx, arena, plan));
  find_tables(plan);
  TRY(place_buffers(ctx, arena, plan));
  TRY(place_strings(ctx, plan));
  *out = plan;
  return HONE_OK;
}
