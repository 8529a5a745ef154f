"""hone export -o FILE.tflite: read back by hone's own importer, and run by LiteRT where installed, against the model."""

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

QUICK = ["--no-measure", "--rounds", "1", "--processes", "1", "--min-time", "0.01", "--min-samples", "3", "--warmup",
         "0.01", "--threads", "1", "--resume", "never"]

N = h.make_node


def weight(*dims, seed=1):
    return np.random.default_rng(seed).standard_normal(dims).astype(np.float32)


def i64(*numbers):
    return np.array(numbers, np.int64)


# name: input dims, nodes from x to y, constants
CASES = {
    "expand": ([1, 3, 1, 4], [N("Expand", ["x", "to"], ["y"])], {"to": i64(2, 3, 5, 4)}),
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
    "gelu_tanh": ([2, 7], [N("Pow", ["x", "three"], ["a"]), N("Mul", ["a", "small"], ["b"]), N("Add", ["x", "b"], ["c"]),
                           N("Mul", ["c", "pi"], ["d"]), N("Tanh", ["d"], ["e"]), N("Add", ["e", "one"], ["f"]),
                           N("Mul", ["x", "half"], ["g"]), N("Mul", ["g", "f"], ["y"])],
                  {"three": np.float32(3), "small": np.float32(0.044715), "pi": np.float32((2 / np.pi) ** 0.5),
                   "one": np.float32(1), "half": np.float32(0.5)}),
    "erf": ([2, 50], [N("Erf", ["x"], ["y"])], {}),
    "by_expression": ([2, 50], [N("Softplus", ["x"], ["a"]), N("Mish", ["a"], ["b"]), N("HardSigmoid", ["b"], ["c"]),
                                N("Selu", ["c"], ["d"]), N("Softsign", ["d"], ["y"])], {}),
    "hard_sigmoid": ([2, 50], [N("Mul", ["x", "s"], ["a"]), N("HardSigmoid", ["a"], ["y"], alpha=1 / 6, beta=0.45)], {"s": np.float32(4)}),
    "compare": ([2, 9], [N("Less", ["x", "c"], ["m"]), N("Where", ["m", "c", "x"], ["y"])], {"c": weight(9)}),
    "gather": ([3, 8], [N("Gather", ["x", "at"], ["y"], axis=1)], {"at": i64(-1, 0, 3)}),
    "largest": ([3, 8], [N("ArgMax", ["x"], ["a"], axis=1), N("Cast", ["a"], ["y"], to=1)], {}),
    "product_and_bias": ([2, 3, 8], [N("MatMul", ["x", "w"], ["a"]), N("Add", ["b", "a"], ["c"]), N("Relu", ["c"], ["y"])],
                         {"w": weight(8, 5), "b": weight(5)}),
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
    "gather_nd": ([3, 4, 5], [N("GatherND", ["x", "at"], ["y"])], {"at": np.int64([[0, -1], [2, 1]])}),
    "gather_nd_computed": ([4, 4], [N("ArgMax", ["x"], ["i"], axis=1), N("GatherND", ["x", "i"], ["y"])], {}),
    "gather_elements": ([3, 4], [N("GatherElements", ["x", "at"], ["y"], axis=1)], {"at": np.int64([[-1, 0], [1, 1], [2, -4]])}),
    "scatter_elements": ([3, 4], [N("ScatterElements", ["x", "at", "u"], ["y"], axis=1)], {"at": np.int64([[-1, 0], [1, 2]]), "u": weight(2, 2)}),
    "scatter_elements_add": ([3, 4], [N("ScatterElements", ["x", "at", "u"], ["y"], axis=0, reduction="add")],
                             {"at": np.int64([[0, 1, -1, 0], [0, 1, 1, 0]]), "u": weight(2, 4)}),
    "scatter_nd": ([4, 3, 2], [N("ScatterND", ["x", "at", "u"], ["y"])], {"at": np.int64([[-1, 0], [1, 2]]), "u": weight(2, 2)}),
    "scatter_nd_add": ([4, 3], [N("ScatterND", ["x", "at", "u"], ["y"], reduction="add")], {"at": np.int64([[2], [2]]), "u": weight(2, 3)}),
    "one_hot": ([2, 5], [N("Cast", ["x"], ["i"], to=7), N("OneHot", ["i", "size", "values"], ["y"], axis=1)],
                {"size": np.int64(3), "values": np.float32([-1, 2])}),
    "top_k": ([3, 9], [N("TopK", ["x", "k"], ["v", "i"]), N("Cast", ["i"], ["f"], to=1), N("Add", ["v", "f"], ["y"])], {"k": i64(4)}),
    "top_k_smallest": ([7, 2], [N("TopK", ["x", "k"], ["v", "i"], axis=0, largest=0), N("Cast", ["i"], ["f"], to=1), N("Add", ["v", "f"], ["y"])],
                       {"k": i64(3)}),
    "lstm": ([4, 2, 3], [N("LSTM", ["x", "w", "r", "b"], ["y", "h", "c"], hidden_size=5)],
             {"w": weight(1, 20, 3), "r": weight(1, 20, 5), "b": weight(1, 40)}),
    "lstm_both_ways": ([4, 2, 3], [N("LSTM", ["x", "w", "r"], ["s", "h", "c"], hidden_size=5, direction="bidirectional"), N("Concat", ["h", "c"], ["y"], axis=0)],
                       {"w": weight(2, 20, 3), "r": weight(2, 20, 5)}),
    "gru": ([4, 2, 3], [N("GRU", ["x", "w", "r", "b", "", "first"], ["y", "h"], hidden_size=5)],
            {"w": weight(1, 15, 3), "r": weight(1, 15, 5), "b": weight(1, 30), "first": weight(1, 2, 5)}),
    "gru_linear": ([4, 2, 3], [N("GRU", ["x", "w", "r", "b"], ["s", "y"], hidden_size=5, linear_before_reset=1, direction="reverse")],
                   {"w": weight(1, 15, 3), "r": weight(1, 15, 5), "b": weight(1, 30)}),
    "rnn": ([4, 2, 3], [N("RNN", ["x", "w", "r", "b"], ["y", "h"], hidden_size=5)],
            {"w": weight(1, 5, 3), "r": weight(1, 5, 5), "b": weight(1, 10)}),
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
    sound(hone("run", model, "--reference", "--inputs", inputs, "-o", folder))
    return [np.load(path) for path in sorted(folder.glob("out_*.npy"))]


def same_both_ways(hone, model, tmp_path):
    sound(hone("export", model, "-o", tmp_path / "a.tflite"))
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
    sound(hone("export", f"zoo:{name}", "-o", tmp_path / "b.tflite"))
    assert (tmp_path / "a.tflite").read_bytes() == (tmp_path / "b.tflite").read_bytes()


@pytest.mark.parametrize("name", CASES)
def test_operators_are_the_same_when_they_are_read_back(hone, tmp_path, name):
    onnx.save(model_of(name), tmp_path / "m.onnx")
    same_both_ways(hone, tmp_path / "m.onnx", tmp_path)


def imported(hone, path, tmp_path):
    """The operators of a file as hone reads it."""
    result = hone("compile", path, "-o", tmp_path / "x.c", "--stop-after", "import", "--dump-after", "import")
    sound(result)
    return [line.split(" = ", 1)[1].split("(")[0].removeprefix("hone.") for line in result.text.splitlines()
            if " = " in line and "(" in line.split(" = ", 1)[1]]


def operators_of(path):
    """How many operators the file's graph has."""
    data = path.read_bytes()
    def number(at, size=4, **how):
        return int.from_bytes(data[at:at + size], "little", **how)
    def field(table, k):
        return table + number(table - number(table, signed=True) + 4 + 2 * k, 2)
    def follow(at):
        return at + number(at)
    graphs = follow(field(follow(0), 2))
    return number(follow(field(follow(graphs + 4), 3)))


@pytest.mark.parametrize("name", ["gelu", "gelu_tanh"])
def test_what_exporters_write_for_a_gelu_is_one_operator(hone, tmp_path, name):
    onnx.save(model_of(name), tmp_path / "m.onnx")
    sound(hone("export", tmp_path / "m.onnx", "-o", tmp_path / "m.tflite"))
    assert imported(hone, tmp_path / "m.tflite", tmp_path) == ["Gelu"]


def test_a_bias_behind_a_product_is_its_own(hone, tmp_path):
    """As other converters write it: one FULLY_CONNECTED, with the activation."""
    onnx.save(model_of("product_and_bias"), tmp_path / "m.onnx")
    sound(hone("export", tmp_path / "m.onnx", "-o", tmp_path / "m.tflite"))
    assert operators_of(tmp_path / "m.tflite") == 1


def test_weights_are_in_the_file_once(hone, tmp_path):
    """Convolutions want theirs in another order; the order of the model is not written as well."""
    sound(hone("zoo", "write", "resnet18,size=32", "-o", tmp_path / "m.onnx", timeout=120))
    sound(hone("export", tmp_path / "m.onnx", "-o", tmp_path / "m.tflite", timeout=120))
    assert (tmp_path / "m.tflite").stat().st_size < 1.02 * (tmp_path / "m.onnx").stat().st_size


# -- quantised models: operators between DequantizeLinear and QuantizeLinear are int8

STEP = 0.05  # of the result, unless a case says another


def between(*nodes, step=STEP, zero=0, more=None, dims=(1, 4, 6, 6), exact=1):
    return {"nodes": nodes, "step": step, "zero": zero, "more": more or {}, "dims": list(dims), "exact": exact}


FAR = np.float32([1, -0.5, 2, -66000, 0.3])  # the fourth in steps of its scale: 1.4 * 2^30

# from "a" (and "b", of the same dimensions) to "r"; zero: of the result, as i8; exact: steps that the result may be off
BYTES = {
    "relu": between(N("Relu", ["a"], ["r"]), zero=-128),
    "relu_off_its_end": between(N("Relu", ["a"], ["r"]), zero=-100),
    "clip_six": between(N("Clip", ["a", "low", "high"], ["r"]), zero=-20,
                        more={"low": np.float32(0), "high": np.float32(6)}),
    "sigmoid": between(N("Sigmoid", ["a"], ["r"]), step=1 / 256, zero=-128),
    "sigmoid_at_another_scale": between(N("Sigmoid", ["a"], ["r"]), step=0.01, zero=-100),
    "tanh": between(N("Tanh", ["a"], ["r"]), step=1 / 128),
    "softmax": between(N("Softmax", ["a"], ["r"], axis=1), step=1 / 256, zero=-128),
    "leaky": between(N("LeakyRelu", ["a"], ["r"], alpha=0.1)),
    "hard_swish": between(N("HardSwish", ["a"], ["r"])),
    "gelu": between(N("Div", ["a", "root"], ["p"]), N("Erf", ["p"], ["e"]), N("Add", ["e", "one"], ["f"]),
                    N("Mul", ["a", "f"], ["g"]), N("Mul", ["g", "half"], ["r"]),
                    more={"root": np.float32(2 ** 0.5), "one": np.float32(1), "half": np.float32(0.5)}),
    "add": between(N("Add", ["a", "b"], ["r"])),
    "add_relu": between(N("Add", ["a", "b"], ["p"]), N("Relu", ["p"], ["r"]), zero=-5),
    "sub": between(N("Sub", ["a", "b"], ["r"])),
    "mul": between(N("Mul", ["a", "b"], ["r"])),
    "matmul": between(N("MatMul", ["a", "b"], ["r"])),
    "mean": between(N("ReduceMean", ["a", "hw"], ["r"], keepdims=0), step=0.02, more={"hw": i64(2, 3)}),
    "mean_of_all": between(N("GlobalAveragePool", ["a"], ["r"]), step=0.02),
    "mean_pool": between(N("AveragePool", ["a"], ["r"], kernel_shape=[2, 2], strides=[2, 2])),
    "rescale": between(N("Identity", ["a"], ["r"]), step=0.11, zero=7),
    "moved": between(N("Transpose", ["a"], ["p"], perm=[0, 2, 3, 1]), N("Reshape", ["p", "to"], ["r"]),
                     more={"to": i64(36, 4)}),
    "pooled": between(N("MaxPool", ["a"], ["p"], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 0, 0]),
                      N("Pad", ["p", "by"], ["r"]), more={"by": i64(0, 0, 1, 0, 0, 0, 0, 2)}),
    "joined": between(N("Concat", ["a", "b"], ["r"], axis=1)),
    "conv": between(N("Conv", ["a", "w", "bias"], ["r"], pads=[1, 1, 1, 1]), more={"w": (4, [5, 4, 3, 3]), "bias": 5}),
    "conv_relu_pads": between(N("Conv", ["a", "w"], ["p"], pads=[2, 0, 1, 3], strides=[2, 1]), N("Relu", ["p"], ["r"]),
                              zero=-20, more={"w": (4, [5, 4, 3, 3])}),
    "conv_far_bias": between(N("Conv", ["a", "w", "c"], ["p"]), N("Relu", ["p"], ["r"]), zero=-128,
                             more={"w": (4, [5, 4, 3, 3]), "c": FAR}),
    "conv_float_bias": between(N("Conv", ["a", "w", "c"], ["r"]), more={"w": (4, [5, 4, 3, 3]), "c": weight(5)}),
    "conv_depthwise": between(N("Conv", ["a", "w"], ["r"], group=4, pads=[1, 1, 1, 1]), more={"w": (4, [8, 1, 3, 3])}),
    "conv_line": between(N("Conv", ["a", "w"], ["r"]), more={"w": (3, [5, 4, 3])}, dims=(2, 4, 9)),
    "gemm": between(N("Gemm", ["a", "w", "bias"], ["r"], transB=1), more={"w": (2, [6, 20]), "bias": 6}, dims=(3, 20)),
    "gemm_plain": between(N("Gemm", ["a", "w"], ["r"]), more={"w": (2, [20, 6], 1)}, dims=(3, 20)),
    "product": between(N("MatMul", ["a", "w"], ["r"]), more={"w": (2, [20, 6], 1)}, dims=(2, 3, 20)),
}


def quantised_model(case, dtype):
    """x -> bytes -> a -> the case -> bytes -> y, the second operand of other numbers from the same x."""
    what = BYTES[case]
    low = -128 if dtype == np.int8 else 0
    constants = {"sx": np.float32(0.04), "zx": dtype(3 - -128 + low), "sb": np.float32(0.06), "zb": dtype(9 - -128 + low),
                 "sy": np.float32(what["step"]), "zy": dtype(what["zero"] - -128 + low)}
    nodes = [N("QuantizeLinear", ["x", "sx", "zx"], ["qa"]), N("DequantizeLinear", ["qa", "sx", "zx"], ["a"])]
    if any("b" in node.input for node in what["nodes"]):
        nodes += [N("QuantizeLinear", ["x", "sb", "zb"], ["qb"]), N("DequantizeLinear", ["qb", "sb", "zb"], ["b"])]
        if case == "joined":
            constants.update(sb=constants["sx"], zb=constants["zx"], sy=constants["sx"], zy=constants["zx"])
        if case in ("moved", "pooled"):
            constants.update(sy=constants["sx"], zy=constants["zx"])
    scales = np.float32(0)
    for name, given in what["more"].items():
        if name == "w":  # i8 by channel
            axis = given[2] if len(given) > 2 else 0
            random = np.random.default_rng(5)
            constants["qw"] = random.integers(-127, 128, given[1]).astype(np.int8)
            scales = (random.uniform(0.5, 1, given[1][axis]) / 600).astype(np.float32)
            constants["sw"], constants["zw"] = scales, np.zeros(len(scales), np.int8)
            nodes.append(N("DequantizeLinear", ["qw", "sw", "zw"], ["w"], axis=axis))
        elif name == "bias":  # i32 in steps of both
            constants["qc"] = np.random.default_rng(6).integers(-3000, 3000, given).astype(np.int32)
            constants["sc"], constants["zc"] = (np.float32(0.04) * scales).astype(np.float32), np.zeros(given, np.int32)
            nodes.append(N("DequantizeLinear", ["qc", "sc", "zc"], ["bias"], axis=0))
        else:
            constants[name] = given
    nodes += [*what["nodes"], N("QuantizeLinear", ["r", "sy", "zy"], ["qy"]), N("DequantizeLinear", ["qy", "sy", "zy"], ["y"])]
    graph = h.make_graph(nodes, case, [h.make_tensor_value_info("x", 1, what["dims"])], [h.make_tensor_value_info("y", 1, None)],
                         [onnx.numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()])
    return h.make_model(graph, opset_imports=[h.make_opsetid("", 18)], ir_version=8)


def within_steps(wanted, got, step, steps):
    assert wanted.shape == got.shape
    return np.abs(wanted - got).max() <= (steps + 0.01) * step


@pytest.mark.parametrize("dtype", [np.uint8, np.int8], ids=["u8", "i8"])
@pytest.mark.parametrize("name", BYTES)
def test_quantised_operators_are_written_in_bytes(hone, tmp_path, name, dtype):
    """One QUANTIZE at the input, one DEQUANTIZE at the output, no floats between them; LiteRT rounds by fixed point, so
    a result may be a step off."""
    onnx.save(quantised_model(name, dtype), tmp_path / "m.onnx")
    sound(hone("export", tmp_path / "m.onnx", "-o", tmp_path / "m.tflite"))
    found = imported(hone, tmp_path / "m.tflite", tmp_path)
    inputs = 2 if any("b" in node.input for node in BYTES[name]["nodes"]) and name != "joined" else 1
    assert found.count("QuantizeHalfAway") == inputs and found.count("DequantizeLinear") == 1, found
    (tmp_path / "in").mkdir()
    x = np.random.default_rng(3).standard_normal(BYTES[name]["dims"]).astype(np.float32) * 2
    np.save(tmp_path / "in" / "in_0.npy", x)
    wanted, = outputs(hone, tmp_path / "m.onnx", tmp_path / "in", tmp_path / "out")
    got, = outputs(hone, tmp_path / "m.tflite", tmp_path / "in", tmp_path / "back")
    step = 0.04 if name in ("joined", "moved", "pooled") else BYTES[name]["step"]
    assert within_steps(wanted, got, step, 1)
    assert np.unique(wanted).size > 3


def test_a_model_of_qoperators_is_written_in_bytes(hone, tmp_path):
    """QLinearConv, as ONNX Runtime's other format has it."""
    w = np.random.default_rng(5).integers(-127, 128, [5, 3, 3, 3]).astype(np.int8)
    constants = {"sx": np.float32(0.04), "zx": np.uint8(120), "w": w, "sw": np.full(5, 0.002, np.float32),
                 "zw": np.zeros(5, np.int8), "sy": np.float32(0.05), "zy": np.uint8(130),
                 "b": np.arange(5, dtype=np.int32) * 100}
    nodes = [N("QuantizeLinear", ["x", "sx", "zx"], ["q"]),
             N("QLinearConv", ["q", "sx", "zx", "w", "sw", "zw", "sy", "zy", "b"], ["r"], pads=[1, 1, 1, 1]),
             N("DequantizeLinear", ["r", "sy", "zy"], ["y"])]
    graph = h.make_graph(nodes, "g", [h.make_tensor_value_info("x", 1, [1, 3, 8, 8])], [h.make_tensor_value_info("y", 1, None)],
                         [onnx.numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()])
    onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid("", 18)], ir_version=8), tmp_path / "m.onnx")
    sound(hone("export", tmp_path / "m.onnx", "-o", tmp_path / "m.tflite"))
    found = imported(hone, tmp_path / "m.tflite", tmp_path)
    assert "ConvInteger" in found and "Conv" not in found and found.count("DequantizeLinear") == 1
    (tmp_path / "in").mkdir()
    np.save(tmp_path / "in" / "in_0.npy", np.random.default_rng(3).standard_normal([1, 3, 8, 8]).astype(np.float32))
    wanted, = outputs(hone, tmp_path / "m.onnx", tmp_path / "in", tmp_path / "out")
    got, = outputs(hone, tmp_path / "m.tflite", tmp_path / "in", tmp_path / "back")
    assert within_steps(wanted, got, 0.05, 1)


def test_a_model_that_hone_quantised_is_written_in_bytes(hone, tmp_path):
    """The last product's result stays in floats, as the file that was quantised has it."""
    random = np.random.default_rng(3)
    for k in range(4):
        (tmp_path / "samples" / f"{k}").mkdir(parents=True)
        np.save(tmp_path / "samples" / f"{k}" / "in_0.npy", random.standard_normal([1, 1, 28, 28]).astype(np.float32))
    sound(hone("quantise", "zoo:mnist_cnn,batch=1", "--calibrate", tmp_path / "samples", "-o", tmp_path / "q.onnx", timeout=120))
    sound(hone("export", tmp_path / "q.onnx", "-o", tmp_path / "q.tflite"))
    found = imported(hone, tmp_path / "q.tflite", tmp_path)
    assert found.count("ConvInteger") >= 1 and "Conv" not in found


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
    result = hone("bench", *models, "--backend", "litert", *QUICK, *engine, "--json", tmp_path / "s.json")
    rows = json.loads((tmp_path / "s.json").read_text())["records"]
    assert len(rows) == len(models), result
    for row in rows:
        assert row["status"] == "ok" and row["route"] == "tflite-hone", (row["model"], row["reason"])
        assert row["rel_l2"] < 1e-4 and "--route tflite-hone" in row["repeat"], row["model"]


def test_litert_runs_what_is_quantised_in_bytes(hone, tmp_path):
    """Against the reference of the quantised model: at most one quantisation step off, in few elements."""
    engine = litert()
    for name in BYTES:
        onnx.save(quantised_model(name, np.uint8), tmp_path / f"{name}.onnx")
    result = hone("bench", *(tmp_path / f"{name}.onnx" for name in BYTES), "--backend", "litert", *QUICK, *engine,
                  "--json", tmp_path / "s.json", timeout=400)
    rows = json.loads((tmp_path / "s.json").read_text())["records"]
    assert len(rows) == len(BYTES), result
    for row in rows:
        assert row["status"] == "ok" and row["route"] == "tflite-hone", (row["model"], row["reason"])


STATEFUL = pathlib.Path(__file__).resolve().parent.parent / "cases/tflite/variable-sum.tflite"


def test_a_file_that_keeps_state_is_measured(hone, tmp_path):
    """The state is not an input of the file, so it needs no shape."""
    hone("bench", STATEFUL, "--backend", "native", *QUICK, "--json", tmp_path / "s.json")
    row, = json.loads((tmp_path / "s.json").read_text())["records"]
    assert row["status"] == "ok" and row["shapes"] == "x[1,3]", row["reason"]


def test_litert_keeps_state_to_itself(hone, tmp_path):
    """What it computes then follows from the inferences before: refused, and measured where hone's file makes the
    state an input."""
    for words, status in (([], "unsupported"), (["--route", "tflite-hone"], "ok")):
        hone("bench", STATEFUL, "--backend", "litert", *QUICK, *litert(), *words, "--json", tmp_path / "s.json")
        row, = json.loads((tmp_path / "s.json").read_text())["records"]
        assert row["status"] == status, row["reason"]
        assert status == "ok" or "--route tflite-hone" in row["reason"]


def test_a_route_that_needs_an_engine_that_is_not_here_says_that(hone, tmp_path):
    hone.env["HONE_TESTING"] = "1"
    hone("bench", "zoo:mlp", "--backend", "litert,null", *QUICK, "--json", tmp_path / "s.json")
    row, = [row for row in json.loads((tmp_path / "s.json").read_text())["records"] if row["backend"] == "litert"]
    assert row["status"] == "not_installed" and row["route"] == "tflite-hone"


def test_what_has_no_rule_is_named(hone, tmp_path):
    graph = h.make_graph([N("NonZero", ["x"], ["y"])], "g", [h.make_tensor_value_info("x", 1, [2, 3])],
                         [h.make_tensor_value_info("y", 7, [2, None])])
    onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8), tmp_path / "d.onnx")
    refused(hone("export", tmp_path / "d.onnx", "-o", tmp_path / "d.tflite"), "E_UNSUP")
    assert not (tmp_path / "d.tflite").exists()
