"""How fast a store takes in a fleet and answers: bench/fleet.py [--hone build/hone] [--nodes 1000] [--blocks 1000000] [--postgres]

Simulated nodes: a study each, 10 cells, their blocks of 30 samples, in one spool store of 50 nodes a file, made by sqlite3 from
the schema that hone itself wrote. Timed: `hone studies import` of all files (ingest), then what pages ask: the list of
studies, one study, one cell over the newest 256. --postgres: into a server of its own (Debian's package postgresql, default
settings, fsync on) instead of a file.
"""
import argparse
import hashlib
import json
import os
import pathlib
import random
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time

CELLS = 10


def make_spool(hone, folder, nodes, blocks, per_file):
    """Copies of a real study's rows under other keys."""
    seed = folder / "seed.db"
    subprocess.run([hone, "bench", "zoo:mlp", "--backend", "native", "--threads", "1", "--no-measure", "--rounds", "1",
                    "--processes", "1", "--min-samples", "1", "--min-time", "0.001", "--warmup", "0.001", "-q", "--store", seed],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    source = sqlite3.connect(seed)
    source.row_factory = sqlite3.Row
    rows = {t: dict(source.execute(f"select * from {t} limit 1").fetchone()) for t in ("study", "cell", "incarnation", "block")}
    schema = [r[0] for r in source.execute("select sql from sqlite_schema where sql is not null")]
    pragmas = {p: source.execute(f"pragma {p}").fetchone()[0] for p in ("application_id", "user_version")}
    rnd = random.Random(1)
    samples = [struct.pack("<30Q", *[rnd.randrange(900000, 1100000) for _ in range(30)]) for _ in range(64)]
    files, each = [], blocks // (nodes * CELLS)
    for begin in range(0, nodes, per_file):
        path = folder / f"spool{begin}.db"
        db = sqlite3.connect(path)
        for name, value in pragmas.items():
            db.execute(f"pragma {name}={value}")
        for sql in schema:
            db.execute(sql)

        def put(table, many):
            keys = list(rows[table])
            db.executemany(f"insert into {table} ({','.join(keys)}) values ({','.join('?' * len(keys))})",
                           ([row[k] for k in keys] for row in many))

        for node in range(begin, min(begin + per_file, nodes)):
            key = hashlib.md5(f"node {node}".encode()).hexdigest()
            put("study", [dict(rows["study"], key=key, fingerprint=hashlib.md5(f"{node % 20}".encode()).hexdigest(),
                               started_unix_ms=1700000000000 + node * 60000, finished=1)])
            cells = [hashlib.md5(f"cell {c}".encode()).hexdigest() for c in range(CELLS)]
            put("cell", [dict(rows["cell"], study=key, key=cell, threads=c + 1) for c, cell in enumerate(cells)])
            put("incarnation", [dict(rows["incarnation"], study=key, cell=cell, number=0) for cell in cells])
            put("block", [dict(rows["block"], study=key, cell=cell, incarnation=0, round=r, samples=rnd.choice(samples),
                               rewarm=b"") for cell in cells for r in range(each)])
        db.commit()
        db.close()
        files.append(path)
    return files


def timed(command, **more):
    begin = time.monotonic()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, **more)
    if done.returncode not in (0, 1):
        sys.exit(done.stderr.decode())
    return time.monotonic() - begin, done


def ask_pages(hone, store, folder):
    """Seconds of each page, the least of 3."""
    import re
    import urllib.request
    server = subprocess.Popen([hone, "serve", "--port", "0", "--store", store, "--folder", folder / "jobs"], stdout=subprocess.PIPE)
    url = server.stdout.readline().decode().strip()

    def get(path):
        begin = time.monotonic()
        text = urllib.request.urlopen(url.rstrip("/") + path).read().decode()
        return time.monotonic() - begin, text

    least = {}
    try:
        study = re.search(r"/study/[0-9a-f]{32}", get("/")[1]).group()
        trend = re.search(r"/trend/[0-9a-f]{32}", get("/trends")[1]).group()
        for name, path in (("list of studies", "/"), ("one study", study), ("cells of several studies", "/trends"),
                           ("one cell over 256 studies", trend), ("machines", "/machines")):
            least[name] = min(get(path)[0] for _ in range(3))
    finally:
        server.terminate()
        server.wait()
    return least


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hone", default="build/hone")
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--blocks", type=int, default=1000000)
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("--folder", default=None)
    options = parser.parse_args()
    hone = pathlib.Path(options.hone).resolve()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = pathlib.Path(name)
        files = make_spool(hone, folder, options.nodes, options.blocks, 50)
        store, server = str(folder / "fleet.db"), None
        if options.postgres:
            sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests/cli"))
            import postgres
            server = postgres.Server(options.folder or tempfile.gettempdir(), fsync=True)
            store = server.url
        seconds, _ = timed([hone, "studies", "import", *files, "--store", store])
        again, _ = timed([hone, "studies", "import", files[0], "--store", store])
        report = {"nodes": options.nodes, "blocks": options.blocks // (options.nodes * CELLS) * options.nodes * CELLS,
                  "store": "postgresql" if server else "sqlite", "ingest_s": seconds,
                  "50_nodes_again_s": again, "pages_s": ask_pages(hone, store, folder)}
        report["bytes"] = int(server.sql("select pg_database_size('postgres')")) if server else os.path.getsize(store)
        if server:
            server.close()
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
