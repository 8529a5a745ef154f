"""Vitis AI: ONNX Runtime with AMD's provider for its NPUs and FPGAs; ONNX Runtime computes the rest on the CPU.
AMD's documents say that the NPU computes quantised files in int8 and floats in bf16, so floats are measured as
--precision bf16 only.

Options: config_file, xclbin, target, cache_key, log_level and others are passed to the provider."""

import json
import os
import time

import protocol

PROVIDER = "VitisAIExecutionProvider"
QUANTISED = {"QuantizeLinear", "DequantizeLinear", "QLinearConv", "QLinearMatMul", "ConvInteger", "MatMulInteger"}


class Engine:
    precisions = ("bf16",)

    def open(self, request):
        import onnx
        import onnxruntime
        self.onnxruntime, self.sets, self.request = onnxruntime, {}, request
        if PROVIDER not in onnxruntime.get_available_providers():
            raise protocol.Missing(f"this ONNX Runtime has no {PROVIDER}: it is not AMD's build")
        self.enter("import")
        self.path = protocol.fix_shapes(onnx, request)
        model = onnx.load(self.path, load_external_data=False)
        is_quantised = any(node.op_type in QUANTISED for node in model.graph.node)
        if not is_quantised and request.precision != "bf16":
            raise protocol.Unsupported("computes floats in bf16: --precision bf16")
        self.enter("compile")
        start = time.perf_counter_ns()
        self.session = self.make_session()
        compile_ms = (time.perf_counter_ns() - start) / 1e6
        self.inputs = [value.name for value in self.session.get_inputs()]
        self.facts = protocol.Facts(
            version=onnxruntime.__version__, inputs=self.inputs, outputs=[v.name for v in self.session.get_outputs()],
            device="cpu" if PROVIDER not in self.session.get_providers() else "npu (VitisAI)", threads=request.threads,
            precision="int8" if is_quantised else "bf16", compile_ms=compile_ms)
        return self.facts

    def make_session(self, profile=None):
        options = self.onnxruntime.SessionOptions()
        options.intra_op_num_threads = self.request.threads
        if profile:
            options.enable_profiling, options.profile_file_prefix = True, profile
        given = {"cache_dir": self.request.folder, "cache_key": "hone", **self.request.options}
        return self.onnxruntime.InferenceSession(self.path, options, providers=[PROVIDER], provider_options=[given])

    def bind(self, k, inputs):
        self.sets[k] = dict(zip(self.inputs, inputs))

    def submit(self, k):
        return self.session.run(None, self.sets[k])

    def fetch(self, handle):
        return handle

    def survey(self):
        """Share of time outside of the provider, from one inference with ONNX Runtime's profiler."""
        session = self.make_session(os.path.join(self.request.folder, "profile"))
        session.run(None, self.sets[0])
        with open(session.end_profiling()) as file:
            events = [e for e in json.load(file) if e.get("cat") == "Node" and "provider" in e.get("args", {})]
        times = [(e["args"]["provider"] == PROVIDER, e["dur"]) for e in events]
        whole = sum(dur for _, dur in times)
        if whole:
            self.facts.fallback_share = sum(dur for is_its, dur in times if not is_its) / whole


if __name__ == "__main__":
    protocol.serve(Engine)
