#!/usr/bin/env python3
"""Runs the model of this bundle: run.py IN_0.npy ... -o DIR [--threads N], or as a module:

    from run import Model
    model = Model()                    # with the measured number of threads
    outputs = model(x)                 # one object with the buffer protocol (bytes, array, NumPy) for each input

An output is (NumPy's type code, shape, bytearray). Several threads may call one model at the same time. Needs only Python's
standard library, and the engine if the bundle has one. Inputs are dense and little-endian, with the types and shapes in model.h.
"""
import argparse
import ast
import ctypes
import math
import os
import pathlib
import struct
import sys

HERE = pathlib.Path(__file__).resolve().parent
THREADS = @THREADS@
# ONNX element type: NumPy's code, bytes. Types that NumPy does not have are raw unsigned integers.
TYPES = {1: ("<f4", 4), 2: ("|u1", 1), 3: ("|i1", 1), 4: ("<u2", 2), 5: ("<i2", 2), 6: ("<i4", 4), 7: ("<i8", 8),
         9: ("|b1", 1), 10: ("<f2", 2), 11: ("<f8", 8), 12: ("<u4", 4), 13: ("<u8", 8), 16: ("<u2", 2)}


class Port(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("dtype", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("dims", ctypes.POINTER(ctypes.c_int64)), ("alias", ctypes.c_int32),
                ("extents", ctypes.POINTER(ctypes.c_int32)), ("slopes", ctypes.POINTER(ctypes.c_int64))]

    @property
    def shape(self):
        return tuple(self.dims[:self.rank])

    @property
    def size(self):
        return math.prod(self.shape) * TYPES[self.dtype][1]


class Io(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ("inputs", "outputs", "input_dims", "output_dims")]


class Info(ctypes.Structure):
    _fields_ = [("abi", ctypes.c_uint32), ("flags", ctypes.c_uint32), ("build_id", ctypes.c_char_p),
                ("generator", ctypes.c_char_p), ("arena_bytes", ctypes.c_uint64), ("weights_bytes", ctypes.c_uint64),
                ("weights", ctypes.c_void_p), ("input_count", ctypes.c_int32), ("output_count", ctypes.c_int32),
                ("inputs", ctypes.POINTER(Port)), ("outputs", ctypes.POINTER(Port)),
                ("run", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(Io),
                                         ctypes.c_void_p)),
                ("symbol_count", ctypes.c_int32), ("bounds", ctypes.POINTER(ctypes.c_int64)),
                ("symbols", ctypes.POINTER(ctypes.c_char_p)), ("least", ctypes.POINTER(ctypes.c_int64)),
                ("derived_count", ctypes.c_int32), ("derived", ctypes.c_void_p)]


def aligned(size):
    """A buffer and the address of its first 4096-byte boundary."""
    buffer = (ctypes.c_char * (size + 4096))()
    return buffer, -(-ctypes.addressof(buffer) // 4096) * 4096


class Model:
    def __init__(self, threads=THREADS, folder=HERE):
        self.library = ctypes.CDLL(str(pathlib.Path(folder) / "model.so"))
        self.library.model_artifact.restype = ctypes.POINTER(Info)
        self.info = self.library.model_artifact().contents
        self.inputs = self.info.inputs[:self.info.input_count]
        self.outputs = self.info.outputs[:self.info.output_count]
        self.arenas = []  # free ones; each running call has its own
        self.team = None
        if threads > 1:
            self.threads = ctypes.CDLL(str(pathlib.Path(folder) / "libteam.so"))
            self.threads.team_start.restype = ctypes.c_void_p
            self.threads.team_start.argtypes = [ctypes.c_int32]
            self.team = self.threads.team_start(threads)
            if not self.team:
                raise OSError(f"cannot start {threads} threads")

    def __call__(self, *values):
        if len(values) != len(self.inputs):
            raise ValueError(f"{len(values)} inputs given, the model has {len(self.inputs)}")
        held, at, given = [], [], []
        for port, value in zip(self.inputs, values):
            data = bytes(memoryview(value).cast("B")) if not isinstance(value, bytes) else value
            if len(data) != port.size:
                raise ValueError(f"input {port.name.decode()!r} has {len(data)} bytes, needs {port.size}: "
                                 f"{TYPES[port.dtype][0]}{list(port.shape)}")
            buffer, address = aligned(len(data))
            ctypes.memmove(address, data, len(data))
            held.append(buffer)
            at.append(address)
            given.append((ctypes.c_int64 * max(1, port.rank))(*port.shape))
        places, sizes = [], []
        for port in self.outputs:
            buffer, address = aligned(port.size)
            held.append(buffer)
            places.append(at[port.alias] if port.alias >= 0 else address)
            sizes.append((ctypes.c_int64 * max(1, port.rank))(*port.shape))
        lists = [(ctypes.c_void_p * max(1, len(items)))(*items) for items in
                 (at, places, map_addresses(given), map_addresses(sizes))]
        io = Io(*[ctypes.addressof(items) for items in lists])
        try:
            arena = self.arenas.pop()
        except IndexError:
            arena = aligned(self.info.arena_bytes)
        status = self.info.run(self.info.weights, arena[1], ctypes.byref(io), self.team)
        self.arenas.append(arena)
        if status:
            raise RuntimeError(f"the model failed with status {status}")
        found = []
        for port, place, size in zip(self.outputs, places, sizes):
            shape = tuple(size[:port.rank])
            code, width = TYPES[port.dtype]
            found.append((code, shape, bytearray(ctypes.string_at(place, math.prod(shape) * width))))
        return found


def map_addresses(items):
    return [ctypes.addressof(item) for item in items]


def read_npy(path):
    """The elements of a .npy file (NEP 1) in C order, or the whole file as raw elements."""
    data = pathlib.Path(path).read_bytes()
    if data[:6] != b"\x93NUMPY":
        return data
    length, start = (struct.unpack("<H", data[8:10])[0], 10) if data[6] == 1 else (struct.unpack("<I", data[8:12])[0], 12)
    header = ast.literal_eval(data[start:start + length].decode("latin1"))
    if header["fortran_order"] and len(header["shape"]) > 1:
        raise ValueError(f"{path}: Fortran order; save it with numpy.ascontiguousarray")
    return data[start + length:]


def write_npy(path, code, shape, data):
    header = f"{{'descr': '{code}', 'fortran_order': False, 'shape': {shape!r}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("inputs", nargs="*", help=".npy files or raw elements, in the model's order")
    parser.add_argument("-o", default=".", help="folder of output_0.npy, ...")
    parser.add_argument("--threads", type=int, default=THREADS)
    options = parser.parse_args()
    outputs = Model(options.threads)(*[read_npy(path) for path in options.inputs])
    os.makedirs(options.o, exist_ok=True)
    for i, output in enumerate(outputs):
        write_npy(pathlib.Path(options.o) / f"output_{i}.npy", *output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
