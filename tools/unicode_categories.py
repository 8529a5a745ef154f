#!/usr/bin/env python3
"""Writes src/core/tokens/unicode.def: where the category of code points changes, from Python's unicodedata."""

import pathlib
import sys
import unicodedata

CATEGORIES = {"L": 1, "N": 2, "P": 3, "M": 4, "S": 5}  # enum category of tokens.h
SPACE = 6
SPACES = {*range(0x09, 0x0E), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000}


def category(code):
    return SPACE if code in SPACES else CATEGORIES.get(unicodedata.category(chr(code))[0], 0)


def main():
    changes = [code << 3 | category(code) for code in range(sys.maxunicode + 1) if code == 0 or category(code) != category(code - 1)]
    lines = [f"/* Made by tools/unicode_categories.py from Unicode {unicodedata.unidata_version}. */"]
    for i in range(0, len(changes), 12):
        lines.append(" ".join(f"{x}," for x in changes[i:i + 12]))
    path = pathlib.Path(__file__).resolve().parents[1] / "src/core/tokens/unicode.def"
    path.write_text("\n".join(lines) + "\n")


main()
