/* Test vectors: seeded inputs and the outputs of the bundle's own program. These are compared
 * with the reference's outputs, with the rules of a study, before they become vectors/. */
#include "bundle.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define SLOW_NS 20000000000ull /* of one reference run: then there is no second set */
#define VECTOR_SEED 1

static hone_status new_tensors(struct bundle *b, struct value *const *values, size_t count,
                               hone_tensor **out) {
  TRY(NEW_ARRAY(b->ctx, b->arena, *out, count + 1));
  for (size_t i = 0; i < count; i++) TRY(value_memory(b->ctx, b->arena, values[i], &(*out)[i]));
  return HONE_OK;
}

static hone_status check_types(struct bundle *b) {
  const struct graph *g = b->model.graph;
  for (size_t i = 0; i < g->inputs.count + g->outputs.count; i++) {
    const struct value *v =
        i < g->inputs.count ? g->inputs.at[i] : g->outputs.at[i - g->inputs.count];
    if (v->dtype == HONE_STRING || dtype_bits(v->dtype) < 8 || dtype_is_tiny_float(v->dtype))
      return fail(b->ctx, HONE_E_UNSUP, place_name(v->name), "a bundle cannot have %s tensors yet",
                  dtype_name(v->dtype));
  }
  return HONE_OK;
}

static hone_status make_yardsticks(struct bundle *b, uint64_t reference_ns) {
  const struct config *config = &b->request->choice->config;
  struct graph *g = b->model.graph;
  double *steps, (*conditions)[2];
  TRY(NEW_ARRAY(b->ctx, b->arena, b->yardsticks, g->outputs.count + 1));
  TRY(NEW_ARRAY(b->ctx, b->arena, steps, g->outputs.count + 1));
  TRY(NEW_ARRAY(b->ctx, b->arena, conditions, g->outputs.count + 1));
  TRY(output_steps(b->ctx, g, steps));
  TRY(condition_measure(b->ctx, g, b->inputs[0], b->outputs[0], VECTOR_SEED, reference_ns,
                        conditions));
  for (size_t i = 0; i < g->outputs.count; i++)
    b->yardsticks[i] = (struct yardstick){.precision = judged_precision(g, config->precision),
                                          .step = steps[i],
                                          .condition = {conditions[i][0], conditions[i][1]}};
  return HONE_OK;
}

static hone_status vector_path(struct bundle *b, size_t set, const char *kind, size_t i,
                               char out[4096]) {
  char name[64];
  snprintf(name, sizeof name, "vectors/%zu/%s_%zu.npy", set, kind, i);
  return bundle_path(b, name, out);
}

hone_status bundle_make_vectors(struct bundle *b) {
  struct graph *g = b->model.graph;
  TRY(check_types(b));
  for (size_t set = 0; set < BUNDLE_SETS; set++) {
    char path[4096], name[32];
    snprintf(name, sizeof name, "vectors/%zu", set);
    TRY(bundle_path(b, name, path));
    TRY(new_tensors(b, g->outputs.at, g->outputs.count, &b->outputs[set]));
    TRY(NEW_ARRAY(b->ctx, b->arena, b->inputs[set], g->inputs.count + 1));
    for (size_t i = 0; i < g->inputs.count; i++)
      TRY(input_generate(b->ctx, b->arena, g, i, VECTOR_SEED, (int)set, &b->inputs[set][i]));
    const uint64_t start = clock_ns();
    TRY(reference_run(b->ctx, g, b->inputs[set], b->outputs[set]));
    const uint64_t took = clock_ns() - start;
    if (!set) TRY(make_yardsticks(b, took));
    if (mkdir(path, 0755))
      return fail(b->ctx, HONE_E_WRITE, place_file(path), "%s", strerror(errno));
    for (size_t i = 0; i < g->inputs.count; i++) {
      TRY(vector_path(b, set, "in", i, path));
      TRY(npy_write(b->ctx, path, &b->inputs[set][i]));
    }
    b->set_count = set + 1;
    if (took > SLOW_NS) break;
  }
  return HONE_OK;
}

/* `run` writes output_I.npy next to the inputs; after the comparison it becomes out_I.npy. */
static hone_status judge_output(struct bundle *b, size_t set, size_t i, struct accuracy *accuracy) {
  char path[4096], name[64], final[4096];
  const char *title = b->model.graph->outputs.at[i]->name;
  const hone_tensor *wanted = &b->outputs[set][i];
  hone_tensor made;
  snprintf(name, sizeof name, "vectors/%zu/output_%zu.npy", set, i);
  TRY(bundle_path(b, name, path));
  TRY(vector_path(b, set, "out", i, final));
  TRY(npy_read(b->ctx, path, NULL, &made));
  bool is_same = made.rank == wanted->rank;
  for (int32_t d = 0; is_same && d < made.rank; d++) is_same = made.shape[d] == wanted->shape[d];
  if (is_same) accuracy_add(accuracy, title, wanted, made.data, &b->yardsticks[i]);
  free(made.data);
  if (!is_same)
    return fail(b->ctx, HONE_E_ACCURACY, place_name(title),
                "the bundle's output has another shape than the reference's");
  if (rename(path, final))
    return fail(b->ctx, HONE_E_WRITE, place_file(final), "%s", strerror(errno));
  return HONE_OK;
}

hone_status bundle_judge(struct bundle *b) {
  const struct graph *g = b->model.graph;
  struct accuracy accuracy;
  accuracy_init(&accuracy);
  for (size_t set = 0; set < b->set_count; set++) {
    const char **argv, *folder, *threads;
    TRY(NEW_ARRAY(b->ctx, b->arena, argv, g->inputs.count + 8));
    size_t n = 0;
    argv[n++] = "run";
    for (size_t i = 0; i < g->inputs.count; i++)
      TRY(arena_printf(b->ctx, b->arena, &argv[n++], "vectors/%zu/in_%zu.npy", set, i));
    TRY(arena_printf(b->ctx, b->arena, &folder, "vectors/%zu", set));
    TRY(arena_printf(b->ctx, b->arena, &threads, "%d", b->request->choice->config.threads));
    argv[n++] = "-o", argv[n++] = folder, argv[n++] = "--threads", argv[n++] = threads;
    TRY(bundle_run(b, argv));
    for (size_t i = 0; i < g->outputs.count; i++) TRY(judge_output(b, set, i, &accuracy));
  }
  snprintf(b->worst, sizeof b->worst, "relative L2 %.3g, largest difference %.3g, cosine %.9g",
           accuracy.rel_l2, accuracy.max_abs_diff, accuracy.cosine);
  if (accuracy.is_within) return HONE_OK;
  return fail(b->ctx, HONE_E_ACCURACY, place_name(b->request->model_path),
              "the bundle's outputs differ from the reference: %s", accuracy.where);
}
