"""hone bench --keep DIR: keeps the compiled artifacts of each engine in its own folder; file names reported by a worker
are validated."""

import ctypes
import json
import os
import pathlib

import pytest

import hostile
from hone import engine_folder, refused, sound

QUICK = ["--rounds", "1", "--processes", "1", "--min-time", "0.01", "--min-samples", "3", "--warmup", "0.005",
         "--no-measure", "--threads", "1", "--resume", "never"]

ENGINE = """
    import protocol

    class Engine:
        def open(self, request):
            self.sets, self.folder, self.how = {{}}, request.folder, request.options["how"]
            return protocol.Facts(version="9.9", inputs=["x"], outputs=["y"])

        def bind(self, k, inputs):
            self.sets[k] = inputs[0]

        def submit(self, k):
            return [self.sets[k]]

        def fetch(self, handle):
            return handle

        def keep(self):
            with open(f"{{self.folder}}/made.bin", "wb") as file:
                file.write(b"made")
            if self.how == "raise":
                raise RuntimeError("nothing to leave")
            if self.how == "exit":
                os._exit(3)
            return {{"good": ["made.bin"], "up": ["../made.bin", "/etc/passwd", ".."], "gone": ["gone.bin"],
                    "number": [7]}}[self.how]

    protocol.serve(Engine)
"""


@pytest.fixture
def model(hone, tmp_path):
    hone.env["HONE_TESTING"] = "1"
    path = tmp_path / "model.onnx"
    path.write_bytes(hostile.identity().SerializeToString())
    return path


def facts_of(folder, backend):
    path, = (folder / backend).glob("*/cell.json")
    return path.parent, json.loads(path.read_text())


def test_artifacts_of_a_study_stay(hone, model, tmp_path):
    sound(hone("bench", model, "--backend", "native,null,fake", "--keep", tmp_path / "kept", *QUICK))
    folder, facts = facts_of(tmp_path / "kept", "null")
    assert [f["name"] for f in facts["files"]] == ["identity.txt"] and "identity of" in (folder / "identity.txt").read_text()
    folder, facts = facts_of(tmp_path / "kept", "native")
    assert facts["files"][0]["name"] == "model.so" and facts["route"] == "onnx" and facts["threads"] == 1
    assert facts["files"][0]["bytes"] == (folder / "model.so").stat().st_size
    ctypes.CDLL(str(folder / "model.so"))
    folder, facts = facts_of(tmp_path / "kept", "fake")
    assert facts["files"] == [] and "writes no file" in facts["why"]


def test_a_second_study_replaces_what_it_makes_anew(hone, model, tmp_path):
    for _ in range(2):
        sound(hone("bench", model, "--backend", "null", "--keep", tmp_path / "kept", *QUICK))
    facts_of(tmp_path / "kept", "null")


def test_a_folder_that_cannot_be_written_is_said(hone, model, tmp_path):
    (tmp_path / "file").write_text("")
    refused(hone("bench", model, "--backend", "null", "--keep", tmp_path / "file" / "kept", *QUICK), "E_WRITE E_PATH")


@pytest.mark.parametrize("how", ["good", "up", "gone", "raise", "number", "exit"])
def test_a_worker_names_files_of_its_own_folder_only(hone, model, tmp_path, how):
    environment = engine_folder(tmp_path / "engine", "iree_base_runtime", ENGINE)
    hone("bench", model, "--backend", "iree,null", "--engine", f"iree={environment}", "--keep", tmp_path / "kept",
         "--backend-option", f"iree.how={how}", *QUICK, "--json", tmp_path / "s.json")
    rows = {row["backend"]: row["status"] for row in json.loads((tmp_path / "s.json").read_text())["records"]}
    assert rows == {"iree": "ok", "null": "ok"}, "it costs no figure"
    folder, facts = facts_of(tmp_path / "kept", "iree")
    names = sorted(path.name for path in folder.iterdir())
    assert names == (["cell.json", "made.bin"] if how == "good" else ["cell.json"])
    if how == "raise":
        assert "nothing to leave" in facts["why"]
    elif how == "exit":
        assert facts["why"]
    elif how != "good":
        assert all("error" in file for file in facts["files"]) and facts["files"]


@pytest.mark.parametrize("name,file", [("onnxruntime", "optimised.onnx"), ("openvino", "model.blob")])
def test_an_engine_leaves_what_it_compiled(hone, tmp_path, name, file):
    site = pathlib.Path(pytest.importorskip(name).__file__).parent.parent
    sound(hone("bench", "zoo:mlp", "--backend", name, "--engine", f"{name}={site}", "--keep", tmp_path / "kept", *QUICK,
               timeout=200))
    folder, facts = facts_of(tmp_path / "kept", name)
    assert [f["name"] for f in facts["files"]] == [file] and facts["files"][0]["bytes"] > 100_000
    if name == "onnxruntime":
        import onnx
        graph = onnx.load(folder / file).graph
        assert any(node.domain == "com.microsoft" for node in graph.node), "it is the graph as it runs, fused"
