"""A model, compiled ahead of time and loaded: called with arrays, saved as a library that needs only libc."""

from __future__ import annotations

import ctypes
import dataclasses
import math
import os
import pathlib
import shutil
import tempfile
from typing import Any, Sequence

import numpy as np

from . import _arrays, _lib, _zoo
from ._lib import library


@dataclasses.dataclass(frozen=True)
class Port:
    """An input or output: its name, element type and shape (in elements, outermost first)."""

    name: str
    dtype: np.dtype
    shape: tuple[int, ...]
    onnx_type: int

    def __str__(self) -> str:
        return f"{self.name}: {self.dtype}[{','.join(map(str, self.shape))}]"


def _ports(model: ctypes.c_void_p, count: int, get: Any, context: _lib.Context) -> list[Port]:
    ports = []
    for i in range(count):
        name, info = ctypes.c_char_p(), _lib.Tensor()
        _lib.check(get(model, i, ctypes.byref(name), ctypes.byref(info)), context)
        if info.dtype not in _arrays.DTYPES:
            raise _lib.HoneError("E_TYPE", f"{name.value!r} has an element type (ONNX {info.dtype}) that NumPy lacks")
        ports.append(Port((name.value or b"").decode(errors="replace"), np.dtype(_arrays.DTYPES[info.dtype]),
                          tuple(info.shape[:info.rank]), info.dtype))
    return ports


class Model:
    """A compiled model. Call it with arrays in the order of `inputs`, or by name; it returns what it was given:
    torch tensors for torch tensors, else NumPy arrays; a single output alone, several as a tuple.

    Threads may call one model at the same time, and a child made by fork may call its parent's. The model's own
    threads serve one call at a time; a call that finds them busy computes on its own thread, with the same result."""

    def __init__(self, path: str, inputs: list[Port], outputs: list[Port], threads: int, folder: Any,
                 is_open: bool = False) -> None:
        context = _lib.context()
        self.path, self.inputs, self.outputs, self.threads = path, inputs, outputs, threads
        self._is_open = is_open  # sizes differ from call to call: the ports' shapes are those at the bounds
        self._folder = folder  # a TemporaryDirectory that must live as long as the mapped library
        self._artifact: ctypes.c_void_p | None = ctypes.c_void_p()
        _lib.check(library.hone_artifact_open(context.handle, os.fsencode(path), threads,
                                              ctypes.byref(self._artifact)), context)

    def __del__(self) -> None:
        if getattr(self, "_artifact", None):
            library.hone_artifact_close(self._artifact)
            self._artifact = None

    def _order(self, arrays: Sequence[Any], named: dict[str, Any]) -> list[Any]:
        names = [port.name for port in self.inputs]
        unknown = [name for name in named if name not in names]
        if unknown:
            raise TypeError(f"no input {unknown[0]!r}; there are: {', '.join(names)}")
        if len(arrays) > len(names):
            raise TypeError(f"{len(arrays)} inputs given, the model has {len(names)}: {', '.join(names)}")
        by_name = dict(zip(names, arrays))
        twice = [name for name in named if name in by_name]
        if twice:
            raise TypeError(f"input {twice[0]!r} is given twice")
        by_name.update(named)
        missing = [name for name in names if name not in by_name]
        if missing:
            raise TypeError(f"input {missing[0]!r} is missing")
        return [by_name[name] for name in names]

    def __call__(self, *arrays: Any, **named: Any) -> Any:
        """Shapes and element types must be the model's own (`inputs`): HoneError with id E_SHAPE or E_TYPE."""
        given = self._order(arrays, named)
        held, kept = [], []
        for port, x in zip(self.inputs, given):
            array = _arrays.to_numpy(x)
            if not _arrays.fits(array, port.dtype):
                raise _lib.HoneError("E_TYPE", f"input {port} was given {array.dtype}")
            if array.shape != port.shape and not self._is_open:
                raise _lib.HoneError("E_SHAPE", f"input {port} was given the shape {list(array.shape)}")
            array, keep = _arrays.hold(array)
            held.append(array)
            kept.append(keep)
        results = [_arrays.room(shape, port.dtype) for shape, port in zip(self._output_shapes(held), self.outputs)]
        results = [array if array.shape == shape else array.reshape(-1)[:math.prod(shape)].reshape(shape)
                   for array, shape in zip(results, self.run_into(held, results))]
        as_torch = any(_arrays.is_torch(x) for x in given)
        results = [_arrays.give(r, port.onnx_type, as_torch) for r, port in zip(results, self.outputs)]
        return results[0] if len(results) == 1 else tuple(results)

    def _output_shapes(self, inputs: Sequence[np.ndarray]) -> list[tuple[int, ...]]:
        if not self._is_open:
            return [port.shape for port in self.outputs]
        context = _lib.context()
        ins = (_lib.Tensor * max(1, len(inputs)))(
            *[_arrays.describe(x, port.onnx_type) for x, port in zip(inputs, self.inputs)])
        outs = (_lib.Tensor * max(1, len(self.outputs)))()
        _lib.check(library.hone_artifact_shapes(context.handle, self._artifact, ins, len(inputs), outs,
                                                len(self.outputs)), context)
        return [tuple(t.shape[:t.rank]) for t in outs[:len(self.outputs)]]

    def run_into(self, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray]) -> list[tuple[int, ...]]:
        """The call without any allocation: dense arrays in the model's order, outputs are written. Returns the
        outputs' shapes: smaller than the model's where a size is known only at run time; the elements then lie
        densely at the start of the array. Threads may run one model at the same time, each with outputs of its
        own; Python's lock is released meanwhile. Strings are not arrays here: only a call takes them."""
        context = _lib.context()
        ins = (_lib.Tensor * max(1, len(inputs)))(
            *[_arrays.describe(x, port.onnx_type) for x, port in zip(inputs, self.inputs)])
        outs = (_lib.Tensor * max(1, len(outputs)))(
            *[_arrays.describe(x, port.onnx_type) for x, port in zip(outputs, self.outputs)])
        shapes = (ctypes.c_int64 * _lib.MAX_RANK * max(1, len(outputs)))()
        _lib.check(library.hone_artifact_run_shaped(context.handle, self._artifact, ins, len(inputs), outs, len(outputs),
                                                    shapes), context)
        return [tuple(sizes[:len(port.shape)]) for sizes, port in zip(shapes, self.outputs)]

    def save(self, path: str | os.PathLike[str]) -> list[str]:
        """Copies the library, its header and, where it has one, its weights beside path; returns what it wrote."""
        target = pathlib.Path(path)
        if target.suffix != ".so":
            raise ValueError(f"{target}: a compiled model is saved as FILE.so")
        source = pathlib.Path(self.path)
        pairs = [(source.with_suffix(suffix), str(target.with_suffix(suffix))) for suffix in (".so", ".h", ".weights")]
        pairs = [pair for pair in pairs if pair[0].exists()]
        try:
            for _, to in pairs:  # all of them are looked at before the first one is written
                _zoo.check_output(to)
            for from_, to in pairs:
                with _zoo.whole(to) as partial:
                    shutil.copyfile(from_, partial)
                    os.chmod(partial, 0o755 if to.endswith(".so") else 0o644)
        except _zoo.Refusal as refusal:
            raise ValueError(str(refusal)) from None
        return [to for _, to in pairs]

    def __repr__(self) -> str:
        return (f"<hone.Model ({', '.join(map(str, self.inputs))}) -> ({', '.join(map(str, self.outputs))}), "
                f"{self.threads or 'all'} threads>")


def _export(module: Any, example_inputs: Sequence[Any], folder: str) -> str:
    import torch
    if not isinstance(module, torch.nn.Module):
        raise TypeError(f"a path, \"zoo:NAME\" or a torch.nn.Module, not {type(module).__name__}")
    scripted = isinstance(module, torch.jit.ScriptModule)
    as_onnx = scripted or _zoo.has_onnx_exporter()
    path = os.path.join(folder, "module.onnx" if as_onnx else "module.pt2")
    was_training = module.training
    module.eval()
    try:
        if as_onnx:
            torch.onnx.export(module, tuple(example_inputs), path, dynamo=not scripted, verbose=False)
        else:
            _zoo.save_archive(module, tuple(example_inputs), path)
    finally:
        module.train(was_training)
    return path


def compile(model: Any, example_inputs: Any = None, *, shapes: str | None = None, cpu: str | None = None,
            threads: int = 0, cc: str | None = None, alias: dict[str, str] | None = None) -> Model:
    """Compiles a model file, "zoo:NAME" or a torch module (with example_inputs) and loads the result.

    shapes: sizes of open dimensions, as "x[1,3,224,224]"; up to 4 may stay open up to bounds, "x[N<=64,S<=512]" ("0<=P<=64" from 0),
    and are then what each call's arrays say. cpu: a feature level ("avx2", "avx512", ...), None: this
    machine's. threads: 0 is one per usable core. cc: the C compiler, None: cc of PATH. alias: state, by input the
    output that is its next content: run_into() may be given one array for both.
    """
    folder = tempfile.TemporaryDirectory(prefix="hone-")
    if not isinstance(model, (str, os.PathLike)):
        if example_inputs is None:
            raise TypeError("a torch module needs example_inputs")
        many = isinstance(example_inputs, (tuple, list))
        model = _export(model, example_inputs if many else (example_inputs,), folder.name)
    context, handle = _lib.context(), ctypes.c_void_p()
    load = _lib.LoadOptions(shapes.encode() if shapes else None, None)
    _lib.check(library.hone_model_load(context.handle, os.fsencode(model), ctypes.byref(load), ctypes.byref(handle)),
               context)
    try:
        inputs = _ports(handle, library.hone_model_input_count(handle), library.hone_model_input, context)
        outputs = _ports(handle, library.hone_model_output_count(handle), library.hone_model_output, context)
        for before, after in (alias or {}).items():
            _lib.check(library.hone_model_alias(context.handle, handle, before.encode(), after.encode()), context)
        path = os.path.join(folder.name, "model.so")
        options = _lib.CompileOptions(cpu.encode() if cpu else None, cc.encode() if cc else None, None, 0)
        _lib.check(library.hone_model_compile(context.handle, handle, ctypes.byref(options), os.fsencode(path)),
                   context)
    finally:
        library.hone_model_destroy(handle)
    return Model(path, inputs, outputs, threads, folder, shapes is not None and "<=" in shapes)
