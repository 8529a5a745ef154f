"""OpenVINO GenAI: GGUF on the CPU, text generation only, with LLMPipeline's own loop.

Options: PROPERTY=VALUE are properties of OpenVINO."""

import importlib.metadata
import time

import protocol


class Engine:
    def open(self, request):
        import numpy
        import openvino
        import openvino_genai
        self.numpy, self.openvino, self.genai, self.request = numpy, openvino, openvino_genai, request
        try:
            self.pipeline = openvino_genai.LLMPipeline(request.model, "CPU", INFERENCE_NUM_THREADS=request.threads, **request.options)
        except RuntimeError as error:
            raise protocol.Unsupported(protocol.last_error(str(error))) from error
        return protocol.Facts(version=importlib.metadata.version("openvino-genai"), threads=request.threads, precision="unknown",
                              inputs=list(request.inputs), outputs=list(request.outputs),
                              artifact_bytes=0)  # hone adds the model's files

    def score(self, tokens):
        """Log probabilities of the tokens themselves, by the pipeline for several requests: LLMPipeline gives none."""
        del self.pipeline
        scheduler = self.genai.SchedulerConfig()
        scheduler.cache_size = 1  # GB
        pipeline = self.genai.ContinuousBatchingPipeline(self.request.model, scheduler, "CPU",
                                                         {"INFERENCE_NUM_THREADS": self.request.threads, **self.request.options})
        config = self.genai.GenerationConfig(max_new_tokens=1, do_sample=False, echo=True, logprobs=1, apply_chat_template=False)
        handle = pipeline.add_request(0, self.openvino.Tensor(self.numpy.array([tokens], self.numpy.int64)), config)
        while pipeline.has_non_finished_requests():
            pipeline.step()
        yield from handle.read_all()[0].generated_log_probs[1:len(tokens)]

    def generate(self, prompt, count):
        times, clock, running = [], time.perf_counter_ns, self.genai.StreamingStatus.RUNNING

        class Streamer(self.genai.StreamerBase):
            def write(self, tokens):
                times.extend([clock()] * (len(tokens) if isinstance(tokens, list) else 1))
                return running

            def end(self):
                pass
        config = self.genai.GenerationConfig(max_new_tokens=count, do_sample=False, ignore_eos=True, apply_chat_template=False)
        result = self.pipeline.generate(self.openvino.Tensor(self.numpy.array([prompt], self.numpy.int64)), config, Streamer())
        return list(result.tokens[0]), times


if __name__ == "__main__":
    protocol.serve(Engine)
