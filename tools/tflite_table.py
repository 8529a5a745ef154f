#!/usr/bin/env python3
"""Writes docs/reference/tflite.md: which built-in operators of TFLite's schema hone reads.

    tflite_table.py [--check]    --check: only say whether the page is current
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/reference/tflite.md"


def page():
    schema = dict(line.split() for line in (ROOT / "tests/cases/tflite/builtin-operators.txt").read_text().splitlines())
    kinds = (ROOT / "src/compiler/import/tflite/table.c").read_text()
    read = set(re.findall(r'^    \{(\d+), "[A-Z0-9_]+", tf_', kinds, re.M))
    customs = re.findall(r'^    \{32, "(\w+)", tf_', kinds, re.M)
    why = {}  # a row may be broken over two lines
    for first, last, reason in re.findall(r'\{(\d+), (\d+), "[^"]+",\s*"([^"]+)"\}', kinds):
        why.update({str(code): reason for code in range(int(first), int(last) + 1)})
    wrong = [name for code, name in schema.items() if (code in read) + (code in why) != 1 and name != "CUSTOM"]
    if wrong:
        sys.exit(f"neither or both read and refused in src/compiler/import/tflite/table.c: {', '.join(wrong)}")
    missing = {}
    for code, reason in why.items():
        missing.setdefault(reason, []).append(f"`{schema[code]}`")
    names = [schema[code] for code in sorted(read, key=int)]
    lines = [
        "# Operators of TFLite",
        "This page is for people whose TFLite model is refused, or who want to know before they export one. It says which built-in",
        "operators of the schema hone reads. [Use TFLite models](../how-to/tflite.md) describes the commands.",
        "",
        "`tools/tflite_table.py` generates it from the importer's table of operators and the schema's enumeration",
        "(`tests/cases/tflite/builtin-operators.txt`: `schema.fbs`, version 3).",
        "",
        f"{len(names)} of the {len(schema) - 1} built-in operators are read. `tests/cli/test_tflite.py` compares small models of them with LiteRT's",
        "reference kernels: integers and quantised numbers bit for bit, floats within a tolerance, state over two runs.",
        "",
        "- **Quantised models** are computed in integers, as LiteRT's reference kernels do it.",
        "- **State.** Variables and the state tensors of recurrent operators are inputs, each with an output `NAME:next`.",
        "- **Data-dependent shapes.** A data-dependent IF may have branches with outputs of different sizes. Such sizes, and those of WHERE,",
        "  pass through operators that do not compute with them. An operator that does (a quantised MEAN, a slice from the end) is refused.",
        "- **LSTM** is read with projections, layer normalisation, peepholes and clipped values: in float, and as int8 with a 16-bit",
        "  cell (8x8_16), bit for bit. An integer LSTM with both peepholes and a projection is refused, because LiteRT's kernel mixes them up.",
        "- **Strings** are looked up in hash tables that CALL_ONCE fills with constants, moved (reshaped, sliced, gathered) and",
        "  compared.",
        "- **Weights of 4 and 2 bits** have one scale for a tensor, a channel or a block of the last axis. With integer activations they",
        "  are computed as in LiteRT; with float activations in float (LiteRT may quantise the activations at run time).",
        "- **Sparse constants** are read with all their zeros. **Composites** are read as the subgraph that they name.",
        f"- **Custom operators** that LiteRT provides are read ({', '.join(f'`{name}`' for name in customs)}, fast and regular). Others are",
        "  refused by name, because their code is not in the file.",
        "",
        "## Not read",
        "| operator | why |", "|---|---|"]
    lines += [f"| {', '.join(names_of)} | {reason} |" for reason, names_of in sorted(missing.items())]
    lines += ["", "## Read", ", ".join(f"`{name}`" for name in names) + "."]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if "--check" in sys.argv:
        if not PAGE.exists() or PAGE.read_text() != page():
            sys.exit("docs/reference/tflite.md is not what tools/tflite_table.py writes")
    else:
        PAGE.write_text(page())
