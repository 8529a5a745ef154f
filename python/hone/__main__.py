"""python -m hone export MODEL.pt -o MODEL.onnx --input 1x3x224x224[:float32] ...
python -m hone zoo write SOURCE:NAME|NAME [--zoo-dir DIR] -o MODEL.onnx|MODEL.pt2
python -m hone torch SOURCE:NAME ...        compares torch.compile's backends: latency, graph breaks, fallbacks
python -m hone ARGUMENTS...                 the `hone` command that came with the package

export runs a TorchScript file's code (so only a file that you trust) and writes what it traced as ONNX.
zoo write takes a model of torchvision, timm, transformers, diffusers, torch_geometric or ultralytics with seeded weights, or NAME.py in
DIR with get_model() and get_dummy_input(), whose code is run. Other words after zoo are for hone's own built-in models.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from . import _lib, _zoo


def _example(text: str) -> Any:
    import torch
    shape, _, dtype = text.partition(":")
    kind = getattr(torch, dtype or "float32", None)
    if not isinstance(kind, torch.dtype):
        raise SystemExit(f"{text}: {dtype} is not an element type of torch")
    sizes = [int(n) for n in shape.split("x") if n]
    return torch.randn(sizes).to(kind) if kind.is_floating_point else torch.ones(sizes, dtype=kind)


def _written_buffers(module: Any, inputs: tuple[Any, ...]) -> list[str]:
    """Names of the buffers that a call changes, which a trace would keep as constants."""
    import torch
    before = {name: buffer.clone() for name, buffer in module.named_buffers()}
    with torch.no_grad():
        module(*(x.clone() for x in inputs))
    changed = [name for name, buffer in module.named_buffers() if not torch.equal(buffer, before[name])]
    with torch.no_grad():
        for name, buffer in module.named_buffers():
            buffer.copy_(before[name])
    return changed


def export(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m hone export", description="TorchScript to ONNX")
    parser.add_argument("model", help="a TorchScript file; its code is run: only a file that you trust")
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--input", action="append", default=[], metavar="SHAPE[:DTYPE]", help="as 1x3x224x224:float32")
    options = parser.parse_args(argv)
    try:
        import torch
    except ImportError:
        print("python -m hone export needs torch: pip install torch", file=sys.stderr)
        return 69
    try:
        _zoo.check_output(options.output, options.model)
    except _zoo.Refusal as refusal:
        print(f"hone: {refusal}", file=sys.stderr)
        return refusal.code
    load: Any = torch.jit.load
    module = load(options.model, map_location="cpu").eval()
    inputs = tuple(_example(x) for x in options.input)
    written = _written_buffers(module, inputs)
    if written:
        print(f"{os.path.basename(options.model)} keeps state: a call writes to {', '.join(written)}, which ONNX would hold as constants. "
              "Give the state to forward() as inputs and return it, then export.", file=sys.stderr)
        return 65
    with _zoo.whole(options.output, options.model) as partial:
        torch.onnx.export(module, inputs, partial, dynamo=False)
    print(options.output)
    return 0


def _is_python_zoo(words: list[str]) -> bool:
    named = words[1:] and words[0] == "write" and words[1].partition(":")[0] in _zoo.SOURCES.split(", ")
    return bool(named) or any(word.partition("=")[0] == "--zoo-dir" for word in words)


def main() -> int:
    if sys.argv[1:2] == ["zoo"] and _is_python_zoo(sys.argv[2:]):
        return _zoo.main(sys.argv[2:])
    if sys.argv[1:2] == ["export"]:
        return export(sys.argv[2:])
    if sys.argv[1:2] == ["torch"]:
        from . import _torch_study
        return _torch_study.main(sys.argv[2:])
    if sys.argv[1:2] in ([], ["-h"], ["--help"]):
        print(__doc__)
        return 0
    argv = [_lib.command(), *sys.argv[1:]]
    os.execvp(argv[0], argv)


if __name__ == "__main__":
    sys.exit(main())
