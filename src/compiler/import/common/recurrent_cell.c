/* make_sequence: applies a recurrent cell over time, for cells that no ONNX operator describes. */
#include "builder.h"

enum { WRITTEN_OUT = 16 };

static hone_status at_time(const struct make_sequence *s, struct value *t, struct value **out) {
  return make_node(s->make, OP_Gather, VALUES(s->x, t), ARGS(INT_ARG("axis", 0)), out);
}

static hone_status write_out(const struct make_sequence *s, struct value **h, struct value **c,
                             struct value **y) {
  static const int64_t first[] = {0};
  const int64_t time = s->x->shape.dims[0];
  struct value *axes, *t, *x, *rows[WRITTEN_OUT];
  TRY(make_ints(s->make, first, 1, &axes));
  for (int64_t i = 0; i < time; i++) {
    const int64_t at = s->is_reverse ? time - 1 - i : i;
    TRY(make_scalar(s->make, HONE_I64, (double)at, &t));
    TRY(at_time(s, t, &x));
    TRY(s->step(s->cell, x, h, c));
    TRY(make_node(s->make, OP_Unsqueeze, VALUES(*h, axes), NULL, &rows[at]));
  }
  return make_node(s->make, OP_Concat, rows, (size_t)time, ARGS(INT_ARG("axis", 0)), y);
}

/* The body: iteration, condition, h, c -> condition, h, c, y. */
static hone_status fill_body(const struct make_sequence *s, struct graph *body, struct value *h,
                             struct value *c) {
  static const struct shape scalar = {0};
  struct make *make = s->make;
  struct value *t, *goes, *x;
  TRY(graph_input(make->ctx, body, NULL, HONE_I64, &scalar, &t));
  TRY(graph_input(make->ctx, body, NULL, HONE_BOOL, &scalar, &goes));
  TRY(graph_input(make->ctx, body, NULL, h->dtype, &h->shape, &h));
  TRY(graph_input(make->ctx, body, NULL, c->dtype, &c->shape, &c));
  if (s->is_reverse) {
    struct value *last;
    TRY(make_scalar(make, HONE_I64, (double)(s->x->shape.dims[0] - 1), &last));
    TRY(make_node(make, OP_Sub, VALUES(last, t), NULL, &t));
  }
  TRY(at_time(s, t, &x));
  TRY(s->step(s->cell, x, &h, &c));
  TRY(make_graph_output(make, goes, NULL));
  TRY(make_graph_output(make, h, NULL));
  TRY(make_graph_output(make, c, NULL));
  return make_graph_output(make, h, NULL);
}

static hone_status loop_over(const struct make_sequence *s, struct value **h, struct value **c,
                             struct value **y) {
  struct make *make = s->make;
  struct ctx *ctx = make->ctx;
  struct graph *outer = make->graph, *body;
  struct node *node;
  struct value *trip;
  TRY(make_scalar(make, HONE_I64, (double)s->x->shape.dims[0], &trip));
  TRY(graph_create(ctx, outer->arena, &body));
  body->parent = outer;
  make->graph = body;
  const hone_status status = fill_body(s, body, *h, *c);
  make->graph = outer;
  TRY(status);
  const struct attribute attribute = {.name = "body", .kind = ATTRIBUTE_GRAPH, .graph = body};
  TRY(graph_node(ctx, outer, &op_table[OP_Loop], (struct value *[]){trip, NULL, *h, *c}, 4, 3,
                 &node));
  make_sign(make, node);
  TRY(node_set(ctx, outer, node, &attribute));
  TRY(node_infer(ctx, outer, node));
  *h = node->outputs[0], *c = node->outputs[1], *y = node->outputs[2];
  if (!s->is_reverse) return HONE_OK;
  /* scan outputs are collected in reverse order */
  static const int64_t from[] = {-1}, to[] = {INT64_MIN}, axis[] = {0}, by[] = {-1};
  struct value *operands[5] = {*y};
  const int64_t *const lists[] = {from, to, axis, by};
  for (size_t k = 0; k < COUNT(lists); k++) TRY(make_ints(make, lists[k], 1, &operands[k + 1]));
  return make_node(make, OP_Slice, operands, COUNT(operands), NULL, y);
}

hone_status make_sequence(const struct make_sequence *sequence, struct value **h, struct value **c,
                          struct value **y) {
  const bool is_short = sequence->x->shape.dims[0] <= WRITTEN_OUT;
  return (is_short ? write_out : loop_over)(sequence, h, c, y);
}
