"""Zoo models quantised by ONNX Runtime (bench/quantised_zoo.py), compared with ONNX Runtime: integer outputs
and dequantised floats within quantisation steps, matmuls with 4-bit weights within a close tolerance."""

import pathlib
import subprocess
import sys

import numpy as np
import pytest

from hone import HONE, ROOT, sound
from peer import peer_session

# model and form: relative L2 that the order of sums may make (one step of 255 in many)
CASES = {"conv:qdq_u8s8": 2e-2, "conv:qdq_s8s8": 2e-2, "conv:qoperator_u8s8": 2e-2, "mlp:dynamic": 2e-2,
         "transformer:int4": 1e-4, "mlp:int4": 1e-4}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("quantised")
    subprocess.run([sys.executable, ROOT / "bench/quantised_zoo.py", made, *CASES, "--hone", HONE], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return made


@pytest.mark.parametrize("case", CASES)
def test_equals_onnx_runtime(shared_hone, tmp_path, folder, case):
    path = folder / f"{case.replace(':', '_')}.onnx"
    session = peer_session(path)
    random = np.random.default_rng(5)
    given = {}
    for k, info in enumerate(session.get_inputs()):
        given[info.name] = random.standard_normal(info.shape).astype(np.float32)
        np.save(tmp_path / f"in_{k}.npy", given[info.name])
    sound(shared_hone("run", path, "--inputs", tmp_path, "-o", tmp_path / "out"))
    for k, want in enumerate(session.run(None, given)):
        got = np.load(tmp_path / "out" / f"out_{k}.npy")
        assert got.shape == want.shape and got.dtype == want.dtype
        assert np.linalg.norm(got - want) <= CASES[case] * np.linalg.norm(want)
