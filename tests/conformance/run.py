"""The cases of the pinned onnx package against a tool that evaluates a model.

Each case has one of these results:
  pass       every output has the right type, shape and values by the suite's own tolerance
  refused    the tool said in one sentence what it does not support
  not asked  the case never reached the tool: no file can hold one of its values
  wrong      anything else: other values, a crash, an internal error, a hang

An operand that decides a shape (axes, sizes, a Range's limits, ...) has to be a constant. A case that
gives it as an input runs again with its small integers, and those floats that decide a shape, as
constants; it then passes with the remark "constant operands".

The status file of the tool (status.txt for the reference, native.txt for the compiler) holds the
expected result of every case, sorted, and may only improve: a case that was `pass` must pass, and no case
may be `wrong`. reviewed.txt lists what compiled code refuses, with reasons (review.py writes
docs/log/conformance.md from both). --bless rewrites the status file, unless a case became worse.
"""

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

import review
import suites
import values

STATUSES = ("pass", "refused", "not asked", "wrong")
AT_RUN_TIME = re.compile("known only at run time|dynamic dimension|without an upper bound")
SENTENCE = re.compile(r"^(?:hone: )?(E_.+)", re.MULTILINE)
# Programs read and write no .npy files of strings or of types smaller than a byte.
UNREADABLE = re.compile("has element type .* which this program cannot read")
REFUSALS = ("E_UNSUP", "E_TYPE", "E_SHAPE: dynamic dimensions")
# Results that differ from run to run by design: only type and shape are compared.
RANDOM = re.compile(r"test_(bernoulli|training_dropout)(_|$)")
# The suite's float32 transform gives 2e-7 where the exact value is zero, for inputs up to 100.
NOISY = re.compile(r"test_dft_inverse(_opset19)?$")
# --level: flags of `hone compile`, and what runs the program.
LEVELS = {
    "avx2": (["--cpu", "avx2"], []),
    "portable": (["--portable"], []),
    "aarch64": (["--target", "aarch64-linux-gnu", "--cpu", "neon"], ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]),
}
# Operands that determine a shape and may be floats.
SHAPE_OPERANDS = {"Range": (0, 1, 2), "Resize": (2,), "Upsample": (1,), "OneHot": (1,)}
# The expanded form of Range is a Loop whose trip count comes from the same three scalars.
EXPANDED_RANGE = re.compile("test_range_.*_expanded$")


class Refused(Exception):
    pass


class NotAsked(Exception):
    pass


class Wrong(Exception):
    pass


def flat(info, value):
    """(name, tensor) of each tensor in a value; a sequence's elements are name.0, name.1, ..."""
    if value is None:
        return []
    if isinstance(value, (list, tuple)):
        return [(f"{info.name}.{k}", element) for k, element in enumerate(value)]
    return [(info.name, value)]


def is_open(info):
    if info.type.WhichOneof("value") != "tensor_type" or not info.type.tensor_type.HasField("shape"):
        return True
    return any(not dim.HasField("dim_value") for dim in info.type.tensor_type.shape.dim)


def write_inputs(folder, model, inputs):
    """The input files, and --shape for inputs without a fixed shape: sequences, optionals, dynamic dimensions."""
    paths, shapes = [], []
    for info, value in zip(suites.real_inputs(model), inputs):
        for name, tensor in flat(info, value):
            array = values.as_array(tensor)
            if array.dtype.kind == "O":
                raise NotAsked(f"input {name} is no array")
            path = folder / f"in{len(paths)}.npy"
            values.save(path, array)
            paths.append(path)
            if is_open(info):
                shapes.append(f"{name}[{','.join(map(str, array.shape))}]")
    return paths, ["--shape", ",".join(shapes)] if shapes else []


def read_outputs(prefix, names, model):
    """One array per output; a list of arrays for a sequence."""
    found = {name: k for k, name in enumerate(names)}
    outputs = []
    for info in model.graph.output:
        element = values.element_type(info)
        if info.name in found:
            outputs.append(values.load(f"{prefix}{found[info.name]}.npy", element))
            continue
        members = []
        while (k := found.get(f"{info.name}.{len(members)}")) is not None:
            members.append(values.load(f"{prefix}{k}.npy", element))
        outputs.append(members)
    return outputs


def called(*command):
    """The command's output; raises Refused with its message."""
    try:
        done = subprocess.run(command, capture_output=True, timeout=600, check=False)
    except subprocess.TimeoutExpired:
        raise Wrong("no answer within 600 s") from None
    message = done.stderr.decode(errors="replace").strip()
    if done.returncode == 0:
        return done.stdout.decode()
    sentence = SENTENCE.search(message)
    if UNREADABLE.search(message):
        raise NotAsked(message)
    if done.returncode > 0 and sentence and sentence[1].startswith(REFUSALS):
        raise Refused(sentence[1])
    raise Wrong(f"exit {done.returncode}: {message[:200]}")


def output_names(model, count):
    """Names of the given number of tensors; those that belong to no other output are the elements of a sequence."""
    names = []
    if sum(info.type.WhichOneof("value") != "tensor_type" for info in model.graph.output) > 1:
        raise NotAsked("whose elements the program's outputs are is not said")
    for k, info in enumerate(model.graph.output):
        rest = len(model.graph.output) - 1 - k
        is_tensor = info.type.WhichOneof("value") == "tensor_type"
        names += [info.name] if is_tensor else [f"{info.name}.{n}" for n in range(count - len(names) - rest)]
    return names


def run_tool(tool, folder, model, inputs):
    """Evaluates once; returns the outputs, or raises Refused with the tool's message."""
    onnx.save(model, folder / "model.onnx")
    prefix = folder / "output_"
    paths, shapes = write_inputs(folder, model, inputs)
    if isinstance(tool, str):
        return read_outputs(prefix, called(tool, *shapes, folder / "model.onnx", prefix, *paths).splitlines(), model)
    hone, level = tool  # a program of that level, run as a user runs it
    flags, emulator = LEVELS[level]
    called(hone, "compile", folder / "model.onnx", *shapes, *flags, "--no-cache", "-o", folder / "program")
    called(*emulator, folder / "program", *paths, "-o", folder, "--threads", "1")
    return read_outputs(prefix, output_names(model, len(list(folder.glob("output_*.npy")))), model)


def decides_shape(model, name):
    return any(
        name in [list(node.input)[k] for k in SHAPE_OPERANDS.get(node.op_type, ()) if k < len(node.input)]
        for node in model.graph.node
    )


def with_constant_operands(model, inputs):
    """Small integer inputs, and floats that determine a shape, become initializers."""
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    constants = list(changed.graph.initializer)
    kept, rest = [], []
    for info, value in zip(suites.real_inputs(model), inputs):
        array = None if value is None or isinstance(value, list) else values.as_array(value)
        small = array is not None and array.ndim <= 1 and array.size <= 64
        decides = decides_shape(model, info.name) or EXPANDED_RANGE.match(model.graph.name)
        if small and (array.dtype.kind in "iub" or decides):
            constants.append(numpy_helper.from_array(array, info.name))
        else:
            kept.append(info)
            rest.append(value)
    del changed.graph.input[:], changed.graph.initializer[:]
    changed.graph.input.extend(kept)
    changed.graph.initializer.extend(constants)
    return changed, rest


def compare_tensor(case, where, want, got):
    want = values.as_array(want)
    if want.dtype.kind == "U" and got.dtype.kind == "U":
        want, got = want.astype(object), got.astype(object)
    if want.dtype != got.dtype:
        raise Wrong(f"{where} is {got.dtype}, expected {want.dtype}")
    if want.shape != got.shape:
        raise Wrong(f"{where} has shape {got.shape}, expected {want.shape}")
    if RANDOM.match(case.name):
        return
    kind, name = want.dtype.kind, want.dtype.name
    rtol, atol = case.rtol, 1e-6 if NOISY.match(case.name) else case.atol
    if name in ("float16", "bfloat16"):  # one rounding error at each step
        rtol = max(rtol, 2**-9 if name == "float16" else 2**-6)
        want, got = want.astype(np.float32), got.astype(np.float32)
    elif kind == "V" or name.startswith(("float8", "float4", "int4", "uint4", "int2", "uint2")):
        rtol = atol = 0  # few values: exactly this one
        want, got = want.astype(np.float32), got.astype(np.float32)
    if kind in "biuO" and rtol:
        equal = np.array_equal(want, got)
    else:
        equal = np.allclose(got, want, rtol=rtol, atol=atol, equal_nan=True)
    if not equal:
        raise Wrong(f"{where}: {got.ravel()[:6]}, expected {want.ravel()[:6]}")


def compare(case, found):
    for k, (want, got) in enumerate(zip(case.wanted, found)):
        if not isinstance(want, list):
            compare_tensor(case, f"output {k}", want, got)
            continue
        if not isinstance(got, list) or len(got) != len(want):
            raise Wrong(f"output {k} is no sequence of {len(want)}")
        for n, pair in enumerate(zip(want, got)):
            compare_tensor(case, f"element {n} of output {k}", *pair)


def evaluate(tool, case):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        remark = ""
        try:
            found = run_tool(tool, folder, case.model, case.inputs)
        except Refused as refusal:
            if not AT_RUN_TIME.search(str(refusal)):
                raise
            found = run_tool(tool, folder, *with_constant_operands(case.model, case.inputs))
            remark = "constant operands"
    compare(case, found)
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
    except NotAsked as reason:
        return case.name, "not asked", str(reason)
    except Wrong as error:
        return case.name, "wrong", re.sub(r"\s+", " ", str(error))[:200]


def read_status(path):
    if not path.exists():
        return {}
    rows = (line.rstrip("\n").split("\t") for line in path.open())
    return {row[0]: row[1] for row in rows if len(row) >= 2}


def is_worse(row, expected):
    return row[1] == "wrong" or (expected.get(row[0]) == "pass" and row[1] != "pass")


def bless(path, rows, expected):
    """The rows that ran replace theirs; the others stay."""
    kept = {row[0]: row for row in (line.rstrip("\n").split("\t") for line in path.open())} if expected else {}
    kept.update({row[0]: row for row in rows})
    path.write_text("".join("\t".join(kept[name]).rstrip() + "\n" for name in sorted(kept)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", required=True, help="with --level: hone")
    parser.add_argument("--level", choices=LEVELS, help="programs of this level")
    parser.add_argument("--every", type=int, default=1, help="each so-manieth case")
    parser.add_argument("--status", default="status.txt", help="file in the folder of this one")
    parser.add_argument("--bless", action="store_true", help="rewrite the status of the cases that ran")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--kind", help="node, simple, pytorch-converted, pytorch-operator or light")
    parser.add_argument("--without", help="a kind to leave out: light takes the reference minutes")
    parser.add_argument("--verbose", action="store_true", help="print each case")
    parser.add_argument("pattern", nargs="?", default="", help="only cases whose name matches")
    options = parser.parse_args()
    tool = (os.path.abspath(options.tool), options.level) if options.level else os.path.abspath(options.tool)
    cases = [
        case
        for case in suites.load_cases()
        if re.search(options.pattern, case.name)
        and options.kind in (None, case.kind)
        and options.without != case.kind
    ][:: options.every]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        rows = list(pool.map(lambda case: judge(tool, case), cases))
    status_file = Path(__file__).with_name(options.status)
    expected = read_status(status_file)
    worse = [row for row in rows if is_worse(row, expected)]
    if options.status == "native.txt":
        worse += [row for row in rows if row[1] == "refused" and not review.reason_of(row[0]) and row not in worse]
    for name, status, reason in rows if options.verbose else worse:
        print(f"{status:9} {name}: {reason}")
        if (name, status, reason) in worse:
            level = f" --level {options.level}" if options.level else ""
            print(f"          repeat: {sys.executable} {__file__} --tool {options.tool}{level} '^{name}$'")
    if options.bless and not worse:
        bless(status_file, rows, expected)
    counts = [f"{sum(row[1] == s for row in rows)} {'passed' if s == 'pass' else s}" for s in STATUSES]
    print(", ".join(counts))
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
