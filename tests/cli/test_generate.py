"""The scenario generate: a prompt, then token by token with caches that grow, compared token by token."""

import json
import re
import sqlite3
import struct
from pathlib import Path

import hostile
import numpy as np
import onnx
import pytest
from gguf_models import BLOCKS, DEPTH, KEY_HEADS, continue_greedily, encode, evaluate, language_model
from hone import engine_folder, refused
from onnx import TensorProto, helper, numpy_helper

QUICK = ["--rounds", "2", "--processes", "1", "--warmup", "0.01", "--no-measure", "--threads", "1",
         "--min-time", "0.01", "--min-samples", "10", "--json", "-"]
ort = pytest.importorskip("onnxruntime")
ORT = ["--engine", f"onnxruntime={Path(ort.__file__).parent.parent}"]
VOCABULARY, WIDTH = 23, 8
FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def weights():
    random = np.random.default_rng(3)
    return {n: random.standard_normal(s).astype(np.float32) for n, s in
            (("table", (VOCABULARY, WIDTH)), ("places", (64, WIDTH)), ("wk", (WIDTH, WIDTH)), ("wv", (WIDTH, WIDTH)),
             ("wo", (WIDTH, VOCABULARY)))}


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), **attributes)


def decoder(path, length=1, name="token", masked=False):
    """One layer of attention over a cache; length: of its tokens, a number or a name; masked: a mask hides places of it."""
    hides = [node("Cast", "mask", "m", to=FLOAT), node("Sub", "m one", "h"), node("Mul", "h far", "b"),
             node("Add", "s b", "shown")] if masked else [node("Identity", "s", "shown")]
    nodes = [node("Gather", f"table {name}", "e"), node("Gather", "places pos", "p"), node("Add", "e p", "x"),
             node("MatMul", "x wk", "k"), node("MatMul", "x wv", "v"),
             node("Concat", "past_k k", "present_k", axis=1), node("Concat", "past_v v", "present_v", axis=1),
             node("Transpose", "present_k", "kt", perm=[0, 2, 1]), node("MatMul", "x kt", "s"),
             *hides, node("Softmax", "shown", "a", axis=-1), node("MatMul", "a present_v", "v2"), node("Add", "v2 x", "y"),
             node("MatMul", "y wo", "logits")]
    cache = [helper.make_tensor_value_info(n, FLOAT, [1, "P", WIDTH]) for n in ("past_k", "past_v")]
    graph = helper.make_graph(
        nodes, "g",
        [helper.make_tensor_value_info(name, INT64, [1, length]), helper.make_tensor_value_info("pos", INT64, [1, length]),
         *cache, *([helper.make_tensor_value_info("mask", INT64, [1, "R"])] if masked else [])],
        [helper.make_tensor_value_info("logits", FLOAT, [1, length, VOCABULARY]),
         *[helper.make_tensor_value_info(n, FLOAT, [1, "Q", WIDTH]) for n in ("present_k", "present_v")]],
        [*(numpy_helper.from_array(a, n) for n, a in weights().items()), numpy_helper.from_array(np.float32(1), "one"),
         numpy_helper.from_array(np.float32(1e9), "far")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10), path)
    return path


def expected(prompt, count, at_once=False):
    """The tokens by numpy; at_once: a prompt given in one call sees itself, here without a mask."""
    w = weights()
    tokens, keys, values = list(prompt), np.zeros((0, WIDTH)), np.zeros((0, WIDTH))
    at = 0
    while len(tokens) < len(prompt) + count:
        step = len(prompt) if at_once and not at else 1
        x = w["table"][tokens[at:at + step]] + w["places"][at:at + step]
        keys, values = np.concatenate([keys, x @ w["wk"]]), np.concatenate([values, x @ w["wv"]])
        at += step
        s = x @ keys.T
        a = np.exp(s - s.max(-1, keepdims=True))
        y = (a / a.sum(-1, keepdims=True) @ values + x) @ w["wo"]
        if at >= len(prompt):
            tokens.append(int(y[-1].argmax()))
    return tokens


def rows_of(result):
    assert result.out, result
    return {r["backend"]: r for r in json.loads(result.text)["records"]}


@pytest.mark.parametrize("length", [1, "T"])
def test_tokens_and_their_times(hone, tmp_path, length):
    """native and ONNX Runtime generate what the reference does; each token's columns are in the store."""
    model, store = decoder(tmp_path / "m.onnx", length), tmp_path / "r.db"
    np.save(tmp_path / "prompt.npy", np.array([3, 1, 4], np.int32))
    hone.env["HONE_TESTING"] = "1"
    result = hone("bench", model, "--scenario", "generate", "--prompt", tmp_path / "prompt.npy", "--new-tokens", "9",
                  "--backend", "native,onnxruntime,null", *ORT, "--store", store, *QUICK)
    rows = rows_of(result)
    assert rows["null"]["status"] == "unsupported" and "needs an integer mask" in rows["null"]["reason"]
    for backend in ("native", "onnxruntime"):
        row = rows[backend]
        assert row["status"] == "ok" and row["top1"] == 1, (row["status"], row["reason"], result)
        assert row["scenario"].startswith("generate:3+9:") and row["rel_l2"] is None
        assert row["first_token_ms"]["p50"] > 0 and row["tokens_per_s"] > 0
        assert row["tokens_per_s"] == row["throughput_per_s"]
        assert f"--prompt {tmp_path}/prompt.npy --new-tokens 9" in row["repeat"].replace("'", "")
    base = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    blocks = base.execute("SELECT samples, scheduled, started FROM block").fetchall()
    assert blocks
    for block in blocks:
        samples, asked, began = [struct.unpack(f"<{len(c) // 8}Q", c) for c in block]
        assert len(samples) == len(asked) == len(began) and len(samples) % 9 == 0
        for i, (a, b) in enumerate(zip(asked, began)):
            assert (a == b) == (i % 9 == 0)  # the first token's step is the prompt's
            if i % 9:  # a step begins when the one before has ended
                assert asked[i - 1] == a and b >= began[i - 1] + samples[i - 1]


WORKER = """
    import protocol

    class Engine:
        def open(self, request):
            global np
            import numpy as np
            assert request.grows and not request.shapes
            self.fault, self.sets, self.calls = request.options.get("fault", ""), {{}}, 0
            self.weights = np.load(request.options["weights"])
            return protocol.Facts(version="9.9", inputs=["past_v", "past_k", "pos", "token"], outputs=["present_v", "present_k", "logits"])

        def bind(self, k, inputs):
            self.sets[k] = inputs

        def submit(self, k):
            self.calls += 1
            w, (values, keys, pos, token) = self.weights, self.sets[k]
            x = w["table"][token] + w["places"][pos]
            if self.fault == "forgets":
                values, keys = values * 0, keys * 0
            keys, values = np.concatenate([keys, x @ w["wk"]], 1), np.concatenate([values, x @ w["wv"]], 1)
            s = x @ keys.transpose(0, 2, 1)
            a = np.exp(s - s.max(-1, keepdims=True))
            logits = (a / a.sum(-1, keepdims=True) @ values + x) @ w["wo"]
            if self.fault == "late" and self.calls > 60:
                logits[:] = -logits
            if self.fault == "nan":
                logits[:] = np.nan
            return [values, keys, logits]

        def fetch(self, handle):
            return [] if self.fault == "none" else handle

    protocol.serve(Engine)
"""


@pytest.mark.parametrize("length", [1, "T"])
@pytest.mark.parametrize("fault,status,reason", [
    ("", "ok", ""), ("forgets", "wrong", "first inference: token "), ("nan", "wrong", "of 9 is -1"),
    ("late", "wrong", "inside the timed run"), ("none", "error", "KeyError")])
def test_an_engine_that_is_called_from_python_generates(hone, tmp_path, length, fault, status, reason):
    """With the model's tensors in another order; every token is compared here, the worker judges nothing."""
    model, store = decoder(tmp_path / "m.onnx", length), tmp_path / "r.db"
    np.savez(tmp_path / "weights.npz", **weights())
    engine_folder(tmp_path / "engine", "torch", WORKER)
    result = hone("bench", model, "--scenario", "generate", "--prompt", "3", "--new-tokens", "9", "--backend", "torch",
                  "--engine", f"torch={tmp_path}/engine", "--backend-option", f"torch.weights={tmp_path}/weights.npz",
                  "--backend-option", f"torch.fault={fault}", "--store", store, *QUICK)
    row = rows_of(result)["torch"]
    assert row["status"] == status and reason in row["reason"], (row["status"], row["reason"], result)
    if status != "ok":
        return
    assert row["top1"] == 1 and row["rel_l2"] is None and row["first_token_ms"]["p50"] > 0
    assert row["tokens_per_s"] == row["throughput_per_s"] > 0
    base = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    for block in base.execute("SELECT samples, scheduled, started FROM block").fetchall():
        samples, asked, began = [struct.unpack(f"<{len(c) // 8}Q", c) for c in block]
        assert len(samples) == len(asked) == len(began) and len(samples) % 9 == 0
        assert all((a == b) == (i % 9 == 0) for i, (a, b) in enumerate(zip(asked, began)))


WHOLE = """
    import time
    import protocol

    class Engine:
        def open(self, request):
            import numpy as np
            assert request.tokens == 5 + 12
            self.answer = np.load(request.options["answer"]).tolist()
            return protocol.Facts(version="9.9", inputs=list(request.inputs), outputs=list(request.outputs))

        def generate(self, prompt, count):
            assert prompt == [1, 2, 3, 4, 5] and count == 12
            times = []
            for _ in self.answer:
                time.sleep(0.0005)
                times.append(time.perf_counter_ns())
            return self.answer, times

    protocol.serve(Engine)
"""


@pytest.mark.parametrize("fault", ["", "departs", "wrong", "short"])
def test_an_engine_with_its_own_loop(hone, tmp_path, fault):
    """Its row is measured; text that departs where rounding does not decide has no rank, and random text is wrong."""
    data, values = language_model()
    (tmp_path / "m.gguf").write_bytes(data)
    prompt = [1, 2, 3, 4, 5]
    np.save(tmp_path / "prompt.npy", np.array(prompt))
    answer, shares = continue_greedily("llama", values, prompt, 12, of_largest=True)
    places = {"departs": [k for k, share in enumerate(shares) if 0.002 < share < 0.15],
              "wrong": [k for k, share in enumerate(shares) if share > 0.25]}
    if fault in places:
        answer[places[fault][0]] = (answer[places[fault][0]] + 1) % 40
    np.save(tmp_path / "answer.npy", np.array(answer[:-1] if fault == "short" else answer))
    engine_folder(tmp_path / "engine", "xllamacpp", WHOLE)
    result = hone("bench", tmp_path / "m.gguf", "--scenario", "generate,single", "--prompt", tmp_path / "prompt.npy", "--new-tokens", "12",
                  "--backend", "llamacpp", "--engine", f"llamacpp={tmp_path}/engine",
                  "--backend-option", f"llamacpp.answer={tmp_path}/answer.npy", *QUICK)
    rows = {r["scenario"].partition(":")[0]: r for r in json.loads(result.text)["records"]}
    row = rows["generate"]
    assert rows["single"]["status"] == "unsupported" and "--scenario generate" in rows["single"]["reason"]
    assert row["status"] == {"wrong": "wrong", "short": "error"}.get(fault, "ok"), (row, result)
    assert ("departs" in row["flags"]) == (fault == "departs")
    if fault == "departs":
        assert 0.002 < row["max_rel_diff"] < 0.15 and row["top1"] == places["departs"][0] / 12 and not row["rank"]
    if fault == "":
        assert row["top1"] == 1 and row["rank"] == 1 and row["first_token_ms"]["p50"] >= 0.5 and row["latency_ms"]["p50"] >= 0.5
    if fault == "short":
        assert "11 tokens" in row["reason"]


SCORED = WHOLE.replace("    protocol.serve", """
        def score(self, tokens):
            import numpy as np
            rows = np.load(self.rows)
            assert len(tokens) == len(rows) + 1
            yield from rows

    protocol.serve""").replace('self.answer = np', 'self.rows = request.options["rows"]\n            self.answer = np')
TEXT = "hello, hell: some text to predict"


def perplexity_of(logs):
    return float(np.exp(-np.mean(logs)))


@pytest.mark.parametrize("given,noise", [("logits", 0.01), ("logits", 1), ("likeliest", 0.01), ("next", 0.01), ("next", 3), ("few", 0), ("nan", 0)])
def test_the_quality_of_a_text(hone, tmp_path, given, noise):
    """Perplexity and KL divergence as numpy computes them from both models' logits; they decide whether the row is ranked."""
    data, values = language_model()
    (tmp_path / "m.gguf").write_bytes(data)
    (tmp_path / "text").write_text(TEXT)
    prompt, tokens = [1, 2, 3, 4, 5], encode(TEXT)
    np.save(tmp_path / "prompt.npy", np.array(prompt))
    np.save(tmp_path / "answer.npy", np.array(continue_greedily("llama", values, prompt, 12)[0]))
    nothing = [np.zeros((KEY_HEADS, 0, DEPTH)) for _ in range(2 * BLOCKS)]
    want = evaluate("llama", values, np.array(tokens), nothing)[0][:-1]
    rows = want + noise * np.random.default_rng(0).standard_normal(want.shape)
    p, q = (x - np.log(np.exp(x).sum(-1, keepdims=True)) for x in (want, rows))
    follows = np.arange(len(want)), np.array(tokens[1:])
    divergence = (np.exp(p) * (p - q)).sum(-1)
    if given == "likeliest":  # the others as one, except the token that follows
        hidden = q < np.sort(q)[:, -20:-19]
        hidden[follows] = False
        divergence = np.where(hidden, 0, np.exp(p) * (p - q)).sum(-1)
        rest_p, rest_q = (np.where(hidden, np.exp(x), 0).sum(-1) for x in (p, q))
        divergence = divergence + rest_p * np.log(rest_p / rest_q)
        rows = np.where(hidden, np.nan, q)
    given_rows = {"next": q[follows], "few": rows[:-1], "nan": np.full_like(rows, np.nan)}.get(given, rows)
    np.save(tmp_path / "rows.npy", given_rows.astype(np.float32))
    script = SCORED.replace("len(rows) + 1", "len(rows) + 2") if given == "few" else SCORED
    engine_folder(tmp_path / "engine", "xllamacpp", script)
    result = hone("bench", tmp_path / "m.gguf", "--scenario", "generate", "--prompt", tmp_path / "prompt.npy", "--new-tokens", "12",
                  "--backend", "llamacpp,native", "--engine", f"llamacpp={tmp_path}/engine", "--quality-text", tmp_path / "text",
                  "--backend-option", f"llamacpp.answer={tmp_path}/answer.npy", "--backend-option", f"llamacpp.rows={tmp_path}/rows.npy", *QUICK)
    rows = rows_of(result)
    row, native = rows["llamacpp"], rows["native"]
    assert native["status"] == "ok" and native["task_metric"] == "perplexity" and 0 <= native["kl_divergence"] < 1e-3, result
    assert abs(native["task_accuracy"] / perplexity_of(p[follows]) - 1) < 1e-2 and native["rank"]
    assert native["effective_precision"] == "fp32" and "fallback" not in native["flags"], native
    if given in ("few", "nan"):
        assert row["status"] == "ok" and row["task_accuracy"] is None and row["rank"]
        assert "no quality is measured" in result.err.decode()
        return
    assert abs(row["task_reference"] / perplexity_of(p[follows]) - 1) < 1e-4
    assert abs(row["task_accuracy"] / perplexity_of(q[follows]) - 1) < 1e-4, (row, perplexity_of(q[follows]))
    assert abs(row["accuracy_retention"] - row["task_reference"] / row["task_accuracy"]) < 1e-6
    if given == "next":
        assert row["kl_divergence"] is None
    else:
        assert abs(row["kl_divergence"] - divergence.mean()) < 1e-3 * max(1e-3, divergence.mean()), divergence.mean()
    assert bool(row["rank"]) == (noise < 0.1) and ("departs" in row["flags"]) == (noise > 0.1)


@pytest.mark.long
def test_a_recommendation_with_a_least_quality(hone, tmp_path):
    """The engine that predicts a text worse misses the bound, however fast it is."""
    data, values = language_model()
    (tmp_path / "m.gguf").write_bytes(data)
    (tmp_path / "text").write_text(TEXT)
    np.save(tmp_path / "prompt.npy", np.array([1, 2, 3, 4, 5]))
    np.save(tmp_path / "answer.npy", np.array(continue_greedily("llama", values, [1, 2, 3, 4, 5], 12)[0]))
    np.save(tmp_path / "rows.npy", np.full(len(encode(TEXT)) - 1, -9, np.float32))  # of probability e^-9 each
    engine_folder(tmp_path / "engine", "xllamacpp", SCORED.replace("time.sleep(0.0005)", "pass"))
    result = hone("recommend", tmp_path / "m.gguf", "--scenario", "generate", "--prompt", tmp_path / "prompt.npy", "--new-tokens", "12",
                  "--quality-text", tmp_path / "text", "--backend", "llamacpp,native", "--engine", f"llamacpp={tmp_path}/engine",
                  "--backend-option", f"llamacpp.answer={tmp_path}/answer.npy", "--backend-option", f"llamacpp.rows={tmp_path}/rows.npy",
                  "--min-quality", "0.99", "--threads", "1", "--budget", "40s", "--json", "-")
    advice = json.loads(result.text)
    assert advice["rows"][0]["backend"] == "native" and advice["rows"][0]["standing"] == "chosen", result
    dropped, = advice["dropped"]
    assert dropped["backend"] == "llamacpp" and "below the limit of 0.99" in dropped["reason"] and "quantised" not in advice, result
    refused(hone("recommend", tmp_path / "m.gguf", "--scenario", "server"), "E_USAGE", "single or generate")
    refused(hone("recommend", tmp_path / "m.gguf", "--scenario", "generate", "--hybrid"), "E_USAGE", "goes with --scenario single")


@pytest.mark.long
def test_prompts_of_several_lengths(hone, tmp_path):
    (tmp_path / "m.gguf").write_bytes(language_model()[0])
    result = hone("bench", tmp_path / "m.gguf", "--scenario", "generate", "--prompt", "3,40", "--new-tokens", "4", "--backend", "native", *QUICK)
    rows = {r["scenario"]: r for r in json.loads(result.text)["records"]}
    assert list(rows) == ["generate:3+4", "generate:40+4"] and all(r["status"] == "ok" and r["top1"] == 1 for r in rows.values()), result
    for length in (3, 40):
        words = rows[f"generate:{length}+4"]["repeat"].split()
        assert words[words.index("--prompt") + 1] == str(length) and words.count("--prompt") == 1
    again = hone("bench", tmp_path / "m.gguf", *rows["generate:40+4"]["repeat"].split()[3:], "--json", "-")
    assert [r["scenario"] for r in json.loads(again.text)["records"]] == ["generate:40+4"]


HELD = """
    import protocol

    class Engine:
        def open(self, request):
            global np
            import numpy as np
            self.shapes, self.fault, self.sets = list(request.shapes.values()), request.options.get("fault", ""), {{}}
            assert not request.grows and request.shapes["past_k"] == [1, 11, 8] and request.shapes["mask"] == [1, 12], request.shapes
            self.weights = np.load(request.options["weights"])
            return protocol.Facts(version="9.9", inputs=list(request.shapes), outputs=["logits", "present_k", "present_v"])

        def bind(self, k, inputs):
            assert [list(x.shape) for x in inputs] == self.shapes
            self.sets[k] = [np.array(x) for x in inputs]

        def submit(self, k):
            w, (token, pos, keys, values, mask) = self.weights, self.sets[k]
            x = w["table"][token] + w["places"][pos]
            keys, values = np.concatenate([keys, x @ w["wk"]], 1), np.concatenate([values, x @ w["wv"]], 1)
            s = x @ keys.transpose(0, 2, 1) + (0 if self.fault == "deaf" else (mask - 1) * 1e9)
            a = np.exp(s - s.max(-1, keepdims=True))
            return [((a / a.sum(-1, keepdims=True) @ values + x) @ w["wo"]).astype(np.float32), keys, values]

        def fetch(self, handle):
            return handle

    protocol.serve(Engine)
"""


@pytest.mark.parametrize("fault,status,reason", [("", "ok", ""), ("deaf", "wrong", "(limit 0.001)")])
def test_an_engine_of_one_size_generates_over_caches_of_one_size(hone, tmp_path, fault, status, reason):
    """The prompt is fed token by token; the appended row is moved to its position, and the mask hides the free positions."""
    model = decoder(tmp_path / "m.onnx", masked=True)
    np.savez(tmp_path / "weights.npz", **weights())
    engine_folder(tmp_path / "engine", "jaxlib", HELD)
    result = hone("bench", model, "--scenario", "generate", "--prompt", "3", "--new-tokens", "9", "--backend", "xla,native",
                  "--engine", f"xla={tmp_path}/engine", "--backend-option", f"xla.weights={tmp_path}/weights.npz",
                  "--backend-option", f"xla.fault={fault}", *QUICK)
    row = rows_of(result)["xla"]
    assert row["status"] == status and reason in row["reason"], (row["status"], row["reason"], result)
    assert rows_of(result)["native"]["status"] == "ok"
    if status == "ok":
        assert row["top1"] == 1 and row["first_token_ms"]["p50"] > 0 and row["tokens_per_s"] > 0


@pytest.mark.parametrize("length", [1, "T"])
def test_the_reference_generates_what_numpy_does(hone, tmp_path, length):
    """A prompt from a file of tokens that numpy generated is continued as numpy continues it: the row is right with the
    right embedding table, and wrong for an engine with another model (the first row of its embedding is moved)."""
    model = decoder(tmp_path / "m.onnx", length)
    session = ort.InferenceSession(str(model))
    tokens, keys = [3, 1, 4], np.zeros((1, 0, WIDTH), np.float32)
    values, at = keys.copy(), 0
    while len(tokens) < 12:
        step = 3 if length == "T" and not at else 1
        logits, keys, values = session.run(None, {
            "token": np.array([tokens[at:at + step]]), "pos": np.arange(at, at + step)[None], "past_k": keys,
            "past_v": values})
        at += step
        if at >= 3:
            tokens.append(int(logits[0, -1].argmax()))
    assert tokens == expected([3, 1, 4], 9, at_once=length == "T")
    assert len(set(tokens[3:])) > 1  # else a step that is skipped would not show


def test_without_caches_the_sequence_grows(hone, tmp_path):
    w = weights()
    nodes = [node("Gather", "table input_ids", "x"), node("CumSum", "x one", "c"), node("MatMul", "c wo", "logits")]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("input_ids", INT64, [1, "T"])],
        [helper.make_tensor_value_info("logits", FLOAT, [1, "T", VOCABULARY])],
        [numpy_helper.from_array(w["table"], "table"), numpy_helper.from_array(w["wo"], "wo"),
         numpy_helper.from_array(np.array(1, np.int64), "one")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10), tmp_path / "m.onnx")
    result = hone("bench", tmp_path / "m.onnx", "--scenario", "generate", "--prompt", "4", "--new-tokens", "6",
                  "--backend", "native,onnxruntime", *ORT, *QUICK)
    for row in rows_of(result).values():
        assert row["status"] == "ok" and row["scenario"] == "generate:4+6", (row["reason"], result)


def test_a_model_that_generates_no_text(hone, tmp_path):
    (tmp_path / "m.onnx").write_bytes(hostile.identity().SerializeToString())
    result = hone("bench", tmp_path / "m.onnx", "--scenario", "generate,single", "--backend", "native", *QUICK)
    rows = {r["scenario"]: r for r in json.loads(result.text)["records"]}
    assert rows["single"]["status"] == "ok"
    assert rows["generate:16+32"]["status"] == "unsupported" and "no input of token ids" in rows["generate:16+32"]["reason"]


def test_prompts_that_are_none(hone, tmp_path):
    model = decoder(tmp_path / "m.onnx")
    np.save(tmp_path / "f.npy", np.ones(3, np.float32))
    np.save(tmp_path / "far.npy", np.array([VOCABULARY], np.int64))
    refused(hone("bench", model, "--scenario", "generate", "--prompt", tmp_path / "f.npy", "--backend", "native", *QUICK),
            "E_TYPE", "token ids are integers")
    result = hone("bench", model, "--scenario", "generate", "--prompt", tmp_path / "far.npy", "--backend", "native", *QUICK)
    assert f"token {VOCABULARY} is outside the vocabulary of {VOCABULARY}" in rows_of(result)["native"]["reason"]


DECODERS = {"gpt2": "layers=2,width=128,vocabulary=61",
            "llama_3_2_1b": "layers=2,width=256,vocabulary=61",
            "deepseek_r1_distill_qwen_1_5b": "layers=1,width=256,vocabulary=61"}


def feed(session, tokens, caches):
    """One call of a built-in decoder: its logits, and its caches, which `caches` are in front of."""
    past = next(iter(caches.values())).shape[2]
    given = {"input_ids": np.array([tokens]), "position_ids": np.arange(past, past + len(tokens))[None],
             "attention_mask": np.ones((1, past + len(tokens)), np.int64), **caches}
    names = [o.name for o in session.get_outputs()]
    out = dict(zip(names, session.run(None, given)))
    return out["logits"], {n: out[re.sub("^past(_key_values)?", "present", n)] for n in caches}


@pytest.mark.parametrize("name", sorted(DECODERS))
def test_open_decoders_are_the_whole_sequence(hone, tmp_path, name):
    """Any split of a sequence into calls gives the logits of the model without a cache."""
    sizes = DECODERS[name]
    tokens = [3, 60, 1, 17, 17, 4, 9]
    for spec, path in ((f"{name},{sizes},sequence={len(tokens)}", "whole"), (f"{name}_decode,{sizes},past=open", "open")):
        assert hone("zoo", "write", spec, "-o", tmp_path / f"{path}.onnx").code == 0
    model = onnx.load(tmp_path / "open.onnx")
    assert [d.dim_param for d in model.graph.input[0].type.tensor_type.shape.dim] == ["", "sequence"]
    want, = ort.InferenceSession(str(tmp_path / "whole.onnx")).run(None, {"input_ids": np.array([tokens])})
    session = ort.InferenceSession(str(tmp_path / "open.onnx"))
    for split in ([7], [1] * 7, [4, 1, 2]):
        caches = {i.name: np.zeros([x if isinstance(x, int) else 0 for x in i.shape], np.float32)
                  for i in session.get_inputs() if i.name.startswith("past")}
        at, parts = 0, []
        for count in split:
            logits, caches = feed(session, tokens[at:at + count], caches)
            parts.append(logits)
            at += count
        got = np.concatenate(parts, 1)
        assert got.shape == want.shape and np.linalg.norm(got - want) <= 1e-5 * np.linalg.norm(want), split


@pytest.mark.parametrize("spec", ["gpt2_decode,layers=1,width=64,vocabulary=61", "llama_3_2_1b_decode,layers=1,width=256,vocabulary=61"])
def test_built_in_decoders_generate(hone, spec):
    result = hone("bench", f"zoo:{spec}", "--scenario", "generate,single", "--prompt", "4", "--new-tokens", "5",
                  "--backend", "native,onnxruntime", *ORT, *QUICK)
    records = json.loads(result.text)["records"]
    assert len(records) == 4
    for row in records:
        assert row["status"] == "ok", (row["reason"], result)
        if row["scenario"].startswith("generate:4+5"):
            assert row["top1"] == 1 and row["first_token_ms"]["p50"] > 0
        assert "[1,129]" in row["shapes"]  # 128 tokens of the past, as the model's row says, and one


def test_two_specifications_that_begin_alike(hone):
    """Files of built-in models are kept by all of their specification, not by its first 64 letters."""
    specs = [f"zoo:deepseek_r1_distill_qwen_1_5b_decode,layers=1,width=256,vocabulary=50,past={p}" for p in (5, 6)]
    result = hone("bench", *specs, "--scenario", "single", "--backend", "null", *QUICK,
                  env={"HONE_TESTING": "1"})
    shapes = {r["model"]: r["shapes"] for r in json.loads(result.text)["records"]}
    for spec, past in zip(specs, (5, 6)):
        assert f"[1,1,{past},128]" in shapes[spec], shapes
