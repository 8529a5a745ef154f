"""The worker's side of the harness protocol, for engines that are called from Python.

A worker reads commands on descriptor 3 and answers on 4, one JSON object a line (src/bench/wire/protocol.c
has the tables that every answer is checked against); stdout and stderr belong to the engine. An engine
is a class with

    open(request) -> Facts    load and compile; raise Unsupported where it cannot run this model
    bind(k, inputs)           make input set k (NumPy arrays in the order of Facts.inputs) the engine's own
    submit(k) -> handle       one inference of set k; its outputs can be read by the host on return
    fetch(handle) -> arrays   the outputs as NumPy arrays, in the order of Facts.outputs
    keep() -> names           optional: files in request.folder that the engine made of the model and that another process
                              can load; they may be written now
    survey()                  optional, after all measurements: corrects Facts.precision and fallback_share
    copy_in(k, inputs)        optional, for an engine with its own memory: copies inputs into set k; timed before each slice
    copied_out()              optional: ns that the last submit spent copying outputs to the host; None: unknown
    precisions                optional: supported precisions besides the file's own (default fp32)
    generate(prompt, count)   in place of bind, submit and fetch, for an engine that only generates text, with its own loop:
                              (the most likely tokens after the ids of the prompt, the time of each in ns of time.perf_counter_ns)
    score(tokens)             optional, next to generate: yields for each token but the last a float32 array of the logits (or log
                              probabilities) of the next one, or the log probability of the token that follows

bind may be called again for a set: with inputs of the same sizes or, if the engine's row in src/bench/backends has
`grows`, of other sizes (request.grows), as text generation needs it (generation.py).

and a file ends in `serve(Engine)`. A worker does not compare outputs: it writes the outputs of timed inferences as files,
and the harness compares them with the reference. The timed loop has only the call; garbage collection is off in it.
"""

import collections
import dataclasses
import gc
import json
import os
import random
import resource
import subprocess
import sys
import time

import generation

FD_IN, FD_OUT = 3, 4
SETS = 4
WINDOW_NS, WINDOW_ENOUGH_NS, WINDOW_SAMPLES = 10_000_000, 100_000_000, 3
MAX_SAMPLES = 1 << 20
SINGLE, MULTI, OFFLINE, SERVER, RATE = range(5)  # enum scenario_kind of src/bench/check/check.h
SPIN_NS = 60_000


class Unsupported(Exception):
    """The engine cannot run this model, type or option."""


class Missing(Exception):
    """A package of the engine is not installed."""


@dataclasses.dataclass
class Facts:
    version: str
    inputs: list  # names, in the engine's order
    outputs: list
    device: str = "cpu"
    precision: str = "fp32"
    threads: int = 1
    compile_ms: float = None
    import_ms: float = None
    fallback_share: float = None
    artifact_bytes: int = -1


@dataclasses.dataclass
class Request:
    model: str
    shapes: dict  # name -> list of dimensions
    precision: str
    threads: int
    options: dict
    folder: str  # private to this worker
    route: str = "onnx"
    hone: str = ""  # path of hone, for conversions
    inputs: tuple = ()  # names in the model's order in a file converted by hone
    outputs: tuple = ()
    grows: bool = False  # input sizes change between inferences: no shapes
    tokens: int = 0  # of a generation, with its prompt


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def peak_resident():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def involuntary():
    return resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw


def thread_times():
    times = {}
    for name in os.listdir("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{name}/schedstat") as file:
                times[name] = int(file.read().split()[0])
        except OSError:
            pass
    return times


def busy_threads(before):
    used = [ns - before.get(name, 0) for name, ns in thread_times().items()]
    most = max(used, default=0)
    return sum(ns > most / 10 for ns in used) if most else -1


def parse_shapes(text):
    """ "x[1,3],y[2]" as {"x": [1, 3], "y": [2]}; a name may hold anything but "],"."""
    shapes = {}
    for part in text.split("],") if text else []:
        name, _, dims = part.rstrip("]").rpartition("[")
        shapes[name] = [int(d) for d in dims.split(",") if d]
    return shapes


def parse_options(text):
    options = {}
    for part in text.split(";") if text else []:
        key, _, value = part.partition("=")
        if key and not key.startswith("env."):
            options[key] = value
    return options


def confine(threads, memory_bytes):
    """Sets the same limits as the C worker, before an engine is imported."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if memory_bytes > 0:
        most = memory_bytes + memory_bytes // 4 + (256 << 20)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    if threads > 0:
        allowed = sorted(os.sched_getaffinity(0))[:threads]
        os.sched_setaffinity(0, allowed)
    join_priority()


def join_priority():
    """If the kernel groups processes by session, nice values count within a session only (src/bench/wire/priority.c)."""
    nice = os.getpriority(os.PRIO_PROCESS, 0)
    for _ in range(40 if nice else 0):
        try:
            with open("/proc/self/autogroup", "w", encoding="ascii") as file:
                file.write(str(nice))
            return
        except BlockingIOError:  # the kernel accepts one write per 100 ms from unprivileged users
            time.sleep(0.05)
        except OSError:
            return


def fix_shapes(onnx, request):
    """Fixes dynamic dimensions to their sizes. A file without any is used unchanged."""
    model = onnx.load(request.model, load_external_data=False)
    is_open = False
    for value in model.graph.input:
        dims = request.shapes.get(value.name)
        for k, dim in enumerate(value.type.tensor_type.shape.dim):
            if not dim.HasField("dim_value") and dims:
                dim.dim_value = dims[k]
                is_open = True
    if not is_open:
        return request.model
    model = onnx.load(request.model)
    for value in model.graph.input:
        for k, dim in enumerate(value.type.tensor_type.shape.dim):
            if value.name in request.shapes:
                dim.dim_value = request.shapes[value.name][k]
    path = f"{request.folder}/fixed.onnx"
    onnx.save(model, path)
    return path


# Engines' names of number types.
KINDS = {"fp32": ("float", "float32", "fp32", "f32", "float_type"), "fp16": ("half", "float16", "_float16", "fp16", "f16", "half_type"),
         "bf16": ("bfloat16", "bf16", "bf16_type"), "int8": ("int8", "uint8", "int8_type", "uint8_type", "i8", "ui8", "s8", "u8"),
         "fp8": ("fp8", "float8")}


def precision_of(words, otherwise):
    """Precision from an engine's type names of its steps, or from the time by type name, such as "int8+fp32": the kinds with
    at least 5 %, the largest first."""
    found = collections.Counter()
    for word, weight in collections.Counter(words).items():
        for kind, names in KINDS.items():
            found[kind] += weight if word.lower() in names else 0
    found = +found
    often = [kind for kind, count in found.most_common() if count >= 0.05 * found.total()]
    return "+".join(often) or otherwise


def sleep_until(when_ns):
    left = when_ns - time.perf_counter_ns() - SPIN_NS
    if left > 0:
        time.sleep(left / 1e9)
    while time.perf_counter_ns() < when_ns:
        pass


def dims_of(value, request):
    """Its dimensions as run; [] if one is unknown."""
    if value.name in request.shapes:
        return request.shapes[value.name]
    dims = value.type.tensor_type.shape.dim
    return [d.dim_value for d in dims] if all(d.HasField("dim_value") for d in dims) else []


def io_of(model, request):
    """Names of the inputs that are not constants, and shapes of the outputs ([]: unknown)."""
    constants = {value.name for value in model.graph.initializer}
    return ([v.name for v in model.graph.input if v.name not in constants],
            [dims_of(v, request) for v in model.graph.output])


def last_error(text):
    """The line with the reason in a compiler's long report."""
    lines = [line for line in text.splitlines() if "error:" in line]
    return (lines or text.splitlines()[-1:] or ["no reason given"])[0][:600]


def run_tool(words):
    """Runs a converter of the engine. If it fails, the model is unsupported, with the converter's message."""
    result = subprocess.run(words, capture_output=True, text=True)
    if result.returncode:
        raise Unsupported(last_error(result.stderr))


def exported_by_hone(request, ending):
    """The model converted by hone: routes FORM-hone."""
    path = f"{request.folder}/hone{ending}"
    shapes = ",".join(f"{name}[{','.join(map(str, dims))}]" for name, dims in request.shapes.items())
    result = subprocess.run([request.hone, "export", request.model, "-o", path] +
                            (["--shape", shapes] if shapes else []), capture_output=True, text=True)
    if result.returncode:
        lines = [line for line in result.stderr.strip().splitlines() if not line.startswith("hone: warning")]
        raise Unsupported((lines or ["hone export failed"])[0][:400])
    return path


def stablehlo_of(request):
    """The file, and the names of its function's inputs and outputs."""
    return exported_by_hone(request, ".mlir"), list(request.inputs), list(request.outputs)


class Worker:
    def __init__(self, make_engine):
        self.make_engine, self.engine, self.facts = make_engine, None, None
        self.cell, self.stage, self.folder = "", "load", os.getcwd()
        self.turn, self.iterations, self.median = 0, 0, 0
        self.random, self.generator = random.Random(), None

    # -- answers ------------------------------------------------------------------------------------

    def say(self, **message):
        message["cell"] = self.cell
        line = json.dumps({k: v for k, v in message.items() if v is not None}) + "\n"
        data = line.encode()
        while data:
            data = data[os.write(FD_OUT, data):]

    def enter(self, stage):
        self.stage = stage
        self.say(event="stage", stage=stage)

    def fail(self, error):
        status = ("unsupported" if isinstance(error, (Unsupported, NotImplementedError)) else
                  "not_installed" if isinstance(error, (Missing, ImportError)) else
                  "out_of_memory" if isinstance(error, MemoryError) else "error")
        words = " ".join(str(error).split()) or type(error).__name__
        self.say(event="failed", stage=self.stage, status=status,
                 reason=f"{type(error).__name__}: {words}"[:3000])

    # -- commands -----------------------------------------------------------------------------------

    def open(self, command):
        import numpy as np
        self.np = np
        self.enter("load")
        request = Request(command["model"], parse_shapes(command.get("shapes", "")),
                          command["precision"], command["threads"],
                          parse_options(command.get("options", "")), self.folder,
                          command.get("route", "onnx"), command.get("hone", ""),
                          command.get("inputs", ()), command.get("outputs", ()))
        if request.precision not in (*getattr(self.make_engine, "precisions", ("fp32",)), "as-is"):
            raise Unsupported(f"this engine does not support precision {request.precision}")
        self.random.seed(command["seed"] ^ os.getpid())
        self.scenario, self.rate = command.get("scenario", SINGLE), command.get("rate", 0)
        if self.scenario == MULTI and command["streams"] > 1:
            raise Unsupported(f"takes 1 request at a time, not {command['streams']}")
        plan = None
        if "generation" in command:
            plan = generation.Plan(command["generation"])
            request.shapes, request.grows = plan.shapes(request.inputs), not plan.holds
            request.tokens = command["prompt"] + command["count"]
        elif hasattr(self.make_engine, "generate"):
            raise Unsupported("this engine only generates text: --scenario generate")
        self.folder_of_inputs = command["dir"]
        self.engine = self.make_engine()
        self.engine.enter = self.enter
        if request.route == "onnx-hone":
            request.model = exported_by_hone(request, ".onnx")
        start = time.perf_counter_ns()
        self.facts = self.engine.open(request)
        load_ms = (time.perf_counter_ns() - start) / 1e6 - (self.facts.compile_ms or 0)
        rss_load = resident()
        self.enter("run")
        self.places(command)
        first_ms, checks = self.first_texts(command, plan) if plan else self.first_values(command)
        self.enter("verify")
        facts = self.facts
        self.say(event="opened", version=facts.version[:63], device=facts.device[:63],
                 precision=facts.precision[:31], threads=facts.threads,
                 fallback_share=facts.fallback_share, artifact_bytes=facts.artifact_bytes,
                 arena_bytes=-1, from_cache=False, flags=0, import_ms=facts.import_ms,
                 compile_ms=facts.compile_ms, load_ms=max(0.0, load_ms), first_ms=first_ms,
                 rss_import=-1, rss_compile=-1, rss_load=rss_load, output_hash="0" * 32,
                 checks=checks)
        self.stage = "run"

    def first_values(self, command):
        sets = command.get("sets", SETS)  # fewer if nothing will be timed
        for k in range(sets):
            self.engine.bind(k, self.inputs_of(k))
        checks, first_ms = [], None
        for k in range(sets):
            start = time.perf_counter_ns()
            handle = self.engine.submit(k)
            first_ms = first_ms or (time.perf_counter_ns() - start) / 1e6
            checks.append(self.keep(f"first_{k}", k, handle))
        return first_ms, checks

    def first_texts(self, command, plan):
        self.generator = (generation.WholeGenerator(self.np, self.engine, command) if hasattr(self.engine, "generate") else
                          generation.Generator(self.np, self.engine, plan, command, self.input_places, self.output_places))
        first_ms, texts = None, []
        for k in range(SETS):
            tokens, asked, times = self.generator.generate(k)
            first_ms = first_ms or (times[0][1] - asked) / 1e6
            texts.append((k, tokens))
        return first_ms, self.keep_texts("first", texts)

    def keep_texts(self, name, texts):
        """Writes the tokens of all generations of each set to one file."""
        checks = []
        for k in sorted({k for k, _ in texts}):
            self.np.save(f"{self.folder}/{name}_{k}_tokens.npy",
                         self.np.array([tokens for of, tokens in texts if of == k], self.np.int64))
            checks.append({"set": k, "name": f"{name}_{k}"})
        return checks

    def places(self, command):
        """Index of the engine's tensors in the model's lists: by name, else by position."""
        def place(names, listed):
            if len(names) != len(listed):
                raise Unsupported(f"the engine has {len(names)} tensors where the model has {len(listed)}")
            return [listed.index(n) if n in listed else i for i, n in enumerate(names)]
        self.input_places = place(self.facts.inputs, command.get("inputs", self.facts.inputs))
        self.output_places = place(self.facts.outputs, command.get("outputs", self.facts.outputs))

    def inputs_of(self, k):
        names = [f"{self.folder_of_inputs}/in_{k}_{i}.npy" for i in self.input_places]
        if not all(map(os.path.exists, names)):
            raise Unsupported("hone does not know this model's inputs, so it cannot make them for a Python engine")
        return [self.np.load(name) for name in names]

    def copy_in(self):
        """Time to copy each set into the engine's memory; empty if nothing is copied."""
        copy, clock, times = getattr(self.engine, "copy_in", None), time.perf_counter_ns, []
        for k in range(SETS if copy else 0):
            inputs = self.inputs_of(k)
            start = clock()
            copy(k, inputs)
            times.append(clock() - start)
        return times

    def keep(self, name, k, handle):
        for i, array in enumerate(self.engine.fetch(handle)):
            array = self.np.ascontiguousarray(array).reshape(self.np.shape(array))
            self.np.save(f"{self.folder}/{name}_{self.output_places[i]}.npy", array)
        return {"set": k, "name": name}

    def once(self):
        k = self.turn
        self.turn = (k + 1) % SETS
        self.iterations += 1
        clock, submit = time.perf_counter_ns, self.engine.submit
        start = clock()
        handle = submit(k)
        return clock() - start, k, handle

    def window(self):
        samples, start = [], time.perf_counter_ns()
        elapsed = 0
        while elapsed < WINDOW_ENOUGH_NS and (len(samples) < WINDOW_SAMPLES or elapsed < WINDOW_NS):
            samples.append(self.once()[0])
            elapsed = time.perf_counter_ns() - start
        return sorted(samples)[len(samples) // 2]

    def window_of_text(self):
        _, asked, times = self.next_text()
        return (times[-1][1] - asked) // len(times)

    def next_text(self):
        k = self.turn
        self.turn = (k + 1) % SETS
        tokens, asked, times = self.generator.generate(k)
        self.iterations += len(times)
        return (k, tokens), asked, times

    def warmup(self, command):
        window = self.window_of_text if self.generator else self.window
        start, medians, steady = time.perf_counter_ns(), [], False
        while not steady and len(medians) < 256 and (
                len(medians) < 3 or time.perf_counter_ns() - start < command["max_ns"]):
            medians.append(window())
            last = medians[-3:]
            steady = len(last) == 3 and max(last) - min(last) <= 0.05 * sorted(last)[1]
        self.median = medians[-1]
        self.say(event="warm", ms=(time.perf_counter_ns() - start) / 1e6,
                 median_ns=max(1, self.median), is_stationary=steady, rss=resident())

    def slice_of_text(self, command):
        """Runs whole generations. For each token: when its generation was requested, when its step began, its duration."""
        threads, switches = thread_times(), involuntary()
        least, most, count = command.get("min_ns", 0), command.get("max_ns", 1 << 62), command.get("min_samples", 1)
        texts, samples, scheduled, started, elapsed = [], [], [], [], 0
        gc.collect()
        gc.disable()
        start = time.perf_counter_ns()
        while not samples or (len(samples) < MAX_SAMPLES and elapsed < most and (len(samples) < count or elapsed < least)):
            text, asked, times = self.next_text()
            texts.append(text)
            for begin, end in times:
                scheduled.append(asked - start)
                started.append(begin - start)
                samples.append(end - begin)
            elapsed = time.perf_counter_ns() - start
        gc.enable()
        self.say_block(command["round"], threads, switches, self.keep_texts(f"check_{command['round']}", texts),
                       block=samples, rewarm=[], scheduled=scheduled, started=started)

    def slice(self, command):
        if self.generator:
            self.slice_of_text(command)
            return
        threads, switches = thread_times(), involuntary()
        least, most = command.get("min_ns", 0), command.get("max_ns", 1 << 62)
        count = command.get("min_samples", 1)
        self.rate = command.get("rate", self.rate)  # in a search for the highest rate
        expected = max(count, int(least / max(1, self.median) * 0.5))
        wanted = {self.random.randrange(expected) for _ in range(command.get("checks", 0))}
        rewarm, samples, kept, copy_out = [], [], [], []
        copied_out = getattr(self.engine, "copied_out", lambda: None)
        copy_in = self.copy_in()
        gc.collect()
        gc.disable()
        start = time.perf_counter_ns()
        while len(rewarm) < 2 or (time.perf_counter_ns() - start < command.get("rewarm_ns", 0)
                                  and len(rewarm) < MAX_SAMPLES):
            rewarm.append(self.once()[0])
        start, elapsed, due = time.perf_counter_ns(), 0, 0
        scheduled, started = [], []
        while len(samples) < MAX_SAMPLES and (not samples or elapsed < most) and (
                len(samples) < count or elapsed < least):
            if self.scenario in (SERVER, RATE):
                due += int(self.distance_ns())
                sleep_until(start + due)
            begin = time.perf_counter_ns() - start
            ns, k, handle = self.once()
            if self.scenario != SINGLE:
                scheduled.append(due if self.scenario in (SERVER, RATE) else begin)
                started.append(begin)
                ns = time.perf_counter_ns() - start - scheduled[-1]
            copied = copied_out()
            if copied is not None:
                copy_out.append(copied)
            if len(samples) in wanted:
                kept.append((k, [self.np.array(a) for a in self.engine.fetch(handle)]))
            samples.append(ns)
            elapsed = time.perf_counter_ns() - start
        gc.enable()
        round_number = command["round"]
        if len(samples) - 1 not in wanted:  # else fetched already, which may have overwritten the engine's memory
            kept.append((k, [self.np.array(a) for a in self.engine.fetch(handle)]))
        checks = []
        for n, (k, arrays) in enumerate(kept):
            name = f"check_{round_number}_{n}"
            for i, array in enumerate(arrays):
                self.np.save(f"{self.folder}/{name}_{self.output_places[i]}.npy", array)
            checks.append({"set": k, "name": name})
        columns = {name: times for name, times in (("scheduled", scheduled), ("started", started), ("copy_in", copy_in),
                                                   ("copy_out", copy_out)) if times}
        self.say_block(round_number, threads, switches, checks, block=samples, rewarm=rewarm, **columns)

    def say_block(self, round_number, threads, switches, checks, **columns):
        switches = involuntary() - switches
        for name, times in columns.items():
            self.np.save(f"{self.folder}/{name}_{round_number}.npy", self.np.array(times, dtype=self.np.uint64))
        self.say(event="block", round=round_number, samples=len(columns["block"]), rewarm=len(columns["rewarm"]),
                 verified=0, is_within=True, involuntary=switches, busy_threads=busy_threads(threads),
                 iterations=self.iterations, rss=resident(), rss_peak=peak_resident(), checks=checks,
                 copy_in=len(columns.get("copy_in", ())), copy_out=len(columns.get("copy_out", ())))

    def distance_ns(self):
        """Time to the next arrival: intervals of a Poisson process are exponential."""
        return 1e9 / self.rate if self.scenario == RATE else self.random.expovariate(self.rate) * 1e9

    def label(self, command):
        done, where = 0, ""
        try:
            if self.generator:
                raise Unsupported("labels are not supported in this scenario")
            for sample in command["samples"]:
                folder = f"{command['folder']}/{sample}"
                arrays = []
                for name, place in zip(self.facts.inputs, self.input_places):
                    named = f"{folder}/{name.replace('/', '_')}.npy"
                    arrays.append(self.np.load(named if os.path.exists(named) else f"{folder}/in_{place}.npy"))
                self.engine.bind(0, arrays)
                self.keep(f"task_{done}", 0, self.engine.submit(0))
                done += 1
        except Exception as error:  # the configuration is measured: only its accuracy is lost
            where = f"{type(error).__name__}: {' '.join(str(error).split())}"[:1000]
        self.say(event="labelled", samples=done, where=where)

    def quality(self, command):
        """Writes what the engine predicts for each token of the text; the harness compares it with the reference."""
        np, rows, where = self.np, 0, ""
        try:
            tokens = np.load(f"{command['dir']}/quality_tokens.npy").tolist()
            with open(f"{self.folder}/quality.f32", "wb") as file:
                for row in getattr(self.engine, "score", lambda tokens: ())(tokens):
                    np.asarray(row, np.float32).tofile(file)
                    rows += 1
        except Exception as error:  # the configuration is measured: only its quality is lost
            rows, where = 0, f"{type(error).__name__}: {' '.join(str(error).split())}"[:1000]
        self.say(event="predicted", rows=rows, where=where)

    def survey(self, command):
        getattr(self.engine, "survey", lambda: None)()
        self.say(event="surveyed", precision=self.facts.precision[:31],
                 fallback_share=self.facts.fallback_share)

    def leave(self, command):
        """The files that the engine made of the model; a failure here loses no measurement."""
        names, why = [], ""
        try:
            keep = getattr(self.engine, "keep", None)
            if keep:
                names = keep()
            else:
                why = "this engine compiles in memory and writes no file"
        except Exception as error:
            why = f"{type(error).__name__}: {' '.join(str(error).split())}"[:1000]
        written = [f"hone{ending}" for ending in (".onnx", ".mlir", ".tflite")
                   if os.path.exists(f"{self.folder}/hone{ending}")]
        self.say(event="kept", files=written + list(names), why=why)

    def close(self, command):
        self.say(event="closed")

    def run(self):
        acts = {"open": self.open, "warmup": self.warmup, "slice": self.slice, "label": self.label,
                "quality": self.quality, "survey": self.survey, "keep": self.leave, "close": self.close}
        with os.fdopen(FD_IN) as commands:
            for line in commands:
                command = json.loads(line)
                self.cell = command["cell"]
                try:
                    if command["do"] not in acts:
                        raise Unsupported(f"this worker does not know {command['do']}")
                    acts[command["do"]](command)
                except Exception as error:  # every failure of an engine is a row
                    self.fail(error)
                    return
                if command["do"] == "close":
                    return


def serve(make_engine):
    os.set_inheritable(FD_IN, False)
    os.set_inheritable(FD_OUT, False)
    confine(int(sys.argv[1]), int(sys.argv[2]))
    Worker(make_engine).run()
    sys.stdout.flush()
    os._exit(0)  # threads of an engine may still be ending
