#!/usr/bin/env python3
"""Writes the cases under upgrade/: NAME.onnx of an old opset, NAME.in_K.npy, NAME.out_K.npy.

The expected outputs come from NumPy expressions written here from the operator specification of
that opset, and are checked against ONNX Runtime wherever it runs the old opset. Run by hand with
numpy, onnx and onnxruntime; the files are committed.
"""
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto as T, helper as h, numpy_helper as nh

HERE = os.path.dirname(os.path.abspath(__file__))
TYPES = {np.dtype(np.float32): T.FLOAT, np.dtype(np.float16): T.FLOAT16,
         np.dtype(np.int64): T.INT64, np.dtype(np.int32): T.INT32, np.dtype(np.bool_): T.BOOL}
rng = np.random.default_rng(7)


def f(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def case(name, opset, op, inputs, expected, constants=None, outputs=None, **attributes):
    """One node. inputs: arrays, fed at run time; constants: {position: array} as initializers."""
    constants = constants or {}
    names, values, graph_inputs, initializers = [], [], [], []
    feed = iter(inputs)
    for k in range(len(inputs) + len(constants)):
        names.append(f"i{k}")
        if k in constants:
            initializers.append(nh.from_array(constants[k], f"i{k}"))
        else:
            value = next(feed)
            values.append(value)
            graph_inputs.append(h.make_tensor_value_info(f"i{k}", TYPES[value.dtype], value.shape))
    expected = [np.asarray(e) for e in expected]
    out_names = [f"o{k}" for k in range(len(expected))]
    node = h.make_node(op, names, out_names + (outputs or []), **attributes)
    graph = h.make_graph(
        [node], name, graph_inputs,
        [h.make_tensor_value_info(n, TYPES[e.dtype], None) for n, e in zip(out_names, expected)],
        initializers)
    model = h.make_model(graph, opset_imports=[h.make_opsetid("", opset)], ir_version=8)
    path = os.path.join(HERE, "upgrade", name)
    onnx.save(model, path + ".onnx")
    for k, value in enumerate(values):
        np.save(f"{path}.in_{k}.npy", np.ascontiguousarray(value))
    for k, value in enumerate(expected):
        np.save(f"{path}.out_{k}.npy", np.ascontiguousarray(value))
    check(name, model, values, expected)


def check(name, model, values, expected):
    try:
        import onnxruntime as ort
        ort.set_default_logger_severity(4)
        session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        got = session.run(None, {i.name: v for i, v in zip(session.get_inputs(), values)})
    except Exception as error:  # the peer does not run this old form
        print(f"{name:28} not checked: {str(error)[:80]}")
        return
    for a, b in zip(got, expected):
        if a.shape != b.shape or not np.allclose(a.astype(np.float64), b.astype(np.float64),
                                                 rtol=1e-3, atol=1e-4):
            print(f"{name:28} DIFFERS {a.shape} {b.shape}\n{a.ravel()[:8]}\n{b.ravel()[:8]}")
            sys.exit(1)
    print(f"{name:28} ok")


def softmax(x, axes, log=False):
    e = x - x.max(axis=axes, keepdims=True)
    s = np.exp(e).sum(axis=axes, keepdims=True)
    return (e - np.log(s) if log else np.exp(e) / s).astype(np.float32)


def main():
    x = f(2, 3, 4)
    case("softmax_11_flat", 11, "Softmax", [x], [softmax(x, (1, 2))], axis=1)
    case("softmax_7_default", 7, "Softmax", [x], [softmax(x, (1, 2))])
    case("softmax_11_last", 11, "Softmax", [x], [softmax(x, (2,))], axis=2)
    case("softmax_11_negative", 11, "Softmax", [x], [softmax(x, (2,))], axis=-1)
    y = f(2, 5, 1, 1)
    case("softmax_7_single", 7, "Softmax", [y], [softmax(y, (1, 2, 3))], axis=1)
    case("logsoftmax_9_flat", 9, "LogSoftmax", [x], [softmax(x, (1, 2), True)], axis=1)
    hard = np.zeros((2, 12), np.float32)
    hard[np.arange(2), x.reshape(2, 12).argmax(1)] = 1
    case("hardmax_11_flat", 11, "Hardmax", [x], [hard.reshape(x.shape)], axis=1)

    case("clip_6", 6, "Clip", [x], [np.clip(x, -0.5, 0.25)], min=-0.5, max=0.25)
    case("clip_10_min_only", 10, "Clip", [x], [np.maximum(x, np.float32(0.1))], min=0.1)
    half = x.astype(np.float16)
    case("clip_10_f16", 10, "Clip", [half], [np.clip(half, np.float16(0), np.float16(0.5))],
         min=0.0, max=0.5)
    case("pad_2_value", 2, "Pad", [x], [np.pad(x, ((0, 0), (1, 0), (0, 2)), constant_values=1.5)],
         pads=[0, 1, 0, 0, 0, 2], value=1.5)
    case("pad_1_paddings", 1, "Pad", [x], [np.pad(x, ((0, 1), (0, 0), (0, 0)))],
         paddings=[0, 0, 0, 1, 0, 0])
    case("pad_10_reflect", 10, "Pad", [x], [np.pad(x, ((0, 0), (1, 1), (2, 0)), mode="reflect")],
         pads=[0, 1, 2, 0, 1, 0], mode="reflect")

    case("slice_9", 9, "Slice", [x], [x[:, 1:3, :-1]], starts=[1, 0], ends=[3, -1], axes=[1, 2])
    case("slice_1_no_axes", 1, "Slice", [x], [x[1:2, 0:2]], starts=[1, 0], ends=[2, 2])
    case("split_2_parts", 2, "Split", [x], [x[:, :1], x[:, 1:]], split=[1, 2], axis=1)
    case("split_11_equal", 11, "Split", [x], [x[:1], x[1:]])
    case("split_13_equal", 13, "Split", [x], [x[..., :2], x[..., 2:]], axis=2)
    z = f(1, 3, 1, 2)
    case("squeeze_11", 11, "Squeeze", [z], [z.squeeze((0, 2))], axes=[0, 2])
    case("squeeze_11_all", 11, "Squeeze", [z], [z.squeeze()])
    case("unsqueeze_11", 11, "Unsqueeze", [x], [x[None, :, None]], axes=[0, 2])
    case("reducesum_11", 11, "ReduceSum", [x], [x.sum(axis=(0, 2), keepdims=True)], axes=[0, 2])
    case("reducesum_7_all", 7, "ReduceSum", [x], [x.sum(keepdims=True)])
    case("reducemean_13", 13, "ReduceMean", [x], [x.mean(axis=1)], axes=[1], keepdims=0)
    case("reducel2_11", 11, "ReduceL2", [x], [np.sqrt((x * x).sum(axis=-1))], axes=[-1], keepdims=0)
    order = np.argsort(-x, axis=2, kind="stable")[..., :2]
    case("topk_9", 9, "TopK", [x], [np.take_along_axis(x, order, 2), order.astype(np.int64)],
         k=2, axis=2)
    case("dropout_7", 7, "Dropout", [x], [x], ratio=0.5)
    case("dropout_7_mask_unused", 7, "Dropout", [x], [x], outputs=["mask"], ratio=0.5)
    case("dropout_6_is_test", 6, "Dropout", [x], [x], ratio=0.5, is_test=1)

    image = f(1, 2, 3, 3)
    twice = image.repeat(2, 2).repeat(3, 3)
    case("upsample_7", 7, "Upsample", [image], [twice], mode="nearest", scales=[1.0, 1, 2, 3])
    case("upsample_1", 1, "Upsample", [image], [twice], mode="nearest", height_scale=2.0,
         width_scale=3.0)
    scales = np.array([1, 1, 2, 3], np.float32)
    case("upsample_9", 9, "Upsample", [image], [twice], {1: scales}, mode="nearest")
    case("resize_10", 10, "Resize", [image], [twice], {1: scales}, mode="nearest")
    shrunk = np.array([1, 1, 2, 0.7], np.float32)  # rounded up where it shrinks, down where it grows
    case("resize_10_shrinks", 10, "Resize", [image], [image.repeat(2, 2)[..., [0, 2]]], {1: shrunk}, mode="nearest")
    at = np.minimum(np.arange(6) / 2, 2)
    low = np.floor(at).astype(int)
    high = np.minimum(low + 1, 2)
    w = (at - low).astype(np.float32)[:, None]
    linear = image[:, :, low] * (1 - w) + image[:, :, high] * w
    case("resize_10_linear", 10, "Resize", [image], [linear],
         {1: np.array([1, 1, 2, 1], np.float32)}, mode="linear")
    empty = np.zeros(0, np.float32)
    case("resize_11_sizes", 11, "Resize", [image], [image.repeat(2, 2).repeat(2, 3)],
         {1: empty, 2: empty, 3: np.array([1, 2, 6, 6], np.int64)}, mode="nearest",
         coordinate_transformation_mode="asymmetric", nearest_mode="floor")

    c = [f(2) for _ in range(3)] + [np.abs(f(2)) + 1]
    s, b, m, v = [a[None, :, None, None] for a in c]
    norm = ((image - m) / np.sqrt(v + 1e-3) * s + b).astype(np.float32)
    consts = {k + 1: a for k, a in enumerate(c)}
    case("batchnorm_7", 7, "BatchNormalization", [image], [norm], consts, epsilon=1e-3, spatial=1)
    case("batchnorm_6", 6, "BatchNormalization", [image], [norm], consts, epsilon=1e-3, is_test=1)
    case("batchnorm_9", 9, "BatchNormalization", [image], [norm], consts, epsilon=1e-3)

    row = f(3)
    case("add_6_axis", 6, "Add", [x], [x + row[None, :, None]], {1: row}, broadcast=1, axis=1)
    case("mul_6_suffix", 6, "Mul", [x], [x * 2], {1: np.full((4,), 2, np.float32)},
         broadcast=1)
    two = f(2, 3)
    case("sub_1_axis0", 1, "Sub", [x, two], [x - two[:, :, None]], broadcast=1, axis=0)
    case("prelu_6", 6, "PRelu", [x], [np.where(x < 0, x * row[None, :, None], x)], {1: row})
    a, bb, cc = f(2, 3), f(3, 4), f(4)
    case("gemm_6", 6, "Gemm", [a], [a @ bb + cc], {1: bb, 2: cc}, broadcast=1)
    case("cast_5", 5, "Cast", [x], [x.astype(np.int32)], to="INT32")
    case("reshape_1", 1, "Reshape", [x], [x.reshape(6, 4)], shape=[0 - 1, 4])
    case("concat_3_axis1", 3, "Concat", [x, x], [np.concatenate([x, x], 1)])
    selu = 1.0507 * np.where(x > 0, x, 1.6732 * (np.exp(x) - 1))
    case("selu_1", 1, "Selu", [x], [selu.astype(np.float32)])
    case("relu_1_consumed", 1, "Relu", [x], [np.maximum(x, 0)], consumed_inputs=[0])
    index = np.array([[0, 1], [2, 0]], np.int64)
    update = f(2, 2)
    scattered = f(3, 2)
    out = scattered.copy()
    for i in range(2):
        for j in range(2):
            out[index[i, j], j] = update[i, j]
    case("scatter_9", 9, "Scatter", [scattered, update], [out], {1: index})
    group = f(1, 4, 2)
    g = group.reshape(1, 2, 4)
    g = (g - g.mean(2, keepdims=True)) / np.sqrt(g.var(2, keepdims=True) + 1e-5)
    gs, gb = f(2), f(2)
    case("groupnorm_18", 18, "GroupNormalization", [group],
         [(g.reshape(1, 4, 2) * gs.repeat(2)[None, :, None] + gb.repeat(2)[None, :, None])
          .astype(np.float32)], {1: gs, 2: gb}, num_groups=2)
    grid = np.stack(np.meshgrid(np.linspace(-1, 1, 3), np.linspace(-1, 1, 3)), -1)[None]
    case("gridsample_16", 16, "GridSample", [image, grid.astype(np.float32)], [image],
         mode="bilinear", align_corners=1)
    signal = f(1, 4, 2, 1)
    spectrum = np.fft.fft(signal[..., 0], axis=1)
    case("dft_17", 17, "DFT", [signal],
         [np.stack([spectrum.real, spectrum.imag], -1).astype(np.float32)])


main()
