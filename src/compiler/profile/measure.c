/* Runs a profiled artifact and collects the times of its steps. The entries after the arena are
 * zeroed before each run, so a step that does not run has no calls.
 */
#include "profile.h"

#include <math.h>
#include <stdlib.h>

#include "core/stats/stats.h"

#define LIMIT_SLACK 1.05 /* the clock around a step is part of its time */
enum { LEAST_RUNS = 15, MOST_SAMPLES = 8 << 20 };

struct sampler {
  struct ctx *ctx;
  const struct loaded *loaded;
  struct team *team;
  const struct hone_io *io;
  struct profile *out;
  size_t steps, threads, capacity, count; /* of runs */
  double *busiest, *mean;                 /* [run][step] */
  double *total;                          /* [run] */
  struct hone_profile_entry *entries;     /* in the arena of the artifact */
};

static hone_status run_once(const struct sampler *s) {
  size_t bytes = s->threads * s->steps * sizeof *s->entries;
  memset(s->entries, 0, bytes);
  int32_t status =
      s->loaded->info->run(s->loaded->weights, s->loaded->arena, s->io, team_interface(s->team));
  if (!status) return HONE_OK;
  return advise(
      s->ctx,
      fail(s->ctx, (hone_status)status, place_none(), "an index in the data is out of range"),
      "give inputs that are valid for the model, with --input NAME=FILE or --inputs DIR");
}

static void read_run(struct sampler *s) {
  double begin = INFINITY, end = 0;
  size_t at = s->count * s->steps;
  for (size_t i = 0; i < s->steps; i++) {
    double busiest = 0, sum = 0;
    for (size_t t = 0; t < s->threads; t++) {
      const struct hone_profile_entry *e = &s->entries[t * s->steps + i];
      if (!e->calls) continue;
      begin = fmin(begin, (double)e->begin);
      end = fmax(end, (double)e->end);
      busiest = fmax(busiest, (double)e->busy);
      sum += (double)e->busy;
    }
    s->busiest[at + i] = busiest;
    s->mean[at + i] = sum / (double)s->threads;
  }
  s->total[s->count] = end > begin ? end - begin : 0;
  s->count++;
}

static double median_in_place(double *x, size_t n) {
  sort_doubles(x, n);
  return percentile_sorted(x, n, 0.5);
}

/* Repeats a run of median length: its entries are kept for the timeline. */
static hone_status keep_run(struct sampler *s, struct arena *arena) {
  struct hone_profile_entry *kept;
  size_t cells = s->threads * s->steps;
  double best = INFINITY;
  TRY(NEW_ARRAY(s->ctx, arena, kept, cells));
  for (size_t attempt = 0; attempt < LEAST_RUNS; attempt++) {
    TRY(run_once(s));
    s->count = 0;
    read_run(s);
    double distance = fabs(s->total[0] - s->out->total_ns);
    if (distance >= best) continue;
    best = distance;
    memcpy(kept, s->entries, cells * sizeof *kept);
  }
  s->out->run = kept;
  return HONE_OK;
}

static hone_status summarise_runs(struct sampler *s, struct arena *arena) {
  struct profile *out = s->out;
  double *column, in_steps = 0;
  TRY(NEW_ARRAY(s->ctx, arena, column, s->count));
  TRY(NEW_ARRAY(s->ctx, arena, out->times, s->steps));
  for (size_t i = 0; i < s->steps; i++) {
    for (size_t r = 0; r < s->count; r++) column[r] = s->mean[r * s->steps + i];
    double mean = median_in_place(column, s->count);
    for (size_t r = 0; r < s->count; r++) column[r] = s->busiest[r * s->steps + i];
    double ns = median_in_place(column, s->count);
    out->times[i] = (struct profile_time){ns, column[0], ns > 0 ? fmin(1, mean / ns) : 1};
    in_steps += ns;
  }
  out->run_count = s->count;
  out->total_ns = median_in_place(s->total, s->count);
  out->waiting_ns = fmax(0, out->total_ns - in_steps);
  return keep_run(s, arena);
}

hone_status profile_measure(struct ctx *ctx, struct arena *arena, const struct loaded *loaded,
                            struct team *team, const struct hone_io *io, double seconds,
                            struct profile *out) {
  struct sampler s = {.ctx = ctx,
                      .loaded = loaded,
                      .team = team,
                      .io = io,
                      .out = out,
                      .steps = out->plan.step_count,
                      .threads = (size_t)out->plan.threads};
  s.entries = (struct hone_profile_entry *)(void *)((char *)loaded->arena + out->plan.offset);
  s.capacity = MOST_SAMPLES / (s.steps + 1);
  if (s.capacity < LEAST_RUNS) s.capacity = LEAST_RUNS;
  if (s.capacity > 4096) s.capacity = 4096;
  TRY(NEW_ARRAY(ctx, arena, s.busiest, s.capacity * s.steps));
  TRY(NEW_ARRAY(ctx, arena, s.mean, s.capacity * s.steps));
  TRY(NEW_ARRAY(ctx, arena, s.total, s.capacity));
  uint64_t start = clock_ns(), warm = (uint64_t)(seconds * 0.2e9), all = (uint64_t)(seconds * 1e9);
  do TRY(run_once(&s));
  while (clock_ns() - start < warm);
  while (s.count < s.capacity && (s.count < LEAST_RUNS || clock_ns() - start < all)) {
    TRY(run_once(&s));
    read_run(&s);
  }
  return summarise_runs(&s, arena);
}

/* -- against the machine */

/* For multiplications of that type: measured if the probe used the target's instruction, else
   from the target's speeds. */
static double peak_of(const struct profile *p, hone_dtype dtype) {
  const struct speeds *speeds = &p->target.speeds;
  const uint32_t probed = cpu_features() & CPU_AMX_BF16 ? CPU_AMX_BF16 : CPU_AVX512_BF16;
  if (dtype == HONE_BF16 && p->target.features & probed) return p->peaks->bf16_flops;
  double macs = dtype == HONE_I8     ? speeds->i8_macs
                : dtype == HONE_BF16 ? speeds->bf16_macs
                                     : speeds->f32_macs;
  return p->peaks->f32_flops * (speeds->f32_macs > 0 ? macs / speeds->f32_macs : 1);
}

static double limit_of(const struct profile *p, size_t step) {
  const struct work *work = &p->plan.steps[step].work;
  if (!p->peaks) return NAN;
  double compute = work->algorithm_flops / peak_of(p, work->dtype) +
                   work->stored_flops / peak_of(p, HONE_F32),
         move = 0;
  if (work->weight_bytes > 0)
    move += work->weight_bytes / peaks_bandwidth(p->peaks, p->plan.weights_bytes);
  if (work->value_bytes > 0)
    move += work->value_bytes / peaks_bandwidth(p->peaks, work->value_bytes);
  return 1e9 * fmax(compute, move);
}

static bool is_beyond(const struct profile *p, size_t step) {
  return p->times && p->times[step].ns > 0 && limit_of(p, step) > LIMIT_SLACK * p->times[step].ns;
}

double profile_limit_ns(const struct profile *p, size_t step) {
  return is_beyond(p, step) ? (double)NAN : limit_of(p, step);
}

bool profile_passes_peaks(const struct profile *p) {
  for (size_t i = 0; i < p->plan.step_count; i++)
    if (is_beyond(p, i)) return true;
  return false;
}

struct timed {
  double ns;
  size_t step;
};

static int longest_first(const void *a, const void *b) {
  const struct timed *x = a, *y = b;
  if (x->ns != y->ns) return x->ns < y->ns ? 1 : -1;
  return x->step < y->step ? -1 : x->step > y->step;
}

hone_status profile_order(struct ctx *ctx, struct arena *arena, const struct profile *profile,
                          size_t **out, size_t *out_count) {
  struct timed *timed;
  size_t count = 0;
  TRY(NEW_ARRAY(ctx, arena, timed, profile->plan.step_count));
  TRY(NEW_ARRAY(ctx, arena, *out, profile->plan.step_count));
  for (size_t i = 0; i < profile->plan.step_count; i++)
    if (profile->times[i].ns > 0) timed[count++] = (struct timed){profile->times[i].ns, i};
  if (count) qsort(timed, count, sizeof *timed, longest_first);
  for (size_t i = 0; i < count; i++) (*out)[i] = timed[i].step;
  *out_count = count;
  return HONE_OK;
}

void profile_nodes(const struct profiled_step *step, struct strbuf *out) {
  for (size_t i = 0; i < step->node_count; i++) {
    const struct profiled_node *node = &step->nodes[i];
    strbuf_printf(out, "%s%s", i ? ", " : "", node->op);
    if (*node->name)
      strbuf_printf(out, " %s", node->name);
    else if (node->index >= 0)
      strbuf_printf(out, " #%lld", (long long)node->index);
  }
  if (!step->node_count) strbuf_puts(out, step->op);
}
