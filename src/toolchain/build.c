/* Build: C texts and packed weights become a .c, .so, .a or an executable at a path of the user's.
 *
 * All work lies in a private folder (0700) with fixed names and the tools run inside it, so no
 * path, no time and no user gets into the result: same input, same bytes. Units are compiled in
 * parallel, one child each. The weights never become text: an assembler stub includes them,
 * page-aligned.
 *
 * Invariant: `path` is replaced atomically and last, or stays as it was.
 */
#include "toolchain_internal.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../run/artifact.h"

#define DEFAULT_TIMEOUT_NS 600000000000ull
#define MAX_UNITS 4096
#define MAX_WORKERS 64
/* from here on weights lie behind all else (the default code model reaches 2 GiB), where they can
   also be inserted after linking */
#define LARGE_WEIGHTS (1u << 20)

struct build {
  const struct build_input *input;
  const struct build_options *options;
  struct compiler compiler;
  const char *prefix;
  char directory[4096];
  char prefix_map[4200], entry[160]; /* arguments that live as long as the build */
  uint64_t deadline_ns;
  bool embeds;
  bool inserts;       /* the weights come into the linked file at the end */
  size_t job_count;   /* units, and main for an executable */
  atomic_size_t next; /* job to compile */
  atomic_bool stop;   /* one failed: start no more */
};

enum artifact_kind artifact_kind_of(const char *path) {
  static const struct {
    const char *ending;
    enum artifact_kind kind;
  } endings[] = {{".c", ARTIFACT_C}, {".so", ARTIFACT_SO}, {".a", ARTIFACT_A}};
  const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
  for (size_t i = 0; dot && i < COUNT(endings); i++)
    if (!strcmp(dot, endings[i].ending)) return endings[i].kind;
  return ARTIFACT_EXE;
}

/* -- compile ---------------------------------------------------------------------------------- */

static hone_status compile_unit(struct ctx *ctx, const struct build *build, size_t unit) {
  char source[32], object[32];
  snprintf(source, sizeof source, "unit%zu.c", unit);
  snprintf(object, sizeof object, "unit%zu.o", unit);
  const struct build_input *input = build->input;
  const struct file_part parts[] = {{input->common, input->common_length},
                                    {input->units[unit], input->unit_lengths[unit]}};
  TRY(put_parts(ctx, build->directory, source, parts, COUNT(parts)));
  struct arguments arguments = {0};
  compiler_flags(&build->compiler, build->options->target, build->options->debug,
                 input->unit_vectorises && input->unit_vectorises[unit], &arguments);
  argument(&arguments, build->prefix_map);
  if (build->embeds) argument(&arguments, "-DHONE_EMBEDDED_WEIGHTS");
  const char *const rest[] = {"-c", "-o", object, source, NULL};
  arguments_add(&arguments, rest);
  return tool_run(ctx, &arguments, build->directory, build->deadline_ns, object);
}

/* The program's own main and the ABI header that it includes. */
static hone_status compile_main(struct ctx *ctx, const struct build *build) {
  static const char *const names[][2] = {{"run/main.c", "main.c"},
                                         {"run/artifact.h", "artifact.h"}};
  for (size_t i = 0; i < COUNT(names); i++) {
    size_t length;
    const char *text = hone_embedded_text(names[i][0], &length);
    if (!text) return fail(ctx, HONE_E_INTERNAL, place_name(names[i][0]), "not embedded");
    TRY(put_file(ctx, build->directory, names[i][1], text, length));
  }
  struct arguments arguments = {0};
  compiler_start(&build->compiler, &arguments);
  /* without the target's -m flags: it must run far enough to say that the processor does not fit */
  const char *const rest[] = {"-std=gnu11", "-O2",    build->prefix_map, build->entry, "-c",
                              "-o",         "main.o", "main.c",          NULL};
  arguments_add(&arguments, rest);
  return tool_run(ctx, &arguments, build->directory, build->deadline_ns, "main.o");
}

/* One thread: compiles units until there are none left; its own context, the first failure stops.
 */
struct compile_worker {
  struct build *build;
  struct ctx ctx;
  hone_status status;
  pthread_t thread;
};

static void *compile_units(void *argument_) {
  struct compile_worker *worker = argument_;
  struct build *build = worker->build;
  while (!worker->status && !atomic_load(&build->stop)) {
    size_t unit = atomic_fetch_add(&build->next, 1);
    if (unit >= build->job_count) break;
    worker->status = unit < build->input->unit_count ? compile_unit(&worker->ctx, build, unit)
                                                     : compile_main(&worker->ctx, build);
  }
  if (worker->status) atomic_store(&build->stop, true);
  return NULL;
}

static hone_status take_failure(struct ctx *ctx, const struct compile_worker *worker) {
  if (worker->status && !ctx->status) {
    ctx->status = worker->ctx.status;
    memcpy(ctx->message, worker->ctx.message, sizeof ctx->message);
  }
  return worker->status;
}

static hone_status compile_all(struct ctx *ctx, struct build *build) {
  size_t count = (size_t)usable_core_count();
  if (count > build->job_count) count = build->job_count;
  if (count > MAX_WORKERS) count = MAX_WORKERS;
  struct compile_worker *workers = calloc(count, sizeof *workers);
  if (!workers) return fail(ctx, HONE_E_OOM, place_none(), "no memory to compile");
  for (size_t i = 0; i < count; i++)
    workers[i] = (struct compile_worker){.build = build, .ctx = *ctx};
  /* worker 0 is this thread; fewer threads than wished for only take longer */
  size_t started = 1;
  while (started < count &&
         !pthread_create(&workers[started].thread, NULL, compile_units, &workers[started]))
    started++;
  compile_units(&workers[0]);
  for (size_t i = 1; i < started; i++) pthread_join(workers[i].thread, NULL);
  hone_status status = HONE_OK;
  for (size_t i = 0; i < started && !status; i++) status = take_failure(ctx, &workers[i]);
  free(workers);
  return status;
}

/* -- weights ---------------------------------------------------------------------------------- */

static bool has_large_section(const struct build *build) {
  return build->input->weights_bytes >= LARGE_WEIGHTS &&
         !strncmp(build->options->target->triple, "x86_64", 6);
}

/* The symbol PREFIX_weights over the bytes, or over one page that holds their place. */
static hone_status write_stub(struct ctx *ctx, const struct build *build) {
  const char *prefix = build->prefix;
  struct text stub = {0};
  text_printf(&stub, ".section %s,\"a\",%%progbits\n.balign 4096\n",
              has_large_section(build) ? WEIGHTS_SECTION : ".rodata");
  text_printf(&stub, ".globl %s_weights\n.hidden %s_weights\n", prefix, prefix);
  text_printf(&stub, ".type %s_weights, %%object\n.size %s_weights, %zu\n%s_weights:\n", prefix,
              prefix, build->input->weights_bytes, prefix);
  if (build->inserts)
    text_printf(&stub, ".skip %zu\n", WEIGHTS_PAGE);
  else
    text_puts(&stub, ".incbin \"weights.bin\"\n");
  text_puts(&stub, ".section .note.GNU-stack,\"\",%progbits\n");
  hone_status status = text_finish(ctx, &stub);
  if (!status) status = put_file(ctx, build->directory, "weights.s", stub.at, stub.length);
  text_deinit(&stub);
  return status;
}

static hone_status assemble_weights(struct ctx *ctx, const struct build *build) {
  const struct build_input *input = build->input;
  if (!build->embeds) return HONE_OK;
  if (!build->inserts)
    TRY(put_file(ctx, build->directory, "weights.bin", input->weights, input->weights_bytes));
  TRY(write_stub(ctx, build));
  struct arguments arguments = {0};
  compiler_start(&build->compiler, &arguments);
  const char *const rest[] = {"-c", "-o", "weights.o", "weights.s", NULL};
  arguments_add(&arguments, rest);
  return tool_run(ctx, &arguments, build->directory, build->deadline_ns, "weights.o");
}

/* The packed weights, then the footer that the loader checks. */
static hone_status write_weights(struct ctx *ctx, const struct build_input *input,
                                 const char *path) {
  struct hone_weights_footer footer = {.magic = HONE_WEIGHTS_MAGIC,
                                       .weights_bytes = input->weights_bytes};
  if (!input->build_id || strlen(input->build_id) != sizeof footer.build_id)
    return fail(ctx, HONE_E_INTERNAL, place_file(path), "weights without a build id");
  memcpy(footer.build_id, input->build_id, sizeof footer.build_id);
  struct file_part parts[] = {{input->weights, input->weights_bytes}, {&footer, sizeof footer}};
  return file_write_parts(ctx, path, parts, COUNT(parts), 0644);
}

/* -- link ------------------------------------------------------------------------------------- */

/* "unit0.o" ... and weights.o; the names live in `names`. */
static hone_status add_objects(struct ctx *ctx, const struct build *build, struct text *names,
                               const char *file) {
  for (size_t i = 0; i < build->input->unit_count; i++) text_printf(names, "unit%zu.o\n", i);
  if (build->embeds) text_puts(names, "weights.o\n");
  hone_status status = text_finish(ctx, names);
  if (!status) status = put_file(ctx, build->directory, file, names->at, names->length);
  text_deinit(names);
  return status;
}

static hone_status link_library(struct ctx *ctx, const struct build *build) {
  struct text text = {0};
  text_printf(&text, "{ global: %s_artifact; local: *; };\n", build->prefix);
  hone_status status = text_finish(ctx, &text);
  if (!status) status = put_file(ctx, build->directory, "exports.map", text.at, text.length);
  text_deinit(&text);
  if (status) return status;
  struct text names = {0};
  TRY(add_objects(ctx, build, &names, "objects.rsp"));
  struct arguments arguments = {0};
  compiler_start(&build->compiler, &arguments);
  const char *const rest[] = {"-shared",
                              "-o",
                              "product",
                              "@objects.rsp",
                              "-lm",
                              "-Wl,--version-script=exports.map",
                              "-Wl,--build-id=none",
                              "-Wl,-z,noexecstack",
                              "-Wl,--no-undefined",
                              NULL};
  arguments_add(&arguments, rest);
  return tool_run(ctx, &arguments, build->directory, build->deadline_ns, "product");
}

static hone_status archive(struct ctx *ctx, const struct build *build) {
  struct text names = {0};
  TRY(add_objects(ctx, build, &names, "objects.rsp"));
  char cross[96];
  snprintf(cross, sizeof cross, "%s-ar", build->options->target->triple);
  struct arguments arguments = {0};
  argument(&arguments, triple_is_native(build->options->target->triple) ? "ar" : cross);
  const char *const rest[] = {"rcsD", "product", "@objects.rsp", NULL};
  arguments_add(&arguments, rest);
  return tool_run(ctx, &arguments, build->directory, build->deadline_ns, "product");
}

static hone_status link_program(struct ctx *ctx, const struct build *build) {
  struct text names = {0};
  TRY(add_objects(ctx, build, &names, "objects.rsp"));
  struct arguments arguments = {0};
  compiler_start(&build->compiler, &arguments);
  const char *const rest[] = {"-o",
                              "product",
                              "main.o",
                              "@objects.rsp",
                              "-lm",
                              "-pthread",
                              "-Wl,--build-id=none",
                              "-Wl,-z,noexecstack",
                              NULL};
  arguments_add(&arguments, rest);
  return tool_run(ctx, &arguments, build->directory, build->deadline_ns, "product");
}

/* -- results ---------------------------------------------------------------------------------- */

hone_status artifact_beside(struct ctx *ctx, const char *path, const char *ending, char out[4096]) {
  const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
  size_t length =
      dot && artifact_kind_of(path) != ARTIFACT_EXE ? (size_t)(dot - path) : strlen(path);
  int n = snprintf(out, 4096, "%.*s.%s", (int)length, path, ending);
  if (n < 0 || n >= 4096) return fail(ctx, HONE_E_PATH, place_file(path), "the path is too long");
  return HONE_OK;
}

static hone_status publish(struct ctx *ctx, const struct build *build, const char *path) {
  char product[4200];
  snprintf(product, sizeof product, "%s/product", build->directory);
  struct mapping map;
  TRY(file_map(ctx, product, &map));
  unsigned mode = artifact_kind_of(path) == ARTIFACT_A ? 0644 : 0755;
  hone_status status = file_write_atomic(ctx, path, map.data, map.size, mode);
  file_unmap(&map);
  return status;
}

static hone_status insert_product(struct ctx *ctx, const struct build *build, const char *path,
                                  bool *out_done) {
  char product[4200];
  snprintf(product, sizeof product, "%s/product", build->directory);
  return insert_weights(ctx, product, build->input, path, out_done);
}

static hone_status link_product(struct ctx *ctx, const struct build *build, const char *path) {
  static hone_status (*const link_as[])(struct ctx *, const struct build *) = {
      [ARTIFACT_SO] = link_library, [ARTIFACT_A] = archive, [ARTIFACT_EXE] = link_program};
  TRY(assemble_weights(ctx, build));
  return link_as[artifact_kind_of(path)](ctx, build);
}

static hone_status write_header(struct ctx *ctx, const struct build_input *input,
                                const char *path) {
  char header[4096];
  if (!input->header) return HONE_OK;
  TRY(artifact_beside(ctx, path, "h", header));
  return file_write_atomic(ctx, header, input->header, strlen(input->header), 0644);
}

/* The texts as they go to the compiler, for the user to read. */
static hone_status keep_texts(struct ctx *ctx, const struct build *build) {
  const struct build_input *input = build->input;
  const char *folder = build->options->keep;
  if (!folder) return HONE_OK;
  TRY(dir_create(ctx, folder));
  for (size_t i = 0; i < input->unit_count; i++) {
    char path[4200];
    snprintf(path, sizeof path, "%s/unit%zu.c", folder, i);
    TRY(output_check(ctx, path, OUTPUT_C, NULL, 0));
    const struct file_part parts[] = {{input->common, input->common_length},
                                      {input->units[i], input->unit_lengths[i]}};
    TRY(file_write_parts(ctx, path, parts, COUNT(parts), 0644));
  }
  if (!input->header) return HONE_OK;
  char path[4200];
  snprintf(path, sizeof path, "%s/%s.h", folder, build->prefix);
  TRY(output_check(ctx, path, OUTPUT_C, NULL, 0));
  return file_write_atomic(ctx, path, input->header, strlen(input->header), 0644);
}

/* One file: the common text, then the units as they follow each other. */
static hone_status write_c(struct ctx *ctx, const struct build_input *input, const char *path) {
  char weights[4096] = "";
  bool is_new = false;
  struct file_part *parts = malloc((input->unit_count + 1) * sizeof *parts);
  if (!parts) return fail(ctx, HONE_E_OOM, place_file(path), "no memory to write C");
  parts[0] = (struct file_part){input->common, input->common_length};
  for (size_t i = 0; i < input->unit_count; i++)
    parts[i + 1] = (struct file_part){input->units[i], input->unit_lengths[i]};
  hone_status status = HONE_OK;
  if (input->weights_bytes) {
    status = artifact_beside(ctx, path, "weights", weights);
    is_new = !status && access(weights, F_OK) != 0;
    if (!status) status = write_weights(ctx, input, weights);
  }
  if (!status) {
    status = file_write_parts(ctx, path, parts, input->unit_count + 1, 0644);
    if (status && is_new) unlink(weights); /* of no use alone */
  }
  free(parts);
  return status ? status : write_header(ctx, input, path);
}

static hone_status build_in(struct ctx *ctx, struct build *build, const char *path) {
  build->job_count = build->input->unit_count + (artifact_kind_of(path) == ARTIFACT_EXE);
  TRY(compile_all(ctx, build));
  build->inserts =
      build->embeds && has_large_section(build) && artifact_kind_of(path) != ARTIFACT_A;
  bool done = false;
  TRY(link_product(ctx, build, path));
  if (build->inserts) TRY(insert_product(ctx, build, path, &done));
  if (done) return HONE_OK;
  if (build->inserts) { /* a linker that lays files out in another way */
    build->inserts = false;
    TRY(link_product(ctx, build, path));
  }
  return publish(ctx, build, path);
}

/* The prefix becomes part of C and assembler text. */
static bool is_identifier(const char *name) {
  size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
  return n && n <= 64 && !name[n] && (name[0] < '0' || name[0] > '9');
}

hone_status toolchain_build(struct ctx *ctx, const struct build_input *input,
                            const struct build_options *options, const char *path) {
  struct build build = {.input = input,
                        .options = options,
                        .prefix = input->prefix ? input->prefix : "hone_model",
                        .embeds = input->weights_bytes > 0};
  if (!is_identifier(build.prefix))
    return fail(ctx, HONE_E_USAGE, place_name(build.prefix),
                "a prefix is 1 to 64 letters, digits and underscores, no digit first");
  if (!input->unit_count || input->unit_count > MAX_UNITS)
    return fail(ctx, HONE_E_INTERNAL, place_file(path), "%zu units", input->unit_count);
  TRY(keep_texts(ctx, &build));
  if (artifact_kind_of(path) == ARTIFACT_C) return write_c(ctx, input, path);
  build.deadline_ns = clock_ns() + (options->timeout_ns ? options->timeout_ns : DEFAULT_TIMEOUT_NS);
  TRY(compiler_find(ctx, options->cc, options->target->triple, &build.compiler));
  TRY(dir_temporary(ctx, build.directory));
  snprintf(build.prefix_map, sizeof build.prefix_map, "-ffile-prefix-map=%s=.", build.directory);
  snprintf(build.entry, sizeof build.entry, "-DHONE_ARTIFACT=%s_artifact", build.prefix);
  hone_status status = build_in(ctx, &build, path);
  if (!status) status = write_header(ctx, input, path); /* after what it describes */
  dir_remove_tree(build.directory);
  return status;
}
