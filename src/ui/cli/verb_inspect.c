/* hone inspect: facts about a model, and its roofline limit on this machine. */
#include "bench/study/study.h"
#include "ui/draw/draw.h"
#include "cli.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

enum { MOST_WRITTEN = 256 };
struct facts {
  double flops, bytes, parameters, parameter_bytes;
  size_t counts[OP_COUNT];
  struct
      written { /* operators of the file that were expanded into others, in order of first appearance */
    const char *name;
    size_t count;
    int64_t last; /* index of the last one's nodes */
  } written[MOST_WRITTEN];
  size_t written_count;
};

/* Integer weights: int8 and narrower, and int32 biases. */
static bool is_quantised_weight(const struct node *node, size_t input) {
  const struct tensor *x = node->inputs[input]->constant;
  const unsigned bits = dtype_bits(x->dtype);
  if (!dtype_is_integer(x->dtype) || is_op(node, OP_ByteTable) || is_op(node, OP_TableSoftmax))
    return false;
  return bits <= 8 || (bits == 32 && (is_op(node, OP_Add) || is_op(node, OP_QLinearConv)));
}

/* Scales and zero points of a quantised operator. */
static bool is_quantisation(const struct node *node, size_t input) {
  if (is_op(node, OP_DequantizeLinear) || is_op(node, OP_QuantizeLinear)) return input > 0;
  if (is_op(node, OP_ConvInteger) || is_op(node, OP_MatMulInteger)) return input > 1;
  if (is_op(node, OP_QLinearConv) || is_op(node, OP_QLinearMatMul))
    return input != 0 && input != 3 && input != 8;
  return is_op(node, OP_Requantize) && input > 0;
}

/* Running statistics of normalisations and scalar constants are not parameters. */
static bool is_trained(const struct node *node, size_t input) {
  if (is_op(node, OP_BatchNormalization) && input >= 3) return false;
  return node->inputs[input]->shape.rank > 0 && !is_quantisation(node, input);
}

static void count_written(const struct node *node, struct facts *facts) {
  const char *name = node->written_as;
  size_t i = 0;
  if (!name) return;
  while (i < facts->written_count && strcmp(facts->written[i].name, name)) i++;
  if (i == MOST_WRITTEN) return;
  struct written *at = &facts->written[i];
  if (i == facts->written_count)
    *at = (struct written){.name = name, .last = -1}, facts->written_count++;
  if (at->last != node->index) at->count++;
  at->last = node->index;
}

static bool is_own_name(const char *name) {
  for (int i = 1; i < OP_COUNT; i++)
    if (!strcmp(op_table[i].name, name)) return true;
  return false;
}

static void gather(const struct graph *graph, bool *is_counted, struct facts *facts) {
  for (size_t i = 0; i < graph->nodes.count; i++) {
    const struct node *node = graph->nodes.at[i];
    double flops, bytes;
    node_cost(node, &flops, &bytes);
    facts->flops += flops;
    facts->bytes += bytes;
    facts->counts[node->op->id]++;
    count_written(node, facts);
    for (size_t k = 0; k < node->input_count; k++) {
      const struct value *value = node->inputs[k];
      if (!value || !value->constant || is_counted[value->index] ||
          !(dtype_is_float(value->dtype) || is_quantised_weight(node, k)))
        continue;
      is_counted[value->index] = true;
      facts->parameter_bytes += (double)value->constant->bytes;
      if (is_trained(node, k)) facts->parameters += (double)tensor_count(value->constant);
    }
  }
}

static void print_values(const char *title, struct value *const *values, size_t count) {
  for (size_t i = 0; i < count; i++) {
    struct strbuf line = {0};
    strbuf_printf(&line, "%s %zu  ", title, i);
    strbuf_put_safe(&line, values[i]->name, 200);
    strbuf_printf(&line, ": %s", dtype_name(values[i]->dtype));
    shape_print(&line, &values[i]->shape);
    if (line.at) puts(line.at);
    strbuf_deinit(&line);
  }
}

static void print_ops(const struct facts *facts) {
  struct strbuf line = {0};
  for (int i = 1; i < OP_COUNT; i++)
    if (facts->counts[i]) strbuf_printf(&line, "  %s %zu", op_table[i].name, facts->counts[i]);
  if (line.at) printf("operators%s\n", line.at);
  strbuf_deinit(&line);
  bool is_other = false;
  for (size_t i = 0; i < facts->written_count; i++) {
    is_other |= !is_own_name(facts->written[i].name);
    strbuf_puts(&line, "  ");
    strbuf_put_safe(&line, facts->written[i].name, 80);
    strbuf_printf(&line, " %zu", facts->written[i].count);
  }
  if (is_other && line.at) printf("in file  %s\n", line.at);
  strbuf_deinit(&line);
}

/* max(FLOPs / P, bytes / B); each byte counts once, at the bandwidth of a working set of that size. */
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
  const struct ctx *refusal; /* the error of compilation; HONE_OK: it compiles */
  json_t *json;
};

static hone_status render_json_form(struct ctx *ctx, void *user, const char *form,
                                    struct strbuf *out) {
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
  json_object_set_new(json, "precision", json_string(file_precision(model->graph)));
  json_object_set_new(json, "parameters", json_real(facts->parameters));
  json_object_set_new(json, "flops", json_real(facts->flops));
  json_object_set_new(json, "bytes", json_real(facts->bytes));
  json_t *ops = json_object();
  for (int i = 1; i < OP_COUNT; i++)
    if (facts->counts[i])
      json_object_set_new(ops, op_table[i].name, json_integer((json_int_t)facts->counts[i]));
  json_object_set_new(json, "operators", ops);
  json_t *written = json_object();
  for (size_t i = 0; i < facts->written_count; i++)
    json_object_set_new(written, facts->written[i].name,
                        json_integer((json_int_t)facts->written[i].count));
  json_object_set_new(json, "file_operators", written);
  char *dumped = json_dumps(json, JSON_INDENT(2));
  if (!dumped) return fail(ctx, HONE_E_OOM, place_none(), "no memory for JSON");
  strbuf_printf(out, "%s\n", dumped);
  free(dumped);
  return strbuf_finish(ctx, out);
}

/* Runs passes, plan and source generation for this processor and discards the result. The error, with its place, is in *out. */
static void try_compile(const struct ctx *ctx, const struct model *model, struct ctx *out) {
  struct compile_options options = {.threads = usable_core_count(), .stop_after = "emit"};
  *out = *ctx;
  out->warn = NULL;
  hone_status status = target_init(out, NULL, NULL, &options.target);
  if (!status) status = compile_model(out, model, &options, "-", NULL);
  (void)status; /* reported in *out */
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
    printf("precision %s\n", file_precision(model->graph));
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
