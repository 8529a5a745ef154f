/* plain: the table of plain kernels, sorted by operator. Several operators may share a text that a
 * define turns into one of them. */
#include <string.h>

#include "kernels.h"

const struct plain_kernel plain_table[] = {
    {"ArgMax", "plain/ArgMinMax.c", 0, "ARG_MAX 1"},
    {"ArgMin", "plain/ArgMinMax.c", 0, "ARG_MAX 0"},
    {"AveragePool", "plain/Pool.c", 0, "POOL_MAX 0"},
    {"BatchNormalization", "plain/BatchNormalization.c", 0, NULL},
    {"Conv", "plain/Conv.c", 0, NULL},
    {"ConvTranspose", "plain/ConvTranspose.c", 0, NULL},
    {"CumSum", "plain/CumSum.c", 0, NULL},
    {"EyeLike", "plain/EyeLike.c", 0, NULL},
    {"GRU", "plain/GRU.c", 1, NULL},
    {"Gather", "plain/Gather.c", 0, NULL},
    {"GatherElements", "plain/GatherElements.c", 0, NULL},
    {"GatherND", "plain/GatherND.c", 0, NULL},
    {"Gemm", "plain/Gemm.c", 0, NULL},
    {"GlobalAveragePool", "plain/GlobalPool.c", 0, "POOL_MAX 0"},
    {"GlobalMaxPool", "plain/GlobalPool.c", 0, "POOL_MAX 1"},
    {"InstanceNormalization", "plain/InstanceNormalization.c", 0, NULL},
    {"LRN", "plain/LRN.c", 0, NULL},
    {"LSTM", "plain/LSTM.c", 1, NULL},
    {"LayerNormalization", "plain/LayerNormalization.c", 0, NULL},
    {"LogSoftmax", "plain/Softmax.c", 0, "SOFTMAX_LOG 1"},
    {"LpNormalization", "plain/LpNormalization.c", 0, NULL},
    {"MatMul", "plain/MatMul.c", 0, NULL},
    {"MaxPool", "plain/Pool.c", 0, "POOL_MAX 1"},
    {"OneHot", "plain/OneHot.c", 0, NULL},
    {"Pad", "plain/Pad.c", 0, NULL},
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
