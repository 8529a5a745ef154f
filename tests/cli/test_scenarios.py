"""The arrival pattern is a dimension of the study: several requests in flight, arrivals on a schedule, a latency
bound. The store keeps the columns of each request."""

import json
import sqlite3
import struct

import pytest

import hostile
from hone import refused

QUICK = ["--rounds", "2", "--processes", "1", "--warmup", "0.01", "--no-measure", "--threads", "1",
         "--json", "-"]


@pytest.fixture
def model(tmp_path, hone):
    hone.env["HONE_TESTING"] = "1"
    path = tmp_path / "model.onnx"
    path.write_bytes(hostile.identity().SerializeToString())
    return path


def rows_of(result):
    assert result.out, result
    return {(r["backend"], r["scenario"]): r for r in json.loads(result.text)["records"]}


def test_requests_in_flight(hone, model):
    result = hone("bench", model, "--backend", "native,null,fake", "--scenario", "single,multi,offline",
                  "--streams", "3", *QUICK, "--min-time", "0.02", "--min-samples", "20")
    rows = rows_of(result)
    for backend in ("native", "null"):
        for scenario in ("single", "multi:3", "offline"):
            row = rows[backend, scenario]
            assert row["status"] == "ok" and row["rel_l2"] == 0, result
            assert row["throughput_per_s"] > 0
        assert len({rows[backend, s]["cell"] for s in ("single", "multi:3", "offline")}) == 3
    assert rows["fake", "multi:3"]["status"] == "unsupported"
    assert "1 request at a time, not 3" in rows["fake", "multi:3"]["reason"]
    assert rows["fake", "offline"]["status"] == "ok"  # one after the other is what it can
    assert "--scenario multi --streams 3" in rows["native", "multi:3"]["repeat"]


def blocks(path):
    """(samples, scheduled, started) of each block that has the latter two, as numbers."""
    base = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    rows = base.execute("SELECT samples, scheduled, started FROM block WHERE length(scheduled) > 0").fetchall()
    return [[struct.unpack(f"<{len(c) // 8}Q", c) for c in row] for row in rows]


def test_a_request_that_waits_is_late(hone, model, tmp_path):
    """Arrivals each 2 ms at an engine that takes 5: the queue grows, latency counts from the arrival."""
    store = tmp_path / "results.db"
    result = hone("bench", model, "--backend", "fake", "--backend-option", "fake.latency_us=5000",
                  "--scenario", "rate", "--rate", "500", "--latency-bound", "8ms", "--store", store, *QUICK,
                  "--rounds", "1", "--min-samples", "20", "--min-time", "0.001")
    row = rows_of(result)["fake", "rate:500/s:8ms"]
    assert row["status"] == "ok", result
    assert row["latency_ms"]["max"] > 30, row["latency_ms"]
    assert row["throughput_per_s"] < 230
    assert row["over_bound_share"] > 0.5 and "over_bound" in row["flags"]
    (samples, scheduled, started), = blocks(store)
    assert len(samples) == len(scheduled) == len(started) == 20
    assert all(b - a == 2000000 for a, b in zip(scheduled, scheduled[1:]))
    assert all(s >= d for d, s in zip(scheduled, started))
    assert all(d + n >= s + 5000000 for n, d, s in zip(samples, scheduled, started))
    assert "--rate 500 --latency-bound 8ms" in row["repeat"]


def test_poisson_arrivals(hone, model, tmp_path):
    """Distances of a Poisson process: their mean is 1/rate and so is their deviation."""
    store = tmp_path / "results.db"
    result = hone("bench", model, "--backend", "null", "--scenario", "server", "--rate", "4000",
                  "--latency-bound", "0.05s", "--store", store, *QUICK, "--rounds", "1",
                  "--min-samples", "2000", "--min-time", "0.001")
    row = rows_of(result)["null", "server:4000/s:50ms"]
    assert row["status"] == "ok" and row["samples"] == 2000, result
    (samples, scheduled, started), = blocks(store)
    gaps = [b - a for a, b in zip(scheduled, scheduled[1:])]
    mean = sum(gaps) / len(gaps)
    deviation = (sum((g - mean) ** 2 for g in gaps) / len(gaps)) ** 0.5
    assert 225000 < mean < 275000 and 0.85 < deviation / mean < 1.15


def test_a_cheat_in_any_scenario_is_wrong(hone, model):
    result = hone("bench", model, "--backend", "fake", "--backend-option", "fake.cheat=skip",
                  "--backend-option", "fake.after=8", "--scenario", "offline,rate", "--rate", "1000", *QUICK,
                  "--min-samples", "20", "--min-time", "0.01")
    assert {row["status"] for row in rows_of(result).values()} == {"wrong"}, result


@pytest.mark.parametrize("words,part", [
    (["--scenario", "server"], "needs --rate"), (["--scenario", "burst"], "choose single, multi"),
    (["--latency-bound", "15min"], "is not a time"), (["--streams", "9"], "1 to 4"),
    *((words, "needs --scenario") for words in (["--streams", "2"], ["--rate", "9"], ["--rate", "max"], ["--latency-bound", "1s"],
                                                    ["--prompt", "4"], ["--new-tokens", "4", "--scenario", "single,multi"]))])
def test_words_that_are_none(hone, model, words, part):
    refused(hone("bench", model, "--backend", "null", *words, *QUICK), "E_USAGE", part)


def test_the_highest_rate_within_a_bound_is_searched(hone, model, tmp_path):
    """An engine of 4 ms: above 250 requests a second its queue grows without end, and from 333 a second on the 400 requests of a
    probe are over 400 ms late. Delays shorter than that bound, such as time slices on a busy machine, do not matter."""
    store = tmp_path / "results.db"
    words = ["bench", model, "--backend-option", "fake.latency_us=4000", "--scenario", "server", "--rate", "max",
             *QUICK, "--rounds", "1", "--min-samples", "20", "--min-time", "0.001"]
    result = hone(*words, "--backend", "fake,null", "--latency-bound", "400ms", "--store", store)
    rows = rows_of(result)
    row = rows["fake", "server:max/s:400ms"]
    assert row["status"] == "ok" and 0 < row["rate_per_s"] < 400, result
    assert rows["null", "server:max/s:400ms"]["rate_per_s"] > row["rate_per_s"]
    assert "--rate max --latency-bound 400ms" in row["repeat"]
    mean = sum(s[-1] / len(s) for _, s, _ in blocks(store)[:1])
    assert mean > 0
    row = rows_of(hone(*words, "--backend", "fake", "--latency-bound", "1ms"))["fake", "server:max/s:1ms"]
    assert row["status"] == "unsupported" and "at no rate" in row["reason"], row
    refused(hone(*words, "--backend", "fake"), "E_USAGE", "--latency-bound")
