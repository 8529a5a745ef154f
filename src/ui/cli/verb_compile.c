/* hone compile: a model to C source, a library or a program. */
#include "cli.h"

#include <sys/stat.h>

static void dump(void *user, const char *stage, const char *text, size_t length) {
  (void)user, (void)stage;
  fwrite(text, 1, length, stdout);
}

static bool is_known_stage(const char *stage) {
  return !strcmp(stage, "import") || !strcmp(stage, "plan") || !strcmp(stage, "emit") ||
         pass_find(stage);
}

static hone_status check_stages(struct ctx *ctx, const struct args *args) {
  static const enum flag_id flags[] = {FLAG_dump_after, FLAG_stop_after};
  for (size_t i = 0; i < COUNT(flags); i++) {
    const char *stage = value_of(args, flags[i], NULL);
    if (stage && !is_known_stage(stage))
      return fail(ctx, HONE_E_USAGE, place_name(stage),
                  "no such stage: import, plan, emit, or a pass ('hone list passes')");
  }
  return HONE_OK;
}

/* A program has no file ending. An ending that starts with a digit is part of a version. */
static hone_status check_ending(struct ctx *ctx, const char *path) {
  static const char *const known[] = {".c", ".so", ".a", ".out"};
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  const char *dot = strrchr(name, '.');
  bool is_ending = dot && dot != name && dot[1] && !(dot[1] >= '0' && dot[1] <= '9');
  for (size_t i = 0; is_ending && i < COUNT(known); i++)
    if (!strcmp(dot, known[i])) return HONE_OK;
  return is_ending ? fail(ctx, HONE_E_USAGE, place_name(path),
                          "unknown file ending '%s'; there are FILE.so, FILE.a, FILE.c, and FILE "
                          "for a program",
                          dot)
                   : HONE_OK;
}

static void print_report(const struct compile_report *report, double import_ms, const char *path) {
  char arena[32], weights[32], artifact[32];
  format_bytes(arena, (double)report->arena_bytes);
  format_bytes(weights, (double)report->weights_bytes);
  format_bytes(artifact, (double)report->artifact_bytes);
  fprintf(stderr, "%s: %s%s; %zu nodes, %zu steps; arena %s, weights %s\n", path, artifact,
          report->from_cache ? " (from cache)" : "", report->node_count, report->step_count, arena,
          weights);
  if (report->footprint.flash_bytes) {
    char flash[32], ram[32];
    format_bytes(flash, (double)report->footprint.flash_bytes);
    format_bytes(ram, (double)(report->footprint.ram_bytes + report->arena_bytes));
    fprintf(stderr, "flash %s, RAM %s including the arena, stack %zu bytes plus that of libm\n",
            flash, ram, report->footprint.stack_bytes);
  }
  if (report->tuned_steps) fprintf(stderr, "%zu tuned steps\n", report->tuned_steps);
  fprintf(stderr,
          "import %.1f ms, passes %.1f ms, plan %.1f ms, emit %.1f ms, C compiler %.1f ms\n",
          import_ms, report->passes_ms, report->plan_ms, report->emit_ms, report->toolchain_ms);
}

/* Prints the written files: those of each level, the header, and the weights if they are not in the artifact. */
static hone_status print_files(struct ctx *ctx, const struct args *args,
                               const struct compile_options *options, const char *path) {
  static const char *const endings[] = {"h", "weights"};
  bool has_weights = artifact_kind_of(path) == ARTIFACT_C && !has(args, FLAG_embed);
  fprintf(stderr, "wrote %s", path);
  for (size_t i = 0; artifact_kind_of(path) == ARTIFACT_C && i < options->level_count; i++) {
    char beside[4096];
    TRY(level_beside(ctx, path, options->levels[i].level, beside));
    fprintf(stderr, " %s", beside);
  }
  for (size_t i = 0; i < COUNT(endings); i++) {
    char beside[4096];
    struct stat info;
    if (i ? !has_weights : output_is_stream(path)) continue;
    TRY(artifact_beside(ctx, path, endings[i], beside));
    if (!stat(beside, &info)) fprintf(stderr, " %s", beside);
  }
  fprintf(stderr, "\n");
  return HONE_OK;
}

/* -o - writes one C file to standard output, so no other output is allowed. */
static hone_status check_stdout(struct ctx *ctx, const struct args *args) {
  static const enum flag_id others[] = {FLAG_dump_after, FLAG_stop_after, FLAG_keep};
  char spelling[64];
  for (size_t i = 0; i < COUNT(others); i++)
    if (has(args, others[i]))
      return fail(ctx, HONE_E_USAGE, place_name(flag_spelling(others[i], spelling)),
                  "cannot be combined with -o -, which writes C to standard output");
  return HONE_OK;
}

static hone_status check_command(struct ctx *ctx, const struct args *args) {
  const char *output = value_of(args, FLAG_output, NULL);
  TRY(check_stages(ctx, args));
  if (!output)
    return has(args, FLAG_stop_after) ? HONE_OK
                                      : fail(ctx, HONE_E_USAGE, place_none(),
                                             "-o FILE.so, FILE.a, FILE.c, FILE or - is missing");
  if (!strcmp(output, "-")) return check_stdout(ctx, args);
  TRY(check_ending(ctx, output));
  if (has(args, FLAG_embed) && artifact_kind_of(output) != ARTIFACT_C)
    return fail(ctx, HONE_E_USAGE, place_name("--embed"),
                "is for FILE.c; a library or a program always contains its weights");
  return HONE_OK;
}

static hone_status compile(struct ctx *ctx, const struct args *args) {
  const char *path, *output = value_of(args, FLAG_output, "-");
  struct model model;
  struct compile_options options;
  struct compile_report report;
  char prefix[65];
  TRY(one_word(ctx, args, "model", &path));
  TRY(check_command(ctx, args));
  const bool stops = has(args, FLAG_stop_after), is_text = !strcmp(output, "-") && !stops;
  TRY(read_compile_options(ctx, args, &options));
  options.dump = dump;
  if (is_text && options.level_count)
    return fail(ctx, HONE_E_USAGE, place_name("--cpu"),
                "several levels need several files: give -o FILE.c, or one level with -o -");
  if (is_text) options.embeds = true, options.stop_after = options.dump_after = "emit";
  if (!options.prefix && strcmp(output, "-")) {
    artifact_prefix(output, prefix);
    options.prefix = prefix;
  }
  uint64_t start = clock_ns();
  TRY(load_model(ctx, args, path, &model));
  double import_ms = (double)(clock_ns() - start) / 1e6;
  hone_status status = about_model(ctx, compile_model(ctx, &model, &options, output, &report));
  model_unload(&model);
  if (status || stops || is_text || has(args, FLAG_quiet)) return status;
  print_report(&report, import_ms, output);
  return print_files(ctx, args, &options, output);
}

int verb_compile(struct ctx *ctx, struct args *args) {
  return compile(ctx, args) ? report_failure(ctx) : 0;
}
