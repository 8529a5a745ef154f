/* Contractions, windows, reductions, norms and recurrent operators: values by hand from the ONNX
 * text, and the hostile attributes that must be refused by name. */
#include "ops_case.h"

static const struct ops_case contraction_cases[] = {
    {"MatMul", "", "f32[2,3]~iota f32[3,2]~iota", "f32[2,2]=10,13,28,40"},
    {"MatMul", "", "f32[3]~1,2,3 f32[3]~4,5,6", "f32[]=32"},
    {"MatMul", "", "f32[2,1,2]~1,2,3,4 f32[2]~1,10", "f32[2,1]=21,43"},
    {"MatMul", "", "i64[1,2]~4611686018427387904,1 i64[2,1]~2,5", "i64[1,1]=-9223372036854775803"},
    {"MatMul", "", "f32[2,0] f32[0,2]", "f32[2,2]=0,0,0,0"},
    {"MatMul", "", "f32[2,3] f32[2,3]", "E_SHAPE"},
    {"MatMul", "", "f32[] f32[2]", "E_SHAPE"},
    {"MatMul", "", "f32[2,2] f64[2,2]", "E_TYPE"},
    {"Gemm", "transA=1 alpha=0.5 beta=2.0", "f32[2,1]~2,4 f32[2,2]~1,2,3,4 f32[2]~1,10",
     "f32[1,2]=9,30"},
    {"Gemm", "transB=1", "f32[1,2]~1,2 f32[3,2]~iota", "f32[1,3]=2,8,14"},
    {"Gemm", "", "f32[1,2] f32[2,3] f32[2,3]", "E_SHAPE"},
    {"Einsum", "equation=ij,jk->ik", "f32[2,2]~1,2,3,4 f32[2,2]~1,0,0,1", "f32[2,2]=1,2,3,4"},
    {"Einsum", "equation=ii", "f32[2,2]~1,2,3,4", "f32[]=5"},
    {"Einsum", "equation=...i->...", "f32[2,2]~1,2,3,4", "f32[2]=3,7"},
    {"Einsum", "equation=ij,jk->", "f32[2,2] f32[3,2]", "E_SHAPE"},
    {"Einsum", "equation=ij->iij", "f32[2,2]", "E_SHAPE"},
    {"Einsum", "equation=ij->k", "f32[2,2]", "E_SHAPE"},
    {"Einsum", "equation=ij,jk->ik", "f32[2,2]", "E_SHAPE"},
    {"Einsum", "equation=ijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ->i", "f32[2,2]", "E_SHAPE"},
    {"Conv", "", "f32[1,1,2,2]~1,2,3,4 f32[1,1,2,2]~1,1,1,1", "f32[1,1,1,1]=10"},
    {"Conv", "pads=[1,1,1,1] strides=[2,2]", "f32[1,1,2,2]~1,2,3,4 f32[1,1,2,2]~1,10,100,1000",
     "f32[1,1,2,2]=1000,200,30,4"},
    {"Conv", "group=2", "f32[1,2,2]~1,2,3,4 f32[2,1,1]~10,100 f32[2]~1,2",
     "f32[1,2,2]=11,21,302,402"},
    {"Conv", "dilations=[2]", "f32[1,1,4]~1,2,3,4 f32[1,1,2]~1,1", "f32[1,1,2]=4,6"},
    {"Conv", "auto_pad=SAME_LOWER", "f32[1,1,3]~1,2,3 f32[1,1,2]~1,10", "f32[1,1,3]=10,21,32"},
    {"Conv", "auto_pad=SAME_UPPER", "f32[1,1,3]~1,2,3 f32[1,1,2]~1,10", "f32[1,1,3]=21,32,3"},
    {"ConvTranspose", "strides=[2]", "f32[1,1,2]~1,2 f32[1,1,3]~1,10,100",
     "f32[1,1,5]=1,10,102,20,200"},
    {"ConvTranspose", "strides=[2] output_padding=[1] pads=[1,1]",
     "f32[1,1,2]~1,2 f32[1,1,3]~1,10,100", "f32[1,1,4]=10,102,20,200"},
    {"ConvTranspose", "strides=[2] output_shape=[4]", "f32[1,1,2]~1,2 f32[1,1,3]~1,10,100",
     "f32[1,1,4]=10,102,20,200"},
    {"ConvTranspose", "group=2", "f32[1,2,1]~3,5 f32[2,1,2]~1,10,100,1000",
     "f32[1,2,2]=3,30,500,5000"},
    {"ConvInteger", "", "u8[1,1,2]~3,5 u8[1,1,2]~2,4 u8[]~1 u8[]~1", "i32[1,1,1]=14"},
    {"Attention", "scale=1.0", "f32[1,1,1,1]~0 f32[1,1,2,1]~1,2 f32[1,1,2,1]~4,8",
     "f32[1,1,1,1]=6"},
    {"Attention", "is_causal=1", "f32[1,1,2,1]~0,0 f32[1,1,2,1]~1,2 f32[1,1,2,1]~4,8",
     "f32[1,1,2,1]=4,6"},
    {"Attention", "", "f32[1,1,1,1]~0 f32[1,1,2,1]~1,2 f32[1,1,2,1]~4,8 bool[1]~0",
     "f32[1,1,1,1]=0"},
    {"Attention", "q_num_heads=0 kv_num_heads=1", "f32[1,1,2] f32[1,1,1] f32[1,1,1]", "E_SHAPE"},
    {"Attention", "", "f32[1,3,1,2] f32[1,2,1,2] f32[1,2,1,2]", "E_SHAPE"},
    {"Attention", "", "f32[1,1,1,2] f32[1,1,1,2] f32[1,1,1,2] f32[9,1]", "E_SHAPE"},
    {"Attention", "", "f32[1,1,1,2] f32[1,1,1,2] f32[1,1,1,2] - f32[1,1,3,2]", "E_SHAPE"},
    {"MatMulInteger", "", "u8[1,2]~3,5 i8[2,1]~-2,4 u8[]~1", "i32[1,1]=12"},
    {"QLinearMatMul", "", "u8[1,1]~10 f32[]=0.5 u8[]=4 u8[1,1]~9 f32[]=2 u8[]=1 f32[]=4 u8[]=100",
     "u8[1,1]=112"},
    {"QuantizeLinear", "", "f32[4]~-300,0.5,1.5,9000 f32[]=1 i8[]=0", "i8[4]=-128,0,2,127"},
    {"DequantizeLinear", "axis=0", "u8[2]~130,3 f32[2]=0.5,2 u8[2]=128,1", "f32[2]=1,4"},
    {"QuantizeLinear", "", "f32[4] f32[]=0", "E_NUM"},
    {"QuantizeLinear", "", "f32[4] f32[]=-1", "E_NUM"},
    {"QuantizeLinear", "axis=0", "f32[4] f32[3]=1,1,1", "E_SHAPE"},
    {"QuantizeLinear", "", "f32[4] f32[]=1 u8[2]=1,1", "E_SHAPE"},
};

/* ROBUSTNESS: a window's numbers are checked by the name of their attribute. */
static const struct ops_case hostile_cases[] = {
    {"Conv", "group=0", "f32[1,1,4,4] f32[1,1,3,3]", "E_SHAPE"},
    {"Conv", "group=2", "f32[1,3,4,4] f32[2,1,3,3]", "E_SHAPE"},
    {"Conv", "group=-1", "f32[1,1,4,4] f32[1,1,3,3]", "E_SHAPE"},
    {"Conv", "strides=[0,1]", "f32[1,1,4,4] f32[1,1,3,3]", "E_SHAPE"},
    {"Conv", "dilations=[0,1]", "f32[1,1,4,4] f32[1,1,3,3]", "E_SHAPE"},
    {"Conv", "", "f32[1,1,2,2] f32[1,1,3,3]", "E_SHAPE"},
    {"Conv", "pads=[0,0,2147483648,0]", "f32[1,1,4,4] f32[1,1,3,3]", "E_SHAPE"},
    {"Conv", "pads=[0,-1,0,0]", "f32[1,1,4,4] f32[1,1,3,3]", "E_SHAPE"},
    {"Conv", "pads=[1,1,1]", "f32[1,1,4,4] f32[1,1,3,3]", "E_SHAPE"},
    {"Conv", "pads=[2147483647,2147483647,2147483647,2147483647]", "f32[1,1,4,4] f32[1,1,3,3]",
     "E_LIMIT"},
    {"Conv", "kernel_shape=[3,2]", "f32[1,1,4,4] f32[1,1,3,3]", "E_SHAPE"},
    {"Conv", "auto_pad=SAME", "f32[1,1,4,4] f32[1,1,3,3]", "E_SHAPE"},
    {"Conv", "", "f32[1,1,4,4] f32[1,1,0,3]", "E_SHAPE"},
    {"Conv", "", "f32[1,2,4,4] f32[1,1,3,3]", "E_SHAPE"},
    {"Conv", "", "f32[1,1,4,4] f32[2,1,3,3] f32[3]", "E_SHAPE"},
    {"Conv", "", "f32[4,4] f32[3,3]", "E_SHAPE"},
    {"Conv", "", "i32[1,1,4,4] i32[1,1,3,3]", "E_TYPE"},
    {"ConvTranspose", "output_padding=[-1]", "f32[1,1,2] f32[1,1,3]", "E_SHAPE"},
    {"ConvTranspose", "output_shape=[0]", "f32[1,1,2] f32[1,1,3]", "E_SHAPE"},
    {"ConvTranspose", "pads=[9,9]", "f32[1,1,2] f32[1,1,3]", "E_SHAPE"},
    {"ConvTranspose", "output_padding=[2147483647]", "f32[4096,4,2] f32[4,1,3]", "E_LIMIT"},
    {"MaxPool", "kernel_shape=[0,1]", "f32[1,1,4,4]", "E_SHAPE"},
    {"MaxPool", "", "f32[1,1,4,4]", "E_SHAPE"},
    {"MaxPool", "kernel_shape=[2,2] pads=[2,2,2,2]", "f32[1,1,4,4]", "E_SHAPE"},
    {"MaxPool", "kernel_shape=[9223372036854775807,2]", "f32[1,1,4,4]", "E_SHAPE"},
    {"MaxPool", "kernel_shape=[2147483647] auto_pad=SAME_UPPER", "f32[1,1,4]", "E_SHAPE"},
    {"PoolRegions", "", "f64[1,1,4,4] f32[1,4] i64[1]", "E_TYPE"},
    {"PoolRegions", "", "f32[1,1,4,4] f32[1,4] i64[2]", "E_SHAPE"},
    {"PoolRegions", "", "f32[1,4,4] f32[1,4] i64[1]", "E_SHAPE"},
    {"Dropout", "", "f32[2] f32[]=0.5 bool[0]=", "E_UNSUP"},
    {"LpPool", "p=0 kernel_shape=[2]", "f32[1,1,4]", "E_SHAPE"},
    {"Softmax", "axis=7", "f32[1,2,3]", "E_SHAPE"},
    {"ReduceSum", "", "f32[1,2,3] i64[1]=7", "E_SHAPE"},
    {"ReduceSum", "", "f32[1,2,3] i64[2]=1,-2", "E_SHAPE"},
    {"ReduceSum", "", "f32[1,2,3] i64[1]", "E_UNSUP"},
    {"ArgMax", "axis=3", "f32[1,2,3]", "E_SHAPE"},
    {"ArgMax", "", "f32[0,2]", "E_SHAPE"},
    {"CumSum", "", "f32[2] i64[]~4", "E_SHAPE"},
    {"Resize", "", "f32[1,1,2,2] - f32[4]=1,1,0,1", "E_SHAPE"},
    {"Resize", "", "f32[1,1,2,2] - f32[4]=1,1,nan,1", "E_SHAPE"},
    {"Resize", "", "f32[1,1,2,2] - f32[4]=1,1,1e30,1", "E_SHAPE"},
    {"Resize", "", "f32[1,1,2,2] - f32[3]=1,1,1", "E_SHAPE"},
    {"Resize", "", "f32[1,1,2,2] - - i64[4]=1,1,-2,2", "E_SHAPE"},
    {"Resize", "", "f32[1,1,2,2] - - i64[4]=1,1,2147483647,2147483647", "E_LIMIT"},
    {"Resize", "mode=magic", "f32[1,1,2,2] - f32[4]=1,1,2,2", "E_UNSUP"},
    {"GroupNormalization", "num_groups=0", "f32[1,4,2] f32[4] f32[4]", "E_SHAPE"},
    {"GroupNormalization", "num_groups=3", "f32[1,4,2] f32[4] f32[4]", "E_SHAPE"},
    {"LRN", "size=0", "f32[1,4,2]", "E_SHAPE"},
    {"BatchNormalization", "", "f32[1,2,2] f32[2] f32[2] f32[3] f32[2]", "E_SHAPE"},
    {"BatchNormalization", "training_mode=1", "f32[1,2,2] f32[2] f32[2] f32[2] f32[2]", "E_UNSUP"},
    {"LayerNormalization", "axis=2", "f32[1,2] f32[2]", "E_SHAPE"},
    {"LayerNormalization", "", "f32[1,2] f32[3]", "E_SHAPE"},
    {"LSTM", "hidden_size=3", "f32[1,1,2] f32[1,8,2] f32[1,8,2]", "E_SHAPE"},
    {"LSTM", "hidden_size=2", "f32[1,1,2] f32[1,8,2] f32[1,8,3]", "E_SHAPE"},
    {"LSTM", "hidden_size=2 direction=sideways", "f32[1,1,2] f32[1,8,2] f32[1,8,2]", "E_SHAPE"},
};

static const struct ops_case reduction_cases[] = {
    {"MaxPool", "kernel_shape=[2] strides=[2] ceil_mode=1", "f32[1,1,3]~1,3,2",
     "f32[1,1,2]=3,2 i64[1,1,2]=1,2"},
    {"MaxPool", "kernel_shape=[2,2] storage_order=1", "f32[1,1,2,3]~iota",
     "f32[1,1,1,2]=4,5 i64[1,1,1,2]=3,5"},
    {"MaxPool", "kernel_shape=[2] dilations=[2]", "i8[1,1,4]~-5,-6,-7,-8", "i8[1,1,2]=-5,-6"},
    {"MaxPool", "kernel_shape=[2]", "f32[1,1,3]~1,nan,2", "f32[1,1,2]=nan,nan"},
    {"AveragePool", "kernel_shape=[2] pads=[1,0]", "f32[1,1,2]~2,4", "f32[1,1,2]=2,3"},
    {"AveragePool", "kernel_shape=[2] pads=[1,0] count_include_pad=1", "f32[1,1,2]~2,4",
     "f32[1,1,2]=1,3"},
    {"AveragePool", "kernel_shape=[2] strides=[2] ceil_mode=1 count_include_pad=1",
     "f32[1,1,3]~2,4,6", "f32[1,1,2]=3,6"},
    {"AveragePool", "auto_pad=VALID kernel_shape=[2] strides=[2] ceil_mode=1", "f32[1,1,3]~2,4,6",
     "f32[1,1,2]=3,6"},
    {"LpPool", "kernel_shape=[2] p=1", "f32[1,1,2]~-2,4", "f32[1,1,1]=6"},
    {"GlobalAveragePool", "", "f32[1,2,2]~1,3,5,7", "f32[1,2,1]=2,6"},
    {"GlobalMaxPool", "", "f32[1,2,2]~1,3,7,5", "f32[1,2,1]=3,7"},
    {"GlobalLpPool", "", "f32[1,1,2]~3,4", "f32[1,1,1]=5"},
    {"Softmax", "axis=0", "f32[2,2]~0,5,0,5", "f32[2,2]=0.5,0.5,0.5,0.5"},
    {"Softmax", "", "f32[2]~1000,1000", "f32[2]=0.5,0.5"},
    {"LogSoftmax", "", "f32[2]~3,3", "f32[2]=-0.69314718,-0.69314718"},
    {"Hardmax", "", "f32[3]~1,2,2", "f32[3]=0,1,0"},
    {"ReduceSum", "keepdims=0", "f32[2,2]~1,2,3,4 i64[1]=0", "f32[2]=4,6"},
    {"ReduceSum", "noop_with_empty_axes=1", "f32[2]~1,2", "f32[2]=1,2"},
    {"ReduceSum", "", "f32[2,0] i64[1]=1", "f32[2,1]=0,0"},
    {"ReduceProd", "keepdims=0", "f32[0]", "f32[]=1"},
    {"ReduceMean", "", "i32[2]~3,4", "i32[1]=3"},
    {"ReduceMax", "keepdims=0", "i64[3]~-3,-9223372036854775808,-5", "i64[]=-3"},
    {"ReduceMin", "keepdims=0", "f32[2]~3,-inf", "f32[]=-inf"},
    {"ReduceL2", "keepdims=0", "f32[2]~3,4", "f32[]=5"},
    {"ReduceL1", "keepdims=0", "i32[2]~-3,4", "i32[]=7"},
    {"ReduceSumSquare", "keepdims=0", "f32[2]~3,4", "f32[]=25"},
    {"ReduceLogSum", "keepdims=0", "f32[2]~0.25,0.75", "f32[]=0"},
    {"ReduceLogSumExp", "keepdims=0", "f32[2]~1000,1000", "f32[]=1000.69314718"},
    {"ArgMax", "axis=1 keepdims=0", "f32[2,3]~1,5,5,7,2,1", "i64[2]=1,0"},
    {"ArgMax", "select_last_index=1", "f32[3]~5,1,5", "i64[1]=2"},
    {"ArgMin", "", "i32[3]~5,1,1", "i64[1]=1"},
    {"CumSum", "", "f32[3]~1,2,3 i64[]~0", "f32[3]=1,3,6"},
    {"CumSum", "exclusive=1 reverse=1", "f32[3]~1,2,3 i64[]~-1", "f32[3]=5,3,0"},
    {"CumProd", "", "i32[3]~2,3,4 i64[]~0", "i32[3]=2,6,24"},
    {"BatchNormalization", "epsilon=0.0",
     "f32[1,2,1]~3,10 f32[2]~2,1 f32[2]~1,0 f32[2]~1,8 f32[2]~4,1", "f32[1,2,1]=3,2"},
    {"LayerNormalization", "epsilon=0.0", "f32[1,2]~1,3 f32[2]~1,2 f32[2]~0,1",
     "f32[1,2]=-1,3 f32[1,1]=2 f32[1,1]=1"},
    {"RMSNormalization", "epsilon=0.0", "f32[1,2]~1,7 f32[2]~5,5", "f32[1,2]=1,7"},
    {"InstanceNormalization", "epsilon=0.0", "f32[1,1,2]~1,3 f32[1]~2 f32[1]~1", "f32[1,1,2]=-1,3"},
    {"GroupNormalization", "num_groups=1 epsilon=0.0", "f32[1,2,1]~1,3 f32[2]~1,2 f32[2]~0,0",
     "f32[1,2,1]=-1,2"},
    {"LRN", "size=3 alpha=3.0 beta=1.0 bias=0.0", "f32[1,3,1]~1,1,2",
     "f32[1,3,1]=0.5,0.16666667,0.4"},
    {"LpNormalization", "p=1", "f32[2,2]~1,3,0,0", "f32[2,2]=0.25,0.75,0,0"},
    {"MeanVarianceNormalization", "axes=[0]", "f32[2]~1,3", "f32[2]=-1,1"},
    {"Dropout", "", "f32[2]~1,2", "f32[2]=1,2 bool[2]=1,1"},
    {"Resize", "mode=nearest", "f32[2]~1,2 - f32[1]=2", "f32[4]=1,1,2,2"},
    {"Resize", "mode=linear", "f32[2]~0,4 - f32[1]=2", "f32[4]=0,1,3,4"},
    {"Resize", "mode=linear coordinate_transformation_mode=align_corners",
     "f32[2]~0,4 - - i64[1]=3", "f32[3]=0,2,4"},
    /* -1.25 and 2.25 cut off */
    {"Resize", "mode=linear", "i8[2]~-3,4 - f32[1]=2", "i8[4]=-3,-1,2,4"},
    /* the nearest */
    {"Resize", "mode=linear antialias=1", "u8[4]~0,4,8,12 - f32[1]=0.5", "u8[2]=3,10"},
    {"Resize", "mode=linear antialias=1", "f32[4]~0,4,8,12 - f32[1]=0.5", "f32[2]=2.5,9.5"},
    {"RNN", "hidden_size=1 activations=[]", "f32[2,1,1]~0,0 f32[1,1,1]~1 f32[1,1,1]~1", "E_FORMAT"},
    {"RNN", "hidden_size=1 activations=[0.5]", "f32[2,1,1]~0,0 f32[1,1,1]~1 f32[1,1,1]~1",
     "E_FORMAT"},
    {"RNN", "hidden_size=1", "f32[2,1,1]~1,0 f32[1,1,1]~1 f32[1,1,1]~2",
     "f32[2,1,1,1]=0.76159416,0.90925246 f32[1,1,1]=0.90925246"},
    {"LSTM", "hidden_size=1",
     "f32[1,1,1]~0 f32[1,4,1]~0,0,0,0 f32[1,4,1]~0,0,0,0 - - f32[1,1,1]~0 "
     "f32[1,1,1]~2",
     "f32[1,1,1,1]=0.38079708 f32[1,1,1]=0.38079708 f32[1,1,1]=1"},
    {"GRU", "hidden_size=1 direction=reverse",
     "f32[1,1,1]~0 f32[1,3,1]~0,0,0 f32[1,3,1]~0,0,0 - - f32[1,1,1]~4",
     "f32[1,1,1,1]=2 f32[1,1,1]=2"},
};

static void check_all(const struct ops_case *cases, size_t count) {
  for (size_t i = 0; i < count; i++) check_case(&cases[i]);
}
static void contractions(void **state) {
  (void)state, check_all(contraction_cases, COUNT(contraction_cases));
}
static void reductions(void **state) {
  (void)state, check_all(reduction_cases, COUNT(reduction_cases));
}
static void hostile(void **state) { (void)state, check_all(hostile_cases, COUNT(hostile_cases)); }

/* op_find is a binary search. */
static void table_is_sorted(void **state) {
  (void)state;
  for (size_t i = 2; i < OP_COUNT; i++)
    assert_true(strcmp(op_table[i - 1].name, op_table[i].name) < 0);
  assert_ptr_equal(op_find("", "Conv"), &op_table[OP_Conv]);
  assert_ptr_equal(op_find("ai.onnx", "Conv"), &op_table[OP_Conv]);
  assert_null(op_find("elsewhere", "Conv"));
  assert_null(op_find("", "Convolve"));
}

/* Shape -> Gather -> Unsqueeze -> Concat -> Reshape resolves during inference, the folded nodes go.
 */
static void shapes_are_folded(void **state) {
  (void)state;
  static const char text[] =
      "graph(x: f32[2,3,4]) -> (y) {\n"
      "  s = Shape(x)\n"
      "  i = const i64[1] [0]\n"
      "  n = Gather(s, i) axis=0\n"
      "  m = const i64[1] [-1]\n"
      "  t = Concat(n, m) axis=0\n"
      "  y = Reshape(x, t)\n"
      "}\n";
  struct ctx ctx;
  struct arena *arena;
  struct graph *graph;
  ctx_init(&ctx);
  REQUIRE(arena_create(&ctx, 0, &arena));
  if (graph_parse(&ctx, arena, text, sizeof text - 1, op_find, &graph))
    case_fails("%s", ctx.message);
  if (graph_infer(&ctx, graph)) case_fails("%s", ctx.message);
  assert_int_equal(graph->nodes.count, 1);
  assert_int_equal(graph->outputs.at[0]->shape.dims[0], 2);
  assert_int_equal(graph->outputs.at[0]->shape.dims[1], 12);
  float x[24], y[24];
  for (int i = 0; i < 24; i++) x[i] = (float)i;
  const hone_tensor input = {x, HONE_F32, 3, {2, 3, 4}};
  hone_tensor output = {y, HONE_F32, 2, {2, 12}};
  if (reference_run(&ctx, graph, &input, &output)) case_fails("%s", ctx.message);
  assert_memory_equal(x, y, sizeof x);
  const hone_tensor bad = {x, HONE_F32, 3, {2, 3, 5}};
  assert_int_equal(reference_run(&ctx, graph, &bad, &output), HONE_E_SHAPE);
  arena_destroy(arena);
}

/* A chain of doublings is refused at the node that goes over the budget, before memory is taken. */
static void doublings_are_refused(void **state) {
  (void)state;
  struct ctx ctx;
  struct arena *arena;
  struct graph *graph;
  struct value *value;
  struct shape shape = {1, {1024}};
  ctx_init(&ctx);
  REQUIRE(arena_create(&ctx, 0, &arena));
  REQUIRE(graph_create(&ctx, arena, &graph));
  REQUIRE(graph_input(&ctx, graph, "x", HONE_F32, &shape, &value));
  for (int i = 0; i < 60; i++) {
    struct node *node;
    struct value *inputs[] = {value, value};
    REQUIRE(graph_node(&ctx, graph, &op_table[OP_Concat], inputs, 2, 1, &node));
    REQUIRE(node_set_int(&ctx, graph, node, "axis", 0));
    value = node->outputs[0];
  }
  REQUIRE(graph_output(&ctx, graph, value));
  assert_int_equal(graph_infer(&ctx, graph), HONE_E_LIMIT);
  arena_destroy(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(table_is_sorted),   cmocka_unit_test(contractions),
      cmocka_unit_test(reductions),        cmocka_unit_test(hostile),
      cmocka_unit_test(shapes_are_folded), cmocka_unit_test(doublings_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
