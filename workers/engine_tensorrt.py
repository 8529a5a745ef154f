"""TensorRT: ONNX -> its parser -> an engine for the first NVIDIA GPU, on one stream. Inputs are in the device's memory; a
sample is the engine's run and the copy of its outputs to page-locked memory, where the host can read them on return.

Options: tf32=1 (default 0: f32 matmuls stay f32), level=0..5 (how long tactics are searched, default 3)."""

import ctypes
import json
import time

import protocol


class Cuda:
    """Calls of the CUDA runtime: their values, or an exception."""

    def __init__(self):
        from cuda.bindings import runtime
        self.runtime = runtime

    def __call__(self, name, *arguments):
        error, *values = getattr(self.runtime, name)(*arguments)
        if error == self.runtime.cudaError_t.cudaErrorMemoryAllocation:
            raise MemoryError(f"{name}: the device has no memory left")
        if error != self.runtime.cudaError_t.cudaSuccess:
            raise RuntimeError(f"{name}: {error.name}")
        return values[0] if values else None

    def first_device(self):
        try:
            if self("cudaGetDeviceCount"):
                return self("cudaGetDeviceProperties", 0).name.decode()
            words = "CUDA counts no device"
        except RuntimeError as error:
            words = str(error)
        raise protocol.Unsupported(f"no NVIDIA GPU: {words}")


class Engine:
    def open(self, request):
        import numpy
        import onnx
        import tensorrt as trt
        self.numpy, self.trt, self.sets, self.folder = numpy, trt, {}, request.folder
        self.cuda = Cuda()
        device = self.cuda.first_device()
        self.enter("import")
        start = time.perf_counter_ns()
        path = protocol.fix_shapes(onnx, request)
        logger = trt.Logger(trt.Logger.ERROR)
        builder = trt.Builder(logger)
        network = builder.create_network()
        parser = trt.OnnxParser(network, logger)
        if not parser.parse_from_file(path):
            raise protocol.Unsupported(f"TensorRT's parser: {parser.get_error(0).desc()}")
        import_ms = (time.perf_counter_ns() - start) / 1e6
        self.enter("compile")
        start = time.perf_counter_ns()
        config = builder.create_builder_config()
        config.profiling_verbosity = trt.ProfilingVerbosity.DETAILED
        config.builder_optimization_level = int(request.options.get("level", "3"))
        is_tf32 = request.options.get("tf32") == "1"
        (config.set_flag if is_tf32 else config.clear_flag)(trt.BuilderFlag.TF32)
        plan = builder.build_serialized_network(network, config)
        if plan is None:
            raise protocol.Unsupported("TensorRT built no engine; its reasons are in this worker's output")
        self.plan = bytes(plan)
        compile_ms = (time.perf_counter_ns() - start) / 1e6
        self.enter("load")
        self.runtime = trt.Runtime(logger)
        self.engine = self.runtime.deserialize_cuda_engine(self.plan)
        self.stream = self.cuda("cudaStreamCreate")
        self.events = [self.cuda("cudaEventCreate") for _ in range(2)]  # around the copy of the outputs
        names = [self.engine.get_tensor_name(i) for i in range(self.engine.num_io_tensors)]
        self.inputs, self.outputs = ([n for n in names if self.engine.get_tensor_mode(n) == mode]
                                     for mode in (trt.TensorIOMode.INPUT, trt.TensorIOMode.OUTPUT))
        return protocol.Facts(
            version=trt.__version__, inputs=self.inputs, outputs=self.outputs, device=device, threads=1,
            precision=self.precision(is_tf32), fallback_share=0.0, import_ms=import_ms, compile_ms=compile_ms,
            artifact_bytes=len(self.plan))

    def precision(self, is_tf32):
        """By the output types of its layers, which the engine reports."""
        told = self.engine.create_engine_inspector().get_engine_information(self.trt.LayerInformationFormat.JSON)
        layers = [layer for layer in json.loads(told).get("Layers", []) if isinstance(layer, dict)]
        words = [word for layer in layers for tensor in layer.get("Outputs", []) for key, value in tensor.items()
                 if "type" in key.lower() for word in str(value).split()]
        found = protocol.precision_of(words, "unknown")
        return found.replace("fp32", "tf32") if is_tf32 else found

    def memory(self, size):
        """On the device, and page-locked on the host as an array of bytes."""
        held = max(size, 1)
        host = self.cuda("cudaMallocHost", held)
        return self.cuda("cudaMalloc", held), self.numpy.ctypeslib.as_array((ctypes.c_uint8 * held).from_address(int(host)))[:size]

    def output_form(self, context, name):
        shape = tuple(context.get_tensor_shape(name))
        if min(shape, default=0) < 0:
            raise protocol.Unsupported(f"{name} has a data-dependent shape: {shape}")
        try:
            return shape, self.numpy.dtype(self.trt.nptype(self.engine.get_tensor_dtype(name)))
        except TypeError:
            raise protocol.Unsupported(f"{name} is {self.engine.get_tensor_dtype(name)}, for which NumPy has no type")

    def make_set(self, inputs):
        """An execution context with all addresses set, so that only the run is timed."""
        context, places, outputs = self.engine.create_execution_context(), [], []
        if context is None:
            raise MemoryError("TensorRT made no execution context")
        for name, x in zip(self.inputs, inputs):
            places.append(self.memory(x.nbytes))
            context.set_tensor_address(name, int(places[-1][0]))
        for name in self.outputs:
            shape, dtype = self.output_form(context, name)
            device, host = self.memory(int(self.numpy.prod(shape, dtype=int)) * dtype.itemsize)
            context.set_tensor_address(name, int(device))
            outputs.append((host.view(dtype).reshape(shape), host, int(device)))
        return context, places, outputs

    def bind(self, k, inputs):
        if k not in self.sets:
            self.sets[k] = self.make_set(inputs)
        self.down = self.cuda.runtime.cudaMemcpyKind.cudaMemcpyDeviceToHost
        self.copy_in(k, inputs)

    def copy_in(self, k, inputs):
        """Through page-locked memory, from which copies to the device are fast."""
        up = self.cuda.runtime.cudaMemcpyKind.cudaMemcpyHostToDevice
        for (device, host), x in zip(self.sets[k][1], inputs):
            host[:] = self.numpy.ascontiguousarray(x).reshape(-1).view(self.numpy.uint8)
            self.cuda("cudaMemcpy", device, host.ctypes.data, host.nbytes, up)

    def submit(self, k):
        context, _, outputs = self.sets[k]
        if not context.execute_async_v3(int(self.stream)):
            raise RuntimeError("TensorRT refused to run")
        self.cuda("cudaEventRecord", self.events[0], self.stream)
        for _, host, device in outputs:
            self.cuda("cudaMemcpyAsync", host.ctypes.data, device, host.nbytes, self.down, self.stream)
        self.cuda("cudaEventRecord", self.events[1], self.stream)
        self.cuda("cudaStreamSynchronize", self.stream)
        return outputs

    def copied_out(self):
        return round(self.cuda("cudaEventElapsedTime", *self.events) * 1e6)  # ms

    def fetch(self, handle):
        """Copies the outputs and overwrites them, so that the next inference must write them."""
        arrays = [array.copy() for array, _, _ in handle]
        for _, host, device in handle:
            host.fill(0xFF)
            self.cuda("cudaMemset", device, 0xFF, host.nbytes)
        return arrays

    def keep(self):
        with open(f"{self.folder}/model.plan", "wb") as file:
            file.write(self.plan)
        return ["model.plan"]


if __name__ == "__main__":
    protocol.serve(Engine)
