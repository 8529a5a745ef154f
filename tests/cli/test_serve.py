"""hone serve: its pages, refused requests, limits of uploads, a recommendation from upload to answer, a real browser."""

import contextlib
import hashlib
import http.client
import json
import os
import pathlib
import random
import re
import resource
import select
import selectors
import signal
import socket
import sqlite3
import struct
import subprocess
import tarfile
import time
import urllib.parse

import pytest
from onnx import TensorProto, helper

import browser as chromium
import hostile
from hone import Sandbox, nothing_left, refused, sound, until

SHORT = ["--no-measure", "--rounds", "2", "--processes", "1", "--min-samples", "5", "--min-time", "0.01", "--warmup",
         "0.01", "-q", "--resume", "never"]
TESTING = {"HONE_TESTING": "1"}
EVIL = "<script>document.title='owned'</script>\" onmouseover='x"
WAIT = 300  # seconds that a healthy server may take on a busy machine


def clone(path, count, shift_at=None, shift=1.2, machines=1):
    """`count` more studies like the first of a store, a day apart; from shift_at on slower."""
    base = sqlite3.connect(path)
    base.row_factory = sqlite3.Row
    study = dict(base.execute("select * from study limit 1").fetchone())
    tables = {name: [dict(row) for row in base.execute(f"select * from {name} where study=?", (study["key"],))]
              for name in ("cell", "incarnation", "block")}

    def put(name, row):
        base.execute(f"insert into {name} ({','.join(row)}) values ({','.join('?' * len(row))})", list(row.values()))

    for i in range(count):
        key = hashlib.md5(f"{i}".encode()).hexdigest()
        machine = json.loads(study["machine_json"])
        machine["peaks"] = [{"threads": t, "f32_gflops": 100.0 * t * (1 + i % machines)} for t in range(1, 65)]
        machine["cpu"] = f"CPU {i % machines}"
        put("study", dict(study, key=key, name=f"night {i}", machine_json=json.dumps(machine),
                          started_unix_ms=study["started_unix_ms"] + 86400000 * (i + 1),
                          fingerprint=hashlib.md5(f"machine {i % machines}".encode()).hexdigest()))
        factor = (1 + 0.01 * ((i * 7919) % 11 - 5)) * (shift if shift_at is not None and i >= shift_at else 1)
        for row in tables["cell"]:
            put("cell", dict(row, study=key))
        for row in tables["incarnation"]:
            put("incarnation", dict(row, study=key))
        for row in tables["block"]:
            n = len(row["samples"]) // 8
            put("block", dict(row, study=key, samples=struct.pack(f"<{n}Q", *[int(100000 * factor)] * n)))
    base.commit()
    base.close()


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A sandbox with a store of one study whose name is hostile."""
    hone = Sandbox(tmp_path_factory.mktemp("serve"))
    model = hone.folder / "identity.onnx"
    model.write_bytes(hostile.identity().SerializeToString())
    sound(hone("bench", model, "--backend", "null", *SHORT, "--name", EVIL, "--store", "s.db", env=TESTING))
    return hone


STARTED = []


@pytest.fixture(scope="module", autouse=True)
def leave_none_behind():
    """Ends servers that a failed test left running."""
    yield
    for child in STARTED:
        if child.poll() is None:
            child.kill()
            child.wait()


class Server:
    def __init__(self, hone, *flags, store="s.db", folder="jobs", limits=()):
        self.folder = hone.folder / folder
        self.child = hone.start("serve", "--port", "0", "--store", store, "--folder", self.folder, *flags, limits=limits,
                                env=TESTING)
        STARTED.append(self.child)
        line = self.child.stdout.readline().decode().strip()
        assert line.startswith("http://"), self.child.stderr.read()
        self.host = line[7:].rstrip("/")
        self.port = int(self.host.rsplit(":", 1)[1])

    def ask(self, path="/", method="GET", body=None, **headers):
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT)
        try:
            link.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
            reply = link.getresponse()
            reply.text = reply.read().decode("utf-8", "replace")
            return reply
        finally:
            link.close()

    def raw(self, data, patience=WAIT):
        """Status of the reply to these bytes; 0: closed without one."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=patience) as link:
            try:
                link.sendall(data)
                got = b""
                while b"\r\n" not in got:
                    piece = link.recv(4096)
                    if not piece:
                        break
                    got += piece
            except ConnectionError:
                return 0
        return int(got.split()[1]) if got.startswith(b"HTTP/1.") else 0

    def replies(self, requests):
        """What comes back for each of them, all sent at once, as far as a line of it; b"" where it ends or waits for more."""
        got, waiting = [b""] * len(requests), selectors.DefaultSelector()
        for number, data in enumerate(requests):
            link = socket.create_connection(("127.0.0.1", self.port), timeout=WAIT)
            with contextlib.suppress(ConnectionError):
                link.sendall(data)
            waiting.register(link, selectors.EVENT_READ, number)
        while waiting.get_map() and (ready := waiting.select(3)):
            for key, _ in ready:
                piece = b""
                with contextlib.suppress(ConnectionError):
                    piece = key.fileobj.recv(4096)
                got[key.data] += piece
                if not piece or b"\r\n" in got[key.data]:
                    waiting.unregister(key.fileobj)
                    key.fileobj.close()
        for key in list(waiting.get_map().values()):
            key.fileobj.close()
        return got

    @property
    def token(self):
        return re.search(r'data-token="([0-9a-f]{32})"', self.ask("/jobs").text).group(1)

    def upload(self, data, query="name=m.onnx", **headers):
        headers.setdefault("X_Hone_Token", self.token)
        headers.setdefault("Content_Type", "application/octet-stream")
        return self.ask(f"/jobs?{query}", "POST", data, **headers)

    def job(self, data, query):
        reply = self.upload(data, query)
        assert reply.status == 201, reply.text
        return json.loads(reply.text)["job"]

    def follow(self, job, seconds=600):
        """Events of a job until it ends: [(name, value)]."""
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        link.request("GET", f"{job}/events")
        text = link.getresponse().read().decode()
        link.close()
        return [(name, json.loads(data)) for name, data in re.findall(r"event: (\w+)\ndata: (.*)\n\n", text)]

    def models(self):
        return [p for p in self.folder.rglob("*") if p.is_file() and p.name != "lock"]

    def stop(self, how=signal.SIGTERM):
        if self.child.poll() is None:
            self.child.send_signal(how)
        code = self.child.wait(WAIT)
        self.child.stdout.close()
        self.child.stderr.close()
        return code


@pytest.fixture(scope="module")
def server(home):
    one = Server(home)
    yield one
    assert one.stop() == 0


# -- pages ---------------------------------------------------------------------------------------------------------------


def study_key(server):
    return re.search(r'href="/study/([0-9a-f]{32})"', server.ask("/").text).group(1)


def test_every_page_reads_without_script_and_says_what_it_may_do(server):
    for path in ("/", "/matrix", "/trends", "/machines", "/jobs", f"/study/{study_key(server)}", "/nothing"):
        reply = server.ask(path)
        assert reply.status == (404 if path == "/nothing" else 200), (path, reply.text[-500:])
        assert "<h1>" in reply.text and 'href="/machines"' in reply.text, path
        assert reply.getheader("X-Content-Type-Options") == "nosniff"
        assert reply.getheader("X-Frame-Options") == "DENY"
        assert reply.getheader("Cache-Control") == "no-store"
        assert reply.getheader("Referrer-Policy") == "no-referrer"
        assert reply.getheader("Access-Control-Allow-Origin") is None
        policy = reply.getheader("Content-Security-Policy")
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy
        assert "<script>document.title" not in reply.text and "\" onmouseover" not in reply.text
        head = server.ask(path, "HEAD")
        assert head.status == reply.status and head.text == ""
    assert "&lt;script&gt;document.title" in server.ask("/").text
    assert "identity" in server.ask(f"/study/{study_key(server)}").text


def test_pages_leave_the_store_as_it_is(home):
    (home.folder / "kept.db").write_bytes((home.folder / "s.db").read_bytes())
    clone(home.folder / "kept.db", 12)
    before = (home.folder / "kept.db").read_bytes()
    server = Server(home, store="kept.db", folder="kept")
    for path in ("/", "/matrix", "/trends", "/machines", f"/study/{study_key(server)}"):
        assert server.ask(path).status == 200
    assert server.stop() == 0
    assert (home.folder / "kept.db").read_bytes() == before
    assert not list(home.folder.glob("kept.db-*")) and not list(home.folder.glob("kept.db.lock"))


def test_a_group_without_a_turn_hides_no_older_one(home):
    """A budget that did not reach for it left rows without figures: the matrix shows the study before."""
    path = home.folder / "turns.db"
    path.write_bytes((home.folder / "s.db").read_bytes())
    clone(path, 1)
    with contextlib.closing(sqlite3.connect(path)) as store, store:
        key, fingerprint = store.execute("select key, fingerprint from study order by started_unix_ms limit 1").fetchone()
        store.execute("update study set fingerprint = ?, machine_json = (select machine_json from study where key = ?)", (fingerprint, key))
        store.execute("delete from block where study <> ?", (key,))
        store.execute("update incarnation set status = 'interrupted' where study <> ?", (key,))
    server = Server(home, store="turns.db", folder="turns")
    page = server.ask("/matrix")
    cell = sqlite3.connect(path).execute("select key from cell limit 1").fetchone()[0]
    trends, trend = server.ask("/trends").text, server.ask(f"/trend/{cell}").text
    assert "A trend needs a row in two studies" in trends, trends  # the study without a turn is none
    assert "<span>1 study</span>" in trend and ">interrupted<" not in trend and trend.count('<circle class="point') == 1, trend
    assert server.stop() == 0
    assert (page.status, f"/study/{key}" in page.text, "interrupted" in page.text) == (200, True, False), (key, page.text)


def test_a_new_user_has_no_store(hone):
    server = Server(hone, store="none.db")
    for path in ("/", "/matrix", "/trends", "/machines", "/jobs"):
        assert server.ask(path).status == 200
    for path in ("/", "/matrix"):
        page = server.ask(path).text
        assert "There are no studies yet" in page and "href=\"/jobs\"" in page, page
    assert server.ask("/matrix?machine=" + "0" * 32).status == 404
    assert server.stop() == 0
    assert not (hone.folder / "none.db").exists()


TEXTS = {"study": "plan fingerprint name command options_json", "cell": "model model_path shapes backend variant options route "
         "device precision scenario cache_state open_dimensions", "incarnation": "reason engine_version effective_device "
         "effective_precision output_hash"}


def test_what_a_store_holds_is_text(home):
    """Studies come from other machines' files: markup in any of their texts, in keys too, is shown and never is markup."""
    path = home.folder / "markup.db"
    path.write_bytes((home.folder / "s.db").read_bytes())
    clone(path, 4, machines=2)
    evil = "\"'><b x=y>&"
    base = sqlite3.connect(path)
    whole = [row[0] for row in base.execute("select key from study order by started_unix_ms desc")][:2]
    for table, columns in TEXTS.items():
        for column in columns.split():
            base.execute(f"update {table} set {column} = ? || substr({column}, 1, 2)", (evil,))
    base.execute("update study set machine_json = replace(machine_json, 'CPU ', ?)", (evil.replace('"', "'"),))
    base.execute("update study set name = ''")
    for table, column in (("study", "key"), ("cell", "study"), ("incarnation", "study"), ("block", "study")):
        base.execute(f"update {table} set {column} = ? || substr({column}, 1, 12) where {column} not in (?, ?)", (evil, *whole))
    cell, = base.execute("select key from cell limit 1").fetchone()
    base.commit()
    base.close()
    server = Server(home, store="markup.db", folder="markup")
    pages = ["/", "/matrix", "/trends", "/machines", f"/trend/{cell}", f"/compare?before={whole[1]}&after={whole[0]}",
             *(f"/study/{key}" for key in whole), "/matrix?machine=" + urllib.parse.quote(evil)]
    for where in pages:
        reply = server.ask(where)
        assert reply.status in (200, 404), (where, reply.text[-300:])
        assert "<b x" not in reply.text, (where, reply.text[max(0, reply.text.index("<b x") - 200):][:300])
        assert reply.status == 404 or "&lt;b x=y" in reply.text, where
    assert server.stop() == 0


def trend_of(home, name, **how):
    path = home.folder / f"{name}.db"
    path.write_bytes((home.folder / "s.db").read_bytes())
    clone(path, **how)
    server = Server(home, store=path.name, folder=name)
    link = re.search(r'href="(/trend/[0-9a-f]{32})"', server.ask("/trends").text).group(1)
    page = server.ask(link).text
    machines = server.ask("/machines").text
    assert server.stop() == 0
    return page, machines


def test_a_trend_shows_a_planted_change_and_no_other(home):
    page, _ = trend_of(home, "shift", count=40, shift_at=20, shift=1.15)
    assert re.search(r"<b class=\"worse\">1[3-7] % slower</b> since", page), page[-3000:]
    assert page.count("</b> since") == 1 and page.count("<circle class=\"point") == 40
    assert "1 of other machines omitted" in page
    after = re.search(r"since.*?<a href=\"/study/[0-9a-f]{32}\">(night \d+)</a>", page).group(1)
    assert after in ("night 19", "night 20", "night 21")
    page, _ = trend_of(home, "steady", count=40)
    assert "None in 40 studies" in page


def test_machines_are_compared_with_the_canary_between_them(home):
    _, machines = trend_of(home, "two", count=4, machines=2)
    assert "CPU 0" in machines and "CPU 1" in machines
    assert "1 common row" in machines
    # b is the newest, night 3, whose canary is twice as fast: at about equal latency it is about 2x beyond that
    row = machines[machines.index("1 common row"):]
    assert re.search(r"data-label=\"canary\">0\.50", row), row
    assert 1.8 < float(re.search(r"beyond the canary\"><b>([0-9.]+)x", row).group(1)) < 2.2


def test_lists_name_machines_and_models(home):
    """A name is shown in preference to a hash: machines with the same processor are distinguished by what differs, studies without
    a name by their models."""
    path = home.folder / "names.db"
    path.write_bytes((home.folder / "s.db").read_bytes())
    clone(path, 6, machines=2)
    with contextlib.closing(sqlite3.connect(path)) as store, store:
        store.execute("update study set name = ''")
        store.execute("update study set machine_json = replace(machine_json, 'CPU 1', 'CPU 0')")
        store.execute("update study set machine_json = json_set(machine_json, '$.kernel', 'Linux 9.9') where fingerprint ="
                      " (select fingerprint from study order by started_unix_ms desc limit 1)")
    server = Server(home, store="names.db", folder="names")
    machines, matrix, studies = (server.ask(where).text for where in ("/machines", "/matrix", "/"))
    for page in (machines, matrix):
        assert re.search(r">CPU 0, \d+ cores?, kernel Linux 9\.9 \([0-9a-f]{8}\)</(a|option)>", page), page
    assert re.findall(r'<option value="[0-9a-f]{32}"[^>]*>(CPU 0|\w[^<]*), \d+ core', machines) and ">CPU 0, " in matrix
    assert re.findall(r'<a href="/study/[0-9a-f]{32}">([^<]*)</a>', studies) == ["identity.onnx"] * 7
    assert re.search(r"<option [^>]*>[^<]* identity\.onnx</option>", studies)
    with contextlib.closing(sqlite3.connect(path)) as store, store:
        store.execute("update study set name = 'nightly'")
    assert server.ask("/").text.count("nightly</a><small>identity.onnx</small>") == 7
    assert server.stop() == 0


def test_two_studies_side_by_side(home):
    path = home.folder / "pair.db"
    path.write_bytes((home.folder / "s.db").read_bytes())
    clone(path, 2)
    server = Server(home, store="pair.db", folder="pair")
    keys = re.findall(r'<option value="([0-9a-f]{32})"', server.ask("/").text)
    assert server.ask(f"/compare?before={keys[1]}&after={keys[0]}").status == 200
    assert server.ask("/compare?before=x&after=y").status == 400
    assert server.ask("/compare").status == 400
    assert server.stop() == 0


# -- hostile requests ----------------------------------------------------------------------------------------------------


def test_hostile_requests_are_refused(server):
    own = server.host
    ok = f"Host: {own}\r\n"
    table = [
        ("no host", "GET / HTTP/1.1\r\n\r\n", {400}),
        ("two hosts", f"GET / HTTP/1.1\r\n{ok}{ok}\r\n", {400}),
        ("another host", "GET / HTTP/1.1\r\nHost: evil.com\r\n\r\n", {421}),
        ("another port", "GET / HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n", {421}),
        ("a host in a user's name", f"GET / HTTP/1.1\r\nHost: {own}@evil.com\r\n\r\n", {421}),
        ("a list of hosts", f"GET / HTTP/1.1\r\nHost: {own}, evil.com\r\n\r\n", {421}),
        ("a longer host", f"GET / HTTP/1.1\r\nHost: {own}.evil.com\r\n\r\n", {421}),
        ("foreign origin", f"GET / HTTP/1.1\r\n{ok}Origin: http://evil.com\r\n\r\n", {403}),
        ("null origin", f"GET / HTTP/1.1\r\n{ok}Origin: null\r\n\r\n", {403}),
        ("cross-site", f"GET / HTTP/1.1\r\n{ok}Sec-Fetch-Site: cross-site\r\n\r\n", {403}),
        ("same-site is another port", f"GET / HTTP/1.1\r\n{ok}Sec-Fetch-Site: same-site\r\n\r\n", {403}),
        ("0.9", "GET /\r\n\r\n", {0, 400, 505}),
        ("9.9", f"GET / HTTP/9.9\r\n{ok}\r\n", {0, 400, 505}),
        ("method", f"GETX / HTTP/1.1\r\n{ok}\r\n", {405, 501}),
        ("trace", f"TRACE / HTTP/1.1\r\n{ok}\r\n", {405}),
        ("put", f"PUT / HTTP/1.1\r\n{ok}Content-Length: 0\r\n\r\n", {405}),
        ("options", f"OPTIONS * HTTP/1.1\r\n{ok}\r\n", {405}),
        ("connect", f"CONNECT evil.com:443 HTTP/1.1\r\n{ok}\r\n", {400, 405}),
        ("a method in small letters", f"get / HTTP/1.1\r\n{ok}\r\n", {405}),
        ("a long method", f"{'G' * 5000} / HTTP/1.1\r\n{ok}\r\n", {405}),
        ("half an escape", f"GET /jobs%2 HTTP/1.1\r\n{ok}\r\n", {404}),
        ("no escape", f"GET /jobs%zz HTTP/1.1\r\n{ok}\r\n", {404}),
        ("a bare per cent", f"GET /% HTTP/1.1\r\n{ok}\r\n", {404}),
        ("a number that is none", f"GET /?skip=%zz HTTP/1.1\r\n{ok}\r\n", {200}),
        ("a number too large", f"GET /?skip={'9' * 40} HTTP/1.1\r\n{ok}\r\n", {200}),
        ("thousands of arguments", f"GET /?{'a&' * 9000} HTTP/1.1\r\n{ok}\r\n", {0, 200, 414, 431}),
        ("absolute form", f"GET http://evil.com/ HTTP/1.1\r\n{ok}\r\n", {400, 404}),
        ("traversal", f"GET /../../etc/passwd HTTP/1.1\r\n{ok}\r\n", {404}),
        ("encoded", f"GET /%2e%2e%2fetc/passwd HTTP/1.1\r\n{ok}\r\n", {404}),
        ("twice encoded", f"GET /%252e%252e/etc/passwd HTTP/1.1\r\n{ok}\r\n", {404}),
        ("backslash", f"GET /..\\etc\\passwd HTTP/1.1\r\n{ok}\r\n", {404}),
        ("NUL", f"GET /%00 HTTP/1.1\r\n{ok}\r\n", {404}),
        ("NUL behind a page", f"GET /jobs%00.html HTTP/1.1\r\n{ok}\r\n", {404}),
        ("overlong UTF-8", f"GET /%c0%ae%c0%ae/ HTTP/1.1\r\n{ok}\r\n", {404}),
        ("job traversal", f"GET /job/../../etc/passwd HTTP/1.1\r\n{ok}\r\n", {404}),
        ("a study that is none", f"GET /study/{'0' * 32} HTTP/1.1\r\n{ok}\r\n", {404}),
        ("a long line", f"GET /{'a' * 60000} HTTP/1.1\r\n{ok}\r\n", {0, 414, 431}),
        ("negative length", f"POST /jobs HTTP/1.1\r\n{ok}Content-Length: -1\r\n\r\n", {400}),
        ("signed length", f"POST /jobs HTTP/1.1\r\n{ok}Content-Length: +5\r\n\r\nabcde", {400}),
        ("length with a tail", f"POST /jobs HTTP/1.1\r\n{ok}Content-Length: 5x\r\n\r\nabcde", {400}),
        ("2^64", f"POST /jobs HTTP/1.1\r\n{ok}Content-Length: 18446744073709551616\r\n\r\n", {400, 413}),
        ("two lengths", f"POST /jobs HTTP/1.1\r\n{ok}Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcde", {400}),
        ("the same length twice", f"POST /jobs HTTP/1.1\r\n{ok}Content-Length: 5\r\nContent-Length: 5\r\n\r\nabcde", {400}),
        ("a list of lengths", f"POST /jobs HTTP/1.1\r\n{ok}Content-Length: 5, 5\r\n\r\nabcde", {400}),
        ("a length in hex", f"POST /jobs HTTP/1.1\r\n{ok}Content-Length: 0x5\r\n\r\nabcde", {400}),
        ("smuggling", f"POST /jobs HTTP/1.1\r\n{ok}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", {400}),
        ("chunked", f"POST /jobs HTTP/1.1\r\n{ok}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", {411}),
        ("a body for GET", f"GET / HTTP/1.1\r\n{ok}Content-Length: 5\r\n\r\nabcde", {400}),
        ("65 headers", f"GET / HTTP/1.1\r\n{ok}" + "".join(f"X-{i}: 1\r\n" for i in range(65)) + "\r\n", {431}),
        ("a large header", f"GET / HTTP/1.1\r\n{ok}X: {'a' * 200000}\r\n\r\n", {0, 400, 413, 431}),
        ("a folded header", f"GET / HTTP/1.1\r\n{ok}X: a\r\n b\r\n\r\n", {0, 200, 400}),
        ("NUL in a header", f"GET / HTTP/1.1\r\n{ok}X: a\0b\r\n\r\n", {0, 200, 400}),
        ("NUL in the host", f"GET / HTTP/1.1\r\nHost: {own}\0.evil.com\r\n\r\n", {0, 200, 400}),  # the library ends it at the NUL
        ("no name", f"GET / HTTP/1.1\r\n{ok}: x\r\n\r\n", {0, 200, 400}),  # the library drops it
        ("a blank before the colon", f"GET / HTTP/1.1\r\nHost : {own}\r\n\r\n", {0, 400}),
        ("binary", "\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", {0, 400, 505}),
    ]
    wrong = [(name, got) for name, text, wanted in table
             if (got := server.raw(text.encode("latin-1"))) not in wanted]
    assert not wrong, wrong
    assert server.ask("/").status == 200


PIECES = [b"\r\n", b"\r\n\r\n", b"\n", b"\0", b" ", b":", b"?", b"&a=", b"%00", b"%", b"/../", b"%2e%2e%2f", b"a" * 5000, b"\xff\xfe",
          b"HTTP/1.0", b"-1", b"Host: x\r\n", b"Content-Length: 99999999999999999999\r\n", b"Transfer-Encoding: chunked\r\n",
          b"Expect: 100-continue\r\n", b"Connection: close\r\n", b"Range: bytes=5-1\r\n", b"Cookie: hone=x; hone=\r\n"]


def mangled(dice, data):
    """Up to four places of it lost, doubled, or taken by something else."""
    data = bytearray(data)
    for _ in range(dice.randint(0, 4)):
        at, n = dice.randrange(len(data) + 1), dice.choice((0, 1, 2, 8, 64))
        data[at:at + n] = dice.choice((b"", bytes(data[at:at + n]) * 2, dice.randbytes(n), dice.choice(PIECES)))
    return bytes(data)


def test_random_requests_get_a_clear_answer(home):
    """Seeded requests: each gets a status that is not a server error, or the connection ends, or the server waits for more."""
    server, dice = Server(home, folder="random"), random.Random(20)
    key, token = study_key(server), server.token
    of_job = [f"/job/{'0' * 16}{end}" for end in ("", "/events", "/bundle.tar", "/answer.json")]
    gets = ["/", "/?page=2", f"/study/{key}", "/matrix", "/trends", f"/trend/{key}?from=1", "/machines", "/jobs", "/login",
            f"/compare?a={key}&b={key}", *of_job]
    posts = ["/jobs?name=m.onnx&objective=latency&budget=1s", "/login", f"/job/{'0' * 16}/cancel", f"/job/{'0' * 16}/remove"]
    whole = [f"GET {path} HTTP/1.1\r\nHost: {server.host}\r\nAccept: */*\r\n\r\n" for path in gets]
    whole += [f"POST {path} HTTP/1.1\r\nHost: {server.host}\r\nX-Hone-Token: {token}\r\nContent-Type: {kind}\r\n"
              f"Content-Length: 8\r\n\r\nno model" for path in posts for kind in ("application/octet-stream", "application/json")]
    sent = [mangled(dice, dice.choice(whole).encode()) for _ in range(400)]
    statuses = [(data, reply, re.match(rb"HTTP/1\.[01] ([1-5]\d\d) ", reply)) for data, reply in zip(sent, server.replies(sent))]
    wrong = [(data[:400], reply[:200]) for data, reply, status in statuses
             if reply and not (status and (int(status[1]) < 500 or int(status[1]) in (501, 503, 505)))]
    assert sum(1 for _, reply, _ in statuses if reply) > 200
    assert not wrong, wrong[:5]
    assert server.ask("/").status == 200 and server.stop() == 0


def test_names_of_this_machine_are_ours(server):
    for host in (f"127.0.0.1:{server.port}", f"localhost:{server.port}", f"[::1]:{server.port}", f"LocalHost:{server.port}"):
        assert server.raw(f"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()) == 200
    assert server.raw(f"GET / HTTP/1.1\r\nHost: {server.host}\r\nOrigin: http://{server.host}\r\n\r\n".encode()) == 200
    assert server.raw(f"GET / HTTP/1.1\r\nHOST: LOCALHOST:{server.port}\r\nOrigin: http://localhost:{server.port}\r\n\r\n".encode()) == 200


def test_nothing_changes_without_the_token_of_a_page(server):
    good = server.token
    tries = [({"X_Hone_Token": ""}, 403), ({"X_Hone_Token": "0" * 32}, 403), ({"X_Hone_Token": good[:-1]}, 403),
             ({"X_Hone_Token": good + "0"}, 403), ({"Content_Type": "text/plain"}, 415),
             ({"Content_Type": "multipart/form-data; boundary=x"}, 415),
             ({"Content_Type": "application/octet-streams"}, 415),
             ({"Content_Type": "application/x-www-form-urlencoded"}, 415), ({"Origin": "http://evil.com"}, 403)]
    for headers, status in tries:
        headers.setdefault("X_Hone_Token", good)
        assert server.upload(b"abc", **headers).status == status, headers
    for path in ("cancel", "remove"):
        assert server.ask(f"/job/{'0' * 16}/{path}", "POST", b"", Content_Type="application/json").status == 403
        assert server.ask(f"/job/{'0' * 16}/{path}", "POST", b"", Content_Type="application/json",
                          X_Hone_Token=good).status == 409
    assert not server.models()


# -- uploads -------------------------------------------------------------------------------------------------------------


def test_uploads_have_limits(home):
    server = Server(home, "--max-upload", "100K", "--max-disk", "250K", folder="limits")
    assert server.upload(b"").status == 400
    assert server.upload(b"x" * 100001).status == 413
    small = Server(home, "--max-upload", "100K", "--max-disk", "50K", folder="small")
    kept = small.job(b"\x08\x07", "name=kept.onnx&budget=1s")
    small.follow(kept)
    assert small.upload(b"x" * 60000).status == 507 and small.ask(kept).status == 200  # an upload that cannot fit removes nothing
    assert small.stop() == 0
    assert server.upload(b"abc", "objective=latency").status == 400
    assert server.upload(b"abc", "name=m.onnx&objective=beauty").status == 400
    assert server.upload(b"abc", "name=m.onnx&max-latency=--store").status == 400
    assert server.upload(b"abc", "name=m.onnx&budget=1;id").status == 400
    assert server.upload(b"abc", f"name=m.onnx&budget={'1' * 400}").status == 400
    for sizes in ("--store", "x[1];id", "x[1] y", f"x[{'1' * 200}]"):
        assert server.upload(b"abc", "name=m.onnx&shape=" + urllib.parse.quote(sizes)).status == 400, sizes
    assert not server.models()
    # every demand that the form has, at once
    demands = re.findall(r'<input name="([a-z-]+)" placeholder="([^"]+)"', server.ask("/jobs").text)
    every = server.job(b"\x08\x07", "name=m.onnx&objective=size&" + urllib.parse.urlencode(demands))
    said = server.ask("/jobs").text
    assert len(demands) >= 11 and all(f" --{name} {value}" in said for name, value in demands), said
    server.follow(every)
    assert server.ask(f"{every}/remove", "POST", b"", Content_Type="application/json", X_Hone_Token=server.token).status == 200
    # more announced than sent, and never sent: no file has a name, none counts
    with socket.create_connection(("127.0.0.1", server.port), timeout=WAIT) as link:
        link.sendall(f"POST /jobs?name=m.onnx HTTP/1.1\r\nHost: {server.host}\r\nX-Hone-Token: {server.token}\r\n"
                     "Content-Type: application/octet-stream\r\nContent-Length: 90000\r\n\r\nabc".encode())
        time.sleep(0.3)
        assert not server.models()
    jobs = []
    for name in ("../../etc/passwd", "%00", "a/b\\c.onnx", "--help", ".hidden", "x" * 500, "\u202egnp.onnx"):
        jobs.append(server.job(b"\x08\x07" * 20000, "name=" + urllib.parse.quote(name)))
        server.follow(jobs[-1])
    kept = server.models()
    assert kept and all(server.folder in p.resolve().parents for p in kept)
    assert all(re.fullmatch(r"[a-z0-9_-][a-z0-9._-]{0,63}", p.name) for p in kept), kept
    assert sum(p.stat().st_size for p in kept) <= 260000, "the oldest went"
    assert server.ask(jobs[0]).status == 404 and server.ask(jobs[-1]).status == 200
    assert server.stop() == 0


def test_a_kill_during_an_upload_leaves_nothing(home):
    server = Server(home, folder="killed")
    link = socket.create_connection(("127.0.0.1", server.port), timeout=WAIT)
    link.sendall(f"POST /jobs?name=m.onnx HTTP/1.1\r\nHost: {server.host}\r\nX-Hone-Token: {server.token}\r\n"
                 "Content-Type: application/octet-stream\r\nContent-Length: 9000000\r\n\r\n".encode() + b"x" * 1000000)
    time.sleep(0.5)
    server.stop(signal.SIGKILL)
    link.close()
    assert [p.name for p in server.folder.iterdir()] == ["lock"]
    # remains of a kill between two steps of storing a job are removed at the next start
    (server.folder / ".0123456789abcdef" / "model").mkdir(parents=True)
    (server.folder / ".0123456789abcdef" / "model" / "m.onnx").write_bytes(b"x")
    (server.folder / ".config-of-theirs").mkdir()  # 17 letters as well: --folder named a folder of the user's
    (server.folder / ".config-of-theirs" / "precious").write_bytes(b"x")
    again = Server(home, folder="killed")
    assert sorted(p.name for p in again.folder.iterdir()) == [".config-of-theirs", "lock"]
    assert (again.folder / ".config-of-theirs" / "precious").exists()
    assert "nothing yet" in again.ask("/jobs").text
    refused(home("serve", "--port", "0", "--folder", again.folder), "E_BUSY", "another hone serve")
    assert again.stop() == 0


# -- slow and many clients -----------------------------------------------------------------------------------------------


def test_slow_clients_are_cut_and_others_served(server):
    slow = []
    for first in (b"", b"GET / HTTP/1.1\r\n", f"POST /login HTTP/1.1\r\nHost: {server.host}\r\n".encode()):
        link = socket.create_connection(("127.0.0.1", server.port), timeout=WAIT)
        link.sendall(first)
        slow.append(link)
    waiting, begin = set(slow), time.monotonic()
    while waiting and time.monotonic() - begin < 2 * WAIT:
        for link in list(waiting):
            link.settimeout(0.3)
            try:
                link.sendall(b"X" if len(waiting) % 2 else b"a: b\r\n")  # a trickle, never an end
                if link.recv(1) == b"":
                    waiting.discard(link)
            except TimeoutError:
                pass
            except OSError:
                waiting.discard(link)
        assert server.ask("/jobs").status == 200
    assert not waiting, "a client that never ends its headers is still there"
    for link in slow:
        link.close()


def test_a_client_that_closes_its_side_is_let_go(server):
    """The client gets its whole answer, then its connection ends, before an older idle connection. If its request is incomplete,
    the connection ends at once. The server sees the end of the stream together with the last bytes."""
    get = f"GET /jobs HTTP/1.1\r\nHost: {server.host}\r\n\r\n".encode()
    half = (f"POST /jobs?name=m.onnx HTTP/1.1\r\nHost: {server.host}\r\nX-Hone-Token: {server.token}\r\n"
            "Content-Type: application/octet-stream\r\nContent-Length: 9000\r\n\r\nabc").encode()
    idle = http.client.HTTPConnection("127.0.0.1", server.port, timeout=WAIT)
    idle.request("GET", "/jobs")
    idle.getresponse().read()
    said = []
    for data in (get, half):
        with socket.create_connection(("127.0.0.1", server.port), timeout=WAIT) as link:
            server.child.send_signal(signal.SIGSTOP)
            link.sendall(data)
            link.shutdown(socket.SHUT_WR)
            server.child.send_signal(signal.SIGCONT)
            said.append(b"".join(iter(lambda link=link: link.recv(65536), b"")))
    assert said[0].startswith(b"HTTP/1.1 200") and said[0].rstrip().endswith(b"</html>") and not said[1], said
    assert not select.select([idle.sock], [], [], 0)[0], "the idle one went first"
    idle.close()


def test_a_thousand_connections(home):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2400:
        pytest.skip("a thousand connections need 'ulimit -n 2400'")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2400), hard))
    server = Server(home, folder="many", limits=((resource.RLIMIT_NOFILE, 2400),))
    links = []
    try:
        for _ in range(1000):
            links.append(socket.create_connection(("127.0.0.1", server.port), timeout=WAIT))
        assert server.ask("/jobs").status == 200
        answered = 0
        for link in links[::10]:
            try:
                link.sendall(f"GET /trends HTTP/1.1\r\nHost: {server.host}\r\n\r\n".encode())
                answered += link.recv(64).startswith(b"HTTP/1.1 200")
            except OSError:
                pass  # its time was over before its turn came
        assert server.ask("/").status == 200
    finally:
        for link in links:
            link.close()
    # every opened descriptor is closed
    until(lambda: len(os.listdir(f"/proc/{server.child.pid}/fd")) <= 60)
    assert server.stop() == 0


# -- from a model to its recommendation ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def model(home):
    path = home.folder / "mlp.onnx"
    sound(home("zoo", "write", "mlp", "-o", path))
    return path.read_bytes()


def test_a_model_gets_its_recommendation(home, model):
    server = Server(home, store="jobs.db", folder="answer")
    job = server.job(model, "name=my%20net.onnx&objective=latency&budget=2s&threads=1&max-start=100s&min-throughput=0.001")
    events = server.follow(job)
    states = [value for name, value in events if name == "state"]
    said = "".join(value for name, value in events if name == "log")
    assert states[-1] == "done" and "chosen" in said, said
    assert re.search(r"^\[\d+ s\] \d+ candidates?: .*, 1 thread leads$", said, flags=re.M), said  # while it goes on
    answer = json.loads(server.ask(f"{job}/answer.json").text)
    assert answer["choice"] in {row["cell"] for row in answer["rows"]} and set(answer["bounds"]) == {"start", "throughput"}
    page = server.ask(job).text
    assert "chosen" in page and f"/study/{answer['study']}" in page
    assert server.ask(f"/study/{answer['study']}").status == 200
    assert f'href="{job}/bundle.tar"' in page, said
    link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=WAIT)
    link.request("GET", f"{job}/bundle.tar")
    path = home.folder / "bundle.tar"
    path.write_bytes(link.getresponse().read())
    link.close()
    with tarfile.open(path) as bundle:
        names = bundle.getnames()
        assert all(not name.startswith(("/", "..")) and "/../" not in name for name in names)
    subprocess.run(["tar", "-xf", path, "-C", home.folder], check=True, timeout=600)
    manifest, = home.folder.glob("bundle-*/MANIFEST")
    done = subprocess.run([manifest.parent / "selftest"], env={}, cwd="/", capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0 and done.stdout.startswith("selftest: ok"), done
    # the downloadable bundle counts towards --max-disk, once
    kept = sorted(p.name for p in (server.folder / job.rsplit("/", 1)[1]).iterdir())
    assert kept == ["answer.json", "bundle.tar", "job.json", "log.txt", "model"], kept
    # it is still there after a restart, until it is removed
    assert server.stop() == 0
    again = Server(home, store="jobs.db", folder="answer")
    assert "chosen" in again.ask(job).text
    assert again.ask(f"{job}/remove", "POST", b"", Content_Type="application/json", X_Hone_Token=again.token).status == 200
    assert again.ask(job).status == 404 and not again.models()
    assert again.stop() == 0


@pytest.mark.long
def test_a_model_with_open_sizes_gets_those_of_the_form(server):
    """Without sizes, the page says which to fill in."""
    value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", "T"]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", value[:1], value[1:])
    data = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
    demands = "name=open.onnx&budget=1s&threads=1"
    jobs = [server.job(data, demands), server.job(data, demands + "&shape=" + urllib.parse.quote("x[2,5]"))]
    assert [[v for n, v in server.follow(job) if n == "state"][-1] for job in jobs] == ["failed", "done"]
    pages = [server.ask(job).text for job in jobs]
    assert "--shape &quot;x[1,1]&quot;" in pages[0] and [">chosen<" in page for page in pages] == [False, True], pages


def test_what_is_not_a_model_fails_and_is_no_study(home):
    """Text, a picture, random bytes, an archive: the job fails, its page says why, and no result is kept."""
    server = Server(home, store="no-models.db", folder="no-models")
    files = {"notes.onnx": (b"this is no model", "looks like text"), "notes.tflite": (b"a,b\n1,2\n", "looks like text"),
             "photo.onnx": (b"\x89PNG\r\n\x1a\n" + bytes(99), "E_FORMAT"), "m.pt": (b"\x80\2" + bytes(60), "E_TRUST"),
             "random.onnx": (random.Random(3).randbytes(3000), "E_FORMAT")}
    for name, (data, says) in files.items():
        job = server.job(data, f"name={name}&budget=1s&threads=1")
        assert [value for event, value in server.follow(job) if event == "state"][-1] == "failed", name
        page = server.ask(job).text
        notice = re.search(r'<p class="notice">(.*)</p>', page).group(1)
        assert says in notice and f"&quot;{name}&quot;" in notice and ">chosen<" not in page and "pill bad" in page, page
    assert "There are no studies yet" in server.ask("/").text
    assert server.stop() == 0
    refused(home("dataset", "export", "-o", "no-set", "--store", "no-models.db"), "E_NOFILE")


def test_jobs_wait_end_and_are_interrupted(home, model):
    server = Server(home, store="queue.db", folder="queue")
    first = server.job(model, "name=a.onnx&budget=120s&threads=1")
    second = server.job(model, "name=b.onnx&budget=120s")
    third = server.job(model, "name=c.onnx&budget=120s")
    post = {"Content_Type": "application/json", "X_Hone_Token": server.token}
    assert server.ask(f"{first}/remove", "POST", b"", **post).status == 409
    assert server.ask(f"{second}/cancel", "POST", b"", **post).status == 200
    assert [v for n, v in server.follow(second) if n == "state"] == ["cancelled"]
    assert server.ask(f"{first}/cancel", "POST", b"", **post).status == 200
    assert [v for n, v in server.follow(first) if n == "state"][-1] == "cancelled"
    full = [server.upload(model, f"name={i}.onnx&budget=120s").status for i in range(10)]
    assert full.count(429) >= 2 and full[0] == 201, full
    assert server.stop() == 0
    again = Server(home, store="queue.db", folder="queue")
    page = again.ask("/jobs").text
    states = {state: page.count(f">{state}<") for state in ("interrupted", "done", "failed", "cancelled", "queued", "running")}
    # on a slow machine the third may have come to its end meanwhile
    assert states["interrupted"] + states["done"] == 1 + full.count(201) and states["cancelled"] == 2, states
    assert "interrupted" in page and again.ask(third).status == 200
    assert again.stop() == 0
    nothing_left(server.folder)  # no child outlives its server


# -- the token -----------------------------------------------------------------------------------------------------------


def test_others_need_a_token(home):
    refused(home("serve", "--port", "0", "--address", "0.0.0.0"), "E_USAGE", "a token is required")
    (home.folder / "short").write_text("abc\n")
    refused(home("serve", "--port", "0", "--token-file", "short"), "E_USAGE", "16 to 200")
    refused(home("serve", "--port", "0", "--token-file", "nothing"), "E_NOFILE")
    refused(home("serve", "--port", "0", "--address", "example"), "E_USAGE", "not an address")
    secret = "correct-horse-battery"
    (home.folder / "token").write_text(secret + "\n")
    server = Server(home, "--address", "0.0.0.0", "--token-file", "token", folder="token-jobs")
    for path in ("/", "/jobs", "/study/" + "0" * 32, "/job/" + "0" * 16 + "/events"):
        reply = server.ask(path)
        assert reply.status == 401 and "name=\"token\"" in reply.text and "identity" not in reply.text
    form = {"Content_Type": "application/x-www-form-urlencoded"}
    assert server.ask("/login", "POST", b"token=wrong-wrong-wrong-wrong", **form).status == 403
    reply = server.ask("/login", "POST", f"token={secret}".encode(), **form)
    cookie = reply.getheader("Set-Cookie")
    assert reply.status == 303 and "HttpOnly" in cookie and "SameSite=Strict" in cookie and secret not in cookie
    assert server.ask("/", Cookie=cookie.split(";")[0]).status == 200
    assert server.ask("/", Cookie="hone=" + "0" * 64).status == 401
    assert server.ask("/", Authorization=f"Bearer {secret}").status == 200
    assert server.ask("/", Authorization=f"Bearer {secret}x").status == 401
    assert server.ask("/jobs?name=x", "POST", b"x", Content_Type="application/octet-stream").status == 401
    # guesses of one address are counted, by either way in; they never keep the right token out
    tries = [server.ask("/login", "POST", f"token=guess-number-{i}".encode(), **form).status for i in range(12)]
    reply = server.ask("/", Authorization="Bearer guess-number-13")
    assert tries[0] == 403 and tries[-1] == 429 and reply.status == 429 and reply.getheader("Retry-After"), (tries, reply.status)
    assert server.ask("/login", "POST", f"token={secret}".encode(), **form).status == 303
    assert server.ask("/", Authorization=f"bearer {secret}").status == 200
    assert server.stop() == 0


def test_usage(home):
    refused(home("serve", "--port", "70000"), "E_USAGE")
    refused(home("serve", "extra"), "E_NOFILE", "extra")
    refused(home("serve", "--max-upload", "much"), "E_USAGE", "200MB")
    taken = socket.create_server(("127.0.0.1", 0))
    refused(home("serve", "--port", str(taken.getsockname()[1])), "E_BUSY", "cannot listen")
    taken.close()


# -- a real browser ------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not chromium.PROGRAM, reason="no chromium here (apt-get install chromium)")
def test_in_a_real_browser(home, model, tmp_path):
    path = home.folder / "web.db"
    path.write_bytes((home.folder / "s.db").read_bytes())
    clone(path, 40, shift_at=20, machines=1)
    server = Server(home, store="web.db", folder="web")
    page = chromium.Browser()
    base = f"http://{server.host}"
    try:
        trend = re.search(r"/trend/[0-9a-f]{32}", server.ask("/trends").text).group()
        study = f"/study/{study_key(server)}"
        for width, dark, script in ((1200, False, True), (400, True, True), (400, False, False)):
            page.show(width, dark, script)
            for where in ("/", "/matrix", "/trends", trend, "/machines", "/jobs", study):
                page.open(base + where)
                assert page.run("document.documentElement.scrollWidth <= innerWidth"), (where, width)
                assert page.run("document.querySelector('h1').getClientRects().length"), where
                assert page.run("document.title") != "owned"
                assert page.problems() == [], (where, page.problems())
                over = page.run("""[...document.querySelectorAll('.repeat')].filter(box => {
                    const a = box.querySelector('code').getBoundingClientRect(), b = box.querySelector('.copy').getBoundingClientRect();
                    return a.width && b.width && (innerWidth < 600 ? b.top < a.bottom : b.left < a.right);
                }).length""")
                assert over == 0, (where, width, over)
                color = page.run("getComputedStyle(document.body).backgroundColor")
                assert (color == "rgb(18, 20, 23)") == dark, (where, color)
        # as a new user on a phone: hand a model in, follow it, read the answer
        page.show(400)
        page.open(base + "/jobs")
        (tmp_path / "phone.onnx").write_bytes(model)
        page.choose("#file", tmp_path / "phone.onnx")
        page.run("document.querySelector('[name=budget]').value = '2s'; document.querySelector('[name=threads]').value = '1';"
                 "document.querySelector('#upload button').click()")
        page.wait("location.pathname.startsWith('/job/')")
        page.wait("document.getElementById('state').textContent === 'running' || "
                  "document.getElementById('state').textContent === 'done'")
        page.wait("document.getElementById('state').textContent === 'done'", 300)
        page.wait("document.body.innerText.includes('The answer') && document.body.innerText.includes('chosen') && "
                  "document.querySelector('.answer').innerText.includes('median latency')")
        assert page.problems() == []
        assert page.run("document.documentElement.scrollWidth <= innerWidth")
        page("Page.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
        page.run("document.querySelector('[href$=\\'bundle.tar\\']').click()")
        until(lambda: list(tmp_path.glob("bundle-*.tar")))
        with tarfile.open(*tmp_path.glob("bundle-*.tar")) as bundle:
            assert any(name.endswith("/MANIFEST") for name in bundle.getnames())
        page.run("document.querySelector('[data-post$=remove]').click()")
        page.wait("location.pathname === '/jobs'")
        page.wait("document.body.innerText.includes('nothing yet')")
    finally:
        page.close()
    assert server.stop() == 0
