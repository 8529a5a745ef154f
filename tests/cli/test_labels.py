"""A labelled set as --inputs: every row's accuracy, and the share of the reference's accuracy that it retains."""

import json
import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest
from hone import SHARED, refused, sound
from onnx import TensorProto, helper, numpy_helper

ort = pytest.importorskip("onnxruntime")
QUICK = ["--rounds", "1", "--processes", "1", "--warmup", "0.005", "--min-time", "0.005", "--min-samples", "3",
         "--no-measure", "--threads", "1", "--json", "-", "--engine",
         f"onnxruntime={Path(ort.__file__).parent.parent}", "--backend", "native,onnxruntime"]
KEYWORDS = "Down Go Left No Off On Right Stop Up Yes Silence Unknown".split()


def rows_of(result):
    assert result.out, result
    return {r["backend"]: r for r in json.loads(result.text)["records"]}


def labelled(folder, labels, samples, **more):
    """labels.json and a folder for each sample: (name, input arrays, label)."""
    folder.mkdir(exist_ok=True)
    for name, arrays, _ in samples:
        (folder / name).mkdir(exist_ok=True)
        for i, array in enumerate(arrays):
            np.save(folder / name / f"in_{i}.npy", array)
    (folder / "labels.json").write_text(json.dumps(
        {"metric": labels, "samples": [{"folder": n, "label": label} for n, _, label in samples], **more}))
    return folder


def linear(path, shape=(1, 4), name="y"):
    """y = 3 x: outputs are what the samples say."""
    graph = helper.make_graph([helper.make_node("Mul", ["x", "three"], [name])], "g",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)],
                              [numpy_helper.from_array(np.float32(3), "three")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def one_hot(k, n=4):
    return np.eye(n, dtype=np.float32)[k][None]


def test_top1_of_known_outputs(hone, tmp_path):
    """Three of four samples are correct on every engine: accuracy 0.75, retention 1."""
    model = linear(tmp_path / "m.onnx")
    data = labelled(tmp_path / "set", "top1",
                    [("a", [one_hot(0)], 0), ("b", [one_hot(1)], 1), ("c", [one_hot(2)], 2), ("d", [one_hot(3)], 0)])
    result = hone("bench", model, "--inputs", data, *QUICK, "--html", tmp_path / "r.html", "--md", tmp_path / "r.md",
                  "--csv", tmp_path / "r.csv")
    for row in rows_of(result).values():
        assert row["status"] == "ok", result
        assert (row["task_metric"], row["task_accuracy"], row["task_reference"], row["accuracy_retention"]) == \
            ("top1", 0.75, 0.75, 1), row
    assert "top1 0.7500, 100.0 %" in (tmp_path / "r.html").read_text()
    assert "top1 0.7500, 100.0 % of the reference" in (tmp_path / "r.md").read_text()
    assert "accuracy_retention" in (tmp_path / "r.csv").read_text().splitlines()[0]
    for columns in ("60", "80", "100"):  # a narrow terminal never drops the requested column
        assert hone("report", "last", env={"COLUMNS": columns}).text.count("top1 0.7500") == 2


def test_a_sample_that_does_not_fit_costs_the_accuracy_only(hone, tmp_path):
    model = linear(tmp_path / "m.onnx")
    data = labelled(tmp_path / "set", "top1", [("a", [one_hot(0)], 0), ("b", [one_hot(1, 5)], 1)])
    result = hone("bench", model, "--inputs", data, *QUICK)
    for row in rows_of(result).values():
        assert row["status"] == "ok" and row["task_accuracy"] is None and not row["flags"].count("unclean"), row
    assert "labels:" in result.errors


@pytest.mark.parametrize("text,part", [
    ("{", "line 1"), ('{"metric": "beauty", "samples": []}', 'needs "metric"'), ('{"metric": "top1"}', '"samples"'),
    ('{"metric": "top1", "samples": [{"folder": "../a", "label": 1}]}', "sample 0"), ("a b\n", "FOLDER LABEL")])
def test_labels_that_are_none(hone, tmp_path, text, part):
    model = linear(tmp_path / "m.onnx")
    data = labelled(tmp_path / "set", "top1", [("a", [one_hot(0)], 0)])
    (data / "labels.json").write_text(text)
    refused(hone("bench", model, "--inputs", data, *QUICK), "E_FORMAT", part)


def shared_set(tmp_path, entry, io, metric, labels, **more):
    """The collection's samples with their labels, as a labelled set."""
    data = tmp_path / f"{entry}-{io}"
    data.mkdir()
    samples = []
    for name, label in labels.items():
        shutil.copytree(SHARED / "models" / entry / io / name, data / name)
        samples.append({"folder": name, "label": label})
    (data / "labels.json").write_text(json.dumps({"metric": metric, "samples": samples, **more}))
    return data


@pytest.mark.skipif(not (SHARED / "models/mlperf_kws_dscnn").is_dir(), reason="no shared models")
@pytest.mark.parametrize("file,io", [("model_f32.onnx", "io_f32"), ("model_int8_qdq.onnx", "io_int8")])
def test_keyword_spotting_float_and_quantised(hone, tmp_path, file, io):
    """Four of the five clips are right, as the collection says, by every engine whose int8 products do not saturate."""
    entry = SHARED / "models/mlperf_kws_dscnn"
    manifest = json.loads((SHARED / "models/manifest.json").read_text())
    entries = manifest["entries"] if isinstance(manifest, dict) else manifest
    cases = next(e for e in entries if e["id"] == "mlperf_kws_dscnn")["cases"][io]
    labels = {k: KEYWORDS.index("Unknown" if "/" in c["label"] else c["label"]) for k, c in cases.items() if c["label"]}
    data = shared_set(tmp_path, "mlperf_kws_dscnn", io, "top1", labels)
    result = hone("bench", entry / file, "--inputs", data, *QUICK, "--precision", "as-is")
    for row in rows_of(result).values():
        assert row["status"] == "ok", (row["reason"], result)
        if row["backend"] == "native" or "f32" in file or "vnni" in Path("/proc/cpuinfo").read_text():
            assert row["task_accuracy"] == 0.8 and row["accuracy_retention"] == 1, row
