/* Fusion: tests/groups/CASE.hg becomes the groups of CASE.want. Every value that a group reads is
 * computed by an earlier group. A group's program gives the same bits as its nodes in the
 * reference. HONE_BLESS=1 rewrites the .want files. */
#include "core/os/os.h"
#include "graph_case.h"
#include "core/ops/ops_internal.h"
#include "compiler/plan/builder.h"

#include <dirent.h>
#include <stdlib.h>

#define ROOT "tests/groups"

/* -- as text */

static void put_names(struct strbuf *text, const struct fusion_group *g, size_t first, size_t end) {
  for (size_t k = first; k < end; k++)
    strbuf_printf(text, "%s%s", k > first ? ", " : "",
                  group_input(g, k) ? group_input(g, k)->name : "-");
}

/* "y = Conv(x, w) with (b): Add(raw, @0) Relu($0)" */
static void put_group(struct strbuf *text, const struct fusion_group *g) {
  const size_t own = g->node->input_count;
  strbuf_printf(text, "%s = %s(", g->result->name, g->node->op->name);
  put_names(text, g, 0, own);
  strbuf_puts(text, ")");
  if (g->operand_count) {
    strbuf_puts(text, " with (");
    put_names(text, g, own, own + g->operand_count);
    strbuf_puts(text, ")");
  }
  if (g->count) strbuf_puts(text, ":");
  operations_print(text, g->program, g->count);
  strbuf_puts(text, "\n");
}

static void compare(struct fixture *f, const char *path, const struct strbuf *got) {
  char want_path[512];
  struct mapping want;
  snprintf(want_path, sizeof want_path, "%.*s.want", (int)strlen(path) - 3, path);
  if (getenv("HONE_BLESS")) {
    assert_int_equal(file_write_atomic(&f->ctx, want_path, got->at, got->length, 0644), HONE_OK);
    return;
  }
  assert_int_equal(file_map(&f->ctx, want_path, &want), HONE_OK);
  bool same = want.size == got->length && !memcmp(want.data, got->at, got->length);
  if (!same) print_error("%s: got\n%s", path, got->at);
  file_unmap(&want);
  assert_true(same);
}

/* -- order */

static void check_order(struct fixture *f, const struct builder *b) {
  bool *made;
  assert_int_equal(NEW_ARRAY(&f->ctx, f->arena, made, f->graph->values.count), HONE_OK);
  for (size_t v = 0; v < f->graph->values.count; v++) made[v] = !f->graph->values.at[v]->producer;
  for (size_t n = 0; n < b->groups.count; n++) {
    const struct fusion_group *g = b->groups.at[n];
    for (size_t k = 0; k < group_input_count(g); k++)
      assert_true(!group_input(g, k) || made[group_input(g, k)->index]);
    for (size_t k = 0; k < g->node->output_count; k++)
      if (group_output(g, k)) {
        assert_false(made[group_output(g, k)->index]);
        made[group_output(g, k)->index] = true;
      }
  }
  for (size_t i = 0; i < f->graph->outputs.count; i++)
    assert_true(made[f->graph->outputs.at[i]->index]);
}

/* -- meaning */

static struct tensor *new_tensor(struct fixture *f, hone_dtype dtype, const struct shape *shape) {
  struct tensor *tensor;
  assert_int_equal(tensor_create(&f->ctx, f->arena, dtype, shape, &tensor), HONE_OK);
  return tensor;
}

/* Every value of the graph, by index. */
static const struct tensor **evaluate(struct fixture *f) {
  const struct graph *graph = f->graph;
  const struct tensor **values;
  struct random random;
  random_init(&random, 7);
  assert_int_equal(NEW_ARRAY(&f->ctx, f->arena, values, graph->values.count), HONE_OK);
  for (size_t v = 0; v < graph->values.count; v++) {
    const struct value *value = graph->values.at[v];
    struct tensor *tensor;
    values[v] = value->constant;
    if (value->constant || value->producer) continue;
    values[v] = tensor = new_tensor(f, value->dtype, &value->shape);
    for (size_t i = 0; i < tensor_count(tensor); i++)
      tensor_set_f64(tensor, i, random_normal(&random) * 3);
  }
  for (size_t n = 0; n < graph->nodes.count; n++) {
    const struct node *node = graph->nodes.at[n];
    const struct tensor *in[8] = {NULL};
    struct tensor *out[4] = {NULL};
    assert_true(node->input_count <= COUNT(in) && node->output_count <= COUNT(out));
    for (size_t k = 0; k < node->input_count; k++)
      if (node->inputs[k]) in[k] = values[node->inputs[k]->index];
    for (size_t k = 0; k < node->output_count; k++)
      if (node->outputs[k])
        values[node->outputs[k]->index] = out[k] =
            new_tensor(f, node->outputs[k]->dtype, &node->outputs[k]->shape);
    assert_int_equal(node_evaluate(&f->ctx, f->arena, node, in, out), HONE_OK);
  }
  return values;
}

static void check_program(struct fixture *f, const struct fusion_group *g,
                          const struct tensor *const *values) {
  struct tensor *results[64];
  const struct tensor *raw = values[g->node->outputs[0]->index];
  assert_true(g->count <= COUNT(results));
  for (size_t s = 0; s < g->count; s++) {
    const struct operation *o = &g->program[s];
    const struct tensor *args[COUNT(o->args)] = {NULL};
    for (int k = 0; k < o->arg_count; k++) {
      const int arg = o->args[k];
      assert_true(arg < (int)s);
      if (arg < PROGRAM_RAW) assert_true((size_t)PROGRAM_INPUT_INDEX(arg) < g->operand_count);
      args[k] = arg >= 0             ? results[arg]
                : arg == PROGRAM_RAW ? raw
                                     : values[g->operands[PROGRAM_INPUT_INDEX(arg)]->index];
    }
    results[s] = new_tensor(f, o->dtype, &raw->shape);
    if (o->op->id == OP_Cast)
      assert_int_equal(o->op->eval(&f->ctx, f->arena, g->node, args, &results[s]), HONE_OK);
    else
      assert_int_equal(elementwise_apply(&f->ctx, o->op, place_none(), o->alpha, o->beta, args,
                                         (size_t)o->arg_count, results[s]),
                       HONE_OK);
  }
  const struct tensor *want = values[g->result->index];
  if (!g->count) return;
  assert_int_equal(results[g->count - 1]->dtype, want->dtype);
  assert_memory_equal(results[g->count - 1]->data, want->data, want->bytes);
}

static size_t run_case(const char *path) {
  struct fixture *f;
  void *state;
  struct mapping file;
  struct strbuf text = {0};
  assert_int_equal(setup(&state), 0);
  f = state;
  assert_int_equal(file_map(&f->ctx, path, &file), HONE_OK);
  hone_status status =
      graph_parse(&f->ctx, f->arena, (const char *)file.data, file.size, op_find, &f->graph);
  if (!status) status = graph_infer(&f->ctx, f->graph);
  if (status) print_error("%s: %s\n", path, f->ctx.message);
  assert_int_equal(status, HONE_OK);
  const struct plan_options options = {.threads = 1};
  struct builder b = {.ctx = &f->ctx, .arena = f->arena, .graph = f->graph, .options = &options};
  assert_int_equal(find_groups(&b, true), HONE_OK);
  const struct tensor **values = evaluate(f);
  size_t fused = 0;
  for (size_t n = 0; n < b.groups.count; n++) {
    put_group(&text, b.groups.at[n]);
    check_program(f, b.groups.at[n], values);
    fused += b.groups.at[n]->count;
  }
  check_order(f, &b);
  compare(f, path, &text);
  strbuf_deinit(&text);
  file_unmap(&file);
  teardown(&state);
  return fused;
}

static void every_case(void **state) {
  struct dirent **entries;
  char path[512];
  size_t cases = 0, fused = 0;
  (void)state;
  int count = scandir(ROOT, &entries, NULL, alphasort);
  assert_true(count > 0);
  for (int i = 0; i < count; i++) {
    const char *dot = strrchr(entries[i]->d_name, '.');
    if (dot && !strcmp(dot, ".hg")) {
      snprintf(path, sizeof path, ROOT "/%s", entries[i]->d_name);
      fused += run_case(path);
      cases++;
    }
    free(entries[i]);
  }
  free(entries);
  assert_true(cases >= 9 && fused > 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_case)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
