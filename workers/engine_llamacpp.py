"""llama.cpp by the wheel xllamacpp: GGUF on the CPU, text generation only, with llama.cpp's own loop and defaults."""

import importlib.metadata
import time

import protocol

LIKELIEST = 2000


class Engine:
    def open(self, request):
        import numpy
        import xllamacpp
        if request.options:
            raise protocol.Unsupported("this engine takes no options")
        self.numpy, self.ids = numpy, {}
        params = xllamacpp.CommonParams()
        params.model.path = request.model
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = request.threads
        params.n_parallel, params.n_ctx = 1, request.tokens + 8
        self.server = xllamacpp.Server(params)
        return protocol.Facts(version=importlib.metadata.version("xllamacpp"), threads=request.threads, precision="unknown",
                              inputs=list(request.inputs), outputs=list(request.outputs),
                              artifact_bytes=0)  # hone adds the model's files

    def answer(self, prompt, count, **more):
        """(pieces, when each came, their ids if n_probs asks for them)"""
        clock, pieces, times, ids = time.perf_counter_ns, [], [], []

        def take(event):
            at, choice = clock(), event["choices"][0]
            if choice["finish_reason"] is None:
                pieces.append(choice["text"])
                times.append(at)
                ids.extend(token["id"] for token in (choice["logprobs"] or {}).get("content", ()))
            return False
        self.server.handle_completions({"prompt": prompt, "n_predict": count, "temperature": 0, "cache_prompt": False,
                                        "ignore_eos": True, "stream": True, **more}, take)
        return "".join(pieces), times, ids

    def score(self, tokens):
        """The likeliest tokens alone: a list of all takes seconds. All, if the token that follows is not among them."""
        def ask(count, n):
            answer = self.server.handle_completions({"prompt": tokens[:count], "n_predict": 1, "temperature": 0, "n_probs": n,
                                                     "cache_prompt": True})
            return answer["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
        vocabulary = max(token["id"] for token in ask(1, 1 << 20)) + 1
        for count in range(1, len(tokens)):
            row = self.numpy.full(vocabulary, self.numpy.nan, self.numpy.float32)
            for n in (LIKELIEST, 1 << 20):
                if self.numpy.isnan(row[tokens[count]]):
                    for token in ask(count, n):
                        row[token["id"]] = token["logprob"]
            yield row

    def generate(self, prompt, count):
        text, times, _ = self.answer(prompt, count)
        if not times:
            raise RuntimeError("llama.cpp returned no text")
        if tuple(prompt) not in self.ids:  # llama.cpp streams text; ids cost it time
            self.ids[tuple(prompt)] = self.answer(prompt, count, n_probs=1)
        known, _, ids = self.ids[tuple(prompt)]
        if len(times) != count:  # the bytes of a character came in several tokens
            times = self.numpy.interp(range(count), self.numpy.linspace(0, count - 1, len(times)), times).astype(int).tolist()
        return ids if text == known and len(ids) == count else [-1] * count, times


if __name__ == "__main__":
    protocol.serve(Engine)
