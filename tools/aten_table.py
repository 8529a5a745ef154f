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
    "^rand|^randn|randperm": "its results differ from run to run",
    "sym_(is_contiguous|storage_offset|stride)": "asks about storage, which a compiled graph has none of",
    "resize_": "changes the storage of a tensor",
    "legit.default": "updates running statistics: training",
    ".out$": "the form that writes into an argument; the plain form is read",
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
        "# What is read of torch.export archives",
        "Made by `tools/aten_table.py` from the table in `src/compiler/import/pt2/table.c` and the list of Core ATen in",
        "`tests/cases/pt2/core-aten.txt` (PyTorch 2's `native_functions.yaml`, tag `core`).",
        "",
        f"{len(read)} of the {len(core)} operators of Core ATen, and {sum(n.startswith('aten.') for n in known) - len(read)} more that",
        "`torch.export` leaves in a graph without `run_decompositions()`. `tests/cli/test_pt2_operators.py` runs",
        "modules of them, exported both ways, against PyTorch's outputs.",
        "",
        "- **In-place operators** (`add_`, `copy_`, `index_put_`, ...) are the plain ones; what they write is seen through",
        "  views (slice, select, view, permute, ...) of the same storage. A write through an expand, split or diagonal is refused.",
        "- **Buffers that a module writes** are an input of the buffer's name, at first what the file holds, and an output",
        "  `NAME.next`: give one run's output to the next.",
        "- **Complex numbers** within the graph and in its constants: the transforms of `torch.fft`, `stft` and `istft`, `view_as_complex`,",
        "  `polar`, products, sums, parts, `abs`, `angle`, and what moves or adds elements (view, slice, cat, index, ...); what else reads them",
        "  is refused. Complex inputs and outputs are float32 with one more axis, real and imaginary, as PyTorch's `view_as_real`.",
        "- **Control flow**: `torch.cond` is an If, whose branches may give other sizes, `while_loop` a Loop of tensors whose shapes",
        "  stay; what is known when compiling is decided then. `map` and `scan` are written out up to 16 rows and are a Loop beyond, `associative_scan` joins neighbours as",
        "  PyTorch does.",
        "- **Sizes that only a run knows** (`nonzero`, `nms`, a mask, `torch.cond`) go through operators that ask for none of them: element",
        "  by element, views, slices, sums, products, `cat`, `index`; `view` keeps one. What computes with such a size, or asks",
        "  for it otherwise (`full`, `arange`, a condition), is refused.",
        "- **PyTorch's own quantisation**: the operators of `quantized_decomposed`, static or with a scale that a run chooses, and",
        "  torchao's `quantize_affine`, `dequantize_affine` and `choose_qparams_affine` in blocks of any size.",
        "- **Outputs** that are None, a number or a text that the file knows are left out; the tensors keep their order.",
        "- **Archives** may be packed with DEFLATE, to 512 MiB or 8 times the file's size unpacked (`--limit unpacked_bytes=N`). Nothing",
        "  is unpickled, and code members are refused; so are big-endian archives and versions that PyTorch itself does not read.",
        "",
        "| not read | why |", "|---|---|"]
    by_reason = {}
    for name in missing:
        by_reason.setdefault(reason(name), []).append(f"`{name}`")
    lines += [f"| {', '.join(names)} | {why} |" for why, names in sorted(by_reason.items())]
    lines += ["", "Read: " + ", ".join(f"`{name.removesuffix('.default')}`" for name in read) + "."]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if "--check" in sys.argv:
        if not PAGE.exists() or PAGE.read_text() != page():
            sys.exit("docs/reference/pytorch.md is not what tools/aten_table.py writes")
    else:
        PAGE.write_text(page())
