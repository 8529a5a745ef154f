"""MNN: ONNX -> MNNConvert -> MNN's Module API on the CPU, in its high precision (f32).

Options: precision=high|normal|low (MNN's own words; default high), memory=normal|high|low."""

import os
import subprocess
import sys
import time

import protocol

LEVELS = {"normal": 0, "high": 1, "low": 2}


class Engine:
    def open(self, request):
        import importlib.metadata
        import MNN
        import numpy
        import onnx
        self.mnn, self.numpy, self.sets = MNN, numpy, {}
        self.enter("import")
        start = time.perf_counter_ns()
        path = protocol.fix_shapes(onnx, request)
        model = onnx.load(path, load_external_data=False)
        names, self.shapes = protocol.io_of(model, request)
        outputs = [v.name for v in model.graph.output]
        self.enter("compile")
        made = f"{request.folder}/model.mnn"
        # MNN's program `mnnconvert` calls the same function, but also installs a package and reports each conversion
        # with the machine's id to a service
        result = subprocess.run([sys.executable, "-c", "import sys, _tools; _tools.mnnconvert(sys.argv)", "-f", "ONNX",
                                 "--modelFile", path, "--MNNModel", made, "--bizCode", "hone"],
                                capture_output=True, text=True, cwd=request.folder)
        if not os.path.exists(made):
            raise protocol.Unsupported("MNNConvert: " + protocol.last_error(result.stderr + result.stdout))
        compile_ms = (time.perf_counter_ns() - start) / 1e6
        self.enter("load")
        level = request.options.get("precision", "high")
        if level not in LEVELS:
            raise protocol.Unsupported(f"precision is high, normal or low, not {level}")
        manager = MNN.nn.create_runtime_manager(({
            "precision": level, "backend": "CPU", "numThread": request.threads,
            "memory": request.options.get("memory", "normal")},))
        self.net = MNN.nn.load_module_from_file(made, names, outputs, runtime_manager=manager)
        return protocol.Facts(version=importlib.metadata.version("MNN"), threads=request.threads,
                              inputs=names, outputs=outputs, compile_ms=compile_ms,
                              artifact_bytes=os.path.getsize(made))

    def bind(self, k, inputs):
        expr = self.mnn.expr
        kinds = {"float32": expr.float, "int32": expr.int, "uint8": expr.uint8, "int8": expr.int8,
                 "int64": expr.int, "bool": expr.int}
        made = []
        for x in inputs:
            if x.dtype.name not in kinds:
                raise protocol.Unsupported(f"MNN does not support {x.dtype.name}")
            if x.dtype.name in ("int64", "bool"):  # MNN computes with 32-bit integers
                x = x.astype(self.numpy.int32)
            made.append(expr.const(self.numpy.ascontiguousarray(x), list(x.shape), expr.NCHW,
                                   kinds[x.dtype.name]))
        self.sets[k] = made

    copy_in = bind

    def submit(self, k):
        results = self.net.forward(self.sets[k])
        results = results if isinstance(results, (list, tuple)) else [results]
        return [r.read() for r in results]

    def fetch(self, handle):
        return [self.numpy.array(a).reshape(s) if s else self.numpy.array(a)
                for a, s in zip(handle, self.shapes)]

    def keep(self):
        return ["model.mnn"]


if __name__ == "__main__":
    protocol.serve(Engine)
