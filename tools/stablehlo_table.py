#!/usr/bin/env python3
"""Writes docs/reference/stablehlo.md: which models hone exports to StableHLO, and which operators have no rule yet.

    stablehlo_table.py build/hone [--check]    --check: only say whether the operators and the built-in models'
                                               rows are current

The built-in models are taken in the smallest form that has every kind of layer (tests/zoo/tiny.txt); the files are
those of the collection $HONE_SHARED/models."""

import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/reference/stablehlo.md"
# Where the smallest sizes fit nothing in the file.
SIZES = {"silero_vad/model.onnx": "input[1,512],state[2,1,128]"}
MODELS = pathlib.Path(os.environ.get("HONE_SHARED", ROOT.parent / "shared")) / "models"


def rules():
    """The operators of the exporter's tables, and how many more are elementwise with an expression."""
    export, ops = ROOT / "src/compiler/export/stablehlo", ROOT / "src/core/ops"
    named = set()
    for path in export.glob("*.c"):
        named |= set(re.findall(r"\{OP_(\w+), (?:put|hlo)_\w+\}", path.read_text()))
    elementwise = {op for name in ("unary.def", "binary.def", "ternary.def")
                   for op in re.findall(r"^\w+\((\w+),", (ops / name).read_text(), re.M)}
    return sorted(named), sorted(elementwise - named)


def export(hone, model, *shape):
    """("", {}) where it is written, with the sizes that hone itself proposes for open ones; else the first words of the
    reason, and reasons by operator."""
    with tempfile.TemporaryDirectory() as folder:
        result = subprocess.run([hone, "export", model, *shape, "-o", f"{folder}/m.mlir"], capture_output=True, text=True,
                                timeout=600, check=False)
    if result.returncode == 0:
        return "", {}
    line = next((at for at in result.stderr.splitlines() if "E_" in at and not at.startswith("hone: warning")), result.stderr[:200])
    proposed = re.search(r'--shape "([^"]+)"', line)
    if proposed and not shape:
        return export(hone, model, "--shape", proposed[1])
    missing = {}
    if "without a rule: " in line:
        for part in line.split("without a rule: ", 1)[1].split("; "):
            found = re.match(r"(\w+) \((\d+)\): (.*)", part)
            if found:
                missing[found[1]] = (int(found[2]), found[3])
    return line.split(": ", 1)[-1][:160], missing


def zoo():
    for line in (ROOT / "tests/zoo/tiny.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, sizes = line.split()
            yield name, f"zoo:{name}" + ("" if sizes == "-" else f",{sizes}")


def files():
    for path in sorted(MODELS.rglob("*")):
        if path.suffix in (".onnx", ".tflite", ".pt2") and path.stat().st_size < 200 << 20:
            yield str(path.relative_to(MODELS)), str(path)


def rows(hone, models):
    """Lines of the table, and how many models and nodes each operator is missing in."""
    lines, counts = [], collections.defaultdict(lambda: [0, 0, ""])
    for name, spec in models:
        why, missing = export(hone, spec, *(["--shape", SIZES[name]] if name in SIZES else []))
        for op, (nodes, reason) in missing.items():
            counts[op][0] += 1
            counts[op][1] += nodes
            counts[op][2] = counts[op][2] or reason
        lacks = ", ".join(f"{op} ({nodes})" for op, (nodes, _) in sorted(missing.items())) or why
        lines.append(f"| {name} | {'no: ' + lacks.replace('|', ' ') if why else 'yes'} |")
    return lines, counts


def written(lines):
    return sum(line.endswith("| yes |") for line in lines), len(lines)


def operators():
    named, elementwise = rules()
    return [f"Operators with a rule: {', '.join(f'`{op}`' for op in named)}.", "",
            f"Elementwise operators, written by their expression: {', '.join(f'`{op}`' for op in elementwise)}.", ""]


def page(hone):
    own, _ = rows(hone, zoo())
    others, counts = rows(hone, files())
    head = ["# Operators that are exported to StableHLO",
            "This page is for people who use `hone export MODEL -o FILE.mlir` or `--route stablehlo-hone`. It says which operators and which",
            "models are written as StableHLO.", "",
            "`tools/stablehlo_table.py` generates it from the exporter's tables and from the result of `hone export` for each model. If an",
            "operator has no rule, the command names all that are missing. Sizes must be fixed; models with dynamic dimensions were",
            "written with the smallest sizes. If one branch of an If does not fit the sizes, only the other branch is written. A Loop may",
            "collect outputs if its trip count is known.", "",
            *operators(),
            "## Built-in models",
            f"{'%d of %d' % written(own)} are written, each in its smallest size with every kind of layer (`tests/zoo/tiny.txt`).", "",
            "| model | written |", "|---|---|", *own, "",
            "## Other files",
            f"{'%d of %d' % written(others)} files of a collection of public models are written.", "",
            "| file | written |", "|---|---|", *others, "",
            "## Missing operators, by the number of these files that need them",
            "| operator | files | nodes | reason |", "|---|---|---|---|"]
    order = sorted(counts.items(), key=lambda item: (-item[1][0], item[0]))
    return "\n".join(head + [f"| `{op}` | {models} | {nodes} | {reason.replace('|', ' ')} |"
                             for op, (models, nodes, reason) in order]) + "\n"


def check(hone):
    text = PAGE.read_text() if PAGE.exists() else ""
    for line in operators() + rows(hone, zoo())[0]:
        if line and line not in text.splitlines():
            sys.exit(f"docs/reference/stablehlo.md is not what tools/stablehlo_table.py writes: {line[:200]}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if "--check" in sys.argv:
        check(sys.argv[1])
    else:
        PAGE.write_text(page(sys.argv[1]))
