"""hone profile: every node of the model is in one step, times add up, and four output formats have the same figures."""

import collections
import json
import os
import subprocess
import xml.etree.ElementTree as tree

import pytest

from hone import refused, sound

WORDS = ("--threads", "2", "--min-time", "0.05")


@pytest.fixture(scope="module")
def transformer(shared_hone, tmp_path_factory):
    folder = tmp_path_factory.mktemp("profile")
    forms = {form: folder / f"p.{form}" for form in ("json", "svg", "html", "trace.json")}
    result = shared_hone("profile", "zoo:transformer", *WORDS, *(w for f in forms.values() for w in ("-o", f)))
    sound(result)
    return result, {form: path.read_text() for form, path in forms.items()}


def test_every_node_is_in_one_step(shared_hone, transformer):
    profile = json.loads(transformer[1]["json"])
    facts = json.loads(shared_hone("inspect", "zoo:transformer", "--no-measure", "--json", "-").text)
    counts = {}
    for step in profile["steps"]:
        for node in step["nodes"]:
            counts[node["op"]] = counts.get(node["op"], 0) + 1
    assert counts == {op: n for op, n in facts["operators"].items() if op != "Constant"}
    assert "attention_f32" in {step["kernel"] for step in profile["steps"]}
    # the steps contain all multiplications of the graph, and few others
    products = sum(s["flops"] for s in profile["steps"] if s["kernel"].startswith(("gemm", "attention")))
    assert 0.9 * facts["flops"] < products < 1.3 * facts["flops"]


def test_times_add_up(transformer):
    profile = json.loads(transformer[1]["json"])
    steps = profile["steps"]
    assert profile["threads"] == 2 and profile["runs"] >= 15
    inside = sum(step["ns"] for step in steps)
    assert profile["waiting_ns"] == pytest.approx(max(0, profile["total_ns"] - inside))
    assert inside < 1.5 * profile["total_ns"]
    assert sum(step["share"] for step in steps) == pytest.approx(inside / profile["total_ns"])
    for step in steps:
        assert 0 < step["least_ns"] <= step["ns"] and 0 < step["balance"] <= 1
        assert step["limit_share"] == pytest.approx(step["limit_ns"] / step["ns"])
        assert step["gflops"] == pytest.approx(step["flops"] / step["ns"])
        assert step["weight_bytes"] + step["value_bytes"] > 0


def test_the_table_says_the_same(transformer):
    result, forms = transformer
    profile, text = json.loads(forms["json"]), result.text
    kernels = {step["kernel"] for step in profile["steps"]}
    assert all(kernel in text for kernel in kernels - {"plain"}), text
    assert f"{len(profile['steps'])} steps" in text and "barriers, waiting" in text and "below 25 %" in text


def test_a_trace_is_one_row_a_thread(transformer):
    profile, events = (json.loads(transformer[1][f]) for f in ("json", "trace.json"))
    spans = [e for e in events["traceEvents"] if e["ph"] == "X"]
    names = {e["tid"]: e["args"]["name"] for e in events["traceEvents"] if e["ph"] == "M"}
    assert names == {0: "thread 0", 1: "thread 1"} and {e["tid"] for e in spans} <= {0, 1}
    assert {e["args"]["step"] for e in spans} == {s["step"] for s in profile["steps"]}
    for thread in names:
        row = [e for e in spans if e["tid"] == thread]
        assert [e["args"]["step"] for e in row] == sorted(e["args"]["step"] for e in row)
        for one, next_one in zip(row, row[1:]):
            assert one["ts"] + one["dur"] <= next_one["ts"] + 0.002  # decimals of microseconds


def test_pictures_are_well_formed(transformer):
    forms = transformer[1]
    picture = tree.fromstring(forms["svg"])
    profile = json.loads(forms["json"])
    titles = [t.text for t in picture.iter("{http://www.w3.org/2000/svg}title")]
    assert len(titles) >= len(profile["steps"])
    # the page is a report's: its style, header and script, and no other
    page = forms["html"]
    assert page.count('<tr class="row">') == len(profile["steps"]) and page.count("<script>") == 1 and '<div class="brand">' in page
    assert "unsafe" not in page and "form-action 'none'" in page and "<h1>zoo:transformer" in page
    assert "\u00b5s" in forms["svg"] and '<text class="middle"' in forms["svg"]  # an axis of time


def test_limits_need_peaks(shared_hone):
    result = shared_hone("profile", "zoo:mlp", *WORDS, "--no-measure", "--json", "-")
    sound(result)
    assert all(step["limit_ns"] is None for step in json.loads(result.text)["steps"])


# Writes down the core that each thread is bound to.
BINDING = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
int pthread_setaffinity_np(pthread_t thread, size_t bytes, const cpu_set_t *set) {
  int (*real)(pthread_t, size_t, const cpu_set_t *);
  *(void **)&real = dlsym(RTLD_NEXT, "pthread_setaffinity_np");
  FILE *file = CPU_COUNT_S(bytes, set) == 1 ? fopen(getenv("BINDINGS"), "a") : NULL;
  for (int cpu = 0; file && cpu < (int)bytes * 8; cpu++)
    if (CPU_ISSET_S(cpu, bytes, set)) fprintf(file, "%d\n", cpu);
  if (file) fclose(file);
  return real(thread, bytes, set);
}
"""


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core")
def test_limits_are_of_as_many_cores_as_threads(hone, tmp_path):
    (tmp_path / "binding.c").write_text(BINDING)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", "binding.so", "binding.c", "-ldl"], cwd=tmp_path, check=True)
    sound(hone("profile", "zoo:mlp", *WORDS, env={"LD_PRELOAD": str(tmp_path / "binding.so"),
                                                  "BINDINGS": str(tmp_path / "bindings")}))
    cores = collections.Counter((tmp_path / "bindings").read_text().split())
    # the probes of the peaks, and the team; the probes again, at most twice, where a step passed a peak
    assert len(cores) == 2 and set(cores.values()) < {2, 3, 4} and len(set(cores.values())) == 1, cores


def test_names_of_a_model_are_only_text(shared_hone, tmp_path):
    onnx = pytest.importorskip("onnx")
    node = onnx.helper.make_node("Relu", ["x"], ["y"], name='<script>"&\x1b[31m')
    ports = [onnx.helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, [64]) for n in "xy"]
    model = onnx.helper.make_model(onnx.helper.make_graph([node], "g", ports[:1], ports[1:]),
                                   opset_imports=[onnx.helper.make_opsetid("", 20)], ir_version=8)
    onnx.save(model, tmp_path / "m.onnx")
    result = shared_hone("profile", tmp_path / "m.onnx", *WORDS, "--no-measure", "-o", tmp_path / "p.svg",
                         "-o", tmp_path / "p.html", "-o", tmp_path / "p.json")
    sound(result)
    assert b"\x1b" not in result.out
    for ending in ("svg", "html"):
        text = (tmp_path / f"p.{ending}").read_text()
        assert text.count("<script") == (ending == "html") and "\x1b" not in text and "&lt;script&gt;" in text
    tree.parse(tmp_path / "p.svg")
    assert json.loads((tmp_path / "p.json").read_text())["steps"][0]["nodes"][0]["name"].startswith("<script>")


def test_no_clock_without_a_profile(shared_hone):
    result = shared_hone("compile", "zoo:mlp", "--dump-after", "emit", "--stop-after", "emit")
    sound(result)
    assert "clock" not in result.text and "PROFILED" not in result.text


def test_refusals(shared_hone, tmp_path):
    refused(shared_hone("profile"), "E_USAGE")
    refused(shared_hone("profile", "zoo:mlp", "--trace", tmp_path / "none/x"), "E_WRITE")
    refused(shared_hone("profile", "zoo:mlp", "-o", tmp_path / "x.csv"), "E_USAGE", ".trace.json")
    refused(shared_hone("profile", tmp_path / "none.onnx"), "E_NOFILE")
