"""The gate against itself: hone gate over two copies of one build, many times, and over a build that is 3 % slower.

    gate_aa.py --hone build/hone [--runs 200] [--budget 1%] [--pairs 40] [--model zoo:mlp ...] [--planted 1.03]

Every second run has a disturber beside it (bench/aa.py). The slower build is the same one whose programs report PLANTED
times what their clock said: real noise, a known difference. Prints false alarms among the A/A runs, with any verdict
besides those over the budget, and how often the planted one was found. Exit 1 if more than 1 % of the A/A runs fail.
"""
import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from aa import disturb  # noqa: E402

SLOWER = """#!/usr/bin/env python3
import os, subprocess, sys
out = sys.argv[sys.argv.index("-o") + 1]
done = subprocess.run([{hone!r}, *[w if w != out else out + "-real" for w in sys.argv[1:]]])
if done.returncode:
    sys.exit(done.returncode)
open(out, "w").write('''#!/usr/bin/env python3
import re, subprocess, sys
real = __file__.removesuffix(".turn") + "-real"
done = subprocess.run([real, *sys.argv[1:]], capture_output=True, text=True)
print(re.sub(r"fastest ([0-9.]+)", lambda m: "fastest %.6f" % (float(m.group(1)) * {planted}), done.stdout))
sys.exit(done.returncode)
''')
os.chmod(out, 0o755)
"""


def gate(options, base, new, seed):
    command = [options.hone, "gate", *options.model, "--base-build", base, "--new-build", new, "--same-too", "--budget",
               options.budget, "--pairs", str(options.pairs), "--threads", options.threads, "--seed", str(seed), "-q", "--json", "-"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)}: exit {done.returncode}: {done.stderr[-500:]}")
    return done.returncode, json.loads(done.stdout)["changes"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hone", required=True)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--budget", default="1%")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--planted", type=float, default=1.03)
    parser.add_argument("--model", nargs="+", default=["zoo:mlp"])
    options = parser.parse_args()
    alarms = verdicts = found = widths = planted_runs = 0
    with tempfile.TemporaryDirectory() as folder:
        real = os.path.realpath(options.hone)
        copy, slower = f"{folder}/copy", f"{folder}/slower"
        shutil.copy(real, copy)
        pathlib.Path(slower).write_text(SLOWER.format(hone=real, planted=options.planted))
        os.chmod(slower, 0o755)
        for run in range(options.runs):
            child = disturb(run) if run % 2 else 0
            try:
                code, changes = gate(options, real, copy, run)
                alarms += code
                verdicts += any(c["verdict"] in ("slower", "faster") for c in changes)
                widths += max(c["ci"][1] / c["ci"][0] - 1 for c in changes)
                if run % 4 == 0:
                    planted_runs += 1
                    found += gate(options, real, slower, run)[0]
            finally:
                if child:
                    os.kill(child, signal.SIGKILL)
                    os.waitpid(child, 0)
            print(f"\r{run + 1} of {options.runs}: {alarms} false alarms, {found} of {planted_runs} planted found", end="",
                  file=sys.stderr, flush=True)
    print(f"\n| runs A/A | false alarms above {options.budget} | any verdict | mean width of the interval | planted "
          f"{options.planted - 1:.0%} found |\n|--:|--:|--:|--:|--:|\n| {options.runs} | {alarms} | {verdicts} | "
          f"{widths / options.runs:.2%} | {found} of {planted_runs} |")
    return 1 if alarms > 0.01 * options.runs else 0


if __name__ == "__main__":
    sys.exit(main())
