#!/usr/bin/env python3
"""Writes cases.json: a small vocabulary, and the ids that llama.cpp makes of texts with it, for each pre-tokeniser and for
SentencePiece. Needs the packages llama-cpp-python and gguf."""

import json
import pathlib
import random
import sys
import tempfile

import gguf
import llama_cpp

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "cli"))
from gguf_models import byte_characters  # noqa: E402

PRE = ["default", "gpt-2", "smollm", "llama-bpe", "smaug-bpe", "qwen2", "minicpm5", "seed-coder", "tekken", "gpt-4o", "deepseek-coder", "deepseek-v3",
       "falcon", "bloom", "viking"]
SEED_TEXT = ("the quick brown fox jumps over the lazy dog and it's 1234567890 times that they'll don't we've   spaces\n\nlines\ttabs "
             "Grüße naïve café Ångström 你好世界汉字 こんにちは 한국어 привет мир العربية हिन्दी 🙂👍🏽 == != -> (a, b) {x: 1}; // !!! ... ") * 3
TEXTS = ["", "a", " ", "  ", "Hello world", "it's they'll I'VE we'd", "1234567890 12 3", "a  b   c\td\r\n\r\n  e \n", "  leading and trailing  ",
         "naïve café Ångström Ｆｕｌｌ", "你好世界。汉字", "こんにちは カタカナ", "한국어 텍스트", "привет МИР", "العربية ١٢٣", "हिन्दी में", "ไทย", "½ ² Ⅳ ①", "🙂👍🏽👩‍👩‍👧 🇩🇪",
         "e\u0301 n\u0303", "\u00a0\u2003\u3000x\u2028y\u200bz\ufeff", "foo_bar(x)[0] += {y: 'z'}; // c++ => <tag/> `$HOME`", "don''t 'S 's' \"quoted\"",
         "<|end|>a<|im_end|> b<user>c</s>", "\u2581\u2581x <0x0A> <unk>", "\x00\x01\x1b\x7f\x85", "((((((((((", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "ſK İi ǅ"]
BAD = ["80", "c3", "e4bd", "f09f99", "c080", "eda080", "6180c36280", "fffe", "f4908080"[:6], "e282ac c3".replace(" ", "")]


def train(count):
    """Merges by frequency, over the words of the text."""
    to = byte_characters()
    words = [[to[b] for b in (" " + word).encode()] for word in SEED_TEXT.split(" ")]
    merges = []
    while len(merges) < count:
        pairs = {}
        for word in words:
            for pair in zip(word, word[1:]):
                pairs[pair] = pairs.get(pair, 0) + 1
        if not pairs:
            break
        best = max(pairs, key=lambda p: (pairs[p], p))
        merges.append(best)
        for word in words:
            i = 0
            while i + 1 < len(word):
                if (word[i], word[i + 1]) == best:
                    word[i:i + 2] = [word[i] + word[i + 1]]
                i += 1
    return merges


def vocabulary():
    to, merges = byte_characters(), train(300)
    tokens = [to[b] for b in range(256)] + ["".join(m) for m in merges]
    tokens = list(dict.fromkeys(tokens))
    kinds = [1] * len(tokens)
    for text, kind in (("<|end|>", 3), ("<|im_end|>", 1), ("<user>", 4), ("</s>", 4), ("<unk>", 2), ("<s>", 3)):
        tokens.append(text)
        kinds.append(kind)
    return {"tokens": tokens, "kinds": kinds, "merges": [" ".join(m) for m in merges], "bos": tokens.index("<s>"), "eos": tokens.index("<|end|>")}


def pieces():
    """A SentencePiece vocabulary: special tokens, bytes, then pieces with scores."""
    rng = random.Random(5)
    tokens, kinds, scores = ["<unk>", "<s>", "</s>"], [2, 3, 3], [0.0, 0.0, 0.0]
    for b in range(256):
        tokens.append(f"<0x{b:02X}>")
        kinds.append(6)
        scores.append(0.0)
    found = dict.fromkeys(c for c in SEED_TEXT.replace(" ", "\u2581"))
    for n in range(2, 7):
        text = SEED_TEXT.replace(" ", "\u2581")
        for i in rng.sample(range(len(text) - n), 120):
            found[text[i:i + n]] = None
    for k, piece in enumerate(sorted(found, key=len)):
        tokens.append(piece)
        kinds.append(1)
        scores.append(-float(k) if len(piece) < 2 else -float(rng.randrange(1000)))
    tokens.append("<user>")
    kinds.append(4)
    scores.append(0.0)
    return {"tokens": tokens, "kinds": kinds, "scores": scores, "bos": 1, "eos": 2}


def write(path, v, model, pre, adds_space):
    w = gguf.GGUFWriter(path, "llama")
    for key, value in (("block_count", 1), ("context_length", 64), ("embedding_length", 32), ("feed_forward_length", 32),
                       ("attention.head_count", 1)):
        w.add_uint32(f"llama.{key}", value)
    w.add_float32("llama.attention.layer_norm_rms_epsilon", 1e-5)
    w.add_string("tokenizer.ggml.model", model)
    w.add_string("tokenizer.ggml.pre", pre)
    w.add_array("tokenizer.ggml.tokens", v["tokens"])
    w.add_array("tokenizer.ggml.token_type", v["kinds"])
    if "merges" in v:
        w.add_array("tokenizer.ggml.merges", v["merges"])
    if "scores" in v:
        w.add_array("tokenizer.ggml.scores", v["scores"])
        w.add_bool("tokenizer.ggml.add_space_prefix", adds_space)
    w.add_uint32("tokenizer.ggml.bos_token_id", v["bos"])
    w.add_uint32("tokenizer.ggml.eos_token_id", v["eos"])
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.close()


def ids(path, texts, special):
    params = llama_cpp.llama_model_default_params()
    params.vocab_only = True
    model = llama_cpp.llama_model_load_from_file(str(path).encode(), params)
    vocab = llama_cpp.llama_model_get_vocab(model)
    made = []
    for text in texts:
        room = (llama_cpp.llama_token * (len(text) + 16))()
        n = llama_cpp.llama_tokenize(vocab, text, len(text), room, len(room), True, special)
        made.append(list(room[:n]))
    llama_cpp.llama_model_free(model)
    return made


def main():
    texts = [t.encode() for t in TEXTS] + [bytes.fromhex(t) for t in BAD]
    bpe, sentencepiece = vocabulary(), pieces()
    out = {"bpe": bpe, "sentencepiece": sentencepiece, "texts": [t.hex() for t in texts], "cases": []}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "v.gguf"
        for pre in PRE:
            write(path, bpe, "gpt2", pre, False)
            out["cases"].append({"kind": "bpe", "pre": pre, "special": True, "ids": ids(path, texts, True)})
        out["cases"].append({"kind": "bpe", "pre": PRE[-1], "special": False, "ids": ids(path, texts, False)})
        for adds_space in (True, False):
            write(path, sentencepiece, "llama", "default", adds_space)
            for special in (True, False):
                out["cases"].append({"kind": "sentencepiece", "pre": "", "space": adds_space, "special": special, "ids": ids(path, texts, special)})
    pathlib.Path(__file__).with_name("cases.json").write_text(json.dumps(out, ensure_ascii=False, separators=(",", ":")).replace('},{"kind"', '},\n{"kind"') + "\n")


main()
