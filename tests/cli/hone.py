"""Shared by all tests here: runs the command under test in its own folders and checks what it leaves."""

import contextlib
import os
import pathlib
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HONE = pathlib.Path(os.environ.get("HONE", ROOT / "build" / "hone")).resolve()
SHARED = pathlib.Path(os.environ.get("HONE_SHARED", ROOT.parent / "shared")).resolve()
IS_FULL = bool(os.environ.get("HONE_TEST_FULL"))  # make test-full

# Exit codes by error id, as src/core/base/errors.def states them.
CODES = {
    "E_IO": 74, "E_NOFILE": 66, "E_WRITE": 73, "E_PATH": 77, "E_FORMAT": 65, "E_LIMIT": 65,
    "E_TYPE": 65, "E_SHAPE": 65, "E_UNSUP": 65, "E_NUM": 65, "E_OOM": 71, "E_TIMEOUT": 124,
    "E_CRASH": 70, "E_TRUST": 77, "E_BUSY": 75, "E_MISSING": 69, "E_USAGE": 2, "E_ACCURACY": 6,
    "E_INTERRUPTED": 130, "E_INTERNAL": 70,
}


def sampled(cases, every, first=0):
    """Parameters of which `make test` takes each `every`-th from `first` on, and `make test-full` all."""
    return [case if i % every == first else pytest.param(case, marks=pytest.mark.long) for i, case in enumerate(cases)]


def with_long(short, *more):
    """Parameters of which `make test` takes only `short`."""
    return [*short, *(pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.long) for case in more)]


def without_compiler_cache(path):
    """PATH without the compilers of tests/run.py, which ask a cache before they compile."""
    return ":".join(place for place in path.split(":") if not place.endswith("test-cache/compilers"))


ENGINE_HEAD = """#!{python}
import os, sys
sys.argv = sys.argv[1:]  # as the interpreter would have it
sys.path.insert(0, os.getcwd())
"""


def engine_folder(folder, package, script, **words):
    """Makes `folder` look like an installed engine: metadata of `package` (None: without), and `script` as its Python."""
    (folder / "bin").mkdir(parents=True, exist_ok=True)
    if package:
        (folder / f"lib/python3.11/site-packages/{package}-9.9.dist-info").mkdir(parents=True, exist_ok=True)
    python = folder / "bin/python"
    python.write_text((ENGINE_HEAD + textwrap.dedent(script).lstrip()).format(python=sys.executable, **words))
    python.chmod(0o755)
    return folder


class Result:
    """One finished command: code (negative: died by that signal), out, err (bytes), seconds, wall, rss. `seconds`
    are CPU time including its children, so a busy machine does not lengthen them. The timeout of each command
    detects hangs. It is the same for all, and long: with six other processes per core, 5 s of CPU time took 50 s.
    A test about waiting uses `wall`."""

    def __init__(self, args, code, out, err, seconds, wall, rss):
        self.args, self.code, self.seconds, self.wall, self.rss = args, code, seconds, wall, rss
        self.out, self.err = out, err

    @property
    def text(self):
        return self.out.decode("utf-8", "replace")

    @property
    def errors(self):
        return self.err.decode("utf-8", "replace")

    @property
    def id(self):
        """The error id of the message, or None."""
        for line in self.errors.splitlines():
            words = line.replace(":", " ").split()
            if len(words) > 1 and words[0] == "hone" and words[1].startswith("E_"):
                return words[1]
        return None

    def __repr__(self):
        return (f"{' '.join(map(repr, self.args))[:400]}\ncode {self.code}, {self.seconds:.2f} s of CPU in {self.wall:.2f} s, "
                f"{self.rss >> 20} MiB\n-- out\n{self.text[-1500:]}\n-- err\n{self.errors[-1500:]}")


class Sandbox:
    """Runs the command with data, cache and temporary folders of its own under one folder."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.env = {k: v for k, v in os.environ.items()
                    if not k.startswith(("HONE", "XDG_", "LC_", "LANG", "COLUMNS"))}
        for name, key in (("data", "XDG_DATA_HOME"), ("cache", "XDG_CACHE_HOME"),
                          ("tmp", "TMPDIR")):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
            self.env[key] = str(self.folder / name)

    def start(self, *args, env=None, cwd=None, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
              stderr=subprocess.PIPE, limits=(), program=None, **more):
        env = {**self.env, **(env or {})}
        env = {k: v for k, v in env.items() if v is not None}

        def before():
            for which, value in limits:
                resource.setrlimit(which, (value, value))

        return subprocess.Popen([program or HONE, *args], env=env, cwd=cwd or self.folder,
                                stdin=stdin, stdout=stdout, stderr=stderr,
                                preexec_fn=before if limits else None, **more)

    def __call__(self, *args, timeout=600, **more):
        begin = time.monotonic()
        child = self.start(*args, **more)
        streams = {"out": b"", "err": b""}

        def read(name, stream):
            streams[name] = stream.read()

        readers = [threading.Thread(target=read, args=(name, stream))
                   for name, stream in (("out", child.stdout), ("err", child.stderr)) if stream]
        for reader in readers:
            reader.start()
        watch = threading.Timer(timeout, lambda: os.kill(child.pid, signal.SIGKILL))
        watch.start()
        _, status, usage = os.wait4(child.pid, 0)
        watch.cancel()
        wall = time.monotonic() - begin
        child.returncode = os.waitstatus_to_exitcode(status)
        for reader in readers:
            reader.join()
        return Result([str(a) for a in args], child.returncode, streams["out"], streams["err"],
                      usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss * 1024)


def refused(result, wanted, part=None):
    """The command ended with one of the wanted error ids, its exit code, and says the part."""
    wanted = wanted.split()
    assert result.id in wanted, result
    assert result.code == CODES[result.id], result
    if part:
        assert part in result.errors, result


def sound(result, code=0):
    assert result.code == code, result


def processes_of(folder):
    """Living processes that work in the folder or name it in their environment or command line."""
    found = []
    text = str(folder).encode()
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            state = (entry / "stat").read_text().rsplit(")", 1)[1].split()[0]
            words = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
            where = os.readlink(entry / "cwd").encode()
        except OSError:
            continue
        if state != "Z" and (text in words or where.startswith(text)):
            found.append(int(entry.name))
    return found


def stored_rows(path, folder):
    """Blocks and incarnations in a copy of the store, so that reading cannot disturb it."""
    if not path.exists():
        return {}, {}
    copy = folder / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir()
    for name in (path, path.with_name(path.name + "-journal")):
        if name.exists():
            shutil.copy(name, copy)
    with contextlib.closing(sqlite3.connect(copy / path.name)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'block'").fetchone():
            return {}, {}
        blocks = {row[:4]: row[4:] for row in db.execute(
            "SELECT study, cell, incarnation, round, samples, started_unix_ms FROM block")}
        ends = {row[:3]: row[3] for row in db.execute(
            "SELECT study, cell, number, status FROM incarnation")}
        return blocks, ends
# -- a busy machine: no test may depend on a fixed delay or on the order in which processes finish --------


def until(condition, seconds=600):
    """Waits until condition() is true and returns its value. The timeout is only for failures."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, f"not within {seconds} s"
        time.sleep(0.02)
    return found


def nothing_left(folder):
    """Processes that were killed are gone as soon as they get a core."""
    until(lambda: not processes_of(folder), 60)


def catches(pid, number):
    """Whether the process has its own handler of the signal by now; proc(5): SigCgt."""
    try:
        text = pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    found = next((line.split()[1] for line in text.splitlines() if line.startswith("SigCgt:")), "0")
    return int(found, 16) >> (number - 1) & 1


def patiently(bench, sound_row, limit=2):
    """Runs a study with one engine that hangs: bench(words) -> (result, rows), with a --timeout that is long enough for the
    intact row. If that row is not ok, the machine was busy, and the limit grows."""
    for seconds in (limit, 10 * limit, 100 * limit):
        result, rows = bench("--timeout", str(seconds))
        if rows[sound_row]["status"] == "ok":
            break
    return result, rows
