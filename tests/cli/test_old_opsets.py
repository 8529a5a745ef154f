"""Models of opsets 7 to 12: every operator that has changed since, in its old form, compiled and
compared with ONNX Runtime. One model per opset; each operator has its own output."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from hone import sound, with_long

onnxruntime = pytest.importorskip("onnxruntime")

F, I = np.float32, np.int64


class Graph:
    """Nodes over two inputs x [2,3,8,8] and y [4,6]; constants become initializers."""

    def __init__(self, opset):
        self.opset, self.nodes, self.constants, self.outputs = opset, [], [], []

    def constant(self, value):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def add(self, op, *inputs, outputs=1, **attributes):
        names = [f"{op}_{len(self.nodes)}_{k}" for k in range(outputs)]
        given = [value if isinstance(value, str) else self.constant(value) for value in inputs]
        self.nodes.append(helper.make_node(op, given, names, **attributes))
        self.outputs += names
        return names

    def model(self):
        types = [("x", TensorProto.FLOAT, [2, 3, 8, 8]), ("y", TensorProto.FLOAT, [4, 6])]
        graph = helper.make_graph(
            self.nodes, f"opset{self.opset}",
            [helper.make_tensor_value_info(*row) for row in types],
            [onnx.ValueInfoProto(name=name) for name in self.outputs], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=6)
        return onnx.shape_inference.infer_shapes(model)


def axes(g, op, x, values, **attributes):
    """Squeeze, Unsqueeze and reductions had their axes as an attribute until opset 13."""
    return g.add(op, x, axes=values, **attributes)


def build(opset):
    g = Graph(opset)
    weights = np.linspace(-1, 1, 4 * 3 * 9, dtype=F).reshape(4, 3, 3, 3)
    for op in ("Softmax", "LogSoftmax", "Hardmax"):  # over all axes from one on
        g.add(op, "x", axis=2)
        g.add(op, "y")
    for op in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
               "ReduceSumSquare", "ReduceLogSumExp"):
        axes(g, op, "x", [1, 3], keepdims=0)
        g.add(op, "y")
    axes(g, "Unsqueeze", "y", [0, 3])
    axes(g, "Squeeze", axes(g, "Unsqueeze", "y", [0])[0], [0])
    g.add("Split", "y", outputs=2, axis=1, split=[2, 4])
    g.add("Split", "x", outputs=2, axis=2)
    g.add("BatchNormalization", "x", *(np.array(v, F) for v in ([1, 2, .5], [0, .1, -.2], [.1, 0, .3], [1, 2, 3])),
          **({"epsilon": 1e-3}))
    g.add("MaxPool", "x", kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2])
    g.add("AveragePool", "x", kernel_shape=[2, 2], pads=[1, 1, 0, 0], count_include_pad=1)
    g.add("Conv", "x", weights, pads=[1, 1, 1, 1])
    g.add("ConvTranspose", "x", weights.reshape(3, 4, 3, 3), strides=[2, 2], output_padding=[1, 1])
    g.add("Gemm", "y", np.ones((5, 6), F), np.arange(5, dtype=F), transB=1, alpha=.5, beta=2.0)
    g.add("Flatten", "x", axis=2)
    g.add("ArgMax", "x", axis=1, keepdims=0)
    g.add("Concat", "y", "y", axis=1)
    g.add("Gather", "y", np.array([2, 0], I), axis=1)
    g.add("PRelu", "x", np.array([[[.1]], [[.2]], [[.3]]], F))
    g.add("LRN", "x", size=3, alpha=.1)
    g.add("InstanceNormalization", "x", np.ones(3, F), np.zeros(3, F))
    g.add("DepthToSpace", g.add("Concat", "x", "x", "x", "x", axis=1)[0], blocksize=2)
    g.add("SpaceToDepth", "x", blocksize=2)
    g.add("Transpose", "x", perm=[0, 2, 3, 1])
    g.add("Tile", "y", np.array([2, 1], I))
    g.add("Expand" if opset >= 8 else "Identity", *(["y", np.array([3, 4, 6], I)] if opset >= 8 else ["y"]))
    g.add("LSTM", g.add("Reshape", "x", np.array([2, 8, 24], I))[0], np.ones((1, 16, 24), F) * F(.05),
          np.ones((1, 16, 4), F) * F(.1), outputs=3, hidden_size=4)
    g.add("Pow", "y", np.array(2, F))
    if opset < 10:
        g.add("Slice", "x", starts=[1, -5], ends=[3, 100], axes=[1, 3])
        g.add("TopK", "y", outputs=2, k=3, axis=1)
        g.add("Dropout", "y", ratio=.5)
    else:
        g.add("Slice", "x", *(np.array(v, I) for v in ([1, -5], [3, 100], [1, 3], [1, 2])))
        g.add("TopK", "y", np.array([3], I), outputs=2, axis=1)
        g.add("Resize" if opset == 10 else "Identity", *(["x", np.array([1, 1, 2, 2], F)] if opset == 10 else ["x"]))
    if 7 <= opset < 9:
        g.add("Upsample", "x", scales=[1., 1., 2., 2.], mode="nearest")
    if opset == 9:
        g.add("Upsample", "x", np.array([1, 1, 2, 2], F), mode="linear")
    if opset < 11:
        g.add("Clip", "y", min=-.5, max=.25)
        g.add("Pad", "x", pads=[0, 0, 1, 2, 0, 0, 0, 1], mode="reflect")
    else:
        g.add("Clip", "y", np.array(-.5, F), np.array(.25, F))
        g.add("Pad", "x", np.array([0, 0, 1, 2, 0, 0, 0, 1], I), mode="edge")
        g.add("CumSum", "y", np.array(1, I))
        g.add("GatherElements", "y", np.array([[0, 1], [2, 0]], I), axis=1)
        g.add("Round", "y")
    if opset >= 9:
        g.add("OneHot", np.array([0, 2, 1], I), np.array(3, I), np.array([0, 1], F))
        g.add("Where", g.add("Greater", "y", np.array(0, F))[0], "y", np.array(7, F))
        g.add("Scatter" if opset < 11 else "ScatterElements", "y", np.array([[0, 1], [2, 0]], I),
              np.array([[9, 8], [7, 6]], F), axis=1)
    if opset >= 12:
        g.add("GreaterOrEqual", "y", np.array(0, F))
        g.add("Celu", "y", alpha=.5)
        g.add("Einsum", "y", "y", equation="ij,kj->ik")
    return g


@pytest.mark.parametrize("opset", with_long([7, 12], 8, 9, 10, 11))
def test_operators_of_an_old_opset(hone, tmp_path, opset):
    model = build(opset).model()
    path = tmp_path / "model.onnx"
    onnx.save(model, path)
    random = np.random.default_rng(opset)
    given = {"x": random.normal(size=(2, 3, 8, 8)).astype(F), "y": random.normal(size=(4, 6)).astype(F)}
    (tmp_path / "in").mkdir()
    for k, name in enumerate(given):
        np.save(tmp_path / "in" / f"in_{k}.npy", given[name])
    result = hone("run", path, "--inputs", tmp_path / "in", "-o", tmp_path / "out")
    sound(result)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options)
    names = [output.name for output in session.get_outputs()]
    for k, (name, wanted) in enumerate(zip(names, session.run(None, given))):
        made = np.load(tmp_path / "out" / f"out_{k}.npy")
        assert made.shape == wanted.shape, name
        np.testing.assert_allclose(made, wanted, rtol=1e-4, atol=1e-5, err_msg=name)
