"""Engines that are called from Python, for real: those that are here (places.py), the others skipped by name. Not part
of 'make test': they take gigabytes."""

import json
import os
import pathlib
import subprocess

import pytest

from places import places, words as engine_words

ROOT = pathlib.Path(__file__).resolve().parents[2]
HONE = pathlib.Path(os.environ.get("HONE", ROOT / "build" / "hone")).resolve()
CASES = [("iree", ""), ("iree", "data_tiling=0"), ("iree", "device=local-sync"), ("tvm", ""),
         ("torch", "mode=eager"), ("torch", "mode=script"), ("torch", "mode=compile"), ("torch", "mode=aoti"), ("xla", ""),
         ("plaidml", ""), ("executorch", ""), ("executorch", "partitioner=none"),
         ("mnn", ""), ("mnn", "precision=high"), ("emx", ""), ("emx", "flags=-O2")]


@pytest.mark.parametrize("name,option", CASES, ids=[f"{n} {o}" for n, o in CASES])
def test_an_engine_runs_and_is_right(tmp_path, name, option):
    if name not in places():
        pytest.skip(f"hone backends install {name}")
    words = ["--backend-option", f"{name}.{option}"] if option else []
    result = subprocess.run(
        [HONE, "bench", "zoo:mlp", "--backend", f"{name},native", "--threads", "1", "--rounds", "1",
         "--incarnations", "1", "--min-time", "0.01", "--warmup", "0.01", "--no-measure", "--json", "-",
         "--store", tmp_path / "results.db", *engine_words(name), *words], capture_output=True, timeout=600)
    rows = {row["backend"]: row for row in json.loads(result.stdout)["records"]}
    assert rows[name]["status"] == "ok", rows[name]["reason"]
    assert rows[name]["rel_l2"] < 1e-4 and rows[name]["latency_ms"]["p50"] > 0
    assert rows[name]["engine_version"], rows[name]


@pytest.mark.parametrize("name,option", [("torch", "mode=compile"), ("torch", "mode=aoti"), ("executorch", "partitioner=xnnpack")])
def test_sizes_that_stand_in_the_file_as_tensors_keep_nobody_from_compiling(tmp_path, name, option):
    """onnx2torch leaves them so: torch.export and Dynamo take the model as it was traced."""
    if name not in places():
        pytest.skip(f"hone backends install {name}")
    row = bench("zoo:gpt2,layers=1,width=64,vocabulary=50,sequence=6", "--backend", name, "--backend-option", f"{name}.{option}",
                "--threads", "1", "--store", tmp_path / "results.db", *engine_words(name))[name, 1]
    assert row["status"] == "ok" and row["rel_l2"] < 1e-4, row["reason"]
    assert row["effective_device"].endswith(", of a trace)"), row["effective_device"]
    assert row["compile_time_ms"] > 0, "what it takes to compile is part of the start-up"


@pytest.mark.parametrize("target", ["cuda", "rocm", "vulkan"])
def test_iree_compiles_for_what_is_not_here(tmp_path, target):
    """The row says that it was compiled, and of the device what the runtime says; where one is it runs."""
    if "iree" not in places():
        pytest.skip("hone backends install iree")
    rows = bench("zoo:mlp", "--backend", f"iree:{target}", "--threads", "1", "--store", tmp_path / "results.db", *engine_words("iree"))
    row = rows["iree", 1]
    assert row["status"] == "ok" or (row["status"] == "unsupported" and f"compiled for {target} in " in row["reason"]), row["reason"]


def bench(path, *words):
    result = subprocess.run(
        [HONE, "bench", path, "--rounds", "1", "--incarnations", "1", "--min-time", "0.01", "--warmup", "0.01",
         "--no-measure", "--resume", "never", "--json", "-", *engine_words("ncnn", "litert", "onnxruntime"), *words], capture_output=True, timeout=600)
    return {(row["backend"], row["threads"]): row for row in json.loads(result.stdout)["records"]}


def test_ncnn_runs_images_and_says_that_it_has_no_batch(tmp_path):
    if "ncnn" not in places():
        pytest.skip("hone backends install ncnn")
    store = ["--store", tmp_path / "results.db", "--backend", "ncnn", "--threads", "1"]
    row = bench("zoo:mobilenet_v3_small", *store)["ncnn", 1]
    assert row["status"] == "ok" and row["rel_l2"] < 1e-4, row["reason"]
    row = bench("zoo:mlp", *store)["ncnn", 1]
    assert row["status"] == "unsupported" and "batch 1 only" in row["reason"]


def test_litert_runs_tflite_files_on_the_threads_it_was_given(tmp_path):
    models = pathlib.Path(os.environ.get("HONE_SHARED", ROOT.parent / "shared")) / "models"
    model = models / "mlperf_ic_resnet8" / "model_f32.tflite"
    if "litert" not in places() or not model.exists():
        pytest.skip("hone backends install litert, and the collection of models")
    rows = bench(model, "--store", tmp_path / "results.db", "--backend", "litert,onnxruntime", "--threads", "1,2")
    for threads in (1, 2):
        row = rows["litert", threads]
        assert row["status"] == "ok" and row["rel_l2"] < 1e-4, row["reason"]
        assert row["busy_threads"] in (threads, -1, None) or row["busy_threads"] <= threads
        assert row["effective_device"].startswith("cpu (XNNPACK")
        assert rows["onnxruntime", threads]["status"] == "unsupported"
        assert "reads onnx; this model is tflite" in rows["onnxruntime", threads]["reason"]


@pytest.mark.parametrize("name", ["mlperf_kws_dscnn/model_f32", "dtln/stage1_dr", "dtln/stage2_dr"])
def test_litert_is_right_on_files_of_dynamic_range(tmp_path, name):
    """Weights of bytes, which LiteRT multiplies by operands in bytes and hone by floats: neither is wrong."""
    models = pathlib.Path(os.environ.get("HONE_SHARED", ROOT.parent / "shared")) / "models"
    model = models / f"{name}.tflite"
    if "litert" not in places() or not model.exists():
        pytest.skip("hone backends install litert, and the collection of models")
    rows = bench(model, "--store", tmp_path / "results.db", "--backend", "litert,native", "--threads", "1")
    litert, native = rows["litert", 1], rows["native", 1]
    assert litert["status"] == native["status"] == "ok", litert["reason"]
    assert 1e-5 < litert["rel_l2"] < 5e-2 and native["rel_l2"] < 1e-4
    assert (litert["effective_precision"], native["effective_precision"]) == ("dynamic", "fp32")
    assert "fallback" not in litert["flags"] + native["flags"]
