"""A model, compiled ahead of time and loaded: called with arrays, saved as a library that needs only libc."""

from __future__ import annotations

import ctypes
import dataclasses
import inspect
import math
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import weakref
from typing import Any, Sequence

import numpy as np

from . import _arrays, _lib, _zoo
from ._generate import LanguageModel
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


def _ports(artifact: ctypes.c_void_p, count: int, get: Any) -> list[Port]:
    ports = []
    for i in range(count):
        name, info = ctypes.c_char_p(), _lib.Tensor()
        get(artifact, i, ctypes.byref(name), ctypes.byref(info))
        if info.dtype not in _arrays.DTYPES:
            raise _lib.HoneError("E_TYPE", f"{name.value!r} has an element type (ONNX {info.dtype}) that NumPy lacks")
        ports.append(Port((name.value or b"").decode(errors="replace"), np.dtype(_arrays.DTYPES[info.dtype]),
                          tuple(info.shape[:info.rank]), info.dtype))
    return ports


@dataclasses.dataclass(frozen=True)
class _Source:
    """The source of a model, to compile it again with other options."""

    model: str
    options: dict[str, Any]  # flags of `hone compile`

    def compile(self, target: pathlib.Path, options: dict[str, Any]) -> list[str]:
        known = {**self.options, **options}
        if options.get("target") and "cpu" not in options:
            known.pop("cpu", None)  # for another processor
        argv = [_lib.command(), "compile", self.model, "-o", str(target)]
        for name, value in known.items():
            flag = "--" + name.replace("_", "-")
            for one in value if isinstance(value, (list, tuple)) else [value]:
                if one is not None and one is not False:
                    argv.append(flag if one is True else f"{flag}={one}")
        before = _written_at(target)
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False)
        if done.returncode:
            said = done.stderr.removeprefix("hone: ").strip()
            found = re.match(r"E_\w+", said)
            raise _lib.HoneError(found.group() if found else "E_CRASH", said or f"hone compile ended with {done.returncode}")
        return [str(file) for file, time in _written_at(target).items() if before.get(file) != time]


def _written_at(target: pathlib.Path) -> dict[pathlib.Path, tuple[int, int]]:
    """Modification times of the files of an artifact."""
    stem = target.stem if target.suffix in (".so", ".c", ".a") else target.name
    names = {target.name, stem + ".h", stem + ".weights"}
    found = {}
    for file in target.parent.iterdir() if target.parent.is_dir() else ():
        is_level = target.suffix == ".c" and file.suffix == ".c" and file.name.startswith(stem + "_")
        if (file.name in names or is_level) and file.is_file():
            found[file] = (file.stat().st_mtime_ns, file.stat().st_ino)
    return dict(sorted(found.items(), key=lambda item: (item[0].name != target.name, item[0].name)))


class Model:
    """A compiled model. Call it with arrays in the order of `inputs`, or by name. It returns torch tensors if it was given
    torch tensors, else NumPy arrays; a single output alone, several as a tuple.

    Threads may call one model at the same time, and a child made by fork may call its parent's. The model's own
    threads serve one call at a time; a call that finds them busy computes on its own thread, with the same result."""

    def __init__(self, path: str, threads: int, folder: Any = None, source: _Source | None = None) -> None:
        context = _lib.context()
        self.path, self.threads = path, threads
        self._folder = folder  # must live as long as the mapped library
        self._source = source
        artifact = ctypes.c_void_p()
        _lib.check(library.hone_artifact_open(context.handle, os.fsencode(path), threads, ctypes.byref(artifact)), context)
        self._artifact: ctypes.c_void_p | None = artifact
        self.inputs = _ports(artifact, library.hone_artifact_input_count(artifact), library.hone_artifact_input)
        self.outputs = _ports(artifact, library.hone_artifact_output_count(artifact), library.hone_artifact_output)
        # with dynamic dimensions the ports' shapes are the upper bounds
        self._is_open = bool(library.hone_artifact_is_dynamic(artifact))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the bytes of the library and its side files. Any machine whose processor has the needed instructions can load
        it."""
        first, *beside = self._files()
        return _unpickle, ({".so": first.read_bytes(), **{file.suffix: file.read_bytes() for file in beside}}, self.threads)

    def _files(self) -> list[pathlib.Path]:
        library_file = pathlib.Path(self.path)
        beside = [library_file.with_suffix(suffix) for suffix in (".h", ".weights")]
        return [library_file, *(file for file in beside if file.exists())]

    def __del__(self) -> None:
        if getattr(self, "_artifact", None):
            library.hone_artifact_close(self._artifact)
            self._artifact = None

    def _order(self, arrays: Sequence[Any], named: dict[str, Any]) -> list[Any]:
        names = [port.name for port in self.inputs]
        unknown = [name for name in named if name not in names]
        if unknown:
            raise TypeError(f"no input {unknown[0]!r}; the inputs are: {', '.join(names)}")
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

    def save(self, path: str | os.PathLike[str], **options: Any) -> list[str]:
        """Writes the model as FILE.so with its header and, if they are separate, its weights; returns the written files.

        By options, and for other endings, the model's source is compiled again by `hone compile`: FILE.c, FILE.a, or an
        executable with any other name. Options are that command's flags with underscores: target ("aarch64-linux-gnu"),
        cpu, precision ("fp16"), batch, embed=True (a FILE.c that holds its weights), prefix, prefer, cc, ... What the
        model was compiled with (shapes, alias, cpu, cc) holds unless an option says otherwise. A model from a library
        (hone.load) or a pickle has no source: it is saved as FILE.so, without options.
        """
        target = pathlib.Path(path)
        if options or target.suffix != ".so":
            if not self._source:
                raise ValueError(f"{target}: a model without its source is saved as FILE.so, without options")
            return self._source.compile(target, options)
        first, *beside = self._files()
        pairs = [(first, str(target)), *((file, str(target.with_suffix(file.suffix))) for file in beside)]
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


def _remove(path: str, process: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(path, ignore_errors=True)


class _Folder:
    """A temporary folder, gone with this object. A child made by fork leaves its parent's where it is."""

    def __init__(self) -> None:
        self.name = tempfile.mkdtemp(prefix="hone-")
        weakref.finalize(self, _remove, self.name, os.getpid())


def _unpickle(files: dict[str, bytes], threads: int) -> Model:
    folder = _Folder()
    for suffix, data in files.items():
        pathlib.Path(folder.name, "model" + suffix).write_bytes(data)
    return Model(os.path.join(folder.name, "model.so"), threads, folder)


def load(path: str | os.PathLike[str], *, threads: int = 0, context: int = 0) -> Any:
    """A Model from a FILE.so that `hone compile` or Model.save() wrote, without compiling it again. It is code, which is
    run: load only what you trust. A damaged file, or one for another processor, is a HoneError. threads: 0 is one per
    usable core.

    A FILE.gguf gives a LanguageModel, which is compiled the first time. context: the most tokens of a prompt and its answer
    (0: 4096, or the model's context if less)."""
    if os.fspath(path).endswith(".gguf"):
        return LanguageModel(os.path.abspath(os.fspath(path)), threads, context)
    return Model(os.path.abspath(os.fspath(path)), threads)


def _dynamic_shapes(module: Any, example_inputs: Sequence[Any], shapes: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Example inputs and dynamic_shapes for torch.export, of "x[N<=64,3],y[N]". An example of one row is given a second:
    torch takes a size of one for a fixed size."""
    import torch
    parameters = inspect.signature(module.forward).parameters.values()
    names = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD][:len(example_inputs)]
    if len(names) < len(example_inputs):
        raise TypeError("sizes are left open by the names of forward's parameters, and it has fewer than there are example inputs")
    given = dict(re.findall(r"([^\[\],]+)\[([^\]]*)\]", shapes))
    unknown = [name for name in given if name not in names]
    if unknown:
        raise TypeError(f"shapes: no input {unknown[0]!r}; there are: {', '.join(names)}")
    words = {name: [word.strip().split("<=") for word in text.split(",")] for name, text in given.items()}
    opened = [word for of_input in words.values() for word in of_input if len(word) > 1]
    sizes = {word[-2]: torch.export.Dim(word[-2], min=int(word[0]) if len(word) > 2 else 1, max=int(word[-1])) for word in opened}
    examples, dynamic = [], {}
    for name, example in zip(names, example_inputs):
        axes = {axis: sizes[size] for axis, word in enumerate(words.get(name, ())) for size in word[-2:] if size in sizes}
        dynamic[name] = axes or None
        for axis in axes:
            if example.shape[axis] < 2:
                example = torch.cat([example, example], axis)
        examples.append(example)
    return tuple(examples), dynamic


def _export(module: Any, example_inputs: Sequence[Any], folder: str, shapes: str | None) -> str:
    import torch
    if not isinstance(module, torch.nn.Module):
        raise TypeError(f"a path, \"zoo:NAME\" or a torch.nn.Module, not {type(module).__name__}")
    scripted = isinstance(module, torch.jit.ScriptModule)
    inputs, dynamic = tuple(example_inputs), None
    if shapes and "<=" in shapes:
        if scripted:
            raise TypeError("sizes of a TorchScript module cannot be left open: give the module that it was made of")
        inputs, dynamic = _dynamic_shapes(module, inputs, shapes)
    as_onnx = scripted or (not dynamic and _zoo.has_onnx_exporter())
    path = os.path.join(folder, "module.onnx" if as_onnx else "module.pt2")
    was_training = module.training
    module.eval()
    try:
        if as_onnx:
            torch.onnx.export(module, inputs, path, dynamo=not scripted, verbose=False)
        else:
            _zoo.save_archive(module, inputs, path, dynamic)
    finally:
        module.train(was_training)
    return path


def compile(model: Any, example_inputs: Any = None, *, shapes: str | None = None, cpu: str | None = None,
            threads: int = 0, cc: str | None = None, alias: dict[str, str] | None = None) -> Model:
    """Compiles a model file, "zoo:NAME" or a torch module (with example_inputs) and loads the result.

    shapes: sizes of dynamic dimensions, as "x[1,3,224,224]". Up to 4 may stay dynamic with upper bounds, "x[N<=64,S<=512]"
    ("0<=P<=64" from 0); each call's arrays then have the actual sizes. For a module, names are those of forward's
    parameters: hone.compile(module, x, shapes="x[N<=64,3,224,224]") takes batches from 1 to 64. cpu: a feature level ("avx2", "avx512", ...), None: this
    machine's. threads: 0 is one per usable core. cc: the C compiler, None: cc of PATH. alias: state, by input the
    output that is its next content: run_into() may be given one array for both.
    """
    folder = _Folder()
    if not isinstance(model, (str, os.PathLike)):
        if example_inputs is None:
            raise TypeError("a torch module needs example_inputs")
        many = isinstance(example_inputs, (tuple, list))
        model = _export(model, example_inputs if many else (example_inputs,), folder.name, shapes)
    context, handle = _lib.context(), ctypes.c_void_p()
    how = _lib.LoadOptions(shapes.encode() if shapes else None, None)
    _lib.check(library.hone_model_load(context.handle, os.fsencode(model), ctypes.byref(how), ctypes.byref(handle)),
               context)
    try:
        for before, after in (alias or {}).items():
            _lib.check(library.hone_model_alias(context.handle, handle, before.encode(), after.encode()), context)
        path = os.path.join(folder.name, "model.so")
        options = _lib.CompileOptions(cpu.encode() if cpu else None, cc.encode() if cc else None, None, 0)
        _lib.check(library.hone_model_compile(context.handle, handle, ctypes.byref(options), os.fsencode(path)),
                   context)
    finally:
        library.hone_model_destroy(handle)
    flags = {"shape": shapes, "cpu": cpu, "cc": cc, "alias": [f"{before}={after}" for before, after in (alias or {}).items()]}
    source = os.path.abspath(model) if os.path.exists(model) else os.fspath(model)
    return Model(path, threads, folder, _Source(source, flags))
