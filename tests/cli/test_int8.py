"""bench/int8.py: which peer a ratio refers to, and which rows have no ratio."""

import importlib.util

import pytest

from hone import ROOT


@pytest.fixture(scope="module")
def int8():
    spec = importlib.util.spec_from_file_location("int8", ROOT / "bench/int8.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def record(model, backend, p50, status="ok", threads=1):
    return {"model": model, "backend": backend, "threads": threads, "status": status, "latency_ms": {"p50": p50}}


def test_ratio_is_to_the_fastest_that_is_right(int8, capsys):
    int8.print_table([record("a/x.onnx", "native", 2.0), record("a/x.onnx", "onnxruntime", 4.0),
                      record("a/x.onnx", "openvino", 1.0, "wrong"), record("a/x.onnx", "litert", None, "unsupported"),
                      record("a/y.onnx", "native", 4.0), record("a/y.onnx", "openvino", 2.0),
                      record("a/y.onnx", "native", 1.0, threads=2)], 1)
    out = capsys.readouterr().out
    assert "| a/x.onnx | 2 | onnxruntime | 4 | 2.00 |" in out
    assert "| a/y.onnx | 4 | openvino | 2 | 0.50 |" in out
    assert "geometric mean 1.00 over 2 models; native slower in 1" in out


def test_no_ratio_without_two_right_outputs(int8, capsys):
    int8.print_table([record("a/x.onnx", "native", 2.0), record("a/x.onnx", "openvino", 9.0, "wrong"),
                      record("a/y.onnx", "native", 2.0, "wrong"), record("a/y.onnx", "openvino", 9.0),
                      record("a/z.onnx", "openvino", 9.0)], 1)
    out = capsys.readouterr().out
    assert "| a/x.onnx | 2 | no other engine gave right outputs | - | - |" in out
    assert "| a/y.onnx | 2 | native did not end well | - | - |" in out
    assert "| a/z.onnx | - | native did not end well | - | - |" in out
    assert "geometric mean" not in out


def test_finds_the_collections_files(int8, tmp_path):
    for name in ("mlperf_a/model_int8.tflite", "mlperf_a/model_f32.tflite", "coral_b/model.tflite"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    options = type("Options", (), {"models": tmp_path, "work": tmp_path, "only": ".tflite", "hone": "none"})
    assert [path.name for path in int8.find_files(options)] == ["model_int8.tflite", "model.tflite"]
