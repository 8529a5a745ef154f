"""Real models: the compiled model against the reference, the outputs that came with the model, and
ONNX Runtime where the Python has it. The collection is found through $HONE_SHARED."""

import json

import numpy as np
import pytest

import hone as command
from hone import SHARED, refused, sound, with_long

ZOO = ["mlp", "conv", "mnist_cnn", "transformer"]

CASES_EACH = 1
FLOATS = 1e-4  # relative L2; ten times that for the largest element
CONDITION_MULTIPLE, CONDITION_CEILING = 32, 10  # as src/bench/check/accuracy.c
SLOW_MS = 3.0  # above, the reference evaluation takes too long to be repeated here


def collection():
    path = SHARED / "models" / "manifest.json"
    if not path.exists():
        return []
    found = []
    for entry in json.loads(path.read_text()):
        for variant in entry["variants"]:
            if variant["file"].endswith(".onnx"):
                found.append((f"{entry['id']}/{variant['file']}", entry, variant))
    return found


MODELS = collection()


def stored(path, about):
    """A tensor as the collection keeps it: perhaps as 8-bit integers, perhaps every k-th element."""
    data = np.load(path)
    if about.get("stored") == "uint8" and "scale" in about:
        data = data.astype(np.float32) * np.float32(about["scale"]) + np.float32(about["offset"])
    return np.array(data.astype(np.dtype(about["dtype"])), order="C")


def shape_words(inputs):
    return ",".join(f"{name}[{','.join(map(str, value.shape))}]" for name, value in inputs.items())


def close(got, want, about, quantised, own=0.0, condition=lambda: 0.0):
    """own: how far the file's own engine is from what is expected, where that came from another format; condition:
    what one unit in the last place moves an output, asked for only where the usual tolerance is not kept."""
    want = want.ravel()
    got = got.ravel()[::about.get("stride", 1)]
    assert got.shape == want.shape
    if got.dtype.kind in "iu" and quantised:
        steps = np.abs(got.astype(np.int64) - want.astype(np.int64))
        assert steps.max() <= 4 and (steps <= 1).mean() >= 0.99, steps.max()
    elif got.dtype.kind in "iub":
        np.testing.assert_array_equal(got, want)
    elif quantised:
        # A rounding that falls the other way moves a value by a step; the whole must stay close.
        assert np.linalg.norm(got - want) <= 0.02 * np.linalg.norm(want)
    else:
        tolerance = 5e-3 if got.dtype == np.float16 else FLOATS  # the design's tolerance for these types
        got, want = got.astype(np.float64), want.astype(np.float64)
        apart = np.linalg.norm(got - want) / max(np.linalg.norm(want), 1e-6)
        largest = np.abs(got - want).max()
        if apart > tolerance and largest > 1.01 * own:
            tolerance = max(tolerance, min(CONDITION_MULTIPLE * condition(), CONDITION_CEILING * tolerance))
        if largest > 1.01 * own:
            assert apart <= tolerance
            assert largest <= 10 * tolerance * max(np.abs(want).max(), 1e-6)


def moved(x, random):
    """Each element by one unit in the last place, up or down; zeros stay."""
    return np.where(x == 0, x, np.nextafter(x, random.choice([-np.inf, np.inf], x.shape).astype(x.dtype)))


def session_of(model):
    onnxruntime = pytest.importorskip("onnxruntime")
    from peer import peer_session

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return peer_session(model, options)


def condition_of(path, inputs):
    """Relative L2 that the worst output moves by where float inputs move by a unit in the last place, or without
    such inputs the float constants: src/bench/check/condition.c, with ONNX Runtime as the evaluator."""
    onnx = pytest.importorskip("onnx")
    random = np.random.default_rng(1)
    model, given = onnx.load(path), dict(inputs)
    if any(x.dtype == np.float32 for x in inputs.values()):
        given = {k: moved(x, random) if x.dtype == np.float32 else x for k, x in inputs.items()}
    else:
        for one in model.graph.initializer:
            if one.data_type == onnx.TensorProto.FLOAT:
                x = moved(onnx.numpy_helper.to_array(one), random)
                one.CopyFrom(onnx.numpy_helper.from_array(x.astype(np.float32), one.name))
    still = session_of(str(path)).run(None, inputs)
    after = session_of(model.SerializeToString()).run(None, given)
    return max(float(np.linalg.norm((a - b).astype(np.float64)) / max(np.linalg.norm(b), 1e-30))
               for a, b in zip(after, still) if b.dtype.kind == "f")


@pytest.mark.parametrize("name", ZOO)
def test_zoo(shared_hone, name):
    sound(shared_hone("verify", f"zoo:{name}"))


@pytest.mark.parametrize("name", ZOO)
def test_zoo_file_is_the_model(shared_hone, tmp_path, name):
    """The file that 'zoo write' makes is valid, and every engine that reads it computes the same."""
    onnx = pytest.importorskip("onnx")
    sound(shared_hone("zoo", "write", name, "-o", tmp_path / "m.onnx"))
    onnx.checker.check_model(str(tmp_path / "m.onnx"), full_check=True)
    sound(shared_hone("run", tmp_path / "m.onnx", "-o", tmp_path / "file"))
    sound(shared_hone("run", f"zoo:{name}", "-o", tmp_path / "built"))
    np.testing.assert_array_equal(np.load(tmp_path / "file/out_0.npy"),
                                  np.load(tmp_path / "built/out_0.npy"))


@pytest.mark.skipif(not MODELS, reason="no collection of models at $HONE_SHARED")
@pytest.mark.parametrize("name,entry,variant", with_long(MODELS[::3], *MODELS[1::3], *MODELS[2::3]), ids=lambda part: part if isinstance(part, str) else "")
def test_collection(shared_hone, tmp_path, name, entry, variant):
    folder = SHARED / "models" / entry["id"]
    path = folder / variant["file"]
    own = variant.get("maxdiff_vs_reference") or 0.0
    quantised = any(word in variant["file"] for word in ("int8", "qdq", "qop"))
    cases = list(entry["cases"].get(variant["io"], {}).items())[:CASES_EACH]
    assert cases, "the collection has no case for this file"
    for case, about in cases:
        inputs, words = {}, []
        for k, one in enumerate(about["inputs"]):
            where = folder / variant["io"] / case / one["file"]
            inputs[variant["inputs"][k][0]] = stored(where, one)
        for k, (key, value) in enumerate(inputs.items()):
            np.save(tmp_path / f"in_{k}.npy", value)
            words += ["--input", f"{key}={tmp_path}/in_{k}.npy"]
        words += ["--shape", shape_words(inputs)]
        sound(shared_hone("run", path, *words, "-o", tmp_path / "out"))
        for k, one in enumerate(about["outputs"]):
            want = stored(folder / variant["io"] / case / one["file"], {**one, "stride": 1})
            close(np.load(tmp_path / "out" / f"out_{k}.npy"), want, one, quantised, own,
                  lambda: condition_of(path, inputs))
        compare_with_peer(path, inputs, tmp_path / "out", quantised)
    if not quantised and variant.get("mean_ms_1thread", 0) < SLOW_MS:
        sound(shared_hone("verify", path, *words))


def compare_with_peer(path, inputs, out, quantised):
    for k, want in enumerate(session_of(str(path)).run(None, inputs)):
        got = np.load(out / f"out_{k}.npy")
        assert got.shape == want.shape and got.dtype == want.dtype
        close(got, want, {}, quantised, condition=lambda: condition_of(path, inputs))


def test_verify_sees_a_wrong_expectation(shared_hone, tmp_path):
    """verify must be able to fail: an expected output with one wrong element is E_ACCURACY."""
    sound(shared_hone("run", "zoo:mlp", "-o", tmp_path / "out"))
    inputs = tmp_path / "in"
    inputs.mkdir()
    np.save(inputs / "in_0.npy", np.random.default_rng(1).normal(size=(4, 256)).astype(np.float32))
    sound(shared_hone("run", "zoo:mlp", "--inputs", inputs, "-o", tmp_path / "out"))
    sound(shared_hone("verify", "zoo:mlp", "--inputs", inputs, "--expected", tmp_path / "out"))
    out = np.load(tmp_path / "out/out_0.npy")
    for change in (1.0, float("nan"), float("inf")):
        wrong = out.copy()
        wrong.flat[7] = wrong.flat[7] + change
        np.save(tmp_path / "out/out_0.npy", wrong)
        refused(shared_hone("verify", "zoo:mlp", "--inputs", inputs, "--expected",
                            tmp_path / "out"), "E_ACCURACY")
    np.save(tmp_path / "out/out_0.npy", out[:2])
    refused(shared_hone("verify", "zoo:mlp", "--inputs", inputs, "--expected", tmp_path / "out"),
            "E_SHAPE")
    (tmp_path / "out/out_0.npy").unlink()
    result = shared_hone("verify", "zoo:mlp", "--inputs", inputs, "--expected", tmp_path / "out")
    assert result.code in (command.CODES["E_NOFILE"], command.CODES["E_IO"]), result


BAD_INPUTS = {
    "wrong_name": (["--input", "nobody=x.npy"], "E_USAGE"),
    "no_equals": (["--input", "x.npy"], "E_USAGE"),
    "missing": (["--input", "input=none.npy"], "E_NOFILE E_IO"),
    "wrong_shape": (["--input", "input=small.npy"], "E_SHAPE"),
    "wrong_type": (["--input", "input=double.npy"], "E_TYPE"),
    "truncated": (["--input", "input=cut.npy"], "E_FORMAT E_IO"),
    "fortran": (["--input", "input=fortran.npy"], "E_FORMAT E_UNSUP"),
    "header_bomb": (["--input", "input=bomb.npy"], "E_FORMAT E_LIMIT E_SHAPE"),
    "objects": (["--input", "input=objects.npy"], "E_FORMAT E_TYPE E_UNSUP E_TRUST"),
    "raw_too_short": (["--input", "input=short.raw"], "E_FORMAT E_SHAPE E_IO"),
    "folder": (["--input", "input=."], "E_IO"),
}


@pytest.mark.parametrize("name", BAD_INPUTS)
def test_bad_inputs(shared_hone, tmp_path, name):
    words, expect = BAD_INPUTS[name]
    np.save(tmp_path / "small.npy", np.ones(3, np.float32))
    np.save(tmp_path / "double.npy", np.ones((4, 256), np.float64))
    np.save(tmp_path / "whole.npy", np.ones((4, 256), np.float32))
    np.save(tmp_path / "fortran.npy", np.asfortranarray(np.ones((4, 256), np.float32)))
    np.save(tmp_path / "objects.npy", np.array([[{}] * 256] * 4, object), allow_pickle=True)
    whole = (tmp_path / "whole.npy").read_bytes()
    (tmp_path / "cut.npy").write_bytes(whole[:-100])
    (tmp_path / "bomb.npy").write_bytes(whole.replace(b"(4, 256)", b"(4, 999999999999999)"[:8]))
    (tmp_path / "short.raw").write_bytes(b"123")
    result = shared_hone("run", "zoo:mlp", *words, cwd=tmp_path)
    refused(result, expect)
    assert result.seconds < 3, result
