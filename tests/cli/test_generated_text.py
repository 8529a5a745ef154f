"""The text of language models in GGUF files against an independent evaluation in NumPy: greedy answers, scores, and prompts of
which the caches hold a part."""

import os
import subprocess
import sys

import numpy as np
import pytest

from gguf_models import BLOCKS, DEPTH, KEY_HEADS, KINDS, agrees, continue_greedily, decode, encode, evaluate, generate, language_model


PROMPTS = ["x" * 9, "A quick brown fox. " * 15]
LONG_PROMPTS = ["a", "hello", "ab" * 8, "x" * 17, "A quick brown fox. " * 8]
FIRST_KINDS = ["llama", "gemma3", "qwen2"]  # the others have one prompt


@pytest.mark.parametrize("name, prompt", [pytest.param(name, prompt, id=f"{name}-{len(prompt)}_characters",
                                                       marks=[pytest.mark.long] * (prompt in LONG_PROMPTS or name not in FIRST_KINDS))
                                          for name in KINDS for prompt in (PROMPTS + LONG_PROMPTS if name in FIRST_KINDS else PROMPTS[1:])])
def test_greedy_text_is_that_of_the_architecture(hone, tmp_path, name, prompt):
    data, values = language_model(name)
    (tmp_path / "model.gguf").write_bytes(data)
    want, leads = continue_greedily(name, values, encode(prompt), 8)
    answer = generate(hone, tmp_path / "model.gguf", "-p", prompt, "--new-tokens", "8", "--ignore-end", "--context", "300")
    assert answer["prompt_tokens"] == len(encode(prompt)) and answer["new_tokens"] == 8 and answer["reason"] == "length", answer
    assert agrees(answer["tokens"], want, leads), (answer["tokens"], want, leads)
    assert answer["text"] == decode(answer["tokens"]).decode(errors="replace")


def test_a_tied_embedding_in_blocks_with_minima(hone, tmp_path):
    """The logits need the sums of one row of x, not of as many as a step takes tokens."""
    data, values = language_model("llama", 3)
    (tmp_path / "model.gguf").write_bytes(data)
    want, leads = continue_greedily("llama", values, encode("hello"), 8)
    answer = generate(hone, tmp_path / "model.gguf", "-p", "hello", "--new-tokens", "8", "--ignore-end", "--context", "64")
    assert agrees(answer["tokens"], want, leads), (answer["tokens"], want, leads)


def log_softmax(x):
    return x - x.max(-1, keepdims=True) - np.log(np.exp(x - x.max(-1, keepdims=True)).sum(-1, keepdims=True))


@pytest.mark.parametrize("context, text", [(300, "A quick brown fox, hell. " * 6), (64, "A quick brown fox, hell. " * 6)], ids=["one window", "several"])
@pytest.mark.parametrize("name", ["llama", "gemma3"])
def test_the_score_of_a_text(hone, tmp_path, name, context, text):
    data, values = language_model(name)
    (tmp_path / "model.gguf").write_bytes(data)
    score = generate(hone, tmp_path / "model.gguf", "-p", text, "--score", "--context", str(context))
    ids, loss = np.array(encode(text)), []
    for first in range(0, len(ids) - 1, context):
        window = ids[first:first + context]
        logits = evaluate(name, values, window, [np.zeros((KEY_HEADS, 0, DEPTH)) for _ in range(2 * BLOCKS)])[0]
        loss += [-log_softmax(logits)[k, token] for k, token in enumerate(window[1:])]
    assert score["tokens"] == len(loss)
    assert abs(score["reference_perplexity"] / np.exp(np.mean(loss)) - 1) < 1e-4, (score, np.exp(np.mean(loss)))
    assert abs(score["perplexity"] / score["reference_perplexity"] - 1) < 1e-2  # caches of 16 bits
    assert 0 <= score["kl_divergence"] <= score["largest_kl_divergence"] < 1e-3 and score["same_top_token"] > 0.9


REUSE = """
import sys, hone
long = "A quick brown fox jumps over a lazy dog. " * 12
prompts = [long[:300], long[:290], long[:200], long[:210], long[:300], long[:430], long[:300] + "!" * 60, long[:100] + "!" * 200, long[:300]]
m, cached = hone.load(sys.argv[1], threads=1, context=600), []
for prompt in prompts:
    text = m.generate(prompt, new_tokens=6, ignore_end=True)
    fresh = hone.load(sys.argv[1], threads=1, context=600).generate(prompt, new_tokens=6, ignore_end=True)
    assert str(text) == str(fresh) and text.result["tokens"] == fresh.result["tokens"] and not fresh.result["cached_tokens"]
    cached.append(text.result["cached_tokens"])
print(cached)
"""


def test_what_the_caches_hold_changes_no_text(hone, tmp_path):
    """Prompts with the same beginning, which are computed in chunks of 64 tokens."""
    (tmp_path / "model.gguf").write_bytes(language_model()[0])
    env = {**hone.env, "HONE_LIBRARY": os.environ.get("HONE_LIBRARY", "build/libhone.so")}
    result = subprocess.run([sys.executable, "-c", REUSE, str(tmp_path / "model.gguf")], capture_output=True, text=True, env=env, timeout=600)
    assert result.stdout == "[0, 256, 192, 192, 192, 256, 256, 64, 64]\n", result.stdout + result.stderr
