"""Shared by the mocks of engines for accelerators: a model evaluated by onnx's reference, device memory that only
copies can access, and the faults named by HONE_FAULT."""

import os
import signal
import time

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

FAULT, _, PLACE = os.environ.get("FAULT", "").partition("@")
CALLS = {"run": 0}


def act(place):
    """A fault of this place: what an engine's library may do to the process that calls it."""
    CALLS[place] = CALLS.get(place, 0) + 1
    if place != PLACE or place == "run" and CALLS["run"] <= 8:
        return
    if FAULT == "segv":
        os.kill(os.getpid(), signal.SIGSEGV)
    if FAULT == "exit":
        os._exit(3)
    if FAULT == "sleep":
        time.sleep(1000)
    if FAULT == "raise":
        raise RuntimeError("scripted failure")
    if FAULT == "memory":
        raise MemoryError("no memory left on the device")
    if FAULT == "garbage":
        os.write(4, b"this is not JSON\n")


def copy_to_host():
    if FAULT == "slow_copy":
        time.sleep(0.002)


class Clock:
    """An event of a device's stream, which has nothing of its own to do."""

    def __init__(self, enable_timing=True):
        self.when = None

    def record(self):
        self.when = time.perf_counter_ns()

    def synchronize(self):
        assert self.when

    def elapsed_time(self, end):
        return (end.when - self.when) / 1e6


class Model:
    """Counts as what the device computes."""

    def __init__(self, path):
        self.proto = onnx.load(path)
        self.evaluator = ReferenceEvaluator(self.proto)
        self.inputs = [value.name for value in self.proto.graph.input]
        self.outputs = [value.name for value in self.proto.graph.output]
        self.types = {v.name: onnx.helper.tensor_dtype_to_np_dtype(v.type.tensor_type.elem_type)
                      for v in [*self.proto.graph.input, *self.proto.graph.output]}
        self.shapes = {v.name: tuple(d.dim_value for d in v.type.tensor_type.shape.dim)
                       for v in [*self.proto.graph.input, *self.proto.graph.output]}

    def run(self, inputs):
        act("run")
        results = [np.ascontiguousarray(y) for y in self.evaluator.run(None, dict(zip(self.inputs, inputs)))]
        late = CALLS["run"] > 12
        if FAULT == "wrong" or FAULT == "wrong_late" and late:
            results = [y + 1 for y in results]
        if FAULT == "nan":
            results = [y * np.nan for y in results]
        return results
