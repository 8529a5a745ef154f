"""Output files and streams: only a file of the same kind is ever replaced, streams are written through, and a sink
that fails loses neither the table nor the other sinks (ROBUSTNESS row 86)."""

import ctypes.util
import json
import os
import shutil
import socket
import stat
import threading

import numpy as np
import onnx
import pytest

import hostile
from hone import HONE, ROOT, refused, sound

STORE = ROOT / "tests/cases/store/v1.db"
SINKS = ["--json", "--csv", "--md", "--html", "--svg", "--latency-csv"]
ENDINGS = {"--json": "json", "--csv": "csv", "--md": "md", "--html": "html", "--svg": "svg", "--latency-csv": None, "--png": "png"}
if ctypes.util.find_library("rsvg-2"):
    SINKS.append("--png")
SHORT = ["--backend", "native", "--no-measure", "--rounds", "1", "--processes", "1", "--min-samples", "1", "--min-time",
         "0.001", "--warmup", "0.001", "-q"]


@pytest.fixture
def report(hone, tmp_path):
    """`hone report` of a stored study, with more words."""
    shutil.copy(STORE, tmp_path / "v1.db")
    return lambda *words, **more: hone("report", "first", "--store", tmp_path / "v1.db", *words, **more)


def special_files(folder):
    """Paths that are not a regular file: name -> path."""
    made = {"folder": folder / "a-folder", "fifo": folder / "a-fifo", "socket": folder / "a-socket"}
    made["folder"].mkdir()
    os.mkfifo(made["fifo"])
    holder = socket.socket(socket.AF_UNIX)
    holder.bind(str(made["socket"]))
    holder.close()
    if os.getuid() == 0:
        try:
            os.mknod(folder / "full", stat.S_IFCHR | 0o666, os.makedev(1, 7))
            os.mknod(folder / "disk", stat.S_IFBLK | 0o666, os.makedev(7, 200))
            made["full"], made["disk"] = folder / "full", folder / "disk"
        except OSError:
            pass
    return made


def kinds_of(folder):
    return {p.name: stat.S_IFMT(p.lstat().st_mode) for p in folder.iterdir()}


# -- compile, run, zoo: as root too --------------------------------------------------------------------

@pytest.mark.parametrize("ending", ["", ".so", ".a", ".c"])
def test_compile_never_replaces_a_device(hone, tmp_path, ending):
    model = tmp_path / "model.onnx"
    model.write_bytes(hostile.identity().SerializeToString())
    folder = tmp_path / "places"
    folder.mkdir()
    for name, path in special_files(folder).items():
        link = folder / f"{name}-link{ending}"
        link.symlink_to(path)
        before = kinds_of(folder)
        if name == "fifo":
            continue  # its own test below
        result = hone("compile", model, "-o", link, "--no-cache", "-q")
        refused(result, "E_PATH E_WRITE")
        assert kinds_of(folder) == before, name
    result = hone("compile", model, "-o", "/dev/full", "--no-cache", "-q")
    refused(result, "E_WRITE")
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)
    # output to /dev/null creates no companion file: no header is written to /dev/null.h
    result = hone("compile", model, "-o", "/dev/null")
    sound(result)
    assert "wrote /dev/null\n" in result.errors and "not cached" not in result.errors, result
    assert not os.path.exists("/dev/null.h")


def test_c_text_goes_through_a_fifo(hone, tmp_path):
    os.mkfifo(tmp_path / "text.c")
    got = []
    reader = threading.Thread(target=lambda: got.append((tmp_path / "text.c").read_bytes()))
    reader.start()
    sound(hone("compile", "zoo:conv", "-o", tmp_path / "text.c", "-q", "--prefix", "net"))
    reader.join()
    sound(hone("compile", "zoo:conv", "-o", tmp_path / "file.c", "-q", "--prefix", "net"))
    assert got[0] == (tmp_path / "file.c").read_bytes()
    assert stat.S_ISFIFO((tmp_path / "text.c").lstat().st_mode)


@pytest.mark.parametrize("name", ["m.onnx", "copy.onnx", "link.onnx", "weights.bin"])
def test_the_model_and_its_side_files_are_no_output(hone, tmp_path, name):
    """Under any name: a hard link and a symbolic link are the same file."""
    if name == "weights.bin":
        (tmp_path / "m.onnx").write_bytes(hostile.external("weights.bin").SerializeToString())
        (tmp_path / "weights.bin").write_bytes(np.arange(4, dtype=np.float32).tobytes())
    else:
        (tmp_path / "m.onnx").write_bytes(hostile.identity().SerializeToString())
        os.link(tmp_path / "m.onnx", tmp_path / "copy.onnx")
        (tmp_path / "link.onnx").symlink_to(tmp_path / "m.onnx")
    before = (tmp_path / name).read_bytes()
    for ending in (".so", ".c", ""):
        target = tmp_path / f"out{ending}"
        os.link(tmp_path / name, target)
        refused(hone("compile", tmp_path / "m.onnx", "-o", target, "-q"), "E_PATH", "input")
        assert target.read_bytes() == before
    (tmp_path / "x.h").unlink(missing_ok=True)
    os.link(tmp_path / name, tmp_path / "x.h")  # the library's header
    refused(hone("compile", tmp_path / "m.onnx", "-o", tmp_path / "x.so", "-q"), "E_PATH")
    os.link(tmp_path / name, tmp_path / "y.weights")
    refused(hone("compile", tmp_path / "m.onnx", "-o", tmp_path / "y.c", "-q"), "E_PATH")
    (tmp_path / "dir").mkdir()
    os.link(tmp_path / name, tmp_path / "dir/out_0.npy")
    refused(hone("run", tmp_path / "m.onnx", "-o", tmp_path / "dir"), "E_PATH")
    if name != "link.onnx":  # there the link would go, not the model
        (tmp_path / "keep").mkdir()
        os.link(tmp_path / name, tmp_path / "keep/unit0.c")
        refused(hone("compile", tmp_path / "m.onnx", "-o", tmp_path / "z.so", "--keep", tmp_path / "keep", "-q"),
                "E_PATH")
    for flag in SINKS:
        result = hone("inspect" if flag == "--json" else "bench", tmp_path / "m.onnx", flag, tmp_path / name)
        refused(result, "E_PATH")
    assert (tmp_path / name).read_bytes() == before


LOADING = {"inspect": ["--no-measure"], "bench": SHORT, "profile": ["--no-measure"], "hybrid": ["--backend", "native,onnxruntime", "-q"],
           "recommend": ["--backend", "native", "-q"], "quantise": ["--generate", "1", "-q"],
           "gate": ["--base-build", HONE, "-q"]}


@pytest.mark.parametrize("verb", LOADING)
def test_weights_that_look_like_json_are_no_sink(hone, tmp_path, verb):
    """A file of the model is never replaced, even if its name and content look like a report."""
    weights = b'{"w": 1,' + b'"x": 2}\n'
    (tmp_path / "m.onnx").write_bytes(hostile.external("w.json").SerializeToString())
    (tmp_path / "w.json").write_bytes(weights)
    more = LOADING[verb] + (["-o", tmp_path / "small.onnx"] if verb == "quantise" else [])
    refused(hone(verb, tmp_path / "m.onnx", "--json", tmp_path / "w.json", *more), "E_PATH", "input")
    assert (tmp_path / "w.json").read_bytes() == weights
    assert not (tmp_path / "data/hone/results.db").exists()


@pytest.mark.parametrize("place", ["w.json", "data/w.json", "elsewhere"])
def test_a_file_beside_a_model_that_hone_refuses_is_no_sink(hone, tmp_path, place):
    """An engine may read what hone's importer does not."""
    model = hostile.external("w.json" if place == "elsewhere" else place)
    model.graph.node[0].op_type = "NobodyKnows"
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    weights = tmp_path / ("elsewhere/w.json" if place == "elsewhere" else place)
    weights.parent.mkdir(exist_ok=True)
    weights.write_bytes(b'{"w": 1,"x": 2}\n')
    os.link(weights, tmp_path / "same.json")
    more = ["--side-files-from", weights.parent] if place == "elsewhere" else []
    for sink in (weights, tmp_path / "same.json"):
        refused(hone("bench", tmp_path / "m.onnx", "--json", sink, *SHORT, *more), "E_PATH", "input")
        assert weights.read_bytes() == b'{"w": 1,"x": 2}\n'


@pytest.mark.parametrize("name", ["m.so", "m.a", "m.c", "m"])
def test_a_file_of_another_kind_stays(hone, tmp_path, name):
    for data in (b"precious words", b"\x89PNG\r\n", b"\0" * 100):
        (tmp_path / name).write_bytes(data)
        refused(hone("compile", "zoo:mlp", "-o", tmp_path / name, "-q"), "E_PATH", "it was not changed")
        assert (tmp_path / name).read_bytes() == data
    (tmp_path / name).write_bytes(b"")  # an empty file is of every kind
    sound(hone("compile", "zoo:mlp", "-o", tmp_path / name, "-q"))
    sound(hone("compile", "zoo:mlp", "-o", tmp_path / name, "-q"))
    for own in ("my notes", "#pragma once\n", "/* by hand */\n"):  # the header's name was not given by the user
        (tmp_path / "m.h").write_text(own)
        refused(hone("compile", "zoo:mlp", "-o", tmp_path / "m.so", "-q"), "E_PATH")
        assert (tmp_path / "m.h").read_text() == own


def test_models_and_tensors(hone, tmp_path):
    (tmp_path / "x.onnx").write_text("words")
    refused(hone("zoo", "write", "mlp", "-o", tmp_path / "x.onnx"), "E_PATH")
    refused(hone("zoo", "write", "mlp", "-o", tmp_path / "x.txt"), "E_USAGE", ".onnx")
    own = onnx.helper.make_model(onnx.helper.make_graph([], "g", [], []), producer_name="me").SerializeToString()
    (tmp_path / "x.onnx").write_bytes(own)
    refused(hone("zoo", "write", "mlp", "-o", tmp_path / "x.onnx"), "E_PATH", "it was not changed")
    assert (tmp_path / "x.onnx").read_bytes() == own
    sound(hone("zoo", "write", "mlp", "-o", tmp_path / "y.onnx"))
    sound(hone("zoo", "write", "mlp", "-o", tmp_path / "y.onnx"))
    assert hone("zoo", "write", "mlp", "-o", "-").out == (tmp_path / "y.onnx").read_bytes()
    (tmp_path / "out").mkdir()
    (tmp_path / "out/out_0.npy").write_text("words")
    refused(hone("run", "zoo:mlp", "-o", tmp_path / "out"), "E_PATH")
    assert (tmp_path / "out/out_0.npy").read_text() == "words"
    (tmp_path / "file").write_text("words")
    refused(hone("run", "zoo:mlp", "-o", tmp_path / "file"), "E_PATH", "folder")
    whole = hone("run", "zoo:mlp", "-o", "-")
    sound(whole)
    sound(hone("run", "zoo:mlp", "-o", tmp_path / "good"))
    assert whole.out == (tmp_path / "good/out_0.npy").read_bytes()
    assert np.load(tmp_path / "good/out_0.npy").size


@pytest.mark.parametrize("name", ["m.dll", "m.o", "m.onnx", "m.SO", "m.cpp", "m.h"])
def test_unknown_endings(hone, tmp_path, name):
    refused(hone("compile", "zoo:mlp", "-o", tmp_path / name, "-q"), "E_USAGE", "FILE.so")
    assert not (tmp_path / name).exists()


def test_a_version_is_no_ending(hone, tmp_path):
    sound(hone("compile", "zoo:mlp", "-o", tmp_path / "mlp-1.5", "-q"))
    assert os.access(tmp_path / "mlp-1.5", os.X_OK)


# -- report, bench, inspect, backends ------------------------------------------------------------------

@pytest.mark.parametrize("flag", SINKS)
def test_sinks_never_replace(report, tmp_path, flag):
    for name, path in special_files(tmp_path).items():
        if name == "fifo":
            continue
        before = kinds_of(tmp_path)
        result = report(flag, path)
        refused(result, "E_WRITE" if name in ("folder", "full") else "E_PATH")
        assert kinds_of(tmp_path) == before, name
    for data in (b"my words", b"\x7fELF", b"\x93NUMPY", b"{\0\0\0", b"#\0\0", b"<\0", b"# My notes\n", b'{"mine": 1}\n',
                 b"<!doctype html><title>mine</title>\n", b'<svg xmlns="http://www.w3.org/2000/svg"/>\n'):
        (tmp_path / "other").write_bytes(data)
        refused(report(flag, tmp_path / "other"), "E_PATH")
        assert (tmp_path / "other").read_bytes() == data
    refused(report(flag, tmp_path / "v1.db"), "E_PATH")
    refused(report(flag, tmp_path / "none/x"), "E_WRITE")
    good = tmp_path / f"good.{ENDINGS[flag]}"
    sound(report(flag, good))
    whole = good.read_bytes()
    sound(report(flag, good))  # its own kind is replaced
    if ENDINGS[flag]:
        sound(report("-o", good))  # and the ending says the same as the flag
    assert good.read_bytes() == whole == report(flag, "-").out


def test_streams_are_written_through(report, tmp_path):
    want = report("--json", "-").out
    os.mkfifo(tmp_path / "pipe")
    got = []
    reader = threading.Thread(target=lambda: got.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    sound(report("--json", tmp_path / "pipe"))
    reader.join()
    assert got == [want] and stat.S_ISFIFO((tmp_path / "pipe").lstat().st_mode)
    sound(report("--json", "/dev/null"))
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    # /dev/stdout as a pipe and as a file; neither the link nor the file is replaced
    assert want in report("--json", "/dev/stdout").out
    with open(tmp_path / "log", "wb") as log:
        log.write(b"before\n")
        log.flush()
        sound(report("--json", "/dev/stdout", stdout=log))
    text = (tmp_path / "log").read_bytes()
    assert text.startswith(b"before\n") and want in text
    assert os.path.islink("/dev/stdout")


def test_a_fifo_without_a_reader_is_not_waited_for_for_ever(report, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    result = report("--json", tmp_path / "pipe")
    refused(result, "E_WRITE", "no process reads")
    assert result.wall < 300  # it waits for 10 s


def test_a_failing_sink_eats_nothing(report, tmp_path):
    """The table is there, the sinks before and after it too; each failure is named."""
    table = report().text
    result = report("--json", tmp_path / "a.json", "--csv", "/dev/full", "--html", tmp_path / "c.html")
    refused(result, "E_WRITE", "/dev/full")
    assert result.text == table
    assert json.loads((tmp_path / "a.json").read_text()) and (tmp_path / "c.html").stat().st_size > 1000


@pytest.mark.parametrize("verb", ["report", "compare", "profile", "recommend"])
def test_a_terminal_that_fails_eats_nothing(hone, tmp_path, verb):
    """Output files are complete although the standard output is full."""
    shutil.copy(STORE, tmp_path / "v1.db")
    store = ["--store", tmp_path / "v1.db"]
    words = {"report": ["first", *store], "compare": ["first", "first", *store],
             "profile": ["zoo:transformer", "--no-measure", "--min-time", "0.01"],
             "recommend": ["zoo:mlp", "--backend", "native", "--threads", "1", "--budget", "1s", "-q", "--bundle", tmp_path / "b"]}
    with open("/dev/full", "w") as full:
        result = hone("-o0", HONE, verb, *words[verb], "--json", tmp_path / "x.json", stdout=full, program="stdbuf")
    assert result.code == 73, result
    assert json.loads((tmp_path / "x.json").read_text())
    assert verb != "recommend" or (tmp_path / "b/selftest").exists()


def test_what_flags_name_to_be_read_is_no_output(hone, tmp_path):
    """Refused as output: files of --inputs, --labels and similar flags, and the store. Outputs of an earlier run in the inputs'
    folder may be replaced."""
    folder = tmp_path / "in"
    folder.mkdir()
    np.save(folder / "input.npy", np.zeros((4, 256), np.float32))
    (folder / "labels.json").write_text("{}")
    for verb, flag, more in (("bench", "--inputs", SHORT), ("profile", "--inputs", ["--no-measure"]),
                             ("quantise", "--calibrate", ["-o", tmp_path / "q.onnx", "-q"])):
        refused(hone(verb, "zoo:mlp", flag, folder, "--json", folder / "labels.json", *more), "E_PATH", "input")
    assert (folder / "labels.json").read_text() == "{}"
    (folder / "labels.json").unlink()
    for _ in range(2):
        sound(hone("run", "zoo:mlp", "--inputs", folder, "-o", folder))
    os.link(folder / "input.npy", folder / "out_0.npy.new")
    os.replace(folder / "out_0.npy.new", folder / "out_0.npy")  # one file under both names
    before = (folder / "input.npy").read_bytes()
    refused(hone("run", "zoo:mlp", "--inputs", folder, "-o", folder), "E_PATH", "input")
    assert (folder / "input.npy").read_bytes() == before
    samples = tmp_path / "samples/s000"
    samples.mkdir(parents=True)
    shutil.copy(folder / "input.npy", samples / "in_0.npy")
    refused(hone("quantise", "zoo:mlp", "--calibrate", samples.parent, "--labelled-set", f"{samples.parent}/.", "-o",
                 tmp_path / "q.onnx", "-q"), "E_PATH", "input")


def test_a_store_is_not_exported_to_itself(hone, tmp_path):
    """Whether it is named or the user's own; and nothing else is taken for one."""
    shutil.copy(STORE, tmp_path / "v1.db")
    os.link(tmp_path / "v1.db", tmp_path / "second.db")
    before = (tmp_path / "v1.db").read_bytes()
    for other in ("v1.db", "second.db"):
        refused(hone("studies", "export", "-o", tmp_path / other, "--store", tmp_path / "v1.db"), "E_PATH", "input")
    (tmp_path / "data/hone").mkdir(parents=True)
    own = tmp_path / "data/hone/results.db"
    shutil.copy(STORE, own)
    refused(hone("studies", "export", "-o", own), "E_PATH", "input")
    assert (tmp_path / "v1.db").read_bytes() == own.read_bytes() == before
    folder = tmp_path / "places"
    folder.mkdir()
    for path in special_files(folder).values():
        link = path.with_name(f"{path.name}-link.db")
        link.symlink_to(path)
        kinds = kinds_of(folder)
        assert hone("studies", "export", "-o", link).code in (65, 73, 74, 77), path
        assert kinds_of(folder) == kinds


def test_folders_of_outputs(hone, tmp_path):
    """--csv-dir, --keep and --bundle are checked before any measurement; existing files in them stay."""
    (tmp_path / "file").write_text("words")
    for flag in ("--csv-dir", "--keep"):
        for place in ("/proc/none/x", tmp_path / "file", tmp_path / "file/x"):
            result = hone("bench", "zoo:resnet18", flag, place, "--backend", "native")
            refused(result, "E_WRITE")
            assert not (tmp_path / "data/hone/results.db").exists()
    (tmp_path / "each").mkdir()
    (tmp_path / "each/zoo_mlp.csv").write_text("my,own\n")
    refused(hone("bench", "zoo:mlp", "--csv-dir", tmp_path / "each", *SHORT), "E_PATH", "it was not changed")
    assert (tmp_path / "each/zoo_mlp.csv").read_text() == "my,own\n" and not (tmp_path / "data/hone/results.db").exists()
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    for place in ("/proc/none/x", tmp_path / "link", tmp_path / "file", tmp_path / "each"):
        result = hone("recommend", "zoo:resnet18", "--backend", "native", "--bundle", place)
        refused(result, "E_WRITE E_PATH")
        assert result.seconds < 5 and not (tmp_path / "data/hone/results.db").exists()


def test_outputs_are_named_once(report, tmp_path):
    refused(report("--json", "-", "--csv", "-"), "E_USAGE")
    refused(report("--json", tmp_path / "x", "--csv", tmp_path / "x"), "E_USAGE")
    (tmp_path / "folder").mkdir()
    refused(report("--json", tmp_path / "x", "--csv", tmp_path / "folder/../x"), "E_USAGE", "same path")
    refused(report("--json", "x", "-o", "./x.md", "--md", "x.md", cwd=tmp_path), "E_USAGE", "same path")
    refused(report("-o", tmp_path / "x.txt"), "E_USAGE", ".html")
    refused(report("-o", "-"), "E_USAGE", "--json -")
    sound(report("-o", tmp_path / "x.json", "-o", tmp_path / "y.md", "--csv", "-"))
    assert (tmp_path / "x.json").exists() and (tmp_path / "y.md").exists()


def test_sinks_of_other_verbs(hone, tmp_path):
    sound(hone("inspect", "zoo:mlp", "--no-measure", "-o", tmp_path / "x.json"))
    assert json.loads((tmp_path / "x.json").read_text())["operators"]
    assert hone("inspect", "zoo:mlp", "--no-measure", "-o", "-").id == "E_USAGE"  # JSON or a picture?
    assert json.loads(hone("inspect", "zoo:mlp", "--no-measure", "--json", "-").text)
    assert json.loads(hone("backends", "-o", "-").text)
    (tmp_path / "words").write_text("words")
    refused(hone("backends", "--json", tmp_path / "words"), "E_PATH")


def test_bench_looks_at_its_outputs_before_measuring(hone, tmp_path):
    for flag in SINKS:
        result = hone("bench", "zoo:mlp", "--backend", "native", flag, tmp_path / "none/x")
        refused(result, "E_WRITE")
        assert result.seconds < 2 and not (tmp_path / "data/hone/results.db").exists()
    (tmp_path / "words").write_text("words")
    refused(hone("bench", "zoo:mlp", "--backend", "native", "--json", tmp_path / "words"), "E_PATH")


def test_an_output_is_no_second_name_of_the_cache(hone, tmp_path):
    sound(hone("compile", "zoo:mlp", "-o", tmp_path / "m.so", "-q"))
    assert (tmp_path / "m.so").stat().st_nlink == 1
    (tmp_path / "m.so").write_bytes(b"\x7fELF broken by its owner")
    result = hone("compile", "zoo:mlp", "-o", tmp_path / "n.so", "-q")
    sound(result)
    assert "damaged" not in result.errors and (tmp_path / "n.so").stat().st_size > 1000
