/* The table of generic kernels, sorted by operator. Several operators may share a source and differ
 * in one define. The functions before the table count the independent work items of a row.
 */
#include <stdbool.h>
#include <string.h>

#include "kernels.h"

static int64_t count_between(const struct generic_shape *shape, int first, int last) {
  int64_t count = 1;
  for (int k = first; k < last && k < shape->rank; k++) count *= shape->dims[k];
  return count;
}

static const struct generic_shape *first_output(const struct generic_problem *p) {
  size_t k = 0;
  while (k + 1 < p->out_count && p->out[k].rank < 0) k++;
  return &p->out[k];
}

static int64_t units_one(const struct generic_problem *p) {
  (void)p;
  return 1;
}

/* One element of the first output. */
static int64_t units_elements(const struct generic_problem *p) {
  const struct generic_shape *out = first_output(p);
  return count_between(out, 0, out->rank);
}

/* The last dimension of the first output at one index of the others. */
static int64_t units_rows(const struct generic_problem *p) {
  const struct generic_shape *out = first_output(p);
  return count_between(out, 0, out->rank - 1);
}

/* One index of the first dimension of the first output. */
static int64_t units_first(const struct generic_problem *p) {
  return count_between(first_output(p), 0, 1);
}

/* One channel of one image of the first output: [n, c, ...]. */
static int64_t units_planes(const struct generic_problem *p) {
  return count_between(first_output(p), 0, 2);
}

/* Lines along an axis of input 0, [outer, axis, inner]: GENERIC_LINES adjacent ones of inner at
   a time. */
static int64_t lines_along(const struct generic_problem *p, int64_t axis) {
  int rank = p->in[0].rank;
  if (axis < 0) axis += rank;
  int64_t inner = count_between(&p->in[0], (int)axis + 1, rank);
  return count_between(&p->in[0], 0, (int)axis) * ((inner + GENERIC_LINES - 1) / GENERIC_LINES);
}

static int64_t units_lines(const struct generic_problem *p) {
  return lines_along(p, p->attribute(p->node, "axis", -1));
}

static int64_t units_lines_first(const struct generic_problem *p) {
  return lines_along(p, p->attribute(p->node, "axis", 0));
}

/* One group of channels of one image. */
static int64_t units_groups(const struct generic_problem *p) {
  return p->in[0].dims[0] * p->attribute(p->node, "num_groups", 1);
}

/* The dimensions of input 0 from `axis` on, normalised together. */
static int64_t units_norms(const struct generic_problem *p) {
  int64_t axis = p->attribute(p->node, "axis", -1);
  return count_between(&p->in[0], 0, (int)(axis < 0 ? axis + p->in[0].rank : axis));
}

/* For sizes known only at run time: the source splits the lines that it finds into this many
   parts. */
static int64_t units_shares(const struct generic_problem *p) {
  (void)p;
  return 64;
}

/* One sequence of one direction: the recurrent weights are [directions, gates, hidden]. */
static int64_t units_sequences(const struct generic_problem *p) {
  return p->in[2].dims[0] * p->in[0].dims[p->attribute(p->node, "layout", 0) ? 0 : 1];
}

static size_t scratch_recurrent(const struct generic_problem *p) {
  return 6 * (size_t)p->in[2].dims[2] * sizeof(double);
}

/* Indices along the axis, for Unique with an axis. */
static size_t scratch_unique(const struct generic_problem *p) {
  const struct generic_shape *in = &p->in[0];
  int64_t none = INT64_MIN, axis = p->attribute(p->node, "axis", none);
  int64_t length =
      axis == none ? count_between(in, 0, in->rank) : in->dims[axis < 0 ? axis + in->rank : axis];
  return 5 * (size_t)length * sizeof(int64_t);
}

/* The indices of one class's boxes. */
static size_t scratch_boxes(const struct generic_problem *p) {
  return (size_t)p->in[0].dims[1] * sizeof(int64_t);
}

/* For each box its index, how far it was compared, its score and its rank among the selected. */
static size_t scratch_suppress(const struct generic_problem *p) {
  return (size_t)p->in[1].dims[0] * (2 * sizeof(int64_t) + sizeof(float) + sizeof(int32_t));
}

/* The weights of a row's and a column's pixels in each bin. */
static size_t scratch_regions(const struct generic_problem *p) {
  const int64_t *in = p->in[0].dims, *out = p->out[0].dims;
  return (size_t)(in[2] * out[2] + in[3] * out[3]) * sizeof(float);
}

/* The last two dimensions of input 0 are a matrix. */
static int64_t units_matrices(const struct generic_problem *p) {
  return count_between(&p->in[0], 0, p->in[0].rank - 2);
}

static size_t scratch_matrix(const struct generic_problem *p) {
  const struct generic_shape *in = &p->in[0];
  return (size_t)count_between(in, in->rank - 2, in->rank) * sizeof(double);
}

/* Two lists of indices along the axis. */
static size_t scratch_sort(const struct generic_problem *p) {
  int64_t axis = p->attribute(p->node, "axis", -1);
  const struct generic_shape *in = &p->in[0];
  return 2 * (size_t)in->dims[axis < 0 ? axis + in->rank : axis] * sizeof(int64_t);
}

/* The four neighbours of each column of a row, or five rows of words with their ends and the
   positions of runs. */
static size_t scratch_neighbours(const struct generic_problem *p) {
  return 4 * (size_t)p->out[0].dims[3] * sizeof(int64_t) + 1024;
}

/* One row of `inner` of Gather's output [outer, indices, inner]. */
static int64_t units_gathers(const struct generic_problem *p) {
  int64_t axis = p->attribute(p->node, "axis", 0);
  return count_between(&p->in[0], 0, (int)(axis < 0 ? axis + p->in[0].rank : axis)) *
         count_between(&p->in[1], 0, p->in[1].rank);
}

/* One address, the last dimension of the indices. */
static int64_t units_addresses(const struct generic_problem *p) {
  return count_between(&p->in[1], 0, p->in[1].rank - 1);
}

/* One row of a matmul; a vector on the right removes the columns, one on the left the rows. */
static int64_t units_products(const struct generic_problem *p) {
  const struct generic_shape *right = &p->in[p->in_count > 6 ? 3 : 1];
  const struct generic_shape *out = first_output(p);
  return count_between(out, 0, out->rank - (right->rank > 1));
}

/* GENERIC_LINES columns of one of input 1's matrices, [groups, k, columns]. */
static int64_t units_grouped(const struct generic_problem *p) {
  return p->in[1].dims[0] * ((p->in[1].dims[2] + GENERIC_LINES - 1) / GENERIC_LINES);
}

static size_t scratch_grouped(const struct generic_problem *p) {
  return (size_t)p->in[1].dims[1] * GENERIC_LINES * sizeof(float);
}

/* One time step of one batch. */
static int64_t units_steps(const struct generic_problem *p) {
  return count_between(&p->in[0], 0, 2);
}

/* One index of the outermost dimension that is not the axis. */
static int64_t units_slabs(const struct generic_problem *p) {
  int64_t axis = p->attribute(p->node, "axis", 0);
  bool is_first = axis == 0 || axis + p->in[0].rank == 0;
  return p->in[0].rank < 2 ? 1 : p->in[0].dims[is_first ? 1 : 0];
}

/* Reasons why an operator is serial. */
static const char depends_on_earlier[] =
    "the position of an output element depends on all earlier elements";

const struct generic_kernel generic_table[] = {
    {"ArgMax", "generic/ArgMinMax.c", "ARG_MAX 1", units_lines_first, NULL, NULL},
    {"ArgMin", "generic/ArgMinMax.c", "ARG_MAX 0", units_lines_first, NULL, NULL},
    {"AveragePool", "generic/Pool.c", "POOL_MODE 0", units_planes, NULL, NULL},
    {"BatchNormalization", "generic/BatchNormalization.c", NULL, units_planes, NULL, NULL},
    {"BitShift", "generic/Pairs.c", "PAIR_OP 1", units_rows, NULL, NULL},
    {"Clip", "generic/Clip.c", NULL, units_elements, NULL, NULL},
    {"Compact", "generic/Compact.c", NULL, units_rows, NULL, NULL},
    {"Compress", "generic/Compress.c", NULL, units_one, depends_on_earlier, NULL},
    {"ConstantOfShape", "generic/ConstantOfShape.c", NULL, units_elements, NULL, NULL},
    {"Conv", "generic/Conv.c", NULL, units_planes, NULL, NULL},
    {"ConvInteger", "generic/ConvInteger.c", "QLINEAR 0", units_planes, NULL, NULL},
    {"ConvTranspose", "generic/ConvTranspose.c", NULL, units_planes, NULL, NULL},
    {"CoupleProbabilities", "generic/CoupleProbabilities.c", NULL, units_first, NULL, NULL},
    {"CumProd", "generic/CumSum.c", "CUMULATIVE_PRODUCT 1", units_shares, NULL, NULL},
    {"CumSum", "generic/CumSum.c", "CUMULATIVE_PRODUCT 0", units_shares, NULL, NULL},
    {"DequantizeLinear", "generic/DequantizeLinear.c", NULL, units_elements, NULL, NULL},
    {"Eliminate", "generic/Eliminate.c", NULL, units_matrices, NULL, scratch_matrix},
    {"EyeLike", "generic/EyeLike.c", NULL, units_rows, NULL, NULL},
    {"FindTokens", "generic/FindTokens.c", NULL, units_one, "it computes the largest token count",
     NULL},
    {"GRU", "generic/GRU.c", NULL, units_sequences, NULL, scratch_recurrent},
    {"Gather", "generic/Gather.c", NULL, units_gathers, NULL, NULL},
    {"GatherElements", "generic/GatherElements.c", NULL, units_rows, NULL, NULL},
    {"GatherND", "generic/GatherND.c", NULL, units_addresses, NULL, NULL},
    {"Gemm", "generic/Gemm.c", NULL, units_rows, NULL, NULL},
    {"GlobalAveragePool", "generic/GlobalPool.c", "POOL_MODE 0", units_planes, NULL, NULL},
    {"GlobalLpPool", "generic/GlobalPool.c", "POOL_MODE 2", units_planes, NULL, NULL},
    {"GlobalMaxPool", "generic/GlobalPool.c", "POOL_MODE 1", units_planes, NULL, NULL},
    {"GroupNormalization", "generic/GroupNormalization.c", NULL, units_groups, NULL, NULL},
    {"GroupedMatMul", "generic/GroupedMatMul.c", NULL, units_grouped, NULL, scratch_grouped},
    {"Hardmax", "generic/Hardmax.c", NULL, units_lines, NULL, NULL},
    {"HashBytes", "generic/HashBytes.c", NULL, units_elements, NULL, NULL},
    {"InstanceNormalization", "generic/InstanceNormalization.c", NULL, units_planes, NULL, NULL},
    {"LRN", "generic/LRN.c", NULL, units_planes, NULL, NULL},
    {"LSTM", "generic/LSTM.c", NULL, units_sequences, NULL, scratch_recurrent},
    {"LayerNormalization", "generic/LayerNormalization.c", NULL, units_norms, NULL, NULL},
    {"LogSoftmax", "generic/Softmax.c", "SOFTMAX_LOG 1", units_lines, NULL, NULL},
    {"Lookup", "generic/Lookup.c", NULL, units_elements, NULL, NULL},
    {"LoopBegin", "generic/Loop.c", "LOOP_PART 0", units_one, "it writes only a few numbers", NULL},
    {"LoopCollect", "generic/Loop.c", "LOOP_PART 1", units_one, "one memcpy", NULL},
    {"LoopCount", "generic/Loop.c", "LOOP_PART 2", units_one, "it writes only a few numbers", NULL},
    {"LoopNext", "generic/Loop.c", "LOOP_PART 3", units_one, "it writes only a few numbers", NULL},
    {"LpNormalization", "generic/LpNormalization.c", NULL, units_lines, NULL, NULL},
    {"LpPool", "generic/Pool.c", "POOL_MODE 2", units_planes, NULL, NULL},
    {"MatMul", "generic/MatMul.c", NULL, units_products, NULL, NULL},
    {"MatMulInteger", "generic/MatMulInteger.c", "QLINEAR 0", units_products, NULL, NULL},
    {"MatchStrings", "generic/MatchStrings.c", NULL, units_elements, NULL, NULL},
    {"MaxPool", "generic/Pool.c", "POOL_MODE 1", units_planes, NULL, NULL},
    {"MeanVarianceNormalization", "generic/MeanVarianceNormalization.c", NULL, units_shares, NULL,
     NULL},
    {"Mod", "generic/Pairs.c", "PAIR_OP 2", units_rows, NULL, NULL},
    {"NonMaxSuppression", "generic/NonMaxSuppression.c", NULL, units_one, depends_on_earlier,
     scratch_boxes},
    {"NonZero", "generic/NonZero.c", NULL, units_one, depends_on_earlier, NULL},
    {"NormalizeBytes", "generic/NormalizeBytes.c", NULL, units_lines, NULL, NULL},
    {"NormalizeStrings", "generic/NormalizeStrings.c", NULL, units_one, depends_on_earlier, NULL},
    {"NormalizeWords", "generic/NormalizeWords.c", NULL, units_lines, NULL, NULL},
    {"OneHot", "generic/OneHot.c", NULL, units_elements, NULL, NULL},
    {"Pad", "generic/Pad.c", NULL, units_rows, NULL, NULL},
    {"PadToBound", "generic/PadToBound.c", NULL, units_rows, NULL, NULL},
    {"PoolRegions", "generic/PoolRegions.c", NULL, units_first, NULL, scratch_regions},
    {"Pow", "generic/Pairs.c", "PAIR_OP 0", units_rows, NULL, NULL},
    {"QLinearConv", "generic/ConvInteger.c", "QLINEAR 1", units_planes, NULL, NULL},
    {"QLinearMatMul", "generic/MatMulInteger.c", "QLINEAR 1", units_products, NULL, NULL},
    {"QuantizeHalfAway", "generic/QuantizeLinear.c", "QUANTIZE_HALF_AWAY 1", units_elements, NULL,
     NULL},
    {"QuantizeLinear", "generic/QuantizeLinear.c", "QUANTIZE_HALF_AWAY 0", units_elements, NULL,
     NULL},
    {"RMSNormalization", "generic/RMSNormalization.c", NULL, units_norms, NULL, NULL},
    {"RNN", "generic/RNN.c", NULL, units_sequences, NULL, scratch_recurrent},
    {"Range", "generic/Range.c", NULL, units_elements, NULL, NULL},
    {"ReduceL1", "generic/Reduce.c", "REDUCE_OP 5", units_elements, NULL, NULL},
    {"ReduceL2", "generic/Reduce.c", "REDUCE_OP 6", units_elements, NULL, NULL},
    {"ReduceLogSum", "generic/Reduce.c", "REDUCE_OP 7", units_elements, NULL, NULL},
    {"ReduceLogSumExp", "generic/Reduce.c", "REDUCE_OP 8", units_elements, NULL, NULL},
    {"ReduceMax", "generic/Reduce.c", "REDUCE_OP 2", units_elements, NULL, NULL},
    {"ReduceMean", "generic/Reduce.c", "REDUCE_OP 1", units_elements, NULL, NULL},
    {"ReduceMin", "generic/Reduce.c", "REDUCE_OP 3", units_elements, NULL, NULL},
    {"ReduceProd", "generic/Reduce.c", "REDUCE_OP 4", units_elements, NULL, NULL},
    {"ReduceSum", "generic/Reduce.c", "REDUCE_OP 0", units_elements, NULL, NULL},
    {"ReduceSumSquare", "generic/Reduce.c", "REDUCE_OP 9", units_elements, NULL, NULL},
    {"ReduceVariance", "generic/Reduce.c", "REDUCE_OP 10", units_elements, NULL, NULL},
    {"Requantize", "generic/Requantize.c", NULL, units_elements, NULL, NULL},
    {"Resize", "generic/Resize.c", NULL, units_rows, NULL, NULL},
    {"ResizeInt", "generic/ResizeInt.c", NULL, units_rows, NULL, scratch_neighbours},
    {"ReverseSequence", "generic/ReverseSequence.c", NULL, units_steps, NULL, NULL},
    {"Scatter", "generic/ScatterElements.c", NULL, units_slabs, NULL, NULL},
    {"ScatterElements", "generic/ScatterElements.c", NULL, units_slabs, NULL, NULL},
    {"ScatterND", "generic/ScatterND.c", NULL, units_elements, NULL, NULL},
    {"Shape", "generic/Shape.c", "SHAPE_SIZE 0", units_one, "it writes only a few numbers", NULL},
    {"Size", "generic/Shape.c", "SHAPE_SIZE 1", units_one, "it writes only a few numbers", NULL},
    {"Softmax", "generic/Softmax.c", "SOFTMAX_LOG 0", units_lines, NULL, NULL},
    {"SpMM", "generic/SpMM.c", NULL, units_first, NULL, NULL},
    {"StringConcat", "generic/StringPairs.c", "STRING_CONCAT 1", units_rows, NULL, NULL},
    {"StringEqual", "generic/StringPairs.c", "STRING_CONCAT 0", units_rows, NULL, NULL},
    {"StringSplit", "generic/StringSplit.c", NULL, units_one,
     "it computes the largest number of parts", NULL},
    {"Strings", "generic/Strings.c", NULL, units_elements, NULL, NULL},
    {"SuppressBoxes", "generic/SuppressBoxes.c", NULL, units_one, depends_on_earlier,
     scratch_suppress},
    {"TableSoftmax", "generic/TableSoftmax.c", NULL, units_lines, NULL, NULL},
    {"TopK", "generic/TopK.c", NULL, units_lines, NULL, scratch_sort},
    {"Trees", "generic/Trees.c", NULL, units_first, NULL, NULL},
    {"Trilu", "generic/Trilu.c", NULL, units_rows, NULL, NULL},
    {"Unique", "generic/Unique.c", NULL, units_one, "one sort", scratch_unique},
};
const size_t generic_count = sizeof generic_table / sizeof generic_table[0];

const struct generic_kernel *generic_find(const char *op) {
  size_t low = 0, high = generic_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    int order = strcmp(op, generic_table[middle].op);
    if (order == 0) return &generic_table[middle];
    if (order < 0)
      high = middle;
    else
      low = middle + 1;
  }
  return NULL;
}

const char *generic_window_define(const struct generic_window *window, size_t i,
                                  const int64_t **out_numbers) {
  const struct {
    const char *name;
    const int64_t *numbers;
  } rows[] = {{"WINDOW_IN", window->in},
              {"WINDOW_KERNEL", window->kernel},
              {"WINDOW_OUT", window->out},
              {"WINDOW_STRIDE", window->stride},
              {"WINDOW_DILATION", window->dilation},
              {"WINDOW_PAD_BEGIN", window->pad_begin},
              {"WINDOW_PAD_END", window->pad_end}};
  if (i >= sizeof rows / sizeof rows[0]) return NULL;
  *out_numbers = rows[i].numbers;
  return rows[i].name;
}
