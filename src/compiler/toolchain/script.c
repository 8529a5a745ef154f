/* The commands of a build, and the content of --keep: the C sources, the packed weights, and
 * build.sh, which makes the same bytes from them again.
 */
#include "core/os/os.h"
#include "toolchain_internal.h"

#include <sys/stat.h>
#include <unistd.h>

#define SCRIPT "build.sh"

/* -- commands */

/* gcc takes about 50 µs per byte of vectors or loops, and 5 µs at the level of calls: above this
   unit size, which no model of the zoo reaches, that would be a minute. */
enum { LARGE_UNIT = 1 << 20 };

void unit_arguments(const struct build *build, size_t i, struct arguments *out) {
  const struct build_unit *unit = &build->input->units[i];
  char *source = out->names[0], *object = out->names[1];
  snprintf(source, sizeof out->names[0], "unit%zu.c", i);
  snprintf(object, sizeof out->names[1], "unit%zu.o", i);
  compiler_flags(&build->compiler, unit->level ? unit->level->target : build->options->target,
                 build->options->debug, unit->length > LARGE_UNIT ? UNIT_CALLS : unit->kind, out);
  argument(out, build->prefix_map);
  if (build->embeds) argument(out, "-DHONE_EMBEDDED_WEIGHTS");
  const char *const rest[] = {"-c", "-o", object, source, NULL};
  arguments_add(out, rest);
}

void main_arguments(const struct build *build, struct arguments *out) {
  compiler_start(&build->compiler, out);
  /* without the target's -m flags: it must start on any processor, to report missing features */
  const char *const rest[] = {"-std=gnu11", "-O2",    build->prefix_map, build->entry, "-c",
                              "-o",         "main.o", "main.c",          NULL};
  arguments_add(out, rest);
}

void stub_arguments(const struct build *build, struct arguments *out) {
  compiler_start(&build->compiler, out);
  /* a linker for microcontrollers joins only objects of one architecture */
  if (build->options->target->is_bare) arguments_add(out, build->options->target->flags);
  const char *const rest[] = {"-c", "-o", "weights.o", "weights.s", NULL};
  arguments_add(out, rest);
}

/* Another architecture's ar is named like its gcc, or like the target. */
static const char *archiver(const struct build *build, char *out, size_t size) {
  const char *program = build->compiler.program, *triple = build->options->target->triple;
  const size_t length = strlen(program);
  if (triple_is_native(triple)) return "ar";
  if (length > 4 && !strcmp(program + length - 4, "-gcc"))
    snprintf(out, size, "%.*s-ar", (int)(length - 4), program);
  else
    snprintf(out, size, "%s-ar", triple);
  return out;
}

void product_arguments(const struct build *build, enum artifact_kind kind, const char *product,
                       struct arguments *out) {
  static const char *const library[] = {"-lm",
                                        "-Wl,--version-script=exports.map",
                                        "-Wl,--build-id=none",
                                        "-Wl,-z,noexecstack",
                                        "-Wl,--no-undefined",
                                        NULL};
  static const char *const program[] = {"-lm", "-pthread", "-Wl,--build-id=none",
                                        "-Wl,-z,noexecstack", NULL};
  if (kind == ARTIFACT_A) {
    const char *const words[] = {archiver(build, out->names[0], sizeof out->names[0]), "rcsD",
                                 product, "@objects.rsp", NULL};
    arguments_add(out, words);
    return;
  }
  compiler_start(&build->compiler, out);
  if (kind == ARTIFACT_SO) argument(out, "-shared");
  const char *const words[] = {"-o", product, NULL};
  arguments_add(out, words);
  if (kind == ARTIFACT_EXE) argument(out, "main.o");
  argument(out, "@objects.rsp");
  arguments_add(out, kind == ARTIFACT_SO ? library : program);
}

bool main_file(size_t i, const char **out_name, const char **out_text, size_t *out_length) {
  static const char *const names[][2] = {{"run/main.c", "main.c"},
                                         {"run/stages.h", "stages.h"},
                                         {"run/features.h", "features.h"},
                                         {"run/artifact.h", "artifact.h"}};
  if (i >= COUNT(names)) return false;
  *out_name = names[i][1];
  *out_text = hone_embedded_text(names[i][0], out_length);
  return true;
}

/* -- kept files */

static hone_status keep_parts(struct ctx *ctx, const struct build *build, const char *name,
                              const struct file_part *parts, size_t count) {
  char path[4200];
  snprintf(path, sizeof path, "%s/%s", build->options->keep, name);
  TRY(output_check(ctx, path, OUTPUT_C, NULL, 0));
  return file_write_parts(ctx, path, parts, count, 0644);
}

hone_status keep_sources(struct ctx *ctx, const struct build *build) {
  const struct build_input *input = build->input;
  char name[80];
  if (!build->options->keep) return HONE_OK;
  TRY(dir_output(ctx, build->options->keep));
  for (size_t i = 0; i < input->unit_count; i++) {
    const struct build_unit *unit = &input->units[i];
    const struct file_part parts[] = {{unit->head, unit->head_length},
                                      {unit->source, unit->length}};
    snprintf(name, sizeof name, "unit%zu.c", i);
    TRY(keep_parts(ctx, build, name, parts, COUNT(parts)));
  }
  if (!input->header) return HONE_OK;
  snprintf(name, sizeof name, "%s.h", build->prefix);
  return keep_parts(ctx, build, name, &(struct file_part){input->header, strlen(input->header)}, 1);
}

static hone_status keep_main(struct ctx *ctx, const struct build *build) {
  static const char front[] = "/* Made by hone " HONE_VERSION ". */\n";
  const char *name, *text;
  size_t length;
  for (size_t i = 0; build->has_main && main_file(i, &name, &text, &length); i++) {
    const struct file_part parts[] = {{front, sizeof front - 1}, {text, length}};
    TRY(keep_parts(ctx, build, name, parts, COUNT(parts)));
  }
  return HONE_OK;
}

/* In single quotes, in which only the quote itself is special. */
static void put_quoted(struct strbuf *out, const char *word) {
  strbuf_puts(out, "'");
  for (; *word; word++)
    if (*word == '\'')
      strbuf_puts(out, "'\\''");
    else
      strbuf_append(out, word, 1);
  strbuf_puts(out, "'");
}

static void put_word(struct strbuf *out, const char *word) {
  static const char plain[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,/@:";
  if (word[0] && !word[strspn(word, plain)])
    strbuf_puts(out, word);
  else
    put_quoted(out, word);
}

/* Omits folders that no longer exist; a compiler given by a relative path is named by its
   absolute path. */
static void put_command(struct strbuf *out, const struct build *build,
                        const struct arguments *arguments) {
  char here[4096];
  const char *program = arguments->at[0];
  if (strchr(program, '/') && program[0] != '/' && getcwd(here, sizeof here)) {
    char path[8300];
    snprintf(path, sizeof path, "%s/%s", here, program);
    put_word(out, path);
  } else {
    put_word(out, program);
  }
  for (size_t i = 1; i < arguments->count; i++)
    if (!strcmp(arguments->at[i], "product")) {
      strbuf_puts(out, " \"$out\"");
    } else if (strcmp(arguments->at[i], build->prefix_map) != 0) {
      strbuf_puts(out, " ");
      put_word(out, arguments->at[i]);
    }
  strbuf_puts(out, "\n");
}

/* A small file of the build's folder, written by the script itself. */
static hone_status put_here(struct ctx *ctx, const struct build *build, const char *name,
                            struct strbuf *out) {
  char path[4200];
  struct mapping file;
  snprintf(path, sizeof path, "%s/%s", build->directory, name);
  TRY(file_map(ctx, path, &file));
  strbuf_printf(out, "cat >%s <<'END'\n", name);
  strbuf_append(out, (const char *)file.data, file.size);
  strbuf_puts(out, "END\n");
  file_unmap(&file);
  return HONE_OK;
}

static hone_status put_script(struct ctx *ctx, const struct build *build, const char *path,
                              struct strbuf *out) {
  const enum artifact_kind kind = artifact_kind_of(path);
  const char *slash = strrchr(path, '/');
  struct arguments arguments;
  strbuf_puts(out, "#!/bin/sh\n# Made by hone " HONE_VERSION
                   ": builds the artifact again from the files "
                   "of this folder.\n# Usage: sh " SCRIPT " [OUTPUT]\nset -e\nname=");
  put_quoted(out, slash ? slash + 1 : path);
  strbuf_puts(out,
              "\nout=${1:-$name}\ncase $out in /*) ;; *) out=$PWD/$out ;; esac\n"
              "cd \"$(dirname \"$0\")\"\n");
  for (size_t i = 0; i < build->input->unit_count; i++) {
    arguments = (struct arguments){0};
    unit_arguments(build, i, &arguments);
    put_command(out, build, &arguments);
  }
  arguments = (struct arguments){0};
  main_arguments(build, &arguments);
  if (build->has_main) put_command(out, build, &arguments);
  if (build->embeds) {
    TRY(put_here(ctx, build, "weights.s", out));
    arguments = (struct arguments){0};
    stub_arguments(build, &arguments);
    put_command(out, build, &arguments);
  }
  if (kind == ARTIFACT_SO) TRY(put_here(ctx, build, "exports.map", out));
  TRY(put_here(ctx, build, "objects.rsp", out));
  if (kind == ARTIFACT_A) strbuf_puts(out, "rm -f \"$out\"\n"); /* ar would append to it */
  arguments = (struct arguments){0};
  product_arguments(build, kind, "product", &arguments);
  put_command(out, build, &arguments);
  return strbuf_finish(ctx, out);
}

/* Raw bytes have no signature: they replace only a file next to a script of hone's. */
static hone_status keep_weights(struct ctx *ctx, const struct build *build, const char *script) {
  char from[4200], to[4200];
  struct ctx own = *ctx;
  own.limits[LIMIT_file_bytes] = INT64_MAX;
  if (!build->embeds) return HONE_OK;
  snprintf(from, sizeof from, "%s/weights.bin", build->directory);
  snprintf(to, sizeof to, "%s/weights.bin", build->options->keep);
  if (!access(to, F_OK) && access(script, F_OK))
    return fail(ctx, HONE_E_PATH, place_file(to), "the path exists and was not made by hone");
  if (!file_copy(&own, from, to, 0644, NULL)) return HONE_OK;
  ctx->status = own.status;
  memcpy(ctx->message, own.message, sizeof ctx->message);
  return ctx->status;
}

hone_status keep_script(struct ctx *ctx, const struct build *build, const char *path) {
  char script[4200];
  struct strbuf text = {0};
  snprintf(script, sizeof script, "%s/" SCRIPT, build->options->keep);
  TRY(output_check(ctx, script, OUTPUT_SCRIPT, NULL, 0));
  TRY(keep_main(ctx, build));
  TRY(keep_weights(ctx, build, script));
  hone_status status = put_script(ctx, build, path, &text);
  if (!status) status = file_write_atomic(ctx, script, text.at, text.length, 0755);
  strbuf_deinit(&text);
  return status;
}
