"""ncnn: ONNX -> pnnx -> ncnn's own files. The files have no batch dimension: models of one sample only.

Options: lightmode=0|1, winograd=0|1, packing=0|1 (ncnn's own, default 1)."""

import os
import subprocess
import time

import protocol


class Engine:
    def open(self, request):
        import importlib.metadata
        import importlib.util
        import ncnn
        import numpy
        import onnx
        self.ncnn, self.numpy, self.sets = ncnn, numpy, {}
        self.enter("import")
        start = time.perf_counter_ns()
        path = protocol.fix_shapes(onnx, request)
        model = onnx.load(path)
        names, self.shapes = protocol.io_of(model, request)
        self.enter("compile")
        inputs = [v for v in model.graph.input if v.name in names]
        if any(v.type.tensor_type.elem_type != onnx.TensorProto.FLOAT for v in inputs):
            raise protocol.Unsupported("ncnn takes float inputs only")
        local = f"{request.folder}/model.onnx"
        onnx.save(model, local)
        shapes = ",".join(str(protocol.dims_of(v, request)).replace(" ", "") for v in inputs)
        # the program itself: its package's module imports torch, which is not installed
        tool = os.path.join(importlib.util.find_spec("pnnx").submodule_search_locations[0], "pnnx")
        result = subprocess.run([tool, local, f"inputshape={shapes}", "fp16=0", "optlevel=2"],
                                cwd=request.folder, capture_output=True, text=True)
        param = f"{request.folder}/model.ncnn.param"
        if result.returncode or not os.path.exists(param):
            raise protocol.Unsupported("pnnx: " + protocol.last_error(result.stderr or result.stdout))
        convert_ms = (time.perf_counter_ns() - start) / 1e6
        self.enter("load")
        self.net = ncnn.Net()
        options = self.net.opt
        options.num_threads = request.threads
        options.use_vulkan_compute = False
        for name in ("use_fp16_packed", "use_fp16_storage", "use_fp16_arithmetic", "use_bf16_storage"):
            setattr(options, name, False)
        for key, name in (("lightmode", "lightmode"), ("winograd", "use_winograd_convolution"),
                          ("packing", "use_packing_layout")):
            if key in request.options:
                setattr(options, name, request.options[key] == "1")
        if self.net.load_param(param) or self.net.load_model(f"{request.folder}/model.ncnn.bin"):
            raise protocol.Unsupported("ncnn cannot load what pnnx made: a layer it does not have")
        return protocol.Facts(version=importlib.metadata.version("ncnn"), threads=request.threads,
                              inputs=names, outputs=[v.name for v in model.graph.output],
                              compile_ms=convert_ms,
                              artifact_bytes=os.path.getsize(param) +
                              os.path.getsize(f"{request.folder}/model.ncnn.bin"))

    def bind(self, k, inputs):
        squeezed = [x[0] if x.ndim > 1 and x.shape[0] == 1 else x for x in inputs]
        if any(x.ndim > 1 and x.shape[0] != 1 for x in inputs) or any(x.ndim > 4 for x in squeezed):
            raise protocol.Unsupported("ncnn's files have no batch dimension: batch 1 only")
        self.sets[k] = [self.ncnn.Mat(self.numpy.ascontiguousarray(x)).clone() for x in squeezed]

    def submit(self, k):
        extractor = self.net.create_extractor()
        for i, mat in enumerate(self.sets[k]):
            extractor.input(f"in{i}", mat)
        return [extractor.extract(f"out{i}") for i in range(len(self.shapes))]

    def fetch(self, handle):
        arrays = []
        for (code, mat), shape in zip(handle, self.shapes):
            array = self.numpy.array(mat)
            if code or (shape and array.size != self.numpy.prod(shape)):
                raise RuntimeError(f"ncnn gave {array.shape} where the model has {shape}")
            arrays.append(array.reshape(shape) if shape else array)
        return arrays

    def keep(self):
        return ["model.ncnn.param", "model.ncnn.bin"]


if __name__ == "__main__":
    protocol.serve(Engine)
