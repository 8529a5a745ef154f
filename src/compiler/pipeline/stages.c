/* The stages that one level and several share: from graph to plan, and from source to artifact. The
 * cache key covers everything that determines the artifact's bytes: the generated source with its
 * weights (build id), the compiler, its flags and the kind of artifact.
 */
#include "pipeline_internal.h"

#include <sys/stat.h>

bool is_stage(const char *wanted, const char *stage) { return wanted && !strcmp(wanted, stage); }

static hone_status read_choices(struct run *run, struct choice_table *out) {
  struct mapping file;
  const char *path = run->options->choices;
  TRY(file_map(run->ctx, path, &file));
  hone_status status = choices_parse(run->ctx, run->arena, place_file(path),
                                     (const char *)file.data, file.size, out);
  file_unmap(&file);
  return status;
}

/* The type of the operands as the step reads them; values only stored in 16 bits are computed in
   f32. */
static hone_dtype read_dtype(const struct step *step) {
  const bool is_kernel = step->kind == STEP_KERNEL;
  const hone_dtype dtype = is_kernel           ? (hone_dtype)step->problem.types.a
                           : step->input_count ? step->inputs[0].dtype
                                               : HONE_UNDEFINED;
  if (is_kernel && dtype == HONE_BF16) return HONE_BF16;
  return dtype == HONE_BF16 || dtype == HONE_F16 ? HONE_F32 : dtype;
}

/* The plan's work in FLOPs and bytes by type, and the share of serial generic kernels. */
static void report_work(const struct plan *plan, struct compile_report *report) {
  double all = 0, alone = 0;
  for (size_t i = 0; i < plan->steps.count; i++) {
    const struct step *step = plan->steps.at[i];
    const hone_dtype dtype = read_dtype(step);
    struct work work;
    step_work(step, &work);
    double sum = work.flops + work.weight_bytes + work.value_bytes;
    all += sum;
    if (step->generic && (step->serial || step->units <= 1)) alone += sum;
    if ((unsigned)dtype < COMPILE_DTYPES) report->work[dtype] += sum;
  }
  report->generic_share = all > 0 ? alone / all : 0;
}

static void count_tuned(const struct plan *plan, const struct choice_table *table,
                        struct compile_report *report) {
  for (size_t i = 0; table && i < plan->steps.count; i++) {
    const struct step *step = plan->steps.at[i];
    const struct choice *choice =
        step->kind == STEP_KERNEL ? choices_find(table, &step->problem) : NULL;
    report->tuned_steps += choice && choice->kernel == step->choice.kernel &&
                           !memcmp(choice->value, step->choice.value, sizeof choice->value);
  }
}

hone_status make_plan(struct run *run, const struct graph *graph, struct plan **out) {
  uint64_t start = clock_ns();
  struct choice_table choices;
  struct plan_options options = {.target = &run->options->target,
                                 .threads = run->options->threads > 0 ? run->options->threads : 1,
                                 .generic_only = run->options->no_passes,
                                 .prefers_size = run->options->prefers_size,
                                 .bf16 = run->options->bf16,
                                 .fp16 = run->options->fp16};
  if (run->options->choices) {
    TRY(read_choices(run, &choices));
    options.choices = &choices;
  } else if (!run->options->untuned && !run->options->no_passes) {
    struct ctx quiet = *run->ctx; /* a damaged table must not fail the compilation */
    if (tuned_read(&quiet, run->arena, run->options, &choices))
      warn(run->ctx, "the tuned choices are not used: %s", quiet.message);
    else
      options.choices = &choices;
  }
  TRY(plan_build(run->ctx, run->arena, graph, &options, out));
  if (!run->options->choices) count_tuned(*out, options.choices, run->report);
  run->report->plan_ms = (double)(clock_ns() - start) / 1e6;
  run->report->step_count = (*out)->steps.count;
  report_work(*out, run->report);
  run->report->arena_bytes = (*out)->arena_bytes;
  run->report->weights_bytes = (*out)->weights_bytes;
  if (!run->options->dump || !is_stage(run->options->dump_after, "plan")) return HONE_OK;
  struct strbuf text = {0};
  plan_print(&text, *out);
  hone_status status = strbuf_finish(run->ctx, &text);
  if (!status) run->options->dump(run->options->user, "plan", text.at, text.length);
  strbuf_deinit(&text);
  return status;
}

static hone_status cache_key(struct run *run, const struct emitted *emitted, const char *path,
                             char out[65]) {
  char compiler[128];
  struct strbuf text = {0};
  TRY(toolchain_describe(run->ctx, run->options->cc, run->options->target.triple, compiler));
  strbuf_printf(&text, "%s|sealed|%s|%s|%s|%d|%d|%s", HONE_VERSION, emitted->build_id, compiler,
                run->options->target.triple, (int)artifact_kind_of(path), run->options->debug,
                run->options->prefix ? run->options->prefix : "");
  for (const char *const *flag = run->options->target.flags; *flag; flag++)
    strbuf_printf(&text, "|%s", *flag);
  for (size_t i = 0; i < run->options->level_count; i++)
    for (const char *const *flag = run->options->levels[i].flags; *flag; flag++)
      strbuf_printf(&text, "|%zu%s", i, *flag);
  hone_status status = strbuf_finish(run->ctx, &text);
  if (!status) status = sha256_hex(run->ctx, out, text.at, text.length);
  strbuf_deinit(&text);
  return status;
}

static void pack_part(const void *emitted, size_t part, void *to) {
  emitted_pack(emitted, part, to);
}

/* key: in the artifact cache, or NULL */
static hone_status compile_text(struct run *run, const struct emitted *emitted, const char *path,
                                const char *key) {
  struct build_unit *units;
  struct build_part *parts;
  TRY(NEW_ARRAY(run->ctx, run->arena, parts, emitted->part_count));
  for (size_t i = 0; i < emitted->part_count; i++)
    parts[i] = (struct build_part){emitted->parts[i].offset, emitted->parts[i].bytes,
                                   emitted->parts[i].data};
  TRY(NEW_ARRAY(run->ctx, run->arena, units, emitted->unit_count));
  for (size_t i = 0; i < emitted->unit_count; i++) {
    const struct emitted_unit *unit = &emitted->units[i];
    units[i] = (struct build_unit){.source = unit->source.at,
                                   .head = unit->head.at,
                                   .length = unit->source.length,
                                   .head_length = unit->head.length,
                                   .kind = unit->kind,
                                   .level = unit->level};
  }
  struct build_input input = {.units = units,
                              .unit_count = emitted->unit_count,
                              .common = emitted->common.at,
                              .common_length = emitted->common.length,
                              .weights_in_source = run->options->embeds,
                              .weights_bytes = emitted->weights_bytes,
                              .part_count = emitted->part_count,
                              .parts = parts,
                              .pack = pack_part,
                              .packer = emitted,
                              .build_id = emitted->build_id,
                              .header = emitted->header.at,
                              .prefix = run->options->prefix ? run->options->prefix : "hone_model"};
  struct build_options options = {.target = &run->options->target,
                                  .cc = run->options->cc,
                                  .debug = run->options->debug,
                                  .keep = run->options->keep,
                                  .footprint = &run->report->footprint,
                                  .cache_key = key,
                                  .out_cached = &run->report->from_cache,
                                  .timeout_ns = 600ull * 1000000000};
  return toolchain_build(run->ctx, &input, &options, path);
}

/* C source is written directly to its place; compiled artifacts go through the cache. */
hone_status build_artifact(struct run *run, const struct emitted *emitted, const char *path) {
  uint64_t start = clock_ns();
  char key[65];
  enum artifact_kind kind = artifact_kind_of(path);
  bool use_cache = kind != ARTIFACT_C && !run->options->no_cache && !run->options->keep &&
                   !run->options->target.is_bare && /* its footprint is read during the build */
                   !output_is_stream(path);
  if (use_cache) TRY(cache_key(run, emitted, path, key));
  TRY(compile_text(run, emitted, path, use_cache ? key : NULL));
  struct stat info;
  run->report->artifact_bytes = stat(path, &info) ? 0 : (size_t)info.st_size;
  if (kind == ARTIFACT_C) run->report->artifact_bytes += emitted->weights_bytes;
  run->report->toolchain_ms = (double)(clock_ns() - start) / 1e6;
  return HONE_OK;
}
