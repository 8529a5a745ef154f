"""Language models in GGUF files: what hone generate, hone tokens, the Python interface and a served model take and give. What
their text is: test_generated_text.py."""

import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys

import numpy as np
import onnx
import pytest
from onnx import helper

from gguf_models import BLOCKS, DEPTH, KEY_HEADS, TOKENS, agrees, continue_greedily, encode, evaluate, generate, language_model
from hone import refused, sound
from peer import model_of, peer_session

END = len(TOKENS) - 2


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    path = tmp_path_factory.mktemp("tiny") / "tiny.gguf"
    data, values = language_model()
    path.write_bytes(data)
    return path, values


def given(tmp_path, text):
    """A file for standard input."""
    (tmp_path / "stdin").write_text(text)
    return (tmp_path / "stdin").open("rb")


@pytest.mark.parametrize("matrix", [8, 3], ids=["Q8_0", "Q4_1"])
def test_the_folder_for_onnx_runtime_genai(hone, tmp_path, matrix):
    """Its model gives the architecture's logits for any number of tokens, with weights of 4 or 8 bits, and the configuration names
    its inputs and outputs."""
    data, values = language_model("llama", matrix)
    (tmp_path / "model.gguf").write_bytes(data)
    sound(hone("export", tmp_path / "model.gguf", "-o", f"{tmp_path}/folder/"))
    config = json.loads((tmp_path / "folder/genai_config.json").read_text())["model"]
    decoder = config["decoder"]
    assert config["eos_token_id"] == END and decoder["num_hidden_layers"] == BLOCKS and decoder["head_size"] == DEPTH
    file = onnx.load(tmp_path / "folder" / decoder["filename"])
    kinds = {node.op_type: [a.i for a in node.attribute if a.name == "bits"] for node in file.graph.node}
    assert kinds["MatMulNBits"] == [4 if matrix == 3 else 8], kinds
    session = peer_session(tmp_path / "folder" / decoder["filename"])
    caches = {decoder["inputs"][f"past_{part}_names"] % i: np.zeros((1, KEY_HEADS, 0, DEPTH), np.float32)
              for i in range(BLOCKS) for part in ("key", "value")}
    ids, past = encode("A quick brown fox"), 0
    nothing = [np.zeros((KEY_HEADS, 0, DEPTH)) for _ in range(2 * BLOCKS)]
    want = evaluate("llama", values, np.array(ids), nothing)[0]
    for count in (5, 1, len(ids) - 6):
        names = [o.name for o in session.get_outputs()]
        out = dict(zip(names, session.run(None, {"input_ids": np.array([ids[past:past + count]]), **caches,
                                                 "position_ids": np.arange(past, past + count)[None]})))
        caches = {name: out[name.replace("past", "present")] for name in caches}
        past += count
        got = out[decoder["outputs"]["logits"]][0]
        distance = np.linalg.norm(got - want[past - count:past]) / np.linalg.norm(want[past - count:past])
        assert distance < 0.08, distance  # activations in 8 bits


def test_folders_are_made_from_gguf_alone(hone, tmp_path):
    (tmp_path / "m.onnx").write_bytes(model_of([helper.make_node("Relu", ["x"], ["y"])], {"x": np.zeros((1, 4), np.float32)}).SerializeToString())
    refused(hone("export", tmp_path / "m.onnx", "-o", f"{tmp_path}/folder/"), "E_FORMAT E_USAGE")
    assert not (tmp_path / "folder").exists()


def test_a_text_without_a_score(hone, tiny):
    refused(hone("generate", tiny[0], "-p", "a", "--score"), "E_USAGE", "fewer than two tokens")
    refused(hone("generate", tiny[0], "-p", "ab", "--chat", "--score"), "E_USAGE", "scores a text")
    refused(hone("generate", tiny[0], "-p", "ab", "--score", "--new-tokens", "3"), "E_USAGE", "goes with an answer")


def test_the_second_start_compiles_nothing(hone, tiny):
    first = hone("generate", tiny[0], "-p", "hell", "--new-tokens", "3", "--context", "260")
    again = hone("generate", tiny[0], "-p", "hell", "--new-tokens", "3", "--context", "260")
    assert "compiling" in first.errors and "compiling" not in again.errors and first.text == again.text
    assert "3 new tokens" in again.errors and "length; loaded in" in again.errors
    assert not hone("generate", tiny[0], "-p", "hell", "--new-tokens", "3", "--context", "260", "--quiet").err


def test_drawn_tokens_follow_the_seed(hone, tiny):
    def text(*words):
        return generate(hone, tiny[0], "-p", "once", "--new-tokens", "24", "--temperature", "1.5", "--ignore-end", *words)["tokens"]
    one = text("--seed", "1")
    assert one == text("--seed", "1") and one != text("--seed", "2")
    greedy = generate(hone, tiny[0], "-p", "once", "--new-tokens", "24", "--ignore-end")["tokens"]
    assert text("--top-k", "1") == greedy and text("--top-p", "0") == greedy and text("--min-p", "1") == greedy
    assert len({tuple(text("--seed", str(s), "--top-k", "0", "--top-p", "1", "--min-p", "0")) for s in range(5)}) == 5


def test_where_an_answer_ends(hone, tiny):
    words = ["-p", "hello", "--new-tokens", "60", "--ignore-end", "--temperature", "2", "--top-k", "0", "--top-p", "1", "--min-p", "0"]
    text = generate(hone, tiny[0], *words)["text"]
    stop = next(c for c in text[3:] if c.isascii())
    cut = generate(hone, tiny[0], *words, "--stop", "never, never", "--stop", stop)
    assert cut["text"] == text[:text.index(stop)] and cut["reason"] == "stop"
    full = generate(hone, tiny[0], "-p", "hello", "--ignore-end", "--context", "30")
    assert full["prompt_tokens"] + full["new_tokens"] == 30 and full["reason"] == "length"


def test_an_end_token_ends_the_answer(hone, tmp_path):
    """The row of the end token in the embedding, which is also the output matrix, is that of the most likely token, doubled."""
    data, values = language_model(matrix=0)
    first = continue_greedily("llama", values, encode("hello"), 1)[0][0]
    row = values["token_embd.weight"][first]
    at = data.index(values["token_embd.weight"][END].tobytes())
    (tmp_path / "model.gguf").write_bytes(data[:at] + (row * 2).tobytes() + data[at + row.nbytes:])
    answer = generate(hone, tmp_path / "model.gguf", "-p", "hello", "--new-tokens", "5")
    assert (answer["reason"], answer["new_tokens"], answer["text"]) == ("stop", 0, "")
    assert generate(hone, tmp_path / "model.gguf", "-p", "hello", "--new-tokens", "5", "--ignore-end")["new_tokens"] == 5


def test_messages_go_through_the_template(hone, tiny, tmp_path):
    path, values = tiny
    one, two = TOKENS.index("<|im_start|>"), END
    ids = [one, *encode("system\nB"), two, *encode("\n"), one, *encode("user\nhello"), two, *encode("\n"), one, *encode("assistant\n")]
    want, leads = continue_greedily("llama", values, ids, 6)
    answer = generate(hone, path, "--chat", "--system", "B", "-p", "hello", "--new-tokens", "6", "--ignore-end")
    assert answer["prompt_tokens"] == len(ids) and agrees(answer["tokens"], want, leads)
    talk = hone("generate", path, "--chat", "--new-tokens", "4", "--ignore-end", stdin=given(tmp_path, "hello\n\nbye\n"))
    sound(talk)
    assert talk.errors.count("4 new tokens") == 2


def test_a_model_in_parts(hone, tmp_path):
    """Three files, of which the first is passed. A change of any of them is another model."""
    files, values = language_model(parts=3)
    names = [tmp_path / f"m-{k:05}-of-00003.gguf" for k in (1, 2, 3)]
    for name, data in zip(names, files):
        name.write_bytes(data)
    want, leads = continue_greedily("llama", values, encode("hello"), 8)
    answer = generate(hone, names[0], "-p", "hello", "--new-tokens", "8", "--ignore-end")
    assert agrees(answer["tokens"], want, leads)
    refused(hone("generate", names[1], "-p", "a"), "E_USAGE", "NAME-00001-of-00003.gguf")
    other, values = language_model(parts=3, seed=4)
    names[2].write_bytes(other[2])
    again = generate(hone, names[0], "-p", "hello", "--new-tokens", "8", "--ignore-end")
    assert again["tokens"] != answer["tokens"]
    names[2].write_bytes(files[1])
    refused(hone("compile", names[0], "--shape", "input_ids[1,1]", "--cache", "64", "-o", tmp_path / "m.so"), "E_FORMAT", "two parts")
    names[2].unlink()
    refused(hone("compile", names[0], "--shape", "input_ids[1,1]", "--cache", "64", "-o", tmp_path / "m.so"), "E_NOFILE", "m-00003-of-00003.gguf")
    names[0].rename(tmp_path / "m.gguf")
    refused(hone("generate", tmp_path / "m.gguf", "-p", "a"), "E_USAGE", "-00001-of-00003.gguf")


def test_what_generate_refuses(hone, tiny, tmp_path):
    path = tiny[0]
    refused(hone("generate", path), "E_USAGE", "--text")
    refused(hone("generate", path, "-p", "-"), "E_USAGE", "empty")
    refused(hone("generate", path, "-p", "a", "--system", "b"), "E_USAGE", "--chat")
    refused(hone("compile", "zoo:mnist_cnn", "--cache", "64", "-o", tmp_path / "m.so"), "E_USAGE", "--cache")
    onnx.save(model_of([helper.make_node("Relu", ["x"], ["y"])], {"x": np.zeros(3, np.float32)}, {}, ["y"]), tmp_path / "m.onnx")
    refused(hone("compile", tmp_path / "m.onnx", "--cache", "64", "-o", tmp_path / "m.so"), "E_USAGE", "--cache")
    refused(hone("generate", path, "-p", "a" * 40, "--context", "40"), "E_LIMIT", "40 tokens")
    refused(hone("generate", path, "-p", "a", "--temperature", "-1"), "E_USAGE", "--temperature")
    refused(hone("generate", "zoo:mlp", "-p", "a"), "E_NOFILE", "zoo:mlp")
    data, _ = language_model(template=None)
    (tmp_path / "plain.gguf").write_bytes(data)
    refused(hone("generate", tmp_path / "plain.gguf", "--chat", "-p", "a"), "E_USAGE", "no chat template")
    data, _ = language_model(template="{% for m in messages %}")
    (tmp_path / "broken.gguf").write_bytes(data)
    refused(hone("generate", tmp_path / "broken.gguf", "--chat", "-p", "a"), "E_FORMAT", "line 1: endfor is missing")
    for change, error, words in ((lambda d: d.replace(b"qwen2", b"qwen9"), "E_UNSUP", "qwen9"), (lambda d: d.replace(b"gpt2", b"bert"), "E_UNSUP", "bert"),
                                 (lambda d: d.replace(b"ggml.tokens", b"ggml.tokenz"), "E_FORMAT", "tokenizer.ggml.tokens")):
        (tmp_path / "changed.gguf").write_bytes(change(language_model()[0]))
        refused(hone("generate", tmp_path / "changed.gguf", "-p", "a"), error, words)


def test_tokens_of_a_text(hone, tiny, tmp_path):
    result = hone("tokens", tiny[0], "-p", "hello<|im_end|>é")
    sound(result)
    assert result.text.split() == [str(i) for i in [TOKENS.index("hell"), ord("o"), END, 0xC3, 0xA9]]
    rows = json.loads(hone("tokens", tiny[0], "--json", "-", stdin=given(tmp_path, "hell\n")).text)
    assert rows == [{"id": 258, "piece": "hell"}, {"id": 10, "piece": "\\u{a}"}]


SCRIPT = """
import sys, hone
sys.setswitchinterval(1e-4)  # the reader is to be quicker than the model
m = hone.load(sys.argv[1], threads=1, context=500)
text = m.generate("hello", new_tokens=12, ignore_end=True)
pieces = list(text)
assert "".join(pieces) == str(m.generate("hello", new_tokens=12, ignore_end=True)) and len(pieces) > 1
assert list(text) == pieces and str(text) == "".join(pieces)
assert text.result["new_tokens"] == 12 and text.result["reason"] == "length" and len(text.result["tokens"]) == 12
m = hone.load(sys.argv[2], threads=1)  # its answer takes a second: the reader leaves it in the middle
long = m.generate("hello", new_tokens=32000, ignore_end=True)
for piece in long:
    break
assert long.result["reason"] == "cancelled" and long.result["new_tokens"] < 32000 and str(long) == "".join(long)
m = hone.load(sys.argv[1], threads=1, context=500)
prompt = "A quick brown fox. " * 9
first = m.generate(prompt, new_tokens=9, ignore_end=True)
text = str(first)
again = m.generate(prompt, new_tokens=9, ignore_end=True)
assert str(again) == text and first.result["cached_tokens"] < 64 and again.result["cached_tokens"] == (len(prompt) - 1) // 64 * 64
assert str(m.chat([{"role": "user", "content": "hello"}], new_tokens=5, ignore_end=True))
for call, word in ((lambda: m.generate(""), "E_USAGE"), (lambda: m.generate("a" * 600), "E_LIMIT"),
                   (lambda: m.chat([{"role": "tool", "content": "x"}]), "no tools here")):
    try:
        text = call()
        str(text)
    except hone.HoneError as error:
        assert word in (error.id + str(error)), error
        try:
            list(text)
        except hone.HoneError as again:
            assert again is error
    else:
        raise AssertionError(word)
print("done")
"""


def test_the_python_interface(hone, tiny, tmp_path):
    env = {**hone.env, "HONE_LIBRARY": os.environ.get("HONE_LIBRARY", "build/libhone.so")}
    wide = tmp_path / "wide.gguf"
    wide.write_bytes(language_model(context=1 << 15)[0])
    result = subprocess.run([sys.executable, "-c", SCRIPT, str(tiny[0]), str(wide)], capture_output=True, text=True, env=env, timeout=600)
    assert result.stdout == "done\n", result.stderr


# -- a served model

@contextlib.contextmanager
def served(hone, path, *words):
    child = hone.start("serve", "--port", "0", "--model", path, "--threads", "1", "--context", "300", *words, stdout=subprocess.PIPE)
    try:
        port = int(child.stdout.readline().decode().rsplit(":", 1)[1].strip("/\n"))
        yield port
    finally:
        child.send_signal(signal.SIGINT)
        assert child.wait(timeout=120) == 0


def ask(port, path, body=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    connection.request("POST" if body is not None else "GET", path, body if isinstance(body, (str, bytes)) or body is None else json.dumps(body),
                       {"Content-Type": "application/json", **headers} if body is not None else headers)
    response = connection.getresponse()
    text = response.read().decode()
    return response.status, json.loads(text) if text.startswith("{") else text


def test_the_endpoints_of_a_served_model(hone, tiny):
    path, _ = tiny
    want = generate(hone, path, "-p", "hello", "--new-tokens", "9", "--context", "300", "--ignore-end")
    with served(hone, path) as port:
        status, models = ask(port, "/v1/models")
        assert status == 200 and [m["id"] for m in models["data"]] == ["tiny"]
        given = {"prompt": "hello", "temperature": 0, "max_tokens": 9}
        status, answer = ask(port, "/v1/completions", given)
        assert status == 200 and want["text"].startswith(answer["choices"][0]["text"]) and answer["object"] == "text_completion", answer
        assert answer["usage"]["prompt_tokens"] == want["prompt_tokens"]
        status, stream = ask(port, "/v1/completions", {**given, "stream": True, "stream_options": {"include_usage": True}})
        lines = [line[6:] for line in stream.split("\n") if line.startswith("data: ")]
        assert lines[-1] == "[DONE]"
        chunks = [json.loads(line) for line in lines[:-1]]
        assert "".join(c["choices"][0]["text"] for c in chunks if c["choices"]) == answer["choices"][0]["text"]
        assert chunks[-2]["choices"][0]["finish_reason"] in ("stop", "length") and chunks[-1]["usage"] == {**answer["usage"], "prompt_tokens_details": {"cached_tokens": 0}}
        talk = {"messages": [{"role": "user", "content": [{"type": "text", "text": "hel"}, {"type": "text", "text": "lo"}]}], "temperature": 0, "max_tokens": 5}
        status, chat = ask(port, "/v1/chat/completions", talk)
        assert status == 200 and chat["choices"][0]["message"]["role"] == "assistant" and chat["object"] == "chat.completion"
        status, stream = ask(port, "/v1/chat/completions", {**talk, "stream": True})
        deltas = [json.loads(line[6:])["choices"][0]["delta"] for line in stream.split("\n") if line.startswith("data: {")]
        assert "".join(d.get("content", "") for d in deltas) == chat["choices"][0]["message"]["content"]
        for body, words in (("{", "not a JSON object"), ("[]", "not a JSON object"), ({}, "prompt"), ({"prompt": 5}, "prompt"), ({"prompt": ""}, "empty"),
                            ({"prompt": "a", "temperature": "x"}, "temperature"), ({"prompt": "a", "n": 2}, '"n"'), ({"prompt": "a", "stop": [1]}, "stop"),
                            ({"prompt": "a", "stream": 1}, "stream"), ({"prompt": "a" * 400, "stream": True}, "400 tokens")):
            status, answer = ask(port, "/v1/completions", body)
            assert status in (400, 413) and words in answer["error"]["message"], (body, status, answer)
        for messages in (None, [], [{"role": "user"}], [{"content": "a"}], [{"role": "user", "content": [{"type": "image_url"}]}],
                         [{"role": "tool", "content": "a"}]):
            status, answer = ask(port, "/v1/chat/completions", {"messages": messages})
            assert status == 400 and answer["error"]["type"] == "invalid_request_error", (messages, answer)
        assert ask(port, "/v1/completions", given, **{"Content-Type": "text/plain"})[0] == 415
        assert ask(port, "/v1/completions", given, Origin="http://example.org")[0] == 403
        assert ask(port, "/v1/completions")[0] == 405
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=300)) as gone:  # a client that leaves
            gone.request("POST", "/v1/completions", json.dumps({"prompt": "hello", "stream": True}), {"Content-Type": "application/json"})
            gone.getresponse().read(1)
        assert ask(port, "/v1/completions", given)[0] == 200


def test_a_token_guards_a_served_model(hone, tiny, tmp_path):
    (tmp_path / "token").write_text("0123456789abcdef\n")
    with served(hone, tiny[0], "--token-file", tmp_path / "token") as port:
        body = {"prompt": "a", "max_tokens": 1}
        assert ask(port, "/v1/completions", body)[0] == 401
        assert ask(port, "/v1/completions", body, Authorization="Bearer wrong")[0] == 401
        assert ask(port, "/v1/completions", body, Authorization="Bearer 0123456789abcdef")[0] == 200


def test_a_dashboard_without_a_model_says_so(hone):
    child = hone.start("serve", "--port", "0", stdout=subprocess.PIPE)
    port = int(child.stdout.readline().decode().rsplit(":", 1)[1].strip("/\n"))
    status, answer = ask(port, "/v1/completions", {"prompt": "a"})
    assert status == 404 and "--model" in answer["error"]["message"]
    child.send_signal(signal.SIGINT)
    assert child.wait(timeout=60) == 0
