/* Subgraphs of torch.export archives, and data-dependent sizes, one graph per row: read with the
 * right result, or refused with the given message. */
#include "pt2_rows.h"

#define X "x:7:2,3"
#define ADD(name) "; a = aten.add_.Scalar(self=@" name ", other=10)"
#define WIDE "v = aten.expand.default(self=@x, size=[2,2,3])"
#define SIZES "$n = aten.sym_size.int(self=@x, dim=0); $m = aten.sym_size.int(self=@x, dim=1); "

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
     "another number of inputs or outputs"},
    {X, "y = higher_order.invoke_subgraph(g=" RELU ", i='inner', a=@x)", "y", HONE_OK,
     "[2,3] 0 1 2 3 4 5"},
    {X, "y = " WRAP GRAPH(TENSOR("p"), TENSOR("q"), SIZE) ", a=@x)", "y", HONE_E_FORMAT,
     "does not make its output 0"},
    {X, "y = " WRAP GRAPH(TENSOR("x"), TENSOR("q"), STRIDED) ", a=@x)", "y", HONE_E_UNSUP,
     "not contiguous"},
    {X, "y = " WRAP GRAPH(TENSOR("p"), TENSOR("q"), NAMELESS) ", a=@x)", "y", HONE_OK,
     "[2,3] 4 5 6 7 8 9"},
    {X, "y = " WRAP RELU ", a=@x, b=@x)", "y", HONE_E_FORMAT,
     "another number of inputs or outputs"},
    {X, "y, z = " WRAP RELU ", a=@x)", "y", HONE_E_FORMAT, "another number of inputs or outputs"},
    {X, "y = " WRAP RELU ", a=@nobody)", "y", HONE_E_FORMAT, "reads \"nobody\""},
    {X, "y = " WRAP RELU ", a=3)", "y", HONE_E_FORMAT, "reads \"\""},
    {X, "x = " WRAP RELU ", a=@x)", "x", HONE_E_FORMAT, "defined twice"},
    {X, "$y = " WRAP RELU ", a=@x)", "x", HONE_E_UNSUP,
     "a subgraph input or output that is not a tensor"},
    {X, "y = " WRAP GRAPH("{\"as_int\": 3}", TENSOR("q"), INNER("relu.default")) ", a=@x)", "y",
     HONE_E_UNSUP, "a subgraph input or output that is not a tensor"},
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
     HONE_E_UNSUP, "an in-place write (aten.relu_.default)"},
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
     "argument 2 of higher_order.cond is not a graph"},
    {X, IF("true", "3", "[@x]"), "y", HONE_E_FORMAT,
     "argument 2 of higher_order.cond is not a graph"},
    {X, IF("true", NEGATE, "[@x,@x]"), "y", HONE_E_FORMAT, "another number of inputs or outputs"},
    {X, IF("true", NEGATE, "[1,2]"), "y", HONE_E_UNSUP,
     "with an operand that is not a tensor (as_ints)"},
    {X " s:7:1", COMPARE IF("@c", GRAPH(TENSOR("p"), "", ""), "[@x]"), "y", HONE_E_FORMAT,
     "its branches have 1 and 0 results"},
    {X " s:7:1", COMPARE IF("@c", GRAPH(TENSOR("p"), TENSOR("q"), INNER("isnan.default")), "[@x]"),
     "y", HONE_E_UNSUP, "a different type or rank in each branch"},
    {X " s:7:1", COMPARE IF("@c", GRAPH(TENSOR("p"), TENSOR("q"), INNER("relu_.default")), "[@x]"),
     "y", HONE_E_UNSUP, "an in-place write (aten.relu_.default)"},
    {X " s:7:", COMPARE IF("@c", NEGATE, "[@x]"), "y", HONE_OK, "[2,3] -0 -1 -2 -3 -4 -5"},
    {X, SIZES "$k = _operator.lt(a=$n, b=$m); " IF("$k", NEGATE, "[@x]"), "y", HONE_OK,
     "[2,3] 0 1 2 3 4 5"},
    {X, SIZES "$k = _operator.gt(a=$n, b=$m); " IF("$k", NEGATE, "[@x]"), "y", HONE_OK,
     "[2,3] -0 -1 -2 -3 -4 -5"},
    {X " s:7:1",
     "w = aten.expand.default(self=@s, size=[1]); a = aten.add_.Scalar(self=@s, other=1); " IF(
         "@w", NEGATE, "[@x]"),
     "y", HONE_E_UNSUP, "of a view of a tensor that was written since"},
    {X, WIDE ADD("x") "; " IF("true", NEGATE, "[@v]"), "y", HONE_E_UNSUP,
     "of a view of a tensor that was written since"},
    {X, IF("true", NEGATE, "[@nobody]"), "y", HONE_E_FORMAT, "reads \"nobody\""},
    {X, SIZES IF("true", NEGATE, "[@n]"), "y", HONE_E_UNSUP, "with a number among its tensors"},
    {X " s:7:1", COMPARE "y, z = higher_order.cond(c=@c, t=" RELU ", f=" RELU ", o=[@x])", "y",
     HONE_E_FORMAT, "its branches have 1 and 1 results"},
    {X " s:7:1", COMPARE "? = higher_order.cond(c=@c, t=" RELU ", f=" RELU ", o=[@x])", "x",
     HONE_E_FORMAT, "has no result 0"},
    {"x:7:2,2 s:7:1",
     CHOOSE("clone.default", "_conj.default") "; z = aten.view_as_real.default(self=@y)", "z",
     HONE_OK, "[2,2] 0 -1 2 -3"},
    {"x:7:2,2 s:7:1", CHOOSE("clone.default", "real.default"), "y", HONE_E_UNSUP,
     "with branches that return real and complex results"},
    {"x:7:1", BESIDE(IS_LESS, MORE, "[@nobody]", "[]"), "y", HONE_E_FORMAT, "reads \"nobody\""},
    {"x:7:1", BESIDE(IS_LESS, MORE, "[@x]", "[1,2]"), "y", HONE_E_UNSUP,
     "with an operand that is not a tensor"},
    {"x:7:1",
     "s = aten.full.default(size=[1], fill_value=3.0); " BESIDE(TWO("lt.Tensor"), TWO("add.Tensor"),
                                                                "[@x]", "[@s]"),
     "y", HONE_OK, "[1] 3"},
    {"x:7:1", ROUNDS(IS_LESS, TWICE, "[@x]"), "y", HONE_E_UNSUP, "a condition of 2 elements"},
    {"x:7:1", ROUNDS(IS_LESS, GRAPH(TENSOR("p"), TENSOR("q"), INNER("relu_.default")), "[@x]"), "y",
     HONE_E_UNSUP, "an in-place write (aten.relu_.default)"},
    {"x:7:1", ROUNDS(IS_LESS, GRAPH(TENSOR("p"), TENSOR("q"), INNER("isnan.default")), "[@x]"), "y",
     HONE_E_UNSUP, ""},
    {"x:7:1", "y, z = higher_order.while_loop(c=" IS_LESS ", b=" MORE ", x=[@x], o=[])", "y",
     HONE_E_FORMAT, "1 loop-carried tensors returns 1"},
    {"x:7:1", ROUNDS(IS_LESS, MORE, "[@x]"), "y", HONE_OK, "[1] 12"},
    {X, ROUNDS(IS_LESS, MORE, "[@x]"), "y", HONE_E_UNSUP, "a condition of 6 elements"},
    {"x:7:1", ROUNDS(GRAPH(TENSOR("p"), "", ""), MORE, "[@x]"), "y", HONE_E_FORMAT,
     "a condition with 0 results"},
    {"x:7:1", ROUNDS(IS_LESS, GRAPH(TENSOR("p"), "", ""), "[@x]"), "y", HONE_E_FORMAT,
     "an iteration with 1 loop-carried tensors returns 0"},
    {"x:7:1", ROUNDS("3", MORE, "[@x]"), "y", HONE_E_FORMAT,
     "argument 0 of higher_order.while_loop"},
    {X, ROWS("map_impl", NEGATE, "[@x], o=[]"), "y", HONE_OK, "[2,3] -0 -1 -2 -3 -4 -5"},
    {"x:7:20", ROWS("map_impl", NEGATE, "[@x], o=[]"), "y", HONE_OK,
     "[20] -0 -1 -2 -3 -4 -5 -6 -7 -8 -9 -10 -11 -12 -13 -14 -15 -16 -17 -18 -19"},
    {X, ROWS("map_impl", NEGATE, "[@x,@x], o=[]"), "y", HONE_E_FORMAT,
     "another number of inputs or outputs"},
    {X, ROWS("map_impl", NEGATE, "[], o=[@x]"), "y", HONE_E_FORMAT, "scans nothing"},
    {X, ROWS("map_impl", NEGATE, "[@x], o=3"), "y", HONE_E_UNSUP,
     "with an operand that is not a tensor (as_int)"},
    {X, ROWS("map_impl", "3", "[@x], o=[]"), "y", HONE_E_FORMAT, "argument 0 of higher_order.map"},
    {X, ROWS("map_impl", GRAPH(TENSOR("p"), "", ""), "[@x], o=[]"), "y", HONE_E_FORMAT,
     "0 carried tensors returns 0"},
    {"x:7:", ROWS("map_impl", NEGATE, "[@x], o=[]"), "y", HONE_E_UNSUP, "tensors without rows"},
    {"x:7:0,3", ROWS("map_impl", NEGATE, "[@x], o=[]"), "y", HONE_E_UNSUP, "without rows"},
    {"x:7:2,3 z:7:3,3", ROWS("scan", PAIR("add.Tensor"), "[], x=[@x,@z], o=[]"), "y", HONE_E_UNSUP,
     "different numbers"},
    {X " h:7:3", ROWS("scan", PAIR("add.Tensor"), "[@h], x=[@x], o=[]"), "y", HONE_OK, "[3] 3 6 9"},
    {X " h:7:3", ROWS("scan", NEGATE, "[@h], x=[@x], o=[]"), "y", HONE_E_FORMAT,
     "another number of inputs or outputs"},
    /* as PyTorch 2.5 wrote them: the dimension after the scanned operand */
    {X " h:7:3", ROWS("scan", PAIR("add.Tensor"), "[@h], x=[@x], d=0, r=false"), "y", HONE_E_UNSUP,
     "with an operand that is not a tensor (as_int)"},
    {X, ROWS("associative_scan", PAIR("add.Tensor"), "[@x], d=1"), "y", HONE_E_UNSUP,
     "with an operand that is not a tensor (as_int)"},
    {X, ROWS("associative_scan", PAIR("add.Tensor"), "[@x], o=[]"), "y", HONE_OK,
     "[2,3] 0 1 2 3 5 7"},
    {X, ROWS("associative_scan", PAIR("eq.Tensor"), "[@x], o=[]"), "y", HONE_E_UNSUP,
     "a graph that changes shapes or types"},
};

/* n: a data-dependent number of rows; u: one of its sizes */
#define FOUND "n = aten.nonzero.default(self=@x); $u = aten.sym_size.int(self=@n, dim=0); "
#define SOME "n = aten.nonzero.default(self=@x); $u = aten.sym_size.int(self=@n, dim=1); "

/* Data-dependent sizes are propagated or refused, never replaced by their bound. */
static const struct row open_rows[] = {
    {X, FOUND "$k = _operator.ge(a=$u, b=0); ? = aten._assert_scalar.default(self=$k)", "n",
     HONE_OK, NULL},
    {X, FOUND "y = aten.view.default(self=@n, size=[$u, 1, 2])", "y", HONE_OK, NULL},
    {X, FOUND "y = aten.view.default(self=@n, size=[6, 1, 2])", "y", HONE_E_UNSUP,
     "with a dynamic dimension is"},
    {X, FOUND "$v = _operator.mul(a=$u, b=2); y = aten.view.default(self=@n, size=[$v])", "y",
     HONE_E_UNSUP, "with a dynamic dimension is"},
    {X, FOUND "y = aten.full.default(size=[$u], fill_value=1)", "y", HONE_E_UNSUP,
     "of a dynamic dimension"},
    {X, FOUND "y = aten.mul.Scalar(self=@x, other=$u)", "y", HONE_E_UNSUP,
     "of a dynamic dimension"},
    {X, SOME "y = aten.mul.Scalar(self=@x, other=$u)", "y", HONE_OK, "[2,3] 0 2 4 6 8 10"},
    {X,
     "n = aten.nonzero.default(self=@x); $u = aten.sym_numel.default(self=@n); y = "
     "aten.mul.Scalar(self=@x, other=$u)",
     "y", HONE_E_UNSUP, "of a dynamic dimension"},
    {X, FOUND "$k = _operator.lt(a=$u, b=2); " IF("$k", NEGATE, "[@x]"), "y", HONE_E_UNSUP,
     "of a dynamic dimension"},
    {X, FOUND "y = aten.select.int(self=@n, dim=1, index=-1)", "y", HONE_OK, NULL},
    {X, FOUND "y = aten.select.int(self=@n, dim=0, index=-1)", "y", HONE_E_UNSUP,
     "from a dynamic dimension"},
    {X, FOUND "y = aten.flatten.using_ints(self=@n)", "y", HONE_E_UNSUP, "of a dynamic dimension"},
    {X, FOUND "y = aten.flatten.using_ints(self=@n, start_dim=1)", "y", HONE_OK, NULL},
    {X " m:12:2,3",
     "y = aten.masked_select.default(self=@x, mask=@m); z = aten.neg.default(self=@y)", "z",
     HONE_OK, NULL},
    {"x:7:1 m:12:2,3", "y = aten.masked_select.default(self=@x, mask=@m)", "y", HONE_OK, NULL},
    {X,
     FOUND "a = aten.unsqueeze.default(self=@n, dim=1); y = aten.flatten.using_ints(self=@a, "
           "start_dim=1)",
     "y", HONE_OK, NULL},
    {X, FOUND "t = aten.t.default(self=@n); y = aten.flatten.using_ints(self=@t, end_dim=0)", "y",
     HONE_OK, NULL},
    {X, FOUND "y = aten.slice.Tensor(self=@n, dim=0, start=-2, end=9223372036854775807)", "y",
     HONE_OK, NULL},
    {X, FOUND "y = aten.cat.default(tensors=[@n,@n])", "y", HONE_OK, NULL},
    {X,
     FOUND "$k = _operator.lt(a=$u, b=2); $v = torch.sym_ite(b=$k, t=1, f=2); y = "
           "aten.mul.Scalar(self=@x, other=$v)",
     "y", HONE_E_UNSUP, "of a dynamic dimension"},
    {X, FOUND "y = aten.unsqueeze.default(self=@n, dim=0); z = aten.squeeze.dim(self=@y, dim=0)",
     "z", HONE_OK, NULL},
    {"s:7:1", FOUND "y = aten.squeeze.dim(self=@n, dim=0)", "y", HONE_E_FORMAT, "nothing defines"},
    {"x:7:1", FOUND "y = aten.squeeze.dim(self=@n, dim=0)", "y", HONE_E_UNSUP,
     "of a dynamic dimension"},
    {X, FOUND "y = aten.flip.default(self=@n, dims=[0])", "y", HONE_E_UNSUP,
     "of a dynamic dimension"},
    {X, FOUND "y = aten.cumsum.default(self=@n, dim=0)", "y", HONE_OK,
     "[6,2] 0 1 0 3 1 3 2 4 3 6 0 0"},
    {X, FOUND "f = aten.to.dtype(self=@n, dtype=7); y = aten.sum.dim_IntList(self=@f, dim=[0])",
     "y", HONE_OK, "[2] 3 6"},
    {X, FOUND "y = aten.index.Tensor(self=@n, indices=[@i,@i])", "y", HONE_E_FORMAT,
     "nothing defines"},
    {X " i:5:2", FOUND "y = aten.index.Tensor(self=@n, indices=[@i,@i])", "y", HONE_E_UNSUP,
     "by several index lists"},
    {X, FOUND "t = aten.t.default(self=@n); a = aten.add_.Tensor(self=@n, other=@n)", "t",
     HONE_E_UNSUP, "of a view with a dynamic dimension"},
    {X, FOUND "t = aten.t.default(self=@n); a = aten.add_.Tensor(self=@t, other=@t)", "n",
     HONE_E_UNSUP, "of a view with a dynamic dimension"},
    {X, FOUND "a = aten.add_.Tensor(self=@n, other=@n)", "n", HONE_OK, NULL},
    {X, FOUND ROUNDS(IS_LESS, MORE, "[@n]"), "y", HONE_E_UNSUP, "a condition of"},
    {X, FOUND ROWS("map_impl", RELU, "[@n], o=[]"), "y", HONE_E_UNSUP, "of a dynamic dimension"},
};
static void open_sizes(void **state) {
  (void)state;
  check_all(open_rows, COUNT(open_rows));
}

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
    if (l.status) assert_non_null(strstr(l.ctx.message, "nested 8 deep"));
    unload(&l);
    snprintf(nodes, sizeof nodes,
             "{\"target\": \"torch.ops.higher_order.wrap_with_set_grad_enabled\", \"inputs\": "
             "[{\"arg\": " GRAPH("%s", "%s", "%s") "}, %s], \"outputs\": [%s]}",
             TENSOR("p"), TENSOR("q"), node, BOUND("p"), TENSOR("q"));
    assert_true(strlen(nodes) < sizeof node);
    memcpy(node, nodes, sizeof node);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(open_sizes),       cmocka_unit_test(control),
      cmocka_unit_test(many_operands),    cmocka_unit_test(wrapped),
      cmocka_unit_test(graphs_in_graphs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
