"""hone gate over fake builds with given speeds, and over studies; hone bisect over commits and builds."""

import contextlib
import json
import os
import pathlib
import re
import signal
import stat
import subprocess
import sys
import xml.etree.ElementTree as xml

import numpy as np
import onnx
import pytest

import hostile
from hone import HONE, ROOT, nothing_left, refused, sound, until

# A fake build of hone: it compiles like the real one, but its programs report SCALE times the duration, with noise.
BUILD = """#!{python} -IS
import os, random, re, subprocess, sys
HONE = {hone!r}
out = sys.argv[sys.argv.index("-o") + 1]
words = [w if w != out else out + "-real" for w in sys.argv[1:]]
code = subprocess.run([HONE, *words]).returncode
if code or {fails}:
    sys.exit(code or 70)
open(out, "w").write('''#!{python} -IS
import os, random, re, subprocess, sys
random.seed(os.urandom(8))
with open({log!r}, "a") as log: print(os.stat(__file__).st_ino, file=log)
done = subprocess.run(["@real@", *sys.argv[1:-1], "1"], capture_output=True, text=True)
if done.returncode: sys.exit(done.returncode)
ms = {scale} * (1 + abs(random.gauss(0, 0.004)))
wall = ms * (1 + {noise} * random.random())
print(f"1 runs, 1 threads: fastest {{wall:.6f}} ms, median {{wall:.6f}} ms" + {processor!r}.format(ms))
'''.replace("@real@", out + "-real"))
os.chmod(out, 0o755)
"""


def build(folder, name, scale=1.0, fails=False, noise=0, processor=""):
    path = folder / name
    path.write_text(BUILD.format(python=sys.executable, hone=str(HONE), scale=scale, fails=fails, noise=noise, processor=processor, log=str(path) + ".places"))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def gate(box, base, new, *words, budget="1%", pairs=("--pairs", "20"), threads="1", **more):
    return box("gate", "zoo:mlp", "--threads", threads, "--base-build", base, "--new-build", new, "--same-too", "--fail-above", budget,
               *pairs, *words, **more)


def test_equal_builds_make_equal_programs_which_are_not_timed(hone):
    result = hone("gate", "zoo:mlp", "--threads", "1", "--base-build", HONE, "--new-build", HONE, "--fail-above", "1%", "-q")
    sound(result)
    assert "1.000x tie [1.00, 1.00]" in result.text, result.text


def test_a_planted_regression_and_a_pair_of_equals(hone, tmp_path):
    base, same, slow = build(tmp_path, "base"), build(tmp_path, "same"), build(tmp_path, "slow", 1.03)
    result = gate(hone, base, same)
    sound(result)
    assert "0 regressions above 1" in result.text
    result = gate(hone, base, slow, "--junit", tmp_path / "g.xml", "--md", tmp_path / "g.md", "--comment", tmp_path / "c.md",
                  "--json", tmp_path / "g.json", env={"GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")})
    assert result.code == 1 and "1 regression above 1" in result.text, result
    suite = xml.parse(tmp_path / "g.xml").getroot().find("testsuite")
    assert suite.get("failures") == "1"
    change = json.loads((tmp_path / "g.json").read_text())["changes"][0]
    assert change["ci"][0] > 1.01 and abs(change["ratio"] - 1.03) < 0.01
    assert "in random order" in (tmp_path / "g.md").read_text()
    comment = (tmp_path / "c.md").read_text()
    assert comment.startswith("### Slower") and "slower" in comment.splitlines()[4] and "<details>" in comment
    assert (tmp_path / "g.md").read_text().startswith((tmp_path / "summary.md").read_text())
    assert gate(hone, base, slow, budget="5%").code == 0  # slower, and within what is allowed


def test_both_turns_of_a_pair_have_one_place(hone, tmp_path):
    """Both programs of a pair are written to the same file, so that page placement is not taken for speed. Each pair gets a new file."""
    sound(gate(hone, build(tmp_path, "base"), build(tmp_path, "same")))
    base, same = ((tmp_path / f"{name}.places").read_text().split() for name in ("base", "same"))
    assert base == same and len(base) == 1 + 20
    assert all(this != that for this, that in zip(base, base[1:])), base


def test_as_many_pairs_as_the_models_own_time_allows(hone, tmp_path):
    """Runs of 50 ms, as these programs say: the fewest. tests/unit/test_duel.c has the others."""
    sound(gate(hone, build(tmp_path, "base", 50), build(tmp_path, "same", 50), pairs=()))
    assert len((tmp_path / "same.places").read_text().split()) == 1 + 40


def test_long_runs_are_their_processors_time(hone, tmp_path):
    """Runs of 2 ms that neighbours lengthen up to threefold: 3 % are found by what the processor gave, and only where both say it."""
    says = {"noise": 2, "processor": ", processor {:.6f} ms"}
    base, slow = build(tmp_path, "base", 2.0, **says), build(tmp_path, "slow", 2.06, **says)
    result = gate(hone, base, slow)
    assert result.code == 1 and "1 regression above 1" in result.text, result
    silent = build(tmp_path, "silent", 2.0, noise=0)
    result = gate(hone, silent, build(tmp_path, "other", 2.0, processor=", processor 100 ms"), "--json", "-")
    sound(result)
    assert abs(json.loads(result.text)["changes"][0]["ratio"] - 1) < 0.01, result


def test_programs_say_their_processors_time(hone, tmp_path):
    program = tmp_path / "program"
    sound(hone("compile", "zoo:mlp", "-o", program, "-q", "--threads", "2"))
    np.save(tmp_path / "x.npy", np.zeros((4, 256), np.float32))
    for threads in "12":
        said = subprocess.run([program, tmp_path / "x.npy", "-o", tmp_path, "--threads", threads, "--repeat", "5"], capture_output=True,
                              text=True, check=True).stdout.strip()
        assert re.fullmatch(rf"5 runs, {threads} threads: fastest (\S+) ms, median (\S+) ms, processor \d+\.\d+ ms", said), said


@pytest.mark.long
def test_several_threads_by_the_clock_where_it_tells(hone, tmp_path):
    """If noise leaves the wall-clock interval across the budget, processor time detects 3 %; on a quiet machine more processor time
    alone does not count as a regression."""
    says = {"noise": 2, "processor": ", processor {:.6f} ms"}
    base, slow, same = (build(tmp_path, name, scale, **says) for name, scale in (("base", 2.0), ("slow", 2.06), ("same", 2.0)))
    result = gate(hone, base, slow, threads="2")
    assert result.code == 1 and "1 multi-threaded configuration was compared by processor time" in result.text, result
    result = gate(hone, base, same, threads="2")
    sound(result)
    assert "compared by processor time, because" in result.text, result
    quiet, shared = (build(tmp_path, name, 2.0, processor=f", processor {ms} ms") for name, ms in (("quiet", 2.0), ("shared", 2.4)))
    result = gate(hone, quiet, shared, threads="2", budget="2%")
    sound(result)
    assert "compared by processor time, because" not in result.text, result


def test_a_build_that_fails_breaks_the_cell(hone, tmp_path):
    result = gate(hone, build(tmp_path, "base"), build(tmp_path, "broken", fails=True))
    assert result.code == 1 and "broken" in result.text, result
    result = gate(hone, build(tmp_path, "worse", fails=True), build(tmp_path, "good"))
    assert result.code == 5 and "only after" in result.text, result


def test_a_file_in_the_working_folder_with_open_sizes(hone, tmp_path):
    """The path and the sizes are as the user gives them; the weights are in the same or in another folder."""
    weights = np.ones((64, 64), np.float32)
    onnx.save_model(onnx.helper.make_model(onnx.helper.make_graph(
        [onnx.helper.make_node("MatMul", ["x", "w"], ["y"])], "g",
        [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["N", "T", 64])],
        [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["N", "T", 64])],
        [onnx.numpy_helper.from_array(weights, "w")]), opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8),
        hone.folder / "open.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    words = ["gate", "open.onnx", "--threads", "1", "--base-build", HONE, "--pairs", "12", "--same-too", "--fail-above", "1000%"]
    result = hone(*words, "--shape", "x[2,5,64]")
    sound(result)
    assert "0 regressions" in result.text, result
    (hone.folder / "elsewhere").mkdir()
    (hone.folder / "w.bin").rename(hone.folder / "elsewhere" / "w.bin")
    sound(hone(*words, "--shape", "x[2,5,64]", "--side-files-from", "elsewhere"))
    refused(hone(*words, "--shape", "x[2,5,64]"), "E_NOFILE E_PATH", "w.bin")


def test_the_same_program_needs_no_clock(hone, tmp_path):
    result = hone("gate", "zoo:mlp", "--threads", "1", "--base-build", HONE, "--pairs", "12")
    sound(result)
    assert "0 regressions" in result.text and "tie" in result.text


def test_usage(hone, tmp_path):
    refused(hone("gate", "zoo:mlp"), "E_USAGE", "--baseline")
    refused(hone("gate", "zoo:mlp", "--base-build", tmp_path / "nothing"), "E_MISSING")
    refused(hone("gate", "--base-build", HONE), "E_USAGE", "no model")
    for spelling in ("--fail-above", "--budget"):  # the second is the earlier one of gate and bisect
        refused(hone("gate", "zoo:mlp", "--base-build", HONE, spelling, "much"), "E_USAGE", "per cent")
    refused(hone("compare", "a", "b", "--budget", "5%"), "E_USAGE", "no such flag")
    refused(hone("gate", "zoo:mlp", "--baseline", "x.json", "--new-build", HONE), "E_USAGE", "--base-build")
    for words in (["--pairs", "20"], ["--same-too"], ["--false-alarms", "1%"]):
        refused(hone("gate", "zoo:mlp", "--baseline", "x.json", *words), "E_USAGE", "goes with --base-build")
    for words in (["--rounds", "9"], ["--store", "s.db"], ["--engine", "native=x"], ["--backend-option", "native.x=y"]):
        refused(hone("gate", "zoo:mlp", "--base-build", HONE, *words), "E_USAGE", "goes with --baseline")
    refused(hone("bisect", "a", "b", "--run", HONE, "--fail-above", "5%"), "E_USAGE", "goes with --on")
    refused(hone("bisect", "a", "b"), "E_USAGE", "--on")
    refused(hone("bisect", "a..b", "--repository", tmp_path, "--run", HONE), "E_USAGE", "git")


QUICK = ["--rounds", "12", "--processes", "3", "--min-time", "0.01", "--min-samples", "5", "--warmup", "0.005"]


@pytest.mark.long
def test_a_study_against_a_baseline(hone, tmp_path):
    """Fake engines, whose times the test sets: equal, then a baseline that was ten times as fast."""
    env = {"HONE_TESTING": "1"}
    model = tmp_path / "model.onnx"
    model.write_bytes(hostile.identity().SerializeToString())
    sound(hone("bench", model, "--backend", "fake", "--threads", "1", "--json", "main.json", *QUICK, "--no-measure", "--resume",
               "never", env=env))
    result = hone("gate", model, "--baseline", "main.json", "--fail-above", "900%", *QUICK, env=env)
    sound(result)
    study = json.loads((hone.folder / "main.json").read_text())
    for record in study["records"]:
        low = record["latency_ms"]["p50"] / 100
        record["latency_ms"].update(p50=low, p50_ci=[low * 0.99, low * 1.01])
    (hone.folder / "fast.json").write_text(json.dumps(study))
    result = hone("gate", model, "--baseline", "fast.json", "--fail-above", "5%", *QUICK, env=env)
    assert result.code == 1 and "measured twice" in result.text and "again" in result.errors, result
    study["fingerprint"] = study["study"]["fingerprint"] = "0" * 32
    (hone.folder / "elsewhere.json").write_text(json.dumps(study))
    result = hone("gate", model, "--baseline", "elsewhere.json", "--fail-above", "5%", "--junit", "e.xml", "--comment", "e.md", *QUICK,
                  env=env)
    assert result.code == 5 and "another machine" in result.text and "0 regressions" in result.text, result
    assert 0 <= result.errors.find("no verdicts") < result.errors.find("a new study"), result  # said before the work
    suite = xml.parse(hone.folder / "e.xml").getroot().find("testsuite")
    assert suite.get("failures") == "0" and suite.get("skipped") == suite.get("tests") != "0"
    assert (hone.folder / "e.md").read_text().startswith("### Nothing could be decided")


@pytest.mark.long
def test_a_baseline_is_no_command_line(hone, tmp_path):
    """A model name that begins with "-" is not taken for a flag; an engine's variant is measured as that variant."""
    env = {"HONE_TESTING": "1"}
    sound(hone("bench", "zoo:mlp", "zoo:conv", "--backend", "native:unpinned", "--threads", "1", "--json", "main.json", *QUICK,
               "--no-measure", "--resume", "never", env=env))
    result = hone("gate", "--baseline", "main.json", "--fail-above", "10000%", "--json", "g.json", *QUICK, env=env)
    sound(result)
    rows = json.loads((hone.folder / "g.json").read_text())["changes"]
    assert [(r["model"], r["variant"], r["status_after"]) for r in rows] == \
        [(m, "unpinned", "ok") for m in ("zoo:mlp", "zoo:conv")]
    study = json.loads((hone.folder / "main.json").read_text())
    study["records"][1]["model"] = "--html=owned.html\x1b[31m"
    (hone.folder / "evil.json").write_text(json.dumps(study))
    for more in (QUICK, ["--base-build", HONE]):
        result = hone("gate", "--baseline", "evil.json", *more, env=env)
        assert result.code not in (0, 1) and "./--html=owned.html" in result.errors and "\x1b" not in result.errors, result
    assert not list(hone.folder.glob("owned*"))


# -- bisect ---------------------------------------------------------------------------------------------

@pytest.fixture
def repository(tmp_path):
    """Twelve commits; from number 8 on the file says slow."""
    folder = tmp_path / "repository"
    folder.mkdir()
    names = []

    def git(*words):
        return subprocess.run(["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@b", *words], check=True,
                              capture_output=True, text=True).stdout.strip()

    git("init", "-q")
    for i in range(12):
        (folder / "speed").write_text(f"{'slow' if i >= 8 else 'fast'} {i}\n")
        git("add", "speed")
        git("commit", "-q", "-m", f"number {i}")
        names.append(git("rev-parse", "HEAD"))
    return folder, names


def judge(folder, text):
    path = folder / "judge.py"
    path.write_text(f"#!{sys.executable} -IS\nimport pathlib, random, sys\n" + text)
    path.chmod(0o755)
    return path


def test_the_first_bad_commit(hone, repository, tmp_path):
    folder, names = repository
    program = judge(tmp_path, "sys.exit('slow' in pathlib.Path('speed').read_text())")
    result = hone("bisect", f"{names[0]}..{names[-1]}", "--repository", folder, "--run", program, "--error-share", "0", "--json", "-",
                  "-q")
    sound(result)
    found = json.loads(result.text)
    assert found["first_bad"] == names[8] and found["last_good"] == names[7] and found["sure"] == 1
    assert len(found["asked"]) <= 2 + 4
    worktrees = subprocess.run(["git", "-C", folder, "worktree", "list"], capture_output=True, text=True, check=True).stdout
    assert len(worktrees.splitlines()) == 1 and (folder / "speed").read_text() == "slow 11\n"


def test_verdicts_that_err_are_repeated(hone, repository, tmp_path):
    """Every tenth verdict is wrong, in a fixed order: without repetition the first wrong one decides."""
    folder, names = repository
    program = judge(tmp_path, f"""
count = pathlib.Path({str(tmp_path / 'count')!r})
n = int(count.read_text()) + 1 if count.exists() else 1
count.write_text(str(n))
sys.exit(('slow' in pathlib.Path('speed').read_text()) != (n % 6 == 0))
""")
    result = hone("bisect", f"{names[0]}..{names[-1]}", "--repository", folder, "--run", program, "--error-share", "17%", "--json", "-",
                  "-q")
    sound(result)
    found = json.loads(result.text)
    assert found["first_bad"] == names[8] and found["sure"] >= 0.99 and len(found["asked"]) > 8


def test_commits_that_cannot_be_judged(hone, repository, tmp_path):
    folder, names = repository
    program = judge(tmp_path, "words = pathlib.Path('speed').read_text().split()\n"
                              "sys.exit(125 if words[1] in ('7', '8') else words[0] == 'slow')")
    result = hone("bisect", f"{names[0]}..{names[-1]}", "--repository", folder, "--run", program, "--error-share", "0", "--json", "-", "-q")
    sound(result)
    assert json.loads(result.text)["candidates"] == names[7:10]
    stop = judge(tmp_path, "sys.exit(200)")
    refused(hone("bisect", f"{names[0]}..{names[-1]}", "--repository", folder, "--run", stop), "E_CRASH", "stopped")
    same = judge(tmp_path, "sys.exit(0)")
    refused(hone("bisect", f"{names[0]}..{names[-1]}", "--repository", folder, "--run", same), "E_USAGE", "nothing to find")


def test_an_interrupted_search_leaves_nothing(hone, repository, tmp_path):
    """From a folder of the repository; not a worktree in it, a file or a process is left."""
    folder, names = repository
    before = sorted(p for p in folder.rglob("*") if p.name != "index")
    (folder / "deep").mkdir()
    program = judge(tmp_path, f"import time\npathlib.Path({str(tmp_path / 'began')!r}).touch()\ntime.sleep(600)\n")
    child = hone.start("bisect", f"{names[0]}..{names[-1]}", "--run", program, cwd=folder / "deep")
    until((tmp_path / "began").exists)
    child.send_signal(signal.SIGTERM)
    assert "stopped by" in child.communicate(timeout=600)[1].decode() and child.returncode == 130
    nothing_left(tmp_path)
    (folder / "deep").rmdir()
    assert sorted(p for p in folder.rglob("*") if p.name != "index") == before
    assert not list((hone.folder / "tmp").iterdir())


def test_the_example_that_judges_a_commit(hone, tmp_path):
    """examples/is-fast.sh over five commits: the third is 10 % slower, the second cannot be built."""
    folder, names = tmp_path / "repository", []
    folder.mkdir()

    def git(*words):
        return subprocess.run(["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@b", *words], check=True,
                              capture_output=True, text=True).stdout.strip()

    git("init", "-q")
    for i in range(5):
        build(folder, "hone.py", 1.1 if i >= 2 else 1.0)
        recipe = "exit 1" if i == 1 else "mkdir -p build && cp hone.py build/hone"
        (folder / "Makefile").write_text(f"build/hone: hone.py Makefile\n\t{recipe}  # {i}\n")
        git("add", "hone.py", "Makefile")
        git("commit", "-q", "-m", f"number {i}")
        names.append(git("rev-parse", "HEAD"))
    env = {"HONE": str(HONE), "GOOD": str(build(tmp_path, "good")), "GATE_FLAGS": "--threads 1 --pairs 14 --same-too"}
    result = hone("bisect", f"{names[0]}..{names[-1]}", "--repository", folder, "--run", ROOT / "examples/is-fast.sh", "--error-share",
                  "0", "--json", "-", "-q", env=env)
    sound(result)
    assert json.loads(result.text)["candidates"] == names[1:3], result


@pytest.mark.long
def test_builds_by_the_gate(hone, tmp_path):
    """A list of builds, the third of five 10 % slower: found by hone gate itself."""
    builds = [build(tmp_path, f"build{i}", 1.1 if i >= 2 else 1.0) for i in range(5)]
    result = hone("bisect", *builds, "--on", "zoo:mlp", "--threads", "1", "--fail-above", "3%", "--pairs", "14", "--error-share", "0")
    sound(result)
    assert str(builds[2]) in result.text and "first bad" in result.text, result


# -- the workflow in examples/ ---------------------------------------------------------------------------

def test_the_example_workflow(hone, tmp_path):
    """Its own commands in a folder of their own: two equal builds pass, one that is slower fails, and is commented on."""
    text = (ROOT / "examples" / "github-gate.yml").read_text()
    steps = [re.sub(r"^ {10}", "", block, flags=re.M) for block in re.findall(r"run: \|\n((?: {10}.*\n|\n)+)", text)]
    steps = [s for s in steps if "hone gate" in s]
    assert len(steps) == 1
    (tmp_path / "new" / "build").mkdir(parents=True)
    (tmp_path / "base" / "build").mkdir(parents=True)
    os.symlink(HONE, tmp_path / "new" / "build" / "hone")
    real = tmp_path / "new" / "build" / "hone"
    for scale, code in ((1.0, 0), (1 / 1.5, 1)):
        base = build(tmp_path / "base" / "build", "hone", scale)
        new = build(tmp_path, "as-it-is", 1.0)
        env = {**hone.env, "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"), "MODELS": "zoo:mlp", "BUDGET": "5%",
               "GATE_FLAGS": f"--threads 1 --pairs 14 --same-too --new-build {new}"}
        done = subprocess.run(["bash", "-eo", "pipefail", "-c", steps[0]], cwd=tmp_path, env=env, capture_output=True, text=True,
                              timeout=600, check=False)
        assert done.returncode == code, done
        assert base.exists() and real.exists()
    assert (tmp_path / "comment.md").read_text().startswith("### Slower")
    assert (tmp_path / "gate.xml").exists() and "regression" in (tmp_path / "summary.md").read_text()


def children_of(pid):
    try:
        return [int(n) for n in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def is_alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_no_disturber_outlives_the_gates_of_itself(tmp_path, number):
    """bench/gate_aa.py ends while its second gate, the first with a disturber, does not."""
    stand_in = tmp_path / "hone"
    stand_in.write_text(f"""#!/bin/sh
case "$*" in
  *"--seed 0 "*) echo '{{"changes": [{{"verdict": "tie", "ci": [1, 1]}}]}}' ;;
  *) echo $$ >{tmp_path}/second; exec sleep 600 ;;
esac
""")
    stand_in.chmod(0o755)
    script = subprocess.Popen([sys.executable, ROOT / "bench/gate_aa.py", "--hone", stand_in, "--runs", "2"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until(lambda: (tmp_path / "second").exists() and (tmp_path / "second").read_text().strip())
    second = int((tmp_path / "second").read_text())
    disturbers = [pid for pid in children_of(script.pid) if pid != second]
    try:
        assert len(disturbers) == 1 and is_alive(disturbers[0])
        script.send_signal(number)
        script.wait(timeout=600)
        until(lambda: not is_alive(disturbers[0]), 60)
    finally:
        for pid in (second, *disturbers):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
