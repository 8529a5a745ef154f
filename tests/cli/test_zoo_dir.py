"""--zoo-dir: a user's PyTorch models by name. The interpreter here is a fake that records its calls and returns a
file; tests/python/test_zoo_write.py tests the exporter with torch."""

import json
import os

import pytest

import hostile
from hone import refused, sound

QUICK = ["--backend", "native", "--rounds", "1", "--processes", "1", "--min-time", "0.01", "--min-samples", "3",
         "--warmup", "0.01", "--no-measure", "--threads", "1", "--resume", "never", "--json", "-"]
MODEL = "def get_model():\n    pass\n\n\ndef get_dummy_input():\n    pass\n"


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "mine.py").write_text(MODEL)
    (folder / "helper.py").write_text("N = 1\n")
    return folder


@pytest.fixture
def python(tmp_path):
    """An environment with a fake python that writes the identity model to the requested path, and logs a line per call."""
    model = tmp_path / "identity.onnx"
    model.write_bytes(hostile.identity().SerializeToString())
    program = tmp_path / "environment" / "bin" / "python"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\necho "$2 $3 $5" >>{tmp_path}/ran\n[ -e {tmp_path}/broken ] && echo "no such layer" '
                       f'&& exit 1\ncase "$7" in */) cp {model} "$7$3.onnx" ;; *) cp {model} "$7" ;; esac\n')
    program.chmod(0o755)
    return program.parent.parent


def ran(tmp_path):
    path = tmp_path / "ran"
    return path.read_text().splitlines() if path.exists() else []


def test_a_model_of_the_folder_is_exported_once(hone, tmp_path, folder, python):
    words = ["--zoo-dir", folder, "--engine", f"torch={python}", *QUICK]
    for word, times in [("mine", 1), ("zoo:mine", 1)]:
        result = hone("bench", word, *words)
        sound(result)
        row, = json.loads(result.text)["records"]
        assert (row["model"], row["status"]) == ("mine.onnx", "ok"), result
        assert ran(tmp_path) == [f"write mine {folder}"] * times
    (folder / "helper.py").write_text("N = 2\n")  # what it imports counts as well
    sound(hone("bench", "mine", *words))
    assert len(ran(tmp_path)) == 2


def test_the_folder_s_models_have_names(hone, tmp_path, folder, python):
    lines = hone("zoo", "--zoo-dir", folder).text.splitlines()
    assert [line.split() for line in lines if str(folder) in line] == [["zoo:mine", str(folder / "mine.py")]]
    assert any(line.startswith("zoo:mlp ") for line in lines) and not ran(tmp_path)
    out = tmp_path / "out.onnx"
    sound(hone("zoo", "write", "mine", "--zoo-dir", folder, "--engine", f"torch={python}", "-o", out))
    words = ["zoo", "write", "mine", "--zoo-dir", folder, "--engine", f"torch={python}", "-o"]
    assert out.read_bytes() == (tmp_path / "identity.onnx").read_bytes() == hone(*words, "-").out
    (tmp_path / "notes.onnx").write_text("words")
    refused(hone(*words, tmp_path / "notes.onnx"), "E_PATH", "it was not changed")
    refused(hone(*words, tmp_path / "notes.txt"), "E_USAGE", "FILE.pt2")
    (tmp_path / "full.onnx").symlink_to("/dev/full")
    refused(hone(*words, tmp_path / "full.onnx"), "E_WRITE")
    assert (tmp_path / "full.onnx").is_symlink() and (tmp_path / "notes.onnx").read_text() == "words"
    sound(hone("zoo", "write", "mlp", "--zoo-dir", folder, "-o", tmp_path / "mlp.onnx"))  # the built-in ones stay


def test_what_is_missing_is_said(hone, tmp_path, folder, python):
    words = ["--zoo-dir", folder, *QUICK]
    refused(hone("bench", "mine", *words), "E_MISSING", "--engine torch=DIR")
    refused(hone("bench", "helpers", *words), "E_NOFILE")
    refused(hone("bench", "mine", "--zoo-dir", tmp_path / "none", *QUICK), "E_NOFILE", "no such folder")
    (tmp_path / "broken").touch()
    refused(hone("bench", "mine", *words, "--engine", f"torch={python}"), "E_UNSUP", "no such layer")
    assert not [path for path, _, files in os.walk(tmp_path) if "zoo-dir" in path and files]  # nothing half is kept
