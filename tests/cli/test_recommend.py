"""hone recommend: screening and elimination rounds, an answer that agrees with its rows, bounds that are met or named."""

import contextlib
import json
import pathlib
import threading
import time

import numpy as np
import onnx
import pytest
from hone import refused, sound
from onnx import TensorProto, helper, numpy_helper

ONNXRUNTIME = pathlib.Path(pytest.importorskip("onnxruntime").__file__).parents[1]


@pytest.fixture(scope="module")
def answer(shared_hone):
    for budget in ("4s", "60s", "600s"):  # on a busy machine 4 s do not reach for a second row, which is undecided
        result = shared_hone("recommend", "zoo:mlp", "--backend", "native,onnxruntime", "--budget", budget, "--json", "-",
                             "--quiet")
        assert result.code in (0, 5), result
        if not result.code:
            break
    return json.loads(result.text)


def test_the_choice_is_borne_out_by_its_rows(answer, shared_hone):
    rows = {r["cell"]: r for r in answer["rows"]}
    chosen = rows[answer["choice"]]
    assert chosen["standing"] == "chosen" and answer["objective"] == "latency"
    for row in rows.values():
        if row["standing"] in ("behind", "runner-up"):
            # paired measurements decide, not the two medians: on a busy machine the medians may be in reverse order
            assert row["latency"] > 0.5 * chosen["latency"] and row["reason"].startswith("median latency")
        assert row["reason"]
    if answer["is_decided"]:
        assert answer["ratio"][1] > 1 and answer["regret"] == 0
    if answer.get("runner_up") is None:  # then nothing else holds every bound
        assert not {row["standing"] for row in rows.values()} & {"runner-up", "behind", "tied", "undecided"}, answer
    tied = [row for row in rows.values() if row["standing"] == "tied"]
    assert answer["regret"] >= 0 and (tied or answer["regret"] == 0), answer
    report = shared_hone("report", answer["study"], "--json", "-")
    sound(report)
    assert {r["cell"] for r in json.loads(report.text)["records"]} >= set(rows)  # rows without a later measurement have those of the screening round
    # if both were measured together the ratio is that of their paired slices in the last round that decided it, not of two intervals,
    # and no more is claimed than that study does
    names = [line.split()[0] for line in shared_hone("studies").text.splitlines() if "recommend" in line]
    pairs = [c for name in names for c in json.loads(shared_hone("report", name, "--json", "-").text)["comparisons"]
             if (c["a"], c["b"]) == (answer.get("runner_up"), answer["choice"]) and None not in c["ci"]]
    for c in sorted(pairs, key=lambda c: c["verdict"] == "undecided")[:1]:  # the newest study is the first
        assert answer["ratio"] == pytest.approx([c["ratio"], *c["ci"]], rel=1e-4)
        assert answer["is_decided"] == (c["verdict"] == "slower"), answer
    time_of = answer["time"]
    for phase in time_of["phases"]:  # no phase gets more time than is left, and each ends within an extra quarter of its time
        assert phase["begin_s"] + phase["budget_s"] <= time_of["budget_s"] or phase["budget_s"] <= 0.01, time_of
    assert "recommend: screening round" in [p["phase"] for p in time_of["phases"]] and all(p["all_s"] > 0 for p in time_of["phases"])
    assert time_of["budget_s"] in (4, 60, 600) and 0 <= time_of["reference_s"] < time_of["all_s"] and time_of["forms_s"] == 0, time_of


def test_a_bound_that_nothing_holds_names_what_is_needed(shared_hone):
    result = shared_hone("recommend", "zoo:mlp", "--backend", "native", "--threads", "1", "--budget", "1", "--max-memory",
                         "1kB")
    assert result.code == 1, result
    assert "the reason is memory while running; with" in result.text
    assert "memory while running" in result.text and "above the limit of 1.00 kB" in result.text


def test_a_variant_stays_what_was_asked_for(shared_hone):
    """Every round measures the named variant, not the engine's default."""
    result = shared_hone("recommend", "zoo:mlp", "--backend", "native:unpinned", "--threads", "1", "--budget", "4", "--json",
                         "-", "--quiet")
    sound(result)
    answer = json.loads(result.text)
    assert [(row["backend"], row["variant"]) for row in answer["rows"]] == [("native", "unpinned")]


def test_several_bounds_that_nothing_holds_are_all_named(shared_hone):
    result = shared_hone("recommend", "zoo:mlp", "--backend", "native", "--threads", "1", "--budget", "1", "--max-memory",
                         "1kB", "--max-latency", "0.000001ms", "--json", "-", "--quiet")
    assert result.code == 1, result
    answer = json.loads(result.text)
    assert set(answer["needs"]) == {"latency", "memory"} and "binding" not in answer, answer
    assert answer["needs"]["memory"] > 1000 and "nearest is native" in answer["conclusion"]
    row, = answer["rows"]
    assert row["standing"] == "out" and [(m["bound"], m["value"], m["limit"], m["is_sure"]) for m in row["missed"]] == [
        ("latency", row["latency"], 1e-6, True), ("memory", row["memory"], 1000, True)], row
    assert row["reason"].startswith("median latency ") and "; memory while running " in row["reason"], row


def test_a_budget_counts_what_engines_take_to_start(shared_hone):
    """10 ms are over before the second one opens on every machine: one is measured, so the answer is "undecided", and the other has the
    reason. No phase begins after the end of the budget."""
    result = shared_hone("recommend", "zoo:mlp", "--backend", "native,onnxruntime", "--threads", "1", "--budget", "0.01s", "--json", "-",
                         "--quiet", "--engine", f"onnxruntime={ONNXRUNTIME}")
    assert result.code == 5, result
    answer = json.loads(result.text)
    told = {row["backend"]: (row["standing"], row["reason"]) for row in answer["rows"]}
    assert told["native"][0] == "undecided" and told["onnxruntime"] == (
        "invalid", "interrupted: the budget was spent before its turn"), answer
    assert answer["is_undecided"] and "choice" not in answer and answer["conclusion"].startswith("undecided: native"), answer
    assert answer["time"]["phases"][-1]["phase"] == "recommend: screening round", answer
    shown = shared_hone("recommend", "zoo:mlp", "--backend", "native,onnxruntime", "--threads", "1", "--budget", "0.01s", "--quiet",
                        "--bundle", "none", "--engine", f"onnxruntime={ONNXRUNTIME}")
    assert shown.code == 5 and shown.text.startswith("undecided: ") and not (shared_hone.folder / "none").exists(), shown


def test_an_engine_that_is_not_installed_is_no_competitor(shared_hone, tmp_path):
    """Whether its row was reached or not: no budget would give it a result."""
    result = shared_hone("recommend", "zoo:mlp", "--backend", "native,onnxruntime", "--engine", f"onnxruntime={tmp_path}", "--threads", "1",
                         "--budget", "0.01s", "--json", "-", "--quiet")
    sound(result)
    answer = json.loads(result.text)
    assert answer["choice"] and not answer["is_undecided"], answer


@pytest.mark.long
def test_the_rest_of_the_budget_goes_to_the_row_without_a_result(hone, tmp_path):
    """A slow first row uses up the screening round; the next round measures the other row, and the two are compared."""
    copier(tmp_path / "m.onnx")
    for budget in (12, 40, 150):  # on a busy machine the shorter ones leave nothing
        result = hone("recommend", tmp_path / "m.onnx", "--backend", "fake,null", "--backend-option", "fake.latency_us=400000",
                      "--threads", "1", "--budget", str(budget), "--store", f"{budget}.db", "--json", "-", "--quiet",
                      env={"HONE_TESTING": "1"})
        answer = json.loads(result.text)
        rounds = [[row["backend"] for row in json.loads(hone("report", name, "--store", f"{budget}.db", "--json", "-", env={
            "HONE_TESTING": "1"}).text)["records"] if row["status"] == "ok"] for name in study_names(hone, f"{budget}.db")]
        measured = {backend for one in rounds for backend in one}  # the last round alone may have had time for one of the two
        assert (result.code, answer["conclusion"].startswith("undecided")) == ((5, True) if len(measured) == 1 else (0, False)), result
        assert all(p["begin_s"] + p["budget_s"] <= budget or p["budget_s"] <= 0.01 for p in answer["time"]["phases"]), answer["time"]
        if len(measured) == 2:
            break
    assert len(measured) == 2 and answer["choice"] == answer["rows"][[r["backend"] for r in answer["rows"]].index("null")]["cell"], answer
    assert rounds[0] == ["fake"] or set(rounds[0]) == {"fake", "null"}, rounds


def study_names(hone, store):
    """Oldest first."""
    lines = hone("studies", "--store", store, env={"HONE_TESTING": "1"}).text.splitlines()
    return [line.split()[0] for line in lines if "recommend" in line][::-1]


def test_most_threads_are_measured_first(shared_hone):
    """However the numbers were given: of a model that takes longer than the budget the faster row is likely the one of more threads."""
    result = shared_hone("recommend", "zoo:mlp", "--backend", "native", "--threads", "1,2", "--budget", "0.01s", "--json", "-", "--quiet")
    standing = {row["threads"]: (row["standing"], row["reason"]) for row in json.loads(result.text)["rows"]}
    assert standing[1] == ("invalid", "interrupted: the budget was spent before its turn") and standing[2][0] != "invalid", standing


def test_what_the_budget_interrupted_is_measured_again(hone, tmp_path):
    """An engine that does not open is interrupted in the screening round and again in the next round."""
    identity = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "g",
                                 [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4])],
                                 [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4])])
    onnx.save(helper.make_model(identity, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    for budget in (12, 200):  # on a busy machine nothing is left of 12 s
        store = ["--store", f"{budget}.db"]
        result = hone("recommend", tmp_path / "m.onnx", "--backend", "native,fake", "--backend-option", "fake.fault=sleep",
                      "--backend-option", "fake.at=open", "--threads", "1", "--budget", str(budget), *store, "--json", "-", "--quiet",
                      env={"HONE_TESTING": "1"})
        sound(result, 5)
        rows = [row for row in measured_rows(hone, *store, env={"HONE_TESTING": "1"}) if row["backend"] == "fake"]
        if len(rows) > 1:
            break
    answer = json.loads(result.text)
    assert len(rows) == 2 and {row["status"] for row in rows} == {"interrupted"}, rows
    assert all("budget" in row["reason"] for row in rows), rows
    told = {row["backend"]: row["standing"] for row in answer["rows"]}
    assert told["native"] == "undecided" and answer["conclusion"].endswith("the budget ended before another candidate was measured"), answer


def copier(path):
    """A model whose copy takes every engine about the same time."""
    identity = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "g",
                                 [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1 << 18])],
                                 [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1 << 18])])
    onnx.save(helper.make_model(identity, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def test_results_of_an_earlier_round_are_carried_over(hone, tmp_path):
    """From the second round on one of two engines does not open: its figures and pairs are those of the first, and its row says so."""
    copier(tmp_path / "m.onnx")
    for budget in ("12", "200"):  # on a busy machine nothing is left of 12 s for a second round
        (tmp_path / "mark").unlink(missing_ok=True)
        store = ["--store", f"{budget}.db"]
        result = hone("recommend", tmp_path / "m.onnx", "--backend", "null,fake", "--backend-option", "fake.latency_us=0",
                      "--backend-option", "fake.fault=sleep", "--backend-option", "fake.at=open", "--backend-option",
                      f"fake.mark={tmp_path / 'mark'}", "--threads", "1", "--budget", budget, *store, "--json", "-", "--quiet",
                      env={"HONE_TESTING": "1"})
        sound(result)
        answer = json.loads(result.text)
        seen = [row for row in measured_rows(hone, *store, env={"HONE_TESTING": "1"}) if row["backend"] == "fake"]
        if len(seen) > 1 and seen[-1]["status"] == "ok":
            break
    first = seen[-1]  # the newest study is the first one named
    assert first["status"] == "ok" and {row["status"] for row in seen[:-1]} <= {"interrupted", "timeout"}, seen
    row, = (row for row in answer["rows"] if row["backend"] == "fake")
    assert row["standing"] in ("chosen", "undecided") and row["latency"] == pytest.approx(first["latency_ms"]["p50"]), answer
    assert "had no time for it: " in row["reason"] and row.get("seen_in_look", 1) == 1, row
    assert answer["ratio"][0] > 0 and None not in answer["ratio"] and not answer["is_decided"], answer


@pytest.mark.parametrize("stage", ["open", "again"])
def test_no_engine_that_hangs_outlasts_the_budget(hone, tmp_path, stage):
    """With --timeout alone, an engine that hangs would be waited for ten minutes. The budget stops it earlier, as its row says."""
    copier(tmp_path / "m.onnx")
    testing = {"HONE_TESTING": "1"}
    result = hone("recommend", tmp_path / "m.onnx", "--backend", "null,fake", "--backend-option", "fake.fault=sleep", "--backend-option",
                  f"fake.at={stage}", "--threads", "1", "--budget", "4s", "--json", "-", "--quiet", env=testing)
    sound(result, 5 if stage == "open" else result.code)
    answer, rows = json.loads(result.text), measured_rows(hone, env=testing)
    assert "choice" in answer or result.code == 5, answer
    assert answer["rows"][0]["backend"] in ("null", "fake"), answer
    assert {row["backend"] for row in rows} == {"null", "fake"} and not [row for row in rows if "--timeout" in row["reason"]], rows
    cut = [row for row in rows if row["backend"] == "fake" and row["status"] != "ok"]
    assert all("budget" in row["reason"] for row in cut) and (cut or stage == "again"), rows


@pytest.mark.long
def test_what_was_dropped_for_one_that_fails_later_is_brought_back(hone, tmp_path):
    """The fastest of the screening round fails in every process but its first: the next round finds that out, and a candidate that was
    dropped for it is measured again and chosen."""
    identity = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "g",
                                 [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4])],
                                 [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4])])
    onnx.save(helper.make_model(identity, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    for budget in ("20s", "600s"):  # on a busy machine a screening round takes minutes
        result = hone("recommend", tmp_path / "m.onnx", "--backend", "fake,onnxruntime", "--backend-option", "fake.latency_us=0",
                      "--backend-option", "fake.fault=error", "--backend-option", "fake.at=again", "--engine",
                      f"onnxruntime={ONNXRUNTIME}", "--threads", "1", "--budget", budget, "--json", "-", "--quiet",
                      env={"HONE_TESTING": "1"})
        sound(result)
        answer = json.loads(result.text)
        if answer["rows"][0]["backend"] == "onnxruntime":
            break
    assert [(row["backend"], row["standing"]) for row in answer["rows"]] == [("onnxruntime", "chosen")], answer
    assert [(row["backend"], row["look"]) for row in answer["dropped"]] == [("fake", 2)], answer


def test_usage(shared_hone):
    refused(shared_hone("recommend"), "E_USAGE", "model")
    refused(shared_hone("recommend", "zoo:mlp", "--objective", "beauty"), "E_USAGE", "throughput")
    refused(shared_hone("recommend", "zoo:mlp", "--max-latency", "fast"), "E_USAGE", "5ms")
    refused(shared_hone("recommend", "zoo:mlp", "--budget", "soon"), "E_USAGE", "60s")
    for model, error, words in (("zoo:nothing", "E_NOFILE", "no such model\n      'hone zoo list'"),
                                ("zoo:mlp,width=3", "E_USAGE", 'at "zoo:mlp,width=3": the model has no option "width"\n')):
        refused(shared_hone("recommend", model, "--backend", "native", "--budget", "1"), error, words)


def test_energy_without_a_meter_is_no_guess(shared_hone, tmp_path):
    none = {"HONE_POWERCAP": str(tmp_path)}
    for words in (["--objective", "energy"], ["--max-energy", "5mJ"]):
        refused(shared_hone("recommend", "zoo:mlp", *words, env=none), "E_UNSUP", "guess")
    with running_meter(tmp_path) as meter:
        refused(shared_hone("recommend", "zoo:mlp", "--objective", "energy", "--device", "ssh:a", env=meter), "E_UNSUP", "guess")


@contextlib.contextmanager
def running_meter(folder):
    """A counter of one package at a steady 10 W, as the kernel shows it; gives the environment that names it."""
    at = folder / "powercap" / "intel-rapl:0"
    at.mkdir(parents=True)
    (at / "max_energy_range_uj").write_text("1000000000000\n")
    (at / "energy_uj").write_text("0\n")
    begin, stop = time.monotonic(), threading.Event()

    def run_on():
        while not stop.wait(0.001):
            (at / "next").write_text(f"{int((time.monotonic() - begin) * 1e7)}\n")
            (at / "next").rename(at / "energy_uj")

    clock = threading.Thread(target=run_on)
    clock.start()
    try:
        yield {"HONE_POWERCAP": str(folder / "powercap")}
    finally:
        stop.set()
        clock.join()


def test_energy_decides_where_there_is_a_meter(hone, tmp_path):
    """At a steady power the energy of an inference is its time: the rows' figures bear the choice out."""
    with running_meter(tmp_path) as meter:
        for budget in ("4s", "60s"):  # on a busy machine 4 s are too short for a second row, which is undecided
            result = hone("recommend", "zoo:mlp", "--backend", "native,onnxruntime", "--engine", f"onnxruntime={ONNXRUNTIME}",
                          "--threads", "1", "--objective", "energy", "--max-energy", "9J", "--budget", budget, "--json", "-", "--quiet",
                          env=meter)
            if result.code != 5:
                break
    sound(result)
    answer = json.loads(result.text)
    rows = {r["cell"]: r for r in answer["rows"] if r["standing"] != "invalid"}  # on a busy machine the second one has no turn
    assert answer["objective"] == "energy" and answer["bounds"] == {"energy": 9000} and rows, answer
    for row in rows.values():
        # 10 W: 10 mJ a millisecond, and what lies between the inferences of a slice
        assert row["energy"] > 5 * row["latency"], row
        if row["standing"] in ("behind", "runner-up"):
            assert row["reason"].startswith("energy of an inference") and row["energy"] > rows[answer["choice"]]["energy"]
    assert " mJ" in answer["conclusion"], answer["conclusion"]


def test_every_bound_is_held_or_named(hone):
    """All of them, each out of any machine's reach: every one is in the answer, with a figure that would do."""
    bounds = {"latency": "--max-latency=0.001us", "throughput": "--min-throughput=1000000000000", "memory": "--max-memory=1kB",
              "size": "--max-size=1", "start": "--max-start=0.001us", "compile": "--max-compile=0.001us"}
    result = hone("recommend", "zoo:mlp", "--backend", "native", "--threads", "1", "--budget", "1", *bounds.values(), "--json", "-",
                  "--quiet")
    assert result.code == 1, result
    answer = json.loads(result.text)
    assert set(answer["needs"]) == set(answer["bounds"]) == set(bounds) and "choice" not in answer, answer


def test_the_device_is_the_studys(shared_hone):
    result = shared_hone("recommend", "zoo:mlp", "--backend", "native", "--threads", "1", "--device", "here", "--budget", "1",
                         "--json", "-", "--quiet")
    sound(result)
    assert len(json.loads(result.text)["rows"]) == 1
    refused(shared_hone("recommend", "zoo:mlp", "--device", "nowhere:x"), "E_USAGE", "unknown device")
    refused(shared_hone("recommend", "zoo:mlp", "--device", "ssh:a", "--hybrid"), "E_UNSUP", "this machine only")
    refused(shared_hone("recommend", "zoo:mlp", "--device", "ssh:a", "--bundle", "b"), "E_UNSUP", "this machine only")


def classifier(path):
    """Two layers over 64 numbers: 8 classes."""
    random = np.random.default_rng(7)
    weights = {"w1": random.standard_normal((64, 256)), "w2": random.standard_normal((256, 8))}
    nodes = [helper.make_node("MatMul", ["x", "w1"], ["h"], "first"), helper.make_node("Relu", ["h"], ["r"]),
             helper.make_node("MatMul", ["r", "w2"], ["y"], "second")]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 64])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 8])],
                              [numpy_helper.from_array(v.astype(np.float32), k) for k, v in weights.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return weights


VARIANTS = {"int8", "int4-weights", "fp16-weights", "bf16-weights"}


def measured_rows(hone, *store, **more):
    """Every row of every round: of the answer's study and of those before it."""
    names = [line.split()[0] for line in hone("studies", *store).text.splitlines() if "recommend" in line]
    rows = []
    for name in names:
        result = hone("report", name, "--json", "-", *store, **more)
        sound(result)
        rows += json.loads(result.text)["records"]
    return rows


@pytest.mark.long
def test_a_bound_on_accuracy_adds_smaller_variants(hone, tmp_path):
    """Every variant is a row with a measured agreement; int8 wins by size, its file stays, and runs again."""
    classifier(tmp_path / "m.onnx")
    for budget in ("30", "600"):  # on a busy machine 30 s are too short for five models
        result = hone("recommend", tmp_path / "m.onnx", "--backend", "native", "--threads", "1", "--budget", budget, "--min-accuracy",
                      "0.3", "--objective", "size", "--store", f"{budget}.db", "--json", "-", "--quiet")
        assert result.code in (0, 5), result
        answer = json.loads(result.text)
        rows = measured_rows(hone, "--store", f"{budget}.db")
        made = {f["form"]: f for f in answer["quantised"]["forms"]}
        if all(row["status"] == "ok" for row in rows) and all(f.get("file") for f in made.values()):
            break
    assert 0 < answer["time"]["forms_s"] < answer["time"]["all_s"]
    assert set(made) == {"int8", "int4-weights", "fp16", "bf16"} and answer["quantised"]["is_made_up"]
    assert {r["model"].split("-", 1)[-1] for r in rows} == {"m.onnx"} | {f"{form}.onnx" for form in made}, rows
    for row in rows:
        assert row["status"] == "ok" and row["task_metric"] == "agreement" and 0.3 <= row["task_accuracy"] <= 1, row
    told = {(r["precision"], r["look"]) for r in answer["dropped"]} | {(r["precision"], 0) for r in answer["rows"]}
    assert {precision for precision, _ in told} == {"fp32"} | VARIANTS and all(r["reason"] for r in answer["dropped"])
    chosen = next(r for r in answer["rows"] if r["cell"] == answer["choice"])
    assert chosen["precision"] == "int8" and 0.3 <= chosen["accuracy"] <= 1
    assert made["int8"]["report"]["products"] == 2
    ops = {n.op_type for n in onnx.load(made["int8"]["file"]).graph.node}
    assert "QuantizeLinear" in ops


@pytest.mark.long
def test_labels_give_the_accuracy_of_a_variant(hone, tmp_path):
    """Labels that contradict the model on a quarter of the samples: what is left is by the model's own share, not by 1; a bound
    that no int8 can hold, because its ranges are of other samples, leaves the float forms."""
    weights = classifier(tmp_path / "m.onnx")
    random = np.random.default_rng(3)
    lines = []
    for i in range(8):
        x = random.standard_normal((1, 64)).astype(np.float32)
        (tmp_path / "samples" / f"s{i}").mkdir(parents=True)
        np.save(tmp_path / "samples" / f"s{i}" / "in_0.npy", x)
        right = int(np.argmax(np.maximum(x @ weights["w1"], 0) @ weights["w2"]))
        lines.append(f"s{i} {right if i % 4 else (right + 1) % 8}\n")
    (tmp_path / "truth.txt").write_text("".join(lines))
    for budget in ("10", "60", "600"):  # on a busy machine 10 s do not reach for a second row
        store = ["--store", f"{budget}.db"]
        result = hone("recommend", tmp_path / "m.onnx", "--backend", "native", "--threads", "1", "--budget", budget, "--min-accuracy", "1",
                      "--calibrate", tmp_path / "samples", "--labels", tmp_path / "truth.txt", *store, "--json", "-", "--quiet")
        assert result.code in (0, 5), result
        if not result.code:
            break
    answer = json.loads(result.text)
    assert not answer["quantised"]["is_made_up"]
    rows = measured_rows(hone, *store)
    whole = [r for r in rows if r["model"] == "m.onnx" and r["status"] == "ok"]
    assert whole and all(r["task_metric"] == "top1" and r["task_accuracy"] == 0.75 for r in whole)
    by_cell = {r["cell"]: r for r in rows}
    for row in (r for r in answer["rows"] if r["standing"] != "invalid"):  # on a busy machine 10 s do not reach for all
        assert row["accuracy"] == pytest.approx(by_cell[row["cell"]]["task_accuracy"] / 0.75)


@pytest.mark.long
def test_a_variant_that_cannot_be_made_is_named_with_its_reason(hone, tmp_path):
    """A model without weights has no smaller variants, and the elimination goes on without them."""
    graph = helper.make_graph([helper.make_node("Softmax", ["x"], ["y"])], "g",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 8])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 8])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    result = hone("recommend", tmp_path / "m.onnx", "--backend", "native", "--threads", "1", "--budget", "20", "--min-accuracy",
                  "0.9", "--quiet")
    sound(result)
    assert "native, fp32, 1 thread" in result.text
    for form in ("int8", "int4-weights", "fp16", "bf16"):
        assert f"dropped    {form}: E_UNSUP" in result.text, result.text
    refused(hone("recommend", "zoo:mlp", "--min-quality", "0.9"), "E_USAGE", "--scenario generate")
    refused(hone("recommend", "zoo:mlp", "--min-accuracy", "0.9", "--labels", tmp_path / "l"), "E_USAGE", "--calibrate")
    refused(hone("recommend", "zoo:mlp", "--calibrate", tmp_path), "E_USAGE", "goes with --min-accuracy")
