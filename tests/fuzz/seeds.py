"""Writes the seed corpora of the fuzz targets: a folder of small files for each target, from the tests' own cases, the
models of the onnx package, and output of hone itself: seeds.py HONE FOLDER"""
import io
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
import zipfile
import zlib

import numpy as np
import onnx
from onnx.backend.test.loader import load_model_tests

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/cli"))
from test_run_time_sizes import CASES, model  # noqa: E402
LARGEST = 12000
GRAPHS = ("zoo:mlp", "zoo:conv", "zoo:lstm", "zoo:gcn", "zoo:dlrm")


def put(folder, name, data):
    data = data if isinstance(data, bytes) else data.encode()
    if 0 < len(data) <= LARGEST:
        (folder / name).write_bytes(data)


def files(folder, found):
    for path in found:
        put(folder, f"{path.parent.name}_{path.name}", path.read_bytes())


def npy(folder):
    for code in ("f4", "f8", "f2", "i1", "i2", "i4", "i8", "u1", "u2", "b1", "U3", ">f4", "c8"):
        for shape in ((), (3,), (2, 0), (2, 3, 4)):
            for order in "CF":
                out = io.BytesIO()
                np.save(out, np.asarray(np.zeros(shape), dtype=code, order=order))
                put(folder, re.sub(r"\W", "_", f"{code}_{shape}_{order}"), out.getvalue())


def inflate(folder):
    random = np.random.default_rng(1)
    sources = [b"", b"a", b"abc" * 300, bytes(range(256)) * 4, random.bytes(400), json.dumps(list(range(200))).encode(),
               (ROOT / "README.md").read_bytes()[:4000]]
    for k, source in enumerate(sources):
        for level in (0, 1, 6, 9):
            for strategy in (zlib.Z_DEFAULT_STRATEGY, zlib.Z_FIXED, zlib.Z_HUFFMAN_ONLY, zlib.Z_RLE):
                packer = zlib.compressobj(level, zlib.DEFLATED, -15, 9, strategy)
                put(folder, f"{k}_{level}_{strategy}",
                    len(source).to_bytes(2, "little") + packer.compress(source) + packer.flush())


def printed(hone, model, stage):
    words = [hone, "compile", model, "--dump-after", stage, "--stop-after", stage]
    return subprocess.run(words, capture_output=True, text=True, timeout=120, check=False).stdout


def choices(folder, hone):
    for model in GRAPHS:
        lines = [line.split("|", 1)[1].strip() for line in printed(hone, model, "plan").splitlines() if "|" in line]
        for k in range(0, min(len(lines), 12), 2):
            put(folder, f"{model}_{k}".replace(":", "_"), "# two steps\n" + "\n".join(lines[k:k + 2]) + "\n")


def graph(folder, hone, nodes):
    """Small models in hone's text format; constants that are printed only as a hash are replaced by seeded ones."""
    with tempfile.TemporaryDirectory() as scratch:
        for name, model in nodes[::9]:
            path = pathlib.Path(scratch) / f"{name}.onnx"
            onnx.save(model, path)
            put(folder, name, re.sub(r"hash=\w+", "seed=1", printed(hone, path, "import")))
    for model in GRAPHS:
        put(folder, model.replace(":", "_"), re.sub(r"hash=\w+", "seed=1", printed(hone, model, "import")))


def study(folder, hone):
    with tempfile.TemporaryDirectory() as scratch:
        out = pathlib.Path(scratch) / "study.json"
        words = [hone, "bench", "zoo:mlp", "--backend", "native", "--rounds", "2", "--min-time", "0.01", "--warmup", "0.01",
                 "--store", f"{scratch}/store.db", "-o", out]
        subprocess.run(words, capture_output=True, timeout=300, check=False)
        root = json.loads(out.read_text())
    for key in list(root):
        if len(json.dumps(root[key])) > LARGEST // 2 and key != "records":
            del root[key]
    put(folder, "study", json.dumps(root))
    put(folder, "lines", json.dumps(root, indent=1))
    put(folder, "empty", json.dumps({**root, "records": []}))


def event(folder):
    """Every key of the schemas in protocol.c, with a value of its type."""
    text = (ROOT / "src/bench/wire/protocol.c").read_text()
    values = {"TEXT": "0" * 32, "INT": 1, "NUMBER": 1.5, "BOOL": True, "LIST": []}
    named = dict(re.findall(r"#define (\w+)\s((?:.*\\\n)*.*\n)", text))
    for schema, body in re.findall(r"(\w+)_fields\[\] = \{(.*?)\};", text, re.DOTALL):
        for name, what in named.items():
            body = re.sub(rf"\b{name}\b", lambda _, what=what: what, body)
        fields = re.findall(r'"(\w+)", FIELD_(\w+)', body)
        put(folder, schema, json.dumps({**{key: values[kind] for key, kind in fields}, "event": schema}))


UNREAD = {"metadata", "kind", "is_hop_single_tensor_return", "requires_grad", "device", "layout", "sym_int_values",
          "sym_bool_values", "sym_float_values", "is_single_tensor_return", "custom_obj_values", "module_call_graph",
          "treespec_namedtuple_fields", "opset_version", "range_constraints", "verifiers", "torch_version", "guards_code"}


def shorter(item):
    """Removes the three quarters of the JSON that hone does not read, where mutations would have no effect."""
    if isinstance(item, list):
        return [shorter(one) for one in item]
    return {key: shorter(value) for key, value in item.items() if key not in UNREAD} if isinstance(item, dict) else item


def short_json(text):
    """Prints one list element per line, because the mutator works on lines."""
    root = shorter(json.loads(text))
    graph = root.get("graph_module", {}).get("graph")
    if graph:
        inputs = {one.get("as_tensor", {}).get("name") for one in graph["inputs"]}
        graph["tensor_values"] = {key: value for key, value in graph["tensor_values"].items() if key in inputs}
    return json.dumps(root, separators=(",", ":")).replace("},{", "},\n{")


def pt2(source, folder):
    """The archive of the files in a folder of `source`, without inputs, outputs and samples."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as made:
        for member in source.namelist():
            rest = member[len(folder):]
            if member.startswith(folder) and "/" in rest and "sample_inputs" not in rest:
                data = source.read(member)
                made.writestr(zipfile.ZipInfo("m/" + rest), short_json(data) if rest.endswith(".json") else data)
    return out.getvalue()


def node_models():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [(case.name, case.model) for case in load_model_tests(kind="node")]


def gguf(folder):
    """Models of each architecture, small enough for the longest input."""
    sys.path.insert(0, str(ROOT / "tests/cli"))
    import gguf_models
    gguf_models.WIDTH = gguf_models.DEPTH = gguf_models.INNER = 32
    gguf_models.HEADS = gguf_models.KEY_HEADS = gguf_models.BLOCKS = 1
    gguf_models.TOKENS = gguf_models.TOKENS[:64] + gguf_models.TOKENS[-6:]
    for name in gguf_models.KINDS:
        for matrix in (3, 8):
            put(folder, f"{name}-{matrix}", gguf_models.language_model(name, matrix, context=64)[0])


def main():
    hone, out = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2])
    shutil.rmtree(out, ignore_errors=True)
    names = ("onnx", "tflite", "pt2", "gguf", "npy", "inflate", "choices", "graph", "study", "event")
    at = {name: out / name for name in names}
    for folder in at.values():
        folder.mkdir(parents=True)
    nodes = node_models()
    files(at["onnx"], (ROOT / "tests/cases/import").rglob("*.onnx"))
    for name, made in nodes[::3] + [(name, model(*case)) for name, case in CASES.items()]:
        put(at["onnx"], name, made.SerializeToString())
    files(at["tflite"], (ROOT / "tests/cases/tflite").glob("*.tflite"))
    for path in (ROOT / "tests/cases/pt2").glob("*.*[2p]"):  # small.pt2, operators.zip
        with zipfile.ZipFile(path) as source:
            for name in sorted({member.split("/")[0] for member in source.namelist()}):
                put(at["pt2"], name, pt2(source, name + "/"))
    gguf(at["gguf"])
    npy(at["npy"])
    inflate(at["inflate"])
    choices(at["choices"], hone)
    graph(at["graph"], hone, nodes)
    files(at["graph"], (ROOT / "tests/compile").glob("*.hg"))
    study(at["study"], hone)
    event(at["event"])
    for name, folder in at.items():
        if not any(folder.iterdir()):
            sys.exit(f"no seeds for {name}")
        print(f"{name}: {len(list(folder.iterdir()))} seeds")


main()
