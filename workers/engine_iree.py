"""IREE: ONNX -> torch-mlir's ONNX dialect -> iree-compile for llvm-cpu -> local-sync or local-task.

Options: data_tiling=0|1 (default 1), device=local-sync|local-task (default: sync for one thread); target=cuda|rocm|vulkan
compiles for such a device (chip=NAME: which one), which it needs to run."""

import re
import sys
import time

import protocol


# By the value of the option: iree-compile's name, the runtime's name, the flag for the chip and its default.
TARGETS = {"cpu": ("llvm-cpu", "", "--iree-llvmcpu-target-cpu=", "host"),
           "cuda": ("cuda", "cuda", "--iree-cuda-target=", "sm_80"),
           "rocm": ("rocm", "hip", "--iree-rocm-target=", "gfx942"),
           "vulkan": ("vulkan-spirv", "vulkan", "--iree-vulkan-target=", "vp_android_baseline_2022")}


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
        target = request.options.get("target", "cpu")
        if target not in TARGETS:
            raise protocol.Unsupported(f"target is one of {' '.join(TARGETS)}")
        backend, driver, flag, chip = TARGETS[target]
        flags = [flag + request.options.get("chip", chip)]
        if request.options.get("data_tiling", "1") == "1":
            flags.append("--iree-opt-data-tiling")
        try:
            binary = compiler.compile_file(mlir, input_type=form, target_backends=[backend],
                                           extra_args=flags)
        except compiler.CompilerToolError as error:
            raise protocol.Unsupported(protocol.last_error(str(error)))
        compile_ms = (time.perf_counter_ns() - start) / 1e6
        self.enter("load")
        device = driver or request.options.get("device", "local-task" if request.threads > 1 else "local-sync")
        if device == "local-task":
            runtime.flags.parse_flags(f"--task_topology_group_count={request.threads}")
        try:
            self.config = runtime.Config(device)
        except Exception as error:
            if not driver:
                raise
            raise protocol.Unsupported(f"compiled for {target} in {compile_ms / 1e3:.1f} s, {len(binary)} bytes; no such device "
                                       f"here: {(str(error).splitlines() or ['no reason given'])[0]}")
        context = runtime.SystemContext(config=self.config)
        module = runtime.VmModule.copy_buffer(context.instance, binary)
        context.add_vm_module(module)
        names = [n for n in module.function_names if not n.startswith("__") and "$" not in n]
        self.machine, self.function = context.vm_context, module.lookup_function(names[0])
        self.runtime, self.sets, self.is_mapped = runtime, {}, not driver
        self.copied = None
        self.count = len(outputs)
        self.binary, self.folder = binary, request.folder
        self.compile = lambda *more: compiler.compile_file(mlir, input_type=form, target_backends=[backend],
                                                           extra_args=[*flags, *more])
        self.facts = protocol.Facts(
            version=importlib.metadata.version("iree-base-runtime"),
            inputs=inputs, outputs=outputs, device=device, threads=request.threads,
            compile_ms=compile_ms, import_ms=import_ms, artifact_bytes=len(binary))
        return self.facts

    def survey(self):
        """Types of its matmuls, or of its operators if there are none, after IREE has formed dispatches and before code."""
        text = self.compile("--compile-to=flow", "--mlir-elide-elementsattrs-if-larger=16",
                            "--mlir-elide-resource-strings-if-larger=16").decode(errors="replace")
        found = re.findall(r"linalg\.(\w+)([^\n]*?)\bins\((%\w+, )?[^:\n]*: *tensor<(?:[0-9?]+x)*([a-z]+[0-9]+)", text)
        products = [kind for name, how, two, kind in found if two and (name != "generic" or "reduction" in how)]
        self.facts.precision = protocol.precision_of(products or [word[-1] for word in found], self.facts.precision)

    def bind(self, k, inputs):
        self.sets[k] = self.runtime.VmVariantList(len(inputs))
        for x in inputs:
            array = self.runtime.asdevicearray(self.config.device, x)
            self.sets[k].push_ref(array._buffer_view.ref)  # the package's own call packs the argument list in every call

    copy_in = bind

    def submit(self, k):
        """The call of the virtual machine as in IREE's own tools. Outputs are mapped, or copied from the device to the host.
        The package's FunctionInvoker does the same with 10 us more of Python."""
        results = self.runtime.VmVariantList(self.count)
        self.machine.invoke(self.function, self.sets[k], results)
        views = [results.get_as_object(i, self.runtime.HalBufferView) for i in range(self.count)]
        if self.is_mapped:
            return [(view, view.map()) for view in views]
        start = time.perf_counter_ns()
        outputs = [(view, self.on_host(view)) for view in views]
        self.copied = time.perf_counter_ns() - start
        return outputs

    def copied_out(self):
        return self.copied

    def on_host(self, view):
        return self.runtime.DeviceArray(self.config.device, view).to_host()

    def fetch(self, handle):
        return [self.on_host(view) for view, _ in handle]

    def keep(self):
        with open(f"{self.folder}/model.vmfb", "wb") as file:
            file.write(self.binary)
        return ["model.vmfb"]


if __name__ == "__main__":
    protocol.serve(Engine)
