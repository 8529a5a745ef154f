/* Nodes of torch.export that place, count, sort, join and transform whole tensors, one row each: sizes at the ends of their
 * types, ranks at the limit, forms in place and copies, and arguments that are not what an operator takes. */
#include "pt2_rows.h"

#define X "x:7:2,3"
#define MOST_SIZE "9223372036854775807"
/* e has no elements, so that its other dimension may be any */
#define EMPTY                                            \
  "x:7:1,1",                                             \
      "z = aten.slice.Tensor(self=@x, dim=0, start=1); " \
      "e = aten.expand.default(self=@z, size=[0," MOST_SIZE "]); "
#define ONES "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1"
#define COMPLEX(inputs, node) inputs, "c = aten.view_as_complex.default(self=@x); " node

/* -- numbers at the ends of their types; huge dimensions together with one of 0 */

static const struct row hostile_rows[] = {
    {EMPTY "v, i = aten.median.dim(self=@e, dim=1)", "v", HONE_OK, "[0]"},
    {EMPTY "[a,b] = aten.chunk.default(self=@e, chunks=2, dim=1); y = aten.clone.default(self=@b)",
     "y", HONE_OK, "[0,4611686018427387903]"},
    {EMPTY "[a,b,c,d] = aten.split.Tensor(self=@e, split_size=" MOST_SIZE ", dim=1)", "a",
     HONE_E_UNSUP, "into 4"},
    {X, "[a,b,c,d] = aten.split.Tensor(self=@x, split_size=1, dim=1)", "a", HONE_E_UNSUP, "into 4"},
    {EMPTY "y = aten.roll.default(self=@e, shifts=[9223372036854775806], dims=[1])", "y", HONE_OK,
     "[0," MOST_SIZE "]"},
    {EMPTY "k = aten.zeros.default(size=[1], dtype=5); "
           "y = aten.repeat_interleave.self_Tensor(self=@e, repeats=@k, dim=1)",
     "y", HONE_E_UNSUP, "1 repeats for " MOST_SIZE},
    {EMPTY "y = aten.fft_irfft.default(self=@e)", "y", HONE_E_UNSUP, "of this size"},
    {EMPTY "y = aten.diag_embed.default(self=@e, offset=1)", "y", HONE_E_LIMIT,
     "axis 1 grows too large"},
    {EMPTY "s = aten.zeros.default(size=[1,2]); y = aten.kron.default(self=@e, other=@s)", "y",
     HONE_E_UNSUP, "of this size"},
    {EMPTY
     "f = aten.unsqueeze.default(self=@e, dim=1); g = aten.unsqueeze.default(self=@f, dim=3); "
     "y = aten.im2col.default(self=@g, kernel_size=[1,1], dilation=[1,1], padding=[1,0], "
     "stride=[1,1])",
     "y", HONE_E_UNSUP, "larger than the image"},
    {EMPTY "i = aten.zeros.default(size=[1,1,2]); h = aten.zeros.default(size=[1,1,1]); "
           "w = aten.zeros.default(size=[4,2]); y, p, q = aten.lstm.input(input=@i, hx=[@h,@h], "
           "params=[@w,@e], has_biases=false, num_layers=1)",
     "y", HONE_E_UNSUP, "with weights of this shape"},
    {"x:7:" ONES " i:5:" ONES, "y = aten.max_unpool2d.default(self=@x, indices=@i, output_size=[])",
     "y", HONE_E_UNSUP, "of these shapes"},
    {COMPLEX("x:7:1,3,2,2", "y = aten.istft.default(self=@c, n_fft=4, hop_length=" MOST_SIZE ")"),
     "y", HONE_E_UNSUP, "every " MOST_SIZE},
    {COMPLEX("x:7:1,3,2,2", "y = aten.istft.default(self=@c, n_fft=4, length=" MOST_SIZE ")"), "y",
     HONE_E_UNSUP, "of this length"},
    {COMPLEX("x:7:1,514,1,2", "y = aten.istft.default(self=@c, n_fft=1026, hop_length=1)"), "y",
     HONE_E_UNSUP, "with frames of 1026 every 1"},
    {EMPTY "y = aten.diag_embed.default(self=@e)", "y", HONE_E_UNSUP, "of this size"},
    {EMPTY "y = aten.unfold.default(self=@e, dimension=1, size=4611686018427387904, step=1)", "y",
     HONE_E_UNSUP, "of this size"},
    {EMPTY "f = aten.unsqueeze.default(self=@e, dim=1); "
           "y = aten.adaptive_avg_pool1d.default(self=@f, output_size=[2])",
     "y", HONE_E_UNSUP, "2 from 9223372036854775807"},
    {EMPTY "q = aten.unsqueeze.default(self=@e, dim=-1); "
           "y = aten.scaled_dot_product_attention.default(query=@q, key=@q, value=@q, "
           "is_causal=true)",
     "y", HONE_E_UNSUP, "of this size"},
    {EMPTY "y = aten.var.correction(self=@e, dim=[1,1])", "y", HONE_E_SHAPE, ""},
    /* an argument of two kinds, the first of which is none */
    {X,
     "y = aten.add.Tensor(self=@x, other={\"as_optional_tensor\": {\"as_none\": true}, "
     "\"as_tensor\": {\"name\": \"x\"}})",
     "y", HONE_E_FORMAT, "without argument other"},
    /* formulas in place, and copies by name */
    {X, "a = aten.copysign_.Tensor(self=@x, other=@x)", "x", HONE_OK, "[2,3] 0 1 2 3 4 5"},
    {X, "a = aten.xlogy_.Tensor(self=@x, other=1)", "x", HONE_OK, "[2,3] 0 0 0 0 0 0"},
    {X, "y = aten.deg2rad_.default(self=@x)", "y", HONE_OK,
     "[2,3] 0 0.0174533 0.0349066 0.0523599 0.0698132 0.0872665"},
    {X, "y = aten.xlogy_copy.Tensor(self=@x, other=1)", "y", HONE_OK, "[2,3] 0 0 0 0 0 0"},
};

static void hostile(void **state) {
  (void)state;
  check_all(hostile_rows, COUNT(hostile_rows));
}

/* -- products, diagonals and lists */

static const struct row algebra_rows[] = {
    {X " w:7:2,3,3", "y = aten.bilinear.default(input1=@x, input2=@x, weight=@w)", "y", HONE_OK,
     "[2,2] 60 141 672 1968"},
    {X, "y = aten.bilinear.default(input1=@x, input2=@x, weight=@x)", "y", HONE_E_UNSUP,
     "of these ranks"},
    {"x:7: w:7:1,1,1", "y = aten.bilinear.default(input1=@x, input2=@x, weight=@w)", "y",
     HONE_E_UNSUP, "of these ranks"},
    {X " s:7:3 w:7:1,3,3", "y = aten.bilinear.default(input1=@x, input2=@s, weight=@w)", "y",
     HONE_E_UNSUP, "of these ranks"},
    {X,
     "y = aten._trilinear.default(i1=@x, i2=@x, i3=@x, expand1=[], expand2=[], expand3=[], "
     "sumdim=[])",
     "y", HONE_OK, "[2,3] 0 1 8 27 64 125"},
    {X, "y = aten.tensordot.default(self=@x, other=@x, dims_self=[0,1], dims_other=[0,1])", "y",
     HONE_OK, "[] 55"},
    {X, "y = aten.tensordot.default(self=@x, other=@x, dims_self=[0,1,0], dims_other=[0,1,0])", "y",
     HONE_E_UNSUP, "of 3 dimensions"},
    {X, "y = aten.tensordot.default(self=@x, other=@x, dims_self=[0], dims_other=[0,1])", "y",
     HONE_E_UNSUP, "1 and 2 dimensions"},
    {"x:7:1,1,1,1,1,1,1,1,1",
     "y = aten.tensordot.default(self=@x, other=@x, dims_self=[], dims_other=[])", "y",
     HONE_E_UNSUP, "more dimensions than 16"},
    {"x:7:", "y = aten.inner.default(self=@x, other=@x)", "y", HONE_E_UNSUP, "of 1 dimensions"},
    {X " s:7:3", "y = aten.kron.default(self=@x, other=@s)", "y", HONE_E_UNSUP, "of these ranks"},
    {"x:7:1,1,1,1,1,1,1,1,1", "y = aten.kron.default(self=@x, other=@x)", "y", HONE_E_UNSUP,
     "of these ranks"},
    {"x:7:5000,5000", "y = aten.trace.default(self=@x)", "y", HONE_E_UNSUP, "of this size"},
    {"x:7:2", "y = aten.trace.default(self=@x)", "y", HONE_E_UNSUP, "of rank 1"},
    {"x:5:2,2", "y = aten.trace.default(self=@x)", "y", HONE_OK, "[] 3"},
    {"x:7:2", "y = aten.diag.default(self=@x, diagonal=-1)", "y", HONE_OK,
     "[3,3] 0 0 0 0 0 0 0 1 0"},
    {X, "y = aten.diag.default(self=@x, diagonal=1)", "y", HONE_OK, "[2] 1 5"},
    {"x:7:1,1,1", "y = aten.diag.default(self=@x)", "y", HONE_E_UNSUP, "of rank 3"},
    {"x:7:", "y = aten.diag_embed.default(self=@x)", "y", HONE_E_UNSUP, "of rank 0"},
    {"x:7:" ONES, "y = aten.diag_embed.default(self=@x)", "y", HONE_E_UNSUP, "of rank 16"},
    {"x:7:2", "y = aten.diag_embed.default(self=@x, offset=99999999)", "y", HONE_E_UNSUP,
     "than the last"},
    {"x:7:2", "y = aten.diag_embed.default(self=@x, offset=-99999999)", "y", HONE_E_UNSUP,
     "than the last"},
    {"x:7:2", "y = aten.diag_embed.default(self=@x, dim1=-1, dim2=-2)", "y", HONE_E_UNSUP,
     "than the last"},
    {"x:7:2", "y = aten.diag_embed.default(self=@x, dim1=0, dim2=0)", "y", HONE_E_UNSUP,
     "than the last"},
    {"x:7: s:7:2", "[a,b] = aten.atleast_3d.Sequence(tensors=[@x,@s])", "b", HONE_OK,
     "[1,2,1] 0 1"},
    {"x:7:", "[a,b] = aten.atleast_1d.Sequence(tensors=[@x])", "a", HONE_E_UNSUP, "of 1 tensors"},
    {X, "y = aten.hstack.default(tensors={\"as_tensors\": []})", "y", HONE_E_UNSUP,
     "of no tensors"},
    {"x:7:2 s:7:2,1", "y = aten.column_stack.default(tensors=[@x,@s])", "y", HONE_OK,
     "[2,2] 0 0 1 1"},
    {"x:7:2", "y = aten.hstack.default(tensors=[@x,@x])", "y", HONE_OK, "[4] 0 1 0 1"},
    {"x:7:" ONES, "y = aten.isin.Tensor_Scalar(elements=@x, test_element=0)", "y", HONE_E_UNSUP,
     "of rank 16"},
    {X, "y = aten.isin.Tensor_Scalar(elements=@x, test_element=2, invert=true)", "y", HONE_OK,
     "[2,3] 1 1 0 1 1 1"},
    {X, "y = aten.isclose.default(self=@x, other=2)", "y", HONE_OK, "[2,3] 0 0 1 0 0 0"},
    {X, "y = aten.median.default(self=@x)", "y", HONE_OK, "[] 2"},
    {X, "v, i = aten.median.dim(self=@x, dim=1, keepdim=true)", "i", HONE_OK, "[2,1] 1 1"},
    {X, "v, i = aten.kthvalue.default(self=@x, k=1, dim=0)", "v", HONE_OK, "[3] 0 1 2"},
    {X, "v, i = aten.kthvalue.default(self=@x, k=0)", "v", HONE_E_UNSUP, "0 of 3"},
    {"x:7:", "v, i = aten.kthvalue.default(self=@x, k=1)", "v", HONE_OK, NULL},
    {X " m:12:2,2", "y = aten.masked_select.default(self=@x, mask=@m)", "y", HONE_E_UNSUP,
     "that do not broadcast"},
    {"x:7: m:12:", "y = aten.masked_select.default(self=@x, mask=@m)", "y", HONE_OK, NULL},
    {"x:7:1,2 i:5:1,2", "y = aten.max_unpool2d.default(self=@x, indices=@i, output_size=[2])", "y",
     HONE_OK, "[1,2] 0 1"},
    {"x:7:1,1,2 i:5:1,1,2", "y = aten.max_unpool2d.default(self=@x, indices=@i, output_size=[2,2])",
     "y", HONE_OK, "[1,2,2] 0 1 0 0"},
    {"x:7:1,1,2 i:5:1,1,2",
     "y = aten.max_unpool2d.default(self=@x, indices=@i, output_size=[-2,2])", "y", HONE_E_UNSUP,
     "of this size"},
    {"x:7:1,1,2 i:5:1,1,2",
     "y = aten.max_unpool2d.default(self=@x, indices=@i, output_size=[" MOST_SIZE ",2])", "y",
     HONE_E_UNSUP, "of this size"},
    {"x:7:2,2 i:5:2,2", "y = aten.max_unpool2d.default(self=@x, indices=@i, output_size=[2,2])",
     "y", HONE_E_UNSUP, "of these shapes"},
    {"x:7:1,1,2 i:5:1,2,1", "y = aten.max_unpool2d.default(self=@x, indices=@i, output_size=[2,2])",
     "y", HONE_E_UNSUP, "of these shapes"},
    {X,
     "k = aten.full.default(size=[1], fill_value=3); $n = aten.item.default(self=@k); "
     "y = aten.full.default(size=[$n], fill_value=1.5)",
     "y", HONE_OK, "[3] 1.5 1.5 1.5"},
    {X, "k = aten.full.default(size=[2], fill_value=3); $n = aten.item.default(self=@k)", "x",
     HONE_E_UNSUP, "computed at run time"},
    {X, "y = aten.as_strided.default(self=@x, size=[2], stride=[1,1])", "y", HONE_E_UNSUP,
     "a view, or of a tensor that is not contiguous"},
    {X, "y = aten.as_strided.default(self=@x, size=[-2], stride=[1])", "y", HONE_E_UNSUP,
     "of this size"},
    {X, "y = aten.as_strided.default(self=@x, size=[99999999], stride=[0])", "y", HONE_E_UNSUP,
     "of this size"},
    {X, "y = aten.as_strided.default(self=@x, size=[0,2], stride=[1,1])", "y", HONE_OK, "[0,2]"},
    {X, "y = aten.as_strided.default(self=@x, size=[2], stride=[-1])", "y", HONE_E_UNSUP,
     "outside its tensor"},
    {X, "y = aten.as_strided.default(self=@x, size=[3], stride=[" MOST_SIZE "])", "y", HONE_E_UNSUP,
     "outside its tensor"},
    {X, "y = aten.as_strided.default(self=@x, size=[2], stride=[" MOST_SIZE "], storage_offset=1)",
     "y", HONE_E_UNSUP, "outside its tensor"},
};

static void algebra(void **state) {
  (void)state;
  check_all(algebra_rows, COUNT(algebra_rows));
}

/* -- sets, comparisons and counts */

/* r: inf, 1, 0.5; n: NaN, 0, 0 */
#define NAN_FIRST "r = aten.reciprocal.default(self=@s); n = aten.sub.Tensor(self=@r, other=@r); "
static const struct row set_rows[] = {
    {X " i:5:1 s:7:2,1", "y = aten.index_add.default(self=@x, dim=1, index=@i, source=@s, alpha=2)",
     "y", HONE_OK, "[2,3] 0 1 2 5 4 5"},
    {X " i:5:1 s:7:1", "y = aten.index_add.default(self=@x, dim=1, index=@i, source=@s)", "y",
     HONE_E_UNSUP, "with an index that does not match"},
    {X " i:5:2 s:7:2,1", "y = aten.index_add.default(self=@x, dim=1, index=@i, source=@s)", "y",
     HONE_E_UNSUP, "with an index that does not match"},
    {"x:7: i:5:1", "y = aten.index_add.default(self=@x, dim=0, index=@i, source=@x)", "y", HONE_OK,
     NULL},
    {X " i:5:2", "y = aten.index_fill.int_Scalar(self=@x, dim=1, index=@i, value=7)", "y", HONE_OK,
     "[2,3] 7 7 2 7 7 5"},
    {X " m:12:2,3,1", "y = aten.masked_scatter.default(self=@x, mask=@m, source=@x)", "y",
     HONE_E_UNSUP, "with a mask that does not match"},
    {X " i:5:2,1", "y = aten.take_along_dim.default(self=@x, indices=@i, dim=1)", "y", HONE_OK,
     "[2,1] 0 4"},
    {X " i:5:2,1", "y = aten.take_along_dim.default(self=@x, indices=@i)", "y", HONE_OK, NULL},
    {X " i:5:2", "y = aten.take_along_dim.default(self=@x, indices=@i, dim=1)", "y", HONE_E_UNSUP,
     "of different ranks"},
    {"x:7: i:5:", "y = aten.take_along_dim.default(self=@x, indices=@i, dim=0)", "y", HONE_E_UNSUP,
     "of different ranks"},
    {X " i:5:3,1", "y = aten.take_along_dim.default(self=@x, indices=@i, dim=1)", "y", HONE_E_UNSUP,
     "of shapes that do not broadcast"},
    {X, "y = aten.tril_indices.default(row=2, col=2)", "y", HONE_OK, "[2,3] 0 1 1 0 0 1"},
    {X, "y = aten.triu_indices.default(row=2, col=2, offset=1)", "y", HONE_OK, "[2,1] 0 1"},
    {X, "y = aten.tril_indices.default(row=2, col=0)", "y", HONE_OK, "[2,0]"},
    {X, "y = aten.tril_indices.default(row=-2, col=2)", "y", HONE_E_UNSUP, "of -2 by 2"},
    {X, "y = aten.tril_indices.default(row=2, col=-2)", "y", HONE_E_UNSUP, "of 2 by -2"},
    {X, "y = aten.tril_indices.default(row=" MOST_SIZE ", col=2)", "y", HONE_E_UNSUP, "by 2"},
    {X, "y = aten.tril_indices.default(row=99999999, col=2)", "y", HONE_E_UNSUP, "by 2"},
    {"i:5:2", "y = aten.one_hot.default(self=@i, num_classes=3)", "y", HONE_OK,
     "[2,3] 1 0 0 0 1 0"},
    {"i:5:2", "y = aten.one_hot.default(self=@i)", "y", HONE_E_UNSUP, "with -1 classes"},
    {"i:5:2", "y = aten.one_hot.default(self=@i, num_classes=99999999)", "y", HONE_E_UNSUP,
     "with 99999999 classes"},
    {"i:5:" ONES, "y = aten.one_hot.default(self=@i, num_classes=3)", "y", HONE_E_UNSUP,
     "of rank 17"},
    {X " s:7:3", "y = aten.bucketize.Tensor(self=@x, boundaries=@s, out_int32=true)", "y", HONE_OK,
     "[2,3] 0 1 2 3 3 3"},
    {X " s:7:3", "y = aten.bucketize.Tensor(self=@x, boundaries=@s, right=true)", "y", HONE_OK,
     "[2,3] 1 2 3 3 3 3"},
    {"s:7:3", "y = aten.bucketize.Scalar(self=1.5, boundaries=@s)", "y", HONE_OK, "[] 2"},
    {"s:7:3", NAN_FIRST "y = aten.bucketize.Tensor(self=@n, boundaries=@s)", "y", HONE_OK,
     "[3] 3 0 0"},
    {"s:7:3", NAN_FIRST "y = aten.bucketize.Tensor(self=@n, boundaries=@s, right=true)", "y",
     HONE_OK, "[3] 3 1 1"},
    {"s:7:3",
     NAN_FIRST "t = aten.threshold.default(self=@n, threshold=0, value=5); y = "
               "aten.isnan.default(self=@t)",
     "y", HONE_OK, "[3] 1 0 0"},
    {"s:7:3", "y = aten.floor_divide.Scalar(self=@s, other=0.1)", "y", HONE_OK, "[3] 0 9 19"},
    {"s:7:3",
     NAN_FIRST "q = aten.floor_divide.Scalar(self=@r, other=2); y = aten.isnan.default(self=@q)",
     "y", HONE_OK, "[3] 1 0 0"},
    {"x:5:2 s:7:3", "y = aten.bucketize.Tensor(self=@x, boundaries=@s)", "y", HONE_OK, "[2] 0 1"},
    {X, "y = aten.searchsorted.Tensor(sorted_sequence=@x, self=@x, side='right')", "y", HONE_OK,
     "[2,3] 1 2 3 1 2 3"},
    {X, "y = aten.searchsorted.Tensor(sorted_sequence=@x, self=@x, sorter=@x)", "y", HONE_E_UNSUP,
     "with a sorter"},
    {X " s:7:1,2,3", "y = aten.searchsorted.Tensor(sorted_sequence=@s, self=@x)", "y", HONE_E_UNSUP,
     "of rank 2 in lists of rank 3"},
    {X " s:7:", "y = aten.bucketize.Tensor(self=@x, boundaries=@s)", "y", HONE_E_UNSUP,
     "of rank 2 in lists of rank 0"},
    {X, "y = aten.histc.default(self=@x, bins=2, min=1, max=4)", "y", HONE_OK, "[2] 2 2"},
    {X, "y = aten.histc.default(self=@x, bins=0, min=1, max=4)", "y", HONE_E_UNSUP, "with 0 bins"},
    {X, "y = aten.histc.default(self=@x, bins=99999, min=1, max=4)", "y", HONE_E_UNSUP,
     "with 99999 bins"},
    {X, "y = aten.histc.default(self=@x, bins=2)", "y", HONE_E_UNSUP, "min and max from the data"},
    {"x:7:2,2 w:7:1,2,2 e:4:1", "y = aten._grouped_mm.default(self=@x, mat2=@w, offs=@e, bias=@x)",
     "y", HONE_E_UNSUP, "with a bias"},
    {"x:7:2,2 w:7:2,2 e:4:1", "y = aten._grouped_mm.default(self=@x, mat2=@w, offs=@e)", "y",
     HONE_E_UNSUP, "of these ranks"},
    {"x:7:2,2 w:7:1,2,2 e:4:", "y = aten._grouped_mm.default(self=@x, mat2=@w, offs=@e)", "y",
     HONE_E_UNSUP, "of these ranks"},
    {"x:7:2 w:7:1,2,2 e:4:1", "y = aten._grouped_mm.default(self=@x, mat2=@w, offs=@e)", "y",
     HONE_E_UNSUP, "of these ranks"},
    {X, "y = aten.count_nonzero.default(self=@x, dim=1)", "y", HONE_OK, "[2] 2 3"},
    {X, "y = aten.count_nonzero.dim_IntList(self=@x, dim=[0,1])", "y", HONE_OK, "[] 5"},
    {X, "y = aten.count_nonzero.dim_IntList(self=@x, dim=[2])", "y", HONE_E_SHAPE, "dimension 2"},
    {X " s:7:1,3", "y = aten.cdist.default(x1=@x, x2=@s, p=1)", "y", HONE_OK, "[2,1] 0 9"},
    {"x:7:3 s:7:1,3", "y = aten.cdist.default(x1=@x, x2=@s)", "y", HONE_E_UNSUP, "of rank 1"},
    {X " s:7:3", "y = aten.cdist.default(x1=@x, x2=@s)", "y", HONE_E_UNSUP, "of rank 2"},
    {X, "y = aten.cdist.default(x1=@x, x2=@x, p=0)", "y", HONE_E_UNSUP, "of order 0"},
    {X " s:7:2,2", "y = aten.cosine_similarity.default(x1=@x, x2=@s)", "y", HONE_E_UNSUP,
     "that do not broadcast"},
    {X " s:7:2,2", "y = aten.linalg_cross.default(self=@x, other=@s)", "y", HONE_E_UNSUP,
     "that do not broadcast"},
    {X, "y = aten.cross.default(self=@x, other=@x)", "y", HONE_OK, "[2,3] 0 0 0 0 0 0"},
    {X, "y = aten.linalg_cross.default(self=@x, other=@x, dim=0)", "y", HONE_E_UNSUP,
     "is not three"},
    {"x:7:", "y = aten.cross.default(self=@x, other=@x)", "y", HONE_E_UNSUP, "is not three"},
    {X, "y = aten.cdist.default(x1=@x, x2=@x, p=3.0)", "y", HONE_OK, "[2,2] 0 4.32675 4.32675 0"},
};

static void sets(void **state) {
  (void)state;
  check_all(set_rows, COUNT(set_rows));
}

/* -- bags, detection, quantisation */

#define BAG(offsets, rest)              \
  "o = aten.arange.start_step(" offsets \
  "); "                                 \
  "y, a, b, c = aten.embedding_bag.default(weight=@x, indices=@i, offsets=@o" rest ")"

static const struct row bag_rows[] = {
    {X " i:5:2", BAG("start=0, end=2, step=1", ""), "y", HONE_OK, "[2,3] 0 1 2 3 4 5"},
    {X " i:5:2", BAG("start=0, end=1, step=1", ", mode=1"), "y", HONE_OK, "[1,3] 1.5 2.5 3.5"},
    {X " i:5:2", BAG("start=0, end=3, step=2", ", include_last_offset=true"), "y", HONE_OK,
     "[1,3] 3 5 7"},
    {X " i:5:2 w:7:2", BAG("start=0, end=1, step=1", ", per_sample_weights=@w"), "y", HONE_OK,
     "[1,3] 3 4 5"},
    {X " i:5:2", BAG("start=0, end=1, step=1", ", mode=3"), "y", HONE_E_UNSUP, "with mode 3"},
    {X " i:5:2", BAG("start=0, end=1, step=1", ", mode=-1"), "y", HONE_E_UNSUP, "with mode -1"},
    {X " i:5:2", BAG("start=0, end=1, step=1", ", padding_idx=0"), "y", HONE_E_UNSUP, "padding"},
    {X " i:5:2", BAG("start=1, end=3, step=1", ""), "y", HONE_E_UNSUP, "unequal length"},
    {X " i:5:2", BAG("start=0, end=0, step=1", ""), "y", HONE_E_UNSUP, "empty bags"},
    {X " i:5:2", BAG("start=0, end=0, step=1", ", include_last_offset=true"), "y", HONE_E_UNSUP,
     "empty bags"},
    {X " i:5:0", BAG("start=0, end=1, step=1", ""), "y", HONE_E_UNSUP, "empty bags"},
    {X " i:5:2,1", BAG("start=0, end=1, step=1", ""), "y", HONE_E_UNSUP, "only at run time"},
    {"x:7:3 i:5:2", BAG("start=0, end=1, step=1", ""), "y", HONE_E_UNSUP, "only at run time"},
    {X " i:5:2", "y, a, b, c = aten.embedding_bag.default(weight=@x, indices=@i, offsets=@i)", "y",
     HONE_E_UNSUP, "only at run time"},
    {"x:7:1,1,2,2 r:7:1,4", "y = torchvision.roi_align.default(input=@x, rois=@r)", "y",
     HONE_E_UNSUP, "of these boxes"},
    {"x:7:1,1,2,2 r:7:1,5",
     "y = torchvision.roi_align.default(input=@x, rois=@r, pooled_height=" MOST_SIZE
     ", sampling_ratio=2)",
     "y", HONE_E_SHAPE, "do not fit"},
    {"x:7:1",
     "i = aten.zeros.default(size=[1,0,2,2]); w = aten.zeros.default(size=[0,0,1,1]); "
     "o = aten.zeros.default(size=[1,2,2,2]); b = aten.zeros.default(size=[0]); "
     "y = torchvision.deform_conv2d.default(input=@i, weight=@w, offset=@o, mask=@o, bias=@b, "
     "offset_groups=" MOST_SIZE ")",
     "y", HONE_E_SHAPE, "do not fit together"},
    {"x:7:1,1,2,2 r:7:5", "y = torchvision.roi_align.default(input=@x, rois=@r)", "y", HONE_E_UNSUP,
     "of these boxes"},
    {X,
     "y = quantized_decomposed.quantize_per_tensor.default(input=@x, scale=2.0, zero_point=1, "
     "quant_min=-127, quant_max=2, dtype=2)",
     "y", HONE_OK, "[2,3] 1 1 2 2 2 2"},
    {X,
     "y = quantized_decomposed.quantize_per_tensor.default(input=@x, scale=2.0, zero_point=1, "
     "quant_min=0, quant_max=255, dtype=1)",
     "y", HONE_OK, "[2,3] 1 1 2 3 3 3"},
    {X,
     "y = quantized_decomposed.quantize_per_tensor.default(input=@x, scale=2.0, zero_point=1, "
     "dtype=7)",
     "y", HONE_E_UNSUP, "to dtype 7"},
    {X, "y = quantized_decomposed.quantize_per_tensor.default(input=@x, scale=2.0, zero_point=1)",
     "y", HONE_E_UNSUP, "to dtype -1"},
    {"x:2:2,3 s:7:3",
     "y = quantized_decomposed.dequantize_per_channel.default(input=@x, scales=@s, axis=1)", "y",
     HONE_OK, "[2,3] 0 1 4 0 4 10"},
};

static void bags(void **state) {
  (void)state;
  check_all(bag_rows, COUNT(bag_rows));
}

/* -- signals, running extremes, recurrent layers */

static const struct row signal_rows[] = {
    {X, "y = aten.hann_window.default(window_length=4)", "y", HONE_OK, "[4] 0 0.5 1 0.5"},
    {X, "y = aten.hann_window.periodic(window_length=3, periodic=false)", "y", HONE_OK,
     "[3] 0 1 0"},
    {X, "y = aten.hamming_window.periodic_alpha(window_length=2, periodic=true, alpha=1.0)", "y",
     HONE_OK, "[2] 0.54 1.46"},
    {X, "y = aten.hann_window.default(window_length=99999999)", "y", HONE_E_UNSUP,
     "of this length"},
    {X, "y = aten.hann_window.default(window_length=2, dtype=5)", "y", HONE_E_UNSUP, "or type"},
    {"x:7:4 w:7:3", "y = aten.stft.center(self=@x, n_fft=2, hop_length=1, window=@w)", "y",
     HONE_E_UNSUP, "window of another length"},
    {"x:7:4 w:7:2,1", "y = aten.stft.center(self=@x, n_fft=2, hop_length=1, window=@w)", "y",
     HONE_E_UNSUP, "window of another length"},
    {"x:7:4 w:3:2", "y = aten.stft.center(self=@x, n_fft=2, hop_length=1, window=@w)", "y",
     HONE_E_TYPE, ""},
    {"x:7:4", "y = aten.stft.center(self=@x, n_fft=0)", "y", HONE_E_UNSUP, "with frames of 0"},
    {"x:7:4", "y = aten.stft.center(self=@x, n_fft=4, win_length=5)", "y", HONE_E_UNSUP,
     "with frames of 4"},
    {"x:7:4", "y = aten.stft.center(self=@x, n_fft=4, win_length=0)", "y", HONE_E_UNSUP,
     "with frames of 4"},
    {"x:7:1,1,4", "y = aten.stft.center(self=@x, n_fft=4)", "y", HONE_E_UNSUP, "of rank 3"},
    {"x:7:4", "y = aten.stft.center(self=@x, n_fft=4, pad_mode='circular')", "y", HONE_E_UNSUP,
     "mode circular"},
    {"x:7:4",
     "c = aten.stft.center(self=@x, n_fft=2, hop_length=2, center=false, normalized=true, "
     "return_complex=true); y = aten.real.default(self=@c)",
     "y", HONE_OK, "[2,2] 0.707107 3.53553 -0.707107 -0.707107"},
    {"x:7:2",
     "c = aten.stft.center(self=@x, n_fft=2, hop_length=2, pad_mode='constant', "
     "return_complex=true); y = aten.real.default(self=@c)",
     "y", HONE_OK, "[2,2] 0 1 0 1"},
    {COMPLEX("x:7:3,2,2", "y = aten.istft.default(self=@c, n_fft=4, onesided=false)"), "y",
     HONE_E_UNSUP, "half spectra"},
    {COMPLEX("x:7:3,2,2", "y = aten.istft.default(self=@c, n_fft=4, return_complex=true)"), "y",
     HONE_E_UNSUP, "half spectra"},
    {COMPLEX("x:7:3,2,2", "y = aten.istft.default(self=@c, n_fft=8)"), "y", HONE_E_UNSUP,
     "half spectra"},
    {COMPLEX("x:7:3,0,2", "y = aten.istft.default(self=@c, n_fft=4)"), "y", HONE_E_UNSUP,
     "half spectra"},
    {COMPLEX("x:7:2,2", "y = aten.istft.default(self=@c, n_fft=2, hop_length=1)"), "y",
     HONE_E_UNSUP, "half spectra"},
    {COMPLEX("x:7:2,2,2",
             "y = aten.istft.default(self=@c, n_fft=2, hop_length=2, center=false, length=5)"),
     "y", HONE_OK, "[5] 2 -2 4 -2 0"},
    {X, "v, i = aten.cummax.default(self=@x, dim=1)", "i", HONE_OK, "[2,3] 0 1 2 0 1 2"},
    {"x:5:2,3", "v, i = aten.cummin.default(self=@x, dim=1)", "v", HONE_OK, "[2,3] 0 0 0 3 3 3"},
    {"x:7:", "v, i = aten.cummax.default(self=@x, dim=0)", "v", HONE_OK, NULL},
    {"x:7:2,0", "v, i = aten.cummax.default(self=@x, dim=1)", "v", HONE_E_UNSUP, "of no elements"},
    {"x:5:1", "y = aten.logcumsumexp.default(self=@x, dim=0)", "y", HONE_OK, "[1] 0"},
    {"x:7:2",
     "l = aten.mul.Tensor(self=@x, other=-30); m = aten.logaddexp.default(self=@l, other=0); "
     "s = aten.mul.Tensor(self=@m, other=1e14); y = aten.round.default(self=@s)",
     "y", HONE_OK, "[2] 6.93147e+13 9"},
    {"x:7:2",
     "l = aten.mul.Tensor(self=@x, other=1e-12); m = aten.special_xlog1py.default(self=@x, "
     "other=@l); "
     "s = aten.mul.Tensor(self=@m, other=1e14); y = aten.round.default(self=@s)",
     "y", HONE_OK, "[2] 0 100"},
    {"x:7:2 h:7:3 w:7:12,2 r:7:12,3",
     "h1, c1 = aten.lstm_cell.default(input=@x, hx=[@h], w_ih=@w, w_hh=@r)", "h1", HONE_E_UNSUP,
     "with 1 states"},
    {"x:7:1,1,2 h:7:1,3 w:7:9,2 r:7:9,3",
     "y = aten.gru_cell.default(input=@x, hx=@h, w_ih=@w, w_hh=@r)", "y", HONE_E_UNSUP,
     "of rank 3"},
    {"x:7:1,2 h:7:3 w:7:9,2 r:7:9,3",
     "y = aten.gru_cell.default(input=@x, hx=@h, w_ih=@w, w_hh=@r)", "y", HONE_E_UNSUP,
     "of states of another rank"},
    {"x:7:1,2 h:7:1,3 w:7:9 r:7:9,3",
     "y = aten.gru_cell.default(input=@x, hx=@h, w_ih=@w, w_hh=@r)", "y", HONE_E_UNSUP,
     "with weights of this shape"},
    {"x:7:1,1,2 h:7:1,1,1 w:7:4,2 r:7:4,1",
     "y, p, q = aten.lstm.input(input=@x, hx=[@h], params=[@w,@r], has_biases=false)", "y",
     HONE_E_UNSUP, "with 1 states"},
    {"x:7:1,1,2 h:7:1,1,1 w:7:4,2 r:7:4,1",
     "y, p, q = aten.lstm.input(input=@x, hx=[@h,@h], params=[@w,@r], has_biases=false, "
     "num_layers=65)",
     "y", HONE_E_UNSUP, "of 65 layers"},
    {"x:7:1,1,2 h:7:1,1,1 w:7:4,2 r:7:4,1",
     "y, p, q = aten.lstm.input(input=@x, hx=[@h,@h], params=[@w,@r], has_biases=false, "
     "train=true, dropout=0.5)",
     "y", HONE_E_UNSUP, "dropout in training"},
    {"x:7:1,2 h:7:1,1,1 w:7:4,2 r:7:4,1",
     "y, p, q = aten.lstm.input(input=@x, hx=[@h,@h], params=[@w,@r], has_biases=false)", "y",
     HONE_E_UNSUP, "packed or unbatched"},
    {"x:7:1,1,2 h:7:1,1 w:7:4,2 r:7:4,1",
     "y, p, q = aten.lstm.input(input=@x, hx=[@h,@h], params=[@w,@r], has_biases=false)", "y",
     HONE_E_UNSUP, "packed or unbatched"},
    /* with a projection: weights and states of another rank */
    {"x:7:1,1,2 h:7:1,1,1 c:7:1,1,2 w:7:8,2 r:7:8,1 p:7:2",
     "y, a, b = aten.lstm.input(input=@x, hx=[@h,@c], params=[@w,@r,@p], has_biases=false)", "y",
     HONE_E_UNSUP, "with weights of this shape"},
    {"x:7:1,1,2 h:7:1,1,1 c:7:1,2 w:7:8,2 r:7:8,1 p:7:1,2",
     "y, a, b = aten.lstm.input(input=@x, hx=[@h,@c], params=[@w,@r,@p], has_biases=false)", "y",
     HONE_E_UNSUP, "of states of another rank"},
    {"x:7:0,1,2 h:7:1,1,1 c:7:1,1,2 w:7:8,2 r:7:8,1 p:7:1,2",
     "y, a, b = aten.lstm.input(input=@x, hx=[@h,@c], params=[@w,@r,@p], has_biases=false)", "y",
     HONE_E_FORMAT, "Concat"},
};

static void signals(void **state) {
  (void)state;
  check_all(signal_rows, COUNT(signal_rows));
}

/* -- bits, parts, distinct numbers, plain recurrent layers */

#define SHIFT(way, by) "y = aten.bitwise_" way "_shift.Tensor_Scalar(self=@x, other=" by ")"
#define CHOICE(how)                                                                  \
  "$n = aten.sym_size.int(self=@x, dim=0); $m = aten.sym_size.int(self=@x, dim=1); " \
  "$c = _operator." how                                                              \
  "(a=$m, b=$n); $k = torch.sym_ite(b=$c, t=$n, f=$m); y = "                         \
  "aten.full.default(size=[1], fill_value=$k)"
#define LESS2 "x = aten.sub.Scalar(self=@z, other=2); "

static const struct row bit_rows[] = {
    /* bits that leave: PyTorch keeps none, of a negative number its sign */
    {"x:5:4", SHIFT("left", "63"), "y", HONE_OK, "[4] 0 -9.22337e+18 0 -9.22337e+18"},
    {"x:5:4", SHIFT("left", "64"), "y", HONE_OK, "[4] 0 0 0 0"},
    {"x:5:4", SHIFT("left", "-1"), "y", HONE_OK, "[4] 0 0 0 0"},
    {"x:3:4", SHIFT("left", "32"), "y", HONE_OK, "[4] 0 0 0 0"},
    {"x:4:4", SHIFT("left", "31"), "y", HONE_OK, "[4] 0 -2.14748e+09 0 -2.14748e+09"},
    {"z:5:4", LESS2 SHIFT("right", "1"), "y", HONE_OK, "[4] -1 -1 0 0"},
    {"z:5:4", LESS2 SHIFT("right", "63"), "y", HONE_OK, "[4] -1 -1 0 0"},
    {"z:5:4", LESS2 SHIFT("right", "-1"), "y", HONE_OK, "[4] -1 -1 0 0"},
    {"x:1:4", SHIFT("right", "8"), "y", HONE_OK, "[4] 0 0 0 0"},
    {X, SHIFT("right", "1"), "y", HONE_E_UNSUP, "of f32"},
    {"x:5:4", "a = aten.__iand__.Scalar(self=@x, other=1); y = aten.clone.default(self=@x)", "y",
     HONE_OK, "[4] 0 1 0 1"},
    {"x:5:4", "a = aten.__ilshift__.Scalar(self=@x, other=1)", "a", HONE_OK, "[4] 0 2 4 6"},
    {X, "a = aten.unsqueeze_.default(self=@x, dim=0)", "a", HONE_OK, "[1,2,3] 0 1 2 3 4 5"},
    {X, "a = aten.t_.default(self=@x); b = aten.add_.Scalar(self=@a, other=1)", "x", HONE_OK,
     "[2,3] 1 2 3 4 5 6"},
    {"x:7:4,2", CHOICE("lt"), "y", HONE_OK, "[1] 4"},
    {"x:7:4,2", CHOICE("gt"), "y", HONE_OK, "[1] 2"},
    {X,
     "[a,b] = aten.tensor_split.sections(self=@x, sections=2, dim=1); y = "
     "aten.clone.default(self=@b)",
     "y", HONE_OK, "[2,1] 2 5"},
    {X, "[a,b] = aten.tensor_split.sections(self=@x, sections=3, dim=1)", "a", HONE_E_UNSUP,
     "into 2"},
    {X,
     "[a,b] = aten.tensor_split.indices(self=@x, indices=[-2], dim=1); y = "
     "aten.clone.default(self=@b)",
     "y", HONE_OK, "[2,2] 1 2 4 5"},
    {X, "[a,b,c] = aten.tensor_split.indices(self=@x, indices=[1,9], dim=1)", "b", HONE_OK,
     "[2,2] 1 2 4 5"},
    {X, "[a,b,c] = aten.tensor_split.indices(self=@x, indices=[2,1], dim=1)", "a", HONE_E_UNSUP,
     "indices that do not ascend"},
    {X, "[a,b] = aten.tensor_split.indices(self=@x, indices=[1,2], dim=1)", "a", HONE_E_UNSUP,
     "2 sizes for 2 results"},
    {X, "[a,b] = aten.unsafe_split_with_sizes.default(self=@x, split_sizes=[1,2], dim=1)", "b",
     HONE_OK, "[2,2] 1 2 4 5"},
    {"x:7:1,4,1,1", "y = aten.native_channel_shuffle.default(self=@x, groups=2)", "y", HONE_OK,
     "[1,4,1,1] 0 2 1 3"},
    {"x:7:4", "y = aten.searchsorted.Scalar(sorted_sequence=@x, self=1.5)", "y", HONE_OK, "[] 2"},
    {X, "y = aten.lift.default(self=@x)", "y", HONE_OK, "[2,3] 0 1 2 3 4 5"},
    {"x:5:4",
     "u, i, c = aten._unique2.default(self=@x, sorted=true, return_inverse=false, "
     "return_counts=true)",
     "i", HONE_OK, "[0]"},
    {"x:5:4", "u, i, c = aten._unique2.default(self=@x, return_inverse=true)", "i", HONE_OK,
     "[4] 0 1 2 3"},
    {"x:5:4", "u, i, c = aten._unique2.default(self=@x, return_inverse=true)", "c", HONE_OK, "[0]"},
    {X, "y = aten.gelu.default(self=@x, approximate='sigmoid')", "y", HONE_E_UNSUP,
     "approximate sigmoid"},
    {"x:7:1,2,2",
     "y = aten.batch_norm.default(input=@x, weight=none, bias=none, running_mean=none, "
     "running_var=none, training=true, momentum=0.0, eps=0.75)",
     "y", HONE_OK, "[1,2,2] -0.5 0.5 -0.5 0.5"},
    {"v:7:2,2 g:7:2,1", "y, n = aten._weight_norm_interface.default(v=@v, g=@g)", "n", HONE_OK,
     "[2,1] 1 3.60555"},
    {"v:7:2,2 g:7:2,1", "y, n = aten._weight_norm_interface.default(v=@v, g=@g)", "y", HONE_OK,
     "[2,2] 0 0 0.5547 0.83205"},
    {"x:7:2 h:7:1 w:7:1,2 r:7:1,1",
     "y = aten.rnn_relu_cell.default(input=@x, hx=@h, w_ih=@w, w_hh=@r)", "y", HONE_OK, "[1] 1"},
    {"x:7:1,1,2 h:7:2,1,1 w:7:1,2 r:7:1,1",
     "y, p = aten.rnn_relu.input(input=@x, hx=@h, params=[@w,@r,@w,@r], has_biases=false, "
     "num_layers=1, bidirectional=true)",
     "y", HONE_OK, "[1,1,2] 1 1"},
};

static void bits(void **state) {
  (void)state;
  check_all(bit_rows, COUNT(bit_rows));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(hostile), cmocka_unit_test(algebra), cmocka_unit_test(sets),
      cmocka_unit_test(bags),    cmocka_unit_test(signals), cmocka_unit_test(bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
