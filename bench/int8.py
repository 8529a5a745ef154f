#!/usr/bin/env python3
"""Quantised models: hone against the fastest engine whose outputs are right, model by model.

    bench/int8.py --hone build/hone --work build/int8 [--models DIR] [--threads 1,2] [--only WORD] [-- FLAGS OF hone bench]

Measures, in one study of `hone bench`, the quantised files of a model collection (COLLECTION below) and zoo models
quantised by ONNX Runtime's quantiser (bench/quantised_zoo.py, once: files in WORK are kept) with native, onnxruntime,
openvino and litert. Prints a table for each number of threads: p50 of native, of the best other engine that gave right
outputs (of the fastest one where none did: then no rank is made of it), their ratio; and the ratios' geometric mean.
Needs onnx and onnxruntime in this Python.
"""
import argparse
import collections
import json
import math
import pathlib
import subprocess
import sys

ENGINES = ("native", "onnxruntime", "openvino", "litert")
# of a collection, as shell patterns
COLLECTION = ["mlperf_*/model_int8*.tflite", "mlperf_*/model_int8*.onnx", "micro_kws_m/model_q*.onnx",
              "coral_*/*.tflite", "ultraface_rfb320/model_int8_qdq.onnx"]
# of the zoo, MODEL:FORM of bench/quantised_zoo.py
ZOO = ["conv:qdq_u8s8", "mlp:qdq_u8s8", "mlp:dynamic", "mlp:int4", "mobilenet_v3_small:qdq_u8s8",
       "mobilenet_v3_small:qoperator_u8s8", "resnet18:qdq_u8s8", "resnet50:qdq_u8s8", "transformer:qdq_u8s8",
       "transformer:dynamic", "transformer:int4", "bert_base:qdq_u8s8", "bert_base:dynamic", "gpt2_decode:int4"]


def find_files(options):
    files = [path for pattern in COLLECTION for path in sorted(options.models.glob(pattern))] if options.models else []
    maker = pathlib.Path(__file__).with_name("quantised_zoo.py")
    for case in ZOO:
        path = options.work / f"{case.replace(':', '_')}.onnx"
        if options.only and options.only not in path.name:
            continue
        if not path.exists():
            subprocess.run([sys.executable, maker, options.work, case, "--hone", options.hone], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        files.append(path)
    return [path for path in files if not options.only or options.only in str(path)]


def best_peer(row):
    """(engine, p50, whether its outputs are right), or None where no other engine ran."""
    ran = [(engine, *row[engine]) for engine in ENGINES[1:] if engine in row]
    right = [one for one in ran if one[2]]
    return min(right or ran, key=lambda one: one[1], default=None)


def print_table(records, threads):
    rows = collections.defaultdict(dict)
    for record in records:
        p50 = record["latency_ms"]["p50"]
        if record["threads"] == threads and p50:
            rows[record["model"]][record["backend"]] = p50, record["status"] == "ok"
    print(f"\n| {threads} thread{'s' * (threads > 1)} | native ms | best other | its ms | ratio |\n|---|--:|---|--:|--:|")
    ratios = []
    for model, row in rows.items():
        name = "/".join(pathlib.Path(model).parts[-2:])
        own, peer = row.get("native"), best_peer(row)
        if not own or not own[1] or not peer or not peer[2]:
            why = "native did not end well" if not own or not own[1] else "no other engine gave right outputs"
            print(f"| {name} | {f'{own[0]:.4g}' if own else '-'} | {why} | - | - |")
            continue
        ratios.append(peer[1] / own[0])
        print(f"| {name} | {own[0]:.4g} | {peer[0]} | {peer[1]:.4g} | {ratios[-1]:.2f} |")
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        slower = sum(ratio < 1 for ratio in ratios)
        print(f"\n{threads} thread{'s' * (threads > 1)}: geometric mean {mean:.2f} over {len(ratios)} models; "
              f"native slower in {slower}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--hone", default="build/hone")
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--models", type=pathlib.Path)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--only", default="")
    parser.add_argument("bench", nargs="*", help="further flags of hone bench, after --")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    files = find_files(options)
    if not files:
        sys.exit("int8.py: no models")
    out = options.work / "int8.json"
    done = subprocess.run([options.hone, "bench", *files, "--backend", ",".join(ENGINES), "--threads", options.threads,
                           "--resume", "never", "--fail-on", "none", "--quiet", "--json", out, *options.bench],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"hone bench: exit code {done.returncode}: {done.stderr[-500:]}")
    records = json.loads(out.read_text())["records"]
    for threads in sorted({record["threads"] for record in records}):
        print_table(records, threads)


if __name__ == "__main__":
    main()
