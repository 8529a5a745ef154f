"""Dynamic dimensions: every verb applies the same default and prints it, so that a graph network is not
benchmarked with a single edge without notice."""

import json

import onnx
import pytest
from onnx import TensorProto as T
from onnx import helper

from hone import refused, sound

FLAGS = ["--backend", "native", "--rounds", "2", "--processes", "1", "--min-time", "0.01", "--min-samples", "3",
         "--warmup", "0.01", "--no-measure", "-q", "--resume", "never"]
ASSUMED = "nodes = 1, edges = 1 (assumed"
VERBS = {"inspect": ["--no-measure"], "run": [], "verify": [], "compile": ["-o", "m.c"], "bench": FLAGS}


@pytest.fixture
def net(tmp_path):
    """Inputs nodes[nodes, 4] and edges[edges, 2]; the file fixes neither dimension."""
    graph = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["y"]), helper.make_node("Neg", ["e"], ["z"])], "net",
        [helper.make_tensor_value_info("x", T.FLOAT, ["nodes", 4]),
         helper.make_tensor_value_info("e", T.FLOAT, ["edges", 2])],
        [helper.make_tensor_value_info("y", T.FLOAT, ["nodes", 4]),
         helper.make_tensor_value_info("z", T.FLOAT, ["edges", 2])])
    path = tmp_path / "net.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_says_what_it_assumed(hone, net, tmp_path, verb):
    result = hone(verb, net, *VERBS[verb], cwd=tmp_path)
    sound(result)
    assert ASSUMED in result.text + result.errors, result
    chosen = hone(verb, net, *VERBS[verb], "--shape", "x[7,4],e[12,2]", cwd=tmp_path)
    sound(chosen)
    assert "assumed" not in chosen.text + chosen.errors, chosen
    if verb in ("inspect", "bench"):
        assert "nodes = 7, edges = 12 (--shape)" in chosen.text, chosen


@pytest.mark.parametrize("verb", VERBS)
def test_a_batch_is_the_first_dimension(hone, net, tmp_path, verb):
    result = hone(verb, net, *VERBS[verb], "--batch", "5", cwd=tmp_path)
    sound(result)
    if verb in ("inspect", "bench"):
        assert "nodes = 5, edges = 5 (--batch)" in result.text, result
    if verb == "run":
        assert "f32[5,4]" in result.text.replace(" ", ""), result
    fixed = hone(verb, "zoo:mlp", *VERBS[verb], "--batch", "3", cwd=tmp_path)
    sound(fixed)
    if verb == "run":
        assert "[3," in fixed.text.replace(" ", ""), fixed


def test_every_sink_says_it(hone, net, tmp_path):
    sinks = {f"--{form}": tmp_path / f"s.{form}" for form in ("json", "md", "html", "csv")}
    result = hone("bench", net, *FLAGS, *[word for pair in sinks.items() for word in pair])
    sound(result)
    record = json.loads(sinks["--json"].read_text())["records"][0]
    assert record["open_dimensions"].startswith(ASSUMED), record
    for path in sinks.values():
        assert "nodes = 1" in path.read_text(), path
    sound(hone("inspect", net, "--no-measure", "--json", tmp_path / "i.json"))
    assert json.loads((tmp_path / "i.json").read_text())["open_dimensions"].startswith(ASSUMED)


def test_others_are_refused(hone, tmp_path):
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g",
                              [helper.make_tensor_value_info("x", T.FLOAT, ["n", "length"])],
                              [helper.make_tensor_value_info("y", T.FLOAT, ["n", "length"])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    for verb in ("inspect", "run", "verify", "compile"):
        refused(hone(verb, tmp_path / "m.onnx", *VERBS[verb], cwd=tmp_path), "E_SHAPE", "--shape \"x[1,1]\"")
