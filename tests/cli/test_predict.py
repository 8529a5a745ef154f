"""hone recommend --predict and hone dataset export, over a store of a few small models."""

import contextlib
import csv
import hashlib
import importlib.util
import io
import json
import os
import pathlib
import re
import shutil
import sqlite3
import sys

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import hone as command
from hone import HONE, ROOT, refused, sound

MODELS = ["zoo:mlp", "zoo:conv", "zoo:transformer", "zoo:mnist_cnn", "zoo:dlrm"]


@pytest.fixture(scope="module")
def box(tmp_path_factory):
    box = command.Sandbox(tmp_path_factory.mktemp("predict"))
    sound(box("bench", *MODELS, "--backend", "native", "--threads", "1", "--rounds", "3", "--processes", "1", "--min-time", "0.02",
              "--min-samples", "3", "--warmup", "0.02", "--resume", "never", "-q"))
    return box


def test_predictions_have_intervals_and_abstain(box):
    result = box("recommend", "zoo:mlp", "--batch", "16", "--backend", "native", "--threads", "1", "--predict", "--json", "-")
    sound(result)
    found = json.loads(result.text)
    assert found["models"] == len(MODELS)
    quality = found["left_out_errors"]["latency_ms"]
    assert quality["used"] in ("roofline", "xgboost") and quality["rows"] == len(MODELS)
    row, = found["rows"]
    for target in ("latency_ms", "memory_bytes", "size_bytes"):
        if isinstance(row[target], list):
            value, low, high = row[target]
            assert 0 < low <= high and value > 0
        else:
            assert row[target]["abstained"]
    result = box("recommend", "zoo:bert_base", "--backend", "native", "--threads", "1", "--predict")
    sound(result)
    assert "unlike" in result.text and "roofline" in result.text


@pytest.mark.long
def test_each_batch_is_predicted_and_the_models_own_is_known(box):
    """Several batch sizes are predicted as each alone; without --batch, a built-in model has the batch size of its stored rows."""
    words = ["recommend", "zoo:mlp", "--backend", "native", "--threads", "1", "--predict", "--json", "-"]
    several = json.loads(box(*words, "--batch", "1,64").text)["rows"]
    assert [row["batch"] for row in several] == [1, 64]
    alone = [json.loads(box(*words, "--batch", str(row["batch"])).text)["rows"][0] for row in several]
    assert [row["memory_bytes"] for row in several] == [row["memory_bytes"] for row in alone]
    assert [row["batch"] for row in json.loads(box(*words).text)["rows"]] == [4]
    assert re.search(r"^  native +fp32 +batch 64 +1 thread ", box(*words[:-2], "--batch", "1,64").text, flags=re.M)
    refused(box(*words, "--batch", "1,many"), "E_USAGE", "--batch")


def test_predictions_go_where_they_are_asked_for(box):
    result = box("recommend", "zoo:mlp", "--backend", "native", "--predict", "--json", "said.json")
    sound(result)
    assert json.loads((box.folder / "said.json").read_text())["models"] == len(MODELS) and "left out" in result.text
    for words in (["--budget", "5s"], ["--max-latency", "5ms"], ["--objective", "size"], ["--bundle", "b"], ["--hybrid"],
                  ["--min-accuracy", "0.9"]):
        refused(box("recommend", "zoo:mlp", "--predict", *words), "E_USAGE", "a measurement, and --predict makes none")
    refused(box("recommend", "zoo:mlp", "--predict", "--device", "ssh:a"), "E_UNSUP", "this machine only")


RECORDS = ["docs/records/records.csv", "docs/records/intel/records.csv"]


def library(package, path):
    """A file of a package of the tests' Python, which is not loaded for it."""
    spec = importlib.util.find_spec(package)
    if not spec:
        pytest.skip(f"needs {package} in the tests' Python")
    return pathlib.Path(spec.origin).parent / path


@pytest.fixture(scope="module")
def learnt(tmp_path_factory):
    """Predictions from the published records alone, with XGBoost."""
    box = command.Sandbox(tmp_path_factory.mktemp("records"))
    words = [word for path in RECORDS for word in ("--records", ROOT / path)]
    result = box("recommend", "zoo:resnet18", *words, "--engine", f"xgboost={library('xgboost', 'lib/libxgboost.so')}", "--backend",
                 "native", "--threads", "1,2", "--batch", "1,2", "--predict", "--json", "-")
    sound(result)
    return json.loads(result.text)


def test_records_of_others_teach_a_new_user(learnt):
    """Without a store of one's own: every candidate has an interval, and the better method on models left out is used."""
    assert {(row["batch"], row["threads"]) for row in learnt["rows"]} == {(b, t) for b in (1, 2) for t in (1, 2)}
    for row in learnt["rows"]:
        for value, low, high in (row["latency_ms"], row["memory_bytes"], row["size_bytes"]):
            assert 0 < low < high and low < 1.2 * value and value < 1.2 * high, row
    for quality in learnt["left_out_errors"].values():
        assert quality["used"] == ("xgboost" if quality["xgboost"] < quality["roofline"] else "roofline"), quality
    assert learnt["left_out_errors"]["memory_bytes"]["used"] == "xgboost"  # XGBoost learns the baseline's residual


def test_the_published_errors_are_those_of_the_published_records(learnt):
    page = (ROOT / "docs/how-to/choose.md").read_text()
    rows, models = re.search(r"Over the (\d+) plain rows of their (\d+) models", page).groups()
    assert learnt["models"] == int(models) and learnt["left_out_errors"]["latency_ms"]["rows"] == int(rows)
    for target, quality in learnt["left_out_errors"].items():
        line = re.search(rf"^\| {target.split('_')[0]} \| ([\d.]+) \| ([\d.]+) \| (\w+) \|$", page, flags=re.M)
        assert float(line[1]) == pytest.approx(quality["roofline"], abs=0.001), target
        assert float(line[2]) == pytest.approx(quality["xgboost"], abs=0.02), target  # sums of another processor's vectors
        assert line[3].lower() == quality["used"], target


def test_an_exported_data_set_teaches_what_its_store_does(box, hone):
    """The same models, rows and errors with any quotes, line breaks and additional columns in the file."""
    words = ["recommend", "zoo:mlp", "--backend", "native", "--threads", "1", "--predict", "--json", "-"]
    sound(box("dataset", "export", "-o", "taught"))
    table = list(csv.reader(io.StringIO((box.folder / "taught" / "records.csv").read_text())))
    table = [["a \"new\",\ncolumn", *table[0]], *(["x,\r\n\"y\"" * 300, *row] for row in table[1:])]
    with (hone.folder / "records.csv").open("w", newline="") as file:
        csv.writer(file).writerows(table)
    ours, theirs = json.loads(box(*words).text), json.loads(hone(*words, "--records", "records.csv").text)
    assert ours["models"] == theirs["models"] == len(MODELS)
    for target, quality in ours["left_out_errors"].items():
        assert theirs["left_out_errors"][target]["roofline"] == pytest.approx(quality["roofline"], rel=1e-4), target
    together = json.loads(box(*words, "--records", hone.folder / "records.csv").text)  # the same models, not twice as many
    assert together["models"] == len(MODELS) and together["left_out_errors"]["latency_ms"]["rows"] == 2 * len(MODELS)


@pytest.mark.parametrize("old, new, says", [
    ("", None, "row 0: not a file of hone dataset export"), ('"model_hash"', '"hash"', "has no column model_hash"),
    ('"feature.roofline"', '"feature.other"', "has no column roofline"), ('"zoo:mnist_cnn"', "zoo:mnist_cnn,1", "row 1: "),
    ('"ok"', '"well"', "row 1: invalid value in the column status"), ("0.128450", "fast", "column latency_ms.p50"),
    (",36.782", ",1e300", "column peak"), (",19.055", ",1,19.055", "row 1: fewer or more fields"),
    ('"zoo:mnist_cnn"', '"zoo:mnist_cnn', "row 1: "), ('"zoo:mnist_cnn"', '"' + "x" * 300 + '"', "column model")])
def test_what_is_no_data_set_is_refused_with_its_row(hone, old, new, says):
    text = "".join((ROOT / RECORDS[0]).read_text().splitlines(keepends=True)[:2])
    (hone.folder / "r.csv").write_text("" if new is None else text.replace(old, new, 1))
    assert new is None or old in text
    refused(hone("recommend", "zoo:mlp", "--predict", "--records", "r.csv"), "E_FORMAT", says)


def test_invalid_records_are_refused_before_the_measurement(hone):
    for words in (["--budget", "1h"], ["--predict"]):
        refused(hone("recommend", "zoo:mlp", *words, "--records", "nowhere.csv"), "E_NOFILE", "nowhere.csv")
        refused(hone("recommend", "zoo:mlp", *words, "--records", ROOT / "LICENSE"), "E_FORMAT", "not a file of hone dataset export")


def save(path, op, columns):
    """x[1, 64] by a constant, and an operator after it."""
    path.parent.mkdir()
    weight = numpy_helper.from_array(np.ones((64, columns), np.float32), "w")
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node(op, ["h"], ["y"])], "g",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 64])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, columns])], [weight])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


@pytest.mark.long
def test_models_are_counted_by_what_they_are(hone):
    """Two files of one name are two models, a file without rows does not count, and batches of a model are one model."""
    quick = ["--backend", "native", "--threads", "1", "--rounds", "3", "--processes", "1", "--min-time", "0.02", "--min-samples",
             "3", "--warmup", "0.02", "-q"]
    for folder, op, columns in (("a", "Relu", 32), ("b", "Relu", 64), ("c", "NoSuchOperator", 8)):
        hone("bench", save(hone.folder / folder / "model.onnx", op, columns), *quick, "--fail-on", "none")
    sound(hone("bench", "zoo:mlp", "--batch", "1,2", *quick))
    result = hone("recommend", "zoo:mlp", "--predict", "--backend", "native", "--json", "-")
    sound(result)
    assert json.loads(result.text)["models"] == 3


def add_slow_twins(path, factor, **other):
    """Every record of a store again, as another engine or precision whose times are multiplied by a factor."""
    base = sqlite3.connect(path)
    base.row_factory = sqlite3.Row
    for table, key in (("cell", "key"), ("incarnation", "cell"), ("block", "cell")):
        for row in [dict(row) for row in base.execute(f"select * from {table}")]:
            row[key] = hashlib.md5(row[key].encode()).hexdigest()
            if table == "cell":
                row.update(other)
            if table == "block":
                row["samples"] = (np.frombuffer(row["samples"], "<u8") * factor).tobytes()
            base.execute(f"insert into {table} ({','.join(row)}) values ({','.join('?' * len(row))})", list(row.values()))
    base.commit()
    base.close()


@pytest.fixture(scope="module")
def short_elimination(box):
    """hone recommend with time for one candidate, over a store where a second one was 10,000 times as slow: (lines that say what
    was not tried, the answer)."""
    site = pathlib.Path(pytest.importorskip("onnxruntime").__file__).parents[1]

    def run(*words, env=None, **twins):
        shutil.copy(box.folder / "data/hone/results.db", box.folder / "twins.db")
        add_slow_twins(box.folder / "twins.db", 10000, **twins)
        result = box("recommend", "zoo:mlp", "--engine", f"onnxruntime={site}", "--threads", "1", "--budget", "2", "--store", "twins.db",
                     "--json", "answer.json", "-q", *words, env=env)
        assert result.code in (0, 1, 5), result  # undecided where nothing else was measured
        lines = [line for line in result.text.splitlines() if line.startswith("  not tried")]
        return lines, json.loads((box.folder / "answer.json").read_text())

    return run


def test_what_the_budget_does_not_reach_for_is_in_the_answer(short_elimination):
    """An engine whose whole predicted interval is worse is not tried if the time is short: a line, and a row in the JSON."""
    lines, answer = short_elimination("--backend", "native,onnxruntime", backend="onnxruntime")
    assert len(lines) == 1 and lines[0].startswith("  not tried  onnxruntime, fp32, 1 thread, batch 4: the budget is too short for all candidates; "
                                                   "predicted median latency "), lines
    assert [r["backend"] for r in answer["rows"]] == ["native"]
    row, = answer["dropped"]
    assert row["backend"] == "onnxruntime" and row["threads"] == 1 and row["look"] == 0 and "predicted" in row["reason"]
    assert row["batch"] == 4


def test_records_of_this_machine_say_nothing_of_another(box, short_elimination):
    """No candidate is skipped on a device without known peaks and records; a fake adb runs its commands here."""
    adb = box.folder / "bin" / "adb"
    adb.parent.mkdir()
    adb.write_text("#!/bin/sh\n[ \"$1\" = -s ] && shift 2\n[ \"$1 $2\" = 'shell -T' ] || exit 9\nshift 2\nexec \"$@\"\n")
    adb.chmod(0o755)
    lines, answer = short_elimination("--backend", "native,onnxruntime", "--device", "adb:one", "--device-hone", HONE, backend="onnxruntime",
                               env={"PATH": f"{adb.parent}:{os.environ['PATH']}"})
    assert not lines and {r["backend"] for r in answer["rows"] + answer["dropped"]} == {"native", "onnxruntime"}, answer


def test_several_batches_are_all_measured(short_elimination):
    """If an engine is kept, all its batch sizes are; throughput is predicted per sample."""
    lines, answer = short_elimination("--backend", "native", "--batch", "1,2", "--objective", "throughput", backend="other")
    assert not lines and {r["batch"] for r in answer["rows"] + answer["dropped"]} == {1, 2}, (lines, answer)

def test_a_predicted_time_says_nothing_of_another_objective(short_elimination):
    """The slow one may be the smaller one; if it is unknown whether the fast one meets a bound, the slow one may be the only choice."""
    for words in (["--objective", "size"], ["--max-start", "0.001us"]):
        lines, answer = short_elimination("--backend", "native,onnxruntime", *words, backend="onnxruntime")
        assert not lines and {r["backend"] for r in answer["rows"] + answer["dropped"]} == {"native", "onnxruntime"}, (words, lines)


def test_a_bound_that_is_certainly_missed_is_the_reason(box, short_elimination):
    short_elimination("--backend", "native", backend="onnxruntime")  # leaves its store
    result = box("recommend", "zoo:mlp", "--threads", "1", "--store", "twins.db", "--predict", "--json", "-")
    sound(result)
    native = next(r["latency_ms"] for r in json.loads(result.text)["rows"] if r["backend"] == "native")
    bound = f"{100 * native[0]}ms"  # a hundredth of the predicted time of the other
    lines, _ = short_elimination("--backend", "native,onnxruntime", "--objective", "size", "--max-latency", bound, backend="onnxruntime")
    assert len(lines) == 1 and "onnxruntime" in lines[0] and "predicted median latency " in lines[0] and ", above the limit of " in lines[0], lines


def test_what_is_measured_after_all_is_not_called_untried(short_elimination):
    """Rounds measure backends by threads and precisions: of an engine that is kept every precision is measured."""
    lines, answer = short_elimination("--backend", "native", "--precision", "fp32,bf16", precision="bf16")
    assert not lines and {r["precision"] for r in answer["rows"] + answer["dropped"]} == {"fp32", "bf16"}, (lines, answer)


def test_each_precision_is_predicted_by_itself(box):
    result = box("recommend", "zoo:mlp", "--batch", "16", "--backend", "native", "--threads", "1", "--precision", "fp32,bf16,fp16",
                 "--predict", "--json", "-")
    sound(result)
    rows = {r["precision"]: r["latency_ms"] for r in json.loads(result.text)["rows"]}
    assert set(rows) == {"fp32", "bf16", "fp16"} and isinstance(rows["fp32"], list), rows
    assert all("precision" in rows[low]["abstained"] for low in ("bf16", "fp16")), rows


def test_an_empty_store_teaches_nothing(hone):
    result = hone("recommend", "zoo:mlp", "--predict")
    sound(result)
    assert "too few models" in result.text


def test_the_dataset(box):
    result = box("dataset", "export", "-o", "set")
    sound(result)
    rows = list(csv.DictReader(io.StringIO((box.folder / "set" / "records.csv").read_text())))
    assert {r["model"] for r in rows} == set(MODELS) and all(r["status"] == "ok" for r in rows)
    assert all(float(r["feature.flops"]) > 0 and float(r["latency_ms.p50"]) > 0 and r["fingerprint"] for r in rows)
    text = (box.folder / "set" / "records.csv").read_text() + (box.folder / "set" / "README.md").read_text()
    assert str(box.folder) not in text and "repeat" not in rows[0]
    assert not re.search(rf"\b{re.escape(os.uname().nodename)}\b", text)
    card = (box.folder / "set" / "README.md").read_text()
    assert f"Rows: {len(rows)}; studies: 1; models: {len(MODELS)}; machines: 1; " in card
    cpu = json.loads(box("report", "last", "--json", "-").text)["machine"]["cpu"]
    brand = re.match(r"\w+", cpu)[0]
    assert re.search(rf"^\| {rows[0]['fingerprint']} \| .*{brand}.* \| [1-9]\d* \| ", card, flags=re.M), card
    assert "| feature.flops | log2 | " in card and "| feature.conv_share |  | " in card
    for column in rows[0]:
        assert f"| {column} |" in card
    sound(box("dataset", "export", "-o", "set"))  # again: its own files may be replaced
    (box.folder / "mine").mkdir()
    for name, text in (("records.csv", "a,b\n1,2\n"), ("README.md", "# My project\n"), ("records.parquet", "PAR, they said")):
        (box.folder / "mine" / name).write_text(text)
        refused(box("dataset", "export", "-o", "mine", "--parquet"), "E_PATH", name)
        assert [(p.name, p.read_text()) for p in (box.folder / "mine").iterdir()] == [(name, text)]
        (box.folder / "mine" / name).unlink()


def test_a_fraction_is_no_path_of_the_dataset(box):
    """Words of a store as an engine may have said them: "|d|/|r|" stays, a folder between bars does not."""
    box("bench", "zoo:mlp", "--backend", "onnxruntime", "--engine", "onnxruntime=/nowhere", "--threads", "1", "--no-measure", "-q", "--store",
        "said.db", "--fail-on", "none")
    with contextlib.closing(sqlite3.connect(box.folder / "said.db")) as store, store:
        store.execute("UPDATE incarnation SET reason = 'max|d|/max|r| = 2 of |/home/me/x|'")
    sound(box("dataset", "export", "-o", "said", "--store", "said.db"))
    rows = list(csv.DictReader(io.StringIO((box.folder / "said" / "records.csv").read_text())))
    assert [r["reason"] for r in rows] == ["max|d|/max|r| = 2 of |PATH|"], rows


@pytest.mark.long
def test_the_dataset_names_no_folder_of_the_users(box):
    """Messages of engines and options can contain paths, so they are not exported from the store."""
    place = "/nowhere/secret place/site"
    box("bench", "zoo:mlp", "--backend", "native,onnxruntime", "--engine", f"onnxruntime={place}", "--threads", "1", "--rounds", "2",
        "--processes", "1", "--min-time", "0.01", "--min-samples", "3", "--warmup", "0.01", "-q", "--store", "paths.db",
        "--fail-on", "none")
    assert place in box("report", "last", "--json", "-", "--store", "paths.db").text
    sound(box("dataset", "export", "-o", "clean", "--store", "paths.db"))
    rows = list(csv.DictReader(io.StringIO((box.folder / "clean" / "records.csv").read_text())))
    assert len(rows) == 2 and any("PATH" in r["reason"] for r in rows), rows
    assert not any("/nowhere" in value or "secret" in value for r in rows for value in r.values()), rows


def test_what_is_not_a_model_is_no_row(box):
    """A study of files that no engine can read is refused before it is stored; together with a model such a file has rows in the study and
    none in the data set."""
    (box.folder / "notes.onnx").write_text("this is no model\n")
    short = ["--backend", "native,onnxruntime", "--engine", "onnxruntime=/nowhere", "--threads", "1", "--rounds", "2", "--processes",
             "1", "--min-time", "0.01", "--min-samples", "3", "--warmup", "0.01", "-q", "--no-measure", "--store", "mixed.db"]
    refused(box("bench", "notes.onnx", *short), "E_FORMAT", "looks like text")
    refused(box("recommend", "notes.onnx", "--budget", "2s", "--threads", "1", "--store", "mixed.db"), "E_FORMAT", "looks like text")
    assert not (box.folder / "mixed.db").exists()
    sound(box("bench", "notes.onnx", "zoo:mlp", *short, "--fail-on", "none"))
    assert "notes.onnx" in box("report", "last", "--json", "-", "--store", "mixed.db").text
    sound(box("dataset", "export", "-o", "mixed", "--store", "mixed.db"))
    rows = list(csv.DictReader(io.StringIO((box.folder / "mixed" / "records.csv").read_text())))
    assert [r["model"] for r in rows] == ["zoo:mlp", "zoo:mlp"], rows


def test_parquet_holds_the_same(box):
    duckdb = pytest.importorskip("duckdb")
    environment = pathlib.Path(sys.prefix)
    sound(box("dataset", "export", "-o", "both", "--parquet", "--engine", f"duckdb={environment}"))
    path = str(box.folder / "both" / "records.parquet")
    lines = list(csv.DictReader((box.folder / "both" / "records.csv").open()))
    found = duckdb.read_parquet(path)
    assert found.columns == list(lines[0]) and len(found.fetchall()) == len(lines)
    assert "records.parquet" in (box.folder / "both" / "README.md").read_text()


def test_usage(hone):
    refused(hone("dataset"), "E_USAGE", "export")
    refused(hone("dataset", "export"), "E_USAGE", "-o")
    refused(hone("dataset", "export", "-o", "x"), "E_NOFILE")
