"""What a change needs before it is committed, in half a minute: check.py [--build DIR] [--seconds N]

The checks of formatting, layers, circles, length, attributes and words, then the unit tests of what changed since main (on
main: since the last commit), the closest first, as many as fit into the time. A test is close to a change in its own source
or in a header or case folder of tests/ that it names; next to a folder of src/ whose headers it includes itself; the
dependency files of the compiler (build/tests/*.d) say which tests include a folder's headers in any way.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import run  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK_SECONDS = 0.5  # of a test program
OWN, DIRECT, DISTANT = range(3)


def git(*words):
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.split() if not done.returncode else []


def changed_files():
    """Tracked and new files that differ from where the branch left main."""
    base = git("merge-base", "HEAD", "main") or ["HEAD"]
    return sorted({*git("diff", "--name-only", base[0]), *git("ls-files", "--others", "--exclude-standard")})


def included(source, seen):
    """Folders of src/ whose headers a test includes, itself or by headers of tests/unit, and those headers."""
    folders = set()
    for name in re.findall(r'^#include "([^"]+)"', source.read_text(), re.M):
        helper = source.parent / name
        if "/" not in name and helper.exists():
            if helper not in seen:
                seen.add(helper)
                folders |= included(helper, seen)
        else:
            folders.add(os.path.dirname(re.sub(r"^(\.\./)*(src/)?", "src/", name)))
    return folders


def dependencies(build, name):
    """Folders of all headers that the compiler read for a test."""
    path = ROOT / build / "tests" / f"{name}.d"
    words = path.read_text().replace("\\\n", " ").split() if path.exists() else []
    return {os.path.dirname(os.path.normpath(word.rstrip(":"))) for word in words}


def distance(source, build, changed):
    """How close a test is to the changed files; None: not at all."""
    text, seen = source.read_text(), {source}
    direct = included(source, seen)
    own = {str(path.relative_to(ROOT)) for path in seen}
    folders = {os.path.dirname(path) for path in changed} - {"tests/unit"}
    if own & set(changed) or any(folder.startswith("tests/") and re.search(rf'"{folder}["/]', text) for folder in folders):
        return OWN
    if direct & folders:
        return DIRECT
    return DISTANT if dependencies(build, source.stem) & folders else None


def choose(build, changed, durations, seconds):
    """Names of tests to run, and of those that the time leaves out."""
    found = []
    for source in sorted((ROOT / "tests/unit").glob("test_*.c")):
        how_far = distance(source, build, changed)
        if how_far is not None:
            found.append((how_far, durations.get(source.stem, 1.0) + LINK_SECONDS, source.stem))
    chosen, left_out = [], []
    for _, cost, name in sorted(found):
        seconds -= cost
        (chosen if seconds > 0 else left_out).append(name)
    return chosen, left_out


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--seconds", type=float, default=30, help="processor time for unit tests")
    options = parser.parse_args()
    os.chdir(ROOT)
    python = os.environ.get("HONE_TEST_PYTHON") or str(ROOT / "build/testenv/bin/python")
    logs = ROOT / options.build / "test-logs"
    logs.mkdir(parents=True, exist_ok=True)
    changed = changed_files()
    chosen, left_out = choose(options.build, changed, run.read_json(logs / "durations.json"), options.seconds)
    programs = [f"{options.build}/tests/{name}" for name in chosen]
    if programs and subprocess.run(["make", "-s", f"BUILD={options.build}", *programs], check=False).returncode:
        return 1
    runner = run.Runner(run.environment(options.build, python, False), logs)
    steps = [*run.checks(), *zip(chosen, ([program] for program in programs))]
    runner.run_all(steps, {}, len(os.sched_getaffinity(0)))
    print(f"{len(changed)} files changed; unit tests of them: {' '.join(chosen) or 'none'}")
    if left_out:
        print(f"no time for: {' '.join(left_out)} (make test runs them)")
    print(f"failed: {', '.join(runner.failures)}" if runner.failures else "ok: not a replacement for make test")
    return 1 if runner.failures else 0


if __name__ == "__main__":
    sys.exit(main())
