"""Writes the modules of tests/cases/pt2/operators.zip as separate archives, every other one compressed with DEFLATE."""
import zipfile

import make_pt2_cases as cases

ARCHIVE = cases.FILE.parent / "operators.zip"


def modules():
    """name -> {member: bytes}, the arrays of inputs and outputs among them"""
    found = {}
    with zipfile.ZipFile(ARCHIVE) as z:
        for member in z.namelist():
            name, part = member.split("/", 1)
            found.setdefault(name, {})[part] = z.read(member)
    return found


def write(path, name, parts):
    packing = zipfile.ZIP_DEFLATED if len(name) % 2 else zipfile.ZIP_STORED
    cases.write(path, {p: d for p, d in parts.items() if not p.endswith(".npy")}, compression=packing)
