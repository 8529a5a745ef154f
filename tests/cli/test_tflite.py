"""TFLite: one small model an operator (tests/cases/tflite, made by tests/tools/make_tflite_cases.py) against
the outputs of LiteRT's reference kernels: integers and quantised numbers bit for bit, floats closely."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

from hone import sampled, sound

CASES = sorted((pathlib.Path(__file__).resolve().parent.parent / "cases/tflite").glob("*.tflite"))
# Largest difference in quantised steps where LiteRT itself computes in float, and why.
STEPS = {}


def outputs(run, path, folder, *words):
    """What came out and what LiteRT gave; of a model with state for a second run as well, which begins with what
    the first one left."""
    with np.load(path.with_suffix(".npz")) as arrays:
        stored = {key: arrays[key] for key in arrays.files}
    given = sorted(key for key in stored if key.startswith("in_"))
    for key in given:
        np.save(folder / f"{key}.npy", stored[key])
    for kind in ("out", "again"):
        count = sum(key.startswith(f"{kind}_") for key in stored)
        if not count:
            continue
        sound(run("run", path, "--inputs", folder, "-o", folder / kind, *words))
        for k in range(count):
            yield np.load(folder / kind / f"out_{k}.npy"), stored[f"{kind}_{k}"]
        for k in range(count, len(list((folder / kind).glob("out_*.npy")))):
            (folder / kind / f"out_{k}.npy").rename(folder / f"in_{len(given) + k - count}.npy")


def same(got, want, name):
    assert got.shape == want.shape and (got.dtype == want.dtype or got.dtype.kind == want.dtype.kind == "U")
    if got.dtype.kind == "U":
        np.testing.assert_array_equal(got, want)
    elif got.dtype.kind in "iub":
        apart = np.abs(got.astype(np.int64) - want.astype(np.int64))
        assert apart.max(initial=0) <= STEPS.get(name, 0), (np.count_nonzero(apart), apart.max())
    else:
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("path", CASES, ids=[path.stem for path in CASES])
def test_reference(shared_hone, tmp_path, path):
    for got, want in outputs(shared_hone, path, tmp_path, "--reference"):
        same(got, want, path.stem)


# `make test-full` compiles one case in four, `make test` a quarter of those, HONE_TEST_ALL=1 every case.
@pytest.mark.parametrize("path", CASES if os.environ.get("HONE_TEST_ALL") else sampled(CASES[::4], 4), ids=lambda path: path.stem)
def test_compiled(shared_hone, tmp_path, path):
    for got, want in outputs(shared_hone, path, tmp_path):
        same(got, want, path.stem)


@pytest.mark.parametrize("path", [path for path in CASES if path.stem.startswith("boxes-")], ids=lambda path: path.stem)
def test_boxes_for_others(shared_hone, tmp_path, path):
    """Written as ONNX they are nodes of ONNX alone, and ONNX Runtime chooses the same; what ONNX cannot say is
    refused by name."""
    onnx, engine = pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
    written = shared_hone("export", path, "-o", tmp_path / "boxes.onnx")
    if "soft" in path.stem:
        assert written.code == 65 and b"SuppressBoxes with a sigma" in written.err, written
        return
    sound(written)
    model = onnx.load(tmp_path / "boxes.onnx")
    onnx.checker.check_model(model, full_check=True)
    assert {node.domain for node in model.graph.node} == {""}
    with np.load(path.with_suffix(".npz")) as stored:
        given = dict(zip((x.name for x in model.graph.input), (stored["in_0"], stored["in_1"])))
        session = engine.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        for k, got in enumerate(session.run(None, given)):
            same(got, stored[f"out_{k}"], path.stem)


def test_there_are_cases():
    assert len(CASES) > 150


def test_signature(shared_hone, tmp_path):
    """The one that is asked for is read, under its own names; without a choice the first graph, with a warning."""
    path = pathlib.Path(__file__).resolve().parent.parent / "cases/tflite/signature-two.tflite"
    np.save(tmp_path / "left.npy", np.float32([1, 2]))
    np.save(tmp_path / "right.npy", np.float32([10, 20]))
    sound(shared_hone("run", path, "--signature", "join", "--inputs", tmp_path, "-o", tmp_path / "out"))
    np.testing.assert_array_equal(np.load(tmp_path / "out/out_0.npy"), np.float32([11, 22]))
    first = shared_hone("inspect", path)
    assert b"2 signatures (scale, join)" in first.err
    wrong = shared_hone("inspect", path, "--signature", "split")
    assert wrong.code == 2 and b"the model has: scale, join" in wrong.err


def test_the_page_is_current():
    """docs/reference/tflite.md, of which each operator of the schema is either read or refused with a reason."""
    tool = pathlib.Path(__file__).resolve().parent.parent.parent / "tools/tflite_table.py"
    result = subprocess.run([sys.executable, tool, "--check"], capture_output=True, check=False)
    assert result.returncode == 0, result.stderr
