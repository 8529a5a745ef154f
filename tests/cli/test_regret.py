"""bench/regret.py: its arithmetic, and its page for one model with one candidate, whose regret is zero."""

import json
import os
import re
import subprocess
import sys

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from hone import HONE, ROOT, SHARED


def test_one_candidate_has_no_regret(hone, tmp_path):
    done = subprocess.run([sys.executable, ROOT / "bench" / "regret.py", "--hone", HONE, "--budget", "2s", "--backend", "native",
                           "--threads", "1", "--out", tmp_path / "page.md", "zoo:mlp", "zoo:nothing",
                           "--full=--rounds 3 --processes 1 --min-time 0.02 --min-samples 5 --warmup 0.02"],
                          capture_output=True, text=True, timeout=600, check=False, env={**os.environ, **hone.env})
    assert done.returncode == 0, done
    page = (tmp_path / "page.md").read_text()
    assert "1 models: median 0.00%" in page and "| zoo:mlp | native, 1 thread | native, 1 thread | 0.00% | - |" in page
    assert "Without a choice:" in page and "zoo:nothing" in page


@pytest.mark.parametrize("dims, other_name", [([1, "T"], "x"), (["N", 5], "y")])
def test_open_dimensions_get_sizes_that_the_row_names(hone, tmp_path, dims, other_name):
    """The manifest names the inputs of another form, which may call them otherwise."""
    place, sizes = tmp_path / "models/one", [d if isinstance(d, int) else 3 for d in dims]
    (place / "io/s0").mkdir(parents=True)
    onnx.save(helper.make_model(helper.make_graph(
        [helper.make_node("Relu", ["x"], ["y"])], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, dims)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, dims)]), opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
        place / "m.onnx")
    np.save(place / "io/s0/in_0.npy", np.ones(sizes, np.float32))
    forms = [{"file": "m.onnx", "io": "io"}, {"file": "m.pt2", "io": "io", "inputs": [[other_name, "float", dims]]}]
    manifest = [{"id": "one", "variants": forms,
                 "cases": {"io": {"s0": {"inputs": [{"file": "in_0.npy", "shape": sizes}]}}}}]
    (tmp_path / "models/manifest.json").write_text(json.dumps(manifest))
    done = subprocess.run([sys.executable, ROOT / "bench" / "regret.py", "--hone", HONE, "--budget", "2s", "--backend", "native",
                           "--threads", "1", "--models", tmp_path / "models", "--only", "one/m.onnx", "--out", tmp_path / "page.md",
                           "--full=--rounds 3 --processes 1 --min-time 0.02 --min-samples 5 --warmup 0.02"],
                          capture_output=True, text=True, timeout=600, check=False, env={**os.environ, **hone.env})
    assert done.returncode == 0, done
    page = (tmp_path / "page.md").read_text()
    assert f"| one/m.onnx at x[{sizes[0]},{sizes[1]}] | native, 1 thread |" in page, page


def published():
    """(the page, regret in percent by model, each by its newest row, which is its first)"""
    page = (ROOT / "docs/log/regret.md").read_text()
    rows = re.findall(r"^\| ([\w:./]+)(?: at [^|]*)? \| \w+, \d threads? \| \w+, \d threads? \| ([\d.]+)% \|", page, flags=re.M)
    return page, {name: float(regret) for name, regret in reversed(rows)}


def test_the_published_sum_is_that_of_the_published_rows():
    page, regrets = published()
    values = sorted(regrets.values())
    said = re.search(r"Over all (\d+) models and files .*: median ([\d.]+)%, 95th percentile ([\d.]+)%, largest ([\d.]+)%\.", page)
    assert int(said[1]) == len(values) and [float(x) for x in said.groups()[1:]] == [
        values[int(share * len(values))] if share < 1 else values[-1] for share in (0.5, 0.95, 1)], (said, values)
    assert float(said[2]) == 0 and float(said[3]) < 5


def test_every_model_is_published_or_said_to_be_missing():
    """All of the zoo, and all files of the collection that hone reads."""
    page, regrets = published()
    missing = re.findall(r"zoo:\w+|\w+/[\w.]+", re.search(r"^Not measured: (.+?):\s", page, flags=re.M | re.S)[1])
    told = set(regrets) | set(missing)
    assert not set(regrets) & set(missing), "measured after all"
    models = {f"zoo:{name}" for name in re.findall(r"^MODEL\((\w+)", (ROOT / "zoo/models.def").read_text(), flags=re.M)}
    if (SHARED / "models/manifest.json").exists():
        models |= {f"{entry['id']}/{form['file']}" for entry in json.loads((SHARED / "models/manifest.json").read_text())
                   for form in entry["variants"] if form["file"].endswith((".onnx", ".tflite", ".pt2"))}
    assert models and not models - told, sorted(models - told)
