"""The node cases of onnx.backend.test against a tool that evaluates a model.

Each case ends as
  pass     every output has the right type, shape and values by the suite's own tolerance
  refused  the tool said in one sentence what it does not support
  wrong    anything else: other values, a crash, an internal error, a hang

A case that needs an operand at compile time (axes, sizes, ...) but gets it as an input runs again
with its small integer inputs as constants; it then passes with the remark "constant operands".

The status file of the tool (status.txt for the reference, native.txt for the compiler) holds the
expected end of every case, sorted, and may only improve: a case that was `pass` must pass, and nothing
may be `wrong`. --bless rewrites it.
"""

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

AT_RUN_TIME = re.compile("known only at run time|must be known at compile time")
REFUSALS = ("E_UNSUP", "E_TYPE", "E_SHAPE: open dimensions")
# Results that differ from run to run by design.
RANDOM = re.compile(r"test_(bernoulli|training_dropout)(_|$)")


def load_cases():
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        from onnx.backend.test.loader import load_model_tests

        return sorted(load_model_tests(kind="node"), key=lambda case: case.name)


class Refused(Exception):
    pass


class Wrong(Exception):
    pass


def write_inputs(folder, values):
    paths = []
    for k, value in enumerate(values):
        array = np.asarray(value) if value is not None and not isinstance(value, (list, dict)) else None
        if array is None or array.dtype.kind not in "biuf":
            raise Refused("input that no .npy file can hold")
        path = folder / f"in{k}.npy"
        np.save(path, array)
        paths.append(path)
    return paths


def run_tool(tool, folder, model, inputs):
    """Evaluates once; the outputs, or Refused with the tool's sentence."""
    onnx.save(model, folder / "model.onnx")
    prefix = folder / "out"
    command = [tool, folder / "model.onnx", prefix, *write_inputs(folder, inputs)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=60, check=False)
    except subprocess.TimeoutExpired:
        raise Wrong("no answer within 60 s") from None
    message = done.stderr.decode(errors="replace").strip()
    if done.returncode == 0:
        return [np.load(f"{prefix}{k}.npy") for k in range(len(model.graph.output))]
    if done.returncode > 0 and message.startswith(REFUSALS):
        raise Refused(message)
    raise Wrong(f"exit {done.returncode}: {message[:200]}")


def with_constant_operands(model, inputs):
    """Small integer inputs become initializers."""
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    kept, rest = [], []
    for info, value in zip(model.graph.input, inputs):
        array = np.asarray(value)
        if array.dtype.kind in "iubf" and array.ndim <= 1 and array.size <= 64:
            changed.graph.initializer.append(numpy_helper.from_array(array, info.name))
        else:
            kept.append(info)
            rest.append(value)
    del changed.graph.input[:]
    changed.graph.input.extend(kept)
    return changed, rest


def as_array(value):
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else np.asarray(value)


def compare(case, wanted, found):
    for k, (want, got) in enumerate(zip(wanted, found)):
        want = as_array(want)
        if want.dtype != got.dtype:
            raise Wrong(f"output {k} is {got.dtype}, expected {want.dtype}")
        if want.shape != got.shape:
            raise Wrong(f"output {k} has shape {got.shape}, expected {want.shape}")
        exact = want.dtype.kind in "biu"
        # one rounding more or less at each step of a half-precision graph
        rtol = max(case.rtol, 2**-9) if want.dtype == np.float16 else case.rtol
        equal = (
            np.array_equal(want, got)
            if exact
            else np.allclose(got, want, rtol=rtol, atol=case.atol, equal_nan=True)
        )
        if not equal:
            raise Wrong(f"output {k}: {got.ravel()[:6]}, expected {want.ravel()[:6]}")


def evaluate(tool, case):
    inputs, wanted = case.data_sets[0]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        remark = ""
        try:
            found = run_tool(tool, folder, case.model, inputs)
        except Refused as refusal:
            if not AT_RUN_TIME.search(str(refusal)):
                raise
            found = run_tool(tool, folder, *with_constant_operands(case.model, inputs))
            remark = "constant operands"
    if not RANDOM.match(case.name):
        compare(case, wanted, found)
    return remark


def short_reason(refusal):
    """Without the names and numbers of the one node."""
    text = str(refusal).splitlines()[0]
    text = re.sub(r"/\S+/", "", text)
    return re.sub(r"\s+", " ", text)[:150]


def judge(tool, case):
    try:
        return case.name, "pass", evaluate(tool, case)
    except Refused as refusal:
        return case.name, "refused", short_reason(refusal)
    except Wrong as error:
        return case.name, "wrong", re.sub(r"\s+", " ", str(error))[:200]


def read_status(path):
    if not path.exists():
        return {}
    rows = (line.rstrip("\n").split("\t") for line in path.open())
    return {row[0]: row[1] for row in rows if len(row) >= 2}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", required=True)
    parser.add_argument("--status", default="status.txt", help="file beside this one")
    parser.add_argument("--bless", action="store_true", help="rewrite status.txt")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("pattern", nargs="?", default="", help="only cases whose name matches")
    options = parser.parse_args()
    tool = os.path.abspath(options.tool)
    cases = [case for case in load_cases() if re.search(options.pattern, case.name)]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        rows = list(pool.map(lambda case: judge(tool, case), cases))
    counts = {s: sum(row[1] == s for row in rows) for s in ("pass", "refused", "wrong")}
    print(f"{len(rows)} cases: " + ", ".join(f"{n} {status}" for status, n in counts.items()))
    status_file = Path(__file__).with_name(options.status)
    expected = read_status(status_file)
    worse = [r for r in rows if r[1] == "wrong" or (expected.get(r[0]) == "pass" and r[1] != "pass")]
    for name, status, reason in worse:
        print(f"{status:8} {name}: {reason}")
        print(f"         repeat: {sys.executable} {__file__} --tool {options.tool} '^{name}$'")
    if options.bless and not options.pattern and not counts["wrong"]:
        status_file.write_text("".join("\t".join(row).rstrip() + "\n" for row in sorted(rows)))
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
