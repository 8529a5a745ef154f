"""emx-onnx-cgen: ONNX -> plain C for embedded systems -> the C compiler, called through ctypes. One thread.

Options: cc=PROGRAM (default gcc), flags=FLAGS separated by blanks (default -O3 -march=native), accumulate=simple|fp64
(the generator's own choice is fp64)."""

import ctypes
import os
import re
import subprocess
import sys
import time

import protocol


class Engine:
    def open(self, request):
        import importlib.metadata
        import numpy
        import onnx
        self.numpy, self.sets, self.outputs, self.folder = numpy, {}, {}, request.folder
        self.enter("import")
        start = time.perf_counter_ns()
        path = protocol.fix_shapes(onnx, request)
        model = onnx.shape_inference.infer_shapes(onnx.load(path))
        names, self.shapes = protocol.io_of(model, request)
        self.types = [numpy.dtype(onnx.helper.tensor_dtype_to_np_dtype(v.type.tensor_type.elem_type))
                      for v in model.graph.output]
        if any(not shape for shape in self.shapes):
            raise protocol.Unsupported("an output has no fixed shape, or is a scalar")
        import_ms = (time.perf_counter_ns() - start) / 1e6
        self.enter("compile")
        start = time.perf_counter_ns()
        source, library = f"{request.folder}/model.c", f"{request.folder}/model.so"
        run_tool([os.path.join(os.path.dirname(sys.executable), "emx-onnx-cgen"), "compile", path, source,
                  "--model-name", "hone_emx", "--color", "never", "--fp32-accumulation-strategy",
                  request.options.get("accumulate", "fp64")], request.folder)
        run_tool([request.options.get("cc", "gcc"), "-std=c11", "-shared", "-fPIC", "-w",
                  *request.options.get("flags", "-O3 -march=native").split(), source, "-o", library,
                  "-lm"], request.folder)
        compile_ms = (time.perf_counter_ns() - start) / 1e6
        self.enter("load")
        self.library = ctypes.CDLL(library)
        self.library.hone_emx_load.restype = ctypes.c_bool
        weights = f"{request.folder}/hone_emx.bin"
        if not self.library.hone_emx_load(weights.encode()):
            raise RuntimeError("its weights cannot be loaded")
        self.library.hone_emx.restype = None
        size = os.path.getsize(library) + (os.path.getsize(weights) if os.path.exists(weights) else 0)
        return protocol.Facts(version=importlib.metadata.version("emx-onnx-cgen"), threads=1,
                              inputs=names, outputs=[v.name for v in model.graph.output],
                              precision=types_of(source), compile_ms=compile_ms, import_ms=import_ms, artifact_bytes=size)

    def bind(self, k, inputs):
        inputs = [self.numpy.ascontiguousarray(x) for x in inputs]
        outputs = [self.numpy.zeros(s, t) for s, t in zip(self.shapes, self.types)]
        self.outputs[k] = outputs
        self.sets[k] = ([ctypes.c_void_p(a.ctypes.data) for a in inputs + outputs], inputs)

    def submit(self, k):
        self.library.hone_emx(*self.sets[k][0])
        return self.outputs[k]

    def fetch(self, handle):
        return handle

    def keep(self):
        return [name for name in ("model.c", "model.so", "hone_emx.bin") if os.path.exists(f"{self.folder}/{name}")]


def types_of(source):
    """What the C text of its operators computes in."""
    with open(source, encoding="utf-8") as file:
        return protocol.precision_of(re.findall(r"\b(float|u?int8|_?Float16)(?:_t)?\b", file.read()), "fp32")


def run_tool(words, folder):
    result = subprocess.run(words, capture_output=True, text=True, cwd=folder)
    if result.returncode:
        raise protocol.Unsupported(protocol.last_error(result.stderr or result.stdout))


if __name__ == "__main__":
    protocol.serve(Engine)
