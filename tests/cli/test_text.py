"""hone bench of models with string inputs or outputs: measured on the engines that support strings; the others get a row
with the reason."""
import importlib.util
import json
import os
import pathlib

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

QUICK = ("--threads", "1", "-t", "0.02", "--warmup", "0.02", "--processes", "1", "--resume", "never", "--no-measure")


def write_model(path, count=6):
    """said = x + "!"; code = place of x among three words, -1 of another."""
    nodes = [helper.make_node("StringConcat", ["x", "mark"], ["said"]),
             helper.make_node("LabelEncoder", ["x"], ["code"], domain="ai.onnx.ml",
                              keys_strings=["yes", "no", "wörter"], values_int64s=[0, 1, 2], default_int64=-1)]
    graph = helper.make_graph(nodes, "text", [helper.make_tensor_value_info("x", TensorProto.STRING, [count])],
                              [helper.make_tensor_value_info("said", TensorProto.STRING, [count]),
                               helper.make_tensor_value_info("code", TensorProto.INT64, [count])],
                              [helper.make_tensor("mark", TensorProto.STRING, [1], [b"!"])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20), helper.make_opsetid("ai.onnx.ml", 2)])
    model.ir_version = 9
    onnx.save(model, path)
    return path


def bench(hone, tmp_path, *arguments):
    out, found = tmp_path / "out.json", importlib.util.find_spec("onnxruntime")
    if found:
        arguments += ("--engine", f"onnxruntime={pathlib.Path(found.origin).parent.parent}")
    done = hone("bench", write_model(tmp_path / "text.onnx"), *QUICK, "--store", tmp_path / "text.db", "--json", out,
                *arguments)
    assert out.exists(), done.errors
    records = json.loads(out.read_text())
    records = records["records"] if isinstance(records, dict) else records
    return {record["backend"]: record for record in records}, done


def test_text_is_measured_where_the_engine_takes_it(hone, tmp_path):
    rows, done = bench(hone, tmp_path, "--backend", "native,onnxruntime,openvino")
    for name in ("native", "onnxruntime"):
        if rows[name]["status"] != "not_installed":
            assert rows[name]["status"] == "ok" and rows[name]["latency_ms"]["p50"] > 0, rows[name]["reason"]
    assert rows["native"]["status"] == "ok"
    if rows["openvino"]["status"] != "not_installed":
        assert rows["openvino"]["status"] == "unsupported" and "string tensors" in rows["openvino"]["reason"]


def test_text_of_the_users_own(hone, tmp_path):
    folder = tmp_path / "given"
    os.mkdir(folder)
    np.save(folder / "x.npy", np.array(["yes", "no", "", "wörter", "z" * 300, "no"]))
    rows, done = bench(hone, tmp_path, "--backend", "native,onnxruntime", "--inputs", folder)
    assert rows["native"]["status"] == "ok", rows["native"]["reason"]
    assert rows["onnxruntime"]["status"] in ("ok", "not_installed"), rows["onnxruntime"]["reason"]
    done = hone("run", tmp_path / "text.onnx", "--inputs", folder, "-o", tmp_path / "made")
    assert done.code == 0, done.errors
    assert list(np.load(tmp_path / "made/out_1.npy")) == [0, 1, -1, 2, -1, 1]
    assert np.load(tmp_path / "made/out_0.npy")[3] == "wörter!"


def test_text_in_flight_is_refused_with_the_reason(hone, tmp_path):
    rows, done = bench(hone, tmp_path, "--backend", "native", "--scenario", "offline")
    assert rows["native"]["status"] == "unsupported" and "single" in rows["native"]["reason"]


TEXTS = ["the cat sat on the mat", "Dogs; and,cats!", "", "a mat_7 for the dog ...", "größer über alles, naïve", "x"]


@pytest.mark.parametrize("mode", [["--reference"], []], ids=["reference", "compiled"])
@pytest.mark.parametrize("shape", [[6], [3, 2], [6, 1]], ids=str)
@pytest.mark.parametrize("how", [{"tokenexp": "[a-zA-Z0-9_]+"}, {"tokenexp": r"\b[a-z]+\b", "mincharnum": 3}, {"separators": [" ", "[;,.!]+"]},
                                 {"separators": [""]}, {"separators": [""], "mark": 1}, {"tokenexp": "[a-z]+", "mark": 1}, {"separators": [" "], "mincharnum": 3, "mark": 1},
                                 {"tokenexp": "."}, {"tokenexp": "the|the cat|mat"}], ids=str)
def test_words_of_texts_and_how_often_they_stand(hone, tmp_path, how, shape, mode):
    """As scikit-learn's vectorizers are exported, against ONNX Runtime."""
    ort = pytest.importorskip("onnxruntime")
    nodes = [helper.make_node("Identity", ["x"], ["small"]),
             helper.make_node("Tokenizer", ["small"], ["words"], domain="com.microsoft", **{"mark": 0, "pad_value": "#", "mincharnum": 1, **how}),
             helper.make_node("Flatten", ["words"], ["flat"]),
             helper.make_node("TfIdfVectorizer", ["flat"], ["y"], mode="TF", min_gram_length=1, max_gram_length=2, max_skip_count=0,
                              ngram_counts=[0, 5], ngram_indexes=[0, 1, 3, 4, 5, 2],
                              pool_strings=["the", "cat", "mat", "a", "t", "the", "cat"])]
    if shape[1:] == [2]:  # two strings per row: their words are in two rows, which Flatten would join
        del nodes[2:]
    graph = helper.make_graph(nodes, "words", [helper.make_tensor_value_info("x", TensorProto.STRING, shape)],
                              [helper.make_tensor_value_info("words", TensorProto.STRING, [*shape, "n"])]
                              + ([helper.make_tensor_value_info("y", TensorProto.FLOAT, [6, 6])] if len(nodes) > 2 else []))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)], ir_version=8)
    onnx.save(model, tmp_path / "m.onnx")
    x = np.array(TEXTS).reshape(shape)
    np.save(tmp_path / "x.npy", x)
    done = hone("run", "m.onnx", "--input", f"x={tmp_path}/x.npy", "-o", "out", *mode)
    assert done.code == 0, done.errors
    wanted = ort.InferenceSession(str(tmp_path / "m.onnx"), providers=["CPUExecutionProvider"]).run(None, {"x": x.astype(object)})
    for k, want in enumerate(wanted):
        got = np.load(tmp_path / "out" / f"out_{k}.npy")
        got = np.char.decode(got, "utf-8") if got.dtype.kind == "S" else got
        assert got.shape == want.shape, (got, want)
        assert (got == want.astype(got.dtype)).all(), (got, want)
