"""Dynamic dimensions (--shape "x[N<=16,S<=33]"): one artifact for all sizes, against ONNX Runtime at each size, with guard
pages around every input and output and a different fill of the arena each time."""

import re

import numpy as np
import onnx
import pytest
from artifact import Artifact
from hone import refused, sound, with_long
from onnx import TensorProto, helper, numpy_helper

ort = pytest.importorskip("onnxruntime")
RANDOM = np.random.default_rng(11)
FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def weights(**arrays):
    return [numpy_helper.from_array(np.asarray(a), n) for n, a in arrays.items()]


def floats(*shape):
    return (RANDOM.standard_normal(shape) * 0.3).astype(np.float32)


def ints(*values):
    return np.array(values, np.int64)


def model(nodes, inputs, outputs, initializers, opset=20):
    def port(name, dtype, shape):
        return helper.make_tensor_value_info(name, dtype, shape)
    graph = helper.make_graph(nodes, "g", [port(*i) for i in inputs],
                              [port(n, t, s) for n, t, s in outputs], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), **attributes)


def mlp():
    """The batch in products; the hidden layer is as wide as a tile is not."""
    return model([node("Gemm", "x w b", "h"), node("Relu", "h", "r"), node("MatMul", "r v", "m"),
                  node("Add", "m x", "y")], [("x", FLOAT, ["n", 20])], [("y", FLOAT, ["n", 20])],
                 weights(w=floats(20, 37), b=floats(37), v=floats(37, 20))), "x[N<=23,20]", 23


def convolutions():
    """The batch in every kind of image kernel, and a flattening."""
    return model([node("Conv", "x w", "c", pads=[1, 1, 1, 1]), node("Relu", "c", "r"),
                  node("Conv", "r d", "e", pads=[1, 1, 1, 1], group=8), node("Add", "e r", "s"),
                  node("MaxPool", "s", "p", kernel_shape=[2, 2], strides=[2, 2]),
                  node("Conv", "p o", "q"), node("GlobalAveragePool", "q", "g"), node("Flatten", "g", "f"),
                  node("Gemm", "f u", "z"), node("Softmax", "z", "y", axis=-1)],
                 [("x", FLOAT, ["n", 3, 10, 10])], [("y", FLOAT, ["n", 5])],
                 weights(w=floats(8, 3, 3, 3), d=floats(8, 1, 3, 3), o=floats(6, 8, 1, 1), u=floats(6, 5))), \
        "x[N<=7,3,10,10]", 7


def attention():
    """The sequence is the rows, the columns and the reduced dimension of matmuls; the heads are a dimension before it."""
    nodes = [node("Gather", "table ids", "e", axis=0), node("Shape", "ids", "shape"),
             node("Gather", "shape one", "len", axis=0), node("Slice", "places zero len zero", "pos"),
             node("Add", "e pos", "x")]
    for name in "qkv":
        nodes += [node("MatMul", f"x w{name}", name), node("Reshape", f"{name} split", name + "s"),
                  node("Transpose", f"{name}s", name + "t", perm=[0, 2, 3, 1] if name == "k" else [0, 2, 1, 3])]
    nodes += [node("MatMul", "qt kt", "s"), node("Mul", "s scale", "t"), node("Softmax", "t", "p", axis=-1),
              node("MatMul", "p vt", "a"), node("Transpose", "a", "b", perm=[0, 2, 1, 3]),
              node("Reshape", "b join", "c"), node("MatMul", "c wo", "o"), node("Add", "o x", "r"),
              node("LayerNormalization", "r g", "y", axis=-1), node("Gather", "y last", "tail", axis=1)]
    return model(nodes, [("ids", INT64, [1, "s"])], [("y", FLOAT, [1, "s", 16]), ("tail", FLOAT, [1, 16])],
                 weights(table=floats(30, 16), places=floats(33, 16), zero=ints(0), one=ints(1), wq=floats(16, 16),
                         wk=floats(16, 16), wv=floats(16, 16), wo=floats(16, 16), split=ints(1, -1, 4, 4),
                         join=ints(1, -1, 16), scale=np.float32(0.5), g=floats(16) + 1,
                         last=np.array(-1, np.int64))), "ids[1,S<=33]", 33


def tokens():
    """A class token in front: sizes of n + 1; a mask that is folded; the last row along a dynamic dimension."""
    return model([node("Concat", "cls x", "c", axis=1), node("ReduceMax", "c axes", "m", keepdims=1),
                  node("Sub", "c m", "d"), node("ReduceSum", "d axes", "s", keepdims=0),
                  node("Slice", "c minus end one", "l"), node("TopK", "d three", "values indices", axis=1)],
                 [("x", FLOAT, [1, "n", 6])],
                 [("d", FLOAT, [1, "m", 6]), ("s", FLOAT, [1, 6]), ("l", FLOAT, [1, 1, 6]), ("values", FLOAT, [1, 2, 6])],
                 weights(cls=floats(1, 1, 6), axes=ints(1), minus=ints(-1), end=ints(2 ** 40), one=ints(1),
                         three=ints(2))), "x[1,N<=12,6]", 12


def cache():
    """Append to a cache whose length is open, heads in front of it: one more row out than in."""
    return model([node("Concat", "past new", "present", axis=2), node("MatMul", "q present_t", "s"),
                  node("Transpose", "present", "present_t", perm=[0, 1, 3, 2]), node("Softmax", "s", "p"),
                  node("MatMul", "p present", "y")],
                 [("past", FLOAT, [1, 3, "n", 4]), ("new", FLOAT, [1, 3, 1, 4]), ("q", FLOAT, [1, 3, 1, 4])],
                 [("y", FLOAT, [1, 3, 1, 4]), ("present", FLOAT, [1, 3, "m", 4])], []), "past[1,3,P<=19,4]", 19


def edges():
    """A dynamic number of edges: messages are gathered from one end of each edge and summed at the other."""
    return model([node("Gather", "x from", "g", axis=0), node("Mul", "g weight", "m"),
                  node("Expand", "to like", "t"), node("ScatterElements", "zeros t m", "y", axis=0, reduction="add"),
                  node("Shape", "m", "like")],
                 [("from", INT64, ["e"]), ("to", INT64, ["e", 1]), ("weight", FLOAT, ["e", 1])],
                 [("y", FLOAT, [30, 5])], weights(x=floats(30, 5), zeros=floats(30, 5))), \
        "from[E<=40],to[E,1],weight[E,1]", 40


def grouped(rows):
    """GroupQueryAttention as decoders of com.microsoft are written: lengths from a mask, keys turned by their places."""
    turns = np.arange(64)[:, None] * 0.4 ** np.arange(8)[None]
    nodes = [node("Mul", "mask none", "m0"), node("Add", "m0 one", "m1"), node("Concat", "m1 new", "all_mask", axis=1),
             node("ReduceSum", "all_mask one", "seen", keepdims=0), node("Sub", "seen one", "last"),
             node("Cast", "last", "lasts", to=TensorProto.INT32), node("Shape", "all_mask", "sizes"),
             node("Gather", "sizes uno", "all"), node("Cast", "all", "total", to=TensorProto.INT32),
             node("MatMul", "x wq", "q"), node("MatMul", "x wk", "k"), node("MatMul", "x wv", "v"),
             node("GroupQueryAttention", "q k v past_k past_v lasts total cos sin", "a present_k present_v",
                  domain="com.microsoft", num_heads=4, kv_num_heads=2, do_rotary=1),
             node("MatMul", "a wo", "y")]
    cache = [1, 2, "t", 16]
    made = model(nodes, [("x", FLOAT, [1, rows, 16]), ("past_k", FLOAT, [1, 2, "p", 16]), ("past_v", FLOAT, [1, 2, "p", 16]),
                         ("mask", INT64, [1, "p"])],
                 [("y", FLOAT, [1, rows, 16]), ("present_k", FLOAT, cache), ("present_v", FLOAT, cache)],
                 weights(wq=floats(16, 64), wk=floats(16, 32), wv=floats(16, 32), wo=floats(64, 16), none=ints(0), one=ints(1),
                         new=np.ones((1, rows), np.int64), uno=np.array(1, np.int64), cos=np.cos(turns).astype(np.float32),
                         sin=np.sin(turns).astype(np.float32)))
    made.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    return made, f"x[1,{rows},16],past_k[1,2,P<=17,16],past_v[1,2,P,16],mask[1,P]", 17


def one_token():
    return grouped(1)


def three_tokens():
    return grouped(3)


CASES = [mlp, convolutions, attention, tokens, cache, edges, one_token, three_tokens]


# -- several dynamic dimensions -------------------------------------------------------------------------------------

def encoder():
    """Batch and sequence of a transformer's layer: tokens and a mask in, two heads, QKV, a reduction at the end."""
    nodes = [node("Gather", "table ids", "e", axis=0), node("Shape", "ids", "shape"),
             node("Gather", "shape one", "len", axis=0), node("Slice", "places zero len zero", "pos"),
             node("Add", "e pos", "x"), node("Cast", "mask", "m", to=FLOAT), node("Sub", "m fone", "mm"),
             node("Mul", "mm big", "mb"), node("Unsqueeze", "mb axes12", "bias")]
    for name in "qkv":
        nodes += [node("MatMul", f"x w{name}", name), node("Reshape", f"{name} split", name + "s"),
                  node("Transpose", f"{name}s", name + "t", perm=[0, 2, 3, 1] if name == "k" else [0, 2, 1, 3])]
    nodes += [node("MatMul", "qt kt", "s"), node("Mul", "s scale", "t"), node("Add", "t bias", "tb"),
              node("Softmax", "tb", "p", axis=-1), node("MatMul", "p vt", "a"),
              node("Transpose", "a", "b", perm=[0, 2, 1, 3]), node("Reshape", "b join", "c"),
              node("MatMul", "c wo", "o"), node("Add", "o x", "r"), node("LayerNormalization", "r g", "y", axis=-1),
              node("ReduceMax", "y one", "z", keepdims=0), node("Gather", "y last", "tail", axis=1)]
    return model(nodes, [("ids", INT64, ["n", "s"]), ("mask", INT64, ["n", "s"])],
                 [("y", FLOAT, ["n", "s", 16]), ("z", FLOAT, ["n", 16]), ("tail", FLOAT, ["n", 16])],
                 weights(table=floats(30, 16), places=floats(33, 16), zero=ints(0), one=ints(1), axes12=ints(1, 2),
                         wq=floats(16, 16), wk=floats(16, 16), wv=floats(16, 16), wo=floats(16, 16),
                         split=ints(0, 0, 4, 4), join=ints(0, 0, 16), scale=np.float32(0.5), big=np.float32(1e4),
                         fone=np.float32(1), g=floats(16) + 1, last=np.array(-1, np.int64))), \
        "ids[N<=5,S<=33],mask[N,S]", {"n": 5, "s": 33}


def decoder():
    """Batch, new tokens and a cache in front of them: a mask over the sum, the cache handed on."""
    nodes = [node("MatMul", "x wk", "k0"), node("Reshape", "k0 split", "k1"),
             node("Transpose", "k1", "k2", perm=[0, 2, 1, 3]), node("Concat", "past k2", "present", axis=2),
             node("MatMul", "x wq", "q0"), node("Reshape", "q0 split", "q1"),
             node("Transpose", "q1", "q2", perm=[0, 2, 1, 3]),
             node("Transpose", "present", "kt", perm=[0, 1, 3, 2]), node("MatMul", "q2 kt", "s"),
             node("Unsqueeze", "mask axes12", "bias"), node("Add", "s bias", "sb"), node("Softmax", "sb", "p"),
             node("MatMul", "p present", "a"), node("Transpose", "a", "b", perm=[0, 2, 1, 3]),
             node("Reshape", "b join", "y")]
    return model(nodes, [("x", FLOAT, ["n", "s", 8]), ("past", FLOAT, ["n", 2, "p", 4]), ("mask", FLOAT, ["n", "t"])],
                 [("y", FLOAT, ["n", "s", 8]), ("present", FLOAT, ["n", 2, "t", 4])],
                 weights(wk=floats(8, 8), wq=floats(8, 8), split=ints(0, 0, 2, 4), join=ints(0, 0, 8),
                         axes12=ints(1, 2))), \
        "x[N<=3,S<=4,8],past[N,2,P<=17,4],mask[N,P+S]", {"n": 3, "s": 4, "p": 17}


def pictures():
    """Height and width that differ: elementwise, a pointwise product over channels, a concatenation along both."""
    nodes = [node("Transpose", "x", "l", perm=[0, 2, 3, 1]), node("MatMul", "l w", "m"), node("Relu", "m", "r"),
             node("Transpose", "r", "t", perm=[0, 3, 1, 2]), node("Concat", "t x", "c", axis=2),
             node("Concat", "c c", "d", axis=3), node("ReduceMax", "d axes", "y", keepdims=0),
             node("Slice", "d minus end three", "z")]
    return model(nodes, [("x", FLOAT, ["n", 3, "h", "w"])], [("y", FLOAT, ["n", 3]), ("z", FLOAT, ["n", 3, "k", 2])],
                 weights(w=floats(3, 3), axes=ints(2, 3), minus=ints(-2), end=ints(2 ** 40), three=ints(3))), \
        "x[N<=2,3,H<=9,W<=11]", {"n": 2, "h": 9, "w": 11}


CACHE = "past_k[1,2,0<=P<=17,16],past_v[1,2,P,16]"


def projected(attention, more, extra=(), opset=20, batch=1, **others):
    """Attention over tokens and a cache, both with a dynamic length: prompts with an empty cache, and after a filled one."""
    cache = [batch, 2, "t", 16]
    nodes = [node("MatMul", f"x w{name}", name) for name in "qkv"] + [attention, node("MatMul", "a wo", "y"), *extra]
    made = model(nodes, [("x", FLOAT, [batch, "s", 16]), *more, *((f"past_{n}", FLOAT, [batch, 2, "p", 16]) for n in "kv")],
                 [("y", FLOAT, [batch, "s", 16]), ("present_k", FLOAT, cache), ("present_v", FLOAT, cache)],
                 weights(wq=floats(16, 64), wk=floats(16, 32), wv=floats(16, 32), wo=floats(64, 16), **others), opset)
    made.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    return made


def grouped_decoder(batch=1):
    turns = np.arange(64)[:, None] * 0.4 ** np.arange(8)[None]
    lengths = [node("ReduceSum", "mask uno", "seen", keepdims=0), node("Sub", "seen uno", "last"),
               node("Cast", "last", "lasts", to=TensorProto.INT32), node("Shape", "mask", "sizes"),
               node("Gather", "sizes one", "all"), node("Cast", "all", "total", to=TensorProto.INT32)]
    made = projected(node("GroupQueryAttention", "q k v past_k past_v lasts total cos sin", "a present_k present_v",
                          domain="com.microsoft", num_heads=4, kv_num_heads=2, do_rotary=1),
                     [("mask", INT64, [batch, "t"])], lengths, batch=batch, uno=ints(1), one=np.array(1, np.int64),
                     cos=np.cos(turns).astype(np.float32), sin=np.sin(turns).astype(np.float32))
    return made, f"x[1,S<=5,16],{CACHE},mask[1,P+S]", {"s": 5, "p": 17}


def many_heads_decoder():
    made = projected(node("MultiHeadAttention", "q4 k4 v4    past_k past_v", "a present_k present_v", domain="com.microsoft",
                          num_heads=2, unidirectional=1), [],
                     [node("Slice", "q zero half two", "q4"), node("Identity", "k", "k4"), node("Identity", "v", "v4"),
                      node("Concat", "a4 a4", "a", axis=2)], zero=ints(0), half=ints(32), two=ints(2))
    attention, = (n for n in made.graph.node if n.op_type == "MultiHeadAttention")
    attention.input[:] = ["q4", "k4", "v4", "", "", "", "past_k", "past_v"]
    attention.output[0] = "a4"
    return made, f"x[1,S<=5,16],{CACHE}", {"s": 5, "p": 17}


def causal_decoder():
    made = projected(node("Attention", "q k v none past_k past_v", "a present_k present_v", q_num_heads=4, kv_num_heads=2,
                          is_causal=1), [], opset=23)
    next(n for n in made.graph.node if n.op_type == "Attention").input[3] = ""
    return made, f"x[1,S<=5,16],{CACHE}", {"s": 5, "p": 17}


def scattered_cache():
    """For each batch row, tokens are written at an index that is an input."""
    return model([node("TensorScatter", "past new at", "y", axis=-2)],
                 [("past", FLOAT, ["n", 3, 36, 4]), ("new", FLOAT, ["n", 3, "s", 4]), ("at", INT64, ["n"])],
                 [("y", FLOAT, ["n", 3, 36, 4])], [], 24), "past[N<=3,3,36,4],new[N,3,S<=5,4],at[N]", {"n": 3, "s": 5}


def pooled(op, axes, shape, bounds, **attributes):
    """A mean over dynamic dimensions: the divisor is their actual size."""
    names = list(bounds)
    made = model([node(op, "x axes" if axes else "x", "y", **attributes)], [("x", FLOAT, names + shape if axes else ["n", 3, *names])],
                 [("y", FLOAT, None)], weights(axes=ints(*axes)) if axes else [])
    made.graph.output[0].type.tensor_type.ClearField("shape")
    sizes = [f"{k.upper()}<={b}" for k, b in bounds.items()]
    return made, "x[" + ",".join([*sizes, *map(str, shape)] if axes else ["2", "3", *sizes]) + "]", bounds


def mean_of_a_sequence():
    return pooled("ReduceMean", [1], [6], {"n": 4, "s": 19}, keepdims=0)


def mean_of_both():
    return pooled("ReduceMean", [0, 1, 2], [6], {"n": 4, "s": 19}, keepdims=1)


def masked_mean():
    """Mean pooling as sentence encoders write it."""
    nodes = [node("Unsqueeze", "mask last", "m1"), node("Shape", "x", "shape"), node("Expand", "m1 shape", "m2"),
             node("Cast", "m2", "m", to=FLOAT), node("Mul", "x m", "xm"), node("ReduceSum", "xm one", "sum", keepdims=0),
             node("ReduceSum", "m one", "count", keepdims=0), node("Clip", "count low", "least"), node("Div", "sum least", "y")]
    return model(nodes, [("x", FLOAT, ["n", "s", 8]), ("mask", INT64, ["n", "s"])], [("y", FLOAT, ["n", 8])],
                 weights(last=ints(-1), one=ints(1), low=np.float32(1e-9))), "x[N<=3,S<=17,8],mask[N,S]", {"n": 3, "s": 17}


def sizes_as_numbers():
    """Arithmetic on sizes in floats: attention scaled by the number of keys, and a size as an output's factor."""
    nodes = [node("Shape", "x", "shape"), node("Gather", "shape one", "s"), node("Cast", "s", "f", to=FLOAT),
             node("Sqrt", "f", "root"), node("Div", "x root", "a"), node("Div", "x f", "b"), node("Mul", "x f", "c"),
             node("Gather", "shape zero", "n"), node("Mul", "n s", "ns"), node("Cast", "ns", "nsf", to=FLOAT),
             node("Mul", "x nsf", "d"), node("Sum", "a b c d", "y")]
    return model(nodes, [("x", FLOAT, ["n", "s", 5])], [("y", FLOAT, ["n", "s", 5])],
                 weights(one=np.array(1, np.int64), zero=np.array(0, np.int64))), "x[N<=3,S<=17,5]", {"n": 3, "s": 17}


def joined():
    """Batch and sequence in one dimension, and apart again."""
    nodes = [node("Reshape", "x flat", "a"), node("MatMul", "a w", "b"), node("Shape", "x", "shape"),
             node("Slice", "shape zero two", "front"), node("Concat", "front heads", "back", axis=0),
             node("Reshape", "b back", "c"), node("Transpose", "c", "d", perm=[1, 0, 2, 3]), node("Reshape", "d all", "y"),
             node("ReduceSum", "b first", "z", keepdims=0)]
    return model(nodes, [("x", FLOAT, ["n", "s", 6])], [("y", FLOAT, ["k", 8]), ("z", FLOAT, [8])],
                 weights(flat=ints(-1, 6), w=floats(6, 8), zero=ints(0), two=ints(2), heads=ints(2, 4), all=ints(-1, 8),
                         first=ints(0))), "x[N<=4,S<=7,6]", {"n": 4, "s": 7}


def images():
    """Height and width in convolutions and pools, padded and strided, and positions as a sequence."""
    nodes = [node("Conv", "x w", "a", pads=[1, 1, 1, 1], strides=[2, 2]), node("Relu", "a", "b"),
             node("Conv", "b d", "c0", pads=[1, 1, 1, 1], group=24), node("Conv", "c0 v", "c1", pads=[1, 1, 1, 1]),
             node("Conv", "c1 v", "c", pads=[1, 1, 1, 1]), node("Add", "b c", "e"),
             node("MaxPool", "e", "f", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
             node("Conv", "f o", "g"), node("GlobalAveragePool", "g", "h"), node("Flatten", "h", "i"),
             node("Gemm", "i u", "y"), node("Reshape", "g seq", "j"), node("Transpose", "j", "k", perm=[0, 2, 1]),
             node("MatMul", "k u", "l"), node("Softmax", "l", "z"), node("GlobalMaxPool", "g", "top")]
    return model(nodes, [("x", FLOAT, ["n", 3, "h", "w"])], [("y", FLOAT, ["n", 5]), ("z", FLOAT, ["n", "t", 5]), ("top", FLOAT, ["n", 6, 1, 1])],
                 weights(w=floats(24, 3, 3, 3), d=floats(24, 1, 3, 3), v=floats(24, 24, 3, 3) / 3, o=floats(6, 24, 1, 1), u=floats(6, 5),
                         seq=ints(0, 0, -1))), "x[N<=2,3,H<=41,W<=35]", {"n": 2, "h": 41, "w": 35}


def pyramid():
    """A network of two scales: downsampled, upsampled, concatenated, and boxes of both scales in one list."""
    nodes = [node("Conv", "x w", "a", pads=[1, 1, 1, 1]), node("Sigmoid", "a", "s"), node("Mul", "a s", "b"),
             node("MaxPool", "b", "c", kernel_shape=[2, 2], strides=[2, 2]), node("Resize", "c none scales", "d", mode="nearest",
                  coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
             node("Concat", "d b", "e", axis=1), node("Conv", "e v", "f", pads=[1, 1, 1, 1]),
             node("Reshape", "f list", "g"), node("Reshape", "c list", "h"), node("Concat", "g h", "y", axis=2)]
    return model(nodes, [("x", FLOAT, [1, 3, "2h", "2w"])], [("y", FLOAT, [1, 8, "t"])],
                 weights(w=floats(8, 3, 3, 3), v=floats(8, 16, 3, 3), scales=np.array([1, 1, 2, 2], np.float32),
                         list=ints(1, 8, -1), none=np.zeros(0, np.float32))), "x[1,3,2*H<=9,2*W<=7]", {"h": 9, "w": 7}


def cut_short():
    """Slices that end before the last element are summed and read by a window; the whole is read after them, and so is a fixed value that
    is cut to a dynamic size."""
    nodes = [node("Relu", "x", "r"), node("Slice", "r zero minus one", "s"), node("ReduceSum", "s one", "t", keepdims=1), node("Mul", "r r", "q"),
             node("Add", "q t", "y"), node("Transpose", "s", "st", perm=[0, 2, 1]), node("Conv", "st w", "c", pads=[1, 1]), node("ReduceMax", "r one", "top"),
             node("Add", "c side", "d"), node("Transpose", "top", "side", perm=[0, 2, 1]), node("Relu", "f", "g"), node("Shape", "x", "shape"),
             node("Slice", "shape one two", "n"), node("Slice", "g zero n one", "h"), node("ReduceMean", "h one", "m"), node("Add", "g m", "z")]
    return model(nodes, [("x", FLOAT, ["n", "s", 5]), ("f", FLOAT, [1, 9, 5])], [("y", FLOAT, ["n", "s", 5]), ("d", FLOAT, ["n", 5, "u"]), ("z", FLOAT, [1, 9, 5])],
                 weights(zero=ints(0), minus=ints(-1), one=ints(1), two=ints(2), w=floats(5, 5, 3))), "x[N<=3,2<=S<=9,5],f[1,9,5]", {"n": 3, "s": 9}


def deep():
    """Five halvings of both sizes, and three products of them."""
    nodes = [node("Conv", f"c{i} w{i}", f"c{i + 1}", pads=[1, 1, 1, 1], strides=[2, 2]) for i in range(5)]
    nodes += [node("Reshape", f"c{i} list", f"l{i}") for i in (3, 4, 5)] + [node("Concat", "l3 l4 l5", "y", axis=2)]
    return model(nodes, [("c0", FLOAT, [1, 3, "h", "w"])], [("y", FLOAT, [1, 4, "t"])],
                 weights(w0=floats(4, 3, 3, 3), **{f"w{i}": floats(4, 4, 3, 3) for i in range(1, 5)}, list=ints(0, 0, -1))), \
        "c0[1,3,H<=90,W<=70]", {"h": 90, "w": 70}


def normalised():
    """Norms over the places of an image, of each channel and of groups, in two forms."""
    nodes = [node("InstanceNormalization", "x s b", "a"), node("Reshape", "a groups", "c"), node("InstanceNormalization", "c s4 b4", "d"),
             node("Shape", "x", "shape"), node("Reshape", "d shape", "e"), node("Mul", "e u", "f"), node("Add", "f v", "g"),
             node("GroupNormalization", "g s b", "y", num_groups=2), node("ReduceL2", "y channels", "z", keepdims=0)]
    return model(nodes, [("x", FLOAT, ["n", 8, "h", "w"])], [("y", FLOAT, ["n", 8, "h", "w"]), ("z", FLOAT, ["n", "h", "w"])],
                 weights(s=floats(8), b=floats(8), groups=ints(0, 4, -1), s4=np.ones(4, np.float32), b4=np.zeros(4, np.float32), channels=ints(1),
                         u=floats(8, 1, 1), v=floats(8, 1, 1)), 21), "x[N<=2,8,H<=9,W<=7]", {"n": 2, "h": 9, "w": 7}


def borders():
    """Constant and repeated borders, and blocks of pixels as channels."""
    nodes = [node("Pad", "x p seven", "a"), node("Conv", "a w", "b"), node("Pad", "b q", "c", mode="edge"), node("Conv", "c w", "d"),
             node("SpaceToDepth", "d", "e", blocksize=2), node("Relu", "e", "f"), node("DepthToSpace", "f", "g", blocksize=2), node("Add", "g x", "y")]
    return model(nodes, [("x", FLOAT, [1, 4, "2h", "2w"])], [("y", FLOAT, [1, 4, "2h", "2w"])],
                 weights(p=ints(0, 0, 1, 2, 0, 0, 1, 0), q=ints(0, 0, 0, 1, 0, 0, 2, 1), seven=np.float32(7), w=floats(4, 4, 3, 3))), \
        "x[1,4,2*H<=9,2*W<=7]", {"h": 9, "w": 7}


def upsampling():
    """Images enlarged by interpolation: by given scales, and to the size of another image."""
    nodes = [node("Conv", "x w", "a", pads=[1, 1, 1, 1]), node("Resize", "a none scales", "b", mode="linear"),
             node("Resize", "a none threes", "c", mode="cubic", coordinate_transformation_mode="pytorch_half_pixel", cubic_coeff_a=-0.75),
             node("MaxPool", "a", "d", kernel_shape=[2, 2], strides=[2, 2]), node("Shape", "a", "shape"), node("Slice", "shape two four", "size"),
             node("Shape", "d", "small"), node("Slice", "small zero two", "front"), node("Concat", "front size", "sizes", axis=0),
             node("Resize", "d none none sizes", "e", mode="linear", coordinate_transformation_mode="asymmetric"), node("Add", "e a", "f")]
    nodes[9].input[1] = nodes[9].input[2] = ""
    return model(nodes, [("x", FLOAT, [1, 3, "2h", "2w"])], [("b", FLOAT, [1, 4, "i", "j"]), ("c", FLOAT, [1, 4, "k", "l"]), ("f", FLOAT, [1, 4, "2h", "2w"])],
                 weights(w=floats(4, 3, 3, 3), scales=np.array([1, 1, 2, 2], np.float32), threes=np.array([1, 1, 3, 3], np.float32),
                         none=np.zeros(0, np.float32), zero=ints(0), two=ints(2), four=ints(4))), "x[1,3,2*H<=9,2*W<=7]", {"h": 9, "w": 7}


def grid():
    """Places of an image's pixels as detectors make them: two ranges, spread over each other, as a list."""
    nodes = [node("Conv", "x w", "c", pads=[1, 1, 1, 1], strides=[2, 2]), node("Shape", "c", "shape"),
             node("Gather", "shape two", "h"), node("Gather", "shape three", "v"), node("Range", "zero h one", "ys"), node("Range", "zero v one", "xs"),
             node("Cast", "ys", "yf", to=FLOAT), node("Cast", "xs", "xf", to=FLOAT), node("Add", "yf half", "yc"), node("Add", "xf half", "xc"),
             node("Reshape", "yc down", "yd"), node("Unsqueeze", "h first", "h1"), node("Unsqueeze", "v first", "v1"),
             node("Concat", "h1 v1", "hv", axis=0), node("Expand", "yd hv", "ye"), node("Expand", "xc hv", "xe"),
             node("Reshape", "ye flat", "yl"), node("Reshape", "xe flat", "xl"), node("Unsqueeze", "yl first", "y1"), node("Unsqueeze", "xl first", "x1"),
             node("Concat", "x1 y1", "places", axis=0), node("Reshape", "c list", "boxes"), node("Add", "boxes places", "y")]
    return model(nodes, [("x", FLOAT, ["n", 3, "h", "w"])], [("y", FLOAT, ["n", 2, "t"])],
                 weights(w=floats(2, 3, 3, 3), two=np.array(2, np.int64), three=np.array(3, np.int64), zero=np.array(0, np.int64),
                         one=np.array(1, np.int64), half=np.float32(0.5), down=ints(-1, 1), flat=ints(-1), first=ints(0), list=ints(0, 0, -1))), \
        "x[N<=2,3,H<=21,W<=18]", {"n": 2, "h": 21, "w": 18}


def tagger():
    """A bidirectional LSTM with states of the batch's size, as PyTorch writes it with the batch first."""
    nodes = [node("Transpose", "x", "t", perm=[1, 0, 2]), node("Shape", "x", "shape"), node("Slice", "shape zero one", "n"),
             node("Concat", "two n five", "states", axis=0), node("ConstantOfShape", "states", "h0"),
             node("LSTM", "t w r b  h0 h0".replace("  ", " none "), "y0 yh yc", hidden_size=5, direction="bidirectional"),
             node("Transpose", "y0", "y1", perm=[0, 2, 1, 3]), node("Reshape", "y1 join", "y2"), node("Transpose", "y2", "y3", perm=[1, 0, 2]),
             node("MatMul", "y3 u", "y"), node("Transpose", "yh", "z0", perm=[1, 0, 2]), node("Reshape", "z0 rows", "z")]
    nodes[5].input[4] = ""
    return model(nodes, [("x", FLOAT, ["n", "s", 4])], [("y", FLOAT, ["n", "s", 3]), ("z", FLOAT, ["n", 10])],
                 weights(w=floats(2, 20, 4), r=floats(2, 20, 5), b=floats(2, 40), zero=ints(0), one=ints(1), two=ints(2), five=ints(5),
                         join=ints(0, 0, -1), u=floats(10, 3), rows=ints(-1, 10))), "x[N<=3,S<=13,4]", {"n": 3, "s": 13}


def recurrent():
    """All results of LSTM and GRU over a dynamic number of steps, in both directions."""
    nodes = [node("LSTM", "x w r b", "y yh yc", hidden_size=5, direction="bidirectional"),
             node("GRU", "x gw gr", "z zh", hidden_size=5, direction="reverse"),
             node("RNN", "x rw rr", "v vh", hidden_size=5)]
    return model(nodes, [("x", FLOAT, ["s", "n", 4])],
                 [("y", FLOAT, ["s", 2, "n", 5]), ("yh", FLOAT, [2, "n", 5]), ("yc", FLOAT, [2, "n", 5]), ("z", FLOAT, ["s", 1, "n", 5]),
                  ("zh", FLOAT, [1, "n", 5]), ("v", FLOAT, ["s", 1, "n", 5]), ("vh", FLOAT, [1, "n", 5])],
                 weights(w=floats(2, 20, 4), r=floats(2, 20, 5), b=floats(2, 40), gw=floats(1, 15, 4), gr=floats(1, 15, 5),
                         rw=floats(1, 5, 4), rr=floats(1, 5, 5))), "x[S<=13,N<=3,4]", {"s": 13, "n": 3}


def branch(out, *nodes):
    return helper.make_graph(list(nodes), out, [], [helper.make_tensor_value_info(out, FLOAT, None)])


def decided():
    """An If whose branches read what is left of dynamic dimensions after a sum."""
    nodes = [node("ReduceSum", "x all", "s", keepdims=0), node("ReduceSum", "s zero", "t", keepdims=0), node("Greater", "t low", "is"),
             node("If", "is", "c", then_branch=branch("a", node("Mul", "s v", "a0"), node("Sub", "a0 u", "a")), else_branch=branch("b", node("Add", "s s", "b"))),
             node("Add", "x c", "y")]
    made = model(nodes, [("x", FLOAT, ["n", "s", 6])], [("y", FLOAT, ["n", "s", 6])],
                 weights(all=ints(0, 1), zero=ints(0), low=np.float32(0), v=floats(6), u=floats(6)))
    return made, "x[N<=3,S<=9,6]", {"n": 3, "s": 9}


def weights_in_blocks():
    """A matmul whose weights would stay quantised with few rows, and not with many."""
    nodes = [helper.make_node("MatMulNBits", ["x", "q", "s"], ["m"], domain="com.microsoft", K=512, N=256, bits=4, block_size=32, accuracy_level=1),
             node("Relu", "m", "y")]
    random = np.random.default_rng(1)
    made = model(nodes, [("x", FLOAT, ["n", "s", 512])], [("y", FLOAT, ["n", "s", 256])],
                 weights(q=random.integers(0, 256, (256, 16, 16)).astype(np.uint8), s=random.random(256 * 16).astype(np.float32) * 0.01))
    made.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    return made, "x[N<=3,S<=41,512]", {"n": 3, "s": 41}


def packed_sequences():
    """Sequences of given lengths in a batch, and regions of one image: neither exists past the actual number."""
    nodes = [node("Shape", "x", "t", start=1, end=2), node("Min", "l t", "k"), node("Cast", "k", "lens", to=TensorProto.INT32), node("Transpose", "x", "xt", perm=[1, 0, 2]), helper.make_node("LSTM", ["xt", "w", "r", "", "lens"], ["y", "yh"], hidden_size=5),
             helper.make_node("ReverseSequence", ["x", "k"], ["back"], batch_axis=0, time_axis=1), helper.make_node("ReverseSequence", ["xt", "k"], ["tback"]),
             node("Sub", "l l", "of"), node("Abs", "g", "ga"), node("CumSum", "ga one", "boxes"), node("RoiAlign", "image boxes of", "z", output_height=2, output_width=3)]
    return model(nodes, [("x", FLOAT, ["n", "s", 4]), ("l", INT64, ["n"]), ("g", FLOAT, ["n", 4])], [("y", FLOAT, ["s", 1, "n", 5]), ("yh", FLOAT, [1, "n", 5]), ("z", FLOAT, ["n", 2, 2, 3]),
                  ("back", FLOAT, ["n", "s", 4]), ("tback", FLOAT, ["s", "n", 4])],
                 weights(w=floats(1, 20, 4), r=floats(1, 20, 5), one=np.int64(1), image=floats(1, 2, 9, 8))), "x[N<=5,S<=13,4],l[N],g[N,4]", {"s": 13, "n": 5}


def one_column():
    """A product with one column, which few rows would sum otherwise than many; a forest and a support vector machine, as scikit-learn exports them."""
    forest = helper.make_node("TreeEnsembleRegressor", ["x"], ["t"], domain="ai.onnx.ml", n_targets=1, nodes_treeids=[0, 0, 0], nodes_nodeids=[0, 1, 2], nodes_featureids=[2, 0, 0], nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"],
                              nodes_values=[0.1, 0.0, 0.0], nodes_truenodeids=[1, 0, 0], nodes_falsenodeids=[2, 0, 0], nodes_missing_value_tracks_true=[0, 0, 0], nodes_hitrates=[1.0, 1.0, 1.0],
                              target_treeids=[0, 0], target_nodeids=[1, 2], target_ids=[0, 0], target_weights=[0.5, -0.25])
    machine = helper.make_node("SVMClassifier", ["x"], ["label", "p"], domain="ai.onnx.ml", classlabels_ints=[0, 1, 2], coefficients=[0.5, -0.25, 0.75, 0.25, -0.5, 0.5], kernel_params=[0.3, 0.0, 3.0], kernel_type="RBF", post_transform="NONE",
                               prob_a=[-1.0, -2.0, -1.5], prob_b=[0.1, 0.2, 0.0], rho=[0.1, -0.1, 0.2], support_vectors=[float(v) for v in np.linspace(-1, 1, 18)], vectors_per_class=[1, 1, 1])
    made = model([node("MatMul", "x w", "h"), node("Relu", "h", "r"), node("MatMul", "r v", "m"), forest, node("Add", "m t", "y"), machine], [("x", FLOAT, ["n", 6])],
                 [("y", FLOAT, ["n", 1]), ("p", FLOAT, ["n", 3])], weights(w=floats(6, 64), v=floats(64, 1)), 17)
    made.opset_import.append(helper.make_opsetid("ai.onnx.ml", 1))
    return made, "x[N<=40,6]", {"n": 40}


def turn(inputs, outputs, *nodes):
    """The body of a Loop: iteration and condition, then these; its condition is `go`."""
    port = lambda name, dtype=FLOAT, shape=None: helper.make_tensor_value_info(name, dtype, shape)
    return helper.make_graph(list(nodes), "turn", [port("i", INT64, []), port("c", TensorProto.BOOL, []), *map(port, inputs.split())],
                             [port("go", TensorProto.BOOL, []), *map(port, outputs.split())])


def loops():
    """As many turns as a sequence is long, or half as many, or fewer by the data: a cell in a batch, a Scan, a list that grows, rows that
    are written, attention over the whole sequence, and branches that read an input whose places are those of other values."""
    on, cell = node("Identity", "c", "go"), [node("MatMul", "h w", "hw"), node("Add", "hw xt", "z"), node("Tanh", "z", "ho"), node("Identity", "ho", "row")]
    port = lambda name: helper.make_tensor_value_info(name, FLOAT, None)
    loop = lambda ins, outs, body: helper.make_node("Loop", ins.split(" "), outs.split(), body=body)
    nodes = [node("Shape", "x", "len1", start=1, end=2), node("Squeeze", "len1", "len"), node("Shape", "x", "batch", start=0, end=1), node("Concat", "batch four", "form", axis=0), node("ConstantOfShape", "form", "h0"),
             loop("len  h0", "cell rows", turn("h", "ho row", on, node("Gather", "x i", "xt", axis=1), *cell)), node("Transpose", "rows", "all", perm=[1, 0, 2]),
             node("Transpose", "x", "xs", perm=[1, 0, 2]), helper.make_node("Scan", ["h0", "xs"], ["scanned", "srows"], num_scan_inputs=1, body=helper.make_graph(cell, "cell", [port("h"), port("xt")], [port("ho"), port("row")])),
             node("Gather", "x zero", "one", axis=0), loop("len  nothing", "list", turn("l", "lo", on, node("Gather", "one i", "p", axis=0), node("Unsqueeze", "p axis", "p1"), node("Exp", "p1", "e"), node("Concat", "l e", "lo", axis=0))),
             node("Shape", "one", "oneform"), node("ConstantOfShape", "oneform", "blank"),
             loop("len  blank", "written", turn("b", "bo", on, node("Gather", "one i", "p", axis=0), node("Mul", "p p", "q"), node("Unsqueeze", "q axis", "q1"), node("Unsqueeze", "i axis", "i1"), node("Unsqueeze", "i1 axis", "i2"), node("ScatterND", "b i2 q1", "bo"))),
             node("Add", "len unit", "more"), node("Div", "more two", "fewer"), loop("fewer  four0", "pairs prows", turn("v", "vo vrow", on, node("Mul", "i two", "j"), node("Gather", "one j", "p", axis=0), node("Add", "v p", "vo"), node("Identity", "vo", "vrow"))),
             loop("len  four0", "early erows", turn("v", "vo vrow", node("Gather", "one i", "p", axis=0), node("Add", "v p", "vo"), node("ReduceSum", "vo", "t", keepdims=0), node("Less", "t bar", "go"), node("Identity", "vo", "vrow"))),
             loop("len  column", "seen", turn("s", "so", on, node("MatMul", "one s", "score"), node("Softmax", "score", "share", axis=0), node("Mul", "one share", "os"), node("ReduceSum", "os axis", "sum", keepdims=0), node("Unsqueeze", "sum axis1", "so"))),
             helper.make_node("If", ["is"], ["y"], then_branch=branch("a", node("MatMul", "x w", "xw"), node("ReduceSum", "xw both", "a", keepdims=0)), else_branch=branch("d", node("ReduceMax", "x both", "d", keepdims=0))),
             node("ReduceSum", "x", "whole", keepdims=0), node("Greater", "whole bar", "is")]
    outputs = [("cell", ["n", 4]), ("all", ["n", "s", 4]), ("scanned", ["n", 4]), ("srows", ["s", "n", 4]), ("list", ["s", 4]), ("written", ["s", 4]), ("pairs", [4]), ("prows", ["p", 4]), ("early", [4]), ("erows", ["q", 4]), ("seen", [4, 1]), ("y", [4])]
    return model(nodes, [("x", FLOAT, ["n", "s", 4])], [(name, FLOAT, shape) for name, shape in outputs],
                 weights(w=floats(4, 4), four=ints(4), zero=np.int64(0), two=np.int64(2), unit=np.int64(1), axis=ints(0), axis1=ints(1), both=ints(0, 1), nothing=np.zeros((0, 4), np.float32), four0=floats(4), column=floats(4, 1),
                         bar=np.float32(1))), "x[N<=5,S<=23,4]", {"n": 5, "s": 23}


def chosen():
    """Branches chosen by a size: what is computed, how much is left, one within another; and by a dimension that is fixed, with other ranks."""
    size = lambda axis, out: [node("Shape", "x", f"{out}1", start=axis, end=axis + 1), node("Squeeze", f"{out}1", out)]
    either = lambda condition, out, then, other: helper.make_node("If", [condition], [out], then_branch=branch("t", *then), else_branch=branch("e", *other))
    nodes = [*size(0, "n"), *size(1, "s"), *size(2, "width"), node("Greater", "s eight", "is_long"), node("Greater", "n two", "is_many"), node("Equal", "width unit", "is_thin"),
             either("is_long", "y", [node("Mul", "x x", "t")], [node("Add", "x half", "e")]),
             either("is_long", "cut", [node("Slice", "x start end axis", "t")], [node("Identity", "x", "e")]), node("ReduceSum", "cut axis", "sum", keepdims=0),
             either("is_many", "inner", [either("is_long", "t", [node("MatMul", "x w", "t")], [node("Relu", "x", "e")])], [node("Neg", "x", "e")]),
             either("is_thin", "same", [node("ReduceSum", "x last", "t", keepdims=0)], [node("Exp", "x", "e")])]
    return model(nodes, [("x", FLOAT, ["n", "s", 4])], [("y", FLOAT, ["n", "s", 4]), ("cut", FLOAT, ["n", "c", 4]), ("sum", FLOAT, ["n", 4]), ("inner", FLOAT, ["n", "s", 4]), ("same", FLOAT, ["n", "s", 4])],
                 weights(w=floats(4, 4), eight=np.int64(8), two=np.int64(2), unit=np.int64(1), half=np.float32(0.5), start=ints(0), end=ints(8), axis=ints(1), last=ints(2))), "x[N<=3,S<=23,4]", {"n": 3, "s": 23}


SEVERAL = [chosen, loops, decided, weights_in_blocks, one_column, packed_sequences, encoder, decoder, mean_of_a_sequence, mean_of_both, masked_mean, sizes_as_numbers, joined, images, pyramid, deep, normalised, borders, upsampling, grid, tagger, recurrent, pictures, grouped_decoder, many_heads_decoder, causal_decoder, scattered_cache]


def sizes_of(bounds):
    """1, the middle, the bound, and each size at one end while the others are at the other."""
    yield from ({k: pick(b) for k, b in bounds.items()}
                for pick in (lambda b: b, lambda b: 1, lambda b: (b + 1) // 2, lambda b: b - 1))
    for name in bounds:
        yield {k: 1 if k == name else b for k, b in bounds.items()}
        yield {k: b if k == name else 1 for k, b in bounds.items()}
    yield dict(bounds)


def arrays_for(session, sizes):
    arrays = {}
    sizes = {**sizes, **{f"2{k}": 2 * n for k, n in sizes.items()}}
    for port in session.get_inputs():
        shape = [d if isinstance(d, int) else sizes[d] if d in sizes else sizes["p"] + sizes["s"] for d in port.shape]
        arrays[port.name] = (np.ones(shape, np.int64) if port.name == "mask" and "int64" in port.type
                             else RANDOM.integers(0, 30, shape) if "int64" in port.type
                             else RANDOM.standard_normal(shape).astype(np.float32))
    return arrays


@pytest.mark.parametrize("passes", with_long([[]], ["--no-passes"]), ids=["passes", "plain"])
@pytest.mark.parametrize("case", with_long(SEVERAL[::3], *SEVERAL[1::3], *SEVERAL[2::3]), ids=lambda c: c.__name__)
def test_every_combination_of_several_sizes(hone, tmp_path, case, passes):
    if passes and case is normalised:
        pytest.skip("a pass replaces its norms")
    made, shapes, bounds = case()
    onnx.save(sort_nodes(made), tmp_path / "m.onnx")
    sound(hone("compile", "m.onnx", "--shape", shapes, "-o", "m.so", *passes))
    artifact, session = Artifact(tmp_path / "m.so"), ort.InferenceSession(str(tmp_path / "m.onnx"))
    assert {k.lower(): b for k, b in artifact.bounds().items()} == bounds
    none = [{**bounds, "p": 0}, {**bounds, "p": 0, "s": 1}] if "0<=P" in shapes else []
    for i, sizes in enumerate([*none, *sizes_of(bounds), *none]):
        inputs = arrays_for(session, sizes)
        results = artifact(*inputs.values(), fill=[0xFF, 0x7F, 0xA5][i % 3])
        for port, result, expected in zip(session.get_outputs(), results, session.run(None, inputs)):
            assert result.shape == expected.shape, (sizes, port.name)
            np.testing.assert_allclose(result, expected, rtol=2e-4, atol=2e-5, err_msg=f"{port.name} at {sizes}")
    for name in bounds:  # one above, and inputs that do not agree
        artifact(*arrays_for(session, {**bounds, name: bounds[name] + 1}).values(), expect=8)
    arrays = list(arrays_for(session, {k: 1 for k in bounds}).values())
    arrays[0] = np.concatenate([arrays[0]] * 2)
    if len(arrays) > 1:
        artifact(*arrays, expect=8)


def test_rows_of_a_batch_have_caches_of_unlike_lengths(hone, tmp_path):
    """Each row is what ONNX Runtime makes of it alone, with the part of the cache that is its own."""
    made, _, _ = grouped_decoder("n")
    onnx.save(sort_nodes(made), tmp_path / "m.onnx")
    cache = CACHE.replace("[1,", "[3,")
    sound(hone("compile", "m.onnx", "--shape", f"x[3,S<=5,16],{cache},mask[3,P+S]", "-o", "m.so"))
    artifact, session = Artifact(tmp_path / "m.so"), ort.InferenceSession(str(tmp_path / "m.onnx"))
    for k, (s, p) in enumerate(((5, 17), (1, 17), (3, 9), (5, 1), (1, 1), (4, 16), (5, 17))):
        x, past = floats(3, s, 16), [floats(3, 2, p, 16), floats(3, 2, p, 16)]
        own = np.array([p, 0, (p + 1) // 2])
        mask = (np.arange(p + s) < (own + s)[:, None]).astype(np.int64)
        y, *present = artifact(x, mask, *past, fill=[0xFF, 0x7F, 0xA5][k % 3])
        for row, n in enumerate(own):
            alone = {"x": x[row:row + 1], "mask": np.ones((1, n + s), np.int64),
                     **{f"past_{c}": q[row:row + 1, :, :n] for c, q in zip("kv", past)}}
            want = session.run(None, alone)
            np.testing.assert_allclose(y[row], want[0][0], rtol=2e-4, atol=2e-5, err_msg=f"row {row} at {s}, {p}")
            for have, c in zip(present, want[1:]):
                np.testing.assert_allclose(have[row, :, :n + s], c[0], rtol=2e-4, atol=2e-5)
                assert not have[row, :, max(p, n + s):].any()


@pytest.mark.parametrize("passes", [[], ["--no-passes"]], ids=["passes", "plain"])
def test_what_is_cut_off_stays(hone, tmp_path, passes):
    made, shapes, _ = cut_short()
    onnx.save(sort_nodes(made), tmp_path / "m.onnx")
    sound(hone("compile", "m.onnx", "--shape", shapes, "-o", "m.so", *passes))
    artifact, session = Artifact(tmp_path / "m.so"), ort.InferenceSession(str(tmp_path / "m.onnx"))
    for k, (n, size) in enumerate([(3, 9), (1, 2), (2, 5), (3, 8), (1, 9), (3, 2)]):
        inputs = arrays_for(session, {"n": n, "s": size})
        for port, result, expected in zip(session.get_outputs(), artifact(*inputs.values(), fill=[0xFF, 0x7F, 0xA5][k % 3]), session.run(None, inputs)):
            np.testing.assert_allclose(result, expected, rtol=2e-4, atol=2e-5, err_msg=f"{port.name} at {n}, {size}")


IMAGE = [1, 2, "h", "w"]
# What reads at positions that depend on a size: nodes, constants, and the bounds of sizes (from 4).
MOVED = {
    "reflect": ([node("Pad", "x p", "y", mode="reflect")], dict(p=ints(0, 0, 2, 1, 0, 0, 1, 3))),
    "reflect, one axis": ([node("Pad", "x p none last", "y0", mode="reflect"), node("Conv", "y0 w", "y", strides=[2, 2])],
                          dict(p=ints(2, 2), none=np.float32(0), last=ints(-1), w=floats(3, 2, 3, 3))),
    "wrap": ([node("Pad", "x p", "y", mode="wrap")], dict(p=ints(0, 0, 2, 1, 0, 0, 1, 3))),
    "to a multiple": ([node("Shape", "x", "s"), node("Slice", "s two four", "hw"), node("Neg", "hw", "n"), node("Mod", "n eight", "rest"),
                       node("Concat", "zeros rest", "p", axis=0), node("Pad", "x p", "a", mode="reflect"), node("Conv", "a w", "b", pads=[1, 1, 1, 1]),
                       node("Slice", "b none2 hw axes", "y")],
                      dict(two=ints(2), four=ints(4), eight=ints(4), zeros=ints(0, 0, 0, 0, 0, 0), w=floats(2, 2, 3, 3), none2=ints(0, 0), axes=ints(2, 3))),
    "to a multiple, zeros": ([node("Shape", "x", "s"), node("Slice", "s two four", "hw"), node("Neg", "hw", "n"), node("Mod", "n eight", "rest"),
                              node("Concat", "zeros rest", "p", axis=0), node("Pad", "x p seven", "y")],
                             dict(two=ints(2), four=ints(4), eight=ints(8), zeros=ints(0, 0, 0, 0, 0, 0), seven=np.float32(7))),
    "reversed": ([node("Slice", "x minus first axes steps", "y")], dict(minus=ints(-1, -2), first=ints(-100, -100), axes=ints(2, 3), steps=ints(-1, -2))),
    "halves": ([node("Concat", "x x", "xx", axis=2), node("Split", "xx", "a b", axis=2, num_outputs=2), node("Add", "a b", "z"), node("Shape", "x", "s", start=2, end=3),
                node("Sub", "s two", "less"), node("Concat", "two less", "parts", axis=0), node("Split", "x parts", "c y", axis=2)], dict(two=ints(2)), ["y", "z", "c"]),
    "repeated": ([node("Tile", "x r", "y")], dict(r=ints(2, 1, 3, 2))),
    "same": ([node("Conv", "x w", "a", auto_pad="SAME_UPPER", strides=[2, 2]), node("Conv", "a v", "b", auto_pad="SAME_LOWER", strides=[3, 2]),
              node("MaxPool", "b", "y", auto_pad="SAME_UPPER", kernel_shape=[3, 3], strides=[2, 2])], dict(w=floats(4, 2, 3, 3), v=floats(4, 4, 4, 3))),
    "same, averaged": ([node("AveragePool", "x", "y", auto_pad="SAME_UPPER", kernel_shape=[3, 3], strides=[2, 2]),
                        node("AveragePool", "x", "z", auto_pad="SAME_LOWER", kernel_shape=[2, 3], strides=[1, 1])], {}, ["y", "z"]),
    "averaged": ([node("AveragePool", "x", "y", kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 1]),
                  node("AveragePool", "x", "z", kernel_shape=[3, 2], pads=[1, 0, 1, 1], strides=[2, 2], ceil_mode=1)], {}, ["y", "z"]),
    "corners": ([node("Resize", "x none scales", "y", mode="linear", coordinate_transformation_mode="align_corners"),
                 node("Resize", "x none scales", "z", mode="cubic", coordinate_transformation_mode="align_corners")],
                dict(none=np.zeros(0, np.float32), scales=np.array([1, 1, 2, 3], np.float32)), ["y", "z"]),
    "to another's size": ([node("MaxPool", "x", "d", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]), node("Shape", "x", "shape"),
                           *[n for out, mode, how in (("y", "linear", "half_pixel"), ("z", "nearest", "asymmetric"), ("u", "cubic", "half_pixel"), ("v", "nearest", "half_pixel"))
                             for n in (helper.make_node("Resize", ["d", "", "", "shape"], [out], mode=mode, coordinate_transformation_mode=how, nearest_mode="floor"),)]],
                          {}, ["y", "z", "u", "v"]),
    "a fixed grid to a size": ([node("Shape", "x", "shape"), node("Slice", "shape two four", "hw"), node("Concat", "front hw", "sizes", axis=0),
                                helper.make_node("Resize", ["grid", "", "", "sizes"], ["g"], mode="cubic", coordinate_transformation_mode="half_pixel"), node("Add", "x g", "y")],
                               dict(two=ints(2), four=ints(4), front=ints(1, 2), grid=floats(1, 2, 5, 5))),
    "sums": ([node("CumSum", "x three", "y", reverse=1, exclusive=1), node("CumSum", "x two", "z", reverse=1), node("LpNormalization", "x", "u", axis=2),
              node("LpNormalization", "x", "v", axis=3, p=1)], dict(three=np.int64(3), two=np.int64(2)), ["y", "z", "u", "v"]),
    "products of integers": ([node("QuantizeLinear", "x s z", "q"), node("DequantizeLinear", "q s z", "d"), node("Transpose", "d", "t", perm=[0, 1, 3, 2]), node("MatMul", "d t", "m"),
                              node("QuantizeLinear", "m s2 z", "q2"), node("DequantizeLinear", "q2 s2 z", "y")], dict(s=np.float32(0.03), s2=np.float32(0.1), z=np.uint8(120))),
    "dynamic integers": ([node("DynamicQuantizeLinear", "x", "q scale zero"), node("ConvInteger", "q w zero", "i", pads=[1, 0, 1, 2], strides=[2, 1]), node("Cast", "i", "f", to=FLOAT),
                          node("Mul", "f scale", "y")], dict(w=RANDOM.integers(-9, 9, (8, 2, 3, 3)).astype(np.int8))),
    "integers": ([node("QuantizeLinear", "x s z", "q"), node("DequantizeLinear", "q s z", "d"), node("Conv", "d wd", "c", pads=[1, 1, 1, 1], strides=[2, 2]), node("DequantizeLinear", "w ws wz", "wd"),
                  node("QuantizeLinear", "c s2 z", "q2"), node("DequantizeLinear", "q2 s2 z", "d2"), node("MaxPool", "d2", "m", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
                  node("Conv", "m vd", "e", pads=[1, 1, 1, 1]), node("DequantizeLinear", "v ws wz", "vd"), node("QuantizeLinear", "e s2 z", "q3"), node("DequantizeLinear", "q3 s2 z", "y")],
                 dict(s=np.float32(0.03), s2=np.float32(0.05), z=np.uint8(120), w=RANDOM.integers(-60, 60, (8, 2, 3, 3)).astype(np.int8), v=RANDOM.integers(-60, 60, (4, 8, 3, 3)).astype(np.int8),
                      ws=np.float32(0.006), wz=np.int8(0))),
    "indices from the end": ([node("ArgMax", "x", "best", axis=2), node("Shape", "x", "h", start=2, end=3), node("Sub", "best h", "back"), node("GatherElements", "x back", "y", axis=2),
                              node("Slice", "x zero one axis", "row"), node("ScatterElements", "x back row", "z", axis=2), node("Shape", "back", "full"), node("Squeeze", "back axes", "some"),
                              node("Gather", "x some", "u", axis=2), node("Transpose", "x", "t", perm=[2, 0, 1, 3]), node("Unsqueeze", "some last", "nd"), node("GatherND", "t nd", "v"),
                              node("ScatterND", "t nd v", "w")],
                             dict(zero=ints(0), one=ints(1), axis=ints(2), axes=ints(0, 2), last=ints(-1)), ["y", "z", "u", "v", "w"]),
    "as wide as before": ([node("MaxPool", "x", "d", kernel_shape=[2, 2], strides=[2, 2]), node("ConvTranspose", "d k", "t", strides=[2, 2]), node("Shape", "x", "a", start=2), node("Shape", "t", "b", start=2),
                           node("Sub", "a b", "less"), node("Div", "less two", "half"), node("Sub", "less half", "rest"), node("Concat", "none half none rest", "pads", axis=0),
                           node("Pad", "t pads", "p"), node("Concat", "x p", "c", axis=1), node("Conv", "c w", "y", pads=[1, 1, 1, 1])],
                          dict(k=floats(2, 2, 2, 2), two=ints(2), none=ints(0, 0), w=floats(2, 4, 3, 3))),
    "distances": ([node("Shape", "x", "w", start=3, end=4), node("Sub", "middle w", "s"), node("Add", "s one", "start"), node("Add", "middle w", "end"), node("Slice", "table start end zero", "part"),
                   node("Transpose", "part", "turned", perm=[1, 0]), node("MatMul", "x0 turned", "y"), node("ReduceMax", "x axes", "x0", keepdims=0), node("Squeeze", "w zero", "n"),
                   node("Sub", "n first", "m"), node("Neg", "n", "to"), node("Range", "m to back", "far"), node("Cast", "far", "f", to=FLOAT), node("ReduceMax", "x", "most", keepdims=0), node("Add", "f most", "z")],
                  dict(middle=ints(16), one=ints(1), zero=ints(0), table=floats(33, 2), axes=ints(2, 3), first=np.int64(1), back=np.int64(-1)), ["y", "z", "f"]),
    "frames, rounded in floats": ([node("Shape", "x", "w", start=3, end=4), node("Sub", "w kernel", "d"), node("Cast", "d", "f", to=FLOAT), node("Div", "f stride", "q"), node("Add", "q one", "q1"), node("Ceil", "q1", "c"),
                                   node("Cast", "c", "i", to=INT64), node("Mul", "i three", "m"), node("Sub", "m three", "m1"), node("Add", "m1 kernel", "ideal"), node("Sub", "ideal w", "extra"),
                                   node("Concat", "zeros extra", "pads", axis=0), node("Pad", "x pads", "p"), node("Conv", "p k", "y", strides=[1, 3]), node("Div", "f half", "h"), node("Floor", "h", "hf"),
                                   node("Cast", "hf", "hi", to=INT64), node("Slice", "x none hi last", "z")],
                                  dict(kernel=ints(4), stride=np.float32([3]), one=np.float32([1]), three=ints(3), zeros=ints(0, 0, 0, 0, 0, 0, 0), k=floats(3, 2, 1, 4), half=np.float32([2]), none=ints(0), last=ints(3)), ["y", "z"]),
    "halves, rounded up": ([node("MaxPool", "x", "p", kernel_shape=[1, 2], strides=[1, 2], ceil_mode=1), node("Shape", "x", "w", start=3, end=4), node("Add", "w one", "w1"), node("Div", "w1 two", "half"),
                            node("Squeeze", "half", "n"), node("Range", "none n step", "r"), node("Cast", "r", "rf", to=FLOAT), node("Mul", "p rf", "y"), node("Neg", "w", "minus"), node("Mod", "minus four", "to"),
                            node("Concat", "zeros to", "pads", axis=0), node("Pad", "x pads", "z"), node("Shape", "x", "all"), node("ReduceProd", "all zero", "count", keepdims=0), node("Cast", "count", "u", to=FLOAT)],
                           dict(one=ints(1), two=ints(2), none=np.int64(0), step=np.int64(1), four=ints(4), zeros=ints(0, 0, 0, 0, 0, 0, 0), zero=ints(0)), ["y", "z", "u"]),
    "largest integers": ([node("Mul", "x ten", "t"), node("Cast", "t", "i", to=INT64), node("ArgMax", "i", "a", axis=2), node("Cast", "a", "y", to=FLOAT), node("ReduceMax", "i axes", "m"), node("Cast", "m", "z", to=FLOAT),
                          node("ReduceMin", "i axes", "n"), node("Cast", "n", "u", to=FLOAT), node("Cast", "i", "j", to=TensorProto.INT32), node("TopK", "j four", "b places", axis=3, largest=0), node("Cast", "b", "v", to=FLOAT)],
                         dict(ten=np.float32(10), axes=ints(3), four=ints(4)), ["y", "z", "u", "v"]),
    "sorted": ([node("Shape", "x", "h", start=2, end=3), node("TopK", "x h", "y i", axis=2), node("TopK", "x h", "z j", axis=2, largest=0), node("Cast", "j", "u", to=FLOAT)], {}, ["y", "z", "u"]),
    "shifted rows": ([node("Transpose", "x", "t", perm=[0, 1, 3, 2]), node("MatMul", "x t", "s"), node("Shape", "x", "h", start=2, end=3), node("Pad", "s column", "p"), node("Mul", "h h1", "n"), node("Add", "h one", "h1"),
                      node("Concat", "front n", "flat", axis=0), node("Reshape", "p flat", "f"), node("Concat", "zeros h zeros zero", "pads", axis=0), node("Pad", "f pads", "g"), node("Add", "h two", "h2"),
                      node("Concat", "front h h2", "square", axis=0), node("Reshape", "g square", "y")],
                     dict(column=ints(0, 0, 0, 0, 0, 0, 0, 1), one=ints(1), two=ints(2), front=ints(1, 2), zeros=ints(0, 0), zero=ints(0))),
    "rows of several": ([node("Transpose", "x", "t", perm=[2, 0, 3, 1]), node("Shape", "x", "s", start=2, end=3), node("Concat", "s minus two", "a", axis=0), node("Reshape", "t a", "r"), node("Transpose", "r", "q", perm=[1, 0, 2]),
                         node("Reshape", "q b", "y")], dict(minus=ints(-1), two=ints(2), b=ints(-1, 2))),
}


@pytest.mark.parametrize("passes", with_long([[]], ["--no-passes"]), ids=["passes", "plain"])
@pytest.mark.parametrize("name", MOVED)
def test_what_moves_with_a_size(hone, tmp_path, name, passes):
    nodes, constants, *outputs = MOVED[name]
    made = model(nodes, [("x", FLOAT, IMAGE)], [(o, FLOAT, None) for o in (outputs or [["y"]])[0]], weights(**constants), 19)
    for port in made.graph.output:
        port.type.tensor_type.ClearField("shape")
    onnx.save(sort_nodes(made), tmp_path / "m.onnx")
    sound(hone("compile", "m.onnx", "--shape", "x[1,2,4<=H<=13,4<=W<=11]", "-o", "m.so", *passes))
    artifact, session = Artifact(tmp_path / "m.so"), ort.InferenceSession(str(tmp_path / "m.onnx"))
    for i, (h, w) in enumerate([(13, 11), (4, 4), (12, 10), (5, 11), (13, 7), (9, 8), (13, 11)]):
        x = np.random.default_rng(i).standard_normal((1, 2, h, w)).astype(np.float32)
        for port, result, expected in zip(session.get_outputs(), artifact(x, fill=[0xFF, 0x7F, 0xA5][i % 3]), session.run(None, {"x": x})):
            assert result.shape == expected.shape, (h, w, port.name)
            if "integers" in name:
                assert np.mean(np.abs(result - expected) > 1e-4) < 0.02 and np.max(np.abs(result - expected)) < 0.11, (h, w)
            else:
                np.testing.assert_allclose(result, expected, rtol=2e-4, atol=2e-5, err_msg=f"{port.name} at {h}, {w}")


def test_a_border_longer_than_the_image_is_reflected_again(hone, tmp_path):
    """As NumPy does it; ONNX Runtime refuses such sizes."""
    made = model([node("Pad", "x p", "y", mode="reflect")], [("x", FLOAT, [1, "w"])], [("y", FLOAT, None)], weights(p=ints(0, 7, 0, 5)), 19)
    made.graph.output[0].type.tensor_type.ClearField("shape")
    onnx.save(made, tmp_path / "m.onnx")
    sound(hone("compile", "m.onnx", "--shape", "x[1,1<=W<=9]", "-o", "m.so"))
    artifact = Artifact(tmp_path / "m.so")
    for w in range(1, 10):
        x = np.random.default_rng(w).standard_normal((1, w)).astype(np.float32)
        np.testing.assert_array_equal(artifact(x)[0], np.pad(x, ((0, 0), (7, 5)), mode="reflect"))


@pytest.mark.parametrize("strides, least", [([1, 1], 5), ([2, 2], 5), (None, 3)], ids=["ones", "twos", "one"])
def test_sizes_below_a_window_are_refused(hone, tmp_path, strides, least):
    """Windows without padding."""
    nodes = [node("Conv", "x w", "a"), node("Conv", "a w", "y", strides=strides)] if strides else [node("Conv", "x w", "y")]
    made = model(nodes, [("x", FLOAT, [1, 3, "h", "w"])], [("y", FLOAT, [1, 3, "i", "j"])], weights(w=floats(3, 3, 3, 3)))
    onnx.save(made, tmp_path / "m.onnx")
    sound(hone("compile", "m.onnx", "--shape", "x[1,3,H<=19,W<=17]", "-o", "m.so"))
    artifact, session = Artifact(tmp_path / "m.so"), ort.InferenceSession(str(tmp_path / "m.onnx"))
    for h, w in ((19, 17), (least, least), (least, 17), (least + 1, 8)):
        x = floats(1, 3, h, w)
        np.testing.assert_allclose(artifact(x)[0], session.run(None, {"x": x})[0], rtol=2e-4, atol=2e-5)
    for h, w in ((least - 1, 17), (1, 17), (19, least - 1), (19, 1), (1, 1)):
        with pytest.raises(Exception):
            session.run(None, {"x": floats(1, 3, h, w)})
        artifact(floats(1, 3, h, w), expect=8)


@pytest.mark.parametrize("made, shapes, sizes", [
    (images, "x[1,3,S<=41,S]", [(s, s) for s in (41, 1, 2, 20, 40)]), (images, "x[1,3,H<=41,35]", [(s, 35) for s in (41, 1, 2, 20, 40)]),
    (grid, "x[1,3,S<=21,S]", [(s, s) for s in (21, 1, 2, 10, 20)]), (deep, "c0[1,3,90,W<=70]", [(90, s) for s in (70, 1, 2, 31, 69)]),
], ids=["square", "height", "squares", "deep"])
def test_one_size_of_an_image(hone, tmp_path, made, shapes, sizes):
    onnx.save(sort_nodes(made()[0]), tmp_path / "m.onnx")
    sound(hone("compile", "m.onnx", "--shape", shapes, "-o", "m.so"))
    artifact, session = Artifact(tmp_path / "m.so"), ort.InferenceSession(str(tmp_path / "m.onnx"))
    for k, (h, w) in enumerate(sizes):
        x = floats(1, 3, h, w)
        for result, expected in zip(artifact(x, fill=[0xFF, 0x7F, 0xA5][k % 3]), session.run(None, {session.get_inputs()[0].name: x})):
            np.testing.assert_allclose(result, expected, rtol=2e-4, atol=2e-5, err_msg=f"{h} x {w}")


def test_verify_walks_through_combinations(hone, tmp_path):
    made, shapes, _ = decoder()
    onnx.save(sort_nodes(made), tmp_path / "m.onnx")
    result = hone("verify", "m.onnx", "--shape", shapes)
    sound(result)
    seen = {tuple(map(int, m)) for m in re.findall(r"N = (\d+), S = (\d+), P = (\d+)", result.text)}
    assert {(3, 4, 17), (1, 1, 1)} < seen and len(seen) >= 8


@pytest.mark.parametrize("level", ["portable", *(pytest.param(level, marks=pytest.mark.long) for level in ("baseline", "avx2", "avx512"))])
@pytest.mark.parametrize("case", [images, tagger, decoder], ids=lambda c: c.__name__)
def test_several_sizes_with_the_kernels_of_a_level(hone, tmp_path, case, level):
    made, shapes, _ = case()
    onnx.save(sort_nodes(made), tmp_path / "m.onnx")
    result = hone("verify", "m.onnx", "--shape", shapes, "--cpu", level)
    if result.id == "E_UNSUP" and "processor" in result.errors:
        pytest.skip(f"this processor has no {level}")
    sound(result)
    assert result.text.count(" ok") > 6


@pytest.mark.parametrize("case", [encoder, joined, images, upsampling], ids=lambda c: c.__name__)
def test_values_in_16_bits_with_several_sizes(hone, tmp_path, case):
    made, shapes, _ = case()
    onnx.save(sort_nodes(made), tmp_path / "m.onnx")
    result = hone("verify", "m.onnx", "--shape", shapes, "--precision", "bf16")
    sound(result)
    assert result.text.count(" ok") > 6


@pytest.mark.parametrize("nodes, shapes, reason", [
    ([node("ArgMax", "x", "a", axis=1, select_last_index=1), node("Cast", "a", "y", to=FLOAT)], "x[N<=4,S<=6,3]", "select_last_index is set"),
    ([node("Hardmax", "x", "a", axis=1), node("LRN", "a", "y", size=3)], "x[N<=4,S<=6,3]", "other elements depend on all of that dimension"),
    ([node("Relu", "x", "y")], "x[A<=2,B<=3,C<=4,D<=5,E<=6]", "more than 4 dynamic dimensions"),
], ids=["last", "channels", "five"])
def test_what_several_sizes_cannot_do_is_refused_with_its_place(hone, tmp_path, nodes, shapes, reason):
    rank = shapes.count(",") + 1
    made = model(nodes, [("x", FLOAT, [f"d{i}" for i in range(rank)])], [("y", FLOAT, None)],
                 weights(one=np.array(1, np.int64)))
    made.graph.output[0].type.tensor_type.ClearField("shape")
    onnx.save(made, tmp_path / "m.onnx")
    result = hone("compile", "m.onnx", "--shape", shapes, "-o", "m.so")
    refused(result, "E_UNSUP E_LIMIT", reason)
    assert len(nodes) != 1 or rank > 4 or nodes[0].op_type in result.errors


@pytest.mark.parametrize("op, reason", [
    (node("Gather", "x last", "y", axis=0), "the end of a dynamic dimension that may be 0"),
    (node("Relu", "x", "y"), ""),
], ids=lambda x: getattr(x, "op_type", ""))
def test_nothing_has_no_last_element(hone, tmp_path, op, reason):
    made = model([op], [("x", FLOAT, ["n", 4])], [("y", FLOAT, None)], weights(last=np.array(-1, np.int64)))
    made.graph.output[0].type.tensor_type.ClearField("shape")
    onnx.save(made, tmp_path / "m.onnx")
    result = hone("compile", "m.onnx", "--shape", "x[0<=N<=8,4]", "-o", "m.so")
    if reason:
        refused(result, "E_UNSUP", reason)
        return
    artifact = Artifact(tmp_path / "m.so")
    for n in (0, 8, 0, 3):
        assert artifact(np.ones((n, 4), np.float32))[0].shape == (n, 4)


def sort_nodes(made):
    """Nodes may be written in any order here; ONNX wants them sorted."""
    known = {""} | {i.name for i in made.graph.input} | {i.name for i in made.graph.initializer}
    left, done = list(made.graph.node), []
    while left:
        ready = [n for n in left if all(i in known for i in n.input)]
        assert ready
        for n in ready:
            done.append(n)
            known.update(n.output)
            left.remove(n)
    del made.graph.node[:]
    made.graph.node.extend(done)
    return made


def made_inputs(session, n):
    arrays = {}
    for port in session.get_inputs():
        shape = [d if isinstance(d, int) else n for d in port.shape]
        arrays[port.name] = (RANDOM.integers(0, 30, shape) if "int64" in port.type
                             else RANDOM.standard_normal(shape).astype(np.float32))
    return arrays


@pytest.mark.parametrize("passes", with_long([[]], ["--no-passes"]), ids=["passes", "plain"])
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.__name__)
def test_every_size_of_one_artifact(hone, tmp_path, case, passes):
    made, shapes, bound = case()
    onnx.save(sort_nodes(made), tmp_path / "m.onnx")
    sound(hone("compile", "m.onnx", "--shape", shapes, "-o", "m.so", *passes))
    artifact, session = Artifact(tmp_path / "m.so"), ort.InferenceSession(str(tmp_path / "m.onnx"))
    assert list(artifact.bounds().values()) == [bound]
    for i, n in enumerate([bound, 1, 2, bound - 1, 3, bound // 2, bound]):
        inputs = made_inputs(session, n)
        results = artifact(*inputs.values(), fill=[0xFF, 0x7F, 0xA5][i % 3])  # NaN, 3e38, -3e-16
        for name, result, expected in zip(session.get_outputs(), results, session.run(None, inputs)):
            assert result.shape == expected.shape, (n, name.name)
            np.testing.assert_allclose(result, expected, rtol=2e-4, atol=2e-5, err_msg=f"{name.name} at {n}")


def test_sizes_that_do_not_fit_are_refused(hone, tmp_path):
    made, shapes, bound = cache()
    onnx.save(sort_nodes(made), tmp_path / "m.onnx")
    sound(hone("compile", "m.onnx", "--shape", shapes, "-o", "m.so"))
    artifact = Artifact(tmp_path / "m.so")
    past = lambda n, d=4: np.zeros((1, 3, n, d), np.float32)
    artifact(past(bound + 1), past(1), past(1), expect=8)
    artifact(past(0), past(1), past(1), expect=8)
    artifact(past(5), past(2), past(1), expect=8)
    artifact(past(5), past(1), past(1))


def test_verify_and_run_at_several_sizes(hone, tmp_path):
    made, _, _ = mlp()
    onnx.save(made, tmp_path / "m.onnx")
    result = hone("verify", "m.onnx", "--shape", "x[batch<=9,20]")
    sound(result)
    assert re.findall(r"batch = (\d+)", result.text) == ["9", "1", "8", "2", "5", "3"]
    result = hone("run", "m.onnx", "--shape", "x[batch=4<=9,20]")
    sound(result)
    assert "y: f32[4,20]" in result.text


def test_the_header_takes_the_size(hone, tmp_path):
    made, _, _ = tokens()
    onnx.save(sort_nodes(made), tmp_path / "m.onnx")
    sound(hone("compile", "m.onnx", "--shape", "x[1,N<=12,6]", "-o", "m.so", "--prefix", "tok"))
    header = (tmp_path / "m.h").read_text()
    assert "#define tok_N_BOUND 12" in header
    assert "int tok_run(int64_t size_N, const float *in0, float *out0, float *out1" in header
    assert "output 0: f32[1,N + 1,6]" in header


def test_a_program_takes_its_size_from_its_input(hone, tmp_path):
    made, _, _ = mlp()
    onnx.save(made, tmp_path / "m.onnx")
    sound(hone("compile", "m.onnx", "--shape", "x[N<=23,20]", "-o", "m"))
    x = floats(6, 20)
    expected = ort.InferenceSession(str(tmp_path / "m.onnx")).run(None, {"x": x})[0]
    np.save(tmp_path / "x.npy", x)
    x.tofile(tmp_path / "x.raw")
    for name in ("x.npy", "x.raw"):
        sound(hone(tmp_path / name, program=tmp_path / "m"))
        np.testing.assert_allclose(np.load(tmp_path / "output_0.npy"), expected, rtol=1e-4, atol=1e-5)


def chosen_by_size():
    """An If whose condition depends on the size alone, with another rank in each branch."""
    return [node("Shape", "x", "s", start=0, end=1), node("Squeeze", "s", "n"), node("Greater", "n five", "is"),
            helper.make_node("If", ["is"], ["y"], then_branch=branch("a", node("Exp", "x", "a")), else_branch=branch("b", node("ReduceSum", "x", "b", keepdims=0)))]


@pytest.mark.parametrize("nodes, reason", [
    ([node("Split", "x", "y z", axis=0, num_outputs=2)], "dimension does not grow"), ([node("Resize", "x empty scales", "y")], "linearly"),
    (chosen_by_size(), "the passes"),
], ids=["Split", "Resize", "If"])
def test_what_cannot_carry_it_is_refused_by_name(hone, tmp_path, nodes, reason):
    made = model(nodes, [("x", FLOAT, ["n", 4])], [("y", FLOAT, None)],
                 weights(axes=ints(0), empty=np.zeros(0, np.float32), scales=np.array([1.5, 1], np.float32), five=np.int64(5)))
    made.graph.output[0].type.tensor_type.ClearField("shape")
    onnx.save(made, tmp_path / "m.onnx")
    refused(hone("compile", "m.onnx", "--shape", "x[N<=8,4]", "-o", "m.so"), "E_UNSUP E_SHAPE", reason)


def test_a_branch_that_only_size_1_chooses_is_not_compiled(hone, tmp_path):
    """Sizes of 1 are not compared with others. The other If is chosen at sizes that are."""
    nodes = [node("Shape", "x", "s", start=0, end=1), node("Squeeze", "s", "n"), node("Equal", "n one", "single"), node("Greater", "n five", "many"),
             helper.make_node("If", ["many"], ["h"], then_branch=branch("a", node("Exp", "x", "a")), else_branch=branch("b", node("Neg", "x", "b"))),
             helper.make_node("If", ["single"], ["y"], then_branch=branch("c", node("Abs", "h", "c")), else_branch=branch("d", node("Tanh", "h", "d")))]
    onnx.save(model(nodes, [("x", FLOAT, ["n", 4])], [("y", FLOAT, ["n", 4])], weights(one=np.int64(1), five=np.int64(5))), tmp_path / "m.onnx")
    result = hone("compile", "m.onnx", "--shape", "x[N<=24,4]", "-o", "m.so")
    sound(result)
    assert "at N = 1 the model takes another branch" in result.errors, result
    artifact, session = Artifact(tmp_path / "m.so"), ort.InferenceSession(str(tmp_path / "m.onnx"))
    for n in (24, 6, 5, 2, 13):
        x = floats(n, 4)
        np.testing.assert_allclose(artifact(x)[0], session.run(None, {"x": x})[0], rtol=1e-5)


def test_small_sizes_with_another_graph_are_refused_by_the_artifact(hone, tmp_path):
    made = model(chosen_by_size(), [("x", FLOAT, ["n", 4])], [("y", FLOAT, None)], weights(five=np.int64(5)))
    made.graph.output[0].type.tensor_type.ClearField("shape")
    onnx.save(made, tmp_path / "m.onnx")
    result = hone("compile", "m.onnx", "--shape", "x[N<=24,4]", "-o", "m.so")
    sound(result)
    assert "refuses sizes of N below 7" in result.errors
    artifact = Artifact(tmp_path / "m.so")
    for n in (24, 7, 11):
        x = floats(n, 4)
        np.testing.assert_allclose(artifact(x)[0], np.exp(x), rtol=1e-5)
    for n in (6, 5, 1):
        artifact(floats(n, 4), expect=8)
    refused(hone("compile", "m.onnx", "--shape", "x[2<=N<=24,4]", "-o", "m.so"), "E_UNSUP", "the passes")


def test_sizes_between_a_lower_bound_and_a_bound(hone, tmp_path):
    """Strided levels, of which the last have the same size at most of the heights."""
    levels = [node("Conv", f"c{k} w{k}", f"c{k + 1}", strides=[2, 2], pads=[1, 1, 1, 1]) for k in range(5)]
    nodes = [*levels, node("Shape", "c2", "s"), helper.make_node("Resize", ["c5", "", "", "s"], ["u"], mode="linear"), node("Add", "u c2", "v"), node("GlobalAveragePool", "c5", "g"),
             node("Shape", "c4", "t"), helper.make_node("Resize", ["c5", "", "", "t"], ["z"], mode="nearest"), node("Mul", "v g", "y")]
    made = model(nodes, [("c0", FLOAT, ["n", 3, "h", "w"])], [("y", FLOAT, None), ("z", FLOAT, None)], weights(**{f"w{k}": floats(4, 4 if k else 3, 3, 3) for k in range(5)}))
    for port in made.graph.output:
        port.type.tensor_type.ClearField("shape")
    onnx.save(sort_nodes(made), tmp_path / "m.onnx")
    sound(hone("compile", "m.onnx", "--shape", "c0[N<=3,3,64<=H<=112,64<=W<=128]", "-o", "m.so"))
    artifact, session = Artifact(tmp_path / "m.so"), ort.InferenceSession(str(tmp_path / "m.onnx"))
    for i, (n, h, w) in enumerate([(3, 112, 128), (1, 64, 64), (2, 65, 65), (1, 97, 65), (3, 64, 97), (2, 80, 96), (1, 111, 66), (3, 66, 127)]):
        x = floats(n, 3, h, w)
        for result, expected in zip(artifact(x, fill=[0xFF, 0x7F, 0xA5][i % 3]), session.run(None, {"c0": x})):
            assert result.shape == expected.shape, (h, w)
            np.testing.assert_allclose(result, expected, rtol=2e-4, atol=2e-5, err_msg=f"{n}, {h} x {w}")


def test_two_dimensions_with_the_same_bound(hone, tmp_path):
    """What is a copy where both have the same size is none elsewhere; rows of a product are followed too."""
    nodes = [node("Shape", "a", "sa", start=1, end=2), node("Shape", "b", "sb", start=1, end=2), node("Concat", "one sa sb", "square", axis=0), node("Unsqueeze", "mask one", "m"), node("Expand", "m square", "e"),
             node("Transpose", "b", "t", perm=[0, 2, 1]), node("MatMul", "a t", "s"), node("Add", "s e", "k"), node("Softmax", "k", "p"), node("MatMul", "p b", "o"),
             node("Reshape", "o heads", "h"), node("Transpose", "h", "ht", perm=[2, 1, 0, 3]), node("Reshape", "ht flat", "f"), node("Reshape", "f rows", "y")]
    made = model(nodes, [("a", FLOAT, ["n", "s", 8]), ("b", FLOAT, ["n", "e", 8]), ("mask", FLOAT, ["n", "e"])], [("o", FLOAT, None), ("y", FLOAT, None)],
                 weights(one=ints(1), heads=ints(0, 0, 2, 4), flat=ints(2, -1, 4), rows=ints(-1, 8)))
    for port in made.graph.output:
        port.type.tensor_type.ClearField("shape")
    onnx.save(sort_nodes(made), tmp_path / "m.onnx")
    sound(hone("compile", "m.onnx", "--shape", "a[N<=3,S<=16,8],b[N,E<=16,8],mask[N,E]", "-o", "m.so"))
    artifact, session = Artifact(tmp_path / "m.so"), ort.InferenceSession(str(tmp_path / "m.onnx"))
    for i, (n, s, e) in enumerate([(3, 16, 16), (1, 1, 1), (2, 7, 12), (3, 12, 7), (2, 5, 5), (1, 16, 1), (3, 1, 16)]):
        arrays = [floats(n, s, 8), floats(n, e, 8), floats(n, e)]
        for result, expected in zip(artifact(*arrays, fill=[0xFF, 0x7F, 0xA5][i % 3]), session.run(None, dict(zip(("a", "b", "mask"), arrays)))):
            np.testing.assert_allclose(result, expected, rtol=2e-4, atol=2e-5, err_msg=f"{n}, {s}, {e}")


def branches():
    """An If of which both branches sum along the dimension, read a table of positions and divide by the size."""
    first = [node("Transpose", "x", "t", perm=[0, 2, 1]), node("MatMul", "x t", "s"), node("Softmax", "s", "p"), node("MatMul", "p x", "o"), node("ReduceMean", "o one", "m", keepdims=1), node("Sub", "o m", "a")]
    second = [node("Slice", "table zero n zero", "part"), node("Add", "x part", "b0"), node("ReduceMax", "b0 one", "most", keepdims=1), node("Sub", "b0 most", "b")]
    nodes = [node("Shape", "x", "n", start=1, end=2), node("ReduceSum", "x", "sum", keepdims=0), node("Greater", "sum none", "is"),
             helper.make_node("If", ["is"], ["r"], then_branch=branch("a", *first), else_branch=branch("b", *second)), node("Relu", "r", "y"), node("ReduceSum", "r one", "z", keepdims=0)]
    return model(nodes, [("x", FLOAT, ["n", "s", 8])], [("y", FLOAT, None), ("z", FLOAT, None)], weights(table=floats(16, 8), zero=ints(0), one=ints(1), none=np.float32(0)))


@pytest.mark.parametrize("passes", with_long([[]], ["--no-passes"]), ids=["passes", "plain"])
def test_branches_depend_on_a_size(hone, tmp_path, passes):
    made = branches()
    for port in made.graph.output:
        port.type.tensor_type.ClearField("shape")
    onnx.save(made, tmp_path / "m.onnx")
    sound(hone("compile", "m.onnx", "--shape", "x[N<=3,S<=16,8]", "-o", "m.so", *passes))
    artifact, session = Artifact(tmp_path / "m.so"), ort.InferenceSession(str(tmp_path / "m.onnx"))
    for i, (n, s) in enumerate([(3, 16), (1, 1), (2, 7), (3, 15), (1, 9), (2, 16)] * 2):
        x = np.abs(floats(n, s, 8)) * (1 if i < 6 else -1)
        for result, expected in zip(artifact(x, fill=[0xFF, 0x7F, 0xA5][i % 3]), session.run(None, {"x": x})):
            np.testing.assert_allclose(result, expected, rtol=2e-4, atol=2e-5, err_msg=f"{n}, {s}")


def test_two_bounds_of_1(hone, tmp_path):
    made = model([node("Exp", "x", "y")], [("x", FLOAT, ["n", "s"])], [("y", FLOAT, ["n", "s"])], [])
    onnx.save(made, tmp_path / "m.onnx")
    sound(hone("compile", "m.onnx", "--shape", "x[N<=1,S<=1]", "-o", "m.so"))
    np.testing.assert_allclose(Artifact(tmp_path / "m.so")(np.ones((1, 1), np.float32))[0], [[np.e]], rtol=1e-5)


def test_a_signal_of_dynamic_length(hone, tmp_path):
    made = model([helper.make_node("STFT", ["x", "step", "window"], ["y"])], [("x", FLOAT, ["n", "l", 1])], [("y", FLOAT, None)], weights(step=np.int64(8), window=np.hanning(32).astype(np.float32)))
    made.graph.output[0].type.tensor_type.ClearField("shape")
    onnx.save(made, tmp_path / "m.onnx")
    sound(hone("compile", "m.onnx", "--shape", "x[N<=3,L<=200,1]", "-o", "m.so"))
    artifact, session = Artifact(tmp_path / "m.so"), ort.InferenceSession(str(tmp_path / "m.onnx"))
    for n, length in ((3, 200), (1, 32), (2, 39), (3, 40), (1, 199), (2, 101)):
        x = floats(n, length, 1)
        np.testing.assert_allclose(artifact(x, fill=0x7F)[0], session.run(None, {"x": x})[0], rtol=2e-4, atol=2e-5)
    for length in (31, 1):  # no frame fits
        artifact(floats(1, length, 1), expect=8)


@pytest.mark.parametrize("text, reason", [
    ("x[N,20]", "the bound"), ("x[N<=,20]", "cannot be read"), ("x[N<=0,20]", "cannot be read"),
    ("x[N=9<=8,20]", "cannot be read"), ("x[0<=N,20]", "the bound"), ("x[9<=N<=8,20]", "cannot be read"), ("x[2*3,20]", "cannot be read"), ("x[N<=8,N<=20]", "once"), ("x[N<=8,M+]", "the bound"),
])
def test_shapes_that_say_it_wrongly(hone, tmp_path, text, reason):
    onnx.save(mlp()[0], tmp_path / "m.onnx")
    result = hone("compile", "m.onnx", "--shape", text, "-o", "m.so")
    assert result.code != 0 and reason in result.errors, result


def test_a_small_size_costs_little(hone, tmp_path):
    """Steps do the work of n, not of the bound: multiply-adds by instruction count would need a tool, time tells."""
    import time
    made = model([node("MatMul", "x w", "h"), node("Relu", "h", "r"), node("MatMul", "r v", "y")],
                 [("x", FLOAT, ["n", 512])], [("y", FLOAT, ["n", 512])],
                 weights(w=floats(512, 1024), v=floats(1024, 512)))
    onnx.save(made, tmp_path / "m.onnx")
    sound(hone("compile", "m.onnx", "--shape", "x[N<=256,512]", "-o", "m.so"))
    artifact = Artifact(tmp_path / "m.so")

    def fastest(n):
        x, best = floats(n, 512), 1e9
        for _ in range(7):
            begin = time.perf_counter()
            artifact(x)
            best = min(best, time.perf_counter() - begin)
        return best
    assert fastest(8) * 4 < fastest(256)


def detector():
    """Boxes of every place of an image, whose number depends on the data."""
    nodes = [node("Conv", "x w b", "c", strides=[4, 4]), node("Reshape", "c rows", "r"), node("Transpose", "r", "t", perm=[0, 2, 1]), node("Slice", "t zero four last", "raw"),
             node("Abs", "raw", "boxes"), node("Slice", "r four five one", "scores"), helper.make_node("NonMaxSuppression", ["boxes", "scores", "most", "iou", "least"], ["kept"]),
             node("Gather", "kept two", "index", axis=1), node("Gather", "boxes index", "y", axis=1), node("Squeeze", "scores front", "s"), node("Gather", "s index", "z", axis=0),
             node("ReduceSum", "z keep", "sum", keepdims=0)]
    return model(nodes, [("x", FLOAT, [1, 3, "h", "w"])], [("y", FLOAT, None), ("z", FLOAT, None), ("sum", FLOAT, None)],
                 weights(w=floats(5, 3, 4, 4), b=floats(5), rows=ints(1, 5, -1), zero=ints(0), four=ints(4), last=ints(2), five=ints(5), one=ints(1), most=ints(20), iou=np.array([0.5], np.float32),
                         least=np.array([0.1], np.float32), two=np.int64(2), front=ints(0, 1), keep=ints(0)), 19), "x[1,3,4<=H<=41,4<=W<=33]", (41, 33)


def selected():
    """Rows by a condition, in four ways."""
    nodes = [node("ReduceMax", "x one", "m", keepdims=0), node("Greater", "m limit", "is"), node("Compress", "x is", "y", axis=0), node("NonZero", "is", "at"), node("Transpose", "at", "rows", perm=[1, 0]),
             node("GatherND", "x rows", "z"), node("Squeeze", "at zero", "list"), node("Gather", "x list", "u", axis=0), node("ReduceMean", "u zero", "v", keepdims=1), node("NonZero", "x", "all"),
             node("Cast", "all", "places", to=FLOAT)]
    return model(nodes, [("x", FLOAT, ["h", "w"])], [(o, FLOAT, None) for o in ("y", "z", "u", "v", "places")], weights(one=ints(1), zero=ints(0), limit=np.float32(0.5)), 19), "x[2<=H<=20,7]", (20, 7)


@pytest.mark.parametrize("case", [detector, selected], ids=lambda c: c.__name__)
def test_data_decide_how_much_of_a_dynamic_dimension_is_left(hone, tmp_path, case):
    made, shapes, (high, wide) = case()
    for port in made.graph.output:
        port.type.tensor_type.ClearField("shape")
    onnx.save(sort_nodes(made), tmp_path / "m.onnx")
    sound(hone("compile", "m.onnx", "--shape", shapes, "-o", "m.so"))
    artifact, session = Artifact(tmp_path / "m.so"), ort.InferenceSession(str(tmp_path / "m.onnx"))
    rank = len(session.get_inputs()[0].shape)
    counts = set()
    for i in range(24):
        random = np.random.default_rng(i)
        h = [high, 4, high - 1, int(random.integers(4, high))][i % 4]
        w = wide if rank == 2 else [wide, 4, int(random.integers(4, wide))][i % 3]
        x = random.standard_normal((1, 3, h, w) if rank == 4 else (h, w)).astype(np.float32)
        for port, result, expected in zip(session.get_outputs(), artifact(x, fill=[0xFF, 0x7F, 0xA5][i % 3]), session.run(None, {"x": x})):
            counts.add((port.name, expected.shape))
            assert result.shape == expected.shape, (h, w, port.name)
            np.testing.assert_allclose(result, expected, rtol=2e-4, atol=2e-5, err_msg=f"{port.name} at {h}, {w}")
    assert len(counts) > 12
    sound(hone("verify", "m.onnx", "--shape", shapes))
