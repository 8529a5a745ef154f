"""Writes more of tests/cases/tflite: every operator after one whose result hone stores channels-first (hone reads such a
value in its layout, or transposes it), and operators whose operands are computed, of rank 0, complex or quantised.
Needs the same packages as make_tflite_cases.py.

    make_tflite_image_cases.py [WORD]
"""
import numpy as np

from make_tflite_cases import CASES, FOLDER, QUANTS, Model, case, chain, listed, one, write_cases

CASES.clear()  # those of the other file are its own
POOL = {"padding": 1, "strideW": 1, "strideH": 1, "filterWidth": 1, "filterHeight": 1, "fusedActivationFunction": 0}
SHAPE = (2, 4, 6, 8)


def image(m, shape=SHAPE, dtype="float32", quant=None, name="image"):
    """An input through a pool of one element."""
    m.input(name + "_in", shape, dtype, quant)
    m.tensor(name, shape, dtype, quant)
    m.operator("AVERAGE_POOL_2D", [name + "_in"], [name], POOL, "Pool2D")
    return name


def behind(name, code, options=None, kind=None, rest=(), out=SHAPE, out_dtype=None, out_quant=None, dtype="float32",
           quant=None, shape=SHAPE, place=0, outputs=1):
    """rest: the other operands: (data, type[, scale and zero point]), "image" for the image again, "other" for a second
    one; place: where the image stands among them; out: the shape of each output."""
    m = Model(name)
    names = []
    first = image(m, shape, dtype, quant)
    for k, operand in enumerate(rest):
        if operand == "image":
            names.append("image")
        elif operand == "other":
            names.append(image(m, shape, dtype, quant, f"other{k}"))
        else:
            names.append(m.constant(f"c{k}", operand[0], operand[1], *operand[2:]))
    names.insert(place, first)
    made = [m.tensor(f"y{k}", out, out_dtype or dtype, out_quant or (None if out_dtype else quant)) for k in range(outputs)]
    m.operator(code, names, made, options, kind)
    m.output(*made)
    m.write()


def add(word, *words, **how):
    CASES[f"image-{word}"] = lambda name: behind(name, *words, **how)


def add_elementwise():
    for code in ("ABS", "SQUARE", "RELU6", "HARD_SWISH", "ZEROS_LIKE", "L2_NORMALIZATION", "LOG_SOFTMAX", "FLOOR"):
        kind = {"HARD_SWISH": "HardSwish", "L2_NORMALIZATION": "L2Norm"}.get(code)
        add(code.lower().replace("_", "-"), code, {} if kind else None, kind)
    add("leaky", "LEAKY_RELU", {"alpha": 0.3}, "LeakyRelu")
    add("gelu", "GELU", {"approximate": True}, "Gelu")
    add("softmax", "SOFTMAX", {"beta": 1.0}, "Softmax")
    add("softmax-beta", "SOFTMAX", {"beta": 0.4}, "Softmax")
    add("cast", "CAST", {}, "Cast", out_dtype="int32")
    add("bitcast", "BITCAST", {}, "Bitcast", out_dtype="int32")
    add("fake-quant", "FAKE_QUANT", {"min": -1.0, "max": 2.5, "numBits": 8, "narrowRange": True}, "FakeQuant")
    add("fake-quant-wide", "FAKE_QUANT", {"min": -1.0, "max": 2.5, "numBits": 16, "narrowRange": False}, "FakeQuant")
    add("prelu", "PRELU", rest=[(np.linspace(-0.5, 0.9, 8).reshape(1, 1, 8), "float32")])
    numbers = np.random.default_rng(21)
    for word, shape in (("scalar", ()), ("row", (8,)), ("column", (4, 1, 1)), ("plane", (6, 8)), ("block", (4, 6, 8)),
                        ("whole", SHAPE)):
        add(f"add-{word}", "ADD", {"fusedActivationFunction": 1}, "Add", rest=[(numbers.normal(size=shape), "float32")])
    for code in ("FLOOR_DIV", "FLOOR_MOD", "SQUARED_DIFFERENCE", "MAXIMUM", "ATAN2", "POW"):
        add(code.lower().replace("_", "-"), code, rest=["other"])
    for code in ("NOT_EQUAL", "LESS"):
        add(code.lower().replace("_", "-"), code, rest=["other"], out_dtype="bool")
    add("add-n", "ADD_N", {}, "AddN", rest=["image", "other"])
    add("div", "DIV", {"fusedActivationFunction": 0}, "Div", rest=[(np.float32([2.5]), "float32")])


@case
def image_choice(name):
    m = Model(name)
    a, b = image(m), image(m, name="other")
    chain(m, ("GREATER", [a, b], "c", SHAPE, "bool"), ("SELECT_V2", ["c", a, b], "y", SHAPE, "float32"),
          ("SELECT", ["c", b, a], "z", SHAPE, "float32"))
    m.output("y", "z")
    m.write()


@case
def image_bool(name):
    m = Model(name)
    a, b = image(m), image(m, name="other")
    m.constant("axes", [1, 3], "int32")
    chain(m, ("GREATER", [a, b], "c", SHAPE, "bool"),
          ("REDUCE_ANY", ["c", "axes"], "some", (2, 6), "bool", {"keepDims": False}, "Reducer"),
          ("REDUCE_ALL", ["c", "axes"], "all", (2, 1, 6, 1), "bool", {"keepDims": True}, "Reducer"))
    m.output("some", "all")
    m.write()


def add_movement():
    random = np.random.default_rng(22)
    add("expand", "EXPAND_DIMS", {}, "ExpandDims", rest=[(1, "int32")], out=(2, 1, 4, 6, 8))
    add("squeeze", "SQUEEZE", {"squeezeDims": []}, "Squeeze", shape=(1, 4, 1, 8), out=(4, 8))
    add("reshape", "RESHAPE", {"newShape": [2, -1]}, "Reshape", rest=[([2, -1], "int32")], out=(2, 192))
    add("reshape-option", "RESHAPE", {"newShape": [4, 96]}, "Reshape", out=(4, 96))
    add("transpose", "TRANSPOSE", rest=[((3, 1, 0, 2), "int32")], out=(8, 4, 2, 6))
    pads = ([[0, 1], [1, 0], [2, 1], [1, 2]], "int32")
    add("pad", "PAD", rest=[pads], out=(3, 5, 9, 11))
    add("pad-wide", "PAD", rest=[([[0, 1], [1, 0], [2, 1], [1, 2]], "int64")], out=(3, 5, 9, 11))
    add("pad-value", "PADV2", rest=[pads, (1.5, "float32")], out=(3, 5, 9, 11))
    add("mirror", "MIRROR_PAD", {"mode": 0}, "MirrorPad", rest=[([[0, 0], [1, 0], [2, 1], [1, 2]], "int32")],
        out=(2, 5, 9, 11))
    add("mirror-wide", "MIRROR_PAD", {"mode": 1}, "MirrorPad", rest=[([[0, 0], [1, 0], [2, 1], [1, 2]], "int32")],
        out=(2, 5, 9, 11))
    add("slice", "SLICE", rest=[((0, 1, 2, 3), "int32"), ((1, -1, 3, 4), "int32")], out=(1, 3, 3, 4))
    add("strided", "STRIDED_SLICE", {"beginMask": 0, "endMask": 0, "ellipsisMask": 0, "newAxisMask": 0, "shrinkAxisMask": 2},
        "StridedSlice", rest=[((0, 1, 0, 7), "int32"), ((2, 2, 6, 0), "int32"), ((1, 1, 2, -3), "int32")], out=(2, 3, 3))
    add("split", "SPLIT", {"numSplits": 2}, "Split", rest=[(3, "int32")], place=1, out=(2, 4, 6, 4), outputs=2)
    add("pack", "PACK", {"valuesCount": 2, "axis": 2}, "Pack", rest=["other"], out=(2, 4, 2, 6, 8))
    add("unpack", "UNPACK", {"num": 2, "axis": 0}, "Unpack", out=(4, 6, 8), outputs=2)
    add("tile", "TILE", rest=[((1, 2, 1, 3), "int32")], out=(2, 8, 6, 24))
    add("broadcast", "BROADCAST_TO", rest=[((3, 2, 4, 6, 8), "int32")], out=(3, 2, 4, 6, 8))
    add("shape", "SHAPE", {"outType": 2}, "Shape", out=(4,), out_dtype="int32")
    add("rank", "RANK", out=(), out_dtype="int32")
    add("gather", "GATHER", {"axis": 3, "batchDims": 0}, "Gather", rest=[((7, 0, 3), "int32")], out=(2, 4, 6, 3))
    add("gather-batch", "GATHER", {"axis": 2, "batchDims": 1}, "Gather", rest=[([[5, 0, 3], [1, 1, 2]], "int64")],
        out=(2, 4, 3, 8))
    add("gather-nd", "GATHER_ND", rest=[([[1, 3, 5], [0, 0, 1]], "int32")], out=(2, 8))
    add("reverse", "REVERSE_V2", rest=[((2,), "int32")])
    add("reverse-sequence", "REVERSE_SEQUENCE", {"seqDim": 2, "batchDim": 0}, "ReverseSequence", rest=[((6, 2), "int32")])
    add("depth", "DEPTH_TO_SPACE", {"blockSize": 2}, "DepthToSpace", out=(2, 8, 12, 2))
    add("space", "SPACE_TO_DEPTH", {"blockSize": 2}, "SpaceToDepth", out=(2, 2, 3, 32))
    add("space-to-batch", "SPACE_TO_BATCH_ND", rest=[((2, 3), "int32"), ([[0, 2], [1, 2]], "int32")], out=(12, 3, 3, 8))
    add("batch-to-space", "BATCH_TO_SPACE_ND", rest=[((2, 1), "int32"), ([[0, 1], [2, 0]], "int32")], out=(1, 7, 4, 8))
    add("dilate", "DILATE", rest=[((1, 2, 1, 3), "int32"), (0.5, "float32")], out=(2, 7, 6, 22))
    add("cumsum", "CUMSUM", {"exclusive": False, "reverse": False}, "Cumsum", rest=[(3, "int32")])
    add("update", "DYNAMIC_UPDATE_SLICE", rest=[(random.normal(size=(1, 2, 3, 8)), "float32"), ((1, 1, 2, 0), "int32")])
    add("segment", "SEGMENT_SUM", {}, "SegmentSum", rest=[((0, 2), "int32")], out=(3, 4, 6, 8))
    add("segment-max", "UNSORTED_SEGMENT_MAX", {}, "UnsortedSegmentMax", rest=[((2, 0), "int32"), (3, "int32")],
        out=(3, 4, 6, 8))
    add("bucketize", "BUCKETIZE", {"boundaries": [-1.0, 0.5]}, "Bucketize", out_dtype="int32")
    add("diag", "MATRIX_DIAG", {}, "MatrixDiag", out=(2, 4, 6, 8, 8))
    add("set-diag", "MATRIX_SET_DIAG", {}, "MatrixSetDiag", rest=[(random.normal(size=(2, 4, 6)), "float32")])
    add("matmul", "BATCH_MATMUL", {"adjX": False, "adjY": True}, "BatchMatMul", rest=["other"], out=(2, 4, 6, 6))
    add("dense", "FULLY_CONNECTED", {"fusedActivationFunction": 1, "keepNumDims": True}, "FullyConnected",
        rest=[(random.normal(size=(5, 8)), "float32"), (random.normal(size=5), "float32")], out=(2, 4, 6, 5))
    add("concat-channels", "CONCATENATION", {"axis": 3}, "Concatenation", rest=["other"], out=(2, 4, 6, 16))
    add("concat-batch", "CONCATENATION", {"axis": 0, "fusedActivationFunction": 1}, "Concatenation", rest=["image"],
        out=(4, 4, 6, 8))
    for bilinear, code, kind in ((True, "RESIZE_BILINEAR", "ResizeBilinear"),
                                 (False, "RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighbor")):
        for align, half in ((False, False), (True, False), (False, True)):
            add(f"{kind.lower()}-{int(align)}{int(half)}", code, {"alignCorners": align, "halfPixelCenters": half}, kind,
                rest=[((7, 5), "int32")], out=(2, 7, 5, 8))
    add("conv", "CONV_2D", {"padding": 0, "strideW": 1, "strideH": 2}, "Conv2D",
        rest=[(random.normal(size=(3, 2, 2, 8)), "float32"), (random.normal(size=3), "float32")], out=(2, 2, 6, 3))
    add("quantise", "QUANTIZE", out_dtype="int8", out_quant=(0.03, 2))


@case
def image_split_sizes(name):
    m = Model(name)
    image(m)
    m.constant("sizes", [2, -1, 1], "int32")
    m.constant("axis", -2, "int32")
    made = [m.tensor(f"y{k}", (2, 4, n, 8)) for k, n in enumerate((2, 3, 1))]
    m.operator("SPLIT_V", ["image", "sizes", "axis"], made, {"numSplits": 3}, "SplitV")
    m.output(*made)
    m.write()


def add_reductions():
    for code in ("MEAN", "SUM", "REDUCE_MAX", "REDUCE_PROD"):
        for axes in ((1, 2), (3,), (1,), (0, -1)):
            for keep in (False, True):
                out = [(1 if keep else None) if d in {a % 4 for a in axes} else n for d, n in enumerate(SHAPE)]
                add(f"{code.lower().replace('_', '-')}-{''.join(str(a % 4) for a in axes)}-{int(keep)}", code,
                    {"keepDims": keep}, "Reducer", rest=[(axes, "int32")], out=tuple(n for n in out if n))
    add("arg-channel", "ARG_MAX", {"outputType": 2}, "ArgMax", rest=[(3, "int32")], out=(2, 4, 6), out_dtype="int32")
    add("arg-row", "ARG_MIN", {"outputType": 4}, "ArgMin", rest=[(1, "int32")], out=(2, 6, 8), out_dtype="int64")


def add_quantised():
    for dtype in ("int8", "uint8"):
        a, b, c = QUANTS[dtype]
        how = {"dtype": dtype, "quant": a}
        for code in ("LOGISTIC", "TANH"):
            out = {"LOGISTIC": (1 / 256, -128), "TANH": (1 / 128, 0)}[code]
            add(f"{code.lower()}-{dtype}", code, **how, out_quant=(out[0], out[1] + (128 if dtype == "uint8" else 0)))
        add(f"relu-{dtype}", "RELU6", **how, out_quant=b)
        add(f"leaky-{dtype}", "LEAKY_RELU", {"alpha": 0.3}, "LeakyRelu", **how, out_quant=b)
        add(f"hard-swish-{dtype}", "HARD_SWISH", {}, "HardSwish", **how, out_quant=b)
        add(f"dequantize-{dtype}", "DEQUANTIZE", **how, out_dtype="float32")
        add(f"quantize-{dtype}", "QUANTIZE", **how, out_quant=c)
        add(f"softmax-{dtype}", "SOFTMAX", {"beta": 1.0}, "Softmax", **how,
            out_quant=(1 / 256, -128 if dtype == "int8" else 0))
        add(f"prelu-{dtype}", "PRELU", rest=[(np.arange(8).reshape(1, 1, 8) * 9, dtype, b)], **how, out_quant=c)
        for code, kind in (("ADD", "Add"), ("SUB", "Sub"), ("MUL", "Mul")):
            add(f"{code.lower()}-{dtype}", code, {"fusedActivationFunction": 0}, kind, rest=["other"], **how, out_quant=c)
        add(f"mean-{dtype}", "MEAN", {"keepDims": True}, "Reducer", rest=[((1, 2), "int32")], out=(2, 1, 1, 8), **how,
            out_quant=b)
        add(f"mean-rows-{dtype}", "MEAN", {"keepDims": False}, "Reducer", rest=[((1,), "int32")], out=(2, 6, 8), **how,
            out_quant=b)
        add(f"most-{dtype}", "REDUCE_MAX", {"keepDims": False}, "Reducer", rest=[((1, 2), "int32")], out=(2, 8), **how)
        add(f"concat-{dtype}", "CONCATENATION", {"axis": -1}, "Concatenation", rest=["other"], out=(2, 4, 6, 16), **how)
        add(f"pad-{dtype}", "PAD", rest=[([[0, 0], [1, 1], [1, 0], [0, 0]], "int32")], out=(2, 6, 7, 8), **how)
        add(f"space-to-batch-{dtype}", "SPACE_TO_BATCH_ND", rest=[((2, 2), "int32"), ([[0, 0], [0, 0]], "int32")],
            out=(8, 2, 3, 8), **how)
        add(f"resize-{dtype}", "RESIZE_BILINEAR", {"alignCorners": False, "halfPixelCenters": True}, "ResizeBilinear",
            rest=[((7, 5), "int32")], out=(2, 7, 5, 8), **how)
        for code in ("MAXIMUM", "MINIMUM"):
            add(f"{code.lower()}-{dtype}", code, rest=["other"], **how)
        for code in ("EQUAL", "NOT_EQUAL", "LESS"):
            add(f"{code.lower().replace('_', '-')}-{dtype}", code, rest=["other"], **how, out_dtype="bool")
        add(f"dense-{dtype}", "FULLY_CONNECTED", {"fusedActivationFunction": 0, "keepNumDims": True}, "FullyConnected",
            rest=[(np.random.default_rng(5).integers(0, 100, (5, 8)), dtype, (0.01, 0 if dtype == "int8" else 50)),
                  (np.arange(5) * 100, "int32", (a[0] * 0.01, 0))], out=(2, 4, 6, 5), **how, out_quant=(0.2, 4))
        everything = np.arange(-128, 128) if dtype == "int8" else np.arange(256)
        for code, out in (("EXP", (0.05, a[1])), ("LOG", (0.03, a[1])), ("ELU", b), ("GELU", c)):
            CASES[f"table-{code.lower()}-{dtype}"] = (
                lambda name, code=code, out=out, dtype=dtype, data=everything:
                one(name, code, (1, 256), {"approximate": False} if code == "GELU" else None,
                    "Gelu" if code == "GELU" else None, dtype=dtype,
                    quant=(0.02, -120 if dtype == "int8" else 8) if code == "LOG" else QUANTS[dtype][0], out=out,
                    data=data[None]))
    add("squared-difference-int8", "SQUARED_DIFFERENCE", rest=["other"], dtype="int8", quant=QUANTS["int8"][0],
        out_quant=(0.3, -120))
    add("matmul-int8", "BATCH_MATMUL", {"adjX": False, "adjY": True}, "BatchMatMul", rest=["other"], out=(2, 4, 6, 6),
        dtype="int8", quant=QUANTS["int8"][0], out_quant=(0.2, 1))


def add_listed():
    random = np.random.default_rng(23)
    x = random.normal(size=(3, 4))
    rows = [
        ("fill", "FILL", [("dims", (2, 3), "int32", True), ("v", 7, "int32", False)], [("y", (2, 3), "int32")], {}, "Fill"),
        ("rank", "RANK", [("x", x, "float32", False)], [("y", (), "int32")], {}, "Rank"),
        ("embedding", "EMBEDDING_LOOKUP", [("i", (2, 0, 1, 2), "int32", False), ("t", x, "float32", True)],
         [("y", (4, 4), "float32")], None, None),
        ("scatter", "SCATTER_ND", [("i", ((1,), (3,), (1,)), "int32", False), ("v", random.normal(size=(3, 2)), "float32",
                                                                             False), ("shape", (5, 2), "int32", True)],
         [("y", (5, 2), "float32")], {}, "ScatterNd"),
        ("range", "RANGE", [("a", 2, "int32", True), ("b", 11, "int32", True), ("c", 3, "int32", True)],
         [("y", (3,), "int32")], {}, "Range"),
        ("one-hot", "ONE_HOT", [("i", (2, -1, 5, 0), "int32", False), ("n", 3, "int32", True), ("on", 2.5, "float32", True),
                                ("off", -1.0, "float32", True)], [("y", (4, 3), "float32")], {"axis": -1}, "OneHot"),
        ("one-hot-first", "ONE_HOT", [("i", ((2, 1), (0, 2)), "int32", False), ("n", 3, "int32", True),
                                      ("on", 1.0, "float32", True), ("off", 0.0, "float32", True)],
         [("y", (3, 2, 2), "float32")], {"axis": 0}, "OneHot"),
        ("top", "TOPK_V2", [("x", x, "float32", False), ("k", 2, "int32", True)],
         [("y", (3, 2), "float32"), ("at", (3, 2), "int32")], {}, "TopKV2"),
        ("any", "REDUCE_ANY", [("x", x > 0.5, "bool", False), ("axes", (1,), "int32", True)], [("y", (3,), "bool")],
         {"keepDims": False}, "Reducer"),
        ("all", "REDUCE_ALL", [("x", x > -1, "bool", False), ("axes", (0,), "int32", True)], [("y", (1, 4), "bool")],
         {"keepDims": True}, "Reducer"),
        ("add-n", "ADD_N", [("a", x, "float32", False), ("b", 2 * x, "float32", False), ("c", x - 1, "float32", False)],
         [("y", (3, 4), "float32")], {}, "AddN"),
        ("atan2", "ATAN2", [("a", (0.0, 1, -1, 2, -2, 0, 0), "float32", False),
                            ("b", (0.0, 0, 0, -3, -3, -1, 1), "float32", False)], [("y", (7,), "float32")], None, None),
        ("pad-value", "PADV2", [("x", x, "float32", False), ("p", ((1, 0), (0, 2)), "int32", True),
                                ("v", (-2.5,), "float32", True)], [("y", (4, 6), "float32")], {}, "PadV2"),
        ("floor-mod", "FLOOR_MOD", [("a", (7, -7, 7, -7), "int32", False), ("b", (3, 3, -3, -3), "int32", False)],
         [("y", (4,), "int32")], None, None),
        ("logical", "LOGICAL_OR", [("a", x > 0, "bool", False), ("b", x > 1, "bool", False)], [("y", (3, 4), "bool")], None,
         None),
        ("cast-half", "CAST", [("x", x, "float32", False)], [("y", (3, 4), "float16")], {}, "Cast"),
        ("sparse-lists", "SPARSE_TO_DENSE", [("at", 2, "int32", False), ("shape", (4,), "int32", True),
                                             ("v", 3, "int32", False), ("otherwise", 0, "int32", True)],
         [("y", (4,), "int32")], {}, "SparseToDense"),
        ("segment-sum-long", "SEGMENT_SUM", [("x", ((1, 2), (3, 4), (5, 6)), "int32", False),
                                             ("ids", (0, 1, 1), "int32", True)], [("y", (2, 2), "int32")], {}, "SegmentSum"),
        ("segment-max-long", "UNSORTED_SEGMENT_MAX", [("x", ((1, 2), (3, 4), (5, 6)), "int32", False),
                                                      ("ids", (0, 3, 0), "int32", False), ("n", 4, "int32", True)],
         [("y", (4, 2), "int32")], {}, "UnsortedSegmentMax"),
        ("unique-wide", "UNIQUE", [("x", (3.5, 1, 3.5), "float32", False)], [("y", (2,), "float32"), ("at", (3,), "int64")],
         {"idxOutType": 4}, "Unique"),
        ("bucketize-int", "BUCKETIZE", [("x", (-5, 0, 3, 99), "int32", False)], [("y", (4,), "int32")],
         {"boundaries": [0.0, 10.0]}, "Bucketize"),
        ("gather-scalar", "GATHER", [("x", x, "float32", False), ("i", 2, "int32", False)], [("y", (4,), "float32")],
         {"axis": 0, "batchDims": 0}, "Gather"),
        ("broadcast-long", "BROADCAST_ARGS", [("a", (3,), "int64", False), ("b", (2, 1), "int64", False)],
         [("y", (2,), "int64")], None, None),
        ("broadcast-same", "BROADCAST_ARGS", [("a", (3, 1), "int32", True), ("b", (1, 4), "int32", True)],
         [("y", (2,), "int32")], None, None),
        ("slice-wide", "SLICE", [("x", x, "float32", False), ("b", (1, 0), "int64", True), ("s", (2, 3), "int64", True)],
         [("y", (2, 3), "float32")], None, None),
    ]
    for word, code, inputs, outputs, options, kind in rows:
        CASES[f"also-{word}"] = (lambda name, code=code, inputs=inputs, outputs=outputs, options=options, kind=kind:
                                 listed(name, code, inputs, outputs, options, kind))


@case
def reshape_computed(name):
    """To the shape of another tensor, and of a scalar to rank 1."""
    m = Model(name)
    m.input("x", (2, 6))
    m.input("like", (3, 4))
    m.input("one", ())
    m.constant("shape1", [1], "int32")
    chain(m, ("SHAPE", ["like"], "shape", (2,), "int32", {"outType": 2}, "Shape"),
          ("RESHAPE", ["x", "shape"], "y", (3, 4), "float32"), ("RESHAPE", ["one", "shape1"], "z", (1,), "float32"))
    m.output("y", "z")
    m.write()


@case
def fourier_cut(name):
    """Rows longer than the transform are cut; complex numbers are reshaped, squeezed and expanded."""
    m = Model(name)
    m.input("x", (2, 1, 20))
    m.constant("length", (1, 16), "int32")
    m.constant("shape", (2, 9), "int32")
    m.constant("axis", 1, "int32")
    chain(m, ("RFFT2D", ["x", "length"], "f", (2, 1, 9), "complex64", {}, "Rfft2d"),
          ("RESHAPE", ["f", "shape"], "g", (2, 9), "complex64", {}, "Reshape"),
          ("EXPAND_DIMS", ["g", "axis"], "h", (2, 1, 9), "complex64", {}, "ExpandDims"),
          ("SQUEEZE", ["h"], "i", (2, 9), "complex64", {"squeezeDims": [1]}, "Squeeze"),
          ("IMAG", ["i"], "y", (2, 9), "float32"), ("COMPLEX_ABS", ["h"], "z", (2, 1, 9), "float32"),
          ("REAL", ["g"], "w", (2, 9), "float32"))
    m.output("y", "z", "w")
    m.write()


@case
def dequantise_half(name):
    """Weights of 16-bit floats, made wide before they are used."""
    m = Model(name)
    m.input("x", (2, 3))
    m.constant("half", np.linspace(-1, 1, 12).reshape(4, 3), "float16")
    chain(m, ("DEQUANTIZE", ["half"], "w", (4, 3), "float32"),
          ("FULLY_CONNECTED", ["x", "w", None], "y", (2, 4), "float32", {}, "FullyConnected"))
    m.output("y")
    m.write()


@case
def embedding_int8(name):
    m = Model(name)
    m.input("i", (4,), "int32", data=[2, 0, 1, 2])
    m.weights("table", (3, 4), "int8", (0.1, 0))
    m.tensor("y", (4, 4))
    m.operator("EMBEDDING_LOOKUP", ["i", "table"], ["y"])
    m.output("y")
    m.write()


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    add_elementwise(), add_movement(), add_reductions(), add_quantised(), add_listed()
    write_cases()
