"""llama.cpp compiled for this processor by pip (llama-cpp-python): GGUF on the CPU, text generation only, with the package's own
greedy loop."""

import importlib.metadata
import time

import protocol


class Engine:
    def open(self, request):
        import llama_cpp
        import numpy
        if request.options:
            raise protocol.Unsupported("this engine takes no options")
        self.numpy, self.llama_cpp = numpy, llama_cpp
        try:
            self.model = llama_cpp.Llama(request.model, n_ctx=request.tokens + 8, n_threads=request.threads,
                                         n_threads_batch=request.threads, verbose=False)
        except ValueError as error:
            raise protocol.Unsupported(protocol.last_error(str(error))) from error
        return protocol.Facts(version=importlib.metadata.version("llama-cpp-python"), threads=request.threads, precision="unknown",
                              inputs=list(request.inputs), outputs=list(request.outputs),
                              artifact_bytes=0)  # hone adds the model's files

    def score(self, tokens):
        """Logits after each token; the harness makes probabilities of them."""
        self.model.reset()
        for token in tokens[:-1]:
            self.model.eval([token])
            logits = self.llama_cpp.llama_get_logits_ith(self.model.ctx, -1)
            yield self.numpy.ctypeslib.as_array(logits, (self.model.n_vocab(),)).copy()

    def generate(self, prompt, count):
        made, times, clock = [], [], time.perf_counter_ns
        self.model.reset()
        for token in self.model.generate(prompt, temp=0.0, repeat_penalty=1.0, reset=True):
            made.append(int(token))
            times.append(clock())
            if len(made) == count:
                break
        return made, times


if __name__ == "__main__":
    protocol.serve(Engine)
