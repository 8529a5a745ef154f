"""The part of TensorRT's Python API that the worker uses."""

import enum
import json

import numpy as np
from cuda.bindings import runtime

import stand_in

__version__ = "11.0"


class Logger:
    ERROR = 1

    def __init__(self, severity):
        pass


class BuilderFlag(enum.Enum):
    TF32 = 1


class ProfilingVerbosity(enum.Enum):
    DETAILED = 1


class TensorIOMode(enum.Enum):
    INPUT, OUTPUT = 1, 2


class LayerInformationFormat(enum.Enum):
    JSON = 1


def nptype(dtype):
    return dtype


class OnnxParser:
    def __init__(self, network, logger):
        self.network = network

    def parse_from_file(self, path):
        self.network["path"] = path
        return stand_in.FAULT != "unsupported"

    def get_error(self, i):
        return type("Error", (), {"desc": lambda self: "no such operator"})()


class Config:
    profiling_verbosity = builder_optimization_level = None

    def __init__(self):
        self.flags = {BuilderFlag.TF32}

    def clear_flag(self, flag):
        self.flags.discard(flag)

    def set_flag(self, flag):
        self.flags.add(flag)


class Builder:
    def __init__(self, logger):
        pass

    def create_network(self):
        return {}

    def create_builder_config(self):
        return Config()

    def build_serialized_network(self, network, config):
        stand_in.act("load")
        assert config.builder_optimization_level == 3 and BuilderFlag.TF32 not in config.flags
        return None if stand_in.FAULT == "no_engine" else network["path"].encode()


class Runtime:
    def __init__(self, logger):
        pass

    def deserialize_cuda_engine(self, plan):
        return CudaEngine(stand_in.Model(plan.decode()))


class CudaEngine:
    def __init__(self, model):
        self.model, self.names = model, model.inputs + model.outputs
        self.num_io_tensors = len(self.names)

    def get_tensor_name(self, i):
        return self.names[i]

    def get_tensor_mode(self, name):
        return TensorIOMode.INPUT if name in self.model.inputs else TensorIOMode.OUTPUT

    def get_tensor_dtype(self, name):
        return self.model.types[name]

    def create_execution_context(self):
        return Context(self.model)

    def create_engine_inspector(self):
        layers = [{"Name": "l", "Outputs": [{"Name": "y", "Format": "Row major linear FP32 format (kLINEAR)", "DataType": "Float"}]}]
        return type("Inspector", (), {"get_engine_information": lambda self, form: json.dumps({"Layers": layers})})()


class Context:
    def __init__(self, model):
        self.model, self.places = model, {}

    def get_tensor_shape(self, name):
        return self.model.shapes[name]

    def set_tensor_address(self, name, place):
        self.places[name] = place
        return True

    def view(self, name):
        count = int(np.prod(self.model.shapes[name], dtype=int))
        return np.frombuffer(runtime.BLOCKS[self.places[name]], self.model.types[name], count).reshape(self.model.shapes[name])

    def execute_async_v3(self, stream):
        if stand_in.FAULT == "refused":
            return False
        for name, y in zip(self.model.outputs, self.model.run([self.view(n) for n in self.model.inputs])):
            if stand_in.FAULT != "unwritten":
                self.view(name)[...] = y
        return True
