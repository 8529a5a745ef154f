"""Networks of public libraries, built small with seeded weights (tests/public-models.txt), exported as people export them and
run by hone: torch.export's archive (pt2), torch.onnx.export by way of it (dynamo) and through TorchScript (script). Those that the
list calls quantised are so as well: by torchao after export (pt2e) and before (torchao), and by ONNX Runtime's quantiser of the
script (ort).

    public_models.py export FOLDER [WORD ..] [--forms pt2,script]    needs torch, onnx, onnxscript and the libraries
    public_models.py judge FOLDER [WORD ..] [--hone build/hone] [--reference]     needs NumPy and onnx; onnxruntime if it is there
    public_models.py table FOLDER                                    what was judged, into docs/log/public-models.md

Each network is a folder in FOLDER with its inputs, the outputs of PyTorch (or of ONNX Runtime, of what its quantiser made) and the
files, or why one could not be made; what is there is not made again. WORD: only such names. judge prints a line a file and counts;
it ends with 1 if an output is wrong."""

import argparse
import collections
import copy
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
QUANTISED = {"pt2e": "pt2e.pt2", "pt2e-dynamic": "pt2e-dynamic.pt2", "torchao": "torchao.pt2",
             "torchao-dynamic": "torchao-dynamic.pt2", "ort": "ort.onnx", "ort-dynamic": "ort-dynamic.onnx"}
RELATIVE, LARGEST = 1e-4, 1e-3  # docs/understand/measuring.md: of the L2 norm, of the largest value
STEPS = 2e-2, 1e-1  # the same where one rounding in another direction is a whole step
SECONDS = 600
PAGE, MARKS = ROOT / "docs/log/public-models.md", ("<!-- table -->\n", "<!-- /table -->")


def lines(words):
    for line in (ROOT / "tests/public-models.txt").read_text().splitlines():
        name, *settings = line.split()
        if name != "#" and (not words or any(word in name for word in words)):
            yield name, settings


def forms_of(settings, wanted=None):
    every = {**FORMS, **(QUANTISED if "quantised" in settings else {})}
    return {form: file for form, file in every.items() if not wanted or form in wanted}


def is_tried(folder, file):
    """It is there, or why it is not."""
    return (folder / file).exists() or (folder / f"{file}.why").exists()


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


def keep(folder, stem, values):
    import torch
    for k, x in enumerate(x for x in torch.utils._pytree.tree_leaves(values) if isinstance(x, (torch.Tensor, np.ndarray))):
        np.save(folder / f"{stem}_{k}.npy", np.asarray(x))


def save_pt2e(form, module, inputs, folder):
    """Quantised by torchao's steps after export, for the processor at hand."""
    import torch
    from torchao.quantization.pt2e import quantize_pt2e
    from torchao.quantization.pt2e.quantizer import x86_inductor_quantizer as x86
    quantizer = x86.X86InductorQuantizer()
    quantizer.set_global(x86.get_default_x86_inductor_quantization_config(is_dynamic=form == "pt2e-dynamic"))
    prepared = quantize_pt2e.prepare_pt2e(torch.export.export(module, inputs).module(), quantizer)
    prepared(*inputs)
    made = quantize_pt2e.convert_pt2e(prepared)
    keep(folder, f"want-{form}", made(*inputs))
    torch.export.save(torch.export.export(made, inputs), folder / QUANTISED[form])


def save_torchao(form, module, inputs, folder):
    """Its linear layers quantised by torchao before export."""
    import torch
    from torchao import quantization
    from torchao.utils import unwrap_tensor_subclass
    configs = {"torchao": quantization.Int8WeightOnlyConfig, "torchao-dynamic": quantization.Int8DynamicActivationInt8WeightConfig}
    quantization.quantize_(module, configs[form]())
    keep(folder, f"want-{form}", module(*inputs))
    torch.export.save(torch.export.export(unwrap_tensor_subclass(module), inputs), folder / QUANTISED[form])


def save_ort(form, module, inputs, folder):
    """ONNX Runtime's quantiser of the file that came through TorchScript, calibrated on the one input."""
    import onnxruntime
    from onnxruntime import quantization
    given = {f"x{k}": x.numpy() for k, x in enumerate(inputs)}
    path, made = folder / FORMS["script"], folder / QUANTISED[form]

    class Once(quantization.CalibrationDataReader):
        left = [given]

        def get_next(self):
            return self.left.pop() if self.left else None

    quantization.shape_inference.quant_pre_process(str(path), str(made), skip_symbolic_shape=True)
    if form == "ort-dynamic":
        quantization.quantize_dynamic(str(made), str(made))
    else:
        quantization.quantize_static(str(made), str(made), Once(), per_channel=True)
    options = onnxruntime.SessionOptions()  # each node as it says: what is fused is up to 15 % apart
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(made), options, providers=["CPUExecutionProvider"])
    keep(folder, f"want-{form}", session.run(None, given))


SAVERS = {"pt2e": save_pt2e, "torchao": save_torchao, "ort": save_ort}


def export_one(name, settings, folder, forms):
    from hone import _zoo
    is_open = "open" in settings
    given = dict(_zoo._setting(word) for word in settings if word not in ("open", "quantised"))
    module, inputs = _zoo.build(name, ROOT / "tests/public-models", given.pop("size", None), given, 0)
    inputs = doubled(inputs) if is_open else inputs
    keep(folder, "in", inputs)
    keep(folder, "want", module(*inputs))
    for form, file in forms.items():
        begin, path = time.monotonic(), folder / file
        try:
            if form in FORMS:
                save(form, module, inputs, str(path), is_open)
            else:
                SAVERS[form.partition("-")[0]](form, copy.deepcopy(module), inputs, folder)
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
        return os.waitpid(child, 0)[1]
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
    for library in {name.partition(":")[0] for name, _ in lines(words) if ":" in name}:
        importlib.import_module(library)
    with tempfile.TemporaryDirectory() as folder:
        for form in set(forms) & set(FORMS):
            save(form, torch.nn.Linear(2, 2), (torch.ones(1, 2),), f"{folder}/{FORMS[form]}", False)
    for name, settings in lines(words):
        folder = root / name.replace(":", "-")
        folder.mkdir(parents=True, exist_ok=True)
        missing = {form: file for form, file in forms_of(settings, forms).items() if not is_tried(folder, file)}
        if missing and not (folder / "why").exists():
            if in_a_child(folder, lambda: export_one(name, settings, folder, missing)):
                for file in missing.values():
                    if not is_tried(folder, file):
                        (folder / f"{file}.why").write_text(f"its process died, or was not done in {SECONDS} s")


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


def apart(got, want, relative, largest):
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
    if np.linalg.norm(off) <= relative * whole and off.max(initial=0) <= largest * np.abs(want[known]).max(initial=0):
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


def differs(got, wanted, limits=(RELATIVE, LARGEST)):
    if len(got) < len(wanted):
        return f"{len(got)} outputs for {len(wanted)}"
    return next(filter(None, (apart(a, b, *limits) for a, b in zip(got, wanted))), "")


def judge_one(hone, folder, form, path, mode):
    """A word, and what goes with it."""
    if not path.exists():
        return "not exported", (folder / f"{path.name}.why").read_text()[:100]
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
    if form in QUANTISED:
        wrong = differs(arrays(out, "out"), arrays(folder, f"want-{form}"), STEPS)
        return "wrong" if wrong else "passes", wrong
    wrong = differs(arrays(out, "out"), arrays(folder, "want"))
    if not wrong or path.suffix == ".pt2":
        return "wrong" if wrong else "passes", wrong
    other = by_onnxruntime(path, given)
    if other is None:
        return "wrong", f"{wrong}; ONNX Runtime does not run it"
    return ("exporter's", wrong) if not differs(arrays(out, "out"), other) else ("wrong", wrong)


def note(folder, form, how, state, text):
    path = folder / "judged.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    known.setdefault(form, {})[how] = [state, text]
    path.write_text(json.dumps(known, indent=1))


def judge(root, words, forms, hone, mode):
    counts = collections.defaultdict(collections.Counter)
    for name, settings in lines(words):
        folder = root / name.replace(":", "-")
        if not folder.exists():
            continue
        if (folder / "why").exists():
            print(f"{name:42s} not built: {(folder / 'why').read_text()[:150]}", flush=True)
            continue
        for form, file in forms_of(settings, forms).items():
            if not is_tried(folder, file):
                continue
            state, text = judge_one(hone, folder, form, folder / file, mode)
            note(folder, form, "reference" if mode else "compiled", state, text)
            counts[form][state] += 1
            print(f"{name:42s} {form:7s} {state:12s} {text}", flush=True)
    for form, states in counts.items():
        print(f"{form}: " + ", ".join(f"{n} {state}" for state, n in states.most_common()))
    return any(states["wrong"] + states["crashed"] for states in counts.values())


# -- table


SAID = {"passes": "equal", "exporter's": "as ONNX Runtime"}


def cell(known):
    """Compiled code's verdict, the reference's where that was not asked for."""
    how = "compiled" if "compiled" in known else "reference"
    state, text = known.get(how, ("", ""))
    said = SAID.get(state, f"{state}: {text[:110]}" if text else state)
    return (said + ", reference" if how == "reference" and said else said).replace("|", "\\|").replace("\n", " ")


def table(root):
    rows, counts, compiled = [], collections.defaultdict(collections.Counter), 0
    for name, settings in lines([]):
        path = root / name.replace(":", "-") / "judged.json"
        if not path.exists():
            continue
        known = json.loads(path.read_text())
        compiled += any(f.get("compiled", [""])[0] in ("passes", "exporter's") for f in known.values())
        for form, verdicts in known.items():
            counts[form][(verdicts.get("compiled") or verdicts["reference"])[0]] += 1
        more = "; ".join(f"{form}: {cell(known[form])}" for form in forms_of(settings, QUANTISED) if form in known)
        rows.append(f"| {name}{', open' * ('open' in settings)} | " + " | ".join(cell(known.get(form, {})) for form in FORMS)
                    + f" | {more} |")
    said = [f"{form}: " + ", ".join(f"{n} {SAID.get(state, state)}" for state, n in sorted(states.items())) for form, states in counts.items()]
    text = "\n".join([f"{len(rows)} networks, {compiled} of them compiled and equal in at least one form. " + "; ".join(said) + ".", "",
                      "| network | `.pt2` | `dynamo` | `script` | quantised |", "|---|---|---|---|---|", *rows, ""])
    before, _, rest = PAGE.read_text().partition(MARKS[0])
    PAGE.write_text(before + MARKS[0] + text + MARKS[1] + rest.partition(MARKS[1])[2])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("verb", choices=("export", "judge", "table"))
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--forms", type=lambda x: x.split(","), default=None)
    parser.add_argument("--hone", default=str(ROOT / "build/hone"))
    parser.add_argument("--reference", action="store_true", help="hone's reference instead of its compiled code")
    options = parser.parse_args()
    root = options.folder.resolve()
    if options.verb == "table":
        return table(root)
    if options.verb == "export":
        return export(root, options.words, options.forms or [*FORMS, *QUANTISED])
    return int(judge(root, options.words, options.forms, options.hone, ["--reference"] if options.reference else []))


sys.exit(main())
