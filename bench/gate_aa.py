"""The gate against itself: hone gate over two copies of one build, many times, and over a build that is 3 % slower.

    gate_aa.py --hone build/hone [--runs 200] [--budget 1%] [--pairs N] [--model zoo:mlp ...] [--planted 1.03]
               [--state FILE] [--minutes N]

Every second run is disturbed by another process (bench/aa.py). The slower build is the same one whose programs' clock runs
PLANTED times as fast: real noise, a known difference. Prints false alarms among the A/A runs, with any verdict
besides those over the budget, and how often the planted one was found. Exit 1 if more than 1 % of the A/A runs fail.

--state FILE keeps every run as a line of JSON and goes on where it ended, as long as build and options are the same;
--minutes ends before the next run once so long has passed, and says how many are missing (exit 2).
"""
import argparse
import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from aa import disturb  # noqa: E402

# Its programs must be where the gate puts them, so their clock is changed in place: what now_ms of src/compiler/run/embedded/main.c
# multiplies seconds and nanoseconds by.
SLOWER = """#!/usr/bin/env python3
import pathlib, struct, subprocess, sys
done = subprocess.run([{hone!r}, *sys.argv[1:]])
if done.returncode:
    sys.exit(done.returncode)
out = pathlib.Path(sys.argv[sys.argv.index("-o") + 1])
program = out.read_bytes()
for unit in (1e3, 1e-6):
    old, new = struct.pack("<d", unit), struct.pack("<d", unit * {planted})
    if program.count(old) != 1:
        sys.exit(f"{{program.count(old)}} times {{unit}} in the program, 1 expected")
    program = program.replace(old, new)
out.write_bytes(program)
"""


def gate(options, base, new, seed):
    command = [options.hone, "gate", *options.model, "--base-build", base, "--new-build", new, "--same-too", "--fail-above",
               options.budget, "--threads", options.threads, "--seed", str(seed), "-q", "--json", "-"]
    if options.pairs:
        command += ["--pairs", str(options.pairs)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1, 5):
        sys.exit(f"{' '.join(command)}: exit {done.returncode}: {done.stderr[-500:]}")
    return int(done.returncode == 1), json.loads(done.stdout)["changes"]


def one_run(options, run, real, copy, slower):
    """One A/A gate, every fourth time one over the planted build; as a row of the state file."""
    child = disturb(run) if run % 2 else 0
    try:
        code, changes = gate(options, real, copy, run)
        return {"run": run, "alarm": code, "verdict": any(c["verdict"] in ("slower", "faster") for c in changes),
                "width": max(c["ci"][1] / c["ci"][0] - 1 for c in changes),
                "found": gate(options, real, slower, run)[0] if run % 4 == 0 else None}
    finally:
        if child:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def resumed(options):
    """Rows of the state file; it is begun anew where it was made of another build or with other options."""
    if not options.state:
        return []
    about = {"hone": hashlib.sha256(pathlib.Path(options.hone).read_bytes()).hexdigest(), "budget": options.budget,
             "pairs": options.pairs, "threads": options.threads, "planted": options.planted, "model": options.model}
    path = pathlib.Path(options.state)
    lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    if lines[:1] == [about]:
        return lines[1:][:options.runs]
    path.write_text(json.dumps(about) + "\n")
    return []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hone", required=True)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--pairs", type=int, help="default: the gate's own")
    parser.add_argument("--budget", default="1%")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--planted", type=float, default=1.03)
    parser.add_argument("--model", nargs="+", default=["zoo:mlp"])
    parser.add_argument("--state", help="file of the runs that are done")
    parser.add_argument("--minutes", type=float, default=1e9)
    options = parser.parse_args()
    rows, began = resumed(options), time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        real = os.path.realpath(options.hone)
        copy, slower = f"{folder}/copy", f"{folder}/slower"
        shutil.copy(real, copy)
        pathlib.Path(slower).write_text(SLOWER.format(hone=real, planted=options.planted))
        os.chmod(slower, 0o755)
        while len(rows) < options.runs and time.monotonic() - began < 60 * options.minutes:
            rows.append(one_run(options, len(rows), real, copy, slower))
            if options.state:
                with open(options.state, "a", encoding="utf-8") as state:
                    state.write(json.dumps(rows[-1]) + "\n")
            print(f"\r{len(rows)} of {options.runs}: {sum(r['alarm'] for r in rows)} false alarms", end="", file=sys.stderr, flush=True)
    if not rows:
        sys.exit("no run was begun")
    alarms, planted = sum(r["alarm"] for r in rows), [r["found"] for r in rows if r["found"] is not None]
    print(f"\n| runs A/A | false alarms above {options.budget} | any verdict | mean width of the interval | planted "
          f"{options.planted - 1:.0%} found |\n|--:|--:|--:|--:|--:|\n| {len(rows)} | {alarms} | {sum(r['verdict'] for r in rows)} | "
          f"{sum(r['width'] for r in rows) / len(rows):.2%} | {sum(planted)} of {len(planted)} |")
    if alarms > 0.01 * len(rows):
        return 1
    return 2 if len(rows) < options.runs else 0


if __name__ == "__main__":
    sys.exit(main())
