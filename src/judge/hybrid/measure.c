/* Measures segments and transfers in one process, with the model's real intermediate values. First
 * every segment between neighbouring cuts runs once, which gives these values. Then each segment is
 * opened on every engine, and the engines are timed in alternating rounds. A segment's time is its
 * fastest run: load on the machine only adds time.
 *
 * Transfers are measured if the best plan has them: both segments in sequence compared with each by
 * itself. An unmeasured transfer counts as 0, so planning repeats until the best plan has none.
 */
#include "hybrid.h"

#include <math.h>
#include <stdlib.h>

enum { ROUNDS = 5, LEAST_RUNS = 3, MOST_RUNS = 2000, MOST_PLANS = 24 };

struct measuring {
  struct ctx *ctx;
  struct arena *arena;
  const struct graph *graph;
  const struct hybrid_options *options;
  struct hybrid_study *study;
  uint64_t start_ns;
  size_t places[HYBRID_PLACES]; /* nodes before each place */
  /* by value of the graph: inputs and values that cross a cut; data NULL: not computed yet */
  hone_tensor *values;
  size_t folder; /* number of the next folder */
  struct graph *segments[HYBRID_PLACES][HYBRID_PLACES];
};

static void report(const struct measuring *m, const char *format, ...) PRINTF(2, 3);
static void report(const struct measuring *m, const char *format, ...) {
  char line[300];
  va_list args;
  if (!m->options->progress) return;
  va_start(args, format);
  vsnprintf(line, sizeof line, format, args);
  va_end(args);
  m->options->progress(m->options->user, line);
}

static bool budget_is_spent(const struct measuring *m) {
  return (double)(clock_ns() - m->start_ns) / 1e9 > m->options->budget_s;
}

/* -- values */

static hone_tensor *value_of_name(const struct measuring *m, const char *name) {
  for (size_t v = 0; v < m->graph->values.count; v++)
    if (!strcmp(m->graph->values.at[v]->name, name)) return &m->values[v];
  return NULL;
}

/* Tensors of a segment's inputs or outputs; missing ones are allocated. */
static hone_status tensors_of(struct measuring *m, struct value *const *values, size_t count,
                              hone_tensor **out) {
  TRY(NEW_ARRAY(m->ctx, m->arena, *out, count));
  for (size_t i = 0; i < count; i++) {
    hone_tensor *tensor = value_of_name(m, values[i]->name);
    if (!tensor)
      return fail(m->ctx, HONE_E_INTERNAL, place_name(values[i]->name), "is not in the graph");
    if (!tensor->data) TRY(value_memory(m->ctx, m->arena, values[i], tensor));
    (*out)[i] = *tensor;
  }
  return HONE_OK;
}

/* -- one segment on one engine */

static hone_status segment_of(struct measuring *m, size_t from, size_t to, struct graph **out) {
  struct graph **at = &m->segments[from][to];
  if (!*at) TRY(graph_part(m->ctx, m->arena, m->graph, m->places[from], m->places[to], at));
  *out = *at;
  return HONE_OK;
}

static hone_status open_segment(struct measuring *m, size_t from, size_t to, size_t engine,
                                struct part *out) {
  const struct hybrid_engine *at = &m->options->engines[engine];
  char dir[4096];
  struct graph *graph;
  hone_tensor *inputs, *outputs;
  if (snprintf(dir, sizeof dir, "%s/%zu", m->options->work_dir, m->folder++) >= (int)sizeof dir)
    return fail(m->ctx, HONE_E_PATH, place_file(m->options->work_dir), "the path is too long");
  const struct backend_request request = {
      .precision = "as-is",
      .file_precision = "fp32",
      .threads = m->options->threads,
      .options = at->backend == &backend_native ? "pin=0" : part_options(at->backend),
      .engine_path = at->path,
      .use_cache = true};
  TRY(segment_of(m, from, to, &graph));
  TRY(tensors_of(m, graph->inputs.at, graph->inputs.count, &inputs));
  TRY(tensors_of(m, graph->outputs.at, graph->outputs.count, &outputs));
  hone_status status = part_open(m->ctx, at->backend, graph, &request, dir, out);
  if (!status) status = part_bind(m->ctx, out, 0, inputs, outputs);
  if (!status) status = part_run(m->ctx, out, 0);
  if (status) part_close(out);
  return status;
}

/* If an engine refuses a segment, the segment is measured without it and the reason is kept. Out
   of memory and an interrupt are failures. */
static hone_status try_segment(struct measuring *m, size_t from, size_t to, size_t engine,
                               struct part *out) {
  hone_status status = open_segment(m, from, to, engine, out);
  if (!status || status == HONE_E_INTERRUPTED || status == HONE_E_OOM) return status;
  safe_copy(m->study->why_not[engine], sizeof m->study->why_not[engine], m->ctx->message);
  ctx_clear(m->ctx);
  return HONE_OK;
}

/* -- timing */

/* The fastest of `runs` runs of the parts in sequence, in ms. */
static hone_status time_runs(struct measuring *m, struct part *const *parts, size_t count, int runs,
                             double *best_ms) {
  for (int r = 0; r < runs; r++) {
    const uint64_t start = clock_ns();
    for (size_t k = 0; k < count; k++) TRY(part_run(m->ctx, parts[k], 0));
    const double ms = (double)(clock_ns() - start) / 1e6;
    if (isnan(*best_ms) || ms < *best_ms) *best_ms = ms;
  }
  return HONE_OK;
}

static int runs_for(const struct measuring *m, double ms) {
  const double runs = 1e3 * m->options->timing_s / ROUNDS / fmax(ms, 1e-4);
  return runs < LEAST_RUNS ? LEAST_RUNS : runs > MOST_RUNS ? MOST_RUNS : (int)runs;
}

/* Times rows of parts in alternating rounds; best_ms: the fastest run of each row. */
static hone_status time_in_rounds(struct measuring *m, struct part *const rows[][2],
                                  const size_t *counts, size_t row_count, double *best_ms) {
  int runs[HYBRID_MOST_ENGINES + 3];
  for (size_t r = 0; r < row_count; r++) {
    best_ms[r] = (double)NAN;
    if (counts[r]) TRY(time_runs(m, rows[r], counts[r], LEAST_RUNS, &best_ms[r]));
    runs[r] = counts[r] ? runs_for(m, best_ms[r]) : 0;
  }
  for (int round = 0; round < ROUNDS; round++)
    for (size_t r = 0; r < row_count; r++)
      TRY(time_runs(m, rows[r], counts[r], runs[r], &best_ms[r]));
  return HONE_OK;
}

static hone_status measure_segment(struct measuring *m, size_t from, size_t to) {
  struct part parts[HYBRID_MOST_ENGINES] = {{0}};
  struct part *rows[HYBRID_MOST_ENGINES][2];
  size_t counts[HYBRID_MOST_ENGINES];
  double ms[HYBRID_MOST_ENGINES];
  const size_t engines = m->options->engine_count;
  hone_status status = HONE_OK;
  for (size_t e = 0; !status && e < engines; e++) {
    status = try_segment(m, from, to, e, &parts[e]);
    rows[e][0] = &parts[e];
    counts[e] = parts[e].session != NULL;
  }
  if (!status) status = time_in_rounds(m, (struct part *const(*)[2])rows, counts, engines, ms);
  for (size_t e = 0; !status && e < engines; e++) m->study->times.segment[from][to][e] = ms[e];
  for (size_t e = 0; e < engines; e++) part_close(&parts[e]);
  return status;
}

/* The time of engine e and then f, minus the time of each by itself. */
static hone_status measure_transfer(struct measuring *m, size_t from, size_t place, size_t to,
                                    size_t e, size_t f) {
  struct part parts[2] = {{0}};
  double ms[3];
  hone_status status = open_segment(m, from, place, e, &parts[0]);
  if (!status) status = open_segment(m, place, to, f, &parts[1]);
  struct part *const rows[3][2] = {{&parts[0], NULL}, {&parts[1], NULL}, {&parts[0], &parts[1]}};
  static const size_t counts[3] = {1, 1, 2};
  if (!status) status = time_in_rounds(m, rows, counts, 3, ms);
  for (int k = 0; k < 2; k++) part_close(&parts[k]);
  TRY(status);
  m->study->times.transfer[place][e][f] = ms[2] - ms[0] - ms[1];
  m->study->transfers++;
  return HONE_OK;
}

/* -- the whole measurement */

/* Runs every segment between neighbouring cuts once, on the first engine that takes it: the
   values at the cuts. */
static hone_status fill_values(struct measuring *m, const hone_tensor *inputs) {
  TRY(NEW_ARRAY(m->ctx, m->arena, m->values, m->graph->values.count));
  for (size_t i = 0; i < m->graph->inputs.count; i++)
    m->values[m->graph->inputs.at[i]->index] = inputs[i];
  for (size_t p = 0; p + 1 < m->study->times.places; p++) {
    struct part part = {0};
    for (size_t e = 0; !part.session && e < m->options->engine_count; e++)
      TRY(try_segment(m, p, p + 1, e, &part));
    if (!part.session)
      return fail(m->ctx, HONE_E_UNSUP, place_none(), "no engine runs nodes %zu to %zu: %.200s",
                  m->places[p], m->places[p + 1], m->study->why_not[0]);
    part_close(&part);
  }
  return HONE_OK;
}

/* The longest first: if the budget ends, the shortest ones are missing, which leaves complete
   paths. */
static hone_status measure_segments(struct measuring *m) {
  const size_t places = m->study->times.places;
  m->study->segment_count = places * (places - 1) / 2;
  for (size_t length = places - 1; length; length--)
    for (size_t from = 0; from + length < places; from++) {
      if (m->study->segments && budget_is_spent(m)) return HONE_OK;
      report(m, "[%zu/%zu] nodes %zu to %zu", ++m->study->segments, m->study->segment_count,
             m->places[from], m->places[from + length] - 1);
      TRY(measure_segment(m, from, from + length));
    }
  return HONE_OK;
}

/* Plans until every transfer of the best plan is measured. */
static hone_status plan(struct measuring *m) {
  struct hybrid_path *path = &m->study->path;
  for (int attempt = 0; attempt < MOST_PLANS; attempt++) {
    bool is_known = true;
    hybrid_shortest(&m->study->times, path);
    for (size_t k = 0; k + 1 < path->count; k++) {
      const size_t e = path->at[k].engine, f = path->at[k + 1].engine, place = path->at[k].to;
      if (!isnan(m->study->times.transfer[place][e][f]) || budget_is_spent(m)) continue;
      report(m, "transfer before node %zu from %s to %s", m->places[place],
             m->options->engines[e].backend->name, m->options->engines[f].backend->name);
      TRY(measure_transfer(m, path->at[k].from, place, path->at[k + 1].to, e, f));
      is_known = false;
    }
    if (is_known) return HONE_OK;
  }
  return HONE_OK;
}

static void find_single(struct hybrid_study *study) {
  const struct hybrid_times *t = &study->times;
  study->single = SIZE_MAX;
  study->single_ms = (double)NAN;
  for (size_t e = 0; e < t->engines; e++) {
    const double ms = t->segment[0][t->places - 1][e];
    if (isnan(ms) || ms >= study->single_ms) continue;
    study->single = e;
    study->single_ms = ms;
  }
}

static hone_status check_graph(struct ctx *ctx, const struct graph *graph) {
  for (size_t i = 0; i < graph->outputs.count; i++) {
    const struct value *value = graph->outputs.at[i];
    if (!value->producer || value_is_open(value) || value->slope)
      return fail(ctx, HONE_E_UNSUP, place_name(value->name),
                  "the output is not computed by a node, or has a dynamic dimension");
  }
  return HONE_OK;
}

hone_status hybrid_measure(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                           const hone_tensor *inputs, const struct hybrid_options *options,
                           struct hybrid_study *out) {
  struct measuring m = {.ctx = ctx,
                        .arena = arena,
                        .graph = graph,
                        .options = options,
                        .study = out,
                        .start_ns = clock_ns()};
  TRY(check_graph(ctx, graph));
  *out = (struct hybrid_study){.single = SIZE_MAX};
  TRY(hybrid_cuts(ctx, arena, graph, options->cuts, out->cuts, &out->cut_count));
  out->times.places = out->cut_count + 2;
  out->times.engines = options->engine_count;
  for (size_t k = 0; k < out->cut_count; k++) m.places[k + 1] = out->cuts[k].position;
  m.places[out->cut_count + 1] = graph->nodes.count;
  for (size_t p = 0; p < HYBRID_PLACES; p++)
    for (size_t e = 0; e < HYBRID_MOST_ENGINES; e++)
      for (size_t k = 0; k < HYBRID_PLACES || k < HYBRID_MOST_ENGINES; k++) {
        if (k < HYBRID_PLACES) out->times.segment[p][k][e] = (double)NAN;
        if (k < HYBRID_MOST_ENGINES) out->times.transfer[p][e][k] = (double)NAN;
      }
  TRY(fill_values(&m, inputs));
  TRY(measure_segments(&m));
  TRY(plan(&m));
  find_single(out);
  return HONE_OK;
}

void hybrid_parts_text(const struct hybrid_study *study, const struct hybrid_options *options,
                       struct strbuf *out) {
  const struct hybrid_path *path = &study->path;
  for (size_t k = 0; k < path->count; k++) {
    strbuf_printf(out, "%s%s", k ? "+" : "", options->engines[path->at[k].engine].backend->name);
    if (k + 1 < path->count) strbuf_printf(out, ":%zu", study->cuts[path->at[k].to - 1].position);
  }
}
