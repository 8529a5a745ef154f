"""Writes docs/log/models.md: every file of a collection of models ($HONE_SHARED/models) and its state: read,
compiled, and how far its outputs are from those that came with it.

    models_table.py build/hone [WORD] > docs/log/models.md         needs NumPy; WORD: only such files

TorchScript is exported first, by `python -m hone export` of the Python that $HONE_TORCH_PYTHON names, if any."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

import numpy as np

MODELS = pathlib.Path(os.environ.get("HONE_SHARED", "../shared")) / "models"


def stored(path, about):
    data = np.load(path)
    if about.get("stored") == "uint8" and "scale" in about:
        data = data.astype(np.float32) * np.float32(about["scale"]) + np.float32(about["offset"])
    return np.array(data.astype(np.dtype(about["dtype"])), order="C")


def input_names(path, variant):
    if variant.get("inputs"):
        return [about[0] for about in variant["inputs"]]
    if not zipfile.is_zipfile(path):
        return []
    with zipfile.ZipFile(path) as archive:
        names = [n for n in archive.namelist() if n.endswith("models/model.json")]
        if not names:
            return []
        signature = json.loads(archive.read(names[0]))["graph_module"]["signature"]
    return [spec["user_input"]["arg"]["as_tensor"]["name"] for spec in signature["input_specs"]
            if "user_input" in spec]


def distance(got, want):
    """In steps for integers, as relative L2 for floats."""
    if got.shape != want.shape:
        return "another shape", False
    if got.dtype.kind in "iub":
        steps = np.abs(got.astype(np.int64) - want.astype(np.int64))
        if not steps.max(initial=0):
            return "equal", True
        return f"{np.count_nonzero(steps)} of {steps.size} differ, by {steps.max()} at most", False
    apart = np.linalg.norm(got.astype(np.float64) - want) / max(np.linalg.norm(want), 1e-9)
    return f"relative L2 {apart:.1e}", apart <= 1e-4


def exported(path, data, folder):
    """TorchScript as ONNX, or why not."""
    words = []
    for x in data:
        words += ["--input", "x".join(map(str, x.shape)) + f":{x.dtype}"]
    package = pathlib.Path(__file__).resolve().parent.parent / "python"
    done = subprocess.run([os.environ["HONE_TORCH_PYTHON"], "-m", "hone", "export", str(path), "-o",
                           str(folder / "m.onnx"), *words], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "PYTHONPATH": str(package)})
    return folder / "m.onnx", "" if done.returncode == 0 else done.stderr.strip().splitlines()[-1]


def script_row(hone, path, variant, case, about, folder):
    """The first step of a sequence, where the case is one."""
    def load(one):
        data = stored(path.parent / variant["io"] / case / one["file"], {**one, "stride": 1})
        return data[0] if case == "seq" else data
    given = [load(one) for one in about["inputs"]]
    model, why = exported(path, given, folder)
    if why:
        return "not exported", why.replace("|", "\\|")[:160]
    for k, x in enumerate(given):
        np.save(folder / f"in_{k}.npy", x)
    result = subprocess.run([hone, "run", str(model), "--inputs", str(folder), "-o", str(folder / "out")],
                            capture_output=True, text=True, timeout=300)
    if result.returncode:
        return "refused", result.stderr.strip().splitlines()[0].removeprefix("hone: ").replace("|", "\\|")[:160]
    text, _ = distance(np.load(folder / "out" / "out_0.npy").ravel(), load(about["outputs"][0]).ravel())
    return "runs, exported", text


def row(hone, entry, variant, folder):
    path = MODELS / entry["id"] / variant["file"]
    case, about = next(iter(entry["cases"].get(variant["io"], {"": {"inputs": [], "outputs": []}}).items()))
    if variant.get("format") == "TorchScript" and os.environ.get("HONE_TORCH_PYTHON"):
        return script_row(hone, path, variant, case, about, folder)
    words, shapes = [], []
    for k, (name, one) in enumerate(zip(input_names(path, variant), about["inputs"])):
        data = stored(path.parent / variant["io"] / case / one["file"], one)
        np.save(folder / f"in_{k}.npy", data)
        words += ["--input", f"{name}={folder}/in_{k}.npy"]
        shapes.append(f"{name}[{','.join(map(str, data.shape))}]")
    if shapes:
        words += ["--shape", ",".join(shapes)]
    result = subprocess.run([hone, "run", str(path), *words, "-o", str(folder / "out")], capture_output=True,
                            text=True, timeout=300)
    if result.returncode:
        first = result.stderr.strip().splitlines()[0].replace(str(MODELS) + "/", "")
        return "refused", first.removeprefix("hone: ").replace("|", "\\|")[:160]
    worst, close = "", True
    for k, one in enumerate(about["outputs"]):
        want = stored(path.parent / variant["io"] / case / one["file"], {**one, "stride": 1}).ravel()
        got = np.load(folder / "out" / f"out_{k}.npy").ravel()[::one.get("stride", 1)]
        text, is_close = distance(got, want)
        if not worst or (close and not is_close):
            worst, close = text, is_close
    return "runs", worst or "no expected outputs"


def main():
    print("# Log: a collection of public models\nMade by `tools/models_table.py build/hone`. Each file is compiled, run on its"
          " first case, and compared with the outputs that\ncame with it (made by ONNX Runtime, LiteRT with its default"
          " delegates, or PyTorch). Quantised TFLite files equal LiteRT's *reference*\nkernels bit for bit; its default"
          " delegate differs from those by steps, as the table shows. TorchScript is exported by `python -m hone\nexport`;"
          " of a sequence the first step is compared. A module that keeps state in buffers (unitree_g1_lstm) is not"
          " exported: ONNX\nwould hold them as constants. Networks of public libraries:"
          " [public-models.md](public-models.md).\n\n| file | format | state | outputs |"
          "\n|---|---|---|---|")
    counts = {}
    for entry in json.loads((MODELS / "manifest.json").read_text()):
        for variant in entry["variants"]:
            if len(sys.argv) > 2 and sys.argv[2] not in f"{entry['id']}/{variant['file']}":
                continue
            with tempfile.TemporaryDirectory() as folder:
                state, text = row(sys.argv[1], entry, variant, pathlib.Path(folder))
            kind = variant.get("format", pathlib.Path(variant["file"]).suffix)
            counts[state] = counts.get(state, 0) + 1
            print(f"| {entry['id']}/{variant['file']} | {kind} | {state} | {text} |", flush=True)
    print("\n" + ", ".join(f"{count} {state}" for state, count in counts.items()) + ".")


main()
