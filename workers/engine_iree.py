"""IREE: ONNX -> torch-mlir's ONNX dialect -> iree-compile for llvm-cpu -> local-sync or local-task.

Options: data_tiling=0|1 (default 1), device=local-sync|local-task (default: sync for one thread)."""

import sys
import time

import protocol


class Engine:
    def open(self, request):
        import importlib.metadata
        import iree.compiler as compiler
        import iree.runtime as runtime
        import onnx
        self.enter("import")
        start = time.perf_counter_ns()
        mlir, form = f"{request.folder}/model.mlir", "onnx"
        if request.route == "stablehlo-hone":
            (mlir, inputs, outputs), form = protocol.stablehlo_of(request), "stablehlo"
        else:
            path = protocol.fix_shapes(onnx, request)
            protocol.run_tool([sys.executable, "-m", "iree.compiler.tools.import_onnx", path, "-o", mlir])
            model = onnx.load(path, load_external_data=False)
            inputs, outputs = protocol.io_of(model, request)[0], [v.name for v in model.graph.output]
        import_ms = (time.perf_counter_ns() - start) / 1e6
        self.enter("compile")
        start = time.perf_counter_ns()
        flags = ["--iree-llvmcpu-target-cpu=host"]
        if request.options.get("data_tiling", "1") == "1":
            flags.append("--iree-opt-data-tiling")
        try:
            binary = compiler.compile_file(mlir, input_type=form, target_backends=["llvm-cpu"],
                                           extra_args=flags)
        except compiler.CompilerToolError as error:
            raise protocol.Unsupported(protocol.last_error(str(error)))
        compile_ms = (time.perf_counter_ns() - start) / 1e6
        self.enter("load")
        device = request.options.get("device", "local-task" if request.threads > 1 else "local-sync")
        if device == "local-task":
            runtime.flags.parse_flags(f"--task_topology_group_count={request.threads}")
        self.config = runtime.Config(device)
        context = runtime.SystemContext(config=self.config)
        module = runtime.VmModule.copy_buffer(context.instance, binary)
        context.add_vm_module(module)
        bound = context.modules[module.name]
        names = [n for n in module.function_names if not n.startswith("__") and "$" not in n]
        self.function, self.runtime, self.sets = bound[names[0]], runtime, {}
        self.binary, self.folder = binary, request.folder
        return protocol.Facts(
            version=importlib.metadata.version("iree-base-runtime"),
            inputs=inputs, outputs=outputs, device=device, threads=request.threads,
            compile_ms=compile_ms, import_ms=import_ms, artifact_bytes=len(binary))

    def bind(self, k, inputs):
        device = self.config.device
        self.sets[k] = [self.runtime.asdevicearray(device, x) for x in inputs]

    def submit(self, k):
        result = self.function(*self.sets[k])
        return [r.to_host() for r in (result if isinstance(result, (list, tuple)) else [result])]

    def fetch(self, handle):
        return handle

    def keep(self):
        with open(f"{self.folder}/model.vmfb", "wb") as file:
            file.write(self.binary)
        return ["model.vmfb"]


if __name__ == "__main__":
    protocol.serve(Engine)
