"""A study's estimated cost before it starts, its exit codes, and what the store keeps of it."""

import json
import shutil

import pytest

import hostile
from hone import ROOT, refused, sound

SHORT = ["--no-measure", "--rounds", "1", "--processes", "1", "--min-samples", "1", "--min-time", "0.001",
         "--warmup", "0.001", "-q"]
STORE = ROOT / "tests/cases/store/v1.db"


@pytest.fixture
def identity(tmp_path):
    """x[4] -> y[4], what the test engines run by themselves."""
    path = tmp_path / "identity.onnx"
    path.write_bytes(hostile.identity().SerializeToString())
    return path


def records(hone, *words, **more):
    result = hone("bench", *words, *SHORT, "--json", "-", **more)
    return result, json.loads(result.text)["records"] if result.text.startswith("{") else []


def test_a_dry_run_leaves_nothing(hone, tmp_path):
    """No store, no lock, and it does not wait for another's."""
    result = hone("bench", "zoo:mlp", "--backend", "native", "--dry-run")
    sound(result)
    assert "1 configurations" in result.text and "available memory" in result.text
    assert not (tmp_path / "data/hone/results.db").exists() and not list(tmp_path.rglob("*.lock"))


def test_a_dry_run_says_memory_truly(hone, tmp_path):
    """Within half and twice what the worker then takes."""
    words = ["bench", "zoo:resnet18", "--backend", "native", "--threads", "1"]
    text = hone(*words, "--dry-run").text
    number, unit = text.split(", up to ")[1].split()[:2]
    said = float(number) * {"kB": 1e3, "MB": 1e6, "GB": 1e9}[unit]
    result = hone(*words, *SHORT, "--json", "-")
    peak = json.loads(result.text)["records"][0]["peak_rss_bytes"]
    assert peak / 2 < said < peak * 2, (said, peak)


@pytest.mark.parametrize("model", ["zoo:mpl", "none.onnx", "zoo:mlp,size=x"])
def test_a_mistyped_model_makes_no_study(hone, tmp_path, model):
    refused(hone("bench", model, "--backend", "native", *SHORT), "E_NOFILE E_USAGE")
    assert not (tmp_path / "data/hone/results.db").exists()


def test_files_with_equal_bytes_are_both_shown(hone, tmp_path, identity):
    (tmp_path / "b").mkdir()
    shutil.copy(identity, tmp_path / "b/other.onnx")
    shutil.copy(identity, tmp_path / "b/identity.onnx")
    models = [identity, tmp_path / "b/other.onnx", tmp_path / "b/identity.onnx"]
    result, rows = records(hone, *models, identity, "--backend", "native")
    sound(result)
    assert len(rows) == 3 and len({r["model"] for r in rows}) == 3, [r["model"] for r in rows]
    result = hone("report", "last")
    assert "other.onnx" in result.text and "b/identity.onnx" in result.text


@pytest.mark.parametrize("name", ["net.onnx", "ö b'\" $x.onnx", "-m.onnx", "x" * 250 + ".onnx"], ids=["plain", "odd", "dash", "long"])
def test_a_row_has_its_models_name_however_long_the_path(hone, tmp_path, identity, name):
    folder = tmp_path / ("d" * 200) / ("é" * 100)
    folder.mkdir(parents=True)
    shutil.copy(identity, folder / name)
    result, rows = records(hone, "--backend", "native", "--largest-batch", "2", "--model", folder / name)
    sound(result)
    assert [(r["model"], r["status"]) for r in rows] == [(name, "ok")]


def test_fail_on(hone, identity):
    """A failed cell is not a plain 0; --fail-on chooses."""
    testing = {"HONE_TESTING": "1"}
    result, rows = records(hone, identity, "zoo:mlp", "--backend", "native,null", env=testing)
    ends = [r["status"] for r in rows]
    assert "ok" in ends and "error" in ends, ends  # null does not know the second model
    assert result.code == 1 and "--fail-on" in result.errors, result
    for words, code in ((["--fail-on", "none"], 0), (["--fail-on", "wrong,crashed"], 0), (["--fail-on", "error"], 1),
                        (["--fail-on", "ok"], 1)):
        result, _ = records(hone, identity, "zoo:mlp", "--backend", "native,null", *words, env=testing)
        assert result.code == code, result
    refused(hone("bench", identity, "--fail-on", "bad"), "E_USAGE", "hone list statuses")


def test_what_was_named_must_be_there(hone, tmp_path):
    """A requested engine that is not installed; exit code 3 if no engine can run."""
    model = tmp_path / "m.onnx"
    model.write_bytes(hostile.identity().SerializeToString())
    result, rows = records(hone, model, "--backend", "native,onnxruntime", "--engine", "onnxruntime=/none.so")
    assert result.code == 1 and [r["status"] for r in rows].count("ok") == 1, result
    result, _ = records(hone, model, "--backend", "onnxruntime", "--engine", "onnxruntime=/none.so")
    assert result.code == 3, result


def test_exit_codes_are_explained(hone):
    text = hone("help", "bench").text
    for code in (0, 1, 3, 4):
        assert f"\n  {code}   " in text
        assert "bench" in hone("explain", str(code)).text
    assert "recommend" in hone("explain", "1").text and "\n  1   " in hone("help", "recommend").text
    assert "E_FORMAT" in hone("explain", "65").text
    refused(hone("explain", "200"), "E_USAGE")
    for line in hone("list", "statuses").text.splitlines():  # `hone explain` gives the same meanings as this table
        word, meaning = line.split(maxsplit=1)
        assert meaning.removeprefix("mark: ") in hone("explain", word).text, line
    assert hone("explain", "shape").text == hone("explain", "E_SHAPE").text


def test_studies_come_and_go(hone, tmp_path):
    shutil.copy(STORE, tmp_path / "a.db")
    store = ["--store", tmp_path / "a.db"]
    assert len(hone("studies", *store).text.splitlines()) == 2
    before = hone("report", "first", "--json", "-", *store).text
    sound(hone("studies", "export", "first", "-o", tmp_path / "b.db", *store))
    assert hone("report", "last", "--json", "-", "--store", tmp_path / "b.db").text == before
    sound(hone("studies", "rm", "first", "second", *store))
    assert not hone("studies", *store).text
    refused(hone("report", "first", *store), "E_NOFILE", "'hone studies'")
    for _ in range(2):  # what is there already stays
        sound(hone("studies", "import", tmp_path / "b.db", *store))
    assert hone("report", "first", "--json", "-", *store).text == before
    refused(hone("studies", "rm", "nobody", *store), "E_NOFILE")
    refused(hone("studies", "rm", *store), "E_USAGE")
    refused(hone("studies", "drop", *store), "E_USAGE", "export")
    refused(hone("studies", "export", *store), "E_USAGE", "-o")
    refused(hone("studies", "export", "-o", tmp_path / "b.json", *store), "E_USAGE", "b.json")
    for words in (["rm", "first"], ["import", tmp_path / "none.db"]):  # a failure makes no store
        refused(hone("studies", *words, "--store", tmp_path / "new.db"), "E_NOFILE")
        assert not list(tmp_path.glob("new.db*"))
    refused(hone("studies", "import", tmp_path / "none.db", *store), "E_NOFILE", "hone studies export")
    (tmp_path / "c.db").write_text("words")
    refused(hone("studies", "export", "-o", tmp_path / "c.db", *store), "E_PATH")
    refused(hone("studies", "import", tmp_path / "c.db", *store), "E_FORMAT")
    assert (tmp_path / "c.db").read_text() == "words"
