"""Models that `inspect` reads and `compile` refuses: inspect reports that, with the reason and the node."""

import json

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import hostile
from hone import ROOT, refused, sound


def conv_over_four():
    """The graph is right and its shapes are known; no kernel has that many spatial dimensions."""
    w = hostile.const("w", [[[[[[1.0, 2.0]]]]]], "float32")
    return hostile.one("Conv", (1, 1, 3, 3, 3, 3), [w], None, inputs=("x", "w"))


def test_it_says_what_does_not_compile(hone, tmp_path):
    path = tmp_path / "m.onnx"
    path.write_bytes(conv_over_four().SerializeToString())
    result = hone("inspect", path, "--no-measure", "--json", tmp_path / "i.json")
    sound(result)
    compiled = hone("compile", path, "-o", tmp_path / "m.so", "-q")
    refused(compiled, "E_UNSUP", "node")
    reason = compiled.errors.split("hone: ")[1].splitlines()[0]
    assert f"compiles  no, {reason}" in result.text, result
    facts = json.loads((tmp_path / "i.json").read_text())
    assert facts["compiles"] is False and facts["compile_refusal"] == reason


def test_it_says_what_compiles(hone, tmp_path):
    result = hone("inspect", "zoo:mlp", "--no-measure", "--json", tmp_path / "i.json")
    sound(result)
    assert "compiles  yes" in result.text and json.loads((tmp_path / "i.json").read_text())["compiles"] is True


def test_no_kernel_says_why(hone, tmp_path):
    """The operator, the number of its operands, its rank or its types: whichever it is."""
    path = tmp_path / "m.onnx"
    path.write_bytes(conv_over_four().SerializeToString())
    refused(hone("compile", path, "-o", tmp_path / "m.so", "-q"), "E_UNSUP", "Conv has 4 spatial dimensions; kernels support at most 3")


def facts_of(hone, tmp_path, model, *words):
    sound(hone("inspect", model, "--no-measure", "--json", tmp_path / "i.json", *words))
    return json.loads((tmp_path / "i.json").read_text())


def test_it_counts_quantised_parameters_and_names_the_files_operators(hone, tmp_path):
    """A convolution of int8 in TFLite and in ONNX; a .pt2 in ATen's words."""
    facts = facts_of(hone, tmp_path, ROOT / "tests/cases/tflite/conv-int8-same.tflite")
    assert facts["precision"] == "int8" and facts["parameters"] == 150, facts
    assert facts["file_operators"] == {"CONV_2D": 1} and "ConvInteger" in facts["operators"], facts
    facts = facts_of(hone, tmp_path, ROOT / "tests/cases/pt2/small.pt2", "--batch", "1")
    assert facts["precision"] == "fp32" and facts["file_operators"]["aten.linear.default"] == 1, facts
    w = hostile.const("w", [[[[1, -2], [3, 4]]], [[[5, 6], [7, 8]]]], "int8")
    more = [hostile.const("z", 0, "int8"), hostile.const("s", 0.1, "float32"),
            hostile.const("t", [0.1, 0.2], "float32")]
    model = hostile.one("QLinearConv", (1, 1, 5, 5), [w, *more], None, inputs=("x", "s", "z", "w", "t", "z", "s", "z"),
                        kind=onnx.TensorProto.INT8)
    (tmp_path / "q.onnx").write_bytes(model.SerializeToString())
    facts = facts_of(hone, tmp_path, tmp_path / "q.onnx")
    assert facts["precision"] == "int8" and facts["parameters"] == 8, facts


@pytest.mark.parametrize("transposed,scale", [(False, 0.5), (True, 0.5), (False, 0.3)])
def test_weights_in_blocks_count_as_they_are_stored(hone, tmp_path, transposed, scale):
    """A matmul reads 4 bits per weight and its scales, of two bytes where f16 holds them, not the floats made of them."""
    k, n, block = 64, 96, 32
    shape, axis = ([n, k], 1) if transposed else ([k, n], 0)
    scales = np.full([n, k // block] if transposed else [k // block, n], scale, np.float32)
    weights = helper.make_tensor("w", TensorProto.UINT4, shape, bytes(k * n // 2), raw=True)
    nodes = [helper.make_node("DequantizeLinear", ["w", "s"], ["d"], axis=axis, block_size=block),
             *([helper.make_node("Transpose", ["d"], ["t"])] if transposed else []),
             helper.make_node("MatMul", ["x", "t" if transposed else "d"], ["y"])]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, k])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, n])], [weights, numpy_helper.from_array(scales, "s")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), tmp_path / "m.onnx")
    result = hone("inspect", tmp_path / "m.onnx", "--json", "-")
    stored = k * n / 2 + scales.size * (2 if scale == 0.5 else 4)
    made = k * n / 2 + scales.size * 4 + k * n * 4  # read and written by DequantizeLinear
    moved = (k * n / 2 + scales.size * (2 if scale == 0.5 else 4) + k * n * 4) if transposed else 0
    assert json.loads(result.text)["bytes"] == made + moved + 4 * k + stored + 4 * n, result
