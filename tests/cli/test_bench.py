"""hone bench under faults: workers that fail in every way, the harness killed at any
instant, two harnesses on one store, a full disk. Every acknowledged block is stored exactly once."""

import contextlib
import csv
import html.parser
import io
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import time

import pytest

import hostile
from hone import HONE, IS_FULL, catches, nothing_left, patiently, processes_of, refused, sound, stored_rows, until

ROUNDS, INCARNATIONS = 4, 2
QUICK = ["--rounds", str(ROUNDS), "--processes", str(INCARNATIONS), "--min-time", "0.01",
         "--min-samples", "3", "--warmup", "0.005", "--no-measure", "--threads", "1"]
LONG = ["--rounds", "4000", "--min-time", "400", "--max-time", "400"]  # many minutes, in slices of 0.1 s
KILLS = int(os.environ.get("HONE_KILLS", "20" if IS_FULL else "8"))


@pytest.fixture
def bench(hone, tmp_path):
    """Runs 'hone bench' on a small model with the scripted backends allowed."""
    hone.env["HONE_TESTING"] = "1"
    hone.model = tmp_path / "model.onnx"
    hone.model.write_bytes(hostile.identity().SerializeToString())
    hone.db = tmp_path / "data" / "hone" / "results.db"

    def words(*more, backend="fake,null"):
        return ["bench", hone.model, "--backend", backend, *QUICK, *more]

    hone.words = words
    hone.bench = lambda *more, backend="fake,null", **keys: hone(
        *words(*more, backend=backend), **keys)
    return hone


def acknowledged(path):
    """Blocks in the store of a harness that lives: a copy of its files could be of two instants."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=60)) as db:
            return set(db.execute("SELECT study, cell, incarnation, round FROM block"))
    except sqlite3.DatabaseError:  # there is no store yet, or no table in it
        return set()


def table(result):
    return json.loads(result.text)


# -- rows 57 to 63: what a worker can do, seen from outside ------------------------------------------

FAULTS = {
    "exit": ("fault=exit;n=3;after=1", "error"), "segv": ("fault=signal;n=11;after=5", "crashed"),
    "abort": ("fault=signal;n=6;at=open", "crashed"), "fpe": ("fault=signal;n=8;after=1", "crashed"),
    "kill": ("fault=signal;n=9;after=1", "crashed"), "stop": ("fault=signal;n=19;after=1", "timeout"),
    "deaf": ("fault=deaf;after=1", "timeout"), "escape": ("fault=escape;after=1", "timeout"),
    "forks": ("fault=forks;n=20;after=1", "timeout"), "spin": ("fault=spin;after=1", "timeout"),
    "memory": ("fault=memory;n=30000;after=1", "out_of_memory"),
    "stdout": ("fault=stdout;n=64;after=1", "ok"), "garbage": ("fault=garbage;after=1",
                                                                  "protocol_error"),
    "half": ("fault=half;after=1", "protocol_error"), "long": ("fault=long;after=1",
                                                                 "protocol_error"),
    "deep": ("fault=deep;after=1", "protocol_error"), "wrong_cell": ("fault=wrong_cell;after=1",
                                                                      "protocol_error"),
    "unclean": ("fault=signal;n=11;at=close", "ok"), "hangs_at_exit": ("fault=sleep;at=close", "ok"),
    "wrong": ("cheat=wrong", "wrong"), "wrong_later": ("cheat=wrong;after=60", "wrong"),
    "nan": ("cheat=nan", "wrong"), "previous": ("cheat=previous", "wrong"),
    "shape": ("output=shape", "wrong"), "dtype": ("output=dtype", "wrong"),
    "unsupported": ("fault=unsupported;at=prepare", "unsupported"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_one_row(bench, name):
    script, status = FAULTS[name]
    options = [f"--backend-option=fake.{pair}" for pair in script.split(";")]

    def study(*limit):
        result = bench.bench(*options, *limit, "--memory-limit", "100M", "--json", "-", "--min-time", "0.05", "--resume", "never")
        return result, {r["backend"]: r for r in table(result)["records"]}

    result, records = patiently(study, "null", 1) if status == "timeout" else study()
    sound(result, 0 if status == "ok" else 1)
    assert records["fake"]["status"] == status, result
    assert records["null"]["status"] == "ok", "the fault reached the next cell"
    if status == "ok" and name not in ("stdout",):
        assert "unclean_exit" in records["fake"]["flags"], result
    if status not in ("ok",):
        assert not records["fake"]["rank"], "a failed row is ranked"
    assert result.rss < 512 << 20, result
    nothing_left(bench.folder)
    assert b"\x1b" not in result.err, "an engine's escape codes reached the terminal"


def test_everything_failed_is_said(bench):
    sound(bench.bench("--backend-option", "fake.fault=segv", backend="fake"), 3)
    sound(bench.bench("--backend-option", "fake.cheat=wrong", backend="fake"), 4)


# -- row 65: the harness is killed --------------------------------------------------------------------

def check_resumed(bench, before, ends_before, code=0):
    """After the same command, all earlier rows are unchanged and none is duplicated."""
    result = bench.bench()
    sound(result, code)
    kept = [key for key, status in ends_before.items() if status == "ok"]
    many, cells = "" if len(kept) == 1 else "es", len({key[1] for key in kept})
    said = f", which keeps {len(kept)} process{many} of {cells} configuration{'' if cells == 1 else 's'}: 2 configurations, "
    assert said in result.errors or (not kept and "new study" in result.errors), (said, result.errors)
    blocks, ends = stored_rows(bench.db, bench.folder)
    for key, value in before.items():
        assert blocks.get(key) == value, "an acknowledged block is lost or changed"
    for key, status in ends_before.items():
        if status == "ok":
            assert ends.get(key) == "ok"
    done = {key for key, status in ends.items() if status == "ok"}
    cells = {key[1] for key in ends}
    assert len({key[0] for key in ends}) == 1, "resumed into another study"
    assert len(cells) == 2
    for cell in cells:
        mine = [key for key in done if key[1] == cell]
        assert len(mine) == INCARNATIONS, ends
        for key in mine:
            rounds = [k[3] for k in blocks if k[:3] == key]
            assert len(rounds) == ROUNDS // INCARNATIONS and len(set(rounds)) == len(rounds)


def rows_under(bench, budget, *more):
    result = bench.bench("--budget", budget, "--fail-on", "none", "--json", "-", *more, backend="null,fake")
    sound(result)
    return {row["backend"]: row for row in json.loads(result.text)["records"]}


def test_a_budget_leaves_out_who_comes_too_late(bench):
    """On any machine 10 ms are over when the first engine has run: it is measured, and the next row says why it is not."""
    rows = rows_under(bench, "0.01s")
    assert rows["null"]["status"] == "ok" and rows["null"]["rounds"] == ROUNDS // INCARNATIONS, rows
    assert (rows["fake"]["status"], rows["fake"]["reason"]) == ("interrupted", "the budget was spent before its turn"), rows


def test_a_budget_makes_no_reference_for_a_model_without_a_turn(bench, tmp_path):
    """10 ms are over once the first model ran: of the second one there is a row with the reason, and nothing in the cache."""
    (tmp_path / "other.onnx").write_bytes(hostile.one("Relu").SerializeToString())
    result = bench.bench(tmp_path / "other.onnx", "--budget", "0.01s", "--fail-on", "none", "--json", "-", backend="null")
    sound(result)
    first, second = json.loads(result.text)["records"]
    assert first["status"] == "ok" and (second["status"], second["reason"]) == (
        "interrupted", "the budget was spent before its turn"), result
    assert len([p for p in (tmp_path / "cache/hone/reference").iterdir() if "." not in p.name]) == 1


def test_a_budget_ends_an_engine_that_does_not_open(bench):
    rows = rows_under(bench, "4s", "--backend-option", "fake.fault=sleep", "--backend-option", "fake.at=open")
    assert rows["null"]["status"] == "ok", rows
    # this is not the engine's fault; on a busy machine null alone takes 4 s
    assert rows["fake"]["status"] == "interrupted" and "budget" in rows["fake"]["reason"], rows


@pytest.mark.long
def test_a_budget_leaves_out_whose_rounds_do_not_fit(bench):
    rows = rows_under(bench, "15s", "--backend-option", "fake.latency_us=200000", "--rounds", "100", "--processes", "1")
    assert rows["null"]["status"] == "ok", rows
    assert rows["fake"]["status"] in ("timeout", "interrupted") and "budget" in rows["fake"]["reason"], rows


@pytest.mark.long
def test_kill_at_any_instant(bench, tmp_path):
    seed = int(os.environ.get("HONE_SEED", time.time_ns() % 100000))
    print("seed", seed)
    chance = random.Random(seed)
    begin = time.monotonic()
    sound(bench.bench())
    length = time.monotonic() - begin
    found = 0
    for trial in range(KILLS):
        shutil.rmtree(bench.db.parent, ignore_errors=True)
        child = bench.start(*bench.words(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(chance.uniform(0.0, 1.1 * length))
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        before, ends = stored_rows(bench.db, tmp_path)
        found += len(before)
        finished = len([s for s in ends.values() if s == "ok"]) == 2 * INCARNATIONS
        nothing_left(bench.folder)  # no orphan worker
        if finished:  # then the same command begins a new study
            continue
        check_resumed(bench, before, ends)
    assert KILLS < 10 or found, "no trial acknowledged anything: the test tests nothing"


@pytest.mark.parametrize("lost", ["out_1_0.npy", "in_2_0.npy", "all"])
def test_half_a_reference_is_made_again(bench, tmp_path, lost):
    """An incomplete cached reference, after another process trimmed the cache or died in it, is computed again; no row is `unverified`."""
    child = bench.start(*bench.words(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until(lambda: acknowledged(bench.db) or child.poll() is not None)
    child.kill()
    child.wait()
    folders = [p for p in (tmp_path / "cache/hone/reference").iterdir() if "." not in p.name]
    assert len(folders) == 1
    for path in folders[0].iterdir():
        if lost in ("all", path.name):
            path.unlink()
    result = bench.bench("--json", "-")
    sound(result)
    assert [(r["status"], r["reason"]) for r in table(result)["records"]] == [("ok", "")] * 2, result
    assert len(list(folders[0].glob("out_*.npy"))) == 4


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupt_keeps_what_was_measured(bench, tmp_path, number):
    before = {}
    for _ in range(2):  # the second resumes the first
        child = bench.start(*bench.words(*LONG))
        until(lambda: acknowledged(bench.db) - before.keys())
        os.kill(child.pid, number)
        out, err = child.communicate(timeout=600)
        assert child.returncode == 130, (child.returncode, err)
        assert b"E_INTERRUPTED" in err and b"resume" in err
        assert b"fake" in out or b"null" in out, "what was measured is not shown"
        nothing_left(bench.folder)
        after, ends = stored_rows(bench.db, tmp_path)
        assert before.items() < after.items()
        before = after
        assert len({key[0] for key in ends}) == 1


def test_interrupted_twice_ends_at_once(bench, tmp_path):
    """The worker never answers: within its limit of ten minutes, the command is over."""
    child = bench.start(*bench.words("--backend-option", "fake.fault=deaf", "--timeout", "600",
                                     backend="fake"))
    until(lambda: catches(child.pid, signal.SIGINT) and len(processes_of(bench.folder)) > 1)
    begin = time.monotonic()
    for _ in range(2):
        os.kill(child.pid, signal.SIGINT)
        time.sleep(0.3)
    child.communicate(timeout=600)
    assert child.returncode == 130 and time.monotonic() - begin < 300
    nothing_left(bench.folder)


def test_another_build_begins_anew(bench, tmp_path):
    """A newer build may run what an older one refused, so all rows of a study are from one build."""
    child = bench.start(*bench.words(*LONG), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until(lambda: acknowledged(bench.db) or child.poll() is not None)
    child.kill()
    child.wait()
    key = next(iter(acknowledged(bench.db)))[0]
    other = tmp_path / "hone-of-today"
    shutil.copyfile(HONE, other)
    other.chmod(0o755)
    refused(bench.bench(*LONG, "--resume", key, program=other), "E_USAGE", "another build")
    child = bench.start(*bench.words(*LONG), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert b"resuming study " + key[:12].encode() in child.stderr.readline()
    child.kill()
    child.wait()


def test_second_harness_is_told_to_wait(bench):
    child = bench.start(*bench.words(*LONG), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until(lambda: acknowledged(bench.db))  # it measures: it has the lock
        refused(bench.bench(), "E_BUSY")  # at once: the other goes on for many minutes
        assert child.poll() is None
        sound(bench("studies"))  # reading is allowed meanwhile
    finally:
        child.kill()
        child.wait()
    sound(bench.bench("--resume", "never"))  # the dead process's lock needs no cleanup


def test_stale_lock_files_need_nobody(bench):
    sound(bench.bench())
    for path in list(bench.db.parent.iterdir()):
        if path.name != bench.db.name:
            path.write_text("99999\n")
    sound(bench.bench("--resume", "never"))


# -- row 66: the disk is full ---------------------------------------------------------------------------

@pytest.fixture
def small_disk(tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", folder],
                          capture_output=True)
    if made.returncode:
        pytest.skip("no small disk can be mounted here")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def test_full_disk(bench, small_disk, tmp_path):
    bench.db = small_disk / "results.db"
    words = ["--store", bench.db, "--min-time", "0.3"]
    ballast = small_disk / "ballast"
    lost = 0
    for free in (0, 8, 30, 60, 100):
        if bench.db.exists():
            bench.db.unlink()
        room = os.statvfs(small_disk)
        with open(ballast, "wb") as file:
            left = room.f_bavail * room.f_frsize - (free << 10)
            with contextlib.suppress(OSError):
                file.write(bytes(max(left, 0)))
        result = bench.bench(*words, backend="fake")
        if result.code == 0:
            continue
        lost += 1
        assert result.code in (73, 74), result
        before, _ = stored_rows(bench.db, tmp_path)
        ballast.unlink()
        result = bench.bench(*words, backend="fake")
        sound(result)
        after, _ = stored_rows(bench.db, tmp_path)
        assert before.items() <= after.items(), "a block was lost"
    assert lost, "the disk was never full"


# -- row 68: files that are not a store -------------------------------------------------------------------

def other_database(path):
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE t (a)")
        db.commit()


def newer_schema(path):
    with contextlib.closing(sqlite3.connect(path)) as db:
        version = db.execute("PRAGMA user_version").fetchone()[0]
        db.execute(f"PRAGMA user_version = {version + 1000}")
        db.commit()


def planted_trigger(path):
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TRIGGER t AFTER INSERT ON block BEGIN DELETE FROM block; END")
        db.commit()


def planted_view(path):
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("ALTER TABLE study RENAME TO hidden")
        db.execute("CREATE VIEW study AS SELECT * FROM hidden")
        db.commit()


STORES = {"random": lambda p: p.write_bytes(os.urandom(8192)),
          "text": lambda p: p.write_text("hello"), "other": other_database,
          "newer": newer_schema, "trigger": planted_trigger, "view": planted_view,
          "cut": lambda p: os.truncate(p, 5000),
          "folder": lambda p: (p.unlink(), p.mkdir())}


@pytest.mark.parametrize("name", STORES)
def test_no_store(bench, name):
    if name not in ("random", "text", "other"):
        sound(bench.bench())
    bench.db.parent.mkdir(parents=True, exist_ok=True)
    STORES[name](bench.db)
    before = bench.db.read_bytes() if bench.db.is_file() else None
    for words in (bench.words(), ["report"], ["studies"], ["compare", "last", "last"]):
        result = bench(*words)
        refused(result, "E_FORMAT E_IO E_UNSUP")
    assert before is None or bench.db.read_bytes() == before, "a foreign file was written"


# -- what is printed ----------------------------------------------------------------------------------------

STATUSES = {"ok", "unsupported", "error", "wrong", "unverified", "disputed", "crashed", "timeout",
            "out_of_memory", "protocol_error", "not_installed", "interrupted"}


def test_json_is_only_json(bench):
    result = bench.bench("--json", "-")
    sound(result)
    data = table(result)
    assert data["schema"] == 1
    assert {r["status"] for r in data["records"]} <= STATUSES
    assert {r["backend"] for r in data["records"]} == {"fake", "null"}
    pair = data["comparisons"][0]
    assert {"a", "b", "ratio", "ci", "verdict"} <= set(pair)
    assert pair["verdict"] in ("undecided", "tie", "faster", "slower")
    for record in data["records"]:
        low, high = record["latency_ms"]["p50_ci"]
        assert low <= record["latency_ms"]["p50"] <= high


def test_renderers_agree(bench, tmp_path):
    sound(bench.bench("--name", "first"))
    files = {form: tmp_path / f"out.{form}" for form in ("json", "csv", "md", "html")}
    words = [word for form, path in files.items() for word in (f"--{form}", path)]
    sound(bench("report", *words))
    data = json.loads(files["json"].read_text())
    lines = list(csv.DictReader(io.StringIO(files["csv"].read_text())))
    assert len(lines) == len(data["records"]) == 2
    assert {row["backend"] for row in lines} == {"fake", "null"}
    assert "fake" in files["md"].read_text()
    parser = html.parser.HTMLParser()
    parser.feed(files["html"].read_text())
    for form in files:
        once = bench("report", f"--{form}", "-")
        sound(once)
        assert once.out == files[form].read_bytes(), form
    sound(bench("report", "first"))
    refused(bench("report", "nothing"), "E_NOFILE E_USAGE")


def test_compare_two_studies(bench):
    sound(bench.bench("--name", "one"))
    sound(bench.bench("--name", "two", "--resume", "never"))
    result = bench("compare", "one", "two")
    sound(result)
    assert "fake" in result.text and "null" in result.text
    refused(bench("compare", "one", "three"), "E_NOFILE E_USAGE")
    refused(bench("compare", "one"), "E_USAGE")


def test_a_against_a(bench):
    result = bench.bench("--aa", "--json", "-", "--backend-option", "fake.latency_us=500",
                         backend="fake")
    sound(result)
    assert {r["label"] for r in table(result)["records"]} == {0, 1}


def test_dry_run_measures_nothing(bench, tmp_path):
    result = bench.bench("--dry-run")
    sound(result)
    assert "configurations" in result.text and "minutes" in result.text
    assert stored_rows(bench.db, tmp_path) == ({}, {})


def test_test_backends_hide(bench):
    del bench.env["HONE_TESTING"]
    refused(bench.bench(), "E_USAGE")
    assert b"fake" not in bench("list", "backends").out


# -- row 78 to 80, T20: text that came from outside, in every sink ----------------------------------------

HOSTILE = ["<script>alert(1)</script>", '" onmouseover="x', "javascript:x", "</title>", "{{7*7}}",
           "=cmd|'/c calc'!A1", "+1+1", "-2", "@SUM(A1)", "\t=1", "a\nb", "$(id)", "`id`",
           "; rm -rf ~", "| pipe |", "\x1b[2J", "\u202ertl", "'; DROP TABLE study; --", "a\"b",
           "--help", "*", "%s%n", "\\", "]]>", "&amp;", "#SBATCH --uid=0", "nul\u0001"]


class Tags(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags = []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, tuple(sorted(key for key, _ in attributes))))


def tags(text):
    parser = Tags()
    parser.feed(text)
    return parser.tags


def hostile_study(bench, tmp_path, text):
    """A study whose name, model name and tensor name are the text."""
    safe = text.replace("/", "\u2044").replace("\0", "")
    bench.model = tmp_path / f"{safe}.onnx"
    bench.model.write_bytes(hostile.identity().SerializeToString())
    sound(bench.bench("--name=" + text, backend="fake"))


@pytest.mark.long
def test_hostile_text_in_every_sink(bench, tmp_path):
    hostile_study(bench, tmp_path, "plain")
    plain = bench("report", "last", "--html", "-").text
    for text in HOSTILE:
        hostile_study(bench, tmp_path, text)
        shown = bench("report", "last")
        sound(shown)
        studies = bench("studies")
        markdown = bench("report", "last", "--md", "-")
        for result in (shown, studies, markdown):
            assert b"\x1b" not in result.out and "\u202e" not in result.text, (text, result)
        page = bench("report", "last", "--html", "-").text
        assert set(tags(page)) <= set(tags(plain)), text  # charts differ in their counts only
        data = json.loads(bench("report", "last", "--json", "-").text)
        assert data["study"]["name"] == text
        lines = list(csv.reader(io.StringIO(bench("report", "last", "--csv", "-").text,
                                            newline="")))
        assert len(lines) == 2 and len(lines[0]) == len(lines[1]), text
        for cell in lines[1]:
            if cell[:1] in ("=", "+", "@", "\t", "\r"):
                assert float(cell), (text, cell)
            if cell[:1] == "-" and not cell[1:2].isdigit():
                assert cell in ("-", "-inf"), (text, cell)
    with contextlib.closing(sqlite3.connect(bench.db)) as db:
        names = {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type='table'")}
    assert {"study", "cell", "incarnation", "block"} <= names
