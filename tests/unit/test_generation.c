/* generation: the role of each input, the sizes of a call, and a generation loop that detects
 * engines which skip work. */
#include <math.h>
#include <stdlib.h>

#include "bench/worker/generation.h"
#include "unit.h"

enum { VOCABULARY = 7, PROMPT = 3, COUNT_NEW = 12, ALL = PROMPT + COUNT_NEW };

/* token[1,1], pos[1], past[2,P,4] -> logits[1,1,7], present[2,P+1,4] */
static struct backend_tensor inputs[] = {
    {.name = "token", .info = {.dtype = HONE_I64, .rank = 2, .shape = {1, 1}}},
    {.name = "pos", .info = {.dtype = HONE_I64, .rank = 1, .shape = {1}}},
    {.name = "past", .info = {.dtype = HONE_F32, .rank = 3, .shape = {2, 5, 4}}}};
static struct backend_tensor outputs[] = {
    {.name = "present", .info = {.dtype = HONE_F32, .rank = 3, .shape = {2, 6, 4}}},
    {.name = "logits", .info = {.dtype = HONE_F32, .rank = 3, .shape = {1, 1, VOCABULARY}}}};
static const struct backend_io io = {3, 2, inputs, outputs};
/* The same and mask[1,P+1]. */
static struct backend_tensor masked[] = {
    {.name = "token", .info = {.dtype = HONE_I64, .rank = 2, .shape = {1, 1}}},
    {.name = "pos", .info = {.dtype = HONE_I64, .rank = 1, .shape = {1}}},
    {.name = "past", .info = {.dtype = HONE_F32, .rank = 3, .shape = {2, 5, 4}}},
    {.name = "mask", .info = {.dtype = HONE_I64, .rank = 2, .shape = {1, 6}}}};
static const struct backend_io masked_io = {4, 2, masked, outputs};

static void parts_are_found(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  struct generation *g = calloc(1, sizeof *g), *again = calloc(1, sizeof *again);
  assert_int_equal(generation_find(&ctx, &io, NULL, g), HONE_OK);
  assert_int_equal(g->token, 0);
  assert_int_equal(g->position, 1);
  assert_int_equal(g->mask, -1);
  assert_int_equal(g->logits, 1);
  assert_int_equal(g->cache_count, 1);
  assert_int_equal(generation_form(g, 2, (struct generation_call){9, 1}).shape[1], 9);
  assert_int_equal(generation_form(g, 3, (struct generation_call){9, 1}).shape[1], 10);
  struct strbuf text = {0};
  const char *const names[] = {"token", "pos", "past"};
  assert_int_equal(generation_shapes(&ctx, g, names, (struct generation_call){1, 1}, 31, &text),
                   HONE_OK);
  assert_string_equal(text.at, "token[1,1],pos[1],past[2,HELD<=31,4]");
  strbuf_deinit(&text);
  json_t *list = generation_pack(g);
  assert_true(generation_unpack(list, again));
  assert_memory_equal(g, again, sizeof *g);
  json_array_remove(list, 3); /* one number less: damaged */
  assert_false(generation_unpack(list, again));
  json_decref(list);
  free(g);
  free(again);
}

/* Inputs of an engine with fixed sizes: caches of full length, and a mask of the used positions. */
static void caches_are_held(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  struct generation *g = calloc(1, sizeof *g), *again = calloc(1, sizeof *again);
  assert_int_equal(generation_find(&ctx, &io, NULL, g), HONE_OK);
  assert_false(generation_hold(g, 3)); /* nothing would hide a place */
  assert_int_equal(generation_find(&ctx, &masked_io, NULL, g), HONE_OK);
  masked[3].info.dtype = HONE_F32; /* what is added to scores, perhaps */
  assert_int_equal(generation_find(&ctx, &masked_io, NULL, again), HONE_OK);
  assert_false(generation_hold(again, 3));
  masked[3].info.dtype = HONE_I64;
  g->takes_prompt = true;
  assert_true(generation_hold(g, 3));
  assert_int_equal(generation_call(g, 5, 1).past, 1); /* a prompt goes token by token */
  const struct generation_call call = {1, 1};
  assert_int_equal(generation_form(g, 2, call).shape[1], 3);
  assert_int_equal(generation_form(g, 3, call).shape[1], 4);
  assert_int_equal(generation_form(g, 4, call).shape[1], 4);
  json_t *list = generation_pack(g);
  assert_true(generation_unpack(list, again));
  assert_memory_equal(g, again, sizeof *g);
  json_decref(list);
  int64_t token, at, mask[4];
  float past[2][3][4] = {0}, present[2][4][4];
  for (int i = 0; i < 32; i++) (&present[0][0][0])[i] = (float)i;
  hone_tensor in[] = {generation_form(g, 0, call), generation_form(g, 1, call),
                      generation_form(g, 2, call), generation_form(g, 3, call)};
  hone_tensor out = generation_form(g, 4, call);
  in[0].data = &token, in[1].data = &at, in[2].data = past, in[3].data = mask, out.data = present;
  generation_fill(g, call, (int64_t[]){6, 5, 4}, in);
  assert_true(token == 5 && at == 1 && mask[0] && !mask[1] && !mask[2] && mask[3]);
  generation_keep(g, call, &out, in);
  for (int i = 0; i < 24;
       i++) /* the last position of each half of the output, which the second token must have */
    assert_true((&past[0][0][0])[i] == (i / 4 % 3 == 1 ? present[i / 12][3][i % 4] : 0));
  free(g);
  free(again);
}

static void other_models_are_refused(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  struct generation *g = calloc(1, sizeof *g);
  struct backend_tensor changed[3], *ins = changed;
  memcpy(changed, inputs, sizeof changed);
  const struct backend_io other = {3, 2, ins, outputs};
  snprintf(changed[0].name, sizeof changed[0].name, "image");
  assert_int_equal(generation_find(&ctx, &other, NULL, g), HONE_E_UNSUP);
  assert_non_null(strstr(ctx.message, "does not generate text"));
  memcpy(changed, inputs, sizeof changed);
  ctx_init(&ctx);
  changed[2].info.shape[0] = 3; /* no output is this, grown */
  assert_int_equal(generation_find(&ctx, &other, NULL, g), HONE_E_UNSUP);
  assert_non_null(strstr(ctx.message, "or a cache"));
  memcpy(changed, inputs, sizeof changed);
  ctx_init(&ctx);
  changed[0].info.shape[0] = 4;
  assert_int_equal(generation_find(&ctx, &other, NULL, g), HONE_E_UNSUP);
  assert_non_null(strstr(ctx.message, "the batch is 4"));
  free(g);
}

/* -- an engine */

enum cheat { HONEST, LEAVES_LOGITS, FORGETS_CACHE, WRONG_ONCE, SAYS_NAN, IGNORES_MASK };
struct session {
  const hone_tensor *in, *out;
  enum cheat cheat;
  int runs, binds;
  bool is_held; /* there is a mask */
};

/* The next token is a function of this one and of all before, which the cache holds. */
static int64_t next_token(int64_t token, double sum) {
  return (token * 3 + (int64_t)sum + 1) % VOCABULARY;
}

static hone_status bind_set(struct ctx *ctx, struct session *s, int set, const hone_tensor *in,
                            const hone_tensor *out) {
  (void)ctx, (void)set;
  s->in = in;
  s->out = out;
  s->binds++;
  return HONE_OK;
}

static hone_status copy_in(struct ctx *ctx, struct session *s, int set, const hone_tensor *in) {
  (void)ctx, (void)set;
  s->in = in;
  return HONE_OK;
}

static hone_status run(struct ctx *ctx, struct session *s, int set) {
  (void)ctx, (void)set;
  const int64_t past = s->in[2].shape[1], token = *(const int64_t *)s->in[0].data;
  const float *from = s->in[2].data;
  float *to = s->out[0].data, *logits = s->out[1].data;
  double sum = 0;
  const int64_t *mask = s->is_held ? s->in[3].data : NULL;
  for (int64_t i = 0; i < past; i++) {
    const double unseen = s->cheat == IGNORES_MASK ? 1 : 0;
    sum += !mask || mask[i] ? (double)from[i * 4] : unseen;
  }
  const bool is_late = ++s->runs > 20;
  for (int64_t half = 0; half < 2; half++) {
    memcpy(to + half * (past + 1) * 4, from + half * past * 4, (size_t)past * 16);
    for (int i = 0; i < 4; i++) to[(half * (past + 1) + past) * 4 + i] = (float)token;
  }
  if (s->cheat == FORGETS_CACHE && is_late) sum = 0;
  int64_t next = next_token(token, sum);
  if (s->cheat == WRONG_ONCE && s->runs == 40) next = (next + 1) % VOCABULARY;
  if (s->cheat == LEAVES_LOGITS && is_late) return HONE_OK;
  for (int i = 0; i < VOCABULARY; i++) logits[i] = i == next ? 2.0f : -1.0f;
  if (s->cheat == SAYS_NAN && is_late) logits[0] = NAN;
  return HONE_OK;
}
static hone_status wait_for(struct ctx *ctx, struct session *s, int set) {
  (void)ctx, (void)s, (void)set;
  return HONE_OK;
}
static const struct backend engine = {.bind = bind_set, .submit = run, .wait = wait_for};
static const struct backend with_memory = {
    .bind = bind_set, .copy_in = copy_in, .submit = run, .wait = wait_for};

static void write_sets(struct ctx *ctx, const char *dir, double lead) {
  for (int set = 0; set < BENCH_SETS; set++) {
    char path[4200];
    int64_t tokens[ALL];
    double leads[COUNT_NEW], sum = 0;
    for (int i = 0; i < PROMPT; i++) tokens[i] = (set + i) % VOCABULARY;
    for (int i = 0; i + 1 < ALL; i++) {
      if (i + 1 >= PROMPT) tokens[i + 1] = next_token(tokens[i], sum);
      sum += (double)tokens[i];
    }
    for (int i = 0; i < COUNT_NEW; i++) leads[i] = lead;
    const hone_tensor ids = {.data = tokens, .dtype = HONE_I64, .rank = 1, .shape = {ALL}};
    const hone_tensor by = {.data = leads, .dtype = HONE_F64, .rank = 1, .shape = {COUNT_NEW}};
    snprintf(path, sizeof path, "%s/tokens_%d.npy", dir, set);
    assert_int_equal(npy_write(ctx, path, &ids), HONE_OK);
    snprintf(path, sizeof path, "%s/leads_%d.npy", dir, set);
    assert_int_equal(npy_write(ctx, path, &by), HONE_OK);
  }
}

/* Whether a slice of that engine was found right. */
static bool is_right_of(enum cheat cheat, double lead, const struct backend *backend,
                        bool is_held) {
  static const int places[] = {0, 1, 2, 3};
  struct ctx ctx;
  char dir[4096];
  ctx_init(&ctx);
  struct generation *plan = calloc(1, sizeof *plan);
  struct session session = {.cheat = cheat, .is_held = is_held};
  const struct backend_io *of = is_held ? &masked_io : &io;
  assert_int_equal(dir_temporary(&ctx, dir), HONE_OK);
  write_sets(&ctx, dir, lead);
  assert_int_equal(generation_find(&ctx, of, NULL, plan), HONE_OK);
  assert_int_equal(is_held, is_held && generation_hold(plan, ALL - 1));
  struct loop loop = {.backend = backend, .session = &session, .io = of};
  random_init(&loop.random, 1);
  const struct generator_spec spec = {.plan = plan,
                                      .input_place = places,
                                      .output_place = places,
                                      .prompt = PROMPT,
                                      .count = COUNT_NEW,
                                      .limit = generation_lead("onnx"),
                                      .dir = dir};
  assert_int_equal(generator_create(&ctx, &loop, &spec, &loop.generator), HONE_OK);
  const struct slice_plan plan_of = {
      .min_samples = 8 * COUNT_NEW,
      .max_ns = 500000000u, /* an engine that gives no token uses all of it */
      .scenario = {.kind = SCENARIO_generate}};
  struct slice slice;
  assert_int_equal(loop_slice(&ctx, &loop, &plan_of, &slice), HONE_OK);
  const bool is_within = slice.accuracy.is_within;
  assert_true(slice.verified >= 8);
  if (cheat == HONEST) {
    assert_int_equal(slice.sample_count % COUNT_NEW, 0);
    assert_int_equal(session.runs, (int)(slice.sample_count / COUNT_NEW) * (ALL - 1));
    assert_true(slice.accuracy.top1 == 1);
    assert_int_equal(session.runs, session.binds * (backend->copy_in && is_held ? ALL - 1 : 1));
    for (size_t i = 0; i < slice.sample_count; i++)
      assert_true((slice.scheduled[i] == slice.started[i]) == (i % COUNT_NEW == 0));
  } else if (!is_within) {
    assert_non_null(strstr(slice.accuracy.where, "the reference's"));
  }
  slice_deinit(&slice);
  generator_destroy(loop.generator);
  dir_remove_tree(dir);
  free(plan);
  return is_within;
}

static bool is_right(enum cheat cheat, double lead) {
  return is_right_of(cheat, lead, &engine, false);
}

/* An engine of one size is given the same text, and is found out by the same means. */
static void held_caches_give_the_same_text(void **state) {
  (void)state;
  const struct backend *const engines[] = {&engine, &with_memory};
  for (size_t i = 0; i < COUNT(engines); i++) {
    assert_true(is_right_of(HONEST, 0.5, engines[i], true));
    for (enum cheat cheat = LEAVES_LOGITS; cheat <= IGNORES_MASK; cheat++)
      assert_false(is_right_of(cheat, 0.5, engines[i], true));
  }
}

static void the_loop_finds_cheats(void **state) {
  (void)state;
  assert_true(is_right(HONEST, 0.5));
  assert_false(is_right(LEAVES_LOGITS, 0.5));
  assert_false(is_right(FORGETS_CACHE, 0.5));
  assert_false(is_right(WRONG_ONCE, 0.5));
  assert_false(is_right(SAYS_NAN, 0.5));
}

/* If the reference's lead over the second token is below rounding error, another token is accepted;
   NaN is not. */
static void a_tie_is_no_fault(void **state) {
  (void)state;
  assert_true(is_right(WRONG_ONCE, GENERATION_LEAD / 2));
  assert_false(is_right(SAYS_NAN, GENERATION_LEAD / 2));
  assert_false(is_right(WRONG_ONCE, GENERATION_LEAD * 2));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(parts_are_found),
                                     cmocka_unit_test(caches_are_held),
                                     cmocka_unit_test(held_caches_give_the_same_text),
                                     cmocka_unit_test(other_models_are_refused),
                                     cmocka_unit_test(the_loop_finds_cheats),
                                     cmocka_unit_test(a_tie_is_no_fault)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
