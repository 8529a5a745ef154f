/* Parts of the model on different engines as one more candidate (--hybrid): `hone hybrid`
 * proposes them in a child process, and the rounds measure the proposal like any other
 * candidate. */
#include "bench/backends/backends.h"
#include "elimination.h"

#include <math.h>

#define TIMINGS 45 /* about as many as four cuts with three engines need: shares of the budget */
#define OVERRUN_S 60.0 /* allowed to the last timing that began in time */

/* The named engines that can run parts; without names `hone hybrid` takes all that are ready. */
static hone_status add_engines(struct ctx *ctx, const struct argument_list *backends,
                               struct command *command) {
  static char list[1024];
  size_t used = 0;
  list[0] = 0;
  for (size_t i = 0; i < backends->count; i++)
    for (const char *at = backends->at[i]; *at; at += strcspn(at, ","), at += *at == ',') {
      char name[64];
      struct backend_choice choice;
      snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
      TRY(backend_choose(ctx, name, &choice));
      if (choice.variant || !part_can_be(choice.backend)) continue;
      if (used + sizeof name < sizeof list)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? "," : "", name);
    }
  return used ? command_add_option(ctx, command, "--backend", list) : HONE_OK;
}

static hone_status run_hybrid(struct ctx *ctx, const struct recommend_options *options,
                              const char *json_path, int threads, double budget_s,
                              struct process_result *out) {
  struct command command = {.count = 0};
  char thread_text[16], time_text[32], budget_text[32];
  snprintf(thread_text, sizeof thread_text, "%d", threads);
  snprintf(time_text, sizeof time_text, "%.3f", fmin(0.5, fmax(0.01, budget_s / TIMINGS)));
  snprintf(budget_text, sizeof budget_text, "%.2fs", fmax(1, budget_s));
  TRY(command_add(ctx, &command, options->program));
  TRY(command_add(ctx, &command, "hybrid"));
  TRY(command_add_model(ctx, &command, options->model));
  TRY(command_add_all(ctx, &command, &options->hybrid_flags));
  TRY(add_engines(ctx, &options->backends, &command));
  TRY(command_add_option(ctx, &command, "--threads", thread_text));
  TRY(command_add_option(ctx, &command, "--min-time", time_text));
  TRY(command_add_option(ctx, &command, "--budget", budget_text));
  TRY(command_add_option(ctx, &command, "--json", json_path));
  TRY(command_add(ctx, &command, "--quiet"));
  return command_run(ctx, &command, budget_s + OVERRUN_S, out);
}

static hone_status read_proposal(struct ctx *ctx, const char *path, struct hybrid_proposal *out) {
  json_error_t error;
  out->json = json_load_file(path, 0, &error);
  if (!out->json)
    return fail(ctx, HONE_E_INTERNAL, place_file(path), "hone hybrid wrote no JSON: %s",
                error.text);
  const char *parts = json_string_value(json_object_get(out->json, "parts"));
  const char *single = json_string_value(json_object_get(out->json, "single"));
  const double single_ms = json_number_value(json_object_get(out->json, "single_ms"));
  const double parts_ms = json_number_value(json_object_get(out->json, "parts_ms"));
  if (parts && strlen(parts) < sizeof out->parts) {
    snprintf(out->parts, sizeof out->parts, "%s", parts);
    snprintf(out->words, sizeof out->words,
             "proposed %s: %.4g ms as the sum of its segments and transfers, %s alone %.4g ms",
             parts, parts_ms, single ? single : "no engine", single_ms);
  } else if (!json_is_true(json_object_get(out->json, "complete"))) {
    snprintf(
        out->words, sizeof out->words,
        "nothing proposed: a quarter of the budget was too short to time every segment, and no "
        "sum of the timed ones is below %s alone",
        single ? single : "one engine");
  } else {
    snprintf(out->words, sizeof out->words,
             "nothing proposed: no sum of segments and transfers is below %s alone",
             single ? single : "one engine");
  }
  return HONE_OK;
}

hone_status propose_hybrid(struct ctx *ctx, const struct recommend_options *options,
                           const char *dir, int threads, double budget_s,
                           struct hybrid_proposal *out) {
  char path[4200];
  struct process_result result = {0};
  if (options->batch_count > 1) {
    snprintf(out->words, sizeof out->words, "not tried with several batches");
    return HONE_OK;
  }
  snprintf(path, sizeof path, "%s/hybrid.json", dir);
  hone_status status = run_hybrid(ctx, options, path, threads, budget_s, &result);
  if (!status && result.timed_out) {
    snprintf(out->words, sizeof out->words,
             "nothing proposed: timing one segment took more than %.0f s beyond its share of the "
             "budget",
             OVERRUN_S);
  } else if (!status && (result.exit_code || result.signal)) {
    /* the model cannot be cut, or there is one engine only: the elimination goes on without a
       hybrid */
    safe_copy(out->words, sizeof out->words,
              result.output.at ? result.output.at : "hone hybrid ended without output");
    out->words[strcspn(out->words, "\n")] = 0;
  } else if (!status) {
    status = read_proposal(ctx, path, out);
  }
  strbuf_deinit(&result.output);
  return status;
}

hone_status hybrid_add_options(struct ctx *ctx, const struct recommend_options *options,
                               struct arena *arena, const struct hybrid_proposal *proposal,
                               struct command *command) {
  const char *option;
  if (!proposal->parts[0]) return HONE_OK;
  TRY(arena_printf(ctx, arena, &option, "hybrid.parts=%s", proposal->parts));
  TRY(command_add_option(ctx, command, "--backend-option", option));
  for (size_t i = 0; i < options->engines.count; i++) {
    TRY(arena_printf(ctx, arena, &option, "hybrid.engine.%s", options->engines.at[i]));
    TRY(command_add_option(ctx, command, "--backend-option", option));
  }
  return HONE_OK;
}
