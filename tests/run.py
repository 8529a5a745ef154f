"""Runs every test, one step a line, and counts: run.py [--build DIR] [--only WORD] [--jobs N] [--list]

A step is a command. Its tests are what it reports (cmocka, pytest), else the step itself is one. A failing
step shows its output and the command that repeats it; the others still run. Steps run side by side, as many as there are
cores, the longest of the last run first; steps that use the whole build or the machine run alone, at the end.
"""
import argparse
import concurrent.futures
import glob
import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
CONFORMANCE_SHORT = "_(relu|conv|matmul|gemm|softmax|reduce_sum|batchnorm|layer_norm|averagepool|maxpool|resize|gather|slice|concat)"


class Seeds:
    """Deals out the numbers that random graphs are drawn from: no two steps get the same one."""

    def __init__(self):
        self.next = 1000

    def draw(self, count):
        first, self.next = self.next, self.next + count
        return ["--seed", str(first), "--count", str(count)]


def steps(build, python):
    seeds = Seeds()
    yield "layers", ["python3", "tools/check_layers.py"]
    yield "circles", ["python3", "tools/check_circles.py"]
    yield "length", ["python3", "tools/check_length.py"]
    yield "attributes", ["python3", "tools/check_attributes.py"]
    yield "words", ["python3", "tools/check_words.py"]
    yield "format", ["make", "-s", "check-format"]
    yield "reference docs", ["tools/reference_docs.sh", f"{build}/hone", "--check"]
    for program in sorted(glob.glob(f"{build}/tests/test_*")):
        if not program.endswith(".d"):
            yield os.path.basename(program), [program]
    for program in sorted(glob.glob(f"{build}/asan/tests/test_*")):
        if not program.endswith(".d"):
            yield f"asan {os.path.basename(program)}", [program]
    yield "conformance review", [python, "tests/conformance/review.py", "--check"]
    yield "conformance", [python, "tests/conformance/run.py", "--tool", f"{build}/reference",
                           "--without", "light"]
    yield "conformance-native, short", [python, "tests/conformance/run.py", "--tool", f"{build}/native",
                                        "--status", "native.txt", CONFORMANCE_SHORT]
    for path in sorted(glob.glob("tests/cli/test_*.py")):
        yield f"cli {pathlib.Path(path).stem[5:]}", [python, "-m", "pytest", "-q", "-rsfE", "-p", "no:cacheprovider", path]
    yield "random graphs", [f"{build}/random-graphs", *seeds.draw(60)]
    yield "differential", [python, "tests/differential/run.py", "--hone", f"{build}/hone", *seeds.draw(3),
                           "--keep", f"{build}/differential"]
    yield "python package", [python, "-m", "pytest", "-q", "-rsfE", "-p", "no:cacheprovider", "tests/python"]
    yield "examples", ["make", "-s", "test-examples", f"BUILD={build}"]
    yield "install", ["tests/install.sh", build]
    yield "report page", ["tests/report/page.sh", build]
    yield "documents", ["python3", "tests/docs.py", build]


ALONE = ("examples", "install", "report page", "documents")  # they call make, or time things
# The longest steps of a first run, in seconds on two cores; later runs know their own.
LONG = {"test_compile": 340}


def ordered(all_steps, durations):
    """Longest first, those of ALONE last."""
    return sorted(all_steps, key=lambda step: (step[0] in ALONE, -durations.get(step[0], LONG.get(step[0], 10))))


def skips(output):
    """What a step left out, each with its reason: "skipped: ..." of programs and scripts, pytest's own."""
    lines = re.findall(r"(?:^|: )skipped: (.+)$", output, re.MULTILINE)
    for number, reason in re.findall(r"^SKIPPED \[(\d+)\] \S+ (.+)$", output, re.MULTILINE):
        lines += [reason] * int(number)
    return lines


def failed_tests(output):
    """The tests that a step names as failed, each with what it says of it: pytest's and cmocka's lines."""
    names = re.findall(r"^(?:FAILED|ERROR|\[  FAILED  \]) (?!\d+ test)(.+)$", output, re.MULTILINE)
    return list(dict.fromkeys(names))  # cmocka names each where it fails and once more at the end


def shown(output):
    """The end of a failing step's output, without pytest's lines of progress, which say nothing of a failure."""
    lines = [line for line in output.splitlines() if not re.fullmatch(r"[.sxXFE]+ +\[ *\d+%\]", line)]
    return "\n".join("  | " + line for line in lines[-60:])


def count(output, ok):
    """Tests that a step reports as passed, failed and left out; a step that reports none is one."""
    found = {"passed": 0, "failed": 0, "skipped": 0}
    for number in re.findall(r"\[  PASSED  \] (\d+) test", output):
        found["passed"] += int(number)
    for number in re.findall(r"\[  FAILED  \] (\d+) test\(s\), listed below", output):
        found["failed"] += int(number)
    last = output.splitlines()[-1] if output else ""
    for number, word in re.findall(r"\b(\d+) (passed|failed|error)", last):
        found["failed" if word == "error" else word] += int(number)
    found["skipped"] += len(skips(output))
    if not ok:
        found["failed"] = max(found["failed"], 1)
    elif not any(found.values()):
        found["passed"] = 1
    return found


def environment(build, python):
    """Tests leave the user's own store and cache alone but use the engines installed there."""
    env = dict(os.environ, HONE_TEST_PYTHON=python, HONE=f"{build}/hone", XDG_CACHE_HOME=str(ROOT / build / "test-cache"))
    env.update(HONE_TEST_CACHE=str(ROOT / build / "test-cache" / "shared"))  # of artifacts that several tests compile
    env.update(HONE_LIBRARY=f"{build}/libhone.so", PYTHONPATH="python")
    for library in pathlib.Path(python).parent.parent.glob("lib/python3*/site-packages/xgboost/lib/libxgboost.so"):
        env.setdefault("HONE_XGBOOST", str(library))
    env.pop("MAKEFLAGS", None)
    env.pop("MAKELEVEL", None)
    env.pop("COLUMNS", None)  # of this terminal
    return env


def first_line(command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return "not installed"
    return done.stdout.splitlines()[0] if done.returncode == 0 and done.stdout else "not working"


def platform(build, env):
    """Where the tests ran: what `hone doctor` says of processor, level and ready engines, and the compilers."""
    done = subprocess.run([f"{build}/hone", "doctor"], capture_output=True, text=True, env=env, check=False)
    rows = [line.split(None, 2) for line in done.stdout.splitlines()]
    facts = dict(re.findall(r"^(processor|code level) +ok +(.+)$", done.stdout, re.MULTILINE))
    engines = [f"{row[0]} {row[2].strip()}" for row in rows if len(row) > 2 and row[1] == "ready"]
    compilers = [first_line([name, "--version"]) for name in ("gcc", "clang")]
    return f"ran at level {facts.get('code level', '?')} on {facts.get('processor', '?')}; {'; '.join(compilers)}; {', '.join(engines)}"


class Runner:
    """Runs steps and adds up what they report."""

    def __init__(self, env, logs):
        self.env, self.logs = env, logs
        self.total = {"passed": 0, "failed": 0, "skipped": 0}
        self.failures, self.left_out, self.durations = {}, {}, {}

    def run(self, step):
        name, command = step
        began = time.monotonic()
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=self.env, check=False)
        return name, command, time.monotonic() - began, done.returncode == 0, done.stdout.decode(errors="replace")

    def report(self, name, command, seconds, is_ok, output):
        (self.logs / (re.sub(r"\W+", "_", name) + ".log")).write_text(output)
        self.durations[name] = seconds
        found = count(output, is_ok)
        for word, number in found.items():
            self.total[word] += number
        for reason in skips(output):
            self.left_out[reason] = self.left_out.get(reason, 0) + 1
        words = "".join(f"{number:5} {word}" for word, number in found.items() if number)
        print(f"{'FAILED' if found['failed'] else 'ok':7} {name:30} {seconds:7.1f} s {words}", flush=True)
        if found["failed"]:
            self.failures[name] = failed_tests(output)
            print(shown(output))
            print(f"  repeat: {' '.join(command)}", flush=True)

    def run_all(self, steps, jobs):
        """`jobs` at once; those of ALONE one after the other once the others are through."""
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for done in concurrent.futures.as_completed([pool.submit(self.run, step) for step in steps if step[0] not in ALONE]):
                self.report(*done.result())
        for step in steps:
            if step[0] in ALONE:
                self.report(*self.run(step))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--only", default="", help="steps whose name contains this")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="steps at once; default: one a core")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    os.chdir(ROOT)
    python = os.environ.get("HONE_TEST_PYTHON") or str(ROOT / "build/testenv/bin/python")
    logs = ROOT / options.build / "test-logs"
    logs.mkdir(parents=True, exist_ok=True)
    kept = logs / "durations.json"
    durations = json.loads(kept.read_text()) if kept.exists() else {}
    chosen = ordered([step for step in steps(options.build, python) if options.only in step[0]], durations)
    if options.list:
        for name, command in chosen:
            print(f"{name:30} {' '.join(command)}")
        return 0
    start = time.monotonic()
    runner = Runner(environment(options.build, python), logs)
    runner.run_all(chosen, options.jobs)
    kept.write_text(json.dumps({**durations, **runner.durations}, indent=0, sort_keys=True))
    for step, tests in runner.failures.items():
        for test in tests[:20]:
            print(f"failed: {step}: {test}")
    minutes = (time.monotonic() - start) / 60
    print(f"failed steps: {', '.join(runner.failures)}" if runner.failures else f"every step passed in {minutes:.1f} minutes")
    if runner.left_out:
        print("skipped: " + "; ".join(f"{reason}{f' ({n} times)' if n > 1 else ''}" for reason, n in runner.left_out.items()))
    print(platform(options.build, runner.env))
    total = runner.total
    skipped = f", {total['skipped']} skipped" if total["skipped"] else ""
    print(f"tests: {total['passed']} passed, {total['failed']} failed{skipped}")
    return 1 if total["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
