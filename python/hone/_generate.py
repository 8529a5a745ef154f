"""Text from language models in GGUF files."""

from __future__ import annotations

import ctypes
import os
import queue
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ._lib import GenerateOptions, Generated, GeneratorOptions, Message, Piece, check, context, library


class Text:
    """An answer as it is made: iterate over its pieces, or take all of it with str(), as often as you like. `result` has the
    counts and times, once it is complete. Closing it, or leaving the loop, ends the generation."""

    def __init__(self, run: Any) -> None:
        self._pieces: queue.Queue[str | BaseException | None] = queue.Queue()
        self._made: list[str] = []
        self._is_closed = threading.Event()
        self.result: dict[str, Any] | None = None
        self._thread = threading.Thread(target=self._work, args=[run], daemon=True)
        self._thread.start()

    def _work(self, run: Any) -> None:
        def take(_: Any, text: Any, size: int) -> int:
            self._pieces.put(ctypes.string_at(text, size).decode())
            return 0 if self._is_closed.is_set() else 1
        try:
            self.result = run(Piece(take))
            self._pieces.put(None)
        except BaseException as error:  # noqa: BLE001 - handed to the caller's thread
            self._pieces.put(error)

    def _take(self) -> bool:
        """Waits for the next piece. What ends the answer stays in the queue for others."""
        piece = self._pieces.get()
        if isinstance(piece, str):
            self._made.append(piece)
            return True
        self._pieces.put(piece)
        if piece is not None:
            raise piece
        return False

    def __iter__(self) -> Iterator[str]:
        at = 0
        try:
            while at < len(self._made) or self._take():
                yield self._made[at]
                at += 1
        finally:
            self.close()

    def __str__(self) -> str:
        return "".join(self)

    def close(self) -> None:
        self._is_closed.set()
        self._thread.join()


class LanguageModel:
    """A language model of a GGUF file, made by hone.load(). One answer at a time: a second request waits for the first."""

    def __init__(self, path: str, threads: int, tokens: int) -> None:
        self.path = path
        self._handle = ctypes.c_void_p()
        self._lock = threading.Lock()
        of = context()
        options = GeneratorOptions(threads=threads, context=tokens)
        check(library.hone_generator_open(of.handle, os.fsencode(path), ctypes.byref(options), ctypes.byref(self._handle)), of)

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            library.hone_generator_close(self._handle)

    def _run(self, call: Any, given: dict[str, Any]) -> Text:
        stops = [text.encode() for text in given.pop("stop")]
        listed = (ctypes.c_char_p * len(stops))(*stops)
        options = GenerateOptions(stops=listed, stop_count=len(stops), **given)

        def run(piece: Any) -> dict[str, Any]:
            of, made = context(), Generated()
            with self._lock:
                check(call(of.handle, ctypes.byref(options), piece, made), of)
                return {"tokens": list(made.tokens[:made.new_tokens]), "reason": made.reason.decode(),
                        "prompt_tokens": made.prompt_tokens, "cached_tokens": made.cached_tokens, "new_tokens": made.new_tokens,
                        "first_token_ms": made.first_token_ms, "rest_ms": made.rest_ms}
        return Text(run)

    def generate(self, prompt: str, *, new_tokens: int = 0, temperature: float = 0, top_k: int = 0, top_p: float = 0, min_p: float = 0,
                 seed: int = 0, stop: Sequence[str] = (), ignore_end: bool = False) -> Text:
        """Continues the prompt. temperature 0: the most likely token; else tokens are drawn from the top_k (default 40) most likely
        that top_p (0.95) and min_p (0.05) leave. new_tokens 0: until the model ends, or the context is full."""
        return self._run(lambda of, options, piece, made: library.hone_generate(
            of, self._handle, prompt.encode(), options, piece, None, ctypes.byref(made)), _given(locals()))

    def chat(self, messages: Sequence[Mapping[str, str]], *, new_tokens: int = 0, temperature: float = 0, top_k: int = 0, top_p: float = 0,
             min_p: float = 0, seed: int = 0, stop: Sequence[str] = (), ignore_end: bool = False) -> Text:
        """Answers messages, [{"role": "user", "content": ...}, ...], by the model's chat template. Options as of generate."""
        listed = (Message * len(messages))(*[Message(m["role"].encode(), m["content"].encode()) for m in messages])
        return self._run(lambda of, options, piece, made: library.hone_chat(
            of, self._handle, listed, len(listed), options, piece, None, ctypes.byref(made)), _given(locals()))

    def __repr__(self) -> str:
        return f"<hone language model {self.path}>"


def _given(values: dict[str, Any]) -> dict[str, Any]:
    return {name: values[name] for name in ("new_tokens", "temperature", "top_k", "top_p", "min_p", "seed", "stop", "ignore_end")}
