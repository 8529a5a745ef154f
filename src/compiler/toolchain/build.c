/* Build: from C sources and packed weights to a .c, .so, .a or an executable at the user's path.
 *
 * All work is done in a private folder (0700) with fixed names, in which the tools run, so no path,
 * time or user name gets into the result: same input, same bytes. Units are compiled in parallel,
 * one child process each, while the weights are packed and written (jobs.c, weights.c). Weights
 * never become source: an assembler stub includes them, page-aligned.
 *
 * Invariant: `path` is replaced atomically and last, or stays unchanged.
 */
#include "core/os/os.h"
#include "toolchain_internal.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler/run/artifact.h"

#define DEFAULT_TIMEOUT_NS 600000000000ull
#define MAX_UNITS 4096

/* -- link */

/* "unit0.o" ... and weights.o; `names` owns the names. */
static hone_status add_objects(struct ctx *ctx, const struct build *build, struct strbuf *names,
                               const char *file) {
  for (size_t i = 0; i < build->input->unit_count; i++) strbuf_printf(names, "unit%zu.o\n", i);
  if (build->embeds) strbuf_puts(names, "weights.o\n");
  hone_status status = strbuf_finish(ctx, names);
  if (!status) status = put_file(ctx, build->directory, file, names->at, names->length);
  strbuf_deinit(names);
  return status;
}

static hone_status put_exports(struct ctx *ctx, const struct build *build) {
  struct strbuf text = {0};
  strbuf_printf(&text, "{ global: %s_artifact; %s_of_processor; %s_run; local: *; };\n",
                build->prefix, build->prefix, build->prefix);
  hone_status status = strbuf_finish(ctx, &text);
  if (!status) status = put_file(ctx, build->directory, "exports.map", text.at, text.length);
  strbuf_deinit(&text);
  return status;
}

/* -- results */

static hone_status link_product(struct ctx *ctx, const struct build *build, const char *path) {
  const enum artifact_kind kind = artifact_kind_of(path);
  struct strbuf names = {0};
  struct arguments arguments = {0};
  if (!build->inserts) TRY(assemble_weights(ctx, build)); /* else it was a job */
  if (kind == ARTIFACT_SO) TRY(put_exports(ctx, build));
  TRY(add_objects(ctx, build, &names, "objects.rsp"));
  product_arguments(build, kind, "product", &arguments);
  return tool_run(ctx, &arguments, build->directory, build->deadline_ns, "product", NULL, NULL);
}

static hone_status write_header(struct ctx *ctx, const struct build_input *input,
                                const char *path) {
  char header[4096];
  if (!input->header || output_is_stream(path)) return HONE_OK;
  TRY(artifact_beside(ctx, path, "h", header));
  return file_write_atomic(ctx, header, input->header, strlen(input->header), 0644);
}

/* gcc takes the level from the source, so that gcc -O2 alone makes the right code. For other
   compilers the following #error asks for flags. */
static void put_level_target(struct strbuf *out, const struct target *target, bool embeds) {
  bool any = false;
  strbuf_printf(out, "/* Made by hone %s: level %s of the processor. */\n", HONE_VERSION,
                target->level);
  strbuf_puts(out, "#if defined __GNUC__ && !defined __clang__\n");
  for (const char *const *flag = target->flags; *flag; flag++) {
    if (strncmp(*flag, "-m", 2)) continue;
    strbuf_printf(out, any ? ",%s" : "#pragma GCC target(\"%s", *flag + 2);
    any = true;
  }
  strbuf_puts(out, any ? "\")\n#endif\n" : "#endif\n");
  if (embeds) strbuf_puts(out, "#define HONE_EMBEDDED_WEIGHTS\n");
}

/* One file per level: the common part of its units, then the units. */
static hone_status write_level(struct ctx *ctx, const struct build_input *input, size_t first,
                               const char *path) {
  const struct build_level *level = input->units[first].level;
  struct strbuf head = {0};
  char beside[4096];
  size_t count = 0;
  struct file_part *parts = malloc((input->unit_count + 2) * sizeof *parts);
  if (!parts) return fail(ctx, HONE_E_OOM, place_file(path), "no memory to write C");
  put_level_target(&head, level->target, input->weights_in_source);
  hone_status status = strbuf_finish(ctx, &head);
  if (!status) status = level_beside(ctx, path, level->target->level, beside);
  parts[count++] = (struct file_part){head.at, head.length};
  parts[count++] = (struct file_part){level->common, level->common_length};
  for (size_t i = first; i < input->unit_count; i++)
    if (input->units[i].level == level)
      parts[count++] = (struct file_part){input->units[i].source, input->units[i].length};
  if (!status) status = output_check(ctx, beside, OUTPUT_C, NULL, 0);
  if (!status) status = file_write_parts(ctx, beside, parts, count, 0644);
  strbuf_deinit(&head);
  free(parts);
  return status;
}

static hone_status write_levels(struct ctx *ctx, const struct build_input *input,
                                const char *path) {
  for (size_t i = 0; i < input->unit_count; i++)
    if (input->units[i].level && (!i || input->units[i - 1].level != input->units[i].level))
      TRY(write_level(ctx, input, i, path));
  return HONE_OK;
}

/* One file: the common part, then the units in order; units of a level have their own files. */
static hone_status write_c(struct ctx *ctx, const struct build_input *input, const char *path) {
  char weights[4096] = "";
  bool is_new = false;
  struct file_part *parts = malloc((input->unit_count + 1) * sizeof *parts);
  if (!parts) return fail(ctx, HONE_E_OOM, place_file(path), "no memory to write C");
  size_t count = 0;
  parts[count++] = (struct file_part){input->common, input->common_length};
  for (size_t i = 0; i < input->unit_count; i++)
    if (!input->units[i].level)
      parts[count++] = (struct file_part){input->units[i].source, input->units[i].length};
  hone_status status = write_levels(ctx, input, path);
  if (input->weights_bytes && !status) {
    status = artifact_beside(ctx, path, "weights", weights);
    is_new = !status && access(weights, F_OK) != 0;
    if (!status) status = write_weights(ctx, input, weights);
  }
  if (!status) {
    status = file_write_parts(ctx, path, parts, count, 0644);
    if (status && is_new) unlink(weights); /* useless alone */
  }
  free(parts);
  return status ? status : write_header(ctx, input, path);
}

static hone_status link_and_publish(struct ctx *ctx, struct build *build, const char *path) {
  char product[4200];
  snprintf(product, sizeof product, "%s/product", build->directory);
  TRY(run_jobs(ctx, build, true));
  TRY(link_product(ctx, build, path));
  bool is_inserted = false;
  if (build->options->footprint && build->options->target->is_bare)
    TRY(footprint_read(ctx, build, build->options->footprint));
  if (build->inserts) {
    TRY(insert_into(ctx, build, product, &is_inserted));
    if (!is_inserted) { /* a linker with another file layout */
      output_drop(&build->file);
      build->inserts = false;
      TRY(weights_open(ctx, build, path));
      TRY(run_jobs(ctx, build, false));
      TRY(link_product(ctx, build, path));
    }
  }
  if (build->options->keep) TRY(keep_script(ctx, build, path));
  if (!is_inserted) {
    TRY(seal(ctx, path, product));
    TRY(publish(ctx, build, product, path));
  }
  keep_cached(ctx, build, product, path, is_inserted);
  return HONE_OK;
}

static hone_status build_in(struct ctx *ctx, struct build *build, const char *path) {
  bool is_cached = false;
  build->has_main = artifact_kind_of(path) == ARTIFACT_EXE;
  /* the kept files are linked as their script does */
  build->inserts = build->embeds && has_large_section(build) && !build->options->keep &&
                   artifact_kind_of(path) != ARTIFACT_A;
  TRY(weights_open(ctx, build, path));
  TRY(take_cached(ctx, build, path, &is_cached));
  if (!is_cached) TRY(link_and_publish(ctx, build, path));
  if (build->options->out_cached) *build->options->out_cached = is_cached;
  return HONE_OK;
}

/* The prefix becomes part of C and assembler source. */
static bool is_identifier(const char *name) {
  size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
  return n && n <= 64 && !name[n] && (name[0] < '0' || name[0] > '9');
}

hone_status toolchain_build(struct ctx *ctx, const struct build_input *input,
                            const struct build_options *options, const char *path) {
  struct build build = {.input = input,
                        .file = {.fd = -1},
                        .options = options,
                        .prefix = input->prefix ? input->prefix : "hone_model",
                        .embeds = input->weights_bytes > 0};
  if (!is_identifier(build.prefix))
    return fail(
        ctx, HONE_E_USAGE, place_name(build.prefix),
        "a prefix has 1 to 64 letters, digits and underscores, and does not begin with a digit");
  if (!input->unit_count || input->unit_count > MAX_UNITS)
    return fail(ctx, HONE_E_INTERNAL, place_file(path), "%zu units", input->unit_count);
  if (options->target->is_bare && artifact_kind_of(path) != ARTIFACT_C &&
      artifact_kind_of(path) != ARTIFACT_A)
    return fail(
        ctx, HONE_E_UNSUP, place_file(path),
        "%s has no libraries or programs: write FILE.a to link it into your program, or FILE.c",
        options->target->triple);
  TRY(keep_sources(ctx, &build));
  if (artifact_kind_of(path) == ARTIFACT_C) return write_c(ctx, input, path);
  build.deadline_ns = clock_ns() + (options->timeout_ns ? options->timeout_ns : DEFAULT_TIMEOUT_NS);
  TRY(compiler_find(ctx, options->cc, options->target->triple, &build.compiler));
  TRY(dir_temporary(ctx, build.directory));
  journal_doing("the C compiler (%s)", build.compiler.program);
  snprintf(build.prefix_map, sizeof build.prefix_map, "-ffile-prefix-map=%s=.", build.directory);
  snprintf(build.entry, sizeof build.entry, "-DHONE_ARTIFACT=%s_artifact", build.prefix);
  hone_status status = build_in(ctx, &build, path);
  output_drop(&build.file);
  if (status) status = explain_failure(ctx, &build.compiler, options->target, build.directory);
  if (!status) status = write_header(ctx, input, path); /* after what it describes */
  dir_temporary_remove(build.directory);
  return status;
}
