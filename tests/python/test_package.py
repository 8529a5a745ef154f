"""The Python package over a built libhone: compile, call, save, errors, threads, bench."""
import ast
import concurrent.futures
import gc
import html.parser
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import hone

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module")
def model_path(tmp_path_factory):
    """y = x @ w + b, z = an integer copy: two outputs, two element types."""
    onnx = pytest.importorskip("onnx")
    from onnx import TensorProto, helper, numpy_helper
    w = np.random.default_rng(1).standard_normal((8, 5), dtype=np.float32)
    b = np.arange(5, dtype=np.float32)
    graph = helper.make_graph(
        [helper.make_node("Gemm", ["x", "w", "b"], ["y"]), helper.make_node("Neg", ["n"], ["z"])], "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3, 8]),
         helper.make_tensor_value_info("n", TensorProto.INT64, [2, 2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [3, 5]),
         helper.make_tensor_value_info("z", TensorProto.INT64, [2, 2])],
        [numpy_helper.from_array(w, "w"), numpy_helper.from_array(b, "b")])
    path = tmp_path_factory.mktemp("model") / "two.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path, w, b


@pytest.fixture(scope="module")
def compiled(model_path):
    return hone.compile(model_path[0])


def test_ports(compiled):
    assert [(p.name, p.dtype, p.shape) for p in compiled.inputs] == [
        ("x", np.dtype(np.float32), (3, 8)), ("n", np.dtype(np.int64), (2, 2))]
    assert [p.name for p in compiled.outputs] == ["y", "z"]
    assert "x: float32[3,8]" in repr(compiled)


def test_call_by_position_and_name(compiled, model_path):
    x = np.random.default_rng(2).standard_normal((3, 8), dtype=np.float32)
    n = np.array([[1, -2], [3, 4]])
    y, z = compiled(x, n)
    np.testing.assert_allclose(y, x @ model_path[1] + model_path[2], rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(z, -n)
    again, _ = compiled(n=n, x=x)
    np.testing.assert_array_equal(y, again)


def test_strided_input_is_read_right(compiled, model_path):
    x = np.random.default_rng(3).standard_normal((8, 3), dtype=np.float32).T
    y, _ = compiled(x, np.zeros((2, 2), np.int64))
    np.testing.assert_allclose(y, x @ model_path[1] + model_path[2], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("arguments, error", [
    (lambda x, n: ((x,), {}), TypeError), (lambda x, n: ((x, n, n), {}), TypeError),
    (lambda x, n: ((x, n), {"n": n}), TypeError), (lambda x, n: ((x,), {"m": n}), TypeError),
    (lambda x, n: ((x.astype(np.float64), n), {}), "E_TYPE"), (lambda x, n: ((x[:2], n), {}), "E_SHAPE")])
def test_wrong_arguments(compiled, arguments, error):
    given, named = arguments(np.zeros((3, 8), np.float32), np.zeros((2, 2), np.int64))
    with pytest.raises(hone.HoneError if isinstance(error, str) else error) as found:
        compiled(*given, **named)
    if isinstance(error, str):
        assert found.value.id == error


def test_run_into_writes_the_caller_s_memory(compiled, model_path):
    x, n = np.ones((3, 8), np.float32), np.ones((2, 2), np.int64)
    y, z = np.full((3, 5), np.nan, np.float32), np.zeros((2, 2), np.int64)
    compiled.run_into([x, n], [y, z])
    np.testing.assert_allclose(y, x @ model_path[1] + model_path[2], rtol=1e-5, atol=1e-5)


def test_several_models_in_several_threads(model_path):
    models = [hone.compile(model_path[0], threads=1) for _ in range(3)]
    xs = [np.full((3, 8), i, np.float32) for i in range(3)]
    n = np.zeros((2, 2), np.int64)

    def work(i):
        return [models[i](xs[i], n)[0] for _ in range(200)]

    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        for i, results in enumerate(pool.map(work, range(3))):
            for y in results:
                np.testing.assert_allclose(y, xs[i] @ model_path[1] + model_path[2], rtol=1e-4, atol=1e-4)


def test_save_is_a_library_of_its_own(compiled, tmp_path):
    written = compiled.save(tmp_path / "kept.so")
    assert str(tmp_path / "kept.so") in written and str(tmp_path / "kept.h") in written
    needed = subprocess.run(["readelf", "-d", tmp_path / "kept.so"], stdout=subprocess.PIPE, check=True).stdout.decode()
    assert "libhone" not in needed
    (tmp_path / "notes.so").write_text("words")
    os.mkfifo(tmp_path / "pipe.h")
    for name in ("notes.so", "pipe.so"):  # its header is a pipe: nothing is written at all
        with pytest.raises(ValueError, match="kind|regular"):
            compiled.save(tmp_path / name)
    assert (tmp_path / "notes.so").read_text() == "words" and not (tmp_path / "pipe.so").exists()
    precious = tmp_path / "precious"
    precious.write_bytes((tmp_path / "kept.so").read_bytes())
    (tmp_path / "link.so").symlink_to(precious)
    before = precious.stat().st_mtime_ns
    compiled.save(tmp_path / "link.so")  # the link is removed, not its target
    assert precious.stat().st_mtime_ns == before and not (tmp_path / "link.so").is_symlink()


def test_a_model_outlives_nothing_it_needs(model_path):
    y = hone.compile(model_path[0])(np.ones((3, 8), np.float32), np.ones((2, 2), np.int64))[0]
    gc.collect()
    assert np.isfinite(y).all()


def test_errors_carry_their_id(tmp_path):
    (tmp_path / "broken.onnx").write_bytes(b"\xff" * 100)
    with pytest.raises(hone.HoneError) as found:
        hone.compile(tmp_path / "broken.onnx")
    assert found.value.id == "E_FORMAT"
    with pytest.raises(hone.HoneError) as found:
        hone.compile(tmp_path / "absent.onnx")
    assert found.value.id == "E_NOFILE"
    with pytest.raises(TypeError):
        hone.compile(object())


def test_bench_gives_rows(model_path, tmp_path):
    study = hone.bench(model_path[0], backends="native", threads=1, rounds=3, processes=1, min_time=0.02,
                       min_samples=3, warmup=0.05, no_measure=True, store=tmp_path / "b.db", progress=False)
    assert len(study) == 1 and study[0]["backend"] == "native" and study[0]["status"] == "ok"
    assert study[0]["latency_ms"]["p50"] > 0
    assert "native" in repr(study) and "<table>" in study._repr_html_()
    with pytest.raises(hone.HoneError) as found:
        hone.bench(model_path[0], backends="nativ", store=tmp_path / "b.db", progress=False)
    assert found.value.id == "E_USAGE" and "nativ" in str(found.value)


def test_the_command_comes_with_it(tmp_path):
    done = subprocess.run([sys.executable, "-m", "hone", "zoo", "list"], stdout=subprocess.PIPE, check=True)
    assert b"mlp" in done.stdout
    done = subprocess.run([sys.executable, "-m", "hone"], stdout=subprocess.PIPE, check=True)
    assert b"export" in done.stdout


def test_torch_modules_and_tensors():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    module = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4)).eval()
    x = torch.randn(5, 8)
    m = hone.compile(module, x)
    y = m(x)
    assert isinstance(y, torch.Tensor)
    torch.testing.assert_close(y, module(x), rtol=1e-4, atol=1e-5)
    import hone.torch as backend
    backend.stats.reset()
    fast = torch.compile(module, backend=backend.backend)
    with torch.no_grad():
        torch.testing.assert_close(fast(x), module(x), rtol=1e-4, atol=1e-5)
    assert backend.stats.graphs == 1 and backend.stats.compiled + len(backend.stats.fallbacks) == 1


def test_state_shares_memory(tmp_path):
    """Two states that change places: given one array each for input and output, neither is lost."""
    onnx = pytest.importorskip("onnx")
    from onnx import TensorProto, helper
    def info(name):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, [3, 5])
    nodes = [helper.make_node("Identity", ["b"], ["next_a"]), helper.make_node("Add", ["a", "x"], ["next_b"])]
    graph = helper.make_graph(nodes, "g", [info("a"), info("b"), info("x")], [info("next_a"), info("next_b")])
    path = tmp_path / "state.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    model = hone.compile(path, alias={"a": "next_a", "b": "next_b"})
    a, b, x = (np.random.default_rng(4).standard_normal((3, 3, 5)).astype(np.float32))
    want_a, want_b = a.copy(), b.copy()
    for _ in range(3):
        model.run_into([a, b, x], [a, b])
        want_a, want_b = want_b, want_a + x
    np.testing.assert_array_equal(a, want_a)
    np.testing.assert_array_equal(b, want_b)
    with pytest.raises(hone.HoneError, match="no such output"):
        hone.compile(path, alias={"a": "nothing"})


def test_progress_is_told_apart_from_the_rows():
    """The command gets a terminal; its output is shown and captured, and in a notebook its progress becomes a bar."""
    from hone import _progress
    program = ("import sys; assert sys.stderr.isatty(); print('rows');"
               "sys.stderr.write('\\r[1/4] m native run, 0:09 left\\r[2/4] <m> native ru'); sys.stderr.write('n\\n')")
    shown = []

    class Seen(_progress.Bar):
        def show(self, step, count, words):
            shown.append((step, count, words))
            self.handle = self

    before, _progress._show = _progress._show, lambda wanted: Seen() if wanted else None
    try:
        code, out, said = _progress.run([sys.executable, "-c", program], True)
    finally:
        _progress._show = before
    assert (code, out) == (0, "rows\n") and "[1/4] m native run" in said
    assert (2, 4, "<m> native run") in shown and shown[-1] == (4, 4, "done")
    code, out, said = _progress.run([sys.executable, "-c", "import sys; print(sys.stderr.isatty())"], False)
    assert (code, out, said) == (0, "False\n", "")


class Parts(html.parser.HTMLParser):
    """The tags of a piece of HTML, each closed where it was opened."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen = [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_notebook_s_cells_run(tmp_path, monkeypatch):
    """examples/notebook.ipynb is committed with outputs; each cell runs, and its last line has something to show."""
    for name in {"HONE", "HONE_LIBRARY"} & set(os.environ):
        monkeypatch.setenv(name, os.path.abspath(os.environ[name]))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    cells = json.loads((ROOT / "examples/notebook.ipynb").read_text())["cells"]
    names, shown = {}, []
    for cell in cells:
        if cell["cell_type"] != "code":
            continue
        assert cell["outputs"]
        body = ast.parse("".join(cell["source"])).body
        exec(compile(ast.Module(body[:-1], []), "cell", "exec"), names)
        shown.append(eval(compile(ast.Expression(body[-1].value), "cell", "eval"), names))
    model, (shape, dtype), written, study, rows = shown
    assert "float32[4,256]" in repr(model) and shape[0] == 4 and dtype == np.float32
    assert str(tmp_path / written[0]) == str(tmp_path / "mlp.so") and (tmp_path / "mlp.so").exists()
    assert rows[0][:2] == ("native", "ok") and rows[0][2] > 0 and [row[0] for row in rows] == ["native", "onnxruntime"]
    tags = Parts(study._repr_html_()).seen
    assert tags[0] == "table" and tags.count("tr") == 2 + len(study)


def test_strings_go_in_and_out(tmp_path):
    """Strings of any width, as bytes or objects, with dynamic dimensions."""
    onnx = pytest.importorskip("onnx")
    from onnx import TensorProto, helper
    nodes = [helper.make_node("StringConcat", ["x", "mark"], ["said"]),
             helper.make_node("LabelEncoder", ["said"], ["code"], domain="ai.onnx.ml", keys_strings=["ja!", "wörter!", "!"],
                              values_int64s=[1, 2, 3], default_int64=-1)]
    graph = helper.make_graph(nodes, "text", [helper.make_tensor_value_info("x", TensorProto.STRING, ["n", 2])],
                              [helper.make_tensor_value_info("said", TensorProto.STRING, ["n", 2]),
                               helper.make_tensor_value_info("code", TensorProto.INT64, ["n", 2])],
                              [helper.make_tensor("mark", TensorProto.STRING, [1], [b"!"])])
    path = tmp_path / "text.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20), helper.make_opsetid("ai.onnx.ml", 2)],
                                ir_version=9), path)
    model = hone.compile(path, shapes="x[3,2]")
    words = np.array([["wörter", ""], ["ja", "nein"], ["ja", "a longer word than any key"]])
    for x in (words, words.astype(object), np.char.encode(words), words.T.copy().T):
        said, code = model(x)
        np.testing.assert_array_equal(said, np.char.add(words, "!"))
        np.testing.assert_array_equal(code, [[2, 3], [1, -1], [1, -1]])
    with pytest.raises(TypeError, match="call the model"):
        model.run_into([words], [words.copy(), np.zeros((3, 2), np.int64)])
    with pytest.raises(hone.HoneError) as found:
        model(np.zeros((3, 2), np.float32))
    assert found.value.id == "E_TYPE"
