"""bench/limits.py: which steps are listed, in which order, and that reasons written by hand are kept."""

import importlib.util
import json

import pytest

from hone import ROOT


@pytest.fixture(scope="module")
def limits():
    spec = importlib.util.spec_from_file_location("limits", ROOT / "bench/limits.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def step(kernel, op, us, limit_us):
    return {"kernel": kernel, "op": op, "least_ns": 1e3 * us, "limit_ns": 1e3 * limit_us}


# 100 us: two kinds below a quarter, one that is near its limit, one that is short, one with a small share
STEPS = [step("gemm_f32", "MatMul", 60, 58), step("plain", "Gather", 10, 2), step("plain", "Gather", 5, 1),
         step("reduce_f32", "ReduceMax", 20, 1), step("plain", "TopK", 2, 0.1), step("plain", "Shape", 0.5, 0),
         step("softmax_f32", "Softmax", 2.5, 2.5)]


def run(limits, monkeypatch, tmp_path, *flags):
    keep = tmp_path / "keep.json"
    keep.write_text(json.dumps({"a/b/net.onnx": STEPS, "zoo:mlp": "E_OOM: no memory"}))
    monkeypatch.setattr("sys.argv", ["limits.py", "--keep", str(keep), *flags])
    limits.main()


def test_lists_what_there_is_most_to_win_from(limits, monkeypatch, tmp_path, capsys):
    run(limits, monkeypatch, tmp_path)
    rows = capsys.readouterr().out.splitlines()[2:]
    assert rows == ["| b/net.onnx | ReduceMax by reduce_f32 | 20.0 | 20 % | 5 % |  |",
                    "| b/net.onnx | 2 Gather by plain | 15.0 | 15 % | 20 % |  |"]


def test_thresholds(limits, monkeypatch, tmp_path, capsys):
    run(limits, monkeypatch, tmp_path, "--share", "1", "--below", "10", "--least-us", "3")
    assert [row.split(" | ")[1] for row in capsys.readouterr().out.splitlines()[2:]] == ["ReduceMax by reduce_f32"]


def test_reasons_stay(limits, monkeypatch, tmp_path):
    page = tmp_path / "page.md"
    begin, end = limits.MARKS
    page.write_text(f"before\n{begin}\n{limits.HEAD}| b/net.onnx | 3 Gather by plain | 9.0 | 9 % | 9 % | rows of 3 bytes |\n"
                    f"| gone | TopK by plain | 1 | 1 % | 1 % | old |\n{end}\nafter\n")
    run(limits, monkeypatch, tmp_path, "--write", str(page))
    text = page.read_text()
    assert text.startswith(f"before\n{begin}\n") and text.endswith(f"{end}\nafter\n")
    assert "| 2 Gather by plain | 15.0 | 15 % | 20 % | rows of 3 bytes |" in text and "old" not in text
    page.write_text("no marks\n")
    with pytest.raises(SystemExit, match="once each"):
        run(limits, monkeypatch, tmp_path, "--write", str(page))


def test_least_of_turns_and_errors(limits, tmp_path):
    hone = tmp_path / "hone"
    hone.write_text("#!/bin/sh\ncase $2 in bad*) echo 'E_FORMAT: not a model' >&2; exit 3;; esac\n"
                    f"n=$(cat {tmp_path}/n 2>/dev/null || echo 9); echo $((n - 4)) >{tmp_path}/n\n"
                    'echo "{\\"steps\\": [{\\"kernel\\": \\"k\\", \\"op\\": \\"o\\", \\"least_ns\\": $n, \\"limit_ns\\": 1}]}"\n')
    hone.chmod(0o755)
    options = type("Options", (), {"hone": str(hone), "turns": 2, "prefix": "", "threads": 1, "min_time": "0.1"})
    assert limits.profile(options, "good") == [{"kernel": "k", "op": "o", "least_ns": 5, "limit_ns": 1}]
    assert limits.profile(options, "bad") == "E_FORMAT: not a model"
