"""hone hybrid: a model in parts on different engines computes its outputs, the plan is the shortest path over the timed
segments, and recommend chooses a hybrid only if pairs prove it faster."""

import itertools
import json
import math
import os
import pathlib
import re
import shutil

import numpy as np
import onnx
import pytest
from hone import refused, sound, with_long
from onnx import TensorProto, helper, numpy_helper

SITE = pathlib.Path(pytest.importorskip("onnxruntime").__file__).parents[1]
ENGINE = ["--engine", f"onnxruntime={SITE}"]


def bench(hone, model, parts, *more):
    result = hone("bench", model, "--backend", "hybrid", "--backend-option", f"hybrid.parts={parts}", "--backend-option",
                  f"hybrid.engine.onnxruntime={SITE}", "--threads", "1",
                  "--no-measure", "--processes", "1", "--rounds", "2", "--min-samples", "2", "--min-time", "0.01", "--warmup", "0.01",
                  "--json", "-", "--quiet", *more)
    return result, json.loads(result.text)["records"][0] if result.text.startswith("{") else None


@pytest.mark.parametrize("model, parts", with_long(
    [("zoo:mlp", "native:2+onnxruntime"), ("zoo:transformer", "onnxruntime:9+native:21+onnxruntime")],  # residuals skip parts
    ("zoo:mobilenet_v3_small", "native:50+onnxruntime:51+native"), ("zoo:mnist_cnn", "native:3+native")))
def test_parts_give_the_models_outputs(shared_hone, model, parts):
    result, record = bench(shared_hone, model, parts)
    sound(result)
    assert record["status"] == "ok" and record["backend"] == "hybrid", record
    assert "native" in record["engine_version"], record
    assert record["rel_l2"] < 1e-3


@pytest.mark.parametrize("parts, word", [
    ("native:2+onnxruntim", "onnxruntim"), ("native:2+tvm", "tvm"), ("native:0+onnxruntime", "native:0"),
    ("native:2+onnxruntime:2+native", "onnxruntime:2"), ("native+onnxruntime", "last part"),
    ("native:2+onnxruntime:3", "last part"), ("native:100000+onnxruntime", "a node from 1")])
def test_parts_that_are_none(shared_hone, parts, word):
    result, record = bench(shared_hone, "zoo:mlp", parts)
    assert record["status"] == "error" and word in record["reason"], record


def test_without_parts_the_verb_is_named(shared_hone):
    result = shared_hone("bench", "zoo:mlp", "--backend", "hybrid", "--no-measure", "--processes", "1", "--json", "-", "--quiet")
    assert "hone hybrid MODEL finds one" in json.loads(result.text)["records"][0]["reason"]


def test_a_budget_ends_the_timing_not_the_proposal(shared_hone):
    """10 ms are over once the whole model is compiled on every machine: only it is timed, and the output says how many were not."""
    result = shared_hone("hybrid", "zoo:mlp", "--backend", "native,onnxruntime", "--threads", "1", "--cuts", "2", *ENGINE,
                         "--min-time", "0.01", "--budget", "0.01", "--json", "-", "--quiet")
    sound(result)
    found = json.loads(result.text)
    assert found["complete"] is False and found["single_ms"] > 0
    timed = {(s["from"], s["to"]) for s in found["stretches"] if s["ms"] is not None}
    assert timed == {(0, max(s["to"] for s in found["stretches"]))}


def test_a_file_whose_name_is_no_utf_8(shared_hone):
    name = shared_hone.folder / os.fsdecode(b"\xff.onnx")
    sound(shared_hone("zoo", "write", "mlp", "-o", name))
    result = shared_hone("hybrid", name, "--backend", "native,onnxruntime", "--threads", "1", "--cuts", "1", "--min-time", "0.01",
                         "--json", "-", "--quiet", *ENGINE)
    sound(result)
    assert json.loads(result.text)["stretches"]


def test_nobody_gets_it_unasked(shared_hone):
    result = shared_hone("bench", "zoo:mlp", "--dry-run")
    sound(result)
    assert "hybrid" not in result.text


@pytest.fixture(scope="module")
def proposal(shared_hone):
    result = shared_hone("hybrid", "zoo:transformer", "--backend", "native,onnxruntime", "--threads", "1", "--cuts", "2",
                         "--min-time", "0.01", "--json", "-", "--quiet", *ENGINE)
    sound(result)
    return json.loads(result.text)


def test_every_segment_is_timed_on_every_engine(proposal):
    places = [0] + [c["node"] for c in proposal["cuts"]] + [max(s["to"] for s in proposal["stretches"])]
    assert len(proposal["cuts"]) == 2 and all(c["bytes"] > 0 for c in proposal["cuts"])
    timed = {(s["from"], s["to"], s["backend"]): s["ms"] for s in proposal["stretches"]}
    assert set(timed) == {(a, b, e) for a, b in itertools.combinations(places, 2) for e in ("native", "onnxruntime")}
    assert all(ms > 0 for ms in timed.values())
    whole = {e: timed[places[0], places[-1], e] for e in ("native", "onnxruntime")}
    assert proposal["single"] == min(whole, key=whole.get)
    assert math.isclose(proposal["single_ms"], min(whole.values()), rel_tol=1e-5)


def test_the_plan_is_the_shortest_way(proposal):
    timed = {(s["from"], s["to"], s["backend"]): s["ms"] for s in proposal["stretches"]}
    extra = {(h["node"], h["from"], h["to"]): h["ms"] for h in proposal["hand_overs"]}
    end = max(b for _, b, _ in timed)

    def ways(at, before):
        if at == end:
            return [0.0]
        return [ms + extra.get((at, before, e), 0.0) + rest for (a, b, e), ms in timed.items()
                if ms and a == at and e != before for rest in ways(b, e)]

    best = min(ways(0, None))
    if proposal["parts"]:
        assert math.isclose(best, proposal["parts_ms"], rel_tol=1e-4)
        assert proposal["parts_ms"] < proposal["single_ms"]
    else:
        assert math.isclose(best, proposal["single_ms"], rel_tol=1e-4)


def test_recommend_takes_parts_only_when_proven(shared_hone):
    for budget in ("6s", "60s", "600s"):  # on a busy machine 6 s may not reach for a second row
        result = shared_hone("recommend", "zoo:mlp", "--backend", "native,onnxruntime", "--threads", "1", "--hybrid",
                             "--budget", budget, "--json", "-", "--quiet", *ENGINE)
        if result.code != 5:
            break
    sound(result)
    answer = json.loads(result.text)
    assert {s["backend"] for s in answer["hybrid"]["stretches"]} == {"native", "onnxruntime"}
    rows = {r["cell"]: r for r in answer["rows"]}
    for row in rows.values():
        if row["backend"] == "hybrid":
            assert answer["hybrid"]["parts"] in row["variant"] or row["variant"].startswith("parts=")
            assert row["standing"] in ("chosen", "runner-up", "behind", "unproven", "invalid")
    if rows[answer["choice"]]["backend"] == "hybrid":
        assert answer["is_decided"] and answer["ratio"][1] > 1


def two_halves(path):
    """Elementwise operators over 4 MB, one pass for hone and eight for ONNX Runtime; then products of f64, for which hone has no fast
    kernel. Little crosses between them."""
    random = np.random.default_rng(3)
    weights = {"half": np.array(0.5, np.float32), "one": np.array(1, np.float32), "axes": np.array([2], np.int64),
               **{f"w{i}": random.standard_normal(shape) / 16 for i, shape in enumerate([(64, 512), (512, 512), (512, 64)])}}
    nodes, at = [], "x"
    for i, (op, *more) in enumerate([("Mul", "half"), ("Add", "one"), ("Abs",), ("Mul", "half"), ("Neg",), ("Add", "one"), ("Max", "half"),
                                     ("Mul", "half")]):
        nodes.append(helper.make_node(op, [at, *more], [f"e{i}"]))
        at = f"e{i}"
    nodes += [helper.make_node("ReduceSum", [at, "axes"], ["sum"], keepdims=0), helper.make_node("Cast", ["sum"], ["d"], to=TensorProto.DOUBLE),
              helper.make_node("MatMul", ["d", "w0"], ["m0"]), helper.make_node("MatMul", ["m0", "w1"], ["m1"]),
              helper.make_node("MatMul", ["m1", "w2"], ["m2"]), helper.make_node("Cast", ["m2"], ["y"], to=TensorProto.FLOAT)]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [256, 64, 64])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [256, 64])],
                              [numpy_helper.from_array(v, k) for k, v in weights.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


@pytest.mark.long
def test_parts_that_gain_are_found_proven_and_bundled(shared_hone):
    """A model made for it: each engine is bad at one half."""
    two_halves(shared_hone.folder / "halves.onnx")
    for budget in ("60s", "60s", "200s"):  # on a busy machine a quarter of 60 s is too short to time every segment
        bundle = shared_hone.folder / f"halves{budget}"
        shutil.rmtree(bundle, ignore_errors=True)
        result = shared_hone("recommend", "halves.onnx", "--backend", "native,onnxruntime", "--threads", "1", "--hybrid", "--budget", budget,
                             "--bundle", bundle, "--json", "-", "--quiet", *ENGINE)
        sound(result)
        answer = json.loads(result.text)
        chosen = next(r for r in answer["rows"] if r["cell"] == answer["choice"])
        if chosen["backend"] == "hybrid":
            break
    assert chosen["backend"] == "hybrid" and answer["is_decided"] and answer["ratio"][1] > 1 and answer["regret"] == 0, result
    assert re.fullmatch(r"native:\d+\+onnxruntime", answer["hybrid"]["parts"]), answer["hybrid"]["parts"]
    held = json.loads((bundle / "recommendation.json").read_text())["hybrid"]
    assert held["stretches"] == answer["hybrid"]["stretches"] and "hybrid" in (bundle / "study.html").read_text()


def test_a_search_that_the_budget_ended_says_so(shared_hone):
    """A quarter of 1 s is over once the whole model was timed."""
    two_halves(shared_hone.folder / "halves.onnx")
    result = shared_hone("recommend", "halves.onnx", "--backend", "native,onnxruntime", "--threads", "1", "--hybrid", "--budget", "1s",
                         "--quiet", *ENGINE)
    assert result.code in (0, 5), result  # 5: there was no time for a second row
    assert "was too short to time every segment" in result.text, result


def test_usage(shared_hone):
    refused(shared_hone("hybrid", "zoo:mlp", "--backend", "native"), "E_MISSING", "two engines")
    refused(shared_hone("hybrid", "zoo:mlp", "--backend", "native,tvm"), "E_USAGE", "hone's own process")
    refused(shared_hone("hybrid", "zoo:mlp", "--backend", "native,onnxruntime", "--cuts", "9", *ENGINE), "E_USAGE", "8")
