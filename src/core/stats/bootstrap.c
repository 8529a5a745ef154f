/* bootstrap: intervals of a median and of a ratio of medians, resampling processes, then rounds.
 *
 * In: samples by process and round. Out: the pooled median and an interval. A resample gives every
 * round a weight (how often it was drawn). Its median is found exactly without sorting again: all
 * samples are sorted once, and for each bin of that order the number of samples of each round
 * before it is known, so a resample costs a binary search over bins and a scan of one bin. With few
 * processes the percentile bootstrap is too narrow (with three it never exceeds their range, which
 * misses the true value every fourth time), so the interval is widened to Student's interval over
 * the medians of the processes if that is wider. Source: T. Kalibera, R. Jones, Rigorous
 * Benchmarking in Reasonable Time, ISMM 2013, section 6. */
#include "stats.h"

#include <math.h>
#include <stdlib.h>

struct tagged {
  double value;
  uint32_t round;
};

struct pool {
  struct tagged *samples; /* ascending */
  size_t count;
  size_t process_count;
  size_t *first_round; /* [process_count + 1] */
  size_t round_count;
  uint32_t *weights; /* [round_count], of the current resample */
  uint32_t *prefix;  /* [bin_count + 1][round_count]: samples of a round before the bin */
  size_t bin_count, bin_size;
  double *log_medians; /* [process_count]; NaN for a median that is not positive */
};

static void pool_deinit(struct pool *pool) {
  free(pool->samples);
  free(pool->first_round);
  free(pool->weights);
  free(pool->prefix);
  free(pool->log_medians);
}

static int compare_tagged(const void *a, const void *b) {
  const struct tagged *x = a, *y = b;
  if (x->value != y->value) return x->value < y->value ? -1 : 1;
  return (x->round > y->round) - (x->round < y->round);
}

static void pool_count(struct pool *pool, const struct sample_set *set) {
  for (size_t p = 0; p < set->process_count; p++) {
    size_t rounds = 0;
    for (size_t r = 0; r < set->processes[p].round_count; r++) {
      pool->count += set->processes[p].rounds[r].count;
      rounds += set->processes[p].rounds[r].count > 0;
    }
    pool->round_count += rounds;
    pool->process_count += rounds > 0;
  }
}

/* Empty rounds and processes are omitted: they were never measured. */
static void pool_fill(struct pool *pool, const struct sample_set *set) {
  size_t at = 0, round = 0, process = 0;
  for (size_t p = 0; p < set->process_count; p++) {
    const size_t first = round;
    for (size_t r = 0; r < set->processes[p].round_count; r++) {
      const struct sample_round *source = &set->processes[p].rounds[r];
      for (size_t i = 0; i < source->count; i++)
        pool->samples[at++] = (struct tagged){source->samples[i], (uint32_t)round};
      round += source->count > 0;
    }
    if (round > first) pool->first_round[process++] = first;
  }
  pool->first_round[process] = round;
  qsort(pool->samples, pool->count, sizeof *pool->samples, compare_tagged);
}

static void pool_index(struct pool *pool) {
  for (size_t bin = 0; bin < pool->bin_count; bin++) {
    const uint32_t *before = pool->prefix + bin * pool->round_count;
    uint32_t *after = pool->prefix + (bin + 1) * pool->round_count;
    memcpy(after, before, pool->round_count * sizeof *after);
    const size_t begin = bin * pool->bin_size;
    const size_t end = begin + pool->bin_size < pool->count ? begin + pool->bin_size : pool->count;
    for (size_t i = begin; i < end; i++) after[pool->samples[i].round]++;
  }
}

static uint64_t weighted_before(const struct pool *pool, size_t bin) {
  const uint32_t *before = pool->prefix + bin * pool->round_count;
  uint64_t sum = 0;
  for (size_t r = 0; r < pool->round_count; r++) sum += (uint64_t)before[r] * pool->weights[r];
  return sum;
}

/* Smallest sample with at least half of the weight at or below it. The total weight is positive. */
static double weighted_median(const struct pool *pool) {
  const uint64_t target = (weighted_before(pool, pool->bin_count) + 1) / 2;
  size_t low = 0, high = pool->bin_count; /* before low: < target; before high: >= target */
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    if (weighted_before(pool, middle) >= target)
      high = middle;
    else
      low = middle;
  }
  uint64_t sum = weighted_before(pool, low);
  for (size_t i = low * pool->bin_size; i < pool->count; i++) {
    sum += pool->weights[pool->samples[i].round];
    if (sum >= target) return pool->samples[i].value;
  }
  return pool->samples[pool->count - 1].value;
}

static void set_weights(struct pool *pool, size_t begin, size_t end) {
  for (size_t r = 0; r < pool->round_count; r++) pool->weights[r] = r >= begin && r < end;
}

static void draw_weights(struct pool *pool, struct random *random) {
  memset(pool->weights, 0, pool->round_count * sizeof *pool->weights);
  for (size_t i = 0; i < pool->process_count; i++) {
    const size_t p = random_below(random, pool->process_count);
    const size_t first = pool->first_round[p], rounds = pool->first_round[p + 1] - first;
    for (size_t j = 0; j < rounds; j++) pool->weights[first + random_below(random, rounds)]++;
  }
}

static MUST_USE hone_status pool_init(struct ctx *ctx, const struct sample_set *set,
                                      struct pool *pool) {
  *pool = (struct pool){0};
  pool_count(pool, set);
  if (pool->count == 0) return fail(ctx, HONE_E_INTERNAL, place_none(), "no samples to resample");
  if (pool->count > UINT32_MAX)
    return fail(ctx, HONE_E_LIMIT, place_none(), "%zu samples in one configuration, at most %u",
                pool->count, UINT32_MAX);
  pool->bin_size = (pool->count + 511) / 512;
  pool->bin_count = (pool->count + pool->bin_size - 1) / pool->bin_size;
  size_t cells;
  if (!checked_mul(pool->bin_count + 1, pool->round_count, &cells)) cells = SIZE_MAX;
  pool->samples = calloc(pool->count, sizeof *pool->samples);
  pool->first_round = calloc(pool->process_count + 1, sizeof *pool->first_round);
  pool->weights = calloc(pool->round_count, sizeof *pool->weights);
  pool->prefix = calloc(cells, sizeof *pool->prefix);
  pool->log_medians = calloc(pool->process_count, sizeof *pool->log_medians);
  if (!pool->samples || !pool->first_round || !pool->weights || !pool->prefix ||
      !pool->log_medians) {
    pool_deinit(pool);
    return fail(ctx, HONE_E_OOM, place_none(), "no memory to resample %zu samples", pool->count);
  }
  pool_fill(pool, set);
  pool_index(pool);
  for (size_t p = 0; p < pool->process_count; p++) {
    set_weights(pool, pool->first_round[p], pool->first_round[p + 1]);
    const double median = weighted_median(pool);
    pool->log_medians[p] = median > 0 ? log(median) : NAN;
  }
  return HONE_OK;
}

struct moments {
  double mean, variance;
};
static struct moments moments_of(const double *x, const double *minus, size_t n) {
  double sum = 0, squares = 0;
  for (size_t i = 0; i < n; i++) sum += x[i] - (minus ? minus[i] : 0);
  const double mean = sum / (double)n;
  for (size_t i = 0; i < n; i++) {
    const double d = x[i] - (minus ? minus[i] : 0) - mean;
    squares += d * d;
  }
  return (struct moments){mean, n > 1 ? squares / (double)(n - 1) : 0};
}

/* Half width of Student's interval in the log domain, 0 for a single process. b may be NULL. */
static double student_half_width(const struct pool *a, const struct pool *b, bool is_paired,
                                 double confidence) {
  const double na = (double)a->process_count, nb = b ? (double)b->process_count : 0;
  if (na < 2 || (b && nb < 2)) return 0;
  if (!b || is_paired) {
    const struct moments m =
        moments_of(a->log_medians, b ? b->log_medians : NULL, a->process_count);
    return student_quantile(confidence, (int)fmin(na - 1, 1000)) * sqrt(m.variance / na);
  }
  const double va = moments_of(a->log_medians, NULL, a->process_count).variance / na;
  const double vb = moments_of(b->log_medians, NULL, b->process_count).variance / nb;
  if (!(va + vb > 0)) return 0;
  /* Welch's degrees of freedom, rounded down. */
  const double freedom = (va + vb) * (va + vb) / (va * va / (na - 1) + vb * vb / (nb - 1));
  return student_quantile(confidence, (int)fmax(1, fmin(freedom, 1000))) * sqrt(va + vb);
}

static void finish_interval(double *values, size_t n, double confidence, double half_width,
                            struct interval *out) {
  sort_doubles(values, n);
  const double tail = (1 - confidence) / 2;
  out->low = fmin(out->value, percentile_sorted(values, n, tail));
  out->high = fmax(out->value, percentile_sorted(values, n, 1 - tail));
  if (!isfinite(half_width)) return;
  out->low = fmin(out->low, out->value * exp(-half_width));
  out->high = fmax(out->high, out->value * exp(half_width));
}

static double pool_median(struct pool *pool) {
  set_weights(pool, 0, pool->round_count);
  return weighted_median(pool);
}

hone_status bootstrap_median(struct ctx *ctx, const struct sample_set *set, double confidence,
                             int resamples, uint64_t seed, struct interval *out) {
  struct pool pool;
  TRY(pool_init(ctx, set, &pool));
  const size_t n = resamples > 0 ? (size_t)resamples : 1;
  double *values = calloc(n, sizeof *values);
  if (!values) {
    pool_deinit(&pool);
    return fail(ctx, HONE_E_OOM, place_none(), "no memory for %zu resamples", n);
  }
  out->value = pool_median(&pool);
  struct random random;
  random_init(&random, seed);
  for (size_t i = 0; i < n; i++) {
    draw_weights(&pool, &random);
    values[i] = weighted_median(&pool);
  }
  finish_interval(values, n, confidence, student_half_width(&pool, NULL, false, confidence), out);
  free(values);
  pool_deinit(&pool);
  return HONE_OK;
}

static bool same_shape(const struct pool *a, const struct pool *b) {
  return a->process_count == b->process_count &&
         !memcmp(a->first_round, b->first_round, (a->process_count + 1) * sizeof *a->first_round);
}

static MUST_USE hone_status ratio_of_pools(struct ctx *ctx, struct pool *a, struct pool *b,
                                           double confidence, size_t n, uint64_t seed,
                                           struct interval *out) {
  double *values = calloc(n, sizeof *values);
  if (!values) return fail(ctx, HONE_E_OOM, place_none(), "no memory for %zu resamples", n);
  /* Configurations measured in the same rounds use the same resamples: equal random streams over
   * equal shapes. */
  const bool is_paired = same_shape(a, b);
  struct random random_a, random_b;
  random_init(&random_a, seed);
  random_init(&random_b, is_paired ? seed : ~seed);
  out->value = pool_median(a) / pool_median(b);
  for (size_t i = 0; i < n; i++) {
    draw_weights(a, &random_a);
    draw_weights(b, &random_b);
    values[i] = weighted_median(a) / weighted_median(b);
  }
  finish_interval(values, n, confidence, student_half_width(a, b, is_paired, confidence), out);
  free(values);
  return HONE_OK;
}

hone_status bootstrap_ratio(struct ctx *ctx, const struct sample_set *a, const struct sample_set *b,
                            double confidence, int resamples, uint64_t seed, struct interval *out) {
  struct pool pool_a, pool_b;
  TRY(pool_init(ctx, a, &pool_a));
  hone_status status = pool_init(ctx, b, &pool_b);
  if (!status) {
    status = ratio_of_pools(ctx, &pool_a, &pool_b, confidence,
                            resamples > 0 ? (size_t)resamples : 1, seed, out);
    pool_deinit(&pool_b);
  }
  pool_deinit(&pool_a);
  return status;
}
