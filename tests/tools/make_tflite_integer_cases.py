"""Makes the cases of tests/cases/tflite with 16-bit activations and with weights of 4 and 2 bits. Needs what
make_tflite_cases.py needs.

    make_tflite_integer_cases.py [WORD]
"""
import numpy as np

from make_tflite_cases import CASES, FOLDER, Model, one, write_cases

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


if __name__ == "__main__":
    add_products()
    write_cases()
