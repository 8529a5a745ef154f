"""A model for the engines of PyTorch: ONNX through onnx2torch, or a .pt2 of torch.export."""

import collections
import dataclasses
import logging
import time

import protocol


@dataclasses.dataclass
class Model:
    module: object  # takes its inputs as positional arguments
    inputs: list  # names
    outputs: list
    program: object = None  # of a .pt2
    values: list = None  # of an ONNX file, the inputs as it describes them

    def exported(self, torch, inputs):
        """torch.export's program, and a note for the row about how it was made."""
        return (self.program, "") if self.program else exported_by_torch(torch, self.module, inputs)


def first_line(error):
    return (str(error).splitlines() or [type(error).__name__])[0][:300]


def load(torch, request, fixed=False):
    """fixed: fixes dynamic dimensions of an ONNX file."""
    with open(request.model, "rb") as file:
        is_archive = file.read(4) == b"PK\3\4"
    return of_program(torch, request) if is_archive else of_onnx(request, fixed)


def complete_onnx2torch():
    """Opset 16 only added bfloat16 to these two operators; onnx2torch has them for opset 12."""
    try:
        from onnx2torch.node_converters import registry
        for name in ("LessOrEqual", "GreaterOrEqual"):
            registry.add_converter(name, 16)(registry.get_converter(name, 12))
    except (ImportError, ValueError):  # another release has them, or has them elsewhere
        pass


def of_onnx(request, fixed):
    import onnx
    import onnx2torch
    complete_onnx2torch()
    model = onnx.load(protocol.fix_shapes(onnx, request) if fixed else request.model)
    constants = {value.name for value in model.graph.initializer}
    values = [v for v in model.graph.input if v.name not in constants]
    for node in model.graph.node:  # the default direction of onnx2torch is the opposite of ONNX's
        if node.op_type == "CumSum" and all(a.name != "reverse" for a in node.attribute):
            node.attribute.append(onnx.helper.make_attribute("reverse", 0))
    try:
        module = onnx2torch.convert(model).eval()
    except NotImplementedError as error:
        raise protocol.Unsupported(f"onnx2torch: {error}")
    return Model(module, [v.name for v in values], [v.name for v in model.graph.output], values=values)


def of_program(torch, request):
    logged = []  # the unsupported operators are in the log, not in the exception
    handler = logging.Handler()
    handler.emit = lambda record: logged.append(first_line(record.exc_info[1] if record.exc_info else record.getMessage()))
    logging.getLogger("torch.export").addHandler(handler)
    try:
        program = torch.export.load(request.model)
    except Exception as error:
        raise protocol.Unsupported(f"torch.export.load: {(logged or [first_line(error)])[-1]}")
    signature = program.graph_signature
    if not all(isinstance(name, str) for name in (*signature.user_inputs, *signature.user_outputs)):
        raise protocol.Unsupported("the program has an input or output that is not a tensor")
    return Model(flat(torch, program), list(signature.user_inputs), list(signature.user_outputs), program)


def flat(torch, program):
    """The program's module, wrapped if it has tensors in lists and dictionaries."""
    from torch.utils import _pytree as pytree
    module, spec = program.module(), program.call_spec
    names = tuple(program.graph_signature.user_inputs)
    outputs = program.graph_signature.user_outputs
    plain = {str(pytree.tree_structure(form)) for form in ("y", tuple(outputs), list(outputs))}
    if str(spec.in_spec) == str(pytree.tree_structure((names, {}))) and str(spec.out_spec) in plain:
        return module

    class Flat(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.module = module

        def forward(self, *leaves):
            args, kwargs = pytree.tree_unflatten(list(leaves), spec.in_spec)
            return pytree.tree_leaves(self.module(*args, **kwargs))

    return Flat()


def exported_by_torch(torch, module, inputs):
    """onnx2torch keeps the file's sizes as tensors, which neither export nor Dynamo treats as constants. A trace has them as
    numbers, so it is exported if the module cannot be."""
    try:
        return torch.export.export(module, inputs), ""
    except Exception as error:
        first = error
    try:
        from torch._export.converter import TS2EPConverter
        program = TS2EPConverter(torch.jit.freeze(torch.jit.trace(module, inputs)), inputs).convert()
        return dense(torch, program, inputs), ", of a trace"
    except Exception:
        raise protocol.Unsupported(f"torch.export: {first_line(first)}")


def dense(torch, program, inputs):
    """Folded constants keep the strides of transposes. ExecuTorch takes such a constant for a channels-last image and refuses
    to add it to another tensor."""
    turned = False
    for place in (program.constants, program.state_dict):
        for name, value in place.items():
            if isinstance(value, torch.Tensor) and not value.is_contiguous():
                place[name], turned = value.contiguous(), True
    return torch.export.export(program.module(), inputs) if turned else program


def ran_as(torch, module, inputs, otherwise="fp32"):
    """Output types of the operators that take at least 5 % of the time; weights that are only cast count too."""
    from torch.utils._python_dispatch import TorchDispatchMode
    times = collections.Counter()

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
            start = time.perf_counter_ns()
            result = operator(*args, **(kwargs or {}))
            first = result[0] if isinstance(result, (list, tuple)) and result else result
            if isinstance(first, torch.Tensor):
                times[str(first.dtype).removeprefix("torch.")] += time.perf_counter_ns() - start
            return result

    with Watch():
        module(*inputs)
    return protocol.precision_of(times, otherwise)


def in_bf16(torch, module):
    """Runs under autocast to bf16; outputs have the float types of the file."""

    class Autocast(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.module = module

        def forward(self, *inputs):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                given = self.module(*inputs)
            many = given if isinstance(given, (list, tuple)) else [given]
            return [y.float() if y.dtype == torch.bfloat16 else y for y in many]

    return Autocast()
