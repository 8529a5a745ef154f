"""GGUF files: small random models of each architecture against an independent evaluation in NumPy, and damaged files."""
import re
import struct

import numpy as np
import pytest

from gguf_models import (ARRAY, BLOCKS, DEPTH, F32, I32, KEY_HEADS, KINDS, PAST, ROWS, STRING, U8, U16, U32, U64, VOCABULARY, WIDTH, blocks_of,
                         evaluate, gguf, model, text)
from hone import refused, sound, with_long


@pytest.mark.parametrize("name, matrix, how", [
    pytest.param(name, matrix, how, id=f"{name}-{kind}-{'reference' if how else 'compiled'}", marks=[pytest.mark.long] * (i > 3 and (matrix != 3 or bool(how))))
    for i, name in enumerate(KINDS) for kind, matrix in (("F32", 0), ("Q4_1", 3), ("Q8_0", 8)) for how in (["--reference"], [])])
def test_a_model_computes_what_its_architecture_says(hone, tmp_path, name, matrix, how):
    pairs, tensors, values = model(name, matrix)
    path, inputs, outputs = tmp_path / "model.gguf", tmp_path / "in", tmp_path / "out"
    path.write_bytes(gguf(pairs, tensors))
    inputs.mkdir()
    rng = np.random.default_rng(1)
    ids = rng.integers(0, VOCABULARY, ROWS)
    past = [rng.standard_normal((KEY_HEADS, PAST, DEPTH)) for _ in range(2 * blocks_of(name))]
    np.save(inputs / "input_ids.npy", ids[None])
    np.save(inputs / "position_ids.npy", np.arange(PAST, PAST + ROWS)[None])
    for i, cache in enumerate(past):
        np.save(inputs / f"past.{i // 2}.{'value' if i % 2 else 'key'}.npy", cache[None].astype(np.float32))
    sound(hone("run", path, "--inputs", inputs, "-o", outputs, *how))
    logits, caches = evaluate(name, values, ids, [cache.astype(np.float32) for cache in past])
    got = [np.load(outputs / f"out_{i}.npy")[0] for i in range(len(past) + 1)]
    close = 5e-4 if matrix and not how else 2e-4  # compiled, matrices of integers multiply activations of 15 bits
    for want, have in zip(caches + [logits], got):
        np.testing.assert_allclose(have, want, rtol=close, atol=close * np.abs(want).max())


CACHE = 16  # tokens that a cache holds as state


UP_TO_7 = ["--shape", "input_ids[1,N=ROWS<=7]"]
LEVELS = {"reference": ["--reference"], "compiled": [], "avx2": ["--cpu", "avx2"], "portable": ["--portable"]}


@pytest.mark.parametrize("how", [pytest.param([*shape, *level], id=f"{kind}{name}", marks=[pytest.mark.long] * (name in is_long))
                                 for kind, shape, is_long in (("", [], ("avx2", "portable")), ("up-to-7-", UP_TO_7, ("avx2", "reference")))
                                 for name, level in LEVELS.items()])
@pytest.mark.parametrize("past, rows", with_long([(3, 1), (12, 4)], (0, 4), (0, 1), (15, 1), (5, 4)))
@pytest.mark.parametrize("name, matrix", [("llama", 8), ("gemma3", 8), pytest.param("llama", 3, marks=pytest.mark.long),
                                          *(pytest.param(name, 8, marks=pytest.mark.long) for name in ("gemma2", "phi3", "olmo2", "gemma3-linear"))])
def test_caches_as_state_are_updated_in_place(hone, tmp_path, name, matrix, past, rows, how):
    pairs, tensors, values = model(name, matrix)
    path, inputs, outputs = tmp_path / "model.gguf", tmp_path / "in", tmp_path / "out"
    path.write_bytes(gguf(pairs, tensors))
    inputs.mkdir()
    rng = np.random.default_rng(past)
    ids, last = rng.integers(0, VOCABULARY, rows), int(rng.integers(0, rows))
    caches = [np.zeros((KEY_HEADS, CACHE, DEPTH), np.float16) for _ in range(2 * BLOCKS)]
    for cache in caches:
        cache[:, :past] = rng.standard_normal((KEY_HEADS, past, DEPTH))
        cache[:, past:] = 99  # of an earlier text
    np.save(inputs / "input_ids.npy", ids[None])
    np.save(inputs / "past_length.npy", np.array([past]))
    np.save(inputs / "last.npy", np.array([last]))
    for i, cache in enumerate(caches):
        np.save(inputs / f"past.{i // 2}.{'value' if i % 2 else 'key'}.npy", cache[None])
    sound(hone("run", path, "--cache", str(CACHE), "--inputs", inputs, "-o", outputs, *(word.replace("ROWS", str(rows)) for word in how)))
    logits, new = evaluate(name, values, ids, [cache[:, :past].astype(np.float64) for cache in caches], CACHE)
    got = [np.load(outputs / f"out_{i}.npy")[0] for i in range(2 * BLOCKS + 1)]
    np.testing.assert_allclose(got[-1][0], logits[last], rtol=0, atol=4e-3 * np.abs(logits).max())
    for before, want, have in zip(caches, new, got):
        np.testing.assert_array_equal(have[:, past + rows:], before[:, past + rows:])
        np.testing.assert_allclose(have[:, :past + rows].astype(np.float64), want, rtol=4e-3, atol=4e-3 * np.abs(want).max())


def test_a_cache_as_state_has_room(hone, tmp_path):
    pairs, tensors, _ = model("llama", 8)
    path = tmp_path / "model.gguf"
    path.write_bytes(gguf(pairs, tensors))
    refused(hone("inspect", path, "--no-measure", "--cache", "4", "--shape", "input_ids[1,5]"), "E_SHAPE", "5 tokens, with a cache of 4")


def test_outputs_have_names(hone, tmp_path):
    pairs, tensors, _ = model("llama", 8)
    path = tmp_path / "model.gguf"
    path.write_bytes(gguf(pairs, tensors))
    result = hone("inspect", path, "--no-measure", "--shape", "input_ids[1,1],past.0.key[1,2,3,32]")
    assert re.findall(r"output \d+ +([\w.]+): f32\[([\d,]+)\]", result.text) == [
        (f"present.{i}.{part}", "1,2,4,32") for i in range(BLOCKS) for part in ("key", "value")] + [("logits", f"1,1,{VOCABULARY}")]


# -- damaged files

def damaged():
    """(name, bytes, error, words)"""
    pairs, tensors, _ = model("llama", 8)
    whole = gguf(pairs, tensors)

    def with_pairs(*changes):
        return gguf([p for p in pairs if p[0] not in {c[0] for c in changes}] + [c for c in changes if len(c) == 3], tensors)

    def with_tensor(name, value):
        return gguf(pairs, {**tensors, name: value})

    def without(name):
        return gguf(pairs, {key: value for key, value in tensors.items() if key != name})

    def counts(tensor_count, pair_count):
        return whole[:8] + struct.pack("<QQ", tensor_count, pair_count) + whole[24:]

    norm = tensors["output_norm.weight"]
    deep = struct.pack("<IQ", ARRAY, 1) * 9 + struct.pack("<IQ", U8, 0)
    yield "version 1", gguf(pairs, tensors, version=1), "E_UNSUP", "version 1"
    yield "version 4", gguf(pairs, tensors, version=4), "E_UNSUP", "version 4"
    yield "big-endian", b"GGUF" + struct.pack(">I", 3) + whole[8:], "E_UNSUP", "big-endian"
    yield "tensors without end", counts(2**63, len(pairs)), "E_FORMAT", "do not fit"
    yield "pairs without end", counts(len(tensors), 2**64 - 1), "E_FORMAT", "do not fit"
    yield "one pair more", counts(len(tensors), len(pairs) + 1), "E_FORMAT", ""
    yield "one tensor more", counts(len(tensors) + 1, len(pairs)), "E_FORMAT", ""
    yield "value type 13", b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + text("x") + struct.pack("<IQ", 13, 0), "E_FORMAT", "value type 13"
    yield "key twice", gguf(pairs + [pairs[0]], tensors), "E_FORMAT", "twice"
    yield "string without end", with_pairs(("general.name", ARRAY, struct.pack("<IQQ", STRING, 1, 2**63))), "E_FORMAT", "ends"
    yield "array without end", with_pairs(("x", ARRAY, struct.pack("<IQ", U64, 2**61))), "E_FORMAT", "ends"
    yield "strings without end", with_pairs(("x", ARRAY, struct.pack("<IQ", STRING, 2**61))), "E_FORMAT", "ends"
    yield "arrays without end", with_pairs(("x", ARRAY, struct.pack("<IQ", ARRAY, 2**61))), "E_FORMAT", "ends"
    yield "nested arrays", with_pairs(("x", ARRAY, deep)), "E_LIMIT", "nested"
    yield "array type 99", with_pairs(("x", ARRAY, struct.pack("<IQ", 99, 1))), "E_FORMAT", "value type 99"
    yield "alignment 0", with_pairs(("general.alignment", U32, 0)), "E_FORMAT", "general.alignment"
    yield "alignment 24", with_pairs(("general.alignment", U32, 24)), "E_FORMAT", "power of two"
    yield "alignment as text", with_pairs(("general.alignment", STRING, "32")), "E_FORMAT", "integer"
    yield "no architecture", with_pairs(("general.architecture",)), "E_FORMAT", "general.architecture"
    yield "architecture as number", with_pairs(("general.architecture", U32, 1)), "E_FORMAT", "string"
    yield "other architecture", with_pairs(("general.architecture", STRING, "mamba")), "E_UNSUP", "mamba"
    yield "part of a model", with_pairs(("split.count", U16, 3)), "E_USAGE", "first of 3 parts"
    yield "experts", with_pairs(("llama.expert_count", U32, 8)), "E_UNSUP", "8 experts"
    yield "no blocks", with_pairs(("llama.block_count",)), "E_FORMAT", "llama.block_count"
    yield "blocks without end", with_pairs(("llama.block_count", U64, 2**40)), "E_FORMAT", "block_count"
    yield "negative heads", with_pairs(("llama.attention.head_count", I32, -4)), "E_FORMAT", "head_count"
    yield "0 heads", with_pairs(("llama.attention.head_count", U32, 0)), "E_FORMAT", "head_count"
    yield "3 heads over 2", with_pairs(("llama.attention.head_count", U32, 3)), "E_FORMAT", "heads"
    yield "odd depth", with_pairs(("llama.attention.key_length", U32, 31), ("llama.rope.dimension_count", U32, 30)), "E_FORMAT", "heads"
    yield "another width", with_pairs(("llama.embedding_length", U32, 32)), "E_SHAPE", "shape"
    yield "epsilon not a number", with_pairs(("llama.attention.layer_norm_rms_epsilon", F32, float("nan"))), "E_FORMAT", "finite"
    yield "scaled positions", with_pairs(("llama.rope.scaling.type", STRING, "spiral"), ("llama.rope.scaling.factor", F32, 4.0)), "E_UNSUP", "spiral"
    yield "stretched by 0", with_pairs(("llama.rope.scaling.factor", F32, 0.0)), "E_FORMAT", "stretched by 0"
    yield "31 turned elements", with_pairs(("llama.rope.dimension_count", U32, 31)), "E_FORMAT", "31 of them rotated"
    yield "a tensor too many", with_tensor("blk.0.attn_sinks.weight", ((1,), 0, bytes(4))), "E_UNSUP", "blk.0.attn_sinks.weight"
    yield "no biases", gguf([(k.replace("llama", "qwen2"), t, v.replace("llama", "qwen2") if k == "general.architecture" else v) for k, t, v in pairs], tensors), "E_FORMAT", "attn_q.bias"
    yield "no embedding", without("token_embd.weight"), "E_FORMAT", "token_embd"
    yield "no norm", without("blk.1.ffn_norm.weight"), "E_FORMAT", "blk.1.ffn_norm"
    yield "no matrix", without("blk.0.attn_v.weight"), "E_FORMAT", "blk.0.attn_v"
    yield "vector as matrix", with_tensor("output_norm.weight", ((WIDTH, 1), 0, norm[2])), "E_SHAPE", "output_norm"
    yield "rank 0", with_tensor("x", ((), 0, b"")), "E_FORMAT", "rank 0"
    yield "rank 5", with_tensor("x", ((1,) * 5, 0, bytes(4))), "E_FORMAT", "rank 5"
    yield "dimension 0", with_tensor("x", ((0,), 0, b"")), "E_FORMAT", "no elements"
    yield "too many elements", with_tensor("x", ((2**40, 2**40), 0, bytes(4))), "E_FORMAT", "too many"
    yield "element type 4", with_tensor("x", ((32,), 4, bytes(32))), "E_UNSUP", "element type 4"
    yield "half a block", with_tensor("x", ((33,), 8, bytes(68))), "E_FORMAT", "whole blocks"
    yield "data past the end", with_tensor("x", ((2**30,), 0, bytes(4))), "E_FORMAT", "not in the file"
    yield "name of 70 kB", with_tensor("x" * 70000, ((1,), 0, bytes(4))), "E_LIMIT", ""


@pytest.mark.parametrize("name, data, error, words", list(damaged()), ids=lambda x: x if isinstance(x, str) and len(x) < 40 else "")
def test_a_damaged_file_is_refused_by_name(hone, tmp_path, name, data, error, words):
    path = tmp_path / "model.gguf"
    path.write_bytes(data)
    refused(hone("inspect", path, "--no-measure", "--shape", "input_ids[1,1],past.0.key[1,2,0,32]"), error, words)


def test_a_file_that_ends_anywhere_is_refused(hone, tmp_path):
    pairs, tensors, _ = model("llama", 8)
    whole = gguf(pairs, tensors)
    path = tmp_path / "model.gguf"
    head = whole.index(b"output_norm.weight") + 60
    for end in [*range(4, head, 97), head, len(whole) // 2, len(whole) - 64]:
        path.write_bytes(whole[:end])
        refused(hone("inspect", path, "--no-measure", "--shape", "input_ids[1,1],past.0.key[1,2,0,32]"), "E_FORMAT")
