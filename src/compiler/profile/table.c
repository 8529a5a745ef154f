/* The profile for a terminal: totals by kernel, the longest steps, and steps far from their limit.
 */
#include <math.h>
#include <stdlib.h>

#include "core/format/format.h"
#include "profile.h"

enum { LONGEST = 30, KINDS = 64, FAR_BELOW = 25 };

struct sum {
  const char *kind;
  size_t count;
  double ns, limit_ns, flops, bytes;
};

static double bytes_of(const struct work *work) { return work->weight_bytes + work->value_bytes; }

static int longest_first(const void *a, const void *b) {
  double x = ((const struct sum *)a)->ns, y = ((const struct sum *)b)->ns;
  return x < y ? 1 : x > y ? -1 : 0;
}

/* In a total, a step that was faster than its limit counts with its own time. */
static double known_limit_ns(const struct profile *p, size_t step) {
  const double limit = profile_limit_ns(p, step);
  return p->peaks && isnan(limit) ? p->times[step].ns : limit;
}

static size_t sum_by_kind(const struct profile *p, const size_t *order, size_t count,
                          struct sum sums[KINDS]) {
  size_t kinds = 0;
  for (size_t i = 0; i < count; i++) {
    const struct profiled_step *step = &p->plan.steps[order[i]];
    bool named = strcmp(step->kind, "plain") == 0; /* these have one operator each */
    const char *kind = named ? step->op : step->kind;
    size_t k = 0;
    while (k < kinds && strcmp(sums[k].kind, kind)) k++;
    if (k == KINDS) continue;
    if (k == kinds) sums[kinds++] = (struct sum){.kind = kind};
    sums[k].count++;
    sums[k].ns += p->times[order[i]].ns;
    sums[k].limit_ns += known_limit_ns(p, order[i]);
    sums[k].flops += step->work.flops;
    sums[k].bytes += bytes_of(&step->work);
  }
  qsort(sums, kinds, sizeof *sums, longest_first);
  return kinds;
}

static void put_share(struct strbuf *out, double share) {
  if (isfinite(share))
    strbuf_printf(out, " %6.1f %%", 100 * share);
  else
    strbuf_puts(out, "        -");
}

static void put_figures(struct strbuf *out, double ns, double total_ns, double flops, double bytes,
                        double limit_ns) {
  strbuf_printf(out, "%11.2f", ns / 1e3);
  put_share(out, ns / total_ns);
  strbuf_printf(out, " %9.1f %8.2f", flops / ns, bytes / ns);
  put_share(out, limit_ns / ns);
}

static void put_kinds(const struct profile *p, const size_t *order, size_t count,
                      struct strbuf *out) {
  struct sum sums[KINDS];
  size_t kinds = sum_by_kind(p, order, count, sums);
  strbuf_printf(out, "%-19s %5s %11s %8s %9s %8s %8s\n", "kernel", "steps", "us", "share",
                "GFLOP/s", "GB/s", "of limit");
  for (size_t k = 0; k < kinds; k++) {
    strbuf_printf(out, "%-19.19s %5zu ", sums[k].kind, sums[k].count);
    put_figures(out, sums[k].ns, p->total_ns, sums[k].flops, sums[k].bytes, sums[k].limit_ns);
    strbuf_puts(out, "\n");
  }
  strbuf_printf(out, "%-25s %11.2f", "barriers, waiting", p->waiting_ns / 1e3);
  put_share(out, p->waiting_ns / p->total_ns);
  strbuf_puts(out, "\n\n");
}

static void put_step(const struct profile *p, size_t i, int width, struct strbuf *out) {
  const struct profiled_step *step = &p->plan.steps[i];
  struct strbuf nodes = {0};
  size_t room = width > 120 ? (size_t)width - 84 : 36;
  strbuf_printf(out, "%4zu %-17.17s", i, step->kind);
  put_figures(out, p->times[i].ns, p->total_ns, step->work.flops, bytes_of(&step->work),
              profile_limit_ns(p, i));
  strbuf_printf(out, " %4.0f %% ", 100 * p->times[i].balance);
  profile_nodes(step, &nodes);
  if (nodes.failed) out->failed = true;
  tty_text((struct tty){out, false}, nodes.at ? nodes.at : "", room);
  strbuf_printf(out, " %s\n", step->shape);
  strbuf_deinit(&nodes);
}

static void put_steps(const struct profile *p, const size_t *order, size_t count, int width,
                      struct strbuf *out) {
  size_t shown = count < LONGEST ? count : LONGEST;
  double rest = 0;
  strbuf_printf(out, "%4s %-17s%11s %8s %9s %8s %8s %6s %s\n", "step", "kernel", "us", "share",
                "GFLOP/s", "GB/s", "of limit", "balance", "nodes of the model");
  for (size_t i = 0; i < shown; i++) put_step(p, order[i], width, out);
  for (size_t i = shown; i < count; i++) rest += p->times[order[i]].ns;
  if (count > shown)
    strbuf_printf(out, "%zu more steps: %.2f us, %.1f %%; --json lists all steps\n", count - shown,
                  rest / 1e3, 100 * rest / p->total_ns);
}

static void put_far_below(const struct profile *p, const size_t *order, size_t count,
                          struct strbuf *out) {
  size_t steps = 0;
  double ns = 0;
  for (size_t i = 0; i < count && p->peaks; i++) {
    if (!(profile_limit_ns(p, order[i]) * 100 < FAR_BELOW * p->times[order[i]].ns)) continue;
    steps++;
    ns += p->times[order[i]].ns;
  }
  if (p->peaks)
    strbuf_printf(out, "below %d %% of their limit: %zu of %zu steps, %.1f %% of the time\n",
                  FAR_BELOW, steps, count, 100 * ns / p->total_ns);
}

hone_status profile_table(struct ctx *ctx, const struct profile *p, int width, struct strbuf *out) {
  struct arena *arena;
  size_t *order, count;
  double limit = 0;
  TRY(arena_create(ctx, 0, &arena));
  hone_status status = profile_order(ctx, arena, p, &order, &count);
  if (!status) {
    for (size_t i = 0; i < count; i++) limit += known_limit_ns(p, order[i]);
    tty_text((struct tty){out, false}, p->model, 200);
    strbuf_printf(out, " · %d thread%s · %s · %zu steps · %.3f ms, median of %zu runs",
                  p->plan.threads, p->plan.threads > 1 ? "s" : "", p->precision, count,
                  p->total_ns / 1e6, p->run_count);
    if (p->peaks)
      strbuf_printf(out, " · steps' limits %.3f ms (%.0f %%; FMA peak %.0f GFLOP/s)", limit / 1e6,
                    100 * limit / p->total_ns, p->peaks->f32_flops / 1e9);
    strbuf_puts(out, "\n\n");
    put_kinds(p, order, count, out);
    put_steps(p, order, count, width, out);
    put_far_below(p, order, count, out);
  }
  arena_destroy(arena);
  return status ? status : strbuf_finish(ctx, out);
}
