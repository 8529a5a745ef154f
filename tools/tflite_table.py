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
        "# What is read of TFLite files",
        "Made by `tools/tflite_table.py` from the tables in `src/compiler/import/tflite/table.c` and the schema's enumeration of",
        "built-in operators (`tests/cases/tflite/builtin-operators.txt`: `schema.fbs`, version 3).",
        "",
        f"{len(names)} of the {len(schema) - 1} built-in operators. `tests/cli/test_tflite.py` compares small models of them with LiteRT's reference",
        "kernels: integers and quantised numbers bit for bit, floats closely, state over two runs.",
        "",
        "- **Quantised** models are computed in integers as LiteRT's reference kernels do it (`requant = tflite`).",
        "- **State**: variables and the state tensors of recurrent operators are inputs, and outputs called `NAME:next`.",
        "- **IF** of which a run decides may have branches of other sizes. Such sizes, and those of WHERE, go through operators that ask",
        "  for none of them; what computes with one (a quantised MEAN, a slice from the end) is refused.",
        "- **LSTM** with projections, layer normalisation, peepholes and clipped values: of floats, and of bytes with a cell of 16 bits",
        "  (8x8_16), bit for bit; these not with peepholes and a projection at once, which LiteRT's kernel mixes up.",
        "- **Strings** are looked up in hash tables that CALL_ONCE fills with constants, moved (reshaped, sliced, gathered) and",
        "  compared.",
        "- **Weights of 4 and 2 bits**, one scale a tensor, a channel or a block of the last axis: with integer activations as LiteRT",
        "  computes them, with float ones in float (LiteRT may quantise the activations at run time).",
        "- **Sparse** constants are read with all their zeros; **composites** are what their own graph says.",
        f"- **Custom operators** that LiteRT brings are read ({', '.join(f'`{name}`' for name in customs)}, fast and regular); others are",
        "  refused by name: their code is not in the file.",
        "",
        "| not read | why |", "|---|---|"]
    lines += [f"| {', '.join(names_of)} | {reason} |" for reason, names_of in sorted(missing.items())]
    lines += ["", "Read: " + ", ".join(f"`{name}`" for name in names) + "."]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if "--check" in sys.argv:
        if not PAGE.exists() or PAGE.read_text() != page():
            sys.exit("docs/reference/tflite.md is not what tools/tflite_table.py writes")
    else:
        PAGE.write_text(page())
