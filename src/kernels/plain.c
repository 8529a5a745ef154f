/* plain: the table of plain kernels, sorted by operator. Several operators may share a text that a
 * define turns into one of them. */
#include <string.h>

#include "kernels.h"

const struct plain_kernel plain_table[] = {
    {"ArgMax", "plain/ArgMinMax.c", 0, "ARG_MAX 1"},
    {"ArgMin", "plain/ArgMinMax.c", 0, "ARG_MAX 0"},
    {"AveragePool", "plain/Pool.c", 0, "POOL_MODE 0"},
    {"BatchNormalization", "plain/BatchNormalization.c", 0, NULL},
    {"BitShift", "plain/Pairs.c", 0, "PAIR_OP 1"},
    {"Clip", "plain/Clip.c", 0, NULL},
    {"ConstantOfShape", "plain/ConstantOfShape.c", 0, NULL},
    {"Conv", "plain/Conv.c", 0, NULL},
    {"ConvInteger", "plain/ConvInteger.c", 0, "QLINEAR 0"},
    {"ConvTranspose", "plain/ConvTranspose.c", 0, NULL},
    {"CumProd", "plain/CumSum.c", 0, "CUMULATIVE_PRODUCT 1"},
    {"CumSum", "plain/CumSum.c", 0, "CUMULATIVE_PRODUCT 0"},
    {"DequantizeLinear", "plain/DequantizeLinear.c", 0, NULL},
    {"DynamicQuantizeLinear", "plain/DynamicQuantizeLinear.c", 0, NULL},
    {"EyeLike", "plain/EyeLike.c", 0, NULL},
    {"GRU", "plain/GRU.c", 1, NULL},
    {"Gather", "plain/Gather.c", 0, NULL},
    {"GatherElements", "plain/GatherElements.c", 0, NULL},
    {"GatherND", "plain/GatherND.c", 0, NULL},
    {"Gemm", "plain/Gemm.c", 0, NULL},
    {"GlobalAveragePool", "plain/GlobalPool.c", 0, "POOL_MODE 0"},
    {"GlobalLpPool", "plain/GlobalPool.c", 0, "POOL_MODE 2"},
    {"GlobalMaxPool", "plain/GlobalPool.c", 0, "POOL_MODE 1"},
    {"GroupNormalization", "plain/GroupNormalization.c", 0, NULL},
    {"Hardmax", "plain/Hardmax.c", 0, NULL},
    {"InstanceNormalization", "plain/InstanceNormalization.c", 0, NULL},
    {"LRN", "plain/LRN.c", 0, NULL},
    {"LSTM", "plain/LSTM.c", 1, NULL},
    {"LayerNormalization", "plain/LayerNormalization.c", 0, NULL},
    {"LogSoftmax", "plain/Softmax.c", 0, "SOFTMAX_LOG 1"},
    {"LpNormalization", "plain/LpNormalization.c", 0, NULL},
    {"LpPool", "plain/Pool.c", 0, "POOL_MODE 2"},
    {"MatMul", "plain/MatMul.c", 0, NULL},
    {"MatMulInteger", "plain/MatMulInteger.c", 0, "QLINEAR 0"},
    {"MaxPool", "plain/Pool.c", 0, "POOL_MODE 1"},
    {"MeanVarianceNormalization", "plain/MeanVarianceNormalization.c", 2, NULL},
    {"Mod", "plain/Pairs.c", 0, "PAIR_OP 2"},
    {"OneHot", "plain/OneHot.c", 0, NULL},
    {"Pad", "plain/Pad.c", 0, NULL},
    {"Pow", "plain/Pairs.c", 0, "PAIR_OP 0"},
    {"QLinearConv", "plain/ConvInteger.c", 0, "QLINEAR 1"},
    {"QLinearMatMul", "plain/MatMulInteger.c", 0, "QLINEAR 1"},
    {"QuantizeLinear", "plain/QuantizeLinear.c", 0, NULL},
    {"RMSNormalization", "plain/RMSNormalization.c", 0, NULL},
    {"RNN", "plain/RNN.c", 1, NULL},
    {"Range", "plain/Range.c", 0, NULL},
    {"ReduceL1", "plain/Reduce.c", 0, "REDUCE_OP 5"},
    {"ReduceL2", "plain/Reduce.c", 0, "REDUCE_OP 6"},
    {"ReduceLogSum", "plain/Reduce.c", 0, "REDUCE_OP 7"},
    {"ReduceLogSumExp", "plain/Reduce.c", 0, "REDUCE_OP 8"},
    {"ReduceMax", "plain/Reduce.c", 0, "REDUCE_OP 2"},
    {"ReduceMean", "plain/Reduce.c", 0, "REDUCE_OP 1"},
    {"ReduceMin", "plain/Reduce.c", 0, "REDUCE_OP 3"},
    {"ReduceProd", "plain/Reduce.c", 0, "REDUCE_OP 4"},
    {"ReduceSum", "plain/Reduce.c", 0, "REDUCE_OP 0"},
    {"ReduceSumSquare", "plain/Reduce.c", 0, "REDUCE_OP 9"},
    {"Resize", "plain/Resize.c", 0, NULL},
    {"ReverseSequence", "plain/ReverseSequence.c", 0, NULL},
    {"Scatter", "plain/ScatterElements.c", 0, NULL},
    {"ScatterElements", "plain/ScatterElements.c", 0, NULL},
    {"ScatterND", "plain/ScatterND.c", 0, NULL},
    {"Shape", "plain/Shape.c", 0, "SHAPE_SIZE 0"},
    {"Size", "plain/Shape.c", 0, "SHAPE_SIZE 1"},
    {"Softmax", "plain/Softmax.c", 0, "SOFTMAX_LOG 0"},
    {"TopK", "plain/TopK.c", 16, NULL},
    {"Trilu", "plain/Trilu.c", 0, NULL},
};
const size_t plain_count = sizeof plain_table / sizeof plain_table[0];

const struct plain_kernel *plain_find(const char *op) {
  size_t low = 0, high = plain_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    int order = strcmp(op, plain_table[middle].op);
    if (order == 0) return &plain_table[middle];
    if (order < 0)
      high = middle;
    else
      low = middle + 1;
  }
  return NULL;
}
