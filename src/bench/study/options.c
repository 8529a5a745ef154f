/* Checks the user's options before anything is started. */
#include "bench/worker/loop.h"
#include "study_internal.h"
#include "bench/wire/transport.h"

#include <errno.h>
#include <unistd.h>

static hone_status check_backends(struct ctx *ctx, const struct bench_options *options) {
  struct backend_choice choice;
  for (size_t i = 0; i < options->backend_count; i++)
    TRY(backend_choose(ctx, options->backends[i], &choice));
  return HONE_OK;
}

static hone_status check_routes(struct ctx *ctx, const struct bench_options *options) {
  for (size_t r = 0; r < options->route_count; r++) {
    bool is_known = false;
    for (size_t k = 0; k < backend_count; k++)
      is_known = is_known || backend_knows_route(backend_list[k], options->routes[r]);
    if (!is_known)
      return fail(ctx, HONE_E_USAGE, place_name(options->routes[r]),
                  "unknown route; 'hone list engines' lists the routes");
  }
  return HONE_OK;
}

static hone_status check_models(struct ctx *ctx, const struct bench_options *options) {
  if (!options->model_count) return fail(ctx, HONE_E_USAGE, place_none(), "no model given");
  for (size_t i = 0; i < options->model_count; i++) {
    const char *model = options->models[i];
    if (strncmp(model, "zoo:", 4) && access(model, R_OK))
      return fail(ctx, HONE_E_NOFILE, place_file(model), "%s", strerror(errno));
  }
  return HONE_OK;
}

#define DEFAULT(field, value) \
  if ((field) == 0) (field) = (value)
void options_set_defaults(struct bench_options *o, struct harness *harness) {
  static const char *const usual[] = {"fp32"};
  if (!o->precision_count) {
    o->precisions = usual;
    o->precision_count = COUNT(usual);
  }
  DEFAULT(o->min_samples, 30);
  DEFAULT(o->min_time_s, 1);
  DEFAULT(o->max_time_s, 20);
  DEFAULT(o->warmup_s, 1);
  if (o->processes) o->most_processes = o->processes;
  DEFAULT(o->processes, 4);
  DEFAULT(o->most_processes, 12);
  DEFAULT(o->timeout_s, 600);
  DEFAULT(o->reference_s, 120);
  if (o->reference_s > o->timeout_s) o->reference_s = o->timeout_s;
  DEFAULT(o->memory_limit_bytes, usable_ram_bytes() / 10 * 8);
  if (o->rounds && o->rounds < o->processes) o->rounds = o->processes;
  *harness = (struct harness){.worker_path = o->worker_path,
                              .memory_bytes = o->memory_limit_bytes,
                              .timeout_ns = (uint64_t)(o->timeout_s * 1e9),
                              .interrupted = o->interrupted};
}

static hone_status check_cache_states(struct ctx *ctx, const struct bench_options *options) {
  for (size_t i = 0; i < options->cache_state_count; i++)
    if (strcmp(options->cache_states[i], "warm") && strcmp(options->cache_states[i], "cold"))
      return fail(ctx, HONE_E_USAGE, place_name(options->cache_states[i]),
                  "unknown cache state; choose warm or cold");
  return HONE_OK;
}

/* Rejects flags that none of the scenarios uses; they would be ignored silently. */
static hone_status check_scenario_flags(const struct bench *bench) {
  const struct bench_options *o = &bench->options;
  bool is_multi = false, has_arrivals = false, generates = false;
  for (size_t i = 0; i < bench->scenario_count; i++) {
    is_multi |= bench->scenarios[i].kind == SCENARIO_multi;
    has_arrivals |= scenario_has_arrivals(&bench->scenarios[i]);
    generates |= bench->scenarios[i].kind == SCENARIO_generate;
  }
  const struct {
    const char *flag, *scenarios;
    bool is_given, is_used;
  } rows[] = {
      {"--streams", "multi", o->streams > 0, is_multi},
      {"--rate", "server or rate", o->rate_per_s > 0 || o->finds_rate, has_arrivals},
      {"--latency-bound", "server or rate", o->bound_ms > 0, has_arrivals},
      {"--prompt", "generate", o->prompt_count || o->prompt_file, generates},
      {"--new-tokens", "generate", o->new_tokens > 0, generates},
      {"--quality-text", "generate", o->quality_text, generates},
  };
  for (size_t i = 0; i < COUNT(rows); i++)
    if (rows[i].is_given && !rows[i].is_used)
      return fail(bench->ctx, HONE_E_USAGE, place_name(rows[i].flag), "needs --scenario %s",
                  rows[i].scenarios);
  return HONE_OK;
}

static hone_status make_scenarios(struct bench *bench) {
  const struct bench_options *o = &bench->options;
  static const char *const usual[] = {"single"};
  const char *const *names = o->scenario_count ? o->scenarios : usual;
  static const int usual_prompt[] = {16};
  const size_t count = o->scenario_count ? o->scenario_count : 1;
  const int *prompts = o->prompt_count ? o->prompt_tokens : usual_prompt;
  const size_t prompt_count = o->prompt_count ? o->prompt_count : 1;
  TRY(NEW_ARRAY(bench->ctx, bench->arena, bench->scenarios, count * prompt_count));
  for (size_t i = 0; i < count; i++)
    for (size_t p = 0; p < (strcmp(names[i], "generate") ? 1 : prompt_count); p++)
      TRY(scenario_make(bench->ctx, names[i], prompts[p], o,
                        &bench->scenarios[bench->scenario_count++]));
  return check_scenario_flags(bench);
}

static hone_status parse_devices(struct bench *bench) {
  const struct bench_options *o = &bench->options;
  static const char *const here[] = {"cpu"};
  const char *const *names = o->device_count ? o->devices : here;
  bench->device_count = o->device_count ? o->device_count : 1;
  TRY(NEW_ARRAY(bench->ctx, bench->arena, bench->devices, bench->device_count));
  for (size_t i = 0; i < bench->device_count; i++)
    TRY(device_parse(bench->ctx, names[i], o->device_hone, &bench->devices[i]));
  return HONE_OK;
}

hone_status options_check(struct bench *bench) {
  TRY(check_backends(bench->ctx, &bench->options));
  TRY(check_routes(bench->ctx, &bench->options));
  TRY(check_cache_states(bench->ctx, &bench->options));
  TRY(parse_devices(bench));
  TRY(make_scenarios(bench));
  return check_models(bench->ctx, &bench->options);
}
