/* The timed loop: the same code for all engines with a C API. One sample is one inference: before
 * it the inputs are in the engine's tensors, after it the host can read the outputs. Input sets
 * rotate. Before a checked iteration its outputs are poisoned, after it they are set aside;
 * comparing happens after the slice, so that only the call is timed.
 */
#include "core/stats/stats.h"
#include "generation.h"

#include <stdlib.h>
#include <sys/mman.h>

#define SAMPLE_BYTES (LOOP_MAX_SAMPLES * sizeof(uint64_t))
#define MAX_CHECKS 8
#define WINDOW_NS 10000000ull /* a warm-up window has at least 10 ms and 3 samples, */
#define WINDOW_SAMPLES 3
#define WINDOW_ENOUGH_NS 100000000ull /* or one sample of a slow model */
#define WINDOW_MAX 4096
#define WARM_WINDOWS 256
#define WARM_NOISE 0.05

static hone_status timed_call(struct ctx *ctx, struct loop *loop, size_t set, uint64_t *out_ns) {
  uint64_t start = clock_ns();
  TRY(loop->backend->submit(ctx, loop->session, (int)set));
  TRY(loop->backend->wait(ctx, loop->session, (int)set));
  *out_ns = clock_ns() - start;
  return HONE_OK;
}

static size_t next_set(struct loop *loop) {
  size_t set = loop->next_set;
  loop->next_set = (set + 1) % BENCH_SETS;
  loop->iterations++;
  return set;
}

hone_status loop_once(struct ctx *ctx, struct loop *loop, uint64_t *out_ns) {
  return timed_call(ctx, loop, next_set(loop), out_ns);
}

/* -- warm-up */

/* Runs one warm-up window and computes its median. */
static hone_status warm_window(struct ctx *ctx, struct loop *loop, double *window,
                               double *out_median) {
  uint64_t start = clock_ns(), elapsed = 0;
  size_t n = 0;
  while (n < WINDOW_MAX && elapsed < WINDOW_ENOUGH_NS &&
         (n < WINDOW_SAMPLES || elapsed < WINDOW_NS)) {
    uint64_t ns;
    TRY(loop_once(ctx, loop, &ns));
    window[n++] = (double)ns;
    elapsed = clock_ns() - start;
  }
  sort_doubles(window, n);
  *out_median = percentile_sorted(window, n, 0.5);
  return HONE_OK;
}

hone_status loop_warmup(struct ctx *ctx, struct loop *loop, uint64_t max_ns,
                        bool *out_is_stationary) {
  double *window = malloc(WINDOW_MAX * sizeof *window);
  if (!window) return fail(ctx, HONE_E_OOM, place_none(), "no memory for the warm-up");
  double medians[WARM_WINDOWS];
  size_t count = 0;
  uint64_t start = clock_ns();
  hone_status status = HONE_OK;
  *out_is_stationary = false;
  while (!status && !*out_is_stationary && count < WARM_WINDOWS &&
         (count < 3 || clock_ns() - start < max_ns)) {
    status = warm_window(ctx, loop, window, &medians[count]);
    if (status) break;
    loop->median_ns = medians[count++];
    /* a median per window; three in a row must agree */
    *out_is_stationary = is_stationary(medians, count, 1, WARM_NOISE);
  }
  free(window);
  return status;
}

/* -- slice */

struct aside {
  size_t set;
  uint8_t *bytes; /* all outputs, concatenated */
};
struct checks {
  uint64_t at[MAX_CHECKS]; /* indices of the iterations to check, ascending */
  struct aside aside[MAX_CHECKS + 1];
  size_t wanted, taken, total_bytes;
};

static size_t total_output_bytes(const struct loop *loop) {
  size_t total = 0;
  for (size_t i = 0; i < loop->io->output_count; i++) total += loop->output_bytes[i];
  return total;
}

/* Chooses random iterations among those that will certainly run. */
static hone_status choose_checks(struct ctx *ctx, struct loop *loop, const struct slice_plan *plan,
                                 struct checks *checks) {
  *checks = (struct checks){.total_bytes = total_output_bytes(loop)};
  uint64_t expected = plan->min_samples;
  if (loop->median_ns > 0) {
    uint64_t fitting = (uint64_t)((double)plan->min_ns / loop->median_ns * 0.5);
    if (fitting > expected) expected = fitting;
  }
  if (expected > LOOP_MAX_SAMPLES / 2) expected = LOOP_MAX_SAMPLES / 2;
  for (int i = 0; i < plan->checks && i < MAX_CHECKS && expected; i++) {
    uint64_t at = random_below(&loop->random, expected);
    size_t k = checks->wanted;
    while (k && checks->at[k - 1] > at) k--;
    if (k && checks->at[k - 1] == at) continue;
    memmove(&checks->at[k + 1], &checks->at[k], (checks->wanted - k) * sizeof *checks->at);
    checks->at[k] = at;
    checks->wanted++;
  }
  for (size_t i = 0; i <= checks->wanted; i++)
    if (!(checks->aside[i].bytes = malloc(checks->total_bytes + 1)))
      return fail(ctx, HONE_E_OOM, place_none(), "no memory to set outputs aside");
  return HONE_OK;
}

static hone_status set_aside(struct ctx *ctx, struct loop *loop, struct checks *checks,
                             size_t set) {
  TRY(loop_keep_text(ctx, loop, set));
  struct aside *aside = &checks->aside[checks->taken++];
  uint8_t *to = aside->bytes;
  aside->set = set;
  for (size_t i = 0; i < loop->io->output_count; i++) {
    memcpy(to, loop->sets[set].outputs[i].data, loop->output_bytes[i]);
    to += loop->output_bytes[i];
  }
  return HONE_OK;
}

static void compare_asides(const struct loop *loop, const struct checks *checks,
                           struct slice *out) {
  for (size_t c = 0; c < checks->taken; c++) {
    const struct run_set *set = &loop->sets[checks->aside[c].set];
    const uint8_t *from = checks->aside[c].bytes;
    bool has_reference = loop->io->output_count > 0;
    for (size_t i = 0; i < loop->io->output_count; i++) {
      if (set->expected[i].data)
        accuracy_add(&out->accuracy, loop->io->outputs[i].name, &set->expected[i], from,
                     &loop->yardsticks[i]);
      else
        has_reference = false;
      from += loop->output_bytes[i];
    }
    out->verified += has_reference;
  }
}

/* Times input copies before the slice, so that they do not change the engine's caches in it. */
static hone_status copy_in(struct ctx *ctx, struct loop *loop, struct slice *out) {
  for (size_t set = 0; loop->backend->copy_in && set < BENCH_SETS; set++) {
    const uint64_t start = clock_ns();
    TRY(loop->backend->copy_in(ctx, loop->session, (int)set, loop->sets[set].inputs));
    out->copy_in[out->copy_in_count++] = clock_ns() - start;
  }
  return HONE_OK;
}

static hone_status rewarm(struct ctx *ctx, struct loop *loop, uint64_t duration_ns,
                          struct slice *out) {
  uint64_t start = clock_ns();
  while (out->rewarm_count < LOOP_MAX_SAMPLES &&
         (out->rewarm_count < 2 || clock_ns() - start < duration_ns)) {
    TRY(loop_once(ctx, loop, &out->rewarm[out->rewarm_count]));
    out->rewarm_count++;
    if (clock_ns() - start > WINDOW_ENOUGH_NS) break;
  }
  return HONE_OK;
}

static hone_status timed(struct ctx *ctx, struct loop *loop, const struct slice_plan *plan,
                         struct checks *checks, struct slice *out) {
  uint64_t start = clock_ns(), elapsed = 0;
  size_t n = 0, last = 0;
  while (n < LOOP_MAX_SAMPLES && (n < 1 || elapsed < plan->max_ns) &&
         (n < plan->min_samples || elapsed < plan->min_ns)) {
    size_t set = last = next_set(loop);
    bool is_checked = checks->taken < checks->wanted && n == checks->at[checks->taken];
    if (is_checked) loop_poison(loop, set);
    TRY(timed_call(ctx, loop, set, &out->samples[n]));
    n++;
    if (is_checked) TRY(set_aside(ctx, loop, checks, set));
    elapsed = clock_ns() - start;
  }
  out->sample_count = n;
  return set_aside(ctx, loop, checks, last); /* after the last sample: does not affect timing */
}

/* Not from the heap, so that the resident set after a slice does not include our samples. */
static uint64_t *map_samples(void) {
  void *memory =
      mmap(NULL, SAMPLE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

/* Measures inferences, one after the other or by the scenario's arrivals. */
static hone_status infer(struct ctx *ctx, struct loop *loop, const struct slice_plan *plan,
                         struct slice *out) {
  const bool is_single = plan->scenario.kind == SCENARIO_single;
  struct checks checks = {.wanted = 0};
  hone_status status = choose_checks(ctx, loop, plan, &checks);
  if (!status)
    for (size_t set = 0; set < BENCH_SETS; set++) loop_poison(loop, set);
  if (!status) status = copy_in(ctx, loop, out);
  if (!status) status = rewarm(ctx, loop, plan->rewarm_ns, out);
  if (!status && is_single) status = timed(ctx, loop, plan, &checks, out);
  if (!status && is_single) compare_asides(loop, &checks, out);
  if (!status && !is_single) status = loop_scenario(ctx, loop, plan, out);
  loop_forget_text(loop);
  for (size_t i = 0; i < COUNT(checks.aside); i++) free(checks.aside[i].bytes);
  return status;
}

hone_status loop_slice(struct ctx *ctx, struct loop *loop, const struct slice_plan *plan,
                       struct slice *out) {
  const bool is_single = plan->scenario.kind == SCENARIO_single;
  *out = (struct slice){.samples = map_samples(), .rewarm = map_samples()};
  if (!is_single) out->scheduled = map_samples();
  if (!is_single) out->started = map_samples();
  accuracy_init(&out->accuracy);
  hone_status status =
      out->samples && out->rewarm && (is_single || (out->scheduled && out->started))
          ? HONE_OK
          : fail(ctx, HONE_E_OOM, place_none(), "no memory for samples");
  if (!status)
    status = loop->generator ? generate_slice(ctx, loop, plan, out) : infer(ctx, loop, plan, out);
  if (status) slice_deinit(out);
  return status;
}

void slice_deinit(struct slice *slice) {
  if (slice->samples) munmap(slice->samples, SAMPLE_BYTES);
  if (slice->rewarm) munmap(slice->rewarm, SAMPLE_BYTES);
  if (slice->scheduled) munmap(slice->scheduled, SAMPLE_BYTES);
  if (slice->started) munmap(slice->started, SAMPLE_BYTES);
  slice->samples = slice->rewarm = slice->scheduled = slice->started = NULL;
}
