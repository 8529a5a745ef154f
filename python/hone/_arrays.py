"""Arrays of NumPy, torch and other DLPack libraries as hone_tensor, without a copy if the memory is dense."""

from __future__ import annotations

import ctypes
import sys
from typing import Any

import numpy as np

from ._lib import MAX_RANK, HoneError, Tensor

# ONNX TensorProto.DataType, as in hone.h. NumPy has no bfloat16: its bits are passed as uint16.
DTYPES = {1: np.float32, 2: np.uint8, 3: np.int8, 4: np.uint16, 5: np.int16, 6: np.int32, 7: np.int64, 8: np.str_,
          9: np.bool_, 10: np.float16, 11: np.float64, 12: np.uint32, 13: np.uint64, 16: np.uint16}
STRING = 8
TEXT = np.dtype([("at", np.uintp), ("length", np.uintp)])  # hone_string


def is_torch(x: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.Tensor)


def to_numpy(x: Any) -> np.ndarray:
    """x as an array without a copy, if x is an array, a torch tensor on the CPU, or exports DLPack."""
    if isinstance(x, np.ndarray):
        return x
    if is_torch(x):
        import torch
        if x.requires_grad and torch.is_grad_enabled():
            raise HoneError("E_USAGE", "an input requires a gradient, and a compiled model has no backward pass: "
                                       "call it under torch.no_grad(), or with x.detach()")
        x = x.detach()
        if x.device.type != "cpu":
            raise TypeError(f"a tensor on {x.device}: hone computes on the CPU; call .cpu() first")
        array: np.ndarray = x.view(torch.uint16).numpy() if x.dtype == torch.bfloat16 else x.numpy()
        return array
    if hasattr(x, "__dlpack__"):
        return np.from_dlpack(x)
    return np.asarray(x)


def fits(array: np.ndarray, dtype: np.dtype) -> bool:
    """True if the types fit; strings may have any width, or be bytes or objects."""
    return array.dtype == dtype if dtype.kind != "U" else array.dtype.kind in "USO"


def hold(array: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The array in hone's dense form, and the object that owns its strings."""
    if array.dtype.kind not in "USO":
        return (array if array.flags.c_contiguous else np.ascontiguousarray(array)), array
    texts = [x if isinstance(x, bytes) else str(x).encode() for x in array.ravel().tolist()]
    lengths = np.array([len(x) for x in texts], np.uintp)
    data = np.frombuffer(b"".join(texts) + b"\0", np.uint8)
    made = np.empty(len(texts), TEXT)
    made["at"], made["length"] = data.ctypes.data + np.cumsum(lengths) - lengths, lengths
    return made.reshape(array.shape), data


def room(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    return np.empty(shape, TEXT if dtype.kind == "U" else dtype)


def give(array: np.ndarray, dtype: int, as_torch: bool) -> Any:
    """An output array in the caller's form."""
    if array.dtype != TEXT:
        return to_torch(array, dtype) if as_torch else array
    texts = [ctypes.string_at(at, length).decode(errors="replace") for at, length in array.ravel().tolist()]
    return np.array(texts, np.str_).reshape(array.shape)


def describe(array: np.ndarray, dtype: int) -> Tensor:
    if array.ndim > MAX_RANK:
        raise ValueError(f"{array.ndim} dimensions: at most {MAX_RANK}")
    if dtype == STRING and array.dtype != TEXT:
        raise TypeError("run_into does not support strings; call the model instead")
    tensor = Tensor(data=array.ctypes.data, dtype=dtype, rank=array.ndim)
    tensor.shape[:array.ndim] = array.shape
    return tensor


def to_torch(array: np.ndarray, dtype: int) -> Any:
    import torch
    tensor = torch.from_numpy(array)
    return tensor.view(torch.bfloat16) if dtype == 16 else tensor
