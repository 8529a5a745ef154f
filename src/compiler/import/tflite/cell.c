/* cell: LSTMs that ONNX's operator does not describe, step by step: with a projection, layer
 * normalisation or clipping (Sak et al. 2014, "Long Short-Term Memory Recurrent Neural Network
 * Architectures for Large Scale Acoustic Modeling"), and int8 with a 16-bit cell, bit-exact with
 * the format's reference kernel. One matmul before the first step multiplies all inputs. */
#include "core/ops/operators/fixed_point.h"
#include "recurrent.h"

#include <math.h>

struct cell {
  struct tf_op *op;
  struct value *x; /* [time, batch, gates * units] */
  int64_t units;
  bool is_reverse;
  enum op_id activation;
  struct value *r, *projection, *projection_bias; /* [outputs, gates * units], [units, outputs] */
  /* float: peepholes of input, forget, output; scale and bias of the normalised gates in ONNX's order */
  struct value *peephole[3], *norm[GATES], *bias[GATES];
  double cell_clip, projection_clip; /* 0: none */
  /* int8 */
  struct value *logistic, *tanh_gate, *tanh_cell; /* look-up tables */
  bool is_coupled;
  int64_t cell_bits; /* integer bits of the cell's fixed point, 9 to 15 fractional */
  double *r_scales, hidden_scale, projection_scale;
  int64_t gates, h_zero, hidden_zero;
  double gate_scales[GATES]; /* scale of each gate's sum, before its normalisation if any */
  struct byte_gate {
    struct value *peephole, *norm, *bias; /* [units] of i32, i64, i64; NULL: none */
    double peephole_scale, norm_scale;
  } at[GATES];
};

/* y [time, 1, batch, outputs]; h and c become those after the last step. */
static hone_status run_cell(const struct cell *cell, make_step_fn *step, struct value **h,
                            struct value **c, struct value **y) {
  const struct make_sequence sequence = {cell->op->b, cell, step, cell->x, cell->is_reverse};
  TRY(make_sequence(&sequence, h, c, y));
  const int64_t dims[] = {cell->x->shape.dims[0], 1, (*h)->shape.dims[0], (*h)->shape.dims[1]};
  return x_give(cell->op->b, y, x_reshape(cell->op->b, *y, dims, 4));
}

/* [n, m] of a list, or of [1, n, m]. */
static hone_status as_matrix(struct tf_op *op, struct value *x, int64_t rows, int64_t columns,
                             struct value **out) {
  const int64_t dims[] = {rows, columns};
  if (make_elements(x) != rows * columns)
    return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "%s: the weights' shape does not match",
                op->kind->name);
  return x_give(op->b, out, x_reshape(op->b, x, dims, 2));
}

/* The transpose of a matrix stored as [rows, columns]. */
static hone_status turned(struct tf_op *op, struct value *x, int64_t rows, int64_t columns,
                          struct value **out) {
  static const int64_t swap[] = {1, 0};
  TRY(as_matrix(op, x, rows, columns, &x));
  return x_give(op->b, out, x_transpose(op->b, x, swap));
}

/* `count` equal parts of the last axis of x [batch, count * units]. */
static hone_status split_gates(const struct cell *cell, struct value *x, size_t count,
                               struct value **out) {
  int64_t sizes[GATES];
  for (size_t g = 0; g < count; g++) sizes[g] = cell->units;
  struct value *lengths = x_list(cell->op->b, sizes, count);
  BUILD(cell->op->b,
        x_nodes(cell->op->b, OP_Split, VALUES(x, lengths), ARGS(INT_ARG("axis", 1)), count, out));
  return HONE_OK;
}

static struct value *clip(const struct cell *cell, struct value *x, double low, double high) {
  return x_3(cell->op->b, OP_Clip, x, x_scalar(cell->op->b, x->dtype, low),
             x_scalar(cell->op->b, x->dtype, high));
}

/* -- float */

enum { IN, OUT, FORGET, CANDIDATE }; /* in ONNX's order */

static struct value *open_gate(const struct cell *cell, size_t g, struct value *peephole,
                               struct value *c, struct value *x) {
  struct graph_builder *b = cell->op->b;
  if (peephole) x = x_2(b, OP_Add, x, x_2(b, OP_Mul, c, peephole));
  if (cell->norm[g]) {
    x = x_args(b, OP_LayerNormalization, VALUES(x, cell->norm[g], cell->bias[g]),
               ARGS(INT_ARG("axis", -1), FLOAT_ARG("epsilon", 1e-8)));
  }
  return x_1(b, g == CANDIDATE ? cell->activation : OP_Sigmoid, x);
}

static hone_status step_in_float(const void *of, struct value *x, struct value **h,
                                 struct value **c) {
  const struct cell *cell = of;
  struct graph_builder *b = cell->op->b;
  struct value *gates[GATES], *y;
  BUILD(b, y = x_2(b, OP_Add, x_2(b, OP_MatMul, *h, cell->r), x));
  TRY(split_gates(cell, y, GATES, gates));
  BUILD(b, gates[IN] = open_gate(cell, IN, cell->peephole[0], *c, gates[IN]));
  BUILD(b, gates[FORGET] = open_gate(cell, FORGET, cell->peephole[1], *c, gates[FORGET]));
  gates[CANDIDATE] = open_gate(cell, CANDIDATE, NULL, *c, gates[CANDIDATE]);
  struct value *kept = x_2(b, OP_Mul, gates[FORGET], *c);
  *c = x_2(b, OP_Mul, gates[IN], gates[CANDIDATE]);
  BUILD(b, *c = x_2(b, OP_Add, kept, *c));
  if (cell->cell_clip > 0) BUILD(b, *c = clip(cell, *c, -cell->cell_clip, cell->cell_clip));
  gates[OUT] = open_gate(cell, OUT, cell->peephole[2], *c, gates[OUT]);
  *h = x_2(b, OP_Mul, gates[OUT], x_1(b, cell->activation, *c));
  if (!cell->projection) return b->status;
  BUILD(b, *h = x_2(b, OP_MatMul, *h, cell->projection));
  if (cell->projection_bias) BUILD(b, *h = x_2(b, OP_Add, *h, cell->projection_bias));
  if (cell->projection_clip > 0) *h = clip(cell, *h, -cell->projection_clip, cell->projection_clip);
  return b->status;
}

static hone_status read_clips(struct tf_op *op, double *out_cell, double *out_projection) {
  TRY(flat_float(&op->options, 1, 0, out_cell));
  return flat_float(&op->options, 2, 0, out_projection);
}

static struct tf_tensor *norm_of(const struct tf_op *op, const struct lstm *at, size_t gate) {
  return at->norm ? tf_in(op, at->norm + gate) : NULL;
}

bool tf_is_special_lstm(const struct tf_op *op, const struct lstm *at) {
  double cell = 0, projection = 0;
  if (tf_in(op, at->projection) || norm_of(op, at, FORGET_GATE)) return true;
  if (flat_float(&op->options, 1, 0, &cell) || flat_float(&op->options, 2, 0, &projection))
    return true; /* the error is reported where it is read again */
  return cell > 0;
}

/* Peepholes [units], if present. */
static hone_status read_peepholes(struct cell *cell, const struct lstm *at) {
  struct tf_op *op = cell->op;
  for (size_t k = 0; k < 3; k++) {
    if (!tf_in(op, at->peephole + k)) continue;
    if (!tf_in(op, at->w)) return tf_refuse(op, "with peepholes and coupled gates");
    TRY(tf_dequantised(op, tf_in(op, at->peephole + k), &cell->peephole[k]));
    BUILD(op->b, cell->peephole[k] = x_reshape(op->b, cell->peephole[k], &cell->units, 1));
  }
  return HONE_OK;
}

/* The input's part of the gates with their biases; with normalisation the biases are added after
 * it. */
static hone_status input_part(struct cell *cell, const struct lstm *at, const struct sequence *s) {
  struct tf_op *op = cell->op;
  const int64_t all = GATES * cell->units;
  struct value *w, *bias;
  TRY(tf_stack_gates(op, at->w, cell->units, s->input, true, &w));
  TRY(turned(op, w, all, s->input, &w));
  BUILD(op->b, cell->x = x_2(op->b, OP_MatMul, s->x, w));
  TRY(tf_stack_gates(op, at->bias, cell->units, 1, true, &bias));
  if (!norm_of(op, at, FORGET_GATE)) {
    bias = x_reshape(op->b, bias, &all, 1);
    return x_give(op->b, &cell->x, x_2(op->b, OP_Add, cell->x, bias));
  }
  struct value *norm;
  TRY(as_matrix(op, bias, 1, all, &bias));
  TRY(split_gates(cell, bias, GATES, cell->bias));
  TRY(tf_stack_gates(op, at->norm, cell->units, 1, false, &norm));
  TRY(as_matrix(op, norm, 1, all, &norm));
  TRY(split_gates(cell, norm, GATES, cell->norm));
  for (size_t g = 0; g < GATES; g++) {
    BUILD(op->b, cell->norm[g] = x_reshape(op->b, cell->norm[g], &cell->units, 1));
    BUILD(op->b, cell->bias[g] = x_reshape(op->b, cell->bias[g], &cell->units, 1));
  }
  return HONE_OK;
}

/* States of the operator, and its numbers of units and outputs, from the weights of the output
 * gate. */
struct sizes {
  int64_t units, outputs;
  struct shape h, c;
};

static hone_status read_sizes(struct tf_op *op, const struct lstm *at, const struct sequence *s,
                              struct sizes *out) {
  struct value *r;
  if (!tf_in(op, at->r + OUTPUT_GATE) || !tf_in(op, at->h) || !tf_in(op, at->c))
    return fail(op->ctx, HONE_E_FORMAT, tf_place(op),
                "%s is missing the weights of a gate or a state", op->kind->name);
  TRY(tf_value(op, tf_in(op, at->r + OUTPUT_GATE), &r));
  if (r->shape.rank != 2)
    return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "%s: the weights' shape does not match",
                op->kind->name);
  out->units = r->shape.dims[0], out->outputs = r->shape.dims[1];
  out->h = (struct shape){2, {s->batch, out->outputs}};
  out->c = (struct shape){2, {s->batch, out->units}};
  if (tf_in(op, at->projection) || out->units == out->outputs) return HONE_OK;
  return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "%s of %lld units has %lld outputs",
              op->kind->name, (long long)out->units, (long long)out->outputs);
}

hone_status tf_special_lstm(struct tf_op *op, const struct lstm *at, const struct sequence *s,
                            const char *activation, struct value **out) {
  struct cell cell = {.op = op, .is_reverse = *at->direction == 'r'};
  struct sizes sizes;
  struct value *h, *c;
  TRY(read_sizes(op, at, s, &sizes));
  TRY(read_clips(op, &cell.cell_clip, &cell.projection_clip));
  cell.units = sizes.units;
  cell.activation = *activation == 'R' ? OP_Relu : OP_Tanh;
  TRY(read_peepholes(&cell, at));
  TRY(input_part(&cell, at, s));
  TRY(tf_stack_gates(op, at->r, sizes.units, sizes.outputs, true, &cell.r));
  TRY(turned(op, cell.r, GATES * sizes.units, sizes.outputs, &cell.r));
  if (tf_in(op, at->projection)) {
    TRY(tf_dequantised(op, tf_in(op, at->projection), &cell.projection));
    TRY(turned(op, cell.projection, sizes.outputs, sizes.units, &cell.projection));
    if (tf_in(op, at->projection + 1))
      TRY(tf_value(op, tf_in(op, at->projection + 1), &cell.projection_bias));
  }
  TRY(tf_state(op, tf_in(op, at->h), &sizes.h, &h));
  TRY(tf_state(op, tf_in(op, at->c), &sizes.c, &c));
  TRY(run_cell(&cell, step_in_float, &h, &c, out));
  TRY(tf_keep(op, tf_in(op, at->h), h));
  return tf_keep(op, tf_in(op, at->c), c);
}

/* -- int8; gates forget, cell, output, and input unless coupled. 16-bit numbers are held in 32
 * bits */

enum { B_FORGET, B_CANDIDATE, B_OUT, B_IN };
static const size_t byte_gates[GATES] = {FORGET_GATE, CELL_GATE, OUTPUT_GATE, INPUT_GATE};
enum { NO_PEEPHOLE = 3 };
static const size_t byte_peepholes[GATES] = {1, NO_PEEPHOLE, 2, 0};
static const double gate_scale = 1.0 / 4096;

static struct value *look_up(const struct cell *cell, struct value *table, struct value *x) {
  struct graph_builder *b = cell->op->b;
  return x_cast(b, x_gather(b, table, x_by(b, OP_Add, x, -INT16_MIN), 0), HONE_I32);
}

static hone_status rescaled(const struct cell *cell, struct value *x, const double *scales,
                            size_t count, double low, double high, struct value **out) {
  const struct tf_rescale how = {.scales = scales,
                                 .count = count,
                                 .axis = count > 1 ? x->shape.rank - 1 : 0,
                                 .dtype = HONE_I32,
                                 .low = low,
                                 .high = high};
  return tf_rescale(cell->op, x, &how, out);
}

/* a * b / 2^bits, halves away from zero: one more bit before the product with one half keeps that
 * exact. */
static hone_status scaled_product(const struct cell *cell, struct value *a, struct value *b,
                                  int64_t bits, struct value **out) {
  const double scale = ldexp(1, (int)-bits - 1);
  const struct tf_rescale how = {.scales = &scale, .count = 1, .left_shift = 1, .dtype = HONE_I32};
  BUILD(cell->op->b, a = x_2(cell->op->b, OP_Mul, a, b));
  return tf_rescale(cell->op, a, &how, out);
}

static hone_status to_bytes(const struct cell *cell, struct value *x, const double *scale,
                            int64_t zero_point, struct value **out) {
  const struct tf_rescale how = {.scales = scale,
                                 .count = 1,
                                 .dtype = HONE_I8,
                                 .zero_point = zero_point,
                                 .low = -128,
                                 .high = 127};
  return tf_rescale(cell->op, x, &how, out);
}

static hone_status project(const struct cell *cell, struct value *x, struct value **out) {
  struct graph_builder *b = cell->op->b;
  const double clip = cell->projection_clip;
  BUILD(b, x = x_3(b, OP_MatMulInteger, x, cell->projection,
                   x_scalar(b, HONE_I8, (double)cell->hidden_zero)));
  if (cell->projection_bias) BUILD(b, x = x_2(b, OP_Add, x, cell->projection_bias));
  TRY(to_bytes(cell, x, &cell->projection_scale, cell->h_zero, out));
  if (!(clip > 0)) return HONE_OK;
  return x_give(b, out,
                x_3(b, OP_Clip, *out, x_scalar(b, HONE_I8, -clip), x_scalar(b, HONE_I8, clip)));
}

/* Normalises by mean and deviation, times the weights, plus the bias, in steps of 2^-12. */
static hone_status normalised(const struct cell *cell, const struct byte_gate *gate,
                              struct value *x, struct value **out) {
  struct graph_builder *b = cell->op->b;
  const float guard = 10000 * (float)gate->norm_scale;
  const int64_t least = guard < 2e9F ? (int64_t)guard : 2000000000;
  const double scale = gate->norm_scale * 4096;
  x = x_cast(b,
             x_args(b, OP_NormalizeWords, VALUES(x_cast(b, x, HONE_I16)),
                    ARGS(INT_ARG("least", least > 1 ? least : 1))),
             HONE_I64);
  x = x_2(b, OP_Add, x_2(b, OP_Mul, x, gate->norm), gate->bias);
  x = x_by(b, OP_Div, x_2(b, OP_Add, x, x_by(b, OP_Mul, x_1(b, OP_Sign, x), 512)), 1024);
  BUILD(b, x = x_cast(b, x, HONE_I32));
  return rescaled(cell, x, &scale, 1, INT16_MIN, INT16_MAX, out);
}

/* c: of the previous step; for the output gate, of this one. */
static hone_status open_byte_gate(const struct cell *cell, int64_t g, struct value *c,
                                  struct value *x, struct value **out) {
  const struct byte_gate *gate = &cell->at[g];
  struct value *seen;
  if (gate->peephole) {
    BUILD(cell->op->b, seen = x_2(cell->op->b, OP_Mul, c, gate->peephole));
    TRY(rescaled(cell, seen, &gate->peephole_scale, 1, 0, 0, &seen));
    BUILD(cell->op->b, x = x_2(cell->op->b, OP_Add, x, seen));
    BUILD(cell->op->b, x = clip(cell, x, INT16_MIN, INT16_MAX));
  }
  if (gate->norm) TRY(normalised(cell, gate, x, &x));
  return x_give(cell->op->b, out,
                look_up(cell, g == B_CANDIDATE ? cell->tanh_gate : cell->logistic, x));
}

static hone_status step_in_bytes(const void *of, struct value *x, struct value **h,
                                 struct value **c) {
  const struct cell *cell = of;
  struct graph_builder *b = cell->op->b;
  struct value *gates[GATES], *y;
  BUILD(b, y = x_3(b, OP_MatMulInteger, *h, cell->r, x_scalar(b, HONE_I8, (double)cell->h_zero)));
  TRY(rescaled(cell, y, cell->r_scales, (size_t)(cell->gates * cell->units), 0, 0, &y));
  BUILD(b, y = x_2(b, OP_Add, y, x));
  BUILD(b, y = clip(cell, y, INT16_MIN, INT16_MAX));
  TRY(split_gates(cell, y, (size_t)cell->gates, gates));
  for (int64_t g = 0; g < cell->gates; g++)
    if (g != B_OUT) TRY(open_byte_gate(cell, g, *c, gates[g], &gates[g]));
  if (cell->is_coupled) {
    BUILD(b, y = x_scalar(b, HONE_I32, INT16_MAX));
    BUILD(b, gates[B_IN] = x_2(b, OP_Sub, y, gates[B_FORGET]));
  }
  TRY(scaled_product(cell, gates[B_FORGET], *c, 15, &y));
  TRY(scaled_product(cell, gates[B_IN], gates[B_CANDIDATE], 30 - cell->cell_bits, c));
  BUILD(b, *c = x_2(b, OP_Add, y, *c));
  BUILD(b, *c = clip(cell, *c, INT16_MIN, INT16_MAX));
  if (cell->cell_clip > 0) BUILD(b, *c = clip(cell, *c, -cell->cell_clip, cell->cell_clip));
  TRY(open_byte_gate(cell, B_OUT, *c, gates[B_OUT], &gates[B_OUT]));
  BUILD(b, y = x_2(b, OP_Mul, gates[B_OUT], look_up(cell, cell->tanh_cell, *c)));
  TRY(to_bytes(cell, y, &cell->hidden_scale, cell->hidden_zero, h));
  return cell->projection ? project(cell, *h, h) : HONE_OK;
}

static hone_status word_table(struct tf_op *op, int digits, struct value **out) {
  const struct shape shape = {.rank = 1, .dims = {FIXED16_ENTRIES}};
  TRY(graph_new_constant(op->ctx, op->b->graph, HONE_I16, &shape, out));
  fixed16_table(digits, (void *)(uintptr_t)(*out)->constant->data);
  return HONE_OK;
}

/* Concatenated, transposed weights of the gates: [columns, gates * units] of i8; scales, one per
 * row. */
static hone_status byte_weights(struct cell *cell, size_t first, int64_t columns, double from,
                                struct value **out, double **out_scales) {
  struct tf_op *op = cell->op;
  struct value *parts[GATES];
  double *scales, scale;
  int64_t zero;
  TRY(NEW_ARRAY(op->ctx, op->tf->arena, scales, (size_t)(cell->gates * cell->units)));
  for (int64_t g = 0; g < cell->gates; g++) {
    struct tf_tensor *tensor = tf_in(op, first + byte_gates[g]);
    TRY(tf_one_scale(op, tensor, &scale, &zero));
    if (zero || tensor->dtype != HONE_I8)
      return tf_refuse(op, "with weights that have a zero point");
    TRY(tf_value(op, tensor, &parts[g]));
    TRY(as_matrix(op, parts[g], cell->units, columns, &parts[g]));
    for (int64_t i = 0; i < cell->units; i++)
      scales[g * cell->units + i] =
          (double)((float)scale * (float)from / (float)cell->gate_scales[g]);
  }
  BUILD(op->b, *out = x_concat(op->b, 0, parts, (size_t)cell->gates));
  *out_scales = scales;
  return turned(op, *out, cell->gates * cell->units, columns, out);
}

static hone_status byte_input_part(struct cell *cell, const struct lstm *at,
                                   const struct sequence *s) {
  struct tf_op *op = cell->op;
  struct value *w, *parts[GATES], *bias;
  double from, *scales;
  int64_t from_zero;
  TRY(tf_one_scale(op, tf_in(op, 0), &from, &from_zero));
  TRY(byte_weights(cell, at->w, s->input, from, &w, &scales));
  BUILD(op->b, cell->x = x_3(op->b, OP_MatMulInteger, s->x, w,
                             x_scalar(op->b, HONE_I8, (double)from_zero)));
  for (int64_t g = 0; g < cell->gates; g++) {
    struct tf_tensor *tensor = tf_in(op, at->bias + byte_gates[g]);
    if (!tensor) return fail(op->ctx, HONE_E_FORMAT, tf_place(op), "a gate has no bias");
    TRY(tf_value(op, tensor, &parts[g]));
    BUILD(op->b, parts[g] = x_reshape(op->b, parts[g], &cell->units, 1));
    if (!cell->at[g].norm) continue; /* otherwise it is added after the normalisation */
    BUILD(op->b, cell->at[g].bias = x_cast(op->b, parts[g], HONE_I64));
    BUILD(op->b, parts[g] = x_by(op->b, OP_Mul, parts[g], 0));
  }
  BUILD(op->b, bias = x_concat(op->b, 0, parts, (size_t)cell->gates));
  BUILD(op->b, cell->x = x_2(op->b, OP_Add, cell->x, bias));
  return rescaled(cell, cell->x, scales, (size_t)(cell->gates * cell->units), INT16_MIN, INT16_MAX,
                  &cell->x);
}

/* Scale and zero point of an intermediate tensor; NULL: not in the file. */
static const struct tf_tensor *between(const struct tf_op *op, size_t k) {
  const int32_t index = op->between.count > k ? flat_i32_at(&op->between, k) : -1;
  const struct tf_tensor *tensor = index < 0 ? NULL : &op->tf->graph.tensors[index];
  return tensor && tensor->quantisation.count == 1 && tensor->quantisation.scales[0] > 0 ? tensor
                                                                                         : NULL;
}

/* 16-bit numbers with a scale, one per unit. */
static hone_status read_words(const struct cell *cell, struct tf_tensor *tensor, hone_dtype as,
                              struct value **out, double *out_scale) {
  int64_t zero;
  TRY(tf_one_scale(cell->op, tensor, out_scale, &zero));
  if (zero || tensor->dtype != HONE_I16)
    return tf_refuse(cell->op,
                     "of int8 with peepholes or normalisation that are not 16-bit numbers");
  TRY(tf_value(cell->op, tensor, out));
  if (make_elements(*out) != cell->units)
    return fail(cell->op->ctx, HONE_E_SHAPE, tf_place(cell->op),
                "%s: the weights' shape does not match", cell->op->kind->name);
  *out = x_reshape(cell->op->b, *out, &cell->units, 1);
  return x_give(cell->op->b, out, x_cast(cell->op->b, *out, as));
}

/* Peepholes and layer normalisation of each gate. */
static hone_status read_byte_gates(struct cell *cell, const struct lstm *at) {
  struct tf_op *op = cell->op;
  for (int64_t g = 0; g < cell->gates; g++) {
    struct byte_gate *gate = &cell->at[g];
    struct tf_tensor *norm = norm_of(op, at, byte_gates[g]), *peephole = NULL;
    const struct tf_tensor *sums = between(op, byte_gates[g]);
    double scale;
    if (byte_peepholes[g] != NO_PEEPHOLE) peephole = tf_in(op, at->peephole + byte_peepholes[g]);
    if (norm && !sums) return tf_refuse(op, "of int8 without the scale of a gate");
    cell->gate_scales[g] = norm ? sums->quantisation.scales[0] : gate_scale;
    if (norm) TRY(read_words(cell, norm, HONE_I64, &gate->norm, &gate->norm_scale));
    if (!peephole) continue;
    if (tf_in(op, at->projection)) /* LiteRT's kernel pairs them with cells of other units */
      return tf_refuse(op, "of int8 with peepholes and a projection");
    TRY(read_words(cell, peephole, HONE_I32, &gate->peephole, &scale));
    gate->peephole_scale =
        (double)(float)(ldexp(1, -(int)cell->cell_bits) * scale / cell->gate_scales[g]);
  }
  return HONE_OK;
}

/* Intermediate 4 has the scale of the hidden state before the projection. */
static hone_status read_hidden(struct cell *cell, const struct lstm *at, double h_scale) {
  struct tf_op *op = cell->op;
  const struct tf_tensor *hidden = between(op, 4);
  double projection;
  int64_t zero;
  if (!hidden) return tf_refuse(op, "of int8 without the scale of its hidden state");
  const double scale = hidden->quantisation.scales[0];
  cell->hidden_zero = hidden->quantisation.zero_points[0];
  cell->hidden_scale = (double)(float)(ldexp(1, -15) / scale * ldexp(1, -15));
  if (cell->hidden_zero < -128 || cell->hidden_zero > 127)
    return tf_refuse(op, "with a hidden state of zero point %lld", (long long)cell->hidden_zero);
  if (!tf_in(op, at->projection)) return HONE_OK;
  TRY(tf_one_scale(op, tf_in(op, at->projection), &projection, &zero));
  if (zero) return tf_refuse(op, "with weights that have a zero point");
  cell->projection_scale = (double)((float)projection * (float)scale / (float)h_scale);
  return HONE_OK;
}

/* Steps of 2^-9 to 2^-15. */
static hone_status read_cell_scale(struct cell *cell, const struct tf_tensor *c) {
  double scale;
  int64_t zero;
  int exponent;
  TRY(tf_one_scale(cell->op, c, &scale, &zero));
  const double half = frexp(scale, &exponent);
  cell->cell_bits = 1 - exponent;
  if (c->dtype != HONE_I16 || zero || half != 0.5 || cell->cell_bits < 9 || cell->cell_bits > 15)
    return tf_refuse(cell->op, "of int8 with a cell of scale %g", scale);
  if (cell->cell_clip > 0) cell->cell_clip = floor(fmin(cell->cell_clip / scale, INT16_MAX));
  return HONE_OK;
}

static hone_status plan_bytes(struct cell *cell, const struct lstm *at, const struct sizes *sizes) {
  struct tf_op *op = cell->op;
  double h_scale;
  TRY(read_clips(op, &cell->cell_clip, &cell->projection_clip));
  TRY(tf_one_scale(op, tf_in(op, at->h), &h_scale, &cell->h_zero));
  TRY(read_cell_scale(cell, tf_in(op, at->c)));
  TRY(read_hidden(cell, at, h_scale));
  TRY(read_byte_gates(cell, at));
  if (cell->projection_clip > 0)
    cell->projection_clip = floor(fmin(cell->projection_clip / h_scale, INT8_MAX));
  TRY(byte_weights(cell, at->r, sizes->outputs, h_scale, &cell->r, &cell->r_scales));
  TRY(word_table(op, -1, &cell->logistic));
  TRY(word_table(op, 3, &cell->tanh_gate));
  TRY(word_table(op, (int)(15 - cell->cell_bits), &cell->tanh_cell));
  if (!tf_in(op, at->projection)) return HONE_OK;
  TRY(tf_value(op, tf_in(op, at->projection), &cell->projection));
  TRY(turned(op, cell->projection, sizes->outputs, sizes->units, &cell->projection));
  return tf_in(op, at->projection + 1)
             ? tf_value(op, tf_in(op, at->projection + 1), &cell->projection_bias)
             : HONE_OK;
}

static hone_status check_bytes(struct tf_op *op) {
  int64_t activation;
  TRY(tf_option(op, 0, FLAT_I8, 0, &activation));
  if (activation != 4) return tf_refuse(op, "of int8 with activation %lld", (long long)activation);
  if (tf_in(op, 0)->dtype == HONE_I8) return HONE_OK;
  return tf_refuse(op, "of %s", dtype_name(tf_in(op, 0)->dtype));
}

hone_status tf_integer_lstm(struct tf_op *op, const struct lstm *at) {
  struct cell cell = {.op = op};
  struct sequence s;
  struct sizes sizes;
  struct value *h, *c, *y;
  TRY(check_bytes(op));
  TRY(tf_read_sequence(op, 3, 0, &s));
  TRY(read_sizes(op, at, &s, &sizes));
  cell.units = sizes.units;
  cell.is_coupled = !tf_in(op, at->w);
  cell.gates = cell.is_coupled ? GATES - 1 : GATES;
  TRY(plan_bytes(&cell, at, &sizes));
  TRY(byte_input_part(&cell, at, &s));
  TRY(tf_state(op, tf_in(op, at->h), &sizes.h, &h));
  TRY(tf_state(op, tf_in(op, at->c), &sizes.c, &c));
  BUILD(op->b, c = x_cast(op->b, c, HONE_I32));
  TRY(run_cell(&cell, step_in_bytes, &h, &c, &y));
  BUILD(op->b, c = x_cast(op->b, c, HONE_I16));
  TRY(tf_keep(op, tf_in(op, at->h), h));
  TRY(tf_keep(op, tf_in(op, at->c), c));
  return tf_write_sequence(op, &s, y);
}
