"""Calls a compiled .so as its header declares; every input and output ends at a guard page."""

import ctypes
import mmap
import pathlib

import numpy as np

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
PAGE = mmap.PAGESIZE
SYMBOLS, SIZES = 4, 64  # as in artifact.h
DTYPES = {1: np.float32, 2: np.uint8, 3: np.int8, 6: np.int32, 7: np.int64, 9: np.bool_, 11: np.float64}


class Port(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("dtype", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("dims", ctypes.POINTER(ctypes.c_int64)), ("alias", ctypes.c_int32),
                ("extents", ctypes.POINTER(ctypes.c_int32)),
                ("slopes", ctypes.POINTER(ctypes.c_int64))]


class Io(ctypes.Structure):
    _fields_ = [("inputs", ctypes.c_void_p), ("outputs", ctypes.c_void_p), ("input_dims", ctypes.c_void_p),
                ("output_dims", ctypes.c_void_p)]


RUN = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(Io), ctypes.c_void_p)


class Derived(ctypes.Structure):
    _fields_ = [("bound", ctypes.c_int64), ("a", ctypes.c_int64), ("b", ctypes.c_int64), ("a_slopes", ctypes.c_int64 * SIZES),
                ("b_slopes", ctypes.c_int64 * SIZES), ("divisor", ctypes.c_int64)]


class Info(ctypes.Structure):
    _fields_ = [("abi", ctypes.c_uint32), ("flags", ctypes.c_uint32), ("build_id", ctypes.c_char_p),
                ("generator", ctypes.c_char_p), ("arena_bytes", ctypes.c_uint64), ("weights_bytes", ctypes.c_uint64),
                ("weights", ctypes.c_void_p), ("input_count", ctypes.c_int32), ("output_count", ctypes.c_int32),
                ("inputs", ctypes.POINTER(Port)), ("outputs", ctypes.POINTER(Port)), ("run", RUN),
                ("symbol_count", ctypes.c_int32), ("bounds", ctypes.POINTER(ctypes.c_int64)),
                ("symbols", ctypes.POINTER(ctypes.c_char_p)), ("least", ctypes.POINTER(ctypes.c_int64)),
                ("derived_count", ctypes.c_int32), ("derived", ctypes.POINTER(Derived))]


class Guarded:
    """size bytes between two pages that may not be touched, the last byte at the end of its page."""

    def __init__(self, size, fill=0xA5):
        pages = max(1, -(-size // PAGE))
        self.map = mmap.mmap(-1, (pages + 2) * PAGE)
        self.start = ctypes.addressof(ctypes.c_char.from_buffer(self.map))
        self.at = self.start + (1 + pages) * PAGE - size
        for page in (self.start, self.start + (1 + pages) * PAGE):
            assert LIBC.mprotect(page, PAGE, 0) == 0
        ctypes.memset(self.start + PAGE, fill, pages * PAGE)


def slope(port, d):
    """How much dimension d shrinks for each step that a dynamic dimension is below its bound: one factor per dynamic dimension."""
    return [port.slopes[k * port.rank + d] if port.slopes else 0 for k in range(SIZES)]


def shape_of(port, less):
    return tuple(port.dims[d] - sum(s * n for s, n in zip(slope(port, d), less)) for d in range(port.rank))


class Artifact:
    def __init__(self, path, prefix=None, features=None):
        """features: the processor features to assume when the artifact has several levels."""
        self.library = ctypes.CDLL(str(path))
        prefix = prefix or pathlib.Path(path).stem  # as hone names the symbols of FILE.so
        entry = getattr(self.library, prefix + "_artifact")
        entry.restype = ctypes.POINTER(Info)
        if features is not None:
            entry = getattr(self.library, prefix + "_of_processor")
            entry.argtypes, entry.restype = [ctypes.c_uint32], ctypes.POINTER(Info)
        self.info = entry().contents if features is None else entry(features).contents
        arena = self.info.arena_bytes
        self.block = Guarded(-(-arena // 64) * 64)

    def bounds(self):
        return {self.info.symbols[k].decode(): self.info.bounds[k] for k in range(self.info.symbol_count)}

    def __call__(self, *arrays, expect=0, fill=0xA5):
        """The outputs; the inputs' shapes set the dynamic dimensions. fill: the byte that fills the arena before the call."""
        info = self.info
        held, pointers, dims, less = [], [], [], [0] * SIZES
        for port, array in zip(info.inputs[:info.input_count], arrays):
            array = np.ascontiguousarray(array, DTYPES[port.dtype])
            block = Guarded(array.nbytes)
            ctypes.memmove(block.at, array.ctypes.data, array.nbytes)
            held.append(block)
            pointers.append(block.at)
            dims.append((ctypes.c_int64 * max(1, port.rank))(*array.shape))
            for d in range(port.rank):
                if sum(map(bool, slope(port, d))) == 1:
                    k = next(k for k in range(SIZES) if slope(port, d)[k])
                    less[k] = (port.dims[d] - array.shape[d]) // slope(port, d)[k]
        for j, size in enumerate(info.derived[:info.derived_count]):
            a, b = (bound - sum(s * n for s, n in zip(slopes, less))
                    for bound, slopes in ((size.a, size.a_slopes), (size.b, size.b_slopes)))
            less[SYMBOLS + j] = size.bound - a * b // size.divisor
        shapes = [shape_of(port, less) for port in info.outputs[:info.output_count]]
        dtypes = [DTYPES[port.dtype] for port in info.outputs[:info.output_count]]
        outputs = [Guarded(max(0, int(np.prod(s))) * np.dtype(t).itemsize) for s, t in zip(shapes, dtypes)]
        said = [(ctypes.c_int64 * max(1, len(s)))() for s in shapes]
        array = lambda items: (ctypes.c_void_p * max(1, len(items)))(*items)
        io_lists = [array(pointers), array([o.at for o in outputs]), array([ctypes.addressof(d) for d in dims]),
                    array([ctypes.addressof(s) for s in said])]
        io = Io(*[ctypes.addressof(x) for x in io_lists])
        ctypes.memset(self.block.at, fill, info.arena_bytes)
        status = info.run(info.weights, self.block.at, ctypes.byref(io), None)
        assert status == expect, status
        if status:
            return None
        for k, (port, got) in enumerate(zip(info.outputs[:info.output_count], said)):
            for d, size in enumerate(shapes[k]):  # data decide those with an extent
                assert got[d] <= size if port.extents[d] else got[d] == size
            shapes[k] = tuple(got[:len(shapes[k])])
        return [np.frombuffer(ctypes.string_at(o.at, int(np.prod(s)) * np.dtype(t).itemsize), t).reshape(s)
                for o, s, t in zip(outputs, shapes, dtypes)]
