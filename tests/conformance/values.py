"""Converts values of the suite to files that the tools read, and back.

A tensor is a .npy file. Types that NumPy lacks are written as their codes: 16 and 8 bits as unsigned
integers, 4 and 2 bits as one byte per element; strings as NumPy's "U". A sequence is one file per
element; an absent optional has no file.
"""

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

# element type -> its storage type in a file, its own type
STORED = {
    TensorProto.BFLOAT16: (np.uint16, ml_dtypes.bfloat16),
    TensorProto.FLOAT8E4M3FN: (np.uint8, ml_dtypes.float8_e4m3fn),
    TensorProto.FLOAT8E4M3FNUZ: (np.uint8, ml_dtypes.float8_e4m3fnuz),
    TensorProto.FLOAT8E5M2: (np.uint8, ml_dtypes.float8_e5m2),
    TensorProto.FLOAT8E5M2FNUZ: (np.uint8, ml_dtypes.float8_e5m2fnuz),
    TensorProto.FLOAT8E8M0: (np.uint8, ml_dtypes.float8_e8m0fnu),
    TensorProto.FLOAT4E2M1: (np.uint8, ml_dtypes.float4_e2m1fn),
    TensorProto.INT4: (np.int8, ml_dtypes.int4),
    TensorProto.UINT4: (np.uint8, ml_dtypes.uint4),
    TensorProto.INT2: (np.int8, ml_dtypes.int2),
    TensorProto.UINT2: (np.uint8, ml_dtypes.uint2),
}
INTEGERS = (TensorProto.INT4, TensorProto.UINT4, TensorProto.INT2, TensorProto.UINT2)
ELEMENT = {np.dtype(meaning): element for element, (_, meaning) in STORED.items()}


def as_array(value):
    """A tensor of any kind as an array of its own type; text as "U"."""
    array = numpy_helper.to_array(value) if isinstance(value, TensorProto) else np.asarray(value)
    if array.dtype.kind in "OSU":
        flat = [t.decode() if isinstance(t, bytes) else str(t) for t in array.ravel()]
        array = np.array(flat, dtype=str).reshape(array.shape)
    return array


def save(path, value):
    array = as_array(value)
    element = ELEMENT.get(array.dtype)
    if element is not None:
        stored, _ = STORED[element]
        array = array.astype(stored) if element in INTEGERS else array.view(stored)
    np.save(path, array)


def load(path, element):
    """The array in the file, of the given element type (0: the file's own)."""
    array = np.load(path)
    if element not in STORED:
        return array
    stored, meaning = STORED[element]
    if array.dtype != stored:
        return array
    return array.astype(meaning) if element in INTEGERS else array.view(meaning)


def element_type(info):
    """The element type of a graph input or output; for a sequence, of its tensors. 0 if it has no tensors."""
    kind = info.type
    while True:
        name = kind.WhichOneof("value")
        if name == "tensor_type":
            return kind.tensor_type.elem_type
        if name not in ("sequence_type", "optional_type"):
            return 0
        kind = getattr(kind, name).elem_type


def read_file(path, info):
    """A .pb file of a data set: a tensor, a sequence or an optional, as its type says."""
    kind = info.type.WhichOneof("value")
    proto = {"tensor_type": TensorProto, "sequence_type": onnx.SequenceProto}.get(kind, onnx.OptionalProto)()
    proto.ParseFromString(path.read_bytes())
    if kind == "tensor_type":
        return proto
    return numpy_helper.to_list(proto) if kind == "sequence_type" else numpy_helper.to_optional(proto)
