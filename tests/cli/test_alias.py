"""--alias: an output that lies in the memory of the input which it is in the next run."""

import json
import subprocess

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from hone import sound


@pytest.fixture
def exchange(tmp_path):
    """Two states that change places, one of them with what is added; an output reads both."""
    info = helper.make_tensor_value_info
    shape = [3, 5]
    nodes = [helper.make_node("Identity", ["b"], ["next_a"]), helper.make_node("Add", ["a", "x"], ["next_b"]),
             helper.make_node("Sub", ["a", "b"], ["apart"])]
    graph = helper.make_graph(nodes, "exchange", [info(n, TensorProto.FLOAT, shape) for n in ("a", "b", "x")],
                              [info(n, TensorProto.FLOAT, shape) for n in ("next_b", "apart", "next_a")])
    path = tmp_path / "exchange.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    random = np.random.default_rng(3)
    return path, {name: random.standard_normal(shape).astype(np.float32) for name in ("a", "b", "x")}


def test_program_shares_the_memory(shared_hone, tmp_path, exchange):
    """The program gives both the same memory: neither state is overwritten before it was read."""
    path, inputs = exchange
    program = tmp_path / "exchange"
    sound(shared_hone("compile", path, "--alias", "a=next_a", "--alias", "b=next_b", "-o", program))
    header = (tmp_path / "exchange.h").read_text()
    assert header.count("may lie in its memory") == 2
    for name, array in inputs.items():
        (tmp_path / f"{name}.raw").write_bytes(array.tobytes())
    subprocess.run([program, *(tmp_path / f"{name}.raw" for name in inputs), "-o", tmp_path / "out"], check=True)
    got = [np.load(file).reshape(3, 5) for file in sorted((tmp_path / "out").glob("*.npy"))]
    a, b, x = inputs.values()
    for array, want in zip(got, (a + x, a - b, b), strict=True):
        np.testing.assert_array_equal(array, want)


def test_what_does_not_fit_is_refused(shared_hone, exchange):
    path, _ = exchange
    for words, said in ((["a=nothing"], b"no such output"), (["z=next_a"], b"no such input"),
                        (["a=next_a", "--alias", "a=next_b"], b"state already")):
        refused = shared_hone("verify", path, "--alias", *words)
        assert refused.code == 2 and said in refused.err


def test_a_study_compiles_with_the_states(hone, exchange):
    """bench --alias is an option of native; the sets keep their own memory, so outputs are checked as ever."""
    path, _ = exchange
    quick = ["--backend", "native", "--rounds", "2", "--incarnations", "1", "--warmup", "0.01", "--min-time", "0.01",
             "--min-samples", "5", "--no-measure", "--threads", "1", "--json", "-"]

    def row(*words):
        return json.loads(hone("bench", path, *words, *quick).text)["records"][0]
    both = row("--alias", "a=next_a", "--alias", "b=next_b")
    assert both["status"] == "ok" and both["rel_l2"] == 0, both
    assert "native.alias=a=next_a" in both["repeat"] and "native.alias=b=next_b" in both["repeat"]
    assert "no such output" in row("--alias", "a=nothing")["reason"]
