"""Writes tests/cases/tflite-wrong: TFLite models that hone refuses, one fault each, and expected.txt with the error id and
part of the message. Needs the same packages as make_tflite_cases.py; no engine runs the models.

    make_tflite_wrong_cases.py
"""
import flatbuffers
import numpy as np
from flatbuffers import flexbuffers

from make_tflite_cases import FOLDER, Model, chain, filled_table, handle, schema

WRONG = FOLDER.parent / "tflite-wrong"
ROWS = []


def save(m, status, says):
    builder = flatbuffers.Builder(1024)
    builder.Finish(m.model.Pack(builder), b"TFL3")
    (WRONG / f"{m.name}.tflite").write_bytes(bytes(builder.Output()))
    ROWS.append(f"{m.name}\t{status}\t{says}")


def one(name, status, says, code, inputs, outputs, options=None, kind=None, quants=()):
    """inputs: (shape, type) of an input or (data, type, True) of a constant; outputs: (shape, type); quants: of each."""
    m = Model(name)
    names, quants = [], list(quants) + [None] * 8
    for k, (what, dtype, *constant) in enumerate(inputs):
        if dtype == "string":
            names.append(m.argument(f"x{k}", what, dtype))
        else:
            names.append(m.constant(f"x{k}", what, dtype, quants[k]) if constant else m.input(f"x{k}", what, dtype, quants[k]))
    made = [m.tensor(f"y{k}", shape, dtype, quants[len(inputs) + k]) for k, (shape, dtype) in enumerate(outputs)]
    m.operator(code, names, made, options, kind)
    m.output(*made)
    save(m, status, says)


def fourier(name, status, says, *steps, outputs=("y",)):
    """f: complex, [2, 1, 9]; then steps."""
    m = Model(name)
    m.input("x", (2, 1, 16))
    m.constant("length", (1, 16), "int32")
    m.constant("shape", (2, 9), "int32")
    chain(m, ("RFFT2D", ["x", "length"], "f", (2, 1, 9), "complex64", {}, "Rfft2d"), *steps)
    m.output(*outputs)
    save(m, status, says)


def complex_numbers():
    fourier("complex-sum", "UNSUP", "of complex numbers", ("ADD", ["f", "f"], "y", (2, 1, 9), "complex64", {}, "Add"))
    fourier("complex-to-real", "TYPE", "makes complex numbers, the file declares real",
            ("RESHAPE", ["f", "shape"], "y", (2, 9), "float32"))
    fourier("real-to-complex", "TYPE", "makes real numbers, the file declares complex",
            ("ABS", ["x"], "y", (2, 1, 16), "complex64"), ("IMAG", ["y"], "z", (2, 1, 16), "float32"), outputs=("z",))
    fourier("part-of-real", "TYPE", "IMAG of real numbers", ("IMAG", ["x"], "y", (2, 1, 16), "float32"))
    fourier("complex-output", "UNSUP", "an output of complex numbers", outputs=("f",))
    m = Model("complex-input")
    m.argument("x", (2,), "complex64")
    chain(m, ("REAL", ["x"], "y", (2,), "float32"))
    m.output("y")
    save(m, "UNSUP", "an input that is of complex numbers")
    m = Model("complex-constant")
    m.input("x", (2,))
    m.tensor("c", (2,), "complex64")
    buffer = schema.BufferT()
    buffer.data = np.zeros(16, np.uint8)
    m.model.buffers.append(buffer)
    m.graph.tensors[m.index["c"]].buffer = len(m.model.buffers) - 1
    chain(m, ("REAL", ["c"], "y", (2,), "float32"))
    m.output("y")
    save(m, "UNSUP", "a constant of complex numbers")
    one("fourier-rows", "UNSUP", "of 2 rows", "RFFT2D", [((2, 2, 16), "float32"), ((2, 16), "int32", True)],
        [((2, 2, 9), "complex64")], {}, "Rfft2d")
    one("fourier-to-real", "TYPE", "to numbers that are not complex", "RFFT2D",
        [((2, 1, 16), "float32"), ((1, 16), "int32", True)], [((2, 1, 9), "float32")], {}, "Rfft2d")
    one("fourier-long", "LIMIT", "Fourier transform of length", "RFFT2D",
        [((1, 1, 1 << 13), "float32"), ((1, 1 << 13), "int32", True)], [((1, 1, 4097), "complex64")], {}, "Rfft2d")


def high_ranks():
    full = (1,) * 16
    x = [(full, "float32")]
    one("rank-17", "LIMIT", "a tensor of 17 dimensions", "ABS", [((1,) * 17, "float32")], [((1,) * 17, "float32")])
    one("expand-17", "SHAPE", "EXPAND_DIMS of rank 16", "EXPAND_DIMS", [*x, (0, "int32", True)], [(full, "float32")], {},
        "ExpandDims")
    one("pack-17", "LIMIT", "PACK of rank 16", "PACK", x, [(full, "float32")], {"valuesCount": 1, "axis": 0}, "Pack")
    one("bucketize-16", "LIMIT", "BUCKETIZE of rank 16", "BUCKETIZE", x, [(full, "int32")], {"boundaries": [0.0]},
        "Bucketize")
    one("diag-16", "SHAPE", "rank 16", "MATRIX_DIAG", x, [(full, "float32")], {}, "MatrixDiag")
    one("dilate-16", "SHAPE", "DILATE of rank 16", "DILATE", [*x, (full, "int32", True), (0, "float32", True)],
        [(full, "float32")])
    one("gather-high", "LIMIT", "GATHER to rank", "GATHER", [((2,) + (1,) * 9, "float32"), ((2,) + (1,) * 9, "int32")],
        [(full, "float32")], {"axis": 1, "batchDims": 1}, "Gather")
    one("broadcast-args-17", "LIMIT", "BROADCAST_ARGS of 19", "BROADCAST_ARGS", [((19,), "int32"), ((2,), "int32")],
        [((19,), "int32")])
    one("reshape-option-17", "LIMIT", "a shape of rank 17", "RESHAPE", [((1,), "float32")], [((1,), "float32")],
        {"newShape": [1] * 17}, "Reshape")
    one("strided-new", "LIMIT", "a result of rank", "STRIDED_SLICE",
        [((1,) * 12, "float32"), ((0,) * 8, "int32", True), ((1,) * 8, "int32", True), ((1,) * 8, "int32", True)],
        [(full, "float32")], {"newAxisMask": 255, "beginMask": 0, "endMask": 0, "ellipsisMask": 0, "shrinkAxisMask": 0},
        "StridedSlice")
    one("space-to-batch-high", "SHAPE", "do not match", "SPACE_TO_BATCH_ND",
        [((1,) * 10, "float32"), ((1,) * 8, "int32", True), (np.zeros((8, 2)), "int32", True)], [(full, "float32")])


def operands():
    one("pack-unequal", "SHAPE", "unequal rank", "PACK", [((2, 3, 4), "float32"), ((2,), "float32")],
        [((2, 2, 3, 4), "float32")], {"valuesCount": 2, "axis": 3}, "Pack")
    one("sparse-high", "SHAPE", "with indices of rank 3", "SPARSE_TO_DENSE",
        [((1, 1, 2), "int32"), ((2, 2), "int32", True), ((1,), "float32"), (0, "float32", True)], [((2, 2), "float32")],
        {"validateIndices": False}, "SparseToDense")
    def window(name, status, says, size=(2, 2), step=(1, 1), apart=(1, 1), first=0.0, function=1, quants=()):
        dtype = "int8" if quants else "float32"
        one(name, status, says, "REDUCE_WINDOW",
            [((4, 90), dtype), (np.asarray(first), dtype, True), (size, "int64", True), (step, "int64", True), (apart, "int64", True)],
            [((3, 89), dtype)], {"reduceFunction": function}, "ReduceWindow", quants=quants)
    window("window-beyond", "SHAPE", "a window larger than the tensor", size=(2, 91))
    window("window-far", "SHAPE", "a window larger than the tensor", apart=(4, 1))
    window("window-huge", "SHAPE", "a window larger than the tensor", size=(2, 3), apart=(1, 2 ** 62))
    window("window-none", "SHAPE", "input 2 does not fit rank 2", size=(2, 0))
    window("window-short", "SHAPE", "input 3 does not fit rank 2", step=(1,))
    window("window-many", "UNSUP", "more than 4096 elements", size=(2, 2 ** 40))
    window("window-from-two", "SHAPE", "input 1 is not one number", first=(0, 1))
    window("window-function", "UNSUP", "function 7", function=7)
    window("window-no-function", "UNSUP", "function 0", function=0)
    window("window-quantised", "UNSUP", "of quantised numbers", quants=[(0.1, 0), (0.1, 0), None, None, None, (0.1, 0)])
    table = lambda name, status, says, keys, rows=(3, 2): one(
        name, status, says, "HASHTABLE_LOOKUP", [((5,), "int32"), (keys, "int32", True), (rows, "float32")],
        [((5, 2), "float32"), ((5,), "uint8")])
    table("table-falling", "UNSUP", "keys that do not rise", (1, 3, 2))
    table("table-twice", "UNSUP", "keys that do not rise", (1, 1, 2))
    table("table-short", "SHAPE", "the keys do not match the rows", (1, 2))
    table("table-keys", "SHAPE", "the keys do not match the rows", ((1,), (2,), (3,)))
    def lists(name, status, says, places=((0, 0), (1, 0)), sizes=(2, 3), weights=(1, 2), combiner=0, rows=(4, 3)):
        one(name, status, says, "EMBEDDING_LOOKUP_SPARSE",
            [((2,), "int32"), (places, "int32", True), (sizes, "int32", True), (weights, "float32", True), (rows, "float32")],
            [((2, 3), "float32")], {"combiner": combiner}, "EmbeddingLookupSparse")
    lists("lists-combiner", "UNSUP", "combiner 3", combiner=3)
    lists("lists-flat", "SHAPE", "the positions do not match", places=((0,), (1,)), sizes=(2,))
    lists("lists-places", "SHAPE", "the positions do not match", places=((0, 0),))
    lists("lists-weights", "SHAPE", "the positions do not match", weights=(1, 2, 3))
    lists("lists-rows", "SHAPE", "the positions do not match", rows=(4,))
    lists("lists-below", "SHAPE", "", sizes=(-2, 3))
    one("boxes-unknown", "UNSUP", "is not known", "NON_MAX_SUPPRESSION_V4",
        [((5, 4), "float32"), ((5,), "float32"), (3, "int32", True), ((), "float32"), (0.1, "float32", True)],
        [((3,), "int32"), ((), "int32")], {}, "NonMaxSuppressionV4")
    one("boxes-two", "SHAPE", "is not one number", "NON_MAX_SUPPRESSION_V4",
        [((5, 4), "float32"), ((5,), "float32"), (3, "int32", True), ((0.5, 0.6), "float32", True),
         (0.1, "float32", True)], [((3,), "int32"), ((), "int32")], {}, "NonMaxSuppressionV4")
    one("segment-unknown", "UNSUP", "not known before the run", "SEGMENT_SUM", [((3, 2), "float32"), ((3,), "int32")],
        [((2, 2), "float32")], {}, "SegmentSum")
    one("mean-over-and-over", "UNSUP", "of no elements", "MEAN",
        [((1, 1 << 20), "int8"), ((1,) * 8, "int32", True)], [((1,), "int8")], {"keepDims": False}, "Reducer",
        quants=[(0.5, 0), None, (0.5, 0)])
    one("reverse-itself", "SHAPE", "of axis 1 along itself", "REVERSE_SEQUENCE", [((2, 3), "float32"), ((3,), "int32")],
        [((2, 3), "float32")], {"seqDim": 1, "batchDim": 1}, "ReverseSequence")
    one("depth-wise-none", "SHAPE", "", "DEPTHWISE_CONV_2D",
        [((1, 4, 4, 3), "float32"), (np.zeros((1, 2, 2, 4)), "float32", True)], [((1, 3, 3, 4), "float32")],
        {"padding": 1, "strideW": 1, "strideH": 1, "depthMultiplier": 1}, "DepthwiseConv2D")
    one("transpose-conv-flat", "SHAPE", "TRANSPOSE_CONV with weights of rank", "TRANSPOSE_CONV",
        [((1, 8, 8, 2), "int32", True), (np.zeros((2, 3, 3)), "float32", True), ((1, 4, 4, 3), "float32")],
        [((1, 8, 8, 2), "float32")], {"padding": 0, "strideW": 2, "strideH": 2}, "TransposeConv")
    one("lrn-radius", "SHAPE", "radius -1", "LOCAL_RESPONSE_NORMALIZATION", [((1, 2, 2, 8), "float32")],
        [((1, 2, 2, 8), "float32")], {"radius": -1, "bias": 1.0, "alpha": 1.0, "beta": 0.5}, "LocalResponseNormalization")
    one("floor-div-quantised", "UNSUP", "of quantised numbers", "FLOOR_DIV", [((4,), "int8"), ((4,), "int8")],
        [((4,), "int8")], quants=[(0.1, 0)] * 3)
    one("prod-quantised", "UNSUP", "of 2000 quantised numbers", "REDUCE_PROD", [((4, 2000), "int8"), ((1,), "int32", True)],
        [((4,), "int8")], {"keepDims": False}, "Reducer", quants=[(0.1, 0), None, (0.1, 0)])
    one("maximum-unlike", "UNSUP", "of quantised numbers", "MAXIMUM", [((4,), "int8"), ((4,), "int8")], [((4,), "int8")],
        quants=[(0.1, 0), (0.2, 0), (0.1, 0)])
    one("maximum-shifted", "UNSUP", "of quantised numbers", "MAXIMUM", [((4,), "int8"), ((4,), "int8")], [((4,), "int8")],
        quants=[(0.1, 0), (0.1, 3), (0.1, 0)])
    one("maximum-half", "UNSUP", "of quantised numbers", "MAXIMUM", [((4,), "int8"), ((4,), "int8")], [((4,), "int8")],
        quants=[(0.1, 0), None, (0.1, 0)])
    one("pow-quantised", "UNSUP", "of quantised numbers", "POW", [((4,), "int8"), ((4,), "int8")], [((4,), "int8")], {},
        "Pow", quants=[(0.1, 0)] * 3)
    one("less-large", "UNSUP", "whose scale is not below 1", "LESS", [((4,), "int8"), ((4,), "int8")],
        [((4,), "bool")], quants=[(0.1, 0), (1.5, 0)])
    one("softmax-16", "UNSUP", "to a scale other than 1/32768", "SOFTMAX", [((4,), "int16")], [((4,), "int16")], {"beta": 1.0},
        "Softmax", quants=[(0.1, 0)] * 2)
    one("log-softmax-8", "UNSUP", "of these element types", "LOG_SOFTMAX", [((4,), "int8")], [((4,), "int8")],
        quants=[(0.1, 0)] * 2)
    one("tanh-16", "UNSUP", "to 16-bit numbers of a scale other", "TANH", [((4,), "int16")], [((4,), "int16")], quants=[(0.1, 0)] * 2)
    one("l2-pool-8", "UNSUP", "of quantised numbers", "L2_POOL_2D", [((1, 4, 4, 2), "int8")], [((1, 4, 4, 2), "int8")],
        {"padding": 1, "strideW": 1, "strideH": 1, "filterWidth": 1, "filterHeight": 1}, "Pool2D", quants=[(0.1, 0)] * 2)
    one("l2-8", "UNSUP", "to another scale than 1/128", "L2_NORMALIZATION", [((4, 2), "int8")], [((4, 2), "int8")], {}, "L2Norm",
        quants=[(0.1, 0)] * 2)
    one("square-8", "UNSUP", "of quantised numbers", "SQUARE", [((4, 2), "int8")], [((4, 2), "int8")], {}, "Square",
        quants=[(0.1, 0)] * 2)


def tables():
    m = Model("input-twice")
    m.input("x", (2,))
    m.graph.tensors.append(m.graph.tensors[0])
    m.graph.inputs.append(1)
    chain(m, ("ABS", ["x"], "y", (2,), "float32"))
    m.output("y")
    save(m, "FORMAT", "duplicate: two inputs")
    m = Model("defined-twice")
    m.input("x", (2,))
    chain(m, ("ABS", ["x"], "y", (2,), "float32"))
    m.operator("NEG", ["x"], ["y"])
    m.output("y")
    save(m, "FORMAT", 'duplicate: "y" is defined twice')
    m = Model("no-output")
    m.input("x", (2,))
    chain(m, ("ABS", ["x"], "y", (2,), "float32"))
    save(m, "FORMAT", "a graph without outputs")
    m = Model("constant-input")
    m.constant("x", (1.0, 2.0))
    m.graph.inputs.append(0)
    chain(m, ("ABS", ["x"], "y", (2,), "float32"))
    m.output("y")
    save(m, "UNSUP", "an input that is a constant")
    m = Model("open-constant")
    m.input("x", (2,))
    m.constant("c", (1.0, 2.0))
    m.graph.tensors[m.index["c"]].shapeSignature = [-1]
    chain(m, ("ADD", ["x", "c"], "y", (2,), "float32", {}, "Add"))
    m.output("y")
    save(m, "SHAPE", "a constant with a dynamic dimension")
    m = Model("external")
    m.input("x", (2,))
    chain(m, ("ABS", ["x"], "y", (2,), "float32"))
    m.graph.tensors[0].externalBuffer = 3
    m.output("y")
    save(m, "UNSUP", "a tensor in an external buffer")
    m = Model("custom-quantisation")
    m.input("x", (2,), "int8", (0.5, 0))
    m.graph.tensors[0].quantization.detailsType = 1
    m.graph.tensors[0].quantization.details = schema.CustomQuantizationT()
    chain(m, ("ABS", ["x"], "y", (2,), "int8"))
    m.output("y")
    save(m, "UNSUP", "a custom quantisation")
    for axis in (-1, 99):
        m = Model(f"quantised-along{axis}")
        m.input("x", (2,), "int8", (0.5, 0, axis))
        chain(m, ("ABS", ["x"], "y", (2,), "int8"))
        m.output("y")
        save(m, "SHAPE", f"quantised along axis {axis}")
    for key, name, graph, tensor, says in (("run", "signature-graph", 7, 0, "a signature of graph 7 of 1"),
                                           ("run", "signature-tensor", 0, 70, "is tensor 70 of 2")):
        m = Model(name)
        m.input("x", (2,))
        chain(m, ("ABS", ["x"], "y", (2,), "float32"))
        m.output("y")
        m.signature(key, 0, {"a": "x"}, {"b": "y"})
        m.model.signatureDefs[0].subgraphIndex = graph
        m.model.signatureDefs[0].outputs[0].tensorIndex = tensor
        save(m, "FORMAT", says)
    for name, keys, status, says in (("signature-none", (), "USAGE", "the model has: none"),
                                     ("signature-many", [f"s{k}" for k in range(20)], "USAGE", "the model has: s0, s1"),
                                     ("signature-empty-name", ["run"], "FORMAT", "a graph without outputs")):
        m = Model(name)
        m.input("x", (2,))
        chain(m, ("ABS", ["x"], "y", (2,), "float32"))
        for key in keys:
            m.signature(key, 0, {"": "x"}, {"": "y"})
        save(m, status, says)


def calls():
    m = Model("branches-unlike")
    m.input("x", (2,))
    m.input("c", (), "bool")
    graphs = []
    for k in range(2):
        graphs.append(m.begin())
        m.argument("a", (2,))
        chain(m, ("ABS", ["a"], "b", (2,), "float32"), ("NEG", ["a"], "d", (2,), "float32"))
        m.output(*("b", "d")[:k + 1])
        m.end()
    m.tensor("y", (2,))
    m.operator("IF", ["c", "x"], ["y"], {"thenSubgraphIndex": graphs[0], "elseSubgraphIndex": graphs[1]}, "If")
    m.output("y")
    save(m, "FORMAT", "the branches of IF have 1 and 2 results")
    for word, inner, says in (("complex", "complex64", "with a complex result"), ("undefined", "float32", "result")):
        m = Model(f"called-{word}")
        m.input("x", (2, 1, 16))
        m.input("c", (), "bool")
        graph = m.begin()
        m.argument("a", (2, 1, 16))
        m.constant("length", (1, 16), "int32")
        if inner == "complex64":
            chain(m, ("RFFT2D", ["a", "length"], "f", (2, 1, 9), "complex64", {}, "Rfft2d"))
        else:
            m.tensor("f", (2, 1, 9))
        m.output("f")
        m.end()
        m.tensor("y", (2, 1, 9), inner)
        m.operator("IF", ["c", "x"], ["y"], {"thenSubgraphIndex": graph, "elseSubgraphIndex": graph}, "If")
        m.output("y")
        save(m, "UNSUP" if inner == "complex64" else "FORMAT", says)
    for word, says, *steps in (
            ("end", "into a dynamic dimension", ("STRIDED_SLICE", ["w", "last", "none", "one"], "y", (1, 2), "int64",
                                              {"beginMask": 0, "endMask": 3}, "StridedSlice")),
            ("element", "or of one element of it", ("STRIDED_SLICE", ["w", "none", "one", "one"], "y", (2,), "int64",
                                                   {"shrinkAxisMask": 1, "endMask": 2}, "StridedSlice")),
            ("reversed", "REVERSE_V2 of an operand", ("REVERSE_V2", ["w", "axis"], "y", (3, 2), "int64")),
            ("squeezed", "SQUEEZE of a", ("RESHAPE", ["w", "rows"], "r", (1, 3, 2), "int64"),
             ("TRANSPOSE", ["r", "turn"], "t", (3, 1, 2), "int64"), ("SQUEEZE", ["v"], "y", (2,), "int64", {}, "Squeeze"))):
        m = Model(f"found-{word}")
        m.input("x", (1, 3))
        m.input("z", (1,))
        for name, data in (("none", (0, 0)), ("one", (1, 1)), ("last", (-1, 0)), ("axis", (0,)), ("rows", (1, -1, 2)),
                           ("turn", (1, 0, 2))):
            m.constant(name, data, "int32")
        chain(m, ("WHERE", ["x"], "w", (3, 2), "int64"), ("WHERE", ["z"], "v", (1, 1), "int64"), *steps)
        m.output("y")
        save(m, "UNSUP", says)
    m = Model("found-bytes")
    m.input("c", (), "bool")
    m.input("x", (4, 2), "int8", (0.5, 3))
    graphs = []
    for rows in (1, 3):
        graphs.append(m.begin())
        m.tensor("a", (4, 2), "int8", (0.5, 3))
        m.graph.inputs.append(m.index["a"])
        m.constant("from", (0, 0), "int32")
        m.constant("size", (rows, 2), "int32")
        m.tensor("b", (rows, 2), "int8", (0.5, 3))
        m.operator("SLICE", ["a", "from", "size"], ["b"], {}, "Slice")
        m.output("b")
        m.end()
    m.tensor("y", (3, 2), "int8", (0.5, 3))
    m.operator("IF", ["c", "x"], ["y"], {"thenSubgraphIndex": graphs[0], "elseSubgraphIndex": graphs[1]}, "If")
    m.constant("axis", (0,), "int32")
    m.tensor("m", (2,), "int8", (0.5, 3))
    m.operator("MEAN", ["y", "axis"], ["m"], {"keepDims": False}, "Reducer")
    m.output("m")
    save(m, "UNSUP", "MEAN of a")
    m = Model("state-to-branch")
    m.input("c", (), "bool")
    m.tensor("s", (2,), variable=True)
    graph = m.begin()
    m.argument("a", (2,))
    chain(m, ("ABS", ["a"], "b", (2,), "float32"))
    m.output("b")
    m.end()
    m.tensor("y", (2,))
    m.operator("IF", ["c", "s"], ["y"], {"thenSubgraphIndex": graph, "elseSubgraphIndex": graph}, "If")
    m.output("y")
    save(m, "UNSUP", "of a stateful tensor")
    m = Model("body-exchanges")
    m.input("n", (), "int32")
    handle(m, "a"), handle(m, "b")
    loop(m, "UNSUP", "a body that exchanges variables", [("a", (), "resource"), ("b", (), "resource"), ("n", (), "int32")],
         above_one, lambda m: ("b", "a", *less(m)))
    loops(), variables()


def loop(m, status, says, carried, condition, body, results=None):
    """A WHILE over what m has. carried: name, shape, type of each value; condition, body: write a graph and say what it gives."""
    graphs = []
    for write in (condition, body):
        graphs.append(m.begin())
        for value, shape, dtype in carried:
            m.argument(value, shape, dtype)
        m.output(*write(m))
        m.end()
    made = [m.tensor(f"y{k}", shape, dtype) for k, (_, shape, dtype) in enumerate(results or carried)]
    m.operator("WHILE", [value for value, _, _ in carried], made,
               {"condSubgraphIndex": graphs[0], "bodySubgraphIndex": graphs[1]}, "While")
    m.output(made[-1])
    save(m, status, says)


def while_of(name, status, says, carried, *rest):
    """The same over values that are inputs or variables."""
    m = Model(name)
    for value, shape, dtype in carried:
        handle(m, value) if dtype == "resource" else m.input(value, shape, dtype)
    loop(m, status, says, carried, *rest)


def above(name, bound):
    def write(m):
        m.constant(name, bound, "int32")
        chain(m, ("GREATER", ["n", name], "goes", (), "bool", {}, "Greater"))
        return ("goes",)
    return write


positive, above_one = above("zero", 0), above("one", 1)


def less(m):
    m.constant("one", 1, "int32")
    chain(m, ("SUB", ["n", "one"], "m", (), "int32", {}, "Sub"))
    return ("m",)


def loops():
    n, v = ("n", (), "int32"), ("v", (), "resource")
    while_of("condition-two", "FORMAT", "a condition of 2 results", [n], lambda m: positive(m) * 2, less)
    while_of("condition-resource", "UNSUP", "a condition that is a resource", [v, n], lambda m: ("v",),
             lambda m: ("v", *less(m)))
    while_of("condition-number", "TYPE", "the condition is not one bool", [n], lambda m: ("n",), less)
    while_of("body-more", "FORMAT", "WHILE carries 1 values, its body gives 2", [n], positive, lambda m: less(m) * 2)
    while_of("body-for-variable", "UNSUP", "a body that exchanges variables", [v, n], positive, lambda m: (*less(m), "n"))
    while_of("body-variable", "UNSUP", "a body that exchanges variables", [v, n], positive, lambda m: ("v", "v"))
    while_of("loop-gives-less", "FORMAT", "WHILE has 1 outputs, the called graph 2", [v, n], positive,
             lambda m: ("v", *less(m)), [n])
    true = lambda m: (m.constant("true", True, "bool"),)
    while_of("loop-true", "UNSUP", "as an endless loop", [n], true, less)
    m = Model("loop-fixed")
    m.constant("n", 5, "int32")
    m.input("k", (), "int32")
    loop(m, "UNSUP", "as an endless loop", [n, ("k", (), "int32")], positive, lambda m: ("n", chain(m, (
        "ADD", ["k", "n"], "more", (), "int32", {}, "Add")) or "more"))
    m = Model("calls-many")
    m.input("c", (), "bool"), m.input("x", (2,))
    last = 20
    for depth in range(1, last + 1):  # each but the last one calls the next one twice
        m.begin()
        m.argument("c", (), "bool"), m.argument("x", (2,))
        m.tensor("y", (2,))
        if depth == last:
            m.operator("ABS", ["x"], ["y"])
        else:
            m.operator("IF", ["c", "c", "x"], ["y"], {"thenSubgraphIndex": depth + 1, "elseSubgraphIndex": depth + 1}, "If")
        m.output("y")
        m.end()
    m.tensor("y", (2,))
    m.operator("IF", ["c", "c", "x"], ["y"], {"thenSubgraphIndex": 1, "elseSubgraphIndex": 1}, "If")
    m.output("y")
    save(m, "LIMIT", "once they are inlined (limit called_nodes)")
    m = Model("called-constant")
    m.input("x", (2,))
    m.input("c", (), "bool")
    graph = m.begin()
    m.constant("a", [1.0, 2.0])
    m.graph.inputs.append(0)
    chain(m, ("ABS", ["a"], "b", (2,), "float32"))
    m.output("b")
    m.end()
    m.tensor("y", (2,))
    m.operator("IF", ["c", "x"], ["y"], {"thenSubgraphIndex": graph, "elseSubgraphIndex": graph}, "If")
    m.output("y")
    save(m, "TYPE", "input 0 of the called graph does not fit")
    m = Model("call-once-input")
    m.input("x", (2,))
    graph = m.begin()
    m.end()
    m.operator("CALL_ONCE", ["x"], [], {"initSubgraphIndex": graph}, "CallOnce")
    m.output("x")
    save(m, "FORMAT", "CALL_ONCE has 1 inputs")


def variables():
    def read(name, status, says, shape=(2,), signature=None, begin=lambda m: None, write=lambda m: None):
        """y = abs(the variable v), which `begin` and `write` may assign."""
        m = Model(name)
        m.input("x", (2,))
        begin(m)
        handle(m, "v")
        m.tensor("old", shape)
        m.graph.tensors[m.index["old"]].shapeSignature = signature
        m.operator("READ_VARIABLE", ["v"], ["old"], {}, "ReadVariable")
        chain(m, ("ABS", ["old"], "y", shape, "float32"))
        write(m)
        m.output("y")
        save(m, status, says)

    def assign(m, value="x"):
        m.operator("ASSIGN_VARIABLE", ["v", value], [], {}, "AssignVariable")

    def assign_longer(m):
        m.constant("long", [1.0, 2.0, 3.0])
        assign(m, "long")

    def assign_whole(m):
        m.constant("whole", [1, 2], "int32")
        assign(m, "whole")

    def initialise_computed(m):
        graph = m.begin()
        handle(m, "v")
        m.constant("c", np.ones(5000))
        chain(m, ("ABS", ["c"], "d", (5000,), "float32"))
        assign(m, "d")
        m.end()
        m.operator("CALL_ONCE", [], [], {"initSubgraphIndex": graph}, "CallOnce")

    def assign_within(m):
        assign(m, "n")
        return "v", "n"

    read("variable-unassigned", "UNSUP", "of a variable that is never assigned")
    read("variable-open", "UNSUP", "of a variable whose shape is not known", signature=[-1], write=assign)
    read("variable-huge", "LIMIT", "", (2 ** 31 - 1,) * 2, write=assign)
    read("variable-longer", "UNSUP", "of another type or shape than the variable had", write=assign_longer)
    read("variable-whole", "UNSUP", "of another type or shape than the variable had", write=assign_whole)
    read("variable-computed", "UNSUP", "of a value that is not known before the first run", begin=initialise_computed)
    while_of("assign-within", "UNSUP", "within WHILE", [("v", (), "resource"), ("n", (), "int32")], positive, assign_within)
    m = Model("state-within")
    m.input("x", (1, 3))
    m.input("c", (), "bool")
    graph = m.begin()
    m.argument("a", (1, 3))
    for word, shape in (("features", (2, 3)), ("times", (2, 5))):
        m.constant(word, np.ones(shape))
    m.tensor("state", (1, 10), variable=True)
    m.tensor("b", (1, 2))
    m.operator("SVDF", ["a", "features", "times", None, "state"], ["b"], {"rank": 1, "fusedActivationFunction": 0}, "SVDF")
    m.output("b")
    m.end()
    m.tensor("y", (1, 2))
    m.operator("IF", ["c", "x"], ["y"], {"thenSubgraphIndex": graph, "elseSubgraphIndex": graph}, "If")
    m.output("y")
    save(m, "UNSUP", "in a called graph")


def names():
    """A name that is not UTF-8, for every kind of name in a file."""
    wrong = b"\xff\xfe"
    for word in ("graph", "tensor", "custom", "signature-key", "signature-input", "container", "variable"):
        m = Model(f"name-of-{word}")
        m.input("x", (2,))
        if word in ("container", "variable"):
            m.tensor("v", (), "resource")
            m.operator("VAR_HANDLE", [], ["v"], {"container": wrong if word == "container" else "",
                                                "sharedName": wrong if word == "variable" else ""}, "VarHandle")
        chain(m, ("ABS", ["x"], "y", (2,), "float32"))
        m.output("y")
        m.signature("run", 0, {"a": "x"}, {"b": "y"})
        signature = m.model.signatureDefs[0]
        if word == "graph":
            m.graph.name = wrong
        elif word == "tensor":
            m.graph.tensors[0].name = wrong
        elif word == "custom":
            m.model.operatorCodes[0].customCode = wrong
        elif word == "signature-key":
            signature.signatureKey = wrong
        elif word == "signature-input":
            signature.inputs[0].name = wrong
        save(m, "FORMAT", "UTF-8")


def sizes():
    m = Model("input-huge")
    m.input("x", (0,))
    m.graph.tensors[0].shape = [2 ** 31 - 1] * 2
    chain(m, ("ABS", ["x"], "y", (2,), "float32"))
    m.output("y")
    save(m, "LIMIT", "")
    m = Model("nothing-at-all")
    save(m, "FORMAT", "a graph without outputs")
    one("fourier-wide", "LIMIT", "", "RFFT2D", [((1, 1, 1 << 14), "float32"), ((1, 1 << 24), "int32", True)],
        [((1, 1, (1 << 23) + 1), "complex64")], {}, "Rfft2d")
    one("segments-last", "SHAPE", "the segment ids do not match", "SEGMENT_SUM",
        [((3, 2), "float32"), ((0, 1, 2 ** 63 - 1), "int64", True)], [((2, 2), "float32")], {}, "SegmentSum")


def texts():
    one("text-sum", "UNSUP", "ADD of strings", "ADD", [((2,), "string"), ((2,), "string")], [((2,), "string")], {}, "Add")
    one("text-made", "UNSUP", "CAST of strings", "CAST", [((2,), "float32")], [((2,), "string")])
    for word, at, number, status, says in (("few", 0, 1, "FORMAT", "needs 2 strings"), ("far", 8, 99, "FORMAT", "string 0 ends"),
                                           ("back", 8, 3, "FORMAT", "string 0 ends"), ("short", None, 12, "FORMAT", "needs 2 strings")):
        m = Model(f"text-{word}")
        m.input("x", (2,), "string", data=["a", "b"])
        m.constant("c", ["one", "two"], "string")
        data = m.model.buffers[-1].data.copy()
        if at is None:
            data = data[:number]
        else:
            data[at:at + 4] = list(number.to_bytes(4, "little"))
        m.model.buffers[-1].data = data
        chain(m, ("EQUAL", ["x", "c"], "y", (2,), "bool", {}, "Equal"))
        m.output("y")
        save(m, status, says)

    def find(name, status, says, asked="string", default=-1, of="int64", begin=lambda m: filled_table(m, 0, ["a", "b"], [1, 2])):
        m = Model(name)
        m.input("x", (2,), asked, data=["a", "b"] if asked == "string" else None)
        begin(m)
        m.input("c", (1,), of) if default is None else m.constant("c", [default], of)
        chain(m, ("HASHTABLE_FIND", ["table0", "x", "c"], "y", (2,), of, {}, "HashtableFind"))
        m.output("y")
        save(m, status, says)

    def unfilled(m):
        m.tensor("table0", (1,), "resource")
        m.operator("HASHTABLE", [], ["table0"], {"tableId": 0, "keyDtype": 5, "valueDtype": 4}, "Hashtable")

    def imported(*names):
        def begin(m):
            unfilled(m)
            m.constant("keys", ["a", "b"], "string")
            m.constant("few", [1], "int64")
            m.constant("halves", [0.5, 1.5])
            m.operator("HASHTABLE_IMPORT", ["table0", *names], [], {}, "HashtableImport")
        return begin

    find("find-unfilled", "UNSUP", "of a table that is never filled", begin=unfilled)
    find("find-open-default", "UNSUP", "without one constant value for missing keys", default=None)
    find("find-number", "TYPE", "of i64 and i64 in a table of string and i64", asked="int64")
    find("find-text", "TYPE", "of string and string in a table of string and i64", default="?", of="string")
    find("find-no-table", "FORMAT", "an operand that is not a table", begin=lambda m: m.input("table0", (1,), "int32"))
    find("import-few", "SHAPE", "of 2 keys and 1 values", begin=imported("keys", "few"))
    find("import-halves", "UNSUP", "of anything but constant strings and INT64", begin=imported("keys", "halves"))
    find("import-open", "UNSUP", "of anything but constant strings and INT64", begin=imported("x", "few"))
    find("find-nul", "UNSUP", "with a NUL", asked="int64", default="?\0?", of="string",
         begin=lambda m: filled_table(m, 0, [1, 2], ["a", "b"]))
    m = Model("import-within")
    m.input("x", (2,), "string", data=["a", "b"])
    m.input("c", (), "bool")
    unfilled(m)
    graph = m.begin()
    m.argument("table", (1,), "resource")
    m.constant("keys", ["a"], "string")
    m.constant("values", [1], "int64")
    m.operator("HASHTABLE_IMPORT", ["table", "keys", "values"], [], {}, "HashtableImport")
    m.end()
    m.operator("IF", ["c", "table0"], [], {"thenSubgraphIndex": graph, "elseSubgraphIndex": graph}, "If")
    chain(m, ("HASHTABLE_SIZE", ["table0"], "y", (1,), "int64", {}, "HashtableSize"))
    m.output("y")
    save(m, "UNSUP", "in a graph that another operator calls")


def customs():
    """Of detectors: options that are not a valid map, or say what cannot be; operands that do not fit; another operator."""
    good = {"max_detections": 3, "max_classes_per_detection": 1, "num_classes": 2, "nms_iou_threshold": 0.5,
            "nms_score_threshold": 0.1, "y_scale": 10.0, "x_scale": 10.0, "h_scale": 5.0, "w_scale": 5.0}
    packed = bytes(flexbuffers.Dumps(good))
    for name, options, status, says, *more in [
            ("empty", b"", "FORMAT", "are not a valid map"), ("list", bytes(flexbuffers.Dumps([1, 2])), "FORMAT", "are not a valid map"),
            ("cut", packed[40:], "UNSUP", "with max_detections nan"), ("far", packed[:-3] + b"\xff" + packed[-2:], "FORMAT", "are not a valid map"),
            ("text", {**good, "max_detections": "many"}, "FORMAT", "max_detections is not a number"),
            ("lacks", {k: v for k, v in good.items() if k != "num_classes"}, "UNSUP", "with num_classes nan"),
            ("overlap", {**good, "nms_iou_threshold": 2.0}, "UNSUP", "an overlap of 2"),
            ("scale", {**good, "h_scale": 0.0}, "UNSUP", "with h_scale 0"),
            ("both", {**good, "use_regular_nms": True, "max_classes_per_detection": 2}, "UNSUP", "class by class"),
            ("anchors", good, "SHAPE", "does not fit", 5), ("unknown", good, "UNSUP", 'custom operator "Mine"', 4, "Mine")]:
        m = Model(f"detections-{name}")
        m.input("e", (1, 4, 4)), m.input("p", (1, 4, 3))
        m.weights("a", (more[0] if more else 4, 4))
        made = [m.tensor(f"y{k}", shape) for k, shape in enumerate([(1, 3, 4), (1, 3), (1, 3), (1,)])]
        m.custom(more[1] if more[1:] else "TFLite_Detection_PostProcess", ["e", "p", "a"], made, options)
        m.output(*made)
        save(m, status, says)


def counts():
    """Axes, counts and sizes outside their ranges, and options that contradict the lists of the file."""
    x, rest = ((2, 3, 4), "float32"), [((2, 1, 4), "float32")] * 3
    image = ((1, 4, 4, 8), "float32")
    number = ((1.0), "float32", True)

    def ints(*data):
        return np.array(data, np.int32), "int32", True

    for name, status, says, code, inputs, outputs, *options in [
            ("cumsum-axis", "SHAPE", "axis", "CUMSUM", [x, ints(3)], [x], {}, "Cumsum"),
            ("cumsum-axis-below", "SHAPE", "axis", "CUMSUM", [x, ints(-4)], [x], {}, "Cumsum"),
            ("split-count", "FORMAT", "SPLIT declares -3 operands or results of 3", "SPLIT", [ints(1), x], rest, {"numSplits": -3}, "Split"),
            ("split-v-count", "FORMAT", "SPLIT_V declares 7 operands or results of 3", "SPLIT_V", [x, ints(1, 1, 1), ints(1)], rest,
             {"numSplits": 7}, "SplitV"),
            ("split-v-below", "SHAPE", "sizes do not fit", "SPLIT_V", [x, ints(-2, 1, 1), ints(1)], rest, {"numSplits": 3}, "SplitV"),
            ("split-v-two", "SHAPE", "sizes do not fit", "SPLIT_V", [x, ints(-1, -1, 1), ints(1)], rest, {"numSplits": 3}, "SplitV"),
            ("unpack-count", "FORMAT", "UNPACK declares -1", "UNPACK", [x], [((2, 4), "float32")] * 3, {"num": -1, "axis": 1}, "Unpack"),
            ("pack-count", "FORMAT", "PACK declares 5", "PACK", [x, x], [((2, 2, 3, 4), "float32")], {"valuesCount": 5}, "Pack"),
            ("arg-max-axis", "SHAPE", "axis 3 of rank 3", "ARG_MAX", [x, ints(3)], [((2, 3), "int32")], {"outputType": 2}, "ArgMax"),
            ("broadcast-less", "SHAPE", "not one of its operand", "BROADCAST_TO", [x, ints(3, 4)], [x], {}, "BroadcastTo"),
            ("mirror-wide", "SHAPE", "MIRROR_PAD by 3 of an axis with 3", "MIRROR_PAD", [x, ints([0, 0], [3, 0], [0, 0])],
             [((2, 6, 4), "float32")], {"mode": 0}, "MirrorPad"),
            ("mirror-mode", "UNSUP", "mode 7", "MIRROR_PAD", [x, ints([0, 0], [1, 0], [0, 0])], [((2, 4, 4), "float32")],
             {"mode": 7}, "MirrorPad"),
            ("range-away", "NUM", "RANGE of 5 in steps of -1", "RANGE", [
                (0, "int32", True), (5, "int32", True), (-1, "int32", True)], [((5,), "int32")]),
            ("range-huge", "SHAPE", "RANGE makes 2147483647 elements, the file declares 5", "RANGE", [
                (0, "int32", True), (2**31 - 1, "int32", True), (1, "int32", True)], [((5,), "int32")]),
            ("fill-huge", "SHAPE", "the file declares 6", "FILL", [ints(100000, 20000), number], [((2, 3), "float32")], {}, "Fill"),
            ("gather-below", "SHAPE", "GATHER takes element -1 of 2", "GATHER", [x, ints(-1)], [((1, 3, 4), "float32")], {"axis": 0},
             "Gather"),
            ("gather-nd-beyond", "SHAPE", "GATHER_ND takes element 3 of 3", "GATHER_ND", [x, ints([1, 3], [0, 1])],
             [((2, 4), "float32")], {}, "GatherNd"),
            ("embedding-below", "SHAPE", "EMBEDDING_LOOKUP takes element -1 of 3", "EMBEDDING_LOOKUP",
             [ints(-1), (np.ones((3, 4)), "float32", True)], [((1, 4), "float32")]),
            ("reverse-twice", "SHAPE", "axis 1 twice", "REVERSE_V2", [x, ints(1, 1)], [x], {}, "ReverseV2"),
            ("bucketize-falls", "NUM", "that do not rise", "BUCKETIZE", [x], [((2, 3, 4), "int32")], {"boundaries": [3.0, 1.0]},
             "Bucketize"),
            ("resize-both", "UNSUP", "half_pixel_centers", "RESIZE_BILINEAR", [image, ints(4, 4)], [image],
             {"alignCorners": True, "halfPixelCenters": True}, "ResizeBilinear"),
            ("l2-activation", "UNSUP", "fused activation 3", "L2_NORMALIZATION", [x], [x], {"fusedActivationFunction": 3}, "L2Norm")]:
        one(name, status, says, code, inputs, outputs, *options)


def blocks():
    """Weights that are quantised in blocks: of no elements, by scales that are not there, for an operator of integers."""
    for name, status, says, size, scales, code in [
            ("blocks-empty", "SHAPE", "in blocks of 0", 0, 2, "FULLY_CONNECTED"),
            ("blocks-scales", "FORMAT", "the scales of blocks are tensor 70", 4, 70, "FULLY_CONNECTED"),
            ("blocks-gathered", "UNSUP", "block-quantised", 4, 2, "GATHER")]:
        m = Model(name)
        m.input("x", (2, 8) if code == "FULLY_CONNECTED" else (2,), "float32" if code == "FULLY_CONNECTED" else "int32")
        m.weights("w", (3, 8), "int4", (1, 0, 0))
        m.constant("s", np.ones((3, 2)), "float32")
        details = schema.BlockwiseQuantizationT()
        details.blockSize, details.scales, details.zeroPoints = size, scales, -1
        quantisation = schema.QuantizationParametersT()
        quantisation.detailsType, quantisation.details = schema.QuantizationDetails.BlockwiseQuantization, details
        m.graph.tensors[m.index["w"]].quantization = quantisation
        m.tensor("y", (2, 3) if code == "FULLY_CONNECTED" else (2, 8), "float32" if code == "FULLY_CONNECTED" else "int4")
        if code == "GATHER":
            m.operator(code, ["w", "x"], ["y"], {"axis": 0}, "Gather")
        else:
            m.operator(code, ["x", "w", ""], ["y"], {}, "FullyConnected")
        m.output("y")
        save(m, status, says)


if __name__ == "__main__":
    WRONG.mkdir(parents=True, exist_ok=True)
    complex_numbers(), high_ranks(), operands(), tables(), calls(), customs(), names(), sizes(), texts()
    counts(), blocks()
    (WRONG / "expected.txt").write_text("\n".join(sorted(ROWS)) + "\n")
