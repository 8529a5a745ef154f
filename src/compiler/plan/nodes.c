/* Properties of nodes and groups that several lowerings need. */
#include "builder.h"

size_t group_input_count(const struct fusion_group *g) {
  return g->node->input_count + g->operand_count;
}

const struct value *group_input(const struct fusion_group *g, size_t k) {
  const size_t own = g->node->input_count;
  return k < own ? g->node->inputs[k] : g->operands[k - own];
}

const struct value *group_output(const struct fusion_group *g, size_t k) {
  return k ? g->node->outputs[k] : g->result;
}

bool is_f32_node(const struct node *node) {
  return all_f32(
      &(struct fusion_group){.node = node, .result = node->output_count ? node->outputs[0] : NULL});
}

bool all_f32(const struct fusion_group *g) {
  for (size_t i = 0; i < group_input_count(g); i++)
    if (group_input(g, i) && group_input(g, i)->dtype != HONE_F32) return false;
  for (size_t i = 0; i < g->node->output_count; i++)
    if (group_output(g, i) && group_output(g, i)->dtype != HONE_F32) return false;
  for (size_t i = 0; i < g->count; i++)
    if (g->program[i].dtype != HONE_F32) return false;
  return true;
}

hone_dtype raw_dtype(const struct fusion_group *g) { return g->node->outputs[0]->dtype; }

double group_flops(const struct fusion_group *g) {
  double flops, bytes;
  int64_t elements = 0;
  node_cost(g->node, &flops, &bytes);
  if (g->count && !shape_count(&g->result->shape, &elements)) return flops;
  return flops + (double)g->count * (double)elements;
}

/* All elements equal, or no elements. */
static bool is_one_number(const struct value *value) {
  if (!value) return true;
  if (!value->constant) return false;
  for (size_t i = 1; i < tensor_count(value->constant); i++)
    if (tensor_i64(value->constant, i) != tensor_i64(value->constant, 0)) return false;
  return true;
}

static bool is_depthwise(const struct node *node) {
  const struct shape *x = &node->inputs[0]->shape, *w = &node->inputs[1]->shape;
  return is_op(node, OP_ConvInteger) && x->rank > 2 && w->rank == x->rank &&
         w->dims[0] == x->dims[1] && w->dims[1] == 1 && node_int(node, "group", 1) == x->dims[1];
}

static bool is_zero(const struct value *value) {
  if (!value) return true;
  if (!value->constant) return false;
  for (size_t i = 0; i < tensor_count(value->constant); i++)
    if (tensor_i64(value->constant, i)) return false;
  return true;
}

bool is_integer_contraction(const struct node *node) {
  bool conv = is_op(node, OP_ConvInteger);
  if (!conv && !is_op(node, OP_MatMulInteger)) return false;
  const struct value *x = node->inputs[0], *w = node->inputs[1], *zero = NULL, *w_zero = NULL;
  if (node->input_count > 2) zero = node->inputs[2];
  if (node->input_count > 3) w_zero = node->inputs[3];
  if (!dtype_is_byte(x->dtype) || !dtype_is_byte(w->dtype) || !w->constant) return false;
  bool is_centred = w->dtype == HONE_I8 && is_zero(w_zero);
  if (!is_centred && (!is_depthwise(node) || !is_one_number(w_zero))) return false;
  int64_t points = 1;
  if (zero && (!shape_count(&zero->shape, &points) || points != 1)) return false;
  if (!conv) return x->shape.rank >= 2 && w->shape.rank == 2;
  if (x->shape.rank != 3 && x->shape.rank != 4) return false;
  return !zero || zero->constant; /* padding has the value of the zero point */
}

/* -- can it be one program on vectors? */

static hone_dtype type_of(const struct fusion_group *g, int arg) {
  return arg == PROGRAM_RAW ? raw_dtype(g)
         : arg >= 0         ? g->program[arg].dtype
                            : g->operands[PROGRAM_INPUT_INDEX(arg)]->dtype;
}

static bool is_vector_step(const struct fusion_group *g, const struct operation *o) {
  hone_dtype from[COUNT(o->args)];
  int first = o->args[0];
  for (int k = 0; k < o->arg_count; k++) from[k] = type_of(g, o->args[k]);
  if (o->op->id != OP_Cast) return is_vector_operation(o->op, o->dtype, from, o->arg_count);
  bool is_clipped = first >= 0 && is_clip_to(o->dtype, g->program[first].op->id,
                                             g->program[first].alpha, g->program[first].beta);
  return is_vector_cast(from[0], o->dtype, is_clipped);
}

bool is_vector_program(const struct fusion_group *g) {
  const struct node *node = g->node;
  hone_dtype raw = raw_dtype(g), from[3];
  size_t own = node->input_count;
  for (size_t s = 0; s < g->count; s++)
    if (!is_vector_step(g, &g->program[s])) return false;
  if (node->op->class != OP_ELEMENTWISE) return is_vector_type(raw);
  if (is_op(node, OP_Cast))
    return raw == HONE_F32 || is_vector_cast(node->inputs[0]->dtype, raw, false);
  if (is_op(node, OP_ByteTable)) return true;
  for (size_t i = 0; i < own; i++)
    if (node->inputs[i] && node->inputs[i]->dtype != raw) return false;
  if (own > elementwise_operands(node)) own = elementwise_operands(node); /* Clip's bounds */
  if (own > COUNT(from)) own = COUNT(from); /* any number of operands, all of one type */
  for (size_t k = 0; k < own; k++) from[k] = raw;
  return is_vector_operation(node->op, raw, from, (int)own);
}

/* -- what a group may take */

static bool is_contraction(const struct node *node) {
  if (is_op(node, OP_MatMulWeights)) return true;
  const bool conv = is_op(node, OP_Conv) || is_op(node, OP_ConvTranspose);
  if (!conv && !is_op(node, OP_MatMul) && !is_op(node, OP_Gemm)) return false;
  const struct value *x = node->inputs[0];
  if (conv) return (x->shape.rank == 3 || x->shape.rank == 4) && node->inputs[1]->constant;
  return x->shape.rank > 1 && node->inputs[1]->shape.rank > 1;
}

/* One element, one per channel, one per row (all dimensions but the channels), or the full
   shape. */
static bool fits_epilogue(const struct node *node, const struct value *operand) {
  const struct shape *out = &node->outputs[0]->shape;
  bool conv = is_op(node, OP_Conv) || is_op(node, OP_ConvTranspose) || is_op(node, OP_ConvInteger);
  int column = conv ? 1 : out->rank - 1, shift = out->rank - operand->shape.rank;
  struct shape row = *out;
  row.dims[column] = 1;
  if (shape_equal(out, &operand->shape) || shape_equal(&row, &operand->shape)) return true;
  if (shift < 0) return false;
  for (int i = 0; i < operand->shape.rank; i++)
    if (i + shift != column && operand->shape.dims[i] != 1) return false;
  return true;
}

/* True if the program stays a vector program with this node: see is_vector_program. */
static bool is_vector_node(const struct node *node, const struct node *clip) {
  hone_dtype from[3], to = node->outputs[0]->dtype;
  size_t count = elementwise_operands(node);
  if (is_op(node, OP_Cast)) {
    double alpha, beta;
    bool is_clipped = clip && elementwise_parameters(clip, &alpha, &beta) &&
                      is_clip_to(to, clip->op->id, alpha, beta);
    return is_vector_cast(node->inputs[0]->dtype, to, is_clipped);
  }
  if (count > COUNT(from)) count = COUNT(from); /* any number of operands, all of one type */
  for (size_t k = 0; k < count; k++) from[k] = node->inputs[k]->dtype;
  return is_vector_operation(node->op, to, from, (int)count);
}

bool is_below_byte(const struct value *value) { return value && !dtype_bytes(value->dtype); }

bool may_take(const struct fusion_group *g, const struct node *node, const struct value *operand,
              const struct node *clip) {
  enum { MAX_STEPS = 36, MAX_INPUTS = LOOP_OPERANDS - 2 };
  const struct node *first = g->node;
  bool elementwise = first->op->class == OP_ELEMENTWISE, integer = is_integer_contraction(first);
  if (!elementwise && !integer && !is_contraction(first)) return false;
  if (g->count >= MAX_STEPS || group_input_count(g) >= MAX_INPUTS) return false;
  if (!is_vector_node(node, clip)) return false;
  /* a cast of elements below a byte reads one dense row of them and has no operands */
  if (operand && elementwise &&
      (is_below_byte(first->inputs[0]) || is_below_byte(first->outputs[0])))
    return false;
  bool weights = is_op(first, OP_MatMulWeights);
  for (size_t i = 0; !elementwise && !integer && !weights && i < first->input_count; i++)
    if (first->inputs[i] && first->inputs[i]->dtype != HONE_F32) return false;
  if (!is_vector_program(g)) return false;
  return elementwise || !operand || fits_epilogue(first, operand);
}
