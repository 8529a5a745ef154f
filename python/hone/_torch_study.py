"""Modules of PyTorch through torch.compile's backends, compared: `python -m hone torch SOURCE:NAME ...`.

    python -m hone torch torchvision:resnet18 transformers:bert --set transformers:bert:num_hidden_layers=2

Weights are drawn from a seed, nothing is downloaded. In each round every backend is timed once, in a new random order; a ratio
is the median over the rounds of one backend's time divided by that of the first compiled one in the same round, with a
bootstrap interval (Efron & Tibshirani 1993). Latencies are those of the whole call, guards included.
"""

from __future__ import annotations

import argparse
import dataclasses
import html
import json
import sys
import time
from typing import Any, Callable, Sequence

import numpy as np
import torch

from . import _zoo, torch as backend

BACKENDS = ("eager", "inductor", "hone")
RESAMPLES = 2000
COLUMNS = ("model", "backend", "p50_ms", "ratio", "low", "high", "verdict", "graphs", "breaks", "fallbacks", "compile_s",
           "error", "status")


@dataclasses.dataclass
class Row:
    """One model under one backend. ratio: of its time to the reference's, below 1 is faster; [low, high] holds it with
    95 %; error: largest difference to eager mode by the largest output. graphs, breaks, fallbacks: what torch.compile cut
    the module into, where, and which of the graphs ran in eager mode."""
    model: str
    backend: str
    p50_ms: float | None = None
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    verdict: str = ""
    graphs: int = 0
    breaks: list[str] = dataclasses.field(default_factory=list)
    fallbacks: list[str] = dataclasses.field(default_factory=list)
    compile_s: float = 0.0
    error: float | None = None
    status: str = "ok"


def _text(value: Any) -> str:
    if isinstance(value, list):
        return str(len(value))
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


class TorchStudy:
    """Rows of one study, a sequence; in a notebook a table."""

    def __init__(self, rows: list[Row], reference: str, threads: int) -> None:
        self.rows, self.reference, self.threads = rows, reference, threads

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, i: int) -> Row:
        return self.rows[i]

    def records(self) -> list[dict[str, Any]]:
        return [dataclasses.asdict(row) for row in self.rows]

    def to_dataframe(self) -> Any:
        import pandas
        return pandas.DataFrame(self.records())

    def to_markdown(self) -> str:
        lines = ["| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
        return "\n".join(lines + ["| " + " | ".join(_text(getattr(row, c)).replace("|", "\\|") for c in COLUMNS) + " |"
                                  for row in self.rows])

    def __repr__(self) -> str:
        return self.to_markdown()

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{c}</th>" for c in COLUMNS)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(_text(getattr(row, c)))}</td>" for c in COLUMNS) + "</tr>"
                       for row in self.rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _tensors(value: Any) -> list[torch.Tensor]:
    """The tensors in a module's result (nested in any containers), in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    many = value.values() if isinstance(value, dict) else value if isinstance(value, (tuple, list)) else ()
    return [x for item in many for x in _tensors(item)]


def _difference(got: Any, wanted: Any) -> float:
    pairs = list(zip(_tensors(got), _tensors(wanted), strict=True))
    worst = 0.0
    for a, b in pairs:
        if a.shape != b.shape:
            raise ValueError(f"an output of shape {list(a.shape)}, eager mode gives {list(b.shape)}")
        if b.numel():
            scale = max(float(b.double().abs().max()), 1e-30)
            worst = max(worst, float((a.double() - b.double()).abs().max()) / scale)
    return worst


def _prepare(row: Row, module: torch.nn.Module, inputs: tuple[Any, ...], wanted: Any) -> Callable[..., Any] | None:
    """The module under the row's backend, compiled and checked; None and a status if that fails."""
    backend.stats.reset()
    start = time.perf_counter()
    try:
        call = module if row.backend == "eager" else torch.compile(module, backend=row.backend, dynamic=False)
        got = call(*inputs)
        row.compile_s = 0.0 if row.backend == "eager" else time.perf_counter() - start
        row.error = _difference(got, wanted)
    except Exception as error:  # an error of an exporter or compiler is a row, not the end of the study
        row.status = f"{type(error).__name__}: {' '.join(str(error).split())}"[:200]
        return None
    if row.backend != "eager":
        row.graphs, row.breaks = backend.stats.seen(), backend.stats.breaks()
    row.fallbacks = list(backend.stats.fallbacks) if row.backend == "hone" else []
    return call


def _sample(call: Callable[..., Any], inputs: tuple[Any, ...], repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        call(*inputs)
    return (time.perf_counter() - start) / repeats


def _repeats(call: Callable[..., Any], inputs: tuple[Any, ...], min_time: float) -> int:
    once = min(_sample(call, inputs, 1) for _ in range(3))
    return max(1, int(min_time / max(once, 1e-9)))


def _judge(row: Row, times: np.ndarray, reference: np.ndarray, random: np.random.Generator) -> None:
    ratios = times / reference
    drawn = np.median(ratios[random.integers(0, len(ratios), (RESAMPLES, len(ratios)))], axis=1)
    row.ratio, (row.low, row.high) = float(np.median(ratios)), map(float, np.percentile(drawn, [2.5, 97.5]))
    row.verdict = "faster" if row.high < 1 else "slower" if row.low > 1 else "tie"


def _measure(name: str, module: torch.nn.Module, inputs: tuple[Any, ...], backends: Sequence[str], rounds: int,
             min_time: float, random: np.random.Generator) -> list[Row]:
    rows = [Row(name, b) for b in backends]
    reset: Any = torch._dynamo.reset
    reset()
    wanted = module(*inputs)
    calls = {row.backend: call for row in rows if (call := _prepare(row, module, inputs, wanted)) is not None}
    repeats = {b: _repeats(call, inputs, min_time) for b, call in calls.items()}
    times: dict[str, list[float]] = {b: [] for b in calls}
    for _ in range(rounds):
        for b in random.permutation(list(calls)):
            times[b].append(_sample(calls[b], inputs, repeats[b]))
    reference = next((b for b in backends if b != "eager" and b in calls), None)
    for row in rows:
        if row.backend not in calls:
            continue
        row.p50_ms = 1e3 * float(np.median(times[row.backend]))
        if reference and row.backend != reference:
            _judge(row, np.array(times[row.backend]), np.array(times[reference]), random)
    return rows


def study(models: Sequence[tuple[str, torch.nn.Module, tuple[Any, ...]]], *, backends: Sequence[str] = BACKENDS,
          threads: int = 1, rounds: int = 30, min_time: float = 0.02, seed: int = 0) -> TorchStudy:
    """models: (name, module, example inputs), each measured under every backend; the first that is not "eager" is what the
    others are compared with. threads: of torch and of hone alike. min_time: seconds a sample takes at least."""
    random, before = np.random.default_rng(seed), torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        with torch.no_grad():
            rows = [row for name, module, inputs in models
                    for row in _measure(name, module.eval(), tuple(inputs), backends, rounds, min_time, random)]
    finally:
        torch.set_num_threads(before)
    return TorchStudy(rows, next((b for b in backends if b != "eager"), ""), threads)


def _settings(words: list[str], model: str) -> dict[str, Any]:
    """--set MODEL:KEY=VALUE of this model, and KEY=VALUE of all."""
    chosen = {}
    for word in words:
        owner, colon, rest = word.rpartition(":") if ":" in word.partition("=")[0] else ("", "", word)
        if not colon or owner == model:
            key, value = _zoo._setting(rest)
            chosen[key] = value
    return chosen


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m hone torch", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", help="torchvision:NAME, timm:NAME or transformers:TYPE, or NAME with --zoo-dir")
    parser.add_argument("--backend", default=",".join(BACKENDS), help="of torch.compile, and eager")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--min-time", type=float, default=0.02, help="seconds a sample takes at least")
    parser.add_argument("--size", type=int, help="side of the picture, or length of the sequence")
    parser.add_argument("--set", action="append", default=[], metavar="[MODEL:]KEY=VALUE")
    parser.add_argument("--zoo-dir")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", metavar="FILE", help="the rows with every reason, - for standard output")
    options = parser.parse_args(argv)
    try:
        if options.json not in (None, "-"):
            _zoo.check_output(options.json)
        models = [(name, *_zoo.build(name, options.zoo_dir, options.size, _settings(options.set, name), options.seed))
                  for name in options.models]
    except _zoo.Refusal as refusal:
        print(f"hone: {refusal}", file=sys.stderr)
        return refusal.code
    done = study(models, backends=options.backend.split(","), threads=options.threads, rounds=options.rounds,
                 min_time=options.min_time, seed=options.seed)
    if options.json != "-":
        print(f"torch {torch.__version__}, {options.threads} threads; ratio to {done.reference}\n")
        print(done.to_markdown())
        for row in done.rows:
            for kind, reasons in (("break", row.breaks), ("fallback", row.fallbacks)):
                for reason in reasons:
                    print(f"{row.model}, {row.backend}: {kind}: {reason.splitlines()[0][:160]}")
    if options.json:
        text = json.dumps({"torch": torch.__version__, "threads": options.threads, "reference": done.reference,
                           "rows": done.records()}, indent=1)
        if options.json == "-":
            print(text)
        else:
            with _zoo.whole(options.json) as partial, open(partial, "w", encoding="utf-8") as file:
                file.write(text + "\n")
    return 0 if all(row.status == "ok" for row in done.rows) else 1
