/* draw: boxes are below their inputs and do not overlap; names from a model are never markup. */
#include "ui/draw/draw.h"
#include "graph_case.h"

#include <math.h>
#include <stdlib.h>

static size_t count_of(const char *text, const char *piece) {
  size_t count = 0;
  for (const char *at = text; (at = strstr(at, piece)); at += strlen(piece)) count++;
  return count;
}

/* Random layered edges: every edge leads down through its bends, and nothing overlaps. */
static void layers_hold_their_promises(void **state) {
  struct fixture *f = *state;
  struct random random;
  random_init(&random, 7);
  for (int round = 0; round < 20; round++) {
    enum { VERTICES = 60 };
    double widths[VERTICES];
    struct layout_edge edges[3 * VERTICES];
    struct layout layout = {.vertex_count = VERTICES, .widths = widths, .edges = edges};
    for (size_t v = 0; v < VERTICES; v++) {
      widths[v] = 60 + (double)random_below(&random, 120);
      for (int k = 0; v && k < 1 + (int)random_below(&random, 2); k++)
        edges[layout.edge_count++] =
            (struct layout_edge){.from = random_below(&random, v), .to = v};
    }
    assert_int_equal(layout_layers(&f->ctx, f->arena, &layout), HONE_OK);
    for (size_t e = 0; e < layout.edge_count; e++) {
      int layer = layout.points[edges[e].from].layer;
      for (size_t b = 0; b < edges[e].bend_count; b++)
        assert_int_equal(layout.points[edges[e].bend + b].layer, ++layer);
      assert_int_equal(layout.points[edges[e].to].layer, layer + 1);
    }
    for (size_t a = 0; a < layout.point_count; a++) {
      const struct layout_point *x = &layout.points[a];
      assert_true(x->layer >= 0 && x->layer < layout.layer_count);
      assert_true(x->x - x->width / 2 > -1e-6 && x->x + x->width / 2 < layout.width + 1e-6);
      for (size_t b = 0; b < a; b++)
        if (layout.points[b].layer == x->layer)
          assert_true(fabs(layout.points[b].x - x->x) >
                      (layout.points[b].width + x->width) / 2 - 1e-6);
    }
  }
}

static void a_chain_is_a_straight_line(void **state) {
  struct fixture *f = *state;
  const double widths[] = {50, 90, 70, 50};
  struct layout_edge edges[] = {{0, 1, 0, 0}, {1, 2, 0, 0}, {2, 3, 0, 0}};
  struct layout layout = {4, widths, 3, edges, 0, NULL, 0, 0};
  assert_int_equal(layout_layers(&f->ctx, f->arena, &layout), HONE_OK);
  assert_int_equal(layout.layer_count, 4);
  for (size_t v = 0; v < 4; v++) assert_true(fabs(layout.points[v].x - 45) < 1e-6);
}

static void every_node_is_a_box(void **state) {
  struct fixture *f = *state;
  read_graph(f,
             "graph(x: f32[2,4]) -> (y) {\n  w = const f32[4,4] seed=1\n  a = MatMul(x, w)\n"
             "  b = Relu(a)\n  c = Mul(b, b)\n  y = Add(c, x)\n}\n");
  struct strbuf first = {0}, again = {0};
  assert_int_equal(draw_graph(&f->ctx, f->graph, &first), HONE_OK);
  assert_int_equal(draw_graph(&f->ctx, f->graph, &again), HONE_OK);
  assert_string_equal(first.at, again.at);
  assert_int_equal(count_of(first.at, "<rect "), 4 + 1 + 1);
  assert_int_equal(count_of(first.at, "<path "), 6); /* x*x is one line, the constant none */
  assert_int_equal(count_of(first.at, "constant w f32[4,4]"), 1);
  assert_int_equal(count_of(first.at, ">f32[2,4]</text>"), 6);
  strbuf_deinit(&first);
  strbuf_deinit(&again);
}

static void names_stay_text(void **state) {
  struct fixture *f = *state;
  static const char *const hostile[] = {"</title><script>x</script>",
                                        "\" onload=\"x",
                                        "&lt;",
                                        "]]>",
                                        "\x1b[31m",
                                        "\xe2\x80\xae",
                                        "\xff"};
  read_graph(f, "graph(x: f32[2]) -> (y) {\n  y = Relu(x)\n}\n");
  for (size_t i = 0; i < COUNT(hostile); i++) {
    struct strbuf out = {0};
    f->graph->inputs.at[0]->name = f->graph->outputs.at[0]->name = f->graph->nodes.at[0]->name =
        hostile[i];
    assert_int_equal(draw_graph(&f->ctx, f->graph, &out), HONE_OK);
    assert_int_equal(count_of(out.at, "<"), count_of(out.at, ">"));
    assert_int_equal(count_of(out.at, "<script"), 0);
    assert_int_equal(count_of(out.at, "<title>"), 3);
    assert_null(strstr(out.at, " onload=\""));
    assert_null(strchr(out.at, '\x1b'));
    strbuf_deinit(&out);
  }
}

static void what_no_one_could_read_is_refused(void **state) {
  struct fixture *f = *state;
  enum { VERTICES = 300 };
  double widths[VERTICES];
  struct layout_edge *edges = calloc((size_t)VERTICES * VERTICES, sizeof *edges);
  struct layout layout = {.vertex_count = VERTICES, .widths = widths, .edges = edges};
  for (size_t to = 0; to < VERTICES; to++) {
    widths[to] = 50;
    for (size_t from = 0; from < to; from++)
      edges[layout.edge_count++] = (struct layout_edge){.from = from, .to = to};
  }
  assert_int_equal(layout_layers(&f->ctx, f->arena, &layout), HONE_E_LIMIT);
  free(edges);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(layers_hold_their_promises, setup, teardown),
      cmocka_unit_test_setup_teardown(a_chain_is_a_straight_line, setup, teardown),
      cmocka_unit_test_setup_teardown(every_node_is_a_box, setup, teardown),
      cmocka_unit_test_setup_teardown(names_stay_text, setup, teardown),
      cmocka_unit_test_setup_teardown(what_no_one_could_read_is_refused, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
