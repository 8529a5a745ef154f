"""One model called from many threads, from children made by fork, and while the interpreter ends."""
import concurrent.futures
import multiprocessing
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import hone


def _inputs(model, count):
    random = np.random.default_rng(5)
    return [random.standard_normal(model.inputs[0].shape, dtype=np.float32) for _ in range(count)]


def _same(got, wanted):
    return all(np.array_equal(a, b) for a, b in zip(got, wanted, strict=True))


@pytest.mark.parametrize("threads", [0, 1, 5])
@pytest.mark.parametrize("spec", ["zoo:mlp", "zoo:mnist_cnn"])
def test_threads_call_one_model(spec, threads):
    model = hone.compile(spec, threads=threads)
    xs = _inputs(model, 20)
    wanted = [model(x) for x in xs]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for _ in range(10):
            assert _same(pool.map(model, xs), wanted)


def _compile(path, nodes, outputs, rows, shapes=None):
    onnx = pytest.importorskip("onnx")
    from onnx import TensorProto, helper
    graph = helper.make_graph(nodes(helper, TensorProto), "g",
                              [helper.make_tensor_value_info("x", TensorProto.INT64, [rows])],
                              [helper.make_tensor_value_info(name, getattr(TensorProto, kind), shape) for name, kind, shape in outputs])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return hone.compile(path, shapes=shapes)


def _count_wrong(is_wrong):
    def many(seed):
        random = np.random.default_rng(seed)
        return sum(is_wrong(random) for _ in range(200))

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        return sum(pool.map(many, range(8)))


def test_each_call_has_its_own_shape(tmp_path):
    """A shape given by the call's inputs, and a data-dependent shape."""
    opened = _compile(tmp_path / "open.onnx", lambda h, t: [h.make_node("Neg", ["x"], ["y"])], [("y", "INT64", ["n"])], "n",
                      "x[n<=40]")
    found = _compile(tmp_path / "found.onnx", lambda h, t: [h.make_node("NonZero", ["x"], ["y"])], [("y", "INT64", [1, "m"])], 40)

    def is_wrong(random):
        x, z = random.integers(-2, 3, random.integers(1, 41)), random.integers(-1, 2, 40)
        return not np.array_equal(opened(x), -x) or not np.array_equal(found(z)[0], np.flatnonzero(z))

    assert _count_wrong(is_wrong) == 0


def test_each_call_has_its_own_strings(tmp_path):
    """Strings that a run creates in its working memory."""
    model = _compile(tmp_path / "texts.onnx", lambda h, t: [h.make_node("Cast", ["x"], ["y"], to=t.STRING)],
                     [("y", "STRING", [40])], 40)

    def is_wrong(random):
        x = random.integers(-2, 3, 40) * 12345678901
        return model(x).tolist() != [str(k) for k in x.tolist()]

    assert _count_wrong(is_wrong) == 0


def _call_until(model, xs, wanted, ends, wrong):
    while not ends.is_set():
        wrong.extend(i for i, x in enumerate(xs) if not np.array_equal(model(x), wanted[i]))


def _child(model, xs, wanted, results):
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        results.put(_same(pool.map(model, xs), wanted))


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_children_made_by_fork_call_it_too():
    model = hone.compile("zoo:mlp", threads=2)
    xs = _inputs(model, 8)
    wanted, ends, wrong = [model(x) for x in xs], threading.Event(), []
    threads = [threading.Thread(target=_call_until, args=(model, xs, wanted, ends, wrong)) for _ in range(3)]
    for thread in threads:
        thread.start()
    fork = multiprocessing.get_context("fork")
    results = fork.SimpleQueue()
    try:
        children = [fork.Process(target=_child, args=(model, xs, wanted, results)) for _ in range(5)]
        for child in children:
            child.start()
        for child in children:
            child.join(60)
            assert child.exitcode == 0
            assert results.get()
    finally:
        ends.set()
        for thread in threads:
            thread.join()
    assert not wrong


FORKS = """
import os, sys
import numpy as np
import hone
model = hone.compile("zoo:mlp", threads=2)
x = np.ones(model.inputs[0].shape, np.float32)
y = model(x)
child = os.fork()
if not child:
    sys.exit(0 if np.array_equal(model(x), y) else 1)  # ends as a program ends, with all that is done at exit
assert not os.waitpid(child, 0)[1]
assert np.array_equal(model(x), y)
model.save(sys.argv[1])
"""


def test_a_child_that_ends_leaves_the_parent_its_model(tmp_path):
    """The files too. With the last process they are gone."""
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", FORKS, tmp_path / "kept.so"], timeout=120, env=env, check=True)
    assert {p.suffix for p in tmp_path.iterdir()} == {".so", ".h"}


ENDS = """
import sys, threading, time
import numpy as np
import hone
model = hone.compile("zoo:mlp", threads=2)
x = np.ones(model.inputs[0].shape, np.float32)
def call():
    try:
        while True:
            model(x)
    except NameError:  # it is deleted; a traceback could meet the end of the interpreter, which CPython ends by abort
        pass
for _ in range(4):
    threading.Thread(target=call, daemon=True).start()
time.sleep(0.2)
END
"""


@pytest.mark.parametrize("end", ["", "sys.exit(0)", "del model, call; sys.exit(0)", "hone._lib.library = None"])
def test_the_interpreter_ends_while_threads_call(end):
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", ENDS.replace("END", end)], timeout=120, env=dict(os.environ),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        assert done.returncode == 0, done.stderr.decode()
