"""hone's quantiser compared with ONNX Runtime's: the same samples, both results run by ONNX Runtime.

    quantise.py --hone build/hone --models DIR [--recipe auto] [--only WORD]

DIR is a model collection with a manifest.json. Each float model with samples is quantised by both to static int8
(ONNX Runtime: QDQ, u8 activations, i8 weights a channel, batch norms folded before, min-max). Prints a table: relative
L2 of the outputs against the float model's, the share of rows whose largest output is the float model's, and how many
labels are right: classes, and texts of CTC, whose labelled pictures are all looked at although the samples alone gave the
ranges. Exit 1 where hone's error is larger or fewer of its labels are right.
"""
import argparse
import contextlib
import io
import json
import logging
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

import numpy as np
import onnxruntime as ort
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

MODELS = [("mlperf_ic_resnet8", "model_f32.onnx"), ("mlperf_kws_dscnn", "model_f32.onnx"),
          ("mlperf_vww_mbv1", "model_f32.tflite"), ("mlperf_ad_fcae", "model_f32.tflite"),
          ("ultraface_rfb320", "model.onnx"), ("mnist_8", "model.onnx"), ("super_resolution_10", "model.onnx"),
          ("micro_kws_m", "model_f32.onnx"), ("fastestdet", "model.onnx"), ("cyclone_unet", "model.onnx"),
          ("sat_captcha_crnn", "model.onnx"), ("hand_gesture_keypoint", "model.tflite"), ("movie_review_text", "model.tflite"),
          ("magika_v3_3", "model.onnx"), ("squeezenet_fp16", "model.onnx"), ("gcn_karate", "model.onnx")]
# Names of the classes in the order of the outputs, by the collection's MANIFEST; magika's and ImageNet's are read from files.
CLASSES = {"mlperf_ic_resnet8": "airplane automobile bird cat deer dog frog horse ship truck",
           "mlperf_kws_dscnn": "Down Go Left No Off On Right Stop Up Yes Silence Unknown",
           "movie_review_text": "negative positive"}
LETTERS = {"sat_captcha_crnn": "Y65WRD98SMBG3NJ21CP4KF7ZXHVTQL"}  # of CTC: the blank is the class after them


class Reader(CalibrationDataReader):
    def __init__(self, samples):
        self.left = iter(samples)

    def get_next(self):
        return next(self.left, None)


def outputs_of(path, samples):
    options = ort.SessionOptions()
    options.intra_op_num_threads = 2
    # exact int8 products on processors without VNNI, too
    options.add_session_config_entry("session.x64quantprecision", "1")
    session = ort.InferenceSession(str(path), options)
    names = [i.name for i in session.get_inputs()]
    return [session.run(None, dict(zip(names, sample))) for sample in samples]


def without_ones(x):
    """Classes may lie before dimensions of 1."""
    while x.ndim > 2 and x.shape[-1] == 1:
        x = x[..., 0]
    return x


def compare(expected, found):
    off = size = rows = same = 0
    for a, b in zip(expected, found):
        for x, y in zip(a, b):
            x, y = (without_ones(z).astype(np.float64) for z in (x, y))
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


def samples_of(root, cases):
    """(name, inputs, label) each; a case with a list of labels is as many samples of batch 1."""
    found = []
    lists = [case for case in cases if isinstance(case[1].get("label"), list)]
    for name, about in [max(lists, key=lambda case: len(case[1]["label"]))] if lists else cases:
        arrays, label = read_case(root / name, about), about.get("label")
        if isinstance(label, list):
            found += [(f"{name}{i}", [x[i:i + 1] for x in arrays], one) for i, one in enumerate(label)]
        else:
            found.append((name, arrays, label))
    return found


def read_png(path):
    """Pixels of a PNG of 8-bit RGB without interlacing, as [height, width, 3] u8 (RFC 2083: chunks, and the filters of 6)."""
    data, at, packed, size = path.read_bytes(), 8, b"", (0, 0)
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            *size, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", body)
            if (depth, colour, interlaced) != (8, 2, 0):
                raise ValueError(f"{path}: only 8-bit RGB without interlacing is read")
        packed += body if kind == b"IDAT" else b""
        at += length + 12
    width, height = size
    raw, row = zlib.decompress(packed), 3 * width
    above, lines = [0] * row, []
    for y in range(height):
        kind, line = raw[y * (row + 1)], list(raw[y * (row + 1) + 1:(y + 1) * (row + 1)])
        for x in range(row if kind else 0):
            left, up, corner = line[x - 3] if x > 2 else 0, above[x], above[x - 3] if x > 2 else 0
            guess = left + up - corner
            nearest = min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))[2]
            line[x] = (line[x] + (left, up, (left + up) // 2, nearest)[kind - 1]) & 255
        above = line
        lines.append(line)
    return np.array(lines, np.uint8).reshape(height, width, 3)


def read_ctc(logits, letters):
    """The text of the likeliest class at each place: repeats joined, blanks left out (Graves et al., ICML 2006)."""
    best = logits[0].argmax(-1)
    kept = [c for i, c in enumerate(best) if c != len(letters) and (i == 0 or c != best[i - 1])]
    return "".join(letters[c] for c in kept)


def judge(out, label, names, letters):
    """(right, asked); nothing is asked where the label is none that an output can be compared with. Of a graph each node has one,
    below 0 where it has none."""
    if isinstance(label, np.ndarray):
        return int(np.sum(out.argmax(-1) == label)), int(np.sum(label >= 0))
    if letters and isinstance(label, str):
        return int(read_ctc(out, letters) == label), 1
    if without_ones(out).ndim != 2 or not isinstance(label, (int, str)):
        return 0, 0
    wanted = {label} if isinstance(label, int) else {i for i, name in enumerate(names) if set(label.split("/")) & set(name.split(", "))}
    return int(int(out.argmax()) in wanted), int(bool(wanted))


class Labels:
    """What a model is asked that has an answer: samples, or all labelled pictures of its folder."""

    def __init__(self, models, entry, samples):
        root = models / entry["id"]
        self.letters = LETTERS.get(entry["id"], "")
        self.names = CLASSES.get(entry["id"], "").split()
        if (root / "config.min.json").exists():
            self.names = json.loads((root / "config.min.json").read_text())["target_labels_space"]
        if (root / "Labels.txt").exists():  # "281,tabby, tabby cat"
            self.names = [line.split(",", 1)[1].strip() for line in (root / "Labels.txt").read_text().splitlines() if line]
        self.asked = [(arrays, label) for _, arrays, label in samples]
        pictures = sorted((root / "img").glob("*.png")) if self.letters else []
        if pictures:
            self.asked = [([read_png(path)[None].astype(np.float32)], path.stem) for path in pictures]
        if (root / "labels.npy").exists():  # of a graph's nodes; the nodes that it was trained on are not asked
            nodes = np.where(np.load(root / "train_mask.npy"), -1, np.load(root / "labels.npy"))
            self.asked = [(arrays, nodes) for arrays, _ in self.asked]

    def count(self, path):
        """(right, asked) of the model in this file."""
        if not any(label is not None for _, label in self.asked):
            return 0, 0
        answers = zip(outputs_of(path, [arrays for arrays, _ in self.asked]), self.asked)
        known = [judge(out[0], label, self.names, self.letters) for out, (_, label) in answers]
        return sum(right for right, _ in known), sum(asked for _, asked in known)


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
    """Prints its row; whether hone's model is the worse one."""
    named = samples_of(options.models / entry["id"] / variant["io"], sorted(entry["cases"][variant["io"]].items()))
    samples = [arrays for _, arrays, _ in named]
    shape = ",".join(f"{i[0]}[{','.join(map(str, x.shape))}]" for i, x in zip(variant["inputs"], samples[0]))
    for case, arrays, _ in named:
        (folder / "samples" / case).mkdir(parents=True)
        for i, x in enumerate(arrays):
            np.save(folder / "samples" / case / f"in_{i}.npy", x)
    model = options.models / entry["id"] / variant["file"]
    said = hone_quantise(options.hone, model, shape, folder / "samples", options.recipe,
                         folder / "hone.onnx")
    plain = folder / "plain.onnx"
    subprocess.run([options.hone, "quantise", str(model), "--shape", shape, "--to", "fp32", "-o", str(plain), "--quiet"], check=True)
    names = [i.name for i in ort.InferenceSession(str(plain)).get_inputs()]
    expected, labels = outputs_of(plain, samples), Labels(options.models, entry, named)
    made = {said["range"] + ("+bias" if said["bias"] else "") + ("+equalise" if said["equalise"] else ""): folder / "hone.onnx"}
    cells, errors, counts = [entry["id"], len(samples)], [], [labels.count(plain)]
    try:
        made[None] = peer_quantise(plain, names, samples, folder)
        outputs_of(made[None], samples[:1])
    except Exception as error:  # the row shows its message
        made[None], reason = None, f"{type(error).__name__}: {error}".splitlines()[0]
    cells.append(told(counts[0]))
    for name, path in made.items():
        if not path:
            cells += [reason, "-", "-"]
            continue
        error, same = compare(expected, outputs_of(path, samples))
        errors.append(error)
        counts.append(labels.count(path))
        cells += [f"{error:.4f}", f"{100 * same:.1f} %" if same == same else "-", told(counts[-1])] + ([name] if name else [])
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)
    return len(errors) == 2 and (errors[0] > errors[1] or counts[1][0] < counts[2][0])


def told(count):
    return f"{count[0]} of {count[1]}" if count[1] else "-"


if __name__ == "__main__":
    sys.exit(main())
