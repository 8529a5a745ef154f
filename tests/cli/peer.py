"""Runs one small ONNX model with ONNX Runtime and with one of hone's runners, and compares."""

import os
import subprocess
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

ort = pytest.importorskip("onnxruntime")
BUILD = Path(os.environ.get("HONE", "build/hone")).resolve().parent
TOOLS = ["reference", "native"]


def element_type(x):
    return onnx.TensorProto.STRING if x.dtype.kind in "OUS" else helper.np_dtype_to_tensor_dtype(x.dtype)


def model_of(nodes, given, constants=None, outputs=("y",), opset=17, domains=(), version=8):
    """nodes over `given` (name: array) and constants; imports: opset of ai.onnx, (domain, version) pairs."""
    graph = helper.make_graph(
        nodes, "peer",
        [helper.make_tensor_value_info(k, element_type(x), x.shape) for k, x in given.items()],
        [helper.make_empty_tensor_value_info(name) for name in outputs],
        [numpy_helper.from_array(x, k) for k, x in (constants or {}).items()])
    imports = [helper.make_opsetid("", opset)] + [helper.make_opsetid(*one) for one in domains]
    return helper.make_model(graph, opset_imports=imports, ir_version=version)


def peer_session(model, options=None):
    """A session whose int8 products are exact: without this option ONNX Runtime multiplies by an instruction that saturates at
    16 bits (vpmaddubsw) on processors with AVX2 but without VNNI."""
    options = options or ort.SessionOptions()
    options.log_severity_level = 3
    options.add_session_config_entry("session.x64quantprecision", "1")
    return ort.InferenceSession(model if isinstance(model, bytes) else str(model), options, providers=["CPUExecutionProvider"])


def peer_outputs(path, given):
    return peer_session(path).run(None, given)


def runner(tool):
    if not (BUILD / tool).exists():
        pytest.skip(f"{tool} is not built: make {os.path.relpath(BUILD / tool)}")
    return BUILD / tool


def hone_outputs(tool, path, given, folder):
    program = runner(tool)
    files = []
    for k, value in enumerate(given.values()):
        np.save(folder / f"in{k}.npy", value.astype("U") if value.dtype.kind == "O" else value)
        files.append(folder / f"in{k}.npy")
    done = subprocess.run([program, path, folder / "out", *files], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    found = []
    while (folder / f"out{len(found)}.npy").exists():
        found.append(np.load(folder / f"out{len(found)}.npy"))
    return found


def same(got, want, rtol=2e-4, atol=2e-5):
    assert len(got) >= len(want)
    for mine, other in zip(got, want):
        other = np.asarray(other)
        assert mine.shape == other.shape, (mine.shape, other.shape)
        if other.dtype.kind == "f":
            assert mine.dtype == other.dtype
            np.testing.assert_allclose(mine, other, rtol=rtol, atol=atol)
        elif other.dtype.kind in "OUS":
            np.testing.assert_array_equal(mine.astype("U"), other.astype("U"))
        else:
            assert mine.dtype == other.dtype
            np.testing.assert_array_equal(mine, other)
