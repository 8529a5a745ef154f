"""A study of ten engines whose harness is killed twice and then completed by the same command: every row once, no block
lost. Engines that are called from C and from Python, one that is not installed and one without its environment."""

import json
import os
import pty
import re
import signal
import sqlite3
import threading
import time

import pytest

from hone import Sandbox, processes_of, stored_rows
from places import places, words

ENGINES = ["native", "onnxruntime", "openvino", "litert", "tvm", "iree:local-sync", "xla", "torch:eager", "torch:jit",
           "torch:compile", "ncnn", "mnn", "emx", "executorch"]
ABSENT = {"plaidml": "/nowhere", "tensorrt": None}  # --engine's folder
LEAST = 10  # engines, without their variants and without those that are absent
INCARNATIONS, ROUNDS = 2, 4
PATIENCE = 1500  # s, of one run on a loaded machine: each process of an engine imports and compiles


def of(backend):
    return backend.partition(":")[0]


@pytest.fixture
def study(tmp_path):
    here = [name for name in ENGINES if of(name) == "native" or of(name) in places()]
    found = {of(name) for name in here}
    if len(found) < LEAST:
        lacks = sorted({of(name) for name in ENGINES} - found)
        pytest.skip(f"{len(found)} engines are here and not {LEAST}: hone backends install, or HONE_TEST_ENGINES, {', '.join(lacks)}")
    backends = here + list(ABSENT)
    hone = Sandbox(tmp_path)
    command = ["bench", "zoo:mlp,batch=1", "--backend", ",".join(backends), "--threads", "1", "--processes", INCARNATIONS,
               "--rounds", ROUNDS, "--min-time", "0.02", "--min-samples", "5", "--warmup", "0.02", "--no-measure",
               *words(*found)]
    for name, folder in ABSENT.items():
        command += ["--engine", f"{name}={folder}"] if folder else []
    return hone, [str(word) for word in command], here


def acknowledged(database, folder):
    """The number of blocks while the study runs; 0 if the store was copied in the middle of a transaction."""
    try:
        return len(stored_rows(database, folder)[0])
    except (AssertionError, OSError, sqlite3.DatabaseError):
        return 0


class Run:
    """Runs the command on a terminal and captures its output."""

    def __init__(self, hone, command):
        ours, theirs = pty.openpty()
        self.child, self.text = hone.start(*command, stderr=theirs), ""
        os.close(theirs)
        self.readers = [threading.Thread(target=self.read, args=(ours,)), threading.Thread(target=self.child.stdout.read)]
        for reader in self.readers:
            reader.start()

    def read(self, terminal):
        try:
            while piece := os.read(terminal, 1 << 14):
                self.text += piece.decode(errors="replace")
        except OSError:  # the other end is closed
            pass
        os.close(terminal)

    def until(self, condition):
        """True when the condition holds; False if the command ended before."""
        deadline = time.monotonic() + PATIENCE
        while self.child.poll() is None:
            assert time.monotonic() < deadline, self.text[-2000:]
            if condition():
                return True
            time.sleep(0.1)
        return False

    def wait(self):
        self.child.wait()
        for reader in self.readers:
            reader.join()


def test_killed_twice_and_ended(study, tmp_path):
    hone, command, here = study
    database = tmp_path / "data/hone/results.db"
    kept, wanted = {}, 3
    for kill in range(2):
        run = Run(hone, command)
        assert run.until(lambda: acknowledged(database, tmp_path) >= wanted), run.text[-2000:]
        os.kill(run.child.pid, signal.SIGKILL)
        run.wait()
        blocks, _ = stored_rows(database, tmp_path)
        assert kept.items() <= blocks.items() and len(blocks) >= wanted, "an acknowledged block is lost or changed"
        assert ("resuming study" if kill else "new study") in run.text, run.text[-2000:]
        assert re.search(r"\[\d+/\d+\] .*, \d+:\d\d left", run.text), run.text[-2000:]
        killed = time.monotonic()
        while processes_of(tmp_path) and time.monotonic() - killed < 60:
            time.sleep(0.1)
        assert not processes_of(tmp_path), "a worker outlived the harness"
        kept, wanted = blocks, len(blocks) + len(here)
    run = Run(hone, [*command, "--json", str(tmp_path / "study.json")])
    assert not run.until(lambda: False)
    run.wait()
    assert "resuming study" in run.text, run.text[-2000:]
    check(hone, tmp_path, here, kept)


def check(hone, folder, here, kept):
    records = json.loads((folder / "study.json").read_text())["records"]
    named = [row["backend"] + (f":{row['variant']}" if row["variant"] not in ("", "default") else "") for row in records]
    assert sorted(named) == sorted([*here, *ABSENT]), named
    for name, row in zip(named, records):
        if name in ABSENT:
            assert row["status"] in ("not_installed", "unsupported") and row["reason"], row
        else:
            assert row["status"] == "ok" and row["rel_l2"] < 1e-4, (name, row["status"], row["reason"])
    blocks, ends = stored_rows(folder / "data/hone/results.db", folder)
    assert kept.items() <= blocks.items(), "an acknowledged block is lost or changed"
    assert len({key[0] for key in ends}) == 1, "resumed into another study"
    done = [key for key, status in ends.items() if status == "ok"]
    cells = {key[1] for key in done}
    assert len(cells) == len(here)
    for cell in cells:
        mine = [key for key in done if key[1] == cell]
        assert len(mine) == INCARNATIONS, (cell, ends)
        for key in mine:
            rounds = [k[3] for k in blocks if k[:3] == key]
            assert len(rounds) == len(set(rounds)) == ROUNDS // INCARNATIONS, (key, rounds)
    again = json.loads(hone("report", "last", "--json", "-").text)["records"]
    assert [row["cell"] for row in again] == [row["cell"] for row in records]
