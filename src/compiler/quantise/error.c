/* The distance of a graph's outputs from the float graph's on the samples. */
#include "quantise_internal.h"

#include <math.h>

struct sums {
  /* squares of the difference, of the expected, dot products, squares of the actual */
  double off, size, product, other;
  double rows, same;
};

/* Rows along the last dimension, if it has more than one element. */
static void add_rows(const struct tensor *expected, const struct tensor *found, struct sums *out) {
  const int rank = expected->shape.rank;
  const size_t width = rank ? (size_t)expected->shape.dims[rank - 1] : 0;
  if (width < 2) return;
  for (size_t at = 0; at + width <= tensor_count(expected); at += width) {
    size_t a = 0, b = 0;
    for (size_t i = 1; i < width; i++) {
      if (tensor_f64(expected, at + i) > tensor_f64(expected, at + a)) a = i;
      if (tensor_f64(found, at + i) > tensor_f64(found, at + b)) b = i;
    }
    out->rows++;
    out->same += a == b;
  }
}

static void add_output(const struct value *value, const void *expected, const void *found,
                       struct sums *out) {
  const struct tensor a = {value->dtype, value->shape, expected, 0};
  const struct tensor b = {value->dtype, value->shape, found, 0};
  if (value->dtype == HONE_STRING) return;
  for (size_t i = 0; i < tensor_count(&a); i++) {
    const double x = tensor_f64(&a, i), y = tensor_f64(&b, i);
    out->off += (x - y) * (x - y);
    out->size += x * x;
    out->product += x * y;
    out->other += y * y;
  }
  if (dtype_is_float(value->dtype)) add_rows(&a, &b, out);
}

hone_status measure(struct ctx *ctx, const struct graph *graph,
                    const struct quantise_options *options, const struct observed *expected,
                    bool held_out, struct quantise_error *out) {
  struct executor executor;
  struct sums sums = {0};
  *out = (struct quantise_error){0};
  hone_status status = executor_open(ctx, graph, options->compile, &executor);
  for (size_t s = 0; !status && s < expected->sample_count; s++) {
    if (is_held_out(options, s) != held_out) continue;
    status = executor_run(&executor, options->samples->at[s]);
    for (size_t i = 0; !status && i < graph->outputs.count; i++)
      add_output(graph->outputs.at[i], expected->outputs[s][i], executor.outputs[i], &sums);
    out->samples++;
  }
  executor_close(&executor);
  out->relative_l2 = sums.size > 0 ? sqrt(sums.off / sums.size) : sqrt(sums.off);
  out->cosine = sums.size > 0 && sums.other > 0 ? sums.product / sqrt(sums.size * sums.other) : NAN;
  out->agreement = sums.rows > 0 ? sums.same / sums.rows : NAN;
  return status;
}
