/* plan: buffers that are live at the same time never overlap, the arena stays near its lower bound,
 * and passes and planning are near-linear in nodes, inputs and operands. */
#include "graph_case.h"
#include "compiler/passes/passes.h"
#include "compiler/plan/plan.h"

#include <time.h>

static struct plan *make_plan_for(struct fixture *f, const struct target *target, bool bf16) {
  struct plan *plan;
  struct plan_options options = {.target = target, .threads = 2, .bf16 = bf16};
  hone_status status = plan_build(&f->ctx, f->arena, f->graph, &options, &plan);
  if (status) print_error("%s\n", hone_context_message(&f->ctx));
  assert_int_equal(status, HONE_OK);
  return plan;
}

static struct plan *make_plan_in(struct fixture *f, bool bf16) {
  struct target target;
  assert_int_equal(target_init(&f->ctx, NULL, "baseline", &target), HONE_OK);
  return make_plan_for(f, &target, bf16);
}

static struct plan *make_plan(struct fixture *f) { return make_plan_in(f, false); }

/* -- memory: plans of buffers alone, with chosen lifetimes */

struct sizes {
  size_t buffers, steps, longest; /* of a life */
  size_t most_bytes;
};

static struct plan *random_lives(struct fixture *f, struct random *random,
                                 const struct sizes *sizes) {
  struct plan *plan;
  assert_int_equal(NEW(&f->ctx, f->arena, plan), HONE_OK);
  plan->steps.count = sizes->steps; /* plan_memory asks only how many */
  assert_int_equal(NEW_ARRAY(&f->ctx, f->arena, plan->buffers.at, sizes->buffers), HONE_OK);
  plan->buffers.count = sizes->buffers;
  for (size_t i = 0; i < sizes->buffers; i++) {
    struct buffer *buffer;
    assert_int_equal(NEW(&f->ctx, f->arena, buffer), HONE_OK);
    int first = (int)random_below(random, sizes->steps);
    size_t end = (size_t)first + 1 + random_below(random, sizes->longest);
    *buffer =
        (struct buffer){.place = BUFFER_ARENA, .bytes = random_below(random, sizes->most_bytes)};
    buffer->first = first;
    buffer->end = (int)(end < sizes->steps ? end : sizes->steps);
    plan->buffers.at[i] = buffer;
  }
  return plan;
}

/* Writes every buffer's number into its bytes (64 at a time) at its first step: at its last step the
   number must still be there. */
static void check_apart(struct fixture *f, const struct plan *plan) {
  uint32_t *owner;
  size_t count = plan->buffers.count;
  assert_int_equal(NEW_ARRAY(&f->ctx, f->arena, owner, plan->arena_bytes / 64 + 1), HONE_OK);
  for (size_t s = 0; s < plan->steps.count; s++)
    for (size_t pass = 0; pass < 2; pass++)
      for (size_t i = 0; i < count; i++) {
        const struct buffer *b = plan->buffers.at[i];
        bool begins = b->first == (int)s, ends = b->end == (int)s + 1;
        if (!(pass ? ends : begins)) continue;
        assert_true(b->offset % 64 == 0 && b->offset + b->bytes <= plan->arena_bytes);
        for (size_t at = b->offset / 64; at < (b->offset + b->bytes) / 64; at++) {
          if (!pass) owner[at] = (uint32_t)i + 1;
          assert_int_equal(owner[at], i + 1);
        }
      }
}

static void lives_never_meet(void **state) {
  static const struct sizes cases[] = {{1, 1, 1, 1000},       {50, 20, 5, 5000},
                                       {300, 100, 100, 3000}, {300, 100, 2, 100000},
                                       {9000, 60, 3, 900}, /* more than are placed greedily */
                                       {12000, 40, 40, 300}};
  struct fixture *f = *state;
  struct random random;
  random_init(&random, 3);
  for (size_t c = 0; c < COUNT(cases); c++)
    for (int repeat = 0; repeat < (cases[c].buffers > 1000 ? 1 : 20); repeat++) {
      struct plan *plan = random_lives(f, &random, &cases[c]);
      assert_int_equal(plan_memory(&f->ctx, f->arena, plan), HONE_OK);
      assert_true(plan->arena_bytes >= plan->lower_bound_bytes);
      assert_true(plan->arena_bytes <= 2 * plan->lower_bound_bytes);
      check_apart(f, plan);
    }
}

/* The bound is what is alive at the fullest step, counted here step by step. */
static void the_lower_bound_is_the_fullest_step(void **state) {
  struct fixture *f = *state;
  struct random random;
  random_init(&random, 5);
  struct plan *plan = random_lives(f, &random, &(struct sizes){200, 50, 9, 4096});
  assert_int_equal(plan_memory(&f->ctx, f->arena, plan), HONE_OK);
  size_t most = 0;
  for (int s = 0; s < 50; s++) {
    size_t alive = 0;
    for (size_t i = 0; i < plan->buffers.count; i++)
      if (plan->buffers.at[i]->first <= s && s < plan->buffers.at[i]->end)
        alive += plan->buffers.at[i]->bytes;
    if (alive > most) most = alive;
  }
  assert_int_equal(plan->lower_bound_bytes, most);
}

/* -- in place */

/* A plan of a graph in text, and which of its steps write over an operand: 'o' does, '.' does not. */
static void expect_in_place(struct fixture *f, const char *text, const char *expected) {
  struct pipeline_options pipeline = {0};
  char got[64] = "";
  read_graph(f, text);
  assert_int_equal(passes_run(&f->ctx, f->graph, &pipeline), HONE_OK);
  struct plan *plan = make_plan(f);
  assert_true(plan->steps.count < sizeof got);
  for (size_t s = 0; s < plan->steps.count; s++) {
    const struct step *step = plan->steps.at[s];
    got[s] = step->in_place ? 'o' : '.';
    if (!step->in_place) continue;
    const struct buffer *out = step->outputs[0].buffer, *over = out->over;
    assert_non_null(over);
    assert_null(over->over); /* plan_memory places only those */
    assert_int_equal(out->offset, over->offset);
    assert_true(over->bytes >= out->bytes && over->end >= out->end && over->first < out->first);
  }
  assert_string_equal(got, expected);
}

static void results_take_the_place_of_what_dies(void **state) {
  struct fixture *f = *state;
  /* the model's input is not written, the scores of a Softmax are, what is read again is not */
  expect_in_place(f,
                  "graph(x: f32[4,16]) -> (y) {\n  a = Softmax(x)\n  b = Softmax(a)\n"
                  "  c = Softmax(b)\n  d = Mul(b, c)\n  y = ReduceMean(d) keepdims=0\n}\n",
                  ".o.o.");
  /* a residual, in the place of the sum; not where the product reads it as well */
  expect_in_place(f,
                  "graph(x: f32[4,16]) -> (y) {\n  w = const f32[16,16] seed=1\n"
                  "  a = MatMul(x, w)\n  b = Softmax(a)\n  c = MatMul(b, w)\n  d = Add(c, a)\n"
                  "  e = MatMul(d, w)\n  g = Add(e, d)\n  y = Softmax(g)\n}\n",
                  "..o..");
  /* not across elements: what is turned or broadcast; not over another type */
  expect_in_place(f,
                  "graph(x: f32[8,8]) -> (y) {\n  a = Softmax(x)\n  b = Transpose(a)\n"
                  "  c = Add(a, b)\n  d = Softmax(c) axis=0\n  e = Cast(d) to=6\n"
                  "  y = Cast(e) to=1\n}\n",
                  ".....");
}

/* -- concat */

/* The steps of the plan of a graph in text: k a kernel, c a copy. */
static void expect_steps(struct fixture *f, const char *text, const char *expected) {
  static const char letters[] = {[STEP_KERNEL] = 'k', [STEP_ELEMENTWISE] = 'e', [STEP_COPY] = 'c'};
  char got[64] = "";
  read_graph(f, text);
  const struct plan *plan = make_plan(f);
  assert_true(plan->steps.count < sizeof got);
  for (size_t s = 0; s < plan->steps.count; s++) {
    const enum step_kind kind = plan->steps.at[s]->kind;
    got[s] = (size_t)kind < sizeof letters && letters[kind] ? letters[kind] : '?';
  }
  assert_string_equal(got, expected);
}

#define IMAGE                                                          \
  "graph(x: f32[1,8,6,6]) -> (y) {\n  w = const f32[8,8,1,1] seed=1\n" \
  "  v = const f32[4,16,1,1] seed=2\n  h = const f32[8,4,1,1] seed=3\n"

/* The first copy makes the input channels last, the last one the output as the model has it. */
static void images_are_written_into_their_concat(void **state) {
  struct fixture *f = *state;
  /* a convolution and a pool that reads it */
  expect_steps(f,
               IMAGE
               "  a = Conv(x, w)\n  b = MaxPool(a) kernel_shape=[3,3] pads=[1,1,1,1]\n"
               "  c = Concat(a, b) axis=1\n  y = Conv(c, v)\n}\n",
               "ckkkc");
  /* both parts of a Split as one, and what is made of one of them */
  expect_steps(f,
               IMAGE
               "  a = Conv(x, w)\n  p, q = Split(a) axis=1 num_outputs=2\n"
               "  b = Conv(q, h)\n  c = Concat(p, q, b) axis=-3\n  y = Conv(c, v)\n}\n",
               "ckkkc");
  /* a part of a larger concatenation needs no copy */
  expect_steps(f,
               IMAGE
               "  a = Conv(x, w)\n  b = Conv(a, w)\n  c = Concat(a, b) axis=1\n"
               "  d = Conv(c, v)\n  e = Concat(a, b, d) axis=1\n"
               "  u = const f32[4,20,1,1] seed=4\n  y = Conv(e, u)\n}\n",
               "ckkkkc");
  /* the second time it is copied, as is the model's input */
  expect_steps(f, IMAGE "  a = Conv(x, w)\n  c = Concat(a, a) axis=1\n  y = Conv(c, v)\n}\n",
               "ckckc");
  expect_steps(f, IMAGE "  a = Conv(x, w)\n  c = Concat(x, a) axis=1\n  y = Conv(c, v)\n}\n",
               "ckckc");
  /* along another axis parts are not ranges of each pixel */
  expect_steps(f,
               IMAGE
               "  a = Conv(x, w)\n  b = Conv(a, w)\n  c = Concat(a, b) axis=2\n"
               "  y = Conv(c, w)\n}\n",
               "ckkcckc");
}

/* Zero borders are written where a convolution reads them, in a separate step if the image is
   transposed or written in parts. */
static void borders_are_written_in_place(void **state) {
  struct fixture *f = *state;
  expect_steps(f,
               IMAGE
               "  a = Conv(x, w)\n  b = Conv(a, w)\n  c = Concat(a, b) axis=1\n"
               "  u = const f32[4,16,3,3] seed=4\n  y = Conv(c, u) pads=[1,1,1,1]\n}\n",
               "cckkkc");
  expect_steps(f, IMAGE "  u = const f32[4,8,3,3] seed=4\n  y = Conv(x, u) pads=[1,1,1,1]\n}\n",
               "cckc");
  /* padding rows are added in the image's layout, for any order of dimensions */
  expect_steps(f,
               IMAGE
               "  a = Conv(x, w)\n  t = Transpose(a) perm=[0,2,1,3]\n"
               "  n = const i64[8] [0,1,0,0,0,1,0,0]\n  p = Pad(t, n)\n"
               "  r = Transpose(p) perm=[0,2,1,3]\n  y = Conv(r, w)\n}\n",
               "ckckc");
  /* a mirrored Pad copies from its operand in place: the inside, and two sides along two axes */
  expect_steps(f,
               IMAGE
               "  a = Conv(x, w)\n  n = const i64[8] [0,0,1,1,0,0,1,1]\n"
               "  p = Pad(a, n) mode=\"reflect\"\n  y = Conv(p, w)\n}\n",
               "ckccccckc");
}

/* -- attention */

/* Columns that a constant mask hides at the end of each row are not part of the problem, if their
   weight is exactly zero. */
static void masks_say_what_rows_see(void **state) {
  struct fixture *f = *state;
#define STAIRS "1,0,0,0,0, 1,1,0,0,0, 1,1,1,0,0, 1,1,1,1,0"
#define UNSEEN "0,1,1,1,1, 0,0,1,1,1, 0,0,0,1,1, 0,0,0,0,1"
  static const struct {
    const char *mask, *masked;
    int64_t visible;
  } cases[] = {
      {"const bool[4,5] [" STAIRS "]", "Where(m, s, lowest)", 1},
      {"const bool[4,5] [" UNSEEN "]", "Where(m, lowest, s)", 1},
      {"const bool[1,4,5] [1,1,0,0,0, 1,0,0,0,0, 0,1,0,0,0, 1,0,0,0,0]", "Where(m, s, lowest)", 2},
      {"const f32[4,5] [0,0,0,-3e38,-3e38, 0,0,0,0,-3e38, 0,0,0,0,-3e38, 0,0,0,0,-3e38]",
       "Add(s, m)", 3},
      /* the first columns are not hidden */
      {"const bool[4,5] [" UNSEEN "]", "Where(m, s, lowest)", 0},
      {"const bool[4,5] [1,0,0,0,0, 0,0,0,0,0, 1,0,0,0,0, 1,0,0,0,0]", "Where(m, s, lowest)", 0},
      {"const bool[4,5] [" STAIRS "]", "Where(m, s, low)", 0},
      {"const bool[5] [1,0,0,0,0]", "Where(m, s, lowest)", 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[1024];
    snprintf(text, sizeof text,
             "graph(q: f32[2,4,8], k: f32[2,8,5], v: f32[2,5,8]) -> (y) {\n"
             "  lowest = const f32[] [-3e38]\n  low = const f32[] [-1000]\n  m = %s\n"
             "  s = MatMul(q, k)\n  t = %s\n  p = Softmax(t) axis=-1\n  y = MatMul(p, v)\n}\n",
             cases[i].mask, cases[i].masked);
    read_graph(f, text);
    const struct plan *plan = make_plan_in(f, false);
    assert_int_equal(plan->steps.count, 1);
    assert_int_equal(plan->steps.at[0]->problem.visible, cases[i].visible);
  }
#undef STAIRS
#undef UNSEEN
}

/* Rows that see no key: their NaN are made zeros in the step that makes them, unless somebody else reads them. */
static void cleared_rows_are_one_step(void **state) {
  struct fixture *f = *state;
  static const struct {
    const char *cleared, *results;
    bool is_one;
  } cases[] = {{"Where(n, zero, p)", "y", true},
               {"Where(n, one, p)", "y", false},
               {"Where(n, zero, p)", "y, p", false}};
  for (size_t i = 0; i < COUNT(cases); i++) {
    char text[512];
    snprintf(text, sizeof text,
             "graph(q: f32[2,4,8], k: f32[2,8,5], v: f32[2,5,8]) -> (%s) {\n"
             "  zero = const f32[] [0]\n  one = const f32[] [1]\n  s = MatMul(q, k)\n"
             "  p = Softmax(s) axis=-1\n  n = IsNaN(p)\n  w = %s\n  y = MatMul(w, v)\n}\n",
             cases[i].results, cases[i].cleared);
    read_graph(f, text);
    const struct plan *plan = make_plan(f);
    assert_int_equal(plan->steps.count == 1, cases[i].is_one);
    if (cases[i].is_one)
      assert_string_equal(plan->steps.at[0]->choice.kernel->name, "attention_f32");
  }
}

/* -- bf16 */

/* Attention computes in f32: its inputs are stored in f32, its output in the type of the matmul
   that reads it. */
static void attention_in_bf16_converts_nothing(void **state) {
  struct fixture *f = *state;
  static const char text[] =
      "graph(x: f32[2,16,64], y: f32[2,16,64]) -> (z) {\n"
      "  w = const f32[64,64] seed=1\n"
      "  heads = const i64[4] [0,0,8,8]\n"
      "  flat = const i64[3] [0,0,64]\n"
      "  a = Add(x, y)\n"
      "  q = MatMul(a, w)\n"
      "  q4 = Reshape(q, heads)\n"
      "  qt = Transpose(q4) perm=[0,2,1,3]\n"
      "  kt = Transpose(q4) perm=[0,2,3,1]\n"
      "  s = MatMul(qt, kt)\n"
      "  p = Softmax(s) axis=-1\n"
      "  o = MatMul(p, qt)\n"
      "  ot = Transpose(o) perm=[0,2,1,3]\n"
      "  h = Reshape(ot, flat)\n"
      "  z = MatMul(h, w)\n"
      "}\n";
  static const char *const kernels[] = {"", "gemm_bf16", "attention_f32", "gemm_bf16"};
  read_graph(f, text);
  const struct plan *plan = make_plan_in(f, true);
  assert_int_equal(plan->steps.count, sizeof kernels / sizeof kernels[0]);
  for (size_t i = 0; i < plan->steps.count; i++) {
    const struct step *step = plan->steps.at[i];
    if (step->kind != STEP_KERNEL) assert_int_equal(i, 0); /* the sum, stored in bf16 */
    if (i) assert_string_equal(step->choice.kernel->name, kernels[i]);
  }
  assert_int_equal(plan->steps.at[1]->outputs[0].dtype, HONE_F32);
  assert_int_equal(plan->steps.at[2]->outputs[0].dtype, HONE_BF16);
}

/* A bf16 image has a border of zeros for the bf16 convolutions that read it, so only the model's
   output is copied. The model's input has no border, so it is copied into a buffer that has one. */
static void images_in_bf16_have_borders(void **state) {
  struct fixture *f = *state;
  static const struct {
    const char *text;
    int copies;
  } cases[] = {{"  a = Conv(x, w)\n  y = Conv(a, v) pads=[1,1,1,1]\n}\n", 1},
               {"  a = Conv(x, w)\n  b = Relu(a)\n  y = Conv(b, v) pads=[1,1,1,1]\n}\n", 1},
               {"  y = Conv(x, v) pads=[1,1,1,1]\n}\n", 2}};
  struct target target;
  assert_int_equal(target_init(&f->ctx, "x86_64-linux-gnu", "avx512bf16", &target), HONE_OK);
  for (size_t c = 0; c < COUNT(cases); c++) {
    char text[512];
    int copies = 0;
    snprintf(text, sizeof text,
             "graph(x: f32[1,16,6,6]) -> (y) {\n  w = const f32[16,16,1,1] seed=1\n"
             "  v = const f32[16,16,3,3] seed=2\n%s",
             cases[c].text);
    read_graph(f, text);
    const struct plan *plan = make_plan_for(f, &target, true);
    for (size_t i = 0; i < plan->steps.count; i++)
      copies += plan->steps.at[i]->kind == STEP_COPY && plan->steps.at[i]->inputs[0].buffer;
    assert_int_equal(copies, cases[c].copies);
  }
}

/* -- f16 */

/* A 16-bit cache is read in place, even through a Transpose, if K and V have the same type. */
static void caches_are_read_in_their_type(void **state) {
  struct fixture *f = *state;
  static const struct {
    const char *k, *v;
    uint8_t type; /* of both; else one is cast */
  } cases[] = {{"f16", "f16", TYPE_F16}, {"bf16", "bf16", TYPE_BF16}, {"f16", "bf16", TYPE_F32}};
  for (size_t i = 0; i < COUNT(cases); i++) {
    char text[512];
    snprintf(text, sizeof text,
             "graph(q: f32[2,1,8], k: %s[2,5,8], v: %s[2,5,8]) -> (y) {\n"
             "  kf = Cast(k) to=1\n  vf = Cast(v) to=1\n  kt = Transpose(kf) perm=[0,2,1]\n"
             "  s = MatMul(q, kt)\n  p = Softmax(s) axis=-1\n  o = MatMul(p, vf)\n"
             "  y = Cast(o) to=10\n}\n",
             cases[i].k, cases[i].v);
    read_graph(f, text);
    const struct plan *plan = make_plan(f);
    const struct step *last = plan->steps.at[plan->steps.count - 1];
    assert_int_equal(plan->steps.count, cases[i].type == TYPE_F32 ? 3 : 1);
    assert_int_equal(last->problem.types.b, cases[i].type);
    assert_int_equal(last->problem.types.c, TYPE_F16);
    assert_int_equal(last->outputs[0].buffer->place, BUFFER_OUTPUT);
  }
}

/* A product rounds what it stores, unless somebody reads it unrounded. */
static void products_store_16_bits(void **state) {
  struct fixture *f = *state;
  static const struct {
    const char *inputs, *product, *more, *outputs;
    size_t steps;
    uint8_t type;
  } cases[] = {
      {"x: f32[3,8]", "MatMul(x, w)", "", "y", 1, TYPE_F16},
      {"x: f32[1,8]", "Gemm(x, w)", "", "y", 1, TYPE_F16},
      {"x: f32[3,8], r: f16[3,8]", "MatMul(x, w)", "  a = Cast(r) to=1\n  t = Add(s, a)\n", "y", 1,
       TYPE_F16},
      {"x: f32[1,8,6,6]", "Conv(x, w4)", "", "y", 3, TYPE_F16}, /* between copies */
      {"x: f32[3,8]", "MatMul(x, w)", "  z = Relu(s)\n", "y, z", 3, TYPE_F32},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    char text[512];
    const char *last = strstr(cases[i].more, "t = ") ? "t" : "s";
    snprintf(text, sizeof text,
             "graph(%s) -> (%s) {\n  w = const f32[8,8] seed=1\n  w4 = const f32[8,8,1,1] seed=2\n"
             "  s = %s\n%s  y = Cast(%s) to=10\n}\n",
             cases[i].inputs, cases[i].outputs, cases[i].product, cases[i].more, last);
    read_graph(f, text);
    const struct plan *plan = make_plan(f);
    assert_int_equal(plan->steps.count, cases[i].steps);
    size_t at = 0;
    while (plan->steps.at[at]->kind != STEP_KERNEL) at++;
    assert_int_equal(plan->steps.at[at]->problem.types.c, cases[i].type);
  }
}

/* The kernels of the plan in their order, with spaces between them. */
static const char *kernels_of(const struct plan *plan, char *out, size_t size) {
  size_t n = 0;
  out[0] = 0;
  for (size_t i = 0; i < plan->steps.count; i++)
    if (plan->steps.at[i]->kind == STEP_KERNEL && n < size)
      n += (size_t)snprintf(out + n, size - n, "%s%s", n ? " " : "",
                            plan->steps.at[i]->choice.kernel->name);
  return out;
}

/* If a target multiplies f32 faster than bf16, memory-bound matmuls use bf16 and all others f32
   with rounded weights. Otherwise all use bf16. */
static void bf16_takes_the_faster_products(void **state) {
  struct fixture *f = *state;
  static const struct {
    const char *text, *kernels[2]; /* where bf16 is faster, where it is slower */
  } cases[] = {{"graph(x: f32[128,768], v: f32[1,4096], i: f32[1,64,28,28]) -> (y, z, c) {\n"
                "  w = const f32[768,768] seed=1\n"
                "  u = const f32[4096,1024] seed=2\n"
                "  k = const f32[256,64,1,1] seed=3\n"
                "  y = MatMul(x, w)\n"
                "  z = MatMul(v, u)\n"
                "  c = Conv(i, k)\n"
                "}\n",
                {"gemm_bf16 gemm_bf16 conv_bf16", "gemm_f32 gemm_bf16 conv_f32"}},
               /* few weights: they are in L2 */
               {"graph(v: f32[4,512]) -> (z) {\n"
                "  u = const f32[512,512] seed=2\n"
                "  z = MatMul(v, u)\n"
                "}\n",
                {"gemm_bf16", "gemm_f32"}}};
  struct target target;
  char names[256];
  for (size_t c = 0; c < COUNT(cases); c++) {
    read_graph(f, cases[c].text);
    assert_int_equal(target_init(&f->ctx, "x86_64-linux-gnu", "avx512bf16", &target), HONE_OK);
    for (int slow = 0; slow < 2; slow++) {
      if (slow) target.speeds.bf16_macs = target.speeds.f32_macs / 2;
      const struct plan *plan = make_plan_for(f, &target, true);
      assert_string_equal(kernels_of(plan, names, sizeof names), cases[c].kernels[slow]);
      for (size_t i = 0; slow && i < plan->steps.count; i++) {
        const struct step *step = plan->steps.at[i];
        if (step->kind != STEP_KERNEL || step->problem.types.b != TYPE_F32) continue;
        const struct tensor *weights = step->inputs[1].buffer->tensor;
        const uint32_t *bits = weights->data;
        for (size_t k = 0; k < weights->bytes / 4; k++) assert_int_equal(bits[k] & 0xffff, 0);
      }
    }
  }
}

/* The cost of Winograd's transforms follows the type of its matmuls, not the type of the image: if
   f32 transforms take twice as long as bf16 transforms, so do those from a bf16 image to f32
   matmuls. */
static void winograd_counts_its_products_type(void **state) {
  struct fixture *f = *state;
  struct target target;
  read_graph(f,
             "graph(x: f32[1,64,56,56]) -> (y) {\n  w = const f32[64,64,3,3] seed=1\n"
             "  y = Conv(x, w) pads=[1,1,1,1]\n}\n");
  assert_int_equal(target_init(&f->ctx, "x86_64-linux-gnu", "avx512bf16", &target), HONE_OK);
  target.speeds.f32_macs /= 2;
  target.speeds.bf16_macs /= 2;
  for (int slow = 0; slow < 2; slow++) {
    target.speeds.transform_half_cycles = 5;
    target.speeds.transform_cycles = slow ? 10 : 5;
    const struct plan *plan = make_plan_for(f, &target, true);
    const struct choice *choice = NULL;
    for (size_t i = 0; i < plan->steps.count; i++)
      if (plan->steps.at[i]->kind == STEP_KERNEL) choice = &plan->steps.at[i]->choice;
    assert_non_null(choice);
    assert_int_equal(choice_value(choice, "out", 0), slow ? 2 : 4);
    assert_int_equal(choice_value(choice, "halves", 0), slow);
  }
}

/* The precision of a matmul is chosen with the f32 kernel parameters from the choice table. */
static void a_table_decides_the_precision(void **state) {
  struct fixture *f = *state;
  static const char slow[] =
      "gemm f32 m128 n768 k768 batch01 batch11 a_row768 b_row768 b_column1 b_batches1 c_row768 -> "
      "gemm_f32 vectors1 "
      "tile_rows1 tile_columns1 k_unroll1 tap_block1 depth_block768 unit_tiles1 unit_panels1";
  static const char *const kernels[] = {"gemm_f32", "gemm_bf16"};
  struct target target;
  struct choice_table table;
  read_graph(
      f,
      "graph(x: f32[128,768]) -> (y) {\n  w = const f32[768,768] seed=1\n  y = MatMul(x, w)\n}\n");
  assert_int_equal(target_init(&f->ctx, "x86_64-linux-gnu", "avx512bf16", &target), HONE_OK);
  target.speeds.bf16_macs = target.speeds.f32_macs / 2;
  assert_int_equal(choices_parse(&f->ctx, f->arena, place_none(), slow, sizeof slow - 1, &table),
                   HONE_OK);
  for (int i = 0; i < 2; i++) {
    struct plan *plan;
    char names[64];
    const struct plan_options options = {
        .target = &target, .threads = 2, .bf16 = true, .choices = i ? &table : NULL};
    assert_int_equal(plan_build(&f->ctx, f->arena, f->graph, &options, &plan), HONE_OK);
    assert_string_equal(kernels_of(plan, names, sizeof names), kernels[i]);
  }
}

/* A Gather by constant indices that are a range or windows moves nothing: one copy makes the output; others are a step. */
static void ranges_are_views(void **state) {
  struct fixture *f = *state;
  static const struct {
    const char *indices;
    bool is_view;
  } cases[] = {{"i64[3] [2,3,4]", true},          {"i64[3] [5,3,1]", true},
               {"i64[2,3] [0,1,2, 2,3,4]", true}, {"i32[2] [-2,-1]", true},
               {"i64[2,3] [1,1,1, 1,1,1]", true}, {"i64[3] [0,1,3]", false},
               {"i64[2,2] [0,1, 2,4]", false}};
  for (size_t c = 0; c < COUNT(cases); c++) {
    char text[256];
    snprintf(text, sizeof text,
             "graph(x: f32[4,6,8]) -> (y) {\n  i = const %s\n  y = Gather(x, i) axis=1\n}\n",
             cases[c].indices);
    read_graph(f, text);
    const struct plan *plan = make_plan(f);
    assert_int_equal(plan->steps.count, 1);
    assert_int_equal(plan->steps.at[0]->kind, cases[c].is_view ? STEP_COPY : STEP_GENERIC);
  }
}

/* Weights that are exact in 16 bits are stored so for memory-bound matmuls, and for all if size is
   optimised. */
static void weights_of_16_bits(void **state) {
  struct fixture *f = *state;
  static const char *const graph =
      "graph(x: f32[512,768], v: f32[1,4096], u: f32[4,512], i: f32[1,64,28,28]) -> (y, z, s, c) "
      "{\n"
      "  w = const f32[768,768] fill=%s\n"
      "  l = const f32[4096,4096] fill=%s\n"
      "  n = const f32[512,512] fill=0.1\n"
      "  k = const f32[256,64,1,1] fill=%s\n"
      "  y = MatMul(x, w)\n"
      "  z = MatMul(v, l)\n"
      "  s = MatMul(u, n)\n"
      "  c = Conv(i, k)\n"
      "}\n";
  static const struct {
    const char *fill, *fast, *small;
    uint8_t type; /* of a memory-bound matmul */
    bool fp16;    /* requested: weights are rounded */
  } cases[] = {
      {"0.1", "gemm_f32 gemm_f32 gemm_f32 conv_f32", "gemm_f32 gemm_f32 gemm_f32 conv_f32",
       TYPE_F32, false},
      {"0.1", "gemm_f32 gemm_halves gemm_halves conv_f32",
       "gemm_halves gemm_halves gemm_halves conv_halves", TYPE_F16, true},
      {"1e6", "gemm_f32 gemm_f32 gemm_halves conv_f32", "gemm_f32 gemm_f32 gemm_halves conv_f32",
       TYPE_F32, true}, /* more than f16 holds */
      {"1e-7", "gemm_f32 gemm_f32 gemm_halves conv_f32", "gemm_f32 gemm_f32 gemm_halves conv_f32",
       TYPE_F32, true}, /* less */
      {"1.001953125", "gemm_f32 gemm_halves gemm_f32 conv_f32",
       "gemm_halves gemm_halves gemm_f32 conv_halves", TYPE_F16, false},
      {"0.5", "gemm_f32 gemm_halves gemm_f32 conv_f32",
       "gemm_halves gemm_halves gemm_f32 conv_halves", TYPE_BF16, false},
  };
  struct target target;
  char text[1024], names[256];
  assert_int_equal(target_init(&f->ctx, "x86_64-linux-gnu", "avx512", &target), HONE_OK);
  for (size_t c = 0; c < COUNT(cases); c++)
    for (int small = 0; small < 2; small++) {
      struct plan *plan;
      const struct plan_options options = {
          .target = &target, .threads = 1, .prefers_size = small, .fp16 = cases[c].fp16};
      snprintf(text, sizeof text, graph, cases[c].fill, cases[c].fill, cases[c].fill);
      read_graph(f, text);
      assert_int_equal(plan_build(&f->ctx, f->arena, f->graph, &options, &plan), HONE_OK);
      assert_string_equal(kernels_of(plan, names, sizeof names),
                          small ? cases[c].small : cases[c].fast);
      for (size_t s = 0; s < plan->steps.count; s++)
        if (plan->steps.at[s]->kind == STEP_KERNEL && plan->steps.at[s]->problem.k == 4096)
          assert_int_equal(plan->steps.at[s]->problem.types.b, cases[c].type);
    }
}

/* ceil_mode takes no kernel from a pool but from a mean that counts the padding. */
static void pools_round_up_in_kernels(void **state) {
  struct fixture *f = *state;
  static const char *const cases[][2] = {
      {"x: f32[1,8,7,7]) -> (y) {\n  y = MaxPool(x) kernel_shape=[2,2]", "pool_f32"},
      {"x: f32[1,8,7]) -> (y) {\n  y = AveragePool(x) kernel_shape=[2]", "pool_f32"},
      {"x: u8[1,8,7,7]) -> (y) {\n  y = MaxPool(x) kernel_shape=[2,2]", "pool_max_i8"},
      {"x: f32[1,8,7,7]) -> (y) {\n  y = AveragePool(x) count_include_pad=1 kernel_shape=[2,2]",
       ""},
  };
  for (size_t c = 0; c < COUNT(cases); c++) {
    char text[256], names[64];
    snprintf(text, sizeof text, "graph(%s strides=[%s] ceil_mode=1\n}\n", cases[c][0],
             strstr(cases[c][0], "2,2") ? "2,2" : "2");
    read_graph(f, text);
    assert_string_equal(kernels_of(make_plan(f), names, sizeof names), cases[c][1]);
  }
}

/* -- size */

static struct value *input(struct fixture *f, const char *name) {
  struct value *value;
  struct shape shape = {2, {2, 4}};
  assert_int_equal(graph_input(&f->ctx, f->graph, name, HONE_F32, &shape, &value), HONE_OK);
  return value;
}

static struct value *apply(struct fixture *f, enum op_id op, struct value *const *in,
                           size_t count) {
  struct node *node;
  assert_int_equal(graph_node(&f->ctx, f->graph, &op_table[op], in, count, 1, &node), HONE_OK);
  if (op == OP_Concat) assert_int_equal(node_set_int(&f->ctx, f->graph, node, "axis", 0), HONE_OK);
  return node->outputs[0];
}

/* Infers, optimises and plans the graph that ends in `value`, within some seconds of this thread's
   CPU time; an algorithm quadratic in 200,000 would take minutes. */
static struct plan *plan_in_time(struct fixture *f, struct value *value) {
  struct pipeline_options pipeline = {0};
  clock_t start = clock();
  assert_int_equal(graph_output(&f->ctx, f->graph, value), HONE_OK);
  assert_int_equal(graph_infer(&f->ctx, f->graph), HONE_OK);
  assert_int_equal(passes_run(&f->ctx, f->graph, &pipeline), HONE_OK);
  struct plan *plan = make_plan(f);
  double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
  print_message("%zu steps in %.2f s\n", plan->steps.count, seconds);
  assert_true(seconds < 15);
  return plan;
}

static void a_chain_of_200000_nodes(void **state) {
  struct fixture *f = *state;
  assert_int_equal(graph_create(&f->ctx, f->arena, &f->graph), HONE_OK);
  struct value *x = input(f, "x");
  for (int i = 0; i < 100000; i++) {
    struct value *y = apply(f, OP_Softmax, &x, 1);
    x = apply(f, OP_Add, (struct value *[]){x, y}, 2);
  }
  struct plan *plan = plan_in_time(f, x);
  assert_int_equal(plan->steps.count, 200000);
  assert_true(plan->arena_bytes <= 8 * 64);
}

static void a_concat_of_8000_values(void **state) {
  enum { COUNT_OF_VALUES = 8000 };
  struct fixture *f = *state;
  struct value **values;
  assert_int_equal(graph_create(&f->ctx, f->arena, &f->graph), HONE_OK);
  assert_int_equal(NEW_ARRAY(&f->ctx, f->arena, values, COUNT_OF_VALUES), HONE_OK);
  struct value *x = input(f, "x");
  for (int i = 0; i < COUNT_OF_VALUES; i++) {
    struct node *scale;
    x = apply(f, OP_Softmax, &x, 1);
    assert_int_equal(graph_node(&f->ctx, f->graph, &op_table[OP_LeakyRelu], &x, 1, 1, &scale),
                     HONE_OK);
    assert_int_equal(node_set_float(&f->ctx, f->graph, scale, "alpha", i), HONE_OK);
    values[i] = scale->outputs[0];
  }
  struct plan *plan = plan_in_time(f, apply(f, OP_Concat, values, COUNT_OF_VALUES));
  assert_true(plan->steps.count >= 2 * COUNT_OF_VALUES);
}

static void a_thousand_inputs(void **state) {
  enum { COUNT_OF_INPUTS = 1000 };
  struct fixture *f = *state;
  struct value *values[COUNT_OF_INPUTS];
  assert_int_equal(graph_create(&f->ctx, f->arena, &f->graph), HONE_OK);
  for (int i = 0; i < COUNT_OF_INPUTS; i++) {
    char name[16];
    snprintf(name, sizeof name, "x%d", i);
    values[i] = input(f, name);
  }
  struct plan *plan = plan_in_time(f, apply(f, OP_Concat, values, COUNT_OF_INPUTS));
  assert_int_equal(plan->steps.count, COUNT_OF_INPUTS);
  assert_int_equal(plan->arena_bytes, 0);
}

/* A large matrix that products read turned is packed from where it came: the passes do not copy it, the plan neither. */
static void turned_weights_are_not_copied(void **state) {
  struct fixture *f = *state;
  static const struct {
    const char *body;
    bool is_copied;
  } cases[] = {
      {"  t = Transpose(w) perm=[1,0]\n  y = MatMul(x, t)\n  z = MatMul(y, t)\n", false},
      {"  t = Transpose(w)\n  y = MatMul(x, t)\n  z = Relu(y)\n", false},
      {"  t = Transpose(w)\n  y = MatMul(x, t)\n  z = MatMul(t, t)\n", true},
      {"  t = Transpose(w)\n  y = MatMul(x, t)\n  z = Relu(t)\n", true},
  };
  char text[512];
  for (size_t c = 0; c < COUNT(cases); c++)
    for (int bf16 = 0; bf16 < 2; bf16++) {
      const struct pipeline_options options = {0};
      size_t turned = 0;
      snprintf(text, sizeof text,
               "graph(x: f32[1,7,576]) -> (y, z) {\n  w = const f32[576,576] seed=1\n%s}\n",
               cases[c].body);
      read_graph(f, text);
      const void *data = f->graph->nodes.at[0]->inputs[0]->constant->data;
      assert_int_equal(passes_run(&f->ctx, f->graph, &options), HONE_OK);
      const struct plan *plan = make_plan_in(f, bf16);
      for (size_t i = 0; i < plan->buffers.count; i++) {
        const struct buffer *b = plan->buffers.at[i];
        turned += b->place == BUFFER_WEIGHTS && b->pack.kernel && b->problem.b_row == 1 &&
                  (bf16 || b->tensor->data == data);
      }
      assert_int_equal(turned > 0, !cases[c].is_copied);
      for (size_t s = 0; s < plan->steps.count; s++)
        assert_int_not_equal(plan->steps.at[s]->kind, STEP_PACK);
    }
}

/* Products of one operand run at the same time, and so does one whose epilogue reads the elements that
   its own work items have just written. */
static void products_of_one_operand_are_joined(void **state) {
  struct fixture *f = *state;
  static const struct {
    const char *body;
    size_t joined;
  } cases[] = {
      {"  a = MatMul(r, u)\n  b = MatMul(r, v)\n  c = MatMul(r, w)\n  y = Concat(a, b, c) axis=1\n",
       2},
      {"  a = MatMul(r, u)\n  g = Sigmoid(a)\n  b = MatMul(r, v)\n  c = Mul(g, b)\n  y = MatMul(c, "
       "w)\n",
       1},
      {"  a = MatMul(r, u)\n  b = MatMul(a, v)\n  y = MatMul(b, w)\n", 0},
      {"  a = MatMul(r, u)\n  t = Transpose(a)\n  b = MatMul(r, v)\n  c = Add(t, b)\n  y = "
       "MatMul(c, w)\n",
       0},
  };
  char text[1024];
  for (size_t c = 0; c < COUNT(cases); c++) {
    const struct pipeline_options options = {0};
    size_t joined = 0;
    snprintf(text, sizeof text,
             "graph(x: f32[256,256]) -> (z) {\n  u = const f32[256,256] seed=1\n"
             "  v = const f32[256,256] seed=2\n  w = const f32[256,256] seed=3\n  r = Relu(x)\n%s"
             "  z = Relu(y)\n}\n",
             cases[c].body);
    read_graph(f, text);
    assert_int_equal(passes_run(&f->ctx, f->graph, &options), HONE_OK);
    const struct plan *plan = make_plan(f);
    for (size_t s = 0; s < plan->steps.count; s++)
      joined += plan->steps.at[s]->kind == STEP_KERNEL && plan->steps.at[s]->overlaps_previous;
    assert_int_equal(joined, cases[c].joined);
  }
}

/* Weights that two steps pack alike are stored once. A table that is also a matmul's weights is not
   stored again, and weights that no step reads are not stored. */
static void tables_lie_last(void **state) {
  struct fixture *f = *state;
  static const struct {
    const char *body;
    size_t rows; /* of tables that stay in their file */
  } cases[] = {{"  a = Gather(t, i)\n  b = MatMul(a, u)\n", 4096},
               {"  c = Gather(t, i)\n  a = Add(c, c)\n  d = Mul(t, t)\n  b = ReduceSum(d)\n", 0},
               {"  a = Gather(t, i) axis=1\n  b = Neg(a)\n", 0}, /* a part of every row */
               {"  a = Gather(t, many)\n  b = Neg(a)\n", 0}};    /* most rows */
  char text[1024];
  for (size_t c = 0; c < COUNT(cases); c++) {
    snprintf(text, sizeof text,
             "graph(i: i64[3], many: i64[3000]) -> (a, b) {\n  u = const f32[128,8] seed=2\n"
             "  t = const f32[4096,128] seed=1\n%s}\n",
             cases[c].body);
    read_graph(f, text);
    const struct plan *plan = make_plan(f);
    assert_int_equal(plan->table_bytes, cases[c].rows * 128 * sizeof(float));
    for (size_t k = 0; k < plan->buffers.count; k++) {
      const struct buffer *b = plan->buffers.at[k];
      if (b->is_table && b->first >= 0 && !b->over)
        assert_true(b->offset >= plan->weights_bytes - plan->table_bytes);
    }
  }
}

static void weights_lie_once(void **state) {
  struct fixture *f = *state;
  static const struct {
    const char *body;
    size_t tables; /* of 480 by 128 floats: whole panels */
  } cases[] = {
      /* one problem twice */
      {"  a = MatMul(x, u)\n  b = MatMul(y, u)\n", 1},
      /* the rows of a table are the columns of packed weights */
      {"  a = Gather(t, i)\n  b = Gemm(x, t) transB=1\n", 1},
      {"  a = Gather(t, i) axis=-2\n  b = Gemm(x, t) transB=1\n", 1},
      /* other orders, other readers, another use of the rows */
      {"  a = Gather(t, i) axis=1\n  b = Gemm(x, t) transB=1\n", 2},
      {"  a = Gather(u, i)\n  b = MatMul(x, u)\n", 2},
      {"  c = Gather(t, i)\n  d = Gemm(c, t) transB=1\n  a = Concat(d, d)  axis=0\n  b = Add(t, "
       "t)\n",
       2},
  };
  char text[1024];
  for (size_t c = 0; c < COUNT(cases); c++) {
    snprintf(text, sizeof text,
             "graph(x: f32[4,128], y: f32[4,128], i: i64[3]) -> (a, b) {\n"
             "  t = const f32[480,128] seed=1\n  u = const f32[128,480] seed=2\n%s}\n",
             cases[c].body);
    read_graph(f, text);
    assert_int_equal(make_plan(f)->weights_bytes, cases[c].tables * 480 * 128 * sizeof(float));
  }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(lives_never_meet),
      TEST(the_lower_bound_is_the_fullest_step),
      TEST(a_chain_of_200000_nodes),
      TEST(a_concat_of_8000_values),
      TEST(a_thousand_inputs),
      TEST(results_take_the_place_of_what_dies),
      TEST(images_are_written_into_their_concat),
      TEST(masks_say_what_rows_see),
      TEST(cleared_rows_are_one_step),
      TEST(attention_in_bf16_converts_nothing),
      TEST(caches_are_read_in_their_type),
      TEST(products_store_16_bits),
      TEST(borders_are_written_in_place),
      TEST(images_in_bf16_have_borders),
      TEST(bf16_takes_the_faster_products),
      TEST(winograd_counts_its_products_type),
      TEST(a_table_decides_the_precision),
      TEST(ranges_are_views),
      TEST(weights_of_16_bits),
      TEST(products_of_one_operand_are_joined),
      TEST(weights_lie_once),
      TEST(tables_lie_last),
      TEST(turned_weights_are_not_copied),
      TEST(pools_round_up_in_kernels),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
