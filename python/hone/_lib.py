"""libhone through ctypes: the functions of hone.h that the package uses, and their errors as exceptions."""

from __future__ import annotations

import ctypes
import os
import pathlib
import threading

MAX_RANK = 16


class HoneError(RuntimeError):
    """A failure of libhone. `id` is its stable name ("E_SHAPE"); the message says what is wrong, where, and what to do."""

    def __init__(self, identifier: str, message: str) -> None:
        super().__init__(message)
        self.id = identifier


class Tensor(ctypes.Structure):
    """hone_tensor: dense, row-major, memory of the caller."""

    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_int), ("rank", ctypes.c_int32),
                ("shape", ctypes.c_int64 * MAX_RANK)]


class LoadOptions(ctypes.Structure):
    _fields_ = [("shapes", ctypes.c_char_p), ("side_files_from", ctypes.c_char_p)]


class CompileOptions(ctypes.Structure):
    _fields_ = [("cpu", ctypes.c_char_p), ("cc", ctypes.c_char_p), ("prefix", ctypes.c_char_p),
                ("debug", ctypes.c_int32)]


class GeneratorOptions(ctypes.Structure):
    _fields_ = [("cpu", ctypes.c_char_p), ("cc", ctypes.c_char_p), ("threads", ctypes.c_int32), ("context", ctypes.c_int64)]


class Message(ctypes.Structure):
    _fields_ = [("role", ctypes.c_char_p), ("content", ctypes.c_char_p)]


class GenerateOptions(ctypes.Structure):
    _fields_ = [("new_tokens", ctypes.c_int64), ("temperature", ctypes.c_double), ("top_k", ctypes.c_int32), ("top_p", ctypes.c_double),
                ("min_p", ctypes.c_double), ("seed", ctypes.c_uint64), ("stops", ctypes.POINTER(ctypes.c_char_p)),
                ("stop_count", ctypes.c_size_t), ("ignore_end", ctypes.c_int32)]


class Generated(ctypes.Structure):
    _fields_ = [("prompt_tokens", ctypes.c_int64), ("cached_tokens", ctypes.c_int64), ("new_tokens", ctypes.c_int64),
                ("tokens", ctypes.POINTER(ctypes.c_int32)), ("reason", ctypes.c_char_p), ("first_token_ms", ctypes.c_double),
                ("rest_ms", ctypes.c_double)]


Piece = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


def _find(name: str, variable: str) -> pathlib.Path | None:
    """The file named by the environment variable, else that of the package, else that of the surrounding source tree."""
    if os.environ.get(variable):
        return pathlib.Path(os.environ[variable])
    here = pathlib.Path(__file__).resolve().parent
    for place in (here / "_native" / name, here.parent.parent / "build" / name):
        if place.exists():
            return place
    return None


def command() -> str:
    """The `hone` command: $HONE, else that of the package, else that in PATH."""
    found = _find("hone", "HONE")
    return str(found) if found else "hone"


def _load() -> ctypes.CDLL:
    found = _find("libhone.so", "HONE_LIBRARY")
    library = ctypes.CDLL(str(found) if found else "libhone.so.0")
    pointer, text, size = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t
    out, tensor = ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(Tensor)
    signatures = {
        "hone_version": (text, []),
        "hone_status_name": (text, [ctypes.c_int]),
        "hone_context_create": (ctypes.c_int, [out]),
        "hone_context_destroy": (None, [pointer]),
        "hone_context_message": (text, [pointer]),
        "hone_model_load": (ctypes.c_int, [pointer, text, ctypes.POINTER(LoadOptions), out]),
        "hone_model_destroy": (None, [pointer]),
        "hone_model_alias": (ctypes.c_int, [pointer, pointer, text, text]),
        "hone_model_compile": (ctypes.c_int, [pointer, pointer, ctypes.POINTER(CompileOptions), text]),
        "hone_artifact_open": (ctypes.c_int, [pointer, text, ctypes.c_int32, out]),
        "hone_artifact_close": (None, [pointer]),
        "hone_artifact_input_count": (size, [pointer]),
        "hone_artifact_output_count": (size, [pointer]),
        "hone_artifact_input": (ctypes.c_int, [pointer, size, ctypes.POINTER(text), tensor]),
        "hone_artifact_output": (ctypes.c_int, [pointer, size, ctypes.POINTER(text), tensor]),
        "hone_artifact_is_dynamic": (ctypes.c_int32, [pointer]),
        "hone_artifact_shapes": (ctypes.c_int, [pointer, pointer, tensor, size, tensor, size]),
        "hone_artifact_run_shaped": (ctypes.c_int, [pointer, pointer, tensor, size, tensor, size,
                                                    ctypes.POINTER(ctypes.c_int64 * MAX_RANK)]),
        "hone_generator_open": (ctypes.c_int, [pointer, text, ctypes.POINTER(GeneratorOptions), out]),
        "hone_generator_close": (None, [pointer]),
        "hone_generate": (ctypes.c_int, [pointer, pointer, text, ctypes.POINTER(GenerateOptions), Piece, pointer,
                                         ctypes.POINTER(Generated)]),
        "hone_chat": (ctypes.c_int, [pointer, pointer, ctypes.POINTER(Message), size, ctypes.POINTER(GenerateOptions), Piece, pointer,
                                     ctypes.POINTER(Generated)]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


library = _load()
_local = threading.local()


class Context:
    """hone_context: one per thread, destroyed with the thread."""

    def __init__(self) -> None:
        self.handle = ctypes.c_void_p()
        if library.hone_context_create(ctypes.byref(self.handle)):
            raise MemoryError("no memory for a context of libhone")

    def __del__(self) -> None:
        if getattr(self, "handle", None):
            library.hone_context_destroy(self.handle)


def context() -> Context:
    if not hasattr(_local, "context"):
        _local.context = Context()
    found: Context = _local.context
    return found


def check(status: int, of: Context) -> None:
    if status:
        raise HoneError(library.hone_status_name(status).decode(),
                        library.hone_context_message(of.handle).decode(errors="replace"))


def version() -> str:
    text: bytes = library.hone_version()
    return text.decode()
