"""hone export -o FILE.mlir: StableHLO written by hone, run by XLA where jaxlib is installed, against the reference."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

from hone import refused, sound

# Small forms of the zoo's families: every operator of the built-in models.
SMALL = ["mlp", "conv,batch=1", "mnist_cnn", "transformer,batch=1,sequence=8", "mobilenet_v3_small,size=32",
         "resnet18,size=32", "gcn,size=64", "graphsage,size=64", "gat,size=64", "dlrm,batch=2",
         "clip,layers=1,width=192,vocabulary=50,sequence=9,size=64,batch=3",
         "llama_3_2_1b_int4,layers=1,width=256,vocabulary=50,sequence=5", "yolov8n,size=64"]

QUICK = ["--no-measure", "--rounds", "1", "--processes", "1", "--min-time", "0.01", "--min-samples", "3", "--warmup",
         "0.01", "--threads", "1", "--resume", "never"]


def environment(name):
    """--engine of an environment with the engine: HONE_XLA, HONE_IREE, or what 'hone backends install' made."""
    for path in (os.environ.get(f"HONE_{name.upper()}", ""), f"~/.local/share/hone/engines/{name}"):
        if path and (pathlib.Path(path).expanduser() / "bin/python").exists():
            return ["--engine", f"{name}={pathlib.Path(path).expanduser()}"]
    pytest.skip(f"{name} is not installed")


@pytest.mark.parametrize("name", SMALL)
def test_a_zoo_model_becomes_stablehlo(hone, tmp_path, name):
    """Without any engine: it is written, twice alike, and every result has the type that it says."""
    sound(hone("export", f"zoo:{name}", "-o", tmp_path / "a.mlir"))
    text = (tmp_path / "a.mlir").read_text()
    sound(hone("export", f"zoo:{name}", "-o", tmp_path / "b.mlir"))
    assert text == (tmp_path / "b.mlir").read_text()
    assert text.count("func.func @main(") == 1 and '"func.return"' in text
    names = [line.split(" = ")[0].strip() for line in text.splitlines() if line.startswith("    %t")]
    assert len(names) == len(set(names)) > 3 and "none>" not in text


@pytest.mark.parametrize("name,models", [("xla", SMALL), ("iree", SMALL[:2] + SMALL[5:7])])
def test_an_engine_computes_what_the_reference_computes(hone, tmp_path, name, models):
    """hone's StableHLO, compiled by another's compiler; the study checks the outputs."""
    result = hone("bench", *[f"zoo:{m}" for m in models], "--backend", name, "--route", "stablehlo-hone", *QUICK,
                  *environment(name), "--json", tmp_path / "s.json")
    rows = json.loads((tmp_path / "s.json").read_text())["records"]
    assert len(rows) == len(models), result
    for row in rows:
        assert row["status"] == "ok" and row["route"] == "stablehlo-hone", (row["model"], row["reason"])
        assert row["rel_l2"] < 1e-4, row["model"]


def model_of(nodes, dims, constants=None, kind=1):
    import numpy as np
    import onnx
    from onnx import helper as h
    graph = h.make_graph(nodes, "g", [h.make_tensor_value_info("x", 1, dims)], [h.make_tensor_value_info("y", kind, None)],
                         [onnx.numpy_helper.from_array(np.asarray(v), k) for k, v in (constants or {}).items()])
    return h.make_model(graph, opset_imports=[h.make_opsetid("", 26), h.make_opsetid("ai.onnx.ml", 3), h.make_opsetid("hone", 1)],
                        ir_version=11)


def cases():
    """name: a model of one operator, each in a form that another rule would compute otherwise."""
    import numpy as np
    from onnx.helper import make_node as n
    random = np.random.default_rng(3)
    weight = lambda *dims: random.standard_normal(dims).astype(np.float32)  # noqa: E731
    resize = lambda to, **more: ([n("Resize", ["x", "", "", "to"], ["y"], **more)], [1, 2, 5, 4],  # noqa: E731
                                 {"to": np.array(to, np.int64)})
    return {
        "resize_nearest": resize([1, 2, 10, 7], mode="nearest", coordinate_transformation_mode="asymmetric",
                                 nearest_mode="floor"),
        "resize_linear": resize([1, 2, 9, 3], mode="linear"),
        "resize_cubic": resize([1, 2, 5, 8], mode="cubic", coordinate_transformation_mode="align_corners"),
        "depth_to_space": ([n("DepthToSpace", ["x"], ["y"], blocksize=2)], [1, 8, 3, 2], {}),
        "depth_to_space_crd": ([n("DepthToSpace", ["x"], ["y"], blocksize=2, mode="CRD")], [1, 8, 3, 2], {}),
        "space_to_depth": ([n("SpaceToDepth", ["x"], ["y"], blocksize=2)], [1, 3, 4, 6], {}),
        "tile": ([n("Tile", ["x", "by"], ["y"])], [2, 1, 3], {"by": np.array([2, 3, 1], np.int64)}),
        "arg_max": ([n("ArgMax", ["x"], ["a"], axis=1), n("Cast", ["a"], ["y"], to=1)], [3, 8, 2], {}),
        "arg_min_last": ([n("Round", ["x"], ["r"]), n("ArgMin", ["r"], ["a"], axis=-1, keepdims=0, select_last_index=1),
                          n("Cast", ["a"], ["y"], to=1)], [3, 20], {}),
        "instance_norm": ([n("InstanceNormalization", ["x", "s", "b"], ["y"])], [2, 3, 4, 5],
                          {"s": weight(3), "b": weight(3)}),
        "conv_transposed": ([n("ConvTranspose", ["x", "w", "b"], ["y"], strides=[2, 3], pads=[1, 0, 2, 1],
                               output_padding=[1, 0], dilations=[1, 2])], [1, 3, 5, 4],
                            {"w": weight(3, 2, 3, 2), "b": weight(2)}),
        "conv_transposed_groups": ([n("ConvTranspose", ["x", "w"], ["y"], strides=[2], group=2)], [2, 4, 5],
                                   {"w": weight(4, 3, 3)}),
        "quantised": ([n("QuantizeLinear", ["x", "s", "z"], ["q"], axis=1), n("DequantizeLinear", ["q", "s", "z"], ["y"], axis=1)],
                      [2, 3, 4], {"s": np.float32([0.05, 0.1, 0.01]), "z": np.array([3, 200, 0], np.uint8)}),
        "pad_reflect": ([n("Pad", ["x", "by"], ["y"], mode="reflect")], [1, 5, 4], {"by": np.array([0, 2, 0, 0, 3, 1], np.int64)}),
        "pad_edge": ([n("Pad", ["x", "by"], ["y"], mode="edge")], [1, 5, 4], {"by": np.array([0, 2, 0, 0, 9, 1], np.int64)}),
        "arg_min_integers": ([n("Cast", ["x"], ["i"], to=7), n("ArgMin", ["i"], ["a"], axis=1), n("Cast", ["a"], ["y"], to=1)],
                             [3, 20], {}),
        "one_hot": ([n("Cast", ["x"], ["i"], to=7), n("OneHot", ["i", "size", "values"], ["y"], axis=1)], [2, 5],
                    {"size": np.int64(3), "values": np.float32([-1, 2])}),
        "sum_of_sizes": ([n("ReduceL1", ["x", "axes"], ["y"])], [3, 4, 5], {"axes": np.array([1], np.int64)}),
        "scatter_nd": ([n("ScatterND", ["x", "at", "by"], ["y"], reduction="add")], [4, 3, 2],
                       {"at": np.array([[-1, 0], [1, 2]], np.int64), "by": weight(2, 2)}),
        "scatter_nd_rows": ([n("ScatterND", ["x", "at", "by"], ["y"])], [4, 3],
                            {"at": np.array([[[2]], [[-4]]], np.int64), "by": weight(2, 1, 3)}),
        "gather_nd": ([n("GatherND", ["x", "at"], ["y"])], [4, 3, 2], {"at": np.array([[[-1, 0], [1, 2]]], np.int64)}),
        "gather_elements": ([n("GatherElements", ["x", "at"], ["y"], axis=1)], [4, 3], {"at": np.array([[-1, 0], [2, 1], [0, 0]], np.int64)}),
        "gather_nd_batches": ([n("GatherND", ["x", "at"], ["y"], batch_dims=1)], [2, 3, 4, 5],
                              {"at": np.array([[[1], [-1]], [[0], [2]]], np.int64)}),
        "reduce_min_integers": ([n("Cast", ["x"], ["i"], to=7), n("ReduceMin", ["i"], ["a"], keepdims=0), n("Cast", ["a"], ["y"], to=1)],
                                [3, 20], {}),
        "lrn": ([n("LRN", ["x"], ["y"], size=4, alpha=0.5, beta=0.6, bias=1.5)], [2, 7, 3, 2], {}),
        "group_norm": ([n("GroupNormalization", ["x", "s", "b"], ["y"], num_groups=2)], [2, 6, 3, 5], {"s": weight(6), "b": weight(6)}),
        "log_sum_exp": ([n("Mul", ["x", "s"], ["b"]), n("ReduceLogSumExp", ["b", "axes"], ["y"])], [3, 4, 5],
                        {"s": np.float32(200), "axes": np.array([0, 2], np.int64)}),
        "log_sum": ([n("Abs", ["x"], ["a"]), n("ReduceLogSum", ["a", "axes"], ["y"], keepdims=0)], [3, 4, 5], {"axes": np.array([1], np.int64)}),
        "trilu": ([n("Trilu", ["x", "k"], ["y"], upper=0)], [2, 4, 5], {"k": np.int64(1)}),
        "bits": ([n("Mul", ["x", "s"], ["a"]), n("Cast", ["a"], ["i"], to=6), n("BitwiseNot", ["i"], ["j"]), n("BitwiseXor", ["j", "c"], ["k"]),
                  n("BitwiseAnd", ["k", "m"], ["o"]), n("Cast", ["o"], ["y"], to=1)], [3, 20],
                 {"s": np.float32(100), "c": np.int32(0x55), "m": np.full(20, 0x3F7, np.int32)}),
        **recurrent(n, weight), **quantised(n, random), **trees(n), **ordered(n), **control(n, weight),
    }


def ordered(n):
    import numpy as np
    top = lambda dims, cast, **more: ([n("Round", ["x"], ["r"]), n("Cast", ["r"], ["i"], to=cast), n("TopK", ["i", "k"], ["v", "a"], **more),  # noqa: E731
                                       n("Cast", ["v"], ["f"], to=1), n("Cast", ["a"], ["g"], to=1), n("Add", ["f", "g"], ["y"])],
                                      dims, {"k": np.array([4], np.int64)})
    along = lambda op, **more: ([n(op, ["x", "axis"], ["y"], **more)], [3, 7, 2], {"axis": np.int64(1)})  # noqa: E731
    rest = lambda cast, divisors, **more: ([n("Mul", ["x", "s"], ["b"]), n("Cast", ["b"], ["i"], to=cast), n("Mod", ["i", "d"], ["r"], **more),  # noqa: E731
                                            n("Cast", ["r"], ["y"], to=1)], [5, len(divisors)], {"s": np.float32(20), "d": divisors})
    whole = np.array([3, -3, 7, -1, 0, 1], np.int32)
    boxes = lambda limit, sigma, overlap=.2: (  # noqa: E731
        [n("ReduceSum", ["x", "one"], ["s"], keepdims=0), n("SuppressBoxes", ["x", "s", "o", "l", "g"], ["a", "b", "c"], domain="hone", limit=limit),
         n("Cast", ["a"], ["d"], to=1), n("Cast", ["c"], ["e"], to=1), n("Reshape", ["e", "list"], ["f"]), n("Concat", ["d", "b", "f"], ["y"], axis=0)],
        [30, 4], {"one": np.int64([1]), "list": np.int64([1]), "o": np.float32(overlap), "l": np.float32(.25), "g": np.float32(sigma)})
    return {
        "suppress": boxes(5, 0), "suppress_until_none_is_left": boxes(30, 0), "suppress_softly": boxes(12, .5, .6), "suppress_all": boxes(4, 0, 0),
        "top_k": top([3, 9], 1), "top_k_smallest": top([3, 9, 2], 1, largest=0, axis=1), "top_k_integers": top([3, 9], 6, largest=0),
        "cum_sum": along("CumSum"), "cum_sum_back": along("CumSum", exclusive=1, reverse=1), "cum_prod": along("CumProd", exclusive=1),
        "mod": rest(6, whole), "mod_of_x": rest(6, whole, fmod=1), "mod_floats": rest(1, np.float32([3, -3, 2.5, 1]), fmod=1),
    }


def control(n, weight):
    """The weight is read inside a region and after it; with a condition and its opposite, so that each branch is taken once."""
    import numpy as np
    from onnx import helper as h
    def branch(name, *nodes):
        return h.make_graph(nodes, name, [], [h.make_empty_tensor_value_info(f"{name}_out")])
    def body(dims, *nodes, collected=0):
        state = [h.make_tensor_value_info("v", 1, dims)], [h.make_tensor_value_info("w", 1, dims)]
        return h.make_graph(nodes, "body", [h.make_tensor_value_info("i", 7, []), h.make_tensor_value_info("go", 9, []), *state[0]],
                            [h.make_tensor_value_info("next", 9, []), *state[1],
                             *(h.make_empty_tensor_value_info(f"o{k}") for k in range(collected))])
    def either(op):
        return ([n("ReduceSum", ["x"], ["s"], keepdims=0), n(op, ["s", "zero"], ["c"]),
                 n("If", ["c"], ["r"], then_branch=branch("t", n("MatMul", ["x", "m"], ["t_out"])),
                   else_branch=branch("e", n("Sub", ["x", "m"], ["e0"]), n("Add", ["e0", "m"], ["e1"]), n("Mul", ["e1", "x"], ["e_out"]))),
                 n("Add", ["r", "m"], ["y"])], [4, 4], {"zero": np.float32(0), "m": weight(4, 4)})
    keep, trips = n("Identity", ["go"], ["next"]), [n("Abs", ["x"], ["a"]), n("ReduceMax", ["a"], ["b"], keepdims=0), n("Ceil", ["b"], ["d"]),
                                                   n("Cast", ["d"], ["trip"], to=7)]
    odd = n("If", ["is_odd"], ["w"], then_branch=branch("t", n("Add", ["v", "x"], ["t_out"])),
            else_branch=branch("e", n("Mul", ["v", "half"], ["e_out"])))
    return {
        "if_less": either("Less"), "if_greater": either("Greater"),
        "loop_counted_by_data": ([*trips, n("Loop", ["trip", "", "x"], ["l"], body=body(
            [3, 4], keep, n("MatMul", ["v", "m"], ["w"]))), n("MatMul", ["l", "m"], ["y"])], [3, 4], {"m": weight(4, 4)}),
        "loop_until": ([n("Loop", ["", "yes", "x"], ["y"], body=body(
            [3, 4], n("Mul", ["v", "half"], ["w"]), n("Abs", ["w"], ["a"]), n("ReduceMax", ["a"], ["most"], keepdims=0),
            n("Greater", ["most", "half"], ["next"])))], [3, 4], {"yes": np.array(True), "half": np.float32(0.5)}),
        "loop_that_collects": ([n("Loop", ["trip", "", "x"], ["", "y"], body=body(
            [4], keep, n("Sin", ["v"], ["w"]), n("Add", ["w", "x"], ["o0"]), collected=1))], [4], {"trip": np.int64(1100)}),
        "if_in_a_loop": ([*trips, n("Loop", ["trip", "", "x"], ["y"], body=body(
            [3, 4], keep, n("Mod", ["i", "two"], ["rest"]), n("Cast", ["rest"], ["is_odd"], to=9), odd))], [3, 4],
            {"two": np.int64(2), "half": np.float32(0.5)}),
    }


def recurrent(n, weight):
    import numpy as np
    x = [5, 2, 3]  # steps, batch, input
    cell = lambda gates, d=1: {"w": weight(d, gates * 4, 3), "r": weight(d, gates * 4, 4), "b": weight(d, gates * 8)}  # noqa: E731
    h, c = {"h": weight(1, 2, 4)}, {"c": weight(1, 2, 4)}
    return {
        "gru": ([n("GRU", ["x", "w", "r", "b", "", "h"], ["y"], hidden_size=4)], x, {**cell(3), **h}),
        "gru_linear": ([n("GRU", ["x", "w", "r", "b"], ["", "y"], hidden_size=4, linear_before_reset=1, direction="bidirectional")],
                       x, cell(3, 2)),
        "lstm": ([n("LSTM", ["x", "w", "r", "b", "n", "h", "c", "p"], ["a", "", "z"], hidden_size=4, clip=0.5),
                  n("Add", ["a", "z"], ["y"])], x, {**cell(4), **h, **c, "p": weight(1, 12), "n": np.int32([5, 5])}),
        "lstm_both": ([n("LSTM", ["x", "w", "r"], ["y"], hidden_size=4, direction="bidirectional", layout=1, input_forget=1,
                         activations=["HardSigmoid", "ScaledTanh", "Softsign", "Sigmoid", "Affine", "ThresholdedRelu"],
                         activation_alpha=[0.3, 0.7, 0.5, 0.1], activation_beta=[0.4, 1.5, 0.25])], x,
                      {k: v for k, v in cell(4, 2).items() if k != "b"}),
        "rnn": ([n("RNN", ["x", "w", "r", "b"], ["y"], hidden_size=4, direction="reverse", activations=["LeakyRelu"],
                   activation_alpha=[0.2])], x, cell(1)),
    }


def quantised(n, random):
    """Integers inside, floats at the inputs and outputs; per-channel constants differ between neighbouring channels."""
    import numpy as np
    byte = lambda *dims: random.integers(-128, 128, dims).astype(np.int8)  # noqa: E731
    step = {"s": np.float32(0.02), "z": np.int8(3), "u": np.float32(0.05), "v": np.uint8(120)}
    to_bytes = n("QuantizeLinear", ["x", "s", "z"], ["q"])
    from_bytes = n("DequantizeLinear", ["o", "u", "v"], ["y"])
    cast = n("Cast", ["o"], ["y"], to=1)
    requantised = lambda **more: [to_bytes, n("Cast", ["q"], ["i"], to=6), n("Mul", ["i", "big"], ["j"]), n(  # noqa: E731
        "Requantize", ["j", "m", "k"], ["o"], domain="hone", axis=1, **{"to": 3, "low": -128, "high": 127, **more}), cast]
    slices = {**step, "big": np.int32(41), "m": np.int32([1518500250, 1073741825, 2147483000]), "k": np.int32([-5, 1, -31])}
    image = [1, 3, 6, 7]
    wide = requantised(zero_point=7, offset=11)
    wide_once = requantised(zero_point=7, offset=11, single_rounding=1)
    wide[1] = wide_once[1] = n("Cast", ["q"], ["i"], to=7)
    return {
        "conv_integer": ([to_bytes, n("ConvInteger", ["q", "w", "z", "c"], ["o"], pads=[1, 0, 0, 1], strides=[2, 1]), cast],
                         image, {**step, "w": byte(4, 3, 3, 2), "c": byte(4)}),
        "matmul_integer": ([to_bytes, n("MatMulInteger", ["q", "w", "z", "c"], ["o"]), cast], [2, 4, 5],
                           {**step, "w": byte(5, 3), "c": byte(3)}),
        "dynamic": ([n("DynamicQuantizeLinear", ["x"], ["q", "t", "v"]), n("MatMulInteger", ["q", "w", "v"], ["i"]),
                     n("Cast", ["i"], ["f"], to=1), n("Mul", ["f", "t"], ["y"])], [4, 5], {"w": byte(5, 3)}),
        "qlinear_conv": ([to_bytes, n("QLinearConv", ["q", "s", "z", "w", "t", "c", "u", "v", "b"], ["o"], group=3), from_bytes],
                         image, {**step, "w": byte(6, 1, 2, 2), "t": np.float32([.01, .02, .03, .04, .05, .06]),
                                 "c": np.zeros(6, np.int8), "b": np.int32([900, -900, 40, 0, 1, 7])}),
        "qlinear_matmul": ([to_bytes, n("QLinearMatMul", ["q", "s", "z", "w", "t", "c", "u", "v"], ["o"]), from_bytes], [4, 5],
                           {**step, "w": byte(5, 3), "t": np.float32([.01, .02, .03]), "c": np.int8([1, -2, 3])}),
        "requantize": (requantised(zero_point=-4, offset=-9, left_shift=2), [2, 3, 40], slices),
        "requantize_once": (requantised(single_rounding=1), [2, 3, 40], slices),
        "requantize_wide": (wide, [2, 3, 40], {**slices, "big": np.int64(41)}),
        "requantize_wide_once": (wide_once, [2, 3, 40], {**slices, "big": np.int64(4100000), "k": np.int32([-5, -1, -31])}),
        "quantize_away": ([n("QuantizeHalfAway", ["x", "s", "z"], ["o"], domain="hone"), cast], [2, 3, 40],
                          {"s": np.float32(0.25), "z": np.uint8(9)}),
        "table_softmax": ([to_bytes, n("TableSoftmax", ["q", "e"], ["o"], domain="hone", to=3), cast], [3, 7],
                          {**step, "e": np.int32(np.minimum(np.exp(-0.02 * np.arange(256)) * 2 ** 31, 2 ** 31 - 1))}),
        "table_softmax_wide": ([n("QuantizeLinear", ["x", "s16", "z16"], ["q"]), n("TableSoftmax", ["q", "e", "c"], ["o"], domain="hone", to=5),
                                cast], [5, 37],
                               {"s16": np.float32(1e-4), "z16": np.int16(0), "e": np.int16(np.exp(-1e-4 * np.arange(65536)) * 32767),
                                "c": np.int16(32767 / (1 + np.arange(513) / 512))}),
        "table_softmax_wide_short": ([n("QuantizeLinear", ["x", "s16", "z16"], ["q"]), n("TableSoftmax", ["q", "e", "c"], ["o"], domain="hone", to=5,
                                      axis=0), cast], [2, 9],
                                     {"s16": np.float32(1e-4), "z16": np.int16(0), "e": np.int16(np.exp(-1e-2 * np.arange(65536)) * 1000),
                                      "c": np.int16(32767 / (1 + np.arange(513) / 512))}),
        **{f"normalize_{name}": ([n("Mul", ["x", "rows"], ["a"]), n("QuantizeLinear", ["a", "s", "z"], ["q"]),
                                  n("NormalizeBytes", ["q"], ["o"], domain="hone", zero_point=int(zero)), cast], [7, 40],
                                 {**step, "z": zero, "rows": np.float32([[0], [.004], [.02], [.1], [1], [10], [200]])})
           for name, zero in (("i8", np.int8(3)), ("u8", np.uint8(120)))},
        "interpolate": ([to_bytes, n("ResizeInt", ["q", "r", "rw", "c", "cw"], ["o"], domain="hone"), cast], [1, 2, 3, 4],
                        {**step, "r": np.int32([[0, 0, 1, 2], [0, 1, 2, 2]]), "rw": np.int64([[1024, 512, 24, 700], [0, 512, 1000, 324]]),
                         "c": np.int32([[0, 2], [1, 3]]), "cw": np.int64([[100, 1000], [924, 24]])}),
        "interpolate_floats": ([to_bytes, n("ResizeInt", ["q", "r", "rw", "c", "cw"], ["o"], domain="hone"), cast], [1, 2, 3, 4],
                               {**step, "r": np.int32([[0, 1], [1, 2]]), "rw": np.float32([[.25, .5], [.75, .5]]),
                                "c": np.int32([[0, 2], [1, 3]]), "cw": np.float32([[1, .125], [0, .875]])}),
    }


def trees(n):
    """Two trees of two and one levels over three features; the second asks of the last."""
    lists = {"nodes_treeids": [0, 0, 0, 0, 0, 1, 1, 1], "nodes_nodeids": [0, 1, 2, 3, 4, 0, 1, 2],
             "nodes_featureids": [0, 1, 0, 0, 0, 2, 0, 0], "nodes_values": [0.1, -0.2, 0, 0, 0, 0.3, 0, 0],
             "nodes_modes": ["BRANCH_LEQ", "BRANCH_GT", "LEAF", "LEAF", "LEAF", "BRANCH_LT", "LEAF", "LEAF"],
             "nodes_truenodeids": [1, 2, 0, 0, 0, 1, 0, 0], "nodes_falsenodeids": [4, 3, 0, 0, 0, 2, 0, 0]}
    targets = {"target_treeids": [0, 0, 0, 0, 1, 1], "target_nodeids": [2, 3, 4, 4, 1, 2], "target_ids": [0, 1, 0, 1, 1, 0],
               "target_weights": [1.5, -2.0, 0.25, 4.0, 0.5, 8.0]}
    lists = {k: [float(v) for v in values] if k == "nodes_values" else values for k, values in lists.items()}
    return {f"trees_{how.lower()}": ([n("TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml", n_targets=2, aggregate_function=how,
                                       **lists, **targets)], [9, 3], {}) for how in ("SUM", "AVERAGE")}


@pytest.mark.parametrize("name", cases())
def test_an_operator_becomes_stablehlo(hone, tmp_path, name):
    import onnx
    onnx.save(model_of(*cases()[name]), tmp_path / "m.onnx")
    sound(hone("export", tmp_path / "m.onnx", "-o", tmp_path / "m.mlir"))
    assert '"func.return"' in (tmp_path / "m.mlir").read_text()


def test_xla_computes_the_operators(hone, tmp_path):
    import onnx
    engine = environment("xla")
    for name, case in cases().items():
        onnx.save(model_of(*case), tmp_path / f"{name}.onnx")
    hone("bench", *(tmp_path / f"{name}.onnx" for name in cases()), "--backend", "xla", "--route", "stablehlo-hone", *QUICK,
         *engine, "--json", tmp_path / "s.json", timeout=400)
    for row in json.loads((tmp_path / "s.json").read_text())["records"]:
        assert row["status"] == "ok" and row["rel_l2"] < 1e-4, (row["model"], row["reason"])


@pytest.mark.parametrize("name", ["xla", "iree"])
def test_an_engine_takes_files_that_are_no_onnx(hone, tmp_path, name):
    """Inputs and outputs are named by hone; the files include loops and trees, which IREE compiles differently."""
    import onnx
    root = pathlib.Path(__file__).resolve().parents[1] / "cases"
    paths = [root / f"tflite/{case}.tflite" for case in ("conv-int8-same", "softmax-int8-0.02", "quantised-add-int8-0")]
    for case in ("lstm", "gru_linear", "trees_sum", "gather_nd_batches", "requantize_wide", "requantize_wide_once", "top_k", "cum_sum", "mod", "if_less",
                 "loop_counted_by_data", "if_in_a_loop"):
        paths.append(tmp_path / f"{case}.onnx")
        onnx.save(model_of(*cases()[case]), paths[-1])
    hone("bench", *paths, "--backend", name, "--route", "stablehlo-hone", *QUICK, *environment(name), "--json", tmp_path / "s.json",
         timeout=400)
    rows = json.loads((tmp_path / "s.json").read_text())["records"]
    assert len(rows) == len(paths)
    for row in rows:
        assert row["status"] == "ok" and row["rel_l2"] < 1e-4, (row["model"], row["reason"])


def test_all_that_has_no_rule_is_named(hone, tmp_path):
    import onnx
    from onnx import helper as h
    inside = h.make_graph([h.make_node("Hardmax", ["x"], ["t"])], "t", [], [h.make_empty_tensor_value_info("t")])
    other = h.make_graph([h.make_node("Identity", ["x"], ["e"])], "e", [], [h.make_empty_tensor_value_info("e")])
    onnx.save(model_of([h.make_node("ReverseSequence", ["x", "lengths"], ["r"]), h.make_node("ReduceSum", ["x"], ["s"], keepdims=0),
                        h.make_node("Cast", ["s"], ["c"], to=9), h.make_node("If", ["c"], ["i"], then_branch=inside, else_branch=other),
                        h.make_node("Add", ["r", "i"], ["y"])], [2, 3, 4, 4], {"lengths": [2, 1, 2]}), tmp_path / "r.onnx")
    result = hone("export", tmp_path / "r.onnx", "-o", tmp_path / "r.mlir")
    refused(result, "E_UNSUP", "ReverseSequence (1): ")
    assert "Hardmax (1): " in result.errors
    assert not (tmp_path / "r.mlir").exists()
    refused(hone("export", "zoo:mlp", "-o", tmp_path / "m.txt"), "E_USAGE", "FILE.mlir")


def test_the_page_is_current(hone):
    """docs/reference/stablehlo.md: the operators that have a rule, and which of the built-in models are written."""
    tool = pathlib.Path(__file__).resolve().parents[2] / "tools/stablehlo_table.py"
    from hone import HONE
    result = subprocess.run([sys.executable, tool, HONE, "--check"], capture_output=True, check=False)
    assert result.returncode == 0, result.stderr


def test_export_writes_onnx_that_is_the_same_model(hone, tmp_path):
    sound(hone("export", "zoo:mlp", "-o", tmp_path / "m.onnx"))
    sound(hone("verify", tmp_path / "m.onnx"))


def test_a_route_is_a_dimension(hone, tmp_path):
    flags = [*QUICK, "--json", tmp_path / "s.json"]
    result = hone("bench", "zoo:mlp", "--backend", "xla,native", "--route", "onnx,stablehlo-hone", *flags)
    rows = json.loads((tmp_path / "s.json").read_text())["records"]
    routes = sorted((row["backend"], row["route"]) for row in rows)
    assert routes == [("native", "onnx"), ("xla", "onnx"), ("xla", "stablehlo-hone")], result
    assert all("--route stablehlo-hone" in row["repeat"] for row in rows if row["route"] != "onnx")
    refused(hone("bench", "zoo:mlp", "--route", "hlo", "--dry-run"), "E_USAGE", "hone list engines")
