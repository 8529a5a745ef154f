"""Models of PyTorch's libraries, and of the user's files, as ONNX or torch.export's .pt2.

Weights are drawn from a seed: nothing is downloaded, and the same version of a library gives the same file.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.util
import inspect
import json
import os
import pathlib
import sys
import tempfile
from typing import Any, Iterator

SOURCES = "torchvision, timm, transformers, diffusers, torch_geometric, ultralytics"
Example = tuple[Any, tuple[Any, ...]]  # a module and its arguments


class Refusal(Exception):
    """A message for the user with its exit code."""

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
    builder = models.get_model_builder(name)
    asked, kind = inspect.signature(builder).parameters, builder.__module__.split(".")[2]
    if "weights_backbone" in asked:
        settings = {"weights_backbone": None, **settings}
    size = size or (112 if kind == "video" else 224)
    shape = (1, 3, 16, size, size) if kind == "video" else (1, 3, size, size)
    return builder(weights=None, **settings), tuple(torch.rand(shape) for _ in range(2 if kind == "optical_flow" else 1))


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


def _first(model: Any, names: list[str], **fixed: Any) -> Any:
    """Takes inputs by position and returns the first output only."""
    import torch

    class First(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
            first: torch.Tensor = self.model(**dict(zip(names, inputs)), **fixed)[0]
            return first

    return First()


def _example(name: str, config: Any, size: int | None) -> Any:
    """Example values for an input of this name of transformers' models."""
    import torch
    part = {"pixel_values": "vision_config", "input_ids": "text_config"}.get(name, "")
    config = getattr(config, part, config)

    def of(*names: str, otherwise: int) -> int:
        found = next((getattr(config, n) for n in names if getattr(config, n, None) is not None), otherwise)
        return max(found) if isinstance(found, (list, tuple)) else int(found)

    if name == "pixel_values":
        side = size or of("image_size", otherwise=224)
        frames = [of("num_frames", otherwise=1)] if hasattr(config, "num_frames") else []
        return torch.randn(1, *frames, of("num_channels", "in_channels", otherwise=3), side, side)
    if name == "input_values" and hasattr(config, "num_mel_bins"):
        return torch.randn(1, size or of("max_length", otherwise=100), of("num_mel_bins", otherwise=80))
    if name == "input_values":
        return torch.randn(1, *([of("audio_channels", otherwise=1)] if hasattr(config, "codebook_size") else []), size or 16000)
    if name == "input_features":
        length = size or 2 * of("max_source_positions", otherwise=100)
        bands = of("num_mel_bins", "feature_size", "input_feat_per_channel", otherwise=80)
        return torch.randn(1, bands, length) if hasattr(config, "num_mel_bins") else torch.randn(1, length, bands)
    if name == "past_values":
        return torch.randn(1, size or of("context_length", otherwise=32), of("num_input_channels", otherwise=1))
    return torch.randint(0, of("vocab_size", otherwise=1000), (1, size or 16))


def _transformers(name: str, size: int | None, settings: dict[str, Any]) -> Example:
    """NAME is a type of configuration (bert, t5, gpt2, vit, wav2vec2, clip); the head is AutoModel's."""
    library = _library("transformers")
    try:
        config = library.AutoConfig.for_model(name, **settings)
    except ValueError:
        raise Refusal(66, f"transformers knows no configuration {name}; bert, gpt2, t5, vit are some") from None
    config.use_cache = False
    model = library.AutoModel.from_config(config)
    names = [model.main_input_name]
    if hasattr(config, "vision_config") and hasattr(config, "text_config"):
        names = ["input_ids", "pixel_values"]
    if getattr(config, "is_encoder_decoder", False) and "decoder_input_ids" in inspect.signature(model.forward).parameters:
        names.append("decoder_input_ids")
    sizes = {"decoder_input_ids": None} if names[0] == "input_features" else {}
    return _first(model, names), tuple(_example(n, config, sizes.get(n, size)) for n in names)


def _diffusers(name: str, size: int | None, settings: dict[str, Any]) -> Example:
    """NAME is a class of its models (UNet2DModel, UNet2DConditionModel, AutoencoderKL); one step of it, in latent space."""
    import torch
    made = getattr(_library("diffusers"), name, None)
    if not inspect.isclass(made) or not issubclass(made, torch.nn.Module):
        raise Refusal(66, f"diffusers has no model {name}; UNet2DModel, UNet2DConditionModel, AutoencoderKL are some")
    model = made(**settings)
    side = size or getattr(model.config, "sample_size", None) or 32
    image = torch.randn(1, model.config.in_channels, side, side)
    examples = {"sample": image, "hidden_states": image, "timestep": torch.tensor([10])}
    if isinstance(getattr(model.config, "cross_attention_dim", None), int):
        examples["encoder_hidden_states"] = torch.randn(1, 8, model.config.cross_attention_dim)
    if getattr(model.config, "num_embeds_ada_norm", None):
        examples["class_labels"] = torch.tensor([1])
    names = [n for n in inspect.signature(model.forward).parameters if n in examples]
    return _first(model, names, return_dict=False), tuple(examples[n] for n in names)


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


_BUILDERS = {"torchvision": _torchvision, "timm": _timm, "transformers": _transformers, "diffusers": _diffusers,
             "torch_geometric": _torch_geometric, "ultralytics": _ultralytics}


def _user_file(path: pathlib.Path) -> Example:
    """get_model() gives a module, get_dummy_input() a tensor or a tuple of them."""
    import torch
    spec = importlib.util.spec_from_file_location(f"hone_zoo_{path.stem}", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.resolve().parent))  # its imports from its own folder, as if it were run directly
    spec.loader.exec_module(module)
    for name in ("get_model", "get_dummy_input"):
        if not callable(getattr(module, name, None)):
            raise Refusal(65, f"{path} has no function {name}()")
    model, inputs = module.get_model(), module.get_dummy_input()
    inputs = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    if not isinstance(model, torch.nn.Module) or not all(isinstance(x, torch.Tensor) for x in inputs):
        raise Refusal(65, f"{path}: get_model() must give a torch.nn.Module and get_dummy_input() tensors")
    return model, inputs


def _nested(settings: dict[str, Any]) -> dict[str, Any]:
    """Parses settings; text_config.hidden_size=32 is a nested one."""
    out: dict[str, Any] = {}
    for key, value in settings.items():
        *path, last = key.split(".")
        within = out
        for part in path:
            within = within.setdefault(part, {})
        within[last] = value
    return out


def build(name: str, zoo_dir: str | None, size: int | None, settings: dict[str, Any], seed: int) -> Example:
    """The module in evaluation mode, and example inputs."""
    import torch
    torch.manual_seed(seed)
    source, _, model = name.partition(":")
    if source in _BUILDERS and model:
        module, inputs = _BUILDERS[source](model, size, _nested(settings))
    else:
        path = pathlib.Path(zoo_dir or ".") / f"{name}.py"
        if not path.is_file():
            raise Refusal(66, f"{path} does not exist; a model of a library is SOURCE:NAME, with a source of {SOURCES}")
        module, inputs = _user_file(path)
    return module.eval(), inputs


MARKS = {".h": b"/", ".json": b"{", ".onnx": b"\x08", ".pt2": b"PK", ".so": b"\x7fELF"}


def check_output(path: str, *inputs: str) -> None:
    """The rule for all outputs of hone: refuses to replace a file of another kind, or an input."""
    why = None
    if os.path.exists(path):
        mark = MARKS.get(os.path.splitext(path)[1], b"")
        if not os.path.isfile(path):
            why = "is not a regular file"
        elif any(os.path.exists(i) and os.path.samefile(path, i) for i in inputs):
            why = "is an input of this command, so it cannot be its output"
        elif os.path.getsize(path) and open(path, "rb").read(len(mark)) != mark:
            why = "a file of another kind exists there; it was not changed"
    elif not os.path.isdir(os.path.dirname(os.path.abspath(path))):
        why = "its folder does not exist"
    if why:
        raise Refusal(77, f"{path}: {why}")


@contextlib.contextmanager
def whole(path: str, *inputs: str) -> Iterator[str]:
    """A temporary name with the same ending, renamed to path at the end if it is complete."""
    check_output(path, *inputs)
    folder, name = os.path.split(os.path.abspath(path))
    with tempfile.TemporaryDirectory(prefix=".hone-", dir=folder) as beside:
        partial = os.path.join(beside, name)  # the archive in a .pt2 has the name of the file
        yield partial
        os.replace(partial, path)


def save_archive(module: Any, inputs: tuple[Any, ...], path: str, dynamic: Any = None) -> Any:
    """Returns the program that it wrote. dynamic: the dynamic_shapes of torch.export."""
    import torch
    # no decompositions: only functionalises writes into tensors
    program = torch.export.export(module, inputs, dynamic_shapes=dynamic).run_decompositions({})
    torch.export.save(program, path)
    return program


def has_onnx_exporter() -> bool:
    """True if torch's ONNX exporter is installed; .pt2 archives need nothing else."""
    return importlib.util.find_spec("onnxscript") is not None


def save(module: Any, inputs: tuple[Any, ...], path: str) -> None:
    """As ONNX (opset 18) or as .pt2, by the ending."""
    import torch
    if not path.endswith(".pt2"):
        _library("onnxscript")
    with whole(path) as partial, torch.no_grad():
        if path.endswith(".pt2"):
            save_archive(module, inputs, partial)
        else:
            torch.onnx.export(module, inputs, partial, dynamo=True, opset_version=18, external_data=False, verbose=False)


def _output(name: str, output: str) -> str:
    """In a folder (it ends in /) the file is NAME.onnx, or NAME.pt2 if torch's ONNX exporter is not installed."""
    if not output.endswith("/"):
        return output
    ending = "onnx" if has_onnx_exporter() else "pt2"
    return os.path.join(output, f"{name.rpartition(':')[2]}.{ending}")


def _setting(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals:
        raise Refusal(2, f"--set {text}: as --set num_hidden_layers=2")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value


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
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="an argument of the model's constructor or configuration: depths=[1,1], text_config.hidden_size=32")
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
