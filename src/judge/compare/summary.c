/* summary: blocks and processes of a study to records, ranks and comparisons. Renderers print these and calculate nothing.
 *
 * Invariants: the same data gives the same bytes (seeds come from the study's key); a configuration whose outputs were never
 * compared is `unverified` even if its worker reported ok; only `ok` configurations have a rank.
 */
#include "core/format/format.h"
#include "compare.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#define CONFIDENCE 0.95
#define RESAMPLES 2000

uint64_t seed_of(const char *key) {
  uint64_t seed = 0x9e3779b97f4a7c15u;
  for (; *key; key++) seed = (seed ^ (unsigned char)*key) * 0x100000001b3u;
  return seed;
}

bool same_group(const struct record *a, const struct record *b) {
  return !strcmp(a->config.model_hash, b->config.model_hash) &&
         !strcmp(a->config.model, b->config.model) && !strcmp(a->config.shapes, b->config.shapes) &&
         !strcmp(a->config.scenario, b->config.scenario) && a->config.batch == b->config.batch &&
         a->config.threads == b->config.threads && a->config.load == b->config.load &&
         !strcmp(a->config.precision, b->config.precision);
}

size_t group_end(const struct summary *summary, size_t begin) {
  size_t end = begin;
  while (end < summary->record_count &&
         same_group(&summary->records[begin], &summary->records[end]))
    end++;
  return end;
}

bool is_measured(const struct record *record) { return record->sample_count > 0; }

/* The flag for which a row that is measured and verified has no rank; -1: none. */
static int flag_without_rank(const struct record *record) {
  if (record->status != STATUS_ok) return -1;
  return record->flags & FLAG_MASK(emulated)  ? (int)FLAG_BIT_emulated
         : record->flags & FLAG_MASK(departs) ? (int)FLAG_BIT_departs
                                              : -1;
}

const char *unranked_text(const struct record *record) {
  const int flag = flag_without_rank(record);
  return flag < 0 ? status_text(record->status) : flag_text(flag);
}

const char *unranked_help(const struct record *record) {
  const int flag = flag_without_rank(record);
  return flag < 0 ? status_help(record->status) : flag_help(flag);
}
bool is_native(const struct record *record) { return !strcmp(record->config.backend, "native"); }

const struct comparison *find_comparison(const struct summary *summary, size_t a, size_t b) {
  for (size_t i = 0; i < summary->comparison_count; i++)
    if (summary->comparisons[i].a == a && summary->comparisons[i].b == b)
      return &summary->comparisons[i];
  return NULL;
}

size_t native_of_group(const struct summary *summary, size_t begin, size_t end) {
  for (size_t i = begin; i < end; i++)
    if (summary->records[i].rank && is_native(&summary->records[i]) &&
        summary->records[i].config.label == 0)
      return i;
  return SIZE_MAX;
}

const struct config_data *config_data_of(const struct summary *summary,
                                         const struct record *record) {
  for (size_t i = 0; summary->data && i < summary->data->config_count; i++)
    if (!strcmp(summary->data->cells[i].config.key, record->config.key))
      return &summary->data->cells[i];
  return NULL;
}

/* -- samples */

/* The first token of a generation, whose step processes the prompt. */
static bool is_first_token(const struct config *config, const struct block *block, size_t i) {
  return config_generates(config) && i < block->scheduled_count && i < block->started_count &&
         block->scheduled[i] == block->started[i];
}

/* The samples of a block; for text generation without the first token of each generation. */
static MUST_USE hone_status add_round(struct ctx *ctx, struct arena *arena,
                                      const struct config *config, const struct block *block,
                                      struct sample_round *out) {
  double *samples;
  size_t n = 0;
  TRY(NEW_ARRAY(ctx, arena, samples, block->sample_count));
  for (size_t i = 0; i < block->sample_count; i++)
    if (!is_first_token(config, block, i)) samples[n++] = (double)block->samples[i];
  *out = (struct sample_round){samples, n};
  return HONE_OK;
}

/* Blocks are ordered by process, then round. */
hone_status make_sample_set(struct ctx *ctx, struct arena *arena, const struct config_data *data,
                            struct sample_set *out) {
  struct sample_round *rounds;
  *out = (struct sample_set){0};
  TRY(NEW_ARRAY(ctx, arena, rounds, data->block_count));
  TRY(NEW_ARRAY(ctx, arena, out->processes, data->block_count));
  int process_record = 0;
  for (size_t i = 0; i < data->block_count; i++) {
    if (data->blocks[i].sample_count == 0) continue;
    if (out->process_count == 0 || data->blocks[i].process_record != process_record)
      out->processes[out->process_count++] = (struct sample_process){0, rounds};
    process_record = data->blocks[i].process_record;
    TRY(add_round(ctx, arena, &data->config, &data->blocks[i], rounds++));
    out->processes[out->process_count - 1].round_count++;
  }
  return HONE_OK;
}

hone_status block_medians(struct ctx *ctx, struct arena *arena, const struct config_data *data,
                          struct slice_median **out, size_t *out_count) {
  TRY(NEW_ARRAY(ctx, arena, *out, data->block_count));
  *out_count = 0;
  for (size_t i = 0; i < data->block_count; i++) {
    const struct block *block = &data->blocks[i];
    double median;
    if (!block->sample_count) continue;
    TRY(median_of(ctx, block->samples, block->sample_count, &median));
    (*out)[(*out_count)++] = (struct slice_median){block->process_record, block->round, median};
  }
  return HONE_OK;
}

static MUST_USE hone_status pool_samples(struct ctx *ctx, struct arena *arena,
                                         const struct sample_set *set, double **out,
                                         size_t *count) {
  *count = 0;
  for (size_t p = 0; p < set->process_count; p++)
    for (size_t r = 0; r < set->processes[p].round_count; r++)
      *count += set->processes[p].rounds[r].count;
  TRY(NEW_ARRAY(ctx, arena, *out, *count));
  size_t at = 0;
  for (size_t p = 0; p < set->process_count; p++)
    for (size_t r = 0; r < set->processes[p].round_count; r++) {
      const struct sample_round *round = &set->processes[p].rounds[r];
      memcpy(*out + at, round->samples, round->count * sizeof **out);
      at += round->count;
    }
  sort_doubles(*out, *count);
  return HONE_OK;
}

/* NaN if there are too few samples for the upper end of its interval. */
static double percentile_or_none(const double *sorted, size_t n, double p) {
  size_t low, high;
  return quantile_interval(n, p, CONFIDENCE, &low, &high) ? percentile_sorted(sorted, n, p) * 1e-6
                                                          : NAN;
}

/* Text generation: time to first token, and tokens per second over all tokens. */
static MUST_USE hone_status fill_generation(struct ctx *ctx, struct arena *arena,
                                            const struct config_data *data, struct record *record) {
  double *first, busy_ns = 0;
  size_t n = 0, all = 0;
  if (!config_generates(&data->config)) return HONE_OK;
  for (size_t b = 0; b < data->block_count; b++) all += data->blocks[b].sample_count;
  TRY(NEW_ARRAY(ctx, arena, first, all));
  for (size_t b = 0; b < data->block_count; b++)
    for (size_t i = 0; i < data->blocks[b].sample_count; i++) {
      busy_ns += (double)data->blocks[b].samples[i];
      if (is_first_token(&data->config, &data->blocks[b], i))
        first[n++] = (double)data->blocks[b].samples[i];
    }
  if (!n || !(busy_ns > 0)) return HONE_OK;
  sort_doubles(first, n);
  record->first_token_p50_ms = percentile_sorted(first, n, 0.5) * 1e-6;
  record->first_token_p99_ms = percentile_or_none(first, n, 0.99);
  record->throughput_per_s = record->tokens_per_s = (double)all / busy_ns * 1e9;
  return HONE_OK;
}

static MUST_USE hone_status median_interval(struct ctx *ctx, const struct sample_set *set,
                                            const double *sorted, size_t n, uint64_t seed,
                                            struct record *record) {
  struct interval median;
  size_t low, high;
  if (record->rounds > 1) {
    TRY(bootstrap_median(ctx, set, CONFIDENCE, RESAMPLES, seed, &median));
    record->p50_lo_ms = median.low * 1e-6;
    record->p50_hi_ms = median.high * 1e-6;
  } else if (quantile_interval(n, 0.5, CONFIDENCE, &low, &high)) {
    record->p50_lo_ms = sorted[low] * 1e-6;
    record->p50_hi_ms = sorted[high] * 1e-6;
  }
  return HONE_OK;
}

/* Seconds from the first request to the end of the last one, over all blocks, for scenarios whose requests may overlap; 0 for
   scenarios with one call at a time. */
static double busy_seconds(const struct config_data *data) {
  double sum = 0;
  for (size_t b = 0; b < data->block_count; b++) {
    const struct block *block = &data->blocks[b];
    uint64_t last = 0;
    for (size_t i = 0; i < block->scheduled_count && i < block->sample_count; i++)
      if (block->scheduled[i] + block->samples[i] > last)
        last = block->scheduled[i] + block->samples[i];
    sum += (double)last * 1e-9;
  }
  return sum;
}

/* The latency bound of "server:100/s:15ms" in ms; 0: none. */
static double bound_of(const char *scenario) {
  const char *last = strrchr(scenario, ':');
  double bound;
  char number[24];
  const size_t length = last ? strlen(last + 1) : 0;
  if (length < 3 || length >= sizeof number || strcmp(last + length - 1, "ms") != 0) return 0;
  snprintf(number, sizeof number, "%.*s", (int)length - 2, last + 1);
  return parse_f64(number, 0, 1e9, &bound) ? bound : 0;
}

static void judge_bound(const double *sorted, size_t n, struct record *record) {
  const double bound_ns = bound_of(record->config.scenario) * 1e6;
  size_t over = 0;
  if (!(bound_ns > 0)) return;
  while (over < n && sorted[n - 1 - over] > bound_ns) over++;
  record->over_bound_share = (double)over / (double)n;
  if (!latency_bound_holds(n, over)) record->flags |= FLAG_MASK(over_bound);
}

static MUST_USE hone_status fill_latency(struct ctx *ctx, struct arena *arena,
                                         const struct config_data *data,
                                         const struct sample_set *set, uint64_t seed,
                                         struct record *record) {
  double *sorted, sum = 0, squares = 0;
  size_t n;
  TRY(pool_samples(ctx, arena, set, &sorted, &n));
  record->sample_count = n;
  record->processes = (int)set->process_count;
  for (size_t p = 0; p < set->process_count; p++)
    record->rounds += (int)set->processes[p].round_count;
  if (n == 0) return HONE_OK;
  for (size_t i = 0; i < n; i++) sum += sorted[i];
  const double mean = sum / (double)n;
  for (size_t i = 0; i < n; i++) squares += (sorted[i] - mean) * (sorted[i] - mean);
  record->mean_ms = mean * 1e-6;
  record->std_ms = n > 1 ? sqrt(squares / (double)(n - 1)) * 1e-6 : NAN;
  record->min_ms = sorted[0] * 1e-6;
  record->max_ms = sorted[n - 1] * 1e-6;
  record->p50_ms = percentile_sorted(sorted, n, 0.5) * 1e-6;
  record->p90_ms = percentile_or_none(sorted, n, 0.9);
  record->p99_ms = percentile_or_none(sorted, n, 0.99);
  const double batch = record->config.batch > 0 ? record->config.batch : 1;
  const double busy_s = busy_seconds(data);
  if (busy_s > 0)
    record->throughput_per_s = batch * (double)n / busy_s;
  else if (record->p50_ms > 0)
    record->throughput_per_s = 1000.0 * batch / record->p50_ms;
  judge_bound(sorted, n, record);
  return median_interval(ctx, set, sorted, n, seed, record);
}

/* -- facts of the processes */

/* How the figures of several processes are combined: the median for times, the worst for sizes and differences. */
enum join { JOIN_MEDIAN, JOIN_MAX, JOIN_MIN };
#define OF(member, join) \
  { offsetof(struct process_record, member), join }
static const struct {
  size_t offset;
  enum join join;
} joined_doubles[] = {
    OF(compile_ms, JOIN_MEDIAN),  OF(load_ms, JOIN_MEDIAN),     OF(first_inference_ms, JOIN_MEDIAN),
    OF(warmup_ms, JOIN_MEDIAN),   OF(import_ms, JOIN_MEDIAN),   OF(cached_compile_ms, JOIN_MEDIAN),
    OF(rss_slope, JOIN_MAX),      OF(rate_per_s, JOIN_MIN),     OF(floor_ns, JOIN_MEDIAN),
    OF(fallback_share, JOIN_MAX), OF(max_abs_diff, JOIN_MAX),   OF(max_rel_diff, JOIN_MAX),
    OF(rel_l2, JOIN_MAX),         OF(cosine, JOIN_MIN),         OF(top1, JOIN_MIN),
    OF(task_accuracy, JOIN_MIN),  OF(task_reference, JOIN_MIN), OF(accuracy_retention, JOIN_MIN),
    OF(kl_divergence, JOIN_MAX),
};
static const size_t joined_counts[] = {
    offsetof(struct process_record, rss_import),  offsetof(struct process_record, rss_compile),
    offsetof(struct process_record, rss_load),    offsetof(struct process_record, rss_steady),
    offsetof(struct process_record, rss_peak),    offsetof(struct process_record, artifact_bytes),
    offsetof(struct process_record, arena_bytes), offsetof(struct process_record, largest_batch),
};

static double join_doubles(double *x, size_t n, enum join join) {
  if (n == 0) return NAN;
  sort_doubles(x, n);
  return join == JOIN_MEDIAN ? percentile_sorted(x, n, 0.5) : join == JOIN_MAX ? x[n - 1] : x[0];
}

static MUST_USE hone_status join_processes(struct ctx *ctx, struct arena *arena,
                                           const struct config_data *data,
                                           struct process_record *worst) {
  double *values;
  TRY(NEW_ARRAY(ctx, arena, values, data->process_count));
  for (size_t f = 0; f < COUNT(joined_doubles); f++) {
    size_t n = 0;
    for (size_t i = 0; i < data->process_count; i++) {
      double x;
      memcpy(&x, (const char *)&data->processes[i] + joined_doubles[f].offset, sizeof x);
      if (!isnan(x)) values[n++] = x;
    }
    const double joined = join_doubles(values, n, joined_doubles[f].join);
    memcpy((char *)worst + joined_doubles[f].offset, &joined, sizeof joined);
  }
  for (size_t f = 0; f < COUNT(joined_counts); f++) {
    int64_t most = -1, x;
    for (size_t i = 0; i < data->process_count; i++) {
      memcpy(&x, (const char *)&data->processes[i] + joined_counts[f], sizeof x);
      if (x > most) most = x;
    }
    memcpy((char *)worst + joined_counts[f], &most, sizeof most);
  }
  return HONE_OK;
}

/* Figures that only the first process has: it compiles the model and searches the largest batch. */
static void copy_first_process(const struct config_data *data, struct process_record *worst) {
  const struct process_record *first = NULL;
  for (size_t i = 0; i < data->process_count; i++) {
    const struct process_record *at = &data->processes[i];
    if (at->memory_count && (!first || at->number < first->number)) first = at;
    if (at->largest_batch_end[0])
      memcpy(worst->largest_batch_end, at->largest_batch_end, sizeof worst->largest_batch_end);
  }
  if (!first) return;
  worst->memory_when = first->memory_when;
  worst->memory_bytes = first->memory_bytes;
  worst->memory_when_count = first->memory_when_count;
  worst->memory_count = first->memory_count;
}

/* Energy of an inference in mJ, over the blocks of one process, or of all (number < 0). */
static double energy_of(const struct config_data *data, int number) {
  double uj = 0, inferences = 0;
  for (size_t i = 0; i < data->block_count; i++) {
    const struct block *block = &data->blocks[i];
    if (block->energy_uj <= 0 || (number >= 0 && block->process_record != number)) continue;
    uj += (double)block->energy_uj;
    inferences += (double)(block->sample_count + block->rewarm_count);
  }
  return inferences > 0 ? uj / 1e3 / inferences : NAN;
}

/* With Student's interval over the processes, or over the blocks if fewer than three processes were measured. */
static MUST_USE hone_status fill_energy(struct ctx *ctx, struct arena *arena,
                                        const struct config_data *data, struct record *record) {
  double *means;
  size_t count = 0;
  record->energy_mj = energy_of(data, -1);
  TRY(NEW_ARRAY(ctx, arena, means, data->block_count + data->process_count + 1));
  for (size_t i = 0; i < data->process_count; i++) {
    means[count] = energy_of(data, data->processes[i].number);
    if (isfinite(means[count])) count++;
  }
  if (count < 3) {
    count = 0;
    for (size_t i = 0; i < data->block_count; i++) {
      const struct block *block = &data->blocks[i];
      if (block->energy_uj > 0 && block->sample_count)
        means[count++] =
            (double)block->energy_uj / 1e3 / (double)(block->sample_count + block->rewarm_count);
    }
  }
  const struct interval range = student_interval(means, count, CONFIDENCE);
  record->energy_lo_mj = count ? range.low : NAN;
  record->energy_hi_mj = count ? range.high : NAN;
  return HONE_OK;
}

/* Medians of the copy times, and of each sample without the copy of its outputs. */
static MUST_USE hone_status fill_copies(struct ctx *ctx, struct arena *arena,
                                        const struct config_data *data, struct record *record) {
  double *in, *out, *compute;
  size_t in_count = 0, out_count = 0;
  for (size_t b = 0; b < data->block_count; b++) {
    in_count += data->blocks[b].copy_in_count;
    out_count += data->blocks[b].copy_out_count;
  }
  TRY(NEW_ARRAY(ctx, arena, in, in_count));
  TRY(NEW_ARRAY(ctx, arena, out, out_count));
  TRY(NEW_ARRAY(ctx, arena, compute, out_count));
  in_count = out_count = 0;
  for (size_t b = 0; b < data->block_count; b++) {
    const struct block *block = &data->blocks[b];
    for (size_t i = 0; i < block->copy_in_count; i++) in[in_count++] = (double)block->copy_in[i];
    for (size_t i = 0; i < block->copy_out_count && i < block->sample_count; i++) {
      out[out_count] = (double)block->copy_out[i];
      compute[out_count++] = (double)block->samples[i] - (double)block->copy_out[i];
    }
  }
  record->copy_in_ms = join_doubles(in, in_count, JOIN_MEDIAN) * 1e-6;
  record->copy_out_ms = join_doubles(out, out_count, JOIN_MEDIAN) * 1e-6;
  record->compute_ms = join_doubles(compute, out_count, JOIN_MEDIAN) * 1e-6;
  return HONE_OK;
}

static void set_unknown(struct process_record *facts) {
  const double none = NAN;
  const int64_t unknown = -1;
  for (size_t f = 0; f < COUNT(joined_doubles); f++)
    memcpy((char *)facts + joined_doubles[f].offset, &none, sizeof none);
  for (size_t f = 0; f < COUNT(joined_counts); f++)
    memcpy((char *)facts + joined_counts[f], &unknown, sizeof unknown);
  facts->effective_threads = -1;
  facts->busy_threads = -1;
}

/* Measured, but not known to be correct. */
static bool is_doubted(enum record_status status) {
  return status == STATUS_unverified || status == STATUS_disputed;
}

/* The process whose status the configuration gets: the first that failed. An interrupted one counts only if there is no
   other. */
static const struct process_record *deciding_process(const struct config_data *data) {
  const struct process_record *good = NULL, *doubted = NULL, *interrupted = NULL;
  for (size_t i = 0; i < data->process_count; i++) {
    const struct process_record *at = &data->processes[i];
    if (is_doubted(at->status)) {
      if (!doubted) doubted = at;
    } else if (at->status != STATUS_ok && at->status != STATUS_interrupted) {
      return at;
    }
    if (at->status == STATUS_ok && !good) good = at;
    if (at->status == STATUS_interrupted && !interrupted) interrupted = at;
  }
  return doubted ? doubted : good ? good : interrupted;
}

static bool was_compared(const struct config_data *data, const struct process_record *facts) {
  if (!isnan(facts->rel_l2) || !isnan(facts->max_abs_diff) || !isnan(facts->max_rel_diff))
    return true;
  for (size_t i = 0; i < data->block_count; i++)
    if (data->blocks[i].verified > 0) return true;
  return false;
}

static MUST_USE hone_status fill_outcome(struct ctx *ctx, struct arena *arena,
                                         const struct config_data *data, struct record *record) {
  const struct process_record *deciding = deciding_process(data);
  set_unknown(&record->worst);
  if (!deciding) {
    record->status = STATUS_interrupted;
    snprintf(record->reason, sizeof record->reason, "not measured yet");
    return HONE_OK;
  }
  record->worst = *deciding;
  record->status = deciding->status;
  record->stage = deciding->stage;
  snprintf(record->reason, sizeof record->reason, "%s", deciding->reason);
  for (size_t i = 0; i < data->process_count; i++) record->flags |= data->processes[i].flags;
  if (record->status == STATUS_ok || is_doubted(record->status))
    TRY(join_processes(ctx, arena, data, &record->worst));
  copy_first_process(data, &record->worst);
  if (config_generates(&data->config) && text_departs(&record->worst))
    record->flags |= FLAG_MASK(departs);
  /* later processes load from the cache on purpose, so the mark is only for a configuration that was never compiled cold */
  if (isfinite(record->worst.compile_ms)) record->flags &= ~FLAG_MASK(cached);
  if (record->status == STATUS_ok && !was_compared(data, &record->worst)) {
    record->status = STATUS_unverified;
    record->stage = STAGE_verify;
    snprintf(record->reason, sizeof record->reason, "no output of the timed run was compared");
  }
  if (record->status == STATUS_ok && !is_measured(record)) {
    record->status = STATUS_interrupted;
    snprintf(record->reason, sizeof record->reason, "not measured yet");
  }
  return HONE_OK;
}

/* Disturbance by other processes: means over the blocks; the sum of involuntary context switches. */
static void fill_noise(const struct config_data *data, struct record *record) {
  struct noise *all = &record->noise;
  double steal = 0, pressure = 0;
  int steals = 0, pressures = 0;
  *all = (struct noise){-1, -1, -1, -1};
  for (size_t i = 0; i < data->block_count; i++) {
    const struct noise *at = &data->blocks[i].noise;
    if (at->steal_fraction >= 0) steal += at->steal_fraction, steals++;
    if (at->pressure_some >= 0) pressure += at->pressure_some, pressures++;
    if (at->involuntary_switches >= 0)
      all->involuntary_switches = (all->involuntary_switches < 0 ? 0 : all->involuntary_switches) +
                                  at->involuntary_switches;
    if (at->frequency_mhz > 0 && (all->frequency_mhz < 0 || at->frequency_mhz < all->frequency_mhz))
      all->frequency_mhz = at->frequency_mhz;
  }
  if (steals) all->steal_fraction = steal / steals;
  if (pressures) all->pressure_some = pressure / pressures;
}

/* -- the command that measures a row again */

/* Each of "key=value;..." as a flag. */
static void put_backend_options(struct strbuf *out, const struct config *config) {
  for (const char *at = config->options; *at;) {
    const size_t length = strcspn(at, ";");
    char option[sizeof config->backend + sizeof config->options + 2];
    snprintf(option, sizeof option, "%s.%.*s", config->backend, (int)length, at);
    strbuf_puts(out, " --backend-option ");
    if (length) put_shell_word(out, option);
    at += length + (at[length] == ';');
  }
}

static void put_backend_word(struct strbuf *out, const struct config *config) {
  struct strbuf name = {0};
  put_engine_name(&name, config);
  put_shell_word(out, name.at ? name.at : "");
  if (name.failed) out->failed = true;
  strbuf_deinit(&name);
}

/* "multi:2", "server:100/s:15ms" and "generate:16+32" as flags. */
static void put_scenario(struct strbuf *out, const struct config *config) {
  const char *scenario = config->scenario;
  const char *colon = strchr(scenario, ':'), *bound = strrchr(scenario, ':');
  if (!scenario[0] || !strcmp(scenario, "single")) return;
  strbuf_printf(out, " --scenario %.*s", (int)strcspn(scenario, ":"), scenario);
  if (!colon) return;
  const bool generates = config_generates(config);
  const char *flag = generates ? "prompt" : !strncmp(scenario, "multi", 5) ? "streams" : "rate";
  /* a hash ends the name of a prompt from a file, which is among the study's flags */
  if (!generates || bound == colon)
    strbuf_printf(out, " --%s %.*s", flag, (int)strcspn(colon + 1, "/+"), colon + 1);
  if (!generates && bound != colon) strbuf_printf(out, " --latency-bound %s", bound + 1);
}

/* Flags of every row of the study, stored with shell quotes. */
static void put_study_flags(struct strbuf *out, const struct study_row *study) {
  json_error_t error;
  json_t *options = json_loads(study->options_json, 0, &error);
  const char *flags = json_string_value(json_object_get(options, "flags"));
  if (flags) strbuf_puts(out, flags);
  json_decref(options);
}

static void fill_repeat(const struct study_row *study, struct record *record) {
  const struct config *config = &record->config;
  struct strbuf out = {0};
  strbuf_puts(&out, "hone bench ");
  const char *model = strncmp(config->model, "zoo:", 4) && config->model_path[0]
                          ? config->model_path
                          : config->model;
  if (model[0] == '-') strbuf_puts(&out, "./");
  put_shell_word(&out, model);
  strbuf_puts(&out, " --backend ");
  put_backend_word(&out, config);
  put_backend_options(&out, config);
  strbuf_printf(&out, " --batch %d --threads %d", config->batch, config->threads);
  if (config->load) strbuf_printf(&out, " --load %d", config->load);
  if (config->precision[0]) {
    strbuf_puts(&out, " --precision ");
    put_shell_word(&out, config->precision);
  }
  if (config->device[0] && strcmp(config->device, "cpu")) {
    strbuf_puts(&out, " --device ");
    put_shell_word(&out, config->device);
  }
  if (strstr(config->route, "-hone")) {
    strbuf_puts(&out, " --route ");
    put_shell_word(&out, config->route);
  }
  if (!strcmp(config->cache_state, "cold")) strbuf_puts(&out, " --cache-state cold");
  put_scenario(&out, config);
  put_study_flags(&out, study);
  if (!out.failed && out.length < sizeof record->repeat)
    memcpy(record->repeat, out.at, out.length + 1);
  strbuf_deinit(&out);
}

/* -- order, ranks, comparisons */

struct ordered {
  struct record record;
  struct sample_set set;
  struct slice_median *slices; /* by process, then round */
  size_t slice_count;
  double order;        /* ns: p50; if paired, the group's lowest p50 times the paired ratio to it */
  size_t group, place; /* of first appearance */
};

static bool can_rank(const struct record *record) {
  return record->status == STATUS_ok && flag_without_rank(record) < 0;
}
static int kind_of(const struct record *record) {
  return can_rank(record) ? 0 : is_measured(record) ? 1 : 2;
}
static int compare_ordered(const void *a, const void *b) {
  const struct ordered *x = *(struct ordered *const *)a, *y = *(struct ordered *const *)b;
  if (x->group != y->group) return x->group < y->group ? -1 : 1;
  const int kind_x = kind_of(&x->record), kind_y = kind_of(&y->record);
  if (kind_x != kind_y) return kind_x - kind_y;
  if (kind_x < 2 && x->order != y->order) return x->order < y->order ? -1 : 1;
  return (x->place > y->place) - (x->place < y->place);
}

enum verdict verdict_of(const struct record *a, const struct record *b,
                        const struct interval *ratio, const struct paired *pairs) {
  const double overheads = fabs(a->worst.floor_ns - b->worst.floor_ns);
  const struct verdict_rule rule = {3, 12, isfinite(overheads) ? overheads : 0};
  return decide(ratio, pairs ? pairs->processes : a->processes,
                pairs ? pairs->processes : b->processes, pairs ? pairs->rounds : a->rounds,
                pairs ? pairs->rounds : b->rounds, a->p50_ms * 1e6, b->p50_ms * 1e6, &rule);
}

static MUST_USE hone_status compare_pair(struct ctx *ctx, const struct ordered *const *rows,
                                         size_t a, size_t b, uint64_t seed,
                                         struct comparison *out) {
  const struct record *x = &rows[a]->record, *y = &rows[b]->record;
  struct paired paired;
  *out = (struct comparison){.a = a, .b = b};
  TRY(paired_ratio(ctx, rows[a]->slices, rows[a]->slice_count, rows[b]->slices,
                   rows[b]->slice_count, CONFIDENCE, &paired));
  if (paired.processes >= 2) {
    out->ratio = paired.ratio;
    out->verdict = verdict_of(x, y, &out->ratio, &paired);
    return HONE_OK;
  }
  /* too few rounds in common */
  TRY(bootstrap_ratio(ctx, &rows[a]->set, &rows[b]->set, CONFIDENCE, RESAMPLES, seed, &out->ratio));
  if (x->rounds < 2 || y->rounds < 2) /* nothing to resample: no interval */
    out->ratio.low = out->ratio.high = (double)NAN;
  out->verdict = verdict_of(x, y, &out->ratio, NULL);
  return HONE_OK;
}

typedef VEC(struct comparison) comparisons;
static MUST_USE hone_status add_comparison(struct ctx *ctx, struct arena *arena,
                                           const struct ordered *const *rows, size_t a, size_t b,
                                           uint64_t seed, comparisons *out) {
  struct comparison comparison;
  for (size_t i = 0; i < out->count; i++)
    if (out->at[i].a == a && out->at[i].b == b) return HONE_OK;
  TRY(compare_pair(ctx, rows, a, b, seed, &comparison));
  VEC_PUSH(ctx, arena, out, comparison);
  return HONE_OK;
}

/* The row that differs from row i only by the label 0; SIZE_MAX: none. */
static size_t original_of(const struct summary *summary, size_t begin, size_t end, size_t i) {
  const struct config *copy = &summary->records[i].config;
  for (size_t j = begin; copy->label > 0 && j < end; j++) {
    const struct config *config = &summary->records[j].config;
    if (config->label == 0 && is_measured(&summary->records[j]) && same_engine(config, copy))
      return j;
  }
  return SIZE_MAX;
}

bool is_decided(const struct summary *summary, size_t i) {
  bool has_any = false;
  for (size_t c = 0; c < summary->comparison_count; c++) {
    if (summary->comparisons[c].b != i) continue;
    if (summary->comparisons[c].verdict != VERDICT_undecided) return true;
    has_any = true;
  }
  return !has_any;
}

bool is_tied(const struct summary *summary, size_t i) {
  for (size_t c = 0; c < summary->comparison_count; c++) {
    const struct comparison *comparison = &summary->comparisons[c];
    if (comparison->b == i && comparison->verdict == VERDICT_tie &&
        summary->records[comparison->a].rank && !summary->records[comparison->a].config.label)
      return true;
  }
  return false;
}

const char *first_text(const struct summary *summary, size_t i) {
  return !is_decided(summary, i) ? "ahead so far" : is_tied(summary, i) ? "first, tied" : "fastest";
}

double aa_resolution(const struct summary *summary, size_t i) {
  for (size_t c = 0; summary->records[i].config.label > 0 && c < summary->comparison_count; c++) {
    const struct comparison *comparison = &summary->comparisons[c];
    const struct config *a = &summary->records[i].config,
                        *b = &summary->records[comparison->b].config;
    if (comparison->a == i && b->label == 0 && same_engine(a, b))
      return sqrt(comparison->ratio.high / comparison->ratio.low) - 1;
  }
  return NAN;
}

static MUST_USE hone_status compare_group(struct ctx *ctx, struct arena *arena,
                                          const struct ordered *const *rows,
                                          const struct summary *summary, size_t begin, size_t end,
                                          comparisons *out) {
  const uint64_t seed = seed_of(summary->study.key);
  const size_t native = native_of_group(summary, begin, end);
  for (size_t i = begin; i < end; i++) {
    const size_t original = original_of(summary, begin, end, i);
    if (is_measured(&summary->records[i]) && original != SIZE_MAX)
      TRY(add_comparison(ctx, arena, rows, i, original, seed, out));
    if (summary->records[i].rank == 0) continue;
    if (i != begin) TRY(add_comparison(ctx, arena, rows, i, begin, seed, out));
    if (native != SIZE_MAX && i != native)
      TRY(add_comparison(ctx, arena, rows, i, native, seed, out));
  }
  return HONE_OK;
}

/* -- all of it */

static bool is_synthetic(const struct config_data *data) {
  for (size_t i = 0; i < data->process_count; i++)
    if (data->processes[i].flags & FLAG_MASK(synthetic)) return true;
  return !strcmp(data->config.backend, "fake") || !strcmp(data->config.backend, "null");
}

static MUST_USE hone_status make_record(struct ctx *ctx, struct arena *arena,
                                        const struct study_row *study,
                                        const struct config_data *data, struct ordered *out) {
  const uint64_t seed = seed_of(study->key);
  struct record *record = &out->record;
  record->config = data->config;
  double *const none[] = {&record->p50_ms,
                          &record->p50_lo_ms,
                          &record->p50_hi_ms,
                          &record->p90_ms,
                          &record->p99_ms,
                          &record->mean_ms,
                          &record->std_ms,
                          &record->min_ms,
                          &record->max_ms,
                          &record->limit_ms,
                          &record->limit_share,
                          &record->throughput_per_s,
                          &record->over_bound_share,
                          &record->first_token_p50_ms,
                          &record->first_token_p99_ms,
                          &record->tokens_per_s,
                          &record->energy_mj,
                          &record->energy_lo_mj,
                          &record->energy_hi_mj,
                          &record->portability,
                          &record->winograd_limit_ms,
                          &record->winograd_limit_share};
  for (size_t i = 0; i < COUNT(none); i++) *none[i] = NAN;
  TRY(make_sample_set(ctx, arena, data, &out->set));
  TRY(fill_latency(ctx, arena, data, &out->set, seed, record));
  TRY(fill_generation(ctx, arena, data, record));
  TRY(fill_outcome(ctx, arena, data, record));
  fill_noise(data, record);
  TRY(fill_energy(ctx, arena, data, record));
  TRY(fill_copies(ctx, arena, data, record));
  fill_repeat(study, record);
  out->order = record->p50_ms * 1e6;
  return block_medians(ctx, arena, data, &out->slices, &out->slice_count);
}

static size_t group_of(struct ordered *const *rows, size_t count, const struct record *record) {
  for (size_t i = 0; i < count; i++)
    if (same_group(&rows[i]->record, record)) return rows[i]->group;
  return count;
}

/* Orders the rows of a group by their paired ratios to its lowest p50, where there are pairs: each p50 by itself depends on
   the disturbance during that row's measurement. */
static MUST_USE hone_status order_by_pairs(struct ctx *ctx, struct ordered **rows, size_t count) {
  size_t first = 0;
  for (size_t i = 1; i < count; i++) {
    struct paired paired;
    if (rows[i]->group != rows[first]->group) first = i;
    if (i == first || kind_of(&rows[i]->record) || kind_of(&rows[first]->record)) continue;
    TRY(paired_ratio(ctx, rows[i]->slices, rows[i]->slice_count, rows[first]->slices,
                     rows[first]->slice_count, CONFIDENCE, &paired));
    if (paired.processes >= 2) rows[i]->order = rows[first]->order * paired.ratio.value;
  }
  return HONE_OK;
}

static MUST_USE hone_status make_rows(struct ctx *ctx, struct arena *arena,
                                      const struct study_data *data, bool with_synthetic,
                                      struct ordered **rows, size_t *out_count) {
  size_t count = 0;
  for (size_t i = 0; i < data->config_count; i++) {
    if (!with_synthetic && is_synthetic(&data->cells[i])) continue;
    TRY(NEW(ctx, arena, rows[count]));
    TRY(make_record(ctx, arena, &data->row, &data->cells[i], rows[count]));
    rows[count]->place = count;
    rows[count]->group = group_of(rows, count, &rows[count]->record);
    count++;
  }
  if (count) qsort(rows, count, sizeof *rows, compare_ordered);
  TRY(order_by_pairs(ctx, rows, count));
  if (count) qsort(rows, count, sizeof *rows, compare_ordered);
  *out_count = count;
  return HONE_OK;
}

/* The shortest correct time of the group: a time that was reached is possible. */
static double reached_ms(const struct summary *summary, size_t begin, size_t end) {
  double least = INFINITY;
  for (size_t i = begin; i < end; i++)
    if (summary->records[i].rank && !strcmp(summary->records[i].config.device, "cpu"))
      least = fmin(least, summary->records[i].p50_ms);
  return least;
}

/* The machine's peak is the highest of the probes and of what an engine reached, so no correct row exceeds the limit of the
   fastest known algorithm. Only Winograd exceeds the direct algorithm's limit. A row without a rank that exceeds the limit
   (interrupted, or wrong outputs) has no share. */
static void fill_limits(struct summary *summary) {
  for (size_t begin = 0, end; begin < summary->record_count; begin = end) {
    end = group_end(summary, begin);
    const double reached = reached_ms(summary, begin, end);
    for (size_t i = begin; i < end; i++) {
      struct record *record = &summary->records[i];
      const struct config *config = &record->config;
      if (!(config->limit_ms > 0)) continue;
      const bool has_winograd =
          config->winograd_limit_ms > 0 && config->winograd_limit_ms < config->limit_ms * 0.999;
      const double least = has_winograd ? config->winograd_limit_ms : config->limit_ms;
      const double raised = fmin(1, reached / least);
      if (least * raised > record->p50_ms * (1 + 1e-9)) continue;
      record->limit_ms = config->limit_ms * raised;
      record->limit_share = record->limit_ms / record->p50_ms;
      if (!has_winograd) continue;
      record->winograd_limit_ms = config->winograd_limit_ms * raised;
      record->winograd_limit_share = record->winograd_limit_ms / record->p50_ms;
    }
  }
}

static void fill_ranks(struct summary *summary) {
  for (size_t begin = 0, end; begin < summary->record_count; begin = end) {
    end = group_end(summary, begin);
    int rank = 0;
    for (size_t i = begin; i < end; i++)
      if (can_rank(&summary->records[i])) summary->records[i].rank = ++rank;
  }
}

/* Share of an engine's configurations, over models, devices and precisions, that are correct; without those that were not
   measured yet. */
static double portability_of(const struct summary *summary, const struct config *engine) {
  size_t tried = 0, correct = 0;
  for (size_t i = 0; i < summary->record_count; i++) {
    const struct record *record = &summary->records[i];
    const struct config *config = &record->config;
    if (config->label > 0 || record->status == STATUS_interrupted ||
        strcmp(config->backend, engine->backend) || strcmp(config->variant, engine->variant))
      continue;
    tried++;
    /* also if emulated, which has no rank */
    correct += record->status == STATUS_ok;
  }
  return tried ? (double)correct / (double)tried : NAN;
}

static void fill_portability(struct summary *summary) {
  for (size_t i = 0; i < summary->record_count; i++)
    summary->records[i].portability = portability_of(summary, &summary->records[i].config);
}

hone_status summarise(struct ctx *ctx, struct arena *arena, const struct study_data *data,
                      bool with_synthetic, struct summary *out) {
  struct ordered **rows;
  comparisons all = {0};
  *out = (struct summary){.study = data->row, .data = data};
  TRY(NEW_ARRAY(ctx, arena, rows, data->config_count));
  TRY(make_rows(ctx, arena, data, with_synthetic, rows, &out->record_count));
  TRY(NEW_ARRAY(ctx, arena, out->records, out->record_count));
  for (size_t i = 0; i < out->record_count; i++) out->records[i] = rows[i]->record;
  fill_ranks(out);
  fill_portability(out);
  fill_limits(out);
  for (size_t begin = 0, end; begin < out->record_count; begin = end) {
    end = group_end(out, begin);
    TRY(compare_group(ctx, arena, (const struct ordered *const *)rows, out, begin, end, &all));
  }
  out->comparisons = all.at;
  out->comparison_count = all.count;
  return HONE_OK;
}

void put_study_title(struct strbuf *out, const struct summary *summary) {
  const char *first = summary->record_count ? summary->records[0].config.model : "";
  size_t others = 0;
  for (size_t i = 0; i < summary->record_count; i++) {
    size_t k = 0;
    while (strcmp(summary->records[k].config.model, summary->records[i].config.model)) k++;
    others += k == i && i > 0;
  }
  strbuf_puts(out, summary->study.name[0] ? summary->study.name
                   : *first               ? first
                                          : summary->study.key);
  if (!summary->study.name[0] && others) strbuf_printf(out, " and %zu more", others);
}
