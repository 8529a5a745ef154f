"""Real engines that are called from Python: the installed ones (places.py); the others are skipped by name. Not part
of 'make test', because they need gigabytes."""

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
         "--processes", "1", "--min-time", "0.01", "--warmup", "0.01", "--no-measure", "--json", "-",
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


@pytest.mark.parametrize("variant", ["default", "portable"])
def test_constants_that_a_trace_folded_are_no_pictures(tmp_path, variant):
    """T5's table of relative positions is one, with the strides of the transpose before it: ExecuTorch took it for a picture
    with channels last and ended with 0x10 and 0x12."""
    if "executorch" not in places():
        pytest.skip("hone backends install executorch")
    name = "executorch" if variant == "default" else f"executorch:{variant}"
    row = bench("zoo:t5,layers=1,width=128,vocabulary=100", "--backend", name, "--threads", "1", "--store", tmp_path / "results.db",
                *engine_words("executorch"))["executorch", 1]
    assert row["status"] == "ok" and row["rel_l2"] < 1e-4, row["reason"]


@pytest.mark.parametrize("target", ["cuda", "rocm", "vulkan"])
def test_iree_compiles_for_what_is_not_here(tmp_path, target):
    """Without the device, the row says that the model was compiled, and gives the runtime's message; with it, the model runs."""
    if "iree" not in places():
        pytest.skip("hone backends install iree")
    rows = bench("zoo:mlp", "--backend", f"iree:{target}", "--threads", "1", "--store", tmp_path / "results.db", *engine_words("iree"))
    row = rows["iree", 1]
    assert row["status"] == "ok" or (row["status"] == "unsupported" and f"compiled for {target} in " in row["reason"]), row["reason"]


def bench(path, *words):
    result = subprocess.run(
        [HONE, "bench", path, "--rounds", "1", "--processes", "1", "--min-time", "0.01", "--warmup", "0.01",
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


@pytest.mark.parametrize("model", ["zoo:mnist_cnn", "zoo:resnet18,size=32", "zoo:transformer,sequence=8"])
def test_plaidml_is_right_in_the_order_that_its_operators_are_written_in(tmp_path, model):
    """Convolutions with channels last, strides, padding and 1x1, weights that are turned; a .pt2 comes as hone's ONNX."""
    if "plaidml" not in places():
        pytest.skip("hone backends install plaidml")
    row = bench(model, "--backend", "plaidml", "--threads", "1", "--store", tmp_path / "results.db", *engine_words("plaidml"))["plaidml", 1]
    assert row["status"] == "ok" and row["rel_l2"] < 1e-4, row["reason"]


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
    """int8 weights, which LiteRT multiplies by int8 activations and hone by floats: both results are accepted."""
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


FORMS = ("tensors", "lists")  # how its module takes and gives them
EXPORT = """
import sys, torch
form, path = sys.argv[1:]
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 4)
    def forward(self, x, more):
        y = self.layer(x) + (more if form == "tensors" else more["a"] * more["b"][0])
        return y.relu() if form == "tensors" else {"low": y.relu(), "high": [y.tanh()]}
x, z = torch.randn(2, 8), torch.randn(2, 4)
torch.export.save(torch.export.export(Model().eval(), (x, z if form == "tensors" else {"a": z, "b": [z]})), path)
"""


@pytest.mark.parametrize("name,option", [("torch", "mode=eager"), ("torch", "mode=script"), ("torch", "mode=compile"),
                                         ("torch", "mode=aoti"), ("executorch", "partitioner=xnnpack")])
def test_a_torch_export_file_is_run_as_pytorch_has_it(tmp_path, name, option):
    """The file goes to the engine directly; only --route onnx-hone converts it through ONNX."""
    if name not in places():
        pytest.skip(f"hone backends install {name}")
    words = ["--backend", name, "--backend-option", f"{name}.{option}", "--threads", "1", "--store", tmp_path / "results.db", *engine_words(name)]
    for form in FORMS:
        path = tmp_path / f"{form}.pt2"
        subprocess.run([places()[name] / "bin/python", "-c", EXPORT, form, path], check=True, capture_output=True)
        row = bench(path, *words)[name, 1]
        assert row["route"] == "onnx" and row["status"] == "ok" and row["rel_l2"] < 1e-4, (form, row["reason"])
        assert row["effective_precision"] == "fp32"
    damaged = tmp_path / "damaged.pt2"
    damaged.write_bytes((ROOT / "tests/cases/pt2/small.pt2").read_bytes())  # as PyTorch's reader has it: it has no version
    row = bench(damaged, *words)[name, 1]
    assert row["status"] == "unsupported" and "version" in row["reason"], row["reason"]


@pytest.mark.parametrize("name", ["torch", "iree", "xla", "tvm", "emx", "executorch"])
def test_the_precision_is_that_of_the_computation(tmp_path, name):
    """Of a file in float16 and of one in float32, which differ in nothing else. XLA multiplies in float32 on a CPU."""
    if name not in places():
        pytest.skip(f"hone backends install {name}")
    onnx, numpy = pytest.importorskip("onnx"), pytest.importorskip("numpy")
    helper = onnx.helper
    for kind, word in (("float16", "fp16"), ("float32", "fp32")):
        element = helper.np_dtype_to_tensor_dtype(numpy.dtype(kind))
        weights = onnx.numpy_helper.from_array(numpy.random.default_rng(1).standard_normal((64, 64)).astype(kind) / 8, "w")
        graph = helper.make_graph(
            [helper.make_node("MatMul", ["x", "w"], ["p"]), helper.make_node("Relu", ["p"], ["y"])], "g",
            [helper.make_tensor_value_info("x", element, [4, 64])], [helper.make_tensor_value_info("y", element, [4, 64])], [weights])
        path = tmp_path / f"{kind}.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
        row = bench(path, "--backend", name, "--precision", "as-is", "--threads", "1", "--store", tmp_path / "results.db",
                    *engine_words(name))[name, 1]
        assert row["status"] in ("ok", "unsupported"), row["reason"]
        assert row["status"] == "unsupported" or row["effective_precision"] == ("fp32" if name == "xla" else word), (kind, row["effective_precision"])


def test_pytorch_in_bf16(tmp_path):
    if "torch" not in places():
        pytest.skip("hone backends install torch")
    for mode in ("eager", "compile"):
        row = bench("zoo:mlp", "--backend", f"torch:{mode}", "--precision", "bf16", "--threads", "1", "--store",
                    tmp_path / "results.db", *engine_words("torch"))["torch", 1]
        assert row["status"] == "ok" and 1e-4 < row["rel_l2"] < 3e-2, row["reason"]
        assert row["effective_precision"].startswith("bf16"), row["effective_precision"]


@pytest.mark.parametrize("name", ["torch:eager", "torch:compile", "torch:jit", "torch:aoti", "mnn", "iree", "tvm", "xla", "executorch", "litert", "emx"])
def test_engines_generate_text(tmp_path, name):
    """The reference's tokens, over caches that grow or, of an engine of one size, over such as keep theirs."""
    if name.partition(":")[0] not in places():
        pytest.skip(f"hone backends install {name}")
    row, = bench("zoo:llama_3_2_1b_decode,layers=2,width=256,vocabulary=1000", "--backend", name, "--scenario", "generate",
                 "--prompt", "8", "--new-tokens", "16", "--threads", "1", "--store", tmp_path / "results.db",
                 *engine_words(name.partition(":")[0])).values()
    assert (row["status"] == "ok" and row["top1"] == 1 and row["first_token_ms"]["p50"] > 0) or (
        name == "emx" and row["status"] == "unsupported" and row["reason"]), (row["status"], row["reason"])
