/* Scenarios: how inferences arrive. The words and definitions are those of MLPerf Inference's LoadGen (V. J.
 * Reddi et al., "MLPerf Inference Benchmark", ISCA 2020): single stream, one after the other; server, arrivals of
 * a Poisson process at a rate, judged by a latency bound; offline, everything at once, judged by throughput. multi
 * keeps so many requests in flight; rate is server with even distances.
 */
#include "bench.h"

#include <math.h>

static const struct {
  const char *name;
  enum scenario_kind kind;
  bool has_rate;
} kinds[] = {{"single", SCENARIO_single, false},
             {"multi", SCENARIO_multi, false},
             {"offline", SCENARIO_offline, false},
             {"server", SCENARIO_server, true},
             {"rate", SCENARIO_rate, true}};

bool scenario_has_arrivals(const struct scenario *scenario) {
  return scenario->kind == SCENARIO_server || scenario->kind == SCENARIO_rate;
}

int scenario_streams(const struct scenario *scenario) {
  return scenario->kind == SCENARIO_multi     ? scenario->streams
         : scenario->kind == SCENARIO_offline ? BENCH_SETS
                                              : 1;
}

static void put_text(struct scenario *scenario, const char *name) {
  char number[32], bound[32], *out = scenario->text;
  const size_t size = sizeof scenario->text;
  format_f64(number, scenario->rate_per_s);
  format_f64(bound, scenario->bound_ms);
  if (scenario->kind == SCENARIO_multi)
    snprintf(out, size, "%s:%d", name, scenario->streams);
  else if (scenario_has_arrivals(scenario) && scenario->bound_ms > 0)
    snprintf(out, size, "%s:%.12s/s:%.12sms", name, number, bound);
  else if (scenario_has_arrivals(scenario))
    snprintf(out, size, "%s:%.12s/s", name, number);
  else
    snprintf(out, size, "%s", name);
}

hone_status scenario_make(struct ctx *ctx, const char *name, int streams, double rate_per_s,
                          double bound_ms, struct scenario *out) {
  for (size_t i = 0; i < COUNT(kinds); i++) {
    if (strcmp(kinds[i].name, name) != 0) continue;
    *out = (struct scenario){.kind = kinds[i].kind,
                             .streams = streams ? streams : 2,
                             .rate_per_s = rate_per_s,
                             .bound_ms = bound_ms};
    if (kinds[i].has_rate && !(rate_per_s > 0))
      return fail(ctx, HONE_E_USAGE, place_name(name), "needs --rate, the arrivals a second");
    put_text(out, name);
    return HONE_OK;
  }
  return fail(ctx, HONE_E_USAGE, place_name(name),
              "no such scenario; there is single, multi, offline, server, rate");
}

uint64_t scenario_distance_ns(const struct scenario *scenario, struct random *random) {
  const double mean = 1e9 / scenario->rate_per_s;
  if (scenario->kind == SCENARIO_rate) return (uint64_t)mean;
  /* the distances of a Poisson process are exponential; 1 - u is never 0 */
  return (uint64_t)(-mean * log1p(-random_uniform(random)));
}
