#!/usr/bin/env python3
"""Steps far below what the machine allows: `hone profile` of many models, as one table.

    bench/limits.py --hone build/hone [--models DIR] [--threads 1] [--turns 2] [--prefix "chrt -f 10"] [--write FILE.md] [MODEL ...]

MODEL is a file or zoo:NAME; --models adds every .onnx, .tflite and .pt2 below DIR. A row is a kind of step of a model (kernel and
operator): its share of the model's time, the part of its limit that it reaches, and why. Listed is what takes at least --share
per cent of its model's time and at least --least-us microseconds a step, and stands below --below per cent of its limit; first what
there is most to win from, share times gap. The least time of a step over all turns counts, against neighbours on the machine.

--write puts the table between the two lines of MARKS of a Markdown file. Why a step is slow is a person's finding: its cell is kept
for the same model and step, and is empty for a new one. --keep FILE.json keeps the measurement, and begins with what is in it.
"""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys

MARKS = "<!-- bench/limits.py: begin -->", "<!-- bench/limits.py: end -->"
HEAD = "| model | step | us | share | of limit | why |\n|---|---|--:|--:|--:|---|\n"
SUFFIXES = {".onnx", ".tflite", ".pt2"}


def find_models(options):
    found = []
    if options.models:
        found = sorted(str(path) for path in options.models.rglob("*") if path.suffix in SUFFIXES)
    return found + options.model


def profile(options, model):
    """The steps of one model, their least times over the turns; a str: why there are none."""
    steps = []
    for _ in range(options.turns):
        done = subprocess.run([*options.prefix.split(), options.hone, "profile", model, "--threads", str(options.threads),
                               "--min-time", options.min_time, "--json", "-"], capture_output=True, text=True, check=False)
        if done.returncode:
            return (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[0]
        turn = json.loads(done.stdout)["steps"]
        steps = steps or turn
        for step, again in zip(steps, turn):
            step["least_ns"] = min(step["least_ns"], again["least_ns"])
            known = [limit for limit in (step["limit_ns"], again["limit_ns"]) if limit]  # none: the step passed its limit
            step["limit_ns"] = min(known, default=0)
    return [{key: step[key] for key in ("kernel", "op", "least_ns", "limit_ns")} for step in steps]


def kind_of(step):
    return f"{step['op']} by {step['kernel']}"


def rows_of(options, model, steps):
    total = sum(step["least_ns"] for step in steps)
    kinds = collections.defaultdict(list)
    for step in steps:
        is_long = step["least_ns"] >= 1000 * options.least_us
        if is_long and step["limit_ns"] and step["limit_ns"] < options.below / 100 * step["least_ns"]:
            kinds[kind_of(step)].append(step)
    for kind, group in kinds.items():
        ns, limit = sum(s["least_ns"] for s in group), sum(s["limit_ns"] for s in group)
        if total and 100 * ns / total >= options.share:
            yield {"model": model, "step": kind, "count": len(group), "ns": ns, "share": ns / total, "reached": limit / ns}


def short_name(model):
    return model if model.startswith("zoo:") else "/".join(pathlib.Path(model).parts[-2:])


def cells_of(row):
    step = f"{row['count']} {row['step']}" if row["count"] > 1 else row["step"]
    return short_name(row["model"]), step


def known_reasons(text):
    """(model, kind of step): why, of the table's rows."""
    reasons = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) == 6:
            reasons[cells[0], re.sub(r"^\d+ ", "", cells[1])] = cells[5]
    return reasons


def table(rows, reasons):
    out = HEAD
    for row in sorted(rows, key=lambda row: -row["share"] * (1 - row["reached"])):
        name, step = cells_of(row)
        out += (f"| {name} | {step} | {row['ns'] / 1e3:.1f} | {100 * row['share']:.0f} % | {100 * row['reached']:.0f} % "
                f"| {reasons.get((name, row['step']), '')} |\n")
    return out


def measure(options):
    keep = pathlib.Path(options.keep) if options.keep else None
    results = json.loads(keep.read_text()) if keep and keep.exists() else {}
    for model in find_models(options):
        if model in results:
            continue
        results[model] = profile(options, model)
        if isinstance(results[model], str):
            print(f"limits.py: {short_name(model)}: {results[model]}", file=sys.stderr)
        if keep:
            keep.write_text(json.dumps(results))
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model", nargs="*")
    parser.add_argument("--hone", default="build/hone")
    parser.add_argument("--models", type=pathlib.Path)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--min-time", default="0.3")
    parser.add_argument("--prefix", default="", help="words before hone: chrt -f 10")
    parser.add_argument("--share", type=float, default=3)
    parser.add_argument("--below", type=float, default=25)
    parser.add_argument("--least-us", type=float, default=1)
    parser.add_argument("--keep")
    parser.add_argument("--write", type=pathlib.Path)
    options = parser.parse_args()
    results = measure(options)
    if not results:
        sys.exit("limits.py: no models")
    rows = [row for model, steps in results.items() if isinstance(steps, list) for row in rows_of(options, model, steps)]
    text = options.write.read_text() if options.write else ""
    if options.write and any(text.count(mark) != 1 for mark in MARKS):
        sys.exit(f"limits.py: {options.write}: the lines {MARKS[0]} and {MARKS[1]} once each")
    before, inside, after = re.split("|".join(map(re.escape, MARKS)), text) if text else ("", "", "")
    new = table(rows, known_reasons(inside))
    if options.write:
        options.write.write_text(f"{before}{MARKS[0]}\n{new}{MARKS[1]}{after}")
    else:
        print(new, end="")


if __name__ == "__main__":
    main()
