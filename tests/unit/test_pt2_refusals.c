/* Nodes of torch.export, one row each, for paths in the .pt2 reader that no module of tests/cases
 * covers: complex numbers instead of real ones and the reverse, ranks at the limit, lists of the
 * wrong length. */
#include "pt2_rows.h"

#define X "x:7:2,3"
#define FIFTEEN "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1"
#define SIXTEEN FIFTEEN ",1"
#define NONE "{\"as_none\": true}"
#define FOUR_NONES NONE "," NONE "," NONE "," NONE
#define NONES FOUR_NONES "," FOUR_NONES "," FOUR_NONES "," FOUR_NONES "," NONE
#define SIZES "$n = aten.sym_size.int(self=@x, dim=0); $m = aten.sym_size.int(self=@x, dim=1); "
#define FULL "; y = aten.full.default(size=[1], fill_value=$k)"
#define COMPLEX "x:7:2,2", "c = aten.view_as_complex.default(self=@x); "
#define SEEN "; z = aten.view_as_real.default(self=@y)"

static const struct row complex_rows[] = {
    {"x:7:3", "c = aten.view_as_complex.default(self=@x)", "x", HONE_E_UNSUP, "not have size two"},
    {"x:7:", "c = aten.view_as_complex.default(self=@x)", "x", HONE_E_UNSUP, "not have size two"},
    {X, "y = aten.view_as_real.default(self=@x)", "y", HONE_E_UNSUP, "of real numbers"},
    {X, "y = aten.imag.default(self=@x)", "y", HONE_E_UNSUP, "of real numbers"},
    {X, "y = aten.angle.default(self=@x)", "y", HONE_E_UNSUP, "of real numbers"},
    {X, "y = aten.real.default(self=@x)", "y", HONE_OK, "[2,3] 0 1 2 3 4 5"},
    {X, "y = aten._conj.default(self=@x)", "y", HONE_OK, "[2,3] 0 1 2 3 4 5"},
    {COMPLEX "y = aten.relu.default(self=@c)", "y", HONE_E_UNSUP, "of complex numbers"},
    {COMPLEX "y = aten.to.dtype(self=@c, dtype=7)", "y", HONE_E_UNSUP, "to real ones"},
    {COMPLEX "y = aten.to.dtype(self=@c, dtype=10)" SEEN, "z", HONE_OK, "[2,2] 0 1 2 3"},
    {COMPLEX "y = aten._to_copy.default(self=@c)" SEEN, "z", HONE_OK, "[2,2] 0 1 2 3"},
    {"x:7:2", "y = aten.to.dtype(self=@x, dtype=10)" SEEN, "z", HONE_OK, "[2,2] 0 0 1 0"},
    {COMPLEX "y = aten.add.Tensor(self=@c, other=@x)" SEEN, "z", HONE_OK,
     "[2,2,2] 0 1 3 3 2 1 5 3"},
    {COMPLEX "y = aten.add.Tensor(self=@x, other=@c)" SEEN, "z", HONE_OK,
     "[2,2,2] 0 1 3 3 2 1 5 3"},
    {COMPLEX "y = aten.add.Tensor(self=@c, other=@c, alpha=2)" SEEN, "z", HONE_OK, "[2,2] 0 3 6 9"},
    {COMPLEX "y = aten.div.Tensor(self=@x, other=@c)" SEEN, "z", HONE_OK,
     "[2,2,2] 0 -0 0.153846 -0.230769 0 -2 0.461538 -0.692308"},
    {COMPLEX "y = aten.div.Tensor(self=@c, other=2)" SEEN, "z", HONE_OK, "[2,2] 0 0.5 1 1.5"},
    {COMPLEX "y = aten.sub.Tensor(self=@c, other=@c)" SEEN, "z", HONE_OK, "[2,2] 0 0 0 0"},
    {COMPLEX "y = aten.mul.Tensor(self=@x, other=@c)" SEEN, "z", HONE_OK,
     "[2,2,2] 0 0 2 3 0 2 6 9"},
    {COMPLEX "y = aten.fft_rfft.default(self=@c)", "y", HONE_E_UNSUP, "of these element types"},
    {COMPLEX "y, w = aten.view.default(self=@c, size=[2,1])" SEEN, "z", HONE_OK, "[2,1,2] 0 1 2 3"},
    {COMPLEX "y = aten.cat.default(tensors=[@c,@x], dim=0)", "y", HONE_E_UNSUP,
     "of real and complex numbers"},
    {COMPLEX "y = aten.relu.default(self=@x)", "c", HONE_OK, "[2,2] 0 1 2 3"},
    {"x:10:2", "y = aten.view_as_real.default(self=@x)", "y", HONE_OK, "[2,2] 0 1 2 3"},
    {"x:10:2", "y = aten.relu.default(self=@x)", "y", HONE_E_UNSUP, "of complex numbers"},
    {"x:10:" SIXTEEN, "y = aten.view_as_real.default(self=@x)", "y", HONE_E_FORMAT,
     "of too many dimensions"},
    {"x:10:1,4611686018427387904", "y = aten.view_as_real.default(self=@x)", "y", HONE_E_FORMAT,
     "strides are too large"},
    {COMPLEX "y = aten.exp.default(self=@c)" SEEN, "z", HONE_OK,
     "[2,2] 0.540302 0.841471 -7.31511 1.04274"},
    {COMPLEX "y = aten.reciprocal.default(self=@c)" SEEN, "z", HONE_OK,
     "[2,2] 0 -1 0.153846 -0.230769"},
    {X " s:7:2", "y = aten.complex.default(real=@x, imag=@s)", "y", HONE_E_UNSUP,
     "of parts of unequal shape"},
    {"x:5:2", "y = aten.complex.default(real=@x, imag=@x)" SEEN, "z", HONE_OK, "[2,2] 0 0 1 1"},
    {COMPLEX
     "y = aten.mul.Tensor(self=@c, other={\"as_complex\": {\"real\": 1, \"imag\": 2}})" SEEN,
     "z", HONE_OK, "[2,2] -2 1 -4 7"},
    {COMPLEX "y = aten.mul.Tensor(self=2, other=@c)" SEEN, "z", HONE_OK, "[2,2] 0 2 4 6"},
    {COMPLEX "y = aten.ones_like.default(self=@c)" SEEN, "z", HONE_OK, "[2,2] 1 0 1 0"},
    {COMPLEX "y = aten.zeros_like.default(self=@c, dtype=10)" SEEN, "z", HONE_OK, "[2,2] 0 0 0 0"},
    {COMPLEX "y = aten.zeros_like.default(self=@c, dtype=7)", "y", HONE_E_UNSUP,
     "of complex numbers"},
    {X, "y = aten.zeros.default(size=[2], dtype=10)" SEEN, "z", HONE_OK, "[2,2] 0 0 0 0"},
    {X, "y = aten.full.default(size=[2], fill_value=1, dtype=10)", "y", HONE_E_UNSUP, "dtype 10"},
    {X, "y = aten.zeros.default(size=[" SIXTEEN "], dtype=10)", "y", HONE_E_UNSUP, "of rank 16"},
    {COMPLEX "y = aten.constant_pad_nd.default(self=@c, pad=[1,0], value=5)" SEEN, "z", HONE_OK,
     "[3,2] 5 0 0 1 2 3"},
    {COMPLEX "a = aten.copy_.default(self=@c, src=@x)", "x", HONE_E_UNSUP,
     "of real and complex numbers"},
    {"x:7:2,2 s:7:",
     "c = aten.view_as_complex.default(self=@x); "
     "y = aten.select_scatter.default(self=@c, src=@s, dim=0, index=0)",
     "y", HONE_E_UNSUP, "of real and complex numbers"},
    {COMPLEX "y = aten.einsum.default(equation={\"as_string\": \"i,i,i->i\"}, tensors=[@c,@c,@c])",
     "y", HONE_E_UNSUP, "of 3 complex tensors"},
    {COMPLEX "y = aten.dot.default(self=@c, tensor=@c)" SEEN, "z", HONE_OK, "[2] -6 12"},
    /* views of complex numbers that are written, and written through */
    {"x:7:2,2,2",
     "c = aten.view_as_complex.default(self=@x); v = aten.t.default(self=@c); "
     "a = aten.add_.Tensor(self=@c, other=@c); z = aten.view_as_real.default(self=@v)",
     "z", HONE_OK, "[2,2,2] 0 2 8 10 4 6 12 14"},
    {"x:7:2,2,2",
     "c = aten.view_as_complex.default(self=@x); v = aten.select.int(self=@c, dim=0, index=1); "
     "a = aten.add_.Tensor(self=@v, other=@v); z = aten.view_as_real.default(self=@c)",
     "z", HONE_OK, "[2,2,2] 0 1 2 3 8 10 12 14"},
    /* transforms: what the core operators and the others say of their scale, sizes and kind */
    {COMPLEX "y = aten._fft_c2c.default(self=@c, dim=[0], normalization=0, forward=true)" SEEN, "z",
     HONE_OK, "[2,2] 2 4 -2 -2"},
    {COMPLEX "y = aten._fft_c2c.default(self=@c, dim=[0], normalization=1, forward=true)" SEEN, "z",
     HONE_OK, "[2,2] 1.41421 2.82843 -1.41421 -1.41421"},
    {COMPLEX "y = aten._fft_c2c.default(self=@c, dim=[0], normalization=2, forward=false)" SEEN,
     "z", HONE_OK, "[2,2] 1 2 -1 -1"},
    {COMPLEX "y = aten.fft_fft.default(self=@c, norm='none')", "y", HONE_E_UNSUP, "norm none"},
    {X, "y = aten.fft_irfft.default(self=@x)", "y", HONE_E_UNSUP, "of these element types"},
    {X, "y = aten.fft_fftn.default(self=@x, s=[2], dim=[0,1])", "y", HONE_E_UNSUP,
     "1 sizes for 2 dimensions"},
    {X, "y = aten.fft_fftn.default(self=@x, s=[-1,3], dim=[0,1])", "y", HONE_OK, NULL},
    {X, "y = aten.fft_fftn.default(self=@x, dim=[0,7])", "y", HONE_E_SHAPE, "dimension 7"},
    {X, "y = aten.fft_fft.default(self=@x, n=-5)", "y", HONE_E_UNSUP, "of no elements"},
    {"x:5:4", "y = aten.fft_fft.default(self=@x)", "y", HONE_OK, NULL},
    {X, "y = aten._fft_r2c.default(self=@x, dim=[1], normalization=0, onesided=false)", "y",
     HONE_OK, NULL},
};

static void complex_numbers(void **state) {
  (void)state;
  check_all(complex_rows, COUNT(complex_rows));
}

/* -- numbers and lists */

static const struct row argument_rows[] = {
    {X, "y = aten.full.default(size=[$x], fill_value=1.5)", "y", HONE_E_UNSUP,
     "a tensor where a number"},
    {X, "y = aten.full.default(size=[1], fill_value=false)", "y", HONE_OK, "[1] 0"},
    {X, "y = aten.full.default(size=[1], fill_value={\"as_sym_float\": {\"as_float\": 1.5}})", "y",
     HONE_OK, "[1] 1.5"},
    {X, "y = aten.full.default(size=[1], fill_value=@x)", "y", HONE_E_UNSUP,
     "computed at run time"},
    {X, "k = aten.zeros.default(size=[2]); y = aten.full.default(size=[1], fill_value=@k)", "y",
     HONE_E_UNSUP, "computed at run time"},
    {X, SIZES "$k = _operator.pos(a=$m)" FULL, "y", HONE_OK, "[1] 3"},
    {X, SIZES "$k = _operator.and_(a=0, b=$n)" FULL, "y", HONE_OK, "[1] 0"},
    {X, SIZES "$k = _operator.and_(a=$n, b=$m)" FULL, "y", HONE_OK, "[1] 1"},
    {X, SIZES "$k = _operator.or_(a=0, b=$n)" FULL, "y", HONE_OK, "[1] 1"},
    {X, "$k = _operator.or_(a=0, b=0)" FULL, "y", HONE_OK, "[1] 0"},
    {"x:7:1,1,2,2", "y = aten.upsample_nearest2d.vec(input=@x, scale_factors=3)", "y", HONE_E_UNSUP,
     "not a list of at most 2 numbers"},
    {"x:7:1,1,2,2", "y = aten.upsample_nearest2d.vec(input=@x, scale_factors=[1.0,1.0,1.0])", "y",
     HONE_E_UNSUP, "not a list of at most 2 numbers"},
    {"x:7:1,1,2,2", "y = aten.upsample_nearest2d.default(self=@x, output_size=[4,2], scales_h=2.0)",
     "y", HONE_OK, "[1,1,4,2] 0 1 0 1 2 3 2 3"},
    {X, "y, i_unused_1 = aten.max.dim(self=@x, dim=1)", "y", HONE_OK, "[2] 2 5"},
    {X, "y, m_unused_1 = aten.var_mean.correction(self=@x, dim=[1], correction=0)", "y", HONE_OK,
     "[2] 0.666667 0.666667"},
    {X, "[] = aten.split.Tensor(self=@x, split_size=1, dim=0)", "x", HONE_E_UNSUP, "into 0"},
    {X,
     "e = aten.slice.Tensor(self=@x, dim=0, start=2); "
     "[a,b] = aten.chunk.default(self=@e, chunks=2, dim=0); y = aten.clone.default(self=@b)",
     "y", HONE_OK, "[0,3]"},
    {"x:7:1,1,2 h:7:1,1,1",
     "y, p, q = aten.lstm.input(input=@x, hx=[@h,@h,@h], params=[@h], has_biases=false)", "y",
     HONE_E_UNSUP, "not a list of at most 2 tensors"},
    {X, "y = aten.index.Tensor(self=@x, indices={\"as_optional_tensors\": [{\"as_none\": true}]})",
     "y", HONE_E_UNSUP, "without indices"},
    {X, "y = aten.index.Tensor(self=@x, indices={\"as_optional_tensors\": [" NONES "]})", "y",
     HONE_E_UNSUP, "too many entries in argument indices"},
    {X " m:12:2,3 v:7:",
     "y = aten.index_put.default(self=@x, indices=[@m], values=@v, accumulate=true)", "y",
     HONE_E_UNSUP, "a mask among several indices"},
    {X,
     "y = aten.add.Tensor(self=@x, other={\"as_optional_tensor\": {\"as_tensor\": {\"name\": "
     "\"x\"}}})",
     "y", HONE_E_UNSUP, "where a number is expected"},
    {X, "y = aten.full.default(size=[1], fill_value={\"as_float\": \"Infinity\"})", "y", HONE_OK,
     "[1] inf"},
    {X, "y = aten.full.default(size=[1], fill_value={\"as_float\": \"NaN\"})", "y", HONE_OK,
     "[1] nan"},
    {X, "y, ? = aten.max.dim(self=@x, dim=1)", "y", HONE_OK, "[2] 2 5"},
    {X, "y = aten.transpose.int(self=@x, dim0=5, dim1=0)", "y", HONE_E_SHAPE, "dimension 5"},
    {X, "y = aten.transpose.int(self=@x, dim0=0, dim1=5)", "y", HONE_E_SHAPE, "dimension 5"},
    {X, "y = aten.permute.default(self=@x, dims=[0,7])", "y", HONE_E_SHAPE, "dimension 7"},
    {X, "[a,b] = aten.split_with_sizes.default(self=@x, split_sizes=[3], dim=1)", "a", HONE_E_UNSUP,
     "1 sizes for 2 results"},
    {"x:7:1,1,2,2,2", "y = aten.avg_pool3d.default(self=@x, kernel_size=[2,2])", "y", HONE_E_UNSUP,
     "kernel_size of 2 entries for 3 dimensions"},
    {"x:7:1,1,2,2", "y = aten.upsample_nearest2d.vec(input=@x, scale_factors=[2.0])", "y",
     HONE_E_UNSUP, "without a size"},
    {X, "y = aten.clamp.default(self=@x, max=2)", "y", HONE_OK, "[2,3] 0 1 2 2 2 2"},
    {X, "y = aten.nan_to_num.default(self=@x, neginf=-1)", "y", HONE_OK, "[2,3] 0 1 2 3 4 5"},
    {"x:12:2", "y = aten.bitwise_or.Scalar(self=@x, other=true)", "y", HONE_OK, "[2] 1 1"},
    {"x:12:2", "y = aten.maximum.default(self=@x, other=@x)", "y", HONE_OK, "[2] 0 1"},
    {"x:12:2", "y = aten.minimum.default(self=@x, other=@x)", "y", HONE_OK, "[2] 0 1"},
    {"x:12:2", "y = aten.mul.Tensor(self=@x, other=@x)", "y", HONE_OK, "[2] 0 1"},
    {"x:12:2", "y = aten.bitwise_xor.Tensor(self=@x, other=@x)", "y", HONE_OK, "[2] 0 0"},
    {X, "y = aten.linalg_vector_norm.default(self=@x, ord={\"as_float\": \"Infinity\"})", "y",
     HONE_OK, "[] 5"},
    {X, "y = aten.linalg_vector_norm.default(self=@x, ord={\"as_float\": \"-Infinity\"})", "y",
     HONE_OK, "[] 0"},
    {X, "y = aten.linalg_vector_norm.default(self=@x, ord=3)", "y", HONE_OK, "[] 6.0822"},
    {X, "y = aten.linalg_vector_norm.default(self=@x, ord={\"as_float\": \"NaN\"})", "y",
     HONE_E_UNSUP, "of order nan"},
    {X, "y = aten.cdist.default(x1=@x, x2=@x, p={\"as_float\": \"Infinity\"})", "y", HONE_OK,
     "[2,2] 0 3 3 0"},
    {"x:7:1,2,3 g:7:1,1,1", "y = aten._weight_norm.default(v=@x, g=@g, dim=-1)", "y", HONE_OK,
     NULL},
    {"x:5:3 i:5:2 s:5:2",
     "y = aten.scatter_reduce.two(self=@x, dim=0, index=@i, src=@s, reduce='mean')", "y",
     HONE_E_UNSUP, "reduce mean of"},
    {"x:5:3 i:5:2 s:5:2",
     "y = aten.scatter_reduce.two(self=@x, dim=0, index=@i, src=@s, reduce='amax', "
     "include_self=false)",
     "y", HONE_E_UNSUP, "reduce amax of"},
    {"x:5:3 i:5:2 s:5:2",
     "y = aten.scatter_reduce.two(self=@x, dim=0, index=@i, src=@s, reduce='sum', "
     "include_self=false)",
     "y", HONE_OK, "[3] 0 1 2"},
    /* operators of other ways through one builder */
    {"x:7:1,3 w:7:3",
     "y = aten.batch_norm.default(input=@x, running_mean=@w, running_var=@w, training=true)", "y",
     HONE_E_UNSUP, "in training"},
    {"x:7:1,3,1 w:7:3",
     "y = aten.instance_norm.default(input=@x, running_mean=@w, running_var=@w, "
     "use_input_stats=false)",
     "y", HONE_OK, NULL},
    {"x:7:2,3 w:7:3",
     "y, m_unused_1, r = aten.native_layer_norm.default(input=@x, normalized_shape=[3], weight=@w, "
     "bias=@w, eps=1e-5); z = aten.relu.default(self=@r)",
     "z", HONE_OK, "[2,1] 1.22474 1.22474"},
    {"x:7:1,2,2",
     "y = aten.im2col.default(self=@x, kernel_size=[2,2], dilation=[1,1], padding=[0,0], "
     "stride=[1,1])",
     "y", HONE_OK, "[4,1] 0 1 2 3"},
    {X, "y = aten.as_strided.default(self=@x, size=[], stride=[])", "y", HONE_OK, "[] 0"},
    {X,
     "y = quantized_decomposed.quantize_per_tensor.default(input=@x, scale=2.0, zero_point=1, "
     "quant_min=-128, quant_max=2, dtype=2)",
     "y", HONE_OK, "[2,3] 1 1 2 2 2 2"},
    {X,
     "y = quantized_decomposed.quantize_per_tensor.default(input=@x, scale=2.0, zero_point=1, "
     "quant_min=2, quant_max=255, dtype=1)",
     "y", HONE_OK, "[2,3] 2 2 2 3 3 3"},
};

static void arguments(void **state) {
  (void)state;
  check_all(argument_rows, COUNT(argument_rows));
}

/* -- repeats by a list */

#define TIMES(list, node) X, "k = " list "; y = aten.repeat_interleave." node

static const struct row repeat_rows[] = {
    {TIMES("aten.arange.default(end=3)", "Tensor(repeats=@k)"), "y", HONE_OK, "[3] 1 2 2"},
    {TIMES("aten.full.default(size=[2], fill_value=2)", "self_Tensor(self=@x, repeats=@k, dim=0)"),
     "y", HONE_OK, "[4,3] 0 1 2 0 1 2 3 4 5 3 4 5"},
    {TIMES("aten.zeros.default(size=[1,1], dtype=5)", "self_Tensor(self=@x, repeats=@k, dim=0)"),
     "y", HONE_E_UNSUP, "with repeats computed at run time"},
    {TIMES("aten.zeros.default(size=[1], dtype=5)", "self_Tensor(self=@x, repeats=@k)"), "y",
     HONE_E_UNSUP, "without dim"},
    {TIMES("aten.zeros.default(size=[3], dtype=5)", "self_Tensor(self=@x, repeats=@k, dim=0)"), "y",
     HONE_E_UNSUP, "3 repeats for 2"},
    {TIMES("aten.full.default(size=[1], fill_value=-1)", "self_Tensor(self=@x, repeats=@k, dim=0)"),
     "y", HONE_E_UNSUP, "too many repeats"},
    {TIMES("aten.full.default(size=[1], fill_value=99999999)",
           "self_Tensor(self=@x, repeats=@k, dim=0)"),
     "y", HONE_E_UNSUP, "too many repeats"},
    {TIMES("aten.full.default(size=[1], fill_value=9999999)",
           "self_Tensor(self=@x, repeats=@k, dim=0)"),
     "y", HONE_E_UNSUP, "too many repeats"},
    {"x:7:",
     "k = aten.zeros.default(size=[1], dtype=5); "
     "y = aten.repeat_interleave.self_Tensor(self=@x, repeats=@k, dim=0)",
     "y", HONE_E_UNSUP, "without dim"},
};

static void repeats(void **state) {
  (void)state;
  check_all(repeat_rows, COUNT(repeat_rows));
}

/* -- ranks and sizes */

static const struct row rank_rows[] = {
    {"x:7:" SIXTEEN, "y = aten.unsqueeze.default(self=@x, dim=0)", "y", HONE_E_UNSUP, "to rank 17"},
    {"x:7:" SIXTEEN, "y = aten.stack.default(tensors=[@x], dim=0)", "y", HONE_E_UNSUP,
     "to rank 17"},
    {"x:7:" SIXTEEN, "y = aten.repeat_interleave.self_int(self=@x, repeats=1, dim=0)", "y",
     HONE_E_UNSUP, "at rank 16"},
    {"x:7:" SIXTEEN, "y = aten.unflatten.int(self=@x, dim=0, sizes=[1,1])", "y", HONE_E_UNSUP,
     "to this rank"},
    {"x:7:" SIXTEEN, "y = aten.unfold.default(self=@x, dimension=0, size=1, step=1)", "y",
     HONE_E_UNSUP, "of this size"},
    {"x:7:3 i:5:" SIXTEEN, "y = aten.index.Tensor(self=@x, indices=[@i])", "y", HONE_E_UNSUP,
     "of rank 16"},
    {"x:7:1,1,1 i:5:" FIFTEEN " v:7:1",
     "y = aten.index_put.default(self=@x, indices=[@i], values=@v)", "y", HONE_E_UNSUP,
     "of rank 17"},
    {"x:7:", "y, i = aten.topk.default(self=@x, k=1)", "y", HONE_OK, NULL},
    {"x:7:3", "y = aten.diagonal.default(self=@x, dim1=0, dim2=0)", "y", HONE_E_UNSUP, "of rank 1"},
    {"x:7:3", "y = aten.group_norm.default(input=@x, num_groups=1)", "y", HONE_E_UNSUP,
     "of rank 1"},
    {X, "y = aten.pixel_shuffle.default(self=@x, upscale_factor=1)", "y", HONE_E_UNSUP,
     "of rank 2"},
    {"x:7:", "y = aten.narrow.default(self=@x, dim=0, start=0, length=0)", "y", HONE_E_SHAPE, ""},
    {"x:7:", "y = aten.argmax.default(self=@x, dim=0)", "y", HONE_OK, "[] 0"},
    {"x:7:3", "y = aten.pdist.default(self=@x)", "y", HONE_E_UNSUP, "of this shape"},
    {"x:7:5000,1", "y = aten.pdist.default(self=@x)", "y", HONE_E_UNSUP, "of this shape"},
    {"q:7:4 k:7:2,4", "y = aten.scaled_dot_product_attention.default(query=@q, key=@k, value=@k)",
     "y", HONE_E_UNSUP, "of rank 2"},
    {"q:7:1,4,2,4",
     "k = aten.zeros.default(size=[1,0,2,4]); y = aten.scaled_dot_product_attention.default("
     "query=@q, key=@k, value=@k, enable_gqa=true)",
     "y", HONE_E_UNSUP, "0 heads"},
    {"x:7:1",
     "e = aten.zeros.default(size=[1,1,0]); "
     "y = aten.adaptive_avg_pool1d.default(self=@e, output_size=[2])",
     "y", HONE_E_UNSUP, "2 from 0"},
    {"x:7:1,1,33,33",
     "y = aten.im2col.default(self=@x, kernel_size=[33,33], dilation=[1,1], padding=[0,0], "
     "stride=[1,1])",
     "y", HONE_E_UNSUP, "with 1089 positions"},
    {"x:7:1,1,33,33",
     "y = aten.im2col.default(self=@x, kernel_size=[2000,1], dilation=[1,1], padding=[0,0], "
     "stride=[1,1])",
     "y", HONE_E_UNSUP, "with this window"},
    {"x:7:1,2,3",
     "y, m, r = aten.native_group_norm.default(input=@x, N=1, C=2, HxW=3, group=1, "
     "eps=1e-5)",
     "y", HONE_E_UNSUP, "its mean or deviation"},
    {X, "y = aten.linalg_matrix_norm.str_ord(self=@x, ord='fro')", "y", HONE_OK, "[] 7.4162"},
    {X, "y = aten.linalg_norm.default(self=@x, ord=2, dim=[0,1])", "y", HONE_E_UNSUP, "Frobenius"},
    {X, "y = aten.linalg_norm.default(self=@x, ord=1, dim=[1])", "y", HONE_OK, "[2] 3 12"},
    {"x:7:3", "y = aten.linalg_norm.default(self=@x, ord=1)", "y", HONE_OK, "[] 3"},
    {"x:6:2 z:7:2", "y = aten.add.Tensor(self=@x, other=@z)", "y", HONE_OK, "[2] 0 2"},
    {X, "y = aten.median.default(self=@x, keepdim=true)", "y", HONE_OK, "[] 2"},
    {X,
     "r = aten.relu.default(self=@x); y = aten.as_strided.default(self=@r, size=[2], stride=[1])",
     "y", HONE_E_UNSUP, "not contiguous"},
    {"x:7:",
     "r = aten.relu.default(self=@x); y = aten.as_strided.default(self=@r, size=[1], stride=[0])",
     "y", HONE_E_UNSUP, "not contiguous"},
    {X, "y = aten.as_strided.default(self=@x, size=[16777216,9223372036854775807], stride=[0,0])",
     "y", HONE_E_UNSUP, "of this size"},
    {X,
     "y = quantized_decomposed.quantize_per_tensor.default(input=@x, scale=2.0, zero_point=1, "
     "quant_min=-100, quant_max=2, dtype=3)",
     "y", HONE_OK, "[2,3] 1 1 2 2 2 2"},
    {X,
     "y = quantized_decomposed.quantize_per_tensor.default(input=@x, scale=2.0, zero_point=1, "
     "quant_min=0, quant_max=254, dtype=1)",
     "y", HONE_OK, "[2,3] 1 1 2 3 3 3"},
    /* recurrent cells */
    {"x:7:2 h:7:1 w:7:1,2 r:7:1,1",
     "y = aten.rnn_tanh_cell.default(input=@x, hx=@h, w_ih=@w, w_hh=@r)", "y", HONE_OK,
     "[1] 0.761594"},
    {"x:7: h:7:1 w:7:1,2 r:7:1,1",
     "y = aten.rnn_tanh_cell.default(input=@x, hx=@h, w_ih=@w, w_hh=@r)", "y", HONE_E_UNSUP,
     "of rank 0"},
    {"x:7:2 h:7:1 w:7:1,2 r:7:1",
     "y = aten.rnn_tanh_cell.default(input=@x, hx=@h, w_ih=@w, w_hh=@r)", "y", HONE_E_UNSUP,
     "with weights of this shape"},
    {"x:7:2 h:7:1 w:7:1,2 r:7:1,1 b:7:1",
     "y = aten.rnn_tanh_cell.default(input=@x, hx=@h, w_ih=@w, w_hh=@r, b_ih=@b)", "y",
     HONE_E_UNSUP, "with only one of two biases"},
    {"x:7:1,1,2 h:7:2,1,1 w:7:4,2 r:7:4,1",
     "y, p, q = aten.lstm.input(input=@x, hx=[@h,@h], params=[@w,@r,@w,@r], has_biases=false, "
     "bidirectional=true)",
     "y", HONE_OK, NULL},
    {"q:7:" SIXTEEN,
     "y = aten.scaled_dot_product_attention.default(query=@q, key=@q, value=@q, enable_gqa=true)",
     "y", HONE_E_UNSUP, "of rank 16"},
    {"x:7:2 h:7:1 w:7:1,2 r:7:1,1 b:7:1",
     "y = aten.rnn_tanh_cell.default(input=@x, hx=@h, w_ih=@w, w_hh=@r, b_ih=@b, b_hh=@r)", "y",
     HONE_E_UNSUP, "with biases of this shape"},
};

static void ranks(void **state) {
  (void)state;
  check_all(rank_rows, COUNT(rank_rows));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(complex_numbers), cmocka_unit_test(arguments),
                                     cmocka_unit_test(repeats), cmocka_unit_test(ranks)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
