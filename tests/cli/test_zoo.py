"""Every built-in model at a tiny size (tests/zoo/tiny.txt): compiled, by the reference, and by ONNX Runtime."""

import numpy as np
import pytest

from hone import ROOT, refused, sound, with_long

ROWS = dict(line.split() for line in (ROOT / "tests/zoo/tiny.txt").read_text().splitlines() if line[0] != "#")
LARGE = {"vgg19"}  # no sizes to set, and 144 million parameters; tests/zoo/check.py has it
# One of each architecture; `make test-full` takes all.
SHORT = {"bert_base", "conv", "dlrm", "gat", "gpt2_decode", "llama_3_2_1b_int4_decode", "mlp", "mobilenet_v3_small", "t5", "tinyvit",
         "transformer", "whisper"}
TOLERANCE = 2e-4  # relative L2: both compute in f32, in another order of sums


def spec_of(name):
    return f"zoo:{name}" if ROWS[name] == "-" else f"zoo:{name},{ROWS[name]}"


def made_up(info, spec, random):
    if info.type != "tensor(int64)":
        return random.standard_normal(info.shape).astype(np.float32)
    sizes = dict(x.split("=") for x in spec.split(",")[1:])
    if "mask" in info.name:
        return np.ones(info.shape, np.int64)
    if "position" in info.name:
        return np.full(info.shape, int(sizes["past"]), np.int64)
    return random.integers(0, 2 if "type" in info.name else int(sizes.get("vocabulary", 1000)), info.shape)


def test_every_model_has_a_tiny_form(hone):
    listed = [line.split()[0].removeprefix("zoo:") for line in hone("zoo", "list").text.splitlines()]
    assert sorted(listed) == sorted(ROWS)


@pytest.mark.parametrize("name", with_long(sorted(SHORT), *sorted(set(ROWS) - LARGE - SHORT)))
def test_compiled_is_reference_is_onnx_runtime(shared_hone, tmp_path, name):
    ort = pytest.importorskip("onnxruntime")
    spec = spec_of(name)
    sound(shared_hone("verify", spec))
    sound(shared_hone("zoo", "write", spec, "-o", tmp_path / "m.onnx"))
    plainly = ort.SessionOptions()  # optimised, it rounds the rows in front of weights of 4 bits to 8 bits
    plainly.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(str(tmp_path / "m.onnx"), plainly, providers=["CPUExecutionProvider"])
    random = np.random.default_rng(3)
    given = {info.name: made_up(info, spec, random) for info in session.get_inputs()}
    for k, x in enumerate(given.values()):
        np.save(tmp_path / f"in_{k}.npy", x)
    sound(shared_hone("run", spec, "--inputs", tmp_path, "-o", tmp_path / "out"))
    for k, want in enumerate(session.run(None, given)):
        got = np.load(tmp_path / "out" / f"out_{k}.npy")
        assert got.shape == want.shape and got.dtype == want.dtype
        assert np.isfinite(want).all()
        distance = np.linalg.norm((got - want).astype(np.float64))
        assert distance <= TOLERANCE * np.linalg.norm(want.astype(np.float64)), (k, distance)


def test_a_model_beyond_memory_says_so_before_it_starts(hone):
    result = hone("inspect", "zoo:llama_7b,width=65536,layers=100", "--no-measure")
    refused(result, "E_OOM")
    assert "layers=1" in result.errors and "GB" in result.errors
    assert result.seconds < 5
