"""Makes tests/cases/tflite: one small TFLite model an operator, with inputs and the outputs of LiteRT's
reference kernels. Needs the packages ai-edge-litert and flatbuffers; the tests need only what it wrote.

    make_tflite_cases.py [WORD]    writes the cases whose name holds WORD, all by default

make_tflite_image_cases.py and make_tflite_integer_cases.py make the rest of them.
"""
import pathlib
import re
import sys

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from flatbuffers import flexbuffers

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "cases/tflite"
TYPES = {"float32": 0, "int32": 2, "uint8": 3, "int64": 4, "bool": 6, "int16": 7, "int8": 9, "float16": 1,
         "complex64": 8, "resource": 13, "string": 5, "int4": 17, "int2": 19}
BITS = {"int4": 4, "int2": 2}  # several to a byte, the first in its lowest bits
CODES = {name: code for name, code in vars(schema.BuiltinOperator).items() if isinstance(code, int)}


def bytes_of(data, dtype):
    """The bytes of a buffer. Of strings: their count, where each begins and the last one ends, then themselves."""
    if dtype in BITS:
        bits = BITS[dtype]
        numbers = np.asarray(data, np.int64).reshape(-1) & ((1 << bits) - 1)
        rows = np.pad(numbers, (0, -numbers.size % (8 // bits))).reshape(-1, 8 // bits)
        return (rows << (bits * np.arange(8 // bits))).sum(1).astype(np.uint8).tobytes()
    if dtype != "string":
        return np.ascontiguousarray(data, dtype).tobytes()
    texts = [str(text).encode() for text in np.asarray(data).reshape(-1)]
    ends = np.cumsum([4 * (len(texts) + 2), *map(len, texts)])
    return np.int32([len(texts), *ends]).tobytes() + b"".join(texts)


def as_text(array):
    """Strings are bytes in LiteRT."""
    return np.char.decode(array.astype(np.bytes_)) if array.dtype.kind in "SO" else array


class Model:
    """Tensors by name; constants carry data, quantised ones (scale or scales, zero point, axis)."""

    def __init__(self, name, seed=1):
        self.name, self.random = name, np.random.default_rng(seed)
        self.model = schema.ModelT()
        self.model.version, self.model.description = 3, "hone test"
        self.model.operatorCodes, self.model.buffers = [], [schema.BufferT()]
        self.graph = schema.SubGraphT()
        self.graph.tensors, self.graph.operators, self.graph.inputs, self.graph.outputs = [], [], [], []
        self.model.subgraphs = [self.graph]
        self.index, self.data, self.signed = {}, {}, {}
        self.again = False  # the model keeps state: a second run is stored as well
        self.resolver = OpResolverType.BUILTIN_REF

    def begin(self):
        """Another graph, called by its number; what is added now belongs to it until end()."""
        self.outer = getattr(self, "outer", [])
        self.outer.append((self.graph, self.index))
        self.graph = schema.SubGraphT()
        self.graph.tensors, self.graph.operators, self.graph.inputs, self.graph.outputs = [], [], [], []
        self.index = {}
        self.model.subgraphs.append(self.graph)
        return len(self.model.subgraphs) - 1

    def end(self):
        self.graph, self.index = self.outer.pop()

    def argument(self, name, shape, dtype="float32"):
        self.tensor(name, shape, dtype)
        self.graph.inputs.append(self.index[name])
        return name

    def signature(self, key, graph, inputs, outputs):
        """inputs, outputs: of the signature's names the tensors."""
        entry = schema.SignatureDefT()
        entry.signatureKey, entry.subgraphIndex, entry.inputs, entry.outputs = key, graph, [], []
        names = [tensor.name for tensor in self.model.subgraphs[graph].tensors]
        for pairs, made in ((inputs, entry.inputs), (outputs, entry.outputs)):
            for name, tensor in pairs.items():
                item = schema.TensorMapT()
                item.name, item.tensorIndex = name, names.index(tensor)
                made.append(item)
        self.model.signatureDefs = [*(self.model.signatureDefs or []), entry]

    def tensor(self, name, shape, dtype="float32", quant=None, data=None, variable=False):
        tensor = schema.TensorT()
        tensor.name, tensor.shape, tensor.type = name, list(shape), TYPES[dtype]
        tensor.buffer, tensor.isVariable = 0, variable
        if data is not None:
            buffer = schema.BufferT()
            buffer.data = np.frombuffer(bytes_of(data, dtype), np.uint8)
            self.model.buffers.append(buffer)
            tensor.buffer = len(self.model.buffers) - 1
        if quant:
            scale, zero = np.atleast_1d(np.float32(quant[0])), np.atleast_1d(quant[1])
            tensor.quantization = schema.QuantizationParametersT()
            tensor.quantization.scale = scale
            tensor.quantization.zeroPoint = np.broadcast_to(zero, scale.shape).astype(np.int64)
            tensor.quantization.quantizedDimension = quant[2] if len(quant) > 2 else 0
        self.graph.tensors.append(tensor)
        self.index[name] = len(self.graph.tensors) - 1
        return name

    def input(self, name, shape, dtype="float32", quant=None, data=None, low=-3.0, high=3.0):
        self.tensor(name, shape, dtype, quant)
        self.graph.inputs.append(self.index[name])
        if data is None:
            kind = np.dtype(dtype)
            if kind.kind == "f":
                data = self.random.uniform(low, high, shape)
            elif kind.kind == "b":
                data = self.random.integers(0, 2, shape)
            elif dtype in ("int8", "uint8", "int16"):
                info = np.iinfo(kind)
                data = self.random.integers(info.min, info.max + 1, shape)
            else:
                data = self.random.integers(int(low), int(high) + 1, shape)
        self.data[name] = np.char.encode(data) if dtype == "string" else np.asarray(data).astype(dtype)
        return name

    def constant(self, name, data, dtype="float32", quant=None):
        data = np.asarray(data, {"string": None, "int4": "int8", "int2": "int8"}.get(dtype, dtype))
        return self.tensor(name, data.shape, dtype, quant, data)

    def weights(self, name, shape, dtype="float32", quant=None):
        if dtype in BITS:
            half = 1 << (BITS[dtype] - 1)
            return self.constant(name, self.random.integers(-half, half, shape), dtype, quant)
        if np.dtype(dtype).kind == "f":
            return self.constant(name, self.random.normal(0, 0.5, shape), dtype)
        low, high = (0, 256) if dtype == "uint8" else (-127, 128) if dtype == "int8" else (-3000, 3000)
        return self.constant(name, self.random.integers(low, high, shape), dtype, quant)

    def custom(self, name, inputs, outputs, options):
        """An operator that the schema does not know, with a map of options, or their bytes."""
        packed = options if isinstance(options, bytes) else bytes(flexbuffers.Dumps(options))
        entry = schema.OperatorCodeT()
        entry.builtinCode, entry.deprecatedBuiltinCode, entry.customCode, entry.version = 32, 32, name, 1
        self.model.operatorCodes.append(entry)
        operator = schema.OperatorT()
        operator.opcodeIndex = len(self.model.operatorCodes) - 1
        operator.inputs = [self.index[i] for i in inputs]
        operator.outputs = [self.index[o] for o in outputs]
        operator.customOptions = np.frombuffer(packed, np.uint8)
        self.graph.operators.append(operator)

    def operator(self, code, inputs, outputs, options=None, kind=None, between=()):
        """between: tensors that only tell scales of what lies within the operator."""
        known = [c.builtinCode for c in self.model.operatorCodes]
        if CODES[code] not in known:
            entry = schema.OperatorCodeT()
            entry.builtinCode, entry.version = CODES[code], 5 if code in ("FULLY_CONNECTED", "CONV_2D") else 2
            entry.deprecatedBuiltinCode = min(CODES[code], 127)
            self.model.operatorCodes.append(entry)
            known.append(CODES[code])
        operator = schema.OperatorT()
        operator.opcodeIndex = known.index(CODES[code])
        operator.inputs = [self.index[i] if i else -1 for i in inputs]
        operator.outputs = [self.index[o] for o in outputs]
        if between:
            operator.intermediates = [self.index[name] for name in between]
        if options is not None:
            table = getattr(schema, kind + "OptionsT")()
            for key, value in options.items():
                assert hasattr(table, key), (kind, key)
                setattr(table, key, value)
            if CODES[code] < 162:
                operator.builtinOptions = table
                operator.builtinOptionsType = getattr(schema.BuiltinOptions, kind + "Options")
            else:
                operator.builtinOptions2 = table
                operator.builtinOptions2Type = getattr(schema.BuiltinOptions2, kind + "Options")
        self.graph.operators.append(operator)

    def output(self, *names):
        self.graph.outputs += [self.index[name] for name in names]

    def write(self):
        """Operators are of version 2 (5), which most have; those that have not are of version 1."""
        try:
            self.run()
        except (ValueError, RuntimeError) as error:
            missing = re.search(r"builtin opcode '(\w+)' version", str(error))
            if not missing:
                raise
            for entry in self.model.operatorCodes:
                if entry.builtinCode == CODES[missing.group(1)] and entry.version > 1:
                    entry.version = 1
                    return self.write()
            raise
        return None

    def run(self):
        builder = flatbuffers.Builder(1024)
        builder.Finish(self.model.Pack(builder), b"TFL3")
        path = FOLDER / f"{self.name}.tflite"
        path.write_bytes(bytes(builder.Output()))
        engine = Interpreter(str(path), experimental_op_resolver_type=self.resolver)
        engine.allocate_tensors()
        for about in engine.get_input_details():
            engine.set_tensor(about["index"], self.data[about["name"]])
        engine.invoke()
        arrays = {f"in_{k}": as_text(self.data[about["name"]]) for k, about in enumerate(engine.get_input_details())}
        for k, about in enumerate(engine.get_output_details()):
            arrays[f"out_{k}"] = as_text(engine.get_tensor(about["index"]).copy())
        if self.again:
            engine.invoke()
            for k, about in enumerate(engine.get_output_details()):
                arrays[f"again_{k}"] = engine.get_tensor(about["index"]).copy()
        np.savez(FOLDER / f"{self.name}.npz", **arrays)


CASES = {}


def case(function):
    CASES[function.__name__.replace("_", "-")] = function
    return function


def one(name, code, shape, options=None, kind=None, dtype="float32", quant=None, out=None, out_shape=None,
        out_dtype=None, extra=(), **how):
    """A model of one operator on one input; extra: constant operands after it."""
    m = Model(name)
    inputs = [m.input("x", shape, dtype, quant, **how)]
    for k, (data, kind_of) in enumerate(extra):
        inputs.append(m.constant(f"c{k}", data, kind_of))
    m.tensor("y", out_shape or shape, out_dtype or dtype, out if out is not None else quant)
    m.operator(code, inputs, ["y"], options, kind)
    m.output("y")
    m.write()


def family(prefix, rows):
    for row in rows:
        CASES[f"{prefix}-{row[0]}"] = (lambda name, row=row: row[1](name))


def add_unary():
    for code, low, high in [("ABS", -3, 3), ("CEIL", -3, 3), ("COS", -3, 3), ("ELU", -3, 3), ("EXP", -3, 3),
                            ("FLOOR", -3, 3), ("LOG", 0.1, 3), ("LOGISTIC", -6, 6), ("NEG", -3, 3),
                            ("RELU", -3, 3), ("RELU6", -9, 9), ("RELU_N1_TO_1", -3, 3), ("ROUND", -3, 3),
                            ("RSQRT", 0.1, 3), ("SIN", -3, 3), ("SQRT", 0, 3), ("SQUARE", -3, 3),
                            ("TANH", -3, 3), ("HARD_SWISH", -5, 5), ("SIGN", -1, 1), ("RELU_0_TO_1", -3, 3)]:
        CASES["unary-" + code.lower().replace("_", "-")] = (
            lambda name, code=code, low=low, high=high: one(name, code, (2, 3, 4, 5), low=low, high=high))


def add_binary():
    for code, kind in [("ADD", "Add"), ("SUB", "Sub"), ("MUL", "Mul"), ("DIV", "Div"), ("MAXIMUM", None),
                       ("MINIMUM", None), ("POW", None), ("SQUARED_DIFFERENCE", None), ("FLOOR_DIV", None),
                       ("FLOOR_MOD", None), ("EQUAL", None), ("NOT_EQUAL", None), ("LESS", None),
                       ("LESS_EQUAL", None), ("GREATER", None), ("GREATER_EQUAL", None), ("ATAN2", None)]:
        for dtype in ("float32", "int32"):
            if dtype == "int32" and code in ("POW", "ATAN2", "DIV"):
                continue

            def build(name, code=code, kind=kind, dtype=dtype):
                m = Model(name)
                low, high = (0.2, 3) if code == "POW" else (1, 6) if "int" in dtype and "FLOOR" not in code \
                    else (-9, 9)
                m.input("x", (2, 3, 4), dtype, low=low, high=high)
                y = m.random.integers(1, 5, (3, 1)) * m.random.choice([-1, 1], (3, 1)) \
                    if dtype == "int32" else m.random.uniform(0.3, 2, (3, 1))
                m.constant("c", y, dtype)
                compares = code in ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL")
                m.tensor("y", (2, 3, 4), "bool" if compares else dtype)
                options = {"fusedActivationFunction": 1} if kind and dtype == "float32" else {} if kind else None
                m.operator(code, ["x", "c"], ["y"], options, kind)
                m.output("y")
                m.write()

            CASES[f"binary-{code.lower().replace('_', '-')}-{dtype}"] = build


def conv(name, code="CONV_2D", dtype="float32", same=True, stride=1, dilation=1, per_channel=True, act=0,
         shape=(1, 7, 9, 4), channels=6, kernel=(3, 2), multiplier=1, hybrid=False):
    m = Model(name)
    depthwise = code == "DEPTHWISE_CONV_2D"
    if depthwise:
        channels = shape[3] * multiplier
    quantised = dtype != "float32"
    x_quant = {"float32": None, "int8": (0.05, 3), "uint8": (0.05, 120), "int16": (0.001, 0)}[dtype]
    m.input("x", shape, dtype, x_quant)
    w_shape = (1, *kernel, channels) if depthwise else (channels, *kernel, shape[3])
    axis = 3 if depthwise else 0
    scales = m.random.uniform(0.002, 0.02, channels) if per_channel else np.array([0.01])
    w_type = "float32" if not quantised and not hybrid else "uint8" if dtype == "uint8" else "int8"
    w_quant = None if w_type == "float32" else (scales, 128 if dtype == "uint8" else 0, axis)
    m.weights("w", w_shape, w_type, w_quant)
    if quantised:
        bias_type = "int64" if dtype == "int16" else "int32"
        m.constant("b", m.random.integers(-2000, 2000, channels), bias_type,
                   (np.float32(x_quant[0]) * np.float32(scales), 0, 0))
    else:
        m.constant("b", m.random.normal(0, 1, channels))
    out = [(-(-n // stride) if same else (n - (k - 1) * dilation - 1) // stride + 1)
           for n, k in zip(shape[1:3], kernel)]
    y_quant = {"float32": None, "int8": (0.11, -7), "uint8": (0.11, 97), "int16": (0.0007, 0)}[dtype]
    m.tensor("y", (shape[0], *out, channels), dtype, y_quant)
    options = {"padding": 0 if same else 1, "strideW": stride, "strideH": stride,
               "dilationWFactor": dilation, "dilationHFactor": dilation, "fusedActivationFunction": act}
    if depthwise:
        options["depthMultiplier"] = multiplier
    m.operator(code, ["x", "w", "b"], ["y"], options, "DepthwiseConv2D" if depthwise else "Conv2D")
    m.output("y")
    m.write()


def add_conv():
    for code, short in (("CONV_2D", "conv"), ("DEPTHWISE_CONV_2D", "depthwise")):
        for dtype in ("float32", "int8", "uint8", "int16"):
            rows = [("same", {}), ("valid-stride", {"same": False, "stride": 2, "act": 1}),
                    ("same-stride", {"stride": 2, "act": 3}), ("dilated", {"dilation": 2})]
            if short == "depthwise":
                rows.append(("multiplier", {"multiplier": 2}))
            for word, how in rows:
                if dtype == "uint8":
                    how = {**how, "per_channel": False}
                CASES[f"{short}-{dtype}-{word}"] = (
                    lambda name, code=code, dtype=dtype, how=how: conv(name, code, dtype, **how))


def dense(name, dtype="int8", per_channel=False, act=0, keep=False, bias=True, shape=(3, 20), rows=12):
    m = Model(name)
    quant = {"float32": None, "int8": (0.04, -5), "uint8": (0.04, 130), "int16": (0.001, 0)}[dtype]
    m.input("x", shape, dtype, quant)
    w_type = {"float32": "float32", "uint8": "uint8"}.get(dtype, "int8")
    scales = m.random.uniform(0.002, 0.02, rows) if per_channel else np.array([0.013])
    w_quant = None if dtype == "float32" else (scales, 121 if dtype == "uint8" else 0, 0)
    m.weights("w", (rows, shape[-1]), w_type, w_quant)
    names = ["x", "w", ""]
    if bias and dtype == "float32":
        names[2] = m.constant("b", m.random.normal(0, 1, rows))
    elif bias:
        names[2] = m.constant("b", m.random.integers(-3000, 3000, rows),
                              "int64" if dtype == "int16" else "int32",
                              (np.float32(quant[0]) * np.float32(scales), 0, 0))
    out = (*shape[:-1], rows) if keep else (int(np.prod(shape[:-1])), rows)
    y_quant = {"float32": None, "int8": (0.09, 4), "uint8": (0.09, 117), "int16": (0.0009, 0)}[dtype]
    m.tensor("y", out, dtype, y_quant)
    m.operator("FULLY_CONNECTED", names, ["y"], {"fusedActivationFunction": act, "keepNumDims": keep},
               "FullyConnected")
    m.output("y")
    m.write()


def add_dense():
    for dtype in ("float32", "int8", "uint8", "int16"):
        CASES[f"dense-{dtype}"] = lambda name, dtype=dtype: dense(name, dtype)
        CASES[f"dense-{dtype}-relu"] = lambda name, dtype=dtype: dense(name, dtype, act=1)
        CASES[f"dense-{dtype}-keep"] = lambda name, dtype=dtype: dense(name, dtype, keep=True, shape=(2, 3, 20),
                                                                      bias=False)
    CASES["dense-int8-channels"] = lambda name: dense(name, "int8", per_channel=True)


QUANTS = {"int8": ((0.05, 3), (0.031, -9), (0.06, 5)), "uint8": ((0.05, 120), (0.031, 99), (0.06, 131)),
          "int16": ((0.0011, 0), (0.0007, 0), (0.0013, 0))}


def quantised_pair(name, code, kind, dtype, act=0):
    m = Model(name)
    a, b, c = QUANTS[dtype]
    m.input("x", (2, 5, 6, 3), dtype, a)
    m.input("z", (1, 1, 6, 3) if dtype != "int16" else (2, 5, 6, 3), dtype, b)
    m.tensor("y", (2, 5, 6, 3), dtype, c)
    options = {"fusedActivationFunction": act}
    if kind in ("Add", "Sub"):
        options["potScaleInt16"] = False
    m.operator(code, ["x", "z"], ["y"], options, kind)
    m.output("y")
    m.write()


def quantised_compared(name, code, dtype, scales):
    """Pairs of every third byte."""
    m = Model(name)
    info = np.iinfo(dtype)
    some = np.arange(info.min, info.max + 1, 3)
    m.input("x", (len(some), 1), dtype, scales[0], data=some[:, None])
    m.input("z", (1, len(some)), dtype, scales[1], data=some[None])
    m.tensor("y", (len(some), len(some)), "bool")
    m.operator(code, ["x", "z"], ["y"])
    m.output("y")
    m.write()


def reshape_to_one(name):
    """The list of sizes is empty, as is its buffer."""
    m = Model(name)
    m.input("x", (1, 1))
    m.constant("sizes", np.zeros(0), "int32")
    m.tensor("one", ())
    m.operator("RESHAPE", ["x", "sizes"], ["one"])
    m.output("one")
    m.write()


def add_quantised():
    CASES["reshape-to-one"] = reshape_to_one
    for code in ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"):
        for dtype in ("int8", "uint8"):
            CASES[f"quantised-{code.lower().replace('_', '-')}-{dtype}"] = (
                lambda name, code=code, dtype=dtype: quantised_compared(name, code, dtype, QUANTS[dtype]))
    CASES["quantised-less-fine"] = lambda name: quantised_compared(name, "LESS", "int8", ((0.0011, 3), (0.0011, 3)))
    for dtype in QUANTS:
        for code, kind in (("ADD", "Add"), ("SUB", "Sub"), ("MUL", "Mul")):
            for act in (0, 1, 3):
                CASES[f"quantised-{code.lower()}-{dtype}-{act}"] = (
                    lambda name, code=code, kind=kind, dtype=dtype, act=act:
                    quantised_pair(name, code, kind, dtype, act))
    everything = {"int8": np.arange(-128, 128), "uint8": np.arange(256)}
    fixed = {"LOGISTIC": {"int8": (1 / 256, -128), "uint8": (1 / 256, 0)},
             "TANH": {"int8": (1 / 128, 0), "uint8": (1 / 128, 128)}}
    for dtype, data in everything.items():
        for scale in (0.01, 0.04, 0.2):
            for code, outs in fixed.items():
                CASES[f"table-{code.lower()}-{dtype}-{scale}"] = (
                    lambda name, code=code, dtype=dtype, scale=scale, data=data, outs=outs:
                    one(name, code, (1, 256), dtype=dtype, quant=(scale, QUANTS[dtype][0][1]),
                        out=outs[dtype], data=data[None]))
        for code in ("RELU", "RELU6", "RELU_N1_TO_1"):
            CASES[f"table-{code.lower().replace('_', '-')}-{dtype}"] = (
                lambda name, code=code, dtype=dtype, data=data:
                one(name, code, (1, 256), dtype=dtype, quant=QUANTS[dtype][0], out=QUANTS[dtype][1],
                    data=data[None]))
        CASES[f"table-leaky-{dtype}"] = (
            lambda name, dtype=dtype, data=data:
            one(name, "LEAKY_RELU", (1, 256), {"alpha": 0.23}, "LeakyRelu", dtype=dtype,
                quant=QUANTS[dtype][0], out=QUANTS[dtype][1], data=data[None]))
        for scale, beta in ((0.05, 1.0), (0.4, 1.0), (0.02, 2.0)):
            CASES[f"softmax-{dtype}-{scale}"] = (
                lambda name, dtype=dtype, scale=scale, beta=beta:
                one(name, "SOFTMAX", (7, 40), {"beta": beta}, "Softmax", dtype=dtype,
                    quant=(scale, QUANTS[dtype][0][1]), out=(1 / 256, -128 if dtype == "int8" else 0)))
        for to in ("int8", "uint8"):
            CASES[f"requantise-{dtype}-{to}"] = (
                lambda name, dtype=dtype, to=to, data=data:
                one(name, "QUANTIZE", (1, 256), dtype=dtype, quant=QUANTS[dtype][0], out=QUANTS[to][1],
                    out_dtype=to, data=data[None]))
        ties = np.concatenate([np.arange(-40, 40) / 16, np.random.default_rng(3).uniform(-9, 9, 176)])
        CASES[f"quantise-{dtype}"] = (
            lambda name, dtype=dtype: one(name, "QUANTIZE", (1, 256), out=(0.125, QUANTS[dtype][0][1]),
                                          out_dtype=dtype, data=ties[None]))
        CASES[f"dequantise-{dtype}"] = (
            lambda name, dtype=dtype, data=data:
            one(name, "DEQUANTIZE", (1, 256), dtype=dtype, quant=QUANTS[dtype][1], out=(),
                out_dtype="float32", data=data[None]))
        for keep in (False, True):
            # Left out: SUM of int8, which LiteRT 2.3's reference adds up without its scales.
            for code in ("MEAN", "SUM")[:1 + (dtype == "uint8")]:
                CASES[f"reduce-{code.lower()}-{dtype}-{int(keep)}"] = (
                    lambda name, dtype=dtype, keep=keep, code=code:
                    one(name, code, (2, 5, 7, 3), {"keepDims": keep}, "Reducer", dtype=dtype,
                        quant=QUANTS[dtype][0], out=QUANTS[dtype][1] if code == "MEAN" else (0.9, 7),
                        out_shape=(2, 1, 1, 3) if keep else (2, 3), extra=[([1, 2], "int32")]))
        for stride, same in ((1, True), (2, False), (3, True)):
            for code in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
                def pool(name, dtype=dtype, stride=stride, same=same, code=code):
                    out = [(-(-n // stride) if same else (n - k) // stride + 1) for n, k in ((7, 3), (9, 2))]
                    one(name, code, (2, 7, 9, 3),
                        {"padding": 0 if same else 1, "strideW": stride, "strideH": stride, "filterWidth": 2,
                         "filterHeight": 3, "fusedActivationFunction": stride % 2},
                        "Pool2D", dtype=dtype, quant=QUANTS[dtype][0], out_shape=(2, *out, 3))
                CASES[f"pool-{code.split('_')[0].lower()}-{dtype}-{stride}"] = pool
        for align, half, size in ((0, 0, (11, 8)), (1, 0, (9, 13)), (0, 1, (12, 7)), (0, 0, (3, 4))):
            CASES[f"resize-{dtype}-{align}{half}-{size[0]}"] = (
                lambda name, dtype=dtype, align=align, half=half, size=size:
                one(name, "RESIZE_BILINEAR", (1, 5, 6, 3),
                    {"alignCorners": bool(align), "halfPixelCenters": bool(half)}, "ResizeBilinear",
                    dtype=dtype, quant=QUANTS[dtype][0], out_shape=(1, *size, 3), extra=[(size, "int32")]))
            CASES[f"nearest-{dtype}-{align}{half}-{size[0]}"] = (
                lambda name, dtype=dtype, align=align, half=half, size=size:
                one(name, "RESIZE_NEAREST_NEIGHBOR", (1, 5, 6, 3),
                    {"alignCorners": bool(align), "halfPixelCenters": bool(half)}, "ResizeNearestNeighbor",
                    dtype=dtype, quant=QUANTS[dtype][0], out_shape=(1, *size, 3), extra=[(size, "int32")]))


def pair(name, code, options, kind, dtype, shapes, quants, constant=False):
    """Two quantised operands, the second one perhaps a constant; the last shape and scale are the result's."""
    m = Model(name)
    m.input("x", shapes[0], dtype, quants[0])
    if constant:
        m.weights("z", shapes[1], dtype, quants[1])
    else:
        m.input("z", shapes[1], dtype, quants[1])
    m.tensor("y", shapes[2], dtype, quants[2])
    m.operator(code, ["x", "z"], ["y"], options, kind)
    m.output("y")
    m.write()


def add_curves():
    for dtype, data in (("int8", np.arange(-128, 128)), ("uint8", np.arange(256))):
        a, b, c = QUANTS[dtype]
        for scale in (0.011, 0.04, 0.2):
            CASES[f"table-hard-swish-{dtype}-{scale}"] = (
                lambda name, dtype=dtype, scale=scale, data=data, zero=a[1]:
                one(name, "HARD_SWISH", (1, 256), {}, "HardSwish", dtype=dtype, quant=(scale, zero),
                    out=(scale * 0.9, zero + 3), data=data[None]))
        CASES[f"table-leaky-below-{dtype}"] = (
            lambda name, dtype=dtype, data=data, a=a, b=b:
            one(name, "LEAKY_RELU", (1, 256), {"alpha": -0.4}, "LeakyRelu", dtype=dtype, quant=a, out=b,
                data=data[None]))
        CASES[f"quantised-prelu-{dtype}"] = (
            lambda name, dtype=dtype, a=a, b=b, c=c:
            pair(name, "PRELU", None, None, dtype, ((1, 8, 9, 5), (1, 1, 5), (1, 8, 9, 5)), (a, b, c), True))
    a, b, c = QUANTS["int8"]
    CASES["quantised-squared-difference"] = (
        lambda name: pair(name, "SQUARED_DIFFERENCE", None, None, "int8", ((3, 4, 50),) * 3, (a, b, (0.3, -120))))
    for turn in (False, True):
        CASES[f"quantised-batch-matmul-{int(turn)}"] = (
            lambda name, turn=turn:
            pair(name, "BATCH_MATMUL", {"adjX": False, "adjY": turn}, "BatchMatMul", "int8",
                 ((2, 3, 7, 20), (2, 3, 9, 20) if turn else (2, 3, 20, 9), (2, 3, 7, 9)), (a, b, (0.21, -4))))


def add_movement():
    strided = [("plain", (4, 5, 6), (1, 0, 2), (3, 5, 6), (1, 2, 2), {}, (2, 3, 2)),
               ("shrink", (4, 5, 6), (1, 0, 2), (2, 5, 6), (1, 1, 1), {"shrinkAxisMask": 1}, (5, 4)),
               ("masks", (4, 5, 6), (9, 1, 9), (9, 9, 9), (1, 2, 3), {"beginMask": 5, "endMask": 7}, (4, 2, 2)),
               ("ellipsis", (4, 5, 6), (0, 1), (0, 5), (1, 2), {"ellipsisMask": 1}, (4, 5, 2)),
               ("new", (4, 5, 6), (0, 1, 0), (0, 3, 0), (1, 1, 1), {"newAxisMask": 5}, (1, 2, 1, 5, 6)),
               ("negative", (4, 5, 6), (-1, -2, 5), (-9, 0, -9), (-1, -2, -3), {}, (4, 2, 2)),
               ("empty", (4, 5, 6), (3, 0, 0), (1, 5, 6), (1, 1, 1), {}, (0, 5, 6))]
    for word, shape, begin, end, step, masks, out in strided:
        full = {"beginMask": 0, "endMask": 0, "ellipsisMask": 0, "newAxisMask": 0, "shrinkAxisMask": 0, **masks}
        CASES[f"strided-slice-{word}"] = (
            lambda name, shape=shape, begin=begin, end=end, step=step, full=full, out=out:
            one(name, "STRIDED_SLICE", shape, full, "StridedSlice", out_shape=out,
                extra=[(begin, "int32"), (end, "int32"), (step, "int32")]))
    rows = [("transpose", "TRANSPOSE", (2, 3, 4), None, None, (4, 2, 3), [((2, 0, 1), "int32")]),
            ("pad", "PAD", (2, 3, 4), None, None, (3, 6, 6), [([[1, 0], [2, 1], [0, 2]], "int32")]),
            ("mirror-reflect", "MIRROR_PAD", (3, 4), {"mode": 0}, "MirrorPad", (6, 7),
             [([[1, 2], [3, 0]], "int32")]),
            ("mirror-symmetric", "MIRROR_PAD", (3, 4), {"mode": 1}, "MirrorPad", (5, 5),
             [([[1, 1], [1, 0]], "int32")]),
            ("slice", "SLICE", (4, 5, 6), None, None, (2, 5, 3), [((1, 0, 2), "int32"), ((2, -1, 3), "int32")]),
            ("tile", "TILE", (2, 3), None, None, (4, 9), [((2, 3), "int32")]),
            ("expand", "EXPAND_DIMS", (2, 3), {}, "ExpandDims", (2, 1, 3), [(-2, "int32")]),
            ("squeeze", "SQUEEZE", (2, 1, 3, 1), {"squeezeDims": [1]}, "Squeeze", (2, 3, 1), []),
            ("broadcast", "BROADCAST_TO", (2, 1, 3), None, None, (4, 2, 5, 3), [((4, 2, 5, 3), "int32")]),
            ("reverse", "REVERSE_V2", (3, 4), None, None, (3, 4), [((1,), "int32")]),
            ("depth", "DEPTH_TO_SPACE", (1, 3, 4, 12), {"blockSize": 2}, "DepthToSpace", (1, 6, 8, 3), []),
            ("space", "SPACE_TO_DEPTH", (1, 6, 8, 3), {"blockSize": 2}, "SpaceToDepth", (1, 3, 4, 12), []),
            ("space-to-batch", "SPACE_TO_BATCH_ND", (2, 5, 6, 3), None, None, (8, 3, 3, 3),
             [((2, 2), "int32"), ([[1, 0], [0, 0]], "int32")]),
            ("batch-to-space", "BATCH_TO_SPACE_ND", (8, 3, 3, 3), None, None, (2, 5, 5, 3),
             [((2, 2), "int32"), ([[1, 0], [0, 1]], "int32")]),
            ("gather", "GATHER", (4, 5, 3), {"axis": 1, "batchDims": 0}, "Gather", (4, 2, 2, 3),
             [([[3, 0], [1, 1]], "int32")]),
            ("gather-nd", "GATHER_ND", (4, 5, 3), None, None, (2, 3), [([[3, 0], [1, 1]], "int32")]),
            ("reverse-sequence", "REVERSE_SEQUENCE", (4, 5, 3), {"seqDim": 1, "batchDim": 0},
             "ReverseSequence", (4, 5, 3), [((1, 5, 3, 2), "int32")]),
            ("arg-max", "ARG_MAX", (2, 5, 3), {"outputType": 2}, "ArgMax", (2, 3), [(1, "int32")]),
            ("arg-min", "ARG_MIN", (2, 5, 3), {"outputType": 2}, "ArgMin", (2, 5), [(-1, "int32")]),
            ("cumsum", "CUMSUM", (2, 5, 3), {"exclusive": True, "reverse": True}, "Cumsum", (2, 5, 3),
             [(1, "int32")]),
            ("l2-normalise", "L2_NORMALIZATION", (2, 3, 4, 5), {}, "L2Norm", (2, 3, 4, 5), []),
            ("log-softmax", "LOG_SOFTMAX", (3, 6), None, None, (3, 6), []),
            ("softmax", "SOFTMAX", (3, 6), {"beta": 0.7}, "Softmax", (3, 6), []),
            ("leaky", "LEAKY_RELU", (3, 6), {"alpha": 0.2}, "LeakyRelu", (3, 6), []),
            ("gelu", "GELU", (3, 6), {"approximate": False}, "Gelu", (3, 6), []),
            ("gelu-tanh", "GELU", (3, 6), {"approximate": True}, "Gelu", (3, 6), []),
            ("prelu", "PRELU", (1, 3, 4, 5), None, None, (1, 3, 4, 5),
             [(np.linspace(0.1, 0.9, 5).reshape(1, 1, 5), "float32")]),
            ("l2-pool", "L2_POOL_2D", (1, 6, 6, 2), {"padding": 1, "strideW": 2, "strideH": 2, "filterWidth": 2,
                                                      "filterHeight": 2}, "Pool2D", (1, 3, 3, 2), []),
            ("cast", "CAST", (3, 4), {"inDataType": 0, "outDataType": 0}, "Cast", (3, 4), []),
            ("shape", "SHAPE", (3, 4), {"outType": 2}, "Shape", (2,), []),
            ("zeros", "ZEROS_LIKE", (3, 4), None, None, (3, 4), [])]
    for word, code, shape, options, kind, out, extra in rows:
        CASES[f"float-{word}"] = (
            lambda name, code=code, shape=shape, options=options, kind=kind, out=out, extra=extra:
            one(name, code, shape, options, kind, out_shape=out, extra=extra,
                out_dtype="int32" if code in ("ARG_MAX", "ARG_MIN", "SHAPE") else None))
    for code in ("SUM", "MEAN", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD"):
        for keep in (0, 1):
            CASES[f"float-{code.lower().replace('_', '-')}-{keep}"] = (
                lambda name, code=code, keep=keep:
                one(name, code, (2, 3, 4), {"keepDims": bool(keep)}, "Reducer",
                    out_shape=(2, 1, 4) if keep else (2, 4), extra=[((-2,), "int32")]))
    for align, half, size in ((0, 0, (11, 8)), (1, 0, (9, 13)), (0, 1, (12, 7)), (0, 0, (3, 4))):
        for code, kind in (("RESIZE_BILINEAR", "ResizeBilinear"), ("RESIZE_NEAREST_NEIGHBOR",
                                                                   "ResizeNearestNeighbor")):
            CASES[f"float-{kind.lower()}-{align}{half}-{size[0]}"] = (
                lambda name, code=code, kind=kind, align=align, half=half, size=size:
                one(name, code, (1, 5, 6, 3), {"alignCorners": bool(align), "halfPixelCenters": bool(half)},
                    kind, out_shape=(1, *size, 3), extra=[(size, "int32")]))


@case
def transpose_conv(name):
    for dtype in ("float32", "int8", "uint8"):
        for word, same, stride, kernel in (("same", True, 2, 3), ("valid", False, 2, 3), ("gap", True, 3, 2)):
            m = Model(f"{name}-{dtype}-{word}")
            quant = {"float32": None, "int8": (0.05, 3), "uint8": (0.05, 120)}[dtype]
            out = [n * stride if same else (n - 1) * stride + kernel for n in (4, 5)]
            m.constant("shape", (1, *out, 6), "int32")
            scales = m.random.uniform(0.002, 0.02, 6) if dtype == "int8" else np.array([0.01])
            m.weights("w", (6, kernel, kernel, 3), dtype,
                      None if not quant else (scales, 120 if dtype == "uint8" else 0, 0))
            m.input("x", (1, 4, 5, 3), dtype, quant)
            m.tensor("y", (1, *out, 6), dtype,
                     {"float32": None, "int8": (0.11, -7), "uint8": (0.11, 97)}[dtype])
            m.operator("TRANSPOSE_CONV", ["shape", "w", "x"], ["y"],
                       {"padding": 0 if same else 1, "strideW": stride, "strideH": stride}, "TransposeConv")
            m.output("y")
            m.write()


@case
def concat(name):
    for dtype, quants in (("float32", (None,) * 3), ("uint8", QUANTS["uint8"]),
                          ("int8", (QUANTS["int8"][0],) * 3)):
        m = Model(f"{name}-{dtype}")
        m.input("a", (1, 3, 4, 2), dtype, quants[0])
        m.input("b", (1, 3, 4, 3), dtype, quants[1])
        m.tensor("y", (1, 3, 4, 5), dtype, quants[2])
        m.operator("CONCATENATION", ["a", "b"], ["y"], {"axis": -1}, "Concatenation")
        m.output("y")
        m.write()


@case
def split_pack(name):
    m = Model(name)
    m.input("x", (4, 6, 3))
    m.constant("axis", 1, "int32")
    for k in range(3):
        m.tensor(f"s{k}", (4, 2, 3))
    m.operator("SPLIT", ["axis", "x"], ["s0", "s1", "s2"], {"numSplits": 3}, "Split")
    m.tensor("p", (4, 2, 3, 3))
    m.operator("PACK", ["s0", "s1", "s2"], ["p"], {"valuesCount": 3, "axis": -1}, "Pack")
    for k in range(4):
        m.tensor(f"u{k}", (2, 3, 3))
    m.operator("UNPACK", ["p"], ["u0", "u1", "u2", "u3"], {"num": 4, "axis": 0}, "Unpack")
    m.constant("sizes", (1, -1), "int32")
    m.tensor("v0", (1, 3, 3))
    m.tensor("v1", (1, 3, 3))
    m.constant("zero", 0, "int32")
    m.operator("SPLIT_V", ["u2", "sizes", "zero"], ["v0", "v1"], {"numSplits": 2}, "SplitV")
    m.output("u0", "u1", "v0", "v1")
    m.write()


@case
def select(name):
    m = Model(name)
    m.input("c", (2, 3), "bool")
    m.input("row", (2,), "bool")
    m.input("x", (2, 3))
    m.input("z", (2, 3))
    m.tensor("y", (2, 3))
    m.tensor("w", (2, 3))
    m.operator("SELECT_V2", ["c", "x", "z"], ["y"])
    m.operator("SELECT", ["row", "x", "z"], ["w"])
    m.output("y", "w")
    m.write()


@case
def fourier(name):
    m = Model(name)
    m.input("x", (3, 1, 12))
    m.constant("length", (1, 16), "int32")
    m.tensor("f", (3, 1, 9), "complex64")
    m.operator("RFFT2D", ["x", "length"], ["f"], {}, "Rfft2d")
    m.tensor("abs", (3, 1, 9))
    m.operator("COMPLEX_ABS", ["f"], ["abs"])
    m.tensor("real", (3, 1, 9))
    m.operator("REAL", ["f"], ["real"])
    m.tensor("imaginary", (3, 1, 9))
    m.operator("IMAG", ["f"], ["imaginary"])
    m.output("abs", "real", "imaginary")
    m.write()


@case
def batch_matmul(name):
    for turn in (False, True):
        m = Model(f"{name}-{int(turn)}")
        m.input("a", (2, 1, 5, 4) if turn else (2, 1, 4, 5))
        m.input("b", (3, 6, 5) if turn else (3, 5, 6))
        m.tensor("y", (2, 3, 4, 6))
        m.operator("BATCH_MATMUL", ["a", "b"], ["y"], {"adjX": turn, "adjY": turn}, "BatchMatMul")
        m.output("y")
        m.write()


@case
def image_chain(name):
    """Operators between images: padding, concatenation of channels, a mean, a scale of the channels."""
    m = Model(name)
    m.input("x", (1, 6, 6, 4))
    m.weights("w1", (8, 3, 3, 4))
    m.constant("b1", np.zeros(8))
    m.tensor("c1", (1, 6, 6, 8))
    options = {"padding": 0, "strideW": 1, "strideH": 1, "fusedActivationFunction": 1}
    m.operator("CONV_2D", ["x", "w1", "b1"], ["c1"], options, "Conv2D")
    m.constant("pads", [[0, 0], [1, 0], [0, 1], [0, 0]], "int32")
    m.tensor("p", (1, 7, 7, 8))
    m.operator("PAD", ["c1", "pads"], ["p"], {}, "Pad")
    m.constant("axes", (1, 2), "int32")
    m.tensor("mean", (1, 1, 1, 8))
    m.operator("MEAN", ["p", "axes"], ["mean"], {"keepDims": True}, "Reducer")
    m.tensor("gate", (1, 1, 1, 8))
    m.operator("LOGISTIC", ["mean"], ["gate"])
    m.tensor("g", (1, 7, 7, 8))
    m.operator("MUL", ["p", "gate"], ["g"], {}, "Mul")
    m.constant("k", np.linspace(-1, 1, 8))
    m.tensor("h", (1, 7, 7, 8))
    m.operator("ADD", ["g", "k"], ["h"], {"fusedActivationFunction": 3}, "Add")
    m.tensor("joined", (1, 7, 7, 16))
    m.operator("CONCATENATION", ["h", "p"], ["joined"], {"axis": 3}, "Concatenation")
    m.weights("w2", (1, 3, 3, 16))
    m.constant("b2", np.ones(16))
    m.tensor("c2", (1, 4, 4, 16))
    m.operator("DEPTHWISE_CONV_2D", ["joined", "w2", "b2"], ["c2"],
               {"padding": 0, "strideW": 2, "strideH": 2, "depthMultiplier": 1}, "DepthwiseConv2D")
    m.tensor("flat", (1, 256))
    m.constant("shape", (1, -1), "int32")
    m.operator("RESHAPE", ["c2", "shape"], ["flat"])
    m.output("flat", "mean")
    m.write()


# -- graphs that are called, variables, recurrence ---------------------------------------------------------------


def chain(m, *steps):
    """Operators one after the other; a step: code, inputs, output, its shape and type, options, their kind."""
    for code, inputs, output, shape, dtype, *how in steps:
        m.tensor(output, shape, dtype)
        m.operator(code, inputs, [output], *how)


def branches(m, shape=(2, 3)):
    """Two graphs of one input: three times it and a half, and its square."""
    graphs = []
    for code in ("MUL", "SQUARE"):
        graphs.append(m.begin())
        m.argument("a", shape)
        if code == "MUL":
            m.constant("three", [3.0])
            m.constant("half", [0.5])
            chain(m, ("MUL", ["a", "three"], "b", shape, "float32", {}, "Mul"),
                  ("ADD", ["b", "half"], "c", shape, "float32", {}, "Add"))
        else:
            chain(m, ("SQUARE", ["a"], "c", shape, "float32"))
        m.output("c")
        m.end()
    return graphs


def conditional(name, given, constant=False):
    m = Model(name)
    m.input("x", (2, 3))
    if constant:
        m.constant("condition", given, "bool")
    else:
        m.input("condition", (), "bool", data=given)
    then, other = branches(m)
    m.tensor("y", (2, 3))
    m.operator("IF", ["condition", "x"], ["y"], {"thenSubgraphIndex": then, "elseSubgraphIndex": other}, "If")
    m.output("y")
    m.write()


def pick_rows(m, start, size, axis=0):
    """A graph of a [4, 3] that gives some of its rows or columns."""
    graph = m.begin()
    m.argument("a", (4, 3))
    m.constant("start", (start, 0) if axis == 0 else (0, start), "int32")
    m.constant("size", (size, 3) if axis == 0 else (4, size), "int32")
    chain(m, ("SLICE", ["a", "start", "size"], "b", (size, 3) if axis == 0 else (4, size), "float32", {}, "Slice"),
          ("SQUARE", ["b"], "c", (size, 3) if axis == 0 else (4, size), "float32"))
    m.output("c")
    m.end()
    return graph


def sized(name, given, *steps, axis=0, least=1, condition=(1,)):
    """Branches with different output sizes, and operators that read their results."""
    m = Model(name)
    m.input("x", (4, 3))
    m.input("condition", condition, "bool", data=np.full(condition, given))
    then, other = pick_rows(m, 0, 3, axis), pick_rows(m, 2, least, axis)
    m.tensor("y", (3, 3) if axis == 0 else (4, 3))
    m.operator("IF", ["condition", "x"], ["y"], {"thenSubgraphIndex": then, "elseSubgraphIndex": other}, "If")
    m.constant("axis", [axis], "int32")
    m.constant("weights", m.random.normal(size=(1, 3)))
    m.constant("order", (1, 0), "int32")
    m.constant("regroup", (1, -1, 3), "int32")
    chain(m, *steps)
    m.output(steps[-1][2] if steps else "y")
    if len(steps) > 1:
        m.output("y")
    m.write()


def add_sized():
    rows = [("alone",), ("columns",),
            ("mean", ("MEAN", ["y", "axis"], "m", (3,), "float32", {"keepDims": False}, "Reducer")),
            ("chain", ("MUL", ["y", "weights"], "p", (3, 3), "float32", {}, "Mul"),
             ("TRANSPOSE", ["p", "order"], "t", (3, 3), "float32"), ("EXPAND_DIMS", ["t", "axis"], "e", (1, 3, 3), "float32")),
            ("shape", ("SHAPE", ["y"], "n", (2,), "int32", {"outType": 2}, "Shape")),
            ("again", ("SHAPE", ["y"], "n", (2,), "int32", {"outType": 2}, "Shape"), ("NEG", ["y"], "o", (3, 3), "float32"),
             ("RESHAPE", ["o", "n"], "r", (3, 3), "float32")),
            ("reshape", ("RESHAPE", ["y", "regroup"], "r", (1, 3, 3), "float32"),
             ("SOFTMAX", ["r"], "s", (1, 3, 3), "float32", {"beta": 1.0}, "Softmax"))]
    for word, *steps in rows:
        for given in (True, False):
            CASES[f"control-if-sized-{word}-{'then' if given else 'else'}"] = (
                lambda name, given=given, word=word, steps=steps:
                sized(name, given, *steps, axis=int(word == "columns")))
    CASES["control-if-sized-nothing"] = lambda name: sized(name, True, least=0, condition=(1, 1))  # LiteRT gives no empty one


def loop(name, rounds, given):
    """i < rounds: x = x * 0.9 + 0.1, i = i + 1; `given`: rounds is an input."""
    m = Model(name)
    m.input("x", (4,))
    m.input("n", (), "int32", data=rounds) if given else m.constant("n", rounds, "int32")
    m.constant("zero", 0, "int32")
    condition = m.begin()
    for argument, shape, dtype in (("i", (), "int32"), ("n", (), "int32"), ("x", (4,), "float32")):
        m.argument(argument, shape, dtype)
    chain(m, ("LESS", ["i", "n"], "goes", (), "bool", {}, "Less"))
    m.output("goes")
    m.end()
    body = m.begin()
    for argument, shape, dtype in (("i", (), "int32"), ("n", (), "int32"), ("x", (4,), "float32")):
        m.argument(argument, shape, dtype)
    m.constant("one", 1, "int32")
    m.constant("k", [0.9])
    m.constant("b", [0.1])
    chain(m, ("ADD", ["i", "one"], "j", (), "int32", {}, "Add"), ("MUL", ["x", "k"], "z", (4,), "float32", {}, "Mul"),
          ("ADD", ["z", "b"], "y", (4,), "float32", {}, "Add"))
    m.output("j", "n", "y")
    m.end()
    m.tensor("i_end", (), "int32")
    m.tensor("n_end", (), "int32")
    m.tensor("y", (4,))
    m.operator("WHILE", ["zero", "n", "x"], ["i_end", "n_end", "y"],
               {"condSubgraphIndex": condition, "bodySubgraphIndex": body}, "While")
    m.output("i_end", "y")
    m.write()


@case
def control_if_within_while(name):
    """x is halved while it is large, else 5 is added; the rounds come from the input's first element."""
    m = Model(name)
    m.input("x", (2,), data=[9.0, 1.0])
    m.input("n", (), "int32", data=4)
    graphs = []
    for code, kind, number in (("MUL", "Mul", 0.5), ("ADD", "Add", 5.0)):
        graphs.append(m.begin())
        m.argument("a", (2,))
        m.constant("k", [number])
        chain(m, (code, ["a", "k"], "c", (2,), "float32", {}, kind))
        m.output("c")
        m.end()
    condition = m.begin()
    m.argument("n", (), "int32")
    m.argument("x", (2,))
    m.constant("zero", 0, "int32")
    chain(m, ("GREATER", ["n", "zero"], "goes", (), "bool", {}, "Greater"))
    m.output("goes")
    m.end()
    body = m.begin()
    m.argument("n", (), "int32")
    m.argument("x", (2,))
    m.constant("one", 1, "int32")
    m.constant("axis", [0], "int32")
    m.constant("limit", 4.0)
    chain(m, ("SUB", ["n", "one"], "m", (), "int32", {}, "Sub"),
          ("REDUCE_MAX", ["x", "axis"], "most", (), "float32", {"keepDims": False}, "Reducer"),
          ("GREATER", ["most", "limit"], "large", (), "bool", {}, "Greater"),
          ("IF", ["large", "x"], "y", (2,), "float32",
           {"thenSubgraphIndex": graphs[0], "elseSubgraphIndex": graphs[1]}, "If"))
    m.output("m", "y")
    m.end()
    m.tensor("left", (), "int32")
    m.tensor("y", (2,))
    m.operator("WHILE", ["n", "x"], ["left", "y"], {"condSubgraphIndex": condition, "bodySubgraphIndex": body}, "While")
    m.output("y")
    m.write()


@case
def control_while_vector(name):
    """The condition is a list of one; x is halved n times."""
    m = Model(name)
    m.input("n", (1,), "int32", data=[3])
    m.input("x", (4,))
    graphs = []
    for is_body in (False, True):
        graphs.append(m.begin())
        m.argument("n", (1,), "int32")
        m.argument("x", (4,))
        m.constant("bound", [1 if is_body else 0], "int32")
        if is_body:
            m.constant("half", [0.5])
            chain(m, ("SUB", ["n", "bound"], "m", (1,), "int32", {}, "Sub"),
                  ("MUL", ["x", "half"], "y", (4,), "float32", {}, "Mul"))
            m.output("m", "y")
        else:
            chain(m, ("GREATER", ["n", "bound"], "goes", (1,), "bool", {}, "Greater"))
            m.output("goes")
        m.end()
    m.tensor("left", (1,), "int32")
    m.tensor("y", (4,))
    m.operator("WHILE", ["n", "x"], ["left", "y"], {"condSubgraphIndex": graphs[0], "bodySubgraphIndex": graphs[1]}, "While")
    m.output("left", "y")
    m.write()


def while_variable(name, given):
    """x is multiplied n times by a variable, whose handle goes round with it."""
    m = Model(name)
    m.input("x", (4,))
    m.input("n", (), "int32", data=3) if given else m.constant("n", 3, "int32")
    initialise(m, "box", gain=[0.5])
    handle(m, "gain", "box")
    graphs = []
    for is_body in (False, True):
        graphs.append(m.begin())
        m.argument("gain", (), "resource")
        m.argument("n", (), "int32")
        m.argument("x", (4,))
        m.constant("bound", 1 if is_body else 0, "int32")
        if is_body:
            m.tensor("k", (1,))
            m.operator("READ_VARIABLE", ["gain"], ["k"], {}, "ReadVariable")
            chain(m, ("SUB", ["n", "bound"], "m", (), "int32", {}, "Sub"),
                  ("MUL", ["x", "k"], "y", (4,), "float32", {}, "Mul"))
            m.output("gain", "m", "y")
        else:
            chain(m, ("GREATER", ["n", "bound"], "goes", (), "bool", {}, "Greater"))
            m.output("goes")
        m.end()
    m.tensor("gain_end", (), "resource")
    m.tensor("left", (), "int32")
    m.tensor("y", (4,))
    m.operator("WHILE", ["gain", "n", "x"], ["gain_end", "left", "y"],
               {"condSubgraphIndex": graphs[0], "bodySubgraphIndex": graphs[1]}, "While")
    m.output("y")
    m.write()


def if_variable(name, constant):
    """A branch returns the variable's handle in addition to its result; after the IF the variable is read through that handle."""
    m = Model(name)
    m.input("x", (2, 3))
    m.constant("condition", True, "bool") if constant else m.input("condition", (), "bool", data=True)
    initialise(m, "box", gain=[3.0])
    handle(m, "gain", "box")
    graphs = []
    for code in ("ABS", "NEG"):
        graphs.append(m.begin())
        m.argument("gain", (), "resource")
        m.argument("a", (2, 3))
        chain(m, (code, ["a"], "b", (2, 3), "float32"))
        m.output("gain", "b")
        m.end()
    m.tensor("same", (), "resource")
    m.tensor("z", (2, 3))
    m.operator("IF", ["condition", "gain", "x"], ["same", "z"],
               {"thenSubgraphIndex": graphs[0], "elseSubgraphIndex": graphs[1]}, "If")
    m.tensor("k", (1,))
    m.operator("READ_VARIABLE", ["same"], ["k"], {}, "ReadVariable")
    chain(m, ("MUL", ["z", "k"], "y", (2, 3), "float32", {}, "Mul"))
    m.output("y")
    m.write()


@case
def image_called(name):
    """An image goes into a branch and comes out of it."""
    m = Model(name)
    m.input("x", (1, 4, 4, 2))
    m.input("condition", (), "bool", data=True)
    m.constant("size", [2, 2], "int32")
    chain(m, ("RESIZE_NEAREST_NEIGHBOR", ["x", "size"], "small", (1, 2, 2, 2), "float32", {}, "ResizeNearestNeighbor"))
    graph = m.begin()
    m.argument("a", (1, 2, 2, 2))
    m.constant("size", [4, 4], "int32")
    chain(m, ("RESIZE_NEAREST_NEIGHBOR", ["a", "size"], "b", (1, 4, 4, 2), "float32", {}, "ResizeNearestNeighbor"))
    m.output("b")
    m.end()
    m.tensor("y", (1, 4, 4, 2))
    m.operator("IF", ["condition", "small"], ["y"], {"thenSubgraphIndex": graph, "elseSubgraphIndex": graph}, "If")
    m.output("y")
    m.write()


@case
def image_normalised(name):
    """LiteRT's reference kernel leaves the last element of the window out, its fast one is TensorFlow's."""
    m = Model(name)
    m.resolver = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    m.input("x", (1, 2, 3, 8))
    chain(m, ("LOCAL_RESPONSE_NORMALIZATION", ["x"], "y", (1, 2, 3, 8), "float32",
              {"radius": 2, "bias": 1.5, "alpha": 0.3, "beta": 0.5}, "LocalResponseNormalization"))
    m.output("y")
    m.write()


def initialise(m, container="", **content):
    """CALL_ONCE of a graph that assigns the variables."""
    graph = m.begin()
    for shared, data in content.items():
        m.tensor(f"{shared}_handle", (), "resource")
        m.operator("VAR_HANDLE", [], [f"{shared}_handle"], {"container": container, "sharedName": shared}, "VarHandle")
        m.constant(f"{shared}_begin", data)
        m.operator("ASSIGN_VARIABLE", [f"{shared}_handle", f"{shared}_begin"], [], {}, "AssignVariable")
    m.end()
    m.operator("CALL_ONCE", [], [], {"initSubgraphIndex": graph}, "CallOnce")


def handle(m, shared, container=""):
    m.tensor(shared, (), "resource")
    m.operator("VAR_HANDLE", [], [shared], {"container": container, "sharedName": shared}, "VarHandle")
    return shared


def filled_table(m, number, keys, values):
    """The handle of a table that CALL_ONCE fills; the reference kernels lack tables."""
    m.resolver = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    kinds = ["string" if isinstance(of[0], str) else "int64" for of in (keys, values)]
    options = {"tableId": number, "keyDtype": TYPES[kinds[0]], "valueDtype": TYPES[kinds[1]]}
    graph = m.begin()
    m.tensor("handle", (1,), "resource")
    m.operator("HASHTABLE", [], ["handle"], options, "Hashtable")
    m.constant("keys", keys, kinds[0])
    m.constant("values", values, kinds[1])
    m.operator("HASHTABLE_IMPORT", ["handle", "keys", "values"], [], {}, "HashtableImport")
    m.end()
    m.operator("CALL_ONCE", [], [], {"initSubgraphIndex": graph}, "CallOnce")
    m.tensor(f"table{number}", (1,), "resource")
    m.operator("HASHTABLE", [], [f"table{number}"], options, "Hashtable")
    return f"table{number}"


WORDS = ["yes", "no", "", "wörter", "no", "a much longer word that is a key", "n"]


@case
def table_numbers(name):
    """Of strings: one stands twice in the table (the first one counts), some not at all."""
    m = Model(name)
    m.input("x", (2, 4), "string", data=[["no", "yes", "nn", ""], ["wörter", "n", "No", "a much longer word that is a key"]])
    filled_table(m, 3, WORDS, [7, -2, 5, 1 << 40, 9, 0, 4])
    m.constant("none", [-1], "int64")
    chain(m, ("HASHTABLE_FIND", ["table3", "x", "none"], "y", (2, 4), "int64", {}, "HashtableFind"),
          ("HASHTABLE_SIZE", ["table3"], "size", (1,), "int64", {}, "HashtableSize"))
    m.output("y", "size")
    m.write()


@case
def table_words(name):
    """Two tables: of numbers, whose strings are asked for in the other one."""
    m = Model(name)
    m.input("x", (5,), "int64", data=[3, -4, 0, 1 << 33, 7])
    filled_table(m, 0, [1 << 33, 3, 3, -4], ["no", "wörter", "yes", ""])
    filled_table(m, 1, WORDS, [7, -2, 5, 1, 9, 0, 4])
    m.constant("other", ["?"], "string")
    m.constant("none", [-1], "int64")
    chain(m, ("HASHTABLE_FIND", ["table0", "x", "other"], "word", (5,), "string", {}, "HashtableFind"),
          ("HASHTABLE_FIND", ["table1", "word", "none"], "y", (5,), "int64", {}, "HashtableFind"),
          ("HASHTABLE_SIZE", ["table0"], "size", (1,), "int64", {}, "HashtableSize"))
    m.output("word", "y", "size")
    m.write()


def text_case(word, code, given, out, dtype, options=None, kind=None, data=(("one", "", "three"), ("ü", "five", "one"))):
    """One operator on strings; given: constant operands after it."""
    def build(name):
        m = Model(name)
        names = [m.input("x", np.shape(data), "string", data=data)]
        for k, (content, of) in enumerate(given):
            names.append(m.constant(f"c{k}", content, of))
        chain(m, (code, names, "y", out, dtype, options, kind))
        m.output("y")
        m.write()
    CASES[f"text-{word}"] = build


def add_text():
    text_case("reshape", "RESHAPE", [([3, 2], "int32")], (3, 2), "string")
    text_case("expand", "EXPAND_DIMS", [(1, "int32")], (2, 1, 3), "string")
    text_case("gather", "GATHER", [([2, 0, 2, 1], "int32")], (4,), "string", {"axis": 0}, "Gather", ["one", "", "ü"])
    text_case("gather-nd", "GATHER_ND", [([[1, 2], [0, 0]], "int32")], (2,), "string")
    text_case("slice", "SLICE", [([0, 1], "int32"), ([2, 2], "int32")], (2, 2), "string")
    text_case("strided-slice", "STRIDED_SLICE", [([1, 0], "int32"), ([2, 3], "int32"), ([1, 2], "int32")], (1, 2), "string",
              {}, "StridedSlice")
    text_case("equal", "EQUAL", [(["one", "", "four"], "string")], (2, 3), "bool")
    text_case("not-equal", "NOT_EQUAL", [(["one"], "string")], (2, 3), "bool")
    text_case("shape", "SHAPE", [], (2,), "int32", {"outType": 2}, "Shape")


@case
def variable_sum(name):
    """What was seen so far is kept and given out; a gain is read and never assigned again."""
    m = Model(name)
    m.again = True
    m.input("x", (1, 3))
    initialise(m, total=[[1.0, 2.0, 3.0]], gain=[2.0])
    handle(m, "total"), handle(m, "gain")
    for shared, shape in (("total", (1, 3)), ("gain", (1,))):
        m.tensor(f"{shared}_read", shape)
        m.operator("READ_VARIABLE", [shared], [f"{shared}_read"], {}, "ReadVariable")
    chain(m, ("MUL", ["x", "gain_read"], "scaled", (1, 3), "float32", {}, "Mul"),
          ("ADD", ["scaled", "total_read"], "y", (1, 3), "float32", {}, "Add"))
    m.operator("ASSIGN_VARIABLE", ["total", "y"], [], {}, "AssignVariable")
    m.output("y")
    m.write()


@case
def variable_ring(name):
    """A window over the latest frames: the oldest goes, the new one comes, and all of them are averaged."""
    m = Model(name)
    m.again = True
    m.input("x", (1, 1, 4))
    initialise(m, frames=np.linspace(-1, 1, 12).reshape(1, 3, 4))
    handle(m, "frames")
    m.tensor("old", (1, 3, 4))
    m.operator("READ_VARIABLE", ["frames"], ["old"], {}, "ReadVariable")
    m.constant("begin", [0, 1, 0], "int32")
    m.constant("size", [1, 2, 4], "int32")
    m.constant("axis", [1], "int32")
    m.tensor("kept", (1, 2, 4))
    m.operator("SLICE", ["old", "begin", "size"], ["kept"], {}, "Slice")
    m.tensor("now", (1, 3, 4))
    m.operator("CONCATENATION", ["kept", "x"], ["now"], {"axis": 1}, "Concatenation")
    m.operator("ASSIGN_VARIABLE", ["frames", "now"], [], {}, "AssignVariable")
    m.tensor("y", (1, 4))
    m.operator("MEAN", ["now", "axis"], ["y"], {"keepDims": False}, "Reducer")
    m.output("y")
    m.write()


def variable_branches(name, given):
    """One branch adds to a variable that it is handed, the other one assigns another variable, by a handle of its own."""
    m = Model(name)
    m.again = True
    shape = (1, 3)
    m.input("x", shape)
    m.input("c", (), "bool", data=given)
    initialise(m, total=[[1.0, 2.0, 3.0]], last=[[0.5, 0.25, 0.125]])
    handle(m, "total"), handle(m, "last")
    graphs = []
    for adds in (True, False):
        graphs.append(m.begin())
        m.argument("sum", (), "resource")
        m.argument("a", shape)
        m.tensor("b", shape)
        if adds:
            m.tensor("old", shape)
            m.operator("READ_VARIABLE", ["sum"], ["old"], {}, "ReadVariable")
            m.operator("ADD", ["old", "a"], ["b"], {}, "Add")
            m.operator("ASSIGN_VARIABLE", ["sum", "b"], [], {}, "AssignVariable")
        else:
            handle(m, "last")
            m.operator("SQUARE", ["a"], ["b"])
            m.operator("ASSIGN_VARIABLE", ["last", "b"], [], {}, "AssignVariable")
        m.output("b")
        m.end()
    chain(m, ("IF", ["c", "total", "x"], "y", shape, "float32",
              {"thenSubgraphIndex": graphs[0], "elseSubgraphIndex": graphs[1]}, "If"))
    for shared in ("total", "last"):
        m.tensor(f"{shared}_read", shape)
        m.operator("READ_VARIABLE", [shared], [f"{shared}_read"], {}, "ReadVariable")
    chain(m, ("SUB", ["total_read", "last_read"], "z", shape, "float32", {}, "Sub"))
    m.output("y", "z")
    m.write()


def lstm(name, code="UNIDIRECTIONAL_SEQUENCE_LSTM", major=False, coupled=False, peephole=False, batch=2, time=5,
         features=3, units=4):
    m = Model(name)
    m.again = True
    step = code == "LSTM"
    m.input("x", (batch, features) if step else (time, batch, features) if major else (batch, time, features))
    gates = ("i", "f", "c", "o")
    here = [None if coupled and g == "i" else g for g in gates]
    inputs = ["x"] + [g and m.weights(f"w{g}", (units, features)) for g in here]
    inputs += [g and m.weights(f"r{g}", (units, units)) for g in here]
    inputs += [m.weights(f"p{g}", (units,)) if peephole else None for g in ("i", "f", "o")]
    inputs += [g and m.weights(f"b{g}", (units,)) for g in here] + [None, None]
    for state in ("h", "c"):
        inputs.append(m.tensor(f"state_{state}", (batch, units), variable=True))
    inputs += [None] * 4
    m.tensor("y", (batch, units) if step else (time, batch, units) if major else (batch, time, units))
    options = {"fusedActivationFunction": 4}
    if step:
        m.operator(code, inputs[:20], ["y"], options, "LSTM")
    else:
        m.operator(code, inputs, ["y"], {**options, "timeMajor": major}, "UnidirectionalSequenceLSTM")
    m.output("y")
    m.write()


def special_lstm(name, code="UNIDIRECTIONAL_SEQUENCE_LSTM", major=False, coupled=False, peephole=False, norm=False, outputs=0,
                 bias=False, clip=0.0, projection_clip=0.0, batch=2, time=5, features=3, units=4):
    """With a projection to `outputs`, layer normalisation, clipped values."""
    m = Model(name)
    m.again = True
    step = code == "LSTM"
    m.input("x", (batch, features) if step else (time, batch, features) if major else (batch, time, features))
    here = [None if coupled and g == "i" else g for g in ("i", "f", "c", "o")]
    width = outputs or units
    inputs = ["x"] + [g and m.weights(f"w{g}", (units, features)) for g in here]
    inputs += [g and m.weights(f"r{g}", (units, width)) for g in here]
    inputs += [m.weights(f"p{g}", (units,)) if peephole else None for g in ("i", "f", "o")]
    inputs += [g and m.weights(f"b{g}", (units,)) for g in here]
    inputs += [m.weights("projection", (outputs, units)) if outputs else None,
               m.weights("projection_bias", (outputs,)) if bias else None]
    for state, size in (("h", width), ("c", units)):
        inputs.append(m.tensor(f"state_{state}", (batch, size), variable=True))
    inputs += [m.constant(f"n{g}", m.random.uniform(0.3, 1, units)) if norm and g else None for g in here]
    m.tensor("y", (batch, width) if step else (time, batch, width) if major else (batch, time, width))
    options = {"fusedActivationFunction": 4, "cellClip": clip, "projClip": projection_clip}
    if step:
        m.operator(code, inputs, ["y"], options, "LSTM")
    else:
        m.operator(code, inputs, ["y"], {**options, "timeMajor": major}, "UnidirectionalSequenceLSTM")
    m.output("y")
    m.write()


def byte_lstm(name, code="UNIDIRECTIONAL_SEQUENCE_LSTM", major=False, coupled=False, outputs=0, clip=0.0,
              projection_clip=0.0, batch=2, time=5, features=7, units=6, cell=11, hidden=(0.007, 0), peephole=False, norm=False):
    m = Model(name)
    m.again = True
    step = code == "LSTM"
    m.input("x", (batch, features) if step else (time, batch, features) if major else (batch, time, features), "int8",
            (0.031, -9))
    here = [None if coupled and g == "i" else g for g in ("i", "f", "c", "o")]
    width = outputs or units
    scales = dict(zip("ifco", (0.006, 0.009, 0.011, 0.007)))
    inputs = ["x"] + [g and m.weights(f"w{g}", (units, features), "int8", (scales[g], 0)) for g in here]
    inputs += [g and m.weights(f"r{g}", (units, width), "int8", (scales[g] * 0.8, 0)) for g in here]
    inputs += [m.constant(f"p{g}", m.random.integers(-32767, 32768, units), "int16", (3e-5, 0))
               if peephole and not (coupled and g == "i") else None for g in ("i", "f", "o")]
    most = 200000 if norm else 2000
    inputs += [g and m.constant(f"b{g}", m.random.integers(-most, most, units), "int32",
                                (3e-5 / 1024 if norm else 0.031 * scales[g], 0)) for g in here]
    inputs += [m.weights("projection", (outputs, units), "int8", (0.008, 0)) if outputs else None,
               m.constant("projection_bias", m.random.integers(-500, 500, outputs), "int32", (0.008 * 0.007, 0))
               if outputs else None]
    state = (0.0075, 5) if outputs else hidden
    inputs.append(m.tensor("state_h", (batch, width), "int8", state, variable=True))
    inputs.append(m.tensor("state_c", (batch, units), "int16", (2.0 ** -cell, 0), variable=True))
    inputs += [m.constant(f"n{g}", m.random.integers(8000, 32768, units), "int16", (3e-5, 0)) if norm and g else None
               for g in here]
    m.tensor("y", (batch, width) if step else (time, batch, width) if major else (batch, time, width), "int8", state)
    between = [m.tensor(f"between_{k}", (), "int16" if norm else "float32", (0.00007 * (k + 3) if norm else 2.0 ** -12, 0))
               for k in range(4)]
    between.append(m.tensor("between_4", (), "int8", hidden))
    options = {"fusedActivationFunction": 4, "cellClip": clip, "projClip": projection_clip}
    if not step:
        options["timeMajor"] = major
    m.operator(code, inputs, ["y"], options, "LSTM" if step else "UnidirectionalSequenceLSTM", between)
    m.output("y")
    m.write()


def detections(name, stored="float32", background=1, each=1, anchors=60, classes=5, most=10, **options):
    """Boxes by their anchors, sometimes many on one place."""
    m = Model(name)
    random = m.random
    quants = ((0.04, 128), (1 / 256, 0)) if stored == "uint8" else (None, None)
    spread = random.integers(0, 256, (1, anchors, 4)) if stored == "uint8" else random.normal(0, 1.5, (1, anchors, 4))
    scores = random.permutation(anchors * (classes + background)).reshape(1, anchors, classes + background)
    m.input("encodings", (1, anchors, 4), stored, quants[0], data=spread)
    m.input("predictions", scores.shape, stored, quants[1],
            data=scores % 256 if stored == "uint8" else scores / scores.size)
    places = np.concatenate([random.uniform(0.2, 0.8, (anchors, 2)), random.uniform(0.1, 0.5, (anchors, 2))], 1)
    if stored == "uint8":
        m.constant("anchors", np.round(places * 255), "uint8", (1 / 255, 0))
    else:
        m.constant("anchors", places)
    shapes = {"boxes": (1, most * each, 4), "classes": (1, most * each), "scores": (1, most * each), "count": (1,)}
    for output, shape in shapes.items():
        m.tensor(output, shape)
    m.custom("TFLite_Detection_PostProcess", ["encodings", "predictions", "anchors"], list(shapes),
             {"max_detections": most, "max_classes_per_detection": each, "num_classes": classes, "nms_iou_threshold": 0.5,
              "nms_score_threshold": 1e-8, "y_scale": 10.0, "x_scale": 10.0, "h_scale": 5.0, "w_scale": 5.0, **options})
    m.output(*shapes)
    m.write()


def add_detections():
    family("detections", [
        ("fast", detections), ("plain-classes", lambda n: detections(n, background=0)),
        ("two-classes", lambda n: detections(n, each=2)), ("wide", lambda n: detections(n, h_scale=2.5, w_scale=2.0)),
        ("regular", lambda n: detections(n, use_regular_nms=True, detections_per_class=4)),
        ("regular-few", lambda n: detections(n, use_regular_nms=True, most=30, nms_score_threshold=0.93)),
        ("bytes", lambda n: detections(n, stored="uint8", anchors=25, classes=3)),
    ])


def add_cells():
    family("cell", [
        ("projection", lambda n: special_lstm(n, outputs=3)),
        ("projection-bias", lambda n: special_lstm(n, outputs=3, bias=True, major=True)),
        ("projection-clip", lambda n: special_lstm(n, outputs=3, projection_clip=0.1)),
        ("clip", lambda n: special_lstm(n, clip=0.2, peephole=True)),
        ("norm", lambda n: special_lstm(n, norm=True)),
        ("norm-coupled", lambda n: special_lstm(n, norm=True, coupled=True)),
        ("norm-all", lambda n: special_lstm(n, norm=True, peephole=True, outputs=3, bias=True, clip=0.5,
                                            projection_clip=0.6)),
        ("long", lambda n: special_lstm(n, outputs=3, clip=0.6, time=40)),
        ("step", lambda n: special_lstm(n, code="LSTM", outputs=5)),
    ])
    family("bytes-lstm", [
        ("batch-major", byte_lstm), ("time-major", lambda n: byte_lstm(n, major=True)),
        ("coupled", lambda n: byte_lstm(n, coupled=True)), ("clip", lambda n: byte_lstm(n, clip=0.3)),
        ("projection", lambda n: byte_lstm(n, outputs=4)),
        ("projection-clip", lambda n: byte_lstm(n, outputs=4, projection_clip=0.2, hidden=(0.007, 3))),
        ("hidden-zero", lambda n: byte_lstm(n, hidden=(0.0078, -4))), ("cell-15", lambda n: byte_lstm(n, cell=15)),
        ("cell-9", lambda n: byte_lstm(n, cell=9)), ("long", lambda n: byte_lstm(n, time=40)),
        ("step", lambda n: byte_lstm(n, code="LSTM")), ("peephole", lambda n: byte_lstm(n, peephole=True)),
        ("norm", lambda n: byte_lstm(n, norm=True)), ("norm-wide", lambda n: byte_lstm(n, norm=True, units=16, time=9)),
        ("norm-coupled", lambda n: byte_lstm(n, norm=True, coupled=True, peephole=True)),
        ("norm-all", lambda n: byte_lstm(n, norm=True, outputs=4, clip=0.4, major=True)),
    ])


def quotient(name, dtype, act=0, scales=((0.05, 3), (0.031, -9), (0.06, 5))):
    """Every pair of bytes whose divisor is not zero and whose dividend is not near it: there the kernel shifts by more than 31
    bits, which C leaves open."""
    m = Model(name)
    if dtype == "uint8":
        scales = tuple((scale, zero + 128) for scale, zero in scales)
    info = np.iinfo(dtype)
    every = np.arange(info.min, info.max + 1)
    large = every[abs(every - scales[0][1]) >= 8]
    m.input("x", (len(large), 1), dtype, scales[0], data=large[:, None])
    m.input("z", (1, 255), dtype, scales[1], data=every[every != scales[1][1]][None])
    m.tensor("y", (len(large), 255), dtype, scales[2])
    m.operator("DIV", ["x", "z"], ["y"], {"fusedActivationFunction": act}, "Div")
    m.output("y")
    m.write()


def add_words():
    """Functions of 16-bit numbers, and of bytes by fixed-point roots and inverses."""
    some = np.concatenate([np.arange(-32768, 32768, 31), np.arange(-300, 300), [32767]])
    for word, code, scale, to, low in [
            ("logistic", "LOGISTIC", 2.0 ** -12, 2.0 ** -15, None), ("logistic-fine", "LOGISTIC", 0.0001, 2.0 ** -15, None),
            ("logistic-wide", "LOGISTIC", 0.0007, 2.0 ** -15, None), ("tanh", "TANH", 2.0 ** -12, 2.0 ** -15, None),
            ("tanh-twice", "TANH", 2.0 ** -11, 2.0 ** -15, None), ("tanh-fine", "TANH", 0.0001, 2.0 ** -15, None),
            ("exp", "EXP", 0.0001, 0.0008, None), ("log", "LOG", 0.001, 0.0004, None),
            ("rsqrt", "RSQRT", 0.01, 0.0003, 0), ("sqrt", "SQRT", 0.01, 0.0006, 0),
            ("abs", "ABS", 0.01, 0.02, None), ("abs-same", "ABS", 0.01, 0.01, None)]:
        data = some if low is None else some[some >= low]
        CASES[f"words-{word}"] = (lambda name, code=code, scale=scale, to=to, data=data: one(
            name, code, (1, len(data)), dtype="int16", quant=(scale, 0), out=(to, 0), data=data[None]))
    CASES["words-leaky"] = lambda name: one(name, "LEAKY_RELU", (1, len(some)), {"alpha": 0.23}, "LeakyRelu", dtype="int16",
                                            quant=(0.01, 0), out=(0.013, 0), data=some[None])
    for scale, beta in ((0.0005, 1.0), (0.00003, 2.0), (0.01, 1.0)):
        CASES[f"softmax-int16-{scale}"] = lambda name, scale=scale, beta=beta: one(
            name, "SOFTMAX", (7, 40), {"beta": beta}, "Softmax", dtype="int16", quant=(scale, 0), out=(1 / 32768, 0))
    CASES["softmax-int16-long"] = lambda name: one(name, "SOFTMAX", (2, 1000), {"beta": 1.0}, "Softmax", dtype="int16",
                                                   quant=(0.00001, 0), out=(1 / 32768, 0))
    for stride, same, size in ((1, True, (3, 2)), (2, False, (3, 2)), (1, False, (7, 9))):
        out = tuple(-(-n // stride) if same else (n - k) // stride + 1 for n, k in zip((7, 9), size))
        CASES[f"pool-average-int16-{stride}-{size[0]}"] = lambda name, stride=stride, same=same, size=size, out=out: one(
            name, "AVERAGE_POOL_2D", (2, 7, 9, 3), {
                "padding": 0 if same else 1, "strideW": stride, "strideH": stride, "filterWidth": size[1],
                "filterHeight": size[0], "fusedActivationFunction": stride % 2}, "Pool2D", dtype="int16",
            quant=(0.001, 0), out_shape=(2, *out, 3))
    for dtype, every, middle in (("int8", np.arange(-128, 128), 0), ("uint8", np.arange(256), 128)):
        low = int(every[0])
        if dtype == "int8":
            for word, scale, to, zero in (("", 0.02, 0.03, -128), ("-wide", 0.4, 0.001, -5), ("-zero", 0.05, 0.02, -128)):
                CASES[f"table-rsqrt-int8{word}"] = lambda name, scale=scale, to=to, zero=zero, every=every: one(
                    name, "RSQRT", (1, int((every >= zero).sum())), dtype="int8", quant=(scale, zero), out=(to, -128),
                    data=every[every >= zero][None])
            CASES["table-sqrt-int8"] = lambda name, every=every: one(
                name, "SQRT", (1, 256), dtype="int8", quant=(0.05, -128), out=(0.02, -128), data=every[None])
            for word, to in (("", (0.05, 3)), ("-other", (0.07, -100))):
                CASES[f"table-abs-int8{word}"] = lambda name, to=to, every=every: one(
                    name, "ABS", (1, 256), dtype="int8", quant=(0.05, 3), out=to, data=every[None])
        for depth in (1, 5, 300):
            CASES[f"l2-normalise-{dtype}-{depth}"] = lambda name, dtype=dtype, depth=depth, low=low, middle=middle: one(
                name, "L2_NORMALIZATION", (9, depth), {}, "L2Norm", dtype=dtype, quant=(0.05, low + 100),
                out=(1 / 128, middle))
        CASES[f"quotient-{dtype}"] = lambda name, dtype=dtype: quotient(name, dtype)
        CASES[f"quotient-{dtype}-relu"] = lambda name, dtype=dtype: quotient(
            name, dtype, 1, ((0.02, -3), (0.2, 100), (0.004, -128)))


def rnn(name, code="UNIDIRECTIONAL_SEQUENCE_RNN", major=False, activation=4, batch=2, time=5, features=3, units=4):
    m = Model(name)
    m.again = True
    step = code == "RNN"
    m.input("x", (batch, features) if step else (time, batch, features) if major else (batch, time, features))
    m.weights("w", (units, features))
    m.weights("r", (units, units))
    m.weights("b", (units,))
    m.tensor("state", (batch, units), variable=True)
    m.tensor("y", (batch, units) if step else (time, batch, units) if major else (batch, time, units))
    options = {"fusedActivationFunction": activation}
    m.operator(code, ["x", "w", "r", "b", "state"], ["y"], options if step else {**options, "timeMajor": major},
               "RNN" if step else "SequenceRNN")
    m.output("y")
    m.write()


def svdf(name, rank, bias, activation=0, batch=2, features=3, units=4, memory=5):
    m = Model(name)
    m.again = True
    m.input("x", (batch, features))
    m.weights("features", (units * rank, features))
    m.weights("times", (units * rank, memory))
    if bias:
        m.weights("b", (units,))
    m.tensor("state", (batch, units * rank * memory), variable=True)
    m.tensor("y", (batch, units))
    m.operator("SVDF", ["x", "features", "times", "b" if bias else None, "state"], ["y"],
               {"rank": rank, "fusedActivationFunction": activation}, "SVDF")
    m.output("y")
    m.write()


@case
def signature_two(name):
    """The first graph scales, the other one adds two inputs; each has a signature."""
    m = Model(name)
    m.input("x", (3,))
    m.constant("k", [2.0])
    chain(m, ("MUL", ["x", "k"], "y", (3,), "float32", {}, "Mul"))
    m.output("y")
    other = m.begin()
    m.argument("a", (2,))
    m.argument("b", (2,))
    chain(m, ("ADD", ["a", "b"], "c", (2,), "float32", {}, "Add"))
    m.output("c")
    m.end()
    m.signature("scale", 0, {"input": "x"}, {"scaled": "y"})
    m.signature("join", other, {"left": "a", "right": "b"}, {"total": "c"})
    m.write()


def add_called():
    family("control", [
        ("if-true", lambda n: conditional(n, True)), ("if-false", lambda n: conditional(n, False)),
        ("if-known", lambda n: conditional(n, False, constant=True)),
        ("while-known", lambda n: loop(n, 5, False)), ("while-many", lambda n: loop(n, 200, False)),
        ("while-given", lambda n: loop(n, 7, True)), ("while-never", lambda n: loop(n, 0, True)),
        ("while-variable-given", lambda n: while_variable(n, True)),
        ("while-variable-known", lambda n: while_variable(n, False)),
        ("if-variable-given", lambda n: if_variable(n, False)), ("if-variable-known", lambda n: if_variable(n, True)),
    ])
    family("variable-branches", [("then", lambda n: variable_branches(n, True)),
                                 ("else", lambda n: variable_branches(n, False))])
    family("lstm", [
        ("batch-major", lstm), ("time-major", lambda n: lstm(n, major=True)),
        ("coupled", lambda n: lstm(n, coupled=True)), ("peephole", lambda n: lstm(n, peephole=True)),
        ("step", lambda n: lstm(n, code="LSTM")), ("one", lambda n: lstm(n, batch=1, time=1)),
    ])
    family("rnn", [
        ("batch-major", rnn), ("time-major", lambda n: rnn(n, major=True)), ("relu", lambda n: rnn(n, activation=1)),
        ("step", lambda n: rnn(n, code="RNN")),
    ])
    family("svdf", [("rank-1", lambda n: svdf(n, 1, True)), ("rank-2", lambda n: svdf(n, 2, False)),
                    ("relu", lambda n: svdf(n, 1, True, activation=1))])

# -- operators that choose and place, volumes, sparse weights, composites ------------------------------------------


def listed(name, code, inputs, outputs, options=None, kind=None):
    """One operator; inputs: name, data, type and whether it is a constant; outputs: name, shape, type."""
    m = Model(name)
    names = []
    for word, data, dtype, constant in inputs:
        data = np.asarray(data, dtype)
        names.append(m.constant(word, data, dtype) if constant else m.input(word, data.shape, dtype, data=data))
    for word, shape, dtype in outputs:
        m.tensor(word, shape, dtype)
    m.operator(code, names, [word for word, _, _ in outputs], options, kind)
    m.output(*(word for word, _, _ in outputs))
    m.write()


def boxes(name, version, most=6, overlap=0.5, score=0.2, seed=3, sigma=0.0):
    random = np.random.default_rng(seed)
    corner, size = random.uniform(0, 1, (20, 2)), random.uniform(0.2, 0.6, (20, 2))
    inputs = [("boxes", np.concatenate([corner, corner + size], 1), "float32", False),
              ("scores", random.uniform(0, 1, 20), "float32", False), ("most", most, "int32", True),
              ("overlap", overlap, "float32", True), ("least", score, "float32", True)]
    outputs = [("chosen", (most,), "int32"), ("count", (), "int32")]
    if version == 5:
        inputs.append(("sigma", sigma, "float32", True))
        outputs.insert(1, ("kept", (most,), "float32"))
    listed(name, f"NON_MAX_SUPPRESSION_V{version}", inputs, outputs, {}, f"NonMaxSuppressionV{version}")


def update_slice(name, shape, block, start, constant=False):
    random = np.random.default_rng(5)
    listed(name, "DYNAMIC_UPDATE_SLICE",
           [("x", random.normal(size=shape), "float32", False), ("block", random.normal(size=block), "float32", False),
            ("start", start, "int32", constant)], [("y", shape, "float32")])


def segment(name, code, ids, count=None):
    random = np.random.default_rng(6)
    ids = np.asarray(ids)
    inputs = [("x", random.normal(size=(*ids.shape, 3)), "float32", False), ("ids", ids, "int32", count is None)]
    rows = ids.max() + 1 if count is None else count
    if count is not None:
        inputs.append(("count", count, "int32", True))
    kind = "".join(word.capitalize() for word in code.split("_"))
    listed(name, code, inputs, [("y", (rows, 3), "float32")], {}, kind)


def volume(name, same, stride, transposed=False, bias=True, act=0):
    m = Model(name)
    kernel, channels, units = (2, 3, 2), 3, 4
    options = {"padding": 0 if same else 1, "strideD": stride, "strideH": 1, "strideW": stride,
               "dilationDFactor": 1, "dilationHFactor": 1, "dilationWFactor": 1, "fusedActivationFunction": act}
    shape, strides = (4, 5, 6), (stride, 1, stride)
    if transposed:
        out = [n * s if same else (n - 1) * s + k for n, s, k in zip(shape, strides, kernel)]
        names = [m.constant("shape", (1, *out, units), "int32"), m.weights("w", (*kernel, units, channels)),
                 m.input("x", (1, *shape, channels))]
    else:
        out = [-(-n // s) if same else (n - k) // s + 1 for n, s, k in zip(shape, strides, kernel)]
        names = [m.input("x", (1, *shape, channels)), m.weights("w", (*kernel, channels, units))]
    if bias:
        names.append(m.weights("b", (units,)))
    m.tensor("y", (1, *out, units))
    m.operator("CONV_3D_TRANSPOSE" if transposed else "CONV_3D", names, ["y"], options, "Conv3D")
    m.output("y")
    m.write()


def sparse(name, dense, order, blocks=(), block_map=()):
    """A weight matrix stored by rows (or by rows of blocks), multiplied after DENSIFY."""
    m = Model(name)
    dense = np.asarray(dense, "float32")
    rows, columns = dense.shape
    m.input("x", (2, columns))
    high, wide = blocks or (1, 1)
    cells = dense.reshape(rows // high, high, columns // wide, wide).transpose(0, 2, 1, 3)
    full = np.abs(cells).sum((2, 3)) > 0
    segments = np.concatenate([[0], full.sum(1).cumsum()]).astype(np.int32)
    indices = np.concatenate([np.flatnonzero(row) for row in full]).astype(np.uint8)
    values = cells[full].ravel()
    m.tensor("stored", dense.shape, data=values)
    parameters = schema.SparsityParametersT()
    parameters.traversalOrder, parameters.blockMap = list(order), list(block_map)
    parameters.dimMetadata = []
    for k in range(2 + len(blocks)):
        level = schema.DimensionMetadataT()
        level.format, level.denseSize = 0, (rows // high, 0, *blocks)[k]
        if k == 1:
            level.format = 1
            level.arraySegmentsType, level.arrayIndicesType = 1, 3
            level.arraySegments, level.arrayIndices = schema.Int32VectorT(), schema.Uint8VectorT()
            level.arraySegments.values, level.arrayIndices.values = segments, indices
        parameters.dimMetadata.append(level)
    m.graph.tensors[m.index["stored"]].sparsity = parameters
    m.tensor("w", dense.shape)
    m.operator("DENSIFY", ["stored"], ["w"], {}, "Densify")
    m.tensor("y", (2, rows))
    m.operator("FULLY_CONNECTED", ["x", "w", None], ["y"], {}, "FullyConnected")
    m.output("y")
    m.write()


def sparse_rows():
    dense = np.random.default_rng(8).normal(size=(8, 8))
    return dense * (np.random.default_rng(9).uniform(size=(8, 8)) < 0.3)


def sparse_blocks():
    kept = np.random.default_rng(10).uniform(size=(4, 4)) < 0.4
    return np.random.default_rng(11).normal(size=(8, 8)) * np.kron(kept, np.ones((2, 2)))


@case
def composite(name):
    """x times 2 and plus 1, as a composite whose graph says so; between two other operators."""
    m = Model(name)
    m.input("x", (2, 3))
    chain(m, ("ABS", ["x"], "a", (2, 3), "float32"))
    inner = m.begin()
    m.argument("v", (2, 3))
    m.constant("two", [2.0])
    m.constant("one", [1.0])
    chain(m, ("MUL", ["v", "two"], "p", (2, 3), "float32", {}, "Mul"),
          ("ADD", ["p", "one"], "q", (2, 3), "float32", {}, "Add"))
    m.output("q")
    m.end()
    m.tensor("c", (2, 3))
    m.operator("STABLEHLO_COMPOSITE", ["a"], ["c"], {"name": "test.scale", "decompositionSubgraphIndex": inner,
                "compositeAttributes": np.frombuffer(b"\0\0\0\x24\1", np.uint8)},  # FlexBuffers: {}
               "StableHLOComposite")
    chain(m, ("NEG", ["c"], "y", (2, 3), "float32"))
    m.output("y")
    m.write()


def bidirectional_lstm(name, major=False, merge=True, peephole=False, batch=2, time=5, features=3, units=4):
    m = Model(name)
    m.again = True
    m.input("x", (time, batch, features) if major else (batch, time, features))
    inputs, gates = ["x"], ("i", "f", "c", "o")
    for d in ("f", "b"):
        inputs += [m.weights(f"{d}w{g}", (units, features)) for g in gates]
        inputs += [m.weights(f"{d}r{g}", (units, units)) for g in gates]
        inputs += [m.weights(f"{d}p{g}", (units,)) if peephole else None for g in ("i", "f", "o")]
        inputs += [m.weights(f"{d}b{g}", (units,)) for g in gates] + [None, None]
    for state in ("fh", "fc", "bh", "bc"):
        inputs.append(m.tensor(f"state_{state}", (batch, units), variable=True))
    inputs += [None] * 9
    wide = 2 * units if merge else units
    outputs = ["y"] if merge else ["y", "z"]
    for word in outputs:
        m.tensor(word, (time, batch, wide) if major else (batch, time, wide))
    m.operator("BIDIRECTIONAL_SEQUENCE_LSTM", inputs, outputs,
               {"fusedActivationFunction": 4, "mergeOutputs": merge, "timeMajor": major}, "BidirectionalSequenceLSTM")
    m.output(*outputs)
    m.write()


def bidirectional_rnn(name, major=False, merge=True, activation=4, batch=2, time=5, features=3, units=4):
    m = Model(name)
    m.again = True
    m.input("x", (time, batch, features) if major else (batch, time, features))
    inputs = ["x"]
    for d in ("f", "b"):
        inputs += [m.weights(f"{d}w", (units, features)), m.weights(f"{d}r", (units, units)),
                   m.weights(f"{d}bias", (units,)), m.tensor(f"{d}_state", (batch, units), variable=True)]
    wide = 2 * units if merge else units
    outputs = ["y"] if merge else ["y", "z"]
    for word in outputs:
        m.tensor(word, (time, batch, wide) if major else (batch, time, wide))
    m.operator("BIDIRECTIONAL_SEQUENCE_RNN", inputs + [None] * 3, outputs,
               {"fusedActivationFunction": activation, "mergeOutputs": merge, "timeMajor": major},
               "BidirectionalSequenceRNN")
    m.output(*outputs)
    m.write()


def add_choosing():
    random = np.random.default_rng(12)
    some = np.where(random.uniform(size=(3, 4)) < 0.5, 0, random.normal(size=(3, 4)))
    family("both", [
        # Joined outputs with one sequence: of several, LiteRT 2.3's are not what it gives in two outputs.
        ("lstm", lambda n: bidirectional_lstm(n, batch=1)),
        ("lstm-major", lambda n: bidirectional_lstm(n, major=True, peephole=True, merge=False)),
        ("lstm-two", lambda n: bidirectional_lstm(n, merge=False)), ("rnn", bidirectional_rnn),
        ("rnn-two", lambda n: bidirectional_rnn(n, major=True, merge=False)),
        ("rnn-relu", lambda n: bidirectional_rnn(n, activation=1)),
    ])
    family("volume", [
        ("same", lambda n: volume(n, True, 2)), ("valid", lambda n: volume(n, False, 1, act=1)),
        ("no-bias", lambda n: volume(n, True, 1, bias=False)),
        ("transposed-same", lambda n: volume(n, True, 2, transposed=True)),
        ("transposed-valid", lambda n: volume(n, False, 2, transposed=True, bias=False)),
    ])
    family("sparse", [("rows", lambda n: sparse(n, sparse_rows(), (0, 1))),
                      ("blocks", lambda n: sparse(n, sparse_blocks(), (0, 1, 2, 3), (2, 2), (0, 1)))])
    family("boxes", [
        ("v4", lambda n: boxes(n, 4)), ("v5", lambda n: boxes(n, 5)), ("few", lambda n: boxes(n, 5, most=19, score=0.7)),
        ("none", lambda n: boxes(n, 4, score=2.0)), ("zero", lambda n: boxes(n, 4, overlap=0.0)),
        ("one", lambda n: boxes(n, 4, overlap=1.0)),
        ("soft", lambda n: boxes(n, 5, most=12, sigma=0.3)), ("soft-all", lambda n: boxes(n, 5, most=25, overlap=1.0, sigma=0.5)),
        ("soft-least", lambda n: boxes(n, 5, most=20, score=-np.inf, sigma=0.1)),
    ])
    family("update", [
        ("cache", lambda n: update_slice(n, (1, 6, 2, 4), (1, 1, 2, 4), (0, 3, 0, 0))),
        ("beyond", lambda n: update_slice(n, (4, 6), (2, 3), (-3, 5))),
        ("known", lambda n: update_slice(n, (4, 6), (4, 3), (0, 2), True)),
        ("whole", lambda n: update_slice(n, (4, 6), (4, 6), (1, 1))),
    ])
    family("segment", [
        ("sum", lambda n: segment(n, "SEGMENT_SUM", (0, 0, 1, 3, 3))),
        *((f"unsorted-{word}", lambda n, word=word: segment(n, f"UNSORTED_SEGMENT_{word.upper()}", (2, 0, -1, 2, 1, 0), 4))
          for word in ("sum", "prod", "max", "min")),
        ("unsorted-rows", lambda n: segment(n, "UNSORTED_SEGMENT_SUM", ((2, 0), (1, 2)), 3)),
    ])
    rows = [
        ("where", "WHERE", [("c", some != 0, "bool", False)], [("y", (int((some != 0).sum()), 2), "int64")], None, None),
        ("unique", "UNIQUE", [("x", (3, 1, 3, 2, 1, 7), "int32", False)], [("y", (4,), "int32"), ("at", (6,), "int32")],
         {"idxOutType": 2}, "Unique"),
        ("sparse-to-dense", "SPARSE_TO_DENSE",
         [("at", ((0, 1), (2, 3)), "int32", False), ("shape", (3, 4), "int32", True), ("v", (5, 6), "float32", False),
          ("otherwise", -1, "float32", True)], [("y", (3, 4), "float32")], {"validateIndices": True}, "SparseToDense"),
        ("sparse-to-dense-one", "SPARSE_TO_DENSE",
         [("at", (1, 3), "int32", False), ("shape", (5,), "int32", True), ("v", 9, "int32", False),
          ("otherwise", 2, "int32", True)], [("y", (5,), "int32")], {"validateIndices": True}, "SparseToDense"),
        ("matrix-diag", "MATRIX_DIAG", [("x", random.normal(size=(2, 3)), "float32", False)],
         [("y", (2, 3, 3), "float32")], {}, "MatrixDiag"),
        ("set-diag-wide", "MATRIX_SET_DIAG", [("x", random.normal(size=(2, 3, 5)), "float32", False),
                                              ("d", random.normal(size=(2, 3)), "float32", False)],
         [("y", (2, 3, 5), "float32")], {}, "MatrixSetDiag"),
        ("set-diag-high", "MATRIX_SET_DIAG", [("x", random.normal(size=(2, 5, 3)), "float32", False),
                                              ("d", random.normal(size=(2, 3)), "float32", False)],
         [("y", (2, 5, 3), "float32")], {}, "MatrixSetDiag"),
        ("bucketize", "BUCKETIZE", [("x", ((-5, 0, 0.5), (1, 10, 99)), "float32", False)], [("y", (2, 3), "int32")],
         {"boundaries": [0.0, 1.0, 10.0]}, "Bucketize"),
        ("broadcast-args", "BROADCAST_ARGS", [("a", (4, 1, 3), "int32", False), ("b", (2, 1), "int32", False)],
         [("y", (3,), "int32")], None, None),
        ("bitcast", "BITCAST", [("x", random.normal(size=(2, 3)), "float32", False)], [("y", (2, 3), "int32")], {},
         "Bitcast"),
        ("bitwise-xor", "BITWISE_XOR", [("x", (1, -2, 77), "int32", False), ("z", (3, 5, -9), "int32", False)],
         [("y", (3,), "int32")], {}, "BitwiseXor"),
        ("right-shift", "RIGHT_SHIFT", [("x", (-7, 77, -2147483648, 5), "int32", False),
                                        ("n", (1, 3, 31, 40), "int32", False)], [("y", (4,), "int32")], {}, "RightShift"),
        ("dilate", "DILATE", [("x", random.normal(size=(2, 3)), "float32", False), ("by", (3, 2), "int32", True),
                              ("fill", -1.5, "float32", True)], [("y", (4, 5), "float32")], None, None),
        ("gather-batch", "GATHER", [("x", random.normal(size=(2, 5, 3)), "float32", False),
                                    ("i", ((4, 0), (1, 1)), "int32", False)], [("y", (2, 2, 3), "float32")],
         {"axis": 1, "batchDims": 1}, "Gather"),
        ("gather-batch-inner", "GATHER", [("x", random.normal(size=(2, 3, 5)), "float32", False),
                                          ("i", ((4, 0), (1, 1)), "int32", False)], [("y", (2, 3, 2), "float32")],
         {"axis": 2, "batchDims": 1}, "Gather"),
        ("mirror-wide", "MIRROR_PAD", [("x", random.normal(size=(3, 4)), "float32", False),
                                       ("pads", ((2, 3), (0, 4)), "int32", True)], [("y", (8, 8), "float32")],
         {"mode": 1}, "MirrorPad"),
        ("hashtable", "HASHTABLE_LOOKUP", [("asked", (7, -2, 4, 7, 9), "int32", False), ("keys", (-2, 3, 7, 9), "int32", True),
                                           ("rows", random.normal(size=(4, 2, 3)), "float32", True)],
         [("y", (5, 2, 3), "float32"), ("found", (5,), "uint8")], None, None),
        *((f"embedding-{word}", "EMBEDDING_LOOKUP_SPARSE",
           [("ids", (1, 3, 0, 1, 2), "int32", False), ("at", ((0, 0), (0, 1), (1, 0), (3, 2), (3, 3)), "int32", False),
            ("sizes", (4, 5), "int32", True), ("w", (2, 0.5, 1, 3, -1.25), "float32", False),
            ("rows", random.normal(size=(4, 3)), "float32", True)], [("y", (4, 3), "float32")], {"combiner": k},
           "EmbeddingLookupSparse") for k, word in enumerate(("sum", "mean", "root"))),
        *((f"window-{word}", "REDUCE_WINDOW",
           [("x", data, dtype, False), ("first", first, dtype, True), ("size", size, "int64", True), ("step", step, "int64", True),
            ("apart", apart, "int64", True)], [("y", out, dtype)], {"reduceFunction": k}, "ReduceWindow")
          for k, word, dtype, data, first, size, step, apart, out in (
              (1, "sum", "float32", random.normal(size=(2, 7, 5, 3)), 0.5, (1, 3, 2, 1), (1, 2, 3, 1), (1, 1, 1, 1), (2, 3, 2, 3)),
              (2, "product", "float32", random.normal(size=(9,)), 1, (3,), (1,), (2,), (5,)),
              (3, "least", "int32", random.integers(-9, 9, (4, 6)), 5, (2, 2), (2, 3), (1, 2), (2, 2)),
              (4, "most", "float32", random.normal(size=(1, 6, 6, 2)), -np.inf, (1, 2, 2, 1), (1, 2, 2, 1), (1, 1, 1, 1), (1, 3, 3, 2)),
              (5, "all", "int32", random.integers(0, 4, (3, 5)), 1, (1, 2), (1, 1), (1, 1), (3, 4)),
              (6, "any", "int8", random.integers(0, 2, (3, 5)), 0, (2, 1), (1, 1), (1, 1), (2, 5)))),
    ]
    for word, code, inputs, outputs, options, kind in rows:
        CASES[f"list-{word}"] = (lambda name, code=code, inputs=inputs, outputs=outputs, options=options, kind=kind:
                                 listed(name, code, inputs, outputs, options, kind))
    for bits in (4, 8):
        CASES[f"fake-quant-{bits}"] = (
            lambda name, bits=bits:
            one(name, "FAKE_QUANT", (4, 30), {"min": -1.3, "max": 2.1, "numBits": bits, "narrowRange": False},
                "FakeQuant"))


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    add_unary(), add_binary(), add_conv(), add_dense(), add_quantised(), add_movement(), add_called(), add_sized()
    add_choosing(), add_curves(), add_cells(), add_words(), add_text(), add_detections()
    write_cases()


def write_cases():
    word = sys.argv[1] if len(sys.argv) > 1 else ""
    failed = []
    for name, build in CASES.items():
        if word not in name:
            continue
        try:
            build(name)
        except Exception as error:  # an operator that LiteRT's reference does not run in this form
            for path in FOLDER.glob(f"{name}.*"):
                path.unlink()
            failed.append(f"{name}: {str(error).splitlines()[0][:150]}")
    print("\n".join(failed) or "all cases written")


if __name__ == "__main__":
    main()
