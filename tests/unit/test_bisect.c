/* Planted bugs: bisect names the pass whose result was corrupted, for every pass and every kind of
 * corruption. */
#include "compile_scene.h"

enum spoil { SPOIL_OPERATOR, SPOIL_OPERANDS, SPOIL_CONSTANT };
struct planted {
  const char *pass;
  enum spoil spoil;
  struct scene *scene;
  bool done;
};

static bool swap_operands(struct graph *graph) {
  for (size_t i = 0; i < graph->nodes.count; i++) {
    struct node *node = graph->nodes.at[i];
    if (node->op->id != OP_Sub && node->op->id != OP_Div) continue;
    struct value *first = node->inputs[0];
    node->inputs[0] = node->inputs[1];
    node->inputs[1] = first;
    return true;
  }
  return false;
}

static bool change_operator(struct graph *graph) {
  static const enum op_id pairs[][2] = {
      {OP_Add, OP_Mul}, {OP_Mul, OP_Add}, {OP_Relu, OP_Neg}, {OP_Tanh, OP_Sigmoid}};
  for (size_t i = 0; i < graph->nodes.count; i++)
    for (size_t k = 0; k < COUNT(pairs); k++)
      if (graph->nodes.at[i]->op->id == pairs[k][0]) {
        static const char *const names[] = {"Mul", "Add", "Neg", "Sigmoid"};
        graph->nodes.at[i]->op = op_find("", names[k]);
        return true;
      }
  return false;
}

/* The largest weight of a float constant, doubled and turned. */
static bool change_constant(struct graph *graph) {
  for (size_t i = 0; i < graph->nodes.count; i++)
    for (size_t k = 0; k < graph->nodes.at[i]->input_count; k++) {
      const struct value *value = graph->nodes.at[i]->inputs[k];
      if (!value || !value->constant || value->dtype != HONE_F32) continue;
      const size_t count = tensor_count(value->constant);
      float *at = (float *)(uintptr_t)value->constant->data;
      for (size_t j = 0; j < count; j++) at[j] = -2 * at[j] - 1;
      return count > 0;
    }
  return false;
}

static hone_status plant(void *user, struct ctx *ctx, const struct pass *pass,
                         struct graph *graph) {
  struct planted *planted = user;
  (void)ctx;
  if (planted->done || strcmp(pass->name, planted->pass)) return HONE_OK;
  switch (planted->spoil) {
    case SPOIL_OPERATOR:
      planted->done = change_operator(graph);
      break;
    case SPOIL_OPERANDS:
      planted->done = swap_operands(graph);
      break;
    default:
      planted->done = change_constant(graph);
  }
  return HONE_OK;
}

static bool is_right(void *user, const hone_tensor *outputs) {
  const struct planted *planted = user;
  for (size_t i = 0; i < planted->scene->model.graph->outputs.count; i++)
    if (!is_close(&planted->scene->expected[i], &outputs[i])) return false;
  return true;
}

/* Whether the pass was spoilt; then it is the one that is named. */
static bool try_planted(struct scene *s, const char *pass, enum spoil spoil) {
  struct planted planted = {pass, spoil, s, false};
  const struct bisect_options options = {s->inputs, is_right, plant, &planted};
  struct pass_bisection found;
  check(s, compile_bisect(&s->ctx, &s->model, &options, &found));
  if (!planted.done) {
    assert_null(found.pass);
    return false;
  }
  if (!found.pass) test_failed("a bug planted after %s was not found", pass);
  assert_string_equal(found.pass, pass);
  assert_non_null(found.reason);
  return true;
}

static void planted_bugs_are_named(void **state) {
  static const char *const graphs[] = {"tests/compile/residual-convs.hg",
                                       "tests/compile/recurrent.hg", "tests/compile/composites.hg",
                                       "tests/compile/layernorm-forms.hg"};
  static struct scene s;
  size_t planted = 0;
  (void)state;
  for (size_t g = 0; g < COUNT(graphs); g++)
    for (size_t i = 0; i < pass_count; i++)
      for (int spoil = SPOIL_OPERATOR; spoil <= SPOIL_CONSTANT; spoil++) {
        open_scene(&s, graphs[g]); /* anew: constants are spoilt in place */
        planted += try_planted(&s, pass_pipeline[i].name, (enum spoil)spoil);
        close_scene(&s);
      }
  print_message("%zu planted bugs, each named\n", planted);
  assert_true(planted >= 8);
}

static void nothing_planted_nothing_found(void **state) {
  static struct scene s;
  struct pass_bisection found;
  (void)state;
  open_scene(&s, "tests/compile/layernorm-forms.hg");
  struct planted planted = {"", SPOIL_OPERATOR, &s, true};
  const struct bisect_options options = {s.inputs, is_right, NULL, &planted};
  check(&s, compile_bisect(&s.ctx, &s.model, &options, &found));
  assert_null(found.pass);
  assert_true(found.evaluated > 0);
  close_scene(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(planted_bugs_are_named),
                                     cmocka_unit_test(nothing_planted_nothing_found)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
