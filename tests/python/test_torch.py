"""Tests that need torch: the example from TorchScript to a program, export, and torch.compile with graph breaks counted."""
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import hone  # noqa: E402
import hone.torch  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SHARED = pathlib.Path(os.environ.get("HONE_SHARED", ROOT.parent / "shared"))


def test_the_digits_example_classifies_as_torch_does(tmp_path):
    pytest.importorskip("sklearn")
    env = {**os.environ, "HONE": os.environ.get("HONE", str(ROOT / "build/hone")), "PYTHON": sys.executable}
    said = subprocess.run(["sh", ROOT / "examples/digits/run.sh", tmp_path], env=env, capture_output=True, text=True)
    assert said.returncode == 0, said.stdout[-2000:] + said.stderr[-2000:]
    stages = [line for line in said.stdout.splitlines() if line.startswith("==")]
    assert len(stages) == 7
    assert "360 images: 360 as PyTorch says" in said.stdout
    read, optimised = ((tmp_path / name).read_text() for name in ("graph.hg", "optimised.hg"))
    assert read.count(" = ") > optimised.count(" = ") > 0
    assert " = Conv(" in read and " = Conv(" in optimised


@pytest.mark.parametrize("name, shape", [("rl_policies_ts/l4w4_hist.pt", None), ("mlperf_kws_dscnn/model_f32.ts.pt", None)])
def test_torchscript_files_are_exported(tmp_path, name, shape):
    path = SHARED / "models" / name
    if not path.exists():
        pytest.skip(f"no {path}")
    module = torch.jit.load(str(path)).eval()
    for sizes in ([1, 1, 49, 10], [1, 49, 10, 1], [1, 490], [1, 48], [1, 1, 48], [1, 235], [1, 245], [1, 270], [1, 290]):
        try:
            x = torch.randn(sizes)
            wanted = module(x)
        except Exception:
            continue
        break
    else:
        pytest.skip("its input is of another shape")
    text = "x".join(map(str, sizes))
    subprocess.run([sys.executable, "-m", "hone", "export", path, "-o", tmp_path / "m.onnx", "--input", text], check=True,
                   env={**os.environ, "PYTHONPATH": str(ROOT / "python")})
    got = hone.compile(tmp_path / "m.onnx")(x.numpy())
    got = got if isinstance(got, tuple) else (got,)
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    np.testing.assert_allclose(got[0], wanted[0].detach().numpy(), rtol=1e-3, atol=1e-4)


class Counter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x):
        self.calls += 1
        return x + self.calls


def test_a_module_that_keeps_state_is_not_exported(tmp_path):
    """A trace would hold the state as a constant: the file would be wrong from the second call on."""
    torch.jit.script(Counter().eval()).save(tmp_path / "m.pt")
    done = subprocess.run([sys.executable, "-m", "hone", "export", tmp_path / "m.pt", "-o", tmp_path / "m.onnx",
                           "--input", "1x2"], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(ROOT / "python")})
    assert done.returncode == 65 and "m.pt keeps state" in done.stderr and "calls" in done.stderr
    assert not (tmp_path / "m.onnx").exists()


def test_an_export_never_goes_over_its_input(tmp_path):
    torch.jit.script(torch.nn.ReLU()).save(tmp_path / "m.pt")
    os.link(tmp_path / "m.pt", tmp_path / "same.onnx")
    (tmp_path / "notes.onnx").write_text("words")
    before = (tmp_path / "m.pt").read_bytes()
    for name in ("m.pt", "same.onnx", "notes.onnx"):
        done = subprocess.run([sys.executable, "-m", "hone", "export", tmp_path / "m.pt", "-o", tmp_path / name, "--input", "2"],
                              capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT / "python")})
        assert done.returncode == 77 and "Traceback" not in done.stderr, done.stderr
    assert (tmp_path / "m.pt").read_bytes() == before and (tmp_path / "notes.onnx").read_text() == "words"


def network():
    torch.manual_seed(3)
    return torch.nn.Sequential(torch.nn.Linear(12, 30), torch.nn.GELU(), torch.nn.Linear(30, 4)).eval()


def test_torch_compile_counts_what_runs():
    hone.torch.stats.reset()
    model, x = network(), torch.randn(5, 12)
    with torch.no_grad():
        made = torch.compile(model, backend="hone")(x)
        torch.testing.assert_close(made, model(x), rtol=1e-4, atol=1e-5)
    assert (hone.torch.stats.graphs, hone.torch.stats.compiled, hone.torch.stats.fallbacks) == (1, 1, [])


def test_torch_alone_is_enough(monkeypatch):
    """Without what torch's exporter to ONNX needs, its own archives are compiled."""
    monkeypatch.setitem(sys.modules, "onnxscript", None)
    torch._dynamo.reset()
    hone.torch.stats.reset()
    model, x = network(), torch.randn(5, 12)
    with torch.no_grad():
        torch.testing.assert_close(torch.compile(model, backend="hone")(x), model(x), rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(hone.compile(model, (x,))(x), model(x), rtol=1e-4, atol=1e-5)
    assert (hone.torch.stats.compiled, hone.torch.stats.fallbacks) == (1, [])


def test_a_graph_break_gives_two_graphs():
    hone.torch.stats.reset()
    first, second, x = network(), torch.nn.Linear(4, 3).eval(), torch.randn(2, 12)

    def run(x):
        y = first(x)
        torch._dynamo.graph_break()
        return second(torch.relu(y))
    with torch.no_grad():
        torch.testing.assert_close(torch.compile(run, backend="hone")(x), run(x), rtol=1e-4, atol=1e-5)
    assert (hone.torch.stats.graphs, hone.torch.stats.compiled) == (2, 2)


def test_what_hone_cannot_do_runs_in_torch_and_is_counted():
    hone.torch.stats.reset()

    def run(x):
        return torch.linalg.eigvals(x).real.sum()
    x = torch.randn(4, 4)
    with torch.no_grad():
        torch.testing.assert_close(torch.compile(run, backend="hone")(x), run(x))
    assert hone.torch.stats.graphs == 1 and hone.torch.stats.compiled == 0
    assert len(hone.torch.stats.fallbacks) == 1 and hone.torch.stats.fallbacks[0]


def test_what_is_compiled_writes_nothing(capfd):
    """torch's exporter prints its stages; neither a script nor a notebook cell must show them."""
    module, x = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU()).eval(), torch.randn(2, 4)
    with torch.no_grad():
        torch.testing.assert_close(hone.compile(module, (x,))(x), module(x))
        torch.testing.assert_close(torch.compile(module, backend="hone")(x), module(x))
    assert capfd.readouterr().out == ""


def test_other_sizes_are_compiled_when_they_come(monkeypatch):
    monkeypatch.setattr(hone.torch, "SIZES", 2)
    torch._dynamo.reset()
    hone.torch.stats.reset()
    model = network()
    run = torch.compile(model, backend="hone", dynamic=True)
    with torch.no_grad():
        for rows, fallbacks in ((3, 0), (5, 0), (3, 0), (7, 1), (7, 1)):
            x = torch.randn(rows, 12)
            torch.testing.assert_close(run(x), model(x), rtol=1e-4, atol=1e-5)
            assert len(hone.torch.stats.fallbacks) == fallbacks
    assert hone.torch.stats.graphs == hone.torch.stats.compiled == 1


def test_a_study_counts_breaks_and_checks_outputs():
    first, second = network(), torch.nn.Linear(4, 3).eval()

    class Broken(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = first, second

        def forward(self, x):
            y = self.first(x)
            torch._dynamo.graph_break()
            return {"y": self.second(torch.relu(y))}

    class Fallen(torch.nn.Module):
        def forward(self, x):
            return torch.linalg.eigvals(x).real.sum()

    done = hone.torch.study([("whole", first, (torch.randn(5, 12),)), ("broken", Broken(), (torch.randn(2, 12),)),
                             ("fallen", Fallen(), (torch.randn(4, 4),))], backends=("eager", "hone"), rounds=3, min_time=0)
    rows = {(row.model, row.backend): row for row in done.rows}
    assert len(done) == 6 and all(row.status == "ok" and row.p50_ms > 0 for row in done.rows)
    whole, broken, fallen = (rows[name, "hone"] for name in ("whole", "broken", "fallen"))
    assert (whole.graphs, whole.breaks, whole.fallbacks) == (1, [], []) and whole.error < 1e-5
    assert broken.graphs == 2 and len(broken.breaks) == 1 and not broken.fallbacks and broken.error < 1e-5
    assert fallen.graphs == 1 and len(fallen.fallbacks) == 1 and fallen.error < 1e-5
    assert rows["whole", "eager"].ratio > 0 and whole.ratio is None and done.reference == "hone"
    assert done.to_markdown().count("\n") == 7 and done._repr_html_().count("<tr>") == 7


def test_a_backend_that_fails_is_a_row():
    def refuse(graph, inputs):
        raise RuntimeError("no such luck")
    torch._dynamo.register_backend(refuse, name="refuses")
    done = hone.torch.study([("m", network(), (torch.randn(5, 12),))], backends=("eager", "refuses"), rounds=2, min_time=0)
    assert done[0].status == "ok" and done[0].ratio is None
    assert "no such luck" in done[1].status and done[1].p50_ms is None


@pytest.mark.parametrize("kind, settings", [
    ("bert", {"num_attention_heads": 2, "intermediate_size": 64}),
    ("gpt2", {"n_embd": 32, "n_layer": 2, "n_head": 2}),
    ("llama", {"num_attention_heads": 2, "num_key_value_heads": 1, "intermediate_size": 64}),
    ("vit", {"num_attention_heads": 2, "intermediate_size": 64, "image_size": 32, "patch_size": 8}),
])
def test_models_of_transformers_are_one_graph(kind, settings):
    pytest.importorskip("transformers")
    from hone import _zoo
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "vocab_size": 100}
    if kind == "gpt2":
        sizes = {"vocab_size": 100, "bos_token_id": 0, "eos_token_id": 0}
    if kind == "vit":
        del sizes["vocab_size"]
    module, inputs = _zoo.build(f"transformers:{kind}", None, None, {**sizes, **settings}, 0)
    done = hone.torch.study([(kind, module, inputs)], backends=("eager", "hone"), rounds=2, min_time=0)
    assert done[1].status == "ok" and done[1].graphs == 1, done[1]
    assert not done[1].breaks and not done[1].fallbacks and done[1].error < 1e-4, done[1]


def test_the_command_measures_a_users_module(tmp_path):
    (tmp_path / "mine.py").write_text("import torch\ndef get_model():\n    return torch.nn.Sequential(torch.nn.Linear(12, 4), torch.nn.ReLU())"
                                      "\ndef get_dummy_input():\n    return torch.randn(2, 12)\n")
    done = subprocess.run([sys.executable, "-m", "hone", "torch", "mine", "--zoo-dir", tmp_path, "--backend", "eager,hone",
                           "--rounds", "2", "--min-time", "0", "--json", tmp_path / "rows.json"], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(ROOT / "python")})
    assert done.returncode == 0, done.stderr
    import json
    rows = json.loads((tmp_path / "rows.json").read_text())["rows"]
    assert [row["backend"] for row in rows] == ["eager", "hone"] and rows[1]["graphs"] == 1 and not rows[1]["fallbacks"]


def _fresh():
    torch._dynamo.reset()
    hone.torch.stats.reset()
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 4))


@pytest.mark.parametrize("dynamic", [False, True])
def test_gradients_go_through_a_compiled_backbone(dynamic):
    """Results equal eager mode, with a head that is not compiled; each compiled graph that ran is counted."""
    backbone, head, x = _fresh(), torch.nn.Linear(4, 1), torch.randn(5, 8, requires_grad=True)
    head(backbone(x)).sum().backward()
    wanted = [p.grad.clone() for p in (x, *backbone.parameters(), *head.parameters())]
    for p in (x, *backbone.parameters(), *head.parameters()):
        p.grad = None
    fast = torch.compile(backbone, backend=hone.torch.backend, dynamic=dynamic)
    head(fast(x)).sum().backward()
    for p, grad in zip((x, *backbone.parameters(), *head.parameters()), wanted, strict=True):
        torch.testing.assert_close(p.grad, grad)
    assert hone.torch.stats.compiled == 0 and "gradients" in hone.torch.stats.fallbacks[0]
    with torch.no_grad():  # the same module for inference, with the weights of now
        for p in backbone.parameters():
            p.add_(0.1)
        torch.testing.assert_close(fast(x), backbone(x), rtol=1e-4, atol=1e-5)
    assert hone.torch.stats.compiled == 1


def test_gradients_of_what_is_thawed_later():
    module, x = _fresh().requires_grad_(False), torch.randn(5, 8)
    fast = torch.compile(module, backend=hone.torch.backend)
    assert not fast(x).requires_grad and hone.torch.stats.compiled == 1
    module[2].requires_grad_(True)
    fast(x).sum().backward()
    assert module[2].weight.grad is not None and module[0].weight.grad is None
    z = x.clone().requires_grad_()
    fast(z).sum().backward()
    assert z.grad is not None


def test_gradients_that_a_graph_turns_on_itself():
    def on(x):
        with torch.enable_grad():
            return (x * 2).sin()

    _fresh()
    x = torch.randn(3, requires_grad=True)
    with torch.no_grad():
        y = torch.compile(on, backend=hone.torch.backend)(x)
    y.sum().backward()
    torch.testing.assert_close(x.grad, 2 * (2 * x.detach()).cos())


def test_writes_into_inputs_are_kept():
    def add(x, state):
        state.add_(x)
        return state * 2

    _fresh()
    x, state = torch.ones(3), torch.zeros(3)
    fast = torch.compile(add, backend=hone.torch.backend)
    for k in (1, 2, 3):
        torch.testing.assert_close(fast(x, state), torch.full((3,), 2.0 * k))
    torch.testing.assert_close(state, torch.full((3,), 3.0))
    assert "writes into" in hone.torch.stats.fallbacks[0]


def test_a_compiled_model_takes_no_tensor_that_requires_a_gradient():
    module, x = _fresh(), torch.randn(5, 8, requires_grad=True)
    model = hone.compile(module, x.detach())
    with pytest.raises(hone.HoneError, match="no backward pass") as found:
        model(x)
    assert found.value.id == "E_USAGE"
    with torch.no_grad():
        torch.testing.assert_close(model(x), module(x), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(model(x.detach()), module(x).detach(), rtol=1e-4, atol=1e-5)
