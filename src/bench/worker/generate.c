/* Opens a configuration that generates text: reads the plan from the command, opens the engine for
 * dynamic dimensions, and compares the first generation with the reference's tokens before timing.
 */
#include "bench/wire/wire.h"
#include "generation.h"
#include "worker_internal.h"

#include <math.h>
#include <stdlib.h>

/* Shapes of later calls, "past[2,P<=47,4]", and those of the first call if they differ; fixed sizes
   with caches of fixed size. */
static hone_status make_shapes(struct ctx *ctx, struct state *state, const char *const *names,
                               int prompt, int count) {
  const struct generation *plan = state->generation;
  struct generation_call call = {1, 1};
  struct strbuf steady = {0}, first = {0};
  const bool grows = !plan->holds;
  if (!plan->cache_count) call = (struct generation_call){0, 1};
  hone_status status =
      generation_shapes(ctx, plan, names, call, grows ? prompt + count - 1 : 0, &steady);
  if (!status && plan->cache_count && grows)
    status = generation_shapes(ctx, plan, names, generation_call(plan, prompt, 0), 0, &first);
  if (!status) {
    free(state->shapes);
    state->shapes = strdup(steady.at ? steady.at : "");
    state->first_shapes = first.at ? strdup(first.at) : NULL;
    if (!state->shapes || (first.at && !state->first_shapes))
      status = fail(ctx, HONE_E_OOM, place_none(), "no memory for a request");
  }
  strbuf_deinit(&steady);
  strbuf_deinit(&first);
  state->request.shapes = state->shapes;
  state->request.first_shapes = state->first_shapes;
  state->request.grows = grows;
  return status;
}

hone_status read_generation(struct ctx *ctx, struct state *state, const json_t *command) {
  const json_t *plan = json_object_get(command, "generation");
  const json_t *inputs = json_object_get(command, "inputs");
  if (!plan) return HONE_OK;
  state->generation = calloc(1, sizeof *state->generation);
  const char **names = calloc(json_array_size(inputs) + 1, sizeof *names);
  hone_status status = HONE_OK;
  if (!state->generation || !names)
    status = fail(ctx, HONE_E_OOM, place_none(), "no memory for a request");
  else if (!generation_unpack(plan, state->generation) ||
           state->generation->input_count != json_array_size(inputs))
    status = fail(ctx, HONE_E_INTERNAL, place_none(), "the command's generation plan is invalid");
  for (size_t i = 0; names && i < json_array_size(inputs); i++)
    names[i] = json_string_value(json_array_get(inputs, i));
  if (state->backend->extend) state->request.text_tokens = message_int(command, "text_tokens", 0);
  if (!status && !state->request.text_tokens)
    status = make_shapes(ctx, state, names, (int)message_int(command, "prompt", 1),
                         (int)message_int(command, "count", 1));
  free(names);
  return status;
}

static hone_status find_places(struct ctx *ctx, struct state *state, const json_t *command) {
  const struct backend_io *io = &state->io;
  state->input_place = calloc(io->input_count + 1, sizeof *state->input_place);
  state->output_place = calloc(io->output_count + 1, sizeof *state->output_place);
  if (!state->input_place || !state->output_place)
    return fail(ctx, HONE_E_OOM, place_none(), "no memory for a generation");
  for (size_t i = 0; i < io->input_count; i++)
    state->input_place[i] =
        (int)find_named(json_object_get(command, "inputs"), io->inputs[i].name, i);
  for (size_t i = 0; i < io->output_count; i++)
    state->output_place[i] =
        (int)find_named(json_object_get(command, "outputs"), io->outputs[i].name, i);
  return HONE_OK;
}

hone_status begin_generation(struct ctx *ctx, struct state *state, const json_t *command) {
  TRY(find_places(ctx, state, command));
  const struct generator_spec spec = {.plan = state->generation,
                                      .input_place = state->input_place,
                                      .output_place = state->output_place,
                                      .prompt = message_int(command, "prompt", 1),
                                      .count = message_int(command, "count", 1),
                                      .is_own = state->request.text_tokens > 0,
                                      .limit = message_number(command, "lead_limit"),
                                      .dir = message_text(command, "generation_dir")};
  uint64_t first_ns = 0;
  size_t bytes;
  enter(state, STAGE_run);
  TRY(generator_create(ctx, &state->loop, &spec, &state->loop.generator));
  accuracy_of_tokens(&state->accuracy);
  for (int set = 0; set < BENCH_SETS; set++) {
    uint64_t ns;
    TRY(generate_once(ctx, &state->loop, &state->accuracy, set ? &ns : &first_ns));
    if (set) continue;
    state->first_ms = (double)first_ns / 1e6;
    const void *logits = generator_logits(state->loop.generator, &bytes);
    hash_hex(state->output_hash, logits, bytes);
  }
  enter(state, STAGE_verify);
  if (!state->accuracy.is_within)
    return fail(ctx, HONE_E_ACCURACY, place_none(), "%s", state->accuracy.where);
  enter(state, STAGE_run);
  return HONE_OK;
}

void release_generation(struct state *state) {
  generator_destroy(state->loop.generator);
  free(state->generation);
  free(state->first_shapes);
  free(state->input_place);
  free(state->output_place);
}
