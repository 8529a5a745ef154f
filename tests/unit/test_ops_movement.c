/* Movement, indexed and generator operators: values by hand from the ONNX text, and the hostile
 * parameters that must be refused before anything is allocated. */
#include "ops_case.h"

static const struct ops_case movement_cases[] = {
    {"Reshape", "", "f32[2,3]~iota i64[2]=3,-1", "f32[3,2]=0,1,2,3,4,5"},
    {"Reshape", "", "f32[2,3,4] i64[2]=0,-1", "f32[2,12]"},
    {"Reshape", "allowzero=1", "f32[0,3] i64[2]=3,0", "f32[3,0]"},
    {"Reshape", "", "f32[1] i64[0]=", "f32[]=0"},
    {"Flatten", "axis=0", "f32[2,3]", "f32[1,6]"},
    {"Flatten", "axis=-1", "f32[2,3,4]", "f32[6,4]"},
    {"Squeeze", "", "f32[1,2,1]", "f32[2]"},
    {"Squeeze", "", "f32[1,2,1] i64[1]=-1", "f32[1,2]"},
    {"Unsqueeze", "", "f32[2] i64[2]=0,-1", "f32[1,2,1]"},
    {"Identity", "", "i8[2]~-1,5", "i8[2]=-1,5"},
    {"Transpose", "", "f32[2,3]~iota", "f32[3,2]=0,3,1,4,2,5"},
    {"Transpose", "perm=[1,0,2]", "i64[2,2,2]~iota", "i64[2,2,2]=0,1,4,5,2,3,6,7"},
    {"Concat", "axis=1", "f32[2,1]~1,2 f32[2,2]~3,4,5,6 f32[2,0]", "f32[2,3]=1,3,4,2,5,6"},
    {"Split", "axis=1", "f32[2,3]~iota i64[2]=1,2", "f32[2,1]=0,3 f32[2,2]=1,2,4,5"},
    {"Split", "num_outputs=2", "f32[5]~iota", "f32[3]=0,1,2 f32[2]=3,4"},
    {"Slice", "", "f32[4]~iota i64[1]=-1 i64[1]=-9 i64[1]=0 i64[1]=-2", "f32[2]=3,1"},
    {"Slice", "", "f32[2,4]~iota i64[2]=0,1 i64[2]=9,3", "f32[2,2]=1,2,5,6"},
    {"Slice", "", "f32[4]~iota i64[1]=3 i64[1]=1", "f32[0]="},
    {"Slice", "",
     "f32[4]~iota i64[1]=3 i64[1]=-9223372036854775808 i64[1]=0 "
     "i64[1]=-9223372036854775808",
     "f32[1]=3"},
    {"Expand", "", "f32[2,1]~1,2 i64[3]=2,1,2", "f32[2,2,2]=1,1,2,2,1,1,2,2"},
    {"Tile", "", "f32[1,2]~1,2 i64[2]=2,2", "f32[2,4]=1,2,1,2,1,2,1,2"},
    {"Pad", "", "f32[2]~1,2 i64[2]=1,2 f32[1]=9", "f32[5]=9,1,2,9,9"},
    {"Pad", "mode=reflect", "f32[3]~1,2,3 i64[2]=2,2", "f32[7]=3,2,1,2,3,2,1"},
    {"Pad", "mode=edge", "f32[2]~1,2 i64[2]=1,1", "f32[4]=1,1,2,2"},
    {"Pad", "mode=wrap", "f32[3]~1,2,3 i64[2]=1,2", "f32[6]=3,1,2,3,1,2"},
    {"Pad", "", "f32[3]~1,2,3 i64[2]=-1,1", "f32[3]=2,3,0"},
    {"Pad", "", "f32[1,2]~1,2 i64[2]=1,0 - i64[1]=-1", "f32[1,3]=0,1,2"},
    {"DepthToSpace", "blocksize=2", "f32[1,8,1,1]~iota", "f32[1,2,2,2]=0,2,4,6,1,3,5,7"},
    {"DepthToSpace", "blocksize=2 mode=CRD", "f32[1,8,1,1]~iota", "f32[1,2,2,2]=0,1,2,3,4,5,6,7"},
    {"SpaceToDepth", "blocksize=2", "f32[1,1,2,4]~iota", "f32[1,4,1,2]=0,2,1,3,4,6,5,7"},
    {"ReverseSequence", "batch_axis=0 time_axis=1", "f32[2,3]~iota i64[2]~2,3",
     "f32[2,3]=1,0,2,5,4,3"},
};

static const struct ops_case indexed_cases[] = {
    {"Gather", "axis=1", "f32[2,3]~iota i64[2]~2,-3", "f32[2,2]=2,0,5,3"},
    {"Gather", "", "i64[3]~5,6,7 i64[]~1", "i64[]=6"},
    {"GatherElements", "axis=1", "f32[2,2]~1,2,3,4 i64[2,2]~0,0,1,0", "f32[2,2]=1,1,4,3"},
    {"GatherND", "", "f32[2,2]~iota i64[2,2]~0,0,1,1", "f32[2]=0,3"},
    {"GatherND", "batch_dims=1", "f32[2,2,2]~iota i64[2,1]~1,0", "f32[2,2]=2,3,4,5"},
    {"ScatterElements", "axis=1", "f32[1,5]~1,2,3,4,5 i64[1,2]~1,3 f32[1,2]~9,8",
     "f32[1,5]=1,9,3,8,5"},
    {"ScatterElements", "reduction=add", "i32[3]~1,2,3 i64[2]~-1,-1 i32[2]~10,20", "i32[3]=1,2,33"},
    {"ScatterND", "", "f32[4]~1,2,3,4 i64[2,1]~3,0 f32[2]~9,8", "f32[4]=8,2,3,9"},
    {"ScatterND", "reduction=max", "f32[2,2]~1,2,3,4 i64[1,1]~1 f32[1,2]~9,0", "f32[2,2]=1,2,9,4"},
    {"OneHot", "", "i64[3]~0,-1,7 i64[]=3 f32[2]~0,1", "f32[3,3]=1,0,0,0,0,1,0,0,0"},
    {"OneHot", "axis=0", "i64[2]~1,0 i64[]=2 i32[2]~5,6", "i32[2,2]=5,6,6,5"},
    {"TopK", "", "f32[1,4]~3,1,3,2 i64[1]=3", "f32[1,3]=3,3,2 i64[1,3]=0,2,3"},
    {"TopK", "largest=0 axis=0", "i32[3]~3,1,1 i64[1]=2", "i32[2]=1,1 i64[2]=1,2"},
    {"Trilu", "", "f32[2,3]~1,2,3,4,5,6 i64[]~1", "f32[2,3]=0,2,3,0,0,6"},
    {"Trilu", "upper=0", "i64[2,2]~1,2,3,4", "i64[2,2]=1,0,3,4"},
    {"Compress", "axis=1", "f32[2,3]~iota bool[2]=0,1", "f32[2,1]=1,4"},
    {"NonZero", "", "f32[2,2]=1,0,1,1", "i64[2,3]=0,1,1,0,0,1"},
    {"Unique", "", "f32[6]=2,1,1,3,4,3",
     "f32[4]=1,2,3,4 i64[4]=1,0,3,4 i64[6]=1,0,0,2,3,2 i64[4]=2,1,2,1"},
    {"Unique", "sorted=0", "f32[6]=2,1,1,3,4,3",
     "f32[4]=2,1,3,4 i64[4]=0,1,3,4 i64[6]=0,1,1,2,3,2 i64[4]=1,2,2,1"},
    {"Unique", "axis=0", "f32[3,2]=1,0,1,0,0,1", "f32[2,2]=0,1,1,0 i64[2]=2,0 i64[3]=1,1,0 *"},
    {"ml:ArrayFeatureExtractor", "", "f32[2,3]~iota i64[2]~2,0", "f32[2,2]=2,0,5,3"},
};

static const struct ops_case generator_cases[] = {
    {"ConstantOfShape", "", "i64[2]=1,2", "f32[1,2]=0,0"},
    {"Range", "", "i64[]=10 i64[]=4 i64[]=-3", "i64[2]=10,7"},
    {"Range", "", "f32[]=0 f32[]=1 f32[]=0.3", "f32[4]=0,0.3,0.6,0.9"},
    {"Range", "",
     "i64[]=-9223372036854775808 i64[]=9223372036854775807 "
     "i64[]=9223372036854775807",
     "i64[3]"},
    {"Shape", "start=-2", "f32[4,5,6]", "i64[2]=5,6"},
    {"Shape", "start=1 end=-1", "f32[4,5,6]", "i64[1]=5"},
    {"Size", "", "f32[4,5]", "i64[]=20"},
    {"EyeLike", "k=1 dtype=6", "f32[2,3]", "i32[2,3]=0,1,0,0,0,1"},
    {"EyeLike", "k=9223372036854775807", "f32[2,2]", "f32[2,2]=0,0,0,0"},
    {"Constant", "value_ints=[3,4]", "", "i64[2]=3,4"},
};

static const struct ops_case elementwise_cases[] = {
    {"Abs", "", "i8[2]~-128,3", "i8[2]=-128,3"},
    {"Round", "", "f32[5]~0.5,1.5,2.5,-0.5,-1.5", "f32[5]=0,2,2,0,-2"},
    {"Gelu", "", "f32[2]~1,-1", "f32[2]=0.84134475,-0.15865525"},
    {"Gelu", "approximate=tanh", "f32[2]~1,-1", "f32[2]=0.841192,-0.158808"},
    {"Selu", "", "f32[2]~1,-1", "f32[2]=1.05070098,-1.11133074"},
    {"Elu", "alpha=2.0", "f32[2]~1,-1", "f32[2]=1,-1.26424112"},
    {"HardSigmoid", "", "f32[3]~-9,0,9", "f32[3]=0,0.5,1"},
    {"Softplus", "", "f32[3]~-1,0,100", "f32[3]=0.31326169,0.69314718,100"},
    {"IsInf", "detect_negative=0", "f32[3]~inf,-inf,nan", "bool[3]=1,0,0"},
    {"IsNaN", "", "f32[2]~nan,1", "bool[2]=1,0"},
    {"Clip", "", "f32[3]~-1,0.5,9 f32[]=0 f32[]=1", "f32[3]=0,0.5,1"},
    {"Clip", "", "i64[2]~-5,9 - i64[]~3", "i64[2]=-5,3"},
    {"Where", "", "bool[2,1]~1,0 i64[2]~1,2 i64[]~9", "i64[2,2]=1,2,9,9"},
    {"Max", "", "f32[2]~1,5 f32[1]~3 f32[2]~2,9", "f32[2]=3,9"},
    {"Mean", "", "f32[2]~1,5 f32[2]~3,1 f32[2]~2,0", "f32[2]=2,2"},
    {"Pow", "", "f32[2]~2,3 i64[2]~3,2", "f32[2]=8,9"},
    {"Pow", "", "i32[2]~2,3 f32[2]~0.5,40", "i32[2]=1,2147483647"},
    {"Mod", "", "i64[4]~-7,7,5,1 i64[4]~3,-3,0,-1", "i64[4]=2,-2,0,0"},
    {"Mod", "fmod=1", "f32[2]~-7,7.5 f32[2]~3,2", "f32[2]=-1,1.5"},
    {"Mod", "", "f32[3]~-7,7.5,-0.0 f32[3]~3,-2,4", "f32[3]=2,-0.5,0"},
    {"Div", "", "i32[3]~-2147483648,7,-7 i32[3]~-1,0,2", "i32[3]=-2147483648,0,-3"},
    {"BitShift", "direction=LEFT", "u8[3]~1,255,1 u8[3]~7,1,8", "u8[3]=128,254,0"},
    {"BitShift", "direction=RIGHT", "i8[3]~-128,-2,5 i8[3]~7,-1,8", "i8[3]=-1,-1,0"},
    {"BitwiseXor", "", "i8[1]~-1 i8[1]~1", "i8[1]=-2"},
    {"Not", "", "bool[2]~1,0", "bool[2]=0,1"},
    {"Xor", "", "bool[2]~1,0 bool[1]~1", "bool[2]=0,1"},
    {"Less", "", "u64[1]~1 u64[1]~2", "bool[1]=1"},
    {"Cast", "to=3", "f32[6]~1e30,-1e30,nan,-1.9,127.5,inf", "i8[6]=-1,0,0,-1,127,-1"},
    {"Cast", "to=2", "f32[3]~-5,1e30,3.9", "u8[3]=251,255,3"},
    {"Cast", "to=7", "f32[2]~1e30,-1e30", "i64[2]=9223372036854775807,-9223372036854775808"},
    {"Cast", "to=3", "i64[2]~300,-1", "i8[2]=44,-1"},
    {"Cast", "to=9", "f32[3]~0,0.5,nan", "bool[3]=0,1,1"},
    {"PRelu", "", "f32[2,2]~-1,2,-3,4 f32[2]~0.5,1", "f32[2,2]=-0.5,2,-1.5,4"},
    {"Shrink", "bias=1.5 lambd=1.5", "f32[3]~-2,0,2", "f32[3]=-0.5,0,0.5"},
};

static const struct ops_case hostile_cases[] = {
    {"Reshape", "", "f32[6] i64[2]=-1,-1", "E_SHAPE"},
    {"Reshape", "", "f32[6] i64[2]=4,2", "E_SHAPE"},
    {"Reshape", "", "f32[6] i64[2]=-2,3", "E_SHAPE"},
    {"Reshape", "", "f32[6] i64[2]=4611686018427387904,4", "E_LIMIT"},
    {"Reshape", "", "f32[6] i64[1]", "E_UNSUP"},
    {"Reshape", "", "f32[0] i64[2]=0,-1", "E_SHAPE"},
    {"Flatten", "axis=3", "f32[2,2]", "E_SHAPE"},
    {"Squeeze", "", "f32[2,1] i64[1]=0", "E_SHAPE"},
    {"Unsqueeze", "", "f32[2] i64[2]=0,0", "E_SHAPE"},
    {"Unsqueeze", "", "f32[2] i64[1]=7", "E_SHAPE"},
    {"Transpose", "perm=[0,0]", "f32[2,2]", "E_SHAPE"},
    {"Transpose", "perm=[0,2]", "f32[2,2]", "E_SHAPE"},
    {"Transpose", "perm=[-1,0]", "f32[2,2]", "E_SHAPE"},
    {"Concat", "axis=7", "f32[1,1,1] f32[1,1,1]", "E_SHAPE"},
    {"Concat", "axis=0", "f32[1,2] f32[1,3]", "E_SHAPE"},
    {"Concat", "axis=0", "f32[1] i64[1]", "E_TYPE"},
    {"Split", "", "f32[5] i64[2]=1,1", "E_SHAPE"},
    {"Split", "", "f32[5] i64[2]=6,-1", "E_SHAPE"},
    {"Slice", "", "f32[4] i64[1]=0 i64[1]=1 i64[1]=0 i64[1]=0", "E_SHAPE"},
    {"Slice", "", "f32[4] i64[1]=0 i64[2]=1,1", "E_SHAPE"},
    {"Slice", "", "f32[4] i64[2]=0,0 i64[2]=1,1 i64[2]=0,-1", "E_SHAPE"},
    {"Expand", "", "f32[1] i64[2]=1099511627776,1099511627776", "E_LIMIT"},
    {"Expand", "", "f32[2] i64[1]=3", "E_SHAPE"},
    {"Tile", "", "f32[2] i64[1]=1000000000000", "E_LIMIT"},
    {"Tile", "", "f32[2] i64[1]=9223372036854775807", "E_LIMIT"},
    {"Tile", "", "f32[2] i64[1]=-1", "E_SHAPE"},
    {"Pad", "", "f32[2] i64[2]=1099511627776,0", "E_LIMIT"},
    {"Pad", "", "f32[2] i64[2]=9223372036854775807,9223372036854775807", "E_LIMIT"},
    {"Pad", "", "f32[2] i64[2]=-2,-1", "E_SHAPE"},
    {"Pad", "", "f32[2] i64[3]=1,1,1", "E_SHAPE"},
    {"Pad", "mode=edge", "f32[0] i64[2]=1,1", "E_SHAPE"},
    {"Pad", "mode=odd", "f32[2] i64[2]=1,1", "E_UNSUP"},
    {"SpaceToDepth", "blocksize=0", "f32[1,1,2,2]", "E_SHAPE"},
    {"DepthToSpace", "blocksize=3", "f32[1,8,1,1]", "E_SHAPE"},
    {"ReverseSequence", "", "f32[2,1] i64[1]~3", "E_SHAPE"},
    {"Gather", "", "f32[3] i64[1]=-10", "E_SHAPE"},
    {"Gather", "", "f32[3] i64[1]=3", "E_SHAPE"},
    {"Gather", "", "f32[3] i64[1]~3", "E_SHAPE"},
    {"Gather", "", "f32[3] i64[1]~-4", "E_SHAPE"},
    {"Gather", "", "f32[0] i64[1]~0", "E_SHAPE"},
    {"Gather", "", "f32[3] f32[1]", "E_TYPE"},
    {"GatherElements", "", "f32[3] i64[1]~3", "E_SHAPE"},
    {"GatherND", "", "f32[3] i64[1,1]~-4", "E_SHAPE"},
    {"GatherND", "batch_dims=1", "f32[3] i64[3,1]", "E_SHAPE"},
    {"ScatterElements", "", "f32[3] i64[1]~3 f32[1]", "E_SHAPE"},
    {"ScatterElements", "", "f32[3] i64[1]=-10 f32[1]", "E_SHAPE"},
    {"ScatterND", "", "f32[3] i64[1,1]~3 f32[1]", "E_SHAPE"},
    {"ScatterND", "", "f32[3] i64[1,2] f32[1]", "E_SHAPE"},
    {"ml:ArrayFeatureExtractor", "", "f32[2,3] i64[1]~3", "E_SHAPE"},
    {"OneHot", "", "i64[3] i64[]=1099511627776 f32[2]", "E_LIMIT"},
    {"OneHot", "", "i64[3] i64[]=-1 f32[2]", "E_SHAPE"},
    {"TopK", "", "f32[4] i64[1]=5", "E_SHAPE"},
    {"TopK", "", "f32[4] i64[1]=-1", "E_SHAPE"},
    {"TopK", "axis=7", "f32[4] i64[1]=1", "E_SHAPE"},
    {"NonZero", "", "f32[4]", "E_SHAPE"},
    {"Compress", "", "f32[4] bool[5]=1,1,1,1,1", "E_SHAPE"},
    {"ConstantOfShape", "", "i64[1]=1000000000000", "E_LIMIT"},
    {"ConstantOfShape", "", "i64[2]=4294967296,4294967296", "E_LIMIT"},
    {"ConstantOfShape", "", "i64[1]=-1", "E_SHAPE"},
    {"Range", "", "i64[]=0 i64[]=1000000000000000000 i64[]=1", "E_LIMIT"},
    {"Range", "", "f32[]=0 f32[]=1 f32[]=0", "E_NUM"},
    {"Range", "", "f32[]=0 f32[]=nan f32[]=1", "E_NUM"},
    {"Range", "", "i64[]=0 i64[]=1 i64[]=0", "E_NUM"},
    {"Where", "", "bool[2] f32[3] f32[3]", "E_SHAPE"},
    {"Where", "", "f32[2] f32[2] f32[2]", "E_TYPE"},
    {"Exp", "", "i32[2]", "E_TYPE"},
    {"And", "", "f32[2] f32[2]", "E_TYPE"},
    {"Add", "", "f32[2] f64[2]", "E_TYPE"},
    {"PRelu", "", "f32[2] f32[2,2]", "E_SHAPE"},
    {"Cast", "to=8", "f32[2]", "E_UNSUP"},
    {"Cast", "to=99", "f32[2]", "E_UNSUP"},
};

#define TABLE_TEST(table)                                            \
  static void table##_hold(void **state) {                           \
    (void)state;                                                     \
    for (size_t i = 0; i < COUNT(table); i++) check_case(&table[i]); \
  }
TABLE_TEST(movement_cases)
TABLE_TEST(indexed_cases)
TABLE_TEST(generator_cases)
TABLE_TEST(elementwise_cases)
TABLE_TEST(hostile_cases)

/* op_find searches by halves. */
static void op_table_is_sorted(void **state) {
  (void)state;
  for (size_t i = 2; i < OP_COUNT; i++)
    assert_true(strcmp(op_table[i - 1].name, op_table[i].name) < 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(movement_cases_hold),  cmocka_unit_test(indexed_cases_hold),
      cmocka_unit_test(generator_cases_hold), cmocka_unit_test(elementwise_cases_hold),
      cmocka_unit_test(hostile_cases_hold),   cmocka_unit_test(op_table_is_sorted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
