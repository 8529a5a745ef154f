"""The cases of the pinned onnx package that it contains with their data: node, simple, pytorch-converted,
pytorch-operator and light. Each has a name, a model, inputs, expected outputs and tolerances."""

import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx

import values


@dataclass
class Case:
    kind: str
    name: str
    model: onnx.ModelProto
    inputs: list
    wanted: list
    rtol: float
    atol: float


def real_inputs(model):
    constants = {tensor.name for tensor in model.graph.initializer}
    return [info for info in model.graph.input if info.name not in constants]


def node_cases(load):
    for case in load(kind="node"):
        inputs, wanted = case.data_sets[0]
        yield Case("node", case.name, case.model, list(inputs), list(wanted), case.rtol, case.atol)


def folder_cases(kind, load):
    for case in load(kind=kind):
        folder = Path(case.model_dir)
        model = onnx.load(folder / "model.onnx")
        data = folder / "test_data_set_0"
        inputs = [
            values.read_file(data / f"input_{k}.pb", info) for k, info in enumerate(real_inputs(model))
        ]
        wanted = [
            values.read_file(data / f"output_{k}.pb", info) for k, info in enumerate(model.graph.output)
        ]
        yield Case(kind, case.name, model, inputs, wanted, case.rtol, case.atol)


def ramp(info):
    """The suite's inputs of its light models: evenly spaced numbers in [0, 1)."""
    shape = tuple(d.dim_value or 1 for d in info.type.tensor_type.shape.dim)
    count = int(np.prod(shape))
    return (np.arange(count).astype(np.float32) / np.float32(count)).reshape(shape)


def light_cases():
    folder = Path(onnx.__file__).parent / "backend/test/data/light"
    for path in sorted(folder.glob("light_*.onnx")):
        model = onnx.load(path)
        outputs = [path.with_name(f"{path.stem}_output_{k}.pb") for k in range(len(model.graph.output))]
        wanted = [values.read_file(file, info) for file, info in zip(outputs, model.graph.output)]
        inputs = [ramp(info) for info in real_inputs(model)]
        yield Case("light", path.stem, model, inputs, wanted, 1e-3, 1e-5)


def load_cases():
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        from onnx.backend.test.loader import load_model_tests

        cases = list(node_cases(load_model_tests))
        for kind in ("simple", "pytorch-converted", "pytorch-operator"):
            cases += folder_cases(kind, load_model_tests)
        cases += light_cases()
    return sorted(cases, key=lambda case: case.name)
