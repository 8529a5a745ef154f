"""ExecuTorch: ONNX -> onnx2torch -> torch.export -> Edge with XNNPACK -> .pte, run by its Python runtime.

Options: partitioner=xnnpack|none (default xnnpack; none runs the portable kernels). Threads by affinity."""

import os
import time

import protocol


class Engine:
    def open(self, request):
        self.enter("import")
        start = time.perf_counter_ns()
        import importlib.metadata
        import onnx
        import onnx2torch
        import torch
        self.torch, self.sets, self.method = torch, {}, None
        self.request = request
        path = protocol.fix_shapes(onnx, request)
        model = onnx.load(path)
        constants = {value.name for value in model.graph.initializer}
        inputs = [v for v in model.graph.input if v.name not in constants]
        try:
            module = onnx2torch.convert(model).eval()
        except NotImplementedError as error:
            raise protocol.Unsupported(f"onnx2torch: {error}")
        types = {1: torch.float32, 6: torch.int32, 7: torch.int64, 9: torch.bool, 11: torch.float64}
        for value in inputs:
            if value.type.tensor_type.elem_type not in types:
                raise protocol.Unsupported(f"input {value.name} has a type that this worker does not pass on")
        examples = tuple(torch.ones(protocol.dims_of(v, request), dtype=types[v.type.tensor_type.elem_type])
                         for v in inputs)
        import_ms = (time.perf_counter_ns() - start) / 1e6
        self.enter("compile")
        start = time.perf_counter_ns()
        program, share, how = self.lower(module, examples)
        file = f"{request.folder}/model.pte"
        with open(file, "wb") as out:
            out.write(program.buffer)
        compile_ms = (time.perf_counter_ns() - start) / 1e6
        self.enter("load")
        from executorch.runtime import Runtime
        self.program = Runtime.get().load_program(file)
        self.method = self.program.load_method("forward")
        return protocol.Facts(
            version=importlib.metadata.version("executorch"), threads=len(os.sched_getaffinity(0)),
            inputs=[v.name for v in inputs], outputs=[v.name for v in model.graph.output],
            device=f"cpu ({request.options.get('partitioner', 'xnnpack')}{how})", import_ms=import_ms,
            compile_ms=compile_ms, fallback_share=share, artifact_bytes=len(program.buffer))

    def lower(self, module, examples):
        """The program, the share of its calls that no delegate took, and how it was exported."""
        from executorch.exir import to_edge_transform_and_lower
        way = self.request.options.get("partitioner", "xnnpack")
        if way not in ("xnnpack", "none"):
            raise protocol.Unsupported(f"partitioner is xnnpack or none, not {way}")
        partitioners = []
        if way == "xnnpack":
            from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
            partitioners = [XnnpackPartitioner()]
        try:
            exported, how = protocol.exported_by_torch(self.torch, module, examples)
            edge = to_edge_transform_and_lower(exported, partitioner=partitioners)
        except protocol.Unsupported:
            raise
        except Exception as error:
            raise protocol.Unsupported(f"torch.export or ExecuTorch: {str(error).splitlines()[0][:300]}")
        calls = [n for n in edge.exported_program().graph.nodes if n.op == "call_function"
                 and "getitem" not in str(n.target)]
        delegated = sum("call_delegate" in str(n.target) for n in calls)
        return edge.to_executorch(), (len(calls) - delegated) / max(1, len(calls)), how

    def bind(self, k, inputs):
        self.sets[k] = [self.torch.from_numpy(x) for x in inputs]

    def submit(self, k):
        return self.method.execute(self.sets[k])

    def fetch(self, handle):
        return [value.numpy() for value in handle]

    def keep(self):
        return ["model.pte"]


if __name__ == "__main__":
    protocol.serve(Engine)
