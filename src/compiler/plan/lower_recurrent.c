/* LSTM, GRU and RNN in two steps: one matmul of the inputs of all time steps with their weights,
 * and the recurrence, whose own matmul runs row by row. Needs constant weights and sequences of
 * full length.
 */
#include "builder.h"

/* in the kernel source: initial h, initial c, peepholes, candidate bias, last c */
enum { OWN_OPERANDS = 5 };

struct recurrence {
  const struct node *node;
  bool batch_first;
  int64_t steps, batches, directions, hidden, gates;
  struct problem problem;
};

static bool is_f32_constant(const struct value *value) {
  return value && value->constant && value->dtype == HONE_F32;
}

static bool is_served(const struct node *node) {
  const struct value *bias = node_input(node, 3);
  for (size_t i = 0; i < node->input_count; i++)
    if (node->inputs[i] && i != 4 && node->inputs[i]->dtype != HONE_F32) return false;
  return is_f32_constant(node->inputs[1]) && is_f32_constant(node->inputs[2]) &&
         (!bias || is_f32_constant(bias)) && !node_input(node, 4) && default_activations(node);
}

static uint32_t clip_bits(const struct node *node) {
  float clip = (float)node_float(node, "clip", 0);
  uint32_t bits;
  memcpy(&bits, &clip, sizeof bits);
  return clip > 0 ? bits : 0;
}

static int64_t cell_of(const struct node *node) {
  if (is_op(node, OP_LSTM)) return 0;
  if (is_op(node, OP_RNN)) return 3;
  return node_int(node, "linear_before_reset", 0) ? 2 : 1;
}

static void describe(const struct node *node, struct recurrence *r) {
  const struct shape *x = &node->inputs[0]->shape, *w = &node->inputs[1]->shape;
  *r = (struct recurrence){.node = node, .batch_first = node_int(node, "layout", 0) != 0};
  r->steps = x->dims[r->batch_first];
  r->batches = x->dims[!r->batch_first];
  r->directions = w->dims[0];
  r->hidden = node->inputs[2]->shape.dims[2];
  r->gates = is_op(node, OP_LSTM) ? 4 : is_op(node, OP_GRU) ? 3 : 1;
  int64_t row = r->directions * r->gates * r->hidden, out = r->directions * r->hidden;
  r->problem = (struct problem){
      .kind = PROBLEM_recurrent,
      .types = SAME_TYPES(TYPE_F32),
      .steps = r->steps,
      .batch1 = r->batches,
      .directions = r->directions,
      .state = r->hidden,
      .cell = cell_of(node),
      .backward = !strcmp(node_string(node, "direction", "forward"), "reverse"),
      .input_forget = node_int(node, "input_forget", 0) != 0,
      .clip_bits = clip_bits(node),
      .i_step = r->batch_first ? row : row * r->batches,
      .i_batch = r->batch_first ? row * r->steps : row,
      .o_step = r->batch_first ? out : out * r->batches,
      .o_batch = r->batch_first ? out * r->steps : r->hidden,
      .o_direction = r->batch_first ? r->hidden : r->hidden * r->batches,
      .s_batch = r->batch_first ? out : r->hidden,
      .s_direction = r->batch_first ? r->hidden : r->hidden * r->batches,
      .has_first_h = node_input(node, 5) != NULL,
      .has_first_c = node_input(node, 6) != NULL,
      .has_peepholes = node_input(node, 7) != NULL,
      .has_last_c = node->output_count > 2 && node->outputs[2],
  };
}

/* -- the input's matmul */

static hone_status new_value(struct builder *b, const char *name, const struct shape *shape,
                             const struct tensor *constant, struct value **out) {
  TRY(NEW(b->ctx, b->arena, *out));
  **out = (struct value){.name = name,
                         .dtype = HONE_F32,
                         .has_shape = true,
                         .shape = *shape,
                         .constant = constant,
                         .index = b->value_count++};
  return HONE_OK;
}

/* [direction][gate, hidden][input] to [input][direction, gate, hidden]. */
static hone_status transpose_weights(struct builder *b, const struct recurrence *r,
                                     struct tensor **out) {
  const struct tensor *w = r->node->inputs[1]->constant;
  int64_t columns = r->directions * r->gates * r->hidden, rows = w->shape.dims[2];
  struct shape shape = {2, {rows, columns}};
  TRY(tensor_create(b->ctx, b->arena, HONE_F32, &shape, out));
  const float *from = w->data;
  float *to = (float *)(uintptr_t)(*out)->data;
  for (int64_t n = 0; n < columns; n++)
    for (int64_t k = 0; k < rows; k++) to[k * columns + n] = from[n * rows + k];
  return HONE_OK;
}

/* The sum of both biases, except the candidate's bias that the reset gate multiplies: that one
   goes to out_candidate, [direction][hidden]. */
static hone_status split_bias(struct builder *b, const struct recurrence *r, struct tensor **out,
                              struct tensor **out_candidate) {
  int64_t all = r->gates * r->hidden, hidden = r->hidden;
  struct shape shape = {1, {r->directions * all}}, small = {1, {r->directions * hidden}};
  const struct value *bias_value = node_input(r->node, 3);
  const float *from = bias_value ? bias_value->constant->data : NULL;
  TRY(tensor_create(b->ctx, b->arena, HONE_F32, &shape, out));
  TRY(tensor_create(b->ctx, b->arena, HONE_F32, &small, out_candidate));
  float *sum = (float *)(uintptr_t)(*out)->data;
  float *candidate = (float *)(uintptr_t)(*out_candidate)->data;
  for (int64_t d = 0; from && d < r->directions; d++)
    for (int64_t g = 0; g < all; g++) {
      const float *bias = from + d * 2 * all;
      bool apart = r->problem.cell == 2 && g >= 2 * hidden;
      sum[d * all + g] = bias[g] + (apart ? 0 : bias[all + g]);
      if (apart) candidate[d * hidden + g - 2 * hidden] = bias[all + g];
    }
  return HONE_OK;
}

/* x W + bias for every time step, as a matmul of its own. */
static hone_status add_input_matmul(struct builder *b, const struct recurrence *r,
                                    const struct tensor *bias, struct view *out) {
  struct tensor *turned;
  struct value *inputs[2] = {r->node->inputs[0]}, *outputs[1], *bias_value;
  struct operation add = {.op = &op_table[OP_Add],
                          .arg_count = 2,
                          .args = {PROGRAM_RAW, PROGRAM_INPUT(0)},
                          .dtype = HONE_F32};
  struct shape shape = inputs[0]->shape;
  bool done = false;
  TRY(transpose_weights(b, r, &turned));
  shape.dims[2] = turned->shape.dims[1];
  TRY(new_value(b, r->node->outputs[0] ? r->node->outputs[0]->name : "", &shape, NULL,
                &outputs[0]));
  TRY(new_value(b, "", &turned->shape, turned, &inputs[1]));
  TRY(new_value(b, "", &bias->shape, bias, &bias_value));
  struct node matmul = {.op = &op_table[OP_MatMul],
                        .name = r->node->name,
                        .index = r->node->index,
                        .written_as = r->node->written_as,
                        .input_count = 2,
                        .output_count = 1,
                        .inputs = inputs,
                        .outputs = outputs};
  const struct value *operand = bias_value;
  const struct fusion_group group = {.node = &matmul,
                                     .result = outputs[0],
                                     .operand_count = 1,
                                     .operands = &operand,
                                     .count = 1,
                                     .program = &add};
  TRY(lower_matmul(b, &group, &done));
  if (!done)
    return fail(b->ctx, HONE_E_INTERNAL, node_place(r->node),
                "no kernel for the matmul of the input");
  return get_view(b, outputs[0], out);
}

/* -- the recurrence */

static hone_status place_outputs(struct builder *b, const struct recurrence *r, struct view *y,
                                 struct view *last_c) {
  const struct node *node = r->node;
  struct value *const *out = node->outputs;
  int64_t d = r->directions, t = r->steps, n = r->batches, h = r->hidden;
  struct shape shape =
      r->batch_first ? (struct shape){4, {n, t, d, h}} : (struct shape){4, {t, d, n, h}};
  struct view like;
  view_dense(&like, NULL, HONE_F32, &shape);
  if (out[0])
    TRY(make_output(b, out[0], &like, y));
  else
    TRY(arena_view(b, &like, y));
  if (node->output_count > 1 && out[1]) { /* the last state is a part of y */
    const struct problem *p = &r->problem;
    struct view last = {.buffer = y->buffer, .dtype = HONE_F32, .shape = out[1]->shape};
    last.offset = y->offset + (p->backward ? 0 : (t - 1) * p->o_step);
    last.stride[r->batch_first] = p->o_direction - (d > 1 ? (t - 1) * p->o_step : 0);
    last.stride[!r->batch_first] = p->o_batch;
    last.stride[2] = 1;
    set_view(b, out[1], &last);
  }
  if (!r->problem.has_last_c) return HONE_OK;
  view_dense(&like, NULL, HONE_F32, &out[2]->shape);
  return make_output(b, out[2], &like, last_c);
}

static hone_status place_operands(struct builder *b, const struct recurrence *r,
                                  const struct tensor *candidate, struct epilogue *e) {
  static const size_t inputs[] = {5, 6, 7}; /* in the order of the kernel source */
  struct value *bias;
  *e = (struct epilogue){.count = OWN_OPERANDS, .program = {.result = PROGRAM_RAW}};
  TRY(NEW_ARRAY(b->ctx, b->arena, e->operands, OWN_OPERANDS));
  TRY(NEW_ARRAY(b->ctx, b->arena, e->kinds, OWN_OPERANDS));
  for (size_t i = 0; i < COUNT(inputs); i++)
    if (node_input(r->node, inputs[i]))
      TRY(ensure_dense(b, r->node->inputs[inputs[i]], &e->operands[i]));
  TRY(new_value(b, "", &candidate->shape, candidate, &bias));
  if (r->problem.cell == 2) TRY(get_view(b, bias, &e->operands[3]));
  return HONE_OK;
}

hone_status lower_recurrent(struct builder *b, const struct node *node, bool *out_done) {
  struct recurrence r;
  struct choice choice;
  if (!is_served(node)) return HONE_OK;
  describe(node, &r);
  if (!choose_kernel(b, &r.problem, &choice)) return HONE_OK;
  struct tensor *bias, *candidate;
  struct view x, y, last_c = {0}, packed, weights;
  struct buffer raw;
  struct epilogue epilogue;
  struct step *step;
  TRY(split_bias(b, &r, &bias, &candidate));
  TRY(add_input_matmul(b, &r, bias, &x));
  constant_operand(node->inputs[2], &raw, &weights);
  TRY(packed_weights(b, &choice, &r.problem, &weights, &packed));
  TRY(place_operands(b, &r, candidate, &epilogue));
  TRY(place_outputs(b, &r, &y, &last_c));
  if (r.problem.has_last_c) epilogue.operands[4] = last_c;
  double flops = 2.0 * (double)(r.steps * r.batches * r.directions * r.gates) * (double)r.hidden *
                 (double)r.hidden;
  TRY(add_kernel(b, node, &choice, &r.problem, (struct view[]){x, packed, y}, &epilogue, flops,
                 &step));
  *out_done = true;
  if (!r.problem.has_last_c) return HONE_OK;
  TRY(NEW_ARRAY(b->ctx, b->arena, step->outputs, 2));
  step->outputs[0] = y;
  step->outputs[1] = last_c;
  step->output_count = 2;
  return HONE_OK;
}
