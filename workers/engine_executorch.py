"""ExecuTorch: a .pt2, or ONNX -> onnx2torch -> torch.export, -> Edge with XNNPACK -> .pte, run by its Python runtime.

Options: partitioner=xnnpack|none (default xnnpack; none runs the portable kernels). Threads by affinity."""

import os
import re
import time

import protocol
import torch_model

# Error numbers of its runtime (runtime/core/error.h) that mean "not supported".
CANNOT = {"10": "not supported", "11": "not implemented", "14": "an operator is missing"}


def worded(error):
    found = re.search(r"error:? 0x:?([0-9a-f]+)", str(error))
    return protocol.Unsupported(f"{error}, {CANNOT[found[1]]}") if found and found[1] in CANNOT else error


class Engine:
    def open(self, request):
        self.enter("import")
        start = time.perf_counter_ns()
        import importlib.metadata
        import torch
        self.torch, self.sets, self.method = torch, {}, None
        self.request = request
        model = torch_model.load(torch, request, fixed=True)
        examples = self.examples(model.values or [])
        import_ms = (time.perf_counter_ns() - start) / 1e6
        self.enter("compile")
        start = time.perf_counter_ns()
        program, share, how = self.lower(model, examples)
        file = f"{request.folder}/model.pte"
        with open(file, "wb") as out:
            out.write(program.buffer)
        compile_ms = (time.perf_counter_ns() - start) / 1e6
        self.enter("load")
        from executorch.runtime import Runtime
        try:
            self.program = Runtime.get().load_program(file)
            self.method = self.program.load_method("forward")
        except RuntimeError as error:
            raise worded(error)
        return protocol.Facts(
            version=importlib.metadata.version("executorch"), threads=len(os.sched_getaffinity(0)),
            inputs=model.inputs, outputs=model.outputs, precision=self.precision,
            device=f"cpu ({request.options.get('partitioner', 'xnnpack')}{how})", import_ms=import_ms,
            compile_ms=compile_ms, fallback_share=share, artifact_bytes=len(program.buffer))

    def examples(self, values):
        torch, types = self.torch, {1: "float32", 6: "int32", 7: "int64", 9: "bool", 10: "float16", 11: "float64"}
        for value in values:
            if value.type.tensor_type.elem_type not in types:
                raise protocol.Unsupported(f"input {value.name} has a type that this worker does not pass on")
        return tuple(torch.ones(protocol.dims_of(v, self.request), dtype=getattr(torch, types[v.type.tensor_type.elem_type]))
                     for v in values)

    def lower(self, model, examples):
        """The program, the share of its calls outside of delegates, and how it was exported."""
        from executorch.exir import to_edge_transform_and_lower
        way = self.request.options.get("partitioner", "xnnpack")
        if way not in ("xnnpack", "none"):
            raise protocol.Unsupported(f"partitioner is xnnpack or none, not {way}")
        partitioners = []
        if way == "xnnpack":
            from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
            partitioners = [XnnpackPartitioner()]
        try:
            exported, how = model.exported(self.torch, examples)
            self.precision = protocol.precision_of(types_of(self.torch, exported.graph), "fp32")
            edge = to_edge_transform_and_lower(exported, partitioner=partitioners)
        except protocol.Unsupported:
            raise
        except Exception as error:
            raise protocol.Unsupported(f"ExecuTorch: {torch_model.first_line(error)}")
        calls = [n for n in edge.exported_program().graph.nodes if n.op == "call_function"
                 and "getitem" not in str(n.target)]
        delegated = sum("call_delegate" in str(n.target) for n in calls)
        return edge.to_executorch(), (len(calls) - delegated) / max(1, len(calls)), how

    def bind(self, k, inputs):
        self.sets[k] = [self.torch.from_numpy(x) for x in inputs]

    def submit(self, k):
        try:
            return self.method.execute(self.sets[k])
        except RuntimeError as error:
            raise worded(error)

    def fetch(self, handle):
        return [value.numpy() for value in handle]

    def keep(self):
        return ["model.pte"]


def types_of(torch, graph):
    """Output types of the operators of an exported graph."""
    given = [node.meta.get("val") for node in graph.nodes if node.op == "call_function"]
    return [str(value.dtype).removeprefix("torch.") for value in given if isinstance(value, torch.Tensor)]


if __name__ == "__main__":
    protocol.serve(Engine)
