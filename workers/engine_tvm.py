"""TVM: ONNX -> Relax -> the default pipeline, or MetaSchedule with a budget, for llvm.

Options: trials=N (MetaSchedule; default 0: not tuned)."""

import os
import time

import protocol


class Engine:
    def open(self, request):
        os.environ["TVM_NUM_THREADS"] = str(request.threads)
        self.enter("import")
        start = time.perf_counter_ns()
        import onnx
        import tvm
        from tvm import relax
        from tvm.relax.frontend.onnx import from_onnx
        model = onnx.load(request.model)
        constants = {value.name for value in model.graph.initializer}
        names = [v.name for v in model.graph.input if v.name not in constants]
        shapes = {n: request.shapes[n] for n in names if n in request.shapes}
        try:
            module = from_onnx(model, shape_dict=shapes, keep_params_in_input=False)
        except Exception as error:
            raise protocol.Unsupported(f"Relax's ONNX front end: {error}")
        types = types_of(relax, module["main"])
        import_ms = (time.perf_counter_ns() - start) / 1e6
        self.enter("compile")
        start = time.perf_counter_ns()
        target = tvm.target.Target({"kind": "llvm", "mcpu": host_cpu(tvm),
                                    "num-cores": request.threads})
        trials = int(request.options.get("trials", "0"))
        pipeline = relax.get_pipeline(
            "static_shape_tuning", target=target, total_trials=trials) if trials else "default"
        built = tvm.compile(module, target=target, relax_pipeline=pipeline)
        compile_ms = (time.perf_counter_ns() - start) / 1e6
        self.enter("load")
        self.tvm, self.sets, self.built, self.folder = tvm, {}, built, request.folder
        self.device = tvm.cpu()
        self.vm = relax.VirtualMachine(built, self.device)
        self.main = self.vm["main"]
        return protocol.Facts(version=tvm.__version__, threads=request.threads, inputs=names,
                              outputs=[v.name for v in model.graph.output], device="llvm",
                              precision=protocol.precision_of(types, "fp32"), compile_ms=compile_ms, import_ms=import_ms)

    def bind(self, k, inputs):
        make = getattr(self.tvm.runtime, "tensor", None) or self.tvm.nd.array
        self.sets[k] = [make(x, self.device) for x in inputs]

    def submit(self, k):
        return self.main(*self.sets[k])

    def fetch(self, handle):
        one = hasattr(handle, "numpy")
        return [value.numpy() for value in ([handle] if one else list(handle))]

    def keep(self):
        self.built.export_library(f"{self.folder}/model.so")
        return ["model.so"]


def types_of(relax, function):
    """Output types of Relax's operators."""
    found = []
    def visit(expression):
        if isinstance(expression, relax.Call):
            found.append(str(getattr(expression.ty, "dtype", "")))
    relax.analysis.post_order_visit(function, visit)
    return found


def host_cpu(tvm):
    try:
        return tvm.target.codegen.llvm_get_system_cpu()
    except AttributeError:
        return "x86-64-v3"


if __name__ == "__main__":
    protocol.serve(Engine)
