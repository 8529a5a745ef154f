"""Workers of engines for accelerators, over a mock of the engine's API (devices/) that keeps device memory apart from host
memory. No real device is used here. Also the messages on a machine without a device."""

import json
import pathlib

import numpy as np
import onnx
import pytest
from onnx import helper as h

from hone import engine_folder, patiently, with_long

QUICK = ["--rounds", "2", "--processes", "1", "--min-time", "0.01", "--min-samples", "3", "--warmup", "0.005", "--no-measure",
         "--threads", "1", "--resume", "never", "--json", "-"]
STAND_INS = pathlib.Path(__file__).with_name("devices")
PYTHON = """import runpy
sys.path[1:1] = ["{stand_ins}/{name}", "{stand_ins}"]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
# per engine: the package whose metadata `hone backends` looks for, the accepted --precision, values read from the mock
ENGINES = {"tensorrt": ("tensorrt_cu13", "fp32", "Stand-in GPU", "fp32", 0.0, "model.plan"),
           "torchtrt": ("torch_tensorrt", "fp32", "Stand-in GPU", "fp32", 0.25, None),
           "migraphx": (None, "fp32", "gpu (MIGraphX)", "fp32", 0.0, None),
           "vitisai": (None, "bf16", "npu (VitisAI)", "bf16", 0.25, None)}

FAULTS = {"wrong": ("wrong", "first inference"), "wrong_late": ("wrong", "inside the timed run"), "nan": ("wrong", "NaN"),
          "segv@load": ("crashed", "SIGSEGV"), "segv@run": ("crashed", "SIGSEGV"), "exit@run": ("error", "code 3"),
          "raise@load": ("error", "scripted"), "raise@run": ("error", "scripted"), "memory@run": ("out_of_memory", "no memory left"),
          "sleep@run": ("timeout", "--timeout"), "garbage@run": ("protocol_error", "not a JSON object")}
FEW = ["wrong_late", "segv@run", "raise@load", "memory@run"]  # the other faults reach the row by the same path
OF_ONE = {("tensorrt", "no_device"): ("unsupported", "no NVIDIA GPU: cudaGetDeviceCount: cudaErrorNoDevice"),
          ("tensorrt", "unsupported"): ("unsupported", "TensorRT's parser: no such operator"),
          ("tensorrt", "no_engine"): ("unsupported", "built no engine"), ("tensorrt", "full"): ("out_of_memory", "no memory left"),
          ("tensorrt", "refused"): ("error", "refused to run"), ("tensorrt", "unwritten"): ("wrong", "NaN"),
          ("torchtrt", "no_device"): ("unsupported", "no NVIDIA GPU"),
          ("torchtrt", "unsupported"): ("unsupported", "torch.export: no such operator"),
          ("migraphx", "unsupported"): ("unsupported", "MIGraphX's parser: no such operator"),
          ("vitisai", "no_device"): ("not_installed", "it is not AMD's build")}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.onnx"
    weights = np.random.default_rng(1).standard_normal((6, 4)).astype(np.float32)
    graph = h.make_graph([h.make_node("MatMul", ["x", "w"], ["z"]), h.make_node("Relu", ["z"], ["y"])], "g",
                         [h.make_tensor_value_info("x", 1, [3, 6])], [h.make_tensor_value_info("y", 1, [3, 4])],
                         [onnx.numpy_helper.from_array(weights, "w")])
    onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid("", 18)], ir_version=8), path)
    return path


@pytest.fixture
def place(tmp_path):
    """A folder with the look of the engine's environment."""
    def make(name):
        return engine_folder(tmp_path / name, ENGINES[name][0], PYTHON, stand_ins=STAND_INS, name=name)
    return make


def bench(hone, model, name, folder, *words):
    hone.env["HONE_TESTING"] = "1"
    result = hone("bench", model, "--backend", f"{name},native", "--engine", f"{name}={folder}", "--precision", ENGINES[name][1],
                  *QUICK, *words)
    return result, {row["backend"]: row for row in json.loads(result.text)["records"]}


@pytest.mark.parametrize("name", ENGINES)
def test_a_worker_of_a_device_runs_and_reads_back(hone, model, place, tmp_path, name):
    _, _, device, precision, fallback, kept = ENGINES[name]
    folder = place(name)
    result, rows = bench(hone, model, name, folder, "--keep", tmp_path / "kept")
    row = rows[name]
    assert row["status"] == "ok" and row["rel_l2"] < 1e-6 and row["latency_ms"]["p50"] > 0, result
    assert (row["effective_device"], row["effective_precision"], row["fallback_share"]) == (device, precision, fallback)
    assert row["engine_version"] and row["busy_threads"] == 1
    if kept:
        assert [path.name for path in (tmp_path / "kept").rglob(kept)] == [kept]
    listed = hone("backends", "--engine", f"{name}={folder}").text.splitlines()
    assert [line.split()[1] for line in listed if line.startswith(name + " ")] == ["ready"], listed


@pytest.mark.parametrize("name", ["tensorrt", "torchtrt", "migraphx"])
def test_copies_to_and_from_a_device_are_told_apart(hone, model, place, name):
    """Each output takes 2 ms to the host here, which is part of every sample; inputs are copied before the slice."""
    result, rows = bench(hone, model, name, place(name), "--backend-option", f"{name}.env.FAULT=slow_copy")
    row = rows[name]
    assert row["status"] == "ok" and 2 <= row["copy_out_ms"] <= row["latency_ms"]["max"], result
    assert row["compute_ms"] < row["latency_ms"]["p50"] and row["copy_in_ms"] > 0
    assert [rows["native"][key] for key in ("copy_in_ms", "compute_ms", "copy_out_ms")] == [None] * 3, "it works on what it is given"


@pytest.mark.parametrize("name,fault", with_long([("tensorrt", f) for f in FAULTS] + [(n, FEW[0]) for n in ENGINES if n != "tensorrt"] + list(OF_ONE),
                                                *((n, f) for n in ENGINES if n != "tensorrt" for f in FEW[1:])))
def test_a_fault_of_a_device_is_one_row(hone, model, place, name, fault):
    words = ["--backend-option", f"{name}.env.FAULT={fault}"]
    run = lambda *limit: bench(hone, model, name, place(name), *words, *limit)  # noqa: E731
    result, rows = patiently(run, "native") if fault.startswith("sleep") else run()
    status, part = OF_ONE.get((name, fault)) or FAULTS[fault]
    assert rows[name]["status"] == status and part in rows[name]["reason"], result
    assert rows["native"]["status"] == "ok", "the next cell was affected"


def test_an_npu_that_computes_floats_in_bf16_says_so(hone, model, place):
    hone.env["HONE_TESTING"] = "1"
    result = hone("bench", model, "--backend", "vitisai", "--engine", f"vitisai={place('vitisai')}", *QUICK, "--precision", "as-is")
    row, = json.loads(result.text)["records"]
    assert row["status"] == "unsupported" and "--precision bf16" in row["reason"], result


@pytest.mark.parametrize("name,file", [("tensorrt", "/dev/nvidia0"), ("torchtrt", "/dev/nvidia0"), ("migraphx", "/dev/kfd"),
                                       ("vitisai", "/dev/accel/accel0")])
def test_where_there_is_no_device_one_line_says_what_there_would_have_to_be(hone, model, name, file):
    if pathlib.Path(file).exists():
        pytest.skip(f"{file} is here")
    line, = [line for line in hone("backends").text.splitlines() if line.startswith(name + " ")]
    result = hone("bench", model, "--backend", name, "--precision", ENGINES[name][1], *QUICK)
    row, = json.loads(result.text)["records"]
    reason = row["reason"].partition(": ")[2]
    assert row["status"] == "unsupported" and reason.startswith("an ") and f"is not here ({file}); it runs with one and " in reason
    assert line.split(None, 2)[1] == "unsupported" and reason in line
    remedy = f"hone backends install {name}" if ENGINES[name][0] else f"--engine {name}=DIR"
    assert remedy in reason
