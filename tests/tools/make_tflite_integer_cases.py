"""Writes the cases of tests/cases/tflite with 16-bit activations and with weights of 4 and 2 bits. Needs the same packages
as make_tflite_cases.py.

    make_tflite_integer_cases.py [WORD]
"""
import flatbuffers
import numpy as np
from ai_edge_litert.interpreter import OpResolverType

from make_tflite_cases import CASES, FOLDER, Model, one, schema, write_cases

CASES.clear()  # those of the other file are its own
WORD = {"x": (0.0007, 0), "z": (0.0004, 0), "y": (0.0009, 0)}
BIASES = {"none": None, "wide": "int64", "narrow": "int32"}
BIAS_TYPE = {"int64": 0, "int32": 2}


def product(name, code, bias, per_channel, weights="int8", act=0):
    """FULLY_CONNECTED and the convolutions of 16-bit numbers: how sums are rounded depends on the operator and on the
    types of its bias and its weights."""
    m = Model(name)
    options = {"fusedActivationFunction": act}
    depthwise, transposed, dense = (code == other for other in ("DEPTHWISE_CONV_2D", "TRANSPOSE_CONV", "FULLY_CONNECTED"))
    channels = 8 if depthwise else 6
    scales = m.random.uniform(0.002, 0.02, channels) if per_channel else np.array([0.013])
    shape, out = ((60, 40), (60, 6)) if dense else ((1, 5, 7, 4), (1, 5, 7, channels))
    m.input("x", shape, "int16", (0.001, 0))
    size = (6, 40) if dense else (1, 3, 2, 8) if depthwise else (6, 3, 2, 4)
    m.weights("w", size, weights, (scales, 0, 3 if depthwise else 0))
    names = ["x", "w"]
    if bias:
        steps = np.float32(0.001) * np.float32(scales)
        names.append(m.constant("b", m.random.integers(-2**20, 2**20, channels), bias, (steps, 0, 0)))
    elif dense:
        names.append("")
    if bias and not depthwise:
        options["quantizedBiasType"] = BIAS_TYPE[bias]
    if not dense:
        options.update(padding=0, strideW=1, strideH=1)
    if depthwise:
        options["depthMultiplier"] = 2
    if transposed:
        names = [m.constant("s", out, "int32"), "w", "x", *names[2:]]
    m.tensor("y", out, "int16", (0.0043 * (30 if weights == "int16" else 1), 0))
    kind = {"FULLY_CONNECTED": "FullyConnected", "CONV_2D": "Conv2D", "DEPTHWISE_CONV_2D": "DepthwiseConv2D",
            "TRANSPOSE_CONV": "TransposeConv"}[code]
    m.operator(code, names, ["y"], options, kind)
    m.output("y")
    m.write()


def add_products():
    for code, word in (("FULLY_CONNECTED", "dense"), ("CONV_2D", "conv"), ("DEPTHWISE_CONV_2D", "depthwise"),
                       ("TRANSPOSE_CONV", "transpose-conv")):
        for bias in BIASES:
            for per_channel in (False, True):
                if (word, bias) in (("depthwise", "narrow"), ("conv", "none")):  # refused by LiteRT
                    continue
                CASES[f"word-{word}-{bias}{'-channels' * per_channel}"] = (
                    lambda name, code=code, bias=BIASES[bias], per_channel=per_channel: product(
                        name, code, bias, per_channel, act=int(per_channel)))
    for bias in ("none", "narrow"):
        CASES[f"word-dense-{bias}-by-words"] = lambda name, bias=BIASES[bias]: product(
            name, "FULLY_CONNECTED", bias, False, "int16")


def pair(name, code, options=None, kind=None, dtype="int16", shapes=((3, 40), (3, 40)), quants=WORD.values(), out=None,
         out_dtype=None, second=None, constant=False, data=(None, None)):
    """An operator of two inputs, the second of them of another type or a constant where the case says so."""
    m = Model(name)
    x, z, y = quants
    m.input("x", shapes[0], dtype, x, data=data[0])
    if constant:
        m.weights("z", shapes[1], second or dtype, z)
    else:
        m.input("z", shapes[1], second or dtype, z, data=data[1])
    m.tensor("y", out or shapes[0], out_dtype or dtype, y)
    m.operator(code, ["x", "z"], ["y"], options, kind)
    m.output("y")
    m.write()


def reduction(name, code, dtype, quants, shape, axes, out, keep=False, spread=None, optimised=False):
    m = Model(name)
    if optimised:  # the reference kernel writes nothing
        m.resolver = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    m.input("x", shape, dtype, quants[0], data=None if spread is None else m.random.integers(-spread, spread, shape))
    m.constant("axes", axes, "int32")
    m.tensor("y", out, dtype, quants[1])
    m.operator(code, ["x", "axes"], ["y"], {"keepDims": keep}, "Reducer")
    m.output("y")
    m.write()


def svdf(name, rank, bias, batch=2, features=7, units=4, memory=5):
    m = Model(name)
    m.again = True
    m.input("x", (batch, features), "int8", (0.05, 3))
    m.weights("features", (units * rank, features), "int8", (0.01, 0))
    m.constant("times", m.random.integers(-30000, 30000, (units * rank, memory)), "int16", (0.00003, 0))
    if bias:
        m.constant("b", m.random.integers(-10**7, 10**7, units), "int32", (0.00003 * 0.0004, 0))
    m.tensor("state", (batch, units * rank * memory), "int16", (0.0004, 0), variable=True)
    m.tensor("y", (batch, units), "int8", (0.05, -7))
    m.operator("SVDF", ["x", "features", "times", "b" if bias else None, "state"], ["y"],
               {"rank": rank, "fusedActivationFunction": 1}, "SVDF")
    m.output("y")
    m.write()


def add_words():
    some = np.concatenate([np.arange(-32768, 32768, 37), np.arange(-300, 300), [32767]])[None]
    pool = {"padding": 0, "strideW": 1, "strideH": 2, "filterWidth": 3, "filterHeight": 2}
    for act in (0, 1):
        CASES[f"word-pool-max-{act}"] = lambda name, act=act: one(
            name, "MAX_POOL_2D", (2, 7, 6, 3), {**pool, "fusedActivationFunction": act}, "Pool2D", dtype="int16",
            quant=(0.001, 0), out_shape=(2, 4, 6, 3))
    for near in (False, True):
        CASES[f"word-gelu-{'near' if near else 'exact'}"] = lambda name, near=near: one(
            name, "GELU", some.shape, {"approximate": near}, "Gelu", dtype="int16", quant=(0.0003, 0), out=(0.0002, 0),
            data=some)
    CASES["word-neg"] = lambda name: one(name, "NEG", (3, 40), dtype="int16", quant=(0.001, 0))
    for code in ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"):
        near = np.random.default_rng(3).integers(-3, 3, (2, 3, 40))
        CASES[f"word-{code.lower().replace('_', '-')}"] = lambda name, code=code, near=near: pair(
            name, code, quants=(WORD["x"], WORD["z"], None), out_dtype="bool", data=near)
    for word, options, shapes, second in (
            ("plain", {}, ((2, 3, 5), (2, 5, 4)), None), ("left", {"adjX": True}, ((2, 5, 3), (2, 5, 4)), None),
            ("right", {"adjY": True}, ((2, 3, 5), (2, 4, 5)), None), ("spread", {}, ((2, 3, 5), (1, 5, 4)), None),
            ("bytes", {}, ((2, 3, 5), (2, 5, 4)), "int8")):
        CASES[f"word-batch-matmul-{word}"] = lambda name, options=options, shapes=shapes, second=second: pair(
            name, "BATCH_MATMUL", options, "BatchMatMul", shapes=shapes, second=second, constant=second is not None,
            quants=(WORD["x"], (0.03, 0) if second else WORD["z"], (0.05 if second else 0.02, 0)), out=(2, 3, 4))
    CASES["word-prelu"] = lambda name: pair(name, "PRELU", shapes=((2, 3, 4, 5), (1, 1, 5)), second="int8", constant=True,
                                            quants=(WORD["x"], (0.01, 0), WORD["y"]))
    CASES["word-concat-unequal"] = lambda name: pair(
        name, "CONCATENATION", {"axis": -1, "fusedActivationFunction": 0}, "Concatenation", out=(3, 80))
    for code, kind in (("ADD", "Add"), ("SUB", "Sub")):
        for word, scales in (("first", (-12, -11, -11)), ("second", (-11, -14, -11)), ("neither", (-11, -11, -11))):
            for act in (0, 3):
                CASES[f"word-{code.lower()}-powers-{word}-{act}"] = (
                    lambda name, code=code, kind=kind, scales=scales, act=act: pair(
                        name, code, {"fusedActivationFunction": act, "potScaleInt16": True}, kind,
                        quants=[(2.0**k, 0) for k in scales]))
    for word, scale, act in (("", 0.003, 0), ("-relu", 0.001, 1)):
        def build(name, scale=scale, act=act):
            random = np.random.default_rng(5)
            divisors = random.integers(1, 300, (3, 200)) * random.choice([-1, 1], (3, 200))
            pair(name, "DIV", {"fusedActivationFunction": act}, "Div", shapes=((3, 200), (3, 200)),
                 quants=(WORD["x"], WORD["z"], (scale, 0)), data=(None, divisors))
        CASES[f"word-quotient{word}"] = build
    for dtype, to in (("int16", (0.0004, 0)), ("int8", (0.05, -9))):
        CASES[f"word-quantise-int32-{dtype}"] = lambda name, dtype=dtype, to=to: one(
            name, "QUANTIZE", (3, 200), dtype="int32", quant=(1.5e-7, 0), out=to, out_dtype=dtype, low=-6e7, high=6e7)
    CASES["word-quantise-int16-int32"] = lambda name: one(
        name, "QUANTIZE", (3, 200), dtype="int16", quant=(0.00003, 0), out=(1.1e-7, 0), out_dtype="int32")
    for dtype, quants, spread in (("int8", ((0.05, 3), (0.07, -9)), 40), ("int16", ((0.0001, 0), (0.0002, 0)), 20000)):
        for word, shape, axes, out, keep in (("last", (6, 40, 3), [2], (6, 40), False), ("two", (40, 2, 6, 2), [1, -1], (40, 6), False),
                                             ("first", (3, 50), [0], (1, 50), True), ("none", (3, 50), np.zeros(0), (3, 50), True)):
            CASES[f"reduce-prod-{dtype}-{word}"] = (
                lambda name, dtype=dtype, quants=quants, spread=spread, shape=shape, axes=axes, out=out, keep=keep:
                reduction(name, "REDUCE_PROD", dtype, quants, shape, axes, out, keep, spread))
        CASES[f"reduce-sum-{dtype}"] = lambda name, dtype=dtype, quants=quants: reduction(
            name, "SUM", dtype, (quants[0], (quants[1][0] * 4, quants[1][1])), (20, 40, 3), [2], (20, 40), optimised=True)
    CASES["table-tanh-int8-other"] = lambda name: one(name, "TANH", (1, 256), dtype="int8", quant=(0.04, 3), out=(0.011, -9),
                                                      data=np.arange(-128, 128)[None])
    CASES["table-tanh-uint8-other"] = lambda name: one(name, "TANH", (1, 256), dtype="uint8", quant=(0.04, 130),
                                                       out=(0.011, 97), data=np.arange(256)[None])
    for rank in (1, 2):
        CASES[f"svdf-int8-{rank}"] = lambda name, rank=rank: svdf(name, rank, rank == 1)


def packed(name, code, weights, dtype="int8", per_channel=True, bias=True):
    """A contraction with weights of less than 8 bits."""
    m = Model(name)
    dense, depthwise = code == "FULLY_CONNECTED", code == "DEPTHWISE_CONV_2D"
    channels = 8 if depthwise else 6
    x = (0.05, 3) if dtype == "int8" else (0.001, 0)
    shape, out = ((5, 33), (5, 6)) if dense else ((1, 5, 7, 4), (1, 5, 7, channels))
    scales = m.random.uniform(0.02, 0.2, channels) if per_channel else np.array([0.13])
    m.input("x", shape, dtype, x)
    m.weights("w", (6, 33) if dense else (1, 3, 2, 8) if depthwise else (6, 3, 2, 4), weights, (scales, 0, 3 if depthwise else 0))
    names = ["x", "w"]
    if bias:
        names.append(m.constant("b", m.random.integers(-200, 200, channels), "int64" if dtype == "int16" else "int32",
                                (np.float32(x[0]) * np.float32(scales), 0, 0)))
    elif dense:
        names.append("")
    m.tensor("y", out, dtype, (0.3, -7) if dtype == "int8" else (0.002, 0))
    options = {} if dense else {"padding": 0, "strideW": 1, "strideH": 1}
    if depthwise:
        options["depthMultiplier"] = 2
    m.operator(code, names, ["y"], options,
               {"FULLY_CONNECTED": "FullyConnected", "CONV_2D": "Conv2D", "DEPTHWISE_CONV_2D": "DepthwiseConv2D"}[code])
    for entry in m.model.operatorCodes:
        entry.version = 12 if dense else 7
    m.output("y")
    m.write()


def packed_table(name, weights, code, per_row):
    m = Model(name)
    scales = m.random.uniform(0.02, 0.2, 6) if per_row else [0.1]
    m.weights("w", (6, 8), weights, (scales, 0, 0))
    if code == "EMBEDDING_LOOKUP":
        m.input("i", (4,), "int32", data=[2, 0, 1, 5])
        m.tensor("y", (4, 8))
        m.operator(code, ["i", "w"], ["y"])
    else:
        m.input("x", (6, 8))
        m.tensor("f", (6, 8))
        m.tensor("y", (6, 8))
        m.operator("DEQUANTIZE", ["w"], ["f"])
        m.operator("ADD", ["x", "f"], ["y"], {}, "Add")
    m.model.operatorCodes[0].version = 4 if code == "EMBEDDING_LOOKUP" else 6
    m.output("y")
    m.write()


def blocks(name, code, zeros):
    """Weights in blocks, which LiteRT's reference kernels do not know: the right values are numpy's, of the weights as floats."""
    m = Model(name)
    w = m.random.integers(-8, 8, (6, 64))
    scales = np.float16(m.random.uniform(0.02, 0.2, (6, 4)))
    points = m.random.integers(-3, 4, (6, 4)) * zeros
    floats = ((w.reshape(6, 4, 16) - points[..., None]) * np.float64(scales)[..., None]).reshape(6, 64)
    m.constant("w", w, "int4")
    m.constant("s", scales, "float16")
    details = schema.BlockwiseQuantizationT()
    details.blockSize, details.scales = 16, m.index["s"]
    details.zeroPoints = m.index[m.constant("z", points, "int32")] if zeros else -1
    quantisation = schema.QuantizationParametersT()
    quantisation.detailsType, quantisation.details = schema.QuantizationDetails.BlockwiseQuantization, details
    m.graph.tensors[m.index["w"]].quantization = quantisation
    if code == "EMBEDDING_LOOKUP":
        m.input("x", (4,), "int32", data=[2, 0, 1, 5])
        m.operator(code, ["x", "w"], [m.tensor("y", (4, 64))])
        expected = floats[[2, 0, 1, 5]]
    else:
        m.input("x", (3, 64))
        m.operator(code, ["x", "w", ""], [m.tensor("y", (3, 6))], {}, "FullyConnected")
        expected = np.float64(m.data["x"]) @ floats.T
    m.output("y")
    builder = flatbuffers.Builder(1024)
    builder.Finish(m.model.Pack(builder), b"TFL3")
    (FOLDER / f"{name}.tflite").write_bytes(bytes(builder.Output()))
    np.savez(FOLDER / f"{name}.npz", in_0=m.data["x"], out_0=np.float32(expected))


def add_packed():
    for code, word in (("FULLY_CONNECTED", "dense"), ("EMBEDDING_LOOKUP", "embedding")):
        for zeros in (False, True):
            CASES[f"packed-{word}-blocks{'-zeros' * zeros}"] = lambda name, code=code, zeros=zeros: blocks(name, code, zeros)
    for code, word in (("FULLY_CONNECTED", "dense"), ("CONV_2D", "conv"), ("DEPTHWISE_CONV_2D", "depthwise")):
        for weights in ("int4", "int2") if word == "dense" else ("int4",):
            for dtype in ("int8", "int16"):
                if word == "depthwise" and dtype == "int16":  # LiteRT reads the bytes as they are
                    continue
                for per_channel in (False, True):
                    CASES[f"packed-{word}-{weights}-{dtype}{'-channels' * per_channel}"] = (
                        lambda name, code=code, weights=weights, dtype=dtype, per_channel=per_channel:
                        packed(name, code, weights, dtype, per_channel, per_channel or code == "CONV_2D"))
    for weights in ("int4", "int2"):
        for per_row in (False, True):
            for code, word in (("EMBEDDING_LOOKUP", "embedding"), ("DEQUANTIZE", "dequantise")):
                CASES[f"packed-{word}-{weights}{'-rows' * per_row}"] = (
                    lambda name, weights=weights, code=code, per_row=per_row: packed_table(name, weights, code, per_row))


if __name__ == "__main__":
    add_products(), add_words(), add_packed()
    write_cases()
