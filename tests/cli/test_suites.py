"""hone bench --suite: named lists of models, which are nothing but their models on the command line."""

import json

from hone import refused, sound

FLAGS = ["--backend", "null", "--no-measure", "--rounds", "1", "--incarnations", "1", "--min-time", "0.001",
         "--min-samples", "1", "--warmup", "0.001", "--threads", "1", "--resume", "never"]


def test_a_suite_is_its_models(hone):
    hone.env["HONE_TESTING"] = "1"
    listed = hone("list", "suites")
    sound(listed)
    templates = [line.split()[1:] for line in listed.text.splitlines() if line.startswith("templates")][0]
    assert templates and all(word.startswith("zoo:") for word in templates)
    result = hone("bench", "--suite", "templates", "--dry-run", *FLAGS, timeout=120)
    sound(result)
    assert f"{len(templates)} cells" in result.text, result
    twice = hone("bench", templates[0], "--suite", "templates", "--dry-run", *FLAGS, timeout=120)
    assert f"{len(templates)} cells" in twice.text, twice


def test_an_unknown_suite_names_the_nearest(hone):
    result = hone("bench", "--suite", "mikro")
    refused(result, "E_USAGE")
    assert "did you mean micro?" in result.errors


def test_latency_csv(hone, tmp_path):
    hone.env["HONE_TESTING"] = "1"
    result = hone("bench", "zoo:mlp", *FLAGS, "--latency-csv", tmp_path / "latency.csv",
                  "--json", tmp_path / "s.json", timeout=120)
    lines = (tmp_path / "latency.csv").read_text().splitlines()
    records = json.loads((tmp_path / "s.json").read_text())["records"]
    assert len(lines) == 1 + len(records), result
    assert lines[0].startswith('"timestamp","model","device","latency_ms"')
    assert '"zoo:mlp","cpu",' in lines[1]
