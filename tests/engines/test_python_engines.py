"""Engines that are called from Python, for real: those that 'hone backends install' put into this user's
data folder, the others skipped by name. Not part of 'make test': they take gigabytes."""

import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HONE = pathlib.Path(os.environ.get("HONE", ROOT / "build" / "hone")).resolve()
ENGINES = pathlib.Path(os.environ.get("XDG_DATA_HOME", "~/.local/share")).expanduser() / "hone/engines"
CASES = [("iree", ""), ("iree", "data_tiling=0"), ("iree", "device=local-sync"), ("tvm", ""),
         ("torch", "mode=eager"), ("torch", "mode=script"), ("torch", "mode=compile"), ("xla", "")]


@pytest.mark.parametrize("name,option", CASES, ids=[f"{n} {o}" for n, o in CASES])
def test_an_engine_runs_and_is_right(tmp_path, name, option):
    if not (ENGINES / name).is_dir():
        pytest.skip(f"hone backends install {name}")
    words = ["--backend-option", f"{name}.{option}"] if option else []
    result = subprocess.run(
        [HONE, "bench", "zoo:mlp", "--backend", f"{name},native", "--threads", "1", "--rounds", "1",
         "--incarnations", "1", "--min-time", "0.01", "--warmup", "0.01", "--no-measure", "--json", "-",
         "--store", tmp_path / "results.db", *words], capture_output=True, timeout=600)
    rows = {row["backend"]: row for row in json.loads(result.stdout)["records"]}
    assert rows[name]["status"] == "ok", rows[name]["reason"]
    assert rows[name]["rel_l2"] < 1e-4 and rows[name]["latency_ms"]["p50"] > 0
    assert rows[name]["engine_version"], rows[name]
