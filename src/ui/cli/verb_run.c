/* hone run and hone verify: run a model once, compiled or with the reference. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

struct runner {
  struct ctx *ctx;
  const struct args *args;
  struct arena *arena;
  struct model model; /* with the sizes of this run, all static */
  /* the model that is compiled, if it has dynamic dimensions; graph NULL: the same */
  struct model open;
  hone_tensor *inputs, *outputs, *expected; /* in the arena, one for each of the model */
  struct yardstick *yardsticks;             /* of the outputs, for verify */
  struct loaded loaded;
  struct team *team;
  bool is_loaded;
};

static hone_status compile_and_load(struct runner *r) {
  struct compile_options options;
  TRY(read_compile_options(r->ctx, r->args, &options));
  TRY(about_model(r->ctx, compile_loaded(r->ctx, r->open.graph ? &r->open : &r->model, &options,
                                         &r->loaded, &r->team)));
  r->is_loaded = true;
  return HONE_OK;
}

/* Before each run: output buffers have the model's largest shapes; a run sets the actual shapes. */
static void reset_shapes(const struct runner *r, hone_tensor *outputs) {
  for (size_t i = 0; i < r->model.graph->outputs.count; i++)
    memcpy(outputs[i].shape, r->model.graph->outputs.at[i]->shape.dims, sizeof outputs[i].shape);
}

static hone_status run_compiled(struct runner *r) {
  const void **in;
  void **out;
  int64_t **sizes;
  TRY(NEW_ARRAY(r->ctx, r->arena, in, r->model.graph->inputs.count));
  TRY(NEW_ARRAY(r->ctx, r->arena, out, r->model.graph->outputs.count));
  TRY(NEW_ARRAY(r->ctx, r->arena, sizes, r->model.graph->outputs.count));
  for (size_t i = 0; i < r->model.graph->inputs.count; i++) in[i] = r->inputs[i].data;
  for (size_t i = 0; i < r->model.graph->outputs.count; i++) {
    out[i] = r->outputs[i].data;
    sizes[i] = r->outputs[i].shape;
  }
  reset_shapes(r, r->outputs);
  const int64_t **dims;
  TRY(NEW_ARRAY(r->ctx, r->arena, dims, r->model.graph->inputs.count));
  for (size_t i = 0; i < r->model.graph->inputs.count; i++) dims[i] = r->inputs[i].shape;
  struct hone_io io = {in, out, dims, sizes};
  journal_doing("the compiled model");
  int32_t status =
      r->loaded.info->run(r->loaded.weights, r->loaded.arena, &io, team_interface(r->team));
  if (status)
    return advise(r->ctx,
                  fail(r->ctx, (hone_status)status, place_none(),
                       "an index in the input data is out of range"),
                  "give valid inputs with --input NAME=FILE or --inputs DIR");
  return HONE_OK;
}

static void close_runner(struct runner *r) {
  team_destroy(r->team);
  if (r->is_loaded) artifact_unload(&r->loaded);
  model_unload(&r->model);
  model_unload(&r->open);
  arena_destroy(r->arena);
}

static hone_status make_places(struct runner *r) {
  TRY(NEW_ARRAY(r->ctx, r->arena, r->inputs, r->model.graph->inputs.count));
  TRY(NEW_ARRAY(r->ctx, r->arena, r->outputs, r->model.graph->outputs.count));
  TRY(NEW_ARRAY(r->ctx, r->arena, r->expected, r->model.graph->outputs.count));
  /* a data-dependent dimension takes up to its bound at the bounds of all others */
  return make_outputs(r->ctx, r->open.graph ? &r->open : &r->model, r->arena, r->outputs);
}

static hone_status open_runner(struct runner *r, const char *path) {
  TRY(arena_create(r->ctx, (size_t)64 << 30, &r->arena));
  TRY(load_model(r->ctx, r->args, path, &r->model));
  if (r->model.symbols.count) {
    int64_t sizes[HONE_MAX_SYMBOLS];
    r->open = r->model;
    r->model = (struct model){0};
    for (size_t k = 0; k < r->open.symbols.count; k++) sizes[k] = r->open.symbols.at[k].at;
    TRY(model_at(r->ctx, &r->open, sizes, &r->model));
  }
  return make_places(r);
}

/* The same artifact with other sizes of its dynamic dimensions. */
static hone_status move_to(struct runner *r, const int64_t *sizes) {
  model_unload(&r->model);
  TRY(model_at(r->ctx, &r->open, sizes, &r->model));
  TRY(make_places(r));
  return make_outputs(r->ctx, &r->model, r->arena, r->expected);
}

static void print_tensor(const char *name, const hone_tensor *tensor) {
  struct tensor view = {
      .dtype = tensor->dtype, .shape = {.rank = tensor->rank}, .data = tensor->data};
  struct strbuf line = {0};
  memcpy(view.shape.dims, tensor->shape, sizeof view.shape.dims);
  size_t count = tensor_count(&view), not_finite = 0, finite = 0;
  double least = INFINITY, most = -INFINITY, sum = 0;
  for (size_t i = 0; i < count; i++) {
    double x = tensor_f64(&view, i);
    if (!isfinite(x)) {
      not_finite++;
      continue;
    }
    finite++;
    least = fmin(least, x);
    most = fmax(most, x);
    sum += x;
  }
  strbuf_put_safe(&line, name, 200);
  strbuf_printf(&line, ": %s", dtype_name(tensor->dtype));
  shape_print(&line, &view.shape);
  if (finite)
    strbuf_printf(&line, "  min %.6g  mean %.6g  max %.6g", least, sum / (double)finite, most);
  if (not_finite) strbuf_printf(&line, "  not finite: %zu", not_finite);
  strbuf_puts(&line, "  [");
  for (size_t i = 0; i < count && i < 8; i++)
    strbuf_printf(&line, "%s%.6g", i ? ", " : "", tensor_f64(&view, i));
  strbuf_puts(&line, count > 8 ? ", ...]\n" : "]\n");
  if (line.at) fputs(line.at, stdout);
  strbuf_deinit(&line);
}

static void output_path(const char *dir, size_t index, char out[4200]) {
  snprintf(out, 4200, "%.4000s/out_%zu.npy", dir, index);
}

/* Checks, before compiling, that -o is a folder whose files may be written, or - for a single output. */
static hone_status check_outputs(struct runner *r) {
  const char *dir = value_of(r->args, FLAG_output, NULL);
  static struct inputs_seen seen;
  size_t count = r->model.graph->outputs.count;
  struct stat info;
  if (!dir) return HONE_OK;
  if (!strcmp(dir, "-"))
    return count == 1 ? HONE_OK
                      : fail(r->ctx, HONE_E_USAGE, place_name("-o -"),
                             "the model has %zu outputs: give a folder", count);
  if (!stat(dir, &info) && !S_ISDIR(info.st_mode))
    return fail(r->ctx, HONE_E_PATH, place_file(dir), "is not a folder, which -o must be here");
  TRY(dir_output(r->ctx, dir));
  inputs_of_command(r->args, &seen);
  inputs_of_model(&r->model, &seen);
  for (size_t i = 0; i < count; i++) {
    char path[4200];
    output_path(dir, i, path);
    TRY(output_check(r->ctx, path, OUTPUT_NPY, seen.at, seen.count));
  }
  return HONE_OK;
}

static hone_status show_outputs(struct runner *r) {
  const char *dir = value_of(r->args, FLAG_output, NULL);
  if (dir && !strcmp(dir, "-")) {
    struct strbuf bytes = {0};
    hone_status status = npy_text(r->ctx, "-", &r->outputs[0], &bytes);
    if (!status) status = write_output(r->ctx, "-", &bytes);
    strbuf_deinit(&bytes);
    return status;
  }
  for (size_t i = 0; i < r->model.graph->outputs.count; i++) {
    print_tensor(r->model.graph->outputs.at[i]->name, &r->outputs[i]);
    if (!dir) continue;
    char path[4200];
    output_path(dir, i, path);
    TRY(npy_write(r->ctx, path, &r->outputs[i]));
  }
  return HONE_OK;
}

/* -- an artifact instead of a model; it describes its inputs and outputs */

static bool is_artifact(const char *path) {
  size_t n = strlen(path);
  return n > 3 && !strcmp(path + n - 3, ".so");
}

static hone_status describe(struct runner *r, const struct hone_io_info *info, int32_t count,
                            struct graph *graph, bool inputs) {
  for (int32_t i = 0; i < count; i++) {
    struct value *value;
    struct shape shape = {.rank = info[i].rank};
    memcpy(shape.dims, info[i].dims, (size_t)info[i].rank * sizeof *shape.dims);
    TRY(graph_input(r->ctx, graph, info[i].name, (hone_dtype)info[i].dtype, &shape, &value));
    if (inputs) continue;
    graph->inputs.count--;
    value->is_input = false;
    TRY(graph_output(r->ctx, graph, value));
  }
  return HONE_OK;
}

static hone_status open_artifact(struct runner *r, const char *path) {
  int64_t threads;
  TRY(int_of(r->ctx, r->args, FLAG_threads, 1, 4096, usable_core_count(), &threads));
  TRY(artifact_load(r->ctx, path, NULL, &r->loaded));
  r->is_loaded = true;
  TRY(features_check(r->ctx, place_file(path), r->loaded.info->flags));
  TRY(arena_create(r->ctx, (size_t)64 << 30, &r->arena));
  TRY(arena_create(r->ctx, 0, &r->model.arena));
  TRY(graph_create(r->ctx, r->model.arena, &r->model.graph));
  TRY(describe(r, r->loaded.info->inputs, r->loaded.info->input_count, r->model.graph, true));
  TRY(describe(r, r->loaded.info->outputs, r->loaded.info->output_count, r->model.graph, false));
  TRY(make_places(r));
  return team_create(r->ctx, (int)threads, false, &r->team);
}

static hone_status run(struct runner *r) {
  const char *path;
  TRY(one_word(r->ctx, r->args, "model", &path));
  bool artifact = is_artifact(path), reference = has(r->args, FLAG_reference);
  if (artifact)
    TRY(open_artifact(r, path));
  else
    TRY(open_runner(r, path));
  TRY(check_outputs(r));
  TRY(make_inputs(r->ctx, r->args, &r->model, r->arena, 0, r->inputs));
  if (!artifact && !reference) TRY(compile_and_load(r));
  if (reference)
    TRY(reference_run(r->ctx, r->model.graph, r->inputs, r->outputs));
  else
    TRY(run_compiled(r));
  return show_outputs(r);
}

int verb_run(struct ctx *ctx, struct args *args) {
  static struct runner r;
  r = (struct runner){.ctx = ctx, .args = args};
  hone_status status = run(&r);
  close_runner(&r);
  return status ? report_failure(ctx) : 0;
}

/* -- verify */

static hone_status read_expected(struct runner *r, const char *dir) {
  for (size_t i = 0; i < r->model.graph->outputs.count; i++) {
    const struct value *value = r->model.graph->outputs.at[i];
    char path[4200];
    const hone_tensor expect = value_tensor(value, NULL);
    hone_tensor read;
    snprintf(path, sizeof path, "%s/out_%zu.npy", dir, i);
    TRY(npy_read(r->ctx, path, &expect, &read));
    int64_t have = 1, want;
    bool is_open = value_is_open(value), fits = read.rank == value->shape.rank || !is_open;
    for (int d = 0; d < read.rank; d++) have *= read.shape[d];
    for (int d = 0; fits && is_open && d < read.rank; d++)
      fits = read.shape[d] == value->shape.dims[d] ||
             (value->extents[d] && read.shape[d] < value->shape.dims[d]);
    reset_shapes(r, r->expected);
    if (fits && is_open) memcpy(r->expected[i].shape, read.shape, sizeof read.shape);
    fits = fits && shape_count(&value->shape, &want) && read.dtype == value->dtype &&
           (is_open || have == want);
    if (fits) memcpy(r->expected[i].data, read.data, (size_t)have * (dtype_bits(value->dtype) / 8));
    free(read.data);
    if (!fits)
      return fail(r->ctx, HONE_E_SHAPE, place_file(path), "is not %s with %lld elements",
                  dtype_name(value->dtype), (long long)want);
  }
  return HONE_OK;
}

static void print_accuracy(const char *what, int set, const struct accuracy *accuracy) {
  printf("%-10s set %d  max abs %.3g  max rel %.3g  rel L2 %.3g  cosine %.9g  %s%s\n", what, set,
         accuracy->max_abs_diff, accuracy->max_rel_diff, accuracy->rel_l2, accuracy->cosine,
         accuracy->is_within ? "ok" : "DIFFERS ", accuracy->is_within ? "" : accuracy->where);
}

/* What the outputs are judged by, as in hone bench: precision, quantisation steps, and the model's conditioning, measured with
   the first input set. */
static hone_status make_yardsticks(struct runner *r) {
  const size_t count = r->model.graph->outputs.count;
  const char *asked = value_of(r->args, FLAG_precision, "as-is");
  double *steps;
  TRY(NEW_ARRAY(r->ctx, r->arena, steps, count));
  TRY(NEW_ARRAY(r->ctx, r->arena, r->yardsticks, count));
  TRY(output_steps(r->ctx, r->model.graph, steps));
  for (size_t i = 0; i < count; i++)
    r->yardsticks[i] =
        (struct yardstick){.precision = judged_precision(r->model.graph, asked), .step = steps[i]};
  return HONE_OK;
}

static hone_status add_conditions(struct runner *r, uint64_t reference_ns) {
  int64_t seed;
  double(*conditions)[2];
  TRY(int_of(r->ctx, r->args, FLAG_seed, 0, INT64_MAX, 0, &seed));
  TRY(NEW_ARRAY(r->ctx, r->arena, conditions, r->model.graph->outputs.count));
  TRY(condition_measure(r->ctx, r->model.graph, r->inputs, r->expected, (uint64_t)seed,
                        reference_ns, conditions));
  for (size_t i = 0; i < r->model.graph->outputs.count; i++)
    memcpy(r->yardsticks[i].condition, conditions[i], sizeof conditions[i]);
  return HONE_OK;
}

/* Compares data-dependent output shapes. */
static hone_status same_shape(struct runner *r, size_t i) {
  const hone_tensor *made = &r->outputs[i], *wanted = &r->expected[i];
  for (int d = 0; d < made->rank; d++)
    if (made->shape[d] != wanted->shape[d])
      return fail(r->ctx, HONE_E_ACCURACY, place_name(r->model.graph->outputs.at[i]->name),
                  "dimension %d is %lld, expected %lld", d, (long long)made->shape[d],
                  (long long)wanted->shape[d]);
  return HONE_OK;
}

/* One input set: compares the compiled model with the reference, and with given outputs. */
static hone_status verify_set(struct runner *r, int set, const char *expected_dir, bool *ok) {
  TRY(make_inputs(r->ctx, r->args, &r->model, r->arena, set, r->inputs));
  TRY(run_compiled(r));
  for (int pass = 0; pass < (expected_dir ? 2 : 1); pass++) {
    struct accuracy accuracy;
    const uint64_t start = clock_ns();
    accuracy_init(&accuracy);
    if (pass)
      TRY(read_expected(r, expected_dir));
    else {
      reset_shapes(r, r->expected);
      TRY(reference_run(r->ctx, r->model.graph, r->inputs, r->expected));
    }
    if (!pass && !set) TRY(add_conditions(r, clock_ns() - start));
    for (size_t i = 0; i < r->model.graph->outputs.count; i++) {
      TRY(same_shape(r, i));
      accuracy_add(&accuracy, r->model.graph->outputs.at[i]->name, &r->expected[i],
                   r->outputs[i].data, &r->yardsticks[i]);
    }
    print_accuracy(pass ? "expected" : "reference", set, &accuracy);
    *ok &= accuracy.is_within;
  }
  return HONE_OK;
}

enum { VERIFIED_SIZES = 6 };

/* The bound, the least size, or one between them; a dimension that does not exist has its bound. */
static int64_t verified_size(const struct symbol *symbol, size_t i) {
  const int64_t bound = symbol->bound, least = symbol->least ? symbol->least : 1;
  const int64_t sizes[VERIFIED_SIZES] = {bound,     least,         bound - 1,
                                         least + 1, bound / 2 + 1, least + 2};
  int64_t size = sizes[i % VERIFIED_SIZES];
  return size >= least && size <= bound ? size : bound;
}

/* Sizes for dynamic dimensions: the bounds, the smallest, and between, in an order in which leftovers of one run could harm
   the next. First all dimensions together; if there are several, then each at its ends while the others are at the opposite
   end. */
static hone_status verify_sizes(struct runner *r, bool *ok) {
  const struct symbols *symbols = &r->open.symbols;
  int64_t rows[2 * VERIFIED_SIZES][HONE_MAX_SYMBOLS] = {{0}};
  size_t count = 0, turns = symbols->count > 1 ? 2 * VERIFIED_SIZES : VERIFIED_SIZES;
  for (size_t i = 0; i < turns && symbols->count; i++) {
    /* the second half: opposite ends */
    for (size_t k = 0; k < symbols->count; k++)
      rows[count][k] = verified_size(&symbols->at[k], i + (i >= VERIFIED_SIZES) * (k + i % 2));
    bool is_new = true;
    for (size_t k = 0; k < count; k++) is_new &= memcmp(rows[k], rows[count], sizeof rows[k]) != 0;
    if (!is_new) continue;
    struct strbuf line = {0};
    symbols_print(&line, symbols, rows[count]);
    hone_status status = strbuf_finish(r->ctx, &line);
    if (!status) status = move_to(r, rows[count]);
    if (!status) printf("%s\n", line.at);
    strbuf_deinit(&line);
    TRY(status);
    TRY(verify_set(r, 0, NULL, ok));
    count++;
  }
  return HONE_OK;
}

/* -- which stage */

static bool outputs_are_right(struct runner *r, const hone_tensor *outputs,
                              struct accuracy *accuracy) {
  accuracy_init(accuracy);
  for (size_t i = 0; i < r->model.graph->outputs.count; i++)
    accuracy_add(accuracy, r->model.graph->outputs.at[i]->name, &r->expected[i], outputs[i].data,
                 &r->yardsticks[i]);
  return accuracy->is_within;
}

static bool is_right(void *user, const hone_tensor *outputs) {
  struct accuracy accuracy;
  return outputs_are_right(user, outputs, &accuracy);
}

/* Compiles again without graph passes. */
static hone_status is_right_without_passes(struct runner *r, bool *out) {
  struct compile_options options;
  struct accuracy accuracy;
  TRY(read_compile_options(r->ctx, r->args, &options));
  options.no_passes = true;
  options.kernel_dir = NULL; /* hone's own */
  team_destroy(r->team);
  r->team = NULL;
  artifact_unload(&r->loaded);
  r->is_loaded = false;
  TRY(compile_loaded(r->ctx, r->open.graph ? &r->open : &r->model, &options, &r->loaded, &r->team));
  r->is_loaded = true;
  TRY(run_compiled(r));
  *out = outputs_are_right(r, r->outputs, &accuracy);
  return HONE_OK;
}

/* Finds the stage after which outputs differ from the reference's, with the first input set. */
static hone_status bisect(struct runner *r) {
  const struct bisect_options options = {.inputs = r->inputs, .is_right = is_right, .user = r};
  struct pass_bisection found;
  struct accuracy accuracy;
  bool generic_is_right;
  TRY(make_inputs(r->ctx, r->args, &r->model, r->arena, 0, r->inputs));
  reset_shapes(r, r->expected);
  TRY(reference_run(r->ctx, r->model.graph, r->inputs, r->expected));
  TRY(compile_bisect(r->ctx, &r->model, &options, &found));
  if (found.pass) {
    printf("bisect: outputs are wrong after pass %s (%s)%s%s\n", found.pass, found.reason,
           *found.words ? ": " : "", found.words);
    return HONE_OK;
  }
  printf("bisect: outputs are correct after each of the %zu passes that change the graph\n",
         found.evaluated);
  TRY(run_compiled(r));
  if (outputs_are_right(r, r->outputs, &accuracy)) {
    printf("bisect: the artifact's outputs are correct\n");
    return HONE_OK;
  }
  TRY(is_right_without_passes(r, &generic_is_right));
  printf(
      "bisect: the artifact's outputs are wrong: plan, kernels or C compiler; %s with generic "
      "kernels only\n",
      generic_is_right ? "correct" : "wrong");
  return HONE_OK;
}

static hone_status verify(struct runner *r) {
  const char *path, *expected_dir = value_of(r->args, FLAG_expected, NULL);
  bool ok = true, given = has(r->args, FLAG_input) || has(r->args, FLAG_inputs);
  TRY(one_word(r->ctx, r->args, "model", &path));
  TRY(open_runner(r, path));
  TRY(make_outputs(r->ctx, &r->model, r->arena, r->expected));
  TRY(make_yardsticks(r));
  TRY(compile_and_load(r));
  for (int set = 0; set < (given ? 1 : 2); set++) TRY(verify_set(r, set, expected_dir, &ok));
  if (!given && !expected_dir) TRY(verify_sizes(r, &ok));
  if (has(r->args, FLAG_bisect)) TRY(bisect(r));
  return ok ? HONE_OK
            : fail(r->ctx, HONE_E_ACCURACY, place_name(path), "outputs differ from the reference");
}

int verb_verify(struct ctx *ctx, struct args *args) {
  static struct runner r;
  r = (struct runner){.ctx = ctx, .args = args};
  hone_status status = verify(&r);
  close_runner(&r);
  return status ? report_failure(ctx) : 0;
}
