/* Nodes of torch.export one row each: numbers that a graph computes, what is written in place and seen through views,
 * arguments that are not what an operator takes. What is read is run by the reference and compared. */
#include "pt2_rows.h"

#define X "x:7:2,3"
#define SIZES "$n = aten.sym_size.int(self=@x, dim=0); $m = aten.sym_size.int(self=@x, dim=1); "
#define FULL "; y = aten.full.default(size=[1], fill_value=$k)"

static const struct row number_rows[] = {
    {X, SIZES "$k = _operator.add(a=$n, b=$m)" FULL, "y", HONE_OK, "[1] 5"},
    {X, SIZES "$k = _operator.sub(a=$n, b=$m)" FULL, "y", HONE_OK, "[1] -1"},
    {X, SIZES "$k = _operator.mul(a=$n, b=$m)" FULL, "y", HONE_OK, "[1] 6"},
    {X, SIZES "$k = _operator.lt(a=$n, b=$m)" FULL, "y", HONE_OK, "[1] 1"},
    {X, SIZES "$k = _operator.gt(a=$n, b=$m)" FULL, "y", HONE_OK, "[1] 0"},
    {X, SIZES "$k = _operator.eq(a=$n, b=2)" FULL, "y", HONE_OK, "[1] 1"},
    {X, SIZES "$k = _operator.ne(a=$n, b=2)" FULL, "y", HONE_OK, "[1] 0"},
    {X, SIZES "$k = _operator.le(a=$n, b=2)" FULL, "y", HONE_OK, "[1] 1"},
    {X, SIZES "$k = _operator.ge(a=$n, b=$m)" FULL, "y", HONE_OK, "[1] 0"},
    {X, SIZES "$k = _operator.mod(a=-7, b=$m)" FULL, "y", HONE_OK, "[1] 2"},
    {X, SIZES "$k = _operator.mod(a=5, b=9223372036854775807)" FULL, "y", HONE_OK, "[1] 5"},
    {X, SIZES "$k = _operator.floordiv(a=-7, b=$m)" FULL, "y", HONE_OK, "[1] -3"},
    {X, SIZES "$k = _operator.floordiv(a=7, b=$m)" FULL, "y", HONE_OK, "[1] 2"},
    {X, SIZES "$k = _operator.floordiv(a=$n, b=0)" FULL, "y", HONE_E_UNSUP, "of 2 and 0"},
    {X, SIZES "$k = _operator.mod(a=$m, b=-2)" FULL, "y", HONE_OK, "[1] -1"},
    {X, SIZES "$k = _operator.mod(a=$n, b=0)" FULL, "y", HONE_E_UNSUP, "of 2 and 0"},
    {X, SIZES "$k = _operator.truediv(a=$n, b=0)" FULL, "y", HONE_E_UNSUP, "of 2 and 0"},
    {X, SIZES "$h = _operator.truediv(a=$m, b=$n); $k = torch.sym_int(a=$h)" FULL, "y", HONE_OK,
     "[1] 1"},
    {X, SIZES "$k = _operator.neg(a=$m)" FULL, "y", HONE_OK, "[1] -3"},
    {X, SIZES "$k = _operator.pow(a=$m, b=$n)" FULL, "y", HONE_OK, "[1] 9"},
    {X, SIZES "$k = torch.sym_max(a=$n, b=$m)" FULL, "y", HONE_OK, "[1] 3"},
    {X, SIZES "$k = torch.sym_min(a=$n, b=$m)" FULL, "y", HONE_OK, "[1] 2"},
    {X, SIZES "$k = torch.sym_not(a=$n)" FULL, "y", HONE_OK, "[1] 0"},
    {X, SIZES "$k = torch.sym_sqrt(a=4)" FULL, "y", HONE_OK, "[1] 2"},
    {X, SIZES "$k = math.trunc(x=-1.5)" FULL, "y", HONE_OK, "[1] -1"},
    {X, SIZES "$k = _operator.and_(a=$n, b=0)" FULL, "y", HONE_OK, "[1] 0"},
    {X, SIZES "$k = _operator.or_(a=$n, b=0)" FULL, "y", HONE_OK, "[1] 1"},
    {X, SIZES "$k = _operator.mul(a=4611686018427387904, b=2)" FULL, "y", HONE_E_UNSUP,
     "of 4.61169e+18 and 2"},
    {X, SIZES "$k = _operator.add(a=9223372036854775807, b=$n)" FULL, "y", HONE_E_UNSUP, "and 2"},
    {X, SIZES "$k = _operator.sub(a=-9223372036854775807, b=$n)" FULL, "y", HONE_E_UNSUP, "and 2"},
    {X, SIZES "$k = _operator.add(a=@x, b=1)" FULL, "y", HONE_E_UNSUP, "number"},
    {X, SIZES "$k = _operator.add(a=$n, b=1e300)" FULL, "y", HONE_E_UNSUP, "of 2 and 1e+300"},
    {X, SIZES "$k = _operator.add(a=$n, b=$nobody)" FULL, "y", HONE_E_FORMAT, "reads \"nobody\""},
    {X, SIZES "? = _operator.add(a=$n, b=1)", "x", HONE_E_FORMAT, "without a name for its result"},
    {X, SIZES "$n = _operator.add(a=$n, b=1)", "x", HONE_E_FORMAT, "defined twice"},
    {X, "$k = aten.sym_numel.default(self=@x)" FULL, "y", HONE_OK, "[1] 6"},
    {X, "$k = aten.sym_size.int(self=@x, dim=-1)" FULL, "y", HONE_OK, "[1] 3"},
    {X, "$k = aten.sym_size.int(self=@x, dim=2)" FULL, "y", HONE_E_SHAPE, "2"},
    {"x:7:", "$k = aten.sym_size.int(self=@x, dim=0)" FULL, "y", HONE_OK, NULL},
    {X, SIZES "y = aten.full.default(size=[$n,2], fill_value=1.5)", "y", HONE_OK,
     "[2,2] 1.5 1.5 1.5 1.5"},
    {X, "y = aten.full.default(size=[9.25e18], fill_value=1.5)", "y", HONE_E_LIMIT,
     "shape [9223372036854775807]"},
    {X, "y = aten.full.default(size=[-9.25e18], fill_value=1.5)", "y", HONE_E_SHAPE,
     "-9223372036854775808"},
    {X, "y = aten.full.default(size=[1], fill_value={\"as_float\": \"-Infinity\"}, dtype=5)", "y",
     HONE_E_NUM, "-inf as an integer"},
    {X, "y = aten.full.default(size=[1e300], fill_value=1.5)", "y", HONE_E_UNSUP,
     "argument size holds 1e+300"},
    {X, "y = aten.full.default(size=[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1], fill_value=1.5)", "y",
     HONE_E_UNSUP, "no list of at most"},
    {X, SIZES, "n", HONE_E_UNSUP, "an output that is a number"},
    {X, SIZES "y = aten.relu.default(self=@n)", "y", HONE_E_UNSUP, "argument self is a number"},
    {X, SIZES "y = aten.cat.default(tensors=[@x,@n], dim=0)", "y", HONE_E_UNSUP, "holds a number"},
    {X, "y = aten.cat.default(tensors=[@x,@z], dim=0)", "y", HONE_E_FORMAT, "reads \"z\""},
    {X, "y = aten.relu.default(self=@x); y = aten.relu.default(self=@x)", "y", HONE_E_FORMAT,
     "defined twice"},
    {X, "y = aten.relu.default(self=@y)", "y", HONE_E_FORMAT, "reads \"y\""},
    {X, "y = aten.no_such_operator.default(self=@x)", "y", HONE_E_UNSUP,
     "aten.no_such_operator.default"},
    {X, "y = aten.no_such_operator_.default(self=@x)", "y", HONE_E_UNSUP,
     "aten.no_such_operator_.default"},
};

static void numbers(void **state) {
  (void)state;
  check_all(number_rows, COUNT(number_rows));
}

#define ADD(name) "; a = aten.add_.Scalar(self=@" name ", other=10)"
#define READ(name) "; y = aten.clone.default(self=@" name ")"
#define VIEW "v = aten.view.default(self=@x, size=[3,2])"
#define TURN "v = aten.t.default(self=@x)"
#define PART "v = aten.slice.Tensor(self=@x, dim=1, start=1, end=3)"
#define STEP "v = aten.slice.Tensor(self=@x, dim=1, start=0, end=3, step=2)"
#define TAKE "v = aten.select.int(self=@x, dim=0, index=-1)"
#define SAME "v = aten.alias.default(self=@x)"
#define WIDE "v = aten.expand.default(self=@x, size=[2,2,3])"
#define TYPE "v = aten.to.dtype(self=@x, dtype=8)"
#define COMPLEX "c = aten.view_as_complex.default(self=@x)"

static const struct row view_rows[] = {
    /* the base is written, its view read */
    {X, VIEW ADD("x") READ("v"), "y", HONE_OK, "[3,2] 10 11 12 13 14 15"},
    {X, TURN ADD("x") READ("v"), "y", HONE_OK, "[3,2] 10 13 11 14 12 15"},
    {X, PART ADD("x") READ("v"), "y", HONE_OK, "[2,2] 11 12 14 15"},
    {X, STEP ADD("x") READ("v"), "y", HONE_OK, "[2,2] 10 12 13 15"},
    {X, TAKE ADD("x") READ("v"), "y", HONE_OK, "[3] 13 14 15"},
    {X, SAME ADD("x") READ("v"), "y", HONE_OK, "[2,3] 10 11 12 13 14 15"},
    {X, TYPE ADD("x") READ("v"), "y", HONE_OK, "[2,3] 0 1 2 3 4 5"},
    {X, WIDE ADD("x") READ("v"), "y", HONE_E_UNSUP,
     "reads a view of a tensor that was written since"},
    {X, WIDE ADD("x"), "v", HONE_E_UNSUP, "reads a view of a tensor that was written since"},
    {X, WIDE ADD("x") "; y = aten.cat.default(tensors=[@v], dim=0)", "y", HONE_E_UNSUP,
     "reads a view of a tensor that was written since"},
    {"x:7:5 i:5:1",
     "v = aten.expand.default(self=@i, size=[1]); a = aten.add_.Scalar(self=@i, other=1); "
     "y = aten.index.Tensor(self=@x, indices={\"as_optional_tensors\": [{\"as_tensor\": "
     "{\"name\": \"v\"}}]})",
     "y", HONE_E_UNSUP, "reads a view of a tensor that was written since"},
    {"x:7:3", "v = aten.slice.Tensor(self=@x, dim=0, start=0, end=3, step=2)" ADD("v") READ("x"),
     "y", HONE_OK, "[3] 10 1 12"},
    {X, "v = aten.slice.Tensor(self=@x, dim=1, start=3, end=3)" ADD("x") READ("v"), "y", HONE_OK,
     "[2,0]"},
    {X, "v = aten.slice.Tensor(self=@x, dim=1, start=-2, end=9)" ADD("x") READ("v"), "y", HONE_OK,
     "[2,2] 11 12 14 15"},
    /* the view is written, its base read */
    {X, VIEW ADD("v") READ("x"), "y", HONE_OK, "[2,3] 10 11 12 13 14 15"},
    {X, TURN ADD("v") READ("x"), "y", HONE_OK, "[2,3] 10 11 12 13 14 15"},
    {X, PART ADD("v") READ("x"), "y", HONE_OK, "[2,3] 0 11 12 3 14 15"},
    {X, STEP ADD("v") READ("x"), "y", HONE_OK, "[2,3] 10 1 12 13 4 15"},
    {X, TAKE ADD("v") READ("x"), "y", HONE_OK, "[2,3] 0 1 2 13 14 15"},
    {X, SAME ADD("v") READ("x"), "y", HONE_OK, "[2,3] 10 11 12 13 14 15"},
    {X, WIDE ADD("v") READ("x"), "y", HONE_E_UNSUP, "writes through this kind of view"},
    /* views of views; the result of the operator itself; what was read before */
    {X, VIEW "; w = aten.t.default(self=@v)" ADD("w") READ("x"), "y", HONE_OK,
     "[2,3] 10 11 12 13 14 15"},
    {X, TAKE "; w = aten.slice.Tensor(self=@v, dim=0, start=1, end=2)" ADD("w") READ("x"), "y",
     HONE_OK, "[2,3] 0 1 2 3 14 5"},
    {X, VIEW "; w = aten.select.int(self=@v, dim=1, index=0)" ADD("x") READ("w"), "y", HONE_OK,
     "[3] 10 12 14"},
    {X, VIEW ADD("v") READ("a"), "y", HONE_OK, "[3,2] 10 11 12 13 14 15"},
    {X, "c = aten.clone.default(self=@x)" ADD("x") READ("c"), "y", HONE_OK, "[2,3] 0 1 2 3 4 5"},
    {X " s:7:3", "c = aten.copy_.default(self=@x, src=@s)" READ("x"), "y", HONE_OK,
     "[2,3] 0 1 2 0 1 2"},
    {X " s:5:", TAKE "; c = aten.copy_.default(self=@v, src=@s)" READ("x"), "y", HONE_OK,
     "[2,3] 0 1 2 0 0 0"},
    {X, VIEW "; z = aten.zero_.default(self=@v)" READ("x"), "y", HONE_OK, "[2,3] 0 0 0 0 0 0"},
    {X, "v = aten.swapaxes.default(self=@x, axis0=0, axis1=1)" ADD("v") READ("x"), "y", HONE_OK,
     "[2,3] 10 11 12 13 14 15"},
    {X, "v = aten.permute.default(self=@x, dims=[1,0])" ADD("x") READ("v"), "y", HONE_OK,
     "[3,2] 10 13 11 14 12 15"},
    {X, "[v,w] = aten.split.Tensor(self=@x, split_size=1, dim=0)" ADD("v") READ("x"), "y",
     HONE_E_UNSUP, "writes through this kind of view"},
    {X, "v = aten.flatten.using_ints(self=@x, start_dim=0, end_dim=-1)" ADD("v") READ("x"), "y",
     HONE_OK, "[2,3] 10 11 12 13 14 15"},
    /* bounds beyond the dimension; nothing of it */
    {X, "v = aten.slice.Tensor(self=@x, dim=1, start=-9, end=2)" ADD("x") READ("v"), "y", HONE_OK,
     "[2,2] 10 11 13 14"},
    {X, "v = aten.slice.Tensor(self=@x, dim=1, start=9, end=12)" ADD("x") READ("v"), "y", HONE_OK,
     "[2,0]"},
    {X, "v = aten.slice.Tensor(self=@x, dim=1, start=3, end=3)" ADD("v") READ("x"), "y", HONE_OK,
     "[2,3] 0 1 2 3 4 5"},
    /* complex numbers in place */
    {"x:7:2,2",
     COMPLEX "; a = aten.mul_.Tensor(self=@c, other=@c); y = aten.view_as_real.default(self=@c)",
     "y", HONE_OK, "[2,2] -1 0 -5 12"},
    {"x:7:2,2",
     COMPLEX "; r = aten.view_as_real.default(self=@c); a = aten.add_.Scalar(self=@r, other=10); "
             "y = aten.mul.Tensor(self=@c, other=@c); z = aten.view_as_real.default(self=@y)",
     "z", HONE_OK, "[2,2] -21 220 -25 312"},
    {"x:7:2,2", COMPLEX "; v = aten.real.default(self=@c); a = aten.add_.Scalar(self=@v, other=10)",
     "x", HONE_E_UNSUP, "writes through this kind of view"},
    {"x:7:2,2", COMPLEX "; a = aten.abs_.default(self=@c)", "x", HONE_E_UNSUP,
     "writes numbers of another kind"},
    /* what is written is no tensor, of no such shape, or not there */
    {X, "a = aten.sym_size_.int(self=@x, dim=0)", "x", HONE_E_UNSUP,
     "writes numbers of another kind"},
    {X, "a = aten._assert_async_.default(self=@x)", "x", HONE_E_FORMAT, "reads \"a\""},
    {X, "a = aten.zeros_.default(size=[2,3])", "x", HONE_E_UNSUP, "writes to what is no tensor"},
    {X, SIZES "a = aten.zeros_.default(o=@n, size=[2,3])", "x", HONE_E_UNSUP,
     "writes to what is no tensor"},
    {X, "a = aten.zeros_.default(self=@x, size=[4])", "x", HONE_E_SHAPE, ""},
    {"x:7:3 s:7:2,3", "a = aten.add_.Tensor(self=@x, other=@s)", "x", HONE_E_UNSUP,
     "writes a tensor of a larger shape"},
    {X, WIDE ADD("x") "; b = aten.zeros_.default(o=@v, size=[2,2,3])", "x", HONE_E_UNSUP,
     "reads a view of a tensor that was written since"},
    /* results without a name, that nothing makes, or that are other things; views of another than self */
    {X, "v, ? = aten.view.default(self=@x, size=[3,2])" READ("v"), "y", HONE_OK,
     "[3,2] 0 1 2 3 4 5"},
    {X, "v, w = aten.view.default(self=@x, size=[3,2])" READ("v"), "y", HONE_OK,
     "[3,2] 0 1 2 3 4 5"},
    {X, SIZES "v, n = aten.view.default(self=@x, size=[3,2])" READ("v"), "y", HONE_OK,
     "[3,2] 0 1 2 3 4 5"},
    {X, SIZES "v = aten.view.default(z=@n, self=@x, size=[3,2])" READ("v"), "y", HONE_OK,
     "[3,2] 0 1 2 3 4 5"},
    {X, "v = aten.view.default(z=@v, self=@x, size=[3,2])" READ("v"), "y", HONE_OK,
     "[3,2] 0 1 2 3 4 5"},
    {X " s:7:", "v = aten.slice.Tensor(z=@s, self=@x, dim=0)" READ("v"), "y", HONE_OK,
     "[2,3] 0 1 2 3 4 5"},
    {X, "v = aten.slice.Tensor(self=@x, dim=1, start=2, end=0, step=-1)" READ("v"), "y",
     HONE_E_UNSUP, "with a step below 1"},
    {X " s:7:3", "v = aten.slice.Tensor(z=@s, self=@x, dim=1)" READ("v"), "y", HONE_E_SHAPE,
     "dimension 1 of rank 1"},
    {X " s:7:3", "v = aten.permute.default(z=@s, self=@x, dims=[1,0])" READ("v"), "y", HONE_E_UNSUP,
     "2 dimensions of rank 1"},
    {X " s:7:3", "v = aten.t.default(z=@s, self=@x)" ADD("v") READ("s"), "y", HONE_E_SHAPE, ""},
};

static void views(void **state) {
  (void)state;
  check_all(view_rows, COUNT(view_rows));
}

static void views_of_many_views(void **state) {
  char nodes[4096] = "v0 = aten.alias.default(self=@x)";
  (void)state;
  for (int i = 1; i < 40; i++)
    snprintf(nodes + strlen(nodes), sizeof nodes - strlen(nodes),
             "; v%d = aten.alias.default(self=@v%d)", i, i - 1);
  const size_t length = strlen(nodes);
  static const char *const last[] = {READ("v39"), "; y = aten.zeros_.default(o=@v39, size=[2,3])"};
  for (size_t i = 0; i < COUNT(last); i++) {
    snprintf(nodes + length, sizeof nodes - length, "%s", last[i]);
    struct buf bytes = archive_of(module_of(X, nodes, "y"), NULL, 0);
    expect(&bytes, NULL, HONE_E_UNSUP, "a view of 32 views");
  }
}

/* -- graphs within the graph ---- */

#define TENSOR(name) "{\"as_tensor\": {\"name\": \"" name "\"}}"
#define BOUND(name) "{\"name\": \"self\", \"arg\": " TENSOR(name) "}"
#define GRAPH(inputs, outputs, nodes)                                                             \
  "{\"as_graph\": {\"name\": \"g\", \"graph\": {\"inputs\": [" inputs "], \"outputs\": [" outputs \
  "], \"nodes\": [" nodes "]}}}"
#define INNER(target)                     \
  "{\"target\": \"torch.ops.aten." target \
  "\", \"inputs\": [" BOUND("p") "], \"outputs\": [" TENSOR("q") "]}"
#define RELU GRAPH(TENSOR("p"), TENSOR("q"), INNER("relu.default"))
/* a number, no tensor; a tensor of the graph around it; an argument without a name */
#define SIZE \
  "{\"target\": \"torch.ops.aten.sym_size.int\", \"inputs\": [" BOUND("p") "], \"outputs\": " \
  "[{\"as_sym_int\": {\"as_name\": \"q\"}}]}"
#define STRIDED \
  "{\"target\": \"torch.ops.aten.as_strided.default\", \"inputs\": [" BOUND("x")            \
  ", {\"name\": \"size\", \"arg\": {\"as_ints\": [2]}}, {\"name\": \"stride\", \"arg\": " \
  "{\"as_ints\": [1]}}], \"outputs\": [" TENSOR("q") "]}"
#define NAMELESS                                                                                 \
  "{\"target\": \"torch.ops.aten.add.Scalar\", \"inputs\": [{\"arg\": {\"as_int\": 1}}, " BOUND( \
      "p") ", {\"name\": \"other\", \"arg\": {\"as_int\": 4}}], \"outputs\": [" TENSOR("q") "]}"
#define WRAP "higher_order.wrap_with_set_grad_enabled(enable=false, g="
#define AUTOCAST "higher_order.wrap_with_autocast(d='cpu', t=none, "

static const struct row wrapped_rows[] = {
    {X, "y = " WRAP RELU ", a=@x)", "y", HONE_OK, "[2,3] 0 1 2 3 4 5"},
    {X, "y = " AUTOCAST "e=false, c=none, g=" RELU ", a=@x)", "y", HONE_OK, "[2,3] 0 1 2 3 4 5"},
    {X, "y = " AUTOCAST "e=true, c=none, g=" RELU ", a=@x)", "y", HONE_E_UNSUP, "with autocast on"},
    {X, "y = " AUTOCAST "g=" RELU ", a=@x)", "y", HONE_E_UNSUP, "with autocast on"},
    {X, "y = higher_order.wrap_with_set_grad_enabled(enable=false, a=@x)", "y", HONE_E_FORMAT,
     "other inputs or outputs"},
    {X, "y = higher_order.invoke_subgraph(g=" RELU ", i='inner', a=@x)", "y", HONE_OK,
     "[2,3] 0 1 2 3 4 5"},
    {X, "y = " WRAP GRAPH(TENSOR("p"), TENSOR("q"), SIZE) ", a=@x)", "y", HONE_E_FORMAT,
     "does not make its output 0"},
    {X, "y = " WRAP GRAPH(TENSOR("x"), TENSOR("q"), STRIDED) ", a=@x)", "y", HONE_E_UNSUP,
     "stored otherwise"},
    {X, "y = " WRAP GRAPH(TENSOR("p"), TENSOR("q"), NAMELESS) ", a=@x)", "y", HONE_OK,
     "[2,3] 4 5 6 7 8 9"},
    {X, "y = " WRAP RELU ", a=@x, b=@x)", "y", HONE_E_FORMAT, "other inputs or outputs"},
    {X, "y, z = " WRAP RELU ", a=@x)", "y", HONE_E_FORMAT, "other inputs or outputs"},
    {X, "y = " WRAP RELU ", a=@nobody)", "y", HONE_E_FORMAT, "reads \"nobody\""},
    {X, "y = " WRAP RELU ", a=3)", "y", HONE_E_FORMAT, "reads \"\""},
    {X, "x = " WRAP RELU ", a=@x)", "x", HONE_E_FORMAT, "defined twice"},
    {X, "$y = " WRAP RELU ", a=@x)", "x", HONE_E_UNSUP, "takes or gives what is no tensor"},
    {X, "y = " WRAP GRAPH("{\"as_int\": 3}", TENSOR("q"), INNER("relu.default")) ", a=@x)", "y",
     HONE_E_UNSUP, "takes or gives what is no tensor"},
    {X,
     "y = " WRAP GRAPH(TENSOR("p") "," TENSOR("p"), TENSOR("q"),
                       INNER("relu.default")) ", a=@x, b=@x)",
     "y", HONE_E_FORMAT, "defined twice"},
    {X, "y = " WRAP GRAPH(TENSOR("p"), TENSOR("p"), "") ", a=@x)", "y", HONE_OK,
     "[2,3] 0 1 2 3 4 5"},
    {X, "y = " WRAP GRAPH(TENSOR("p"), TENSOR("q"), "") ", a=@x)", "y", HONE_E_FORMAT,
     "does not make its output 0"},
    {X, "y = " WRAP GRAPH(TENSOR("p"), "{\"as_int\": 3}", "") ", a=@x)", "y", HONE_E_FORMAT,
     "does not make its output 0"},
    {X, "y = " WRAP GRAPH(TENSOR("p"), TENSOR("q"), INNER("relu_.default")) ", a=@x)", "y",
     HONE_E_UNSUP, "writes in place (aten.relu_.default)"},
    {X, "y = " WRAP GRAPH(TENSOR("p"), TENSOR("q"), INNER("nothing.default")) ", a=@x)", "y",
     HONE_E_UNSUP, "aten.nothing.default"},
    /* names with an underscore that are not of operators in place */
    {X, "y = aten.__iadd__.Tensor(self=@x, other=@x)", "y", HONE_E_UNSUP, "aten.__iadd__.Tensor"},
    {X, "y = higher_order.wrap_.default(a=@x)", "y", HONE_E_UNSUP, "higher_order.wrap_.default"},
};

#define IF(condition, other, operands) \
  "y = higher_order.cond(c=" condition ", t=" RELU ", f=" other ", o=" operands ")"
#define NEGATE GRAPH(TENSOR("p"), TENSOR("q"), INNER("neg.default"))
#define NO_GRAPH "{\"as_graph\": {\"name\": \"g\"}}"
#define COMPARE "c = aten.gt.Scalar(self=@s, other=0); "
#define ROUNDS(condition, body, carried) \
  "y = higher_order.while_loop(c=" condition ", b=" body ", x=" carried ", o=[])"
#define BESIDE(condition, body, carried, others) \
  "y = higher_order.while_loop(c=" condition ", b=" body ", x=" carried ", o=" others ")"
#define TWO(target) \
  GRAPH(TENSOR("p") "," TENSOR("r"), TENSOR("q"),                                                \
        "{\"target\": \"torch.ops.aten." target "\", \"inputs\": [" BOUND("p") ", {\"name\": " \
        "\"other\", \"arg\": " TENSOR("r") "}], \"outputs\": [" TENSOR("q") "]}")
#define TWICE                                                                                \
  GRAPH(TENSOR("p"), TENSOR("q"),                                                            \
        "{\"target\": \"torch.ops.aten.cat.default\", \"inputs\": [{\"name\": \"tensors\", " \
        "\"arg\": {\"as_tensors\": [{\"name\": \"p\"}, {\"name\": \"p\"}]}}], \"outputs\": " \
        "[" TENSOR("q") "]}")
#define CHOOSE(then, other)                                                                   \
  "k = aten.gt.Scalar(self=@s, other=0); c = aten.view_as_complex.default(self=@x); "         \
  "y = higher_order.cond(c=@k, t=" GRAPH(TENSOR("p"), TENSOR("q"), INNER(then)) ", f=" GRAPH( \
      TENSOR("p"), TENSOR("q"), INNER(other)) ", o=[@c])"
#define IS_LESS \
  GRAPH(TENSOR("p"), TENSOR("q"),                                                             \
        "{\"target\": \"torch.ops.aten.lt.Scalar\", \"inputs\": [" BOUND("p") ", {\"name\": " \
        "\"other\", \"arg\": {\"as_int\": 9}}], \"outputs\": [" TENSOR("q") "]}")
#define ROWS(target, graph, lists) "y = higher_order." target "(g=" graph ", x=" lists ")"
#define PAIR(target) \
  GRAPH(TENSOR("p") "," TENSOR("r"), TENSOR("q"),                                             \
        "{\"target\": \"torch.ops.aten." target "\", \"inputs\": [" BOUND("p") ", {\"name\": " \
        "\"other\", \"arg\": " TENSOR("r") "}], \"outputs\": [" TENSOR("q") "]}")
#define MORE \
  GRAPH(TENSOR("p"), TENSOR("q"),                                                              \
        "{\"target\": \"torch.ops.aten.add.Scalar\", \"inputs\": [" BOUND("p") ", {\"name\": " \
        "\"other\", \"arg\": {\"as_int\": 4}}], \"outputs\": [" TENSOR("q") "]}")

static const struct row control_rows[] = {
    {X, IF("{\"as_sym_bool\": {\"as_bool\": true}}", NEGATE, "[@x]"), "y", HONE_OK,
     "[2,3] 0 1 2 3 4 5"},
    {X, IF("true", NEGATE, "[@x]"), "y", HONE_OK, "[2,3] 0 1 2 3 4 5"},
    {X, IF("false", NEGATE, "[@x]"), "y", HONE_OK, "[2,3] -0 -1 -2 -3 -4 -5"},
    {X " s:7:1", COMPARE IF("@c", NEGATE, "[@x]"), "y", HONE_OK, "[2,3] -0 -1 -2 -3 -4 -5"},
    {X, IF("3", NEGATE, "[@x]"), "y", HONE_E_UNSUP, "a condition of kind as_int"},
    {X, IF("@nobody", NEGATE, "[@x]"), "y", HONE_E_FORMAT, "reads \"nobody\""},
    {X, IF("@x", NEGATE, "[@x]"), "y", HONE_E_UNSUP, "a condition of 6 elements"},
    {X, IF("true", NO_GRAPH, "[@x]"), "y", HONE_E_FORMAT,
     "argument 2 of higher_order.cond is no graph"},
    {X, IF("true", "3", "[@x]"), "y", HONE_E_FORMAT, "argument 2 of higher_order.cond is no graph"},
    {X, IF("true", NEGATE, "[@x,@x]"), "y", HONE_E_FORMAT, "other inputs or outputs"},
    {X, IF("true", NEGATE, "[1,2]"), "y", HONE_E_UNSUP, "of what is no tensor (as_ints)"},
    {X " s:7:1", COMPARE IF("@c", GRAPH(TENSOR("p"), "", ""), "[@x]"), "y", HONE_E_FORMAT,
     "its branches have 1 and 0 results"},
    {X " s:7:1", COMPARE IF("@c", GRAPH(TENSOR("p"), TENSOR("q"), INNER("isnan.default")), "[@x]"),
     "y", HONE_E_UNSUP, "another type or rank in each branch"},
    {X " s:7:1", COMPARE IF("@c", GRAPH(TENSOR("p"), TENSOR("q"), INNER("relu_.default")), "[@x]"),
     "y", HONE_E_UNSUP, "writes in place (aten.relu_.default)"},
    {X " s:7:", COMPARE IF("@c", NEGATE, "[@x]"), "y", HONE_OK, "[2,3] -0 -1 -2 -3 -4 -5"},
    {X, SIZES "$k = _operator.lt(a=$n, b=$m); " IF("$k", NEGATE, "[@x]"), "y", HONE_OK,
     "[2,3] 0 1 2 3 4 5"},
    {X, SIZES "$k = _operator.gt(a=$n, b=$m); " IF("$k", NEGATE, "[@x]"), "y", HONE_OK,
     "[2,3] -0 -1 -2 -3 -4 -5"},
    {X " s:7:1",
     "w = aten.expand.default(self=@s, size=[1]); a = aten.add_.Scalar(self=@s, other=1); " IF(
         "@w", NEGATE, "[@x]"),
     "y", HONE_E_UNSUP, "reads a view of a tensor that was written since"},
    {X, WIDE ADD("x") "; " IF("true", NEGATE, "[@v]"), "y", HONE_E_UNSUP,
     "reads a view of a tensor that was written since"},
    {X, IF("true", NEGATE, "[@nobody]"), "y", HONE_E_FORMAT, "reads \"nobody\""},
    {X, SIZES IF("true", NEGATE, "[@n]"), "y", HONE_E_UNSUP, "of a number among its tensors"},
    {X " s:7:1", COMPARE "y, z = higher_order.cond(c=@c, t=" RELU ", f=" RELU ", o=[@x])", "y",
     HONE_E_FORMAT, "its branches have 1 and 1 results"},
    {X " s:7:1", COMPARE "? = higher_order.cond(c=@c, t=" RELU ", f=" RELU ", o=[@x])", "x",
     HONE_E_FORMAT, "has no result 0"},
    {"x:7:2,2 s:7:1",
     CHOOSE("clone.default", "_conj.default") "; z = aten.view_as_real.default(self=@y)", "z",
     HONE_OK, "[2,2] 0 -1 2 -3"},
    {"x:7:2,2 s:7:1", CHOOSE("clone.default", "real.default"), "y", HONE_E_UNSUP,
     "of branches with real and complex results"},
    {"x:7:1", BESIDE(IS_LESS, MORE, "[@nobody]", "[]"), "y", HONE_E_FORMAT, "reads \"nobody\""},
    {"x:7:1", BESIDE(IS_LESS, MORE, "[@x]", "[1,2]"), "y", HONE_E_UNSUP, "of what is no tensor"},
    {"x:7:1",
     "s = aten.full.default(size=[1], fill_value=3.0); " BESIDE(TWO("lt.Tensor"), TWO("add.Tensor"),
                                                                "[@x]", "[@s]"),
     "y", HONE_OK, "[1] 3"},
    {"x:7:1", ROUNDS(IS_LESS, TWICE, "[@x]"), "y", HONE_E_UNSUP, "a condition of 2 elements"},
    {"x:7:1", ROUNDS(IS_LESS, GRAPH(TENSOR("p"), TENSOR("q"), INNER("relu_.default")), "[@x]"), "y",
     HONE_E_UNSUP, "writes in place (aten.relu_.default)"},
    {"x:7:1", ROUNDS(IS_LESS, GRAPH(TENSOR("p"), TENSOR("q"), INNER("isnan.default")), "[@x]"), "y",
     HONE_E_UNSUP, ""},
    {"x:7:1", "y, z = higher_order.while_loop(c=" IS_LESS ", b=" MORE ", x=[@x], o=[])", "y",
     HONE_E_FORMAT, "carries 1 tensors and leaves 1"},
    {"x:7:1", ROUNDS(IS_LESS, MORE, "[@x]"), "y", HONE_OK, "[1] 12"},
    {X, ROUNDS(IS_LESS, MORE, "[@x]"), "y", HONE_E_UNSUP, "a condition of 6 elements"},
    {"x:7:1", ROUNDS(GRAPH(TENSOR("p"), "", ""), MORE, "[@x]"), "y", HONE_E_FORMAT,
     "a condition with 0 results"},
    {"x:7:1", ROUNDS(IS_LESS, GRAPH(TENSOR("p"), "", ""), "[@x]"), "y", HONE_E_FORMAT,
     "a round that carries 1 tensors and leaves 0"},
    {"x:7:1", ROUNDS("3", MORE, "[@x]"), "y", HONE_E_FORMAT,
     "argument 0 of higher_order.while_loop"},
    {X, ROWS("map_impl", NEGATE, "[@x], o=[]"), "y", HONE_OK, "[2,3] -0 -1 -2 -3 -4 -5"},
    {"x:7:20", ROWS("map_impl", NEGATE, "[@x], o=[]"), "y", HONE_OK,
     "[20] -0 -1 -2 -3 -4 -5 -6 -7 -8 -9 -10 -11 -12 -13 -14 -15 -16 -17 -18 -19"},
    {X, ROWS("map_impl", NEGATE, "[@x,@x], o=[]"), "y", HONE_E_FORMAT, "other inputs or outputs"},
    {X, ROWS("map_impl", NEGATE, "[], o=[@x]"), "y", HONE_E_FORMAT, "scans nothing"},
    {X, ROWS("map_impl", NEGATE, "[@x], o=3"), "y", HONE_E_UNSUP, "of what is no tensor (as_int)"},
    {X, ROWS("map_impl", "3", "[@x], o=[]"), "y", HONE_E_FORMAT, "argument 0 of higher_order.map"},
    {X, ROWS("map_impl", GRAPH(TENSOR("p"), "", ""), "[@x], o=[]"), "y", HONE_E_FORMAT,
     "carries 0 tensors and leaves 0"},
    {"x:7:", ROWS("map_impl", NEGATE, "[@x], o=[]"), "y", HONE_E_UNSUP, "tensors without rows"},
    {"x:7:0,3", ROWS("map_impl", NEGATE, "[@x], o=[]"), "y", HONE_E_UNSUP, "without rows"},
    {"x:7:2,3 z:7:3,3", ROWS("scan", PAIR("add.Tensor"), "[], x=[@x,@z], o=[]"), "y", HONE_E_UNSUP,
     "unlike numbers"},
    {X " h:7:3", ROWS("scan", PAIR("add.Tensor"), "[@h], x=[@x], o=[]"), "y", HONE_OK, "[3] 3 6 9"},
    {X " h:7:3", ROWS("scan", NEGATE, "[@h], x=[@x], o=[]"), "y", HONE_E_FORMAT,
     "other inputs or outputs"},
    /* as PyTorch 2.5 wrote them: the dimension behind what is scanned */
    {X " h:7:3", ROWS("scan", PAIR("add.Tensor"), "[@h], x=[@x], d=0, r=false"), "y", HONE_E_UNSUP,
     "of what is no tensor (as_int)"},
    {X, ROWS("associative_scan", PAIR("add.Tensor"), "[@x], d=1"), "y", HONE_E_UNSUP,
     "of what is no tensor (as_int)"},
    {X, ROWS("associative_scan", PAIR("add.Tensor"), "[@x], o=[]"), "y", HONE_OK,
     "[2,3] 0 1 2 3 5 7"},
    {X, ROWS("associative_scan", PAIR("eq.Tensor"), "[@x], o=[]"), "y", HONE_E_UNSUP,
     "other shapes or types than it is given"},
};

static void control(void **state) {
  (void)state;
  check_all(control_rows, COUNT(control_rows));
}

/* More than a list may hold. */
static void many_operands(void **state) {
  json_t *model = module_of(X, IF("true", NEGATE, "[@x]"), "y"), *one;
  json_t *graph = json_object_get(json_object_get(model, "graph_module"), "graph");
  json_t *inputs = json_object_get(json_array_get(json_object_get(graph, "nodes"), 0), "inputs");
  json_t *list = json_object_get(json_object_get(json_array_get(inputs, 3), "arg"), "as_tensors");
  (void)state;
  one = json_array_get(list, 0);
  while (json_array_size(list) <= 4096) json_array_append(list, one);
  struct buf bytes = archive_of(model, NULL, 0);
  expect(&bytes, NULL, HONE_E_UNSUP, "of 4097 tensors");
}

static void wrapped(void **state) {
  (void)state;
  check_all(wrapped_rows, COUNT(wrapped_rows));
}

static void graphs_in_graphs(void **state) {
  char node[3800] = INNER("relu.default"), nodes[4400];
  (void)state;
  for (int deep = 1; deep <= 9; deep++) {
    snprintf(nodes, sizeof nodes, "y = " WRAP GRAPH("%s", "%s", "%s") ", a=@x)", TENSOR("p"),
             TENSOR("q"), node);
    struct buf bytes = archive_of(module_of(X, nodes, "y"), NULL, 0);
    struct loaded l = load_within(&bytes, NULL, LIMIT_depth, 200); /* of the JSON, too */
    assert_int_equal(l.status, deep <= 8 ? HONE_OK : HONE_E_UNSUP);
    if (l.status) assert_non_null(strstr(l.ctx.message, "8 graphs deep"));
    unload(&l);
    snprintf(nodes, sizeof nodes,
             "{\"target\": \"torch.ops.higher_order.wrap_with_set_grad_enabled\", \"inputs\": "
             "[{\"arg\": " GRAPH("%s", "%s", "%s") "}, %s], \"outputs\": [%s]}",
             TENSOR("p"), TENSOR("q"), node, BOUND("p"), TENSOR("q"));
    assert_true(strlen(nodes) < sizeof node);
    memcpy(node, nodes, sizeof node);
  }
}

static const struct row shape_rows[] = {
    {"x:7:1,2,3", "y = aten.flatten.using_ints(self=@x, start_dim=1)", "y", HONE_OK,
     "[1,6] 0 1 2 3 4 5"},
    {"x:7:1,2,3", "y = aten.flatten.using_ints(self=@x, start_dim=0, end_dim=1)", "y", HONE_OK,
     "[2,3] 0 1 2 3 4 5"},
    {"x:7:", "y = aten.flatten.using_ints(self=@x)", "y", HONE_OK, "[1] 0"},
    {X, "y = aten.flatten.using_ints(self=@x, start_dim=5)", "y", HONE_E_SHAPE, "5"},
    {X, "y = aten.flatten.using_ints(self=@x, end_dim=-5)", "y", HONE_E_SHAPE, "-5"},
    {X, "y = aten.flatten.using_ints()", "y", HONE_E_FORMAT, "without argument self"},
    {X, "y = aten.nonzero.default(self=@x)", "y", HONE_OK, NULL},
    {X, "y = aten.nonzero.default()", "y", HONE_E_FORMAT, "without argument self"},
    {X, "y = aten.view.default(self=@x, size=[-1])", "y", HONE_OK, "[6] 0 1 2 3 4 5"},
    {X " s:7:3,2", "y = aten.view_as.default(self=@x, other=@s)", "y", HONE_OK,
     "[3,2] 0 1 2 3 4 5"},
    {X " s:7:3,2", "y = aten.reshape_as.default(self=@x, other=@s)", "y", HONE_OK,
     "[3,2] 0 1 2 3 4 5"},
    {"x:7:3 s:7:2,3", "y = aten.expand_as.default(self=@x, other=@s)", "y", HONE_OK,
     "[2,3] 0 1 2 0 1 2"},
    {X, "y = aten.eye.default(n=2)", "y", HONE_OK, "[2,2] 1 0 0 1"},
    {X, "y = aten.eye.m(n=2, m=3, dtype=5)", "y", HONE_OK, "[2,3] 1 0 0 0 1 0"},
    {X, "y = aten.eye.default(n=-1)", "y", HONE_E_UNSUP, ""},
    {X, "y = aten.eye.default(n=2, dtype=99)", "y", HONE_E_UNSUP, ""},
    {X, "y = aten.eye.m(n=4611686018427387904, m=4)", "y", HONE_E_UNSUP, ""},
    {X, "y = aten.linspace.default(start=0, end=1, steps=3)", "y", HONE_OK, "[3] 0 0.5 1"},
    {X, "y = aten.linspace.default(start=0, end=1, steps=1)", "y", HONE_OK, "[1] 0"},
    {X, "y = aten.linspace.default(start=0, end=1, steps=-1)", "y", HONE_E_UNSUP, ""},
    {X, "y = aten.linspace.default(start=0, end=1, steps=3, dtype=5)", "y", HONE_E_UNSUP, ""},
    {X, "y = aten.arange.default(end=3)", "y", HONE_OK, "[3] 0 1 2"},
    {X, "y = aten.arange.start(start=1, end=3.5)", "y", HONE_OK, "[3] 1 2 3"},
    {X, "y = aten.arange.start_step(start=1, end=2, step=0.5)", "y", HONE_OK, "[2] 1 1.5"},
    {X, "y = aten.arange.start_step(start=0.5, end=2, step=1)", "y", HONE_OK, "[2] 0.5 1.5"},
    {X, "y = aten.roll.default(self=@x, shifts=[1], dims=[1])", "y", HONE_OK, "[2,3] 2 0 1 5 3 4"},
    {X, "y = aten.roll.default(self=@x, shifts=[-1])", "y", HONE_OK, "[2,3] 1 2 3 4 5 0"},
    {X, "y = aten.roll.default(self=@x, shifts=[0], dims=[1])", "y", HONE_OK, "[2,3] 0 1 2 3 4 5"},
    {"x:7:", "y = aten.roll.default(self=@x, shifts=[1], dims=[0])", "y", HONE_OK, "[] 0"},
    {"x:7:0,3", "y = aten.roll.default(self=@x, shifts=[1], dims=[0])", "y", HONE_OK, "[0,3]"},
    {"x:7:", "y = aten.flip.default(self=@x, dims=[0])", "y", HONE_OK, "[] 0"},
    {X, "y = aten.flip.default(self=@x, dims=[1])", "y", HONE_OK, "[2,3] 2 1 0 5 4 3"},
    {X, "y = aten.diff.default(self=@x, n=1, dim=1)", "y", HONE_OK, "[2,2] 1 1 1 1"},
    {X, "y = aten.diff.default(self=@x, n=2, dim=0)", "y", HONE_OK, "[0,3]"},
    {X, "y = aten.diff.default(self=@x, n=-1, dim=0)", "y", HONE_E_UNSUP, ""},
    {X, "y = aten.diff.default(self=@x, n=1000000, dim=0)", "y", HONE_E_UNSUP, ""},
    {"x:7:", "y = aten.diff.default(self=@x, n=1, dim=0)", "y", HONE_E_UNSUP, ""},
    {X, "[a,b] = aten.unbind.int(self=@x, dim=0); y = aten.clone.default(self=@b)", "y", HONE_OK,
     "[3] 3 4 5"},
    {X, "[a,b] = aten.unbind.int(self=@x, dim=1); y = aten.clone.default(self=@b)", "y",
     HONE_E_UNSUP, ""},
    {"x:7:", "[a] = aten.unbind.int(self=@x, dim=0); y = aten.clone.default(self=@a)", "y",
     HONE_E_UNSUP, ""},
    {"x:7:",
     "[a] = aten.split.Tensor(self=@x, split_size=1, dim=0); y = aten.clone.default(self=@a)", "y",
     HONE_E_SHAPE, ""},
    {X,
     "[a,b] = aten.split.sizes(self=@x, split_sizes=[1,2], dim=1); y = "
     "aten.clone.default(self=@b)",
     "y", HONE_OK, "[2,2] 1 2 4 5"},
    {X,
     "[a] = aten.split.Tensor(self=@x, split_size=9, dim=1); y = "
     "aten.clone.default(self=@a)",
     "y", HONE_OK, "[2,3] 0 1 2 3 4 5"},
    {X, "[a,b] = aten.split.Tensor(self=@x, split_size=9223372036854775807, dim=1)", "x",
     HONE_E_UNSUP, "into 2"},
    {X, "[a,b] = aten.split.Tensor(self=@x, split_size=-9223372036854775808, dim=1)", "x",
     HONE_E_UNSUP, "into 2"},
    {X, "y = aten.diagonal.default(self=@x, offset=1)", "y", HONE_OK, "[2] 1 5"},
    {X, "y = aten.diagonal.default(self=@x, offset=9223372036854775807)", "y", HONE_OK, "[0]"},
    {X, "y = aten.diagonal.default(self=@x, offset=-9223372036854775808)", "y", HONE_OK, "[0]"},
    {X, "[a,b] = aten.chunk.default(self=@x, chunks=2, dim=1); y = aten.clone.default(self=@b)",
     "y", HONE_OK, "[2,1] 2 5"},
    {X, "y = aten.movedim.intlist(self=@x, source=[0], destination=[-1])", "y", HONE_OK,
     "[3,2] 0 3 1 4 2 5"},
    {X, "y = aten.movedim.intlist(self=@x, source=[7], destination=[0])", "y", HONE_E_SHAPE, "7"},
    {X, "y = aten.movedim.intlist(self=@x, source=[0], destination=[7])", "y", HONE_E_SHAPE, "7"},
    {X, "y = aten.transpose.int(self=@x, dim0=0, dim1=1)", "y", HONE_OK, "[3,2] 0 3 1 4 2 5"},
    {X, "y = aten.swapdims.default(self=@x, dim0=-1, dim1=0)", "y", HONE_OK, "[3,2] 0 3 1 4 2 5"},
    {"x:7:", "y = aten.transpose.int(self=@x, dim0=0, dim1=0)", "y", HONE_OK, "[] 0"},
    {X, "y = aten.select.int(self=@x, dim=0, index=2)", "y", HONE_E_SHAPE, ""},
    {X, "y = aten.select.int(self=@x, dim=0, index=-3)", "y", HONE_E_SHAPE, ""},
    {"x:7:", "y = aten.select.int(self=@x, dim=0, index=0)", "y", HONE_E_SHAPE, ""},
    {X, "y = aten.stack.default(tensors=[@x,@x], dim=2)", "y", HONE_OK,
     "[2,3,2] 0 0 1 1 2 2 3 3 4 4 5 5"},
    {X " s:7:3", "y = aten.stack.default(tensors=[@x,@s], dim=0)", "y", HONE_E_UNSUP, ""},
    {X " s:7:0", "y = aten.cat.default(tensors=[@s,@x], dim=0)", "y", HONE_OK, "[2,3] 0 1 2 3 4 5"},
    {X, "y = aten.unsqueeze.default(self=@x, dim=-1)", "y", HONE_OK, "[2,3,1] 0 1 2 3 4 5"},
    {X, "y = aten.unflatten.int(self=@x, dim=1, sizes=[3,1])", "y", HONE_OK, "[2,3,1] 0 1 2 3 4 5"},
    {X, "y = aten.repeat_interleave.self_int(self=@x, repeats=2, dim=0)", "y", HONE_OK,
     "[4,3] 0 1 2 0 1 2 3 4 5 3 4 5"},
    {X, "y = aten.repeat_interleave.self_int(self=@x, repeats=-2, dim=0)", "y", HONE_E_UNSUP, ""},
    {X, "y = aten.repeat_interleave.self_int(self=@x, repeats=4611686018427387904, dim=0)", "y",
     HONE_E_LIMIT, ""},
    {X, "y = aten.unfold.default(self=@x, dimension=1, size=2, step=1)", "y", HONE_OK,
     "[2,2,2] 0 1 1 2 3 4 4 5"},
    {X, "y = aten.unfold.default(self=@x, dimension=1, size=4, step=1)", "y", HONE_E_UNSUP, ""},
    {X, "y = aten.unfold.default(self=@x, dimension=1, size=0, step=1)", "y", HONE_E_UNSUP, ""},
    {X, "y = aten.unfold.default(self=@x, dimension=1, size=1, step=0)", "y", HONE_E_UNSUP, ""},
    {"x:7:", "y = aten.unfold.default(self=@x, dimension=0, size=1, step=1)", "y", HONE_E_UNSUP,
     ""},
    {X, "y = aten.diagonal.default(self=@x)", "y", HONE_OK, "[2] 0 4"},
    {X, "y = aten.diagonal.default(self=@x, offset=1)", "y", HONE_OK, "[2] 1 5"},
    {X, "y = aten.diagonal.default(self=@x, offset=-1)", "y", HONE_OK, "[1] 3"},
    {X, "y = aten.diagonal.default(self=@x, offset=9)", "y", HONE_OK, "[0]"},
    {X, "y = aten.diagonal.default(self=@x, offset=-9)", "y", HONE_OK, "[0]"},
    {X, "y = aten.diagonal.default(self=@x, dim1=0, dim2=0)", "y", HONE_E_UNSUP, ""},
    {"x:7:3", "y = aten.diagonal.default(self=@x)", "y", HONE_E_SHAPE, ""},
    {X, "y = aten.narrow.default(self=@x, dim=1, start=1, length=2)", "y", HONE_OK,
     "[2,2] 1 2 4 5"},
    {"x:7:1,4,2,2", "y = aten.pixel_shuffle.default(self=@x, upscale_factor=2)", "y", HONE_OK,
     NULL},
    {"x:7:1,4,2,2", "y = aten.pixel_shuffle.default(self=@x, upscale_factor=0)", "y", HONE_E_UNSUP,
     ""},
    {"x:7:1,4,2,2", "y = aten.pixel_shuffle.default(self=@x, upscale_factor=3)", "y", HONE_E_SHAPE,
     ""},
    {"x:7:1,1,3,2", "y = aten.pixel_unshuffle.default(self=@x, downscale_factor=2)", "y",
     HONE_E_UNSUP, ""},
    {"x:7:1,1,2,3", "y = aten.pixel_unshuffle.default(self=@x, downscale_factor=2)", "y",
     HONE_E_UNSUP, ""},
    {"x:7:1,4,1,1", "y = aten.channel_shuffle.default(self=@x, groups=2)", "y", HONE_OK,
     "[1,4,1,1] 0 2 1 3"},
    {"x:7:1,4,1,1", "y = aten.channel_shuffle.default(self=@x, groups=3)", "y", HONE_E_UNSUP, ""},
    {"x:7:1,4,1,1", "y = aten.channel_shuffle.default(self=@x, groups=0)", "y", HONE_E_UNSUP, ""},
    {X, "y = aten.channel_shuffle.default(self=@x, groups=1)", "y", HONE_E_UNSUP, ""},
    {"x:7:2 s:7:3",
     "[a,b] = aten.meshgrid.indexing(tensors=[@x,@s], indexing='xy'); y = "
     "aten.clone.default(self=@a)",
     "y", HONE_OK, "[3,2] 0 1 0 1 0 1"},
    {"x:7:2 s:7:",
     "[a,b] = aten.meshgrid.default(tensors=[@x,@s]); y = aten.clone.default(self=@a)", "y",
     HONE_OK, "[2,1] 0 1"},
    {X, "[a] = aten.meshgrid.default(tensors=[@x]); y = aten.clone.default(self=@a)", "y",
     HONE_E_UNSUP, ""},
    {"x:7:s,3", "y = aten.relu.default(self=@x)", "y", HONE_OK, "[1,3] 0 1 2"},
};

static void shapes(void **state) {
  (void)state;
  check_all(shape_rows, COUNT(shape_rows));
}

static const struct row arithmetic_rows[] = {
    {X, "y = aten.round.decimals(self=@x, decimals=2)", "y", HONE_E_UNSUP, ""},
    {X, "y = aten.glu.default(self=@x, dim=1)", "y", HONE_E_UNSUP, "odd"},
    {"x:7:", "y = aten.glu.default(self=@x, dim=0)", "y", HONE_E_UNSUP, ""},
    {X " w:7:1", "y = aten.prelu.default(self=@x, weight=@w)", "y", HONE_OK, "[2,3] 0 1 2 3 4 5"},
    {"x:7:3 w:7:1", "y = aten.prelu.default(self=@x, weight=@w)", "y", HONE_OK, "[3] 0 1 2"},
    {"x:7: w:7:1", "y = aten.prelu.default(self=@x, weight=@w)", "y", HONE_E_SHAPE,
     "slope does not broadcast"},
    {X, "y = aten.elu.default(self=@x, input_scale=2.0)", "y", HONE_E_UNSUP, "scale of its input"},
    {"x:1:2 z:2:2", "y = aten.add.Tensor(self=@x, other=@z)", "y", HONE_OK, "[2] 0 2"},
    {"x:6:2 z:13:2", "y = aten.add.Tensor(self=@x, other=@z)", "y", HONE_OK, "[2] 0 2"},
    {"x:6:2 z:6:2", "y = aten.add.Tensor(self=@x, other=@z)", "y", HONE_OK, "[2] 0 2"},
    {"x:5:2 z:7:", "y = aten.mul.Tensor(self=@x, other=@z)", "y", HONE_OK, "[2] 0 0"},
    {"x:5:3", "y = aten.div.Tensor(self=@x, other=@x)", "y", HONE_OK, NULL},
    {"x:5:3", "y = aten.atan2.default(self=@x, other=@x)", "y", HONE_OK, NULL},
    {"x:7: z:7:2 c:12:2", "y = aten.where.self(condition=@c, self=@x, other=@z)", "y", HONE_OK,
     NULL},
    {X, "y = aten.nan_to_num.default(self=@x)", "y", HONE_OK, "[2,3] 0 1 2 3 4 5"},
    {"x:13:2", "y = aten.nan_to_num.default(self=@x)", "y", HONE_OK, "[2] 0 1"},
    {"x:8:2", "y = aten.nan_to_num.default(self=@x)", "y", HONE_OK, "[2] 0 1"},
    {"x:6:2", "y = aten.nan_to_num.default(self=@x)", "y", HONE_OK, "[2] 0 1"},
    {"x:5:2", "y = aten.clamp.Tensor(self=@x, min=@x)", "y", HONE_OK, "[2] 0 1"},
    {X " w:7:3", "y = aten.linear.default(input=@x, weight=@w)", "y", HONE_E_UNSUP,
     "weights of rank 1"},
    {"x:7:3", "y = aten.dot.default(self=@x, tensor=@x)", "y", HONE_OK, "[] 5"},
    {"x:7:3", "y = aten.outer.default(self=@x, vec2=@x)", "y", HONE_OK, "[3,3] 0 0 0 0 1 2 0 2 4"},
    {X, "y = aten.outer.default(self=@x, vec2=@x)", "y", HONE_E_UNSUP, "of rank 2"},
    {X, "y = aten.avg_pool2d.default(self=@x, kernel_size=[2,2])", "y", HONE_E_UNSUP, "of rank 2"},
    {"x:7:1,1,2,2", "y = aten.avg_pool2d.default(self=@x, kernel_size=[2,2], divisor_override=3)",
     "y", HONE_E_UNSUP, "divisor_override"},
    {"x:7:1,1,2,2", "y = aten.avg_pool2d.default(self=@x, kernel_size=[2,2])", "y", HONE_OK,
     "[1,1,1,1] 1.5"},
    {"x:7:1,1,2,2", "y = aten.max_pool2d.default(self=@x, kernel_size=[2,2], stride=[1,2,3])", "y",
     HONE_E_UNSUP, "no list of at most 2 integers"},
    {"x:7:1,1,4", "y = aten.avg_pool1d.default(self=@x, kernel_size=[2])", "y", HONE_OK,
     "[1,1,2] 0.5 2.5"},
    {"x:7:1,1,2,2,2", "y = aten.avg_pool3d.default(self=@x, kernel_size=[2])", "y", HONE_OK,
     "[1,1,1,1,1] 3.5"},
    {"x:7:1,1,5", "y = aten.adaptive_avg_pool1d.default(self=@x, output_size=[2])", "y", HONE_OK,
     "[1,1,2] 1 3"},
    {"x:7:1,1,5", "y = aten.adaptive_avg_pool1d.default(self=@x, output_size=[0])", "y",
     HONE_E_UNSUP, ""},
    {X, "y = aten.adaptive_avg_pool2d.default(self=@x, output_size=[1,1])", "y", HONE_E_UNSUP,
     "of rank 2"},
    {"x:7:1,1,5", "y = aten.adaptive_max_pool1d.default(self=@x, output_size=[2])", "y",
     HONE_E_UNSUP, "unequal size"},
    {"x:7:1,1,2,2,2", "y = aten.adaptive_avg_pool3d.default(self=@x, output_size=[1,1,1])", "y",
     HONE_OK, "[1,1,1,1,1] 3.5"},
    {X, "y = aten.sum.default(self=@x, dtype=99)", "y", HONE_E_UNSUP, "dtype 99"},
    {X, "y = aten.sum.dim_IntList(self=@x, dim=[1], dtype=8)", "y", HONE_OK, "[2] 3 12"},
    {"x:5:3", "y = aten.sum.default(self=@x)", "y", HONE_OK, "[] 3"},
    {"x:12:3", "y = aten.sum.default(self=@x)", "y", HONE_OK, NULL},
    {"x:7:", "y, i = aten.max.dim(self=@x, dim=0)", "y", HONE_E_UNSUP, "of rank 0"},
    {X, "y, i = aten.max.dim(self=@x, dim=1)", "i", HONE_OK, "[2] 2 2"},
    {X, "y, i = aten.min.dim(self=@x, dim=1, keepdim=true)", "i", HONE_OK, "[2,1] 0 0"},
    {"x:7:", "y = aten.argmax.default(self=@x)", "y", HONE_OK, NULL},
    {X, "y = aten.argmin.default(self=@x)", "y", HONE_OK, "[] 0"},
    {X, "y = aten.argmax.default(self=@x, dim=1, keepdim=true)", "y", HONE_OK, "[2,1] 2 2"},
    {X, "y = aten.argmax.default(self=@x, keepdim=true)", "y", HONE_OK, "[1,1] 5"},
    {X, "y, m = aten.var_mean.correction(self=@x, dim=[1], correction=0)", "m", HONE_OK, "[2] 1 4"},
    {X, "y, m = aten.std_mean.correction(self=@x, dim=[1], keepdim=true)", "m", HONE_OK,
     "[2,1] 1 4"},
    {X, "y = aten.var.default(self=@x)", "y", HONE_OK, "[] 3.5"},
    {X, "y = aten.linalg_vector_norm.default(self=@x, ord=1)", "y", HONE_OK, "[] 15"},
    {X, "y = aten.linalg_vector_norm.default(self=@x, ord=0)", "y", HONE_E_UNSUP, "of order 0"},
    {X, "y = aten.linalg_norm.default(self=@x, ord=1)", "y", HONE_E_UNSUP, "Frobenius"},
    {X, "y = aten.linalg_matrix_norm.str_ord(self=@x, ord=\"nuc\")", "y", HONE_E_UNSUP,
     "Frobenius"},
    {X, "y = aten.trace.default(self=@x)", "y", HONE_OK, "[] 4"},
    {X, "y = aten.item.default(self=@x)", "x", HONE_E_UNSUP, "of a number that a run computes"},
    {X, "y = aten.isclose.default(self=@x, other=@x, equal_nan=true)", "y", HONE_E_UNSUP, "NaN"},
    {X, "y = aten.as_strided.default(self=@x, size=[2,2], stride=[2,1], storage_offset=1)", "y",
     HONE_OK, "[2,2] 1 2 3 4"},
    {X, "y = aten.as_strided.default(self=@x, size=[2], stride=[6])", "y", HONE_E_UNSUP, "beyond"},
    {X,
     "v = aten.slice.Tensor(self=@x, dim=0, start=1); y = aten.as_strided.default(self=@v, "
     "size=[2], "
     "stride=[1])",
     "y", HONE_E_UNSUP, "a view"},
    {X, "y = aten.hann_window.default(window_length=-1)", "y", HONE_E_UNSUP, "of this length"},
    {X, "y = aten.hann_window.default(window_length=1)", "y", HONE_OK, "[1] 1"},
    {X, "y = aten.stft.default(self=@x, n_fft=2, hop_length=0)", "y", HONE_E_UNSUP, "every 0"},
    {X, "y = aten.istft.default(self=@x, n_fft=4)", "y", HONE_E_UNSUP, "half spectra"},
    {X, "y = aten.logcumsumexp.default(self=@x, dim=2)", "y", HONE_E_SHAPE, "dimension 2"},
    {X, "y = aten.diag_embed.default(self=@x, dim1=0)", "y", HONE_E_UNSUP, "than the last"},
    {X, "y = aten.tensordot.default(self=@x, other=@x, dims_self=[0,0], dims_other=[0,0])", "y",
     HONE_E_UNSUP, "twice"},
    {X, "y = aten.kthvalue.default(self=@x, k=4)", "y", HONE_E_UNSUP, "4 of 3"},
    {X, "y = aten.repeat_interleave.self_Tensor(self=@x, repeats=@x, dim=0)", "y", HONE_E_UNSUP,
     "as often as a run computes"},
    {X, "y = aten.view_copy.default(self=@x, size=[6])", "y", HONE_OK, "[6] 0 1 2 3 4 5"},
    {X, "y = aten.linalg_vector_norm.default(self=@x, ord=2, dtype=8)", "y", HONE_OK, NULL},
    {X, "y = aten.norm.ScalarOpt_dim(self=@x, p=1, dim=[1])", "y", HONE_OK, "[2] 3 12"},
    {"x:7:", "y = aten.cumsum.default(self=@x, dim=0)", "y", HONE_OK, "[] 0"},
    {X, "y = aten.cumsum.default(self=@x, dim=1, dtype=8)", "y", HONE_OK, "[2,3] 0 1 3 3 7 12"},
    {X, "y = aten.log_softmax.int(self=@x, dim=1, dtype=99)", "y", HONE_E_UNSUP, "dtype 99"},
    {X, "y = aten.softmax.int(self=@x, dim=1, dtype=8)", "y", HONE_OK, NULL},
    {"x:7:1,2,3 g:7:2,1,1", "y = aten._weight_norm.default(v=@x, g=@g, dim=0)", "y", HONE_OK, NULL},
    {"x:7:3 g:7:3", "y = aten._weight_norm.default(v=@x, g=@g, dim=0)", "y", HONE_E_UNSUP,
     "of rank 1"},
};

static void arithmetic(void **state) {
  (void)state;
  check_all(arithmetic_rows, COUNT(arithmetic_rows));
}

static const struct row layer_rows[] = {
    {"q:7:1,2,4", "y = aten.scaled_dot_product_attention.default(query=@q, key=@q, value=@q)", "y",
     HONE_OK, NULL},
    {"q:7:1,2,4",
     "y = aten.scaled_dot_product_attention.default(query=@q, key=@q, value=@q, is_causal=true)",
     "y", HONE_OK, NULL},
    {"q:7:1,2,4 m:12:2,2",
     "y = aten.scaled_dot_product_attention.default(query=@q, key=@q, value=@q, attn_mask=@m)", "y",
     HONE_OK, NULL},
    {"q:7:1,2,4",
     "y = aten.scaled_dot_product_attention.default(query=@q, key=@q, value=@q, scale=0.5)", "y",
     HONE_OK, NULL},
    {"q:7:4", "y = aten.scaled_dot_product_attention.default(query=@q, key=@q, value=@q)", "y",
     HONE_E_UNSUP, "of rank 1"},
    {"q:7:1,4,2,4 k:7:1,2,2,4",
     "y = aten.scaled_dot_product_attention.default(query=@q, key=@k, value=@k, enable_gqa=true)",
     "y", HONE_OK, NULL},
    {"q:7:1,4,2,4 k:7:1,3,2,4",
     "y = aten.scaled_dot_product_attention.default(query=@q, key=@k, value=@k, enable_gqa=true)",
     "y", HONE_E_UNSUP, "3 heads"},
    {"q:7:1,4,2,4 k:7:2,2,4",
     "y = aten.scaled_dot_product_attention.default(query=@q, key=@k, value=@k, enable_gqa=true)",
     "y", HONE_E_UNSUP, "of rank 3"},
    {"q:7:2,4 k:7:2,4",
     "y = aten.scaled_dot_product_attention.default(query=@q, key=@k, value=@k, enable_gqa=true)",
     "y", HONE_E_UNSUP, "of rank 2"},
    {"x:7:1,2,5 w:7:3,2,2", "y = aten.conv1d.padding(input=@x, weight=@w, padding='same')", "y",
     HONE_OK, NULL},
    {"x:7:1,2,5 w:7:3,2,2", "y = aten.conv1d.padding(input=@x, weight=@w, padding='valid')", "y",
     HONE_OK, NULL},
    {"x:7:1,2,5 w:7:3,2,2", "y = aten.conv1d.padding(input=@x, weight=@w, padding='wide')", "y",
     HONE_E_UNSUP, "wide"},
    {"x:7:1,2,5 w:7:3,2,3",
     "y = aten.conv1d.padding(input=@x, weight=@w, padding='same', "
     "dilation=[9223372036854775807])",
     "y", HONE_E_UNSUP, "dilation of 9223372036854775807"},
    {"x:7:1,1,2 h:7:1,1,1 w:7:4,2 r:7:4,1 b:7:4,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1",
     "y, p, q = aten.lstm.input(input=@x, hx=[@h,@h], params=[@w,@r,@b,@b], has_biases=true, "
     "num_layers=1)",
     "y", HONE_E_UNSUP, "with these biases"},
    {"x:7:2",
     "c = aten.view_as_complex.default(self=@x); y = aten._fft_c2r.default(self=@c, dim=[], "
     "normalization=0, last_dim_size=4)",
     "y", HONE_E_UNSUP, "of rank 0"},
    {"x:7:1,2,5 w:7:3,2", "y = aten.conv1d.default(input=@x, weight=@w)", "y", HONE_E_UNSUP,
     "weights of rank 2"},
    {"x:7:1,2,5,5 w:7:3,2,2", "y = aten.conv1d.default(input=@x, weight=@w)", "y", HONE_E_UNSUP,
     "an input of rank 4"},
    {"x:7:2,3 w:7:3",
     "y, m, r = aten.native_layer_norm.default(input=@x, normalized_shape=[3], weight=@w, "
     "bias=@w, eps=1e-5); z = aten.add.Tensor(self=@m, other=@r)",
     "z", HONE_OK, NULL},
    {"x:7:2,3", "y = aten.layer_norm.default(input=@x, normalized_shape=[3])", "y", HONE_OK, NULL},
    {"x:6:2,3 w:6:3", "y = aten.rms_norm.default(input=@x, normalized_shape=[3], weight=@w)", "y",
     HONE_OK, NULL},
    {"x:7:2,3", "y = aten.rms_norm.default(input=@x, normalized_shape=[3])", "y", HONE_OK, NULL},
    {"x:7:3", "y = aten.batch_norm.default(input=@x, running_mean=@x, running_var=@x)", "y",
     HONE_E_SHAPE, "is not a vector"},
    {"x:7:1,3 w:7:3",
     "y, m, d = aten._native_batch_norm_legit_no_training.default(input=@x, weight=@w, bias=@w, "
     "running_mean=@w, running_var=@w, momentum=0.1, eps=1e-5); z = aten.relu.default(self=@m)",
     "z", HONE_E_FORMAT, "reads \"m\""},
    {"x:7:2,3", "y = aten.instance_norm.default(input=@x)", "y", HONE_E_UNSUP, "of rank 2"},
    {"x:7:1,2,3", "y = aten.instance_norm.default(input=@x, eps=1e-5)", "y", HONE_OK, NULL},
    {"x:7:3",
     "y, m, d = aten._native_batch_norm_legit.no_stats(input=@x, training=true, momentum=0.1, "
     "eps=1e-5)",
     "y", HONE_E_UNSUP, "of rank 1"},
    {"x:7:2,3 w:7:3",
     "y, m, d = aten._native_batch_norm_legit.no_stats(input=@x, weight=@w, bias=@w, "
     "training=true, momentum=0.1, eps=1e-5); z = aten.add.Tensor(self=@m, other=@d)",
     "z", HONE_OK, NULL},
    {"x:7:1,1,2", "y = aten.upsample_nearest1d.default(self=@x, output_size=[4], scales=2.0)", "y",
     HONE_OK, "[1,1,4] 0 0 1 1"},
    {"x:7:1,1,2", "y = aten.upsample_nearest1d.vec(input=@x, scale_factors=[2.0])", "y", HONE_OK,
     "[1,1,4] 0 0 1 1"},
    {"x:7:1,1,2,2",
     "y = aten.upsample_nearest2d.default(self=@x, output_size=[4,2], scales_h=2.0, "
     "scales_w=1.0)",
     "y", HONE_OK, "[1,1,4,2] 0 1 0 1 2 3 2 3"},
    {"x:7:1,1,2,2", "y = aten.upsample_nearest2d.default(self=@x, output_size=[4,2])", "y", HONE_OK,
     "[1,1,4,2] 0 1 0 1 2 3 2 3"},
    {"x:7:2,2", "y = aten.upsample_nearest1d.default(self=@x, output_size=[4])", "y", HONE_E_UNSUP,
     "of rank 2"},
    {"x:7:1,1,3,3",
     "y = aten.im2col.default(self=@x, kernel_size=[2,2], dilation=[1,1], padding=[0,0], "
     "stride=[1,1])",
     "y", HONE_OK, NULL},
    {"x:7:1,1,3,3",
     "y = aten.im2col.default(self=@x, kernel_size=[0,2], dilation=[1,1], padding=[0,0], "
     "stride=[1,1])",
     "y", HONE_E_UNSUP, "of this window"},
    {"x:7:1,1,3,3",
     "y = aten.im2col.default(self=@x, kernel_size=[2,2], dilation=[0,1], padding=[0,0], "
     "stride=[1,1])",
     "y", HONE_E_UNSUP, "of this window"},
    {"x:7:1,1,3,3",
     "y = aten.im2col.default(self=@x, kernel_size=[2,2], dilation=[1,1], padding=[-1,0], "
     "stride=[1,1])",
     "y", HONE_E_UNSUP, "of this window"},
    {"x:7:1,1,3,3",
     "y = aten.im2col.default(self=@x, kernel_size=[2,2], dilation=[1,1], padding=[0,0], "
     "stride=[0,1])",
     "y", HONE_E_UNSUP, "of this window"},
    {"x:7:1,1,3,3",
     "y = aten.im2col.default(self=@x, kernel_size=[2,2], dilation=[3000000000,1], "
     "padding=[0,0], stride=[1,1])",
     "y", HONE_E_UNSUP, "of this window"},
    {"x:7:1,1,3,3",
     "y = aten.im2col.default(self=@x, kernel_size=[2,2], dilation=[1,1], "
     "padding=[3000000000,0], stride=[1,1])",
     "y", HONE_E_UNSUP, "of this window"},
    {"x:7:1,1,3,3",
     "y = aten.im2col.default(self=@x, kernel_size=[5,2], dilation=[1,1], padding=[0,0], "
     "stride=[1,1])",
     "y", HONE_E_UNSUP, "larger than the image"},
    {X,
     "y = aten.im2col.default(self=@x, kernel_size=[1,1], dilation=[1,1], padding=[0,0], "
     "stride=[1,1])",
     "y", HONE_E_UNSUP, "of rank 2"},
    {"x:7:2,3 i:5:2", "y = aten.embedding.default(weight=@x, indices=@i)", "y", HONE_OK,
     "[2,3] 0 1 2 3 4 5"},
    {"x:7:3,2 i:5:2",
     "y = aten.index.Tensor(self=@x, indices={\"as_optional_tensors\": [{\"as_none\": true}, "
     "{\"as_tensor\": {\"name\": \"i\"}}]})",
     "y", HONE_OK, "[3,2] 0 1 2 3 4 5"},
    {"x:7:3,2 i:5:2", "y = aten.index.Tensor(self=@x, indices=[@i,@i,@i])", "y", HONE_E_UNSUP,
     "3 indices of rank 2"},
    {"x:7:3,2",
     "$n = aten.sym_size.int(self=@x, dim=0); y = aten.index.Tensor(self=@x, "
     "indices={\"as_optional_tensors\": [{\"as_tensor\": {\"name\": \"n\"}}]})",
     "y", HONE_E_UNSUP, "holds a number"},
    {"x:7:3", "y = aten.scatter.src(self=@x, dim=0, index=@x, src=@x)", "y", HONE_E_TYPE, ""},
    {"x:7: i:5:", "y = aten.index_select.default(self=@x, dim=0, index=@i)", "y", HONE_E_SHAPE,
     "the rank is 0"},
    {"x:7:3 i:5:2 s:7:2",
     "y = aten.scatter_reduce.two(self=@x, dim=0, index=@i, src=@s, reduce='sum', "
     "include_self=false)",
     "y", HONE_OK, "[3] 0 1 2"},
    {"x:7:3 i:5:2 s:7:2",
     "y = aten.scatter_reduce.two(self=@x, dim=0, index=@i, src=@s, reduce='mean')", "y", HONE_OK,
     "[3] 0 1 2"},
    {"x:7:3 i:5:2 s:7:2",
     "y = aten.scatter_reduce.two(self=@x, dim=0, index=@i, src=@s, reduce='amax')", "y", HONE_OK,
     "[3] 0 1 2"},
    {"x:7:3 i:5:2 s:7:2,1",
     "y = aten.scatter_reduce.two(self=@x, dim=0, index=@i, src=@s, reduce='amax')", "y",
     HONE_E_UNSUP, "unequal ranks"},
    {X " s:7:2,1", "y = aten.slice_scatter.default(self=@x, src=@s, dim=1, start=1, end=2)", "y",
     HONE_OK, "[2,3] 0 0 2 3 1 5"},
    {X " s:7:2,0", "y = aten.slice_scatter.default(self=@x, src=@s, dim=1, start=1, end=1)", "y",
     HONE_OK, "[2,3] 0 1 2 3 4 5"},
    {X " s:7:2,3", "y = aten.slice_scatter.default(self=@x, src=@s, dim=1, start=0, end=3)", "y",
     HONE_OK, "[2,3] 0 1 2 3 4 5"},
    {X " s:7:2,1", "y = aten.slice_scatter.default(self=@x, src=@s, dim=1, start=1, end=2, step=0)",
     "y", HONE_E_UNSUP, "of these bounds"},
    {X " s:7:2,1",
     "y = aten.slice_scatter.default(self=@x, src=@s, dim=1, start=0, end=3, "
     "step=9223372036854775807)",
     "y", HONE_OK, "[2,3] 0 1 2 1 4 5"},
    {X " s:7:2",
     "y = aten.select_scatter.default(self=@x, src=@s, dim=1, index=9223372036854775807)", "y",
     HONE_E_UNSUP, "of these bounds"},
    {X " s:7:2", "y = aten.select_scatter.default(self=@x, src=@s, dim=1, index=3)", "y",
     HONE_E_UNSUP, "of these bounds"},
    {X " s:7:2", "y = aten.select_scatter.default(self=@x, src=@s, dim=1, index=-1)", "y", HONE_OK,
     "[2,3] 0 1 0 3 4 1"},
    {"x:7: s:7:", "y = aten.slice_scatter.default(self=@x, src=@s, dim=0)", "y", HONE_E_UNSUP,
     "of rank 0"},
    {X " m:12:2,3", "y = aten.index.Tensor(self=@x, indices=[@m])", "y", HONE_OK, NULL},
    {X " m:12:2,3 v:7:2", "y = aten.index_put.default(self=@x, indices=[@m], values=@v)", "y",
     HONE_OK, NULL},
    {X " m:12:2,3,1 v:7:2", "y = aten.index_put.default(self=@x, indices=[@m], values=@v)", "y",
     HONE_E_UNSUP, "a mask of rank 3"},
    {X " m:12:2,3 v:7:", "y = aten.index_put.default(self=@x, indices=[@m], values=@v)", "y",
     HONE_OK, "[2,3] 0 0 0 0 0 0"},
};

static void layers(void **state) {
  (void)state;
  check_all(layer_rows, COUNT(layer_rows));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers),
      cmocka_unit_test(views),
      cmocka_unit_test(views_of_many_views),
      cmocka_unit_test(control),
      cmocka_unit_test(many_operands),
      cmocka_unit_test(wrapped),
      cmocka_unit_test(graphs_in_graphs),
      cmocka_unit_test(shapes),
      cmocka_unit_test(arithmetic),
      cmocka_unit_test(layers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
