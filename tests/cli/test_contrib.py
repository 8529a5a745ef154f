"""Operators of com.microsoft, and variants of ONNX operators without a case in its suite, against ONNX Runtime: the
reference and compiled code, one small model each."""

import subprocess

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from peer import TOOLS, hone_outputs, peer_outputs, runner

RANDOM = np.random.default_rng(7)


def floats(*shape, scale=1.0):
    return (RANDOM.standard_normal(shape) * scale).astype(np.float32)


def codes(*shape, dtype=np.uint8):
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    return RANDOM.integers(low, high, shape, dtype=dtype, endpoint=True)


def scale(x):
    return np.array(x, np.float32)


def zero(x, dtype=np.uint8):
    return np.array(x, dtype)


# [4]: whole, of less than a pixel, beyond the picture, the wrong way round
BOXES = np.array([[0.4, 1.2, 17.6, 15.7], [3, 2, 3.4, 2.2], [-7.5, -4, 60, 80], [12, 12, 4, 6]], np.float32)
PICTURES = np.array([0, 1, 1, 0])
PLAIN = ("MaxRoiPool", "RoiAlign")
# name, "name/variant": inputs (None: omitted), attributes, number of outputs
CASES = {
    "MaxRoiPool": ([floats(2, 3, 9, 11), np.concatenate([PICTURES[:, None], BOXES], 1).astype(np.float32)],
                   {"pooled_shape": [3, 2], "spatial_scale": 0.5}, 1),
    **{f"RoiAlign/{mode}": ([floats(2, 3, 9, 11), BOXES, PICTURES],
                            {"output_height": 3, "output_width": 4, "spatial_scale": 0.5, "sampling_ratio": 0,
                             "coordinate_transformation_mode": mode}, 1) for mode in ("half_pixel", "output_half_pixel")},
    "BiasGelu": ([floats(2, 3, 8), floats(8)], {}, 1),
    "EmbedLayerNormalization": (
        [
            RANDOM.integers(0, 9, (2, 5)).astype(np.int32),
            RANDOM.integers(0, 2, (2, 5)).astype(np.int32),
            floats(9, 8),
            floats(6, 8),
            floats(2, 8),
            floats(8),
            floats(8),
        ],
        {"epsilon": 1e-5},
        2,
    ),
    **{f"MurmurHash3/{x.dtype}": ([x], how, 1) for x, how in (
        (floats(5), {}), (floats(3).astype(np.float64), {"seed": 5}), (codes(4, dtype=np.int32), {"positive": 0}),
        (codes(2, 3, dtype=np.int64), {"seed": 7, "positive": 0}),
        (np.array(["", "a", "bc", "def", "wörter", "a longer text of some words"], object), {"positive": 0, "seed": 3}))},
    "CDist": ([floats(5, 4), floats(3, 4)], {"metric": "euclidean"}, 1),
    "Pad": ([floats(3, 4), np.array([1, 0, 0, 2], np.int64), scale(1.5)], {}, 1),
    "Trilu": ([floats(4, 5), np.array(1, np.int64)], {"upper": 0}, 1),
    "FastGelu": ([floats(2, 8), floats(8)], {}, 1),
    "FusedConv": (
        [floats(1, 3, 6, 6), floats(4, 3, 3, 3), floats(4)],
        {"activation": "LeakyRelu", "activation_params": [0.25], "pads": [1, 1, 1, 1]},
        1,
    ),
    "FusedMatMul": ([floats(2, 5, 3), floats(2, 4, 5)], {"transA": 1, "transB": 1, "alpha": 0.5}, 1),
    "Gelu": ([floats(3, 8)], {}, 1),
    "MatMulNBits": (
        [floats(3, 40), codes(6, 3, 8), floats(18, scale=0.1), codes(12)],
        {"K": 40, "N": 6, "bits": 4, "block_size": 16},
        1,
    ),
    "MultiHeadAttention": (
        [floats(2, 4, 8), floats(2, 5, 8), floats(2, 5, 8), floats(24)],
        {"num_heads": 2},
        1,
    ),
    "QLinearAdd": (
        [codes(2, 8), scale(0.1), zero(120), codes(8), scale(0.2), zero(7), scale(0.3), zero(100)],
        {},
        1,
    ),
    "DynamicQuantizeMatMul": (
        [floats(3, 4, 40), codes(40, 24, dtype=np.int8), floats(24, scale=0.01) ** 2, zero([3] * 24, np.int8), floats(24)],
        {},
        1,
    ),
    "MatMulIntegerToFloat": (
        [codes(5, 40), codes(40, 6), scale(0.1), scale(0.02), zero(120), zero(131), floats(6)],
        {},
        1,
    ),
    "QGemm": (
        [codes(3, 20), scale(0.1), zero(120), codes(7, 20, dtype=np.int8), scale([0.01] * 7), zero([0] * 7, np.int8),
         RANDOM.integers(-900, 900, 7).astype(np.int32), scale(0.3), zero(100)],
        {"transB": 1},
        1,
    ),
    "QLinearSoftmax": (
        [codes(3, 12), scale(0.1), zero(120), scale(1 / 256), zero(0)],
        {"axis": -1, "opset": 13},
        1,
    ),
    "QLinearGlobalAveragePool": (
        [codes(1, 3, 4, 4), scale(0.1), zero(120), scale(0.05), zero(110)],
        {"channels_last": 0},
        1,
    ),
    "QLinearLeakyRelu": (
        [codes(3, 8, dtype=np.int8), scale(0.1), zero(3, np.int8), scale(0.2), zero(-5, np.int8)],
        {"alpha": 0.1},
        1,
    ),
    "QLinearMul": (
        [codes(2, 8), scale(0.1), zero(120), codes(2, 8), scale(0.2), zero(7), scale(0.9), zero(100)],
        {},
        1,
    ),
    "QLinearWhere": (
        [RANDOM.integers(0, 2, (3, 1)).astype(bool), codes(3, 8), scale(0.1), zero(120), codes(8), scale(0.05), zero(3), scale(0.2), zero(99)],
        {},
        1,
    ),
    "GridSample": ([floats(2, 3, 5, 6), floats(2, 4, 4, 2, scale=0.6)], {"padding_mode": "border", "align_corners": 1}, 1),
    "Inverse": ([np.concatenate([floats(1, 3, 4, 4), np.eye(4, dtype=np.float32)[None, :, ::-1][:, None].repeat(3, 1)])], {}, 1),
    "Inverse/one node": ([floats(2, 40, 40) + 8 * np.eye(40, dtype=np.float32)], {}, 1),
    "QuickGelu": ([floats(2, 8)], {"alpha": 1.5}, 1),
    "RotaryEmbedding": (
        [floats(2, 3, 4, 8), np.array([2], np.int64), floats(16, 4), floats(16, 4)],
        {},
        1,
    ),
    "SkipLayerNormalization": ([floats(2, 3, 8), floats(2, 3, 8), floats(8), floats(8), floats(8)], {}, 1),
    "SkipSimplifiedLayerNormalization": ([floats(2, 3, 8), floats(2, 3, 8), floats(8)], {}, 1),
}
# The second input onwards are weights in every export; here they stay inputs where a kernel allows it.
CONSTANT = {"MatMulNBits": (1, 2, 3), "Pad": (1, 2), "Trilu": (1,), "FusedConv": (1, 2), "DynamicQuantizeMatMul": (1, 2, 3, 4),
            "MatMulIntegerToFloat": (1, 3, 5), "QGemm": (1, 2, 3, 4, 5, 6, 7, 8), "QLinearSoftmax": (1, 2, 3, 4)}


def model_of(name, inputs, attributes, outputs):
    name, domain = name.split("/")[0], "" if name.split("/")[0] in PLAIN else "com.microsoft"
    names = [f"x{k}" for k in range(len(inputs))]
    constant = CONSTANT.get(name, ())
    graph = helper.make_graph(
        [helper.make_node(name, names, [f"y{k}" for k in range(outputs)], domain=domain, **attributes)],
        "contrib",
        [
            helper.make_tensor_value_info(names[k], helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
            for k, x in enumerate(inputs)
            if k not in constant
        ],
        [helper.make_empty_tensor_value_info(f"y{k}") for k in range(outputs)],
        [onnx.numpy_helper.from_array(inputs[k], names[k]) for k in constant],
    )
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("name", sorted(CASES))
def test_operator_equals_onnx_runtime(name, tool, tmp_path):
    inputs, attributes, outputs = CASES[name]
    model = model_of(name, inputs, attributes, outputs)
    path = tmp_path / "model.onnx"
    onnx.save(model, path)
    given = {info.name: inputs[int(info.name[1:])] for info in model.graph.input}
    wanted = peer_outputs(path, given)
    made = hone_outputs(tool, path, given, tmp_path)
    for got, want in zip(made, wanted, strict=True):
        assert got.dtype == want.dtype and got.shape == want.shape
        if want.dtype == np.float32:
            np.testing.assert_allclose(got, want, rtol=2e-4, atol=2e-5)
        else:  # a tie of a quantiser falls with the last bit
            assert np.abs(got.astype(int) - want.astype(int)).max() <= (want.dtype.itemsize == 1)


def test_unknown_operator_of_the_domain_is_named(tmp_path):
    graph = helper.make_graph(
        [helper.make_node("NoSuchThing", ["x"], ["y"], domain="com.microsoft")],
        "contrib",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])],
    )
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(graph, opset_imports=imports, ir_version=8), tmp_path / "model.onnx")
    done = subprocess.run([runner("reference"), tmp_path / "model.onnx", tmp_path / "out"], capture_output=True, text=True)
    assert done.returncode != 0 and "NoSuchThing" in done.stderr and "com.microsoft" in done.stderr
