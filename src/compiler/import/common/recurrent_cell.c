/* make_sequence: applies a recurrent cell over time, for cells that no ONNX operator describes. */
#include "builder.h"

enum { WRITTEN_OUT = 16 };

static struct value *at_time(const struct make_sequence *s, struct value *t) {
  return x_gather(s->b, s->x, t, 0);
}

static hone_status write_out(const struct make_sequence *s, struct value **h, struct value **c,
                             struct value **y) {
  static const int64_t first[] = {0};
  const int64_t time = s->x->shape.dims[0];
  struct value *t, *x, *rows[WRITTEN_OUT];
  struct value *axes = x_list(s->b, first, 1);
  for (int64_t i = 0; i < time; i++) {
    const int64_t at = s->is_reverse ? time - 1 - i : i;
    BUILD(s->b, t = x_scalar(s->b, HONE_I64, (double)at));
    BUILD(s->b, x = at_time(s, t));
    TRY(s->step(s->cell, x, h, c));
    rows[at] = x_2(s->b, OP_Unsqueeze, *h, axes);
  }
  return x_give(s->b, y, x_concat(s->b, 0, rows, (size_t)time));
}

/* The body: iteration, condition, h, c -> condition, h, c, y. */
static hone_status fill_body(const struct make_sequence *s, struct graph *body, struct value *h,
                             struct value *c) {
  static const struct shape scalar = {0};
  struct graph_builder *b = s->b;
  struct value *t, *goes, *x;
  TRY(graph_input(b->ctx, body, NULL, HONE_I64, &scalar, &t));
  TRY(graph_input(b->ctx, body, NULL, HONE_BOOL, &scalar, &goes));
  TRY(graph_input(b->ctx, body, NULL, h->dtype, &h->shape, &h));
  TRY(graph_input(b->ctx, body, NULL, c->dtype, &c->shape, &c));
  if (s->is_reverse)
    BUILD(b, t = x_2(b, OP_Sub, x_scalar(b, HONE_I64, (double)(s->x->shape.dims[0] - 1)), t));
  BUILD(b, x = at_time(s, t));
  TRY(s->step(s->cell, x, &h, &c));
  TRY(make_graph_output(b, goes, NULL));
  TRY(make_graph_output(b, h, NULL));
  TRY(make_graph_output(b, c, NULL));
  return make_graph_output(b, h, NULL);
}

static hone_status loop_over(const struct make_sequence *s, struct value **h, struct value **c,
                             struct value **y) {
  struct graph_builder *b = s->b;
  struct ctx *ctx = b->ctx;
  struct graph *outer = b->graph, *body;
  struct node *node;
  struct value *trip;
  BUILD(b, trip = x_scalar(b, HONE_I64, (double)s->x->shape.dims[0]));
  TRY(graph_create(ctx, outer->arena, &body));
  body->parent = outer;
  b->graph = body;
  const hone_status status = fill_body(s, body, *h, *c);
  b->graph = outer;
  TRY(status);
  const struct attribute attribute = {.name = "body", .kind = ATTRIBUTE_GRAPH, .graph = body};
  TRY(graph_node(ctx, outer, &op_table[OP_Loop], (struct value *[]){trip, NULL, *h, *c}, 4, 3,
                 &node));
  x_sign(b, node);
  TRY(node_set(ctx, outer, node, &attribute));
  TRY(node_infer(ctx, outer, node));
  *h = node->outputs[0], *c = node->outputs[1], *y = node->outputs[2];
  if (!s->is_reverse) return HONE_OK;
  /* scan outputs are collected in reverse order */
  static const int64_t from[] = {-1}, to[] = {INT64_MIN}, axis[] = {0}, by[] = {-1};
  struct value *operands[5] = {*y};
  const int64_t *const lists[] = {from, to, axis, by};
  for (size_t k = 0; k < COUNT(lists); k++) BUILD(b, operands[k + 1] = x_list(b, lists[k], 1));
  return x_give(b, y, x_op(b, OP_Slice, operands, COUNT(operands)));
}

hone_status make_sequence(const struct make_sequence *sequence, struct value **h, struct value **c,
                          struct value **y) {
  const bool is_short = sequence->x->shape.dims[0] <= WRITTEN_OUT;
  return (is_short ? write_out : loop_over)(sequence, h, c, y);
}
