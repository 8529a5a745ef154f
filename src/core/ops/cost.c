/* cost: the minimal work of a node, for reports and predictions. A multiply-add counts 2, an
 * elementwise step 1 per output element; bytes are read and written once. */
#include "ops_internal.h"

static double count_of(const struct value *value) {
  double count = 1;
  if (!value || !value->has_shape) return 0;
  for (int i = 0; i < value->shape.rank; i++) count *= (double)value->shape.dims[i];
  return count;
}

static double bytes_of(const struct value *value) {
  return value ? count_of(value) * dtype_bits(value->dtype) / 8 : 0;
}

/* Weights that a node makes floats of count in the type and with the scales in which they are stored: no engine need
   write the floats. */
static double read_bytes(const struct value *value) {
  const struct node *from = value ? value->producer : NULL;
  if (from && is_op(from, OP_Transpose)) from = from->inputs[0]->producer;
  if (!from || !is_op(from, OP_DequantizeLinear) || !from->inputs[0]->constant)
    return bytes_of(value);
  double bytes = 0;
  for (size_t k = 0; k < from->input_count; k++) {
    const struct value *part = from->inputs[k];
    const bool is_half = part && part->constant && tensor_holds_halves(part->constant);
    bytes += is_half ? bytes_of(part) / 2 : bytes_of(part);
  }
  return bytes;
}

static double dim_of(const struct value *value, int axis) {
  int rank = value ? value->shape.rank : 0;
  if (axis < 0) axis += rank;
  return axis >= 0 && axis < rank ? (double)value->shape.dims[axis] : 1;
}

/* Weights per output element: all of w except its first dim, the output channels. */
static double conv_flops(const struct node *node) {
  const struct value *w = node->inputs[1];
  return 2 * count_of(node->outputs[0]) * count_of(w) / dim_of(w, 0);
}

/* Each input element is multiplied by all of w's filters of its group. */
static double conv_transpose_flops(const struct node *node) {
  const struct value *w = node->inputs[1];
  return 2 * count_of(node->inputs[0]) * count_of(w) / dim_of(w, 0);
}

static double qlinear_conv_flops(const struct node *node) {
  const struct value *w = node->inputs[3];
  return 2 * count_of(node->outputs[0]) * count_of(w) / dim_of(w, 0);
}

static double matmul_flops(const struct node *node) {
  return 2 * count_of(node->outputs[0]) * dim_of(node->inputs[0], -1);
}

static double gemm_flops(const struct node *node) {
  return 2 * count_of(node->outputs[0]) *
         dim_of(node->inputs[0], node_int(node, "transA", 0) ? 0 : 1);
}

/* Every step multiplies a row by both weight matrices. */
static double recurrent_flops(const struct node *node) {
  const struct value *x = node->inputs[0];
  return 2 * dim_of(x, 0) * dim_of(x, 1) * (count_of(node->inputs[1]) + count_of(node->inputs[2]));
}

static const struct {
  const char *op;
  double (*flops)(const struct node *node);
} contractions[] = {
    {"Conv", conv_flops},
    {"ConvInteger", conv_flops},
    {"ConvTranspose", conv_transpose_flops},
    {"GRU", recurrent_flops},
    {"Gemm", gemm_flops},
    {"GroupedMatMul", matmul_flops},
    {"LSTM", recurrent_flops},
    {"MatMul", matmul_flops},
    {"MatMulInteger", matmul_flops},
    {"MatMulWeights", matmul_flops},
    {"QLinearConv", qlinear_conv_flops},
    {"QLinearMatMul", matmul_flops},
    {"RNN", recurrent_flops},
};

static double own_flops(const struct node *node) {
  for (size_t i = 0; i < COUNT(contractions); i++)
    if (strcmp(node->op->name, contractions[i].op) == 0) return contractions[i].flops(node);
  double in = node->input_count > 0 ? count_of(node->inputs[0]) : 0;
  double out = count_of(node->outputs[0]);
  switch (node->op->class) {
    case OP_ELEMENTWISE:
      return out;
    case OP_REDUCTION:
      return in > out ? in : out;
    default:
      return 0;
  }
}

/* True if all entries are 1, or the attribute is absent. */
static bool is_all_one(const struct node *node, const char *name, size_t rank) {
  struct ctx ctx;
  int64_t values[HONE_MAX_RANK];
  ctx_init(&ctx);
  if (ints_attribute(&ctx, node, name, rank, 1, values, NULL)) return false;
  for (size_t i = 0; i < rank; i++)
    if (values[i] != 1) return false;
  return true;
}

double node_winograd_flops(const struct node *node) {
  double flops, bytes;
  node_cost(node, &flops, &bytes);
  if (strcmp(node->op->name, "Conv") || node->input_count < 2 || !node->inputs[1]) return flops;
  const struct shape *w = &node->inputs[1]->shape;
  const bool fits = w->rank == 4 && w->dims[2] == 3 && w->dims[3] == 3 &&
                    node_int(node, "group", 1) == 1 && is_all_one(node, "strides", 2) &&
                    is_all_one(node, "dilations", 2);
  return fits ? flops - own_flops(node) * 3 / 4 : flops;
}

void node_cost(const struct node *node, double *out_flops, double *out_bytes) {
  double flops = 0, bytes = 0;
  if (node->output_count > 0 && node->outputs[0]) flops = own_flops(node);
  for (size_t k = 0; k < node->input_count; k++) bytes += read_bytes(node->inputs[k]);
  for (size_t k = 0; k < node->output_count; k++) bytes += bytes_of(node->outputs[k]);
  *out_flops = flops;
  *out_bytes = bytes;
}
