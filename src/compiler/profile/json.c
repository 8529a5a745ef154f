/* The profile as data: JSON with every step, and a trace for Perfetto or chrome://tracing. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "core/format/format.h"
#include "profile.h"

/* Names in a model may be invalid UTF-8. */
static json_t *untrusted(const char *text) {
  struct strbuf safe = {0};
  json_t *json = json_string(text);
  if (json) return json;
  strbuf_put_safe(&safe, text, 4000);
  json = json_string(safe.at ? safe.at : "");
  strbuf_deinit(&safe);
  return json;
}

static hone_status dump(struct ctx *ctx, json_t *json, struct strbuf *out) {
  char *text = json ? json_dumps(json, JSON_INDENT(1)) : NULL;
  json_decref(json);
  if (!text) return fail(ctx, HONE_E_OOM, place_none(), "no memory for JSON");
  strbuf_printf(out, "%s\n", text);
  free(text);
  return strbuf_finish(ctx, out);
}

static json_t *nodes_json(const struct profiled_step *step) {
  json_t *list = json_array();
  for (size_t i = 0; i < step->node_count; i++)
    json_array_append_new(
        list, json_pack("{s:s, s:o, s:I}", "op", step->nodes[i].op, "name",
                        untrusted(step->nodes[i].name), "index", (json_int_t)step->nodes[i].index));
  return list;
}

static json_t *step_json(const struct profile *p, size_t i) {
  const struct profiled_step *step = &p->plan.steps[i];
  const struct work *work = &step->work;
  const struct profile_time *time = &p->times[i];
  double limit = profile_limit_ns(p, i);
  json_t *json = json_pack("{s:I, s:s, s:s, s:s, s:s, s:s, s:b}", "step", (json_int_t)i, "kernel",
                           step->kind, "op", step->op, "shape", step->shape, "problem",
                           step->problem, "choice", step->choice, "serial", (int)step->serial);
  if (!json) return NULL;
  json_object_set_new(json, "ns", json_finite(time->ns));
  json_object_set_new(json, "least_ns", json_finite(time->least_ns));
  json_object_set_new(json, "balance", json_finite(time->balance));
  json_object_set_new(json, "share", json_finite(time->ns / p->total_ns));
  json_object_set_new(json, "flops", json_finite(work->flops));
  json_object_set_new(json, "algorithm_flops", json_finite(work->algorithm_flops));
  json_object_set_new(json, "stored_flops", json_finite(work->stored_flops));
  json_object_set_new(json, "weight_bytes", json_finite(work->weight_bytes));
  json_object_set_new(json, "value_bytes", json_finite(work->value_bytes));
  json_object_set_new(json, "products", json_string(dtype_name(work->dtype)));
  json_object_set_new(json, "gflops", json_finite(work->flops / time->ns));
  json_object_set_new(json, "gb_per_s",
                      json_finite((work->weight_bytes + work->value_bytes) / time->ns));
  json_object_set_new(json, "limit_ns", json_finite(limit));
  json_object_set_new(json, "limit_share", json_finite(limit / time->ns));
  json_object_set_new(json, "nodes", nodes_json(step));
  return json;
}

hone_status profile_json(struct ctx *ctx, const struct profile *p, struct strbuf *out) {
  json_t *json =
      json_pack("{s:i, s:o, s:s, s:i, s:I}", "schema", 1, "model", untrusted(p->model), "precision",
                p->precision, "threads", p->plan.threads, "runs", (json_int_t)p->run_count);
  json_t *steps = json_array();
  if (!json) return fail(ctx, HONE_E_OOM, place_none(), "no memory for JSON");
  json_object_set_new(json, "total_ns", json_finite(p->total_ns));
  json_object_set_new(json, "waiting_ns", json_finite(p->waiting_ns));
  json_object_set_new(json, "f32_flops", p->peaks ? json_finite(p->peaks->f32_flops) : json_null());
  json_object_set_new(json, "weights_bytes", json_finite(p->plan.weights_bytes));
  json_object_set_new(json, "arena_bytes", json_finite(p->plan.arena_bytes));
  for (size_t i = 0; i < p->plan.step_count; i++)
    if (p->times[i].ns > 0) json_array_append_new(steps, step_json(p, i));
  json_object_set_new(json, "steps", steps);
  return dump(ctx, json, out);
}

static json_t *thread_name(int thread) {
  char name[32];
  snprintf(name, sizeof name, "thread %d", thread);
  return json_pack("{s:s, s:s, s:i, s:i, s:{s:s}}", "name", "thread_name", "ph", "M", "pid", 1,
                   "tid", thread, "args", "name", name);
}

static json_t *event(const struct profile *p, size_t i, int thread, uint64_t origin) {
  const struct hone_profile_entry *e = &p->run[(size_t)thread * p->plan.step_count + i];
  const struct profiled_step *step = &p->plan.steps[i];
  struct strbuf nodes = {0};
  profile_nodes(step, &nodes);
  json_t *json =
      json_pack("{s:o, s:s, s:s, s:f, s:f, s:i, s:i}", "name", untrusted(nodes.at ? nodes.at : ""),
                "cat", step->kind, "ph", "X", "ts", (double)(e->begin - origin) / 1e3, "dur",
                (double)e->busy / 1e3, "pid", 1, "tid", thread);
  strbuf_deinit(&nodes);
  if (!json) return NULL;
  json_object_set_new(
      json, "args",
      json_pack("{s:I, s:s, s:s, s:s, s:o, s:I}", "step", (json_int_t)i, "shape", step->shape,
                "problem", step->problem, "choice", step->choice, "limit_us",
                json_finite(profile_limit_ns(p, i) / 1e3), "calls", (json_int_t)e->calls));
  return json;
}

hone_status profile_trace(struct ctx *ctx, const struct profile *p, struct strbuf *out) {
  size_t steps = p->plan.step_count, cells = steps * (size_t)p->plan.threads;
  uint64_t origin = UINT64_MAX;
  json_t *events = json_array();
  for (size_t k = 0; k < cells; k++)
    if (p->run[k].calls && p->run[k].begin < origin) origin = p->run[k].begin;
  for (int t = 0; t < p->plan.threads; t++) {
    json_array_append_new(events, thread_name(t));
    for (size_t i = 0; i < steps; i++)
      if (p->run[(size_t)t * steps + i].calls)
        json_array_append_new(events, event(p, i, t, origin));
  }
  return dump(ctx, json_pack("{s:s, s:o}", "displayTimeUnit", "ns", "traceEvents", events), out);
}
