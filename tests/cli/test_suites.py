"""hone bench --suite: a named list of models has the same effect as these models on the command line."""

import csv
import json
import shlex
import struct
import xml.etree.ElementTree
import zlib

import pytest

from hone import refused, sound

FLAGS = ["--backend", "null", "--no-measure", "--rounds", "1", "--processes", "1", "--min-time", "0.001",
         "--min-samples", "1", "--warmup", "0.001", "--threads", "1", "--resume", "never"]


def test_a_suite_is_its_models(hone):
    hone.env["HONE_TESTING"] = "1"
    listed = hone("list", "suites")
    sound(listed)
    templates = [line.split(" --")[0].split()[1:] for line in listed.text.splitlines() if line.startswith("templates")][0]
    assert templates and all(word.startswith("zoo:") for word in templates)
    result = hone("bench", "--suite", "templates", "--dry-run", *FLAGS)
    sound(result)
    assert f"{len(templates)} configurations" in result.text, result  # FLAGS name one engine
    twice = hone("bench", templates[0], "--suite", "templates", "--dry-run", *FLAGS)
    assert f"{len(templates)} configurations" in twice.text, twice


def test_an_unknown_suite_names_the_nearest(hone):
    result = hone("bench", "--suite", "mikro")
    refused(result, "E_USAGE")
    assert "did you mean micro?" in result.errors


def test_latency_csv(hone, tmp_path):
    hone.env["HONE_TESTING"] = "1"
    result = hone("bench", "zoo:mlp", *FLAGS, "--latency-csv", tmp_path / "latency.csv",
                  "--json", tmp_path / "s.json")
    lines = (tmp_path / "latency.csv").read_text().splitlines()
    records = json.loads((tmp_path / "s.json").read_text())["records"]
    assert len(lines) == 1 + len(records), result
    assert lines[0].startswith('"timestamp","model","device","latency_ms"')
    assert '"zoo:mlp","cpu",' in lines[1]


def test_latency_csv_gathers_studies(hone, tmp_path):
    """A second study's lines follow those of the first; the same study shown again adds none; other columns are refused."""
    hone.env["HONE_TESTING"] = "1"
    path = tmp_path / "latency.csv"
    for model in ("zoo:mlp", "zoo:mnist_cnn"):
        hone("bench", model, "--backend", "null", *FLAGS[2:], "--latency-csv", path)
    lines = list(csv.DictReader(path.open()))
    assert [line["model"] for line in lines] == ["zoo:mlp", "zoo:mnist_cnn"]
    text = path.read_bytes()
    hone("report", "last", "--latency-csv", path)
    assert path.read_bytes() == text
    path.write_text('"timestamp","model"\n')
    refused(hone("report", "last", "--latency-csv", path), "E_PATH", "columns of another version")
    assert path.read_text() == '"timestamp","model"\n'


def test_the_rows_of_latency_csv_are_told_apart(hone, tmp_path):
    """Every field of a configuration is in its line, so two scenarios in two precisions give distinct lines; a status replaces a missing time."""
    hone.env["HONE_TESTING"] = "1"
    hone("bench", "zoo:mlp", "--backend", "native,null", *FLAGS[2:], "--scenario", "single,offline", "--precision", "fp32,bf16",
         "--backend-option", "native.cpu=avx2", "--latency-csv", tmp_path / "latency.csv", "--json", tmp_path / "s.json")
    lines = list(csv.DictReader((tmp_path / "latency.csv").open()))
    records = json.loads((tmp_path / "s.json").read_text())["records"]
    keys = ("backend", "precision", "scenario", "route", "threads")
    assert {tuple(line[k] for k in keys) for line in lines} == {tuple(str(r[k]) for k in keys) for r in records}
    assert len(lines) == len(records) == 8
    for line, record in zip(lines, records):
        if record["status"] == "ok":  # bf16 without its instructions too, which has no rank
            assert float(line["latency_ms"]) == pytest.approx(record["latency_ms"]["p50"], abs=1e-6)
        else:
            assert line["latency_ms"] == record["status"]


@pytest.fixture
def study(hone, tmp_path):
    """Two models on an engine that runs and on one that cannot, with every sink."""
    result = hone("bench", "zoo:mlp,batch=1", "zoo:mnist_cnn", "--backend", "native,tensorrt", *FLAGS[2:],
                  "--svg", tmp_path / "s.svg", "--csv-dir", tmp_path / "each", "--md", tmp_path / "s.md",
                  "--html", tmp_path / "s.html", "--json", tmp_path / "s.json")
    return result, tmp_path


def test_a_figure_stands_alone_and_names_every_row(study):
    _, folder = study
    root = xml.etree.ElementTree.parse(folder / "s.svg").getroot()
    words = [e.text for e in root.iter("{http://www.w3.org/2000/svg}text") if e.text]
    assert "zoo:mnist_cnn" in words and "tensorrt" in words and "unsupported" in words
    assert "var(" not in (folder / "s.svg").read_text(), "librsvg knows no variables"


def test_long_names_break_between_their_parts(study):
    _, folder = study
    page = (folder / "s.html").read_text()
    assert "<h2>zoo:mlp,<wbr>batch=1</h2>" in page and page.count("zoo:mlp,<wbr>batch=1") == 2


def test_a_csv_for_each_model_holds_its_rows_alone(study):
    _, folder = study
    files = sorted(p.name for p in (folder / "each").iterdir())
    assert files == ["zoo_mlp_batch_1.csv", "zoo_mnist_cnn.csv"]
    rows = list(csv.DictReader((folder / "each/zoo_mnist_cnn.csv").open()))
    assert {row["model"] for row in rows} == {"zoo:mnist_cnn"} and len(rows) == 2


def test_rows_that_ended_alike_are_named_with_their_variants(hone, tmp_path):
    """The terminal and the page name the variants of an engine that did not run."""
    result = hone("bench", "zoo:mlp", "--backend", "torch:eager,torch:jit", "--engine", f"torch={tmp_path}", *FLAGS[2:],
                  "--html", tmp_path / "s.html")
    assert "torch:eager, torch:jit" in result.text, result
    assert "<b>torch:eager, torch:jit</b>" in (tmp_path / "s.html").read_text()


def test_portability_is_the_share_of_models_that_ran(study):
    result, folder = study
    rows = json.loads((folder / "s.json").read_text())["records"]
    assert {(r["backend"], r["portability"]) for r in rows} == {("native", 1), ("tensorrt", 0)}
    assert any(line.split() == ["portability", "100", "%", "0", "%"] for line in result.text.splitlines())
    assert "| portability" in (folder / "s.md").read_text()


def test_the_winner_of_each_model_is_named(study):
    _, folder = study
    lines = [line for line in (folder / "s.md").read_text().splitlines() if "| native |" in line]
    assert any(line.startswith("| zoo:mnist\\_cnn, batch 1, 1 thread") or
               line.startswith("| zoo:mnist_cnn, batch 1, 1 thread") for line in lines), lines
    assert "break-even" in (folder / "s.html").read_text()


def test_a_folder_takes_every_form(hone, tmp_path):
    """-o FOLDER: stable file names for scripts; an output with its own flag goes to that path; a dry run writes nothing."""
    words = ["bench", "zoo:mlp", "zoo:mnist_cnn", "--backend", "native", *FLAGS[2:]]
    hone(*words, "--dry-run", "-o", tmp_path / "none/")
    assert not (tmp_path / "none").exists()
    result = hone(*words, "-o", f"{tmp_path}/all/", "--md", tmp_path / "mine.md")
    sound(result)
    names = {str(p.relative_to(tmp_path / "all")) for p in (tmp_path / "all").rglob("*") if p.is_file()}
    assert names - {"study.png"} == {"study.json", "study.csv", "latency.csv", "study.html", "study.svg", "models/zoo_mlp.csv",
                                     "models/zoo_mnist_cnn.csv"}
    assert (tmp_path / "mine.md").exists() and "native" in result.text  # the table is still printed on the terminal
    assert len(json.loads((tmp_path / "all/study.json").read_text())["records"]) == 2
    sound(hone("report", "last", "-o", tmp_path / "all"))  # there already: its files are written again
    assert (tmp_path / "all/study.md").exists()
    refused(hone("report", "last", "-o", tmp_path / "all", "-o", f"{tmp_path}/other/"), "E_USAGE", "one folder")


def test_png_is_the_figure_in_pixels(hone, tmp_path):
    hone("bench", "zoo:mlp", "--backend", "native", *FLAGS[2:])
    result = hone("report", "--png", tmp_path / "s.png")
    if "librsvg2-2" in result.errors:
        pytest.skip("librsvg is not installed")
    data = (tmp_path / "s.png").read_bytes()
    width, height = struct.unpack(">II", data[16:24])
    assert data[:8] == b"\x89PNG\r\n\x1a\n" and width == 1920 and height > 200
    pixels, at = b"", 8
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        pixels += data[at + 8:at + 8 + size] if kind == b"IDAT" else b""
        at += 12 + size
    assert len(set(zlib.decompress(pixels))) > 8, "nothing is drawn"


def test_variants_are_rows_of_their_own(hone, tmp_path):
    result = hone("bench", "zoo:mlp", "--backend", "onnxruntime,onnxruntime:off,onnxruntime:parallel",
                  "--dry-run", *FLAGS[2:])
    assert "3 configurations" in result.text, result
    result = hone("bench", "zoo:mlp", "--backend", "onnxruntime:of", *FLAGS[2:])
    refused(result, "E_USAGE")
    assert "choose off, basic" in result.errors
    result = hone("bench", "zoo:mlp", "--backend", "null:x", *FLAGS[2:])
    refused(result, "E_USAGE")
    # the repeated command names the variant, and makes the same cell
    run = ["bench", "zoo:mlp", "--backend", "torch:jit", *FLAGS[2:], "--json", tmp_path / "a.json"]
    hone(*run)
    row = json.loads((tmp_path / "a.json").read_text())["records"][0]
    assert row["variant"] == "jit" and row["options"] == "mode=script"
    again = shlex.split(row["repeat"])[1:]
    assert "torch:jit" in again
    hone(*again, "--no-measure", "--json", tmp_path / "b.json")
    assert json.loads((tmp_path / "b.json").read_text())["records"][0]["cell"] == row["cell"]


def test_every_engine_describes_itself(hone):
    text = hone("list", "engines").text
    assert text.count("  hardware ") == text.count("  precisions ") >= 17
    listed = hone("list", "backends").text
    for line in listed.splitlines():
        name = line.split()[0]
        assert name in ("null", "fake") or f"({name})" in text, name


def test_a_suites_engines_are_not_blamed_for_being_absent(hone):
    result = hone("bench", "--suite", "templates", *FLAGS[2:])
    assert "tensorrt" in result.text and "torch eager" in result.text, result
    assert result.code == 0, result


def test_a_dry_run_writes_no_model_and_names_each_row(hone, tmp_path):
    """Variants and routes are told apart, an engine that no row can run on is named, and the cache stays as it was."""
    result = hone("bench", "zoo:mlp", "--backend", "torch:eager,torch:jit,native", "--engine", "torch=container:example/torch",
                  "--dry-run", *FLAGS[2:])
    sound(result)
    rows = [line for line in result.text.splitlines() if line.startswith("  zoo:mlp")]
    assert len(set(rows)) == len(rows) == 3 and "torch:jit" in rows[1], result
    assert "torch: no row will run: " in result.text and "container image" in result.text, result
    assert not list((hone.folder / "cache").rglob("*.onnx"))
    written = hone("bench", "zoo:mlp", "--backend", "native", *FLAGS[2:], "--json", "-")
    assert list((hone.folder / "cache").rglob("*.onnx"))
    again = hone("bench", "zoo:mlp", "--backend", "torch:eager,torch:jit,native", "--dry-run", *FLAGS[2:])
    assert [line for line in again.text.splitlines() if line.startswith("  zoo:mlp")] == rows, (again, written)
