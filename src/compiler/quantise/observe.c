/* Observes values on the samples, in two runs over all of them: first for ranges and means, then
 * for histograms within the ranges. The float graph's own outputs are kept: errors are measured
 * against them.
 */
#include "quantise_internal.h"

#include <math.h>

bool is_held_out(const struct quantise_options *options, size_t sample) {
  return options->samples->count >= 10 && sample % 5 == 4;
}

/* An observed value: an output of the observing graph, or one of its inputs. */
struct watched {
  size_t index; /* of the value */
  size_t at;    /* of the output or input */
  bool is_input;
  size_t count;
};
struct observer {
  struct ctx *ctx;
  struct sites *sites;
  VEC(struct watched) watched;
  struct executor executor;
  struct graph *graph;
};

/* The graph's own outputs come first. */
static hone_status add_outputs(struct observer *o, struct arena *arena) {
  const struct graph *graph = o->sites->graph;
  TRY(graph_copy(o->ctx, arena, graph, &o->graph));
  for (size_t v = 0; v < graph->values.count; v++) {
    struct value *value = o->graph->values.at[v];
    struct watched watched = {.index = v, .count = 0, .is_input = value->is_input};
    int64_t elements;
    if (!o->sites->values[v].is_observed) continue;
    if (!shape_count(&value->shape, &elements)) continue;
    watched.count = (size_t)elements;
    const size_t inputs = value->is_input ? o->graph->inputs.count : 0;
    while (watched.at < inputs && o->graph->inputs.at[watched.at] != value) watched.at++;
    if (!value->is_input) {
      while (watched.at < o->graph->outputs.count && o->graph->outputs.at[watched.at] != value)
        watched.at++;
      if (watched.at == o->graph->outputs.count) TRY(graph_output(o->ctx, o->graph, value));
    }
    VEC_PUSH(o->ctx, arena, &o->watched, watched);
  }
  return HONE_OK;
}

/* Sums per channel of an input: [outer, channels, inner]. */
static void add_means(struct scaled *v, const struct shape *shape, int axis, const float *x) {
  size_t outer = 1, inner = 1;
  for (int i = 0; i < axis; i++) outer *= (size_t)shape->dims[i];
  for (int i = axis + 1; i < shape->rank; i++) inner *= (size_t)shape->dims[i];
  for (size_t o = 0; o < outer; o++)
    for (size_t c = 0; c < v->mean_count; c++) {
      double sum = 0;
      for (size_t i = 0; i < inner; i++) sum += (double)*x++;
      v->means[c] += sum / (double)(outer * inner);
    }
}

static hone_status add_range(struct observer *o, const struct watched *w, const float *x) {
  struct scaled *v = &o->sites->values[w->index];
  const struct value *value = o->graph->values.at[w->index];
  for (size_t i = 0; i < w->count; i++) {
    if (!isfinite(x[i]))
      return advise(
          o->ctx,
          fail(o->ctx, HONE_E_NUM, place_name(value->name), "it is not finite for a sample"),
          "give samples that are typical of the model's inputs");
    v->low = fmin(v->low, (double)x[i]);
    v->high = fmax(v->high, (double)x[i]);
  }
  if (v->mean_count) add_means(v, &value->shape, v->mean_axis, x);
  return HONE_OK;
}

static hone_status add_bins(struct observer *o, const struct watched *w, const float *x) {
  struct scaled *v = &o->sites->values[w->index];
  const double per_bin = v->high > v->low ? RANGE_BINS / (v->high - v->low) : 0;
  for (size_t i = 0; i < w->count; i++) {
    if (x[i] == 0) {
      v->zeros++;
      continue;
    }
    const double bin = ((double)x[i] - v->low) * per_bin;
    v->bins[bin < RANGE_BINS - 1 ? (size_t)fmax(0, bin) : RANGE_BINS - 1]++;
  }
  return HONE_OK;
}

typedef hone_status add_fn(struct observer *o, const struct watched *w, const float *x);

static hone_status look(struct observer *o, const struct quantise_options *options, size_t sample,
                        add_fn *add) {
  const hone_tensor *inputs = options->samples->at[sample];
  TRY(executor_run(&o->executor, inputs));
  if (is_held_out(options, sample)) return HONE_OK;
  for (size_t i = 0; i < o->watched.count; i++) {
    const struct watched *w = &o->watched.at[i];
    TRY(add(o, w, w->is_input ? inputs[w->at].data : o->executor.outputs[w->at]));
  }
  return HONE_OK;
}

static hone_status keep_outputs(struct observer *o, struct arena *arena, void ***out) {
  const size_t count = o->sites->graph->outputs.count;
  TRY(NEW_ARRAY(o->ctx, arena, *out, count));
  for (size_t i = 0; i < count; i++) {
    const struct value *value = o->graph->outputs.at[i];
    int64_t elements;
    size_t bytes;
    TRY(extent(o->ctx, place_name(value->name), value->dtype, &value->shape, &elements, &bytes));
    TRY(arena_alloc(o->ctx, arena, bytes, 1, &(*out)[i]));
    memcpy((*out)[i], o->executor.outputs[i], bytes);
  }
  return HONE_OK;
}

static hone_status look_at_all(struct observer *o, struct arena *arena,
                               const struct quantise_options *options, struct observed *out) {
  const size_t count = options->samples->count;
  size_t used = 0;
  for (size_t s = 0; s < count; s++) {
    if (options->progress) options->progress(options->user, "ranges", s + 1, 2 * count);
    TRY(look(o, options, s, add_range));
    TRY(keep_outputs(o, arena, &out->outputs[s]));
    used += !is_held_out(options, s);
  }
  for (size_t i = 0; i < o->watched.count; i++) {
    struct scaled *v = &o->sites->values[o->watched.at[i].index];
    for (size_t c = 0; c < v->mean_count; c++) v->means[c] /= (double)used;
  }
  for (size_t s = 0; s < count; s++) {
    if (options->progress) options->progress(options->user, "ranges", count + s + 1, 2 * count);
    TRY(look(o, options, s, add_bins));
  }
  return HONE_OK;
}

/* Means are needed for inputs of quantised nodes; the node's input channels determine the
   dimension. */
static hone_status prepare_values(struct ctx *ctx, struct arena *arena, struct sites *sites) {
  for (size_t n = 0; n < sites->graph->nodes.count; n++) {
    const struct node *node = sites->graph->nodes.at[n];
    if (sites->nodes[n].role != ROLE_PRODUCT) continue;
    struct scaled *v = &sites->values[node->inputs[0]->index];
    struct weight_layout layout;
    weight_layout(node, &layout);
    if (v->mean_count) continue;
    v->mean_axis = layout.channel_axis;
    v->mean_count = (size_t)node->inputs[0]->shape.dims[layout.channel_axis];
    TRY(NEW_ARRAY(ctx, arena, v->means, v->mean_count));
  }
  for (size_t i = 0; i < sites->graph->values.count; i++)
    if (sites->values[i].is_observed && !sites->values[i].bins)
      TRY(NEW_ARRAY(ctx, arena, sites->values[i].bins, RANGE_BINS));
  return HONE_OK;
}

hone_status observe(struct ctx *ctx, struct arena *arena, struct sites *sites,
                    const struct quantise_options *options, struct observed *out) {
  struct observer o = {.ctx = ctx, .sites = sites};
  *out = (struct observed){.sample_count = options->samples->count};
  TRY(NEW_ARRAY(ctx, arena, out->outputs, out->sample_count));
  TRY(prepare_values(ctx, arena, sites));
  TRY(add_outputs(&o, arena));
  hone_status status = executor_open(ctx, o.graph, options->compile, &o.executor);
  if (!status) status = look_at_all(&o, arena, options, out);
  executor_close(&o.executor);
  return status;
}
