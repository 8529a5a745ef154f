/* hybrid: the parts give the results of the whole graph; cuts are where few bytes are transferred;
 * the shortest path over segments. */
#include "judge/hybrid/hybrid.h"
#include "unit.h"

#include <math.h>

struct scene {
  struct ctx ctx;
  struct arena *arena;
  struct graph *graph;
};

static void begin(struct scene *s, const char *text) {
  *s = (struct scene){0};
  ctx_init(&s->ctx);
  assert_int_equal(arena_create(&s->ctx, 0, &s->arena), HONE_OK);
  assert_int_equal(graph_parse(&s->ctx, s->arena, text, strlen(text), op_find, &s->graph), HONE_OK);
  assert_int_equal(graph_infer(&s->ctx, s->graph), HONE_OK);
}
static void end(struct scene *s) { arena_destroy(s->arena); }

/* A value that skips parts (a), an input that is read late (z), an output from the middle (c). */
static const char skips[] =
    "graph(x: f32[64], z: f32[64]) -> (c, y) {\n"
    "  k = const f32[1] fill=2\n"
    "  a = Mul(x, k)\n  b = Exp(a)\n  c = Add(b, z)\n  d = Sqrt(b)\n  e = Sub(d, a)\n"
    "  y = Mul(e, z)\n}\n";

static bool has_name(struct value *const *values, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++)
    if (!strcmp(values[i]->name, name)) return true;
  return false;
}

static void parts_have_what_crosses(void **state) {
  (void)state;
  struct scene s;
  struct graph *part;
  begin(&s, skips);
  assert_int_equal(graph_part(&s.ctx, s.arena, s.graph, 1, 4, &part), HONE_OK);
  assert_int_equal(part->inputs.count, 2);
  assert_true(has_name(part->inputs.at, 2, "a") && has_name(part->inputs.at, 2, "z"));
  assert_int_equal(part->outputs.count, 2);
  assert_true(has_name(part->outputs.at, 2, "c") && has_name(part->outputs.at, 2, "d"));
  assert_int_equal(part->nodes.count, 3);
  assert_int_equal(graph_part(&s.ctx, s.arena, s.graph, 4, 4, &part), HONE_E_USAGE);
  ctx_clear(&s.ctx);
  assert_int_equal(graph_part(&s.ctx, s.arena, s.graph, 0, 7, &part), HONE_E_USAGE);
  end(&s);
}

/* Values by name, as large as the models of these tests need. */
struct memory {
  const char *names[32];
  float at[32][64];
  size_t count;
};
static float *find(struct memory *m, const char *name) {
  for (size_t i = 0; i < m->count; i++)
    if (!strcmp(m->names[i], name)) return m->at[i];
  m->names[m->count] = name;
  return m->at[m->count++];
}

static void run(struct scene *s, const struct graph *graph, struct memory *m) {
  hone_tensor in[8], out[8];
  for (size_t k = 0; k < 2; k++) {
    struct value *const *values = k ? graph->outputs.at : graph->inputs.at;
    for (size_t i = 0; i < (k ? graph->outputs.count : graph->inputs.count); i++) {
      hone_tensor tensor = {
          .data = find(m, values[i]->name), .dtype = HONE_F32, .rank = 1, .shape = {64}};
      (k ? out : in)[i] = tensor;
    }
  }
  assert_int_equal(reference_run(&s->ctx, graph, in, out), HONE_OK);
}

static void parts_in_a_row_are_the_whole(void **state) {
  (void)state;
  struct scene s;
  begin(&s, skips);
  for (size_t first = 1; first < s.graph->nodes.count - 1; first++)
    for (size_t second = first + 1; second < s.graph->nodes.count; second++) {
      static struct memory whole, split;
      const size_t ends[] = {first, second, s.graph->nodes.count};
      whole = split = (struct memory){.count = 0};
      for (int i = 0; i < 64; i++) {
        find(&whole, "x")[i] = find(&split, "x")[i] = (float)i / 40 - 1;
        find(&whole, "z")[i] = find(&split, "z")[i] = (float)(i % 7);
      }
      run(&s, s.graph, &whole);
      for (size_t k = 0; k < 3; k++) {
        struct graph *part;
        assert_int_equal(graph_part(&s.ctx, s.arena, s.graph, k ? ends[k - 1] : 0, ends[k], &part),
                         HONE_OK);
        run(&s, part, &split);
      }
      for (size_t o = 0; o < 2; o++) {
        const char *name = s.graph->outputs.at[o]->name;
        assert_memory_equal(find(&whole, name), find(&split, name), 64 * sizeof(float));
      }
    }
  end(&s);
}

/* Values that a branch captures are also transferred across a cut. */
static void captured_values_cross(void **state) {
  (void)state;
  struct scene s;
  struct graph *part;
  begin(&s,
        "graph(x: f32[4], p: bool[]) -> (y) {\n  a = Exp(x)\n  b = Neg(x)\n"
        "  y = If(p) then_branch=graph() -> (t) {\n  t = Add(a, b)\n} "
        "else_branch=graph() -> (u) {\n  u = Neg(a)\n}\n}\n");
  assert_int_equal(graph_part(&s.ctx, s.arena, s.graph, 0, 1, &part), HONE_OK);
  assert_true(part->outputs.count == 1 && has_name(part->outputs.at, 1, "a"));
  assert_int_equal(graph_part(&s.ctx, s.arena, s.graph, 2, 3, &part), HONE_OK);
  assert_true(has_name(part->inputs.at, part->inputs.count, "a"));
  assert_true(has_name(part->inputs.at, part->inputs.count, "b"));
  assert_true(has_name(part->inputs.at, part->inputs.count, "p"));
  end(&s);
}

/* A wide value, then a narrow one, then wide again: the cut is at the narrow one. */
static void cuts_lie_where_little_crosses(void **state) {
  (void)state;
  struct scene s;
  struct cut cuts[HYBRID_MOST_CUTS];
  size_t count;
  begin(&s,
        "graph(x: f32[1,256]) -> (y) {\n  w = const f32[256,8] fill=1\n  v = const f32[8,256] "
        "fill=1\n"
        "  a = Exp(x)\n  b = MatMul(a, w)\n  c = MatMul(b, v)\n  y = Exp(c)\n}\n");
  assert_int_equal(hybrid_cuts(&s.ctx, s.arena, s.graph, 1, cuts, &count), HONE_OK);
  assert_int_equal(count, 1);
  assert_int_equal(cuts[0].position, 2);
  assert_true(cuts[0].bytes == 32 && cuts[0].values == 1);
  end(&s);
}

static void no_times(struct hybrid_times *t, size_t places, size_t engines) {
  *t = (struct hybrid_times){.places = places, .engines = engines};
  for (size_t p = 0; p < HYBRID_PLACES; p++)
    for (size_t e = 0; e < HYBRID_MOST_ENGINES; e++) {
      for (size_t q = 0; q < HYBRID_PLACES; q++) t->segment[p][q][e] = (double)NAN;
      for (size_t f = 0; f < HYBRID_MOST_ENGINES; f++) t->transfer[p][e][f] = (double)NAN;
    }
}

/* Compared with all paths, with random times; one of three segments is not possible. */
static double all_ways(const struct hybrid_times *t, size_t from, size_t before) {
  double best = (double)INFINITY;
  if (from == t->places - 1) return 0;
  for (size_t to = from + 1; to < t->places; to++)
    for (size_t e = 0; e < t->engines; e++) {
      if (e == before || isnan(t->segment[from][to][e])) continue;
      const double extra = before == SIZE_MAX || isnan(t->transfer[from][before][e])
                               ? 0
                               : t->transfer[from][before][e];
      best = fmin(best, t->segment[from][to][e] + extra + all_ways(t, to, e));
    }
  return best;
}

static void the_path_is_the_shortest(void **state) {
  (void)state;
  struct random random;
  random_init(&random, 7);
  for (int turn = 0; turn < 200; turn++) {
    struct hybrid_times t;
    struct hybrid_path path;
    double sum = 0;
    no_times(&t, 2 + random_below(&random, 4), 2 + random_below(&random, 2));
    for (size_t p = 0; p < t.places; p++)
      for (size_t e = 0; e < t.engines; e++) {
        for (size_t q = p + 1; q < t.places; q++)
          if (random_below(&random, 3))
            t.segment[p][q][e] = 1 + (double)random_below(&random, 1000);
        for (size_t f = 0; f < t.engines; f++)
          if (random_below(&random, 2)) t.transfer[p][e][f] = (double)random_below(&random, 300);
      }
    hybrid_shortest(&t, &path);
    const double best = all_ways(&t, 0, SIZE_MAX);
    if (isinf(best)) {
      assert_true(isinf(path.ms) && !path.count);
      continue;
    }
    assert_true(fabs(path.ms - best) < 1e-9);
    assert_true(path.at[0].from == 0 && path.at[path.count - 1].to == t.places - 1);
    for (size_t k = 0; k < path.count; k++) {
      sum += t.segment[path.at[k].from][path.at[k].to][path.at[k].engine];
      if (!k) continue;
      const double extra = t.transfer[path.at[k].from][path.at[k - 1].engine][path.at[k].engine];
      assert_int_equal(path.at[k].from, path.at[k - 1].to);
      sum += isnan(extra) ? 0 : extra;
    }
    assert_true(fabs(sum - best) < 1e-9);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parts_have_what_crosses), cmocka_unit_test(parts_in_a_row_are_the_whole),
      cmocka_unit_test(captured_values_cross), cmocka_unit_test(cuts_lie_where_little_crosses),
      cmocka_unit_test(the_path_is_the_shortest)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
