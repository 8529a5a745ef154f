/* recurrent: LSTM (special forms in cell.c), RNN (over a sequence, in one or both directions, or a
 * single step), in float, and SVDF; weights may be stored as integers. State tensors become an
 * input and an output of the model. */
#include "recurrent.h"

enum { LSTM_NORM = 20, LSTM_INPUTS = 24, BOTH_AUX = 39, BOTH_INPUTS = 48 };
static const struct lstm forward = {1, 5, 9, 12, 16, 18, 19, LSTM_NORM, "forward"},
                         both_forward = {1, 5, 9, 12, 16, 35, 36, 0, "forward"},
                         both_backward = {18, 22, 26, 29, 33, 37, 38, 0, "reverse"};
/* ActivationFunctionType to the name of ONNX. */
static const char *activation_name(int64_t kind) {
  return kind == 1 ? "Relu" : kind == 4 ? "Tanh" : NULL;
}

/* B of ONNX: [1, 8 * units], with zeros for the recurrence. */
static hone_status stack_biases(struct tf_op *op, size_t first, int64_t units, struct value **out) {
  static const int64_t whole[] = {1, -1};
  struct value *zeros;
  const struct shape shape = {2, {1, GATES * units}};
  TRY(tf_stack_gates(op, first, units, 1, true, out));
  *out = x_reshape(op->b, *out, whole, 2);
  TRY(graph_new_constant(op->ctx, op->b->graph, HONE_F32, &shape, &zeros));
  return x_give(op->b, out, x_concat(op->b, 1, VALUES(*out, zeros)));
}

/* P of ONNX: [1, 3 * units] of input, output, forget. */
static hone_status stack_peepholes(struct tf_op *op, size_t first, int64_t units,
                                   struct value **out) {
  static const size_t order[] = {0, 2, 1};
  static const int64_t whole[] = {1, -1};
  struct value *parts[3];
  *out = NULL;
  if (!tf_in(op, first + 2)) return HONE_OK;
  for (size_t k = 0; k < COUNT(order); k++) {
    struct tf_tensor *tensor = tf_in(op, first + order[k]);
    if (!tensor && order[k] == 0) return tf_refuse(op, "with peepholes and coupled gates");
    if (!tensor)
      return fail(op->ctx, HONE_E_FORMAT, tf_place(op), "one of the peepholes is missing");
    TRY(tf_dequantised(op, tensor, &parts[k]));
    TRY(tf_as_slice(op, parts[k], units, 1, &parts[k]));
  }
  *out = x_concat(op->b, 1, parts, COUNT(parts));
  return x_give(op->b, out, x_reshape(op->b, *out, whole, 2));
}

static hone_status read_floats(struct tf_op *op, unsigned major_option, int64_t major,
                               struct sequence *out) {
  if (tf_is_quantised(tf_in(op, 0))) return tf_refuse(op, "of quantised numbers");
  TRY(tf_read_sequence(op, major_option, major, out));
  if (out->x->dtype == HONE_F32) return HONE_OK;
  return fail(op->ctx, HONE_E_TYPE, tf_place(op), "%s of %s", op->kind->name,
              dtype_name(out->x->dtype));
}

/* Both directions, concatenated along the units or as two outputs. */
static hone_status write_both(struct tf_op *op, const struct sequence *s, bool joined,
                              struct value *const *ys) {
  struct value *parts[2];
  for (size_t k = 0; k < 2; k++) BUILD(op->b, parts[k] = tf_order_sequence(op, s, ys[k]));
  if (!joined) TRY(tf_write(op, 0, false, parts[0]));
  if (!joined) return tf_write(op, 1, false, parts[1]);
  return tf_write(op, 0, false, x_concat(op->b, 2, parts, 2));
}

/* A state [batch, units] as [1, batch, units]. */
static hone_status read_state(struct tf_op *op, size_t k, const struct shape *shape,
                              struct value **out) {
  const int64_t dims[] = {1, shape->dims[0], shape->dims[1]};
  if (!tf_in(op, k))
    return fail(op->ctx, HONE_E_FORMAT, tf_place(op), "%s is missing a state", op->kind->name);
  TRY(tf_state(op, tf_in(op, k), shape, out));
  return x_give(op->b, out, x_reshape(op->b, *out, dims, 3));
}

static hone_status keep_state(struct tf_op *op, size_t k, const struct shape *shape,
                              struct value *x) {
  BUILD(op->b, x = x_reshape(op->b, x, shape->dims, 2));
  return tf_keep(op, tf_in(op, k), x);
}

static hone_status run_recurrence(struct tf_op *op, enum op_id id, struct value *const *inputs,
                                  size_t input_count, const char *const *functions,
                                  size_t function_count, int64_t units, const char *direction,
                                  size_t output_count, struct value **outs) {
  struct string *names;
  struct graph_builder *b = op->b;
  TRY(NEW_ARRAY(op->ctx, b->graph->arena, names, function_count));
  for (size_t k = 0; k < function_count; k++)
    names[k] = (struct string){functions[k], strlen(functions[k])};
  BUILD(b, x_nodes(b, id, inputs, input_count,
                   ARGS(STRINGS_ARG("activations", names, function_count),
                        INT_ARG("hidden_size", units), STRING_ARG("direction", direction)),
                   output_count, outs));
  return HONE_OK;
}

/* Common options: activation, cell_clip, proj_clip. */
static hone_status check_lstm(struct tf_op *op, const char **out_activation) {
  int64_t activation;
  TRY(tf_option(op, 0, FLAT_I8, 0, &activation));
  *out_activation = activation_name(activation);
  if (*out_activation) return HONE_OK;
  return tf_refuse(op, "with activation %lld", (long long)activation);
}

static hone_status check_operands(struct tf_op *op, size_t least, size_t most, size_t outputs) {
  if (op->inputs.count < least || op->inputs.count > most || op->outputs.count != outputs ||
      !tf_in(op, 0) || !tf_out(op, 0))
    return fail(op->ctx, HONE_E_FORMAT, tf_place(op), "%s has %zu inputs and %zu outputs",
                op->kind->name, op->inputs.count, op->outputs.count);
  return HONE_OK;
}

/* One direction: y [time, 1, batch, units]. */
static hone_status run_lstm(struct tf_op *op, const struct lstm *at, const struct sequence *s,
                            const char *activation, struct value **out) {
  struct value *inputs[8] = {NULL}, *outs[3], *some;
  if (tf_is_special_lstm(op, at)) return tf_special_lstm(op, at, s, activation, out);
  if (!tf_in(op, at->w + FORGET_GATE))
    return fail(op->ctx, HONE_E_FORMAT, tf_place(op), "%s is missing the weights of a gate",
                op->kind->name);
  TRY(tf_value(op, tf_in(op, at->w + FORGET_GATE), &some));
  const int64_t units = some->shape.rank ? some->shape.dims[0] : 0;
  const struct shape state = {2, {s->batch, units}};
  inputs[0] = s->x;
  TRY(tf_stack_gates(op, at->w, units, s->input, true, &inputs[1]));
  TRY(tf_stack_gates(op, at->r, units, units, true, &inputs[2]));
  TRY(stack_biases(op, at->bias, units, &inputs[3]));
  TRY(read_state(op, at->h, &state, &inputs[5]));
  TRY(read_state(op, at->c, &state, &inputs[6]));
  TRY(stack_peepholes(op, at->peephole, units, &inputs[7]));
  TRY(run_recurrence(op, OP_LSTM, inputs, inputs[7] ? 8 : 7,
                     (const char *[]){"Sigmoid", activation, activation}, 3, units, at->direction,
                     3, outs));
  TRY(keep_state(op, at->h, &state, outs[1]));
  TRY(keep_state(op, at->c, &state, outs[2]));
  *out = outs[0];
  return HONE_OK;
}

/* E_UNSUP unless operands [first, end) are omitted. */
static hone_status refuse_operands(struct tf_op *op, size_t first, size_t end, const char *what) {
  for (size_t k = first; k < end; k++)
    if (tf_in(op, k)) return tf_refuse(op, "%s", what);
  return HONE_OK;
}

/* LSTM, UNIDIRECTIONAL_SEQUENCE_LSTM: after check_lstm's options, for a sequence time_major. */
hone_status tf_lstm(struct tf_op *op) {
  struct sequence s;
  struct value *y;
  const char *activation;
  int64_t kernel = 0;
  if (op->kind->parameter) TRY(tf_option(op, 3, FLAT_I8, 0, &kernel));
  if (kernel) return tf_refuse(op, "with the basic kernel");
  TRY(check_operands(op, forward.c + 1, LSTM_INPUTS, 1));
  if (tf_is_quantised(tf_in(op, 0))) return tf_integer_lstm(op, &forward);
  TRY(check_lstm(op, &activation));
  TRY(read_floats(op, 3, 0, &s));
  TRY(run_lstm(op, &forward, &s, activation, &y));
  return tf_write_sequence(op, &s, y);
}

/* BIDIRECTIONAL_SEQUENCE_LSTM: options merge_outputs and time_major (true by default) after the
 * common ones. */
hone_status tf_bidirectional_lstm(struct tf_op *op) {
  struct sequence s;
  struct value *ys[2];
  const char *activation;
  int64_t joined;
  TRY(tf_option(op, 3, FLAT_U8, 0, &joined));
  TRY(check_operands(op, both_backward.c + 1, BOTH_INPUTS, joined ? 1 : 2));
  TRY(check_lstm(op, &activation));
  TRY(refuse_operands(op, BOTH_AUX, BOTH_INPUTS, "with an auxiliary input"));
  TRY(read_floats(op, 4, 1, &s));
  TRY(run_lstm(op, &both_forward, &s, activation, &ys[0]));
  TRY(run_lstm(op, &both_backward, &s, activation, &ys[1]));
  return write_both(op, &s, joined != 0, ys);
}

/* One direction: weights, recurrent weights, bias and state from operand `first` on. */
static hone_status run_rnn(struct tf_op *op, size_t first, const struct sequence *s,
                           const char *activation, const char *direction, struct value **out) {
  struct value *w, *r, *b, *zeros, *h, *outs[2];
  TRY(tf_dequantised(op, tf_in(op, first), &w));
  TRY(tf_dequantised(op, tf_in(op, first + 1), &r));
  TRY(tf_value(op, tf_in(op, first + 2), &b));
  const int64_t units = w->shape.rank ? w->shape.dims[0] : 0, bias[] = {1, units};
  const struct shape state = {2, {s->batch, units}}, row = {2, {1, units}};
  TRY(tf_as_slice(op, w, units, s->input, &w));
  TRY(tf_as_slice(op, r, units, units, &r));
  b = x_reshape(op->b, b, bias, 2);
  TRY(graph_new_constant(op->ctx, op->b->graph, HONE_F32, &row, &zeros));
  BUILD(op->b, b = x_concat(op->b, 1, VALUES(b, zeros)));
  TRY(read_state(op, first + 3, &state, &h));
  TRY(run_recurrence(op, OP_RNN, VALUES(s->x, w, r, b, NULL, h), &activation, 1, units, direction,
                     2, outs));
  TRY(keep_state(op, first + 3, &state, outs[1]));
  *out = outs[0];
  return HONE_OK;
}

static hone_status read_activation(struct tf_op *op, unsigned option, const char **out) {
  int64_t activation;
  TRY(tf_option(op, option, FLAT_I8, 0, &activation));
  *out = activation_name(activation);
  return *out ? HONE_OK : tf_refuse(op, "with activation %lld", (long long)activation);
}

/* RNN, UNIDIRECTIONAL_SEQUENCE_RNN: options: for a sequence time_major first, then the
 * activation. */
hone_status tf_rnn(struct tf_op *op) {
  struct sequence s;
  struct value *y;
  const char *activation;
  TRY(tf_arity(op, 5, 5, 1));
  TRY(read_activation(op, op->kind->parameter ? 0 : 1, &activation));
  TRY(read_floats(op, 0, 0, &s));
  TRY(run_rnn(op, 1, &s, activation, "forward", &y));
  return tf_write_sequence(op, &s, y);
}

/* BIDIRECTIONAL_SEQUENCE_RNN: options time_major, activation, merge_outputs. */
hone_status tf_bidirectional_rnn(struct tf_op *op) {
  struct sequence s;
  struct value *ys[2];
  const char *activation;
  int64_t joined;
  TRY(tf_option(op, 2, FLAT_U8, 0, &joined));
  TRY(tf_arity(op, 9, 12, joined ? 1 : 2));
  TRY(refuse_operands(op, 9, 12, "with an auxiliary input"));
  TRY(read_activation(op, 1, &activation));
  TRY(read_floats(op, 0, 0, &s));
  TRY(run_rnn(op, 1, &s, activation, "forward", &ys[0]));
  TRY(run_rnn(op, 5, &s, activation, "reverse", &ys[1]));
  return write_both(op, &s, joined != 0, ys);
}

/* -- SVDF */

/* Scales of a quantised SVDF: input, features, times, state and output. */
enum { SVDF_INPUT, SVDF_FEATURES, SVDF_TIMES, SVDF_STATE, SVDF_OUTPUT, SVDF_SCALES };
struct svdf {
  bool is_quantised;
  double scales[SVDF_SCALES];
  int64_t zeros[SVDF_SCALES];
};

static hone_status read_svdf(struct tf_op *op, struct svdf *s) {
  const struct tf_tensor *const those[SVDF_SCALES] = {tf_in(op, 0), tf_in(op, 1), tf_in(op, 2),
                                                      tf_in(op, 4), tf_out(op, 0)};
  *s = (struct svdf){.is_quantised = tf_is_quantised(tf_in(op, 0))};
  for (size_t k = 0; s->is_quantised && k < SVDF_SCALES; k++) {
    TRY(tf_one_scale(op, those[k], &s->scales[k], &s->zeros[k]));
    const bool may_differ = k == SVDF_INPUT || k == SVDF_OUTPUT;
    if (!may_differ && s->zeros[k]) return tf_refuse(op, "with weights that have a zero point");
  }
  if (s->is_quantised &&
      (those[SVDF_INPUT]->dtype != HONE_I8 || those[SVDF_STATE]->dtype != HONE_I16))
    return tf_refuse(op, "of %s with a state of %s", dtype_name(those[SVDF_INPUT]->dtype),
                     dtype_name(those[SVDF_STATE]->dtype));
  return HONE_OK;
}

/* x times the features, appended to the state as its newest element. */
static hone_status svdf_features(struct tf_op *op, const struct svdf *s, struct value *x,
                                 struct value *features, struct value **out) {
  static const int64_t turn[] = {1, 0};
  if (!s->is_quantised)
    return x_give(op->b, out,
                  x_args(op->b, OP_Gemm, VALUES(x, features), ARGS(INT_ARG("transB", 1))));
  struct value *zero = x_scalar(op->b, HONE_I8, (double)s->zeros[SVDF_INPUT]);
  struct value *none = x_scalar(op->b, HONE_I8, 0);
  BUILD(op->b, *out = x_op(op->b, OP_MatMulInteger,
                           VALUES(x, x_transpose(op->b, features, turn), zero, none)));
  const double scale = s->scales[SVDF_INPUT] * s->scales[SVDF_FEATURES] / s->scales[SVDF_STATE];
  return tf_rescale(op, *out, &(struct tf_rescale){.scales = &scale, .count = 1, .dtype = HONE_I16},
                    out);
}

/* Sums over the state, with the bias, to the output. */
static hone_status svdf_output(struct tf_op *op, const struct svdf *s, struct value *sums,
                               struct value **out) {
  struct value *bias;
  if (tf_in(op, 3)) {
    TRY(tf_value(op, tf_in(op, 3), &bias));
    BUILD(op->b, sums = x_2(op->b, OP_Add, sums, bias));
  }
  if (!s->is_quantised) return tf_activate(op, 1, sums, out);
  const double scale = s->scales[SVDF_STATE] * s->scales[SVDF_TIMES] / s->scales[SVDF_OUTPUT];
  return tf_rescale(op, sums,
                    &(struct tf_rescale){.scales = &scale,
                                         .count = 1,
                                         .dtype = tf_out(op, 0)->dtype,
                                         .zero_point = s->zeros[SVDF_OUTPUT]},
                    out);
}

/* SVDF: x [batch, input], feature weights [filters, input], time weights [filters, memory], bias
 * [units] or none, state [batch, filters * memory]; options rank, activation. Each filter stores
 * its latest products with x; a unit is the sum over its `rank` filters of the stored values times
 * the time weights. Source: Nakkiran et al. 2015, "Compressing Deep Neural Networks using a
 * Rank-Constrained Topology". The int8 form has a 16-bit state. */
hone_status tf_svdf(struct tf_op *op) {
  int64_t rank;
  struct svdf s;
  struct value *x, *features, *times, *memory, *y;
  TRY(tf_arity(op, 3, 5, 1));
  if (!tf_in(op, 4)) return fail(op->ctx, HONE_E_FORMAT, tf_place(op), "SVDF is missing its state");
  TRY(read_svdf(op, &s));
  TRY(tf_option(op, 0, FLAT_I32, 0, &rank));
  TRY(tf_value(op, tf_in(op, 0), &x));
  TRY((s.is_quantised ? tf_value : tf_dequantised)(op, tf_in(op, 1), &features));
  TRY((s.is_quantised ? tf_value : tf_dequantised)(op, tf_in(op, 2), &times));
  if (x->shape.rank != 2 || features->shape.rank != 2 || times->shape.rank != 2 || rank < 1 ||
      features->shape.dims[0] != times->shape.dims[0] || features->shape.dims[0] % rank ||
      times->shape.dims[1] < 1)
    return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "SVDF: the weights' shape does not match");
  const int64_t batch = x->shape.dims[0], filters = times->shape.dims[0],
                steps = times->shape.dims[1];
  const struct shape flat = {2, {batch, filters * steps}};
  const int64_t whole[] = {batch, filters, steps}, column[] = {batch, filters, 1},
                units[] = {batch, filters / rank, rank}, begin[] = {1}, end[] = {steps},
                axis[] = {2};
  TRY(tf_state(op, tf_in(op, 4), &flat, &memory));
  memory = x_reshape(op->b, memory, whole, 3);
  memory =
      x_op(op->b, OP_Slice,
           VALUES(memory, x_list(op->b, begin, 1), x_list(op->b, end, 1), x_list(op->b, axis, 1)));
  TRY(svdf_features(op, &s, x, features, &y));
  y = x_reshape(op->b, y, column, 3);
  memory = x_concat(op->b, 2, VALUES(memory, y));
  BUILD(op->b, y = x_reshape(op->b, memory, flat.dims, 2));
  TRY(tf_keep(op, tf_in(op, 4), y));
  const hone_dtype sums = s.is_quantised ? HONE_I32 : memory->dtype;
  memory = x_cast(op->b, memory, sums);
  y = x_2(op->b, OP_Mul, memory, x_cast(op->b, times, sums));
  struct value *axes = x_list(op->b, axis, 1);
  y = x_reshape(op->b, x_args(op->b, OP_ReduceSum, VALUES(y, axes), ARGS(INT_ARG("keepdims", 0))),
                units, 3);
  BUILD(op->b, y = x_args(op->b, OP_ReduceSum, VALUES(y, axes), ARGS(INT_ARG("keepdims", 0))));
  TRY(svdf_output(op, &s, y, &y));
  return tf_write(op, 0, false, y);
}
