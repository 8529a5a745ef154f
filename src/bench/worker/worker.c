/* `hone worker`: a process that prepares one model or measures one configuration with one backend.
 * It reads commands from descriptor 3 and answers on 4; stdout and stderr belong to the engine. It
 * sets its own limits (CPUs, memory, file sizes, no new privileges) before it loads an engine.
 *
 * A configuration that fails answers "failed" once and the process ends. It also ends at the end of
 * the commands.
 */
#include "bench/wire/wire.h"
#include "generation.h"
#include "worker_internal.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static hone_status describe_model(struct ctx *ctx, struct state *state, const json_t *command,
                                  json_t **out_reply) {
  enter(state, STAGE_import);
  return prepare_describe(ctx, command, state->work_dir, out_reply);
}
static hone_status make_reference(struct ctx *ctx, struct state *state, const json_t *command,
                                  json_t **out_reply) {
  enter(state, STAGE_verify);
  return prepare_reference(ctx, command, out_reply);
}
static hone_status make_generation(struct ctx *ctx, struct state *state, const json_t *command,
                                   json_t **out_reply) {
  enter(state, STAGE_verify);
  return prepare_generation(ctx, command, out_reply);
}
static hone_status close_config(struct ctx *ctx, struct state *state, const json_t *command,
                                json_t **out_reply) {
  (void)ctx, (void)state, (void)command;
  *out_reply = json_pack("{s:s}", "event", "closed");
  return HONE_OK;
}

/* After all measurements: how the engine computed, by its own tools. */
static hone_status survey(struct ctx *ctx, struct state *state, const json_t *command,
                          json_t **out_reply) {
  (void)command;
  if (!state->backend || !state->loop.session)
    return fail(ctx, HONE_E_INTERNAL, place_none(), "no configuration is open");
  if (state->backend->survey)
    TRY(state->backend->survey(ctx, state->loop.session, &state->request, &state->facts));
  *out_reply = json_pack("{s:s, s:s}", "event", "surveyed", "precision", state->facts.precision);
  if (*out_reply) message_set_number(*out_reply, "fallback_share", state->facts.fallback_share);
  return HONE_OK;
}

static const struct command {
  const char *name;
  hone_status (*act)(struct ctx *ctx, struct state *state, const json_t *command,
                     json_t **out_reply);
} commands[] = {{"close", close_config},
                {"describe", describe_model},
                {"generate", make_generation},
                {"keep", keep_artifact},
                {"label", label_samples},
                {"open", open_config},
                {"probe", probe},
                {"quality", measure_quality},
                {"quality_reference", prepare_quality},
                {"reference", make_reference},
                {"slice", measure_slice},
                {"survey", survey},
                {"warmup", warm_up}};

static hone_status obey(struct ctx *ctx, struct state *state, const json_t *command,
                        json_t **out_reply) {
  const char *name = message_text(command, "do");
  snprintf(state->config, sizeof state->config, "%s", message_text(command, "cell"));
  for (size_t i = 0; i < COUNT(commands); i++)
    if (!strcmp(commands[i].name, name)) return commands[i].act(ctx, state, command, out_reply);
  return fail(ctx, HONE_E_USAGE, place_name(name), "unknown command");
}

/* False if the worker must end. */
static bool serve(struct ctx *ctx, struct state *state, const char *line, size_t length) {
  json_error_t error;
  json_t *command = json_loadb(line, length, 0, &error);
  if (!command) return false;
  json_t *reply = NULL;
  hone_status status = obey(ctx, state, command, &reply);
  bool is_last = status || !strcmp(message_text(command, "do"), "close");
  json_decref(command);
  if (status) {
    answer_failure(state, ctx);
  } else if (!reply || !answer(state, reply)) {
    return false;
  }
  return !is_last;
}

/* Reads limits "NAME=VALUE" of the command line. */
static bool read_limits(struct ctx *ctx, char *const *words, int count) {
  for (int i = 0; i < count; i++) {
    char *value = strchr(words[i], '=');
    if (!value) return false;
    *value++ = 0;
    int id = limit_find(words[i]);
    if (id < 0 || !parse_i64(value, 1, INT64_MAX, &ctx->limits[id])) return false;
  }
  return true;
}

int worker_main(int argc, char **argv) {
  int64_t threads = 0, memory_bytes = 0;
  if (argc < 4 || !parse_i64(argv[2], 0, 1 << 20, &threads) ||
      !parse_i64(argv[3], 0, INT64_MAX, &memory_bytes) || fcntl(WORKER_FD_IN, F_GETFD) < 0 ||
      fcntl(WORKER_FD_OUT, F_GETFD) < 0)
    return 2;
  fcntl(WORKER_FD_IN, F_SETFD, FD_CLOEXEC);
  fcntl(WORKER_FD_OUT, F_SETFD, FD_CLOEXEC);
  confine(threads, memory_bytes);
  struct state *state = calloc(1, sizeof *state);
  struct line_reader commands_in = {.fd = WORKER_FD_IN};
  struct ctx ctx;
  ctx_init(&ctx);
  if (!read_limits(&ctx, argv + 4, argc - 4)) return 2;
  if (!state || !getcwd(state->work_dir, sizeof state->work_dir)) return 71;
  state->compile_ms = NAN;
  state->rss_compile = -1;
  char *line;
  size_t length;
  while (line_next(&commands_in, &line, &length) == LINE_READY)
    if (!serve(&ctx, state, line, length)) break;
  line_reader_deinit(&commands_in);
  release_config(state);
  free(state->shapes);
  free(state);
  return 0;
}
