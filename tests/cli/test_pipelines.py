"""Complete pipelines as converters of scikit-learn and TensorFlow write them, with seeded parameters, against ONNX Runtime."""

import os

import numpy as np
import onnx
import pytest
from onnx import TensorProto as T, helper as h, numpy_helper

from peer import TOOLS, hone_outputs, model_of, peer_outputs, same

ML = "ai.onnx.ml"
SEEDS = range(400 if os.environ.get("HONE_SLOW") else 24)
COLUMNS = 5


def ml(op, inputs, outputs, **attributes):
    return h.make_node(op, inputs, outputs, domain=ML, **attributes)


def tree(random, number, classes, votes, nodes, leaves):
    """One tree of depth 4 at most, its nodes numbered as scikit-learn does: a node, its left side, its right."""
    count = 0

    def grow(depth):
        nonlocal count
        own, count = count, count + 1
        is_leaf = depth == 4 or (depth and random.random() < 0.3)
        row = {"treeids": number, "nodeids": own, "featureids": 0, "values": 0.0, "hitrates": 1.0, "modes": "LEAF",
               "truenodeids": 0, "falsenodeids": 0, "missing_value_tracks_true": 0}
        nodes.append(row)
        if is_leaf:
            ids = range(classes) if votes == "all" else [0] if votes == "single" else [number % classes]
            for k in ids:
                leaves.append((number, own, int(k), float(np.float32(random.random() if votes != "signed" else random.normal()))))
        else:
            # quarters: data hits thresholds exactly
            row.update(featureids=int(random.integers(COLUMNS)), values=float(random.integers(-4, 5)) / 4,
                       modes=str(random.choice(["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE"])) if votes != "signed" else "BRANCH_LEQ",
                       missing_value_tracks_true=int(random.random() < 0.5))
            row["truenodeids"] = grow(depth + 1)
            row["falsenodeids"] = grow(depth + 1)
        return own
    grow(0)


def ensemble(random, kind, classes, votes, count=5):
    nodes, leaves = [], []
    for number in range(count):
        tree(random, number, classes, votes, nodes, leaves)
    result = {f"nodes_{key}": [row[key] for row in nodes] for key in nodes[0]}
    for key, values in zip(("treeids", "nodeids", "ids", "weights"), zip(*leaves)):
        result[f"{kind}_{key}"] = list(values)
    return result


def labels(random, classes):
    if random.random() < 0.5:
        return {"classlabels_strings": [f"class {chr(97 + k)}" for k in range(classes)]}
    return {"classlabels_int64s": [int(k) for k in sorted(random.choice(50, classes, replace=False) - 9)]}


def zip_map(names):
    key = {"classlabels_strings": "classlabels_strings", "classlabels_int64s": "classlabels_int64s"}
    return {key[k]: v for k, v in names.items()}


def front(random, at):
    """Scaler, Imputer or Normalizer, or nothing, before a model."""
    kind = random.integers(4)
    if kind == 0:
        return [], at
    node = [ml("Scaler", [at], ["scaled"], offset=random.normal(size=COLUMNS).round(2).tolist(), scale=(random.random(COLUMNS) + 0.5).tolist()),
            ml("Imputer", [at], ["scaled"], imputed_value_floats=random.normal(size=COLUMNS).tolist(), replaced_value_float=float("nan")),
            ml("Normalizer", [at], ["scaled"], norm=str(random.choice(["L1", "L2", "MAX"])))][kind - 1]
    return [node], "scaled"


def forest_classifier(random):
    classes = int(random.integers(2, 5))
    names = labels(random, classes)
    nodes, at = front(random, "x")
    nodes += [ml("TreeEnsembleClassifier", [at], ["label", "scores"], post_transform="NONE",
                 **ensemble(random, "class", classes, "all" if classes > 2 else "single"), **names)]  # of two classes they store one
    if random.random() < 0.5:
        nodes += [ml("Normalizer", ["scores"], ["norm"], norm="L1"), ml("ZipMap", ["norm"], ["maps"], **zip_map(names))]
        return nodes, ["label", "norm"]
    return nodes, ["label", "scores"]


def boosted_classifier(random):
    classes = int(random.integers(2, 5))
    transform = str(random.choice(["NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT"])) if classes > 2 else "LOGISTIC"
    single = classes == 2
    made = ensemble(random, "class", 1 if single else classes, "signed", count=6)
    if transform == "PROBIT":
        made["class_weights"] = [0.05 + 0.1 / (1 + abs(w)) for w in made["class_weights"]]
    base = random.normal(size=1 if single else classes).astype(np.float32).tolist() if transform != "PROBIT" else [0.1] * classes
    return [ml("TreeEnsembleClassifier", ["x"], ["label", "scores"], post_transform=transform, base_values=base, **made,
               **labels(random, classes))], ["label", "scores"]


def two_classes(random):
    """One weight a leaf, of the first class (skl2onnx, XGBoost, LightGBM) or of the second (CatBoost once), or the same
    with both signs (CatBoost)."""
    votes, who = str(random.choice(["single", "signed"])), int(random.integers(3))
    made = ensemble(random, "class", 1, votes)
    if who == 2:
        for key in ("treeids", "nodeids"):
            made[f"class_{key}"] = [k for k in made[f"class_{key}"] for _ in range(2)]
        made["class_weights"] = [s * w for w in made["class_weights"] for s in (-1, 1)]
        made["class_ids"] = [0, 1] * (len(made["class_ids"]))
    elif who == 1:
        made["class_ids"] = [1] * len(made["class_ids"])
    if who < 2 and random.random() < 0.5:
        made["base_values"] = [float(np.float32(random.normal()))]
    names = labels(random, 2) if who < 2 else {"classlabels_int64s": [0, 1]}
    transform = str(random.choice(["NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"]))
    return [ml("TreeEnsembleClassifier", ["x"], ["label", "scores"], post_transform=transform, **made, **names)], ["label", "scores"]


def forest_regressor(random):
    targets = int(random.integers(1, 4))
    nodes, at = front(random, "x")
    more = {"base_values": random.normal(size=targets).astype(np.float32).tolist()} if random.random() < 0.5 else {}
    return nodes + [ml("TreeEnsembleRegressor", [at], ["y"], n_targets=targets, post_transform="LOGISTIC" if targets > 1 and random.random() < 0.5 else "NONE",
                       aggregate_function=str(random.choice(["SUM", "AVERAGE", "MIN", "MAX"])),
                       **ensemble(random, "target", targets, "all"), **more)], ["y"]


def linear_classifier(random):
    """As skl2onnx writes logistic regression: normalised scores, a label cast, maps."""
    classes = int(random.integers(2, 5))
    rows = 1 if classes == 2 and random.random() < 0.3 else classes
    names = labels(random, classes)
    names = {"classlabels_ints" if k == "classlabels_int64s" else k: v for k, v in names.items()}
    w = random.normal(size=(rows, COLUMNS)).astype(np.float32)
    b = random.normal(size=rows).astype(np.float32)
    nodes, at = front(random, "x")
    return nodes + [ml("LinearClassifier", [at], ["label", "raw"], coefficients=w.ravel().tolist(), intercepts=b.tolist(), multi_class=int(rows > 1),
                       post_transform=str(random.choice(["NONE", "LOGISTIC", "SOFTMAX"])), **names),
                    ml("Normalizer", ["raw"], ["scores"], norm="L1")], ["label", "scores"]


def voted_label(random):
    """Scores by products, then the label as skl2onnx takes it: ArgMax, ArrayFeatureExtractor, Reshape, maybe LabelEncoder."""
    classes = int(random.integers(2, 6))
    constants = {"w": random.normal(size=(COLUMNS, classes)).astype(np.float32), "flat": np.array([-1]),
                 "names": np.array([f"n{k}" for k in range(classes)], object) if random.random() < 0.5 else np.arange(classes) * 7 - 3}
    nodes, at = front(random, "x")
    nodes += [h.make_node("MatMul", [at, "w"], ["dots"]), h.make_node("Softmax", ["dots"], ["scores"], axis=1),
              h.make_node("ArgMax", ["scores"], ["best"], axis=1), ml("ArrayFeatureExtractor", ["names", "best"], ["named"]),
              h.make_node("Reshape", ["named", "flat"], ["label"])]
    if constants["names"].dtype == object and random.random() < 0.7:
        keys = constants["names"].tolist()[:-1]
        nodes.append(ml("LabelEncoder", ["label"], ["code"], keys_strings=keys, values_int64s=[int(v) for v in random.integers(-9, 99, len(keys))], default_int64=-1))
        return nodes, ["code", "scores"], constants
    return nodes, ["label", "scores"], constants


def columns_encoded(random):
    """A ColumnTransformer: some columns scaled, one cut to whole numbers and one-hot encoded, joined, a regression."""
    kinds = int(random.integers(2, 6))
    constants = {"some": np.array([0, 2, 3]), "one": np.array([1]), "w": random.normal(size=(3 + kinds, 1)).astype(np.float32)}
    return [ml("ArrayFeatureExtractor", ["x", "some"], ["numbers"]), ml("ArrayFeatureExtractor", ["x", "one"], ["code"]),
            ml("Scaler", ["numbers"], ["scaled"], offset=[0.5], scale=[2.0]), h.make_node("Cast", ["code"], ["whole"], to=T.INT64),
            ml("OneHotEncoder", ["whole"], ["hot"], cats_int64s=list(range(kinds)), zeros=1),
            h.make_node("Reshape", ["hot", "rows"], ["hots"]), ml("FeatureVectorizer", ["scaled", "hots"], ["all"], inputdimensions=[3, kinds]),
            h.make_node("MatMul", ["all", "w"], ["y"])], ["y"], {**constants, "rows": np.array([-1, kinds])}


def trees_as_products(random):
    """Trees as Hummingbird writes them: a matmul selects features, decisions are compared with paths, a matmul selects leaves."""
    inner, leaves, classes = 7, 8, 3
    a = np.zeros((COLUMNS, inner), np.float32)
    a[random.integers(COLUMNS, size=inner), range(inner)] = 1
    c = np.zeros((inner, leaves), np.float32)
    for leaf in range(leaves):  # a whole tree of depth 3: left is 1, right is -1
        at = 0
        for bit in range(2, -1, -1):
            right = leaf >> bit & 1
            c[at, leaf] = -1 if right else 1
            at = 2 * at + 1 + right
    d = (c == 1).sum(0).astype(np.float32)[None]
    constants = {"a": a, "b": (random.integers(-4, 5, (1, inner)) / 4).astype(np.float32), "c": c, "d": d,
                 "e": random.random((leaves, classes)).astype(np.float32)}
    return [h.make_node("MatMul", ["x", "a"], ["f"]), h.make_node("LessOrEqual", ["f", "b"], ["is"]), h.make_node("Cast", ["is"], ["ones"], to=T.FLOAT),
            h.make_node("MatMul", ["ones", "c"], ["paths"]), h.make_node("Equal", ["paths", "d"], ["hit"]), h.make_node("Cast", ["hit"], ["leaf"], to=T.FLOAT),
            h.make_node("MatMul", ["leaf", "e"], ["scores"]), h.make_node("ArgMax", ["scores"], ["label"], axis=1, keepdims=0)], ["label", "scores"], constants


def inner_graph(name, nodes, inputs, outputs):
    return h.make_graph(nodes, name, inputs, [h.make_empty_tensor_value_info(o) for o in outputs])


def loop_with_branches(random):
    """As tf2onnx writes a while_loop with a cond inside: state, a counter, an If over the outer graph's values."""
    info = h.make_tensor_value_info
    then = inner_graph("then", [h.make_node("Mul", ["state", "gain"], ["t"])], [], ["t"])
    other = inner_graph("else", [h.make_node("Sub", ["state", "x"], ["e"])], [], ["e"])
    body = inner_graph("body", [
        h.make_node("ReduceSum", ["state"], ["sum"], keepdims=0), h.make_node("Greater", ["sum", "bound"], ["big"]),
        h.make_node("If", ["big"], ["next"], then_branch=then, else_branch=other),
        h.make_node("Add", ["i", "step"], ["j"]), h.make_node("Less", ["j", "most"], ["goes"]),
        h.make_node("Identity", ["next"], ["seen"])],
        [info("trip", T.INT64, []), info("go", T.BOOL, []), info("i", T.INT32, []), info("state", T.FLOAT, [6, COLUMNS])], ["goes", "j", "next", "seen"])
    constants = {"trips": np.array(9), "start": np.array(0, np.int32), "step": np.array(int(random.integers(1, 4)), np.int32), "yes": np.array(True),
                 "most": np.array(7, np.int32), "bound": np.array(random.normal(), np.float32), "gain": np.array(0.5 + random.random(), np.float32)}
    return [h.make_node("Loop", ["trips", "yes", "start", "x"], ["n", "last", "all"], body=body)], ["n", "last", "all"], constants


KINDS = [forest_classifier, boosted_classifier, forest_regressor, linear_classifier, voted_label, columns_encoded, trees_as_products, loop_with_branches,
         two_classes]


def made(kind, seed):
    random = np.random.default_rng([seed, KINDS.index(kind)])
    nodes, outputs, *more = kind(random)
    x = (random.integers(-8, 9, (6, COLUMNS)) / 4).astype(np.float32)
    if any(n.op_type == "Imputer" for n in nodes):
        x[random.random(x.shape) < 0.2] = np.nan
    return model_of(nodes, {"x": x}, (more or [None])[0], outputs, domains=[(ML, 3)]), {"x": x}


def check(kind, seed, tool, folder):
    model, given = made(kind, seed)
    onnx.save(model, folder / "m.onnx")
    same(hone_outputs(tool, folder / "m.onnx", given, folder), peer_outputs(folder / "m.onnx", given))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", KINDS, ids=lambda k: k.__name__)
def test_the_reference(kind, seed, tmp_path):
    check(kind, seed, TOOLS[0], tmp_path)


@pytest.mark.parametrize("seed", SEEDS[:2])
@pytest.mark.parametrize("kind", KINDS, ids=lambda k: k.__name__)
def test_compiled(kind, seed, tmp_path):
    check(kind, seed, TOOLS[1], tmp_path)
