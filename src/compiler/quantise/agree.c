/* Writes samples and the float model's outputs as a labelled set with the metric agreement, so that
 * any engine's output of a smaller model can be compared with them.
 */
#include "quantise_internal.h"

#include <unistd.h>

static hone_status write_tensors(struct ctx *ctx, const char *dir, const char *kind,
                                 const hone_tensor *at, size_t count) {
  TRY(dir_output(ctx, dir));
  for (size_t i = 0; i < count; i++) {
    char path[4096 + 64];
    snprintf(path, sizeof path, "%.4000s/%.8s_%zu.npy", dir, kind, i);
    TRY(output_check(ctx, path, OUTPUT_NPY, NULL, 0));
    TRY(npy_write(ctx, path, &at[i]));
  }
  return HONE_OK;
}

/* Expected outputs are in a separate folder, because all files of a sample's folder are inputs. */
static hone_status write_sample(struct ctx *ctx, const struct graph *graph,
                                const struct executor *e, const hone_tensor *inputs,
                                hone_tensor *outputs, const char *dir, size_t s) {
  char folder[4096 + 64];
  for (size_t i = 0; i < graph->outputs.count; i++) {
    outputs[i] = value_tensor(graph->outputs.at[i], e->outputs[i]);
  }
  snprintf(folder, sizeof folder, "%.4000s/s%03zu", dir, s);
  TRY(write_tensors(ctx, folder, "in", inputs, graph->inputs.count));
  snprintf(folder, sizeof folder, "%.4000s/.expected/s%03zu", dir, s);
  return write_tensors(ctx, folder, "out", outputs, graph->outputs.count);
}

static hone_status write_labels(struct ctx *ctx, const char *dir, size_t count) {
  char path[4096 + 64];
  struct strbuf text = {0};
  strbuf_puts(&text, "{\"metric\": \"agreement\", \"samples\": [");
  for (size_t s = 0; s < count; s++)
    strbuf_printf(&text, "%s\n {\"folder\": \"s%03zu\", \"label\": \".expected/s%03zu\"}",
                  s ? "," : "", s, s);
  strbuf_puts(&text, "]}\n");
  hone_status status = strbuf_finish(ctx, &text);
  snprintf(path, sizeof path, "%.4000s/labels.json", dir);
  if (!status) status = file_write_atomic(ctx, path, text.at, text.length, 0644);
  strbuf_deinit(&text);
  return status;
}

/* Labels from another source are not replaced; those of a set written here are. */
static hone_status check_labels(struct ctx *ctx, const char *dir) {
  char labels[4096 + 64], expected[4096 + 64];
  snprintf(labels, sizeof labels, "%.4000s/labels.json", dir);
  snprintf(expected, sizeof expected, "%.4000s/.expected", dir);
  if (access(labels, F_OK) || !access(expected, F_OK)) return HONE_OK;
  return advise(ctx,
                fail(ctx, HONE_E_PATH, place_file(labels),
                     "exists and is not such a data set; it was left unchanged"),
                "name another folder");
}

hone_status agreement_set_write(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                                const struct compile_options *options,
                                const struct samples *samples, const char *dir) {
  struct executor e;
  hone_tensor *outputs;
  for (size_t i = 0; i < graph->outputs.count; i++)
    if (graph->outputs.at[i]->dtype == HONE_STRING)
      return fail(ctx, HONE_E_UNSUP, place_name(graph->outputs.at[i]->name),
                  "agreement cannot be computed for a string output");
  TRY(NEW_ARRAY(ctx, arena, outputs, graph->outputs.count));
  TRY(check_labels(ctx, dir));
  TRY(dir_output(ctx, dir));
  hone_status status = executor_open(ctx, graph, options, &e);
  for (size_t s = 0; !status && s < samples->count; s++) {
    status = executor_run(&e, samples->at[s]);
    if (!status) status = write_sample(ctx, graph, &e, samples->at[s], outputs, dir, s);
  }
  executor_close(&e);
  return status ? status : write_labels(ctx, dir, samples->count);
}
