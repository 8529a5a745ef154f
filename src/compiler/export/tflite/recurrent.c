/* recurrent: LSTM, GRU and RNN step by step: the format's own operators keep their state
 * internally, but the graph's is an input and an output. One matmul processes the inputs of all
 * steps; gates are concatenated in the rows of the weights: LSTM i o f c, GRU z r h
 * (src/core/ops/operators/recurrent.c). */
#include "core/ops/ops_internal.h"
#include "tflite.h"

enum { MOST_STEPS = 256, STATES = 2 };
enum { X, W, R, BIAS, LENGTHS, FIRST_STATE, PEEPHOLES = 7 };

/* One direction. */
struct cell {
  const struct node *node;
  int32_t r, r_bias; /* [gates * hidden, hidden], [gates * hidden] or -1 */
  const struct tensor *weights;
  int64_t batch, hidden, direction;
};

static int32_t columns(struct lite *l, const struct cell *cell, int32_t x, int64_t gate) {
  const int64_t begin[] = {0, gate * cell->hidden},
                end[] = {cell->batch, (gate + 1) * cell->hidden};
  const int64_t step[] = {1, 1};
  return lite_put(
      l, LITE_STRIDED_SLICE,
      LITE_INPUTS(x, lite_ints(l, begin, 2), lite_ints(l, end, 2), lite_ints(l, step, 2)), NULL, 0,
      HONE_F32, &(struct shape){2, {cell->batch, cell->hidden}});
}

/* Rows of direction `direction` of a constant [directions, rows, ..]. */
static int32_t rows_of(struct lite *l, const struct node *node, size_t k, int64_t direction,
                       int64_t from, int64_t count) {
  const struct tensor *all = node->inputs[k]->constant;
  const struct shape *shape = &all->shape;
  const int64_t width = shape->rank > 2 ? shape->dims[2] : 1;
  const size_t row = (size_t)width * sizeof(float);
  struct tensor *part = NULL;
  struct shape wanted = {shape->rank - 1, {count, width}};
  if (!l->status) l->status = tensor_create(l->ctx, l->arena, HONE_F32, &wanted, &part);
  if (l->status) return 0;
  memcpy((void *)(uintptr_t)part->data,
         (const char *)all->data + ((size_t)(direction * shape->dims[1] + from)) * row,
         (size_t)count * row);
  return lite_constant(l, part);
}

static int32_t gate(struct lite *l, int32_t x, int32_t g) {
  return lite_unary(l, LITE_LOGISTIC, lite_binary(l, LITE_ADD, x, g));
}

static void step_lstm(struct lite *l, const struct cell *cell, int32_t x, int32_t *state) {
  const int32_t sum =
      lite_binary(l, LITE_ADD, x, lite_fully_connected(l, state[0], cell->r, cell->r_bias));
  const int32_t i = lite_unary(l, LITE_LOGISTIC, columns(l, cell, sum, 0));
  const int32_t o = lite_unary(l, LITE_LOGISTIC, columns(l, cell, sum, 1));
  const int32_t f = lite_unary(l, LITE_LOGISTIC, columns(l, cell, sum, 2));
  const int32_t c = lite_unary(l, LITE_TANH, columns(l, cell, sum, 3));
  state[1] = lite_binary(l, LITE_ADD, lite_binary(l, LITE_MUL, f, state[1]),
                         lite_binary(l, LITE_MUL, i, c));
  state[0] = lite_binary(l, LITE_MUL, o, lite_unary(l, LITE_TANH, state[1]));
}

static void step_gru(struct lite *l, const struct cell *cell, int32_t x, int32_t *state) {
  const int32_t h = state[0], sum = lite_fully_connected(l, h, cell->r, cell->r_bias);
  const int64_t n = cell->hidden;
  const int32_t z = gate(l, columns(l, cell, x, 0), columns(l, cell, sum, 0));
  const int32_t reset = gate(l, columns(l, cell, x, 1), columns(l, cell, sum, 1));
  int32_t by_state;
  if (node_int(cell->node, "linear_before_reset", 0)) {
    by_state = lite_binary(l, LITE_MUL, reset, columns(l, cell, sum, 2));
  } else {
    const int32_t weights = rows_of(l, cell->node, R, cell->direction, 2 * n, n);
    const int32_t bias =
        cell->r_bias < 0 ? -1 : rows_of(l, cell->node, BIAS, cell->direction, 5 * n, n);
    by_state = lite_fully_connected(l, lite_binary(l, LITE_MUL, reset, h), weights, bias);
  }
  const int32_t candidate =
      lite_unary(l, LITE_TANH, lite_binary(l, LITE_ADD, columns(l, cell, x, 2), by_state));
  /* (1 - z) candidate + z h */
  state[0] = lite_binary(l, LITE_ADD, candidate,
                         lite_binary(l, LITE_MUL, z, lite_binary(l, LITE_SUB, h, candidate)));
}

static void step_rnn(struct lite *l, const struct cell *cell, int32_t x, int32_t *state) {
  const int32_t by_state = lite_fully_connected(l, state[0], cell->r, cell->r_bias);
  state[0] = lite_unary(l, LITE_TANH, lite_binary(l, LITE_ADD, x, by_state));
}

static const struct kind {
  enum op_id op;
  int64_t gates;
  size_t states, functions;
  int64_t plain[3]; /* default activations by number */
  void (*step)(struct lite *l, const struct cell *cell, int32_t x, int32_t *state);
} kinds[] = {{OP_GRU, 3, 1, 2, {6, 9}, step_gru},
             {OP_LSTM, 4, 2, 3, {6, 9, 9}, step_lstm},
             {OP_RNN, 1, 1, 1, {9}, step_rnn}};

static const struct kind *kind_of(const struct node *node) {
  const struct kind *kind = kinds;
  while (!is_op(node, kind->op)) kind++;
  return kind;
}

/* The reason why a node is not supported; *directions: their number. */
static const char *unsupported_reason(struct lite *l, const struct node *node, size_t *directions) {
  const struct kind *kind = kind_of(node);
  const struct value *lengths = node_input(node, LENGTHS);
  int64_t *functions;
  double *alphas, *betas;
  size_t count;
  for (size_t k = W; k <= BIAS; k++)
    if (node_input(node, k) && !node_input(node, k)->constant) return "with computed weights";
  const int64_t steps = node->inputs[X]->shape.dims[0];
  if (steps < 1 || steps > MOST_STEPS) return "of more than 256 steps";
  for (size_t i = 0; lengths && i < (lengths->constant ? tensor_count(lengths->constant) : 1); i++)
    if (!lengths->constant || tensor_i64(lengths->constant, i) < steps)
      return "with sequences of different lengths";
  if (node_input(node, PEEPHOLES) || node_int(node, "input_forget", 0) ||
      node_int(node, "layout", 0) || node_float(node, "clip", 0) > 0)
    return "with peepholes, clipping, coupled gates or batch-first layout";
  l->status = recurrent_activations(l->ctx, l->arena, node, &functions, &alphas, &betas, &count);
  *directions = count / kind->functions;
  for (size_t i = 0; !l->status && i < count; i++)
    if (functions[i] != kind->plain[i % kind->functions]) return "with other activations";
  return node->inputs[X]->dtype == HONE_F32 ? NULL : "of types other than f32";
}

/* W x + bias of all steps, [steps, batch, gates * hidden]. */
static int32_t from_inputs(struct lite *l, const struct cell *cell, int64_t rows) {
  const struct node *node = cell->node;
  const int32_t bias =
      node_input(node, BIAS) ? rows_of(l, node, BIAS, cell->direction, 0, rows) : -1;
  return lite_fully_connected(l, lite_input(l, node, X),
                              rows_of(l, node, W, cell->direction, 0, rows), bias);
}

static int32_t zeros(struct lite *l, const struct shape *shape) {
  struct tensor *tensor = NULL;
  if (!l->status) l->status = tensor_create(l->ctx, l->arena, HONE_F32, shape, &tensor);
  return l->status ? 0 : lite_constant(l, tensor);
}

/* Element `at` of the first axis, which is removed. */
static int32_t row(struct lite *l, int32_t x, int64_t at) {
  const struct shape *from = lite_shape(l, x);
  struct shape shape = {.rank = from->rank - 1};
  for (int d = 1; d < from->rank; d++) shape.dims[d - 1] = from->dims[d];
  const int32_t place = lite_number(l, HONE_I32, (double)at);
  return lite_put(l, LITE_GATHER, LITE_INPUTS(x, place), LITE_OPTIONS({0, FLAT_WORD, 0}), HONE_F32,
                  &shape);
}

/* y[step] is the state after each step, `state` becomes the final one. */
static void run_direction(struct lite *l, struct cell *cell, bool is_backwards, int32_t *y,
                          int32_t *state) {
  const struct node *node = cell->node;
  const struct kind *kind = kind_of(node);
  const int64_t rows = kind->gates * cell->hidden, steps = node->inputs[X]->shape.dims[0];
  const struct shape one = {2, {cell->batch, cell->hidden}};
  cell->r = rows_of(l, node, R, cell->direction, 0, rows);
  cell->r_bias = node_input(node, BIAS) ? rows_of(l, node, BIAS, cell->direction, rows, rows) : -1;
  for (size_t s = 0; s < kind->states; s++)
    state[s] = node_input(node, FIRST_STATE + s)
                   ? row(l, lite_input(l, node, FIRST_STATE + s), cell->direction)
                   : zeros(l, &one);
  const int32_t x = from_inputs(l, cell, rows);
  for (int64_t i = 0; i < steps && !l->status; i++) {
    const int64_t at = is_backwards ? steps - 1 - i : i;
    kind->step(l, cell, row(l, x, at), state);
    y[at] = state[0];
  }
}

static int32_t joined(struct lite *l, const int32_t *parts, size_t count,
                      const struct shape *shape) {
  int32_t *rows = NULL;
  if (!l->status) l->status = NEW_ARRAY(l->ctx, l->arena, rows, count);
  if (l->status) return 0;
  for (size_t i = 0; i < count; i++) {
    const struct shape *part = lite_shape(l, parts[i]);
    rows[i] = lite_reshape(l, parts[i], &(struct shape){3, {1, part->dims[0], part->dims[1]}});
  }
  const struct shape *part = lite_shape(l, rows[0]);
  const struct shape all = {3, {(int64_t)count, part->dims[1], part->dims[2]}};
  const int32_t y =
      lite_put(l, LITE_CONCATENATION, rows, count, LITE_OPTIONS({0, FLAT_WORD, 0}), HONE_F32, &all);
  return lite_reshape(l, y, shape);
}

/* y of all directions: [steps, directions, batch, hidden]; the rows of each step are
 * concatenated. */
void lite_recurrent(struct lite *l, const struct node *node) {
  const struct kind *kind = kind_of(node);
  const struct value *x = node_input(node, X);
  size_t directions = 0;
  int32_t *y, last[STATES][2];
  const char *special = unsupported_reason(l, node, &directions);
  if (special) return lite_refuse(l, node, special);
  const int64_t steps = x->shape.dims[0];
  if (!l->status) l->status = NEW_ARRAY(l->ctx, l->arena, y, (size_t)steps * directions);
  for (size_t d = 0; d < directions && !l->status; d++) {
    struct cell cell = {.node = node,
                        .batch = x->shape.dims[1],
                        .hidden = node->inputs[R]->shape.dims[2],
                        .direction = (int64_t)d};
    int32_t state[STATES] = {0}, *made;
    l->status = NEW_ARRAY(l->ctx, l->arena, made, (size_t)steps);
    if (l->status) return;
    run_direction(l, &cell, d || !strcmp(node_string(node, "direction", "forward"), "reverse"),
                  made, state);
    for (int64_t i = 0; i < steps; i++) y[(size_t)i * directions + d] = made[i];
    for (size_t s = 0; s < kind->states; s++) last[s][d] = state[s];
  }
  if (l->status) return;
  if (node->outputs[0])
    lite_bind(l, node, 0, joined(l, y, (size_t)steps * directions, &node->outputs[0]->shape),
              false);
  for (size_t s = 0; s < kind->states; s++)
    if (s + 1 < node->output_count && node->outputs[s + 1])
      lite_bind(l, node, s + 1, joined(l, last[s], directions, &node->outputs[s + 1]->shape),
                false);
}
