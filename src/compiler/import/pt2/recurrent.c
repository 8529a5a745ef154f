/* recurrent: ATen's recurrent layers and cells. An LSTM with a projected hidden state (Sak et al.
 * 2014), which ONNX lacks, is expanded step by step. */
#include "pt2.h"

/* Reorders blocks of rows of a torch weight to ONNX's order, with a direction axis first. */
static hone_status reorder_gates(struct pt_op *op, struct value *w, int64_t hidden,
                                 const int *order, size_t gates, struct value **out) {
  struct value *parts[4];
  int64_t dims[HONE_MAX_RANK];
  for (size_t g = 0; g < gates; g++)
    parts[g] = pt_slice(op, w, 0, order[g] * hidden, (order[g] + 1) * hidden, 1);
  BUILD(op->b, *out = x_concat(op->b, 0, parts, gates));
  dims[0] = 1;
  for (int d = 0; d < (*out)->shape.rank; d++) dims[d + 1] = (*out)->shape.dims[d];
  return x_give(op->b, out, x_reshape(op->b, *out, dims, (*out)->shape.rank + 1));
}

struct recurrent {
  struct value *params[256], *state[2];
  size_t count;
  int64_t has_biases, layers, both, batch_first, train;
  double dropout;
  size_t states, gates, per_direction; /* tensors per direction */
  const int *order;
  bool is_projected; /* the last tensor of a direction is the projection */
};

/* The number and order of the gates of the layer given by the parameter. */
static struct recurrent recurrent_of(const struct pt_op *op) {
  static const int lstm[] = {0, 3, 1, 2}, gru[] = {1, 0, 2}, rnn[] = {0}; /* i o f c; z r h */
  switch (op->parameter) {
    case OP_LSTM:
      return (struct recurrent){.states = 2, .gates = 4, .order = lstm};
    case OP_GRU:
      return (struct recurrent){.states = 1, .gates = 3, .order = gru};
    default:
      return (struct recurrent){.states = 1, .gates = 1, .order = rnn};
  }
}

/* W, R and B of one layer, all directions. */
static hone_status layer_weights(struct pt_op *op, const struct recurrent *r, size_t layer,
                                 struct value **out) {
  size_t directions = r->both ? 2 : 1;
  struct value *part[3][2], *biases[2];
  for (size_t k = 0; k < directions; k++) {
    struct value *const *p = r->params + (layer * directions + k) * r->per_direction;
    if (p[0]->shape.rank != 2 || p[1]->shape.rank != 2)
      return pt_refuse(op, "with weights of this shape");
    int64_t hidden = p[1]->shape.dims[1], rows = 0;
    if (!checked_mul(hidden, (int64_t)r->gates, &rows))
      return pt_refuse(op, "with weights of this shape");
    TRY(reorder_gates(op, p[0], hidden, r->order, r->gates, &part[0][k]));
    TRY(reorder_gates(op, p[1], hidden, r->order, r->gates, &part[1][k]));
    part[2][k] = NULL;
    if (!r->has_biases) continue;
    if (p[2]->shape.rank != 1 || p[3]->shape.rank != 1)
      return pt_refuse(op, "with biases of this shape");
    for (size_t i = 0; i < 2; i++)
      TRY(reorder_gates(op, p[2 + i], hidden, r->order, r->gates, &biases[i]));
    BUILD(op->b, part[2][k] = x_concat(op->b, 1, biases, 2));
  }
  for (size_t i = 0; i < 3; i++) {
    out[i] = part[i][0];
    if (out[i] && directions > 1) BUILD(op->b, out[i] = x_concat(op->b, 0, part[i], 2));
  }
  return HONE_OK;
}

/* [T, directions, N, H] to [T, N, directions H] */
static struct value *join_directions(struct pt_op *op, struct value *y) {
  static const int64_t turn[] = {0, 2, 1, 3};
  const int64_t *d = y->shape.dims;
  int64_t dims[] = {d[0], d[2], d[1] * d[3]};
  return x_reshape(op->b, x_transpose(op->b, y, turn), dims, 3);
}

static hone_status run_layers(struct pt_op *op, const struct recurrent *r, struct value **x,
                              struct value *(*last)[64]) {
  static const struct string relu[] = {{"Relu", 4}, {"Relu", 4}};
  int64_t directions = r->both ? 2 : 1;
  struct attribute args[] = {STRING_ARG("direction", r->both ? "bidirectional" : "forward"),
                             INT_ARG("hidden_size", r->state[0]->shape.dims[2]),
                             {.name = NULL},
                             {.name = NULL}};
  if (op->parameter == OP_GRU) args[2] = (struct attribute)INT_ARG("linear_before_reset", 1);
  if (!strncmp(op->target, "aten.rnn_relu", 13))
    args[2] = (struct attribute)STRINGS_ARG("activations", relu, (size_t)directions);
  for (int64_t layer = 0; layer < r->layers; layer++) {
    struct value *w[3], *state[2] = {NULL, NULL}, *y[3];
    TRY(layer_weights(op, r, (size_t)layer, w));
    for (size_t s = 0; s < r->states; s++)
      state[s] = pt_slice(op, r->state[s], 0, layer * directions, (layer + 1) * directions, 1);
    BUILD(op->b,
          x_nodes(op->b, (enum op_id)op->parameter,
                  VALUES(*x, w[0], w[1], w[2], NULL, state[0], state[1]), args, r->states + 1, y));
    BUILD(op->b, *x = join_directions(op, y[0]));
    for (size_t s = 0; s < r->states; s++) last[s][layer] = y[1 + s];
  }
  return HONE_OK;
}

/* -- with a projection */

struct projected {
  struct graph_builder *b;
  struct value *r, *projection; /* [outputs, gates * units], [units, outputs] */
};

/* x [batch, gates * units], the input's part of the gates, in torch's order: input, forget, cell,
 * output. */
static hone_status step_projected(const void *of, struct value *x, struct value **h,
                                  struct value **c) {
  const struct projected *cell = of;
  struct graph_builder *b = cell->b;
  struct value *gates[4];
  struct value *y = x_2(b, OP_Add, x_2(b, OP_MatMul, *h, cell->r), x);
  BUILD(b, x_nodes(b, OP_Split, VALUES(y), ARGS(INT_ARG("axis", 1), INT_ARG("num_outputs", 4)), 4,
                   gates));
  for (size_t g = 0; g < 4; g++) gates[g] = x_1(b, g == 2 ? OP_Tanh : OP_Sigmoid, gates[g]);
  struct value *kept = x_2(b, OP_Mul, gates[1], *c);
  BUILD(b, *c = x_2(b, OP_Mul, gates[0], gates[2]));
  BUILD(b, *c = x_2(b, OP_Add, kept, *c));
  y = x_2(b, OP_Mul, gates[3], x_1(b, OP_Tanh, *c));
  return x_give(b, h, x_2(b, OP_MatMul, y, cell->projection));
}

/* One direction of one layer: x [time, batch, ..] to y [time, batch, outputs]; state k of the list
 * `at` becomes the last one. */
static hone_status run_projected(struct pt_op *op, const struct recurrent *r, size_t at,
                                 struct value *x, struct value **state, struct value **y) {
  static const int64_t turn[] = {1, 0};
  struct value *const *p = r->params + at * r->per_direction, *w[3];
  struct value *const stored[] = {p[0], p[1], p[r->per_direction - 1]};
  for (size_t k = 0; k < COUNT(w); k++) {
    if (stored[k]->shape.rank != 2) return pt_refuse(op, "with weights of this shape");
    w[k] = x_transpose(op->b, stored[k], turn);
  }
  BUILD(op->b, x = x_2(op->b, OP_MatMul, x, w[0]));
  for (size_t k = 2; k < 4 && r->has_biases; k++) BUILD(op->b, x = x_2(op->b, OP_Add, x, p[k]));
  for (size_t s = 0; s < 2; s++) {
    const int64_t *d = r->state[s]->shape.dims;
    if (r->state[s]->shape.rank != 3) return pt_refuse(op, "of states of another rank");
    state[s] = pt_slice(op, r->state[s], 0, (int64_t)at, (int64_t)at + 1, 1);
    BUILD(op->b, state[s] = x_reshape(op->b, state[s], d + 1, 2));
  }
  const struct projected cell = {op->b, w[1], w[2]};
  const struct make_sequence sequence = {op->b, &cell, step_projected, x, r->both && at % 2};
  TRY(make_sequence(&sequence, &state[0], &state[1], y));
  for (size_t s = 0; s < 2; s++) {
    const int64_t dims[] = {1, state[s]->shape.dims[0], state[s]->shape.dims[1]};
    BUILD(op->b, state[s] = x_reshape(op->b, state[s], dims, 3));
  }
  return HONE_OK;
}

static hone_status run_projected_layers(struct pt_op *op, const struct recurrent *r,
                                        struct value **x, struct value *(*last)[64]) {
  const size_t directions = r->both ? 2 : 1;
  for (size_t layer = 0; layer < (size_t)r->layers; layer++) {
    struct value *y[2], *state[2], *ends[2][2];
    for (size_t k = 0; k < directions; k++) {
      TRY(run_projected(op, r, layer * directions + k, *x, state, &y[k]));
      for (size_t s = 0; s < 2; s++) ends[s][k] = state[s];
    }
    BUILD(op->b, *x = x_concat(op->b, 2, y, directions));
    for (size_t s = 0; s < 2; s++)
      BUILD(op->b, last[s][layer] = x_concat(op->b, 0, ends[s], directions));
  }
  return HONE_OK;
}

/* -- the operators */

/* lstm.input, gru.input, rnn_tanh.input and rnn_relu.input: layers with torch's gate order, from
 * packed lists. */
hone_status build_recurrent(struct pt_op *op) {
  static const int64_t turn[] = {1, 0, 2};
  struct recurrent r = recurrent_of(op);
  struct value *x, *last[2][64], *all;
  size_t given = 0;
  TRY(pt_need(op, "input", &x));
  if (op->parameter == OP_LSTM) {
    TRY(pt_tensors(op, "hx", 2, r.state, &given));
    if (given != 2) return pt_refuse(op, "with %zu states", given);
  } else {
    TRY(pt_need(op, "hx", &r.state[0]));
  }
  TRY(pt_tensors(op, "params", COUNT(r.params), r.params, &r.count));
  TRY(pt_int(op, "has_biases", 1, &r.has_biases));
  TRY(pt_int(op, "num_layers", 1, &r.layers));
  TRY(pt_int(op, "bidirectional", 0, &r.both));
  TRY(pt_int(op, "batch_first", 0, &r.batch_first));
  TRY(pt_int(op, "train", 0, &r.train));
  TRY(pt_float(op, "dropout", 0, &r.dropout));
  r.per_direction = r.has_biases ? 4 : 2;
  if (r.layers < 1 || r.layers > 64) return pt_refuse(op, "of %lld layers", (long long)r.layers);
  const size_t runs = (size_t)(r.layers * (r.both ? 2 : 1));
  r.is_projected = op->parameter == OP_LSTM && r.count == runs * (r.per_direction + 1);
  r.per_direction += r.is_projected;
  if (r.train && r.dropout != 0) return pt_refuse(op, "with dropout in training");
  if (x->shape.rank != 3 || r.state[0]->shape.rank != 3 || r.count != runs * r.per_direction)
    return pt_refuse(op, "with packed or unbatched input");
  if (r.batch_first) BUILD(op->b, x = x_transpose(op->b, x, turn));
  TRY((r.is_projected ? run_projected_layers : run_layers)(op, &r, &x, last));
  if (r.batch_first) BUILD(op->b, x = x_transpose(op->b, x, turn));
  TRY(pt_result(op, 0, x));
  for (size_t s = 0; s < r.states; s++) {
    BUILD(op->b, all = x_concat(op->b, 0, last[s], (size_t)r.layers));
    TRY(pt_result(op, 1 + s, all));
  }
  return HONE_OK;
}

/* lstm_cell, gru_cell, rnn_tanh_cell, rnn_relu_cell: one step of one layer, batched or not. */
hone_status build_recurrent_cell(struct pt_op *op) {
  static const char *const weights[] = {"w_ih", "w_hh", "b_ih", "b_hh"};
  struct recurrent r = recurrent_of(op);
  struct value *x, *last[2][64];
  r.layers = 1;
  TRY(pt_need(op, "input", &x));
  if (op->parameter == OP_LSTM) {
    TRY(pt_tensors(op, "hx", 2, r.state, &r.count));
    if (r.count != 2) return pt_refuse(op, "with %zu states", r.count);
  } else {
    TRY(pt_need(op, "hx", &r.state[0]));
  }
  r.has_biases = pt_given(op, weights[2]);
  if (pt_given(op, weights[3]) != r.has_biases) return pt_refuse(op, "with only one of two biases");
  r.per_direction = r.has_biases ? 4 : 2;
  for (size_t k = 0; k < r.per_direction; k++) TRY(pt_need(op, weights[k], &r.params[k]));
  const size_t rank = (size_t)x->shape.rank;
  if (rank < 1 || rank > 2) return pt_refuse(op, "of rank %zu", rank);
  const int64_t batch = rank == 2 ? x->shape.dims[0] : 1;
  BUILD(op->b, x = x_reshape(op->b, x, (const int64_t[]){1, batch, x->shape.dims[rank - 1]}, 3));
  for (size_t s = 0; s < r.states; s++) {
    if ((size_t)r.state[s]->shape.rank != rank) return pt_refuse(op, "of states of another rank");
    const int64_t dims[] = {1, batch, r.state[s]->shape.dims[rank - 1]};
    BUILD(op->b, r.state[s] = x_reshape(op->b, r.state[s], dims, 3));
  }
  TRY(run_layers(op, &r, &x, last));
  for (size_t s = 0; s < r.states; s++) {
    const int64_t *d = last[s][0]->shape.dims;
    BUILD(op->b, last[s][0] = x_reshape(op->b, last[s][0], rank == 2 ? d + 1 : d + 2, (int)rank));
    TRY(pt_result(op, s, last[s][0]));
  }
  return HONE_OK;
}
