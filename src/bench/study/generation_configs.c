/* Harness side of the scenario generate: the generation plan and the reference's tokens. A model
 * that does not generate text makes only these configurations unsupported.
 */
#include "study_internal.h"
#include "bench/worker/generation.h"

#include <math.h>
#include <stdlib.h>

const struct scenario *bench_generates(const struct bench *bench) {
  for (size_t i = 0; i < bench->scenario_count; i++)
    if (bench->scenarios[i].kind == SCENARIO_generate) return &bench->scenarios[i];
  return NULL;
}

const struct scenario *generation_scenario(const struct bench *bench, const struct config *config) {
  for (size_t i = 0; i < bench->scenario_count; i++)
    if (bench->scenarios[i].kind == SCENARIO_generate &&
        !strcmp(bench->scenarios[i].text, config->scenario))
      return &bench->scenarios[i];
  return NULL;
}

static json_t *command_for(const struct bench *bench, const struct bench_case *one,
                           const struct scenario *scenario, int set, bool plan_only) {
  char sides[4096] = "", prompt[4096] = "", dir[4096];
  const struct bench_options *o = &bench->options;
  if (o->side_files_from && !realpath(o->side_files_from, sides)) sides[0] = 0;
  if (o->prompt_file && !realpath(o->prompt_file, prompt)) prompt[0] = 0;
  generation_path(one, scenario, dir);
  return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:i, s:i, s:i, s:b, s:b}", "do", "generate",
                   "path", one->path, "shapes", one->shapes, "side_files_from", sides, "dir", dir,
                   "prompt_file", prompt, "seed", (json_int_t)o->seed, "set", set, "prompt",
                   scenario->prompt, "count", scenario->count, "plan_only", plan_only, "is_gguf",
                   !strcmp(one->format, "gguf"));
}

static bool take_plan(struct bench_case *one, const json_t *reply) {
  const json_t *plan = json_object_get(reply, "plan");
  struct generation *checked = malloc(sizeof *checked);
  const bool is_sound = checked && generation_unpack(plan, checked);
  free(checked);
  if (is_sound && !one->generation) one->generation = json_deep_copy(plan);
  return is_sound;
}

static void set_end(struct bench_case *one, const struct worker_end *end) {
  if (one->generation_end.status != STATUS_ok) return;
  one->generation_end.status = end->status;
  one->generation_end.stage = end->stage;
  snprintf(one->generation_end.reason, sizeof one->generation_end.reason, "%s", end->reason);
}

static hone_status make_sets(struct bench *bench, struct bench_case *one,
                             const struct scenario *scenario, bool plan_only) {
  struct worker workers[BENCH_SETS];
  const int cores = usable_core_count(), most = cores < BENCH_SETS ? cores : BENCH_SETS;
  int started = 0;
  hone_status status = HONE_OK;
  while (!status && started < most) {
    status = bench_worker(bench, CASE_CONFIG, 0, &workers[started]);
    if (!status) started++;
  }
  for (int first = 0; !status && !one->generation_end.status && first < BENCH_SETS; first += most) {
    bench_report(bench, NULL, one->model, "reference");
    for (int k = 0; k < most && first + k < BENCH_SETS; k++)
      worker_tell(&workers[k], command_for(bench, one, scenario, first + k, plan_only));
    for (int k = 0; k < most && first + k < BENCH_SETS; k++) {
      struct worker_end end = {.status = STATUS_protocol_error, .stage = STAGE_verify};
      json_t *reply = worker_hear(&workers[k], "generated", ASK_PATIENT, &end);
      if (!reply || !take_plan(one, reply)) set_end(one, &end);
      json_decref(reply);
    }
  }
  for (int k = 0; k < started; k++)
    worker_close(&workers[k], one->generation_end.status ? 0 : 1000000000ull);
  return status;
}

static hone_status make_scenario(struct bench *bench, struct bench_case *one,
                                 const struct scenario *scenario) {
  char dir[4096];
  generation_path(one, scenario, dir);
  TRY(dir_create(bench->ctx, dir));
  reference_deadline_begin(bench);
  hone_status status = make_sets(bench, one, scenario, false);
  reference_deadline_end(bench);
  if (status || one->generation_end.status != STATUS_timeout) return status;
  /* no reference tokens: the rows are unverified */
  one->generation_end.status = STATUS_ok;
  dir_remove_tree(dir);
  TRY(dir_create(bench->ctx, dir));
  return make_sets(bench, one, scenario, true);
}

hone_status case_generate(struct bench *bench, struct bench_case *one) {
  hone_status status = HONE_OK;
  if (!bench_generates(bench) || one->status != STATUS_ok) return HONE_OK;
  one->generation_end = (struct worker_end){.status = STATUS_ok, .rel_l2 = NAN};
  snprintf(one->generation_dir, sizeof one->generation_dir, "%.4000s/generate-%d", bench->dir,
           bench->worker_number);
  TRY(dir_create(bench->ctx, one->generation_dir));
  for (size_t i = 0; !status && i < bench->scenario_count; i++)
    if (bench->scenarios[i].kind == SCENARIO_generate)
      status = make_scenario(bench, one, &bench->scenarios[i]);
  return status;
}

/* Uses caches of fixed size if the engine's inputs cannot grow, or if hone converts the model. */
static bool add_held(const struct bench_case *one, json_t *command) {
  const int64_t places = message_int(command, "prompt", 1) + message_int(command, "count", 1) - 1;
  struct generation *plan = malloc(sizeof *plan);
  const bool holds =
      plan && generation_unpack(one->generation, plan) && generation_hold(plan, places);
  if (holds) json_object_set_new(command, "generation", generation_pack(plan));
  free(plan);
  return holds;
}

bool case_add_generation(const struct bench *bench, const struct bench_case *one,
                         const struct config *config, json_t *command, struct worker_end *end) {
  const struct backend *backend = backend_find(config->backend);
  const struct scenario *scenario = generation_scenario(bench, config);
  char dir[4096];
  *end = one->generation_end;
  if (!one->generation) {
    if (!end->status) *end = (struct worker_end){STATUS_unsupported, STAGE_load, "", NAN};
    if (!end->reason[0])
      snprintf(end->reason, sizeof end->reason, "how this model generates text is unknown");
    return false;
  }
  generation_path(one, scenario, dir);
  const int64_t text = scenario->prompt + scenario->count;
  json_object_set_new(command, "generation_dir", json_string(dir));
  if (!strcmp(config->route, "gguf"))
    json_object_set_new(
        command, "text_tokens",
        json_integer((json_int_t)(text > one->quality_tokens ? text : one->quality_tokens)));
  json_object_set_new(command, "lead_limit", json_real(generation_lead(one->format)));
  const bool may_grow = backend && backend->grows && !route_is_hones(config->route);
  const bool does = may_grow && !backend_holds_with(backend, config->options);
  if (!does && add_held(one, command)) return true;
  if (may_grow) return !json_object_set(command, "generation", one->generation);
  *end = (struct worker_end){.status = STATUS_unsupported, .stage = STAGE_load, .rel_l2 = NAN};
  snprintf(
      end->reason, sizeof end->reason,
      "%s needs fixed input sizes, and generation with caches of fixed size needs an integer mask "
      "and positions among the model's inputs",
      backend ? backend->title : config->backend);
  return false;
}
