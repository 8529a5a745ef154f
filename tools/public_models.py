"""Networks of public libraries, built small with seeded weights (tests/public-models.txt), exported as people export them and
run by hone: torch.export's archive (pt2), torch.onnx.export by way of it (dynamo) and through TorchScript (script).

    public_models.py export FOLDER [WORD ..] [--forms pt2,script]    needs torch, onnx, onnxscript and the libraries
    public_models.py judge FOLDER [WORD ..] [--hone build/hone] [--reference]     needs NumPy and onnx; onnxruntime if it is there

Each network is a folder in FOLDER with its inputs, PyTorch's outputs and the three files, or why one could not be made;
what is there is not made again. WORD: only such names. judge prints a line a file and counts; it ends with 1 if an output is wrong."""

import argparse
import collections
import importlib
import inspect
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import zipfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
FORMS = {"pt2": "m.pt2", "dynamo": "dynamo.onnx", "script": "script.onnx"}
RELATIVE, LARGEST = 1e-4, 1e-3  # docs/measuring.md: of the L2 norm, of the largest value
SECONDS = 600


def lines(words):
    for line in (ROOT / "tests/public-models.txt").read_text().splitlines():
        name, *settings = line.split()
        if name != "#" and (not words or any(word in name for word in words)):
            yield name, settings


# -- export


def doubled(inputs):
    """A batch of one is a batch of one for ever: two of all."""
    import torch
    return tuple(torch.cat([x, x]) for x in inputs)


def save(form, module, inputs, path, is_open):
    import torch
    dims = [{0: "batch", **({1: "length"} if x.dtype == torch.int64 and x.dim() == 2 else {})} if is_open else {} for x in inputs]
    if form == "script":
        names = [f"x{k}" for k in range(len(inputs))]
        return torch.onnx.export(module, inputs, path, dynamo=False, input_names=names, opset_version=17,
                                 dynamic_axes=dict(zip(names, dims)) if is_open else None)
    auto = tuple({d: torch.export.Dim.AUTO for d in x} for x in dims)
    is_list = "inputs" in inspect.signature(module.forward).parameters  # forward(*inputs)
    program = torch.export.export(module, inputs, dynamic_shapes=((auto,) if is_list else auto) if is_open else None)
    if form == "pt2":
        return torch.export.save(program, path)
    return torch.onnx.export(program, (), path, external_data=False, opset_version=18, verbose=False)


def export_one(name, settings, folder, forms):
    import torch
    from hone import _zoo
    is_open = "open" in settings
    given = dict(_zoo._setting(word) for word in settings if word != "open")
    module, inputs = _zoo.build(name, None, given.pop("size", None), given, 0)
    inputs = doubled(inputs) if is_open else inputs
    wanted = [x for x in torch.utils._pytree.tree_leaves(module(*inputs)) if isinstance(x, torch.Tensor)]
    for stem, arrays in (("in", inputs), ("want", wanted)):
        for k, x in enumerate(arrays):
            np.save(folder / f"{stem}_{k}.npy", x.numpy())
    for form in forms:
        begin, path = time.monotonic(), folder / FORMS[form]
        try:
            save(form, module, inputs, str(path), is_open)
            print(f"{name} {form}: {time.monotonic() - begin:.0f} s", flush=True)
        except Exception as error:
            path.unlink(missing_ok=True)
            said = re.sub(r"\s+", " ", f"{type(error).__name__}: {error}")
            (folder / f"{path.name}.why").write_text(said[:2000])
            print(f"{name} {form}: {said[:150]}", flush=True)


def in_a_child(folder, work):
    """What an exporter breaks is gone with it."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)
    signal.alarm(SECONDS)
    log = os.open(folder / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    sys.stdout = os.fdopen(os.dup(1), "w")
    os.dup2(log, 1)
    os.dup2(log, 2)
    try:
        work()
    except BaseException as error:
        (folder / "why").write_text(f"{type(error).__name__}: {error}"[:2000])
        print(f"{folder.name} is not built: {error!r:.150}", flush=True)
    os._exit(0)


def export(root, words, forms):
    """What all need is imported, and used once, before the first child."""
    import torch
    sys.path.insert(0, str(ROOT / "python"))
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    for library in {name.partition(":")[0] for name, _ in lines(words)}:
        importlib.import_module(library)
    with tempfile.TemporaryDirectory() as folder:
        for form in forms:
            save(form, torch.nn.Linear(2, 2), (torch.ones(1, 2),), f"{folder}/{FORMS[form]}", False)
    for name, settings in lines(words):
        folder = root / name.replace(":", "-")
        folder.mkdir(parents=True, exist_ok=True)
        missing = [f for f in forms if not any((folder / (FORMS[f] + end)).exists() for end in ("", ".why"))]
        if missing and not (folder / "why").exists():
            in_a_child(folder, lambda: export_one(name, settings, folder, missing))


# -- judge


def input_names(path):
    """Of the file's inputs, in the order in which PyTorch was given them."""
    if path.suffix == ".onnx":
        import onnx
        graph = onnx.load(path, load_external_data=False).graph
        held = {x.name for x in graph.initializer}
        return [x.name for x in graph.input if x.name not in held]
    with zipfile.ZipFile(path) as archive:
        about, = [n for n in archive.namelist() if n.endswith("models/model.json")]
        specs = json.loads(archive.read(about))["graph_module"]["signature"]["input_specs"]
    return [s["user_input"]["arg"]["as_tensor"]["name"] for s in specs if "user_input" in s]


def apart(got, want):
    """"" or in which way they differ too much."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype}{list(got.shape)} for {want.dtype}{list(want.shape)}"
    if want.dtype.kind != "f":
        return f"{np.count_nonzero(got != want)} of {want.size} differ" if (got != want).any() else ""
    known = np.isfinite(want)
    if (got[~known] != want[~known]).any() and not np.isnan(want[~known]).all() or not np.isfinite(got[known]).all():
        return "not finite in other places"
    off = np.abs(got[known].astype(float) - want[known])
    whole = np.linalg.norm(want[known].astype(float))
    if np.linalg.norm(off) <= RELATIVE * whole and off.max(initial=0) <= LARGEST * np.abs(want[known]).max(initial=0):
        return ""
    return f"relative L2 {np.linalg.norm(off) / max(whole, 1e-30):.1e}"


def by_onnxruntime(path, given):
    try:
        import onnxruntime
    except ImportError:
        return None
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"]).run(None, given)
    except Exception:
        return None


def arrays(folder, stem):
    found = []
    while (folder / f"{stem}_{len(found)}.npy").exists():
        found.append(np.load(folder / f"{stem}_{len(found)}.npy"))
    return found


def differs(got, wanted):
    if len(got) < len(wanted):
        return f"{len(got)} outputs for {len(wanted)}"
    return next(filter(None, (apart(a, b) for a, b in zip(got, wanted))), "")


def judge_one(hone, folder, path, mode):
    """A word, and what goes with it."""
    if not path.exists():
        why = folder / f"{path.name}.why"
        return "not exported", why.read_text()[:100] if why.exists() else "its process died"
    given = dict(zip(input_names(path), arrays(folder, "in")))
    words, shapes = [], []
    for k, (name, x) in enumerate(given.items()):
        words += ["--input", f"{name}={folder}/in_{k}.npy"]
        shapes.append(f"{name}[{','.join(map(str, x.shape))}]")
    out = folder / f"out-{path.name}"
    try:
        done = subprocess.run([hone, "run", path, *words, "--shape", ",".join(shapes), "--threads", "1", "-o", out, *mode],
                              capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return "refused", f"not done in {SECONDS} s"
    if done.returncode:
        found = [line for line in done.stderr.splitlines() if "warning" not in line] or [""]
        return "crashed" if done.returncode < 0 or done.returncode == 70 else "refused", found[0].replace(str(path), path.name)
    wrong = differs(arrays(out, "out"), arrays(folder, "want"))
    if not wrong or path.suffix == ".pt2":
        return "wrong" if wrong else "passes", wrong
    other = by_onnxruntime(path, given)
    if other is None:
        return "wrong", f"{wrong}; ONNX Runtime does not run it"
    return ("exporter's", wrong) if not differs(arrays(out, "out"), other) else ("wrong", wrong)


def judge(root, words, forms, hone, mode):
    counts = {form: collections.Counter() for form in forms}
    for name, _ in lines(words):
        folder = root / name.replace(":", "-")
        if not folder.exists():
            continue
        if (folder / "why").exists():
            print(f"{name:42s} not built: {(folder / 'why').read_text()[:150]}", flush=True)
            continue
        for form in forms:
            state, text = judge_one(hone, folder, folder / FORMS[form], mode)
            counts[form][state] += 1
            print(f"{name:42s} {form:7s} {state:12s} {text}", flush=True)
    for form, states in counts.items():
        print(f"{form}: " + ", ".join(f"{n} {state}" for state, n in states.most_common()))
    return any(states["wrong"] + states["crashed"] for states in counts.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("verb", choices=("export", "judge"))
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--forms", type=lambda x: x.split(","), default=list(FORMS))
    parser.add_argument("--hone", default=str(ROOT / "build/hone"))
    parser.add_argument("--reference", action="store_true", help="hone's reference instead of its compiled code")
    options = parser.parse_args()
    root = options.folder.resolve()
    if options.verb == "export":
        export(root, options.words, options.forms)
        return 0
    return int(judge(root, options.words, options.forms, options.hone, ["--reference"] if options.reference else []))


sys.exit(main())
