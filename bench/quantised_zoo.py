#!/usr/bin/env python3
"""Quantised files of zoo models, as ONNX Runtime's quantiser makes them; for `hone bench` and for tests.

  bench/quantised_zoo.py FOLDER [--hone build/hone] [MODEL ...]
  build/hone bench FOLDER/*.onnx --backend native,onnxruntime,openvino

Forms of a convolutional model: qdq_u8s8 (activations u8, weights s8 with a scale a channel), qdq_s8s8
(one scale a tensor), qoperator_u8s8. Of the others: dynamic (DynamicQuantizeLinear and MatMulInteger) and int4
(MatMulNBits, blocks of 32). Calibrated on four seeded inputs: the accuracy of the model says nothing,
its speed and each engine's agreement with the same quantised graph do.

Needs onnx, onnxruntime and numpy in this Python.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnxruntime.quantization import (CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic,
                                      quantize_static)
from onnxruntime.quantization.shape_inference import quant_pre_process

STATIC = {
    "qdq_u8s8": dict(quant_format=QuantFormat.QDQ, activation_type=QuantType.QUInt8, per_channel=True),
    "qdq_s8s8": dict(quant_format=QuantFormat.QDQ, activation_type=QuantType.QInt8, per_channel=False),
    "qoperator_u8s8": dict(quant_format=QuantFormat.QOperator, activation_type=QuantType.QUInt8,
                           per_channel=True),
}
# model: forms
MODELS = {
    "mobilenet_v3_small": list(STATIC),
    "resnet18": list(STATIC),
    "resnet50": ["qdq_u8s8"],
    "bert_base": ["qdq_u8s8", "dynamic"],
    "conv": list(STATIC),
    "mlp": ["qdq_u8s8", "dynamic", "int4"],
    "transformer": ["qdq_u8s8", "dynamic", "int4"],
    "gpt2_decode": ["int4"],
}


def seeded_input(random, kind):
    """Normal floats; of integers, which are places in a table or masks, zeros and ones."""
    shape = [d.dim_value for d in kind.shape.dim]
    dtype = onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type)
    return (random.integers(0, 2, shape) if dtype.kind in "iu" else random.standard_normal(shape)).astype(dtype)


class Seeded(CalibrationDataReader):
    def __init__(self, model):
        random = np.random.default_rng(1)
        self.batches = iter([{value.name: seeded_input(random, value.type.tensor_type) for value in model.graph.input}
                             for _ in range(4)])

    def get_next(self):
        return next(self.batches, None)


def in_blocks(weights, block=32):
    """[k, n] floats to MatMulNBits' operands: [n, blocks, block / 2] bytes of two codes, [n * blocks] scales."""
    k, n = weights.shape
    count = -(-k // block)
    rows = np.zeros((n, count * block), np.float32)
    rows[:, :k] = weights.T
    rows = rows.reshape(n, count, block)
    extremes = np.take_along_axis(rows, np.abs(rows).argmax(axis=2)[..., None], axis=2)[..., 0]
    scales = np.where(extremes == 0, 1, extremes) / -8  # the extreme is code 0, for either sign
    codes = np.clip(np.rint(rows / scales[..., None]) + 8, 0, 15).astype(np.uint8)
    return codes[..., 0::2] | codes[..., 1::2] << 4, scales.astype(np.float32).reshape(-1)


def quantise_weights(path, to):
    """Every MatMul, and Gemm, with a constant matrix becomes MatMulNBits of 4 bits."""
    model = onnx.load(path)
    constants = {tensor.name: tensor for tensor in model.graph.initializer}
    for node in model.graph.node:
        given = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        is_plain = node.op_type == "MatMul" or (node.op_type == "Gemm" and not given.get("transA") and
                                                {given.get("alpha", 1), given.get("beta", 1)} == {1})
        if not is_plain or node.input[1] not in constants:
            continue
        weights = onnx.numpy_helper.to_array(constants[node.input[1]])
        if weights.ndim != 2:
            continue
        weights = weights.T if given.get("transB") else weights
        bias = list(node.input[2:])
        name = f"{node.input[1]}/{node.name or node.output[0]}"
        for suffix, array in zip(("codes", "scales"), in_blocks(weights)):
            model.graph.initializer.append(onnx.numpy_helper.from_array(array, f"{name}/{suffix}"))
        node.op_type, node.domain = "MatMulNBits", "com.microsoft"
        node.input[1:] = [f"{name}/codes", f"{name}/scales"] + (["", "", *bias] if bias else [])
        del node.attribute[:]
        k, n = weights.shape
        node.attribute.extend(onnx.helper.make_attribute(*pair)
                              for pair in (("K", k), ("N", n), ("bits", 4), ("block_size", 32)))
    used = {name for node in model.graph.node for name in node.input}
    kept = [tensor for tensor in model.graph.initializer if tensor.name in used]
    del model.graph.initializer[:]
    model.graph.initializer.extend(kept)
    model.opset_import.append(onnx.helper.make_opsetid("com.microsoft", 1))
    onnx.save(model, to)


def make(path, form, to):
    if form == "int4":
        quantise_weights(path, to)
    elif form == "dynamic":
        quantize_dynamic(path, to, weight_type=QuantType.QInt8, per_channel=True)
    else:
        quantize_static(path, to, Seeded(onnx.load(path)), weight_type=QuantType.QInt8, **STATIC[form])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("models", nargs="*", default=[], metavar="MODEL[:FORM]")
    parser.add_argument("--hone", default="build/hone")
    args = parser.parse_intermixed_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    for word in args.models or MODELS:
        name, _, form = word.partition(":")
        if name not in MODELS or (form and form not in [*STATIC, "dynamic", "int4"]):
            sys.exit(f"{word}: known are {', '.join(MODELS)}, forms {', '.join(STATIC)}, dynamic, int4")
        with tempfile.TemporaryDirectory() as work:
            raw, ready = pathlib.Path(work, "raw.onnx"), pathlib.Path(work, "ready.onnx")
            subprocess.run([args.hone, "zoo", "write", name, "-o", raw], check=True)
            quant_pre_process(raw, ready, skip_symbolic_shape=True)
            for each in [form] if form else MODELS[name]:
                make(raw if each == "int4" else ready, each, args.folder / f"{name}_{each}.onnx")


if __name__ == "__main__":
    main()
