"""Generated code grows in proportion to the model: no function is as long as the model, and tree ensembles and
lattices stay near the size of their files."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto as T
from onnx import helper

from hone import refused, sound

LONGEST = 400  # lines: a C compiler's time grows faster than a function's length


def save(graph, path, **opsets):
    imports = [helper.make_opsetid("", 17)] + [helper.make_opsetid(d.replace("_", "."), v) for d, v in opsets.items()]
    onnx.save(helper.make_model(graph, opset_imports=imports, ir_version=8), path)
    return path


def longest_function(text):
    longest, start = 0, None
    for number, line in enumerate(text.splitlines()):
        if line[:1] not in " }\t#" and line.endswith("{") and "(" in line and "=" not in line:
            start = number
        elif line.startswith("}") and start is not None:
            longest, start = max(longest, number - start), None
    return longest


def concat(count):
    names = [f"x{i}" for i in range(count)]
    return helper.make_graph([helper.make_node("Concat", names, ["y"], axis=1)], "g",
                             [helper.make_tensor_value_info(name, T.FLOAT, [2, 1 + i % 3]) for i, name in
                              enumerate(names)], [helper.make_tensor_value_info("y", T.FLOAT, None)])


def chain(count):
    """Operators that do not fuse with each other: each is a step of its own."""
    nodes = []
    for i in range(count):
        kind = ("Softmax", {"axis": i % 2}) if i % 2 else ("CumSum", {})
        more = ["axis"] if kind[0] == "CumSum" else []
        nodes.append(helper.make_node(kind[0], [f"v{i}", *more], [f"v{i + 1}"], **kind[1]))
    return helper.make_graph(nodes, "g", [helper.make_tensor_value_info("v0", T.FLOAT, [2, 3])],
                             [helper.make_tensor_value_info(f"v{count}", T.FLOAT, [2, 3])],
                             [onnx.numpy_helper.from_array(np.array(1, np.int64), "axis")])


MODELS = {"concat": (concat, 8000), "chain": (chain, 10000)}


@pytest.mark.parametrize("name", MODELS)
def test_no_function_is_as_long_as_the_model(hone, tmp_path, name):
    make, count = MODELS[name]
    path = save(make(count), tmp_path / "m.onnx")
    sound(hone("compile", path, "-o", tmp_path / "m.c", "--cpu", "baseline", "-q"))
    text = (tmp_path / "m.c").read_text()
    assert longest_function(text) <= LONGEST
    assert len(text) < 3000 * count, "C text a node"


def forest(trees, depth, features=20):
    """A regressor of full binary trees."""
    inner, rng = 2 ** depth - 1, np.random.default_rng(1)
    ids, tree, feature, value, mode, true, false, t_tree, t_id, weight = ([] for _ in range(10))
    for k in range(trees):
        for i in range(2 * inner + 1):
            leaf = i >= inner
            tree.append(k), ids.append(i), mode.append("LEAF" if leaf else "BRANCH_LEQ")
            feature.append(0 if leaf else int(rng.integers(features)))
            value.append(0.0 if leaf else float(rng.normal()))
            true.append(0 if leaf else 2 * i + 1), false.append(0 if leaf else 2 * i + 2)
            if leaf:
                t_tree.append(k), t_id.append(i), weight.append(float(rng.normal()))
    node = helper.make_node(
        "TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml", n_targets=1, nodes_treeids=tree, nodes_nodeids=ids,
        nodes_featureids=feature, nodes_values=value, nodes_modes=mode, nodes_truenodeids=true, nodes_falsenodeids=false,
        target_treeids=t_tree, target_nodeids=t_id, target_ids=[0] * len(t_id), target_weights=weight)
    return helper.make_graph([node], "g", [helper.make_tensor_value_info("x", T.FLOAT, [1, features])],
                             [helper.make_tensor_value_info("y", T.FLOAT, [1, 1])])


@pytest.mark.parametrize("trees,depth", [(50, 4), (400, 4), (100, 6)])
def test_trees_stay_near_the_size_of_their_file(hone, tmp_path, trees, depth):
    """Dense over all trees at once a file of 79 KB became 2.7 MB, 34 times: it grew with the square of the trees."""
    path = save(forest(trees, depth), tmp_path / "m.onnx", ai_onnx_ml=3)
    sound(hone("compile", path, "-o", tmp_path / "m.so", "-q"))
    assert (tmp_path / "m.so").stat().st_size < 64000 + path.stat().st_size


def lattices(count, dims):
    """An ensemble of multilinear lattices: each weighs the 2^dims corners of a cube; the products of its inputs and
    their complements, times a column of weights."""
    draw = np.random.default_rng(3)
    tensors = [onnx.numpy_helper.from_array(np.array(x), name) for name, x in
               {"pairs": np.int64([3]), "low": np.int64([2])}.items()]
    nodes = [helper.make_node("Sub", ["one", "x"], ["rest"])]
    tensors.append(onnx.numpy_helper.from_array(np.float32(1), "one"))
    corners = None
    for i in range(dims):
        tensors.append(onnx.numpy_helper.from_array(np.int64([i]), f"i{i}"))
        nodes += [helper.make_node("Gather", [side, f"i{i}"], [f"{side}{i}"], axis=2) for side in ("rest", "x")]
        nodes.append(helper.make_node("Concat", [f"rest{i}", f"x{i}"], [f"pair{i}"], axis=2))
        if i:
            tensors.append(onnx.numpy_helper.from_array(np.int64([1, count, 2 << i]), f"shape{i}"))
            nodes += [helper.make_node("Unsqueeze", [corners, "pairs"], [f"left{i}"]),
                      helper.make_node("Unsqueeze", [f"pair{i}", "low"], [f"right{i}"]),
                      helper.make_node("Mul", [f"left{i}", f"right{i}"], [f"cube{i}"]),
                      helper.make_node("Reshape", [f"cube{i}", f"shape{i}"], [f"corners{i}"])]
        corners = f"corners{i}" if i else "pair0"
    tensors.append(onnx.numpy_helper.from_array(draw.standard_normal((2**dims, count)).astype(np.float32), "w"))
    nodes.append(helper.make_node("Einsum", [corners, "w"], ["y"], equation="bls,sl->bl"))
    return helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", T.FLOAT, [1, count, dims])],
                             [helper.make_tensor_value_info("y", T.FLOAT, [1, count])], tensors)


def test_lattices_stay_near_the_size_of_their_file(hone, tmp_path):
    """Packed as products of one column each, 600 lattices of 10 inputs became 79 MB of 2.5, 31 times."""
    path = save(lattices(60, 10), tmp_path / "m.onnx")
    sound(hone("compile", path, "-o", tmp_path / "m.so", "-q"))
    assert (tmp_path / "m.so").stat().st_size < 2 * path.stat().st_size + 200_000
    sound(hone("verify", path, "-q"))


def test_prefer_size_keeps_weights_as_large_as_they_came(hone, tmp_path):
    """Winograd's weights are four times the model's: fast, and the default; not with --prefer size."""
    weights = np.random.default_rng(0).standard_normal((256, 256, 3, 3)).astype(np.float32)
    node = helper.make_node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1])
    path = save(helper.make_graph([node], "g", [helper.make_tensor_value_info("x", T.FLOAT, [1, 256, 28, 28])],
                                  [helper.make_tensor_value_info("y", T.FLOAT, None)],
                                  [onnx.numpy_helper.from_array(weights, "w")]), tmp_path / "m.onnx")
    made = {}
    for preference in "speed", "size":
        out = tmp_path / f"{preference}.so"
        sound(hone("compile", path, "-o", out, "--cpu", "avx2", "--prefer", preference, "-q"))
        made[preference] = out.read_bytes()
    most = weights.nbytes + 2_000_000
    assert len(made["size"]) <= most < len(made["speed"])
    assert b", prefer size\0" in made["size"] and b"prefer" not in made["speed"]
    sound(hone("verify", path, "--prefer", "size", "-q"))
    wrong = hone("compile", path, "-o", tmp_path / "no.so", "--prefer", "beauty")
    refused(wrong, "E_USAGE", "no such preference; there are speed and size")
