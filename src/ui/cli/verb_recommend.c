/* hone recommend: flags to options, the answer to the terminal, files and the bundle.
   judge/recommend does the work. */
#include "recommend_bundle.h"

#include <math.h>

struct verb_state {
  struct ctx *ctx;
  const struct args *args;
  struct arena *arena;
  struct recommend_options options;
  char program[4096];
};

/* -- flags */

/* "here" is this machine. What needs this machine's engines or peaks is refused for another
   device. */
static hone_status read_device(struct verb_state *v) {
  static const enum flag_id here_only[] = {FLAG_hybrid, FLAG_bundle, FLAG_predict};
  const char *device = value_of(v->args, FLAG_device, "here");
  v->options.device = !strcmp(device, "here") ? "cpu" : device;
  if (!strcmp(v->options.device, "cpu")) return HONE_OK;
  if (strchr(device, ','))
    return fail(v->ctx, HONE_E_USAGE, place_name("--device"), "takes one device here");
  for (size_t i = 0; i < COUNT(here_only); i++) {
    char spelling[64];
    if (has(v->args, here_only[i]))
      return fail(v->ctx, HONE_E_UNSUP, place_name(device), "%s works on this machine only",
                  flag_spelling(here_only[i], spelling));
  }
  return HONE_OK;
}

/* With --predict nothing is measured: flags of the measurement are errors. */
static hone_status check_predict(const struct verb_state *v) {
  static const enum flag_id of_measurement[] = {
      FLAG_objective, FLAG_max_latency,  FLAG_min_throughput, FLAG_max_memory, FLAG_max_size,
      FLAG_max_start, FLAG_max_compile,  FLAG_max_energy,     FLAG_budget,     FLAG_hybrid,
      FLAG_bundle,    FLAG_min_accuracy, FLAG_min_quality,    FLAG_inputs,     FLAG_input,
      FLAG_calibrate, FLAG_labels};
  const struct repeated *records = &v->args->repeated[FLAG_records];
  for (size_t i = 0; i < records->count; i++) TRY(records_check(v->ctx, records->at[i]));
  return flags_need(v->ctx, v->args, of_measurement, COUNT(of_measurement),
                    !has(v->args, FLAG_predict), "a measurement, and --predict makes none");
}

static hone_status read_constraints(struct verb_state *v) {
  static const struct {
    enum flag_id flag;
    enum constraint_id id;
  } bounds[] = {
      {FLAG_max_latency, CONSTRAINT_latency}, {FLAG_min_throughput, CONSTRAINT_throughput},
      {FLAG_max_memory, CONSTRAINT_memory},   {FLAG_max_size, CONSTRAINT_size},
      {FLAG_max_start, CONSTRAINT_start},     {FLAG_max_compile, CONSTRAINT_compile},
      {FLAG_max_energy, CONSTRAINT_energy},   {FLAG_min_accuracy, CONSTRAINT_accuracy},
      {FLAG_min_quality, CONSTRAINT_accuracy}};
  const char *objective = value_of(v->args, FLAG_objective, "latency");
  struct constraints *out = &v->options.constraints;
  int id = 0;
  constraints_init(out);
  for (size_t i = 0; i < COUNT(bounds); i++) {
    if (!has(v->args, bounds[i].flag)) continue;
    TRY(amount_of(v->ctx, v->args, bounds[i].flag, constraint_kinds[bounds[i].id].amount, 0, 1e18,
                  NAN, &out->bound[bounds[i].id]));
  }
  while (id < CONSTRAINT_COUNT && strcmp(constraint_kinds[id].name, objective)) id++;
  if (id == CONSTRAINT_COUNT)
    return fail(v->ctx, HONE_E_USAGE, place_name("--objective"),
                "\"%.100s\" is none of latency, throughput, memory, size, start, compile, "
                "accuracy, energy",
                objective);
  out->objective = (enum constraint_id)id;
  return HONE_OK;
}

/* "single", the default, or "generate". */
static hone_status read_scenario(struct verb_state *v) {
  const char *scenario = value_of(v->args, FLAG_scenario, "single");
  v->options.generates = !strcmp(scenario, "generate");
  if (!v->options.generates && strcmp(scenario, "single") != 0)
    return fail(v->ctx, HONE_E_USAGE, place_name("--scenario"), "takes single or generate here");
  TRY(flags_need(v->ctx, v->args, (const enum flag_id[]){FLAG_min_quality}, 1, v->options.generates,
                 "--scenario generate"));
  return flags_need(v->ctx, v->args, (const enum flag_id[]){FLAG_hybrid, FLAG_bundle}, 2,
                    !v->options.generates, "--scenario single");
}

static struct argument_list values_of(const struct verb_state *v, enum flag_id flag) {
  const struct repeated *values = &v->args->repeated[flag];
  return (struct argument_list){values->at, values->count};
}

/* The flags of this command line that a child process takes as they are. */
static hone_status pass_through(const struct verb_state *v, const enum flag_id *flags, size_t count,
                                struct argument_list *out) {
  struct command *command;
  TRY(NEW(v->ctx, v->arena, command));
  TRY(command_add_given(v->ctx, v->args, flags, count, command));
  *out = (struct argument_list){command->at, command->count};
  return HONE_OK;
}

static hone_status read_pass_through(struct verb_state *v) {
  static const enum flag_id bench[] = {
      FLAG_shape,    FLAG_side_files_from, FLAG_input,        FLAG_backend_option,
      FLAG_engine,   FLAG_batch,           FLAG_precision,    FLAG_store,
      FLAG_seed,     FLAG_limit,           FLAG_memory_limit, FLAG_device_hone,
      FLAG_scenario, FLAG_prompt,          FLAG_new_tokens,   FLAG_quality_text};
  static const enum flag_id quantise[] = {FLAG_shape, FLAG_side_files_from, FLAG_batch, FLAG_seed,
                                          FLAG_limit};
  static const enum flag_id hybrid[] = {FLAG_shape,  FLAG_side_files_from, FLAG_input, FLAG_inputs,
                                        FLAG_engine, FLAG_batch,           FLAG_seed,  FLAG_limit};
  TRY(pass_through(v, bench, COUNT(bench), &v->options.bench_flags));
  TRY(pass_through(v, quantise, COUNT(quantise), &v->options.quantise_flags));
  return pass_through(v, hybrid, COUNT(hybrid), &v->options.hybrid_flags);
}

static void print_progress(void *user, double seconds, const char *line) {
  (void)user;
  fprintf(stderr, "[%.0f s] %s\n", seconds, line);
}

static hone_status read_options(struct verb_state *v) {
  static const enum flag_id of_variants[] = {FLAG_calibrate, FLAG_labels};
  const struct args *args = v->args;
  struct recommend_options *o = &v->options;
  TRY(one_word(v->ctx, args, "model", &o->model));
  TRY(self_path(v->ctx, v->program));
  TRY(read_constraints(v));
  TRY(read_device(v));
  TRY(read_scenario(v));
  TRY(check_predict(v));
  TRY(recommend_check(v->ctx, o));
  TRY(amount_of(v->ctx, args, FLAG_budget, AMOUNT_SECONDS, 0.01, 1e6, 60, &o->budget_s));
  TRY(flags_need(v->ctx, args, of_variants, COUNT(of_variants), has(args, FLAG_min_accuracy),
                 "--min-accuracy"));
  TRY(ints_of(v->ctx, args, FLAG_threads, 1, 4096, o->threads, COUNT(o->threads),
              &o->thread_count));
  TRY(ints_of(v->ctx, args, FLAG_batch, 1, 1 << 20, o->batches, COUNT(o->batches),
              &o->batch_count));
  o->program = v->program;
  o->tries_hybrid = has(args, FLAG_hybrid);
  o->backends = values_of(v, FLAG_backend);
  o->engines = values_of(v, FLAG_engine);
  o->records = values_of(v, FLAG_records);
  o->precisions = value_of(args, FLAG_precision, NULL);
  o->shapes = value_of(args, FLAG_shape, NULL);
  o->side_files_from = value_of(args, FLAG_side_files_from, NULL);
  o->store = value_of(args, FLAG_store, NULL);
  o->seed = value_of(args, FLAG_seed, NULL);
  o->inputs = value_of(args, FLAG_inputs, NULL);
  o->has_input = has(args, FLAG_input);
  o->calibrate = value_of(args, FLAG_calibrate, NULL);
  o->labels = value_of(args, FLAG_labels, NULL);
  o->report = has(args, FLAG_quiet) ? NULL : print_progress;
  return read_pass_through(v);
}

/* -- the answer */

static hone_status render_predictions(struct ctx *ctx, void *user, const char *form,
                                      struct strbuf *out) {
  if (strcmp(form, "table")) return prediction_table_json(ctx, user, out);
  prediction_table_text(user, out);
  return strbuf_finish(ctx, out);
}

static hone_status render_answer(struct ctx *ctx, void *user, const char *form,
                                 struct strbuf *out) {
  if (strcmp(form, "table")) return recommendation_json(ctx, user, out);
  recommendation_text(user, out);
  return strbuf_finish(ctx, out);
}

/* 0; 1: no candidate meets the bounds; 3: none ran; 5: undecided */
static int outcome_code(const struct advice *advice) {
  bool has_run = false;
  for (size_t i = 0; i < advice->record_count; i++)
    has_run |= advice->at[i].status != CANDIDATE_invalid;
  if (advice->choice == SIZE_MAX) return has_run ? 1 : 3;
  return advice->is_undecided ? 5 : 0;
}

static int predict_only(struct verb_state *v, const struct sinks *sinks) {
  struct prediction_table *table;
  const hone_status status = recommend_predict(v->ctx, v->arena, &v->options, &table);
  const int code =
      status ? report_failure(v->ctx) : sinks_show(v->ctx, sinks, render_predictions, table);
  prediction_table_free(table);
  return code;
}

/* Terminal, files and bundle are each written even if another fails; the code is the first
   failure's. */
static int measure(struct verb_state *v, const struct sinks *sinks) {
  struct recommendation *r;
  int code = 0;
  if (recommend(v->ctx, v->arena, &v->options, &r)) {
    code = report_failure(v->ctx);
  } else {
    code = sinks_show(v->ctx, sinks, render_answer, r);
    if (recommend_bundle_write(v->ctx, v->args, v->arena, r)) {
      const int failed = report_failure(v->ctx);
      if (!code) code = failed;
    }
    if (!code) code = outcome_code(recommendation_advice(r));
  }
  recommendation_free(r);
  return code;
}

static hone_status prepare(struct verb_state *v, struct sinks *sinks) {
  TRY(arena_create(v->ctx, 0, &v->arena));
  TRY(read_options(v));
  TRY(sinks_read(v->ctx, v->args, sinks));
  TRY(sinks_check_words(v->ctx, v->args, sinks));
  return recommend_bundle_check(v->ctx, v->args);
}

int verb_recommend(struct ctx *ctx, struct args *args) {
  static struct verb_state v;
  static struct sinks sinks;
  v = (struct verb_state){.ctx = ctx, .args = args};
  int code = prepare(&v, &sinks)       ? report_failure(ctx)
             : has(args, FLAG_predict) ? predict_only(&v, &sinks)
                                       : measure(&v, &sinks);
  arena_destroy(v.arena);
  return code;
}
