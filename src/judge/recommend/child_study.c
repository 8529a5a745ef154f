/* Studies in child processes: argument lists, and failures of the child. */
#include "bench/backends/backends.h"
#include "child_study.h"

#include <unistd.h>

hone_status command_add(struct ctx *ctx, struct command *command, const char *word) {
  if (command->count == COMMAND_WORDS)
    return fail(ctx, HONE_E_USAGE, place_none(), "too many flags");
  command->at[command->count++] = word;
  return HONE_OK;
}

hone_status command_add_option(struct ctx *ctx, struct command *command, const char *flag,
                               const char *value) {
  TRY(command_add(ctx, command, flag));
  return value ? command_add(ctx, command, value) : HONE_OK;
}

hone_status command_add_model(struct ctx *ctx, struct command *command, const char *model) {
  return model[0] == '-' ? command_add_option(ctx, command, "--model", model)
                         : command_add(ctx, command, model);
}

hone_status command_add_all(struct ctx *ctx, struct command *command,
                            const struct argument_list *words) {
  for (size_t i = 0; i < words->count; i++) TRY(command_add(ctx, command, words->at[i]));
  return HONE_OK;
}

void list_add(char *list, size_t size, const char *word) {
  const size_t n = strlen(word), used = strlen(list);
  for (const char *p = list; *p; p += strcspn(p, ","), p += *p == ',')
    if (!strncmp(p, word, n) && (p[n] == ',' || !p[n])) return;
  if (used + n + 2 < size) snprintf(list + used, size - used, "%s%s", used ? "," : "", word);
}

const char *backend_word(const struct config *config, char out[64]) {
  const struct backend *backend = backend_find(config->backend);
  /* "async num_streams=2": the variant, then values of --backend-option */
  const size_t n = strcspn(config->variant, " ");
  snprintf(out, 64, "%s", config->backend);
  for (const struct backend_variant *v = backend ? backend->variants : NULL; v && v->name; v++)
    if (strlen(v->name) == n && !memcmp(v->name, config->variant, n))
      snprintf(out, 64, "%s:%s", config->backend, v->name);
  return out;
}

hone_status command_run(struct ctx *ctx, const struct command *command, double timeout_s,
                        struct process_result *out) {
  const struct process_options options = {.argv = command->at,
                                          .environ_ = (const char *const *)environ,
                                          .fd_in = -1,
                                          .fd_out = -1,
                                          .timeout_ns = (uint64_t)(timeout_s * 1e9)};
  return process_run(ctx, &options, out);
}

/* Reports the failure that the child printed as a failure of this process. */
static hone_status repeat_failure(struct ctx *ctx, const struct process_result *result) {
  static const char start[] = "hone: ", indent[] = "\n      ";
  const char *output = result->output.at ? result->output.at : "no output";
  const char *line = strstr(output, "hone: E_");
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
                     result->exit_code, output),
                "run 'hone bench' with the same arguments to see more");
}

hone_status run_bench_study(struct ctx *ctx, struct arena *arena, const char *program,
                            const struct command *arguments, const char *dir, struct summary *out) {
  struct command command = {.count = 0};
  struct process_result result = {0};
  char json[4200];
  snprintf(json, sizeof json, "%s/study.json", dir);
  unlink(json);
  TRY(command_add(ctx, &command, program));
  TRY(command_add(ctx, &command, "bench"));
  for (size_t i = 0; i < arguments->count; i++) TRY(command_add(ctx, &command, arguments->at[i]));
  TRY(command_add_option(ctx, &command, "--json", json));
  TRY(command_add_option(ctx, &command, "--fail-on", "none"));
  TRY(command_add_option(ctx, &command, "--resume", "never"));
  TRY(command_run(ctx, &command, 0, &result));
  hone_status status = HONE_OK;
  if (access(json, R_OK)) status = repeat_failure(ctx, &result);
  strbuf_deinit(&result.output);
  TRY(status);
  return summary_read_json(ctx, arena, json, out);
}
