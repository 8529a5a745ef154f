/* Trials time and check every kernel choice of a problem. The tuned table is used by every
 * compilation for the same processor, level and thread count, and by no other. */
#include "unit.h"

#include <math.h>
#include <stdlib.h>

#include "compiler/tune/tune.h"

static char folder[4096];

static int make_folder(void **state) {
  struct ctx ctx;
  (void)state;
  ctx_init(&ctx);
  if (dir_temporary(&ctx, folder)) return -1;
  return setenv("XDG_CACHE_HOME", folder, 1);
}
static int remove_folder(void **state) {
  (void)state;
  dir_remove_tree(folder);
  return 0;
}

static const char line[] =
    "gemm f32 n256 m128 k256 batch01 batch11 a_row256 b_row256 b_column1 b_batches1 c_row256";

static void every_way_is_right(void **state) {
  (void)state;
  struct ctx ctx;
  struct arena *arena;
  struct target target;
  struct problem problem;
  struct trial trial;
  ctx_init(&ctx);
  assert_int_equal(arena_create(&ctx, 0, &arena), HONE_OK);
  assert_int_equal(target_init(&ctx, NULL, NULL, &target), HONE_OK);
  assert_true(problem_parse(line, &problem));
  const struct trial_options options = {.target = &target,
                                        .threads = 2,
                                        .most = 5,
                                        .processes = 2,
                                        .seconds = 0.05,
                                        .check_macs = 1e9};
  hone_status status = trial_run(&ctx, arena, &problem, &options, &trial);
  if (status) print_error("%s\n", ctx.message);
  assert_int_equal(status, HONE_OK);
  assert_true(trial.by_reference && trial.count == 5);
  for (size_t i = 0; i < trial.count; i++) {
    const struct candidate *candidate = &trial.candidates[i];
    assert_true(candidate->off >= 0 && candidate->off < 4e-6);
    assert_true(candidate->ns > 0 && candidate->slice_count >= 8);
    if (i) assert_true(candidate->ratio.low <= candidate->ratio.value);
    if (i > 1) assert_true(trial.candidates[i - 1].choice.cost <= candidate->choice.cost);
  }
  arena_destroy(arena);
}

/* A candidate wins only if its interval is entirely below the first's time and its results are
   right. */
static void luck_is_not_enough(void **state) {
  (void)state;
  struct candidate candidates[4] = {{.off = 0, .ratio = {NAN, NAN, NAN}},
                                    {.off = 0, .ratio = {0.8, 0.5, 1.1}},
                                    {.off = 0.1, .ratio = {0.5, 0.4, 0.6}},
                                    {.off = 0, .ratio = {0.97, 0.95, 0.99}}};
  struct trial trial = {.count = 4, .candidates = candidates};
  assert_int_equal(trial_best(&trial), 0);
  candidates[3].ratio = (struct interval){0.9, 0.85, 0.95};
  assert_int_equal(trial_best(&trial), 3);
  candidates[1].ratio = (struct interval){0.7, 0.6, 0.8};
  assert_int_equal(trial_best(&trial), 1);
}

static void tables_are_kept_apart(void **state) {
  (void)state;
  struct ctx ctx;
  struct arena *arena;
  struct choice_table table, found;
  struct compile_options options = {.threads = 2}, other = {.threads = 1};
  char text[512], path[4096], again[4096];
  ctx_init(&ctx);
  assert_int_equal(arena_create(&ctx, 0, &arena), HONE_OK);
  assert_int_equal(target_init(&ctx, NULL, NULL, &options.target), HONE_OK);
  other.target = options.target;
  assert_int_equal(tuned_read(&ctx, arena, &options, &found), HONE_OK);
  assert_int_equal(found.entries.count, 0);
  for (int vectors = 1; vectors <= 2; vectors++) { /* the second word on the problem counts */
    int length = snprintf(text, sizeof text, "%s -> gemm_f32 vectors%d", line, vectors);
    assert_int_equal(choices_parse(&ctx, arena, place_none(), text, (size_t)length, &table), 0);
    assert_int_equal(tuned_add(&ctx, arena, &options, &table), HONE_OK);
  }
  assert_int_equal(tuned_read(&ctx, arena, &options, &found), HONE_OK);
  assert_int_equal(found.entries.count, 1);
  assert_int_equal(found.entries.at[0].choice.value[0], 2);
  assert_int_equal(tuned_read(&ctx, arena, &other, &found), HONE_OK);
  assert_int_equal(found.entries.count, 0);
  assert_int_equal(tuned_path(&ctx, &options, path), HONE_OK);
  assert_int_equal(tuned_path(&ctx, &other, again), HONE_OK);
  assert_string_not_equal(path, again);
  arena_destroy(arena);
}

/* As a plan of a dynamic model prints the problem: with numbers that were set after the choice. */
static void a_choice_is_found_by_the_line_of_a_plan(void **state) {
  (void)state;
  struct ctx ctx;
  struct arena *arena;
  struct choice_table table;
  struct problem problem;
  char text[512];
  ctx_init(&ctx);
  assert_int_equal(arena_create(&ctx, 0, &arena), HONE_OK);
  int length = snprintf(text, sizeof text, "%s limit_operand1 -> gemm_f32 vectors1", line);
  assert_int_equal(choices_parse(&ctx, arena, place_none(), text, (size_t)length, &table), 0);
  assert_true(problem_parse(line, &problem));
  assert_non_null(choices_find(&table, &problem));
  problem.limit_operand = 2;
  assert_non_null(choices_find(&table, &problem));
  problem.m++;
  assert_null(choices_find(&table, &problem));
  arena_destroy(arena);
}

/* Choices that are faster in isolation are discarded unless the whole model is proven faster with
   them. */
static void a_model_that_is_not_faster_keeps_nothing(void **state) {
  (void)state;
  static const struct {
    struct interval model;
    bool kept;
  } cases[] = {{{1.002, 0.98, 1.03}, false}, /* slower */
               {{0.99, 0.95, 1.04}, false},  /* perhaps */
               {{NAN, NAN, NAN}, false},     /* not run */
               {{0.97, 0.95, 0.99}, true}};
  struct ctx ctx;
  struct arena *arena;
  struct choice_table table, found;
  struct compile_options options = {.threads = 3};
  char text[512];
  ctx_init(&ctx);
  assert_int_equal(arena_create(&ctx, 0, &arena), HONE_OK);
  assert_int_equal(target_init(&ctx, NULL, NULL, &options.target), HONE_OK);
  int length = snprintf(text, sizeof text, "%s -> gemm_f32 vectors1", line);
  assert_int_equal(choices_parse(&ctx, arena, place_none(), text, (size_t)length, &table), 0);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct tune_report report = {.model = cases[i].model};
    assert_int_equal(tune_keep(&ctx, arena, &options, &table, &report), HONE_OK);
    assert_int_equal(report.refused, !cases[i].kept);
    assert_int_equal(report.kept, cases[i].kept);
    assert_int_equal(tuned_read(&ctx, arena, &options, &found), HONE_OK);
    assert_int_equal(found.entries.count, cases[i].kept);
  }
  arena_destroy(arena);
}

/* The vectors of the tile of a graph's first product. */
static int64_t vectors_of(struct ctx *ctx, struct arena *arena,
                          const struct compile_options *options, const char *text) {
  struct model model = {.arena = arena};
  struct plan *plan;
  assert_int_equal(graph_parse(ctx, arena, text, strlen(text), op_find, &model.graph), HONE_OK);
  assert_int_equal(graph_infer(ctx, model.graph), HONE_OK);
  hone_status status = compile_plan(ctx, arena, &model, options, &plan);
  if (status) print_error("%s\n", ctx->message);
  assert_int_equal(status, HONE_OK);
  for (size_t i = 0; i < plan->steps.count; i++)
    if (plan->steps.at[i]->kind == STEP_KERNEL)
      return choice_value(&plan->steps.at[i]->choice, "vectors", 0);
  return 0;
}

/* A choice tuned for one model applies to another model's matmul of the same sizes and strides
   only. */
static void models_share_what_was_found(void **state) {
  (void)state;
  static const struct {
    const char *text;
    bool shares;
  } models[] = {
      {"graph(x: f32[128,256]) -> (y) {\n  w = const f32[256,256] seed=1\n"
       "  y = MatMul(x, w)\n}\n",
       true},
      {"graph(x: f32[128,256], z: f32[128,256]) -> (y) {\n  w = const f32[256,256] seed=2\n"
       "  m = MatMul(x, w)\n  s = Add(m, z)\n  y = Softmax(s) axis=-1\n}\n",
       true},
      {"graph(x: f32[127,256]) -> (y) {\n  w = const f32[256,256] seed=1\n"
       "  y = MatMul(x, w)\n}\n",
       false}};
  struct ctx ctx;
  struct arena *arena;
  struct choice_table table;
  struct compile_options options = {.threads = 4}, untuned = {.threads = 4, .untuned = true};
  char text[512];
  ctx_init(&ctx);
  assert_int_equal(arena_create(&ctx, 0, &arena), HONE_OK);
  assert_int_equal(target_init(&ctx, NULL, "baseline", &options.target), HONE_OK);
  untuned.target = options.target;
  int length = snprintf(text, sizeof text,
                        "%s -> gemm_f32 vectors7 tile_rows1 tile_columns1 k_unroll1 tap_block1 "
                        "depth_block256 unit_tiles1 unit_panels1",
                        line);
  assert_int_equal(choices_parse(&ctx, arena, place_none(), text, (size_t)length, &table), 0);
  assert_int_equal(tuned_add(&ctx, arena, &options, &table), HONE_OK);
  for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
    const int64_t usual = vectors_of(&ctx, arena, &untuned, models[i].text);
    const int64_t tuned = vectors_of(&ctx, arena, &options, models[i].text);
    assert_true(usual > 0 && usual != 7); /* no row proposes seven */
    assert_int_equal(tuned, models[i].shares ? 7 : usual);
  }
  arena_destroy(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_way_is_right),
      cmocka_unit_test(luck_is_not_enough),
      cmocka_unit_test(tables_are_kept_apart),
      cmocka_unit_test(a_choice_is_found_by_the_line_of_a_plan),
      cmocka_unit_test(a_model_that_is_not_faster_keeps_nothing),
      cmocka_unit_test(models_share_what_was_found),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
