"""Runs the tests, one step a line, and counts: run.py [--full] [--all] [--build DIR] [--only WORD] [--jobs N] [--list]

A step is a command. Its tests are those that it reports (cmocka, pytest); a step that reports none is one test. A failing
step shows its output and the command that repeats it; the others still run. Steps run side by side, the longest of the last
run first; steps that call make run alone, at the end.

`make test` is the short form: a step that passed is not run again while all that it reads is unchanged (step_inputs.py);
--all runs it nevertheless, and so does --only. `make test-full` (--full) runs every step in its long form: HONE_TEST_FULL is
set, which adds the tests marked `long` of pytest and the long lists of unit tests.
"""
import argparse
import concurrent.futures
import glob
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import step_inputs  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
CONFORMANCE_SHORT = "_(relu|conv|matmul|gemm|softmax|reduce_sum|batchnorm|layer_norm|averagepool|maxpool|resize|gather|slice|concat)"
PYTEST = ["-m", "pytest", "-q", "-rsfE", "-p", "no:cacheprovider"]
CHECKS = [("layers", ["python3", "tools/check_layers.py"]), ("circles", ["python3", "tools/check_circles.py"]),
          ("length", ["python3", "tools/check_length.py"]), ("attributes", ["python3", "tools/check_attributes.py"]),
          ("words", ["python3", "tools/check_words.py"]), ("format", ["make", "-s", "check-format"])]


class Seeds:
    """Deals out the numbers that random graphs are drawn from: no two steps get the same one."""

    def __init__(self):
        self.next = 1000

    def draw(self, count):
        first, self.next = self.next, self.next + count
        return ["--seed", str(first), "--count", str(count)]


def checks():
    """The checks of the sources whose program exists."""
    return [(name, command) for name, command in CHECKS if command[0] == "make" or (ROOT / command[1]).exists()]


def steps(build, python, is_full=False):
    seeds = Seeds()
    yield from checks()
    yield "reference docs", ["tools/reference_docs.sh", f"{build}/hone", "--check"]
    for program in sorted(glob.glob(f"{build}/tests/test_*")):
        if not program.endswith(".d"):
            yield os.path.basename(program), [program]
    for program in sorted(glob.glob(f"{build}/asan/tests/test_*")):
        if not program.endswith(".d"):
            yield f"asan {os.path.basename(program)}", [program]
    yield "conformance review", [python, "tests/conformance/review.py", "--check"]
    conformance = [python, "tests/conformance/run.py", "--tool", f"{build}/reference", "--without", "light"]
    yield "conformance", conformance if is_full else [*conformance, "--every", "5"]
    yield "conformance-native, short", [python, "tests/conformance/run.py", "--tool", f"{build}/native", "--status", "native.txt",
                                        *([] if is_full else ["--every", "4"]), CONFORMANCE_SHORT]
    for path in sorted(glob.glob("tests/cli/test_*.py")):
        yield f"cli {pathlib.Path(path).stem[5:]}", [python, *PYTEST, path]
    yield "random graphs", [f"{build}/random-graphs", *seeds.draw(60 if is_full else 12)]
    yield "differential", [python, "tests/differential/run.py", "--hone", f"{build}/hone", *seeds.draw(3),
                           "--keep", f"{build}/differential"]
    yield "python package", [python, *PYTEST, "tests/python"]
    yield "examples", ["make", "-s", "test-examples", f"BUILD={build}"]
    yield "install", ["tests/install.sh", build]
    yield "report page", ["tests/report/page.sh", build]
    yield "documents", ["python3", "tests/docs.py", build]


ALONE = ("examples", "install")  # they call make
# The longest steps of a first run, in seconds on two cores; later runs know their own.
LONG = {"test_compile": 100, "cli bench": 60, "cli gate": 60, "asan test_hostile_formats": 30}


def ordered(all_steps, durations):
    """Longest first, those of ALONE last."""
    return sorted(all_steps, key=lambda step: (step[0] in ALONE, -durations.get(step[0], LONG.get(step[0], 10))))


def skips(output):
    """The skipped tests of a step with their reasons: "skipped: ..." lines of programs and scripts, and pytest's own."""
    lines = re.findall(r"(?:^|: )skipped: (.+)$", output, re.MULTILINE)
    for number, reason in re.findall(r"^SKIPPED \[(\d+)\] \S+ (.+)$", output, re.MULTILINE):
        lines += [reason] * int(number)
    return lines


def failed_tests(output):
    """The tests that a step names as failed, each with its message: pytest's and cmocka's lines."""
    names = re.findall(r"^(?:FAILED|ERROR|\[  FAILED  \]) (?!\d+ test)(.+)$", output, re.MULTILINE)
    return list(dict.fromkeys(names))  # cmocka names each failure where it occurs and again at the end


def shown(output):
    """The end of a failing step's output, without pytest's progress lines."""
    lines = [line for line in output.splitlines() if not re.fullmatch(r"[.sxXFE]+ +\[ *\d+%\]", line)]
    return "\n".join("  | " + line for line in lines[-60:])


def count(output, ok):
    """The numbers of passed, failed and skipped tests of a step; a step that reports none counts as one test."""
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


def keep_compiled_objects(folder, path):
    """PATH with a first folder whose compilers call ccache. Scripts, because hone does not pass CCACHE_DIR to its tools."""
    if not shutil.which("ccache"):
        return path
    names = ["cc", "gcc", "clang", "aarch64-linux-gnu-gcc", "arm-none-eabi-gcc", "riscv64-unknown-elf-gcc"]
    places = [place for place in path.split(":") if os.path.basename(place) != "ccache"]
    wrappers = folder / "compilers"
    wrappers.mkdir(parents=True, exist_ok=True)
    for name in names:
        script = wrappers / name
        real = shutil.which(name, path=":".join(place for place in places if place != str(wrappers)))
        text = f'#!/bin/sh\nCCACHE_DIR={folder}/ccache CCACHE_MAXSIZE=2G exec ccache {real} "$@"\n'
        if not real:
            script.unlink(missing_ok=True)
        elif not script.exists() or script.read_text() != text:
            script.write_text(text)
            script.chmod(0o755)
    return ":".join([str(wrappers), *places])


def environment(build, python, is_full):
    """Tests leave the user's own store and cache alone but use the engines installed there."""
    cache = ROOT / build / "test-cache"
    env = dict(os.environ, HONE_TEST_PYTHON=python, HONE=f"{build}/hone", XDG_CACHE_HOME=str(cache))
    env.update(HONE_TEST_CACHE=str(cache / "shared"))  # artifacts that several tests compile
    env.update(HONE_LIBRARY=f"{build}/libhone.so", PYTHONPATH="python")
    env["PATH"] = keep_compiled_objects(cache, env["PATH"])
    env.pop("HONE_TEST_FULL", None)
    if is_full:
        env["HONE_TEST_FULL"] = "1"
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
    """Where the tests ran: processor, level and ready engines as `hone doctor` says, and the compilers."""
    done = subprocess.run([f"{build}/hone", "doctor"], capture_output=True, text=True, env=env, check=False)
    rows = [line.split(None, 2) for line in done.stdout.splitlines()]
    facts = dict(re.findall(r"^(processor|code level) +ok +(.+)$", done.stdout, re.MULTILINE))
    engines = [f"{row[0]} {row[2].strip()}" for row in rows if len(row) > 2 and row[1] == "ready"]
    compilers = [first_line([name, "--version"]) for name in ("gcc", "clang")]
    return f"ran at level {facts.get('code level', '?')} on {facts.get('processor', '?')}; {'; '.join(compilers)}; {', '.join(engines)}"


def words_of(found):
    return "".join(f"{number:5} {word}" for word, number in found.items() if number)


class Runner:
    """Runs steps and adds up what they report."""

    def __init__(self, env, logs):
        self.env, self.logs = env, logs
        self.total = {"passed": 0, "failed": 0, "skipped": 0}
        self.failures, self.left_out, self.durations, self.passed = {}, {}, {}, {}
        self.processor_seconds, self.unchanged = 0.0, 0

    def run(self, step):
        """Wall time and processor time of the command, of its children too, and what it printed."""
        name, command = step
        began = time.monotonic()
        with tempfile.TemporaryFile() as output:
            child = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=self.env)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            output.seek(0)
            words = output.read().decode(errors="replace")
        seconds = time.monotonic() - began, usage.ru_utime + usage.ru_stime
        return name, command, seconds, child.returncode == 0, words

    def add(self, found, reasons):
        for word, number in found.items():
            self.total[word] += number
        for reason in reasons:
            self.left_out[reason] = self.left_out.get(reason, 0) + 1

    def repeat(self, name, before):
        """Counts a step that passed before with the same inputs."""
        self.add(before["found"], before["skips"])
        self.passed[name] = before
        self.unchanged += 1

    def report(self, key, name, command, seconds, is_ok, output):
        (self.logs / (re.sub(r"\W+", "_", name) + ".log")).write_text(output)
        wall, processor = seconds
        self.durations[name] = wall
        self.processor_seconds += processor
        found = count(output, is_ok)
        self.add(found, skips(output))
        state = "FAILED" if found["failed"] else "ok"
        print(f"{state:7} {name:30} {wall:7.1f} s {processor:7.1f} s of processor {words_of(found)}", flush=True)
        if found["failed"]:
            self.failures[name] = failed_tests(output)
            print(shown(output))
            print(f"  repeat: {' '.join(command)}", flush=True)
        elif key:
            self.passed[name] = {"key": key, "found": found, "skips": skips(output)}

    def run_all(self, steps, keys, jobs):
        """`jobs` at once; those of ALONE one after the other once the others are through."""
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for done in concurrent.futures.as_completed([pool.submit(self.run, step) for step in steps if step[0] not in ALONE]):
                name = done.result()[0]
                self.report(keys.get(name), *done.result())
        for step in steps:
            if step[0] in ALONE:
                self.report(keys.get(step[0]), *self.run(step))


def read_json(path):
    return json.loads(path.read_text()) if path.exists() else {}


def write_json(path, content):
    path.write_text(json.dumps(content, indent=0, sort_keys=True))


def print_summary(runner, options, seconds):
    for step, tests in runner.failures.items():
        for test in tests[:20]:
            print(f"failed: {step}: {test}")
    spent = f"{seconds / 60:.1f} minutes, {runner.processor_seconds / 60:.1f} of processor time"
    print(f"failed steps: {', '.join(runner.failures)}" if runner.failures else f"every step passed in {spent}")
    if runner.unchanged:
        print(f"not run again: {runner.unchanged} steps that passed and read nothing that changed since (--all runs them)")
    if runner.left_out:
        print("skipped: " + "; ".join(f"{reason}{f' ({n} times)' if n > 1 else ''}" for reason, n in runner.left_out.items()))
    print(platform(options.build, runner.env))
    total = runner.total
    skipped = f", {total['skipped']} skipped" if total["skipped"] else ""
    print(f"tests: {total['passed']} passed, {total['failed']} failed{skipped}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="every test in its long form")
    parser.add_argument("--all", action="store_true", help="also steps that passed and read nothing that changed since")
    parser.add_argument("--build", default="build")
    parser.add_argument("--only", default="", help="steps whose name matches this")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)) + 1,
                        help="steps at once; default: one more than cores, since some mostly wait")
    parser.add_argument("--list", action="store_true")
    return parser.parse_args()


def main():
    options = arguments()
    os.chdir(ROOT)
    python = os.environ.get("HONE_TEST_PYTHON") or str(ROOT / "build/testenv/bin/python")
    logs = ROOT / options.build / "test-logs"
    logs.mkdir(parents=True, exist_ok=True)
    durations, remembered = read_json(logs / "durations.json"), read_json(logs / "passed.json")
    chosen = [step for step in steps(options.build, python, options.full) if re.search(options.only, step[0])]
    chosen = ordered(chosen, durations)
    if options.list:
        for name, command in chosen:
            print(f"{name:30} {' '.join(command)}")
        return 0
    start = time.monotonic()
    runner = Runner(environment(options.build, python, options.full), logs)
    keys = {name: step_inputs.key(name, command, options.build, python, options.full) for name, command in chosen}
    if not (options.full or options.all or options.only):
        same = {name for name, key in keys.items() if key and remembered.get(name, {}).get("key") == key}
        for name in same:
            runner.repeat(name, remembered[name])
        chosen = [step for step in chosen if step[0] not in same]
    runner.run_all(chosen, keys, options.jobs)
    write_json(logs / "durations.json", {**durations, **runner.durations})
    failed = dict.fromkeys(runner.failures)
    write_json(logs / "passed.json", {**{k: v for k, v in remembered.items() if k not in failed}, **runner.passed})
    print_summary(runner, options, time.monotonic() - start)
    return 1 if runner.total["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
