/* Executables for every target and level, run as a user runs them (.npy files in, .npy files out)
 * on this processor if possible, otherwise in an emulator, and compared with the reference. A
 * target whose compiler or emulator is not installed is skipped with a message. By default: two
 * models and the first level of each target. HONE_CROSS=all: every model and level.
 * HONE_CROSS=LEVEL: every model on that level. */
#include "compile_scene.h"

#include <unistd.h>

struct machine {
  const char *triple, *level, *emulator, *sysroot, *package;
};
static const struct machine machines[] = {
    {"aarch64-linux-gnu", "neon", "qemu-aarch64", "/usr/aarch64-linux-gnu",
     "gcc-aarch64-linux-gnu"},
    {"aarch64-linux-gnu", "i8mm", "qemu-aarch64", "/usr/aarch64-linux-gnu",
     "gcc-aarch64-linux-gnu"},
    {"aarch64-linux-gnu", "dotprod", "qemu-aarch64", "/usr/aarch64-linux-gnu",
     "gcc-aarch64-linux-gnu"},
    {"aarch64-linux-gnu", "bf16", "qemu-aarch64", "/usr/aarch64-linux-gnu",
     "gcc-aarch64-linux-gnu"},
    {"riscv64-linux-gnu", "baseline", "qemu-riscv64", "/usr/riscv64-linux-gnu",
     "gcc-riscv64-linux-gnu"},
    {"x86_64-linux-gnu", "baseline", NULL, NULL, NULL},
    {"x86_64-linux-gnu", "avx2", NULL, NULL, NULL},
    {"x86_64-linux-gnu", "avxvnni", NULL, NULL, NULL},
    {"x86_64-linux-gnu", "avx512", NULL, NULL, NULL},
    {"x86_64-linux-gnu", "avx512vnni", NULL, NULL, NULL},
    {"x86_64-linux-gnu", "avx512bf16", NULL, NULL, NULL},
    {"x86_64-linux-gnu", "amx", NULL, NULL, NULL},
    {"x86_64-linux-gnu", "portable", NULL, NULL, NULL},
    {"aarch64-linux-gnu", "portable", "qemu-aarch64", "/usr/aarch64-linux-gnu",
     "gcc-aarch64-linux-gnu"},
};
static const char *const models[] = {
    "tests/compile/residual-convs.hg",
    "tests/compile/elementwise-types.hg",
    "tests/compile/attention-few.hg",
    /* from here on only with HONE_CROSS=all */
    "tests/compile/attention.hg",
    "tests/compile/cache-halves.hg",
    "tests/compile/stored-halves.hg",
    "tests/compile/kept-weights.hg",
    "tests/compile/weight-bits.hg",
    "tests/compile/concat-chain.hg",
    "tests/compile/depthwise-groups.hg",
    "tests/compile/integer-products.hg",
    "tests/compile/halves.hg",
    "tests/compile/halves-model.hg",
    "tests/compile/integer-convs.hg",
    "tests/compile/quantised.hg",
    "tests/compile/movement.hg",
    "tests/compile/plain-ops.hg",
    "tests/compile/products.hg",
    "tests/compile/reductions.hg",
    "zoo:mlp",
    "zoo:mnist_cnn",
    "zoo:mobilenet_v3_small",
};
enum { SHORT_MODELS = 3, LONGEST_COMMAND = MOST + 12 };

static const char *wanted(void) { return getenv("HONE_CROSS"); }
static bool wants_all(void) { return wanted() != NULL; }
/* In the short form the first level of each target, and plain C here. */
static bool is_wanted(size_t k) {
  const struct machine *m = &machines[k];
  if (wants_all()) return !strcmp(wanted(), "all") || !strcmp(wanted(), m->level);
  return !k || strcmp(m->triple, machines[k - 1].triple) ||
         (!m->emulator && !strcmp(m->level, "portable"));
}

static bool is_installed(const char *program) {
  struct ctx ctx;
  struct process_result result = {0};
  const char *const argv[] = {program, "--version", NULL};
  ctx_init(&ctx);
  struct process_options options = {
      .argv = argv, .fd_in = -1, .fd_out = -1, .timeout_ns = 600000000000ULL};
  hone_status status = process_run(&ctx, &options, &result);
  bool ok = !status && !result.exit_code && !result.timed_out;
  strbuf_deinit(&result.output);
  return ok;
}

/* The missing tool for compiling for and running on the machine; NULL: none. */
static const char *what_is_missing(const struct machine *machine, const struct target *target) {
  char compiler[96];
  if (!machine->emulator) return target_runs_here(target) ? NULL : "another processor";
  snprintf(compiler, sizeof compiler, "%s-gcc", machine->triple);
  if (!is_installed(compiler)) return machine->package;
  return is_installed(machine->emulator) ? NULL : "qemu-user";
}

static void run_program(struct scene *s, const struct machine *machine, const char *program) {
  char files[MOST][4200];
  const char *argv[LONGEST_COMMAND] = {0};
  size_t n = 0;
  if (machine->emulator) {
    argv[n++] = machine->emulator;
    argv[n++] = "-L";
    argv[n++] = machine->sysroot;
  }
  argv[n++] = program;
  for (size_t i = 0; i < s->model.graph->inputs.count; i++) {
    snprintf(files[i], sizeof files[i], "%s/in_%zu.npy", s->dir, i);
    check(s, npy_write(&s->ctx, files[i], &s->inputs[i]));
    argv[n++] = files[i];
  }
  argv[n++] = "-o";
  argv[n++] = s->dir;
  argv[n++] = "--threads";
  argv[n++] = "2";
  assert_true(n < LONGEST_COMMAND);
  struct process_options options = {
      .argv = argv, .fd_in = -1, .fd_out = -1, .timeout_ns = 600000000000ULL};
  struct process_result result;
  check(s, process_run(&s->ctx, &options, &result));
  if (result.exit_code || result.signal || result.timed_out)
    test_failed("%s: exit code %d, signal %d: %s", program, result.exit_code, result.signal,
                result.output.at ? result.output.at : "");
  strbuf_deinit(&result.output);
}

static void compare_outputs(struct scene *s, const char *what) {
  for (size_t i = 0; i < s->model.graph->outputs.count; i++) {
    char path[4200];
    hone_tensor got;
    snprintf(path, sizeof path, "%s/output_%zu.npy", s->dir, i);
    check(s, npy_read(&s->ctx, path, &s->expected[i], &got));
    unlink(path);
    assert_int_equal(got.dtype, s->expected[i].dtype);
    assert_int_equal(got.rank, s->expected[i].rank);
    assert_memory_equal(got.shape, s->expected[i].shape, (size_t)got.rank * sizeof *got.shape);
    bool close = is_within(&s->expected[i], &got, strstr(what, "halves-model") ? "fp16" : "fp32");
    free(got.data);
    if (!close) test_failed("%s: output %zu differs from the reference", what, i);
  }
}

/* The compiler for an emulated machine, linking statically: qemu-user 7.2 hangs in pthread_create of a dynamically
   linked aarch64 program, of any. */
static const char *static_compiler(struct scene *s, const struct machine *machine, char out[4200]) {
  char script[256];
  if (!machine->emulator) return NULL;
  int n =
      snprintf(script, sizeof script, "#!/bin/sh\nexec %s-gcc -static \"$@\"\n", machine->triple);
  snprintf(out, 4200, "%s/cc-%s", s->dir, machine->triple);
  check(s, file_write_atomic(&s->ctx, out, script, (size_t)n, 0700));
  return out;
}

static void run_model(struct scene *s, const struct machine *machine, const struct target *target,
                      const char *model) {
  struct compile_options options = {.target = *target, .threads = 2, .no_cache = true};
  char path[4200], what[512], compiler[4200];
  options.cc = static_compiler(s, machine, compiler);
  snprintf(what, sizeof what, "%s, %s, %s", model, machine->triple, machine->level);
  snprintf(path, sizeof path, "%s/program-%s", s->dir, machine->level);
  check(s, compile_model(&s->ctx, &s->model, &options, path, NULL));
  run_program(s, machine, path);
  compare_outputs(s, what);
  unlink(path);
}

static void every_target_equals_the_reference(void **state) {
  static struct scene s;
  struct ctx ctx;
  struct target targets[COUNT(machines)];
  bool serves[COUNT(machines)];
  (void)state;
  ctx_init(&ctx);
  for (size_t k = 0; k < COUNT(machines); k++) {
    const struct machine *m = &machines[k];
    assert_int_equal(target_init(&ctx, m->triple, m->level, &targets[k]), HONE_OK);
    const char *missing = what_is_missing(m, &targets[k]);
    serves[k] = !missing;
    serves[k] &= is_wanted(k);
    if (missing) print_message("skipped: %s %s needs %s\n", m->triple, m->level, missing);
  }
  for (size_t i = 0; i < (wants_all() ? COUNT(models) : SHORT_MODELS); i++) {
    open_scene(&s, models[i]);
    for (size_t k = 0; k < COUNT(machines); k++)
      if (serves[k]) run_model(&s, &machines[k], &targets[k], models[i]);
    close_scene(&s);
  }
}

/* On a processor of 2008 a program for AVX2 says so; it does not end by a signal. */
static void a_program_says_what_the_processor_lacks(void **state) {
  static struct scene s;
  struct compile_options options = {.threads = 1, .no_cache = true};
  char path[4200];
  (void)state;
  if (!is_installed("qemu-x86_64")) {
    print_message("skipped: needs qemu-user\n");
    return;
  }
  open_scene(&s, "tests/compile/residual-convs.hg");
  snprintf(path, sizeof path, "%s/program", s.dir);
  check(&s, target_init(&s.ctx, "x86_64-linux-gnu", "avx2", &options.target));
  check(&s, compile_model(&s.ctx, &s.model, &options, path, NULL));
  const char *const argv[] = {"qemu-x86_64", "-cpu", "Nehalem", path, "x.npy", NULL};
  struct process_options child = {
      .argv = argv, .fd_in = -1, .fd_out = -1, .timeout_ns = 600000000000ULL};
  struct process_result result;
  check(&s, process_run(&s.ctx, &child, &result));
  assert_int_equal(result.exit_code, 69);
  assert_non_null(strstr(result.output.at, "AVX2"));
  strbuf_deinit(&result.output);
  close_scene(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_target_equals_the_reference),
                                     cmocka_unit_test(a_program_says_what_the_processor_lacks)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
