"""torch.compile(model, backend="hone"): hone runs the graphs that it can compile, eager mode the others; both are counted.

`hone.torch.stats` says how many graphs torch handed over, how many run compiled, why the others do not, and where torch
broke the program. `hone.torch.study` compares modules under several backends.
"""

from __future__ import annotations

import dataclasses
import os
import tempfile
from typing import Any, Callable, Sequence

import torch
import torch._dynamo.utils

from . import _model, _zoo
from ._lib import HoneError


def _counted(kind: str) -> dict[str, int]:
    return dict(torch._dynamo.utils.counters[kind])


@dataclasses.dataclass
class Stats:
    """Counted since the last reset()."""
    graphs: int = 0  # given to hone
    compiled: int = 0
    fallbacks: list[str] = dataclasses.field(default_factory=list)  # one reason a graph
    _before: dict[str, dict[str, int]] = dataclasses.field(default_factory=dict)

    def reset(self) -> None:
        self.graphs = self.compiled = 0
        self.fallbacks = []
        self._before = {kind: _counted(kind) for kind in ("graph_break", "stats")}

    def breaks(self) -> list[str]:
        """Reasons of torch's graph breaks, one per break, for any backend."""
        before = self._before.get("graph_break", {})
        return [why for why, count in _counted("graph_break").items() for _ in range(count - before.get(why, 0))]

    def seen(self) -> int:
        """Number of graphs that torch made, for any backend."""
        return _counted("stats").get("unique_graphs", 0) - self._before.get("stats", {}).get("unique_graphs", 0)


stats = Stats()


NO_BACKWARD = ("gradients are recorded, and a compiled graph has no backward pass: run inference under torch.no_grad() or "
               "torch.inference_mode()")
SIZES = 8  # sets of sizes for which a graph with dynamic dimensions is compiled; others run in eager mode


class _Fixed(torch.nn.Module):
    """The graph with its tensors as inputs; its numeric inputs are fixed to these values."""

    def __init__(self, graph: torch.fx.GraphModule, inputs: Sequence[Any]) -> None:
        super().__init__()
        self.graph, self.given = graph, [None if isinstance(x, torch.Tensor) else int(x) for x in inputs]

    def forward(self, *tensors: torch.Tensor) -> Any:
        rest = iter(tensors)
        return self.graph(*[next(rest) if x is None else x for x in self.given])


def _check_writes(program: Any) -> None:
    """Refuses graphs that write to their inputs."""
    made = program.graph_signature
    written = [*made.user_inputs_to_mutate.values(), *made.buffers_to_mutate.values()]
    if written:
        raise HoneError("E_UNSUP", f"the graph writes to its inputs: {', '.join(map(str, written))}")


def _compile(graph: torch.nn.Module, inputs: Sequence[torch.Tensor]) -> Callable[..., Any]:
    with tempfile.TemporaryDirectory(prefix="hone-") as folder, torch.no_grad():
        as_onnx = _zoo.has_onnx_exporter()
        path = os.path.join(folder, "graph.onnx" if as_onnx else "graph.pt2")
        graph.eval()  # what depends on it is in the graph's calls already
        if as_onnx:
            written: Any = torch.onnx.export(graph, tuple(inputs), path, dynamo=True, verbose=False)
            program = written.exported_program
        else:
            program = _zoo.save_archive(graph, tuple(inputs), path)
        _check_writes(program)
        model = _model.compile(path, threads=torch.get_num_threads())

    def run(*given: torch.Tensor) -> tuple[Any, ...]:
        made = model(*given)
        return made if isinstance(made, tuple) else (made,)

    return run


def _needs_gradients(graph: torch.fx.GraphModule, inputs: Sequence[Any]) -> bool:
    """True if a backward pass may need the graph: torch records gradients of its inputs or parameters, now or inside it."""
    records, requires = torch.is_grad_enabled(), False
    for node in (node for part in graph.modules() if isinstance(part, torch.fx.GraphModule) for node in part.graph.nodes):
        records = records or node.target is torch._C._set_grad_enabled and bool(node.args[0])
        requires = requires or node.target == "requires_grad_"
    tensors = [x for x in inputs if isinstance(x, torch.Tensor)]
    return records and (requires or any(x.requires_grad for x in [*tensors, *graph.parameters(), *graph.buffers()]))


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:500]


class _Open:
    """A graph with dynamic dimensions, compiled at the first call with each set of sizes."""

    def __init__(self, graph: torch.fx.GraphModule) -> None:
        self.graph, self.runs = graph, {}  # type: ignore[var-annotated]

    def __call__(self, *inputs: Any) -> Any:
        tensors = [x for x in inputs if isinstance(x, torch.Tensor)]
        key = tuple(tuple(x.shape) if isinstance(x, torch.Tensor) else int(x) for x in inputs)
        if key not in self.runs:
            self.runs[key] = self._first(inputs, tensors)
        run = self.runs[key]
        return run(*tensors) if run else self.graph(*inputs)

    def _first(self, inputs: Sequence[Any], tensors: list[torch.Tensor]) -> Callable[..., Any] | None:
        try:
            if len(self.runs) >= SIZES:
                raise HoneError("E_LIMIT", f"a graph with dynamic dimensions was called with more than {SIZES} sets of sizes")
            return _compile(_Fixed(self.graph, inputs), tensors)
        except Exception as error:
            stats.fallbacks.append(_reason(error))
            return None


def backend(graph: torch.fx.GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
    """Called by torch.compile for each graph; for inference. A graph that may need a backward pass runs in eager mode, with
    its gradients. With symbolic sizes the graph is compiled when it is called, for the sizes of that call."""
    stats.graphs += 1
    if _needs_gradients(graph, example_inputs):
        stats.fallbacks.append(NO_BACKWARD)
        return graph.forward
    if any(not isinstance(x, torch.Tensor) for x in example_inputs):
        stats.compiled += 1
        return _Open(graph)
    try:
        run = _compile(graph, example_inputs)
    except Exception as error:  # eager mode runs graphs that the exporter or hone cannot
        stats.fallbacks.append(_reason(error))
        return graph.forward
    stats.compiled += 1
    return run


def __getattr__(name: str) -> Any:
    if name == "study":  # which needs this module
        from ._torch_study import study
        return study
    raise AttributeError(name)


if "hone" not in torch._dynamo.list_backends():  # the installed package's entry point registers it too
    torch._dynamo.register_backend(backend, name="hone")
