"""Every TFLite and torch.export file of the collection at $HONE_SHARED: compiled, against the outputs that
came with it, and bit for bit against LiteRT's reference kernels where it is quantised."""

import hashlib
import json
import pathlib
import re
import zipfile

import numpy as np
import pytest

from hone import SHARED, sound, with_long
from test_models import shape_words, stored

# First 32 hex digits of the SHA-256 of all outputs of LiteRT 2.3.0's reference kernels for the first case.
REFERENCE = {
    "mlperf_ic_resnet8/model_int8.tflite": "d423cf9eac4f384a68d720f0617fee15",
    "mlperf_kws_dscnn/model_int8.tflite": "fd69bd9a77077d4de5da408534a5bbcb",
    "mlperf_vww_mbv1/model_int8.tflite": "ce53bfedd3ce10feb57928eccb9a9740",
    "mlperf_ad_fcae/model_int8.tflite": "f31c1b584545dd71485dd8352a6c2a2c",
    "coral_imagenet_q/mbv1_025_128_quant.tflite": "8a22b4960cf50f3436dd37dc827eb7a3",
    "coral_imagenet_q/tf2_mbv2_224_ptq.tflite": "6da325b60fa02dd37eaddb8cd7682aec",
    "coral_deeplab_dm05_q/model.tflite": "3a7031c3e6bfabaca88d45af37a0e589",
    "yamnet/model.tflite": "41b84f73d5d3ef0b277f9715baf6bd55",
}
# Relative L2 beyond 1e-4 against the outputs that came with the file, and why.
LOOSER = {
    "mlperf_kws_dscnn/model_f32.tflite": (5e-3, "LiteRT quantises the inputs of int8 weights, hone does not"),
    "mlperf_kws_dscnn/model_f32.pt2": (5e-3, "the expected outputs are the hybrid TFLite file's"),
    "dtln/stage1_dr.tflite": (5e-2, "LiteRT quantises the inputs of int8 weights, hone does not"),
    "dtln/stage2_dr.tflite": (5e-2, "LiteRT quantises the inputs of int8 weights, hone does not"),
}
# Transposes that remain between operators. basic_pitch was written with channels second: its own.
TRANSPOSES = {"basic_pitch/model.tflite": 91, "dtln/stage2_dr.tflite": 4}


def collection():
    path = SHARED / "models" / "manifest.json"
    entries = json.loads(path.read_text()) if path.exists() else []
    return [(f"{entry['id']}/{variant['file']}", entry, variant) for entry in entries
            for variant in entry["variants"] if variant["file"].endswith((".tflite", ".pt2"))]


MODELS = collection()


def input_names(path, variant):
    if variant["file"].endswith(".tflite"):
        return [about[0] for about in variant["inputs"]]
    with zipfile.ZipFile(path) as archive:
        name = next(n for n in archive.namelist() if n.endswith("models/model.json"))
        signature = json.loads(archive.read(name))["graph_module"]["signature"]
    return [spec["user_input"]["arg"]["as_tensor"]["name"] for spec in signature["input_specs"]
            if "user_input" in spec]


@pytest.mark.skipif(not MODELS, reason="no collection of models at $HONE_SHARED")
@pytest.mark.parametrize("name,entry,variant", with_long(MODELS[::2], *MODELS[1::2]), ids=lambda part: part if isinstance(part, str) else "")
def test_collection(shared_hone, tmp_path, name, entry, variant):
    folder = SHARED / "models" / entry["id"]
    case, about = next(iter(entry["cases"][variant["io"]].items()))
    inputs, words = {}, []
    for key, one in zip(input_names(folder / variant["file"], variant), about["inputs"]):
        inputs[key] = stored(folder / variant["io"] / case / one["file"], one)
        np.save(tmp_path / f"in_{len(inputs)}.npy", inputs[key])
        words += ["--input", f"{key}={tmp_path}/in_{len(inputs)}.npy"]
    sound(shared_hone("run", folder / variant["file"], *words, "--shape", shape_words(inputs), "-o",
                      tmp_path / "out"))
    outputs = [np.load(tmp_path / "out" / f"out_{k}.npy") for k in range(len(about["outputs"]))]
    if name in REFERENCE:
        digest = hashlib.sha256(b"".join(out.tobytes() for out in outputs)).hexdigest()
        assert digest[:32] == REFERENCE[name]
        return
    for got, one in zip(outputs, about["outputs"]):
        want = stored(folder / variant["io"] / case / one["file"], {**one, "stride": 1}).ravel()
        got = got.ravel()[::one.get("stride", 1)]
        looser = LOOSER.get(name, (1e-4, ""))[0]
        assert got.shape == want.shape and got.dtype == want.dtype
        assert np.linalg.norm(got - want) <= looser * max(np.linalg.norm(want), 1e-6)


@pytest.mark.skipif(not MODELS, reason="no collection of models at $HONE_SHARED")
@pytest.mark.parametrize("name,entry,variant", [m for m in MODELS if m[0].endswith(".tflite")],
                         ids=[m[0] for m in MODELS if m[0].endswith(".tflite")])
def test_no_transposes_inside(shared_hone, tmp_path, name, entry, variant):
    """One where images enter and one where they leave; none between operators."""
    result = shared_hone("compile", SHARED / "models" / entry["id"] / variant["file"], "-o", tmp_path / "m.so",
                         "--dump-after", "fuse-edges", "--stop-after", "fuse-edges")
    sound(result)
    assert result.text.count(" Transpose(") <= TRANSPOSES.get(name, 2)


FOUND = sorted((pathlib.Path(__file__).resolve().parent.parent / "cases/fuzz").iterdir())


@pytest.mark.parametrize("path", FOUND, ids=[path.name for path in FOUND])
def test_found_by_fuzzing(shared_hone, path):
    """Inputs that once broke a fuzz target are refused with a reason."""
    result = shared_hone("inspect", path)
    assert result.code in (2, 65) and re.match(rb"hone: (warning: .*\nhone: )*E_(?!INTERNAL)", result.err)
