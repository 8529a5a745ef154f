"""Steps that differ only in their sizes share one function, which reads the sizes at run time."""

import re

import numpy as np
import onnx
from artifact import Artifact
from hone import sound
from onnx import TensorProto, helper, numpy_helper


def test_products_of_vectors_share_a_function(hone, tmp_path):
    sizes = [96, 160, 224, 96, 224, 160]
    rng = np.random.default_rng(2)
    x = rng.standard_normal((1, sizes[0])).astype(np.float32)
    nodes, weights, value, expected = [], [], "x", x
    for i, (k, n) in enumerate(zip(sizes, sizes[1:])):
        w = (rng.standard_normal((k, n)) / np.sqrt(k)).astype(np.float32)
        weights.append(numpy_helper.from_array(w, f"w{i}"))
        nodes += [helper.make_node("MatMul", [value, f"w{i}"], [f"p{i}"]), helper.make_node("Relu", [f"p{i}"], [f"y{i}"])]
        value, expected = f"y{i}", np.maximum(expected @ w, 0)
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
                              [helper.make_tensor_value_info(value, TensorProto.FLOAT, expected.shape)], weights)
    path = tmp_path / "m.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    sound(hone("compile", path, "-o", "m.c", "--prefix", "m"))
    text = (hone.folder / "m.c").read_text()
    steps = len(sizes) - 1
    assert text.count("static const long sizes[]") == steps
    assert len(re.findall(r"^#define NAME m_k\d+$", text, re.M)) < steps
    sound(hone("compile", path, "-o", "m.so"))
    np.testing.assert_allclose(Artifact(hone.folder / "m.so")(x)[0], expected, rtol=1e-4, atol=1e-6)
