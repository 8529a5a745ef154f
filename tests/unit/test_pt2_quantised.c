/* Nodes of PyTorch's own quantisation, one row each, and shifts of sizes. */
#include "pt2_rows.h"

#define X "x:7:2,3"
#define GROUPS "s = aten.full.default(size=[1,2], fill_value=2.0); "
#define CHOOSE "s, z = torchao.choose_qparams_affine.default(input=@x, mapping_type="

static const struct row chosen_rows[] = {
    {X,
     "s, z = quantized_decomposed.choose_qparams.tensor(input=@x, quant_min=-3, quant_max=2, "
     "eps=0.5, dtype=2)",
     "s", HONE_OK, "[1] 1"},
    {X,
     "s, z = quantized_decomposed.choose_qparams.tensor(input=@x, quant_min=-3, quant_max=2, "
     "eps=0.5, dtype=2)",
     "z", HONE_OK, "[1] -3"},
    {X,
     "s, z = quantized_decomposed.choose_qparams.tensor(input=@x, quant_min=0, quant_max=5, "
     "eps=4.0, dtype=1)",
     "s", HONE_OK, "[1] 4"},
    {X,
     "s, z = quantized_decomposed.choose_qparams_symmetric.tensor(input=@x, quant_min=-5, "
     "quant_max=5, eps=0.5, dtype=2)",
     "s", HONE_OK, "[1] 1"},
    {X,
     "s, z = quantized_decomposed.choose_qparams_symmetric.tensor(input=@x, quant_min=0, "
     "quant_max=10, eps=0.5, dtype=1)",
     "z", HONE_OK, "[1] 128"},
    {X,
     "s, z = quantized_decomposed.choose_qparams.tensor(input=@x, quant_min=2, quant_max=2, "
     "eps=0.5, dtype=2)",
     "s", HONE_E_UNSUP, "without a step"},
    {"x:5:2",
     "s, z = quantized_decomposed.choose_qparams.tensor(input=@x, quant_min=0, "
     "quant_max=2, eps=0.5, dtype=2)",
     "s", HONE_E_UNSUP, "of i64"},
    {X,
     "s, z = quantized_decomposed.choose_qparams.tensor(input=@x, quant_min=-3, quant_max=2, "
     "eps=0.5, dtype=2); y = quantized_decomposed.quantize_per_tensor.tensor(input=@x, scale=@s, "
     "zero_point=@z, quant_min=-3, quant_max=1, dtype=2)",
     "y", HONE_OK, "[2,3] -3 -2 -1 0 1 1"},
    {"x:2:3 s:8:1 z:5:1",
     "y = quantized_decomposed.dequantize_per_tensor.tensor(input=@x, "
     "scale=@s, zero_point=@z)",
     "y", HONE_OK, "[3] 0 0 0"},
    {"x:2:3 s:8:2 z:5:1",
     "y = quantized_decomposed.dequantize_per_tensor.tensor(input=@x, "
     "scale=@s, zero_point=@z)",
     "y", HONE_E_SHAPE, "has 1 elements, input has 2"},
};

static const struct row block_rows[] = {
    {X, CHOOSE "'ASYMMETRIC', block_size=[1,3], target_dtype=2, quant_min=0, quant_max=2)", "s",
     HONE_OK, "[2] 1 2.5"},
    {X, CHOOSE "'ASYMMETRIC', block_size=[1,3], target_dtype=2, quant_min=-1, quant_max=1)", "z",
     HONE_OK, "[2] -1 -1"},
    {X,
     CHOOSE "'SYMMETRIC', block_size=[1,3], target_dtype=2, quant_min=-2, quant_max=2, "
            "keepdim=true)",
     "s", HONE_OK, "[2,1] 1 2.5"},
    {X, CHOOSE "'SYMMETRIC', block_size=[2,3], target_dtype=1)", "z", HONE_OK, "[] 128"},
    {X,
     CHOOSE "'SYMMETRIC_NO_CLIPPING_ERR', block_size=[2,3], target_dtype=2, quant_min=-8, "
            "quant_max=5)",
     "s", HONE_OK, "[] 1"},
    {"x:7:1,4",
     CHOOSE "'ASYMMETRIC', block_size=[1,2], target_dtype=2, quant_min=0, quant_max=1, "
            "keepdim=true)",
     "s", HONE_OK, "[1,2] 1 3"},
    {X, CHOOSE "'ODD', block_size=[2,3], target_dtype=2)", "s", HONE_E_UNSUP, "by ODD"},
    {X, CHOOSE "'SYMMETRIC', block_size=[1,1], target_dtype=2)", "s", HONE_E_UNSUP,
     "of single elements"},
    {X, CHOOSE "'SYMMETRIC', block_size=[2,2], target_dtype=2)", "s", HONE_E_UNSUP,
     "blocks of 2 in 3"},
    {X, CHOOSE "'SYMMETRIC', block_size=[2,0], target_dtype=2)", "s", HONE_E_UNSUP,
     "blocks of 0 in 3"},
    {X, CHOOSE "'SYMMETRIC', block_size=[2], target_dtype=2)", "s", HONE_E_UNSUP,
     "blocks of rank 1"},
    {X, CHOOSE "'SYMMETRIC', block_size=[2,3], target_dtype=7)", "s", HONE_E_UNSUP, "to dtype 7"},
    {"x:7:1,4",
     GROUPS "y = torchao.quantize_affine.default(input=@x, block_size=[1,2], scale=@s, "
            "zero_point=none, output_dtype=2)",
     "y", HONE_OK, "[1,4] 0 0 1 2"},
    {"x:7:1,4",
     GROUPS "y = torchao.quantize_affine.default(input=@x, block_size=[1,2], scale=@s, "
            "zero_point=@s, output_dtype=1, quant_min=3, quant_max=8)",
     "y", HONE_OK, "[1,4] 3 3 3 4"},
    {"x:2:1,4",
     GROUPS "y = torchao.dequantize_affine.default(input=@x, block_size=[1,2], scale=@s, "
            "zero_point=@s, input_dtype=2)",
     "y", HONE_OK, "[1,4] -4 -2 0 2"},
    {"x:2:1,4",
     GROUPS "y = torchao.dequantize_affine.default(input=@x, block_size=[1,2], scale=@s, "
            "zero_point=none, input_dtype=2, output_dtype=6)",
     "y", HONE_E_UNSUP, "to dtype 6"},
    {"x:2:1,6",
     GROUPS "y = torchao.dequantize_affine.default(input=@x, block_size=[1,2], scale=@s, "
            "zero_point=none, input_dtype=2)",
     "y", HONE_E_SHAPE, "has 3 elements, input has 2"},
    {"x:7:1,2,2,2,2,2,2,2", CHOOSE "'SYMMETRIC', block_size=[1,2,2,2,2,2,2,1], target_dtype=2)",
     "s", HONE_OK, NULL},
};

static const struct row number_rows[] = {
    {"x:2:1,3 w:2:3,1", "y = aten._int_mm.default(self=@x, mat2=@w)", "y", HONE_OK, "[1,1] 5"},
    {"x:7:1,3 w:7:3,1", "y = aten._int_mm.default(self=@x, mat2=@w)", "y", HONE_E_TYPE,
     "expected i8 or u8"},
    {X,
     "$n = aten.sym_size.int(self=@x, dim=0); $k = _operator.lshift(a=$n, b=3); "
     "y = aten.full.default(size=[1], fill_value=$k)",
     "y", HONE_OK, "[1] 16"},
    {X,
     "$n = aten.sym_size.int(self=@x, dim=1); $k = _operator.rshift(a=$n, b=1); "
     "y = aten.full.default(size=[1], fill_value=$k)",
     "y", HONE_OK, "[1] 1"},
    {X,
     "$n = aten.sym_size.int(self=@x, dim=1); $k = _operator.lshift(a=$n, b=1e300); "
     "y = aten.full.default(size=[1], fill_value=$k)",
     "y", HONE_E_UNSUP, "of 3 and 1e+300"},
    {X, "y = aten.mT.default(self=@x)", "y", HONE_OK, "[3,2] 0 3 1 4 2 5"},
    {"x:7:3", "y = aten.mT.default(self=@x)", "y", HONE_E_UNSUP, "of rank 1"},
};

static void chosen(void **state) {
  (void)state;
  check_all(chosen_rows, COUNT(chosen_rows));
}

static void blocks(void **state) {
  (void)state;
  check_all(block_rows, COUNT(block_rows));
}

static void numbers(void **state) {
  (void)state;
  check_all(number_rows, COUNT(number_rows));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(chosen), cmocka_unit_test(blocks),
                                     cmocka_unit_test(numbers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
