"""PyTorch: a .pt2 as torch.export left it, or ONNX -> onnx2torch, then eager, TorchScript (traced and frozen),
torch.compile (Inductor) or AOTInductor (torch.export, a package with a library, which is called by its C interface).

Options: mode=eager|script|compile|aoti (default eager), max_autotune=1 (compile), freezing=0 (compile),
loader=python (aoti: its own loader, from Python). --precision bf16: autocast."""

import ctypes
import glob
import json
import os
import subprocess
import time
import zipfile

import protocol
import torch_model

# One inference of an AOTInductor library. It takes ownership of input handles, so each gets a copy.
SHIM = """
#include <stddef.h>
typedef void *handle;
struct calls {
  int (*run)(handle, handle *, size_t, handle *, size_t, handle, handle);
  int (*copy)(handle, handle *);
  int (*drop)(handle);
};
int run_once(const struct calls *calls, handle model, const handle *in, handle *stolen, size_t n, handle *out, size_t m) {
  for (size_t i = 0; i < m; i++) {
    if (out[i]) calls->drop(out[i]);
    out[i] = NULL;
  }
  for (size_t i = 0; i < n; i++)
    if (calls->copy(in[i], &stolen[i])) return 1;
  return calls->run(model, stolen, n, out, m, NULL, NULL);
}
"""


class Library:
    """The library of a package by AOTInductor's C interface (torch/csrc/inductor/aoti_torch/c/shim.h, aoti_runtime/
    interface.h): its Python loader takes ten times as long as a small model."""

    def __init__(self, torch, folder):
        from torch._inductor.cpp_builder import get_cpp_compiler
        (path,) = glob.glob(f"{folder}/package/**/*.wrapper.so", recursive=True)
        self.torch, self.library = torch, ctypes.CDLL(path)
        self.calls = ctypes.CDLL(os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so"))
        with open(f"{folder}/shim.c", "w", encoding="ascii") as file:
            file.write(SHIM)
        subprocess.run([get_cpp_compiler(), "-x", "c", "-O2", "-shared", "-fPIC", f"{folder}/shim.c", "-o", f"{folder}/shim.so"], check=True)
        self.once = ctypes.CDLL(f"{folder}/shim.so").run_once
        self.model = ctypes.c_void_p()
        self.check(self.library.AOTInductorModelContainerCreateWithDevice(ctypes.byref(self.model), ctypes.c_size_t(1), b"cpu", None))
        counts = ctypes.c_size_t()
        self.check(self.library.AOTInductorModelContainerGetNumOutputs(self.model, ctypes.byref(counts)))
        self.output_count = counts.value
        self.calls.aoti_torch_grad_mode_set_enabled(False)
        self.table = (ctypes.c_void_p * 3)(*(ctypes.cast(f, ctypes.c_void_p) for f in (
            self.library.AOTInductorModelContainerRun, self.calls.aoti_torch_new_tensor_handle,
            self.calls.aoti_torch_delete_tensor_object)))

    def check(self, error):
        if error:
            raise RuntimeError(f"AOTInductor's library: error {error}")

    def handle(self, tensor):
        made, kind = ctypes.c_void_p(), getattr(self.calls, f"aoti_torch_dtype_{str(tensor.dtype).removeprefix('torch.')}")()
        dims = (ctypes.c_int64 * max(tensor.dim(), 1))
        self.check(self.calls.aoti_torch_create_tensor_from_blob(
            ctypes.c_void_p(tensor.data_ptr()), ctypes.c_int64(tensor.dim()), dims(*tensor.shape), dims(*tensor.stride()),
            ctypes.c_int64(0), ctypes.c_int32(kind), ctypes.c_int32(self.calls.aoti_torch_device_type_cpu()), ctypes.c_int32(0),
            ctypes.byref(made)))
        return made.value

    def bind(self, tensors):
        """The arguments of one call, outputs last; `tensors` have to live as long."""
        n, m = len(tensors), self.output_count
        places = (ctypes.c_void_p * max(n, 1))
        return [self.table, self.model, places(*map(self.handle, tensors)), places(), ctypes.c_size_t(n),
                (ctypes.c_void_p * m)(), ctypes.c_size_t(m)], tensors

    def run(self, bound):
        self.check(self.once(*bound[0]))
        return bound[0][5]

    def ask(self, name, handle, kind):
        value = kind()
        self.check(getattr(self.calls, f"aoti_torch_get_{name}")(handle, ctypes.byref(value)))
        return value

    def array(self, handle):
        handle, whole = ctypes.c_void_p(handle), ctypes.POINTER(ctypes.c_int64)
        rank = self.ask("dim", handle, ctypes.c_int64).value
        shape, strides = (self.ask(name, handle, whole)[:rank] for name in ("sizes", "strides"))
        kinds = {getattr(self.calls, f"aoti_torch_dtype_{name}")(): getattr(self.torch, name) for name in
                 ("float32", "float64", "float16", "int64", "int32", "int16", "int8", "uint8", "bool")}
        dtype = kinds[self.ask("dtype", handle, ctypes.c_int32).value]
        size = 1 + sum((d - 1) * s for d, s in zip(shape, strides)) if all(shape) else 0
        if not size:
            return self.torch.empty(shape, dtype=dtype).numpy()
        data = self.ask("data_ptr", handle, ctypes.c_void_p).value
        flat = self.torch.frombuffer((ctypes.c_char * (size * dtype.itemsize)).from_address(data), dtype=dtype)
        return flat.as_strided(shape, strides).clone().numpy()


class Engine:
    precisions = ("fp32", "bf16")

    def open(self, request):
        self.enter("import")
        start = time.perf_counter_ns()
        import torch
        self.torch = torch
        torch.set_num_threads(request.threads)
        torch.set_num_interop_threads(1)
        self.model = torch_model.load(torch, request)
        if request.precision == "bf16":
            self.model.module, self.model.program = torch_model.in_bf16(torch, self.model.module), None
        import_ms = (time.perf_counter_ns() - start) / 1e6
        self.mode, self.sets = request.options.get("mode", "eager"), {}
        if self.mode not in ("eager", "script", "compile", "aoti"):
            raise protocol.Unsupported(f"mode is eager, script, compile or aoti, not {self.mode}")
        if request.grows and self.mode not in ("eager", "compile"):
            raise protocol.Unsupported(f"mode {self.mode} compiles for fixed sizes: no growing caches")
        self.grows = request.grows
        self.call, self.options, self.built = self.model.module, request.options, False
        self.folder, self.library = request.folder, None
        self.guard = torch.inference_mode()
        self.guard.__enter__()
        self.facts = protocol.Facts(
            version=torch.__version__, threads=torch.get_num_threads(), import_ms=import_ms,
            inputs=self.model.inputs, outputs=self.model.outputs, device=f"cpu ({self.mode})")
        return self.facts

    def bind(self, k, inputs):
        torch = self.torch
        self.sets[k] = [torch.from_numpy(x) for x in inputs]
        if not self.built:
            self.built = True  # traced with the first set
            if self.mode != "eager":
                self.facts.precision = torch_model.ran_as(torch, self.call, self.sets[k])
                self.enter("compile")
                start = time.perf_counter_ns()
                self.build(k)
                self.model = None
                self.facts.compile_ms = (time.perf_counter_ns() - start) / 1e6
                self.enter("run")
        if self.library:
            self.sets[k] = self.library.bind([torch.from_numpy(x) for x in inputs])

    def survey(self):
        if self.mode == "eager":  # not earlier, so that the first inference is the first call
            self.facts.precision = torch_model.ran_as(self.torch, self.call, self.sets[0])

    def build(self, k):
        torch = self.torch
        if self.mode == "script":
            self.call = torch.jit.optimize_for_inference(
                torch.jit.freeze(torch.jit.trace(self.call, tuple(self.sets[k])).eval()))
        if self.mode == "aoti":
            self.call = self.ahead_of_time(tuple(self.sets[k]))
        if self.mode == "compile":
            import torch._inductor.config as config
            config.freezing = self.options.get("freezing", "1") == "1"
            mode = "max-autotune-no-cudagraphs" if self.options.get("max_autotune") == "1" else None
            self.call = self.compiled(self.call, mode, tuple(self.sets[k]))

    def compiled(self, module, mode, inputs):
        """Compiles at the first call. If Dynamo fails, the exported module is compiled, and the row says so."""
        call = self.torch.compile(module, mode=mode, dynamic=self.grows)
        try:
            call(*inputs)
        except Exception as error:
            if self.grows:
                raise protocol.Unsupported(f"Dynamo, for sizes that grow: {torch_model.first_line(error)}")
            self.torch._dynamo.reset()
            exported, how = self.model.exported(self.torch, inputs)
            self.facts.device = f"cpu (compile{how or ', of its export'})"
            call = self.torch.compile(exported.module(), mode=mode, dynamic=False)
            call(*inputs)
        return call

    def ahead_of_time(self, inputs):
        from torch._inductor import aoti_compile_and_package, aoti_load_package
        exported, how = self.model.exported(self.torch, inputs)
        self.facts.device = f"cpu (aoti{how})"
        path = aoti_compile_and_package(exported, package_path=f"{self.folder}/model.pt2")
        with zipfile.ZipFile(path) as archive:
            archive.extractall(f"{self.folder}/package")
        calls = glob.glob(f"{self.folder}/package/**/*extern_kernel_nodes.json", recursive=True)
        calls_python = any(json.load(open(name)).get("nodes") for name in calls)  # some calls need the executor of its own loader
        if self.options.get("loader") == "python" or calls_python:
            self.facts.device = f"cpu (aoti{how}, loaded by Python)"
            return aoti_load_package(path)
        self.library = Library(self.torch, self.folder)
        return self.library.run

    def submit(self, k):
        return self.call(self.sets[k]) if self.library else self.call(*self.sets[k])

    def keep(self):
        if self.mode == "script":
            self.torch.jit.save(self.call, f"{self.folder}/script.pt")
            return ["script.pt"]
        if self.mode == "aoti":
            return ["model.pt2"]
        raise protocol.Unsupported(f"mode {self.mode} writes no file that another process can load")

    def fetch(self, handle):
        if self.library:
            return [self.library.array(one) for one in handle]
        many = handle if isinstance(handle, (list, tuple)) else [handle]
        return [value.numpy() for value in many]


if __name__ == "__main__":
    protocol.serve(Engine)
