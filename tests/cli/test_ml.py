"""Operators of ai.onnx.ml against ONNX Runtime: the reference and compiled code, one small model each."""

import numpy as np
import onnx
import pytest
from onnx import helper

from peer import TOOLS, hone_outputs, model_of, peer_outputs, same

RANDOM = np.random.default_rng(11)


def floats(*shape, scale=1.0):
    return (RANDOM.standard_normal(shape) * scale).astype(np.float32)


def some(*shape):
    return floats(*shape).ravel().tolist()


X = floats(6, 4)
THREE = {"coefficients": some(3, 4), "intercepts": some(3)}
ONE = {"coefficients": some(1, 4), "intercepts": some(1)}
TEXTS = np.array(["a", "b", "zz", "a"], object)


def svm(classes, vectors, proba=False, **more):
    pairs = classes * (classes - 1) // 2
    result = {"kernel_type": "RBF", "kernel_params": [0.3, 0.1, 2.0], "vectors_per_class": [vectors] * classes,
              "support_vectors": some(classes * vectors, 4), "rho": some(pairs),
              "coefficients": some(classes - 1, classes * vectors), "classlabels_ints": list(range(5, 5 + classes))}
    if proba:
        result.update(prob_a=(-np.abs(floats(pairs)) - 1).tolist(), prob_b=some(pairs))
    return {**result, **more}


# name: operator, inputs, attributes, number of outputs, tolerance
CASES = {
    "ArrayFeatureExtractor": ("ArrayFeatureExtractor", [X, np.array([2, 0], np.int64)], {}, 1),
    "Binarizer": ("Binarizer", [X], {"threshold": 0.25}, 1),
    "CategoryMapper": ("CategoryMapper", [TEXTS],
                       {"cats_strings": ["a", "b"], "cats_int64s": [3, 4], "default_int64": -7}, 1),
    "CategoryMapper back": ("CategoryMapper", [np.array([3, 9, 4], np.int64)],
                            {"cats_strings": ["a", "b"], "cats_int64s": [3, 4], "default_string": "none"}, 1),
    "FeatureVectorizer": ("FeatureVectorizer", [X, floats(6, 2)], {"inputdimensions": [4, 2]}, 1),
    "FeatureVectorizer int64": ("FeatureVectorizer", [RANDOM.integers(0, 9, (6, 2)), RANDOM.integers(0, 9, (6, 3))],
                                {"inputdimensions": [2, 3]}, 1),
    "Imputer": ("Imputer", [np.where(X > 0.5, np.float32("nan"), X)],
                {"imputed_value_floats": [1.0, 2.0, 3.0, 4.0], "replaced_value_float": float("nan")}, 1),
    "Imputer int64": ("Imputer", [RANDOM.integers(0, 3, (6, 4))],
                      {"imputed_value_int64s": [9], "replaced_value_int64": 1}, 1),
    "LabelEncoder": ("LabelEncoder", [TEXTS], {"keys_strings": ["a", "b"], "values_int64s": [3, 4]}, 1),
    "LinearClassifier": ("LinearClassifier", [X], {**THREE, "classlabels_ints": [4, 2, 9]}, 2),
    "LinearClassifier text": ("LinearClassifier", [X], {**THREE, "classlabels_strings": ["x", "y", "z"],
                                                        "post_transform": "SOFTMAX"}, 2),
    "LinearClassifier logistic": ("LinearClassifier", [X], {**THREE, "classlabels_ints": [0, 1, 2],
                                                            "post_transform": "LOGISTIC"}, 2),
    "LinearClassifier zero": ("LinearClassifier", [X], {**THREE, "classlabels_ints": [0, 1, 2],
                                                        "post_transform": "SOFTMAX_ZERO"}, 2),
    "LinearClassifier two": ("LinearClassifier", [X], {**ONE, "classlabels_ints": [4, 2]}, 2),
    "LinearClassifier two logistic": ("LinearClassifier", [X], {**ONE, "classlabels_ints": [0, 1],
                                                                "post_transform": "LOGISTIC"}, 2),
    "LinearClassifier two softmax": ("LinearClassifier", [X], {**ONE, "classlabels_strings": ["n", "y"],
                                                               "post_transform": "SOFTMAX"}, 2),
    "LinearClassifier sklearn": ("LinearClassifier", [X], {
        "coefficients": (lambda c: (-c).tolist() + c.tolist())(floats(4)),
        "intercepts": [-0.1, 0.1], "classlabels_ints": [0, 1], "multi_class": 1, "post_transform": "LOGISTIC"}, 2),
    "LinearClassifier int64": ("LinearClassifier", [RANDOM.integers(-3, 3, (5, 4))],
                               {**THREE, "classlabels_ints": [0, 1, 2]}, 2),
    "LinearRegressor": ("LinearRegressor", [X], {**ONE}, 1),
    "LinearRegressor three": ("LinearRegressor", [X], {**THREE, "targets": 3}, 1),
    "LinearRegressor probit": ("LinearRegressor", [X * 0 + 0.5], {
        "coefficients": [0.1] * 4, "intercepts": [0.3], "post_transform": "PROBIT"}, 1, 5e-3),
    "Normalizer L1": ("Normalizer", [np.concatenate([X, X[:1] * 0])], {"norm": "L1"}, 1),
    "Normalizer L2": ("Normalizer", [np.concatenate([X, X[:1] * 0])], {"norm": "L2"}, 1),
    "Normalizer MAX": ("Normalizer", [np.abs(X)], {"norm": "MAX"}, 1),
    "Normalizer MAX negative": ("Normalizer", [X], {"norm": "MAX"}, 1),
    "Normalizer int64": ("Normalizer", [RANDOM.integers(1, 9, (3, 4))], {"norm": "L2"}, 1),
    "OneHotEncoder": ("OneHotEncoder", [RANDOM.integers(0, 4, (5,))], {"cats_int64s": [0, 2, 3], "zeros": 1}, 1),
    "OneHotEncoder rows": ("OneHotEncoder", [RANDOM.integers(0, 3, (5, 1)).astype(np.float32)],
                           {"cats_int64s": [0, 1, 2]}, 1),
    "OneHotEncoder text": ("OneHotEncoder", [TEXTS], {"cats_strings": ["a", "b", "c"], "zeros": 1}, 1),
    "Scaler": ("Scaler", [X], {"offset": some(4), "scale": some(4)}, 1),
    "Scaler one": ("Scaler", [X.astype(np.float64)], {"offset": [0.5], "scale": [2.0]}, 1),
    "SVMClassifier": ("SVMClassifier", [X], svm(3, 2), 2),
    "SVMClassifier two": ("SVMClassifier", [X], svm(2, 3), 2),
    "SVMClassifier two logistic": ("SVMClassifier", [X], svm(2, 3, post_transform="LOGISTIC"), 2),
    "SVMClassifier two positive": ("SVMClassifier", [X], {**svm(2, 3), "coefficients": [0.3] * 6}, 2),
    "SVMClassifier probability": ("SVMClassifier", [X], svm(4, 2, proba=True), 2),
    "SVMClassifier two probability": ("SVMClassifier", [X], svm(2, 2, proba=True), 2),
    "SVMClassifier poly": ("SVMClassifier", [X], svm(3, 2, kernel_type="POLY"), 2),
    "SVMClassifier sigmoid": ("SVMClassifier", [X], svm(3, 2, kernel_type="SIGMOID"), 2),
    "SVMClassifier linear kernel": ("SVMClassifier", [X], svm(3, 2, kernel_type="LINEAR"), 2),
    "SVMClassifier linear": ("SVMClassifier", [X], {"coefficients": some(3, 4), "rho": [0.2], "kernel_type": "LINEAR", "kernel_params": [0.0, 0.0, 0.0],
                                                    "classlabels_ints": [0, 1, 2]}, 2),
    "SVMRegressor": ("SVMRegressor", [X], {"kernel_type": "RBF", "kernel_params": [0.3, 0.0, 3.0], "n_supports": 5,
                                           "support_vectors": some(5, 4), "coefficients": some(5),
                                           "rho": [0.25]}, 1),
    "SVMRegressor poly": ("SVMRegressor", [X], {"kernel_type": "POLY", "kernel_params": [0.3, 0.5, 3.0],
                                                "n_supports": 5, "support_vectors": some(5, 4),
                                                "coefficients": some(5), "rho": [0.25]}, 1),
    "SVMRegressor one class": ("SVMRegressor", [X], {"kernel_type": "SIGMOID", "kernel_params": [0.3, 0.5, 3.0],
                                                     "n_supports": 5, "support_vectors": some(5, 4), "one_class": 1,
                                                     "coefficients": some(5), "rho": [0.1]}, 1),
    "SVMRegressor linear": ("SVMRegressor", [X], {"kernel_type": "LINEAR", "kernel_params": [0.0, 0.0, 0.0], "coefficients": some(4),
                                                  "rho": [0.25]}, 1),
}


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("name", sorted(CASES))
def test_operator_equals_onnx_runtime(name, tool, tmp_path):
    op, inputs, attributes, outputs, *tolerance = CASES[name]
    given = {f"x{k}": x for k, x in enumerate(inputs)}
    names = [f"y{k}" for k in range(outputs)]
    node = helper.make_node(op, list(given), names, domain="ai.onnx.ml", **attributes)
    constants = {"x1": given.pop("x1")} if op == "ArrayFeatureExtractor" else {}
    model = model_of([node], given, constants, names, domains=[("ai.onnx.ml", 3 if op != "LabelEncoder" else 2)])
    onnx.save(model, tmp_path / "model.onnx")
    wanted = peer_outputs(tmp_path / "model.onnx", given)
    same(hone_outputs(tool, tmp_path / "model.onnx", given, tmp_path), wanted, *tolerance)


@pytest.mark.parametrize("tool", TOOLS)
def test_maps_of_an_exported_classifier_are_its_probabilities(tool, tmp_path):
    """As converters of scikit-learn write it: scaler, classifier, normaliser, ZipMap."""
    nodes = [helper.make_node("Scaler", ["x"], ["s"], domain="ai.onnx.ml", offset=[0.1] * 4, scale=[2.0] * 4),
             helper.make_node("LinearClassifier", ["s"], ["label", "raw"], domain="ai.onnx.ml", **THREE,
                              classlabels_strings=["a", "b", "c"], post_transform="LOGISTIC"),
             helper.make_node("Normalizer", ["raw"], ["norm"], domain="ai.onnx.ml", norm="L1"),
             helper.make_node("ZipMap", ["norm"], ["maps"], domain="ai.onnx.ml",
                              classlabels_strings=["a", "b", "c"])]
    model = model_of(nodes, {"x": X}, outputs=("label", "maps"), domains=[("ai.onnx.ml", 1)])
    onnx.save(model, tmp_path / "model.onnx")
    label, maps = peer_outputs(tmp_path / "model.onnx", {"x": X})
    values = np.array([[one[key] for key in "abc"] for one in maps], np.float32)
    same(hone_outputs(tool, tmp_path / "model.onnx", {"x": X}, tmp_path), [label, values])


WORDS = np.array([["b", "c", "a", "a", "b", "c"], ["c", "c", "b", "a", "zz", "b"]], object)


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("mode,skips", [("TF", 0), ("TF", 5), ("IDF", 0), ("TFIDF", 5)])
def test_n_grams_of_words(mode, skips, tool, tmp_path):
    node = helper.make_node("TfIdfVectorizer", ["x"], ["y"], mode=mode, min_gram_length=1, max_gram_length=2,
                            max_skip_count=skips, ngram_counts=[0, 3], ngram_indexes=[0, 1, 2, 3, 4],
                            pool_strings=["a", "b", "c", "b", "c", "a", "b"], weights=[1.0, 2.0, 0.5, 3.0, 4.0])
    onnx.save(model_of([node], {"x": WORDS}), tmp_path / "model.onnx")
    wanted = peer_outputs(tmp_path / "model.onnx", {"x": WORDS})
    same(hone_outputs(tool, tmp_path / "model.onnx", {"x": WORDS}, tmp_path), wanted)
