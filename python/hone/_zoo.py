"""Models of PyTorch's libraries, and of a user's own files, as ONNX or torch.export's .pt2.

Weights are drawn from a seed: nothing is downloaded, and the same version of a library gives the same file.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.util
import inspect
import os
import pathlib
import sys
import tempfile
from typing import Any, Iterator

SOURCES = "torchvision, timm, transformers, torch_geometric, ultralytics"
Example = tuple[Any, tuple[Any, ...]]  # a module and what it is called with


class Refusal(Exception):
    """A message for the user and the exit code that goes with it."""

    def __init__(self, code: int, text: str):
        super().__init__(text)
        self.code = code


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Refusal(69, f"{name} cannot be imported ({error}): pip install {name.partition('.')[0]}") from None


def _torchvision(name: str, size: int | None, settings: dict[str, Any]) -> Example:
    import torch
    models = _library("torchvision").models
    if name not in models.list_models():
        raise Refusal(66, f"torchvision has no model {name}; it has {', '.join(models.list_models(module=models)[:6])} ...")
    size = size or 224
    return models.get_model(name, weights=None, **settings), (torch.randn(1, 3, size, size),)


def _timm(name: str, size: int | None, settings: dict[str, Any]) -> Example:
    import torch
    timm = _library("timm")
    if not timm.is_model(name):
        near = timm.list_models(f"*{name.split('_')[0]}*")[:6]
        raise Refusal(66, f"timm has no model {name}; it has {', '.join(near) or 'none like it'}")
    if size and "img_size" in inspect.signature(timm.models.vision_transformer.VisionTransformer).parameters \
            and "vit" in name:
        settings = {"img_size": size, **settings}
    module = timm.create_model(name, pretrained=False, **settings)
    channels, *sides = module.pretrained_cfg.get("input_size", (3, 224, 224))
    return module, (torch.randn(1, channels, *([size, size] if size else sides)),)


def _transformers(name: str, size: int | None, settings: dict[str, Any]) -> Example:
    """NAME is a type of configuration (bert, t5, gpt2, vit); the head is AutoModel's."""
    import torch
    library = _library("transformers")
    try:
        config = library.AutoConfig.for_model(name, **settings)
    except ValueError:
        raise Refusal(66, f"transformers knows no configuration {name}; bert, gpt2, t5, vit are some") from None
    config.use_cache = False
    model = library.AutoModel.from_config(config)

    class First(torch.nn.Module):
        """The first output alone, by position."""

        def __init__(self, names: list[str]):
            super().__init__()
            self.model, self.names = model, names

        def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
            first: torch.Tensor = self.model(**dict(zip(self.names, inputs)))[0]
            return first

    if model.main_input_name == "pixel_values":
        side = size or config.image_size
        return First(["pixel_values"]), (torch.randn(1, config.num_channels, side, side),)
    ids = torch.randint(0, config.vocab_size, (1, size or 16))
    if config.is_encoder_decoder:
        return First(["input_ids", "decoder_input_ids"]), (ids, ids.clone())
    return First(["input_ids"]), (ids,)


def _torch_geometric(name: str, size: int | None, settings: dict[str, Any]) -> Example:
    """NAME is a network of torch_geometric.nn.models (GCN, GraphSAGE, GIN, GAT). Which nodes have an edge to themselves would be
    asked of the data, in sizes that only they tell: the example's edges hold one for each node, and no layer adds more."""
    import torch
    models = _library("torch_geometric.nn").models
    made = getattr(models, name, None)
    if not inspect.isclass(made) or not issubclass(made, models.basic_gnn.BasicGNN):
        raise Refusal(66, f"torch_geometric has no network {name}; GCN, GraphSAGE, GIN, GAT are some")
    settings = {"in_channels": 16, "hidden_channels": 32, "num_layers": 2, "out_channels": 7, **settings}
    module, nodes = made(**settings), size or 100
    for layer in module.modules():
        if hasattr(layer, "add_self_loops"):
            layer.add_self_loops = False
    ends = torch.arange(nodes)
    others = (ends.repeat(4) + torch.randint(1, nodes, (4 * nodes,))) % nodes
    edges = torch.stack([torch.cat([others, ends]), ends.repeat(5)])
    return module, (torch.randn(nodes, settings["in_channels"]), edges)


def _ultralytics(name: str, size: int | None, settings: dict[str, Any]) -> Example:
    """NAME is one of its configurations (yolov8n, yolo11n, yolov8n-seg); the network up to its decoded boxes."""
    import torch
    library = _library("ultralytics")
    try:
        module = library.YOLO(f"{name}.yaml", **settings).model
    except FileNotFoundError:
        raise Refusal(66, f"ultralytics has no configuration {name}; yolov8n, yolo11n are some") from None
    for layer in module.modules():
        if hasattr(layer, "export"):
            layer.export, layer.format = True, "onnx"
    size = size or 640
    return module, (torch.randn(1, 3, size, size),)


_BUILDERS = {"torchvision": _torchvision, "timm": _timm, "transformers": _transformers, "torch_geometric": _torch_geometric,
             "ultralytics": _ultralytics}


def _user_file(path: pathlib.Path) -> Example:
    """get_model() gives a module, get_dummy_input() a tensor or a tuple of them."""
    import torch
    spec = importlib.util.spec_from_file_location(f"hone_zoo_{path.stem}", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.resolve().parent))  # what it imports from beside it, as if it were run itself
    spec.loader.exec_module(module)
    for name in ("get_model", "get_dummy_input"):
        if not callable(getattr(module, name, None)):
            raise Refusal(65, f"{path} has no function {name}()")
    model, inputs = module.get_model(), module.get_dummy_input()
    inputs = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    if not isinstance(model, torch.nn.Module) or not all(isinstance(x, torch.Tensor) for x in inputs):
        raise Refusal(65, f"{path}: get_model() must give a torch.nn.Module and get_dummy_input() tensors")
    return model, inputs


def build(name: str, zoo_dir: str | None, size: int | None, settings: dict[str, Any], seed: int) -> Example:
    """The module in evaluation mode, and example inputs."""
    import torch
    torch.manual_seed(seed)
    source, _, model = name.partition(":")
    if source in _BUILDERS and model:
        module, inputs = _BUILDERS[source](model, size, settings)
    else:
        path = pathlib.Path(zoo_dir or ".") / f"{name}.py"
        if not path.is_file():
            raise Refusal(66, f"there is no {path}; a model of a library is SOURCE:NAME, of {SOURCES}")
        module, inputs = _user_file(path)
    return module.eval(), inputs


MARKS = {".h": b"/", ".json": b"{", ".onnx": b"\x08", ".pt2": b"PK", ".so": b"\x7fELF"}


def check_output(path: str, *inputs: str) -> None:
    """As hone's own outputs: what is no regular file of that kind, or is an input, is never replaced."""
    why = None
    if os.path.exists(path):
        mark = MARKS.get(os.path.splitext(path)[1], b"")
        if not os.path.isfile(path):
            why = "is no regular file"
        elif any(os.path.exists(i) and os.path.samefile(path, i) for i in inputs):
            why = "is an input of this command, never an output"
        elif os.path.getsize(path) and open(path, "rb").read(len(mark)) != mark:
            why = "a file of another kind is there; it was left as it is"
    elif not os.path.isdir(os.path.dirname(os.path.abspath(path))):
        why = "its folder is not there"
    if why:
        raise Refusal(77, f"{path}: {why}")


@contextlib.contextmanager
def whole(path: str, *inputs: str) -> Iterator[str]:
    """A name to write to, of the same ending; what is there becomes path at the end, complete or not at all."""
    check_output(path, *inputs)
    folder, name = os.path.split(os.path.abspath(path))
    with tempfile.TemporaryDirectory(prefix=".hone-", dir=folder) as beside:
        partial = os.path.join(beside, name)  # the archive in a .pt2 is called as its file
        yield partial
        os.replace(partial, path)


def save(module: Any, inputs: tuple[Any, ...], path: str) -> None:
    """As ONNX (opset 18) or as .pt2, by the ending."""
    import torch
    with whole(path) as partial, torch.no_grad():
        if path.endswith(".pt2"):
            # no decompositions: what this does is to take writes into tensors out
            torch.export.save(torch.export.export(module, inputs).run_decompositions({}), partial)
        else:
            torch.onnx.export(module, inputs, partial, dynamo=True, opset_version=18, external_data=False, verbose=False)


def _output(name: str, output: str) -> str:
    """A folder (it ends in /) gets NAME.onnx, or NAME.pt2 where torch lacks what its ONNX exporter needs."""
    if not output.endswith("/"):
        return output
    ending = "onnx" if importlib.util.find_spec("onnxscript") else "pt2"
    return os.path.join(output, f"{name.rpartition(':')[2]}.{ending}")


def _setting(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals:
        raise Refusal(2, f"--set {text}: as --set num_hidden_layers=2")
    for kind in (int, float):
        try:
            return key, kind(value)
        except ValueError:
            pass
    return key, {"true": True, "false": False}.get(value, value)


def listed(zoo_dir: str) -> list[str]:
    """Names of the models in a folder: files with both functions, which are not run."""
    found = []
    for path in sorted(pathlib.Path(zoo_dir).glob("*.py")):
        text = path.read_text(errors="replace")
        if "def get_model" in text and "def get_dummy_input" in text:
            found.append(path.stem)
    return found


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m hone zoo", description=__doc__.splitlines()[0])
    parser.add_argument("verb", choices=("write", "list"))
    parser.add_argument("model", nargs="?", help=f"SOURCE:NAME of {SOURCES}; or NAME, a file NAME.py in --zoo-dir, whose code is run")
    parser.add_argument("-o", "--output", help="FILE.onnx or FILE.pt2")
    parser.add_argument("--zoo-dir", help="folder of files with get_model() and get_dummy_input()")
    parser.add_argument("--size", type=int, help="side of the picture, or length of the sequence")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="an argument of the model's constructor or configuration")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)
    try:
        if options.verb == "list":
            print("\n".join(listed(options.zoo_dir or ".")))
            return 0
        if not options.model or not options.output or not options.output.endswith((".onnx", ".pt2", "/")):
            raise Refusal(2, "python -m hone zoo write MODEL -o FILE.onnx or FILE.pt2, or FOLDER/")
        _library("torch")
        output = _output(options.model, options.output)
        check_output(output)
        module, inputs = build(options.model, options.zoo_dir, options.size, dict(map(_setting, options.set)), options.seed)
        save(module, inputs, output)
    except Refusal as refusal:
        print(f"hone: {refusal}", file=sys.stderr)
        return refusal.code
    print(output)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
