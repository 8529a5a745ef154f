"""tools/recorded_runs.py: models that another project's tests run with ONNX Runtime, run by hone."""

import json
import subprocess
import sys

import numpy as np
import pytest
from hone import HONE, ROOT

pytest.importorskip("onnxruntime")
TOOL = ROOT / "tools/recorded_runs.py"
SUITE = """
import numpy as np
import onnxruntime
from onnx import TensorProto as T, helper as h

def run(op, dtype, given, **named):
    graph = h.make_graph([h.make_node(op, ["x"], ["y"], **named)], "g", [h.make_tensor_value_info("x", dtype, ["n", 3])],
                         [h.make_tensor_value_info("y", dtype, ["n", 3])])
    model = h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=9).SerializeToString()
    return onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, {"x": given})

def test_floats():
    run("Tanh", T.FLOAT, np.arange(6, dtype=np.float32).reshape(2, 3))

def test_integers():
    run("Abs", T.INT64, np.array([[-1, 2, -3]]))
"""


def tool(*words):
    return subprocess.run([sys.executable, TOOL, *words], capture_output=True, text=True, timeout=600, check=False)


@pytest.fixture(name="recorded", scope="module")
def _recorded(tmp_path_factory):
    place = tmp_path_factory.mktemp("recorded")
    (place / "test_other.py").write_text(SUITE)
    done = tool("record", place / "runs", "-p", "no:cacheprovider", place / "test_other.py")
    assert done.stdout.splitlines()[-1].startswith("2 runs in "), done
    return place / "runs"


def test_each_run_is_recorded_with_its_test_and_equals(recorded):
    tests = {json.loads(about.read_text())["test"].split("::")[1] for about in recorded.glob("*/about.json")}
    assert tests == {"test_floats (call)", "test_integers (call)"}
    for flags in ([], ["--reference"]):
        done = tool("judge", recorded, "--hone", HONE, *flags)
        assert done.returncode == 0 and done.stdout.splitlines()[2:] == ["| 2 | equal ONNX Runtime |"], done


def test_another_output_is_told_and_is_exit_code_1(recorded):
    place, = (about.parent for about in recorded.glob("*/about.json") if "integers" in about.read_text())
    right = np.load(place / "out_0.npy")
    np.save(place / "out_0.npy", right + [[0, 0, 1]])
    done = tool("judge", recorded, "--hone", HONE)
    np.save(place / "out_0.npy", right)
    assert done.returncode == 1 and "test_integers (call): output 0: 1 of 3 values" in done.stderr, done
