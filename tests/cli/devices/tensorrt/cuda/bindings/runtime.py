"""The functions of cuda-bindings that the worker calls; only they can access the memory of the mock device."""

import ctypes
import enum
import os

import stand_in

BLOCKS, COUNT = {}, {"devices": 0 if os.environ.get("FAULT") == "no_device" else 1}


class cudaError_t(enum.IntEnum):
    cudaSuccess, cudaErrorInvalidValue, cudaErrorMemoryAllocation, cudaErrorNoDevice = 0, 1, 2, 100


class cudaMemcpyKind(enum.IntEnum):
    cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost = 1, 2


class Properties:
    name = b"Stand-in GPU"


def cudaGetDeviceCount():
    return (cudaError_t.cudaSuccess, 1) if COUNT["devices"] else (cudaError_t.cudaErrorNoDevice, 0)


def cudaGetDeviceProperties(device):
    return cudaError_t.cudaSuccess, Properties


def cudaMalloc(size):
    if os.environ.get("FAULT") == "full":
        return cudaError_t.cudaErrorMemoryAllocation, None
    block = ctypes.create_string_buffer(b"\xff" * size, size)
    BLOCKS[ctypes.addressof(block)] = block
    return cudaError_t.cudaSuccess, ctypes.addressof(block)


cudaMallocHost = cudaMalloc


def cudaMemcpy(to, source, size, kind):
    device = to if kind == cudaMemcpyKind.cudaMemcpyHostToDevice else source
    if device not in BLOCKS:
        return (cudaError_t.cudaErrorInvalidValue,)
    ctypes.memmove(to, source, size)
    return (cudaError_t.cudaSuccess,)


def cudaMemcpyAsync(to, source, size, kind, stream):
    stand_in.copy_to_host()
    return cudaMemcpy(to, source, size, kind)


def cudaEventCreate():
    return cudaError_t.cudaSuccess, stand_in.Clock()


def cudaEventRecord(event, stream):
    event.record()
    return (cudaError_t.cudaSuccess if stream == 7 else cudaError_t.cudaErrorInvalidValue,)


def cudaEventElapsedTime(begin, end):
    return cudaError_t.cudaSuccess, begin.elapsed_time(end)


def cudaMemset(to, value, size):
    ctypes.memset(to, value, size)
    return (cudaError_t.cudaSuccess,)


def cudaStreamCreate():
    return cudaError_t.cudaSuccess, 7


def cudaStreamSynchronize(stream):
    return (cudaError_t.cudaSuccess if stream == 7 else cudaError_t.cudaErrorInvalidValue,)
