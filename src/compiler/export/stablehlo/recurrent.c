/* Rules of GRU, LSTM and RNN: one matmul with the inputs of all steps, then a loop over the steps,
 * as in src/core/ops/operators/recurrent.c. Gates are concatenated in the rows of the weights: LSTM
 * i o f c, GRU z r h. */
#include "stablehlo.h"

/* By the number that recurrent_activations returns; without an expression here the operator's
 * own. */
static const struct {
  enum op_id op;
  const char *expression;
} activations[] = {{OP_COUNT, "alpha * x + beta"},
                   {OP_Elu, NULL},
                   {OP_HardSigmoid, NULL},
                   {OP_LeakyRelu, NULL},
                   {OP_Relu, NULL},
                   {OP_COUNT, "alpha * tanh_(beta * x)"},
                   {OP_Sigmoid, NULL},
                   {OP_Softplus, NULL},
                   {OP_Softsign, NULL},
                   {OP_Tanh, NULL},
                   {OP_COUNT, "select_(lt_(x, alpha), C(0), x)"}};

enum { STATE = 3 }; /* largest number of loop-carried values: h, c, and y of all steps */

/* One direction. */
struct cell {
  const struct node *node;
  struct term x;         /* [steps, batch, gates * hidden], W x + its bias */
  struct term r, r_bias; /* [gates * hidden, hidden], [gates * hidden] or none */
  struct term peephole;  /* [3 * hidden], i o f, or none */
  int64_t steps, hidden;
  bool is_backwards;
  const int64_t *functions; /* of this direction */
  const double *alphas, *betas;
};

static struct term plus(struct hlo *h, struct term x, struct term y) {
  return hlo_binary(h, "stablehlo.add", x, y);
}
static struct term times(struct hlo *h, struct term x, struct term y) {
  return hlo_binary(h, "stablehlo.multiply", x, y);
}
static struct term one_less(struct hlo *h, struct term x) {
  return hlo_binary(h, "stablehlo.subtract", hlo_splat(h, 1, x.dtype, &x.shape), x);
}

/* -- a step */

static hone_status activate(struct hlo *h, const struct cell *cell, int k, struct term x,
                            struct term *out) {
  const size_t f = (size_t)cell->functions[k];
  const struct term xyz[3] = {x};
  const char *expression = activations[f].expression;
  if (!expression) expression = op_table[activations[f].op].expression;
  return hlo_expression(h, expression, xyz, cell->alphas[k], cell->betas[k], out);
}

/* A gate's value: clipped, then activated. */
static hone_status gate(struct hlo *h, const struct cell *cell, int k, struct term x,
                        struct term *out) {
  const double clip = node_float(cell->node, "clip", 0);
  if (clip > 0) {
    x = hlo_binary(h, "stablehlo.minimum", x, hlo_splat(h, clip, x.dtype, &x.shape));
    x = hlo_binary(h, "stablehlo.maximum", x, hlo_splat(h, -clip, x.dtype, &x.shape));
  }
  return activate(h, cell, k, x, out);
}

/* Columns of gate g of [batch, gates * hidden]. */
static struct term columns(struct hlo *h, const struct cell *cell, struct term x, int g) {
  return hlo_piece(h, x, 1, g * cell->hidden, cell->hidden);
}

/* x + c times the peephole weights of gate g, if any. */
static struct term peeped(struct hlo *h, const struct cell *cell, struct term x, struct term c,
                          int g) {
  if (!cell->peephole.number) return x;
  const struct term p = hlo_piece(h, cell->peephole, 0, g * cell->hidden, cell->hidden);
  return plus(h, x, times(h, hlo_broadcast(h, p, &c.shape), c));
}

/* R state + its bias. */
static struct term from_state(struct hlo *h, const struct cell *cell, struct term state) {
  const struct term y = hlo_dot(h, state, cell->r, 0, 1, 1);
  return cell->r_bias.number ? plus(h, y, hlo_broadcast(h, cell->r_bias, &y.shape)) : y;
}

static hone_status step_lstm(struct hlo *h, const struct cell *cell, struct term x,
                             struct term *state) {
  struct term i, o, f, candidate, y;
  const struct term g = plus(h, x, from_state(h, cell, state[0])), c = state[1];
  TRY(gate(h, cell, 0, peeped(h, cell, columns(h, cell, g, 0), c, 0), &i));
  if (node_int(cell->node, "input_forget", 0))
    f = one_less(h, i);
  else
    TRY(gate(h, cell, 0, peeped(h, cell, columns(h, cell, g, 2), c, 2), &f));
  TRY(gate(h, cell, 1, columns(h, cell, g, 3), &candidate));
  state[1] = plus(h, times(h, f, c), times(h, i, candidate));
  TRY(gate(h, cell, 0, peeped(h, cell, columns(h, cell, g, 1), state[1], 1), &o));
  TRY(activate(h, cell, 2, state[1], &y));
  state[0] = times(h, o, y);
  return HONE_OK;
}

static hone_status step_gru(struct hlo *h, const struct cell *cell, struct term x,
                            struct term *state) {
  const int64_t n = cell->hidden;
  const struct term g = from_state(h, cell, state[0]);
  struct term z, reset, candidate = columns(h, cell, x, 2);
  TRY(gate(h, cell, 0, plus(h, columns(h, cell, x, 0), columns(h, cell, g, 0)), &z));
  TRY(gate(h, cell, 0, plus(h, columns(h, cell, x, 1), columns(h, cell, g, 1)), &reset));
  if (node_int(cell->node, "linear_before_reset", 0)) {
    candidate = plus(h, candidate, times(h, reset, columns(h, cell, g, 2)));
  } else {
    struct cell last = *cell;
    last.r = hlo_piece(h, cell->r, 0, 2 * n, n);
    if (cell->r_bias.number) last.r_bias = hlo_piece(h, cell->r_bias, 0, 2 * n, n);
    candidate = plus(h, candidate, from_state(h, &last, times(h, reset, state[0])));
  }
  TRY(gate(h, cell, 1, candidate, &candidate));
  state[0] = plus(h, times(h, one_less(h, z), candidate), times(h, z, state[0]));
  return HONE_OK;
}

static hone_status step_rnn(struct hlo *h, const struct cell *cell, struct term x,
                            struct term *state) {
  return gate(h, cell, 0, plus(h, x, from_state(h, cell, state[0])), &state[0]);
}

static const struct kind {
  enum op_id op;
  int gates, functions, states;
  hone_status (*step)(struct hlo *h, const struct cell *cell, struct term x, struct term *state);
} kinds[] = {
    {OP_GRU, 3, 2, 1, step_gru}, {OP_LSTM, 4, 3, 2, step_lstm}, {OP_RNN, 1, 1, 1, step_rnn}};

static const struct kind *kind_of(const struct node *node) {
  const struct kind *kind = kinds;
  while (!is_op(node, kind->op)) kind++;
  return kind;
}

/* -- the loop */

/* state: h, c, then y of all steps; at: index of the step. */
static hone_status put_step(struct hlo *h, const struct cell *cell, struct term at,
                            struct term *state) {
  const struct kind *kind = kind_of(cell->node);
  const struct term zero = hlo_splat(h, 0, HONE_I64, &(struct shape){0});
  struct term *y = &state[kind->states];
  struct strbuf sizes = {0};
  struct shape row = cell->x.shape;
  row.dims[0] = 1;
  strbuf_puts(&sizes, "slice_sizes = ");
  hlo_put_ints(&sizes, row.dims, row.rank);
  struct term x = hlo_op(h, "stablehlo.dynamic_slice", (struct term[]){cell->x, at, zero, zero}, 4,
                         sizes.at ? sizes.at : "", NULL, cell->x.dtype, &row);
  if (sizes.failed) h->out->failed = true;
  strbuf_deinit(&sizes);
  x = hlo_reshape(h, x, &(struct shape){2, {row.dims[1], row.dims[2]}});
  TRY(kind->step(h, cell, x, state));
  *y = hlo_collect(h, *y, state[0], at);
  return HONE_OK;
}

/* Runs all steps; state becomes that after the last. */
static hone_status put_loop(struct hlo *h, const struct cell *cell, struct term *state, int count) {
  const struct shape scalar = {0};
  struct term terms[1 + STATE] = {{0}}, at;
  struct hlo_while loop = {terms, (size_t)count + 1, 0};
  terms[0] = hlo_splat(h, 0, HONE_I64, &scalar);
  memcpy(terms + 1, state, (size_t)count * sizeof *state);
  hlo_while_condition(h, &loop);
  const struct term all = hlo_splat(h, (double)cell->steps, HONE_I64, &scalar);
  hlo_while_body(h, &loop, hlo_compare(h, "LT", terms[0], all));
  at = terms[0];
  terms[0] = plus(h, at, hlo_splat(h, 1, HONE_I64, &scalar));
  if (cell->is_backwards)
    at = hlo_binary(h, "stablehlo.subtract",
                    hlo_splat(h, (double)(cell->steps - 1), HONE_I64, &scalar), at);
  TRY(put_step(h, cell, at, terms + 1));
  hlo_while_end(h, &loop);
  memcpy(state, terms + 1, (size_t)count * sizeof *state);
  return HONE_OK;
}

/* -- the operator */

/* Input k of a direction, [directions, ..]; number 0 if omitted. */
static hone_status part_of(struct hlo *h, const struct node *node, size_t k, int direction,
                           struct term *out) {
  *out = (struct term){0};
  if (!node_input(node, k)) return HONE_OK;
  TRY(hlo_input(h, node, k, out));
  *out = hlo_row(h, *out, direction);
  return HONE_OK;
}

/* Sequences that end before the last step would need masking. */
static hone_status check_lengths(struct hlo *h, const struct node *node, int64_t steps) {
  const struct value *lengths = node_input(node, 4);
  bool are_full = !lengths || lengths->constant;
  for (size_t i = 0; lengths && are_full && i < tensor_count(lengths->constant); i++)
    are_full = tensor_i64(lengths->constant, i) >= steps;
  if (are_full) return HONE_OK;
  return fail(h->ctx, HONE_E_UNSUP, node_place(node),
              "StableHLO: %s with sequences of different lengths", node->op->name);
}

/* x [steps, batch, input]; initial state [batch, hidden] each, and the cell. */
static hone_status open_direction(struct hlo *h, const struct node *node, struct term x,
                                  int direction, struct cell *cell, struct term *state) {
  static const size_t initial[] = {5, 6};
  const struct kind *kind = kind_of(node);
  struct term w, bias;
  const bool batch_first = node_int(node, "layout", 0) != 0;
  TRY(part_of(h, node, 1, direction, &w));
  TRY(part_of(h, node, 2, direction, &cell->r));
  TRY(part_of(h, node, 3, direction, &bias));
  TRY(part_of(h, node, 7, direction, &cell->peephole));
  cell->x = hlo_dot(h, x, w, 0, 2, 1);
  const int64_t rows = w.shape.dims[0];
  cell->hidden = rows / kind->gates;
  cell->r_bias = (struct term){0};
  if (bias.number) {
    const struct term of_x = hlo_piece(h, bias, 0, 0, rows);
    cell->x = plus(h, cell->x, hlo_broadcast(h, of_x, &cell->x.shape));
    cell->r_bias = hlo_piece(h, bias, 0, rows, rows);
  }
  for (int s = 0; s < kind->states; s++) {
    const struct shape shape = {2, {x.shape.dims[1], cell->hidden}};
    state[s] = hlo_splat(h, 0, x.dtype, &shape);
    if (!node_input(node, initial[s])) continue;
    TRY(hlo_input(h, node, initial[s], &state[s]));
    state[s] = batch_first ? hlo_reshape(h, hlo_piece(h, state[s], 1, direction, 1), &shape)
                           : hlo_row(h, state[s], direction);
  }
  return HONE_OK;
}

/* [batch, hidden] or [steps, batch, hidden] of each direction, stacked along `axis`. */
static struct term put_together(struct hlo *h, struct term *parts, int count, int axis) {
  struct shape shape = parts[0].shape;
  shape.rank++;
  for (int d = shape.rank - 1; d > axis; d--) shape.dims[d] = shape.dims[d - 1];
  shape.dims[axis] = 1;
  for (int i = 0; i < count; i++) parts[i] = hlo_reshape(h, parts[i], &shape);
  return hlo_join(h, parts, (size_t)count, axis);
}

static hone_status put_recurrent(struct hlo *h, const struct node *node) {
  static const int64_t turned[] = {1, 0, 2}, turned_back[] = {2, 0, 1, 3};
  const struct kind *kind = kind_of(node);
  const bool batch_first = node_int(node, "layout", 0) != 0;
  const char *direction = node_string(node, "direction", "forward");
  struct term x, parts[STATE][2] = {{{0}}};
  int64_t *functions;
  double *alphas, *betas;
  size_t count;
  TRY(hlo_input(h, node, 0, &x));
  if (batch_first) x = hlo_transpose(h, x, turned);
  TRY(check_lengths(h, node, x.shape.dims[0]));
  TRY(recurrent_activations(h->ctx, h->arena, node, &functions, &alphas, &betas, &count));
  const int directions = (int)count / kind->functions;
  for (int d = 0; d < directions; d++) {
    struct cell cell = {.node = node, .steps = x.shape.dims[0]};
    struct term state[STATE] = {{0}};
    TRY(open_direction(h, node, x, d, &cell, state));
    cell.is_backwards = d == 1 || !strcmp(direction, "reverse");
    cell.functions = functions + d * kind->functions;
    cell.alphas = alphas + d * kind->functions;
    cell.betas = betas + d * kind->functions;
    state[kind->states] =
        hlo_splat(h, 0, x.dtype, &(struct shape){3, {cell.steps, x.shape.dims[1], cell.hidden}});
    TRY(put_loop(h, &cell, state, kind->states + 1));
    for (int s = 0; s <= kind->states; s++) parts[s][d] = state[s];
  }
  struct term y = put_together(h, parts[kind->states], directions, 1);
  hlo_bind(h, node, 0, batch_first ? hlo_transpose(h, y, turned_back) : y);
  for (int s = 0; s < kind->states; s++)
    hlo_bind(h, node, (size_t)s + 1, put_together(h, parts[s], directions, batch_first ? 1 : 0));
  return HONE_OK;
}

/* -- the table */

const struct hlo_row hlo_recurrent_rules[] = {
    {OP_GRU, put_recurrent},
    {OP_LSTM, put_recurrent},
    {OP_RNN, put_recurrent},
    {.rule = NULL},
};
