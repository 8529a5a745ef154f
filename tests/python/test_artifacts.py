"""Compiled models as files: loaded without compiling, pickled, saved in other formats, with dynamic dimensions."""
import concurrent.futures
import copy
import multiprocessing
import pickle
import subprocess

import numpy as np
import pytest

import hone


@pytest.fixture(scope="module")
def model():
    return hone.compile("zoo:mlp,batch=3")


@pytest.fixture(scope="module")
def x():
    return np.random.default_rng(3).standard_normal((3, 256), dtype=np.float32)


def test_a_library_is_loaded_as_it_was_compiled(model, x, tmp_path):
    written = model.save(tmp_path / "net.so")
    loaded = hone.load(tmp_path / "net.so", threads=1)
    assert loaded.inputs == model.inputs and loaded.outputs == model.outputs and loaded.threads == 1
    np.testing.assert_array_equal(loaded(x), model(x))
    (tmp_path / "again").mkdir()
    assert len(loaded.save(tmp_path / "again/other.so")) == len(written)
    np.testing.assert_array_equal(hone.load(tmp_path / "again/other.so")(x), model(x))
    for name, options in (("net.c", {}), ("net", {}), ("net.so", {"precision": "bf16"})):
        with pytest.raises(ValueError, match="without its source"):
            loaded.save(tmp_path / name, **options)


def test_weights_beside_a_library_come_with_it(x, model, tmp_path):
    model.save(tmp_path / "m.c", prefix="m")
    subprocess.run(["cc", "-O1", "-march=native", "-shared", "-fPIC", "m.c", "-o", "m.so", "-lm"], cwd=tmp_path, check=True)
    loaded = hone.load(tmp_path / "m.so")
    assert {p.rpartition(".")[2] for p in loaded.save(tmp_path / "n.so")} == {"so", "h", "weights"}
    again = pickle.loads(pickle.dumps(hone.load(tmp_path / "n.so")))
    np.testing.assert_allclose(again(x), model(x), rtol=1e-5, atol=1e-5)


def test_what_is_not_a_sound_library_is_refused(model, tmp_path):
    (tmp_path / "words.so").write_text("words")
    model.save(tmp_path / "net.so")
    data = bytearray((tmp_path / "net.so").read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "damaged.so").write_bytes(data)
    for name, wanted in (("words.so", "E_FORMAT"), ("damaged.so", "E_FORMAT"), ("none.so", "E_NOFILE")):
        with pytest.raises(hone.HoneError) as found:
            hone.load(tmp_path / name)
        assert found.value.id == wanted


def test_open_sizes_stay_open(tmp_path):
    onnx = pytest.importorskip("onnx")
    from onnx import TensorProto, helper
    graph = helper.make_graph([helper.make_node("Neg", ["x"], ["y"])], "g",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 2])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 2])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "open.onnx")
    first = hone.compile(tmp_path / "open.onnx", shapes="x[n<=9,2]")
    first.save(tmp_path / "open.so")
    first.save(tmp_path / "again.so", prefer="size")  # compiled again, with the same shapes
    for model in (first, hone.load(tmp_path / "open.so"), hone.load(tmp_path / "again.so"), pickle.loads(pickle.dumps(first))):
        for n in (1, 4, 9):
            a = np.arange(2 * n, dtype=np.float32).reshape(n, 2)
            np.testing.assert_array_equal(model(a), -a)
        with pytest.raises(hone.HoneError) as found:
            model(np.ones((10, 2), np.float32))
        assert found.value.id == "E_SHAPE"


def test_a_pickled_model_computes_in_other_processes(model, x):
    wanted = model(x)
    np.testing.assert_array_equal(copy.deepcopy(model)(x), wanted)
    with concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        for y in pool.map(model, [x] * 4):
            np.testing.assert_array_equal(y, wanted)


@pytest.mark.parametrize("name, options, files", [
    ("m.c", {}, {"m.c", "m.h", "m.weights"}),
    ("m.c", {"embed": True}, {"m.c", "m.h"}),
    ("m.c", {"cpu": "baseline,avx2"}, {"m.c", "m.h", "m.weights", "m_baseline.c", "m_avx2.c"}),
    ("m.c", {"target": "aarch64-linux-gnu", "cpu": "neon"}, {"m.c", "m.h", "m.weights"}),
    ("m.a", {}, {"m.a", "m.h"}),
    ("m", {}, {"m", "m.h"}),
    ("m.so", {"precision": "bf16", "cpu": "baseline"}, {"m.so", "m.h"}),
])
def test_other_forms_are_compiled_from_the_source(model, x, tmp_path, name, options, files):
    (tmp_path / "m.txt").write_text("of the user")
    written = model.save(tmp_path / name, **options)
    assert written[0] == str(tmp_path / name)
    assert {p.removeprefix(f"{tmp_path}/") for p in written} == files == {p.name for p in tmp_path.iterdir()} - {"m.txt"}
    if name == "m":
        np.save(tmp_path / "x.npy", x)
        subprocess.run([tmp_path / "m", "x.npy", "-o", "."], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
        np.testing.assert_allclose(np.load(tmp_path / "output_0.npy"), model(x), rtol=1e-5, atol=1e-5)
    if name == "m.so":
        np.testing.assert_allclose(hone.load(tmp_path / "m.so")(x), model(x), rtol=0.1, atol=0.1)


def test_what_the_command_refuses_is_an_error(model, tmp_path):
    for name, options, wanted in (("m.c", {"no_such_flag": 1}, "E_USAGE"), ("none/m.c", {}, "E_WRITE"),
                                  ("m.c", {"precision": "fp7"}, "E_USAGE")):
        with pytest.raises(hone.HoneError) as found:
            model.save(tmp_path / name, **options)
        assert found.value.id == wanted
    assert not list(tmp_path.iterdir())


def test_a_module_takes_batches_of_any_size():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    module = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3, padding=1), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(256, 5))
    model = hone.compile(module.eval(), torch.randn(1, 3, 8, 8), shapes="input[N<=16,3,8,8]")
    for n in (1, 2, 7, 16):
        a = torch.randn(n, 3, 8, 8)
        with torch.no_grad():
            torch.testing.assert_close(model(a), module(a), rtol=1e-4, atol=1e-5)
    with pytest.raises(hone.HoneError) as found:
        model(torch.randn(17, 3, 8, 8))
    assert found.value.id == "E_SHAPE"
    with pytest.raises(TypeError, match="no input 'x'; there are: input"):
        hone.compile(module, torch.randn(1, 3, 8, 8), shapes="x[N<=16,3,8,8]")


def test_a_module_of_two_open_sizes():
    torch = pytest.importorskip("torch", reason="torch is not installed")

    class Scaled(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.linear = torch.nn.Embedding(10, 4), torch.nn.Linear(4, 3)

        def forward(self, ids, scale):
            y = self.linear(self.words(ids)) * scale
            return y.softmax(-1), y.sum(1)

    module = Scaled().eval()
    model = hone.compile(module, (torch.zeros(1, 6, dtype=torch.long), torch.ones(1, 1, 1)), shapes="ids[N<=4,S<=12],scale[N,1,1]")
    for n, s in ((1, 1), (3, 12), (4, 5)):
        ids, scale = torch.randint(0, 10, (n, s)), torch.rand(n, 1, 1)
        with torch.no_grad():
            for a, b in zip(model(ids, scale), module(ids, scale), strict=True):
                torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)
