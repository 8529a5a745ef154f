"""TFLite: one small model an operator (tests/cases/tflite, made by tests/tools/make_tflite_cases.py) against
the outputs of LiteRT's reference kernels: integers and quantised numbers bit for bit, floats closely."""

import os
import pathlib

import numpy as np
import pytest

from hone import sound

CASES = sorted((pathlib.Path(__file__).resolve().parent.parent / "cases/tflite").glob("*.tflite"))
# Largest difference in quantised steps where LiteRT itself computes in float, and why.
STEPS = {}


def outputs(run, path, folder, *words):
    with np.load(path.with_suffix(".npz")) as arrays:
        stored = {key: arrays[key] for key in arrays.files}
    for key in stored:
        if key.startswith("in_"):
            np.save(folder / f"{key}.npy", stored[key])
    sound(run("run", path, "--inputs", folder, "-o", folder / "out", *words, timeout=60))
    for k in range(sum(key.startswith("out_") for key in stored)):
        yield np.load(folder / "out" / f"out_{k}.npy"), stored[f"out_{k}"]


def same(got, want, name):
    assert got.shape == want.shape and got.dtype == want.dtype
    if got.dtype.kind in "iub":
        apart = np.abs(got.astype(np.int64) - want.astype(np.int64))
        assert apart.max(initial=0) <= STEPS.get(name, 0), (np.count_nonzero(apart), apart.max())
    else:
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("path", CASES, ids=[path.stem for path in CASES])
def test_reference(shared_hone, tmp_path, path):
    for got, want in outputs(shared_hone, path, tmp_path, "--reference"):
        same(got, want, path.stem)


# HONE_TEST_ALL=1 compiles every case, otherwise one in four.
@pytest.mark.parametrize("path", CASES[::1 if os.environ.get("HONE_TEST_ALL") else 4],
                         ids=lambda path: path.stem)
def test_compiled(shared_hone, tmp_path, path):
    for got, want in outputs(shared_hone, path, tmp_path):
        same(got, want, path.stem)


def test_there_are_cases():
    assert len(CASES) > 150
