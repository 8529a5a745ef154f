"""Inputs given by the user: run, verify and bench take the same names, and unusable inputs are an error; random data
never replaces them. Also models with as many inputs and outputs as the importer allows."""

import json

import numpy as np
import onnx
import pytest
from onnx import TensorProto as T, helper

from hone import refused, sound

X = np.arange(4, dtype=np.float32)
Y = np.array([2, 0, -1, 7], dtype=np.float32)


@pytest.fixture
def model(tmp_path):
    """y = a - model/b: the second name cannot be a file's as it stands."""
    graph = helper.make_graph(
        [helper.make_node("Sub", ["a", "model/b"], ["y"])], "g",
        [helper.make_tensor_value_info(name, T.FLOAT, [4]) for name in ("a", "model/b")],
        [helper.make_tensor_value_info("y", T.FLOAT, [4])])
    path = tmp_path / "m.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def words_of(verb):
    return {"run": ["run"], "reference": ["run", "--reference"], "verify": ["verify"], "profile": ["profile", "--no-measure"],
            "recommend": ["recommend", "--backend", "native", "--threads", "1", "--budget", "2s", "-q"], "hybrid": ["hybrid", "--backend", "native,onnxruntime", "-q"],
            "bench": ["bench", "--backend", "native", "--no-measure", "--rounds", "1", "--processes", "1",
                      "--min-samples", "1", "--min-time", "0.001", "--warmup", "0.001", "-q"]}[verb]


VERBS = ["run", "reference", "verify", "bench"]


@pytest.mark.parametrize("verb", [*VERBS, "profile", "recommend", "hybrid"])
def test_bad_inputs_are_errors(hone, model, tmp_path, verb):
    words = [*words_of(verb), model]
    refused(hone(*words, "--inputs", tmp_path / "none"), "E_NOFILE", "none")
    folder = tmp_path / "in"
    folder.mkdir()
    refused(hone(*words, "--inputs", folder), "E_NOFILE", "in_0.npy")
    (folder / "readme.txt").write_text("not data")
    refused(hone(*words, "--inputs", folder), "E_NOFILE")
    np.save(folder / "A.npy", X)
    refused(hone(*words, "--inputs", folder), "E_USAGE", "A.npy")
    (folder / "A.npy").unlink()
    np.save(folder / "a.npy", X)
    np.save(folder / "in_2.npy", X)  # there are inputs 0 and 1
    refused(hone(*words, "--inputs", folder), "E_USAGE", "in_2.npy")
    (folder / "in_2.npy").unlink()
    X.tofile(folder / "b.raw")
    refused(hone(*words, "--inputs", folder), "E_USAGE", "b.raw")
    (folder / "b.raw").unlink()
    np.save(folder / "in_0.npy", X)
    refused(hone(*words, "--inputs", folder), "E_USAGE", "two files")
    (folder / "in_0.npy").unlink()
    np.save(folder / "a.npy", X.astype(np.float64))
    refused(hone(*words, "--inputs", folder), "E_TYPE", "f64")
    np.save(folder / "a.npy", X[:3])
    refused(hone(*words, "--inputs", folder), "E_SHAPE", "[3]")
    refused(hone(*words, "--input", f"c={folder}/a.npy"), "E_USAGE", "hone inspect")
    refused(hone(*words, "--input", f"a={folder}/none.npy"), "E_NOFILE")
    assert not (tmp_path / "data/hone/results.db").exists() or verb in ("bench", "recommend")


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("names", [("a", "model_b"), ("in_0", "in_1"), ("a", "in_1")])
def test_names(hone, model, tmp_path, verb, names):
    folder = tmp_path / "in"
    folder.mkdir()
    for name, values in zip(names, (X, Y)):
        np.save(folder / f"{name}.npy", values)
    np.save(folder / "out_0.npy", X - Y)  # the folder may also contain expected outputs
    more = ["--expected", folder] if verb == "verify" else []
    more += ["-o", tmp_path / "out"] if verb in ("run", "reference") else []
    result = hone(*words_of(verb), model, "--inputs", folder, *more)
    sound(result)
    assert "seeded" not in result.errors, result
    if verb in ("run", "reference"):
        np.testing.assert_array_equal(np.load(tmp_path / "out/out_0.npy"), X - Y)
    if verb == "bench":  # the measurement used the given inputs
        used = [np.load(p) for p in (tmp_path / "cache/hone/reference").rglob("in_0_1.npy")]
        assert used and all(np.array_equal(u, Y) for u in used)


@pytest.mark.parametrize("verb", VERBS)
def test_a_missing_one_is_told(hone, model, tmp_path, verb):
    (tmp_path / "in").mkdir()
    np.save(tmp_path / "in/a.npy", X)
    result = hone(*words_of(verb), model, "--inputs", tmp_path / "in")
    sound(result)
    assert "model/b" in result.errors and "random values" in result.errors, result


@pytest.mark.parametrize("verb", VERBS)
def test_a_file_far_down(hone, model, tmp_path, verb):
    far = tmp_path / ("d" * 200) / ("é" * 100) / ("with = and , " * 15)
    far.mkdir(parents=True)
    np.save(far / "x.npy", X)
    result = hone(*words_of(verb), model, "--input", f"a={far}/x.npy", "--input", f"model/b={far}/x.npy")
    sound(result)
    assert "seeded" not in result.errors, result


@pytest.mark.parametrize("verb", [*VERBS, "profile", "recommend"])
@pytest.mark.parametrize("how", ["folder", "files", "batch"])
def test_open_sizes_come_from_the_files(hone, tmp_path, verb, how):
    """Dynamic dimensions get their sizes from the files: an input's own, one of the same name at another input, and a third from --shape."""
    dims = {"a": [1, "h", "w"], "b": [1, 1, "w"], "c": ["n", "k"]} if how != "batch" else {"a": ["n", 3, 5], "b": ["n", 1, 5], "c": [2, 2]}
    graph = helper.make_graph(
        [helper.make_node("Add", ["a", "b"], ["y"]), helper.make_node("Relu", ["c"], ["z"])], "g",
        [helper.make_tensor_value_info(name, T.FLOAT, dims[name]) for name in "abc"],
        [helper.make_tensor_value_info("y", T.FLOAT, None), helper.make_tensor_value_info("z", T.FLOAT, None)])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    rows = 4 if how == "batch" else 1
    (tmp_path / "in").mkdir()
    values = {"a": np.ones((rows, 3, 5), np.float32), "b": np.ones((rows, 1, 5), np.float32), "c": np.ones((2, 2), np.float32)}
    for name, x in values.items():
        np.save(tmp_path / f"in/{name}.npy", x)
    given = ["--inputs", tmp_path / "in"] if how != "files" else [w for n in "abc" for w in ("--input", f"{n}={tmp_path}/in/{n}.npy")]
    words = [*words_of(verb), tmp_path / "m.onnx", *given]
    if how == "files":
        words += ["--shape", "c[2,2]"]
    if verb in ("run", "reference"):
        words += ["-o", tmp_path / "out"]
    sound(hone(*words))
    if verb in ("run", "reference"):
        assert np.load(tmp_path / "out/out_0.npy").shape == (rows, 3, 5)


def many(count):
    names = [f"x{i}" for i in range(count)]
    nodes = [helper.make_node("Neg", [name], [f"y{i}"]) for i, name in enumerate(names)]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info(name, T.FLOAT, [1, 3]) for name in names],
        [helper.make_tensor_value_info(f"y{i}", T.FLOAT, [1, 3]) for i in range(count)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("count", [85, 1000])
def test_many_inputs_and_outputs(hone, tmp_path, verb, count):
    """Row 88: no ceiling below the importer's, and seconds."""
    onnx.save(many(count), tmp_path / "m.onnx")
    more = ["-o", tmp_path / "out"] if verb == "run" else ["--json", tmp_path / "x.json"] if verb == "bench" else []
    result = hone(*words_of(verb), tmp_path / "m.onnx", *more)
    sound(result)
    assert result.seconds < 40, result
    if verb == "run":
        assert np.load(tmp_path / f"out/out_{count - 1}.npy").shape == (1, 3)
    if verb == "bench":
        records = json.loads((tmp_path / "x.json").read_text())["records"]
        assert [r["status"] for r in records] == ["ok"], records


def test_many_in_an_artifact(hone, tmp_path):
    onnx.save(many(85), tmp_path / "m.onnx")
    sound(hone("compile", tmp_path / "m.onnx", "-o", tmp_path / "m.so", "-q"))
    assert "No m_run: more than 120 parameters" in (tmp_path / "m.h").read_text()  # 170: C promises 127
    onnx.save(many(60), tmp_path / "fewer.onnx")
    sound(hone("compile", tmp_path / "fewer.onnx", "-o", tmp_path / "fewer.c", "--embed", "-q"))
    assert "int fewer_run(const float *in0, " in (tmp_path / "fewer.h").read_text()
    sound(hone("run", tmp_path / "m.so", "-o", tmp_path / "out"))
    assert (tmp_path / "out/out_84.npy").exists()
