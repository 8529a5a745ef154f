"""One flipped bit of a compiled model, in code or weights, is an error and never a wrong result."""
import os
import random
import subprocess

import pytest

from hone import refused, sound

PLACES = 8


def flipped(data, at, bit):
    return data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1:]


def sections(path):
    """A place in the middle of each section of an ELF file that has bytes."""
    lines = subprocess.run(["readelf", "-SW", path], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    rows = [line.partition("]")[2].split() for line in lines if line.lstrip().startswith("[")]
    return [int(row[3], 16) + int(row[4], 16) // 2 for row in rows if len(row) > 5 and row[1] not in ("NOBITS", "Type") and int(row[4], 16)]


def places(path):
    """The middle of every section, and random offsets, some past the end of the last section."""
    size, chosen = path.stat().st_size, random.Random(7)
    return [*sections(path), *(chosen.randrange(64, size - 16) for _ in range(PLACES)), *range(size - 32, size, 7)]


@pytest.mark.parametrize("options", [["zoo:mlp"], ["zoo:mlp", "--cpu", "baseline,avx2"]], ids=["one", "levels"])
def test_a_library(hone, options):
    sound(hone("compile", *options, "-o", "m.so", "-q"))
    sound(hone("run", "m.so", "-q"))
    whole, damaged = hone.folder / "m.so", hone.folder / "x.so"
    data = whole.read_bytes()
    for k, at in enumerate(places(whole)):
        damaged.write_bytes(flipped(data, at, k % 8))
        refused(hone("run", "x.so"), "E_FORMAT", "x.so")
    for size in (len(data) - 1, len(data) - 31, len(data) - 33, len(data) // 2):
        damaged.write_bytes(data[:size])
        refused(hone("run", "x.so"), "E_FORMAT", "x.so")
    damaged.write_bytes(data[:-32])  # as if linked without hone's checksum
    sound(hone("run", "x.so", "-q"))


def test_weights_of_their_own(hone):
    sound(hone("compile", "zoo:mlp", "-o", "m.c", "-q"))
    subprocess.run(["cc", "-O1", "-march=native", "-shared", "-fPIC", "m.c", "-o", "m.so", "-lm"], cwd=hone.folder, check=True)
    sound(hone("run", "m.so", "-q"))
    weights = hone.folder / "m.weights"
    data = weights.read_bytes()
    for at in [*(random.Random(8).randrange(len(data)) for _ in range(PLACES)), *range(len(data) - 64, len(data), 9)]:
        weights.write_bytes(flipped(data, at, at % 8))
        result = hone("run", "m.so")
        assert result.code in (65, 74) and "m.weights" in result.errors, (at, result)
    weights.write_bytes(data)
    sound(hone("run", "m.so", "-q"))


def test_a_large_file_is_read_once_and_again_after_each_change(hone):
    sound(hone("compile", "zoo:transformer", "-o", "m.so", "-q"))
    path, table = hone.folder / "m.so", hone.folder / "cache/hone/whole-artifacts"
    assert path.stat().st_size > 4 << 20
    os.utime(path)  # the clock of files must be past it: then it is remembered
    for _ in range(20):
        sound(hone("run", "m.so", "-q"))
        if table.exists():
            break
    assert table.stat().st_size > 0
    with open(path, "r+b") as file:  # in its place: the same inode and size
        at = path.stat().st_size // 2
        file.seek(at)
        byte = file.read(1)
        file.seek(at)
        file.write(bytes([byte[0] ^ 16]))
    for _ in range(2):
        refused(hone("run", "m.so"), "E_FORMAT", "checksum")
    with open(path, "r+b") as file:
        file.seek(at)
        file.write(byte)
    sound(hone("run", "m.so", "-q"))
    table.unlink()
    table.mkdir()  # a cache that does not work
    sound(hone("run", "m.so", "-q"))
