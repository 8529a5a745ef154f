"""Tree ensembles against ONNX Runtime: every comparison, missing values, transforms and kinds of label."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto as T
from onnx import helper

from hone import sound

ort = pytest.importorskip("onnxruntime")
BRANCHES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]
FEATURES = 8


def grow(rng, depth):
    """A tree as a list of the numbers of both ends, None for a leaf, in the order of its node numbers."""
    nodes, todo = {}, [(0, 0)]
    count = 1
    while todo:
        number, level = todo.pop()
        nodes[number] = None
        if level < depth and (level < 2 or rng.random() > 0.1):
            nodes[number] = (count, count + 1)
            todo += [(count, level + 1), (count + 1, level + 1)]
            count += 2
    return [nodes[number] for number in range(count)]


def ensemble(trees=40, depth=5, classes=0, all_classes=False, one_class=False, text=False, modes=BRANCHES[:1],
             positive=False, **attributes):
    """A regressor (no classes) or a classifier; splits and values on a grid of 0.1, so that some are equal."""
    rng = np.random.default_rng(3)
    nodes = {name: [] for name in ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids",
                                   "falsenodeids", "missing_value_tracks_true")}
    leaves = {name: [] for name in ("treeids", "nodeids", "ids", "weights")}
    for tree in range(trees):
        for number, ends in enumerate(grow(rng, depth)):
            yes, no = ends or (0, 0)
            split = float(np.float32(np.round(rng.normal(), 1)))
            for name, value in (("treeids", tree), ("nodeids", number), ("featureids", int(rng.integers(FEATURES))),
                                ("values", split), ("modes", str(rng.choice(modes)) if ends else "LEAF"),
                                ("truenodeids", yes), ("falsenodeids", no),
                                ("missing_value_tracks_true", int(rng.integers(2)))):
                nodes[name].append(value)
            for target in range(max(classes, 1)) if all_classes else [0 if one_class or not classes else tree % classes]:
                if not ends:
                    weight = rng.random() if positive else rng.normal()
                    for name, value in (("treeids", tree), ("nodeids", number), ("ids", target),
                                        ("weights", float(np.float32(weight)))):
                        leaves[name].append(value)
    attributes |= {f"nodes_{name}": values for name, values in nodes.items()}
    attributes |= {f"{'class' if classes else 'target'}_{name}": values for name, values in leaves.items()}
    if classes:
        labels = [f"c{i}" for i in range(classes)] if text else [10 * i + 3 for i in range(classes)]
        attributes["classlabels_strings" if text else "classlabels_int64s"] = labels
        outputs = [helper.make_tensor_value_info("label", T.STRING if text else T.INT64, ["n"]),
                   helper.make_tensor_value_info("scores", T.FLOAT, ["n", classes])]
    else:
        attributes["n_targets"] = 1
        outputs = [helper.make_tensor_value_info("y", T.FLOAT, ["n", 1])]
    node = helper.make_node(f"TreeEnsemble{'Classifier' if classes else 'Regressor'}", ["x"], [o.name for o in outputs],
                            domain="ai.onnx.ml", **attributes)
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", T.FLOAT, ["n", FEATURES])], outputs)
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17),
                                                                 helper.make_opsetid("ai.onnx.ml", 3)])


CASES = {
    "regressor": {},
    "average": dict(aggregate_function="AVERAGE", base_values=[0.5]),
    "min": dict(aggregate_function="MIN"),
    "max": dict(aggregate_function="MAX"),
    **{mode: dict(modes=[mode]) for mode in BRANCHES[1:]},
    "one leaf": dict(trees=3, depth=0),
    "boosted": dict(classes=3, post_transform="SOFTMAX", base_values=[0.1, -0.2, 0.3]),
    "forest": dict(classes=4, all_classes=True, depth=8, trees=30),
    "binary": dict(classes=2, one_class=True, post_transform="LOGISTIC"),
    "binary, positive": dict(classes=2, one_class=True, positive=True, trees=1),
    "text": dict(classes=3, text=True, post_transform="SOFTMAX_ZERO"),
}


@pytest.mark.parametrize("name", CASES)
def test_trees_decide_as_onnxruntime_does(hone, tmp_path, name):
    model = ensemble(**CASES[name])
    onnx.save(model, tmp_path / "m.onnx")
    rng = np.random.default_rng(5)
    x = np.round(rng.normal(size=(7, FEATURES)), 1).astype(np.float32)
    x[3, ::3] = np.nan
    (tmp_path / "in").mkdir()
    np.save(tmp_path / "in" / "x.npy", x)
    sound(hone("run", tmp_path / "m.onnx", "--shape", f"x[7,{FEATURES}]", "--inputs", tmp_path / "in", "-o", tmp_path / "out"))
    sound(hone("verify", tmp_path / "m.onnx", "--shape", f"x[7,{FEATURES}]"))
    session = ort.InferenceSession(tmp_path / "m.onnx")
    for k, expected in enumerate(session.run(None, {"x": x})):
        actual = np.load(tmp_path / "out" / f"out_{k}.npy")
        assert actual.shape == expected.shape
        if expected.dtype == np.float32:
            np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-5)
        else:
            assert actual.tolist() == expected.tolist()
