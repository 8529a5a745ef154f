"""Usable memory, not installed memory: limits of the process apply, and are passed on to the workers."""

import re
import resource

import pytest

from hone import refused, sound

FLAGS = ["--backend", "native", "--rounds", "2", "--processes", "1", "--min-time", "0.01", "--min-samples", "3",
         "--warmup", "0.01", "--no-measure", "-q", "--resume", "never"]


def test_a_dry_run_says_what_may_be_used(hone):
    whole = hone("bench", "zoo:mlp", "--backend", "native", "--dry-run")
    sound(whole)
    small = hone("bench", "zoo:mlp", "--backend", "native", "--dry-run", limits=[(resource.RLIMIT_AS, 2_000_000_000)])
    sound(small)
    assert "of 2.00 GB available memory" in small.text, small
    assert "of 2.00 GB" not in whole.text and "not enough" not in whole.text, whole


def test_what_an_engine_takes_is_its_own(hone):
    """A C compiler reads emx's text, and ExecuTorch brings torch: no ONNX Runtime."""
    said = {}
    for name in ("onnxruntime", "emx", "executorch"):
        result = hone("bench", "zoo:resnet18", "--backend", name, "--threads", "1", "--dry-run", "--no-measure")
        sound(result)
        number, unit = re.search(r"up to ([\d.]+) (MB|GB) of", result.text).groups()
        said[name] = float(number) * {"MB": 1e6, "GB": 1e9}[unit]
    assert 3 * said["onnxruntime"] < said["emx"] < said["executorch"], said


def test_a_dry_run_names_what_it_cannot_estimate(hone):
    result = hone("bench", "zoo:mlp", "zoo:gpt2_xl", "--backend", "native", "--dry-run",
                  limits=[(resource.RLIMIT_AS, 2_000_000_000)])
    sound(result)
    assert "not in the estimate: zoo:gpt2_xl: E_OOM" in result.text and "estimate: zoo:mlp" not in result.text, result


@pytest.mark.parametrize("verb", ["run", "inspect"])
def test_a_value_beyond_it_is_a_limit_and_no_killed_process(hone, tmp_path, verb):
    onnx = pytest.importorskip("onnx")
    T, helper = onnx.TensorProto, onnx.helper
    shape = [1, 1 << 29]  # 2 GiB of floats
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g",
                              [helper.make_tensor_value_info("x", T.FLOAT, shape)],
                              [helper.make_tensor_value_info("y", T.FLOAT, shape)])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    result = hone(verb, tmp_path / "m.onnx", *(["--no-measure"] if verb == "inspect" else []),
                  limits=[(resource.RLIMIT_AS, 1_500_000_000)])
    refused(result, "E_LIMIT", "value_bytes")


def test_limits_reach_the_workers(hone):
    """--limit of bench is the reader's, which works in another process."""
    result = hone("bench", "zoo:mlp", *FLAGS, "--limit", "nodes=1")
    assert result.code != 0 and "E_LIMIT" in result.text + result.errors, result
    sound(hone("bench", "zoo:mlp", *FLAGS, "--limit", "nodes=1000"))
