"""GGUF files for tests: a writer that shares no code with hone's reader, small random models of each architecture, and what
they compute, in NumPy."""
import json
import struct

import numpy as np

U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64 = range(13)
WIDTH, HEADS, KEY_HEADS, DEPTH, INNER, VOCABULARY, BLOCKS = 64, 4, 2, 32, 96, 50, 2  # BLOCKS: unless the kind has more
PAST, ROWS = 3, 4


# -- a writer that shares no code with the reader

def text(string):
    data = string.encode()
    return struct.pack("<Q", len(data)) + data


def pair(key, kind, value):
    form = {U8: "B", U16: "H", U32: "I", I32: "i", F32: "f", U64: "Q", I64: "q", F64: "d", BOOL: "B"}
    body = text(value) if kind == STRING else value if kind == ARRAY else struct.pack("<" + form[kind], value)
    return text(key) + struct.pack("<I", kind) + body


def gguf(pairs, tensors, version=3, alignment=32):
    """tensors: {name: (dims outermost first, type id, bytes)}."""
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(pairs)) + b"".join(pair(*p) for p in pairs)
    data = b""
    for name, (dims, kind, payload) in tensors.items():
        head += text(name) + struct.pack("<I", len(dims)) + struct.pack(f"<{len(dims)}Q", *dims[::-1]) + struct.pack("<IQ", kind, len(data))
        data += payload + bytes(-len(payload) % alignment)
    return head + bytes(-len(head) % alignment) + data


def in_parts(pairs, tensors, count):
    """The bytes of each of `count` files, as llama-gguf-split writes them."""
    names = list(tensors)
    total = [("split.count", U16, count), ("split.tensors.count", I32, len(names))]
    return [gguf((pairs if k == 0 else []) + total + [("split.no", U16, k)], {n: tensors[n] for n in names[k::count]}) for k in range(count)]


# -- element types: floats, and two with scales, made here

def stored(x, kind):
    """The bytes of a tensor, and the values that they stand for."""
    if kind == 0:
        return x.astype("<f4").tobytes(), x.astype(np.float32)
    blocks = x.reshape(-1, 32).astype(np.float64)
    out, values = [], []
    for block in blocks:
        if kind == 8:  # Q8_0
            d = np.float16(np.abs(block).max() / 127)
            q = np.clip(np.rint(block / float(d)), -127, 127).astype(np.int8)
            out.append(d.tobytes() + q.tobytes())
            values.append(np.float32(d) * q.astype(np.float32))
        else:  # Q4_1
            d, m = np.float16((block.max() - block.min()) / 15), np.float16(block.min())
            q = np.clip(np.rint((block - float(m)) / float(d)), 0, 15).astype(np.uint8)
            out.append(d.tobytes() + m.tobytes() + (q[:16] | q[16:] << 4).tobytes())
            values.append(np.float32(d) * q.astype(np.float32) + np.float32(m))
    return b"".join(out), np.array(values, np.float32).reshape(x.shape)


# -- a model, and what it computes

# Of each kind: what it has, from the published descriptions of the architectures.
GEMMA = {"gelu": True, "embedding_scale": float(np.sqrt(np.float32(WIDTH)))}
POST = {"post": True, "pre": True}
KINDS = {
    "llama": {"pairs": True},
    "qwen2": {"bias": True},
    "qwen3": {"norm": "head"},
    "qwen2vl": {"bias": True, "sections": [4, 6, 6, 0]},
    "qwen3vl": {"norm": "head", "sections": [6, 5, 5, 0]},
    "gemma": GEMMA,
    "gemma2": {**GEMMA, **POST, "window": [True, False], "score_cap": 5.0, "logit_cap": 3.0},
    "gemma3": {**GEMMA, **POST, "norm": "head", "window": [True] * 5 + [False], "local_base": 10000.0},
    "phi3": {"joined": True, "turned": 24, "divisors": True, "magnitude": 1.19},
    "internlm2": {"pairs": True},
    "ernie4_5": {"pairs": True},
    "granite": {"pairs": True, "embedding_scale": 12.0, "residual_scale": 0.22, "logit_scale": 8.0, "score_scale": 0.1},
    "smollm3": {"pairs": True, "unrotated": 4, "blocks": 4},
    "olmo2": {"norm": "row", "post": True, "pre": False, "window": [True, False]},
    "gemma3-linear": {**GEMMA, **POST, "architecture": "gemma3", "norm": "head", "window": [False, True], "local_base": 10000.0,
                      "stretch": "linear"},
    "qwen2-yarn": {"architecture": "qwen2", "bias": True, "stretch": "yarn"},
    "llama-biases": {"architecture": "llama", "pairs": True, "biases": True},
}
FACTOR, ORIGINAL = 4.0, 16  # of stretched positions
SEEN = 3  # keys that a window has


def blocks_of(name):
    return KINDS[name].get("blocks", BLOCKS)


def model(name, matrix, seed=0, vocabulary=VOCABULARY, context=64):
    """(pairs, tensors, values of the tensors)"""
    rng = np.random.default_rng(seed)
    facts, tensors, values = KINDS[name], {}, {}
    kind, blocks = facts.get("architecture", name), blocks_of(name)

    def add(key, *dims, kind=0, about=0.0):
        x = about + rng.standard_normal(dims) * (0.3 if len(dims) == 1 else 1 / np.sqrt(dims[-1]))
        data, values[key] = stored(x, kind)
        tensors[key] = (dims, kind, data)

    add("token_embd.weight", vocabulary, WIDTH, kind=matrix)
    for i in range(blocks):
        q, k = HEADS * DEPTH, KEY_HEADS * DEPTH
        projections = [("attn_qkv", q + 2 * k, WIDTH)] if facts.get("joined") else [("attn_q", q, WIDTH), ("attn_k", k, WIDTH), ("attn_v", k, WIDTH)]
        gates = [("ffn_up", 2 * INNER, WIDTH)] if facts.get("joined") else [("ffn_gate", INNER, WIDTH), ("ffn_up", INNER, WIDTH)]
        for part, n, k in (*projections, ("attn_output", WIDTH, q), *gates, ("ffn_down", WIDTH, INNER)):
            add(f"blk.{i}.{part}.weight", n, k, kind=matrix)
            if facts.get("biases") or facts.get("bias") and part in ("attn_q", "attn_k", "attn_v"):
                add(f"blk.{i}.{part}.bias", n)
        for part in ["attn_norm", "ffn_norm"] * facts.get("pre", True) + ["post_attention_norm", "post_ffw_norm"] * facts.get("post", False):
            add(f"blk.{i}.{part}.weight", WIDTH, about=1.0)
        if "norm" in facts:
            for part, heads in (("attn_q_norm", HEADS), ("attn_k_norm", KEY_HEADS)):
                add(f"blk.{i}.{part}.weight", DEPTH * (heads if facts["norm"] == "row" else 1), about=1.0)
    if facts.get("divisors"):
        for which in ("short", "long"):
            add(f"rope_factors_{which}.weight", facts["turned"] // 2, about=2.0)
    add("output_norm.weight", WIDTH, about=1.0)
    pairs = [("general.architecture", STRING, kind)] + [(f"{kind}.{key}", U32, value) for key, value in (
        ("block_count", blocks), ("embedding_length", WIDTH), ("feed_forward_length", INNER), ("attention.head_count", HEADS),
        ("attention.head_count_kv", KEY_HEADS), ("attention.key_length", DEPTH), ("attention.value_length", DEPTH), ("context_length", context),
        ("rope.dimension_count", facts.get("turned", DEPTH)))] + [
        (f"{kind}.attention.layer_norm_rms_epsilon", F32, 1e-5), (f"{kind}.rope.freq_base", F32, 500.0),
        ("tokenizer.ggml.tokens", ARRAY, struct.pack("<IQ", STRING, 2) + text("a") + text("b"))]
    keys = {"embedding_scale": "embedding_scale", "residual_scale": "residual_scale", "logit_scale": "logit_scale",
            "score_scale": "attention.scale", "score_cap": "attn_logit_softcapping", "logit_cap": "final_logit_softcapping",
            "magnitude": "rope.scaling.attn_factor"}
    pairs += [(f"{kind}.{key}", F32, facts[fact]) for fact, key in keys.items() if fact in facts and not (fact == "embedding_scale" and facts.get("gelu"))]
    if "sections" in facts:  # of images
        pairs.append((f"{kind}.rope.dimension_sections", ARRAY, struct.pack("<IQ4i", I32, 4, *facts["sections"])))
    if "window" in facts:
        pairs.append((f"{kind}.attention.sliding_window", U32, SEEN))
    else:  # as converters write what a model does not have
        pairs += [(f"{kind}.attention.sliding_window", U32, 0), (f"{kind}.expert_count", U32, 0)]
    if "stretch" in facts or facts.get("divisors"):
        pairs.append((f"{kind}.rope.scaling.original_context_length", U32, ORIGINAL))
    if "stretch" in facts:
        pairs += [(f"{kind}.rope.scaling.type", STRING, facts["stretch"]), (f"{kind}.rope.scaling.factor", F32, FACTOR)]
    if facts.get("window") in ([True, False], [False, True]):
        pairs.append((f"{kind}.attention.sliding_window_pattern", ARRAY, struct.pack("<IQ2?", BOOL, 2, *facts["window"])))
    return pairs, tensors, values


def evaluate(name, w, ids, past, context=64):
    """logits [rows, vocabulary] and the caches, in float64, from the published descriptions of the architectures. context: positions
    that the model is asked for."""
    PAST, ROWS = past[0].shape[1], len(ids)  # the sizes of this call
    facts = KINDS[name]
    turned = facts.get("turned", DEPTH)
    w = {key: value.astype(np.float64) for key, value in w.items()}
    places = np.arange(PAST, PAST + ROWS)

    def norm(x, gain):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * gain

    def frequencies(is_local):
        i = np.arange(turned // 2)
        base = facts.get("local_base", 500.0) if is_local else 500.0
        plain = base ** (-2 * i / turned)
        if is_local or "stretch" not in facts:
            return plain
        if facts["stretch"] == "linear":
            return plain / FACTOR
        first, last = (turned * np.log(ORIGINAL / (turns * 2 * np.pi)) / (2 * np.log(base)) for turns in (32, 1))
        first, last = max(0, np.floor(first)), min(turned - 1, np.ceil(last))
        kept = 1 - np.clip((i - first) / max(0.001, last - first), 0, 1)
        return plain * kept + plain / FACTOR * (1 - kept)

    def rotate(x, is_local):  # [heads, rows, depth]
        f = frequencies(is_local)
        if facts.get("divisors"):
            f = f / w[f"rope_factors_{'long' if context > ORIGINAL else 'short'}.weight"]
        magnitude = facts.get("magnitude", 1) * (1 + 0.1 * np.log(FACTOR) if facts.get("stretch") == "yarn" else 1)
        angles = places[:, None] * f
        c, s = np.cos(angles) * magnitude, np.sin(angles) * magnitude
        y = x.copy()
        a, b = (np.s_[..., 0:turned:2], np.s_[..., 1:turned:2]) if facts.get("pairs") else (np.s_[..., :turned // 2], np.s_[..., turned // 2:turned])
        y[a], y[b] = x[a] * c - x[b] * s, x[a] * s + x[b] * c
        return y

    def dense(x, key):
        return x @ w[f"{key}.weight"].T + w.get(f"{key}.bias", 0)

    x, caches = w["token_embd.weight"][ids] * facts.get("embedding_scale", 1), []
    for i in range(len(past) // 2):
        b = f"blk.{i}."
        window = facts.get("window", [False])
        is_local = window[i % len(window)]
        h = norm(x, w[b + "attn_norm.weight"]) if facts.get("pre", True) else x
        if facts.get("joined"):
            q, k, v = np.split(dense(h, b + "attn_qkv"), [HEADS * DEPTH, (HEADS + KEY_HEADS) * DEPTH], 1)
        else:
            q, k, v = (dense(h, b + part) for part in ("attn_q", "attn_k", "attn_v"))
        if facts.get("norm") == "row":
            q, k = norm(q, w[b + "attn_q_norm.weight"]), norm(k, w[b + "attn_k_norm.weight"])
        q, k, v = (t.reshape(ROWS, -1, DEPTH).swapaxes(0, 1) for t in (q, k, v))
        if facts.get("norm") == "head":
            q, k = norm(q, w[b + "attn_q_norm.weight"]), norm(k, w[b + "attn_k_norm.weight"])
        if not facts.get("unrotated") or (i + 1) % facts["unrotated"]:
            q, k = rotate(q, is_local), rotate(k, is_local)
        k, v = np.concatenate([past[2 * i], k], 1), np.concatenate([past[2 * i + 1], v], 1)
        caches += [k, v]
        scores = q @ np.repeat(k, HEADS // KEY_HEADS, 0).swapaxes(1, 2) * facts.get("score_scale", 1 / np.sqrt(DEPTH))
        if "score_cap" in facts:
            scores = facts["score_cap"] * np.tanh(scores / facts["score_cap"])
        distance = places[:, None] - np.arange(PAST + ROWS)
        scores[:, (distance < 0) | (is_local & (distance >= SEEN))] = -np.inf
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        y = (scores / scores.sum(-1, keepdims=True)) @ np.repeat(v, HEADS // KEY_HEADS, 0)
        y = dense(y.swapaxes(0, 1).reshape(ROWS, -1), b + "attn_output")
        x = x + (norm(y, w[b + "post_attention_norm.weight"]) if facts.get("post") else y) * facts.get("residual_scale", 1)
        h = norm(x, w[b + "ffn_norm.weight"]) if facts.get("pre", True) else x
        gate, up = np.split(dense(h, b + "ffn_up"), 2, 1) if facts.get("joined") else (dense(h, b + "ffn_gate"), dense(h, b + "ffn_up"))
        gate = (0.5 * gate * (1 + np.tanh(np.sqrt(2 / np.pi) * (gate + 0.044715 * gate ** 3))) if facts.get("gelu")
                else gate / (1 + np.exp(-gate)))
        y = dense(gate * up, b + "ffn_down")
        x = x + (norm(y, w[b + "post_ffw_norm.weight"]) if facts.get("post") else y) * facts.get("residual_scale", 1)
    logits = norm(x, w["output_norm.weight"]) @ w["token_embd.weight"].T / facts.get("logit_scale", 1)
    return facts["logit_cap"] * np.tanh(logits / facts["logit_cap"]) if "logit_cap" in facts else logits, caches


# -- a language model with a tokeniser of bytes

def byte_characters():
    """Byte-level BPE writes each byte as a printable character."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    made, n = {b: chr(b) for b in plain}, 0
    for b in range(256):
        if b not in made:
            made[b] = chr(256 + n)
            n += 1
    return [made[b] for b in range(256)]


MERGED, SPECIAL = ["he", "ll", "hell"], ["<|im_start|>", "<|im_end|>", "<s>"]
TOKENS = byte_characters() + MERGED + SPECIAL
TEMPLATE = ("{% for message in messages %}{% if message.role == 'tool' %}{{ raise_exception('no tools here') }}{% endif %}"
            "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}{% endfor %}"
            "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}")


def array(kind, items):
    packed = [text(x) if kind == STRING else struct.pack("<i", x) for x in items]
    return struct.pack("<IQ", kind, len(items)) + b"".join(packed)


def language_model(name="llama", matrix=8, context=512, template=TEMPLATE, seed=0, parts=1):
    """(bytes of the file, or of each part; values of its tensors)"""
    pairs, tensors, values = model(name, matrix, seed, len(TOKENS), context)
    pairs = [p for p in pairs if not p[0].startswith("tokenizer")] + [
        ("general.name", STRING, "Tiny"), ("tokenizer.ggml.model", STRING, "gpt2"), ("tokenizer.ggml.pre", STRING, "qwen2"),
        ("tokenizer.ggml.tokens", ARRAY, array(STRING, TOKENS)),
        ("tokenizer.ggml.token_type", ARRAY, array(I32, [1] * (len(TOKENS) - 3) + [3] * 3)),
        ("tokenizer.ggml.merges", ARRAY, array(STRING, ["h e", "l l", "he ll"])), ("tokenizer.ggml.eos_token_id", U32, len(TOKENS) - 2)]
    if template:
        pairs.append(("tokenizer.chat_template", STRING, template))
    return gguf(pairs, tensors) if parts == 1 else in_parts(pairs, tensors, parts), values


def encode(string):
    """Without special tokens, for texts in which only "hell" merges."""
    ids, at, data = [], 0, string.encode()
    while at < len(data):
        if data[at:at + 4] == b"hell":
            ids.append(TOKENS.index("hell"))
            at += 4
        else:
            ids.append(data[at])
            at += 1
    return ids


def decode(ids):
    return b"".join(MERGED[i - 256].encode() if 256 <= i < 259 else bytes([i]) if i < 256 else b"" for i in ids)


def continue_greedily(name, values, ids, count, of_largest=False, context=512):
    """Tokens, and the lead of each over the second best (as a share of the largest |logit| if asked), by evaluating the whole
    text again for each."""
    made, leads = [], []
    nothing = [np.zeros((KEY_HEADS, 0, DEPTH)) for _ in range(2 * blocks_of(name))]
    for _ in range(count):
        logits = evaluate(name, values, np.array(ids + made), nothing, context)[0][-1]
        best = np.argsort(logits)[::-1]
        leads.append((logits[best[0]] - logits[best[1]]) / (np.abs(logits).max() if of_largest else 1))
        made.append(int(best[0]))
    return made, leads


def generate(hone, path, *words, **given):
    result = hone("generate", path, *words, "--json", "-", "--threads", "1", **given)
    assert result.code == 0, result
    return json.loads(result.text)


def agrees(got, want, leads):
    """Up to the first token that differs, which may do so only where rounding of the caches to 16 bits decides."""
    different = [lead for a, b, lead in zip(got, want, leads) if a != b]
    return len(got) == len(want) and (not different or different[0] < 0.02)
