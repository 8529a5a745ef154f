/* Runs the samples of a labelled set through the open engine, after everything was timed. Their
 * values replace those of the first input set, which is bound again.
 */
#include "bench/wire/wire.h"
#include "worker_internal.h"

#include <stdlib.h>

static hone_status take_input(struct ctx *ctx, struct state *state, const json_t *command,
                              const char *dir, size_t i) {
  const struct backend_tensor *wanted = &state->io.inputs[i];
  hone_tensor *bound = &state->loop.sets[0].inputs[i], given;
  const size_t place = find_named(json_object_get(command, "inputs"), wanted->name, i);
  const struct given folder = {NULL, 0, dir};
  struct arena *arena = NULL;
  char path[4096];
  size_t bytes;
  TRY(given_find(ctx, &folder, wanted->name, place, path));
  if (!path[0])
    return fail(ctx, HONE_E_NOFILE, place_file(dir), "no values for input \"%s\"", wanted->name);
  TRY(tensor_bytes(ctx, wanted->name, bound, &bytes));
  TRY(arena_create(ctx, 0, &arena));
  hone_status status = given_read(ctx, arena, path, wanted->name, bound, &given);
  const bool is_text = bound->dtype == HONE_STRING; /* string tables point into the file's memory */
  if (!status && !is_text) memcpy(bound->data, given.data, bytes);
  arena_destroy(arena);
  if (!status && is_text && !(status = npy_read(ctx, path, bound, &given))) {
    free(bound->data);
    bound->data = given.data;
  }
  return status;
}

static hone_status write_outputs(struct ctx *ctx, struct state *state, const json_t *command,
                                 size_t s) {
  for (size_t i = 0; i < state->io.output_count; i++) {
    char path[4096];
    const size_t place =
        find_named(json_object_get(command, "outputs"), state->io.outputs[i].name, i);
    data_path(path, state->work_dir, "task", (int)s, place);
    TRY(npy_write(ctx, path, &state->loop.sets[0].outputs[i]));
  }
  return HONE_OK;
}

static hone_status run_sample(struct ctx *ctx, struct state *state, const json_t *command,
                              size_t s) {
  const struct run_set *set = &state->loop.sets[0];
  char dir[4096 + 512];
  snprintf(dir, sizeof dir, "%s/%.500s", message_text(command, "folder"),
           json_string_value(json_array_get(json_object_get(command, "samples"), s)));
  for (size_t i = 0; i < state->io.input_count; i++) TRY(take_input(ctx, state, command, dir, i));
  TRY(state->backend->bind(ctx, state->loop.session, 0, set->inputs, set->outputs));
  loop_poison(&state->loop, 0);
  TRY(state->backend->submit(ctx, state->loop.session, 0));
  TRY(state->backend->wait(ctx, state->loop.session, 0));
  loop_forget_text(&state->loop);
  TRY(loop_keep_text(ctx, &state->loop, 0));
  return write_outputs(ctx, state, command, s);
}

/* A failing sample ends the answer, not the worker: the configuration is already measured. */
hone_status label_samples(struct ctx *ctx, struct state *state, const json_t *command,
                          json_t **out_reply) {
  const size_t count = json_array_size(json_object_get(command, "samples"));
  size_t s = 0;
  if (!state->backend || !state->loop.session)
    return fail(ctx, HONE_E_INTERNAL, place_none(), "no configuration is open");
  hone_status status = state->generation ? fail(ctx, HONE_E_UNSUP, place_none(),
                                                "labels are not supported in this scenario")
                                         : HONE_OK;
  while (!status && s < count)
    if (!(status = run_sample(ctx, state, command, s))) s++;
  *out_reply = json_pack("{s:s, s:I, s:s}", "event", "labelled", "samples", (json_int_t)s, "where",
                         status ? ctx->message : "");
  if (status) ctx_clear(ctx);
  return HONE_OK;
}
