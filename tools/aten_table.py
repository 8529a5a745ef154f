#!/usr/bin/env python3
"""Writes docs/reference/pytorch.md: which operators of PyTorch's Core ATen set hone reads from .pt2 archives.

    tools/aten_table.py [--check]    --check: only say whether the page is current
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/reference/pytorch.md"
WHY = {
    "backward": "training: hone compiles inference",
    "^rand|^randn|randperm": "results differ from run to run",
    "sym_(is_contiguous|storage_offset|stride)": "asks about storage, which a compiled graph does not have",
    "resize_": "changes the storage of a tensor",
    "legit.default": "updates running statistics: training",
    ".out$": "writes into an argument; the plain form is read",
    "": "not yet",
}


def reason(name):
    return next(why for pattern, why in WHY.items() if re.search(pattern, name))


def page():
    core = (ROOT / "tests/cases/pt2/core-aten.txt").read_text().split()
    known = re.findall(r'^    \{"([^"]+)", build', (ROOT / "src/compiler/import/pt2/table.c").read_text(), re.M)
    read = [name for name in core if "aten." + name in known]
    missing = [name for name in core if "aten." + name not in known]
    lines = [
        "# Operators of torch.export",
        "This page is for people whose `.pt2` file is refused, or who want to know before they export one. It says which operators of",
        "PyTorch hone reads. [Use hone with PyTorch](../how-to/pytorch.md) describes the commands.",
        "",
        "`tools/aten_table.py` generates it from the importer's table of operators and the list of Core ATen in",
        "`tests/cases/pt2/core-aten.txt` (PyTorch 2's `native_functions.yaml`, tag `core`).",
        "",
        f"{len(read)} of the {len(core)} operators of Core ATen are read, and {sum(n.startswith('aten.') for n in known) - len(read)} more that `torch.export` leaves in a graph without",
        "`run_decompositions()`. `tests/cli/test_pt2_operators.py` compares modules of them, exported both ways, with PyTorch's",
        "outputs.",
        "",
        "- **In-place operators** (`add_`, `copy_`, `index_put_`, ...) are read as the plain ones. A write is visible through views (slice,",
        "  select, view, permute, ...) of the same storage. A write through an expand, split or diagonal is refused.",
        "- **Buffers that a module writes** are an input with the buffer's name, initially with the content of the file, and an output",
        "  `NAME.next`. Pass one run's output to the next run.",
        "- **Complex numbers** are read inside the graph and in its constants: the transforms of `torch.fft`, `stft` and `istft`, `view_as_complex`,",
        "  `polar`, products, sums, parts, `abs`, `angle`, and operators that move or add elements (view, slice, cat, index, ...). Other",
        "  operators on complex numbers are refused. Complex inputs and outputs are float32 with one more axis for the real and the imaginary",
        "  part, as in PyTorch's `view_as_real`.",
        "- **Control flow.** `torch.cond` is an If, whose branches may have outputs of different sizes. `while_loop` is a Loop of tensors with",
        "  fixed shapes. Conditions that are known at compile time are decided then. `map` and `scan` are unrolled up to 16 rows and are a",
        "  Loop beyond. `associative_scan` combines neighbours as PyTorch does.",
        "- **Data-dependent shapes** (`nonzero`, `nms`, a mask, `torch.cond`) pass through operators that do not compute with them:",
        "  elementwise operators, views, slices, sums, matmuls, `cat`, `index`. `view` keeps one such size. An operator that computes with such a",
        "  size, or needs it otherwise (`full`, `arange`, a condition), is refused.",
        "- **PyTorch's own quantisation**: the operators of `quantized_decomposed`, static or with scales computed at run time, and",
        "  torchao's `quantize_affine`, `dequantize_affine` and `choose_qparams_affine` in blocks of any size.",
        "- **Outputs** that are None, a number or a string known from the file are left out. The tensors keep their order.",
        "- **Archives** may be compressed with DEFLATE, up to 512 MiB or 8 times the file's size (`--limit unpacked_bytes=N`). Nothing is",
        "  unpickled, and code members are refused. So are big-endian archives and versions that PyTorch itself does not read.",
        "",
        "## Not read",
        "| operator | why |", "|---|---|"]
    by_reason = {}
    for name in missing:
        by_reason.setdefault(reason(name), []).append(f"`{name}`")
    lines += [f"| {', '.join(names)} | {why} |" for why, names in sorted(by_reason.items())]
    lines += ["", "## Read", ", ".join(f"`{name.removesuffix('.default')}`" for name in read) + "."]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if "--check" in sys.argv:
        if not PAGE.exists() or PAGE.read_text() != page():
            sys.exit("docs/reference/pytorch.md is not what tools/aten_table.py writes")
    else:
        PAGE.write_text(page())
