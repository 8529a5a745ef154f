"""hone: the fastest correct way to run a model on this machine.

    m = hone.compile("model.onnx")        # or a torch module with example inputs, or "zoo:NAME"
    y = m(x)                              # NumPy arrays or torch tensors, no copies
    m.save("model.so")                    # a library that needs nothing but libc and libm; or .c, .a, a program
    m = hone.load("model.so")             # without compiling it again
    m = hone.load("model.gguf")           # a language model
    for piece in m.generate("Once upon a time"): print(piece, end="", flush=True)
    hone.bench(["model.onnx"], backends="native,onnxruntime")
"""

from ._bench import Study, bench
from ._generate import LanguageModel, Text
from ._lib import HoneError, version
from ._model import Model, Port, compile, load

__version__ = version()
__all__ = ["HoneError", "LanguageModel", "Model", "Port", "Study", "Text", "bench", "compile", "load", "version"]
