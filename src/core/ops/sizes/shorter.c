/* shorter: which dimensions of a node's operands may be shorter at run time than their bound, so that
 * the results are shorter too and nothing else: no element of their leading part depends on one that
 * is missing. Read by the inference of data-dependent dimensions (extents.c) and by the plan for
 * those that the caller gives. Operators without a row need more than that (padding, a fill, another
 * operator) or are refused.
 */
#include "core/ops/ops_internal.h"

typedef bool shorter_fn(const struct node *node, size_t k, int d);

static bool any(const struct node *node, size_t k, int d) {
  (void)node, (void)k, (void)d;
  return true;
}

/* The batch of the data. */
static bool batch(const struct node *node, size_t k, int d) {
  (void)node;
  return k == 0 && d == 0;
}

/* All of the data but the channels. */
static bool places(const struct node *node, size_t k, int d) {
  (void)node;
  return k == 0 && d != 1;
}

static int axis_of(const struct node *node, int64_t otherwise) {
  const int64_t axis = node_int(node, "axis", otherwise);
  return (int)(axis < 0 ? axis + node->inputs[0]->shape.rank : axis);
}

/* Dimensions before the axis. */
static bool rows(const struct node *node, size_t k, int d) {
  return k == 0 && d < axis_of(node, -1);
}
static bool beside_last(const struct node *node, size_t k, int d) {
  return k == 0 && d != axis_of(node, -1);
}
static bool beside_first(const struct node *node, size_t k, int d) {
  return k == 0 && d != axis_of(node, 0);
}

/* A sum of those before it depends on none after it. */
static bool cumulative(const struct node *node, size_t k, int d) {
  const struct value *axis = node_input(node, 1);
  if (k == 0 && !node_int(node, "reverse", 0)) return true;
  if (k || !axis || !axis->constant || tensor_count(axis->constant) != 1) return false;
  const int64_t at = tensor_i64(axis->constant, 0);
  return d != (at < 0 ? at + node->inputs[0]->shape.rank : at);
}

/* Dimensions that a reduction keeps. */
static bool kept(const struct node *node, size_t k, int d) {
  const struct value *axes = node_input(node, 1);
  bool goes[HONE_MAX_RANK];
  struct ctx ctx;
  ctx_init(&ctx);
  return k == 0 && (!axes || axes->constant) &&
         !reduction_axes(&ctx, node, node->inputs[0]->shape.rank, axes ? axes->constant : NULL,
                         goes) &&
         !goes[d];
}

static bool rows_of_gemm(const struct node *node, size_t k, int d) {
  return k == 0 && d == (node_int(node, "transA", 0) != 0);
}

/* Dimensions that are not padded. */
static bool unpadded(const struct node *node, size_t k, int d) {
  int64_t before, after;
  return k == 0 && pad_amounts(node, d, &before, &after) && !before && !after;
}

static bool unrepeated(const struct node *node, size_t k, int d) {
  const struct value *repeats = node_input(node, 1);
  int64_t list[HONE_MAX_RANK];
  size_t count = 0;
  return k == 0 && repeats && repeats->constant &&
         tensor_read_ints(repeats->constant, COUNT(list), list, &count) && d < (int)count &&
         list[d] == 1;
}

/* The batch of the sequences and of initial states, not of lengths, which must be valid. */
static bool sequences(const struct node *node, size_t k, int d) {
  return (k == 0 || k == 5 || k == 6) && d == (node_int(node, "layout", 0) ? 0 : 1);
}

static const struct {
  enum op_id op;
  shorter_fn *may_be;
} table[] = {
    {OP_ArgMax, beside_first},
    {OP_ArgMin, beside_first},
    {OP_AveragePool, batch},
    {OP_BatchNormalization, places},
    {OP_BitCast, any},
    {OP_Conv, batch},
    {OP_ConvInteger, batch},
    {OP_ConvTranspose, batch},
    {OP_CoupleProbabilities, batch},
    {OP_CumProd, cumulative},
    {OP_CumSum, cumulative},
    {OP_DepthToSpace, places},
    {OP_Dropout, any},
    {OP_GRU, sequences},
    {OP_Gemm, rows_of_gemm},
    {OP_GlobalAveragePool, batch},
    {OP_GlobalLpPool, batch},
    {OP_GlobalMaxPool, batch},
    {OP_GroupNormalization, batch},
    {OP_Hardmax, beside_last},
    {OP_HashBytes, any},
    {OP_Identity, any},
    {OP_InstanceNormalization, batch},
    {OP_LRN, places},
    {OP_LSTM, sequences},
    {OP_LayerNormalization, rows},
    {OP_LogSoftmax, beside_last},
    {OP_Lookup, any},
    {OP_LpNormalization, beside_last},
    {OP_LpPool, batch},
    {OP_MatMulWeights, any}, /* its depth is a constant's */
    {OP_MatchStrings, any},
    {OP_MaxPool, batch},
    {OP_NormalizeBytes, rows},
    {OP_NormalizeWords, rows},
    {OP_OneHot, any},
    {OP_Pad, unpadded},
    {OP_QLinearConv, batch},
    {OP_RMSNormalization, rows},
    {OP_RNN, sequences},
    {OP_ReduceL1, kept},
    {OP_ReduceL2, kept},
    {OP_ReduceLogSum, kept},
    {OP_ReduceLogSumExp, kept},
    {OP_ReduceMax, kept},
    {OP_ReduceMean, kept},
    {OP_ReduceMin, kept},
    {OP_ReduceProd, kept},
    {OP_ReduceSum, kept},
    {OP_ReduceSumSquare, kept},
    {OP_ReduceVariance, kept},
    {OP_Requantize, batch},
    {OP_Resize, batch},
    {OP_Softmax, beside_last},
    {OP_SpaceToDepth, places},
    {OP_Split, beside_first},
    {OP_Squeeze, any},
    {OP_TableSoftmax, rows},
    {OP_Tile, unrepeated},
    {OP_TopK, beside_last},
    {OP_Transpose, any},
    {OP_Trees, batch},
    {OP_Trilu, any},
    {OP_Unsqueeze, any},
};

static shorter_fn *find(const struct node *node) {
  for (size_t i = 0; i < COUNT(table); i++)
    if (table[i].op == node->op->id) return table[i].may_be;
  return NULL;
}

bool has_shorter_rule(const struct node *node) { return find(node) != NULL; }

bool may_be_shorter(const struct node *node, size_t k, int d) {
  shorter_fn *may_be = find(node);
  return may_be && may_be(node, k, d);
}
