"""Operators along an axis with a data-dependent size, as in exported detectors: NonZero of a mask, then operators on the
selected elements. Compiled code and the reference against ONNX Runtime, with none, some and all elements selected."""

import numpy as np
import onnx
import pytest
from artifact import Artifact
from hone import sound, with_long
from onnx import TensorProto, helper as h, numpy_helper

ort = pytest.importorskip("onnxruntime")
FLOAT = TensorProto.FLOAT


def node(op, inputs, outputs, **attributes):
    return h.make_node(op, inputs.split(), outputs.split(), **attributes)


# the scores above 0, their rows of x, and how many there are
FOUND = [node("Greater", "s zero", "is"), node("NonZero", "is", "at"), node("Squeeze", "at first", "index"),
         node("Gather", "s index", "scores"), node("Gather", "x index", "rows"), node("Shape", "scores", "count")]
# at most three of them, as torchvision asks for them
FEW = [node("Concat", "count three", "counts", axis=0), node("ReduceMin", "counts", "least", keepdims=0), node("Unsqueeze", "least first", "k")]
ABOVE = [node("Greater", "scores half", "above"), node("NonZero", "above", "high")]
WEIGHTS = {"zero": np.float32(0), "half": np.float32(0.5), "first": np.array([0]), "second": np.array([1]), "three": np.array([3]), "one": np.array([1]),
           "two": np.array([2]), "four": np.array([4]), "five": np.array([5]), "end": np.array([2**63 - 1]), "both": np.array([0, 1]),
           "last": np.array(-1), "w": np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3), "b": np.arange(3, dtype=np.float32),
           "pairs": np.array([-1, 2, 2]), "flat": np.array([-1]), "more": np.linspace(0, 1, 8, dtype=np.float32).reshape(2, 4),
           "limit": np.array([4]), "overlap": np.float32(0.4), "zeroth": np.array(0), "step": np.array(1), "minus": np.array([-1, -1]), "ones2": np.array([1, 1]), "row": np.arange(4, dtype=np.float32).reshape(1, 4), "none": np.array([0]), "begins": np.array([-2**63, -2**63]), "zeros2": np.array([0, 0]), "quads": np.array([-1, 4]),
           "back3": np.array([-3]), "back4": np.array([-4]), "back9": np.array([-9]), "back1": np.array([-1]), "begin": np.array([-2**63]), "minus2": np.array([-2]), "nine": np.array([9]),
           "update": np.array([[7]], np.float32), "halves": np.array([1, 2]), "sides": np.array([0, 1, 0, 2]), "ones2f": np.array([0, 1], np.float32), "whole": (np.arange(12) % 7 - 3).astype(np.int8).reshape(4, 3),
           "images": np.array([-1, 4, 1, 1]), "image4": np.linspace(1, 2, 16, dtype=np.float32).reshape(1, 4, 2, 2), "four4": np.linspace(1, 2, 4, dtype=np.float32), "twice": np.array([1, 1, 2, 2], np.float32),
           "sequences": np.array([-1, 2, 2]), "lstm": np.linspace(-1, 1, 16, dtype=np.float32).reshape(1, 8, 2), "states": np.linspace(1, -1, 16, dtype=np.float32).reshape(1, 8, 2), "gru": np.linspace(-1, 1, 12, dtype=np.float32).reshape(1, 6, 2), "gates": np.linspace(1, -1, 12, dtype=np.float32).reshape(1, 6, 2),
           "around": np.array([0, 1, 0, 0, 0, 2]), "ends": np.array([2, -1]), "quarters": np.array([-1, 2]), "image": np.linspace(-2, 2, 128, dtype=np.float32).reshape(1, 2, 8, 8)}

CASES = {
    "topk": ([*FEW, node("TopK", "scores k", "best places"), node("Gather", "rows places", "y")], ["best", "places", "y"]),
    "topk-smallest": ([*FEW, node("TopK", "scores k", "best places", largest=0)], ["best", "places"]),
    "topk-rows": ([*FEW, node("TopK", "rows k", "best places", axis=0)], ["best", "places"]),
    "topk-integers": ([*FEW, node("TopK", "index k", "best places", largest=0)], ["best", "places"]),
    "topk-of-known": ([*FEW, node("TopK", "s k", "best places"), node("Mul", "best best", "y")], ["y", "places"]),
    "concat": ([*ABOVE, node("Squeeze", "high first", "which"), node("Gather", "rows which", "others"), node("Gather", "scores which", "their"),
                node("Concat", "rows more others", "all", axis=0), node("Concat", "rows others", "these", axis=0),
                node("Concat", "scores their", "values", axis=0), node("Unsqueeze", "values second", "column"),
                node("Mul", "these column", "scaled")], ["all", "scaled"]),
    "maximum": ([node("ReduceMax", "rows", "top", keepdims=0), node("Add", "rows top", "y")], ["top", "y"]),
    "reductions": ([node("ReduceMin", "rows first", "a", keepdims=0), node("ReduceSum", "rows first", "b0", keepdims=1),
                    node("ReduceProd", "scores", "c", keepdims=0), node("ReduceMin", "index", "d"), node("ReduceMax", "rows second", "e"),
                    node("ArgMax", "rows", "f", axis=1, keepdims=0), node("ReduceMean", "rows second", "g", keepdims=0)], list("acdefg") + ["b0"]),
    "slices": ([node("Slice", "rows first three first", "a"), node("Slice", "rows two end first", "c"),
                node("Slice", "rows second four second", "d0"),
                node("Slice", "d0 one five first", "d"), node("Slice", "scores first three first", "e")], ["a", "c", "d", "e"]),
    "from-the-end": ([node("Slice", "rows back3 end first", "a"), node("Slice", "rows first back1 first", "c"), node("Slice", "rows one back1 first", "d"),
                      node("Slice", "rows back4 back1 first", "e"), node("Slice", "scores back3 five first", "f"), node("Slice", "scores two back4 first", "g"),
                      node("Slice", "rows back9 end first", "h"), node("Add", "h rows", "i"), node("Slice", "rows minus ones2 both", "j"),
                      node("Slice", "scores begin five first", "k"), node("Slice", "index nine end first", "l"), node("Add", "scores scores", "many"),
                      node("Slice", "scores one end first", "tail"), node("Slice", "many one end first", "tail2"), node("Sub", "tail tail2", "m")], list("acdefghijklm")),
    "in-steps": ([node("Slice", "rows first end first two", "a"), node("Slice", "rows back1 begin first back1", "c"), node("Add", "c rows", "d"),
                  node("Slice", "scores end begin first minus2", "e"), node("Slice", "scores four one first back1", "f"), node("Slice", "scores minus2 back4 first back1", "g"),
                  node("Slice", "rows back9 begin first back1", "h"), node("Slice", "index three back1 first three", "i"), node("Slice", "rows one five first nine", "j"),
                  node("Slice", "rows back3 first first back1", "k"), node("Slice", "rows minus begins both minus", "l")], list("acdefghijkl")),
    "from-a-size": ([node("Slice", "x count end first", "a"), node("Slice", "x first count first two", "c"), node("Slice", "x one count first", "d"),
                     *ABOVE, node("Squeeze", "high first", "which"), node("Shape", "which", "fewer"), node("Slice", "rows fewer end first", "e"),
                     node("Slice", "rows first fewer first", "f"), node("Slice", "rows fewer count first", "g"), node("Slice", "x fewer count first", "h"),
                     node("Slice", "x count first first back1", "i"), node("Slice", "rows back3 fewer first", "j")], list("acdefghij")),
    "means": ([node("ReduceMean", "rows first", "a", keepdims=0), node("ReduceMean", "scores", "c"), node("ReduceMean", "rows", "d", keepdims=0),
               node("ReduceLogSumExp", "rows first", "e"), node("ReduceLogSum", "scores first", "f", keepdims=0), node("Sub", "rows a", "g"),
               node("Cast", "index", "small", to=TensorProto.INT32), node("ReduceMean", "small", "h", keepdims=0)], list("acdefgh")),
    "likeliest": ([node("Softmax", "rows", "a", axis=0), node("LogSoftmax", "scores", "c"), node("ArgMax", "rows", "d", axis=0, keepdims=0),
                   node("ArgMin", "index", "e", axis=-1), node("Mul", "a rows", "f"), node("ReduceSum", "a first", "g")], list("acdefg")),
    "attention": ([node("Transpose", "rows", "across", perm=[1, 0]), node("MatMul", "rows across", "a"), node("Softmax", "a", "p"),
                   node("MatMul", "p rows", "c"), node("MatMul", "scores rows", "d"), node("Unsqueeze", "scores second", "column"), node("MatMul", "across column", "e"),
                   node("MatMul", "scores scores", "f"), node("Unsqueeze", "rows first", "rows3"), node("MatMul", "rows3 w", "g"),
                   node("MatMul", "x across", "h"), node("Gemm", "rows w b", "i")], list("acdefghi")),
    "two-sizes": ([*ABOVE, node("Squeeze", "high first", "which"), node("Gather", "scores which", "their"), node("Gather", "rows which", "some"), node("Shape", "their", "fewer"),
                   node("Unsqueeze", "scores second", "column"), node("Unsqueeze", "their first", "line"), node("Mul", "column line", "table"),
                   node("Unsqueeze", "rows second", "rows2"), node("Unsqueeze", "some first", "some2"), node("Min", "rows2 some2", "pairs3"),
                   node("Concat", "count fewer two two", "shape4", axis=0), node("Reshape", "pairs3 shape4", "a"),
                   node("Concat", "count fewer one", "shape3", axis=0), node("Reshape", "table shape3", "c"), node("Reshape", "table flat", "d"),
                   node("Reshape", "pairs3 quads", "e"), node("Reshape", "a flat", "f"), node("Slice", "table minus2 end second", "g"),
                   node("Slice", "table zeros2 minus both", "h"), node("ReduceSum", "table second", "i"), node("ReduceMean", "pairs3 first", "j"),
                   node("Compress", "table above", "k", axis=0), node("Transpose", "rows", "across"), node("Reshape", "across flat", "l"),
                   node("Concat", "table table", "m", axis=1), node("ReduceMean", "table", "n", keepdims=0)], list("acdefghijklm")),
    "where-again": ([*ABOVE, node("Transpose", "high", "turned", perm=[1, 0]), node("GatherND", "rows turned", "y"),
                     node("Compress", "scores above", "z", axis=0)], ["y", "z", "high"]),
    "twice": ([node("Neg", "rows", "a"), node("Neg", "rows", "c")], ["a", "c"]),
    "last": ([node("Gather", "scores last", "a", axis=0), node("Gather", "rows last", "c", axis=0)], ["a", "c"]),
    "boxes": ([node("Unsqueeze", "rows first", "boxes"), node("Unsqueeze", "scores both", "of"),
               node("NonMaxSuppression", "boxes of limit overlap", "kept"), node("Gather", "kept two", "column", axis=1),
               node("Squeeze", "column second", "which"), node("Slice", "which first three first", "few"), node("Gather", "rows few", "y"),
               node("Gather", "scores few", "z")], ["kept", "y", "z"]),
    "whole": ([node("Split", "rows count", "a", axis=0), node("Split", "a", "c d", axis=1, num_outputs=2), node("Sub", "c d", "y")], ["a", "y"]),
    "products": ([node("MatMul", "rows w", "m"), node("Gemm", "rows w b", "g"), node("Softmax", "g", "p", axis=1), node("Reshape", "rows pairs", "r"),
                  node("Reshape", "scores flat", "f"), node("Add", "m p", "y")], ["y", "r", "f"]),
    "regions": ([node("Mul", "index first", "which"), node("RoiAlign", "image rows which", "cut", output_height=2, output_width=2, sampling_ratio=2),
                 node("Unsqueeze", "scores second", "c"), node("Unsqueeze", "c two", "d"), node("Unsqueeze", "d three", "weight"),
                 node("Mul", "cut weight", "y")], ["cut", "y"]),
    # shapes as exporters write them: a data-dependent size concatenated with constants
    "shapes": ([node("Gather", "count zeroth", "n"), node("Unsqueeze", "n first", "size"), node("Concat", "size four", "shape", axis=0),
                node("ConstantOfShape", "shape", "ones", value=numpy_helper.from_array(np.ones(1, np.float32))), node("Add", "rows ones", "a"),
                node("Unsqueeze", "scores second", "column"), node("Equal", "shape minus", "never"),
                node("Where", "never ones2 shape", "same"), node("Expand", "column same", "c"), node("Expand", "row shape", "wide"), node("Sub", "rows wide", "d"),
                node("Range", "zeroth n step", "steps"), node("Mul", "steps index", "e"), node("Concat", "size two two", "pairs2", axis=0),
                node("Reshape", "rows pairs2", "f"),
                node("Add", "size first", "end0"), node("Slice", "rows first end0 first", "h"), node("Slice", "x first size first", "i"), node("Add", "h i", "j")],
               list("acdefhj")),
    # one row per image, as masks of classes are selected; its sides come from a Shape of the value
    "masks": ([node("Reshape", "rows pairs", "r"), node("Flatten", "r", "lines", axis=2), node("Shape", "r", "sizes"), node("Gather", "sizes second", "side"),
               node("Concat", "flat side side", "pairs2", axis=0), node("Reshape", "rows pairs2", "r2"), node("Pad", "r2 around", "a"),
               h.make_node("Pad", ["r2", "ends", "", "second"], ["c"])], ["lines", "a", "c"]),
    # the size is one of rows, images or sequences: no other dimension depends on it
    "many-rows": ([node("LayerNormalization", "rows row row", "a"), node("LpNormalization", "rows", "c", axis=1), node("Hardmax", "rows", "d", axis=1), node("CumSum", "rows step", "e", reverse=1),
                   node("CumSum", "rows zeroth", "f"), node("Tile", "rows halves", "g"), node("Pad", "rows sides", "h"), node("ArgMax", "rows", "best", axis=1, keepdims=0), node("OneHot", "best four ones2f", "i"),
                   node("DynamicQuantizeLinear", "rows", "q scale zp"), node("MatMulInteger", "q whole zp", "m"), node("Cast", "m", "mf", to=FLOAT), node("Mul", "mf scale", "j"), node("Trilu", "rows2", "k"),
                   node("Reshape", "rows pairs", "rows2")], list("acdefghijk")),
    "many-images": ([node("Reshape", "rows images", "r"), node("Mul", "r image4", "v"), node("InstanceNormalization", "v four4 four4", "a"), node("MaxPool", "v", "c", kernel_shape=[2, 2]),
                     node("LRN", "v", "d", size=3), node("GlobalMaxPool", "v", "e"), node("LpPool", "v", "f", kernel_shape=[2, 2]), node("DepthToSpace", "v", "g", blocksize=2), node("SpaceToDepth", "v", "i", blocksize=2),
                     h.make_node("Resize", ["v", "", "twice"], ["j"], mode="linear")], list("acdefgij")),
    "many-sequences": ([node("Reshape", "rows sequences", "r"), node("Transpose", "r", "t", perm=[1, 0, 2]), node("LSTM", "t lstm states", "a c d", hidden_size=2), node("GRU", "t gru gates", "e f", hidden_size=2)], list("acdef")),
    "rest": ([node("Reshape", "rows pairs", "f"), node("Concat", "count flat", "line", axis=0), node("Reshape", "f line", "g")], ["g"]),
    "many-as-one": ([node("Reshape", "rows quarters", "a"), node("Reshape", "rows flat", "c"), node("Unsqueeze", "c second", "column"), node("Concat", "column column", "pairs2", axis=1),
                     node("Reshape", "pairs2 quarters", "d"), node("Add", "a a", "e")], list("acde")),
    "scattered": ([*ABOVE, node("Squeeze", "high first", "which"), node("Gather", "rows which", "some"), node("Neg", "some", "negative"),
                   node("Unsqueeze", "which second", "column"), node("Shape", "some", "shape"), node("Expand", "column shape", "where"),
                   node("ScatterElements", "rows where negative", "a", axis=0), node("ScatterElements", "x where some", "c", axis=0)], list("ac")),
}
BRANCHES = [h.make_graph(nodes, name, [], [h.make_empty_tensor_value_info(out)], constants) for name, nodes, out, constants in
            [("none", [node("Identity", "empty", "nothing")], "nothing", [numpy_helper.from_array(np.zeros((0, 4), np.float32), "empty")]),
             ("some", [node("ReduceMax", "rows", "top", keepdims=0), node("Sub", "rows top", "below")], "below", [])]]
CASES["nothing-of-nothing"] = ([node("Equal", "count none", "is0"), node("If", "is0", "a", then_branch=BRANCHES[0], else_branch=BRANCHES[1]),
                                node("ReduceSum", "scores", "sum", keepdims=0), node("Greater", "sum half", "exceeds"),
                                node("If", "exceeds", "c", then_branch=BRANCHES[1], else_branch=BRANCHES[0])], ["a", "c"])
# branches that return all selected elements, some of them, or a value of known size
SIZED = [h.make_graph(nodes, name, [], [h.make_empty_tensor_value_info(out) for out in outs]) for name, nodes, outs in
         [("all", [node("Identity", "rows", "r1"), node("Identity", "scores", "s1")], ["r1", "s1"]),
          ("high", [node("Compress", "rows above", "r2", axis=0), node("Compress", "scores above", "s2", axis=0)], ["r2", "s2"]),
          ("known", [node("Identity", "more", "r3"), node("ReduceMax", "more second", "s3", keepdims=0)], ["r3", "s3"])]]
CASES["branches"] = ([node("Greater", "scores half", "above"), node("ReduceSum", "s", "sum", keepdims=0), node("Greater", "sum half", "exceeds"),
                      node("If", "exceeds", "a b0", then_branch=SIZED[0], else_branch=SIZED[1]), node("Unsqueeze", "b0 second", "b1"), node("Mul", "a b1", "c"),
                      node("If", "exceeds", "d e", then_branch=SIZED[2], else_branch=SIZED[0]), node("ReduceSum", "d first", "f", keepdims=0),
                      node("If", "exceeds", "g unread", then_branch=SIZED[1], else_branch=SIZED[1])], list("acdefg"))
# ONNX Runtime ends in an LSTM without sequences, refuses the maximum of an empty axis and a Reshape to -1 when another size is 0; an empty axis has no last element
NOT_EMPTY = {"maximum", "reductions", "last", "rest", "means", "likeliest", "many-sequences"}


def model(nodes, outputs):
    graph = h.make_graph([*FOUND, *nodes], "g", [h.make_tensor_value_info("s", FLOAT, [9]), h.make_tensor_value_info("x", FLOAT, [9, 4])], [],
                              [numpy_helper.from_array(np.asarray(a), n) for n, a in WEIGHTS.items()])
    graph.output.extend(h.make_empty_tensor_value_info(n) for n in outputs)
    made = h.make_model(graph, opset_imports=[h.make_opsetid("", 20)], ir_version=10)
    return onnx.shape_inference.infer_shapes(made)


def cases_and_modes():
    """Each case by the reference; compiled each fourth in `make test`, all in `make test-full`."""
    for i, case in enumerate(CASES):
        yield pytest.param(case, ["--reference"], id=f"{case}-reference")
        yield pytest.param(case, [], id=f"{case}-compiled", marks=[pytest.mark.long] if i % 4 else [])


@pytest.mark.parametrize("case, mode", list(cases_and_modes()))
def test_what_is_chosen_of_what_was_found(hone, tmp_path, case, mode):
    onnx.save(model(*CASES[case]), tmp_path / "m.onnx")
    session = ort.InferenceSession(str(tmp_path / "m.onnx"), providers=["CPUExecutionProvider"])
    draw = np.random.default_rng(len(case))
    x = np.sort(draw.uniform(0, 6, (9, 4)).astype(np.float32), axis=1)
    np.save(tmp_path / "x.npy", x)
    for s in (draw.standard_normal(9), np.abs(draw.standard_normal(9)), np.full(9, -1.0), np.where(np.arange(9) == 4, 1.0, -1.0), -draw.standard_normal(9)):
        s = s.astype(np.float32)
        if case in NOT_EMPTY and not (s > 0).any():
            continue
        np.save(tmp_path / "s.npy", s)
        done = hone("run", "m.onnx", "--input", f"s={tmp_path}/s.npy", "--input", f"x={tmp_path}/x.npy", "-o", "out", *mode)
        assert done.code == 0, done.errors
        for k, want in enumerate(session.run(None, {"s": s, "x": x})):
            got = np.load(tmp_path / "out" / f"out_{k}.npy")
            assert got.shape == want.shape and got.dtype == want.dtype, (case, k, got, want)
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5, err_msg=f"{case} {k}")


# what they cut or count from the end is another part of nine elements than of five
ONE_LENGTH = {"slices", "from-the-end", "in-steps", "from-a-size"}


@pytest.mark.parametrize("case", with_long([c for i, c in enumerate(CASES) if c not in ONE_LENGTH and i % 3 == 0], *[c for i, c in enumerate(CASES) if c not in ONE_LENGTH and i % 3]))
def test_what_is_chosen_from_inputs_of_any_length(hone, tmp_path, case):
    """The caller's size and data-dependent ones, in one artifact."""
    made = model(*CASES[case])
    for port in made.graph.input:
        port.type.tensor_type.shape.dim[0].dim_param = "n"
    onnx.save(made, tmp_path / "m.onnx")
    sound(hone("compile", "m.onnx", "--shape", "s[5<=N<=9],x[N,4]", "-o", "m.so"))
    artifact, session, draw = Artifact(tmp_path / "m.so"), ort.InferenceSession(str(tmp_path / "m.onnx")), np.random.default_rng(len(case))
    for n in (9, 5, 8, 6):
        x = np.sort(draw.uniform(0, 6, (n, 4)).astype(np.float32), axis=1)
        for s in (draw.standard_normal(n), np.full(n, -1.0), np.where(np.arange(n) == 4, 1.0, -1.0)):
            s = s.astype(np.float32)
            if case in NOT_EMPTY and not (s > 0).any():
                continue
            for k, (got, want) in enumerate(zip(artifact(s, x), session.run(None, {"s": s, "x": x}))):
                assert got.shape == want.shape, (case, n, k, got, want)
                np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5, err_msg=f"{case} {n} {k}")


OUTSIDE = {
    "gather": [node("Gather", "rows count", "y", axis=0)],
    "gather-nd": [node("Unsqueeze", "count second", "beyond"), node("GatherND", "rows beyond", "y")],
    "scatter": [node("Unsqueeze", "count second", "beyond"), node("ScatterElements", "rows beyond update", "y", axis=0)],
    "scatter-before": [node("Neg", "count", "under"), node("Sub", "under one", "below"), node("Unsqueeze", "below second", "beyond"),
                       node("ScatterElements", "rows beyond update", "y", axis=0)],
}


@pytest.mark.parametrize("mode", [["--reference"], []], ids=["reference", "compiled"])
@pytest.mark.parametrize("case", OUTSIDE)
def test_an_index_beyond_what_was_found_is_an_error(hone, tmp_path, case, mode):
    onnx.save(model(OUTSIDE[case], ["y"]), tmp_path / "m.onnx")
    s = np.where(np.arange(9) % 3 == 0, 1.0, -1.0).astype(np.float32)
    x = np.zeros((9, 4), np.float32)
    with pytest.raises(ort.capi.onnxruntime_pybind11_state.InvalidArgument):
        ort.InferenceSession(str(tmp_path / "m.onnx"), providers=["CPUExecutionProvider"]).run(None, {"s": s, "x": x})
    np.save(tmp_path / "s.npy", s)
    np.save(tmp_path / "x.npy", x)
    done = hone("run", "m.onnx", "--input", f"s={tmp_path}/s.npy", "--input", f"x={tmp_path}/x.npy", "-o", "out", *mode)
    assert done.code and "E_SHAPE" in done.errors, done.errors


@pytest.mark.parametrize("nodes", [[h.make_node("Concat", ["rows", "", "rows"], ["y"], axis=0)],
                                   [h.make_node("MatMul", ["rows", "w"], [""]), node("Neg", "scores", "y")],
                                   [h.make_node("MaxPool", ["image"], ["", "places"], kernel_shape=[2, 2]), node("Neg", "scores", "y")],
                                   [h.make_node("Compress", ["rows", "is"], ["y"], axis=1)],
                                   [node("Unsqueeze", "rows first", "boxes"), node("Unsqueeze", "scores both", "of"), node("NonMaxSuppression", "boxes of index overlap", "y")],
                                   [h.make_node("Reshape", ["rows", "pairs"], [""]), node("Neg", "scores", "y")],
                                   [h.make_node("Expand", ["rows", "one"], [""]), node("Neg", "scores", "y")],
                                   [h.make_node("Squeeze", ["rows", "one"], [""]), node("Neg", "scores", "y")]], ids=lambda nodes: nodes[0].op_type)
def test_what_is_left_out_is_looked_for_nowhere(hone, tmp_path, nodes):
    graph = model([node("Neg", "scores", "y")], ["y"])
    del graph.graph.node[-1]
    graph.graph.node.extend(nodes)
    onnx.save(graph, tmp_path / "m.onnx")
    assert hone("inspect", "m.onnx", "--no-measure").code in (0, 65)
