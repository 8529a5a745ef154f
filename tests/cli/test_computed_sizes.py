"""Data-dependent sizes with a known upper bound, as detectors use to paste masks: Resize, Slice, Range, ConstantOfShape, Expand,
Tile, TopK and Concat with such sizes, and a Loop that appends. Compiled code and the reference, against ONNX Runtime."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper as h, numpy_helper

ort = pytest.importorskip("onnxruntime")


def node(op, inputs, outputs, **attributes):
    return h.make_node(op, [name if name != "-" else "" for name in inputs.split()], outputs.split(), **attributes)


# 1 <= few <= 6, 2 <= twice <= 12, -2 <= over <= 3
BOUNDED = [node("Clip", "n one0 six", "few"), node("Unsqueeze", "few first", "list"), node("Mul", "few two", "twice"), node("Unsqueeze", "twice first", "twices"),
           node("Sub", "few three0", "over"), node("Unsqueeze", "over first", "overs"),
           node("Concat", "images list twices", "wide", axis=0), node("Concat", "images twices list", "tall", axis=0)]
WEIGHTS = {"one0": np.int64(1), "six": np.int64(6), "two": np.int64(2), "three0": np.int64(3), "seven0": np.int64(7), "zero": np.int64(0), "first": np.array([0]), "one": np.array([1]),
           "images": np.array([1, 2]), "end": np.array([2**63 - 1]), "third": np.array([3]), "both": np.array([2, 3]), "seven": np.array([7]),
           "row": np.array([[1.5, -2, 4]], np.float32), "three": np.array([3]), "start": np.float32([[1, 2], [3, 4], [5, 6]]), "part": np.float32([[1, -1]]),
           "none": np.zeros((0, 2), np.float32), "true": np.array(True), "half": np.float32(0.5), "images5": np.array([1, 2, 5])}


def resize(sizes, out, mode, coordinates, **more):
    return node("Resize", f"x - - {sizes}", out, mode=mode, coordinate_transformation_mode=coordinates, **more)


def loop(begin, rows, out):
    body = h.make_graph([node("Identity", "c", "g"), node("Cast", "i", "f", to=TensorProto.FLOAT), node("Add", f"{rows} f", "r"),
                         node("Concat", "v r", "w", axis=0)], "body",
                        [h.make_tensor_value_info("i", TensorProto.INT64, []), h.make_tensor_value_info("c", TensorProto.BOOL, []),
                         h.make_tensor_value_info("v", TensorProto.FLOAT, ["rows", 2])],
                        [h.make_tensor_value_info("g", TensorProto.BOOL, []), h.make_tensor_value_info("w", TensorProto.FLOAT, ["rows2", 2])])
    return node("Loop", f"few true {begin}", out, body=body)


CASES = {
    "nearest": [resize("wide", "a", "nearest", "asymmetric", nearest_mode="floor"), resize("tall", "b", "nearest", "half_pixel", nearest_mode="round_prefer_floor"),
                resize("wide", "c", "nearest", "half_pixel", nearest_mode="round_prefer_ceil"), resize("tall", "d", "nearest", "asymmetric", nearest_mode="ceil")],
    "linear": [resize("wide", "a", "linear", "half_pixel"), resize("tall", "b", "linear", "pytorch_half_pixel"), resize("wide", "c", "linear", "align_corners"),
               resize("tall", "d", "linear", "asymmetric")],
    "slices": [node("Slice", "x list end third", "a"), node("Slice", "x first list third", "b"), node("Slice", "x overs end third", "c"),
               node("Slice", "x overs list third", "d"), node("Slice", "x first twices third", "e"), node("Slice", "x twices end third", "f")],
    "made": [node("Range", "zero twice two", "a"), node("ConstantOfShape", "list", "b"), node("Concat", "list three", "to", axis=0), node("Expand", "row to", "c"),
             node("Concat", "list one", "times", axis=0), node("Tile", "row times", "d"), node("TopK", "x list", "e places", axis=3)],
    "grows": [loop("start", "part", "a"), loop("none", "part", "b"), loop("start", "start", "c"), node("Mul", "a half", "d")],
    "beside": [node("Clip", "n seven0 seven0", "seven1"), node("Unsqueeze", "seven1 first", "seven2"), node("Concat", "images5 seven2", "same", axis=0),
               resize("same", "z", "linear", "half_pixel"), node("Concat", "x z", "a", axis=1), node("Concat", "z x z", "b", axis=2)],
}


def model(nodes):
    outputs = [name for one in nodes for name in one.output if len(name) == 1 and name != "z"]
    graph = h.make_graph([*BOUNDED, *nodes], "g", [h.make_tensor_value_info("n", TensorProto.INT64, []), h.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, 5, 7])],
                         [h.make_empty_tensor_value_info(name) for name in outputs], [numpy_helper.from_array(np.asarray(a), n) for n, a in WEIGHTS.items()])
    return h.make_model(graph, opset_imports=[h.make_opsetid("", 20)], ir_version=10)


def run(hone, folder, made, n, x, mode):
    onnx.save(made, folder / "m.onnx")
    np.save(folder / "n.npy", np.array(n))
    np.save(folder / "x.npy", x)
    return hone("run", "m.onnx", "--input", f"n={folder}/n.npy", "--input", f"x={folder}/x.npy", "-o", "out", *mode)


@pytest.mark.parametrize("mode", [["--reference"], []], ids=["reference", "compiled"])
@pytest.mark.parametrize("case", CASES)
def test_sizes_of_a_run(hone, tmp_path, case, mode):
    made = model(CASES[case])
    x = np.random.default_rng(1).standard_normal((1, 2, 5, 7)).astype(np.float32)
    session = ort.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    for n in (-4, 1, 2, 3, 5, 9):
        done = run(hone, tmp_path, made, n, x, mode)
        assert done.code == 0, done.errors
        for k, want in enumerate(session.run(None, {"n": np.array(n), "x": x})):
            got = np.load(tmp_path / "out" / f"out_{k}.npy")
            assert got.shape == want.shape and got.dtype == want.dtype, (case, n, k, got.shape, want.shape)
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=2e-6, err_msg=f"{case} {n} {k}")


@pytest.mark.parametrize("mode", [["--reference"], []], ids=["reference", "compiled"])
def test_parts_that_do_not_meet_are_an_error(hone, tmp_path, mode):
    made = model([resize("wide", "z", "linear", "half_pixel"), node("Concat", "x z", "a", axis=1)])
    x = np.zeros((1, 2, 5, 7), np.float32)
    with pytest.raises(ort.capi.onnxruntime_pybind11_state.Fail):
        ort.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, {"n": np.array(3), "x": x})
    done = run(hone, tmp_path, made, 3, x, mode)
    assert done.code and "E_SHAPE" in done.errors, done.errors


@pytest.mark.parametrize("nodes, remedy", [([node("ConstantOfShape", "many", "a")], "initializer"), ([node("Abs", "n", "any"), node("Unsqueeze", "any first", "many1"), node("ConstantOfShape", "many1", "a")], "Clip or a Min")])
def test_what_nothing_bounds_names_the_remedy(hone, tmp_path, nodes, remedy):
    made = model(nodes)
    made.graph.input.append(h.make_tensor_value_info("many", TensorProto.INT64, [1]))
    onnx.save(made, tmp_path / "m.onnx")
    done = hone("compile", "m.onnx", "-o", "m.so")
    assert done.code and "E_UNSUP" in done.errors and remedy in done.errors, done.errors
