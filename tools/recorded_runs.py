#!/usr/bin/env python3
"""What other projects' tests run with ONNX Runtime, run by hone.

    recorded_runs.py record FOLDER [PYTEST ARGUMENT ..]    runs pytest; needs onnxruntime, and what the suite needs
    recorded_runs.py judge FOLDER [--hone build/hone] [--reference] [--every N]    needs NumPy and onnx

record keeps the model, inputs and outputs of each session's first two runs, a folder in FOLDER each, and cuts a test off that takes
longer than --seconds. judge gives each to `hone run` with the shapes of its inputs, prints a line a run that is not equal, and ends
with the table of docs/log/testing.md; it ends with 1 if an output differs."""

import argparse
import collections
import hashlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

import numpy as np

TOLERANCE = {"f": 1e-3, "d": 1e-5, "e": 1e-2}  # relative to each value; a tenth of it relative to the largest
KEPT_RUNS = 2


# -- record: pytest with this file as a plugin ----------------------------------------------------------------------------------

class TooLong(Exception):
    """A test took longer than --seconds."""


def plain_array(value):
    """An array that needs no pickle, of a sequence of maps (ZipMap) a column a key; ValueError for other sequences and maps."""
    if isinstance(value, list) and value and all(isinstance(row, dict) and row.keys() == value[0].keys() for row in value):
        value = np.array([list(row.values()) for row in value], np.float32)
    if isinstance(value, (dict, list)):
        raise ValueError("a map or a sequence")
    value = np.asarray(value)
    if value.dtype.kind == "O":
        if not all(isinstance(item, str) for item in value.ravel()):
            raise ValueError("objects")
        value = value.astype("U")
    return np.ascontiguousarray(value) if value.ndim else value


def keep(folder, test, model, order, given, got):
    seen = [(name, getattr(value, "shape", None), str(getattr(value, "dtype", type(value)))) for name, value in given.items()]
    place = folder / hashlib.sha256(model + repr(seen).encode()).hexdigest()[:12]
    if (place / "about.json").exists():
        return
    (place / "inputs").mkdir(parents=True, exist_ok=True)
    (place / "model.onnx").write_bytes(model)
    about = {"test": test, "outputs": len(got)}
    try:
        if missing := [name for name in order if name not in given]:
            raise ValueError(f"input {missing[0]} left out")
        for k, name in enumerate(order):
            np.save(place / "inputs" / f"in_{k}.npy", plain_array(given[name]))
        for k, value in enumerate(got):
            np.save(place / f"out_{k}.npy", plain_array(value))
    except ValueError as error:
        about["not_compared"] = str(error)
    (place / "about.json").write_text(json.dumps(about))


def pytest_configure():
    import onnxruntime

    folder, plain = pathlib.Path(os.environ["HONE_RECORD"]), onnxruntime.InferenceSession

    class Session(plain):
        def __init__(self, model, *arguments, **named):
            super().__init__(model, *arguments, **named)
            self.runs = 0
            self.text = model if isinstance(model, bytes) else pathlib.Path(model).read_bytes()

        def run(self, output_names, input_feed, *arguments, **named):
            got = super().run(output_names, input_feed, *arguments, **named)
            every = [output.name for output in self.get_outputs()]
            if self.runs < KEPT_RUNS and (output_names is None or list(output_names) == every):
                self.runs += 1
                test = os.environ.get("PYTEST_CURRENT_TEST", "")
                keep(folder, test, self.text, [value.name for value in self.get_inputs()], input_feed, got)
            return got

    onnxruntime.InferenceSession = Session

    def stop(*_):
        raise TooLong()
    signal.signal(signal.SIGALRM, stop)


def pytest_runtest_setup():
    signal.alarm(int(os.environ["HONE_RECORD_SECONDS"]))


def pytest_runtest_teardown():
    signal.alarm(0)


def record(options):
    options.folder.mkdir(parents=True, exist_ok=True)
    here = pathlib.Path(__file__).resolve()
    env = {**os.environ, "HONE_RECORD": str(options.folder.resolve()), "HONE_RECORD_SECONDS": str(options.seconds),
           "PYTHONPATH": os.pathsep.join(filter(None, [str(here.parent), os.environ.get("PYTHONPATH")]))}
    subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", here.stem, *options.pytest], env=env, check=False)
    print(f"{len(list(options.folder.glob('*/about.json')))} runs in {options.folder}")


# -- judge ----------------------------------------------------------------------------------------------------------------------

def with_shapes(place, target):
    """The model with the shapes of its inputs, as a run gives them."""
    import onnx

    model = onnx.load(place / "model.onnx")
    fixed = {value.name for value in model.graph.initializer}
    asked = [value for value in model.graph.input if value.name not in fixed]
    for k, value in enumerate(asked):
        if value.type.HasField("tensor_type") and (place / "inputs" / f"in_{k}.npy").exists():
            shape = value.type.tensor_type.shape
            del shape.dim[:]
            shape.SetInParent()
            for size in np.load(place / "inputs" / f"in_{k}.npy", mmap_mode="r").shape:
                shape.dim.add().dim_value = size
    onnx.save(model, target)


def difference(found, wanted):
    """What differs, or an empty text."""
    if found.shape != wanted.shape:
        return f"shape {list(found.shape)} for {list(wanted.shape)}"
    if wanted.dtype.kind == "f":
        tolerance = TOLERANCE[wanted.dtype.char]
        largest = np.max(np.abs(wanted), where=np.isfinite(wanted), initial=0)
        if np.allclose(found, wanted, rtol=tolerance, atol=tolerance / 10 * largest, equal_nan=True):
            return ""
        return f"largest difference {np.nanmax(np.abs(found - wanted)):g} of {largest:g}"
    if wanted.dtype.kind in "US":
        return "" if (found.astype("U") == wanted.astype("U")).all() else "text"
    count = int((found != wanted).sum())
    return f"{count} of {wanted.size} values" if count else ""


def judge_one(options, place):
    """(what, why)"""
    about = json.loads((place / "about.json").read_text())
    if "not_compared" in about:
        return "not compared", about["not_compared"]
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        with_shapes(place, scratch / "model.onnx")
        flags = ["--inputs", place / "inputs"] if any((place / "inputs").iterdir()) else []
        command = [options.hone, "run", scratch / "model.onnx", *flags, "-o", scratch / "out", "--quiet",
                   *(["--reference"] if options.reference else [])]
        try:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=600, check=False)
        except subprocess.TimeoutExpired:
            return "refused", "longer than ten minutes"
        if done.returncode:
            line = next((line for line in done.stderr.splitlines() if "E_" in line), f"exit code {done.returncode}")
            return ("refused" if "E_" in line and "E_INTERNAL" not in line else "differs"), line.removeprefix("hone: ")
        for k in range(about["outputs"]):
            path = scratch / "out" / f"out_{k}.npy"
            if not path.exists():
                return "differs", f"no output {k}"
            if why := difference(np.load(path), np.load(place / f"out_{k}.npy")):
                return "differs", f"output {k}: {why}"
    return "equal", ""


def judge(options):
    places = sorted(about.parent for about in options.folder.glob("*/about.json"))[::options.every]
    if not places:
        sys.exit(f"recorded_runs.py: no runs in {options.folder}")
    rows = collections.Counter()
    for place in places:
        what, why = judge_one(options, place)
        if what != "equal":
            test = json.loads((place / "about.json").read_text())["test"]
            print(f"{what} {place.name} {test.rpartition('::')[2]}: {why}", file=sys.stderr, flush=True)
        rows[what, re.sub(r'"[^"]*"|[\d.]+', "#", why)] += 1
    print("| runs | what |\n|---|---|")
    for (what, why), count in sorted(rows.items(), key=lambda row: (row[0][0] != "equal", -row[1])):
        print(f"| {count} | {what}{': ' + why if why else ' ONNX Runtime'} |")
    return any(what == "differs" for what, _ in rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    one = verbs.add_parser("record")
    one.add_argument("--seconds", type=int, default=20)
    one.add_argument("folder", type=pathlib.Path)
    one.add_argument("pytest", nargs=argparse.REMAINDER)
    two = verbs.add_parser("judge")
    two.add_argument("folder", type=pathlib.Path)
    two.add_argument("--hone", default="build/hone")
    two.add_argument("--reference", action="store_true")
    two.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    return record(options) if options.verb == "record" else judge(options)


if __name__ == "__main__":
    sys.exit(main())
