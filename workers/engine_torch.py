"""PyTorch: ONNX -> onnx2torch, then eager, TorchScript (traced and frozen), torch.compile (Inductor) or
AOTInductor (torch.export, a package with a library, its loader).

Options: mode=eager|script|compile|aoti (default eager), max_autotune=1 (compile), freezing=0 (compile)."""

import time

import protocol


class Engine:
    def open(self, request):
        self.enter("import")
        start = time.perf_counter_ns()
        import onnx
        import onnx2torch
        import torch
        self.torch = torch
        torch.set_num_threads(request.threads)
        torch.set_num_interop_threads(1)
        model = onnx.load(request.model)
        constants = {value.name for value in model.graph.initializer}
        try:
            module = onnx2torch.convert(model).eval()
        except NotImplementedError as error:
            raise protocol.Unsupported(f"onnx2torch: {error}")
        import_ms = (time.perf_counter_ns() - start) / 1e6
        self.mode, self.sets = request.options.get("mode", "eager"), {}
        if self.mode not in ("eager", "script", "compile", "aoti"):
            raise protocol.Unsupported(f"mode is eager, script, compile or aoti, not {self.mode}")
        self.call, self.options, self.built = module, request.options, False
        self.folder = request.folder
        self.guard = torch.inference_mode()
        self.guard.__enter__()
        return protocol.Facts(
            version=torch.__version__, threads=torch.get_num_threads(), import_ms=import_ms,
            inputs=[v.name for v in model.graph.input if v.name not in constants],
            outputs=[v.name for v in model.graph.output], device=f"cpu ({self.mode})")

    def bind(self, k, inputs):
        torch = self.torch
        self.sets[k] = [torch.from_numpy(x) for x in inputs]
        if self.built:
            return
        self.built = True  # the first set is what a trace sees
        if self.mode == "script":
            self.call = torch.jit.optimize_for_inference(
                torch.jit.freeze(torch.jit.trace(self.call, tuple(self.sets[k]))))
        if self.mode == "aoti":
            self.call = self.ahead_of_time(self.call, tuple(self.sets[k]))
        if self.mode == "compile":
            import torch._inductor.config as config
            config.freezing = self.options.get("freezing", "1") == "1"
            mode = "max-autotune-no-cudagraphs" if self.options.get("max_autotune") == "1" else None
            self.call = torch.compile(self.call, mode=mode, dynamic=False)

    def ahead_of_time(self, module, inputs):
        from torch._inductor import aoti_compile_and_package, aoti_load_package
        try:
            exported = self.torch.export.export(module, inputs)
        except Exception as error:
            raise protocol.Unsupported(f"torch.export: {str(error).splitlines()[0][:300]}")
        path = aoti_compile_and_package(exported, package_path=f"{self.folder}/model.pt2")
        return aoti_load_package(path)

    def submit(self, k):
        return self.call(*self.sets[k])

    def keep(self):
        if self.mode == "script":
            self.torch.jit.save(self.call, f"{self.folder}/script.pt")
            return ["script.pt"]
        if self.mode == "aoti":
            return ["model.pt2"]
        raise protocol.Unsupported(f"mode {self.mode} leaves no file that another process can load")

    def fetch(self, handle):
        many = handle if isinstance(handle, (list, tuple)) else [handle]
        return [value.numpy() for value in many]


if __name__ == "__main__":
    protocol.serve(Engine)
