/* toolchain: .c, .so, .a and executable from one toy artifact, each run; equal bytes from two
 * builds; compilers that are missing, fail, hang, print without end or write nothing; the artifact
 * cache. */
#include "unit.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/backends/backends.h"
#include "compiler/run/run.h"
#include "compiler/toolchain/toolchain_internal.h"
#include "toy_artifact.h"

static char folder[4096];

static const char *in_folder(const char *name) {
  static char paths[8][4200];
  static unsigned next;
  char *path = paths[next++ % 8];
  snprintf(path, 4200, "%s/%s", folder, name);
  return path;
}

static int make_folder(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  if (dir_temporary(&ctx, folder)) return -1;
  setenv("XDG_CACHE_HOME", folder, 1);
  return 0;
}

static int remove_folder(void **state) {
  (void)state;
  dir_remove_tree(folder);
  return 0;
}

static void write_file(const char *name, const char *bytes, size_t size, unsigned mode) {
  struct ctx ctx;
  ctx_init(&ctx);
  assert_int_equal(file_write_atomic(&ctx, in_folder(name), bytes, size, mode), HONE_OK);
}

static struct mapping map_file(const char *path) {
  struct ctx ctx;
  ctx_init(&ctx);
  struct mapping map;
  assert_int_equal(file_map(&ctx, path, &map), HONE_OK);
  return map;
}

static void build(const char *path, const char *prefix, bool debug) {
  struct ctx ctx;
  ctx_init(&ctx);
  hone_status status = toy_build(&ctx, NULL, path, prefix, debug, 0);
  if (status) print_error("%s\n", ctx.message);
  assert_int_equal(status, HONE_OK);
}

/* Runs a program in the test's folder; "./NAME" is a program in that folder. */
static struct process_result run_program(const char *const *words) {
  struct ctx ctx;
  ctx_init(&ctx);
  const char *argv[16] = {0};
  for (size_t i = 0; words[i] && i + 1 < COUNT(argv); i++) argv[i] = words[i];
  if (!strncmp(argv[0], "./", 2)) argv[0] = in_folder(argv[0] + 2);
  struct process_result result;
  struct process_options options = {
      .argv = argv, .fd_in = -1, .fd_out = -1, .timeout_ns = 600000000000ull, .directory = folder};
  assert_int_equal(process_run(&ctx, &options, &result), HONE_OK);
  return result;
}

static void fill(float x[32]) {
  for (int i = 0; i < 32; i++) x[i] = (float)(i * i) - 100;
}

static void run_loaded(const char *path, const char *symbol, int threads) {
  struct ctx ctx;
  ctx_init(&ctx);
  struct loaded loaded;
  hone_status status = artifact_load(&ctx, path, symbol, &loaded);
  if (status) print_error("%s\n", ctx.message);
  assert_int_equal(status, HONE_OK);
  struct team *team;
  assert_int_equal(team_create(&ctx, threads, false, &team), HONE_OK);
  float x[32], shift = 3, y[32];
  fill(x);
  const void *inputs[] = {x, &shift};
  void *outputs[] = {y};
  struct hone_io io = {inputs, outputs, NULL, NULL};
  for (int i = 0; i < 20; i++) {
    memset(y, 0xff, sizeof y);
    const struct hone_team *interface = i % 2 ? team_interface(team) : NULL;
    assert_int_equal(loaded.info->run(loaded.weights, loaded.arena, &io, interface), 0);
    for (int k = 0; k < 32; k++) assert_true(y[k] == toy_expected(x, shift, k));
  }
  team_destroy(team);
  artifact_unload(&loaded);
}

static void shared_object(void **state) {
  (void)state;
  build(in_folder("toy.so"), "hone_model", false);
  run_loaded(in_folder("toy.so"), NULL, 1);
  run_loaded(in_folder("toy.so"), NULL, 3);
  build(in_folder("debug.so"), "other", true);
  run_loaded(in_folder("debug.so"), "other_artifact", 2);
  run_loaded(in_folder("debug.so"), NULL, 2); /* found by itself */
  struct mapping header = map_file(in_folder("toy.h"));
  assert_memory_equal(header.data, "/* toy */", 9);
  file_unmap(&header);
}

static void exports_one_symbol(void **state) {
  (void)state;
  build(in_folder("one.so"), "toy", false);
  const char *argv[] = {"nm", "-D", "--defined-only", "one.so", NULL};
  struct process_result result = run_program(argv);
  assert_int_equal(result.exit_code, 0);
  assert_non_null(strstr(result.output.at, " T toy_artifact\n"));
  assert_ptr_equal(strchr(result.output.at, '\n') + 1, result.output.at + result.output.length);
  strbuf_deinit(&result.output);
}

/* A .c file with a separate weights file: compiled here, loaded, and refused with other weights. */
static void c_file_and_weights(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  build(in_folder("plain.c"), "hone_model", false);
  const char *argv[] = {"cc", "-std=gnu11", "-O1",     "-fPIC", "-shared",
                        "-o", "plain.so",   "plain.c", NULL};
  struct process_result result = run_program(argv);
  assert_int_equal(result.exit_code, 0);
  strbuf_deinit(&result.output);
  run_loaded(in_folder("plain.so"), NULL, 2);

  struct mapping good = map_file(in_folder("plain.weights"));
  char bytes[256];
  size_t size = good.size;
  assert_in_range(size, 1, sizeof bytes - 1);
  memcpy(bytes, good.data, size);
  file_unmap(&good);
  struct loaded loaded;
  bytes[sizeof toy_weights + 20] ^= 1; /* in the build id */
  write_file("plain.weights", bytes, size, 0600);
  assert_int_equal(artifact_load(&ctx, in_folder("plain.so"), NULL, &loaded), HONE_E_IO);
  assert_non_null(strstr(ctx.message, "another build"));
  bytes[sizeof toy_weights + 20] ^= 1;
  for (size_t cut = 0; cut <= size + 1; cut += cut == size - 1 ? 2 : 1) {
    ctx_clear(&ctx);
    write_file("plain.weights", bytes, cut, 0600);
    assert_int_equal(artifact_load(&ctx, in_folder("plain.so"), NULL, &loaded), HONE_E_IO);
  }
  ctx_clear(&ctx);
  unlink(in_folder("plain.weights"));
  assert_int_equal(artifact_load(&ctx, in_folder("plain.so"), NULL, &loaded), HONE_E_NOFILE);
}

static void archive_links(void **state) {
  (void)state;
  build(in_folder("a.a"), "first", false);
  build(in_folder("b.a"), "second", false);
  const char *program =
      "#include <stdint.h>\nstruct hone_artifact_info { uint32_t abi; };\n"
      "const struct hone_artifact_info *first_artifact(void), *second_artifact(void);\n"
      "int main(void) { return first_artifact() == second_artifact() ||"
      " first_artifact()->abi != second_artifact()->abi || first_artifact()->abi < 5; }\n";
  write_file("two.c", program, strlen(program), 0600);
  const char *compile[] = {"cc", "-o", "two", "two.c", "a.a", "b.a", "-lm", NULL};
  struct process_result result = run_program(compile);
  assert_int_equal(result.exit_code, 0);
  strbuf_deinit(&result.output);
  const char *run[] = {"./two", NULL};
  result = run_program(run);
  assert_int_equal(result.exit_code, 0);
  strbuf_deinit(&result.output);
}

static void write_inputs(void) {
  struct ctx ctx;
  ctx_init(&ctx);
  float x[32], shift = 3;
  fill(x);
  hone_tensor tensor = {.data = x, .dtype = HONE_F32, .rank = 2, .shape = {4, 8}};
  assert_int_equal(npy_write(&ctx, in_folder("x.npy"), &tensor), HONE_OK);
  hone_tensor one = {.data = &shift, .dtype = HONE_F32, .rank = 1, .shape = {1}};
  assert_int_equal(npy_write(&ctx, in_folder("shift.npy"), &one), HONE_OK);
  write_file("shift.raw", (const char *)&shift, 4, 0600);
}

/* -- large weights, inserted after linking */

enum { LARGE = (2 << 20) + 100, input_room = 256 << 10 };

static void build_large(const char *path, const float *weights, size_t bytes) {
  struct ctx ctx;
  ctx_init(&ctx);
  struct strbuf texts[2] = {{0}, {0}};
  struct build_unit units[2];
  const struct build_part part = {0, bytes, weights};
  struct build_input input = toy_input(texts, units, "hone_model", false, &part);
  struct target target;
  assert_int_equal(target_init(&ctx, NULL, NULL, &target), HONE_OK);
  struct build_options options = {.target = &target};
  hone_status status = toolchain_build(&ctx, &input, &options, path);
  if (status) print_error("%s\n", ctx.message);
  assert_int_equal(status, HONE_OK);
  strbuf_deinit(&texts[0]);
  strbuf_deinit(&texts[1]);
}

/* So large that the loader puts huge pages in their place: they are the same at every moment, memory holds them once, and
   they go with the artifact. */
static void copied_weights(void **state) {
  (void)state;
  size_t bytes = (33u << 20) + 4;
  float *weights = malloc(bytes);
  for (size_t i = 0; i < bytes / sizeof *weights; i++) weights[i] = (float)i;
  build_large(in_folder("copied.so"), weights, bytes);
  for (int i = 0; i < 3; i++) {
    struct ctx ctx;
    ctx_init(&ctx);
    struct loaded loaded;
    const int64_t before = resident_bytes(), most = before + (int64_t)bytes + (12 << 20);
    bool settled = i == 0; /* unloads in the midst of it */
    assert_int_equal(artifact_load(&ctx, in_folder("copied.so"), NULL, &loaded), HONE_OK);
    while (!settled) {
      settled = weights_are_settled(&loaded);
      assert_memory_equal(loaded.weights, weights, bytes);
      assert_true(resident_bytes() < most);
    }
    artifact_unload(&loaded);
    assert_true(resident_bytes() < before + (4 << 20));
  }
  free(weights);
  unlink(in_folder("copied.so"));
}

static void large_weights(void **state) {
  (void)state;
  float *weights = malloc(LARGE);
  for (size_t i = 0; i < LARGE / sizeof *weights; i++) weights[i] = (float)(i + 1);
  build_large(in_folder("large.so"), weights, LARGE);
  build_large(in_folder("large"), weights, LARGE);
  run_loaded(in_folder("large.so"), NULL, 2);
  struct ctx ctx;
  ctx_init(&ctx);
  struct loaded loaded;
  assert_int_equal(artifact_load(&ctx, in_folder("large.so"), NULL, &loaded), HONE_OK);
  assert_int_equal((uintptr_t)loaded.weights % 4096, 0);
  assert_memory_equal(loaded.weights, weights, LARGE);
  artifact_unload(&loaded);
  free(weights);
  /* other tools still read and rewrite it */
  const char *const tools[][6] = {{"readelf", "-aW", "large.so", NULL},
                                  {"strip", "-o", "stripped.so", "large.so", NULL},
                                  {"nm", "large", NULL}};
  for (size_t i = 0; i < COUNT(tools); i++) {
    struct process_result result = run_program(tools[i]);
    assert_int_equal(result.exit_code, 0);
    assert_null(result.output.at ? strstr(result.output.at, "arning") : NULL);
    strbuf_deinit(&result.output);
  }
  run_loaded(in_folder("stripped.so"), NULL, 1);
  write_inputs();
  const char *argv[] = {"./large", "x.npy", "shift.npy", "-o", "large.out", NULL};
  struct process_result result = run_program(argv);
  assert_int_equal(result.exit_code, 0);
  strbuf_deinit(&result.output);
}

/* For every end of .bss, the weights are inserted after linking, never linked; the space for the
   code precedes them. Inserted in parts, on one core or on all, they give the same bytes. */
static void insertion_at_every_place(void **state) {
  (void)state;
  enum { PARTS = 5, PART = 300 << 10 };
  float *weights = malloc((size_t)PARTS * PART);
  for (size_t i = 0; i < PARTS * PART / sizeof *weights; i++) weights[i] = (float)(i + 1);
  struct build_part parts[PARTS];
  for (size_t i = 0; i < PARTS; i++)
    parts[i] = (struct build_part){i * PART, PART, (char *)weights + i * PART};
  for (int bytes = 4; bytes < 9000; bytes += 4000) {
    struct mapping maps[2];
    cpu_set_t all, one;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    for (size_t i = 0; !CPU_COUNT(&one); i++)
      if (CPU_ISSET(i, &all)) CPU_SET(i, &one);
    for (int k = 0; k < 2; k++) {
      struct ctx ctx;
      ctx_init(&ctx);
      struct strbuf texts[2] = {{0}, {0}};
      struct build_unit units[2];
      struct build_input input = toy_input(texts, units, "hone_model", false, &toy_part);
      strbuf_printf(&texts[1], "volatile char more_data[%d];\n", bytes);
      units[1].source = texts[1].at, units[1].length = texts[1].length;
      input.parts = parts, input.part_count = PARTS, input.weights_bytes = (size_t)PARTS * PART;
      struct target target;
      assert_int_equal(target_init(&ctx, NULL, NULL, &target), HONE_OK);
      const char *path = in_folder(k ? "one.so" : "all.so");
      if (k) assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
      assert_int_equal(
          toolchain_build(&ctx, &input, &(struct build_options){.target = &target}, path), HONE_OK);
      assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
      maps[k] = map_file(path);
      strbuf_deinit(&texts[0]);
      strbuf_deinit(&texts[1]);
    }
#ifdef __x86_64__
    assert_true(maps[0].size > input_room + (size_t)PARTS * PART);
#endif
    assert_int_equal(maps[0].size, maps[1].size);
    assert_memory_equal(maps[0].data, maps[1].data, maps[0].size);
    assert_non_null(memmem(maps[0].data, maps[0].size, weights, (size_t)PARTS * PART));
    file_unmap(&maps[0]);
    file_unmap(&maps[1]);
    run_loaded(in_folder("all.so"), NULL, 1);
  }
  free(weights);
}

/* Every other layout is refused and nothing is written. */
static void insertion_refuses_other_files(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  build(in_folder("plain2.so"), "hone_model", false);
  struct mapping map = map_file(in_folder("plain2.so"));
  struct output output;
  bool is_stream;
  assert_int_equal(output_create(&ctx, in_folder("inserted.so"), 0600, &output, &is_stream),
                   HONE_OK);
  for (size_t size = 0; size <= map.size; size += size < 512 ? 8 : map.size / 64) {
    write_file("cut.bin", (const char *)map.data, size, 0600);
    bool done = true;
    assert_int_equal(
        insert_weights(&ctx, in_folder("cut.bin"), sizeof toy_weights, &output, 1 << 20, &done),
        HONE_OK);
    assert_false(done);
  }
  file_unmap(&map);
  output_drop(&output);
  assert_int_not_equal(access(in_folder("inserted.so"), F_OK), 0);
}

/* -- the executable */

static int program_setup(void **state) {
  (void)state;
  write_inputs();
  build(in_folder("toy"), "hone_model", false);
  return 0;
}

static void program_runs(void **state) {
  (void)state;
  static const char *const threads[] = {"1", "2", "5"};
  for (size_t i = 0; i < COUNT(threads); i++) {
    const char *argv[] = {"./toy",    "x.npy",    i ? "shift.npy" : "shift.raw",
                          "-o",       "out",      "--threads",
                          threads[i], "--repeat", "50",
                          NULL};
    struct process_result result = run_program(argv);
    if (result.exit_code) print_error("%s\n", result.output.at);
    assert_int_equal(result.exit_code, 0);
    assert_non_null(strstr(result.output.at, "50 runs"));
    strbuf_deinit(&result.output);
    struct ctx ctx;
    ctx_init(&ctx);
    hone_tensor y;
    assert_int_equal(npy_read(&ctx, in_folder("out/output_0.npy"), NULL, &y), HONE_OK);
    assert_int_equal(y.dtype, HONE_F32);
    assert_int_equal(y.rank, 2);
    float x[32];
    fill(x);
    for (int k = 0; k < 32; k++) assert_true(((float *)y.data)[k] == toy_expected(x, 3, k));
    free(y.data);
    unlink(in_folder("out/output_0.npy"));
  }
}

static void expect_exit(const char *const *argv, int code, const char *words) {
  struct process_result result = run_program(argv);
  if (result.exit_code != code || (words && !strstr(result.output.at, words)))
    print_error("exit %d: %s\n", result.exit_code, result.output.at ? result.output.at : "");
  assert_int_equal(result.exit_code, code);
  assert_null(result.output.at ? strchr(result.output.at, 27) : NULL); /* no escape codes */
  if (words) assert_non_null(strstr(result.output.at, words));
  strbuf_deinit(&result.output);
}
#define EXPECT(code, words, ...) expect_exit((const char *[]){__VA_ARGS__, NULL}, code, words)

static void program_answers_bad_input(void **state) {
  (void)state;
  EXPECT(0, "\"y\\x1b[31m\" f32[4,8]", "./toy", "--help");
  EXPECT(2, "usage", "./toy");
  EXPECT(2, "1 input files given", "./toy", "x.npy");
  EXPECT(2, "unknown option", "./toy", "--frobnicate");
  EXPECT(2, "1 to 1024", "./toy", "--threads", "0", "x.npy", "shift.npy");
  EXPECT(2, "1 to 1024", "./toy", "--threads", "1e9", "x.npy", "shift.npy");
  EXPECT(2, "1 to 1024", "./toy", "--threads");
  EXPECT(66, "none.npy", "./toy", "none.npy", "shift.npy");
  EXPECT(74, "not a regular file", "./toy", "x.npy", ".");
  EXPECT(66, "in_0.npy", "./toy", "out");
  EXPECT(2, "2 files after", "./toy", "x.npy", "shift.npy", "a.npy", "b.npy");
  EXPECT(2, "-o cannot be used", "./toy", "x.npy", "shift.npy", "a.npy", "-o", "out");
  EXPECT(73, "out.file", "./toy", "x.npy", "shift.npy", "out.file/x");
  EXPECT(74, "not a regular file", "./toy", "/dev/zero", "shift.npy");
  EXPECT(65, "shape [1]", "./toy", "shift.npy", "shift.npy");
  EXPECT(65, "4 bytes of data", "./toy", "shift.raw", "shift.npy");
  EXPECT(73, "out.file", "./toy", "x.npy", "shift.npy", "-o", "out.file/x");
  /* -- and a name that begins with a dash */
  EXPECT(66, "-x.npy", "./toy", "--", "-x.npy", "shift.npy");
  float stop = 666;
  write_file("stop.raw", (const char *)&stop, 4, 0600);
  EXPECT(65, "status 8", "./toy", "x.npy", "stop.raw");
}

/* MODEL IN... OUT: a .npy file, raw elements or a folder; inputs from a folder, by number or by name. */
static void program_takes_places_of_outputs(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  float x[32];
  fill(x);
  assert_int_equal(dir_create(&ctx, in_folder("given")), HONE_OK);
  assert_int_equal(file_copy(&ctx, in_folder("x.npy"), in_folder("given/x.npy"), 0600, NULL), 0);
  assert_int_equal(file_copy(&ctx, in_folder("shift.npy"), in_folder("given/in_1.npy"), 0600, NULL),
                   0);
  const char *const commands[][6] = {{"./toy", "x.npy", "shift.npy", "made.npy"},
                                     {"./toy", "x.npy", "shift.npy", "made"},
                                     {"./toy", "given", "given.npy"},
                                     {"./toy", "given", "made.2/"},
                                     {"./toy", "x.npy", "shift.npy", "made.raw"}};
  const char *const files[] = {"made.npy", "made/output_0.npy", "given.npy", "made.2/output_0.npy",
                               "made.raw"};
  for (size_t i = 0; i < COUNT(files); i++) {
    const char *words[] = {commands[i][0], commands[i][1], commands[i][2], commands[i][3], NULL};
    expect_exit(words, 0, NULL);
    struct mapping made = map_file(in_folder(files[i]));
    const float *y = (const float *)(const void *)(made.data + made.size - sizeof x);
    assert_int_equal(made.size == sizeof x, i == 4);
    for (int k = 0; k < 32; k++) assert_true(y[k] == toy_expected(x, 3, k));
    file_unmap(&made);
  }
}

/* Each length of a .npy file, and each byte of its header changed: an answer, never a crash. */
static void program_survives_damaged_npy(void **state) {
  (void)state;
  struct mapping good = map_file(in_folder("x.npy"));
  uint8_t bytes[512];
  size_t size = good.size;
  assert_in_range(size, 128, sizeof bytes);
  memcpy(bytes, good.data, size);
  file_unmap(&good);
  for (size_t cut = 0; cut < size; cut += 9) {
    write_file("cut.npy", (const char *)bytes, cut, 0600);
    EXPECT(65, NULL, "./toy", "cut.npy", "shift.npy", "--threads", "1");
  }
  for (size_t i = 0; i < 80; i += 3) {
    uint8_t kept = bytes[i];
    bytes[i] = i % 2 ? 0xff : 0;
    write_file("cut.npy", (const char *)bytes, size, 0600);
    EXPECT(65, NULL, "./toy", "cut.npy", "shift.npy", "--threads", "1");
    bytes[i] = kept;
  }
}

/* -- determinism */

static void same_input_same_bytes(void **state) {
  (void)state;
  static const char *const names[] = {"m.so", "m.a", "m", "m.c"};
  struct ctx ctx;
  ctx_init(&ctx);
  for (int debug = 0; debug < 2; debug++) {
    for (size_t i = 0; i < COUNT(names); i++) {
      char paths[2][4300];
      for (int k = 0; k < 2; k++) {
        snprintf(paths[k], sizeof paths[k], "%s/d%d", folder, k);
        assert_int_equal(dir_create(&ctx, paths[k]), HONE_OK);
        snprintf(paths[k], sizeof paths[k], "%s/d%d/%s", folder, k, names[i]);
        build(paths[k], "m", debug);
      }
      struct mapping a = map_file(paths[0]), b = map_file(paths[1]);
      assert_int_equal(a.size, b.size);
      assert_memory_equal(a.data, b.data, a.size);
      /* nothing of the way there stays inside */
      assert_null(memmem(a.data, a.size, "hone-", 5));
      file_unmap(&a);
      file_unmap(&b);
    }
  }
}

/* -- compilers that fail (ROBUSTNESS row 55) */

#ifdef __x86_64__
#define FOREIGN "aarch64-linux-gnu"
#else
#define FOREIGN "x86_64-linux-gnu"
#endif
#define VERSION "#!/bin/sh\n[ \"$1\" = --version ] && echo 'fake 1.0' && exit 0\n"

static hone_status with_compiler(const char *script, uint64_t timeout_ns, char message[2048]) {
  write_file("fake-cc", script, strlen(script), 0700);
  struct ctx ctx;
  ctx_init(&ctx);
  hone_status status =
      toy_build(&ctx, in_folder("fake-cc"), in_folder("never.so"), "m", false, timeout_ns);
  memcpy(message, ctx.message, sizeof ctx.message);
  assert_int_not_equal(access(in_folder("never.so"), F_OK), 0);
  assert_true(strlen(message) < 2048);
  return status;
}

/* Translation units fail in any order: the failure of the first one in the list is reported. The
   compilers of later ones are killed. */
static void failures_come_in_order(void **state) {
  (void)state;
  char message[2048];
  uint64_t start = clock_ns();
  assert_int_equal(
      with_compiler(VERSION "case \"$*\" in *unit0.c) sleep 1; echo 'error: first' >&2;;"
                            " *) echo 'error: second' >&2;; esac; exit 1\n",
                    0, message),
      HONE_E_CRASH);
  assert_non_null(strstr(message, "first"));
  assert_int_equal(
      with_compiler(VERSION "case \"$*\" in *unit0.c) echo 'error: at once' >&2; exit 1;;"
                            " *) sleep 600;; esac\n",
                    0, message),
      HONE_E_CRASH);
  assert_non_null(strstr(message, "at once"));
  assert_true(clock_ns() - start < 500000000000ull); /* one of them sleeps for 600 s */
}

static void failing_compilers(void **state) {
  (void)state;
  char message[2048];
  assert_int_equal(
      with_compiler(VERSION "echo 'u.c:1: error: no \033[31m' >&2; exit 1\n", 0, message),
      HONE_E_CRASH);
  assert_non_null(strstr(message, "u.c:1: error: no"));
  assert_null(strchr(message, 27));
  assert_int_equal(with_compiler(VERSION "kill -KILL $$\n", 0, message), HONE_E_OOM);
  assert_non_null(strstr(message, "signal 9"));
  assert_int_equal(with_compiler(VERSION "exit 0\n", 0, message), HONE_E_CRASH);
  assert_non_null(strstr(message, "wrote no output"));
  assert_int_equal(
      with_compiler(VERSION "head -c 100000000 /dev/zero | tr '\\0' e; exit 1\n", 0, message),
      HONE_E_CRASH);
  uint64_t start = clock_ns();
  assert_int_equal(with_compiler(VERSION "sleep 600\n", 300000000, message), HONE_E_TIMEOUT);
  assert_true(clock_ns() - start < 500000000000ull); /* the compiler sleeps for 600 s */
  assert_int_equal(with_compiler("#!/bin/sh\nexit 3\n", 0, message), HONE_E_MISSING);
}

static void missing_compilers(void **state) {
  (void)state;
  static const char *const names[] = {"gcc; id", "/nonexistent/gcc", "gcc -O0", "$(id)",
                                      "no-such-cc"};
  char out[128];
  for (size_t i = 0; i < COUNT(names); i++) {
    struct ctx ctx;
    ctx_init(&ctx);
    assert_int_equal(toolchain_describe(&ctx, names[i], NULL, out), HONE_E_MISSING);
    assert_non_null(strstr(ctx.message, "apt-get install gcc"));
    ctx_clear(&ctx);
    setenv("HONE_CC", names[i], 1);
    assert_int_equal(toolchain_describe(&ctx, NULL, NULL, out), HONE_E_MISSING);
    unsetenv("HONE_CC");
  }
  struct ctx ctx;
  ctx_init(&ctx);
  setenv("CC", "gcc; id", 1); /* of no concern */
  assert_int_equal(toolchain_describe(&ctx, NULL, NULL, out), HONE_OK);
  unsetenv("CC");
  assert_true(!strncmp(out, "gcc ", 4) || !strncmp(out, "clang ", 6));
  char *path = strdup(getenv("PATH"));
  setenv("PATH", "/nonexistent", 1);
  assert_int_equal(toolchain_describe(&ctx, NULL, NULL, out), HONE_E_MISSING);
  ctx_clear(&ctx);
  assert_int_equal(toolchain_describe(&ctx, NULL, FOREIGN, out), HONE_E_MISSING);
  assert_non_null(strstr(ctx.message, "apt-get install gcc-"));
  setenv("PATH", path, 1);
  free(path);
}

/* It is found out before anything is compiled. */
static void a_compiler_of_another_processor(void **state) {
  (void)state;
  char out[128], path[4200];
  struct ctx ctx;
  ctx_init(&ctx);
  const char *text = VERSION "case $1 in -dumpmachine) echo m68k-linux-gnu;; esac\n";
  snprintf(path, sizeof path, "%s", in_folder("other-gcc"));
  write_file("other-gcc", text, strlen(text), 0755);
  assert_int_equal(toolchain_describe(&ctx, path, NULL, out), HONE_OK);
  assert_int_equal(toolchain_describe(&ctx, path, FOREIGN, out), HONE_E_USAGE);
  assert_non_null(strstr(ctx.message, "m68k-linux-gnu"));
}

static void bad_requests(void **state) {
  (void)state;
  static const char *const prefixes[] = {"", "1a", "a b", "a;", "a\nint x", "\"", "a-b"};
  for (size_t i = 0; i < COUNT(prefixes); i++) {
    struct ctx ctx;
    ctx_init(&ctx);
    assert_int_equal(toy_build(&ctx, NULL, in_folder("p.so"), prefixes[i], false, 0), HONE_E_USAGE);
  }
  struct ctx ctx;
  ctx_init(&ctx);
  assert_int_equal(toy_build(&ctx, NULL, in_folder("no/such/x.so"), "m", false, 0), HONE_E_WRITE);
  ctx_clear(&ctx);
  /* an unwritable place leaves what was there */
  write_file("kept.so", "old", 3, 0600);
  mkdir(in_folder("dir.so"), 0700);
  assert_int_equal(toy_build(&ctx, NULL, in_folder("dir.so"), "m", false, 0), HONE_E_WRITE);
}

static void no_temporary_folder_stays(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  const char *root = in_folder("tmp");
  assert_int_equal(dir_create(&ctx, root), HONE_OK);
  setenv("TMPDIR", root, 1);
  build(in_folder("clean.so"), "m", false);
  assert_int_equal(toy_build(&ctx, "false", in_folder("clean2.so"), "m", false, 0), HONE_E_MISSING);
  unsetenv("TMPDIR");
  assert_int_equal(rmdir(root), 0); /* empty */
}

/* -- cache */

static void count_warning(void *user, const char *message) {
  (void)message;
  ++*(int *)user;
}

static void cache_checks_bytes(void **state) {
  (void)state;
  int warnings = 0;
  struct ctx ctx;
  ctx_init(&ctx);
  ctx.warn = count_warning;
  ctx.warn_user = &warnings;
  char key[65], path[4096];
  bool hit = true;
  assert_int_equal(sha256_hex(&ctx, key, "x", 1), HONE_OK);
  assert_int_equal(cache_lookup(&ctx, key, path, &hit), HONE_OK);
  assert_false(hit);
  write_file("artifact", "bytes", 5, 0700);
  assert_int_equal(cache_store(&ctx, key, in_folder("artifact")), HONE_OK);
  assert_int_equal(cache_lookup(&ctx, key, path, &hit), HONE_OK);
  assert_true(hit);
  struct mapping map = map_file(path);
  assert_memory_equal(map.data, "bytes", 5);
  file_unmap(&map);
  assert_int_equal(warnings, 0);
  assert_int_equal(file_write_atomic(&ctx, path, "byteX", 5, 0700), HONE_OK);
  assert_int_equal(cache_lookup(&ctx, key, path, &hit), HONE_OK);
  assert_false(hit);
  assert_int_equal(warnings, 1);
  assert_int_not_equal(access(path, F_OK), 0);
  /* the user's file changes in place: the entry shares its bytes or not, both are right */
  assert_int_equal(cache_store(&ctx, key, in_folder("artifact")), HONE_OK);
  FILE *file = fopen(in_folder("artifact"), "r+");
  assert_non_null(file);
  assert_int_equal(fputc('X', file), 'X');
  fclose(file);
  assert_int_equal(cache_lookup(&ctx, key, path, &hit), HONE_OK);
  if (hit) {
    map = map_file(path);
    assert_memory_equal(map.data, "bytes", 5);
    file_unmap(&map);
  }
  assert_int_equal(cache_lookup(&ctx, "../../etc/passwd", path, &hit), HONE_E_INTERNAL);
}

static void kinds_by_ending(void **state) {
  (void)state;
  static const struct {
    const char *path;
    enum artifact_kind kind;
  } cases[] = {{"x.c", ARTIFACT_C},   {"a/b.so", ARTIFACT_SO},   {"x.a", ARTIFACT_A},
               {"x", ARTIFACT_EXE},   {"dir.c/x", ARTIFACT_EXE}, {"x.exe", ARTIFACT_EXE},
               {"x.so.c", ARTIFACT_C}};
  for (size_t i = 0; i < COUNT(cases); i++)
    assert_int_equal(artifact_kind_of(cases[i].path), cases[i].kind);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(kinds_by_ending),
      cmocka_unit_test(shared_object),
      cmocka_unit_test(exports_one_symbol),
      cmocka_unit_test(c_file_and_weights),
      cmocka_unit_test(archive_links),
      cmocka_unit_test(copied_weights),
      cmocka_unit_test(large_weights),
      cmocka_unit_test(insertion_at_every_place),
      cmocka_unit_test(insertion_refuses_other_files),
      cmocka_unit_test_setup(program_runs, program_setup),
      cmocka_unit_test(program_answers_bad_input),
      cmocka_unit_test(program_takes_places_of_outputs),
      cmocka_unit_test(program_survives_damaged_npy),
      cmocka_unit_test(same_input_same_bytes),
      cmocka_unit_test(failing_compilers),
      cmocka_unit_test(failures_come_in_order),
      cmocka_unit_test(missing_compilers),
      cmocka_unit_test(a_compiler_of_another_processor),
      cmocka_unit_test(bad_requests),
      cmocka_unit_test(no_temporary_folder_stays),
      cmocka_unit_test(cache_checks_bytes),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
