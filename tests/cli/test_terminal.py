"""On a narrow terminal: help and tables fit its width, and the progress line never wraps."""

import fcntl
import os
import pty
import re
import shutil
import struct
import termios
import threading

import pytest

import hostile
from hone import ROOT, sound


def is_whole(line, width):
    """It fits, or cannot be broken: a command to copy, a flag with its argument, a word that is too long by itself."""
    is_flag = len(line.split()) <= 3 and line.lstrip().startswith("-")
    return len(line) <= width or line.startswith("  hone ") or is_flag or max(map(len, line.split())) > width - 12


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_help_fits(hone, width):
    verbs = [line.split()[0] for line in hone("list", "verbs").text.splitlines()]
    for words in (["help"], *(["help", verb] for verb in verbs)):
        whole = hone(*words).text
        text = hone(*words, env={"COLUMNS": str(width)}).text
        assert text.split() == whole.split(), words
        assert [line for line in text.splitlines() if not is_whole(line, width)] == [], words
    assert hone("help", "bench", env={"COLUMNS": "many"}).text == hone("help", "bench").text


def test_a_table_fits(hone, tmp_path):
    shutil.copy(ROOT / "tests/cases/store/v1.db", tmp_path / "v1.db")

    def titles(**env):
        result = hone("report", "first", "--store", tmp_path / "v1.db", env=env)
        sound(result)
        return next(line for line in result.text.splitlines() if "p50" in line)

    assert len(titles(COLUMNS="60").rstrip()) <= 60 < len(titles().rstrip())


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_what_stands_below_a_table_fits(hone, tmp_path, width):
    """Sentences are wrapped between words and otherwise unchanged."""
    shutil.copy(ROOT / "tests/cases/store/v6.db", tmp_path / "v6.db")
    words = ["report", "first", "--store", tmp_path / "v6.db", "--color", "always", "--columns", "p50"]
    whole, text = hone(*words).text, hone(*words, env={"COLUMNS": str(width)}).text
    plain = re.sub("\x1b\\[[0-9;]*m", "", text)
    assert [line for line in plain.splitlines() if len(line) > width] == []
    sentences = [line for line in whole.splitlines() if line[:1] not in ("", " ")]
    assert len(sentences) > 5 and all(" ".join(line.split()) in " ".join(text.split()) for line in sentences)


def on_a_terminal(hone, columns, *words, **env):
    """The command's output to standard error, a terminal with the given number of columns."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    child = hone.start(*words, stderr=its, env=env)
    os.close(its)
    said = bytearray()

    def read():
        try:
            while piece := os.read(ours, 1 << 16):
                said.extend(piece)
        except OSError:
            pass  # the other side is closed

    reader = threading.Thread(target=read)
    reader.start()
    child.communicate(timeout=600)
    reader.join()
    os.close(ours)
    assert child.returncode == 0, said
    return said.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("columns", [24, 200])
def test_progress_stays_one_line(hone, tmp_path, columns):
    model = tmp_path / f"{'a-long-name-' * 4}.onnx"
    model.write_bytes(hostile.identity().SerializeToString())
    said = on_a_terminal(hone, columns, "bench", model, "--backend", "null", "--no-measure", "--rounds", "1",
                         "--processes", "1", "--min-samples", "1", "--min-time", "0.001", "--warmup", "0.001",
                         HONE_TESTING="1")
    lines = [line for piece in said.split("\n") for line in piece.split("\r") if line.startswith("[")]
    assert lines and all(len(line) < columns for line in lines), lines
    assert any(line.rstrip().endswith("...") for line in lines) == (columns == 24), lines
