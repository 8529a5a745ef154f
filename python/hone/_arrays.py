"""Arrays of NumPy, torch and whatever speaks DLPack as hone_tensor, without a copy where the memory is dense."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ._lib import MAX_RANK, Tensor

# ONNX TensorProto.DataType, as hone.h numbers them. NumPy has no bfloat16: its bits travel as uint16.
DTYPES = {1: np.float32, 2: np.uint8, 3: np.int8, 4: np.uint16, 5: np.int16, 6: np.int32, 7: np.int64, 9: np.bool_,
          10: np.float16, 11: np.float64, 12: np.uint32, 13: np.uint64, 16: np.uint16}


def is_torch(x: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.Tensor)


def to_numpy(x: Any) -> np.ndarray:
    """The same memory as an array, if x is an array, a torch tensor on the CPU, or exports DLPack."""
    if isinstance(x, np.ndarray):
        return x
    if is_torch(x):
        import torch
        x = x.detach()
        if x.device.type != "cpu":
            raise TypeError(f"a tensor on {x.device}: hone computes on the CPU; call .cpu() first")
        array: np.ndarray = x.view(torch.uint16).numpy() if x.dtype == torch.bfloat16 else x.numpy()
        return array
    if hasattr(x, "__dlpack__"):
        return np.from_dlpack(x)
    return np.asarray(x)


def describe(array: np.ndarray, dtype: int) -> Tensor:
    if array.ndim > MAX_RANK:
        raise ValueError(f"{array.ndim} dimensions: at most {MAX_RANK}")
    tensor = Tensor(data=array.ctypes.data, dtype=dtype, rank=array.ndim)
    tensor.shape[:array.ndim] = array.shape
    return tensor


def to_torch(array: np.ndarray, dtype: int) -> Any:
    import torch
    tensor = torch.from_numpy(array)
    return tensor.view(torch.bfloat16) if dtype == 16 else tensor
