/* The pipeline on one screen: graph -> passes -> plan -> C source -> toolchain, with hooks for
 * dumping and stopping after any stage.
 */
#include "pipeline_internal.h"

bool compile_precision(const char *name, struct compile_options *out) {
  const enum precision precision = precision_find(name);
  out->bf16 = precision == PRECISION_BF16;
  out->fp16 = precision == PRECISION_FP16;
  return precision < PRECISION_COUNT && precisions[precision].can_ask;
}

static hone_status dump_graph(struct run *run, const char *stage, const struct graph *graph) {
  struct strbuf text = {0};
  if (!run->options->dump || !is_stage(run->options->dump_after, stage)) return HONE_OK;
  hone_status status = graph_print(run->ctx, &text, graph, op_names, NULL);
  if (!status) run->options->dump(run->options->user, stage, text.at, text.length);
  strbuf_deinit(&text);
  return status;
}

/* Every pass leaves a valid graph. */
static hone_status after_pass(void *user, struct ctx *ctx, const struct pass *pass,
                              struct graph *graph, size_t changes) {
  struct run *run = user;
  (void)changes;
  TRY(graph_verify(ctx, graph));
  if (is_stage(run->options->stop_after, pass->name)) run->stopped = true;
  return dump_graph(run, pass->name, graph);
}

/* How a model is prepared for all sizes. */
struct attempt {
  bool keeps_sizes;   /* passes leave alone what depends on numbers computed from shapes */
  bool keeps_control; /* see struct graph */
  bool raises_least;  /* small sizes that give another graph are refused */
};

static hone_status improve_copy(struct run *run, const struct model *model,
                                const struct attempt *attempt, struct graph **out) {
  struct pipeline_options pipeline = {.stop_after = run->options->stop_after,
                                      .required_only = run->options->no_passes,
                                      .after = after_pass,
                                      .user = run};
  TRY(graph_copy(run->ctx, run->arena, model->graph, out));
  (*out)->keeps_sizes = attempt->keeps_sizes;
  TRY(dump_graph(run, "import", *out));
  if (is_stage(run->options->stop_after, "import")) run->stopped = true;
  if (!run->stopped) TRY(passes_run(run->ctx, *out, &pipeline));
  return run->stopped || !model->symbols.count
             ? HONE_OK
             : find_slopes(run->ctx, model, &pipeline, attempt->raises_least, *out);
}

/* The model with loops that are not unrolled and branches that both stay, because sizes may decide. */
static hone_status load_with_control(struct run *run, const struct model *model) {
  struct model again = *model;
  int64_t bounds[HONE_MAX_SYMBOLS];
  for (size_t k = 0; k < model->symbols.count; k++) bounds[k] = model->symbols.at[k].bound;
  again.options.keeps_control = true;
  TRY(model_at(run->ctx, &again, bounds, &run->with_control));
  memset(run->with_control.options.sizes, 0, sizeof run->with_control.options.sizes);
  run->with_control.symbols = model->symbols;
  return HONE_OK;
}

/* Attempts, until one gives the same nodes at all sizes. */
static hone_status improve(struct run *run, const struct model *model, struct graph **out) {
  static const struct attempt attempts[] = {
      {.keeps_sizes = false},
      {.keeps_sizes = true},
      {.keeps_sizes = true, .keeps_control = true},
      {.keeps_sizes = true, .keeps_control = true, .raises_least = true},
      {.keeps_sizes = true, .raises_least = true}};
  uint64_t start = clock_ns();
  hone_status status = HONE_E_UNSUP;
  for (size_t i = 0; i < COUNT(attempts) && status == HONE_E_UNSUP; i++) {
    const struct attempt *now = &attempts[i];
    if (i && !model->symbols.count) break;
    if (now->keeps_control && !model->graph->has_resolved) continue;
    ctx_clear(run->ctx);
    if (now->keeps_control && !run->with_control.graph) TRY(load_with_control(run, model));
    status = improve_copy(run, now->keeps_control ? &run->with_control : model, now, out);
  }
  TRY(status);
  run->report->passes_ms = (double)(clock_ns() - start) / 1e6;
  run->report->node_count = (*out)->nodes.count;
  return HONE_OK;
}

/* As one file, like -o x.c. */
static void dump_c(struct run *run, const struct emitted *emitted) {
  if (!run->options->dump || !is_stage(run->options->dump_after, "emit")) return;
  run->options->dump(run->options->user, "emit", emitted->common.at, emitted->common.length);
  for (size_t i = 0; i < emitted->unit_count; i++)
    run->options->dump(run->options->user, "emit", emitted->units[i].source.at,
                       emitted->units[i].source.length);
}

static hone_status emit_and_build(struct run *run, const struct plan *plan, const char *path) {
  uint64_t start = clock_ns();
  struct emitted emitted;
  const struct compile_profile *profile = run->options->profile;
  struct emit_options options = {.prefix = run->options->prefix,
                                 .embeds = run->options->embeds,
                                 .kernel_dir = run->options->kernel_dir,
                                 .scales = run->scales,
                                 .profiles = profile ? profile->threads : 0};
  TRY(emit_plan(run->ctx, run->arena, plan, &options, &emitted));
  run->report->emit_ms = (double)(clock_ns() - start) / 1e6;
  run->report->c_bytes = emitted.common.length;
  for (size_t i = 0; i < emitted.unit_count; i++)
    run->report->c_bytes += emitted.units[i].source.length;
  dump_c(run, &emitted);
  hone_status status = HONE_OK;
  if (!is_stage(run->options->stop_after, "emit")) status = build_artifact(run, &emitted, path);
  emitted_deinit(&emitted);
  return status;
}

static hone_status compile_in(struct run *run, const struct model *model, const char *path) {
  struct graph *graph;
  struct plan *plan;
  TRY(find_scales(run->ctx, run->arena, model->graph, &run->scales));
  TRY(improve(run, model, &graph));
  if (run->stopped) return HONE_OK;
  if (run->options->level_count) return compile_levels(run, graph, path);
  TRY(make_plan(run, graph, &plan));
  if (run->options->profile)
    TRY(describe_steps(run->ctx, model->graph, plan, run->options->profile));
  if (is_stage(run->options->stop_after, "plan")) return HONE_OK;
  return emit_and_build(run, plan, path);
}

/* Before any work: checks that the artifact, its header and its weights can be written there. */
static hone_status check_outputs(struct ctx *ctx, const struct model *model,
                                 const struct compile_options *options, const char *path) {
  static const enum output_kind kinds[] = {[ARTIFACT_C] = OUTPUT_C,
                                           [ARTIFACT_SO] = OUTPUT_LIBRARY,
                                           [ARTIFACT_A] = OUTPUT_ARCHIVE,
                                           [ARTIFACT_EXE] = OUTPUT_PROGRAM};
  enum artifact_kind kind = artifact_kind_of(path);
  struct file_id *inputs;
  size_t count = 0;
  char beside[4096];
  TRY(NEW_ARRAY(ctx, model->arena, inputs, model->file.sides.count + 1));
  if (model->file.main.data)
    inputs[count++] = (struct file_id){model->file.main.device, model->file.main.inode};
  for (size_t i = 0; i < model->file.sides.count; i++)
    inputs[count++] =
        (struct file_id){model->file.sides.at[i].device, model->file.sides.at[i].inode};
  TRY(output_check(ctx, path, kinds[kind], inputs, count));
  TRY(artifact_beside(ctx, path, "h", beside));
  if (!output_is_stream(path)) TRY(output_check(ctx, beside, OUTPUT_C, inputs, count));
  if (kind != ARTIFACT_C || options->embeds) return HONE_OK;
  TRY(artifact_beside(ctx, path, "weights", beside));
  return output_check(ctx, beside, OUTPUT_WEIGHTS, inputs, count);
}

hone_status compile_model(struct ctx *ctx, const struct model *model,
                          const struct compile_options *options, const char *path,
                          struct compile_report *out_report) {
  struct compile_report unused, *report = out_report ? out_report : &unused;
  struct run run = {.ctx = ctx, .options = options, .report = report};
  memset(report, 0, sizeof *report);
  journal_doing("graph passes and the plan");
  if (strcmp(path, "-")) TRY(check_outputs(ctx, model, options, path));
  TRY(arena_create(ctx, 0, &run.arena));
  hone_status status = compile_in(&run, model, path);
  arena_destroy(run.arena);
  model_unload(&run.with_control);
  return status;
}

hone_status compile_plan(struct ctx *ctx, struct arena *arena, const struct model *model,
                         const struct compile_options *options, struct plan **out) {
  struct compile_report report = {0};
  struct run run = {.ctx = ctx, .options = options, .report = &report, .arena = arena};
  struct graph *graph;
  hone_status status = improve(&run, model, &graph);
  if (!status) status = make_plan(&run, graph, out);
  model_unload(&run.with_control);
  return status;
}
