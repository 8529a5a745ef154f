/* Checks the user's input files against the inputs of every case before anything is measured. */
#include "study_internal.h"

static hone_status read_all(struct bench *bench, const struct given *given,
                            const struct bench_case *one) {
  struct arena *arena;
  hone_status status = HONE_OK;
  for (size_t i = 0; !status && i < one->input_count; i++) {
    char path[4096];
    hone_tensor unused;
    TRY(given_find(bench->ctx, given, one->inputs[i].name, i, path));
    if (!path[0]) continue;
    TRY(arena_create(bench->ctx, SIZE_MAX / 2, &arena));
    status =
        given_read(bench->ctx, arena, path, one->inputs[i].name, &one->inputs[i].info, &unused);
    arena_destroy(arena);
  }
  return status;
}

/* Cases that hone could not describe are checked by their workers. */
hone_status given_check_cases(struct bench *bench) {
  const struct bench_options *o = &bench->options;
  const struct given given = {o->inputs, o->input_count, o->inputs_dir};
  struct given_model *models;
  size_t count = 0;
  if (!given.file_count && !given.dir) return HONE_OK;
  TRY(NEW_ARRAY(bench->ctx, bench->arena, models, bench->study.case_count));
  for (size_t c = 0; c < bench->study.case_count; c++) {
    const struct bench_case *one = &bench->study.cases[c];
    const char **names;
    if (one->status != STATUS_ok || !one->input_count) continue;
    TRY(NEW_ARRAY(bench->ctx, bench->arena, names, one->input_count));
    for (size_t i = 0; i < one->input_count; i++) names[i] = one->inputs[i].name;
    models[count++] = (struct given_model){one->model, names, one->input_count, NULL};
  }
  if (!count) return HONE_OK;
  TRY(given_check(bench->ctx, &given, models, count));
  for (size_t c = 0; c < bench->study.case_count; c++)
    if (bench->study.cases[c].status == STATUS_ok)
      TRY(read_all(bench, &given, &bench->study.cases[c]));
  return HONE_OK;
}
