/* Labels: how many samples a graph's first output names rightly, by its largest element. */
#include "quantise_internal.h"

#include <stdlib.h>

hone_status labels_read(struct ctx *ctx, const char *path, const char *const *folders, size_t count,
                        int64_t *out) {
  struct mapping map;
  TRY(file_map(ctx, path, &map));
  const char *at = (const char *)map.data, *end = at + map.size;
  hone_status status = HONE_OK;
  for (size_t i = 0; i < count; i++) out[i] = -1;
  for (size_t line = 1; !status && at < end; line++) {
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    const size_t length = newline ? (size_t)(newline - at) : (size_t)(end - at);
    char text[512], *blank;
    size_t s = 0;
    int64_t label;
    snprintf(text, sizeof text, "%.*s", length < sizeof text ? (int)length : 0, at);
    at += length + 1;
    if (!length || text[0] == '#') continue;
    blank = strrchr(text, ' ');
    if (!blank || !parse_i64(blank + 1, 0, INT64_MAX, &label)) {
      status = fail(ctx, HONE_E_FORMAT, place_file(path),
                    "line %zu is not \"FOLDER LABEL\", a label being the number of a class", line);
      break;
    }
    *blank = 0;
    for (; s < count; s++) {
      const char *slash = strrchr(folders[s], '/');
      if (!strcmp(slash ? slash + 1 : folders[s], text)) break;
    }
    if (s == count)
      status =
          fail(ctx, HONE_E_FORMAT, place_file(path), "line %zu: no sample \"%.100s\"", line, text);
    else
      out[s] = label;
  }
  file_unmap(&map);
  return status;
}

static size_t largest(const struct value *value, const void *data) {
  struct tensor view = {.dtype = value->dtype, .shape = value->shape, .data = data};
  const size_t count = tensor_count(&view);
  size_t best = 0;
  for (size_t i = 1; i < count; i++)
    if (tensor_f64(&view, i) > tensor_f64(&view, best)) best = i;
  return best;
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
    *out_right += (int64_t)largest(graph->outputs.at[0], e.outputs[0]) == labels[s];
  }
  executor_close(&e);
  return status;
}
