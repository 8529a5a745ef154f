"""MIGraphX: ONNX -> its parser -> a program for the first AMD GPU. Inputs are in the device's memory; a sample is the
program's run and the copy of its outputs to the host.

Options: fast_math=1 (default 0: its approximations are off), exhaustive_tune=1."""

import re
import time

import protocol


class Engine:
    def open(self, request):
        import migraphx
        import numpy
        import onnx
        self.migraphx, self.numpy, self.sets, self.folder = migraphx, numpy, {}, request.folder
        if not hasattr(migraphx, "to_gpu"):
            raise protocol.Missing("this migraphx was built without a GPU")
        self.enter("import")
        start = time.perf_counter_ns()
        model = onnx.load(request.model, load_external_data=False)
        self.inputs, outputs = protocol.io_of(model, request)[0], [v.name for v in model.graph.output]
        try:
            self.program = migraphx.parse_onnx(request.model, map_input_dims=request.shapes)
        except RuntimeError as error:
            raise protocol.Unsupported(f"MIGraphX's parser: {error}")
        import_ms = (time.perf_counter_ns() - start) / 1e6
        self.enter("compile")
        start = time.perf_counter_ns()
        self.program.compile(migraphx.get_target("gpu"), offload_copy=False, fast_math=request.options.get("fast_math") == "1",
                             exhaustive_tune=request.options.get("exhaustive_tune") == "1")
        compile_ms = (time.perf_counter_ns() - start) / 1e6
        self.enter("load")
        # "@12 = gpu::code_object[..](..) -> float_type, {1, 64}, .."
        types = re.findall(r"^.*\bgpu::(?!load).*-> (\w+_type)", repr(self.program), re.MULTILINE)
        return protocol.Facts(
            version=str(migraphx.__version__), inputs=self.inputs, outputs=outputs, device="gpu (MIGraphX)", threads=1,
            precision=protocol.precision_of(types, "unknown"), fallback_share=0.0, import_ms=import_ms, compile_ms=compile_ms)

    def bind(self, k, inputs):
        given = dict(zip(self.inputs, inputs))
        made = {}
        for name, shape in self.program.get_parameter_shapes().items():  # inputs, and memory for outputs
            x = self.migraphx.argument(self.numpy.ascontiguousarray(given[name])) if name in given else \
                self.migraphx.generate_argument(shape)
            made[name] = self.migraphx.to_gpu(x)
        self.sets[k] = made

    copy_in = bind

    def submit(self, k):
        results = self.program.run(self.sets[k])
        self.migraphx.gpu_sync()  # otherwise from_gpu would wait, and its time would include the program's
        start = time.perf_counter_ns()
        outputs = [self.migraphx.from_gpu(value) for value in results]
        self.copied = time.perf_counter_ns() - start
        return outputs

    def copied_out(self):
        return self.copied

    def fetch(self, handle):
        return [self.numpy.array(value) for value in handle]

    def keep(self):
        self.migraphx.save(self.program, f"{self.folder}/model.mxr")
        return ["model.mxr"]


if __name__ == "__main__":
    protocol.serve(Engine)
