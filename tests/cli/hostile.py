"""Hostile models, as bytes, each with its row in the catalogue of bad inputs and the expected error.
Some are written as raw protobuf fields, because no library writes them."""

import onnx
import numpy as np
from onnx import TensorProto as T
from onnx import helper as h

CASES = []  # (name, maker, expected ids or "ok", part of the message or None)


def case(expect, part=None, name=None):
    def add(maker):
        CASES.append((name or maker.__name__, maker, expect, part))
        return maker
    return add


# -- raw protobuf ---------------------------------------------------------------------------------

def varint(n):
    out = b""
    n &= (1 << 64) - 1
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, payload):
    if isinstance(payload, int):
        return varint(number << 3) + varint(payload)
    if isinstance(payload, str):
        payload = payload.encode()
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def raw_model(graph, opset=None, more=b""):
    opset = field(8, field(2, 17)) if opset is None else opset
    return field(1, 8) + field(7, graph) + opset + more


# -- helpers over onnx ----------------------------------------------------------------------------

def info(name, shape=(4,), kind=T.FLOAT):
    return h.make_tensor_value_info(name, kind, list(shape))


def model(nodes, inputs=(), outputs=(), initializers=(), opset=17, domains=(), sparse=(),
          functions=()):
    graph = h.make_graph(list(nodes), "g", list(inputs), list(outputs), list(initializers),
                         sparse_initializer=list(sparse))
    imports = [h.make_opsetid("", opset)] + [h.make_opsetid(d, v) for d, v in domains]
    return h.make_model(graph, opset_imports=imports, ir_version=8, functions=list(functions))


def node(op, inputs, outputs, **attributes):
    return h.make_node(op, inputs, outputs, **attributes)


def one(op, shape=(4,), inits=(), out=(4,), kind=T.FLOAT, inputs=("x",), opset=17, outkind=None,
        **attributes):
    """A model of one node with input x (and initializers by name) and output y."""
    return model([node(op, list(inputs), ["y"], **attributes)], [info("x", shape, kind)],
                 [info("y", out, outkind or kind) if out is not None
                  else h.make_empty_tensor_value_info("y")], inits, opset=opset)


def const(name, values, dtype=np.int64):
    return onnx.numpy_helper.from_array(np.array(values, dtype=dtype), name)


def tensor(name, dims, kind=T.FLOAT, raw=None, **more):
    t = T(name=name, dims=dims, data_type=kind)
    if raw is not None:
        t.raw_data = raw
    for key, value in more.items():
        getattr(t, key).extend(value)
    return t


def adds(t, shape=(4,)):
    """A model in which x + the tensor w is the output."""
    return model([node("Add", ["x", "w"], ["y"])], [info("x", shape)], [info("y", shape)], [t])


def identity():
    return one("Identity")


# -- rows 1 to 4: not a model ---------------------------------------------------------------------

@case("E_FORMAT", "no graph")
def empty_file():
    return b""


@case("E_FORMAT")
def one_byte():
    return b"\x08"


@case("E_FORMAT")
def zeros():
    return bytes(4096)


for count in (1, 3, 10, 40):
    case("E_FORMAT", "at byte", f"truncated_by_{count}")(
        lambda count=count: identity().SerializeToString()[:-count])

case("E_FORMAT", None, "varint_of_11_bytes")(lambda: b"\x08" + b"\xff" * 10 + b"\x01")
case("E_FORMAT", None, "tag_0")(lambda: raw_model(b"") + b"\x00\x01")
for wire in (3, 4, 6, 7):
    case("E_FORMAT", None, f"wire_type_{wire}")(
        lambda wire=wire: identity().SerializeToString() + varint(15 << 3 | wire) + b"\x01")
for name, n in (("2e31", 2**31 - 1), ("2e32", 2**32), ("2e63", 2**63), ("2e64", 2**64 - 1)):
    case("E_FORMAT", None, f"length_{name}")(
        lambda n=n: b"\x08\x08\x3a" + varint(n) + b"\x0a")


# -- row 5: nesting -------------------------------------------------------------------------------

def nested(depth):
    """Graphs within If within graphs, from the inside outwards."""
    end = field(12, field(1, "y"))
    graph = field(1, field(1, "c") + field(2, "y") + field(4, "Identity")) + end
    for _ in range(depth):
        attribute = field(1, "then_branch") + field(6, graph) + field(20, 5)
        graph = field(1, field(1, "c") + field(2, "y") + field(4, "If") + field(5, attribute)) + end
    x = field(1, "c") + field(2, field(1, field(1, 9) + field(2, b"")))
    return raw_model(field(11, x) + graph)


case("E_LIMIT E_UNSUP", None, "nested_65")(lambda: nested(65))
case("E_LIMIT E_UNSUP", None, "nested_2000")(lambda: nested(2000))
case("E_FORMAT E_LIMIT", None, "groups_bomb")(lambda: b"\x0b" * 100000)


# -- rows 6 to 9: structure -----------------------------------------------------------------------

@case("ok")
def packed_and_unpacked_dims():
    t = (b"\x0a" + varint(2) + varint(2) + varint(2)  # packed dims 2, 2
         + varint(1 << 3) + varint(1)                   # an unpacked third
         + field(2, 1) + field(8, "w") + field(9, np.ones(4, np.float32).tobytes()))
    g = adds(tensor("w", [2, 2, 1], raw=np.ones(4, np.float32).tobytes()), (2, 2, 1))
    whole = g.graph.SerializeToString()
    old = g.graph.initializer[0].SerializeToString()
    assert field(5, old) in whole
    return raw_model(whole.replace(field(5, old), field(5, t)))


@case("E_FORMAT", "graph")
def two_graphs():
    return raw_model(identity().graph.SerializeToString()) + field(
        7, identity().graph.SerializeToString())


@case("ok")  # as ONNX Runtime: the last counts, with a warning
def duplicate_initializer():
    m = adds(const("w", [1, 2, 3, 4], np.float32))
    m.graph.initializer.append(const("w", [4, 3, 2, 1], np.float32))
    return m


@case("E_FORMAT", "y")
def two_outputs_of_one_name():
    return model([node("Abs", ["x"], ["y"]), node("Neg", ["x"], ["y"])], [info("x")], [info("y")])


@case("E_FORMAT", "nowhere")
def undefined_tensor():
    return model([node("Add", ["x", "nowhere"], ["y"])], [info("x")], [info("y")])


@case("E_FORMAT")
def cycle():
    return model([node("Add", ["x", "b"], ["a"]), node("Abs", ["a"], ["b"]),
                  node("Abs", ["b"], ["y"])], [info("x")], [info("y")])


@case("E_FORMAT", "y")
def self_loop():
    return model([node("Add", ["x", "y"], ["y"])], [info("x")], [info("y")])


@case("E_FORMAT", "gone")
def output_that_no_node_makes():
    return model([node("Abs", ["x"], ["y"])], [info("x")], [info("gone")])


@case("ok")
def unsorted_nodes():
    return model([node("Abs", ["a"], ["y"]), node("Neg", ["x"], ["a"])], [info("x")], [info("y")])


# -- rows 10, 11: versions and operators ----------------------------------------------------------

case("E_FORMAT E_UNSUP", None, "no_graph")(lambda: field(1, 8) + field(8, field(2, 17)))
case("E_FORMAT E_UNSUP", None, "no_opset")(
    lambda: raw_model(identity().graph.SerializeToString(), b""))
for version in (0, -1, 9999, 2**62):
    case("E_FORMAT E_UNSUP", None, f"opset_{version}")(
        lambda version=version: raw_model(identity().graph.SerializeToString(),
                                          field(8, field(2, version))))
case("E_FORMAT E_UNSUP", None, "ir_version_2e63")(
    lambda: field(1, 2**63) + field(7, identity().graph.SerializeToString())
    + field(8, field(2, 17)))
case("E_UNSUP", "NoSuchOp", "unknown_op")(lambda: one("NoSuchOp"))


@case("E_UNSUP", "com.nobody")
def unknown_domain():
    return model([node("Add", ["x", "x"], ["y"], domain="com.nobody")], [info("x")], [info("y")],
                 domains=[("com.nobody", 1)])


@case("E_UNSUP E_FORMAT", "Gelu")
def op_newer_than_its_opset():
    return one("Gelu", opset=11)


# -- rows 12 to 15: tensors -----------------------------------------------------------------------

case("E_FORMAT", "4", "raw_too_short")(lambda: adds(tensor("w", [1000000], raw=b"1234"), (1000000,)))
case("E_FORMAT", None, "raw_and_float_data")(
    lambda: adds(tensor("w", [1], raw=b"1234", float_data=[1.0])))
case("E_FORMAT", None, "raw_odd_length")(lambda: adds(tensor("w", [4], raw=bytes(15))))
case("E_FORMAT", None, "raw_too_long")(lambda: adds(tensor("w", [4], raw=bytes(20))))
case("E_FORMAT", None, "no_data_at_all")(lambda: adds(tensor("w", [4])))
for name, dims in (("2e32x2e32", [2**32, 2**32]), ("2e62x4", [2**62, 4]), ("minus_1", [-1]),
                   ("minus_2e63", [-2**63]), ("rank_17", [1] * 17), ("0x2e62", [0, 2**62])):
    case("E_LIMIT E_SHAPE E_FORMAT", None, f"dims_{name}")(
        lambda dims=dims: adds(tensor("w", dims, raw=b"1234")))
    case("E_LIMIT E_SHAPE E_FORMAT", None, f"input_dims_{name}")(
        lambda dims=dims: model([node("Abs", ["x"], ["y"])], [info("x", dims)],
                                [h.make_empty_tensor_value_info("y")])
        if dims != [-1] else adds(tensor("w", dims, raw=b"1234")))
case("ok", None, "dims_0")(lambda: one("Abs", (0,), out=(0,)))
case("ok", None, "dims_0_by_3")(lambda: one("Abs", (0, 3), out=(0, 3)))
case("ok", None, "scalar")(lambda: one("Abs", (), out=()))
for kind in (0, 255, -1):
    case("E_TYPE E_FORMAT", None, f"dtype_{kind}")(
        lambda kind=kind: raw_model(adds(tensor("w", [4], raw=bytes(16))).graph.SerializeToString()
                                    .replace(b"\x08\x04\x10\x01", b"\x08\x04\x10" + varint(kind)))
        if kind in (0,) else retyped(kind))


def retyped(kind):
    t = varint(1 << 3) + varint(4) + field(2, kind) + field(8, "w") + field(9, bytes(16))
    m = adds(tensor("w", [4], raw=bytes(16)))
    old = m.graph.initializer[0].SerializeToString()
    graph = identity().graph
    del graph.node[:]
    return raw_model(
        field(1, node("Add", ["x", "w"], ["y"]).SerializeToString()) + field(2, "g") + field(5, t)
        + field(11, info("x").SerializeToString()) + field(12, info("y").SerializeToString())
        if old else b"")


@case("E_TYPE E_FORMAT E_UNSUP")
def string_tensor_with_raw_data():
    return model([node("Identity", ["w"], ["y"])], [], [info("y", (1,), T.STRING)],
                 [tensor("w", [1], T.STRING, raw=b"abcd")])


@case("ok E_UNSUP")
def int4_of_odd_count():
    t = tensor("w", [3], T.INT4, raw=b"\x21\x03")
    return model([node("DequantizeLinear", ["w", "s"], ["d"]), node("Add", ["x", "d"], ["y"])],
                 [info("x", (3,))], [info("y", (3,))], [t, const("s", 0.5, np.float32)], opset=21)


# -- row 16: where side files may lie -------------------------------------------------------------

def external(location, offset=None, length=None, more=(), dims=(4,)):
    t = T(name="w", dims=dims, data_type=T.FLOAT, data_location=T.EXTERNAL)
    entries = [("location", location)]
    entries += [("offset", str(offset))] if offset is not None else []
    entries += [("length", str(length))] if length is not None else []
    for key, value in entries + list(more):
        t.external_data.append(onnx.StringStringEntryProto(key=key, value=value))
    return adds(t, dims)


for name, location in (("up", "../../etc/passwd"), ("inside_up", "a/../../b"),
                       ("absolute", "/etc/passwd"), ("drive", "C:\\x"), ("backslash", "a\\..\\b"),
                       ("nul", "w.bin\0x"), ("empty", ""), ("long", "a" * 5000),
                       ("proc", "/proc/self/environ"), ("up_only", ".."), ("self", "."),
                       ("tilde", "~root/x/../../..")):
    case("E_PATH" if name not in ("self", "long", "empty") else "E_PATH E_FORMAT E_IO E_NOFILE",
         None, f"external_{name}")(lambda location=location: external(location))

for name, more in (("offset_minus_1", {"offset": -1}), ("offset_2e63", {"offset": 2**63}),
                   ("offset_past_end", {"offset": 4096}), ("length_0", {"length": 0}),
                   ("length_short", {"length": 8}), ("length_long", {"length": 4096}),
                   ("wraps", {"offset": 2**64 - 8, "length": 16}),
                   ("offset_word", {"offset": "ten"}), ("offset_hex", {"offset": "0x10"}),
                   ("offset_space", {"offset": " 0"}), ("twice", {"more": [("location", "w.bin")]}),
                   ("unknown_key", {"more": [("__class__", "x")]})):
    case("E_FORMAT", None, f"external_{name}")(lambda more=more: external("w.bin", **more))
case("E_FORMAT E_LIMIT", None, "external_1e5_keys")(
    lambda: external("w.bin", more=[(f"k{i}", "v") for i in range(100000)]))
case("ok", None, "external_sound")(lambda: external("w.bin", 0, 16))


@case("ok")
def external_overlapping():
    m = external("w.bin", 0, 16)
    other = T()
    other.CopyFrom(m.graph.initializer[0])
    other.name = "v"
    other.external_data[1].value = "8"
    m.graph.initializer.append(other)
    m.graph.node.append(node("Add", ["y", "v"], ["z"]))
    m.graph.output[0].name = "z"
    return m


@case("E_PATH")
def sparse_initializer_outside():
    values = T(name="w", dims=[2], data_type=T.FLOAT, data_location=T.EXTERNAL)
    values.external_data.append(onnx.StringStringEntryProto(key="location", value="../x"))
    sparse = onnx.SparseTensorProto(values=values, indices=const("i", [0, 3]), dims=[4])
    m = model([node("Add", ["x", "w"], ["y"])], [info("x")], [info("y")], sparse=[sparse])
    return m


@case("E_PATH")
def constant_outside():
    t = T(name="w", dims=[4], data_type=T.FLOAT, data_location=T.EXTERNAL)
    t.external_data.append(onnx.StringStringEntryProto(key="location", value="../x"))
    return model([node("Constant", [], ["w"], value=t), node("Add", ["x", "w"], ["y"])],
                 [info("x")], [info("y")])


# -- rows 23, 24: small file, huge value ----------------------------------------------------------

def grows(op, inits, inputs, **attributes):
    return model([node(op, inputs, ["y"], **attributes)], [info("x")],
                 [h.make_empty_tensor_value_info("y")], inits)


case("E_LIMIT", None, "constant_of_shape_1e12")(
    lambda: grows("ConstantOfShape", [const("s", [10**12])], ["s"]))
case("E_LIMIT", None, "constant_of_shape_2e63")(
    lambda: grows("ConstantOfShape", [const("s", [2**62, 2**62])], ["s"]))
case("E_SHAPE", None, "constant_of_shape_minus")(
    lambda: grows("ConstantOfShape", [const("s", [-5])], ["s"]))
case("E_LIMIT", None, "range_1e18")(
    lambda: grows("Range", [const("a", 0), const("b", 10**18), const("c", 1)], ["a", "b", "c"]))
case("E_SHAPE E_NUM E_LIMIT", None, "range_step_0")(
    lambda: grows("Range", [const("a", 0), const("b", 10), const("c", 0)], ["a", "b", "c"]))
case("E_LIMIT", None, "tile_1e9")(
    lambda: grows("Tile", [const("r", [10**12])], ["x", "r"]))
case("E_SHAPE", None, "tile_minus")(lambda: grows("Tile", [const("r", [-1])], ["x", "r"]))
case("E_LIMIT", None, "expand_2e40")(
    lambda: grows("Expand", [const("s", [2**40, 4])], ["x", "s"]))
case("E_LIMIT", None, "one_hot_2e40")(
    lambda: model([node("OneHot", ["x", "d", "v"], ["y"])], [info("x", (4,), T.INT64)],
                  [h.make_empty_tensor_value_info("y")],
                  [const("d", 2**40), const("v", [0, 1], np.float32)]))
case("E_LIMIT", None, "pad_2e40")(
    lambda: grows("Pad", [const("p", [2**40, 0])], ["x", "p"]))
case("E_LIMIT", None, "pad_2e63")(
    lambda: grows("Pad", [const("p", [2**63 - 1, 2**63 - 1])], ["x", "p"]))
case("E_LIMIT E_SHAPE", None, "resize_1e15")(
    lambda: model([node("Resize", ["x", "", "s"], ["y"])], [info("x", (1, 1, 4, 4))],
                  [h.make_empty_tensor_value_info("y")], [const("s", [1, 1, 1e15, 1], np.float32)]))
case("E_LIMIT", "node", "sixty_doublings")(
    lambda: model([node("Concat", [f"t{i}" if i else "x"] * 2, [f"t{i + 1}"], axis=0)
                   for i in range(60)], [info("x")], [h.make_empty_tensor_value_info("t60")]))


# -- row 26: recursion ----------------------------------------------------------------------------

def function(name, calls):
    return h.make_function("f", name, ["a"], ["b"], [node(calls, ["a"], ["b"], domain="f")],
                           [h.make_opsetid("", 17), h.make_opsetid("f", 1)])


@case("E_FORMAT E_LIMIT", "recurs")
def function_recursion():
    return model([node("A", ["x"], ["y"], domain="f")], [info("x")], [info("y")],
                 domains=[("f", 1)], functions=[function("A", "B"), function("B", "A")])


@case("E_FORMAT E_LIMIT E_UNSUP")
def function_bomb():
    """Thirty functions, each calling the next twice: 2^30 nodes when written out."""
    functions = []
    for i in range(30):
        call = f"F{i + 1}" if i < 29 else "Abs"
        domain = "f" if i < 29 else ""
        functions.append(h.make_function(
            "f", f"F{i}", ["a"], ["b"],
            [node(call, ["a"], ["m"], domain=domain), node(call, ["m"], ["b"], domain=domain)],
            [h.make_opsetid("", 17), h.make_opsetid("f", 1)]))
    return model([node("F0", ["x"], ["y"], domain="f")], [info("x")], [info("y")],
                 domains=[("f", 1)], functions=functions)


# -- rows 27, 28, 30, 31, 34: attributes that do not fit ---------------------------------------------

def conv(**attributes):
    w = tensor("w", [4, 4, 3, 3], raw=bytes(4 * 4 * 9 * 4))
    return one("Conv", (1, 4, 8, 8), [w], None, inputs=("x", "w"), **attributes)


BAD_CONV = {
    "group_0": {"group": 0}, "group_3": {"group": 3}, "group_minus": {"group": -1},
    "group_2e62": {"group": 2**62}, "stride_0": {"strides": [0, 1]},
    "stride_minus": {"strides": [-1, 1]}, "dilation_0": {"dilations": [0, 0]},
    "dilation_2e62": {"dilations": [2**62, 2**62]}, "pad_2e31": {"pads": [2**31] * 4},
    "pad_2e63": {"pads": [2**63 - 1] * 4}, "pad_minus": {"pads": [-9, -9, -9, -9]},
    "pads_count": {"pads": [1, 1]}, "strides_count": {"strides": [1]},
    "kernel_shape_wrong": {"kernel_shape": [5, 5]}, "kernel_shape_0": {"kernel_shape": [0, 0]},
    "auto_pad_word": {"auto_pad": "NONSENSE"}, "dilation_wide": {"dilations": [5, 5]},
}
for name, attributes in BAD_CONV.items():
    case("E_SHAPE E_LIMIT" if "2e" in name else "E_SHAPE E_UNSUP" if "word" in name else "E_SHAPE",
         None, f"conv_{name}")(lambda attributes=attributes: conv(**attributes))


def pool(**attributes):
    return one("MaxPool", (1, 4, 8, 8), (), None, **attributes)


for name, attributes in {"kernel_0": {"kernel_shape": [0, 0]}, "kernel_wide": {"kernel_shape": [9, 9]},
                         "kernel_minus": {"kernel_shape": [-1, 2]}, "kernel_rank": {"kernel_shape": [2]},
                         "stride_0": {"kernel_shape": [2, 2], "strides": [0, 0]},
                         "pad_wide": {"kernel_shape": [2, 2], "pads": [2, 2, 2, 2]},
                         "none": {}}.items():
    case("E_SHAPE E_FORMAT" if name != "pad_wide" else "E_SHAPE ok", None,
         f"pool_{name}")(lambda attributes=attributes: pool(**attributes))
for name, scale in (("0", 0.0), ("nan", float("nan")), ("1e30", 1e30), ("minus", -1.0),
                    ("inf", float("inf"))):
    case("E_SHAPE E_LIMIT E_NUM", None, f"resize_scale_{name}")(
        lambda scale=scale: model([node("Resize", ["x", "", "s"], ["y"])], [info("x", (1, 1, 4, 4))],
                                  [h.make_empty_tensor_value_info("y")],
                                  [const("s", [1, 1, scale, 1], np.float32)]))
case("E_SHAPE", None, "space_to_depth_0")(
    lambda: one("SpaceToDepth", (1, 4, 8, 8), (), None, blocksize=0))
case("E_SHAPE", None, "depth_to_space_3")(
    lambda: one("DepthToSpace", (1, 4, 8, 8), (), None, blocksize=3))
case("E_SHAPE", None, "split_sum")(
    lambda: model([node("Split", ["x", "s"], ["a", "b"])], [info("x", (4,))],
                  [h.make_empty_tensor_value_info("a"), h.make_empty_tensor_value_info("b")],
                  [const("s", [3, 3])]))
case("E_SHAPE", "axis", "softmax_axis_7")(lambda: one("Softmax", (2, 3, 4), (), None, axis=7))
case("E_SHAPE", "axis", "concat_axis_minus_9")(
    lambda: one("Concat", (2, 3, 4), (), None, inputs=("x", "x"), axis=-9))
case("E_SHAPE", None, "transpose_perm_twice")(lambda: one("Transpose", (2, 3), (), None, perm=[0, 0]))
case("E_SHAPE", None, "transpose_perm_out")(lambda: one("Transpose", (2, 3), (), None, perm=[0, 7]))
case("E_SHAPE", None, "gather_axis")(
    lambda: one("Gather", (4, 4), [const("i", [0])], None, inputs=("x", "i"), axis=5))
for index in (-10, 4, 2**62):
    case("E_SHAPE", None, f"gather_index_{index}")(
        lambda index=index: one("Gather", (4, 4), [const("i", [index])], None, inputs=("x", "i")))
    case("E_SHAPE", None, f"scatter_index_{index}")(
        lambda index=index: one("ScatterElements", (4,), [const("i", [index]),
                                                            const("u", [1], np.float32)], None,
                                inputs=("x", "i", "u")))
for k in (9, -1, 2**62):
    case("E_SHAPE", None, f"topk_{k}")(
        lambda k=k: model([node("TopK", ["x", "k"], ["y", "i"])], [info("x")],
                          [h.make_empty_tensor_value_info("y"),
                           h.make_empty_tensor_value_info("i")], [const("k", [k])]))
for name, shape in (("twice", [-1, -1]), ("product", [3]), ("minus_2", [-2]), ("big", [2**62, 2**62]),
                    ("zero_past", [1, 1, 0])):
    case("E_SHAPE E_LIMIT", None, f"reshape_{name}")(
        lambda shape=shape: one("Reshape", (4,), [const("s", shape)], None, inputs=("x", "s")))
for name, equation in (("comma", "ij,jk->"), ("repeat", "ii->ii"), ("many", "a" * 60 + "->"),
                       ("out", "ij->k"), ("dots", "i...j...->"), ("empty", ""), ("noise", "i!j->i")):
    case("E_SHAPE E_UNSUP E_FORMAT", None, f"einsum_{name}")(
        lambda equation=equation: one("Einsum", (4, 4), (), None, equation=equation))
case("E_SHAPE", None, "matmul_sizes")(
    lambda: model([node("MatMul", ["x", "w"], ["y"])], [info("x", (2, 3))],
                  [h.make_empty_tensor_value_info("y")], [const("w", np.ones((4, 5)), np.float32)]))
case("E_SHAPE", None, "add_sizes")(
    lambda: adds(const("w", [1, 2, 3], np.float32)))
case("E_TYPE", None, "add_types")(
    lambda: adds(const("w", [1, 2, 3, 4], np.float64)))
case("ok", None, "declared_output_shape_differs")(
    lambda: one("Abs", (4,), out=(5,)))
case("E_SHAPE E_NUM", None, "slice_step_0")(
    lambda: one("Slice", (4,), [const("s", [0]), const("e", [4]), const("a", [0]), const("t", [0])],
                None, inputs=("x", "s", "e", "a", "t")))
case("E_TYPE", "i64", "declared_output_type_differs")(
    lambda: one("Abs", (4,), out=(4,), outkind=T.INT64))
case("E_FORMAT", "axsi", "attribute_misspelt")(lambda: one("Softmax", (2, 3), (), None, axsi=0))
case("E_FORMAT E_SHAPE E_UNSUP", None, "too_many_inputs")(
    lambda: one("Abs", (4,), (), None, inputs=("x",) * 50))
case("E_FORMAT E_SHAPE E_UNSUP", None, "too_few_inputs")(
    lambda: one("Add", (4,), (), None, inputs=("x",)))
case("E_FORMAT E_SHAPE E_TYPE", None, "attribute_of_wrong_type")(
    lambda: one("Softmax", (2, 3), (), None, axis="one"))
for keep in (2, -1, 2**40):
    for op, more in (("ReduceMean", {"axes": [0]}), ("ReduceMax", {}), ("ArgMax", {"axis": 0})):
        case("E_FORMAT", f"keepdims is {keep}, expected 0 or 1", f"keepdims_{keep}_{op}")(
            lambda keep=keep, op=op, more=more: one(op, (2, 3), (), None, keepdims=keep, **more,
                                                    outkind=T.INT64 if op == "ArgMax" else None))
# An attribute's type is its operator's: a list of `bias` was right for an old operator that is not known here,
# one number is right for others.
case("E_UNSUP", "ImageScaler", "bias_of_an_old_operator")(
    lambda: one("ImageScaler", (1, 3, 4, 4), (), None, opset=8, scale=2.0, bias=[1.0, 2.0, 3.0]))
case("E_FORMAT", "attribute \"bias\" of Shrink is", "bias_of_another_type")(
    lambda: one("Shrink", (4,), (), None, bias=[1.0, 2.0]))
case("ok", None, "bias_as_it_should_be")(lambda: one("Shrink", (4,), bias=1.5, lambd=0.5))
case("E_LIMIT", "attribute", "attributes_5000")(
    lambda: one("Abs", (4,), (), None, **{f"a{i}": i for i in range(5000)}))


# -- row 35: quantisation -------------------------------------------------------------------------

def quantised(scale, zero=0, shape=(2, 3), **attributes):
    return model([node("QuantizeLinear", ["x", "s", "z"], ["q"], **attributes),
                  node("DequantizeLinear", ["q", "s", "z"], ["y"], **attributes)],
                 [info("x", shape)], [info("y", shape)],
                 [const("s", scale, np.float32), const("z", zero, np.int8)])


for name, scale, zero in (("length", [1.0] * 5, [0] * 5),):
    case("E_SHAPE E_NUM", None, f"quant_{name}")(
        lambda scale=scale, zero=zero: quantised(scale, zero, axis=1))


# -- row 37, 38: many names -----------------------------------------------------------------------

@case("ok")
def alike_names():
    names = ["a.b", "a/b", "a_b", "A_B"]
    nodes = [node("Add", [names[i - 1] if i else "x", "x"], [names[i]]) for i in range(4)]
    return model(nodes, [info("x")], [info("A_B")])
