"""hone bench --load: load processes keep the cores busy while a configuration's slices run, pause in between and are
gone afterwards, even if the bench fails; loaded configurations are separate rows."""

import json
import os
import signal

import pytest

import hostile
from hone import until

QUICK = ["--rounds", "4", "--processes", "2", "--min-time", "0.01", "--min-samples", "3",
         "--warmup", "0.005", "--no-measure", "--threads", "1"]


@pytest.fixture
def bench(hone, tmp_path):
    hone.env["HONE_TESTING"] = "1"
    model = tmp_path / "model.onnx"
    model.write_bytes(hostile.identity().SerializeToString())
    hone.words = lambda *more: ["bench", model, "--backend", "null", *QUICK, *more]
    hone.bench = lambda *more: hone(*hone.words(*more))
    return hone


def neighbours(folder):
    """Sessions of their own, without descriptors, that run this program from that sandbox: pid and CPU seconds."""
    found = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            fields = open(f"/proc/{name}/stat").read().rpartition(")")[2].split()
            if int(fields[3]) == int(name) and os.readlink(f"/proc/{name}/exe").endswith("/hone") \
                    and not os.listdir(f"/proc/{name}/fd") \
                    and str(folder).encode() in open(f"/proc/{name}/environ", "rb").read():
                found[int(name)] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        except OSError:
            continue
    return found


def test_loaded_rows_are_rows_of_their_own(bench, tmp_path):
    result = bench.bench("--load", "0,2", "--json", tmp_path / "r.json")
    assert result.code == 0, result.text
    rows = json.loads((tmp_path / "r.json").read_text())["records"]
    assert sorted(row["load"] for row in rows) == [0, 2]
    assert len({row["cell"] for row in rows}) == 2
    assert all(row["rank"] == 1 for row in rows)  # each alone in its group
    assert "2 busy neighbours" in result.text
    loaded = next(row for row in rows if row["load"])
    assert "--load 2" in loaded["repeat"]
    assert "noisy" not in loaded["flags"]


def test_a_loaded_study_is_resumed_apart(bench):
    assert "load 1" in bench.bench("--load", "1", "--dry-run").text
    first = bench.bench("--load", "1")
    second = bench.bench()
    assert first.code == second.code == 0
    assert "resuming" not in second.errors
    assert bench.bench("--load", "65").code == 2


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_neighbours_end_with_the_bench(bench, end):
    words = bench.words("--load", "2", "--rounds", "4000", "--min-time", "400", "--max-time", "400")
    run = bench.start(*words)

    def at_work():
        found = neighbours(bench.folder)
        return found if len(found) == 2 and all(found.values()) else None

    try:
        until(at_work)
        run.send_signal(end)
        run.wait(timeout=600)
        until(lambda: not neighbours(bench.folder))
    finally:
        if run.poll() is None:
            run.kill()
