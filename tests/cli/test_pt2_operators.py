"""ATen operators of torch.export archives, against PyTorch's own outputs: tests/cases/pt2/operators.zip, made by
tests/tools/make_pt2_operators.py. Each module runs by the reference and compiled; every other one is packed with
DEFLATE."""

import io
import json
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

from hone import ROOT, sampled, sound

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
import unpack_pt2

ALL = unpack_pt2.modules()


def arrays(parts, what):
    """Complex numbers as hone has them: a last axis of real and imaginary."""
    count = sum(p.startswith(what) and p.endswith(".npy") for p in parts)
    found = [np.load(io.BytesIO(parts[f"{what}{i}.npy"])) for i in range(count)]
    return [np.stack([x.real, x.imag], -1) if np.iscomplexobj(x) else x for x in found]


def study(hone, folder, model, *words):
    """The records of a quick one."""
    hone("bench", model, "--backend", *words, "--no-measure", "--rounds", "1", "--processes", "1", "--min-time", "0.01",
         "--min-samples", "3", "--warmup", "0.005", "--json", folder / "study.json")
    return json.loads((folder / "study.json").read_text())["records"]


def input_names(parts):
    """User inputs in order, then the buffers that the module writes."""
    about = json.loads(parts["models/model.json"])["graph_module"]
    specs = about["signature"]["input_specs"]
    return [s["user_input"]["arg"]["as_tensor"]["name"] for s in specs if "user_input" in s]


def run(hone, folder, name, mode):
    parts = ALL[name]
    unpack_pt2.write(folder / "m.pt2", name, parts)
    words = []
    for key, x in zip(input_names(parts), arrays(parts, "in")):
        np.save(folder / f"{key}.npy", x)
        words += ["--input", f"{key}={folder}/{key}.npy"]
    if name.startswith("counter"):
        np.save(folder / "seen.npy", np.zeros(4, np.float32))
        words += ["--input", f"seen={folder}/seen.npy"]
    sound(hone("run", folder / "m.pt2", *words, "-o", folder / "out", *mode))
    return folder / "out"


def same(name, out):
    for i, want in enumerate(arrays(ALL[name], "out")):
        have = np.load(out / f"out_{i}.npy")
        assert have.shape == want.shape and have.dtype == want.dtype, (i, have.dtype, have.shape, want.dtype, want.shape)
        np.testing.assert_allclose(have, want, rtol=2e-5, atol=2e-6, err_msg=f"output {i}")


@pytest.mark.parametrize("name", sampled(sorted(ALL), 3, first=1))
def test_reference(shared_hone, tmp_path, name):
    same(name, run(shared_hone, tmp_path, name, ["--reference"]))


# `make test-full` compiles one in eight, `make test` a third of those, HONE_SLOW all: compiling is the slow part, and ATen's
# operators become operators of ONNX, whose own suite is compiled whole.
@pytest.mark.parametrize("name", sorted(ALL) if os.environ.get("HONE_SLOW") else sampled(sorted(ALL)[::8], 3))
def test_compiled(shared_hone, tmp_path, name):
    same(name, run(shared_hone, tmp_path, name, []))


def test_state_goes_round(shared_hone, tmp_path):
    """A buffer that the module writes is an input and an output: two runs are two calls."""
    x = arrays(ALL["counter"], "in")[0]
    out = run(shared_hone, tmp_path, "counter", ["--reference"])
    seen = x.mean(0)
    np.testing.assert_allclose(np.load(out / "out_1.npy"), seen, rtol=1e-5, atol=1e-6)
    np.save(tmp_path / "seen.npy", np.load(out / "out_1.npy"))
    key = input_names(ALL["counter"])[0]
    sound(shared_hone("run", tmp_path / "m.pt2", "--input", f"{key}={tmp_path}/{key}.npy", "--input",
                      f"seen={tmp_path}/seen.npy", "-o", tmp_path / "again", "--reference"))
    seen = seen * np.float32(0.5) + x.mean(0)
    np.testing.assert_allclose(np.load(tmp_path / "again/out_1.npy"), seen, rtol=1e-5, atol=1e-6)


def test_state_begins_as_the_file_holds_it(shared_hone, tmp_path):
    """Without an input for it, alone and in a study, which asks for the inputs that the file lists only."""
    parts = {p: d for p, d in ALL["counter"].items() if not p.endswith(".npy")}
    state, = (p for p, d in parts.items() if d == bytes(16))
    parts[state] = np.float32([1, 2, 3, 4]).tobytes()
    unpack_pt2.write(tmp_path / "m.pt2", "counter", parts)
    key, x = input_names(ALL["counter"])[0], arrays(ALL["counter"], "in")[0]
    np.save(tmp_path / f"{key}.npy", x)
    sound(shared_hone("run", tmp_path / "m.pt2", "--input", f"{key}={tmp_path}/{key}.npy", "-o", tmp_path / "out"))
    np.testing.assert_allclose(np.load(tmp_path / "out/out_1.npy"), np.float32([0.5, 1, 1.5, 2]) + x.mean(0), rtol=1e-5)
    row, = study(shared_hone, tmp_path, tmp_path / "m.pt2", "native")
    assert row["status"] == "ok" and row["shapes"] == f"{key}[3,4]"


@pytest.mark.parametrize("name", ["cond-weights-0", "cond-sized-sums", "scan-20"])
def test_names_stand_once(shared_hone, tmp_path, name):
    """In graphs within graphs too, so that the text can be read."""
    unpack_pt2.write(tmp_path / "m.pt2", name, ALL[name])
    text = shared_hone("compile", tmp_path / "m.pt2", "--stop-after", "import", "--dump-after", "import").out.decode()
    names = [n for line in text.splitlines() for n in re.findall(r"%\d+", line.split(" = ")[0]) if " = " in line]
    assert len(names) > 5 and len(set(names)) == len(names), text


def test_the_page_is_current():
    result = subprocess.run([sys.executable, ROOT / "tools/aten_table.py", "--check"], capture_output=True, check=False)
    assert result.returncode == 0, result.stderr
