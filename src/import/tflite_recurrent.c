/* tflite_recurrent: LSTM, RNN (over a sequence or one step of it) and SVDF, in float; weights may be stored
 * as integers. What the state tensors hold is an input and an output of the model. */
#include "tflite.h"

/* Operands of an LSTM; gates are input, forget, cell, output. */
enum {
  LSTM_X,
  LSTM_W,
  LSTM_R = 5,
  LSTM_PEEPHOLE = 9,
  LSTM_BIAS = 12,
  LSTM_PROJECTION = 16,
  LSTM_H = 18,
  LSTM_C,
  LSTM_NORM,
  LSTM_INPUTS = 24,
  GATES = 4
};
enum { INPUT_GATE, FORGET_GATE, CELL_GATE, OUTPUT_GATE };
/* ONNX has them as input, output, forget, cell. */
static const int in_onnx_order[GATES] = {INPUT_GATE, OUTPUT_GATE, FORGET_GATE, CELL_GATE};

/* ActivationFunctionType to the name of ONNX. */
static const char *activation_name(int64_t kind) {
  return kind == 1 ? "Relu" : kind == 4 ? "Tanh" : NULL;
}

/* [n] or [n, m] as [1, n, m]; nothing else. */
static hone_status as_slice(struct tf_op *op, struct value *x, int64_t rows, int64_t columns,
                            struct value **out) {
  const int64_t dims[] = {1, rows, columns};
  int64_t count = 0;
  if (!shape_count(&x->shape, &count) || count != rows * columns)
    return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "%s: weights that do not fit", op->kind->name);
  return make_reshape(op->make, x, dims, 3, out);
}

/* Rows of gate weights one under the other, in ONNX's order: [1, 4 * rows, columns]; absent input gate: 1 less
   the forget gate, whose weights are its with the other sign. */
static hone_status stack_gates(struct tf_op *op, size_t first, int64_t rows, int64_t columns,
                               struct value **out) {
  struct value *parts[GATES];
  for (int g = 0; g < GATES; g++) {
    struct tf_tensor *tensor = tf_in(op, first + (size_t)in_onnx_order[g]);
    const bool is_coupled = !tensor && in_onnx_order[g] == INPUT_GATE;
    if (is_coupled) tensor = tf_in(op, first + FORGET_GATE);
    if (!tensor)
      return fail(op->ctx, HONE_E_FORMAT, tf_place(op), "%s lacks the weights of a gate",
                  op->kind->name);
    TRY(tf_dequantised(op, tensor, &parts[g]));
    TRY(as_slice(op, parts[g], rows, columns, &parts[g]));
    if (is_coupled) TRY(make_node(op->make, OP_Neg, VALUES(parts[g]), NULL, &parts[g]));
  }
  return make_node(op->make, OP_Concat, parts, GATES, ARGS(INT_ARG("axis", 1)), out);
}

/* B of ONNX: [1, 8 * units], that of the recurrence is zero. */
static hone_status stack_biases(struct tf_op *op, int64_t units, struct value **out) {
  static const int64_t whole[] = {1, -1};
  struct value *zeros;
  struct shape shape = {2, {1, GATES * units}};
  struct tensor *tensor;
  TRY(stack_gates(op, LSTM_BIAS, units, 1, out));
  TRY(make_reshape(op->make, *out, whole, 2, out));
  TRY(tensor_create(op->ctx, op->make->graph->arena, HONE_F32, &shape, &tensor));
  TRY(graph_constant(op->ctx, op->make->graph, NULL, tensor, &zeros));
  return make_node(op->make, OP_Concat, VALUES(*out, zeros), ARGS(INT_ARG("axis", 1)), out);
}

/* P of ONNX: [1, 3 * units] of input, output, forget. */
static hone_status stack_peepholes(struct tf_op *op, int64_t units, struct value **out) {
  static const size_t order[] = {0, 2, 1};
  static const int64_t whole[] = {1, -1};
  struct value *parts[3];
  *out = NULL;
  if (!tf_in(op, LSTM_PEEPHOLE + 2)) return HONE_OK;
  for (size_t k = 0; k < COUNT(order); k++) {
    struct tf_tensor *tensor = tf_in(op, LSTM_PEEPHOLE + order[k]);
    if (!tensor && order[k] == 0) return tf_refuse(op, "peepholes beside coupled gates");
    if (!tensor) return fail(op->ctx, HONE_E_FORMAT, tf_place(op), "a peephole is left out");
    TRY(tf_dequantised(op, tensor, &parts[k]));
    TRY(as_slice(op, parts[k], units, 1, &parts[k]));
  }
  TRY(make_node(op->make, OP_Concat, parts, COUNT(parts), ARGS(INT_ARG("axis", 1)), out));
  return make_reshape(op->make, *out, whole, 2, out);
}

struct sequence {
  struct value *x; /* [time, batch, input] */
  int64_t batch, input;
  bool is_step, is_time_major;
};

static hone_status read_sequence(struct tf_op *op, unsigned major_option, struct sequence *out) {
  static const int64_t swap[] = {1, 0, 2};
  int64_t major = 1;
  *out = (struct sequence){.is_step = op->kind->parameter != 0};
  if (!out->is_step) TRY(tf_option(op, major_option, FLAT_U8, 0, &major));
  out->is_time_major = major != 0;
  if (tf_is_quantised(tf_in(op, 0))) return tf_refuse(op, "of quantised numbers");
  TRY(tf_value(op, tf_in(op, 0), &out->x));
  if (out->x->shape.rank != (out->is_step ? 2 : 3) || out->x->dtype != HONE_F32)
    return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "%s of rank %d, or not of float32",
                op->kind->name, out->x->shape.rank);
  if (out->is_step) {
    const int64_t dims[] = {1, out->x->shape.dims[0], out->x->shape.dims[1]};
    TRY(make_reshape(op->make, out->x, dims, 3, &out->x));
  }
  if (!out->is_time_major) TRY(make_transpose(op->make, out->x, swap, &out->x));
  out->batch = out->x->shape.dims[1];
  out->input = out->x->shape.dims[2];
  return HONE_OK;
}

/* y [time, 1, batch, units] as the operator's output. */
static hone_status write_sequence(struct tf_op *op, const struct sequence *s, struct value *y) {
  static const int64_t swap[] = {1, 0, 2};
  const int64_t dims[] = {y->shape.dims[0], y->shape.dims[2], y->shape.dims[3]};
  TRY(make_reshape(op->make, y, s->is_step ? dims + 1 : dims, s->is_step ? 2 : 3, &y));
  if (!s->is_time_major) TRY(make_transpose(op->make, y, swap, &y));
  return tf_write(op, 0, false, y);
}

/* A state [batch, units] as [1, batch, units]. */
static hone_status read_state(struct tf_op *op, size_t k, const struct shape *shape,
                              struct value **out) {
  const int64_t dims[] = {1, shape->dims[0], shape->dims[1]};
  if (!tf_in(op, k))
    return fail(op->ctx, HONE_E_FORMAT, tf_place(op), "%s lacks a state", op->kind->name);
  TRY(tf_state(op, tf_in(op, k), shape, out));
  return make_reshape(op->make, *out, dims, 3, out);
}

static hone_status keep_state(struct tf_op *op, size_t k, const struct shape *shape,
                              struct value *x) {
  TRY(make_reshape(op->make, x, shape->dims, 2, &x));
  return tf_keep(op, tf_in(op, k), x);
}

static hone_status run_recurrence(struct tf_op *op, enum op_id id, struct value *const *inputs,
                                  size_t input_count, const char *const *functions,
                                  size_t function_count, int64_t units, size_t output_count,
                                  struct value **outs) {
  struct string *names;
  struct node *node;
  struct make *make = op->make;
  TRY(NEW_ARRAY(op->ctx, make->graph->arena, names, function_count));
  for (size_t k = 0; k < function_count; k++)
    names[k] = (struct string){functions[k], strlen(functions[k])};
  const struct attribute activations = {
      .name = "activations", .kind = ATTRIBUTE_STRINGS, .count = function_count, .strings = names};
  TRY(graph_node(op->ctx, make->graph, &op_table[id], inputs, input_count, output_count, &node));
  node->index = make->index;
  node->name = make->name;
  TRY(node_set(op->ctx, make->graph, node, &activations));
  TRY(node_set_int(op->ctx, make->graph, node, "hidden_size", units));
  TRY(node_infer(op->ctx, make->graph, node));
  memcpy(outs, node->outputs, output_count * sizeof *outs);
  return HONE_OK;
}

static hone_status check_lstm(struct tf_op *op, int64_t *out_activation) {
  double cell = 0, projection = 0;
  if (op->inputs.count <= LSTM_C || op->inputs.count > LSTM_INPUTS || op->outputs.count != 1 ||
      !tf_in(op, LSTM_X) || !tf_out(op, 0))
    return fail(op->ctx, HONE_E_FORMAT, tf_place(op), "%s has %zu inputs and %zu outputs",
                op->kind->name, op->inputs.count, op->outputs.count);
  TRY(tf_option(op, 0, FLAT_I8, 0, out_activation));
  TRY(flat_float(&op->options, 1, 0, &cell));
  TRY(flat_float(&op->options, 2, 0, &projection));
  if (cell > 0 || projection > 0) return tf_refuse(op, "with a clipped cell or projection");
  if (tf_in(op, LSTM_PROJECTION)) return tf_refuse(op, "with a projection");
  for (size_t k = LSTM_NORM; k < LSTM_INPUTS; k++)
    if (tf_in(op, k)) return tf_refuse(op, "with layer normalisation");
  if (!activation_name(*out_activation))
    return tf_refuse(op, "with activation %lld", (long long)*out_activation);
  return HONE_OK;
}

/* LSTM, UNIDIRECTIONAL_SEQUENCE_LSTM: options activation, cell_clip, proj_clip, then of a sequence time_major. */
hone_status tf_lstm(struct tf_op *op) {
  struct sequence s;
  struct value *inputs[8] = {NULL}, *outs[3];
  int64_t activation, kernel = 0;
  if (op->kind->parameter) TRY(tf_option(op, 3, FLAT_I8, 0, &kernel));
  if (kernel) return tf_refuse(op, "of the basic kernel");
  TRY(check_lstm(op, &activation));
  if (!tf_in(op, LSTM_W + FORGET_GATE))
    return fail(op->ctx, HONE_E_FORMAT, tf_place(op), "%s lacks the weights of a gate",
                op->kind->name);
  TRY(read_sequence(op, 3, &s));
  struct value *some;
  TRY(tf_value(op, tf_in(op, LSTM_W + FORGET_GATE), &some));
  const int64_t units = some->shape.rank ? some->shape.dims[0] : 0;
  const struct shape state = {2, {s.batch, units}};
  inputs[0] = s.x;
  TRY(stack_gates(op, LSTM_W, units, s.input, &inputs[1]));
  TRY(stack_gates(op, LSTM_R, units, units, &inputs[2]));
  TRY(stack_biases(op, units, &inputs[3]));
  TRY(read_state(op, LSTM_H, &state, &inputs[5]));
  TRY(read_state(op, LSTM_C, &state, &inputs[6]));
  TRY(stack_peepholes(op, units, &inputs[7]));
  const char *name = activation_name(activation);
  TRY(run_recurrence(op, OP_LSTM, inputs, inputs[7] ? 8 : 7,
                     (const char *[]){"Sigmoid", name, name}, 3, units, 3, outs));
  TRY(keep_state(op, LSTM_H, &state, outs[1]));
  TRY(keep_state(op, LSTM_C, &state, outs[2]));
  return write_sequence(op, &s, outs[0]);
}

/* RNN, UNIDIRECTIONAL_SEQUENCE_RNN: x, weights, recurrent weights, bias, state; options: of a sequence
   time_major first, then the activation. */
hone_status tf_rnn(struct tf_op *op) {
  struct sequence s;
  struct value *w, *r, *b, *zeros, *h, *outs[2];
  struct tensor *tensor;
  int64_t activation;
  TRY(tf_arity(op, 5, 5, 1));
  TRY(tf_option(op, op->kind->parameter ? 0 : 1, FLAT_I8, 0, &activation));
  if (!activation_name(activation))
    return tf_refuse(op, "with activation %lld", (long long)activation);
  TRY(read_sequence(op, 0, &s));
  TRY(tf_dequantised(op, tf_in(op, 1), &w));
  TRY(tf_dequantised(op, tf_in(op, 2), &r));
  TRY(tf_value(op, tf_in(op, 3), &b));
  const int64_t units = w->shape.rank ? w->shape.dims[0] : 0, bias[] = {1, units};
  const struct shape state = {2, {s.batch, units}}, row = {2, {1, units}};
  TRY(as_slice(op, w, units, s.input, &w));
  TRY(as_slice(op, r, units, units, &r));
  TRY(make_reshape(op->make, b, bias, 2, &b));
  TRY(tensor_create(op->ctx, op->make->graph->arena, HONE_F32, &row, &tensor));
  TRY(graph_constant(op->ctx, op->make->graph, NULL, tensor, &zeros));
  TRY(make_node(op->make, OP_Concat, VALUES(b, zeros), ARGS(INT_ARG("axis", 1)), &b));
  TRY(read_state(op, 4, &state, &h));
  TRY(run_recurrence(op, OP_RNN, VALUES(s.x, w, r, b, NULL, h),
                     (const char *[]){activation_name(activation)}, 1, units, 2, outs));
  TRY(keep_state(op, 4, &state, outs[1]));
  return write_sequence(op, &s, outs[0]);
}

/* SVDF: x [batch, input], feature weights [filters, input], time weights [filters, memory], bias [units] or
   none, state [batch, filters * memory]; options rank, activation. Each filter remembers its latest products
   with x; a unit is the sum over its `rank` filters of what they remember by the time weights. Source: Nakkiran
   et al. 2015, "Compressing Deep Neural Networks using a Rank-Constrained Topology". */
hone_status tf_svdf(struct tf_op *op) {
  int64_t rank;
  struct value *x, *features, *times, *bias = NULL, *memory, *axes, *y;
  TRY(tf_arity(op, 3, 5, 1));
  if (!tf_in(op, 4)) return fail(op->ctx, HONE_E_FORMAT, tf_place(op), "SVDF lacks its state");
  if (tf_is_quantised(tf_in(op, 0))) return tf_refuse(op, "of quantised numbers");
  TRY(tf_option(op, 0, FLAT_I32, 0, &rank));
  TRY(tf_value(op, tf_in(op, 0), &x));
  TRY(tf_dequantised(op, tf_in(op, 1), &features));
  TRY(tf_dequantised(op, tf_in(op, 2), &times));
  if (x->shape.rank != 2 || features->shape.rank != 2 || times->shape.rank != 2 || rank < 1 ||
      features->shape.dims[0] != times->shape.dims[0] || features->shape.dims[0] % rank ||
      times->shape.dims[1] < 1)
    return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "SVDF: weights that do not fit");
  const int64_t batch = x->shape.dims[0], filters = times->shape.dims[0],
                steps = times->shape.dims[1];
  const struct shape flat = {2, {batch, filters * steps}};
  const int64_t whole[] = {batch, filters, steps}, column[] = {batch, filters, 1},
                units[] = {batch, filters / rank, rank}, begin[] = {1}, end[] = {steps},
                axis[] = {2};
  struct value *from, *to, *along;
  TRY(tf_state(op, tf_in(op, 4), &flat, &memory));
  TRY(make_reshape(op->make, memory, whole, 3, &memory));
  TRY(make_ints(op->make, begin, 1, &from));
  TRY(make_ints(op->make, end, 1, &to));
  TRY(make_ints(op->make, axis, 1, &along));
  TRY(make_node(op->make, OP_Slice, VALUES(memory, from, to, along), NULL, &memory));
  TRY(make_node(op->make, OP_Gemm, VALUES(x, features), ARGS(INT_ARG("transB", 1)), &y));
  TRY(make_reshape(op->make, y, column, 3, &y));
  TRY(make_node(op->make, OP_Concat, VALUES(memory, y), ARGS(INT_ARG("axis", 2)), &memory));
  TRY(make_reshape(op->make, memory, flat.dims, 2, &y));
  TRY(tf_keep(op, tf_in(op, 4), y));
  TRY(make_node(op->make, OP_Mul, VALUES(memory, times), NULL, &y));
  TRY(make_ints(op->make, axis, 1, &axes));
  TRY(make_node(op->make, OP_ReduceSum, VALUES(y, axes), ARGS(INT_ARG("keepdims", 0)), &y));
  TRY(make_reshape(op->make, y, units, 3, &y));
  TRY(make_node(op->make, OP_ReduceSum, VALUES(y, axes), ARGS(INT_ARG("keepdims", 0)), &y));
  if (tf_in(op, 3)) TRY(tf_value(op, tf_in(op, 3), &bias));
  if (bias) TRY(make_node(op->make, OP_Add, VALUES(y, bias), NULL, &y));
  TRY(tf_activate(op, 1, y, &y));
  return tf_write(op, 0, false, y);
}
