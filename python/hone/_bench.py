"""`hone bench` from Python: runs the command in a separate process and returns its records as rows."""

from __future__ import annotations

import html
import json
import os
import re
from typing import Any, Iterable, Iterator, Sequence

from . import _lib, _progress

SHOWN = (("rank", "#"), ("backend", "backend"), ("p50", "p50 ms"), ("vs_fastest", "vs fastest"), ("status", "status"))


class Study:
    """Records of one study: a sequence of dicts, one per configuration; `comparisons` has ratios with their intervals."""

    def __init__(self, found: dict[str, Any]) -> None:
        self.machine: dict[str, Any] = found["machine"]
        self.records: list[dict[str, Any]] = found["records"]
        self.comparisons: list[dict[str, Any]] = found["comparisons"]

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.records)

    def __getitem__(self, i: int) -> dict[str, Any]:
        return self.records[i]

    def to_dataframe(self) -> Any:
        """A pandas DataFrame with columns such as "latency_ms.p50"; needs pandas."""
        import pandas
        return pandas.json_normalize(self.records)

    def _lead(self, record: dict[str, Any]) -> str:
        for c in self.comparisons:
            other = next((r for r in self.records if r["cell"] == c["b"]), None)
            if c["a"] == record["cell"] and other and other["rank"] == 1:
                return "tie" if c["verdict"] == "tie" else f"{c['ratio']:.2f}x {c['verdict']}"
        return "fastest" if record["rank"] == 1 else ""

    def _rows(self) -> Iterator[tuple[str, list[str]]]:
        for r in self.records:
            p50 = (r.get("latency_ms") or {}).get("p50")
            values = {"rank": str(r["rank"] or ""), "backend": f"{r['backend']} {r.get('engine_version', '')}".strip(),
                      "p50": f"{p50:.4g}" if p50 else "", "vs_fastest": self._lead(r), "status": r["status"]}
            title = f"{r['model']}, batch {r['batch']}, {r['threads']} threads, {r['precision']}"
            yield title, [values[key] for key, _ in SHOWN]

    def __repr__(self) -> str:
        lines, last = [], None
        for title, cells in self._rows():
            if title != last:
                lines.append(title)
            last = title
            lines.append("  " + "  ".join(f"{c:<16}" for c in cells).rstrip())
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(title)}</th>" for _, title in SHOWN)
        body, last = "", None
        for title, cells in self._rows():
            if title != last:
                body += f'<tr><th colspan="{len(SHOWN)}" style="text-align:left">{html.escape(title)}</th></tr>'
            last = title
            body += "<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in cells) + "</tr>"
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _list(x: str | Iterable[Any] | None) -> str | None:
    if x is None:
        return None
    return x if isinstance(x, str) else ",".join(map(str, x)) if hasattr(x, "__iter__") else str(x)


def bench(models: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], *,
          backends: str | Iterable[str] | None = None, batch: Any = None, threads: Any = None, progress: bool = True,
          **flags: Any) -> Study:
    """Runs `hone bench` and returns its records. Further flags are those of the command with underscores:
    min_time=0.5 is --min-time 0.5, aa=True is --aa. progress: the command's own lines on a terminal, a bar in a notebook."""
    many = [models] if isinstance(models, (str, os.PathLike)) else list(models)
    argv = [_lib.command(), "bench", *[os.fspath(m) for m in many], "--json", "-"]
    wanted = {"backend": _list(backends), "batch": _list(batch), "threads": _list(threads), **flags}
    for name, value in wanted.items():
        if value is None or value is False:
            continue
        argv.append("--" + name.replace("_", "-"))
        if value is not True:
            argv.append(str(value))
    code, text, words = _progress.run(argv, progress)
    try:
        return Study(json.loads(text[text.index("{"):]))
    except ValueError:
        words = words.strip()
        found = re.search(r"\bE_[A-Z]+\b", words)
        raise _lib.HoneError(found.group() if found else "E_INTERNAL",
                             words or f"hone bench ended with {code}") from None
