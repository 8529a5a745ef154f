"""hone recommend: a race of two studies, an answer that its own rows bear out, bounds that bind."""

import json

import pytest
from hone import refused, sound

pytest.importorskip("onnxruntime")


@pytest.fixture(scope="module")
def answer(shared_hone):
    result = shared_hone("recommend", "zoo:mlp", "--backend", "native,onnxruntime", "--budget", "4s", "--json", "-",
                         "--quiet", timeout=300)
    sound(result)
    return json.loads(result.text)


def test_the_choice_is_borne_out_by_its_rows(answer, shared_hone):
    rows = {r["cell"]: r for r in answer["rows"]}
    chosen = rows[answer["choice"]]
    assert chosen["standing"] == "chosen" and answer["objective"] == "latency"
    for row in rows.values():
        if row["standing"] in ("behind", "runner-up"):
            assert row["latency"] > chosen["latency"] and row["reason"].startswith("median latency")
        assert row["reason"]
    if answer["is_decided"]:
        assert answer["ratio"][1] > 1
    report = shared_hone("report", answer["study"], "--json", "-")
    sound(report)
    assert {r["cell"] for r in json.loads(report.text)["records"]} == set(rows)


def test_a_bound_that_nothing_holds_names_what_is_needed(shared_hone):
    result = shared_hone("recommend", "zoo:mlp", "--backend", "native", "--threads", "1", "--budget", "1", "--max-memory",
                         "1kB", timeout=300)
    assert result.code == 1, result
    assert "what stands in the way is memory while running; with" in result.text
    assert "memory while running" in result.text and "most is" in result.text


def test_usage(shared_hone):
    refused(shared_hone("recommend"), "E_USAGE", "model")
    refused(shared_hone("recommend", "zoo:mlp", "--objective", "beauty"), "E_USAGE", "throughput")
    refused(shared_hone("recommend", "zoo:mlp", "--max-latency", "fast"), "E_USAGE", "5ms")
    refused(shared_hone("recommend", "zoo:mlp", "--budget", "soon"), "E_USAGE", "60s")
    refused(shared_hone("recommend", "zoo:nothing", "--backend", "native", "--budget", "1", timeout=120), "E_MISSING",
            "hone bench")


def test_energy_without_a_meter_is_no_guess(shared_hone):
    refused(shared_hone("recommend", "zoo:mlp", "--objective", "energy"), "E_UNSUP", "guess")


def test_the_device_is_the_studys(shared_hone):
    result = shared_hone("recommend", "zoo:mlp", "--backend", "native", "--threads", "1", "--device", "here", "--budget", "1",
                         "--json", "-", "--quiet", timeout=300)
    sound(result)
    assert len(json.loads(result.text)["rows"]) == 1
    refused(shared_hone("recommend", "zoo:mlp", "--device", "nowhere:x"), "E_MISSING", "no such device")
    refused(shared_hone("recommend", "zoo:mlp", "--device", "ssh:a", "--hybrid"), "E_UNSUP", "this machine alone")
    refused(shared_hone("recommend", "zoo:mlp", "--device", "ssh:a", "--bundle", "b"), "E_UNSUP", "this machine alone")
