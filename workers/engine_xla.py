"""XLA: ONNX -> torch-mlir -> StableHLO -> jaxlib's CPU client (PJRT); by the route stablehlo-hone the StableHLO is
hone's. Threads by affinity."""

import os
import re
import sys
import time

import protocol

PIPELINE = ("builtin.module(torch-onnx-to-torch-backend-pipeline{backend-legal-ops=},"
            "torch-backend-to-stablehlo-backend-pipeline)")


class Engine:
    def open(self, request):
        import importlib.metadata
        import jax
        import numpy
        import onnx
        from jaxlib import xla_client
        from jaxlib.mlir import ir
        from jaxlib.mlir._mlir_libs._jax_mlir_ext import register_dialects
        from jaxlib.mlir.dialects import chlo, stablehlo
        self.numpy, self.sets, self.folder = numpy, {}, request.folder
        self.enter("import")
        start = time.perf_counter_ns()
        if request.route == "stablehlo-hone":
            path, inputs, outputs = protocol.stablehlo_of(request)
            with open(path) as file:
                text = file.read()
        else:
            path = protocol.fix_shapes(onnx, request)
            model = onnx.load(path, load_external_data=False)
            inputs, outputs = protocol.io_of(model, request)[0], [v.name for v in model.graph.output]
            text = by_torch_mlir(path, request.folder)
        import_ms = (time.perf_counter_ns() - start) / 1e6
        self.enter("compile")
        start = time.perf_counter_ns()
        jax.config.update("jax_enable_x64", True)  # otherwise 64-bit inputs are converted to 32 bits
        self.put = jax.device_put
        self.client = jax.devices("cpu")[0].client
        context, registry = ir.Context(), ir.DialectRegistry()
        register_dialects(registry)
        context.append_dialect_registry(registry)
        context.load_all_available_dialects()
        for dialect in (chlo, stablehlo):
            dialect.register_dialect(context)
        with context:
            module = ir.Module.parse(text)
            self.device = self.client.local_devices()[0]
            self.program = self.client.compile_and_load(
                module, xla_client.DeviceList((self.device,)), xla_client.CompileOptions())
        compile_ms = (time.perf_counter_ns() - start) / 1e6
        return protocol.Facts(
            version=importlib.metadata.version("jaxlib"), threads=request.threads,
            inputs=inputs, outputs=outputs, precision=self.precision(), compile_ms=compile_ms, import_ms=import_ms)

    def precision(self):
        """Output types of the matmuls of the optimised program, fusions included, or of its other instructions if there are
        none. An f16 matmul is computed in f32 here."""
        found = re.findall(r" = ([a-z]+[0-9]+)\[[0-9,]*\]\S* ([a-z\-]+)\(", self.program.hlo_modules()[0].to_string())
        products = [kind for kind, name in found if name in ("dot", "convolution")]
        return protocol.precision_of(products or [kind for kind, name in found if name not in ("parameter", "constant")], "fp32")

    def bind(self, k, inputs):
        self.sets[k] = [self.put(x, self.device).block_until_ready() for x in inputs]

    copy_in = bind

    def submit(self, k):
        buffers = self.program.execute(self.sets[k])
        for buffer in buffers:
            buffer.block_until_ready()
        start = time.perf_counter_ns()
        outputs = [self.numpy.asarray(buffer) for buffer in buffers]
        self.copied = time.perf_counter_ns() - start
        return outputs

    def copied_out(self):
        return self.copied

    def fetch(self, handle):
        return handle

    def keep(self):
        with open(f"{self.folder}/model.pjrt", "wb") as file:
            file.write(self.program.serialize())
        return ["model.pjrt"]


def by_torch_mlir(path, folder):
    tools = os.path.dirname(sys.executable)
    protocol.run_tool([f"{tools}/torch-mlir-import-onnx", path, "-o", f"{folder}/torch.mlir"])
    protocol.run_tool([f"{tools}/torch-mlir-opt", f"{folder}/torch.mlir",
                       f"-pass-pipeline={PIPELINE}", "-o", f"{folder}/stablehlo.mlir"])
    with open(f"{folder}/stablehlo.mlir") as file:
        return re.sub(r"func\.func @[\w$.\-]+\(", "func.func public @main(", file.read(), count=1)


if __name__ == "__main__":
    protocol.serve(Engine)
