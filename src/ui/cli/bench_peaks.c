/* The machine's peaks: measured for each thread count before a study, again for short times during it, and the limits of its
 * configurations computed from them. Disturbance only ever lowers a probe, so the highest value counts.
 */
#include "cli.h"

#include <jansson.h>
#include <math.h>

#define FIRST_NS 1500000000u
#define AGAIN_NS 100000000u /* of one repetition, and as long again for memory bandwidth */
#define SHARE 0.025         /* share of a study's budget, for one thread count */
#define BETWEEN_NS 5000000000u

static hone_status keep_configs(struct ctx *ctx, struct arena *arena,
                                const struct bench_study *study, struct study_peaks *out) {
  TRY(NEW_ARRAY(ctx, arena, out->configs, study->config_count + 1));
  for (size_t i = 0; i < study->config_count; i++) {
    struct peaks_config *kept = &out->configs[i];
    kept->config = study->configs[i];
    kept->one = study->cases[study->config_case[i]];
    TRY(NEW_ARRAY(ctx, arena, kept->one.contractions, kept->one.contraction_count + 1));
    memcpy(kept->one.contractions, study->cases[study->config_case[i]].contractions,
           kept->one.contraction_count * sizeof *kept->one.contractions);
  }
  out->config_count = study->config_count;
  return HONE_OK;
}

static size_t index_of_threads(const struct study_peaks *peaks, int threads) {
  size_t i = 0;
  while (i < peaks->count && peaks->threads[i] != threads) i++;
  return i;
}

hone_status study_peaks_measure(struct ctx *ctx, struct arena *arena,
                                const struct bench_study *study, double budget_s,
                                struct study_peaks *out) {
  const double share_ns = budget_s > 0 ? SHARE * budget_s * 1e9 : INFINITY;
  TRY(keep_configs(ctx, arena, study, out));
  for (size_t i = 0; i < study->config_count; i++) {
    const int threads = study->configs[i].threads;
    if (index_of_threads(out, threads) < out->count || out->count == COUNT(out->at)) continue;
    TRY(peaks_measure(ctx, threads, (uint64_t)fmax(AGAIN_NS, fmin(FIRST_NS, share_ns)),
                      &out->at[out->count]));
    out->threads[out->count++] = threads;
  }
  out->last_ns = clock_ns();
  return HONE_OK;
}

hone_status study_peaks_again(struct ctx *ctx, const char *config_key, struct study_peaks *peaks) {
  struct peaks again;
  size_t config = 0;
  if (peaks->count == 0 || clock_ns() - peaks->last_ns < BETWEEN_NS) return HONE_OK;
  while (config < peaks->config_count && strcmp(peaks->configs[config].config.key, config_key) != 0)
    config++;
  if (config == peaks->config_count) return HONE_OK;
  const size_t at = index_of_threads(peaks, peaks->configs[config].config.threads);
  if (at == peaks->count) return HONE_OK;
  TRY(peaks_measure(ctx, peaks->threads[at], AGAIN_NS, &again));
  peaks_raise(&peaks->at[at], &again);
  peaks->last_ns = clock_ns();
  return HONE_OK;
}

void study_peaks_limits(const struct study_peaks *peaks, size_t config, struct config *out) {
  out->limit_ms = out->winograd_limit_ms = 0;
  /* these peaks are not those of another device */
  if (config >= peaks->config_count || strcmp(out->device, "cpu")) return;
  const struct bench_case *one = &peaks->configs[config].one;
  const size_t at = index_of_threads(peaks, out->threads);
  if (at == peaks->count) return;
  const double direct = bench_limit_ms(one, &peaks->at[at], out->precision),
               winograd = bench_winograd_limit_ms(one, &peaks->at[at], out->precision);
  if (isfinite(direct)) out->limit_ms = direct;
  if (isfinite(winograd)) out->winograd_limit_ms = winograd;
}

json_t *study_peaks_json(const struct study_peaks *peaks) {
  json_t *list = json_array();
  for (size_t i = 0; i < peaks->count; i++) {
    const struct peaks *at = &peaks->at[i];
    json_t *curve = json_array();
    for (int k = 0; k < at->bandwidth_count; k++)
      json_array_append_new(
          curve, json_pack("[f, f]", at->bandwidth[k].bytes, at->bandwidth[k].bytes_per_s / 1e9));
    json_array_append_new(list, json_pack("{s:i, s:f, s:f, s:o}", "threads", peaks->threads[i],
                                          "f32_gflops", at->f32_flops / 1e9, "bf16_gflops",
                                          at->bf16_flops / 1e9, "read_gb_per_s", curve));
  }
  return list;
}
