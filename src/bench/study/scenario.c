/* Scenarios: how requests arrive. Terms and definitions are those of MLPerf Inference's LoadGen (V.
 * J. Reddi et al., "MLPerf Inference Benchmark", ISCA 2020): single stream, one after the other;
 * server, Poisson arrivals at a rate under a latency bound; offline, everything at once, rated by
 * throughput. multi keeps a number of requests in flight; rate is server with equal intervals.
 * generate is the loop of a language model, a prompt and then token by token, measured as LoadGen
 * does: time to first token, time per output token.
 */
#include "study_internal.h"
#include "bench/worker/generation.h"

#include <stdlib.h>

static const struct {
  const char *name;
  enum scenario_kind kind;
  bool has_rate;
} kinds[] = {{"single", SCENARIO_single, false},   {"multi", SCENARIO_multi, false},
             {"offline", SCENARIO_offline, false}, {"server", SCENARIO_server, true},
             {"rate", SCENARIO_rate, true},        {"generate", SCENARIO_generate, false}};

static void put_text(struct scenario *scenario, const char *name) {
  char number[32], bound[32], *out = scenario->text;
  const size_t size = sizeof scenario->text;
  if (scenario->finds_rate)
    snprintf(number, sizeof number, "max");
  else
    format_f64(number, scenario->rate_per_s);
  format_f64(bound, scenario->bound_ms);
  if (scenario->kind == SCENARIO_generate)
    snprintf(out, size, "%s:%d+%d", name, scenario->prompt, scenario->count);
  else if (scenario->kind == SCENARIO_multi)
    snprintf(out, size, "%s:%d", name, scenario->streams);
  else if (scenario_has_arrivals(scenario) && scenario->bound_ms > 0)
    snprintf(out, size, "%s:%.12s/s:%.12sms", name, number, bound);
  else if (scenario_has_arrivals(scenario))
    snprintf(out, size, "%s:%.12s/s", name, number);
  else
    snprintf(out, size, "%s", name);
}

/* The scenario's name has the prompt's length and hash instead of its ids. */
static hone_status read_prompt(struct ctx *ctx, const char *path, struct scenario *out) {
  int64_t *tokens;
  size_t count;
  char hash[33];
  TRY(prompt_read(ctx, path, &tokens, &count));
  hash_hex(hash, tokens, count * sizeof *tokens);
  free(tokens);
  if (count > GENERATION_MAX_TOKENS)
    return fail(ctx, HONE_E_LIMIT, place_file(path), "%zu tokens; at most %d are allowed", count,
                GENERATION_MAX_TOKENS);
  out->prompt = (int)count;
  snprintf(out->text, sizeof out->text, "generate:%d+%d:%.8s", out->prompt, out->count, hash);
  return HONE_OK;
}

hone_status scenario_make(struct ctx *ctx, const char *name, int prompt,
                          const struct bench_options *o, struct scenario *out) {
  for (size_t i = 0; i < COUNT(kinds); i++) {
    if (strcmp(kinds[i].name, name) != 0) continue;
    *out = (struct scenario){.kind = kinds[i].kind,
                             .streams = o->streams ? o->streams : 2,
                             .rate_per_s = o->rate_per_s,
                             .finds_rate = kinds[i].has_rate && o->finds_rate,
                             .bound_ms = o->bound_ms,
                             .prompt = prompt,
                             .count = o->new_tokens ? o->new_tokens : 32};
    if (out->finds_rate && !(o->bound_ms > 0))
      return fail(ctx, HONE_E_USAGE, place_name(name), "--rate max needs --latency-bound");
    if (kinds[i].has_rate && !out->finds_rate && !(o->rate_per_s > 0))
      return fail(ctx, HONE_E_USAGE, place_name(name), "needs --rate, the arrivals per second");
    put_text(out, name);
    return out->kind == SCENARIO_generate && o->prompt_file ? read_prompt(ctx, o->prompt_file, out)
                                                            : HONE_OK;
  }
  return fail(ctx, HONE_E_USAGE, place_name(name),
              "unknown scenario; choose single, multi, offline, server, rate or generate");
}
