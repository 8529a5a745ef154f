"""PlaidML 0.7: ONNX operators written in its Tile language, compiled by its LLVM back end (llvm_cpu.0).

PlaidML takes operators, not models: each ONNX operator below becomes a Tile function, and the whole graph one
program. Shapes are fixed; reshapes, slices and the like of constants are done here. Threads by affinity."""

import os
import time

import protocol


class Engine:
    def open(self, request):
        self.enter("import")
        start = time.perf_counter_ns()
        import numpy
        import onnx
        from onnx import numpy_helper
        import plaidml
        import plaidml.tile as tile
        path = protocol.fix_shapes(onnx, request)
        model = onnx.shape_inference.infer_shapes(onnx.load(path), data_prop=True)
        self.numpy, self.plaidml, self.sets = numpy, plaidml, {}
        plaidml.settings.setup, plaidml.settings.experimental = True, True
        plaidml.settings.device_ids = ["llvm_cpu.0"]
        self.context = plaidml.Context()
        (config,) = [d for d in plaidml.devices(self.context, limit=100, return_all=True)[0] if b"llvm_cpu" in d.id]
        self.device = plaidml.Device(self.context, config)
        graph = model.graph
        builder = Builder(numpy, onnx, tile, plaidml, self.context, self.device)
        for value in graph.initializer:
            builder.constants[value.name] = numpy_helper.to_array(value)
        self.inputs = [v for v in graph.input if v.name not in builder.constants]
        for value in self.inputs:
            if value.type.tensor_type.elem_type != 1:
                raise protocol.Unsupported(f"input {value.name} is not f32; the Tile program takes floats")
            builder.values[value.name] = tile.Value.from_dimensions(protocol.dims_of(value, request))
        for node in graph.node:
            builder.node(node, [numpy_helper, onnx.helper])
        import_ms = (time.perf_counter_ns() - start) / 1e6
        self.enter("compile")
        start = time.perf_counter_ns()
        self.outputs = [v.name for v in graph.output]
        results = [builder.value(name) for name in self.outputs]
        self.shapes = [tuple(r.shape.dims) for r in results]
        self.function = tile.compose(
            self.context, self.device, [(f"i{k}", builder.values[v.name]) for k, v in enumerate(self.inputs)],
            [(f"o{k}", r) for k, r in enumerate(results)])
        compile_ms = (time.perf_counter_ns() - start) / 1e6
        return protocol.Facts(
            version=plaidml.__version__, threads=len(os.sched_getaffinity(0)), device=config.id.decode(),
            inputs=[v.name for v in self.inputs], outputs=self.outputs, compile_ms=compile_ms,
            import_ms=import_ms)

    def tensor(self, shape):
        plaidml = self.plaidml
        return plaidml.Tensor(self.device, plaidml.Shape(self.context, plaidml.DType.FLOAT32, *shape))

    def bind(self, k, inputs):
        held, outputs = [self.tensor(x.shape) for x in inputs], [self.tensor(shape) for shape in self.shapes]
        invoker = self.plaidml.Invoker(
            self.context, self.function, inputs={f"i{i}": x for i, x in enumerate(held)},
            outputs={f"o{i}": x for i, x in enumerate(outputs)})
        self.sets[k] = (invoker, outputs, held)
        self.copy_in(k, inputs)

    def copy_in(self, k, inputs):
        for place, x in zip(self.sets[k][2], inputs):
            with place.mmap_discard(self.context) as view:
                view.copy_from_ndarray(self.numpy.ascontiguousarray(x))
                view.writeback()

    def submit(self, k):
        invoker, outputs, _ = self.sets[k]
        invoker.invoke()
        for tensor in outputs:  # mapping waits for the program
            with tensor.mmap_current():
                pass
        return k

    def fetch(self, k):
        arrays = []
        for tensor, shape in zip(self.sets[k][1], self.shapes):
            array = self.numpy.ndarray(shape, dtype="float32")
            with tensor.mmap_current() as view:
                view.copy_to_ndarray(array)
            arrays.append(array)
        return arrays


UNARY = {"Relu": "(X < 0.0 ? 0.0 : X)", "Sigmoid": "1.0 / (1.0 + exp(0.0 - X))", "Tanh": "tanh(X)", "Exp": "exp(X)",
         "Log": "log(X)", "Sqrt": "sqrt(X)", "Neg": "0.0 - X", "Abs": "(X < 0.0 ? 0.0 - X : X)",
         "Reciprocal": "1.0 / X", "Identity": "X", "Dropout": "X",
         "HardSwish": "X * (X < -3.0 ? 0.0 : (X > 3.0 ? 1.0 : X / 6.0 + 0.5))",
         "Softplus": "log(1.0 + exp(X))"}
BINARY = {"Add": "X + Y", "Sub": "X - Y", "Mul": "X * Y", "Div": "X / Y", "Pow": "pow(X, Y)",
          "Max": "(X > Y ? X : Y)", "Min": "(X < Y ? X : Y)"}
MOVED = {"Reshape", "Flatten", "Squeeze", "Unsqueeze"}
# Abramowitz and Stegun 7.1.26 is good to 1.5e-7: Tile has no erf.
ERF = ("A = (X < 0.0 ? 0.0 - X : X); T = 1.0 / (1.0 + 0.3275911 * A); "
       "P = T * (0.254829592 + T * (-0.284496736 + T * (1.421413741 + T * (-1.453152027 + T * 1.061405429)))); "
       "E = 1.0 - P * exp(0.0 - A * A); O = (X < 0.0 ? 0.0 - E : E);")


def names(prefix, count):
    return [f"{prefix}{k}" for k in range(count)]


def join(words):
    return ", ".join(words)


class Builder:
    def __init__(self, numpy, onnx, tile, plaidml, context, device):
        self.numpy, self.onnx, self.tile, self.plaidml = numpy, onnx, tile, plaidml
        self.context, self.device = context, device
        self.values, self.constants = {}, {}

    def value(self, name):
        if name not in self.values:
            array = self.numpy.ascontiguousarray(self.constants[name])
            if array.dtype != self.numpy.float32:
                raise protocol.Unsupported(f"constant {name} is {array.dtype}; the Tile program takes floats")
            shape = array.shape or (1,)
            tensor = self.plaidml.Tensor(
                self.device, self.plaidml.Shape(self.context, self.plaidml.DType.FLOAT32, *shape))
            with tensor.mmap_discard(self.context) as view:
                view.copy_from_ndarray(array.reshape(shape))
                view.writeback()
            self.values[name] = self.tile.Value.from_var(tensor, shape)
        return self.values[name]

    def run(self, code, inputs, shape):
        shape = tuple(int(d) for d in shape)
        out = self.tile.Shape(self.plaidml.DType.FLOAT32, shape)
        return self.tile.Operation(code, inputs, [("O", out)]).outputs["O"]

    def unary(self, expression, x):
        dims = join(names("N", len(x.shape.dims)))
        body = expression if "O = " in expression else f"O = {expression};"
        return self.run(f"function (X[{dims}]) -> (O) {{ {body} }}", [("X", x)], x.shape.dims)

    def binary(self, expression, x, y):
        shape = self.numpy.broadcast_shapes(x.shape.dims, y.shape.dims)
        return self.run(f"function (X, Y) -> (O) {{ O = {expression}; }}", [("X", x), ("Y", y)], shape)

    def reshape(self, x, shape):
        if not shape:
            shape = (1,)
        dims = join(str(int(d)) for d in shape)
        return self.run(f"function (X) -> (O) {{ O = reshape(X, {dims}); }}", [("X", x)], shape)

    def transpose(self, x, order):
        rank = len(order)
        i, n = names("i", rank), names("N", rank)
        code = (f"function (X[{join(n)}]) -> (O) {{ O[{join(i[k] for k in order)} : "
                f"{join(n[k] for k in order)}] = =(X[{join(i)}]); }}")
        return self.run(code, [("X", x)], [x.shape.dims[k] for k in order])

    def reduce(self, sign, x, axes, keeps):
        rank = len(x.shape.dims)
        i, n = names("i", rank), names("N", rank)
        at = [("0", "1") if k in axes else (i[k], n[k]) for k in range(rank)]
        kept = [1 if k in axes else d for k, d in enumerate(x.shape.dims)]
        code = (f"function (X[{join(n)}]) -> (O) {{ O[{join(a for a, _ in at)} : {join(b for _, b in at)}] = "
                f"{sign}(X[{join(i)}]); }}")
        y = self.run(code, [("X", x)], kept)
        return y if keeps else self.reshape(y, [d for k, d in enumerate(x.shape.dims) if k not in axes])

    def scaled(self, x, factor):
        return self.unary(f"X * {float(factor)!r}", x)

    def matmul(self, x, y):
        a, b = list(x.shape.dims), list(y.shape.dims)
        if len(a) < 2 or len(b) < 2:
            raise protocol.Unsupported("MatMul of vectors")
        batch = list(self.numpy.broadcast_shapes(a[:-2], b[:-2]))
        if len(b) > 2 and (a[:-2] != batch or b[:-2] != batch):
            raise protocol.Unsupported("MatMul that broadcasts batches")
        i = names("i", len(a) - 2)
        n = names("B", len(a) - 2)
        right = i if len(b) > 2 else []
        code = (f"function (X[{join(n + ['M', 'K'])}], Y[{join((n if right else []) + ['K', 'N'])}]) -> (O) {{ "
                f"O[{join(i + ['m', 'n'])} : {join(n + ['M', 'N'])}] = "
                f"+(X[{join(i + ['m', 'k'])}] * Y[{join(right + ['k', 'n'])}]); }}")
        return self.run(code, [("X", x), ("Y", y)], batch + [a[-2], b[-1]])

    def windows(self, x, attributes, kernel):
        rank = len(kernel)
        if attributes.get("auto_pad", b"NOTSET") not in (b"NOTSET", b"") or attributes.get("ceil_mode", 0):
            raise protocol.Unsupported("auto_pad and ceil_mode")
        strides = attributes.get("strides", [1] * rank)
        dilations = attributes.get("dilations", [1] * rank)
        pads = attributes.get("pads", [0] * 2 * rank)
        out = [(d + pads[k] + pads[k + rank] - dilations[k] * (kernel[k] - 1) - 1) // strides[k] + 1
               for k, d in enumerate(x.shape.dims[2:])]
        at = [f"{strides[k]}*x{k} + {dilations[k]}*k{k} - {pads[k]}" for k in range(rank)]
        return out, at, pads

    def conv(self, x, weights, attributes):
        w = self.value(weights)
        group, rank = attributes.get("group", 1), len(x.shape.dims) - 2
        if group != 1 and (group != x.shape.dims[1] or group != w.shape.dims[0]):
            raise protocol.Unsupported("grouped convolutions other than depthwise ones")
        out, at, _ = self.windows(x, attributes, w.shape.dims[2:])
        if group == 1 and weights in self.constants:
            return self.conv_of_channels_last(x, weights, out, at)
        d, e, k, o = names("D", rank), names("E", rank), names("k", rank), names("x", rank)
        channel = "c" if group != 1 else "f"  # in a depthwise convolution each channel has its own filter
        weight = [channel, "0" if group != 1 else "c"] + k
        code = (f"function (X[{join(['B', 'C'] + d)}], W[{join(['F', 'Z'] + e)}]) -> (O) {{ "
                f"O[{join(['b', channel] + o)} : {join(['B', 'F'] + [str(v) for v in out])}] = "
                f"+(X[{join(['b', 'c'] + at)}] * W[{join(weight)}]); }}")
        return self.run(code, [("X", x), ("W", w)], [x.shape.dims[0], w.shape.dims[0]] + out)

    def conv_of_channels_last(self, x, weights, out, at):
        """PlaidML vectorises along the result's rows: those must be the filters, not the pixels of an image."""
        rank, batch, filters = len(out), x.shape.dims[0], self.constants[weights].shape[0]
        self.constants[f"{weights}/last"] = self.numpy.moveaxis(self.constants[weights], (0, 1), (-1, -2))
        w = self.value(f"{weights}/last")
        d, e, k, o = names("D", rank), names("E", rank), names("k", rank), names("x", rank)
        code = (f"function (X[{join(['B'] + d + ['C'])}], W[{join(e + ['C', 'F'])}]) -> (O) {{ "
                f"O[{join(['b'] + o + ['f'])} : {join(['B'] + [str(v) for v in out] + ['F'])}] = "
                f"+(X[{join(['b'] + at + ['c'])}] * W[{join(k + ['c', 'f'])}]); }}")
        y = self.run(code, [("X", self.transpose(x, [0, *range(2, rank + 2), 1])), ("W", w)], [batch, *out, filters])
        return self.transpose(y, [0, rank + 1, *range(1, rank + 1)])

    def pool(self, x, attributes, sign):
        kernel = attributes["kernel_shape"]
        out, at, pads = self.windows(x, attributes, kernel)
        if sign == "+" and any(pads):
            raise protocol.Unsupported("AveragePool with padding")
        rank = len(kernel)
        d, k, o = names("D", rank), names("k", rank), names("x", rank)
        bounds = join(f"{k[i]} < {kernel[i]}" for i in range(rank))
        code = (f"function (X[{join(['B', 'C'] + d)}]) -> (O) {{ O[{join(['b', 'c'] + o)} : "
                f"{join(['B', 'C'] + [str(v) for v in out])}] = {sign}(X[{join(['b', 'c'] + at)}]), {bounds}; }}")
        return self.run(code, [("X", x)], list(x.shape.dims[:2]) + out)

    def channels(self, name, rank):
        return self.reshape(self.value(name), [1, self.value(name).shape.dims[0]] + [1] * (rank - 2))

    def softmax(self, x, axis):
        shifted = self.binary("X - Y", x, self.reduce(">", x, {axis}, True))
        return shifted, self.unary("exp(X)", shifted)

    def node(self, node, helpers):
        helper = helpers[1]
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        if node.op_type == "Constant":
            self.constants[node.output[0]] = helpers[0].to_array(attributes["value"])
            return
        used = [n for n in node.input if n]
        if all(n in self.constants for n in used) and self.fold(node):
            return
        rule = getattr(self, "op_" + node.op_type.lower(), None)
        if node.op_type in UNARY:
            result = self.unary(UNARY[node.op_type], self.value(node.input[0]))
        elif node.op_type in BINARY and len(used) == 2:
            result = self.binary(BINARY[node.op_type], self.value(node.input[0]), self.value(node.input[1]))
        elif node.op_type in MOVED:
            result = self.moved(node, attributes)
        elif node.op_type == "Split":
            self.split(node, attributes)
            return
        elif rule:
            result = rule(node, attributes)
        else:
            raise protocol.Unsupported(f"{node.op_type} is not among the operators that hone has in Tile")
        self.values[node.output[0]] = result

    def fold(self, node):
        """Folds operators of constants with ONNX's reference evaluator, as an exporter would."""
        try:
            graph = self.onnx.helper.make_graph(
                [node], "g", [], [self.onnx.helper.make_empty_tensor_value_info(n) for n in node.output],
                [self.onnx.numpy_helper.from_array(self.numpy.asarray(self.constants[n]), n) for n in node.input if n])
            from onnx.reference import ReferenceEvaluator
            results = ReferenceEvaluator(self.onnx.helper.make_model(graph)).run(None, {})
        except Exception:
            return False
        self.constants.update(zip(node.output, results))
        return True

    def moved(self, node, attributes):
        x, op = self.value(node.input[0]), node.op_type
        dims = list(x.shape.dims)
        given = attributes.get("axes")
        if len(node.input) > 1 and node.input[1]:
            given = [int(v) for v in self.constants[node.input[1]].reshape(-1)]
        if op == "Flatten":
            axis = attributes.get("axis", 1) % (len(dims) + 1)
            product = self.numpy.prod
            return self.reshape(x, [int(product(dims[:axis])), int(product(dims[axis:]))])
        if op == "Reshape":
            shape = [dims[k] if d == 0 else d for k, d in enumerate(given)]
            rest = int(self.numpy.prod(dims) // max(1, -self.numpy.prod(shape))) if -1 in shape else 0
            return self.reshape(x, [rest if d == -1 else d for d in shape])
        if op == "Squeeze":
            gone = {a % len(dims) for a in given} if given else {k for k, d in enumerate(dims) if d == 1}
            return self.reshape(x, [d for k, d in enumerate(dims) if k not in gone])
        for axis in sorted(a % (len(dims) + len(given)) for a in given):
            dims.insert(axis, 1)
        return self.reshape(x, dims)

    def split(self, node, attributes):
        x = self.value(node.input[0])
        dims, count, start = list(x.shape.dims), len(node.output), 0
        axis = attributes.get("axis", 0) % len(dims)
        each = -(-dims[axis] // count)
        sizes = [min(each, dims[axis] - k * each) for k in range(count)]
        if len(node.input) > 1:
            sizes = [int(v) for v in self.constants[node.input[1]].reshape(-1)]
        i, n = names("i", len(dims)), names("N", len(dims))
        for name, size in zip(node.output, sizes):
            at = [f"{v} + {start}" if k == axis else v for k, v in enumerate(i)]
            part = [str(size) if k == axis else v for k, v in enumerate(n)]
            self.values[name] = self.run(
                f"function (X[{join(n)}]) -> (O) {{ O[{join(i)} : {join(part)}] = =(X[{join(at)}]); }}", [("X", x)],
                [size if k == axis else d for k, d in enumerate(dims)])
            start += size

    def op_erf(self, node, attributes):
        return self.unary(ERF, self.value(node.input[0]))

    def op_leakyrelu(self, node, attributes):
        return self.unary(f"(X < 0.0 ? {attributes.get('alpha', 0.01)!r} * X : X)", self.value(node.input[0]))

    def op_elu(self, node, attributes):
        return self.unary(f"(X < 0.0 ? {attributes.get('alpha', 1.0)!r} * (exp(X) - 1.0) : X)",
                          self.value(node.input[0]))

    def op_hardsigmoid(self, node, attributes):
        inner = f"({attributes.get('alpha', 0.2)!r} * X + {attributes.get('beta', 0.5)!r})"
        return self.unary(f"({inner} < 0.0 ? 0.0 : ({inner} > 1.0 ? 1.0 : {inner}))", self.value(node.input[0]))

    def op_clip(self, node, attributes):
        x = self.value(node.input[0])
        for k, sign in ((1, "<"), (2, ">")):
            if len(node.input) > k and node.input[k]:
                bound = float(self.constants[node.input[k]])
                x = self.unary(f"(X {sign} {bound!r} ? {bound!r} : X)", x)
        return x

    def op_transpose(self, node, attributes):
        x = self.value(node.input[0])
        return self.transpose(x, attributes.get("perm") or list(range(len(x.shape.dims)))[::-1])

    def op_matmul(self, node, attributes):
        return self.matmul(self.value(node.input[0]), self.value(node.input[1]))

    def turned(self, name):
        """A constant matrix, transposed if the sum would run along both operands' rows, which PlaidML does not vectorise
        (zoo:mlp 5.7 ms, turned here 0.2)."""
        self.constants[f"{name}/turned"] = self.constants[name].T
        return f"{name}/turned"

    def op_gemm(self, node, attributes):
        weights = node.input[1]
        if attributes.get("transB") and weights in self.constants:
            weights, attributes = self.turned(weights), {**attributes, "transB": 0}
        x, y = self.value(node.input[0]), self.value(weights)
        a, b = list(x.shape.dims), list(y.shape.dims)
        left = ("K, M", "k, m") if attributes.get("transA") else ("M, K", "m, k")
        right = ("N, K", "n, k") if attributes.get("transB") else ("K, N", "k, n")
        z = self.run(f"function (X[{left[0]}], Y[{right[0]}]) -> (O) {{ "
                     f"O[m, n : M, N] = +(X[{left[1]}] * Y[{right[1]}]); }}", [("X", x), ("Y", y)],
                     [a[1] if attributes.get("transA") else a[0], b[0] if attributes.get("transB") else b[1]])
        if attributes.get("alpha", 1) != 1:
            z = self.scaled(z, attributes["alpha"])
        if len(node.input) > 2 and node.input[2]:
            c = self.value(node.input[2])
            z = self.binary("X + Y", z, self.scaled(c, attributes["beta"]) if attributes.get("beta", 1) != 1 else c)
        return z

    def op_conv(self, node, attributes):
        x = self.value(node.input[0])
        y = self.conv(x, node.input[1], attributes)
        if len(node.input) > 2 and node.input[2]:
            y = self.binary("X + Y", y, self.channels(node.input[2], len(x.shape.dims)))
        return y

    def op_maxpool(self, node, attributes):
        return self.pool(self.value(node.input[0]), attributes, ">")

    def op_averagepool(self, node, attributes):
        return self.scaled(self.pool(self.value(node.input[0]), attributes, "+"),
                           1 / self.numpy.prod(attributes["kernel_shape"]))

    def op_globalaveragepool(self, node, attributes):
        x = self.value(node.input[0])
        axes = set(range(2, len(x.shape.dims)))
        return self.scaled(self.reduce("+", x, axes, True), 1 / self.numpy.prod(x.shape.dims[2:]))

    def op_batchnormalization(self, node, attributes):
        x, (scale, bias, mean, variance) = self.value(node.input[0]), (self.constants[n] for n in node.input[1:5])
        factor = scale / self.numpy.sqrt(variance + attributes.get("epsilon", 1e-5))
        for name, array in (("factor", factor), ("shift", bias - mean * factor)):
            self.constants[f"{node.output[0]}/{name}"] = array.astype("float32")
        rank = len(x.shape.dims)
        y = self.binary("X * Y", x, self.channels(f"{node.output[0]}/factor", rank))
        return self.binary("X + Y", y, self.channels(f"{node.output[0]}/shift", rank))

    def op_softmax(self, node, attributes):
        x = self.value(node.input[0])
        axis = attributes.get("axis", -1) % len(x.shape.dims)
        powers = self.softmax(x, axis)[1]
        return self.binary("X / Y", powers, self.reduce("+", powers, {axis}, True))

    def op_logsoftmax(self, node, attributes):
        x = self.value(node.input[0])
        axis = attributes.get("axis", -1) % len(x.shape.dims)
        shifted, powers = self.softmax(x, axis)
        return self.binary("X - Y", shifted, self.unary("log(X)", self.reduce("+", powers, {axis}, True)))

    def op_reducemean(self, node, attributes):
        x = self.value(node.input[0])
        axes = attributes.get("axes") or [int(v) for v in self.constants[node.input[1]].reshape(-1)]
        axes = {a % len(x.shape.dims) for a in axes}
        count = self.numpy.prod([x.shape.dims[a] for a in axes])
        return self.scaled(self.reduce("+", x, axes, attributes.get("keepdims", 1)), 1 / count)

    def op_layernormalization(self, node, attributes):
        x = self.value(node.input[0])
        rank = len(x.shape.dims)
        axes = set(range(attributes.get("axis", -1) % rank, rank))
        count = self.numpy.prod([x.shape.dims[a] for a in axes])
        centred = self.binary("X - Y", x, self.scaled(self.reduce("+", x, axes, True), 1 / count))
        variance = self.scaled(self.reduce("+", self.unary("X * X", centred), axes, True), 1 / count)
        deviation = self.unary(f"sqrt(X + {attributes.get('epsilon', 1e-5)!r})", variance)
        y = self.binary("X * Y", self.binary("X / Y", centred, deviation), self.value(node.input[1]))
        return self.binary("X + Y", y, self.value(node.input[2])) if len(node.input) > 2 else y


if __name__ == "__main__":
    protocol.serve(Engine)
