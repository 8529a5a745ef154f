"""The regret of hone recommend against measuring everything: how much slower its choice is than the fastest candidate.

    regret.py --hone build/hone [--models DIR] [--only WORD] [--budget 60s] [--backend native,onnxruntime,openvino]
              [--threads 1,2] [--full="--max-time 5"] [--state FILE] [--minutes N] [--out PAGE.md] [MODEL...]

Each model (MODELs, else the zoo's and every ONNX, TFLite and .pt2 file of DIR, a collection with a manifest.json) is given to
`hone recommend` with the budget, and then to `hone bench` with its full defaults on the same candidates, both in a store of their
own, so that nothing is known of the model beforehand. Regret is the exhaustive median of the choice by the smallest
exhaustive median, less 1; where the interval of that ratio holds 1 the exhaustive study ties them too, and the table says so.
A model that leaves dimensions open gets those of the first of its samples that the manifest names, with
their values; its row says which.
Models of which nothing runs are listed with the reason. --full gives the exhaustive study other words than its defaults.
--state FILE keeps every model as a line of JSON and goes on where it ended, as long as build and options are the same; what had no
choice is tried again; --minutes ends before the next model once so long has passed, and the page says how many are missing. Exit 1 if the median regret is above 0.5 % or the 95th percentile above
5 %.
"""
import argparse
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

LARGE = 80e6  # parameters
SUFFIXES = (".onnx", ".tflite", ".pt2")
UNIT = {"K": 1e3, "M": 1e6, "G": 1e9}


def parameters_of(line):
    """Of a row of `hone zoo list`: "... 86.6 M parameters ..."."""
    number, unit = re.search(r"([\d.]+) ?([KMG]?) parameters", line).groups()
    return float(number) * UNIT.get(unit, 1)


def run(options, *words, timeout=3600):
    began = time.monotonic()
    done = subprocess.run([options.hone, *words], capture_output=True, text=True, timeout=timeout, check=False)
    return done, time.monotonic() - began


def parsed(done):
    """The JSON on the standard output; None where the command gave none."""
    at = done.stdout.find("{")
    return json.loads(done.stdout[at:]) if at >= 0 else None


def reason_of(done, otherwise):
    """The line of the error, else the first one that was printed."""
    lines = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
    return next((line.removeprefix("hone: ") for line in lines if line.startswith("hone: ")), lines[0] if lines else otherwise)


def list_models(options):
    """The smallest first: where time ends, most models are done."""
    if options.model:
        return options.model
    done, _ = run(options, "zoo", "list")
    rows = [line for line in done.stdout.splitlines() if line.startswith("zoo:")]
    found = [(4 * parameters_of(line), line.split()[0]) for line in rows if options.large or parameters_of(line) < LARGE]
    if options.models:
        found += [(p.stat().st_size, str(p)) for p in pathlib.Path(options.models).rglob("*") if p.suffix in SUFFIXES]
    return [m for _, m in sorted(found) if not options.only or options.only in m]


def own_names(options, model):
    """Names of a model's inputs, in its order; none where it cannot be read without sizes."""
    about = parsed(run(options, "inspect", model, "--no-measure", "--json", "-")[0])
    return [one["name"] for one in about["inputs"]] if about else []


def sample_of(options, model):
    """Words that give a collection's model the sizes and values of its first sample, and the sizes; none where all is fixed."""
    root = pathlib.Path(options.models or "/nonexistent")
    entries = json.loads((root / "manifest.json").read_text()) if (root / "manifest.json").exists() else []
    for entry, variant in ((e, v) for e in entries for v in e["variants"] if pathlib.Path(model) == root / e["id"] / v["file"]):
        # of some forms the manifest names no inputs: another form's, which runs the same samples
        inputs = next((v["inputs"] for v in (variant, *entry["variants"]) if v["io"] == variant["io"] and v.get("inputs")), [])
        is_open = [any(not isinstance(d, int) for d in one[2]) for one in inputs]
        if not any(is_open):
            continue
        case, about = min(entry["cases"][variant["io"]].items())
        names = [one[0] for one in inputs]
        if not variant.get("inputs"):  # the other form's, which may call them otherwise
            own = own_names(options, model)
            names = own if len(own) == len(names) else names
        given = list(zip(is_open, names, about["inputs"]))
        shapes = ",".join(f"{name}[{','.join(map(str, x['shape']))}]" for open_one, name, x in given if open_one)
        folder = root / entry["id"] / variant["io"] / case
        return ["--shape", shapes, *(f"--input={name}={folder / x['file']}" for _, name, x in given)], shapes
    return [], ""


def key(row):
    return row["backend"], row["variant"], row["precision"], row["threads"], row["batch"]


def recommended(options, model, store, words):
    """(answer with a choice or None, why there is none, seconds)."""
    done, seconds = run(options, "recommend", model, "--budget", options.budget, "--json", "-", *store, *words)
    advice = parsed(done)
    if advice and advice.get("choice"):
        return advice, "", seconds
    rows = advice["rows"] if advice else []
    return None, rows[0]["reason"] if rows else reason_of(done, "no choice"), seconds


def judge(options, model, folder):
    """(choice, best, regret, interval of the ratio or None, seconds of both, dynamic dimensions), or the reason why there is none."""
    store = ["--store", str(folder / "store.db"), "--backend", options.backend, "--threads", options.threads, "-q"]
    words, shapes = sample_of(options, model)
    advice, reason, quick_s = recommended(options, model, store, words)
    if not advice:
        return [reason]
    store += words
    chosen = next(r for r in advice["rows"] if r["cell"] == advice["choice"])
    done, full_s = run(options, "bench", model, "--json", "-", "--fail-on", "none", "--resume", "never", *options.full.split(), *store)
    study = parsed(done)
    if not study:
        return [reason_of(done, "no study")]
    rows = [r for r in study["records"] if r["status"] == "ok" and r["latency_ms"]["p50"]]
    here = next((r for r in rows if key(r) == key(chosen)), None)
    if not here:
        return ["the choice is not in the exhaustive study"]
    best = min(rows, key=lambda r: r["latency_ms"]["p50"])
    mine, least = (r["latency_ms"]["p50_ci"] for r in (here, best))
    # rows of different thread counts take no turns with each other: their own intervals, as recommend does
    interval = [mine[0] / least[1], mine[1] / least[0]] if mine and least and None not in mine + least else None
    for c in study["comparisons"]:
        if (c["a"], c["b"]) == (here["cell"], best["cell"]):
            interval = c["ci"]
    return here, best, here["latency_ms"]["p50"] / best["latency_ms"]["p50"] - 1, interval, quick_s, full_s, shapes


def title(row):
    return f"{row['backend']}, {row['threads']} thread{'s' if row['threads'] > 1 else ''}"


def quantile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))]


def report(rows, failed, missing, options):
    regrets = [r["regret"] for r in rows]
    within = [0.0 if is_tied(r) else r["regret"] for r in rows]
    version, _ = run(options, "--version")
    words = f"bench/regret.py --budget {options.budget} --backend {options.backend} --threads {options.threads}"
    words += f' --full="{options.full}"' if options.full else ""
    lines = ["# Log: regret of the recommendation",
             f"`{words}`, {version.stdout.strip() or 'hone'}; on "
             f"this machine's {os.cpu_count()} cores {min(r['load'] for r in rows):.1f} to {max(r['load'] for r in rows):.1f} "
             "processes wanted to run (load average when a model began). Regret: exhaustive median of the choice by the smallest "
             "one, less 1.", "",
             f"{len(rows)} models{f', {missing} more not measured' if missing else ''}: median {quantile(regrets, 0.5):.2%}, 95th "
             f"percentile {quantile(regrets, 0.95):.2%}, largest {max(regrets):.2%}; beyond what the exhaustive study tells apart: "
             f"median {quantile(within, 0.5):.2%}, 95th percentile {quantile(within, 0.95):.2%}. Time: "
             f"{sum(r['quick_s'] for r in rows):.0f} s against {sum(r['full_s'] for r in rows):.0f} s.", "",
             "| model | choice | fastest | regret | told apart |", "|:--|:--|:--|--:|:--|"]
    for r in sorted(rows, key=lambda r: -r["regret"]):
        told = "-" if r["choice"] == r["best"] else "no" if is_tied(r) else "yes"
        name = f"{r['model']} at {r['shapes']}" if r.get("shapes") else r["model"]
        lines.append(f"| {name} | {r['choice']} | {r['best']} | {r['regret']:.2%} | {told} |")
    if failed:
        lines += ["", "Without a choice:", ""] + [f"- {r['model']}: {r['reason']}" for r in failed]
    return "\n".join(lines) + "\n", quantile(regrets, 0.5), quantile(within, 0.95)


def is_tied(row):
    """Whether the exhaustive study's interval of the ratio holds 1."""
    return bool(row["interval"] and row["interval"][0] is not None and row["interval"][0] <= 1)


def resumed(options):
    """Rows of the state file that have a choice, by model; it is begun anew where it was made of another build or with other
    options."""
    if not options.state:
        return {}
    about = {"hone": hashlib.sha256(pathlib.Path(options.hone).read_bytes()).hexdigest(), "budget": options.budget,
             "backend": options.backend, "threads": options.threads, "full": options.full}
    path = pathlib.Path(options.state)
    lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    if lines[:1] != [about]:
        path.write_text(json.dumps(about) + "\n")
    return {row["model"]: row for row in lines[1:] if "reason" not in row} if lines[:1] == [about] else {}


def measured(options, model, name):
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        found = judge(options, model, pathlib.Path(folder))
    if len(found) == 1:
        return {"model": name, "reason": found[0][:160]}
    here, best, regret, interval, quick_s, full_s, shapes = found
    return {"model": name, "choice": title(here), "best": title(best), "regret": regret, "interval": interval, "quick_s": quick_s,
            "full_s": full_s, "load": load, "shapes": shapes}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hone", required=True)
    parser.add_argument("--models", help="folder of a model collection")
    parser.add_argument("--only", help="part of a model's name")
    parser.add_argument("--large", action="store_true", help="the zoo's models of 80 million parameters and more, too")
    parser.add_argument("--budget", default="60s")
    parser.add_argument("--backend", default="native,onnxruntime,openvino")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--full", default="", help="words of the exhaustive study, as --full=\"--max-time 5\"")
    parser.add_argument("--state", help="file of the models that are done")
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--out", help="where the page goes; default: the standard output alone")
    parser.add_argument("model", nargs="*")
    options = parser.parse_args()
    done, rows, missing, began = resumed(options), [], 0, time.monotonic()
    root = str(pathlib.Path(options.models).resolve()) + "/" if options.models else ""
    for model in list_models(options):
        name = str(pathlib.Path(model).resolve()).removeprefix(root) if root and not model.startswith("zoo:") else model
        if name not in done:
            if time.monotonic() - began > 60 * options.minutes:
                missing += 1
                continue
            done[name] = measured(options, model, name)
            if options.state:
                with open(options.state, "a", encoding="utf-8") as state:
                    state.write(json.dumps(done[name]) + "\n")
            print(f"{name}: {done[name].get('reason') or format(done[name]['regret'], '.2%')}", file=sys.stderr, flush=True)
        rows.append(done[name])
    failed, rows = [r for r in rows if "reason" in r], [r for r in rows if "reason" not in r]
    if not rows:
        print("no model gave a choice", file=sys.stderr)
        return 1
    text, median, tail = report(rows, failed, missing, options)
    print(text, end="")
    if options.out:
        pathlib.Path(options.out).write_text(text)
    return 1 if median > 0.005 or tail > 0.05 else 0


if __name__ == "__main__":
    sys.exit(main())
