"""Other figures of a row than its latency: memory over the life of its process, the largest batch that still runs, and the
energy of the processor packages where the machine has a meter."""

import json
import re
import threading

import pytest

import hostile
from hone import refused, sound

FLAGS = ["--rounds", "2", "--processes", "1", "--min-time", "0.01", "--min-samples", "3", "--warmup", "0.01",
         "--no-measure", "--threads", "1", "--json", "-", "--resume", "never"]
BIG = 1 << 20  # floats of one sample


@pytest.fixture
def hone(hone):
    hone.env["HONE_TESTING"] = "1"
    return hone


@pytest.fixture
def batched(tmp_path):
    """y = x, x [N, 1M]: 4 MB in and 4 MB out a sample, and nothing else that grows."""
    onnx = pytest.importorskip("onnx")
    value, helper = onnx.helper.make_tensor_value_info, onnx.helper
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "g",
                              [value("x", onnx.TensorProto.FLOAT, ["N", BIG])],
                              [value("y", onnx.TensorProto.FLOAT, ["N", BIG])])
    path = tmp_path / "batched.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def rows(result):
    assert result.out, result
    return {r["backend"]: r for r in json.loads(result.text)["records"]}


def test_memory_is_noted_from_the_start_to_the_end(hone, tmp_path, batched):
    page = tmp_path / "page.html"
    result = hone("bench", batched, "--backend", "native", *FLAGS, "--html", page, "--store", tmp_path / "s.db")
    sound(result)
    row = rows(result)["native"]
    points = row["memory_over_time"]
    assert len(points) >= 3 and points == sorted(points), points
    assert points[0][0] >= 0 and all(0 < held <= row["peak_rss_bytes"] for _, held in points), points
    # four sets of 4 MB in and 4 MB out are held while it runs
    assert max(held for _, held in points) > 32e6
    curve = re.search(r'class="curve" d="M([^"]*)"', page.read_text())
    assert curve and len(curve[1].split(" L")) == len(points)
    again = hone("report", "last", "--json", "-", "--store", tmp_path / "s.db")
    assert json.loads(again.text)["records"][0]["memory_over_time"] == points


def test_the_largest_batch_is_found_under_the_memory_limit(hone, batched):
    result = hone("bench", batched, "--backend", "null", *FLAGS, "--largest-batch", "4096",
                  "--memory-limit", "300M")
    row = rows(result)["null"]
    assert row["status"] == "ok", result
    # one set of 8 MB a sample: at most 37 fit, and half of those are not too many for what else is held
    assert 8 <= row["largest_batch"] <= 37, row
    beyond = re.fullmatch(r"batch (\d+): (out_of_memory|error): .+", row["largest_batch_end"])
    assert beyond, row["largest_batch_end"]
    gap = int(beyond[1]) - row["largest_batch"]
    assert 0 < gap <= max(1, row["largest_batch"] // 16), row


def test_what_has_no_larger_batch_says_why(hone, tmp_path, batched):
    fixed = tmp_path / "fixed.onnx"
    fixed.write_bytes(hostile.identity().SerializeToString())
    flags = [*FLAGS, "--largest-batch", "3"]
    row = rows(hone("bench", fixed, "--backend", "native", *flags))["native"]
    assert row["largest_batch"] == 1 and row["largest_batch_end"].startswith("batch 2: "), row
    row = rows(hone("bench", batched, "--backend", "null", "--shape", f"x[2,{BIG}]", *flags))["null"]
    assert row["largest_batch"] == 1 and "do not depend on the batch" in row["largest_batch_end"], row
    both = rows(hone("bench", batched, "--backend", "null,fake", "--backend-option", "fake.fault=exit;at=open;n=3",
                     *flags))
    assert both["null"]["largest_batch"] == 3 and both["null"]["largest_batch_end"] == "not searched above 3", both
    assert both["fake"]["largest_batch"] in (-1, None), both["fake"]
    assert both["fake"]["largest_batch_end"].startswith("batch 1: "), both["fake"]
    refused(hone("bench", fixed, "--largest-batch", "0"), "E_USAGE", "--largest-batch")


# -- energy --------------------------------------------------------------------------------------------


def package(folder, number, used):
    at = folder / f"intel-rapl:{number}"
    at.mkdir(parents=True)
    (at / "max_energy_range_uj").write_text("1000000000\n")
    (at / "energy_uj").write_text(f"{used}\n")
    return at / "energy_uj"


def test_energy_where_there_is_a_meter(hone, tmp_path):
    """A counter that runs on and wraps, as the kernel's does."""
    meter = package(tmp_path / "powercap", 0, 999_990_000)
    (tmp_path / "powercap" / "intel-rapl:0:0").mkdir()  # a part of the package: not counted again
    stop = threading.Event()

    def run_on():
        used = 999_990_000
        while not stop.wait(0.001):
            used = (used + 5000) % 1_000_000_000
            other = meter.with_name("next")
            other.write_text(f"{used}\n")
            other.rename(meter)

    clock = threading.Thread(target=run_on)
    clock.start()
    try:
        result = hone("bench", "zoo:mlp", "--backend", "native", *FLAGS, "--min-time", "0.4",
                      env={"HONE_POWERCAP": str(tmp_path / "powercap")})
    finally:
        stop.set()
        clock.join()
    row = rows(result)["native"]
    assert row["energy_mj"] > 0, row
    # 5 W at most, over the time that the samples took and what lies between them
    assert row["energy_mj"] * row["samples"] / 1e3 < 5 * 60, row
    assert json.loads(result.text)["machine"]["energy"] == "RAPL, 1 package"


def test_without_a_meter_it_is_said(hone, tmp_path):
    result = hone("bench", "zoo:mlp", "--backend", "native", *FLAGS, env={"HONE_POWERCAP": str(tmp_path / "none")})
    assert rows(result)["native"]["energy_mj"] is None
    assert json.loads(result.text)["machine"]["energy"].startswith("not measured: no ")
