"""Variants of com.microsoft Attention against ONNX Runtime: the reference and compiled code."""

import numpy as np
import onnx
import pytest
from onnx import helper

from hone import with_long
from peer import TOOLS, hone_outputs, model_of, peer_outputs, same

RANDOM = np.random.default_rng(5)


@pytest.fixture(autouse=True)
def same_data():
    """The data of a test do not depend on the tests before it."""
    RANDOM.bit_generator.state = np.random.default_rng(5).bit_generator.state


def floats(*shape, scale=1.0):
    return (RANDOM.standard_normal(shape) * scale).astype(np.float32)


def ints(*values):
    return np.array(values, np.int32)


def run(op, inputs, attributes, outputs, tool, folder, constant=(), peer=None, only=lambda k, x: x, **tolerance):
    """inputs by position, None: omitted; peer: (op, inputs, attributes) of another node to compare with; only: the
    part of output k that is defined."""
    def model(name, op, inputs, attributes):
        given = {f"x{k}": x for k, x in enumerate(inputs) if x is not None and k not in constant}
        constants = {f"x{k}": inputs[k] for k in constant if k < len(inputs) and inputs[k] is not None}
        names = ["" if x is None else f"x{k}" for k, x in enumerate(inputs)]
        results = [f"y{k}" for k in range(outputs)]
        node = helper.make_node(op, names, results, domain="com.microsoft", **attributes)
        onnx.save(model_of([node], given, constants, results, domains=[("com.microsoft", 1)]), folder / name)
        return folder / name, given
    path, given = model("model.onnx", op, inputs, attributes)
    wanted = peer_outputs(*(model("peer.onnx", *peer) if peer else (path, given)))
    got = hone_outputs(tool, path, given, folder)
    same(*([only(k, x) for k, x in enumerate(list)] for list in (got, wanted)), **tolerance)


B, S, D, N, P = 2, 3, 8, 2, 4  # batch, rows, hidden, heads, past
QKV = [floats(B, S, D), floats(D, 3 * D), floats(3 * D)]
PAST = floats(2, B, N, P, D // N)
MASK = np.array([[1, 1, 1], [1, 1, 0]], np.int32)

# inputs: input, weights, bias, mask, past, attention bias
ATTENTION = {
    "plain": (QKV, {}, 1),
    "causal": (QKV, {"unidirectional": 1}, 1),
    "mask": (QKV + [MASK], {}, 1),
    "mask of rows": (QKV + [np.tril(np.ones((B, S, S), np.int32))], {"scale": 0.3}, 1),
    "lengths": (QKV + [ints(2, 3)], {}, 1),
    "ends and starts": (QKV + [ints(3, 2, 1, 0)], {}, 1),
    "past": (QKV + [None, PAST], {}, 2),
    "past, causal, mask": (QKV + [np.concatenate([np.ones((B, P), np.int32), MASK], 1), PAST],
                           {"unidirectional": 1}, 2),
    "bias": (QKV + [None, None, floats(B, N, S, S)], {}, 1),
    "sizes": ([QKV[0], floats(D, 20), floats(20)], {"qkv_hidden_sizes": [8, 8, 4]}, 1),
}


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("name", with_long(sorted(ATTENTION)[::2], *sorted(ATTENTION)[1::2]))
def test_attention(name, tool, tmp_path):
    inputs, attributes, outputs = ATTENTION[name]
    run("Attention", inputs, {"num_heads": N, **attributes}, outputs, tool, tmp_path, constant=(1, 2))


L = 5  # keys of another sequence
Q, K, V = floats(B, S, D), floats(B, L, D), floats(B, L, D)
OWN = [floats(B, S, D) for _ in range(2)]
CACHE = [floats(B, N, P, D // N), floats(B, N, P, D // N)]

# query, key, value, bias, padding mask, attention bias, past key, past value
MULTI = {
    "plain": ([Q, K, V], {}, 1),
    "bias, wide values": ([Q, K, floats(B, L, 12), floats(28)], {}, 1),
    "padding": ([Q, K, V, None, RANDOM.integers(0, 2, (B, L)).astype(np.int32)], {}, 1),
    "added": ([Q, K, V, None, None, floats(1, N, S, L)], {"scale": 0.5}, 1),
    "causal": ([Q, *OWN], {"unidirectional": 1}, 1),
    "cache": ([Q, *OWN, None, None, None, *CACHE], {}, 3),
    "cache, causal": ([Q, *OWN, floats(3 * D), None, None, *CACHE], {"unidirectional": 1}, 3),
    "present": ([Q, *OWN], {}, 3),
    "split heads": ([Q, floats(B, N, L, D // N), floats(B, N, L, D // N)], {}, 1),
}


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("name", sorted(MULTI))
def test_multi_head_attention(name, tool, tmp_path):
    inputs, attributes, outputs = MULTI[name]
    run("MultiHeadAttention", inputs, {"num_heads": N, **attributes}, outputs, tool, tmp_path)


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("packed", [2, 3])
def test_packed_operands_are_the_separate_ones(packed, tool, tmp_path):
    parts = [Q, *OWN]
    heads = [x.reshape(B, S, N, D // N) for x in parts]
    joined = np.stack(heads[3 - packed:], 3)
    bias = floats(3 * D)
    inputs = [joined, None, None, bias] if packed == 3 else [Q, joined, None, bias]
    run("MultiHeadAttention", inputs, {"num_heads": N}, 1, tool, tmp_path,
        peer=("MultiHeadAttention", [*parts, bias], {"num_heads": N}))


FEW, SIZE = 2, 16
HEADS = 4
TABLE = np.arange(16)[:, None] * 0.3 ** np.arange(SIZE // 2)[None] / 3
COS, SIN = np.cos(TABLE).astype(np.float32), np.sin(TABLE).astype(np.float32)


def grouped(batch, rows, past, total, lasts, packed=False, rotary=False, bias=None, sink=None):
    q, k, v = (floats(batch, rows, n * SIZE) for n in (HEADS, FEW, FEW))
    cache = [floats(batch, FEW, past, SIZE) for _ in range(2)] if past is not None else [None, None]
    parts = [np.concatenate([q, k, v], 2), None, None] if packed else [q, k, v]
    tables = [COS, SIN] if rotary else [None, None]
    inputs = parts + cache + [ints(*lasts), np.array(total, np.int32).reshape(1)] + tables + [None, bias, sink]
    while inputs[-1] is None:
        inputs.pop()
    return inputs


GROUPED = {
    "prompt": (grouped(1, 4, None, 4, [3]), {}),
    "prompt, rotary": (grouped(1, 4, None, 4, [3], rotary=True), {"do_rotary": 1}),
    "prompt, empty cache": (grouped(1, 4, 0, 4, [3]), {}),
    "packed": (grouped(1, 4, None, 4, [3], packed=True, rotary=True), {"do_rotary": 1}),
    "interleaved": (grouped(1, 4, None, 4, [3], rotary=True), {"do_rotary": 1, "rotary_interleaved": 1}),
    "next token": (grouped(1, 1, 5, 6, [5], rotary=True), {"do_rotary": 1}),
    "next token, packed": (grouped(1, 1, 5, 6, [5], packed=True, rotary=True), {"do_rotary": 1}),
    "several tokens": (grouped(1, 3, 5, 8, [7]), {}),
    "rows of other lengths": (grouped(2, 1, 5, 6, [3, 5], rotary=True), {"do_rotary": 1}),
    "softcap": (grouped(1, 1, 5, 6, [5]), {"softcap": 2.0, "scale": 0.7}),
    "window": (grouped(1, 6, None, 6, [5]), {"local_window_size": 2}),
    "window, next token": (grouped(1, 1, 6, 7, [6]), {"local_window_size": 3}),
    "bias": (grouped(1, 4, None, 4, [3], bias=floats(1, HEADS, 4, 4)), {}),
    "smooth": (grouped(1, 4, None, 4, [3]), {"smooth_softmax": 1}),
    "sink": (grouped(1, 4, None, 4, [3], sink=floats(HEADS)), {}),
}


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("name", with_long(sorted(GROUPED)[::2], *sorted(GROUPED)[1::2]))
def test_group_query_attention(name, tool, tmp_path):
    inputs, attributes = GROUPED[name]
    attributes = {"num_heads": HEADS, "kv_num_heads": FEW, **attributes}
    def valid(k, x):  # cache elements past a row's last key are undefined
        if k:
            for row, last in enumerate(inputs[5]):
                x[row, :, last + 1:] = 0
        return x
    run("GroupQueryAttention", inputs, attributes, 3, tool, tmp_path, constant=(6, 7, 8), only=valid)


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("name", ["prompt", "next token", "rows"])
def test_grouped_attention_with_a_length_of_the_run(name, tool, tmp_path):
    """total_sequence_length is an input: keys are appended at seqlens_k in a cache that has room for all."""
    inputs = {"prompt": grouped(1, 4, 9, 4, [3], rotary=True), "next token": grouped(1, 1, 9, 6, [5], rotary=True),
              "rows": grouped(2, 1, 9, 6, [3, 5], rotary=True)}[name]
    def valid(k, x):
        if k:
            for row, last in enumerate(inputs[5]):
                x[row, :, last + 1:] = 0
        return x
    run("GroupQueryAttention", inputs, {"num_heads": HEADS, "kv_num_heads": FEW, "do_rotary": 1}, 3, tool, tmp_path,
        constant=(7, 8), only=valid)


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("form", ["Where", "Add"])
def test_large_finite_mask_hides_no_key_from_a_row_without_keys(form, tool, tmp_path):
    """Softmax weighs all of them equally: only a mask of -inf lets the step leave out the keys after a count."""
    q, kt, v = floats(1, 2, 3, SIZE), floats(1, 2, SIZE, 9), floats(1, 2, 9, SIZE)
    constants = {"columns": np.arange(9, dtype=np.int64), "nothing": np.float32(-1e38), "zero": np.float32(0)}
    nodes = [helper.make_node("MatMul", ["q", "k"], ["scores"]),
             helper.make_node("GreaterOrEqual", ["columns", "count"], ["hidden"])]
    if form == "Where":
        nodes += [helper.make_node("Where", ["hidden", "nothing", "scores"], ["masked"])]
    else:
        nodes += [helper.make_node("Where", ["hidden", "nothing", "zero"], ["mask"]),
                  helper.make_node("Add", ["scores", "mask"], ["masked"])]
    nodes += [helper.make_node("Softmax", ["masked"], ["weights"], axis=-1),
              helper.make_node("MatMul", ["weights", "v"], ["y"])]
    for count in (0, 4):
        given = {"q": q, "k": kt, "v": v, "count": np.array([count])}
        onnx.save(model_of(nodes, given, constants, ["y"]), tmp_path / "model.onnx")
        same(hone_outputs(tool, tmp_path / "model.onnx", given, tmp_path), peer_outputs(tmp_path / "model.onnx", given))


def codes(*shape, dtype=np.uint8):
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    return RANDOM.integers(low, high, shape, dtype=dtype, endpoint=True)


def number(x, dtype=np.float32):
    return np.array(x, dtype)


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("past", [False, True])
def test_quantised_attention(past, tool, tmp_path):
    weights = codes(D, 3 * D, dtype=np.int8)
    mask = np.concatenate([np.ones((B, P), np.int32), MASK], 1) if past else MASK
    inputs = [codes(B, S, D), weights, floats(3 * D), number(0.02), number(0.01), mask, number(120, np.uint8),
              number(0, np.int8)] + ([PAST] if past else [])
    run("QAttention", inputs, {"num_heads": N, "unidirectional": int(past)}, 1 + past, tool, tmp_path,
        constant=(1, 2, 3, 4, 6, 7))


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("segments", [False, True])
def test_quantised_embeddings(segments, tool, tmp_path):
    ids = RANDOM.integers(0, 9, (2, 5)).astype(np.int32)
    tables = [codes(9, 8), codes(6, 8), codes(2, 8) if segments else None, codes(8), codes(8)]
    scales = [number(0.02 + 0.01 * k) if tables[k] is not None else None for k in range(5)]
    zeros = [number(120 + k, np.uint8) if tables[k] is not None else None for k in range(5)]
    inputs = [ids, RANDOM.integers(0, 2, (2, 5)).astype(np.int32) if segments else None, *tables,
              np.array([[1, 1, 1, 0, 0], [1] * 5], np.int32), *scales, *zeros]
    run("QEmbedLayerNormalization", inputs, {"epsilon": 1e-5}, 2, tool, tmp_path,
        constant=tuple(range(2, 7)) + tuple(range(8, 18)))


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("directions", [1, 2])
def test_dynamic_quantised_lstm(directions, symmetric, tool, tmp_path):
    """Weights stay 8 bits in the file, inputs stay floats: the LSTM of the dequantised weights."""
    hidden, width = 6, 5
    zero = 0 if symmetric else 7
    w = [RANDOM.integers(-90, 90, (directions, n, 4 * hidden)).astype(np.int8) for n in (width, hidden)]
    scale = [(np.abs(floats(directions)) + 0.5) / 100 for _ in range(2)]
    wide = [((a.astype(np.float32) - zero) * s[:, None, None]).transpose(0, 2, 1) for a, s in zip(w, scale)]
    zeros = np.full(directions, zero, np.int8)
    bias, first = floats(directions, 8 * hidden), [floats(directions, 2, hidden) for _ in range(2)]
    tail = [bias, None, *first, None]
    attributes = {"hidden_size": hidden, "direction": "bidirectional" if directions == 2 else "forward"}
    x = floats(4, 2, width)
    inputs = [x, *w, *tail, scale[0], zeros, scale[1], zeros]
    given = {f"x{k}": v for k, v in enumerate(inputs) if v is not None}
    names = [f"x{k}" if v is not None else "" for k, v in enumerate(inputs)]
    outputs = ["y0", "y1", "y2"]
    node = helper.make_node("DynamicQuantizeLSTM", names, outputs, domain="com.microsoft", **attributes)
    constant = {k: given.pop(k) for k in ("x1", "x2", "x8", "x9", "x10", "x11")}
    onnx.save(model_of([node], given, constant, outputs, domains=[("com.microsoft", 1)]), tmp_path / "m.onnx")
    got = hone_outputs(tool, tmp_path / "m.onnx", given, tmp_path)
    exact = helper.make_node("LSTM", names[:8], outputs, **attributes)
    onnx.save(model_of([exact], given, {"x1": wide[0], "x2": wide[1]}, outputs), tmp_path / "wide.onnx")
    same(got, peer_outputs(tmp_path / "wide.onnx", given))
    # ONNX Runtime also quantises the operands of each matmul: 2 % error
    for mine, other in zip(got, peer_outputs(tmp_path / "m.onnx", given)):
        assert np.linalg.norm(mine - other) <= 0.02 * np.linalg.norm(other)


def packed_weights(n, k, block, bits, zeros):
    blocks = -(-k // block)
    inputs = [codes(n, blocks, block * bits // 8), np.abs(floats(n * blocks, scale=0.1))]
    if zeros == "packed":
        inputs.append(codes(n * -(-blocks * bits // 8)))
    elif zeros == "floats":
        inputs.append(RANDOM.uniform(0, 2 ** bits, n * blocks).astype(np.float32))
    return inputs


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("bits,zeros,rows,k", [
    (4, None, 3, 40), (4, "packed", 20, 40), (4, "floats", 3, 40), (8, None, 3, 64), (8, "packed", 3, 40),
    (2, None, 3, 64), (2, "packed", 20, 40), (4, "packed", 1, 4096), (4, None, 1, 4096)])
def test_weights_of_few_bits(bits, zeros, rows, k, tool, tmp_path):
    n, block = 6, 16
    weights = packed_weights(n, k, block, bits, zeros)
    inputs = [floats(rows, k), *weights]
    attributes = {"K": k, "N": n, "bits": bits, "block_size": block}
    if bits == 2:  # against the meaning: not every build of ONNX Runtime has 2 bits
        want = inputs[0] @ widened(inputs[1], inputs[2], weights[2] if zeros else None, bits, block, k).T
        given = {"x0": inputs[0]}
        node = helper.make_node("MatMulNBits", [f"x{i}" for i in range(len(inputs))], ["y"],
                                domain="com.microsoft", **attributes)
        constants = {f"x{i}": inputs[i] for i in range(1, len(inputs))}
        onnx.save(model_of([node], given, constants, domains=[("com.microsoft", 1)]), tmp_path / "m.onnx")
        same(hone_outputs(tool, tmp_path / "m.onnx", given, tmp_path), [want], 1e-3, 1e-3)
        return
    run("MatMulNBits", inputs, attributes, 1, tool, tmp_path, constant=(1, 2, 3), rtol=1e-3, atol=1e-2)


def bits_of(x, bits, count):
    parts = [(x >> (bits * i)) & (2 ** bits - 1) for i in range(8 // bits)]
    return np.stack(parts, -1).reshape(x.shape[0], -1)[:, :count]


def widened(b, scales, zeros, bits, block, k):
    n, blocks = b.shape[:2]
    q = bits_of(b.reshape(n, -1), bits, blocks * block).astype(np.float32)
    zero = np.full((n, blocks), 2 ** (bits - 1), np.float32)
    if zeros is not None:
        zero = bits_of(zeros.reshape(n, -1), bits, blocks).astype(np.float32)
    each = [np.repeat(a.reshape(n, blocks), block, 1) for a in (zero, scales)]
    return ((q - each[0]) * each[1])[:, :k]


@pytest.mark.parametrize("tool", TOOLS)
def test_weights_with_an_order_of_their_own(tool, tmp_path):
    n, k, block = 6, 64, 16
    order = RANDOM.permutation(np.repeat(np.arange(4), 16)).astype(np.int32)
    b, scales = packed_weights(n, k, block, 4, None)
    q = bits_of(b.reshape(n, -1), 4, k).astype(np.float32) - 8
    x = floats(3, k)
    want = x @ (q * scales.reshape(n, 4)[:, order]).T
    node = helper.make_node("MatMulNBits", ["x0", "x1", "x2", "", "x4"], ["y"], domain="com.microsoft", K=k, N=n,
                            bits=4, block_size=block)
    onnx.save(model_of([node], {"x0": x}, {"x1": b, "x2": scales, "x4": order}, domains=[("com.microsoft", 1)]),
              tmp_path / "m.onnx")
    same(hone_outputs(tool, tmp_path / "m.onnx", {"x0": x}, tmp_path), [want], 1e-3, 1e-3)


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("bits,zeros", [(4, False), (4, True), (8, True)])
def test_rows_of_a_quantised_table(bits, zeros, tool, tmp_path):
    words, width, block = 10, 48, 16
    data = codes(words, width * bits // 8)
    scales = np.abs(floats(words, 3))
    inputs = [data, RANDOM.integers(0, words, (2, 3)), scales]
    if zeros:
        inputs.append(codes(words, -(-3 * bits // 8)))
    run("GatherBlockQuantized", inputs, {"bits": bits, "block_size": block, "quantize_axis": 1}, 1, tool, tmp_path,
        constant=(0, 2, 3))


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("activation", [{"activation": "Relu"}, {"activation": "LeakyRelu", "activation_alpha": 0.2}])
def test_fused_gemm(activation, tool, tmp_path):
    run("FusedGemm", [floats(3, 5), floats(4, 5), floats(4)], {"transB": 1, "alpha": 0.5, **activation}, 1, tool,
        tmp_path)


@pytest.mark.parametrize("tool", TOOLS)
def test_embeddings_without_segments(tool, tmp_path):
    inputs = [RANDOM.integers(0, 9, (2, 5)).astype(np.int32), None, floats(9, 8), floats(6, 8), None, floats(8),
              floats(8), np.array([[1, 1, 1, 0, 0], [1] * 5], np.int32)]
    run("EmbedLayerNormalization", inputs, {"epsilon": 1e-5}, 3, tool, tmp_path, constant=(2, 3, 5, 6))
