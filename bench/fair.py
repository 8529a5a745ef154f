"""What is not the same for every engine, measured: each way against the engine's default, in slices side by side.

    fair.py --hone build/hone [--model zoo:mobilenet_v3_small] [--threads 1,2] [--flags "..."]

One study for each row of WAYS, of two cells: the engine as it is benched, and the variant. Prints a table for
docs/log/measuring.md: the ratio variant / default with its 95 % interval, the medians, and the highest steal and pressure of
the two rows.
"""
import argparse
import json
import pathlib
import platform
import shlex
import subprocess
import sys
import tempfile

WAYS = [("native", "unpinned"), ("openvino", "request1"), ("openvino", "onesibling"), ("openvino", "hugepages"),
        ("onnxruntime", "hugepages")]


def study(options, backend, variant, store):
    command = [options.hone, "bench", options.model, "--backend", f"{backend},{backend}:{variant}", "--threads", options.threads,
               "--resume", "never", "--store", store, "--json", "-", "--quiet", *shlex.split(options.flags)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not done.stdout.startswith("{"):
        sys.exit(f"{shlex.join(map(str, command))}: exit {done.returncode}: {done.stderr[-500:]}")
    return json.loads(done.stdout)


def ratios(found):
    """(threads, default's row, variant's row, [ratio, low, high] of variant by default or None), for each number of threads."""
    rows = {record["cell"]: record for record in found["records"]}
    for threads in sorted({record["threads"] for record in rows.values()}):
        default, other = sorted((r for r in rows.values() if r["threads"] == threads), key=lambda r: r["variant"] != "default")
        ratio = None
        for pair in found["comparisons"]:
            if {pair["a"], pair["b"]} != {default["cell"], other["cell"]} or not pair["ci"][0]:
                continue
            values = [pair["ratio"], *pair["ci"]]
            ratio = values if pair["a"] == other["cell"] else [1 / values[0], 1 / values[2], 1 / values[1]]
        yield threads, default, other, ratio


def row(backend, variant, threads, default, other, ratio):
    if default["status"] != "ok" or other["status"] != "ok" or not ratio:
        reason = other["reason"] or default["reason"] or "no comparison"
        return f"| {backend} | {variant} | {threads} | {reason[:80]} | | | | |"
    noise = [max(r["noise"][key] for r in (default, other)) for key in ("steal_fraction", "pressure_some")]
    medians = [r["latency_ms"]["p50"] for r in (default, other)]
    return (f"| {backend} | {variant} | {threads} | {ratio[0]:.3f} | {ratio[1]:.3f} to {ratio[2]:.3f} | {medians[0]:.3g} | "
            f"{medians[1]:.3g} | {100 * noise[0]:.1f} %, {100 * noise[1]:.1f} % |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hone", required=True)
    parser.add_argument("--model", default="zoo:mobilenet_v3_small")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--flags", default="", help="more for hone bench")
    options = parser.parse_args()
    options.hone = str(pathlib.Path(options.hone).resolve())
    print(f"{options.model} on {platform.machine()}, load {pathlib.Path('/proc/loadavg').read_text().split()[0]} at the beginning\n")
    print("| engine | variant | threads | variant / default | 95 % | default ms | variant ms | steal, pressure |")
    print("|---|---|--:|--:|---|--:|--:|---|")
    with tempfile.TemporaryDirectory() as folder:
        for backend, variant in WAYS:
            for found in ratios(study(options, backend, variant, pathlib.Path(folder) / "fair.db")):
                print(row(backend, variant, *found), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
