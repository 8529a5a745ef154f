"""Torch-TensorRT: ONNX -> onnx2torch -> torch.export -> torch_tensorrt, on the first NVIDIA GPU.
Inputs are in the device's memory; a sample is the module's run and the copy of its outputs to the host.

Options: tf32=1 (default 0), min_block_size=N (its default 5: shorter runs of operators stay with PyTorch)."""

import time

import protocol
import torch_model


class Engine:
    def open(self, request):
        self.enter("import")
        start = time.perf_counter_ns()
        import torch
        import torch_tensorrt
        if not torch.cuda.is_available():
            raise protocol.Unsupported("no NVIDIA GPU: PyTorch sees no CUDA device")
        self.torch, self.compiler, self.sets, self.call = torch, torch_tensorrt, {}, None
        self.model = torch_model.load(torch, request)
        self.model.module = self.model.module.cuda()
        self.settings = {"disable_tf32": request.options.get("tf32") != "1"}
        if "min_block_size" in request.options:
            self.settings["min_block_size"] = int(request.options["min_block_size"])
        self.events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
        self.guard = torch.inference_mode()
        self.guard.__enter__()
        self.facts = protocol.Facts(
            version=torch_tensorrt.__version__, inputs=self.model.inputs, outputs=self.model.outputs,
            device=torch.cuda.get_device_name(0), threads=1,
            precision="fp32" if self.settings["disable_tf32"] else "tf32",
            import_ms=(time.perf_counter_ns() - start) / 1e6)
        return self.facts

    def compile(self, inputs):
        """Exports the first set. Operators that TensorRT does not support run in PyTorch; their share is reported."""
        exported, how = self.model.exported(self.torch, inputs)
        self.facts.device += how
        count = sum(node.op == "call_function" for node in exported.graph.nodes)
        self.call = self.compiler.dynamo.compile(exported, inputs, **self.settings)
        left = sum(node.op == "call_function" for name, part in self.call.named_children() if name.startswith("_run_on_gpu")
                   for node in part.graph.nodes)
        has_engine = any(name.startswith("_run_on_acc") for name, _ in self.call.named_children())
        self.facts.fallback_share = min(1.0, left / max(count, 1)) if has_engine else 1.0

    def copy_in(self, k, inputs):
        self.sets[k] = tuple(self.torch.from_numpy(x).cuda() for x in inputs)

    def bind(self, k, inputs):
        self.copy_in(k, inputs)
        if self.call is None:
            self.enter("compile")
            start = time.perf_counter_ns()
            self.compile(self.sets[k])
            self.facts.compile_ms = (time.perf_counter_ns() - start) / 1e6
            self.enter("run")

    def submit(self, k):
        result = self.call(*self.sets[k])
        self.events[0].record()
        outputs = [value.cpu() for value in (result if isinstance(result, (list, tuple)) else [result])]
        self.events[1].record()
        return outputs

    def copied_out(self):
        self.events[1].synchronize()
        return round(self.events[0].elapsed_time(self.events[1]) * 1e6)  # ms

    def fetch(self, handle):
        return [value.numpy() for value in handle]


if __name__ == "__main__":
    protocol.serve(Engine)
