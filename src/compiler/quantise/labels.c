/* Labels: counts the samples that a graph's first output classifies correctly, by its largest
 * element.
 */
#include "core/metrics/metrics.h"
#include "quantise_internal.h"

hone_status labels_read(struct ctx *ctx, const char *path, const char *const *folders, size_t count,
                        int64_t *out) {
  struct labels labels;
  for (size_t i = 0; i < count; i++) out[i] = -1;
  TRY(labels_open(ctx, path, &labels));
  hone_status status = HONE_OK;
  if (strcmp(labels_metric(&labels), "top1") != 0)
    status = fail(ctx, HONE_E_UNSUP, place_file(path),
                  "the metric is %s; only top1 is supported here", labels_metric(&labels));
  for (size_t k = 0; !status && k < labels_sample_count(&labels); k++) {
    const char *name = labels_folder(&labels, k);
    const json_t *label = json_object_get(json_array_get(labels.samples, k), "label");
    size_t s = 0;
    for (; s < count; s++) {
      const char *slash = strrchr(folders[s], '/');
      if (!strcmp(slash ? slash + 1 : folders[s], name)) break;
    }
    if (s == count)
      status = fail(ctx, HONE_E_FORMAT, place_file(path), "label %zu: no sample \"%.100s\"", k + 1,
                    name);
    else if (!json_is_integer(label))
      status = fail(ctx, HONE_E_FORMAT, place_file(path), "label %zu is not a class", k + 1);
    else
      out[s] = json_integer_value(label);
  }
  labels_close(&labels);
  return status;
}

static size_t largest_of(const struct value *value, const void *data) {
  const struct tensor view = {.dtype = value->dtype, .shape = value->shape, .data = data};
  return largest_element(data, value->dtype, tensor_count(&view));
}

hone_status labels_count(struct ctx *ctx, const struct graph *graph,
                         const struct compile_options *options, const struct samples *samples,
                         const int64_t *labels, size_t *out_right, size_t *out_labelled) {
  struct executor e;
  *out_right = *out_labelled = 0;
  hone_status status = executor_open(ctx, graph, options, &e);
  for (size_t s = 0; !status && s < samples->count; s++) {
    if (labels[s] < 0) continue;
    status = executor_run(&e, samples->at[s]);
    if (status) break;
    ++*out_labelled;
    *out_right += (int64_t)largest_of(graph->outputs.at[0], e.outputs[0]) == labels[s];
  }
  executor_close(&e);
  return status;
}
