"""Random ONNX graphs with boundary shapes, and equivalent rewrites of a graph (metamorphic pairs)."""

import random

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

# 0, 1, odd, prime, and one off from vector widths (8 and 16 floats) and tile sizes.
SIZES = (0, 1, 1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33)
UNARY = ("Relu Sigmoid Tanh Exp Abs Neg Sqrt Erf Gelu HardSwish Softplus LeakyRelu Elu Floor Ceil Round Sign Identity "
         "Reciprocal Sin Cos Mish").split()
BINARY = "Add Sub Mul Div Max Min".split()
COMPARE = "Less Greater Equal LessOrEqual".split()
REDUCE = "ReduceSum ReduceMean ReduceMax ReduceMin ReduceL2 ReduceSumSquare".split()


class Maker:
    """Grows a graph value by value; each value's shape is known."""

    def __init__(self, seed):
        self.random, self.numbers = random.Random(seed), np.random.default_rng(seed)
        self.nodes, self.constants, self.inputs, self.shapes, self.kinds = [], [], [], {}, {}
        for _ in range(self.random.randint(1, 2)):
            rank = self.random.choice((1, 2, 2, 3, 4, 4))
            self.add_input([self.size() for _ in range(rank)])

    def size(self, least=0):
        return max(least, self.random.choice(SIZES))

    def add_input(self, shape):
        name = f"x{len(self.inputs)}"
        self.inputs.append(name)
        self.shapes[name], self.kinds[name] = list(shape), "float"
        return name

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def weights(self, *shape):
        return self.constant((self.numbers.normal(size=shape) / max(1, shape[-1]) ** 0.5).astype(np.float32))

    def node(self, op, inputs, shape, kind="float", **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name=f"n{len(self.nodes)}", **attributes))
        self.shapes[name], self.kinds[name] = list(shape), kind
        return name

    def pick(self, kind="float"):
        names = [n for n, k in self.kinds.items() if k == kind]
        return self.random.choice(names[-4:] + names[:1])

    def step(self):
        x = self.pick()
        shape, rank = self.shapes[x], len(self.shapes[x])
        axis = self.random.randrange(rank) if rank else 0
        rows = [self.unary, self.unary, self.binary, self.binary, self.scalar, self.where]
        if rank:
            rows += [self.reduce, self.concat, self.slice, self.transpose, self.softmax, self.reshape, self.gather, self.pad]
        if rank >= 2 and shape[-1]:
            rows += [self.matmul] * 3 + [self.layernorm]
        if rank == 4 and all(shape):
            rows += [self.conv] * 4 + [self.pool, self.resize, self.batchnorm]
        self.random.choice(rows)(x, shape, axis)

    def unary(self, x, shape, _axis):
        op = self.random.choice(UNARY)
        if op in ("Sqrt", "Reciprocal"):
            x = self.node("Add", [self.node("Abs", [x], shape), self.constant(np.float32(0.5))], shape)
        if op == "Exp":
            x = self.node("Tanh", [x], shape)
        self.node(op, [x], shape)

    def binary(self, x, shape, _axis):
        other = [s if self.random.random() < 0.6 else 1 for s in shape][self.random.randint(0, len(shape)):]
        y = self.weights(*other) if other else self.constant(np.float32(self.numbers.normal()))
        op = self.random.choice(BINARY)
        if op == "Div":
            y = self.constant(np.float32(1 + self.numbers.random(other)))
        same = [n for n, s in self.shapes.items() if s == shape and self.kinds[n] == "float" and n != x]
        if same and op != "Div" and self.random.random() < 0.4:
            y = self.random.choice(same)
        self.node(op, [x, y] if self.random.random() < 0.7 or op == "Div" else [y, x], shape)

    def scalar(self, x, shape, _axis):
        self.node("Clip", [x, self.constant(np.float32(-0.7)), self.constant(np.float32(0.9))], shape)

    def where(self, x, shape, _axis):
        # Comparison operators get operands that rounding cannot move across the threshold.
        level = self.constant(np.float32(0.2531))
        far = self.node("Mul", [x, self.constant(np.float32(0))], shape)
        mask = self.node(self.random.choice(COMPARE), [far, level], shape, "bool")
        self.node("Where", [mask, x, self.node("Neg", [x], shape)], shape)

    def reduce(self, x, shape, axis):
        keep = self.random.randint(0, 1)
        op = self.random.choice(REDUCE)
        if not shape[axis]:
            return
        out = [s for d, s in enumerate(shape) if d != axis or keep] if not keep else [1 if d == axis else s for d, s in enumerate(shape)]
        self.node(op, [x, self.constant(np.array([axis], np.int64))], out, keepdims=keep)

    def concat(self, x, shape, axis):
        extra = list(shape)
        extra[axis] = self.size()
        out = list(shape)
        out[axis] += extra[axis]
        self.node("Concat", [x, self.weights(*extra)], out, axis=axis)

    def slice(self, x, shape, axis):
        start = self.random.randint(0, max(0, shape[axis] - 1))
        end, step = self.random.randint(start, shape[axis]), self.random.choice((1, 1, 2, 3))
        out = list(shape)
        out[axis] = -(-(end - start) // step)
        lists = [self.constant(np.array([i], np.int64)) for i in (start, end, axis, step)]
        self.node("Slice", [x, *lists], out)

    def transpose(self, x, shape, _axis):
        perm = self.random.sample(range(len(shape)), len(shape))
        self.node("Transpose", [x], [shape[p] for p in perm], perm=perm)

    def softmax(self, x, shape, axis):
        self.node(self.random.choice(("Softmax", "LogSoftmax")), [x], shape, axis=axis)

    def reshape(self, x, shape, axis):
        out = shape[:axis] + [int(np.prod(shape[axis:]))]
        self.node("Reshape", [x, self.constant(np.array(out, np.int64))], out, allowzero=1)

    def gather(self, x, shape, axis):
        if not shape[axis]:
            return
        count = self.size()
        out = list(shape)
        out[axis] = count
        self.node("Gather", [x, self.constant(self.numbers.integers(-shape[axis], shape[axis], count))], out, axis=axis)

    def pad(self, x, shape, _axis):
        pads = [self.random.randint(0, 2) for _ in range(2 * len(shape))]
        out = [s + pads[d] + pads[d + len(shape)] for d, s in enumerate(shape)]
        self.node("Pad", [x, self.constant(np.array(pads, np.int64)), self.constant(np.float32(0.25))], out)

    def matmul(self, x, shape, _axis):
        out = self.size(1)
        y = self.node("MatMul", [x, self.weights(shape[-1], out)], [*shape[:-1], out])
        if self.random.random() < 0.6:
            self.node("Add", [y, self.weights(out)], [*shape[:-1], out])

    def layernorm(self, x, shape, _axis):
        n = shape[-1]
        self.node("LayerNormalization", [x, self.weights(n), self.weights(n)], shape, axis=-1)

    def conv(self, x, shape, _axis):
        n, channels, *image = shape
        groups = self.random.choice([g for g in (1, 1, channels) if channels % g == 0])
        out = channels if groups > 1 else self.size(1)
        kernel = [self.random.choice((1, 2, 3)) for _ in image]
        stride, dilation = self.random.choice((1, 1, 2)), self.random.choice((1, 1, 2))
        pads = [self.random.randint(0, 1) for _ in range(4)]
        size = [(s + pads[d] + pads[d + 2] - (k - 1) * dilation - 1) // stride + 1 for d, (s, k) in enumerate(zip(image, kernel))]
        if min(size) < 1:
            return
        w = self.weights(out, channels // groups, *kernel)
        y = self.node("Conv", [x, w, self.weights(out)], [n, out, *size], group=groups, strides=[stride] * 2,
                      dilations=[dilation] * 2, pads=pads)
        if self.random.random() < 0.5:
            self.node("Relu", [y], self.shapes[y])

    def pool(self, x, shape, _axis):
        n, channels, *image = shape
        if min(image) < 2:
            return
        self.node(self.random.choice(("MaxPool", "AveragePool")), [x], [n, channels, *[(s - 2) // 2 + 1 for s in image]],
                  kernel_shape=[2, 2], strides=[2, 2])

    def resize(self, x, shape, _axis):
        n, channels, h, w = shape
        self.node("Resize", [x, "", self.constant(np.array([1, 1, 2, 2], np.float32))], [n, channels, 2 * h, 2 * w],
                  mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")

    def batchnorm(self, x, shape, _axis):
        c = shape[1]
        variance = self.constant(np.float32(0.5 + self.numbers.random(c)))
        self.node("BatchNormalization", [x, self.weights(c), self.weights(c), self.weights(c), variance], shape)


def random_model(seed, most=18):
    maker = Maker(seed)
    for _ in range(maker.random.randint(2, most)):
        maker.step()
    if not maker.nodes:
        maker.unary("x0", maker.shapes["x0"], 0)
    read = {name for node in maker.nodes for name in node.input}
    ends = [node.output[0] for node in maker.nodes if node.output[0] not in read]
    return model_of(maker.nodes, maker.inputs, ends, maker.constants, maker.shapes, maker.kinds), maker.shapes


def model_of(nodes, inputs, outputs, constants, shapes, kinds):
    def info(name):
        return helper.make_tensor_value_info(name, TensorProto.BOOL if kinds[name] == "bool" else TensorProto.FLOAT, shapes[name])
    graph = helper.make_graph(nodes, "random", [info(i) for i in inputs], [info(o) for o in outputs], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def inputs_of(model, seed):
    numbers = np.random.default_rng(seed)
    return {i.name: numbers.normal(size=[d.dim_value for d in i.type.tensor_type.shape.dim]).astype(np.float32)
            for i in model.graph.input}


# -- changes that change nothing: name -> function(model, random); the inputs and outputs keep their order ----

def copy_of(model):
    other = onnx.ModelProto()
    other.CopyFrom(model)
    return other


def renamed(model, _random):
    other = copy_of(model)
    ends = {v.name for v in [*other.graph.input, *other.graph.output]}
    for node in other.graph.node:
        node.name = "some/" + node.name
        for names in (node.input, node.output):
            for i, name in enumerate(names):
                if name and name not in ends:
                    names[i] = name + ".é"
    for tensor in other.graph.initializer:
        tensor.name += ".é"
    return other


def reordered(model, rng):
    """A random topological order of the nodes."""
    other = copy_of(model)
    waiting, done, order = list(other.graph.node), {v.name for v in [*other.graph.input, *other.graph.initializer]} | {""}, []
    while waiting:
        ready = [n for n in waiting if all(name in done for name in n.input)]
        node = rng.choice(ready)
        waiting.remove(node)
        done |= set(node.output)
        order.append(copy_of_node(node))
    del other.graph.node[:]
    other.graph.node.extend(order)
    return other


def copy_of_node(node):
    other = onnx.NodeProto()
    other.CopyFrom(node)
    return other


def behind(model, rng, make):
    """Inserts nodes between a node and its readers."""
    other = copy_of(model)
    outputs = {o.name for o in other.graph.output}
    inner = [n.output[0] for n in other.graph.node if n.output[0] not in outputs]
    for name in rng.sample(inner, min(3, len(inner))):
        made, last = make(name)
        at = next(i for i, n in enumerate(other.graph.node) if name in n.output) + 1
        for node in other.graph.node:
            for i, read in enumerate(node.input):
                if read == name:
                    node.input[i] = last
        for node in reversed(made):
            other.graph.node.insert(at, node)
    return other


def with_identities(model, rng):
    return behind(model, rng, lambda name: ([helper.make_node("Identity", [name], [name + "_i"])], name + "_i"))


def with_transposes(shapes):
    def change(model, rng):
        def pair(name):
            rank = len(shapes[name])
            perm = rng.sample(range(rank), rank)
            back = [perm.index(d) for d in range(rank)]
            return [helper.make_node("Transpose", [name], [name + "_t"], perm=perm),
                    helper.make_node("Transpose", [name + "_t"], [name + "_u"], perm=back)], name + "_u"
        return behind(model, rng, pair)
    return change


def converted(model, _random):
    return onnx.version_converter.convert_version(model, 21)
