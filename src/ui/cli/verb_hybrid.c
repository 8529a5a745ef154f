/* hone hybrid: proposes parts of a model on different engines. The proposal is the sum of segments
 * that were timed separately; `hone recommend --hybrid` compares it with every engine in paired
 * runs.
 */
#include "core/format/format.h"
#include "judge/hybrid/hybrid.h"
#include "cli.h"

#include <math.h>
#include <unistd.h>

struct proposing {
  struct ctx *ctx;
  const struct args *args;
  struct arena *arena;
  struct model model;
  const char *path;
  struct hybrid_engine engines[HYBRID_MOST_ENGINES];
  struct hybrid_options options;
  struct hybrid_study study;
  char dir[4096];
};

/* -- options */

static hone_status add_engine(struct proposing *p, const struct backend *backend) {
  if (p->options.engine_count == HYBRID_MOST_ENGINES)
    return fail(p->ctx, HONE_E_USAGE, place_name("--backend"), "more than %d engines",
                HYBRID_MOST_ENGINES);
  p->engines[p->options.engine_count++] =
      (struct hybrid_engine){backend, engine_path_of(p->args, backend->name)};
  return HONE_OK;
}

/* Every named engine must run parts; without names all ready engines that can. */
static hone_status read_engines(struct proposing *p) {
  const char *list = value_of(p->args, FLAG_backend, NULL);
  for (size_t i = 0; !list && i < backend_count; i++) {
    const struct backend *backend = backend_list[i];
    struct backend_info info = {.status = BACKEND_MISSING};
    if (!part_can_be(backend) || backend->testing_only) continue;
    describe_backend(p->ctx, backend, engine_path_of(p->args, backend->name), &info);
    if (info.status == BACKEND_READY) TRY(add_engine(p, backend));
  }
  for (const char *at = list; at && *at; at += strcspn(at, ","), at += *at == ',') {
    char name[64];
    struct backend_choice choice;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
    TRY(backend_choose(p->ctx, name, &choice));
    if (choice.variant || !part_can_be(choice.backend))
      return fail(p->ctx, HONE_E_USAGE, place_name(name),
                  "cannot run parts: only engines that read ONNX in hone's own process can, "
                  "without a variant");
    TRY(add_engine(p, choice.backend));
  }
  if (p->options.engine_count < 2)
    return fail(p->ctx, HONE_E_MISSING, place_name("--backend"),
                "a hybrid needs two engines; %s is installed",
                p->options.engine_count ? p->engines[0].backend->name : "none");
  return HONE_OK;
}

static void show_progress(void *user, const char *line) {
  const struct proposing *p = user;
  if (!has(p->args, FLAG_quiet)) fprintf(stderr, "%s\n", line);
}

static hone_status propose(struct proposing *p, struct sinks *sinks) {
  hone_tensor *inputs;
  int threads[2] = {0};
  size_t thread_count = 0;
  int64_t cuts;
  TRY(one_word(p->ctx, p->args, "model", &p->path));
  TRY(ints_of(p->ctx, p->args, FLAG_threads, 1, 1024, threads, COUNT(threads), &thread_count));
  TRY(int_of(p->ctx, p->args, FLAG_cuts, 1, HYBRID_MOST_CUTS, 4, &cuts));
  TRY(number_of(p->ctx, p->args, FLAG_min_time, 0.001, 60, 0.1, &p->options.timing_s));
  TRY(amount_of(p->ctx, p->args, FLAG_budget, AMOUNT_SECONDS, 0.01, 1e6, INFINITY,
                &p->options.budget_s));
  TRY(read_engines(p));
  TRY(sinks_read(p->ctx, p->args, sinks));
  if (thread_count > 1)
    return fail(p->ctx, HONE_E_USAGE, place_name("--threads"), "accepts only one number here");
  p->options.threads = thread_count ? threads[0] : usable_core_count();
  p->options.cuts = (size_t)cuts;
  p->options.engines = p->engines;
  p->options.work_dir = p->dir;
  p->options.progress = show_progress;
  p->options.user = p;
  TRY(arena_create(p->ctx, (size_t)64 << 30, &p->arena));
  TRY(dir_temporary(p->ctx, p->dir));
  TRY(load_model(p->ctx, p->args, p->path, &p->model));
  TRY(sinks_check_model(p->ctx, sinks, &p->model));
  TRY(NEW_ARRAY(p->ctx, p->arena, inputs, p->model.graph->inputs.count));
  TRY(make_inputs(p->ctx, p->args, &p->model, p->arena, 0, inputs));
  return about_model(
      p->ctx, hybrid_measure(p->ctx, p->arena, p->model.graph, inputs, &p->options, &p->study));
}

/* -- output */

static bool is_split(const struct proposing *p) { return p->study.path.count > 1; }

/* The parts as the option of the backend; "" if a single engine is best. */
static hone_status parts_of(const struct proposing *p, struct strbuf *out) {
  if (is_split(p)) hybrid_parts_text(&p->study, &p->options, out);
  return strbuf_finish(p->ctx, out);
}

static size_t place_node(const struct proposing *p, size_t place) {
  if (!place) return 0;
  return place > p->study.cut_count ? p->model.graph->nodes.count
                                    : p->study.cuts[place - 1].position;
}

static void put_cuts(struct strbuf *out, const struct proposing *p) {
  for (size_t k = 0; k < p->study.cut_count; k++) {
    const struct cut *cut = &p->study.cuts[k];
    char bytes[32];
    format_bytes(bytes, cut->bytes);
    strbuf_printf(out, "cut before node %4zu: %s in %zu value%s, %.0f %% of the work before it\n",
                  cut->position, bytes, cut->values, cut->values == 1 ? "" : "s", 100 * cut->work);
  }
}

static void put_segments(struct strbuf *out, const struct proposing *p) {
  strbuf_puts(out, "\n     nodes      ");
  for (size_t e = 0; e < p->options.engine_count; e++)
    strbuf_printf(out, "  %12s", p->engines[e].backend->name);
  strbuf_puts(out, "   ms\n");
  for (size_t from = 0; from <= p->study.cut_count; from++)
    for (size_t to = from + 1; to <= p->study.cut_count + 1; to++) {
      strbuf_printf(out, "%6zu to %6zu", place_node(p, from), place_node(p, to) - 1);
      for (size_t e = 0; e < p->options.engine_count; e++) {
        const double ms = p->study.times.segment[from][to][e];
        if (isnan(ms))
          strbuf_puts(out, "             -");
        else
          strbuf_printf(out, "  %12.4f", ms);
      }
      strbuf_puts(out, "\n");
    }
}

static void put_transfers(struct strbuf *out, const struct proposing *p) {
  for (size_t place = 1; place <= p->study.cut_count; place++)
    for (size_t e = 0; e < p->options.engine_count; e++)
      for (size_t f = 0; f < p->options.engine_count; f++) {
        const double ms = p->study.times.transfer[place][e][f];
        if (!isnan(ms))
          strbuf_printf(out, "transfer before node %zu from %s to %s: %+.4f ms\n",
                        place_node(p, place), p->engines[e].backend->name,
                        p->engines[f].backend->name, ms);
      }
}

static hone_status put_table(const struct proposing *p, struct strbuf *out) {
  struct strbuf parts = {0};
  hone_status status = parts_of(p, &parts);
  put_cuts(out, p);
  put_segments(out, p);
  strbuf_puts(out, "\n");
  put_transfers(out, p);
  for (size_t e = 0; e < p->options.engine_count; e++)
    if (p->study.why_not[e][0]) {
      strbuf_printf(out, "%s refused a segment: ", p->engines[e].backend->name);
      strbuf_put_safe(out, p->study.why_not[e], 200);
      strbuf_puts(out, "\n");
    }
  if (p->study.segments < p->study.segment_count)
    strbuf_printf(out, "%zu of %zu segments were timed before --budget ended\n", p->study.segments,
                  p->study.segment_count);
  if (p->study.single != SIZE_MAX)
    strbuf_printf(out, "whole: %s %.4f ms\n", p->engines[p->study.single].backend->name,
                  p->study.single_ms);
  if (is_split(p))
    strbuf_printf(
        out,
        "parts: %s, %.4f ms as the sum of its segments and transfers\n"
        "to compare it in paired runs: hone recommend MODEL --hybrid, or\n"
        "  hone bench MODEL --backend %s,hybrid --threads %d --backend-option "
        "hybrid.parts=%s\n",
        parts.at, p->study.path.ms,
        p->study.single != SIZE_MAX ? p->engines[p->study.single].backend->name : "native",
        p->options.threads, parts.at);
  else
    strbuf_puts(out,
                "no parts: no sum of segments and transfers is below the best single engine\n");
  strbuf_deinit(&parts);
  return status;
}

static json_t *segments_json(const struct proposing *p) {
  json_t *all = json_array();
  for (size_t from = 0; from <= p->study.cut_count; from++)
    for (size_t to = from + 1; to <= p->study.cut_count + 1; to++)
      for (size_t e = 0; e < p->options.engine_count; e++)
        json_array_append_new(
            all, json_pack("{s:I, s:I, s:s, s:o}", "from", (json_int_t)place_node(p, from), "to",
                           (json_int_t)place_node(p, to), "backend", p->engines[e].backend->name,
                           "ms", json_finite(p->study.times.segment[from][to][e])));
  return all;
}

static json_t *transfers_json(const struct proposing *p) {
  json_t *all = json_array();
  for (size_t place = 1; place <= p->study.cut_count; place++)
    for (size_t e = 0; e < p->options.engine_count; e++)
      for (size_t f = 0; f < p->options.engine_count; f++) {
        const double ms = p->study.times.transfer[place][e][f];
        if (isnan(ms)) continue;
        json_array_append_new(
            all,
            json_pack("{s:I, s:s, s:s, s:f}", "node", (json_int_t)place_node(p, place), "from",
                      p->engines[e].backend->name, "to", p->engines[f].backend->name, "ms", ms));
      }
  return all;
}

static hone_status put_json(const struct proposing *p, struct strbuf *out) {
  struct strbuf parts = {0};
  char path[4200]; /* a file name need not be UTF-8 */
  json_t *cuts = json_array();
  TRY(parts_of(p, &parts));
  safe_copy(path, sizeof path, p->path);
  for (size_t k = 0; k < p->study.cut_count; k++)
    json_array_append_new(
        cuts, json_pack("{s:I, s:f, s:I}", "node", (json_int_t)p->study.cuts[k].position, "bytes",
                        p->study.cuts[k].bytes, "values", (json_int_t)p->study.cuts[k].values));
  json_t *json =
      json_pack("{s:s, s:i, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "model", path, "threads",
                p->options.threads, "complete", p->study.segments == p->study.segment_count, "cuts",
                cuts, "stretches", segments_json(p), "hand_overs", transfers_json(p), "single",
                p->study.single != SIZE_MAX ? json_string(p->engines[p->study.single].backend->name)
                                            : json_null(),
                "single_ms", json_finite(p->study.single_ms), "parts",
                is_split(p) ? json_string(parts.at) : json_null(), "parts_ms",
                is_split(p) ? json_finite(p->study.path.ms) : json_null());
  char *dumped = json ? json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(6)) : NULL;
  if (dumped) strbuf_printf(out, "%s\n", dumped);
  const hone_status status =
      dumped ? HONE_OK : fail(p->ctx, HONE_E_OOM, place_none(), "no memory for JSON");
  free(dumped);
  json_decref(json);
  strbuf_deinit(&parts);
  return status;
}

static hone_status render(struct ctx *ctx, void *user, const char *form, struct strbuf *out) {
  const struct proposing *p = user;
  TRY(!strcmp(form, "json") ? put_json(p, out) : put_table(p, out));
  return strbuf_finish(ctx, out);
}

int verb_hybrid(struct ctx *ctx, struct args *args) {
  static struct proposing p;
  static struct sinks sinks;
  p = (struct proposing){.ctx = ctx, .args = args};
  int code = propose(&p, &sinks) ? report_failure(ctx) : 0;
  if (!code) code = sinks_show(ctx, &sinks, render, &p);
  if (p.dir[0]) dir_temporary_remove(p.dir);
  model_unload(&p.model);
  arena_destroy(p.arena);
  return code;
}
