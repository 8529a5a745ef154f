/* hone inspect: what a model is and what this machine allows at best. */
#include "../draw/draw.h"
#include "cli.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

struct facts {
  double flops, bytes, parameters, parameter_bytes;
  size_t counts[OP_COUNT];
};

/* Neither running statistics of a normalisation nor scalars of a formula are trained. */
static bool is_trained(const struct node *node, size_t input) {
  if (is_op(node, OP_BatchNormalization) && input >= 3) return false;
  return node->inputs[input]->shape.rank > 0;
}

static void gather(const struct graph *graph, bool *is_counted, struct facts *facts) {
  for (size_t i = 0; i < graph->nodes.count; i++) {
    const struct node *node = graph->nodes.at[i];
    double flops, bytes;
    node_cost(node, &flops, &bytes);
    facts->flops += flops;
    facts->bytes += bytes;
    facts->counts[node->op->id]++;
    for (size_t k = 0; k < node->input_count; k++) {
      const struct value *value = node->inputs[k];
      if (!value || !value->constant || !dtype_is_float(value->dtype) || is_counted[value->index])
        continue;
      is_counted[value->index] = true;
      facts->parameter_bytes += (double)value->constant->bytes;
      if (is_trained(node, k)) facts->parameters += (double)tensor_count(value->constant);
    }
  }
}

static void print_values(const char *title, struct value *const *values, size_t count) {
  for (size_t i = 0; i < count; i++) {
    struct text line = {0};
    text_printf(&line, "%s %zu  ", title, i);
    text_put_safe(&line, values[i]->name, 200);
    text_printf(&line, ": %s", dtype_name(values[i]->dtype));
    shape_print(&line, &values[i]->shape);
    if (line.at) puts(line.at);
    text_deinit(&line);
  }
}

static void print_ops(const struct facts *facts) {
  printf("operators");
  for (int i = 1; i < OP_COUNT; i++)
    if (facts->counts[i]) printf("  %s %zu", op_table[i].name, facts->counts[i]);
  printf("\n");
}

/* max(FLOPs / P, bytes / B): unique bytes once, at the bandwidth of that working set. */
static double limit_ms(const struct facts *facts, const struct model *model,
                       const struct peaks *peaks) {
  double unique = facts->parameter_bytes;
  for (size_t i = 0; i < model->graph->inputs.count; i++) {
    int64_t count;
    if (shape_count(&model->graph->inputs.at[i]->shape, &count)) unique += (double)count * 4;
  }
  return 1e3 * fmax(facts->flops / peaks->f32_flops, unique / peaks_bandwidth(peaks, unique));
}

static hone_status measure(struct ctx *ctx, const struct facts *facts, const struct model *model,
                           json_t *json) {
  struct peaks peaks;
  int threads = usable_core_count();
  TRY(peaks_measure(ctx, threads, 600000000, &peaks));
  double limit = limit_ms(facts, model, &peaks);
  printf("limit     %.4g ms on %d threads (FMA peak %.0f GFLOP/s, direct algorithms)\n", limit,
         threads, peaks.f32_flops / 1e9);
  json_object_set_new(json, "limit_ms", json_real(limit));
  return HONE_OK;
}

static json_t *values_json(struct value *const *values, size_t count) {
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++) {
    json_t *shape = json_array();
    for (int d = 0; d < values[i]->shape.rank; d++)
      json_array_append_new(shape, json_integer(values[i]->shape.dims[d]));
    json_array_append_new(list, json_pack("{s:s, s:s, s:o}", "name", values[i]->name, "dtype",
                                          dtype_name(values[i]->dtype), "shape", shape));
  }
  return list;
}

struct described {
  const struct model *model;
  const struct facts *facts;
  const struct ctx *refusal; /* why it does not compile; HONE_OK if it does */
  json_t *json;
};

static hone_status render_json_form(struct ctx *ctx, void *user, const char *form,
                                    struct text *out) {
  const struct described *described = user;
  const struct model *model = described->model;
  const struct facts *facts = described->facts;
  json_t *json = described->json;
  if (!strcmp(form, "graph")) return draw_graph(ctx, model->graph, out);
  json_object_set_new(json, "schema", json_integer(1));
  json_object_set_new(json, "inputs",
                      values_json(model->graph->inputs.at, model->graph->inputs.count));
  json_object_set_new(json, "outputs",
                      values_json(model->graph->outputs.at, model->graph->outputs.count));
  if (model->graph->open_dimensions)
    json_object_set_new(json, "open_dimensions", json_string(model->graph->open_dimensions));
  json_object_set_new(json, "compiles", json_boolean(!described->refusal->status));
  if (described->refusal->status)
    json_object_set_new(json, "compile_refusal", json_string(described->refusal->message));
  json_object_set_new(json, "parameters", json_real(facts->parameters));
  json_object_set_new(json, "flops", json_real(facts->flops));
  json_object_set_new(json, "bytes", json_real(facts->bytes));
  json_t *ops = json_object();
  for (int i = 1; i < OP_COUNT; i++)
    if (facts->counts[i])
      json_object_set_new(ops, op_table[i].name, json_integer((json_int_t)facts->counts[i]));
  json_object_set_new(json, "operators", ops);
  char *dumped = json_dumps(json, JSON_INDENT(2));
  if (!dumped) return fail(ctx, HONE_E_OOM, place_none(), "no memory for JSON");
  text_printf(out, "%s\n", dumped);
  free(dumped);
  return text_finish(ctx, out);
}

/* What is read is not yet compiled: passes, plan and C text are made and thrown away, for this processor. A
   refusal with its place stays in *out. */
static void try_compile(const struct ctx *ctx, const struct model *model, struct ctx *out) {
  struct compile_options options = {.threads = usable_core_count(), .stop_after = "emit"};
  *out = *ctx;
  out->warn = NULL;
  hone_status status = target_init(out, NULL, NULL, &options.target);
  if (!status) status = compile_model(out, model, &options, "-", NULL);
  (void)status; /* it is in *out */
}

static hone_status show(struct ctx *ctx, const struct args *args, bool json_only,
                        const struct model *model, const struct ctx *refusal, json_t *json,
                        struct facts *facts) {
  char flops[32], bytes[32], parameters[32];
  bool *is_counted;
  TRY(NEW_ARRAY(ctx, model->arena, is_counted, model->graph->values.count));
  gather(model->graph, is_counted, facts);
  if (!json_only) {
    format_count(flops, facts->flops);
    format_bytes(bytes, facts->bytes);
    format_count(parameters, facts->parameters);
    print_values("input ", model->graph->inputs.at, model->graph->inputs.count);
    print_values("output", model->graph->outputs.at, model->graph->outputs.count);
    if (model->graph->open_dimensions) printf("open      %s\n", model->graph->open_dimensions);
    printf("nodes     %zu\n", model->graph->nodes.count);
    print_ops(facts);
    printf("parameters %s (%.0f)\nFLOPs     %s\nbytes     %s read and written over all nodes\n",
           parameters, facts->parameters, flops, bytes);
    if (refusal->status)
      printf("compiles  no, %s\n", refusal->message);
    else
      printf("compiles  yes\n");
    if (!has(args, FLAG_no_measure)) TRY(measure(ctx, facts, model, json));
  }
  return HONE_OK;
}

int verb_inspect(struct ctx *ctx, struct args *args) {
  static struct sinks sinks;
  static struct facts facts;
  static struct ctx refusal;
  const char *path;
  struct model model;
  if (one_word(ctx, args, "model", &path) || sinks_read(ctx, args, &sinks) ||
      load_model(ctx, args, path, &model))
    return report_failure(ctx);
  if (sinks_check_model(ctx, &sinks, &model)) {
    model_unload(&model);
    return report_failure(ctx);
  }
  json_t *json = json_object();
  try_compile(ctx, &model, &refusal);
  hone_status status = show(ctx, args, sinks.takes_stdout, &model, &refusal, json, &facts);
  int code = status ? report_failure(ctx) : 0;
  struct described described = {&model, &facts, &refusal, json};
  if (!code) code = sinks_write(ctx, &sinks, render_json_form, &described);
  json_decref(json);
  model_unload(&model);
  return code;
}
