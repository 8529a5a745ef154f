/* Progress of a study: the remaining time, reports to the user, interruption. */
#include "study_internal.h"

#include <math.h>

bool bench_is_interrupted(const struct bench *bench) {
  return bench->options.interrupted && *bench->options.interrupted;
}

/* Seconds from starting an engine to its first result, and FLOP/s per thread; correct to a factor
   of two or three. Measured with zoo:mlp (2 cores of a shared Intel Xeon, 2026-11). */
static const struct speed {
  const char *backend; /* NULL: all others */
  double start_s, flops_per_s;
  bool one_thread;
} speeds[] = {
    {"native", 3, 80e9, false},      {"onnxruntime", 0.2, 70e9, false},
    {"openvino", 0.2, 60e9, false},  {"litert", 0.2, 60e9, false},
    {"mnn", 4, 50e9, false},         {"emx", 5, 2e9, true},
    {"tvm", 3, 1e9, false},          {"plaidml", 1, 1e9, false},
    {"executorch", 10, 25e9, false}, {NULL, 3, 30e9, false},
};

static double process_seconds(const struct bench_options *o, const struct config *config,
                              double flops) {
  const struct speed *speed = speeds;
  while (speed->backend && strcmp(speed->backend, config->backend) != 0) speed++;
  const int cores = usable_core_count();
  const int threads = speed->one_thread || config->threads < 1 ? 1
                      : config->threads > cores                ? cores
                                                               : config->threads;
  const double call = (isfinite(flops) ? flops : 0) / speed->flops_per_s / threads;
  return speed->start_s + fmin(o->warmup_s, 0.2) + 6 * call +
         schedule_rounds_ns(o, call * 1e9) * 1e-9;
}

hone_status eta_expect(struct bench *bench, double *out_seconds) {
  const struct bench_study *study = &bench->study;
  *out_seconds = 0;
  TRY(NEW_ARRAY(bench->ctx, bench->arena, bench->etas, study->config_count + 1));
  for (size_t i = 0; i < study->config_count; i++) {
    const struct bench_case *one = &study->cases[study->config_case[i]];
    struct eta *eta = &bench->etas[i];
    eta->expected_s = process_seconds(&bench->options, &study->configs[i], one->flops);
    eta->left = one->status == STATUS_ok ? bench->options.processes : 0;
    *out_seconds += eta->expected_s * eta->left;
  }
  return HONE_OK;
}

void eta_add(struct bench *bench, size_t config, uint64_t since_ns) {
  bench->etas[config].current_s += (double)(clock_ns() - since_ns) * 1e-9;
}

void eta_end(struct bench *bench, size_t config, bool has_failed, int left) {
  struct eta *eta = &bench->etas[config];
  if (!has_failed) { /* a failed process predicts nothing */
    eta->ended_s += eta->current_s;
    eta->ended++;
  }
  eta->current_s = 0;
  eta->left = left;
}

/* Scales the estimates of configurations without an ended process by the error of the others'
   estimates. */
double eta_seconds_left(const struct bench *bench) {
  double seen = 0, said = 0, left = 0;
  for (size_t i = 0; i < bench->study.config_count; i++) {
    const struct eta *eta = &bench->etas[i];
    seen += eta->ended_s;
    said += eta->ended * eta->expected_s;
  }
  const double factor = said > 0 ? seen / said : 1;
  for (size_t i = 0; i < bench->study.config_count; i++) {
    const struct eta *eta = &bench->etas[i];
    const double one = eta->ended ? eta->ended_s / eta->ended : eta->expected_s * factor;
    if (eta->left) left += fmax(0, one - eta->current_s) + (eta->left - 1) * one;
  }
  return left;
}

void bench_report(struct bench *bench, const struct config *config, const char *model,
                  const char *phase) {
  if (!bench->callbacks->progress) return;
  const struct bench_progress progress = {
      .model = model,
      .backend = config ? config->backend : "",
      .phase = phase,
      .threads = config ? config->threads : 0,
      .step = bench->step,
      .step_count = bench->step_count,
      .seconds_left = bench->etas ? eta_seconds_left(bench) : 0,
  };
  bench->callbacks->progress(bench->callbacks->user, &progress);
}
