"""Inputs from public bug reports: tests/cases/reports/NAME holds a small model, its inputs (in/) and the right outputs
(expected/); its README names the report and the source of the right values. Compiled for the host, for AVX2 and as portable C,
and by the reference evaluator."""

import resource
from pathlib import Path

import numpy as np
import pytest

REPORTS = sorted(path for path in (Path(__file__).parent.parent / "cases/reports").iterdir() if path.is_dir())
WAYS = {"host": [], "avx2": ["--cpu", "avx2"], "portable": ["--portable"], "no-passes": ["--no-passes"],
        "reference": ["--reference"]}
# Relative to the largest magnitude of the output; other types are equal bit for bit.
TOLERANCES = {np.dtype(np.float16): 4e-3, np.dtype(np.float32): 2e-5, np.dtype(np.float64): 1e-12}


def assert_same(found, expected):
    assert found.dtype == expected.dtype and found.shape == expected.shape
    if found.dtype.kind != "f":
        np.testing.assert_array_equal(found, expected)
        return
    finite = expected[np.isfinite(expected)]
    largest = np.abs(finite).max() if finite.size else 1.0
    np.testing.assert_allclose(found, expected, rtol=0, atol=TOLERANCES[found.dtype] * largest, equal_nan=True)


def report_ways():
    """`make test` runs each report compiled for the host, by the reference, and in one of the other ways by rotation."""
    others = [way for way in WAYS if way not in ("host", "reference")]
    for i, report in enumerate(REPORTS):
        for way in WAYS:
            is_long = way in others and way != others[i % len(others)]
            yield pytest.param(report, way, marks=[pytest.mark.long] if is_long else [], id=f"{report.name}-{way}")


@pytest.mark.parametrize("report, way", report_ways())
def test_a_reported_input_gives_the_right_outputs(hone, report, way, tmp_path):
    model = next(report.glob("model.*"))
    done = hone("run", model, "--inputs", report / "in", "-o", tmp_path / "out", *WAYS[way])
    assert done.code == 0, done
    for expected in sorted((report / "expected").iterdir()):
        assert_same(np.load(tmp_path / "out" / expected.name), np.load(expected))


def test_activations_that_are_named_compile_soon(hone, tmp_path):
    """gcc spent 7 s of processor time on the copies of a switch that it had inlined into an unrolled loop."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    model = Path(__file__).parent.parent / "cases/reports/lstm-named-activations/model.onnx"
    done = hone("compile", model, "-o", tmp_path / "lstm.so", "--no-cache")
    assert done.code == 0 and resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < 3, done
