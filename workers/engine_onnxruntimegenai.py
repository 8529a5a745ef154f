"""ONNX Runtime GenAI: GGUF by `hone export MODEL.gguf -o FOLDER/`, on the CPU, text generation only, with its Generator's own loop."""

import importlib.metadata
import json
import os
import subprocess
import time

import protocol


class Engine:
    def open(self, request):
        import onnxruntime_genai
        if request.options:
            raise protocol.Unsupported("this engine takes no options")
        self.genai = onnxruntime_genai
        folder = f"{request.folder}/genai/"
        start = time.perf_counter()
        result = subprocess.run([request.hone, "export", request.model, "-o", folder], capture_output=True, text=True)
        if result.returncode:
            raise protocol.Unsupported(protocol.last_error(result.stderr.strip()))
        import_ms = (time.perf_counter() - start) * 1e3
        with open(f"{folder}genai_config.json") as file:
            config = json.load(file)
        config["model"]["decoder"]["session_options"] = {"intra_op_num_threads": request.threads, "inter_op_num_threads": 1}
        with open(f"{folder}genai_config.json", "w") as file:
            json.dump(config, file)
        try:
            self.model = onnxruntime_genai.Model(folder)
        except Exception as error:
            raise protocol.Unsupported(str(error).rpartition(" , Error ")[2][-600:]) from error  # the node comes first
        self.most = request.tokens + 8
        return protocol.Facts(version=importlib.metadata.version("onnxruntime-genai"), threads=request.threads, precision="unknown",
                              inputs=list(request.inputs), outputs=list(request.outputs), import_ms=import_ms,
                              artifact_bytes=sum(os.path.getsize(folder + name) for name in os.listdir(folder)))

    def generator(self, most):
        params = self.genai.GeneratorParams(self.model)
        params.set_search_options(max_length=most, min_length=most, do_sample=False)  # min_length: an end token ends nothing
        return self.genai.Generator(self.model, params)

    def score(self, tokens):
        generator = self.generator(len(tokens))
        for token in tokens[:-1]:
            generator.append_tokens([token])
            yield generator.get_logits()[0, -1]

    def generate(self, prompt, count):
        generator, times = self.generator(self.most), []
        generator.append_tokens(prompt)
        for _ in range(count):
            generator.generate_next_token()
            times.append(time.perf_counter_ns())
        return generator.get_sequence(0)[-count:].tolist(), times


if __name__ == "__main__":
    protocol.serve(Engine)
