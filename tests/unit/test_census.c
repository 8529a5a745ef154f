/* Checks the assembly of each kernel's hot loop, for each compiler and instruction set, including
 * those that this machine cannot run. The loop must have no spilled vector, no scalar multiply-add
 * and no call, and exactly the multiply-adds of its tile.  A product loop is an innermost loop
 * whose vector arithmetic is only multiply-adds; the hot one has the most of them. Compilers that
 * are not installed, or lack the headers of their target (clang for aarch64 without that C
 * library), are skipped with a message; if all are skipped, the test fails. */
#include "unit.h"

#include <stdlib.h>

#include "kernel_snippet.h"
#include "compiler/plan/plan.h"
#include "compiler/toolchain/toolchain_internal.h"

#define GEMM(m, n, k)                                                     \
  "gemm f32 m" #m " n" #n " k" #k " batch01 batch11 a_row" #k " b_row" #n \
  " b_column1 b_batches1 c_row" #n
/* images1, kernel 3 x 3, stride 1; sizes with the padding inside */
#define CONV(i, ic, o, oc, row, image)                                    \
  "conv f32 images1 ih" #i " iw" #i " ic" #ic " oh" #o " ow" #o " oc" #oc \
  " kh3 kw3 sh1 sw1 dh1 dw1 groups1 i_image" #image " i_row" #row " i_pixel" #ic

#define TYPED(types, m, n, k)                                                   \
  "gemm " types " m" #m " n" #n " k" #k " batch01 batch11 a_row" #k " b_row" #n \
  " b_column1 b_batches1 c_row" #n
#define HALVES(m, n, k) TYPED("bf16*bf16:f32:bf16", m, n, k)
#define BYTES(a, m, n, k) TYPED(a "*i8:i32:i32", m, n, k)
#define CONV_HALVES                                                                          \
  "conv bf16*bf16:f32:bf16 images1 ih30 iw30 ic128 oh28 ow28 oc128 kh3 kw3 sh1 sw1 dh1 dw1 " \
  "groups1 i_image115200 i_row3840 i_pixel128 o_image100352 o_row3584 o_pixel128"
#define CONV_DEEP_HALVES                                                                     \
  "conv bf16*bf16:f32:bf16 images1 ih16 iw16 ic256 oh14 ow14 oc256 kh3 kw3 sh1 sw1 dh1 dw1 " \
  "groups1 i_image65536 i_row4096 i_pixel256 o_image50176 o_row3584 o_pixel256"
#define CONV_BYTES                                                                      \
  "conv u8*i8:i32:i32 images1 ih30 iw30 ic128 oh28 ow28 oc128 kh3 kw3 sh1 sw1 dh1 dw1 " \
  "groups1 i_image115200 i_row3840 i_pixel128 o_image100352 o_row3584 o_pixel128"
#define TILE \
  { "TILE_ROWS", "TILE_COLUMNS", "VECTORS", "K_UNROLL" }

/* The multiply-adds of one pass of the loop are a multiple of the product of these defines, or of
   `products`. level, instruction: of rows that need more than float arithmetic. */
static const struct subject {
  const char *kernel, *factors[4], *problem;
  struct {
    const char *level, *instruction;
    int products;
  } more;
} subjects[] = {
    {.kernel = "gemm_f32",
     {"TILE_ROWS", "TILE_COLUMNS", "VECTORS", "K_UNROLL"},
     GEMM(128, 768, 768)},
    {.kernel = "gemm_f32",
     {"TILE_ROWS", "TILE_COLUMNS", "VECTORS", "K_UNROLL"},
     GEMM(197, 768, 3072)},
    {.kernel = "gemm_f32", {"TILE_ROWS", "TILE_COLUMNS", "VECTORS", "K_UNROLL"}, GEMM(4, 256, 784)},
    {.kernel = "gemm_f32",
     {"TILE_ROWS", "TILE_COLUMNS", "VECTORS", "K_UNROLL"},
     GEMM(1, 1000, 2048)},
    {.kernel = "gemm_f32",
     {"TILE_ROWS", "TILE_COLUMNS", "VECTORS", "K_UNROLL"},
     GEMM(128, 64, 128)},
    {.kernel = "gemm_f32", {"TILE_ROWS", "TILE_COLUMNS", "VECTORS", "K_UNROLL"}, GEMM(256, 16, 64)},
    {.kernel = "conv_f32",
     {"TILE_ROWS", "TILE_COLUMNS", "VECTORS", "K_UNROLL"},
     CONV(30, 128, 28, 128, 3840, 115200) " o_image100352 o_row3584 o_pixel128"},
    {.kernel = "conv_f32",
     {"TILE_ROWS", "TILE_COLUMNS", "VECTORS", "K_UNROLL"},
     CONV(9, 512, 7, 512, 4608, 41472) " o_image25088 o_row3584 o_pixel512"},
    {.kernel = "conv_f32",
     {"TILE_ROWS", "TILE_COLUMNS", "VECTORS", "K_UNROLL"},
     "conv f32 images1 ih230 iw230 ic3 oh112 ow112 oc64 kh7 kw7 sh2 sw2 dh1 dw1 groups1 "
     "i_image158700 i_row690 i_pixel3 o_image802816 o_row7168 o_pixel64"},
    {.kernel = "conv_f32",
     {"TILE_ROWS", "TILE_COLUMNS", "VECTORS", "K_UNROLL"},
     "conv f32 images1 ih56 iw56 ic64 oh56 ow56 oc256 kh1 kw1 sh1 sw1 dh1 dw1 groups1 "
     "i_image200704 i_row3584 i_pixel64 o_image802816 o_row14336 o_pixel256"},
    {.kernel = "conv_small_oc_f32",
     {"PIXELS"},
     CONV(30, 32, 28, 1, 960, 28800) " o_image784 o_row28 o_pixel1"},
    {.kernel = "conv_small_oc_f32",
     {"PIXELS"},
     CONV(30, 64, 28, 2, 1920, 57600) " o_image1568 o_row56 o_pixel2"},
    {.kernel = "conv_winograd_f32",
     {"GROUP", "VECTORS"},
     CONV(58, 64, 56, 64, 3712, 215296) " o_image200704 o_row3584 o_pixel64"},
    {.kernel = "conv_winograd_f32",
     {"GROUP", "VECTORS"},
     CONV(16, 256, 14, 256, 4096, 65536) " o_image50176 o_row3584 o_pixel256"},
    {.kernel = "depthwise_f32",
     {"BLOCK", "KW"},
     "depthwise f32 images1 ih56 iw56 ic144 oh56 ow56 oc144 kh3 kw3 sh1 sw1 dh1 dw1 pt1 pl1 "
     "i_image451584 i_row8064 i_pixel144 o_image451584 o_row8064 o_pixel144"},
    {.kernel = "depthwise_f32",
     {"BLOCK", "KW"},
     "depthwise f32 images1 ih112 iw112 ic96 oh56 ow56 oc96 kh3 kw3 sh2 sw2 dh1 dw1 pt1 pl1 "
     "i_image1204224 i_row10752 i_pixel96 o_image301056 o_row5376 o_pixel96"},
    {.kernel = "depthwise_f32",
     {"BLOCK", "KW"},
     "depthwise f32 images1 ih14 iw14 ic480 oh14 ow14 oc480 kh5 kw5 sh1 sw1 dh1 dw1 pt2 pl2 "
     "i_image94080 i_row6720 i_pixel480 o_image94080 o_row6720 o_pixel480"},
    {.kernel = "depthwise_f32",
     {"BLOCK", "KW"},
     "depthwise bf16*f32:f32:bf16 images1 ih56 iw56 ic144 oh56 ow56 oc144 kh3 kw3 sh1 sw1 dh1 dw1 "
     "pt1 pl1 i_image451584 i_row8064 i_pixel144 o_image451584 o_row8064 o_pixel144",
     {"avx512bf16", NULL, 0}},
    {.kernel = "gemm_halves", TILE, TYPED("f32*f16:f32:f32", 4, 256, 784)},
    {.kernel = "gemm_halves", TILE, TYPED("f32*bf16:f32:f32", 1, 1000, 2048)},
    {"gemm_bf16", TILE, HALVES(128, 768, 768), {"avx512bf16", "vdpbf16ps", 0}},
    {"gemm_bf16", TILE, HALVES(197, 768, 3072), {"avx512bf16", "vdpbf16ps", 0}},
    {"gemm_bf16", TILE, HALVES(4, 256, 784), {"avx512bf16", "vdpbf16ps", 0}},
    {"conv_bf16", TILE, CONV_HALVES, {"avx512bf16", "vdpbf16ps", 0}},
    {"conv_winograd_bf16", {"GROUP", "VECTORS"}, CONV_DEEP_HALVES, {"avx512bf16", "vdpbf16ps", 0}},
    {"gemm_i8", TILE, BYTES("u8", 128, 768, 768), {"avx512bf16", "vpdpbusd", 0}},
    {"gemm_i8", TILE, BYTES("i8", 4, 256, 784), {"avx512bf16", "vpdpbusd", 0}},
    {"conv_i8", TILE, CONV_BYTES, {"avx512bf16", "vpdpbusd", 0}},
    {"gemm_i8", TILE, BYTES("u8", 128, 768, 768), {"dotprod", "sdot", 0}},
    {"conv_i8", TILE, CONV_BYTES, {"dotprod", "sdot", 0}},
    {"gemm_i8", TILE, BYTES("u8", 128, 768, 768), {"i8mm", "usdot", 0}},
    {"conv_i8", TILE, CONV_BYTES, {"i8mm", "usdot", 0}},
    {"gemm_bf16", TILE, HALVES(128, 768, 768), {"bf16", "bfdot", 0}},
    {"conv_bf16", TILE, CONV_HALVES, {"bf16", "bfdot", 0}},
    {"gemm_amx_bf16", .problem = HALVES(128, 768, 768), .more = {"amx", "tdpbf16ps", 4}},
    {"conv_amx_bf16", .problem = CONV_HALVES, .more = {"amx", "tdpbf16ps", 4}},
    {"gemm_amx_i8", .problem = BYTES("u8", 128, 768, 768), .more = {"amx", "tdpbusd", 4}},
    {"gemm_amx_i8", .problem = BYTES("i8", 128, 768, 768), .more = {"amx", "tdpbssd", 4}},
};

/* How the assembly of an architecture spells the instructions that are counted. */
static const struct syntax {
  const char *fma, *scalar_fma[2], *arithmetic[3], *call, *jumps[3], *vectors[3], *stack[3];
} x86 = {"vfmadd",
         {"ss", "sd"},
         {"vaddps", "vsubps", "vmulps"},
         "call",
         {"j"},
         {"%zmm", "%ymm", "%xmm"},
         {"(%rsp", "(%rbp"}},
  arm = {"fmla",     {"fmadd"},      {"fadd", "fsub", "fmul"}, "bl", {"b", "cb", "tb"},
         {"v", "q"}, {"[sp", "[x29"}};

static const struct maker {
  const char *title, *cc, *triple, *level;
  const struct syntax *syntax;
} makers[] = {
    {"gcc avx2", "gcc", "x86_64-linux-gnu", "avx2", &x86},
    {"gcc avx512", "gcc", "x86_64-linux-gnu", "avx512", &x86},
    {"gcc neon", "aarch64-linux-gnu-gcc", "aarch64-linux-gnu", "neon", &arm},
    {"clang avx2", "clang", "x86_64-linux-gnu", "avx2", &x86},
    {"clang avx512", "clang", "x86_64-linux-gnu", "avx512", &x86},
    {"clang neon", "clang", "aarch64-linux-gnu", "neon", &arm},
    {"gcc bf16", "gcc", "x86_64-linux-gnu", "avx512bf16", &x86},
    {"clang bf16", "clang", "x86_64-linux-gnu", "avx512bf16", &x86},
    {"gcc dotprod", "aarch64-linux-gnu-gcc", "aarch64-linux-gnu", "dotprod", &arm},
    {"gcc i8mm", "aarch64-linux-gnu-gcc", "aarch64-linux-gnu", "i8mm", &arm},
    {"gcc arm bf16", "aarch64-linux-gnu-gcc", "aarch64-linux-gnu", "bf16", &arm},
    {"gcc amx", "gcc", "x86_64-linux-gnu", "amx", &x86},
    {"clang amx", "clang", "x86_64-linux-gnu", "amx", &x86},
};

/* Rows of float arithmetic are looked at with the compilers of the levels that have no more. */
static bool is_asked(const struct maker *maker, const struct subject *subject) {
  static const char *const floats[] = {"avx2", "avx512", "neon"};
  bool has_more = true;
  for (size_t i = 0; i < COUNT(floats); i++)
    has_more = has_more && strcmp(maker->level, floats[i]) != 0;
  return subject->more.level ? !strcmp(subject->more.level, maker->level) : !has_more;
}

/* -- assembly */

enum { MOST_LINES = 60000, MOST_LOOPS = 4000 };

struct line {
  const char *text, *operands; /* operands NULL: a label */
  size_t length;               /* of a label's or an instruction's name */
};
struct listing {
  struct line lines[MOST_LINES];
  size_t count;
  struct loop {
    size_t first, last;
  } loops[MOST_LOOPS];
  size_t loop_count;
  bool has_frame; /* rbp or x29 points to the stack */
};
struct census {
  int instructions, fma, scalar_fma, stack, calls, arithmetic;
};

static bool starts_with(const struct line *line, const char *word) {
  return word && !strncmp(line->text, word, strlen(word));
}

static bool has_any(const char *text, const char *const *words, size_t count) {
  for (size_t i = 0; i < count && words[i]; i++)
    if (strstr(text, words[i])) return true;
  return false;
}

static bool starts_with_any(const struct line *line, const char *const *words, size_t count) {
  for (size_t i = 0; i < count && words[i]; i++)
    if (starts_with(line, words[i])) return true;
  return false;
}

/* Labels and instructions; directives and comments fall out. Cuts `text` into strings. */
static void read_lines(struct listing *out, char *text) {
  out->count = 0;
  for (char *at = text; *at;) {
    char *end = at + strcspn(at, "\n"), *next = *end ? end + 1 : end;
    *end = 0;
    char *word = at + strspn(at, " \t");
    size_t length = strcspn(word, " \t:");
    bool label = word[length] == ':';
    if (*word && *word != '#' && *word != '/' && (label || *word != '.')) {
      assert_true(out->count < MOST_LINES);
      out->lines[out->count++] = (struct line){word, label ? NULL : word + length, length};
    }
    at = next;
  }
}

static size_t find_label(const struct listing *listing, size_t before, const char *name) {
  for (size_t i = before; i-- > 0;)
    if (!listing->lines[i].operands && listing->lines[i].length == strlen(name) &&
        !strncmp(listing->lines[i].text, name, strlen(name)))
      return i;
  return SIZE_MAX;
}

/* Every jump backwards ends a loop. */
static void find_loops(struct listing *out, const struct syntax *syntax) {
  out->loop_count = 0;
  for (size_t i = 0; i < out->count; i++) {
    const struct line *line = &out->lines[i];
    if (!line->operands || !starts_with_any(line, syntax->jumps, COUNT(syntax->jumps)) ||
        starts_with(line, syntax->call))
      continue;
    const char *target = strstr(line->operands, ".L");
    char name[64];
    if (!target) continue;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(target, " \t,#"), target);
    size_t first = find_label(out, i, name);
    if (first == SIZE_MAX) continue;
    assert_true(out->loop_count < MOST_LOOPS);
    out->loops[out->loop_count++] = (struct loop){first, i};
  }
}

static bool is_innermost(const struct listing *listing, size_t index) {
  struct loop outer = listing->loops[index];
  for (size_t i = 0; i < listing->loop_count; i++)
    if (i != index && listing->loops[i].first >= outer.first &&
        listing->loops[i].last <= outer.last)
      return false;
  return true;
}

/* A packed multiply-add names a vector register with all its lanes; a scalar one does not. */
static bool is_scalar(const struct line *line, const struct syntax *syntax) {
  if (syntax == &arm) return starts_with(line, syntax->scalar_fma[0]);
  const char *end = line->text + line->length - 2;
  return starts_with(line, syntax->fma) && (!strncmp(end, "ss", 2) || !strncmp(end, "sd", 2));
}

static bool touches_stack(const struct line *line, const struct syntax *syntax, bool has_frame) {
  if (!has_any(line->operands, syntax->vectors, COUNT(syntax->vectors))) return false;
  if (strstr(line->operands, syntax->stack[0])) return true;
  return has_frame && strstr(line->operands, syntax->stack[1]);
}

static struct census count_loop(const struct listing *listing, struct loop loop,
                                const struct syntax *syntax, const char *product) {
  struct census out = {0};
  for (size_t i = loop.first; i <= loop.last; i++) {
    const struct line *line = &listing->lines[i];
    if (!line->operands) continue;
    out.instructions++;
    out.scalar_fma += is_scalar(line, syntax);
    out.fma += starts_with(line, product ? product : syntax->fma) && !is_scalar(line, syntax);
    out.arithmetic += starts_with_any(line, syntax->arithmetic, COUNT(syntax->arithmetic));
    out.calls += starts_with(line, syntax->call) && strncmp(line->text, "ble", 3) &&
                 strncmp(line->text, "blt", 3) && strncmp(line->text, "bls", 3);
    out.stack += touches_stack(line, syntax, listing->has_frame);
  }
  return out;
}

/* -- subjects */

/* Who compiles, for what, and how. */
struct workshop {
  struct ctx ctx;
  const struct maker *maker;
  struct compiler compiler;
  struct target target;
  struct isa isa;
  char folder[4096];
  struct listing listing;
};

/* Whether the compiler finds its target's headers: some are installed without a C library. */
static bool has_headers(struct workshop *w) {
  static const char probe[] = "#include <math.h>\n#include <stdint.h>\n";
  struct arguments arguments = {0};
  assert_int_equal(put_file(&w->ctx, w->folder, "probe.c", probe, sizeof probe - 1), HONE_OK);
  compiler_flags(&w->compiler, &w->target, false, UNIT_VECTORS, &arguments);
  const char *const rest[] = {"-S", "-o", "probe.s", "probe.c", NULL};
  arguments_add(&arguments, rest);
  uint64_t deadline = clock_ns() + 600000000000ULL;
  return !tool_run(&w->ctx, &arguments, w->folder, deadline, "probe.s", NULL, NULL);
}

/* False if the maker is not here; *out_missing says what it lacks. */
static bool open_workshop(struct workshop *w, const struct maker *maker, const char **out_missing) {
  ctx_init(&w->ctx);
  w->maker = maker;
  *out_missing = maker->cc;
  hone_status status = compiler_find(&w->ctx, maker->cc, maker->triple, &w->compiler);
  if (status == HONE_E_MISSING || status == HONE_E_USAGE) return false;
  assert_int_equal(status, HONE_OK);
  assert_int_equal(target_init(&w->ctx, maker->triple, maker->level, &w->target), HONE_OK);
  w->isa = (struct isa){.name = maker->level};
  kernel_target_init(&w->isa.target, &w->target, 2);
  *out_missing = "the C library's headers of its target";
  return has_headers(w);
}

/* folder/k.c to folder/k.s, as generated code is compiled; the text of the latter. */
static char *compile_to_assembly(struct workshop *w, const struct kernel *kernel,
                                 const struct strbuf *text) {
  const enum unit_kind kind = kernel->traits & UNROLLS_LATE ? UNIT_TILES : UNIT_VECTORS;
  struct arguments arguments = {0};
  struct mapping file;
  char path[4200];
  assert_int_equal(put_file(&w->ctx, w->folder, "k.c", text->at, text->length), HONE_OK);
  compiler_flags(&w->compiler, &w->target, false, kind, &arguments);
  const char *const rest[] = {"-S", "-o", "k.s", "k.c", NULL};
  arguments_add(&arguments, rest);
  hone_status status =
      tool_run(&w->ctx, &arguments, w->folder, clock_ns() + 300000000000ULL, "k.s", NULL, NULL);
  if (status) print_error("%s\n", w->ctx.message);
  assert_int_equal(status, HONE_OK);
  snprintf(path, sizeof path, "%s/k.s", w->folder);
  assert_int_equal(file_map(&w->ctx, path, &file), HONE_OK);
  char *copy = malloc(file.size + 1);
  assert_non_null(copy);
  memcpy(copy, file.data, file.size);
  copy[file.size] = 0;
  file_unmap(&file);
  return copy;
}

static int expected_fma(const struct subject *subject, const struct problem *problem,
                        const struct choice *choice, const struct isa *isa) {
  struct kernel_define defines[KERNEL_DEFINES_MAX];
  int count = choice->kernel->defines(problem, &isa->target, choice, defines);
  int product = subject->more.products ? subject->more.products : 1, found = 0;
  for (size_t i = 0; i < COUNT(subject->factors) && subject->factors[i]; i++, found--) {
    for (int k = 0; k < count; k++)
      if (!strcmp(defines[k].name, subject->factors[i])) {
        product *= (int)defines[k].value;
        found++;
      }
    if (!strcmp(subject->factors[i], "KW")) product *= (int)problem->kw, found++;
  }
  assert_int_equal(found, 0); /* every factor is one define */
  return product;
}

/* Prints a row of the census; false if the loop is not what it should be. */
static bool judge(const struct listing *listing, const struct maker *maker,
                  const struct subject *subject, int expected) {
  struct census hottest = {0};
  int stack = 0;
  for (size_t i = 0; i < listing->loop_count; i++) {
    if (!is_innermost(listing, i)) continue;
    struct census census =
        count_loop(listing, listing->loops[i], maker->syntax, subject->more.instruction);
    if (!census.fma || census.arithmetic) continue;
    if (2 * census.fma >= expected) stack += census.stack; /* smaller tiles at the edges too */
    if (census.fma > hottest.fma) hottest = census;
  }
  bool ok =
      hottest.fma && hottest.fma % expected == 0 && !stack && !hottest.scalar_fma && !hottest.calls;
  print_message("%-12s %-18s %4d instructions %4d fma (tile %3d) %2d stack %d scalar %d calls%s\n",
                maker->title, subject->kernel, hottest.instructions, hottest.fma, expected, stack,
                hottest.scalar_fma, hottest.calls, ok ? "" : "  <--");
  if (!ok) print_message("  %s\n", subject->problem);
  return ok;
}

static bool examine(struct workshop *w, const struct subject *subject) {
  struct problem problem;
  struct strbuf text = {0};
  const struct kernel *kernel = kernel_find(subject->kernel);
  assert_non_null(kernel);
  assert_true(problem_parse(subject->problem, &problem));
  struct choice choice;
  assert_true(kernel_serves(kernel, &problem, &w->isa.target));
  assert_true(kernel_choose_in(kernel, &problem, &w->isa.target, &choice));
  snippet_begin(&text, &w->isa);
  snippet_add(&text, &w->isa, &problem, &choice, 0, NULL);
  assert_int_equal(strbuf_finish(&w->ctx, &text), HONE_OK);
  char *assembly = compile_to_assembly(w, kernel, &text);
  strbuf_deinit(&text);
  w->listing.has_frame = strstr(assembly, "%rsp, %rbp") || strstr(assembly, "mov\tx29, sp");
  read_lines(&w->listing, assembly);
  find_loops(&w->listing, w->maker->syntax);
  bool ok =
      judge(&w->listing, w->maker, subject, expected_fma(subject, &problem, &choice, &w->isa));
  free(assembly);
  return ok;
}

static void hottest_loops_are_clean(void **state) {
  static struct workshop w;
  int failures = 0, examined = 0;
  (void)state;
  ctx_init(&w.ctx);
  assert_int_equal(dir_temporary(&w.ctx, w.folder), HONE_OK);
  for (size_t m = 0; m < COUNT(makers); m++) {
    const char *missing;
    if (!open_workshop(&w, &makers[m], &missing)) {
      print_message("skipped: census of %s needs %s\n", makers[m].title, missing);
      continue;
    }
    for (size_t i = 0; i < COUNT(subjects); i++)
      if (is_asked(&makers[m], &subjects[i])) failures += !examine(&w, &subjects[i]);
    examined++;
  }
  dir_remove_tree(w.folder);
  assert_int_equal(failures, 0);
  assert_true(examined > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(hottest_loops_are_clean)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
