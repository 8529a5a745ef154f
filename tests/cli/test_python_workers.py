"""Engines that are called from Python: each way in which such a worker can end gives one row. The
interpreter of the engine's environment is replaced by one that simulates the engine's faults; protocol.py
is the real one."""

import re
import json
import os
import pathlib
import shutil
import socket
import sqlite3
import struct
import subprocess
import sys
import zipfile

import pytest

import hostile
from hone import engine_folder, patiently, with_long

QUICK = ["--rounds", "2", "--processes", "1", "--min-time", "0.01", "--min-samples", "3",
         "--warmup", "0.005", "--no-measure", "--threads", "1", "--json", "-"]

ENGINE = """
    import signal, time
    import protocol

    class Engine:
        def open(self, request):
            global np
            import numpy as np  # not before the worker is confined: OpenBLAS makes a thread for each processor it sees
            self.fault, self.sets, self.calls = request.options.get("fault", ""), {{}}, 0
            self.enter("import")
            self.act("import")
            self.enter("load")
            self.act("load")
            if self.fault == "head":
                raise protocol.Unsupported(open(request.model, "rb").read(4).hex())
            if "copied_out" in request.options:
                self.copy_in = self.bind
                self.copied_out = lambda: int(request.options["copied_out"])
            return protocol.Facts(version="9.9", inputs=["x"], outputs=["y"])

        def bind(self, k, inputs):
            self.sets[k] = inputs[0]

        def submit(self, k):
            self.calls += 1
            x = self.sets[k]
            self.act("run" if self.calls > 8 else "first")
            late = self.calls > 12
            if self.fault == "overwrites":
                time.sleep(0.002)
                return [x.copy()]
            if self.fault == "wrong" or self.fault == "wrong_late" and late:
                return [x + 1]
            if self.fault == "nan":
                return [x * np.nan]
            if self.fault == "infinite":
                return [x / 0]
            if self.fault == "zeros":
                return [x * 0]
            if self.fault == "half":
                return [np.concatenate([x.reshape(-1)[: x.size // 2], np.zeros(x.size - x.size // 2, x.dtype)])
                        .reshape(x.shape)]
            if self.fault == "inexact":
                return [x * np.float32(1.01)]
            if self.fault == "other_set":
                return [self.sets[min(self.sets)]]
            if self.fault == "last_answer":
                x, self.last = getattr(self, "last", x), x
                return [x]
            if self.fault == "no_output":
                return []
            if self.fault == "two_outputs":
                return [x, x]
            if self.fault == "none":
                return None
            if self.fault == "shape":
                return [np.concatenate([x, x])]
            if self.fault == "dtype":
                return [x.astype(np.float64)]
            return [x]

        def fetch(self, handle):
            if self.fault != "overwrites":
                return handle
            result = handle[0].copy()
            handle[0].fill(np.nan)
            return [result]

        def act(self, when):
            name, _, place = self.fault.partition("@")
            if place != when:
                return
            if name == "segv":
                os.kill(os.getpid(), signal.SIGSEGV)
            if name == "exit":
                os._exit(3)
            if name == "quit":
                os._exit(0)
            if name == "abort":
                os.abort()
            if name == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            if name == "child":
                if not os.fork():
                    time.sleep(1000)
            if name == "closed":
                os.close(4)
                time.sleep(1000)
            if name == "cut":
                os.write(4, b'{{"event": "sl')
                os._exit(0)
            if name == "zero_bytes":
                os.write(4, bytes(100) + b"\\n")
            if name == "sleep":
                time.sleep(1000)
            if name == "raise":
                raise RuntimeError("scripted \\x1b[2J failure")
            if name == "unsupported":
                raise protocol.Unsupported("no such operator")
            if name == "missing":
                import no_such_package_of_an_engine
            if name == "memory":
                raise MemoryError()
            if name == "garbage":
                os.write(4, b"this is not JSON\\n")
            if name == "stdout":
                for _ in range(1000):
                    os.write(1, bytes(range(256)) * 16)
            if name == "remove":
                protocol.Worker.keep = lambda self, name, k, handle: {{"set": k, "name": name}}
            if name == "path":
                protocol.Worker.keep = lambda self, name, k, handle: {{"set": k, "name": "../../x"}}
            if name == "number":
                protocol.resident = lambda: -5

    protocol.serve(Engine)
"""

# name: status, part of the reason
FAULTS = {
    "": ("ok", ""), "wrong": ("wrong", "first inference"), "nan": ("wrong", "NaN"),
    "wrong_late": ("wrong", "inside the timed run"), "shape": ("wrong", "another type or shape"),
    "dtype": ("wrong", "another type or shape"), "segv@load": ("crashed", "SIGSEGV"),
    "segv@run": ("crashed", "SIGSEGV"), "exit@load": ("error", "code 3"),
    "exit@run": ("error", "code 3"), "sleep@run": ("timeout", "--timeout"),
    "raise@load": ("error", "scripted"), "unsupported@load": ("unsupported", "no such operator"),
    "missing@load": ("not_installed", "no_such_package"), "memory@load": ("out_of_memory", ""),
    "garbage@run": ("protocol_error", "not a JSON object"), "stdout@run": ("ok", ""),
    "remove@load": ("protocol_error", "outputs do not match"), "path@load": ("protocol_error", "outputs"),
    "number@load": ("protocol_error", "rss"),
    "infinite": ("wrong", "infinite"), "zeros": ("wrong", "first inference"), "half": ("wrong", "first inference"),
    "inexact": ("wrong", "first inference"), "other_set": ("wrong", "first inference"),
    "last_answer": ("wrong", "first inference"), "no_output": ("protocol_error", "outputs do not match"), "two_outputs": ("error", "IndexError"),
    "none": ("error", "TypeError"), "segv@first": ("crashed", "SIGSEGV"), "abort@run": ("crashed", "SIGABRT"),
    "kill@run": ("crashed", "SIGKILL"), "quit@run": ("error", "code 0"), "sleep@load": ("timeout", "--timeout"),
    "sleep@first": ("timeout", "--timeout"), "raise@run": ("error", "scripted"),
    "unsupported@first": ("unsupported", "no such operator"), "memory@run": ("out_of_memory", "MemoryError"),
    "child@run": ("ok", ""), "closed@run": ("protocol_error", "closed its pipe"), "cut@run": ("protocol_error", "middle of a line"),
    "zero_bytes@run": ("protocol_error", "not a JSON object"),
    "unsupported@import": ("unsupported", "--route stablehlo-hone may run it; without: Unsupported: no such operator"),
}


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """A folder with the look of an installed engine."""
    return engine_folder(tmp_path_factory.mktemp("engine"), "iree_base_runtime", ENGINE)


@pytest.mark.parametrize("fault", with_long(list(FAULTS)[::2], *list(FAULTS)[1::2]))
def test_a_fault_of_a_python_worker_is_one_row(hone, environment, tmp_path, fault):
    model = tmp_path / "model.onnx"
    model.write_bytes(hostile.identity().SerializeToString())
    hone.env["HONE_TESTING"] = "1"
    words = ["--backend-option", f"iree.fault={fault}"] if fault else []

    def bench(*limit):
        result = hone("bench", model, "--backend", "iree,null", "--engine", f"iree={environment}", *QUICK, *words, *limit,
                      "--resume", "never")
        return result, {row["backend"]: row for row in json.loads(result.text)["records"]}

    # the others end by themselves, however slow the machine is
    result, rows = patiently(bench, "null") if fault.startswith("sleep") else bench()
    status, part = FAULTS[fault]
    assert rows["iree"]["status"] == status and part in rows["iree"]["reason"], result
    assert "\x1b" not in rows["iree"]["reason"]
    assert rows["null"]["status"] == "ok", "the next cell was affected"
    if status == "ok":
        assert rows["iree"]["engine_version"] == "9.9" and rows["iree"]["busy_threads"] == 1
        assert rows["iree"]["latency_ms"]["p50"] > 0 and rows["iree"]["rel_l2"] == 0


def test_outputs_are_fetched_once(hone, environment, tmp_path):
    """An engine may overwrite its memory when outputs are fetched. In slices of one sample the random check is also the last."""
    model = tmp_path / "model.onnx"
    model.write_bytes(hostile.identity().SerializeToString())
    result = hone("bench", model, "--backend", "iree", "--engine", f"iree={environment}", *QUICK, "--backend-option",
                  "iree.fault=overwrites", "--min-samples", "1", "--min-time", "0.001", "--resume", "never")
    row, = json.loads(result.text)["records"]
    assert row["status"] == "ok" and row["samples"] == 2, result


def test_arrivals_at_a_python_worker(hone, environment, tmp_path):
    model = tmp_path / "model.onnx"
    model.write_bytes(hostile.identity().SerializeToString())
    result = hone("bench", model, "--backend", "iree", "--engine", f"iree={environment}", *QUICK,
                  "--scenario", "server,rate,multi,offline", "--rate", "500", "--store", tmp_path / "arrivals.db")
    rows = {row["scenario"].partition(":")[0]: row for row in json.loads(result.text)["records"]}
    assert rows["server"]["status"] == rows["rate"]["status"] == rows["offline"]["status"] == "ok", result
    assert rows["multi"]["status"] == "unsupported" and "1 request at a time" in rows["multi"]["reason"]
    assert 0 < rows["rate"]["throughput_per_s"] <= 500  # on a busy machine requests can be late, never early
    base = sqlite3.connect(f"file:{tmp_path}/arrivals.db?mode=ro", uri=True)
    due = [struct.unpack(f"<{len(b) // 8}Q", b) for b, in base.execute(
        "SELECT scheduled FROM block WHERE cell = ?", [rows["rate"]["cell"]])]
    assert due and all(b - a == 2000000 for times in due for a, b in zip(times, times[1:])), due


@pytest.mark.parametrize("ns", [0, 250, 10**12])
def test_copies_that_a_worker_tells_apart(hone, environment, tmp_path, ns):
    """Blocks store copy times as the worker measured them, rows store medians; a copy longer than its sample is an error."""
    model = tmp_path / "model.onnx"
    model.write_bytes(hostile.identity().SerializeToString())
    result = hone("bench", model, "--backend", "iree", "--engine", f"iree={environment}", *QUICK,
                  "--backend-option", f"iree.copied_out={ns}", "--store", tmp_path / "copies.db")
    row, = json.loads(result.text)["records"]
    if ns > 10**9:
        assert row["status"] == "protocol_error" and "samples of the worker do not match its message" in row["reason"], result
        return
    base = sqlite3.connect(f"file:{tmp_path}/copies.db?mode=ro", uri=True)
    blocks = [[struct.unpack(f"<{len(b) // 8}Q", b) for b in of] for of in base.execute("SELECT samples, copy_in, copy_out FROM block")]
    assert len(blocks) == 2 and all(len(into) == 4 and set(out) == {ns} and len(out) == len(samples) for samples, into, out in blocks)
    assert row["copy_out_ms"] == ns / 1e6 and row["copy_in_ms"] > 0
    assert row["compute_ms"] == pytest.approx(row["latency_ms"]["p50"] - ns / 1e6, rel=1e-9)
    shown = hone("report", "last", "--store", tmp_path / "copies.db", "--columns", "copy_in,compute,copy_out").text
    assert all(title in shown for title in ("copy in", "compute", "copy out")), shown
    page = hone("report", "last", "--store", tmp_path / "copies.db", "--html", "-").text
    assert page.count(">copy out</dt>") == page.count(">copy in</dt>") == 1


BESIDES = """
    import json, pathlib, socket
    import protocol

    class Engine:
        def open(self, request):
            home = pathlib.Path.home()
            for place in (home, home / ".cache", pathlib.Path(os.environ["XDG_CACHE_HOME"]),
                          pathlib.Path(os.environ["XDG_DATA_HOME"]), pathlib.Path(os.environ["XDG_CONFIG_HOME"])):
                place.mkdir(parents=True, exist_ok=True)
                (place / "left-by-an-engine").touch()
            found = {{"pip": [os.system(f"{{name}} install --no-deps {wheel}") for name in ("pip", "pip3")],
                      "switches": [os.environ.get(name) for name in ("PIP_NO_INDEX", "DO_NOT_TRACK", "HF_HUB_OFFLINE")],
                      "path": os.environ["PATH"].split(":")[1], "user": os.environ.get("GIVEN")}}
            own = socket.create_server(("127.0.0.1", 0))  # an engine may talk to its own processes
            socket.create_connection(own.getsockname(), timeout=60).close()
            try:
                socket.create_connection(("127.0.0.1", int(request.options["port"])), timeout=60).close()
                found["network"] = True
            except OSError:
                found["network"] = False
            pathlib.Path({report!r}).write_text(json.dumps(found))
            raise protocol.Unsupported("that was all")

    protocol.serve(Engine)
"""


def a_wheel(folder):
    path = folder / "left_by_an_engine-1.0-py3-none-any.whl"
    info = "left_by_an_engine-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("left_by_an_engine.py", "")
        file.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: left-by-an-engine\nVersion: 1.0\n")
        file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{info}/RECORD", "")
    return path


def test_what_an_engine_does_besides_stays_in_its_worker(hone, tmp_path):
    """It installs a package by the first pip of PATH, writes into the home folder, calls a server: none of it gets out."""
    other, home, report = tmp_path / "other", tmp_path / "home", tmp_path / "report.json"
    (other / "bin").mkdir(parents=True)
    for name in ("pip", "pip3"):  # pip of another Python; a call to it leaves a trace
        (other / "bin" / name).write_text(f"#!/bin/sh\nexec {sys.executable} -m pip \"$@\" --target {other}\n")
        (other / "bin" / name).chmod(0o755)
    home.mkdir()
    engine = engine_folder(tmp_path / "engine", "iree_base_runtime", BESIDES, wheel=a_wheel(tmp_path), report=str(report))
    model = tmp_path / "model.onnx"
    model.write_bytes(hostile.identity().SerializeToString())
    before = sorted(other.rglob("*"))
    env = {"HOME": str(home), "PATH": f"{other}/bin:{os.environ['PATH']}",
           "XDG_CACHE_HOME": None, "XDG_CONFIG_HOME": None, "XDG_DATA_HOME": str(tmp_path / "data")}
    can_leave = any(not subprocess.run(["unshare", how, "true"], check=False, capture_output=True).returncode for how in ("-n", "-rn"))
    with socket.create_server(("127.0.0.1", 0)) as server:
        result = hone("bench", model, "--backend", "iree", "--engine", f"iree={engine}", "--backend-option",
                      f"iree.port={server.getsockname()[1]}", "--backend-option", "iree.env.GIVEN=kept", *QUICK, env=env)
    row, = json.loads(result.text)["records"]
    assert "that was all" in row["reason"], result
    found = json.loads(report.read_text())
    assert all(found["pip"]) and found["switches"] == ["1", "1", "1"] and found["user"] == "kept", found
    assert found["path"] == str(engine / "bin")
    assert not (found["network"] and can_leave), found
    assert sorted(other.rglob("*")) == before
    assert [p.relative_to(home).parts for p in (*home.iterdir(), *home.glob(".cache/*"))] == [(".cache",), (".cache", "hone")]
    assert not list(home.rglob("left-by*"))
    assert not list((tmp_path / "data").rglob("left-by*"))


def test_a_broken_environment_is_a_row(hone, tmp_path):
    """No interpreter where one should be: not installed, with the command that helps."""
    model = tmp_path / "model.onnx"
    model.write_bytes(hostile.identity().SerializeToString())
    hone.env["HONE_TESTING"] = "1"
    result = hone("bench", model, "--backend", "tvm,null", "--engine", f"tvm={tmp_path}", *QUICK)
    rows = {row["backend"]: row for row in json.loads(result.text)["records"]}
    assert rows["tvm"]["status"] == "not_installed", result
    assert rows["null"]["status"] == "ok", result


def test_a_container_as_environment_is_refused_with_the_reason(hone, tmp_path):
    model = tmp_path / "model.onnx"
    model.write_bytes(hostile.identity().SerializeToString())
    hone.env["HONE_TESTING"] = "1"
    result = hone("bench", model, "--backend", "tvm,onnxruntime,null", "--engine", "tvm=container:example/tvm",
                  "--engine", "onnxruntime=container:example/ort", *QUICK)
    rows = {row["backend"]: row for row in json.loads(result.text)["records"]}
    assert rows["null"]["status"] == "ok", result
    for name in ("tvm", "onnxruntime"):
        assert rows[name]["status"] in ("not_installed", "unsupported"), result
        assert "container image" in rows[name]["reason"]


def test_a_model_in_a_format_that_an_engine_does_not_read(hone, tmp_path):
    """By its content, before the engine is asked."""
    model = tmp_path / "model.onnx"
    model.write_bytes(b"\x1c\0\0\0TFL3" + bytes(64))
    result = hone("bench", model, "zoo:mlp", "--backend", "iree,litert", *QUICK)  # a study of unreadable files alone is refused
    rows = {row["backend"]: row for row in json.loads(result.text)["records"] if row["model"] != "zoo:mlp"}
    assert rows["iree"]["status"] == "unsupported" and "this model is tflite" in rows["iree"]["reason"], result
    assert rows["litert"]["status"] == "not_installed"


@pytest.mark.parametrize("engine,head,route", [("torch", "504b0304", "pt2"), ("executorch", "504b0304", "pt2"),
                                               ("iree", "08", "onnx-hone")])
def test_a_torch_export_file_goes_as_it_is_to_those_that_read_it(hone, environment, tmp_path, engine, head, route):
    """PyTorch's engines get the user's file, others the ONNX that hone writes of it."""
    folder = tmp_path / "engine"
    shutil.copytree(environment, folder)
    (folder / f"lib/python3.11/site-packages/{engine}-9.9.dist-info").mkdir()
    model = pathlib.Path(__file__).resolve().parents[1] / "cases/pt2/small.pt2"
    result = hone("bench", model, "--backend", engine, "--engine", f"{engine}={folder}", *QUICK,
                  "--backend-option", f"{engine}.fault=head")
    row, = json.loads(result.text)["records"]
    assert row["route"] == route and row["reason"].startswith(f"Unsupported: {head}"), row


def test_engines_that_do_not_run_here_say_why_in_a_row(hone, tmp_path):
    model = tmp_path / "model.onnx"
    model.write_bytes(hostile.identity().SerializeToString())
    names = ["tensorrt", "migraphx", "vitisai", "onnxmlir", "torchxla"]
    result = hone("bench", model, "--backend", ",".join(names), *QUICK)
    rows = {row["backend"]: row for row in json.loads(result.text)["records"]}
    for name in names:
        assert rows[name]["status"] == "unsupported" and re.search(" it (runs with|needs) ", rows[name]["reason"]), result
    assert "--backend xla --route onnx,stablehlo-hone" in rows["torchxla"]["reason"], "the routes that are open"
