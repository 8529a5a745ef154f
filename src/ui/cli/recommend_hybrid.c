/* hone recommend --hybrid: parts of the model on different engines as one more candidate. `hone hybrid` proposes them
 * in a process of its own; whether they are faster is for the looks to prove. */
#include "recommend.h"

#include <math.h>
#include <stdlib.h>

/* About as many as four cuts make, of three engines: each one's share of the budget. */
#define TIMINGS 45
#define LATE_S 60.0 /* that the last stretch which was begun in time may take */

/* What the user named, as far as parts can run in it; without names `hone hybrid` takes what is ready. */
static hone_status add_engines(struct ctx *ctx, const struct args *args, struct command *command) {
  static char list[1024];
  size_t used = 0;
  list[0] = 0;
  for (size_t i = 0; i < args->repeated[FLAG_backend].count; i++)
    for (const char *at = args->repeated[FLAG_backend].at[i]; *at;
         at += strcspn(at, ","), at += *at == ',') {
      char name[64];
      struct backend_choice choice;
      snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
      TRY(backend_choose(ctx, name, &choice));
      if (choice.variant || !part_can_be(choice.backend)) continue;
      if (used + sizeof name < sizeof list)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? "," : "", name);
    }
  return used ? command_add_flag(ctx, command, FLAG_backend, list) : HONE_OK;
}

static hone_status ask(struct ctx *ctx, const struct args *args, const char *json_path, int threads,
                       double budget_s, struct process_result *out) {
  static const enum flag_id given[] = {FLAG_shape,  FLAG_side_files_from, FLAG_input, FLAG_inputs,
                                       FLAG_engine, FLAG_batch,           FLAG_seed,  FLAG_limit};
  struct command command = {.count = 0};
  char self[4096], thread_text[16], turn_text[32], budget_text[32];
  snprintf(thread_text, sizeof thread_text, "%d", threads);
  snprintf(turn_text, sizeof turn_text, "%.3f", fmin(0.5, fmax(0.01, budget_s / TIMINGS)));
  snprintf(budget_text, sizeof budget_text, "%.2fs", fmax(1, budget_s));
  TRY(self_path(ctx, self));
  TRY(command_add(ctx, &command, self));
  TRY(command_add(ctx, &command, "hybrid"));
  TRY(command_add_model(ctx, &command, args->words[0]));
  TRY(command_add_given(ctx, args, given, COUNT(given), &command));
  TRY(add_engines(ctx, args, &command));
  TRY(command_add_flag(ctx, &command, FLAG_threads, thread_text));
  TRY(command_add_flag(ctx, &command, FLAG_min_time, turn_text));
  TRY(command_add_flag(ctx, &command, FLAG_budget, budget_text));
  TRY(command_add_flag(ctx, &command, FLAG_json, json_path));
  TRY(command_add_flag(ctx, &command, FLAG_quiet, NULL));
  const struct process_options options = {.argv = command.at,
                                          .environ_ = (const char *const *)environ,
                                          .fd_in = -1,
                                          .fd_out = -1,
                                          .timeout_ns = (uint64_t)((budget_s + LATE_S) * 1e9)};
  return process_run(ctx, &options, out);
}

static hone_status read_proposal(struct ctx *ctx, const char *path, struct split *out) {
  json_error_t error;
  out->proposal = json_load_file(path, 0, &error);
  if (!out->proposal)
    return fail(ctx, HONE_E_INTERNAL, place_file(path), "hone hybrid wrote no JSON: %s",
                error.text);
  const char *parts = json_string_value(json_object_get(out->proposal, "parts"));
  const char *single = json_string_value(json_object_get(out->proposal, "single"));
  const double single_ms = json_number_value(json_object_get(out->proposal, "single_ms"));
  const double parts_ms = json_number_value(json_object_get(out->proposal, "parts_ms"));
  if (parts && strlen(parts) < sizeof out->parts) {
    snprintf(out->parts, sizeof out->parts, "%s", parts);
    snprintf(out->words, sizeof out->words,
             "%s was proposed: %.4g ms by its stretches and hand-overs, %s alone %.4g ms", parts,
             parts_ms, single ? single : "no engine", single_ms);
  } else if (!json_is_true(json_object_get(out->proposal, "complete"))) {
    snprintf(out->words, sizeof out->words,
             "no parts on different engines: a quarter of the budget did not reach for every "
             "stretch, and no sum of those that were timed is below %s alone",
             single ? single : "one engine");
  } else {
    snprintf(out->words, sizeof out->words,
             "no parts on different engines: no sum of stretches and hand-overs is below %s alone",
             single ? single : "one engine");
  }
  return HONE_OK;
}

hone_status split_find(struct ctx *ctx, const struct args *args, const char *dir, int threads,
                       double budget_s, struct split *out) {
  char path[4200];
  struct process_result result = {0};
  if (strchr(value_of(args, FLAG_batch, ""), ',')) {
    snprintf(out->words, sizeof out->words, "not looked for at several batches");
    return HONE_OK;
  }
  snprintf(path, sizeof path, "%s/hybrid.json", dir);
  hone_status status = ask(ctx, args, path, threads, budget_s, &result);
  if (!status && result.timed_out) {
    snprintf(out->words, sizeof out->words,
             "no parts on different engines: a stretch took more than %.0f s beyond its share of "
             "the budget",
             LATE_S);
  } else if (!status && (result.exit_code || result.signal)) {
    /* a model that cannot be cut, or one engine alone: the race goes on without parts */
    safe_copy(out->words, sizeof out->words,
              result.output.at ? result.output.at : "hone hybrid ended without a word");
    out->words[strcspn(out->words, "\n")] = 0;
  } else if (!status) {
    status = read_proposal(ctx, path, out);
  }
  strbuf_deinit(&result.output);
  return status;
}

hone_status split_add(struct ctx *ctx, const struct args *args, struct arena *arena,
                      const struct split *split, struct command *command) {
  const char *option;
  if (!split->parts[0]) return HONE_OK;
  TRY(arena_printf(ctx, arena, &option, "hybrid.parts=%s", split->parts));
  TRY(command_add_flag(ctx, command, FLAG_backend_option, option));
  for (size_t i = 0; i < args->repeated[FLAG_engine].count; i++) {
    TRY(arena_printf(ctx, arena, &option, "hybrid.engine.%s", args->repeated[FLAG_engine].at[i]));
    TRY(command_add_flag(ctx, command, FLAG_backend_option, option));
  }
  return HONE_OK;
}

hone_status split_add_json(struct ctx *ctx, const struct split *split, struct strbuf *json) {
  return split->proposal ? answer_add_json(ctx, json, "hybrid", json_incref(split->proposal))
                         : HONE_OK;
}
