/* This program as its own child: a study of `hone bench` as the user could call it, read back from its JSON. */
#include "cli.h"

#include <unistd.h>

hone_status self_path(struct ctx *ctx, char out[4096]) {
  const ssize_t n = readlink("/proc/self/exe", out, 4095);
  if (n <= 0) return fail(ctx, HONE_E_IO, place_none(), "/proc/self/exe cannot be read");
  out[n] = 0;
  return HONE_OK;
}

hone_status command_add(struct ctx *ctx, struct command *command, const char *word) {
  if (command->count == COMMAND_WORDS)
    return fail(ctx, HONE_E_USAGE, place_none(), "too many flags");
  command->at[command->count++] = word;
  return HONE_OK;
}

hone_status command_add_flag(struct ctx *ctx, struct command *command, enum flag_id flag,
                             const char *value) {
  if (command->count >= COMMAND_WORDS)
    return fail(ctx, HONE_E_USAGE, place_none(), "too many flags");
  char *spelling = command->spellings[command->count];
  TRY(command_add(ctx, command, flag_spelling(flag, spelling)));
  return value ? command_add(ctx, command, value) : HONE_OK;
}

hone_status command_add_model(struct ctx *ctx, struct command *command, const char *model) {
  return model[0] == '-' ? command_add_flag(ctx, command, FLAG_model, model)
                         : command_add(ctx, command, model);
}

hone_status command_add_given(struct ctx *ctx, const struct args *args, const enum flag_id *flags,
                              size_t count, struct command *command) {
  for (size_t f = 0; f < count; f++)
    for (size_t i = 0; i < args->repeated[flags[f]].count; i++)
      TRY(command_add_flag(ctx, command, flags[f], args->repeated[flags[f]].at[i]));
  return HONE_OK;
}

const char *backend_word(const struct config *config, char out[64]) {
  const struct backend *backend = backend_find(config->backend);
  /* "async num_streams=2": behind it stand --backend-option's */
  const size_t n = strcspn(config->variant, " ");
  snprintf(out, 64, "%s", config->backend);
  for (const struct backend_variant *v = backend ? backend->variants : NULL; v && v->name; v++)
    if (strlen(v->name) == n && !memcmp(v->name, config->variant, n))
      snprintf(out, 64, "%s:%s", config->backend, v->name);
  return out;
}

/* The failure that the child printed, as if it had happened here. */
static hone_status repeat_failure(struct ctx *ctx, const struct process_result *result) {
  static const char start[] = "hone: ", indent[] = "\n      ";
  const char *said = result->output.at ? result->output.at : "no output";
  const char *line = strstr(said, "hone: E_");
  for (hone_status status = HONE_OK + 1; line && status < HONE_STATUS_COUNT; status++) {
    char words[1024];
    const char *message = line + strlen(start), *end = message + strcspn(message, "\n");
    const size_t length = strlen(hone_status_name(status));
    if (strncmp(message, hone_status_name(status), length) || !strchr(" :", message[length]))
      continue;
    snprintf(words, sizeof words, "%.*s", (int)(end - message), message);
    safe_copy(ctx->message, sizeof ctx->message, words);
    ctx->status = status;
    if (!strncmp(end, indent, strlen(indent))) {
      end += strlen(indent);
      hint(ctx, "%.*s", (int)strcspn(end, "\n"), end);
    }
    return status;
  }
  return advise(ctx,
                fail(ctx, HONE_E_MISSING, place_name("hone bench"), "ended with %d: %.1000s",
                     result->exit_code, said),
                "run 'hone bench' with the same words to see more");
}

hone_status self_study(struct ctx *ctx, struct arena *arena, const struct command *how,
                       const char *dir, struct summary *out) {
  struct command command = {.count = 0};
  struct process_result result = {0};
  char json[4200], self[4096];
  TRY(self_path(ctx, self));
  snprintf(json, sizeof json, "%s/study.json", dir);
  unlink(json);
  TRY(command_add(ctx, &command, self));
  TRY(command_add(ctx, &command, "bench"));
  for (size_t i = 0; i < how->count; i++) TRY(command_add(ctx, &command, how->at[i]));
  TRY(command_add_flag(ctx, &command, FLAG_json, json));
  TRY(command_add_flag(ctx, &command, FLAG_fail_on, "none"));
  TRY(command_add_flag(ctx, &command, FLAG_resume, "never"));
  const struct process_options options = {
      .argv = command.at, .environ_ = (const char *const *)environ, .fd_in = -1, .fd_out = -1};
  TRY(process_run(ctx, &options, &result));
  hone_status status = HONE_OK;
  if (access(json, R_OK)) status = repeat_failure(ctx, &result);
  strbuf_deinit(&result.output);
  TRY(status);
  return summary_read_json(ctx, arena, json, out);
}
