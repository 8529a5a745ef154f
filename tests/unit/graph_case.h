/* graph_case: the fixture of a test of one graph: a context, an arena, and the parsed graph. */
#ifndef HONE_GRAPH_CASE_H
#define HONE_GRAPH_CASE_H
#include "unit.h"
#include "core/ops/ops.h"

struct fixture {
  struct ctx ctx;
  struct arena *arena;
  struct graph *graph;
};

static inline int setup(void **state) {
  static struct fixture f;
  memset(&f, 0, sizeof f);
  ctx_init(&f.ctx);
  assert_int_equal(arena_create(&f.ctx, 0, &f.arena), HONE_OK);
  *state = &f;
  return 0;
}

static inline int teardown(void **state) {
  arena_destroy(((struct fixture *)*state)->arena);
  return 0;
}

/* The graph of a text that is right. */
static inline void read_graph(struct fixture *f, const char *text) {
  hone_status status = graph_parse(&f->ctx, f->arena, text, strlen(text), op_find, &f->graph);
  if (!status) status = graph_infer(&f->ctx, f->graph);
  if (status) print_error("%s\n", hone_context_message(&f->ctx));
  assert_int_equal(status, HONE_OK);
}
#endif
