#!/usr/bin/env python3
"""Cross-check: do other tools see the medians that `hone bench` prints?

Three models, 1 and 2 threads. Rounds in random order of: hone (twice, the A/A pair), a plain ONNX
Runtime loop in Python (bound inputs and outputs, perf_counter_ns), OpenVINO's own benchmark_app.
hone loads the engine libraries of the Python that runs this file (ONNX Runtime's Python module has
its own copy of the same release); all get the same CPUs. Only ratios within a round are used: what
disturbs the machine disturbs a whole round.

A cell agrees if |median ratio - 1| is within max(3 %, the A/A resolution), or if the difference of
the medians is not above the difference of the two floors (an identity model through either path):
then it is the caller's cost and not the model's (verdict "floors"). Undecided: the interval of the
ratio holds 1 but is wider than what had to be shown, or hone's own two runs differ by over 10 %.
"quiet" is the ratio of the lowest medians of all rounds: each tool in its least disturbed round.
Exit code 1 if a cell differs, 5 if one is undecided.

Needs numpy, onnxruntime and openvino in this Python (make crosscheck takes HONE_TEST_PYTHON).
"""
import argparse
import datetime
import glob
import json
import math
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile

MODELS = ["zoo:mlp", "zoo:mobilenet_v3_small", "zoo:transformer"]
TOLERANCE = 0.03
MOST = 0.10  # where not even this can be shown, agreement would say nothing

# graph g(x: f32[4]) -> (y: f32[4]) { y = Identity(x) }: the model that hone measures floors with
IDENTITY = (bytes([8, 8, 0x3A, 55, 0x0A, 16, 0x0A, 1]) + b"x" + bytes([0x12, 1]) + b"y"
            + bytes([0x22, 8]) + b"Identity" + bytes([0x12, 1]) + b"g"
            + bytes([0x5A, 15, 0x0A, 1]) + b"x" + bytes([0x12, 10, 0x0A, 8, 8, 1, 0x12, 4, 10, 2, 8, 4])
            + bytes([0x62, 15, 0x0A, 1]) + b"y" + bytes([0x12, 10, 0x0A, 8, 8, 1, 0x12, 4, 10, 2, 8, 4])
            + bytes([0x42, 4, 0x0A, 0, 0x10, 13]))

ORT_LOOP = r"""
import gc, json, sys, time
import numpy, onnxruntime
path, threads, seconds, sweep = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4:]
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = threads
options.inter_op_num_threads = 1
session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
random = numpy.random.default_rng(1)
binding = session.io_binding()
for value in session.get_inputs():
  data = (random.standard_normal(value.shape).astype(numpy.float32) if "float" in value.type
          else numpy.ones(value.shape, numpy.int64))
  binding.bind_ortvalue_input(value.name, onnxruntime.OrtValue.ortvalue_from_numpy(data))
for value in session.get_outputs():
  data = numpy.zeros(value.shape, numpy.float32)
  binding.bind_ortvalue_output(value.name, onnxruntime.OrtValue.ortvalue_from_numpy(data))
def loop(duration):
  run, clock, samples = session.run_with_iobinding, time.perf_counter_ns, []
  end = clock() + int(duration * 1e9)
  swept = numpy.ones(1 << 19) # 4 MB
  while clock() < end or len(samples) < 10:
    if sweep: swept.sum()
    start = clock()
    run(binding)
    samples.append(clock() - start)
  return samples
gc.disable()
loop(0.3)
samples = sorted(loop(seconds))
json.dump(samples[len(samples) // 2], sys.stdout)
"""


def run(command, threads, env=None):
  """Output of a child that has the first `threads` CPUs, as hone gives them to a worker."""
  cpus = sorted(os.sched_getaffinity(0))[:threads]
  done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                        env=env, check=False, preexec_fn=lambda: os.sched_setaffinity(0, cpus))
  if done.returncode:
    sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout[-2000:]}")
  return done.stdout


def libraries():
  try:
    import onnxruntime
    import openvino
  except ImportError as error:
    sys.exit(f"{sys.executable}: {error}: pip install numpy onnxruntime openvino, the same releases "
             "as the engines that hone installed")
  def first(module, pattern):
    return sorted(glob.glob(os.path.join(os.path.dirname(module.__file__), pattern)))[0]
  return {"onnxruntime": first(onnxruntime, "capi/libonnxruntime.so*"),
          "openvino": first(openvino, "libs/libopenvino_c.so*")}


class Rig:
  def __init__(self, args, folder):
    self.args, self.folder, self.libraries = args, folder, libraries()

  def hone(self, model, threads):
    """(median, floor) in ns of both engines."""
    command = [self.args.hone, "bench", model, "--threads", str(threads), "-t",
               str(self.args.seconds), "--rounds", "3", "--incarnations", "1", "--no-measure",
               "--warmup", "0.3", "--resume", "never", "-q", "--store",
               os.path.join(self.folder, "store.db"), "--json",
               os.path.join(self.folder, "hone.json"), "--backend", ",".join(self.libraries)]
    for name, path in self.libraries.items():
      command += ["--engine", f"{name}={path}"]
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    with open(os.path.join(self.folder, "hone.json"), encoding="utf-8") as file:
      records = json.load(file)["records"]
    result = {}
    for record in records:
      if record["status"] != "ok":
        sys.exit(f"{model}: {record['backend']}: {record['status']}: {record['reason']}")
      result[record["backend"]] = (record["latency_ms"]["p50"] * 1e6, record["floor_ns"])
    os.unlink(os.path.join(self.folder, "hone.json"))
    return result

  def loop(self, model, threads, *sweep):
    text = run([sys.executable, "-c", ORT_LOOP, model, str(threads), str(self.args.seconds), *sweep],
               threads)
    return json.loads(text.splitlines()[-1])

  def app(self, model, threads):
    program = os.path.join(os.path.dirname(sys.executable), "benchmark_app")
    text = run([program, "-m", model, "-d", "CPU", "-hint", "none", "-nstreams", "1", "-nthreads",
                str(threads), "-infer_precision", "f32", "-api", "sync", "-t",
                str(max(1, round(self.args.seconds)))], threads)
    found = re.search(r"Median:\s+([0-9.]+) (\w+)", text)
    if not found:
      sys.exit(f"benchmark_app printed no median:\n{text[-1500:]}")
    return float(found[1]) * (1e6 if found[2] == "ms" else 1e3)

  def floors(self, threads):
    path = os.path.join(self.folder, "identity.onnx")
    with open(path, "wb") as file:
      file.write(IDENTITY)
    # a model that streams its weights leaves Python no caches: neither does the sweep
    return {"onnxruntime": statistics.median(self.loop(path, threads, "sweep") for _ in range(3)),
            "openvino": statistics.median(self.app(path, threads) for _ in range(2))}


def interval(ratios, seed=1):
  """Median of ratios and its 95 % bootstrap interval over the rounds."""
  draw = random.Random(seed)
  medians = sorted(statistics.median(draw.choices(ratios, k=len(ratios))) for _ in range(2000))
  return statistics.median(ratios), medians[50], medians[1949]


def measure(rig, model, path, threads):
  """One dict a round: (tool, engine) -> ns."""
  rounds = []
  draw = random.Random(f"{model}{threads}")
  for _ in range(rig.args.rounds):
    seen, tools = {}, ["a", "b", "loop", "app"]
    draw.shuffle(tools)
    for tool in tools:
      if tool == "loop":
        seen["other", "onnxruntime"] = rig.loop(path, threads)
      elif tool == "app":
        seen["other", "openvino"] = rig.app(path, threads)
      else:
        for engine, (p50, floor) in rig.hone(path, threads).items():
          seen[tool, engine] = p50
          if floor is not None:
            seen["floor", engine] = floor
    rounds.append(seen)
  return rounds


def judge(rounds, engine, other_floor):
  _, low, high = interval([r["b", engine] / r["a", engine] for r in rounds])
  quiet = {tool: min(r[tool, engine] for r in rounds) for tool in ["a", "b", "other"]}
  ratio, ratio_low, ratio_high = interval(
      [r["other", engine] / math.sqrt(r["a", engine] * r["b", engine]) for r in rounds])
  hone = statistics.median(math.sqrt(r["a", engine] * r["b", engine]) for r in rounds)
  floor = statistics.median(r["floor", engine] for r in rounds if ("floor", engine) in r)
  resolution = max(TOLERANCE, high - 1, 1 - low)
  extra = abs(ratio - 1) * hone
  verdict = ("undecided" if resolution > MOST else
             "agrees" if abs(ratio - 1) <= resolution else
             "floors" if extra <= abs(other_floor - floor) else
             "undecided" if ratio_low <= 1 <= ratio_high else "DIFFERS")
  return {"hone": hone, "ratio": ratio, "low": ratio_low, "high": ratio_high,
          "quiet": quiet["other"] / min(quiet["a"], quiet["b"]),
          "resolution": resolution, "floor": floor, "other_floor": other_floor,
          "verdict": verdict}


def main():
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  parser.add_argument("--hone", default="build/hone")
  parser.add_argument("--rounds", type=int, default=6)
  parser.add_argument("--seconds", type=float, default=0.6)
  parser.add_argument("--threads", default="1,2")
  parser.add_argument("--models", default=",".join(MODELS))
  args = parser.parse_args()
  differing = undecided = 0
  with tempfile.TemporaryDirectory() as folder:
    rig = Rig(args, folder)
    print(f"{datetime.date.today()}, load average {os.getloadavg()[0]:.1f}, "
          f"{args.rounds} rounds; medians in us; other: the ORT loop, or benchmark_app")
    print(f"{'model':24}{'thr':>4} {'engine':12}{'hone':>9}{'other':>9}{'ratio':>7}"
          f"{'interval':>14}{'within':>8}{'quiet':>9}{'floors':>13}  verdict")
    for model in args.models.split(","):
      path = os.path.join(folder, model.replace(":", "_") + ".onnx")
      subprocess.run([args.hone, "zoo", "write", model, "-o", path], check=True,
                     stdout=subprocess.DEVNULL)
      for threads in map(int, args.threads.split(",")):
        floors = rig.floors(threads)
        rounds = measure(rig, model, path, threads)
        for engine in rig.libraries:
          v = judge(rounds, engine, floors[engine])
          print(f"{model:24}{threads:4} {engine:12}{v['hone'] / 1e3:9.1f}"
                f"{v['hone'] * v['ratio'] / 1e3:9.1f}{v['ratio']:7.3f}"
                f"  {v['low']:5.3f}-{v['high']:5.3f}{100 * v['resolution']:6.1f} %"
                f"{v['quiet']:9.3f}{v['floor'] / 1e3:6.1f}/{v['other_floor'] / 1e3:5.1f}  {v['verdict']}", flush=True)
          differing += v["verdict"] == "DIFFERS"
          undecided += v["verdict"] == "undecided"
  return 1 if differing else 5 if undecided else 0


if __name__ == "__main__":
  sys.exit(main())
