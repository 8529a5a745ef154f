"""Every hostile model with every verb that reads models: the right error and exit code, immediately,
in little memory, and never a crash."""

import os
import pathlib
import re

import numpy as np
import pytest

import hostile
from hone import CODES, refused, sound, with_long

SECONDS = 2.0 if not os.environ.get("HONE_SLOW") else 20.0
MEMORY = 512 << 20
VERBS = {"inspect": ("inspect", "--no-measure"), "compile": ("compile", "-o", "model.c"),
         "run": ("run",)}


def write(folder, made):
    data = made if isinstance(made, bytes) else made.SerializeToString()
    path = folder / "model.onnx"
    path.write_bytes(data)
    return path


def check_bounds(result, seconds=SECONDS):
    assert result.code >= 0 and result.code < 128, result
    assert result.id not in ("E_CRASH", "E_INTERNAL"), result
    assert result.seconds < seconds, result
    assert result.rss < MEMORY, result


@pytest.mark.parametrize("name,maker,expect,part", hostile.CASES, ids=[c[0] for c in hostile.CASES])
def test_hostile(hone, tmp_path, name, maker, expect, part):
    path = write(tmp_path, maker())
    (tmp_path / "w.bin").write_bytes(np.arange(8, dtype=np.float32).tobytes())
    for verb, words in VERBS.items():
        result = hone(words[0], path, *words[1:])
        # A run that succeeds has called the C compiler, which takes its own time.
        check_bounds(result, SECONDS if result.code else 10 * SECONDS)
        if result.code == 0:
            assert "ok" in expect.split(), result
        else:
            refused(result, expect, part)
            assert not (tmp_path / "model.c").exists(), result


# -- paths that are not a file (row 1), and files of the wrong kind --------------------------------

def make_fifo(folder):
    os.mkfifo(folder / "fifo.onnx")
    return folder / "fifo.onnx"


def make_link_loop(folder):
    (folder / "loop.onnx").symlink_to("loop.onnx")
    return folder / "loop.onnx"


def make_sparse(folder, size):
    path = folder / "sparse.onnx"
    with open(path, "wb") as file:
        file.truncate(size)
    return path


def named(name, data):
    def make(folder):
        (folder / name).write_bytes(data)
        return folder / name
    return make


PATHS = {
    "missing": (lambda d: d / "none.onnx", "E_NOFILE"),
    "folder": (lambda d: d, "E_IO"),
    "fifo": (make_fifo, "E_IO"),
    "dev_zero": (lambda d: pathlib.Path("/dev/zero"), "E_IO"),
    "dev_null": (lambda d: pathlib.Path("/dev/null"), "E_IO"),
    "proc_mem": (lambda d: pathlib.Path("/proc/self/mem"), "E_IO E_FORMAT"),
    "link_loop": (make_link_loop, "E_IO E_NOFILE E_PATH"),
    "name_too_long": (lambda d: d / ("x" * 300), "E_IO E_NOFILE"),
    "path_too_long": (lambda d: pathlib.Path("/" + "x/" * 5000), "E_IO E_NOFILE E_USAGE"),
    "under_a_file": (lambda d: pathlib.Path("/etc/passwd/model.onnx"), "E_IO E_NOFILE"),
    "sparse_2GiB": (lambda d: make_sparse(d, (2 << 30) + 1), "E_FORMAT E_LIMIT"),
    "sparse_1TiB": (lambda d: make_sparse(d, 1 << 40), "E_LIMIT"),
    "zip": (named("m.onnx", b"PK\3\4" + bytes(60)), "E_FORMAT"),
    "elf": (named("m.onnx", b"\x7fELF" + bytes(60)), "E_FORMAT"),
    "pickle": (named("m.pt", b"\x80\2" + bytes(60)), "E_TRUST"),
    "torch_zip": (named("m.pth", b"PK\3\4" + bytes(60)), "E_FORMAT"),
    "keras": (named("m.h5", b"\x89HDF\r\n\x1a\n" + bytes(60)), "E_TRUST"),
    "lfs": (named("m.onnx", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n"),
            "E_FORMAT"),
}


@pytest.mark.parametrize("name", PATHS)
def test_no_model_file(hone, tmp_path, name):
    make, expect = PATHS[name]
    path = make(tmp_path)
    for verb, words in VERBS.items():
        result = hone(words[0], path, *words[1:])
        check_bounds(result)
        refused(result, expect)


# -- row 17: side files that are not what they seem --------------------------------------------------

def link_final(folder, secret):
    (folder / "w.bin").symlink_to(secret)


def link_parent(folder, secret):
    (folder / "sub").symlink_to(secret.parent)


def side_fifo(folder, secret):
    os.mkfifo(folder / "w.bin")


def side_folder(folder, secret):
    (folder / "w.bin").mkdir()


def hard_link(folder, secret):
    os.link(secret, folder / "w.bin")


def missing_side(folder, secret):
    pass


SIDES = {"link": (link_final, "w.bin", "E_PATH"), "parent_link": (link_parent, "sub/w.bin", "E_PATH"),
         "fifo": (side_fifo, "w.bin", "E_PATH E_IO"), "folder": (side_folder, "w.bin", "E_PATH E_IO"),
         "missing": (missing_side, "w.bin", "E_NOFILE E_PATH E_IO"), "own_hard_link":
         (hard_link, "w.bin", "ok")}


@pytest.mark.parametrize("name", SIDES)
def test_side_files(hone, tmp_path, name):
    make, location, expect = SIDES[name]
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    (outside / "w.bin").write_bytes(np.arange(4, dtype=np.float32).tobytes())
    make(inside, outside / "w.bin")
    path = write(inside, hostile.external(location, 0, 16))
    result = hone("inspect", path, "--no-measure")
    check_bounds(result)
    if expect == "ok":
        sound(result)
    else:
        refused(result, expect)
    # The folder may be named; then its files count as the model's own.
    if name == "link":
        sound(hone("inspect", path, "--no-measure", "--side-files-from", outside))


def test_model_behind_a_link(hone, tmp_path):
    path = write(tmp_path, hostile.identity())
    (tmp_path / "link.onnx").symlink_to(path)
    sound(hone("inspect", tmp_path / "link.onnx", "--no-measure"))


def test_swapped_side_file(hone, tmp_path):
    """Row 18: while a side file is a link now and the file then, only the file's bytes are read."""
    import threading
    inside = tmp_path / "in"
    inside.mkdir()
    secret = tmp_path / "secret"
    secret.write_bytes(np.full(4, 7e7, np.float32).tobytes())
    path = write(inside, hostile.external("w.bin", 0, 16))
    np.save(tmp_path / "x.npy", np.zeros(4, np.float32))
    stop = threading.Event()

    def swap():
        while not stop.is_set():
            (inside / "a").write_bytes(np.ones(4, np.float32).tobytes())
            os.replace(inside / "a", inside / "w.bin")
            os.symlink(secret, inside / "b")
            os.replace(inside / "b", inside / "w.bin")

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        seen = set()
        for _ in range(60):
            result = hone("run", path, "--reference", "--input", f"x={tmp_path}/x.npy")
            check_bounds(result)
            seen.add(result.id)
            assert b"7e+07" not in result.out, result
            if result.code:
                refused(result, "E_PATH E_NOFILE E_FORMAT E_IO")
    finally:
        stop.set()
        swapper.join()
    assert seen  # at least one answer, whichever


def test_changed_weights_change_the_hash(hone, tmp_path):
    """Row 22: the same model file with other weights is another model; no cached result is reused."""
    path = write(tmp_path, hostile.external("w.bin", 0, 16))
    np.save(tmp_path / "x.npy", np.zeros(4, np.float32))
    for value in (1, 2):
        (tmp_path / "w.bin").write_bytes(np.full(4, value, np.float32).tobytes())
        result = hone("run", path, "--input", f"x={tmp_path}/x.npy")
        sound(result)
        assert f"[{value}, {value}, {value}, {value}]" in result.text, result


# -- row 30: an index that is known only at run time -------------------------------------------------

@pytest.mark.parametrize("op", ["Gather", "GatherElements", "ScatterElements"])
@pytest.mark.parametrize("index", [-5, 4, 2**62, -2**63, 3])
def test_index_at_run_time(hone, tmp_path, op, index):
    inputs = ["x", "i"] + (["x"] if op == "ScatterElements" else [])
    made = hostile.model([hostile.node(op, inputs, ["y"])],
                         [hostile.info("x"), hostile.info("i", (4,), hostile.T.INT64)],
                         [hostile.h.make_empty_tensor_value_info("y")])
    path = write(tmp_path, made)
    np.save(tmp_path / "i.npy", np.array([0, 1, index, 2], np.int64))
    for more in ((), ("--reference",), ("--no-passes",)):
        result = hone("run", path, "--input", f"i={tmp_path}/i.npy", *more)
        check_bounds(result, 20)
        if index == 3:
            sound(result)
        else:
            refused(result, "E_SHAPE")


# -- rows 29, 32, 33: numbers at the edge, in the reference and in the generated code ----------------

EDGE_FLOATS = [0.0, -0.0, 300.7, -1.5, 1.2e19, 1e30, -1e30, float("nan"), float("inf"), float("-inf"), 1e-42]
EDGE_INTS = [0, 1, -1, -2**31, 2**31 - 1, 7, -7, 3]
EDGES = [("Div", np.int32), ("Mod", np.int32), ("Div", np.int64), ("Mul", np.int32),
         ("Pow", np.float32), ("Div", np.float32), ("Add", np.float32), ("Max", np.float32),
         ("Min", np.float32)]
CASTS = [(np.float32, "INT8"), (np.float32, "UINT8"), (np.float32, "INT32"), (np.float32, "UINT32"),
         (np.float32, "INT64"), (np.float32, "UINT64"), (np.float32, "BOOL"), (np.int32, "INT8"),
         (np.int32, "FLOAT"), (np.float64, "UINT64"), (np.float64, "INT16")]


def edge_values(dtype):
    return np.array(EDGE_FLOATS if np.dtype(dtype).kind == "f" else EDGE_INTS, dtype)


def both_ways(hone, tmp_path, made, inputs):
    """The outputs of the compiled model and of the reference, which must be the same bytes."""
    path = write(tmp_path, made)
    words = []
    for name, value in inputs.items():
        np.save(tmp_path / f"{name}.npy", value)
        words += ["--input", f"{name}={tmp_path}/{name}.npy"]
    found = []
    for folder, more in (("c", ()), ("r", ("--reference",))):
        sound(hone("run", path, *words, *more, "-o", tmp_path / folder))
        found.append(np.load(tmp_path / folder / "out_0.npy"))
    return found


@pytest.mark.parametrize("op,dtype", EDGES, ids=[f"{o}-{np.dtype(d).name}" for o, d in EDGES])
def test_edges_of_numbers(hone, tmp_path, op, dtype):
    values = edge_values(dtype)
    kind = hostile.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    n = len(values)
    made = hostile.model([hostile.node(op, ["a", "b"], ["y"])],
                         [hostile.info("a", (n, 1), kind), hostile.info("b", (1, n), kind)],
                         [hostile.info("y", (n, n), kind)])
    got, want = both_ways(hone, tmp_path, made, {"a": values[:, None], "b": values[None]})
    np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.parametrize("dtype,to", CASTS, ids=[f"{np.dtype(d).name}-{t}" for d, t in CASTS])
def test_casts(hone, tmp_path, dtype, to):
    values = edge_values(dtype)
    kind = hostile.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    to = getattr(hostile.T, to)
    made = hostile.model([hostile.node("Cast", ["x"], ["y"], to=to)],
                         [hostile.info("x", (len(values),), kind)],
                         [hostile.info("y", (len(values),), to)])
    got, want = both_ways(hone, tmp_path, made, {"x": values})
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("op", with_long(["Relu", "Exp", "Softmax", "ReduceMax"], "Sigmoid", "Tanh", "Erf", "LayerNormalization",
                                         "MatMul", "Clip", "HardSwish", "ArgMax"))
@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e-42])
def test_inputs_all_special(hone, tmp_path, op, value):
    second = hostile.const("w", np.ones((16, 16)), np.float32)
    made = hostile.model([hostile.node(op, ["x"] + (["w"] if op == "MatMul" else ["s"] if
                                                     op == "LayerNormalization" else []), ["y"])],
                         [hostile.info("x", (16, 16))],
                         [hostile.h.make_empty_tensor_value_info("y")],
                         [second] if op == "MatMul" else
                         [hostile.const("s", np.ones(16), np.float32)]
                         if op == "LayerNormalization" else [])
    got, want = both_ways(hone, tmp_path, made, {"x": np.full((16, 16), value, np.float32)})
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-40)


# -- row 36: names ----------------------------------------------------------------------------------

NAMES = ["*/ int x; /*", '\n#include "/etc/passwd"', "foo\\", "a\\\nb", "??/", '"); system("id',
         "x" * 65000, "\U0001f600", "\u202eright", "int", "main", "__attribute__", "%s%n%99999d",
         "\x1b[2J\x1b]0;x\x07", "//", "/*", "'", "\t", "\u2028", "${HOME}", "`id`", "$(id)",
         "</script><script>alert(1)</script>", "=cmd|'/c calc'!A1", "-o", "--help", "a\0b"]


def hostile_names(name):
    """The name everywhere a model can hold one."""
    import onnx
    made = hostile.model([hostile.node("Add", [name, name + "w"], [name + "m"]),
                          hostile.node("Softmax", [name + "m"], [name + "y"])],
                         [hostile.info(name)], [hostile.info(name + "y")],
                         [hostile.const(name + "w", [1, 2, 3, 4], np.float32)])
    made.graph.name = name
    made.producer_name = name
    made.graph.doc_string = name
    made.metadata_props.append(onnx.StringStringEntryProto(key=name, value=name))
    for each in made.graph.node:
        each.name = each.doc_string = name
    return made


def code_of(path):
    """The C without what identifies the model: names as lists of bytes or, of plain words, as they are, and the build's
    hash."""
    text = path.read_bytes()
    text = re.sub(rb"(put\d+_name\[\] = )(\{(0x[0-9a-f]{2},)*0\}|\"[\w./:-]+\")", rb"\1", text)
    text = re.sub(rb'(/\* step .*): "[\w./:-]+"', rb"\1", text)
    return re.sub(rb'\.build_id = "[0-9a-f]{32}"', b"", text)


@pytest.mark.parametrize("name", NAMES, ids=[ascii(n)[:30] for n in NAMES])
def test_names(hone, tmp_path, name):
    path = write(tmp_path, hostile_names(name))
    words = ("inspect", path, "--no-measure")
    shown = hone(*words)
    check_bounds(shown)
    sound(shown)
    assert b"\x1b" not in shown.out + shown.err and b"\x07" not in shown.out + shown.err, shown
    assert "\u202e" not in shown.text, shown
    sound(hone("compile", path, "-o", tmp_path / "m.c", "-q"))
    text = (tmp_path / "m.c").read_bytes()
    assert all(byte < 128 for byte in text)
    plain = write(tmp_path / "..", hostile_names("plain"))
    sound(hone("compile", plain, "-o", tmp_path / "p.c", "-q", "--prefix", "m"))
    assert code_of(tmp_path / "p.c") == code_of(tmp_path / "m.c"), "a name changed the C"
    sound(hone("run", path))


@pytest.mark.long
def test_nodes_of_one_bucket(hone, tmp_path):
    """Row 38, short: 200,000 names that an unseeded polynomial hash would put into few buckets."""
    pairs = ["Aa", "BB"]
    names = ["".join(pairs[i >> b & 1] for b in range(16)) + str(i >> 16) for i in range(200000)]
    raw = b"".join(hostile.field(1, hostile.field(1, "x") + hostile.field(2, n)
                                 + hostile.field(4, "Abs")) for n in names)
    raw += hostile.field(11, hostile.info("x").SerializeToString())
    raw += hostile.field(12, hostile.info(names[-1]).SerializeToString())
    path = write(tmp_path, hostile.raw_model(raw))
    result = hone("inspect", path, "--no-measure")
    check_bounds(result, 4 * SECONDS)
    sound(result)
