"""hone's quantiser beside ONNX Runtime's: the same samples, both results run by ONNX Runtime.

    quantise.py --hone build/hone --models DIR [--recipe auto] [--only WORD]

DIR is a model collection with a manifest.json. Each float model with samples is quantised by both to static int8
(ONNX Runtime: QDQ, u8 activations, i8 weights a channel, batch norms folded before, min-max). Prints a table: relative
L2 of the outputs against the float model's, the share of rows whose largest output is the float model's. Exit 1 where hone's error is larger.
"""
import argparse
import contextlib
import io
import json
import logging
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnxruntime as ort
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

MODELS = [("mlperf_ic_resnet8", "model_f32.onnx"), ("mlperf_kws_dscnn", "model_f32.onnx"),
          ("mlperf_vww_mbv1", "model_f32.tflite"), ("mlperf_ad_fcae", "model_f32.tflite"),
          ("ultraface_rfb320", "model.onnx"), ("mnist_8", "model.onnx"), ("super_resolution_10", "model.onnx"),
          ("micro_kws_m", "model_f32.onnx"), ("fastestdet", "model.onnx"), ("cyclone_unet", "model.onnx"),
          ("sat_captcha_crnn", "model.onnx"), ("hand_gesture_keypoint", "model.tflite"), ("movie_review_text", "model.tflite")]


class Reader(CalibrationDataReader):
    def __init__(self, samples):
        self.left = iter(samples)

    def get_next(self):
        return next(self.left, None)


def outputs_of(path, samples):
    options = ort.SessionOptions()
    options.intra_op_num_threads = 2
    session = ort.InferenceSession(str(path), options)
    names = [i.name for i in session.get_inputs()]
    return [session.run(None, dict(zip(names, sample))) for sample in samples]


def compare(expected, found):
    off = size = rows = same = 0
    for a, b in zip(expected, found):
        for x, y in zip(a, b):
            x, y = x.astype(np.float64), y.astype(np.float64)
            off += float(np.sum((x - y) ** 2))
            size += float(np.sum(x ** 2))
            if x.ndim and x.shape[-1] > 1:
                same += int(np.sum(x.argmax(-1) == y.argmax(-1)))
                rows += x.size // x.shape[-1]
    return np.sqrt(off / size), same / rows if rows else float("nan")


def hone_quantise(hone, model, shape, samples, recipe, out):
    done = subprocess.run([hone, "quantise", str(model), "--shape", shape, "--calibrate", str(samples), "-o", str(out),
                           "--recipe", recipe, "--json", "-", "--quiet"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        sys.exit(done.stderr.decode())
    return json.loads(done.stdout)


def peer_quantise(model, names, samples, folder):
    ready, out = folder / "ready.onnx", folder / "peer.onnx"
    with contextlib.redirect_stdout(io.StringIO()):
        quant_pre_process(str(model), str(ready), skip_symbolic_shape=True)
        quantize_static(str(ready), str(out), Reader([dict(zip(names, s)) for s in samples]),
                        quant_format=QuantFormat.QDQ, per_channel=True, activation_type=QuantType.QUInt8,
                        weight_type=QuantType.QInt8)
    return out


def read_case(folder, about):
    """Inputs of one sample; one that is stored as bytes means value = byte * scale + offset."""
    arrays = []
    for one in about["inputs"]:
        x = np.load(folder / one["file"])
        if one.get("stored") == "uint8" and "scale" in one:
            x = x.astype(np.float32) * np.float32(one["scale"]) + np.float32(one["offset"])
        arrays.append(np.ascontiguousarray(x.astype(one["dtype"])))
    return arrays


def right(labels, outputs):
    """"3 of 5" labels are the largest output; "-" where the model has no such labels."""
    known = [(label, out[0]) for label, out in zip(labels, outputs) if isinstance(label, int) and out[0].ndim == 2]
    return f"{sum(int(out.argmax()) == label for label, out in known)} of {len(known)}" if known else "-"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hone", default="build/hone")
    parser.add_argument("--models", required=True, type=pathlib.Path)
    parser.add_argument("--recipe", default="auto")
    parser.add_argument("--only", default="", help="part of a model's name")
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    os.environ.setdefault("ORT_LOGGING_LEVEL", "3")
    entries = {e["id"]: e for e in json.loads((options.models / "manifest.json").read_text())}
    worse = 0
    print("| model | samples | labels right in f32 | hone: relative L2 | same top-1 | labels right | recipe "
          "| ONNX Runtime: relative L2 | same top-1 | labels right |")
    print("|---|--:|--:|--:|--:|--:|---|--:|--:|--:|")
    for name, file in (m for m in MODELS if options.only in m[0]):
        entry = entries[name]
        variant = next(v for v in entry["variants"] if v["file"] == file)
        with tempfile.TemporaryDirectory() as text:
            worse += one_model(options, entry, variant, pathlib.Path(text))
    return 1 if worse else 0


def one_model(options, entry, variant, folder):
    root = options.models / entry["id"] / variant["io"]
    cases = sorted(entry["cases"][variant["io"]].items())
    samples = [read_case(root / case, about) for case, about in cases]
    shape = ",".join(f"{i[0]}[{','.join(map(str, x.shape))}]" for i, x in zip(variant["inputs"], samples[0]))
    for (case, _), arrays in zip(cases, samples):
        (folder / "samples" / case).mkdir(parents=True)
        for i, x in enumerate(arrays):
            np.save(folder / "samples" / case / f"in_{i}.npy", x)
    model = options.models / entry["id"] / variant["file"]
    said = hone_quantise(options.hone, model, shape, folder / "samples", options.recipe,
                         folder / "hone.onnx")
    plain = folder / "plain.onnx"
    subprocess.run([options.hone, "quantise", str(model), "--shape", shape, "--to", "fp32", "-o", str(plain), "--quiet"], check=True)
    names = [i.name for i in ort.InferenceSession(str(plain)).get_inputs()]
    expected, own = outputs_of(plain, samples), outputs_of(folder / "hone.onnx", samples)
    try:
        other = outputs_of(peer_quantise(plain, names, samples, folder), samples)
    except Exception as error:  # whatever its words are, they are its row
        other, reason = None, f"{type(error).__name__}: {error}".splitlines()[0]
    labels = [about.get("label") for _, about in cases]
    recipe = said["range"] + ("+bias" if said["bias"] else "") + ("+equalise" if said["equalise"] else "")
    cells = [entry["id"], len(samples), right(labels, expected)]
    for name, outputs in ((recipe, own), (None, other)):
        if outputs is None:
            cells += [reason, "-", "-"]
            continue
        error, same = compare(expected, outputs)
        cells += [f"{error:.4f}", f"{100 * same:.1f} %" if same == same else "-", right(labels, outputs)] + ([name] if name else [])
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)
    return other is not None and compare(expected, own)[0] > compare(expected, other)[0]


if __name__ == "__main__":
    sys.exit(main())
