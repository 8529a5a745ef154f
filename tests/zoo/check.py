"""Every model of the zoo, as ONNX, by an independent checker and engine.

For each model: the ONNX checker accepts the file; the initializers hold the published number of
parameters; ONNX Runtime runs it with every float value as an output, and all of them are finite, none
is denormal, their mean squares stay near 1, and no softmax is saturated.

    check.py --tool build/zoo_export [MODEL ...]
"""
import argparse
import collections
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime

SMALLEST_NORMAL = np.finfo(np.float32).tiny
LOW, HIGH = 1e-4, 300.0  # mean square of an activation; unscaled attention scores reach 250, cosines are small
PIXELS = {"yolov8n": 640.0 ** 2}  # mean squares of coordinates are bounded by the image size
LARGE = 600e6  # parameters; their ONNX files pass 2 GB, and tests/cli/test_zoo.py has them tiny
MASKED = 1e30  # the lowest float stands for "masked"


def parameters(model, name):
    """The number of trained elements in initializers: named ones, without running statistics, scales of 4-bit weights,
    and DETR's batch norms, which are frozen."""
    first = 1 if name.startswith("detr") else 3
    apart = {name for node in model.graph.node if node.op_type == "BatchNormalization" for name in node.input[first:5]}
    trained = (onnx.TensorProto.FLOAT, onnx.TensorProto.INT4)
    return sum(int(np.prod(t.dims)) for t in model.graph.initializer
               if t.data_type in trained and t.name not in apart and not t.name.startswith("%")
               and not t.name.endswith(".scale"))


def with_all_outputs(model):
    """The model with each float value as an output, and the node that computes each."""
    inferred = onnx.shape_inference.infer_shapes(model)
    floats = {v.name for v in [*inferred.graph.value_info, *inferred.graph.output]
              if v.type.tensor_type.elem_type == onnx.TensorProto.FLOAT}
    already = {o.name for o in model.graph.output}
    makers = collections.OrderedDict((name, node) for node in model.graph.node
                                     for name in node.output if name in floats)
    for name in makers:
        if name not in already:
            model.graph.output.append(onnx.helper.make_tensor_value_info(name, 1, None))
    return makers


def random_input(info, rng):
    if info.type == "tensor(int64)":
        if "mask" in info.name:
            return np.ones(info.shape, np.int64)
        if "position" in info.name:
            return np.full(info.shape, 128, np.int64)
        return rng.integers(0, 2 if "type" in info.name else 30000, info.shape)
    return rng.standard_normal(info.shape).astype(np.float32)


def complaints(name, node, values, high):
    x = values.astype(np.float64)
    if not np.isfinite(x).all():
        yield f"{node.op_type} {name}: not finite"
        return
    magnitude = np.abs(x)
    denormal = (magnitude > 0) & (magnitude < SMALLEST_NORMAL)
    if node.op_type != "Softmax" and denormal.any():
        yield f"{node.op_type} {name}: {denormal.sum()} denormals"
    visible = x[magnitude < MASKED]
    if node.op_type == "ReduceL2":
        return  # a length grows with the width
    if node.op_type == "Softmax":
        # one visible position alone has weight 1; elsewhere no single one may take all
        if np.median(x.max(axis=-1)) > 0.9:
            yield f"Softmax {name}: saturated"
        return
    square = float((visible * visible).mean()) if visible.size else 0.0
    if square and not LOW < square < high:
        yield f"{node.op_type} {name}: mean square {square:.3g}"


def check(tool, name, folder):
    path = pathlib.Path(folder) / f"{name}.onnx"
    said = subprocess.run([tool, f"zoo:{name}", "17", str(path)], check=True, text=True,
                          capture_output=True).stdout.split()
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    found = []
    # class tokens and gates under a constant operator are folded by shape inference: a few thousand parameters at most
    if abs(parameters(model, name) - int(said[1])) > 1e-5 * int(said[1]):
        found.append(f"{parameters(model, name)} parameters, published are {said[1]}")
    makers = with_all_outputs(model)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options,
                                           providers=["CPUExecutionProvider"])
    rng = np.random.default_rng(0)
    feed = {i.name: random_input(i, rng) for i in session.get_inputs()}
    for value, result in zip(makers, session.run(list(makers), feed)):
        found.extend(complaints(value, makers[value], result, PIXELS.get(name, HIGH)))
    path.unlink()
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("models", nargs="*")
    arguments = parser.parse_args()
    rows = subprocess.run([arguments.tool], check=True, text=True, capture_output=True).stdout.splitlines()
    names = arguments.models or [name for name, count in map(str.split, rows) if int(count) <= LARGE]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            found = check(arguments.tool, name, folder)
            failed += bool(found)
            print(f"{'FAILED' if found else 'ok':7}{name}", flush=True)
            for line in found[:10]:
                print(f"    {line}")
    if failed:
        print(f"repeat: {sys.executable} {sys.argv[0]} --tool {arguments.tool} MODEL")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
