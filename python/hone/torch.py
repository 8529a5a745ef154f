"""torch.compile(model, backend="hone"): graphs that hone compiles run there, others in eager mode, both counted.

`hone.torch.stats` says how many graphs torch handed over, how many run compiled, and why the others do not.
"""

from __future__ import annotations

import dataclasses
import os
import tempfile
from typing import Any, Callable

import torch

from . import _model
from ._lib import HoneError


@dataclasses.dataclass
class Stats:
    graphs: int = 0
    compiled: int = 0
    fallbacks: list[str] = dataclasses.field(default_factory=list)  # one reason a graph

    def reset(self) -> None:
        self.graphs = self.compiled = 0
        self.fallbacks = []


stats = Stats()


def _compile(graph: torch.fx.GraphModule, example_inputs: list[torch.Tensor]) -> Callable[..., Any]:
    if any(not isinstance(x, torch.Tensor) for x in example_inputs):
        raise HoneError("E_UNSUP", "a graph with an input that is no tensor (a symbolic size)")
    with tempfile.TemporaryDirectory(prefix="hone-") as folder:
        path = os.path.join(folder, "graph.onnx")
        torch.onnx.export(graph, tuple(example_inputs), path, dynamo=True, verbose=False)
        model = _model.compile(path)

    def run(*inputs: torch.Tensor) -> tuple[Any, ...]:
        made = model(*inputs)
        return made if isinstance(made, tuple) else (made,)

    return run


def backend(graph: torch.fx.GraphModule, example_inputs: list[torch.Tensor]) -> Callable[..., Any]:
    """What torch.compile calls for each graph; inference only, parameters are frozen into the artifact."""
    stats.graphs += 1
    try:
        with torch.no_grad():
            run = _compile(graph, example_inputs)
    except Exception as error:  # whatever the exporter or hone cannot do: eager mode can
        stats.fallbacks.append(f"{type(error).__name__}: {error}"[:500])
        return graph.forward
    stats.compiled += 1
    return run


if "hone" not in torch._dynamo.list_backends():  # the installed package's entry point names it as well
    torch._dynamo.register_backend(backend, name="hone")
