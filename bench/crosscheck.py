#!/usr/bin/env python3
"""Cross-check: do the engines' own tools see the medians that `hone bench` prints?

    crosscheck.py --hone build/hone [--env NAME=DIR ...] [--tools a,b] [--models ...] [--rounds N] [--seconds S]

Every model runs by hone and by the engine's own tool in turn (AB BA AB ...), each turn a process of its own on the same
CPUs at the same priority; what disturbs the machine disturbs both turns of a round, so only ratios within a round are
used. The engine is the same installation for both: DIR of --env, else this Python's, else what `hone backends install`
made. A tool that is absent is skipped and says so.

The band of a cell is 1 +- (5 % + (difference of the two floors + what the tool rounds to) / hone's median): a floor is an
identity model of four floats by the same path, and so what the caller costs. The interval of the ratio (median over
the rounds, 95 % bootstrap) lies inside the band: agrees; wholly outside, in six rounds at least: DIFFERS, and the exit
code is 1; else undecided, exit code 5. Where the callers alone make the band wider than 25 % it says nothing: "floors".
"""
import argparse
import dataclasses
import datetime
import glob
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile

MODELS = ["zoo:mlp", "zoo:conv", "zoo:mobilenet_v3_small"]
TOLERANCE = 0.05
MOST = 0.25  # a band wider than this says nothing
FEWEST = 6  # rounds that an interval of 95 % takes: five are all on one side of the median once in sixteen
ALARM = 600  # s, of one child
RUNS = (20, 200000)  # of a tool that is told a number of inferences

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
print(json.dumps({"median_ns": samples[len(samples) // 2]}))
"""

TORCH_TIMER = r"""
import json, sys
import onnx, onnx2torch, torch
from torch.utils import benchmark
path, threads, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
torch.set_num_threads(threads)
torch.set_num_interop_threads(1)
model = onnx.load(path)
module = onnx2torch.convert(model).eval()
constants = {value.name for value in model.graph.initializer}
inputs = []
for value in model.graph.input:
  if value.name in constants: continue
  shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
  is_float = value.type.tensor_type.elem_type == onnx.TensorProto.FLOAT
  inputs.append(torch.randn(shape) if is_float else torch.ones(shape, dtype=torch.int64))
with torch.inference_mode():
  timer = benchmark.Timer("module(*inputs)", globals={"module": module, "inputs": inputs}, num_threads=threads)
  timer.blocked_autorange(min_run_time=0.3)
  measured = timer.blocked_autorange(min_run_time=seconds)
print(json.dumps({"median_ns": measured.median * 1e9}))
"""


# -- what the tools print ------------------------------------------------------------------------------


def read_json(text):
  """Of the two programs above: nothing but their last line counts."""
  return float(json.loads(text.strip().splitlines()[-1])["median_ns"])


def read_benchmark_app(text):
  found = re.search(r"Median:\s+([0-9.]+) (ms|us)", text)
  if not found:
    raise ValueError("benchmark_app printed no median")
  return float(found[1]) * {"ms": 1e6, "us": 1e3}[found[2]]


def read_google_benchmark(text):
  """JSON of Google's benchmark library: the median over its repetitions, of wall-clock time."""
  rows = [row for row in json.loads(text[text.index("{"):])["benchmarks"] if row.get("run_type") == "iteration"]
  if not rows or any(row.get("error_occurred") for row in rows):
    raise ValueError("no repetition ended well: " + str([row.get("error_message") for row in rows])[:200])
  scale = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
  return statistics.median(row["real_time"] * scale[row["time_unit"]] for row in rows)


def read_litert(text):
  found = re.search(r"Inference \(median\):\s+([0-9.]+) ms", text)
  if not found:
    raise ValueError("litert-benchmark printed no median")
  return float(found[1]) * 1e6


def entry_of(path):
  """Name and inputs of an imported module's function, the latter in the words of IREE's tools."""
  with open(path, encoding="utf-8", errors="replace") as file:
    for line in file:
      found = re.search(r"func\.func @([\w$.\-]+)\((.*?)\) *->", line)
      if found:
        shapes = re.findall(r"%\w+: *!torch\.vtensor<\[([0-9,]*)\],(\w+)>", found[2])
        return found[1], ["".join(f"{d}x" for d in dims.split(",") if d) + {"f32": "f32=0.5", "si64": "i64=1"}[kind]
                          for dims, kind in shapes]
  raise ValueError(f"{path} has no function")


# -- the tools, a row each -----------------------------------------------------------------------------


@dataclasses.dataclass
class Place:
  """Where an engine is: its folder (as --engine takes it), the Python that can import it."""
  folder: str
  python: str
  path: str  # PYTHONPATH of that Python, or ""

  def program(self, name):
    return os.path.join(self.folder, "bin", name)


def by_loop(rig, place, path, seconds, _, *more):
  return rig.child([place.python, "-c", ORT_LOOP, path, str(rig.threads), str(seconds), *more], place)


def by_benchmark_app(rig, place, path, seconds, _):
  return rig.child([place.python, place.program("benchmark_app"), "-m", path, "-d", "CPU", "-hint", "none", "-nstreams",
                    "1", "-nthreads", str(rig.threads), "-infer_precision", "f32", "-api", "sync", "-t",
                    str(max(1, round(seconds)))], place)


def by_iree(rig, place, path, seconds, _):
  module = path + ".vmfb"
  if not os.path.exists(module):
    rig.child([place.python, "-m", "iree.compiler.tools.import_onnx", path, "-o", path + ".mlir"], place)
    rig.child([place.program("iree-compile"), path + ".mlir", "--iree-input-type=onnx", "--iree-hal-target-backends=llvm-cpu",
               "--iree-llvmcpu-target-cpu=host", "--iree-opt-data-tiling", "-o", module], place)
  name, inputs = entry_of(path + ".mlir")
  return rig.child([place.program("iree-benchmark-module"), f"--module={module}", "--device=local-sync",
                    f"--function={name}", *(f"--input={x}" for x in inputs), "--benchmark_format=json",
                    "--benchmark_repetitions=5", f"--benchmark_min_time={seconds / 5:.3f}s"], place, errors=False)


def by_timer(rig, place, path, seconds, _):
  return rig.child([place.python, "-c", TORCH_TIMER, path, str(rig.threads), str(seconds)], place)


def by_litert(rig, place, path, seconds, guess_ns):
  runs = min(max(round(seconds * 1e9 / max(guess_ns, 1)), RUNS[0]), RUNS[1])
  return rig.child([place.python, place.program("litert-benchmark"), "--model", path, "--num_threads", str(rig.threads),
                    "--num_runs", str(runs), "--warmup_runs", str(max(runs // 2, 5))], place)


@dataclasses.dataclass
class Tool:
  backend: str  # as --backend takes it
  title: str
  modules: tuple  # that its Python must import, the engine's own last
  programs: tuple  # of the environment's bin/
  run: callable
  read: callable
  why: str  # why correct figures may differ
  form: str = ".onnx"
  rounds_to_ns: float = 0
  floor_words: tuple = ()

  @property
  def engine(self):
    return self.backend.partition(":")[0]


TOOLS = [
    Tool("onnxruntime", "Python loop over InferenceSession", ("numpy", "onnxruntime"), (), by_loop, read_json,
         "the interpreter's call is in the loop's clock and not in hone's; its data leaves the caches where a model streams "
         "its weights",
         # a model that streams its weights leaves Python no caches: neither does the sweep
         floor_words=("sweep",)),
    Tool("openvino", "benchmark_app", ("numpy", "openvino"), ("benchmark_app",), by_benchmark_app, read_benchmark_app,
         "hone has a request for each of four sets of inputs, benchmark_app one; it takes the time that the request reports"),
    Tool("iree:local-sync", "iree-benchmark-module", ("numpy", "onnx", "iree"), ("iree-compile", "iree-benchmark-module"),
         by_iree, read_google_benchmark,
         "the tool is C and the engine's worker Python, whose call is in hone's clock; the tool's figures are means of "
         "repetitions, hone's are medians of inferences, and the tool has one set of inputs"),
    Tool("torch:eager", "torch.utils.benchmark.Timer", ("onnx", "onnx2torch", "torch"), (), by_timer, read_json,
         "the timer's figures are means of blocks, hone's are medians of inferences, each with two readings of the clock; "
         "the timer has one set of inputs; what glibc gives back and takes again for outputs of megabytes differs by heap"),
    Tool("litert", "litert-benchmark", ("numpy", "ai_edge_litert"), ("litert-benchmark",), by_litert, read_litert,
         "the tool calls by name from Python, prints hundredths of a millisecond, and leaves outputs in the engine's own "
         "buffers", form=".tflite", rounds_to_ns=5000),
]


def lacking(python, path, modules):
  """Those that this interpreter would not find."""
  probe = "import importlib.util, sys; print(*[m for m in sys.argv[1:] if not importlib.util.find_spec(m)])"
  env = dict(os.environ, **({"PYTHONPATH": path} if path else {}))
  try:
    done = subprocess.run([python, "-c", probe, *modules], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          env=env, check=False, timeout=ALARM)
  except OSError:
    return list(modules)
  return done.stdout.split() if done.returncode == 0 else list(modules)


def find(tool, given, data):
  """(place, "") or (None, why it is skipped)."""
  folders = [given] if given else [sys.prefix, os.path.join(data, "hone/engines", tool.engine)]
  reason = ""
  for folder in folders:
    python, path = os.path.join(folder, "bin/python"), ""
    lacks = lacking(python, path, tool.modules)
    if lacks and tool.modules[-1] not in lacks:  # an engine alone: what else it imports is this Python's
      python = sys.executable
      path = next(iter(glob.glob(os.path.join(glob.escape(folder), "lib/python3*/site-packages"))), "")
      lacks = lacking(python, path, tool.modules)
    lacks += [name for name in tool.programs if not os.path.exists(os.path.join(folder, "bin", name))]
    if not lacks:
      return Place(folder, python, path), ""
    reason = reason or f"{folder} holds no {', '.join(lacks)}"
  return None, reason


# -- measuring -----------------------------------------------------------------------------------------


class Failed(Exception):
  """A child that did not give a figure."""


class Absent(Exception):
  """An engine that hone has no row of, with its own reason."""


def as_hone_does(threads):
  """The CPUs and the priority that hone gives a worker (src/bench/wire/priority.c), as far as that is allowed."""
  os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
  os.setsid()
  try:
    os.setpriority(os.PRIO_PROCESS, 0, -20)
    with open("/proc/self/autogroup", "w", encoding="ascii") as file:
      file.write("-20")
  except OSError:
    pass


class Rig:
  def __init__(self, hone, folder, seconds, threads):
    self.hone, self.folder, self.seconds, self.threads = hone, folder, seconds, threads

  def child(self, words, place, errors=True):
    """What it printed, with its errors or without."""
    env = dict(os.environ, **({"PYTHONPATH": place.path} if place.path else {}))
    try:
      done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT if errors else subprocess.PIPE,
                            text=True, env=env, check=False, timeout=ALARM, cwd=self.folder,
                            preexec_fn=lambda: as_hone_does(self.threads))
    except (OSError, subprocess.TimeoutExpired) as error:
      raise Failed(str(error)[:300]) from error
    if done.returncode:
      tail = ((done.stderr or "") + done.stdout).strip().splitlines()[-1:] or ["no word"]
      raise Failed(f"{os.path.basename(words[0])}: exit code {done.returncode}: {tail[0][:300]}")
    return done.stdout

  def by_hone(self, tool, place, path):
    """(median, floor or None) in ns."""
    out = os.path.join(self.folder, "hone.json")
    command = [self.hone, "bench", path, "--threads", str(self.threads), "--min-time", str(self.seconds), "--rounds", "3",
               "--processes", "1", "--no-measure", "--warmup", "0.3", "--resume", "never", "-q", "--store",
               os.path.join(self.folder, "store.db"), "--json", out, "--backend", tool.backend, "--engine",
               f"{tool.engine}={place.folder}"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    try:
      with open(out, encoding="utf-8") as file:
        record = json.load(file)["records"][0]
      os.unlink(out)
    except (OSError, ValueError, LookupError) as error:
      raise Failed(f"hone: exit code {done.returncode}: {done.stdout.strip()[-300:]}") from error
    if record["status"] in ("unsupported", "not_installed"):
      raise Absent(f"{record['status']}: {record['reason'][:200]}")
    if record["status"] != "ok":
      raise Failed(f"hone: {record['status']}: {record['reason'][:300]}")
    return record["latency_ms"]["p50"] * 1e6, record.get("floor_ns")

  def by_tool(self, tool, place, path, guess_ns, *more):
    text = ""
    try:
      text = tool.run(self, place, path, self.seconds, guess_ns, *more)
      return tool.read(text)
    except (ValueError, LookupError) as error:
      raise Failed(f"{tool.title}: {error}: {text.strip()[-300:]}") from error

  def file(self, tool, name, source):
    """The model in the form that the tool reads: hone's graph is written once for both."""
    path = os.path.join(self.folder, re.sub(r"\W", "_", name) + tool.form)
    if not os.path.exists(path):
      verb = ["zoo", "write"] if source.startswith("zoo:") and tool.form == ".onnx" else ["export"]
      done = subprocess.run([self.hone, *verb, source, "-o", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, check=False)
      if done.returncode:
        raise Failed(f"hone {verb[0]}: {done.stdout.strip()[-300:]}")
    return path

  def floor(self, tool, place):
    """What the tool sees of the identity model; None where that has no such form."""
    identity = os.path.join(self.folder, "identity.onnx")
    with open(identity, "wb") as file:
      file.write(IDENTITY)
    try:
      path = self.file(tool, "identity", identity)
      return statistics.median(self.by_tool(tool, place, path, 2000, *tool.floor_words) for _ in range(2))
    except Failed:
      return None


# -- judging -------------------------------------------------------------------------------------------


def interval(ratios, seed=1):
  """Median of ratios and its 95 % bootstrap interval over the rounds."""
  draw = random.Random(seed)
  medians = sorted(statistics.median(draw.choices(ratios, k=len(ratios))) for _ in range(2000))
  return statistics.median(ratios), medians[50], medians[1949]


def judge(pairs, floor, other_floor, rounds_to_ns=0):
  """Of (hone's, the tool's) medians in ns, a pair a round: ratio, its interval, the band's half width, the verdict."""
  hone = statistics.median(ours for ours, _ in pairs)
  ratio, low, high = interval([theirs / ours for ours, theirs in pairs])
  callers = abs(other_floor - floor) if floor is not None and other_floor is not None else 0
  width = TOLERANCE + (callers + rounds_to_ns) / hone
  verdict = ("DIFFERS" if len(pairs) >= FEWEST and (high < 1 - width or low > 1 + width) else
             "floors" if width > MOST else
             "agrees" if low >= 1 - width and high <= 1 + width else "undecided")
  return {"hone": hone, "other": statistics.median(theirs for _, theirs in pairs), "ratio": ratio, "low": low,
          "high": high, "width": width, "floor": floor, "other_floor": other_floor, "verdict": verdict}


def measure(rig, tool, place, path, rounds):
  """((hone, tool) of each round, hone's floor)."""
  pairs, floors, guess = [], [], 0
  for turn in range(rounds):
    theirs = None
    if turn % 2:
      theirs = rig.by_tool(tool, place, path, guess)
    ours, floor = rig.by_hone(tool, place, path)
    guess = ours
    if theirs is None:
      theirs = rig.by_tool(tool, place, path, guess)
    pairs.append((ours, theirs))
    floors += [floor] if floor else []
  return pairs, statistics.median(floors) if floors else None


def machine():
  def words(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return done.stdout.strip()
  with open("/proc/cpuinfo", encoding="utf-8") as file:
    model = re.search(r"model name\s*: (.*)", file.read())
  return (f"{datetime.date.today()}, commit {words(['git', 'rev-parse', '--short', 'HEAD']) or 'unknown'}, "
          f"{len(os.sched_getaffinity(0))} cores of {model[1] if model else 'an unknown processor'}, "
          f"load average {os.getloadavg()[0]:.1f}")


def us(ns):
  return "n/a" if ns is None else f"{ns / 1e3:.1f}"


def check(rig, tool, place, model, rounds, floor):
  """The row of one cell; returns its verdict."""
  try:
    pairs, own = measure(rig, tool, place, rig.file(tool, model, model), rounds)
  except (Failed, Absent) as error:
    verdict = "skipped" if isinstance(error, Absent) else "FAILED"
    print(f"| {model} | {tool.title} | | | | | | {verdict}: {error} |", flush=True)
    return verdict
  v = judge(pairs, own, floor, tool.rounds_to_ns)
  print(f"| {model} | {tool.title} | {us(v['hone'])} | {us(v['other'])} | {v['ratio']:.3f} ({v['low']:.3f} to "
        f"{v['high']:.3f}) | {1 - v['width']:.3f} to {1 + v['width']:.3f} | {us(v['floor'])} / {us(v['other_floor'])} | "
        f"{v['verdict']} |", flush=True)
  return v["verdict"]


def pick(words):
  """The named tools, by backend or engine."""
  unknown = [w for w in words if w not in [t.backend for t in TOOLS] + [t.engine for t in TOOLS]]
  if unknown:
    sys.exit(f"--tools: no {', '.join(unknown)}; there are {', '.join(t.backend for t in TOOLS)}")
  return [t for t in TOOLS if not words or t.backend in words or t.engine in words]


def main():
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  parser.add_argument("--hone", default="build/hone")
  parser.add_argument("--rounds", type=int, default=6, help="pairs of turns a cell")
  parser.add_argument("--seconds", type=float, default=0.6, help="timed run of a turn")
  parser.add_argument("--threads", type=int, default=1)
  parser.add_argument("--models", default=",".join(MODELS))
  parser.add_argument("--tools", default="", help=", ".join(t.backend for t in TOOLS) + "; default: all")
  parser.add_argument("--env", action="append", default=[], metavar="NAME=DIR", help="an engine's environment")
  args = parser.parse_args()
  given = dict(word.split("=", 1) for word in args.env if "=" in word)
  data = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
  tools = pick([w for w in args.tools.split(",") if w])
  if not os.access(args.hone, os.X_OK):
    sys.exit(f"{args.hone} is not a program: build it with make, or give --hone PROGRAM")
  verdicts = []
  with tempfile.TemporaryDirectory() as folder:
    rig = Rig(os.path.abspath(args.hone), folder, args.seconds, args.threads)
    print(f"{machine()}; {args.threads} thread{'s' if args.threads > 1 else ''}, {args.rounds} rounds, "
          f"{args.seconds} s a turn; medians and floors in us\n")
    print("| model | the engine's own tool | hone | tool | ratio, 95 % interval | band | floors: hone / tool | verdict |")
    print("|---|---|--:|--:|---|---|---|---|", flush=True)
    notes = []
    for tool in tools:
      place, reason = find(tool, given.get(tool.engine), data)
      if not place:
        notes.append(f"skipped: {tool.title}: {reason}")
        continue
      floor = rig.floor(tool, place)
      mine = [check(rig, tool, place, model, args.rounds, floor) for model in args.models.split(",")]
      verdicts += mine
      if set(mine) & {"DIFFERS", "undecided", "floors"}:
        notes.append(f"{tool.title} may differ: {tool.why}")
  print("\n" + "\n".join(notes) if notes else "")
  if not verdicts:
    print("nothing was compared: no engine's own tool is here")
  return 1 if {"DIFFERS", "FAILED"} & set(verdicts) else 5 if "undecided" in verdicts else 0


if __name__ == "__main__":
  sys.exit(main())
