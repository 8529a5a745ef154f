"""A/A: identical configurations compared, many times, half of them next to a process that disturbs.

    aa.py --hone build/hone [--pairs 200] [--model zoo:mlp ...] [--backend native,onnxruntime,openvino] [--nice N]

Every study measures each configuration twice under two labels (`hone bench --aa`); any verdict other than "tie" is false. In
every second study a process of its own session keeps the second CPU busy in bursts of 20 to 500 ms. Prints a table:
pairs, false verdicts, and the half width of the ratio's interval, which is the smallest difference that shows.
Exit 1 if more than 5 % of the verdicts are false.
"""
import argparse
import ctypes
import json
import math
import os
import random
import signal
import subprocess
import sys
import tempfile
import time


PR_SET_PDEATHSIG = 1


def disturb(seed):
    """A child that computes and rests in random turns on the last CPU, as long as this process lives; returns its process id."""
    parent, child = os.getpid(), os.fork()
    if child:
        return child
    os.setsid()
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended in between
        os._exit(0)
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    turns = random.Random(seed)
    while True:
        end = time.monotonic() + turns.uniform(0.02, 0.5)
        while time.monotonic() < end:
            pass
        time.sleep(turns.uniform(0.02, 0.5))


def study(options, model, store):
    command = [options.hone, "bench", model, "--backend", options.backend, "--aa", "--resume", "never", "--store", store,
               "--json", "-", "--quiet", "--nice", str(options.nice)]
    began = time.monotonic()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    text = done.stdout.decode()
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}: {done.stderr.decode()[-500:]}")
    return json.loads(text[text.index("{"):]), time.monotonic() - began


def pairs(found):
    """(backend, p50 in ms, verdict, half width) of every A/A pair of a study, once."""
    rows = {r["cell"]: r for r in found["records"]}
    seen = set()
    for c in found["comparisons"]:
        a, b = rows[c["a"]], rows[c["b"]]
        if a["backend"] != b["backend"] or a["label"] == b["label"] or frozenset((c["a"], c["b"])) in seen:
            continue
        seen.add(frozenset((c["a"], c["b"])))
        low, high = c["ci"]
        yield a["backend"], a["latency_ms"]["p50"], c["verdict"], math.sqrt(high / low) - 1 if low else float("nan")


def table(rows, seconds):
    groups = {}
    for model, disturbed, backend, p50, verdict, width in rows:
        groups.setdefault((model, backend, disturbed), []).append((p50, verdict, width))
    print("| model | backend | disturbed | pairs | false verdicts | p50 ms | resolution, median | worst |")
    print("|---|---|---|--:|--:|--:|--:|--:|")
    for (model, backend, disturbed), of in sorted(groups.items()):
        p50, widths = sorted(x[0] for x in of), sorted(x[2] for x in of)
        false = sum(x[1] != "tie" for x in of)
        print(f"| {model} | {backend} | {'yes' if disturbed else 'no'} | {len(of)} | {false} | {p50[len(of) // 2]:.3g} "
              f"| {100 * widths[len(of) // 2]:.1f} % | {100 * widths[-1]:.1f} % |")
    false = sum(r[4] != "tie" for r in rows)
    print(f"\n{len(rows)} pairs, {false} false verdicts ({100 * false / max(1, len(rows)):.1f} %), "
          f"{seconds / max(1, 2 * len(rows)):.1f} s a cell")
    return false


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hone", default="build/hone")
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--model", action="append")
    parser.add_argument("--backend", default="native,onnxruntime,openvino")
    parser.add_argument("--nice", type=int, default=-20)
    parser.add_argument("--minutes", type=float, default=1e9, help="stop after so long, with what there is")
    options = parser.parse_args()
    models = options.model or ["zoo:mlp", "zoo:mobilenet_v3_small", "zoo:conv", "zoo:transformer"]
    rows, seconds, number, began = [], 0, 0, time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        while len(rows) < options.pairs and time.monotonic() - began < 60 * options.minutes:
            model, disturbed = models[number // 2 % len(models)], number % 2 == 1
            child = disturb(number) if disturbed else None
            try:
                found, took = study(options, model, os.path.join(folder, "aa.db"))
            finally:
                if child:
                    os.kill(child, signal.SIGKILL)
                    os.waitpid(child, 0)
            rows += [(model, disturbed, *pair) for pair in pairs(found)]
            seconds += took
            number += 1
            print(f"{len(rows)} of {options.pairs} pairs, {sum(r[4] != 'tie' for r in rows)} false", file=sys.stderr)
    return 1 if table(rows, seconds) > 0.05 * len(rows) else 0


if __name__ == "__main__":
    sys.exit(main())
