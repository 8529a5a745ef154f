/* Answers "keep": the files that the engine made of the model, which the harness copies
 * (study/keep.c). Comes after all measurements; a failure here does not end the configuration.
 */
#include "worker_internal.h"

static hone_status name_files(struct ctx *ctx, struct state *state, json_t *files) {
  struct strbuf names = {0};
  const char *slash = strrchr(state->route_path, '/');
  hone_status status = HONE_OK;
  if (slash) json_array_append_new(files, json_string(slash + 1));
  if (state->backend->keep)
    status = state->backend->keep(ctx, state->loop.session, &state->request, &names);
  if (!status) status = strbuf_finish(ctx, &names);
  for (char *at = names.at; !status && at && *at;) {
    const size_t n = strcspn(at, "\n");
    json_array_append_new(files, json_stringn(at, n));
    at += n + (at[n] == '\n');
  }
  strbuf_deinit(&names);
  return status;
}

hone_status keep_artifact(struct ctx *ctx, struct state *state, const json_t *command,
                          json_t **out_reply) {
  char why[512] = "";
  json_t *files = json_array();
  (void)command;
  if (!state->backend || !state->loop.session) {
    json_decref(files);
    return fail(ctx, HONE_E_INTERNAL, place_none(), "no configuration is open");
  }
  if (name_files(ctx, state, files)) {
    safe_copy(why, sizeof why, ctx->message);
    ctx_clear(ctx);
  } else if (!json_array_size(files)) {
    snprintf(why, sizeof why, "%s", "this engine compiles in memory and writes no file");
  }
  *out_reply = json_pack("{s:s, s:o, s:s}", "event", "kept", "files", files, "why", why);
  return HONE_OK;
}
