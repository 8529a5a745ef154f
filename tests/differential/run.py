"""Runs the same graph by every path through hone, and by ONNX Runtime:

    reference = passes off = passes on = another C compiler = ONNX Runtime        (random graphs, zoo, files)
    renamed = reordered = with identities = with transpose pairs = exported and read again = opset converted

    run.py [--hone FILE] [--seed N] [--count N] [--seconds S] [--models DIR] [--zoo] [--keep DIR]

Integers and booleans must be equal, NaN and infinities must be at the same indices, and floats must agree within the error
of a different summation order. A difference is reduced to the first differing value, `hone verify --bisect` reports whether
a pass caused it, and the model is kept. The last line counts: `N graphs, N comparisons, N differ, N refused`.
"""

import argparse
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx

import graphs

try:
    import onnxruntime
except ImportError:
    onnxruntime = None


class Refused(Exception):
    pass


class Broken(Exception):
    pass


class Runner:
    def __init__(self, hone, folder):
        self.hone, self.folder = hone, pathlib.Path(folder)
        self.env = {**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache"), "XDG_DATA_HOME": str(self.folder / "data")}
        self.runs = 0

    def __call__(self, *words):
        return subprocess.run([self.hone, *map(str, words)], env=self.env, capture_output=True, text=True, timeout=600, check=False)

    def run(self, model, inputs, *words):
        """Outputs in order. inputs: name -> array, or None for hone's own seeded ones."""
        self.runs += 1
        out = self.folder / f"out{self.runs}"
        given = []
        for i, (name, array) in enumerate((inputs or {}).items()):
            np.save(self.folder / f"given{i}.npy", array)
            given += ["--input", f"{name}={self.folder}/given{i}.npy"]
        result = self("run", model, *given, "--no-cache", "-o", out, *words)
        if result.returncode:
            reason = result.stderr.strip().splitlines()[0] if result.stderr.strip() else f"exit {result.returncode}"
            if "E_UNSUP" in reason or "E_TYPE" in reason:
                raise Refused(reason)
            raise Broken(reason)
        arrays = [np.load(p) for p in sorted(out.glob("out_*.npy"), key=lambda p: int(p.stem[4:]))]
        shutil.rmtree(out)
        return arrays


def apart(a, b):
    """None, or a description of the difference."""
    if len(a) != len(b):
        return f"{len(a)} and {len(b)} outputs"
    for k, (x, y) in enumerate(zip(a, b)):
        if x.shape != y.shape or x.dtype != y.dtype:
            return f"output {k} is {x.dtype}{list(x.shape)} and {y.dtype}{list(y.shape)}"
        if x.dtype.kind not in "fc":
            if not np.array_equal(x, y):
                return f"output {k}: {np.count_nonzero(x != y)} of {x.size} differ"
            continue
        x, y = x.astype(np.float64), y.astype(np.float64)
        if not np.array_equal(np.isfinite(x), np.isfinite(y)) or not np.array_equal(np.isnan(x), np.isnan(y)):
            return f"output {k}: NaN or infinity at other places"
        good = np.isfinite(x)
        x, y = x[good], y[good]
        norm, error = np.linalg.norm(x), np.linalg.norm(x - y)
        if error > 2e-4 * norm + 2e-5 * max(1, len(x)) ** 0.5:
            return f"output {k}: L2 {error:.3g} of {norm:.3g}"
    return None


def by_onnxruntime(path, inputs):
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return session.run(None, {i.name: inputs[i.name] for i in session.get_inputs()})


class Differential:
    def __init__(self, options, folder):
        self.run, self.options, self.folder = Runner(options.hone, folder), options, pathlib.Path(folder)
        self.graphs = self.comparisons = self.differ = self.refused = 0
        self.ways = [("passes off", ["--no-passes"]), ("passes on", [])]
        for compiler in ("gcc", "clang"):
            if shutil.which(compiler):
                self.ways.append((compiler, ["--cc", compiler]))

    def note(self, name, what, path):
        self.differ += 1
        kept = pathlib.Path(self.options.keep)
        kept.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, kept / f"{name}.onnx".replace("/", "_").replace(":", "_"))
        print(f"DIFFERS {name}: {what}; kept in {kept}", flush=True)
        for line in self.run("verify", path, "--bisect").stdout.splitlines()[-4:]:
            print(f"  bisection: {line}", flush=True)

    def compare(self, name, what, truth, make, path):
        try:
            difference = apart(truth, make())
        except Refused as refusal:
            self.refused += 1
            print(f"refused {name}, {what}: {refusal}", flush=True)
            return
        except (Broken, subprocess.TimeoutExpired) as end:
            difference = str(end)
        self.comparisons += 1
        if difference:
            self.note(name, f"{what}: {difference}", path)

    def first_wrong(self, model, shapes, inputs):
        """The first node whose result differs from the reference's, as the only output of a model."""
        for node in model.graph.node:
            part = graphs.copy_of(model)
            del part.graph.output[:]
            kind = onnx.TensorProto.BOOL if node.op_type in graphs.COMPARE else onnx.TensorProto.FLOAT
            part.graph.output.append(onnx.helper.make_tensor_value_info(node.output[0], kind, shapes[node.output[0]]))
            path = self.folder / "part.onnx"
            onnx.save(part, path)
            try:
                if apart(self.run.run(path, inputs, "--reference"), self.run.run(path, inputs)):
                    return node
            except (Refused, Broken):
                return node
        return None

    def random_graph(self, seed):
        model, shapes = graphs.random_model(seed)
        inputs = graphs.inputs_of(model, seed)
        path, name = self.folder / "graph.onnx", f"seed {seed}"
        onnx.save(model, path)
        self.graphs += 1
        before = self.differ
        try:
            truth = self.run.run(path, inputs, "--reference")
        except (Refused, Broken) as end:
            self.note(name, f"reference: {end}", path)
            return
        for what, words in self.ways:
            self.compare(name, what, truth, lambda words=words: self.run.run(path, inputs, *words), path)
        if onnxruntime:
            self.compare_onnxruntime(name, truth, path, inputs)
        self.metamorphic(name, model, shapes, inputs, truth, path, random.Random(seed))
        if self.differ > before:
            node = self.first_wrong(model, shapes, inputs)
            print(f"  first to differ: {node.op_type} \"{node.name}\"" if node else "  no value alone differs", flush=True)

    def compare_onnxruntime(self, name, truth, path, inputs):
        try:
            found = by_onnxruntime(path, inputs)
        except Exception as error:  # a model that it refuses says nothing about hone
            print(f"not asked {name}, ONNX Runtime: {str(error).splitlines()[0][:100]}", flush=True)
            return
        self.compare(name, "ONNX Runtime", truth, lambda: found, path)

    def metamorphic(self, name, model, shapes, inputs, truth, path, rng):
        changes = {"renamed": graphs.renamed, "reordered": graphs.reordered, "identities": graphs.with_identities,
                   "transposes": graphs.with_transposes(shapes), "opset": graphs.converted}
        # Two per graph, by rotation: all of them over three graphs.
        for what in rng.sample(sorted(changes), 2):
            try:
                other = changes[what](model, rng)
            except Exception as error:
                print(f"not asked {name}, {what}: {str(error).splitlines()[0][:100]}", flush=True)
                continue
            changed = self.folder / "changed.onnx"
            onnx.save(other, changed)
            self.compare(name, what, truth, lambda: self.run.run(changed, inputs), changed)
        again = self.folder / "again.onnx"
        result = self.run("export", path, "-o", again)
        if result.returncode:
            self.note(name, f"export: {result.stderr.strip()[:200]}", path)
            return
        self.compare(name, "exported", truth, lambda: self.run.run(again, inputs), again)

    def model(self, path):
        """A model file or zoo:NAME, on hone's own inputs."""
        self.graphs += 1
        name = str(path) if str(path).startswith("zoo:") else pathlib.Path(path).parent.name + "/" + pathlib.Path(path).name
        try:
            truth = self.run.run(path, None, "--reference")
        except (Refused, Broken, subprocess.TimeoutExpired) as end:
            self.refused += 1
            print(f"refused {name}, reference: {end}", flush=True)
            return
        for what, words in self.ways:
            try:
                difference = apart(truth, self.run.run(path, None, *words))
            except (Refused, Broken, subprocess.TimeoutExpired) as end:
                difference = str(end)
            self.comparisons += 1
            if difference:
                self.differ += 1
                print(f"DIFFERS {name}, {what}: {difference}", flush=True)
                for line in self.run("verify", path, "--bisect").stdout.splitlines()[-4:]:
                    print(f"  bisection: {line}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hone", default="build/hone")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--models")
    parser.add_argument("--zoo", action="store_true")
    parser.add_argument("--keep", default="build/differential")
    options = parser.parse_args()
    options.hone = str(pathlib.Path(options.hone).resolve())
    with tempfile.TemporaryDirectory(prefix="hone-differential-") as folder:
        work = Differential(options, folder)
        begin = time.monotonic()
        for seed in range(options.seed, options.seed + options.count):
            if options.seconds and time.monotonic() - begin > options.seconds:
                break
            work.random_graph(seed)
        if options.zoo:
            listed = subprocess.run([options.hone, "zoo", "list"], capture_output=True, text=True, check=True).stdout
            for line in listed.splitlines():
                if line.strip().startswith("zoo:"):
                    work.model(line.split()[0])
        for suffix in ("onnx", "tflite", "pt2") if options.models else ():
            for path in sorted(pathlib.Path(options.models).rglob(f"*.{suffix}")):
                work.model(path)
    print(f"{work.graphs} graphs, {work.comparisons} comparisons, {work.differ} differ, {work.refused} refused")
    return 1 if work.differ else 0


if __name__ == "__main__":
    sys.exit(main())
