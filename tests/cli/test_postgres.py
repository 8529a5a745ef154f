"""A store in PostgreSQL: the same figures as in a file, each block exactly once under concurrent writers, tables of older
versions, a server that stops."""

import json
import shutil
import sqlite3
import subprocess
import time
import urllib.request

import pytest

import hostile
import postgres
from hone import ROOT, nothing_left, refused, sound

STORE = ROOT / "tests/cases/store"
SHORT = ["--no-measure", "--rounds", "2", "--processes", "1", "--min-samples", "5", "--min-time", "0.01", "--warmup",
         "0.01", "-q"]
# A study of a few seconds and few samples.
SLOW = ["--backend", "fake", "--backend-option", "fake.latency_us=2000", "--no-measure", "--rounds", "40", "--processes", "2",
        "--min-samples", "5", "--min-time", "4", "--warmup", "0.01", "-q"]

pytestmark = pytest.mark.skipif(not postgres.BIN, reason="no PostgreSQL server here (apt-get install postgresql)")


@pytest.fixture(scope="module")
def server():
    one = postgres.Server()
    yield one
    one.close()


@pytest.fixture
def url(server, request):
    return server.database("t_" + request.node.name.split("[")[0][-40:].lower())


def report(hone, which, store):
    result = hone("report", which, "--json", "-", "--store", store)
    sound(result)
    return result.text


def test_it_gives_what_a_file_gives(hone, server, url, tmp_path):
    """Every row of the oldest stores, through the server and back, to the byte."""
    for name in sorted(p.name for p in STORE.glob("v*.db")):
        file = tmp_path / name
        shutil.copy(STORE / name, file)
        sound(hone("studies", "import", file, "--store", url))
        for line in hone("studies", "--store", file).text.splitlines():
            key = line.split()[0]
            assert report(hone, key, url) == report(hone, key, file)
    sound(hone("studies", "export", "-o", tmp_path / "back.db", "--store", url))
    assert sorted(hone("studies", "--store", tmp_path / "back.db").text.splitlines()) == \
        sorted(hone("studies", "--store", url).text.splitlines())
    before = server.sql("select count(*) from block", url.split("/")[3].split("?")[0])
    sound(hone("studies", "import", tmp_path / "back.db", "--store", url))
    assert server.sql("select count(*) from block", url.split("/")[3].split("?")[0]) == before
    assert int(before) > 0
    first = hone("studies", "--store", url).text.split()[0]
    sound(hone("studies", "rm", first, "--store", url))
    refused(hone("report", first, "--store", url), "E_NOFILE")


def test_a_study_is_measured_into_it(hone, url, tmp_path):
    model = tmp_path / "m'; DROP TABLE block; --.onnx"
    model.write_bytes(hostile.identity().SerializeToString())
    name = "x'); DELETE FROM study; -- \\ $1 ?1 \x7f"
    words = ["bench", model, "--backend", "null", *SHORT, "--store", url, "--name", name]
    sound(hone(*words, env={"HONE_TESTING": "1"}))
    sound(hone(*words, "--resume", "never", env={"HONE_TESTING": "1"}))
    assert json.loads(report(hone, "last", url))["study"]["name"] == name
    assert len(hone("studies", "--store", url).text.splitlines()) == 2
    rows = hone("report", "last~1", "--json", "-", "--with-synthetic", "--store", url)
    record, = json.loads(rows.text)["records"]
    assert record["status"] == "ok", rows
    child = hone.start("serve", "--port", "0", "--store", url, "--folder", tmp_path / "jobs", env={"HONE_TESTING": "1"})
    try:
        trends = urllib.request.urlopen(child.stdout.readline().decode().strip() + "trends", timeout=300).read().decode()
    finally:
        child.terminate()
        child.communicate()
    assert f"/trend/{record['cell']}" in trends and 'data-label="studies">2<' in trends, trends


ROWS = "select incarnation, round, md5(samples), started_unix_ms from block order by incarnation, round"


def some_rows(server, database, child):
    """The rows of a study that runs, as soon as there are three of them."""
    before, deadline = [], time.monotonic() + 240
    while len(before) < 3 and child.poll() is None and time.monotonic() < deadline:
        if server.sql("select to_regclass('block') is not null", database) == "t":
            before = server.sql(ROWS, database).splitlines()
    assert len(before) >= 3, before
    return before


def test_a_server_that_dies_under_a_study_ends_it_and_keeps_what_it_acknowledged(hone, tmp_path):
    own = postgres.Server()
    try:
        model = tmp_path / "m.onnx"
        model.write_bytes(hostile.identity().SerializeToString())
        words = ["bench", model, "--backend", "null", "--no-measure", "--rounds", "40", "--processes", "2", "--min-samples", "5",
                 "--min-time", "1", "--warmup", "0.01", "-q", "--store", own.url]
        child = hone.start(*words, env={"HONE_TESTING": "1"}, stdout=subprocess.DEVNULL)
        before = some_rows(own, "postgres", child)
        own.stop("immediate")
        said = child.communicate(timeout=600)[1].decode()
        assert child.returncode == 74 and "E_IO" in said and "acknowledged is kept" in said, said
        nothing_left(tmp_path)
        own.start()
        sound(hone(*words, env={"HONE_TESTING": "1"}))
        after = own.sql(ROWS).splitlines()
        assert set(before) <= set(after) and len({tuple(row.split("|")[:2]) for row in after}) == len(after)
        assert len(hone("studies", "--store", own.url).text.splitlines()) == 1
    finally:
        own.close()


def test_a_killed_study_goes_on_in_it(hone, server, url, tmp_path):
    """Every block that the server acknowledged is stored unchanged, the study is the same, and no round is stored twice."""
    database = url.split("/")[3].split("?")[0]
    model = tmp_path / "m.onnx"
    model.write_bytes(hostile.identity().SerializeToString())
    words = ["bench", model, *SLOW, "--store", url]
    child = hone.start(*words, env={"HONE_TESTING": "1"}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    some_rows(server, database, child)
    child.kill()
    child.wait()
    before = server.sql(ROWS, database).splitlines()
    assert 3 <= len(before) < 40, before
    sound(hone(*words, env={"HONE_TESTING": "1"}))
    after = server.sql(ROWS, database).splitlines()
    assert set(before) <= set(after)
    assert len({tuple(row.split("|")[:2]) for row in after}) == len(after)
    assert len(hone("studies", "--store", url).text.splitlines()) == 1
    ends = server.sql("select count(*) from incarnation where status = 'ok'", database)
    assert ends == "2", server.sql("select number, status from incarnation", database)


def test_many_at_once_leave_each_row_once(hone, server, url, tmp_path):
    files = []
    for i in range(6):
        files.append(tmp_path / f"{i}.db")
        shutil.copy(STORE / "v1.db", files[-1])
    children = [hone.start("studies", "import", file, "--store", url) for file in files]
    codes = [(child.wait(600), child.stderr.read()) for child in children]
    assert all(code == 0 for code, _ in codes), codes
    for child in children:
        child.stdout.close()
        child.stderr.close()
    database = url.split("/")[3].split("?")[0]
    sound(hone("studies", "--store", files[0]))
    file = sqlite3.connect(files[0])
    for table in ("study", "cell", "incarnation", "block"):
        assert int(server.sql(f"select count(*) from {table}", database)) == \
            file.execute(f"select count(*) from {table}").fetchone()[0]
    file.close()


def test_tables_of_an_earlier_version_are_brought_up(hone, server, url):
    database = url.split("/")[3].split("?")[0]
    sound(hone("studies", "import", STORE / "v1.db", "--store", url))
    before = report(hone, "last", url)
    server.sql("alter table cell drop column load; alter table cell drop column open_dimensions;"
               "alter table block drop column scheduled; alter table block drop column started;"
               "alter table incarnation drop column task_metric, drop column task_accuracy,"
               " drop column task_reference, drop column accuracy_retention,"
               " drop column memory_when, drop column rate_per_s, drop column memory_bytes, drop column largest_batch,"
               " drop column largest_batch_end, drop column kl_divergence; alter table block drop column energy_uj, drop column copy_in, drop column copy_out;"
               "update hone_store set version = 2", database)
    sound(hone("studies", "import", STORE / "v1.db", "--store", url))
    assert server.sql("select version from hone_store", database) == "7"
    assert report(hone, "last", url) == before
    server.sql("update hone_store set version = 99", database)
    refused(hone("studies", "--store", url), "E_FORMAT", "newer hone")


def test_what_is_no_server_and_no_store(hone, server, url, tmp_path):
    refused(hone("studies", "--store", url), "E_NOFILE", "no results yet")
    refused(hone("studies", "--store", f"postgresql://hone:secret@/postgres?host={tmp_path}"), "E_IO", "server")
    wrong = hone("studies", "--store", f"postgresql://hone:secret-word@localhost:1/x?host={tmp_path}")
    assert "secret-word" not in wrong.errors
    refused(hone("studies", "--store", url.replace("hone@", "nobody@")), "E_IO", "role")
    database = url.split("/")[3].split("?")[0]
    server.sql("create table hone_store (other text)", database)
    assert hone("studies", "--store", url).code != 0


def test_a_server_that_ends_loses_nothing_acknowledged(hone, url, tmp_path):
    own = postgres.Server()
    try:
        sound(hone("studies", "import", STORE / "v1.db", "--store", own.url))
        before = report(hone, "last", own.url)
        own.stop()
        refused(hone("report", "last", "--store", own.url), "E_IO")
        refused(hone("studies", "import", STORE / "v1.db", "--store", own.url), "E_IO")
        own.start()
        assert report(hone, "last", own.url) == before
        sound(hone("studies", "import", STORE / "v1.db", "--store", own.url))
    finally:
        own.close()
