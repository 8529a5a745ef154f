"""--alias: an output shares memory with the input that it becomes in the next run."""

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
    assert header.count("may share its memory") == 2
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
    """bench passes --alias to the native engine; input sets keep separate memory, so outputs are checked as usual."""
    path, _ = exchange
    quick = ["--backend", "native", "--rounds", "2", "--processes", "1", "--warmup", "0.01", "--min-time", "0.01",
             "--min-samples", "5", "--no-measure", "--threads", "1", "--json", "-"]

    def row(*words):
        return json.loads(hone("bench", path, *words, *quick).text)["records"][0]
    both = row("--alias", "a=next_a", "--alias", "b=next_b")
    assert both["status"] == "ok" and both["rel_l2"] == 0, both
    assert "native.alias=a=next_a" in both["repeat"] and "native.alias=b=next_b" in both["repeat"]
    assert "no such output" in row("--alias", "a=nothing")["reason"]


CACHE = [1, 2, 16, 4]


@pytest.fixture(params=["ScatterElements", "ScatterND"])
def cache(request, tmp_path):
    """A cache of fixed size: one row per head is written at an index that is an input; then the cache is summed."""
    def make(*more, outputs=()):
        info = helper.make_tensor_value_info
        elements = request.param == "ScatterElements"
        index = [1, 2, 1, 4] if elements else [2, 3]
        nodes = [helper.make_node(request.param, ["past", "places", "row"], ["present"], **({"axis": 2} if elements else {})),
                 helper.make_node("ReduceSum", ["present"], ["sum"]), *more]
        graph = helper.make_graph(
            nodes, "cache", [info("past", TensorProto.FLOAT, CACHE), info("places", TensorProto.INT64, index),
                             info("row", TensorProto.FLOAT, [1, 2, 1, 4] if elements else [2, 4])],
            [info(n, TensorProto.FLOAT, None) for n in ("present", "sum", *outputs)])
        path = tmp_path / "cache.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
        return path
    places = np.full([1, 2, 1, 4], 5) if request.param == "ScatterElements" else np.array([[0, 0, 5], [0, 1, 5]])
    return make, places.astype(np.int64)


def run_cache(shared_hone, tmp_path, path, places):
    """Runs the program, which gives state and input the same memory; returns the outputs, the initial and the expected state."""
    random = np.random.default_rng(5)
    past, row = (random.standard_normal(n).astype(np.float32) for n in (128, 8))
    sound(shared_hone("compile", path, "--alias", "past=present", "-o", tmp_path / "program"))
    for name, array in (("past", past), ("places", places), ("row", row)):
        (tmp_path / f"{name}.raw").write_bytes(array.tobytes())
    subprocess.run([tmp_path / "program", *(tmp_path / f"{n}.raw" for n in ("past", "places", "row")), "-o", tmp_path / "out"],
                   check=True)
    want = past.reshape(2, 16, 4).copy()
    want[:, 5] = row.reshape(2, 4)
    return [np.load(file).reshape(-1) for file in sorted((tmp_path / "out").glob("*.npy"))], past, want.reshape(-1)


def test_a_cache_is_written_where_it_lies(shared_hone, tmp_path, cache):
    make, places = cache
    path = make()
    plan = shared_hone("compile", path, "--alias", "past=present", "--stop-after", "plan", "--dump-after", "plan")
    sound(plan)
    assert b"copy" not in plan.out, plan
    got, _, want = run_cache(shared_hone, tmp_path, path, places)
    np.testing.assert_array_equal(got[0], want)
    np.testing.assert_allclose(got[1], want.sum(), rtol=1e-4)
    np.save(tmp_path / "places.npy", places)
    sound(shared_hone("verify", path, "--alias", "past=present", "--input", f"places={tmp_path / 'places.npy'}"))  # memory for each


def test_a_cache_that_others_read_is_written_last(shared_hone, tmp_path, cache):
    make, places = cache
    path = make(helper.make_node("Sub", ["present", "past"], ["change"]), outputs=["change"])
    got, past, want = run_cache(shared_hone, tmp_path, path, places)
    np.testing.assert_array_equal(got[0], want)
    np.testing.assert_array_equal(got[2], want - past)


def test_a_constant_place_is_written_where_it_lies(shared_hone, tmp_path):
    """Elsewhere such a ScatterND becomes a Concat; of a state the rest stays where it is."""
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("ScatterND", ["past", "places", "row"], ["present"])], "constant",
        [info("past", TensorProto.FLOAT, [6, 4]), info("row", TensorProto.FLOAT, [1, 4])],
        [info("present", TensorProto.FLOAT, [6, 4])], [onnx.numpy_helper.from_array(np.array([[2]]), "places")])
    path = tmp_path / "constant.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)

    def steps(*words):
        result = shared_hone("compile", path, "--stop-after", "plan", "--dump-after", "plan", *words)
        sound(result)
        return result.text
    assert "ScatterND" in steps("--alias", "past=present") and "copy" not in steps("--alias", "past=present")
    assert "ScatterND" not in steps() and "copy" in steps()
    sound(shared_hone("verify", path, "--alias", "past=present"))
