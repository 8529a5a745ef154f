/* The times that a plan is made of, in one process and with the values that really flow: first all stretches between
 * neighbouring cuts are run once, which gives these values; then each stretch is opened on every engine, and engines
 * take turns on it. A turn's figure is its fastest run, a stretch's the least of its turns: neighbours only add.
 *
 * Hand-overs are measured where the best plan has one: both stretches in a row against each by itself. A hand-over that
 * nobody measured counts as free, so the plan that comes last has none of those: what could be better was looked at.
 */
#include "hybrid.h"

#include <math.h>
#include <stdlib.h>

enum { TURNS = 5, LEAST_RUNS = 3, MOST_RUNS = 2000, MOST_PLANS = 24 };

struct measuring {
  struct ctx *ctx;
  struct arena *arena;
  const struct graph *graph;
  const struct hybrid_options *options;
  struct hybrid_study *study;
  uint64_t start_ns;
  size_t places[HYBRID_PLACES]; /* nodes before each place */
  /* by value of the graph: inputs, and what crosses a cut; data NULL: not yet */
  hone_tensor *values;
  size_t folder; /* number of the next one */
  struct graph *stretches[HYBRID_PLACES][HYBRID_PLACES];
};

static void say(const struct measuring *m, const char *format, ...) PRINTF(2, 3);
static void say(const struct measuring *m, const char *format, ...) {
  char line[300];
  va_list args;
  if (!m->options->progress) return;
  va_start(args, format);
  vsnprintf(line, sizeof line, format, args);
  va_end(args);
  m->options->progress(m->options->user, line);
}

static bool is_spent(const struct measuring *m) {
  return (double)(clock_ns() - m->start_ns) / 1e9 > m->options->budget_s;
}

/* -- values */

static hone_tensor *value_of_name(const struct measuring *m, const char *name) {
  for (size_t v = 0; v < m->graph->values.count; v++)
    if (!strcmp(m->graph->values.at[v]->name, name)) return &m->values[v];
  return NULL;
}

/* Tensors of a stretch's inputs or outputs; missing ones get memory. */
static hone_status tensors_of(struct measuring *m, struct value *const *values, size_t count,
                              hone_tensor **out) {
  TRY(NEW_ARRAY(m->ctx, m->arena, *out, count));
  for (size_t i = 0; i < count; i++) {
    hone_tensor *tensor = value_of_name(m, values[i]->name);
    if (!tensor)
      return fail(m->ctx, HONE_E_INTERNAL, place_name(values[i]->name), "is in no graph");
    if (!tensor->data) TRY(value_memory(m->ctx, m->arena, values[i], tensor));
    (*out)[i] = *tensor;
  }
  return HONE_OK;
}

/* -- one stretch on one engine */

static hone_status stretch_of(struct measuring *m, size_t from, size_t to, struct graph **out) {
  struct graph **at = &m->stretches[from][to];
  if (!*at) TRY(graph_part(m->ctx, m->arena, m->graph, m->places[from], m->places[to], at));
  *out = *at;
  return HONE_OK;
}

static hone_status open_stretch(struct measuring *m, size_t from, size_t to, size_t engine,
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
  TRY(stretch_of(m, from, to, &graph));
  TRY(tensors_of(m, graph->inputs.at, graph->inputs.count, &inputs));
  TRY(tensors_of(m, graph->outputs.at, graph->outputs.count, &outputs));
  hone_status status = part_open(m->ctx, at->backend, graph, &request, dir, out);
  if (!status) status = part_bind(m->ctx, out, 0, inputs, outputs);
  if (!status) status = part_run(m->ctx, out, 0);
  if (status) part_close(out);
  return status;
}

/* What one engine cannot do is a stretch without it, and a reason; running out of memory or time is a failure. */
static hone_status try_stretch(struct measuring *m, size_t from, size_t to, size_t engine,
                               struct part *out) {
  hone_status status = open_stretch(m, from, to, engine, out);
  if (!status || status == HONE_E_INTERRUPTED || status == HONE_E_OOM) return status;
  safe_copy(m->study->why_not[engine], sizeof m->study->why_not[engine], m->ctx->message);
  ctx_clear(m->ctx);
  return HONE_OK;
}

/* -- turns */

/* The fastest of `runs` of the parts in a row, in ms. */
static hone_status turn(struct measuring *m, struct part *const *parts, size_t count, int runs,
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
  const double runs = 1e3 * m->options->turn_s / TURNS / fmax(ms, 1e-4);
  return runs < LEAST_RUNS ? LEAST_RUNS : runs > MOST_RUNS ? MOST_RUNS : (int)runs;
}

/* Rows of parts take turns; each row's least time. */
static hone_status take_turns(struct measuring *m, struct part *const rows[][2],
                              const size_t *counts, size_t row_count, double *best_ms) {
  int runs[HYBRID_MOST_ENGINES + 3];
  for (size_t r = 0; r < row_count; r++) {
    best_ms[r] = (double)NAN;
    if (counts[r]) TRY(turn(m, rows[r], counts[r], LEAST_RUNS, &best_ms[r]));
    runs[r] = counts[r] ? runs_for(m, best_ms[r]) : 0;
  }
  for (int t = 0; t < TURNS; t++)
    for (size_t r = 0; r < row_count; r++) TRY(turn(m, rows[r], counts[r], runs[r], &best_ms[r]));
  return HONE_OK;
}

static hone_status measure_stretch(struct measuring *m, size_t from, size_t to) {
  struct part parts[HYBRID_MOST_ENGINES] = {{0}};
  struct part *rows[HYBRID_MOST_ENGINES][2];
  size_t counts[HYBRID_MOST_ENGINES];
  double ms[HYBRID_MOST_ENGINES];
  const size_t engines = m->options->engine_count;
  hone_status status = HONE_OK;
  for (size_t e = 0; !status && e < engines; e++) {
    status = try_stretch(m, from, to, e, &parts[e]);
    rows[e][0] = &parts[e];
    counts[e] = parts[e].session != NULL;
  }
  if (!status) status = take_turns(m, (struct part *const(*)[2])rows, counts, engines, ms);
  for (size_t e = 0; !status && e < engines; e++) m->study->times.stretch[from][to][e] = ms[e];
  for (size_t e = 0; e < engines; e++) part_close(&parts[e]);
  return status;
}

/* What engine f costs more right behind engine e than each by itself. */
static hone_status measure_hand_over(struct measuring *m, size_t from, size_t place, size_t to,
                                     size_t e, size_t f) {
  struct part parts[2] = {{0}};
  double ms[3];
  hone_status status = open_stretch(m, from, place, e, &parts[0]);
  if (!status) status = open_stretch(m, place, to, f, &parts[1]);
  struct part *const rows[3][2] = {{&parts[0], NULL}, {&parts[1], NULL}, {&parts[0], &parts[1]}};
  static const size_t counts[3] = {1, 1, 2};
  if (!status) status = take_turns(m, rows, counts, 3, ms);
  for (int k = 0; k < 2; k++) part_close(&parts[k]);
  TRY(status);
  m->study->times.hand_over[place][e][f] = ms[2] - ms[0] - ms[1];
  m->study->hand_overs++;
  return HONE_OK;
}

/* -- from first to last */

/* Every stretch between neighbours once, with the first engine that can: the values at the cuts. */
static hone_status fill_values(struct measuring *m, const hone_tensor *inputs) {
  TRY(NEW_ARRAY(m->ctx, m->arena, m->values, m->graph->values.count));
  for (size_t i = 0; i < m->graph->inputs.count; i++)
    m->values[m->graph->inputs.at[i]->index] = inputs[i];
  for (size_t p = 0; p + 1 < m->study->times.places; p++) {
    struct part part = {0};
    for (size_t e = 0; !part.session && e < m->options->engine_count; e++)
      TRY(try_stretch(m, p, p + 1, e, &part));
    if (!part.session)
      return fail(m->ctx, HONE_E_UNSUP, place_none(), "no engine runs nodes %zu to %zu: %.200s",
                  m->places[p], m->places[p + 1], m->study->why_not[0]);
    part_close(&part);
  }
  return HONE_OK;
}

/* The longest first: what a budget leaves out are the shortest, without which there are fewer paths. */
static hone_status measure_stretches(struct measuring *m) {
  const size_t places = m->study->times.places;
  m->study->stretch_count = places * (places - 1) / 2;
  for (size_t length = places - 1; length; length--)
    for (size_t from = 0; from + length < places; from++) {
      if (m->study->stretches && is_spent(m)) return HONE_OK;
      say(m, "[%zu/%zu] nodes %zu to %zu", ++m->study->stretches, m->study->stretch_count,
          m->places[from], m->places[from + length] - 1);
      TRY(measure_stretch(m, from, from + length));
    }
  return HONE_OK;
}

/* Plans until the best one has no hand-over that was not measured. */
static hone_status plan(struct measuring *m) {
  struct hybrid_path *path = &m->study->path;
  for (int turns = 0; turns < MOST_PLANS; turns++) {
    bool is_known = true;
    hybrid_shortest(&m->study->times, path);
    for (size_t k = 0; k + 1 < path->count; k++) {
      const size_t e = path->at[k].engine, f = path->at[k + 1].engine, place = path->at[k].to;
      if (!isnan(m->study->times.hand_over[place][e][f]) || is_spent(m)) continue;
      say(m, "hand-over before node %zu from %s to %s", m->places[place],
          m->options->engines[e].backend->name, m->options->engines[f].backend->name);
      TRY(measure_hand_over(m, path->at[k].from, place, path->at[k + 1].to, e, f));
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
    const double ms = t->stretch[0][t->places - 1][e];
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
                  "an output that no node makes, or of a size known only at run time");
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
        if (k < HYBRID_PLACES) out->times.stretch[p][k][e] = (double)NAN;
        if (k < HYBRID_MOST_ENGINES) out->times.hand_over[p][e][k] = (double)NAN;
      }
  TRY(fill_values(&m, inputs));
  TRY(measure_stretches(&m));
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
