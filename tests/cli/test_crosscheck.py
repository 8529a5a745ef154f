"""bench/crosscheck.py: how it parses the output of the engines' own tools, how it judges, and the whole command with fake
engines and a fake hone. `make crosscheck` runs it with the real ones."""

import importlib.util
import json
import os
import subprocess
import sys

import pytest

from hone import ROOT

CASES = ROOT / "tests/cases/crosscheck"
OUTPUTS = json.loads((CASES / "outputs.json").read_text())
VERDICTS = json.loads((CASES / "verdicts.json").read_text())
PACKAGES = {"onnxruntime": ["onnxruntime"], "openvino": ["openvino"], "iree": ["onnx", "iree"],
            "torch": ["onnx", "onnx2torch", "torch"], "litert": ["ai_edge_litert"]}
PROGRAMS = ["python", "benchmark_app", "iree-compile", "iree-benchmark-module", "litert-benchmark"]
# A fake of every tool: it answers in the format of the tool whose name it was started under; identity models take FAKE_FLOOR.
PRETENDER = """
import json, os, sys
words = sys.argv[1:]
name = os.path.basename(sys.argv[0])
if name == "python":
    name, words = (("loop", words[1:]) if words[0] == "-c" else ("import", words) if words[0] == "-m" else
                   (os.path.basename(words[0]), words[1:]))
if name == "loop" and "find_spec" in words[0]:
    site = os.path.join(os.path.dirname(sys.argv[0]), "../lib/python3.11/site-packages")
    print(*[m for m in words[1:] if not os.path.isdir(os.path.join(site, m))])
    sys.exit()
if os.environ.get("FAKE_END"):
    print("a library is gone")
    sys.exit(int(os.environ["FAKE_END"]))
count = os.environ["FAKE_COUNT"]
turn = os.path.getsize(count) if os.path.exists(count) else 0
ns = [float(x) for x in os.environ["FAKE_NS"].split(",")]
ns = float(os.environ["FAKE_FLOOR"]) if any("identity" in w for w in words) else ns[turn % len(ns)]
if name == "import":
    with open(words[words.index("-o") + 1], "w") as file:
        file.write("module {\\n  func.func @main_graph(%arg0: !torch.vtensor<[4,256],f32>) -> !torch.vtensor<[4,10],f32>\\n")
elif name == "iree-compile":
    open(words[words.index("-o") + 1], "w").close()
else:
    if not any("identity" in w for w in words):
        with open(count, "a") as file:
            file.write(".")
    if name == "loop":
        print(json.dumps({"median_ns": ns}))
    elif name == "benchmark_app":
        print(f"[ INFO ]    Median:        {ns / 1e6} ms")
    elif name == "litert-benchmark":
        print(f"Inference (median):    {ns / 1e6:.2f} ms")
    else:
        assert "--function=main_graph" in words and "--input=4x256xf32=0.5" in words, words
        print(json.dumps({"benchmarks": [{"run_type": "iteration", "real_time": ns / 1e3, "time_unit": "us"}]}))
"""
HONE = """
import json, os, sys
words = sys.argv[1:]
out = words[words.index("--json" if words[0] == "bench" else "-o") + 1]
row = {"status": os.environ.get("FAKE_STATUS", "ok"), "reason": "it says so", "latency_ms": {"p50": 2.0}, "floor_ns": 1000}
with open(out, "w") as file:
    json.dump({"records": [row]}, file)
"""


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("crosscheck", ROOT / "bench/crosscheck.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["crosscheck"] = module  # dataclasses look it up
    spec.loader.exec_module(module)
    return module


def row_of(tool, name):
    return next(t for t in tool.TOOLS if t.engine == name)


@pytest.mark.parametrize("name", OUTPUTS)
def test_the_median_is_read(tool, name):
    read, text = row_of(tool, name.split(".")[0].split("-")[0]).read, (CASES / name).read_text()
    if OUTPUTS[name] is None:
        with pytest.raises((ValueError, LookupError)):
            read(text)
    else:
        assert read(text) == pytest.approx(OUTPUTS[name])


@pytest.mark.parametrize("case", VERDICTS, ids=[case["what"] for case in VERDICTS])
def test_the_verdict(tool, case):
    v = tool.judge(case["pairs"], case["floor"], case["other_floor"], case.get("rounds_to_ns", 0))
    assert v["verdict"] == case["verdict"] and v["width"] == pytest.approx(case["width"], abs=0.005), v
    assert v["low"] <= v["ratio"] <= v["high"]


def program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!{sys.executable}\n{text}")
    path.chmod(0o755)


@pytest.fixture
def crosscheck(tmp_path):
    """Runs the command with five fake environments; gives its exit code, output and rows by engine."""
    program(tmp_path / "hone", HONE)
    for engine, packages in PACKAGES.items():
        for package in [*packages, "numpy"]:
            (tmp_path / engine / "lib/python3.11/site-packages" / package).mkdir(parents=True)
        for name in PROGRAMS:
            program(tmp_path / engine / "bin" / name, PRETENDER)

    def run(ns, *words, floor=1000, without=(), **env):
        places = [f"--env={engine}={tmp_path / engine}" for engine in PACKAGES if engine not in without]
        places += [f"--env={engine}={tmp_path / 'nowhere'}" for engine in without]
        env = dict(os.environ, FAKE_NS=ns, FAKE_FLOOR=str(floor), FAKE_COUNT=str(tmp_path / "count"), **env)
        done = subprocess.run([sys.executable, ROOT / "bench/crosscheck.py", "--hone", tmp_path / "hone", "--models", "zoo:mlp",
                               "--rounds", "6", *places, *words], env=env, capture_output=True, text=True, timeout=600)
        rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in done.stdout.splitlines() if line.startswith("| zoo:")]
        return done, {row[1]: row[-1] for row in rows}

    return run


def test_figures_that_agree(crosscheck, tool):
    done, rows = crosscheck("2000000,2010000")
    assert done.returncode == 0, done
    assert rows == {t.title: "agrees" for t in tool.TOOLS}, done.stdout
    assert "load average" in done.stdout.splitlines()[0] and "may differ" not in done.stdout


def test_figures_that_differ_fail_and_say_why_they_may(crosscheck, tool):
    done, rows = crosscheck("3000000")
    assert done.returncode == 1, done
    assert rows == {t.title: "DIFFERS" for t in tool.TOOLS}, done.stdout
    for t in tool.TOOLS:
        assert f"{t.title} may differ: {t.why}" in done.stdout


def test_noise_is_undecided(crosscheck):
    done, rows = crosscheck("1500000,2700000", "--tools", "torch:eager,iree")
    assert done.returncode == 5 and set(rows.values()) == {"undecided"} and len(rows) == 2, done


def test_what_the_callers_cost_is_allowed(crosscheck):
    done, rows = crosscheck("2280000", "--tools", "openvino", floor=301000)
    assert done.returncode == 0 and rows == {"benchmark_app": "agrees"}, done
    done, rows = crosscheck("2280000", "--tools", "openvino", floor=1000)
    assert done.returncode == 1, done


def test_an_absent_tool_is_skipped_with_a_word(crosscheck, tmp_path):
    done, rows = crosscheck("2000000", without=("iree", "litert"))
    assert done.returncode == 0 and len(rows) == 3, done
    assert f"skipped: iree-benchmark-module: {tmp_path}/nowhere holds no numpy" in done.stdout
    done, rows = crosscheck("2000000", without=PACKAGES)
    assert done.returncode == 0 and not rows and "nothing was compared" in done.stdout, done
    (tmp_path / "iree/bin/iree-benchmark-module").unlink()
    done, rows = crosscheck("2000000", "--tools", "iree")
    assert "holds no iree-benchmark-module" in done.stdout and not rows, done


def test_what_breaks_is_no_agreement(crosscheck):
    done, rows = crosscheck("2000000", "--tools", "torch", FAKE_END="3")
    assert done.returncode == 1 and "exit code 3: a library is gone" in next(iter(rows.values())), done
    done, rows = crosscheck("2000000", "--tools", "torch", FAKE_STATUS="wrong")
    assert done.returncode == 1 and next(iter(rows.values())) == "FAILED: hone: wrong: it says so", done
    done, rows = crosscheck("2000000", "--tools", "torch", FAKE_STATUS="unsupported")
    assert done.returncode == 0 and next(iter(rows.values())) == "skipped: unsupported: it says so", done
    done, rows = crosscheck("2000000", "--tools", "abacus")
    assert done.returncode == 1 and "there are onnxruntime, openvino" in done.stderr, done


def test_the_page_names_every_tool_and_the_band(tool):
    text = (ROOT / "docs/understand/fairness.md").read_text()
    section = text[text.index("## Cross-check"):]
    for t in tool.TOOLS:
        assert f"| `{t.backend}` |" in section, t.backend
    assert f"{tool.TOLERANCE:.0%}".replace("%", " %") in section and f"{tool.MOST:.0%}".replace("%", " %") in section
