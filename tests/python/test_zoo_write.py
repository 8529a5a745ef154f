"""python -m hone zoo write: models of libraries and a user's file, as ONNX and as .pt2, run by hone as torch runs them."""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch")

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
from hone import _zoo  # noqa: E402

HONE = pathlib.Path(os.environ.get("HONE", ROOT / "build/hone")).resolve()

USER = """
import torch

class Gate(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = torch.nn.Linear(6, 8), torch.nn.Linear(6, 8)

    def forward(self, x, y):
        return torch.sigmoid(self.one(x)) * self.two(y)

def get_model():
    return Gate()

def get_dummy_input():
    return torch.randn(2, 6), torch.randn(2, 6)
"""

# what, its size, settings that make it small
MODELS = [("torchvision:resnet18", 32, {}), ("torchvision:mobilenet_v3_small", 32, {}), ("timm:mobilenetv3_small_050", 32, {}),
          ("timm:vit_tiny_patch16_224", 32, {"depth": 1}),
          ("transformers:bert", 5, {"num_hidden_layers": 1, "hidden_size": 32, "num_attention_heads": 2,
                                    "intermediate_size": 48, "vocab_size": 60}),
          ("transformers:t5", 5, {"num_layers": 1, "d_model": 32, "d_ff": 40, "d_kv": 16, "num_heads": 2, "vocab_size": 60}),
          ("transformers:gpt2", 5, {"n_layer": 1, "n_embd": 32, "n_head": 2, "vocab_size": 60}),
          ("transformers:wav2vec2", 400, {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 24,
                                          "conv_dim": [8, 8], "conv_stride": [5, 2], "conv_kernel": [10, 3],
                                          "num_conv_pos_embeddings": 4, "num_conv_pos_embedding_groups": 2}),
          ("transformers:clip", 16, {"vision_config.image_size": 16, "vision_config.patch_size": 8, "text_config.vocab_size": 60, "text_config.eos_token_id": 2, **{
              f"{part}_config.{key}": value for part in ("vision", "text") for key, value in
              {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 1, "num_attention_heads": 2}.items()}}),
          ("diffusers:UNet2DModel", 8, {"block_out_channels": [8, 16], "layers_per_block": 1, "norm_num_groups": 4, "attention_head_dim": 8,
                                        "down_block_types": ["DownBlock2D", "AttnDownBlock2D"],
                                        "up_block_types": ["AttnUpBlock2D", "UpBlock2D"]}),
          ("torch_geometric:GCN", 30, {"in_channels": 8, "hidden_channels": 12}), ("torch_geometric:GraphSAGE", 30, {"num_layers": 1}),
          ("torch_geometric:GAT", 20, {"heads": 2, "hidden_channels": 8}), ("ultralytics:yolov8n", 64, {}),
          ("gate", None, {})]


def write(*words, before=None):
    command = [sys.executable, "-m", "hone", "zoo", "write", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=600,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, filter(None, (before, ROOT / "python"))))})


@pytest.mark.parametrize("ending", ["onnx", "pt2"])
@pytest.mark.parametrize("name, size, settings", MODELS, ids=[m[0] for m in MODELS])
def test_hone_runs_it_as_torch_does(tmp_path, name, size, settings, ending):
    source = name.partition(":")[0]
    if ":" in name:
        pytest.importorskip(source)
    (tmp_path / "gate.py").write_text(USER)
    path = tmp_path / f"m.{ending}"
    words = [f"--set={key}={json.dumps(value)}" for key, value in settings.items()] + ([f"--size={size}"] if size else [])
    done = write(name, "--zoo-dir", tmp_path, "-o", path, *words)
    assert done.returncode == 0, done.stderr[-2000:]
    module, inputs = _zoo.build(name, str(tmp_path), size, settings, 0)  # the same seed, the same weights
    for k, x in enumerate(inputs):
        np.save(tmp_path / f"in_{k}.npy", x.numpy())
    run = subprocess.run([HONE, "run", path, "--inputs", tmp_path, "-o", tmp_path / "out"], capture_output=True,
                         text=True, timeout=600)
    assert run.returncode == 0, run.stderr
    with torch.no_grad():
        want = module(*inputs).numpy()
    got = np.load(tmp_path / "out" / "out_0.npy")
    assert got.shape == want.shape
    assert np.linalg.norm(got - want) <= 2e-4 * np.linalg.norm(want)


def test_what_is_wrong_is_said(tmp_path):
    (tmp_path / "half.py").write_text("def get_model():\n    return None\n")
    (tmp_path / "gate.py").write_text(USER)
    for words, code, says in [(["half", "--zoo-dir", tmp_path, "-o", tmp_path / "m.onnx"], 65, "get_dummy_input"),
                              (["none", "--zoo-dir", tmp_path, "-o", tmp_path / "m.onnx"], 66, "none.py"),
                              (["gate", "--zoo-dir", tmp_path, "-o", tmp_path / "m.txt"], 2, "FILE.onnx or FILE.pt2"),
                              (["gate", "--zoo-dir", tmp_path, "-o", tmp_path / "m.onnx", "--set", "x"], 2, "num_hidden_layers=2")]:
        done = write(*words)
        assert done.returncode == code and says in done.stderr, (words, done.stderr)
        assert "Traceback" not in done.stderr
    (tmp_path / "without").mkdir()
    (tmp_path / "without/onnxscript.py").write_text("raise ImportError('none here')\n")
    done = write("gate", "--zoo-dir", tmp_path, "-o", tmp_path / "m.onnx", before=tmp_path / "without")
    assert done.returncode == 69 and "pip install onnxscript" in done.stderr and "Traceback" not in done.stderr, done.stderr
    assert not list(tmp_path.glob("m.*"))
    assert _zoo.listed(str(tmp_path)) == ["gate"]


def test_bench_takes_a_name_of_the_folder(tmp_path):
    """hone bench NAME --zoo-dir: this interpreter's environment runs the file, once."""
    (tmp_path / "gate.py").write_text(USER)
    words = [HONE, "bench", "gate", "--zoo-dir", tmp_path, "--engine", f"torch={sys.prefix}", "--backend", "native", "--rounds", "1",
             "--processes", "1", "--min-time", "0.01", "--warmup", "0.01", "--no-measure", "--threads", "1", "--json", "-",
             "--store", tmp_path / "s.db"]
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    for says in ("is run by", None):
        done = subprocess.run(words, capture_output=True, text=True, timeout=600, env=environment)
        assert done.returncode == 0, done.stderr
        row, = json.loads(done.stdout)["records"]
        assert row["status"] == "ok" and row["model"] in ("gate.onnx", "gate.pt2"), row
        assert (says in done.stderr) if says else "is run by" not in done.stderr
