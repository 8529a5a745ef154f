/* The C compiler: which one, its version, and its flags.
 *
 * It is one word, never a command line: --cc, else $HONE_CC, else the first of cc, gcc, clang in
 * PATH (for another architecture: TRIPLE-gcc, else clang; clang gets --target, a gcc for another
 * target is refused). $CC is ignored: it often contains flags, and an artifact must not depend on
 * it.
 */
#include "core/os/os.h"
#include "toolchain_internal.h"

#include <stdlib.h>
#include <unistd.h>

#define DESCRIBE_NS 20000000000ull

#if defined(__x86_64__)
#define NATIVE_ARCH "x86_64"
#elif defined(__aarch64__)
#define NATIVE_ARCH "aarch64"
#elif defined(__riscv)
#define NATIVE_ARCH "riscv64"
#else
#define NATIVE_ARCH "?"
#endif

bool triple_is_native(const char *triple) {
  return !triple || !strncmp(triple, NATIVE_ARCH "-", strlen(NATIVE_ARCH "-"));
}

/* "Debian clang version 14.0.6" or "cc (Debian 12.2.0-14) 12.2.0" to "clang 14.0.6 (...)". */
static void describe(const char *line, struct compiler *out) {
  char first[100];
  snprintf(first, sizeof first, "%.*s", (int)strcspn(line, "\n"), line);
  out->is_clang = strstr(first, "clang") != NULL;
  const char *version = strstr(first, "version ");
  version = version ? version + 8 : strrchr(first, ' ') ? strrchr(first, ' ') + 1 : "";
  const char *open = strchr(first, '('), *close = open ? strchr(open, ')') : NULL;
  char safe[128];
  if (open && close && close < version)
    snprintf(safe, sizeof safe, "gcc %s %.*s", version, (int)(close - open + 1), open);
  else
    snprintf(safe, sizeof safe, "%s %s", out->is_clang ? "clang" : "gcc", version);
  safe_copy(out->description, sizeof out->description, safe);
}

/* Asks a candidate for its version, which also detects programs that are not compilers. */
static hone_status probe(struct ctx *ctx, const char *program, struct compiler *out,
                         bool *out_is_there) {
  const char *argv[] = {program, "--version", NULL};
  struct process_options options = {
      .argv = argv, .fd_in = -1, .fd_out = -1, .timeout_ns = DESCRIBE_NS, .output_limit = 4096};
  struct process_result result;
  hone_status status = process_run(ctx, &options, &result);
  *out_is_there = status != HONE_E_MISSING;
  if (!status && result.timed_out)
    status = fail(ctx, HONE_E_TIMEOUT, place_name(program), "--version gave no answer in %d s",
                  (int)(DESCRIBE_NS / 1000000000u));
  else if (!status && (result.exit_code || !result.output.at)) {
    char words[300];
    safe_copy(words, sizeof words, result.output.at ? result.output.at : "");
    status = advise(ctx,
                    fail(ctx, HONE_E_MISSING, place_name(program), "--version failed (%s %d) %s",
                         result.signal ? "signal" : "exit code",
                         result.signal ? result.signal : result.exit_code, words),
                    "--cc PROGRAM names another C compiler");
  }
  if (!status) {
    snprintf(out->program, sizeof out->program, "%s", program);
    describe(result.output.at, out);
  }
  strbuf_deinit(&result.output);
  return status;
}

/* The packages with compiler and C library of another processor. */
static const char *packages_of(const char *triple, char out[128]) {
  if (!strncmp(triple, "riscv32", 7)) return "gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf";
  if (!strncmp(triple, "arm-none", 8)) return "gcc-arm-none-eabi libnewlib-arm-none-eabi";
  if (!strncmp(triple, "x86_64", 6)) return "gcc-x86-64-linux-gnu";
  snprintf(out, 128, "gcc-%s", triple);
  return out;
}

static hone_status no_compiler(struct ctx *ctx, const char *named, const char *triple) {
  char packages[128];
  if (named)
    return fail(ctx, HONE_E_MISSING, place_name(named),
                "no such C compiler (give one program name or path): "
                "apt-get install gcc, or name another with --cc");
  if (triple_is_native(triple))
    return fail(ctx, HONE_E_MISSING, place_none(),
                "no C compiler in PATH: apt-get install gcc, or name one with --cc");
  return fail(ctx, HONE_E_MISSING, place_none(),
              "no C compiler for %s in PATH: apt-get install %s, or name one with --cc", triple,
              packages_of(triple, packages));
}

/* A gcc has one target architecture: for another target it would fail far from the cause. */
static hone_status check_architecture(struct ctx *ctx, const struct compiler *compiler,
                                      const char *triple) {
  const char *argv[] = {compiler->program, "-dumpmachine", NULL};
  struct process_options options = {
      .argv = argv, .fd_in = -1, .fd_out = -1, .timeout_ns = DESCRIBE_NS / 4, .output_limit = 4096};
  struct process_result result;
  TRY(process_run(ctx, &options, &result));
  const char *machine = result.output.at ? result.output.at : "";
  size_t length = strcspn(machine, "-");
  hone_status status = HONE_OK;
  /* a compiler that does not support the query is assumed to fit */
  bool is_riscv = !strncmp(machine, "riscv", 5) && !strncmp(triple, "riscv32", 7); /* has both */
  if (!result.exit_code && !result.timed_out && machine[length] == '-' && !is_riscv &&
      strncmp(machine, triple, length + 1)) {
    char words[80];
    snprintf(words, sizeof words, "%.*s", (int)strcspn(machine, "\n"), machine);
    status = fail(ctx, HONE_E_USAGE, place_name(compiler->program),
                  "makes code for %s, the target is %s", words, triple);
  }
  strbuf_deinit(&result.output);
  return status;
}

/* Compiles what every unit includes; a clang for another processor is often installed without a
   C library for it. */
static hone_status try_compiler(struct ctx *ctx, const struct compiler *compiler,
                                const struct target *target, const char *directory) {
  static const char text[] =
      "#include <limits.h>\n#include <math.h>\n#include <stdint.h>\n"
      "#include <string.h>\ndouble probe(double x);\n"
      "double probe(double x) { return sqrt(x); }\n";
  struct arguments arguments = {0};
  TRY(put_file(ctx, directory, "probe.c", text, sizeof text - 1));
  compiler_flags(compiler, target, false, UNIT_CALLS, &arguments);
  const char *const object[] = {"-c", "-o", "probe.o", "probe.c", NULL};
  const char *const library[] = {"-shared", "-o", "probe.so", "probe.c", "-lm", NULL};
  arguments_add(&arguments, target->is_bare ? object : library);
  return tool_run(ctx, &arguments, directory, clock_ns() + DESCRIBE_NS,
                  target->is_bare ? "probe.o" : "probe.so", NULL, NULL);
}

static hone_status no_library(struct ctx *ctx, const struct compiler *compiler,
                              const char *triple) {
  char packages[128];
  return fail(ctx, HONE_E_MISSING, place_name(compiler->program),
              "cannot make programs for %s: apt-get install %s, or name a compiler with --cc",
              triple, packages_of(triple, packages));
}

hone_status toolchain_try(struct ctx *ctx, const struct target *target, char out[128]) {
  struct compiler compiler;
  char directory[4096];
  TRY(compiler_find(ctx, NULL, target->triple, &compiler));
  snprintf(out, 128, "%s", compiler.description);
  TRY(dir_temporary(ctx, directory));
  struct ctx attempt = *ctx;
  const hone_status status = try_compiler(&attempt, &compiler, target, directory);
  dir_temporary_remove(directory);
  return status ? no_library(ctx, &compiler, target->triple) : HONE_OK;
}

hone_status explain_failure(struct ctx *ctx, const struct compiler *compiler,
                            const struct target *target, const char *directory) {
  const hone_status status = ctx->status;
  const bool is_native = triple_is_native(target->triple);
  struct ctx attempt = *ctx;
  if (status != HONE_E_CRASH && status != HONE_E_MISSING) return status;
  ctx_clear(&attempt);
  if (!compiler->is_clang && check_architecture(&attempt, compiler, target->triple)) {
    *ctx = attempt;
    return ctx->status;
  }
  ctx_clear(&attempt);
  if (is_native || !try_compiler(&attempt, compiler, target, directory)) return status;
  ctx_clear(ctx);
  return no_library(ctx, compiler, target->triple);
}

hone_status compiler_find(struct ctx *ctx, const char *cc, const char *triple,
                          struct compiler *out) {
  memset(out, 0, sizeof *out);
  char cross[96];
  snprintf(cross, sizeof cross, "%s-gcc", triple ? triple : "");
  const char *native[] = {"cc", "gcc", "clang"}, *foreign[] = {cross, "clang"};
  if (triple && !strcmp(triple, "riscv32-unknown-elf")) foreign[1] = "riscv64-unknown-elf-gcc";
  bool is_native = triple_is_native(triple);
  const char *named = cc ? cc : getenv("HONE_CC");
  if (named && !*named) named = NULL;
  const char **candidates = named ? &named : is_native ? native : foreign;
  size_t count = named ? 1 : is_native ? COUNT(native) : COUNT(foreign);
  struct ctx broken = {0}; /* the first candidate that exists and does not work */
  for (size_t i = 0; i < count; i++) {
    struct ctx attempt = *ctx; /* "not in PATH" is not a failure while candidates remain */
    if (strlen(candidates[i]) >= sizeof out->program) continue;
    bool is_there;
    hone_status status = probe(&attempt, candidates[i], out, &is_there);
    if (!is_there) continue;
    if (status && !broken.status) broken = attempt;
    if (status) continue;
    if (!is_native && out->is_clang)
      snprintf(out->target_flag, sizeof out->target_flag, "--target=%s", triple);
    return named && !is_native && !out->is_clang ? check_architecture(ctx, out, triple) : HONE_OK;
  }
  return broken.status
             ? fail(ctx, broken.status, place_none(), "no working C compiler: %s", broken.message)
             : no_compiler(ctx, named, triple);
}

hone_status toolchain_describe(struct ctx *ctx, const char *cc, const char *triple, char out[128]) {
  struct compiler compiler;
  TRY(compiler_find(ctx, cc, triple, &compiler));
  snprintf(out, 128, "%s", compiler.description);
  return HONE_OK;
}

void compiler_start(const struct compiler *compiler, struct arguments *out) {
  argument(out, compiler->program);
  if (compiler->target_flag[0]) argument(out, compiler->target_flag);
}

void compiler_flags(const struct compiler *compiler, const struct target *target, bool debug,
                    enum unit_kind kind, struct arguments *out) {
  /* errno and trapping math would keep libm calls and prevent reordering; hidden symbols bind at
     link time */
  static const char *const always[] = {
      "-pipe", "-fvisibility=hidden", "-fno-math-errno", "-fno-trapping-math", "-Wno-psabi", NULL};
  static const char *const library[] = {"-fPIC", "-fno-semantic-interposition", NULL};
  /* unused functions are dropped by the linker; stack sizes are reported */
  static const char *const bare[] = {"-ffunction-sections", "-fdata-sections", "-fstack-usage",
                                     NULL};
  /* explicit vectors in the source: auto-vectorisation only spills */
  static const char *const fast[] = {"-O2", "-fno-tree-vectorize", "-fno-tree-slp-vectorize", NULL};
  /* gcc's -O1 unrolls late, so that most of its passes see short loops: two thirds of the time.
     Without the first of these flags it does not fuse multiplications and additions */
  static const char *const late[] = {"-O1",
                                     "-fexpensive-optimizations",
                                     "-fstrict-aliasing",
                                     "-fschedule-insns2",
                                     "-fpeephole2",
                                     "-falign-loops",
                                     "-fno-tree-vectorize",
                                     "-fno-tree-slp-vectorize",
                                     NULL};
  static const char *const loops[] = {"-O3", "-fopenmp-simd", NULL};
  static const char *const calls[] = {"-O1", NULL};
  static const char *const *const levels[] = {
      [UNIT_VECTORS] = fast, [UNIT_LOOPS] = loops, [UNIT_CALLS] = calls, [UNIT_TILES] = late};
  static const char *const slow[] = {"-O1", "-g", NULL};
  /* sums pass through memory once at the end of a tile, which matters for a short k with vectors
     of half width */
  if (kind == UNIT_TILES && (compiler->is_clang || target->vector_bytes < 64)) kind = UNIT_VECTORS;
  compiler_start(compiler, out);
  argument(out, target->is_portable ? "-std=c11" : "-std=gnu11");
  arguments_add(out, always);
  /* FMA contraction is requested explicitly. clang's "fast" fuses even where the source forbids
     it; "on" leaves it to the source, which begins with contract(fast) */
  argument(out, compiler->is_clang ? "-ffp-contract=on" : "-ffp-contract=fast");
  arguments_add(out, target->is_bare ? bare : library);
  arguments_add(out, debug ? slow : levels[kind]);
  arguments_add(out, target->flags);
}
