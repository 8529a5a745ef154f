"""hone export -o FILE.tflite: read back by hone's own importer, and run by LiteRT where that is, against the model."""

import json
import os
import pathlib

import numpy as np
import onnx
import pytest
from onnx import helper as h

from hone import refused, sound

# Small forms of the zoo's families.
SMALL = ["mlp", "conv,batch=1", "mnist_cnn", "transformer,batch=1,sequence=8", "mobilenet_v3_small,size=32",
         "resnet18,size=32", "dlrm,batch=2", "gpt2,layers=1,sequence=8,width=64,vocabulary=100",
         "conformer,layers=1,size=40,width=48", "yolov8n,size=64",
         "llama_3_2_1b_int4,layers=1,sequence=8,width=64,vocabulary=100"]

QUICK = ["--no-measure", "--rounds", "1", "--incarnations", "1", "--min-time", "0.01", "--min-samples", "3", "--warmup",
         "0.01", "--threads", "1", "--resume", "never"]

N = h.make_node


def weight(*dims, seed=1):
    return np.random.default_rng(seed).standard_normal(dims).astype(np.float32)


def i64(*numbers):
    return np.array(numbers, np.int64)


# name: input dims, nodes from x to y, constants
CASES = {
    "conv_same": ([1, 3, 9, 7], [N("Conv", ["x", "w", "b"], ["y"], pads=[1, 1, 1, 1])], {"w": weight(4, 3, 3, 3),
                                                                                         "b": weight(4)}),
    "conv_pads": ([1, 3, 9, 7], [N("Conv", ["x", "w"], ["y"], pads=[2, 0, 1, 3], strides=[2, 1])],
                  {"w": weight(4, 3, 3, 3)}),
    "conv_dilated": ([1, 3, 9, 9], [N("Conv", ["x", "w"], ["y"], dilations=[2, 2])], {"w": weight(4, 3, 3, 3)}),
    "conv_groups": ([1, 4, 9, 7], [N("Conv", ["x", "w"], ["y"], group=2)], {"w": weight(6, 2, 3, 3)}),
    "conv_depthwise": ([1, 4, 9, 7], [N("Conv", ["x", "w"], ["y"], group=4, pads=[1, 1, 1, 1], strides=[2, 2])],
                       {"w": weight(8, 1, 3, 3)}),
    "conv_line": ([2, 3, 11], [N("Conv", ["x", "w"], ["z"], pads=[2, 2]), N("Relu", ["z"], ["y"])],
                  {"w": weight(5, 3, 5)}),
    "conv_transposed": ([1, 3, 5, 4], [N("ConvTranspose", ["x", "w"], ["y"], strides=[2, 2], pads=[1, 1, 1, 1],
                                         output_padding=[1, 0])], {"w": weight(3, 2, 3, 3)}),
    "max_pool_pads": ([1, 3, 9, 7], [N("MaxPool", ["x"], ["y"], kernel_shape=[3, 3], strides=[2, 2],
                                       pads=[1, 1, 0, 1])], {}),
    "max_pool_ceil": ([1, 3, 8, 8], [N("MaxPool", ["x"], ["y"], kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)], {}),
    "mean_pool_inside": ([1, 3, 9, 7], [N("AveragePool", ["x"], ["y"], kernel_shape=[3, 3], pads=[1, 1, 0, 2])], {}),
    "mean_pool_all": ([1, 3, 9, 7], [N("AveragePool", ["x"], ["y"], kernel_shape=[3, 3], pads=[1, 1, 1, 1],
                                       count_include_pad=1)], {}),
    "image_chain": ([1, 3, 8, 8],
                    [N("Conv", ["x", "w"], ["a"]), N("Sigmoid", ["a"], ["s"]), N("Mul", ["a", "s"], ["m"]),
                     N("Add", ["m", "c"], ["d"]), N("Concat", ["d", "a"], ["e"], axis=1),
                     N("Slice", ["e", "from", "to", "axes", "by"], ["f"]), N("Softmax", ["f"], ["g"], axis=1),
                     N("ReduceMean", ["g", "hw"], ["y"], keepdims=1)],
                    {"w": weight(4, 3, 1, 1), "c": weight(4, 1, 1), "from": i64(1, 2), "to": i64(7, 99),
                     "axes": i64(1, 3), "by": i64(1, 2), "hw": i64(2, 3)}),
    "both_orders": ([1, 3, 4, 4], [N("Conv", ["x", "w"], ["a"]), N("Transpose", ["a"], ["t"], perm=[0, 2, 3, 1]),
                                   N("Add", ["t", "c"], ["u"]), N("Transpose", ["u"], ["v"], perm=[0, 3, 1, 2]),
                                   N("Add", ["a", "v"], ["y"])], {"w": weight(4, 3, 1, 1), "c": weight(4)}),
    "relu_of_two_readers": ([1, 3, 4, 4], [N("Conv", ["x", "w"], ["a"]), N("Relu", ["a"], ["r"]),
                                           N("Add", ["a", "r"], ["y"])], {"w": weight(4, 3, 1, 1)}),
    "clip_six": ([2, 8], [N("MatMul", ["x", "w"], ["a"]), N("Clip", ["a", "low", "high"], ["y"])],
                 {"w": weight(8, 5), "low": np.float32(0), "high": np.float32(6)}),
    "normal": ([1, 4, 5, 3], [N("InstanceNormalization", ["x", "s", "b"], ["y"])], {"s": weight(4), "b": weight(4)}),
    "layer_norm": ([2, 5, 6], [N("LayerNormalization", ["x", "s", "b"], ["y"], axis=-1)],
                   {"s": weight(6), "b": weight(6)}),
    "gelu": ([2, 7], [N("Div", ["x", "root"], ["a"]), N("Erf", ["a"], ["e"]), N("Add", ["e", "one"], ["f"]),
                      N("Mul", ["x", "f"], ["g"]), N("Mul", ["g", "half"], ["y"])],
             {"root": np.float32(2 ** 0.5), "one": np.float32(1), "half": np.float32(0.5)}),
    "erf": ([2, 50], [N("Erf", ["x"], ["y"])], {}),
    "by_expression": ([2, 50], [N("Softplus", ["x"], ["a"]), N("Mish", ["a"], ["b"]), N("HardSigmoid", ["b"], ["c"]),
                                N("Selu", ["c"], ["d"]), N("Softsign", ["d"], ["y"])], {}),
    "compare": ([2, 9], [N("Less", ["x", "c"], ["m"]), N("Where", ["m", "c", "x"], ["y"])], {"c": weight(9)}),
    "gather": ([3, 8], [N("Gather", ["x", "at"], ["y"], axis=1)], {"at": i64(-1, 0, 3)}),
    "largest": ([3, 8], [N("ArgMax", ["x"], ["a"], axis=1), N("Cast", ["a"], ["y"], to=1)], {}),
    "matmul_batch": ([2, 3, 4, 5], [N("Transpose", ["x"], ["t"], perm=[0, 1, 3, 2]), N("MatMul", ["x", "t"], ["y"])],
                     {}),
    "gemm": ([3, 8], [N("Gemm", ["x", "w", "c"], ["y"], alpha=0.5, beta=2.0, transB=1)],
             {"w": weight(4, 8), "c": weight(3, 1)}),
    "pad_reflect": ([1, 2, 5, 5], [N("Pad", ["x", "p"], ["y"], mode="reflect")], {"p": i64(0, 0, 2, 1, 0, 0, 0, 2)}),
    "resize_linear": ([1, 2, 5, 4], [N("Resize", ["x", "", "", "to"], ["y"], mode="linear")],
                      {"to": i64(1, 2, 10, 12)}),
    "resize_nearest": ([1, 2, 5, 4], [N("Resize", ["x", "", "s"], ["y"], mode="nearest")],
                       {"s": np.array([1, 1, 2, 3], np.float32)}),
    "depth_to_space": ([1, 8, 3, 2], [N("DepthToSpace", ["x"], ["y"], blocksize=2)], {}),
    "split": ([1, 6, 4, 4], [N("Split", ["x", "n"], ["a", "b"], axis=1), N("Tile", ["a", "r"], ["c"]),
                             N("Concat", ["b", "c"], ["y"], axis=0)], {"n": i64(3, 3), "r": i64(2, 1, 1, 1)}),
    "same_output_as_input": ([2, 3], [N("Identity", ["x"], ["y"])], {}),
    "quantised": ([1, 3, 6, 6], [N("QuantizeLinear", ["x", "s", "z"], ["q"]), N("DequantizeLinear", ["q", "s", "z"], ["d"]),
                                 N("Conv", ["d", "w"], ["y"])],
                  {"w": weight(4, 3, 3, 3), "s": np.float32(0.05), "z": np.int8(3)}),
}


def model_of(case):
    dims, nodes, constants = CASES[case]
    graph = h.make_graph(nodes, case, [h.make_tensor_value_info("x", 1, dims)],
                         [h.make_tensor_value_info("y", 1, None)],
                         [onnx.numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()])
    return onnx.shape_inference.infer_shapes(
        h.make_model(graph, opset_imports=[h.make_opsetid("", 18)], ir_version=8))


def outputs(hone, model, inputs, folder):
    sound(hone("run", model, "--reference", "--inputs", inputs, "-o", folder, timeout=120))
    return [np.load(path) for path in sorted(folder.glob("out_*.npy"))]


def same_both_ways(hone, model, tmp_path):
    sound(hone("export", model, "-o", tmp_path / "a.tflite", timeout=120))
    sound(hone("inspect", model, "--json", tmp_path / "d.json", "--no-measure"))
    described = json.loads((tmp_path / "d.json").read_text())
    random = np.random.default_rng(3)
    (tmp_path / "in").mkdir()
    for k, value in enumerate(described["inputs"]):
        kind = np.dtype({"f32": "f4", "i64": "i8", "i32": "i4", "bool": "?"}[value["dtype"]])
        x = random.standard_normal(value["shape"]) if kind == "f4" else random.integers(0, 2, value["shape"])
        np.save(tmp_path / "in" / f"in_{k}.npy", x.astype(kind))
    wanted = outputs(hone, model, tmp_path / "in", tmp_path / "out")
    got = outputs(hone, tmp_path / "a.tflite", tmp_path / "in", tmp_path / "back")
    assert len(wanted) == len(got) > 0
    for a, b in zip(wanted, got):
        assert a.shape == b.shape and a.dtype == b.dtype
        assert np.linalg.norm(a - b) <= 1e-5 * np.linalg.norm(a)


@pytest.mark.parametrize("name", SMALL)
def test_a_zoo_model_is_the_same_model_when_it_is_read_back(hone, tmp_path, name):
    same_both_ways(hone, f"zoo:{name}", tmp_path)
    sound(hone("export", f"zoo:{name}", "-o", tmp_path / "b.tflite", timeout=120))
    assert (tmp_path / "a.tflite").read_bytes() == (tmp_path / "b.tflite").read_bytes()


@pytest.mark.parametrize("name", CASES)
def test_operators_are_the_same_when_they_are_read_back(hone, tmp_path, name):
    onnx.save(model_of(name), tmp_path / "m.onnx")
    same_both_ways(hone, tmp_path / "m.onnx", tmp_path)


def litert():
    installed = sorted(pathlib.Path("~/.local/share/hone/engines/litert").expanduser().glob(
        "lib/python*/site-packages/ai_edge_litert/libLiteRt.so"))
    path = os.environ.get("HONE_LITERT", str(installed[0]) if installed else "")
    if not pathlib.Path(path).is_file():
        pytest.skip("LiteRT is not installed")
    return ["--engine", f"litert={path}"]


def test_litert_computes_what_the_reference_computes(hone, tmp_path):
    """The models that it cannot read itself take the route tflite-hone without being asked to."""
    engine = litert()
    for name in CASES:
        onnx.save(model_of(name), tmp_path / f"{name}.onnx")
    models = [tmp_path / f"{name}.onnx" for name in CASES] + [f"zoo:{name}" for name in SMALL]
    result = hone("bench", *models, "--backend", "litert", *QUICK, *engine, "--json", tmp_path / "s.json", timeout=400)
    rows = json.loads((tmp_path / "s.json").read_text())["records"]
    assert len(rows) == len(models), result
    for row in rows:
        assert row["status"] == "ok" and row["route"] == "tflite-hone", (row["model"], row["reason"])
        assert row["rel_l2"] < 1e-4 and "--route tflite-hone" in row["repeat"], row["model"]


STATEFUL = pathlib.Path(__file__).resolve().parent.parent / "cases/tflite/variable-sum.tflite"


def test_a_file_that_keeps_state_is_measured(hone, tmp_path):
    """The state is no input of the file, so no shape is asked of it."""
    hone("bench", STATEFUL, "--backend", "native", *QUICK, "--json", tmp_path / "s.json", timeout=120)
    row, = json.loads((tmp_path / "s.json").read_text())["records"]
    assert row["status"] == "ok" and row["shapes"] == "x[1,3]", row["reason"]


def test_litert_keeps_state_to_itself(hone, tmp_path):
    """What it computes then follows from the inferences before: refused, and measured where hone's file makes the
    state an input."""
    for words, status in (([], "unsupported"), (["--route", "tflite-hone"], "ok")):
        hone("bench", STATEFUL, "--backend", "litert", *QUICK, *litert(), *words, "--json", tmp_path / "s.json", timeout=120)
        row, = json.loads((tmp_path / "s.json").read_text())["records"]
        assert row["status"] == status, row["reason"]
        assert status == "ok" or "--route tflite-hone" in row["reason"]


def test_a_route_that_needs_an_engine_that_is_not_here_says_that(hone, tmp_path):
    hone.env["HONE_TESTING"] = "1"
    hone("bench", "zoo:mlp", "--backend", "litert,null", *QUICK, "--json", tmp_path / "s.json",
         timeout=120)
    row, = [row for row in json.loads((tmp_path / "s.json").read_text())["records"] if row["backend"] == "litert"]
    assert row["status"] == "not_installed" and row["route"] == "tflite-hone"


def test_what_has_no_rule_is_named(hone, tmp_path):
    graph = h.make_graph([N("NonZero", ["x"], ["y"])], "g", [h.make_tensor_value_info("x", 1, [2, 3])],
                         [h.make_tensor_value_info("y", 7, [2, None])])
    onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8), tmp_path / "d.onnx")
    refused(hone("export", tmp_path / "d.onnx", "-o", tmp_path / "d.tflite"), "E_UNSUP")
    assert not (tmp_path / "d.tflite").exists()
