/* Timed slices of all scenarios except single. Besides its latency, each request has the time when
 * it was due and the time when it was passed to the engine, both since the slice began. Waiting for
 * the previous request counts as latency, as it does for the client.
 */
#include "loop.h"

#include <time.h>

#define SPIN_NS 60000u /* busy-wait this long before a request is due: sleeping is less precise */

static bool goes_on(const struct slice_plan *plan, uint64_t begin_ns, size_t count) {
  const uint64_t elapsed = clock_ns() - begin_ns;
  return count < LOOP_MAX_SAMPLES && (count < 1 || elapsed < plan->max_ns) &&
         (count < plan->min_samples || elapsed < plan->min_ns);
}

/* Keeps a number of requests in flight: waits for the oldest and sends it again. */
static hone_status in_flight(struct ctx *ctx, struct loop *loop, const struct slice_plan *plan,
                             size_t most, struct slice *out) {
  const uint64_t begin = clock_ns();
  size_t sent = 0, done = 0;
  for (;;) {
    while (sent - done < most && goes_on(plan, begin, sent)) {
      const uint64_t now = clock_ns() - begin;
      out->scheduled[sent] = out->started[sent] = now;
      TRY(loop->backend->submit(ctx, loop->session, (int)(sent % most)));
      sent++;
    }
    if (done == sent) break;
    TRY(loop->backend->wait(ctx, loop->session, (int)(done % most)));
    out->samples[done] = clock_ns() - begin - out->started[done];
    done++;
  }
  loop->iterations += done;
  out->sample_count = done;
  return HONE_OK;
}

static void sleep_until(uint64_t when_ns) {
  /* Sleeps for a duration, not until a time: clock_ns() and the sleep clocks drift apart. */
  for (uint64_t now; (now = clock_ns()) + SPIN_NS < when_ns;) {
    const uint64_t left = when_ns - SPIN_NS - now;
    const struct timespec rest = {(time_t)(left / 1000000000u), (long)(left % 1000000000u)};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, NULL);
  }
  while (clock_ns() < when_ns) continue;
}

/* Requests arrive independently of the engine, which takes them one at a time, in order. */
static hone_status arrivals(struct ctx *ctx, struct loop *loop, const struct slice_plan *plan,
                            struct slice *out) {
  const uint64_t begin = clock_ns();
  uint64_t due = 0;
  size_t n = 0;
  for (; goes_on(plan, begin, n); n++) {
    due += scenario_distance_ns(&plan->scenario, &loop->random);
    sleep_until(begin + due);
    const int set = (int)(n % BENCH_SETS);
    out->scheduled[n] = due;
    out->started[n] = clock_ns() - begin;
    TRY(loop->backend->submit(ctx, loop->session, set));
    TRY(loop->backend->wait(ctx, loop->session, set));
    out->samples[n] = clock_ns() - begin - due;
  }
  loop->iterations += n;
  out->sample_count = n;
  return HONE_OK;
}

hone_status loop_scenario(struct ctx *ctx, struct loop *loop, const struct slice_plan *plan,
                          struct slice *out) {
  const int wanted = scenario_streams(&plan->scenario);
  const size_t most = (size_t)(wanted < loop->streams ? wanted : loop->streams);
  const bool arrive = scenario_has_arrivals(&plan->scenario);
  for (size_t set = 0; set < BENCH_SETS; set++) loop_poison(loop, set);
  TRY(arrive ? arrivals(ctx, loop, plan, out) : in_flight(ctx, loop, plan, most, out));
  /* outputs of the last request of each set */
  for (size_t set = 0; set < (arrive ? BENCH_SETS : most) && set < out->sample_count; set++)
    out->verified += loop_compare(loop, set, &out->accuracy);
  return HONE_OK;
}
