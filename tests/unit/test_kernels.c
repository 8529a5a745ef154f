/* Every row of kernels.def on a table of problems, for each instruction set that this machine runs.
 * The source is compiled as the emitter writes it and compared with scalar loops in double.
 * Operands end at guard pages. Any split of the work items must give the same bits, and elements
 * outside the output must not change. */

#include <dlfcn.h>
#include <stdlib.h>

#include "compiler/kernels/reference.h"
#include "guarded.h"
#include "kernel_snippet.h"
#include "scratch.h"

static const char *const lines[] = {
#define PROBLEM(line) line,
#include "kernel_problems.def"
#undef PROBLEM
};
enum { PROBLEM_LINES = sizeof lines / sizeof lines[0] };

/* Name of the function that row `kernel` becomes for line `index`. */
static int job_number(int index, const struct kernel *kernel) {
  return index * (int)kernel_count + (int)(kernel - kernel_table);
}
static bool serves(const struct kernel *kernel, const struct problem *p, const struct isa *isa) {
  return kernel_serves(kernel, p, &isa->target);
}

#define fail_with(...) (print_error(__VA_ARGS__), print_error("\n"), _fail(__FILE__, __LINE__))

static struct guarded guarded_floats(int64_t count) {
  return guarded_create((size_t)count * sizeof(float));
}
static const float *floats_of(const struct guarded *g) { return g->at; }

static void fill(struct guarded *g, int64_t count, uint32_t seed) {
  uint32_t x = seed * 2654435761u + 1;
  float *at = g->at;
  for (int64_t i = 0; i < count; i++) {
    x = x * 1664525u + 1013904223u;
    at[i] = (float)(int32_t)x * 0x1p-31f;
  }
}

#define UNTOUCHED 12352.0f /* a bf16 too */

/* bf16: the values in `floats` are rounded, and stored as such in *out. */
static struct guarded to_halves(float *floats, int64_t count) {
  struct guarded g = guarded_create((size_t)count * 2);
  for (int64_t i = 0; i < count; i++) {
    uint16_t half = f32_to_bf16(floats[i]);
    memcpy((char *)g.at + 2 * i, &half, 2);
    floats[i] = bf16_to_f32(half);
  }
  return g;
}
static void from_halves(const struct guarded *halves, float *floats, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    uint16_t half;
    memcpy(&half, (const char *)halves->at + 2 * i, 2);
    floats[i] = bf16_to_f32(half);
  }
}

/* Every element UNTOUCHED. */
static void clear(void *at, uint8_t type, int64_t count) {
  const float value = UNTOUCHED;
  const uint16_t half = f32_to_bf16(value);
  for (int64_t i = 0; i < count; i++)
    memcpy((char *)at + (size_t)i * element_bytes(type),
           type == TYPE_BF16 ? (const void *)&half : &value, element_bytes(type));
}
/* Bias by column, residual by element, ReLU: everything an epilogue may ask for. Of one column the bias is one element,
   and the lanes may be pixels. */
#define TEST_EPILOGUE_OF(bias, first) \
  "max_((x) + " bias " + load_lanes_((const float *)e[" first " + 1] + (o), lanes), splat_(0.0f))"
#define TEST_EPILOGUE(first) \
  TEST_EPILOGUE_OF("load_lanes_((const float *)e[" first "] + (j), lanes)", first)

static const char *test_epilogue(const struct problem *p, int index) {
  if (index % 2 == 0) return NULL;
  if (p->kind == PROBLEM_conv && p->oc == 1)
    return TEST_EPILOGUE_OF("splat_(*(const float *)e[0])", "0");
  return p->kind == PROBLEM_layernorm ? TEST_EPILOGUE("1") : TEST_EPILOGUE("0");
}

/* Runs all units in one piece, then in pieces of uneven size: the same bits. */
static void run_splits(kernel_function *run, int64_t units, const void *a, const float *b, void *c,
                       uint8_t type, int64_t count, const void *const *e, float *scratch) {
  const size_t bytes = (size_t)count * element_bytes(type);
  void *first = malloc(bytes);
  assert_non_null(first);
  clear(c, type, count);
  for (int64_t begin = 0, step = 1; begin < units; begin += step++)
    run(a, b, c, e, scratch, begin, begin + step < units ? begin + step : units);
  memcpy(first, c, bytes);
  clear(c, type, count);
  run(a, b, c, e, scratch, 0, units);
  assert_memory_equal(first, c, bytes);
  free(first);
}

/* The operands of the test's epilogue; bias NULL: it has none. */
struct fused {
  const float *bias, *residual;
};
static double fused_value(const struct problem *p, const struct fused *fused, int64_t o,
                          double value) {
  if (!fused->bias) return value;
  value += (double)fused->bias[problem_column(p, o)] + (double)fused->residual[o];
  return value > 0 ? value : 0;
}

static void compare(const struct isa *isa, const char *line, const struct problem *p,
                    const struct wanted *w, const struct guarded *c, int64_t count,
                    const struct fused *fused) {
  for (int64_t o = 0; o < count; o++) {
    double got = (double)floats_of(c)[o], value = w->value[o], bound = w->bound[o];
    if (bound < 0) {
      if (floats_of(c)[o] != UNTOUCHED)
        fail_with("%s: %s: wrote outside at %lld", isa->name, line, (long long)o);
      continue;
    }
    if (fused->bias) bound += 4 * UNIT_ROUNDOFF * (fabs(value) + 2);
    value = fused_value(p, fused, o, value);
    if (p->types.c == TYPE_BF16) bound += fabs(value) * 0x1p-8;
    if (!(fabs(got - value) <= bound))
      fail_with("%s: %s: element %lld is %.9g, expected %.9g (bound %.3g)", isa->name, line,
                (long long)o, got, value, bound);
  }
}

/* Winograd's error is that of its tile, and larger: everywhere the largest bound, four times. */
static void loosen(struct wanted *w, int64_t count) {
  double most = 0;
  for (int64_t i = 0; i < count; i++) most = fmax(most, w->bound[i]);
  for (int64_t i = 0; i < count; i++)
    if (w->bound[i] >= 0) w->bound[i] = 4 * most;
}

/* Relative L2 error, with and without the epilogue: well below the 1e-4 that a whole model may
   have. Elements that the epilogue makes zero on both sides do not count. */
static void check_norm(const struct isa *isa, const char *line, const struct kernel *kernel,
                       const struct wanted *w, const struct guarded *c, int64_t count,
                       const struct problem *p, const struct fused *fused) {
  double off = 0, size = 0;
  for (int64_t i = 0; i < count; i++) {
    if (w->bound[i] < 0) continue;
    double value = fused_value(p, fused, i, w->value[i]);
    off += ((double)floats_of(c)[i] - value) * ((double)floats_of(c)[i] - value);
    size += value * value;
  }
  double relative = size > 0 ? sqrt(off / size) : sqrt(off);
  if (getenv("HONE_TEST_VERBOSE"))
    printf("%s %s %.2g %s\n", isa->name, kernel->name, relative, line);
  if (!(relative <= (p->types.c == TYPE_BF16 ? 3e-3 : 4e-6)))
    fail_with("%s: %s: %s: relative L2 error %.3g", isa->name, kernel->name, line, relative);
}

/* In-place output, where kernel->traits allow it: c written over a, or over the residual, which has
   the same layout as c, must have the same bits. `c`: the output in a buffer of its own. */
static void run_in_place(const struct kernel *kernel, const struct problem *p,
                         const struct kernel_target *target, const struct choice *choice,
                         kernel_function *run, const struct guarded *a, const void *b,
                         const struct guarded *c, int64_t count, const void *const *e,
                         size_t residual, float *scratch) {
  const size_t bytes = (size_t)count * sizeof(float);
  const long units = (long)kernel->units(p, target, choice);
  const void *own[3] = {e[0], e[1], residual > 1 ? e[2] : NULL};
  bool operands = kernel->traits & OVER_OPERANDS || (kernel->traits & OVER_OPERANDS_OF_WHOLE &&
                                                     kernel_sums_at_once(p, target, choice));
  if (p->types.a != TYPE_F32 || p->types.c != TYPE_F32) return;
  struct guarded place = guarded_floats(count);
  if (kernel->traits & OVER_A && p->i_stride == p->o_stride) {
    memcpy(place.at, a->at, bytes);
    run(place.at, b, place.at, e, scratch, 0, units);
    if (p->i_stride == p->columns) assert_memory_equal(place.at, c->at, bytes);
  }
  if (operands && residual) {
    memcpy(place.at, e[residual], bytes);
    own[residual] = place.at;
    run(a->at, b, place.at, own, scratch, 0, units);
    for (int64_t i = 0; i < count; i++)
      if (floats_of(c)[i] != UNTOUCHED) assert_true(floats_of(&place)[i] == floats_of(c)[i]);
  }
  guarded_destroy(&place);
}

static void run_problem(const struct isa *isa, void *library, int index,
                        const struct kernel *kernel) {
  struct problem p;
  assert_true(problem_parse(lines[index], &p));
  struct operand_counts n = problem_counts(&p);
  char name[32];
  snprintf(name, sizeof name, "run_%d", job_number(index, kernel));
  kernel_function *run = (kernel_function *)dlsym(library, name);
  assert_non_null(run);

  struct choice choice;
  assert_true(kernel_choose_in(kernel, &p, &isa->target, &choice));
  size_t packed_bytes = kernel->pack ? kernel->packed_bytes(&p, &isa->target, &choice) : 0;
  struct guarded a = guarded_floats(n.a), b = guarded_floats(n.b), c = guarded_floats(n.c);
  struct guarded packed = guarded_floats((int64_t)(packed_bytes / sizeof(float)));
  struct guarded norm_bias = guarded_floats(n.columns), bias = guarded_floats(n.columns);
  struct guarded residual = guarded_floats(n.c);
  size_t scratch_bytes =
      kernel->scratch_bytes ? kernel->scratch_bytes(&p, &isa->target, &choice) : 0;
  struct guarded scratch = guarded_floats((int64_t)(scratch_bytes / sizeof(float)));
  fill(&a, n.a, 1), fill(&b, n.b, 2), fill(&norm_bias, n.columns, 3);
  fill(&bias, n.columns, 4), fill(&residual, n.c, 5);
  if (kernel->pack) kernel->pack(&p, &isa->target, &choice, b.at, packed.at);
  if (kernel->pack_source &&
      !(kernel->traits & SPLITS_A)) { /* the packing at run time gives the same bytes */
    struct guarded again = guarded_floats((int64_t)(packed_bytes / sizeof(float)));
    snprintf(name, sizeof name, "pack_%d", job_number(index, kernel));
    pack_function *pack = (pack_function *)dlsym(library, name);
    assert_non_null(pack);
    pack(b.at, again.at, 0, kernel->pack_units(&p, &isa->target, &choice));
    assert_memory_equal(again.at, packed.at, packed_bytes);
    guarded_destroy(&again);
  }
  const void *norm_e[] = {norm_bias.at, bias.at, residual.at}, *e[] = {bias.at, residual.at};
  struct guarded a_half = to_halves(p.types.a == TYPE_BF16 ? a.at : NULL,
                                    p.types.a == TYPE_BF16 ? n.a : 0),
                 c_half = guarded_create(p.types.c == TYPE_BF16 ? (size_t)n.c * 2 : 0);
  run_splits(run, kernel->units(&p, &isa->target, &choice),
             p.types.a == TYPE_BF16 ? a_half.at : a.at, kernel->pack ? packed.at : b.at,
             p.types.c == TYPE_BF16 ? c_half.at : c.at, p.types.c, n.c,
             p.kind == PROBLEM_layernorm ? norm_e : e, scratch.at);
  if (p.types.c == TYPE_BF16) from_halves(&c_half, c.at, n.c);
  run_in_place(kernel, &p, &isa->target, &choice, run, &a, kernel->pack ? packed.at : b.at, &c, n.c,
               p.kind == PROBLEM_layernorm ? norm_e : e,
               !test_epilogue(&p, index)     ? 0
               : p.kind == PROBLEM_layernorm ? 2
                                             : 1,
               scratch.at);

  struct wanted w = {malloc((size_t)n.c * sizeof(double)), malloc((size_t)n.c * sizeof(double))};
  assert_non_null(w.value);
  assert_non_null(w.bound);
  for (int64_t i = 0; i < n.c; i++) w.bound[i] = -1;
  reference_problem(&p, a.at, b.at, norm_bias.at, &w);
  if (strstr(kernel->name, "winograd")) loosen(&w, n.c);
  const struct fused fused = {test_epilogue(&p, index) ? bias.at : NULL, residual.at};
  check_norm(isa, lines[index], kernel, &w, &c, n.c, &p, &fused);
  compare(isa, lines[index], &p, &w, &c, n.c, &fused);
  free(w.value), free(w.bound);
  struct guarded *all[] = {&a,    &b,        &c,       &packed, &norm_bias,
                           &bias, &residual, &scratch, &a_half, &c_half};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) guarded_destroy(all[i]);
}

static void *load(struct ctx *ctx, const struct isa *isa, const char *name, struct strbuf *text) {
  char path[4300];
  if (snippet_compile(ctx, isa, folder, name, text)) fail_with("%s", ctx->message);
  strbuf_deinit(text);
  snprintf(path, sizeof path, "%s/%s.so", folder, name);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) fail_with("%s", dlerror());
  return library;
}

/* Few rows a library: a change of one kernel is compiled again with few others. */
enum { ROWS_AT_ONCE = 5 };

/* `make test` takes half of the problems at instruction sets narrower than the widest one here. */
static bool is_left_out(const struct isa *isa, int problem) {
  return !getenv("HONE_TEST_FULL") && isa != &isas[widest_isa()] && (problem + (isa - isas)) % 2;
}

/* Every problem by those of the rows first to end - 1 that serve it. */
static void check_rows(const struct isa *isa, size_t first, size_t end) {
  struct ctx ctx;
  struct strbuf text = {0};
  int count = 0;
  char name[64];
  ctx_init(&ctx);
  snippet_begin(&text, isa);
  for (int i = 0; i < PROBLEM_LINES; i++) {
    struct problem p;
    struct choice choice;
    assert_true(problem_parse(lines[i], &p));
    for (size_t k = first; k < end && !is_left_out(isa, i); k++) {
      if (!serves(&kernel_table[k], &p, isa)) continue;
      assert_true(kernel_choose_in(&kernel_table[k], &p, &isa->target, &choice));
      snippet_add(&text, isa, &p, &choice, job_number(i, &kernel_table[k]), test_epilogue(&p, i));
      count++;
    }
  }
  snprintf(name, sizeof name, "%s-%zu", isa->name, first);
  void *library = count ? load(&ctx, isa, name, &text) : NULL;
  if (!count) strbuf_deinit(&text);
  for (int i = 0; i < PROBLEM_LINES; i++)
    for (size_t k = first; k < end && !is_left_out(isa, i); k++) {
      struct problem p;
      assert_true(problem_parse(lines[i], &p));
      if (serves(&kernel_table[k], &p, isa)) run_problem(isa, library, i, &kernel_table[k]);
    }
  if (library) dlclose(library);
}

static void check_isa(const struct isa *isa) {
  if (!isa_runs_here(isa)) skip();
  for (int i = 0; i < PROBLEM_LINES; i++) {
    struct problem p;
    struct choice choice;
    if (!problem_parse(lines[i], &p)) fail_with("not a problem line: %s", lines[i]);
    if (!kernel_choose(&p, &isa->target, &choice)) fail_with("no kernel accepts: %s", lines[i]);
  }
  for (size_t first = 0; first < kernel_count; first += ROWS_AT_ONCE) {
    const size_t end = first + ROWS_AT_ONCE;
    check_rows(isa, first, end < kernel_count ? end : kernel_count);
  }
}
static void test_sse2(void **state) { (void)state, check_isa(&isas[0]); }
static void test_avx2(void **state) { (void)state, check_isa(&isas[1]); }
static void test_avx512(void **state) { (void)state, check_isa(&isas[2]); }
static void test_avx512bf16(void **state) { (void)state, check_isa(&isas[3]); }

/* Every row of the table has at least one problem in the list. */
static void test_rows_are_covered(void **state) {
  (void)state;
  for (size_t row = 0; row < kernel_count; row++) {
    int covered = kernel_table[row].types.b != 1 << TYPE_F32; /* test_typed_kernels.c has those */
    /* whole nodes of the graph: tests/compile/attention-forms.hg, recurrent.hg */
    covered |= kernel_table[row].kind == PROBLEM_attention;
    covered |= kernel_table[row].kind == PROBLEM_recurrent;
    for (int i = 0; i < PROBLEM_LINES; i++) {
      struct problem p;
      assert_true(problem_parse(lines[i], &p));
      for (int k = 0; k < ISA_COUNT; k++) covered += serves(&kernel_table[row], &p, &isas[k]);
    }
    if (!covered) fail_with("no problem for %s", kernel_table[row].name);
    assert_ptr_equal(kernel_find(kernel_table[row].name), &kernel_table[row]);
    assert_non_null(kernel_source(kernel_table[row].source, NULL));
  }
  assert_null(kernel_find("nothing"));
  assert_null(kernel_source("nothing.c", NULL));
}

static void test_problem_lines(void **state) {
  (void)state;
  char out[512];
  for (int i = 0; i < PROBLEM_LINES; i++) {
    struct problem p, again;
    assert_true(problem_parse(lines[i], &p));
    int length = problem_print(out, sizeof out, &p);
    assert_int_equal(length, (int)strlen(out));
    assert_true(problem_parse(out, &again));
    assert_memory_equal(&p, &again, sizeof p);
    assert_int_equal(problem_print(NULL, 0, &p), length);
    assert_int_equal(problem_print(out, 8, &p), length);
  }
  static const char *const bad[] = {"",
                                    "gemm",
                                    "gemm f99 m1",
                                    "gemm u8*i8:i32 m1",
                                    "gemm u8*i8:i32: m1",
                                    "gemm u8*i9:i32:f32 m1",
                                    "gemm u8:i8:i32:f32 m1",
                                    "gemm f32 m",
                                    "gemm f32 oh3",
                                    "gemm f32 zz1",
                                    "gemm f32 m12x",
                                    "gemm f32 m99999999999999999999",
                                    "nothing f32"};
  struct problem p;
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) assert_false(problem_parse(bad[i], &p));
}

/* Every way that a row offers for a problem fits it, prints and parses back. */
static void check_choices(const struct kernel *kernel, const struct problem *p,
                          const struct isa *isa, int *seen) {
  struct choice choice = {.kernel = kernel}, best, again;
  char text[512];
  assert_true(kernel_choose_in(kernel, p, &isa->target, &best));
  for (int i = 0; kernel->enumerate(p, &isa->target, i, &choice); i++, ++*seen) {
    int length = choice_print(text, sizeof text, &choice);
    assert_int_equal(length, (int)strlen(text));
    assert_int_equal(choice_print(NULL, 0, &choice), length);
    assert_true(choice_parse(text, &again));
    assert_ptr_equal(again.kernel, kernel);
    assert_memory_equal(again.value, choice.value, sizeof choice.value);
    if (!kernel->fits(p, &isa->target, &again)) fail_with("does not fit itself: %s", text);
    assert_true(again.cost >= choice.cost && again.cost <= choice.cost);
    assert_true(best.cost <= choice.cost * 1.04);
    choice = (struct choice){.kernel = kernel};
  }
}

static void test_choices(void **state) {
  (void)state;
  int seen = 0;
  struct problem p;
  for (int i = 0; i < PROBLEM_LINES; i++)
    for (size_t k = 0; k < kernel_count; k++)
      for (int isa = 0; isa < ISA_COUNT; isa++) {
        assert_true(problem_parse(lines[i], &p));
        if (serves(&kernel_table[k], &p, &isas[isa]))
          check_choices(&kernel_table[k], &p, &isas[isa], &seen);
      }
  assert_true(seen > 3 * PROBLEM_LINES);
  static const char *const malformed[] = {"",
                                          "gemm_f33",
                                          "gemm_f32 vectors",
                                          "gemm_f32 vectorsx",
                                          "gemm_f32 vectors2x",
                                          "gemm_f32 out2",
                                          "gemm_f32 vectors99999999999999999999"};
  struct choice choice;
  for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++)
    assert_false(choice_parse(malformed[i], &choice));
}

/* What no text can do is refused; the values alone would write outside. */
static void test_unfitting_choices(void **state) {
  (void)state;
  static const char *const bad[][2] = {
      {"gemm f32 m8 n32 k16 a_row16 b_row32 b_column1 c_row32", "gemm_f32"},
      {"gemm f32 m8 n32 k16 a_row16 b_row32 b_column1 c_row32",
       "gemm_f32 vectors2 tile_rows2 tile_columns4 k_unroll1 tap_block1 depth_block16 unit_tiles1 "
       "unit_panels1"},
      {"gemm f32 m8 n32 k16 a_row16 b_row32 b_column1 c_row32",
       "gemm_f32 vectors2 tile_rows1 tile_columns7 k_unroll1 tap_block1 depth_block16 unit_tiles3 "
       "unit_panels1"},
      {"gemm f32 m10 n32 k16 a_row16 b_row32 b_column1 c_row32",
       "gemm_f32 vectors2 tile_rows1 tile_columns8 k_unroll1 tap_block1 depth_block16 unit_tiles1 "
       "unit_panels1"},
      {"gemm f32 m8 n32 k16 a_row16 b_row32 b_column1 c_row32",
       "gemm_f32 vectors8 tile_rows1 tile_columns8 k_unroll8 tap_block1 depth_block16 unit_tiles1 "
       "unit_panels1"},
      {"depthwise f32 images1 ih14 iw14 ic32 oh14 ow14 oc32 kh3 kw3 sh1 sw1 dh1 dw1 pt1 pl1 "
       "i_image6272 i_row448 i_pixel32 o_image6272 o_row448 o_pixel32",
       "depthwise_f32 block13 channels32"},
      {"conv f32 images1 ih16 iw16 ic16 oh14 ow14 oc16 kh3 kw3 sh1 sw1 dh1 dw1 groups1 "
       "i_image4096 i_row256 i_pixel16 o_image3136 o_row224 o_pixel16",
       "conv_winograd_f32 out3 vectors2 block4 group4 unit_panels1"}};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    struct problem p;
    struct choice choice;
    assert_true(problem_parse(bad[i][0], &p));
    assert_true(choice_parse(bad[i][1], &choice));
    if (choice.kernel->fits(&p, &isas[1].target, &choice)) fail_with("fits: %s", bad[i][1]);
  }
}

/* A row that predicts nothing comes after all that predict. */
static void test_costs(void **state) {
  (void)state;
  for (int i = 0; i < PROBLEM_LINES; i++) {
    struct problem p;
    struct choice chosen, other;
    assert_true(problem_parse(lines[i], &p));
    assert_true(kernel_choose(&p, &isas[2].target, &chosen));
    for (size_t k = 0; k < kernel_count; k++) {
      if (!serves(&kernel_table[k], &p, &isas[2])) continue;
      assert_true(kernel_choose_in(&kernel_table[k], &p, &isas[2].target, &other));
      if (other.cost > 0) assert_true(chosen.cost > 0 && chosen.cost <= other.cost);
    }
    if (p.kind == PROBLEM_gemm || p.kind == PROBLEM_conv) assert_true(chosen.cost > 0);
  }
}

/* Weights that L2 holds: each few rows meet all panels. Others: as many panels as half of it holds meet all rows, or, where
   L2 does not hold those, blocks of rows that it holds meet one panel after the other. */
static void test_rows_meet_weights_in_l2(void **state) {
  (void)state;
  static const struct {
    const char *line;
    int64_t panels, least_tiles, most_tiles; /* of a unit */
    int64_t rows_first;
  } cases[] = {
      {"gemm f32 m256 n1024 k256 batch01 batch11 a_row256 b_row1024 b_column1 b_batches1 c_row1024",
       32, 1, 1, 0},
      {"conv f32 images1 ih56 iw56 ic64 oh56 ow56 oc256 kh1 kw1 sh1 sw1 dh1 dw1 groups1 "
       "i_image200704 i_row3584 i_pixel64 o_image802816 o_row14336 o_pixel256",
       8, 2, 6, 0},
      {"gemm f32 m197 n3072 k768 batch01 batch11 a_row768 b_row3072 b_column1 b_batches1 c_row3072",
       1, 14, 16, 0},
      {"gemm f32 m1024 n768 k768 batch01 batch11 a_row768 b_row768 b_column1 b_batches1 c_row768",
       1, 18, 20, 1},
      {"gemm f32 m197 n768 k3072 batch01 batch11 a_row3072 b_row768 b_column1 b_batches1 c_row768",
       1, 4, 9, 0},
      {"gemm f32 m1024 n768 k3072 batch01 batch11 a_row3072 b_row768 b_column1 b_batches1 c_row768",
       1, 9, 9, 0},
      {"gemm f32 m1024 n2048 k2048 batch01 batch11 a_row2048 b_row2048 b_column1 b_batches1 "
       "c_row2048",
       2, 13, 13, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct kernel_target target = isas[2].target;
    struct problem p;
    struct choice chosen;
    target.l1_bytes = 48 << 10;
    target.l2_bytes = 2 << 20;
    target.threads = 2;
    assert_true(problem_parse(cases[i].line, &p));
    assert_true(kernel_choose_in(kernel_find(p.kind == PROBLEM_gemm ? "gemm_f32" : "conv_f32"), &p,
                                 &target, &chosen));
    assert_int_equal(choice_value(&chosen, "unit_panels", 0), cases[i].panels);
    assert_in_range(choice_value(&chosen, "unit_tiles", 0), cases[i].least_tiles,
                    cases[i].most_tiles);
    assert_int_equal(choice_value(&chosen, "rows_first", 0), cases[i].rows_first);
  }
}

/* The choice among kernel parameters with equal predictions, or with none. */
static void test_usual_choices(void **state) {
  (void)state;
  static const struct {
    int isa;
    const char *kernel, *line, *name;
    int64_t value;
  } cases[] = {
      {2, "gemm_f32", "gemm f32 m4 n512 k512 a_row512 b_row512 b_column1 b_batches1 c_row512",
       "vectors", 4},
      {2, "gemm_f32", "gemm f32 m2 n512 k512 a_row512 b_row512 b_column1 b_batches1 c_row512",
       "vectors", 4},
      {2, "gemm_f32", "gemm f32 m14 n512 k512 a_row512 b_row512 b_column1 b_batches1 c_row512",
       "vectors", 2},
      /* shares of two threads: four panels of three, not three of four */
      {2, "gemm_f32", "gemm f32 m4 n192 k512 a_row512 b_row192 b_column1 b_batches1 c_row192",
       "vectors", 3},
      {1, "gemm_f32", "gemm f32 m4 n512 k512 a_row512 b_row512 b_column1 b_batches1 c_row512",
       "vectors", 3},
      {3, "gemm_i8",
       "gemm u8*i8:i32:f32 m4 n512 k512 a_row512 b_row512 b_column1 b_batches1 c_row512", "vectors",
       4},
      {2, "depthwise_f32",
       "depthwise f32 images1 ih112 iw112 ic96 oh56 ow56 oc96 kh3 kw3 sh2 sw2 dh1 dw1 pt1 pl1 "
       "i_image1204224 i_row10752 i_pixel96 o_image301056 o_row5376 o_pixel96",
       "channels", 96},
      {2, "depthwise_f32",
       "depthwise f32 images1 ih14 iw14 ic384 oh14 ow14 oc384 kh3 kw3 sh1 sw1 dh1 dw1 pt1 pl1 "
       "i_image75264 i_row5376 i_pixel384 o_image75264 o_row5376 o_pixel384",
       "channels", 144},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct problem p;
    struct choice chosen;
    assert_true(problem_parse(cases[i].line, &p));
    assert_true(
        kernel_choose_in(kernel_find(cases[i].kernel), &p, &isas[cases[i].isa].target, &chosen));
    assert_int_equal(choice_value(&chosen, cases[i].name, 0), cases[i].value);
  }
}

/* k in the lanes where it fills them better than the channels do. */
static void test_few_channels(void **state) {
  (void)state;
  static const struct {
    int isa;
    const char *line, *kernel;
  } cases[] = {
#define FEW(oc, strides)                            \
  "conv f32 images1 ih66 iw66 ic32 oh64 ow64 oc" oc \
  " kh3 kw3 sh1 sw1 dh1 dw1 groups1 "               \
  "i_image139392 i_row2112 i_pixel32 " strides
      {2, FEW("1", "o_image4096 o_row64 o_pixel1"), "conv_small_oc_f32"},
      {2, FEW("3", "o_image12288 o_row192 o_pixel3"), "conv_small_oc_f32"},
      {2, FEW("16", "o_image65536 o_row1024 o_pixel16"), "conv_winograd_f32"},
      {1, FEW("3", "o_image12288 o_row192 o_pixel3"), "conv_small_oc_f32"},
      {0, FEW("1", "o_image4096 o_row64 o_pixel1"), "conv_small_oc_f32"},
      {0, FEW("4", "o_image16384 o_row256 o_pixel4"), "conv_f32"},
      {2,
       "conv f32 images1 ih66 iw66 ic1 oh64 ow64 oc8 kh3 kw3 sh1 sw1 dh1 dw1 groups1 "
       "i_image4356 i_row66 i_pixel1 o_image32768 o_row512 o_pixel8",
       "conv_f32"},
#undef FEW
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct problem p;
    struct choice chosen;
    assert_true(problem_parse(cases[i].line, &p));
    assert_true(kernel_choose(&p, &isas[cases[i].isa].target, &chosen));
    if (strcmp(chosen.kernel->name, cases[i].kernel))
      fail_with("%s: %s", cases[i].line, chosen.kernel->name);
  }
}

/* Rows of a that are whole pages apart meet in one set of L1: tiles of no more of them than it holds, where more would
   be as good by themselves. */
static void test_tiles_stay_in_a_set(void **state) {
  (void)state;
  static const struct {
    const char *line;
    int64_t least, most; /* pixels of a tile; 12 lines in a set */
  } cases[] = {
      {"gemm f32 m256 n256 k1024 batch01 batch11 a_row1024 b_row256 b_column1 b_batches1 c_row256",
       1, 12},
      {"gemm f32 m256 n256 k1024 batch01 batch11 a_row1040 b_row256 b_column1 b_batches1 c_row256",
       13, 28},
      {"conv f32 images1 ih7 iw7 ic2048 oh7 ow7 oc512 kh1 kw1 sh1 sw1 dh1 dw1 groups1 "
       "i_image100352 "
       "i_row14336 i_pixel2048 o_image25088 o_row3584 o_pixel512",
       1, 12},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct problem p;
    struct choice chosen;
    char text[512], *at;
    assert_true(problem_parse(cases[i].line, &p));
    assert_true(kernel_choose_in(kernel_find(p.kind == PROBLEM_gemm ? "gemm_f32" : "conv_f32"), &p,
                                 &isas[2].target, &chosen));
    choice_print(text, sizeof text, &chosen);
    at = strstr(text, "tile_rows");
    assert_non_null(at);
    const int64_t rows = strtoll(at + strlen("tile_rows"), NULL, 10);
    at = strstr(text, "tile_columns");
    assert_non_null(at);
    assert_in_range(rows * strtoll(at + strlen("tile_columns"), NULL, 10), cases[i].least,
                    cases[i].most);
  }
}

/* -- The helpers of simd.h against double libm */
static const struct function {
  const char *name;
  double (*exact)(double);
  float low, high;
  double ulps;
} functions[] = {
    {"exp_", exp, -110, 95, 4},       {"log_", log, 0, 1e38f, 4},
    {"tanh_", tanh, -12, 12, 6},      {"erf_", erf, -6, 6, 5},
    {"sqrt_", sqrt, 0, 1e30f, 1},     {"sin_", sin, -30, 30, 2},
    {"atan_", atan, -30, 30, 2},      {"floor_", floor, -1e7f, 1e7f, 0},
    {"ceil_", ceil, -1e7f, 1e7f, 0},  {"trunc_", trunc, -1e7f, 1e7f, 0},
    {"round_", rint, -1e7f, 1e7f, 0}, {"abs_", fabs, -9, 9, 0},
    {"expm1_", expm1, -110, 88, 4},   {"log1p_", log1p, 0, 1, 4},
};
enum { FUNCTION_COUNT = sizeof functions / sizeof functions[0] };
static const float specials[] = {
    0.0f,       -0.0f,      1.0f,   -1.0f, 0.5f,   -0.5f,    1.5f,      2.5f, -2.5f,   0x1p-126f,
    0x1p-149f,  -0x1p-149f, 1e-40f, 3e38f, -3e38f, INFINITY, -INFINITY, NAN,  0x1p23f, -0.25f,
    8388607.5f, 1e-5f,      -1e-5f, 88.7f, -87.4f, -103.9f,  0.1f,      9.0f};

static double ulps_between(double got, double want) {
  if (isnan(got) || isnan(want)) return isnan(got) && isnan(want) ? 0 : INFINITY;
  if ((float)got == (float)want) return 0;
  int exponent;
  frexp(want, &exponent);
  return fabs(got - want) / ldexp(1, exponent - 24 < -149 ? -149 : exponent - 24);
}

static void check_function(const struct isa *isa, void *library, const struct function *f) {
  enum { COUNT = 1 << 14, SPECIALS = sizeof specials / sizeof specials[0] };
  static float x[COUNT], y[COUNT];
  for (int i = 0; i < COUNT; i++) {
    double t = (double)i / COUNT;
    x[i] = i < SPECIALS ? specials[i]
                        : (float)((double)f->low + t * ((double)f->high - (double)f->low));
    if (i >= SPECIALS && i % 2) x[i] *= (float)ldexp(1, -i % 140); /* every exponent */
  }
  char name[64];
  snprintf(name, sizeof name, "map_%s", f->name);
  void (*map)(const float *, float *, long) =
      (void (*)(const float *, float *, long))dlsym(library, name);
  assert_non_null(map);
  map(x, y, COUNT);
  for (int i = 0; i < COUNT; i++) {
    const bool is_beyond = x[i] < f->low || x[i] > f->high; /* specials */
    if (is_beyond && (f->exact == expm1 || f->exact == log1p)) continue;
    double want = f->exact((double)x[i]), off = ulps_between((double)y[i], want);
    if (!(off <= f->ulps))
      fail_with("%s: %s(%a) = %a, expected %a: %.2f ulp", isa->name, f->name, (double)x[i],
                (double)y[i], want, off);
  }
}

/* Masks, comparisons, NaN rules, masked memory: one checking function in C, 0 if all hold. */
static const char logic_source[] =
    "int logic(const float *end);\nint logic(const float *end) {\n"
    "  const vec n = splat_(NAN), one = splat_(1.0f), two = splat_(2.0f);\n"
    "#define IS(x, want) { vec t_ = (x); for (int i = 0; i < LANES; i++) if (t_[i] != (want)) "
    "return __LINE__; }\n"
    "#define NAN_(x) { vec t_ = (x); for (int i = 0; i < LANES; i++) if (t_[i] == t_[i]) return "
    "__LINE__; }\n"
    "  NAN_(max_(n, one)) NAN_(max_(one, n)) NAN_(min_(n, one)) NAN_(min_(one, n)) NAN_(sign_(n))\n"
    "  IS(one / max_(-(vec){0}, (vec){0}), -INFINITY) IS(one / min_((vec){0}, -(vec){0}), "
    "INFINITY)\n"
    "  IS(max_(one, two), 2) IS(min_(one, two), 1) IS(lt_(one, two), 1) IS(lt_(two, one), 0)\n"
    "  IS(le_(one, one), 1) IS(eq_(one, two), 0) IS(eq_(n, n), 0) IS(isnan_(n), 1) IS(isinf_(one / "
    "(vec){0}), 1)\n"
    "  IS(not_(one), 0) IS(and_(one, two), 1) IS(or_((vec){0}, (vec){0}), 0) IS(sign_(-two), -1)\n"
    "  IS(select_(lt_(one, two), one, two), 1) IS(select_((vec){0}, one, two), 2) IS(pow_(two, "
    "splat_(2.0f)), 4)\n"
    "  IS(pow_(two, splat_(0.5f)), 0x1.6a09e6p0f)\n"
    "  for (long k = 1; k <= LANES; k++) {\n"
    "    vec x = load_lanes_(end - k, k);\n"
    "    for (int i = 0; i < LANES; i++) if (x[i] != (i < k ? end[i - k] : 0.0f)) return "
    "__LINE__;\n"
    "    float to[LANES + 1];\n    for (int i = 0; i <= LANES; i++) to[i] = -7;\n"
    "    store_lanes_(to, x, k);\n"
    "    for (int i = 0; i <= LANES; i++) if (to[i] != (i < k ? end[i - k] : -7.0f)) return "
    "__LINE__;\n"
    "  }\n  return 0;\n}\n";

/* As int_rescale of ops: shifts right by 31, ties up, then by `bits`, ties away from zero. */
static int32_t rescaled(int32_t x, int32_t multiplier, int bits) {
  const int64_t high = ((int64_t)x * multiplier + (INT64_C(1) << 30)) >> 31;
  const int64_t mask = (INT64_C(1) << bits) - 1;
  return (int32_t)((high >> bits) + ((high & mask) > (mask >> 1) + (high < 0)));
}

/* As int_rescale_up of ops: ties up in both shifts, bits from 1 to 31. Equals rescaled for x >= 0.
   */
static int32_t rescaled_up(int32_t x, int32_t multiplier, int bits) {
  const int64_t high = ((int64_t)x * multiplier + (INT64_C(1) << 30)) >> 31;
  return (int32_t)((high + (INT64_C(1) << (bits - 1))) >> bits);
}

/* Sums of every size and both ends of int32, ties among them. */
static void check_rescale(const struct isa *isa, void *library) {
  enum { COUNT = 1 << 14 };
  static int32_t x[COUNT], multiplier[COUNT], bits[COUNT], y[COUNT];
  uint64_t seed = 7;
  for (int i = 0; i < COUNT; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    const int32_t word = (int32_t)(seed >> 32);
    bits[i] = i % 32;
    x[i] = i % 7 == 0   ? INT32_MIN + i % 5
           : i % 7 == 1 ? INT32_MAX - i % 5
           : i % 7 == 2 ? (i % 2 ? 1 : -1) * (i % 99) * (1 << bits[i] / 2)
                        : word >> i % 31;
    multiplier[i] = i % 3 ? (int32_t)(seed >> 20 & INT32_MAX) : i % 2 ? INT32_MAX : 1 << 30;
  }
  static const struct {
    const char *name;
    int32_t (*expected)(int32_t, int32_t, int);
    int least_bits;
  } forms[] = {{"rescale", rescaled, 0}, {"rescale_up", rescaled_up, 1}};
  typedef void rescale_fn(const int32_t *, const int32_t *, const int32_t *, int32_t *, long);
  for (int k = 0; k < 2; k++) {
    rescale_fn *rescale = (rescale_fn *)dlsym(library, forms[k].name);
    assert_non_null(rescale);
    rescale(x, multiplier, bits, y, COUNT);
    for (int i = 0; i < COUNT; i++) {
      if (bits[i] < forms[k].least_bits) continue;
      const int32_t expected = forms[k].expected(x[i], multiplier[i], bits[i]);
      if (y[i] != expected)
        fail_with("%s: %s: %d * %d >> 31 + %d = %d, expected %d", isa->name, forms[k].name, x[i],
                  multiplier[i], bits[i], y[i], expected);
      if (x[i] >= 0) assert_int_equal(expected, rescaled(x[i], multiplier[i], bits[i]));
    }
  }
}

#define RESCALE_SOURCE(name)                                                       \
  "void " name                                                                     \
  "(const int32_t *x, const int32_t *m, const int32_t *b, int32_t *y, long n);\n"  \
  "void " name                                                                     \
  "(const int32_t *x, const int32_t *m, const int32_t *b, int32_t *y, long n) {\n" \
  "  for (long i = 0; i < n; i += LANES)\n"                                        \
  "    narrow_i32(y + i, veci_" name                                               \
  "_(widen_i32(x + i, LANES), widen_i32(m + i, LANES),\n"                          \
  "                                    widen_i32(b + i, LANES)), LANES);\n}\n"
static const char rescale_source[] = RESCALE_SOURCE("rescale") RESCALE_SOURCE("rescale_up");

static const char halves_source[] =
    "void from_halves(const uint16_t *x, float *y, long n);\n"
    "void from_halves(const uint16_t *x, float *y, long n) {\n"
    "  for (long i = 0; i < n; i += LANES) store_lanes_(y + i, load_f16_(x + i, n - i), n - "
    "i);\n}\n"
    "void to_halves(const float *x, uint16_t *y, long n);\n"
    "void to_halves(const float *x, uint16_t *y, long n) {\n"
    "  for (long i = 0; i < n; i += LANES) store_f16_(y + i, load_lanes_(x + i, n - i), n - "
    "i);\n}\n"
    "void spread_halves(const uint16_t *x, float *y, long n);\n"
    "void spread_halves(const uint16_t *x, float *y, long n) {\n"
    "  for (long i = 0; i < n; i++) storeu_(y, splat_f16_(x[i])), y += LANES;\n}\n";

enum { HALVES = 1 << 16, NEAR = 6 };

/* Floats from h to the next f16 away from zero: h, the midpoint, and the neighbours of both. For
   NaN and infinity: values with more mantissa bits set. */
static void near_half(uint16_t h, uint32_t out[NEAR]) {
  const float x = f16_to_f32(h);
  const float next = (h & 0x7fff) == 0x7bff ? x + copysignf(32, x) : f16_to_f32((uint16_t)(h + 1));
  const float middle = (x + next) / 2;
  uint32_t bits, half_way;
  memcpy(&bits, &x, sizeof bits);
  memcpy(&half_way, &middle, sizeof half_way);
  if (!(fabsf(middle) < INFINITY)) half_way = bits | 0x1000;
  const uint32_t all[NEAR] = {bits, bits + 1, half_way - 1, half_way, half_way + 1, bits | 0x1fff};
  memcpy(out, all, sizeof all);
}

/* Converts every f16 to float, and to f16 every float near an f16 or near a midpoint (ties,
   denormals, infinities, NaN): the bits must equal those of base's conversion. The count is not a
   multiple of the lanes; elements past the end must not change. */
static void check_halves(const struct isa *isa, void *library) {
  enum { LANES_MOST = 16 };
  static uint16_t halves[HALVES * NEAR + 1];
  static float floats[HALVES * NEAR + 1], spread[HALVES * LANES_MOST];
  typedef void widen_fn(const uint16_t *, float *, long);
  typedef void narrow_fn(const float *, uint16_t *, long);
  widen_fn *widen = (widen_fn *)dlsym(library, "from_halves");
  widen_fn *spread_all = (widen_fn *)dlsym(library, "spread_halves");
  narrow_fn *narrow = (narrow_fn *)dlsym(library, "to_halves");
  const size_t lanes = (size_t)isa->target.vector_bytes / 4;
  for (size_t i = 0; i < HALVES; i++) halves[i] = (uint16_t)i;
  spread_all(halves, spread, HALVES);
  floats[HALVES - 3] = 7;
  widen(halves, floats, HALVES - 3);
  assert_true(floats[HALVES - 3] == 7);
  for (size_t i = 0; i < HALVES - 3; i++) {
    const float expected = f16_to_f32((uint16_t)i);
    if (memcmp(&floats[i], &expected, 4) || memcmp(&spread[i * lanes], &expected, 4) ||
        memcmp(&spread[i * lanes + lanes - 1], &expected, 4))
      fail_with("%s: f16 %#zx is %a and %a, expected %a", isa->name, i, (double)floats[i],
                (double)spread[i * lanes], (double)expected);
  }
  for (size_t i = 0; i < HALVES; i++) {
    uint32_t near[NEAR];
    near_half((uint16_t)i, near);
    memcpy(&floats[i * NEAR], near, sizeof near);
  }
  halves[HALVES * NEAR - 3] = 7;
  narrow(floats, halves, HALVES * NEAR - 3);
  assert_int_equal(halves[HALVES * NEAR - 3], 7);
  for (size_t i = 0; i < HALVES * NEAR - 3; i++)
    if (halves[i] != f32_to_f16(floats[i]))
      fail_with("%s: %a is f16 %#x, expected %#x", isa->name, (double)floats[i], halves[i],
                f32_to_f16(floats[i]));
}

static void test_simd(void **state) {
  (void)state;
  for (int k = 0; k < ISA_COUNT; k++) {
    if (!isa_runs_here(&isas[k])) continue;
    struct ctx ctx;
    ctx_init(&ctx);
    struct strbuf text = {0};
    snippet_begin(&text, &isas[k]);
    for (int i = 0; i < FUNCTION_COUNT; i++)
      strbuf_printf(
          &text,
          "void map_%s(const float *x, float *y, long n);\n"
          "void map_%s(const float *x, float *y, long n) {\n  for (long i = 0; i < n; i += "
          "LANES) {\n"
          "    vec t = loadu_(x + i);\n    storeu_(y + i, %s(t));\n  }\n}\n",
          functions[i].name, functions[i].name, functions[i].name);
    strbuf_puts(&text, logic_source);
    strbuf_puts(&text, rescale_source);
    strbuf_puts(&text, halves_source);
    char name[32];
    snprintf(name, sizeof name, "simd_%s", isas[k].name);
    void *library = load(&ctx, &isas[k], name, &text);
    for (int i = 0; i < FUNCTION_COUNT; i++) check_function(&isas[k], library, &functions[i]);
    check_rescale(&isas[k], library);
    check_halves(&isas[k], library);
    struct guarded g = guarded_floats(64);
    fill(&g, 64, 9);
    int (*logic)(const float *) = (int (*)(const float *))dlsym(library, "logic");
    assert_int_equal(logic(floats_of(&g) + 64), 0);
    guarded_destroy(&g);
    dlclose(library);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_problem_lines),
      cmocka_unit_test(test_choices),
      cmocka_unit_test(test_unfitting_choices),
      cmocka_unit_test(test_costs),
      cmocka_unit_test(test_usual_choices),
      cmocka_unit_test(test_few_channels),
      cmocka_unit_test(test_tiles_stay_in_a_set),
      cmocka_unit_test(test_rows_meet_weights_in_l2),
      cmocka_unit_test(test_rows_are_covered),
      cmocka_unit_test(test_simd),
      cmocka_unit_test(test_sse2),
      cmocka_unit_test(test_avx2),
      cmocka_unit_test(test_avx512),
      cmocka_unit_test(test_avx512bf16),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
